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

enum { STATICS_MOST = 8 };

unsigned waste_stays(const struct waste_work *w, uint32_t id)
{
	const struct heap *h = w->heap;
	uint64_t at = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	unsigned best = 0;
	for (uint64_t i = 0; i < n && i < STATICS_MOST && best < 2; i++) {
		uint32_t holder = h->in.target[at + i], class;
		const char *field;
		bool array = waste_role(w, holder) == ROLE_OBJECT_ARRAY && w->owner[holder] == HEAP_NONE &&
		    adjacency_degree(&h->in, holder);
		uint32_t above = array ? h->in.target[adjacency_start(&h->in, holder)] : holder;
		if (heap_class_mirrored(h, above) == HEAP_NONE)
			continue;
		best = array && inspect_declared_field(h, above, holder, &class, &field) && *field == '<' ? 2 : 1;
	}
	return best;
}

bool waste_place(const struct waste_work *w, uint32_t id, uint32_t first, struct waste_place *out)
{
	const struct heap *h = w->heap;
	*out = (struct waste_place){.declared_in = HEAP_NONE, .holder = HEAP_NONE};
	for (int step = 0; step < STEPS_MOST; step++) {
		uint32_t holder = w->owner[id] != HEAP_NONE ? w->owner[id] : step || first == HEAP_NONE ? holder_of(w, id) :
		    first;
		if (holder == HEAP_NONE)
			break;
		enum waste_role role = waste_role(w, holder);
		if (w->owner[holder] != HEAP_NONE) {
			id = w->owner[holder];
		} else if (role == ROLE_COLLECTION || role == ROLE_WRAPPER || role == ROLE_VIEW) {
			id = holder;
		} else if (role == ROLE_OBJECT_ARRAY) {
			id = holder;
			out->deep += out->deep < DEEP_MOST;
		} else {
			out->holder = holder;
			if (!inspect_declared_field(h, holder, id, &out->declared_in, &out->field)) {
				out->declared_in = heap_class_mirrored(h, holder);
				if (out->declared_in == HEAP_NONE)
					out->declared_in = h->class_of[holder];
				out->field = NULL;
			}
			return true;
		}
	}
	out->deep = 0;
	return false;
}
