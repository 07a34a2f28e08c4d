/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * declared_fields.c - the fields that objects share where classes declare them.
 *
 * A record begins with the fields of the object's own class; those of the class that all are instances
 * of lie behind the ones of the classes below it, whose bytes are counted once for each class.
 */
#include "analysis/describe/declared.h"

#include "algorithms/bits.h"
#include "base/mem.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct declared_fields {
	struct shared_fields base;
	struct declared_shared {
		const struct heap_field *field;
		uint32_t declared_in;
		uint64_t offset; /* from the shared class's first field */
	} *field;            /* big memory */
	size_t cap;
	uint32_t shared;     /* class index; HEAP_NONE: none */
	struct below {
		uint32_t class;
		uint64_t bytes;  /* of fields of the classes from it on that are below the shared one */
	} *below;            /* big memory, in the order in which the classes were met */
	size_t n_below, cap_below;
	uint32_t *place;     /* of a class in below, where there are several; big memory, by class index */
};

bool declared_number(const struct any_value *v, struct number *out)
{
	const struct value *value = &v->field.value;
	float narrow;
	double wide;
	uint32_t bits = (uint32_t)value->bits;
	switch (value->type) {
	case VALUE_BOOLEAN:
		*out = (struct number){ NUMBER_FLAG, value->bits != 0 };
		return true;
	case VALUE_BYTE: case VALUE_SHORT: case VALUE_INT: case VALUE_LONG:
		*out = (struct number){ NUMBER_SIGNED, value->bits };
		return true;
	case VALUE_FLOAT:
		memcpy(&narrow, &bits, sizeof narrow);
		wide = (double)narrow;
		*out = (struct number){ .kind = NUMBER_REAL };
		memcpy(&out->bits, &wide, sizeof wide);
		return true;
	case VALUE_DOUBLE:
		*out = (struct number){ NUMBER_REAL, value->bits };
		return true;
	case VALUE_CHAR: case VALUE_OBJECT:
		break;
	}
	return false;
}

static enum number_kind kind_of(enum value_type type)
{
	struct number n = { .kind = NO_NUMBER };
	struct any_value v = { .field = { .value = { .type = type } } };
	declared_number(&v, &n);
	return n.kind;
}

/* --- the class that all share ------------------------------------------------------------------- */

/* The classes of the objects, each once.  ERR_USAGE: too many. */
static int find_classes(struct declared_fields *f, const uint32_t *ids, size_t n, struct err *err)
{
	const struct heap *h = f->base.heap;
	struct bits seen;
	int code = bits_init(&seen, h->n_classes, err);
	for (size_t i = 0; !code && i < n; i++) {
		uint32_t class = heap_class_index(h, ids[i]);
		if (progress_own_stops(8 * i))
			code = err_cancelled(err);
		if (bits_get(&seen, class))
			continue;
		bits_set(&seen, class);
		struct below *to = f->n_below < SHARED_CLASSES_MOST
		    ? BIG_PUSH(f->below, f->n_below, f->cap_below, err) : NULL;
		if (to)
			*to = (struct below){ .class = class };
		else
			code = f->n_below < SHARED_CLASSES_MOST ? ERR_NOMEM : ERR_USAGE;
	}
	bits_release(&seen);
	return code;
}

/* Superclass of a class that is not deeper than there are classes. */
static uint32_t up(const struct heap *h, uint32_t class, uint32_t *steps)
{
	return ++*steps > h->n_classes ? HEAP_NONE : h->classes[class].superclass;
}

static uint32_t nearest_shared(const struct heap *h, uint32_t a, uint32_t b, struct bits *above)
{
	uint32_t steps = 0;
	memset(above->word, 0, (above->n + 63) / 64 * sizeof *above->word);
	for (uint32_t c = a; c != HEAP_NONE; c = up(h, c, &steps))
		bits_set(above, c);
	steps = 0;
	while (b != HEAP_NONE && !bits_get(above, b))
		b = up(h, b, &steps);
	return b;
}

