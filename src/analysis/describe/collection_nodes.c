/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection_nodes.c - entries of collections that are linked nodes: chains, queues, hash tables of chains, trees.
 */
#include "analysis/describe/collection.h"

#include "analysis/describe/describers.h"
#include "heap/classes.h"

/* Key and value of a node; a field that is not there reads as null. */
static void read_node(const struct collection *c, const struct values *node, struct collection_entry *e)
{
	e->key = e->value = (struct value){ VALUE_OBJECT, 0 };
	if (c->kind->key)
		description_field(node, c->kind->key, &e->key);
	if (c->kind->value)
		description_field(node, c->kind->value, &e->value);
}

/* What ends a chain by being no node of it: the empty list, which may be its own next one. */
static bool ends_chain(struct collection *c, const struct values *node)
{
	struct value v;
	if (c->kind->shape != SHAPE_CHAIN)
		return false;
	if (description_field(node, c->kind->next, &v))
		return value_object_id(c->heap, &v) == node->id && c->kind->value &&
		    description_field(node, c->kind->value, &v) && !v.bits;
	uint32_t class = heap_class_index(c->heap, node->id);
	const struct collection_kind *kind = layout_named(c->heap->classes[class].name);
	c->broken |= !kind || kind->shape != SHAPE_EMPTY;
	return true;
}

static bool next_in_chain(struct collection *c, struct collection_entry *e)
{
	struct values node;
	while (c->node != HEAP_NONE && c->node != c->stop) {
		if (!collection_enter(c, c->node, &node)) {
			c->node = HEAP_NONE;
			return false;
		}
		if (ends_chain(c, &node)) {
			c->node = HEAP_NONE;
			return false;
		}
		read_node(c, &node, e);
		c->node = collection_node_in(&node, c->kind->next);
		uint64_t holds = c->kind->key ? e->key.bits : e->value.bits;
		if (c->kind->shape != SHAPE_QUEUE || holds)
			return true;
	}
	return false;
}

/* The table of the next part. */
static bool next_table(struct collection *c)
{
	struct values segment;
	while (c->segments.heap && c->segment < values_length(&c->segments)) {
		struct value v = values_element(&c->segments, c->segment++);
		uint32_t id = value_object_id(c->heap, &v);
		if (id == HEAP_NONE || values_open(&segment, c->heap, id, NULL) ||
		    !description_object(&segment, c->kind->store, &c->array))
			continue;
		collection_tell(c, id);
		collection_tell(c, c->array.id);
		c->at = 0;
		c->end = values_length(&c->array);
		return true;
	}
	return false;
}

/* The first node of the next bucket; a ConcurrentHashMap's bin of tree nodes has them in a chain,
 * too.  HEAP_NONE: no more. */
static uint32_t next_bucket(struct collection *c)
{
	struct values bin;
	struct value first;
	for (;;) {
		while (c->at < c->end) {
			struct value v = values_element(&c->array, c->at++);
			uint32_t id = value_object_id(c->heap, &v);
			if (id == HEAP_NONE)
				continue;
			if (!values_open(&bin, c->heap, id, NULL) && values_field(&bin, "first", &first)) {
				collection_tell(c, id);
				id = value_object_id(c->heap, &first);
			}
			if (id != HEAP_NONE)
				return id;
		}
		if (!next_table(c))
			return HEAP_NONE;
	}
}

static bool next_in_buckets(struct collection *c, struct collection_entry *e)
{
	struct values node;
	struct value v;
	for (;;) {
		if (c->node == HEAP_NONE)
			c->node = next_bucket(c);
		if (c->node == HEAP_NONE)
			return false;
		if (!collection_enter(c, c->node, &node)) {
			c->node = HEAP_NONE;
			continue;
		}
		read_node(c, &node, e);
		c->node = collection_node_in(&node, c->kind->next);
		/* a bucket that moved to a larger table leaves a node with the new table behind */
		if (!values_field(&node, "nextTable", &v) && !collection_marked(c, &e->key) &&
		    !collection_marked(c, &e->value))
			return true;
	}
}

/* Has the node no child there?  Then fastutil has the node before it, or the next one, in that field, and says so in
 * a number: bit 30 for the left, 31 for the right. */
static bool is_thread(const struct collection *c, const struct values *node, unsigned bit)
{
	struct value v;
	return c->kind->control && description_field(node, c->kind->control, &v) && (v.bits >> bit & 1);
}

static uint32_t child(const struct collection *c, const struct values *node, const char *names, unsigned bit)
{
	uint32_t id = is_thread(c, node, bit) ? HEAP_NONE : collection_node_in(node, names);
	return c->kind->next && id != HEAP_NONE && collection_met(c, id) ? HEAP_NONE : id;
}

/* A node without the field is none: it only leads to others, or ends the tree.  Where links lead back, too, the top may
 * be an entry without a key. */
static bool has_entry(const struct collection *c, const struct values *node)
{
	struct value v;
	return description_field(node, c->kind->key ? c->kind->key : c->kind->value, &v) &&
	    (v.bits || !c->kind->key || !c->kind->next || v.type != VALUE_OBJECT);
}

static bool down_tree(struct collection *c)
{
	struct values node;
	while (c->node != HEAP_NONE) { /* to the smallest */
		if (!collection_enter(c, c->node, &node) || c->depth == TREE_DEEPEST) {
			c->broken = true;
			break;
		}
		c->stack[c->depth++] = c->node;
		c->node = child(c, &node, COLLECTION_LEFT, 30);
	}
	c->node = HEAP_NONE;
	return c->depth != 0;
}

static bool next_in_tree(struct collection *c, struct collection_entry *e)
{
	struct values node;
	while (down_tree(c)) {
		if (values_open(&node, c->heap, c->stack[--c->depth], NULL))
			return false;
		c->node = child(c, &node, COLLECTION_RIGHT, 31);
		if (!has_entry(c, &node))
			continue;
		read_node(c, &node, e);
		return true;
	}
	return false;
}

bool collection_next_in_nodes(struct collection *c, struct collection_entry *e)
{
	return c->kind->shape == SHAPE_TREE ? next_in_tree(c, e) : c->kind->shape == SHAPE_BUCKETS ?
	    next_in_buckets(c, e) : next_in_chain(c, e);
}
