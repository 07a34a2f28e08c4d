/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.h - what a command answers: columns and rows, computed when somebody looks at them.
 *
 * A result of twenty million rows costs the ids it ranks and nothing more: its cells are made one
 * by one, for a printer that walks through or a screen that shows forty.  Sorting and filtering
 * permute the rows; they never touch the cells' source.
 */
#ifndef CAIRN_RESULT_RESULT_H
#define CAIRN_RESULT_RESULT_H

#include "base/arena.h"
#include "base/text.h"
#include "heap/amounts.h"
#include "result/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
	enum cell_type type;
	unsigned indent;  /* TEXT: blanks that people see before it: the rows are a tree */
	struct amount amount; /* the number of COUNT, BYTES, PERCENT, ADDRESS and FLAG, of deltas signed
	                         (amount_signed), and how sure any cell is, text included */
	const char *text; /* TEXT: valid until the next cell of this result is asked for */
};

/* What a row stands for, so that it can be opened, kept in a set, or named on a command line. */
enum target_kind {
	TARGET_NONE,
	TARGET_OBJECT,
	TARGET_CLASS,
	TARGET_THREAD,
	TARGET_GROUP, /* objects of several classes: opened as a histogram of the row's members */
	TARGET_COMMAND,
};
struct target {
	enum target_kind kind;
	uint32_t id;         /* object id, class index or thread index */
	const char *command; /* the command line that opens it; else (NULL) what its kind implies */
	bool part;           /* it counts other objects than its kind implies, a part of a class or more
	                        than the one object: opened as a list of the row's members */
	const struct opened *opened; /* whose id it is: filled in by result_target */
};

struct opened;   /* opened/opened.h */
struct retained; /* analysis/dominators/dominators.h */
struct result;

/* Finds what some cells need besides retained sizes: sums over the heap, for instance.  0, ERR_NOMEM or
 * ERR_CANCELLED, and then nothing is found. */
typedef int result_later(struct result *r, const struct retained *known, struct progress *progress,
    struct err *err);

struct result_ops {
	/* Cell of row (0 … n_rows-1, the source's own order) and column; text may use *scratch. */
	void (*cell)(const struct result *r, size_t row, unsigned column, struct cell *out,
	    struct text *scratch);
	void (*target)(const struct result *r, size_t row, struct target *out); /* NULL: none */
	void (*release)(void *data);                                            /* NULL: nothing */
	/* The objects that rows count (a bit for each source row) into to (a bit for each object); NULL:
	 * those that the rows' targets imply. */
	int (*members)(const struct result *r, const struct bits *rows, struct bits *to,
	    struct err *err);
};

/* One name and value of the head that stands above a table (object, info). */
struct field {
	enum column_id column;
	const char *name; /* the word of the column, or the value's own name */
	struct cell cell; /* text owned by the result's arena */
};

struct result {
	const char *title;     /* "histogram", "java.lang.String", "0xe0000af0" */
	const struct opened *opened; /* the dump that it is about, borrowed; NULL: about none */
	const struct heap *heap; /* its heap, or NULL */
	const struct shape *shape; /* what it was made to look like; NULL: picked from another one */
	const struct column *columns; /* the shape's, or its own where other ones are hidden */
	unsigned n_columns;    /* 0: only a head */
	enum column_id named_by; /* the column that says what a row is; COL_OWN_NAME: none does */
	const struct result_ops *ops;
	void *data;            /* the ops' own */
	size_t n_source;       /* rows before filtering */
	uint32_t *order;       /* n_rows source rows in the order shown; NULL: as they are */
	size_t n_rows;         /* rows shown */
	int sorted_by;         /* column, or -1 */
	bool descending;
	/* Does another row's number contain that of this row of the source, so that sums leave it out?
	 * NULL: none does. */
	bool (*within)(const struct result *r, size_t row);
	result_later *later;   /* NULL: cells need nothing that they do not find at once */
	uint64_t later_tried;  /* serial of the retained sizes that it was last tried with; 0: never */
	bool later_found;      /* and that found it */
	bool flat;             /* the rows of a tree were sorted as a list: they are none any more */

