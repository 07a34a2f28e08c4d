/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_typing.c - how claims spread: a small memory of our own, types of our own, and what each object
 * must turn out to be.  Maps of Go 1.24 and later are here because no dump with them is at hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/mem.h"
#include "dump/go/go_typing.h"
#include "dump/program/program_read.h"

enum { MOST = 64, START = 0xc000, W = 8 };

/* Objects behind one another; their bytes are followed by a field list, as in a dump. */
struct world {
	struct classifier c; /* first */
	struct types types;
	struct typing t;
	uint64_t at[MOST], size[MOST];
	uint8_t *bytes[MOST];
	uint64_t next;
	const char *class_name[MOST]; /* "": none */
	uint64_t length[MOST];
	enum typed_by by[MOST];
	char names[MOST][80];
	uint32_t n_names;
};

static uint32_t object_at(struct classifier *c, uint64_t address, uint64_t *start)
{
	struct world *w = (struct world *)c;

	for (uint32_t i = 0; i < c->n_objects; i++)
		if (address >= w->at[i] && address - w->at[i] < w->size[i]) {
			*start = w->at[i];
			return i;
		}
	return UINT32_MAX;
}

static uint64_t size_of(struct classifier *c, uint32_t id)
{
	return ((struct world *)c)->size[id];
}

static void soon_at(struct classifier *c, uint64_t address)
{
	(void)c;
	(void)address;
}

static void soon(struct classifier *c, uint32_t id, bool bytes)
{
	(void)bytes;
	assert_true(id < c->n_objects);
}

static const uint8_t *bytes_of(struct classifier *c, uint32_t id, uint64_t *start, uint64_t *size)
{
	struct world *w = (struct world *)c;

	if (start)
		*start = w->at[id];
	if (size)
		*size = w->size[id];
	return w->bytes[id];
}

static uint32_t new_class(struct classifier *c, const char *name, enum object_kind kind,
    uint64_t element_size, uint32_t type)
{
	struct world *w = (struct world *)c;

	(void)kind;
	(void)element_size;
	(void)type;
	for (uint32_t i = 0; i < w->n_names; i++)
		assert_string_not_equal(w->names[i], name);
	snprintf(w->names[w->n_names], sizeof w->names[0], "%s", name);
	return w->n_names++;
}

static void assign(struct classifier *c, uint32_t id, uint32_t class, uint64_t length, enum typed_by by)
{
	struct world *w = (struct world *)c;

	assert_true(class < w->n_names && !w->class_name[id][0]);
	w->class_name[id] = w->names[class];
	w->length[id] = length;
	w->by[id] = by;
}

/* --- making types ------------------------------------------------------------------------------ */

static uint32_t add_type(struct world *w, struct type type)
{
	*BIG_PUSH(w->types.type, w->types.n, w->types.cap, NULL) = type;
	return w->types.n - 1;
}

static uint32_t simple(struct world *w, const char *name, enum type_kind kind, uint64_t size,
    uint32_t element)
{
	return add_type(w, (struct type){.name = name, .kind = kind, .size = size, .element = element,
	    .key = TYPE_NONE, .layout = TYPE_NONE});
}

static uint32_t structure(struct world *w, const char *name, uint64_t size)
{
	uint32_t i = simple(w, name, TYPE_STRUCT, size, TYPE_NONE);
	w->types.type[i].first_field = w->types.n_fields;
	return i;
}

/* To the struct made last. */
static void field(struct world *w, const char *name, uint64_t offset, uint32_t type)
{
	*BIG_PUSH(w->types.field, w->types.n_fields, w->types.cap_fields, NULL) =
	    (struct type_field){.name = name, .offset = offset, .type = type};
	for (uint32_t i = w->types.n; i-- > 0;)
		if (w->types.type[i].kind == TYPE_STRUCT) {
			w->types.type[i].n_fields++;
			return;
		}
}

