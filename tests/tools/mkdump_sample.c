/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mkdump_sample.c - the samples of data/: a little web shop just before it runs out of memory.
 *
 * What there is to find: forty live sessions in a SessionStore; sixty closed ones that a static
 * list of AuditLog still holds, each with 2 KB of view state (the leak); a page cache; a long
 * journal; two plug-ins whose loaders each define a com.acme.plugin.PriceRule; classes named in
 * German and Japanese; eight threads, one of which waits for a lock that another one holds.
 *
 * The objects of the published format description stand at their published addresses: 0xE0000AF0, a
 * java/lang/String of 16 bytes that references the char[] of 32 bytes at 0xE0000B00; 0xFFF07498, a
 * String[] of 24 bytes with four references; 0xE00174F0, the class java/util/Date.
 */
#include "mkdump_hprof.h"
#include "mkdump_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAMP "20261121.101500.4711.0001"
#define VM_VERSION "JRE 1.8.0 Linux amd64-64 build (pxa6480sr8fp20-20260214_01(SR8 FP20))"

enum { LIVE = 40, CLOSED = 60, CUSTOMERS = 30, PRODUCTS = 50, PAGES = 36, JOURNAL = 120, WORKERS = 3 };

enum kind {
	OBJECT, CLASS, STRING, LOADER, BOOT, URL_LOADER, EXT, APP, THREAD, NUMBER, INTEGER, BIG_DECIMAL,
	DATE, HASH_MAP, NODE, LINKED_MAP, ENTRY, CONCURRENT_MAP, CONCURRENT_NODE, ARRAY_LIST, REFERENCE,
	WEAK, FINALIZER, LOCK, RUNNABLE, SHOP, SESSION, SESSION_STORE, CUSTOMER, ORDER, ORDER_LINE,
	PRODUCT, CATALOG, PAGE_CACHE, PAGE, AUDIT_LOG, AUDIT_ENTRY, JOURNAL_CLASS, JOURNAL_ENTRY, WORKER,
	CURRENCY, JAPANESE_ORDER, PLUGIN_LOADER, PLUGIN, KINDS
};

static const struct {
	const char *name;
	unsigned size, superclass;
	char loader; /* b boot, e extension, a application */
} kinds[KINDS] = {
	[OBJECT] = { "java/lang/Object", 8, 0, 'b' },
	[CLASS] = { "java/lang/Class", 64, OBJECT, 'b' },
	[STRING] = { "java/lang/String", 16, OBJECT, 'b' },
	[LOADER] = { "java/lang/ClassLoader", 56, OBJECT, 'b' },
	[BOOT] = { "com/ibm/oti/vm/BootstrapClassLoader", 72, LOADER, 'b' },
	[URL_LOADER] = { "java/net/URLClassLoader", 68, LOADER, 'b' },
	[EXT] = { "sun/misc/Launcher$ExtClassLoader", 68, URL_LOADER, 'b' },
	[APP] = { "sun/misc/Launcher$AppClassLoader", 72, URL_LOADER, 'b' },
	[THREAD] = { "java/lang/Thread", 104, OBJECT, 'b' },
	[NUMBER] = { "java/lang/Number", 8, OBJECT, 'b' },
	[INTEGER] = { "java/lang/Integer", 12, NUMBER, 'b' },
	[BIG_DECIMAL] = { "java/math/BigDecimal", 36, NUMBER, 'b' },
	[DATE] = { "java/util/Date", 20, OBJECT, 'b' },
	[HASH_MAP] = { "java/util/HashMap", 44, OBJECT, 'b' },
	[NODE] = { "java/util/HashMap$Node", 24, OBJECT, 'b' },
	[LINKED_MAP] = { "java/util/LinkedHashMap", 56, HASH_MAP, 'b' },
	[ENTRY] = { "java/util/LinkedHashMap$Entry", 32, NODE, 'b' },
	[CONCURRENT_MAP] = { "java/util/concurrent/ConcurrentHashMap", 64, OBJECT, 'b' },
	[CONCURRENT_NODE] = { "java/util/concurrent/ConcurrentHashMap$Node", 24, OBJECT, 'b' },
	[ARRAY_LIST] = { "java/util/ArrayList", 20, OBJECT, 'b' },
	[REFERENCE] = { "java/lang/ref/Reference", 24, OBJECT, 'b' },
	[WEAK] = { "java/lang/ref/WeakReference", 24, REFERENCE, 'b' },
	[FINALIZER] = { "java/lang/ref/Finalizer", 32, REFERENCE, 'b' },
	[LOCK] = { "java/util/concurrent/locks/ReentrantLock", 16, OBJECT, 'b' },
	[RUNNABLE] = { "java/lang/Runnable", 0, OBJECT, 'b' },
	[SHOP] = { "com/acme/shop/Shop", 32, OBJECT, 'a' },
	[SESSION] = { "com/acme/shop/Session", 48, OBJECT, 'a' },
	[SESSION_STORE] = { "com/acme/shop/SessionStore", 16, OBJECT, 'a' },
	[CUSTOMER] = { "com/acme/shop/Customer", 28, OBJECT, 'a' },
	[ORDER] = { "com/acme/shop/Order", 32, OBJECT, 'a' },
	[ORDER_LINE] = { "com/acme/shop/Order$Line", 20, OBJECT, 'a' },
	[PRODUCT] = { "com/acme/shop/Product", 32, OBJECT, 'a' },
	[CATALOG] = { "com/acme/shop/Catalog", 16, OBJECT, 'a' },
	[PAGE_CACHE] = { "com/acme/shop/PageCache", 64, LINKED_MAP, 'a' },
	[PAGE] = { "com/acme/shop/PageCache$Page", 20, OBJECT, 'a' },
	[AUDIT_LOG] = { "com/acme/shop/AuditLog", 8, OBJECT, 'a' },
	[AUDIT_ENTRY] = { "com/acme/shop/AuditLog$Entry", 24, OBJECT, 'a' },
	[JOURNAL_CLASS] = { "com/acme/shop/Journal", 16, OBJECT, 'a' },
	[JOURNAL_ENTRY] = { "com/acme/shop/Journal$Entry", 20, OBJECT, 'a' },
	[WORKER] = { "com/acme/shop/Worker", 24, OBJECT, 'a' },
	[CURRENCY] = { "com/acme/shop/W\xc3\xa4hrung", 16, OBJECT, 'a' },
	[JAPANESE_ORDER] = { "com/acme/\xe6\x97\xa5\xe6\x9c\xac/\xe6\xb3\xa8\xe6\x96\x87", 40, ORDER, 'a' },
	[PLUGIN_LOADER] = { "com/acme/plugin/PluginClassLoader", 72, URL_LOADER, 'a' },
	[PLUGIN] = { "com/acme/plugin/Plugin", 0, OBJECT, 'a' },
};

