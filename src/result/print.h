/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print.h - a result as text, CSV (RFC 4180), JSON, JSON lines, Markdown or HTML. */
#ifndef CAIRN_RESULT_PRINT_H
#define CAIRN_RESULT_PRINT_H

#include "result/result.h"

#include <stdio.h>

enum print_format { PRINT_TEXT, PRINT_CSV, PRINT_JSON, PRINT_JSONL, PRINT_MD, PRINT_HTML };
extern const char *const print_format_names[]; /* by format */

bool print_format_parse(const char *name, enum print_format *format);
#define PRINT_ENDINGS ".csv, .json, .jsonl, .md, .html, .txt, .log or none"
/* By the ending of a file's name, in capital letters or small ones.  0, or ERR_USAGE for any other than PRINT_ENDINGS;
 * the message names the file.
 * What is longer than ".markdown" is none. */
MUST_CHECK int print_format_of_file(const char *path, enum print_format *format, struct err *err);

/* Do people read it, with marks and notes, and without what only machines count? */
bool print_is_for_people(enum print_format format);

struct print_options {
	enum print_format format;
	size_t top;     /* print at most so many rows; 0: all */
	unsigned width; /* of the terminal, in columns; 0: no limit */
	bool csv_raw;   /* CSV: text that a spreadsheet would take for a formula is left as it is */
	bool part;      /* CSV: as a part of a table: NAME_certainty for all numbers, so that all parts have the same
	                   columns, and all texts in quotes, so that readers guess the same types for all */
	bool wide;      /* for people, also print the columns that otherwise only machine formats print */
	bool within;    /* of a page or a text with its own frame: no title, no style */
	bool behind;    /* another result stands in the same file before it: a page of HTML goes on */
};

/* Print a result.  0, ERR_IO if writing to the stream fails, or ERR_CANCELLED: the calling thread's work was
 * cancelled (result->stop), and not all rows stand there. */
MUST_CHECK int print_result(struct result *r, const struct print_options *options, FILE *to,
    struct err *err);

/* Write a text of a dump so that none of its characters means anything to the format (PRINT_TEXT, PRINT_MD or
 * PRINT_HTML) or to a terminal. */
void print_escaped(enum print_format format, const char *s, FILE *to);

#endif
