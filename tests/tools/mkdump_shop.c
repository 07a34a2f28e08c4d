/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_shop.c - the sample data/shop.hprof: a web shop with values worth looking at; and two dumps that the
 * same process left before, data/shop-1.hprof and data/shop-2.hprof.
 *
 * What there is to find: sixty closed sessions that a static AuditLog.ENTRIES still holds, each with
 * its view state (the leak); forty live ones in a ConcurrentHashMap; a catalog in a TreeMap; the same
 * city in hundreds of customers (duplicate strings); prices, dates, an enum, optionals; a comment
 * with an escape sequence and half a surrogate pair; a class that two loaders have loaded; threads
 * that run, wait for each other, and park; system properties.
 *
 * And what happened between the dumps: each hour twenty more sessions were closed and kept, twenty orders came
 * in, and the pool made one more worker; live sessions came and went.
 */
#include "mkdump_hprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUSTOMERS = 200, PRODUCTS = 40, VIEW_STATE = 1024, MOST_SESSIONS = 100, MOST_ORDERS = 320 };
enum { ROOT_JNI_GLOBAL = 1, ROOT_JAVA_FRAME = 3, ROOT_STICKY = 5, ROOT_THREAD = 8 };

/* The shop when it was dumped. */
static const struct hour {
	const char *file;
	uint64_t heap;     /* where objects lie: the collector has moved them since the dump before */
	uint64_t seconds;  /* since 1970 */
	uint32_t live, closed, orders, workers;
} hours[] = {
	{ "shop-1.hprof", UINT64_C(0xC8000000), 1795256100 - 7200, 30, 20, 280, 1 },
	{ "shop-2.hprof", UINT64_C(0xD4000000), 1795256100 - 3600, 50, 40, 300, 2 },
	{ "shop.hprof", UINT64_C(0xE0000000), 1795256100 /* 2026-11-21T10:15:00Z */, 40, 60, 320, 3 },
};

struct shop {
	struct hp h;
	const struct hour *hour;
	uint32_t app, plugin[2]; /* loaders */
	uint32_t customer[CUSTOMERS], product[PRODUCTS], order[MOST_ORDERS], session[MOST_SESSIONS];
	uint32_t status[4], category[4];
	uint32_t plugin_class[2];
};

/* --- classes ------------------------------------------------------------------------------------ */

