/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dominators.c - Lengauer and Tarjan's algorithm with path compression.
 *
 * Objects are numbered 1 … n in the order of a depth-first walk, 0 is the virtual root; all work is
 * done on these numbers, in which a parent is always smaller than its children.  The variant that
 * looks for common ancestors instead of keeping buckets is a little faster on ordinary heaps and
 * quadratic on some (long lists whose elements an array holds too): we keep the buckets.
 *
 * No recursion, and no stack: the walk goes back by parents and remembers its place in each object's
 * references in a member that the second phase uses for something else.  That phase is one long wait
 * for memory: what belongs to a number stands in one cache line, and what later numbers need is
 * asked for ahead.
 */
#include "analysis/dominators.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 24 }; /* numbers on their way into the cache */
#define NODE_WORDS UINT64_C(2) /* of 8 bytes in a struct node */

/* An edge that no array of references holds. */
struct edge {
	uint32_t from, to;
};

/* What the second phase knows of a number. */
struct node {
	uint32_t up;    /* its parent in the walk; linked: an ancestor (path compression) */
	uint32_t label; /* linked: the number with the least semidominator on the way up;
	                   the walk: its place among the references */
	uint32_t least; /* linked: that semidominator */
	uint32_t semi;  /* its own */
};

struct dominance {
	const struct heap *h;
	struct progress *progress;
	uint32_t n;          /* objects numbered so far; numbers are 1 … n */
	uint32_t size;       /* of the arrays: objects + 1 */
	uint32_t *number;    /* by id: its number, 0 not reached */
	uint32_t *object;    /* by number: its id */
	struct node *node;   /* by number */
	uint32_t *dominator; /* by number; before it is known, the next in its bucket */
	uint32_t *bucket;    /* by number: first of those whose semidominator this is */
	uint32_t *path;      /* numbers on the way up, to be compressed */

	bool *is_root;       /* by index in h->roots: no thread's object holds it instead */
	struct edge *edges;  /* ids, by from: class to superclass and loader, loader to classes, thread
	                        to what its stack holds */
	size_t n_edges;
	bool *has_edges;     /* by class: some instance may have such edges */

	/* The instances of each class whose object is no root, by number: they hold it. */
	uint32_t *instances;
	uint64_t *first_instance; /* by class, n_classes + 1 */
};

/* --- edges that no array of references holds ---------------------------------------------------- */

static int by_from(const void *x, const void *y)
{
	uint32_t a = ((const struct edge *)x)->from, b = ((const struct edge *)y)->from;
	return (a > b) - (a < b);
}

static int by_to_descending(const void *x, const void *y)
{
	uint32_t a = ((const struct edge *)x)->to, b = ((const struct edge *)y)->to;
	return (a < b) - (a > b);
}

static void add_edge(struct dominance *d, uint32_t from, uint32_t to)
{
	if (from == HEAP_NONE || to == HEAP_NONE)
		return;
	d->edges[d->n_edges++] = (struct edge){ from, to };
	d->has_edges[d->h->class_of[from]] = true;
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

static void list_edges(struct dominance *d)
{
	const struct heap *h = d->h;
	d->is_root = xcalloc(h->n_roots + 1, sizeof *d->is_root);
	d->has_edges = xcalloc((size_t)h->n_classes + 1, sizeof *d->has_edges);
	d->edges = xcalloc(3 * (size_t)h->n_classes + h->n_roots + 1, sizeof *d->edges);
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->object == HEAP_NONE)
			continue;
		if (class->superclass != HEAP_NONE)
			add_edge(d, class->object, h->classes[class->superclass].object);
		add_edge(d, class->object, class->loader);
		if (heap_loader_holds(h, c))
			add_edge(d, class->loader, class->object);
	}
	for (size_t i = 0; i < h->n_roots; i++) {
		uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
		d->is_root[i] = owner == HEAP_NONE;
		add_edge(d, owner, h->roots[i].object);
	}
	qsort(d->edges, d->n_edges, sizeof *d->edges, by_from);
}

