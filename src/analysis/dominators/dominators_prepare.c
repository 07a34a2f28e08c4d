/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators_prepare.c - which edges there are, which objects are junctions, and which are closed.
 *
 * Nothing is to be found out about closed objects, which are half of an ordinary heap.  But each instance holds its
 * class, so it is closed only if that makes no difference: because the class's object is a root, or as good as one
 * (find_held_from_top).
 */
#include "analysis/dominators/dominance.h"

#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/memory_limit.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { STRETCH = 1 << 20 };
enum { WINDOW_PART = 2 }; /* of the limit, what tasks write at once */

/* --- edges that no array of references holds ---------------------------------------------------- */

static int by_from(const void *x, const void *y)
{
	uint32_t a = ((const struct edge *)x)->from, b = ((const struct edge *)y)->from;
	return (a > b) - (a < b);
}

static void add_edge(struct dominance *d, uint32_t from, uint32_t to)
{
	if (from == HEAP_NONE || to == HEAP_NONE)
		return;
	d->edges[d->n_edges++] = (struct edge){ from, to };
	d->leads[heap_class_index(d->h, from)] |= LEADS_BY_EDGES;
}

/* The object of the thread on whose stack a root stands, or HEAP_NONE. */
static uint32_t stack_owner(const struct heap *h, const struct heap_root *r)
{
	uint32_t owner = r->thread == HEAP_NONE ? HEAP_NONE : h->threads[r->thread].object;
	return owner == r->object ? HEAP_NONE : owner;
}

/* Is it a root by more than some thread's stack? */
static bool held_by_vm(const struct heap *h, uint32_t id)
{
	size_t first, n = heap_roots_of(h, id, &first);
	for (size_t i = first; i < first + n; i++)
		if (stack_owner(h, &h->roots[i]) == HEAP_NONE)
			return true;
	return false;
}

uint32_t dominators_stack_owner(const struct heap *h, const struct heap_root *root)
{
	uint32_t owner = stack_owner(h, root);
	return owner != HEAP_NONE && held_by_vm(h, owner) ? owner : HEAP_NONE;
}

static int list_edges(struct dominance *d, struct err *err)
{
	const struct heap *h = d->h;
	d->is_root = big_alloc(h->n_roots, sizeof *d->is_root, err);
	d->leads = big_alloc(h->n_classes, sizeof *d->leads, err);
	d->edges = big_alloc(4 * (uint64_t)h->n_classes + h->n_roots, sizeof *d->edges, err);
	if (!d->is_root || !d->leads || !d->edges)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->object == HEAP_NONE)
			continue;
		if (class->superclass != HEAP_NONE)
			add_edge(d, class->object, h->classes[class->superclass].object);
		add_edge(d, class->object, class->loader);
		if (heap_loader_holds(h, c))
			add_edge(d, class->loader, class->object);
		if (class->kept_with)
			add_edge(d, heap_array_keeper(h, c), class->object);
	}
	for (size_t i = 0; i < h->n_roots; i++) {
		uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
		d->is_root[i] = owner == HEAP_NONE;
		add_edge(d, owner, h->roots[i].object);
	}
	sort_array(d->edges, d->n_edges, sizeof *d->edges, by_from);
	return 0;
}

/* --- classes ------------------------------------------------------------------------------------ */

/* Which class objects instances hold: those that are no roots. */
static void find_held(struct dominance *d)
{
	const struct heap *h = d->h;
	for (uint32_t c = 0; c < h->n_classes; c++)
		d->instances[c].hold = h->classes[c].object != HEAP_NONE;
	for (size_t i = 0; i < h->n_roots; i++) {
		uint32_t class = d->is_root[i] ? heap_class_mirrored(h, h->roots[i].object) : HEAP_NONE;
		if (class != HEAP_NONE)
			d->instances[class].hold = false; /* nothing can hold it more than a root does */
	}
}

/* A way to the object of a class: a root, and what it references, an instance.  Of one step both are the same. */
struct way {
	uint32_t root, instance;
};

/* The first way to each class is kept; one that has nothing in common with it settles the matter. */
static void lead_to_class(struct dominance *d, struct way *first, struct way way)
{
	uint32_t c = heap_class_index(d->h, way.instance);
	struct way *f = &first[c];
	if (!d->instances[c].hold)
		return;
	if (f->root == HEAP_NONE) {
		*f = way;
	} else if (f->root != way.root && f->root != way.instance && f->instance != way.root &&
	    f->instance != way.instance) {
		d->instances[c].hold = false;
		d->instances[c].top = true;
	}
}

/*
 * Find class objects that the virtual root dominates though they are no roots, so that it changes nothing if it holds
 * them: two ways lead there that have no object in common.  Ways of two steps find the classes of arrays and of
 * much else that the VM itself loaded.
 */
