/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_objects.c - objects of a region, one after another, and which of their slots are references.
 *
 * After GCObjectHeapIteratorAddressOrderedList and the object models of DDR_VM (vm29/j9/gc), and J9Indexable… of
 * runtime/oti/j9nonbuilder.h.
 */
#include "dump/j9core/j9core_read.h"

#include "algorithms/bisect.h"

enum { HOLE = 1, ONE_SLOT_HOLE = 3, HASH_BYTES = 4, CHAIN = 32, SEARCH_MOST = 1 << 20 };

void j9core_walk(struct j9_walk *w, const struct j9core *j, const struct j9_region *region, uint64_t from)
{
	uint32_t range;

	BISECT(range, j->n_ranges, j->range[range].high <= from);
	*w = (struct j9_walk){.image = j, .region = region, .at = from, .high = region->high, .end = region->high,
	    .range = range};
}

/* A few classes have most objects. */
static inline const struct j9_class *class_of(struct j9_walk *w, uint64_t address)
{
	const struct j9_class **recent = &w->recent[address / J9_CLASS_ALIGNMENT % J9_RECENT];

	if (!*recent || (*recent)->address != address)
		*recent = j9core_class(w->image, address);
	return *recent;
}

void j9_settle_size(const struct j9core *j, struct j9_class *c)
{
	uint64_t bytes = j->slot + c->size, grown = c->hash_at + HASH_BYTES;

	bytes = j9_rounded(bytes < J9_LEAST ? J9_LEAST : bytes, j->alignment);
	c->whole = bytes;
	c->grown = grown > bytes ? j9_rounded(grown, j->alignment) : bytes;
}

/* The object at `at`, of whose bytes o->bytes are there.  False: what is there is no object. */
static inline bool measure(struct j9_walk *w, struct j9_object *o, uint64_t slot)
{
	const struct j9core *j = w->image;
	uint64_t hash_at;

	o->class = class_of(w, slot & ~J9_CLASS_FLAGS);
	if (!o->class)
		return false;
	o->flags = slot & J9_CLASS_FLAGS;
	o->elsewhere = 0;
	if (!o->class->array) {
		o->length = UINT64_MAX;
		o->form = J9_BEHIND_HEAD;
		o->size = slot & J9_MOVED ? o->class->grown : o->class->whole;
		return true;
	}
	if (!j9_measure_array(j, o, &o->size, &hash_at))
		return false;
	if (slot & J9_MOVED && hash_at + HASH_BYTES > o->size)
		o->size = hash_at + HASH_BYTES;
	o->size = j9_rounded(o->size < J9_LEAST ? J9_LEAST : o->size, j->alignment);
	return true;
}

/* Bytes of a hole; 0: damaged. */
static uint64_t hole(const struct j9core *j, uint64_t at, uint64_t slot)
{
	return (slot & ONE_SLOT_HOLE) == ONE_SLOT_HOLE ? j->word : j9_get(j, at, AT_FREE_SIZE);
}

/* The next marked object, or the end of the walk. */
static uint64_t next_marked(const struct j9_walk *w)
{
	const struct j9core *j = w->image;
	uint64_t first = (w->at - j->marks_base + j->marks_step - 1) / j->marks_step, wide = 8 * j->word, word;

	if (w->at < j->marks_base)
		return w->high;
	for (uint64_t i = first / wide; j->marks_base + i * wide * j->marks_step < w->high; i++) {
		if (!core_load(j->core, j->marks + i * j->word, j->word, &word))
			return w->high;
		if (i == first / wide)
			word &= UINT64_MAX << first % wide;
		if (word) {
			uint64_t at = j->marks_base + (i * wide + (uint64_t)__builtin_ctzll(word)) * j->marks_step;
			return at >= w->at && at < w->high ? at : w->high;
		}
	}
	return w->high;
}

/* Behind an object, or what was none. */
static void advance(struct j9_walk *w, uint64_t n)
{
	uint64_t cell = w->region->cell;

	if (cell)
		n = (n + cell - 1) / cell * cell;
	w->at = n < w->high - w->at ? w->at + n : w->high;
}

