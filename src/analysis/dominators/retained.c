/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * retained.c - retained sizes with lists of children and sums by class.
 *
 * Any thread.
 */
#include "analysis/dominators/dominators.h"

#include "algorithms/chunks.h"
#include "algorithms/sort.h"
#include "analysis/dominators/joint.h"
#include "analysis/dominators/retained_saving.h"
#include "analysis/maybe_live.h"
#include "base/amount.h"
#include "base/assert.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 16 };

static uint32_t parent_of(const struct retained *r, uint32_t id)
{
	uint32_t parent = r->dominators.immediate[id];
	return parent == DOMINATED_BY_ROOTS ? r->dominators.n_objects : parent;
}

/* The object whose list the one so far ahead goes to is on its way into the cache. */
static inline void look_ahead(const struct retained *r, uint32_t id)
{
	if (r->dominators.n_objects - id > AHEAD && r->dominators.immediate[id + AHEAD] < NOT_REACHABLE)
		__builtin_prefetch(&r->children.offset[r->dominators.immediate[id + AHEAD]], 1);
}

/* Dominators that stand in the mapped file of an index move into memory: lists and what walks along them need them to
 * stay what they are, even if another program writes to the file. */
static int keep_dominators(struct retained *r, struct err *err)
{
	const struct chunks *c = index_file_chunks(r->heap);
	if (!c || chunks_packed(c))
		return 0;
	uint32_t *kept = big_alloc(r->dominators.n_objects, sizeof *kept, err);
	if (!kept)
		return ERR_NOMEM;
	memcpy(kept, r->dominators.immediate, r->dominators.n_objects * sizeof *kept);
	big_free(r->dominators.immediate);
	r->dominators.immediate = kept;
	return !chunks_changed(c) ? 0 : err_set(err, ERR_IO, "the index file changed while in use "
	    "(open the dump again)");
}

/* A list ends where that of the next object begins. */
static int count_children(struct retained *r, struct progress *progress, struct err *err)
{
	uint32_t n = r->dominators.n_objects;
	struct degrees degrees = { .each = r->children.offset, .width = sizeof *r->children.offset };
	struct more_degree *more = NULL; /* an entry for each time that a count overflows */
	size_t cap = 0;
	int code = 0;
	for (uint32_t id = 0; id < n && !code; id++) {
		if (progress_stops(progress, id))
			code = err_cancelled(err);
		look_ahead(r, id);
		if (r->dominators.immediate[id] != NOT_REACHABLE && !++r->children.offset[parent_of(r, id)])
			code = BIG_ADD(more, degrees.n_more, cap, err, (struct more_degree){ parent_of(r, id), UINT16_MAX + 1 });
	}
	if (!code)
		code = more_degrees_sort(more, degrees.n_more, err);
	degrees.more = more;
	if (!code)
		code = adjacency_place(&r->children, n + 1, &degrees, err);
	big_free(more);
	return code;
}

/* Counting sort by parent, each list from its end to its start. */
static int list_children(struct retained *r, struct progress *progress, struct err *err)
{
	uint32_t n = r->dominators.n_objects;
	int code = keep_dominators(r, err);
	if (!code)
		code = adjacency_init(&r->children, n + 1, err);
	if (!code)
		code = count_children(r, progress, err);
	if (code)
		return code;
	r->children.target = big_alloc(r->children.n, sizeof *r->children.target, err);
	if (!r->children.target)
		return ERR_NOMEM;
	for (uint32_t id = n; id-- > 0;) {
		if (progress_stops(progress, id))
			return err_cancelled(err);
		if (id >= AHEAD && r->dominators.immediate[id - AHEAD] < NOT_REACHABLE)
			__builtin_prefetch(&r->children.offset[r->dominators.immediate[id - AHEAD]], 1);
		if (r->dominators.immediate[id] != NOT_REACHABLE)
			r->children.target[adjacency_take_last(&r->children, parent_of(r, id))] = id;
	}
	return 0;
}

const uint32_t *retained_children(const struct retained *r, uint32_t id, uint32_t *n)
{
	uint32_t place = id == HEAP_NONE ? r->dominators.n_objects : id;
	cairn_assert(place <= r->dominators.n_objects);
	uint32_t first = retained_first_child(r, place), end = retained_first_child(r, place + 1);
	cairn_assert(first <= end && end <= r->dominators.n_reachable);
	*n = end - first;
	return r->children.target + first;
}

int retained_top(const struct retained *r, uint32_t **ids, uint32_t *n, struct err *err)
{
	const uint32_t *immediate = r->dominators.immediate;
	uint32_t all = 0;
	for (uint32_t id = 0; id < r->dominators.n_objects && !progress_own_stops(id); id++)
		all += immediate[id] == DOMINATED_BY_ROOTS;
	*n = 0;
	*ids = big_alloc(all, sizeof **ids, err);
	for (uint32_t id = 0; *ids && *n < all && !progress_own_stops(id); id++)
		if (immediate[id] == DOMINATED_BY_ROOTS)
			(*ids)[(*n)++] = id;
	return *ids ? 0 : ERR_NOMEM;
}

