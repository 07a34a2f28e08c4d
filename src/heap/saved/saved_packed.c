/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_packed.c - references in a packed index, both ways; see saving.h.
 *
 * Only outgoing ones stand in it.  A block has those of 2^20 objects: how many each object has, then where
 * they lead, as distances from the object that has them.
 */
#include "heap/saved/saving.h"

#include "base/big.h"

#include <string.h>

enum { OBJECTS = 1 << 20, LONG = UINT8_MAX /* a degree that stands in 32 bits, behind all degrees */ };

static const char chunk[] = "references", starts[] = "reference_start";

static unsigned n_blocks(uint32_t n_objects)
{
	return (unsigned)(((uint64_t)n_objects + OBJECTS - 1) / OBJECTS);
}

static uint32_t end_of(unsigned block, uint32_t n_objects)
{
	uint64_t end = ((uint64_t)block + 1) * OBJECTS;
	return end < n_objects ? (uint32_t)end : n_objects;
}

static uint32_t distance(uint32_t from, uint32_t to)
{
	uint32_t step = to - from;
	return step << 1 ^ (uint32_t)-(step >> 31);
}

static uint32_t along(uint32_t from, uint32_t distance)
{
	return from + (distance >> 1 ^ -(distance & 1));
}

/* --- writing ------------------------------------------------------------------------------------ */

static int make_block(void *heap, unsigned block, void **bytes, uint64_t *n, struct err *err)
{
	const struct heap *h = heap;
	const struct adjacency *a = &h->out;
	uint32_t begin = block * (uint32_t)OBJECTS, end = end_of(block, h->n_objects);
	uint64_t first = adjacency_start(a, begin), count = adjacency_start(a, end) - first, n_long = 0, k = 0;
	for (uint32_t id = begin; id < end; id++)
		n_long += adjacency_start(a, id + 1) - adjacency_start(a, id) >= LONG;
	*n = end - begin + 4 * n_long + 4 * count;
	if (*n > BLOCK_MOST)
		return err_set(err, ERR_UNSUPPORTED, "neighbouring objects have too many references for a packed index");
	uint8_t *degree = *bytes = big_alloc(*n, 1, err), *longs = degree + (end - begin);
	if (!degree)
		return ERR_NOMEM;
	uint8_t *plane = longs + 4 * n_long;
	for (uint32_t id = begin; id < end; id++) {
		uint64_t from = adjacency_start(a, id), to = adjacency_start(a, id + 1);
		uint32_t many = (uint32_t)(to - from);
		degree[id - begin] = many < LONG ? (uint8_t)many : LONG;
		if (many >= LONG) {
			memcpy(longs, &many, sizeof many);
			longs += sizeof many;
		}
		for (; from < to; from++, k++) {
			uint32_t d = distance(id, a->target[from]);
			for (unsigned i = 0; i < 4; i++)
				plane[i * count + k] = (uint8_t)(d >> 8 * i);
		}
	}
	return 0;
}

int packed_references_write(const struct heap *h, struct chunks_writer *w, struct err *err)
{
	unsigned n = n_blocks(h->n_objects);
	uint64_t *start = big_alloc((uint64_t)n + 1, sizeof *start, err);
	if (!start)
		return ERR_NOMEM;
	for (unsigned b = 0; b < n; b++)
		start[b + 1] = adjacency_start(&h->out, end_of(b, h->n_objects));
	int code = chunks_add_numbers(w, starts, start, (uint64_t)n + 1, sizeof *start, true, err);
	big_free(start);
	return code ? code : chunks_add_blocks(w, chunk, n, make_block, (struct heap *)(uintptr_t)h, err);
}

/* --- reading ------------------------------------------------------------------------------------ */

struct unpacking {
	struct adjacency a;
	const uint64_t *start; /* by block: its first reference; one more for the end */
	uint32_t n;            /* objects */
};

/* Offsets of the objects from degrees: base has to be there for objects of other blocks, too, and so it is told
 * by the first object of each 65,536, which are all of one block. */
