/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_private.h - what the files of this folder share. */
#ifndef CAIRN_QUERY_SQL_SQL_PRIVATE_H
#define CAIRN_QUERY_SQL_SQL_PRIVATE_H

#include "analysis/describe/describe.h"
#include "analysis/members.h"
#include "query/sql/sql.h"
#include "query/sql/sql_tables.h"

#include <sqlite3.h>

/*
 * How sure the numbers are that a column handed out in the current statement: they themselves, and what is made of them
 * or of rows that were chosen by them.
 */
struct sql_doubt {
	const char *column;
	struct amount own, made;
	bool away;    /* a value was asked for that stands in the dump, which is not here */
};

/* Of a table, or of the functions, which are called "". */
struct sql_doubts {
	struct sql *sql; /* a table may be let go of after what it was made of */
	struct sql_doubts *next;
	char *table;
	struct sql_doubt *of;
	unsigned n;
};

/* A temporary table with numbers that are not sure. */
struct sql_kept {
	char *table;
	struct amount sure;
};

/* Of the current statement: what begins within another one has its own. */
struct sql_now {
	struct sql_wishes wishes;
	struct progress *progress;
	struct progress *watched;         /* what stood there before */
	struct err failed;                /* what a table met, in its own words; code 0: nothing */
	struct amount doubt;              /* 0, as sure as the least sure number that went into the statement */
	unsigned selects;                 /* SELECTs of it, but for those of views that are there by themselves */
	bool indirect;                    /* it reads a view of the user's, WITH, or a temporary table with such numbers */
	struct text missed;               /* paths of fields that led nowhere, because no object had such a field */
	struct text notes;                /* lines below the rows */
	uint64_t counted_left;            /* entries that size() may still count */
	bool told_entries;                /* a note says what was not a collection */
	bool silent_noted;                /* one says why there are no values */
	bool more_fields;                 /* one says that a table has more fields than columns */
	const struct retained *retained;  /* NULL: not asked for yet */
	struct declared *declared;        /* the tables that were named so far */
	uint64_t seconds;                 /* that ended with progress->until, where that is set */
	uint64_t until;                   /* what stood there before */
	uint64_t refusals;                /* of memory, before the statement began */
	unsigned depth;                   /* of questions within the lines of commands that questions name */
	bool placed;                      /* the current error names the place of a view already */
};

struct sql {
	sqlite3 *db;
	struct opened *opened;
	const struct heap *heap;
	struct sql_source source;
	struct sql_now now;
	struct sql_doubts *doubts;        /* of all tables that are connected, and the functions */
	struct sql_kept *kept;            /* owned */
	size_t n_kept, cap_kept;
	char *creates;                    /* the temporary table that the statement makes; owned, NULL: none */
	char *drops;                      /* the table or view that it drops; the same */
	struct err silent;                /* why the dump tells no values; code 0: it does */
	struct class_fields **fields;     /* by class index: of its instances; NULL: not asked for yet */
	struct members members;           /* instances by class */
	unsigned char *values;            /* by class: are its objects values?  0: not asked for yet (sql_values.c) */
	bool declares;                    /* a table's columns are being declared, which looks like writing */
	unsigned views;                   /* kept ones that are being declared, one naming the next */
};

/* Does SQLite's last code stand for this error?  Keep its words, for SQLite only hands on a code. */
int sql_keep(struct sql *q, const struct err *err);
/* SQLITE_OK, or what the statement ends with. */
int sql_need_retained(struct sql *q);
int sql_need_retained_whole(struct sql *q); /* with the sums of classes and other groups */
/* A round of a loop that SQLite does not see: has the statement been stopped? */
bool sql_stops(const struct sql *q, uint64_t round);
/* Tell why there are no values, where the dump has none. */
void sql_note_silent(struct sql *q);
/* Tell this below the rows, once. */
void sql_note(struct sql *q, const char *line);

/* --- instanceof (sql_instanceof.c) --------------------------------------------------------------- */

/* Whether objects are of this class, of a subclass, or implement this interface of the JDK; the caller's.  Notes what
 * the dump does not record of interfaces. */
struct sql_instanceof;
struct sql_instanceof *sql_instanceof_new(struct sql *q, const char *name);
bool sql_instanceof_is(struct sql_instanceof *i, uint32_t class);
void sql_instanceof_free(void *instanceof);

