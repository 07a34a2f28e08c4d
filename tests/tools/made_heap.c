/* SPDX-License-Identifier: GPL-3.0-or-later */
/* made_heap.c - see made_heap.h. */
#include "base/mem.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "made_heap.h"
#include "memory/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void made_edge(struct made_edges *e, uint32_t from, uint32_t to)
{
	VEC_PUSH(e->edge, e->n, e->cap) = (struct made_edge){ from, to };
}

/* Starts and room for what each object has; count becomes where the next one of each goes. */
static void lay_out(struct adjacency *a, uint32_t n_objects, uint64_t *next, uint32_t *count)
{
	struct degrees d = { count, sizeof *count, NULL, 0 };
	if (adjacency_init(a, n_objects, NULL) || adjacency_place(a, n_objects, &d, NULL))
		abort();
	a->target = big_alloc(a->n, sizeof *a->target, NULL);
	for (uint32_t id = 0; id < n_objects; id++)
		next[id] = adjacency_start(a, id);
	free(count);
}

void made_references(struct heap *h, const struct made_edges *e)
{
	uint32_t *out = xcalloc((size_t)h->n_objects + 1, sizeof *out);
	uint32_t *in = xcalloc((size_t)h->n_objects + 1, sizeof *in);
	uint64_t *next_out = xcalloc((size_t)h->n_objects + 1, sizeof *next_out);
	uint64_t *next_in = xcalloc((size_t)h->n_objects + 1, sizeof *next_in);
	for (size_t i = 0; i < e->n; i++) {
		out[e->edge[i].from]++;
		in[e->edge[i].to]++;
	}
	lay_out(&h->out, h->n_objects, next_out, out);
	lay_out(&h->in, h->n_objects, next_in, in);
	for (size_t i = 0; i < e->n; i++)
		h->out.target[next_out[e->edge[i].from]++] = e->edge[i].to;
	for (uint32_t id = 0; id < h->n_objects; id++) /* so that referrers ascend */
		for (uint64_t k = adjacency_start(&h->out, id); k < adjacency_start(&h->out, id + 1); k++)
			h->in.target[next_in[h->out.target[k]]++] = id;
	free(next_out);
	free(next_in);
}

void made_references_release(struct heap *h)
{
	adjacency_release(&h->out);
	adjacency_release(&h->in);
}

/* --- by chance ---------------------------------------------------------------------------------- */

static uint32_t below(struct made_heap *m, uint32_t n)
{
	m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((m->random >> 33) % n);
}

static bool percent(struct made_heap *m, uint32_t p)
{
	return below(m, 100) < p;
}

/* 0 … n-1 in any order. */
static uint32_t *shuffled(struct made_heap *m, uint32_t n)
{
	uint32_t *list = xcalloc((size_t)n + 1, sizeof *list);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = below(m, i + 1);
		list[i] = list[at];
		list[at] = i;
	}
	return list;
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* --- shapes: edges among n places, the first of them the top ------------------------------------- */

typedef void shape(struct made_heap *m, struct made_edges *e, uint32_t n);

static void tree(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		made_edge(e, below(m, i), i);
}

static void dense(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	for (uint32_t i = 0; i < 3 * n; i++)
		made_edge(e, below(m, n), below(m, n));
}

static void chain(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		made_edge(e, i - 1, i);
		if (percent(m, 10))
			made_edge(e, i, below(m, i));
	}
}

static void diamonds(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	uint32_t sides = 2 + below(m, 3);
	for (uint32_t top = 0; top + sides + 1 < n; top += sides + 1)
		for (uint32_t side = 1; side <= sides; side++) {
			made_edge(e, top, top + side);
			made_edge(e, top + side, top + sides + 1);
		}
}

static void garbage(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	uint32_t half = n / 2 + 1;
	tree(m, e, half);
	for (uint32_t i = half; i < n; i++) {
		made_edge(e, half + below(m, n - half), i);
		made_edge(e, i, below(m, 1 + half / 4));
	}
}

/* A list, and an array that holds its values or its nodes. */
static void list(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	uint32_t which = below(m, 2);
	for (uint32_t node = 2; node + 1 < n; node += 2) {
		made_edge(e, node == 2 ? 0 : node - 2, node);
		made_edge(e, node, node + 1);
		made_edge(e, 1, node + which);
	}
	if (n > 1)
		made_edge(e, 0, 1);
}

static void layers(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	uint32_t wide = 1 + below(m, 6);
	for (uint32_t i = 0; i + wide < n; i++) {
		uint32_t next = (i / wide + 1) * wide, room = n - next < wide ? n - next : wide;
		for (uint32_t times = 1 + below(m, 3); times && room; times--)
			made_edge(e, i, next + below(m, room));
	}
}

static void rings(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	uint32_t size = 2 + below(m, 7);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = i - i % size, last = first + size < n ? first + size - 1 : n - 1;
		made_edge(e, i, i == last ? first : i + 1);
		if (i == first && i && percent(m, 80))
			made_edge(e, below(m, i), i);
	}
}

