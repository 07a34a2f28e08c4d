/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print_machine.h - a result for programs: CSV and JSON.  Called by print_result only. */
#ifndef CAIRN_RESULT_PRINT_MACHINE_H
#define CAIRN_RESULT_PRINT_MACHINE_H

#include "result/result.h"

#include <stdio.h>

/* top: at most so many rows, 0 all.  Failure to write is left in the stream. */
void print_csv(struct result *r, size_t top, FILE *to);
/* One array of objects, or an object for a result that is only a head; lines: an object a line. */
void print_json(struct result *r, size_t top, bool lines, FILE *to);

#endif
