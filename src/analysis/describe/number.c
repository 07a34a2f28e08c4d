/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * number.c - a number that is looked for: read from a word, compared with those of objects.
 */
#include "analysis/describe/describers.h"
#include "analysis/describe/epoch.h"
#include "analysis/describe/inspector.h"

#include "base/mem.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool parse_hex(const char *digits, struct sought_number *out)
{
	size_t n = strlen(digits), zeros = strspn(digits, "0");
	if (!n || n - zeros > 16 || strspn(digits, "0123456789abcdefABCDEF") != n)
		return false;
	out->bits = strtoull(digits, NULL, 16);
	out->real = (double)out->bits;
	return out->hex = out->integer = true;
}

bool sought_number_parse(const char *word, struct sought_number *out)
{
	*out = (struct sought_number){ .negative = *word == '-' };
	const char *digits = word + (*word == '-' || *word == '+');
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		return digits == word && parse_hex(digits + 2, out);
	size_t whole = strspn(digits, "0123456789");
	char *end;
	if (!whole || strspn(digits, "0123456789.eE+-") != strlen(digits))
		return false;
	out->real = strtod(word, &end);
	if (*end)
		return false;
	errno = 0;
	out->bits = strtoull(digits, NULL, 10);
	out->integer = !digits[whole] && !errno && (!out->negative || out->bits <= UINT64_C(1) << 63);
	if (out->negative)
		out->bits = 0 - out->bits;
	out->negative &= out->bits != 0;
	return true;
}

static bool is_real(const struct sought_number *s, uint64_t bits, unsigned width)
{
	double d;
	memcpy(&d, &bits, sizeof d);
	return width == 4 ? (float)d == (float)s->real : d == s->real;
}

bool sought_is(const struct sought_number *s, const struct number *n, unsigned width)
{
	bool below = n->kind == NUMBER_SIGNED && n->bits >> 63;
	if (n->kind == NUMBER_REAL)
		return is_real(s, n->bits, width);
	if (n->kind == NUMBER_FLAG || !s->integer)
		return false;
	if (below && s->hex) /* "0xffffffff" is what a log makes of -1 */
		return s->bits == (width < 8 ? n->bits & ((UINT64_C(1) << 8 * width) - 1) : n->bits);
	bool also = false;
	for (unsigned i = 0; i < s->n_also; i++)
		also |= !below && n->bits == s->also[i];
	return also || (n->bits == s->bits && below == s->negative);
}

/* --- dates -------------------------------------------------------------------------------------- */

bool sought_date_parse(const struct heap *h, const char *word, struct sought_number *out)
{
	struct instant time;
	uint64_t numbers[EPOCH_UNITS];
	if (!epoch_parse(word, &time))
		return false;
	unsigned n = epoch_numbers(&time, epoch_end(h->facts.created), numbers);
	if (!n)
		return false;
	*out = (struct sought_number){ .integer = true, .bits = numbers[0], .real = (double)NAN, .n_also = n - 1 };
	memcpy(out->also, numbers + 1, (n - 1) * sizeof *numbers);
	return true;
}

bool describe_is_date(const struct heap *h, int64_t number, const char *name)
{
	struct instant time;
	return epoch_of(number, name, epoch_end(h->facts.created), &time);
}

bool inspect_date(const struct any_value *v, const char *name, struct text *to)
{
	struct number n;
	struct instant time;
	return inspect_number(v, &n) && (n.kind == NUMBER_SIGNED || n.kind == NUMBER_UNSIGNED) &&
	    epoch_of((int64_t)n.bits, name, epoch_end(v->heap->facts.created), &time) &&
	    describe_add_instant(to, time.seconds, time.nanos);
}

void number_plan_free(struct number_plan *p)
{
	if (!p)
		return;
	big_free(p->may);
	big_free(p->next);
	free(p);
}