struct sample {
	struct model m;
	struct chance chance;
	uint32_t class[KINDS];
	uint32_t boot, ext, app, plugin[2]; /* loader objects */
	uint32_t customer[CUSTOMERS], product[PRODUCTS], session[LIVE + CLOSED];
	uint32_t example_string, example_chars, example_array;
	uint32_t thread[2 + WORKERS + 3], worker[WORKERS], lock;
};

/* --- small things ------------------------------------------------------------------------------ */

static uint32_t make(struct sample *s, enum kind kind)
{
	return model_instance(&s->m, s->class[kind]);
}

static void refer(struct sample *s, uint32_t from, uint32_t to)
{
	model_refer(&s->m, from, to);
}

/* A field of the class itself. */
static void set_static(struct sample *s, enum kind kind, uint32_t to)
{
	refer(s, s->m.classes[s->class[kind]].object, to);
}

static uint32_t make_text(struct sample *s, unsigned characters)
{
	uint32_t string = make(s, STRING);
	refer(s, string, model_primitives(&s->m, E_CHAR, characters));
	return string;
}

static uint32_t make_array(struct sample *s, enum kind component, const uint32_t *element,
    uint32_t n, uint32_t length)
{
	uint32_t array = model_array(&s->m, s->class[component], length);
	for (uint32_t i = 0; i < length; i++)
		refer(s, array, i < n ? element[i] : NOTHING);
	return array;
}

static uint32_t make_list(struct sample *s, const uint32_t *element, uint32_t n)
{
	uint32_t list = make(s, ARRAY_LIST);
	refer(s, list, make_array(s, OBJECT, element, n, n < 10 ? 10 : n + n / 2));
	return list;
}

/* A map of n new string keys to values, in chains of a table of size slots. */
static uint32_t make_map(struct sample *s, enum kind map_kind, enum kind node_kind, uint32_t slots,
    const uint32_t *value, uint32_t n)
{
	uint32_t map = make(s, map_kind), table = model_array(&s->m, s->class[node_kind], slots);
	uint32_t *head = get_memory(slots, sizeof *head);
	memset(head, 0xFF, slots * sizeof *head);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = make(s, node_kind), slot = (uint32_t)chance_below(&s->chance, slots);
		refer(s, node, make_text(s, 6 + (unsigned)chance_below(&s->chance, 12)));
		refer(s, node, value[i]);
		refer(s, node, head[slot]);
		head[slot] = node;
	}
	for (uint32_t i = 0; i < slots; i++)
		refer(s, table, head[i]);
	refer(s, map, table);
	free(head);
	return map;
}

/* --- classes ----------------------------------------------------------------------------------- */

