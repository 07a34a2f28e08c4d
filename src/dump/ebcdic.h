/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ebcdic.h - translate EBCDIC text, and text that a transfer damaged, as a whole.
 *
 * z/OS writes its dumps in EBCDIC.  Every such code page is one byte a character, so the buffer is
 * translated by a table (code_pages.h).  Any thread.
 */
#ifndef CAIRN_DUMP_EBCDIC_H
#define CAIRN_DUMP_EBCDIC_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A translated buffer, and the offsets of the bytes that it was made from. */
struct translated {
	uint8_t *bytes;
	uint64_t size;      /* of the text */
	uint64_t allocated; /* what big_alloc gave */
	uint64_t *mark;     /* byte of the original for every TRANSLATED_MARK bytes of the text */
	uint64_t n_marks;
};
#define TRANSLATED_MARK 1024
#define TRANSLATED_INIT { .bytes = NULL }

/*
 * The Latin-1 character that each byte of code page 1047, 37 or 500 stands for.  The three line ends of EBCDIC (15 NL,
 * 25 LF, 0D CR) become LF, LF and CR.
 */
void ebcdic_table(uint8_t table[256], unsigned code_page);

/*
 * Translate n bytes into UTF-8.  The result is the caller's (translated_release).  ERR_NOMEM.
 */
MUST_CHECK int ebcdic_to_utf8(struct translated *out, const uint8_t *bytes, uint64_t n,
    unsigned code_page, struct err *err);

/* What a transfer did to a text that was EBCDIC once. */
struct transfer_damage {
	bool brackets; /* [ and ] of code page 037 came out as those of 1047: U+00DD and U+00A8 */
	bool newlines; /* the line end came out as U+0085 */
	bool utf8;     /* these are two bytes each (UTF-8), else one (Latin-1) */
};

/* Undo it.  All other bytes stay as they are.  ERR_NOMEM. */
MUST_CHECK int transfer_repair(struct translated *out, const uint8_t *bytes, uint64_t n,
    const struct transfer_damage *damage, struct err *err);

void translated_release(struct translated *t);

/* The byte of the original for byte "at" of the text; after transfer_repair exact to
 * TRANSLATED_MARK bytes. */
uint64_t translated_offset(const struct translated *t, uint64_t at);

#endif
