/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * numbered_names.c - the names of all references of a heap, as numbers (describe.h).
 *
 * Where classes declare fields, each class gets a plan when its first instance is met: where in the record
 * its references lie and what they are called.  The graph has an object's references in the order of its
 * record, so only which of them are null must be read.  In any other case each reference is looked up by
 * its target.
 */
#include "analysis/describe/inspector.h"

#include "algorithms/sort.h"
#include "algorithms/string_intern.h"
#include "base/mem.h"
#include "base/memory_refusals.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/field_words.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { CLASSES_DEEP = 1000 };

struct name_plan {
	uint64_t first; /* in places */
	uint32_t n;
	bool made;
};

struct numbered_names {
	const struct heap *heap;
	bool declared;        /* classes declare the fields */
	struct string_intern book; /* the names; plain ones of fields are the heap's */
	struct name_plan *plan; /* by class */
	struct planned_name {
		uint64_t offset; /* in the record, bytes */
		uint32_t name;
	} *planned;
	uint64_t n_planned, cap_planned;
	uint32_t *of;         /* what numbered_names_of hands out */
	uint64_t cap_of;
	struct view_walk walk;
	struct text scratch;
};

int numbered_names_new(struct numbered_names **out, const struct heap *h, struct err *err)
{
	struct numbered_names *n = *out = xcalloc(1, sizeof *n);
	uint32_t number;
	n->heap = h;
	n->declared = inspect_declares_fields(h);
	n->scratch = (struct text)TEXT_INIT;
	n->plan = big_alloc(h->n_classes, sizeof *n->plan, err);
	if (n->plan && !string_intern_number(&n->book, "", true, &number, err) &&
	    !string_intern_number(&n->book, "[]", true, &number, err))
		return 0;
	numbered_names_free(n);
	*out = NULL;
	return ERR_NOMEM;
}

void numbered_names_free(struct numbered_names *n)
{
	if (!n)
		return;
	string_intern_release(&n->book);
	big_free(n->plan);
	big_free(n->planned);
	big_free(n->of);
	text_release(&n->scratch);
	free(n);
}

int numbered_names_add(struct numbered_names *n, const char *name, uint32_t *number, struct err *err)
{
	return string_intern_number(&n->book, name, false, number, err);
}

uint32_t numbered_names_count(const struct numbered_names *n)
{
	return n->book.n;
}

const char *numbered_name(const struct numbered_names *n, uint32_t number)
{
	return n->book.word[number];
}

/* --- instances of classes that declare fields --------------------------------------------------- */

static int number_field(struct numbered_names *n, uint32_t class, const struct heap_field *field, uint32_t *number,
    struct err *err)
{
	if (!field_has_twin(n->heap, class, field))
		return string_intern_number(&n->book, field->name, true, number, err);
	text_clear(&n->scratch);
	field_word(n->heap, class, field, &n->scratch);
	return string_intern_number(&n->book, n->scratch.s, false, number, err);
}

