/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_parts.c - see tree_parts.h. */
#include "result/tree_parts.h"
#include "result/tree_rows.h"

#include "memory/big.h"

#include <string.h>

static const struct tree_source *source_of(const struct result *r)
{
	return ((const struct tree *)r->data)->source;
}

bool tree_part_is_ready(const struct result *r, uint32_t node)
{
	return !source_of(r)->is_ready || source_of(r)->is_ready(r, node);
}

bool tree_parts_known(const struct result *r, uint32_t node)
{
	return !source_of(r)->known || source_of(r)->known(r, node);
}

int tree_parts_make(const struct result *r, uint32_t node, uint32_t most, struct err *err)
{
	enum { READY = 32 }; /* of the heaviest children */
	const struct tree_source *source = source_of(r);
	struct tree_part part[READY];
	uint64_t all;
	int code = source->ready ? source->ready(r, node, err) : 0;
	if (!code && most && source->open_small)
		code = source->open_small(r, node, most, err);
	size_t n = code || !most || !source->ready ? 0 : tree_heaviest(r, node, part, READY, &all);
	for (size_t i = 0; !code && i < n; i++)
		code = source->ready(r, part[i].node, err);
	return code;
}

static uint64_t weight_of(const struct result *r, uint32_t node)
{
	struct text scratch = TEXT_INIT;
	struct cell c = cell_none();
	source_of(r)->cell(r, node, source_of(r)->weight, &c, &scratch);
	text_release(&scratch);
	return c.type == CELL_NONE ? 0 : c.amount.n;
}

/* Into its place among the heaviest; those of one weight stay in their order. */
static size_t insert(struct tree_part *to, size_t n, size_t most, struct tree_part part)
{
	size_t at = n;
	while (at > 0 && to[at - 1].weight < part.weight)
		at--;
	if (at == most)
		return n;
	n += n < most;
	memmove(to + at + 1, to + at, (n - at - 1) * sizeof *to);
	to[at] = part;
	return n;
}

size_t tree_heaviest(const struct result *r, uint32_t node, struct tree_part *to, size_t most, uint64_t *all)
{
	struct err err = ERR_INIT;
	*all = 0;
	if (!most || !tree_parts_known(r, node))
		return 0;
	uint32_t n = source_of(r)->children(r, node, NULL);
	uint32_t *child = n && n <= TREE_PARTS_FROM ? big_alloc(n, sizeof *child, &err) : NULL;
	size_t found = 0;
	if (child)
		source_of(r)->children(r, node, child);
	for (uint32_t i = 0; child && i < n; i++) {
		struct tree_part part = {child[i], weight_of(r, child[i])};
		found = insert(to, found, most, part);
		*all += part.weight;
	}
	big_free(child);
	return found;
}

void tree_part_cell(const struct result *r, uint32_t node, unsigned column, struct cell *out, struct text *scratch)
{
	*out = cell_none();
	text_clear(scratch);
	source_of(r)->cell(r, node, column, out, scratch);
}

size_t tree_nodes_to(const struct result *r, size_t row, uint32_t *to, size_t most)
{
	if (!tree_is(r) || row >= r->n_rows)
		return 0;
	const struct tree *t = r->data;
	size_t at = tree_source_row(r, row), levels = (size_t)t->row[at].depth + 1;
	for (size_t level = levels; level-- > 0;) {
		while (t->row[at].depth > level)
			at--;
		if (level < most)
			to[level] = t->row[at].node;
	}
	return levels;
}

size_t tree_row_of(const struct result *r, size_t parent, uint32_t node)
{
	const struct tree *t = r->data;
	if (!tree_is(r) || (parent != SIZE_MAX && parent >= r->n_rows))
		return SIZE_MAX;
	bool top = parent == SIZE_MAX;
	uint32_t depth = top ? 0 : t->row[tree_source_row(r, parent)].depth + 1;
	for (size_t i = top ? 0 : parent + 1; i < r->n_rows; i++) {
		const struct tree_row *at = &t->row[tree_source_row(r, i)];
		if (at->depth < depth)
			break;
		if (at->depth == depth && at->node == node)
			return i;
	}
	return SIZE_MAX;
}
