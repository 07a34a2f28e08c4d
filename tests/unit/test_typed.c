/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_typed.c - values read by types of our own from a small memory of our own, with pointers of 4 and
 * 8 bytes in both byte orders; then lengths that lie, and structures that run in circles.
 *
 * The memory is no object of a heap but what a dump has beside them, so the heap is empty.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/describe/memory.h"
#include "base/mem.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"
#include "heap/index.h"
#include "memory/big.h"

enum { BASE = 0x10000, BYTES = 4096 };

struct world {
	struct heap heap;
	struct dump dump;
	struct address_index index;
	struct types types;
	uint8_t bytes[BYTES];
	unsigned word;
	uint32_t number, byte, text, numbers, row, node, list, map, bucket, chan, nothing;
	uint32_t swiss[2], wide; /* maps of 1.24: slots of key and elem, all keys before all elems */
};

static struct world *now; /* whose memory is read */

static const uint8_t *memory(const struct dump *dump, uint64_t address, uint64_t *n)
{
	(void)dump;
	if (address < BASE || address - BASE >= BYTES)
		return NULL;
	*n = BYTES - (address - BASE);
	return now->bytes + (address - BASE);
}

static uint64_t no_type(const struct dump *dump, uint64_t itab)
{
	(void)dump, (void)itab;
	return 0;
}

static const struct memory_reader memory_reader = { .bytes = memory, .itab_type = no_type };
static const struct reader reader = { .name = "test", .memory = &memory_reader };

static void set_bytes(struct world *w, uint64_t address, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		w->bytes[address - BASE + i] =
		    (uint8_t)(value >> 8 * (w->heap.facts.big_endian ? width - 1 - i : i));
}

/* Words from an address on. */
#define SET(w, address, ...)                                                                       \
	do {                                                                                           \
		const uint64_t list_[] = { __VA_ARGS__ };                                                  \
		for (size_t i_ = 0; i_ < sizeof list_ / sizeof *list_; i_++)                               \
			set_bytes(w, (address) + i_ * (w)->word, list_[i_], (w)->word);                        \
	} while (0)

/* --- types -------------------------------------------------------------------------------------- */

static uint32_t simple(struct world *w, const char *name, enum type_kind kind, uint64_t size,
    uint32_t element)
{
	*BIG_PUSH(w->types.type, w->types.n, w->types.cap, NULL) = (struct type){ .name = name, .kind = kind,
		.size = size, .element = element, .key = TYPE_NONE, .layout = TYPE_NONE };
	return w->types.n - 1;
}

static uint32_t array(struct world *w, const char *name, uint32_t of, uint64_t count)
{
	uint32_t a = simple(w, name, TYPE_ARRAY, count * w->types.type[of].size, of);
	w->types.type[a].count = count;
	return a;
}

static uint32_t structure(struct world *w, const char *name, uint64_t size)
{
	uint32_t s = simple(w, name, TYPE_STRUCT, size, TYPE_NONE);
	w->types.type[s].first_field = w->types.n_fields;
	return s;
}

static void field(struct world *w, uint32_t of, const char *name, uint64_t offset, uint32_t type)
{
	*BIG_PUSH(w->types.field, w->types.n_fields, w->types.cap_fields, NULL) =
	    (struct type_field){ .name = name, .offset = offset, .type = type };
	w->types.type[of].n_fields++;
}

static void make_map(struct world *w)
{
	unsigned W = w->word;
	uint32_t tops = array(w, "[8]uint8", w->byte, 8), eight = array(w, "[8]int", w->number, 8);
	w->bucket = structure(w, "bucket<int,int>", 8 + 17 * W);
	uint32_t to_bucket = simple(w, "*bucket<int,int>", TYPE_POINTER, W, w->bucket);
	field(w, w->bucket, "tophash", 0, tops);
	field(w, w->bucket, "keys", 8, eight);
	field(w, w->bucket, "values", 8 + 8 * W, eight);
	field(w, w->bucket, "overflow", 8 + 16 * W, to_bucket);
	uint32_t layout = structure(w, "hash<int,int>", 4 * W);
	field(w, layout, "count", 0, w->number);
	field(w, layout, "flags", W, w->byte);
	field(w, layout, "B", W + 1, w->byte);
	field(w, layout, "buckets", 2 * W, to_bucket);
	field(w, layout, "oldbuckets", 3 * W, to_bucket);
	w->map = simple(w, "map[int]int", TYPE_MAP, W, w->number);
	w->types.type[w->map].key = w->number;
	w->types.type[w->map].layout = layout;
}

