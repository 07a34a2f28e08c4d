/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * name_role.h - the colour of a name or value by what it is: a class of the program or of its library, an array, a
 * text, a number.
 *
 * A name is looked up in the table of libraries (heap/library.h), which takes about a microsecond.  Main thread.
 */
#ifndef CAIRN_VIEW_NAME_ROLE_H
#define CAIRN_VIEW_NAME_ROLE_H

#include "result/result.h"
#include "view/theme.h"

/* Of the name of a class, package or type.  h: the heap it is of; NULL: of a Java program. */
enum role name_role(const struct heap *h, const char *name);

/* Of a value as tables print it: a text in quotes, a number, an address; else ROLE_TEXT. */
enum role value_role(const char *value);

/* Of a cell in this column of a result about h. */
enum role cell_role_in(const struct heap *h, enum column_id column, const struct cell *cell);

#endif
