/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_packed.c - references in a packed index, both ways; see saving.h.
 *
 * Only outgoing ones stand in it.  A block has those of 2^18 objects: how many each object has, then where
 * they lead.  Objects of one class with as many references stand together, first the first references of
 * all of them, then the second ones: such a column is of one field, mostly.  Its references are stored by how far
 * they lead from the object that has them, or from where that of the object before leads, whichever is
 * nearer.  Lists of many references are stored as differences from one to the next.
 */
#include "heap/index_file/saving.h"

#include "algorithms/chunks.h"
#include "algorithms/zstd_blocks.h"
#include "base/progress.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <stdint.h>
#include <string.h>

enum {
	OBJECTS = 1 << 18,
	LONG = UINT8_MAX, /* a degree that stands in 32 bits, behind all degrees */
	MANY = 16,        /* references that are no columns */
};
enum from { FROM_OBJECT, FROM_BEFORE, FROMS };

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

/* --- the objects of a block in the order of its columns ------------------------------------------ */

struct order {
	const struct heap *heap;
	const uint8_t *degree; /* of each object of the block */
	uint32_t begin, n;     /* objects */
	uint32_t *object;      /* less begin: by class, those of a class by degree */
};

static unsigned column_degree(const struct order *o, uint32_t object)
{
	return o->degree[object] < MANY ? o->degree[object] : MANY;
}

static void sum_counts(uint32_t *count, uint32_t n)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t here = count[i];
		count[i] = sum;
		sum += here;
	}
}

/* Counted by degree, then by class; 0, ERR_NOMEM, ERR_CANCELLED. */
static int order_init(struct order *o, struct err *err)
{
	const uint32_t *class = o->heap->class_of + o->begin;
	uint32_t by_degree[MANY + 1] = { 0 }, n_classes = o->heap->n_classes;
	uint32_t *count = big_alloc(n_classes, sizeof *count, err);
	uint32_t *half = count ? big_alloc(o->n, sizeof *half, err) : NULL;
	o->object = half ? big_alloc(o->n, sizeof *o->object, err) : NULL;
	for (uint32_t i = 0; o->object && i < o->n && !progress_own_stops(i); i++) {
		by_degree[column_degree(o, i)]++;
		count[class[i]]++;
	}
	sum_counts(by_degree, MANY + 1);
	if (o->object)
		sum_counts(count, n_classes);
	for (uint32_t i = 0; o->object && i < o->n && !progress_own_stops(i); i++)
		half[by_degree[column_degree(o, i)]++] = i;
	for (uint32_t i = 0; o->object && i < o->n && !progress_own_stops(i); i++)
		o->object[count[class[half[i]]]++] = half[i];
	big_free(half);
	big_free(count);
	return o->object ? progress_check(progress_own(), err) : ERR_NOMEM;
}

/* Those from position `from` on that are of one class and degree: where they end. */
static uint32_t group_end(const struct order *o, uint32_t from)
{
	const uint32_t *class = o->heap->class_of + o->begin;
	uint32_t first = o->object[from], to = from + 1;
	while (to < o->n && class[o->object[to]] == class[first] &&
	    column_degree(o, o->object[to]) == column_degree(o, first))
		to++;
	return to;
}

/* --- writing ------------------------------------------------------------------------------------ */

struct packing {
	struct order order;
	const struct adjacency *a;
	uint32_t *distance; /* of each reference, in the order of columns */
	uint8_t *from;      /* of each column */
	uint64_t n_distances, n_columns;
};

/* About how many bits it takes, in quarters. */
static unsigned cost(uint32_t distance)
{
	return distance ? 4 * (33 - (unsigned)__builtin_clz(distance)) : 1;
}

/* Returns what the column costs. */
static uint64_t fill_column(struct packing *p, uint32_t from, uint32_t to, unsigned slot, enum from how)
{
	uint64_t costs = 0;
	uint32_t *distances = p->distance + p->n_distances, before = p->order.begin + p->order.object[from];
	for (uint32_t i = from; i < to && !progress_own_stops(i - from); i++) {
		uint32_t id = p->order.begin + p->order.object[i];
		uint32_t target = p->a->target[adjacency_start(p->a, id) + slot];
		distances[i - from] = distance(how == FROM_OBJECT ? id : before, target);
		costs += cost(distances[i - from]);
		before = target;
	}
	return costs;
}

static void pack_column(struct packing *p, uint32_t from, uint32_t to, unsigned slot)
{
	uint64_t by_object = fill_column(p, from, to, slot, FROM_OBJECT);
	enum from how = fill_column(p, from, to, slot, FROM_BEFORE) < by_object ? FROM_BEFORE : FROM_OBJECT;
	if (how == FROM_OBJECT)
		fill_column(p, from, to, slot, how);
	p->from[p->n_columns++] = (uint8_t)how;
	p->n_distances += to - from;
}

static void pack_lists(struct packing *p, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t id = p->order.begin + p->order.object[i], before = id;
		uint64_t end = adjacency_start(p->a, id + 1);
		for (uint64_t k = adjacency_start(p->a, id); k < end && !progress_own_stops(k); k++) {
			p->distance[p->n_distances++] = distance(before, p->a->target[k]);
			before = p->a->target[k];
		}
	}
}

