/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_objects.c - objects of a region, one after another, and which of their slots are references.
 *
 * After GCObjectHeapIteratorAddressOrderedList and the object models of DDR_VM (vm29/j9/gc), and J9Indexable… of
 * runtime/oti/j9nonbuilder.h.
 */
#include "dump/j9core/j9core_read.h"

#include "algorithms/bisect.h"

enum { HOLE = 1, ONE_SLOT_HOLE = 3, MOVED = 2, HASH_BYTES = 4, LEAST = 16 };
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

/* Length and where elements begin; false: it cannot be read. */
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

bool j9core_next(struct j9_walk *w, struct j9_object *out)
{
	const struct j9core *j = w->image;
	uint64_t slot, n;

	while (w->at < w->high) {
		while (w->range < j->n_ranges && j->range[w->range].high <= w->at)
			w->range++;
		if (w->range < j->n_ranges && j->range[w->range].low <= w->at) {
			w->at = j->range[w->range].high;
			continue;
		}
		if (!core_load(j->core, w->at, j->slot, &slot)) {
			w->n_skipped += w->high - w->at;
			w->at = w->high;
			return false;
		}
		out->address = w->at;
		if (!(slot & HOLE) && measure(j, out, slot) && out->size <= w->high - w->at) {
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
	}
	return false;
}

/* --- references -------------------------------------------------------------------------------------------- */

void j9core_slots(struct j9_slots *s, const struct j9core *j, const struct j9_object *o)
{
	uint64_t shape = o->class->flags >> 16 & 0xe;

	*s = (struct j9_slots){.image = j};
	if (o->class->array) {
		if (shape != 12) /* OBJECT_HEADER_SHAPE_POINTERS */
			return;
		s->next = o->split ? j->split_head : j->head;
		s->step = j->slot;
		s->end = s->next + (o->split ? 0 : o->length * j->slot);
		return;
	}
	s->left = o->class->size / j->slot;
	if (o->class->slots & 1)
		s->bits = o->class->slots >> 1;
	else
		s->words = o->class->slots;
	if (o->class->slots & 1)
		s->base = 0, s->left = s->left < 63 ? s->left : 63;
	else
		core_load(j->core, s->words, j->word, &s->bits);
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
		if (!s->words || s->base + wide >= s->left)
			return false;
		s->base += wide;
		s->words += j->word;
		core_load(j->core, s->words, j->word, &s->bits);
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
