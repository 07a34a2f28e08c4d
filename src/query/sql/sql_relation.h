/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_relation.h - what SQL sees as a table; private to this folder.
 *
 * A relation has columns, rows one after another, and ways in that are quicker than a look at all rows: by a value, by
 * a range, in an order, with a limit.  Its columns say which of these they have.  sql_table.c makes a table of SQLite's
 * of it: a kind of relation only has data, and functions that find rows and give values.
 *
 * Functions that return a state return SQLITE_OK, or what the statement ends with (sql_keep).
 */
#ifndef CAIRN_QUERY_SQL_SQL_RELATION_H
#define CAIRN_QUERY_SQL_SQL_RELATION_H

#include "query/sql/sql_private.h"

enum { ASK_BOUNDS = 16, ASK_ORDERS = 4, ASK_OP = 3 };

/* Which rows a statement asks for, as far as the ways in allow: the others SQLite chooses itself. */
struct sql_ask {
	struct sql_bound {
		int column;
		char op[ASK_OP];      /* "=", "<", "<=", ">" or ">=" */
		sqlite3_value *value; /* NULL while it is planned */
	} bound[ASK_BOUNDS];
	unsigned n;
	struct sql_order {
		int column;
		bool down;
	} order[ASK_ORDERS];
	unsigned n_orders;
	bool once;       /* each row once, of rows with equal columns */
	bool counted;    /* of rows with equal columns one stands for the others: only these columns are wanted */
	bool limited;
	uint64_t limit;  /* UINT64_MAX: all */
	int needs;       /* of enum sql_needs, all that is looked at */
};

struct relation_column {
	unsigned char ways, end;  /* as in struct sql_column */
	unsigned char needs;      /* enum sql_needs, of its values */
	const char *compared;     /* what a note calls it if it is compared with a literal of the other kind, or NULL */
	bool has_texts;           /* of one that is compared so: it has texts, not numbers */
	int certainty_of;         /* the column of whose numbers it has the certainty; -1: it is any other */
};

/* A table that is named. */
struct relation {
	sqlite3_vtab base;
	struct sql *sql;
	const struct relation_kind *kind;
	void *of;                       /* what was registered; borrowed */
	struct sql_columns columns;
	struct relation_column *column; /* by column; owned */
	struct sql_doubts *doubts;      /* by column; owned */
	struct sql_ask *plan;           /* those that statements made; owned */
	size_t n_plans, cap_plans;
	uint64_t n;                     /* rows, or about so many */
	int rowid;                      /* the column that is SQLite's rowid, too; -1: none is */
};

/* A walk through rows: there is one while `at` is below n. */
struct rows {
	sqlite3_vtab_cursor base;
	struct relation *of;
	uint64_t at, n;
	struct sql_ask ask;
	int planned;       /* number of the plan that it is a copy of, + 1 */
};

/* All functions but cell may be NULL. */
struct relation_kind {
	size_t size, rows_size;                     /* of what begins with a struct relation, a struct rows */
	const char *table;                          /* whose columns it has (sql_tables); NULL: open adds them */
	int (*open)(struct relation *r);
	void (*close)(struct relation *r);
	void (*forget)(void *of);                   /* what was registered */
	/* How many rows there may be, and what finding them costs; else all, each alike.  True: there is one at most,
	 * whatever the dump has. */
	bool (*guess)(const struct relation *r, const struct sql_ask *ask, double *rows, double *cost);
	/* Which order of the statement's rows come in; else that of one column with WAY_ORDER. */
	bool (*order)(const struct relation *r, sqlite3_index_info *info, struct sql_ask *ask);
	bool limits;                                /* it makes use of a limit */
	void (*begin)(struct rows *c);              /* a walk was made */
	void (*end)(struct rows *c);
	int (*find)(struct rows *c, const struct sql_ask *ask); /* the first row; else row 0 of r->n */
	int (*next)(struct rows *c);                            /* else the next number */
	sqlite3_int64 (*number)(const struct rows *c);          /* SQLite's rowid; else counted from 1 */
	void (*cell)(struct rows *c, sqlite3_context *to, int column);
	struct amount (*amount)(struct rows *c, int column);    /* of columns of which another has the certainty */
};

/* Register a table of this name.  The kind's `forget` gets `of`, also after an error. */
int sql_add_relation(struct sql *q, const char *name, const struct relation_kind *kind, void *of);
/* For open: r->columns is complete.  The first n are like these, which say what ways in they have. */
void sql_relation_settle(struct relation *r, const struct sql_column *like, size_t n);
/* For cell: the value is this amount, or NULL where it is unknown. */
void sql_rows_amount(struct rows *c, sqlite3_context *to, int column, struct amount a);
/* Does it narrow the rows, or order them, by this column? */
bool sql_asks_for(const struct sql_ask *ask, int column);
/* Add an order; nothing if it orders by this column already. */
void sql_ask_order(struct sql_ask *ask, int column, bool down);
const struct sql_bound *sql_ask_equal(const struct sql_ask *ask, int column); /* NULL: none */

#endif
