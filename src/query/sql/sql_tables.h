/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_tables.h - columns of tables, and how they are declared; private to this folder.  Builds without SQLite have
 * these, too.
 */
#ifndef CAIRN_QUERY_SQL_SQL_TABLES_H
#define CAIRN_QUERY_SQL_SQL_TABLES_H

#include "base/text.h"
#include "query/sql/sql_words.h"

#include <stddef.h>

struct heap;
struct shared_fields;

#define SQL_OBJECTS "objects"
#define SQL_REFS "refs"
#define SQL_ENTRIES "entries"
#define SQL_STATICS "statics"
#define SQL_GLOBALS "globals"

/* The columns that every object has; a class's fields stand behind them. */
enum objects_column {
	C_ADDRESS, C_CLASS, C_SHALLOW, C_RETAINED, C_LENGTH, C_VALUE,
	C_ID, C_REACHABLE, C_DOMINATOR, C_LOADER, C_CLASS_ADDRESS, C_SHALLOW_CERTAINTY, C_RETAINED_CERTAINTY,
	C_HEAP,
	C_FIELDS
};
extern const struct sql_column sql_refs_columns[];
extern const struct sql_column sql_own_columns[]; /* the columns of "objects" */

/* A declaration of columns: names quoted, and made different from each other. */
struct sql_columns {
	struct text sql;
	char **name; /* owned */
	size_t n, cap;
};
void sql_columns_add(struct sql_columns *c, const char *name, const char *type, bool hidden);
/* Those that every object has, for the table of objects with these fields (NULL: none); then such a field. */
void sql_columns_add_own(struct sql_columns *c, const struct heap *h, const struct shared_fields *fields);
void sql_columns_add_field(struct sql_columns *c, const struct shared_fields *fields, size_t i, const char *type);
void sql_columns_release(struct sql_columns *c);

#endif
