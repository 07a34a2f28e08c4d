/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cursor.c - see cursor.h.
 */
#include "result/cursor.h"

#include <string.h>

void cursor_init(struct cursor *c, const struct result *r)
{
	*c = (struct cursor){.result = r, .scratch = TEXT_INIT};
}

void cursor_release(struct cursor *c)
{
	text_release(&c->scratch);
}

void cursor_cell(struct cursor *c, size_t row, unsigned column, struct cell *out)
{
	result_read(c->result, row, column, out, &c->scratch);
}

static bool says_the_same(const struct cell *a, const struct cell *b)
{
	if (a->type != b->type || a->type == CELL_NONE || a->amount.certainty == UNKNOWN)
		return false;
	return a->type == CELL_TEXT ? !strcmp(a->text, b->text) : a->amount.n == b->amount.n;
}

size_t cursor_find(struct cursor *c, unsigned column, const struct cell *key)
{
	struct cell cell;
	for (size_t row = 0; row < c->result->n_rows; row++) {
		cursor_cell(c, row, column, &cell);
		if (says_the_same(&cell, key))
			return row;
	}
	return SIZE_MAX;
}

size_t result_find_target(const struct result *r, const struct target *key)
{
	struct target target;
	bool one = key->kind == TARGET_OBJECT || key->kind == TARGET_CLASS || key->kind == TARGET_THREAD;
	for (size_t row = 0; one && row < r->n_rows; row++) {
		result_target(r, row, &target);
		if (target.kind == key->kind && target.id == key->id && target.opened == key->opened)
			return row;
	}
	return SIZE_MAX;
}
