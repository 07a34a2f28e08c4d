/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cursor.h - reads a result from several places at once, and finds a row by what it says.
 *
 * result_cell() writes the text of a cell over that of the cell before.  A cursor has room for a text
 * of its own: what one cursor read stays until the same cursor reads on, whatever others do, so two rows
 * of one result, or rows of two results, can be held against each other.
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
 * The first row shown whose cell in the column says the same as key, of the same type: the same text,
 * number, address or flag, however sure.  Looks at every row up to it.  SIZE_MAX: none; what is unknown
 * is found nowhere.
 */
size_t cursor_find(struct cursor *c, unsigned column, const struct cell *key);

/* The first row shown that stands for this object, class or thread.  SIZE_MAX: none. */
size_t result_find_target(const struct result *r, const struct target *key);

#endif