/* --- doubts -------------------------------------------------------------------------------------- */

/* Those of a table with these n columns, exact; names are borrowed. */
struct sql_doubts *sql_doubts_new(struct sql *q, const char *table, char *const *columns, unsigned n);
void sql_doubts_free(struct sql_doubts *d); /* NULL is fine */
/* A statement begins: nothing was handed out. */
void sql_doubts_begin(struct sql *q);
/* Rows were chosen by a number as sure as this. */
void sql_doubt_choice(struct sql *q, struct sql_doubt *d, struct amount a);
/* A value is asked for that no row of this dump tells: tell why, and where the dump is not here keep it in mind. */
void sql_unknown(struct sql *q, struct sql_doubt *d);
/* A number as sure as this is handed out. */
static inline void sql_doubt(struct sql *q, struct sql_doubt *d, struct amount a)
{
	if (a.certainty == EXACT)
		return;
	if (a.certainty != UNKNOWN)
		d->own = amount_as_sure(d->own, a);
	sql_doubt_choice(q, d, a);
}
/* A column of an answer, when all rows were made. */
struct sql_sure {
	struct amount sure; /* 0, and as sure as the least sure number of it */
	bool own;           /* it is a column of a table: a number of it that is marked SQL_EXACT is surer than that */
	bool away;          /* it is made of values that are not here; or if own it may be */
};
/* sure: by column; NULL: the statement has no answer.  ERR_UNSUPPORTED: which rows there are hangs on values that are
 * not here. */
MUST_CHECK int sql_sureness(struct sql *q, sqlite3_stmt *s, struct sql_sure *sure, struct err *err);
#define SQL_EXACT 1 /* as a subtype of SQLite's, which is lost where rows are sorted or a number is calculated with */

/* --- tables and views of one's own ---------------------------------------------------------------- */

/* Does a statement begin as those that are answered do?  And ERR_USAGE for the others. */
bool sql_may_begin(const char *statement);
int sql_no_question(struct err *err);
/* SQLite's authorizer, about a struct sql. */
int sql_may(void *sql, int action, const char *a, const char *b, const char *database, const char *view);
/* Ask SQLite's own catalogue, which no statement may do; format and what is behind it: as sqlite3_mprintf.  SQLITE_OK,
 * or its code. */
typedef int sql_row(void *context, int n, char **value, char **names);
int sql_ask_catalogue(struct sql *q, sql_row *row, void *context, const char *format, ...);
int sql_refuse_drop(const char *name, struct err *err); /* ERR_USAGE */
/* A statement begins; it has made or dropped what it names. */
void sql_own_begin(struct sql *q);
void sql_own_end(struct sql *q);
void sql_own_release(struct sql *q);

/* --- values ------------------------------------------------------------------------------------- */

/* The object that a value names: by its address, as a number or as text ("0xe0000af0"); HEAP_NONE. */
uint32_t sql_object(const struct sql *q, sqlite3_value *value);
/* The same, and of a format with pointers into objects the object around an address. */
uint32_t sql_object_around(const struct sql *q, sqlite3_value *value);
/* Add the classes of this name to a set, of which the bits are made if there are none yet.  SQLITE_OK or SQLITE_NOMEM;
 * *some: there is one. */
int sql_classes_named(const struct sql *q, sqlite3_value *value, struct bits *classes, bool *some);
/* Addresses are integers with a sign to SQL: where some are above all of those (false), it must compare them itself. */
bool sql_addresses_ordered(const struct heap *h);
void sql_result_address(sqlite3_context *to, const struct heap *h, uint32_t id); /* HEAP_NONE: NULL */
/* The same as a text, "0xe0000af0". */
void sql_result_place(sqlite3_context *to, const struct heap *h, uint32_t id);
void sql_result_amount(struct sql *q, sqlite3_context *to, struct amount a);
void sql_result_text(sqlite3_context *to, const struct text *t); /* copied */
/* Is the object a text, a number, a date or a constant, of which the contents matter and not the address? */
bool sql_is_value(const struct sql *q, uint32_t id);
/* Who reads what is in one object after another, quickest in the order of ids: so what each column leads to has a
 * reader of its own.  Begins zeroed. */
struct sql_reader {
	struct string_walk walk;
	struct text scratch;
};
/* A number as itself, a text as such, null as NULL; a reference as what is in the object it leads to, if that is a
 * value and contents are wanted, else as the address that it holds. */
