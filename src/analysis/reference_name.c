/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference_name.c - see reference_name.h. */
#include "analysis/reference_name.h"

#include <inttypes.h>

void reference_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	*n = (struct reference_names){ .open = false };
	n->open = values_open(&n->holder, h, holder, NULL) == 0;
	n->walk.values = &n->holder;
}

static bool next_field(struct reference_names *n, uint64_t address, struct text *to)
{
	n->walk.values = &n->holder; /* the struct may have been copied */
	while (values_next_field(&n->walk)) {
		if (n->walk.value.type != VALUE_OBJECT || n->walk.value.bits != address)
			continue;
		if (to)
			text_addf(to, "%s%s", n->holder.is_class ? "static " : "", n->walk.field->name);
		return true;
	}
	return false;
}

static bool next_element(struct reference_names *n, uint64_t address, struct text *to)
{
	uint64_t length = values_length(&n->holder);
	while (n->element < length) {
		uint64_t i = n->element++;
		if (values_element(&n->holder, i).bits != address)
			continue;
		if (to)
			text_addf(to, "[%" PRIu64 "]", i);
		return true;
	}
	return false;
}

bool reference_names_next(struct reference_names *n, uint32_t target, struct text *to)
{
	if (!n->open)
		return false;
	uint64_t address = heap_address(n->holder.heap, target);
	if (!n->holder.is_class && n->holder.view.kind == OBJECT_ARRAY)
		return next_element(n, address, to);
	return next_field(n, address, to);
}