static void make_classes(struct sample *s)
{
	struct model *m = &s->m;
	static const char *const primitive[] = { "boolean", "char", "float", "double", "byte", "short",
		"int", "long", "void" };
	for (unsigned i = 0; i < KINDS; i++)
		s->class[i] = model_class(m, kinds[i].name, NULL, i == OBJECT ? NOTHING : s->class[kinds[i].superclass],
		    NOTHING, kinds[i].size);
	m->object_class = s->class[OBJECT];
	m->class_class = s->class[CLASS];
	s->boot = make(s, BOOT);
	s->ext = make(s, EXT);
	s->app = make(s, APP);
	for (unsigned i = 0; i < KINDS; i++)
		m->classes[s->class[i]].loader = kinds[i].loader == 'b' ? s->boot : s->app;
	for (unsigned i = 0; i < sizeof primitive / sizeof *primitive; i++)
		model_class(m, primitive[i], NULL, NOTHING, s->boot, 0);
	for (unsigned i = 0; i < ELEMENTS; i++)
		model_primitive_class(m, (enum element)i);
	for (unsigned i = SHOP; i < KINDS; i++) {
		struct model_class *c = &m->classes[s->class[i]];
		c->pool[c->n_pool++] = s->class[STRING];
		c->pool[c->n_pool++] = s->class[ARRAY_LIST];
	}
	refer(s, s->ext, s->boot);
	refer(s, s->app, s->ext);
	refer(s, s->app, make_text(s, 40));
}

static void make_plugins(struct sample *s)
{
	struct model *m = &s->m;
	for (unsigned p = 0; p < 2; p++) {
		s->plugin[p] = make(s, PLUGIN_LOADER);
		refer(s, s->plugin[p], s->app);
		refer(s, s->plugin[p], make_text(s, 18));
		/* The same name from two loaders: two classes. */
		uint32_t rule = model_class(m, "com/acme/plugin/PriceRule", NULL, s->class[OBJECT],
		    s->plugin[p], 24);
		uint32_t rules = model_array(m, rule, 5);
		for (unsigned i = 0; i < 3 + p; i++) {
			uint32_t one = model_instance(m, rule);
			refer(s, one, s->product[7 * i + p]);
			refer(s, rules, one);
		}
		for (unsigned i = 3 + p; i < 5; i++)
			refer(s, rules, NOTHING);
		refer(s, m->classes[rule].object, rules);
		uint32_t ignored[1] = { rules };
		refer(s, s->plugin[p], make_list(s, ignored, 1));
	}
	set_static(s, PLUGIN, make_list(s, s->plugin, 2));
}

/* --- the shop ---------------------------------------------------------------------------------- */

static uint32_t make_order(struct sample *s, uint32_t customer)
{
	uint32_t order = make(s, chance_percent(&s->chance, 12) ? JAPANESE_ORDER : ORDER);
	uint32_t line[3], n = 1 + (uint32_t)chance_below(&s->chance, 3);
	for (uint32_t i = 0; i < n; i++) {
		line[i] = make(s, ORDER_LINE);
		refer(s, line[i], order);
		refer(s, line[i], s->product[chance_below(&s->chance, PRODUCTS)]);
	}
	refer(s, order, customer);
	refer(s, order, make(s, DATE));
	refer(s, order, make_list(s, line, n));
	return order;
}

static uint32_t make_session(struct sample *s, bool closed)
{
	uint32_t session = make(s, SESSION);
	uint32_t customer = s->customer[chance_below(&s->chance, CUSTOMERS)];
	uint32_t attribute[2] = { make_text(s, 8), closed ? make(s, INTEGER) : NOTHING };
	refer(s, session, make_text(s, 12));
	refer(s, session, customer);
	refer(s, session, make(s, DATE));
	refer(s, session, make_map(s, HASH_MAP, NODE, 16, attribute, 1 + closed));
	refer(s, session, closed ? NOTHING : make_order(s, customer));
	refer(s, session, closed ? model_primitives(&s->m, E_BYTE, 2048) : NOTHING);
	return session;
}

static void make_goods(struct sample *s)
{
	for (unsigned i = 0; i < PRODUCTS; i++) {
		uint32_t price = make(s, BIG_DECIMAL), product = make(s, PRODUCT);
		refer(s, product, make_text(s, 10 + (unsigned)chance_below(&s->chance, 30)));
		refer(s, product, price);
		refer(s, product, i % 3 ? NOTHING : model_primitives(&s->m, E_BYTE, 700 + 13 * i));
		s->product[i] = product;
	}
	uint32_t catalog = make(s, CATALOG);
	refer(s, catalog, make_array(s, PRODUCT, s->product, PRODUCTS, 64));
	set_static(s, CATALOG, catalog);
	for (unsigned i = 0; i < CUSTOMERS; i++) {
		s->customer[i] = make(s, CUSTOMER);
		refer(s, s->customer[i], make_text(s, 8 + i % 9));
		refer(s, s->customer[i], i ? s->customer[i - 1] : NOTHING); /* recommended by */
	}
}

