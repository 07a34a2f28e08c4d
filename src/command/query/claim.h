/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.h - an expectation about a dump (assert), one comparison or an expression of SQL; private to this folder.
 *
 *     leaks.share < 30                     of each row of a table; of info, size and the like of the one value
 *     "leaks -share 5".retained < 10M      the table of a command line
 *     objects("com.acme.Session") < 10000  of a set, as histo counts it; shallow() and retained() as size tells them
 *     rows("duplicate-classes") = 0
 *
 * A class that the dump does not have is wrong usage, for its name may be misspelt, unless only absence makes the
 * claim true (= 0, < 1), the name is a pattern or the dump was read in part.
 *
 * What is no such comparison is SQL.  A number that is a lower bound, or that nobody knows, may leave open whether a
 * claim is true: that is an answer of its own, and not a yes.
 */
#ifndef CAIRN_COMMAND_QUERY_CLAIM_H
#define CAIRN_COMMAND_QUERY_CLAIM_H

#include "command/session/session.h"

enum claim_answer { CLAIM_TRUE, CLAIM_UNSURE, CLAIM_FALSE };

struct claim {
	enum claim_answer answer;
	struct text value;    /* what decided it, as people read numbers, with its mark; may be empty */
	struct text digits;   /* of it, as machines do; empty where it is not a number */
	struct amount sure;   /* how sure these are; n is a rank */
	struct text absent;   /* why nothing is counted: the dump has no such class; else empty */
	struct text sentence; /* "leaks.share < 30 is false: it is 50.1% of class com.acme.shop.Shop", escaped */
};

/* 0: *out is the caller's (claim_release).  ERR_USAGE: it is neither such a comparison nor SQL, or names what is not
 * there; or what the table met. */
MUST_CHECK int claim_judge(struct claim *out, struct session *s, const char *text, struct err *err);
void claim_release(struct claim *c);

#endif
