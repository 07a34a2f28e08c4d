/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.c - see records.h. */
#include "heap/records.h"

#include "base/mem.h"

static int reserve(void *array, uint64_t *cap, uint64_t n, size_t size, struct err *err)
{
	if (n < *cap)
		return 0;
	void **at = array;
	uint64_t cap_new = *cap ? 2 * *cap : 4096;
	void *p = big_resize(*at, *cap, cap_new, size, err);
	if (!p)
		return ERR_NOMEM;
	*at = p;
	*cap = cap_new;
	return 0;
}

static int add_extent(struct records *r, uint64_t size, uint64_t length, struct err *err)
{
	int code = reserve(&r->extents, &r->cap_extents, r->n_extents, sizeof *r->extents, err);
	bool wide = (size >= OWN_UNKNOWN && size != SIZE_UNKNOWN) ||
	    (length >= OWN_UNKNOWN && length != LENGTH_UNKNOWN);
	if (code == 0 && wide)
		code = reserve(&r->wide, &r->cap_wide, r->n_wide, sizeof *r->wide, err);
	if (code < 0)
		return code;
	struct packed_extent e = { OWN_WIDE, OWN_WIDE };
	if (wide) {
		r->wide[r->n_wide++] = (struct wide_extent){ size, length };
	} else {
		e.size = size == SIZE_UNKNOWN ? OWN_UNKNOWN : (uint32_t)size;
		e.length = length == LENGTH_UNKNOWN ? OWN_UNKNOWN : (uint32_t)length;
	}
	r->extents[r->n_extents++] = e;
	return 0;
}

int records_add(struct records *r, const struct record *record, struct err *err)
{
	int code = reserve(&r->packed, &r->cap, r->n, sizeof *r->packed, err);
	if (code == 0 && record->sized)
		code = add_extent(r, record->size, record->length, err);
	if (code < 0)
		return code;
	int64_t step = (int64_t)(record->address - r->last_address);
	struct packed_record p = {
		.step = (int32_t)step,
		.number = (uint16_t)record->number,
		.n_references = (uint8_t)record->n_references,
		.what = (uint8_t)(record->kind | (record->sized ? PACKED_SIZED : 0)),
	};
	if (p.step != step || p.number != record->number || p.n_references != record->n_references) {
		p.what |= PACKED_FULL;
		code = reserve(&r->full, &r->cap_full, r->n_full, sizeof *r->full, err);
		if (code < 0)
			return code;
		r->full[r->n_full++] =
		    (struct full_record){ record->address, record->number, record->n_references };
	}
	r->packed[r->n++] = p;
	r->last_address = record->address;
	r->all_addresses |= record->address;
	return 0;
}

static void trim(void *array, uint64_t *cap, uint64_t n, size_t size)
{
	void **at = array, *p = big_resize(*at, *cap, n, size, NULL);
	if (!p)
		return;
	*at = p;
	*cap = n;
}

void records_trim(struct records *r)
{
	trim(&r->packed, &r->cap, r->n, sizeof *r->packed);
	trim(&r->full, &r->cap_full, r->n_full, sizeof *r->full);
	trim(&r->extents, &r->cap_extents, r->n_extents, sizeof *r->extents);
	trim(&r->wide, &r->cap_wide, r->n_wide, sizeof *r->wide);
}

void records_release(struct records *r)
{
	big_free(r->packed, r->cap, sizeof *r->packed);
	big_free(r->full, r->cap_full, sizeof *r->full);
	big_free(r->extents, r->cap_extents, sizeof *r->extents);
	big_free(r->wide, r->cap_wide, sizeof *r->wide);
	*r = (struct records){ .packed = NULL };
}