static void pack_columns(struct packing *p)
{
	for (uint32_t from = 0, to; from < p->order.n; from = to) {
		unsigned degree = column_degree(&p->order, p->order.object[from]);
		to = group_end(&p->order, from);
		if (degree == MANY)
			pack_lists(p, from, to);
		else
			for (unsigned slot = 0; slot < degree; slot++)
				pack_column(p, from, to, slot);
	}
}

/* What stands in a block, one behind the other. */
struct layout {
	uint64_t degrees, longs, columns, distances; /* bytes of each */
};

static uint8_t *lay_out(const struct packing *p, const struct layout *l, const uint32_t *longs, uint64_t *n,
    struct err *err)
{
	*n = l->degrees + l->longs + l->columns + l->distances;
	uint8_t *bytes = big_alloc(*n, 1, err), *to = bytes;
	if (!bytes)
		return NULL;
	memcpy(to, p->order.degree, l->degrees);
	memcpy(to += l->degrees, longs, l->longs);
	memcpy(to += l->longs, p->from, l->columns);
	to += l->columns;
	for (uint64_t i = 0; i < p->n_distances && !progress_own_stops(i); i++)
		for (unsigned k = 0; k < 4; k++)
			to[k * p->n_distances + i] = (uint8_t)(p->distance[i] >> 8 * k);
	return bytes;
}

static int make_block(void *heap, unsigned block, void **bytes, uint64_t *n, struct err *err)
{
	const struct heap *h = heap;
	struct packing p = { .a = &h->out };
	uint32_t begin = block * (uint32_t)OBJECTS, end = end_of(block, h->n_objects), n_longs = 0;
	uint64_t count = adjacency_start(p.a, end) - adjacency_start(p.a, begin);
	if (5 * count + 5 * (uint64_t)OBJECTS > BLOCK_MOST)
		return err_set(err, ERR_UNSUPPORTED, "too many references of neighbouring objects for a packed "
		    "index");
	uint8_t *degree = big_alloc(end - begin, 1, err);
	uint32_t *longs = degree ? big_alloc(end - begin, sizeof *longs, err) : NULL;
	p.distance = longs ? big_alloc(count, sizeof *p.distance, err) : NULL;
	p.from = p.distance ? big_alloc(count, 1, err) : NULL; /* no column is empty */
	int code = p.from ? 0 : ERR_NOMEM;
	for (uint32_t id = begin; id < end && !code && !progress_own_stops(id); id++) {
		uint64_t many = adjacency_degree(p.a, id);
		degree[id - begin] = many < LONG ? (uint8_t)many : LONG;
		if (many >= LONG)
			longs[n_longs++] = (uint32_t)many;
	}
	p.order = (struct order){ .heap = h, .degree = degree, .begin = begin, .n = end - begin };
	if (!code)
		code = order_init(&p.order, err);
	if (!code) {
		pack_columns(&p);
		struct layout l = { .degrees = end - begin, .longs = n_longs * sizeof *longs, .columns = p.n_columns,
			.distances = p.n_distances * sizeof *p.distance };
		*bytes = lay_out(&p, &l, longs, n, err);
		code = *bytes ? progress_check(progress_own(), err) : ERR_NOMEM;
	}
	big_free(p.order.object);
	big_free(p.from);
	big_free(p.distance);
	big_free(longs);
	big_free(degree);
	return code;
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
	const struct heap *heap; /* its classes are there */
	const uint64_t *start;   /* by block: its first reference; one more for the end */
	struct adjacency a;
};

/* What of a block is left to be taken, all bounds looked at. */
struct taking {
	struct unpacking *u;
	struct order order;
	const uint8_t *longs, *longs_end; /* then the columns */
	const uint8_t *column, *columns_end;
	const uint8_t *plane;             /* then distances, their bytes apart: so many in each plane */
	uint64_t n_distances, taken;
};

/* Offsets of the block's objects from their degrees.  Bases are of 65,536 objects, which are all of one block. */
static bool take_degrees(struct taking *t, uint64_t at, uint64_t last)
{
	struct adjacency *a = &t->u->a;
	for (uint32_t i = 0; i < t->order.n; i++) {
		uint32_t id = t->order.begin + i, many = t->order.degree[i];
		if (progress_own_stops(i))
			return false;
		if (many == LONG) {
			if ((uint64_t)(t->longs_end - t->longs) < sizeof many)
				return false;
			memcpy(&many, t->longs, sizeof many);
			t->longs += sizeof many;
			if (many < LONG)
				return false;
		}
		if (!(id & UINT16_MAX))
			a->base[id >> 16] = at;
		uint64_t offset = at - a->base[id >> 16];
		if (offset > UINT32_MAX || many > last - at)
			return false;
		a->offset[id] = (uint32_t)offset;
		at += many;
	}
	t->column = t->longs;
	return at == last;
}