static void make_sessions(struct sample *s)
{
	for (unsigned i = 0; i < LIVE + CLOSED; i++)
		s->session[i] = make_session(s, i >= LIVE);
	uint32_t store = make(s, SESSION_STORE);
	refer(s, store, make_map(s, CONCURRENT_MAP, CONCURRENT_NODE, 64, s->session, LIVE));
	set_static(s, SESSION_STORE, store);
	uint32_t entry[CLOSED];
	for (unsigned i = 0; i < CLOSED; i++) {
		entry[i] = make(s, AUDIT_ENTRY);
		refer(s, entry[i], make_text(s, 24));
		refer(s, entry[i], s->session[LIVE + i]);
	}
	set_static(s, AUDIT_LOG, make_list(s, entry, CLOSED));
}

static void make_page_cache(struct sample *s)
{
	uint32_t cache = make(s, PAGE_CACHE), table = model_array(&s->m, s->class[NODE], 64);
	uint32_t entry[PAGES];
	for (unsigned i = 0; i < PAGES; i++) {
		uint32_t page = make(s, PAGE);
		refer(s, page, model_primitives(&s->m, E_BYTE, 512 + 64 * i));
		refer(s, page, make_text(s, 16));
		entry[i] = make(s, ENTRY);
		refer(s, entry[i], make_text(s, 20));
		refer(s, entry[i], page);
	}
	for (unsigned i = 0; i < PAGES; i++) {
		refer(s, entry[i], i ? entry[i - 1] : NOTHING);
		refer(s, entry[i], i + 1 < PAGES ? entry[i + 1] : NOTHING);
	}
	for (unsigned i = 0; i < 64; i++)
		refer(s, table, i % 2 || i / 2 >= PAGES ? NOTHING : entry[i / 2]);
	refer(s, cache, table);
	refer(s, cache, entry[0]);
	refer(s, cache, entry[PAGES - 1]);
	set_static(s, PAGE_CACHE, cache);
}

static void make_journal(struct sample *s)
{
	uint32_t journal = make(s, JOURNAL_CLASS), previous = NOTHING;
	for (unsigned i = 0; i < JOURNAL; i++) {
		uint32_t entry = make(s, JOURNAL_ENTRY);
		refer(s, entry, previous);
		refer(s, entry, s->customer[i % CUSTOMERS]);
		previous = entry;
	}
	refer(s, journal, previous);
	set_static(s, JOURNAL_CLASS, journal);
	uint32_t currency[4];
	for (unsigned i = 0; i < 4; i++) {
		currency[i] = make(s, CURRENCY);
		refer(s, currency[i], make_text(s, 3));
		set_static(s, CURRENCY, currency[i]);
	}
	set_static(s, CURRENCY, make_array(s, CURRENCY, currency, 4, 4));
}

/* Arrays of every element type and of arrays; a ring and a weak reference; garbage. */
static void make_corners(struct sample *s)
{
	uint32_t shop = make(s, SHOP), grid = model_array(&s->m, model_primitive_class(&s->m, E_INT), 4);
	for (unsigned i = 0; i < 4; i++)
		refer(s, grid, i == 2 ? NOTHING : model_primitives(&s->m, E_INT, 4 * i));
	refer(s, shop, grid);
	for (unsigned i = 0; i < ELEMENTS; i++)
		set_static(s, SHOP, model_primitives(&s->m, (enum element)i, i == E_LONG ? 0 : 10 * i + 1));
	refer(s, shop, s->example_array);
	uint32_t weak = make(s, WEAK);
	refer(s, weak, s->session[0]);
	refer(s, shop, weak);
	set_static(s, SHOP, shop);
	set_static(s, SHOP, s->app);
	/* Nobody references these two but each other, and nobody at all the third. */
	uint32_t left = make(s, ARRAY_LIST), right = make(s, ARRAY_LIST), alone = make(s, DATE);
	refer(s, left, right);
	refer(s, right, left);
	refer(s, alone, alone);
	uint32_t finalizer = make(s, FINALIZER);
	refer(s, finalizer, make(s, LOCK));
	set_static(s, FINALIZER, finalizer);
}

/* --- threads ----------------------------------------------------------------------------------- */

