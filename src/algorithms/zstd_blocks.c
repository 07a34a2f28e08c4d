/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zstd_blocks.c - see zstd_blocks.h. */
#include "algorithms/zstd_blocks.h"

#include "algorithms/parallel.h"
#include "algorithms/zstd_block.h"
#include "base/assert.h"
#include "base/progress.h"
#include "memory/big.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, AT_ONCE = 4 /* blocks a thread */, MOST_THREADS = 64 };

/* --- sums --------------------------------------------------------------------------------------- */

static inline uint64_t stir(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * UINT64_C(0x9E3779B185EBCA87);
	return sum << 29 | sum >> 35;
}

/* Of one stretch: four sums side by side, for a multiplication takes as long as four are begun in. */
uint64_t stretch_sum(const uint8_t *p, uint64_t n, uint64_t number)
{
	uint64_t sum[4] = { number, 1, 2, 3 }, word[4] = { 0 };
	for (; n >= sizeof word; n -= sizeof word, p += sizeof word) {
		memcpy(word, p, sizeof word);
		for (unsigned i = 0; i < 4; i++)
			sum[i] = stir(sum[i], word[i]);
	}
	memset(word, 0, sizeof word);
	if (n)
		memcpy(word, p, n);
	uint64_t all = stir(n, number);
	for (unsigned i = 0; i < 4; i++)
		all = stir(all, stir(sum[i], word[i]));
	return all ^ all >> 32;
}

int stretch_read(int fd, void *to, uint64_t n, uint64_t offset, struct err *err)
{
	for (uint8_t *at = to; n;) {
		ssize_t got = pread(fd, at, n, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_set(err, ERR_IO, "%s", got ? strerror(errno) : "it shrank");
		at += got;
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

static int damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, "its packed data is damaged");
}

/* --- numbers ------------------------------------------------------------------------------------ */

static inline uint64_t number_at(const uint8_t *p, unsigned width)
{
	uint64_t n = 0;
	memcpy(&n, p, width);
	return n;
}

/* Lowest bytes of all numbers first, then the next ones; or of the steps between them, the sign lowest. */
static inline void set_apart(uint8_t *to, const uint8_t *from, uint64_t count, unsigned width, bool steps)
{
	unsigned shift = 64 - 8 * width;
	uint64_t before = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t n = number_at(from + i * width, width), step = n - before;
		if (steps) {
			before = n;
			n = step << 1 ^ (uint64_t)((int64_t)(step << shift) >> 63);
		}
		for (unsigned k = 0; k < width; k++)
			to[k * count + i] = (uint8_t)(n >> 8 * k);
	}
}

static inline void put_together(uint8_t *to, const uint8_t *from, uint64_t count, unsigned width, bool steps)
{
	uint64_t before = 0;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t n = 0;
#pragma GCC unroll 8
		for (unsigned k = 0; k < width; k++)
			n |= (uint64_t)from[k * count + i] << 8 * k;
		if (steps)
			n = before += n >> 1 ^ -(n & 1);
		memcpy(to + i * width, &n, width);
	}
}

/* For each width a loop of its own, with steps and without. */
#define BY_WIDTH(how, to, from, n, tail)                                                           \
	do {                                                                                       \
		switch ((tail).width) {                                                            \
		case 1: memcpy((to), (from), (n)); break;                                          \
		case 2: BY_STEPS(how, to, from, n, 2, tail); break;                                \
		case 4: BY_STEPS(how, to, from, n, 4, tail); break;                                \
		default: BY_STEPS(how, to, from, n, 8, tail);                                      \
		}                                                                                  \
	} while (0)
#define BY_STEPS(how, to, from, n, width, tail)                                                    \
	((tail).steps ? how((to), (from), (n) / (width), (width), true) : how((to), (from), (n) / (width), (width), false))

/* --- writing ------------------------------------------------------------------------------------ */

