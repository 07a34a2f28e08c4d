/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strings.h - looks at all Strings of a heap, and at objects that have words as a String has: which match a pattern,
 * which Strings are equal.
 *
 * Both functions look at every String once, on all threads, and keep for each String 4 bytes
 * (strings_matching) or 24 bytes (duplicates_find).  Any thread may call them.
 */
#ifndef CAIRN_ANALYSIS_STRINGS_STRINGS_H
#define CAIRN_ANALYSIS_STRINGS_STRINGS_H

#include "analysis/equal.h"
#include "base/amount.h"
#include "base/err.h"
#include "heap/amounts.h"
#include "heap/string.h"
#include <stddef.h>

struct bits;
struct err;
struct heap;

struct string_list {
	uint32_t *ids; /* ascending, big memory */
	size_t n, cap;
};

/* Called on the thread that called strings_matching: the first n ids are found, and stay. */
struct string_watcher {
	void (*found)(void *context, const uint32_t *ids, size_t n);
	void *context;
};

/*
 * Find the Strings whose escaped text matches a POSIX extended regular expression (NULL: all
 * Strings).  told: is called with those found so far, or NULL.  0: *out is the caller's
 * (string_list_release).  ERR_USAGE: regex is not a regular expression; ERR_UNSUPPORTED: the format holds
 * no values; ERR_NOMEM.
 */
MUST_CHECK int strings_matching(struct string_list *out, const struct heap *h, const char *regex,
    bool any_case, const struct string_watcher *told, struct err *err);
void string_list_release(struct string_list *l);

/*
 * Find the objects of other classes that describe_object has words for which match: dates, UUIDs, big numbers, boxes,
 * URLs (describe_may_say).  number: the regular expression is a decimal number, and only big numbers are looked at,
 * which are found if they are equal to it as text, but for zeros at the end ("10.5" is "10.50").  Dumps without
 * declared fields have none.  0: *out is the caller's (string_list_release).  ERR_USAGE, ERR_NOMEM, ERR_CANCELLED.
 */
MUST_CHECK int values_matching(struct string_list *out, const struct heap *h, const char *regex, bool any_case,
    bool number, struct err *err);

/* --- equal ones: for equal.h -------------------------------------------------------------------- */

/* Fill in a String's text. */
bool same_strings_read(struct equal_walk *w, uint32_t id, struct equal_content *out);

/* One of several Strings of one text. */
struct same_string {
	uint32_t id, array;
	bool kept;           /* one String and its array would be kept, all others are wasted */
	bool with_array;     /* its array counts with it: only Strings of this text hold that, and this is the first of
	                        them, or the one that is kept */
	bool first_of_array; /* the first with this array */
};
/* Call each for n Strings of one text, the one to keep first, and reorder them.  holders: by object, how many Strings
 * hold an array; NULL: the heap's references say what holds it.  0, ERR_NOMEM or what each returns. */
MUST_CHECK int same_strings_each(const struct heap *h, const uint32_t *holders, struct equal_print *same, size_t n,
    int (*each)(void *context, const struct same_string *one, struct err *err), void *context, struct err *err);

/* Strings of one text. */
struct same_strings {
	uint32_t first;    /* one of them */
	struct amount count;
	struct amount arrays; /* different arrays that hold their characters */
	struct amount shallow; /* bytes of the Strings, and of the arrays that no Strings of other texts hold */
	struct amount wasted; /* of these bytes, what one String with its array saves instead of all */
};

struct duplicates {
	struct same_strings *groups; /* of two or more Strings, the group that wastes most first */
	size_t n, cap;
	uint64_t strings, distinct;  /* number of Strings that have a text, and of different texts */
	struct amount wasted;        /* bytes, the sum over groups */
};

/* Find Strings of the same text.  Exact: where hashes are equal, the texts are compared.  0: *out
 * is the caller's (duplicates_release); ERR_UNSUPPORTED: the format holds no values; ERR_NOMEM. */
MUST_CHECK int duplicates_find(struct duplicates *out, const struct heap *h, struct err *err);
/* Set the bits in `to` of all Strings of these groups (groups: a bit for each).  0 or ERR_NOMEM. */
MUST_CHECK int duplicates_members(const struct duplicates *d, const struct heap *h,
    const struct bits *groups, struct bits *to, struct err *err);
void duplicates_release(struct duplicates *d);

#endif