static int by_offset(const void *x, const void *y)
{
	const struct planned_name *a = x, *b = y;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int make_plan(struct numbered_names *n, uint32_t of, struct err *err)
{
	const struct heap *h = n->heap;
	uint32_t class = of;
	struct name_plan *plan = &n->plan[class];
	uint64_t below = 0;
	*plan = (struct name_plan){.first = n->n_planned};
	for (unsigned deep = 0; class != HEAP_NONE && deep < CLASSES_DEEP; deep++) {
		const struct heap_class *c = &h->classes[class];
		for (uint32_t i = 0; i < c->n_fields; i++) {
			if (c->fields[i].type != VALUE_OBJECT)
				continue;
			struct planned_name *to = BIG_PUSH(n->planned, n->n_planned, n->cap_planned, err);
			if (!to || number_field(n, of, &c->fields[i], &to->name, err))
				return ERR_NOMEM;
			to->offset = below + c->fields[i].offset;
			plan->n++;
		}
		below += c->fields_size;
		class = c->superclass;
	}
	int code = sort(plan->n ? n->planned + plan->first : NULL, plan->n, sizeof *n->planned, by_offset, err);
	plan->made = !code; /* else, without memory, it has some fields only */
	return code;
}

/* Is the word of a record null? */
static inline bool is_null(const uint8_t *word, unsigned bytes)
{
	uint64_t bits = 0;
	memcpy(&bits, word, bytes);
	return !bits;
}

/* Number the references that the record does not have as null.  False: they are not as many as the graph
 * has, so nobody knows yet which is which. */
static bool number_fields(struct numbered_names *n, const struct name_plan *plan, const struct object_view *view,
    uint64_t degree)
{
	const struct planned_name *field = plan->n ? n->planned + plan->first : NULL;
	unsigned word = values_size_of(n->heap, VALUE_OBJECT);
	uint64_t k = 0;
	for (uint32_t i = 0; i < plan->n; i++) {
		if (view->n_bytes < word || field[i].offset > view->n_bytes - word)
			return false;
		if (is_null(view->bytes + field[i].offset, word))
			continue;
		if (k == degree)
			return false;
		n->of[k++] = field[i].name;
	}
	return k == degree;
}

/* --- all others --------------------------------------------------------------------------------- */

/* A place in a map is "[]", whatever the key. */
void numbered_names_fold(struct text *name)
{
	char *to = name->s;
	if (!name->len)
		return;
	if (name->len > 1 && name->s[0] == '[') {
		text_clear(name);
		text_add(name, "[]");
		return;
	}
	if (!strncmp(name->s, "key ", 4)) {
		name->s[3] = 0;
		name->len = 3;
		return;
	}
	for (const char *from = name->s; *from; from++) {
		*to++ = *from;
		if (*from == '[' && strchr(from, ']'))
			from = strchr(from, ']') - 1;
		else if (*from == '+' && from[1] && strspn(from + 1, "0123456789") == strlen(from + 1)) {
			to--; /* not "bss+0x1a40" */
			break;
		}
	}
	*to = 0;
	name->len = (size_t)(to - name->s);
}

enum { STRUCT_MOST = 128 }; /* bytes: what is longer and of no known type is rather an array, or a map's buckets */

/* A place in something long without a type is any place: "[]" instead of "+0x158". */
static void fold_offset(const struct heap *h, uint32_t id, struct text *name)
{
	if (name->len && !strncmp(name->s, "+0x", 3) && heap_shallow(h, id) > STRUCT_MOST) {
		text_clear(name);
		text_add(name, "[]");
	}
}

/* The first of these places with the target, or end. */
static uint64_t find_target(const uint32_t *target, uint64_t at, uint64_t end, uint32_t to, uint64_t *round)
{
	while (at < end && target[at] != to && !progress_own_stops(++*round))
		at++;
	return at;
}

static int number_by_target(struct numbered_names *n, uint32_t id, uint64_t degree, struct err *err)
{
	const struct heap *h = n->heap;
	const uint32_t *target = h->out.target + adjacency_start(&h->out, id);
	struct reference_names names;
	uint64_t place, k = 0, round = 0;
	uint32_t to, number;
	reference_names_begin(&names, h, id);
	memset(n->of, 0, degree * sizeof *n->of);
	while (names.open && names.inspector->names_any(&names, &to, &place)) {
		uint64_t at = find_target(target, k, degree, to, &round); /* in most dumps the next one */
		if (at == degree)
			at = find_target(target, 0, k, to, &round);
		if (at == degree || target[at] != to || n->of[at])
			continue;
		text_clear(&n->scratch);
		names.inspector->name_at(&names, place, to, &n->scratch);
		numbered_names_fold(&n->scratch);
		fold_offset(h, id, &n->scratch);
		const char *name = n->scratch.s;
		if (!strncmp(name, "static ", strlen("static ")))
			name += strlen("static ");
		if (h->facts.exported && *name == '?') /* a name that the export made up */
			continue;
		if (string_intern_number(&n->book, name, false, &number, err))
			return ERR_NOMEM;
		n->of[at] = number;
		k = at + 1;
	}
	return 0;
}

static int number_references(struct numbered_names *n, uint32_t id, struct numbered *out, struct err *err)
{
	const struct heap *h = n->heap;
	uint64_t degree = adjacency_degree(&h->out, id);
	const struct heap_class *c = heap_class_of(h, id);
	bool told = values_held(h) || values_away(h);
	*out = (struct numbered){.all = NAME_NOT_TOLD};
	if (degree && (n->declared || !told) && c->kind == CLASS_OBJECT_ARRAY) {
		out->all = NAME_ELEMENT;
		return 0;
	}
	if (!degree || !told)
		return 0;
	if (degree > n->cap_of) {
		uint32_t *of = big_resize(n->of, 2 * degree, sizeof *of, err);
		if (!of)
			return ERR_NOMEM;
		n->of = of;
		n->cap_of = 2 * degree;
	}
	out->each = n->of;
	if (n->declared && heap_class_mirrored(h, id) == HEAP_NONE) {
		const struct name_plan *plan = &n->plan[heap_class_index(h, id)];
		struct object_view view;
		if (!plan->made && make_plan(n, heap_class_index(h, id), err))
			return ERR_NOMEM;
		if (plan->n == degree) { /* none is null */
			for (uint32_t i = 0; i < plan->n; i++)
				n->of[i] = n->planned[plan->first + i].name;
			return 0;
		}
		if (!heap_view_along(h, id, &n->walk, &view, NULL) && number_fields(n, plan, &view, degree))
			return 0;
	}
	return number_by_target(n, id, degree, err);
}

/* Names that memory was refused for are cut short: they are not handed out, for the caller may keep them. */
int numbered_names_of(struct numbered_names *n, uint32_t id, struct numbered *out, struct err *err)
{
	uint64_t refusals = mem_refusals();
	int code = number_references(n, id, out, err);
	return code || mem_refusals() == refusals ? code : memory_refusals_check(refusals, err);
}