/* map<int,V> and what it leads to, in one of two orders; V stands elsewhere if it is no number. */
static uint32_t make_swiss(struct world *w, uint32_t value, bool split)
{
	unsigned W = w->word;
	uint32_t wide = simple(w, "uint64", TYPE_UINT, 8, TYPE_NONE);
	uint32_t place = value == w->number ? value : simple(w, "*wide", TYPE_POINTER, W, value), first, second = 0;
	if (split) {
		first = array(w, "[8]int", w->number, 8);
		second = array(w, "[8]V", place, 8);
	} else {
		uint32_t slot = structure(w, "slot", 2 * W);
		field(w, slot, "key", 0, w->number);
		field(w, slot, "elem", W, place);
		first = array(w, "[8]slot", slot, 8);
	}
	uint32_t group = structure(w, "map.group[int]V", 8 + 16 * W);
	field(w, group, "ctrl", 0, wide);
	field(w, group, split ? "keys" : "slots", 8, first);
	if (split)
		field(w, group, "elems", 8 + 8 * W, second);
	uint32_t to_group = simple(w, "*group", TYPE_POINTER, W, group);
	uint32_t reference = structure(w, "groupReference", W + 8);
	field(w, reference, "data", 0, to_group);
	field(w, reference, "lengthMask", W, wide);
	uint32_t table = structure(w, "table<int,V>", 3 * W + 8);
	field(w, table, "capacity", 0, w->number);
	field(w, table, "index", W, w->number);
	field(w, table, "groups", 2 * W, reference);
	uint32_t directory = simple(w, "**table", TYPE_POINTER, W, simple(w, "*table", TYPE_POINTER, W, table));
	uint32_t head = structure(w, "map<int,V>", 3 * W);
	field(w, head, "used", 0, w->number);
	field(w, head, "dirPtr", W, directory);
	field(w, head, "dirLen", 2 * W, w->number);
	uint32_t map = simple(w, "map[int]V", TYPE_MAP, W, value);
	w->types.type[map].key = w->number;
	w->types.type[map].layout = head;
	return map;
}

static void make_types(struct world *w)
{
	unsigned W = w->word;
	w->number = simple(w, "int", TYPE_INT, W, TYPE_NONE);
	w->byte = simple(w, "uint8", TYPE_UINT, 1, TYPE_NONE);
	w->text = simple(w, "string", TYPE_STRING, 2 * W, TYPE_NONE);
	w->numbers = simple(w, "[]int", TYPE_SLICE, 3 * W, w->number);
	w->nothing = structure(w, "struct {}", 0);
	w->row = simple(w, "[]struct {}", TYPE_SLICE, 3 * W, w->nothing);
	w->list = simple(w, "*main.Node", TYPE_POINTER, W, TYPE_NONE);
	w->node = structure(w, "main.Node", 6 * W);
	uint32_t pair = array(w, "[2]string", w->text, 2);
	field(w, w->node, "Next", 0, w->list);
	field(w, w->node, "N", W, w->number);
	field(w, w->node, "Names", 2 * W, pair);
	w->types.type[w->list].element = w->node;
	make_map(w);
	w->swiss[0] = make_swiss(w, w->number, false);
	w->swiss[1] = make_swiss(w, w->number, true);
	w->wide = make_swiss(w, w->node, false);
	uint32_t layout = structure(w, "hchan<int>", 4 * W);
	field(w, layout, "qcount", 0, w->number);
	field(w, layout, "dataqsiz", W, w->number);
	field(w, layout, "buf", 2 * W, w->list);
	field(w, layout, "recvx", 3 * W, w->number);
	w->chan = simple(w, "chan int", TYPE_CHAN, W, w->number);
	w->types.type[w->chan].layout = layout;
	assert_int_equal(types_settle(&w->types, NULL), 0);
}

