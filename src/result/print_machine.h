/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print_machine.h - prints a result for programs: CSV and JSON (print_result calls that), and what is said beside
 * numbers there. */
#ifndef CAIRN_RESULT_PRINT_MACHINE_H
#define CAIRN_RESULT_PRINT_MACHINE_H

#include "result/result.h"

#include <stdio.h>

/* Which columns have numbers among the first rows that are not exact; the caller frees. */
bool *print_inexact_columns(struct result *r, size_t rows);
/* The word for how sure a cell is. */
const char *print_certainty(const struct cell *c);

/* top: print at most so many rows; 0: all.  raw: text that a spreadsheet would take for a formula is left
 * as it is.  part: see struct print_options.  If writing fails, ferror tells. */
void print_csv(struct result *r, size_t top, bool raw, bool part, FILE *to);
/* One array with an object for each row, or one object if the result is only a head.  lines: print each
 * row as an object on a line of its own (JSON lines). */
void print_json(struct result *r, size_t top, bool lines, FILE *to);

#endif
