/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection_levels.c - entries of collections that are arrays in arrays: tries of maps and sets, and vectors.
 */
#include "analysis/describe/collection.h"

#include "algorithms/bits.h"
#include "analysis/describe/describers.h"
#include "heap/classes.h"

#include <string.h>

enum { BRANCHES = 5 /* bits of an index for each level of a vector */ };

static unsigned ones(const struct values *v, const char *field)
{
	struct value bits;
	bool there = field && description_field(v, field, &bits) && bits.type != VALUE_OBJECT;
	return there ? bits_ones((uint32_t)bits.bits) : 0;
}

/* --- tries -------------------------------------------------------------------------------------- */

/* A node is an object with an array (value): of entries, as many as there are ones in `next`, and from its end on of
 * nodes, as many as there are ones in `key`.  Without these numbers whatever in the array has such an array itself is
 * a node (kotlinx's sets, Scala 2.12's tries). */
static bool push_node(struct collection *c, uint32_t id, const struct values *node)
{
	struct values array;
	if (c->depth == COLLECTION_LEVELS || !description_object(node, c->kind->value, &array)) {
		c->broken = true;
		return false;
	}
	/* a node of entries with one hash has a collection instead: Scala's vector of pairs */
	if (values_length(&array) == 0 && array.view.kind == OBJECT_INSTANCE)
		return false;
	if (c->part)
		c->part(c->context, array.id);
	struct level *l = &c->level[c->depth++];
	uint64_t width = c->view == VIEW_MAP && c->kind->next ? 2 : 1;
	*l = (struct level){ .node = id, .nodes = values_length(&array) };
	l->end = l->nodes;
	if (c->kind->next && (ones(node, c->kind->next) || ones(node, c->kind->key)))
		l->end = width * ones(node, c->kind->next);
	if (l->end > l->nodes) {
		l->end = l->nodes;
		c->broken = true;
	}
	return true;
}

static bool array_of(const struct collection *c, const struct level *l, struct values *out)
{
	struct values node;
	return !values_open(&node, c->heap, l->node, NULL) && description_object(&node, c->kind->value, out);
}

static bool enter_node(struct collection *c, uint32_t id)
{
	struct values node;
	return collection_enter(c, id, &node) && push_node(c, id, &node);
}

/* A leaf that is an object with key and value. */
static bool read_leaf(struct collection *c, const struct values *leaf, struct collection_entry *e)
{
	const char *names = c->kind->leaf;
	char key[64], value[64];
	if (!next_name(&names, key) || !values_field(leaf, key, &e->key))
		return false;
	e->value = e->key;
	if (c->view == VIEW_MAP && next_name(&names, value))
		values_field(leaf, value, &e->value);
	return true;
}

/* Clojure: keys and values alternate, and beside a null key is a node, or nothing; an array of nodes has a class of its
 * own. */
static bool at_pair(struct collection *c, const struct values *array, struct level *l, struct collection_entry *e)
{
	bool nodes = strcmp(heap_class_of(c->heap, array->id)->name, "java.lang.Object[]") != 0;
	e->key = nodes ? (struct value){ .bits = 0 } : values_element(array, l->at++);
	if (l->at == l->nodes)
		return false;
	e->value = values_element(array, l->at++);
	uint32_t id = value_object_id(c->heap, &e->value);
	if (!e->key.bits && id != HEAP_NONE)
		enter_node(c, id);
	return e->key.bits != 0;
}

/* The entry of the key null, where the first field of `leaf` says that there is one: its value is in the second. */
static bool null_entry(struct collection *c, struct collection_entry *e)
{
	const char *names = c->kind->leaf;
	char flag[64], value[64];
	struct value v;
	if (!c->kind->null || !names || c->skipped++ || !next_name(&names, flag) || !next_name(&names, value) ||
	    !values_field(&c->store, flag, &v) || v.type != VALUE_BOOLEAN || !v.bits ||
	    !values_field(&c->store, value, &e->value))
		return false;
	e->key = (struct value){ .type = VALUE_OBJECT };
	return true;
}

