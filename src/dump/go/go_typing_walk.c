/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_walk.c - follow the pointers inside of a value and claim what they lead to.
 */
#include "dump/go/go_typing.h"

#include "algorithms/bisect.h"
#include "dump/go/go_dump.h"

#include <string.h>

enum { MOST_NEST = TYPE_DEPTH };

uint64_t typing_word(const struct typing *t, const uint8_t *at)
{
	uint64_t wide;
	uint32_t narrow;

	if (t->word == 8) {
		memcpy(&wide, at, 8);
		return t->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? wide : __builtin_bswap64(wide);
	}
	memcpy(&narrow, at, 4);
	return t->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? narrow : __builtin_bswap32(narrow);
}

uint64_t typing_itab(const struct typing *t, uint64_t itab)
{
	size_t at;

	/* most words that are asked about are far from any */
	if (!t->n_itabs || itab < t->itab[0] || itab > t->itab[2 * (t->n_itabs - 1)])
		return 0;
	BISECT(at, t->n_itabs, t->itab[2 * at] < itab);
	return at < t->n_itabs && t->itab[2 * at] == itab ? t->itab[2 * at + 1] : 0;
}

void typing_interface(struct typing *t, uint64_t descriptor, uint64_t data, enum typed_by by)
{
	uint32_t element = TYPE_NONE, type = data ? typing_described(t, descriptor, &element) : TYPE_NONE;

	if (element != TYPE_NONE)
		typing_claim_slice(t, data, element, by);
	if (type == TYPE_NONE)
		return;
	if (types_is_direct(t->go.types, type)) {
		uint8_t word[8];
		struct memory m = {.bytes = word, .size = t->word, .variable = t->statics.from};
		if (m.variable)
			m.address = m.variable->address + t->statics.from_offset;
		for (unsigned i = 0; i < t->word; i++)
			word[i] = (uint8_t)(data >> 8 * (t->big_endian ? t->word - 1 - i : i));
		typing_walk(t, &m, 0, type, 1, by);
	} else {
		typing_claim(t, data, type, by);
	}
}

/* The word at an offset of the memory, 0 outside. */
static uint64_t word_at(const struct typing *t, const struct memory *m, uint64_t offset)
{
	return m->size >= t->word && offset <= m->size - t->word ? typing_word(t, m->bytes + offset) : 0;
}

static uint64_t power_of_two(const struct memory *m, uint64_t at, unsigned less)
{
	unsigned b = at < m->size ? m->bytes[at] : 0;

	b = b > less ? b - less : 0;
	return b < 48 ? UINT64_C(1) << b : 0;
}

/* Tables of a map of 1.24 and later: pointers to each, or the only group itself. */
static void walk_directory(struct typing *t, const struct slot *s, uint64_t pointer, uint64_t n,
    enum typed_by by)
{
	if (n)
		typing_claim_array(t, pointer, s->type, n, by);
	else
		typing_claim(t, pointer, s->other, by);
}

/* The word in a field of a sudog; 0: there is no such field. */
static uint64_t field_word(const struct typing *t, const struct memory *m, uint32_t type, const char *name)
{
	uint32_t f = types_field(t->go.types, type, name);

	return f == UINT32_MAX ? 0 : word_at(t, m, t->go.types->field[f].offset);
}

/* Goroutines that wait to send: what each sends lies on its stack, or in an object.  Lists may run in
 * circles, and be reached more than once. */
static void walk_senders(struct typing *t, const struct slot *s, uint64_t sudog, enum typed_by by)
{
	for (; sudog && t->n_senders < t->c->n_objects; t->n_senders++) {
		struct memory m = {0}, value = {0};
		uint64_t start;
		uint32_t id = sudog >= t->low && sudog < t->high ? t->c->object_at(t->c, sudog, &start) : UINT32_MAX;
		if (id == UINT32_MAX || start != sudog)
			return;
		typing_claim(t, sudog, s->type, by);
		m.bytes = t->c->bytes(t->c, id, NULL, &m.size);
		if (!m.bytes)
			return;
		uint64_t elem = field_word(t, &m, s->type, "elem");
		if (elem)
			typing_claim(t, elem, s->other, by);
		value.bytes = elem && t->dump && (elem < t->low || elem >= t->high ||
		    t->c->object_at(t->c, elem, &start) == UINT32_MAX) ? go_memory(t->dump, elem, &value.size) : NULL;
		if (value.bytes)
			typing_walk(t, &value, 0, s->other, 1, by);
		sudog = field_word(t, &m, s->type, "next");
	}
}

