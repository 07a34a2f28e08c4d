/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot.h - amounts as a line of blocks (COL_PLOT), or as a bar (COL_BAR).
 *
 * A point of a plot takes a column: a block as high as its part of the most, PLOT_ABSENT where there was nothing, ?
 * where it is not known.  Any thread.
 */
#ifndef CAIRN_RESULT_PLOT_H
#define CAIRN_RESULT_PLOT_H

#include "base/amount.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define PLOT_ABSENT "\u00b7"
#define PLOT_UNKNOWN "?"

/* Append the block of n, 0 to most. */
void plot_add(struct text *to, uint64_t n, uint64_t most);
/* The same of an amount: PLOT_ABSENT where it is 0, PLOT_UNKNOWN where nobody knows. */
void plot_add_amount(struct text *to, struct amount amount, uint64_t most);
/* Append the plot in so many columns, at least 1: of the points that share one the highest, and ? if any of them is. */
void plot_squeeze(struct text *to, const char *plot, size_t columns);
/* Append it in signs that every screen has, and that mean nothing else there: the digits 1 to 8, and _ where there was
 * nothing. */
void plot_add_ascii(struct text *to, const char *plot);
/* Append a bar, most in so many columns. */
void plot_add_bar(struct text *to, uint64_t n, uint64_t most, size_t columns);
/* Append a bar in signs that every screen has: columns that are full by half or more. */
void plot_add_ascii_bar(struct text *to, const char *bar);

#endif
