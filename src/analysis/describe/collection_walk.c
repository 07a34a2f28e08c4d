/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection_walk.c - reads the entries of a collection, one after another.
 */
#include "analysis/describe/collection.h"

#include "analysis/describe/describers.h"
#include "base/big.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A red-black tree of 2^32 nodes is at most 64 deep. */
enum { TREE_DEEPEST = 128 };

static uint32_t node_in(const struct values *v, const char *names)
{
	struct value link;
	if (!strcmp(names, "this"))
		return v->id;
	return description_field(v, names, &link) ? value_object_id(v->heap, &link) : HEAP_NONE;
}

static void tell_part(const struct collection *c, uint32_t id)
{
	if (c->part && id != HEAP_NONE)
		c->part(c->context, id);
}

/* --- nodes that were met ------------------------------------------------------------------------- */

/* Of nodes that are few nothing is allocated: who looks at a million small maps opens a million walks. */
static bool grow(struct nodes_seen *s)
{
	uint32_t n = s->n_slots * 2, *slot = n ? big_alloc(n, sizeof *slot, NULL) : NULL;
	if (!slot)
		return false;
	const uint32_t *old = s->slot ? s->slot : s->few;
	for (uint32_t i = 0; i < s->n_slots; i++) {
		uint32_t at = old[i] ? (uint32_t)hash_number(old[i]) & (n - 1) : 0;
		while (old[i] && slot[at])
			at = (at + 1) & (n - 1);
		if (old[i])
			slot[at] = old[i];
	}
	big_free(s->slot);
	s->slot = slot;
	s->n_slots = n;
	return true;
}

/* False: it was met before, or there is no memory to tell. */
static bool first_met(struct collection *c, uint32_t node)
{
	struct nodes_seen *s = &c->seen;
	s->n_slots = s->n_slots ? s->n_slots : COLLECTION_FEW;
	if (s->n >= s->n_slots / 2 && !grow(s)) {
		c->no_memory = true;
		return false;
	}
	uint32_t *slot = s->slot ? s->slot : s->few, at = (uint32_t)hash_number(node + 1) & (s->n_slots - 1);
	for (; slot[at]; at = (at + 1) & (s->n_slots - 1)) {
		if (slot[at] == node + 1)
			return false;
	}
	slot[at] = node + 1;
	s->n++;
	return true;
}

/* Open a node that was not met before. */
bool collection_enter(struct collection *c, uint32_t node, struct values *out)
{
	if (!first_met(c, node) || values_open(out, c->heap, node, NULL)) {
		c->broken = true;
		return false;
	}
	if (node != c->store.id) /* a list may be its own first node */
		tell_part(c, node);
	return true;
}

/* --- beginning ---------------------------------------------------------------------------------- */

/* "class.field|class.field": ids of the objects in static fields. */
static unsigned static_objects(const struct collection *c, const char *names, uint32_t *to, unsigned most)
{
	char class[256];
	unsigned n = 0;
	while (names && *names && n < most) {
		size_t length = strcspn(names, "|"), dot = length;
		while (dot && names[dot - 1] != '.')
			dot--;
		char field[64];
		struct value v;
		if (dot > 1 && dot < sizeof class && length - dot < sizeof field) {
			bool own = dot == 5 && !strncmp(names, "this", 4);
			memcpy(class, names, dot - 1);
			class[dot - 1] = '\0';
			memcpy(field, names + dot, length - dot);
			field[length - dot] = '\0';
			if (values_static(c->heap, own ? heap_class_of(c->heap, c->store.id)->name : class, field, &v) &&
			    (to[n] = value_object_id(c->heap, &v)) != HEAP_NONE)
				n++;
		}
		names += length + (names[length] == '|');
	}
	return n;
}

/* The number in a field, at most `most`; otherwise if it has none. */
static uint64_t bound(const struct collection *c, const char *field, uint64_t most, uint64_t otherwise)
{
	struct value v;
	if (!field || !description_field(&c->store, field, &v) || v.type == VALUE_OBJECT)
		return otherwise;
	return v.bits < most ? v.bits : most;
}

