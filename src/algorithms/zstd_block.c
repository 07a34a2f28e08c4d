/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zstd_block.c - see zstd_block.h. */
#include "algorithms/zstd_block.h"

#ifndef HAVE_ZSTD

int zstd_block_may(struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
	    "cannot use packed indexes: this build has no zstd (libzstd)");
}

const char *zstd_block_support(void)
{
	return "without zstd: no packed indexes";
}

size_t zstd_block_room(size_t n)
{
	return n;
}

int zstd_block_pack(void *to, size_t *got, const void *from, size_t n, struct err *err)
{
	(void)to, (void)got, (void)from, (void)n;
	return zstd_block_may(err);
}

int zstd_block_unpack(void *to, size_t n, const void *from, size_t n_from, struct err *err)
{
	(void)to, (void)n, (void)from, (void)n_from;
	return zstd_block_may(err);
}

struct zstd_packer *zstd_packer_new(struct err *err)
{
	(void)!zstd_block_may(err);
	return NULL;
}

void zstd_packer_free(struct zstd_packer *p)
{
	(void)p;
}

size_t zstd_packer_pack(struct zstd_packer *p, void *to, const void *from, size_t n)
{
	(void)p, (void)to, (void)from, (void)n;
	return 0;
}

struct zstd_unpacker *zstd_unpacker_new(struct err *err)
{
	(void)!zstd_block_may(err);
	return NULL;
}

void zstd_unpacker_free(struct zstd_unpacker *u)
{
	(void)u;
}

bool zstd_unpacker_unpack(struct zstd_unpacker *u, void *to, size_t n, const void *from, size_t n_from)
{
	(void)u, (void)to, (void)n, (void)from, (void)n_from;
	return false;
}

#else

#include <zstd.h>

enum { LEVEL = 3, FAST_LEVEL = 1 };

int zstd_block_may(struct err *err)
{
	(void)err;
	return 0;
}

const char *zstd_block_support(void)
{
	return "zstd " ZSTD_VERSION_STRING;
}

size_t zstd_block_room(size_t n)
{
	return ZSTD_compressBound(n);
}

static int lack(struct err *err)
{
	return err_set(err, ERR_NOMEM, "not enough memory for zstd");
}

int zstd_block_pack(void *to, size_t *got, const void *from, size_t n, struct err *err)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	if (!c)
		return lack(err);
	*got = ZSTD_compressCCtx(c, to, zstd_block_room(n), from, n, LEVEL);
	ZSTD_freeCCtx(c);
	return ZSTD_isError(*got) ? lack(err) : 0; /* there is room for whatever it becomes */
}

/* A frame may ask for a window of any size, but one that is decoded at once into its place takes none. */
int zstd_block_unpack(void *to, size_t n, const void *from, size_t n_from, struct err *err)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	if (!d)
		return lack(err);
	size_t got = ZSTD_decompressDCtx(d, to, n, from, n_from);
	ZSTD_freeDCtx(d);
	return got == n ? 0 : err_set(err, ERR_FORMAT, "the packed data is damaged");
}

/* The structs have no members of their own: they are the library's. */
struct zstd_packer *zstd_packer_new(struct err *err)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	if (!c)
		(void)lack(err);
	return (struct zstd_packer *)c;
}

void zstd_packer_free(struct zstd_packer *p)
{
	ZSTD_freeCCtx((ZSTD_CCtx *)p);
}

size_t zstd_packer_pack(struct zstd_packer *p, void *to, const void *from, size_t n)
{
	size_t got = ZSTD_compressCCtx((ZSTD_CCtx *)p, to, zstd_block_room(n), from, n, FAST_LEVEL);
	return ZSTD_isError(got) ? 0 : got;
}

struct zstd_unpacker *zstd_unpacker_new(struct err *err)
{
	ZSTD_DCtx *d = ZSTD_createDCtx();
	if (!d)
		(void)lack(err);
	return (struct zstd_unpacker *)d;
}

void zstd_unpacker_free(struct zstd_unpacker *u)
{
	ZSTD_freeDCtx((ZSTD_DCtx *)u);
}

bool zstd_unpacker_unpack(struct zstd_unpacker *u, void *to, size_t n, const void *from, size_t n_from)
{
	return ZSTD_decompressDCtx((ZSTD_DCtx *)u, to, n, from, n_from) == n;
}

#endif
