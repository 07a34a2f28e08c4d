/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packing.c - how the bytes of a file are packed: its first bytes say so, never its name.
 */
#include "dump/source/opening.h"

#include <string.h>

#ifdef HAVE_ZSTD
#define ZSTD_BY zstd_inflate, zstd_head
#else
#define ZSTD_BY archive_inflate, archive_head
#endif

static const struct packing packings[] = {
	{ "gzip", "gunzip", "\x1F\x8B", 2, gzip_inflate, gzip_head },
	{ "zstd", "unzstd", "\x28\xB5\x2F\xFD", 4, ZSTD_BY },
	{ "xz", "unxz", "\xFD" "7zXZ", 6, archive_inflate, archive_head },
	{ "bzip2", "bunzip2", "BZh", 3, archive_inflate, archive_head },
	{ "lz4", "unlz4", "\x04\x22\x4D\x18", 4, archive_inflate, archive_head },
	{ "lz4", "unlz4", "\x02\x21\x4C\x18", 4, archive_inflate, archive_head }, /* of Linux kernels */
	{ "lzip", "lunzip", "LZIP\x01", 5, archive_inflate, archive_head },
	{ "compress", "uncompress", "\x1F\x9D", 2, archive_inflate, archive_head },
	{ "zip", "unzip", "PK\x03\x04", 4, NULL, NULL },
	{ "zip", "unzip", "PK\x05\x06", 4, NULL, NULL }, /* of no files */
	{ "tar", "tar xf", NULL, 0, NULL, NULL },
};

/* Is it the header of a tar archive?  By its checksum, which every kind of tar has (POSIX.1, pax: ustar
 * interchange format): the sum of its 512 bytes with blanks for the checksum's own eight, in octal. */
static bool is_tar(const uint8_t *head, uint64_t n)
{
	enum { HEADER = 512, AT = 148, DIGITS = 8 };
	unsigned sum = DIGITS * ' ', said = 0, digits = 0;
	if (n < HEADER)
		return false;
	for (size_t i = 0; i < HEADER; i++)
		sum += i < AT || i >= AT + DIGITS ? head[i] : 0;
	for (size_t i = AT; i < AT + DIGITS; i++) {
		if (head[i] >= '0' && head[i] <= '7') {
			said = said * 8 + (unsigned)(head[i] - '0');
			digits++;
		} else if (head[i] != ' ' && head[i]) {
			return false;
		}
	}
	return digits && said == sum;
}

static bool is_skipped(const uint8_t *bytes, uint64_t n)
{
	return n >= 8 && (bytes[0] & 0xF0) == 0x50 && !memcmp(bytes + 1, "\x2A\x4D\x18", 3);
}

/* zstd and lz4 may begin with a frame that is to be skipped, of which both have the same: behind it stands which. */
static const struct packing *behind_skipped(const uint8_t *bytes, uint64_t n)
{
	uint64_t at = 0;
	while (is_skipped(bytes + at, n - at)) {
		uint64_t length = 0;
		for (unsigned i = 4; i-- > 0;)
			length = length << 8 | bytes[at + 4 + i];
		if (length > n - at - 8)
			break;
		at += 8 + length;
	}
	return at && !is_skipped(bytes + at, n - at) ? packing_of(bytes + at, n - at) : NULL;
}

const struct packing *packing_of(const uint8_t *bytes, uint64_t n)
{
	if (is_skipped(bytes, n))
		return behind_skipped(bytes, n);
	for (size_t i = 0; i < sizeof packings / sizeof *packings; i++) {
		const struct packing *p = &packings[i];
		if (p->magic ? n >= p->n && !memcmp(bytes, p->magic, p->n) : is_tar(bytes, n))
			return p;
	}
	return NULL;
}

const char *source_packing(const uint8_t *head, size_t n, const char **by_hand)
{
	const struct packing *p = packing_of(head, n);
	*by_hand = p ? p->by_hand : NULL;
	return p ? p->name : NULL;
}

const char source_changed_newlines[] =
    "damaged in transfer: each LF became CR LF, as in text mode (copy it in binary mode; kubectl exec without -t)";

bool source_newlines_changed(const uint8_t *bytes, uint64_t n)
{
	enum { ENOUGH = 8, LOOKED_AT = 16 << 20 };
	const uint8_t *p = bytes, *end = p + (n < LOOKED_AT ? n : LOOKED_AT);
	unsigned found = 0;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		if (p == bytes || p[-1] != '\r')
			return false;
		p++;
		found++;
	}
	return found >= ENOUGH;
}

bool source_is_archive(const uint8_t *head, size_t n)
{
	const struct packing *p = packing_of(head, n);
	return p && packing_is_archive(p);
}

bool packing_is_archive(const struct packing *p)
{
	return !p->inflate;
}
