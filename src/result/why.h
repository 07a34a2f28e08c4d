/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * why.h - the certainty of the numbers of a row or of a head, and the reasons, in sentences.
 *
 * Main thread only.
 */
#ifndef CAIRN_RESULT_WHY_H
#define CAIRN_RESULT_WHY_H

#include "result/result.h"

#define WHY_NO_ROW SIZE_MAX

/* What is shown beside a row and is not a cell of it: its share, a sum. */
struct why_value {
	const char *name;
	struct cell cell;
};

/*
 * Append sentences, a line each, without full stops, about the head of r and the row at this position
 * (WHY_NO_ROW: only the head), and about what is shown beside it.  It names each number in doubt with its reason,
 * or says that all are exact.
 */
void why_explain(struct result *r, size_t row, const struct why_value *beside, size_t n_beside, struct text *to);

/* Append the reason why a single cell, that of this row (WHY_NO_ROW: of the head) and column, is as sure as it is;
 * returns how sure it is. */
enum certainty why_one(const struct result *r, size_t row, unsigned column, const struct cell *cell, struct text *to);

#endif
