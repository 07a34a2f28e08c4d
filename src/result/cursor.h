/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cursor.h - reads a result from several places at once, and finds a row by its contents.
 *
 * result_cell writes the text of a cell over that of the cell before.  A cursor has a text buffer
 * of its own: what it read stays valid until the same cursor reads another cell, whatever others
 * read.  So two rows of one result, or rows of two results, can be compared.
 */
#ifndef CAIRN_RESULT_CURSOR_H
#define CAIRN_RESULT_CURSOR_H

#include "result/result.h"

struct cursor {
	const struct result *result; /* borrowed; must not change its rows while the cursor reads */
	struct text scratch;
};

void cursor_init(struct cursor *c, const struct result *r);
void cursor_release(struct cursor *c);

/* Cell of the row shown at position row.  Its text is valid until this cursor reads another one. */
void cursor_cell(struct cursor *c, size_t row, unsigned column, struct cell *out);

/*
 * The position of the first row shown whose cell in this column has the type of key and the same
 * text, number, address or flag, however sure.  Looks at every row before it.  SIZE_MAX: there is
 * none; an unknown key is never found.
 */
size_t cursor_find(struct cursor *c, unsigned column, const struct cell *key);

/* The first row shown that stands for this object, class or thread.  SIZE_MAX: none. */
size_t result_find_target(const struct result *r, const struct target *key);

#endif