/* Index of the first edge from id; its edges stand together, an edge from HEAP_NONE is the last. */
static size_t first_edge(const struct dominance *d, uint32_t id)
{
	size_t low = 0, high = d->n_edges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (d->edges[middle].from < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- the walk ----------------------------------------------------------------------------------- */

static void enter(struct dominance *d, uint32_t id, uint32_t parent)
{
	uint32_t k = ++d->n;
	d->number[id] = k;
	d->object[k] = id;
	d->node[k].up = parent;
}

/* The next object that number k leads to and that has no number yet; HEAP_NONE behind the last. */
static uint32_t next_new(struct dominance *d, uint32_t k)
{
	const struct heap *h = d->h;
	uint32_t id = d->object[k];
	uint64_t start = adjacency_start(&h->out, id);
	uint32_t degree = (uint32_t)(adjacency_start(&h->out, id + 1) - start);
	const uint32_t *targets = h->out.target + start;
	uint32_t place = d->node[k].label;
	for (; place < degree; place++) {
		if (!d->number[targets[place]]) {
			d->node[k].label = place + 1;
			return targets[place];
		}
	}
	if (place == degree) {
		uint32_t class = heap_class_of(h, id)->object;
		d->node[k].label = ++place;
		if (class != HEAP_NONE && !d->number[class])
			return class;
	}
	if (!d->has_edges[h->class_of[id]])
		return HEAP_NONE;
	size_t edge = first_edge(d, id) + (place - degree - 1);
	for (; edge < d->n_edges && d->edges[edge].from == id; edge++) {
		d->node[k].label = ++place;
		if (!d->number[d->edges[edge].to])
			return d->edges[edge].to;
	}
	return HEAP_NONE;
}

static int walk_from(struct dominance *d, uint32_t start, struct err *err)
{
	if (d->number[start])
		return 0;
	enter(d, start, 0);
	for (uint32_t k = d->n; k;) {
		uint32_t target = next_new(d, k);
		if (target == HEAP_NONE) {
			k = d->node[k].up;
			continue;
		}
		enter(d, target, k);
		k = d->n;
		if (k % (1 << 18) == 0 && !progress_add(d->progress, 1 << 18))
			return err_set(err, ERR_CANCELLED, "stopped");
	}
	return 0;
}

static int walk(struct dominance *d, struct err *err)
{
	const struct heap *h = d->h;
	int code = 0;
	progress_phase(d->progress, "walking the heap", h->n_objects);
	for (size_t i = 0; !code && i < h->n_roots; i++)
		if (d->is_root[i])
			code = walk_from(d, h->roots[i].object, err);
	return code;
}

/* --- instances of classes ------------------------------------------------------------------------- */

static int list_instances(struct dominance *d, struct err *err)
{
	const struct heap *h = d->h;
	d->first_instance = xcalloc((size_t)h->n_classes + 1, sizeof *d->first_instance);
	uint64_t *at = xcalloc((size_t)h->n_classes + 1, sizeof *at), n = 0;
	bool *listed = xcalloc((size_t)h->n_classes + 1, sizeof *listed);
	for (uint32_t c = 0; c < h->n_classes; c++) {
		uint32_t object = h->classes[c].object;
		listed[c] = object != HEAP_NONE && d->number[object] && d->node[d->number[object]].semi;
		d->first_instance[c] = at[c] = n;
		n += listed[c] ? h->classes[c].n_objects : 0;
	}
	d->first_instance[h->n_classes] = n;
	d->instances = big_alloc(n, sizeof *d->instances, err);
	for (uint32_t id = 0; d->instances && n && id < h->n_objects; id++)
		if (listed[h->class_of[id]])
			d->instances[at[h->class_of[id]]++] = d->number[id];
	free(listed);
	free(at);
	return d->instances ? 0 : ERR_NOMEM;
}

/* --- semidominators ------------------------------------------------------------------------------- */

/* The linked v gets the label with the least semidominator up to the last linked number. */
static void compress(struct dominance *d, uint32_t v, uint32_t last_linked)
{
	struct node *node = d->node;
	uint32_t n = 0;
	for (uint32_t at = v; node[at].up >= last_linked; at = node[at].up)
		d->path[n++] = at;
	while (n-- > 0) {
		struct node *at = &node[d->path[n]];
		const struct node *up = &node[at->up];
		if (up->least < at->least) {
			at->least = up->least;
			at->label = up->label;
		}
		at->up = up->up;
	}
}

/* w is reached from the object with number v. */
static inline void reached_from(struct dominance *d, uint32_t w, uint32_t v)
{
	uint32_t semi = v;
	if (!v)
		return; /* not reachable itself */
	if (v > w) {
		compress(d, v, w + 1);
		semi = d->node[v].least;
	}
	if (semi < d->node[w].semi)
		d->node[w].semi = semi;
}

static void reached_from_instances(struct dominance *d, uint32_t w, uint32_t class)
{
	for (uint64_t k = d->first_instance[class]; k < d->first_instance[class + 1]; k++)
		reached_from(d, w, d->instances[k]);
}

/* Ask for what numbers further on need, in three steps: each leads to the next. */
static inline void look_ahead(const struct dominance *d, uint32_t w)
{
	const struct adjacency *in = &d->h->in;
	if (w <= 3 * AHEAD)
		return;
	__builtin_prefetch(&in->offset[d->object[w - 3 * AHEAD]]);
	__builtin_prefetch(&in->target[adjacency_start(in, d->object[w - 2 * AHEAD])]);
	uint32_t id = d->object[w - AHEAD];
	uint64_t start = adjacency_start(in, id), n = adjacency_start(in, id + 1) - start;
	for (uint64_t k = 0; k < n && k < 4; k++)
		__builtin_prefetch(&d->number[in->target[start + k]]);
}

static void find_semidominator(struct dominance *d, uint32_t w)
{
	const struct heap *h = d->h;
	uint32_t id = d->object[w];
	uint64_t end = adjacency_start(&h->in, id + 1);
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
		if (k + 8 < end)
			__builtin_prefetch(&d->number[h->in.target[k + 8]]);
		reached_from(d, w, d->number[h->in.target[k]]);
	}
}

/* Everything whose semidominator is p, the parent of w, just linked: either p dominates it, or what
 * dominates the best number on the way does. */
static void empty_bucket(struct dominance *d, uint32_t p, uint32_t w)
{
	for (uint32_t v = d->bucket[p]; v;) {
		uint32_t next = d->dominator[v];
		compress(d, v, w);
		d->dominator[v] = d->node[v].least < d->node[v].semi ? d->node[v].label : p;
		v = next;
	}
	d->bucket[p] = 0;
}

static void number_edges(struct dominance *d)
{
	for (size_t i = 0; i < d->n_edges; i++)
		d->edges[i] = (struct edge){ d->number[d->edges[i].from], d->number[d->edges[i].to] };
	qsort(d->edges, d->n_edges, sizeof *d->edges, by_to_descending);
}

/* Class objects by number, from the last: "from" is the class index. */
static struct edge *list_class_objects(const struct dominance *d, size_t *n)
{
	const struct heap *h = d->h;
	struct edge *list = xcalloc((size_t)h->n_classes + 1, sizeof *list);
	*n = 0;
	for (uint32_t c = 0; c < h->n_classes; c++)
		if (d->first_instance[c] < d->first_instance[c + 1])
			list[(*n)++] = (struct edge){ c, d->number[h->classes[c].object] };
	qsort(list, *n, sizeof *list, by_to_descending);
	return list;
}

static int find_dominators(struct dominance *d, struct err *err)
{
	size_t edge = 0, class = 0, n_classes;
	struct edge *classes = list_class_objects(d, &n_classes);
	int code = 0;
	progress_phase(d->progress, "finding dominators", d->n);
	number_edges(d);
	for (uint32_t w = d->n; w > 0; w--) {
		struct node *node = &d->node[w];
		uint32_t p = node->up;
		look_ahead(d, w);
		if (node->semi) /* a root has the smallest there is */
			find_semidominator(d, w);
		for (; edge < d->n_edges && d->edges[edge].to == w; edge++)
			reached_from(d, w, d->edges[edge].from);
		for (; class < n_classes && classes[class].to == w; class++)
			reached_from_instances(d, w, classes[class].from);
		node->label = w;
		node->least = node->semi;
		if (p == 0 || node->semi == 0) {
			d->dominator[w] = 0;
		} else {
			d->dominator[w] = d->bucket[node->semi];
			d->bucket[node->semi] = w;
		}
		empty_bucket(d, p, w);
		if (w % (1 << 18) == 0 && !progress_add(d->progress, 1 << 18)) {
			code = err_set(err, ERR_CANCELLED, "stopped");
			break;
		}
	}
	for (uint32_t w = 1; code == 0 && w <= d->n; w++)
		if (d->dominator[w] != d->node[w].semi)
			d->dominator[w] = d->dominator[d->dominator[w]];
	free(classes);
	return code;
}

/* --- results -------------------------------------------------------------------------------------- */

static int sum_retained(struct dominance *d, struct dominators *out, struct err *err)
{
	const struct heap *h = d->h;
	/* the nodes' memory once more: the kernel takes longer to clear pages than we to fill them */
	out->retained = big_resize(d->node, NODE_WORDS * d->size, h->n_objects, sizeof *out->retained, err);
	if (!out->retained)
		return ERR_NOMEM;
	d->node = NULL;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		out->retained[id] = d->number[id] ? heap_shallow(h, id) : 0;
		out->shallow_reachable += out->retained[id];
	}
	for (uint32_t k = d->n; k > 0; k--) {
		if (k > AHEAD) {
			__builtin_prefetch(&out->retained[d->object[k - AHEAD]]);
			__builtin_prefetch(&d->object[d->dominator[k - AHEAD]]);
		}
		if (k > AHEAD / 2)
			__builtin_prefetch(&out->retained[d->object[d->dominator[k - AHEAD / 2]]]);
		if (d->dominator[k])
			out->retained[d->object[d->dominator[k]]] += out->retained[d->object[k]];
	}
	return 0;
}

