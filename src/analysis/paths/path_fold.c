/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_fold.c - the plumbing of paths folded: see paths.h.
 */
#include "analysis/paths/paths.h"

#include "analysis/describe/describe.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum {
	LIST_STEPS = 8,     /* loader, list, array, class: a few of the VM's own structures at most */
	PARTS_LOOKED = 4096, /* steps back to the collection that they are parts of */
	THROUGH_FIRST = 12, /* references that are named, of many that were folded into one step */
	LINE_SHOWN = 64,    /* steps of a path, shown in a line */
	MAKE_KNOWN = 128,
};

int path_plumbing_init(struct path_plumbing *f, const struct heap *h, struct err *err)
{
	f->heap = h;
	f->make = big_alloc(h->n_classes, sizeof *f->make, err);
	return f->make ? 0 : ERR_NOMEM;
}

void path_plumbing_release(struct path_plumbing *f)
{
	big_free(f->make);
	f->make = NULL;
}

static unsigned make_of(struct path_plumbing *f, uint32_t id)
{
	uint8_t *make = &f->make[heap_class_index(f->heap, id)];
	if (!*make)
		*make = (uint8_t)(inspect_make(f->heap, id) | MAKE_KNOWN);
	return *make;
}

bool path_plumbing_is(struct path_plumbing *f, uint32_t holder, uint32_t id)
{
	return inspect_is_made_of(make_of(f, holder), make_of(f, id));
}

/* --- which steps --------------------------------------------------------------------------------- */

enum { SEEN, PART, LIST }; /* of a step: PART of a collection; LIST: in a loader's list of classes */

/* What is between a class object and the loader that made the class. */
static void mark_lists(const struct heap *h, const struct path *p, uint8_t *is)
{
	for (size_t k = 1; k < p->n && !progress_own_stops(k); k++) {
		uint32_t class = heap_class_mirrored(h, p->step[k]);
		size_t at = k, least = k > LIST_STEPS ? k - LIST_STEPS : 0;
		if (class == HEAP_NONE || h->classes[class].loader == HEAP_NONE)
			continue;
		while (at-- > least && p->step[at] != h->classes[class].loader)
			;
		if (at < least || at == SIZE_MAX)
			continue;
		while (++at < k)
			is[at] = LIST;
	}
}

static bool loads_classes(const struct heap *h, uint32_t id)
{
	return heap_class_mirrored(h, id) != HEAP_NONE || heap_class_of(h, id)->makes_loaders;
}

bool path_reference_is_static(const struct path_rules *r, uint32_t holder, uint32_t target)
{
	struct text field = TEXT_INIT;
	bool is = heap_class_mirrored(r->heap, holder) != HEAP_NONE && path_field(r, holder, target, &field) &&
	    path_static_name(field.s);
	text_release(&field);
	return is;
}

/* Where a step begins that a static field or a class object ends, `run` being the first of the class objects and
 * loaders before it: there, or at the path's first object, if that holds but these. */
static size_t step_begins(const struct path_rules *r, const struct path *p, size_t run, size_t i)
{
	bool statics = i && path_reference_is_static(r, p->step[i - 1], p->step[i]);
	if (!statics && (!i || heap_class_mirrored(r->heap, p->step[i]) == HEAP_NONE))
		return i;
	size_t first = run == 1 ? 0 : run;
	if (!statics && first) /* a class object is seen, and what leads to it, unless the path begins there */
		return i;
	return !first && r->from != HEAP_NONE ? 1 : first; /* where it begins was asked for */
}

int path_fold(struct path_fold *out, struct path_plumbing *f, const struct path_rules *r, const struct path *p,
    struct err *err)
{
	uint8_t *is = big_alloc(p->n, sizeof *is, err);
	*out = (struct path_fold){.step = is ? big_alloc(p->n, sizeof *out->step, err) : NULL};
	if (!out->step) {
		big_free(is);
		return ERR_NOMEM;
	}
	for (size_t i = 1; i + 1 < p->n && !progress_own_stops(i); i++)
		is[i] = path_plumbing_is(f, p->step[i - 1], p->step[i]) ? PART : SEEN;
	mark_lists(r->heap, p, is);
	for (size_t i = 0, run = 0; i < p->n && !progress_own_stops(i); i++) {
		size_t first = step_begins(r, p, run, i);
		while (out->n && out->step[out->n - 1] >= first)
			out->n--;
		if (is[i] == SEEN || i + 1 == p->n)
			out->step[out->n++] = i;
		if (is[i] != LIST && !loads_classes(r->heap, p->step[i]))
			run = i + 1;
	}
	big_free(is);
	return 0;
}

