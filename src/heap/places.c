/* SPDX-License-Identifier: GPL-3.0-or-later */
/* places.c - find the record of an object, and with it the bytes of its values; see places.h. */
#include "heap/places.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

void places_release(struct places *p)
{
	if (!p)
		return;
	big_free(p->offset);
	big_free(p->runs);
	big_free(p->numbers);
	free(p);
}

/* Does the run that begins here hold this id? */
static bool run_holds(const struct places *p, uint64_t run, uint32_t id)
{
	return p->runs[run].id <= id && (run + 1 == p->n_runs || id < p->runs[run + 1].id);
}

/* The number of the record of an object that is no class object.  *run is the run of the object
 * asked for before, which is tried first; it gets this object's. */
static uint32_t number_of(const struct places *p, uint32_t id, uint64_t *run)
{
	if (p->numbers)
		return p->numbers[id];
	if (!run_holds(p, *run, id)) {
		uint64_t at;
		BISECT(at, p->n_runs, p->runs[at].id <= id);
		*run = at - 1;
	}
	return p->runs[*run].number + (id - p->runs[*run].id);
}

int heap_view(const struct heap *h, uint32_t id, struct object_view *out, struct err *err)
{
	return heap_view_along(h, id, &(struct view_walk){ 0 }, out, err);
}

int heap_view_along(const struct heap *h, uint32_t id, struct view_walk *walk,
    struct object_view *out, struct err *err)
{
	const struct reader *reader = h->dump->reader;
	if (!h->places || !reader->locate)
		return heap_holds_no_values(h, err);
	if (heap_class_mirrored(h, id) != HEAP_NONE)
		return err_set(err, ERR_NOT_FOUND, "0x%llx is a class: its values are its static fields",
		    (unsigned long long)heap_address(h, id));
	uint32_t number = number_of(h->places, id, &walk->run), steps = number % PLACE_STEP;
	if (number / PLACE_STEP >= h->places->n_offsets) /* of a forged index: what was read has them all */
		return err_set(err, ERR_IO, "%s: no object record there", h->source->path);
	uint64_t offset = h->places->offset[number / PLACE_STEP];
	if (walk->next && number - walk->number < steps) { /* before it: a very large number */
		offset = walk->next;
		steps = number - walk->number;
	}
	out->near = walk->near;
	int code = reader->locate(h->dump, offset, steps, out, err);
	walk->number = number + 1;
	walk->next = code == 0 ? out->next : 0;
	walk->near = code == 0 ? out->near : 0;
	if (code == 0 && heap_find(h, out->address) != id)
		return err_at(err, ERR_IO, offset, "%s: changed while cairn read it", h->source->path);
	return code;
}

uint64_t heap_head(const struct heap *h, uint32_t id)
{
	uint64_t size = h->facts.headers.bytes ? heap_shallow(h, id) : 0;
	struct object_view view;
	if (size <= h->facts.headers.above || size > h->facts.headers.up_to || heap_view(h, id, &view, NULL) < 0)
		return 0;
	return view.head;
}

uint32_t heap_find_value(const struct heap *h, uint64_t address)
{
	uint64_t start = address;
	uint32_t id = heap_find(h, address);
	if (id == HEAP_NONE && h->facts.headers.bytes)
		id = heap_covering(h, address, &start);
	return id != HEAP_NONE && (address == start || address - start == heap_head(h, id)) ? id : HEAP_NONE;
}

/* --- the order of records ------------------------------------------------------------------------ */

uint32_t *heap_record_order(const struct heap *h)
{
	const struct places *p = h->places;
	uint64_t n = p && p->numbers ? p->n_offsets * PLACE_STEP : 0, at = 0;
	uint32_t *order = n ? big_alloc(n + h->n_objects, sizeof *order, NULL) : NULL;

	if (!order)
		return NULL;
	memset(order, 0xff, n * sizeof *order);
	for (uint32_t id = 0; id < h->n_objects; id++)
		if (p->numbers[id] < n)
			order[p->numbers[id]] = id;
	uint64_t rest = n;
	for (uint32_t id = 0; id < h->n_objects; id++) /* class objects */
		if (p->numbers[id] >= n || order[p->numbers[id]] != id)
			order[rest++] = id;
	for (uint64_t i = 0; i < rest; i++)
		if (order[i] != HEAP_NONE)
			order[at++] = order[i];
	uint32_t *least = big_resize(order, at, sizeof *order, NULL);
	return least ? least : order;
}

static int by_record(const void *a, const void *b, void *context)
{
	const uint32_t *numbers = context;
	uint32_t x = numbers[*(const uint32_t *)a], y = numbers[*(const uint32_t *)b];
	return (x > y) - (x < y);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

int heap_sort_by_record(const struct heap *h, uint32_t *ids, size_t n, struct err *err)
{
	return h->places && h->places->numbers ? sort_with(ids, n, sizeof *ids, by_record, h->places->numbers, err) : 0;
}

int heap_sort_by_id(const struct heap *h, uint32_t *ids, size_t n, struct err *err)
{
	return h->places && h->places->numbers ? sort(ids, n, sizeof *ids, by_id, err) : 0;
}
