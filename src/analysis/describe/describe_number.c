/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe_number.c - describers of Java objects that are numbers, printed as Java prints them.
 */
#include "analysis/describe/describers.h"
#include "dump/facts.h"
#include "heap/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- float and double --------------------------------------------------------------------------- */

/* The decimal digits of a number and where the point stands: 0.digits * 10^exponent. */
struct digits {
	char digit[24];
	int n, exponent;
};

/* n significant digits; whatever the locale's decimal point is, it is no digit. */
static void round_to(double d, int n, struct digits *out)
{
	char s[48];
	snprintf(s, sizeof s, "%.*e", n - 1, d);
	const char *e = strchr(s, 'e');
	out->n = 0;
	for (const char *p = s; p < e && out->n < (int)sizeof out->digit; p++) {
		if (*p >= '0' && *p <= '9')
			out->digit[out->n++] = *p;
	}
	out->exponent = (int)strtol(e + 1, NULL, 10) + 1;
}

/* Do the digits, read back, name the number? */
static bool names(const struct digits *digits, double d, bool narrow)
{
	char s[48];
	snprintf(s, sizeof s, "%.*se%d", digits->n, digits->digit, digits->exponent - digits->n);
	return narrow ? strtof(s, NULL) == (float)d : strtod(s, NULL) == d;
}

/* Javadoc of Double.toString: the shortest digits that name the number, at least two. */
static void shortest(double d, bool narrow, struct digits *out)
{
	int most = narrow ? 9 : 17;
	for (int n = 2; n <= most; n++) {
		round_to(d, n, out);
		if (names(out, d, narrow))
			break;
	}
	while (out->n > 1 && out->digit[out->n - 1] == '0')
		out->n--;
}

static void add_digits(struct text *to, const struct digits *d, int from, int end)
{
	for (int i = from; i < end; i++)
		text_add_char(to, i >= 0 && i < d->n ? d->digit[i] : '0');
	if (from >= end)
		text_add_char(to, '0');
}

static void add_floating(struct text *to, double d, bool narrow)
{
	struct digits s;
	if (isnan(d)) {
		text_add(to, "NaN");
		return;
	}
	if (signbit(d))
		text_add(to, "-");
	d = fabs(d);
	if (isinf(d)) {
		text_add(to, "Infinity");
	} else if (d == 0) {
		text_add(to, "0.0");
	} else {
		shortest(d, narrow, &s);
		bool plain = d >= 1e-3 && d < 1e7;
		int point = plain ? s.exponent : 1;
		add_digits(to, &s, 0, point > 0 ? point : 0);
		text_add(to, ".");
		add_digits(to, &s, point, s.n);
		if (!plain)
			text_addf(to, "E%d", s.exponent - 1);
	}
}

void add_double(struct text *to, double d)
{
	add_floating(to, d, false);
}

void add_float(struct text *to, float f)
{
	add_floating(to, (double)f, true);
}

void add_char(struct text *to, uint32_t unit)
{
	char utf8[4];
	text_add(to, "'");
	text_add_escaped(to, utf8, utf8_encode(utf8, unit & 0xFFFF));
	text_add(to, "'");
}

/* --- big numbers -------------------------------------------------------------------------------- */

enum {
	WORDS = 128,             /* of a BigInteger that is printed in full: 1233 digits */
	GROUPS = WORDS * 32 / 29 /* of 9 decimal digits: 2^32 takes 9.63 of them */
};

/* The magnitude of a BigInteger, most significant word first, as decimal digits. */
static void add_magnitude(struct text *to, const uint32_t *words, unsigned n)
{
	uint32_t left[WORDS], group[GROUPS + 2];
	unsigned groups = 0, first = 0;
	memcpy(left, words, n * sizeof *left);
	while (first < n) {
		uint64_t rest = 0;
		for (unsigned i = first; i < n; i++) {
			rest = rest << 32 | left[i];
			left[i] = (uint32_t)(rest / 1000000000);
			rest %= 1000000000;
		}
		group[groups++] = (uint32_t)rest;
		while (first < n && !left[first])
			first++;
	}
	text_addf(to, "%" PRIu32, groups ? group[groups - 1] : 0);
	for (unsigned i = groups; i-- > 1;)
		text_addf(to, "%09" PRIu32, group[i - 1]);
}

