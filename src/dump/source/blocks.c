/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.c - see blocks.h.
 *
 * Format: RFC 1952.  libdeflate takes less than half of zlib's time.  It needs the whole member at
 * once and room for all of its content; both are at hand here, also for gzip files of a single
 * member, which profit as well.
 */
#include "dump/source/blocks.h"

#include "algorithms/parallel.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

enum { HEAD = 10, TRAILER = 8, LEAST_MEMBER = HEAD + 2 + TRAILER, MEMBERS_PER_TASK = 16 };
enum { COMMENTED = 0x10 }; /* flag of a head */
#define MOST_BLOCK (64u << 20)
#define MOST_SINGLE (1u << 30) /* one member gives no sign of life meanwhile */

struct member {
	uint64_t at, n;       /* in the file */
	uint64_t out, n_out;  /* of the content */
};

struct blocks {
	const uint8_t *in;
	uint8_t *out;
	struct member *members;
	uint32_t n, cap;
	struct progress *progress;
	atomic_bool wrong; /* some guess was */
};

static uint32_t load_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The block size in the comment of the first member, 0 without one. */
static uint64_t block_size(const uint8_t *in, uint64_t n)
{
	static const char words[] = "HPROF BLOCKSIZE=";
	size_t length = sizeof words - 1;
	uint64_t size = 0;

	if (n < HEAD + length + 2 || in[3] != COMMENTED || memcmp(in + HEAD, words, length))
		return 0;
	for (uint64_t i = HEAD + length; i < n && in[i] >= '0' && in[i] <= '9'; i++)
		if ((size = 10 * size + (in[i] - '0')) > MOST_BLOCK)
			return 0;
	return size;
}

/* A head as the VM writes it: deflate, no name, no time. */
static bool is_head(const uint8_t *p)
{
	return p[0] == 0x1F && p[1] == 0x8B && p[2] == 8 && (p[3] == 0 || p[3] == COMMENTED) &&
	    !p[4] && !p[5] && !p[6] && !p[7];
}

/* Every member where there is a head, with the size that stands at the end of each.  False: they
 * cannot be blocks, or there is no memory to remember them. */
static bool guess_members(struct blocks *b, uint64_t n, uint64_t most, uint64_t *total)
{
	uint64_t at = 0;

	*total = 0;
	while (at < n) {
		uint64_t next = at + LEAST_MEMBER;
		while (next < n) {
			const uint8_t *found = memchr(b->in + next, 0x1F, n - next);
			next = found ? (uint64_t)(found - b->in) : n;
			if (n - next < HEAD || is_head(found))
				break;
			next++;
		}
		if (n - next < LEAST_MEMBER)
			next = n;
		if (next - at < LEAST_MEMBER || b->n == UINT32_MAX)
			return false;
		uint32_t size = load_le32(b->in + next - 4);
		if (size > most)
			return false;
		struct member *m = BIG_PUSH(b->members, b->n, b->cap, NULL);
		if (!m)
			return false;
		*m = (struct member){ .at = at, .n = next - at, .out = *total, .n_out = size };
		*total += size;
		at = next;
	}
	return true;
}

#ifdef HAVE_LIBDEFLATE
static bool inflate_some(const struct blocks *b, const struct member *m, uint32_t n)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool right = d != NULL;

	for (; right && n > 0; m++, n--) {
		size_t used = 0, got = 0;
		right = libdeflate_gzip_decompress_ex(d, b->in + m->at, m->n, b->out + m->out, m->n_out,
			    &used, &got) == LIBDEFLATE_SUCCESS && used == m->n && got == m->n_out &&
		    progress_add(b->progress, m->n);
	}
	libdeflate_free_decompressor(d);
	return right;
}
#else
static bool inflate_some(const struct blocks *b, const struct member *m, uint32_t n)
{
	z_stream z = { .zalloc = Z_NULL };
	bool right = inflateInit2(&z, 15 + 16) == Z_OK;

	if (!right)
		return false;
	for (; right && n > 0; m++, n--) {
		uint8_t none;
		z.next_in = (z_const Bytef *)(uintptr_t)(b->in + m->at);
		z.avail_in = (uInt)m->n;
		z.next_out = m->n_out ? b->out + m->out : &none;
		z.avail_out = (uInt)m->n_out;
		right = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in && !z.avail_out &&
		    inflateReset(&z) == Z_OK && progress_add(b->progress, m->n);
	}
	inflateEnd(&z);
	return right;
}
#endif

static int inflate_task(void *context, unsigned task, struct err *err)
{
	struct blocks *b = context;
	uint32_t first = task * MEMBERS_PER_TASK;
	uint32_t n = b->n - first < MEMBERS_PER_TASK ? b->n - first : MEMBERS_PER_TASK;

	if (!atomic_load(&b->wrong) && !inflate_some(b, b->members + first, n))
		atomic_store(&b->wrong, true);
	return progress_check(b->progress, err);
}

static bool worth_trying(const uint8_t *in, uint64_t n, uint64_t *most)
{
	*most = block_size(in, n);
#ifdef HAVE_LIBDEFLATE
	if (!*most && n >= LEAST_MEMBER)
		*most = MOST_SINGLE;
#endif
	return *most > 0 && n <= SIZE_MAX / 2;
}

int blocks_inflate(const uint8_t *in, uint64_t n, uint8_t **out, uint64_t *size,
    struct progress *progress, struct err *err)
{
	struct blocks b = { .in = in, .progress = progress };
	uint64_t most, total = 0;
	int code = 0;

	if (!worth_trying(in, n, &most) || !guess_members(&b, n, most, &total) || !total ||
	    total / 1032 > n) /* deflate cannot do better */
		goto out;
	b.out = big_alloc(total, 1, err);
	if (!b.out) {
		code = ERR_NOMEM;
		goto out;
	}
	code = parallel_run(0, (b.n + MEMBERS_PER_TASK - 1) / MEMBERS_PER_TASK, inflate_task, &b, err);
	if (code == 0 && !b.wrong) {
		*out = b.out;
		*size = total;
		code = 1;
	} else {
		big_free(b.out);
	}
out:
	big_free(b.members);
	return code;
}
