/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * why.h - how sure the numbers of a row or of a head are, and for what reason.
 *
 * Main thread only.
 */
#ifndef CAIRN_RESULT_WHY_H
#define CAIRN_RESULT_WHY_H

#include "result/result.h"

#define WHY_NO_ROW SIZE_MAX

/*
 * One sentence, without a full stop, about the head of r and its row at this position (WHY_NO_ROW:
 * only the head): what is in doubt with the reason that fits, else that all is exact.  hidden: also
 * the columns that are not shown by default.
 */
void why(struct result *r, size_t row, bool hidden, struct text *to);

/* The same of a single value: the words why it is as sure as it is, into to. */
enum certainty why_one(const struct result *r, const struct cell *cell, struct text *to);

#endif
