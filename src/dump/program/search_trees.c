/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search_trees.c - what elfutils 0.192 leaves out of its own archives, for the static program.
 *
 * Its libelf.a and libdw.a, those of Debian 13 among them, call functions over the trees of <search.h> that were only
 * linked into its shared libraries (bug 32293 of sourceware.org, mended in 0.193).  configure asks for them, and these
 * here are linked in only where they are missing.  As there a tree begins with its root, and nothing is locked.
 */
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root;
};
typedef int search_order(const void *, const void *);

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *));
void *eu_tsearch(const void *key, struct search_tree *tree, search_order *order);
void *eu_tfind(const void *key, struct search_tree *tree, search_order *order);
void *eu_tdelete(const void *key, struct search_tree *tree, search_order *order);
void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *));

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_tdestroy(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	eu_tdestroy(tree, free_node);
}

void *eu_tsearch(const void *key, struct search_tree *tree, search_order *order)
{
	return tsearch(key, &tree->root, order);
}

void *eu_tfind(const void *key, struct search_tree *tree, search_order *order)
{
	return tfind(key, &tree->root, order);
}

void *eu_tdelete(const void *key, struct search_tree *tree, search_order *order)
{
	return tdelete(key, &tree->root, order);
}
