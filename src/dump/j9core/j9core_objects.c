/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_objects.c - objects of a region, one after another, and which of their slots are references.
 *
 * After GCObjectHeapIteratorAddressOrderedList and the object models of DDR_VM (vm29/j9/gc), and J9Indexable… of
 * runtime/oti/j9nonbuilder.h.
 */
#include "dump/j9core/j9core_read.h"

#include "algorithms/bisect.h"

enum { HOLE = 1, ONE_SLOT_HOLE = 3, MOVED = 2, HASH_BYTES = 4, LEAST = 16, CHAIN = 32, SEARCH_MOST = 1 << 20 };
#define CLASS_FLAGS UINT64_C(0xff) /* of a class slot: classes are aligned to 256 */

static uint64_t rounded(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

void j9core_walk(struct j9_walk *w, const struct j9core *j, uint64_t from, uint64_t high)
{
	uint32_t range;

	BISECT(range, j->n_ranges, j->range[range].high <= from);
	*w = (struct j9_walk){.image = j, .at = from, .high = high, .range = range};
}

/* The bytes of an address of the walk, at least `n`; NULL: they are not there. */
static inline const uint8_t *bytes_at(struct j9_walk *w, uint64_t address, uint64_t n)
{
	if (address - w->base >= w->n_bytes) {
		w->bytes = core_bytes(w->image->core, address, &w->n_bytes);
		w->base = address;
		w->n_bytes = w->bytes ? w->n_bytes : 0;
	}
	uint64_t at = address - w->base;
	return w->n_bytes >= n && at <= w->n_bytes - n ? w->bytes + at : NULL;
}

/* Length and bytes; false: it cannot be read. */
static bool measure_array(const struct j9core *j, struct j9_object *o, uint64_t *bytes, uint64_t *hash_at)
{
	uint64_t head = j->head;

	if (!core_load(j->core, o->address + j->slot, 4, &o->length))
		return false;
	o->split = o->length == 0;
	if (o->split) {
		head = j->split_head;
		if (!core_load(j->core, o->address + j->slot + 4, 4, &o->length))
			return false;
	}
	uint64_t data = o->length << o->class->shift;
	*bytes = head + rounded(data, j->word);
	*hash_at = rounded(head + data, HASH_BYTES);
	return true;
}

/* False: what is there is no object. */
static bool measure(const struct j9core *j, struct j9_object *o, uint64_t slot)
{
	uint64_t bytes, hash_at;

	o->class = j9core_class(j, slot & ~CLASS_FLAGS);
	o->length = UINT64_MAX;
	o->split = false;
	if (!o->class)
		return false;
	if (!o->class->array) {
		bytes = j->slot + o->class->size;
		hash_at = o->class->hash_at;
	} else if (!measure_array(j, o, &bytes, &hash_at)) {
		return false;
	}
	if (slot & MOVED && hash_at + HASH_BYTES > bytes)
		bytes = hash_at + HASH_BYTES;
	bytes = rounded(bytes, j->alignment);
	o->size = bytes < LEAST ? LEAST : bytes;
	return true;
}

/* Bytes of a hole; 0: damaged. */
static uint64_t hole(const struct j9core *j, uint64_t at, uint64_t slot)
{
	return (slot & ONE_SLOT_HOLE) == ONE_SLOT_HOLE ? j->word : j9_get(j, at, AT_FREE_SIZE);
}

/* Was there an object?  Else it is a step over what is none. */
static bool step(struct j9_walk *w, struct j9_object *out)
{
	const struct j9core *j = w->image;
	const uint8_t *p;
	uint64_t n;

	while (w->range < j->n_ranges && j->range[w->range].high <= w->at)
		w->range++;
	if (w->range < j->n_ranges && j->range[w->range].low <= w->at) {
		w->at = j->range[w->range].high;
		return false;
	}
	if (!(p = bytes_at(w, w->at, j->slot))) {
		n = core_next(j->core, w->at + 1);
		n = rounded(n < w->high ? n : w->high, j->alignment);
		w->n_missing += n - w->at;
		w->at = n;
		return false;
	}
	uint64_t slot = j9_slot(j, p);
	out->address = w->at;
	if (!(slot & HOLE) && measure(j, out, slot) && out->size <= w->high - w->at) {
		out->bytes = bytes_at(w, w->at, out->size);
		w->at += out->size;
		return true;
	}
	n = slot & HOLE ? hole(j, w->at, slot) : 0;
	if (n && n % j->word == 0 && n <= w->high - w->at) {
		w->at += n;
	} else {
		w->n_skipped += j->word;
		w->at += j->word;
	}
	return false;
}

bool j9core_next(struct j9_walk *w, struct j9_object *out)
{
	while (w->at < w->high)
		if (step(w, out))
			return true;
	return false;
}

/* Does a chain of objects or holes begin here that is so long that it is no chance? */
static bool begins_chain(const struct j9core *j, uint64_t at, uint64_t high)
{
	struct j9_walk w;
	struct j9_object o;

	j9core_walk(&w, j, at, high);
	for (unsigned i = 0; i < CHAIN && w.at < high; i++)
		if (!step(&w, &o) && (w.n_skipped || w.n_missing))
			return false;
	return true;
}

uint64_t j9core_object_from(const struct j9core *j, uint64_t from, uint64_t high)
{
	uint64_t at = rounded(from, j->alignment), last = high - at > SEARCH_MOST ? at + SEARCH_MOST : high;

	while (at < last && !begins_chain(j, at, high))
		at += j->alignment;
	return at < last ? at : high;
}

/* --- references -------------------------------------------------------------------------------------------- */

void j9core_slots(struct j9_slots *s, const struct j9core *j, const struct j9_object *o)
{
	const struct j9_class *c = o->class;

	*s = (struct j9_slots){.image = j};
	if (!c->array) {
		s->bits = c->few;
		s->map = c->map;
		s->left = c->n_slots;
	} else if (c->references) {
		s->next = o->split ? j->split_head : j->head;
		s->step = j->slot;
		s->end = s->next + (o->split ? 0 : o->length * j->slot);
	}
}

bool j9core_next_slot(struct j9_slots *s, uint64_t *offset)
{
	const struct j9core *j = s->image;
	uint64_t wide = 8 * j->word;

	if (s->step) {
		*offset = s->next;
		s->next += s->step;
		return *offset < s->end;
	}
	while (!s->bits) {
		if (!s->map || s->base + wide >= s->left)
			return false;
		s->base += wide;
		s->map += j->word;
		s->bits = core_number(j->core, s->map, j->word);
	}
	uint64_t i = s->base + (uint64_t)__builtin_ctzll(s->bits);
	s->bits &= s->bits - 1;
	*offset = j->slot + i * j->slot;
	return i < s->left;
}

uint64_t j9core_reference(const struct j9core *j, uint64_t address)
{
	uint64_t token = 0;

	core_load(j->core, address, j->slot, &token);
	return token << j->shift;
}

uint64_t j9core_reference_of(const struct j9core *j, const struct j9_object *o, uint64_t offset)
{
	return o->bytes && offset + j->slot <= o->size ? j9_slot(j, o->bytes + offset) << j->shift :
	    j9core_reference(j, o->address + offset);
}
