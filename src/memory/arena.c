/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arena.c - pieces of memory cut from large blocks.  One thread at a time may use an arena.
 */
#include "memory/arena.h"

#include "base/assert.h"
#include "base/mem.h"
#include "memory/big.h"
#include "memory/guarded_alloc.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define ARENA_BLOCK ((size_t)64 << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

/* The place for size more bytes in a block that has room for them, else NULL. */
static void *take(struct arena *a, struct arena_block *b, size_t size)
{
	if (!b || size > b->size - b->used)
		return NULL;
	cairn_assert(b->used <= b->size && (CAIRN_EXACT || b->used % 16 == 0));
	void *p = b->bytes + b->used;
	b->used += size;
	a->used += size;
	return p;
}

/* Room of a block that begins with one piece of size bytes; large pieces have one to themselves, and all
 * where they are exact. */
static size_t room_for(size_t size)
{
	return CAIRN_EXACT || size > ARENA_BLOCK / 4 ? size : ARENA_BLOCK;
}

static void *take_fresh(struct arena *a, struct arena_block *fresh, size_t room, size_t size)
{
	struct arena_block *b = a->first;

	fresh->size = room;
	if (b && size > ARENA_BLOCK / 4) { /* behind the current one, which has room left */
		fresh->next = b->next;
		b->next = fresh;
	} else {
		fresh->next = b;
		a->first = fresh;
	}
	return take(a, fresh, size);
}

/* Rounded up so that the next piece is aligned. */
static size_t piece(size_t size)
{
	if (size > PTRDIFF_MAX - 2 * ARENA_BLOCK)
		mem_exhausted(size);
	return CAIRN_EXACT ? size : (size + 15) & ~(size_t)15;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct err refusal;

	size = piece(size);
	void *p = take(a, a->first, size);
	if (p)
		return p;
	size_t room = room_for(size);
	struct arena_block *fresh = big_alloc(sizeof *fresh + room, 1, &refusal);
	if (!fresh) {
		room = size; /* no more than must be */
		fresh = big_must(sizeof *fresh + room);
	}
	return take_fresh(a, fresh, room, size);
}

void *arena_try(struct arena *a, uint64_t count, size_t size, struct err *err)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - 2 * ARENA_BLOCK) {
		err_set(err, ERR_NOMEM, "memory: the system refuses %" PRIu64 " times %zu bytes",
		    count, size);
		return NULL;
	}
	bytes = piece(bytes);
	void *p = take(a, a->first, bytes);
	if (p)
		return p;
	size_t room = room_for(bytes);
	struct arena_block *fresh = big_alloc(sizeof *fresh + room, 1, err);
	return fresh ? take_fresh(a, fresh, room, bytes) : NULL;
}

void *arena_copy(struct arena *a, const void *bytes, size_t n)
{
	void *p = arena_alloc(a, n + !n);

	return n ? memcpy(p, bytes, n) : p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *p = arena_alloc(a, length + 1);

	memcpy(p, s, length);
	return p;
}

char *arena_try_strndup(struct arena *a, const char *s, size_t n, struct err *err)
{
	size_t length = s ? strnlen(s, n) : 0;
	char *p = arena_try(a, length + 1, 1, err);

	if (p && length)
		memcpy(p, s, length);
	return p;
}

void arena_release(struct arena *a)
{
	for (struct arena_block *b = a->first, *next; b; b = next) {
		next = b->next;
		big_free(b);
	}
	*a = (struct arena)ARENA_INIT;
}

void arena_move(struct arena *to, struct arena *from)
{
	struct arena_block **last = &to->first;

	while (*last)
		last = &(*last)->next;
	*last = from->first;
	to->used += from->used;
	*from = (struct arena)ARENA_INIT;
}
