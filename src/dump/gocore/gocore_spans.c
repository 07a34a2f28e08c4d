/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_spans.c - the spans of the heap: which objects there are, and where their bytes stand in the source.
 *
 * An object is allocated if it stands below the free index, or if its bit says so, which the last sweep wrote.  A span
 * that the collector marked and has not swept yet still holds what died: there the bits of the last marking count, as
 * the sweep would have made them.  So the objects are those that a heap dump has, which sweeps first.
 * (runtime/mheap.go: mspan, isFree; mgcsweep.go: sweepgen; mgcmark_greenteagc.go: moveInlineMarks)
 */
#include "dump/gocore/gocore_read.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <stdlib.h>

enum { STOCK = 128, PROCESSORS_MOST = 4096 }; /* runtime.p.mspancache */
enum { IN_USE = 1, SMALL = 512 /* objects of up to so many bytes have no header */, LEAST_MARKED = 16,
	OBJECTS_MOST = UINT16_MAX /* of a span: its members have 16 bits since 1.22 */ };
#define SPAN_MOST (UINT64_C(1) << 47) /* bytes */
#define SPANS_MOST (UINT64_C(1) << 32)

/* What the runtime says of a span. */
struct said {
	uint64_t address, start, pages, size, n, free_index, alloc_bits, mark_bits, class, state, sweep, specials, type;
};

/* --- from memory -------------------------------------------------------------------------------------- */

static uint64_t member(const struct gocore *g, const uint8_t *span, enum gocore_member m)
{
	const struct gocore_place *p = &g->at[m];
	return p->size ? core_number(g->core, span + p->offset, p->size < 8 ? (unsigned)p->size : 8) : 0;
}

/* False: it is no span in use, or what it says cannot be; address 0: its bytes are not there. */
static bool load(const struct gocore *g, uint64_t address, uint64_t bytes, struct said *s)
{
	const uint8_t *p = core_range(g->core, address, bytes);

	s->address = 0;
	if (!p)
		return false;
	*s = (struct said){
		.address = address,
		.start = member(g, p, AT_SPAN_START), .pages = member(g, p, AT_SPAN_PAGES),
		.size = member(g, p, AT_SPAN_SIZE), .n = member(g, p, AT_SPAN_N),
		.free_index = member(g, p, AT_SPAN_FREE_INDEX), .alloc_bits = member(g, p, AT_SPAN_ALLOC_BITS),
		.mark_bits = member(g, p, AT_SPAN_MARK_BITS), .class = member(g, p, AT_SPAN_CLASS),
		.state = member(g, p, AT_SPAN_STATE), .sweep = member(g, p, AT_SPAN_SWEEP),
		.specials = member(g, p, AT_SPAN_SPECIALS), .type = member(g, p, AT_SPAN_TYPE),
	};
	return s->state == IN_USE && s->start && s->start % GOCORE_PAGE == 0 && s->pages &&
	    s->pages <= SPAN_MOST / GOCORE_PAGE && s->size && s->size <= s->pages * GOCORE_PAGE && s->n &&
	    s->n <= s->pages * GOCORE_PAGE / s->size && s->n <= OBJECTS_MOST && s->start < SPAN_MOST * 2;
}

/* --- which objects --------------------------------------------------------------------------------------- */

/* Was it marked and not swept?  Two behind the heap; or one before it, if a thread has it cached since then. */
static bool is_unswept(uint64_t heap, uint64_t span)
{
	uint32_t behind = (uint32_t)heap - (uint32_t)span;
	return behind == 2 || behind == UINT32_MAX;
}

static void set_bit(uint8_t *bits, uint64_t i)
{
	bits[i / 8] |= (uint8_t)(1 << i % 8);
}

/* The sweep keeps an object that died with a finalizer, which runs first. */
static void keep_finalizable(const struct gocore *g, const struct said *s, uint8_t *bits)
{
	uint64_t finalizer, special = s->specials;

	if (!program_runtime_constant(g->program, "runtime._KindSpecialFinalizer", &finalizer))
		return;
	for (uint64_t i = 0; special && i <= s->n; i++, special = gocore_get(g, special, AT_SPECIAL_NEXT)) {
		uint64_t at = gocore_get(g, special, AT_SPECIAL_OFFSET) / s->size;
		if (gocore_get(g, special, AT_SPECIAL_KIND) == finalizer && at < s->n)
			set_bit(bits, at);
	}
}

