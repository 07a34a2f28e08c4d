/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_groups.h - how much each field keeps in all instances together: candidates for what_if_plan.c.
 */
#ifndef CAIRN_ANALYSIS_WHAT_IF_WHAT_IF_GROUPS_H
#define CAIRN_ANALYSIS_WHAT_IF_WHAT_IF_GROUPS_H

#include "analysis/what_if/what_if.h"

struct what_if_group {
	uint32_t class;    /* the class that declares the field; without a field, the holders' class */
	const char *field; /* NULL: the dump names no field */
	uint32_t to_class; /* without a field: the class of what is held */
	uint64_t bytes;    /* sum of what the single references free, not counted twice where one hangs
	                      below another; a lower bound if the two classes have only this field */
};

struct what_if_groups {
	struct what_if_group *group; /* the largest first */
	size_t n, cap;
};

/* Find the groups that free at least `least` bytes; objects in dead (NULL: none) do not count.  The
 * tree must be numbered (what_if_number).  0: *out is the caller's (what_if_groups_release); ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int what_if_groups_find(struct what_if_groups *out, struct what_if *cut, const struct bits *dead,
    uint64_t least, struct progress *progress, struct err *err);
void what_if_groups_release(struct what_if_groups *g);

#endif
