/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settled.c - moving blocks into the file; see settled.h. */
#include "base/settled.h"

#include "base/budget.h"
#include "base/spill.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define MOVED_AT_ONCE ((uint64_t)4 << 20)

/* In the order in which they settled.  The lock is held while one moves, so that nobody gives it back
 * meanwhile; who reads it finds the same bytes before, while and after. */
static struct settled *settled, **settled_end = &settled;
static _Atomic uint64_t settled_bytes;
static pthread_mutex_t settled_lock = PTHREAD_MUTEX_INITIALIZER;

static void unlink_settled(struct settled *s)
{
	struct settled **at = &settled;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	if (!*at)
		settled_end = at;
	s->is = false;
	atomic_fetch_sub(&settled_bytes, s->bytes);
}

void settled_leave(struct settled *s)
{
	pthread_mutex_lock(&settled_lock);
	if (s->is)
		unlink_settled(s);
	pthread_mutex_unlock(&settled_lock);
}

/*
 * Piece by piece, so that never much of it is in memory twice.  A piece that cannot be written stays memory, where it
 * does as well.
 */
static void move_pieces(const struct settled *s, int fd)
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
static bool move_first(void (*moved)(struct settled *s))
{
	struct settled *s = settled;
	int fd;

	if (!s || spill_take(s->bytes, &fd, &s->offset, NULL) < 0)
		return false;
	unlink_settled(s);
	move_pieces(s, fd);
	moved(s);
	return true;
}

bool settled_move_out(uint64_t wanted, uint64_t kept, void (*moved)(struct settled *s))
{
	if (!spill_allowed() || !budget_would_fit(wanted, kept, atomic_load(&settled_bytes)))
		return false;
	pthread_mutex_lock(&settled_lock);
	bool any = move_first(moved);
	pthread_mutex_unlock(&settled_lock);
	return any;
}

void settled_enter(struct settled *s, void *at, uint64_t bytes)
{
	pthread_mutex_lock(&settled_lock);
	if (!s->is) {
		*s = (struct settled){.at = at, .bytes = bytes, .is = true};
		*settled_end = s;
		settled_end = &s->next;
		atomic_fetch_add(&settled_bytes, bytes);
	}
	pthread_mutex_unlock(&settled_lock);
}
