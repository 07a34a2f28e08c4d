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
	size_t top;     /* at most so many rows; 0: all */
	unsigned width; /* columns of the terminal, 0: no limit */
	bool wide;      /* text: the columns that only machine formats print, too */
};

/* 0, or ERR_IO when the stream refuses. */
int print_result(struct result *r, const struct print_options *options, FILE *to, struct err *err);

#endif
