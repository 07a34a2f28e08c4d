/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_merge.c - the shortest paths of many objects as one tree of classes.
 *
 * A hash table finds a node of the tree by the node above it and the class; each class object
 * counts as a class of its own.  Forward from the roots, every object on a path gets its node only
 * once, so a list of a million links costs a million steps.  Steps beyond MERGED_DEPTH get no
 * nodes, and beyond MERGED_ROWS no more nodes are made; an object whose path goes on counts where
 * the path leaves the tree.  An object that is plumbing (paths.h) has the node of the one before it, and a class object
 * to which only class objects and loaders lead begins a path.  Any thread.
 */
#include "analysis/paths/paths.h"

#include "algorithms/map.h"
#include "algorithms/sort.h"
#include "analysis/what_if/what_if.h"
#include "base/amount.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

#define NO_NODE UINT32_MAX

struct node {
	uint32_t above, class; /* class: n_classes + i is the class object of i */
	uint32_t objects, depth;
	struct amount shallow;
	struct retained_sum retained;
	uint32_t root;     /* id + 1 of an object where paths begin; 0: none does here */
	bool other_roots;  /* they begin at others as well */
	uint32_t sample[MERGED_SAMPLES], n_through; /* objects on the paths here, of which some are kept */
	uint32_t inside; /* of its objects, on the way down the dominator tree to here */
};

struct merge {
	const struct heap *heap;
	const struct path_tree *tree;
	struct node *node; /* those above come first */
	size_t n, cap;
	struct map map;    /* of nodes, by the one above and the class */
	struct path_plumbing *plumbing; /* folded; NULL: nothing is */
	struct bits asked;  /* by id: these have nodes of their own, whatever they are */
	struct bits lists;  /* by id: a loader has its class objects in it */
	struct bits begins; /* by id: class objects at which paths begin, as only plumbing leads there */
	uint32_t *start;    /* by class: of such a one, where its path begins in truth */
	uint32_t *node_of; /* by object, node + 1; 0: not known */
	uint32_t *chain;   /* objects on their way up */
	size_t cap_chain;
	bool deep, many;
	uint64_t steps; /* of paths, for looks at the cancel flag */
	struct err lost; /* memory that a node or the chain did not get, or the user had enough */
	const bool *wanted; /* by node, when merged once more: mark the objects that it counts */
	struct bits *marked;
};

static uint64_t node_key(const struct node *list, uint32_t number)
{
	return (uint64_t)list[number].above << 32 | list[number].class;
}

MAP(nodes, const struct node *, uint64_t, node_key, hash_number, map_same)

static uint32_t class_key(const struct heap *h, uint32_t id)
{
	uint32_t mirrored = heap_class_mirrored(h, id);
	return mirrored == HEAP_NONE ? heap_class_index(h, id) : h->n_classes + mirrored;
}

/* The node below one for an object's class; the one above itself where the tree ends. */
static uint32_t node_below(struct merge *m, uint32_t above, uint32_t id)
{
	uint32_t class = class_key(m->heap, id);
	uint32_t depth = above == NO_NODE ? 0 : m->node[above].depth + 1;
	if (depth == MERGED_DEPTH) {
		m->deep = true;
		return above;
	}
	uint32_t *slot = nodes_enter(&m->map, m->node, (uint32_t)m->n, (uint64_t)above << 32 | class, &m->lost);
	if (!slot)
		return above;
	if (*slot)
		return *slot - 1;
	if (m->n == MERGED_ROWS) {
		m->many = true;
		return above;
	}
	struct node *fresh = BIG_PUSH(m->node, m->n, m->cap, &m->lost);
	if (!fresh)
		return above;
	*fresh = (struct node){.above = above, .class = class, .depth = depth};
	*slot = (uint32_t)m->n;
	return (uint32_t)m->n - 1;
}

/* --- plumbing ----------------------------------------------------------------------------------- */

static bool is_folded(const struct merge *m, uint32_t id)
{
	uint32_t parent = m->tree->parent[id];
	return m->plumbing && parent != PATH_START && !bits_get(&m->asked, id) &&
	    (bits_get(&m->lists, id) || path_plumbing_is(m->plumbing, parent - 1, id));
}

static bool begins_path(const struct merge *m, uint32_t id)
{
	return m->tree->parent[id] == PATH_START || (m->plumbing && bits_get(&m->begins, id));
}

/* From a class object back to its loader: what is between is a list of classes. */
static void mark_list(struct merge *m, uint32_t id, uint32_t loader)
{
	enum { LIST_STEPS = 8 };
	uint32_t way[LIST_STEPS], n = 0, at = id;
	while (n < LIST_STEPS && at != loader && m->tree->parent[at] && m->tree->parent[at] != PATH_START)
		way[n++] = at = m->tree->parent[at] - 1;
	if (at == loader && n)
		for (n--; n-- > 0;)
			bits_set(&m->lists, way[n]);
}

