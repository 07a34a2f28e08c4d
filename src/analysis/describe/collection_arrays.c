/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection_arrays.c - entries of collections that are arrays, or fields: lists, rings, tables without chains.
 */
#include "analysis/describe/collection.h"

#include "analysis/describe/describers.h"
#include "heap/classes.h"

#include <string.h>

bool collection_marked(const struct collection *c, const struct value *v)
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

/* The last place of an array may hold the next one. */
static bool open_next_array(struct collection *c, const struct value *v)
{
	struct values inner;
	uint32_t id = c->at == c->end && c->kind->next ? value_object_id(c->heap, v) : HEAP_NONE;
	if (id == HEAP_NONE || !collection_enter(c, id, &c->array))
		return false;
	if (description_object(&c->array, "array", &inner))
		c->array = inner;
	c->at = 0;
	c->end = values_length(&c->array);
	return true;
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
		if (!e->value.bits || collection_marked(c, &e->value) || open_next_array(c, &e->value))
			continue;
		if (!open_bucket(c, &e->value) || next_in_bucket(c, e))
			return true;
	}
	return false;
}

/* Entries for the keys 0 and 1, or for 0, or elements from 0 to 31, that cannot stand in an array where these mean that
 * a place is free. */
bool collection_next_extra(struct collection *c, struct collection_entry *e)
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
		if (!i && !values_field(&extra, of[0].flag, &e->value)) { /* the value of the key 0 itself */
			c->skipped = 2;
			e->key = (struct value){ type, 0 };
			e->value = flag;
			return !collection_marked(c, &flag);
		}
		e->key = (struct value){ type, i };
		if (values_field(&extra, of[i].flag, &flag) && flag.bits && values_field(&extra, of[i].value, &e->value))
			return true;
	}
	return false;
}

static bool is_place(const struct collection *c, const struct value *key)
{
	if (c->kind->null && (!c->kind->free || c->n_free)) /* what is free is marked otherwise, if at all */
		return true;
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
	collection_tell(c, id);
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
			return collection_next_extra(c, e);
		e->key = values_element(&c->array, c->at);
		e->value = values_element(&c->array, c->at + 1);
		c->at += 2;
		if (!c->kind->end && !is_place(c, &e->key))
			continue;
		if (c->kind->free && (!e->value.bits || collection_marked(c, &e->key) || collection_marked(c, &e->value)))
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
		return collection_bound(c, k->last, 1, 0);
	if (k->control) {
		uint64_t word = c->keys.heap && i / 8 < values_length(&c->keys) ? values_element(&c->keys, i / 8).bits :
			UINT64_MAX;
		return !(word >> (i % 8 * 8 + 7) & 1);
	}
	if (k->taken || k->index || k->hash) {
		if (!c->keys.heap || i >= values_length(&c->keys))
			return false;
		v = values_element(&c->keys, i);
		if (k->hash)
			return (int64_t)v.bits > 0;
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
		if (is_taken(c, i, e) && !collection_marked(c, &e->key) && !collection_marked(c, &e->value))
			return true;
	}
	return collection_next_extra(c, e);
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

/* The next long with bits: a field, or one of the array in a field. */
static bool next_word(struct collection *c)
{
	char name[64];
	struct value v;
	while (!c->word) {
		if (c->keys.heap && c->segment < values_length(&c->keys)) {
			c->word = values_element(&c->keys, c->segment++).bits;
		} else {
			c->keys.heap = NULL;
			c->segment = 0;
			if (!next_name(&c->names, name))
				return false;
			if (description_object(&c->store, name, &c->keys)) {
				collection_tell(c, c->keys.id);
				continue;
			}
			if (!description_field(&c->store, name, &v) || v.type == VALUE_OBJECT)
				continue;
			c->word = v.bits;
		}
		c->first = c->at;
		c->at += 64;
	}
	return true;
}

static bool next_bit(struct collection *c, struct collection_entry *e)
{
	while (next_word(c)) {
		unsigned bit = (unsigned)__builtin_ctzll(c->word);
		uint64_t i = c->first + bit;
		c->word &= c->word - 1;
		if (!c->kind->store) {
			e->value = (struct value){ VALUE_INT, i };
			return true;
		}
		if (i < c->n) {
			e->value = values_element(&c->array, i);
			return true;
		}
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
	while ((!c->n || c->given < c->end) && next_name(&c->names, name)) {
		bool there = description_field(&c->store, name, &e->value);
		e->key = (struct value){ VALUE_OBJECT, 0 };
		if (next_name(&c->key_names, name))
			description_field(&c->store, name, &e->key);
		if (there && !is_free(c, &e->value))
			return true;
	}
	return false;
}

bool collection_next_in_arrays(struct collection *c, struct collection_entry *e)
{
	switch (c->kind->shape) {
	case SHAPE_PAIRS: return next_pair(c, e);
	case SHAPE_COLUMNS: return next_in_columns(c, e);
	case SHAPE_FIELDS: return next_field(c, e);
	case SHAPE_ENUM: return next_enum(c, e);
	case SHAPE_BITS: return next_bit(c, e);
	default: return next_element(c, e);
	}
}
