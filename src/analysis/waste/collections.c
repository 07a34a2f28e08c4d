/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collections.c - collections that hold nothing, or one element, or much less than they have room for. */
#include "analysis/waste/work.h"

#include "analysis/collections.h"
#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "heap/classes.h"

#include <stddef.h>
#include <string.h>

enum {
	PARTS_MOST = 64,      /* of a collection of at most one element */
	SLOTS_LEAST = 16,     /* what has no more slots is not too large */
	FILLED_LEAST = 4,     /* nor what uses one slot of so many */
	CHAINED_LEAST = 16,   /* elements */
	CHAIN_MOST = 4,       /* elements in each chain of a hash table, on the average */
};

static uint64_t size_of(const struct heap *h, uint32_t id)
{
	return heap_shallow(h, id);
}

/* Bytes of a small collection and of all that it is made of. */
static uint64_t footprint(const struct waste_work *w, uint32_t collection)
{
	const struct heap *h = w->heap;
	uint32_t part[PARTS_MOST] = {collection};
	unsigned n = 1;
	uint64_t bytes = 0;
	for (unsigned i = 0; i < n; i++) {
		uint64_t at = adjacency_start(&h->out, part[i]), end = at + adjacency_degree(&h->out, part[i]);
		bytes += size_of(h, part[i]);
		for (; at < end && n < PARTS_MOST; at++) {
			uint32_t to = h->out.target[at];
			bool met = w->owner[to] != collection;
			for (unsigned k = 0; k < n && !met; k++)
				met = part[k] == to;
			if (!met)
				part[n++] = to;
		}
	}
	return bytes;
}

static int look_at_table(struct waste_stretch *s, uint32_t id, const struct storage *c, struct err *err)
{
	const struct heap *h = s->work->heap;
	if (c->table == HEAP_NONE || s->work->owner[c->table] == HEAP_NONE)
		return 0;
	uint64_t used = adjacency_degree(&h->out, c->table), bytes = size_of(h, c->table);
	if (c->chains && c->size.taken >= CHAINED_LEAST && used && c->size.taken / used >= CHAIN_MOST)
		return waste_add(s, WASTE_CHAINS, id, size_of(h, id) + bytes, 0, err);
	if (c->size.capacity <= SLOTS_LEAST || c->size.taken > c->size.capacity / FILLED_LEAST)
		return 0;
	uint64_t needed = heap_array_size(h, heap_class_of(h, c->table), c->enough);
	if (needed == SIZE_UNKNOWN || needed >= bytes)
		return 0;
	return waste_add(s, WASTE_OVERSIZED, id, size_of(h, id) + bytes, bytes - needed, err);
}

static int look(struct waste_stretch *s, uint32_t id, struct err *err)
{
	struct storage c;
	if (s->work->owner[id] != HEAP_NONE || !inspect_storage(s->work->heap, id, &c) || !c.size.known || c.size.lies ||
	    c.library)
		return 0;
	if (c.size.size > 1)
		return look_at_table(s, id, &c, err);
	uint64_t bytes = footprint(s->work, id);
	return waste_add(s, c.size.size ? WASTE_SINGLE : c.used ? WASTE_EMPTIED : WASTE_UNUSED, id, bytes, bytes, err);
}

/* --- of memory with types (Go) ------------------------------------------------------------------ */

/* A channel is to be empty. */
static int look_at_memory(struct waste_stretch *s, const struct collection_found *c, struct err *err)
{
	const struct heap *h = s->work->heap;
	const char *class = heap_class_of(h, c->id)->name;
	bool map = !strncmp(class, "map[", 4), chan = !strncmp(class, "chan ", 5);
	uint64_t bytes = footprint(s->work, c->id);
	struct string_view text;
	if (!c->sized || chan || inspect_text(h, c->id, &text))
		return 0;
	if (!c->size)
		return waste_add(s, WASTE_UNUSED, c->id, bytes, bytes, err);
	if (map)
		return c->size == 1 ? waste_add(s, WASTE_SINGLE, c->id, bytes, bytes, err) : 0;
	if (c->capacity <= SLOTS_LEAST || c->size > c->capacity / FILLED_LEAST)
		return 0;
	uint64_t used = bytes / c->capacity * c->size + bytes % c->capacity * c->size / c->capacity;
	return waste_add(s, WASTE_OVERSIZED, c->id, bytes, bytes - used, err);
}

static int waste_of_memory(struct waste_work *w, struct err *err)
{
	struct waste_stretch s = {.work = w};
	struct collections all;
	int code = collections_find(&all, w->heap, NULL, progress_own(), err);
	if (code)
		return code;
	for (size_t i = 0; i < all.n && !code; i++)
		code = progress_own_stops(16 * (uint64_t)i) ? err_cancelled(err) : look_at_memory(&s, &all.found[i], err);
	collections_release(&all);
	for (unsigned k = WASTE_UNUSED; k <= WASTE_OVERSIZED; k++) {
		w->found[k] = s.found[k];
		s.found[k] = (struct waste_items){.item = NULL};
	}
	return code;
}

int waste_of_collections(struct waste_work *w, struct err *err)
{
	if (w->heap->facts.no_class_objects)
		return waste_of_memory(w, err);
	return waste_look(w, 1U << ROLE_COLLECTION | 1U << ROLE_WRAPPER, look, NULL, err);
}
