/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gzip.c - what a gzip file inflates to, by all threads where its blocks are known (blocks.h), else from front to back.
 */
#include "dump/source/opening.h"

#include "dump/source/blocks.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#define INPUT_STEP (1u << 20)
#define OUTPUT_STEP (16u << 20)
#define BEST_RATIO 1032 /* deflate cannot do better; zlib's own documentation */

static bool gzip_is(const uint8_t *bytes, uint64_t n)
{
	return n >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

/* Room to begin with: what the last four bytes promise (RFC 1952, ISIZE), where that is possible. */
static uint64_t first_capacity(const uint8_t *in, uint64_t n)
{
	uint64_t promised = 0;

	if (n >= 18)
		for (int i = 0; i < 4; i++)
			promised |= (uint64_t)in[n - 4 + (uint64_t)i] << 8 * i;
	uint64_t least = n < 1u << 20 ? 1u << 20 : n;
	return promised > least && promised / BEST_RATIO <= n ? promised + 1 : least;
}

/* The stream broke off: what came out before stays. */
static void stream_broke(struct source_file *o, const z_stream *z, int code, uint64_t at)
{
	o->source.truncated = true;
	if (code == Z_BUF_ERROR) {
		unpacked_cut(o, "gzip stream", at);
	} else if (z->msg && (strstr(z->msg, "data check") || strstr(z->msg, "length check"))) {
		o->source.doubtful = true;
		/* zlib has just read the four bytes that do not fit */
		source_mark(o, "the gzip checksum at byte %" PRIu64 " of %s is wrong: any byte of the dump may be "
		    "wrong", at - 4, o->where);
	} else {
		source_mark(o, "the gzip stream is damaged near byte %" PRIu64 " of %s (%s)", at, o->where,
		    z->msg ? z->msg : "no reason given");
	}
}

/* Inflate all members of in[0, n). */
static int inflate_members(struct source_file *o, z_stream *z, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	uint64_t at = 0;

	for (;;) {
		int no_room = unpacked_room(o, err);
		if (no_room < 0)
			return no_room;
		uint64_t room = o->capacity - o->source.size;
		uInt give = (uInt)(n - at < INPUT_STEP ? n - at : INPUT_STEP);
		uInt take = (uInt)(room < OUTPUT_STEP ? room : OUTPUT_STEP);
		z->next_in = (z_const Bytef *)(uintptr_t)(in + at);
		z->avail_in = give;
		z->next_out = o->unpacked + o->source.size;
		z->avail_out = take;
		int code = inflate(z, Z_NO_FLUSH);
		at += give - z->avail_in;
		o->source.size += take - z->avail_out;
		if (!progress_add(progress, give - z->avail_in))
			return err_cancelled(err);
		if (code == Z_MEM_ERROR)
			return err_set(err, ERR_NOMEM, "memory: inflating it needs more");
		if (code == Z_STREAM_END) {
			if (!gzip_is(in + at, n - at)) {
				unpacked_ends(o, "gzip", in, at, n);
				return 0;
			}
			inflateReset(z);
		} else if (code != Z_OK) {
			stream_broke(o, z, code, at);
			return 0;
		}
	}
}

static int inflate_in_order(struct source_file *o, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	z_stream z = { .zalloc = Z_NULL };

	o->capacity = first_capacity(in, n);
	o->unpacked = big_alloc(o->capacity, 1, err);
	if (!o->unpacked)
		return ERR_NOMEM;
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return err_set(err, ERR_NOMEM, "memory: inflating it needs more");
	progress_phase(progress, PHASE_INFLATE, n);
	int code = inflate_members(o, &z, in, n, progress, err);
	inflateEnd(&z);
	return code;
}

int gzip_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	(void)p;
	progress_phase(progress, PHASE_INFLATE, n);
	int code = o->most ? 0 : blocks_inflate(in, n, &o->unpacked, &o->source.size, progress, err);
	if (code == 0)
		return inflate_in_order(o, in, n, progress, err);
	if (code == 1)
		o->capacity = o->source.size;
	return code < 0 ? code : 0;
}

size_t gzip_head(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room)
{
	z_stream z = {
	    .next_in = (z_const Bytef *)(uintptr_t)in,
	    .avail_in = (uInt)(n < UINT32_MAX ? n : UINT32_MAX),
	    .next_out = out,
	    .avail_out = (uInt)room,
	};

	(void)p;
	if (!gzip_is(in, n) || inflateInit2(&z, 15 + 16) != Z_OK)
		return 0;
	while (z.avail_out && inflate(&z, Z_SYNC_FLUSH) == Z_STREAM_END && gzip_is(z.next_in, z.avail_in))
		inflateReset(&z);
	inflateEnd(&z);
	return room - z.avail_out;
}
