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

/* --- layouts ------------------------------------------------------------------------------------ */

/* "key=value key=value" or "value value", "!" where it is broken, and behind it its size. */
static void expect_entries(uint64_t address, const char *wanted)
{
	struct collection c;
	struct collection_entry e;
	struct collection_size size;
	struct text t = TEXT_INIT;
	struct err err = ERR_INIT;
	text_clear(&t);
	assert_int_equal(collection_open(&c, heap, id_of(address), &err), 0);
	while (collection_next(&c, &e)) {
		if (e.has_key) {
			describe_value(heap, &e.key, 40, &t);
			text_add(&t, "=");
		}
		describe_value(heap, &e.value, 40, &t);
		text_add(&t, " ");
	}
	text_add(&t, c.broken ? "! " : "");
	collection_close(&c);
	assert_true(collection_size(heap, id_of(address), &size));
	if (size.known)
		text_addf(&t, "(%u", (unsigned)size.size);
	else
		text_add(&t, "(?");
	if (size.has_capacity)
		text_addf(&t, " of %u", (unsigned)size.capacity);
	text_add(&t, size.lies ? " lies)" : ")");
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

static void test_lines(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	const char *line;
	size_t n = 0;
	/* each line of the libraries is one that a user could write */
	for (size_t i = 0; (line = layout_line(i)); i++, n++)
		assert_int_equal(layout_add(line, &err), 0);
	assert_true(n > 150);
	layouts_forget();
	static const struct { const char *line, *says; } wrong[] = {
		{ "com.acme.Map", "com.acme.Map has no shape" },
		{ "com.acme.Map heap store=a", "behind the class stands its shape, and heap is none" },
		{ "com.acme.Map array", "a layout of the shape array needs store=" },
		{ "com.acme.Map array store=a store=b", "store= stands there twice" },
		{ "com.acme.Map array store=a colour=red", "no layout has a word colour=" },
		{ "com.acme.Map array store=a sets", "sets is no shape, none of map, keys and values, and has no =" },
		{ "com.acme.Map buckets map store=table next=next value=v", "a layout of the shape buckets needs key=" },
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(layout_add(wrong[i].line, &err), ERR_USAGE);
		assert_string_equal(err.message, wrong[i].says);
	}
	assert_null(layout_named("com.acme.Map"));
	assert_int_equal(layout_add("com.acme.*Map pairs map store=t", &err), 0);
	assert_non_null(layout_named("com.acme.IntMap"));
	assert_null(layout_named("com.acme.IntMaps"));
	assert_non_null(layout_named("it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap"));
	layouts_forget();
	assert_null(layout_named("com.acme.IntMap"));
}

static void test_numbers(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b");
	int fast = class("it/unimi/dsi/fastutil/ints/Int2ObjectOpenHashMap", object,
	    "key:L value:L containsNullKey:Z n:I size:I");
	int fast6 = class("it/unimi/dsi/fastutil/longs/LongOpenHashSet", object, "key:L used:L size:I");
	int hppc = class("com/carrotsearch/hppc/IntIntHashMap", object, "keys:L values:L assigned:I hasEmptyKey:Z");
	int trove = class("gnu/trove/map/hash/TIntObjectHashMap", object, "_set:L _values:L _states:L _size:I");
	int netty = class("io/netty/util/collection/IntObjectHashMap", object, "keys:L values:L size:I");
	int eclipse = class("org/eclipse/collections/impl/map/mutable/primitive/IntIntHashMap", object,
	    "keysValues:L occupiedWithData:I sentinelValues:L");
	int sentinel = class("org/eclipse/collections/impl/map/mutable/primitive/SentinelValues", object,
	    "containsZeroKey:Z containsOneKey:Z zeroValue:I oneValue:I");
	int numbers = class("org/eclipse/collections/impl/set/mutable/primitive/IntHashSet", object,
	    "table:L occupiedWithData:I zeroToThirtyOne:I zeroToThirtyOneOccupied:I");
	int sparse = class("android/util/SparseArray", object, "mKeys:L mValues:L mSize:I");
	int builder = class("kotlin/collections/builders/MapBuilder", object,
	    "keysArray:L valuesArray:L presenceArray:L length:I size:I");
	uint64_t f = OBJECT(fast, ARRAY('I', 0, 7, 0, 3, 0), OBJECTS(0, a, 0, b, a), 1, 4, 3);
	uint64_t s = OBJECT(fast6, ARRAY('J', 5, 0, 9, 0), ARRAY('Z', 0, 1, 1, 0), 2);
	uint64_t h = OBJECT(hppc, ARRAY('I', 0, 6, 0), ARRAY('I', 1, 2, 3), 1, 1);
	uint64_t t = OBJECT(trove, ARRAY('I', 8, 0, 9), OBJECTS(a, b, a), ARRAY('B', 1, 1, 2), 2);
	uint64_t n = OBJECT(netty, ARRAY('I', 0, 4, 0), OBJECTS(a, b, 0), 2);
	uint64_t e = OBJECT(eclipse, ARRAY('I', 0, 0, 5, 6, 1, 0), 1, OBJECT(sentinel, 1, 0, 70, 0));
	uint64_t i = OBJECT(numbers, ARRAY('I', 0, 40, 1, 0), 1, 5, 2);
	uint64_t p = OBJECT(sparse, ARRAY('I', 0, 8, 9), OBJECTS(a, b, a), 2);
	uint64_t lie = OBJECT(sparse, ARRAY('I', 1), OBJECTS(a), 9);
	uint64_t k = OBJECT(builder, OBJECTS(a, b, a), OBJECTS(b, b, 0), ARRAY('I', 2, (uint32_t)-1, 0), 2, 1);
	uint64_t odd = OBJECT(fast, a, b, 0, 4, 3);
	open_made();
	expect_entries(f, "7=\"a\" 3=\"b\" 0=\"a\" (3 of 5)");
	expect_entries(s, "0 9 (2 of 4)");
	expect_entries(h, "6=2 0=3 (2 of 3)");
	expect_entries(t, "8=\"a\" 0=\"b\" (2 of 3)");
	expect_entries(n, "0=\"a\" 4=\"b\" (2 of 3)");
	expect_entries(e, "5=6 0=70 (2 of 3)");
	expect_entries(i, "40 0 2 (3 of 4)");
	expect_entries(p, "0=\"a\" 8=\"b\" (2 of 3)");
	expect_entries(lie, "1=\"a\" (9 of 1 lies)");
	expect_entries(k, "\"a\"=\"b\" (1 of 3)");
	expect_entries(odd, "(3 of 0 lies)");
}

static void test_lists_of_libraries(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b"), c = text("c");
	int cons = class("scala/collection/immutable/$colon$colon", object, "head:L next:L");
	int nil = class("scala/collection/immutable/Nil$", object, "");
	int vector = class("scala/collection/immutable/Vector", object, "prefix1:L");
	int vector2 = class("scala/collection/immutable/Vector2", vector, "len1:I data2:L suffix1:L length0:I");
	int arrays = class("[[Ljava/lang/Object;", object, "");
	int map = class("scala/collection/immutable/HashMap", object, "rootNode:L");
	int node = class("scala/collection/immutable/BitmapIndexedMapNode", object, "dataMap:I nodeMap:I content:L size:I");
	int persistent = class("kotlinx/collections/immutable/implementations/immutableList/PersistentVector", object,
	    "root:L tail:L size:I rootShift:I");
	int guava = class("com/google/common/collect/RegularImmutableMap", object, "entries:L table:L mask:I");
	int entry = class("com/google/common/collect/ImmutableEntry", object, "key:L value:L");
	int unified = class("org/eclipse/collections/impl/set/mutable/UnifiedSet", object, "table:L occupied:I");
	int bucket = class("org/eclipse/collections/impl/set/mutable/UnifiedSet$ChainedBucket", object,
	    "zero:L one:L two:L three:L");
	(void)arrays;
	int single = class("java/util/Collections$SingletonMap", object, "k:L v:L");
	int pair = class("scala/collection/immutable/Map$Map2", object, "key1:L value1:L key2:L value2:L");
	uint64_t alone = OBJECT(single, a, b), both = OBJECT(pair, a, b, c, a);
	uint64_t end = at(new_address(), nil, NULL), list = OBJECT(cons, a, OBJECT(cons, b, end));
	uint64_t ring = new_address(), astray = OBJECT(cons, a, b);
	OBJECT_AT(ring, cons, a, ring);
	uint64_t v = OBJECT(vector2, 1, 0, OBJECTS(b, c), 3, OBJECTS(a));
	uint64_t inner = OBJECT(node, 1, 0, OBJECTS(b, c), 1), root = OBJECT(node, 4, 2, OBJECTS(a, b, inner), 2);
	uint64_t trie = OBJECT(map, root), loop_node = new_address();
	OBJECT_AT(loop_node, node, 4, 2, OBJECTS(a, b, loop_node), 2);
	uint64_t loop = OBJECT(map, loop_node);
	uint64_t p = OBJECT(persistent, OBJECTS(OBJECTS(a, b), OBJECTS(c, a)), OBJECTS(b, 0, 0), 5, 5);
	uint64_t one = OBJECT(entry, a, b), two = OBJECT(entry, b, c);
	uint64_t g = OBJECT(guava, OBJECTS(one, two), OBJECTS(0, two, 0, one), 3);
	uint64_t u = OBJECT(unified, OBJECTS(a, 0, OBJECT(bucket, b, c, a, OBJECT(bucket, c, b, 0, 0))), 6);
	open_made();
	expect_entries(alone, "\"a\"=\"b\" (1)");
	expect_entries(both, "\"a\"=\"b\" \"c\"=\"a\" (2)");
	expect_entries(list, "\"a\" \"b\" (?)");
	expect_entries(ring, "\"a\" ! (?)");
	expect_entries(astray, "\"a\" ! (?)");
	expect_entries(v, "\"a\" \"b\" \"c\" (3)");
	expect_entries(trie, "\"a\"=\"b\" \"b\"=\"c\" (2)");
	expect_entries(loop, "\"a\"=\"b\" ! (2)");
	expect_entries(p, "\"a\" \"b\" \"c\" \"a\" \"b\" (5)");
	expect_entries(g, "\"a\"=\"b\" \"b\"=\"c\" (2 of 4)");
	expect_entries(u, "\"a\" \"b\" \"c\" \"a\" \"c\" \"b\" (6 of 3)");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_made, end_made)
	const struct CMUnitTest tests[] = {TEST(test_inside), TEST(test_lines), TEST(test_numbers),
		TEST(test_lists_of_libraries)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
