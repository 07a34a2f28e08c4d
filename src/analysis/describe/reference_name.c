/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference_name.c - see reference_name.h. */
#include "analysis/describe/reference_name.h"

#include "analysis/search.h"
#include "analysis/describe/typed_text.h"

#include <inttypes.h>

enum { KEY_SHOWN = 40 }; /* characters of a map's key */

void reference_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	*n = (struct reference_names){ .open = false };
	if (typed_held(h)) {
		n->open = typed_open(&n->memory, h, holder);
		return;
	}
	n->open = values_open(&n->holder, h, holder, NULL) == 0;
	n->walk.values = &n->holder;
}

static bool next_field(struct reference_names *n, uint64_t address, struct text *to)
{
	n->walk.values = &n->holder; /* the struct may have been copied */
	while (values_next_field(&n->walk)) {
		if (n->walk.value.type != VALUE_OBJECT || n->walk.value.bits != address)
			continue;
		if (to)
			text_addf(to, "%s%s", n->holder.is_class ? "static " : "", n->walk.field->name);
		return true;
	}
	return false;
}

static bool next_element(struct reference_names *n, uint64_t address, struct text *to)
{
	uint64_t length = values_length(&n->holder);
	while (n->element < length) {
		uint64_t i = n->element++;
		if (values_element(&n->holder, i).bits != address)
			continue;
		if (to)
			text_addf(to, "[%" PRIu64 "]", i);
		return true;
	}
	return false;
}

/* A place in a bucket of a map: named by its key, ["session-7"]; the key itself, key "session-7". */
static bool add_entry(const struct typed_object *o, uint64_t offset, struct text *to)
{
	struct typed bucket, keys, part, key;
	const struct type *t;
	bool is_key;
	if (!o->stride || offset / o->stride >= o->count)
		return false;
	bucket = typed_element(o, offset / o->stride);
	offset %= o->stride;
	if (!typed_field(&bucket, "tophash", &part) || !typed_field(&bucket, "keys", &keys))
		return false;
	is_key = bucket.address + offset - keys.address < typed_type(&keys)->size;
	if (!is_key && !typed_field(&bucket, "values", &part) && !typed_field(&bucket, "elems", &part))
		return false;
	part = is_key ? keys : part;
	t = typed_type(&part);
	uint64_t at = bucket.address + offset - part.address;
	if (t->kind != TYPE_ARRAY || !t->count || !t->size || at >= t->size)
		return false;
	uint64_t place = at / (t->size / t->count);
	const struct type *all = typed_type(&keys);
	if (all->kind != TYPE_ARRAY || !all->count || place >= all->count ||
	    !typed_part(&keys, place * (all->size / all->count), all->element, &key))
		return false;
	text_add(to, is_key ? "key " : "[");
	typed_add(&key, KEY_SHOWN, to);
	text_add(to, is_key ? "" : "]");
	return true;
}

static void name_slot(struct reference_names *n, uint64_t past, struct text *to)
{
	if (!add_entry(&n->memory, n->slots.offset, to))
		typed_path(&n->memory, n->slots.offset, to);
	if (past)
		text_addf(to, "+%" PRIu64, past);
}

/* The next pointer into the target. */
static bool next_slot(struct reference_names *n, uint32_t target, struct text *to)
{
	const struct heap *h = n->memory.value.heap;
	uint64_t start = heap_address(h, target), size = heap_shallow(h, target);
	while (typed_next_slot(&n->memory, &n->slots)) {
		uint64_t at = typed_number(&n->memory.value, n->slots.offset, typed_word_size(h));
		if (at < start || (at - start >= size && at != start))
			continue;
		if (to)
			name_slot(n, at - start, to);
		return true;
	}
	return false;
}

bool reference_names_any(struct reference_names *n, uint32_t *target, struct text *to)
{
	const struct heap *h = n->memory.value.heap;
	if (!n->open || !h)
		return false;
	while (typed_next_slot(&n->memory, &n->slots)) {
		uint64_t at = typed_number(&n->memory.value, n->slots.offset, typed_word_size(h));
		*target = object_around(h, at);
		if (*target == HEAP_NONE)
			continue;
		name_slot(n, at - heap_address(h, *target), to);
		return true;
	}
	return false;
}

bool reference_names_next(struct reference_names *n, uint32_t target, struct text *to)
{
	if (!n->open)
		return false;
	if (n->memory.value.heap)
		return next_slot(n, target, to);
	uint64_t address = heap_address(n->holder.heap, target);
	if (!n->holder.is_class && n->holder.view.kind == OBJECT_ARRAY)
		return next_element(n, address, to);
	return next_field(n, address, to);
}