static int find_held_from_top(struct dominance *d, struct err *err)
{
	enum { MOST = 64 }; /* references of a root */
	const struct heap *h = d->h;
	struct way *first = big_alloc(h->n_classes, sizeof *first, err);
	if (!first)
		return ERR_NOMEM;
	memset(first, 0xff, h->n_classes * sizeof *first); /* HEAP_NONE */
	for (size_t i = 0; i < h->n_roots && !progress_stops(d->progress, i); i++) {
		uint32_t root = h->roots[i].object;
		if (!d->is_root[i])
			continue;
		uint64_t start = adjacency_start(&h->out, root), n = adjacency_degree(&h->out, root);
		lead_to_class(d, first, (struct way){ root, root });
		for (uint64_t k = start; k < start + (n < MOST ? n : MOST); k++)
			if (!weak_is(d->left_out, root, h->out.target[k]))
				lead_to_class(d, first, (struct way){ root, h->out.target[k] });
	}
	big_free(first);
	return 0;
}

/* --- junctions and closed objects ----------------------------------------------------------------- */

/* Mark as junctions what the virtual root holds, what a reference holds that stands in no array,
 * and what loses a referrer because the model leaves that reference out. */
static void mark_special(struct dominance *d)
{
	const struct heap *h = d->h;
	for (size_t i = 0; i < h->n_roots; i++)
		if (d->is_root[i])
			bits_set(&d->meets, h->roots[i].object);
	for (size_t i = 0; i < d->n_edges; i++)
		bits_set(&d->meets, d->edges[i].to);
	for (size_t i = 0; d->left_out && i < d->left_out->n; i++)
		bits_set(&d->meets, d->left_out->reference[i].referent);
	for (uint32_t c = 0; c < h->n_classes; c++) {
		if (h->classes[c].object != HEAP_NONE)
			bits_set(&d->meets, h->classes[c].object);
		d->leads[c] |= d->instances[c].hold ? LEADS_TO_CLASS | HELD_BY_INSTANCES : 0;
	}
}

static uint32_t stretch_end(const struct dominance *d, uint32_t begin)
{
	return d->h->n_objects - begin < STRETCH ? d->h->n_objects : begin + STRETCH;
}

/* Mark the objects with more than one referrer, and of the others those that lead nowhere: the leaves.  This also is
 * the first touch of the numbers, so all threads share the work of clearing them. */
static int mark_stretch(void *context, unsigned task, struct err *err)
{
	struct dominance *d = context;
	const struct heap *h = d->h;
	const struct adjacency *in = &h->in, *out = &h->out;
	uint32_t begin = task * (uint32_t)STRETCH, end = stretch_end(d, begin);
	uint64_t start = adjacency_start(in, begin), next, out_start = adjacency_start(out, begin), out_next;
	(void)err;
	if (big_owner(d->number) == BIG_ANONYMOUS) /* the file's pages are as soon forgotten */
		memset(d->number + begin, 0, (end - begin) * sizeof *d->number);
	for (uint32_t id = begin; id < end; id++, start = next, out_start = out_next) {
		next = adjacency_start(in, id + 1);
		out_next = adjacency_start(out, id + 1);
		/* sorted, so that equal ones make the ends equal */
		if (next > start + 1 && in->target[start] != in->target[next - 1])
			bits_set(&d->meets, id);
		else if (out_start == out_next && start != next && !d->leads[heap_class_index(h, id)] &&
		    !bits_get(&d->meets, id))
			bits_set(&d->leaf, id);
	}
	return 0;
}

/* --- the same without lists of referrers ---------------------------------------------------------- */

/* Tasks that each have the objects of one range. */
struct referring {
	struct dominance *d;
	uint64_t size; /* ids of a range */
};

/* Whole words of bits, and no more than may be written at random. */
static uint64_t range_size(const struct dominance *d)
{
	uint64_t window = memory_limit_bytes() / WINDOW_PART / parallel_threads() / sizeof *d->number;
	uint64_t size = d->h->n_objects / parallel_threads();
	window = window < STRETCH ? STRETCH : window;
	if (big_owner(d->number) == BIG_SPILLED && window < size)
		size = window;
	return (size | 63) + 1;
}