static void hubs(struct made_heap *m, struct made_edges *e, uint32_t n)
{
	uint32_t hub = 1 + below(m, 4);
	for (uint32_t i = 0; i < n; i++) {
		made_edge(e, i % hub % n, i);
		if (percent(m, 40))
			made_edge(e, i, below(m, hub) % n);
	}
}

static const struct {
	const char *name;
	shape *make;
} shapes[] = {
	{ "tree", tree }, { "dense", dense }, { "chain", chain }, { "diamonds", diamonds },
	{ "shared garbage", garbage }, { "list and array", list }, { "layers", layers },
	{ "rings", rings }, { "hubs", hubs },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void refer(struct made_heap *m)
{
	uint32_t n = m->heap.n_objects, *at = shuffled(m, n), which = below(m, SHAPES);
	struct made_edges e = { .edge = NULL };
	m->shape = shapes[which].name;
	shapes[which].make(m, &e, n);
	if (percent(m, 20))
		shapes[below(m, SHAPES)].make(m, &e, 1 + below(m, n));
	for (uint32_t i = below(m, n / 4 + 2); i-- > 0;)
		made_edge(&e, below(m, n), below(m, n));
	for (size_t i = 0, end = e.n; i < end; i++) {
		e.edge[i] = (struct made_edge){ at[e.edge[i].from], at[e.edge[i].to] };
		if (percent(m, 5)) /* twice from the same object */
			made_edge(&e, e.edge[i].from, e.edge[i].to);
	}
	made_references(&m->heap, &e);
	free(e.edge);
	free(at);
}

/* --- classes, loaders ---------------------------------------------------------------------------- */

enum { CLASSES = 8 };
static const char *const names[CLASSES] = { "A", "java.B", "C", "D[]", "java.E", "java.F", "java.G", "java.H" };

/* The first so many of a shuffled list are class objects, the next ones loaders. */
static void classify(struct made_heap *m)
{
	/* Sums have 32, 40 or 64 bits. */
	static const unsigned scales[] = { 0, 0, 26, 40 };
	unsigned scale = scales[below(m, 4)];
	struct heap *h = &m->heap;
	uint32_t n = h->n_objects, *list = shuffled(m, n);
	uint32_t defined = 1 + below(m, n < 6 ? n : 6), loaders = below(m, n - defined + 1) % 4;
	h->n_classes = defined + 2; /* two more that no object stands for */
	h->n_defined_classes = defined;
	h->classes = xcalloc(h->n_classes, sizeof *h->classes);
	h->class_low = xcalloc((size_t)n + 1, sizeof *h->class_low);
	h->java_lang_class = percent(m, 80) ? below(m, defined) : defined;
	uint32_t made = defined > 1 ? (h->java_lang_class + 1) % defined : defined + 1;
	qsort(list, defined, sizeof *list, by_number);
	for (uint32_t c = 0; c < h->n_classes; c++)
		h->classes[c] = (struct heap_class){ .name = names[c], .object = HEAP_NONE,
			.superclass = c && percent(m, 60) ? below(m, c) : HEAP_NONE, .loader = HEAP_NONE,
			.component = HEAP_NONE, .instance_size = (uint64_t)8 * (1 + below(m, 12)) << scale,
			.kind = c == 3 ? CLASS_OBJECT_ARRAY : CLASS_PLAIN };
	for (uint32_t i = 0; i < n; i++) {
		bool loader = i >= defined && i < defined + loaders;
		heap_set_class_index(h, list[i], i < defined ? h->java_lang_class : loader ? made
		    : below(m, h->n_classes));
		if (i >= defined && heap_class_index(h, list[i]) == h->java_lang_class)
			heap_set_class_index(h, list[i], defined + 1);
	}
	h->classes[made].makes_loaders = loaders > 0;
	for (uint32_t c = 0; c < defined; c++) {
		h->classes[c].defined = true;
		h->classes[c].object = list[c];
		h->classes[c].address = heap_address(h, list[c]);
		if (loaders && percent(m, 70))
			h->classes[c].loader = list[defined + below(m, loaders)];
	}
	for (uint32_t id = 0; id < n; id++) {
		h->classes[heap_class_index(h, id)].n_objects++;
		h->classes[heap_class_index(h, id)].shallow += h->classes[heap_class_index(h, id)].instance_size;
		h->shallow += h->classes[heap_class_index(h, id)].instance_size;
	}
	free(list);
}

static void list_loaded(struct heap *h)
{
	h->classes_by_loader = xcalloc(h->n_classes, sizeof *h->classes_by_loader);
	for (uint32_t c = 0; c < h->n_defined_classes; c++) {
		uint32_t at = c;
		for (; at && h->classes[h->classes_by_loader[at - 1]].loader > h->classes[c].loader; at--)
			h->classes_by_loader[at] = h->classes_by_loader[at - 1];
		h->classes_by_loader[at] = c;
	}
}

/* --- roots, threads ------------------------------------------------------------------------------ */

static void add_root(struct made_heap *m, uint32_t object, uint32_t thread, enum root_kind kind)
{
	struct heap *h = &m->heap;
	h->roots = xrealloc(h->roots, h->n_roots + 1, sizeof *h->roots);
	h->roots[h->n_roots++] = (struct heap_root){ .object = object, .thread = thread,
		.frame = HEAP_NONE, .kind = kind };
	m->stacks += thread != HEAP_NONE && h->threads[thread].object != object &&
	    h->threads[thread].object != HEAP_NONE;
}

static int by_object(const void *x, const void *y)
{
	const struct heap_root *a = x, *b = y;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Threads that are roots by themselves, by another's stack, by a field, or not at all; and some of
 * which nobody knows the object. */
static void take_root(struct made_heap *m)
{
	static const enum root_kind kinds[] = { ROOT_SYSTEM_CLASS, ROOT_JNI_GLOBAL, ROOT_BUSY_MONITOR,
		ROOT_UNKNOWN, ROOT_NATIVE_STACK };
	struct heap *h = &m->heap;
	uint32_t n = h->n_objects;
	h->n_threads = below(m, 5);
	h->threads = xcalloc((size_t)h->n_threads + 1, sizeof *h->threads);
	for (uint32_t t = 0; t < h->n_threads; t++)
		h->threads[t] = (struct heap_thread){ .name = "thread", .priority = -1,
			.object = percent(m, 90) ? below(m, n) : HEAP_NONE };
	for (uint32_t t = 0; t < h->n_threads; t++) {
		if (h->threads[t].object != HEAP_NONE && percent(m, 75))
			add_root(m, h->threads[t].object, percent(m, 80) ? t : HEAP_NONE, ROOT_THREAD);
		for (uint32_t holds = below(m, 5); holds; holds--)
			add_root(m, below(m, n), t, percent(m, 70) ? ROOT_JAVA_LOCAL : ROOT_JNI_LOCAL);
	}
	for (uint32_t others = below(m, h->n_roots ? 4 : 6); others; others--)
		add_root(m, below(m, n), HEAP_NONE, kinds[below(m, 5)]);
	if (h->n_roots)
		qsort(h->roots, h->n_roots, sizeof *h->roots, by_object);
}

/* Some references by which nothing else of the same object leads to the same place; some of these are listed, and
 * hold all the same, as soft ones do. */
static void weaken(struct made_heap *m)
{
	struct heap *h = &m->heap;
	size_t cap = 0;
	if (bits_init(&m->weak.holders, h->n_objects, NULL))
		abort();
	for (uint32_t id = 0; id < h->n_objects; id++) {
		uint32_t begin = (uint32_t)adjacency_start(&h->out, id), times = 0;
		uint32_t end = begin + (uint32_t)adjacency_degree(&h->out, id);
		if (begin == end || heap_class_index(h, id) == h->java_lang_class || !percent(m, 15))
			continue;
		uint32_t referent = h->out.target[begin + below(m, end - begin)];
		for (uint32_t k = begin; k < end; k++)
			times += h->out.target[k] == referent;
		if (times > 1 || heap_class_of(h, id)->object == referent)
			continue;
		if (percent(m, 80))
			bits_set(&m->weak.holders, id);
		struct weak_reference *at = BIG_PUSH(m->weak.reference, m->weak.n, cap, NULL);
		if (at)
			*at = (struct weak_reference){ id, referent };
	}
	m->model.left_out = &m->weak;
}

static void place(struct made_heap *m)
{
	struct index_writer w = { .x = &m->index };
	uint32_t n = m->heap.n_objects;
	int code = 0;
	index_init(&m->index, 3);
	for (uint32_t id = 0; id < n; id++)
		code |= index_note(&m->index, index_page_number(&m->index, 0x1000 + 16 * id), 1, NULL);
	code |= index_layout(&m->index, NULL);
	for (uint32_t id = 0; !code && id < n; id++)
		index_insert(&w, 0x1000 + 16 * id);
	index_flush(&w);
	if (code || index_seal(&m->index, NULL))
		abort();
	m->heap.index = &m->index;
}

void made_heap_fill(struct made_heap *m, uint64_t seed)
{
	*m = (struct made_heap){ .random = seed * 2 + 1 };
	struct heap *h = &m->heap;
	for (int i = 0; i < 8; i++)
		below(m, 2); /* neighbouring numbers drift apart */
	h->n_objects = 1 + below(m, percent(m, 10) ? 150 : 40);
	h->boot_loader = HEAP_NONE;
	h->facts.loaders_hold_classes = percent(m, 50);
	h->facts.format = h->facts.loaders_hold_classes ? "phd" : "hprof";
	m->model.heap = h;
	if (bits_init(&h->sized, h->n_objects, NULL) || bits_seal(&h->sized, NULL))
		abort();
	place(m);
	classify(m);
	list_loaded(h);
	refer(m);
	take_root(m);
	if (percent(m, 25))
		weaken(m);
}

void made_heap_release(struct made_heap *m)
{
	struct heap *h = &m->heap;
	made_references_release(h);
	index_release(&m->index);
	weak_release(&m->weak);
	bits_release(&h->sized);
	free(h->classes);
	free(h->classes_by_loader);
	free(h->class_low);
	free(h->roots);
	free(h->threads);
}
