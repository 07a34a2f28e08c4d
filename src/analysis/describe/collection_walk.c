/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection_walk.c - reads the entries of a collection, one after another.
 */
#include "analysis/describe/collection.h"

#include "algorithms/hash.h"
#include "analysis/describe/describers.h"
#include "base/mem.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/value.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t collection_node_in(const struct values *v, const char *names)
{
	struct value link;
	if (!strcmp(names, "this"))
		return v->id;
	return description_field(v, names, &link) ? value_object_id(v->heap, &link) : HEAP_NONE;
}

void collection_tell(const struct collection *c, uint32_t id)
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

/* Where a node stands, or would stand: there 0. */
static uint32_t slot_of(const struct nodes_seen *s, uint32_t node)
{
	const uint32_t *slot = s->slot ? s->slot : s->few;
	uint32_t at = (uint32_t)hash_number(node + 1) & (s->n_slots - 1);
	while (slot[at] && slot[at] != node + 1)
		at = (at + 1) & (s->n_slots - 1);
	return at;
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
	uint32_t *slot = (s->slot ? s->slot : s->few) + slot_of(s, node);
	if (*slot)
		return false;
	*slot = node + 1;
	s->n++;
	return true;
}

bool collection_met(const struct collection *c, uint32_t node)
{
	const struct nodes_seen *s = &c->seen;
	return s->n_slots && (s->slot ? s->slot : s->few)[slot_of(s, node)];
}

