/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_adjacency.c - starts, transposition and holes, against the same done with 64-bit numbers one after another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "heap/build/build.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "memory/guarded_alloc.h"
#include "memory/spill.h"

enum { BLOCK = ADJACENCY_BLOCK, FULL = UINT16_MAX };

static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((seed >> 33) % n);
}

static bool is_wide(const struct adjacency *a, uint32_t block)
{
	return a->base[block] >> 63;
}

static void expect_starts(const struct adjacency *a, const uint32_t *degree, uint32_t n)
{
	uint64_t at = 0;
	for (uint32_t id = 0; id <= n; id++) {
		assert_int_equal(adjacency_start(a, id), at);
		if (id < n)
			assert_int_equal(adjacency_degree(a, id), degree[id]);
		at += id < n ? degree[id] : 0;
	}
	assert_int_equal(a->n, at);
}

/* From numbers of 4 bytes, and from those of one byte with the rest apart, in one entry or in two. */
static struct adjacency placed(const uint32_t *degree, uint32_t n)
{
	struct adjacency a = {.n = 0}, b = {.n = 0};
	uint8_t *low = xcalloc(n + 1, 1);
	struct more_degree *more = xcalloc(2 * (size_t)n + 1, sizeof *more);
	size_t n_more = 0;
	for (uint32_t id = 0; id < n; id++) {
		uint32_t rest = degree[id] > 255 ? degree[id] - 255 : 0, half = below(2) ? rest / 2 : 0;
		low[id] = (uint8_t)(degree[id] - rest);
		if (half)
			more[n_more++] = (struct more_degree){id, half};
		if (rest)
			more[n_more++] = (struct more_degree){id, rest - half};
	}
	assert_int_equal(adjacency_init(&a, n, NULL), 0);
	assert_int_equal(adjacency_place(&a, n, &(struct degrees){degree, 4, NULL, 0}, NULL), 0);
	expect_starts(&a, degree, n);
	assert_int_equal(adjacency_init(&b, n, NULL), 0);
	assert_int_equal(adjacency_place(&b, n, &(struct degrees){low, 1, more, n_more}, NULL), 0);
	expect_starts(&b, degree, n);
	adjacency_release(&b);
	free(more);
	free(low);
	return a;
}

static void of_every_length(void **state)
{
	enum { MOST = 3 * BLOCK + 1 };
	uint32_t degree[MOST];
	(void)state;
	for (uint32_t n = 0; n <= MOST; n++) {
		for (uint32_t id = 0; id < n; id++)
			degree[id] = below(20) ? below(4) : below(3) ? below(1000) : below(3 * FULL);
		struct adjacency a = placed(degree, n);
		adjacency_release(&a);
	}
}

/* A block is wide from 65,536 references on, wherever in it they are; the end of the last list counts as well. */
static void around_the_limit(void **state)
{
	(void)state;
	for (uint32_t n = 2 * BLOCK; n < 2 * BLOCK + 2; n++) {
		for (uint32_t id = 0; id < n; id++) {
			uint32_t degree[2 * BLOCK + 1] = {0};
			degree[id] = FULL;
			struct adjacency a = placed(degree, n);
			assert_false(is_wide(&a, id / BLOCK));
			adjacency_release(&a);
			degree[id / BLOCK * BLOCK] += 1;
			a = placed(degree, n);
			for (uint32_t block = 0; block <= n / BLOCK; block++)
				assert_int_equal(is_wide(&a, block), block == id / BLOCK);
			adjacency_release(&a);
		}
	}
}

/* More references than 32 bits number: nobody has to hold them for that. */
static void beyond_32_bits(void **state)
{
	enum { N = 5 * BLOCK + 3 };
	uint32_t degree[N];
	(void)state;
	for (uint32_t id = 0; id < N; id++)
		degree[id] = id % 7 ? below(5) : UINT32_MAX - below(9);
	degree[3 * BLOCK] = 1;
	for (uint32_t id = 3 * BLOCK; id < 4 * BLOCK; id++) /* a block that is not wide, after 2^32 */
		degree[id] = 2;
	struct adjacency a = placed(degree, N);
	assert_true(a.base[3] > UINT32_MAX && !is_wide(&a, 3) && is_wide(&a, 2));
	adjacency_release(&a);
}

/* --- transposition ------------------------------------------------------------------------------- */

struct graph {
	uint32_t n, *degree, *target;
	uint64_t n_targets;
};

/* Some objects are referenced about as often as 16 bits can count, once or twice; no other one is so often. */
static struct graph random_graph(uint32_t n)
{
	static const uint32_t often[] = {FULL - 1, FULL, FULL + 1, FULL + 2, 2 * FULL + 1, 2 * FULL + 2, 2 * FULL + 3};
	const uint32_t hot[] = {5 * BLOCK, BLOCK - 1, BLOCK, 0, n / 2, n / 2 + 1, n - 1};
	struct graph g = {.n = n, .degree = xcalloc(n, sizeof *g.degree), .n_targets = 2 * (uint64_t)n};
	for (unsigned i = 0; i < sizeof hot / sizeof *hot; i++)
		g.n_targets += often[i];
	g.target = xcalloc(g.n_targets, sizeof *g.target);
	uint64_t k = 0;
	for (unsigned i = 0; i < sizeof hot / sizeof *hot; i++)
		for (uint32_t times = often[i]; times; times--)
			g.target[k++] = hot[i];
	while (k < g.n_targets) {
		uint32_t to = below(n), i = 0;
		while (i < sizeof hot / sizeof *hot && hot[i] != to)
			i++;
		if (i == sizeof hot / sizeof *hot)
			g.target[k++] = to;
	}
	for (; k > 1; k--) {
		uint32_t other = below((uint32_t)k), kept = g.target[k - 1];
		g.target[k - 1] = g.target[other];
		g.target[other] = kept;
	}
	g.degree[n / 3] = 3 * FULL;
	for (k = 3 * FULL; k < g.n_targets; k++)
		g.degree[below(n)]++;
	return g;
}

