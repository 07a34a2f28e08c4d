/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_values.c - values, descriptions and collections on objects made by hand.
 *
 * What is expected is what Java prints, or what the file plainly says; damaged objects must end, not hang.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analysis/describe/collection.h"
#include "analysis/describe/describers.h"
#include "analysis/strings/strings.h"
#include "heap/string.h"
#include "made_hprof.h"

static uint32_t id_of(uint64_t address)
{
	uint32_t id = heap_find(heap, address);
	assert_int_not_equal(id, HEAP_NONE);
	return id;
}

/* wanted NULL: there is nothing to say. */
static void expect(uint64_t address, const char *wanted)
{
	struct text t = TEXT_INIT;
	text_clear(&t);
	bool said = describe_object(heap, id_of(address), 40, &t);
	assert_int_equal(said, wanted != NULL);
	assert_string_equal(t.s, wanted ? wanted : "");
	text_release(&t);
}

/* "key=value key=value" or "value value"; ends with "!" when the collection is broken. */
static void expect_entries(uint64_t address, const char *wanted)
{
	struct collection c;
	struct collection_entry e;
	struct text t = TEXT_INIT;
	struct err err = ERR_INIT;
	text_clear(&t);
	assert_int_equal(collection_open(&c, heap, id_of(address), &err), 0);
	while (collection_next(&c, &e)) {
		text_add(&t, e.index ? " " : "");
		if (e.has_key) {
			describe_value(heap, &e.key, 40, &t);
			text_add(&t, "=");
		}
		describe_value(heap, &e.value, 40, &t);
	}
	text_add(&t, c.broken ? "!" : "");
	collection_close(&c);
	assert_string_equal(t.s, wanted);
	text_release(&t);
}

/* --- numbers ------------------------------------------------------------------------------------ */

static uint64_t bits_of(double d)
{
	uint64_t bits;
	memcpy(&bits, &d, sizeof bits);
	return bits;
}

