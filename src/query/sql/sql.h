/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql.h - the door of this folder: questions in SQL about an opened dump, answered by SQLite.
 *
 * Tables are there when a statement names them, and nothing of them is copied:
 *     objects      every object: address, class, shallow, retained, length, value
 *     refs         every recorded reference: source, field, target, and their classes
 *     entries(a)   what a collection contains; and views: sql_words.h has all of these
 *     "CLASS"      the instances of a class, with its fields as columns
 *     "LINE"       what a command line answers ("histo", "bt -all"), by a struct sql_source
 *
 * Numbers that nobody knows are NULL; how sure a number is stands in the hidden column NAME_certainty.  An address is
 * an integer.  Statements only read; what CREATE TEMP TABLE and CREATE TEMP VIEW make is kept until sql_close, or DROP.
 *
 * One thread at a time.
 */
#ifndef CAIRN_QUERY_SQL_SQL_H
#define CAIRN_QUERY_SQL_SQL_H

#include "base/progress.h"
#include "opened/opened.h"
#include "query/sql/sql_lexer.h"
#include "query/sql/sql_words.h"
#include "result/result.h"

struct shared_fields;

/* A view that is there for every dump: its text is a SELECT, and an error in it is reported with its place. */
struct sql_view {
	char *name, *text, *place;
};

/* What others know.  All return 0 or an error that the statement ends with. */
struct sql_source {
	void *context;
	/* The view of this name, letters of either case alike; the owner's.  NULL: none is called so. */
	const struct sql_view *(*view)(void *context, const char *name);
	/* What objects retain; a statement that asks for it waits for this. */
	int (*retained)(void *context, const struct retained **out, struct err *err);
	/* The same, and what classes, threads and other groups retain. */
	int (*retained_whole)(void *context, struct err *err);
	/* What is called so: classes (indices, the caller's, big_free), or what a command line answers (the caller's,
	 * result_free).  Neither: there is nothing of that name. */
	int (*table)(void *context, const char *name, uint32_t **classes, size_t *n, struct result **rows, struct err *err);
	/* Append the names of a few tables that are called nearly so. */
	void (*nearest)(void *context, const char *name, struct text *to);
};

struct sql;

/* 0: *out is the caller's (sql_close), o and what source points to must outlive it; o NULL: there is no dump, and none
 * of the tables and functions that are about one.  ERR_NOMEM; ERR_UNSUPPORTED where
 * this build has no SQLite. */
MUST_CHECK int sql_open(struct sql **out, struct opened *o, const struct sql_source *source, struct err *err);
void sql_close(struct sql *q); /* NULL is fine */

void sql_view_release(struct sql_view *view);
/* May there be such a view?  What it names is not looked at.  0; ERR_USAGE: the text is not one SELECT, or the name is
 * SQLite's own; ERR_NOMEM.  Without SQLite every text may be one. */
MUST_CHECK int sql_check_view(const char *name, const char *text, struct err *err);

#define SECONDS_MOST UINT64_C(1000000000)
struct sql_wishes {
	bool subclasses;   /* the table of a class has the instances of its subclasses, too */
	uint64_t seconds;  /* that all of it may take, at most SECONDS_MOST; 0: as long as it wants */
};

/*
 * Run the statements of a text, and whatever they name, within these seconds where somebody watches (progress is not
 * NULL); *out gets the rows of the last one that has columns, NULL: none has.  ERR_USAGE: it is
 * not SQL, names what is not there, or would write; ERR_NOMEM, ERR_CANCELLED; or what a table met.
 */
MUST_CHECK int sql_run(struct sql *q, const char *text, const struct sql_wishes *wishes, struct progress *progress,
    struct result **out, struct err *err);

/* The same of one statement, in which the table SQL_ROWS has the rows that a result shows; those are borrowed. */
#define SQL_ROWS "\"these rows\""
MUST_CHECK int sql_run_over(struct sql *q, struct result *rows, const char *text, struct progress *progress,
    struct result **out, struct err *err);

