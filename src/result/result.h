/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.h - the answer of a command: columns and rows, computed when they are shown.
 *
 * A result of twenty million rows takes the memory of the ids that it ranks and no more: cells are
 * made one by one, for a printer that goes through all of them or for a screen that shows forty rows.
 * Sorting and filtering change which rows are shown in which order; they never change the source of the
 * cells.
 */
#ifndef CAIRN_RESULT_RESULT_H
#define CAIRN_RESULT_RESULT_H

#include "algorithms/bits.h"
#include "base/amount.h"
#include "base/text.h"
#include "memory/arena.h"
#include "result/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bits;
struct heap_class;
struct progress;

struct cell {
	enum cell_type type;
	unsigned indent;  /* TEXT: blanks that people see before it: the rows are a tree */
	struct amount amount; /* the number of COUNT, BYTES, PERCENT, ADDRESS and FLAG, of deltas signed
	                         (amount_signed), and the certainty of any cell, text included; of a NUMBER
	                         what it is ordered by */
	const char *text; /* TEXT, NUMBER: valid until the next cell of this result is asked for */
	const char *name; /* TEXT, NUMBER: what people see instead of a word for machines; as text; NULL: the same */
	const char *beside; /* what people see after it: the date that a number is; valid as text; NULL: nothing */
	bool suspect;     /* it is to be looked at first: red on the screen */
};

/* What a row represents, so that it can be opened, kept in a set, or named on a command line. */
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
	bool part;           /* the row counts other objects than the kind implies (part of a class, or
	                        more than one object), so it is opened as a list of the row's members */
	const struct opened *opened; /* the dump that id belongs to; result_target fills it in */
	pid_t process;       /* of a command: the row is the process of this number, or (part) a class of it;
	                        0: neither */
	uint32_t about;      /* of an object: panes and keys are about the one of this id - 1; 0: about itself */
};
/* The object that panes and keys are about. */
static inline uint32_t target_subject(const struct target *t)
{
	return t->kind == TARGET_OBJECT && t->about ? t->about - 1 : t->id;
}

struct opened;   /* opened/opened.h */
struct retained; /* analysis/dominators/dominators.h */
struct result;

/* Finds what some cells need besides retained sizes, for instance sums over the heap.  known: the
 * retained sizes.  0; after ERR_NOMEM or ERR_CANCELLED nothing is found. */
typedef int result_later(struct result *r, const struct retained *known, struct progress *progress,
    struct err *err);

/* A row that is a heading has only its branch, in a list the column that names it, which takes the rest of the line,
 * and the cells left of it.  OF_ROWS: each of the rows below repeats what it says, so machines get only those. */
enum row_heading { NO_HEADING, HEADING_ALONE, HEADING_OF_ROWS };

struct result_ops {
	/* The cell of a row (0 … n_source - 1, in the source's own order) and a column.  Its text may
	 * be put into *scratch. */
	void (*cell)(const struct result *r, size_t row, unsigned column, struct cell *out,
	    struct text *scratch);
	/* The same for sorting by numbers, without their digits: *out with its amount.  NULL: use cell. */
	void (*number)(const struct result *r, size_t row, unsigned column, struct cell *out);
	void (*target)(const struct result *r, size_t row, struct target *out); /* NULL: none */
	enum row_heading (*heading)(const struct result *r, size_t row);         /* NULL: there is none */
	/* Of a result that hands out its rows in stretches (result_next_rows): put the next ones into data, and
	 * return how many; *err is an error's.  NULL: it has all its rows. */
	size_t (*next_rows)(struct result *r, struct err *err);
	/* Are numbers of this column inexact, of rows still to come, too?  NULL: see the rows that are there. */
	bool (*inexact)(const struct result *r, unsigned column);
	void (*release)(void *data);                                            /* NULL: nothing */
	/* Set the bits in `to` of the objects that these rows count.  rows: a bit for each source row;
	 * to: a bit for each object.  0 or ERR_NOMEM.  NULL: rows count what their targets imply. */
	int (*members)(const struct result *r, const struct bits *rows, struct bits *to,
	    struct err *err);
};

/* The dumps that a result compares, each with its name for people, "dump 1 (hour-1.hprof)". */
struct result_dumps {
	size_t n, own; /* own: the one that the result is about; n: none */
	const char *const *name;
	/* Is the cell of a source row inexact because of this dump's figures, for this reason? */
	bool (*blamed)(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump);
};

