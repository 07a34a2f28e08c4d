/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.h - numbers of bytes as people read them, without allocating. */
#ifndef CAIRN_BASE_UNITS_H
#define CAIRN_BASE_UNITS_H

#include <stdint.h>

enum { UNITS_ROOM = 16 };
/* "2.9M": powers of 1024; below 1000 as it is. */
void units_bytes(char to[UNITS_ROOM], uint64_t bytes);

#endif
