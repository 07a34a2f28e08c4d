/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_pointers.c - which words of an object are pointers, as the allocator noted them.
 *
 * Small objects have a bitmap at the end of their span, larger ones the address of their type in front of them or in
 * the span; the type's mask repeats with each value that has room.  Up to Go 1.21 each arena has a bitmap: up to 1.19
 * two bits a word, four words a byte, of which the upper says that there may be pointers from there on; then one, and
 * one for each 64 words that no pointers of the object follow behind them.  (runtime/mbitmap.go, mheap.go: heapArena)
 */
#include "dump/gocore/gocore_read.h"

#include "dump/source/source.h"

#include <string.h>

enum { WORD = 8, CHUNK = 64 /* words */ };

static uint64_t low_bits(uint64_t n)
{
	return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* n bits, 64 at most, from a bit of a bitmap on. */
static uint64_t take_bits(const uint8_t *map, uint64_t from, uint64_t n)
{
	uint8_t bytes[16] = { 0 };
	uint64_t low, high, shift = from % 8;

	memcpy(bytes, map + from / 8, (size_t)((from + n + 7) / 8 - from / 8));
	low = load_le64(bytes);
	high = load_le64(bytes + 8);
	return (low >> shift | (shift ? high << (64 - shift) : 0)) & low_bits(n);
}

/* --- arenas ----------------------------------------------------------------------------------------- */

static const struct gocore_arena *arena_of(const struct gocore *g, uint64_t address)
{
	uint64_t i = (address - g->heap_start) / GOCORE_ARENA;
	return address >= g->heap_start && i < g->n_arenas && g->arenas[i].bitmap ? &g->arenas[i] : NULL;
}

/* Up to 1.19: the words from an address on, up to the end of the chunk; *ended: no pointers follow. */
static uint64_t two_bits(const struct gocore_arena *a, uint64_t word, uint64_t n, bool *ended)
{
	uint64_t bits = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint8_t pair = (uint8_t)(a->bitmap[(word + i) / 4] >> (word + i) % 4);
		if (!(pair & 0x10)) {
			*ended = true;
			break;
		}
		bits |= (uint64_t)(pair & 1) << i;
	}
	return bits;
}

static bool more_in_arena(struct gocore_pointers *p)
{
	const struct gocore *g = p->of;
	uint64_t address = p->address + p->next * WORD, word = address % GOCORE_ARENA / WORD;
	const struct gocore_arena *a = p->next < p->last ? arena_of(g, address) : NULL;
	bool ended = false;

	if (!a)
		return false;
	uint64_t n = CHUNK - word % CHUNK < p->last - p->next ? CHUNK - word % CHUNK : p->last - p->next;
	p->base = p->next;
	if (!gocore_has(g, AT_ARENA_NO_MORE)) {
		p->bits = two_bits(a, word, n, &ended);
	} else {
		p->bits = take_bits(a->bitmap, word, n);
		ended = a->no_more && a->no_more[word / CHUNK / 8] >> word / CHUNK % 8 & 1;
	}
	p->next = ended ? p->last : p->next + n;
	return true;
}

/* --- masks -------------------------------------------------------------------------------------------- */

static bool more_of_mask(struct gocore_pointers *p)
{
	if (p->next == p->mask_words) {
		p->value += p->value_words;
		p->next = 0;
	}
	if (!p->value_words || p->value >= p->last)
		return false;
	uint64_t n = p->mask_words - p->next < CHUNK ? p->mask_words - p->next : CHUNK;
	p->base = p->value + p->next;
	p->bits = p->mask ? take_bits(p->mask, p->next, n) : p->pattern;
	p->next += n;
	if (p->last - p->base < n)
		p->bits &= low_bits(p->last - p->base);
	return true;
}

/* Several small values at a time. */
static void tile(struct gocore_pointers *p)
{
	uint64_t value = p->value_words, n = CHUNK / value;

	p->pattern = 0;
	for (uint64_t i = 0, one = take_bits(p->mask, 0, p->mask_words); i < n; i++)
		p->pattern |= one << i * value;
	p->mask = NULL;
	p->mask_words = p->value_words = n * value;
}

static void by_type(struct gocore_pointers *p, const struct gocore_type *type, uint64_t head, uint64_t size,
    uint64_t from)
{
	if (!type || !type->mask || !type->pointers || type->size > size - head)
		return;
	p->more = more_of_mask;
	p->mask = type->mask;
	p->mask_words = type->pointers / WORD;
	p->value_words = type->size / WORD;
	p->value = head / WORD;
	p->last = (head + (size - head) / type->size * type->size) / WORD;
	if (p->value_words <= CHUNK / 2 && p->last - p->value > p->value_words)
		tile(p);
	if (from > p->value) {
		p->value += (from - p->value) / p->value_words * p->value_words;
		p->next = from - p->value < p->mask_words ? (from - p->value) / 8 * 8 : p->mask_words;
		if (!p->mask)
			p->next = 0;
	}
}

static const struct gocore_type *type_of(const struct gocore *g, const struct gocore_span *s, uint32_t i)
{
	return s->by == GOCORE_BY_TYPE ? s->type :
	    gocore_type_at(g, load_le64(g->source->bytes + gocore_offset(s, i)));
}

void gocore_pointers_of(const struct gocore *g, const struct gocore_span *s, uint32_t i, uint64_t from,
    struct gocore_pointers *p)
{
	*p = (struct gocore_pointers){ .bits = 0 };
	switch (s->by) {
	case GOCORE_BY_BITMAP:
		p->bits = take_bits(s->bitmap, i * (s->size / WORD), s->size / WORD);
		break;
	case GOCORE_BY_HEADER: case GOCORE_BY_TYPE:
		by_type(p, type_of(g, s, i), gocore_head(s), s->size, from);
		break;
	case GOCORE_BY_ARENA:
		p->more = more_in_arena;
		p->of = g;
		p->address = s->start + i * s->size;
		p->last = s->size / WORD;
		p->next = from;
		break;
	default:
		break;
	}
	if (!from)
		return;
	while (!p->bits && p->more && p->more(p))
		;
	if (p->base < from)
		p->bits &= from - p->base < CHUNK ? UINT64_MAX << (from - p->base) : 0;
}

bool gocore_pattern(const struct gocore *g, const struct gocore_span *s, uint32_t i, uint64_t *out)
{
	*out = 0;
	switch (s->by) {
	case GOCORE_NO_POINTERS:
		return true;
	case GOCORE_BY_BITMAP:
		*out = take_bits(s->bitmap, i * (s->size / WORD), s->size / WORD);
		return true;
	case GOCORE_BY_HEADER:
		*out = load_le64(g->source->bytes + gocore_offset(s, i));
		return true;
	case GOCORE_BY_TYPE:
		*out = (uint64_t)(uintptr_t)s->type;
		return true;
	default:
		return false;
	}
}
