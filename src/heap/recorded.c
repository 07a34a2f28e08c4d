/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recorded.c - threads and GC roots as the dump itself records them.
 *
 * A root that names a thread is held by that thread if the dump has the thread's object; else it is
 * held by the VM, and so is every other root.  Where no class is recorded as held by the VM, the
 * classes of the boot loader are (dumps of the old agent and of other tools).  Roots of objects that
 * the dump does not have are dropped and counted.
 */
#include "heap/build.h"

#include <stdlib.h>

struct serial {
	uint32_t serial, thread;
};

static int by_serial(const void *x, const void *y)
{
	const struct serial *a = x, *b = y;
	if (a->serial != b->serial)
		return a->serial < b->serial ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static uint32_t thread_of(const struct serial *serials, uint32_t n, uint32_t serial)
{
	uint32_t low = 0, high = n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (serials[middle].serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && serials[low].serial == serial ? serials[low].thread : HEAP_NONE;
}

static struct serial *collect_threads(struct build *b)
{
	struct heap *h = b->heap;
	size_t n = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		n += b->parts[i].n_threads;
	h->threads = xcalloc(n ? n : 1, sizeof *h->threads);
	struct serial *serials = xcalloc(n ? n : 1, sizeof *serials);
	for (unsigned i = 0; i < b->n_parts; i++)
		for (size_t k = 0; k < b->parts[i].n_threads; k++) {
			const struct survey_thread *from = &b->parts[i].threads[k];
			serials[h->n_threads] = (struct serial){ from->serial, h->n_threads };
			h->threads[h->n_threads++] = (struct heap_thread){
				.name = from->name,
				.object = from->address ? heap_find(h, from->address) : HEAP_NONE,
				.address = from->address,
				.priority = -1,
				.frames = from->frames,
				.n_frames = from->n_frames,
			};
		}
	if (n)
		qsort(serials, n, sizeof *serials, by_serial);
	return serials;
}

static bool held_by_thread(enum root_kind kind)
{
	return kind == ROOT_JNI_LOCAL || kind == ROOT_JAVA_LOCAL || kind == ROOT_NATIVE_STACK ||
	    kind == ROOT_THREAD_BLOCK || kind == ROOT_BUSY_MONITOR || kind == ROOT_THREAD;
}

static void add_recorded(struct build *b, const struct root_record *r, const struct serial *serials)
{
	struct heap *h = b->heap;
	struct heap_root root = {
		.object = heap_find(h, r->address),
		.thread = HEAP_NONE,
		.frame = HEAP_NONE,
		.kind = r->kind,
		.certainty = EXACT,
	};
	if (root.object == HEAP_NONE) {
		h->n_dropped_roots++;
		return;
	}
	uint32_t thread = r->thread_serial && held_by_thread(r->kind)
	    ? thread_of(serials, h->n_threads, r->thread_serial) : HEAP_NONE;
	if (thread != HEAP_NONE && h->threads[thread].object != HEAP_NONE) {
		root.thread = thread;
		if (r->frame < h->threads[thread].n_frames)
			root.frame = r->frame;
	}
	build_root(b, root);
}

static void add_boot_classes(struct build *b)
{
	struct heap *h = b->heap;
	for (uint32_t i = 0; i < h->n_defined_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		if (c->loader == HEAP_NONE && c->kind != CLASS_OBJECT_ARRAY &&
		    c->kind != CLASS_PRIMITIVE_ARRAY)
			build_root(b, (struct heap_root){
				c->object, HEAP_NONE, HEAP_NONE, ROOT_SYSTEM_CLASS, INFERRED
			});
	}
}

void recorded_collect(struct build *b)
{
	struct heap *h = b->heap;
	bool any_class = false;
	if (!h->facts.roots_recorded)
		return;
	struct serial *serials = collect_threads(b);
	for (unsigned i = 0; i < b->n_parts; i++)
		for (size_t k = 0; k < b->parts[i].n_roots; k++) {
			any_class |= b->parts[i].roots[k].kind == ROOT_SYSTEM_CLASS;
			add_recorded(b, &b->parts[i].roots[k], serials);
		}
	if (!any_class)
		add_boot_classes(b);
	free(serials);
}
