/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_collections.c - layouts of collections, on objects made by hand as their libraries lay them out.
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

static void expect_inside(uint64_t address, unsigned parts, unsigned entries, bool broken)
{
	struct collection_inside inside;
	unsigned n = 0;
	assert_true(collection_inside(heap, id_of(address), &inside, count_part, &n));
	assert_int_equal(n, parts);
	assert_int_equal(inside.entries, entries);
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
	expect_inside(three, 1 + 4, 4, false);
	expect_inside(outer, 1 + 1 + 4, 4, false);
	expect_inside(empty, 0, 0, false);
	expect_inside(turns, 1 + 1, 1, true);
	expect_inside(two, 1, 2, false);
	expect_inside(long_one, 1 + 500, 500, false);
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
	for (size_t i = 0; (line = layouts_txt[i]); i++, n++)
		assert_int_equal(layout_add(line, &err), 0);
	assert_true(n > 150);
	layouts_forget();
	static const struct { const char *line, *says; } wrong[] = {
		{ "com.acme.Map", "com.acme.Map has no shape" },
		{ "com.acme.Map heap store=a", "unknown shape \"heap\" after the class" },
		{ "com.acme.Map array", "a layout of the shape array needs store=" },
		{ "com.acme.Map array store=a store=b", "store= occurs twice" },
		{ "com.acme.Map array store=a colour=red", "unknown word \"colour=\"" },
		{ "com.acme.Map array store=a sets", "unknown word \"sets\" (not a shape, map, keys, values or NAME=)" },
		{ "com.acme.Map radix store=a deep=d", "a layout of the shape radix needs size=" },
		{ "com.acme.Map radix store=a size=n", "a layout of the shape radix needs deep=" },
		{ "com.acme.Map array =a", "unknown word \"=\"" },
		{ "=", "= has no shape" },
		{ "com.acme.Map tree store=a value=v next=n", "next= of the shape tree can only be once, not n" },
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

static void test_frameworks(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b"), c = text("c");
	int atomic = class("java/util/concurrent/atomic/AtomicReferenceArray", object, "array:L");
	int counter = class("java/util/concurrent/atomic/AtomicInteger", object, "value:I");
	int reference = class("java/lang/ref/SoftReference", object, "referent:L");
	int old_map = class("java/util/concurrent/ConcurrentHashMap", object, "segments:L");
	int old_segment = class("java/util/concurrent/ConcurrentHashMap$Segment", object, "table:L count:I");
	int old_entry = class("java/util/concurrent/ConcurrentHashMap$HashEntry", object, "key:L value:L next:L");
	int cache = class("com/google/common/cache/LocalCache", object, "segments:L");
	int manual = class("com/google/common/cache/LocalCache$LocalManualCache", object, "localCache:L");
	int segment = class("com/google/common/cache/LocalCache$Segment", object, "count:I table:L");
	int strong = class("com/google/common/cache/LocalCache$StrongEntry", object, "key:L next:L valueReference:L");
	int weak = class("com/google/common/cache/LocalCache$WeakEntry", reference, "next:L valueReference:L");
	int held = class("com/google/common/cache/LocalCache$StrongValueReference", object, "referent:L");
	int spring = class("org/springframework/util/ConcurrentReferenceHashMap", object, "segments:L");
	int spring_segment = class("org/springframework/util/ConcurrentReferenceHashMap$Segment", object,
	    "references:L count:L");
	int soft = class("org/springframework/util/ConcurrentReferenceHashMap$SoftEntryReference", reference,
	    "nextReference:L");
	int pair = class("org/springframework/util/ConcurrentReferenceHashMap$Entry", object, "key:L value:L");
	int sorted = class("com/google/common/collect/ImmutableSortedMap", object, "keySet:L valueList:L");
	int sorted_keys = class("com/google/common/collect/RegularImmutableSortedSet", object, "elements:L");
	int regular = class("com/google/common/collect/RegularImmutableList", object, "array:L");
	int single = class("com/google/common/collect/SingletonImmutableList", object, "element:L");
	int gson = class("com/google/gson/internal/LinkedTreeMap", object, "header:L root:L size:I");
	int gson_node = class("com/google/gson/internal/LinkedTreeMap$Node", object, "next:L key:L value:L");
	int bag = class("org/hibernate/collection/spi/PersistentBag", object, "bag:L");
	int list = class("java/util/ArrayList", object, "size:I elementData:L");
	int jumbo = class("java/util/JumboEnumSet", object, "elements:L universe:L size:I");
	int reserve = class("scala/collection/mutable/PriorityQueue$ResizableArrayAccess", object, "array:L size0:I");
	int queue = class("scala/collection/mutable/PriorityQueue", object, "resarr:L");
	int jctools = class("org/jctools/queues/atomic/MpscAtomicArrayQueue", object, "buffer:L");

	uint64_t none = OBJECT(old_segment, 0, 0);
	uint64_t old = OBJECT(old_map, OBJECTS(OBJECT(old_segment, OBJECTS(0, OBJECT(old_entry, a, b, 0)), 1), 0, none,
	    OBJECT(old_segment, OBJECTS(OBJECT(old_entry, b, c, OBJECT(old_entry, c, a, 0))), 2)));
	uint64_t less = OBJECT(old_map, OBJECTS(OBJECT(old_segment, OBJECTS(0), (uint32_t)-3)));
	uint64_t first = OBJECT(strong, a, OBJECT(weak, 0, OBJECT(held, c), b), OBJECT(held, b));
	uint64_t local = OBJECT(cache, OBJECTS(OBJECT(segment, 2, OBJECT(atomic, OBJECTS(0, first))),
	    OBJECT(segment, 0, OBJECT(atomic, OBJECTS(0, 0)))));
	uint64_t round = new_address();
	uint64_t circle = OBJECT(cache, OBJECTS(OBJECT(segment, 1, OBJECT(atomic, OBJECTS(round)))));
	OBJECT_AT(round, strong, a, round, OBJECT(held, b));
	uint64_t lost = OBJECT(soft, 0, 0), entry = OBJECT(soft, lost, OBJECT(pair, a, c));
	uint64_t map = OBJECT(spring, OBJECTS(OBJECT(spring_segment, OBJECTS(entry), OBJECT(counter, 2))));
	uint64_t two = OBJECT(sorted, OBJECT(sorted_keys, OBJECT(regular, OBJECTS(a, b))), OBJECT(regular, OBJECTS(b, c)));
	uint64_t one = OBJECT(sorted, OBJECT(sorted_keys, OBJECT(single, c)), OBJECT(single, a));
	uint64_t head = new_address(), tree = OBJECT(gson, head, 0, 2);
	OBJECT_AT(head, gson_node, OBJECT(gson_node, OBJECT(gson_node, head, b, c), a, b), 0, 0);
	uint64_t hibernate = OBJECT(bag, OBJECT(list, 1, OBJECTS(a, 0))), lazy = OBJECT(bag, 0);
	uint64_t names[70];
	for (unsigned i = 0; i < 70; i++)
		names[i] = i == 69 ? c : i ? b : a;
	uint64_t set = OBJECT(jumbo, ARRAY('J', 1, 1 << 5), objects(names, 70), 2);
	uint64_t best = OBJECT(queue, OBJECT(reserve, OBJECTS(0, b, a, 0), 3));
	uint64_t offers = OBJECT(jctools, OBJECT(atomic, OBJECTS(0, a, 0, b)));
	uint64_t manual_cache = OBJECT(manual, local);
	open_made();
	expect_entries(old, "\"a\"=\"b\" \"b\"=\"c\" \"c\"=\"a\" (3 of 3)");
	expect_entries(less, "(4294967293 of 1 lies)");
	expect_entries(local, "\"a\"=\"b\" \"b\"=\"c\" (2 of 4)");
	expect_entries(manual_cache, "\"a\"=\"b\" \"b\"=\"c\" (2 of 4)");
	expect_entries(circle, "\"a\"=\"b\" ! (1 of 1)");
	expect_entries(map, "\"a\"=\"c\" null=null (2 of 1)");
	expect_entries(two, "\"a\"=\"b\" \"b\"=\"c\" (? of 2)");
	expect_entries(one, "\"c\"=\"a\" (1)");
	expect_entries(tree, "\"a\"=\"b\" \"b\"=\"c\" (2)");
	expect_entries(hibernate, "\"a\" (1 of 2)");
	expect_entries(set, "\"a\" \"c\" (2)");
	expect_entries(best, "\"b\" \"a\" (? of 4)");
	expect_entries(offers, "\"a\" \"b\" (? of 4)");
	struct collection_size size;
	assert_false(collection_size(heap, id_of(lazy), &size)); /* not loaded, so there is nothing */
}

/* Android up to 6, and IBM's VMs. */
static void test_harmony(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b");
	int list = class("java/util/ArrayList", object, "array:L firstIndex:I size:I");
	int links = class("java/util/LinkedList", object, "voidLink:L size:I");
	int link = class("java/util/LinkedList$Link", object, "data:L previous:L next:L");
	int map = class("java/util/HashMap", object, "elementData:L elementCount:I");
	int entry = class("java/util/HashMap$Entry", object, "key:L value:L next:L");
	int linked = class("java/util/LinkedHashMap", object, "header:L size:I table:L");
	int linked_entry = class("java/util/LinkedHashMap$LinkedEntry", object, "nxt:L prv:L key:L value:L");
	int set = class("java/util/HashSet", object, "backingMap:L");
	uint64_t head = new_address(), void_link = new_address();
	uint64_t l = OBJECT(list, OBJECTS(0, 0, a, b, 0), 2, 2), ring = OBJECT(links, void_link, 2);
	OBJECT_AT(void_link, link, 0, 0, OBJECT(link, b, 0, OBJECT(link, a, 0, void_link)));
	uint64_t m = OBJECT(map, OBJECTS(0, OBJECT(entry, a, b, OBJECT(entry, b, a, 0))), 2), s = OBJECT(set, m);
	uint64_t k = OBJECT(linked, head, 1, OBJECTS(0, 0)), none = new_address(), empty = OBJECT(links, none, 0);
	OBJECT_AT(head, linked_entry, OBJECT(linked_entry, head, head, b, a), 0, 0, 0);
	OBJECT_AT(none, link, 0, none, none);
	open_made();
	expect_entries(l, "\"a\" \"b\" (2 of 5)");
	expect_entries(ring, "\"b\" \"a\" (2)");
	expect_entries(empty, "(0)");
	expect_entries(m, "\"a\"=\"b\" \"b\"=\"a\" (2 of 2)");
	expect_entries(s, "\"a\" \"b\" (2 of 2)");
	expect_entries(k, "\"b\"=\"a\" (1 of 2)");
}

/* A field header is a ring's only in chains. */
static void test_header(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	assert_int_equal(layout_add("com.acme.Tree tree store=header value=v", &err), 0);
	int tree = class("com/acme/Tree", object, "header:L");
	int node = class("com/acme/Tree$Node", object, "left:L right:L v:L");
	uint64_t a = text("a"), b = text("b"), t = OBJECT(tree, OBJECT(node, OBJECT(node, 0, 0, a), 0, b));
	open_made();
	expect_entries(t, "\"a\" \"b\" (?)");
	layouts_forget();
}

/* Trees whose nodes lead back, are in arrays, or hold nothing. */
static void test_trees(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	uint64_t a = text("a"), b = text("b"), c = text("c"), nodes[5], root = new_address(), low = new_address();
	int list = class("org/apache/commons/collections4/list/TreeList", object, "root:L size:I");
	int avl = class("org/apache/commons/collections4/list/TreeList$AVLNode", object, "left:L right:L value:L");
	int trie = class("org/apache/commons/collections4/trie/AbstractPatriciaTrie", object, "root:L size:I");
	int entry = class("org/apache/commons/collections4/trie/AbstractPatriciaTrie$TrieEntry", object,
	    "left:L right:L key:L value:L");
	int bidi = class("org/apache/commons/collections/bidimap/TreeBidiMap", object, "rootNode:L nodeCount:I");
	int pair = class("org/apache/commons/collections/bidimap/TreeBidiMap$Node", object,
	    "data:L leftNode:L rightNode:L");
	int bin = class("scala/collection/immutable/IntMap$Bin", object, "prefix:I mask:I left:L right:L");
	int tip = class("scala/collection/immutable/IntMap$Tip", object, "key:I value:L");
	int own = class("com/acme/Second", object, "list:L");
	OBJECT_AT(root, avl, low, OBJECT(avl, root, 0, c), b);
	OBJECT_AT(low, avl, 0, root, 0);
	uint64_t three = OBJECT(list, root, 3), top = new_address(), back = new_address();
	OBJECT_AT(top, entry, back, 0, 0, 0);
	OBJECT_AT(back, entry, OBJECT(entry, back, top, a, 0), back, b, c);
	uint64_t two = OBJECT(trie, top, 2), none = new_address(), only = new_address();
	OBJECT_AT(only, entry, only, 0, 0, 0);
	OBJECT_AT(none, trie, only, 0);
	nodes[0] = OBJECT(pair, OBJECTS(b, a), OBJECTS(0, 0), OBJECTS(0, 0));
	nodes[1] = OBJECT(pair, OBJECTS(c, b), OBJECTS(nodes[0], 0), OBJECTS(0, 0));
	uint64_t both = OBJECT(bidi, OBJECTS(nodes[1], nodes[0]), 2), short_one = OBJECT(bidi, OBJECTS(nodes[1]), 2);
	uint64_t empty = OBJECT(bidi, OBJECTS(0, 0), 0);
	nodes[2] = OBJECT(bin, 0, 2, OBJECT(tip, 1, a), OBJECT(tip, 2, b));
	uint64_t ints = OBJECT(bin, 0, 4, nodes[2], OBJECT(tip, 5, c)), turns = new_address();
	OBJECT_AT(turns, bin, 0, 4, nodes[2], turns);
	assert_int_equal(layout_add("com.acme.Second wrapper store=list[1]", &err), 0);
	uint64_t second = OBJECT(own, OBJECTS(a, three)), beyond = OBJECT(own, OBJECTS(a)), not_one = OBJECT(own, a);
	open_made();
	expect_entries(three, "null \"b\" \"c\" (3)");
	expect_entries(two, "\"a\"=null \"b\"=\"c\" (2)");
	expect_entries(none, "(0)");
	expect_entries(both, "\"b\"=\"a\" \"c\"=\"b\" (2)");
	expect_entries(short_one, "\"b\"=\"a\" \"c\"=\"b\" (2)");
	expect_entries(empty, "(0)");
	expect_entries(ints, "1=\"a\" 2=\"b\" 5=\"c\" (?)");
	expect_entries(turns, "1=\"a\" 2=\"b\" ! (?)");
	expect_entries(second, "null \"b\" \"c\" (3)");
	struct collection_size size;
	assert_false(collection_size(heap, id_of(beyond), &size));
	assert_false(collection_size(heap, id_of(not_one), &size));
	unsigned parts = 0;
	collection_inner(heap, id_of(ints), count_part, &parts);
	assert_int_equal(parts, 2);
	layouts_forget();
}

/* The first pair of the array is no entry; one that grows is half elsewhere. */
static void test_non_blocking(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b");
	int map = class("org/jctools/maps/NonBlockingHashMap", object, "_kvs:L");
	int longs = class("org/jctools/maps/NonBlockingHashMapLong", object, "_chm:L _val_1:L");
	int chm = class("org/jctools/maps/NonBlockingHashMap$CHM", object, "_newkvs:L");
	int chml = class("org/jctools/maps/NonBlockingHashMapLong$CHM", object, "_newchm:L _keys:L _vals:L");
	uint64_t plain = OBJECT(chm, 0), growing = OBJECT(chm, OBJECTS(0));
	uint64_t two = OBJECT(map, OBJECTS(plain, a, a, b, 0, 0, b, a, a, 0));
	uint64_t grows = OBJECT(map, OBJECTS(growing, a, a, b)), none = OBJECT(map, OBJECTS(plain, a));
	uint64_t table = OBJECT(chml, 0, ARRAY('J', 5, 6, 0), OBJECTS(a, 0, 0));
	uint64_t one = OBJECT(longs, table, 0), zero = OBJECT(longs, table, b);
	open_made();
	expect_entries(two, "\"a\"=\"b\" \"b\"=\"a\" (? of 4)");
	expect_entries(none, "(? of 0)");
	expect_entries(one, "5=\"a\" (? of 3)");
	expect_entries(zero, "5=\"a\" 0=\"b\" (? of 3)");
	struct collection_size size;
	assert_false(collection_size(heap, id_of(grows), &size));
}

/* Scala 2.13 has longer names for fields that inner classes read.  A projection of a set has its field, too. */
static void test_scala(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b"), c = text("c");
#define OF "scala$collection$immutable$Map$Map2$$"
	int two = class("scala/collection/immutable/Map$Map2", object,
	    OF "key1:L " OF "value1:L " OF "key2:L " OF "value2:L");
#undef OF
	int three = class("scala/collection/immutable/Map$Map3", object,
	    "key1:L value1:L key2:L value2:L key3:L value3:L");
	int other = class("scala/collection/immutable/Map$Map4", object, "renamed:L");
	int set = class("scala/collection/mutable/TreeSet", object, "scala$collection$mutable$TreeSet$$tree:L ordering:L");
	int range = class("scala/collection/mutable/TreeSet$TreeSetProjection", set, "from:L until:L");
	int tree = class("scala/collection/mutable/RedBlackTree$Tree", object, "root:L size:I");
	int node = class("scala/collection/mutable/RedBlackTree$Node", object, "key:L value:L left:L right:L");
	int option = class("scala/Some", object, "value:L");
	uint64_t m = OBJECT(two, a, b, c, a), n = OBJECT(three, a, b, c, a, b, 0), none = OBJECT(other, a);
	uint64_t root = OBJECT(node, b, 0, OBJECT(node, a, 0, 0, 0), 0);
	uint64_t full = OBJECT(tree, root, 2), s = OBJECT(set, full, 0), empty = OBJECT(set, OBJECT(tree, 0, 0), 0);
	uint64_t part = OBJECT(range, OBJECT(option, b), OBJECT(option, c), full, 0);
	open_made();
	expect_entries(m, "\"a\"=\"b\" \"c\"=\"a\" (2)");
	expect_entries(n, "\"a\"=\"b\" \"c\"=\"a\" \"b\"=null (3)");
	expect_entries(s, "\"a\" \"b\" (2)");
	expect_entries(empty, "(0)");
	struct collection_size size;
	assert_false(collection_size(heap, id_of(none), &size));
	assert_false(collection_size(heap, id_of(part), &size));
}

/* Two lines of a class: what one of them names is null. */
static void test_two_lines(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b");
	int flat = class("org/apache/commons/collections4/map/Flat3Map", object,
	    "size:I key1:L key2:L key3:L value1:L value2:L value3:L delegateMap:L");
	int single = class("org/apache/commons/collections4/map/SingletonMap", object, "key:L value:L");
	uint64_t one = OBJECT(flat, 1, a, b, b, b, 0, 0, 0), none = OBJECT(flat, 0, 0, 0, 0, 0, 0, 0, 0);
	uint64_t other = OBJECT(flat, 0, 0, 0, 0, 0, 0, 0, OBJECT(single, b, a));
	uint64_t lies = OBJECT(flat, -2, a, b, b, b, 0, 0, 0), many = OBJECT(flat, 9, a, b, 0, b, 0, 0, 0);
	open_made();
	expect_entries(one, "\"a\"=\"b\" (1)");
	expect_entries(none, "(0)");
	expect_entries(other, "\"b\"=\"a\" (1)");
	expect_entries(lies, "\"a\"=\"b\" \"b\"=null \"b\"=null (4294967294 lies)");
	expect_entries(many, "\"a\"=\"b\" \"b\"=null null=null (9)");
}

/* Collections of two others, and a sequence that begins in the middle of a vector. */
static void test_joined(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b"), c = text("c");
	int two = class("scala/collection/immutable/Queue", object, "in:L out:L");
	int cons = class("scala/collection/immutable/$colon$colon", object, "head:L next:L");
	int nil = class("scala/collection/immutable/Nil$", object, "");
	int fifo = class("clojure/lang/PersistentQueue", object, "cnt:I f:L r:L");
	int vector = class("clojure/lang/PersistentVector", object, "cnt:I shift:I root:L tail:L");
	int node = class("clojure/lang/PersistentVector$Node", object, "array:L");
	int seq = class("clojure/lang/PersistentVector$ChunkedSeq", object, "vec:L i:I offset:I");
	int args = class("clojure/lang/ArraySeq", object, "array:L i:I");
	uint64_t end = OBJECT(nil, 0), in = OBJECT(cons, c, end), out = OBJECT(cons, a, OBJECT(cons, b, end));
	uint64_t q = OBJECT(two, in, out), empty = OBJECT(two, end, end), turns = new_address(), deep = OBJECT(two, q, out);
	OBJECT_AT(turns, two, turns, turns);
	uint64_t three = OBJECT(vector, 3, 5, OBJECT(node, OBJECTS(0, 0)), OBJECTS(a, b, c));
	uint64_t rest = OBJECT(seq, three, 0, 1), over = OBJECT(seq, three, 0, 7), minus = OBJECT(seq, three, 0, -7);
	int composite = class("org/eclipse/collections/impl/list/mutable/CompositeFastList", object, "lists:L");
	int fast = class("org/eclipse/collections/impl/list/mutable/FastList", object, "size:I items:L");
	uint64_t x = OBJECT(fast, 2, OBJECTS(a, b, 0)), y = OBJECT(fast, 1, OBJECTS(c));
	uint64_t both = OBJECT(composite, OBJECT(fast, 2, OBJECTS(x, y, 0)));
	uint64_t f = OBJECT(fifo, 5, rest, three), unread = OBJECT(fifo, 4, a, three);
	uint64_t r = OBJECT(args, OBJECTS(a, b, c), 2);
	open_made();
	expect_entries(q, "\"a\" \"b\" \"c\" (?)");
	expect_entries(empty, "(?)");
	expect_entries(turns, "! (?)");
	expect_entries(deep, "\"a\" \"b\" ! (?)");
	expect_entries(rest, "\"b\" \"c\" (2)");
	expect_entries(over, "(4294967292 lies)");
	expect_entries(minus, "! (10 lies)");
	expect_entries(f, "\"b\" \"c\" \"a\" \"b\" \"c\" (5)");
	expect_entries(unread, "\"a\" \"b\" \"c\" ! (4)");
	expect_entries(r, "\"c\" (1 of 3)");
	expect_entries(both, "\"a\" \"b\" \"c\" (? of 3)");
	unsigned parts = 0;
	collection_inner(heap, id_of(f), count_part, &parts);
	assert_int_equal(parts, 2);
	uint64_t left = 100;
	struct collection_size size;
	assert_true(collection_count(heap, id_of(q), &left, &size));
	assert_true(size.known && size.size == 3 && left == 97);
	/* what the queue is made of: two lists, of which the first nodes are they themselves */
	expect_inside(q, 2 + 3, 3, false);
}

static void test_bits(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b"), c = text("c"), lot[70];
	int regular = class("java/util/RegularEnumSet", object, "universe:L elements:J");
	int jumbo = class("java/util/JumboEnumSet", object, "universe:L elements:L size:I");
	int one = class("scala/collection/immutable/BitSet$BitSet1", object, "elems:J");
	int two = class("scala/collection/immutable/BitSet$BitSet2", object, "elems0:J elems1:J");
	int many = class("scala/collection/mutable/BitSet", object, "elems:L");
	for (unsigned i = 0; i < 70; i++)
		lot[i] = i == 64 ? a : b;
	uint64_t enums = OBJECT(regular, OBJECTS(a, b, c), 5), beyond = OBJECT(regular, OBJECTS(a, b, c), 12);
	uint64_t more = OBJECT(jumbo, objects(lot, 70), ARRAY('J', 1, 2), 2);
	uint64_t none = OBJECT(one, 0), few = OBJECT(one, UINT64_C(1) << 63 | 1);
	uint64_t some = OBJECT(two, 4, 9);
	uint64_t words = OBJECT(many, ARRAY('J', 2, 0, 0, 1 << 20)), empty = OBJECT(many, ARRAY('J', 0));
	open_made();
	expect_entries(enums, "\"a\" \"c\" (2)");
	expect_entries(beyond, "\"c\" (2)");
	expect_entries(more, "\"b\" \"b\" (2)");
	expect_entries(none, "(0)");
	expect_entries(few, "0 63 (2)");
	expect_entries(some, "2 64 67 (3)");
	expect_entries(words, "1 212 (?)");
	expect_entries(empty, "(?)");
}

/* Trees of arrays, by the bits of an index. */
static void test_radix(void **state)
{
	(void)state;
	uint64_t a = text("a"), b = text("b"), c = text("c"), full[33], leaf[32], top[2];
	int vector = class("scala/collection/immutable/Vector", object,
	    "startIndex:I endIndex:I depth:I display0:L display1:L display2:L display3:L display4:L display5:L");
	int vavr = class("io/vavr/collection/Vector", object, "trie:L");
	int bits = class("io/vavr/collection/BitMappedTrie", object, "array:L offset:I length:I depthShift:I");
	int persistent = class("kotlinx/collections/immutable/implementations/immutableList/PersistentVector", object,
	    "root:L tail:L size:I rootShift:I");
	int trie = class("scala/collection/concurrent/TrieMap", object, "root:L");
	int inode = class("scala/collection/concurrent/INode", object, "mainnode:L");
	int cnode = class("scala/collection/concurrent/CNode", object, "bitmap:I array:L");
	int snode = class("scala/collection/concurrent/SNode", object, "k:L v:L hc:I");
	for (unsigned i = 0; i < 33; i++)
		full[i] = i == 30 ? a : i == 31 ? b : i == 32 ? text("whose it is") : c;
	memcpy(leaf, full, sizeof leaf);
	uint64_t old = objects(leaf, 32);
	top[0] = old;
	top[1] = OBJECTS(c, a, 0);
	uint64_t two = objects(top, 2), beyond;
	beyond = OBJECTS(a, b);
	uint64_t selves[32];
	for (unsigned i = 0; i < 32; i++)
		selves[i] = beyond + 0x1000; /* the address of the next object, this array */
	uint64_t self = objects(selves, 32), turns = OBJECT(vector, 0, 1 << 30, 3, 0, 0, self, 0, 0, 0);
	assert_int_equal(self, selves[0]);
	/* display0 is old, display1 the whole; its elements are 30 to 33 */
	uint64_t v = OBJECT(vector, 30, 34, 2, beyond, two, 0, 0, 0, 0);
	uint64_t short_one = OBJECT(vector, 30, 36, 2, beyond, two, 0, 0, 0, 0);
	uint64_t lies = OBJECT(vector, 34, 30, 2, beyond, two, 0, 0, 0, 0);
	uint64_t deep = OBJECT(vector, 0, 4, 99, beyond, two, 0, 0, 0, 0);
	uint64_t empty = OBJECT(vector, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	uint64_t w = OBJECT(vavr, OBJECT(bits, two, 31, 3, 5)), one = OBJECT(vavr, OBJECT(bits, OBJECTS(a, b), 0, 2, 0));
	/* what a builder made has a place more in each array */
	uint64_t p = OBJECT(persistent, OBJECTS(objects(full, 33), OBJECTS(a, b)), OBJECTS(c, 0), 34, 5);
	uint64_t in = OBJECT(inode, OBJECT(cnode, 3, OBJECTS(OBJECT(snode, c, a, 7), OBJECT(snode, a, b, 8))));
	uint64_t t = OBJECT(trie, OBJECT(inode, OBJECT(cnode, 3, OBJECTS(OBJECT(snode, b, c, 1), in))));
	open_made();
	expect_entries(v, "\"a\" \"b\" \"c\" \"a\" (4)");
	expect_entries(short_one, "\"a\" \"b\" \"c\" \"a\" null ! (6)");
	expect_entries(lies, "! (4294967292 lies)");
	expect_entries(deep, "! (4)");
	expect_entries(empty, "(0)");
	expect_entries(turns, "! (1073741824)");
	expect_entries(w, "\"b\" \"c\" \"a\" (3)");
	expect_entries(one, "\"a\" \"b\" (2)");
	expect_entries(t, "\"b\"=\"c\" \"c\"=\"a\" \"a\"=\"b\" (?)");
	struct collection k;
	struct collection_entry e;
	struct text last = TEXT_INIT;
	unsigned n = 0;
	assert_int_equal(collection_open(&k, heap, id_of(p), NULL), 0);
	for (; collection_next(&k, &e); n++) {
		text_clear(&last);
		describe_value(heap, &e.value, 40, &last);
		assert_string_not_equal(last.s, "\"whose it is\"");
	}
	assert_string_equal(last.s, "\"b\"");
	assert_int_equal(n, 34);
	collection_close(&k);
	text_release(&last);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_made, end_made)
	const struct CMUnitTest tests[] = {TEST(test_inside), TEST(test_lines), TEST(test_numbers),
		TEST(test_lists_of_libraries), TEST(test_frameworks), TEST(test_harmony), TEST(test_header),
		TEST(test_scala), TEST(test_two_lines), TEST(test_joined),
		TEST(test_trees), TEST(test_non_blocking), TEST(test_bits), TEST(test_radix)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
