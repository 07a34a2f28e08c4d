/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * roles.c - what each class is to the kinds of waste, and which objects a collection is made of.
 *
 * A collection is made of its arrays, of nodes (objects of classes declared inside of a collection's class:
 * java.util.HashMap$Node), and of another collection that it wraps (a HashSet of a HashMap).  They are found from the
 * collections downwards, so a list of a million nodes is walked once.
 */
#include "analysis/waste/work.h"

#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "heap/places.h"
#include "memory/big.h"

#include <string.h>

enum { A_STRETCH = 1 << 16 };

/* --- classes ------------------------------------------------------------------------------------ */

static bool is_box(const char *name)
{
	static const char *const boxes[] = {"Integer", "Long", "Double", "Float", "Short", "Byte", "Character", "Boolean"};
	static const char lang[] = "java.lang.";
	if (strncmp(name, lang, sizeof lang - 1))
		return false;
	for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
		if (!strcmp(name + sizeof lang - 1, boxes[i]))
			return true;
	return false;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

enum { SUPERCLASSES_MOST = 200 };

/* Is it, or a superclass, of this package? */
static bool is_below(const struct heap *h, uint32_t class, const char *package)
{
	for (unsigned seen = 0; class != HEAP_NONE && seen < SUPERCLASSES_MOST; seen++) {
		if (begins(h->classes[class].name, package))
			return true;
		class = h->classes[class].superclass;
	}
	return false;
}

/* Of Go: a map leads to buckets and tables, which have its name in front. */
static enum waste_role role_in_memory(const struct heap *h, uint32_t class, enum storage_arrays *arrays)
{
	const struct heap_class *c = &h->classes[class];
	if (inspect_text_class(h, class) != TEXT_NEVER)
		return ROLE_STRING;
	if (begins(c->name, "map[")) {
		const char *last = strrchr(c->name, ' ');
		if (last && (!strcmp(last, " buckets") || !strcmp(last, " table")))
			return ROLE_PART;
		*arrays = ARRAYS_OF_CHAINS;
		return ROLE_COLLECTION;
	}
	return c->kind == CLASS_OBJECT_ARRAY ? ROLE_OBJECT_ARRAY : ROLE_OTHER;
}

static enum waste_role role_of(const struct heap *h, uint32_t class, enum storage_arrays *arrays)
{
	static const enum waste_role stored[] = {[STORAGE_OWN] = ROLE_COLLECTION, [STORAGE_WRAPPER] = ROLE_WRAPPER,
	    [STORAGE_VIEW] = ROLE_VIEW, [STORAGE_PART] = ROLE_PART};
	*arrays = ARRAYS_NONE;
	const struct heap_class *c = &h->classes[class];
	if (h->facts.no_class_objects)
		return role_in_memory(h, class, arrays);
	if (c->kind == CLASS_OBJECT_ARRAY)
		return ROLE_OBJECT_ARRAY;
	if (c->kind == CLASS_PRIMITIVE_ARRAY)
		return strcmp(c->name, CLASS_OVERHEAD) != 0 ? ROLE_PRIMITIVE_ARRAY : ROLE_OTHER;
	if (class == h->java_lang_class || c->kind != CLASS_PLAIN)
		return ROLE_OTHER;
	if (h->strings && class == h->strings->class)
		return ROLE_STRING;
	if (is_box(c->name))
		return ROLE_BOX;
	enum storage_role role = inspect_storage_role(h, class, arrays);
	if (role != STORAGE_NONE)
		return stored[role];
	if (is_below(h, class, "java.lang.ref."))
		return ROLE_REFERENCE;
	return is_below(h, class, "java.util.concurrent.") ? ROLE_APART : ROLE_PLAIN;
}

/* --- what collections are made of --------------------------------------------------------------- */

struct owning {
	struct waste_work *work;
	uint32_t collection; /* at hand */
	uint32_t *stack;
	size_t n, cap;
};

static int stack_up(struct owning *o, uint32_t id, struct err *err)
{
	return BIG_ADD(o->stack, o->n, o->cap, err, id);
}

/* Does what `from` refers to in an array of its own store the collection? */
static bool stores(const struct owning *o, uint32_t from)
{
	const struct waste_work *w = o->work;
	enum waste_role of = waste_role(w, from);
	enum storage_arrays own = w->arrays[heap_class_index(w->heap, from)];
	enum storage_arrays all = w->arrays[heap_class_index(w->heap, o->collection)];
	if (of == ROLE_OBJECT_ARRAY)
		return all == ARRAYS_OF_ARRAYS;
	return of == ROLE_PART ? own == ARRAYS_OF_CHAINS || all == ARRAYS_OF_NODES : own != ARRAYS_NONE;
}

/* Is what `from`, which is a collection or a part of one, refers to a part of it as well? */
static bool belongs(const struct owning *o, uint32_t from, uint32_t to)
{
	const struct waste_work *w = o->work;
	enum waste_role role = waste_role(w, to);
	if (w->owner[to] != HEAP_NONE || to == o->collection)
		return false;
	if (role == ROLE_PART)
		return true;
	if (role == ROLE_COLLECTION)
		return waste_role(w, from) == ROLE_WRAPPER;
	if (role != ROLE_OBJECT_ARRAY && role != ROLE_PRIMITIVE_ARRAY)
		return false;
	/* an array for all empty ones is nobody's */
	return adjacency_degree(&w->heap->in, to) == 1 && stores(o, from);
}

/* What a list has in its array is no part of it, even a node of another collection: an entry of a map. */
static bool leads_on(const struct waste_work *w, uint32_t from, uint32_t to)
{
	return waste_role(w, to) != ROLE_OBJECT_ARRAY ||
	    w->arrays[heap_class_index(w->heap, from)] != ARRAYS_OF_ELEMENTS;
}

static int own_parts(struct owning *o, uint32_t collection, struct err *err)
{
	const struct heap *h = o->work->heap;
	uint32_t at = o->collection = collection;
	uint64_t rounds = 0;
	for (;;) {
		uint64_t end = adjacency_start(&h->out, at + 1);
		for (uint64_t i = adjacency_start(&h->out, at); i < end; i++) {
			if (progress_own_stops(++rounds))
				return err_cancelled(err);
			uint32_t to = h->out.target[i];
			if (!belongs(o, at, to))
				continue;
			o->work->owner[to] = collection;
			if (leads_on(o->work, at, to) && stack_up(o, to, err))
				return ERR_NOMEM;
		}
		if (!o->n)
			return 0;
		at = o->stack[--o->n];
	}
}

/* Collections that wrap others first, so that these are theirs. */
static int find_owners(struct waste_work *w, struct err *err)
{
	const struct heap *h = w->heap;
	struct owning o = {.work = w};
	int code = 0;
	w->owner = big_alloc(h->n_objects, sizeof *w->owner, err);
	if (!w->owner)
		return ERR_NOMEM;
	memset(w->owner, 0xff, (size_t)h->n_objects * sizeof *w->owner);
	progress_phase(progress_own(), PHASE_FOLLOW_REFERENCES, 2 * (uint64_t)h->n_objects);
	for (unsigned wrappers = 2; !code && wrappers--;) {
		for (uint32_t id = 0; !code && id < h->n_objects; id++) {
			enum waste_role role = waste_role(w, id);
			if (id % A_STRETCH == 0 && !progress_add(progress_own(), A_STRETCH))
				code = err_cancelled(err);
			else if (role == ROLE_WRAPPER ? wrappers : (role == ROLE_COLLECTION || role == ROLE_VIEW) && !wrappers &&
			        w->owner[id] == HEAP_NONE)
				code = own_parts(&o, id, err);
		}
	}
	big_free(o.stack);
	return code;
}

/* --- the work ----------------------------------------------------------------------------------- */

int waste_work_begin(struct waste_work *w, const struct heap *h, bool owners, struct err *err)
{
	w->heap = h;
	w->order = heap_record_order(h);
	w->role = big_alloc(h->n_classes, sizeof *w->role, err);
	w->arrays = big_alloc(h->n_classes, sizeof *w->arrays, err);
	if (!w->role || !w->arrays)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		if (progress_own_stops(64 * (uint64_t)c))
			return err_cancelled(err);
		enum storage_arrays arrays;
		w->role[c] = (uint8_t)role_of(h, c, &arrays);
		w->arrays[c] = (uint8_t)arrays;
	}
	if (owners && h->facts.no_class_objects && numbered_names_new(&w->names, h, err))
		return ERR_NOMEM;
	return owners ? find_owners(w, err) : 0;
}

