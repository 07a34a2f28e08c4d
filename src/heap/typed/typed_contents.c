/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * typed_contents.c - what slices, arrays, maps and channels contain; see typed.h.
 *
 * A slice or array is a row of elements, a channel an hchan<T> with a ring of them.  For maps see
 * typed_maps.c (Go before 1.24) and typed_swiss.c (since).
 */
#include "heap/typed/typed_contents.h"

#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"
#include "heap/typed/typed.h"

#include <stddef.h>
#include <string.h>

enum { HOPS = 3 }; /* a pointer to a pointer to a map */

static const struct types *types_of(const struct heap *h)
{
	return h->dump->types;
}

/* The map or channel type whose memory this struct is, or NULL.  Looks through all types, but only
 * for structs that have what such memory has. */
static const struct type *owner_of_layout(const struct heap *h, uint32_t layout)
{
	const struct types *t = types_of(h);
	if (types_field(t, layout, "buckets") == UINT32_MAX && types_field(t, layout, "dirPtr") == UINT32_MAX &&
	    types_field(t, layout, "dataqsiz") == UINT32_MAX)
		return NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct type *of = &t->type[i];
		if ((of->kind == TYPE_MAP || of->kind == TYPE_CHAN) && of->layout == layout)
			return of;
	}
	return NULL;
}

static int is_none(const struct typed *v, struct err *err)
{
	const struct type *t = typed_type(v);
	if (!t && !v->heap->dump->program)
		return err_set(err, ERR_NOT_FOUND, "contents of unknown type: only the program that wrote the "
		    "dump has the type and the layout of maps, slices and channels (--exe FILE)");
	return err_set(err, ERR_NOT_FOUND, "%.200s is not a slice, array, map or channel",
	    t ? t->name : "a value of unknown type");
}

static int open_row(struct typed_contents *c, uint32_t type, uint64_t first, uint64_t n, uint64_t room)
{
	c->how = CONTENTS_ROW;
	c->value_type = type;
	c->first = first;
	c->size = n;
	c->capacity = room;
	return 0;
}

static int open_channel(
    struct typed_contents *c, const struct typed *v, const struct type *owner, struct err *err)
{
	if (owner->element == TYPE_NONE)
		return is_none(v, err);
	uint64_t room = typed_field_number(v, "dataqsiz"), n = typed_field_number(v, "qcount");
	open_row(c, owner->element, typed_field_number(v, "buf"), n < room ? n : room, room);
	c->begin = typed_field_number(v, "recvx");
	return 0;
}

/* The memory of a map or channel, by its type or that of who points to it. */
static int open_layout(
    struct typed_contents *c, const struct typed *v, const struct type *owner, struct err *err)
{
	if (owner->kind == TYPE_CHAN)
		return open_channel(c, v, owner, err);
	return types_field(types_of(c->heap), v->type, "dirPtr") == UINT32_MAX ? map_open(c, v, owner, err) :
	                                                                         swiss_open(c, v, owner, err);
}

int typed_contents_open(struct typed_contents *c, const struct typed *value, struct err *err)
{
	const struct heap *h = value->heap;
	struct typed v = *value, next;
	*c = (struct typed_contents){ .heap = h };
	for (unsigned hops = 0; hops <= HOPS; hops++, v = next) {
		const struct type *t = typed_type(&v);
		const struct type *owner = t && t->kind == TYPE_STRUCT ? owner_of_layout(h, v.type) : NULL;
		uint64_t to = typed_word(&v, 0);
		if (owner)
			return open_layout(c, &v, owner, err);
		switch (t ? t->kind : TYPE_UNKNOWN) {
		case TYPE_SLICE:
			return open_row(c, t->element, to, typed_word(&v, 1), typed_word(&v, 2));
		case TYPE_ARRAY:
			return open_row(c, t->element, v.address, t->count, 0);
		case TYPE_MAP:
		case TYPE_CHAN:
			c->map = t->kind == TYPE_MAP;
			if (!to)
				return open_row(c, t->element, 0, 0, 0);
			if (t->layout == TYPE_NONE || !typed_at(h, to, t->layout, &next))
				return err_set(err, ERR_NOT_FOUND, "the memory of this %.200s is not in the dump", t->name);
			return open_layout(c, &next, t, err);
		case TYPE_POINTER:
			if (t->element != TYPE_NONE && typed_at(h, to, t->element, &next))
				continue;
			return is_none(value, err);
		default:
			return is_none(value, err);
		}
	}
	return is_none(value, err);
}

int typed_contents_of_object(
    struct typed_contents *c, const struct heap *h, uint32_t id, struct err *err)
{
	struct typed_object o;
	*c = (struct typed_contents){ .heap = h };
	if (!typed_open(&o, h, id))
		return err_set(err, ERR_NOT_FOUND, "cannot read the bytes of this object");
	if (!o.array || o.value.type == TYPE_NONE)
		return typed_contents_open(c, &o.value, err);
	return open_row(c, o.value.type, o.value.address, o.count, 0);
}

/* --- one after another -------------------------------------------------------------------------- */

bool contents_element(const struct typed_contents *c, struct typed *row, uint64_t i, uint64_t first,
    uint32_t type, struct typed *out)
{
	uint64_t offset, address;
	if (__builtin_mul_overflow(i, types_of(c->heap)->type[type].size, &offset) ||
	    __builtin_add_overflow(offset, first, &address))
		return false;
	if (!row->bytes && !typed_at(c->heap, first, TYPE_NONE, row))
		*row = (struct typed){ .heap = NULL };
	return row->bytes ? typed_part(row, offset, type, out) :
	                    typed_at(c->heap, address, type, out);
}

/* Does the place hold a pointer to what the map is said to hold? */
static bool is_indirect(const struct types *t, uint32_t in_place, uint32_t said)
{
	return in_place != said && said != TYPE_NONE && t->type[in_place].kind == TYPE_POINTER &&
	    t->type[in_place].element == said;
}

void contents_settle(struct typed_contents *c, const struct type *owner)
{
	c->key_indirect = is_indirect(types_of(c->heap), c->key_type, owner->key);
	c->value_indirect = is_indirect(types_of(c->heap), c->value_type, owner->element);
}

static void follow(struct typed *v)
{
	struct typed to;
	if (!typed_at(v->heap, typed_word(v, 0), typed_type(v)->element, &to))
		return;
	*v = to;
	v->size = typed_type(v)->size;
}

void contents_take(struct typed_contents *c)
{
	if (c->key_indirect)
		follow(&c->key);
	if (c->value_indirect)
		follow(&c->value);
	c->found++;
}

static bool next_in_row(struct typed_contents *c)
{
	const struct types *t = types_of(c->heap);
	if (c->found >= c->size)
		return false;
	uint64_t i = c->found, width = t->type[c->value_type].size;
	if (!width) { /* a number of them is all there is */
		c->value = (struct typed){ c->heap, c->value_type, (const uint8_t *)"", 0, c->first };
		return c->found++ < TYPED_MOST_EMPTY;
	}
	if (c->capacity && c->begin < c->capacity)
		i = (c->begin + i) % c->capacity;
	if (!contents_element(c, &c->row, i, c->first, c->value_type, &c->value)) {
		c->broken = true;
		return false;
	}
	c->value.size = width;
	c->found++;
	return true;
}

bool typed_contents_next(struct typed_contents *c)
{
	if (c->broken)
		return false;
	switch (c->how) {
	case CONTENTS_BUCKETS: return map_next(c);
	case CONTENTS_SWISS: return swiss_next(c);
	default: return next_in_row(c);
	}
}
