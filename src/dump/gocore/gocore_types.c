/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_types.c - type descriptors in the memory of a core: how large a value is and where its pointers are.
 *
 * A descriptor has the address of a mask, a bit for each word up to the last pointer.  Large types have, up to Go
 * 1.23, a program that writes the mask, and since 1.24 the address of a place where the runtime puts the mask when it
 * is first needed.  Masks that the memory does not have are made here, once.  (internal/abi/type.go: Type;
 * runtime/mbitmap.go: runGCProg; runtime/type.go: getGCMask)
 */
#include "dump/gocore/gocore_read.h"

#include "algorithms/hash.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <string.h>

/* Places in a descriptor of 64 bits, and what they hold. */
enum { SIZE_AT = 0, POINTERS_AT = 8, FLAGS_AT = 20, KIND_AT = 23, MASK_AT = 32, DESCRIPTOR = 48 };
enum { KIND_PROGRAM = 1 << 6, FLAG_ON_DEMAND = 1 << 4, ON_DEMAND_SINCE = 24 };

static uint64_t mask_bytes(uint64_t pointers)
{
	return (pointers / 8 + 7) / 8;
}

/* Zeroed bytes for a mask, or NULL: there are more than a core of this size can need. */
static uint8_t *room(struct gocore_types *t, uint64_t bytes)
{
	if (bytes > t->room)
		return NULL;
	t->room -= bytes;
	return arena_try(&t->arena, bytes, 1, NULL);
}

/* --- programs --------------------------------------------------------------------------------------- */

struct writer {
	uint8_t *mask;
	uint64_t n, most; /* bits */
};

static bool put_bit(struct writer *w, unsigned bit)
{
	if (w->n == w->most)
		return false;
	w->mask[w->n / 8] |= (uint8_t)(bit << w->n % 8);
	w->n++;
	return true;
}

struct program_bytes {
	const uint8_t *p, *end;
};

static uint8_t next_byte(struct program_bytes *b)
{
	return b->p < b->end ? *b->p++ : 0;
}

static uint64_t next_number(struct program_bytes *b)
{
	uint64_t n = 0;
	for (unsigned shift = 0; shift < 64 && b->p < b->end; shift += 7) {
		uint8_t byte = *b->p++;
		n |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80)
			break;
	}
	return n;
}

/* 0nnnnnnn: n bits follow; 1nnnnnnn: the last n bits come again, as often as the number says that follows; n 0: n
 * itself follows first.  0 ends it.  All of the mask must be written. */
static bool run_program(struct writer *w, struct program_bytes b)
{
	while (b.p < b.end && w->n < w->most) {
		uint8_t step = next_byte(&b);
		uint64_t n = step & 0x7F;
		if (!step)
			break;
		if (step < 0x80) {
			uint8_t bits = 0;
			for (uint64_t i = 0; i < n; i++) {
				bits = i % 8 ? (uint8_t)(bits >> 1) : next_byte(&b);
				if (!put_bit(w, bits & 1))
					break;
			}
			continue;
		}
		n = n ? n : next_number(&b);
		uint64_t times = next_number(&b), from = w->n - n;
		if (!n || n > w->n)
			return false;
		uint64_t left = w->most - w->n, all = times > left / n ? left : times * n;
		for (uint64_t i = 0; i < all; i++)
			put_bit(w, w->mask[(from + i) / 8] >> (from + i) % 8 & 1);
	}
	return w->n == w->most;
}

/* --- masks that nobody wrote ---------------------------------------------------------------------------- */

static void mark(struct writer *w, uint64_t offset)
{
	uint64_t word = offset / 8;
	if (word < w->most)
		w->mask[word / 8] |= (uint8_t)(1 << word % 8);
}

/* By the type's declaration; types are nested no deeper than TYPE_DEPTH. */
static void mark_value(const struct types *t, struct writer *w, uint32_t type, uint64_t offset)
{
	const struct type *of = &t->type[type];

	switch (of->kind) {
	case TYPE_STRING: case TYPE_POINTER: case TYPE_SLICE: case TYPE_MAP: case TYPE_CHAN: case TYPE_FUNC:
		mark(w, offset);
		break;
	case TYPE_INTERFACE: case TYPE_EMPTY_INTERFACE:
		mark(w, offset + 8);
		break;
	case TYPE_ARRAY:
		for (uint64_t i = 0; i < of->count && offset / 8 < w->most; i++, offset += t->type[of->element].size) {
			if (!t->type[of->element].size)
				break;
			mark_value(t, w, of->element, offset);
		}
		break;
	case TYPE_STRUCT:
		for (uint32_t i = 0; i < of->n_fields; i++)
			mark_value(t, w, types_fields(t, of)[i].type, offset + types_fields(t, of)[i].offset);
		break;
	default:
		break;
	}
}