struct making {
	const uint8_t *numbers;
	uint64_t n; /* bytes */
	struct zstd_blocks_tail tail;
	unsigned first;
	struct made {
		void *squeezed;
		size_t n;
		uint64_t bytes;
	} made[AT_ONCE * MOST_THREADS];
};

static int make_block(void *making, unsigned task, struct err *err)
{
	struct making *m = making;
	struct made *made = &m->made[task];
	uint64_t from = (uint64_t)(m->first + task) * BLOCK;
	made->bytes = m->n - from < BLOCK ? m->n - from : BLOCK;
	uint8_t *bytes = big_alloc(made->bytes, 1, err);
	made->squeezed = bytes ? big_alloc(zstd_block_room(made->bytes), 1, err) : NULL;
	if (bytes)
		BY_WIDTH(set_apart, bytes, m->numbers + from, made->bytes, m->tail);
	int code = made->squeezed ? progress_check(progress_own(), err) : ERR_NOMEM; /* a block takes some milliseconds */
	if (!code)
		code = zstd_block_pack(made->squeezed, &made->n, bytes, made->bytes, err);
	big_free(bytes);
	return code;
}

static int put(FILE *to, struct zstd_blocks_place *place, const void *bytes, uint64_t n, struct err *err)
{
	place->bytes += n;
	return !n || fwrite(bytes, n, 1, to) == 1 ? 0 : err_set(err, ERR_IO, "%s", strerror(errno));
}

/* Make some blocks and write them. */
static int put_blocks(FILE *to, struct zstd_blocks_place *place, struct making *m, unsigned n,
    struct block_entry *entry, struct err *err)
{
	int code = parallel_run(0, n, make_block, m, err);
	for (unsigned i = 0; i < n; i++) {
		struct made *made = &m->made[i];
		entry[i] = (struct block_entry){ .squeezed = (uint32_t)made->n, .bytes = (uint32_t)made->bytes };
		if (!code) {
			entry[i].sum = stretch_sum(made->squeezed, made->n, m->first + i);
			code = put(to, place, made->squeezed, made->n, err);
		}
		if (!code && !progress_add(progress_own(), made->bytes))
			code = err_cancelled(err);
		big_free(made->squeezed);
	}
	return code;
}

static uint64_t sum_entries(const struct block_entry *entry, const struct zstd_blocks_tail *tail)
{
	return stretch_sum((const uint8_t *)entry, (uint64_t)tail->n_blocks * sizeof *entry, 0) ^
	    stretch_sum((const uint8_t *)tail, sizeof *tail, 1);
}

int zstd_blocks_write(FILE *to, struct zstd_blocks_place *place, const void *numbers, uint64_t n, unsigned width,
    bool ascending, struct err *err)
{
	const struct zstd_blocks_tail tail = { .n_blocks = (uint32_t)((n + BLOCK - 1) / BLOCK), .width = (uint8_t)width,
		.steps = ascending };
	struct making *m = big_alloc(1, sizeof *m, err);
	struct block_entry *entry = m ? big_alloc(tail.n_blocks, sizeof *entry, err) : NULL;
	unsigned threads = parallel_threads() < MOST_THREADS ? parallel_threads() : MOST_THREADS;
	int code = entry ? 0 : ERR_NOMEM;
	cairn_assert(width == 1 || width == 2 || width == 4 || width == 8);
	*place = (struct zstd_blocks_place){ .bytes = 0 };
	for (unsigned first = 0, some; first < tail.n_blocks && !code; first += some) {
		some = tail.n_blocks - first < threads * AT_ONCE ? tail.n_blocks - first : threads * AT_ONCE;
		*m = (struct making){ .numbers = numbers, .n = n, .tail = tail, .first = first };
		code = put_blocks(to, place, m, some, entry + first, err);
	}
	if (!code)
		code = put(to, place, entry, (uint64_t)tail.n_blocks * sizeof *entry, err);
	if (!code)
		code = put(to, place, &tail, sizeof tail, err);
	place->sum = entry ? sum_entries(entry, &tail) : 0;
	big_free(entry);
	big_free(m);
	return code;
}

