/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection.c - the table of collections, and their sizes.
 *
 * Field names are those of the sources of JDK 5 to 25; between '|' stand other names of the same
 * field in older releases.
 */
#include "analysis/describe/collection.h"

#include "analysis/describe/describers.h"

#include <string.h>

enum { WRAPPERS_DEEP = 16, MOST_SEGMENTS = 65536 };

#define CLASS(name) name, sizeof name - 1
enum { LONGEST = 64 }; /* than all names of the table */
#define C(class, ...) { CLASS("java.util." class), __VA_ARGS__ }
#define WRAPS(class, field, view) \
	{ CLASS("java.util." class), SHAPE_WRAPPER, view, field, NULL, NULL, NULL, NULL, NULL }
#define IN_ARRAY(class, shape, field, size) \
	{ CLASS(class), shape, VIEW_ELEMENTS, field, NULL, NULL, NULL, size, NULL }
#define FIELDS(class, key, value) \
	{ CLASS("java.util." class), SHAPE_FIELDS, (key) ? VIEW_MAP : VIEW_ELEMENTS, value, NULL, key, \
	    value, NULL, NULL }

static const struct collection_kind kinds[] = {
	/* lists */
	IN_ARRAY("java.util.ArrayList", SHAPE_ARRAY, "elementData", "size"),
	IN_ARRAY("java.util.Vector", SHAPE_ARRAY, "elementData", "elementCount"),
	IN_ARRAY("java.util.Arrays$ArrayList", SHAPE_ARRAY, "a", NULL),
	IN_ARRAY("java.util.concurrent.CopyOnWriteArrayList", SHAPE_ARRAY, "array", NULL),
	IN_ARRAY("java.util.ImmutableCollections$ListN", SHAPE_ARRAY, "elements", NULL),
	C("LinkedList", SHAPE_CHAIN, VIEW_ELEMENTS, "first|header", "next", NULL, "item|element",
	    "size", NULL),
	FIELDS("ImmutableCollections$List12", NULL, "e0|e1"),
	FIELDS("ImmutableCollections$List1", NULL, "e0"),
	FIELDS("ImmutableCollections$List2", NULL, "e0|e1"),
	FIELDS("Collections$SingletonList", NULL, "element"),
	C("Collections$EmptyList", SHAPE_EMPTY, VIEW_ELEMENTS, NULL, NULL, NULL, NULL, NULL, NULL),
	C("ImmutableCollections$List0", SHAPE_EMPTY, VIEW_ELEMENTS, NULL, NULL, NULL, NULL, NULL,
	    NULL),
	/* queues */
	IN_ARRAY("java.util.PriorityQueue", SHAPE_ARRAY, "queue", "size"),
	IN_ARRAY("java.util.concurrent.PriorityBlockingQueue", SHAPE_ARRAY, "queue", "size"),
	C("ArrayDeque", SHAPE_RING, VIEW_ELEMENTS, "elements", "head", NULL, NULL, NULL, NULL),
	C("concurrent.ArrayBlockingQueue", SHAPE_RING, VIEW_ELEMENTS, "items", "takeIndex", NULL,
	    NULL, "count", NULL),
	C("concurrent.LinkedBlockingQueue", SHAPE_QUEUE, VIEW_ELEMENTS, "head", "next", NULL,
	    "item", "count", NULL),
	C("concurrent.LinkedBlockingDeque", SHAPE_QUEUE, VIEW_ELEMENTS, "first", "next", NULL,
	    "item", "count", NULL),
	C("concurrent.ConcurrentLinkedQueue", SHAPE_QUEUE, VIEW_ELEMENTS, "head", "next", NULL,
	    "item", NULL, NULL),
	C("concurrent.ConcurrentLinkedDeque", SHAPE_QUEUE, VIEW_ELEMENTS, "head", "next", NULL,
	    "item", NULL, NULL),
	C("concurrent.LinkedTransferQueue", SHAPE_QUEUE, VIEW_ELEMENTS, "head", "next", NULL,
	    "item", NULL, NULL),
	WRAPS("concurrent.DelayQueue", "q", VIEW_ELEMENTS),
	/* maps */
	C("LinkedHashMap", SHAPE_CHAIN, VIEW_MAP, "head|header", "after", "key", "value", "size",
	    "table"),
	C("HashMap", SHAPE_BUCKETS, VIEW_MAP, "table", "next", "key", "value", "size", NULL),
	C("concurrent.ConcurrentHashMap", SHAPE_BUCKETS, VIEW_MAP, "table|segments", "next",
	    "key", "val|value",
	    "baseCount", NULL),
	WRAPS("Properties", "map", VIEW_MAP), /* before Java 9 it is a Hashtable and no more */
	C("Hashtable", SHAPE_BUCKETS, VIEW_MAP, "table", "next", "key", "value", "count", NULL),
	C("WeakHashMap", SHAPE_BUCKETS, VIEW_MAP, "table", "next", "referent", "value", "size",
	    NULL),
	{ CLASS("java.lang.ThreadLocal$ThreadLocalMap"), SHAPE_BUCKETS, VIEW_MAP, "table", "",
	    "referent", "value", "size",
	    NULL },
	C("TreeMap", SHAPE_TREE, VIEW_MAP, "root", NULL, "key", "value", "size", NULL),
	C("concurrent.ConcurrentSkipListMap", SHAPE_QUEUE, VIEW_MAP, "head", "next", "key",
	    "val|value", "adder", NULL),
	C("IdentityHashMap", SHAPE_PAIRS, VIEW_MAP, "table", NULL, NULL, NULL, "size", NULL),
	C("EnumMap", SHAPE_ENUM, VIEW_MAP, "vals", NULL, "keyUniverse", NULL, "size", NULL),
	C("ImmutableCollections$MapN", SHAPE_PAIRS, VIEW_MAP, "table", NULL, NULL, NULL, "size",
	    NULL),
	FIELDS("ImmutableCollections$Map1", "k0", "v0"),
	FIELDS("Collections$SingletonMap", "k", "v"),
	C("Collections$EmptyMap", SHAPE_EMPTY, VIEW_MAP, NULL, NULL, NULL, NULL, NULL, NULL),
	C("ImmutableCollections$Map0", SHAPE_EMPTY, VIEW_MAP, NULL, NULL, NULL, NULL, NULL, NULL),
	{ CLASS("java.util.jar.Attributes"), SHAPE_WRAPPER, VIEW_MAP, "map", NULL, NULL, NULL, NULL,
	    NULL },
	{ CLASS("android.util.ArrayMap"), SHAPE_PAIRS, VIEW_MAP, "mArray", NULL, NULL, NULL, "mSize",
	    NULL },
	/* sets */
	WRAPS("HashSet", "map", VIEW_KEYS),
	WRAPS("TreeSet", "m", VIEW_KEYS),
	WRAPS("concurrent.ConcurrentSkipListSet", "m", VIEW_KEYS),
	WRAPS("concurrent.CopyOnWriteArraySet", "al", VIEW_ELEMENTS),
	WRAPS("Collections$SetFromMap", "m", VIEW_KEYS),
	IN_ARRAY("java.util.ImmutableCollections$SetN", SHAPE_SPARSE, "elements", "size"),
	FIELDS("ImmutableCollections$Set12", NULL, "e0|e1"),
	FIELDS("ImmutableCollections$Set1", NULL, "e0"),
	FIELDS("ImmutableCollections$Set2", NULL, "e0|e1"),
	FIELDS("Collections$SingletonSet", NULL, "element"),
	C("Collections$EmptySet", SHAPE_EMPTY, VIEW_ELEMENTS, NULL, NULL, NULL, NULL, NULL, NULL),
	C("ImmutableCollections$Set0", SHAPE_EMPTY, VIEW_ELEMENTS, NULL, NULL, NULL, NULL, NULL,
	    NULL),
	C("RegularEnumSet", SHAPE_BITS, VIEW_ELEMENTS, "universe", "elements", NULL, NULL, NULL,
	    NULL),
	/* views of others */
	WRAPS("HashMap$KeySet", "this$0", VIEW_KEYS),
	WRAPS("HashMap$Values", "this$0", VIEW_VALUES),
	WRAPS("HashMap$EntrySet", "this$0", VIEW_MAP),
	WRAPS("LinkedHashMap$LinkedKeySet", "this$0", VIEW_KEYS),
	WRAPS("LinkedHashMap$LinkedValues", "this$0", VIEW_VALUES),
	WRAPS("LinkedHashMap$LinkedEntrySet", "this$0", VIEW_MAP),
	WRAPS("TreeMap$KeySet", "m", VIEW_KEYS),
	WRAPS("TreeMap$Values", "this$0", VIEW_VALUES),
	WRAPS("Hashtable$KeySet", "this$0", VIEW_KEYS),
	WRAPS("concurrent.ConcurrentHashMap$KeySetView", "map", VIEW_KEYS),
	WRAPS("concurrent.ConcurrentHashMap$ValuesView", "map", VIEW_VALUES),
	WRAPS("concurrent.ConcurrentHashMap$EntrySetView", "map", VIEW_MAP),
	WRAPS("Collections$UnmodifiableCollection", "c", VIEW_ELEMENTS),
	WRAPS("Collections$UnmodifiableMap", "m", VIEW_MAP),
	WRAPS("Collections$SynchronizedCollection", "c", VIEW_ELEMENTS),
	WRAPS("Collections$SynchronizedMap", "m", VIEW_MAP),
	WRAPS("Collections$CheckedCollection", "c", VIEW_ELEMENTS),
	WRAPS("Collections$CheckedMap", "m", VIEW_MAP),
};
#undef CLASS
#undef C
#undef WRAPS
#undef IN_ARRAY
#undef FIELDS

