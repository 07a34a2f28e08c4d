/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mutate.c - see mutate.h. */
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* An input being changed. */
struct work {
	uint8_t *data;
	size_t size, most;
	uint64_t random;
	struct layout *layout; /* of data; every edit that moves bytes makes it again */
};

static uint64_t draw(struct work *w, uint64_t below)
{
	w->random += UINT64_C(0x9E3779B97F4A7C15);
	uint64_t x = w->random;
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	x ^= x >> 31;
	return below ? x % below : x;
}

/* --- a layout ----------------------------------------------------------------------------------- */

void layout_record(struct layout *to, size_t begin, size_t end, unsigned level)
{
	if (to->n_records < MOST_RECORDS && begin < end)
		to->record[to->n_records++] = (struct record){begin, end, level};
}

bool layout_field(struct layout *to, size_t begin, size_t end, enum encoding encoding,
    enum meaning meaning)
{
	if (to->n_fields == MOST_FIELDS || begin >= end)
		return false;
	to->field[to->n_fields++] = (struct field){begin, end, encoding, meaning, 0, 0};
	return true;
}

void layout_counts(struct layout *to, size_t begin, size_t end)
{
	if (to->n_fields) {
		to->field[to->n_fields - 1].counted_begin = begin;
		to->field[to->n_fields - 1].counted_end = end;
	}
}

static void look_again(struct work *w)
{
	w->layout->n_records = w->layout->n_fields = 0;
	layout_of(w->data, w->size, w->layout);
}

/* --- numbers ------------------------------------------------------------------------------------ */

uint64_t field_number(const uint8_t *data, const struct field *f)
{
	uint64_t v = 0;
	char digits[24] = "";
	size_t n = f->end - f->begin;
	switch (f->encoding) {
	case BIG_ENDIAN_NUMBER:
		for (size_t i = f->begin; i < f->end; i++)
			v = v << 8 | data[i];
		break;
	case LITTLE_ENDIAN_NUMBER:
		for (size_t i = f->end; i-- > f->begin;)
			v = v << 8 | data[i];
		break;
	case VARINT:
		for (size_t i = 0; i < n && i < 10; i++)
			v |= (uint64_t)(data[f->begin + i] & 0x7f) << 7 * i;
		break;
	case HEX_DIGITS:
	case DECIMAL_DIGITS:
		memcpy(digits, data + f->begin, n < sizeof digits ? n : sizeof digits - 1);
		v = strtoull(digits, NULL, f->encoding == HEX_DIGITS ? 16 : 10);
		break;
	}
	return v;
}