static const struct {
	const char *name, *state;
	unsigned priority;
	bool daemon;
	const char *frames[5];
} threads[2 + WORKERS + 3] = {
	{ "main", "CW", 5, false, { "java/lang/Object.wait(Native Method)",
	    "java/lang/Object.wait(Object.java:167)", "com/acme/shop/Shop.serve(Shop.java:88)",
	    "com/acme/shop/Shop.main(Shop.java:31)" } },
	{ "Finalizer thread", "CW", 5, true, { NULL } },
	{ "http-worker-1", "R", 5, true, { "com/acme/shop/SessionStore.close(SessionStore.java:57)",
	    "com/acme/shop/Worker.handle(Worker.java:102)", "com/acme/shop/Worker.run(Worker.java:40)",
	    "java/lang/Thread.run(Thread.java:795)" } },
	{ "http-worker-2", "B", 5, true, { "com/acme/shop/SessionStore.open(SessionStore.java:31)",
	    "com/acme/shop/Worker.handle(Worker.java:96)", "com/acme/shop/Worker.run(Worker.java:40)",
	    "java/lang/Thread.run(Thread.java:795)" } },
	{ "http-worker-3 \"kasse\"", "P", 5, true, { "sun/misc/Unsafe.park(Native Method)",
	    "java/util/concurrent/locks/LockSupport.park(LockSupport.java:197)",
	    "com/acme/shop/Worker.run(Worker.java:44(Compiled Code))",
	    "java/lang/Thread.run(Thread.java:795)" } },
	{ "audit-writer", "CW", 4, true, { "java/lang/Thread.sleep(Native Method)",
	    "com/acme/shop/AuditLog.flush(AuditLog.java:77)", "java/lang/Thread.run(Thread.java:795)" } },
	{ "Reference Handler", "CW", 10, true, { NULL } },
	{ "Signal Dispatcher", "R", 9, true, { "com/ibm/misc/SignalDispatcher.waitForSignal(Native Method)",
	    "com/ibm/misc/SignalDispatcher.run(SignalDispatcher.java:66)" } },
};
enum { THREADS = sizeof threads / sizeof *threads };

static void make_threads(struct sample *s)
{
	s->lock = make(s, LOCK);
	set_static(s, SESSION_STORE, s->lock);
	for (unsigned i = 0; i < THREADS; i++) {
		s->thread[i] = make(s, THREAD);
		refer(s, s->thread[i], make_text(s, (unsigned)strlen(threads[i].name)));
		refer(s, s->thread[i], i == 1 || i >= 6 ? NOTHING : s->app);
		if (i >= 2 && i < 2 + WORKERS) {
			uint32_t worker = make(s, WORKER), value[2] = { s->session[3 * i], make(s, INTEGER) };
			s->worker[i - 2] = worker;
			refer(s, worker, s->thread[i]);
			refer(s, worker, make_map(s, HASH_MAP, NODE, 16, value, 2));
			refer(s, s->thread[i], worker);
		}
	}
}

/* --- places ------------------------------------------------------------------------------------ */

static const struct region {
	uint64_t begin, end;
} young[] = { { 0xE0000000, 0xE0017000 }, { 0xE001B000, 0xE0040000 } }, old = { 0xFFF00000, 0xFFF80000 };

static uint64_t class_objects_at(void)
{
	return 0xE00174F0 - 64 * (uint64_t)DATE; /* java/util/Date is class number DATE */
}

/* The next place for size bytes that does not run into one of the examples. */
static uint64_t take_place(uint64_t *at, uint64_t size)
{
	static const struct region taken[] = { { 0xE0000AF0, 0xE0000B20 }, { 0xFFF07498, 0xFFF074B0 } };
	for (unsigned i = 0; i < 2; i++) {
		if (*at < taken[i].end && *at + size > taken[i].begin)
			*at = taken[i].end;
	}
	uint64_t place = *at;
	*at += size;
	return place;
}

static void place(struct sample *s)
{
	uint64_t low = young[0].begin, high = old.begin, class = class_objects_at();
	for (uint32_t i = 0; i < s->m.n_objects; i++) {
		struct model_object *o = &s->m.objects[i];
		if (i == s->example_string) {
			o->address = 0xE0000AF0;
		} else if (i == s->example_chars) {
			o->address = 0xE0000B00;
		} else if (i == s->example_array) {
			o->address = 0xFFF07498;
		} else if (o->kind == M_CLASS) {
			o->address = class;
			class += 64;
		} else if (mix(i / 40) % 3 == 0) {
			/* Some have survived a few collections. */
			o->address = take_place(&high, o->size);
		} else {
			if (low < young[1].begin && low + o->size > young[0].end)
				low = young[1].begin;
			o->address = take_place(&low, o->size);
		}
	}
	if (low > young[1].end || high > old.end || class > young[1].begin || high < 0xFFF074B0)
		die("the sample does not fit its regions");
}

static const struct sample *sorting;