static uint64_t float_bits(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static void test_floating(void **state)
{
	static const struct { double d; const char *text; } doubles[] = {
		{ 0, "0.0" }, { -0.0, "-0.0" }, { 1, "1.0" }, { 100, "100.0" }, { 0.1, "0.1" },
		{ 1e7, "1.0E7" }, { 9999999, "9999999.0" }, { 1e-3, "0.001" }, { 1e-4, "1.0E-4" },
		{ 123456.789, "123456.789" }, { 1e23, "1.0E23" }, { 4.9e-324, "4.9E-324" },
		{ 2.2250738585072014e-308, "2.2250738585072014E-308" }, { 1.0 / 3, "0.3333333333333333" },
		{ -1234567.5, "-1234567.5" }, { 12345678.5, "1.23456785E7" },
	};
	static const struct { float f; const char *text; } floats[] = {
		{ 0.1f, "0.1" }, { 16777216.0f, "1.6777216E7" }, { 3.4028235e38f, "3.4028235E38" },
		{ 1.17549435e-38f, "1.1754944E-38" }, { 1.4e-45f, "1.4E-45" }, { 2.5f, "2.5" },
	};
	uint64_t d[16], f[6];
	(void)state;
	int box = class("java/lang/Double", object, "value:D");
	int small = class("java/lang/Float", object, "value:F");
	for (int i = 0; i < 16; i++)
		d[i] = OBJECT(box, bits_of(doubles[i].d));
	for (int i = 0; i < 6; i++)
		f[i] = OBJECT(small, float_bits(floats[i].f));
	uint64_t nan = OBJECT(box, UINT64_C(0x7FF8000000000000));
	uint64_t minus = OBJECT(box, UINT64_C(0xFFF0000000000000));
	open_made();
	for (int i = 0; i < 16; i++)
		expect(d[i], doubles[i].text);
	for (int i = 0; i < 6; i++)
		expect(f[i], floats[i].text);
	expect(nan, "NaN");
	expect(minus, "-Infinity");
}

static void test_big_numbers(void **state)
{
	(void)state;
	int big = class("java/math/BigInteger", object, "mag:L signum:I");
	int decimal = class("java/math/BigDecimal", object, "intVal:L scale:I intCompact:J");
	uint64_t small = UINT64_C(0x8000000000000000); /* intCompact is not used */
	uint64_t a = OBJECT(big, ARRAY('I', 1, 0), 1);
	uint64_t b = OBJECT(big, ARRAY('I', 1, 0, 0, 0), UINT32_MAX);
	uint64_t zero = OBJECT(big, primitives('I', NULL, 0), 0);
	uint64_t c = OBJECT(decimal, 0, 5, 314159);
	uint64_t d = OBJECT(decimal, 0, (uint32_t)-3, 1);
	uint64_t e = OBJECT(decimal, 0, 10, 123);
	uint64_t f = OBJECT(decimal, 0, 3, (uint64_t)-5);
	uint64_t g = OBJECT(decimal, a, 2, small);
	uint64_t h = OBJECT(decimal, 0, 2, small);
	open_made();
	expect(a, "4294967296");
	expect(b, "-79228162514264337593543950336");
	expect(zero, "0");
	expect(c, "3.14159");
	expect(d, "1E+3");
	expect(e, "1.23E-8");
	expect(f, "-0.005");
	expect(g, "42949672.96");
	expect(h, NULL);
}

static void test_times(void **state)
{
	(void)state;
	int date = class("java/util/Date", object, "fastTime:J");
	int stamp = class("java/sql/Timestamp", date, "nanos:I");
	int instant = class("java/time/Instant", object, "nanos:I seconds:J");
	int day = class("java/time/LocalDate", object, "day:S month:S year:I");
	uint64_t epoch = OBJECT(date, 0), before = OBJECT(date, (uint64_t)-1);
	uint64_t leap = OBJECT(date, UINT64_C(951782400000)), sub = OBJECT(stamp, 7, 1000);
	uint64_t far = OBJECT(instant, 0, UINT64_C(253402300800)), least = OBJECT(instant, 0, UINT64_C(1) << 63);
	uint64_t local = OBJECT(day, 9, 2, (uint32_t)-5);
	open_made();
	expect(epoch, "1970-01-01T00:00:00Z");
	expect(before, "1969-12-31T23:59:59.999Z");
	expect(leap, "2000-02-29T00:00:00Z");
	expect(sub, "1970-01-01T00:00:01Z");
	expect(far, "+10000-01-01T00:00:00Z");
	expect(least, NULL);
	expect(local, "-0005-02-09");
}

/* --- text --------------------------------------------------------------------------------------- */

static void test_strings(void **state)
{
	(void)state;
	uint64_t latin = OBJECT(string, 0, 0, ARRAY('B', 'c', 'a', 'f', 0xE9));
	uint64_t wide = OBJECT(string, 0, 1, ARRAY('B', 0x28, 0x67, 0x3C, 0xD8, 0x33, 0xDF));
	uint64_t half = OBJECT(string, 0, 1, ARRAY('B', 'x', 0, 0x3C, 0xD8, 'y')); /* and half a unit */
	uint64_t chars = OBJECT(string, 0, 0, ARRAY('C', 'o', 0x6728, 0, 0x1B));
	uint64_t none = OBJECT(string, 0, 0, 0), lost = OBJECT(string, 0, 0, 0xDEAD0);
	uint64_t numbers = OBJECT(string, 0, 0, ARRAY('I', 1, 2));
	uint64_t tail = OBJECT(string, 0, 0, bytes("0123456789012345678901234567890123456789abc"));
	open_made();
	expect(latin, "\"caf\xc3\xa9\"");
	expect(wide, "\"\xe6\x9c\xa8\xf0\x9f\x8c\xb3\"");
	expect(half, "\"x\\ud83c\"");
	expect(chars, "\"o\xe6\x9c\xa8\\x00\\x1b\"");
	expect(none, NULL);
	expect(lost, NULL);
	expect(numbers, NULL);
	expect(tail, "\"0123456789012345678901234567890123456789\xe2\x80\xa6\"");
}

static void test_old_strings(void **state)
{
	(void)state;
	/* as before Java 7u6: a stretch of a shared char[] */
	clear_made();
	object = class("java/lang/Object", -1, "");
	class("java/lang/Class", object, "");
	string = class("java/lang/String", object, "hash:I count:I offset:I value:L");
	uint64_t shared = ARRAY('C', 'a', 'b', 'c', 'd', 'e');
	uint64_t middle = OBJECT(string, 0, 3, 1, shared), all = OBJECT(string, 0, 5, 0, shared);
	uint64_t beyond = OBJECT(string, 0, 9, 3, shared), outside = OBJECT(string, 0, 1, 77, shared);
	uint64_t negative = OBJECT(string, 0, (uint32_t)-1, (uint32_t)-1, shared);
	open_made();
	expect(middle, "\"bcd\"");
	expect(all, "\"abcde\"");
	expect(beyond, "\"de\"");
	expect(outside, "\"\"");
	expect(negative, "\"\"");
}

static void test_arrays(void **state)
{
	(void)state;
	uint64_t flags = ARRAY('Z', 1, 0), longs = ARRAY('J', (uint64_t)-1, 5), shorts = ARRAY('S', 0xFFFF);
	uint64_t printable = bytes("GET / HTTP"), binary = ARRAY('B', 0, 0xFF, 127);
	uint64_t empty = primitives('B', NULL, 0), two = OBJECTS(flags, 0);
	open_made();
	expect(flags, "[true, false]");
	expect(longs, "[-1, 5]");
	expect(shorts, "[-1]");
	expect(printable, "\"GET / HTTP\"");
	expect(binary, "[0, -1, 127]");
	expect(empty, "[]");
	expect(two, "length 2");
}

/* --- inheritance, references -------------------------------------------------------------------- */

static void test_shadowed(void **state)
{
	(void)state;
	int thread = class("java/lang/Thread", object, "name:L");
	int worker = class("com/acme/Worker", thread, "name:L n:I");
	uint64_t name = text("http-1"), other = text("other");
	uint64_t t = OBJECT(worker, other, 7, name);
	open_made();
	expect(t, "http-1"); /* not the subclass's own field of that name */
	struct values v;
	struct value value;
	assert_int_equal(values_open(&v, heap, id_of(t), NULL), 0);
	assert_true(values_field(&v, "name", &value));
	assert_int_equal(value.bits, other);
	assert_true(values_as_named(&v, "java.lang.Thread"));
	assert_true(values_field(&v, "name", &value));
	assert_int_equal(value.bits, name);
	assert_false(values_field(&v, "n", &value));
	assert_false(values_as_named(&v, "java.lang.String"));
}

static void test_names_of_references(void **state)
{
	(void)state;
	int node = class("com/acme/Node", object, "left:L n:I right:L again:L");
	uint64_t leaf = OBJECT(node, 0, 1, 0, 0);
	uint64_t top = OBJECT(node, leaf, 2, leaf, 0), list = OBJECTS(0, leaf, top, leaf);
	open_made();
	struct reference_names n;
	struct text t = TEXT_INIT;
	text_clear(&t);
	reference_names_begin(&n, heap, id_of(top));
	while (reference_names_next(&n, id_of(leaf), &t))
		text_add(&t, " ");
	reference_names_begin(&n, heap, id_of(list));
	while (reference_names_next(&n, id_of(leaf), &t))
		text_add(&t, " ");
	assert_string_equal(t.s, "left right [1] [3] ");
	text_release(&t);
}

static void test_wrappers(void **state)
{
	(void)state;
	int optional = class("java/util/Optional", object, "value:L");
	int reference = class("java/lang/ref/Reference", object, "referent:L");
	uint64_t some = OBJECT(optional, text("x")), none = OBJECT(optional, 0), plain = OBJECT(object, 0);
	uint64_t ring = new_address();
	OBJECT_AT(ring, optional, ring);
	uint64_t soft = OBJECT(reference, some), dead = OBJECT(reference, 0);
	uint64_t other = OBJECT(optional, plain), gone = OBJECT(reference, 0xDEAD0);
	char wanted[80];
	open_made();
	expect(some, "Optional[\"x\"]");
	expect(none, "Optional.empty");
	expect(ring, "Optional[Optional[Optional[Optional[\xe2\x80\xa6]]]]");
	expect(soft, "-> Optional[\"x\"]");
	expect(dead, "-> null");
	expect(gone, "-> 0xdead0 (no object)");
	snprintf(wanted, sizeof wanted, "Optional[java.lang.Object 0x%llx]", (unsigned long long)plain);
	expect(other, wanted);
	expect(plain, NULL);
}

/* --- damage ------------------------------------------------------------------------------------- */

static void test_short_records(void **state)
{
	(void)state;
	int box = class("java/lang/Long", object, "value:J");
	int pair = class("com/acme/Pair", object, "a:I b:J");
	uint64_t cut = new_address(), half = new_address();
	short_instance(cut, box, 0x010203, 3);
	short_instance(half, pair, 0x000000070102, 6);
	open_made();
	expect(cut, NULL);
	struct values v;
	assert_int_equal(values_open(&v, heap, id_of(half), NULL), 0);
	struct field_walk w = { .values = &v };
	assert_true(values_next_field(&w));
	assert_int_equal(w.value.bits, 7);
	assert_false(w.missing);
	assert_true(values_next_field(&w));
	assert_true(w.missing);
	assert_false(values_next_field(&w));
}

static void test_superclass_ring(void **state)
{
	(void)state;
	int a = class("com/acme/A", array_class + 2, "x:I"); /* of b, the next */
	int b = class("com/acme/B", a, "y:I");
	uint64_t o = new_address();
	short_instance(o, b, 0x0000000100000002, 8);
	open_made();
	expect(o, NULL);
	struct values v;
	struct value value;
	assert_int_equal(values_open(&v, heap, id_of(o), NULL), 0);
	assert_true(values_field(&v, "y", &value)); /* where the ring is cut is the heap's affair */
	assert_int_equal(value.bits, 1);
	assert_false(values_field(&v, "z", &value));
	struct field_walk w = { .values = &v };
	unsigned n = 0;
	while (values_next_field(&w))
		n++;
	assert_true(n <= 2 * heap->n_classes);
}

static void test_lists(void **state)
{
	(void)state;
	int list = class("java/util/ArrayList", object, "size:I elementData:L");
	int deque = class("java/util/ArrayDeque", object, "tail:I head:I elements:L");
	int mine = class("com/acme/Mine", list, "size:I");
	uint64_t a = text("a"), b = text("b"), array = OBJECTS(a, b, 0, 0);
	uint64_t plain = OBJECT(list, 2, array), whole = OBJECT(list, 99, array);
	uint64_t negative = OBJECT(list, (uint32_t)-1, array), bare = OBJECT(list, 3, 0);
	uint64_t sub = OBJECT(mine, 77, 1, array);
	uint64_t ring = OBJECT(deque, 1, 3, OBJECTS(b, 0, 0, a)), wild = OBJECT(deque, 1, 900, array);
	open_made();
	expect_entries(plain, "\"a\" \"b\"");
	expect_entries(whole, "\"a\" \"b\" null null");
	expect_entries(negative, "\"a\" \"b\" null null");
	expect_entries(bare, "");
	expect_entries(sub, "\"a\"");
	expect_entries(ring, "\"a\" \"b\"");
	expect(ring, "size 2");
	expect(plain, "size 2");
	expect_entries(wild, "");
}

static void test_circles(void **state)
{
	(void)state;
	int linked = class("java/util/LinkedList", object, "size:I first:L");
	int link = class("java/util/LinkedList$Node", object, "item:L next:L");
	int tree = class("java/util/TreeMap", object, "size:I root:L");
	int entry = class("java/util/TreeMap$Entry", object, "key:L value:L left:L right:L");
	int map = class("java/util/HashMap", object, "size:I table:L");
	int node = class("java/util/HashMap$Node", object, "key:L value:L next:L");
	int wrapper = class("java/util/Collections$UnmodifiableCollection", object, "c:L");
	uint64_t a = text("a"), b = text("b"), first = new_address(), second = new_address();
	OBJECT_AT(first, link, a, second);
	OBJECT_AT(second, link, b, first);
	uint64_t circle = OBJECT(linked, 2, first);
	uint64_t root = new_address(), left = OBJECT(entry, a, b, root, 0);
	OBJECT_AT(root, entry, b, a, left, root);
	uint64_t loop = OBJECT(tree, 2, root);
	uint64_t bin = new_address(), behind = OBJECT(node, b, a, 0);
	OBJECT_AT(bin, node, a, b, bin);
	uint64_t buckets = OBJECT(map, 2, OBJECTS(0, bin, 0, behind));
	uint64_t self = new_address();
	OBJECT_AT(self, wrapper, self);
	open_made();
	expect_entries(circle, "\"a\" \"b\"!");
	expect_entries(loop, "\"a\"=\"b\" \"b\"=\"a\"!");
	expect_entries(buckets, "\"a\"=\"b\" \"b\"=\"a\"!");
	struct collection c;
	struct err err = ERR_INIT;
	assert_int_equal(collection_open(&c, heap, id_of(self), &err), ERR_NOT_FOUND);
	collection_close(&c);
	expect(self, NULL);
}

static void test_duplicates(void **state)
{
	(void)state;
	uint64_t shared = bytes("twice");
	OBJECT(string, 0, 0, shared);
	OBJECT(string, 0, 0, shared);
	text("twice");
	text("once");
	OBJECT(string, 0, 1, ARRAY('B', 't', 'w')); /* other characters in the same kind of bytes */
	text("tw");
	OBJECT(string, 0, 0, 0);
	uint64_t both = bytes("both"); /* two texts share it, so equal Strings cannot save it */
	OBJECT(string, 0, 1, both);
	OBJECT(string, 0, 0, both);
	text("both");
	open_made();
	struct duplicates d;
	struct err err = ERR_INIT;
	assert_int_equal(duplicates_find(&d, heap, &err), 0);
	assert_int_equal(d.strings, 9);
	assert_int_equal(d.distinct, 6);
	assert_int_equal(d.n, 2);
	assert_int_equal(d.groups[0].count.n, 3);
	assert_int_equal(d.groups[0].arrays.n, 2);
	uint64_t one = heap_shallow(heap, d.groups[0].first), array = heap_shallow(heap, id_of(shared));
	assert_int_equal(d.groups[0].wasted.n, 2 * one + array);
	array = heap_shallow(heap, id_of(both)); /* that of the third one is as long */
	assert_int_equal(d.groups[1].count.n, 2);
	assert_int_equal(d.groups[1].shallow.n, 2 * one + array);
	assert_int_equal(d.groups[1].wasted.n, one + array);
	duplicates_release(&d);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_made, end_made)
	const struct CMUnitTest tests[] = {
		TEST(test_floating), TEST(test_big_numbers), TEST(test_times), TEST(test_strings),
		TEST(test_old_strings), TEST(test_arrays), TEST(test_shadowed),
		TEST(test_names_of_references), TEST(test_wrappers), TEST(test_short_records),
		TEST(test_superclass_ring), TEST(test_lists), TEST(test_circles), TEST(test_duplicates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