static inline uint32_t distance_at(const struct taking *t, uint64_t i)
{
	const uint8_t *p = t->plane + i;
	uint64_t n = t->n_distances;
	return p[0] | (uint32_t)p[n] << 8 | (uint32_t)p[2 * n] << 16 | (uint32_t)p[3 * n] << 24;
}

/* All columns of some objects at once: column by column would jump through the targets. */
static bool take_columns(struct taking *t, uint32_t from, uint32_t to, unsigned degree)
{
	uint32_t before[MANY], n = to - from, n_objects = t->u->heap->n_objects;
	const uint8_t *how = t->column;
	if ((uint64_t)(t->columns_end - how) < degree || (uint64_t)degree * n > t->n_distances - t->taken)
		return false;
	for (unsigned slot = 0; slot < degree; slot++) {
		before[slot] = t->order.begin + t->order.object[from];
		if (how[slot] >= FROMS)
			return false;
	}
	bool hold = true;
	for (uint32_t i = 0; i < n && !progress_own_stops(i); i++) {
		uint32_t id = t->order.begin + t->order.object[from + i];
		uint32_t *target = t->u->a.target + adjacency_start(&t->u->a, id);
		for (unsigned slot = 0; slot < degree; slot++) {
			uint32_t d = distance_at(t, t->taken + (uint64_t)slot * n + i);
			before[slot] = target[slot] = along(how[slot] == FROM_OBJECT ? id : before[slot], d);
			hold &= before[slot] < n_objects;
		}
	}
	t->column += degree;
	t->taken += (uint64_t)degree * n;
	return hold;
}

/* Where the references of an object of the block end: the offset of the next one may be another block's. */
static uint64_t list_end(const struct taking *t, uint32_t id, uint64_t last)
{
	return id + 1 - t->order.begin < t->order.n ? adjacency_start(&t->u->a, id + 1) : last;
}

static bool take_lists(struct taking *t, uint32_t from, uint32_t to, uint64_t last)
{
	bool hold = true;
	for (uint32_t i = from; i < to; i++) {
		uint32_t id = t->order.begin + t->order.object[i], before = id;
		uint64_t k = adjacency_start(&t->u->a, id), end = list_end(t, id, last);
		if (end - k > t->n_distances - t->taken)
			return false;
		for (; k < end && !progress_own_stops(k); k++) {
			before = t->u->a.target[k] = along(before, distance_at(t, t->taken++));
			hold &= before < t->u->heap->n_objects;
		}
	}
	return hold;
}

static bool take_targets(struct taking *t, uint64_t last)
{
	for (uint32_t from = 0, to; from < t->order.n; from = to) {
		unsigned degree = column_degree(&t->order, t->order.object[from]);
		to = group_end(&t->order, from);
		if (degree == MANY ? !take_lists(t, from, to, last) : !take_columns(t, from, to, degree))
			return false;
	}
	return t->taken == t->n_distances && t->column == t->columns_end;
}

static int use_block(void *unpacking, unsigned block, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct unpacking *u = unpacking;
	uint32_t begin = block * (uint32_t)OBJECTS, many = end_of(block, u->heap->n_objects) - begin;
	uint64_t first = u->start[block], last = u->start[block + 1], distances = 4 * (last - first);
	bool holds = n >= many && distances <= n - many;
	struct taking t = { .u = u, .order = { .heap = u->heap, .degree = bytes, .begin = begin, .n = many } };
	if (holds) {
		t.longs = bytes + many;
		t.longs_end = t.columns_end = t.plane = bytes + (n - distances);
		t.n_distances = last - first;
		holds = take_degrees(&t, first, last);
	}
	int code = holds ? order_init(&t.order, err) : 0;
	if (holds && !code)
		holds = take_targets(&t, last);
	big_free(t.order.object);
	if (!code)
		code = progress_check(progress_own(), err); /* a loop may have been left early */
	return code || holds ? code : err_set(err, ERR_FORMAT, "its references are damaged");
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

int packed_references(const struct heap *h, struct adjacency *out, struct err *err)
{
	const struct chunks *c = h->saved->chunks;
	struct unpacking u = { .heap = h };
	uint32_t n = h->n_objects;
	int code = take_starts(&u, c, n_blocks(n), err);
	if (!code) {
		u.a.n = u.start[n_blocks(n)];
		u.a.target = big_alloc(u.a.n, sizeof *u.a.target, err);
		u.a.offset = u.a.target ? big_alloc((uint64_t)n + 1, sizeof *u.a.offset, err) : NULL;
		u.a.base = u.a.offset ? big_alloc(((uint64_t)n >> 16) + 1, sizeof *u.a.base, err) : NULL;
		code = u.a.base ? chunks_use_blocks(c, chunk, n_blocks(n), use_block, &u, err) : ERR_NOMEM;
	}
	if (!code && !(n & UINT16_MAX))
		u.a.base[n >> 16] = u.a.n;
	if (!code && u.a.n - u.a.base[n >> 16] > UINT32_MAX)
		code = err_set(err, ERR_FORMAT, "its references are damaged");
	if (!code)
		u.a.offset[n] = (uint32_t)(u.a.n - u.a.base[n >> 16]);
	big_free(u.start);
	*out = u.a;
	return code;
}
