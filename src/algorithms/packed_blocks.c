/* SPDX-License-Identifier: GPL-3.0-or-later */
/* packed_blocks.c - see packed_blocks.h. */
#include "algorithms/packed_blocks.h"

#include "base/memory_limit.h"
#include "memory/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A block that packs to more is kept as it is. */
enum { WORTH_MOST = PACKED_BLOCK / 8 * 7 };

/* Of the limit, the part that packed blocks may take where a file can have the others: the rest is for the heap. */
enum { MEMORY_PART = 2 };

/* --- memory ------------------------------------------------------------------------------------ */

bool packed_desk_open(struct packed_desk *d)
{
	if (!d->in)
		d->in = malloc(PACKED_BLOCK);
	if (!d->out)
		d->out = malloc(zstd_block_room(PACKED_BLOCK));
	if (!d->zstd)
		d->zstd = zstd_packer_new(NULL);
	return d->in && d->out;
}

void packed_desk_close(struct packed_desk *d)
{
	free(d->in);
	free(d->out);
	zstd_packer_free(d->zstd);
	*d = (struct packed_desk){.zstd = NULL};
}

/* Once any is packed, as many as readers need may be brought back without asking the limit. */
void packed_blocks_count(struct packed_bytes *p)
{
	uint64_t ahead = p->any_packed && p->n_back < p->back_least ? p->back_least - p->n_back : 0;
	uint64_t now = (p->there + ahead) * PACKED_BLOCK + p->packed;

	if (now > p->counted)
		memory_limit_dump_takes(now - p->counted);
	else
		memory_limit_dump_gives_back(p->counted - now);
	p->counted = now;
}

static bool transfer(bool out, int fd, void *bytes, uint64_t n, uint64_t offset)
{
	for (uint64_t done = 0; done < n;) {
		char *at = (char *)bytes + done;
		off_t where = (off_t)(offset + done);
		ssize_t now = out ? pwrite(fd, at, n - done, where) : pread(fd, at, n - done, where);
		if (now <= 0 && !(now < 0 && errno == EINTR))
			return false;
		done += now > 0 ? (uint64_t)now : 0;
	}
	return true;
}

/* --- blocks go --------------------------------------------------------------------------------- */

static void *place_of(const struct packed_bytes *p, const struct packed_stream *s, uint64_t i)
{
	return p->range + s->begin + i * PACKED_BLOCK;
}

/* Its packed form is there.  False: the system does not allow it; then it stays. */
static bool let_go(struct packed_bytes *p, struct packed_stream *s, uint64_t i)
{
	if (p->range && mprotect(place_of(p, s, i), PACKED_BLOCK, PROT_NONE))
		return false;
	(void)!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(i * PACKED_BLOCK), PACKED_BLOCK);
	s->block[i].there = false;
	p->there--;
	return true;
}

static uint64_t whole_pages(uint64_t n)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	return (n + page - 1) / page * page;
}

static bool to_file(struct packed_block *b, const void *bytes, uint32_t n)
{
	int fd;

	if (!spill_allowed() || spill_take(whole_pages(n), &fd, &b->offset, NULL))
		return false;
	b->in_file = spill_write(b->offset, bytes, n);
	if (!b->in_file)
		spill_give_back(b->offset, whole_pages(n));
	return b->in_file;
}

static bool to_memory(struct packed_block *b, const void *bytes, uint32_t n)
{
	b->packed = n < WORTH_MOST ? malloc(n) : NULL;
	if (b->packed)
		memcpy(b->packed, bytes, n);
	return b->packed;
}

/* The form in which it stays, in *b.  False: it is there only as it is. */
static bool keep(struct packed_desk *d, struct packed_block *b, uint64_t in_memory)
{
	size_t n = d->zstd ? zstd_packer_pack(d->zstd, d->out, d->in, PACKED_BLOCK) : 0;
	bool packs = n && n < WORTH_MOST;
	const uint8_t *bytes = packs ? d->out : d->in;
	uint64_t limit = memory_limit_bytes();

	b->size = packs ? (uint32_t)n : PACKED_BLOCK;
	if (limit && in_memory + n > limit / MEMORY_PART && to_file(b, bytes, b->size))
		return true;
	return to_memory(b, bytes, b->size) || to_file(b, bytes, b->size);
}

/* The stream that has most blocks that came and were never packed; NULL: none has one. */
static struct packed_stream *longest(struct packed_bytes *p)
{
	struct packed_stream *found = NULL;
	uint64_t most = 0;

	for (unsigned i = 0; i < p->n; i++) {
		struct packed_stream *s = &p->stream[i];
		uint64_t whole = s->size / PACKED_BLOCK;
		uint64_t full = p->ended ? s->n : whole ? whole - 1 : 0; /* bytes of the last may be dropped */
		if (full > s->oldest && full - s->oldest > most) {
			most = full - s->oldest;
			found = s;
		}
	}
	return found;
}

bool packed_blocks_pack(struct packed_bytes *p, struct packed_desk *d)
{
	struct packed_stream *s = longest(p);
	struct packed_block form = {.there = true};

	if (!s)
		return false;
	uint64_t i = s->oldest++, in_memory = p->packed;
	if (s->block[i].zeros)
		return true;
	pthread_mutex_unlock(&p->lock); /* nobody else changes a block that is there and was never packed */
	bool kept = transfer(false, s->fd, d->in, PACKED_BLOCK, i * PACKED_BLOCK) && keep(d, &form, in_memory);
	pthread_mutex_lock(&p->lock);
	if (kept && i < s->n) {
		s->block[i] = form;
		p->packed += form.packed ? form.size : 0;
		p->in_file += form.in_file ? whole_pages(form.size) : 0;
		p->any_packed = true;
		(void)!let_go(p, s, i);
	}
	packed_blocks_count(p);
	pthread_cond_broadcast(&p->changed);
	return true;
}

