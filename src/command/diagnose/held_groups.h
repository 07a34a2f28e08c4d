/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held_groups.h - objects parted by their class, by a kind, and by the field that holds them, for commands whose rows
 * are such groups: what they have together is summed here.
 */
#ifndef CAIRN_COMMAND_DIAGNOSE_HELD_GROUPS_H
#define CAIRN_COMMAND_DIAGNOSE_HELD_GROUPS_H

#include "algorithms/map.h"
#include "analysis/field_holders.h"
#include "base/amount.h"

#include <stddef.h>

enum { HELD_SUMS = 5 };
struct held_group {
	unsigned kind;              /* of the command's own */
	uint32_t class;             /* HEAP_NONE: of any */
	struct field_holder holder; /* its class is HEAP_NONE where that was not asked for */
	size_t first;               /* the member that it began with */
	uint64_t n;                 /* members */
	uint64_t sum[HELD_SUMS];    /* of the command's own: 0 in a new group */
	struct amount bytes;        /* likewise */
};

struct held_groups {
	struct held_group *group;
	size_t n;
	struct field_holders holders;
	bool apart;                 /* each member is a group of its own */
	/* own */
	struct map map;
	size_t cap;
};

/* 0 or ERR_NOMEM; release in either case. */
MUST_CHECK int held_groups_init(struct held_groups *g, const struct heap *h, struct err *err);
void held_groups_release(struct held_groups *g);

/* Put a member into the group of its kind and class, and of the field that holds this object; HEAP_NONE: of any.
 * Returns the group, which counts it already, until the next one is put; NULL: an error. */
struct held_group *held_groups_put(struct held_groups *g, size_t member, unsigned kind, uint32_t class, uint32_t held,
    struct err *err);

#endif
