/* SPDX-License-Identifier: GPL-3.0-or-later */
/* about_contents.c - the half of `about` that tells what the objects are, hold, and keep alive. */
#include "command/retention/about.h"

#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/histogram.h"
#include "base/amount.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/resolve/resolve.h"
#include "command/retention/heap_labels.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/value.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIELDS_LOOKED = 2000, FIELDS_SHOWN = 40,
	ENTRIES = 3, SAMPLES = 3, FRAMES = 60, LOCALS = 100, CLASSES = 6,
	VALUE_BRIEF = 24,    /* characters of a value among others */
	QUICK_BELOW = 500000 /* objects below one that are gone through */
};

/* --- the head ----------------------------------------------------------------------------------- */

static void add_head(struct asking *q, uint32_t id)
{
	const struct heap *h = q->a->heap;
	struct collection_size size;
	uint32_t mirrored = heap_class_mirrored(h, id);
	const struct heap_class *class = mirrored == HEAP_NONE ? heap_class_of(h, id) : &h->classes[mirrored];
	object_head(q->r, id, COL_ADDRESS, OBJECT_ADDRESS);
	object_head(q->r, id, COL_CLASS, OBJECT_CLASS);
	object_head(q->r, id, COL_SHALLOW, OBJECT_SHALLOW);
	object_head(q->r, id, COL_RETAINED, OBJECT_RETAINED);
	object_head(q->r, id, COL_LENGTH, OBJECT_LENGTH);
	uint64_t left = h->n_objects;
	bool collection = inspect_count(h, id, &left, &size) && size.known;
	if (collection)
		result_head(q->r, COL_SIZE, cell_count(result_of_file(q->r, amount_exact(size.size))));
	if (!h->facts.no_class_objects && class->loader != HEAP_NONE)
		result_head(q->r, COL_LOADER, cell_address(heap_address(h, class->loader)));
	if (mirrored == HEAP_NONE && !collection) /* else it is what the title, or the size, says */
		object_head(q->r, id, COL_VALUE, OBJECT_VALUE);
}

/* --- fields ------------------------------------------------------------------------------------- */

struct field_row {
	size_t part;
	uint32_t target; /* or HEAP_NONE */
	uint64_t retained;
	bool empty; /* it holds null */
};

static int by_retained(const void *a, const void *b)
{
	const struct field_row *x = a, *y = b;
	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	if (x->empty != y->empty)
		return x->empty ? 1 : -1;
	return x->part < y->part ? -1 : x->part > y->part;
}

static bool says_nothing(const struct text *value)
{
	return value->len && (!strcmp(value->s, "null") || !strcmp(value->s, "nil"));
}

static uint64_t retained_bytes(const struct about *a, uint32_t id)
{
	return a->known && id != HEAP_NONE ? retained_of(a->known, id).n : 0;
}

static void add_more(struct asking *q, enum about_part part, size_t n, const char *what)
{
	struct text words = TEXT_INIT;
	text_add(&words, "and ");
	text_add_count(&words, n);
	text_addf(&words, " more %s%s", what, n == 1 ? "" : "s");
	about_add(q, &(struct about_row){.part = part, .name = words.s, .rest = n});
	text_release(&words);
}

/* A value; of a reference to what nothing is known of also the class. */
static void add_value(struct asking *q, const struct any_value *v, uint64_t limit, struct text *to)
{
	const struct heap *h = q->a->heap;
	uint32_t target = inspect_target(v).id;
	inspect_value(v, limit, to);
	if (target == HEAP_NONE || !to->len || strncmp(to->s, "0x", 2))
		return;
	text_clear(to);
	text_addf(to, "%s 0x%" PRIx64, heap_brief_name(h, heap_class_of(h, target)->name), heap_address(h, target));
}

static void add_field(struct asking *q, const struct object_parts *parts, const struct field_row *f)
{
	struct object_part part;
	struct text name = TEXT_INIT, value = TEXT_INIT, date = TEXT_INIT;
	inspect_part(parts, f->part, &part);
	inspect_part_name(parts, f->part, &name);
	if (!part.missing)
		add_value(q, &part.value, DESCRIBE_SHORT, &value);
	struct cell cell = part.missing ? cell_none() :
	    cell_text_as_sure(value.s ? value.s : "", result_of_file(q->r, amount_exact(0)));
	if (!part.missing && inspect_date(&part.value, name.len ? name.s : "", &date))
		cell.beside = date.s;
	about_add_object(q, &(struct about_row){.part = ABOUT_FIELDS, .value = cell}, &name, f->target);
	text_release(&value);
	text_release(&date);
}