struct counted {
	uint32_t id;
	size_t place;
};

static int by_counted(const void *a, const void *b)
{
	uint32_t x = ((const struct counted *)a)->id, y = ((const struct counted *)b)->id;
	return (x > y) - (x < y);
}

int retained_count_children(const struct retained *r, const uint32_t *ids, size_t n,
    uint32_t *counts, struct err *err)
{
	struct bits asked;
	if (bits_init(&asked, r->dominators.n_objects, err))
		return ERR_NOMEM;
	struct counted *sorted = big_alloc(n, sizeof *sorted, err);
	if (!sorted) {
		bits_release(&asked);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		sorted[i] = (struct counted){ids[i], i};
		bits_set(&asked, ids[i]);
		counts[i] = 0;
	}
	int code = sort(sorted, n, sizeof *sorted, by_counted, err);
	for (uint32_t id = 0; !code && id < r->dominators.n_objects; id++) {
		struct counted key = {.id = r->dominators.immediate[id]};
		if (progress_own_stops(id)) {
			code = err_cancelled(err);
			break;
		}
		if (key.id >= NOT_REACHABLE || !bits_get(&asked, key.id))
			continue;
		struct counted *found = find_sorted(&key, sorted, n, sizeof *sorted, by_counted);
		counts[found->place]++;
	}
	big_free(sorted);
	bits_release(&asked);
	return code;
}

/* Mark what dominates objects of unsure size, with them.  A mark ends a way up, so all ways together are linear. */
int retained_mark_unsure(struct retained *r, struct err *err)
{
	const struct heap *h = r->heap;
	if (!h->size_doubts || (h->sizes_assumed && !h->facts.has_instance_sizes))
		return 0;
	int code = bits_init(&r->unsure, h->n_objects, err);
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		if (progress_own_stops(id))
			code = err_cancelled(err);
		for (uint32_t at = heap_size_doubts(h, id) ? id : HEAP_NONE; at < h->n_objects && !bits_get(&r->unsure, at);
		     at = r->dominators.immediate[at])
			bits_set(&r->unsure, at);
	}
	return code;
}

static unsigned doubts_of(const struct retained *r, uint32_t id)
{
	return r->unsure.word && !bits_get(&r->unsure, id) ? 0 : r->heap->size_doubts;
}

void retained_sum_add(const struct retained *r, struct retained_sum *sum, uint32_t id)
{
	sum->bytes += retained_size(r, id);
	sum->topmost++;
	sum->doubts |= doubts_of(r, id);
	sum->joint |= !r->joint.word || bits_get(&r->joint, heap_class_index(r->heap, id));
}

/* A note: the bytes, then eight bits of doubts; 0: none. */
void retained_note_class(const struct retained *r, uint32_t class, uint64_t bytes, unsigned doubts)
{
	if (r->exact && bytes < UINT64_C(1) << 56)
		atomic_store_explicit(&r->exact[class], bytes << 8 | (uint8_t)doubts, memory_order_relaxed);
}

struct retained_sum retained_of_class(const struct retained *r, uint32_t class)
{
	struct retained_sum sum = r->by_class[class];
	uint64_t note = r->exact ? atomic_load_explicit(&r->exact[class], memory_order_relaxed) : 0;
	if (note) {
		sum.bytes = note >> 8;
		sum.doubts = (uint8_t)note;
		sum.joint = false;
	}
	return sum;
}

/* All that is reachable is more than anything frees. */
bool retained_sum_exact(const struct retained *r, const struct retained_sum *sum)
{
	return sum->topmost <= 1 || !sum->joint || sum->bytes == r->dominators.shallow_reachable;
}

struct amount retained_sum_bytes(const struct retained *r, const struct retained_sum *sum)
{
	return amount_weaken(heap_held_sized(r->heap, sum->bytes, sum->doubts),
	    retained_sum_exact(r, sum) ? EXACT : LOWER_BOUND, REASON_JOINT);
}

struct amount retained_of_nothing_reached(const struct retained *r)
{
	return amount_weaken(heap_held_sized(r->heap, 0, 0), r->doubt == REASON_NONE ? EXACT : INFERRED, r->doubt);
}

struct amount retained_of_members(const struct retained *r, uint64_t n, const struct retained_sum *sum)
{
	return sum->topmost || !n ? retained_sum_bytes(r, sum) : retained_of_nothing_reached(r);
}

