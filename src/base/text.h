/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.h - a growing string, UTF-8, display width, and the escaping of hostile text.
 *
 * Every string that comes from a dump passes text_add_escaped before it reaches a terminal or a
 * file: controls (C0, DEL, C1), bidirectional overrides, invalid bytes and unpaired surrogates turn
 * into \n, \t, \xHH or \uXXXX.
 */
#ifndef CAIRN_BASE_TEXT_H
#define CAIRN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *s;    /* always NUL-terminated once anything was added; NULL before */
	size_t len; /* without the NUL */
	size_t cap;
};
#define TEXT_INIT { .s = NULL }

void text_release(struct text *t);
void text_clear(struct text *t); /* empty, memory kept; t->s is then "" */
void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_add_char(struct text *t, char c);
void text_addf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *text_take(struct text *t); /* the string, now the caller's (free); t is empty again */

/* Append n bytes of dump text (UTF-8, possibly damaged), escaped as said above.  A backslash stays
 * as it is. */
void text_add_escaped(struct text *t, const char *s, size_t n);

/* Append n bytes of the VM's modified UTF-8 (C0 80 for NUL, each half of a surrogate pair in 3
 * bytes) as plain UTF-8; invalid bytes and lone surrogates as \xHH and \uXXXX. */
void text_add_modified_utf8(struct text *t, const uint8_t *bytes, size_t n);

/* Read the first code point of s, which has n > 0 bytes.  *point gets it, or -1 when the bytes are
 * not UTF-8.  Returns the bytes used, at least 1. */
size_t utf8_decode(const char *s, size_t n, int32_t *point);
size_t utf8_encode(char out[4], uint32_t point);

/* The number of terminal columns that a string takes: a control takes 1, a combining mark 0. */
size_t text_width(const char *s);
/* The bytes of the longest prefix that fits into so many columns and ends with a whole character.
 * *width_used (may be NULL) gets the columns that it takes. */
size_t text_fit(const char *s, size_t columns, size_t *width_used);

/* Numbers for people: "1,234,567", "2.9M" (powers of 1024, below 1000 as is), "41%", seconds. */
void text_add_count(struct text *t, uint64_t n);
void text_add_bytes(struct text *t, uint64_t bytes);

/* Read a size as people write it: "512", "64K", "2M", "1.5G" (powers of 1024).  False when s is no
 * size or does not fit. */
bool parse_size(const char *s, uint64_t *bytes);

#endif