/* Find the bytes from where the walk is to the next range without objects; false: there are none, and it goes on behind
 * them. */
static bool find_bytes(struct j9_walk *w)
{
	const struct j9core *j = w->image;
	uint64_t n;

	while (w->range < j->n_ranges && j->range[w->range].high <= w->at)
		w->range++;
	w->clear = w->range < j->n_ranges && j->range[w->range].low < w->high ? j->range[w->range].low : w->high;
	if (w->clear <= w->at) {
		w->at = w->clear = j->range[w->range].high;
		return false;
	}
	w->bytes = core_bytes(j->core, w->at, &n);
	w->base = w->at;
	w->there = w->bytes ? w->at + n : w->at;
	if (w->bytes && n >= j->slot)
		return true;
	n = core_next(j->core, w->at + 1);
	n = j9_rounded(n < w->high ? n : w->high, j->alignment);
	w->n_missing += n - w->at;
	w->at = w->clear = n;
	return false;
}

/* Was there an object?  Else it is a step over what is none. */
static inline bool step(struct j9_walk *w, struct j9_object *out)
{
	const struct j9core *j = w->image;
	uint64_t n;

	if ((w->at >= w->clear || w->at > w->there || w->there - w->at < j->slot) && !find_bytes(w))
		return false;
	out->address = w->at;
	out->bytes = w->bytes + (w->at - w->base);
	out->n_bytes = w->there - w->at;
	uint64_t slot = j9_slot(j, out->bytes);
	if (!(slot & HOLE) && measure(w, out, slot) && out->size <= w->high - w->at) {
		advance(w, out->size);
		return !(out->class->flags & j->dying); /* its class was unloaded: nothing uses it any more */
	}
	n = slot & HOLE ? hole(j, w->at, slot) : 0;
	if (!n || n % j->word || n > w->high - w->at) {
		n = w->region->cell ? w->region->cell : j->word;
		w->n_skipped += n;
	}
	advance(w, n);
	return false;
}

bool j9core_next(struct j9_walk *w, struct j9_object *out)
{
	for (;;) {
		if (w->region->marked)
			w->at = next_marked(w);
		if (w->at >= w->end)
			return false;
		if (step(w, out) && (out->class != w->image->hub || !j9_is_class_object(w->image, out->address)))
			return true;
	}
}

bool j9core_class_object(const struct j9core *j, uint64_t address, struct j9_object *out)
{
	*out = (struct j9_object){.address = address, .class = j->hub, .length = UINT64_MAX};
	out->bytes = core_bytes(j->core, address, &out->n_bytes);
	if (!j->hub || out->n_bytes < j->slot)
		return false;
	out->flags = j9_slot(j, out->bytes) & J9_CLASS_FLAGS;
	out->size = out->flags & J9_MOVED ? j->hub->grown : j->hub->whole;
	return true;
}

/* Does a chain of objects or holes begin here that is so long that it is no chance? */
static bool begins_chain(const struct j9core *j, const struct j9_region *region, uint64_t at)
{
	struct j9_walk w;
	struct j9_object o;

	j9core_walk(&w, j, region, at);
	for (unsigned i = 0; i < CHAIN && w.at < w.high; i++)
		if (!step(&w, &o) && (w.n_skipped || w.n_missing))
			return false;
	return true;
}

uint64_t j9core_object_from(const struct j9core *j, const struct j9_region *region, uint64_t from)
{
	uint64_t step = region->cell ? region->cell : j->alignment;
	uint64_t at = region->low + (from - region->low + step - 1) / step * step;
	uint64_t last = region->high - from > SEARCH_MOST ? from + SEARCH_MOST : region->high;
	struct j9_walk w;

	j9core_walk(&w, j, region, from);
	if (region->marked)
		return next_marked(&w);
	while (at < last && !begins_chain(j, region, at))
		at += step;
	return at < last ? at : region->high;
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
		s->array = o;
	}
}

