/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * declared_names.c - tells by which declared field or element an object holds another, and what all
 * fields of one name hold.
 */
#include "analysis/describe/declared.h"

#include "base/progress.h"
#include "heap/classes.h"
#include "heap/field_words.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

enum { CLASSES_DEEP = 1000 };

/* --- from a reference to its name --------------------------------------------------------------- */

void declared_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	n->open = values_open(&n->field.holder, h, holder, NULL) == 0;
}

static bool is_array(const struct reference_names *n)
{
	return !n->field.holder.is_class && n->field.holder.view.kind == OBJECT_ARRAY;
}

/* The next reference, null or not, and its place: the index of an element, else the field that is declared. */
static bool next_reference(struct reference_names *n, struct value *value, uint64_t *place)
{
	struct field_walk *walk = &n->field.walk;
	if (is_array(n)) {
		if (n->field.element >= values_length(&n->field.holder))
			return false;
		*place = n->field.element++;
		*value = values_element(&n->field.holder, *place);
		return true;
	}
	walk->values = &n->field.holder; /* the struct may have been copied */
	if (!values_next_reference(walk))
		return false;
	*place = (uintptr_t)walk->field;
	*value = walk->value;
	return true;
}

void declared_name_at(struct reference_names *n, uint64_t place, uint32_t target, struct text *to)
{
	(void)target;
	const struct values *holder = &n->field.holder;
	if (is_array(n)) {
		text_addf(to, "[%" PRIu64 "]", place);
		return;
	}
	text_add(to, holder->is_class ? "static " : "");
	field_word(holder->heap, holder->class, (const struct heap_field *)(uintptr_t)place, to);
}

bool declared_names_next(struct reference_names *n, uint32_t target, struct text *to)
{
	uint64_t address = heap_address(n->field.holder.heap, target), place;
	struct value value;
	while (next_reference(n, &value, &place)) {
		if (value.bits != address)
			continue;
		if (to)
			declared_name_at(n, place, target, to);
		return true;
	}
	return false;
}

bool declared_names_any(struct reference_names *n, uint32_t *target, uint64_t *place)
{
	struct value value;
	while (next_reference(n, &value, place)) {
		*target = value_object_id(n->field.holder.heap, &value);
		if (*target != HEAP_NONE)
			return true;
	}
	return false;
}

bool declared_field(const struct heap *h, uint32_t holder, uint32_t target, uint32_t *class,
    const char **field)
{
	struct values values;
	if (values_open(&values, h, holder, NULL))
		return false;
	for (struct field_walk w = { .values = &values }; values_next_field(&w);) {
		if (w.missing || w.value.type != VALUE_OBJECT || value_object_id(h, &w.value) != target)
			continue;
		*class = w.declared_in;
		*field = w.field->name;
		return true;
	}
	return false;
}

/* --- from a name to references: a field of all instances ---------------------------------------- */

/* Null and what leads to no object is no reference. */
static int take(const struct named_references *n, const struct heap *h, uint32_t holder,
    const struct value *value, struct err *err)
{
	uint32_t target = value_object_id(h, value);
	return target == HEAP_NONE ? 0 : n->take(n->context, holder, target, err);
}

/* Where instances of a class have the field that one of its superclasses, or it itself, declares or
 * inherits: what subclasses add comes first in a record.  False: it is no subclass. */
static bool place_in(const struct heap *h, uint32_t class, uint32_t super,
    const struct field_place *place, struct field_place *out)
{
	uint64_t below = 0;
	for (unsigned deep = 0; class != super; deep++) {
		if (class == HEAP_NONE || deep == CLASSES_DEEP)
			return false;
		const struct heap_class *c = &h->classes[class];
		below += c->fields_size;
		class = c->superclass;
	}
	*out = (struct field_place){ place->offset + below, place->type };
	return true;
}

static int take_instances(const struct named_references *n, const struct heap *h,
    const struct field_place *places, struct err *err)
{
	struct values values;
	struct value value;
	int code = 0;
	for (uint32_t id = 0; !code && id < h->n_objects && !progress_own_stops(16 * (uint64_t)id); id++) {
		const struct field_place *place = &places[heap_class_index(h, id)];
		if (place->type == VALUE_OBJECT && !values_open(&values, h, id, NULL) &&
		    values_at(&values, place, &value))
			code = take(n, h, id, &value, err);
	}
	return code;
}

/* Is it called so?  class: as in field_words.h. */
static bool is_named(const struct named_references *n, const struct heap *h, uint32_t class,
    const struct heap_field *field)
{
	return field->type == VALUE_OBJECT && (!strcmp(field->name, n->field) ||
	    (*n->field && field_word_begins(h, class, field, n->field) == strlen(n->field)));
}

static uint32_t count_named(const struct named_references *n, const struct heap *h, uint32_t class,
    const struct heap_field *field, uint32_t n_fields)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < n_fields; i++)
		found += is_named(n, h, class, &field[i]);
	return found;
}

