/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparing.h - the dumps of the session side by side, whichever is current, for the commands of this folder. */
#ifndef CAIRN_COMMAND_COMPARE_COMPARING_H
#define CAIRN_COMMAND_COMPARE_COMPARING_H

#include "analysis/compare/compare.h"
#include "command/commands.h"

struct session_dump;

#define COMPARING_LEFT_OUT SIZE_MAX
/* Profiles are by one model, or a change of the setting would look like growth. */
#define COMPARING_MODEL "comparisons use the default model of weak references, not the one of set weak"

struct comparing {
	const struct profile *newest; /* the last one in the list */
	const struct profile **list;  /* of the dumps that could be read, in their order; owned */
	size_t n;
	struct compared_dump {
		const struct session_dump *dump; /* the session's */
		size_t at;            /* in the list; COMPARING_LEFT_OUT: not in it, see left_out */
	} *all;                       /* in their order, owned */
	size_t n_all;
	size_t chosen_of;             /* these were tagged of so many dumps; 0: they are all */
	struct opened *opened;        /* the newest dump, where it is open by the default model: rows are sets of it */
	bool other_model;             /* it is open by the other one (set weak), and was read again by the default model */
	bool objects;                 /* it has some: it is not a profile */
	struct profile own;           /* of opened, as it is now */
	struct comparison comparison;
	bool elsewhere;               /* another dump than the newest is current */
	bool interactive, narrow;     /* the rows are for the screen, for one with few columns */
	bool java;                    /* the newest is of a program for a JVM */
	bool other_words;             /* one of them has words of other bits than the newest: bytes compare badly */
	bool other_program;           /* one is of another program than the newest: growth means nothing */
	struct result_dumps dumps;    /* for results: comparing_tell */
	char **name;                  /* of each of the list: "dump 1 (hour-1.hprof)" */
	struct text same;             /* which of them are one file; empty: none */
	struct text left_out;         /* which older ones are, and why: "left out: ..."; empty: none */
};

/*
 * What -by says, and the tables with a row for each group of the kind: the same columns behind the words that name
 * the row.  COMPARING_FORMS(what, columns...) defines forms[], by enum profile_by; "what" is how the titles begin.
 * The last one has COMPARING_SHAPES for the command.
 */
struct comparing_form {
	const char *title;
	const struct shape *shape;
};
#define COMPARING_BY(summary) {DASH_BY, OPT_CHOICE, "path|class|package|loader|field|site|thread", summary}
#define COMPARING_SHAPES                                                                                            \
	SHAPES(&path_shape, &class_shape, &package_shape, &loader_shape, &field_shape, &site_shape, &thread_shape)
#define COMPARING_FORMS(what, ...)                                                                                  \
	static const struct column path_columns[] = {{.id = COL_PATH}, {.id = COL_CLASS}, __VA_ARGS__};                 \
	static const struct shape path_shape = {SHAPE_COLUMNS(path_columns)};                                           \
	static const struct column class_columns[] = {{.id = COL_CLASS}, __VA_ARGS__};                                  \
	static const struct shape class_shape = {.form = "-by class", SHAPE_COLUMNS(class_columns)};                    \
	static const struct column package_columns[] = {{.id = COL_PACKAGE}, __VA_ARGS__};                              \
	static const struct shape package_shape = {.form = "-by package", SHAPE_COLUMNS(package_columns)};              \
	static const struct column loader_columns[] = {{.id = COL_LOADER_CLASS}, __VA_ARGS__};                          \
	static const struct shape loader_shape = {.form = "-by loader", SHAPE_COLUMNS(loader_columns)};                 \
	static const struct column field_columns[] = {{.id = COL_FIELD}, __VA_ARGS__};                                  \
	static const struct shape field_shape = {.form = "-by field", SHAPE_COLUMNS(field_columns)};                    \
	static const struct column site_columns[] = {{.id = COL_SITE}, __VA_ARGS__};                                    \
	static const struct shape site_shape = {.form = "-by site", SHAPE_COLUMNS(site_columns)};                       \
	static const struct column thread_columns[] = {{.id = COL_THREAD}, {.id = COL_CLASS}, __VA_ARGS__};             \
	static const struct shape thread_shape = {.form = "-by thread", SHAPE_COLUMNS(thread_columns)};                 \
	static const struct comparing_form forms[PROFILE_BYS] = {                                                       \
	    [PROFILE_CLASS] = {what " by class", &class_shape},                                                         \
	    [PROFILE_PACKAGE] = {what " by package", &package_shape},                                                   \
	    [PROFILE_LOADER] = {what " by loader", &loader_shape},                                                      \
	    [PROFILE_PATH] = {what " by path", &path_shape},                                                            \
	    [PROFILE_FIELD] = {what " by field", &field_shape},                                                         \
	    [PROFILE_SITE] = {what " by site", &site_shape},                                                            \
	    [PROFILE_THREAD] = {what " by thread", &thread_shape},                                                      \
	}
