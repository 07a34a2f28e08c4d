/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_collections.c - layouts of collections, on objects made by hand as their libraries lay them out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "analysis/describe/collection.h"
#include "analysis/describe/describers.h"
#include "made_hprof.h"

static uint32_t id_of(uint64_t address)
{
	uint32_t id = heap_find(heap, address);
	assert_int_not_equal(id, HEAP_NONE);
	return id;
}

/* --- from inside -------------------------------------------------------------------------------- */

static void count_part(void *context, uint32_t id)
{
	(void)id;
	++*(unsigned *)context;
}

static void expect_inside(uint64_t address, unsigned parts, unsigned entries, unsigned longest, bool broken)
{
	struct collection_inside inside;
	unsigned n = 0;
	assert_true(collection_inside(heap, id_of(address), &inside, count_part, &n));
	assert_int_equal(n, parts);
	assert_int_equal(inside.entries, entries);
	assert_int_equal(inside.longest, longest);
	assert_int_equal(inside.broken, broken);
}

static void test_inside(void **state)
{
	(void)state;
	int map = class("java/util/HashMap", object, "size:I table:L");
	int node = class("java/util/HashMap$Node", object, "key:L value:L next:L");
	int set = class("java/util/HashSet", object, "map:L");
	int list = class("java/util/ArrayList", object, "size:I elementData:L");
	uint64_t a = text("a"), ring = new_address();
	uint64_t chain = OBJECT(node, a, a, OBJECT(node, a, a, OBJECT(node, a, a, 0)));
	uint64_t three = OBJECT(map, 4, OBJECTS(0, chain, OBJECT(node, a, a, 0), 0)), empty = OBJECT(map, 0, 0);
	OBJECT_AT(ring, node, a, a, ring);
	uint64_t outer = OBJECT(set, three), turns = OBJECT(map, 2, OBJECTS(ring)), two = OBJECT(list, 2, OBJECTS(a, a, 0));
	uint64_t many = 0;
	for (unsigned i = 0; i < 500; i++)
		many = OBJECT(node, a, a, many);
	uint64_t long_one = OBJECT(map, 500, OBJECTS(many, 0));
	open_made();
	expect_inside(three, 1 + 4, 4, 3, false);
	expect_inside(outer, 1 + 1 + 4, 4, 3, false);
	expect_inside(empty, 0, 0, 0, false);
	expect_inside(turns, 1 + 1, 1, 1, true);
	expect_inside(two, 1, 2, 0, false);
	expect_inside(long_one, 1 + 500, 500, 500, false);
	struct collection_inside inside;
	assert_false(collection_inside(heap, id_of(a), &inside, NULL, NULL));
	assert_true(collection_inside(heap, id_of(two), &inside, NULL, NULL));
	assert_int_equal(inside.size.size, 2);
	assert_int_equal(inside.size.capacity, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_made, end_made)
	const struct CMUnitTest tests[] = {TEST(test_inside)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
