/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * held_groups.h - objects parted by their class, by a kind, and by the field that holds them, for commands whose rows
 * are such groups.
 */
#ifndef CAIRN_COMMAND_DIAGNOSE_HELD_GROUPS_H
#define CAIRN_COMMAND_DIAGNOSE_HELD_GROUPS_H

#include "algorithms/bits.h"
#include "algorithms/map.h"
#include "analysis/field_holders.h"

#include <stddef.h>

struct held_group {
	unsigned kind;              /* of the command's own */
	uint32_t class;             /* HEAP_NONE: of any */
	struct field_holder holder; /* its class is HEAP_NONE where that was not asked for */
	uint32_t first;             /* the number of the member that it began with */
	uint64_t n;                 /* members */
};

enum { HELD_IN_NONE = UINT32_MAX };

struct held_groups {
	struct held_group *group;
	uint32_t n;
	uint32_t *of;               /* by number of a member: its group, or HELD_IN_NONE */
	size_t members;
	struct field_holders holders;
	bool apart;                 /* each member is a group of its own */
	/* own */
	struct map map;
	size_t cap;
};

/* Of so many members, which are in no group yet.  0 or ERR_NOMEM; release in either case. */
MUST_CHECK int held_groups_init(struct held_groups *g, const struct heap *h, size_t members, struct err *err);
void held_groups_release(struct held_groups *g);

/* Put a member into the group of its kind and class, and of the field that holds this object; HEAP_NONE: of any. */
MUST_CHECK int held_groups_put(struct held_groups *g, size_t member, unsigned kind, uint32_t class, uint32_t held,
    struct err *err);

/* Add the objects of groups to a set. */
typedef uint32_t held_object(const void *context, size_t member);
MUST_CHECK int held_groups_members(const struct held_groups *g, const struct bits *groups, held_object *object_of,
    const void *context, struct bits *to, struct err *err);

#endif
