/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sets.h - words of a command line into sets of objects.
 *
 *     SET   = TERM { ("+" | "-") TERM }        together; without
 *     TERM  = FACTOR { "&" FACTOR }            what is in both; binds closer
 *     FACTOR = "(" SET ")" | 0xADDR | #ID | CLASS PATTERN | $name | $_ | %N | %N-M | %N,M
 *
 * Blanks stand around the operators, because class names may hold them; parentheses may touch the
 * words.  A row means exactly the objects that it counts.  Main thread only.
 */
#ifndef CAIRN_COMMAND_WORDS_SETS_H
#define CAIRN_COMMAND_WORDS_SETS_H

#include "command/line/line.h"
#include "command/session/session.h"

/* Does a line that begins so give a set rather than call a command? */
bool set_begins(const struct stage *stage);
/* Is this word one that joins two sets? */
bool set_joins(const struct word *w);

/*
 * The set that the words from *at on describe: ids ascending, the caller's (free); *at moves behind
 * them.  0, ERR_USAGE, ERR_NOT_FOUND with the nearest things, ERR_NOMEM.
 */
int set_parse(const struct session *s, const struct stage *stage, size_t *at, uint32_t **ids,
    size_t *n, struct err *err);

/* What a title calls the set of these words: the row's name where it is a row. */
void set_title(const struct session *s, const struct stage *stage, size_t from, size_t to,
    struct text *out);

/* Keep the objects that all rows of a result stand for. */
int set_keep(struct session *s, const char *name, const struct result *r, struct err *err);

/* The kept set of this name, with or without the $; NULL. */
const struct kept_set *set_find(const struct session *s, const char *name);

/* "$name" and "$_" of exactly one object. */
int set_one_object(const struct session *s, const char *word, uint32_t *id, struct err *err);

/* The ids of set bits, ascending, the caller's (free). */
uint32_t *ids_of_bits(const struct bits *b, size_t *n);

#endif
