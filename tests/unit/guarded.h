/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guarded.h - bytes right before a page that must not be touched: reading one too many ends the test. */
#ifndef CAIRN_TESTS_GUARDED_H
#define CAIRN_TESTS_GUARDED_H

#include "dump/source/source.h"

#include <stddef.h>

struct guarded {
	uint8_t *map;
	size_t map_size;
	struct source source; /* of the bytes */
};

/* Copy n bytes; path: what the source is called, borrowed. */
void guard(struct guarded *g, const char *path, const void *bytes, size_t n);
void guarded_release(struct guarded *g);

#endif
