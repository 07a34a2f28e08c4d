/* SPDX-License-Identifier: GPL-3.0-or-later */
/* value.c - fields and elements out of the bytes of a record; see value.h. */
#include "heap/value.h"

#include "heap/classes.h"

#include <string.h>

bool values_held(const struct heap *h)
{
	return h->places != NULL;
}

bool values_whole(const struct heap *h)
{
	return values_held(h) && !h->facts.redacted;
}

bool values_of_fields(const struct heap *h)
{
	return values_held(h) && h->facts.redacted != REDACT_ALL;
}

bool values_away(const struct heap *h)
{
	return h->facts.values == VALUES_AWAY;
}

unsigned values_size_of(const struct heap *h, enum value_type type)
{
	switch (type) {
	case VALUE_BOOLEAN: case VALUE_BYTE: return 1;
	case VALUE_CHAR: case VALUE_SHORT: return 2;
	case VALUE_FLOAT: case VALUE_INT: return 4;
	case VALUE_DOUBLE: case VALUE_LONG: return 8;
	case VALUE_OBJECT: break;
	}
	return h->facts.reference_bytes ? h->facts.reference_bytes : h->facts.word_bits / 8;
}

/* n bytes (1 to 8) as an unsigned number, in the dump's byte order. */
static uint64_t load(const uint8_t *p, unsigned n, bool big_endian)
{
	uint64_t bits = 0;
	for (unsigned i = 0; i < n; i++)
		bits = bits << 8 | p[big_endian ? i : n - 1 - i];
	return bits;
}

static struct value load_value(const struct heap *h, const uint8_t *p, enum value_type type)
{
	uint64_t bits = load(p, values_size_of(h, type), h->facts.big_endian);
	if (type == VALUE_OBJECT)
		bits <<= h->facts.reference_shift;
	else if (type == VALUE_BYTE)
		bits = (uint64_t)(int64_t)(int8_t)bits;
	else if (type == VALUE_SHORT)
		bits = (uint64_t)(int64_t)(int16_t)bits;
	else if (type == VALUE_INT)
		bits = (uint64_t)(int64_t)(int32_t)bits;
	return (struct value){ type, bits };
}

int values_open(struct values *out, const struct heap *h, uint32_t id, struct err *err)
{
	return values_open_along(out, h, id, &(struct view_walk){ 0 }, err);
}

int values_open_along(struct values *out, const struct heap *h, uint32_t id, struct view_walk *walk,
    struct err *err)
{
	uint32_t mirrored = heap_class_mirrored(h, id);
	*out = (struct values){
		.heap = h,
		.id = id,
		.class = mirrored == HEAP_NONE ? heap_class_index(h, id) : mirrored,
		.is_class = mirrored != HEAP_NONE,
	};
	out->as = out->class;
	if (!h->places && !(out->is_class && values_away(h))) /* the heap may not even have a dump (tests) */
		return heap_holds_no_values(h, err);
	return out->is_class ? 0 : heap_view_along(h, id, walk, &out->view, err);
}

/* --- fields ------------------------------------------------------------------------------------- */

/* Zeros that stand where a copy leaves values out mean nothing. */
static bool is_left_out(const struct heap *h, enum value_type type)
{
	return h->facts.redacted == REDACT_ALL && type != VALUE_OBJECT;
}

/* A record may be shorter than its class has it. */
static bool holds(const struct values *v, uint64_t offset, enum value_type type)
{
	return offset <= v->view.n_bytes && values_size_of(v->heap, type) <= v->view.n_bytes - offset;
}

static bool next_static(struct field_walk *w)
{
	const struct heap_class *c = &w->values->heap->classes[w->values->class];
	if (w->next == c->n_statics)
		return false;
	w->field = &c->statics[w->next++];
	w->declared_in = w->values->class;
	w->value = (struct value){ w->field->type, w->field->value };
	w->missing = is_left_out(w->values->heap, w->field->type);
	return true;
}

/* Up to the next class that declares a field; a chain that runs in a circle ends after as many steps
 * as there are classes. */
