/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap_tree.c - see heap_tree.h. */
#include "analysis/heap_tree/heap_tree.h"

#include "base/assert.h"
#include "base/progress.h"
#include "base/render_lock.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>

/* Of siblings of one class those stand alone that retain such a part of what all of them do, and of all that is
 * reachable. */
enum { PART_OF_SIBLINGS = 8, PART_OF_ALL = 100 };

struct ids {
	uint32_t *id;
	size_t n, cap;
};

/* What is below a node, while its children are made. */
struct level {
	struct heap_tree *tree;
	struct ids found;   /* in the order of their holders */
	struct ids mirrors; /* class objects, which are looked through */
	struct ids loaders; /* and class loaders with their lists */
	struct ids classes; /* of what was found, each once */
	struct ids sorted;  /* what was found, by class */
};

/* As progress_own_stops.  What is made has no place in the tree yet, so that can be looked at. */
static bool stops(uint64_t round)
{
	if (round % PROGRESS_ROUNDS == 0)
		render_lock_offer();
	return progress_own_stops(round);
}

static int push(struct ids *to, uint32_t id, struct err *err)
{
	return BIG_ADD(to->id, to->n, to->cap, err, id);
}

static void level_release(struct level *l)
{
	big_free(l->found.id);
	big_free(l->mirrors.id);
	big_free(l->loaders.id);
	big_free(l->classes.id);
	big_free(l->sorted.id);
}

/* --- what belongs to a node --------------------------------------------------------------------- */

/* The top's node has what was asked for. */
bool heap_tree_joins(const struct heap_tree *t, uint32_t node, uint32_t id, uint32_t child)
{
	const struct heap *h = t->retained->heap;
	if (node == HEAP_TREE_TOP)
		return t->asked.word && bits_get(&t->asked, child);
	return heap_class_index(h, child) == heap_class_index(h, id) && heap_class_of(h, id)->kind == CLASS_PLAIN &&
	    heap_class_mirrored(h, child) == HEAP_NONE && !bits_get(&t->loaders, child);
}

static int add_member(struct heap_tree *t, struct heap_node *node, uint32_t id, struct err *err)
{
	if (BIG_ADD(t->member, t->n_members, t->cap_members, err, id))
		return ERR_NOMEM;
	node->n++;
	node->shallow += heap_shallow(t->retained->heap, id);
	node->doubts |= heap_size_doubts(t->retained->heap, id);
	node->n_unknown += t->retained->heap->n_unknown_size && !heap_size_known(t->retained->heap, id);
	return 0;
}

/* The children that belong to it, and theirs. */
static int add_joining(struct heap_tree *t, uint32_t number, struct heap_node *node, struct err *err)
{
	int code = 0;
	for (size_t i = node->at; !code && i < t->n_members; i++) {
		uint32_t n, id = t->member[i];
		const uint32_t *child = retained_children(t->retained, id, &n);
		for (uint32_t k = 0; !code && k < n; k++) {
			if (stops(k))
				code = err_cancelled(err);
			else if (heap_tree_joins(t, number, id, child[k]))
				code = add_member(t, node, child[k], err);
		}
		if (!code && stops(i))
			code = err_cancelled(err);
	}
	return code;
}

/* A node of these objects, none of which stands above another. */
static int add_node(struct heap_tree *t, uint32_t parent, const uint32_t *ids, size_t n, bool own_bytes,
    struct err *err)
{
	const struct retained *r = t->retained;
	struct heap_node node = {.parent = parent, .depth = t->node[parent].depth + 1, .at = t->n_members,
	    .class = heap_class_index(r->heap, ids[0]), .largest = ids[0], .topmost = (uint32_t)n,
	    .classes = own_bytes,
	    .loaders = own_bytes && bits_get(&t->loaders, ids[0])};
	int code = 0;
	for (size_t i = 0; !code && i < n; i++) {
		code = stops(i) ? err_cancelled(err) : add_member(t, &node, ids[i], err);
		if (retained_size(r, ids[i]) > retained_size(r, node.largest))
			node.largest = ids[i];
		if (!own_bytes)
			retained_sum_add(r, &node.retained, ids[i]);
	}
	if (own_bytes) {
		node.retained = (struct retained_sum){.bytes = node.shallow, .topmost = n, .doubts = node.doubts};
		node.state = NODE_EMPTY;
	} else if (!code) {
		code = add_joining(t, (uint32_t)t->n_nodes, &node, err);
	}
	struct heap_node *at = code ? NULL : BIG_PUSH(t->node, t->n_nodes, t->cap_nodes, err);
	if (!at)
		return code ? code : ERR_NOMEM;
	*at = node;
	return 0;
}

