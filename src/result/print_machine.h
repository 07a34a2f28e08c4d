/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print_machine.h - prints a result for programs: CSV and JSON.  Called by print_result only. */
#ifndef CAIRN_RESULT_PRINT_MACHINE_H
#define CAIRN_RESULT_PRINT_MACHINE_H

#include "result/result.h"

#include <stdio.h>

/* top: print at most so many rows; 0: all.  raw: text that a spreadsheet would take for a formula is left
 * as it is.  If writing fails, ferror tells. */
void print_csv(struct result *r, size_t top, bool raw, FILE *to);
/* One array with an object for each row, or one object if the result is only a head.  lines: print each
 * row as an object on a line of its own (JSON lines). */
void print_json(struct result *r, size_t top, bool lines, FILE *to);

#endif
