/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waste.c - the table of kinds, their sums, and who holds what a kind is about; see waste.h. */
#include "analysis/waste/waste.h"

#include "algorithms/map.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/waste/work.h"
#include "dump/reader.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <string.h>

const struct waste_kind_info waste_kinds[WASTE_KINDS] = {
	[WASTE_STRINGS] = {"strings", "duplicate strings",
	    "Strings with the same text as others",
	    "all but one String and one array of each text, except arrays that others use"},
	[WASTE_WIDE] = {"wide", "wide strings",
	    "other Strings with two bytes a character that need only one",
	    "half of their arrays"},
	[WASTE_UNUSED] = {"unused", "empty collections",
	    "empty collections without any sign of use",
	    "the collections with their parts"},
	[WASTE_EMPTIED] = {"emptied", "emptied collections",
	    "collections that became empty again", "the collections with their parts"},
	[WASTE_SINGLE] = {"single", "one-entry collections",
	    "collections of one element",
	    "the collections with their parts (keep only the element)", .judged = true},
	[WASTE_CHAINS] = {"chains", "long hash chains",
	    "hash tables of 16 entries or more, with 4 or more in each chain",
	    "no bytes, but each access walks a chain (improve hashCode)"},
	[WASTE_OVERSIZED] = {"oversized", "oversized collections",
	    "collections of over 16 slots that use less than a quarter of them",
	    "the excess over arrays of the needed size", .judged = true},
	[WASTE_EMPTY_ARRAYS] = {"empty", "empty arrays",
	    "arrays of length 0, except those in static fields", "all of them",
	    .by_length = true},
	[WASTE_ONE_ELEMENT] = {"one", "one-element arrays",
	    "arrays of length 1", "all of them (keep only the element)", .judged = true,
	    .by_length = true},
	[WASTE_SPARSE] = {"sparse", "sparse arrays",
	    "arrays of 16 references or more, at most a quarter of them not null",
	    "the excess over arrays of the other references", .judged = true, .by_length = true},
	[WASTE_CONSTANT] = {"constant", "constant arrays",
	    "primitive arrays with all elements equal", "all of them", .judged = true},
	[WASTE_TAILS] = {"tails", "zero tails",
	    "primitive arrays that end in zeros (half or more, at least 64 bytes)",
	    "the excess over arrays without these zeros", .judged = true},
	[WASTE_ARRAYS] = {"arrays", "duplicate arrays",
	    "other primitive arrays with the same content as others",
	    "all but one of each content"},
	[WASTE_BOXES] = {"boxes", "boxed numbers",
	    "boxed numbers, except those of the library's caches and in collections",
	    "the boxes, minus the extra size of primitive fields"},
	[WASTE_BOXED] = {"boxed", "collections of boxed numbers",
	    "collections of boxed numbers", "the same for their elements, which with_parts counts"},
	[WASTE_OBJECTS] = {"objects", "duplicate objects",
	    "other objects with the same field values as another object of the class "
	    "(except java.util.concurrent)", "all but one of each content", .judged = true},
	[WASTE_FIELDS] = {"fields", "constant fields",
	    "instances with a field that has the same value in all of more than 1,000",
	    "that field in each", .judged = true, .of_classes = true},
	[WASTE_ALIGNMENT] = {"alignment", "alignment padding",
	    "instances with padding beyond header and fields", "the padding of each",
	    .judged = true, .of_classes = true},
};

bool waste_told(const struct heap *h, enum waste_kind kind)
{
	if (kind == WASTE_STRINGS)
		return inspect_texts_held(h, NULL) == 0;
	if (h->facts.no_class_objects) /* of what a map or a slice held once there is no trace */
		return h->dump->types && (kind == WASTE_UNUSED || kind == WASTE_SINGLE || kind == WASTE_OVERSIZED);
	if (kind == WASTE_ALIGNMENT)
		return inspect_declares_fields(h);
	return waste_kinds[kind].by_length || (values_whole(h) && inspect_declares_fields(h));
}

static const struct family {
	int (*find)(struct waste_work *w, struct err *err);
	enum waste_kind first, last;
} families[] = {
	{waste_of_texts, WASTE_STRINGS, WASTE_WIDE},
	{waste_of_collections, WASTE_UNUSED, WASTE_OVERSIZED},
	{waste_of_arrays, WASTE_EMPTY_ARRAYS, WASTE_ARRAYS},
	{waste_of_boxes, WASTE_BOXES, WASTE_BOXED},
	{waste_of_objects, WASTE_OBJECTS, WASTE_OBJECTS},
	{waste_of_fields, WASTE_FIELDS, WASTE_FIELDS},
	{waste_of_alignment, WASTE_ALIGNMENT, WASTE_ALIGNMENT},
};

