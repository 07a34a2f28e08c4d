/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zstd.c - what the frames of a zstd file unpack to, straight into big memory.
 */
#include "dump/source/opening.h"

#ifdef HAVE_ZSTD
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#define INPUT_STEP (1u << 20)
#define OUTPUT_STEP (128u << 10) /* a block, for what comes with an error is lost; so is all where more is asked for */
#define BEST_RATIO 65536 /* a block of 128 KiB in four bytes, and some more */

/* A frame of data, or one to be skipped. */
static bool is_frame(const uint8_t *in, uint64_t n)
{
	return n >= 4 && (!memcmp(in, "\x28\xB5\x2F\xFD", 4) ||
	    ((in[0] & 0xF0) == 0x50 && !memcmp(in + 1, "\x2A\x4D\x18", 3)));
}

/* Room to begin with: what the first frame promises, where that is possible. */
static uint64_t first_capacity(const uint8_t *in, uint64_t n)
{
	unsigned long long promised = ZSTD_getFrameContentSize(in, n);
	uint64_t least = n < 1u << 20 ? 1u << 20 : n;
	if (promised == ZSTD_CONTENTSIZE_UNKNOWN || promised == ZSTD_CONTENTSIZE_ERROR)
		return least;
	return promised > least && promised / BEST_RATIO <= n ? promised + 1 : least;
}

static void frame_broke(struct source_file *o, size_t code, uint64_t at)
{
	ZSTD_ErrorCode why = ZSTD_getErrorCode(code);

	o->source.truncated = true;
	o->source.doubtful |= why == ZSTD_error_checksum_wrong;
	if (why == ZSTD_error_checksum_wrong)
		source_mark(o, "the zstd checksum after byte %" PRIu64 " of %s is wrong: any byte of the dump may "
		    "be wrong",
		    at, o->where);
	else if (why == ZSTD_error_frameParameter_windowTooLarge)
		source_mark(o, "the zstd data at byte %" PRIu64 " of %s has a window larger than 128 MB (unpack "
		    "it first: unzstd --long=31)", at, o->where);
	else
		source_mark(o, "the zstd data is damaged near byte %" PRIu64 " of %s (%s)", at, o->where,
		    ZSTD_getErrorName(code));
}

static int inflate_frames(struct source_file *o, ZSTD_DCtx *z, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	for (uint64_t at = 0;;) {
		int no_room = unpacked_room(o, err);
		if (no_room < 0)
			return no_room;
		uint64_t room = o->capacity - o->source.size;
		ZSTD_inBuffer from = { in + at, n - at < INPUT_STEP ? (size_t)(n - at) : INPUT_STEP, 0 };
		ZSTD_outBuffer to = { o->unpacked + o->source.size, room < OUTPUT_STEP ? (size_t)room : OUTPUT_STEP, 0 };
		size_t code = ZSTD_decompressStream(z, &to, &from);
		o->source.size += to.pos;
		if (ZSTD_isError(code)) {
			if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
				return err_set(err, ERR_NOMEM, "memory: unpacking it needs more");
			frame_broke(o, code, at);
			return 0;
		}
		at += from.pos;
		if (!progress_add(progress, from.pos))
			return err_cancelled(err);
		if (code == 0 && !is_frame(in + at, n - at)) {
			unpacked_ends(o, "zstd", in, at, n);
			return 0;
		}
		if (code && at == n && to.pos < to.size) {
			unpacked_cut(o, "zstd data", at);
			return 0;
		}
	}
}

int zstd_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	(void)p;
	o->capacity = first_capacity(in, n);
	o->unpacked = big_alloc(o->capacity, 1, err);
	if (!o->unpacked)
		return ERR_NOMEM;
	ZSTD_DCtx *z = ZSTD_createDCtx();
	if (!z)
		return err_set(err, ERR_NOMEM, "memory: unpacking it needs more");
	progress_phase(progress, PHASE_INFLATE, n);
	int code = inflate_frames(o, z, in, n, progress, err);
	ZSTD_freeDCtx(z);
	return code;
}

size_t zstd_head(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer from = { in, n, 0 };
	ZSTD_outBuffer to = { out, room, 0 };

	(void)p;
	while (z && to.pos < to.size && from.pos < from.size) {
		size_t before = from.pos + to.pos, code = ZSTD_decompressStream(z, &to, &from);
		if (ZSTD_isError(code) || from.pos + to.pos == before ||
		    (!code && !is_frame(in + from.pos, n - from.pos)))
			break;
	}
	ZSTD_freeDCtx(z);
	return to.pos;
}
#else
typedef int zstd_is_not_there;
#endif