/* One name and value of the head above a table (object, info). */
struct field {
	enum column_id column;
	const char *name; /* the word of the column, or the value's own name */
	const char *group; /* what people read above it and the values behind it; NULL: it is in the group before */
	struct cell cell; /* text owned by the result's arena */
};

/* What is to be known of a result besides its rows; several may be true. */
enum result_state {
	RESULT_FAILED = 1,         /* the command answered "no": exit status 1 (check, find) */
	RESULT_NONE_ANSWERS = 2,   /* having no rows is the answer, and the note says so: nothing failed */
	RESULT_LACKS_ROWS = 4,     /* the note says so: with formats that have no notes it goes to standard error */
	RESULT_FIRST_ONLY = 8,     /* the stage head removed rows: counts and sums are of the others */
	RESULT_OF_VALUES = 16,     /* which rows there are, or what they count, depends on values that are read from the
	                              dump's file: see result_of_file */
	RESULT_OF_PATHS = 32,      /* rows are named by what the paths to their objects lead through */
	RESULT_PLAIN_TEXT = 64,    /* help and the like: print the lines of the one text column, no header */
	RESULT_EXPLAINS = 128,     /* it is about the result before it (why), which can be asked about again */
	RESULT_NO_PANES = 256,     /* the table itself says what its rows are: it has no panes */
	RESULT_FOLDED = 512,       /* steps of paths are folded: the option -unfolded shows each */
	RESULT_UNFOLDED = 1024,    /* each was asked for by that option */
	RESULT_REFRESHES = 2048,   /* it is about what runs: the screen asks again every two seconds */
};

struct result {
	const char *title;     /* "histogram", "java.lang.String", "0xe0000af0" */
	const struct opened *opened; /* the dump that it is about, borrowed; NULL: about none */
	const struct heap *heap; /* its heap, or NULL */
	const struct result_dumps *dumps; /* what it compares, borrowed from data; NULL: nothing.  See result_dumps */
	const struct shape *shape; /* the shape it was made with; NULL: it was picked from another
	                              result */
	const struct column *columns; /* the shape's, or a copy of its own where others are hidden */
	unsigned n_columns;    /* 0: only a head */
	bool arranged;         /* the shown columns were chosen: none is added by itself */
	bool chosen;           /* by hand, just these: if they do not fit, none is hidden for the others */
	const struct column *unchosen; /* the columns as they were before that; NULL: as they are */
	const char *kind;      /* "ls com.acme.shop.Order": what a choice of columns is kept for; NULL: for nothing */
	const struct heap_class *all_of; /* its rows are all objects of this class and no others; NULL: that is not so */
	enum column_id named_by; /* the column that says what a row is; COL_OWN_NAME: none does */
	bool apart;            /* as of the shape */
	const struct result_ops *ops;
	void *data;            /* what the ops work on; owned, ops->release frees it */
	size_t n_source;       /* rows before filtering */
	size_t n_passed;       /* rows of the stretches before this one (result_next_rows) */
	uint32_t *order;       /* the n_rows source rows that are shown, in order; NULL: all, in source
	                          order */
	size_t n_rows;         /* rows shown */
	size_t row_asked;      /* the one that answers the question: the screen selects it first */
	int sorted_by;         /* column, or -1 */
	bool descending;
	/* Do the numbers of another row contain those of this source row?  Then sums leave it out.
	 * NULL: no row is contained in another. */
	bool (*within)(const struct result *r, size_t row);
	result_later *later;   /* finds what late cells need; NULL: there are no such cells */
	uint64_t later_tried;  /* serial of the retained sizes that later was last called with; 0:
	                          never */
	bool later_found;      /* and that call succeeded */
	bool flat;             /* the rows of a tree were sorted as a list, so they are a tree no
	                          more */