	struct field *head;    /* single values above the table */
	size_t n_head, cap_head;
	const char *story;     /* lines below the table that people read, or NULL; ends with a line's end */
	const char *note;      /* a sentence below, or NULL: "roots are inferred (PHD records none)" */
	bool failed;           /* the command answered "no": exit status 1 (check, find) */
	bool plain_text;       /* help and the like: only the single text column's lines, no header */
	struct cell *totals;   /* what result_total() found, for the rows shown; NULL: nothing yet */
	/* Asked every RESULT_STOP_EVERY rows while rows are filtered or sorted; true: give up.  NULL: never */
	bool (*stop)(void *context);
	void *stop_context;
	struct err lost;       /* memory that rows or their order did not get: see result_check */
	struct arena arena;
	struct text scratch;
};
#define RESULT_STOP_EVERY 65536

/* shape and ops must outlive the result, which takes data over. */
struct result *result_new(const char *title, const struct opened *opened, const struct shape *shape,
    const struct result_ops *ops, void *data, size_t n_rows);
void result_free(struct result *r); /* NULL is fine */

/* Add a value that the shape has to the head; text is copied. */
void result_head(struct result *r, enum column_id column, struct cell cell);
/* The same of a value that the dump names itself. */
void result_head_named(struct result *r, const char *name, struct cell cell);

/* Show a column of this one result, or hide it. */
void result_show(struct result *r, unsigned column, bool shown);

/* A result whose rows are plain strings kept by it: rows are added cell by cell. */
struct result *result_new_rows(
    const char *title, const struct opened *opened, const struct shape *shape);
/* A row for which there is no memory is left out, and the result remembers that (result_check). */
void result_add_row(struct result *r, const struct cell *cells, const struct target *target);
/* Cells of a column that is found out only when somebody looks: data is that of the members. */
void result_rows_late(struct result *r, unsigned column,
    struct cell (*cell)(const struct result *r, void *data, size_t row));

/*
 * Cells are drawn many times and must not walk the heap.  What they need besides retained sizes is found
 * by r->later when those are known: by the command that makes the result, or, where they come after
 * it, by whoever shows it.  Until then such cells are unknown.
 */
bool result_is_late(const struct result *r); /* it can be found now, and was not tried */
int result_find_late(struct result *r, struct progress *progress, struct err *err); /* any thread */
void result_take_late(struct result *r, int code); /* what that gave, once nobody works on it */
/* Retained sizes, where they and what r->later finds are known: what cells are made from; else NULL. */
const struct retained *result_known(const struct result *r);

/* The data that result_rows_members took over. */
void *result_rows_data(const struct result *r);
/* Rows that count objects tell which when they are asked; data is taken over. */
void result_rows_members(struct result *r,
    int (*members)(const struct result *r, void *data, const struct bits *rows, struct bits *to,
        struct err *err),
    void (*release)(void *data), void *data);

/* Cell of the row shown at position row, after sorting and filtering.  Its text is valid until the next
 * cell of r is asked for (cursor.h has readers that do not disturb each other). */
void result_cell(struct result *r, size_t row, unsigned column, struct cell *out);
/* The same with room for a text of the caller's, which the next use of that room writes over. */
void result_read(const struct result *r, size_t row, unsigned column, struct cell *out,
    struct text *scratch);
void result_target(const struct result *r, size_t row, struct target *out);

/* Does any row shown stand for objects?  Head values, help and settings do not. */
bool result_has_sets(const struct result *r);

/*
 * The objects that rows stand for: exactly those that they count, found when somebody asks.  rows: a
 * bit for each row shown; NULL: all of them.  Sets bits in to, which has one for each object of the
 * heap.  0 or ERR_NOMEM.
 */
int result_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err);

/* The same of single targets: an object is itself, a class its instances, a thread its object or,
 * where the dump has none, what its stack holds.  end also after an error of begin (ERR_NOMEM). */
struct implied {
	const struct heap *heap;
	struct bits classes, threads, *to;
	bool any_class, any_thread;
};
int implied_begin(struct implied *m, const struct heap *h, struct bits *to, struct err *err);
void implied_add(struct implied *m, const struct target *target);
void implied_end(struct implied *m);

