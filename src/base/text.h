/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.h - a growing string, UTF-8, display width, and the escaping of hostile text.
 *
 * Every string that comes from a dump, from a file's name or from what a user typed passes
 * text_add_escaped before it reaches a terminal or a file: controls (C0, DEL, C1), bidirectional
 * overrides, invisible characters, invalid bytes and unpaired surrogates turn into \n, \t, \xHH,
 * \uXXXX or \u{XXXXX}; so does each combining mark after 8 others.  So two names that differ look different.  That
 * holds for the joiners of emoji and of some scripts, too: a name is compared and copied more often than read aloud.
 * Escaping twice changes nothing the second time.
 */
#ifndef CAIRN_BASE_TEXT_H
#define CAIRN_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *s;    /* always NUL-terminated once anything was added; NULL before */
	size_t len; /* without the NUL */
	size_t cap;
};
#define TEXT_INIT { .s = NULL }

/* Memory that is refused, or not allowed by --mem (from 64 KB on), leaves out what does not fit, and
 * memory_refusals_check tells (memory_refusals.h). */

void text_release(struct text *t);
void text_clear(struct text *t); /* empty, memory kept; t->s is then "" */
/* Without the last byte, if it has one: of a text whose growth was refused it may be missing. */
static inline void text_drop_last(struct text *t)
{
	if (t->len)
		t->s[--t->len] = '\0';
}
void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_add_char(struct text *t, char c);
/* Numbers as "%" PRIu64, PRId64 and "0x%" PRIx64 have them, for who writes millions. */
void text_add_unsigned(struct text *t, uint64_t n);
void text_add_signed(struct text *t, int64_t n);
void text_add_hex(struct text *t, uint64_t n);
void text_addf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_addv(struct text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/*
 * vsnprintf for sentences, as text_addf, too: a text that is longer than its precision ("%.100s", in
 * bytes) is clipped between two characters and ends with TEXT_CLIP_SIGN; so does the whole if it has no
 * room.  Without allocating.  "%.*s" means exactly so many bytes.
 */
#define TEXT_CLIP_SIGN ".."
void text_format(char *to, size_t room, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
/* The format that does so, for these arguments.  False: use format itself, for nothing is clipped. */
enum { TEXT_FORMAT_MOST = 1500 };
bool text_clip_format(char to[TEXT_FORMAT_MOST], const char *format, va_list args);
char *text_take(struct text *t); /* the string, now the caller's (free); t is empty again */

/* Append n bytes of dump text (UTF-8, possibly damaged), escaped as said above.  A backslash stays
 * as it is. */
void text_add_escaped(struct text *t, const char *s, size_t n);
/* The same into room bytes, a NUL included, without allocating: as many whole characters as fit, and
 * where some do not TEXT_CLIP_SIGN behind them.  room: 3 at least. */
void text_escape(char *to, size_t room, const char *s);

/* Does this code point show nothing itself, or change how the text around it is shown?  Controls, bidirectional marks,
 * embeddings, overrides and isolates, the two line separators, joiners, fillers, selectors and tags. */
bool point_steers(int32_t point);

/* Append n bytes of the VM's modified UTF-8 (C0 80 for NUL, each half of a surrogate pair in 3
 * bytes) as plain UTF-8; invalid bytes and lone surrogates as \xHH and \uXXXX. */
void text_add_modified_utf8(struct text *t, const uint8_t *bytes, size_t n);

/* Read the first code point of s, which has n > 0 bytes.  *point gets it, or -1 when the bytes are
 * not UTF-8.  Returns the bytes used, at least 1. */
size_t utf8_decode(const char *s, size_t n, int32_t *point);
/* Columns of a character, 0 to 2, from a table of the common scripts: for locales that do not know. */
size_t point_width_untold(int32_t point);
size_t utf8_encode(char out[4], uint32_t point);

/* The number of terminal columns that a string takes: a control takes 1, a combining mark 0. */
size_t text_width(const char *s);
/* The same, but it stops looking once they are more than most: what it returns is then more than
 * most, and the work is bounded by what would be shown. */
size_t text_width_most(const char *s, size_t most);
/* The bytes of the longest prefix that fits into so many columns and ends with a whole character.
 * *width_used (may be NULL) gets the columns that it takes. */
size_t text_fit(const char *s, size_t columns, size_t *width_used);
/* The first byte of the longest end of s (n bytes) that fits into so many columns and begins with a
 * whole character. */
size_t text_fit_end(const char *s, size_t n, size_t columns, size_t *width_used);

/*
 * How a text is clipped so that it takes at most so many columns: its first `head` bytes, a sign ("…"), and
 * what begins at byte `tail`.  In the middle: of a class name the first packages are kept, in a third
 * of the columns, and the class's own end.  Takes time in proportion to the columns, but for one
 * strlen.
 */
struct text_clip {
	bool clipped;          /* is it clipped?  false: it fits, head is all of it */
	size_t head, tail; /* tail: the length of the text where it is clipped at the end */
	size_t head_width; /* columns of the head */
	size_t width;      /* of all, the sign included */
};
struct text_clip text_clip(const char *s, size_t columns, size_t mark_columns, bool middle);
/* Append a name to a sentence that people read; one of more than TEXT_NAME_MOST columns is clipped in
 * the middle, with "..". */
enum { TEXT_NAME_MOST = 160 };
void text_add_name(struct text *t, const char *name);

/* Numbers for people: "1,234,567", "2.9M" (powers of 1024, below 1000 as is), "41%", seconds. */
void text_add_count(struct text *t, uint64_t n);
void text_add_bytes(struct text *t, uint64_t bytes);

/* What stands for a character that HTML and XML would take for markup ("&amp;"); NULL: the character itself. */
const char *markup_entity(char c);

/* Read a size as people write it: "512", "64K", "2M", "1.5G" (powers of 1024).  False when s is no
 * size or does not fit. */
bool parse_size(const char *s, uint64_t *bytes);

#endif