/* As the VM writes: the heap in address order, the classes last. */
static int by_place(const void *a, const void *b)
{
	const struct model_object *x = &sorting->m.objects[*(const uint32_t *)a];
	const struct model_object *y = &sorting->m.objects[*(const uint32_t *)b];
	if ((x->kind == M_CLASS) != (y->kind == M_CLASS))
		return x->kind == M_CLASS ? 1 : -1;
	return (x->address > y->address) - (x->address < y->address);
}

/* --- the javacore ------------------------------------------------------------------------------ */

static uint64_t where(const struct sample *s, uint32_t object)
{
	return s->m.objects[object].address;
}

static void put_loader(const struct sample *s, struct out *out, const char *flags, uint32_t loader,
    uint32_t parent)
{
	const struct model *m = &s->m;
	const char *name = loader == s->boot ? "*System*" : m->classes[m->objects[loader].class].name;
	out_format(out, "2CLTEXTCLLOADER\t\t%s Loader %s(0x%016llX)", flags, name,
	    (unsigned long long)where(s, loader));
	if (loader != s->boot) {
		bool none = parent == NOTHING;
		out_format(out, ", Parent %s(0x%016llX)",
		    none ? "*none*" : m->classes[m->objects[parent].class].name,
		    none ? 0ULL : (unsigned long long)where(s, parent));
	}
	unsigned n = 0;
	for (uint32_t i = 0; i < m->n_classes; i++)
		n += m->classes[i].loader == loader;
	out_format(out, "\n3CLNMBRLOADEDLIB\t\tNumber of loaded libraries 0\n"
	    "3CLNMBRLOADEDCL\t\t\tNumber of loaded classes %u\n", n);
}

static void put_loaded(const struct sample *s, struct out *out, uint32_t loader)
{
	const struct model *m = &s->m;
	out_format(out, "2CLTEXTCLLOAD\t\tLoader %s(0x%016llX)\n",
	    loader == s->boot ? "*System*" : m->classes[m->objects[loader].class].name,
	    (unsigned long long)where(s, loader));
	/* The addresses here are the VM's inner ones, not those of the class objects. */
	for (uint32_t i = 0; i < m->n_classes; i++) {
		if (m->classes[i].loader == loader)
			out_format(out, "3CLTEXTCLASS\t\t\t%s(0x%016llX)\n", m->classes[i].name,
			    (unsigned long long)(0x2E00000 + 0x300 * (uint64_t)i));
	}
}

static uint64_t vm_thread(unsigned i)
{
	return 0x21A3500 + 0x5100 * (uint64_t)i;
}

static void put_thread(const struct sample *s, struct out *out, unsigned i)
{
	uint64_t shop = where(s, s->m.classes[s->class[SHOP]].object);
	out_format(out, "3XMTHREADINFO      \"%s\" J9VMThread:0x%016llX, j9thread_t:0x%016llX, "
	    "java/lang/Thread:0x%016llX, state:%s, prio=%u\n", threads[i].name,
	    (unsigned long long)vm_thread(i), (unsigned long long)(0x7F21000 + 0x400 * (uint64_t)i),
	    (unsigned long long)where(s, s->thread[i]), threads[i].state, threads[i].priority);
	out_format(out, "3XMJAVALTHREAD            (java/lang/Thread getId:0x%X, isDaemon:%s)\n", i + 1,
	    threads[i].daemon ? "true" : "false");
	out_format(out, "3XMTHREADINFO1            (native thread ID:0x%X, native priority:0x%X, native "
	    "policy:UNKNOWN, vmstate:%s, vm thread flags:0x00000020)\n", 0x1267 + i, threads[i].priority,
	    threads[i].state);
	if (i == 3)
		out_format(out, "3XMTHREADBLOCK     Blocked on: %s@0x%016llX Owned by: \"http-worker-1\" "
		    "(J9VMThread:0x%016llX, java/lang/Thread:0x%016llX)\n", "java/util/concurrent/locks/ReentrantLock",
		    (unsigned long long)where(s, s->lock), (unsigned long long)vm_thread(2),
		    (unsigned long long)where(s, s->thread[2]));
	if (!threads[i].frames[0]) {
		out_text(out, "3XMTHREADINFO3           No Java callstack associated with this thread\nNULL\n");
		return;
	}
	out_text(out, "3XMTHREADINFO3           Java callstack:\n");
	for (unsigned f = 0; f < 5 && threads[i].frames[f]; f++) {
		out_format(out, "4XESTACKTRACE                at %s\n", threads[i].frames[f]);
		if (i == 2 && f == 0)
			out_format(out, "5XESTACKTRACE                   (entered lock: %s@0x%016llX, entry "
			    "count: 1)\n", "java/util/concurrent/locks/ReentrantLock",
			    (unsigned long long)where(s, s->lock));
		if (i == 0 && f == 2)
			out_format(out, "5XESTACKTRACE                   (entered lock: java/lang/Class@0x%016llX, "
			    "entry count: 1)\n", (unsigned long long)shop);
	}
	out_text(out, "NULL\n");
}

