/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_words.h - the tables and functions that SQL has here, each once: for declaring, for help, for completion and for
 * telling of them.
 */
#ifndef CAIRN_QUERY_SQL_SQL_WORDS_H
#define CAIRN_QUERY_SQL_SQL_WORDS_H

#include "result/columns.h"

/* The declared types of columns that hold one of these; others have SQLite's own, "" where it may be anything. */
#define SQL_ADDRESS "ADDRESS"
#define SQL_BYTES "BYTES"
#define SQL_COUNT "COUNT"

/* By which values of a column its table finds rows quicker than by a look at all. */
enum {
	WAY_EQUAL = 1,    /* by one value */
	WAY_RANGE = 2,    /* by values above or below one */
	WAY_NAME = 4,     /* by a name, letter by letter */
	WAY_ORDER = 8,    /* in its order */
	WAY_ARGUMENT = 16, /* by one value, without which there are no rows */
	WAY_ROUGH = 32    /* some of the rows may have another value, as with WAY_RANGE: SQLite looks at each again */
};
enum sql_needs { NEEDS_NOTHING, NEEDS_RETAINED, NEEDS_WHOLE /* those of classes and threads, too */ };

struct sql_column {
	enum column_id id;   /* whose word and meaning it has, but for what stands here: */
	const char *type;    /* as it is declared; NULL: a view has that of what it is made of */
	bool hidden;         /* SELECT * leaves it out */
	const char *name, *meaning;
	const char *made_of; /* of a view: the expression; NULL: what is called so in what the view is of */
	unsigned char ways;
	unsigned char end;   /* columns with the same number are about one thing: one of them finds it; 0: none is */
	unsigned char needs; /* enum sql_needs: retained sizes */
	int certainty_of;    /* the column of the table that it is the certainty of; 0: none */
};
/* Is it the one behind the last of a table? */
static inline bool sql_columns_end(const struct sql_column *c)
{
	return c->id == COL_OWN_NAME && !c->name;
}
const char *sql_column_name(const struct sql_column *c);
const char *sql_column_meaning(const struct sql_column *c);

/* A table that is there by itself in each dump. */
struct sql_table {
	const char *name, *argument; /* "entries", "(ADDRESS)" */
	const char *what;            /* its rows are: no capital, no full stop */
	const struct sql_column *columns; /* see sql_columns_end */
	const char *from;            /* of a view: what it is of; NULL: it is none */
};
extern const struct sql_table sql_tables[]; /* ended by a NULL name */
/* SQL knows capital letters and small ones for the same.  NULL: none. */
const struct sql_table *sql_table_called(const char *name);
/* How a column with such cells is declared. */
const char *sql_type_of(enum cell_type type);

/* X(name, number of arguments, their names, what it is) */
#define SQL_FUNCTIONS(X) \
	X(field, 2, "a, 'customer.name'", "value at the end of a path of fields, also 'items[3]' or a static field") \
	X(ref, 2, "a, 'customer'", "address of that value, also of a text or a number") \
	X(text, 1, "a", "text, number or short description of the object") \
	X(size, 1, "a", "number of elements (in Go: those that slices use), or of characters of a text") \
	X(class, 1, "a", "name of its class") \
	X(shallow, 1, "a", "shallow size in bytes") \
	X(retained, 1, "a", "retained size in bytes") \
	X(path, 1, "a", "path from a static field, a thread or another GC root") \
	X(instanceof, 2, "a, 'CLASS'", "1 for objects of the class, a subclass, or the JDK's interface") \
	X(addr, 1, "'0xe0000af0'", "address for a text") \
	X(hex, 1, "a", "address as text") \
	X(setof, 1, "a", "objects of a group, as one set")

#endif