void path_fold_release(struct path_fold *f)
{
	big_free(f->step);
	*f = (struct path_fold){.n = 0};
}

/* --- in words ------------------------------------------------------------------------------------ */

static void add_class(const struct heap *h, uint32_t id, struct text *to)
{
	uint32_t class = heap_class_mirrored(h, id);
	text_addf(to, "%s%s", class != HEAP_NONE ? "class " : "",
	    h->classes[class != HEAP_NONE ? class : heap_class_index(h, id)].name);
}

/* ".next", "[17]"; where the dump has no name " > java.util.HashMap$Node[]". */
static void add_word(const struct path_rules *r, uint32_t holder, uint32_t id, struct text *last, struct text *to)
{
	struct text field = TEXT_INIT;
	bool named = path_field(r, holder, id, &field);
	if (!named)
		add_class(r->heap, id, &field);
	if (!last->len || strcmp(last->s, field.s) != 0) {
		text_add(to, !to->len ? "" : !named ? " > " : *field.s == '[' ? "" : ".");
		text_add(to, field.s);
	} else if (to->s[to->len - 1] != '*') {
		text_add_char(to, '*');
	}
	text_clear(last);
	text_add(last, field.s);
	text_release(&field);
}

static bool is_named(const struct path_rules *r, uint32_t holder, uint32_t id)
{
	struct text field = TEXT_INIT;
	bool named = path_field(r, holder, id, &field);
	text_release(&field);
	return named;
}

/* References from step `from` to step `to`, "table[4].next*.val"; the last one only if it has a name. */
static void add_words(const struct path_rules *r, const uint32_t *step, size_t from, size_t to, struct text *text)
{
	struct text last = TEXT_INIT;
	to -= !is_named(r, step[to - 1], step[to]);
	for (size_t i = from + 1; i <= to; i++) {
		if (i == from + THROUGH_FIRST && to - i > 1) {
			text_add(text, "…");
			i = to - 1;
		}
		add_word(r, step[i - 1], step[i], &last, text);
	}
	text_release(&last);
}

/* Of a step that leads out of a collection's parts: which of its entries or elements it is. */
static bool add_entry(const struct path_rules *r, const uint32_t *step, size_t from, size_t to, struct text *text)
{
	const struct heap *h = r->heap;
	size_t collection = to;
	unsigned last = inspect_make(h, step[to]);
	bool node = last & MAKE_PART;
	if ((node && !(last & MAKE_COLLECTION)) || to - from > PARTS_LOOKED) /* it ends in the middle of a collection */
		return false;
	while (collection > from && !(inspect_make(h, step[collection - 1]) & MAKE_COLLECTION))
		collection--;
	if (collection == from) /* it begins there */
		return false;
	collection--;
	for (size_t i = to - 1; !node && i > collection && i + 4 > to; i--) {
		if (inspect_entry_name(h, step[collection], step[i], step[to], text))
			return true;
	}
	struct text field = TEXT_INIT;
	bool named = path_field(r, step[to - 1], step[to], &field);
	bool map = inspect_make(h, step[to - 1]) & MAKE_MAP_PART; /* Go's names of these are the keys */
	named = named && (map ? (*field.s == '[' && field.s[field.len - 1] == ']') || !strncmp(field.s, "key ", 4) :
	    to == collection + 2 && *field.s == '[' && (node || inspect_is_list(h, step[collection])));
	if (named)
		text_add(text, field.s);
	text_release(&field);
	return named;
}

