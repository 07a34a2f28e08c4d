/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bytes.h - the bytes of dumps written by hand, appended to a text. */
#ifndef CAIRN_TESTS_BYTES_H
#define CAIRN_TESTS_BYTES_H

#include "base/text.h"

#include <stdint.h>

/* Pairs of hexadecimal digits, blanks between them as one likes; 'text' stands for its own bytes, <text>
 * for them behind their number in two bytes. */
void add_hex(struct text *t, const char *hex);
/* The lowest n bytes of a number, the highest of them first. */
void add_be(struct text *t, uint64_t number, unsigned n);
/* Seven bits a byte, the lowest first; all bytes but the last have the highest bit. */
void add_varint(struct text *t, uint64_t number);

#endif
