/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_name.c - finds references by the names that people use: a field of a class, a field of an
 * object, or what one set of objects holds of another.
 */
#include "analysis/what_if/what_if.h"

#include "analysis/describe/describe.h"
#include "heap/classes.h"
#include "heap/roots.h"

/* --- a field ------------------------------------------------------------------------------------ */

static int add_named(void *context, uint32_t holder, uint32_t target, struct err *err)
{
	return what_if_edges_add(context, holder, target, err);
}

int what_if_edges_add_field(struct what_if_edges *to, const struct heap *h, uint32_t class,
    const char *field, bool all, unsigned *found, struct err *err)
{
	struct named_references n = { .field = field, .take = add_named, .context = to, .all = all };
	int code = inspect_named_of_class(&n, h, class, err);
	*found = n.several ? n.several : n.found;
	return code;
}

int what_if_edges_add_field_of(struct what_if_edges *to, const struct heap *h, uint32_t holder,
    const char *field, bool all, unsigned *found, struct err *err)
{
	struct named_references n = { .field = field, .take = add_named, .context = to, .all = all };
	int code = inspect_named_of_object(&n, h, holder, err);
	*found = n.several ? n.several : n.found;
	return code;
}

/* --- between sets ------------------------------------------------------------------------------- */

static int add_if(struct what_if_edges *to, const struct bits *targets, uint32_t holder, uint32_t target,
    struct err *err)
{
	return bits_get(targets, target) ? what_if_edges_add(to, holder, target, err) : 0;
}

static int add_from(struct what_if_edges *to, const struct heap *h, uint32_t holder,
    const struct bits *targets, struct err *err)
{
	struct implied_reference implied[HEAP_IMPLIED];
	const uint32_t *loaded;
	int code = 0;
	uint64_t end = adjacency_start(&h->out, holder + 1);
	for (uint64_t k = adjacency_start(&h->out, holder); !code && k < end; k++)
		code = add_if(to, targets, holder, h->out.target[k], err);
	for (unsigned i = heap_implied(h, holder, implied); !code && i-- > 0;)
		code = add_if(to, targets, holder, implied[i].target, err);
	for (uint32_t i = heap_loaded_classes(h, holder, &loaded); !code && i-- > 0;)
		if (h->classes[loaded[i]].object != HEAP_NONE)
			code = add_if(to, targets, holder, h->classes[loaded[i]].object, err);
	return code;
}

int what_if_edges_add_between(struct what_if_edges *to, const struct heap *h, const uint32_t *holders,
    size_t n_holders, const uint32_t *targets, size_t n_targets, struct err *err)
{
	struct bits wanted, from;
	int code = bits_init(&wanted, h->n_objects, err) | bits_init(&from, h->n_objects, err);
	code = code ? ERR_NOMEM : 0;
	for (size_t i = 0; !code && i < n_targets && !progress_own_stops(i); i++)
		bits_set(&wanted, targets[i]);
	for (size_t i = 0; !code && i < n_holders && !progress_own_stops(i); i++) {
		bits_set(&from, holders[i]);
		code = add_from(to, h, holders[i], &wanted, err);
	}
	for (size_t i = 0; !code && i < h->n_roots && !progress_own_stops(i); i++) { /* what a thread's stack holds */
		uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
		if (owner != HEAP_NONE && bits_get(&from, owner))
			code = add_if(to, &wanted, owner, h->roots[i].object, err);
	}
	bits_release(&wanted);
	bits_release(&from);
	return code;
}
