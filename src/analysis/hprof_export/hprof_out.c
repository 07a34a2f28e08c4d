/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_out.c - see hprof_out.h. */
#include "analysis/hprof_export/hprof_out.h"

#include "memory/big.h"

#include <errno.h>
#include <string.h>

int hprof_out_begin(struct hprof_out *o, FILE *to, unsigned ids, struct err *err)
{
	*o = (struct hprof_out){.to = to, .ids = ids, .room = big_alloc(HPROF_ROOM, 1, err)};
	return o->room ? 0 : ERR_NOMEM;
}

static void flush(struct hprof_out *o)
{
	errno = 0;
	if (!o->failed && o->n && fwrite(o->room, 1, o->n, o->to) != o->n)
		o->failed = errno ? errno : EIO;
	o->n = 0;
}

/* The n last bytes of a number, big-endian, and what follows up to 8. */
static void store(uint8_t *to, uint64_t number, unsigned n)
{
	number <<= 64 - 8 * n;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	number = __builtin_bswap64(number);
#endif
	memcpy(to, &number, sizeof number);
}

static void close_segment(struct hprof_out *o)
{
	uint8_t length[8];
	store(length, o->n - RECORD_HEAD, 4);
	if (o->open && !o->large)
		memcpy(o->room + RECORD_HEAD - 4, length, 4);
	flush(o);
	o->open = o->large = false;
}

int hprof_out_end(struct hprof_out *o, int code, struct err *err)
{
	if (o->room)
		close_segment(o);
	big_free(o->room);
	return code || !o->failed ? code : err_set(err, ERR_IO, "%s", strerror(o->failed));
}

/* Room for some of n bytes. */
static size_t some_room(struct hprof_out *o, uint64_t n)
{
	if (o->n == HPROF_ROOM)
		flush(o);
	size_t left = HPROF_ROOM - o->n;
	return n < left ? (size_t)n : left;
}

void hprof_put(struct hprof_out *o, const void *bytes, uint64_t n)
{
	o->written += n;
	for (size_t some; n; n -= some, bytes = (const uint8_t *)bytes + some) {
		some = some_room(o, n);
		memcpy(o->room + o->n, bytes, some);
		o->n += some;
	}
}

void hprof_put_zeros(struct hprof_out *o, uint64_t n)
{
	o->written += n;
	for (size_t some; n; n -= some) {
		some = some_room(o, n);
		memset(o->room + o->n, 0, some);
		o->n += some;
	}
}

void hprof_put_number(struct hprof_out *o, uint64_t number, unsigned n)
{
	uint8_t bytes[8];
	if (HPROF_ROOM - o->n >= sizeof bytes) {
		store(o->room + o->n, number, n);
		o->n += n;
		o->written += n;
		return;
	}
	store(bytes, number, n);
	hprof_put(o, bytes, n);
}

void hprof_begin_record(struct hprof_out *o, enum hprof_tag tag, uint32_t n)
{
	if (o->open)
		close_segment(o);
	hprof_put_number(o, tag, 1);
	hprof_put_number(o, 0, 4); /* microseconds since the header's time */
	hprof_put_number(o, n, 4);
}

void hprof_begin_sub(struct hprof_out *o, enum hprof_sub_tag tag, uint64_t n)
{
	if (!o->open || o->large || n + 1 > HPROF_ROOM - o->n) {
		close_segment(o);
		hprof_begin_record(o, HPROF_HEAP_SEGMENT, (uint32_t)(n + 1));
		o->open = true;
		o->large = n + 1 > HPROF_ROOM - RECORD_HEAD;
	}
	hprof_put_number(o, tag, 1);
}
