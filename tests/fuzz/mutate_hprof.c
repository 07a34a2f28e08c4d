/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mutate_hprof.c - where the records and fields of an HPROF dump lie. */
#include "mutate.h"

#include <string.h>

struct at {
	struct layout *to;
	const uint8_t *data;
	size_t p, end; /* of what encloses it */
	unsigned ids;
};

/* A number of so many bytes; 0 where the end comes first, and p is the end then. */
static uint64_t number(struct at *a, unsigned bytes, enum meaning meaning)
{
	if (bytes > a->end - a->p) {
		a->p = a->end;
		return 0;
	}
	struct field f = {a->p, a->p + bytes, BIG_ENDIAN_NUMBER, meaning, 0, 0};
	layout_field(a->to, f.begin, f.end, f.encoding, f.meaning);
	a->p += bytes;
	return field_number(a->data, &f);
}

/* A line of a record's fields: i an identifier, s a serial number, 1 2 4 8 numbers, c a count. */
static uint64_t fields(struct at *a, const char *line)
{
	uint64_t last = 0;
	for (; *line; line++)
		last = *line == 'i' ? number(a, a->ids, MEANS_ID)
		    : *line == 's' ? number(a, 4, MEANS_ID)
		    : *line == 'c' ? number(a, 4, MEANS_COUNT)
		                   : number(a, (unsigned)(*line - '0'), MEANS_OTHER);
	return last;
}

static void skip(struct at *a, uint64_t n)
{
	a->p = n < a->end - a->p ? a->p + (size_t)n : a->end;
}

static unsigned type_size(unsigned type, unsigned ids)
{
	static const uint8_t sizes[] = {0, 0, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8};
	return type == 2 ? ids : type < sizeof sizes ? sizes[type] : 0;
}

static void identifiers(struct at *a, uint64_t n)
{
	while (n-- > 0 && a->p < a->end)
		number(a, a->ids, MEANS_ID);
}

/* Constants and statics have a value behind their type. */
static void class_fields(struct at *a, bool named, bool valued)
{
	for (uint64_t n = number(a, 2, MEANS_COUNT); n-- > 0 && a->p < a->end;) {
		if (named)
			number(a, a->ids, MEANS_ID);
		else
			number(a, 2, MEANS_OTHER);
		uint64_t type = number(a, 1, MEANS_TAG);
		if (valued)
			number(a, type_size((unsigned)type, a->ids), type == 2 ? MEANS_ID : MEANS_OTHER);
	}
}

static void sub_record(struct at *a)
{
	size_t begin = a->p;
	uint64_t n, type;
	switch (number(a, 1, MEANS_TAG)) {
	case 0x01: fields(a, "ii"); break;
	case 0x02: case 0x03: case 0x08: case 0x8E: fields(a, "iss"); break;
	case 0x04: case 0x06: case 0xFE: fields(a, "is"); break;
	case 0x20:
		fields(a, "isiiiiii4");
		class_fields(a, false, true);
		class_fields(a, true, true);
		class_fields(a, true, false);
		break;
	case 0x21:
		fields(a, "isi");
		n = number(a, 4, MEANS_LENGTH);
		layout_counts(a->to, a->p, a->p + (size_t)n);
		/* what lies at the places of references is taken for some */
		for (; n >= a->ids && a->p < a->end; n -= a->ids)
			number(a, a->ids, MEANS_ID);
		skip(a, n);
		break;
	case 0x22:
		n = fields(a, "isc");
		number(a, a->ids, MEANS_ID);
		identifiers(a, n);
		break;
	case 0x23: case 0xC3:
		n = fields(a, "isc");
		type = number(a, 1, MEANS_TAG);
		if (a->data[begin] == 0x23)
			skip(a, n * type_size((unsigned)type, a->ids));
		break;
	default: fields(a, "i"); break;
	}
	layout_record(a->to, begin, a->p, 1);
}

static void body(struct at *a, unsigned tag)
{
	uint64_t n;
	switch (tag) {
	case 0x01: fields(a, "i"); break;
	case 0x02: fields(a, "sisi"); break;
	case 0x04: fields(a, "iiiiss"); break;
	case 0x05:
		n = fields(a, "ssc");
		identifiers(a, n);
		break;
	case 0x0A: fields(a, "sisiii"); break;
	case 0x0C: case 0x1C:
		while (a->p < a->end)
			sub_record(a);
		break;
	}
}

void layout_of(const uint8_t *data, size_t size, struct layout *to)
{
	const uint8_t *nul = memchr(data, 0, size < 32 ? size : 32);
	if (!nul)
		return;
	struct at a = {.to = to, .data = data, .p = (size_t)(nul - data) + 1, .end = size, .ids = 4};
	if (number(&a, 4, MEANS_TAG) == 8)
		a.ids = 8;
	fields(&a, "8");
	while (a.p < size) {
		size_t begin = a.p;
		unsigned tag = (unsigned)number(&a, 1, MEANS_TAG);
		number(&a, 4, MEANS_OTHER);
		uint64_t n = number(&a, 4, MEANS_LENGTH);
		struct at in = a;
		in.end = n < size - a.p ? a.p + (size_t)n : size;
		layout_counts(to, in.p, in.end);
		body(&in, tag);
		a.p = in.end;
		layout_record(to, begin, a.p, 0);
	}
}
