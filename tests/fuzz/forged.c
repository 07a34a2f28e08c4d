/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forged.c - see forged.h. */
#include "forged.h"

#include "heap/classes.h"
#include "heap/open.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "algorithms/chunks.h"
#include "heap/index.h"
#include "opened/opened.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Replaces the C library's.  Opening an index waits until no write can share its time stamp (mapped_file_stat).  Here
 * nothing writes to an open index, and the waits would be most of the time of thousands of opens. */
int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)wanted, (void)left;
	return 0;
}

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

/* The entries of a table of contents; false: there is none. */
struct contents {
	const uint8_t *bytes;
	uint64_t toc, n;
	bool packed;
};

static bool find_contents(struct contents *c, const uint8_t *bytes, size_t n)
{
	*c = (struct contents){ .bytes = bytes };
	if (n < TRAILER || number(bytes + n - TRAILER) > n - TRAILER)
		return false;
	c->toc = number(bytes + n - TRAILER);
	c->n = (n - TRAILER - c->toc) / ENTRY;
	c->n = c->n < CHUNKS_MOST ? c->n : CHUNKS_MOST;
	c->packed = bytes[n - 12] == 2;
	return true;
}

/* Chunk i, or NULL. */
static const uint8_t *chunk_of(const struct contents *c, uint64_t i, char name[CHUNK_NAME], uint64_t *size)
{
	const uint8_t *entry = c->bytes + c->toc + i * ENTRY;
	uint64_t at = number(entry + 16), left = c->toc - at;
	if (at > c->toc)
		return NULL;
	memset(name, 0, CHUNK_NAME);
	memcpy(name, entry, CHUNK_NAME - 1);
	*size = number(entry + 24) < left ? number(entry + 24) : left;
	return c->bytes + at;
}

/* Squeezed bytes as they are, with the sums that they would need. */
static bool add_squeezed(struct chunks_writer *w, const char *name, const uint8_t *from, uint64_t size)
{
	struct zstd_blocks_tail tail;
	struct chunk_entry *e = &w->entry[w->n++];
	uint8_t *copy = malloc(size + 1);
	*e = (struct chunk_entry){ .offset = w->at, .bytes = size };
	memcpy(e->name, name, CHUNK_NAME);
	memcpy(copy, from, size);
	if (size >= sizeof tail) {
		memcpy(&tail, copy + size - sizeof tail, sizeof tail);
		uint64_t room = size - sizeof tail, entries = (uint64_t)tail.n_blocks * sizeof(struct block_entry), at = 0;
		for (uint32_t i = 0; entries <= room && i < tail.n_blocks; i++) {
			struct block_entry block;
			uint8_t *to = copy + room - entries + i * sizeof block;
			memcpy(&block, to, sizeof block);
			if (block.squeezed > room - entries - at)
				break;
			block.sum = stretch_sum(copy + at, block.squeezed, i);
			memcpy(to, &block, sizeof block);
			at += block.squeezed;
		}
		if (entries <= room)
			e->sum = stretch_sum(copy + room - entries, entries, 0) ^
			    stretch_sum(copy + room, sizeof tail, 1);
	}
	bool fine = !size || fwrite(copy, size, 1, w->to) == 1;
	w->at += size;
	free(copy);
	return fine;
}

bool forged_write(const uint8_t *bytes, size_t n, bool pack, FILE *to)
{
	static char names[CHUNKS_MOST][CHUNK_NAME];
	struct chunks_writer w;
	struct contents c;
	if (!find_contents(&c, bytes, n) || (c.packed && pack))
		return false;
	bool fine = chunks_begin(&w, to, c.packed || pack, NULL) == 0;
	for (uint64_t i = 0; fine && i < c.n; i++) {
		uint64_t size = 0;
		const uint8_t *chunk = chunk_of(&c, i, names[i], &size);
		if (chunk)
			fine = c.packed ? add_squeezed(&w, names[i], chunk, size) :
			    chunks_add(&w, names[i], chunk, size, NULL) == 0;
	}
	return fine && chunks_end(&w, NULL) == 0;
}

bool forged_unsqueeze(const char *path, const uint8_t *bytes, size_t n, FILE *to)
{
	static char names[CHUNKS_MOST][CHUNK_NAME];
	struct chunks_writer w;
	struct contents c;
	struct chunks *chunks;
	if (!find_contents(&c, bytes, n) || chunks_open(&chunks, path, NULL))
		return false;
	bool fine = chunks_begin(&w, to, false, NULL) == 0;
	for (uint64_t i = 0; fine && i < c.n; i++) {
		uint64_t size = 0;
		const void *content = NULL;
		fine = chunk_of(&c, i, names[i], &size) && chunks_take(chunks, names[i], &content, &size, NULL) == 0 &&
		    chunks_add(&w, names[i], content, size, NULL) == 0;
		big_free(content);
	}
	chunks_close(chunks);
	return fine && chunks_end(&w, NULL) == 0;
}

static void look_at_objects(const struct heap *h)
{
	uint64_t shallow = 0;
	for (uint32_t id = 0; id < h->n_objects; id++) {
		struct implied_reference implied[HEAP_IMPLIED];
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
		promise(h->classes[c].object == HEAP_NONE || heap_class_mirrored(h, h->classes[c].object) == c,
		    "a class object is the mirror of its class");
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
	struct err err = ERR_INIT;
	struct amount n;
	promise(opened_find(o, FIND_RETAINED, NULL, &err) == 0, "retained sizes are found");
	const struct retained *r = opened_retained(o);
	for (uint32_t id = 0; id < o->heap->n_objects; id++) {
		uint32_t up = id, steps = 0;
		for (; up < NOT_REACHABLE; up = r->dominators.immediate[up])
			promise(steps++ <= o->heap->n_objects, "dominators end");
		promise(up == DOMINATED_BY_ROOTS || r->dominators.immediate[id] == NOT_REACHABLE,
		    "dominators lead to the roots");
		promise(retained_objects_of(r, id, &n, &err) == 0, "what it retains is counted");
	}
	promise(opened_find(o, FIND_REACHABLE, NULL, &err) == 0, "what roots reach is found");
	promise(opened_find(o, FIND_WEAK_PATHS, NULL, &err) == 0, "paths are found");
	int code = opened_count_weak(o, false, &err);
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
	if (!opened_find(o, FIND_REFERENCES, NULL, &err)) {
		look_at_references(h);
		look_at_tree(o);
	}
	opened_free(o);
	return true;
}