/* Do only class objects, loaders and lists of classes lead to a class object, from the path's first object on?  All
 * class objects on the way are told the same, so each is climbed from once. */
static void find_beginning(struct merge *m, struct bits *known, uint32_t class_object)
{
	const struct heap *h = m->heap;
	uint32_t id = class_object, start;
	bool begins = m->tree->parent[id] == PATH_START, ends = begins;
	while (!ends && !progress_own_stops(m->steps++)) {
		id = m->tree->parent[id] - 1;
		bool starts = m->tree->parent[id] == PATH_START, mirror = heap_class_mirrored(h, id) != HEAP_NONE;
		begins = starts || (mirror && bits_get(&m->begins, id));
		ends = starts || (mirror && bits_get(known, id)) ||
		    (!mirror && !heap_class_of(h, id)->makes_loaders && !bits_get(&m->lists, id));
	}
	start = begins && m->tree->parent[id] != PATH_START ? m->start[heap_class_mirrored(h, id)] : id;
	for (id = class_object; !bits_get(known, id) && !progress_own_stops(m->steps++); id = m->tree->parent[id] - 1) {
		if (heap_class_mirrored(h, id) == HEAP_NONE) {
			if (!heap_class_of(h, id)->makes_loaders && !bits_get(&m->lists, id))
				break;
		} else {
			bits_set(known, id);
			m->start[heap_class_mirrored(h, id)] = start;
			if (begins)
				bits_set(&m->begins, id);
		}
		if (m->tree->parent[id] == PATH_START)
			break;
	}
}

static int find_plumbing(struct merge *m, const uint32_t *ids, size_t n, struct err *err)
{
	const struct heap *h = m->heap;
	struct bits known = {.word = NULL};
	int code = bits_init(&m->asked, h->n_objects, err);
	if (!code)
		code = bits_init(&m->lists, h->n_objects, err);
	if (!code)
		code = bits_init(&m->begins, h->n_objects, err);
	if (!code)
		code = bits_init(&known, h->n_objects, err);
	if (!code && !(m->start = big_alloc(h->n_classes, sizeof *m->start, err)))
		code = ERR_NOMEM;
	for (size_t i = 0; !code && i < n && !progress_own_stops(i); i++)
		bits_set(&m->asked, ids[i]);
	for (int mark = 1; mark >= 0; mark--) { /* all lists first */
		for (uint32_t c = 0; !code && c < h->n_classes; c++) {
			uint32_t id = h->classes[c].object;
			if (progress_own_stops(c))
				code = err_cancelled(err);
			if (id >= h->n_objects || heap_class_mirrored(h, id) == HEAP_NONE || !m->tree->parent[id])
				continue;
			if (mark)
				mark_list(m, id, h->classes[c].loader);
			else if (!bits_get(&known, id))
				find_beginning(m, &known, id);
		}
	}
	bits_release(&known);
	return code;
}

/* --- nodes of paths ----------------------------------------------------------------------------- */

/* Keep some of those that lead here, to ask them by what they are held. */
static void keep_sample(struct node *n, uint32_t id)
{
	uint32_t count = n->n_through++, at = 0;
	while (count >> at > 1)
		at++;
	if (!(count & (count - 1)))
		n->sample[count ? at % (MERGED_SAMPLES - 1) + 1 : 0] = id + 1;
}

static void begin_at(struct merge *m, uint32_t node, uint32_t id)
{
	if (node == NO_NODE || !begins_path(m, id))
		return;
	if (m->tree->parent[id] != PATH_START)
		id = m->start[heap_class_mirrored(m->heap, id)];
	if (!m->node[node].root)
		m->node[node].root = id + 1;
	m->node[node].other_roots |= m->node[node].root != id + 1;
}

/* Has the user had enough, at one more step of a path?  One is long where plumbing is looked for: so it looks often. */
static bool stopped(struct merge *m)
{
	enum { LOOK_EVERY = 1 << 12 };
	return m->steps++ % LOOK_EVERY == 0 && progress_cancelled(progress_own()) && err_cancelled(&m->lost);
}

/* Up to an object whose node is known, and down again. */
static uint32_t node_from_root(struct merge *m, uint32_t id)
{
	size_t n = 0;
	uint32_t at = NO_NODE;
	for (;; id = m->tree->parent[id] - 1) {
		if (m->node_of[id]) {
			at = m->node_of[id] - 1;
			break;
		}
		uint32_t *link = BIG_PUSH(m->chain, n, m->cap_chain, &m->lost);
		if (!link)
			return NO_NODE;
		*link = id;
		if (begins_path(m, id))
			break;
	}
	while (n && !stopped(m)) {
		id = m->chain[--n];
		if (!is_folded(m, id)) {
			at = node_below(m, at, id);
			begin_at(m, at, id);
			if (at != NO_NODE)
				keep_sample(&m->node[at], id);
		}
		m->node_of[id] = at + 1; /* 0 where not even the root found room: asked again */
	}
	return at;
}