static bool climb(struct field_walk *w, const struct heap *h)
{
	while (w->class != HEAP_NONE && w->next == h->classes[w->class].n_fields) {
		w->below += h->classes[w->class].fields_size;
		w->class = h->classes[w->class].superclass;
		w->next = 0;
		if (++w->classes_seen > h->n_classes)
			return false;
	}
	return w->class != HEAP_NONE;
}

static void begin(struct field_walk *w)
{
	w->begun = true;
	w->class = w->values->class;
}

/* Where offsets count from the object's beginning (OpenJ9), references of the superclass come first. */
static bool superclass_first(const struct heap *h, uint32_t class)
{
	uint32_t seen = 0;
	while (class != HEAP_NONE && !h->classes[class].n_fields && seen++ < h->n_classes)
		class = h->classes[class].superclass;
	return class != HEAP_NONE && h->classes[class].n_fields && !h->classes[class].fields_size;
}

/* Down to the next class that declares a field: the one whose superclass is w->class, HEAP_NONE at first. */
static bool descend(struct field_walk *w, const struct heap *h)
{
	enum { DEEP = 1000 };
	while (w->class == HEAP_NONE || w->next == h->classes[w->class].n_fields) {
		uint32_t class = w->values->class, deep = 0;
		if (w->class == class)
			return false;
		while (h->classes[class].superclass != w->class && h->classes[class].superclass != HEAP_NONE && deep++ < DEEP)
			class = h->classes[class].superclass;
		if (h->classes[class].superclass != w->class)
			return false;
		w->class = class;
		w->next = 0;
	}
	return true;
}

static void take_field(struct field_walk *w)
{
	const struct values *v = w->values;
	const struct heap *h = v->heap;
	w->field = &h->classes[w->class].fields[w->next++];
	w->declared_in = w->class;
	w->offset = w->below + w->field->offset;
	w->missing = !holds(v, w->offset, w->field->type) || is_left_out(h, w->field->type);
	w->value = w->missing ? (struct value){ w->field->type, 0 }
	                      : load_value(h, v->view.bytes + w->offset, w->field->type);
}

bool values_next_field(struct field_walk *w)
{
	const struct values *v = w->values;
	const struct heap *h = v->heap;
	if (!w->begun)
		begin(w);
	if (v->is_class)
		return next_static(w);
	if (v->view.kind != OBJECT_INSTANCE || !climb(w, h))
		return false;
	take_field(w);
	return true;
}

bool values_next_reference(struct field_walk *w)
{
	const struct values *v = w->values;
	bool down = !v->is_class && v->view.kind == OBJECT_INSTANCE && superclass_first(v->heap, v->class);
	if (down && !w->begun) {
		begin(w);
		w->class = HEAP_NONE;
	}
	for (;;) {
		if (down ? !descend(w, v->heap) : !values_next_field(w))
			return false;
		if (down)
			take_field(w);
		if (w->value.type == VALUE_OBJECT)
			return true;
	}
}

/* The first class from the object's own upwards that is the one (or has the name). */
static bool view_as(struct values *v, uint32_t class, const char *name)
{
	const struct heap *h = v->heap;
	uint32_t at = v->class;
	uint64_t offset = 0;
	for (uint32_t seen = 0; at != HEAP_NONE && seen <= h->n_classes; seen++) {
		if (at == class || (name && !strcmp(h->classes[at].name, name))) {
			v->as = at;
			v->as_offset = offset;
			return true;
		}
		offset += h->classes[at].fields_size;
		at = h->classes[at].superclass;
	}
	return false;
}

bool values_as(struct values *v, uint32_t class)
{
	return view_as(v, class, NULL);
}

bool values_as_named(struct values *v, const char *class)
{
	return view_as(v, HEAP_NONE, class);
}

static bool static_field(const struct heap *h, const struct heap_class *c, const char *name, struct value *out)
{
	for (uint32_t i = 0; i < c->n_statics; i++) {
		if (!strcmp(c->statics[i].name, name)) {
			*out = (struct value){ c->statics[i].type, c->statics[i].value };
			return !is_left_out(h, out->type);
		}
	}
	return false;
}