static int find_shared(struct declared_fields *f, struct err *err)
{
	const struct heap *h = f->base.heap;
	struct bits above;
	int code = bits_init(&above, h->n_classes, err);
	f->shared = f->below[0].class;
	for (size_t i = 1; !code && i < f->n_below && f->shared != HEAP_NONE; i++)
		f->shared = nearest_shared(h, f->shared, f->below[i].class, &above);
	bits_release(&above);
	if (f->shared == HEAP_NONE || h->classes[f->shared].kind != CLASS_PLAIN ||
	    f->shared == h->java_lang_class)
		f->shared = HEAP_NONE;
	return code;
}

static int count_below(struct declared_fields *f, struct err *err)
{
	const struct heap *h = f->base.heap;
	if (f->n_below > 1 && !(f->place = big_alloc(h->n_classes, sizeof *f->place, err)))
		return ERR_NOMEM;
	for (size_t i = 0; i < f->n_below; i++) {
		struct below *b = &f->below[i];
		uint32_t steps = 0;
		for (uint32_t c = b->class; c != f->shared && c != HEAP_NONE; c = up(h, c, &steps))
			b->bytes += h->classes[c].fields_size;
		if (f->place)
			f->place[b->class] = (uint32_t)i;
		if (progress_own_stops(i))
			return err_cancelled(err);
	}
	return 0;
}

static int take_fields(struct declared_fields *f, struct err *err)
{
	const struct heap *h = f->base.heap;
	uint32_t steps = 0;
	uint64_t below = 0;
	for (uint32_t class = f->shared; class != HEAP_NONE; class = up(h, class, &steps)) {
		const struct heap_class *c = &h->classes[class];
		for (uint32_t i = 0; i < c->n_fields; i++) {
			if (f->base.n == SHARED_FIELDS_MOST) {
				f->base.more = true;
				return 0;
			}
			struct declared_shared *to = BIG_PUSH(f->field, f->base.n, f->cap, err);
			if (!to)
				return ERR_NOMEM;
			*to = (struct declared_shared){ &c->fields[i], class, below + c->fields[i].offset };
		}
		below += c->fields_size;
	}
	return 0;
}

int declared_fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids, size_t n,
    struct err *err)
{
	struct declared_fields *f = xcalloc(1, sizeof *f);
	f->base = (struct shared_fields){ .inspector = &declared_inspector, .heap = h };
	f->shared = HEAP_NONE;
	int code = find_classes(f, ids, n, err);
	if (!code)
		code = find_shared(f, err);
	if (!code && f->shared != HEAP_NONE) {
		code = count_below(f, err);
		if (!code)
			code = take_fields(f, err);
	}
	if (code == ERR_USAGE) /* so many classes have nothing in common */
		code = 0;
	if (code)
		declared_fields_close(&f->base);
	else
		*out = &f->base;
	return code;
}

void declared_fields_close(struct shared_fields *fields)
{
	struct declared_fields *f = (struct declared_fields *)fields;
	big_free(f->field);
	big_free(f->below);
	big_free(f->place);
	free(f);
}

/* --- a field, a value --------------------------------------------------------------------------- */

void declared_field_named(const struct shared_fields *fields, size_t i, struct shared_field *out)
{
	const struct declared_fields *f = (const struct declared_fields *)fields;
	const struct declared_shared *field = &f->field[i];
	*out = (struct shared_field){ .name = field->field->name, .declared_in = field->declared_in,
		.kind = kind_of(field->field->type), .field = field->field, .shared = f->shared };
}

bool declared_field_value(const struct shared_fields *fields, struct fields_walk *w, uint32_t id,
    size_t i, struct any_value *out)
{
	const struct declared_fields *f = (const struct declared_fields *)fields;
	const struct heap *h = fields->heap;
	if (w->id != id) {
		w->id = id;
		w->open = !values_open_along(&w->field, h, id, &w->view, NULL);
	}
	size_t at = f->place ? f->place[heap_class_index(h, id)] : 0;
	struct field_place place = { f->field[i].offset + f->below[at].bytes, f->field[i].field->type };
	*out = (struct any_value){ .heap = h, .field = { .declared = value_type_name(place.type) } };
	return w->open && values_at(&w->field, &place, &out->field.value);
}