/* The next piece of an array's elements that the core has, or an empty one; false: there is none.  A length may be any
 * number: what the core does not have is stepped over at once. */
static bool next_piece(struct j9_slots *s)
{
	const struct j9core *j = s->image;
	uint64_t n, at = j9core_elements(j, s->array, s->from, &n), here = 0;

	if (!n)
		return false;
	bool there = at && core_bytes(j->core, at, &here) && here >= j->slot;
	uint64_t next = there || !at ? UINT64_MAX : core_next(j->core, at + j->slot);
	uint64_t step = there ? here - here % j->slot : next == UINT64_MAX ? n : j9_rounded(next - at, j->slot);
	n = step < n ? step : n;
	s->from += n;
	s->next = at - s->array->address;
	s->end = there ? s->next + n : s->next;
	return true;
}

static inline bool next_slot(struct j9_slots *s, uint64_t *offset)
{
	const struct j9core *j = s->image;
	uint64_t wide = 8 * j->word;

	if (s->array) {
		while (s->next == s->end)
			if (!next_piece(s))
				return false;
		*offset = s->next;
		s->next += j->slot;
		return true;
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

bool j9core_next_slot(struct j9_slots *s, uint64_t *offset)
{
	return next_slot(s, offset);
}

uint64_t j9core_reference(const struct j9core *j, uint64_t address)
{
	uint64_t token = 0;

	core_load(j->core, address, j->slot, &token);
	return token << j->shift;
}

uint32_t j9core_take(struct j9_slots *s, const struct j9_object *o, uint64_t *to, uint32_t room)
{
	const struct j9core *j = s->image;
	uint64_t offset;
	uint32_t n = 0;

	while (n < room && next_slot(s, &offset)) {
		bool here = offset < o->n_bytes && o->n_bytes - offset >= j->slot;
		to[n] = here ? j9_slot(j, o->bytes + offset) << j->shift : j9core_reference(j, o->address + offset);
		n += to[n] != 0;
	}
	return n;
}

/* Nearly all objects are in one piece, and have few slots or are arrays whose elements follow the head. */
static inline bool is_in_one_piece(const struct j9_object *o)
{
	return o->size <= o->n_bytes && o->form == J9_BEHIND_HEAD && !o->class->map;
}

/* Of the reference at p, unless it is null: counted, and its target where `to` is not NULL. */
static inline void take_at(const struct j9core *j, const uint8_t *p, uint64_t *to, uint64_t *n)
{
	uint64_t token = j9_slot(j, p);

	if (to)
		to[*n] = token << j->shift;
	*n += token != 0;
}

/* Of an object in one piece. */
static inline uint64_t take_piece(const struct j9core *j, const struct j9_object *o, uint64_t *to)
{
	const uint8_t *p = o->bytes + (o->class->array ? j->head : j->slot);
	uint64_t n = 0;

	if (o->class->array) {
		for (const uint8_t *end = p + o->length * j->slot; p < end; p += j->slot)
			take_at(j, p, to, &n);
		return n;
	}
	for (uint64_t bits = o->class->few; bits; bits &= bits - 1)
		take_at(j, p + (unsigned)__builtin_ctzll(bits) * j->slot, to, &n);
	return n;
}

bool j9core_references(const struct j9core *j, const struct j9_object *o, uint64_t to[J9_GATHERED], uint64_t *n)
{
	struct j9_slots s;
	uint64_t some[J9_GATHERED];
	uint32_t more;

	*n = 0;
	if (o->class->array && !o->class->references)
		return true;
	if (is_in_one_piece(o)) {
		bool few = !o->class->array || o->length <= J9_GATHERED;
		*n = few && to ? take_piece(j, o, to) : take_piece(j, o, NULL);
		return few;
	}
	for (j9core_slots(&s, j, o); (more = j9core_take(&s, o, some, J9_GATHERED));)
		*n += more;
	return false;
}