/* --- a level ------------------------------------------------------------------------------------ */

/* member: it is one of the node's, so some of its children are, too. */
static int gather(struct level *l, uint32_t node, uint32_t id, bool member, struct err *err)
{
	const struct heap *h = l->tree->retained->heap;
	uint32_t n;
	const uint32_t *child = retained_children(l->tree->retained, id, &n);
	int code = 0;
	for (uint32_t i = 0; !code && i < n; i++) {
		if (stops(i))
			code = err_cancelled(err);
		else if (member && heap_tree_joins(l->tree, node, id, child[i]))
			continue;
		else if (heap_class_mirrored(h, child[i]) != HEAP_NONE)
			code = push(&l->mirrors, child[i], err);
		else if (bits_get(&l->tree->loaders, child[i]))
			code = push(&l->loaders, child[i], err);
		else
			code = push(&l->found, child[i], err);
	}
	return code;
}

static int gather_all(struct level *l, uint32_t number, struct err *err)
{
	const struct heap_tree *t = l->tree;
	const struct heap_node *node = &t->node[number];
	int code = number == HEAP_TREE_TOP && !t->asked.word ? gather(l, number, HEAP_NONE, false, err) : 0;
	for (size_t i = 0; !code && i < node->n; i++)
		code = stops(i) ? err_cancelled(err) : gather(l, number, t->member[node->at + i], true, err);
	for (size_t m = 0, k = 0; !code && (m < l->mirrors.n || k < l->loaders.n);) { /* each may hold the other */
		uint32_t id = m < l->mirrors.n ? l->mirrors.id[m++] : l->loaders.id[k++];
		code = stops(m + k) ? err_cancelled(err) : gather(l, number, id, false, err);
	}
	return code;
}

/* Count first and fill second.  t->place: by class, 0 before and after. */
static int sort_by_class(struct level *l, struct err *err)
{
	const struct heap *h = l->tree->retained->heap;
	uint32_t *place = l->tree->place, sum = 0;
	int code = 0;
	l->sorted.id = big_alloc(l->found.n, sizeof *l->sorted.id, err);
	if (!l->sorted.id)
		return ERR_NOMEM;
	l->sorted.n = l->found.n;
	for (size_t i = 0; !code && i < l->found.n; i++) {
		uint32_t class = heap_class_index(h, l->found.id[i]);
		if (stops(i))
			code = err_cancelled(err);
		else if (!place[class])
			code = push(&l->classes, class, err); /* all that is counted is in the list */
		place[class] += !code;
	}
	for (size_t i = 0; i < l->classes.n; i++) {
		uint32_t n = place[l->classes.id[i]];
		place[l->classes.id[i]] = sum;
		sum += n;
	}
	for (size_t i = 0; !code && i < l->found.n; i++) {
		l->sorted.id[place[heap_class_index(h, l->found.id[i])]++] = l->found.id[i];
		code = stops(i) ? err_cancelled(err) : 0;
	}
	for (size_t i = 0; i < l->classes.n; i++)
		place[l->classes.id[i]] = 0;
	return code;
}

/* Nodes of n siblings of one class: those that stand alone, and one of all others. */
static int add_siblings(struct heap_tree *t, uint32_t parent, uint32_t *ids, size_t n, struct err *err)
{
	const struct retained *r = t->retained;
	uint64_t sum = 0, alone = r->dominators.shallow_reachable / PART_OF_ALL;
	size_t others = 0;
	int code = 0;
	for (size_t i = 0; i < n && !stops(i); i++)
		sum += retained_size(r, ids[i]);
	alone = alone > sum / PART_OF_SIBLINGS ? alone : sum / PART_OF_SIBLINGS;
	for (size_t i = 0; !code && i < n; i++) {
		if (stops(i))
			code = err_cancelled(err);
		else if (t->each || retained_size(r, ids[i]) >= alone)
			code = add_node(t, parent, &ids[i], 1, false, err);
		else
			ids[others++] = ids[i];
	}
	return code || !others ? code : add_node(t, parent, ids, others, false, err);
}

