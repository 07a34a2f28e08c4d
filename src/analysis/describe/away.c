/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * away.c - the inspector of a dump of which only the index is here: its values are unknown, not missing.
 *
 * What the index has is shown as ever: static fields, which stand with their classes, and what objects are called by
 * those. References are in the order of the fields, without those that are null: so where an object has as many of
 * them as its classes declare, or an array as many as elements, each is known by its place.
 */
#include "analysis/describe/declared.h"

#include "heap/classes.h"
#include "heap/field_words.h"

#include <inttypes.h>

enum { CLASSES_DEEP = 1000 };

static bool is_class_object(const struct heap *h, uint32_t id)
{
	return heap_class_mirrored(h, id) != HEAP_NONE;
}

/* The number of fields that may hold objects; or if `which` is one of these, *field gets it. */
static uint64_t count_fields(const struct heap *h, uint32_t class, uint64_t which,
    const struct heap_field **field)
{
	uint64_t n = 0;
	for (unsigned deep = 0; class != HEAP_NONE && deep < CLASSES_DEEP; deep++) {
		const struct heap_class *c = &h->classes[class];
		for (uint32_t i = 0; i < c->n_fields; i++) {
			if (c->fields[i].type != VALUE_OBJECT)
				continue;
			if (n++ == which)
				*field = &c->fields[i];
		}
		class = c->superclass;
	}
	return n;
}

static uint64_t degree(const struct heap *h, uint32_t id)
{
	return adjacency_degree(&h->out, id);
}

static void names_begin(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	const struct heap_class *c = heap_class_of(h, holder);
	const struct heap_field *field;
	if (is_class_object(h, holder)) {
		n->inspector = &declared_inspector;
		declared_names_begin(n, h, holder);
		return;
	}
	n->field.holder = (struct values){ .heap = h, .id = holder, .class = heap_class_index(h, holder) };
	n->field.element = 0;
	uint64_t places = c->kind == CLASS_OBJECT_ARRAY ? heap_length(h, holder) :
	    c->kind == CLASS_PLAIN ? count_fields(h, heap_class_index(h, holder), UINT64_MAX, &field) : 0;
	n->open = h->out.offset && !h->facts.no_class_objects && places && degree(h, holder) == places;
}

static void name_at(struct reference_names *n, uint64_t place, uint32_t target, struct text *to)
{
	const struct values *holder = &n->field.holder;
	const struct heap_field *field = NULL;
	(void)target;
	if (holder->heap->classes[holder->class].kind == CLASS_OBJECT_ARRAY) {
		text_addf(to, "[%" PRIu64 "]", place);
		return;
	}
	count_fields(holder->heap, holder->class, place, &field);
	if (field)
		field_word(holder->heap, holder->class, field, to);
	else
		text_add(to, "?");
}

/* Of all objects of a class nobody knows; a static field is one of its class object. */
static int named_of_class(struct named_references *n, const struct heap *h, uint32_t class, struct err *err)
{
	uint32_t object = h->classes[class].object;
	int code = object == HEAP_NONE ? 0 : declared_named_of_object(n, h, object, err);
	return code || n->found ? code : heap_holds_no_values(h, err);
}

static int named_of_object(struct named_references *n, const struct heap *h, uint32_t id, struct err *err)
{
	return is_class_object(h, id) ? declared_named_of_object(n, h, id, err) : heap_holds_no_values(h, err);
}

static bool object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to)
{
	uint32_t class = heap_class_mirrored(h, id);
	(void)limit;
	if (class != HEAP_NONE)
		text_add(to, h->classes[class].name);
	return class != HEAP_NONE;
}

/* Whatever the class is: more would be known of its objects. */
static bool knows_class(const struct heap *h, uint32_t class)
{
	(void)h, (void)class;
	return true;
}

static int parts(struct object_parts **out, const struct heap *h, uint32_t id, const struct range *which,
    struct err *err)
{
	return is_class_object(h, id) ? declared_inspector.parts(out, h, id, which, err) : heap_holds_no_values(h, err);
}

/* They are declared, and have no values. */
static int fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids, size_t n, struct err *err)
{
	return h->facts.no_class_objects ? heap_holds_no_values(h, err) : declared_fields(out, h, ids, n, err);
}

/* Nobody opens an object that is no class object, and what there is of that is as in any dump. */
const struct inspector away_inspector = {
	.object = object,
	.knows_class = knows_class,
	.value = declared_value,
	.target = declared_target,
	.type = declared_type,
	.number = declared_number,
	.plan = no_plan,
	.parts = parts,
	.fields = fields,
	.field = declared_field_named,
	.field_value = declared_field_value,
	.fields_close = declared_fields_close,
	.bytes = no_bytes,
	.entries = no_entries,
	.size = no_size,
	.count = no_count,
	.text = no_text,
	.characters = no_characters,
	.text_class = no_text_class,
	.texts_held = heap_holds_no_values,
	.names_begin = names_begin,
	.names_next = place_names_next,
	.names_any = place_names_any,
	.name_at = name_at,
	.named_of_class = named_of_class,
	.named_of_object = named_of_object,
};
