/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * declared_numbers.c - looks for a number where classes declare fields.
 *
 * The fields of an object are read class by class upwards as far as its record reaches.  Classes that
 * declare no field are passed over, so that no chain of superclasses takes longer than the record.
 */
#include "analysis/describe/declared.h"

#include "base/progress.h"
#include "heap/classes.h"
#include "heap/field_words.h"
#include "memory/big.h"

#include <inttypes.h>

#define STATIC_PLACE (UINT64_C(1) << 63) /* as place: number of a static field */

static bool is_number(enum value_type type)
{
	return type != VALUE_OBJECT && type != VALUE_BOOLEAN && type != VALUE_CHAR;
}

/* An array of bytes or characters is a text, mostly. */
static bool is_numbers_array(const struct heap_class *c)
{
	return c->kind == CLASS_PRIMITIVE_ARRAY && c->element_size > 1 && c->name[0] != 'c';
}

static bool has_own_numbers(const struct heap_class *c)
{
	for (uint32_t i = 0; i < c->n_fields; i++) {
		if (is_number(c->fields[i].type))
			return true;
	}
	return is_numbers_array(c);
}

/* Superclasses first: up a chain until a class that is done, then down again.  Chains in a circle end. */
static int plan_chain(struct number_plan *p, uint32_t class, bool *done, uint32_t *chain)
{
	const struct heap *h = p->heap;
	uint32_t n = 0;
	for (uint32_t c = class; c != HEAP_NONE && !done[c]; c = h->classes[c].superclass) {
		done[c] = true;
		chain[n++] = c;
	}
	while (n-- > 0) {
		const struct heap_class *c = &h->classes[chain[n]];
		uint32_t above = c->superclass;
		p->next[chain[n]] = above == HEAP_NONE || h->classes[above].n_fields ? above : p->next[above];
		p->may[chain[n]] = has_own_numbers(c) || (above != HEAP_NONE && p->may[above]);
		if (progress_own_stops(n))
			return ERR_CANCELLED;
	}
	return 0;
}

int declared_plan(struct number_plan *p, struct err *err)
{
	const struct heap *h = p->heap;
	uint64_t n = (uint64_t)h->n_classes + 1;
	bool *done = big_alloc(n, sizeof *done, err);
	uint32_t *chain = done ? big_alloc(n, sizeof *chain, err) : NULL;
	p->may = chain ? big_alloc(n, sizeof *p->may, err) : NULL;
	p->next = p->may ? big_alloc(n, sizeof *p->next, err) : NULL;
	int code = p->next ? 0 : ERR_NOMEM;
	for (uint32_t c = 0; !code && c < h->n_classes; c++)
		p->next[c] = HEAP_NONE;
	for (uint32_t c = 0; !code && c < h->n_classes; c++)
		code = plan_chain(p, c, done, chain);
	big_free(done);
	big_free(chain);
	return code == ERR_CANCELLED ? err_cancelled(err) : code;
}

static bool is_sought(const struct number_finder *f, const struct value *value, uint64_t *bits)
{
	struct any_value v = { .heap = f->plan->heap, .field = { .value = *value } };
	struct number n;
	if (!is_number(value->type) || !declared_number(&v, &n))
		return false;
	*bits = n.bits;
	return sought_is(&f->sought, &n, values_size_of(f->plan->heap, value->type));
}

static int find_statics(struct number_finder *f, uint32_t id, uint32_t class, struct err *err)
{
	const struct heap_class *c = &f->plan->heap->classes[class];
	uint64_t bits;
	int code = 0;
	for (uint32_t i = 0; !code && i < c->n_statics; i++) {
		struct value value = { c->statics[i].type, c->statics[i].value };
		if (is_sought(f, &value, &bits))
			code = f->found(f->context, id, STATIC_PLACE | i, bits, err);
	}
	return code;
}

static int find_fields(struct number_finder *f, const struct values *v, struct err *err)
{
	const struct heap *h = f->plan->heap;
	uint64_t below = 0, bits;
	int code = 0;
	for (uint32_t c = v->class, steps = 0; c != HEAP_NONE && below < v->view.n_bytes && steps <= h->n_classes;
	     c = f->plan->next[c], steps++) {
		const struct heap_class *class = &h->classes[c];
		for (uint32_t i = 0; !code && i < class->n_fields && below + class->fields[i].offset < v->view.n_bytes; i++) {
			struct field_place place = { below + class->fields[i].offset, class->fields[i].type };
			struct value value;
			if (is_number(place.type) && values_at(v, &place, &value) && is_sought(f, &value, &bits))
				code = f->found(f->context, v->id, place.offset, bits, err);
		}
		below += class->fields_size;
	}
	return code;
}

static int find_elements(struct number_finder *f, const struct values *v, struct err *err)
{
	uint64_t n = values_length(v), bits;
	int code = 0;
	for (uint64_t i = 0; !code && i < n; i++) {
		struct value value = values_element(v, i);
		if (progress_own_stops(i))
			code = err_cancelled(err);
		else if (is_sought(f, &value, &bits))
			code = f->found(f->context, v->id, i, bits, err);
	}
	return code;
}

int declared_find_number(struct number_finder *f, uint32_t id, struct err *err)
{
	const struct heap *h = f->plan->heap;
	uint32_t mirrored = heap_class_mirrored(h, id);
	struct values v;
	if (mirrored != HEAP_NONE)
		return find_statics(f, id, mirrored, err);
	if (!f->plan->may[heap_class_index(h, id)] || values_open_along(&v, h, id, &f->view, NULL))
		return 0;
	return v.view.kind == OBJECT_INSTANCE ? find_fields(f, &v, err) : find_elements(f, &v, err);
}

void declared_number_place(const struct heap *h, uint32_t id, uint64_t place, struct text *to)
{
	struct values v;
	if (place & STATIC_PLACE) {
		const struct heap_class *c = &h->classes[heap_class_mirrored(h, id)];
		text_add(to, "static ");
		field_word(h, heap_class_mirrored(h, id), &c->statics[place & ~STATIC_PLACE], to);
		return;
	}
	if (values_open(&v, h, id, NULL))
		return;
	if (v.view.kind != OBJECT_INSTANCE) {
		text_addf(to, "[%" PRIu64 "]", place);
		return;
	}
	struct field_walk w = { .values = &v };
	bool more = true;
	while ((more = values_next_field(&w)) && w.offset != place)
		continue;
	if (more)
		field_word(h, v.class, w.field, to);
}
