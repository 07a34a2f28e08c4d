/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_numbers.c - looks for a number where objects are memory: in all parts of typed values.
 */
#include "analysis/describe/memory.h"

#include "analysis/describe/inspector.h"
#include "base/progress.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdint.h>

static bool is_number(const struct type *t)
{
	return t->kind == TYPE_INT || t->kind == TYPE_UINT || t->kind == TYPE_UINTPTR || t->kind == TYPE_FLOAT;
}

/* Recursion over types, which are no deeper than TYPE_DEPTH; each is looked into once. */
static bool plan_type(struct number_plan *p, uint32_t type, bool *done, unsigned depth)
{
	const struct types *types = p->heap->dump->types;
	const struct type *t = &types->type[type];
	if (done[type] || !depth)
		return p->may[type];
	done[type] = true;
	if (t->kind == TYPE_STRUCT) {
		for (uint32_t i = 0; i < t->n_fields; i++) {
			bool may = plan_type(p, types_fields(types, t)[i].type, done, depth - 1);
			p->may[type] |= may;
		}
	} else if (t->kind == TYPE_ARRAY) {
		const struct type *element = &types->type[t->element];
		bool bytes = is_number(element) && element->size == 1;
		p->may[type] = t->size && !bytes && plan_type(p, t->element, done, depth - 1);
	} else {
		p->may[type] = is_number(t) && t->size && t->size <= 8;
	}
	return p->may[type];
}

int memory_plan(struct number_plan *p, struct err *err)
{
	const struct types *types = p->heap->dump->types;
	uint64_t n = types ? (uint64_t)types->n + 1 : 1;
	bool *done = big_alloc(n, sizeof *done, err);
	p->may = done ? big_alloc(n, sizeof *p->may, err) : NULL;
	for (uint32_t t = 0; p->may && types && t < types->n; t++)
		plan_type(p, t, done, 2 * TYPE_DEPTH);
	big_free(done);
	return p->may ? 0 : ERR_NOMEM;
}

/* Recursion as above. */
static int find_in(struct number_finder *f, uint32_t id, const struct typed *v, uint64_t base, unsigned depth,
    struct err *err)
{
	const struct types *types = v->heap->dump->types;
	const struct type *t = typed_type(v);
	struct typed part;
	int code = 0;
	if (!t || !depth || !f->plan->may[v->type])
		return 0;
	if (t->kind == TYPE_STRUCT) {
		for (uint32_t i = 0; !code && i < t->n_fields; i++) {
			const struct type_field *field = &types_fields(types, t)[i];
			if (typed_part(v, field->offset, field->type, &part))
				code = find_in(f, id, &part, base, depth - 1, err);
		}
	} else if (t->kind == TYPE_ARRAY) {
		for (uint64_t i = 0; !code && i < t->count; i++) {
			if (progress_own_stops(i))
				return err_cancelled(err);
			if (typed_part(v, i * types->type[t->element].size, t->element, &part))
				code = find_in(f, id, &part, base, depth - 1, err);
		}
	} else {
		struct any_value value = { .heap = v->heap, .memory = { .value = *v } };
		struct number n;
		if (memory_number(&value, &n) && sought_is(&f->sought, &n, (unsigned)t->size))
			code = f->found(f->context, id, v->address - base, n.bits, err);
	}
	return code;
}

int memory_find_number(struct number_finder *f, uint32_t id, struct err *err)
{
	const struct heap *h = f->plan->heap;
	uint32_t type = heap_class_of(h, id)->type;
	struct typed_object o;
	int code = 0;
	if (type == TYPE_NONE || !f->plan->may[type] || !typed_open_along(&o, h, id, &f->view) || !typed_type(&o.value) ||
	    (o.array && is_number(typed_type(&o.value)) && o.stride == 1))
		return 0;
	for (uint64_t i = 0; !code && i < o.count && o.stride; i++) {
		struct typed element = typed_element(&o, i);
		if (progress_own_stops(i))
			return err_cancelled(err);
		code = find_in(f, id, &element, o.value.address, 2 * TYPE_DEPTH, err);
	}
	return code;
}

void memory_number_place(const struct heap *h, uint32_t id, uint64_t place, struct text *to)
{
	struct typed_object o;
	if (typed_open(&o, h, id) && !memory_add_entry(&o, place, to))
		typed_path(&o, place, to);
}