/* The array of numbers, no longer needed, becomes the answer by id. */
static void name_dominators(struct dominance *d, struct dominators *out)
{
	for (uint32_t id = 0; id < d->h->n_objects; id++)
		d->number[id] = d->number[id] ? DOMINATED_BY_ROOTS : NOT_REACHABLE;
	for (uint32_t k = 1; k <= d->n; k++)
		if (d->dominator[k])
			d->number[d->object[k]] = d->object[d->dominator[k]];
	out->immediate = d->number;
	d->number = NULL;
}

static int allocate(struct dominance *d, struct err *err)
{
	uint32_t **arrays[] = { &d->number, &d->object, &d->dominator, &d->bucket, &d->path };
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		if (!(*arrays[i] = big_alloc(d->size, sizeof **arrays[i], err)))
			return ERR_NOMEM;
	d->node = big_alloc(NODE_WORDS * d->size, sizeof(uint64_t), err);
	return d->node ? 0 : ERR_NOMEM;
}

/* What the sums do not need. */
static void release_work(struct dominance *d)
{
	big_free(d->bucket, d->size, sizeof *d->bucket);
	big_free(d->path, d->size, sizeof *d->path);
	if (d->instances)
		big_free(d->instances, d->first_instance[d->h->n_classes], sizeof *d->instances);
	d->bucket = d->path = d->instances = NULL;
}

