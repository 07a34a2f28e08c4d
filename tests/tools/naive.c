/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naive.c - the references, and what can be reached by them; see naive.h. */
#include "naive.h"

#include "base/mem.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/weak.h"

#include <stdlib.h>
#include <string.h>

static void lead(struct naive *w, uint32_t from, uint32_t to, bool root, bool fixed)
{
	if (to != HEAP_NONE)
		VEC_PUSH(w->edge, w->n, w->cap) =
		    (struct reference){ .from = from, .to = to, .root = root, .fixed = fixed };
}

/* The thread that holds what is on its stack: one that is a root by itself. */
static uint32_t stack_holder(const struct heap *h, const struct heap_root *r)
{
	if (r->thread == HEAP_NONE || h->threads[r->thread].object == r->object)
		return HEAP_NONE;
	uint32_t thread = h->threads[r->thread].object;
	for (size_t i = 0; thread != HEAP_NONE && i < h->n_roots; i++) {
		const struct heap_root *other = &h->roots[i];
		if (other->object == thread && (other->thread == HEAP_NONE ||
		    h->threads[other->thread].object == thread ||
		    h->threads[other->thread].object == HEAP_NONE))
			return thread;
	}
	return HEAP_NONE;
}

static bool held_firmly(const struct heap *h, uint32_t id)
{
	for (size_t i = 0; i < h->n_roots; i++)
		if (h->roots[i].object == id &&
		    (h->roots[i].kind == ROOT_SYSTEM_CLASS || h->roots[i].kind == ROOT_THREAD ||
		    h->roots[i].kind == ROOT_UNKNOWN || h->roots[i].kind == ROOT_VM_INTERNAL))
			return true;
	return false;
}

static int by_from(const void *x, const void *y)
{
	const struct reference *a = x, *b = y;
	return (a->from > b->from) - (a->from < b->from);
}

void naive_init(struct naive *w, const struct model *m)
{
	const struct heap *h = m->heap;
	*w = (struct naive){ .m = m, .h = h, .random = h->n_objects };
	for (uint32_t id = 0; id < h->n_objects; id++) {
		for (uint64_t k = adjacency_start(&h->out, id); k < adjacency_start(&h->out, id + 1); k++)
			if (!weak_is(m->left_out, id, h->out.target[k]))
				lead(w, id, h->out.target[k], false, false);
		lead(w, id, heap_class_of(h, id)->object, false, true);
	}
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->object == HEAP_NONE)
			continue;
		if (class->superclass != HEAP_NONE)
			lead(w, class->object, h->classes[class->superclass].object, false, true);
		lead(w, class->object, class->loader, false, true);
		uint32_t element = class->kind == CLASS_OBJECT_ARRAY ? class->component : HEAP_NONE;
		for (uint32_t o = 0; class->kind == CLASS_PRIMITIVE_ARRAY && element == HEAP_NONE && o < h->n_classes; o++)
			if (!strcmp(h->classes[o].name, "java.lang.Object"))
				element = o;
		if (!strcmp(h->facts.format, "hprof") && element != HEAP_NONE && element != c)
			lead(w, h->classes[element].object, class->object, false, true);
		if (strcmp(h->facts.format, "hprof") && class->loader != HEAP_NONE)
			lead(w, class->loader, class->object, false, true);
	}
	for (size_t i = 0; i < h->n_roots; i++) /* the roots' hold on an object is one: fixed by any */
		lead(w, stack_holder(h, &h->roots[i]), h->roots[i].object, true,
		    held_firmly(h, h->roots[i].object));
	if (w->n)
		qsort(w->edge, w->n, sizeof *w->edge, by_from);
	w->first = xcalloc((size_t)h->n_objects + 2, sizeof *w->first);
	size_t at = 0;
	for (uint32_t id = 0; id <= h->n_objects; id++) {
		while (at < w->n && w->edge[at].from < id)
			at++;
		w->first[id] = at;
	}
	w->first[h->n_objects + 1] = w->n;
	w->seen = xcalloc((size_t)h->n_objects + 1, 1);
	w->stack = xcalloc((size_t)h->n_objects + 1, sizeof *w->stack);
	w->all = naive_kept(w, NULL, 0);
}

void naive_release(struct naive *w)
{
	free(w->edge);
	free(w->first);
	free(w->seen);
	free(w->stack);
}

uint64_t naive_kept(struct naive *w, const uint32_t *without, size_t n_without)
{
	const struct heap *h = w->h;
	uint32_t n = 0, at = h->n_objects;
	uint64_t bytes = 0;
	memset(w->seen, 0, h->n_objects);
	for (size_t i = 0; i < n_without; i++)
		w->seen[without[i]] = 1;
	for (;;) {
		for (size_t k = w->first[at]; k < w->first[at + 1]; k++) {
			uint32_t to = w->edge[k].to;
			if (w->edge[k].gone || w->seen[to])
				continue;
			w->seen[to] = 1;
			w->stack[n++] = to;
		}
		if (!n)
			return bytes;
		at = w->stack[--n];
		bytes += heap_shallow(h, at);
	}
}