/* Bits that the sweep would write: marks, and those that stand in the span itself. */
static const uint8_t *swept_bits(struct gocore *g, const struct said *s, struct err *err)
{
	uint64_t n = (s->n + 7) / 8;
	const uint8_t *marks = core_range(g->core, s->mark_bits, n), *own = NULL;
	uint8_t *bits = arena_try(&g->arena, n, 1, err);

	if (!bits)
		return NULL;
	if (g->marks && s->size >= LEAST_MARKED && s->size <= SMALL)
		own = core_range(g->core, s->start + s->pages * GOCORE_PAGE - g->marks / 2, n);
	for (uint64_t i = 0; i < n; i++)
		bits[i] = (uint8_t)((marks ? marks[i] : 0) | (own ? own[i] : 0));
	keep_finalizable(g, s, bits);
	return bits;
}

/* Bits and free index of a span. */
static int find_allocated(struct gocore *g, const struct said *s, uint64_t heap_sweep, struct gocore_span *out,
    struct err *err)
{
	static const uint8_t none[OBJECTS_MOST / 8 + 1]; /* where they are missing */

	out->free_index = s->free_index < s->n ? (uint32_t)s->free_index : (uint32_t)s->n;
	out->bits = core_range(g->core, s->alloc_bits, (s->n + 7) / 8);
	if (is_unswept(heap_sweep, s->sweep)) {
		out->free_index = 0;
		out->bits = swept_bits(g, s, err);
		return out->bits ? 0 : ERR_NOMEM;
	}
	if (!out->bits)
		out->bits = none;
	return 0;
}

static uint64_t count(const struct gocore_span *s, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint64_t i = from; i < to; i++)
		n += gocore_allocated(s, (uint32_t)i);
	return n;
}

/* --- where their pointers are ----------------------------------------------------------------------------- */

static void find_pointers(struct gocore *g, const struct said *s, struct gocore_span *out)
{
	uint64_t bytes = s->pages * GOCORE_PAGE, map = bytes / 64;
	bool marks = g->marks && s->size >= LEAST_MARKED;

	if (s->class & 1 || s->size < 8) {
		out->by = GOCORE_NO_POINTERS;
	} else if (gocore_has(g, AT_ARENA_BITMAP)) {
		out->by = GOCORE_BY_ARENA;
	} else if (s->size <= SMALL) {
		out->by = GOCORE_BY_BITMAP;
		out->bitmap = core_range(g->core, s->start + bytes - map - (marks ? g->marks : 0), map);
		if (!out->bitmap || s->size % 8) {
			out->by = GOCORE_NO_POINTERS;
			g->state.n_unknown += count(out, 0, s->n);
		}
	} else if (s->class >> 1) {
		out->by = GOCORE_BY_HEADER;
	} else {
		out->by = GOCORE_BY_TYPE;
		out->type = gocore_type_at(g, s->type);
		g->state.n_unknown += s->type && (!out->type || (out->type->pointers && !out->type->mask));
	}
}

/* --- where their bytes are ---------------------------------------------------------------------------------- */

static uint64_t offset_of(const struct gocore *g, const uint8_t *p)
{
	const struct source *s = g->source;
	return p && p >= s->bytes && p < s->bytes + s->size ? (uint64_t)(p - s->bytes) : UINT64_MAX;
}

/* Objects follow one another where the core has them in one piece. */
static int add_pieces(struct gocore *g, struct gocore_span *s, uint64_t n, struct err *err)
{
	uint64_t i = 0;

	while (i < n) {
		uint64_t there, at = s->start + i * s->size;
		const uint8_t *p = core_bytes(g->core, at, &there);
		uint64_t offset = offset_of(g, p), fit = offset == UINT64_MAX ? 0 : there / s->size;
		fit = fit < n - i ? fit : n - i;
		if (fit) {
			struct gocore_span *to = BIG_PUSH(g->span, g->n_spans, g->cap_spans, err);
			if (!to)
				return ERR_NOMEM;
			*to = *s;
			to->first = (uint32_t)i;
			to->end = (uint32_t)(i + fit);
			to->offset = offset;
			i += fit;
			continue;
		}
		uint64_t next = core_next(g->core, p ? at + there : at); /* the first that is not missing */
		uint64_t skip = next == UINT64_MAX ? n : (next - s->start + s->size - 1) / s->size;
		skip = skip > i ? skip : i + 1;
		g->state.n_not_there += count(s, i, skip < n ? skip : n);
		i = skip;
	}
	return 0;
}