static int make_children(struct level *l, uint32_t number, struct err *err)
{
	struct heap_tree *t = l->tree;
	const struct heap *h = t->retained->heap;
	int code = gather_all(l, number, err);
	if (!code)
		code = sort_by_class(l, err);
	for (size_t i = 0, end; !code && i < l->sorted.n; i = end) {
		uint32_t class = heap_class_index(h, l->sorted.id[i]);
		for (end = i + 1; end < l->sorted.n && heap_class_index(h, l->sorted.id[end]) == class; end++)
			if (stops(end))
				return err_cancelled(err);
		code = add_siblings(t, number, l->sorted.id + i, end - i, err);
	}
	if (!code && l->mirrors.n)
		code = add_node(t, number, l->mirrors.id, l->mirrors.n, true, err);
	if (!code && l->loaders.n)
		code = add_node(t, number, l->loaders.id, l->loaders.n, true, err);
	return code;
}

int heap_tree_open(struct heap_tree *t, uint32_t number, struct err *err)
{
	cairn_assert(number < t->n_nodes);
	struct level l = {.tree = t};
	size_t n_nodes = t->n_nodes, n_members = t->n_members;
	if (t->node[number].state == NODE_OPEN || t->node[number].state == NODE_EMPTY)
		return 0;
	bool busy = t->busy;
	t->busy = true;
	int code = make_children(&l, number, err);
	t->busy = busy;
	level_release(&l);
	if (code) {
		t->n_nodes = n_nodes;
		t->n_members = n_members;
		return code;
	}
	struct heap_node *node = &t->node[number];
	node->first = (uint32_t)n_nodes;
	node->children = (uint32_t)(t->n_nodes - n_nodes);
	node->state = NODE_OPEN;
	return 0;
}

uint32_t heap_tree_children(const struct heap_tree *t, uint32_t number, uint32_t except, uint32_t *to)
{
	const struct heap_node *node = &t->node[number];
	uint32_t n = 0;
	for (uint32_t i = node->first; i < node->first + node->children; i++) {
		const struct heap_node *child = &t->node[i];
		if (i == except)
			continue;
		uint32_t first = child->apart ? child->single : i, singles = child->apart ? child->topmost : 1;
		for (uint32_t k = 0; to && k < singles; k++)
			to[n + k] = first + k;
		n += singles;
	}
	return n;
}

static int make_singles(struct heap_tree *t, uint32_t group, struct err *err)
{
	size_t n_nodes = t->n_nodes, n_members = t->n_members;
	uint32_t parent = t->node[group].parent;
	int code = 0;
	t->busy = true;
	for (uint32_t i = 0; !code && i < t->node[group].topmost; i++) {
		uint32_t id = t->member[t->node[group].at + i];
		code = add_node(t, parent, &id, 1, false, err);
		if (!code)
			t->node[t->n_nodes - 1].group = group;
		if (!code && stops(i))
			code = err_cancelled(err);
	}
	t->busy = false;
	if (code) {
		t->n_nodes = n_nodes;
		t->n_members = n_members;
		return code;
	}
	t->node[group].single = (uint32_t)n_nodes;
	return 0;
}

int heap_tree_regroup(struct heap_tree *t, uint32_t number, uint32_t *shown, struct err *err)
{
	cairn_assert(number < t->n_nodes);
	struct heap_node *node = &t->node[number];
	if (node->group) {
		t->node[node->group].apart = false;
		*shown = node->group;
		return 0;
	}
	if (number == HEAP_TREE_TOP || node->classes || node->topmost < 2)
		return err_set(err, ERR_NOT_FOUND, "the row has no group of siblings to expand");
	int code = node->single ? 0 : make_singles(t, number, err);
	if (code)
		return code;
	node = &t->node[number]; /* it may have moved */
	node->apart = true;
	for (uint32_t i = 0; i < node->topmost; i++) {
		if (t->node[node->single + i].largest == node->largest)
			*shown = node->single + i;
	}
	return 0;
}

bool heap_tree_opens(struct heap_tree *t, uint32_t number)
{
	cairn_assert(number < t->n_nodes);
	struct heap_node *node = &t->node[number];
	if (node->state != NODE_CLOSED)
		return node->state == NODE_FULL || node->children;
	for (size_t i = 0; i < node->n; i++) {
		uint32_t n, id = t->member[node->at + i];
		const uint32_t *child = retained_children(t->retained, id, &n);
		for (uint32_t k = 0; k < n && !progress_own_stops(k); k++) {
			if (heap_tree_joins(t, number, id, child[k]))
				continue;
			node->state = NODE_FULL;
			return true;
		}
		if (progress_own_stops(i))
			return false;
	}
	node->state = NODE_EMPTY;
	return false;
}

/* --- the top ------------------------------------------------------------------------------------ */

/* Of the objects that were asked for, which stand below no other one?  The way up from each is gone as far as
 * it was gone before. */
struct climb {
	const struct heap_tree *tree;
	struct bits free, below; /* by id: on the way up from here there is none of them; there is one */
};

