/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * nothing.c - the inspector of dumps without values (PHD, classic): it says in the format's own
 * sentence what the dump cannot tell.  Class objects have something to say: their class.  And so have arrays of
 * references that have as many references as elements: none is null, so each reference is known by its place.
 */
#include "analysis/describe/inspector.h"

#include "base/mem.h"
#include "base/text.h"
#include "heap/classes.h"

#include <inttypes.h>
#include <stdlib.h>

static bool class_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to)
{
	uint32_t class = heap_class_mirrored(h, id);
	(void)limit;
	if (class == HEAP_NONE || heap_class_index(h, id) != h->java_lang_class)
		return false;
	text_add(to, h->classes[class].name);
	return true;
}

static bool is_java_lang_class(const struct heap *h, uint32_t class)
{
	return class == h->java_lang_class;
}

/* --- elements by their places ---------------------------------------------------------------------- */

static uint64_t degree(const struct heap *h, uint32_t id)
{
	return adjacency_degree(&h->out, id);
}

static bool has_places(const struct heap *h, uint32_t id)
{
	return h->out.offset && heap_class_of(h, id)->kind == CLASS_OBJECT_ARRAY && degree(h, id) == heap_length(h, id);
}

static struct any_value element_at(const struct heap *h, uint32_t id, uint64_t place)
{
	uint32_t target = h->out.target[adjacency_start(&h->out, id) + place];
	struct any_value v = { .heap = h };
	v.field.value = (struct value){ .type = VALUE_OBJECT, .bits = heap_address(h, target) };
	return v;
}

struct array_parts {
	struct object_parts base;
	uint32_t id;
	uint64_t start;
};

static int parts(struct object_parts **out, const struct heap *h, uint32_t id, const struct range *which,
    struct err *err)
{
	if (!has_places(h, id))
		return heap_holds_no_values(h, err);
	struct array_parts *p = xcalloc(1, sizeof *p);
	struct range range = *which;
	p->base = (struct object_parts){ .inspector = &no_inspector, .heap = h };
	p->base.n = range_of(&range, degree(h, id));
	p->id = id;
	p->start = range.start;
	*out = &p->base;
	return 0;
}

static void part(const struct object_parts *parts, size_t i, struct object_part *out)
{
	const struct array_parts *p = (const struct array_parts *)parts;
	*out = (struct object_part){ .declared_in = HEAP_NONE, .value = element_at(parts->heap, p->id, p->start + i) };
}

static void part_name(const struct object_parts *parts, size_t i, struct text *to)
{
	text_addf(to, "[%" PRIu64 "]", ((const struct array_parts *)parts)->start + i);
}

static void parts_close(struct object_parts *parts)
{
	free(parts);
}

struct array_entries {
	struct entries base;
	uint32_t id;
};

static int entries(struct entries **out, const struct heap *h, uint32_t id, const struct range *which, struct err *err)
{
	if (!has_places(h, id))
		return heap_holds_no_values(h, err);
	struct array_entries *e = xcalloc(1, sizeof *e);
	struct range range = *which;
	e->base = (struct entries){ .inspector = &no_inspector, .heap = h };
	e->base.n = range_of(&range, degree(h, id));
	e->base.start = range.start;
	e->id = id;
	*out = &e->base;
	return 0;
}

static void entry(const struct entries *entries, size_t i, struct any_value *key, struct any_value *value)
{
	const struct array_entries *e = (const struct array_entries *)entries;
	*key = *value = element_at(entries->heap, e->id, entries->start + i);
}

static void entries_close(struct entries *entries)
{
	free(entries);
}

static struct value_target target_of(const struct any_value *v)
{
	return (struct value_target){ v->field.value.bits, heap_find(v->heap, v->field.value.bits) };
}

static const char *class_name_of(const struct any_value *v)
{
	uint32_t id = target_of(v).id;
	return id == HEAP_NONE ? NULL : heap_class_of(v->heap, id)->name;
}

static void class_words_of(const struct any_value *v, uint64_t limit, struct text *to)
{
	uint32_t id = target_of(v).id;
	if (id != HEAP_NONE && !class_object(v->heap, id, limit, to))
		text_add(to, heap_class_of(v->heap, id)->name);
}

bool place_names_any(struct reference_names *n, uint32_t *target, uint64_t *place)
{
	const struct values *holder = &n->field.holder;
	if (n->field.element >= degree(holder->heap, holder->id))
		return false;
	*place = n->field.element++;
	*target = holder->heap->out.target[adjacency_start(&holder->heap->out, holder->id) + *place];
	return true;
}

bool place_names_next(struct reference_names *n, uint32_t target, struct text *to)
{
	uint32_t found;
	uint64_t place;
	while (place_names_any(n, &found, &place)) {
		if (found != target)
			continue;
		if (to)
			n->inspector->name_at(n, place, target, to);
		return true;
	}
	return false;
}

static void name_at(struct reference_names *n, uint64_t place, uint32_t target, struct text *to)
{
	(void)n, (void)target;
	text_addf(to, "[%" PRIu64 "]", place);
}

static void names_begin(struct reference_names *n, const struct heap *h, uint32_t holder)
{
	n->field.holder = (struct values){ .heap = h, .id = holder };
	n->field.element = 0;
	n->open = has_places(h, holder);
}

/* --- what nobody knows ----------------------------------------------------------------------------- */

static bool no_number(const struct any_value *v, struct number *out)
{
	(void)v, (void)out;
	return false;
}

int no_plan(struct number_plan *p, struct err *err)
{
	return heap_holds_no_values(p->heap, err);
}

static int no_fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids, size_t n,
    struct err *err)
{
	(void)out, (void)ids, (void)n;
	return heap_holds_no_values(h, err);
}

int no_bytes(struct object_bytes *out, const struct heap *h, uint32_t id, struct err *err)
{
	(void)out, (void)id;
	return heap_holds_no_values(h, err);
}

int no_entries(struct entries **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err)
{
	(void)out, (void)id, (void)which;
	return heap_holds_no_values(h, err);
}

bool no_size(const struct heap *h, uint32_t id, struct collection_size *out)
{
	(void)h, (void)id, (void)out;
	return false;
}

bool no_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out)
{
	(void)h, (void)id, (void)left, (void)out;
	return false;
}

bool no_text(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out)
{
	(void)h, (void)id, (void)walk, (void)out;
	return false;
}

bool no_characters(const struct heap *h, uint32_t id, struct string_view *out)
{
	(void)h, (void)id, (void)out;
	return false;
}

enum text_class no_text_class(const struct heap *h, uint32_t class)
{
	(void)h, (void)class;
	return TEXT_NEVER;
}

static int nothing_named(
    struct named_references *n, const struct heap *h, uint32_t id, struct err *err)
{
	(void)n, (void)id;
	return heap_holds_no_values(h, err);
}

/* Only of arrays with places are parts, entries and names opened. */
const struct inspector no_inspector = {
	.object = class_object,
	.knows_class = is_java_lang_class,
	.value = class_words_of,
	.target = target_of,
	.type = class_name_of,
	.number = no_number,
	.plan = no_plan,
	.parts = parts,
	.part = part,
	.part_name = part_name,
	.parts_close = parts_close,
	.fields = no_fields,
	.bytes = no_bytes,
	.entries = entries,
	.entry = entry,
	.entries_close = entries_close,
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
	.named_of_class = nothing_named,
	.named_of_object = nothing_named,
};
