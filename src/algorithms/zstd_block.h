/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zstd_block.h - compress bytes and back; the only user of libzstd.  Any thread.
 */
#ifndef CAIRN_ALGORITHMS_ZSTD_BLOCK_H
#define CAIRN_ALGORITHMS_ZSTD_BLOCK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* 0, or ERR_UNSUPPORTED: this program was built without libzstd; the message says so. */
MUST_CHECK int zstd_block_may(struct err *err);
/* What was built in, for --version: "zstd 1.5.4". */
const char *zstd_block_support(void);

/* The most bytes that n bytes can become. */
size_t zstd_block_room(size_t n);
/* Compress n bytes into `to`, which has zstd_block_room(n); *got is how many they became.  0, ERR_NOMEM or
 * ERR_UNSUPPORTED. */
MUST_CHECK int zstd_block_pack(void *to, size_t *got, const void *from, size_t n, struct err *err);
/* And back: exactly n bytes.  ERR_FORMAT where they do not become that, ERR_NOMEM, ERR_UNSUPPORTED. */
MUST_CHECK int zstd_block_unpack(void *to, size_t n, const void *from, size_t n_from, struct err *err);

/* For many blocks, one after another by one thread: these take no memory once they are made.  NULL: ERR_NOMEM,
 * ERR_UNSUPPORTED.  The caller's (zstd_packer_free, which takes NULL). */
struct zstd_packer;
struct zstd_packer *zstd_packer_new(struct err *err) __attribute__((warn_unused_result));
void zstd_packer_free(struct zstd_packer *p);
/* Compress fast; returns how many bytes they became, 0: it failed. */
size_t zstd_packer_pack(struct zstd_packer *p, void *to, const void *from, size_t n);
struct zstd_unpacker;
struct zstd_unpacker *zstd_unpacker_new(struct err *err) __attribute__((warn_unused_result));
void zstd_unpacker_free(struct zstd_unpacker *u);
MUST_CHECK bool zstd_unpacker_unpack(struct zstd_unpacker *u, void *to, size_t n, const void *from, size_t n_from);

#endif