static bool is_below(struct climb *c, uint32_t id)
{
	const uint32_t *immediate = c->tree->retained->dominators.immediate;
	uint32_t end = immediate[id];
	while (end != DOMINATED_BY_ROOTS && !bits_get(&c->tree->asked, end) && !bits_get(&c->free, end) &&
	    !bits_get(&c->below, end))
		end = immediate[end];
	bool below = end != DOMINATED_BY_ROOTS && !bits_get(&c->free, end);
	for (uint32_t at = immediate[id]; at != end; at = immediate[at])
		bits_set(below ? &c->below : &c->free, at);
	return below;
}

/* The top's members are those that were asked for: first the topmost, then what belongs to these. */
static int ask(struct heap_tree *t, const uint32_t *ids, size_t n, struct err *err)
{
	struct climb c = {.tree = t};
	const struct retained *r = t->retained;
	struct heap_node top = t->node[HEAP_TREE_TOP];
	uint32_t n_objects = r->dominators.n_objects;
	int code = bits_init(&t->asked, n_objects, err);
	if (!code)
		code = bits_init(&c.free, n_objects, err);
	if (!code)
		code = bits_init(&c.below, n_objects, err);
	for (size_t i = 0; !code && i < n; i++)
		bits_set(&t->asked, ids[i]);
	for (size_t i = 0; !code && i < n; i++) {
		if (progress_own_stops(8 * i))
			code = err_cancelled(err);
		else if (r->dominators.immediate[ids[i]] != NOT_REACHABLE && !is_below(&c, ids[i])) {
			code = add_member(t, &top, ids[i], err);
			retained_sum_add(r, &top.retained, ids[i]);
			if (top.largest == HEAP_NONE ||
			    retained_size(r, ids[i]) > retained_size(r, top.largest))
				top.largest = ids[i];
		}
	}
	top.topmost = top.n;
	if (!code)
		code = add_joining(t, HEAP_TREE_TOP, &top, err);
	t->node[HEAP_TREE_TOP] = top;
	bits_release(&c.free);
	bits_release(&c.below);
	return code;
}

/* Climb from each class object to a class loader: that, and what is on the way, is looked through. */
static int find_loaders(struct heap_tree *t, struct err *err)
{
	enum { STEPS = 8 }; /* loader, list, array: a few of the VM's own structures at most */
	const struct heap *h = t->retained->heap;
	const uint32_t *immediate = t->retained->dominators.immediate;
	struct bits loader = {.word = NULL};
	int code = bits_init(&loader, h->n_objects, err);
	if (!code)
		code = bits_init(&t->loaders, h->n_objects, err);
	for (uint32_t i = 0; !code && i < h->n_classes; i++)
		if (h->classes[i].loader < h->n_objects)
			bits_set(&loader, h->classes[i].loader);
	for (uint32_t i = 0; !code && i < h->n_classes; i++) {
		uint32_t id = h->classes[i].object, way[STEPS], n = 0;
		if (progress_own_stops(i))
			code = err_cancelled(err);
		if (code || id >= h->n_objects || heap_class_mirrored(h, id) == HEAP_NONE)
			continue;
		for (id = immediate[id]; id < h->n_objects && n < STEPS; id = immediate[id]) {
			way[n++] = id;
			if (bits_get(&loader, id)) {
				while (n > 0)
					bits_set(&t->loaders, way[--n]);
				break;
			}
		}
	}
	bits_release(&loader);
	return code;
}

int heap_tree_make(struct heap_tree *out, const struct retained *r, const uint32_t *ids, size_t n,
    bool each, struct err *err)
{
	*out = (struct heap_tree){.retained = r, .each = each};
	out->place = big_alloc(r->heap->n_classes, sizeof *out->place, err);
	struct heap_node *top = out->place ? BIG_PUSH(out->node, out->n_nodes, out->cap_nodes, err) : NULL;
	int code = top ? find_loaders(out, err) : ERR_NOMEM;
	if (!code)
		*top = (struct heap_node){.class = HEAP_NONE, .largest = HEAP_NONE};
	if (!code && ids)
		code = ask(out, ids, n, err);
	if (!code)
		code = heap_tree_open(out, HEAP_TREE_TOP, err);
	if (code)
		heap_tree_release(out);
	return code;
}

void heap_tree_release(struct heap_tree *t)
{
	big_free(t->node);
	big_free(t->member);
	big_free(t->place);
	big_free(t->weight);
	bits_release(&t->asked);
	bits_release(&t->loaders);
	*t = (struct heap_tree){.n_nodes = 0};
}