static const struct {
	const char *name, *super, *fields, *statics;
} jdk[] = {
	{ "java/lang/Object", NULL, NULL, NULL },
	{ "java/lang/Class", "java/lang/Object",
	    "classRedefinedCount:I cachedConstructor:L name:L module:L packageName:L componentType:L "
	    "reflectionData:L genericInfo:L enumConstants:L enumConstantDirectory:L annotationData:L "
	    "annotationType:L classValueMap:L classData:L classLoader:L", NULL },
	{ "java/lang/constant/Constable", "java/lang/Object", NULL, NULL },
	{ "java/lang/Record", "java/lang/Object", NULL, NULL },
	{ "java/lang/invoke/MethodHandle", "java/lang/Object", "type:L form:L", NULL },
	{ "java/lang/invoke/MethodHandleNatives$CallSiteContext", "java/lang/Object", NULL, NULL },
	{ "java/lang/String", "java/lang/Object", "hashIsZero:Z hash:I coder:B value:L",
	    "COMPACT_STRINGS:Z UTF16:B LATIN1:B" },
	{ "java/lang/StringUTF16", "java/lang/Object", NULL, "LO_BYTE_SHIFT:I HI_BYTE_SHIFT:I" },
	{ "java/lang/System", "java/lang/Object", NULL, "props:L lineSeparator:L" },
	{ "java/lang/Number", "java/lang/Object", NULL, NULL },
	{ "java/lang/Integer", "java/lang/Number", "value:I", "MAX_VALUE:I MIN_VALUE:I" },
	{ "java/lang/Long", "java/lang/Number", "value:J", NULL },
	{ "java/lang/Double", "java/lang/Number", "value:D", NULL },
	{ "java/lang/Boolean", "java/lang/Object", "value:Z", "FALSE:L TRUE:L" },
	{ "java/lang/Enum", "java/lang/Object", "ordinal:I name:L", NULL },
	{ "java/math/BigInteger", "java/lang/Number",
	    "firstNonzeroIntNumPlusTwo:I lowestSetBitPlusTwo:I bitLengthPlusOne:I bitCountPlusOne:I "
	    "mag:L signum:I", NULL },
	{ "java/math/BigDecimal", "java/lang/Number",
	    "intCompact:J stringCache:L precision:I scale:I intVal:L", NULL },
	{ "java/util/UUID", "java/lang/Object", "leastSigBits:J mostSigBits:J", NULL },
	{ "java/time/LocalDate", "java/lang/Object", "day:S month:S year:I", NULL },
	{ "java/time/Instant", "java/lang/Object", "nanos:I seconds:J", NULL },
	{ "java/util/Optional", "java/lang/Object", "value:L", "EMPTY:L" },
	{ "java/io/File", "java/lang/Object", "filePath:L prefixLength:I status:L path:L", NULL },
	{ "java/util/AbstractMap", "java/lang/Object", "values:L keySet:L", NULL },
	{ "java/util/HashMap", "java/util/AbstractMap",
	    "loadFactor:F threshold:I modCount:I size:I entrySet:L table:L", NULL },
	{ "java/util/HashMap$Node", "java/lang/Object", "next:L value:L key:L hash:I", NULL },
	{ "java/util/TreeMap", "java/util/AbstractMap",
	    "descendingMap:L navigableKeySet:L entrySet:L modCount:I size:I root:L comparator:L", NULL },
	{ "java/util/TreeMap$Entry", "java/lang/Object",
	    "color:Z parent:L right:L left:L value:L key:L", NULL },
	{ "java/util/concurrent/ConcurrentHashMap", "java/util/AbstractMap",
	    "entrySet:L values:L keySet:L counterCells:L cellsBusy:I transferIndex:I sizeCtl:I "
	    "baseCount:J nextTable:L table:L", NULL },
	{ "java/util/concurrent/ConcurrentHashMap$Node", "java/lang/Object",
	    "next:L val:L key:L hash:I", NULL },
	{ "java/util/AbstractList", "java/lang/Object", "modCount:I", NULL },
	{ "java/util/ArrayList", "java/util/AbstractList", "size:I elementData:L", NULL },
	{ "java/util/ArrayDeque", "java/lang/Object", "tail:I head:I elements:L", NULL },
	{ "java/util/Hashtable", "java/lang/Object",
	    "values:L entrySet:L keySet:L modCount:I loadFactor:F threshold:I count:I table:L", NULL },
	{ "java/util/Properties", "java/util/Hashtable", "map:L defaults:L", NULL },
	{ "java/lang/ref/Reference", "java/lang/Object", "discovered:L next:L queue:L referent:L", NULL },
	{ "java/lang/ref/WeakReference", "java/lang/ref/Reference", NULL, NULL },
	{ "java/lang/ClassLoader", "java/lang/Object", "classes:L nameAndId:L name:L parent:L", NULL },
	{ "java/net/URLClassLoader", "java/lang/ClassLoader", "ucp:L", NULL },
	{ "java/lang/ThreadGroup", "java/lang/Object", "maxPriority:I name:L parent:L", NULL },
	{ "java/lang/Thread", "java/lang/Object",
	    "threadStatus:I tid:J contextClassLoader:L group:L target:L eetop:J daemon:Z priority:I name:L",
	    NULL },
};

static uint32_t app_class(struct shop *s, const char *name, const char *super, const char *fields,
    const char *statics)
{
	return hp_class(&s->h, name, hp_find_class(&s->h, super), s->app, fields, statics);
}

static uint32_t make_loader(struct shop *s, const char *name, uint32_t parent)
{
	uint32_t loader = hp_new(&s->h, "java/net/URLClassLoader");
	if (name)
		hp_refer(&s->h, loader, "name", hp_string(&s->h, name));
	hp_refer(&s->h, loader, "parent", parent);
	return loader;
}

