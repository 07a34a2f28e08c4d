/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut_name.c - references by the names people have for them: a field of a class, of an object, or
 * what one set of objects holds of another.
 */
#include "analysis/cut/cut.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "heap/value.h"

#include <string.h>

enum { CLASSES_DEEP = 1000 };

/* --- objects that are memory ---------------------------------------------------------------------- */

/* Is this how a reference is called?  Where the pointer leads into its target, "+16" follows. */
static bool is_called(const char *name, const char *field)
{
	size_t n = strlen(field);
	return !strncmp(name, field, n) &&
	    (!name[n] || (name[n] == '+' && strspn(name + n + 1, "0123456789") == strlen(name + n + 1)));
}

/* By the names that reference_name.h gives: "Previous", "Cart[3].Item", "buckets". */
static int add_named(struct cut_edges *to, const struct heap *h, uint32_t holder, const char *field,
    bool *found, struct err *err)
{
	struct reference_names names;
	struct text name = TEXT_INIT;
	uint32_t target;
	int code = 0;
	reference_names_begin(&names, h, holder);
	while (!code && reference_names_any(&names, &target, &name)) {
		if (is_called(name.s, field)) {
			*found = true;
			code = cut_edges_add(to, holder, target, err);
		}
		text_clear(&name);
	}
	text_release(&name);
	return code;
}

static int add_named_of_class(struct cut_edges *to, const struct heap *h, uint32_t class,
    const char *field, bool *found, struct err *err)
{
	int code = 0;
	for (uint32_t id = 0; !code && id < h->n_objects; id++)
		if (h->class_of[id] == class)
			code = add_named(to, h, id, field, found, err);
	return code;
}

/* --- a field of all instances ------------------------------------------------------------------- */

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
		for (uint32_t i = 0; i < c->n_fields; i++)
			below += values_size_of(h, c->fields[i].type);
		class = c->superclass;
	}
	*out = (struct field_place){ place->offset + below, place->type };
	return true;
}

static int add_instances(struct cut_edges *to, const struct heap *h, const struct field_place *places,
    struct err *err)
{
	struct values values;
	struct value value;
	int code = 0;
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		const struct field_place *place = &places[h->class_of[id]];
		if (place->type != VALUE_OBJECT || values_open(&values, h, id, NULL) ||
		    !values_at(&values, place, &value))
			continue;
		uint32_t target = value_object_id(h, &value);
		if (target != HEAP_NONE)
			code = cut_edges_add(to, id, target, err);
	}
	return code;
}

static int add_static(struct cut_edges *to, const struct heap *h, uint32_t class, const char *field,
    bool *found, struct err *err)
{
	const struct heap_class *c = &h->classes[class];
	for (uint32_t i = 0; i < c->n_statics; i++) {
		if (strcmp(c->statics[i].name, field) != 0 || c->statics[i].type != VALUE_OBJECT)
			continue;
		struct value value = { VALUE_OBJECT, c->statics[i].value };
		uint32_t target = value_object_id(h, &value);
		*found = true;
		return target == HEAP_NONE || c->object == HEAP_NONE
		    ? 0 : cut_edges_add(to, c->object, target, err);
	}
	return 0;
}

int cut_edges_add_field(struct cut_edges *to, const struct heap *h, uint32_t class,
    const char *field, bool *found, struct err *err)
{
	struct field_place place;
	*found = false;
	if (typed_held(h))
		return add_named_of_class(to, h, class, field, found, err);
	int code = add_static(to, h, class, field, found, err);
	if (code || !values_place(h, class, field, &place) || place.type != VALUE_OBJECT)
		return code;
	struct field_place *places = big_alloc(h->n_classes, sizeof *places, err);
	if (!places)
		return ERR_NOMEM;
	*found = true;
	for (uint32_t k = 0; k < h->n_classes; k++)
		if (h->classes[k].kind != CLASS_PLAIN || !place_in(h, k, class, &place, &places[k]))
			places[k] = (struct field_place){ .type = VALUE_BYTE };
	code = add_instances(to, h, places, err);
	big_free(places, h->n_classes, sizeof *places);
	return code;
}

/* --- a field of one object ---------------------------------------------------------------------- */

static bool names_element(const char *field, uint64_t *index)
{
	if (field[0] != '[' || field[1] < '0' || field[1] > '9')
		return false;
	*index = 0;
	for (field++; *field >= '0' && *field <= '9' && *index < UINT64_C(1) << 40; field++)
		*index = 10 * *index + (uint64_t)(*field - '0');
	return !strcmp(field, "]");
}

int cut_edges_add_field_of(struct cut_edges *to, const struct heap *h, uint32_t holder,
    const char *field, bool *found, struct err *err)
{
	struct values values;
	struct value value;
	uint64_t index = 0;
	*found = false;
	if (typed_held(h))
		return add_named(to, h, holder, field, found, err);
	int code = values_open(&values, h, holder, err);
	if (code)
		return code;
	if (names_element(field, &index))
		*found = !values.is_class && values.view.kind == OBJECT_ARRAY &&
		    index < values_length(&values);
	else
		*found = values_field(&values, field, &value);
	if (!*found)
		return 0;
	if (field[0] == '[')
		value = values_element(&values, index);
	uint32_t target = value_object_id(h, &value);
	return target == HEAP_NONE ? 0 : cut_edges_add(to, holder, target, err);
}

/* --- between sets ------------------------------------------------------------------------------- */

static int add_if(struct cut_edges *to, const struct bits *targets, uint32_t holder, uint32_t target,
    struct err *err)
{
	return bits_get(targets, target) ? cut_edges_add(to, holder, target, err) : 0;
}

static int add_from(struct cut_edges *to, const struct heap *h, uint32_t holder,
    const struct bits *targets, struct err *err)
{
	struct implied_reference implied[3];
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

int cut_edges_add_between(struct cut_edges *to, const struct heap *h, const uint32_t *holders,
    size_t n_holders, const uint32_t *targets, size_t n_targets, struct err *err)
{
	struct bits wanted, from;
	int code = bits_init(&wanted, h->n_objects, err) | bits_init(&from, h->n_objects, err);
	code = code ? ERR_NOMEM : 0;
	for (size_t i = 0; !code && i < n_targets; i++)
		bits_set(&wanted, targets[i]);
	for (size_t i = 0; !code && i < n_holders; i++) {
		bits_set(&from, holders[i]);
		code = add_from(to, h, holders[i], &wanted, err);
	}
	for (size_t i = 0; !code && i < h->n_roots; i++) { /* what a thread's stack holds */
		uint32_t owner = dominators_stack_owner(h, &h->roots[i]);
		if (owner != HEAP_NONE && bits_get(&from, owner))
			code = add_if(to, &wanted, owner, h->roots[i].object, err);
	}
	bits_release(&wanted);
	bits_release(&from);
	return code;
}
