/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * core_space.c - which bytes lie at an address of a core.
 *
 * Extents are sorted by address.  A region is a GB of addresses in which there are some; for each MB of it the index
 * has the first extent that ends behind its beginning, so that a few steps lead to the right one.
 */
#include "dump/core/core_read.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "memory/big.h"

#include <string.h>

enum { REGION_BITS = 30, PART_BITS = 20, REGION_PARTS = 1 << (REGION_BITS - PART_BITS) };

/* --- extents ----------------------------------------------------------------------------------------- */

int core_add_extent(struct core_extents *to, uint64_t begin, uint64_t end, const uint8_t *bytes, struct err *err)
{
	if (begin >= ADDRESSES || begin == end)
		return 0;
	struct core_extent *e = BIG_PUSH(to->list, to->n, to->cap, err);
	if (!e)
		return ERR_NOMEM;
	*e = (struct core_extent){ begin, end < ADDRESSES ? end : ADDRESSES, bytes };
	return 0;
}

static int by_begin(const void *x, const void *y)
{
	const struct core_extent *a = x, *b = y;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->end > b->end) - (a->end < b->end);
}

int core_settle_extents(struct core_extents *e, struct err *err)
{
	size_t kept = 0;
	int code = sort(e->list, e->n, sizeof *e->list, by_begin, err);

	for (size_t i = 0; code == 0 && i < e->n; i++) {
		struct core_extent here = e->list[i], *last = kept ? &e->list[kept - 1] : NULL;
		if (last && here.begin < last->end) {
			if (here.end <= last->end)
				continue;
			here.bytes += last->end - here.begin;
			here.begin = last->end;
		}
		if (last && here.begin == last->end && last->bytes + (last->end - last->begin) == here.bytes)
			last->end = here.end;
		else
			e->list[kept++] = here;
	}
	e->n = code == 0 ? kept : e->n;
	return code;
}

/* --- the index ----------------------------------------------------------------------------------------- */

static uint32_t count_regions(const struct core_extents *e)
{
	uint64_t last = UINT64_MAX;
	uint32_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		uint64_t from = e->list[i].begin >> REGION_BITS, to = (e->list[i].end - 1) >> REGION_BITS;
		n += (uint32_t)(to - from + (from != last));
		last = to;
	}
	return n;
}

/* Parts behind which nothing ends are those in front of a later extent: they get it, which begins behind them. */
static void fill(struct core *c)
{
	const struct core_extents *e = &c->all;
	uint64_t region = UINT64_MAX, part = 0;
	uint32_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		uint64_t from = e->list[i].begin >> PART_BITS, to = (e->list[i].end - 1) >> PART_BITS;
		if (i && part > from) /* the part has an earlier one */
			from = part;
		for (; from <= to; from++) {
			if (from >> (REGION_BITS - PART_BITS) != region) {
				region = from >> (REGION_BITS - PART_BITS);
				c->top[region] = ++n;
				for (unsigned k = 0; k < REGION_PARTS; k++)
					c->first[(uint64_t)(n - 1) * REGION_PARTS + k] = UINT32_MAX;
			}
			c->first[(uint64_t)(n - 1) * REGION_PARTS + from % REGION_PARTS] = (uint32_t)i;
		}
		part = from;
	}
}

int core_index(struct core *c, struct err *err)
{
	uint64_t n = count_regions(&c->all);

	big_free(c->top);
	big_free(c->first);
	c->top = big_alloc(ADDRESSES >> REGION_BITS, sizeof *c->top, err);
	c->first = c->top ? big_alloc(n, REGION_PARTS * sizeof *c->first, err) : NULL;
	if (!c->first)
		return ERR_NOMEM;
	fill(c);
	return 0;
}

static const struct core_extent *extent_at(const struct core *c, uint64_t address)
{
	uint32_t region = address < ADDRESSES ? c->top[address >> REGION_BITS] : 0;
	uint32_t i = region ? c->first[(uint64_t)(region - 1) * REGION_PARTS + (address >> PART_BITS) % REGION_PARTS] :
	    UINT32_MAX;

	for (; i < c->all.n && c->all.list[i].begin <= address; i++)
		if (address < c->all.list[i].end)
			return &c->all.list[i];
	return NULL;
}

/* --- bytes ----------------------------------------------------------------------------------------------- */

const uint8_t *core_bytes(const struct core *c, uint64_t address, uint64_t *n)
{
	const struct core_extent *e = extent_at(c, address);

	*n = e ? e->end - address : 0;
	return e ? e->bytes + (address - e->begin) : NULL;
}

const uint8_t *core_range(const struct core *c, uint64_t address, uint64_t n)
{
	uint64_t there;
	const uint8_t *p = core_bytes(c, address, &there);
	return p && there >= n ? p : NULL;
}

bool core_copy(const struct core *c, uint64_t address, void *to, size_t n)
{
	uint8_t *at = to;

	while (n) {
		uint64_t there;
		const uint8_t *p = core_bytes(c, address, &there);
		if (!p)
			return false;
		size_t now = there < n ? (size_t)there : n;
		memcpy(at, p, now);
		at += now;
		address += now;
		n -= now;
	}
	return true;
}

uint64_t core_number(const struct core *c, const uint8_t *p, unsigned size)
{
	return elf_number(p, size, c->big_endian);
}

bool core_load(const struct core *c, uint64_t address, unsigned size, uint64_t *out)
{
	uint8_t bytes[8];
	uint64_t there;
	const uint8_t *p = core_bytes(c, address, &there);

	*out = 0;
	if (size > sizeof bytes || !p)
		return false;
	if (there < size) {
		if (!core_copy(c, address, bytes, size))
			return false;
		p = bytes;
	}
	*out = core_number(c, p, size);
	return true;
}

uint64_t core_next(const struct core *c, uint64_t address)
{
	size_t i;

	if (extent_at(c, address))
		return address;
	BISECT(i, c->all.n, c->all.list[i].begin <= address);
	return i < c->all.n ? c->all.list[i].begin : UINT64_MAX;
}