static void make_classes(struct shop *s)
{
	struct hp *h = &s->h;
	for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++) {
		uint32_t super = jdk[i].super ? hp_find_class(h, jdk[i].super) : HP_NONE;
		uint32_t class = hp_class(h, jdk[i].name, super, HP_NONE, jdk[i].fields, jdk[i].statics);
		hp_root(h, ROOT_STICKY, h->classes[class].object, 0, 0);
	}
	hp_set_static(h, hp_find_class(h, "java/lang/String"), "UTF16", 1);
	hp_set_static(h, hp_find_class(h, "java/lang/String"), "COMPACT_STRINGS", 1);
	hp_set_static(h, hp_find_class(h, "java/lang/StringUTF16"), "LO_BYTE_SHIFT", 8);
	hp_set_static(h, hp_find_class(h, "java/lang/Integer"), "MAX_VALUE", 0x7fffffff);
	hp_set_static(h, hp_find_class(h, "java/lang/Integer"), "MIN_VALUE", 0x80000000);
	s->app = make_loader(s, "app", HP_NONE);
	hp_root(h, ROOT_JNI_GLOBAL, s->app, 0, 0);
	app_class(s, "com/acme/shop/Status", "java/lang/Enum", NULL,
	    "NEW:L PAID:L SHIPPED:L RETURNED:L $VALUES:L");
	app_class(s, "com/acme/shop/Category", "java/lang/Enum", NULL,
	    "BOOKS:L GARDEN:L KITCHEN:L TOYS:L $VALUES:L");
	app_class(s, "com/acme/shop/Customer", "java/lang/Object",
	    "name:L email:L city:L id:L since:L newsletter:Z", NULL);
	app_class(s, "com/acme/shop/Product", "java/lang/Object",
	    "sku:L name:L price:L category:L weight:D stock:I", NULL);
	app_class(s, "com/acme/shop/Order", "java/lang/Object",
	    "number:J customer:L items:L status:L total:L placed:L note:L", "counter:J");
	app_class(s, "com/acme/shop/Session", "java/lang/Object",
	    "id:L customer:L cart:L lastSeen:J closed:Z viewState:L", NULL);
	app_class(s, "com/acme/shop/AuditLog", "java/lang/Object", NULL, "ENTRIES:L");
	app_class(s, "com/acme/shop/Worker", "java/lang/Thread", "name:L served:I current:L", NULL);
	app_class(s, "com/acme/shop/W\xc3\xa4hrung", "java/lang/Object", "k\xc3\xbcrzel:C kurs:F", NULL);
	app_class(s, "com/acme/shop/Shop", "java/lang/Object",
	    "catalog:L sessions:L orders:L stock:L comments:L queue:L currency:L sales:L grid:L home:L "
	    "last:L", "INSTANCE:L VERSION:L DEBUG:Z RATE:D");
}

/* --- small objects ------------------------------------------------------------------------------ */

static uint32_t make_integer(struct shop *s, int32_t value)
{
	uint32_t box = hp_new(&s->h, "java/lang/Integer");
	hp_set(&s->h, box, "value", (uint32_t)value);
	return box;
}

static uint32_t make_decimal(struct shop *s, int64_t unscaled, int scale)
{
	uint32_t d = hp_new(&s->h, "java/math/BigDecimal");
	hp_set(&s->h, d, "intCompact", (uint64_t)unscaled);
	hp_set(&s->h, d, "scale", (uint64_t)scale);
	return d;
}

static uint32_t make_list(struct shop *s, const uint32_t *element, uint32_t n, uint32_t capacity)
{
	uint32_t list = hp_new(&s->h, "java/util/ArrayList");
	uint32_t array = hp_array(&s->h, "[Ljava/lang/Object;", capacity);
	for (uint32_t i = 0; i < n; i++)
		hp_refer_element(&s->h, array, i, element[i]);
	hp_refer(&s->h, list, "elementData", array);
	hp_set(&s->h, list, "size", n);
	return list;
}

static uint64_t double_bits(double d)
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

/* The constants of an enum and their array. */
static void make_enum(struct shop *s, const char *class, const char *array_class,
    const char *const *names, uint32_t *out)
{
	uint32_t c = hp_find_class(&s->h, class), values = hp_array(&s->h, array_class, 4);
	for (uint32_t i = 0; i < 4; i++) {
		out[i] = hp_new_of(&s->h, c);
		hp_set(&s->h, out[i], "ordinal", i);
		hp_refer(&s->h, out[i], "name", hp_string(&s->h, names[i]));
		hp_refer_static(&s->h, c, names[i], out[i]);
		hp_refer_element(&s->h, values, i, out[i]);
	}
	hp_refer_static(&s->h, c, "$VALUES", values);
}

/* --- maps --------------------------------------------------------------------------------------- */

struct pair {
	char key[64];
	uint32_t value;
};

/* A hash table as HashMap and ConcurrentHashMap both have it: n must be below 3/4 of the slots. */
static uint32_t make_table(struct shop *s, const char *node_class, const char *array_class,
    const char *value_field, const struct pair *pair, uint32_t n, uint32_t slots)
{
	uint32_t table = hp_array(&s->h, array_class, slots);
	uint32_t *first = get_memory(slots, sizeof *first);
	memset(first, 0xFF, slots * sizeof *first);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t hash = hp_string_hash(pair[i].key), node = hp_new(&s->h, node_class);
		hash ^= hash >> 16;
		hp_set(&s->h, node, "hash", hash & 0x7fffffff);
		hp_refer(&s->h, node, "key", hp_string(&s->h, pair[i].key));
		hp_refer(&s->h, node, value_field, pair[i].value);
		hp_refer(&s->h, node, "next", first[hash & (slots - 1)]);
		first[hash & (slots - 1)] = node;
	}
	for (uint32_t i = 0; i < slots; i++)
		hp_refer_element(&s->h, table, i, first[i]);
	free(first);
	return table;
}

