/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut_groups.h - how much each field keeps in all instances together: candidates for cut_plan.c.
 */
#ifndef CAIRN_ANALYSIS_CUT_CUT_GROUPS_H
#define CAIRN_ANALYSIS_CUT_CUT_GROUPS_H

#include "analysis/cut/cut.h"

struct cut_group {
	uint32_t class;    /* the class that declares the field; without a field, the holders' class */
	const char *field; /* NULL: the dump names no field */
	uint32_t to_class; /* without a field: the class of what is held */
	uint64_t bytes;    /* sum of what the single references free, not counted twice where one hangs
	                      below another; a lower bound if the two classes have only this field */
};

struct cut_groups {
	struct cut_group *group; /* the largest first */
	size_t n, cap;
};

/* Find the groups that free at least `least` bytes; objects in dead (NULL: none) do not count.  The
 * tree must be numbered (cut_number).  0: *out is the caller's (cut_groups_release); ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int cut_groups_find(struct cut_groups *out, struct cut *cut, const struct bits *dead,
    uint64_t least, struct progress *progress, struct err *err);
void cut_groups_release(struct cut_groups *g);

#endif
