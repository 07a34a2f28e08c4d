/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preorder.c - see preorder.h. */
#include "result/preorder.h"

#include "memory/big.h"
#include "result/tree.h"

int preorder_init(struct preorder *p, uint32_t n, uint32_t (*depth)(const void *data, uint32_t node),
    const void *data, struct err *err)
{
	uint32_t *open = big_alloc((uint64_t)n + 1, sizeof *open, err), n_open = 0;
	*p = (struct preorder){.n = n};
	p->end = open ? big_alloc((uint64_t)n + 1, sizeof *p->end, err) : NULL;
	for (uint32_t node = 0; p->end && node < n; node++) {
		while (n_open > 0 && depth(data, open[n_open - 1]) >= depth(data, node))
			p->end[open[--n_open]] = node;
		open[n_open++] = node;
	}
	while (n_open > 0)
		p->end[open[--n_open]] = n;
	big_free(open);
	return p->end ? 0 : ERR_NOMEM;
}

uint32_t preorder_children(const struct preorder *p, uint32_t node, uint32_t *to)
{
	uint32_t at = node == TREE_TOP ? 0 : node + 1, end = node == TREE_TOP ? p->n : p->end[node];
	uint32_t n = 0;
	for (; at < end; at = p->end[at], n++)
		if (to)
			to[n] = at;
	return n;
}

void preorder_release(struct preorder *p)
{
	big_free(p->end);
	*p = (struct preorder){.end = NULL};
}