/* What the pointer of the slot at `at` leads to. */
static void walk_pointer(struct typing *t, const struct memory *m, uint64_t at, const struct slot *s,
    uint64_t pointer, enum typed_by by)
{
	uint64_t aside = at + (uint64_t)s->aside;

	t->statics.from = m->variable;
	t->statics.from_offset = m->variable ? m->address + at - m->variable->address : 0;
	switch (s->kind) {
	case SLOT_POINTER:
		typing_claim(t, pointer, s->type, by);
		break;
	case SLOT_STRING:
		typing_claim_array(t, pointer, s->type, word_at(t, m, at + t->word), by);
		break;
	case SLOT_SLICE:
		typing_claim_array(t, pointer, s->type, word_at(t, m, at + 2 * t->word), by);
		break;
	case SLOT_INTERFACE:
		typing_interface(t, typing_itab(t, word_at(t, m, at)), pointer, TYPED_BY_INTERFACE);
		break;
	case SLOT_EMPTY:
		typing_interface(t, word_at(t, m, at), pointer, TYPED_BY_INTERFACE);
		break;
	case SLOT_FUNC:
		typing_claim_closure(t, pointer, by);
		break;
	case SLOT_COUNTED:
		typing_claim_array(t, pointer, s->type, word_at(t, m, aside), by);
		break;
	case SLOT_BUCKETS: case SLOT_OLD_BUCKETS:
		typing_claim_array(t, pointer, s->type,
		    power_of_two(m, aside, s->kind == SLOT_OLD_BUCKETS), by);
		break;
	case SLOT_SENDERS:
		walk_senders(t, s, pointer, by);
		break;
	case SLOT_OVERFLOW:
		typing_claim_array(t, pointer, s->type, 1, by);
		break;
	case SLOT_MASKED:
		typing_claim_array(t, pointer, s->type, word_at(t, m, aside) + 1, by);
		break;
	case SLOT_DIRECTORY:
		walk_directory(t, s, pointer, word_at(t, m, aside), by);
		break;
	case SLOT_NEST: case SLOT_BLIND:
		break;
	}
}

static void walk_slot(struct typing *t, const struct memory *m, uint64_t at, const struct slot *s,
    enum typed_by by)
{
	bool second = s->kind == SLOT_INTERFACE || s->kind == SLOT_EMPTY; /* the word with the pointer */
	uint64_t data = second ? at + t->word : at;
	uint64_t pointer = m->live && !m->live(m, data) ? 0 : word_at(t, m, data);

	if (pointer)
		walk_pointer(t, m, at, s, pointer, by);
}

/* One value and those nested in it; no deeper than types are. */
static void walk_value(struct typing *t, const struct memory *m, uint64_t offset, uint32_t type,
    unsigned depth, enum typed_by by)
{
	const struct type_facts *g = &t->go.of[type];
	const struct slot *s = t->go.slot + g->first_slot;

	for (const struct slot *end = s + g->n_slots; s < end; s++) {
		uint64_t at = offset + s->offset;
		for (uint64_t k = 0; k < s->count; k++, at += s->stride) {
			if (s->kind != SLOT_NEST)
				walk_slot(t, m, at, s, by);
			else if (depth < MOST_NEST)
				walk_value(t, m, at, s->type, depth + 1, by);
		}
	}
}

void typing_walk(struct typing *t, const struct memory *m, uint64_t offset, uint32_t type, uint64_t n,
    enum typed_by by)
{
	uint64_t size = t->go.types->type[type].size;

	if (!t->go.of[type].n_slots || !size || offset > m->size)
		return;
	if (n > (m->size - offset) / size)
		n = (m->size - offset) / size;
	for (uint64_t i = 0; i < n; i++, offset += size)
		walk_value(t, m, offset, type, 0, by);
	t->statics.from = NULL;
}