static struct world *world_new(unsigned word, bool big_endian)
{
	struct world *w = xcalloc(1, sizeof *w);
	now = w;
	w->word = w->types.word = word;
	w->types.big_endian = big_endian;
	w->dump = (struct dump){ .reader = &reader, .types = &w->types };
	w->heap.dump = &w->dump;
	w->heap.index = &w->index;
	w->heap.shallow = BYTES;
	w->heap.facts = (struct dump_facts){ .word_bits = 8 * word, .big_endian = big_endian,
		.interior_pointers = true };
	index_init(&w->index, 3);
	assert_int_equal(index_layout(&w->index, NULL), 0);
	assert_int_equal(index_seal(&w->index, NULL), 0);
	make_types(w);
	return w;
}

static void world_free(struct world *w)
{
	index_release(&w->index);
	types_release(&w->types);
	free(w);
}

static struct typed at(const struct world *w, uint64_t address, uint32_t type)
{
	struct typed v;
	assert_true(typed_at(&w->heap, address, type, &v));
	assert_int_equal(v.address, address);
	return v;
}

static void assert_shown(const struct typed *v, const char *want)
{
	struct text t = TEXT_INIT;
	typed_add(v, 200, &t);
	assert_string_equal(t.s, want);
	text_release(&t);
}

/* Sum of the elements, or of keys and 100 times the values; *n of them. */
static uint64_t sum(const struct typed *v, uint64_t *n, bool *broken)
{
	struct typed_contents c;
	uint64_t s = 0;
	assert_int_equal(typed_contents_open(&c, v, NULL), 0);
	for (*n = 0; typed_contents_next(&c); ++*n) {
		assert_true(*n < BYTES || !c.value.size);
		s += c.value.size ? (c.map ? 100 : 1) * typed_word(&c.value, 0) : 0;
		s += c.map ? typed_word(&c.key, 0) : 0;
	}
	*broken = c.broken;
	return s;
}

/* --- what is true ------------------------------------------------------------------------------- */

static void numbers_and_parts(struct world *w)
{
	unsigned W = w->word;
	struct typed v, part;
	SET(w, BASE, BASE, 0x1234567, BASE + 0x100, 5, BASE + 0x105, 3);
	memcpy(w->bytes + 0x100, "helloyou", 8);
	v = at(w, BASE, w->node);
	assert_int_equal(typed_word(&v, 1), 0x1234567);
	assert_int_equal(typed_field_number(&v, "N"), 0x1234567);
	assert_int_equal(typed_number(&v, W, w->heap.facts.big_endian ? W : 2), w->heap.facts.big_endian
	    ? 0x1234567 : 0x4567);
	assert_true(typed_inner(&v, 4 * W, &part));
	assert_int_equal(part.address, BASE + 4 * W);
	assert_int_equal(part.type, w->text);
	assert_shown(&part, "\"you\"");
	assert_true(typed_inner(&v, 3 * W, &part)); /* the length of the first */
	assert_int_equal(part.address, BASE + 2 * W);
	assert_false(typed_inner(&v, 6 * W, &part));
	assert_false(typed_inner(&v, UINT64_MAX, &part));
}

