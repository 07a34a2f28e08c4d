/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_candidates.h - the objects that a statement asks for by id, address, class or size, in its order; private to
 * this folder.
 *
 * Without an order or a class nothing is gathered: objects are looked at one after another.  Of an order by size
 * without a limit the first few are found first, for max(shallow) asks for one row of all in order.
 */
#ifndef CAIRN_QUERY_SQL_SQL_CANDIDATES_H
#define CAIRN_QUERY_SQL_SQL_CANDIDATES_H

#include "query/sql/sql_relation.h"

/* What a table is about. */
struct objects_of {
	struct sql *sql;
	uint32_t *classes; /* ascending, owned; NULL: all objects, or */
	size_t n_classes;
	const uint32_t *ids; /* these, ascending; borrowed */
	size_t n_ids;
	struct bits in;    /* the classes, if they are several */
};

struct candidates {
	const struct objects_of *of;
	uint32_t *list;        /* ids in their order; owned, NULL: all from `at` to before `end` that fit */
	uint64_t at, end;
	struct ordering {
		const struct sql *sql;
		enum objects_column by; /* C_ID, C_CLASS, C_SHALLOW or C_RETAINED */
		bool down;
		uint64_t limit;
		bool first_only;   /* the list has only the first of them: the rest comes when it is asked for */
	} order;
	uint32_t low, high;    /* ids from low to before high */
	uint64_t least[2], most[2]; /* of shallow and retained, in bytes */
	bool bounded[2];
	struct bits in;        /* classes that count; word NULL: those of the table */
};

/* Begin anew.  SQLITE_OK, or what the statement ends with. */
int candidates_find(struct candidates *c, const struct sql_ask *ask);
int candidates_next(struct candidates *c); /* the same */
void candidates_release(struct candidates *c);

static inline uint32_t candidates_id(const struct candidates *c)
{
	return c->list ? c->list[c->at] : (uint32_t)c->at;
}

#endif
