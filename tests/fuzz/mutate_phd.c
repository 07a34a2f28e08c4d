/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mutate_phd.c - where the records and fields of a PHD lie. */
#include "mutate.h"

#include <string.h>

struct at {
	struct layout *to;
	const uint8_t *data;
	size_t p, end;
	bool ok;
	uint32_t version, flags;
	unsigned word; /* bytes of an address */
};

static uint64_t number(struct at *a, unsigned bytes, enum meaning meaning)
{
	if (bytes > a->end - a->p) {
		a->ok = false;
		return 0;
	}
	struct field f = {a->p, a->p + bytes, BIG_ENDIAN_NUMBER, meaning, 0, 0};
	layout_field(a->to, f.begin, f.end, f.encoding, f.meaning);
	a->p += bytes;
	return field_number(a->data, &f);
}

static void string(struct at *a)
{
	uint64_t n = number(a, 2, MEANS_LENGTH);
	if (n > a->end - a->p) {
		a->ok = false;
		n = a->end - a->p;
	}
	layout_counts(a->to, a->p, a->p + (size_t)n);
	a->p += (size_t)n;
}

static void references(struct at *a, uint64_t n, unsigned code)
{
	for (; n > 0 && n < 1u << 16 && a->ok; n--)
		number(a, 1u << code, MEANS_ID);
}

/* All records of some VMs have a hash of two bytes, others one of four where a flag says so. */
static void hash(struct at *a, bool flagged)
{
	bool all = (a->flags & 6) == 6;
	if (all || flagged)
		number(a, all ? 2 : 4, MEANS_OTHER);
}

static void large(struct at *a, unsigned tag)
{
	unsigned flags = (unsigned)number(a, 1, MEANS_TAG), code = flags >> 4 & 3;
	unsigned wide = flags & 0x10 ? a->word : 1;
	if (tag == 7) {
		number(a, wide, MEANS_ID);
		number(a, wide, MEANS_COUNT);
		hash(a, flags & 2);
		if (a->version >= 6)
			number(a, 4, MEANS_OTHER);
		return;
	}
	number(a, 1u << (flags >> 6), MEANS_ID);
	number(a, tag == 6 ? 4 : a->word, tag == 6 ? MEANS_OTHER : MEANS_ID);
	hash(a, flags & (tag == 6 ? 8 : 2));
	if (tag == 6) {
		number(a, a->word, MEANS_ID);
		string(a);
	}
	references(a, number(a, 4, MEANS_COUNT), code);
	if (tag == 8) {
		number(a, 4, MEANS_COUNT);
		if (a->version >= 6)
			number(a, 4, MEANS_OTHER);
	}
}

static void record(struct at *a)
{
	unsigned tag = (unsigned)number(a, 1, MEANS_TAG);
	if (tag & 0xC0) {
		bool medium = !(tag & 0x80);
		number(a, 1u << (tag >> 2 & 1), MEANS_ID);
		if (medium)
			number(a, a->word, MEANS_ID);
		hash(a, false);
		references(a, tag >> 3 & (medium ? 7 : 3), tag & 3);
	} else if (tag & 0x20) {
		number(a, 1u << (tag & 3), MEANS_ID);
		number(a, 1u << (tag & 3), MEANS_COUNT);
		hash(a, false);
		if (a->version >= 6)
			number(a, 4, MEANS_OTHER);
	} else if (tag >= 4 && tag <= 8) {
		large(a, tag);
	} else if (tag != 3) {
		a->ok = false;
	}
}

static void header(struct at *a)
{
	string(a);
	a->version = (uint32_t)number(a, 4, MEANS_TAG);
	a->flags = (uint32_t)number(a, 4, MEANS_TAG);
	a->word = a->flags & 1 ? 8 : 4;
	number(a, 1, MEANS_TAG);
	while (a->ok && a->p < a->end) {
		switch (number(a, 1, MEANS_TAG)) {
		case 1: case 3: /* totals; hashes of what wrote it */
			number(a, 4, MEANS_COUNT);
			number(a, 4, MEANS_COUNT);
			break;
		case 4: string(a); break;
		case 2: /* the end of the header, then the start of the body */
			if (a->p < a->end && a->data[a->p] == 2)
				number(a, 1, MEANS_TAG);
			return;
		default: return;
		}
	}
}

void layout_of(const uint8_t *data, size_t size, struct layout *to)
{
	struct at a = {.to = to, .data = data, .end = size, .ok = true};
	header(&a);
	while (a.ok && a.p < size) {
		size_t begin = a.p;
		record(&a);
		layout_record(to, begin, a.p, 0);
	}
}
