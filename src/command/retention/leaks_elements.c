/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks_elements.c - how many elements a suspect has, and of what class: see leaks_told.h. */
#include "command/retention/leaks_told.h"

#include "analysis/describe/describe.h"
#include "heap/classes.h"

enum { LOOKED_AT = 1 << 16 };

/* The class that most of the elements have, by pairing off those of different classes; a second look counts it. */
struct majority {
	const struct heap *heap;
	struct told_elements *out;
	uint64_t lead;
	told_element *each;
	void *context;
	bool counts; /* the second look */
};

static void look_at(struct majority *m, uint32_t id)
{
	struct told_elements *out = m->out;
	uint32_t class = id == HEAP_NONE ? HEAP_NONE : heap_class_index(m->heap, id);
	if (m->counts) {
		bool of_class = class == out->class && class != HEAP_NONE;
		out->looked++;
		out->of_class += of_class;
		if (of_class && m->each)
			m->each(m->context, id);
	} else if (!m->lead) {
		out->class = class;
		m->lead = 1;
	} else {
		m->lead += class == out->class ? 1U : -1U;
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

static bool find_in_collection(struct majority *m, const struct opened *o, uint32_t id)
{
	struct collection_size size;
	struct entries *e;
	uint64_t left = LOOKED_AT;
	if (o->fate != FILE_SAME || !inspect_count(o->heap, id, &left, &size) || !size.known)
		return false;
	m->out->n = size.size;
	m->out->collection = true;
	if (inspect_entries(&e, o->heap, id, &(struct range){.length = LOOKED_AT}, NULL))
		return true;
	m->out->map = e->map;
	look_at_entries(m, e);
	m->counts = true;
	if (e->n == size.size || e->n == LOOKED_AT)
		look_at_entries(m, e);
	inspect_entries_close(e);
	return true;
}

static bool is_array(const struct heap *h, uint32_t id)
{
	return id != HEAP_NONE && heap_class_of(h, id)->kind == CLASS_OBJECT_ARRAY;
}

bool told_find_elements(struct told_elements *out, const struct opened *o, uint32_t id, uint32_t store,
    told_element *each, void *context)
{
	const struct heap *h = o->heap;
	struct majority m = {.heap = h, .out = out, .each = each, .context = context};
	enum storage_arrays arrays = ARRAYS_NONE;
	*out = (struct told_elements){.class = HEAP_NONE};
	if (!find_in_collection(&m, o, id)) {
		if (!is_array(h, id)) { /* a dump without values: what the list does not say, its array does */
			(void)inspect_storage_role(h, heap_class_index(h, id), &arrays);
			id = arrays == ARRAYS_OF_ELEMENTS ? store : HEAP_NONE;
		}
		if (!is_array(h, id))
			return false;
		out->n = adjacency_start(&h->out, id + 1) - adjacency_start(&h->out, id);
		look_at_references(&m, id);
		m.counts = true;
		look_at_references(&m, id);
	}
	if (!out->looked || 2 * out->of_class <= out->looked)
		out->class = HEAP_NONE;
	return true;
}

/* ", all com.acme.Session", ", the first 65,536 all …", ", 45 of them …" */
static void add_class(struct text *to, const struct heap *h, const struct told_elements *e, const char *what)
{
	if (e->class == HEAP_NONE)
		return;
	text_add(to, ", ");
	if (e->looked < e->n) {
		text_add(to, "of the first ");
		text_add_count(to, e->looked);
		text_add(to, " ");
	}
	if (e->of_class < e->looked) {
		text_add_count(to, e->of_class);
		text_addf(to, "%s%s ", e->looked < e->n ? "" : " of them", what);
	} else if (e->n > 1) {
		text_addf(to, "all%s ", what);
	}
	text_add_name(to, h->classes[e->class].name);
}

bool told_add_elements(struct text *to, const struct opened *o, uint32_t id, uint32_t store)
{
	struct told_elements e;
	if (!told_find_elements(&e, o, id, store, NULL, NULL))
		return false;
	text_add_count(to, e.n);
	text_addf(to, " %s%s", e.collection ? "element" : "reference", e.n == 1 ? "" : "s");
	add_class(to, o->heap, &e, !e.collection ? " to" : e.map ? " values" : "");
	return true;
}
