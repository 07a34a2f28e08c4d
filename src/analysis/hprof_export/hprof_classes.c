/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_classes.c - class records: what a class object holds, and the fields of its instances.
 *
 * What the reader of HPROF calls <signers>, <protection_domain> and <constant> goes back to where it was.
 */
#include "analysis/hprof_export/hprof_writing.h"

#include "algorithms/sort.h"
#include "memory/big.h"

#include <string.h>

/* --- what a class object holds ------------------------------------------------------------------ */

struct held {
	uint64_t signers, domain;
	size_t n_statics, n_constants; /* of w->values, in this order */
};

static int add_value(struct hprof_writing *w, uint64_t name, enum value_type type, uint64_t bits)
{
	return BIG_ADD(w->values, w->n_values, w->cap_values, w->err,
	    (struct class_value){(uint32_t)name, type, bits});
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Of the references of a class object those that none of its fields has: one field, one reference. */
static int find_unnamed(struct hprof_writing *w, const struct heap_class *c)
{
	const struct heap *h = w->h;
	uint64_t *fields = big_alloc(c->n_statics, sizeof *fields, w->err);
	size_t n_fields = 0, k = 0, kept = 0;

	w->n_targets = 0;
	if (!fields)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < c->n_statics; i++)
		if (c->statics[i].type == VALUE_OBJECT && c->statics[i].value)
			fields[n_fields++] = c->statics[i].value;
	int code = sort(fields, n_fields, sizeof *fields, by_number, w->err);
	uint64_t start = adjacency_start(&h->out, c->object), end = start + adjacency_degree(&h->out, c->object);
	for (uint64_t i = start; i < end && !code; i++)
		code = BIG_ADD(w->targets, w->n_targets, w->cap_targets, w->err, heap_address(h, h->out.target[i]));
	if (!code && n_fields) {
		code = sort(w->targets, w->n_targets, sizeof *w->targets, by_number, w->err);
		for (size_t i = 0; i < w->n_targets && !code; i++) {
			while (k < n_fields && fields[k] < w->targets[i])
				k++;
			if (k < n_fields && fields[k] == w->targets[i])
				k++;
			else
				w->targets[kept++] = w->targets[i];
		}
		w->n_targets = kept;
	}
	big_free(fields);
	return code;
}

/* MAT takes the static fields for the size of a class object. */
static int invent_numbers(struct hprof_writing *w, const struct heap_class *c)
{
	uint64_t references = w->n_values * hprof_mat_reference(&w->plan);
	uint32_t n = c->object == HEAP_NONE ? 0 : hprof_numbers(heap_shallow(w->h, c->object), references);
	int code = 0;

	for (uint32_t i = 0; i < (n + 7) / 8 && w->n_values < HPROF_FIELDS_MOST && !code; i++)
		code = add_value(w, hprof_invented_name(w, true, i), i < n / 8 ? VALUE_LONG : VALUE_INT, 0);
	return code;
}

/* Static fields from the class's own, then what is unnamed; what has no place among them are constants. */
static int gather(struct hprof_writing *w, const struct heap_class *c, struct held *to)
{
	static const enum value_type reference = VALUE_OBJECT;
	int code = 0;

	*to = (struct held){.signers = 0};
	w->n_values = 0;
	for (uint32_t i = 0; i < c->n_statics && !code; i++) {
		const struct heap_field *f = &c->statics[i];
		if (!to->signers && !strcmp(f->name, "<signers>"))
			to->signers = f->value;
		else if (!to->domain && !strcmp(f->name, "<protection_domain>"))
			to->domain = f->value;
		else if (strcmp(f->name, "<constant>") && w->n_values < HPROF_FIELDS_MOST)
			code = add_value(w, hprof_text_id(w, f->name, true), f->type,
			    f->type != VALUE_OBJECT && hprof_left_out(w) == REDACT_ALL ? 0 : f->value);
	}
	if (!code && c->object != HEAP_NONE)
		code = find_unnamed(w, c);
	else
		w->n_targets = 0;
	size_t k = 0;
	for (; k < w->n_targets && w->n_values < HPROF_FIELDS_MOST && !code; k++)
		code = add_value(w, hprof_invented_name(w, false, (uint32_t)k), reference, w->targets[k]);
	if (!code && !w->plan.values)
		code = invent_numbers(w, c);
	to->n_statics = w->n_values;
	for (uint32_t i = 0; i < c->n_statics && !code && w->n_values - to->n_statics < HPROF_FIELDS_MOST; i++)
		if (!strcmp(c->statics[i].name, "<constant>"))
			code = add_value(w, 0, reference, c->statics[i].value);
	for (; k < w->n_targets && w->n_values - to->n_statics < HPROF_FIELDS_MOST && !code; k++)
		code = add_value(w, 0, reference, w->targets[k]);
	to->n_constants = w->n_values - to->n_statics;
	if (!code)
		w->done->references_lost += w->n_targets - k;
	return code;
}

/* --- fields of instances ------------------------------------------------------------------------ */