/* number is that of the objects from low on. */
static int refer(struct dominance *d, uint32_t low, uint32_t size, uint32_t *number, struct err *err)
{
	const struct heap *h = d->h;
	const struct adjacency *out = &h->out;
	uint64_t k = 0;
	for (uint32_t begin = 0, end; begin < h->n_objects; begin = end) {
		end = stretch_end(d, begin);
		readahead_all(out->offset, begin, end - begin + 1, sizeof *out->offset);
		readahead_all(out->target, k, adjacency_start(out, end) - k, sizeof *out->target);
		for (uint32_t id = begin; id < end; id++) {
			for (uint64_t stop = adjacency_start(out, id + 1); k < stop; k++) {
				uint32_t at = out->target[k] - low;
				if (at >= size)
					continue;
				if (!number[at])
					number[at] = id + 1;
				else if (number[at] != id + 1)
					bits_set(&d->meets, out->target[k]);
			}
		}
		if (progress_cancelled(d->progress))
			return err_cancelled(err);
	}
	return 0;
}

/* Each object of a range that another one references gets the first such one's id, plus 1, for its number; with more
 * than one it is a junction.  Every task reads all references, and where numbers live in the file, writes its own when
 * they are complete. */
static int refer_to_range(void *context, unsigned task, struct err *err)
{
	const struct referring *r = context;
	struct dominance *d = r->d;
	uint64_t low = task * r->size, left = d->h->n_objects - low, size = r->size < left ? r->size : left;
	bool away = big_owner(d->number) == BIG_SPILLED;
	uint32_t *number = away ? big_alloc_held(size, sizeof *number, err) : d->number + low;
	int code = number ? refer(d, (uint32_t)low, (uint32_t)size, number, err) : ERR_NOMEM;
	if (!code && away)
		big_write(d->number, low * sizeof *number, number, size * sizeof *number);
	if (away)
		big_free(number);
	return code;
}

static int mark_referred(void *context, unsigned task, struct err *err)
{
	struct dominance *d = context;
	const struct heap *h = d->h;
	uint32_t begin = task * (uint32_t)STRETCH, end = stretch_end(d, begin);
	(void)err;
	for (uint32_t id = begin; id < end; id++)
		if (d->number[id] && !adjacency_degree(&h->out, id) && !d->leads[heap_class_index(h, id)] &&
		    !bits_get(&d->meets, id))
			bits_set(&d->leaf, id);
	return 0;
}

static int mark_without_lists(struct dominance *d, unsigned stretches, struct err *err)
{
	struct referring r = { .d = d, .size = range_size(d) };
	int code = parallel_run(0, (unsigned)((d->h->n_objects + r.size - 1) / r.size), refer_to_range, &r, err);
	return code ? code : parallel_run(0, stretches, mark_referred, d, err);
}

/* --- closed objects ------------------------------------------------------------------------------- */

static bool leads_to_leaves(const struct dominance *d, uint32_t id)
{
	const struct adjacency *out = &d->h->out;
	uint64_t start = adjacency_start(out, id), end = adjacency_start(out, id + 1);
	for (uint64_t k = start; k < end && !progress_stops(d->progress, k - start + 1); k++)
		if (!bits_get(&d->leaf, out->target[k]))
			return false;
	return d->h->in.offset ? adjacency_degree(&d->h->in, id) > 0 : d->number[id];
}

/* Mark the closed ones: leaves, and what has one referrer and leads to leaves alone. */
static int close_stretch(void *context, unsigned task, struct err *err)
{
	struct dominance *d = context;
	uint32_t begin = task * (uint32_t)STRETCH, end = stretch_end(d, begin), n = 0;
	(void)err;
	for (uint32_t id = begin; id < end; id++) {
		if (bits_get(&d->meets, id))
			continue;
		if (!bits_get(&d->leaf, id) && (d->leads[heap_class_index(d->h, id)] || !leads_to_leaves(d, id)))
			continue;
		bits_set(&d->closed, id);
		n++;
	}
	__atomic_fetch_add(&d->n_closed, n, __ATOMIC_RELAXED);
	return 0;
}

int dominance_prepare(struct dominance *d, struct err *err)
{
	const struct heap *h = d->h;
	unsigned stretches = (unsigned)(((uint64_t)h->n_objects + STRETCH - 1) / STRETCH);
	progress_phase(d->progress, PHASE_WALK_HEAP, h->n_objects);
	d->instances = big_alloc(h->n_classes, sizeof *d->instances, err);
	int code = d->instances ? list_edges(d, err) : ERR_NOMEM;
	if (code)
		return code;
	find_held(d);
	code = find_held_from_top(d, err);
	if (code)
		return code;
	mark_special(d);
	code = h->in.offset ? parallel_run(0, stretches, mark_stretch, d, err) : mark_without_lists(d, stretches, err);
	if (!code)
		code = parallel_run(0, stretches, close_stretch, d, err);
	if (code)
		return code;
	if (progress_cancelled(d->progress))
		return err_cancelled(err);
	memcpy(d->seen.word, d->closed.word, ((uint64_t)h->n_objects + 63) / 64 * sizeof *d->seen.word);
	progress_add(d->progress, d->n_closed);
	return 0;
}
