/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap_fold.c - see heap_tree.h. */
#include "analysis/heap_tree/heap_tree.h"

#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "base/render_lock.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <string.h>

enum { PART_KEPT = 2, PART_BESIDE = 20, SUPERCLASSES_MOST = 64 };

/* The way as far as it is found. */
struct way {
	struct heap_tree *tree;
	uint32_t head, at;   /* its first node, its last one */
	uint32_t collection; /* the last of its nodes that is one; 0: none is */
	uint64_t beside;     /* bytes that hang on it beside the nodes */
	uint32_t class, n;   /* of the objects in which it may go on; HEAP_NONE: in none */
};

/* --- what collections are made of ---------------------------------------------------------------- */

static bool begins_with_class(const char *name, const char *class)
{
	size_t n = strlen(class);
	return !strncmp(name, class, n) && (name[n] == '$' || name[n] == ' ');
}

/* "java.util.HashMap$Node" of a LinkedHashMap, "map[string]int buckets" of a map[string]int. */
static bool is_part_of(const struct heap *h, uint32_t collection, uint32_t class)
{
	for (unsigned i = 0; collection != HEAP_NONE && i < SUPERCLASSES_MOST; i++) {
		if (begins_with_class(h->classes[class].name, h->classes[collection].name))
			return true;
		collection = h->classes[collection].superclass;
	}
	return false;
}

static bool is_array(const struct heap *h, uint32_t class)
{
	return h->classes[class].kind == CLASS_OBJECT_ARRAY || h->classes[class].kind == CLASS_PRIMITIVE_ARRAY;
}

/* Are objects of the class, below the last node, what a collection or a String on the way is made of?  id: one. */
static bool is_inside(const struct way *w, uint32_t class, uint32_t id)
{
	const struct heap_tree *t = w->tree;
	const struct heap *h = t->retained->heap;
	if (!strcmp(h->classes[t->node[w->at].class].name, "java.lang.String"))
		return h->classes[class].kind == CLASS_PRIMITIVE_ARRAY;
	if (!w->collection)
		return false;
	return is_part_of(h, t->node[w->collection].class, class) ||
	    (w->at == w->collection && (is_array(h, class) || inspect_is_collection(h, id)));
}

/* --- where the way goes on ----------------------------------------------------------------------- */

/* The children of the last node, summed by class. */
struct weighing {
	uint32_t *class; /* those that were met */
	size_t n, cap;
	uint64_t all;    /* bytes */
	uint64_t most;   /* of one class */
	uint64_t barred; /* of those that the way cannot go on in: static fields hold them, or they are too many */
	uint32_t asked;  /* the class that was asked about last */
	bool inside;     /* and what is_inside said */
};

/* Objects of the class may be as many as there are. */
static bool may_be_many(const struct way *w, struct weighing *s, uint32_t class, uint32_t id)
{
	if (s->asked != class) {
		s->inside = is_inside(w, class, id);
		s->asked = class;
	}
	return s->inside;
}

static int weigh(const struct way *w, struct weighing *to, uint32_t id, struct err *err)
{
	struct heap_tree *t = w->tree;
	const struct heap *h = t->retained->heap;
	uint64_t bytes = retained_size(t->retained, id);
	uint32_t class = heap_class_index(h, id);
	to->all += bytes;
	if (heap_class_mirrored(h, id) != HEAP_NONE) {
		to->barred += bytes;
		return 0;
	}
	if (!t->place[class]) {
		if (BIG_ADD(to->class, to->n, to->cap, err, class))
			return ERR_NOMEM;
	}
	t->weight[class] += bytes;
	uint32_t few = t->node[w->head].topmost;
	if (++t->place[class] > few && !may_be_many(w, to, class, id))
		to->barred += t->place[class] == few + 1 ? t->weight[class] : bytes;
	if (t->weight[class] > to->most)
		to->most = t->weight[class];
	return 0;
}

/* Can none of the classes be heavy enough any more, whatever comes? */
static bool is_hopeless(const struct weighing *s, uint64_t room)
{
	return s->barred > room || s->all - s->most > room;
}

/* As progress_own_stops; what is shown can be looked at meanwhile. */
static bool stops(uint64_t round)
{
	if (round % PROGRESS_ROUNDS == 0)
		render_lock_offer();
	return progress_own_stops(round);
}