/* --- sums --------------------------------------------------------------------------------------- */

static void add(struct waste_sum *to, const struct waste_sum *one)
{
	to->objects += one->objects;
	to->shallow += one->shallow;
	to->wasted += one->wasted;
}

enum { SUPERCLASSES_MOST = 200 };

/* Is a kind that says so of these classes about instances of this one?  A field is in those of subclasses, too. */
static bool is_about(const struct heap *h, enum waste_kind kind, const struct bits *classes, uint32_t class)
{
	bool found = bits_get(classes, class);
	for (unsigned deep = 0; kind == WASTE_FIELDS && !found && deep < SUPERCLASSES_MOST; deep++) {
		class = h->classes[class].superclass;
		if (class == HEAP_NONE)
			break;
		found = bits_get(classes, class);
	}
	return found;
}

int waste_mark_classes(const struct heap *h, enum waste_kind kind, const struct bits *classes, struct bits *to,
    struct err *err)
{
	struct bits wanted = {.word = NULL};
	int code = bits_init(&wanted, h->n_classes, err);
	for (uint32_t c = 0; !code && c < h->n_classes && !progress_own_stops(64 * (uint64_t)c); c++)
		if (is_about(h, kind, classes, c))
			bits_set(&wanted, c);
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(id); id++)
		if (bits_get(&wanted, heap_class_index(h, id)))
			bits_set(to, id);
	bits_release(&wanted);
	return code;
}

/* An object with several such fields counts once. */
static int sum_classes(struct waste_all *out, const struct waste_work *w, enum waste_kind kind, struct err *err)
{
	const struct heap *h = w->heap;
	struct waste_sum *sum = &out->sum[kind];
	if (!w->wanted[kind])
		return 0;
	if (bits_init(&out->classes[kind], h->n_classes, err))
		return ERR_NOMEM;
	for (size_t i = 0; i < w->n_of_class; i++) {
		bits_set(&out->classes[kind], w->of_class[i].class);
		sum->wasted += w->of_class[i].sum.wasted;
	}
	for (uint32_t c = 0; c < h->n_classes; c++) {
		if (progress_own_stops(64 * (uint64_t)c))
			return err_cancelled(err);
		if (is_about(h, kind, &out->classes[kind], c))
			add(sum, &(struct waste_sum){h->classes[c].n_objects, h->classes[c].shallow, 0});
	}
	return 0;
}

/* Sum up what a family found, and forget it. */
static int sum_up(struct waste_all *out, struct waste_work *w, const struct family *f, struct err *err)
{
	for (unsigned kind = f->first; kind <= f->last; kind++) {
		struct waste_items *items = &w->found[kind];
		for (size_t i = 0; i < items->n; i++) {
			const struct waste_item *item = &items->item[i];
			if (progress_own_stops(i))
				return err_cancelled(err);
			add(&out->sum[kind], &(struct waste_sum){1, item->shallow, item->wasted});
			out->kinds[item->id] |= UINT32_C(1) << kind;
		}
		if (waste_kinds[kind].of_classes && sum_classes(out, w, kind, err))
			return err->code;
		big_free(items->item);
		*items = (struct waste_items){.item = NULL};
	}
	return 0;
}

int waste_find_all(struct waste_all *out, const struct heap *h, struct err *err)
{
	struct waste_work w = {.heap = h};
	*out = (struct waste_all){.kinds = big_alloc(h->n_objects, sizeof *out->kinds, err)};
	int code = out->kinds ? waste_work_begin(&w, h, true, err) : ERR_NOMEM;
	for (unsigned k = 0; k < WASTE_KINDS; k++)
		w.wanted[k] = out->told[k] = waste_told(h, k);
	for (size_t f = 0; !code && f < sizeof families / sizeof *families; f++) {
		bool any = false;
		for (unsigned k = families[f].first; k <= families[f].last; k++)
			any |= w.wanted[k];
		if (any)
			code = families[f].find(&w, err);
		if (any && !code)
			code = sum_up(out, &w, &families[f], err);
	}
	waste_work_release(&w);
	if (code)
		waste_all_release(out);
	return code;
}

void waste_all_release(struct waste_all *w)
{
	big_free(w->kinds);
	for (unsigned k = 0; k < WASTE_KINDS; k++)
		bits_release(&w->classes[k]);
	*w = (struct waste_all){.kinds = NULL};
}

/* --- who holds it ------------------------------------------------------------------------------- */

enum { PLACES_A_TASK = 1 << 12 };

struct grouping {
	struct waste_groups *out;
	const struct waste_work *work;
	const struct waste_items *items;
	enum waste_by by;
	struct waste_place *place; /* of each item */
	uint32_t *group;           /* of each item */
	size_t cap;
	struct map map;
};

