/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print_people.h - prints a result for people, and what the formats for them share.  Called by the printers only. */
#ifndef CAIRN_RESULT_PRINT_PEOPLE_H
#define CAIRN_RESULT_PRINT_PEOPLE_H

#include "result/result.h"

#include <stdio.h>

struct print_options; /* result/print.h */

/* A table of Markdown (GitHub's) or a page of HTML, as options->format says.  If writing fails, ferror tells. */
void print_markup(struct result *r, const struct print_options *options, FILE *to);

/* Append "917 classes". */
void print_row_count(struct result *r, struct text *to);
/* Append a value of a head; there are few, each alone: sizes are given to the byte as well. */
void print_head_value(const struct field *f, struct text *to);

#endif
