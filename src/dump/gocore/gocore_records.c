/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gocore_records.c - writes records as runtime/heapdump.go does. */
#include "dump/gocore/gocore_read.h"

#include "memory/big.h"

#include <string.h>

enum { VARINT_MOST = 10 };

/* Room for n bytes more, or NULL. */
static uint8_t *room(struct gocore_records *r, uint64_t n)
{
	if (r->refused)
		return NULL;
	if (n > r->cap - r->n) {
		uint64_t cap = r->cap + (r->cap > n ? r->cap : n) + 4096;
		uint8_t *bytes = big_resize(r->bytes, cap, 1, r->err);
		if (!bytes) {
			r->refused = true;
			return NULL;
		}
		r->bytes = bytes;
		r->cap = cap;
	}
	return r->bytes + r->n;
}

void gocore_put(struct gocore_records *r, uint64_t number)
{
	uint8_t *p = room(r, VARINT_MOST);

	if (!p)
		return;
	for (; number >= 0x80; number >>= 7)
		*p++ = (uint8_t)(number | 0x80);
	*p++ = (uint8_t)number;
	r->n = (uint64_t)(p - r->bytes);
}

uint8_t *gocore_put_room(struct gocore_records *r, uint64_t n)
{
	gocore_put(r, n);
	uint8_t *p = room(r, n);
	r->n += p ? n : 0;
	return p;
}

void gocore_put_bytes(struct gocore_records *r, const void *bytes, uint64_t n)
{
	uint8_t *p = gocore_put_room(r, n);
	if (p && n)
		memcpy(p, bytes, n);
}

void gocore_put_text(struct gocore_records *r, const char *s)
{
	gocore_put_bytes(r, s, strlen(s));
}

void gocore_put_field(struct gocore_records *r, uint64_t offset)
{
	gocore_put(r, 1);
	gocore_put(r, offset);
}

void gocore_put_end(struct gocore_records *r)
{
	gocore_put(r, 0);
}