static void items_release(struct waste_items *items)
{
	for (unsigned k = 0; k < WASTE_KINDS; k++)
		big_free(items[k].item);
}

void waste_work_release(struct waste_work *w)
{
	items_release(w->found);
	big_free(w->order);
	big_free(w->role);
	big_free(w->arrays);
	big_free(w->owner);
	numbered_names_free(w->names);
	big_free(w->of_class);
	*w = (struct waste_work){.heap = NULL};
}

int waste_add(struct waste_stretch *s, enum waste_kind kind, uint32_t id, uint64_t shallow, uint64_t wasted,
    struct err *err)
{
	struct waste_items *to = &s->found[kind];
	if (!s->work->wanted[kind])
		return 0;
	return BIG_ADD(to->item, to->n, to->cap, err, (struct waste_item){id, shallow, wasted});
}

unsigned waste_reference(const struct heap *h)
{
	return h->array_rule.reference ? h->array_rule.reference : h->facts.word_bits / 8;
}

struct looking {
	struct waste_stretch *stretch;
	unsigned roles;
	int (*look)(struct waste_stretch *s, uint32_t id, struct err *err);
};

static int look_at_stretch(void *context, unsigned task, struct err *err)
{
	struct looking *l = context;
	struct waste_stretch *s = &l->stretch[task];
	const struct heap *h = s->work->heap;
	uint32_t begin = task * A_STRETCH, n = h->n_objects - begin < A_STRETCH ? h->n_objects - begin : A_STRETCH;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = s->work->order ? s->work->order[begin + i] : begin + i;
		if (progress_own_stops(16 * (uint64_t)i))
			return err_cancelled(err);
		int code = l->roles >> waste_role(s->work, id) & 1 ? l->look(s, id, err) : 0;
		if (code)
			return code;
	}
	return progress_add(progress_own(), n) ? 0 : err_cancelled(err);
}

