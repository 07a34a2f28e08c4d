/* SPDX-License-Identifier: GPL-3.0-or-later */
/* amounts.c - from the doubts of a heap to the certainty of a number; see amounts.h. */
#include "heap/amounts.h"

#include "base/progress.h"
#include "heap/roots.h"
#include "heap/threads.h"

static struct amount as_told_apart(struct amount a, const struct heap_class *c)
{
	return amount_weaken(a, c->objects_inferred ? INFERRED : EXACT, REASON_FILLERS);
}

static struct amount as_named(struct amount a, const struct heap_class *c)
{
	return as_told_apart(amount_weaken(a, c->name_shared ? INFERRED : EXACT, REASON_NAMES_SHARED), c);
}

bool heap_roots_inferred(const struct heap *h)
{
	return h->n_inferred_roots > 0 || !h->facts.roots_recorded;
}

/* Where a checksum is wrong, a number of what was read may also be too large. */
static struct amount as_read(const struct heap *h, struct amount a)
{
	return amount_weaken(a, h->doubtful ? INFERRED : EXACT, REASON_DAMAGED);
}

struct amount heap_counted(const struct heap *h, uint64_t n)
{
	return as_read(h, amount_weaken(amount_exact(n), h->incomplete ? LOWER_BOUND : EXACT, REASON_DAMAGED));
}

static struct amount by_roots(const struct heap *h, uint64_t n)
{
	if (h->roots_missing)
		return amount_unknown(REASON_ROOTS_MISSING);
	return amount_weaken(amount_exact(n), heap_roots_inferred(h) ? INFERRED : EXACT, REASON_ROOTS);
}

struct amount heap_roots_counted(const struct heap *h, uint64_t n)
{
	return amount_weaken(heap_counted(h, n), heap_roots_inferred(h) ? INFERRED : EXACT, REASON_ROOTS);
}

uint64_t heap_newest_wait(const struct heap *h)
{
	uint64_t newest = 0;
	for (uint32_t t = 0; t < h->n_threads; t++)
		newest = h->threads[t].waits_since > newest ? h->threads[t].waits_since : newest;
	return newest;
}

struct amount heap_waited(uint64_t since, uint64_t newest)
{
	return amount_weaken(amount_exact((newest - since) / UINT64_C(1000000000)), LOWER_BOUND, REASON_CLOCK);
}

struct amount heap_reached(const struct heap *h, uint64_t n)
{
	return as_read(h, amount_weaken(by_roots(h, n), h->incomplete ? LOWER_BOUND : EXACT, REASON_DAMAGED));
}

struct amount heap_held(const struct heap *h, uint64_t n)
{
	return amount_weaken(by_roots(h, n), h->damaged ? INFERRED : EXACT, REASON_DAMAGED);
}

struct amount heap_held_bytes(const struct heap *h, uint64_t bytes)
{
	return heap_held_sized(h, bytes, h->size_doubts);
}

struct amount heap_held_sized(const struct heap *h, uint64_t bytes, unsigned doubts)
{
	return heap_sized(h, heap_held(h, bytes), doubts, h->n_unknown_size);
}

struct amount heap_lost(const struct heap *h, uint64_t n)
{
	return amount_weaken(amount_exact(n), h->damaged ? INFERRED : EXACT, REASON_DAMAGED);
}

struct amount heap_count_of(const struct heap *h, const uint32_t *ids, size_t n)
{
	struct amount count = n > 1 ? heap_counted(h, n) : amount_exact(n);
	bool doubts = (h->names_shared || h->fillers_told) && n > 1 && n < h->n_objects;
	for (size_t i = 0; doubts && i < n && count.certainty != INFERRED; i++)
		count = as_named(count, heap_class_of(h, ids[i]));
	return count;
}

/* Where class records state the sizes of instances, only those of reference arrays may be assumed. */
unsigned class_size_doubts(const struct heap *h, const struct heap_class *c)
{
	bool assumed = h->sizes_assumed && (!h->facts.has_instance_sizes || c->kind == CLASS_OBJECT_ARRAY);
	return (assumed || c->size_doubtful ? SIZE_ASSUMED : 0) | (c->size_measured ? SIZE_MEASURED : 0);
}

void heap_find_size_doubts(struct heap *h)
{
	h->size_doubts = 0;
	for (uint32_t c = 0; c < h->n_classes; c++)
		h->size_doubts |= h->classes[c].n_objects ? class_size_doubts(h, &h->classes[c]) : 0;
}

