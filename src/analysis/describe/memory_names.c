/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_names.c - tells by which part of its memory an object holds another, and what all parts of
 * one name hold.
 */
#include "analysis/describe/memory.h"

#include "analysis/search.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/classes.h"

#include <inttypes.h>
#include <string.h>

enum { KEY_SHOWN = 40 }; /* characters of a map's key */

static _Thread_local bool keys_hidden;

bool inspect_hide_keys(bool hidden)
{
	bool before = keys_hidden;
	keys_hidden = hidden;
	return before;
}

void memory_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	n->open = typed_open(&n->memory.holder, h, holder);
}

/* An element of an array within a bucket, by the offset of some byte of it in the bucket. */
static bool element_at(const struct typed *array, const struct typed *bucket, uint64_t offset, uint64_t *place,
    struct typed *element)
{
	const struct type *t = typed_type(array);
	uint64_t at = bucket->address + offset - array->address;
	if (t->kind != TYPE_ARRAY || !t->count || !t->size || at >= t->size)
		return false;
	*place = at / (t->size / t->count);
	return typed_part(array, *place * (t->size / t->count), t->element, element);
}

/* All keys before all values: before Go 1.24, and with GOEXPERIMENT=mapsplitgroup. */
static bool key_in_arrays(const struct typed *bucket, uint64_t offset, struct typed *key, bool *is_key)
{
	struct typed keys, values, value;
	uint64_t place;
	if (!typed_field(bucket, "keys", &keys))
		return false;
	*is_key = element_at(&keys, bucket, offset, &place, key);
	if (*is_key)
		return true;
	if ((!typed_field(bucket, "values", &values) && !typed_field(bucket, "elems", &values)) ||
	    !element_at(&values, bucket, offset, &place, &value))
		return false;
	const struct type *t = typed_type(&keys);
	return t->kind == TYPE_ARRAY && place < t->count &&
	    typed_part(&keys, place * (t->size / t->count), t->element, key);
}

/* A slot has both: since Go 1.24 (internal/runtime/maps/group.go). */
static bool key_in_slots(const struct typed *bucket, uint64_t offset, struct typed *key, bool *is_key)
{
	struct typed slots, slot;
	uint64_t place;
	if (!typed_field(bucket, "slots", &slots) || !element_at(&slots, bucket, offset, &place, &slot) ||
	    !typed_field(&slot, "key", key))
		return false;
	*is_key = bucket->address + offset - key->address < typed_type(key)->size;
	return true;
}

/* A place in a bucket of a map: named by its key, ["session-7"]; the key itself, key "session-7". */
bool memory_add_entry(const struct typed_object *o, uint64_t offset, struct text *to)
{
	struct typed bucket, control, key;
	bool is_key = false;
	if (keys_hidden || !o->stride || offset / o->stride >= o->count)
		return false;
	bucket = typed_element(o, offset / o->stride);
	offset %= o->stride;
	if (!typed_field(&bucket, "tophash", &control) && !typed_field(&bucket, "ctrl", &control))
		return false;
	if (!key_in_slots(&bucket, offset, &key, &is_key) && !key_in_arrays(&bucket, offset, &key, &is_key))
		return false;
	text_add(to, is_key ? "key " : "[");
	typed_add(&key, KEY_SHOWN, to);
	text_add(to, is_key ? "" : "]");
	return true;
}

/* The next pointer, its place in the holder, and where it leads. */
static bool next_pointer(struct reference_names *n, uint64_t *place, uint64_t *at)
{
	const struct typed *holder = &n->memory.holder.value;
	if (!typed_next_slot(&n->memory.holder, &n->memory.slots))
		return false;
	*place = n->memory.slots.offset;
	*at = typed_number(holder, *place, typed_word_size(holder->heap));
	return true;
}

/* A place is an offset in the holder, in bytes. */
void memory_name_at(struct reference_names *n, uint64_t place, uint32_t target, struct text *to)
{
	const struct typed_object *holder = &n->memory.holder;
	const struct heap *h = holder->value.heap;
	uint64_t past = typed_number(&holder->value, place, typed_word_size(h)) - heap_address(h, target);
	uint64_t head = past ? heap_head(h, target) : 0;
	past -= past >= head ? head : 0;
	if (!memory_add_entry(holder, place, to))
		typed_path(holder, place, to);
	if (past)
		text_addf(to, "+%" PRIu64, past);
}

/* The next pointer into the target. */
bool memory_names_next(struct reference_names *n, uint32_t target, struct text *to)
{
	const struct heap *h = n->memory.holder.value.heap;
	uint64_t start = heap_address(h, target), size = heap_shallow(h, target), place, at;
	while (next_pointer(n, &place, &at)) {
		if (at < start || (at - start >= size && at != start))
			continue;
		if (to)
			memory_name_at(n, place, target, to);
		return true;
	}
	return false;
}

bool memory_names_any(struct reference_names *n, uint32_t *target, uint64_t *place)
{
	uint64_t at;
	while (next_pointer(n, place, &at)) {
		*target = object_around(n->memory.holder.value.heap, at);
		if (*target != HEAP_NONE)
			return true;
	}
	return false;
}

/* Is this how a reference is called?  Where the pointer leads into its target, "+16" follows. */
static bool is_called(const char *name, const char *field)
{
	size_t n = strlen(field);
	return !strncmp(name, field, n) &&
	    (!name[n] || (name[n] == '+' && strspn(name + n + 1, "0123456789") == strlen(name + n + 1)));
}

int memory_named_of_object(
    struct named_references *n, const struct heap *h, uint32_t holder, struct err *err)
{
	struct reference_names names;
	struct text name = TEXT_INIT;
	uint32_t target;
	uint64_t place;
	int code = 0;
	reference_names_begin(&names, h, holder);
	while (!code && names.open && memory_names_any(&names, &target, &place)) {
		memory_name_at(&names, place, target, &name);
		if (is_called(name.s, n->field)) {
			n->found = true;
			code = n->take(n->context, holder, target, err);
		}
		text_clear(&name);
	}
	text_release(&name);
	return code;
}

/* Has the class's type such a field, which can lead to an object? */
static bool may_hold(const struct heap *h, uint32_t class, const char *field)
{
	const struct types *t = h->dump ? h->dump->types : NULL;
	uint32_t type = h->classes[class].type;
	uint32_t f = t && type < t->n ? types_field(t, type, field) : UINT32_MAX;
	switch (f == UINT32_MAX ? TYPE_UNKNOWN : t->type[t->field[f].type].kind) {
	case TYPE_POINTER: case TYPE_STRING: case TYPE_SLICE: case TYPE_INTERFACE: case TYPE_EMPTY_INTERFACE:
	case TYPE_MAP: case TYPE_CHAN: case TYPE_FUNC:
		return true;
	default:
		return false;
	}
}

int memory_named_of_class(
    struct named_references *n, const struct heap *h, uint32_t class, struct err *err)
{
	int code = 0;
	n->found = may_hold(h, class, n->field);
	for (uint32_t id = 0; !code && id < h->n_objects; id++)
		if (heap_class_index(h, id) == class)
			code = memory_named_of_object(n, h, id, err);
	return code;
}
