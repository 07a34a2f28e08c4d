/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * treemap.h - the dominator tree as areas: an SVG picture for a page, bars of blocks for a text; private to this
 * folder.
 *
 * Two levels: rectangles of those at the top, and within each those below it.  An area is what it retains, so areas
 * within another never exceed it.  The picture has no script and needs no other file.
 */
#ifndef CAIRN_COMMAND_REPORT_TREEMAP_H
#define CAIRN_COMMAND_REPORT_TREEMAP_H

#include "base/text.h"
#include "result/result.h"

#include <stdio.h>

struct treemap_node {
	char *label;      /* escaped */
	uint64_t bytes;
	char *words;      /* "109K, 50.0%", with marks of certainty */
	uint32_t parent;  /* TREEMAP_TOP, or a node before it */
};
#define TREEMAP_TOP UINT32_MAX

struct treemap {
	struct treemap_node *node; /* siblings by size, the largest first; a node before those below it */
	size_t n, cap;
	uint64_t all;     /* bytes of the whole area; what no node at the top has is left empty */
};

/* Take the larger rows of `heap -depth 2`. */
void treemap_take(struct treemap *t, struct result *heap, uint64_t all);
void treemap_release(struct treemap *t);

void treemap_write_svg(const struct treemap *t, FILE *to);
/* Lines of text. */
void treemap_add_blocks(const struct treemap *t, struct text *to);

#endif