static void contents(struct world *w)
{
	unsigned W = w->word;
	uint64_t n;
	bool broken;
	struct typed v;
	SET(w, BASE, BASE + 0x100, 3, 5);
	SET(w, BASE + 0x100, 1, 2, 4, 8, 16);
	v = at(w, BASE, w->numbers);
	assert_int_equal(sum(&v, &n, &broken), 7);
	assert_int_equal(n, 3);
	/* a channel with room for four, of which three are taken from the last on: 8, 1, 2 */
	SET(w, BASE + 0x80, BASE + 0xa0);
	SET(w, BASE + 0xa0, 3, 4, BASE + 0x100, 3);
	v = at(w, BASE + 0x80, w->chan);
	assert_int_equal(sum(&v, &n, &broken), 11);
	assert_int_equal(n, 3);
	/* a map of two buckets, the first with an overflow: 1 -> 10, 2 -> 20; 3 -> 30 */
	uint64_t size = 8 + 17 * W, first = BASE + 0x200, more = BASE + 0x600;
	SET(w, BASE + 0x300 + 0x400, BASE + 0x780);
	SET(w, BASE + 0x780, 3, 0, first, 0);
	set_bytes(w, BASE + 0x780 + W + 1, 1, 1);
	w->bytes[first - BASE + 2] = 9;
	SET(w, first + 8 + 2 * W, 1);
	SET(w, first + 8 + 10 * W, 10);
	SET(w, first + 8 + 16 * W, more);
	w->bytes[more - BASE + 7] = 5;
	SET(w, more + 8 + 7 * W, 2);
	SET(w, more + 8 + 15 * W, 20);
	w->bytes[first + size - BASE] = 200;
	w->bytes[first + size - BASE + 1] = 4; /* moved or empty: not taken */
	SET(w, first + size + 8, 3);
	SET(w, first + size + 8 + 8 * W, 30);
	v = at(w, BASE + 0x700, w->map);
	assert_int_equal(sum(&v, &n, &broken), 100 * 60 + 6);
	assert_int_equal(n, 3);
	assert_false(broken);
}

/* The places of a group that are taken, as its control bytes say; the others are empty or deleted. */
static void set_control(struct world *w, uint64_t group, unsigned taken)
{
	uint64_t control = 0;
	for (unsigned i = 0; i < 8; i++)
		control |= (uint64_t)(taken >> i & 1 ? 0x11 + i : i & 1 ? 0x80 : 0xfe) << 8 * i;
	set_bytes(w, group, control, 8);
}

static void set_entry(struct world *w, uint64_t group, bool split, unsigned i, uint64_t key, uint64_t value)
{
	unsigned W = w->word;
	SET(w, group + 8 + (split ? i : 2 * i) * W, key);
	SET(w, group + 8 + (split ? 8 + i : 2 * i + 1) * W, value);
}

enum { HEAD = BASE + 0x40, DIRECTORY = BASE + 0x80, TABLE = BASE + 0x100, GROUPS = BASE + 0x400 };

static void set_table(struct world *w, uint64_t table, uint64_t capacity, uint64_t index, uint64_t groups,
    uint64_t mask)
{
	SET(w, table, capacity, index, groups);
	set_bytes(w, table + 3 * w->word, mask, 8);
}

static void swiss_maps(struct world *w)
{
	unsigned W = w->word;
	uint64_t n, size = 8 + 16 * W;
	bool broken;
	struct typed v;
	struct typed_contents c;
	SET(w, BASE, HEAD);
	for (unsigned split = 0; split < 2; split++) {
		v = at(w, BASE, w->swiss[split]);
		SET(w, HEAD, 0, 0, 0); /* empty, and without a group */
		assert_int_equal(sum(&v, &n, &broken), 0);
		assert_true(!n && !broken);
		/* one group: 1 -> 10, 2 -> 20; a deleted 3 -> 30 */
		SET(w, HEAD, 2, GROUPS, 0);
		set_control(w, GROUPS, 1 << 0 | 1 << 7);
		set_entry(w, GROUPS, split, 0, 1, 10);
		set_entry(w, GROUPS, split, 7, 2, 20);
		set_entry(w, GROUPS, split, 3, 3, 30);
		assert_int_equal(sum(&v, &n, &broken), 100 * 30 + 3);
		assert_true(n == 2 && !broken);
		assert_int_equal(typed_contents_open(&c, &v, NULL), 0);
		assert_true(c.size == 2 && c.capacity == 8);
		/* a directory of four: the first table stands there twice, and has two groups */
		SET(w, HEAD, 4, DIRECTORY, 4);
		SET(w, DIRECTORY, TABLE, TABLE, TABLE + 0x40, TABLE + 0x80);
		set_table(w, TABLE, 16, 0, GROUPS, 1);
		set_table(w, TABLE + 0x40, 8, 2, GROUPS + 2 * size, 0);
		set_table(w, TABLE + 0x80, 8, 3, GROUPS + 3 * size, 0);
		set_control(w, GROUPS + size, 1 << 4);
		set_entry(w, GROUPS + size, split, 4, 4, 40);
		set_control(w, GROUPS + 2 * size, 0);
		set_control(w, GROUPS + 3 * size, 1 << 5);
		set_entry(w, GROUPS + 3 * size, split, 5, 5, 50);
		assert_int_equal(sum(&v, &n, &broken), 100 * 120 + 12);
		assert_true(n == 4 && !broken);
		assert_int_equal(typed_contents_open(&c, &v, NULL), 0);
		assert_true(c.size == 4 && c.capacity == 32);
	}
	/* values that stand elsewhere: the node with N 77; where the dump lacks one the pointer is all there is */
	SET(w, HEAD, 2, GROUPS, 0);
	set_control(w, GROUPS, 1 << 1 | 1 << 2);
	set_entry(w, GROUPS, false, 1, 1, BASE + 0x300);
	set_entry(w, GROUPS, false, 2, 2, BASE + BYTES);
	SET(w, BASE + 0x300, 0, 77);
	v = at(w, BASE, w->wide);
	assert_int_equal(typed_contents_open(&c, &v, NULL), 0);
	assert_true(typed_contents_next(&c) && c.value.type == w->node);
	assert_int_equal(typed_field_number(&c.value, "N"), 77);
	assert_true(typed_contents_next(&c));
	assert_shown(&c.value, "0x11000");
	assert_false(typed_contents_next(&c));
}

