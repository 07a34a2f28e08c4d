/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mutate_go.c - where the records and fields of a Go heap dump lie. */
#include "mutate.h"

#include <string.h>

struct at {
	struct layout *to;
	const uint8_t *data;
	size_t p, end;
	bool ok;
};

static uint64_t number(struct at *a, enum meaning meaning)
{
	size_t begin = a->p;
	while (a->p < a->end && a->p - begin < 9 && a->data[a->p] & 0x80)
		a->p++;
	if (a->p == a->end) {
		a->ok = false;
		return 0;
	}
	a->p++;
	struct field f = {begin, a->p, VARINT, meaning, 0, 0};
	layout_field(a->to, f.begin, f.end, f.encoding, f.meaning);
	return field_number(a->data, &f);
}

/* Bytes behind their length; words of 8 bytes in contents may be pointers. */
static void string(struct at *a, bool contents)
{
	uint64_t n = number(a, MEANS_LENGTH);
	if (n > a->end - a->p) {
		a->ok = false;
		n = a->end - a->p;
	}
	layout_counts(a->to, a->p, a->p + (size_t)n);
	for (size_t i = a->p; contents && n < 4096 && i + 8 <= a->p + n; i += 8)
		layout_field(a->to, i, i + 8, LITTLE_ENDIAN_NUMBER, MEANS_ID);
	a->p += (size_t)n;
}

static void field_list(struct at *a)
{
	while (a->ok && number(a, MEANS_TAG))
		number(a, MEANS_OTHER);
}

static void bucket(struct at *a)
{
	for (uint64_t n = number(a, MEANS_COUNT); a->ok && n-- > 0;) {
		string(a, false);
		string(a, false);
		number(a, MEANS_OTHER);
	}
}

/* i an identifier, n a number, b contents, s a string, F a list of fields, B a bucket's frames,
 * M the numbers of the memory statistics, A the architecture: a letter or a string. */
static void record(struct at *a, const char *line)
{
	for (; *line && a->ok; line++) {
		switch (*line) {
		case 'i': number(a, MEANS_ID); break;
		case 'b': string(a, true); break;
		case 's': string(a, false); break;
		case 'F': field_list(a); break;
		case 'B': bucket(a); break;
		case 'M':
			for (unsigned i = 0; i < 281 && a->ok; i++)
				number(a, MEANS_OTHER);
			break;
		case 'A':
			if (a->p < a->end && a->data[a->p] >= 32)
				number(a, MEANS_TAG);
			else
				string(a, false);
			break;
		default: number(a, MEANS_OTHER); break;
		}
	}
}

void layout_of(const uint8_t *data, size_t size, struct layout *to)
{
	static const char *const lines[] = {"", "ibF", "si", "insn", "iiiinnnnsiiii", "inibiiisF",
	    "nniiAsn", "iiiii", "ii", "inn", "M", "iiiii", "ibF", "ibF", "iiiiiii", "iiiiii", "inBnn", "ii"};
	const uint8_t *line = memchr(data, '\n', size < 32 ? size : 32);
	if (!line)
		return;
	struct at a = {.to = to, .data = data, .p = (size_t)(line - data) + 1, .end = size, .ok = true};
	while (a.p < size && a.ok) {
		size_t begin = a.p;
		uint64_t tag = number(&a, MEANS_TAG);
		if (tag < sizeof lines / sizeof *lines)
			record(&a, lines[tag]);
		else
			a.ok = false;
		layout_record(to, begin, a.p, 0);
	}
}
