/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout.c - fields to sizes; see layout.h.
 *
 * The fields of a class begin where those of its superclass end.  The shape of a class is where its
 * fields end, and the holes that alignment left before.  The rules count fields by width and do not
 * look at names, because the order of fields of equal width changes no size.  Only padded groups
 * need names.
 */
#include "heap/sizes/layout.h"

#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { CONTENDED_PADDING = 128 };

/* A hole is what alignment to at most 8 skipped.  Classes have one or two; the smallest is forgotten
 * when a hostile dump makes more. */
enum { HOLES_MAX = 8 };

struct hole {
	uint64_t begin;
	uint64_t size;
};

struct shape {
	uint64_t end;
	struct hole holes[HOLES_MAX];
	unsigned n_holes;
};

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

/* --- arrays ------------------------------------------------------------------------------------- */

unsigned layout_array_base(const struct layout_model *m, bool references, unsigned width)
{
	uint64_t base = m->header + 4;
	if (m->rule == LAYOUT_MAT)
		return (unsigned)(references ? base : round_up(base, m->reference));
	if (!m->relaxed)
		base = round_up(base, m->word);
	return (unsigned)(width == 8 ? round_up(base, 8) : base);
}

uint64_t layout_array_size(unsigned base, unsigned width, uint64_t length, unsigned alignment)
{
	if (length > (UINT64_MAX >> 1) / 8)
		return SIZE_UNKNOWN;
	return round_up(base + length * width, alignment);
}

/* --- placing fields ----------------------------------------------------------------------------- */

static void add_hole(struct shape *s, uint64_t begin, uint64_t size)
{
	if (!size)
		return;
	unsigned at = s->n_holes;
	if (at < HOLES_MAX) {
		s->n_holes++;
	} else {
		at = 0;
		for (unsigned i = 1; i < HOLES_MAX; i++)
			if (s->holes[i].size < s->holes[at].size)
				at = i;
		if (s->holes[at].size >= size)
			return;
	}
	s->holes[at] = (struct hole){ begin, size };
}

/* The smallest hole that takes an aligned field of this width; of equal ones the highest; else NULL. */
static struct hole *find_hole(struct shape *s, unsigned width)
{
	struct hole *best = NULL;
	for (unsigned i = 0; i < s->n_holes; i++) {
		struct hole *h = &s->holes[i];
		uint64_t skipped = round_up(h->begin, width) - h->begin;
		if (skipped + width > h->size)
			continue;
		if (!best || h->size < best->size || (h->size == best->size && h->begin > best->begin))
			best = h;
	}
	return best;
}

static void place(struct shape *s, unsigned width, uint32_t count)
{
	struct hole *found;
	while (count && (found = find_hole(s, width))) {
		struct hole h = *found;
		*found = s->holes[--s->n_holes];
		uint64_t at = round_up(h.begin, width);
		add_hole(s, h.begin, at - h.begin);
		add_hole(s, at + width, h.begin + h.size - at - width);
		count--;
	}
	if (!count)
		return;
	uint64_t at = round_up(s->end, width);
	add_hole(s, s->end, at - s->end);
	s->end = at + (uint64_t)width * count; /* no hole is left that would take one of them */
}

static void place_new(struct shape *s, const struct layout_fields *f, unsigned reference)
{
	for (unsigned k = 4; k-- > 0;)
		place(s, 1u << k, f->n[k]);
	place(s, reference, f->references);
}

/* As many of *count fields as fit before limit; returns where they end. */
static uint64_t fill_gap(uint64_t at, uint64_t limit, unsigned width, uint32_t *count)
{
	uint64_t fit = at < limit ? (limit - at) / width : 0;
	if (fit > *count)
		fit = *count;
	*count -= (uint32_t)fit;
	return at + fit * width;
}

