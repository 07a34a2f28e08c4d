/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_regions.c - regions of the heap, and the parts of them that threads have not used yet.
 *
 * After the iterators of debugtools/DDR_VM, vm29/j9/gc: GCHeapRegionIterator, GCObjectHeapIteratorAddressOrderedList.
 */
#include "dump/j9core/j9core_read.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "memory/big.h"

enum { REGIONS_MOST = 1 << 22, CELL_SIZES_MOST = 1 << 10, CACHES_MOST = 1 << 10 };
#define HEAP_MOST (UINT64_C(1) << 56) /* bytes of all regions */
/* MM_HeapRegionDescriptor__RegionType: where objects may be, one after another. */
enum {
	SMALL = 2, LARGE,
	ADDRESS_ORDERED = 5, ADDRESS_ORDERED_IDLE, ADDRESS_ORDERED_MARKED,
	BUMP, BUMP_IDLE, BUMP_MARKED,
};

static bool has_objects(unsigned type)
{
	return type == SMALL || type == LARGE || type == ADDRESS_ORDERED || type == ADDRESS_ORDERED_MARKED ||
	    type == BUMP || type == BUMP_MARKED;
}

/* Metronome: cells of one size, or one object. */
static uint64_t cell_of(const struct j9core *j, uint64_t region, unsigned type, uint64_t size)
{
	uint64_t sizes = j9_get(j, region, AT_REGION_CELL_SIZES), cell = 0, i = j9_get(j, region, AT_REGION_CELLS);

	if (type == LARGE)
		return size;
	if (type != SMALL || !j->has[AT_CELL_SIZES] || i > CELL_SIZES_MOST ||
	    !core_load(j->core, sizes + j->at[AT_CELL_SIZES].offset + i * j->word, j->word, &cell))
		return 0;
	return cell % j->word ? 0 : cell;
}

/* Where objects end in a region that is filled from its beginning on; UINT64_MAX: nobody knows. */
static uint64_t filled(const struct j9core *j, uint64_t region, unsigned type)
{
	uint64_t end;

	return (type == BUMP || type == BUMP_MARKED) && j->has[AT_REGION_POOL] && j->has[AT_POOL_NEXT_OBJECT] &&
	    j9_load(j, j9_get(j, region, AT_REGION_POOL), AT_POOL_NEXT_OBJECT, &end) ? end : UINT64_MAX;
}

static int add_region(struct j9core *j, uint64_t region, struct err *err)
{
	unsigned type = (unsigned)j9_get(j, region, AT_REGION_TYPE);
	struct j9_region r = {.low = j9_get(j, region, AT_REGION_LOW), .high = j9_get(j, region, AT_REGION_HIGH),
	    .marked = j->marks && (type == ADDRESS_ORDERED_MARKED || type == BUMP_MARKED)};
	uint64_t span = j9_get(j, region, AT_REGION_SPAN), size = r.high - r.low, end = filled(j, region, type);

	if (r.high <= r.low || r.low % j->word || !has_objects(type))
		return 0;
	if (span > 1 && size <= (UINT64_MAX - r.low) / span)
		r.high = r.low + size * span;
	if (end == r.low)
		return 0; /* nothing is in it yet */
	if (end > r.low && end < r.high)
		r.high = end;
	r.cell = cell_of(j, region, type, r.high - r.low);
	if (type == SMALL && (!r.cell || r.cell > r.high - r.low))
		return 0;
	if (r.cell)
		r.high -= (r.high - r.low) % r.cell;
	struct j9_region *to = BIG_PUSH(j->region, j->n_regions, j->cap_regions, err);
	if (!to)
		return ERR_NOMEM;
	*to = r;
	return 0;
}

/* The objects that the last marking of all regions found (balanced): a bit for each word or pair of words. */
static void find_marks(struct j9core *j)
{
	uint64_t extensions = j9_get(j, j->vm, AT_VM_EXTENSIONS);
	uint64_t collector = j9_get(j, extensions, AT_EXTENSIONS_COLLECTOR);

	if (!j9_get(j, extensions, AT_EXTENSIONS_BALANCED))
		return;
	uint64_t map = j9_get(j, j9_get(j, collector, AT_BALANCED_MARKS), AT_MARKS_PREVIOUS);
	uint64_t words = j9_constant(j, "MM_HeapMap", "J9MODRON_HEAP_SLOTS_PER_HEAPMAP_BIT", 1);
	j->marks = map ? j9_get(j, map, AT_MARKS_BITS) : 0;
	j->marks_base = map ? j9_get(j, map, AT_MARKS_BASE) : 0;
	j->marks_step = words && words <= 64 ? words * j->word : j->word;
}

