/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * about_collections.c - by which reference the collection is held that an array or a node belongs to: a row of
 * referrers says "AuditLog.ENTRIES[]" in place of "[…] of Object[]".
 */
#include "command/retention/about.h"

#include "analysis/describe/describe.h"
#include "command/retention/heap_labels.h"
#include "heap/classes.h"
#include "heap/weak.h"

#include <string.h>

enum {
	STEPS_MOST = 64,     /* from a node to its collection */
	REFERRERS_MOST = 64, /* looked at in each step */
};

/* A collection, and not a node of another. */
static bool is_whole(unsigned make)
{
	return (make & (MAKE_COLLECTION | MAKE_PART)) == MAKE_COLLECTION;
}

/* What the object is a part of: the collection rather than an array, an array rather than a node.  HEAP_NONE: of
 * nothing. */
static uint32_t whole_of(struct asking *q, uint32_t id, uint32_t before)
{
	const struct heap *h = q->a->heap;
	const struct retained *known = q->a->known;
	uint64_t k = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
	uint32_t array = HEAP_NONE, node = HEAP_NONE;
	for (unsigned n = 0; k < end && n < REFERRERS_MOST; k++, n++) {
		uint32_t from = h->in.target[k];
		if (from == before || from == id || !path_plumbing_is(&q->a->plumbing, from, id))
			continue;
		if (is_whole(inspect_make(h, from)))
			return from;
		*(heap_class_of(h, from)->kind == CLASS_OBJECT_ARRAY ? &array : &node) = from;
	}
	/* of a chain in both directions only the collection dominates a node */
	uint32_t above = known && array == HEAP_NONE ? known->dominators.immediate[id] : HEAP_NONE;
	if (above < h->n_objects && path_plumbing_is(&q->a->plumbing, above, id))
		return above;
	return array != HEAP_NONE ? array : node;
}

uint32_t about_collection_of(struct asking *q, uint32_t holder)
{
	const struct heap *h = q->a->heap;
	uint32_t at = holder, before = HEAP_NONE, next;
	for (unsigned n = 0; n < STEPS_MOST && (next = whole_of(q, at, before)) != HEAP_NONE; n++) {
		if (is_whole(inspect_make(h, at)) && adjacency_degree(&h->in, at) > 1) /* others use it, too */
			break;
		before = at;
		at = next;
	}
	unsigned make = inspect_make(h, at);
	return is_whole(make) || (at == holder && make & MAKE_ARRAY && !(make & MAKE_PART)) ? at : HEAP_NONE;
}

bool about_collection_label(struct asking *q, uint32_t id, struct text *to)
{
	const struct heap *h = q->a->heap;
	const struct weak_references *left_out = q->a->known ? q->a->known->model.left_out : NULL;
	uint64_t k = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
	struct text label = TEXT_INIT, best = TEXT_INIT;
	bool is_static = false;
	for (unsigned n = 0; !is_static && k < end && n < REFERRERS_MOST; k++, n++) {
		uint32_t from = h->in.target[k];
		text_clear(&label);
		if (weak_is(left_out, from, id) || !heap_reference_label(&q->a->rules, from, id, true, &label))
			continue;
		const char *name = path_static_name(label.s);
		is_static = name != NULL;
		bool element = label.s[label.len - 1] == ']'; /* of which array says nothing */
		if (is_static || (!best.len && !element && heap_class_mirrored(h, from) == HEAP_NONE)) {
			text_clear(&best);
			text_add(&best, name ? name : label.s);
		}
	}
	if (!best.len)
		path_add_variable(h, id, &best);
	if (best.len)
		text_addf(to, "%s[]", best.s);
	text_release(&label);
	text_release(&best);
	return to->len > 0;
}

bool about_collection_common(struct text *name, const struct text *other)
{
	const char *dot = strrchr(name->s, '.'), *its = strrchr(other->s, '.');
	if (!strcmp(name->s, other->s))
		return true;
	size_t field = dot ? (size_t)(dot + 1 - name->s) : 0;
	if (strcmp(name->s + field, its ? its + 1 : other->s) != 0)
		return false;
	memmove(name->s, name->s + field, name->len - field + 1);
	name->len -= field;
	return true;
}