static uint32_t make_hash_map(struct shop *s, const struct pair *pair, uint32_t n, uint32_t slots)
{
	uint32_t map = hp_new(&s->h, "java/util/HashMap");
	hp_set(&s->h, map, "size", n);
	hp_set(&s->h, map, "threshold", slots * 3 / 4);
	hp_set(&s->h, map, "loadFactor", float_bits(0.75f));
	hp_refer(&s->h, map, "table", make_table(s, "java/util/HashMap$Node", "[Ljava/util/HashMap$Node;",
	    "value", pair, n, slots));
	return map;
}

static uint32_t make_concurrent_map(struct shop *s, const struct pair *pair, uint32_t n,
    uint32_t slots)
{
	uint32_t map = hp_new(&s->h, "java/util/concurrent/ConcurrentHashMap");
	hp_set(&s->h, map, "baseCount", n);
	hp_set(&s->h, map, "sizeCtl", slots * 3 / 4);
	hp_refer(&s->h, map, "table", make_table(s, "java/util/concurrent/ConcurrentHashMap$Node",
	    "[Ljava/util/concurrent/ConcurrentHashMap$Node;", "val", pair, n, slots));
	return map;
}

/* A balanced tree over keys that ascend already. */
static uint32_t make_tree(struct shop *s, const struct pair *pair, uint32_t n)
{
	struct {
		uint32_t begin, end, parent;
		const char *side;
	} todo[64] = { { 0, n, HP_NONE, NULL } };
	uint32_t map = hp_new(&s->h, "java/util/TreeMap");
	hp_set(&s->h, map, "size", n);
	for (unsigned depth = 1; depth > 0;) {
		uint32_t begin = todo[--depth].begin, end = todo[depth].end, parent = todo[depth].parent;
		const char *side = todo[depth].side;
		if (begin == end)
			continue;
		uint32_t middle = begin + (end - begin) / 2, entry = hp_new(&s->h, "java/util/TreeMap$Entry");
		hp_set(&s->h, entry, "color", 1);
		hp_refer(&s->h, entry, "key", hp_string(&s->h, pair[middle].key));
		hp_refer(&s->h, entry, "value", pair[middle].value);
		hp_refer(&s->h, entry, "parent", parent);
		hp_refer(&s->h, side ? parent : map, side ? side : "root", entry);
		todo[depth].begin = middle + 1, todo[depth].end = end;
		todo[depth].parent = entry, todo[depth++].side = "right";
		todo[depth].begin = begin, todo[depth].end = middle;
		todo[depth].parent = entry, todo[depth++].side = "left";
	}
	return map;
}

/* --- the shop ----------------------------------------------------------------------------------- */

static const char *const first_names[] = { "Anna", "Bj\xc3\xb6rn", "Chlo\xc3\xa9", "Dmitri", "Eva",
	"Fran\xc3\xa7ois", "Gia", "\xe8\x8a\xb1\xe5\xad\x90" };
static const char *const cities[] = { "Berlin", "Berlin", "Berlin", "K\xc3\xb6ln", "Lyon",
	"\xe6\x9d\xb1\xe4\xba\xac" };
static const char *const goods[] = { "Teapot", "Garden hose", "Kite", "Cookbook", "K\xc3\xa4sereibe",
	"\xe6\x9c\xa8\xe3\x81\xae\xe6\xa4\x85\xe5\xad\x90", "Lamp", "Puzzle" };

static void make_customers(struct shop *s)
{
	struct hp *h = &s->h;
	for (uint32_t i = 0; i < CUSTOMERS; i++) {
		char text[80];
		uint32_t c = s->customer[i] = hp_new(h, "com/acme/shop/Customer");
		snprintf(text, sizeof text, "%s %u", first_names[i % 8], i);
		hp_refer(h, c, "name", hp_string(h, text));
		snprintf(text, sizeof text, "customer%u@example.org", i);
		hp_refer(h, c, "email", hp_string(h, text));
		hp_refer(h, c, "city", hp_string(h, cities[i % 6]));
		uint32_t id = hp_new(h, "java/util/UUID");
		hp_set(h, id, "mostSigBits", UINT64_C(0x0123456789ab4def) + i);
		hp_set(h, id, "leastSigBits", UINT64_C(0x8edcba9876543210) + i);
		hp_refer(h, c, "id", id);
		uint32_t since = hp_new(h, "java/time/LocalDate");
		hp_set(h, since, "year", 2010 + i % 15);
		hp_set(h, since, "month", 1 + i % 12);
		hp_set(h, since, "day", 1 + i % 28);
		hp_refer(h, c, "since", since);
		hp_set(h, c, "newsletter", i % 3 == 0);
	}
}

