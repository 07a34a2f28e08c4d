/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_packed.c - references in a packed index, both ways; see saving.h.
 *
 * Only outgoing references are in it: how many each object has, and for each its distance, how far it leads from
 * the object that has it.  Objects of one class refer to neighbours in the same way, so distances repeat, and zstd
 * finds that.
 */
#include "heap/index_file/saving.h"

#include "algorithms/chunks.h"
#include "algorithms/parallel.h"
#include "heap/heap.h"
#include "memory/big.h"

enum { TASK_SHIFT = 16 }; /* objects of a task */

static const char degrees[] = "out_degree", distances[] = "out_distance";

/* The sign is the lowest bit. */
static uint32_t distance(uint32_t from, uint32_t to)
{
	uint32_t step = to - from;
	return step << 1 ^ (uint32_t)-(step >> 31);
}

static uint32_t along(uint32_t from, uint32_t distance)
{
	return from + (distance >> 1 ^ -(distance & 1));
}

int packed_references_write(const struct heap *h, struct chunks_writer *w, struct err *err)
{
	const struct adjacency *a = &h->out;
	uint32_t *degree = big_alloc(h->n_objects, sizeof *degree, err);
	uint32_t *far = degree ? big_alloc(a->n, sizeof *far, err) : NULL;
	uint64_t k = 0;
	for (uint32_t id = 0; far && id < h->n_objects && !progress_own_stops(id); id++) {
		degree[id] = (uint32_t)adjacency_degree(a, id);
		for (uint32_t i = 0; i < degree[id] && k < a->n && !progress_own_stops(i + 1); i++, k++)
			far[k] = distance(id, a->target[k]);
	}
	int code = far ? progress_check(progress_own(), err) : ERR_NOMEM;
	if (!code)
		code = chunks_add_numbers(w, degrees, degree, h->n_objects, sizeof *degree, false, err);
	if (!code)
		code = chunks_add_numbers(w, distances, far, k, sizeof *far, false, err);
	big_free(far);
	big_free(degree);
	return code;
}

struct unpacking {
	const uint32_t *degree;
	struct adjacency *a; /* targets are distances at first */
	uint32_t n;          /* objects */
};

static int damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, "its references are damaged");
}

static int turn_distances(void *unpacking, unsigned task, struct err *err)
{
	const struct unpacking *u = unpacking;
	struct adjacency *a = u->a;
	uint64_t begin = (uint64_t)task << TASK_SHIFT, end = begin + (1 << TASK_SHIFT);
	uint64_t at = begin < u->n ? adjacency_start(a, (uint32_t)begin) : a->n;
	for (uint64_t id = begin; id < end && id < u->n; id++) {
		for (uint64_t stop = at + u->degree[id]; at < stop; at++) {
			if (progress_own_stops(at))
				return err_cancelled(err);
			a->target[at] = along((uint32_t)id, a->target[at]);
			if (a->target[at] >= u->n)
				return damaged(err);
		}
	}
	return 0;
}

/* Numbers of a packed chunk are memory of our own. */
static int take(const struct chunks *c, const char *name, uint32_t **to, uint64_t *bytes, struct err *err)
{
	const void *numbers;
	int code = chunks_take(c, name, &numbers, bytes, err);
	*to = (uint32_t *)(uintptr_t)numbers;
	return code ? code : *bytes % sizeof **to ? damaged(err) : 0;
}

int packed_references(const struct heap *h, struct adjacency *out, struct err *err)
{
	const struct chunks *c = h->saved->chunks;
	uint32_t *degree = NULL, n = h->n_objects;
	uint64_t bytes = chunks_bytes(c, degrees);
	*out = (struct adjacency){.n = 0};
	int code = bytes == n * sizeof *degree ? take(c, degrees, &degree, &bytes, err) : damaged(err);
	if (!code)
		code = take(c, distances, &out->target, &bytes, err);
	if (!code)
		code = adjacency_init(out, n, err);
	if (!code)
		code = adjacency_place(out, n, &(struct degrees){ degree, sizeof *degree, NULL, 0 }, err);
	if (!code && out->n != bytes / sizeof *out->target)
		code = damaged(err);
	if (!code)
		code = parallel_run(0, (n >> TASK_SHIFT) + 1, turn_distances,
		    &(struct unpacking){ .degree = degree, .a = out, .n = n }, err);
	big_free(degree);
	return code;
}
