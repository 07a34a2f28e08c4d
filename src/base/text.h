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

/* Dump text (UTF-8, possibly damaged) made harmless; n bytes.  A backslash stays as it is. */
void text_add_escaped(struct text *t, const char *s, size_t n);

/* The VM's modified UTF-8 (C0 80 for NUL, surrogate pairs in 3 bytes each) to plain UTF-8, invalid
 * bytes and lone surrogates as \xHH and \uXXXX. */
void text_add_modified_utf8(struct text *t, const uint8_t *bytes, size_t n);

/* Next code point of s (n bytes left, n > 0): *point gets it, or -1 when the bytes are not UTF-8;
 * returns the bytes used, at least 1. */
size_t utf8_decode(const char *s, size_t n, int32_t *point);
size_t utf8_encode(char out[4], uint32_t point);

/* Terminal columns that a string takes; controls count 1.  Combining marks take 0. */
size_t text_width(const char *s);
/* Bytes of the longest prefix that fits into columns, never inside a character. */
size_t text_fit(const char *s, size_t columns, size_t *width_used);

/* Numbers for people: "1,234,567", "2.9M" (powers of 1024, below 1000 as is), "41%", seconds. */
void text_add_count(struct text *t, uint64_t n);
void text_add_bytes(struct text *t, uint64_t bytes);

/* "512", "64K", "2M", "1.5G" (powers of 1024).  False when it is not one or does not fit. */
bool parse_size(const char *s, uint64_t *bytes);

#endif
