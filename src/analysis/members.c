/* SPDX-License-Identifier: GPL-3.0-or-later */
/* members.c - see members.h. */
#include "analysis/members.h"

#include "algorithms/bisect.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

enum { TURNS = 4 }; /* over all objects before lists are made */

static void release(struct member_lists *l)
{
	big_free(l->first);
	big_free(l->member);
	*l = (struct member_lists){ .first = NULL };
}

void members_release(struct members *m)
{
	release(&m->instances);
	release(&m->subclasses);
}

static uint32_t class_of(const struct heap *h, uint32_t id)
{
	return heap_class_index(h, id);
}

static uint32_t superclass_of(const struct heap *h, uint32_t class)
{
	return h->classes[class].superclass;
}

/* Count the members of each list, then put each at its place: first[c] moves to the end of c's list,
 * where the next begins, and is moved back. */
static bool fill(struct member_lists *l, const struct heap *h, uint32_t n,
    uint32_t (*list_of)(const struct heap *h, uint32_t member))
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (progress_own_stops(i))
			return false;
		uint32_t class = list_of(h, i);
		if (class != HEAP_NONE)
			l->first[class]++;
	}
	for (uint32_t c = 0; c <= h->n_classes; c++) {
		uint32_t count = l->first[c];
		l->first[c] = sum;
		sum += count;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (progress_own_stops(i))
			return false;
		uint32_t class = list_of(h, i);
		if (class != HEAP_NONE)
			l->member[l->first[class]++] = i;
	}
	for (uint32_t c = h->n_classes; c > 0; c--)
		l->first[c] = l->first[c - 1];
	l->first[0] = 0;
	return true;
}

static int make_lists(struct member_lists *l, const struct heap *h, uint32_t n,
    uint32_t (*list_of)(const struct heap *h, uint32_t member), struct err *err)
{
	l->first = big_alloc((uint64_t)h->n_classes + 1, sizeof *l->first, err);
	l->member = l->first ? big_alloc(n, sizeof *l->member, err) : NULL;
	if (l->member && fill(l, h, n, list_of))
		return 0;
	int code = l->member ? err_cancelled(err) : ERR_NOMEM;
	release(l);
	return code;
}

int members_init(struct members *m, const struct heap *heap, struct err *err)
{
	*m = (struct members){ .heap = heap };
	return make_lists(&m->subclasses, heap, heap->n_defined_classes, superclass_of, err);
}

static struct members_walk list(const struct member_lists *l, uint32_t class)
{
	return (struct members_walk){
		.at = l->member + l->first[class], .end = l->member + l->first[class + 1] };
}

struct members_walk members_instances(struct members *m, uint32_t class)
{
	const struct heap *h = m->heap;
	bool worth = !m->instances.first && !m->refused && m->scanned / TURNS >= h->n_objects;
	if (worth && make_lists(&m->instances, h, h->n_objects, class_of, NULL))
		m->refused = true;
	if (m->instances.first)
		return list(&m->instances, class);
	return (struct members_walk){ .class = class, .left = h->classes[class].n_objects };
}

struct members_walk members_subclasses(const struct members *m, uint32_t class)
{
	return list(&m->subclasses, class);
}

struct members_walk members_loaded(const struct members *m, uint32_t loader)
{
	const uint32_t *classes;
	uint32_t n = heap_classes_of(m->heap, loader, &classes);
	return (struct members_walk){ .at = classes, .end = classes + n };
}

bool members_next(struct members *m, struct members_walk *w, uint32_t *member)
{
	const struct heap *h = m->heap;
	if (w->at != w->end) {
		*member = *w->at++;
		return true;
	}
	while (w->left && w->id < h->n_objects) {
		uint32_t id = w->id++;
		if (progress_own_stops(m->scanned++))
			return false;
		if (heap_class_index(h, id) != w->class)
			continue;
		w->left--;
		*member = id;
		return true;
	}
	return false;
}
