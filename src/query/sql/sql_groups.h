/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_groups.h - rows that differ in a few names only, counted instead of kept; private to this folder.
 *
 * Of 60 million references a question may want nothing but classes and fields, of which there are a few thousand
 * combinations.  Then rows need not be sorted: each combination is counted, these are put in order, and each is handed
 * out as often as it was there.  Some 60 bytes a combination.
 */
#ifndef CAIRN_QUERY_SQL_SQL_GROUPS_H
#define CAIRN_QUERY_SQL_SQL_GROUPS_H

#include "algorithms/map.h"
#include "query/sql/sql_relation.h"

enum { GROUP_KEYS = 3 };

/* What tells rows apart: equal numbers mean equal names.  name: outlives the groups; NULL: there is none. */
struct group_key {
	uint32_t number[GROUP_KEYS];
	const char *name[GROUP_KEYS];
};

struct groups {
	struct counted_group {
		struct group_key key;
		uint64_t rows;
	} *list; /* big memory */
	uint32_t n;
	size_t cap;
	struct map map;
	uint32_t newest; /* the one that got the last row */
	size_t at;       /* what is handed out: a row of this group, */
	uint64_t row;    /* and which of them */
	struct group_order {
		unsigned key;
		bool down;
	} order[GROUP_KEYS]; /* the first n_orders of them by name */
	unsigned n_orders;
	bool once; /* hand out each group once */
};

/* Count a row.  0 or ERR_NOMEM. */
MUST_CHECK int groups_add(struct groups *g, const struct group_key *key, struct err *err);
/* Put them in their order, and begin to hand them out.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int groups_arrange(struct groups *g, struct err *err);
void groups_release(struct groups *g);

static inline void groups_next(struct groups *g)
{
	if (g->once || ++g->row >= g->list[g->at].rows) {
		g->at++;
		g->row = 0;
	}
}

static inline const char *groups_name(const struct groups *g, unsigned key)
{
	return g->list[g->at].key.name[key];
}

#endif