static void count(struct merge *m, uint32_t node, struct amount shallow)
{
	if (node == NO_NODE)
		return;
	m->node[node].objects++;
	m->node[node].shallow = amount_add(m->node[node].shallow, shallow);
}

static void merge_from_roots(struct merge *m, const uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n && !stopped(m); i++) {
		if (!m->tree->parent[ids[i]])
			continue;
		uint32_t node = node_from_root(m, ids[i]);
		count(m, node, heap_size(m->heap, ids[i]));
		for (; m->wanted && node != NO_NODE && !stopped(m); node = m->node[node].above) {
			if (m->wanted[node])
				bits_set(m->marked, ids[i]);
		}
	}
	for (size_t i = m->n; i-- > 0;) {
		if (m->node[i].above == NO_NODE)
			continue;
		struct node *above = &m->node[m->node[i].above];
		above->objects += m->node[i].objects;
		above->shallow = amount_add(above->shallow, m->node[i].shallow);
	}
}

static void merge_from_objects(struct merge *m, const uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n && !m->lost.code; i++) {
		struct amount shallow = heap_size(m->heap, ids[i]);
		uint32_t at = NO_NODE, id = ids[i], first = ids[i];
		for (bool more = m->tree->parent[id] != 0; more; id = m->tree->parent[id] - 1) {
			if (is_folded(m, id) && !stopped(m))
				continue;
			uint32_t below = node_below(m, at, id);
			if (below == at || stopped(m))
				break;
			at = below;
			count(m, at, shallow);
			begin_at(m, at, id);
			if (m->wanted && m->wanted[at])
				bits_set(m->marked, ids[i]);
			keep_sample(&m->node[at], id);
			more = !begins_path(m, id);
		}
		m->node_of[first] = at + 1;
	}
}

/* --- what they retain ---------------------------------------------------------------------------- */

static void enter(struct merge *m, uint32_t node, const struct retained *r, uint32_t id)
{
	for (; node != NO_NODE && !stopped(m); node = m->node[node].above) {
		struct node *n = &m->node[node];
		if (n->inside++ == 0)
			retained_sum_add(r, &n->retained, id);
	}
}

static void leave(struct merge *m, uint32_t node)
{
	for (; node != NO_NODE; node = m->node[node].above)
		m->node[node].inside--;
}

/* The objects in the order of the dominator tree: one counts in those rows of which no other object
 * stands above it. */
static int sum_retained(
    struct merge *m, struct what_if *cut, const uint32_t *ids, size_t n, struct err *err)
{
	const struct dominators *d = &cut->retained->dominators;
	uint32_t *at = big_alloc(d->n_reachable, sizeof *at, err); /* id + 1 by place in the tree */
	uint32_t *open = NULL;
	size_t n_open = 0, cap_open = 0;
	int code = at ? what_if_number(cut, err) : ERR_NOMEM;
	for (size_t i = 0; !code && i < n && !progress_own_stops(i); i++)
		if (m->tree->parent[ids[i]] && d->immediate[ids[i]] != NOT_REACHABLE)
			at[cut->span[ids[i]].from] = ids[i] + 1;
	for (uint32_t k = 0; !code && k < d->n_reachable; k++) {
		if (progress_own_stops(k)) {
			code = err_cancelled(err);
			break;
		}
		if (!at[k])
			continue;
		uint32_t id = at[k] - 1;
		if (m->lost.code) {
			code = err_cancelled(err);
			break;
		}
		while (n_open && cut->span[open[n_open - 1]].to < k)
			leave(m, m->node_of[open[--n_open]] - 1);
		enter(m, m->node_of[id] - 1, cut->retained, id);
		uint32_t *top = BIG_PUSH(open, n_open, cap_open, err);
		if (top)
			*top = id;
		else
			code = ERR_NOMEM;
	}
	big_free(at);
	big_free(open);
	return code;
}

/* --- in the order of reading -------------------------------------------------------------------- */

struct sorted {
	uint32_t name; /* its rank */
	uint32_t above, objects, class, node;
};

