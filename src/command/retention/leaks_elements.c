/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks_elements.c - how many elements a suspect has, and of what class: see leaks_told.h. */
#include "command/retention/leaks_told.h"

#include "analysis/describe/describe.h"
#include "heap/classes.h"

enum { LOOKED_AT = 1 << 16 };

/* The class that most of the elements have, by pairing off those of different classes; a second look counts it. */
struct majority {
	const struct heap *heap;
	uint32_t class, lead;
	uint64_t n, of_class; /* elements looked at; of these of the class */
	bool counts;          /* the second look */
};

static void look_at(struct majority *m, uint32_t id)
{
	uint32_t class = id == HEAP_NONE ? HEAP_NONE : m->heap->class_of[id];
	if (m->counts) {
		m->n++;
		m->of_class += class == m->class && class != HEAP_NONE;
	} else if (!m->lead) {
		m->class = class;
		m->lead = 1;
	} else {
		m->lead += class == m->class ? 1U : -1U;
	}
}

static void look_at_entries(struct majority *m, const struct entries *e)
{
	struct any_value key, value;
	for (size_t i = 0; i < e->n && !progress_own_stops(i); i++) {
		inspect_entry(e, i, &key, &value);
		look_at(m, inspect_target(&value).id);
	}
}

static void look_at_references(struct majority *m, uint32_t id)
{
	const struct adjacency *out = &m->heap->out;
	uint64_t at = adjacency_start(out, id), end = adjacency_start(out, id + 1);
	for (end = end - at > LOOKED_AT ? at + LOOKED_AT : end; at < end; at++)
		look_at(m, out->target[at]);
}

/* ", all com.acme.Session", ", the first 65,536 all …", ", 45 of them …"; all: there are so many. */
static void add_class(struct text *to, const struct majority *m, uint64_t all, const char *what)
{
	if (!m->n || 2 * m->of_class <= m->n)
		return;
	text_add(to, ", ");
	if (m->n < all) {
		text_add(to, "of the first ");
		text_add_count(to, m->n);
		text_add(to, " ");
	}
	if (m->of_class < m->n) {
		text_add_count(to, m->of_class);
		text_addf(to, "%s%s ", m->n < all ? "" : " of them", what);
	} else if (all > 1) {
		text_addf(to, "all%s ", what);
	}
	text_add_name(to, m->heap->classes[m->class].name);
}

static void add_number(struct text *to, uint64_t n, const char *one)
{
	text_add_count(to, n);
	text_addf(to, " %s%s", one, n == 1 ? "" : "s");
}

static bool add_collection(struct text *to, const struct opened *o, uint32_t id)
{
	struct majority m = {.heap = o->heap, .class = HEAP_NONE};
	struct collection_size size;
	struct entries *e;
	uint64_t left = LOOKED_AT;
	if (o->fate != FILE_SAME || !inspect_count(o->heap, id, &left, &size) || !size.known)
		return false;
	add_number(to, size.size, "element");
	if (inspect_entries(&e, o->heap, id, &(struct range){.length = LOOKED_AT}, NULL))
		return true;
	look_at_entries(&m, e);
	m.counts = true;
	look_at_entries(&m, e);
	if (e->n == size.size || e->n == LOOKED_AT)
		add_class(to, &m, size.size, e->map ? " values" : "");
	inspect_entries_close(e);
	return true;
}

static bool is_array(const struct heap *h, uint32_t id)
{
	return id != HEAP_NONE && heap_class_of(h, id)->kind == CLASS_OBJECT_ARRAY;
}

bool told_add_elements(struct text *to, const struct opened *o, uint32_t id, uint32_t store)
{
	const struct heap *h = o->heap;
	struct majority m = {.heap = h, .class = HEAP_NONE};
	enum storage_arrays arrays = ARRAYS_NONE;
	if (add_collection(to, o, id))
		return true;
	if (!is_array(h, id)) { /* a dump without values: what the list does not say, its array does */
		(void)inspect_storage_role(h, h->class_of[id], &arrays);
		id = arrays == ARRAYS_OF_ELEMENTS ? store : HEAP_NONE;
	}
	if (!is_array(h, id))
		return false;
	uint64_t n = adjacency_start(&h->out, id + 1) - adjacency_start(&h->out, id);
	add_number(to, n, "reference");
	look_at_references(&m, id);
	m.counts = true;
	look_at_references(&m, id);
	add_class(to, &m, n, " to");
	return true;
}
