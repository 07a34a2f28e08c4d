/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.c - the inspector of dumps whose objects are memory (Go): the fields of an object's type, the
 * elements of an array, words where it has no type; what maps, slices and channels contain; texts; and
 * global variables.  Names of references are in memory_names.c.
 */
#include "analysis/describe/memory.h"

#include "algorithms/bits.h"
#include "analysis/describe/slices.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/types.h"
#include "heap/classes.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- one value ---------------------------------------------------------------------------------- */

static struct any_value any_value_of(const struct typed *value)
{
	return (struct any_value){ .heap = value->heap, .memory = { *value, WORD_NUMBER } };
}

static bool pointer_of(const struct any_value *v, struct typed_reference *to)
{
	if (v->memory.value.type != TYPE_NONE)
		return typed_pointer(&v->memory.value, to);
	if (v->memory.word != WORD_POINTER)
		return false;
	*to = typed_resolve(v->heap, typed_word(&v->memory.value, 0));
	return true;
}

static struct value_target memory_target(const struct any_value *v)
{
	struct typed_reference to;
	if (!pointer_of(v, &to))
		return (struct value_target){ 0, HEAP_NONE };
	return (struct value_target){ to.address, to.id };
}

static const char *memory_type(const struct any_value *v)
{
	if (v->memory.value.type != TYPE_NONE)
		return typed_type_name(v->heap, v->memory.value.type);
	return v->memory.word == WORD_POINTER ? "pointer" : v->memory.word == WORD_CODE ? "code" : "word";
}

/* "0x0000000000000007"; with the characters that it may be. */
static void add_word(const struct typed *v, struct text *to)
{
	text_addf(to, "0x%0*" PRIx64, 2 * (int)v->size, typed_number(v, 0, (unsigned)v->size));
	for (uint64_t i = 0; i < v->size; i++) {
		if (v->bytes[i] < ' ' || v->bytes[i] >= 0x7F)
			return;
	}
	text_add(to, " ");
	typed_add_text(v->bytes, v->size, v->size, to);
}

/* Where a pointer of no type leads, and what stands there. */
static void add_untyped_pointer(const struct typed *v, struct text *text)
{
	const struct heap *h = v->heap;
	struct typed_reference to = typed_resolve(h, typed_word(v, 0));
	typed_add_address(h, to.address, text);
	if (to.id == HEAP_NONE || to.offset || heap_class_of(h, to.id)->type == TYPE_NONE)
		return;
	text_addf(text, " %s ", heap_class_of(h, to.id)->name);
	if (!typed_add_object(h, to.id, DESCRIBE_SHORT, text))
		text_drop_last(text);
}

static void memory_value(const struct any_value *v, uint64_t limit, struct text *to)
{
	const struct typed *value = &v->memory.value;
	if (value->type != TYPE_NONE)
		typed_add(value, limit, to);
	else if (v->memory.word == WORD_POINTER)
		add_untyped_pointer(value, to);
	else if (v->memory.word == WORD_CODE)
		typed_add_address(v->heap, typed_word(value, 0), to);
	else
		add_word(value, to);
}

static bool every_class(const struct heap *h, uint32_t class)
{
	(void)h, (void)class;
	return true;
}

/* --- fields, elements, words -------------------------------------------------------------------- */

struct memory_parts {
	struct object_parts base;
	struct typed_object object;
	struct memory_part {
		const char *name; /* in names */
		struct typed value;
	} *fields; /* of one value; NULL: elements or words */
	size_t cap;
	int code;             /* ERR_NOMEM once a field could not be kept, with *err */
	struct err *err;
	uint64_t start;       /* the first element or word that was asked for */
	bool closure;         /* its first word is the address of its code */
	struct bits pointers; /* which words are, where there is no type */
	struct arena names;
};

static void take_field(void *context, const struct typed *part, const char *name)
{
	struct memory_parts *p = context;
	const char *kept = arena_try_strndup(&p->names, name, strlen(name), p->err);
	struct memory_part *to = kept ? BIG_PUSH(p->fields, p->base.n, p->cap, p->err) : NULL;
	if (to)
		*to = (struct memory_part){ kept, *part };
	else
		p->code = ERR_NOMEM;
}

