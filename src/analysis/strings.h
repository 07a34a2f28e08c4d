/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * strings.h - all Strings of a heap: those whose text matches, those that say the same.
 *
 * Both look at every String once, on all threads, and keep 4 (search) or 16 bytes (duplicates) for
 * each.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_STRINGS_H
#define CAIRN_ANALYSIS_STRINGS_H

#include "heap/amounts.h"
#include "heap/string.h"

struct string_list {
	uint32_t *ids; /* ascending, big memory */
	size_t n, cap;
};

/*
 * Strings whose escaped text matches a POSIX extended regular expression (NULL: all).  0; ERR_USAGE
 * when it is none, ERR_UNSUPPORTED where the format holds no values, ERR_NOMEM.
 */
MUST_CHECK int strings_matching(struct string_list *out, const struct heap *h, const char *regex,
    bool any_case, struct err *err);
void string_list_release(struct string_list *l);

/* Strings of one text. */
struct same_strings {
	uint32_t first;    /* one of them */
	struct amount count;
	struct amount arrays; /* different arrays that hold their characters */
	struct amount shallow; /* bytes of the Strings and these arrays */
	struct amount wasted; /* of these, bytes that one String and one array would save */
};

struct duplicates {
	struct same_strings *groups; /* of two and more, the most wasted first */
	size_t n, cap;
	uint64_t strings, distinct;  /* Strings that have a text, and different texts */
	struct amount wasted;        /* sum over groups */
};

/* Exact: texts of equal hashes are compared.  0, ERR_UNSUPPORTED, ERR_NOMEM. */
MUST_CHECK int duplicates_find(struct duplicates *out, const struct heap *h, struct err *err);
/* The Strings of these groups (a bit for each): sets their bits in to.  0 or ERR_NOMEM. */
MUST_CHECK int duplicates_members(const struct duplicates *d, const struct heap *h,
    const struct bits *groups, struct bits *to, struct err *err);
void duplicates_release(struct duplicates *d);

#endif