static uint32_t make_catalog(struct shop *s)
{
	struct hp *h = &s->h;
	struct pair pair[PRODUCTS];
	for (uint32_t i = 0; i < PRODUCTS; i++) {
		char text[80];
		uint32_t p = s->product[i] = hp_new(h, "com/acme/shop/Product");
		snprintf(pair[i].key, sizeof pair[i].key, "SKU-%04u", 1000 + i);
		pair[i].value = p;
		snprintf(text, sizeof text, "%s %u", goods[i % 8], i);
		hp_refer(h, p, "sku", hp_string(h, pair[i].key));
		hp_refer(h, p, "name", hp_string(h, text));
		hp_refer(h, p, "price", make_decimal(s, 199 + 250 * (int)i, 2));
		hp_refer(h, p, "category", s->category[i % 4]);
		hp_set(h, p, "weight", double_bits(0.25 * i));
		hp_set(h, p, "stock", i == 7 ? (uint64_t)-1 : i * 3);
	}
	return make_tree(s, pair, PRODUCTS);
}

static uint32_t make_orders(struct shop *s)
{
	struct hp *h = &s->h;
	uint32_t empty = hp_new(h, "java/util/Optional");
	hp_refer_static(h, hp_find_class(h, "java/util/Optional"), "EMPTY", empty);
	for (uint32_t i = 0; i < s->hour->orders; i++) {
		uint32_t o = s->order[i] = hp_new(h, "com/acme/shop/Order"), note = empty;
		uint32_t items = hp_array(h, "[Lcom/acme/shop/Product;", 1 + i % 3);
		for (uint32_t k = 0; k <= i % 3; k++)
			hp_refer_element(h, items, k, s->product[(i + k) % PRODUCTS]);
		if (i % 10 == 0) {
			note = hp_new(h, "java/util/Optional");
			hp_refer(h, note, "value", hp_string(h, "leave at the door"));
		}
		uint32_t placed = hp_new(h, "java/time/Instant");
		hp_set(h, placed, "seconds", 1795000000 + 60ull * i);
		hp_set(h, o, "number", 4711000000 + i);
		hp_refer(h, o, "customer", s->customer[i % CUSTOMERS]);
		hp_refer(h, o, "items", items);
		hp_refer(h, o, "status", s->status[i % 4]);
		hp_refer(h, o, "total", make_decimal(s, 1000 + (int)i, 2));
		hp_refer(h, o, "placed", placed);
		hp_refer(h, o, "note", note);
	}
	hp_set_static(h, hp_find_class(h, "com/acme/shop/Order"), "counter", 4711000000 + s->hour->orders);
	return make_list(s, s->order, s->hour->orders, 366);
}

/* The leak: the closed ones are in AuditLog.ENTRIES, and nowhere else. */
static uint32_t make_sessions(struct shop *s)
{
	struct hp *h = &s->h;
	const struct hour *now = s->hour;
	struct pair live[MOST_SESSIONS], cart;
	unsigned char state[VIEW_STATE];
	for (uint32_t i = 0; i < now->live + now->closed; i++) {
		char id[32];
		uint32_t x = s->session[i] = hp_new(h, "com/acme/shop/Session");
		bool closed = i >= now->live;
		snprintf(id, sizeof id, "session-%u", 4700 + i);
		for (unsigned k = 0; k < VIEW_STATE; k++)
			state[k] = (unsigned char)mix(i * VIEW_STATE + k);
		snprintf(cart.key, sizeof cart.key, "SKU-%04u", 1000 + i % PRODUCTS);
		cart.value = make_integer(s, (int32_t)(1 + i % 5));
		hp_refer(h, x, "id", hp_string(h, id));
		hp_refer(h, x, "customer", s->customer[i]);
		hp_refer(h, x, "cart", make_hash_map(s, &cart, 1, 16));
		hp_set(h, x, "lastSeen", 1000 * (now->seconds - 100 - i));
		hp_set(h, x, "closed", closed);
		hp_refer(h, x, "viewState", closed ? hp_bytes(h, state, VIEW_STATE) : HP_NONE);
		if (!closed) {
			memcpy(live[i].key, id, sizeof id);
			live[i].value = x;
		}
	}
	hp_refer_static(h, hp_find_class(h, "com/acme/shop/AuditLog"), "ENTRIES",
	    make_list(s, s->session + now->live, now->closed, 73));
	return make_concurrent_map(s, live, now->live, now->live < 48 ? 64 : 128);
}