/* Open a node that was not met before. */
bool collection_enter(struct collection *c, uint32_t node, struct values *out)
{
	if (!first_met(c, node) || values_open(out, c->heap, node, NULL)) {
		c->broken = true;
		return false;
	}
	if (node != c->store.id) /* a list may be its own first node */
		collection_tell(c, node);
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

/* The number in a field, or in place of its name, at most `most`; otherwise if it has none. */
uint64_t collection_bound(const struct collection *c, const char *field, uint64_t most, uint64_t otherwise)
{
	struct value v = { .bits = 0 };
	if (field && *field >= '0' && *field <= '9')
		v = (struct value){ VALUE_LONG, strtoull(field, NULL, 10) };
	else if (!field || !description_field(&c->store, field, &v) || v.type == VALUE_OBJECT)
		return otherwise;
	return v.bits < most ? v.bits : most;
}

static void begin_columns(struct collection *c)
{
	const struct collection_kind *k = c->kind;
	const char *taken = k->taken ? k->taken : k->index ? k->index : k->hash ? k->hash : k->control;
	if (!description_object(&c->store, k->store, &c->array))
		return;
	collection_tell(c, c->array.id);
	c->n = values_length(&c->array);
	c->end = collection_bound(c, k->end, c->n, c->n);
	if (k->value && description_object(&c->store, k->value, &c->values))
		collection_tell(c, c->values.id);
	if (taken && description_object(&c->store, taken, &c->keys) && c->keys.id != c->values.id)
		collection_tell(c, c->keys.id);
	c->n_free = static_objects(c, k->free, c->free, COLLECTION_FREE);
}

static void begin_array(struct collection *c)
{
	struct collection_size size;
	if (!c->kind->store || !description_object(&c->store, c->kind->store, &c->array))
		return;
	collection_tell(c, c->array.id);
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
	if (c->kind->shape == SHAPE_ENUM)
		c->end = c->n;
	if (c->kind->shape == SHAPE_ARRAY && c->kind->next) {
		c->at = collection_bound(c, c->kind->next, c->n, 0);
		c->end = c->end < c->n - c->at ? c->at + c->end : c->n;
	}
	if (c->kind->shape == SHAPE_PAIRS && c->kind->next)
		c->at = collection_bound(c, c->kind->next, c->n, 0);
	if (c->kind->shape == SHAPE_PAIRS && c->kind->end)
		c->end = 2 * collection_bound(c, c->kind->end, c->n / 2, c->n / 2);
	c->n_free = static_objects(c, c->kind->free, c->free, COLLECTION_FREE);
	if (c->kind->shape == SHAPE_PAIRS && !static_objects(c, c->kind->chained, &c->chained, 1))
		c->chained = HEAP_NONE;
}

static void begin_nodes(struct collection *c)
{
	struct values first;
	c->node = collection_node_in(&c->store, c->kind->store);
	if (c->node == HEAP_NONE)
		return;
	struct value ring, inner;
	bool chain = c->kind->shape == SHAPE_CHAIN;
	/* a ring around an entry that holds nothing */
	if (chain && description_field(&c->store, "header|voidLink", &ring)) {
		c->stop = c->node;
		if (!values_open(&first, c->heap, c->node, NULL))
			c->node = collection_node_in(&first, c->kind->next);
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
		collection_tell(c, c->segments.id);
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
		return err_set(err, ERR_NOT_FOUND, "0x%" PRIx64 " (%.200s) is not a known collection",
		    heap_address(h, id), heap_class_of(h, id)->name);
	}
	switch (c->kind->shape) {
	case SHAPE_BUCKETS:
		begin_buckets(c);
		break;
	case SHAPE_CHAIN: case SHAPE_QUEUE: case SHAPE_TREE:
		begin_nodes(c);
		break;
	case SHAPE_JOINED:
		c->names = c->kind->store;
		return 0;
	case SHAPE_BITS:
		c->names = c->kind->next;
		begin_array(c);
		return 0;
	case SHAPE_FIELDS:
		c->names = c->kind->value;
		c->key_names = c->kind->key ? c->kind->key : "";
		c->n = c->kind->size != NULL;
		c->end = collection_bound(c, c->kind->size, UINT64_MAX, UINT64_MAX);
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
	c->is_joined = false;
	c->expand = true;
	return open_walk(c, h, id, err);
}

void collection_close(struct collection *c)
{
	free(c->stack);
	free(c->level);
	if (c->inside) {
		collection_close(c->inside); /* has nothing inside itself */
		free(c->inside);
		c->inside = NULL;
	}
	if (c->joined) {
		collection_close(c->joined);
		free(c->joined);
		c->joined = NULL;
	}
	c->stack = NULL;
	c->level = NULL;
	big_free(c->seen.slot);
	c->seen.slot = NULL;
}

/* --- the entries -------------------------------------------------------------------------------- */

/* Open the collection in the next field.  False: there are no more. */
static bool open_joined(struct collection *c)
{
	char name[64];
	struct value v;
	if (!c->joined)
		c->joined = xcalloc(1, sizeof *c->joined);
	while (next_name(&c->names, name)) {
		uint32_t id = description_field(&c->store, name, &v) ? value_object_id(c->heap, &v) : HEAP_NONE;
		if (id == HEAP_NONE)
			continue;
		collection_close(c->joined);
		*c->joined = (struct collection){ .part = c->part, .context = c->context, .is_joined = true };
		collection_tell(c, id);
		if (!c->is_joined && !open_walk(c->joined, c->heap, id, NULL))
			return true;
		c->broken = true;
	}
	return false;
}

static bool next_in_joined(struct collection *c, struct collection_entry *e)
{
	while (c->in_joined || open_joined(c)) {
		c->in_joined = collection_next(c->joined, e);
		if (c->in_joined)
			return true;
		c->broken |= c->joined->broken;
		c->no_memory |= c->joined->no_memory;
	}
	return false;
}

static bool next_raw(struct collection *c, struct collection_entry *e)
{
	switch (c->kind->shape) {
	case SHAPE_BUCKETS: case SHAPE_CHAIN: case SHAPE_QUEUE: case SHAPE_TREE: return collection_next_in_nodes(c, e);
	case SHAPE_TRIE: case SHAPE_NESTED: return collection_next_in_levels(c, e);
	case SHAPE_RADIX: return collection_next_in_radix(c, e);
	case SHAPE_JOINED: return next_in_joined(c, e);
	case SHAPE_WRAPPER: case SHAPE_VIEW: case SHAPE_EMPTY: case SHAPES: break;
	default: return collection_next_in_arrays(c, e);
	}
	return false;
}

bool collection_next(struct collection *c, struct collection_entry *out)
{
	out->key = out->value = (struct value){ VALUE_OBJECT, 0 };
	if (!c->kind)
		return false;
	while (!c->in_value || !collection_next_inside(c, out)) {
		if (!next_raw(c, out))
			return false;
		c->given++;
		out->many = 1;
		if (c->as_is || !c->counts || !c->counts->counts || collection_count_entry(c, out))
			break;
	}
	out->index = c->listed++;
	out->has_key = c->view == VIEW_MAP;
	if (c->view == VIEW_KEYS)
		out->value = out->key;
	return true;
}

/* Walk at most `most` entries. */
static bool walk(const struct heap *h, uint32_t id, uint64_t most, struct collection_inside *out, collection_part *part,
    void *context)
{
	struct collection c = { .part = part, .context = context };
	struct collection_entry e;
	bool ended = false;
	*out = (struct collection_inside){ .entries = 0 };
	if (!collection_size(h, id, &out->size) || open_walk(&c, h, id, NULL)) {
		collection_close(&c);
		return false;
	}
	while (!ended && c.listed < most && !progress_own_stops(c.listed)) {
		ended = !collection_next(&c, &e);
		out->elements += ended ? 0 : e.many;
	}
	out->entries = c.listed;
	out->summed = c.summed;
	out->broken = c.broken;
	out->whole = ended && !c.broken && !c.uncounted;
	collection_close(&c);
	return true;
}

bool collection_inside(const struct heap *h, uint32_t id, struct collection_inside *out, collection_part *part,
    void *context)
{
	return walk(h, id, UINT64_MAX, out, part, context);
}

bool collection_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out)
{
	struct collection_inside inside;
	if (!collection_size(h, id, out))
		return false;
	if (out->lies)
		out->known = out->has_fill = false;
	if (out->known || out->lies || !*left || !walk(h, id, *left, &inside, NULL, NULL))
		return true;
	*left -= inside.entries < *left ? inside.entries : *left;
	out->known = inside.whole;
	out->broken = inside.broken;
	out->size = out->known || out->broken ? inside.elements : 0;
	if (out->known && !inside.summed)
		out->taken = inside.entries;
	return true;
}