static const struct collection_kind *kind_of(const char *class)
{
	size_t n = strnlen(class, LONGEST); /* names may be long, and many */
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (kinds[i].n == n && !memcmp(kinds[i].class, class, n))
			return &kinds[i];
	}
	return NULL;
}

enum { SUPERCLASSES_MOST = 200 }; /* a chain may be as long as the dump, and is asked about for each of its classes */

/* The nearest kind from *class upwards; *class becomes the class that it is the kind of. */
static const struct collection_kind *kind_above(const struct heap *h, uint32_t *class)
{
	for (unsigned seen = 0; *class != HEAP_NONE && seen < SUPERCLASSES_MOST; seen++) {
		const struct collection_kind *kind = kind_of(h->classes[*class].name);
		if (kind)
			return kind;
		*class = h->classes[*class].superclass;
	}
	return NULL;
}

bool collection_class(const struct heap *h, uint32_t class)
{
	return kind_above(h, &class) != NULL;
}

/* The kind whose fields the object has: Properties has no `map` before Java 9. */
static bool find_kind(struct collection *c, uint32_t id)
{
	const struct heap *h = c->heap;
	struct value v;
	uint32_t class = h->class_of[id];
	if (!kind_above(h, &class) || values_open(&c->store, h, id, NULL))
		return false;
	class = h->class_of[id];
	while ((c->kind = kind_above(h, &class))) {
		if (values_as(&c->store, class) &&
		    (!c->kind->store || description_field(&c->store, c->kind->store, &v)))
			return true;
		class = h->classes[class].superclass;
	}
	return false;
}