static uint32_t make_comments(struct shop *s)
{
	static const char *const comment[] = {
		"Gut!", "Sch\xc3\xb6n & g\xc3\xbcnstig", "\xe3\x81\xa8\xe3\x81\xa6\xe3\x82\x82\xe8\x89\xaf\xe3\x81\x84",
		"great \xf0\x9f\x8c\xb3", "red: \x1b[31mred\x1b[0m", "half \xed\xa0\xbc pair",
		"\xe2\x80\xaegnp.exe", "two\nlines\tand a tab", "" };
	struct hp *h = &s->h;
	uint32_t deque = hp_new(h, "java/util/ArrayDeque"), ring = hp_array(h, "[Ljava/lang/Object;", 16);
	for (uint32_t i = 0; i < 9; i++) /* around the end: 12, 13, 14, 15, 0, … 4 */
		hp_refer_element(h, ring, (12 + i) % 16, hp_string(h, comment[i]));
	hp_refer(h, deque, "elements", ring);
	hp_set(h, deque, "head", 12);
	hp_set(h, deque, "tail", 5);
	return deque;
}

static void make_shop(struct shop *s)
{
	static const char *const status[] = { "NEW", "PAID", "SHIPPED", "RETURNED" };
	static const char *const category[] = { "BOOKS", "GARDEN", "KITCHEN", "TOYS" };
	struct hp *h = &s->h;
	make_enum(s, "com/acme/shop/Status", "[Lcom/acme/shop/Status;", status, s->status);
	make_enum(s, "com/acme/shop/Category", "[Lcom/acme/shop/Category;", category, s->category);
	make_customers(s);
	uint32_t shop = hp_new(h, "com/acme/shop/Shop"), class = hp_find_class(h, "com/acme/shop/Shop");
	hp_refer(h, shop, "catalog", make_catalog(s));
	hp_refer(h, shop, "orders", make_orders(s));
	hp_refer(h, shop, "sessions", make_sessions(s));
	struct pair stock[5];
	for (uint32_t i = 0; i < 5; i++) {
		snprintf(stock[i].key, sizeof stock[i].key, "shelf-%u", i);
		stock[i].value = make_integer(s, (int32_t)(100 * i) - 100);
	}
	hp_refer(h, shop, "stock", make_hash_map(s, stock, 5, 16));
	hp_refer(h, shop, "comments", make_comments(s));
	hp_refer(h, shop, "queue", make_list(s, NULL, 0, 100)); /* room for 100, and nothing in it */
	uint32_t currency = hp_new(h, "com/acme/shop/W\xc3\xa4hrung");
	hp_set(h, currency, "k\xc3\xbcrzel", 0x20AC);
	hp_set(h, currency, "kurs", float_bits(1.0925f));
	hp_refer(h, shop, "currency", currency);
	uint32_t sales = hp_array(h, "[D", 6), grid = hp_array(h, "[[I", 2);
	static const double amounts[] = { 0.1, -0.0, 1e10, 1234567.5, 0.001, 1e-5 };
	for (uint32_t i = 0; i < 6; i++)
		hp_element(h, sales, i, double_bits(amounts[i]));
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t row = hp_array(h, "[I", 3);
		for (uint32_t k = 0; k < 3; k++)
			hp_element(h, row, k, (uint32_t)((int)(10 * i + k) - 5));
		hp_refer_element(h, grid, i, row);
	}
	hp_refer(h, shop, "sales", sales);
	hp_refer(h, shop, "grid", grid);
	uint32_t home = hp_new(h, "java/io/File"), last = hp_new(h, "java/lang/ref/WeakReference");
	hp_refer(h, home, "path", hp_string(h, "/srv/shop"));
	hp_refer(h, last, "referent", s->order[s->hour->orders - 1]);
	hp_refer(h, shop, "home", home);
	hp_refer(h, shop, "last", last);
	hp_refer_static(h, class, "INSTANCE", shop);
	hp_refer_static(h, class, "VERSION", hp_string(h, "2.4.1"));
	hp_set_static(h, class, "RATE", double_bits(0.19));
}

