/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection.c - which layout an object has, and the sizes of collections.
 */
#include "analysis/describe/collection.h"

#include "algorithms/bits.h"
#include "analysis/describe/describers.h"
#include "base/progress.h"
#include "heap/classes.h"

#include <string.h>

enum { WRAPPERS_DEEP = 16, MOST_SEGMENTS = 65536 };

enum { SUPERCLASSES_MOST = 200 }; /* a chain may be as long as the dump, and is asked about for each of its classes */

/* The nearest kind from *class upwards; *class becomes the class that it is the kind of. */
static const struct collection_kind *kind_above(const struct heap *h, uint32_t *class)
{
	for (unsigned seen = 0; *class != HEAP_NONE && seen < SUPERCLASSES_MOST; seen++) {
		const struct collection_kind *kind = layout_named(h->classes[*class].name);
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

enum collection_role collection_role(const struct heap *h, uint32_t class)
{
	const struct collection_kind *kind = kind_above(h, &class);
	if (!kind)
		return COLLECTION_NOT;
	if (kind->shape == SHAPE_VIEW || (kind->shape == SHAPE_EMPTY && !kind->store))
		return COLLECTION_VIEW;
	if (kind->shape == SHAPE_WRAPPER || kind->shape == SHAPE_JOINED)
		return COLLECTION_WRAPPER;
	return kind->store && !strcmp(kind->store, "this") ? COLLECTION_OF_ITSELF : COLLECTION_PLAIN;
}

bool collection_known(const char *class, size_t n)
{
	char name[COLLECTION_NAME_MOST];
	if (n >= sizeof name)
		return false;
	memcpy(name, class, n);
	name[n] = '\0';
	return layout_named(name) != NULL;
}

/* The field of the collection itself that its elements are found by. */
static const char *own_field(const struct collection_kind *k)
{
	return k->parts ? k->parts : k->shape == SHAPE_BITS && !k->store ? k->next : k->store;
}

static bool declares(const struct heap *h, uint32_t class, const char *names)
{
	struct field_place place;
	char name[64];
	if (!names || !strcmp(names, "this"))
		return true;
	while (next_name(&names, name)) {
		name[strcspn(name, ".[")] = '\0'; /* of what the field holds nothing is known by the class */
		if (values_place(h, class, name, &place))
			return true;
	}
	return false;
}

const struct collection_kind *collection_kind_of(const struct heap *h, uint32_t class)
{
	const struct collection_kind *nearest = kind_above(h, &class);
	for (const struct collection_kind *first = nearest; first; first = kind_above(h, &class)) {
		for (const struct collection_kind *k = first; k; k = k->same)
			if (k->shape == SHAPE_NESTED || (declares(h, class, own_field(k)) && declares(h, class, k->index)))
				return k;
		class = h->classes[class].superclass;
	}
	return nearest;
}

static bool has_field(const struct values *v, const char *names)
{
	struct value value;
	return !names || !strcmp(names, "this") || description_field(v, names, &value);
}

/* Is one of these flags set? */
static bool shows_part(const struct values *v, const char *flags)
{
	char name[64];
	struct value flag;
	while (flags && next_name(&flags, name))
		if (description_field(v, name, &flag) && flag.bits)
			return true;
	return false;
}

/* Is the object laid out so?  Where a class has several lines, the size tells them apart, too. */
static bool is_so(const struct values *v, const struct collection_kind *k, bool sized)
{
	char size[64];
	const char *names = k->size ? k->size : "";
	size_t n = strcspn(names, "+-");
	if (sized && !k->parts && n && n < sizeof size) {
		memcpy(size, names, n);
		size[n] = '\0';
		if (!has_field(v, size))
			return false;
	}
	if (shows_part(v, k->unless) || (k->shape == SHAPE_FIELDS && !has_field(v, k->value)))
		return false;
	return (k->shape == SHAPE_NESTED || has_field(v, own_field(k))) && has_field(v, k->taken) &&
	    has_field(v, k->index) && has_field(v, k->hash) &&
	    (k->shape == SHAPE_TREE || has_field(v, k->control)) && has_field(v, k->last);
}

/* Does the field of its elements hold something? */
static bool holds(const struct values *v, const struct collection_kind *k)
{
	struct value value;
	return k->shape == SHAPE_NESTED || !own_field(k) || !description_field(v, own_field(k), &value) || value.bits ||
	    value.type != VALUE_OBJECT;
}

/* Of the lines of a class the first whose fields the object has, but rather a later one if what it names is null. */
static const struct collection_kind *line_of(const struct values *v, const struct collection_kind *first)
{
	const struct collection_kind *fits = NULL;
	for (const struct collection_kind *k = first; k; k = k->same) {
		if (!is_so(v, k, first->same != NULL))
			continue;
		if (!first->same || holds(v, k))
			return k;
		fits = fits ? fits : k;
	}
	return fits;
}

/* Of the classes the nearest with a line whose fields the object has: Properties has no `map` before Java 9. */
static bool find_kind(struct collection *c, uint32_t id)
{
	const struct heap *h = c->heap;
	uint32_t class = heap_class_index(h, id);
	if (!kind_above(h, &class) || values_open(&c->store, h, id, NULL))
		return false;
	class = heap_class_index(h, id);
	while ((c->kind = kind_above(h, &class))) {
		if (values_as(&c->store, class) && (c->kind = line_of(&c->store, c->kind)))
			return true;
		class = h->classes[class].superclass;
	}
	return false;
}

bool collection_find(struct collection *c, const struct heap *h, uint32_t id)
{
	*c = (struct collection){ .heap = h, .node = HEAP_NONE, .stop = HEAP_NONE, .part = c->part,
		.context = c->context, .expand = c->expand, .is_joined = c->is_joined };
	bool first = true;
	for (int depth = 0; depth < WRAPPERS_DEEP; depth++) {
		struct value inner;
		if (!find_kind(c, id))
			return false;
		/* the keys of a map seen through an unmodifiable set are still keys */
		if (first || (c->view != VIEW_KEYS && c->view != VIEW_VALUES))
			c->view = c->kind->view;
		first = false;
		if (!c->counts && (c->kind->counts || (c->kind->size && c->kind->shape == SHAPE_WRAPPER))) {
			c->counts = c->kind;
			c->counter = c->store;
		}
		if (c->kind->shape != SHAPE_WRAPPER && c->kind->shape != SHAPE_VIEW)
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

/* Of a trie whose nodes are tries: those of its array. */
static void tell_nodes(const struct collection *c, collection_part *part, void *context)
{
	struct values array;
	if (!c->kind->value || !description_object(&c->store, c->kind->value, &array))
		return;
	uint64_t n = values_length(&array);
	for (uint64_t i = 0; i < n && i < MOST_SEGMENTS; i++) {
		struct value v = values_element(&array, i);
		uint32_t id = value_object_id(c->heap, &v);
		if (id != HEAP_NONE)
			part(context, id);
	}
}

static void tell_joined(const struct collection *c, collection_part *part, void *context)
{
	const char *names = c->kind->store;
	char name[64];
	struct value v;
	while (next_name(&names, name)) {
		uint32_t id = description_field(&c->store, name, &v) ? value_object_id(c->heap, &v) : HEAP_NONE;
		if (id != HEAP_NONE)
			part(context, id);
	}
}

/* The collections that are values of a multimap or a table: its user did not make them. */
static void tell_values(const struct heap *h, uint32_t id, collection_part *part, void *context)
{
	struct collection c;
	struct collection_entry e;
	if (!collection_open(&c, h, id, NULL)) {
		for (c.as_is = true; !progress_own_stops(c.listed) && collection_next(&c, &e);) {
			uint32_t value = value_object_id(h, &e.value);
			if (value != HEAP_NONE)
				part(context, value);
		}
	}
	collection_close(&c);
}

void collection_inner(const struct heap *h, uint32_t id, collection_part *part, void *context)
{
	struct collection c = { .heap = h, .part = part, .context = context };
	struct value next;
	bool found = collection_find(&c, h, id);
	if (found && c.counts && c.counts->counts)
		tell_values(h, id, part, context);
	if (found && c.kind->shape == SHAPE_JOINED)
		tell_joined(&c, part, context);
	if (!found || c.kind->shape == SHAPE_WRAPPER || !c.kind->store ||
	    strcmp(c.kind->store, "this") != 0 || c.store.id != id)
		return; /* what it wraps was reported */
	if (c.kind->shape == SHAPE_TRIE) {
		tell_nodes(&c, part, context);
		return;
	}
	const char *links[] = { c.kind->next, NULL };
	if (c.kind->shape == SHAPE_TREE) {
		links[0] = COLLECTION_LEFT;
		links[1] = COLLECTION_RIGHT;
	}
	for (size_t i = 0; i < 2 && links[i]; i++) {
		uint32_t to = description_field(&c.store, links[i], &next) ? value_object_id(h, &next) : HEAP_NONE;
		if (to != HEAP_NONE)
			part(context, to);
	}
}

/* --- sizes -------------------------------------------------------------------------------------- */

bool collection_number_in(const struct values *counter, int64_t *out)
{
	return description_number(counter, "value", out) || description_number(counter, "base", out) ||
	    description_number(counter, "size", out);
}

/* One term of a size: a number, a flag, or an object that counts. */
static bool term(const struct values *of, const char *names, int64_t *out)
{
	struct value v;
	struct values counter;
	if (!description_field(of, names, &v))
		return false;
	if (v.type != VALUE_OBJECT) {
		*out = description_add_cells(of, "counterCells", (int64_t)v.bits);
		return true;
	}
	if (!description_object(of, names, &counter) || !collection_number_in(&counter, out))
		return false;
	*out = description_add_cells(&counter, "cells", *out);
	return true;
}

/* How many entries stand in the sentinels of a map of numbers, for the keys 0 and 1. */
static int64_t count_extra(const struct collection *c)
{
	struct values extra;
	struct value zero, one;
	if (!c->kind->extra || !description_object(&c->store, c->kind->extra, &extra))
		return 0;
	return (values_field(&extra, "containsZeroKey", &zero) && zero.bits) +
	    (values_field(&extra, "containsOneKey", &one) && one.bits);
}

bool collection_sum(const struct values *of, const char *size, uint64_t *sum, bool *negative)
{
	char names[256];
	bool less = false;
	for (const char *at = size; *at;) {
		size_t n = strcspn(at, "+-");
		int64_t number;
		if (!n || n >= sizeof names)
			return false;
		memcpy(names, at, n);
		names[n] = '\0';
		if (!term(of, names, &number))
			return false;
		*negative |= number < 0;
		*sum += less ? -(uint64_t)number : (uint64_t)number;
		less = at[n] == '-';
		at += n + (at[n] != '\0');
	}
	return true;
}

static bool stated_size(const struct collection *c, struct collection_size *out)
{
	uint64_t sum = (uint64_t)count_extra(c);
	bool negative = false;
	if (!collection_sum(&c->store, c->kind->size, &sum, &negative))
		return false;
	out->size = sum;
	out->lies = negative || (int64_t)sum < 0;
	return true;
}

/* What counts otherwise than its entries, which fill the places: a multimap, a bag, a table. */
static void count_otherwise(const struct collection *c, struct collection_size *out)
{
	uint64_t sum = 0;
	bool negative = false, none = out->known && !out->size && c->counts->counts;
	out->known = c->counts->size && collection_sum(&c->counter, c->counts->size, &sum, &negative);
	out->size = out->known ? sum : 0;
	out->lies |= negative || (int64_t)sum < 0;
	out->known |= none; /* no entry, no element */
}

/* Each part counts for itself, and has a table of its own. */
static bool size_of_parts(const struct collection *c, struct collection_size *out)
{
	struct values parts, part, table;
	bool negative = false, counted = c->kind->size != NULL;
	if (!description_object(&c->store, c->kind->parts, &parts))
		return false;
	uint64_t n = values_length(&parts);
	for (uint64_t i = 0; i < n && i < MOST_SEGMENTS; i++) {
		struct value e = values_element(&parts, i);
		uint32_t id = value_object_id(c->heap, &e);
		if (id == HEAP_NONE || values_open(&part, c->heap, id, NULL))
			continue;
		counted = counted && collection_sum(&part, c->kind->size, &out->size, &negative);
		if (description_object(&part, c->kind->store, &table) && table.view.kind != OBJECT_INSTANCE)
			out->capacity += values_length(&table);
	}
	out->has_capacity = true;
	out->lies = negative || (int64_t)out->size < 0;
	return counted;
}

static bool ring_end(const struct collection *c, const char *names, int64_t *out)
{
	struct value v;
	if (!names || !description_field(&c->store, names, &v) || v.type == VALUE_OBJECT)
		return false;
	*out = (int64_t)v.bits;
	return true;
}

static void ring_size(const struct collection *c, struct collection_size *out)
{
	int64_t head, tail;
	if (!out->capacity || !ring_end(c, c->kind->next, &head) || !ring_end(c, c->kind->tail, &tail))
		return;
	struct value full;
	bool all = tail == head && c->kind->last && description_field(&c->store, c->kind->last, &full) && full.bits;
	out->size = all ? out->capacity : ((uint64_t)tail + out->capacity - (uint64_t)head) % out->capacity;
	out->known = (uint64_t)head < out->capacity && (uint64_t)tail < out->capacity;
	out->lies = !out->known;
}

static uint64_t count_fields(struct collection c)
{
	struct collection_entry e;
	uint64_t n = 0;
	c.names = c.kind->value;
	c.key_names = c.kind->key ? c.kind->key : "";
	while (collection_next(&c, &e))
		n++;
	return n;
}

/* Bits in fields; those in arrays may be many, and are counted as entries are. */
static bool count_bits(const struct collection *c, uint64_t *sum)
{
	const char *names = c->kind->next;
	char name[64];
	struct value v;
	bool all = false;
	while (next_name(&names, name)) {
		if (!description_field(&c->store, name, &v))
			continue;
		if (v.type == VALUE_OBJECT)
			return false;
		*sum += bits_ones(v.bits);
		all = true;
	}
	return all;
}

/* What the kind of storage tells where no field counts. */
static void implied_size(const struct collection *c, struct collection_size *out)
{
	struct values entries;
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
		out->size = out->capacity - collection_bound(c, c->kind->next, out->capacity, 0);
		break;
	case SHAPE_PAIRS:
		out->known = out->has_capacity && c->kind->null;
		out->size = out->known ? out->capacity : 0;
		break;
	case SHAPE_BUCKETS: /* an array of entries */
		if (!*c->kind->next && description_object(&c->store, c->kind->store, &entries)) {
			out->known = true;
			out->size = values_length(&entries);
		}
		break;
	case SHAPE_BITS:
		out->known = count_bits(c, &out->size);
		out->size = out->known ? out->size : 0;
		break;
	default:
		break;
	}
}

/* A size cannot be more than the places where each element has one. */
static void check_size(const struct collection *c, struct collection_size *out)
{
	static const bool bounded[SHAPES] = { [SHAPE_ARRAY] = true, [SHAPE_SPARSE] = true, [SHAPE_RING] = true,
		[SHAPE_PAIRS] = true, [SHAPE_COLUMNS] = true, [SHAPE_ENUM] = true };
	if (out->known && out->has_capacity && bounded[c->kind->shape] && !c->kind->chained && !c->kind->extra)
		out->lies |= out->size > out->capacity;
	if (out->lies)
		out->has_fill = false;
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
	bool array = kind->shape <= SHAPE_BUCKETS || kind->shape == SHAPE_ENUM || kind->table;
	if (!kind->parts && array && description_object(&c.store, kind->table ? kind->table : kind->store,
	    &table)) {
		out->has_capacity = kind->shape != SHAPE_ENUM && !(kind->shape == SHAPE_SPARSE && kind->next);
		out->capacity = table.view.length;
		out->lies = table.is_class || table.view.kind == OBJECT_INSTANCE;
	}
	if (kind->shape == SHAPE_PAIRS)
		out->capacity = (out->capacity - collection_bound(&c, kind->next, out->capacity, 0)) / 2;
	if (kind->parts)
		out->known = size_of_parts(&c, out);
	else if (kind->size && c.counts != kind)
		out->known = stated_size(&c, out);
	else
		implied_size(&c, out);
	out->has_fill = out->known && out->has_capacity && out->capacity;
	out->taken = out->known ? out->size : 0;
	check_size(&c, out);
	if (c.counts)
		count_otherwise(&c, out);
	return true;
}