/* A field that begins before so many bytes: a record may be shorter than its class has it. */
static bool find_place(const struct heap *h, uint32_t class, const char *name, uint64_t most,
    struct field_place *out)
{
	uint64_t below = 0;
	for (uint32_t seen = 0; class != HEAP_NONE && seen <= h->n_classes && below < most; seen++) {
		const struct heap_class *c = &h->classes[class];
		for (uint32_t i = 0; i < c->n_fields && below + c->fields[i].offset < most; i++) {
			if (!strcmp(c->fields[i].name, name)) {
				*out = (struct field_place){ below + c->fields[i].offset, c->fields[i].type };
				return true;
			}
		}
		below += c->fields_size;
		class = c->superclass;
	}
	return false;
}

bool values_field(const struct values *v, const char *name, struct value *out)
{
	struct field_place place;
	if (v->is_class)
		return static_field(v->heap, &v->heap->classes[v->class], name, out);
	uint64_t left = v->view.n_bytes > v->as_offset ? v->view.n_bytes - v->as_offset : 0;
	if (!find_place(v->heap, v->as, name, left, &place))
		return false;
	place.offset += v->as_offset;
	return values_at(v, &place, out);
}

bool values_place(const struct heap *h, uint32_t class, const char *name, struct field_place *out)
{
	return find_place(h, class, name, UINT64_MAX, out);
}

bool values_at(const struct values *v, const struct field_place *place, struct value *out)
{
	if (v->is_class || v->view.kind != OBJECT_INSTANCE || !holds(v, place->offset, place->type) ||
	    is_left_out(v->heap, place->type))
		return false;
	*out = load_value(v->heap, v->view.bytes + place->offset, place->type);
	return true;
}

/* --- statics ------------------------------------------------------------------------------------ */

uint32_t values_class_named(const struct heap *h, const char *name)
{
	uint32_t found = HEAP_NONE;
	for (uint32_t c = 0; c < h->n_defined_classes; c++) {
		if (strcmp(h->classes[c].name, name))
			continue;
		if (heap_class_has_no_loader(&h->classes[c]) ||
		    (h->boot_loader != HEAP_NONE && h->classes[c].loader == h->boot_loader))
			return c;
		if (found == HEAP_NONE)
			found = c;
	}
	return found;
}

bool values_static(const struct heap *h, const char *class, const char *field, struct value *out)
{
	uint32_t index = values_class_named(h, class);
	if (index == HEAP_NONE)
		return false;
	return static_field(h, &h->classes[index], field, out);
}

/* --- elements ----------------------------------------------------------------------------------- */

enum value_type values_element_type(const struct values *v)
{
	return v->view.kind == PRIMITIVE_ARRAY ? v->view.element : VALUE_OBJECT;
}

uint64_t values_length(const struct values *v)
{
	if (v->is_class || v->view.kind == OBJECT_INSTANCE ||
	    (v->view.kind == PRIMITIVE_ARRAY && v->heap->facts.redacted >= REDACT_ARRAYS))
		return 0;
	uint64_t held = v->view.n_bytes / values_size_of(v->heap, values_element_type(v));
	return v->view.length < held ? v->view.length : held;
}

struct value values_element(const struct values *v, uint64_t i)
{
	enum value_type type = values_element_type(v);
	return load_value(v->heap, v->view.bytes + i * values_size_of(v->heap, type), type);
}

/* --- single values ------------------------------------------------------------------------------ */

uint32_t value_object_id(const struct heap *h, const struct value *v)
{
	return v->type == VALUE_OBJECT && v->bits ? heap_find(h, v->bits) : HEAP_NONE;
}

const char *value_type_name(enum value_type type)
{
	static const char *const names[] = {
		[VALUE_OBJECT] = "object",
		[VALUE_BOOLEAN] = "boolean",
		[VALUE_CHAR] = "char",
		[VALUE_FLOAT] = "float",
		[VALUE_DOUBLE] = "double",
		[VALUE_BYTE] = "byte",
		[VALUE_SHORT] = "short",
		[VALUE_INT] = "int",
		[VALUE_LONG] = "long",
	};
	return type < sizeof names / sizeof *names && names[type] ? names[type] : "?";
}
