/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cell.c - single values of tables: making them, and how people and machines read them.  Any thread. */
#include "heap/ids.h"
#include "result/result.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* --- making ----------------------------------------------------------------------------------- */

static struct cell number(enum cell_type type, struct amount n)
{
	return (struct cell){.type = n.certainty == UNKNOWN ? CELL_NONE : type, .amount = n};
}

struct cell cell_count(struct amount n)
{
	return number(CELL_COUNT, n);
}

struct cell cell_bytes(struct amount n)
{
	return number(CELL_BYTES, n);
}

struct cell cell_time(struct amount nanoseconds)
{
	return number(CELL_TIME, nanoseconds);
}

/* Where the whole is at least so much, the share is no bound. */
struct cell cell_percent(struct amount part, struct amount whole)
{
	double tenths = whole.n ? 1000.0 * (double)part.n / (double)whole.n : 0;
	if (whole.certainty == LOWER_BOUND)
		whole.certainty = INFERRED;
	if (tenths >= 0x1p53) /* of what a damaged object says that it has room for */
		return cell_none();
	part.n = (uint64_t)(tenths + 0.5);
	return number(CELL_PERCENT, amount_as_sure(part, whole));
}

struct cell cell_delta(struct amount before, struct amount after)
{
	return number(CELL_DELTA, amount_change(before, after));
}

struct cell cell_bytes_delta(struct amount before, struct amount after)
{
	return number(CELL_BYTES_DELTA, amount_change(before, after));
}

struct cell cell_plain(uint64_t n)
{
	return number(CELL_COUNT, amount_exact(n));
}

struct cell cell_unknown(enum reason reason)
{
	return number(CELL_NONE, amount_unknown(reason));
}

struct cell cell_none(void)
{
	return cell_unknown(REASON_SILENT);
}

struct cell cell_blank(void)
{
	return number(CELL_NONE, amount_exact(0));
}

struct cell cell_text(const char *s)
{
	return s ? (struct cell){.type = CELL_TEXT, .text = s} : cell_none();
}

struct cell cell_text_or_blank(const char *s)
{
	return s && *s ? cell_text(s) : cell_blank();
}

struct cell cell_word(const char *word, const char *name)
{
	struct cell c = cell_text(word);
	c.name = name;
	return c;
}

struct cell cell_text_as_sure(const char *s, struct amount as)
{
	struct cell c = cell_text(s);
	c.amount = amount_as_sure(c.amount, as);
	return c;
}

struct cell cell_certainty(struct amount of)
{
	struct cell c = cell_text(certainty_name(of.certainty));
	c.amount.reason = of.reason;
	return c;
}

struct cell cell_address(uint64_t address)
{
	return number(CELL_ADDRESS, amount_exact(address));
}

struct cell cell_address_or_none(uint64_t address)
{
	return address ? cell_address(address) : cell_none();
}

struct cell cell_object_address(const struct heap *h, uint32_t id)
{
	return id == HEAP_NONE ? cell_none() : cell_address(heap_address(h, id));
}

struct cell cell_number(const char *digits, uint64_t rank, struct amount as)
{
	struct cell c = number(CELL_NUMBER, amount_as_sure(amount_exact(rank), as));
	c.text = digits;
	return c;
}

struct cell cell_flag(bool value)
{
	return number(CELL_FLAG, amount_exact(value));
}

struct cell cell_flag_as_sure(bool value, struct amount as)
{
	return number(CELL_FLAG, amount_as_sure(amount_exact(value), as));
}

/* --- kinds ------------------------------------------------------------------------------------ */

bool cell_is_signed(enum cell_type type)
{
	return type == CELL_DELTA || type == CELL_BYTES_DELTA;
}

bool cell_is_number(enum cell_type type)
{
	return type == CELL_COUNT || type == CELL_BYTES || type == CELL_PERCENT || type == CELL_NUMBER ||
	    cell_is_signed(type);
}

uint64_t cell_rank(const struct cell *c)
{
	return cell_is_signed(c->type) ? c->amount.n ^ UINT64_C(1) << 63 : c->amount.n;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* "2026-11-21T10:15:00Z", as the time of a dump */
static void print_time(uint64_t nanoseconds, struct text *to)
{
	time_t seconds = (time_t)(nanoseconds / 1000000000);
	struct tm t;
	char words[32];
	if (!nanoseconds)
		text_add(to, "never");
	else if (gmtime_r(&seconds, &t) && strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%SZ", &t))
		text_add(to, words);
}

static void print_delta(const struct cell *c, struct text *to)
{
	int64_t by = amount_signed(c->amount);
	uint64_t size = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
	text_add(to, by < 0 ? "-" : by > 0 ? "+" : "");
	if (c->type == CELL_BYTES_DELTA)
		text_add_bytes(to, size);
	else
		text_add_count(to, size);
}

void cell_print(const struct cell *c, struct text *to)
{
	if (c->type == CELL_NONE || c->amount.certainty == UNKNOWN) {
		text_add(to, c->amount.certainty == EXACT ? "" : "?");
		return;
	}
	if (c->amount.certainty == INFERRED)
		text_add(to, "~");
	else if (c->amount.certainty == LOWER_BOUND)
		text_add(to, ">=");
	switch (c->type) {
	case CELL_TEXT:
		text_addf(to, "%*s", (int)c->indent, "");
		text_add_escaped(to, c->name ? c->name : c->text, strlen(c->name ? c->name : c->text));
		break;
	case CELL_COUNT:
		text_add_count(to, c->amount.n);
		break;
	case CELL_BYTES:
		text_add_bytes(to, c->amount.n);
		break;
	case CELL_PERCENT:
		cell_print_plain(c, to);
		text_add(to, "%");
		break;
	case CELL_TIME:
		print_time(c->amount.n, to);
		break;
	case CELL_FLAG:
		text_add(to, c->amount.n ? "yes" : "no");
		break;
	case CELL_DELTA:
	case CELL_BYTES_DELTA:
		print_delta(c, to);
		break;
	case CELL_NUMBER:
		if (c->name) {
			text_add(to, c->name);
			break;
		}
		cell_print_plain(c, to);
		break;
	default:
		cell_print_plain(c, to);
		break;
	}
}

void cell_print_all(const struct cell *c, struct text *to)
{
	cell_print(c, to);
	if (c->beside)
		text_addf(to, "  %s", c->beside);
}

void cell_print_plain(const struct cell *c, struct text *to)
{
	switch (c->type) {
	case CELL_NONE:
		break;
	case CELL_TEXT:
	case CELL_NUMBER:
		text_add_escaped(to, c->text, strlen(c->text));
		break;
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_TIME:
		text_add_unsigned(to, c->amount.n);
		break;
	case CELL_PERCENT:
		text_addf(to, "%" PRIu64 ".%" PRIu64, c->amount.n / 10, c->amount.n % 10);
		break;
	case CELL_ADDRESS:
		text_add_hex(to, c->amount.n);
		break;
	case CELL_FLAG:
		text_add(to, c->amount.n ? "true" : "false");
		break;
	case CELL_DELTA:
	case CELL_BYTES_DELTA:
		text_add_signed(to, amount_signed(c->amount));
		break;
	}
}