static uint32_t n_fields(const struct hprof_writing *w, uint32_t class)
{
	const struct heap_class *c = &w->h->classes[class];
	uint32_t n = w->plan.values ? c->n_fields : hprof_invented(&w->plan.classes[class]);
	return n < HPROF_FIELDS_MOST ? n : HPROF_FIELDS_MOST;
}

/* Name and type of field i of those that the class itself has in the file. */
static uint64_t field(struct hprof_writing *w, uint32_t class, uint32_t i, enum value_type *type)
{
	const struct heap_class *c = &w->h->classes[class];
	const struct class_plan *p = &w->plan.classes[class];

	if (w->plan.values) {
		*type = c->fields[i].type;
		return hprof_text_id(w, c->fields[i].name, true);
	}
	if (p->referent && i + 1 == hprof_invented(p)) {
		*type = VALUE_OBJECT;
		return hprof_text_id(w, "referent", true);
	}
	uint32_t number = i < p->refs ? i : i - p->refs;
	*type = i < p->refs ? VALUE_OBJECT : number < p->numbers / 8 ? VALUE_LONG : VALUE_INT;
	return hprof_invented_name(w, i >= p->refs, number);
}

/* --- the record --------------------------------------------------------------------------------- */

int hprof_class_texts(struct hprof_writing *w, uint32_t class)
{
	struct held held;
	enum value_type type;
	uint64_t lost = w->done->references_lost;
	int code = gather(w, &w->h->classes[class], &held);

	w->done->references_lost = lost; /* counted when they are written */
	for (uint32_t i = 0; i < n_fields(w, class) && !code; i++)
		code = field(w, class, i, &type) ? 0 : ERR_NOMEM;
	return code;
}

/* As the dump has it where it is true, with the header; else the bytes of all fields, as HotSpot writes it. */
static uint32_t instance_size(const struct hprof_writing *w, uint32_t class)
{
	const struct heap_class *c = &w->h->classes[class];
	uint64_t size = c->kind != CLASS_PLAIN ? 0 : w->h->facts.has_instance_sizes ||
	    w->h->facts.size_rule == SIZES_RECORDED ? c->instance_size : w->plan.classes[class].bytes;
	return size <= UINT32_MAX ? (uint32_t)size : 0;
}

/* 0 is the boot loader: of a class whose loader the dump lacks it is an identifier of no object. */
static uint64_t loader_of(struct hprof_writing *w, const struct heap_class *c)
{
	if (c->loader != HEAP_NONE)
		return heap_address(w->h, c->loader);
	if (c->loader_lost && !w->lost_loader)
		w->lost_loader = hprof_make_id(&w->plan);
	return c->loader_lost ? w->lost_loader : 0;
}

static uint64_t record_size(const struct hprof_writing *w, uint32_t class, const struct held *held)
{
	uint64_t n = 7 * w->out.ids + 4 + 4 + 3 * 2 + held->n_constants * (3 + w->out.ids) +
	    (uint64_t)n_fields(w, class) * (w->out.ids + 1);
	for (size_t i = 0; i < held->n_statics; i++)
		n += w->out.ids + 1 + hprof_width(&w->plan, w->values[i].type);
	return n;
}

int hprof_write_class(struct hprof_writing *w, uint32_t class)
{
	const struct heap_class *c = &w->h->classes[class];
	uint32_t super = w->plan.classes[class].super;
	struct hprof_out *o = &w->out;
	struct held held;
	enum value_type type;
	int code = gather(w, c, &held);

	if (code)
		return code;
	hprof_begin_sub(o, SUB_CLASS, record_size(w, class, &held));
	hprof_put_id(o, w->plan.classes[class].id);
	hprof_put_number(o, EMPTY_TRACE, 4);
	hprof_put_id(o, super == HEAP_NONE ? 0 : w->plan.classes[super].id);
	hprof_put_id(o, loader_of(w, c));
	hprof_put_id(o, held.signers);
	hprof_put_id(o, held.domain);
	hprof_put_zeros(o, 2 * o->ids);
	hprof_put_number(o, instance_size(w, class), 4);
	hprof_put_number(o, held.n_constants, 2);
	for (size_t i = 0; i < held.n_constants; i++) {
		hprof_put_number(o, i, 2);
		hprof_put_number(o, VALUE_OBJECT, 1);
		hprof_put_id(o, w->values[held.n_statics + i].bits);
	}
	hprof_put_number(o, held.n_statics, 2);
	for (size_t i = 0; i < held.n_statics; i++) {
		const struct class_value *v = &w->values[i];
		hprof_put_id(o, v->name);
		hprof_put_number(o, v->type, 1);
		hprof_put_number(o, v->bits, hprof_width(&w->plan, v->type));
	}
	hprof_put_number(o, n_fields(w, class), 2);
	for (uint32_t i = 0; i < n_fields(w, class); i++) {
		hprof_put_id(o, field(w, class, i, &type));
		hprof_put_number(o, type, 1);
	}
	return 0;
}