static int take(struct gocore *g, const struct said *s, uint64_t heap_sweep, struct err *err)
{
	struct gocore_span span = { .start = s->start, .size = s->size };
	int code = find_allocated(g, s, heap_sweep, &span, err);

	if (code)
		return code;
	if (is_unswept(heap_sweep, s->sweep))
		g->state.n_unswept++;
	find_pointers(g, s, &span);
	struct gocore_noting *noting = s->specials ? BIG_PUSH(g->noting, g->n_noting, g->cap_noting, err) : NULL;
	if (s->specials && !noting)
		return ERR_NOMEM;
	if (noting)
		*noting = (struct gocore_noting){ s->start, s->specials };
	if (s->start < g->heap_start)
		g->heap_start = s->start;
	if (s->start + s->pages * GOCORE_PAGE > g->heap_end)
		g->heap_end = s->start + s->pages * GOCORE_PAGE;
	return add_pieces(g, &span, s->n, err);
}

/* --- all ------------------------------------------------------------------------------------------------------ */

/* A span before it is looked at. */
struct found {
	uint64_t start, address;
};

static int by_start(const void *x, const void *y)
{
	const struct found *a = x, *b = y;
	return (a->start > b->start) - (a->start < b->start);
}

static int by_offset(const void *x, const void *y)
{
	const struct gocore_span *a = x, *b = y;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The index by offset. */
static int index_spans(struct gocore *g, struct err *err)
{
	uint64_t at = 0;

	g->n_span_at = g->source->size / GOCORE_PAGE + 1;
	g->span_at = big_alloc(g->n_span_at, sizeof *g->span_at, err);
	if (!g->span_at)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < g->n_spans; i++) {
		uint64_t last = (gocore_offset(&g->span[i], g->span[i].end) - 1) / GOCORE_PAGE;
		for (; at <= last && at < g->n_span_at; at++)
			g->span_at[at] = i;
	}
	for (; at < g->n_span_at; at++)
		g->span_at[at] = g->n_spans;
	return 0;
}

/* The bitmaps of arenas, where the heap has them.  The first level has one part on Linux. */
static int find_arenas(struct gocore *g, uint64_t heap, struct err *err)
{
	const struct gocore_place *map = &g->at[AT_ARENA_BITMAP], *more = &g->at[AT_ARENA_NO_MORE];
	uint64_t second = gocore_word(g, heap + g->at[AT_HEAP_ARENAS].offset);
	/* runtime/malloc.go: arenaBaseOffset */
	uint64_t base = g->machine == CORE_AMD64 ? UINT64_C(0xffff800000000000) : 0;

	if (!gocore_has(g, AT_ARENA_BITMAP) || g->heap_start >= g->heap_end)
		return 0;
	g->n_arenas = (g->heap_end - g->heap_start) / GOCORE_ARENA;
	g->arenas = big_alloc(g->n_arenas, sizeof *g->arenas, err);
	if (!g->arenas)
		return ERR_NOMEM;
	for (uint64_t i = 0; i < g->n_arenas; i++) {
		uint64_t number = (g->heap_start + i * GOCORE_ARENA - base) / GOCORE_ARENA;
		uint64_t arena = gocore_word(g, second + number * g->word);
		if (!arena)
			continue;
		g->arenas[i].bitmap = core_range(g->core, arena + map->offset, map->size);
		if (more->size)
			g->arenas[i].no_more = core_range(g->core, arena + more->offset, more->size);
	}
	return 0;
}

struct list {
	struct found *span; /* big memory */
	size_t n, cap;
};

/*
 * How many of n_spans have no start, since they were made and never used; a freed one keeps its start.  Processors have
 * them in stock, and what stock is given back is in the list of free ones (runtime/mheap.go, allocMSpanLocked).  On
 * their way are at most *more: one with each processor, and half a stock while the heap is locked.
 */