/* The entry at a place of a node's array; false: a node was opened, or there is nothing. */
static bool at_place(struct collection *c, const struct values *array, struct level *l, struct collection_entry *e)
{
	bool two = c->view == VIEW_MAP && c->kind->next;
	struct value v = values_element(array, l->at), inner;
	struct values node;
	if (c->kind->null)
		return at_pair(c, array, l, e);
	if (l->at < l->end && two) {
		e->key = v;
		e->value = l->at + 1 < l->nodes ? values_element(array, l->at + 1) : v;
		l->at += 2;
		return true;
	}
	bool entry = l->at < l->end;
	l->at++;
	uint32_t id = value_object_id(c->heap, &v);
	bool readable = id != HEAP_NONE && !values_open(&node, c->heap, id, NULL);
	if (entry && c->kind->next) {
		e->key = e->value = v;
		return true;
	}
	if (readable && description_field(&node, c->kind->value, &inner)) {
		enter_node(c, id);
		return false;
	}
	if (readable && c->kind->leaf)
		return read_leaf(c, &node, e);
	e->key = e->value = v;
	return v.bits && !c->kind->next;
}

static bool next_in_trie(struct collection *c, struct collection_entry *e)
{
	while (c->depth) {
		struct level *l = &c->level[c->depth - 1];
		struct values array;
		if (l->at >= l->nodes || !array_of(c, l, &array) || l->nodes > values_length(&array)) {
			c->depth--;
			continue;
		}
		if (at_place(c, &array, l, e))
			return true;
	}
	return null_entry(c, e);
}

/* --- vectors ------------------------------------------------------------------------------------ */

/* Dimensions of an array, by the name of its class: "java.lang.Object[][]" has 2. */
static unsigned dimensions(const struct heap *h, uint32_t id)
{
	const char *name = heap_class_of(h, id)->name;
	size_t n = strlen(name);
	unsigned of = 0;
	while (n > 2 && of < COLLECTION_LEVELS && !strncmp(name + n - 2, "[]", 2)) {
		n -= 2;
		of++;
	}
	return of;
}

/* Where a shift tells how deep arrays lie in arrays, each has as many places as the bits of a level tell; one that a
 * builder made has one more, with what says whose it is (Kotlin). */
static uint64_t places(const struct collection *c, const struct values *array)
{
	uint64_t n = values_length(array);
	return c->kind->next && n > 1u << BRANCHES ? 1u << BRANCHES : n;
}

/* Open the array that an array or a field holds, or the array of the object there (value). */
static bool open_array(struct collection *c, uint32_t id, struct values *out)
{
	struct values node;
	if (!collection_enter(c, id, &node))
		return false;
	*out = node;
	if (c->kind->value && node.view.kind == OBJECT_INSTANCE && !node.is_class &&
	    !description_object(&node, c->kind->value, out))
		return false;
	if (c->part && out->id != id)
		c->part(c->context, out->id);
	return true;
}

/* Open the next field of the list.  The first of them is as deep as a field says, where there is one. */
static bool open_field(struct collection *c)
{
	char name[64];
	struct value v, shift;
	for (bool first = c->names == c->kind->store; next_name(&c->names, name); first = false) {
		uint32_t id = description_field(&c->store, name, &v) ? value_object_id(c->heap, &v) : HEAP_NONE;
		struct values array;
		if (id == HEAP_NONE || values_open(&array, c->heap, id, NULL) ||
		    (array.view.kind != OBJECT_INSTANCE && !values_length(&array)) || !open_array(c, id, &array))
			continue;
		unsigned deep = c->kind->next ? 1 : dimensions(c->heap, id);
		if (first && c->kind->next && description_field(&c->store, c->kind->next, &shift) &&
		    shift.type != VALUE_OBJECT)
			deep = (unsigned)(shift.bits / BRANCHES % COLLECTION_LEVELS) + 1;
		c->segment = deep;
		c->level[0] = (struct level){ .node = array.id, .end = places(c, &array) };
		c->depth = 1;
		return true;
	}
	return false;
}

static bool next_nested(struct collection *c, struct collection_entry *e)
{
	for (;;) {
		if (c->n && c->given >= c->end)
			return false;
		if (!c->depth && !open_field(c))
			return collection_next_extra(c, e);
		struct level *l = &c->level[c->depth - 1];
		struct values array, inner;
		if (l->at >= l->end || values_open(&array, c->heap, l->node, NULL) || l->end > values_length(&array)) {
			c->depth--;
			continue;
		}
		e->value = values_element(&array, l->at++);
		if (c->depth >= c->segment) {
			c->array = array; /* of the type of its elements */
			if (c->at)
				c->at--;
			else if (e->value.bits || !c->kind->null)
				return true;
			continue;
		}
		uint32_t id = value_object_id(c->heap, &e->value);
		if (id == HEAP_NONE)
			continue;
		if (c->depth < COLLECTION_LEVELS && open_array(c, id, &inner))
			c->level[c->depth++] = (struct level){ .node = inner.id, .end = places(c, &inner) };
	}
}