static void begin_columns(struct collection *c)
{
	const struct collection_kind *k = c->kind;
	const char *taken = k->taken ? k->taken : k->index ? k->index : k->control;
	if (!description_object(&c->store, k->store, &c->array))
		return;
	tell_part(c, c->array.id);
	c->n = values_length(&c->array);
	c->end = bound(c, k->end, c->n, c->n);
	if (k->value && description_object(&c->store, k->value, &c->values))
		tell_part(c, c->values.id);
	if (taken && description_object(&c->store, taken, &c->keys) && c->keys.id != c->values.id)
		tell_part(c, c->keys.id);
	c->n_free = static_objects(c, k->free, c->free, COLLECTION_FREE);
}

static void begin_array(struct collection *c)
{
	struct collection_size size;
	if (!description_object(&c->store, c->kind->store, &c->array))
		return;
	tell_part(c, c->array.id);
	c->n = values_length(&c->array);
	c->end = c->n;
	bool counted = collection_size(c->heap, c->store.id, &size) && size.known;
	if (c->kind->shape == SHAPE_ARRAY && counted && size.size < c->end)
		c->end = size.size;
	if (c->kind->shape == SHAPE_RING) {
		int64_t first;
		c->end = counted && size.size < c->n ? size.size : counted ? c->n : 0;
		c->first = description_number(&c->store, c->kind->next, &first) ? (uint64_t)first : 0;
	}
	if (c->kind->shape == SHAPE_ENUM || c->kind->shape == SHAPE_BITS)
		c->end = c->n;
	if (c->kind->shape == SHAPE_ARRAY && c->kind->next) {
		c->at = bound(c, c->kind->next, c->n, 0);
		c->end = c->end < c->n - c->at ? c->at + c->end : c->n;
	}
	if (c->kind->shape == SHAPE_PAIRS && c->kind->end)
		c->end = 2 * bound(c, c->kind->end, c->n / 2, c->n / 2);
	c->n_free = static_objects(c, c->kind->free, c->free, COLLECTION_FREE);
	if (c->kind->shape == SHAPE_PAIRS && !static_objects(c, c->kind->chained, &c->chained, 1))
		c->chained = HEAP_NONE;
}

static void begin_nodes(struct collection *c)
{
	struct values first;
	c->node = node_in(&c->store, c->kind->store);
	if (c->node == HEAP_NONE)
		return;
	struct value ring, inner;
	bool chain = c->kind->shape == SHAPE_CHAIN;
	if (chain && values_field(&c->store, "header", &ring)) { /* a ring around an entry that holds nothing */
		c->stop = c->node;
		if (!values_open(&first, c->heap, c->node, NULL))
			c->node = node_in(&first, c->kind->next);
		if (c->node == c->stop)
			c->node = HEAP_NONE;
	} else if (!values_open(&first, c->heap, c->node, NULL) && values_field(&first, "node", &inner)) {
		c->node = value_object_id(c->heap, &inner); /* the index of a skip list */
	}
}

static void begin_buckets(struct collection *c)
{
	if (!c->kind->parts)
		begin_array(c);
	else if (description_object(&c->store, c->kind->parts, &c->segments))
		tell_part(c, c->segments.id);
}

static int open_walk(struct collection *c, const struct heap *h, uint32_t id, struct err *err)
{
	struct values v;
	int code = values_open(&v, h, id, err);
	if (code) {
		*c = (struct collection){ .heap = h };
		return code;
	}
	if (!collection_find(c, h, id)) {
		*c = (struct collection){ .heap = h };
		return err_set(err, ERR_NOT_FOUND, "0x%" PRIx64 ", a %.200s, is no collection that is known",
		    heap_address(h, id), heap_class_of(h, id)->name);
	}
	switch (c->kind->shape) {
	case SHAPE_BUCKETS:
		begin_buckets(c);
		break;
	case SHAPE_CHAIN: case SHAPE_QUEUE: case SHAPE_TREE:
		begin_nodes(c);
		break;
	case SHAPE_FIELDS:
		c->names = c->kind->value;
		c->key_names = c->kind->key ? c->kind->key : "";
		return 0;
	case SHAPE_COLUMNS:
		begin_columns(c);
		return 0;
	case SHAPE_RADIX:
		collection_begin_radix(c);
		return 0;
	case SHAPE_TRIE: case SHAPE_NESTED:
		c->level = xcalloc(COLLECTION_LEVELS, sizeof *c->level);
		collection_begin_levels(c);
		return 0;
	case SHAPE_WRAPPER: case SHAPE_VIEW: case SHAPE_EMPTY:
		return 0;
	case SHAPE_ENUM:
		description_object(&c->store, c->kind->key, &c->keys);
		begin_array(c);
		return 0;
	default:
		begin_array(c);
		return 0;
	}
	if (c->kind->shape == SHAPE_TREE)
		c->stack = xcalloc(TREE_DEEPEST, sizeof *c->stack);
	return 0;
}

