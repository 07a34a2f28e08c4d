/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparing.h - the dump at hand beside the older ones, or profiles alone, for the commands of this folder. */
#ifndef CAIRN_COMMAND_COMPARE_COMPARING_H
#define CAIRN_COMMAND_COMPARE_COMPARING_H

#include "analysis/compare/compare.h"
#include "command/commands.h"

struct comparing {
	const struct profile *newest; /* own, or where there is no dump at hand the last one in the list */
	struct profile own;           /* of the dump at hand */
	const struct profile **list;  /* the older ones that could be read, then the newest; owned */
	size_t n;
	struct comparison comparison;
	struct text left_out;         /* which older ones could not be read, and why; empty: none */
};

/* Read what was not read yet, and compare; with no dump at hand rows are no sets.  0: *out is the caller's
 * (comparing_free).  ERR_USAGE: there is no older
 * dump; any error of the older ones where none of them could be read; ERR_UNSUPPORTED, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int comparing_begin(struct comparing **out, struct session *s, enum profile_by by, struct err *err);
void comparing_free(void *comparing);

/* What the comparison is no surer of, as a note in the result's arena; or NULL. */
const char *comparing_note(struct result *r, const struct comparing *c);
/* What grows, first what is in nothing else that grows, as o, the newest dump, tells (NULL: it is not at hand).
 * 0: the caller's (growth_release); ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int comparing_growth(struct growth *out, const struct comparing *c, const struct opened *o, struct err *err);
/* The objects of these rows of the comparison in the newest dump. */
MUST_CHECK int comparing_members(const struct comparing *c, const struct opened *o, const struct bits *rows,
    struct bits *to, struct err *err);
/* The same of rows of a result, which are these of the comparison. */
MUST_CHECK int comparing_rows_members(const struct comparing *c, const struct opened *o, const uint32_t *row,
    const struct bits *rows, struct bits *to, struct err *err);

/* The cell of what a row is called (column 0), and of the class of its objects (1). */
void comparing_words(const struct comparison *c, uint32_t row, unsigned column, struct cell *out, struct text *scratch);
/* Append how many objects it has in each dump: "500 1,000 1,500". */
void comparing_course(const struct comparison *c, uint32_t row, struct text *to);

#endif
