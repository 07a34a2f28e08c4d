/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cold_blocks.c - moving blocks into the file; see cold_blocks.h. */
#include "memory/cold_blocks.h"

#include "base/memory_limit.h"
#include "memory/spill.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define MOVED_AT_ONCE ((uint64_t)4 << 20)

/* In the order in which they settled.  The lock is held while one moves, so that nobody gives it back
 * meanwhile; who reads it finds the same bytes before, while and after. */
static struct cold_blocks *settled, **cold_blocks_end = &settled;
static _Atomic uint64_t cold_blocks_bytes;
static pthread_mutex_t cold_blocks_lock = PTHREAD_MUTEX_INITIALIZER;

static void unlink_settled(struct cold_blocks *s)
{
	struct cold_blocks **at = &settled;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	if (!*at)
		cold_blocks_end = at;
	s->is = false;
	atomic_fetch_sub(&cold_blocks_bytes, s->bytes);
}

void cold_blocks_leave(struct cold_blocks *s)
{
	pthread_mutex_lock(&cold_blocks_lock);
	if (s->is)
		unlink_settled(s);
	pthread_mutex_unlock(&cold_blocks_lock);
}

/*
 * Piece by piece, so that never much of it is in memory twice.  A piece that cannot be written stays memory, where it
 * does as well.
 */
static void move_pieces(const struct cold_blocks *s, int fd)
{
	for (uint64_t at = 0, n; at < s->bytes; at += n) {
		char *piece = s->at + at;
		n = s->bytes - at < MOVED_AT_ONCE ? s->bytes - at : MOVED_AT_ONCE;
		if (!spill_write(s->offset + at, piece, n) || mmap(piece, n, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, (off_t)(s->offset + at)) == MAP_FAILED)
			return;
	}
}

/* Move the block that settled first; false when there is none, or no room for it. */
static bool move_first(void (*moved)(struct cold_blocks *s))
{
	struct cold_blocks *s = settled;
	int fd;

	if (!s || spill_take(s->bytes, &fd, &s->offset, NULL) < 0)
		return false;
	unlink_settled(s);
	move_pieces(s, fd);
	moved(s);
	return true;
}

bool cold_blocks_move_out(uint64_t wanted, uint64_t kept, void (*moved)(struct cold_blocks *s))
{
	if (!spill_allowed() || !memory_limit_would_fit(wanted, kept, atomic_load(&cold_blocks_bytes)))
		return false;
	pthread_mutex_lock(&cold_blocks_lock);
	bool any = move_first(moved);
	pthread_mutex_unlock(&cold_blocks_lock);
	return any;
}

void cold_blocks_enter(struct cold_blocks *s, void *at, uint64_t bytes)
{
	pthread_mutex_lock(&cold_blocks_lock);
	if (!s->is) {
		*s = (struct cold_blocks){.at = at, .bytes = bytes, .is = true};
		*cold_blocks_end = s;
		cold_blocks_end = &s->next;
		atomic_fetch_add(&cold_blocks_bytes, bytes);
	}
	pthread_mutex_unlock(&cold_blocks_lock);
}
