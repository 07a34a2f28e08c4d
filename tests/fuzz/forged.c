/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forged.c - see forged.h. */
#include "forged.h"

#include "base/chunks.h"
#include "heap/index.h"
#include "opened/opened.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRY = 40, TRAILER = 40 };

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "forged index: %s\n", what);
	abort();
}

static uint64_t number(const uint8_t *p)
{
	uint64_t n;
	memcpy(&n, p, sizeof n);
	return n;
}

bool forged_write(const uint8_t *bytes, size_t n, FILE *to)
{
	static char names[CHUNKS_MOST][CHUNK_NAME];
	struct chunks_writer w;
	if (n < TRAILER || number(bytes + n - TRAILER) > n - TRAILER)
		return false;
	uint64_t toc = number(bytes + n - TRAILER), entries = (n - TRAILER - toc) / ENTRY;
	bool fine = chunks_begin(&w, to, NULL) == 0;
	for (uint64_t i = 0; fine && i < entries && i < CHUNKS_MOST; i++) {
		const uint8_t *entry = bytes + toc + i * ENTRY;
		uint64_t at = number(entry + 16), size = number(entry + 24);
		if (at > toc)
			continue;
		memcpy(names[i], entry, CHUNK_NAME - 1);
		fine = chunks_add(&w, names[i], bytes + at, size < toc - at ? size : toc - at, NULL) == 0;
	}
	return fine && chunks_end(&w, NULL) == 0;
}

static void look_at_objects(const struct heap *h)
{
	uint64_t shallow = 0;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		struct implied_reference implied[3];
		size_t first;
		promise(heap_class_of(h, id)->name != NULL, "classes have names");
		promise(heap_find(h, heap_address(h, id)) == id, "an address leads back to its object");
		for (unsigned n = heap_implied(h, id, implied); n-- > 0;)
			promise(implied[n].target < h->n_objects, "implied references lead to objects");
		shallow += heap_shallow(h, id) + heap_length(h, id);
		heap_roots_of(h, id, &first);
		heap_thread_of(h, id);
	}
	for (uint32_t c = 0; c < h->n_classes; c++)
		for (uint32_t up = c, n = 0; up != HEAP_NONE; up = h->classes[up].superclass)
			promise(n++ <= h->n_classes, "superclasses end");
	for (uint32_t t = 0; t < h->n_threads; t++)
		for (uint32_t i = 0; i < h->threads[t].n_frames; i++)
			shallow += strlen(h->threads[t].frames[i]);
	promise(shallow != 1, "one byte is no heap"); /* so that it is used */
}

static void look_at_references(const struct heap *h)
{
	uint64_t n[2] = { 0, 0 };
	const struct adjacency *both[2] = { &h->out, &h->in };
	for (int i = 0; i < 2; i++)
		for (uint32_t id = 0; id < h->n_objects; id++)
			for (uint64_t k = adjacency_start(both[i], id); k < adjacency_start(both[i], id + 1); k++, n[i]++)
				promise(both[i]->target[k] < h->n_objects, "references lead to objects");
	promise(n[0] == n[1] && n[0] == h->out.n, "there are as many in both directions");
}

static void look_at_tree(struct opened *o)
{
	const struct retained *r;
	const struct path_tree *paths;
	struct err err = ERR_INIT;
	struct amount n;
	promise(opened_find_retained(o, NULL, &r, &err) == 0, "retained sizes are found");
	for (uint32_t id = 0; id < o->heap->n_objects; id++) {
		uint32_t up = id, steps = 0;
		for (; up < NOT_REACHABLE; up = r->dominators.immediate[up])
			promise(steps++ <= o->heap->n_objects, "dominators end");
		promise(retained_objects_of(r, id, &n, &err) == 0, "what it retains is counted");
	}
	struct reachable reachable;
	promise(opened_find_reachable(o, NULL, &reachable, &err) == 0, "what roots reach is found");
	promise(opened_find_path_tree(o, true, NULL, &paths, &err) == 0, "paths are found");
	int code = opened_count_weak(o, false, NULL, &err);
	promise(code == 0 || code == ERR_UNSUPPORTED || code == ERR_FORMAT, "weak references are told, or not");
}

bool forged_opens(const char *path)
{
	struct heap_options options = { .path = path, .references_later = true };
	struct heap *h = NULL;
	struct err err = ERR_INIT;
	if (heap_open(&h, &options, NULL, &err))
		return false;
	struct opened *o = opened_new(h);
	opened_own(o, h);
	look_at_objects(h);
	if (!opened_find_references(o, NULL, &err)) {
		look_at_references(h);
		look_at_tree(o);
	}
	opened_free(o);
	return true;
}