void sql_result_value(const struct sql *q, sqlite3_context *to, const struct any_value *v, bool contents,
    struct sql_reader *reader);
/* What is in an object: the text, the number, else what it is in a few words, or NULL.  whole: a number that SQL has
 * no room for is a text of all its digits, else a real number that is near it. */
void sql_result_contents(const struct sql *q, sqlite3_context *to, uint32_t id, bool whole,
    struct sql_reader *reader);
/* The same of what may be a text, a number or anything else: that is given in words, and null is NULL. */
void sql_result_words(const struct sql *q, sqlite3_context *to, const struct any_value *v,
    struct sql_reader *reader);
void sql_result_cell(struct sql *q, sqlite3_context *to, const struct cell *c);
/* A set of objects as a value: its ids behind a mark.  *n gets how many, the bytes are theirs; NULL: it is none. */
#define SQL_SET_MARK "cairn set"
const char *sql_set(const struct sql *q, sqlite3_value *value, size_t *n);

/* --- tables ------------------------------------------------------------------------------------- */

/* Register what is there by itself. */
MUST_CHECK int sql_add_objects(struct sql *q);
MUST_CHECK int sql_add_references(struct sql *q);
MUST_CHECK int sql_add_entries(struct sql *q);
MUST_CHECK int sql_add_variables(struct sql *q);
MUST_CHECK int sql_add_functions(struct sql *q);
/* The same of these objects, ids ascending and borrowed until sql_end. */
MUST_CHECK int sql_add_objects_of(struct sql *q, const char *name, const uint32_t *ids, size_t n);
/* Register a table of this name: of these classes (taken over), or of the rows of a result (taken over). */
MUST_CHECK int sql_add_classes(struct sql *q, const char *name, uint32_t *classes, size_t n);
MUST_CHECK int sql_add_result(struct sql *q, const char *name, struct result *r);
/* The same of the rows that a result shows; borrowed until sql_end. */
MUST_CHECK int sql_add_rows_of(struct sql *q, const char *name, struct result *r);
/* The columns of such a table: those of the result, then NAME_certainty of each. */
void sql_result_columns(const struct result *r, struct sql_columns *to);

/* It is there until sql_end.  What it is of is borrowed from its module. */
struct declared {
	struct declared *next;
	char *name;
	const uint32_t *classes;   /* NULL: of none */
	size_t n_classes;
	const struct result *rows; /* NULL: of none */
	bool view;                 /* one that is kept */
};
struct declared *sql_declared(struct sql *q, const char *name);
/* Declare a view that is kept, and all that it names. */
MUST_CHECK int sql_declare_view(struct sql *q, const struct sql_view *view, struct err *err);
void sql_drop_view(struct sql *q, const char *name);

/* The columns of a table of objects with these fields (NULL: none), those of the fields last.  contents: by field,
 * whether what it leads to stands for its address; NULL: that does not matter. */
void sql_objects_columns(struct sql *q, const struct shared_fields *fields, const bool *contents,
    struct sql_columns *to);

/* --- fields ------------------------------------------------------------------------------------- */

/* The fields of an object's class; q owns them.  NULL: there are none, or no memory. */
const struct shared_fields *sql_fields_of(struct sql *q, uint32_t id, struct err *err);
/* Has the object such a field: by its own name or its column's, a static one of a class, an element "[3]"?  Without
 * memory false, and *err says so. */
bool sql_has_field(struct sql *q, uint32_t id, const char *name, struct err *err);
/* Call back with the names of its fields, and of their columns where those are others.  0, ERR_NOMEM,
 * ERR_UNSUPPORTED. */
int sql_each_field(struct sql *q, uint32_t id, void (*take)(void *context, const char *name), void *context,
    struct err *err);
void sql_fields_release(struct sql *q);

/* The fields that instances of all these classes share, for the caller to close.  ERR_UNSUPPORTED: none is known. */
int sql_shared_fields(struct shared_fields **out, struct sql *q, const uint32_t *classes, size_t n, struct err *err);

