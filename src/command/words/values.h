/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.h - words of a command line into objects, classes and threads (sets: sets.h).
 *
 * All return 0, ERR_USAGE for a word that cannot be meant, or ERR_NOT_FOUND for one that leads
 * nowhere; messages name the nearest things there are.  They need a heap (session_heap(s)).
 */
#ifndef CAIRN_COMMAND_WORDS_VALUES_H
#define CAIRN_COMMAND_WORDS_VALUES_H

#include "analysis/describe/describe.h"
#include "analysis/reachable.h"
#include "analysis/search.h"
#include "command/session/session.h"

#include <regex.h>

/* 0xE0000AF0, e0000af0, #ID, %N, $name (of one object), a name (value_named), or a class by its exact
 * name or the last part of it that only one has: its object. */
int value_object(const struct session *s, const char *word, uint32_t *id, struct err *err);

/* The object of a static field CLASS.FIELD; found: there is such a field.  Then ERR_NOT_FOUND where it is
 * null. */
int value_static(const struct session *s, const char *word, bool *found, uint32_t *id, struct err *err);
/* The same of static fields, and of global variables that point to an object. */
int value_named(const struct session *s, const char *word, bool *found, uint32_t *id, struct err *err);

/* Call back with each name that begins like this word and that value_named would know: static fields of
 * the class in front of the last dot, global variables, and the fields of the variable in front of it. */
void value_names(
    const struct session *s, const char *word, inspect_name_found *found, void *context);

/* An object, or a global variable or a part of one (inspect_variable): then *id is the object that it points
 * to, or HEAP_NONE. */
int value_of(const struct session *s, const char *word, struct variable *variable, bool *is_variable,
    uint32_t *id, struct err *err);

/* Class indices of a pattern; *ids is the caller's (free). */
int value_classes(
    const struct session *s, const char *word, uint32_t **ids, size_t *n, struct err *err);

/* Are threads known by the numbers that their runtime gave them (goroutines)?  Else by their place. */
bool thread_numbers_are_own(const struct heap *h);
uint64_t thread_number(const struct heap *h, uint32_t thread);

/* Number, name (or a part of it that only one has), %N, or the thread object. */
int value_thread(const struct session *s, const char *word, uint32_t *thread, struct err *err);

/* One word that is a set (sets.h): ids ascending, the caller's (free). */
int value_set(const struct session *s, const char *word, uint32_t **ids, size_t *n, struct err *err);

/* POSIX extended, slashes around it are taken off.  regfree() after 0. */
int value_regex(const char *word, int flags, regex_t *to, struct err *err);

/* An address in hexadecimal, with or without 0x. */
bool value_address(const char *word, bool *prefixed, uint64_t *address);

/* What row "%N" of the last table stands for. */
int value_row(const struct session *s, const char *word, struct target *target, struct err *err);

/* What save and why mean, or NULL. */
struct result *session_table(const struct session *s);
/* The one that %N and $_ mean: the last one whose rows are sets. */
struct result *session_rows(const struct session *s);
/* The heap's class names, built at the first call for a heap. */
const struct name_index *session_names(const struct session *s);
/* Are references there?  0, or ERR_UNSUPPORTED with why not. */
int session_references(const struct session *s, struct err *err);
/* What the roots keep; walked at the first call for a heap.  out borrows: it is the session's. */
int session_reachable(const struct session *s, struct reachable *out, struct err *err);

/* What objects and classes retain.  ERR_UNSUPPORTED while they are being found beside the screen. */
int session_retained(const struct session *s, const struct retained **out, struct err *err);
/* Sizes of objects alone, without lists of children and sums by class; the same codes. */
int session_sizes(const struct session *s, const struct retained **out, struct err *err);

#endif