struct amount retained_of(const struct retained *r, uint32_t id)
{
	struct amount bytes = heap_held_sized(r->heap, retained_size(r, id), doubts_of(r, id));
	return r->dominators.immediate[id] == NOT_REACHABLE ? retained_of_nothing_reached(r) : bytes;
}

struct amount retained_of_all(const struct retained *r)
{
	const struct heap *h = r->heap;
	struct amount bytes = heap_reached(h, r->dominators.shallow_reachable);
	return heap_sized_any(
	    h, amount_weaken(bytes, r->doubt == REASON_NONE ? EXACT : INFERRED, r->doubt), h->n_unknown_size);
}

static void release_sums(struct retained *r)
{
	big_free(r->by_class);
	big_free(r->exact);
	bits_release(&r->joint);
	r->by_class = NULL;
	r->exact = NULL;
}

static void release_lists(struct retained *r)
{
	adjacency_release(&r->children);
}

/* One walk for the sums and for the classes that may hold something jointly. */
static int sum_classes(struct retained *r, struct progress *progress, struct err *err)
{
	uint32_t n = r->heap->n_classes;
	struct bits joint;
	const struct retained_grouping classes = { .n_groups = n, .sums = r->by_class };
	int64_t *ways;
	int code = bits_init(&joint, n, err);
	if (code)
		return code;
	code = joint_ways(r, &ways, progress, err);
	if (code == 0)
		code = joint_sum(r, &classes, 1, ways, &joint, progress, err);
	for (uint32_t c = 0; c < n && !progress_stops(progress, c); c++)
		r->by_class[c].joint = bits_get(&joint, c);
	big_free(ways);
	r->joint = joint;
	return code;
}

int retained_list(struct retained *r, struct progress *progress, struct err *err)
{
	if (r->children.target)
		return 0;
	progress_phase(progress, PHASE_SUM_CLASSES, r->dominators.n_reachable);
	int code = list_children(r, progress, err);
	if (code)
		release_lists(r);
	return code;
}

int retained_complete(struct retained *r, struct progress *progress, struct err *err)
{
	int code = retained_list(r, progress, err);
	if (!code && !r->exact && !(r->exact = big_alloc(r->heap->n_classes, sizeof *r->exact, err)))
		code = ERR_NOMEM;
	if (code || r->by_class) /* out of an index, where they were not found before */
		return code;
	progress_phase(progress, PHASE_SUM_CLASSES, r->dominators.n_reachable);
	r->by_class = big_alloc(r->heap->n_classes, sizeof *r->by_class, err);
	code = r->by_class ? sum_classes(r, progress, err) : ERR_NOMEM;
	if (code)
		release_sums(r);
	return code;
}

int retained_find(struct retained *out, const struct model *m, struct progress *progress,
    struct err *err)
{
	static _Atomic uint64_t found;
	int code = retained_saved(m) ? retained_read(out, m, progress, err) : ERR_NOT_FOUND;
	if (code == 0)
		out->serial = ++found;
	if (code != ERR_NOT_FOUND && code != ERR_FORMAT && code != ERR_IO) /* what is damaged is found anew */
		return code;
	if (code != ERR_NOT_FOUND)
		index_file_left_out(m->heap, "the retained sizes", err);
	*out = (struct retained){ .heap = m->heap, .model = *m, .serial = ++found };
	code = dominators_find(&out->dominators, m, progress, err);
	if (!code && out->dominators.n_reachable < out->dominators.n_objects)
		out->doubt = maybe_live_reason(m->heap, NULL);
	if (!code)
		code = retained_mark_unsure(out, err);
	if (code)
		retained_release(out);
	return code;
}

void retained_release(struct retained *r)
{
	release_lists(r);
	release_sums(r);
	dominators_release(&r->dominators);
	bits_release(&r->unsure);
	*r = (struct retained){ .heap = NULL };
}

int retained_objects_of(
    const struct retained *r, uint32_t id, struct amount *out, struct err *err)
{
	uint32_t at = retained_first_child(r, id), end = retained_first_child(r, id + 1), *stack = NULL;
	size_t depth = 0, cap = 0;
	uint64_t objects = r->dominators.immediate[id] != NOT_REACHABLE;
	while (at < end || depth) {
		if (at < end) {
			uint32_t child = r->children.target[at];
			uint32_t *to = BIG_PUSH(stack, depth, cap, err);
			if (!to) {
				big_free(stack);
				return ERR_NOMEM;
			}
			if (progress_own_stops(objects++)) {
				big_free(stack);
				return err_cancelled(err);
			}
			*to = at;
			at = retained_first_child(r, child);
			end = retained_first_child(r, child + 1);
			continue;
		}
		at = stack[--depth];
		uint32_t parent = r->dominators.immediate[r->children.target[at]]; /* never the roots: below id */
		end = retained_first_child(r, parent + 1);
		at++;
	}
	big_free(stack);
	*out = heap_held(r->heap, objects);
	return 0;
}