static void memory_parts_close(struct object_parts *parts)
{
	struct memory_parts *p = (struct memory_parts *)parts;
	bits_release(&p->pointers);
	arena_release(&p->names);
	big_free(p->fields);
	free(p);
}

/* Words of an object that nothing is known of; the last may be cut. */
static int find_words(struct memory_parts *p, uint64_t *n, struct err *err)
{
	unsigned word = typed_word_size(p->base.heap);
	struct slot_walk w = { 0 };
	*n = (p->object.value.size + word - 1) / word;
	if (*n > UINT32_MAX)
		*n = UINT32_MAX;
	int code = bits_init(&p->pointers, (uint32_t)*n, err);
	while (!code && typed_next_slot(&p->object, &w)) {
		if (w.offset / word < *n)
			bits_set(&p->pointers, (uint32_t)(w.offset / word));
	}
	*n -= p->object.view.head / word; /* a header is no word of the value */
	static const char closure[] = "closure of ";
	p->closure = p->object.id != HEAP_NONE &&
	    !strncmp(heap_class_of(p->base.heap, p->object.id)->name, closure, sizeof closure - 1);
	return code;
}

/* An array type that one value has: its elements are the parts. */
static void take_array(struct typed_object *o, const struct type *t)
{
	o->array = true;
	o->count = t->count;
	o->value.type = t->element;
	o->stride = t->count ? t->size / t->count : 0;
}

static int parts_of(
    struct object_parts **out, const struct typed_object *o, struct range which, struct err *err)
{
	struct memory_parts *p = xcalloc(1, sizeof *p);
	const struct type *t = typed_type(&o->value);
	uint64_t n = 0;
	int code = 0;
	p->base = (struct object_parts){ .inspector = &memory_inspector, .heap = o->value.heap,
		.has_offsets = true };
	p->object = *o;
	if (t && !o->array && t->kind == TYPE_ARRAY)
		take_array(&p->object, t);
	if (!t) {
		code = find_words(p, &n, err);
	} else if (p->object.array) {
		n = p->object.count;
	} else if (which.given) {
		code = no_range(t->name, err);
	} else {
		p->err = err;
		p->fields = big_alloc(p->cap = 8, sizeof *p->fields, err);
		if (p->fields)
			typed_parts(&o->value, take_field, p);
		code = p->fields ? p->code : ERR_NOMEM;
	}
	if (code) {
		memory_parts_close(&p->base);
		return code;
	}
	if (!p->fields) {
		p->base.n = range_of(&which, n);
		p->start = which.start;
	}
	if (!t)
		p->start += o->view.head / typed_word_size(o->value.heap);
	*out = &p->base;
	return 0;
}

static int not_read(const struct heap *h, uint32_t id, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "cannot read the bytes of 0x%" PRIx64, heap_address(h, id));
}

static int memory_parts(struct object_parts **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err)
{
	struct typed_object o;
	return typed_open(&o, h, id) ? parts_of(out, &o, *which, err) : not_read(h, id, err);
}

/* A word of what has no type. */
static struct any_value word_of(const struct memory_parts *p, uint64_t i)
{
	struct any_value v = any_value_of(&p->object.value);
	unsigned word = typed_word_size(v.heap);
	struct typed *value = &v.memory.value;
	value->bytes += i * word;
	value->address += i * word;
	value->size = value->size - i * word < word ? value->size - i * word : word;
	if (bits_get(&p->pointers, (uint32_t)i))
		v.memory.word = WORD_POINTER;
	else if (p->closure && !i)
		v.memory.word = WORD_CODE;
	return v;
}

static void memory_part(const struct object_parts *parts, size_t i, struct object_part *out)
{
	const struct memory_parts *p = (const struct memory_parts *)parts;
	struct typed element;
	*out = (struct object_part){ .declared_in = HEAP_NONE };
	if (p->fields) {
		out->name = *p->fields[i].name ? p->fields[i].name : "*";
		out->value = any_value_of(&p->fields[i].value);
	} else if (p->object.value.type == TYPE_NONE) {
		out->value = word_of(p, p->start + i);
	} else {
		element = typed_element(&p->object, p->start + i);
		out->value = any_value_of(&element);
	}
	out->offset = out->value.memory.value.address - p->object.value.address;
}