/* --- one type ----------------------------------------------------------------------------------------------- */

/* The mask of a descriptor: in the core, or made. */
static const uint8_t *mask_of(const struct gocore *g, uint64_t address, const uint8_t *d, uint64_t pointers)
{
	struct gocore_types *t = g->noted;
	uint64_t at = core_number(g->core, d + MASK_AT, 8), n;
	uint32_t type;
	struct writer w = { .most = pointers / 8 };

	if (d[KIND_AT] & KIND_PROGRAM && g->release < ON_DEMAND_SINCE) {
		const uint8_t *p = core_bytes(g->core, at, &n);
		w.mask = p && n > 4 ? room(t, mask_bytes(pointers)) : NULL; /* its length stands first */
		return w.mask && run_program(&w, (struct program_bytes){ p + 4, p + n }) ? w.mask : NULL;
	}
	if (!(d[FLAGS_AT] & FLAG_ON_DEMAND) || g->release < ON_DEMAND_SINCE)
		return core_range(g->core, at, mask_bytes(pointers));
	const uint8_t *made = core_range(g->core, gocore_word(g, at), mask_bytes(pointers));
	if (made)
		return made;
	type = types_by_descriptor(g->types, address);
	w.mask = type != TYPE_NONE ? room(t, mask_bytes(pointers)) : NULL;
	if (w.mask)
		mark_value(g->types, &w, type, 0);
	return w.mask;
}

static uint32_t slot_of(uint64_t address)
{
	return (uint32_t)hash_number(address) % GOCORE_TYPES;
}

/* Under the lock: the one that another thread noted meanwhile, or a new one. */
static const struct gocore_type *note(const struct gocore *g, uint64_t address, const uint8_t *d,
    struct gocore_type is)
{
	struct gocore_types *t = g->noted;
	uint32_t i = slot_of(address);

	while (t->slot[i] && t->slot[i]->address != address)
		i = (i + 1) % GOCORE_TYPES;
	if (t->slot[i])
		return &t->slot[i]->is;
	struct gocore_noted *new = t->n < GOCORE_TYPES / 2 ? arena_try(&t->arena, 1, sizeof *new, NULL) : NULL;
	if (!new)
		return NULL;
	*new = (struct gocore_noted){ address, is };
	if (is.pointers)
		new->is.mask = mask_of(g, address, d, is.pointers);
	t->n++;
	__atomic_store_n(&t->slot[i], new, __ATOMIC_RELEASE);
	return &new->is;
}

const struct gocore_type *gocore_type_at(const struct gocore *g, uint64_t address)
{
	struct gocore_types *t = g->noted;
	const struct gocore_noted *found;

	for (uint32_t i = slot_of(address); (found = __atomic_load_n(&t->slot[i], __ATOMIC_ACQUIRE)) != NULL;
	    i = (i + 1) % GOCORE_TYPES)
		if (found->address == address)
			return &found->is;
	const uint8_t *d = address % 8 ? NULL : core_range(g->core, address, DESCRIPTOR);
	if (!d)
		return NULL;
	struct gocore_type is = { .size = core_number(g->core, d + SIZE_AT, 8),
		.pointers = core_number(g->core, d + POINTERS_AT, 8) };
	if (is.pointers > is.size || is.pointers % 8 || is.size > UINT64_C(1) << 48 || (is.pointers && is.size % 8))
		return NULL;
	pthread_mutex_lock(&t->lock);
	const struct gocore_type *type = note(g, address, d, is);
	pthread_mutex_unlock(&t->lock);
	return type;
}

void gocore_release_types(struct gocore *g)
{
	if (!g->noted)
		return;
	arena_release(&g->noted->arena);
	pthread_mutex_destroy(&g->noted->lock);
	big_free(g->noted);
	g->noted = NULL;
}