bool collection_find(struct collection *c, const struct heap *h, uint32_t id)
{
	*c = (struct collection){ .heap = h, .node = HEAP_NONE, .stop = HEAP_NONE, .part = c->part,
		.context = c->context };
	bool first = true;
	for (int depth = 0; depth < WRAPPERS_DEEP; depth++) {
		struct value inner;
		if (!find_kind(c, id))
			return false;
		/* the keys of a map seen through an unmodifiable set are still keys */
		if (first || (c->view != VIEW_KEYS && c->view != VIEW_VALUES))
			c->view = c->kind->view;
		first = false;
		if (c->kind->shape != SHAPE_WRAPPER)
			return true;
		if (!description_field(&c->store, c->kind->store, &inner))
			return false;
		id = value_object_id(h, &inner);
		if (id == HEAP_NONE)
			return false;
		if (c->part)
			c->part(c->context, id);
	}
	return false;
}

/* --- sizes -------------------------------------------------------------------------------------- */

/* ConcurrentHashMap before Java 8: each segment counts for itself. */
static bool segments_size(const struct collection *c, struct collection_size *out)
{
	struct values segments, segment;
	int64_t count;
	if (!description_object(&c->store, "segments", &segments))
		return false;
	uint64_t n = values_length(&segments);
	for (uint64_t i = 0; i < n && i < MOST_SEGMENTS; i++) {
		struct value e = values_element(&segments, i);
		uint32_t id = value_object_id(c->heap, &e);
		if (id != HEAP_NONE && !values_open(&segment, c->heap, id, NULL) &&
		    description_number(&segment, "count", &count))
			out->size += (uint64_t)count;
	}
	return true;
}