/* Its fields or elements, those first that keep most alive. */
static int add_fields(struct asking *q, uint32_t id, struct err *err)
{
	struct object_parts *parts;
	int code = inspect_parts(&parts, q->a->heap, id, &(struct range){.length = FIELDS_LOOKED}, err);
	if (code == ERR_NOMEM)
		return code;
	if (code)
		return 0; /* what keeps its values from being read stands elsewhere */
	struct field_row *rows = xcalloc(parts->n + 1, sizeof *rows);
	for (size_t i = 0; i < parts->n; i++) {
		struct object_part part;
		inspect_part(parts, i, &part);
		uint32_t target = part.missing ? HEAP_NONE : inspect_target(&part.value).id;
		struct text value = TEXT_INIT;
		if (!part.missing && target == HEAP_NONE)
			inspect_value(&part.value, VALUE_BRIEF, &value);
		rows[i] = (struct field_row){i, target, retained_bytes(q->a, target), says_nothing(&value)};
		text_release(&value);
	}
	sort_array(rows, parts->n, sizeof *rows, by_retained);
	size_t shown = parts->n < FIELDS_SHOWN ? parts->n : FIELDS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		add_field(q, parts, &rows[i]);
	if (shown < parts->n)
		add_more(q, ABOUT_FIELDS, parts->n - shown, "field");
	free(rows);
	inspect_parts_close(parts);
	return 0;
}

/* Where the dump has no values: what it references. */
static void add_references(struct asking *q, uint32_t id)
{
	const struct heap *h = q->a->heap;
	uint64_t first = adjacency_start(&h->out, id), end = adjacency_start(&h->out, id + 1);
	size_t n = end - first < FIELDS_LOOKED ? (size_t)(end - first) : FIELDS_LOOKED;
	struct field_row *rows = xcalloc(n + 1, sizeof *rows);
	for (size_t i = 0; i < n; i++) {
		uint32_t target = h->out.target[first + i];
		rows[i] = (struct field_row){i, target, retained_bytes(q->a, target), false};
	}
	sort_array(rows, n, sizeof *rows, by_retained);
	size_t shown = n < FIELDS_SHOWN ? n : FIELDS_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		struct text name = TEXT_INIT;
		text_addf(&name, "0x%" PRIx64, heap_address(h, rows[i].target));
		about_add_object(q, &(struct about_row){.part = ABOUT_FIELDS,
		    .value = cell_text(heap_class_of(h, rows[i].target)->name)}, &name, rows[i].target);
	}
	if (shown < end - first)
		add_more(q, ABOUT_FIELDS, (size_t)(end - first - shown), "reference");
	free(rows);
}

static int add_entries(struct asking *q, uint32_t id, struct err *err)
{
	struct entries *entries;
	int code = inspect_entries(&entries, q->a->heap, id, &(struct range){.length = ENTRIES}, err);
	if (code)
		return code == ERR_NOMEM ? code : 0;
	for (size_t i = 0; i < entries->n; i++) {
		struct any_value key, value;
		struct text name = TEXT_INIT, words = TEXT_INIT;
		inspect_entry(entries, i, &key, &value);
		uint32_t target = inspect_target(&value).id;
		if (entries->map)
			inspect_value(&key, VALUE_BRIEF, &name);
		else
			text_addf(&name, "[%" PRIu64 "]", entries->start + i);
		add_value(q, &value, DESCRIBE_SHORT, &words);
		about_add_object(q, &(struct about_row){.part = ABOUT_ENTRIES,
		    .value = cell_text_as_sure(words.s ? words.s : "", result_of_file(q->r, amount_exact(0)))}, &name, target);
		text_release(&words);
	}
	inspect_entries_close(entries);
	return 0;
}

/* --- some of many ------------------------------------------------------------------------------- */

/* The one that retains most, and some from over the whole set. */
static void add_samples(struct asking *q)
{
	const struct about_what *what = q->what;
	size_t at[SAMPLES] = {0, what->n / 2, what->n - 1};
	for (size_t i = 0; q->a->known && i < what->n && !progress_stops(q->progress, i); i++) {
		if (retained_bytes(q->a, what->ids[i]) > retained_bytes(q->a, what->ids[at[0]]))
			at[0] = i;
	}
	for (size_t i = 0; i < SAMPLES; i++) {
		bool again = false;
		for (size_t k = 0; k < i; k++)
			again |= at[k] == at[i];
		if (again)
			continue;
		uint32_t id = what->ids[at[i]];
		struct text name = TEXT_INIT, words = TEXT_INIT;
		text_addf(&name, "0x%" PRIx64, heap_address(q->a->heap, id));
		describe_summary(q->a->heap, id, &words);
		about_add_object(q, &(struct about_row){.part = ABOUT_SAMPLE,
		    .value = cell_text_as_sure(words.s ? words.s : "", result_of_file(q->r, amount_exact(0)))}, &name, id);
		text_release(&words);
	}
}