int collection_open(struct collection *c, const struct heap *h, uint32_t id, struct err *err)
{
	c->part = NULL;
	c->context = NULL;
	return open_walk(c, h, id, err);
}

void collection_close(struct collection *c)
{
	free(c->stack);
	free(c->level);
	c->stack = NULL;
	c->level = NULL;
	big_free(c->seen.slot);
	c->seen.slot = NULL;
}

/* --- each shape's next -------------------------------------------------------------------------- */

static bool is_marked(const struct collection *c, const struct value *v)
{
	uint32_t id = c->n_free ? value_object_id(c->heap, v) : HEAP_NONE;
	for (unsigned i = 0; i < c->n_free; i++)
		if (c->free[i] == id && id != HEAP_NONE)
			return true;
	return false;
}

/* A place of a set that holds up to four elements, the last of which may be such a place, too (UnifiedSet). */
static bool open_bucket(struct collection *c, const struct value *v)
{
	uint32_t id = c->kind->chained ? value_object_id(c->heap, v) : HEAP_NONE;
	if (id == HEAP_NONE || strcmp(heap_class_of(c->heap, id)->name, c->kind->chained) != 0 ||
	    !collection_enter(c, id, &c->chain))
		return false;
	c->chain_at = 0;
	c->chain_end = 4;
	return true;
}

static bool next_in_bucket(struct collection *c, struct collection_entry *e)
{
	static const char *const names[] = { "zero", "one", "two", "three" };
	while (c->chain_at < c->chain_end) {
		if (values_field(&c->chain, names[c->chain_at++], &e->value) && e->value.bits &&
		    !open_bucket(c, &e->value))
			return true;
	}
	return false;
}

static bool next_element(struct collection *c, struct collection_entry *e)
{
	bool sparse = c->kind->shape == SHAPE_SPARSE;
	if (sparse && next_in_bucket(c, e))
		return true;
	while (c->at < c->end) {
		uint64_t i = c->at++;
		if (c->kind->shape == SHAPE_RING)
			i = (c->first + i) % c->n;
		e->value = values_element(&c->array, i);
		if (!sparse)
			return true;
		if (!e->value.bits || is_marked(c, &e->value))
			continue;
		if (!open_bucket(c, &e->value) || next_in_bucket(c, e))
			return true;
	}
	return false;
}

/* Entries for the keys 0 and 1, or elements from 0 to 31, that cannot stand in an array where these mean that a place
 * is free. */
static bool next_extra(struct collection *c, struct collection_entry *e)
{
	static const struct { const char *flag, *value; } of[] = {
		{ "containsZeroKey", "zeroValue" }, { "containsOneKey", "oneValue" } };
	struct values extra;
	struct value flag;
	if (!c->kind->extra || !description_field(&c->store, c->kind->extra, &flag))
		return false;
	enum value_type type = c->array.heap ? values_element_type(&c->array) : VALUE_INT;
	if (flag.type != VALUE_OBJECT) {
		while (c->skipped < 32) {
			uint64_t i = c->skipped++;
			e->key = e->value = (struct value){ type, i };
			if (flag.bits >> i & 1)
				return true;
		}
		return false;
	}
	while (c->skipped < 2 && description_object(&c->store, c->kind->extra, &extra)) {
		uint64_t i = c->skipped++;
		e->key = (struct value){ type, i };
		if (values_field(&extra, of[i].flag, &flag) && flag.bits && values_field(&extra, of[i].value, &e->value))
			return true;
	}
	return false;
}

static bool is_place(const struct collection *c, const struct value *key)
{
	return key->type == VALUE_OBJECT || !c->kind->extra ? key->bits != 0 : key->bits > 1;
}

/* The pairs of a place whose key says so. */
static bool next_chained(struct collection *c, struct collection_entry *e)
{
	while (c->chain_at + 1 < c->chain_end) {
		e->key = values_element(&c->chain, c->chain_at);
		e->value = values_element(&c->chain, c->chain_at + 1);
		c->chain_at += 2;
		if (e->key.bits)
			return true;
	}
	return false;
}