static void memory_part_name(const struct object_parts *parts, size_t i, struct text *to)
{
	const struct memory_parts *p = (const struct memory_parts *)parts;
	struct object_part part;
	memory_part(parts, i, &part);
	if (part.name)
		text_add(to, part.name);
	else if (p->object.value.type == TYPE_NONE)
		text_addf(to, "+0x%" PRIx64, part.offset);
	else
		text_addf(to, "[%" PRIu64 "]", p->start + i);
}

static int memory_bytes(struct object_bytes *out, const struct heap *h, uint32_t id, struct err *err)
{
	struct typed_object o;
	if (!typed_open(&o, h, id))
		return not_read(h, id, err);
	*out = (struct object_bytes){ o.view.bytes, o.view.n_bytes, 1 };
	return 0;
}

/* --- entries ------------------------------------------------------------------------------------ */

struct memory_entries {
	struct entries base;
	struct memory_entry {
		struct typed key, value;
	} *entry;
	size_t cap;
};

/* Read what was just opened to its end, or to the entries wanted. */
static int entries_of(
    struct entries **out, struct typed_contents *c, const struct range *which, struct err *err)
{
	struct memory_entries *s = xcalloc(1, sizeof *s);
	s->base = (struct entries){ .inspector = &memory_inspector, .heap = c->heap,
		.start = which->start, .map = c->map };
	for (uint64_t i = 0; s->base.n < which->length && typed_contents_next(c); i++) {
		if (i < which->start)
			continue;
		struct memory_entry *to = BIG_PUSH(s->entry, s->base.n, s->cap, err);
		if (!to) {
			inspect_entries_close(&s->base);
			return ERR_NOMEM;
		}
		*to = (struct memory_entry){ c->key, c->value };
	}
	if (c->broken)
		text_add(&s->base.note, "it forms a cycle or is damaged: only the elements before that are shown");
	else if (c->found > TYPED_MOST_EMPTY)
		text_add(&s->base.note, "its elements have no bytes: the first 65,536 are shown");
	*out = &s->base;
	return 0;
}

/* Contents of an object; of an array that is known by a single slice those of the slice, and *note
 * says so. */
static int contents_of(struct typed_contents *c, const struct heap *h, uint32_t id, struct text *note,
    struct err *err)
{
	struct slices s;
	struct typed_object o;
	int code = typed_contents_of_object(c, h, id, err);
	if (code || !typed_open(&o, h, id) || !o.array)
		return code;
	slices_of(&s, h, id);
	if (s.n != 1 || s.others || typed_type(&s.known[0].value)->kind != TYPE_SLICE)
		return 0;
	slices_add(&s, h, note);
	text_add(note, ": its elements, of ");
	text_add_count(note, o.count);
	text_add(note, " in its array");
	return typed_contents_open(c, &s.known[0].value, err);
}

static int memory_entries(struct entries **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err)
{
	struct typed_contents c;
	struct text note = TEXT_INIT;
	int code = contents_of(&c, h, id, &note, err);
	if (!code)
		code = entries_of(out, &c, which, err);
	if (!code && note.len && !(*out)->note.len)
		text_add(&(*out)->note, note.s);
	text_release(&note);
	return code;
}

static void memory_entry(
    const struct entries *entries, size_t i, struct any_value *key, struct any_value *value)
{
	const struct memory_entries *s = (const struct memory_entries *)entries;
	*key = any_value_of(&s->entry[i].key);
	*value = any_value_of(&s->entry[i].value);
}

static void memory_entries_close(struct entries *entries)
{
	struct memory_entries *s = (struct memory_entries *)entries;
	big_free(s->entry);
	free(s);
}

static bool memory_size(const struct heap *h, uint32_t id, struct collection_size *out)
{
	struct typed_object o;
	struct typed_contents c;
	if (!typed_open(&o, h, id) || o.array || o.value.type == TYPE_NONE ||
	    typed_type(&o.value)->kind != TYPE_STRUCT || typed_contents_open(&c, &o.value, NULL))
		return false;
	*out = (struct collection_size){ .known = true, .size = c.size, .has_capacity = c.capacity != 0,
		.capacity = c.capacity, .map = c.map, .taken = c.size };
	return true;
}