static uint64_t count_new(const struct gocore *g, uint64_t heap, uint64_t n_spans, uint64_t *more)
{
	struct gocore_slice all = gocore_slice_at(g, gocore_global(g, "runtime.allp"), PROCESSORS_MOST);
	uint64_t n = 0, free = gocore_get(g, heap, AT_HEAP_FREE_SPANS);

	for (uint64_t i = 0; i < all.n; i++) {
		uint64_t p = gocore_word(g, all.address + 8 * i), stock = gocore_get(g, p, AT_P_N_SPANS);
		for (uint64_t k = 0; k < stock && k < STOCK; k++)
			n += gocore_get(g, gocore_word(g, p + g->at[AT_P_SPANS].offset + 8 * k), AT_SPAN_START) == 0;
	}
	for (uint64_t i = 0; free && i < n_spans; i++, free = gocore_word(g, free))
		n += gocore_get(g, free, AT_SPAN_START) == 0;
	*more = all.n + (gocore_get(g, heap, AT_HEAP_LOCK) ? STOCK / 2 : 0);
	if (!gocore_has(g, AT_P_SPANS) || !gocore_has(g, AT_HEAP_FREE_SPANS) || !gocore_has(g, AT_HEAP_LOCK))
		*more = n_spans;
	return n;
}

/* All spans in use that the heap lists, as often as it does. */
static int find_spans(struct gocore *g, uint64_t heap, uint64_t bytes, struct list *l, struct err *err)
{
	struct gocore_slice all = gocore_slice(g, heap, AT_HEAP_SPANS, SPANS_MOST);
	struct progress *work = progress_own();
	const uint8_t *p = NULL;
	uint64_t there = 0, zero = 0, i;

	for (i = 0; i < all.n; i++, there--, p += 8) {
		struct said s;
		if (progress_stops(work, i))
			return err_cancelled(err);
		if (!there) { /* the list may lie in several pieces */
			p = core_bytes(g->core, all.address + i * 8, &there);
			there /= 8;
			if (!there)
				break;
		}
		if (!load(g, load_le64(p), bytes, &s)) {
			g->state.n_lost += !s.address;
			zero += s.address && !s.start;
			continue;
		}
		struct found *to = BIG_PUSH(l->span, l->n, l->cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct found){ s.start, s.address };
	}
	uint64_t more, new = count_new(g, heap, all.n, &more);
	g->state.n_lost += all.n - i + (zero > new + more ? zero - new : 0);
	return sort(l->span, l->n, sizeof *l->span, by_start, err);
}

/* Of spans that lie over one another the one that begins first counts. */
static int read_all(struct gocore *g, uint64_t heap, struct err *err)
{
	uint64_t heap_sweep = gocore_get(g, heap, AT_HEAP_SWEEP), bytes = gocore_size_of(g, "runtime.mspan"), end = 0;
	struct progress *work = progress_own();
	struct list l = { NULL, 0, 0 };
	int code = find_spans(g, heap, bytes, &l, err);

	for (size_t i = 0; i < l.n && code == 0; i++) {
		struct said s;
		if (progress_stops(work, i))
			code = err_cancelled(err);
		else if (l.span[i].start >= end && load(g, l.span[i].address, bytes, &s)) {
			code = take(g, &s, heap_sweep, err);
			end = s.start + s.pages * GOCORE_PAGE;
		}
	}
	big_free(l.span);
	return code;
}

int gocore_read_spans(struct gocore *g, struct err *err)
{
	uint64_t heap = gocore_global(g, "runtime.mheap_");
	int code;

	if (!heap)
		return err_set(err, ERR_UNSUPPORTED, "the program has no variable runtime.mheap_: it is no Go program");
	g->marks = (unsigned)gocore_size_of(g, "runtime.spanInlineMarkBits");
	if (g->marks > 128)
		g->marks = 0;
	g->heap_start = UINT64_MAX;
	code = read_all(g, heap, err);
	g->heap_start = g->heap_end ? g->heap_start / GOCORE_ARENA * GOCORE_ARENA : 0;
	g->heap_end = (g->heap_end + GOCORE_ARENA - 1) / GOCORE_ARENA * GOCORE_ARENA;
	if (code == 0)
		code = sort(g->span, g->n_spans, sizeof *g->span, by_offset, err);
	if (code == 0)
		code = index_spans(g, err);
	return code ? code : find_arenas(g, heap, err);
}

const struct gocore_span *gocore_spans(const struct gocore *g, uint32_t *n)
{
	*n = g->n_spans;
	return g->span;
}

const struct gocore_span *gocore_span_of(const struct gocore *g, uint64_t offset)
{
	uint32_t i = offset / GOCORE_PAGE < g->n_span_at ? g->span_at[offset / GOCORE_PAGE] : g->n_spans;

	for (; i < g->n_spans && g->span[i].offset <= offset; i++)
		if (offset < gocore_offset(&g->span[i], g->span[i].end))
			return &g->span[i];
	return NULL;
}
