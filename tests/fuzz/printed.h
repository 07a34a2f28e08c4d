/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printed.h - what must hold of everything that is printed, whatever the dump says. */
#ifndef CAIRN_TESTS_PRINTED_H
#define CAIRN_TESTS_PRINTED_H

#include "result/print.h"

#include <stdbool.h>
#include <stddef.h>

/* UTF-8 without controls; line ends may stand in it if lines is set. */
bool is_clean(const char *s, size_t n, bool lines);
bool is_json(const char *s, size_t n);  /* one value, RFC 8259 */
bool is_jsonl(const char *s, size_t n); /* one in each line */
bool is_csv(const char *s, size_t n);   /* RFC 4180; tables of even records, empty lines between them */

/* Is this what that format may look like? */
bool is_printed(enum print_format format, const char *s, size_t n);

#endif