static int find_regions(struct j9core *j, struct err *err)
{
	uint64_t all = j9_get(j, j9_get(j, j->vm, AT_VM_EXTENSIONS), AT_EXTENSIONS_REGIONS);
	uint64_t table = j9_get(j, all, AT_REGIONS_TABLE), stride = j9_get(j, all, AT_REGIONS_STRIDE);
	uint64_t n, span, is, region;
	struct j9_list more = {.mark = 0};
	int code = 0;

	j->regions_lost = !j9_load(j, all, AT_REGIONS_N, &n) || !j9_load(j, all, AT_REGIONS_MORE, &region) ||
	    n > REGIONS_MOST;
	for (uint64_t i = 0; i < n && n <= REGIONS_MOST && code == 0; i += span && span < n ? span : 1) {
		if (progress_own_stops(i))
			return err_cancelled(err);
		span = j9_get(j, table + i * stride, AT_REGION_SPAN);
		j->regions_lost |= !j9_load(j, table + i * stride, AT_REGION_ALLOCATED, &is);
		if (is)
			code = add_region(j, table + i * stride, err);
	}
	while (!j9_list_ends(&more, region) && code == 0) {
		code = progress_own_stops(more.since) ? err_cancelled(err) : add_region(j, region, err);
		j->regions_lost |= !j9_load(j, region, AT_REGION_NEXT, &region);
	}
	j->regions_lost |= region != 0; /* the list is a circle */
	return code;
}

static int add_range(struct j9core *j, uint64_t low, uint64_t high, struct err *err)
{
	struct j9_range *to = low && low < high ? BIG_PUSH(j->range, j->n_ranges, j->cap_ranges, err) : NULL;

	if (to)
		*to = (struct j9_range){low, high};
	return low && low < high && !to ? ERR_NOMEM : 0;
}

/* What a thread has taken for objects that it has not made yet. */
static int add_thread(struct j9core *j, uint64_t thread, struct err *err)
{
	uint64_t local = j->has[AT_THREAD_LOCAL_HEAP] ? thread + j->at[AT_THREAD_LOCAL_HEAP].offset : 0;
	int code = add_range(j, j9_get(j, thread, AT_THREAD_ALLOC), j9_get(j, thread, AT_THREAD_TOP), err);

	if (code == 0)
		code = add_range(j, j9_get(j, thread, AT_THREAD_NONZERO_ALLOC), j9_get(j, thread, AT_THREAD_NONZERO_TOP), err);
	if (code == 0 && local)
		code = add_range(j, j9_get(j, local, AT_LOCAL_ALLOC), j9_get(j, local, AT_LOCAL_TOP), err);
	uint64_t cache = j9_get(j, thread, AT_THREAD_CACHE), stride = 2 * j->word;
	uint64_t n = cache ? j9_get(j, j->vm, AT_VM_CACHE_SIZE) / stride : 0;
	for (uint64_t i = 0; i < n && i < CACHES_MOST && code == 0; i++)
		code = add_range(j, j9_get(j, cache + i * stride, AT_CACHE_ALLOC), j9_get(j, cache + i * stride, AT_CACHE_TOP),
		    err);
	return code;
}

static int region_by_address(const void *a, const void *b)
{
	const struct j9_region *x = a, *y = b;
	return (x->low > y->low) - (x->low < y->low);
}

static int range_by_address(const void *a, const void *b)
{
	const struct j9_range *x = a, *y = b;
	return (x->low > y->low) - (x->low < y->low);
}

/* A damaged table must not have objects twice. */
static void drop_overlaps(struct j9core *j)
{
	uint32_t n = 0;
	uint64_t high = 0, before = 1; /* byte 0: the classes */

	for (uint32_t i = 0; i < j->n_regions; i++) {
		struct j9_region r = j->region[i];
		if (r.low < high || r.high - r.low > HEAP_MOST - before) {
			j->regions_lost = true;
			continue;
		}
		r.before = before;
		before += r.high - r.low;
		high = r.high;
		j->region[n++] = r;
	}
	j->n_regions = n;
}

int j9_read_regions(struct j9core *j, struct err *err)
{
	uint64_t first = j9_get(j, j->vm, AT_VM_MAIN_THREAD), thread = first;
	struct j9_list ring = {.mark = 0};
	int code;

	find_marks(j);
	code = find_regions(j, err);
	while (!j9_list_ends(&ring, thread) && code == 0) {
		code = progress_own_stops(ring.since) ? err_cancelled(err) : add_thread(j, thread, err);
		j->threads_lost |= !j9_load(j, thread, AT_THREAD_NEXT, &thread);
		if (thread == first)
			break;
	}
	if (code)
		return code;
	sort_array(j->region, j->n_regions, sizeof *j->region, region_by_address);
	drop_overlaps(j);
	sort_array(j->range, j->n_ranges, sizeof *j->range, range_by_address);
	return 0;
}

const struct j9_region *j9core_regions(const struct j9core *j, uint32_t *n)
{
	*n = j->n_regions;
	return j->region;
}
