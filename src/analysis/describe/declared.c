/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * declared.c - the inspector of dumps whose classes declare fields (HPROF): fields, elements, entries
 * of collections and texts.  Names of references are in declared_names.c.
 *
 * Of an object's parts only its opened record and the list of its fields are kept, of a collection the
 * keys and values (32 bytes an entry).
 */
#include "analysis/describe/declared.h"

#include "analysis/describe/collection.h"
#include "analysis/describe/describers.h"
#include "analysis/describe/inspector.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "heap/field_words.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- one value ---------------------------------------------------------------------------------- */

static struct any_value any_value_of(const struct heap *h, struct value value, const char *declared)
{
	return (struct any_value){ .heap = h, .field = { value, declared } };
}

void declared_value(const struct any_value *v, uint64_t limit, struct text *to)
{
	describe_value(v->heap, &v->field.value, limit, to);
}

struct value_target declared_target(const struct any_value *v)
{
	const struct value *value = &v->field.value;
	if (value->type != VALUE_OBJECT)
		return (struct value_target){ 0, HEAP_NONE };
	return (struct value_target){ value->bits, value_object_id(v->heap, value) };
}

const char *declared_type(const struct any_value *v)
{
	uint32_t id = value_object_id(v->heap, &v->field.value);
	return id != HEAP_NONE ? heap_class_of(v->heap, id)->name : v->field.declared;
}

/* --- fields and elements ------------------------------------------------------------------------ */

struct declared_parts {
	struct object_parts base;
	struct values values;
	struct declared_part {
		const struct heap_field *field;
		uint32_t declared_in;
		struct value value;
		bool missing;
	} *fields; /* NULL: elements */
	size_t cap;
	uint64_t start;
};

static int take_fields(struct declared_parts *p, struct err *err)
{
	struct field_walk w = { .values = &p->values };
	p->fields = big_alloc(p->cap = 8, sizeof *p->fields, err);
	if (!p->fields)
		return ERR_NOMEM;
	while (values_next_field(&w)) {
		struct declared_part *to = BIG_PUSH(p->fields, p->base.n, p->cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = (struct declared_part){ w.field, w.declared_in, w.value, w.missing };
	}
	return 0;
}

static void declared_parts_close(struct object_parts *parts)
{
	struct declared_parts *p = (struct declared_parts *)parts;
	big_free(p->fields);
	free(p);
}

static int declared_parts(struct object_parts **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err)
{
	struct range s = *which;
	struct values v;
	int code = values_open(&v, h, id, err);
	if (code)
		return code;
	bool fields = v.is_class || v.view.kind == OBJECT_INSTANCE;
	if (fields && s.given)
		return no_range(heap_class_of(h, id)->name, err);
	struct declared_parts *p = xcalloc(1, sizeof *p);
	p->base = (struct object_parts){ .inspector = &declared_inspector, .heap = h };
	p->values = v;
	if (fields) {
		code = take_fields(p, err);
	} else {
		p->base.n = range_of(&s, values_length(&v));
		p->start = s.start;
	}
	if (code)
		declared_parts_close(&p->base);
	else
		*out = &p->base;
	return code;
}

static void declared_part(const struct object_parts *parts, size_t i, struct object_part *out)
{
	const struct declared_parts *p = (const struct declared_parts *)parts;
	const struct heap *h = parts->heap;
	if (p->fields) {
		const struct declared_part *f = &p->fields[i];
		*out = (struct object_part){ .name = f->field->name, .declared_in = f->declared_in, .field = f->field,
			.missing = f->missing,
			.value = any_value_of(h, f->value, value_type_name(f->value.type)) };
		return;
	}
	struct value value = values_element(&p->values, p->start + i);
	uint32_t component = h->classes[p->values.class].component;
	*out = (struct object_part){ .declared_in = HEAP_NONE,
		.value = any_value_of(h, value, value.type == VALUE_OBJECT && component != HEAP_NONE
		        ? h->classes[component].name : value_type_name(value.type)) };
}

static void declared_part_name(const struct object_parts *parts, size_t i, struct text *to)
{
	const struct declared_parts *p = (const struct declared_parts *)parts;
	if (p->fields)
		field_word(parts->heap, p->values.class, p->fields[i].field, to);
	else
		text_addf(to, "[%" PRIu64 "]", p->start + i);
}

static int declared_bytes(
    struct object_bytes *out, const struct heap *h, uint32_t id, struct err *err)
{
	struct values v;
	int code = values_open(&v, h, id, err);
	if (code)
		return code;
	if (v.is_class || v.view.kind != PRIMITIVE_ARRAY)
		return err_set(err, ERR_USAGE, "-hex needs a primitive array, and 0x%" PRIx64
		    " is a %.200s", heap_address(h, id), heap_class_of(h, id)->name);
	unsigned unit = values_size_of(h, values_element_type(&v));
	*out = (struct object_bytes){ v.view.bytes, values_length(&v) * unit, unit };
	return 0;
}

/* --- entries ------------------------------------------------------------------------------------ */

struct declared_entries {
	struct entries base;
	struct declared_entry {
		struct value key, value;
	} *entry;
	size_t cap;
};

/* Does the collection say that it holds more than was seen?  Of a whole dump only where nothing was. */
static void note_lost(const struct heap *h, uint32_t id, uint64_t seen, struct entries *of)
{
	struct text *to = &of->note;
	struct collection_size size;
	if ((!h->incomplete && (seen || of->start)) || !collection_size(h, id, &size) || !size.known || size.lies ||
	    size.size <= seen)
		return;
	of->lacks_some = true;
	if (!h->incomplete) {
		text_addf(to, "%sit states ", to->len ? "; " : "");
		text_add_count(to, size.size);
		text_add(to, ", but the dump has none of them");
		return;
	}
	text_addf(to, "%sit has ", to->len ? "; " : "");
	text_add_count(to, size.size);
	text_add(to, seen ? ", the others" : ", all of them");
	text_add(to, " in the unread part of the dump");
}

/* Rows are fewer than elements. */
static void note_summed(const struct collection *c, uint32_t id, struct entries *of)
{
	struct collection_size size;
	uint64_t left = c->heap->n_objects;
	bool known = collection_count(c->heap, id, &left, &size) && size.known;
	if (known && size.size == c->listed)
		return;
	text_add(&of->note, "it has ");
	if (known)
		text_add_count(&of->note, size.size);
	else
		text_add(&of->note, "an unknown number of");
	text_add(&of->note, known && size.size == 1 ? " element" : " elements");
	text_add(&of->note, ": the value of an entry is its number");
}

static int declared_entries(struct entries **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err)
{
	struct collection c;
	struct collection_entry e;
	int code = collection_open(&c, h, id, err);
	if (code) {
		collection_close(&c);
		return code;
	}
	struct declared_entries *s = xcalloc(1, sizeof *s);
	s->base = (struct entries){ .inspector = &declared_inspector, .heap = h, .start = which->start,
		.map = c.view == VIEW_MAP };
	uint64_t seen = 0;
	while (!code && s->base.n < which->length && collection_next(&c, &e)) {
		seen += e.many;
		if (e.index < which->start)
			continue;
		struct declared_entry *to = BIG_PUSH(s->entry, s->base.n, s->cap, err);
		if (to)
			*to = (struct declared_entry){ e.has_key ? e.key : (struct value){ VALUE_OBJECT, 0 }, e.value };
		else
			code = ERR_NOMEM;
	}
	if (c.no_memory && !code)
		code = err_set(err, ERR_NOMEM, "not enough memory for the nodes of the collection");
	if (c.summed && !code)
		note_summed(&c, id, &s->base);
	if (c.broken)
		text_addf(&s->base.note, "%sits nodes form a cycle or are damaged: only the nodes before that are shown",
		    s->base.note.len ? "; " : "");
	if (!code && s->base.n < which->length)
		note_lost(h, id, seen, &s->base);
	collection_close(&c);
	*out = &s->base;
	if (code)
		inspect_entries_close(*out);
	return code;
}

static const char *type_of(const struct value *v)
{
	return v->type == VALUE_OBJECT ? NULL : value_type_name(v->type);
}

static void declared_entry(
    const struct entries *entries, size_t i, struct any_value *key, struct any_value *value)
{
	const struct declared_entries *s = (const struct declared_entries *)entries;
	const struct heap *h = entries->heap;
	*key = any_value_of(h, s->entry[i].key, type_of(&s->entry[i].key));
	*value = any_value_of(h, s->entry[i].value, type_of(&s->entry[i].value));
}

static void declared_entries_close(struct entries *entries)
{
	struct declared_entries *s = (struct declared_entries *)entries;
	big_free(s->entry);
	free(s);
}

static bool declared_size(const struct heap *h, uint32_t id, struct collection_size *out)
{
	return values_held(h) && collection_size(h, id, out);
}

static bool declared_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out)
{
	return values_held(h) && collection_count(h, id, left, out);
}