static int find_places(void *context, unsigned task, struct err *err)
{
	struct grouping *g = context;
	size_t begin = (size_t)task * PLACES_A_TASK, n = g->items->n - begin;
	n = n < PLACES_A_TASK ? n : PLACES_A_TASK;
	for (size_t i = begin; i < begin + n; i++) {
		if (progress_own_stops(32 * (uint64_t)i))
			return err_cancelled(err);
		(void)waste_place(g->work, g->items->item[i].id, HEAP_NONE, &g->place[i]);
	}
	return progress_add(progress_own(), n) ? 0 : err_cancelled(err);
}

static uint64_t hash_group(const struct waste_group *g)
{
	uint64_t h = hash_step(hash_step(hash_number(g->class), g->declared_in), g->deep);
	return hash_step(hash_step(h, (uintptr_t)g->field), g->holder);
}

static bool same_group(const struct waste_group *a, const struct waste_group *b)
{
	return a->class == b->class && a->declared_in == b->declared_in && a->deep == b->deep && a->field == b->field &&
	    a->holder == b->holder;
}

MAP(groups, const struct waste_group *, const struct waste_group *, map_element, hash_group, same_group)

static bool known_group(const struct grouping *g, const struct waste_group *like, uint32_t *number)
{
	uint32_t found = groups_get(&g->map, g->out->group, like);
	if (found)
		*number = found - 1;
	return found != 0;
}

static int find_group(struct grouping *g, const struct waste_group *like, uint32_t *number, struct err *err)
{
	struct waste_groups *out = g->out;
	uint32_t *slot = groups_enter(&g->map, out->group, (uint32_t)out->n, like, err);
	if (!slot)
		return ERR_NOMEM;
	if (!*slot) {
		if (BIG_ADD(out->group, out->n, g->cap, err, *like))
			return ERR_NOMEM;
		*slot = (uint32_t)out->n;
	}
	*number = *slot - 1;
	return 0;
}

static struct waste_group group_like(const struct grouping *g, uint32_t id, const struct waste_place *place)
{
	struct waste_group like = {.class = heap_class_index(g->work->heap, id), .declared_in = HEAP_NONE,
	    .holder = HEAP_NONE};
	if (g->by != WASTE_BY_CLASS) {
		like.declared_in = place->declared_in;
		like.field = place->field;
		like.deep = place->deep;
	}
	if (g->by == WASTE_BY_HOLDER)
		like.holder = place->holder;
	return like;
}

/* By the places that come first. */
static int group_first(struct grouping *g, struct err *err)
{
	for (size_t i = 0; i < g->items->n; i++) {
		struct waste_group like = group_like(g, g->items->item[i].id, &g->place[i]);
		if (progress_own_stops(i))
			return err_cancelled(err);
		if (find_group(g, &like, &g->group[i], err))
			return ERR_NOMEM;
		g->out->group[g->group[i]].sum.objects++;
	}
	return 0;
}

/* Of several places of an object take that of the largest group.  Holders of one class mostly hold it by one field. */
static void better_group(const struct grouping *g, uint32_t id, uint32_t *group)
{
	const struct heap *h = g->work->heap;
	const struct waste_groups *out = g->out;
	uint64_t at = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	uint32_t tried = HEAP_NONE, number;
	struct waste_place place;
	for (uint64_t i = 0; i < n && i < WASTE_HOLDERS_MOST; i++) {
		uint32_t holder = h->in.target[at + i];
		if (heap_class_index(h, holder) == tried || !waste_may_place(g->work, id, holder))
			continue;
		tried = heap_class_index(h, holder);
		if (!waste_place(g->work, id, holder, &place))
			continue;
		struct waste_group like = group_like(g, id, &place);
		if (known_group(g, &like, &number) && out->group[number].sum.objects > out->group[*group].sum.objects)
			*group = number;
	}
}

/* The groups stay as they are. */
static int find_better(void *context, unsigned task, struct err *err)
{
	struct grouping *g = context;
	size_t begin = (size_t)task * PLACES_A_TASK, n = g->items->n - begin;
	n = n < PLACES_A_TASK ? n : PLACES_A_TASK;
	for (size_t i = begin; i < begin + n; i++) {
		uint32_t id = g->items->item[i].id;
		if (progress_own_stops(32 * (uint64_t)i))
			return err_cancelled(err);
		if (adjacency_degree(&g->work->heap->in, id) > 1 && g->work->owner[id] == HEAP_NONE)
			better_group(g, id, &g->group[i]);
	}
	return progress_add(progress_own(), n) ? 0 : err_cancelled(err);
}

