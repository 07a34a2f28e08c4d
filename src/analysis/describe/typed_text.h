/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed_text.h - values in memory in words, as the language of the program would print them.
 *
 *     true  -3  0.5  "text"  nil  0xc000012340+16  {ID: 7, Name: "x"}  [1, 2, 3]  len 3 cap 4 [1, 2, 3]
 *     len 5 (map)  len 5 cap 8 (channel)  *main.Mail 0xc000012340 (interface)  main.work.func1 (func)
 *
 * A pointer into an object is that object's address and the offset.  All text is escaped and cut with
 * "…".  Any thread.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_TYPED_TEXT_H
#define CAIRN_ANALYSIS_DESCRIBE_TYPED_TEXT_H

#include "heap/typed.h"

/* Append a value, about limit characters of it; what a pointer leads to is shown behind it. */
void typed_add(const struct typed *v, uint64_t limit, struct text *to);
/* Append what an object holds; without a type the text that it may be.  False: nothing to say. */
bool typed_add_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to);
/* Append an address: "nil", "0x…", "0x…+16"; outside of the heap with its name, if it has one. */
void typed_add_address(const struct heap *h, uint64_t address, struct text *to);
/* Bytes as text, if they look like one; the quotation marks too. */
bool typed_add_text(const uint8_t *bytes, uint64_t n, uint64_t limit, struct text *to);

#endif