static void release(struct dominance *d)
{
	release_work(d);
	big_free(d->node, NODE_WORDS * d->size, sizeof(uint64_t));
	big_free(d->number, d->size, sizeof *d->number);
	big_free(d->object, d->size, sizeof *d->object);
	big_free(d->dominator, d->size, sizeof *d->dominator);
	free(d->first_instance);
	free(d->is_root);
	free(d->has_edges);
	free(d->edges);
}

/* Semidominators before anything is known: oneself; of a root the virtual root. */
static void begin_semidominators(struct dominance *d)
{
	for (uint32_t k = 0; k <= d->n; k++)
		d->node[k].semi = k;
	for (size_t i = 0; i < d->h->n_roots; i++)
		if (d->is_root[i])
			d->node[d->number[d->h->roots[i].object]].semi = 0;
}

int dominators_find(struct dominators *out, const struct heap *h, struct progress *progress,
    struct err *err)
{
	*out = (struct dominators){ .n_objects = h->n_objects };
	struct dominance d = { .h = h, .progress = progress, .size = h->n_objects + 1 };
	int code = allocate(&d, err);
	if (code == 0) {
		list_edges(&d);
		code = walk(&d, err);
	}
	if (code == 0) {
		begin_semidominators(&d);
		code = list_instances(&d, err);
	}
	if (code == 0)
		code = find_dominators(&d, err);
	if (code == 0) {
		release_work(&d);
		code = sum_retained(&d, out, err);
	}
	if (code == 0) {
		out->n_reachable = d.n;
		name_dominators(&d, out);
	}
	release(&d);
	if (code < 0)
		dominators_release(out);
	return code;
}

void dominators_release(struct dominators *d)
{
	big_free(d->immediate, (uint64_t)d->n_objects + 1, sizeof *d->immediate);
	big_free(d->retained, d->n_objects, sizeof *d->retained);
	*d = (struct dominators){ .immediate = NULL };
}