	struct field *head;    /* single values above the table */
	size_t n_head, cap_head;
	const char *group;     /* the group that begins with the next value of the head; NULL: none */
	unsigned state;        /* enum result_state */
	const char *empty;      /* lines that people read in place of rows where there is none, or NULL: "none" */
	const char *text_below; /* lines below the table that people read, or NULL; ends with a line's end */
	const char *note;      /* a sentence below, or NULL: "roots are inferred (PHD records none)" */
	struct {
		enum column_id part;
		struct amount whole;
	} shares;              /* what the column share is of: its total is that of `part`; part 0: it has none */
	struct known_sum {
		enum column_id column;
		struct amount sum;
	} known_sum[2];        /* sums over all rows, known otherwise: where sums of cells agree, they are as sure */
	const struct exact_row {
		uint64_t key; /* of the row */
		struct amount bytes;
		const struct exact_row *next;
	} *exact;              /* what rows retain, as result_note_exact has it */
	const char *warning;   /* likewise what of the note goes to standard error with such formats, or NULL */
	const char *note_first; /* the part of the note that people also read before the sentence of a row; or NULL */
	struct cell *totals;   /* by column: what result_total found for the rows shown; NULL: nothing
	                          yet */
	/* Called every RESULT_STOP_EVERY rows while rows are filtered, sorted or printed; true: give up, as
	 * when the calling thread's work is cancelled.  NULL: never. */
	bool (*stop)(void *context);
	void *stop_context;
	uint32_t *kept;        /* while rows are filtered: the source rows that are kept so far; else NULL */
	size_t n_kept;
	bool so_far;           /* it is a look (result_look): there may be more rows */
	struct err lost;       /* the first refusal of memory for rows or their order: see
	                          result_check */
	struct long_text {
		const char *text; /* in the arena */
		size_t length;    /* 0: none yet */
	} long_texts[8];       /* the last ones kept */
	struct arena arena;
	struct text scratch;
};
#define RESULT_STOP_EVERY 256

static inline bool result_is(const struct result *r, enum result_state state)
{
	return r->state & state;
}

static inline void result_mark(struct result *r, enum result_state state, bool is)
{
	r->state = is ? r->state | state : r->state & ~(unsigned)state;
}

/* A result over a source of n_rows rows; the caller's (result_free).  It takes data over; shape and
 * ops must outlive it. */
struct result *result_new(const char *title, const struct opened *opened, const struct shape *shape,
    const struct result_ops *ops, void *data, size_t n_rows);
void result_free(struct result *r); /* NULL is fine */

/* Add a value to the head, one that the shape lists; text is copied. */
void result_head(struct result *r, enum column_id column, struct cell cell);
/* The values added to the head from now on are a group with this heading, for people; not copied. */
void result_group(struct result *r, const char *words);
/* A head as people read it, which skips what does not apply: the next value from number *i on, and the words of the
 * group that begins with it, or NULL.  False: there is none. */
struct head_walk {
	size_t i;          /* the value */
	const char *group;
};
bool result_head_next(const struct result *r, struct head_walk *w);
/* Append a value of a head as people read it: an object's number as "#53", so that it differs from a field
 * called id. */