void heap_find_missing_roots(struct heap *h)
{
	h->roots_missing = h->incomplete && h->facts.roots_recorded && !h->no_references;
	for (size_t i = 0; i < h->n_roots && h->roots_missing; i++) {
		const struct heap_root *root = &h->roots[i];
		bool last = root->kind == ROOT_SYSTEM_CLASS || root->kind == ROOT_BSS;
		h->roots_missing = !last || root->certainty != EXACT;
	}
}

struct amount heap_sized(const struct heap *h, struct amount bytes, unsigned doubts, uint64_t n_unknown)
{
	bytes = as_read(h, amount_weaken(bytes, doubts & SIZE_ASSUMED ? INFERRED : EXACT, REASON_SIZES_ASSUMED));
	bytes = amount_weaken(bytes, doubts & SIZE_MEASURED ? INFERRED : EXACT, REASON_SIZES_MEASURED);
	return amount_weaken(bytes, n_unknown ? LOWER_BOUND : EXACT, REASON_SIZES_UNKNOWN);
}

struct amount heap_sized_any(const struct heap *h, struct amount bytes, uint64_t n_unknown)
{
	return heap_sized(h, bytes, h->size_doubts, n_unknown);
}

struct amount class_sized(
    const struct heap *h, const struct heap_class *c, struct amount bytes, uint64_t n_unknown)
{
	return heap_sized(h, bytes, class_size_doubts(h, c), n_unknown);
}

struct amount heap_size(const struct heap *h, uint32_t id)
{
	uint64_t bytes = heap_shallow(h, id);
	if (bytes == 0 && !heap_size_known(h, id))
		return amount_unknown(REASON_SIZES_UNKNOWN);
	return class_sized(h, heap_class_of(h, id), amount_exact(bytes), 0);
}

struct amount heap_elements(const struct heap *h, uint32_t id)
{
	uint64_t length = heap_length(h, id);
	if (length == LENGTH_UNKNOWN)
		return amount_unknown(REASON_SILENT);
	bool padded = h->facts.lengths_from_sizes && heap_class_of(h, id)->kind == CLASS_PRIMITIVE_ARRAY;
	if (padded)
		return as_read(h, amount_weaken(amount_exact(length), INFERRED, REASON_PADDED));
	bool block = heap_class_of(h, id)->stride && (!h->own_length || !bits_get(&h->sized, id));
	return as_read(h, amount_weaken(amount_exact(length), block ? INFERRED : EXACT, REASON_BLOCK));
}

struct amount heap_size_of(const struct heap *h, const uint32_t *ids, size_t n)
{
	uint64_t bytes = 0, n_unknown = 0;
	for (size_t i = 0; i < n && !progress_own_stops(i); i++)
		bytes += heap_shallow(h, ids[i]);
	for (size_t i = 0; h->n_unknown_size && i < n && !progress_own_stops(i); i++)
		n_unknown += !heap_size_known(h, ids[i]);
	unsigned doubts = 0;
	for (size_t i = 0; doubts != h->size_doubts && i < n && !progress_own_stops(i); i++)
		doubts |= heap_size_doubts(h, ids[i]);
	return n && n_unknown == n ? amount_unknown(REASON_SIZES_UNKNOWN) :
	    heap_sized(h, amount_exact(bytes), doubts, n_unknown);
}

struct amount heap_size_of_marked(const struct heap *h, const struct bits *objects)
{
	uint64_t bytes = 0, n_unknown = 0;
	unsigned doubts = 0;
	for (uint32_t id = 0; id < h->n_objects && !progress_own_stops(id); id++) {
		if (!bits_get(objects, id))
			continue;
		bytes += heap_shallow(h, id);
		n_unknown += h->n_unknown_size && !heap_size_known(h, id);
		doubts |= heap_size_doubts(h, id);
	}
	return heap_sized(h, amount_exact(bytes), doubts, n_unknown);
}

struct amount class_objects_by_name(const struct heap *h, const struct heap_class *c)
{
	return as_told_apart(heap_counted(h, c->n_objects), c);
}

struct amount class_shallow_by_name(const struct heap *h, const struct heap_class *c)
{
	if (c->n_unknown && c->n_unknown == c->n_objects)
		return amount_unknown(REASON_SIZES_UNKNOWN);
	return as_told_apart(class_sized(h, c, heap_counted(h, c->shallow), c->n_unknown), c);
}

struct amount class_objects(const struct heap *h, const struct heap_class *c)
{
	return as_named(class_objects_by_name(h, c), c);
}

struct amount class_shallow(const struct heap *h, const struct heap_class *c)
{
	return as_named(class_shallow_by_name(h, c), c);
}

struct amount heap_size_of_all(const struct heap *h)
{
	return heap_sized_any(h, heap_counted(h, h->shallow), h->n_unknown_size);
}