static int weigh_children(const struct way *w, struct weighing *to, uint64_t room, struct err *err)
{
	struct heap_tree *t = w->tree;
	const struct heap_node *node = &t->node[w->at];
	uint64_t looked = 0;
	int code = 0;
	for (size_t i = 0; !code && i < node->n && !is_hopeless(to, room); i++) {
		uint32_t n, id = t->member[node->at + i];
		const uint32_t *child = retained_children(t->retained, id, &n);
		for (uint32_t k = 0; !code && k < n && !is_hopeless(to, room); k++) {
			if (stops(looked++))
				code = err_cancelled(err);
			else if (!heap_tree_joins(t, w->at, id, child[k]))
				code = weigh(w, to, child[k], err);
		}
		if (!code && stops(i))
			code = err_cancelled(err);
	}
	return code;
}

/* The class that all but a little of what is below the last node is of. */
static int find_heavy_class(struct way *w, struct err *err)
{
	struct heap_tree *t = w->tree;
	struct weighing s = {.class = NULL, .asked = HEAP_NONE};
	uint64_t kept = t->node[w->head].retained.bytes, room = kept / PART_BESIDE;
	w->class = HEAP_NONE;
	room = room > w->beside ? room - w->beside : 0;
	if (!t->weight)
		t->weight = big_alloc(t->retained->heap->n_classes, sizeof *t->weight, err);
	int code = t->weight ? weigh_children(w, &s, room, err) : ERR_NOMEM;
	for (size_t i = 0; i < s.n; i++) {
		if (!code && t->weight[s.class[i]] >= kept / PART_KEPT + kept % PART_KEPT &&
		    s.all - t->weight[s.class[i]] <= room && s.barred <= room) {
			w->class = s.class[i];
			w->n = t->place[w->class];
			w->beside += s.all - t->weight[w->class];
		}
		t->weight[s.class[i]] = t->place[s.class[i]] = 0;
	}
	big_free(s.class);
	return code;
}

/* The child that is all of these objects, and nothing that a static field holds; 0: there is none. */
static uint32_t heavy_child(const struct way *w)
{
	const struct heap_tree *t = w->tree;
	const struct heap_node *n = &t->node[w->at];
	for (uint32_t i = n->first; i < n->first + n->children; i++) {
		if (t->node[i].class == w->class && !t->node[i].classes && t->node[i].topmost == w->n)
			return i;
	}
	return 0;
}

/* One step.  *goes: there was one. */
static int go_on(struct way *w, bool *goes, struct err *err)
{
	struct heap_tree *t = w->tree;
	*goes = false;
	if (t->node[w->at].state == NODE_EMPTY || !heap_tree_opens(t, w->at))
		return 0;
	int code = find_heavy_class(w, err);
	if (code || w->class == HEAP_NONE)
		return code;
	code = heap_tree_open(t, w->at, err);
	uint32_t child = code ? 0 : heavy_child(w);
	if (!child)
		return code;
	t->node[child].inside = is_inside(w, w->class, t->node[child].largest);
	if (w->n > t->node[w->head].topmost && !t->node[child].inside)
		return 0;
	w->at = child;
	if (inspect_is_collection(t->retained->heap, t->node[child].largest))
		w->collection = child;
	*goes = true;
	return 0;
}

bool heap_fold_is_found(const struct heap_tree *t, uint32_t number)
{
	const struct heap_node *node = &t->node[number];
	return t->unfolded || node->sought || number == HEAP_TREE_TOP || node->classes;
}

int heap_fold(struct heap_tree *t, uint32_t number, struct err *err)
{
	struct heap_node *node = &t->node[number];
	if (heap_fold_is_found(t, number))
		return 0;
	if (t->busy)
		return err_cancelled(err);
	struct way w = {.tree = t, .head = number, .at = number};
	if (inspect_is_collection(t->retained->heap, node->largest))
		w.collection = number;
	bool goes = !node->way || !t->node[node->way].unfolded;
	int code = 0;
	t->busy = true;
	for (unsigned steps = 0; !code && goes && steps < WAY_MOST; steps++)
		code = go_on(&w, &goes, err);
	t->busy = false;
	if (code)
		return code;
	for (uint32_t at = w.at; at != number; at = t->node[at].parent)
		t->node[at].way = number;
	t->node[number].end = w.at == number ? 0 : w.at;
	t->node[number].sought = true;
	return 0;
}