/* The bytes of v as this field writes numbers; returns how many. */
static size_t encode(const struct field *f, uint64_t v, uint8_t to[24])
{
	size_t n = f->end - f->begin, m = 0;
	char digits[24];
	switch (f->encoding) {
	case BIG_ENDIAN_NUMBER:
		for (size_t i = n; i-- > 0; v >>= 8)
			to[i] = (uint8_t)v;
		return n;
	case LITTLE_ENDIAN_NUMBER:
		for (size_t i = 0; i < n; i++, v >>= 8)
			to[i] = (uint8_t)v;
		return n;
	case VARINT:
		do {
			to[m++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
			v >>= 7;
		} while (v);
		return m;
	default:
		break;
	}
	unsigned base = f->encoding == HEX_DIGITS ? 16 : 10;
	do
		digits[m++] = "0123456789ABCDEF"[v % base];
	while ((v /= base) != 0);
	while (m < n && f->encoding == HEX_DIGITS && m < 16)
		digits[m++] = '0';
	for (size_t i = 0; i < m; i++)
		to[i] = (uint8_t)digits[m - 1 - i];
	return m;
}

static uint64_t number_to_try(struct work *w, const struct field *f, uint64_t now)
{
	static const uint64_t others[] = {0, 1, 2, 3, 7, 8, 16, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000,
	    0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000,
	    INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
	const struct layout *l = w->layout;
	switch (draw(w, 8)) {
	case 0:
		return now + 1;
	case 1:
		return now - 1;
	case 2:
		return now + (UINT64_C(1) << draw(w, 20));
	case 3:
		return now ^ UINT64_C(1) << draw(w, 64);
	case 4:
		return others[draw(w, sizeof others / sizeof *others)];
	default:
		for (unsigned i = 0; i < 32; i++) { /* of another field that means the same */
			const struct field *g = &l->field[draw(w, l->n_fields)];
			if (g->meaning == f->meaning && g != f)
				return field_number(w->data, g);
		}
		return w->size - f->end;
	}
}

/* --- edits -------------------------------------------------------------------------------------- */

/* Let lengths follow that count the byte at `at`, where `gone` bytes make room for n. */
static void mend_lengths(struct work *w, size_t at, size_t gone, size_t n)
{
	for (size_t i = 0; i < w->layout->n_fields; i++) {
		const struct field *f = &w->layout->field[i];
		uint8_t bytes[24];
		if (f->counted_begin > at || at >= f->counted_end || f->end > at)
			continue;
		size_t m = encode(f, field_number(w->data, f) + n - gone, bytes);
		if (m == f->end - f->begin)
			memcpy(w->data + f->begin, bytes, m);
	}
}

/* Put n bytes, which lie outside of data, in the place of `gone` ones.  False: there is no room. */
static bool splice(struct work *w, size_t at, size_t gone, const uint8_t *bytes, size_t n)
{
	if (at > w->size || gone > w->size - at || n > w->most - (w->size - gone))
		return false;
	if (n != gone && draw(w, 8))
		mend_lengths(w, at, gone, n);
	memmove(w->data + at + n, w->data + at + gone, w->size - at - gone);
	if (n)
		memcpy(w->data + at, bytes, n);
	w->size += n - gone;
	if (n != gone)
		look_again(w);
	return true;
}

static bool set_field(struct work *w, const struct field *f, uint64_t v)
{
	uint8_t bytes[24];
	size_t n = encode(f, v, bytes);
	return splice(w, f->begin, f->end - f->begin, bytes, n);
}

static bool change_field(struct work *w)
{
	const struct layout *l = w->layout;
	if (!l->n_fields)
		return false;
	/* lengths and counts are few, so each meaning has its turn */
	enum meaning wanted = (enum meaning)draw(w, MEANINGS);
	const struct field *f = &l->field[draw(w, l->n_fields)];
	for (unsigned i = 0; i < 16 && f->meaning != wanted; i++)
		f = &l->field[draw(w, l->n_fields)];
	return set_field(w, f, number_to_try(w, f, field_number(w->data, f)));
}

/* Many fields of one meaning get the same number: cycles, stars, collisions. */
static bool collapse(struct work *w)
{
	if (!w->layout->n_fields)
		return false;
	const struct field f = w->layout->field[draw(w, w->layout->n_fields)];
	uint64_t v = field_number(w->data, &f);
	size_t one_in = 1 + (size_t)draw(w, 8), n = w->layout->n_fields;
	for (size_t i = 0; i < n && i < w->layout->n_fields; i++) {
		const struct field g = w->layout->field[i];
		if (g.meaning == f.meaning && g.encoding == f.encoding && !draw(w, one_in) &&
		    g.end - g.begin == f.end - f.begin)
			set_field(w, &g, v);
	}
	return true;
}

static const struct record *any_record(struct work *w)
{
	return w->layout->n_records ? &w->layout->record[draw(w, w->layout->n_records)] : NULL;
}

/* Another of the same level; NULL. */
static const struct record *another(struct work *w, const struct record *than)
{
	for (unsigned i = 0; i < 16; i++) {
		const struct record *r = any_record(w);
		if (r->level == than->level && r != than)
			return r;
	}
	return NULL;
}

/* A copy of bytes of data; the caller's. */
static uint8_t *copy_of(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	if (!copy)
		exit(99);
	return memcpy(copy, bytes, n);
}

static bool repeat_record(struct work *w)
{
	const struct record *r = any_record(w);
	if (!r)
		return false;
	size_t begin = r->begin, n = r->end - r->begin;
	size_t times = 1 + (size_t)draw(w, draw(w, 16) ? 3 : 300);
	if (times > (w->most - w->size) / n)
		times = (w->most - w->size) / n;
	uint8_t *bytes = malloc(times * n + 1);
	if (!bytes)
		exit(99);
	for (size_t i = 0; i < times; i++)
		memcpy(bytes + i * n, w->data + begin, n);
	bool done = times && splice(w, begin, 0, bytes, times * n);
	free(bytes);
	return done;
}

static bool drop_records(struct work *w)
{
	const struct record *r = any_record(w);
	if (!r || r->end - r->begin == w->size)
		return false;
	return splice(w, r->begin, r->end - r->begin, NULL, 0);
}

static bool move_record(struct work *w)
{
	const struct record *r = any_record(w), *before = r ? another(w, r) : NULL;
	if (!before)
		return false;
	size_t begin = r->begin, n = r->end - r->begin, at = before->begin;
	uint8_t *bytes = copy_of(w->data + begin, n);
	bool done = splice(w, begin, n, NULL, 0);
	if (done)
		splice(w, at > begin ? at - n : at, 0, bytes, n);
	free(bytes);
	return done;
}

static bool swap_records(struct work *w)
{
	const struct record *r = any_record(w), *s = r ? another(w, r) : NULL;
	if (!s)
		return false;
	const struct record first = r->begin < s->begin ? *r : *s, second = r->begin < s->begin ? *s : *r;
	if (first.end > second.begin)
		return false;
	size_t n_first = first.end - first.begin, n_second = second.end - second.begin;
	uint8_t *one = copy_of(w->data + first.begin, n_first);
	uint8_t *other = copy_of(w->data + second.begin, n_second);
	bool done = splice(w, second.begin, n_second, one, n_first) &&
	    splice(w, first.begin, n_first, other, n_second);
	free(one);
	free(other);
	return done;
}

/* The end is missing: behind a record, or somewhere within one. */
static bool cut_end(struct work *w)
{
	const struct record *r = any_record(w);
	if (!r || draw(w, 4))
		return false;
	size_t at = draw(w, 2) ? r->end : r->begin + (size_t)draw(w, r->end - r->begin);
	if (!at)
		return false;
	w->size = at;
	look_again(w);
	return true;
}

/* The bytes of one record, as libFuzzer would change an input. */
static bool change_bytes(struct work *w)
{
	const struct record *r = any_record(w);
	if (!r)
		return false;
	size_t begin = r->begin, n = r->end - r->begin, most = n + 64;
	uint8_t *bytes = malloc(most);
	if (!bytes)
		exit(99);
	memcpy(bytes, w->data + begin, n);
	size_t m = LLVMFuzzerMutate(bytes, n, most);
	bool done = splice(w, begin, n, bytes, m);
	free(bytes);
	return done;
}

/* --- what libFuzzer calls ------------------------------------------------------------------------ */

static struct layout layouts[2];

static bool edit_once(struct work *w)
{
	static bool (*const edits[])(struct work *) = {change_field, change_field, change_field,
	    change_field, collapse, repeat_record, drop_records, move_record, swap_records, cut_end,
	    change_bytes, change_bytes};
	return edits[draw(w, sizeof edits / sizeof *edits)](w);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	struct work w = {.data = data, .size = size, .most = most, .random = seed, .layout = &layouts[0]};
	if (!draw(&w, 5))
		return LLVMFuzzerMutate(data, size, most);
	look_again(&w);
	size_t edits = 1 + (size_t)draw(&w, 4), done = 0;
	for (unsigned tries = 0; done < edits && tries < 20; tries++)
		done += edit_once(&w);
	return done ? w.size : LLVMFuzzerMutate(data, size, most);
}

/* Records of the other input, in front of a record of this one or in its place. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t n_one, const uint8_t *other, size_t n_other,
    uint8_t *out, size_t most, unsigned seed)
{
	struct work w = {.data = out, .size = n_one < most ? n_one : most, .most = most, .random = seed,
	    .layout = &layouts[0]};
	struct layout *theirs = &layouts[1];
	if (w.size)
		memcpy(out, one, w.size);
	look_again(&w);
	theirs->n_records = theirs->n_fields = 0;
	layout_of(other, n_other, theirs);
	for (unsigned i = 1 + (unsigned)draw(&w, 3); i-- > 0 && theirs->n_records && w.layout->n_records;) {
		size_t at = (size_t)draw(&w, theirs->n_records), last = at + (size_t)draw(&w, 8);
		const struct record *from = &theirs->record[at], *to = any_record(&w);
		while (last > at && (last >= theirs->n_records || theirs->record[last].level != from->level))
			last--;
		for (unsigned tries = 0; tries < 16 && to->level != from->level; tries++)
			to = any_record(&w);
		splice(&w, to->begin, draw(&w, 2) ? to->end - to->begin : 0, other + from->begin,
		    theirs->record[last].end - from->begin);
	}
	return w.size;
}