static void put_javacore(const struct sample *s, const char *path)
{
	struct out file, *out = &file;
	static const char rule[] =
	    "NULL           ------------------------------------------------------------------------\n";
	out_open(out, path);
	out_text(out, "0SECTION       TITLE subcomponent dump routine\n"
	    "NULL           ===============================\n1TICHARSET     UTF-8\n"
	    "1TISIGINFO     Dump Event \"user\" (00004000) received\n"
	    "1TIDATETIME    Date: 2026/11/21 at 10:15:00:124\n"
	    "1TIFILENAME    Javacore filename:    javacore." STAMP ".txt\n");
	out_text(out, rule);
	out_text(out, "0SECTION       ENVINFO subcomponent dump routine\n"
	    "NULL           =================================\n1CIJAVAVERSION " VM_VERSION "\n"
	    "1CIVMVERSION   VM build R28_20260201_0300_B584211\n"
	    "1CIGCVERSION   GC - R28_20260201_0300_B584211_CMPRSS\n"
	    "1CISTARTTIME   JVM start time: 2026/11/21 at 09:58:12:301\n"
	    "1CIPROCESSID   Process ID: 4711 (0x1267)\n"
	    "1CICMDLINE     java -Xmx64m -Dshop.db.password=tulip-4711 -jar shop.jar\n"
	    "1CIUSERARGS    UserArgs:\n"
	    "2CIUSERARG               -Xmx64m\n"
	    "2CIUSERARG               -Dshop.db.password=tulip-4711\n"
	    "2CIUSERARG               -Dsun.java.command=shop.jar\nNULL\n"
	    "1CIUSERLIMITS  User Limits (in bytes except for NOFILE and NPROC)\n"
	    "NULL           ------------------------------------------------------------------------\n"
	    "NULL           type                            soft limit           hard limit\n"
	    "2CIUSERLIMIT   RLIMIT_CORE                              0            unlimited\n"
	    "2CIUSERLIMIT   RLIMIT_NOFILE                         1024                 4096\nNULL\n"
	    "1CIENVVARS     Environment Variables\n"
	    "2CIENVVAR      HOME=/srv/shop\n"
	    "2CIENVVAR      SHOP_API_KEY=rose-0815\n");
	out_text(out, rule);
	out_text(out, "0SECTION       NATIVEMEMINFO subcomponent dump routine\n"
	    "NULL           =================================\n0MEMUSER\n"
	    "1MEMUSER       JRE: 96,481,280 bytes / 421 allocations\n1MEMUSER       |\n"
	    "2MEMUSER       +--VM: 79,704,064 bytes / 420 allocations\n2MEMUSER       |  |\n"
	    "3MEMUSER       |  +--Classes: 5,416,792 bytes / 256 allocations\n2MEMUSER       |  |\n"
	    "3MEMUSER       |  +--Memory Manager (GC): 67,108,864 bytes / 1 allocation\n3MEMUSER       |  |  |\n"
	    "4MEMUSER       |  |  +--Java Heap: 67,108,864 bytes / 1 allocation\n2MEMUSER       |  |\n"
	    "3MEMUSER       |  +--Threads: 7,178,408 bytes / 163 allocations\n3MEMUSER       |  |  |\n"
	    "4MEMUSER       |  |  +--Native Stack: 6,291,456 bytes / 6 allocations\n3MEMUSER       |  |  |\n"
	    "4MEMUSER       |  |  +--Other: 886,952 bytes / 157 allocations\n1MEMUSER       |\n"
	    "2MEMUSER       +--JIT: 16,777,216 bytes / 1 allocation\nNULL\n");
	out_text(out, rule);
	out_text(out, "0SECTION       LOCKS subcomponent dump routine\n"
	    "NULL           ===============================\n1LKMONPOOLDUMP Monitor Pool Dump (flat & "
	    "inflated object-monitors):\n2LKMONINUSE      sys_mon_t:0x00000000021A9910 infl_mon_t: "
	    "0x00000000021A9988:\n");
	out_format(out, "3LKMONOBJECT       java/util/concurrent/locks/ReentrantLock@0x%016llX: Flat locked "
	    "by \"http-worker-1\" (J9VMThread:0x%016llX), entry count 1\n",
	    (unsigned long long)where(s, s->lock), (unsigned long long)vm_thread(2));
	out_format(out, "3LKWAITERQ            Waiting to enter:\n3LKWAITER                \"http-worker-2\" "
	    "(J9VMThread:0x%016llX)\nNULL\n", (unsigned long long)vm_thread(3));
	out_text(out, rule);
	out_text(out, "0SECTION       THREADS subcomponent dump routine\n"
	    "NULL           =================================\nNULL\n1XMCURTHDINFO  Current thread\n");
	put_thread(s, out, 2);
	out_text(out, "1XMTHDINFO     All Thread Details\nNULL\n");
	for (unsigned i = 0; i < THREADS; i++)
		put_thread(s, out, i);
	out_text(out, "3XMTHREADINFO      Anonymous native thread\n3XMTHREADINFO1            (native thread "
	    "ID:0x12FF, native priority: 0x0, native policy:UNKNOWN)\nNULL\n");
	out_text(out, rule);
	out_text(out, "0SECTION       CLASSES subcomponent dump routine\n"
	    "NULL           =================================\n1CLTEXTCLLOS   \tClassloader summaries\n"
	    "1CLTEXTCLLSS   \t\t12345678: 1=primordial,2=extension,3=shareable,4=middleware,5=system,"
	    "6=trusted,7=application,8=delegating\n");
	put_loader(s, out, "p---st--", s->boot, NOTHING);
	put_loader(s, out, "-x--st--", s->ext, NOTHING);
	put_loader(s, out, "-----ta-", s->app, s->ext);
	put_loader(s, out, "-----t--", s->plugin[0], s->app);
	put_loader(s, out, "-----t--", s->plugin[1], s->app);
	out_text(out, "1CLTEXTCLLOD   \tClassLoader loaded classes\n");
	put_loaded(s, out, s->boot);
	put_loaded(s, out, s->ext);
	put_loaded(s, out, s->app);
	put_loaded(s, out, s->plugin[0]);
	put_loaded(s, out, s->plugin[1]);
	out_text(out, rule);
	out_text(out, "0SECTION       Javadump End section\n"
	    "NULL           ---------------------- END OF DUMP -------------------------------------\n");
	out_close(out);
}