static bool memory_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out)
{
	(void)left;
	return memory_size(h, id, out) || slices_size(h, id, out);
}

static bool memory_held_as(const struct heap *h, uint32_t id, struct text *to)
{
	struct slices s;
	slices_of(&s, h, id);
	slices_add(&s, h, to);
	return s.n > 0;
}

/* --- texts -------------------------------------------------------------------------------------- */

static bool memory_text(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out)
{
	struct typed_object o;
	*out = (struct string_view){ .width = 1, .utf8 = true, .array = id };
	return typed_open_along(&o, h, id, &walk->string) && typed_text(&o, &out->bytes, &out->length);
}

static bool memory_characters(const struct heap *h, uint32_t id, struct string_view *out)
{
	return memory_text(h, id, &(struct string_walk){ .string = { 0 } }, out);
}

/* Texts may be in whatever is no struct and no array of pointers. */
static enum text_class memory_text_class(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	return c->kind == CLASS_PRIMITIVE_ARRAY || c->type == TYPE_NONE ? TEXT_SOME : TEXT_NEVER;
}

static int memory_texts_held(const struct heap *h, struct err *err)
{
	(void)h, (void)err;
	return 0;
}

/* --- global variables --------------------------------------------------------------------------- */

static int memory_variable(
    struct variable *out, const struct heap *h, const char *word, struct err *err)
{
	struct typed v;
	int code = typed_named(&v, h, word, err);
	if (code)
		return code;
	*out = (struct variable){ .value = any_value_of(&v), .address = v.address, .size = v.size,
		.is_slice = typed_type(&v)->kind == TYPE_SLICE };
	out->target = memory_target(&out->value);
	return 0;
}

static int variable_parts(
    struct object_parts **out, const struct variable *v, const struct range *which, struct err *err)
{
	struct typed_object o = { .value = v->value.memory.value, .count = 1, .stride = v->size,
		.id = HEAP_NONE };
	return parts_of(out, &o, *which, err);
}

static void variable_bytes(struct object_bytes *out, const struct variable *v)
{
	*out = (struct object_bytes){ v->value.memory.value.bytes, v->size, 1 };
}

static int variable_entries(
    struct entries **out, const struct variable *v, const struct range *which, struct err *err)
{
	struct typed_contents c;
	int code = typed_contents_open(&c, &v->value.memory.value, err);
	if (!code)
		code = entries_of(out, &c, which, err);
	return code;
}

static bool variable_size(const struct variable *v, uint64_t *size)
{
	const struct typed *value = &v->value.memory.value;
	const struct type *t = typed_type(value);
	struct typed_contents c;
	if (t->kind == TYPE_ARRAY || t->kind == TYPE_STRUCT || typed_contents_open(&c, value, NULL))
		return false;
	*size = c.size;
	return true;
}

const struct inspector memory_inspector = {
	.texts_run_on = true,
	.object = typed_add_object,
	.knows_class = every_class,
	.value = memory_value,
	.target = memory_target,
	.type = memory_type,
	.number = memory_number,
	.string = memory_string,
	.plan = memory_plan,
	.find_number = memory_find_number,
	.number_place = memory_number_place,
	.parts = memory_parts,
	.part = memory_part,
	.part_name = memory_part_name,
	.parts_close = memory_parts_close,
	.bytes = memory_bytes,
	.fields = memory_fields,
	.field = memory_field_named,
	.field_value = memory_field_value,
	.fields_close = memory_fields_close,
	.entries = memory_entries,
	.entry = memory_entry,
	.entries_close = memory_entries_close,
	.size = memory_size,
	.count = memory_count,
	.held_as = memory_held_as,
	.text = memory_text,
	.characters = memory_characters,
	.text_class = memory_text_class,
	.texts_held = memory_texts_held,
	.names_begin = memory_names_begin,
	.names_next = memory_names_next,
	.names_any = memory_names_any,
	.name_at = memory_name_at,
	.named_of_class = memory_named_of_class,
	.named_of_object = memory_named_of_object,
	.variable = memory_variable,
	.variable_names = typed_names,
	.variable_parts = variable_parts,
	.variable_bytes = variable_bytes,
	.variable_entries = variable_entries,
	.variable_size = variable_size,
};
