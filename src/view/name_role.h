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

/* Of what holds something, by its field as tables print it: "static com.acme.Log.ENTRIES" has the role of its class, a
 * field of an object and a local of a thread have none, and where the field says nothing, class has one.  class: NULL
 * or a name. */
enum role name_role_of_holder(const struct heap *h, const char *field, const char *class);
/* "com.acme.Log.ENTRIES" of such a field; NULL: it names no static field and no variable of Go. */
const char *name_of_static(const char *field);

/* Of a value as tables print it: a text in quotes, a number, an address; else ROLE_TEXT. */
enum role value_role(const char *value);

/* Of a cell in this column of a result about h. */
enum role cell_role_in(const struct heap *h, enum column_id column, const struct cell *cell);
/* The same of a row, whose branch in the heap's tree looks like what holds it. */
enum role cell_role_in_row(struct result *r, size_t row, unsigned column, const struct cell *cell);

#endif
