/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gzipped.c - see gzipped.h. */
#include "algorithms/gzipped.h"

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "memory/big.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { BLOCK = 1 << 20, BLOCKS = 8, HEAD = 10, TAIL = 8, COMMENTED = 0x10, RAW = -15, MEMORY = 8,
	LEVEL = 2 /* of nine: a sixth larger than the usual one, in a fourth of the time */ };
static const char comment[] = "HPROF BLOCKSIZE=1048576"; /* BLOCK; its NUL is written, too */
_Static_assert(BLOCK == 1048576, "the comment says so");

struct gzip_out {
	FILE *to;
	uint8_t *in;  /* BLOCKS of BLOCK bytes */
	uint8_t *out; /* as many, with `room` bytes for each */
	uint64_t room;
	size_t n;     /* bytes in `in` */
	size_t squeezed[BLOCKS];
	uint64_t written;
	bool begun;   /* the first member is out */
	int code;
	struct err err;
};

static void put_le32(uint8_t *to, uint32_t n)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (uint8_t)(n >> 8 * i);
}

static int squeeze_block(void *context, unsigned block, struct err *err)
{
	struct gzip_out *g = context;
	uint8_t *in = g->in + (size_t)block * BLOCK, *to = g->out + block * g->room, *at = to + HEAD;
	size_t n = g->n - (size_t)block * BLOCK < BLOCK ? g->n - (size_t)block * BLOCK : BLOCK;
	z_stream z = {.next_in = in, .avail_in = (uInt)n};
	bool first = !g->begun && !block;
	memcpy(to, (const uint8_t[HEAD]){0x1F, 0x8B, 8, first ? COMMENTED : 0, 0, 0, 0, 0, 0, 3}, HEAD);
	if (first) {
		memcpy(at, comment, sizeof comment);
		at += sizeof comment;
	}
	if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(err, ERR_NOMEM, "not enough memory to compress");
	z.next_out = at;
	z.avail_out = (uInt)(g->room - (size_t)(at - to) - TAIL);
	bool whole = deflate(&z, Z_FINISH) == Z_STREAM_END;
	at = z.next_out;
	deflateEnd(&z);
	put_le32(at, (uint32_t)crc32(crc32(0, NULL, 0), in, (uInt)n));
	put_le32(at + 4, (uint32_t)n);
	g->squeezed[block] = (size_t)(at + TAIL - to);
	return whole ? 0 : err_set(err, ERR_IO, "it cannot be compressed");
}

/* All that waits, as whole blocks and perhaps a short one at the end; a file has one at least. */
static int put_blocks(struct gzip_out *g)
{
	unsigned blocks = g->n ? (unsigned)((g->n + BLOCK - 1) / BLOCK) : !g->begun;
	if (!g->code)
		g->code = parallel_run(0, blocks, squeeze_block, g, &g->err);
	for (unsigned i = 0; i < blocks && !g->code; i++) {
		errno = 0;
		if (fwrite(g->out + i * g->room, 1, g->squeezed[i], g->to) != g->squeezed[i])
			g->code = err_set(&g->err, ERR_IO, "%s", strerror(errno));
		g->written += g->squeezed[i];
	}
	g->begun = true;
	g->n = 0;
	return g->code;
}

static ssize_t take(void *out, const char *bytes, size_t n)
{
	struct gzip_out *g = out;
	for (size_t done = 0; done < n;) {
		size_t room = (size_t)BLOCKS * BLOCK - g->n, some = n - done < room ? n - done : room;
		memcpy(g->in + g->n, bytes + done, some);
		g->n += some;
		done += some;
		if (g->n == (size_t)BLOCKS * BLOCK && put_blocks(g)) {
			errno = EIO; /* gzip_end has the reason */
			return 0;
		}
	}
	return (ssize_t)n;
}

int gzip_begin(struct gzip_out **out, FILE **stream, FILE *to, struct err *err)
{
	struct gzip_out *g = xcalloc(1, sizeof *g);
	*g = (struct gzip_out){.to = to, .room = compressBound(BLOCK) + HEAD + sizeof comment + TAIL, .err = ERR_INIT};
	g->in = big_alloc(BLOCKS, BLOCK, err);
	g->out = g->in ? big_alloc(BLOCKS, g->room, err) : NULL;
	*stream = g->out ? fopencookie(g, "w", (cookie_io_functions_t){.write = take}) : NULL;
	*out = g;
	if (*stream)
		return 0;
	if (g->out)
		err_set(err, ERR_NOMEM, "not enough memory to compress");
	big_free(g->in);
	big_free(g->out);
	free(g);
	return ERR_NOMEM;
}

int gzip_end(struct gzip_out *g, FILE *stream, int code, uint64_t *written, struct err *err)
{
	bool whole = fclose(stream) == 0;
	if (!code && !g->code)
		(void)put_blocks(g);
	if (g->code && (!code || code == ERR_IO)) { /* what the stream said of it was EIO */
		code = g->code;
		*err = g->err;
	} else if (!code && !whole) {
		code = err_set(err, ERR_IO, "%s", strerror(errno));
	}
	*written = g->written;
	big_free(g->in);
	big_free(g->out);
	free(g);
	return code;
}