/* --- rows ---------------------------------------------------------------------------------------- */

static uint32_t whole_way(const struct heap_tree *t, uint32_t node, uint32_t way[WAY_MOST + 1])
{
	uint32_t n = 1, end = t->node[node].end;
	for (uint32_t at = end ? end : node; at != node; at = t->node[at].parent)
		n++;
	uint32_t at = end ? end : node;
	for (uint32_t i = n; i-- > 0; at = t->node[at].parent)
		way[i] = at;
	return n;
}

uint32_t heap_fold_way(const struct heap_tree *t, uint32_t node, uint32_t way[WAY_MOST + 1])
{
	if (!t->node[node].unfolded)
		return whole_way(t, node, way);
	way[0] = node;
	return 1;
}

int heap_fold_open(struct heap_tree *t, uint32_t node, struct err *err)
{
	uint32_t way[WAY_MOST + 1];
	int code = heap_fold(t, node, err);
	return code ? code : heap_tree_open(t, way[heap_fold_way(t, node, way) - 1], err);
}

uint32_t heap_fold_children(const struct heap_tree *t, uint32_t node, uint32_t *to)
{
	uint32_t way[WAY_MOST + 1], n = heap_fold_way(t, node, way), found = 0;
	for (uint32_t i = n; i-- > 0;)
		found += heap_tree_children(t, way[i], i + 1 < n ? way[i + 1] : 0, to ? to + found : NULL);
	return found;
}

bool heap_fold_opens(struct heap_tree *t, uint32_t node)
{
	uint32_t way[WAY_MOST + 1], n = heap_fold_way(t, node, way);
	for (uint32_t i = 0; i + 1 < n; i++) {
		if (heap_tree_children(t, way[i], way[i + 1], NULL))
			return true;
	}
	return heap_tree_opens(t, way[n - 1]);
}

bool heap_fold_is_small(const struct heap_tree *t, uint32_t node, uint64_t most)
{
	uint32_t way[WAY_MOST + 1], n;
	const struct heap_node *end = &t->node[way[heap_fold_way(t, node, way) - 1]];
	uint64_t below = 0;
	for (size_t i = 0; i < end->n && end->n <= most && below <= most; i++) {
		(void)retained_children(t->retained, t->member[end->at + i], &n);
		below += n;
	}
	return end->n <= most && below <= most;
}

bool heap_fold_is_open(const struct heap_tree *t, uint32_t node)
{
	uint32_t way[WAY_MOST + 1];
	const struct heap_node *end = &t->node[way[heap_fold_way(t, node, way) - 1]];
	return end->state == NODE_OPEN || end->state == NODE_EMPTY;
}

uint32_t heap_fold_turned(const struct heap_tree *t, uint32_t node, uint32_t way[WAY_MOST + 1], bool *apart)
{
	uint32_t head = t->node[node].end ? node : t->node[node].way;
	*apart = head && t->node[head].unfolded;
	return head && (head == node || *apart) ? whole_way(t, head, way) : 0;
}

void heap_fold_turn(struct heap_tree *t, uint32_t node)
{
	uint32_t way[WAY_MOST + 1];
	bool apart;
	uint32_t n = heap_fold_turned(t, node, way, &apart);
	for (uint32_t i = 1; i < n; i++)
		t->node[way[i]].apart = false;
	if (n)
		t->node[way[0]].unfolded = !apart;
}

/* --- one object --------------------------------------------------------------------------------- */

bool heap_fold_inside(const struct retained *r, uint32_t collection, uint32_t id)
{
	enum { DEEPEST = 8 };
	const struct heap *h = r->heap;
	uint32_t way[DEEPEST], n = 0, at = collection;
	for (; id != collection && id < h->n_objects && n < DEEPEST; id = r->dominators.immediate[id])
		way[n++] = id;
	if (id != collection || !n || !inspect_is_collection(h, collection))
		return false;
	while (n-- > 0) {
		uint32_t next = way[n], class = heap_class_index(h, next);
		bool inner = at == collection && inspect_is_collection(h, next);
		if (!inner && !is_part_of(h, heap_class_index(h, collection), class) &&
		    !(at == collection && is_array(h, class)))
			return false;
		collection = inner ? next : collection;
		at = next;
	}
	return true;
}