/* --- texts -------------------------------------------------------------------------------------- */

static bool declared_characters(const struct heap *h, uint32_t id, struct string_view *out)
{
	struct values v;
	return heap_string(h, id, out) || (!values_open(&v, h, id, NULL) &&
	    values_element_type(&v) == VALUE_CHAR && heap_array_string(&v, out));
}

static enum text_class declared_text_class(const struct heap *h, uint32_t class)
{
	return h->strings && class == h->strings->class ? TEXT_EACH : TEXT_NEVER;
}

static int declared_texts_held(const struct heap *h, struct err *err)
{
	return h->strings ? 0 : h->facts.redacted ? heap_holds_no_values(h, err) :
	    err_set(err, ERR_UNSUPPORTED, "this dump has no class java.lang.String with a value");
}

const struct inspector declared_inspector = {
	.object = describe_instance,
	.knows_class = describers_know_class,
	.value = declared_value,
	.target = declared_target,
	.type = declared_type,
	.number = declared_number,
	.plan = declared_plan,
	.find_number = declared_find_number,
	.number_place = declared_number_place,
	.parts = declared_parts,
	.part = declared_part,
	.part_name = declared_part_name,
	.parts_close = declared_parts_close,
	.bytes = declared_bytes,
	.fields = declared_fields,
	.field = declared_field_named,
	.field_value = declared_field_value,
	.fields_close = declared_fields_close,
	.entries = declared_entries,
	.entry = declared_entry,
	.entries_close = declared_entries_close,
	.size = declared_size,
	.count = declared_count,
	.text = heap_string_along,
	.characters = declared_characters,
	.text_class = declared_text_class,
	.texts_held = declared_texts_held,
	.names_begin = declared_names_begin,
	.names_next = declared_names_next,
	.names_any = declared_names_any,
	.name_at = declared_name_at,
	.named_of_class = declared_named_of_class,
	.named_of_object = declared_named_of_object,
	.declared_field = declared_field,
};