int result_column(const struct result *r, const char *name); /* index or -1; unique prefix is enough */
int result_column_of(const struct result *r, enum column_id column); /* index or -1 */
/* What its rows are called: "classes"; "rows" where one may stand below another that counts it. */
const char *result_noun(const struct result *r, bool one);

/* Should a loop over rows end before its time?  Asks only now and then. */
bool result_stopped(const struct result *r, size_t row);
/* Stable; unknown cells last either way.  A tree becomes a list (tree.h has tree_sort).  0, or all is
 * as it was: ERR_CANCELLED (stopped), or ERR_NOMEM, which the result remembers as well. */
int result_sort(struct result *r, unsigned column, bool descending, struct err *err);
/* Keep the rows for which keep() holds, of those shown now.  Fails like result_sort. */
int result_filter(struct result *r, bool (*keep)(struct result *r, size_t row, void *context),
    void *context, struct err *err);

/*
 * Is everything there that was put in?  ERR_NOMEM and *err when memory was refused on the way, for
 * rows, texts or their order: whoever made the result then hands on the error instead.  Asking once
 * at the end saves asking at every row.
 */
int result_check(const struct result *r, struct err *err) __attribute__((warn_unused_result));
/* Remember a refusal; the first one counts. */
void result_lost(struct result *r, const struct err *err);
void result_keep_first(struct result *r, size_t n);
void result_show_all(struct result *r); /* undo filter, keep the sort order */

/*
 * A result of its own that shows the given columns (and, for UINT_MAX - i, head field i) of the rows
 * that r shows; takes r over.  The order of pick is the order of the columns.
 */
struct result *result_pick(struct result *r, const unsigned *pick, unsigned n);

/* Sum of a column over the rows shown, as sure as its least sure cell; of a dump that was read in part
 * at least so much, since rows may be missing. */
void result_total(struct result *r, unsigned column, struct cell *out);
/* The same step by step: nothing yet, then the cells of rows (as shown). */
struct cell result_sum_begin(const struct result *r, unsigned column);
void result_sum_row(struct result *r, size_t row, unsigned column, struct cell *sum);
void result_sum(struct cell *sum, const struct cell *one);
/* Rows came or went: totals are to be found anew. */
void result_changed(struct result *r);

/* Cells of how much or how many are made of amounts, so that each says how sure it is and why; those
 * of an unknown amount are unknown. */
struct cell cell_count(struct amount n);
struct cell cell_bytes(struct amount n);
struct cell cell_percent(struct amount part, struct amount whole); /* of nothing: 0 */
struct cell cell_delta(struct amount before, struct amount after);
struct cell cell_bytes_delta(struct amount before, struct amount after);
/* A number that counts nothing in the dump and is no estimate: an index, a depth, a priority. */
struct cell cell_plain(uint64_t n);

struct cell cell_none(void);  /* unknown: the dump does not tell */
struct cell cell_unknown(enum reason reason);
struct cell cell_blank(void); /* does not apply: the length of what is no array */
struct cell cell_text(const char *s); /* NULL: unknown */
struct cell cell_text_as_sure(const char *s, struct amount as);
/* The word for how sure something else is, and why. */
struct cell cell_certainty(struct amount of);
struct cell cell_address(uint64_t address);
struct cell cell_flag(bool value);
struct cell cell_flag_as_sure(bool value, struct amount as);

/* Numbers that tell how much: they stand right, begin with the largest and may be inexact. */
bool cell_is_number(enum cell_type type);
/* Of these, those that may be below 0. */
bool cell_is_signed(enum cell_type type);
/* A number that is as large as the cell's: where one cell's is larger, so is that one's. */
uint64_t cell_rank(const struct cell *c);

/* The cell as people read it, with its certainty glyph ("~" inferred, ">=" lower bound, "?"). */
void cell_print(const struct cell *c, struct text *to);
/* The cell as machines read it: plain numbers, nothing for what is unknown. */
void cell_print_plain(const struct cell *c, struct text *to);

#endif
