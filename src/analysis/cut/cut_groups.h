/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut_groups.h - which fields, in all instances together, keep how much: candidates for cut_plan.c.
 */
#ifndef CAIRN_ANALYSIS_CUT_CUT_GROUPS_H
#define CAIRN_ANALYSIS_CUT_CUT_GROUPS_H

#include "analysis/cut/cut.h"

struct cut_group {
	uint32_t class;    /* that declares the field, or of the holders */
	const char *field; /* or NULL */
	uint32_t to_class; /* then: of what they hold */
	uint64_t bytes;    /* that its single references free, those below one another once: an estimate
	                      from below, where a pair of classes has one such field */
};

struct cut_groups {
	struct cut_group *group; /* the largest first */
	size_t n, cap;
};

/* Those that free at least so many bytes; what is dead (NULL: nothing) does not count.  The tree is
 * numbered.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int cut_groups_find(struct cut_groups *out, struct cut *cut, const struct bits *dead,
    uint64_t least, struct progress *progress, struct err *err);
void cut_groups_release(struct cut_groups *g);

#endif