static void make_plugins(struct shop *s)
{
	struct hp *h = &s->h;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t loader = s->plugin[i] = make_loader(s, i ? "plug-in B" : "plug-in A", s->app);
		uint32_t class = hp_class(h, "com/acme/plugin/PriceRule", hp_find_class(h, "java/lang/Object"),
		    loader, "percent:I", "NAME:L");
		hp_refer_static(h, class, "NAME", hp_string(h, i ? "summer sale" : "loyalty"));
		s->plugin_class[i] = class;
		for (uint32_t k = 0; k < 2 + 3 * i; k++) {
			uint32_t rule = hp_new_of(h, class);
			hp_set(h, rule, "percent", 5 * (k + 1));
			hp_root(h, ROOT_JNI_GLOBAL, rule, 0, 0);
		}
	}
}

static const char *const properties[][2] = {
	{ "java.version", "17.0.15" }, { "java.vm.name", "OpenJDK 64-Bit Server VM" },
	{ "os.arch", "amd64" }, { "os.name", "Linux" }, { "user.dir", "/srv/shop" },
	{ "user.language", "de" }, { "shop.greeting", "Gr\xc3\xbc\xc3\x9f Gott" }, { "line.separator", "\n" },
};

static void make_properties(struct shop *s)
{
	struct pair pair[8];
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(pair[i].key, sizeof pair[i].key, "%s", properties[i][0]);
		pair[i].value = hp_string(&s->h, properties[i][1]);
	}
	uint32_t map = make_concurrent_map(s, pair, 8, 16), props = hp_new(&s->h, "java/util/Properties");
	hp_refer(&s->h, props, "map", map);
	hp_refer_static(&s->h, hp_find_class(&s->h, "java/lang/System"), "props", props);
}

/* --- threads ------------------------------------------------------------------------------------ */

static const struct {
	const char *name, *class, *state;
	unsigned status, priority, daemon;
} threads[] = {
	{ "main", "java/lang/Thread", "TIMED_WAITING (sleeping)", 0x1 | 0x80 | 0x20 | 0x40, 5, 0 },
	{ "http-1", "com/acme/shop/Worker", "RUNNABLE", 0x1 | 0x4, 5, 1 },
	{ "http-2", "com/acme/shop/Worker", "BLOCKED (on object monitor)", 0x1 | 0x400, 5, 1 },
	{ "http-3", "com/acme/shop/Worker", "WAITING (parking)", 0x1 | 0x80 | 0x10 | 0x200, 5, 1 },
	{ "L\xc3\xa4ufer \xe6\x9d\xb1\xe4\xba\xac", "java/lang/Thread", "WAITING (on object monitor)",
	    0x1 | 0x80 | 0x10 | 0x100, 8, 1 },
};
enum { THREADS = sizeof threads / sizeof *threads };

static void frame(struct shop *s, uint32_t t, const char *class, const char *method, int32_t line)
{
	struct hp_thread *thread = &s->h.thread[t];
	thread->frame[thread->n_frames++] = (struct hp_frame){ .method = method, .signature = "()V",
		.source = !strncmp(class, "com/", 4) ? "Shop.java" : "Thread.java",
		.class = hp_find_class(&s->h, class), .line = line };
}

/* Of the pool's workers those that were started already. */
static bool is_there(const struct shop *s, uint32_t thread)
{
	return strcmp(threads[thread].class, "com/acme/shop/Worker") != 0 || thread <= s->hour->workers;
}

static void make_threads(struct shop *s)
{
	struct hp *h = &s->h;
	uint32_t group = hp_new(h, "java/lang/ThreadGroup");
	hp_refer(h, group, "name", hp_string(h, "main"));
	for (uint32_t i = 0; i < THREADS; i++) {
		if (!is_there(s, i))
			continue;
		uint32_t t = hp_new(h, threads[i].class), name = hp_string(h, threads[i].name);
		bool worker = strcmp(threads[i].class, "java/lang/Thread") != 0;
		if (worker) { /* whose own field `name` is not the thread's */
			hp_refer(h, t, "name", hp_string(h, "worker's own name"));
			hp_set(h, t, "served", 100 * i);
			hp_refer(h, t, "current", s->session[i]);
			h->objects[t].value[11] = h->objects[name].address; /* Thread.name, behind it */
		} else {
			hp_refer(h, t, "name", name);
		}
		hp_set(h, t, "threadStatus", threads[i].status);
		hp_set(h, t, "tid", i ? 20 + i : 1);
		hp_set(h, t, "priority", threads[i].priority);
		hp_set(h, t, "daemon", threads[i].daemon);
		hp_refer(h, t, "group", group);
		hp_refer(h, t, "contextClassLoader", s->app);
		h->thread[h->n_threads++].object = t;
		hp_root(h, ROOT_THREAD, t, h->n_threads, 0);
	}
	frame(s, 0, "java/lang/Thread", "sleep", -3);
	frame(s, 0, "com/acme/shop/Shop", "main", 42);
	hp_root(h, ROOT_JAVA_FRAME, s->session[0], 1, 1);
	for (uint32_t i = 1; i <= s->hour->workers; i++) {
		frame(s, i, "com/acme/shop/Order", i == 2 ? "total" : "place", 100 + (int32_t)i);
		frame(s, i, "com/acme/shop/Worker", "run", 17);
		hp_root(h, ROOT_JAVA_FRAME, s->order[i], i + 1, 0);
		hp_root(h, ROOT_JAVA_FRAME, h->thread[i].object, i + 1, 1);
	}
	frame(s, h->n_threads - 1, "java/lang/Object", "wait", -3);
}

