/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.c - the room that packed records need; see records.h. */
#include "heap/build/records.h"

#include "memory/big.h"

/* Room for element n and at least a few behind it. */
static int reserve(void *array, uint64_t *cap, uint64_t n, size_t size, struct err *err)
{
	if (n < *cap)
		return 0;
	void **at = array;
	uint64_t cap_new = 2 * *cap > n ? 2 * *cap : n + 256;
	void *p = big_resize(*at, cap_new, size, err);
	if (!p)
		return ERR_NOMEM;
	*at = p;
	*cap = cap_new;
	return 0;
}

void records_expect(struct records *r, uint64_t n)
{
	r->packed = big_alloc(n, sizeof *r->packed, NULL);
	r->cap = r->packed ? n : 0;
	r->extents = r->packed ? big_alloc(n / 2, sizeof *r->extents, NULL) : NULL;
	r->cap_extents = r->extents ? n / 2 : 0;
}

int records_grow(struct records *r, struct err *err)
{
	int code = reserve(&r->packed, &r->cap, r->n, sizeof *r->packed, err);
	uint64_t last = r->n_extents + LONGEST_EXTENT - 1;
	return code < 0 ? code : reserve(&r->extents, &r->cap_extents, last, sizeof *r->extents, err);
}

int records_add_full(struct records *r, uint64_t address, uint32_t number, uint32_t n_references, struct err *err)
{
	int code = reserve(&r->full, &r->cap_full, r->n_full, sizeof *r->full, err);
	if (code == 0)
		r->full[r->n_full++] = (struct full_record){ address, number, n_references };
	return code;
}

void records_trim(struct records *r)
{
	r->packed = big_fit(r->packed, r->cap = r->n, sizeof *r->packed);
	r->full = big_fit(r->full, r->cap_full = r->n_full, sizeof *r->full);
	r->extents = big_fit(r->extents, r->cap_extents = r->n_extents, sizeof *r->extents);
	void *all[] = { r->packed, r->full, r->extents };
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		big_hint(all[i], BIG_FORWARD);
		big_settle(all[i]);
	}
}

void records_release(struct records *r)
{
	big_free(r->packed);
	big_free(r->full);
	big_free(r->extents);
	*r = (struct records){ .packed = NULL };
}

uint64_t records_ascent(const struct records_walk *w, uint64_t most, uint64_t *first, uint64_t *last)
{
	const struct records *r = w->r;
	const struct packed_record *p = r->packed + w->at;
	uint64_t left = r->n - w->at, n = 1;
	if (!left)
		return 0;
	uint64_t address = p->what & PACKED_FULL ? r->full[w->full].address : w->address + (uint64_t)(int64_t)p->step;
	*first = address;
	for (most = most < left ? most : left; n < most && p[n].step > 0; n++)
		address += (uint32_t)p[n].step;
	*last = address;
	return n;
}