/* --- what goes with them ------------------------------------------------------------------------ */

static int by_shallow(const void *a, const void *b)
{
	const struct histogram_row *x = a, *y = b;
	if (x->shallow.n != y->shallow.n)
		return x->shallow.n > y->shallow.n ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

/* as: how sure it is that these go. */
static int add_classes(struct asking *q, const uint32_t *ids, size_t n, struct amount as, struct err *err)
{
	const struct histogram_scope scope = {.objects = ids, .n_objects = n, .chosen = heap_held};
	struct histogram histogram;
	int code = histogram_make(&histogram, q->a->heap, BY_CLASS, &scope, err);
	if (code)
		return code;
	sort_array(histogram.rows, histogram.n, sizeof *histogram.rows, by_shallow);
	bool only_themselves = histogram.n == 1 && histogram.rows[0].objects.n == q->what->n;
	for (size_t i = 0; !only_themselves && i < histogram.n && i < CLASSES; i++) {
		const struct histogram_row *row = &histogram.rows[i];
		struct text line = TEXT_INIT;
		about_class_line(q->a, row->class, &line);
		about_add(q, &(struct about_row){.part = ABOUT_IF_CUT, .name = row->name,
		    .objects = cell_count(amount_as_sure(row->objects, as)),
		    .shallow = cell_bytes(amount_as_sure(row->shallow, as)), .command = line.s});
		text_release(&line);
	}
	if (histogram.n > CLASSES)
		add_more(q, ABOUT_IF_CUT, histogram.n - CLASSES, histogram.n - CLASSES == 1 ? "class" : "classe");
	histogram_release(&histogram);
	return 0;
}

/* The object and what it dominates, the nearest first.  *all: none was left out to be quick.  *ids: by big_alloc. */
static int gather_below(struct asking *q, uint32_t id, uint32_t **ids, size_t *n, bool *all, struct err *err)
{
	size_t cap = 0;
	if (BIG_ADD(*ids, *n, cap, err, id))
		return ERR_NOMEM;
	*all = true;
	for (size_t at = 0; at < *n && *all; at++) {
		uint32_t more;
		const uint32_t *child = retained_children(q->a->known, (*ids)[at], &more);
		if (progress_stops(q->progress, at))
			return err_cancelled(err);
		for (uint32_t i = 0; i < more; i++) {
			if (BIG_ADD(*ids, *n, cap, err, child[i]))
				return ERR_NOMEM;
		}
		*all = !q->quick || *n < QUICK_BELOW;
	}
	return 0;
}

static int add_if_cut(struct asking *q, struct err *err)
{
	const struct about_what *what = q->what;
	const struct retained *known = q->a->known;
	bool all = true, one = what->n == 1;
	uint32_t *ids = NULL;
	size_t n = 0;
	if (!known || !known->children.target || (!one && !q->has_loss))
		return 0;
	int code = one ? gather_below(q, what->ids[0], &ids, &n, &all, err) : ids_of_bits(&q->loss.dead, &ids, &n, err);
	if (!code && all)
		code = add_classes(q, ids, n, one ? retained_of(known, what->ids[0]) : q->loss.bytes, err);
	big_free(ids);
	return code;
}

/* --- all of it ---------------------------------------------------------------------------------- */

/* What the frames of a thread hold: each object once, in the innermost one. */
struct locals {
	uint32_t object[LOCALS], frame[LOCALS];
	size_t root[LOCALS];
	size_t n;
};

static void gather_locals(struct asking *q, uint32_t number, struct locals *l)
{
	const struct heap *h = q->a->heap;
	for (size_t i = 0; i < h->n_roots && !progress_stops(q->progress, i); i++) {
		const struct heap_root *root = &h->roots[i];
		if (root->thread != number || root->frame >= FRAMES || root->object == h->threads[number].object)
			continue;
		size_t k = 0;
		while (k < l->n && l->object[k] != root->object)
			k++;
		if (k == LOCALS)
			continue;
		bool seen = k < l->n;
		if (seen && l->frame[k] <= root->frame)
			continue;
		l->n += !seen;
		l->object[k] = root->object;
		l->frame[k] = root->frame;
		l->root[k] = i;
	}
}

static void add_local(struct asking *q, uint32_t id, size_t root)
{
	const struct heap *h = q->a->heap;
	struct text name = TEXT_INIT, value = TEXT_INIT;
	const char *class = heap_brief_name(h, heap_class_of(h, id)->name);
	if (!heap_symbol(h, h->roots[root].slot, &name))
		text_add(&name, class);
	struct cell cell = object_value_cell(h, id, &value);
	about_add_object(q, &(struct about_row){.part = ABOUT_STACK, .indent = 2,
	    .value = cell.type == CELL_TEXT ? cell : cell_text(class), .beside = true}, &name, id);
	text_release(&value);
}

static void add_stack(struct asking *q, uint32_t number)
{
	const struct heap_thread *t = &q->a->heap->threads[number];
	struct locals *l = xcalloc(1, sizeof *l);
	gather_locals(q, number, l);
	for (uint32_t i = 0; i < t->n_frames && i < FRAMES; i++) {
		about_add(q, &(struct about_row){.part = ABOUT_STACK, .name = t->frames[i]});
		for (size_t k = 0; k < l->n; k++) {
			if (l->frame[k] == i)
				add_local(q, l->object[k], l->root[k]);
		}
	}
	if (t->n_frames > FRAMES)
		add_more(q, ABOUT_STACK, t->n_frames - FRAMES, "frame");
	free(l);
}

static void add_thread_head(struct asking *q, uint32_t number)
{
	const struct heap_thread *t = &q->a->heap->threads[number];
	result_head(q->r, COL_THREAD, t->name ? cell_text(t->name) : cell_none());
	if (t->state)
		result_head(q->r, COL_STATE, cell_text(t->state));
	if (t->waits_for)
		result_head(q->r, COL_WAITS_FOR, cell_text(t->waits_for));
}

static int add_one(struct asking *q, struct err *err)
{
	const struct heap *h = q->a->heap;
	uint32_t id = q->what->ids[0], thread = heap_thread_of(h, id);
	if (thread != HEAP_NONE)
		add_thread_head(q, thread);
	add_head(q, id);
	if (thread != HEAP_NONE)
		add_stack(q, thread);
	size_t before = q->r->n_rows;
	bool values = values_held(h) && heap_class_of(h, id)->kind == CLASS_PRIMITIVE_ARRAY; /* the head has the first */
	int code = values ? 0 : add_fields(q, id, err);
	if (!code && !values && q->r->n_rows == before)
		add_references(q, id);
	if (!code && !object_is_array(h, id)) /* its elements stand there */
		code = add_entries(q, id, err);
	return code ? code : add_if_cut(q, err);
}

/* The class that they all are of; HEAP_NONE: several. */
static uint32_t one_class(const struct asking *q)
{
	const struct heap *h = q->a->heap;
	uint32_t class = heap_class_index(h, q->what->ids[0]);
	for (size_t i = 0; i < q->what->n && !progress_stops(q->progress, i); i++)
		if (heap_class_index(h, q->what->ids[i]) != class)
			class = HEAP_NONE;
	return class;
}

static int add_many(struct asking *q, struct err *err)
{
	const struct heap *h = q->a->heap;
	const struct about_what *what = q->what;
	const struct retained *known = q->a->known;
	uint32_t class = one_class(q);
	struct amount bytes = q->has_loss ? q->loss.bytes : amount_unknown(REASON_NOT_FOUND_YET);
	bool whole = class != HEAP_NONE && h->classes[class].n_objects == what->n;
	add_samples(q);
	int code = add_if_cut(q, err);
	if (code)
		return code;
	if (!q->has_loss && known && known->by_class && whole) {
		struct retained_sum sum = retained_of_class(known, class);
		bytes = retained_sum_bytes(known, &sum);
	}
	if (class != HEAP_NONE)
		result_head(q->r, COL_CLASS, cell_text(h->classes[class].name));
	result_head(q->r, COL_OBJECTS, cell_count(heap_count_of(h, what->ids, what->n)));
	result_head(q->r, COL_SHALLOW, cell_bytes(whole ? class_shallow(h, &h->classes[class]) :
	    amount_as_sure(heap_size_of(h, what->ids, what->n), heap_counted(h, 0))));
	result_head(q->r, COL_RETAINED, cell_bytes(bytes));
	return 0;
}

int about_add_contents(struct asking *q, struct err *err)
{
	if (q->what->n > 1)
		return add_many(q, err);
	if (q->what->n == 1)
		return add_one(q, err);
	if (q->what->thread != HEAP_NONE) {
		add_thread_head(q, q->what->thread);
		add_stack(q, q->what->thread);
	}
	return 0;
}
