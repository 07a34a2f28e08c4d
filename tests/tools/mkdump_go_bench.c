/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_go_bench.c - a large go1.7 dump, streamed.
 *
 *     mkdump go-bench --objects N [--out FILE]
 *
 * Pages of one size each, in no order of address, as the runtime writes spans: lists of small objects
 * whose pointers mostly lead near by, tables that hold many, texts that hold none.  A word of the data
 * segment leads to each list; texts that no pointer hits, a third of all objects, are garbage.
 */
#include "mkdump.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 8192, LISTS = 64, SHAPES = 6 };
#define HEAP UINT64_C(0xc000000000)

static const struct shape {
	unsigned size, n_slots, slot[4];
} shapes[SHAPES] = {
	{ 16, 0, { 0 } }, { 16, 1, { 8 } }, { 48, 2, { 0, 24 } }, { 96, 4, { 8, 32, 64, 88 } },
	{ 32, 0, { 0 } }, { 64, 3, { 0, 16, 40 } },
};

static void put(struct out *o, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		out_byte(o, 0x80 | (value & 0x7F));
	out_byte(o, (unsigned)value);
}

static const struct shape *shape_of(uint64_t page)
{
	return &shapes[mix(page) % SHAPES];
}

/* Some object of a page; one in eight pointers lead into it. */
static uint64_t object_in(uint64_t page, uint64_t dice)
{
	const struct shape *s = shape_of(page);
	uint64_t inside = dice >> 32 & 7 ? 0 : dice >> 40 & 15;
	return HEAP + page * PAGE + dice % (PAGE / s->size) * s->size + inside;
}

static void put_object(struct out *o, uint64_t page, unsigned i, uint64_t pages)
{
	const struct shape *s = shape_of(page);
	uint64_t address = HEAP + page * PAGE + (uint64_t)i * s->size;
	unsigned char bytes[96] = { 0 };
	for (unsigned k = 0; k < s->n_slots; k++) {
		uint64_t dice = mix(address + k), to;
		if (k == 0) /* the list: the next of its page, or the page LISTS further on */
			to = i + 1 < PAGE / s->size ? address + s->size :
			    page + LISTS < pages ? HEAP + (page + LISTS) * PAGE : 0;
		else
			to = dice % 5 ? object_in((page + dice % 100) % pages, dice) : object_in(dice % pages, dice >> 8);
		memcpy(bytes + s->slot[k], &(uint64_t){ htole64(to) }, 8);
	}
	put(o, 1);
	put(o, address);
	put(o, s->size);
	out_bytes(o, bytes, s->size);
	for (unsigned k = 0; k < s->n_slots; k++) {
		put(o, 1);
		put(o, s->slot[k]);
	}
	put(o, 0);
}

static void put_roots(struct out *o, uint64_t pages)
{
	put(o, 12);
	put(o, 0x520000);
	put(o, pages * 8);
	for (uint64_t i = 0; i < pages; i++) {
		uint64_t to = htole64(HEAP + i * PAGE);
		out_bytes(o, &to, 8);
	}
	for (uint64_t i = 0; i < pages; i++) {
		if (i < LISTS || !shape_of(i - LISTS)->n_slots) { /* no list comes by */
			put(o, 1);
			put(o, i * 8);
		}
	}
	put(o, 0);
}

int mkdump_go_bench(int argc, char **argv)
{
	const char *value, *path = "-";
	uint64_t want = 1000000, pages, n = 0, bytes = 0;
	struct out out;
	for (int i = 0; i < argc; i++) {
		if ((value = option_value(argc, argv, &i, "--objects")))
			want = option_number(value);
		else if (!(path = option_value(argc, argv, &i, "--out")))
			die("go-bench: %s?", argv[i]);
	}
	for (pages = 0; n < want; pages++) {
		n += PAGE / shape_of(pages)->size;
		bytes += PAGE / shape_of(pages)->size * shape_of(pages)->size;
	}
	out_open(&out, path);
	out_text(&out, "go1.7 heap dump\n");
	put(&out, 6);
	put(&out, 0);
	put(&out, 8);
	put(&out, HEAP);
	put(&out, HEAP + round_up(pages * PAGE, 1 << 26));
	put(&out, 5);
	out_text(&out, "amd64");
	put(&out, 8);
	out_text(&out, "go1.19.8");
	put(&out, 2);
	for (uint64_t turn = 0; turn < 7; turn++) {
		for (uint64_t page = turn * 3 % 7; page < pages; page += 7)
			for (unsigned i = 0; i < PAGE / shape_of(page)->size; i++)
				put_object(&out, page, i, pages);
	}
	put_roots(&out, pages);
	put(&out, 10);
	for (unsigned i = 0; i < 24; i++)
		put(&out, i == 0 || i == 6 ? bytes : i == 11 ? n : 0);
	for (unsigned i = 0; i < 257; i++)
		put(&out, 0);
	put(&out, 0);
	out_close(&out);
	return 0;
}