static bool add_big_integer(struct text *to, const struct values *v)
{
	struct values mag;
	int64_t sign;
	uint32_t words[WORDS];
	if (!description_number(v, "signum", &sign) || !description_object(v, "mag", &mag) ||
	    mag.view.kind != PRIMITIVE_ARRAY || mag.view.element != VALUE_INT)
		return false;
	uint64_t n = values_length(&mag);
	if (sign < 0)
		text_add(to, "-");
	if (n > WORDS) {
		text_addf(to, "a number of %" PRIu64 " bits", n * 32);
		return true;
	}
	for (unsigned i = 0; i < n; i++)
		words[i] = (uint32_t)values_element(&mag, i).bits;
	add_magnitude(to, words, (unsigned)n);
	return true;
}

bool describe_big_integer(struct description *d)
{
	return add_big_integer(d->to, d->values);
}

/* Put the point into the digits behind begin; far from them: an exponent (BigDecimal.toString). */
static void add_scale(struct text *to, size_t begin, int64_t scale)
{
	char digits[WORDS * 10];
	size_t first = begin + (to->s[begin] == '-'), n = to->len - first;
	int64_t adjusted = (int64_t)n - 1 - scale;
	if (!scale || n >= sizeof digits)
		return;
	memcpy(digits, to->s + first, n);
	to->len = first;
	if (scale < 0 || adjusted < -6) {
		text_add_n(to, digits, 1);
		if (n > 1) {
			text_add(to, ".");
			text_add_n(to, digits + 1, n - 1);
		}
		if (adjusted)
			text_addf(to, "E%+" PRId64, adjusted);
		return;
	}
	size_t whole = (int64_t)n > scale ? n - (size_t)scale : 0;
	text_add_n(to, whole ? digits : "0", whole ? whole : 1);
	text_add(to, ".");
	for (int64_t i = (int64_t)n; i < scale; i++)
		text_add(to, "0");
	text_add_n(to, digits + whole, n - whole);
}

bool describe_big_decimal(struct description *d)
{
	struct values big;
	int64_t compact, scale;
	size_t begin = d->to->len;
	if (!description_number(d->values, "scale", &scale))
		return false;
	bool has = description_number(d->values, "intCompact", &compact) && compact != INT64_MIN;
	if (has)
		text_addf(d->to, "%" PRId64, compact);
	else if (!description_object(d->values, "intVal", &big) || !add_big_integer(d->to, &big))
		return false;
	/* not "a number of … bits", nor nothing for want of memory */
	if (d->to->len > begin && d->to->s[d->to->len - 1] != 's')
		add_scale(d->to, begin, scale);
	return true;
}

/* --- others ------------------------------------------------------------------------------------- */

bool describe_uuid(struct description *d)
{
	int64_t high, low;
	if (!description_number(d->values, "mostSigBits", &high) ||
	    !description_number(d->values, "leastSigBits", &low))
		return false;
	uint64_t h = (uint64_t)high, l = (uint64_t)low;
	text_addf(d->to, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
	    h >> 32, h >> 16 & 0xFFFF, h & 0xFFFF, l >> 48, l & UINT64_C(0xFFFFFFFFFFFF));
	return true;
}

bool describe_adder(struct description *d)
{
	int64_t sum;
	if (!description_number(d->values, "base", &sum))
		return false;
	text_addf(d->to, "%" PRId64, description_add_cells(d->values, "cells", sum));
	return true;
}

/* "{0, 20, 40}" */
bool describe_bits(struct description *d)
{
	struct values words;
	const char *between = "";
	if (!description_object(d->values, "words|bits", &words))
		return false;
	size_t begin = d->to->len;
	text_add(d->to, "{");
	for (uint64_t i = 0; i < values_length(&words); i++) {
		for (uint64_t w = values_element(&words, i).bits; w; w &= w - 1) {
			if (d->to->len - begin > d->limit) {
				text_add(d->to, ", …}");
				return true;
			}
			text_addf(d->to, "%s%" PRIu64, between, i * 64 + (unsigned)__builtin_ctzll(w));
			between = ", ";
		}
	}
	text_add(d->to, "}");
	return true;
}

bool describe_buffer(struct description *d)
{
	int64_t position, limit, capacity;
	if (!description_number(d->values, "position", &position) ||
	    !description_number(d->values, "limit", &limit) ||
	    !description_number(d->values, "capacity", &capacity))
		return false;
	text_addf(d->to, "position %" PRId64 ", limit %" PRId64 ", capacity %" PRId64, position, limit,
	    capacity);
	return true;
}