/* --- what lies ---------------------------------------------------------------------------------- */

static void lengths(struct world *w)
{
	static const uint64_t huge[] = { UINT64_MAX, UINT64_MAX / 2 + 1, UINT64_MAX / 8 + 1, BYTES };
	struct typed v, part;
	uint64_t n;
	bool broken;
	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
		uint64_t length = w->word == 4 && huge[i] > UINT32_MAX ? huge[i] >> 32 : huge[i];
		SET(w, BASE, BASE + BYTES - 4 * w->word, length, length);
		v = at(w, BASE, w->numbers);
		sum(&v, &n, &broken);
		assert_int_equal(n, 4); /* what there is */
		assert_true(broken);
		v = at(w, BASE, w->row);
		sum(&v, &n, &broken);
		assert_int_equal(n, length < TYPED_MOST_EMPTY ? length : TYPED_MOST_EMPTY); /* of nothing */
		struct text t = TEXT_INIT;
		v = at(w, BASE, w->text);
		typed_add(&v, 200, &t);
		assert_non_null(strstr(t.s, "outside of the dump"));
		text_release(&t);
	}
	v = at(w, BASE, w->numbers);
	assert_int_equal(typed_number(&v, UINT64_MAX, 8), 0);
	assert_int_equal(typed_number(&v, v.size, 1), 0);
	assert_false(typed_part(&v, UINT64_MAX, w->number, &part));
	assert_false(typed_part(&v, 1, UINT32_MAX - 1, &part));
	assert_false(typed_at(&w->heap, BASE + BYTES - 1, w->number, &v));
	assert_false(typed_at(&w->heap, UINT32_MAX, w->byte, &v));
	assert_false(typed_at(&w->heap, 0, w->byte, &v));
}

static void circles(struct world *w)
{
	struct typed v;
	struct typed_contents c;
	struct text t = TEXT_INIT;
	uint64_t n;
	bool broken;
	SET(w, BASE, BASE, 7, 0, 0, 0, 0); /* a node that is its own next */
	v = at(w, BASE, w->list);
	typed_add(&v, 1000, &t);
	assert_true(t.len > 0 && t.len < 2000);
	text_release(&t);
	assert_int_not_equal(typed_contents_open(&c, &v, NULL), 0);
	/* a bucket that overflows into itself, with a place taken */
	SET(w, BASE + 0x80, BASE + 0x100);
	SET(w, BASE + 0x100, 1, 0, BASE + 0x200, 0);
	w->bytes[0x200] = 9;
	SET(w, BASE + 0x200 + 8 + 16 * w->word, BASE + 0x200);
	v = at(w, BASE + 0x80, w->map);
	sum(&v, &n, &broken);
	assert_true(broken && n <= 2);
	w->bytes[0x200] = 0; /* and with none: only the length of the chain ends it */
	sum(&v, &n, &broken);
	assert_true(broken && n == 0);
	set_bytes(w, BASE + 0x100 + w->word + 1, 255, 1); /* 2^255 buckets */
	assert_int_not_equal(typed_contents_open(&c, &v, NULL), 0);
	set_bytes(w, BASE + 0x100 + w->word + 1, 40, 1); /* more than there is memory for */
	SET(w, BASE + 0x200 + 8 + 16 * w->word, 0);
	sum(&v, &n, &broken);
	assert_true(broken);
}