/* A path of fields, "customer.address.city", for many objects one after another. */
struct sql_path {
	struct sql *sql;
	char *words;
	size_t n;
	bool missed, led; /* some object had no such field; some object led to its end */
	size_t missed_at; /* the furthest step that was missed */
	size_t found_to;  /* the byte behind the furthest that was found */
	uint32_t missed_id; /* what lacked it */
	struct object_parts *parts; /* that the last value is of, or NULL */
	struct sql_step {
		size_t at;      /* the byte of words where it begins */
		uint32_t class; /* of the object seen last, and there */
		size_t field;   /* the number of the field */
		size_t length;  /* of its name; 0: it has none of this name */
		struct fields_walk walk;
	} *step;
	size_t n_steps, cap_steps;
};
struct sql_path *sql_path_make(struct sql *q, const char *words); /* the caller's */
void sql_path_free(struct sql_path *p);
/* Has no object a field that the path names?  One that is null on the way does not tell. */
bool sql_path_is_missed(const struct sql_path *p);
/* The value at the end of a path, until the next call; false: there is none, or *err says why. */
bool sql_path_walk(struct sql_path *p, uint32_t id, struct any_value *v, struct err *err);

/* --- texts and numbers ---------------------------------------------------------------------------- */

enum sql_literal { NO_LITERAL, LITERAL_NUMBER, LITERAL_DIGITS /* a text */, LITERAL_TEXT };
/* A value that is compared with a literal. */
struct sql_compared {
	char *name, *value; /* as it was written, and in SQL */
	enum sql_literal literal;
};
/* ERR_USAGE: in no row of the table the value is of the literal's kind, but in some of the other.  these: what the rows
 * are called in the error. */
MUST_CHECK int sql_check_compared(struct sql *q, const char *table, const char *these, const struct sql_compared *c,
    struct err *err);
/* The same of a column that holds texts, or numbers, as a note. */
void sql_note_compared(struct sql *q, const char *column, bool text, sqlite3_value *with);

/* --- answers ------------------------------------------------------------------------------------- */

/* A statement, or several, begin and end: what was named in between is forgotten.  One may begin while another is
 * prepared, of which the caller keeps the state in between.  0, or ERR_USAGE: too many within each other. */
MUST_CHECK int sql_begin(struct sql *q, const struct sql_wishes *wishes, struct progress *progress,
    struct sql_now *outer, struct err *err);
void sql_end(struct sql *q, const struct sql_now *outer);
/* Run a statement that selects ids, and write them over ids, which has room for *n; *n gets how many they are. */
MUST_CHECK int sql_keep_ids(struct sql *q, const char *text, uint32_t *ids, size_t *n, struct err *err);
/* What an EXPLAIN says, in sentences. */
MUST_CHECK int sql_explain(struct sql *q, sqlite3_stmt *s, struct result **out, struct err *err);
/* The rows of a prepared statement. */
MUST_CHECK int sql_answer(struct sql *q, sqlite3_stmt *s, struct result **out, struct err *err);
/* Prepare the first statement of a text, of which the tables are declared that it names; *rest is behind it. */
MUST_CHECK int sql_prepare(struct sql *q, const char *text, sqlite3_stmt **s, const char **rest, struct err *err);
/* Does a text spell a declared table otherwise, and there is a class of that name, too?  ERR_USAGE. */
MUST_CHECK int sql_check_spelling(struct sql *q, const char *text, struct err *err);
/* Does a statement, up to `end`, compare something with NULL?  ERR_USAGE: that is never true. */
MUST_CHECK int sql_check_null(const char *text, const char *end, struct err *err);
/* Let the tokens of a condition say IS NULL and IS NOT NULL where they are = null, == null and != null. */
void sql_null_as_java(struct sql_tokens *t);
/* What no statement on this connection goes beyond. */
void sql_limit(sqlite3 *db);
/* The same in stretches, of a statement that selects all of a table; it takes the statement over, and ends with the
 * result what began when outer was kept. */
MUST_CHECK int sql_answer_rows(struct sql *q, sqlite3_stmt *s, const char *table, const struct sql_now *outer,
    struct result **out, struct err *err);
/* What SQLite says of its last call, as an error of ours. */
int sql_error(struct sql *q, int code, struct err *err);
/* The name that is nearest to a wrong one, of those looked at; none as long as it is empty. */
struct sql_nearest {
	const char *to;
	unsigned edits; /* all of more count as none: begin with SQL_EDITS_MOST + 1 */
	char name[500];
};
enum { SQL_EDITS_MOST = 2 };
void sql_look_at_name(void *nearest, const char *candidate);

#endif