static bool open_chain(struct collection *c, const struct collection_entry *e)
{
	uint32_t id = value_object_id(c->heap, &e->value);
	if (c->chained == HEAP_NONE || value_object_id(c->heap, &e->key) != c->chained || id == HEAP_NONE ||
	    values_open(&c->chain, c->heap, id, NULL))
		return false;
	tell_part(c, id);
	c->chain_at = 0;
	c->chain_end = values_length(&c->chain);
	return true;
}

static bool next_pair(struct collection *c, struct collection_entry *e)
{
	for (;;) {
		if (next_chained(c, e))
			return true;
		if (c->at + 1 >= c->end)
			return next_extra(c, e);
		e->key = values_element(&c->array, c->at);
		e->value = values_element(&c->array, c->at + 1);
		c->at += 2;
		if (!c->kind->end && !is_place(c, &e->key))
			continue;
		if (!open_chain(c, e))
			return true;
	}
}

/* Is place i of columns taken? */
static bool is_taken(const struct collection *c, uint64_t i, const struct collection_entry *e)
{
	const struct collection_kind *k = c->kind;
	struct value v;
	if (k->last && i + 1 == c->n)
		return bound(c, k->last, 1, 0);
	if (k->control) {
		uint64_t word = c->keys.heap && i / 8 < values_length(&c->keys) ? values_element(&c->keys, i / 8).bits :
			UINT64_MAX;
		return !(word >> (i % 8 * 8 + 7) & 1);
	}
	if (k->taken || k->index) {
		if (!c->keys.heap || i >= values_length(&c->keys))
			return false;
		v = values_element(&c->keys, i);
		return k->index ? (int64_t)v.bits >= 0 : v.type == VALUE_OBJECT ? v.bits != 0 : v.bits == 1;
	}
	return k->end || is_place(c, &e->key);
}

static bool next_in_columns(struct collection *c, struct collection_entry *e)
{
	uint64_t n = c->values.heap ? values_length(&c->values) : 0;
	while (c->at < c->end) {
		uint64_t i = c->at++;
		e->key = values_element(&c->array, i);
		e->value = !c->kind->value ? e->key : i < n ? values_element(&c->values, i) :
			(struct value){ VALUE_OBJECT, 0 };
		if (is_taken(c, i, e) && !is_marked(c, &e->key) && !is_marked(c, &e->value))
			return true;
	}
	return next_extra(c, e);
}

static bool next_enum(struct collection *c, struct collection_entry *e)
{
	uint64_t n = c->keys.heap ? values_length(&c->keys) : 0;
	while (c->at < c->end) {
		uint64_t i = c->at++;
		e->value = values_element(&c->array, i);
		e->key = i < n ? values_element(&c->keys, i) : (struct value){ VALUE_OBJECT, 0 };
		if (e->value.bits)
			return true;
	}
	return false;
}

static bool next_bit(struct collection *c, struct collection_entry *e)
{
	int64_t bits = 0;
	struct values words;
	bool many = description_object(&c->store, c->kind->next, &words);
	if (!many && !description_number(&c->store, c->kind->next, &bits))
		return false;
	uint64_t most = many ? values_length(&words) : 1;
	while (c->at < c->end && c->at / 64 < most) {
		uint64_t i = c->at++;
		e->value = values_element(&c->array, i);
		if ((many ? values_element(&words, i / 64).bits : (uint64_t)bits) >> i % 64 & 1)
			return true;
	}
	return false;
}

/* List.of(x) and Set.of(x) have room for two; the second element is then null up to JDK 13 (null is no
 * element of these), and a plain Object that marks the place as free from 14 on. */
static bool is_free(const struct collection *c, const struct value *v)
{
	static const char immutable[] = "java.util.ImmutableCollections";
	const struct heap *h = c->heap;
	struct value empty;
	uint32_t id = value_object_id(h, v);
	if (!v->bits)
		return !strncmp(c->kind->class, immutable, sizeof immutable - 1);
	return id != HEAP_NONE && !strcmp(heap_class_of(h, id)->name, "java.lang.Object") &&
	    values_static(h, immutable, "EMPTY", &empty) &&
	    empty.bits == v->bits;
}