/* Maps whose numbers lie: the walk ends, and says that it went astray. */
static void swiss_lies(struct world *w)
{
	struct typed_contents c;
	static const uint64_t huge[] = { UINT64_MAX, UINT64_C(1) << 40, UINT64_C(1) << 31, 100 };
	struct typed v = { .heap = NULL };
	uint64_t n;
	bool broken;
	SET(w, BASE, HEAD);
	v = at(w, BASE, w->swiss[0]);
	for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
		uint64_t word = w->word == 4 && huge[i] > UINT32_MAX ? huge[i] >> 32 : huge[i];
		SET(w, HEAD, 1, GROUPS, word); /* a directory longer than memory, of numbers */
		sum(&v, &n, &broken);
		assert_true(broken && !n);
		/* a table of more groups than memory has, all empty */
		SET(w, HEAD, 1, DIRECTORY, 1);
		SET(w, DIRECTORY, TABLE);
		set_table(w, TABLE, 8, 0, GROUPS, huge[i]);
		memset(w->bytes + (GROUPS - BASE), 0x80, BYTES - (GROUPS - BASE));
		sum(&v, &n, &broken);
		assert_true(broken && !n);
		set_table(w, TABLE, 8, 0, BASE + BYTES + huge[i] % BASE, 0); /* groups nowhere */
		sum(&v, &n, &broken);
		assert_true(broken && !n);
		/* used says more, and less, than there is */
		SET(w, HEAD, word, GROUPS, 0);
		set_control(w, GROUPS, 1);
		sum(&v, &n, &broken);
		assert_true(broken && n == 1);
		SET(w, HEAD, 1, GROUPS, 0);
		set_control(w, GROUPS, 3);
		sum(&v, &n, &broken);
		assert_true(broken && n == 1);
	}
	/* every place of the directory a table of the same empty groups: the heap has no room for so many */
	SET(w, HEAD, 1, DIRECTORY, 8);
	memset(w->bytes + (GROUPS - BASE), 0x80, BYTES - (GROUPS - BASE));
	for (unsigned i = 0; i < 8; i++) {
		SET(w, DIRECTORY + i * w->word, TABLE + 0x40 * i);
		set_table(w, TABLE + 0x40 * i, 8, i, GROUPS, 7);
	}
	sum(&v, &n, &broken);
	assert_true(broken && !n);
	/* a program that says that a group takes no bytes */
	SET(w, HEAD, 1, GROUPS, 0);
	for (uint32_t i = 0; i < w->types.n; i++)
		if (!strcmp(w->types.type[i].name, "map.group[int]V"))
			w->types.type[i].size = 0;
	v = at(w, BASE, w->swiss[0]);
	assert_int_not_equal(typed_contents_open(&c, &v, NULL), 0);
}

/* --- all ---------------------------------------------------------------------------------------- */

static void in_all_machines(void (*check)(struct world *w))
{
	for (unsigned i = 0; i < 4; i++) {
		struct world *w = world_new(i & 1 ? 8 : 4, i & 2);
		check(w);
		world_free(w);
	}
}

static void test_numbers_and_parts(void **state)
{
	(void)state;
	in_all_machines(numbers_and_parts);
}

static void test_contents(void **state)
{
	(void)state;
	in_all_machines(contents);
}

static void test_lengths(void **state)
{
	(void)state;
	in_all_machines(lengths);
}

static void test_swiss_maps(void **state)
{
	(void)state;
	in_all_machines(swiss_maps);
	in_all_machines(swiss_lies);
}

static void test_circles(void **state)
{
	(void)state;
	in_all_machines(circles);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_and_parts),
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_swiss_maps),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_circles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