/* --- trees of arrays by the bits of an index ---------------------------------------------------- */

enum { RADIX_DEEPEST = 13 /* of 64 bits */ };

void collection_begin_radix(struct collection *c)
{
	struct collection_size size;
	const struct collection_kind *k = c->kind;
	struct value v, number;
	const char *names = k->store;
	char name[64];
	c->node = HEAP_NONE; /* the first field that is not null: what the others hold is old */
	while (c->node == HEAP_NONE && next_name(&names, name))
		c->node = description_field(&c->store, name, &v) ? value_object_id(c->heap, &v) : HEAP_NONE;
	uint64_t levels = 0;
	if (description_field(&c->store, k->deep ? k->deep : k->next, &number) && number.type != VALUE_OBJECT)
		levels = k->deep ? number.bits : number.bits / BRANCHES + 1;
	if (k->first && description_field(&c->store, k->first, &number) && number.type != VALUE_OBJECT)
		c->at = number.bits;
	bool told = collection_size(c->heap, c->store.id, &size) && size.known && !size.lies;
	c->broken = !told || levels > RADIX_DEEPEST || c->at > INT64_MAX ||
	    (size.size && (!levels || c->node == HEAP_NONE));
	if (c->broken)
		return;
	c->depth = (unsigned)levels;
	c->first = c->at;
	c->end = c->at + size.size;
}

/* The array on the way to an element that a field of its own has: Scala's displays, of which those on the way to the
 * index that was looked at last are newer than what the higher ones lead to.  *level: what its places are. */
static uint32_t array_on_way(const struct collection *c, uint64_t i, unsigned *level)
{
	struct value v;
	const char *names = c->kind->store;
	char name[64];
	unsigned of = 1, l = 0;
	if (!c->kind->focus || !description_field(&c->store, c->kind->focus, &v) || v.type == VALUE_OBJECT)
		return c->node;
	for (const char *at = names; *at; at++)
		of += *at == '|';
	while (l + 1 < c->depth && i >> (l + 1) * BRANCHES != v.bits >> (l + 1) * BRANCHES)
		l++;
	for (unsigned at = 0; at < of && next_name(&names, name); at++) {
		if (at + l + 1 == of && values_field(&c->store, name, &v)) {
			*level = l + 1;
			return value_object_id(c->heap, &v);
		}
	}
	return c->node;
}

/* Each element is found anew from the top; an array is met at its first element, or at the first of all. */
bool collection_next_in_radix(struct collection *c, struct collection_entry *e)
{
	if (c->at >= c->end || c->broken)
		return false;
	uint64_t i = c->at++;
	unsigned levels = c->depth;
	uint32_t node = array_on_way(c, i, &levels);
	for (unsigned level = levels; level-- > 0;) {
		struct values array;
		uint64_t place = i >> level * BRANCHES, below = i & ((UINT64_C(1) << level * BRANCHES) - 1);
		if (level + 1 < c->depth)
			place &= (1u << BRANCHES) - 1;
		bool met = levels != c->depth || (i != c->first && (level + 1 == c->depth || below || place));
		c->broken = node == HEAP_NONE || (met ? values_open(&array, c->heap, node, NULL) != 0 :
		    !collection_enter(c, node, &array)) || place >= values_length(&array);
		if (c->broken)
			return false;
		e->value = values_element(&array, place);
		node = value_object_id(c->heap, &e->value);
	}
	return true;
}

/* --- both --------------------------------------------------------------------------------------- */

void collection_begin_levels(struct collection *c)
{
	struct collection_size size;
	c->depth = 0;
	if (c->kind->shape == SHAPE_TRIE) {
		struct value v;
		bool self = !strcmp(c->kind->store, "this");
		uint32_t root = self ? c->store.id :
			description_field(&c->store, c->kind->store, &v) ? value_object_id(c->heap, &v) : HEAP_NONE;
		if (root != HEAP_NONE)
			enter_node(c, root);
		return;
	}
	bool negative = false;
	if (c->kind->first && (!collection_sum(&c->store, c->kind->first, &c->at, &negative) || negative))
		c->broken = true;
	c->names = c->broken ? "" : c->kind->store;
	if (collection_size(c->heap, c->store.id, &size) && size.known && !size.lies) {
		c->n = 1;
		c->end = size.size;
	}
}

bool collection_next_in_levels(struct collection *c, struct collection_entry *e)
{
	return c->kind->shape == SHAPE_TRIE ? next_in_trie(c, e) : next_nested(c, e);
}
