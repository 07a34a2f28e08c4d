/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pattern.h - the regular expressions that users type, as the C library compiles them.
 *
 * The library writes a repeated part out as often as it is repeated, and nested repeats multiply; it
 * looks for back-references by trying everything.  Both can take hours, which nobody can stop, so what
 * is too large is refused before the library sees it.
 */
#ifndef CAIRN_BASE_PATTERN_H
#define CAIRN_BASE_PATTERN_H

#include "base/err.h"

#include <regex.h>

enum {
	PATTERN_BYTES = 1000, /* of a pattern, at most */
	PATTERN_PARTS = 1000, /* characters, classes and groups once its repeats are written out */
};

/* Compile a POSIX extended regular expression, only to ask whether it matches; flags: 0 or REG_ICASE.
 * 0: *to is the caller's (regfree).  ERR_USAGE: it is none, or one that is refused; ERR_NOMEM. */
MUST_CHECK int pattern_compile(regex_t *to, const char *pattern, int flags, struct err *err);

#endif
