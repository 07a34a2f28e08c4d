/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * code_pages.h - character sets of one byte a character, so that no dump needs the tables of its reader's host:
 * iconv has them in files, which a container may lack, and the static program cannot load.  They stand in
 * code_pages.txt.  Any thread.
 */
#ifndef CAIRN_DUMP_CODE_PAGES_H
#define CAIRN_DUMP_CODE_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_PAGE_NONE 0xFFFD /* the byte is not a character of the set */

/* The code points of the bytes of a set, by its number: the digits of its name, 88591 for ISO-8859-1.  False: it is
 * none of those here. */
bool code_page_find(unsigned number, uint16_t point[256]);

/* The same by its name as Java spells it ("1252", "Cp1252", "windows-1252", "ISO8859_15", "IBM-850"); of sets that are
 * ASCII below 0x80 alone. */
bool code_page_named(const char *name, uint16_t point[256]);

#endif
