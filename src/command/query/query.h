/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.h - the door of this folder: SQL about the current dump, with the answers of commands as tables. */
#ifndef CAIRN_COMMAND_QUERY_QUERY_H
#define CAIRN_COMMAND_QUERY_QUERY_H

#include "command/command.h"
#include "query/sql/sql.h"

/* The connection of the current dump, made at the first call; the dump owns it.  0, or what sql_open returns. */
MUST_CHECK int ask_open(struct session *s, struct sql **out, struct err *err);

/* The rows of the table of this name (a class, a command's line, objects, refs), perhaps in stretches
 * (result_next_rows); *out is the caller's (result_free), who asks for no other before.
 * 0, or what its command or sql_run returns. */
MUST_CHECK int ask_rows(struct session *s, const char *name, struct result **out, struct err *err);

/*
 * Keep a view for the questions about every dump of the session; place: where it is written, which errors name.  The
 * later one of two of a name holds.  ERR_USAGE: what is wrong with it, ERR_NOMEM.
 */
MUST_CHECK int ask_keep_view(struct session *s, const char *name, const char *text, const char *place, struct err *err);
/* View number i of those; NULL behind the last. */
const struct sql_view *ask_view(const struct session *s, size_t i);
/* The one of this name, letters of either case alike; NULL: none. */
const struct sql_view *ask_view_named(const struct session *s, const char *name);

/* Of the rows that a result shows keep those for which a condition in SQL over its columns is true: sql_keep_rows.  It
 * needs a current dump. */
MUST_CHECK int query_keep_rows(struct session *s, struct result *r, const char *condition, struct err *err);

/* What -where says, for the table of a command's options. */
#define WHERE_OPTION {DASH_WHERE, OPT_WORDS, "EXPR", "condition on objects: total > 9 and size(lines) = 0"}
/* Keep of n objects (ascending, in place) those that -where lets through; all, if it was not given. */
MUST_CHECK int ask_where(struct session *s, const struct call *call, uint32_t *ids, size_t *n, struct err *err);
/* The same of the objects whose bits are set; the others' bits are cleared. */
MUST_CHECK int ask_where_marked(struct session *s, const struct call *call, struct bits *objects, struct err *err);
/* The same of the rows of a result that stand for single objects; other rows go, too. */
MUST_CHECK int ask_where_rows(struct session *s, const struct call *call, struct result *r, struct err *err);

/* The tables that there are, a row each; or the columns of one, or of all that are there in each dump (name NULL).
 * subclasses: of classes with those below them.  *out is the caller's.  0, or what sql_describe returns. */
MUST_CHECK int ask_list_tables(struct session *s, struct result **out, struct err *err);
MUST_CHECK int ask_schema(struct session *s, const char *name, bool subclasses, struct result **out, struct err *err);
extern const struct shape ask_tables_shape, ask_schema_shape;
/* The tables and functions, a line each: a struct command's `more`. */
void ask_tell(struct text *to);

/* What may stand at the end of a question that is typed: a struct command's `complete`. */
void ask_complete(const struct session *s, const char *typed, const char *behind, command_offer *offer, void *context);

#endif
