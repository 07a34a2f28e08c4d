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

#include "go_world.h"

/* --- cases ---------------------------------------------------------------------------------------- */

/* A list that is its own end, strings, a slice, and a pointer to a first field that must not win. */
static void spreads(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t node = world_structure(w, "main.Node", 64), to_node = world_pointer(w, "*main.Node", node);
	uint32_t slice = world_simple(w, "[]main.Node", TYPE_SLICE, 24, node);
	uint32_t to_int = world_pointer(w, "*int", 0);
	/* the fields of the struct that was made last */
	world_field(w, "n", 0, 0);
	world_field(w, "next", 8, to_node);
	world_field(w, "name", 16, 2);
	world_field(w, "more", 32, slice);
	world_field(w, "n_of_next", 56, to_int);
	uint32_t a = world_object(w, 64), b = world_object(w, 64), text = world_object(w, 16), array = world_object(w, 192);
	uint32_t lost = world_object(w, 64), inside = world_object(w, 16);
	world_begin(w);
	world_set(w, a, 8, w->at[b]);
	world_set(w, a, 56, w->at[b]); /* n of b */
	world_set(w, b, 8, w->at[a]);
	world_set(w, b, 16, w->at[text]);
	world_set(w, b, 24, 9);
	world_set(w, b, 32, w->at[array]);
	world_set(w, b, 40, 1);
	world_set(w, b, 48, 3);
	world_set(w, array, 128 + 16, w->at[inside]); /* the third element's name */
	world_set(w, array, 128 + 24, 12);
	typing_claim(&w->t, w->at[a], node, TYPED_BY_GLOBAL);
	world_finish(w);
	world_is(w, a, "main.Node", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_is(w, b, "main.Node", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_is(w, text, "[]uint8", 16, TYPED_BY_POINTER);
	world_is(w, array, "[]main.Node", 3, TYPED_BY_POINTER);
	world_is(w, inside, "[]uint8", 16, TYPED_BY_POINTER);
	assert_string_equal(w->class_name[lost], "");
	assert_int_equal(w->t.conflicts, 0);
	world_free(w);
}

/* A value in the middle of something unknown is followed, but names nothing. */
static void chunks(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t pair = world_structure(w, "main.Pair", 16), to_pair = world_pointer(w, "*main.Pair", pair);
	world_field(w, "next", 0, to_pair);
	world_field(w, "n", 8, 0);
	uint32_t whole = world_object(w, 96), end = world_object(w, 16), small = world_object(w, 8);
	world_begin(w);
	world_set(w, whole, 40, w->at[whole] + 40); /* to itself: must end */
	world_set(w, whole, 64, w->at[end]);
	typing_claim(&w->t, w->at[whole] + 40, pair, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[whole] + 64, pair, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[small], pair, TYPED_BY_GLOBAL); /* does not fit */
	world_finish(w);
	assert_string_equal(w->class_name[whole], "");
	assert_string_equal(w->class_name[small], "");
	world_is(w, end, "main.Pair", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	assert_int_equal(w->t.conflicts, 1);
	world_free(w);
}

/* Whichever comes first: the claim that fills the object, then the one that says more. */
static void preference(void **state)
{
	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		struct world *w = world_new();
		uint32_t big = world_structure(w, "main.Big", 48), small = world_simple(w, "main.Id", TYPE_INT, 8, TYPE_NONE);
		world_field(w, "id", 0, small);
		uint32_t other = world_structure(w, "main.Other", 48);
		uint32_t a = world_object(w, 48), b = world_object(w, 48);
		world_begin(w);
		for (int i = 0; i < 2; i++) {
			typing_claim(&w->t, w->at[a], i == turn ? big : small, TYPED_BY_POINTER);
			typing_claim(&w->t, w->at[b], i == turn ? big : other, TYPED_BY_FRAME);
		}
		world_finish(w);
		world_is(w, a, "main.Big", LENGTH_UNKNOWN, TYPED_BY_POINTER);
		world_is(w, b, "main.Big", LENGTH_UNKNOWN, TYPED_BY_FRAME);
		assert_int_equal(w->t.conflicts, 1); /* b: two structs of one size */
		world_free(w);
	}
}

static void interfaces(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t holder = world_structure(w, "main.Holder", 32);
	uint32_t any = world_simple(w, "interface {}", TYPE_EMPTY_INTERFACE, 16, TYPE_NONE);
	uint32_t shape = world_simple(w, "main.Shape", TYPE_INTERFACE, 16, TYPE_NONE);
	world_field(w, "any", 0, any);
	world_field(w, "shape", 16, shape);
	uint32_t rect = world_structure(w, "main.Rect", 16);
	uint32_t to_rect = world_pointer(w, "*main.Rect", rect);
	w->types.type[rect].descriptor = 0x1000;
	w->types.type[to_rect].descriptor = 0x2000;
	uint32_t a = world_object(w, 32), value = world_object(w, 16), direct = world_object(w, 16);
	world_begin(w);
	uint64_t itabs[] = {0x8000, 0x2000};
	w->t.itab = itabs;
	w->t.n_itabs = 1;
	world_set(w, a, 0, 0x1000); /* a copy of a Rect */
	world_set(w, a, 8, w->at[value]);
	world_set(w, a, 16, 0x8000); /* a *Rect, which is the data word itself */
	world_set(w, a, 24, w->at[direct]);
	typing_claim(&w->t, w->at[a], holder, TYPED_BY_GLOBAL);
	world_finish(w);
	world_is(w, value, "main.Rect", LENGTH_UNKNOWN, TYPED_BY_INTERFACE);
	world_is(w, direct, "main.Rect", LENGTH_UNKNOWN, TYPED_BY_INTERFACE);
	world_free(w);
}

/* hash<K,V> with 4 buckets, and one that overflows. */
static void old_map(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t bucket = world_structure(w, "bucket<int,int>", 144);
	uint32_t to_bucket = world_pointer(w, "*bucket<int,int>", bucket);
	uint32_t word = world_simple(w, "uintptr", TYPE_UINTPTR, 8, TYPE_NONE);
	world_field(w, "overflow", 136, word); /* keys and values hold no pointers */
	uint32_t hash = world_structure(w, "hash<int,int>", 48);
	world_field(w, "B", 9, 1);
	world_field(w, "buckets", 16, to_bucket);
	world_field(w, "oldbuckets", 24, to_bucket);
	uint32_t map = world_simple(w, "map[int]int", TYPE_MAP, 8, 0);
	w->types.type[map].key = 0;
	w->types.type[map].layout = hash;
	uint32_t head = world_object(w, 48), buckets = world_object(w, 576), old = world_object(w, 288);
	uint32_t more = world_object(w, 144);
	world_begin(w);
	w->bytes[head][9] = 2;
	world_set(w, head, 16, w->at[buckets]);
	world_set(w, head, 24, w->at[old]);
	world_set(w, buckets, 3 * 144 + 136, w->at[more]);
	typing_claim(&w->t, w->at[head], hash, TYPED_BY_GLOBAL);
	world_finish(w);
	world_is(w, head, "map[int]int", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_is(w, buckets, "map[int]int buckets", 4, TYPED_BY_POINTER);
	world_is(w, old, "map[int]int buckets", 2, TYPED_BY_POINTER);
	world_is(w, more, "map[int]int buckets", 1, TYPED_BY_POINTER);
	world_free(w);
}

/* map<K,V> of 1.24: a directory of tables with groups, or one group. */
static void new_map(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t group = world_structure(w, "group<string,int>", 208), to_group = world_pointer(w, "*group", group);
	uint32_t slots = world_simple(w, "[8]string", TYPE_ARRAY, 128, 2);
	w->types.type[slots].count = 8;
	world_field(w, "keys", 8, slots);
	uint32_t reference = world_structure(w, "groupReference<string,int>", 16);
	world_field(w, "data", 0, to_group);
	world_field(w, "lengthMask", 8, 0);
	uint32_t table = world_structure(w, "table<string,int>", 32), to_table = world_pointer(w, "*table", table);
	world_field(w, "used", 0, 0);
	world_field(w, "groups", 16, reference);
	uint32_t directory = world_pointer(w, "**table", to_table);
	uint32_t head = world_structure(w, "map<string,int>", 48);
	world_field(w, "used", 0, 0);
	world_field(w, "dirPtr", 16, directory);
	world_field(w, "dirLen", 24, 0);
	uint32_t map = world_simple(w, "map[string]int", TYPE_MAP, 8, 0);
	w->types.type[map].key = 2;
	w->types.type[map].layout = head;
	uint32_t large = world_object(w, 48), dir = world_object(w, 16);
	uint32_t tables[2] = {world_object(w, 32), world_object(w, 32)};
	uint32_t groups = world_object(w, 416), small = world_object(w, 48), single = world_object(w, 208);
	uint32_t key = world_object(w, 32);
	world_begin(w);
	world_set(w, large, 16, w->at[dir]);
	world_set(w, large, 24, 2);
	world_set(w, dir, 0, w->at[tables[0]]);
	world_set(w, dir, 8, w->at[tables[1]]);
	world_set(w, tables[1], 16, w->at[groups]);
	world_set(w, tables[1], 24, 1); /* a mask: two groups */
	world_set(w, small, 16, w->at[single]);
	world_set(w, single, 8 + 16, w->at[key]);
	world_set(w, single, 8 + 24, 30);
	typing_claim(&w->t, w->at[large], head, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[small], head, TYPED_BY_GLOBAL);
	world_finish(w);
	world_is(w, large, "map[string]int", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_is(w, dir, "[]*table", 2, TYPED_BY_POINTER);
	world_is(w, tables[0], "map[string]int table", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_is(w, groups, "map[string]int buckets", 2, TYPED_BY_POINTER);
	world_is(w, single, "map[string]int buckets", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_is(w, key, "[]uint8", 32, TYPED_BY_POINTER);
	world_free(w);
}

static void channels(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t any = world_simple(w, "unsafe.Pointer", TYPE_POINTER, 8, TYPE_NONE);
	uint32_t hchan = world_structure(w, "hchan<string>", 96);
	world_field(w, "dataqsiz", 8, 0);
	world_field(w, "buf", 16, any);
	uint32_t one_way = world_simple(w, "<-chan string", TYPE_CHAN, 8, 2);
	uint32_t chan = world_simple(w, "chan string", TYPE_CHAN, 8, 2);
	w->types.type[one_way].layout = w->types.type[chan].layout = hchan;
	uint32_t head = world_object(w, 96), buffer = world_object(w, 64), text = world_object(w, 8);
	world_begin(w);
	world_set(w, head, 8, 4);
	world_set(w, head, 16, w->at[buffer]);
	world_set(w, buffer, 48, w->at[text]);
	world_set(w, buffer, 56, 5);
	typing_claim(&w->t, w->at[head], hchan, TYPED_BY_GLOBAL);
	world_finish(w);
	world_is(w, head, "chan string", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_is(w, buffer, "[]string", 4, TYPED_BY_POINTER);
	world_is(w, text, "[]uint8", 8, TYPED_BY_POINTER);
	world_free(w);
}

/* Since 1.22 objects above 512 bytes with pointers begin with 8 bytes of their own. */
static void headers(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t big = world_structure(w, "main.Big", 600), to_big = world_pointer(w, "*main.Big", big);
	world_field(w, "next", 0, to_big);
	uint32_t a = world_object(w, 640), b = world_object(w, 640);
	world_begin(w);
	w->t.layout = go_layout_of(22, W, "");
	world_set(w, a, 8, w->at[b] + 8);
	typing_claim(&w->t, w->at[a] + 8, big, TYPED_BY_GLOBAL);
	world_finish(w);
	world_is(w, a, "main.Big", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	world_is(w, b, "main.Big", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_free(w);
}

/* The header tells the type of what nothing leads to, and of more than one value it tells the element's.
 * What it cannot be is no type. */
static void types_in_headers(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint32_t big = world_structure(w, "main.Big", 600), to_big = world_pointer(w, "*main.Big", big);
	world_field(w, "next", 0, to_big);
	uint32_t cell = world_structure(w, "main.Cell", 40), huge = world_structure(w, "main.Huge", 700);
	w->types.type[big].descriptor = 0x500000;
	w->types.type[cell].descriptor = 0x500100;
	w->types.type[huge].descriptor = 0x500200;
	uint32_t one = world_object(w, 640), many = world_object(w, 1024), nowhere = world_object(w, 640),
	    small = world_object(w, 512), too_big = world_object(w, 640), too_large = world_object(w, 40960);
	world_begin(w);
	w->t.layout = go_layout_of(22, W, "");
	w->t.field_lists = true;
	const struct { uint32_t id; uint64_t descriptor; } head[] = {{one, 0x500000}, {many, 0x500100},
	    {nowhere, 0x500008}, {small, 0x500100}, {too_big, 0x500200}, {too_large, 0x500000}};
	for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
		world_set(w, head[i].id, 0, head[i].descriptor);
		w->bytes[head[i].id][w->size[head[i].id]] = 1; /* they hold pointers: at 8 */
		w->bytes[head[i].id][w->size[head[i].id] + 1] = 8;
	}
	w->t.go.of[cell].unsure = true; /* its pointers are not told here */
	assert_int_equal(typing_from_headers(&w->t), 0);
	typing_claim(&w->t, w->at[one] + 8, cell, TYPED_BY_GLOBAL); /* the header knows better */
	world_finish(w);
	world_is(w, one, "main.Big", LENGTH_UNKNOWN, TYPED_BY_HEADER);
	world_is(w, many, "[]main.Cell", (1024 - 8) / 40, TYPED_BY_HEADER);
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
	uint32_t any = world_pointer(w, "unsafe.Pointer", TYPE_NONE);
	uint32_t node = world_structure(w, "unique.node[go.shape.string]", 1);
	world_field(w, "isEntry", 0, 1);
	world_structure(w, "go.shape.struct { unique.isEntry bool }", 1);
	world_field(w, "isEntry", 0, 1);
	uint32_t to_node = world_structure(w, "sync/atomic.Pointer[go.shape.struct { unique.isEntry bool }]", 8);
	world_field(w, "v", 0, any);
	uint32_t children = world_simple(w, "[16]sync/atomic.Pointer[…]", TYPE_ARRAY, 128, to_node);
	w->types.type[children].count = 16;
	uint32_t inner = world_structure(w, "unique.indirect[go.shape.string]", 160);
	world_field(w, "node", 0, node);
	world_field(w, "children", 24, children);
	uint32_t shape = world_structure(w, "go.shape.struct { unique.node = unique.node[go.shape.string]; … }", 160);
	world_field(w, "node", 0, node);
	world_field(w, "children", 24, children);
	world_structure(w, "unique.entry[go.shape.string]", 32);
	world_field(w, "node", 0, node);
	world_field(w, "key", 8, 2);
	uint32_t sync_node = world_structure(w, "internal/sync.node[string,interface {}]", 1);
	world_field(w, "isEntry", 0, 1);
	world_structure(w, "internal/sync.entry[go.shape.string,go.shape.interface {}]", 48);
	world_field(w, "node", 0, sync_node);
	world_field(w, "key", 16, 2);
	uint32_t a = world_object(w, 160), b = world_object(w, 160), c = world_object(w, 32), d = world_object(w, 32);
	uint32_t e = world_object(w, 48);
	world_begin(w);
	world_set(w, a, 24, w->at[b]);
	world_set(w, a, 24 + 15 * W, w->at[c]);
	world_set(w, b, 24 + 8 * W, w->at[d]);
	w->bytes[c][0] = w->bytes[d][0] = w->bytes[e][0] = 1;
	typing_claim(&w->t, w->at[a], shape, TYPED_BY_GLOBAL);
	typing_claim(&w->t, w->at[a], inner, TYPED_BY_POINTER);
	typing_claim(&w->t, w->at[e], sync_node, TYPED_BY_GLOBAL);
	world_finish(w);
	world_is(w, a, "unique.indirect[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_is(w, b, "unique.indirect[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_is(w, c, "unique.entry[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_is(w, d, "unique.entry[go.shape.string]", LENGTH_UNKNOWN, TYPED_BY_POINTER);
	world_is(w, e, "internal/sync.entry[go.shape.string,go.shape.interface {}]", LENGTH_UNKNOWN, TYPED_BY_GLOBAL);
	assert_int_equal(w->t.conflicts, 0);
	assert_int_equal(type_book_named(&w->types, "unique.entry[[2]string]"), TYPE_NONE);
	assert_int_equal(type_book_named(&w->types, "unique.node[string]"), node);
	assert_int_equal(type_book_named(&w->types, "[]a.b[unclosed"), TYPE_NONE);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spreads),
	    cmocka_unit_test(chunks),
	    cmocka_unit_test(preference),
	    cmocka_unit_test(interfaces),
	    cmocka_unit_test(old_map),
	    cmocka_unit_test(new_map),
	    cmocka_unit_test(channels),
	    cmocka_unit_test(headers),
	    cmocka_unit_test(types_in_headers),
	    cmocka_unit_test(tries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