static int sum_groups(struct grouping *g, struct err *err)
{
	for (size_t k = 0; k < g->out->n; k++)
		g->out->group[k].sum.objects = 0;
	for (size_t i = 0; i < g->items->n; i++) {
		const struct waste_item *item = &g->items->item[i];
		if (progress_own_stops(i))
			return err_cancelled(err);
		add(&g->out->group[g->group[i]].sum, &(struct waste_sum){1, item->shallow, item->wasted});
	}
	return 0;
}

static int list_items(struct grouping *g, struct err *err)
{
	struct waste_groups *out = g->out;
	uint64_t n = 0;
	for (size_t k = 0; k < out->n; k++) {
		out->group[k].first = out->group[k].end = n;
		n += out->group[k].sum.objects;
	}
	out->object = big_alloc(n, sizeof *out->object, err);
	for (size_t i = 0; out->object && i < g->items->n; i++)
		out->object[out->group[g->group[i]].end++] = g->items->item[i].id;
	return out->object ? 0 : ERR_NOMEM;
}

static int group_items(struct grouping *g, struct err *err)
{
	size_t n = g->items->n;
	unsigned tasks = (unsigned)((n + PLACES_A_TASK - 1) / PLACES_A_TASK), threads = g->work->names ? 1 : 0;
	int code = 0;
	g->group = big_alloc(n, sizeof *g->group, err);
	g->place = big_alloc(g->by == WASTE_BY_CLASS ? 0 : n, sizeof *g->place, err);
	if (!g->group || !g->place)
		return ERR_NOMEM;
	progress_phase(progress_own(), PHASE_FOLLOW_REFERENCES, n);
	if (g->by != WASTE_BY_CLASS)
		code = parallel_run(threads, tasks, find_places, g, err);
	if (!code)
		code = group_first(g, err);
	progress_phase(progress_own(), PHASE_FOLLOW_REFERENCES, n);
	if (!code && g->by != WASTE_BY_CLASS)
		code = parallel_run(threads, tasks, find_better, g, err);
	if (!code)
		code = sum_groups(g, err);
	return code ? code : list_items(g, err);
}

/* Kinds of classes: a row for each field, or class; no object has them in particular. */
static int group_classes(struct waste_groups *out, const struct waste_work *w, enum waste_by by, struct err *err)
{
	size_t cap = 0;
	for (size_t i = 0; i < w->n_of_class; i++) {
		const struct waste_of_class *one = &w->of_class[i];
		bool more = by == WASTE_BY_CLASS && out->n && out->group[out->n - 1].class == one->class;
		if (more) { /* another field of it */
			out->group[out->n - 1].sum.wasted += one->sum.wasted;
			continue;
		}
		if (BIG_ADD(out->group, out->n, cap, err, (struct waste_group){.class = one->class,
		    .declared_in = by != WASTE_BY_CLASS && one->field ? one->class : HEAP_NONE,
		    .field = one->field, .holder = HEAP_NONE, .sum = one->sum}))
			return ERR_NOMEM;
	}
	return 0;
}

static int most_wasted(const void *x, const void *y)
{
	const struct waste_group *a = x, *b = y;
	if (a->sum.wasted != b->sum.wasted)
		return a->sum.wasted > b->sum.wasted ? -1 : 1;
	return a->sum.shallow != b->sum.shallow ? (a->sum.shallow > b->sum.shallow ? -1 : 1) : 0;
}

int waste_find(struct waste_groups *out, const struct heap *h, enum waste_kind kind, enum waste_by by, struct err *err)
{
	struct waste_work w = {.heap = h};
	struct grouping g = {.out = out, .work = &w, .items = &w.found[kind], .by = by};
	*out = (struct waste_groups){.n = 0};
	w.wanted[kind] = true;
	int code = waste_work_begin(&w, h, !waste_kinds[kind].of_classes, err);
	for (size_t f = 0; !code && f < sizeof families / sizeof *families; f++)
		if (kind >= families[f].first && kind <= families[f].last)
			code = families[f].find(&w, err);
	if (!code)
		code = waste_kinds[kind].of_classes ? group_classes(out, &w, by, err) : group_items(&g, err);
	if (!code)
		code = sort(out->group, out->n, sizeof *out->group, most_wasted, err);
	big_free(g.place);
	big_free(g.group);
	map_release(&g.map);
	out->names = w.names;
	w.names = NULL;
	waste_work_release(&w);
	if (code)
		waste_groups_release(out);
	return code;
}

void waste_groups_release(struct waste_groups *g)
{
	big_free(g->group);
	big_free(g->object);
	numbered_names_free(g->names);
	*g = (struct waste_groups){.n = 0};
}