static uint32_t pointer(struct world *w, const char *name, uint32_t to)
{
	return simple(w, name, TYPE_POINTER, W, to);
}

/* --- making memory ------------------------------------------------------------------------------ */

static uint32_t object(struct world *w, uint64_t size)
{
	uint32_t id = w->c.n_objects++;

	w->at[id] = w->next;
	w->size[id] = size;
	w->class_name[id] = "";
	w->bytes[id] = xcalloc(size + 8, 1); /* field list: empty */
	w->next += size;
	return id;
}

static void set(struct world *w, uint32_t id, uint64_t offset, uint64_t value)
{
	memcpy(w->bytes[id] + offset, &value, sizeof value);
}

static struct world *world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->c = (struct classifier){.object_at = object_at, .size = size_of, .soon_at = soon_at,
	    .soon = soon, .bytes = bytes_of, .new_class = new_class, .assign = assign};
	w->types.word = W;
	w->next = START;
	simple(w, "int", TYPE_INT, 8, TYPE_NONE);    /* 0 */
	simple(w, "uint8", TYPE_UINT, 1, TYPE_NONE); /* 1 */
	simple(w, "string", TYPE_STRING, 16, TYPE_NONE); /* 2 */
	return w;
}

static void begin(struct world *w)
{
	struct err err = ERR_INIT;

	assert_int_equal(types_settle(&w->types, NULL), 0);
	w->t = (struct typing){.c = &w->c, .word = W,
	    .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .low = START, .high = UINT64_MAX, .err = &err};
	assert_int_equal(type_book_build(&w->t.go, &w->types, &err), 0);
	w->t.tiny_form = 2 * w->types.n;
	w->t.state = xcalloc(MOST, sizeof *w->t.state);
	w->t.waiting = xcalloc(MOST / 64 + 1, sizeof *w->t.waiting);
	w->t.queue = xcalloc(TYPING_QUEUE, sizeof *w->t.queue);
}

static void finish(struct world *w)
{
	assert_int_equal(typing_drain(&w->t), 0);
	assert_int_equal(typing_assign(&w->t), 0);
}

static void world_free(struct world *w)
{
	type_book_release(&w->t.go);
	free(w->t.state);
	free(w->t.waiting);
	free(w->t.queue);
	big_free(w->t.chunk);
	big_free(w->t.chunk_set);
	for (uint32_t i = 0; i < w->c.n_objects; i++)
		free(w->bytes[i]);
	types_release(&w->types);
	free(w);
}

static void is(const struct world *w, uint32_t id, const char *name, uint64_t length, enum typed_by by)
{
	assert_string_equal(w->class_name[id], name);
	assert_int_equal(w->length[id], length);
	assert_int_equal(w->by[id], by);
}

/* --- cases ---------------------------------------------------------------------------------------- */