/* --- reading ------------------------------------------------------------------------------------ */

void zstd_blocks_release(struct zstd_blocks *s)
{
	big_free(s->block);
	big_free(s->at);
	*s = (struct zstd_blocks){ .block = NULL };
}

/* They fill the place up to their entries, and all but the last are full. */
static bool entries_hold(struct zstd_blocks *s, uint64_t at, uint64_t end)
{
	for (uint32_t i = 0; i < s->tail.n_blocks; i++) {
		const struct block_entry *b = &s->block[i];
		s->at[i] = at;
		bool last = i + 1 == s->tail.n_blocks;
		if (b->squeezed > end - at || b->bytes > BLOCK || (!last && b->bytes != BLOCK) || b->bytes % s->tail.width)
			return false;
		at += b->squeezed;
		s->bytes += b->bytes;
	}
	return at == end;
}

int zstd_blocks_open(struct zstd_blocks *s, int fd, const struct zstd_blocks_place *place, struct err *err)
{
	*s = (struct zstd_blocks){ .fd = fd };
	if (place->bytes < sizeof s->tail)
		return damaged(err);
	uint64_t left = place->bytes - sizeof s->tail, end = place->offset + left;
	int code = stretch_read(fd, &s->tail, sizeof s->tail, end, err);
	uint64_t bytes = (uint64_t)s->tail.n_blocks * sizeof *s->block;
	unsigned width = s->tail.width;
	if (code || bytes > left || (width != 1 && width != 2 && width != 4 && width != 8) || s->tail.steps > 1)
		return code ? code : damaged(err);
	s->block = big_alloc(s->tail.n_blocks, sizeof *s->block, err);
	s->at = s->block ? big_alloc(s->tail.n_blocks, sizeof *s->at, err) : NULL;
	code = s->at ? stretch_read(fd, s->block, bytes, end - bytes, err) : ERR_NOMEM;
	if (!code && (place->sum != sum_entries(s->block, &s->tail) || !entries_hold(s, place->offset, end - bytes)))
		code = damaged(err);
	if (code)
		zstd_blocks_release(s);
	return code;
}

struct reading {
	const struct zstd_blocks *s;
	uint8_t *to;
};

static int read_block(const struct reading *r, uint32_t block, uint8_t *squeezed, struct err *err)
{
	const struct block_entry *b = &r->s->block[block];
	uint8_t *bytes = squeezed + b->squeezed;
	int code = stretch_read(r->s->fd, squeezed, b->squeezed, r->s->at[block], err);
	if (!code && stretch_sum(squeezed, b->squeezed, block) != b->sum)
		code = err_set(err, ERR_FORMAT, "the checksum of a block is wrong");
	if (!code)
		code = zstd_block_unpack(bytes, b->bytes, squeezed, b->squeezed, err);
	if (!code)
		BY_WIDTH(put_together, r->to + (uint64_t)block * BLOCK, bytes, b->bytes, r->s->tail);
	return code;
}

/* Some blocks in the same room, which the kernel clears once. */
static int read_blocks(void *reading, unsigned task, struct err *err)
{
	const struct reading *r = reading;
	uint32_t first = task * AT_ONCE, left = r->s->tail.n_blocks - first, n = left < AT_ONCE ? left : AT_ONCE;
	uint64_t most = 0;
	for (uint32_t i = first; i < first + n; i++)
		most = r->s->block[i].squeezed > most ? r->s->block[i].squeezed : most;
	uint8_t *room = big_alloc(most + BLOCK, 1, err);
	int code = room ? 0 : ERR_NOMEM;
	for (uint32_t i = first; i < first + n && !code; i++)
		code = read_block(r, i, room, err);
	big_free(room);
	return code;
}

int zstd_blocks_read(const struct zstd_blocks *s, void *to, struct err *err)
{
	return parallel_run(0, (s->tail.n_blocks + AT_ONCE - 1) / AT_ONCE, read_blocks, &(struct reading){ s, to }, err);
}