static void back_leaves(struct packed_bytes *p)
{
	struct packed_at at = p->back[p->back_first];

	(void)!let_go(p, &p->stream[at.stream], at.block);
	p->back_first = (p->back_first + 1) % PACKED_BACK_MOST;
	p->n_back--;
}

bool packed_blocks_let_go(struct packed_bytes *p)
{
	if (p->n_back <= p->back_least)
		return false;
	back_leaves(p);
	packed_blocks_count(p);
	return true;
}

bool packed_blocks_to_file(struct packed_bytes *p)
{
	for (unsigned k = 0; k < p->n && spill_allowed(); k++) {
		struct packed_stream *s = &p->stream[k];
		for (; s->filed < s->oldest; s->filed++) {
			struct packed_block *b = &s->block[s->filed];
			if (!b->packed || b->busy || !to_file(b, b->packed, b->size))
				continue;
			free(b->packed);
			b->packed = NULL;
			p->packed -= b->size;
			p->in_file += whole_pages(b->size);
			packed_blocks_count(p);
			return true;
		}
	}
	return false;
}

void packed_blocks_drop(struct packed_bytes *p, struct packed_stream *s, uint64_t from)
{
	for (uint64_t i = from; i < s->n; i++) {
		struct packed_block *b = &s->block[i];
		p->there -= b->there && !b->zeros;
		p->packed -= b->packed ? b->size : 0;
		free(b->packed);
		if (b->in_file) {
			p->in_file -= whole_pages(b->size);
			spill_give_back(b->offset, whole_pages(b->size));
		}
	}
	s->n = from < s->n ? from : s->n;
	packed_blocks_count(p);
}

/* --- blocks come back -------------------------------------------------------------------------- */

/* Before one more comes back. */
static void make_room(struct packed_bytes *p)
{
	while (p->n_back >= p->back_least && (p->n_back >= PACKED_BACK_MOST || p->there >= p->most ||
	           !memory_limit_would_fit(PACKED_BLOCK, memory_limit_bytes() / 16, 0)))
		back_leaves(p);
}

static struct packed_unpacker *take_unpacker(struct packed_bytes *p)
{
	for (;;) {
		for (unsigned i = 0; i < PACKED_UNPACKERS; i++)
			if (!p->unpacker[i].taken) {
				p->unpacker[i].taken = true;
				return &p->unpacker[i];
			}
		pthread_cond_wait(&p->changed, &p->lock);
	}
}

static bool unpack(struct packed_unpacker *u, const struct packed_block *b)
{
	bool as_it_is = b->size == PACKED_BLOCK;
	void *packed = !b->in_file ? b->packed : as_it_is ? u->out : u->in;

	if (b->in_file && !spill_read(packed, b->offset, b->size))
		return false;
	return as_it_is || zstd_unpacker_unpack(u->zstd, u->out, PACKED_BLOCK, packed, b->size);
}

static void note_lost(struct packed_bytes *p, uint64_t offset)
{
	uint64_t now = atomic_load(&p->lost);

	while (offset < now && !atomic_compare_exchange_weak(&p->lost, &now, offset))
		;
}

/* Without the lock: the block is busy.  What cannot be brought reads as zeros.  All bytes are there before anybody
 * may load them. */
static bool bring(struct packed_bytes *p, struct packed_stream *s, uint64_t i, struct packed_unpacker *u)
{
	if (!unpack(u, &s->block[i]) || !transfer(true, s->fd, u->out, PACKED_BLOCK, i * PACKED_BLOCK))
		note_lost(p, s->begin + i * PACKED_BLOCK);
	return mprotect(place_of(p, s, i), PACKED_BLOCK, PROT_READ) == 0;
}

static enum page_brought bring_absent(struct packed_bytes *p, unsigned stream, uint64_t i)
{
	struct packed_stream *s = &p->stream[stream];
	struct packed_block *b = &s->block[i];

	b->busy = true;
	make_room(p);
	struct packed_unpacker *u = take_unpacker(p);
	pthread_mutex_unlock(&p->lock);
	bool brought = bring(p, s, i, u);
	pthread_mutex_lock(&p->lock);
	u->taken = b->busy = false;
	b->there = brought;
	if (brought) {
		p->there++;
		while (p->n_back >= PACKED_BACK_MOST) /* others came meanwhile */
			back_leaves(p);
		p->back[(p->back_first + p->n_back++) % PACKED_BACK_MOST] = (struct packed_at){stream, (uint32_t)i};
		packed_blocks_count(p);
	}
	pthread_cond_broadcast(&p->changed);
	return brought ? PAGE_BROUGHT : PAGE_REFUSED;
}

enum page_brought packed_blocks_bring(void *context, uint64_t offset)
{
	struct packed_bytes *p = context;
	enum page_brought how = PAGE_THERE;
	unsigned stream = 0;

	while (stream + 1 < p->n && offset >= p->stream[stream + 1].begin)
		stream++;
	uint64_t i = (offset - p->stream[stream].begin) / PACKED_BLOCK;
	if (i >= p->stream[stream].n)
		return PAGE_REFUSED;
	const struct packed_block *b = &p->stream[stream].block[i];
	pthread_mutex_lock(&p->lock);
	while (b->busy)
		pthread_cond_wait(&p->changed, &p->lock);
	if (!b->there)
		how = bring_absent(p, stream, i);
	pthread_mutex_unlock(&p->lock);
	return how;
}
