/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * settled.c - blocks that are written no more, and move into the file when memory is wanted.
 *
 * They stay where they are: pages of the file take the place of theirs.
 */
#include "base/mappings.h"

#include "base/budget.h"
#include "base/spill.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOVED_AT_ONCE ((uint64_t)4 << 20)

/* In the order in which they settled.  The lock is held while one moves, so that nobody gives it back
 * meanwhile; who reads it finds the same bytes before, while and after. */
static struct mapping *settled, **settled_end = &settled;
static _Atomic uint64_t settled_bytes;
static pthread_mutex_t settled_lock = PTHREAD_MUTEX_INITIALIZER;

static void unlink_settled(struct mapping *m)
{
	struct mapping **at = &settled;

	while (*at != m)
		at = &(*at)->settled_next;
	*at = m->settled_next;
	if (!*at)
		settled_end = at;
	m->settled = false;
	atomic_fetch_sub(&settled_bytes, whole_pages(m->bytes));
}

void settled_leave(struct mapping *m)
{
	pthread_mutex_lock(&settled_lock);
	if (m->settled)
		unlink_settled(m);
	pthread_mutex_unlock(&settled_lock);
}

static bool write_all(int fd, const char *from, uint64_t bytes, uint64_t offset)
{
	while (bytes) {
		ssize_t n = pwrite(fd, from, bytes, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		offset += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return true;
}

/*
 * Piece by piece, so that never much of it is in memory twice.  A piece that cannot be written stays memory, where it
 * does as well.
 */
static void move_pieces(const struct mapping *m, int fd)
{
	uint64_t whole = whole_pages(m->bytes);

	for (uint64_t at = 0, n; at < whole; at += n) {
		char *piece = (char *)m->at + at;
		n = whole - at < MOVED_AT_ONCE ? whole - at : MOVED_AT_ONCE;
		if (!write_all(fd, piece, n, m->offset + at) || mmap(piece, n, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, fd, (off_t)(m->offset + at)) == MAP_FAILED)
			return;
	}
}

/* Move the block that settled first; false when there is none, or no room for it. */
static bool move_first(void)
{
	struct mapping *m = settled;
	int fd;

	if (!m || spill_take(whole_pages(m->bytes), &fd, &m->offset, NULL) < 0)
		return false;
	unlink_settled(m);
	move_pieces(m, fd);
	m->owner = BIG_SPILLED;
	mapping_advise(m);
	budget_give_back(whole_pages(m->bytes));
	return true;
}

bool settled_move_out(uint64_t wanted, uint64_t kept)
{
	if (!spill_allowed() || !budget_would_fit(wanted, kept, atomic_load(&settled_bytes)))
		return false;
	pthread_mutex_lock(&settled_lock);
	bool moved = move_first();
	pthread_mutex_unlock(&settled_lock);
	return moved;
}

void big_settle(void *p)
{
	struct mapping *m = p ? mapping_find(p) : NULL;

	if (!m || m->owner != BIG_ANONYMOUS)
		return;
	pthread_mutex_lock(&settled_lock);
	if (!m->settled) {
		m->settled = true;
		m->settled_next = NULL;
		*settled_end = m;
		settled_end = &m->settled_next;
		atomic_fetch_add(&settled_bytes, whole_pages(m->bytes));
	}
	pthread_mutex_unlock(&settled_lock);
}

void big_unsettle(void *p)
{
	struct mapping *m = p ? mapping_find(p) : NULL;

	if (m)
		settled_leave(m);
}
