/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * resolve.h - turns words of a command line into objects, classes, threads and sets of objects.
 *
 * Functions that return int return 0; ERR_USAGE: the word has no such meaning; ERR_NOT_FOUND:
 * nothing is called so, and *err names the nearest things; or ERR_NOMEM.  They need a dump
 * (s->dump).
 */
#ifndef CAIRN_COMMAND_RESOLVE_RESOLVE_H
#define CAIRN_COMMAND_RESOLVE_RESOLVE_H

#include "analysis/describe/describe.h"

#include "analysis/search.h"
#include "command/parse/parse.h"
#include "command/session/session.h"

/* --- one thing ---------------------------------------------------------------------------------- */

/* 0xE0000AF0, e0000af0, #ID, %N, $name (of one object), a name (value_named), or a class by its exact
 * name or the last part of it that only one has: its object. */
MUST_CHECK int value_object(const struct session *s, const char *word, uint32_t *id,
    struct err *err);

/* The object of a static field CLASS.FIELD; found: there is such a field.  Then ERR_NOT_FOUND where it is
 * null. */
MUST_CHECK int value_static(const struct session *s, const char *word, bool *found, uint32_t *id,
    struct err *err);
/* The same of static fields, and of global variables that point to an object. */
MUST_CHECK int value_named(const struct session *s, const char *word, bool *found, uint32_t *id,
    struct err *err);

/* Call back with each name that begins like this word and that value_named would know: static fields of
 * the class in front of the last dot, global variables, and the fields of the variable in front of it. */
void value_names(
    const struct session *s, const char *word, inspect_name_found *found, void *context);
/* The same with the fields of instances that may hold an object, as cut takes them. */
void value_fields(
    const struct session *s, const char *word, inspect_name_found *found, void *context);

/* Append " (nearest: CLASS.FIELD)" for a word whose field no class has, but one of nearly the same name: a static field
 * or global variable, or with fields any that may hold an object.  Appends nothing where none is near. */
void value_add_near_name(const struct session *s, const char *word, bool fields, struct text *to);

/* An object, or a global variable or a part of one (inspect_variable): then *id is the object that it points
 * to, or HEAP_NONE. */
MUST_CHECK int value_of(const struct session *s, const char *word, struct variable *variable,
    bool *is_variable, uint32_t *id, struct err *err);

/* Class indices of a pattern; *ids is the caller's (big_free). */
MUST_CHECK int value_classes(const struct session *s, const char *word, uint32_t **ids, size_t *n,
    struct err *err);

/* Are threads known by the numbers that their runtime gave them (goroutines)?  Else by their place. */
bool thread_numbers_are_own(const struct heap *h);
uint64_t thread_number(const struct heap *h, uint32_t thread);

/* Does the word mean a dump of the session: a number, or the file of one that it knows? */
bool word_is_dump(const struct session *s, const struct word *word);
/* The dump; ERR_USAGE: none has this number. */
MUST_CHECK int value_dump(const struct session *s, const char *word, struct session_dump **dump, struct err *err);

/* The heap of Android that is called so, as a number in heap->spaces.  ERR_NOT_FOUND, with their names;
 * ERR_UNSUPPORTED: the dump tells none. */
MUST_CHECK int value_heap(const struct session *s, const char *name, unsigned *space, struct err *err);

/* Number, name (or a part of it that only one has), %N, or the thread object. */
MUST_CHECK int value_thread(const struct session *s, const char *word, uint32_t *thread,
    struct err *err);

/* One word that is a set (its grammar is below): ids ascending, the caller's (big_free). */
MUST_CHECK int value_set(const struct session *s, const char *word, uint32_t **ids, size_t *n,
    struct err *err);

/* An address in hexadecimal, with or without 0x. */
bool value_address(const char *word, bool *prefixed, uint64_t *address);

/* What row "%N" of the last table stands for. */
MUST_CHECK int value_row(const struct session *s, const char *word, struct target *target,
    struct err *err);

/*
 * The other way round (row_words.c): append one word that means what a row stands for, exactly the objects
 * that it counts.  %N where nothing else means just that, so this word is of use only while these rows are
 * the last table.  False: the row stands for nothing that commands can be about.
 */
bool row_word(const struct session *s, const struct result *r, size_t row, struct text *to);
/* Does a row that leads there stand for several objects, or for as many as there happen to be? */
bool target_is_several(const struct target *target);
/* The object that it is, or is named after: a class's class object, a thread's thread object; HEAP_NONE: none. */
uint32_t target_object(const struct heap *h, const struct target *target);

/* "." is what the page on the screen is about, else its selected row: put the word for that in its place.
 * Other words stay.  ERR_USAGE: nothing is selected. */
MUST_CHECK int word_here(const struct session *s, struct word *word, struct err *err);

/* ERR_UNSUPPORTED, with why there are no threads. */
MUST_CHECK int command_no_threads(const struct heap *h, struct err *err);

/*
 * --- sets ----------------------------------------------------------------------------------------
 *
 *     SET   = TERM { ("+" | "-") TERM }        together; without
 *     TERM  = FACTOR { "&" FACTOR }            what is in both; binds closer
 *     FACTOR = "(" SET ")" | 0xADDR | #ID | CLASS PATTERN | heap:NAME | $name | $_ | %N | %N-M | %N,M
 *
 * Blanks stand around the operators, because class names may hold them; parentheses may touch the
 * words.  A row means exactly the objects that it counts.
 */

/* Does a line that begins so give a set rather than call a command? */
bool set_begins(const struct stage *stage);
/* The name in "heap:app", all objects of a heap of Android; NULL: the word is another one. */
const char *set_heap(const char *word);
/* Is this word one that joins two sets? */
bool set_joins(const struct word *w);

/*
 * The set that the words from *at on describe: ids ascending, the caller's (big_free); *at moves behind
 * them.  0, ERR_USAGE, ERR_NOT_FOUND with the nearest things, ERR_NOMEM.
 */
MUST_CHECK int set_parse(const struct session *s, const struct stage *stage, size_t *at,
    uint32_t **ids, size_t *n, struct err *err);

/* What a title calls the set of these words: the row's name where it is a row. */
void set_title(const struct session *s, const struct stage *stage, size_t from, size_t to,
    struct text *out);
/* What the table calls a row: its first text, else its address.  False: neither. */
bool row_title(const struct result *r, size_t row, struct text *out);
void set_word_title(const struct session *s, const char *word, struct text *out); /* of a single word */

/* Keep the objects that all rows of a result stand for. */
MUST_CHECK int set_keep(struct session *s, const char *name, const struct result *r,
    struct err *err);

/* The kept set of this name, with or without the $; NULL. */
const struct kept_set *set_find(const struct session *s, const char *name);

/* "$name" and "$_" of exactly one object. */
MUST_CHECK int set_one_object(const struct session *s, const char *word, uint32_t *id,
    struct err *err);

/* The ids of set bits, ascending, the caller's (big_free). */
MUST_CHECK int ids_of_bits(const struct bits *b, uint32_t **ids, size_t *n, struct err *err);

#endif
