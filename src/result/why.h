/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * why.h - says how sure the numbers of a row or of a head are, and for what reason.
 *
 * Main thread only.
 */
#ifndef CAIRN_RESULT_WHY_H
#define CAIRN_RESULT_WHY_H

#include "result/result.h"

#define WHY_NO_ROW SIZE_MAX

/*
 * Append one sentence, without a full stop, about the head of r and the row at this position
 * (WHY_NO_ROW: only the head).  It names each number in doubt with its reason, or says that all are
 * exact.  hidden: also speak of columns that are not shown by default.
 */
void why(struct result *r, size_t row, struct text *to);

/* Append the reason why a single cell is as sure as it is; returns how sure it is. */
enum certainty why_one(const struct result *r, const struct cell *cell, struct text *to);

#endif
