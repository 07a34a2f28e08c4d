/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_words.c - does a type fit the pointer words of an object?
 *
 * Behind the contents of an object the dump lists which of its words are pointers, as the allocator
 * knew them from the type.  If a word on the list is no pointer in a value of some type, or lies behind
 * such a value, the object is no such value, but may begin with one.  The same follows if a pointer
 * of the type is not on the list.
 *
 * Two kinds of pointers are never on the list: fields of the runtime's own types that point to
 * memory which is not collected, and the first word of an interface (cmd/compile: reflectdata,
 * dgcptrmask).
 */
#include "dump/go/go_typing.h"

#include "dump/reader.h"
#include "dump/types.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 1 << 16, MOST_WORDS_IN_ALL = 1 << 25, LONGEST_KNOWN = 24 };

/* Two bits for each word of a value: may it be a pointer, must it be one? */
struct word_mask {
	uint64_t n_must;
	uint64_t words;
	uint8_t n_known, known[LONGEST_KNOWN]; /* the list or the bits of an object that was such a value; 0: none yet */
	uint64_t known_size;        /* of that object */
	uint64_t bits[];
};

static void set_bit(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool get_bit(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void mark(struct word_mask *m, uint64_t word, bool must)
{
	if (word >= m->words)
		return;
	set_bit(m->bits, 2 * word);
	if (must && !get_bit(m->bits, 2 * word + 1)) {
		set_bit(m->bits, 2 * word + 1);
		m->n_must++;
	}
}

/* Types are nested no deeper than TYPE_DEPTH. */
static void mark_value(const struct typing *t, struct word_mask *m, uint64_t offset, uint32_t type,
    bool must)
{
	const struct types *types = t->go.types;
	const struct type *of = &types->type[type];
	uint64_t word = offset / t->word;

	/* where nothing else in a bucket is a pointer, what overflows is held by another list */
	bool bucket = of->kind == TYPE_STRUCT && !strncmp(of->name, "bucket<", 7);
	switch (of->kind) {
	case TYPE_STRING: case TYPE_POINTER: case TYPE_SLICE: case TYPE_MAP: case TYPE_CHAN:
	case TYPE_FUNC:
		mark(m, word, must);
		break;
	case TYPE_INTERFACE: case TYPE_EMPTY_INTERFACE:
		mark(m, word, false);
		mark(m, word + 1, must);
		break;
	case TYPE_ARRAY:
		if (!types->type[of->element].size)
			break;
		if (t->go.of[of->element].pointers)
			for (uint64_t i = 0; i < of->count; i++)
				mark_value(t, m, offset + i * types->type[of->element].size, of->element, must);
		break;
	case TYPE_STRUCT:
		must = must && strncmp(of->name, "runtime.", 8) != 0;
		for (uint32_t i = 0; i < of->n_fields; i++) {
			const struct type_field *f = &types_fields(types, of)[i];
			mark_value(t, m, offset + f->offset, f->type,
			    must && !(bucket && !strcmp(f->name, "overflow")));
		}
		break;
	default:
		break;
	}
}

/* NULL: the type is too large to tell, or memory is refused. */
static struct word_mask *mask_of(struct typing *t, uint32_t type)
{
	struct type_facts *f = &t->go.of[type];
	uint64_t words = t->go.types->type[type].size / t->word;

	if (f->mask || words > MOST_WORDS || words > MOST_WORDS_IN_ALL - t->mask_words)
		return f->mask;
	t->mask_words += words + 1;
	f->mask = big_alloc(1, sizeof *f->mask + (words / 32 + 1) * sizeof *f->mask->bits, t->err);
	t->refused |= !f->mask;
	if (!f->mask)
		return NULL;
	f->mask->words = words;
	mark_value(t, f->mask, 0, type, true);
	/* it is a number by its type there */
	for (uint32_t i = 0; i < f->n_slots; i++)
		if (t->go.slot[f->first_slot + i].kind == SLOT_OVERFLOW)
			mark(f->mask, t->go.slot[f->first_slot + i].offset / t->word, false);
	return f->mask;
}

/* The long way: each word of the list. */
static bool fits(const struct typing *t, const struct word_mask *m, struct go_pointers p, uint64_t room,
    uint64_t head, uint64_t each, uint64_t count)
{
	/* where the allocator keeps the type the dump repeats its pointers behind the values too */
	bool repeats = t->layout.header && room + head > t->layout.small;
	uint64_t kind, offset, n_must = 0, end = repeats ? room : count ? room / each * each : each;

	while (go_pointers_next(&p, &kind, &offset)) {
		if (kind != GO_POINTER)
			return true; /* of go1.4: it says more than that */
		if (offset < head)
			continue;
		offset -= head;
		if (offset >= end || offset % each / t->word >= m->words)
			return false;
		uint64_t word = offset % each / t->word;
		if (!get_bit(m->bits, 2 * word))
			return false;
		n_must += offset / each < (count ? count : 1) && get_bit(m->bits, 2 * word + 1);
	}
	return count == GUESSED_COUNT || n_must >= m->n_must * (count ? count : 1);
}

/* What tells the pointers of an object, if it is short: its list, or bits behind which there are no others.  0: it is
 * long. */
static uint8_t short_form(const struct go_pointers *p, const uint8_t **out)
{
	uint8_t n = 0;

	if (!p->list) {
		*out = (const uint8_t *)&p->words.bits;
		return p->words.more ? 0 : sizeof p->words.bits;
	}
	*out = p->list;
	while (n < LONGEST_KNOWN && p->list + n < p->end && p->list[n])
		n++;
	return n == LONGEST_KNOWN || p->list + n == p->end ? 0 : (uint8_t)(n + 1);
}

/* Most values of a type have the same. */
static void remember(struct word_mask *m, const struct go_pointers *p, uint64_t size)
{
	const uint8_t *form;
	uint8_t n = short_form(p, &form);

	if (!n)
		return;
	memcpy(m->known, form, n);
	m->n_known = n;
	m->known_size = size;
}

static bool is_known(const struct word_mask *m, const struct go_pointers *p, uint64_t size)
{
	if (size != m->known_size || !m->n_known)
		return false;
	if (!p->list)
		return !p->words.more && !memcmp(&p->words.bits, m->known, sizeof p->words.bits);
	return m->n_known <= p->end - p->list && !memcmp(p->list, m->known, m->n_known);
}

bool typing_fits(struct typing *t, uint32_t id, uint32_t type, uint64_t count)
{
	struct go_pointers p;
	uint64_t size, kind, offset, each = t->go.types->type[type].size;
	struct word_mask *m = mask_of(t, type);
	if (!m || t->go.of[type].unsure || !each || t->go.of[type].open_ended)
		return true;
	if (!typing_pointers(t, id, &size, &p))
		return true;
	if (!t->go.of[type].pointers)
		return p.list ? !*p.list : !go_pointers_next(&p, &kind, &offset);
	if (!count && is_known(m, &p, size))
		return true;
	uint64_t head = typing_head(t, id, size);
	bool good = fits(t, m, p, size - head, head, each, count);
	if (good && !count)
		remember(m, &p, size);
	return good;
}
