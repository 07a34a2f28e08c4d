/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print.h - a result as text, CSV (RFC 4180), JSON or JSON lines. */
#ifndef CAIRN_RESULT_PRINT_H
#define CAIRN_RESULT_PRINT_H

#include "result/result.h"

#include <stdio.h>

enum print_format { PRINT_TEXT, PRINT_CSV, PRINT_JSON, PRINT_JSONL };

bool print_format_parse(const char *name, enum print_format *format);
/* By a file name's extension: .csv .json .jsonl, anything else text. */
enum print_format print_format_of_file(const char *path);

struct print_options {
	enum print_format format;
	size_t top;     /* print at most so many rows; 0: all */
	unsigned width; /* of the terminal, in columns; 0: no limit */
	bool csv_raw;   /* CSV: text that a spreadsheet would take for a formula is left as it is */
	bool wide;      /* in text, also print the columns that otherwise only machine formats print */
};

/* Print a result.  0, ERR_IO if writing to the stream fails, or ERR_CANCELLED: the calling thread's work was
 * cancelled (result->stop), and not all rows stand there. */
MUST_CHECK int print_result(struct result *r, const struct print_options *options, FILE *to,
    struct err *err);

#endif