/* A list that is its own end, strings, a slice, and a pointer to a first field that must not win. */
static void spreads(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t node = structure(w, "main.Node", 64), to_node = pointer(w, "*main.Node", node);
	uint32_t slice = simple(w, "[]main.Node", TYPE_SLICE, 24, node);
	uint32_t to_int = pointer(w, "*int", 0);
	/* the fields of the struct that was made last */
	field(w, "n", 0, 0);
	field(w, "next", 8, to_node);
	field(w, "name", 16, 2);
	field(w, "more", 32, slice);
	field(w, "n_of_next", 56, to_int);
	uint32_t a = object(w, 64), b = object(w, 64), text = object(w, 16), array = object(w, 192);
	uint32_t lost = object(w, 64), inside = object(w, 16);
	begin(w);
	set(w, a, 8, w->at[b]);
	set(w, a, 56, w->at[b]); /* n of b */
	set(w, b, 8, w->at[a]);
	set(w, b, 16, w->at[text]);
	set(w, b, 24, 9);
	set(w, b, 32, w->at[array]);
	set(w, b, 40, 1);
	set(w, b, 48, 3);
	set(w, array, 128 + 16, w->at[inside]); /* the third element's name */
	set(w, array, 128 + 24, 12);
	typing_claim(&w->t, w->at[a], node, TYPED_BY_GLOBAL);
	finish(w);
	is(w, a, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	is(w, b, "main.Node", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	is(w, text, "[]uint8", 16, TYPED_BY_POINTER);
	is(w, array, "[]main.Node", 3, TYPED_BY_POINTER);
	is(w, inside, "[]uint8", 16, TYPED_BY_POINTER);
	assert_string_equal(w->class_name[lost], "");
	assert_int_equal(w->t.conflicts, 0);
	world_free(w);
}

/* A value in the middle of something unknown is followed, but names nothing. */
static void chunks(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t pair = structure(w, "main.Pair", 16), to_pair = pointer(w, "*main.Pair", pair);
	field(w, "next", 0, to_pair);
	field(w, "n", 8, 0);
	uint32_t whole = object(w, 96), end = object(w, 16), small = object(w, 8);
	begin(w);
	set(w, whole, 40, w->at[whole] + 40); /* to itself: must end */
	set(w, whole, 64, w->at[end]);
	typing_claim(&w->t, w->at[whole] + 40, pair, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[whole] + 64, pair, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[small], pair, TYPED_BY_GLOBAL); /* does not fit */
	finish(w);
	assert_string_equal(w->class_name[whole], "");
	assert_string_equal(w->class_name[small], "");
	is(w, end, "main.Pair", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	assert_int_equal(w->t.conflicts, 1);
	world_free(w);
}

/* Whichever comes first: the claim that fills the object, then the one that says more. */
static void preference(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct world *w = world_new();
		uint32_t big = structure(w, "main.Big", 48), small = simple(w, "main.Id", TYPE_INT, 8, TYPE_NONE);
		field(w, "id", 0, small);
		uint32_t other = structure(w, "main.Other", 48);
		uint32_t a = object(w, 48), b = object(w, 48);
		begin(w);
		for (int i = 0; i < 2; i++) {
			typing_claim(&w->t, w->at[a], i == turn ? big : small, TYPED_BY_POINTER);
			typing_claim(&w->t, w->at[b], i == turn ? big : other, TYPED_BY_FRAME);
		}
		finish(w);
		is(w, a, "main.Big", LENGTH_UNKNOWN, TYPED_BY_POINTER);
		is(w, b, "main.Big", LENGTH_UNKNOWN, TYPED_BY_FRAME);
		assert_int_equal(w->t.conflicts, 1); /* b: two structs of one size */
		world_free(w);
	}
}

static void interfaces(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t holder = structure(w, "main.Holder", 32);
	uint32_t any = simple(w, "interface {}", TYPE_EMPTY_INTERFACE, 16, TYPE_NONE);
	uint32_t shape = simple(w, "main.Shape", TYPE_INTERFACE, 16, TYPE_NONE);
	field(w, "any", 0, any);
	field(w, "shape", 16, shape);
	uint32_t rect = structure(w, "main.Rect", 16);
	uint32_t to_rect = pointer(w, "*main.Rect", rect);
	w->types.type[rect].descriptor = 0x1000;
	w->types.type[to_rect].descriptor = 0x2000;
	uint32_t a = object(w, 32), value = object(w, 16), direct = object(w, 16);
	begin(w);
	uint64_t itabs[] = {0x8000, 0x2000};
	w->t.itab = itabs;
	w->t.n_itabs = 1;
	set(w, a, 0, 0x1000); /* a copy of a Rect */
	set(w, a, 8, w->at[value]);
	set(w, a, 16, 0x8000); /* a *Rect, which is the data word itself */
	set(w, a, 24, w->at[direct]);
	typing_claim(&w->t, w->at[a], holder, TYPED_BY_GLOBAL);
	finish(w);
	is(w, value, "main.Rect", LENGTH_UNKNOWN, TYPED_BY_INTERFACE);
	is(w, direct, "main.Rect", LENGTH_UNKNOWN, TYPED_BY_INTERFACE);
	world_free(w);
}

/* hash<K,V> with 4 buckets, and one that overflows. */
static void old_map(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t bucket = structure(w, "bucket<int,int>", 144);
	uint32_t to_bucket = pointer(w, "*bucket<int,int>", bucket);
	uint32_t word = simple(w, "uintptr", TYPE_UINTPTR, 8, TYPE_NONE);
	field(w, "overflow", 136, word); /* keys and values hold no pointers */
	uint32_t hash = structure(w, "hash<int,int>", 48);
	field(w, "B", 9, 1);
	field(w, "buckets", 16, to_bucket);
	field(w, "oldbuckets", 24, to_bucket);
	uint32_t map = simple(w, "map[int]int", TYPE_MAP, 8, 0);
	w->types.type[map].key = 0;
	w->types.type[map].layout = hash;
	uint32_t head = object(w, 48), buckets = object(w, 576), old = object(w, 288), more = object(w, 144);
	begin(w);
	w->bytes[head][9] = 2;
	set(w, head, 16, w->at[buckets]);
	set(w, head, 24, w->at[old]);
	set(w, buckets, 3 * 144 + 136, w->at[more]);
	typing_claim(&w->t, w->at[head], hash, TYPED_BY_GLOBAL);
	finish(w);
	is(w, head, "map[int]int", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	is(w, buckets, "map[int]int buckets", 4, TYPED_BY_POINTER);
	is(w, old, "map[int]int buckets", 2, TYPED_BY_POINTER);
	is(w, more, "map[int]int buckets", 1, TYPED_BY_POINTER);
	world_free(w);
}

/* map<K,V> of 1.24: a directory of tables with groups, or one group. */
static void new_map(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t group = structure(w, "group<string,int>", 208), to_group = pointer(w, "*group", group);
	uint32_t slots = simple(w, "[8]string", TYPE_ARRAY, 128, 2);
	w->types.type[slots].count = 8;
	field(w, "keys", 8, slots);
	uint32_t reference = structure(w, "groupReference<string,int>", 16);
	field(w, "data", 0, to_group);
	field(w, "lengthMask", 8, 0);
	uint32_t table = structure(w, "table<string,int>", 32), to_table = pointer(w, "*table", table);
	field(w, "used", 0, 0);
	field(w, "groups", 16, reference);
	uint32_t directory = pointer(w, "**table", to_table);
	uint32_t head = structure(w, "map<string,int>", 48);
	field(w, "used", 0, 0);
	field(w, "dirPtr", 16, directory);
	field(w, "dirLen", 24, 0);
	uint32_t map = simple(w, "map[string]int", TYPE_MAP, 8, 0);
	w->types.type[map].key = 2;
	w->types.type[map].layout = head;
	uint32_t large = object(w, 48), dir = object(w, 16), tables[2] = {object(w, 32), object(w, 32)};
	uint32_t groups = object(w, 416), small = object(w, 48), single = object(w, 208), key = object(w, 32);
	begin(w);
	set(w, large, 16, w->at[dir]);
	set(w, large, 24, 2);
	set(w, dir, 0, w->at[tables[0]]);
	set(w, dir, 8, w->at[tables[1]]);
	set(w, tables[1], 16, w->at[groups]);
	set(w, tables[1], 24, 1); /* a mask: two groups */
	set(w, small, 16, w->at[single]);
	set(w, single, 8 + 16, w->at[key]);
	set(w, single, 8 + 24, 30);
	typing_claim(&w->t, w->at[large], head, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[small], head, TYPED_BY_GLOBAL);
	finish(w);
	is(w, large, "map[string]int", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	is(w, dir, "[]*table", 2, TYPED_BY_POINTER);
	is(w, tables[0], "map[string]int table", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	is(w, groups, "map[string]int buckets", 2, TYPED_BY_POINTER);
	is(w, single, "map[string]int buckets", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	is(w, key, "[]uint8", 32, TYPED_BY_POINTER);
	world_free(w);
}

static void channels(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t any = simple(w, "unsafe.Pointer", TYPE_POINTER, 8, TYPE_NONE);
	uint32_t hchan = structure(w, "hchan<string>", 96);
	field(w, "dataqsiz", 8, 0);
	field(w, "buf", 16, any);
	uint32_t one_way = simple(w, "<-chan string", TYPE_CHAN, 8, 2);
	uint32_t chan = simple(w, "chan string", TYPE_CHAN, 8, 2);
	w->types.type[one_way].layout = w->types.type[chan].layout = hchan;
	uint32_t head = object(w, 96), buffer = object(w, 64), text = object(w, 8);
	begin(w);
	set(w, head, 8, 4);
	set(w, head, 16, w->at[buffer]);
	set(w, buffer, 48, w->at[text]);
	set(w, buffer, 56, 5);
	typing_claim(&w->t, w->at[head], hchan, TYPED_BY_GLOBAL);
	finish(w);
	is(w, head, "chan string", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	is(w, buffer, "[]string", 4, TYPED_BY_POINTER);
	is(w, text, "[]uint8", 8, TYPED_BY_POINTER);
	world_free(w);
}

/* Since 1.22 objects above 512 bytes with pointers begin with 8 bytes of their own. */
static void headers(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t big = structure(w, "main.Big", 600), to_big = pointer(w, "*main.Big", big);
	field(w, "next", 0, to_big);
	uint32_t a = object(w, 640), b = object(w, 640);
	begin(w);
	w->t.layout = go_layout_of(22, W, "");
	set(w, a, 8, w->at[b] + 8);
	typing_claim(&w->t, w->at[a] + 8, big, TYPED_BY_GLOBAL);
	finish(w);
	is(w, a, "main.Big", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	is(w, b, "main.Big", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_free(w);
}

/* The header tells the type of what nothing leads to, and of more than one value it tells the element's.
 * What it cannot be is no type. */
static void types_in_headers(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t big = structure(w, "main.Big", 600), to_big = pointer(w, "*main.Big", big);
	field(w, "next", 0, to_big);
	uint32_t cell = structure(w, "main.Cell", 40), huge = structure(w, "main.Huge", 700);
	w->types.type[big].descriptor = 0x500000;
	w->types.type[cell].descriptor = 0x500100;
	w->types.type[huge].descriptor = 0x500200;
	uint32_t one = object(w, 640), many = object(w, 1024), nowhere = object(w, 640),
	    small = object(w, 512), too_big = object(w, 640), too_large = object(w, 40960);
	begin(w);
	w->t.layout = go_layout_of(22, W, "");
	w->t.field_lists = true;
	w->t.source_end = (const uint8_t *)UINTPTR_MAX;
	const struct { uint32_t id; uint64_t descriptor; } head[] = {{one, 0x500000}, {many, 0x500100},
	    {nowhere, 0x500008}, {small, 0x500100}, {too_big, 0x500200}, {too_large, 0x500000}};
	for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
		set(w, head[i].id, 0, head[i].descriptor);
		w->bytes[head[i].id][w->size[head[i].id]] = 1; /* they hold pointers: at 8 */
		w->bytes[head[i].id][w->size[head[i].id] + 1] = 8;
	}
	w->t.go.of[cell].unsure = true; /* its pointers are not told here */
	assert_int_equal(typing_from_headers(&w->t), 0);
	typing_claim(&w->t, w->at[one] + 8, cell, TYPED_BY_GLOBAL); /* the header knows better */
	finish(w);
	is(w, one, "main.Big", LENGTH_UNKNOWN, TYPED_BY_HEADER);
	is(w, many, "[]main.Cell", (1024 - 8) / 40, TYPED_BY_HEADER);
	const uint32_t untyped[] = {nowhere, small, too_big, too_large};
	for (size_t i = 0; i < sizeof untyped / sizeof *untyped; i++)
		assert_string_equal(w->class_name[untyped[i]], "");
	assert_true(w->t.conflicts > 0);
	world_free(w);
}

/* The trie of package unique: DWARF tells the type of its children by what all nodes have in common.  That of
 * sync.Map, of whose entries it has the shape alone. */
static void tries(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t any = pointer(w, "unsafe.Pointer", TYPE_NONE);
	uint32_t node = structure(w, "unique.node[go.shape.string]", 1);
	field(w, "isEntry", 0, 1);
	structure(w, "go.shape.struct { unique.isEntry bool }", 1);
	field(w, "isEntry", 0, 1);
	uint32_t to_node = structure(w, "sync/atomic.Pointer[go.shape.struct { unique.isEntry bool }]", 8);
	field(w, "v", 0, any);
	uint32_t children = simple(w, "[16]sync/atomic.Pointer[…]", TYPE_ARRAY, 128, to_node);
	w->types.type[children].count = 16;
	uint32_t inner = structure(w, "unique.indirect[go.shape.string]", 160);
	field(w, "node", 0, node);
	field(w, "children", 24, children);
	uint32_t shape = structure(w, "go.shape.struct { unique.node = unique.node[go.shape.string]; … }", 160);
	field(w, "node", 0, node);
	field(w, "children", 24, children);
	structure(w, "unique.entry[go.shape.string]", 32);
	field(w, "node", 0, node);
	field(w, "key", 8, 2);
	uint32_t sync_node = structure(w, "internal/sync.node[string,interface {}]", 1);
	field(w, "isEntry", 0, 1);
	structure(w, "internal/sync.entry[go.shape.string,go.shape.interface {}]", 48);
	field(w, "node", 0, sync_node);
	field(w, "key", 16, 2);
	uint32_t a = object(w, 160), b = object(w, 160), c = object(w, 32), d = object(w, 32), e = object(w, 48);
	begin(w);
	set(w, a, 24, w->at[b]);
	set(w, a, 24 + 15 * W, w->at[c]);
	set(w, b, 24 + 8 * W, w->at[d]);
	w->bytes[c][0] = w->bytes[d][0] = w->bytes[e][0] = 1;
	typing_claim(&w->t, w->at[a], shape, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[a], inner, TYPED_BY_POINTER);
	typing_claim(&w->t, w->at[e], sync_node, TYPED_BY_GLOBAL);
	finish(w);
	is(w, a, "unique.indirect[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	is(w, b, "unique.indirect[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	is(w, c, "unique.entry[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	is(w, d, "unique.entry[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	is(w, e, "internal/sync.entry[go.shape.string,go.shape.interface {}]", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	assert_int_equal(w->t.conflicts, 0);
	assert_int_equal(type_book_named(&w->types, "unique.entry[[2]string]"), TYPE_NONE);
	assert_int_equal(type_book_named(&w->types, "unique.node[string]"), node);
	assert_int_equal(type_book_named(&w->types, "[]a.b[unclosed"), TYPE_NONE);
	world_free(w);
}

/* The list of pointer words behind the contents; n at most 3. */
static void pointers_at(struct world *w, uint32_t id, int n, const uint8_t *offset)
{
	for (int i = 0; i < n; i++) {
		w->bytes[id][w->size[id] + 2 * i] = 1;
		w->bytes[id][w->size[id] + 2 * i + 1] = offset[i];
	}
}

/* A type is refused where the object's pointer words are not its own: what lies there is followed all
 * the same.  And a variable that holds a map is no map. */
static void pointer_words(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t in = structure(w, "main.In", 24); /* sl0 = w.X[:2] of a main.W {X [2]In; Y *In} */
	field(w, "n", 0, 0);
	field(w, "text", 8, 2);
	uint32_t pair = structure(w, "main.Pair", 16);
	uint32_t map = simple(w, "map[int]int", TYPE_MAP, 8, 0);
	w->types.type[map].key = 0;
	w->types.type[map].layout = pair;
	uint32_t a = object(w, 64), b = object(w, 64), c = object(w, 16), d = object(w, 32);
	uint32_t e = object(w, 32), cell = object(w, 8), text = object(w, 16);
	pointers_at(w, a, 3, (uint8_t[]){8, 32, 48});
	pointers_at(w, b, 2, (uint8_t[]){8, 32});
	pointers_at(w, c, 1, (uint8_t[]){8});
	pointers_at(w, d, 1, (uint8_t[]){8});
	pointers_at(w, e, 1, (uint8_t[]){0});
	pointers_at(w, cell, 1, (uint8_t[]){0});
	begin(w);
	w->t.field_lists = true;
	w->t.source_end = (const uint8_t *)UINTPTR_MAX;
	set(w, a, 8, w->at[text]);
	set(w, a, 16, 16);
	typing_claim_array(&w->t, w->at[a], in, 2, TYPED_BY_GLOBAL); /* and a pointer behind them */
	typing_claim_array(&w->t, w->at[b], in, 2, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[c], 0, TYPED_BY_GLOBAL);     /* an int before a pointer */
	typing_claim(&w->t, w->at[d], in, TYPED_BY_GLOBAL);    /* fits */
	typing_claim(&w->t, w->at[e], in, TYPED_BY_GLOBAL);    /* its pointer is elsewhere */
	typing_claim(&w->t, w->at[cell], map, TYPED_BY_GLOBAL);
	finish(w);
	assert_string_equal(w->class_name[a], "");
	is(w, text, "[]uint8", 16, TYPED_BY_POINTER);
	is(w, b, "[]main.In", 2, TYPED_BY_GLOBAL);
	assert_string_equal(w->class_name[c], "");
	is(w, d, "main.In", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	assert_string_equal(w->class_name[e], "");
	is(w, cell, "map[int]int pointer", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_free(w);
}

/* Values of less than 16 bytes share objects: none of them names one that holds another, whichever is
 * met first; one that fills it does. */
static void tiny_blocks(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct world *w = world_new();
		uint32_t boolean = simple(w, "bool", TYPE_BOOL, 1, TYPE_NONE);
		uint32_t pair = structure(w, "main.Pair", 16);
		field(w, "a", 0, 0);
		field(w, "b", 8, 0);
		uint32_t mixed = object(w, 16), whole = object(w, 16), one = object(w, 16);
		uint32_t inside = object(w, 16), texts = object(w, 16), askew = object(w, 16);
		begin(w);
		w->t.field_lists = true;
		w->t.source_end = (const uint8_t *)UINTPTR_MAX;
		for (int i = 0; i < 2; i++) {
			if (i == turn) {
				typing_claim(&w->t, w->at[mixed], 0, TYPED_BY_GLOBAL);
				typing_claim(&w->t, w->at[whole], pair, TYPED_BY_GLOBAL);
				typing_claim_array(&w->t, w->at[texts], 1, 8, TYPED_BY_GLOBAL);
			} else {
				typing_claim_array(&w->t, w->at[mixed] + 8, boolean, 3, TYPED_BY_GLOBAL);
				typing_claim(&w->t, w->at[whole] + 8, 0, TYPED_BY_GLOBAL);
				typing_claim_array(&w->t, w->at[texts] + 8, 1, 8, TYPED_BY_GLOBAL);
			}
		}
		typing_claim(&w->t, w->at[one], 0, TYPED_BY_GLOBAL);
		typing_claim(&w->t, w->at[inside] + 8, 0, TYPED_BY_GLOBAL);
		typing_claim(&w->t, w->at[askew] + 4, 0, TYPED_BY_GLOBAL);
		finish(w);
		is(w, mixed, "tiny block", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		is(w, whole, "main.Pair", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		is(w, one, "int", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		is(w, inside, "[]int", 2, TYPED_BY_GLOBAL);
		is(w, askew, "tiny block", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
		is(w, texts, "[]uint8", 16, TYPED_BY_GLOBAL);
		world_free(w);
	}
}

static void called(const struct program *p, uint64_t address, const char *want)
{
	struct text name = TEXT_INIT;

	assert_int_equal(program_symbol(p, address, &name), want != NULL);
	if (want)
		assert_string_equal(name.s, want);
	text_release(&name);
}

/* var first = &Node{...}; var all = []Node{{...}, {...}}; var count = &n: what they point to lies in
 * the program's data, has no name there, and leads to objects. */
static void statics(void **state)
{
	(void)state;
	enum { DATA = 0x1000, FIRST = 0x40, ALL = 0x80, CELL = 0xF0 };
	struct world *w = world_new();
	uint32_t node = structure(w, "main.Node", 24), to_node = pointer(w, "*main.Node", node);
	field(w, "n", 0, 0);
	field(w, "kept", 8, to_node);
	field(w, "next", 16, to_node);
	uint32_t slice = simple(w, "[]main.Node", TYPE_SLICE, 24, node);
	uint32_t to_pointer = pointer(w, "**main.Node", to_node);
	uint32_t a = object(w, 24), b = object(w, 24), c = object(w, 24), lost = object(w, 24);
	uint64_t data[32] = {0};
	data[0] = DATA + FIRST;                       /* first */
	data[1] = DATA + ALL, data[2] = data[3] = 2;  /* all */
	data[4] = DATA + CELL;                        /* cell */
	data[FIRST / W + 1] = w->at[a];
	data[FIRST / W + 2] = DATA + FIRST;           /* itself: must end */
	data[ALL / W + 3 + 1] = w->at[b];             /* all[1].kept */
	data[CELL / W] = w->at[c];
	data[5] = DATA + 31 * W;                      /* beyond: does not fit into the segment */
	struct program_variable variable[] = {{"main.first", DATA, to_node}, {"main.all", DATA + 8, slice},
	    {"main.cell", DATA + 32, to_pointer}, {"main.beyond", DATA + 40, to_node}};
	begin(w);
	struct program p = {.variable = variable, .n_variables = 4, .types = w->types};
	w->t.program = &p;
	typing_add_segment(&w->t, DATA, (const uint8_t *)data, sizeof data);
	for (int i = 0; i < 4; i++) {
		struct memory m = {.bytes = (const uint8_t *)data, .size = sizeof data, .address = DATA,
		    .variable = &variable[i]};
		typing_walk(&w->t, &m, variable[i].address - DATA, variable[i].type, 1, TYPED_BY_GLOBAL);
	}
	called(&p, DATA + FIRST + 8, NULL);
	finish(w);
	assert_int_equal(typing_end_statics(&w->t, true), 0);
	is(w, a, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	is(w, b, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	is(w, c, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	assert_string_equal(w->class_name[lost], "");
	assert_int_equal(w->t.conflicts, 1);
	called(&p, DATA, "main.first");
	called(&p, DATA + FIRST + 8, "main.first.kept");
	called(&p, DATA + ALL + 24 + 8, "main.all[1].kept");
	called(&p, DATA + CELL, "*main.cell");
	called(&p, DATA + 31 * W, NULL);
	arena_release(&p.statics->names);
	big_free(p.statics);
	w->t.program = NULL;
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spreads), cmocka_unit_test(chunks), cmocka_unit_test(preference),
	    cmocka_unit_test(interfaces), cmocka_unit_test(old_map), cmocka_unit_test(new_map),
	    cmocka_unit_test(channels), cmocka_unit_test(headers), cmocka_unit_test(types_in_headers),
	    cmocka_unit_test(tries),
	    cmocka_unit_test(statics), cmocka_unit_test(pointer_words),
	    cmocka_unit_test(tiny_blocks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