static struct adjacency outgoing(const struct graph *g)
{
	struct adjacency out = placed(g->degree, g->n);
	assert_int_equal(out.n, g->n_targets);
	out.target = big_alloc(out.n, sizeof *out.target, NULL);
	memcpy(out.target, g->target, out.n * sizeof *out.target);
	return out;
}

static void expect_transposed(const struct graph *g, const struct adjacency *in)
{
	uint32_t *degree = xcalloc(g->n, sizeof *degree);
	uint64_t *next = xcalloc(g->n, sizeof *next), k = 0;
	for (uint64_t i = 0; i < g->n_targets; i++)
		degree[g->target[i]]++;
	expect_starts(in, degree, g->n);
	for (uint32_t id = 1; id < g->n; id++)
		next[id] = next[id - 1] + degree[id - 1];
	for (uint32_t id = 0; id < g->n; id++)
		for (uint32_t i = 0; i < g->degree[id]; i++)
			assert_int_equal(in->target[next[g->target[k++]]++], id);
	free(next);
	free(degree);
}

static void transposed(void **state)
{
	struct graph g = random_graph(300000);
	(void)state;
	for (unsigned threads = 1; threads <= 3; threads++) {
		parallel_set_threads(threads);
		struct adjacency out = outgoing(&g), in = {.n = 0};
		unsigned n_wide = 0;
		assert_int_equal(adjacency_transpose(&out, &in, g.n, NULL, NULL), 0);
		expect_transposed(&g, &in);
		for (uint32_t block = 0; block <= g.n / BLOCK; block++)
			n_wide += is_wide(&in, block);
		assert_true(n_wide > 3);
		adjacency_release(&in);
		adjacency_release(&out);
	}
	free(g.target);
	free(g.degree);
}

static void transposed_in_a_file(void **state)
{
	(void)state;
	if (CAIRN_EXACT) /* then all blocks are malloc's, and none can move */
		skip();
	struct graph g = random_graph(300000);
	parallel_set_threads(2);
	big_set_limit(big_in_use() + (1 << 21), "--mem");
	spill_allow(true);
	struct adjacency out = outgoing(&g), in = {.n = 0};
	assert_int_equal(adjacency_transpose(&out, &in, g.n, NULL, NULL), 0);
	assert_int_equal(big_owner(in.offset), BIG_SPILLED);
	assert_int_equal(big_owner(in.target), BIG_SPILLED);
	expect_transposed(&g, &in);
	adjacency_release(&in);
	adjacency_release(&out);
	spill_allow(false);
	big_set_limit(0, NULL);
	free(g.target);
	free(g.degree);
}

static void of_nothing(void **state)
{
	struct adjacency out = placed(NULL, 0), in = {.n = 0};
	(void)state;
	out.target = big_alloc(0, sizeof *out.target, NULL);
	assert_int_equal(adjacency_transpose(&out, &in, 0, NULL, NULL), 0);
	assert_int_equal(adjacency_start(&in, 0), 0);
	adjacency_compact(&out, 0);
	assert_int_equal(out.n, 0);
	adjacency_release(&in);
	adjacency_release(&out);
}

/* --- holes --------------------------------------------------------------------------------------- */

/* One target in `rare` is a hole. */
static void without_holes(uint32_t n, uint32_t rare)
{
	uint32_t *degree = xcalloc(n, sizeof *degree), *left = xcalloc(n, sizeof *left);
	for (uint32_t id = 0; id < n; id++)
		degree[id] = below(500) ? below(5) : below(5) ? below(2000) : below(2 * FULL);
	struct adjacency a = placed(degree, n);
	a.target = big_alloc(a.n, sizeof *a.target, NULL);
	uint32_t *kept = xcalloc(a.n + 1, sizeof *kept);
	uint64_t n_kept = 0, k = 0;
	for (uint32_t id = 0; id < n; id++) {
		for (uint32_t i = 0; i < degree[id]; i++, k++) {
			a.target[k] = below(rare) ? below(n) : HEAP_NONE;
			if (a.target[k] == HEAP_NONE)
				continue;
			kept[n_kept++] = a.target[k];
			left[id]++;
		}
	}
	adjacency_compact(&a, n);
	expect_starts(&a, left, n);
	assert_memory_equal(a.target, kept, n_kept * sizeof *kept);
	adjacency_release(&a);
	free(kept);
	free(left);
	free(degree);
}

static void compacted(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 20 * BLOCK; n += 1 + below(3 * BLOCK))
		for (uint32_t rare = 1; rare < 100000; rare *= 10)
			without_holes(n, rare);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_every_length),
	    cmocka_unit_test(around_the_limit),
	    cmocka_unit_test(beyond_32_bits),
	    cmocka_unit_test(transposed),
	    cmocka_unit_test(transposed_in_a_file),
	    cmocka_unit_test(of_nothing),
	    cmocka_unit_test(compacted),
	};
	return cmocka_run_group_tests_name("adjacency", tests, NULL, NULL);
}
