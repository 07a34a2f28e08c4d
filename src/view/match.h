/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * match.h - does a row contain the words that were typed for a filter or a search?
 *
 * The row must contain all words, in any order; "*" stands for anything within a word.  If no word
 * has a capital letter, case does not matter.  Any thread.
 */
#ifndef CAIRN_VIEW_MATCH_H
#define CAIRN_VIEW_MATCH_H

#include "result/result.h"

struct match {
	const char *words; /* borrowed */
	const bool *only; /* look into these columns alone; NULL: all that are shown */
	bool any_case;
	struct text buffer; /* a row's text */
};

void match_init(struct match *m, const char *words);
void match_release(struct match *m);

bool match_text(const struct match *m, const char *s);

/* Looks at the texts and addresses of the row at this position, and at numbers that are values of the dump. */
bool match_row(struct match *m, struct result *r, size_t row);

#endif
