/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place.c - the field that one would mend: where a program keeps what is wasted.
 *
 * From the object upwards through arrays and what collections are made of, to the first field of an instance or a
 * class.  Of several holders that counts which holds most objects of the kind by its field, and of these the one
 * that lies first in memory; but references of java.lang.ref and views of collections only where there is none else.
 */
#include "analysis/waste/work.h"

#include "analysis/describe/describe.h"
#include "heap/classes.h"

#include <string.h>

enum { STEPS_MOST = 32, DEEP_MOST = 8 };

bool waste_may_place(const struct waste_work *w, uint32_t id, uint32_t holder)
{
	enum waste_role role = waste_role(w, holder);
	return holder != id && w->owner[holder] != id && role != ROLE_REFERENCE && role != ROLE_VIEW;
}

/* The holder that counts, or HEAP_NONE. */
static uint32_t holder_of(const struct waste_work *w, uint32_t id)
{
	const struct heap *h = w->heap;
	uint64_t at = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	uint32_t worse = HEAP_NONE;
	for (uint64_t i = 0; i < n && i < WASTE_HOLDERS_MOST; i++) {
		uint32_t holder = h->in.target[at + i];
		if (waste_may_place(w, id, holder))
			return holder;
		if (worse == HEAP_NONE && holder != id && w->owner[holder] != id)
			worse = holder;
	}
	return worse;
}

enum { NAMED_MOST = 1024 /* references of an object in memory, each of which may have to be looked at */ };

/* What an object in memory calls its reference to another one: "Tags.ptr", or NULL. */
static const char *name_in_memory(const struct waste_work *w, uint32_t holder, uint32_t id)
{
	const struct adjacency *out = &w->heap->out;
	uint64_t start = adjacency_start(out, holder), n = adjacency_degree(out, holder);
	struct numbered names;
	uint32_t number = NAME_NOT_TOLD;
	if (!w->names || n > NAMED_MOST || numbered_names_of(w->names, holder, &names, NULL))
		return NULL;
	for (uint64_t i = 0; i < n && number == NAME_NOT_TOLD; i++)
		if (out->target[start + i] == id)
			number = names.each ? names.each[i] : names.all;
	return number == NAME_NOT_TOLD ? NULL : numbered_name(w->names, number);
}

/* Of an array the field counts that holds it; of one of structs the field of these. */
static bool is_passed(const struct waste_work *w, uint32_t holder, const char *name)
{
	return waste_role(w, holder) == ROLE_OBJECT_ARRAY && (!name || !strcmp(name, "[]"));
}

bool waste_place(const struct waste_work *w, uint32_t id, uint32_t first, struct waste_place *out)
{
	const struct heap *h = w->heap;
	bool passed = false;
	*out = (struct waste_place){.declared_in = HEAP_NONE, .holder = HEAP_NONE};
	for (int step = 0; step < STEPS_MOST; step++) {
		uint32_t holder = w->owner[id] != HEAP_NONE ? w->owner[id] : step || first == HEAP_NONE ? holder_of(w, id) :
		    first;
		if (holder == HEAP_NONE)
			break;
		enum waste_role role = waste_role(w, holder);
		const char *name = name_in_memory(w, holder, id);
		if (w->owner[holder] != HEAP_NONE) {
			id = w->owner[holder];
			passed = true;
		} else if (role == ROLE_COLLECTION || role == ROLE_WRAPPER || role == ROLE_VIEW) {
			id = holder;
			passed = true;
		} else if (is_passed(w, holder, name)) {
			id = holder;
			passed = true;
			out->deep += out->deep < DEEP_MOST;
		} else {
			out->holder = holder;
			if (!inspect_declared_field(h, holder, id, &out->declared_in, &out->field)) {
				out->declared_in = heap_class_mirrored(h, holder);
				if (out->declared_in == HEAP_NONE)
					out->declared_in = heap_class_index(h, holder);
				out->field = name;
			}
			return true;
		}
	}
	/* an array or a map that a variable holds, for one */
	if (w->names && passed) {
		bool array = waste_role(w, id) == ROLE_OBJECT_ARRAY;
		*out = (struct waste_place){.declared_in = heap_class_index(h, id), .holder = id,
		    .deep = out->deep - array};
		return true;
	}
	out->deep = 0;
	return false;
}
