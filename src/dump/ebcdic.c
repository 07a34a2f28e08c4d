/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ebcdic.c - translating a whole buffer by table.
 *
 * Two walks over the input: one to learn the size (a character above 7F takes two bytes of UTF-8),
 * one to write.  Memory: the text itself and 8 bytes for every TRANSLATED_MARK bytes of it.
 */
#include "dump/ebcdic.h"

#include <string.h>

#include "base/progress.h"
#include "dump/code_pages.h"
#include "memory/big.h"

#define EBCDIC_NL 0x15
#define EBCDIC_LF 0x25
#define EBCDIC_CR 0x0D

void ebcdic_table(uint8_t table[256], unsigned code_page)
{
	uint16_t latin1[256] = { 0 };
	code_page_find(code_page, latin1);
	for (unsigned byte = 0; byte < 256; byte++)
		table[byte] = (uint8_t)latin1[byte];
	/* Which of NL and LF is U+000A is a matter of taste among converters; both end a line. */
	table[EBCDIC_NL] = '\n';
	table[EBCDIC_LF] = '\n';
	table[EBCDIC_CR] = '\r';
}

/* Memory for size bytes of text and their marks. */
static int make_room(struct translated *out, uint64_t size, struct err *err)
{
	*out = (struct translated)TRANSLATED_INIT;
	out->bytes = big_alloc(size, 1, err);
	if (!out->bytes)
		return ERR_NOMEM;
	out->allocated = size;
	out->n_marks = size / TRANSLATED_MARK + 1;
	out->mark = big_alloc(out->n_marks, sizeof *out->mark, err);
	if (!out->mark) {
		out->n_marks = 0;
		translated_release(out);
		return ERR_NOMEM;
	}
	return 0;
}

static int cancelled(struct translated *out, struct err *err)
{
	translated_release(out);
	return err_cancelled(err);
}

int ebcdic_to_utf8(struct translated *out, const uint8_t *bytes, uint64_t n,
    unsigned code_page, struct err *err)
{
	uint8_t table[256];
	ebcdic_table(table, code_page);
	uint64_t size = n;
	struct progress *work = progress_own();
	for (uint64_t i = 0; i < n; i++) {
		if (progress_stops(work, i))
			return err_cancelled(err);
		size += table[bytes[i]] >> 7;
	}
	int rc = make_room(out, size, err);
	if (rc < 0)
		return rc;

	uint64_t at = 0, next_mark = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (progress_stops(work, i))
			return cancelled(out, err);
		/* A mark in the middle of a character belongs to the character after it. */
		while (at >= next_mark) {
			out->mark[next_mark / TRANSLATED_MARK] = i;
			next_mark += TRANSLATED_MARK;
		}
		uint8_t c = table[bytes[i]];
		if (c < 0x80) {
			out->bytes[at++] = c;
		} else {
			out->bytes[at++] = (uint8_t)(0xC0 | c >> 6);
			out->bytes[at++] = (uint8_t)(0x80 | (c & 0x3F));
		}
	}
	for (uint64_t k = next_mark / TRANSLATED_MARK; k < out->n_marks; k++)
		out->mark[k] = n;
	out->size = at;
	return 0;
}

/* Is there damage at bytes[i]?  Then what it was, and in *used how many bytes it takes. */
static uint8_t repaired(const uint8_t *bytes, uint64_t n, uint64_t i,
    const struct transfer_damage *d, unsigned *used)
{
	unsigned point = bytes[i];
	*used = 1;
	if (point < 0x80)
		return 0;
	if (d->utf8) {
		if ((point != 0xC2 && point != 0xC3) || i + 1 >= n || (bytes[i + 1] & 0xC0) != 0x80)
			return 0;
		point = (point & 3) << 6 | (bytes[i + 1] & 0x3F);
		*used = 2;
	}
	if (point == 0x85 && d->newlines)
		return '\n';
	if (point == 0xDD && d->brackets)
		return '[';
	if (point == 0xA8 && d->brackets)
		return ']';
	return 0;
}

int transfer_repair(struct translated *out, const uint8_t *bytes, uint64_t n,
    const struct transfer_damage *damage, struct err *err)
{
	int rc = make_room(out, n, err);
	if (rc < 0)
		return rc;
	uint64_t at = 0;
	struct progress *work = progress_own();
	for (uint64_t i = 0, round = 0; i < n;) {
		if (progress_stops(work, round++))
			return cancelled(out, err);
		unsigned used;
		uint8_t c = repaired(bytes, n, i, damage, &used);
		if (at % TRANSLATED_MARK == 0)
			out->mark[at / TRANSLATED_MARK] = i;
		if (c) {
			out->bytes[at++] = c;
			i += used;
		} else {
			out->bytes[at++] = bytes[i++];
		}
	}
	for (uint64_t k = (at + TRANSLATED_MARK - 1) / TRANSLATED_MARK; k < out->n_marks; k++)
		out->mark[k] = n;
	out->size = at;
	return 0;
}

void translated_release(struct translated *t)
{
	big_free(t->bytes);
	big_free(t->mark);
	*t = (struct translated)TRANSLATED_INIT;
}

uint64_t translated_offset(const struct translated *t, uint64_t at)
{
	if (!t->bytes)
		return at;
	if (at > t->size)
		at = t->size;
	uint64_t k = at / TRANSLATED_MARK;
	uint64_t offset = t->mark[k];
	/* One byte of the original for every character since; a mark counts from the first whole one. */
	for (uint64_t i = k * TRANSLATED_MARK; i < at; i++)
		offset += (t->bytes[i] & 0xC0) != 0x80;
	return offset;
}