/* A column of a table.  Texts live until the call returns. */
struct sql_told {
	const char *name, *type, *meaning; /* type: as sql_column.type; meaning: NULL: nobody knows */
	bool hidden;
	bool field;           /* objects have such a field, of this type in their program */
	const char *declared; /* NULL: unknown */
	bool seen;            /* not declared: it is what stands in the objects looked at */
	uint32_t declared_in; /* class index, or HEAP_NONE */
};
typedef void sql_tell(void *context, const struct sql_told *column);
/* Tell the columns of whatever may stand behind FROM, in their order; a command's line is run.  The same codes. */
MUST_CHECK int sql_describe(struct sql *q, const char *table, const struct sql_wishes *wishes,
    struct progress *progress, sql_tell *tell, void *context, struct err *err);
/* The names of all columns of the table of objects that share these fields (NULL: none). */
void sql_class_columns(const struct shared_fields *fields, void (*tell)(void *context, const char *name),
    void *context);

/* A table or a view that CREATE TEMP made.  Texts live until the call returns. */
struct sql_own {
	const char *name, *statement;
	bool view;
};
typedef void sql_tell_own(void *context, const struct sql_own *own);
/* Tell those of this connection, in the order in which they were made.  0 or ERR_NOMEM. */
MUST_CHECK int sql_each_own(struct sql *q, sql_tell_own *tell, void *context, struct err *err);
/* The columns of such a table; those of a view depend on what it names. */
void sql_own_table_columns(struct sql *q, const char *name, void (*tell)(void *context, const char *column),
    void *context);

/*
 * All rows of a table, for who goes through them once: *out hands them out in stretches (result_next_rows), but those
 * of a view or of a table of one's own.  Its columns depend on the table alone; one that holds whatever a field leads
 * to has no type.  Nothing else may be asked until it is freed.  The same codes.
 */
MUST_CHECK int sql_rows(struct sql *q, const char *table, struct progress *progress, struct result **out,
    struct err *err);

/*
 * Keep of n objects (ids ascending, in place) those for which an expression is true: "total > 100 and
 * status.name = \"NEW\" and size(lines) = 0".  Names are fields, or the columns that all objects have; what an object
 * does not have is NULL.  The same codes; ERR_USAGE where none of them has such a field.
 */
MUST_CHECK int sql_where(struct sql *q, const char *expression, uint32_t *ids, size_t *n, struct progress *progress,
    struct err *err);

/*
 * Of the rows that a result shows keep those for which a condition is true: "objects > 100 and class like '%.Order'".
 * Names are its columns, or beginnings of them as with -sort; a name of any other letters is in backquotes.  What is
 * unknown is NULL, and then a row does not stay.  A note of the result says so where numbers are not exact.  The same
 * codes; ERR_USAGE where there is no such column: it names the nearest one; ERR_UNSUPPORTED where the condition asks
 * for values of a dump that is not here.  After an error the rows are as they were.
 */
MUST_CHECK int sql_keep_rows(struct sql *q, struct result *r, const char *condition, struct progress *progress,
    struct err *err);

/* --- tables in a file --------------------------------------------------------------------------- */

struct sql_file;

/* Make a database of a file that is empty, or not there.  0: *out is the caller's, who calls sql_file_close; ERR_IO,
 * ERR_NOMEM, ERR_CANCELLED; ERR_UNSUPPORTED where this build has no SQLite.  Whoever gets an error, from any of these,
 * throws the file away. */
MUST_CHECK int sql_file_open(struct sql_file **out, const char *path, struct progress *progress, struct err *err);
/* Add a table with the columns and rows of a result, and NAME_certainty where numbers are inexact.  The same codes;
 * ERR_USAGE for what cannot be a table's name. */
MUST_CHECK int sql_file_add(struct sql_file *f, const char *name, struct result *r, struct err *err);
/* The file is whole if this returns 0.  code: that of the calls before, which it returns if it is an error. */
MUST_CHECK int sql_file_close(struct sql_file *f, int code, struct err *err);

#endif
