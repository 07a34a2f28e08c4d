/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_pages.h - character sets of one byte a character, so that no dump needs the tables of its reader's host:
 * iconv has them in files, which a container may lack, and the static program cannot load.
 */
#ifndef CAIRN_DUMP_CODE_PAGES_H
#define CAIRN_DUMP_CODE_PAGES_H

#include <stdint.h>

#define CODE_PAGE_NONE 0xFFFD /* the byte is not a character of the set */

/* A set that is ASCII below 0x80: the code points of the bytes above.  number: the digits of its name, 88591 for
 * ISO-8859-1. */
struct code_page {
	unsigned number;
	uint16_t upper[128];
};
extern const struct code_page code_pages[]; /* the last one has number 0 */

/* A set of EBCDIC: the Latin-1 character of each byte. */
struct ebcdic_page {
	unsigned number;
	uint8_t latin1[256];
};
extern const struct ebcdic_page ebcdic_pages[]; /* the last one has number 0 */

/* The upper half of the set of this name as Java spells it ("1252", "Cp1252", "windows-1252", "ISO8859_15", "IBM-850"),
 * NULL: none of those here.  Any thread. */
const uint16_t *code_page_upper(const char *name);

#endif
