/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_file.h - a file in a folder of its own, for tests of what reads files. */
#ifndef CAIRN_TESTS_ONE_FILE_H
#define CAIRN_TESTS_ONE_FILE_H

#include <stddef.h>

extern char folder[256], path[300]; /* once it is made */

/* For cmocka: setup and teardown of a group. */
int make_folder(void **state);
int remove_folder(void **state);
/* These bytes are the file now. */
void write_file(const void *bytes, size_t n);

#endif