static int by_id(const void *x, const void *y)
{
	const struct waste_item *a = x, *b = y;
	return (a->id > b->id) - (a->id < b->id);
}

static int put_in_order(struct waste_items *items, struct err *err)
{
	size_t n = 1;
	while (n < items->n && items->item[n - 1].id < items->item[n].id)
		n++;
	return n < items->n ? sort(items->item, items->n, sizeof *items->item, by_id, err) : 0;
}

int waste_join(struct waste_work *w, const struct waste_stretch *stretch, unsigned n, struct err *err)
{
	int code = 0;
	for (unsigned k = 0; k < WASTE_KINDS && !code; k++) {
		struct waste_items *to = &w->found[k];
		size_t sum = to->n;
		for (unsigned t = 0; t < n; t++)
			sum += stretch[t].found[k].n;
		if (sum == to->n)
			continue;
		void *more = big_resize(to->item, sum, sizeof *to->item, err);
		if (!more)
			return ERR_NOMEM;
		to->item = more;
		to->cap = sum;
		for (unsigned t = 0; t < n; t++) {
			const struct waste_items *from = &stretch[t].found[k];
			if (from->n)
				memcpy(to->item + to->n, from->item, from->n * sizeof *to->item);
			to->n += from->n;
		}
		code = put_in_order(to, err);
	}
	return code;
}

void waste_stretches_release(struct waste_stretch *stretch, unsigned n)
{
	for (unsigned t = 0; t < n; t++)
		items_release(stretch[t].found);
}

int waste_look(struct waste_work *w, unsigned roles, int (*look)(struct waste_stretch *s, uint32_t id,
    struct err *err), void *context, struct err *err)
{
	unsigned n = (unsigned)(((uint64_t)w->heap->n_objects + A_STRETCH - 1) / A_STRETCH);
	struct looking l = {.roles = roles, .look = look};
	l.stretch = big_alloc(n, sizeof *l.stretch, err);
	if (!l.stretch)
		return ERR_NOMEM;
	for (unsigned t = 0; t < n; t++) {
		l.stretch[t].work = w;
		l.stretch[t].context = context;
	}
	progress_phase(progress_own(), PHASE_LOOK_AT_OBJECTS, w->heap->n_objects);
	int code = parallel_run(0, n, look_at_stretch, &l, err);
	if (!code)
		code = waste_join(w, l.stretch, n, err);
	waste_stretches_release(l.stretch, n);
	big_free(l.stretch);
	return code;
}