static bool next_field(struct collection *c, struct collection_entry *e)
{
	char name[64];
	while (next_name(&c->names, name)) {
		bool there = description_field(&c->store, name, &e->value);
		e->key = (struct value){ VALUE_OBJECT, 0 };
		if (next_name(&c->key_names, name))
			description_field(&c->store, name, &e->key);
		if (there && !is_free(c, &e->value))
			return true;
	}
	return false;
}

/* Key and value of a node; a field that is not there reads as null. */
static void read_node(const struct collection *c, const struct values *node, struct collection_entry *e)
{
	e->key = e->value = (struct value){ VALUE_OBJECT, 0 };
	if (c->kind->key)
		description_field(node, c->kind->key, &e->key);
	if (c->kind->value)
		description_field(node, c->kind->value, &e->value);
}

/* What ends a chain by being no node of it: the empty list. */
static bool ends_chain(struct collection *c, const struct values *node)
{
	struct value v;
	if (c->kind->shape != SHAPE_CHAIN || description_field(node, c->kind->next, &v))
		return false;
	uint32_t class = c->heap->class_of[node->id];
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
		c->node = node_in(&node, c->kind->next);
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
		tell_part(c, id);
		tell_part(c, c->array.id);
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
			c->bucket = 0;
			if (!values_open(&bin, c->heap, id, NULL) && values_field(&bin, "first", &first)) {
				tell_part(c, id);
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
		c->node = node_in(&node, c->kind->next);
		/* a bucket that moved to a larger table leaves a node with the new table behind */
		if (values_field(&node, "nextTable", &v))
			continue;
		if (++c->bucket > c->longest)
			c->longest = c->bucket;
		return true;
	}
}

#define SCALA_TREE "scala$collection$immutable$RedBlackTree$Tree$$"

static bool next_in_tree(struct collection *c, struct collection_entry *e)
{
	struct values node;
	while (c->node != HEAP_NONE) { /* down to the smallest */
		if (!collection_enter(c, c->node, &node) || c->depth == TREE_DEEPEST) {
			c->broken = true;
			break;
		}
		c->stack[c->depth++] = c->node;
		c->node = node_in(&node, "left|_left|" SCALA_TREE "_left");
	}
	c->node = HEAP_NONE;
	if (!c->depth || values_open(&node, c->heap, c->stack[--c->depth], NULL))
		return false;
	read_node(c, &node, e);
	c->node = node_in(&node, "right|_right|" SCALA_TREE "_right");
	return true;
}

static bool next_raw(struct collection *c, struct collection_entry *e)
{
	switch (c->kind->shape) {
	case SHAPE_ARRAY: case SHAPE_SPARSE: case SHAPE_RING: return next_element(c, e);
	case SHAPE_PAIRS: return next_pair(c, e);
	case SHAPE_COLUMNS: return next_in_columns(c, e);
	case SHAPE_BUCKETS: return next_in_buckets(c, e);
	case SHAPE_CHAIN: case SHAPE_QUEUE: return next_in_chain(c, e);
	case SHAPE_TREE: return next_in_tree(c, e);
	case SHAPE_FIELDS: return next_field(c, e);
	case SHAPE_ENUM: return next_enum(c, e);
	case SHAPE_BITS: return next_bit(c, e);
	case SHAPE_TRIE: case SHAPE_NESTED: return collection_next_in_levels(c, e);
	case SHAPE_RADIX: return collection_next_in_radix(c, e);
	case SHAPE_WRAPPER: case SHAPE_VIEW: case SHAPE_EMPTY: case SHAPES: break;
	}
	return false;
}

bool collection_next(struct collection *c, struct collection_entry *out)
{
	out->key = out->value = (struct value){ VALUE_OBJECT, 0 };
	if (!c->kind || !next_raw(c, out))
		return false;
	out->index = c->given++;
	out->has_key = c->view == VIEW_MAP;
	if (c->view == VIEW_KEYS)
		out->value = out->key;
	return true;
}

bool collection_inside(const struct heap *h, uint32_t id, struct collection_inside *out, collection_part *part,
    void *context)
{
	struct collection c = { .part = part, .context = context };
	struct collection_entry e;
	*out = (struct collection_inside){ .entries = 0 };
	if (!collection_size(h, id, &out->size) || open_walk(&c, h, id, NULL)) {
		collection_close(&c);
		return false;
	}
	while (!progress_own_stops(++out->entries) && collection_next(&c, &e))
		;
	out->entries--;
	out->longest = c.longest;
	out->broken = c.broken;
	collection_close(&c);
	return true;
}