bool path_fold_label(const struct path_rules *r, const uint32_t *step, size_t from, size_t to, struct text *text)
{
	const struct heap *h = r->heap;
	size_t before = text->len;
	if (path_reference_is_static(r, step[to - 1], step[to])) {
		struct text field = TEXT_INIT;
		path_field(r, step[to - 1], step[to], &field);
		text_addf(text, "static %s.%s", h->classes[heap_class_mirrored(h, step[to - 1])].name,
		    path_static_name(field.s));
		text_release(&field);
		return true;
	}
	if (to == from + 1)
		return path_field(r, step[from], step[to], text);
	uint32_t class = heap_class_mirrored(h, step[to]);
	size_t loader = class == HEAP_NONE ? to : from;
	while (loader < to && step[loader] != h->classes[class].loader)
		loader++;
	if (loader < to)
		text_add(text, "<loaded>");
	else if (!add_entry(r, step, from, to, text) && is_named(r, step[to - 1], step[to]))
		add_words(r, step, from, to, text);
	return text->len > before;
}

void path_fold_through(const struct path_rules *r, const uint32_t *step, size_t from, size_t to, bool begins,
    struct text *text)
{
	size_t folded = to - from - !begins;
	bool statics = path_reference_is_static(r, step[to - 1], step[to]);
	struct text words = TEXT_INIT;
	if (!folded)
		return;
	if (begins)
		add_class(r->heap, step[from], &words);
	if (to - statics > from)
		add_words(r, step, from, to - statics, &words);
	text_addf(text, "%zu step%s: %s", folded, folded == 1 ? "" : "s", words.s);
	text_release(&words);
}

/* The variable, the class object, or else the class of the object where a line begins. */
static bool add_beginning(const struct path_rules *r, uint32_t id, struct text *to)
{
	if (path_add_variable(r->heap, id, to))
		return true;
	add_class(r->heap, id, to);
	return false;
}

size_t path_fold_last_static(const struct path_fold *f, const struct path_rules *r, const struct path *p)
{
	size_t i = f->n;
	while (i-- > 0 && !progress_own_stops(i))
		if (f->step[i] && path_reference_is_static(r, p->step[f->step[i] - 1], p->step[f->step[i]]))
			return i;
	return 0;
}

/* Step i of those that are seen.  *element: what comes next may be "[17]" of it. */
static void add_seen(const struct path_rules *r, const struct path *p, const struct path_fold *f, size_t i,
    bool begins, bool *element, struct text *to)
{
	uint32_t class = heap_class_mirrored(r->heap, p->step[f->step[i]]);
	struct text label = TEXT_INIT;
	bool named = path_fold_label(r, p->step, i ? f->step[i - 1] : 0, f->step[i], &label);
	if (begins && class != HEAP_NONE)
		add_class(r->heap, p->step[f->step[i]], to);
	else if (named && !strcmp(label.s, "<loaded>") && class != HEAP_NONE)
		text_addf(to, " > <loaded %s>", r->heap->classes[class].name);
	else if (named)
		text_addf(to, "%s%s", begins || (*element && *label.s == '[') ? "" : " > ", label.s);
	else if (i + 1 < f->n)
		text_addf(to, " > %s", heap_class_of(r->heap, p->step[f->step[i]])->name);
	*element = named;
	text_release(&label);
}

int path_fold_line(bool *named, struct path_plumbing *plumbing, const struct path_rules *r, const struct path *p,
    struct text *to, struct err *err)
{
	struct path_fold f = {.n = 0};
	int code = p->n > 1 ? path_fold(&f, plumbing, r, p, err) : 0;
	size_t first = path_fold_last_static(&f, r, p), low = f.n > LINE_SHOWN ? f.n - LINE_SHOWN : 0;
	bool element = false;
	*named = f.n && f.step[first] && path_reference_is_static(r, p->step[f.step[first] - 1], p->step[f.step[first]]);
	if (f.n && !f.step[first])
		*named = element = add_beginning(r, p->step[0], to);
	for (size_t i = first; i < f.n && !progress_own_stops(i); i++) {
		if (f.step[i] && (i == first || i >= low))
			add_seen(r, p, &f, i, i == first, &element, to);
		text_add(to, i == first && low > first ? " > …" : "");
	}
	if (!code && p->n)
		text_add(to, p->n > 1 ? " > this" : "this");
	path_fold_release(&f);
	return code;
}
