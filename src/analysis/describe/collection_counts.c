/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection_counts.c - entries that count as several elements: those of multimaps, bags and tables.
 *
 * The value of such an entry is a number, an object with one, or a collection.  Elements of a collection that is not a
 * map are listed one by one, each with the entry's key; only one such collection is open at a time.
 */
#include "analysis/describe/collection.h"

#include "analysis/describe/describers.h"
#include "base/mem.h"

/* List the elements of this value from now on. */
static bool open_inside(struct collection *c, uint32_t id, const struct value *key)
{
	if (!c->inside)
		c->inside = xcalloc(1, sizeof *c->inside);
	collection_close(c->inside);
	if (collection_open(c->inside, c->heap, id, NULL))
		return false;
	c->uncounted |= c->inside->counts && c->inside->counts->counts;
	c->inside->counts = NULL; /* not deeper than this */
	c->inside_key = *key;
	c->in_value = true;
	return true;
}

bool collection_next_inside(struct collection *c, struct collection_entry *e)
{
	struct collection_entry inner;
	c->in_value = collection_next(c->inside, &inner);
	if (!c->in_value) {
		c->broken |= c->inside->broken;
		c->no_memory |= c->inside->no_memory;
		return false;
	}
	*e = (struct collection_entry){ .key = c->inside_key, .value = inner.value, .many = 1 };
	return true;
}

/* The number that a value is, or that the object has which it is. */
static bool number_of(const struct collection *c, const struct value *v, uint32_t id, int64_t *n)
{
	struct values counter;
	if (v->type != VALUE_OBJECT) {
		*n = (int64_t)v->bits;
		return true;
	}
	return id != HEAP_NONE && !values_open(&counter, c->heap, id, NULL) && collection_number_in(&counter, n);
}

bool collection_count_entry(struct collection *c, struct collection_entry *e)
{
	struct collection_size size;
	uint32_t id = value_object_id(c->heap, &e->value);
	int64_t n = 0;
	e->many = 0;
	c->summed = true;
	if (id != HEAP_NONE && collection_size(c->heap, id, &size)) {
		bool known = size.known && !size.lies;
		if ((c->expand || !known) && !size.map && open_inside(c, id, &e->key))
			return false;
		c->uncounted |= !known;
		e->many = known ? size.size : 0;
	} else if (number_of(c, &e->value, id, &n) && n >= 0) {
		e->many = (uint64_t)n;
	} else {
		c->uncounted = true;
	}
	return true;
}