/* ClassLoader.classes: nothing else keeps a class without instances. */
static void list_classes(struct shop *s, uint32_t loader)
{
	uint32_t list[16], n = 0;
	for (uint32_t c = 0; c < s->h.n_classes; c++) {
		if (s->h.classes[c].loader == loader)
			list[n++] = s->h.classes[c].object;
	}
	hp_refer(&s->h, loader, "classes", make_list(s, list, n, 16));
}

/* --- what there is to find ---------------------------------------------------------------------- */

/* A JSON text; what is planted there holds no quotation marks. */
static void json_text(struct out *o, const char *s)
{
	out_text(o, "\"");
	for (; *s; s++) {
		if (*s == '\n')
			out_text(o, "\\n");
		else
			out_byte(o, (unsigned char)*s);
	}
	out_text(o, "\"");
}

static void put_truth(struct shop *s, const char *path)
{
	struct out out, *o = &out;
	const struct hp *h = &s->h;
	out_open(o, path);
	out_format(o, "{\"objects\": %u, \"references\": %llu,\n \"classes\": [", h->n_objects,
	    (unsigned long long)h->n_references);
	for (uint32_t c = 0; c < h->n_classes; c++) {
		out_text(o, c ? ",\n  [" : "\n  [");
		json_text(o, h->classes[c].name);
		out_format(o, ", %u, %llu, %llu]", h->classes[c].n_objects,
		    (unsigned long long)h->classes[c].shallow,
		    (unsigned long long)h->objects[h->classes[c].object].address);
	}
	out_text(o, "],\n \"threads\": [");
	for (uint32_t i = 0, n = 0; i < THREADS; i++) {
		if (!is_there(s, i))
			continue;
		out_text(o, i ? ",\n  [" : "\n  [");
		json_text(o, threads[i].name);
		out_format(o, ", \"%s\", %u, %s, %u, %u]", threads[i].state, threads[i].priority,
		    threads[i].daemon ? "true" : "false", i ? 20 + i : 1, h->thread[n++].n_frames);
	}
	out_text(o, "],\n \"properties\": {");
	for (uint32_t i = 0; i < 8; i++) {
		out_text(o, i ? ",\n  " : "\n  ");
		json_text(o, properties[i][0]);
		out_text(o, ": ");
		json_text(o, properties[i][1]);
	}
	out_format(o, "},\n \"live\": %u, \"closed\": %u, \"products\": %d, \"orders\": %u, \"customers\": %d, "
	    "\"view_state\": %d, \"workers\": %u}\n", s->hour->live, s->hour->closed, PRODUCTS,
	    s->hour->orders, CUSTOMERS, VIEW_STATE, s->hour->workers);
	out_close(o);
}

static void write_hour(const char *directory, const struct hour *hour, bool truth)
{
	char path[4096];
	struct shop *s = get_memory(1, sizeof *s);
	s->hour = hour;
	s->h.next = hour->heap;
	s->h.seconds = hour->seconds;
	make_classes(s);
	make_shop(s);
	make_plugins(s);
	make_properties(s);
	make_threads(s);
	list_classes(s, s->app);
	list_classes(s, s->plugin[0]);
	list_classes(s, s->plugin[1]);
	snprintf(path, sizeof path, "%s/%s", directory, hour->file);
	hp_write(&s->h, path);
	snprintf(path, sizeof path, "%s/%s.truth", directory, hour->file);
	if (truth)
		put_truth(s, path);
	hp_release(&s->h);
	free(s);
}

void shop_write(const char *directory, bool truth)
{
	for (size_t i = 0; i < sizeof hours / sizeof *hours; i++)
		write_hour(directory, &hours[i], truth);
}