static bool take_degrees(struct unpacking *u, const uint8_t *degree, const uint8_t *longs, uint64_t room,
    uint32_t begin, uint32_t end, uint64_t at, uint64_t last)
{
	for (uint32_t id = begin; id < end; id++) {
		uint32_t many = degree[id - begin];
		if (many == LONG) {
			if (room < sizeof many)
				return false;
			memcpy(&many, longs, sizeof many);
			longs += sizeof many;
			room -= sizeof many;
		}
		if (!(id & UINT16_MAX))
			u->a.base[id >> 16] = at;
		uint64_t offset = at - u->a.base[id >> 16];
		if (offset > UINT32_MAX || many > last - at)
			return false;
		u->a.offset[id] = (uint32_t)offset;
		at += many;
	}
	return at == last;
}

static int use_block(void *unpacking, unsigned block, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct unpacking *u = unpacking;
	uint32_t begin = block * (uint32_t)OBJECTS, end = end_of(block, u->n);
	uint64_t first = u->start[block], last = u->start[block + 1], count = last - first, k = 0;
	uint64_t room = n - (end - begin) - 4 * count;
	bool holds = n >= end - begin && 4 * count <= n - (end - begin) &&
	    take_degrees(u, bytes, bytes + (end - begin), room, begin, end, first, last);
	const uint8_t *plane = bytes + (n - 4 * count);
	for (uint32_t id = begin; id < end && holds; id++) {
		uint64_t stop = id + 1 < end ? adjacency_start(&u->a, id + 1) - first : count;
		for (; k < stop; k++) {
			uint32_t d = plane[k] | (uint32_t)plane[count + k] << 8 | (uint32_t)plane[2 * count + k] << 16 |
			    (uint32_t)plane[3 * count + k] << 24;
			uint32_t target = along(id, d);
			holds &= target < u->n;
			u->a.target[first + k] = target;
		}
	}
	return holds ? 0 : err_set(err, ERR_FORMAT, "its references are damaged");
}

/* Starts ascend, and no block has more references than bytes. */
static int take_starts(struct unpacking *u, const struct chunks *c, unsigned n, struct err *err)
{
	const void *bytes;
	uint64_t length;
	if (chunks_bytes(c, starts) != ((uint64_t)n + 1) * sizeof *u->start)
		return err_set(err, ERR_FORMAT, "its references have a wrong length");
	int code = chunks_take(c, starts, &bytes, &length, err);
	if (code)
		return code;
	u->start = bytes;
	bool holds = !u->start[0];
	for (unsigned b = 0; b < n; b++)
		holds &= u->start[b] <= u->start[b + 1] && u->start[b + 1] - u->start[b] <= BLOCK_MOST;
	holds &= u->start[n] <= chunks_bytes(c, chunk) / 4;
	return holds ? 0 : err_set(err, ERR_FORMAT, "its references are damaged");
}

int packed_references(const struct chunks *c, uint32_t n_objects, struct adjacency *out, struct err *err)
{
	struct unpacking u = { .n = n_objects };
	unsigned n = n_blocks(n_objects);
	int code = take_starts(&u, c, n, err);
	if (!code) {
		u.a.n = u.start[n];
		u.a.target = big_alloc(u.a.n, sizeof *u.a.target, err);
		u.a.offset = u.a.target ? big_alloc((uint64_t)n_objects + 1, sizeof *u.a.offset, err) : NULL;
		u.a.base = u.a.offset ? big_alloc(((uint64_t)n_objects >> 16) + 1, sizeof *u.a.base, err) : NULL;
		code = u.a.base ? chunks_use_blocks(c, chunk, n, use_block, &u, err) : ERR_NOMEM;
	}
	if (!code && !(n_objects & UINT16_MAX))
		u.a.base[n_objects >> 16] = u.a.n;
	if (!code && u.a.n - u.a.base[n_objects >> 16] > UINT32_MAX)
		code = err_set(err, ERR_FORMAT, "its references are damaged");
	if (!code)
		u.a.offset[n_objects] = (uint32_t)(u.a.n - u.a.base[n_objects >> 16]);
	big_free(u.start);
	*out = u.a;
	return code;
}