static bool stated_size(const struct collection *c, struct collection_size *out)
{
	const char *field = c->kind->size;
	struct values counter;
	int64_t n;
	if (description_number(&c->store, field, &n)) {
		out->size = (uint64_t)description_add_cells(&c->store, "counterCells", n);
		return true;
	}
	if (!description_object(&c->store, field, &counter))
		return false;
	if (!description_number(&counter, "value", &n) && !description_number(&counter, "base", &n))
		return false;
	out->size = (uint64_t)description_add_cells(&counter, "cells", n);
	return true;
}

static void ring_size(const struct collection *c, struct collection_size *out)
{
	int64_t head, tail;
	if (!out->capacity || !description_number(&c->store, "head", &head) ||
	    !description_number(&c->store, "tail", &tail))
		return;
	out->size = ((uint64_t)tail + out->capacity - (uint64_t)head) % out->capacity;
	out->known = (uint64_t)head < out->capacity && (uint64_t)tail < out->capacity;
}

static uint64_t count_fields(struct collection c)
{
	struct collection_entry e;
	uint64_t n = 0;
	c.names = c.kind->value;
	while (collection_next(&c, &e))
		n++;
	return n;
}

/* What the kind of storage tells where no field counts. */
static void implied_size(const struct collection *c, struct collection_size *out)
{
	int64_t bits;
	switch (c->kind->shape) {
	case SHAPE_EMPTY:
		out->known = true;
		break;
	case SHAPE_FIELDS:
		out->known = true;
		out->size = count_fields(*c);
		break;
	case SHAPE_RING:
		ring_size(c, out);
		break;
	case SHAPE_ARRAY:
		out->known = out->has_capacity;
		out->size = out->capacity;
		break;
	case SHAPE_BITS:
		out->known = description_number(&c->store, c->kind->next, &bits);
		out->size = out->known ? bits_ones((uint64_t)bits) : 0;
		break;
	default:
		break;
	}
}

bool collection_size(const struct heap *h, uint32_t id, struct collection_size *out)
{
	struct collection c = { .heap = h };
	struct values table;
	*out = (struct collection_size){ .known = false };
	if (!collection_find(&c, h, id))
		return false;
	const struct collection_kind *kind = c.kind;
	out->map = c.view == VIEW_MAP;
	bool array = kind->shape <= SHAPE_BUCKETS || kind->table;
	if (array && description_object(&c.store, kind->table ? kind->table : kind->store,
	    &table)) {
		out->has_capacity = true;
		out->capacity = table.view.length;
	}
	if (kind->shape == SHAPE_PAIRS)
		out->capacity /= 2;
	if (kind->size)
		out->known = segments_size(&c, out) || stated_size(&c, out);
	else
		implied_size(&c, out);
	out->has_fill = out->known && out->has_capacity && out->capacity;
	return true;
}