void result_head_print(const struct field *f, struct text *to);
/* Add a sentence to the note, behind what it says already; copied.  Nothing if it says that already. */
void result_add_note(struct result *r, const char *sentence);
/* The same of a text, which is released; nothing if it is empty.  And of a sentence that is printed. */
void result_add_note_text(struct result *r, struct text *sentence);
void result_notef(struct result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add a sentence to the note; for formats without notes it is printed on standard error, too; copied. */
void result_warn(struct result *r, const char *sentence);
/* Add "1,204 are missing" to the note, of a number with the words for one or many; nothing of 0. */
void result_add_number_note(struct result *r, uint64_t n, const char *one, const char *many);
/* Add a value to the head under a name of the dump's own; name and text are copied. */
void result_head_named(struct result *r, const char *name, struct cell cell);

/* Show a column of this one result, or hide it. */
void result_show(struct result *r, unsigned column, bool shown);
void result_show_column(struct result *r, enum column_id column, bool shown); /* nothing if it has none such */
void result_bar_retained(struct result *r); /* what rows retain has bars on the screen */

/* Of rows that are classes: show the column loader where two of them have one name. */
void result_tell_loaders(struct result *r);

/* A result that keeps its rows itself; result_add_row adds them. */
struct result *result_new_rows(
    const char *title, const struct opened *opened, const struct shape *shape);
/* Add a row: a cell for each column; texts are copied.  Where there is no memory the row is left out.
 * A cell of another type than its column is left unknown.  result_check reports both. */
void result_add_row(struct result *r, const struct cell *cells, const struct target *target);
/* Let this function make the cells of a column when they are asked for, of rows that were added without; data is what
 * result_rows_members took over. */
void result_rows_late(struct result *r, enum column_id column,
    struct cell (*cell)(const struct result *r, void *data, size_t row));

/*
 * Late cells.  Cells are drawn many times and must not walk the heap.  Some need retained sizes,
 * and more that r->later finds once retained sizes are known.  If these are known in time, the
 * command that makes the result calls result_find_late; otherwise the code that shows it does.
 * Until then late cells are unknown.
 */
bool result_is_late(const struct result *r); /* r->later can be called now, and was not yet */
/* Call r->later; any thread may, while nobody else uses r.  Pass what it returned to
 * result_take_late. */
MUST_CHECK int result_find_late(struct result *r, struct progress *progress, struct err *err);
void result_take_late(struct result *r, int code);
/* The retained sizes from which cells are made; NULL: they, or what r->later finds, are not
 * known. */
const struct retained *result_known(const struct result *r);

/* The data that result_rows_members took over. */
void *result_rows_data(const struct result *r);
/* For a result that keeps its rows: a row stands for this object, and for all others that were added to it. */
void result_add_member(struct result *r, size_t row, uint32_t id);
/* It retains what this object does; of a result with such objects the others are not summed. */
void result_add_freed(struct result *r, size_t row, uint32_t id);
/* Rows are classes, and stand for those of their instances that are among these objects; takes these over. */
void result_rows_among(struct result *r, struct bits *objects);
/* Let the column retained have what these objects of each row retain together, where a row was added without. */
void result_sum_members(struct result *r);
/* Instead let this function say which objects rows count.  The result takes data over and calls release for it.
 * members NULL: they count what their targets imply. */
void result_rows_members(struct result *r,
    int (*members)(const struct result *r, void *data, const struct bits *rows, struct bits *to,
        struct err *err),
    void (*release)(void *data), void *data);

size_t result_source_row(const struct result *r, size_t row);
/* The cell of a row.  row: its position as shown, after sorting and filtering.  The text is valid
 * until the next cell of r is asked for (cursor.h has readers that do not disturb each other). */
void result_cell(struct result *r, size_t row, unsigned column, struct cell *out);
/* The same of the column with this word; unknown, and false, if there is none. */
bool result_cell_in(struct result *r, size_t row, enum column_id column, struct cell *out);
/* The same of a column of numbers if only the amount is wanted: its digits may be missing. */
void result_cell_number(struct result *r, size_t row, unsigned column, struct cell *out);
/* The same, but a text may be put into the caller's *scratch; it is valid until scratch changes. */
void result_read(const struct result *r, size_t row, unsigned column, struct cell *out,
    struct text *scratch);
/* A result may have only the first of its rows, for a walk through all of them: the next ones replace them, from row 0
 * on.  False: there are none, or an error, which result_check reports. */
bool result_next_rows(struct result *r);
void result_target(const struct result *r, size_t row, struct target *out);
/* For result_ops: every row is a group. */
void result_target_group(const struct result *r, size_t row, struct target *out);
enum row_heading result_heading(const struct result *r, size_t row);

/* The dumps that it compares, its columns picked or not; NULL. */
const struct result_dumps *result_dumps(const struct result *r);
/* Is a cell inexact because of this dump?  row: its position as shown. */
bool result_blames(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump);

/* Does any row shown stand for objects?  Head values, help and settings do not. */
bool result_has_sets(const struct result *r);

/*
 * Set the bits in `to` of the objects that rows stand for: exactly those that the rows count.
 * rows: a bit for each row shown; NULL: all rows.  to: a bit for each object of the heap.  0 or
 * ERR_NOMEM.
 */
MUST_CHECK int result_members(const struct result *r, const struct bits *rows, struct bits *to,
    struct err *err);

/* The objects that this row stands for retain exactly so many bytes together: from now on the column retained shows
 * that in place of a lower bound.  Not in the heap's tree, where rows add up.  While nothing sorts the result. */
void result_note_exact(struct result *r, size_t row, struct amount bytes);
void result_sharpen(const struct result *r, size_t row, struct cell *c); /* its cell in that column */

/*
 * The same for single targets.  An object stands for itself; a class for its instances; a thread
 * for its object or, if the dump has none, for what its stack holds.  Call implied_begin,
 * implied_add for each target, then implied_end, which sets the bits.  implied_begin returns 0 or
 * ERR_NOMEM; call implied_end after an error, too.
 */
struct implied {
	const struct heap *heap;
	struct bits classes, threads, *to;
	bool any_class, any_thread;
};
MUST_CHECK int implied_begin(struct implied *m, const struct heap *h, struct bits *to,
    struct err *err);
void implied_add(struct implied *m, const struct target *target);
void implied_end(struct implied *m);

/* The index of the column with this word, or with the only word that begins so; -1: none. */
int result_column(const struct result *r, const char *name);
int result_column_of(const struct result *r, enum column_id column); /* index; -1: none */
/* What depends on values that were read from the dump's file: inferred at most once that is not what was
 * loaded any more.  In results of_values all numbers of rows and totals are. */
struct amount result_of_file(const struct result *r, struct amount amount);
/* Do the same to the numbers of a head; they were found when the command ran. */
void result_doubt_head(struct result *r);
/* How many rows are shown: of a dump that was read in part, there may be more of the kind. */
struct amount result_count(const struct result *r);
/* What the rows are called, in the singular or the plural: "classes"; "rows" where a row may stand
 * below another that counts it, or beside one of the same name. */
const char *result_noun(const struct result *r, bool one);

/* Was a loop over rows that is at this row asked to stop?  Calls r->stop only now and then. */
bool result_stopped(const struct result *r, size_t row);
/* Sort the rows shown, stably; empty cells come last in either direction, unknown ones behind them.  A tree becomes
 * a list
 * (tree.h has tree_sort).  0.  ERR_CANCELLED: it was stopped; ERR_NOMEM: also remembered by the
 * result.  After an error the order is as it was. */
MUST_CHECK int result_sort(struct result *r, unsigned column, bool descending, struct err *err);
/* Sort a new result, which nobody can stop yet, by a column that it has: only ERR_NOMEM can happen, and result_check
 * reports it. */
void result_sort_new(struct result *r, enum column_id column, bool descending);
/* Of the rows shown now, keep those for which keep() is true.  Fails like result_sort. */
MUST_CHECK int result_filter(struct result *r,
    bool (*keep)(struct result *r, size_t row, void *context), void *context, struct err *err);

/* Reverse the order of the rows shown.  0 or ERR_NOMEM, which the result remembers. */
MUST_CHECK int result_reverse(struct result *r, struct err *err);
/*
 * A view: rows of a result grouped by some of its columns, as data.  Each column of the view says how it is made of
 * the rows of a group.
 */
enum view_how {
	VIEW_KEY,      /* the value of the column, which all rows of a group share */
	VIEW_FIRST,    /* that of the group's first row */
	VIEW_ROWS,     /* how many rows */
	VIEW_DISTINCT, /* how many different values of the column, which has numbers */
	VIEW_OBJECTS,  /* how many different objects the rows stand for, one each */
	VIEW_SUM,      /* of the column; an object that several rows stand for counts once */
	VIEW_RETAINED, /* what the objects retain together */
	VIEW_LOADER,   /* the class loader of the group's class */
};
struct view_column {
	enum view_how how;
	enum column_id of; /* of the result; COL_OWN_NAME: of none */
};
enum { VIEW_COLUMNS = 24 }; /* the most that a view has */
struct view {
	const char *title;
	const struct shape *shape;          /* of the groups */
	const struct view_column *columns;  /* one for each column of the shape */
	unsigned n_columns;
};
#define VIEW_OF(array) .columns = (array), .n_columns = sizeof(array) / sizeof *(array)
/*
 * Replace *r by a view of it, or by its rows with the same values in n columns (keys): with their number, the sums of
 * the columns that have a total, and what the objects retain if each row stands for one.  The new result owns the old
 * one.  0.  After ERR_NOMEM or ERR_CANCELLED *r is as it was, but for its order; ERR_USAGE: too many keys.
 */
MUST_CHECK int result_view(struct result **r, const struct view *v, struct err *err);
MUST_CHECK int result_group_by(struct result **r, const unsigned *keys, unsigned n, struct err *err);

/*
 * A draft: the rows of r, to be filtered and sorted while r goes on being shown as it is; those of a tree
 * to be filtered only (tree.h has a draft to sort).  r stays the caller's and must outlive the draft.
 * NULL: ERR_NOMEM.  result_adopt shows the rows of the draft in r, and their order; it takes the draft
 * over.  result_drop does away with one.
 */
struct result *result_draft(const struct result *r, struct err *err);
void result_adopt(struct result *r, struct result *draft);
void result_drop(struct result *draft);

/*
 * A look at a result whose rows are still being found or filtered, while nobody changes it (base/render_lock.h): those
 * found so far, in their order.  Rows only come behind them, so a row's number stays what it is, and columns are
 * those of the first look.  The caller's (result_free), before the result goes.  result_look_again shows the rows
 * found since; before it, after the result was changed, the look must not be read.
 */
struct result *result_look(const struct result *r);
void result_look_again(struct result *look, const struct result *r);
size_t result_found(const struct result *r); /* how many rows a look would show */

/*
 * Does the result have everything that was put in?  0, or ERR_NOMEM if memory was refused for rows,
 * texts or their order; then the code that made the result frees it and returns the error.  One call at
 * the end saves checking at every row.
 */
MUST_CHECK int result_check(const struct result *r, struct err *err);
/* The cell with its text, if it has one, in the result's arena. */
struct cell result_keep_cell(struct result *r, struct cell c);
/* Remember that memory was refused; only the first refusal is kept. */
void result_lost(struct result *r, const struct err *err);
void result_keep_first(struct result *r, size_t n); /* show only the first n of the rows shown */
void result_show_all(struct result *r); /* undo filter, keep the sort order */

/*
 * A new result with some columns of r, and the rows that r shows; it takes r over.  pick: the
 * columns in their new order; UINT_MAX - i stands for field i of the head.
 */
struct result *result_pick(struct result *r, const unsigned *pick, unsigned n);
/* The one whose cells a result shows: itself, unless columns were picked of another. */
struct result *result_source(const struct result *r);

/* The sum of a column over the rows shown.  It is as sure as its least sure cell; for a dump that
 * was read in part it is a lower bound, since rows may be missing. */
void result_total(struct result *r, unsigned column, struct cell *out);
/* Is the row, by its position as shown, a part of others, and so not in any sum? */
bool result_is_within(const struct result *r, size_t row);
/* The same step by step: begin with an empty sum, then add rows by their positions as shown.
 * result_sum adds one cell to another. */
struct cell result_sum_begin(const struct result *r, unsigned column);
void result_sum_row(struct result *r, size_t row, unsigned column, struct cell *sum);
void result_sum(struct cell *sum, const struct cell *one);
/* When all rows are in the sums of the first n columns: makes that of this column what result_total says. */
void result_sum_end(const struct result *r, unsigned column, struct cell *sums, unsigned n);
/* Rows came or went: forget the totals. */
void result_changed(struct result *r);

/* Cells with a number are made of amounts, so that each has its certainty and reason.  A cell of an unknown
 * amount is unknown. */
struct cell cell_count(struct amount n);
struct cell cell_bytes(struct amount n);
struct cell cell_time(struct amount nanoseconds); /* since 1970; 0: never */
struct cell cell_percent(struct amount part, struct amount whole); /* 0 where whole is 0 */
struct cell cell_delta(struct amount before, struct amount after);
struct cell cell_bytes_delta(struct amount before, struct amount after);
/* A number that counts nothing in the dump and is not an estimate: an index, a depth, a priority. */
struct cell cell_plain(uint64_t n);

struct cell cell_none(void);  /* unknown: not recorded in the dump */
struct cell cell_unknown(enum reason reason);
struct cell cell_blank(void); /* does not apply, as the length of an object that is not an array */
struct cell cell_text(const char *s); /* NULL: unknown */
struct cell cell_text_or_blank(const char *s); /* NULL or empty: it does not apply */
/* A word for machines, and a name of it for people, which lasts. */
struct cell cell_word(const char *word, const char *name);
struct cell cell_text_as_sure(const char *s, struct amount as);
/* A text cell: the word for the certainty of another amount; it has that amount's reason. */
struct cell cell_certainty(struct amount of);
struct cell cell_address(uint64_t address);
struct cell cell_address_or_none(uint64_t address); /* unknown of 0 */
struct cell cell_object_address(const struct heap *h, uint32_t id); /* unknown of HEAP_NONE */
/* A number of the dump: its digits, and a rank that is the larger, the larger the number. */
struct cell cell_number(const char *digits, uint64_t rank, struct amount as);
struct cell cell_flag(bool value);
struct cell cell_flag_as_sure(bool value, struct amount as);

/* Do cells of this type have a number?  Such cells are aligned right, sort with the largest first
 * and may be inexact. */
bool cell_is_number(enum cell_type type);
/* May such a number be below 0? */
bool cell_is_signed(enum cell_type type);
/* A key to sort by: the larger the cell's number (signed or not), the larger its rank. */
uint64_t cell_rank(const struct cell *c);

/* Append the cell as people read it, with its mark ("~" inferred, ">=" lower bound, "?"
 * unknown). */
void cell_print(const struct cell *c, struct text *to);
/* The same, with what stands beside it: "1795255960000  2026-11-21T09:12:40Z". */
void cell_print_all(const struct cell *c, struct text *to);
/* Append the cell as machines read it: plain numbers, nothing for what is unknown. */
void cell_print_plain(const struct cell *c, struct text *to);

#endif