/* What the rows of this call are: as its -by says, or else paths. */
enum profile_by comparing_by(const struct call *call);

/* Compare all dumps, of which those not read yet are; rows are sets where the newest is open.  0: *out is the caller's
 * (comparing_free).  steps: only what tells what rose and fell, so that older dumps that were read in part are left
 * out.  ERR_USAGE: there is no older dump; any error of the older ones where none of them could be read;
 * ERR_UNSUPPORTED, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int comparing_begin(struct comparing **out, struct session *s, enum profile_by by, bool steps,
    struct err *err);
/* The same of these n > 0 dumps alone, in this order: the last one counts as the newest. */
MUST_CHECK int comparing_begin_with(struct comparing **out, struct session *s, enum profile_by by, bool steps,
    struct session_dump *const *dump, size_t n, struct err *err);
void comparing_free(void *comparing);

/* Append "dump 1 (hour-1.hprof)". */
void comparing_name(size_t number, const char *path, struct text *to);
/* Append which of these dumps are the same file: "dump 2 is the same file as 1"; of many the first ones. */
void comparing_add_same(struct session_dump *const *dump, size_t n, struct text *to);
/* What the comparison is no surer of, as a note in the result's arena; or NULL.  Which dumps are left out, or in it
 * in part, is the result's warning. */
const char *comparing_note(struct result *r, const struct comparing *c);
/* Give the result that note, and let why say which of the dumps make a cell no surer: blamed tells it, and finds the
 * comparison in the result's data. */
void comparing_tell(struct result *r, struct comparing *c,
    bool (*blamed)(const struct result *r, size_t row, unsigned column, enum reason reason, size_t dump));
/* Is that because of this figure of a dump? */
static inline bool comparing_blames(struct amount amount, enum reason reason)
{
	return amount.certainty != EXACT && amount.reason == reason;
}
/* What grows, first what is in nothing else that grows, as o, the newest dump, tells (NULL: it is not open).
 * 0: the caller's (growth_release); ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int comparing_growth(struct growth *out, const struct comparing *c, const struct opened *o, struct err *err);
/* The row of the comparison that counts an object of the newest dump; PROFILE_NONE. */
uint32_t comparing_row_of(const struct comparing *c, const struct opened *o, uint32_t id);
/* The objects of these rows of the comparison in the newest dump. */
MUST_CHECK int comparing_members(const struct comparing *c, const struct opened *o, const struct bits *rows,
    struct bits *to, struct err *err);
/* The same of rows of a result, which are these of the comparison. */
MUST_CHECK int comparing_rows_members(const struct comparing *c, const struct opened *o, const uint32_t *row,
    const struct bits *rows, struct bits *to, struct err *err);

/* The cell of what a row is called (column 0), and of the class of its objects (1). */
void comparing_words(const struct comparison *c, uint32_t row, unsigned column, struct cell *out, struct text *scratch);
/* Append the command line that shows this row dump by dump (cmd_path_history.c). */
void comparing_add_course_line(const struct comparison *c, uint32_t row, struct text *to);
/* Append how many objects it has in each dump: "500 1,000 1,500". */
void comparing_course(const struct comparison *c, uint32_t row, struct text *to);
/* The cell of that; people see "500→1,000→1,500 ▃▆█", from 0 to the most that the row has. */
struct cell comparing_course_cell(const struct comparing *comparing, uint32_t row, struct text *scratch);
/* Append them, or what it retained, from this dump on: "46.1K to 80.3K to 92.2K"; of many the first and last ones. */
void comparing_add_series(const struct comparison *c, uint32_t row, size_t first, bool bytes, struct text *to);
/* Append a time, "2026-11-21T09:15:00Z", as "11-21 09:15" where it is of this year, and else its date, as ls does. */
void comparing_add_short_time(const char *created, struct text *to);
/* The most bytes that it ever retained. */
uint64_t comparing_most(const struct comparison *c, uint32_t row);

/* Is the cell of a column that is a figure, or its change, no surer because of this dump, for this reason?  base: where
 * changes begin. */
bool comparing_blames_figure(const struct comparison *c, uint32_t row, size_t base, enum column_id column,
    enum reason reason, size_t dump);

/* A table whose rows are rows of a comparison (compared_rows.c). */
struct compared_rows {
	struct comparing *comparing; /* owned */
	uint32_t *row;        /* of the comparison, by row of the table; big memory */
	size_t base;          /* the profile that changes begin with */
	struct trend *trend;  /* by row of the comparison; big memory; NULL: nobody asked for it */
	struct bits only;     /* the rows of the comparison that may be shown; word NULL: all */
	struct text line;     /* of the row that was asked for last */
};
#define COMPARING_PLOT 60 /* columns of a plot; of more dumps several share one */
/* The table with its note, n rows; it owns them.  forms: of COMPARING_FORMS.  No row: the command has failed. */
struct result *compared_rows_result(struct compared_rows *rows, const struct comparing_form *forms, size_t n);

#endif