/* --- the whole --------------------------------------------------------------------------------- */

static const char *in_directory(const char *directory, const char *prefix, const char *suffix)
{
	static char path[4096];
	int n = snprintf(path, sizeof path, "%s/%s." STAMP "%s", directory, prefix, suffix);
	if (n < 0 || (size_t)n >= sizeof path)
		die("%s is too long", directory);
	return path;
}

int mkdump_sample(int argc, char **argv)
{
	bool truth = argc == 2 && strcmp(argv[1], "--truth") == 0;
	if (argc < 1 || (argc > 1 && !truth))
		die("usage: mkdump sample DIR [--truth]");
	struct sample *s = get_memory(1, sizeof *s);
	s->chance.state = 4711;
	s->m.array_header = 8;
	s->m.reference_size = 4;
	s->m.minimum_size = 16;
	make_classes(s);
	s->example_string = make(s, STRING);
	s->example_chars = model_primitives(&s->m, E_CHAR, 12);
	refer(s, s->example_string, s->example_chars);
	uint32_t word[4] = { s->example_string, make_text(s, 4), make_text(s, 5), make_text(s, 9) };
	s->example_array = make_array(s, STRING, word, 4, 4);
	make_goods(s);
	make_sessions(s);
	make_page_cache(s);
	make_journal(s);
	make_corners(s);
	make_plugins(s);
	make_threads(s);
	for (uint32_t i = 0; i < s->m.n_objects; i++) {
		if (chance_percent(&s->chance, 4))
			s->m.objects[i].hash = (int64_t)(chance_next(&s->chance) & 0x7FFFFFFF);
	}
	model_sizes(&s->m);
	place(s);

	uint32_t *order = get_memory(s->m.n_objects, sizeof *order);
	for (uint32_t i = 0; i < s->m.n_objects; i++)
		order[i] = i;
	sorting = s;
	qsort(order, s->m.n_objects, sizeof *order, by_place);
	struct style phd = { .phd = { .version = 6, .flags = PHD_64 | PHD_J9, .full_version = VM_VERSION } };
	struct style text = { .text = true, .classic = { .digits = 16, .version = VM_VERSION } };
	model_write(&s->m, in_directory(argv[0], "heapdump", ".phd"), &phd, order);
	model_write(&s->m, in_directory(argv[0], "heapdump", ".txt"), &text, order);
	put_javacore(s, in_directory(argv[0], "javacore", ".txt"));
	shop_write(argv[0], truth);
	if (truth) {
		model_write_truth(&s->m, in_directory(argv[0], "heapdump", ".phd.truth"), &phd);
		model_write_truth(&s->m, in_directory(argv[0], "heapdump", ".txt.truth"), &text);
	}
	free(order);
	model_release(&s->m);
	free(s);
	return 0;
}