/* Where the VM has fixed offsets of its own for some fields, references come first. */
static bool references_first(const char *name)
{
	static const char *const names[] = {
		"java.lang.AssertionStatusDirectives", "java.lang.Class", "java.lang.ClassLoader",
		"java.lang.String", "java.lang.StackTraceElement", "java.lang.Throwable",
		"java.lang.Boolean", "java.lang.Character", "java.lang.Float", "java.lang.Double",
		"java.lang.Byte", "java.lang.Short", "java.lang.Integer", "java.lang.Long",
		"java.lang.ref.Reference", "java.lang.ref.SoftReference",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static uint64_t place_old(uint64_t at, struct layout_fields f, unsigned reference, bool references_lead, bool gapped)
{
	uint64_t aligned = f.n[3] ? round_up(at, 8) : at;
	if (references_lead) {
		at += (uint64_t)reference * f.references;
		f.references = 0;
		aligned = f.n[3] ? round_up(at, 8) : at;
	} else if (!gapped) {
		for (unsigned k = 3; k-- > 0;)
			at = fill_gap(at, aligned, 1u << k, &f.n[k]);
		fill_gap(round_up(at, reference), aligned, reference, &f.references);
	}
	at = aligned;
	for (unsigned k = 4; k-- > 0;)
		at += (uint64_t)f.n[k] << k;
	if (f.references)
		at = round_up(at, reference) + (uint64_t)reference * f.references;
	return at;
}

/* --- a class ------------------------------------------------------------------------------------ */

static unsigned width_class(enum value_type type)
{
	switch (type) {
	case VALUE_DOUBLE:
	case VALUE_LONG:
		return 3;
	case VALUE_FLOAT:
	case VALUE_INT:
		return 2;
	case VALUE_CHAR:
	case VALUE_SHORT:
		return 1;
	default:
		return 0;
	}
}

unsigned layout_width(enum value_type type, unsigned reference)
{
	return type == VALUE_OBJECT ? reference : 1u << width_class(type);
}

static void count_field(struct layout_fields *f, enum value_type type)
{
	if (type == VALUE_OBJECT)
		f->references++;
	else
		f->n[width_class(type)]++;
}

static void append(struct shape *s, const struct heap_class *c, const struct layout_model *m,
    const struct layout_fields *f)
{
	if (m->rule == LAYOUT_NEW)
		place_new(s, f, m->reference);
	else
		s->end = place_old(s->end, *f, m->reference, references_first(c->name), m->gapped);
}

static void pad(struct shape *s)
{
	s->end += CONTENDED_PADDING;
	s->n_holes = 0;
}

/* A padded group fills no holes outside of it, and before JDK 28 not even its own.  The old rule keeps it
 * in the order of declaration, which is the dump's backwards. */
static void append_group(struct shape *s, const struct heap_class *c, const struct layout_model *m,
    enum layout_release release, const struct layout_fields *group)
{
	pad(s);
	if (m->rule == LAYOUT_NEW) {
		for (unsigned k = 4; k-- > 0;) {
			place(s, 1u << k, group->n[k]);
			if (!layout_fills_groups(release))
				s->n_holes = 0;
		}
		place(s, m->reference, group->references);
		return;
	}
	for (uint32_t i = c->n_fields; i-- > 0;)
		if (layout_pads_field(c, release, c->fields[i].name)) {
			unsigned width = layout_width(c->fields[i].type, m->reference);
			s->end = round_up(s->end, width) + width;
		}
}

/* Make of the superclass's shape this class's, by the rules of the VM. */
static void extend(struct shape *s, const struct heap_class *c, const struct layout_model *m,
    enum layout_release release)
{
	struct layout_fields common = { .references = 0 }, group = common;
	unsigned pads = layout_padding_of(c, release);
	uint32_t n_group = 0;
	for (uint32_t i = 0; i < c->n_fields; i++) {
		bool grouped = pads & PADS_GROUP && layout_pads_field(c, release, c->fields[i].name);
		count_field(grouped ? &group : &common, c->fields[i].type);
		n_group += grouped;
	}
	layout_add_injected(c, release, m->word, &common);
	if (pads & PADS_CLASS)
		pad(s);
	append(s, c, m, &common);
	if (n_group)
		append_group(s, c, m, release, &group);
	if (pads & PADS_CLASS || n_group)
		pad(s);
	if (m->rule == LAYOUT_OLD && c->n_fields)
		s->end = round_up(s->end, m->reference);
}

/* MAT: the sum of the widths, rounded up to the reference width with every class. */
static void extend_mat(struct shape *s, const struct heap_class *c, const struct layout_model *m)
{
	for (uint32_t i = 0; i < c->n_fields; i++)
		s->end += layout_width(c->fields[i].type, m->reference);
	s->end = round_up(s->end, m->reference);
}

static uint64_t rounded(uint64_t end, const struct layout_model *m)
{
	return round_up(round_up(end, m->word), m->alignment);
}

uint64_t layout_least(const struct layout_model *m)
{
	return rounded(m->header, m);
}

/*
 * Make the shape that of an instance of so many bytes.  What the VM added is not known.  A few bytes are
 * taken for ints, in holes first, which is the least that it can be; many are padding, which leaves no
 * hole.  What the rules put in too much is taken off the end.
 */
static void stretch(struct shape *s, uint64_t size, const struct layout_model *m)
{
	if (rounded(s->end, m) < size && size - s->end < CONTENDED_PADDING) {
		while (rounded(s->end, m) < size)
			place(s, 4, 1);
	} else if (rounded(s->end, m) != size) {
		s->end = size;
		s->n_holes = 0;
	}
}

/* --- all classes -------------------------------------------------------------------------------- */

/* The class and its superclasses that have no shape yet, lowest first; their number.  Each gets its
 * mark, so that a chain that bites its tail ends. */
static uint32_t unshaped_chain(const struct heap_class *classes, uint32_t n, uint32_t class, bool *marked,
    uint32_t *chain)
{
	uint32_t depth = 0;
	for (; class < n && !marked[class]; class = classes[class].superclass) {
		marked[class] = true;
		chain[depth++] = class;
	}
	return depth;
}

int layout_instances(const struct heap_class *classes, uint32_t n, const struct layout_model *m,
    enum layout_release release, const uint64_t *measured, uint64_t *size, struct err *err)
{
	struct shape *shapes = big_alloc(n, sizeof *shapes, err);
	bool *marked = shapes ? big_alloc(n, sizeof *marked, err) : NULL;
	uint32_t *chain = marked ? big_alloc(n, sizeof *chain, err) : NULL;
	bool stopped = false;
	for (uint32_t i = 0; chain && !stopped && i < n; i++) {
		stopped = progress_own_stops(16 * (uint64_t)i);
		for (uint32_t depth = unshaped_chain(classes, n, i, marked, chain); depth-- > 0;) {
			const struct heap_class *c = &classes[chain[depth]];
			struct shape *s = &shapes[chain[depth]];
			if (c->superclass < n && shapes[c->superclass].end)
				*s = shapes[c->superclass];
			else
				s->end = m->header;
			if (m->rule == LAYOUT_MAT)
				extend_mat(s, c, m);
			else
				extend(s, c, m, release);
			if (measured && measured[chain[depth]])
				stretch(s, measured[chain[depth]], m);
		}
		size[i] = classes[i].kind == CLASS_PLAIN && classes[i].defined
		    ? rounded(shapes[i].end, m) : SIZE_UNKNOWN;
	}
	big_free(shapes);
	big_free(marked);
	big_free(chain);
	return stopped ? err_cancelled(err) : chain ? 0 : ERR_NOMEM;
}

/* --- what has a size of its own ----------------------------------------------------------------- */

/* What the dumper adds behind a class's own statics takes no room: under a name that no program can have,
 * but for init_lock, which is spelled plainly up to JDK 8. */
static bool is_pseudo_static(const struct heap_class *c, uint32_t i, enum layout_release release)
{
	const struct heap_field *s = &c->statics[i];
	return s->name[0] == '<' || (release <= LAYOUT_JDK_8 && i + 1 == c->n_statics &&
	    s->type == VALUE_OBJECT && !strcmp(s->name, "init_lock"));
}

/* What the reader adds to the static fields, but Eclipse MAT does not. */
static bool mat_leaves_out(const char *name)
{
	return !strcmp(name, "<signers>") || !strcmp(name, "<protection_domain>") || !strcmp(name, "<constant>");
}

uint64_t layout_class_object(const struct heap_class *c, uint64_t base, const struct layout_model *m,
    enum layout_release release)
{
	struct layout_fields f = { .references = 0 };
	uint64_t sum = 0;
	for (uint32_t i = 0; i < c->n_statics; i++) {
		const struct heap_field *s = &c->statics[i];
		sum += mat_leaves_out(s->name) ? 0 : layout_width(s->type, m->reference);
		if (!is_pseudo_static(c, i, release))
			count_field(&f, s->type);
	}
	if (m->rule == LAYOUT_MAT)
		return round_up(sum, m->alignment);
	if (release <= LAYOUT_JDK_6)
		return base;
	/* References first, then 8-byte primitives from the next boundary on, then the others; the gap in
	 * between stays, also with the new rule. */
	return round_up(round_up(place_old(base, f, m->reference, true, false), m->word), m->alignment);
}

uint64_t layout_stack_chunk(uint64_t instance, uint64_t words, const struct layout_model *m)
{
	if (words > UINT32_MAX)
		return SIZE_UNKNOWN;
	/* Behind the frozen frames a bit for each slot that may hold a reference. */
	uint64_t bits = words * (m->reference == 4 ? 2 : 1);
	return round_up(round_up(instance, 8) + 8 * words + 8 * ((bits + 63) / 64), m->alignment);
}
