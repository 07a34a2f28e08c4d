/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cursor.h - read big-endian bytes, never past their end; and the bytes of one number, of either order.
 *
 * A read past the end sets `short_of` and gives 0; the position then stays at the end.  So a record
 * may be read field by field and asked once whether all of it was there.  Any thread, each its own.
 */
#ifndef CAIRN_DUMP_CURSOR_H
#define CAIRN_DUMP_CURSOR_H

#include "base/assert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *p, *end;
	bool short_of; /* something wanted more bytes than there were */
};

static inline struct cursor cursor_make(const uint8_t *p, const uint8_t *end)
{
	return (struct cursor){ .p = p, .end = end };
}

static inline size_t cursor_left(const struct cursor *c)
{
	cairn_assert(c->p <= c->end);
	return (size_t)(c->end - c->p);
}

/* The next n bytes, passed over; NULL when there are fewer. */
static inline const uint8_t *cursor_take(struct cursor *c, uint64_t n)
{
	if (n > cursor_left(c)) {
		c->short_of = true;
		c->p = c->end;
		return NULL;
	}
	const uint8_t *p = c->p;
	c->p += n;
	return p;
}

static inline uint16_t load_be16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap16(v);
#endif
	return v;
}

static inline uint32_t load_be32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

static inline uint64_t load_be64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline uint64_t load_le64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 1);
	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 2);
	return p ? load_be16(p) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 4);
	return p ? load_be32(p) : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 8);
	return p ? load_be64(p) : 0;
}

/* A field of 1 << code bytes (code 0 … 3), unsigned or with its sign. */
static inline uint64_t cursor_unsigned(struct cursor *c, unsigned code)
{
	switch (code) {
	case 0:
		return cursor_u8(c);
	case 1:
		return cursor_u16(c);
	case 2:
		return cursor_u32(c);
	default:
		return cursor_u64(c);
	}
}

static inline int64_t cursor_signed(struct cursor *c, unsigned code)
{
	switch (code) {
	case 0:
		return (int8_t)cursor_u8(c);
	case 1:
		return (int16_t)cursor_u16(c);
	case 2:
		return (int32_t)cursor_u32(c);
	default:
		return (int64_t)cursor_u64(c);
	}
}

#endif
