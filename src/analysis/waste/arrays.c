/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * arrays.c - arrays that hold nothing, one element, or mostly nothing; equal arrays of primitives.
 *
 * Only those that a program uses as arrays: the ones of Strings and collections are judged with these.
 */
#include "analysis/waste/work.h"

#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "heap/roots.h"

#include <string.h>

enum {
	SPARSE_LEAST = 16,    /* elements of an array that may be called sparse, */
	SPARSE_FILLED = 4,    /* and of so many one at most is not null */
	TAIL_LEAST = 64,      /* bytes of a tail, which is at least half of its array */
};

/* What nobody holds may be one of the collector's fillers between objects, which are of no use to anybody else. */
bool waste_array_is_own(const struct waste_work *w, uint32_t id)
{
	const struct heap *h = w->heap;
	uint64_t at = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	if (w->owner[id] != HEAP_NONE || (!n && heap_class_of(h, id)->objects_inferred))
		return false;
	for (uint64_t i = 0; i < n && i < WASTE_HOLDERS_MOST; i++)
		if (waste_role(w, h->in.target[at + i]) == ROLE_STRING)
			return false;
	return true;
}

/* Does a static field hold it?  Then it is the empty array that all share, or should. */
static bool is_shared(const struct heap *h, uint32_t id)
{
	uint64_t at = adjacency_start(&h->in, id), end = at + adjacency_degree(&h->in, id);
	for (; at < end; at++) {
		if (progress_own_stops(end - at) || heap_class_mirrored(h, h->in.target[at]) != HEAP_NONE)
			return true;
	}
	return false;
}

/* Is it the VM's own, which no code of the program can change: "<resolved_references>"? */
static bool is_hidden(const struct heap *h, uint32_t id)
{
	uint64_t n = adjacency_degree(&h->in, id);
	uint32_t holder = n ? h->in.target[adjacency_start(&h->in, id)] : HEAP_NONE, class;
	const char *field;
	return n ? heap_class_mirrored(h, holder) != HEAP_NONE && inspect_declared_field(h, holder, id, &class, &field) &&
	        *field == '<' : heap_is_root(h, id);
}

/* Bytes that an array of the same class with so many elements would not take. */
static uint64_t beyond(const struct heap *h, uint32_t id, uint64_t elements)
{
	uint64_t bytes = heap_shallow(h, id), needed = heap_array_size(h, heap_class_of(h, id), elements);
	return needed == SIZE_UNKNOWN || needed > bytes ? 0 : bytes - needed;
}

/* The family's kinds that lengths tell.  True: it is of one of these, or no business of ours. */
static bool by_length(struct waste_stretch *s, uint32_t id, uint64_t length, int *code, struct err *err)
{
	const struct heap *h = s->work->heap;
	uint64_t bytes = heap_shallow(h, id);
	if (length > 1)
		return !waste_array_is_own(s->work, id);
	if (waste_array_is_own(s->work, id) && (length || !is_shared(h, id)) && !is_hidden(h, id))
		*code = waste_add(s, length ? WASTE_ONE_ELEMENT : WASTE_EMPTY_ARRAYS, id, bytes, bytes, err);
	return true;
}

static int look_at_references(struct waste_stretch *s, uint32_t id, struct err *err)
{
	const struct heap *h = s->work->heap;
	uint64_t length = heap_length(h, id);
	int code = 0;
	if (length == LENGTH_UNKNOWN || by_length(s, id, length, &code, err))
		return code;
	uint64_t used = adjacency_degree(&h->out, id);
	if (length < SPARSE_LEAST || used > length / SPARSE_FILLED || is_hidden(h, id))
		return 0;
	return waste_add(s, WASTE_SPARSE, id, heap_shallow(h, id), beyond(h, id, used), err);
}

struct elements {
	const uint8_t *bytes;
	uint64_t n;     /* bytes */
	unsigned width; /* of an element */
};

static bool read_elements(const struct heap *h, struct view_walk *walk, uint32_t id, struct elements *out)
{
	struct object_view view;
	if (heap_view_along(h, id, walk, &view, NULL) || view.kind != PRIMITIVE_ARRAY)
		return false;
	*out = (struct elements){view.bytes, view.n_bytes, values_size_of(h, view.element)};
	out->n -= out->n % out->width;
	return true;
}

/* All elements are equal where the bytes are those of one element further. */
static bool is_constant(const struct elements *e)
{
	return same_bytes(e->bytes, e->bytes + e->width, e->n - e->width);
}

/* Bytes at the end that are zero, in whole elements. */
static uint64_t zero_tail(const struct elements *e)
{
	uint64_t n = 0, word;
	for (; e->n - n >= sizeof word; n += sizeof word) {
		memcpy(&word, e->bytes + e->n - n - sizeof word, sizeof word);
		if (word)
			break;
	}
	while (n < e->n && !e->bytes[e->n - n - 1])
		n++;
	return n - n % e->width;
}

static bool has_tail(const struct elements *e, uint64_t *zeros)
{
	*zeros = zero_tail(e);
	return *zeros >= TAIL_LEAST && *zeros >= e->n - *zeros;
}

static int look_at_primitives(struct waste_stretch *s, uint32_t id, struct err *err)
{
	const struct heap *h = s->work->heap;
	uint64_t length = heap_length(h, id), bytes = heap_shallow(h, id), zeros;
	struct elements e;
	int code = 0;
	if (length == LENGTH_UNKNOWN || by_length(s, id, length, &code, err))
		return code;
	if (!read_elements(h, &s->view, id, &e) || e.n / e.width != length)
		return 0;
	if (is_constant(&e))
		return waste_add(s, WASTE_CONSTANT, id, bytes, bytes, err);
	if (has_tail(&e, &zeros))
		return waste_add(s, WASTE_TAILS, id, bytes, beyond(h, id, (e.n - zeros) / e.width), err);
	return 0;
}

/* --- equal ones --------------------------------------------------------------------------------- */

static bool read_array(struct equal_walk *w, uint32_t id, struct equal_content *out)
{
	struct elements e;
	uint64_t zeros;
	if (heap_length(w->heap, id) < 2 || !waste_array_is_own(w->context, id) ||
	    !read_elements(w->heap, &w->view, id, &e) || e.n / e.width != heap_length(w->heap, id) || is_constant(&e) ||
	    has_tail(&e, &zeros))
		return false;
	*out = (struct equal_content){.bytes = e.bytes, .n = e.n, .array = id,
	    .with = heap_class_index(w->heap, id)};
	return true;
}

int waste_of_arrays(struct waste_work *w, struct err *err)
{
	static const struct waste_same same = {ROLE_PRIMITIVE_ARRAY, WASTE_ARRAYS, read_array, NULL};
	bool lengths = w->wanted[WASTE_EMPTY_ARRAYS] || w->wanted[WASTE_ONE_ELEMENT];
	int code = 0;
	if (lengths || w->wanted[WASTE_SPARSE])
		code = waste_look(w, 1U << ROLE_OBJECT_ARRAY, look_at_references, NULL, err);
	if (!code && (lengths || w->wanted[WASTE_CONSTANT] || w->wanted[WASTE_TAILS]))
		code = waste_look(w, 1U << ROLE_PRIMITIVE_ARRAY, look_at_primitives, NULL, err);
	if (!code && w->wanted[WASTE_ARRAYS])
		code = waste_find_same(w, &same, err);
	return code;
}