/* Is it none, or the one that is meant?  Several are not, unless each is wanted. */
static bool is_one(struct named_references *n, uint32_t found)
{
	n->found |= found > 0;
	n->several = found > 1 && !n->all ? found : n->several;
	return found == 1 || (found && n->all);
}

static int take_static(
    struct named_references *n, const struct heap *h, uint32_t class, struct err *err)
{
	const struct heap_class *c = &h->classes[class];
	int code = 0;
	if (!is_one(n, count_named(n, h, class, c->statics, c->n_statics)) || c->object == HEAP_NONE)
		return 0;
	for (uint32_t i = 0; !code && i < c->n_statics; i++)
		if (is_named(n, h, class, &c->statics[i]))
			code = take(n, h, c->object, &(struct value){ VALUE_OBJECT, c->statics[i].value }, err);
	return code;
}

/* The class that declares the field meant, the class itself or a superclass, and how many bytes of a record come
 * before its own fields.  HEAP_NONE: there is none. */
static uint32_t declaring_class(const struct named_references *n, const struct heap *h, uint32_t class,
    uint64_t *before)
{
	uint32_t of = class;
	*before = 0;
	for (unsigned deep = 0; class != HEAP_NONE && deep < CLASSES_DEEP; deep++) {
		const struct heap_class *c = &h->classes[class];
		if (count_named(n, h, of, c->fields, c->n_fields))
			return class;
		*before += c->fields_size;
		class = c->superclass;
	}
	return HEAP_NONE;
}

/* What is at this place in all instances of the class and its subclasses. */
static int take_place(const struct named_references *n, const struct heap *h, uint32_t class,
    const struct field_place *place, struct field_place *places, struct err *err)
{
	for (uint32_t k = 0; k < h->n_classes && !progress_own_stops(k); k++)
		if (h->classes[k].kind != CLASS_PLAIN || !place_in(h, k, class, place, &places[k]))
			places[k] = (struct field_place){ .type = VALUE_BYTE };
	return take_instances(n, h, places, err);
}

int declared_named_of_class(
    struct named_references *n, const struct heap *h, uint32_t class, struct err *err)
{
	uint64_t at;
	int code = take_static(n, h, class, err);
	uint32_t declares = code ? HEAP_NONE : declaring_class(n, h, class, &at);
	const struct heap_class *c = declares == HEAP_NONE ? NULL : &h->classes[declares];
	if (!c || !is_one(n, count_named(n, h, class, c->fields, c->n_fields)))
		return code;
	struct field_place *places = big_alloc(h->n_classes, sizeof *places, err);
	if (!places)
		return ERR_NOMEM;
	for (uint32_t i = 0; !code && i < c->n_fields; i++) {
		struct field_place place = { at + c->fields[i].offset, VALUE_OBJECT };
		if (is_named(n, h, class, &c->fields[i]))
			code = take_place(n, h, class, &place, places, err);
	}
	big_free(places);
	return code;
}

/* --- from a name to references: a field of one object ------------------------------------------- */

static bool names_element(const char *field, uint64_t *index)
{
	if (field[0] != '[' || field[1] < '0' || field[1] > '9')
		return false;
	*index = 0;
	for (field++; *field >= '0' && *field <= '9' && *index < UINT64_C(1) << 40; field++)
		*index = 10 * *index + (uint64_t)(*field - '0');
	return !strcmp(field, "]");
}

/* The fields of that name that the object's own class declares, or the first superclass that does. */
static int take_fields(struct named_references *n, const struct heap *h, const struct values *values, struct err *err)
{
	uint32_t found = 0, class = HEAP_NONE;
	int code = 0;
	for (int taking = 0; !code && taking <= 1; taking++) {
		struct field_walk walk = { .values = values };
		while (!code && values_next_field(&walk)) {
			if (!is_named(n, h, values->class, walk.field) || (class != HEAP_NONE && walk.declared_in != class))
				continue;
			class = walk.declared_in;
			if (!taking)
				found++;
			else if (!walk.missing)
				code = take(n, h, values->id, &walk.value, err);
		}
		if (!taking && !is_one(n, found))
			break;
	}
	return code;
}

int declared_named_of_object(
    struct named_references *n, const struct heap *h, uint32_t holder, struct err *err)
{
	struct values values;
	uint64_t index = 0;
	int code = values_open(&values, h, holder, err);
	if (code)
		return code;
	if (!names_element(n->field, &index))
		return take_fields(n, h, &values, err);
	n->found = !values.is_class && values.view.kind == OBJECT_ARRAY && index < values_length(&values);
	struct value value = { .type = VALUE_OBJECT };
	if (n->found)
		value = values_element(&values, index);
	return n->found ? take(n, h, holder, &value, err) : 0;
}
