/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed_swiss.c - entries of maps of Go 1.24 and later; see typed_contents.h.
 *
 * A map<K,V> (internal/runtime/maps/map.go) leads to one group of places, or to a directory of tables
 * if dirLen is not 0.  Several neighbours in the directory may lead to one table<K,V>; its index is the
 * place of the first.  A table has lengthMask + 1 groups.  A group begins with a control byte for each
 * of its places, whose top bit is clear where the place is full; the first place's is the lowest of the
 * number that they are (group.go: ctrlGroup.get).  Behind them stand slots of key and elem or, with
 * GOEXPERIMENT=mapsplitgroup, all keys before all elems.  Where what stands, the program's types tell.
 */
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"
#include "heap/typed/typed.h"
#include "heap/typed/typed_contents.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	MOST_PLACES = 8,         /* of a group: bits of its control bytes stand in 64 */
	EMPTY_OR_DELETED = 0x80, /* bit of a control byte */
	MOST_COUNTED = 1 << 16,  /* tables whose capacities are summed */
};

static uint32_t field_type(const struct types *t, uint32_t type, const char *name, uint64_t *offset)
{
	uint32_t f = type == TYPE_NONE ? UINT32_MAX : types_field(t, type, name);
	if (f == UINT32_MAX)
		return TYPE_NONE;
	if (offset)
		*offset = t->field[f].offset;
	return t->field[f].type;
}

static uint32_t pointed(const struct types *t, uint32_t type)
{
	return type != TYPE_NONE && t->type[type].kind == TYPE_POINTER ? t->type[type].element : TYPE_NONE;
}

static uint32_t element_of(const struct types *t, uint32_t type)
{
	return type != TYPE_NONE && t->type[type].kind == TYPE_ARRAY ? t->type[type].element : TYPE_NONE;
}

/* Where keys and elems stand in a group. */
static bool know_group(struct typed_contents *c, const struct types *t)
{
	struct contents_swiss *s = &c->swiss;
	uint64_t at = 0;
	uint32_t control = field_type(t, c->bucket_type, "ctrl", &s->control);
	uint32_t slot = element_of(t, field_type(t, c->bucket_type, "slots", &at));
	if (slot != TYPE_NONE) {
		c->key_type = field_type(t, slot, "key", &s->key);
		c->value_type = field_type(t, slot, "elem", &s->value);
		s->key += at;
		s->value += at;
		s->key_stride = s->value_stride = t->type[slot].size;
	} else {
		c->key_type = element_of(t, field_type(t, c->bucket_type, "keys", &s->key));
		c->value_type = element_of(t, field_type(t, c->bucket_type, "elems", &s->value));
		s->key_stride = c->key_type == TYPE_NONE ? 0 : t->type[c->key_type].size;
		s->value_stride = c->value_type == TYPE_NONE ? 0 : t->type[c->value_type].size;
	}
	s->places = control == TYPE_NONE ? 0 : t->type[control].size;
	return c->key_type != TYPE_NONE && c->value_type != TYPE_NONE && s->places &&
	    s->places <= MOST_PLACES && t->type[c->bucket_type].size;
}

/* The table that a place of the directory leads to.  1; 0: another place has it; -1: there is none. */
static int table_at(struct typed_contents *c, uint64_t i, struct typed *table)
{
	struct typed pointer;
	if (!contents_element(c, &c->row, i, c->first, c->swiss.pointer_type, &pointer) ||
	    !typed_at(c->heap, typed_word(&pointer, 0), c->swiss.table_type, table))
		return -1;
	return typed_field_number(table, "index") == i;
}

/* How many entries all tables have room for; 0: too many tables to ask each. */
static uint64_t room_of(struct typed_contents *c)
{
	uint64_t room = 0;
	if (!c->buckets)
		return c->first ? c->swiss.places : 0;
	if (c->buckets > MOST_COUNTED)
		return 0;
	for (uint64_t i = 0; i < c->buckets; i++) {
		struct typed table;
		int is = table_at(c, i, &table);
		if (is < 0)
			return 0;
		room += is ? typed_field_number(&table, "capacity") : 0;
	}
	return room;
}

int swiss_open(struct typed_contents *c, const struct typed *v, const struct type *owner, struct err *err)
{
	const struct types *t = c->heap->dump->types;
	struct typed directory;
	c->map = true;
	c->how = CONTENTS_SWISS;
	c->size = typed_field_number(v, "used");
	c->buckets = typed_field_number(v, "dirLen");
	if (!typed_field(v, "dirPtr", &directory))
		return err_set(err, ERR_NOT_FOUND, "%.200s has an unknown layout", owner->name);
	c->swiss.pointer_type = pointed(t, directory.type);
	c->swiss.table_type = pointed(t, c->swiss.pointer_type);
	uint32_t groups = field_type(t, c->swiss.table_type, "groups", NULL);
	c->bucket_type = pointed(t, field_type(t, groups, "data", NULL));
	if (c->bucket_type == TYPE_NONE || !know_group(c, t))
		return err_set(err, ERR_NOT_FOUND, "unknown group types of %.200s", owner->name);
	contents_settle(c, owner);
	c->first = typed_word(&directory, 0);
	/* groups are memory of their own: more of them than fit into the heap (a stack's frame has few) are
	 * some of them twice */
	c->swiss.groups_left = c->heap->shallow / t->type[c->bucket_type].size + MOST_PLACES;
	c->capacity = room_of(c);
	return 0;
}

/* The groups of the next table, or the map's only one. */
static bool next_groups(struct typed_contents *c)
{
	struct contents_swiss *s = &c->swiss;
	struct typed table, groups, data;
	int is = 0;
	s->group = s->groups = 0;
	s->row = (struct typed){ .heap = NULL };
	if (!c->buckets) {
		s->groups_at = c->next++ ? 0 : c->first;
		s->groups = s->groups_at ? 1 : 0;
		return s->groups > 0;
	}
	while (!is && c->next < c->buckets)
		is = table_at(c, c->next++, &table);
	if (is <= 0) {
		c->broken = is < 0;
		return false;
	}
	if (!typed_field(&table, "groups", &groups) || !typed_field(&groups, "data", &data))
		return false;
	s->groups_at = typed_word(&data, 0);
	uint64_t mask = typed_field_number(&groups, "lengthMask");
	s->groups = mask < UINT64_MAX ? mask + 1 : mask;
	return true;
}

static bool next_group(struct typed_contents *c)
{
	struct contents_swiss *s = &c->swiss;
	if (s->group >= s->groups && !next_groups(c)) {
		c->broken |= c->found != c->size;
		return false;
	}
	if (!s->groups_left || !contents_element(c, &s->row, s->group, s->groups_at, c->bucket_type, &c->bucket)) {
		c->broken = true;
		return false;
	}
	s->groups_left--;
	s->group++;
	c->slot = 0;
	return true;
}

bool swiss_next(struct typed_contents *c)
{
	struct contents_swiss *s = &c->swiss;
	for (;;) {
		if ((!c->bucket.bytes || c->slot == s->places) && !next_group(c))
			return false;
		uint64_t i = c->slot++;
		uint64_t control = typed_number(&c->bucket, s->control, (unsigned)s->places) >> 8 * i;
		if (control & EMPTY_OR_DELETED)
			continue;
		if (c->found >= c->size || !typed_part(&c->bucket, s->key + i * s->key_stride, c->key_type, &c->key) ||
		    !typed_part(&c->bucket, s->value + i * s->value_stride, c->value_type, &c->value)) {
			c->broken = true;
			return false;
		}
		contents_take(c);
		return true;
	}
}
