/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipe.h - the stages behind a command: grep, head, sort, cut. */
#ifndef CAIRN_COMMAND_LINE_PIPE_H
#define CAIRN_COMMAND_LINE_PIPE_H

#include "command/line/line.h"
#include "result/result.h"

/* What help and completion know of a stage. */
struct pipe_stage {
	const char *name, *usage, *summary;
	int (*apply)(struct result **r, const struct stage *stage, struct err *err);
};
extern const struct pipe_stage pipe_stages[]; /* ended by a NULL name */

/* Apply one stage to *r, which may be replaced by another result.  0, ERR_USAGE, ERR_NOT_FOUND. */
int pipe_apply(struct result **r, const struct stage *stage, struct err *err);

/* Sort by the column that a word names: "-shallow" largest first, "class" smallest first. */
int pipe_sort(struct result *r, const char *word, struct err *err);

/* ERR_USAGE: there is no such column, these are. */
int pipe_no_column(const struct result *r, const char *name, struct err *err);

#endif
