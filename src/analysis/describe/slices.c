/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slices.c - see slices.h. */
#include "analysis/describe/slices.h"

#include "analysis/describe/memory.h"

#include <inttypes.h>

enum { MOST_HOLDERS = 64, SMALL_BLOCK = 16, MOST_VALUE = 60 };

/* Does it mean a part of this object and no more? */
static bool fits(const struct typed *v, const struct heap *h, uint32_t id, uint64_t *begin)
{
	const struct type *t = typed_type(v);
	uint64_t head = heap_head(h, id), start = heap_address(h, id) + head, size = heap_shallow(h, id) - head;
	uint64_t bytes = typed_word(v, 1), room;
	*begin = typed_word(v, 0) - start;
	if (*begin >= size)
		return false;
	if (t->kind == TYPE_POINTER && size == SMALL_BLOCK && t->element != TYPE_NONE)
		return h->dump->types->type[t->element].size < size &&
		    h->dump->types->type[t->element].size <= size - *begin;
	if (t->kind == TYPE_STRING)
		return bytes <= size - *begin;
	if (t->kind != TYPE_SLICE || t->element == TYPE_NONE)
		return false;
	room = typed_word(v, 2);
	return bytes <= room &&
	    !__builtin_mul_overflow(room, h->dump->types->type[t->element].size, &bytes) &&
	    bytes <= size - *begin;
}

static void take(struct slices *s, const struct typed *v, const struct heap *h, uint32_t id,
    uint32_t holder)
{
	uint64_t begin;
	if (v && s->n < SLICES_KNOWN && fits(v, h, id, &begin))
		s->known[s->n++] = (struct slice_known){*v, holder, begin};
	else
		s->others = true;
}

/* Every word of one object that leads into another. */
static void take_from(struct slices *s, const struct heap *h, uint32_t holder, uint32_t id)
{
	uint64_t start = heap_address(h, id), size = heap_shallow(h, id);
	struct typed_object o;
	struct slot_walk w = {0};
	if (!typed_open(&o, h, holder)) {
		s->others = true;
		return;
	}
	while (!(s->others && s->n == SLICES_KNOWN) && typed_next_slot(&o, &w)) {
		struct typed value, part;
		if (typed_number(&o.value, w.offset, typed_word_size(h)) - start >= size)
			continue;
		bool typed = o.stride && w.offset / o.stride < o.count;
		if (typed)
			value = typed_element(&o, w.offset / o.stride);
		typed = typed && typed_inner(&value, w.offset % o.stride, &part);
		take(s, typed ? &part : NULL, h, id, holder);
	}
}

void slices_of(struct slices *out, const struct heap *h, uint32_t id)
{
	size_t first, n;
	*out = (struct slices){.n = 0};
	if (!h->dump->types || h->no_references)
		return;
	n = heap_roots_of(h, id, &first);
	for (size_t i = first; i < first + n; i++) {
		struct typed v;
		take(out, typed_variable(h, h->roots[i].slot, &v) ? &v : NULL, h, id, HEAP_NONE);
	}
	uint64_t end = adjacency_start(&h->in, id + 1);
	uint32_t before = HEAP_NONE;
	unsigned holders = 0;
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
		uint32_t holder = h->in.target[k];
		if (holder == before)
			continue;
		before = holder;
		if (holders++ == MOST_HOLDERS) {
			out->others = true;
			return;
		}
		take_from(out, h, holder, id);
	}
}

static void add_holder(const struct slice_known *k, const struct heap *h, struct text *to)
{
	struct typed_object o;
	if (k->holder == HEAP_NONE) {
		heap_symbol(h, k->value.address, to);
		return;
	}
	text_addf(to, "0x%" PRIx64 " ", heap_address(h, k->holder));
	if (typed_open(&o, h, k->holder))
		typed_path(&o, k->value.address - o.value.address, to);
}

/* What one of several values in a block is: "int64 4242", and the text of a string. */
static void add_value(const struct slice_known *k, const struct heap *h, struct text *to)
{
	const struct type *t = typed_type(&k->value);
	struct typed value;
	if (t->kind == TYPE_POINTER) {
		text_addf(to, "%s ", typed_type_name(h, t->element));
		if (typed_at(h, typed_word(&k->value, 0), t->element, &value))
			typed_add(&value, MOST_VALUE, to);
		return;
	}
	text_addf(to, "len %" PRIu64, typed_word(&k->value, 1));
	if (t->kind == TYPE_SLICE)
		text_addf(to, " cap %" PRIu64, typed_word(&k->value, 2));
}

void slices_add(const struct slices *s, const struct heap *h, struct text *to)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct slice_known *k = &s->known[i];
		text_add(to, i ? "; " : "");
		add_value(k, h, to);
		if (k->begin)
			text_addf(to, " at +%" PRIu64, k->begin);
		text_add(to, " of ");
		add_holder(k, h, to);
	}
	if (s->n && s->others)
		text_add(to, "; and others");
}