static int by_place(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	if (x->above != y->above)
		return x->above < y->above ? -1 : 1;
	if (x->objects != y->objects)
		return x->objects > y->objects ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

static void add_row(struct merged_paths *out, const struct merge *m, uint32_t node)
{
	const struct node *n = &m->node[node];
	uint32_t n_classes = m->heap->n_classes;
	struct amount objects = heap_held(m->heap, n->objects); /* other roots, other paths */
	out->row[out->n++] = (struct merged_row){.depth = n->depth, .objects = objects,
	    .shallow = amount_as_sure(n->shallow, objects), .retained = n->retained, .node = node,
	    .root = n->root ? n->root - 1 : HEAP_NONE, .other_roots = n->other_roots,
	    .sample = {n->sample[0], n->sample[1], n->sample[2], n->sample[3]},
	    .is_class = n->class >= n_classes,
	    .class = n->class >= n_classes ? n->class - n_classes : n->class};
}

/* The siblings of each node stand together when sorted; first: where its children begin. */
static int put_in_order(struct merged_paths *out, const struct merge *m, struct err *err)
{
	const struct heap *h = m->heap;
	struct sorted *s = big_alloc(m->n + 1, sizeof *s, err);
	size_t *first = s ? big_alloc(m->n + 1, sizeof *first, err) : NULL;
	out->row = first ? big_alloc(m->n, sizeof *out->row, err) : NULL;
	size_t next[MERGED_DEPTH + 1];
	if (!out->row) {
		big_free(first);
		big_free(s);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < m->n; i++) {
		uint32_t class = m->node[i].class;
		s[i] = (struct sorted){h->classes[class % h->n_classes].name_rank, m->node[i].above,
		    m->node[i].objects, class, (uint32_t)i};
		first[i] = m->n;
	}
	sort_array(s, m->n, sizeof *s, by_place);
	for (size_t i = m->n; i-- > 0;) {
		if (s[i].above != NO_NODE)
			first[s[i].above] = i;
	}
	size_t deep = 0;
	for (next[0] = 0; next[0] < m->n && s[next[0]].above != NO_NODE; next[0]++)
		;
	while (out->n < m->n) {
		size_t at = next[deep];
		uint32_t above = at < m->n ? s[at].above : NO_NODE - 1;
		bool sibling = at < m->n &&
		    (deep ? above == s[next[deep - 1] - 1].node : above == NO_NODE);
		if (!sibling) {
			if (!deep--)
				break;
			continue;
		}
		next[deep]++;
		add_row(out, m, s[at].node);
		next[++deep] = first[s[at].node];
	}
	big_free(first);
	big_free(s);
	return 0;
}

static int merge(struct merge *m, const uint32_t *ids, size_t n, bool backward, struct what_if *cut,
    struct err *err)
{
	m->node_of = big_alloc(m->heap->n_objects, sizeof *m->node_of, err);
	int code = !m->node_of ? ERR_NOMEM : m->plumbing ? find_plumbing(m, ids, n, err) : 0;
	if (!code && backward)
		merge_from_objects(m, ids, n);
	else if (!code)
		merge_from_roots(m, ids, n);
	if (!code && m->lost.code) {
		code = m->lost.code;
		*err = m->lost;
	}
	if (!code && cut)
		code = sum_retained(m, cut, ids, n, err);
	big_free(m->node_of);
	map_release(&m->map);
	big_free(m->chain);
	bits_release(&m->asked);
	bits_release(&m->lists);
	bits_release(&m->begins);
	big_free(m->start);
	return code;
}

int merged_members(const struct merged_paths *merged, const uint32_t *rows, size_t n_rows,
    const struct path_tree *t, const struct heap *h, struct path_plumbing *plumbing, const uint32_t *ids, size_t n,
    bool backward, struct bits *to, struct err *err)
{
	bool *wanted = big_alloc(merged->n + 1, sizeof *wanted, err);
	if (!wanted)
		return ERR_NOMEM;
	struct merge m = {.heap = h, .tree = t, .plumbing = plumbing, .wanted = wanted, .marked = to};
	for (size_t i = 0; i < n_rows; i++)
		wanted[merged->row[rows[i]].node] = true;
	int code = merge(&m, ids, n, backward, NULL, err);
	big_free(m.node);
	big_free(wanted);
	return code;
}

int paths_merge(struct merged_paths *out, const struct path_tree *t, const struct heap *h,
    struct path_plumbing *plumbing, const uint32_t *ids, size_t n, bool backward, struct what_if *cut, struct err *err)
{
	struct merge m = {.heap = h, .tree = t, .plumbing = plumbing};
	*out = (struct merged_paths){.n = 0};
	int code = merge(&m, ids, n, backward, cut, err);
	out->retained = cut != NULL;
	for (size_t i = 0; i < n; i++)
		out->found += t->parent[ids[i]] != 0;
	out->missing = (uint32_t)n - out->found;
	if (!code)
		code = put_in_order(out, &m, err);
	out->deep = m.deep;
	out->many = m.many;
	big_free(m.node);
	return code;
}

void merged_paths_release(struct merged_paths *m)
{
	big_free(m->row);
	*m = (struct merged_paths){.n = 0};
}
