/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inspect_typed.c - tables of what an object holds whose bytes are memory: the fields of its type, the
 * elements of an array, or words where it has no type; and what maps, slices and channels contain.
 */
#include "command/look/inspect.h"

#include "analysis/describe/describe.h"
#include "base/bits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- fields, elements, words -------------------------------------------------------------------- */

enum { T_NAME, T_TYPE, T_VALUE, T_DECLARED_IN, T_CLASS, T_ADDRESS, T_SHALLOW, T_OFFSET };

static const struct column typed_columns[] = {
    [T_NAME] = {.name = "name", .type = CELL_TEXT, .shown_by_default = true},
    [T_TYPE] = {.name = "type", .type = CELL_TEXT, .shown_by_default = true},
    [T_VALUE] = {.name = "value", .type = CELL_TEXT, .shown_by_default = true},
    [T_DECLARED_IN] = {.name = "declared_in", .type = CELL_TEXT},
    [T_CLASS] = {.name = "class", .type = CELL_TEXT},
    [T_ADDRESS] = {.name = "address", .type = CELL_ADDRESS},
    [T_SHALLOW] = {.name = "shallow", .type = CELL_BYTES},
    [T_OFFSET] = {.name = "offset", .type = CELL_COUNT},
};
#define N_TYPED_COLUMNS (unsigned)(sizeof typed_columns / sizeof *typed_columns)

struct shown_part {
	const char *name; /* in the result's arena */
	struct typed value;
};

struct shown_typed {
	struct typed_object object;
	struct shown_part *parts; /* of one value; NULL: elements or words */
	size_t n, cap;
	uint64_t start;
	struct bits pointers; /* which words are, where there is no type */
	struct arena names;
};

static void take_part(void *context, const struct typed *part, const char *name)
{
	struct shown_typed *s = context;
	VEC_PUSH(s->parts, s->n, s->cap) =
	    (struct shown_part){arena_strndup(&s->names, name, strlen(name)), *part};
}

/* The value of a row; of a word without a type TYPE_NONE. */
static struct typed row_of(const struct shown_typed *s, size_t row)
{
	struct typed v = s->object.value;
	unsigned word = typed_word_size(v.heap);
	uint64_t at = (s->start + row) * word;
	if (s->parts)
		return s->parts[row].value;
	if (v.type != TYPE_NONE)
		return typed_element(&s->object, s->start + row);
	v.bytes += at;
	v.address += at;
	v.size = v.size - at < word ? v.size - at : word;
	return v;
}

static bool row_pointer(
    const struct shown_typed *s, size_t row, const struct typed *v, struct typed_reference *to)
{
	if (v->type != TYPE_NONE)
		return typed_pointer(v, to);
	if (!bits_get(&s->pointers, (uint32_t)(s->start + row)))
		return false;
	*to = typed_resolve(v->heap, typed_word(v, 0));
	return true;
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

/* The first word of a closure is the address of its code. */
static bool is_code(const struct shown_typed *s, const struct typed *v)
{
	const char *class = heap_class_of(v->heap, s->object.id)->name;
	return v->type == TYPE_NONE && v->address == s->object.value.address &&
	    !strncmp(class, "closure of ", strlen("closure of "));
}

/* Where a pointer of no type leads, and what stands there. */
static void add_untyped_pointer(
    const struct heap *h, const struct typed_reference *to, struct text *text)
{
	typed_add_address(h, to->address, text);
	if (to->id == HEAP_NONE || to->offset || heap_class_of(h, to->id)->type == TYPE_NONE)
		return;
	text_addf(text, " %s ", heap_class_of(h, to->id)->name);
	if (!typed_add_object(h, to->id, DESCRIBE_SHORT, text))
		text->s[--text->len] = 0;
}

static void typed_name(const struct shown_typed *s, size_t row, const struct typed *v, struct text *to)
{
	if (s->parts)
		text_add(to, *s->parts[row].name ? s->parts[row].name : "*");
	else if (v->type == TYPE_NONE)
		text_addf(to, "+0x%" PRIx64, v->address - s->object.value.address);
	else
		text_addf(to, "[%" PRIu64 "]", s->start + row);
}

static void typed_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct shown_typed *s = r->data;
	const struct heap *h = r->heap;
	const struct typed v = row_of(s, row);
	struct typed_reference to = {0, HEAP_NONE, 0};
	bool pointer = row_pointer(s, row, &v, &to);
	*out = cell_blank();
	switch (column) {
	case T_NAME:
		typed_name(s, row, &v, scratch);
		*out = cell_text(scratch->s);
		return;
	case T_TYPE:
		*out = cell_text(v.type != TYPE_NONE ? typed_type_name(h, v.type) :
		    pointer ? "pointer" : is_code(s, &v) ? "code" : "word");
		return;
	case T_VALUE:
		if (v.type != TYPE_NONE)
			typed_add(&v, DESCRIBE_SHORT, scratch);
		else if (pointer)
			add_untyped_pointer(h, &to, scratch);
		else if (is_code(s, &v))
			typed_add_address(h, typed_word(&v, 0), scratch);
		else
			add_word(&v, scratch);
		*out = cell_text(scratch->s);
		return;
	case T_CLASS:
		if (to.id != HEAP_NONE)
			*out = cell_text(heap_class_of(h, to.id)->name);
		return;
	case T_ADDRESS:
		if (to.address)
			*out = cell_address(to.address);
		return;
	case T_SHALLOW:
		if (to.id != HEAP_NONE)
			*out = cell_bytes(heap_shallow(h, to.id));
		return;
	case T_OFFSET:
		*out = cell_count(v.address - s->object.value.address);
		return;
	}
}

static void typed_target(const struct result *r, size_t row, struct target *out)
{
	const struct typed v = row_of(r->data, row);
	struct typed_reference to;
	if (row_pointer(r->data, row, &v, &to) && to.id != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = to.id};
}

static void typed_release(void *data)
{
	struct shown_typed *s = data;
	bits_release(&s->pointers);
	arena_release(&s->names);
	free(s->parts);
	free(s);
}

static const struct result_ops typed_ops = {
    .cell = typed_cell, .target = typed_target, .release = typed_release};

/* Words of an object that nothing is known of; the last may be cut. */
static int find_words(struct shown_typed *s, uint64_t *n, struct err *err)
{
	unsigned word = typed_word_size(s->object.value.heap);
	struct slot_walk w = {0};
	*n = (s->object.value.size + word - 1) / word;
	if (*n > UINT32_MAX)
		*n = UINT32_MAX;
	int code = bits_init(&s->pointers, (uint32_t)*n, err);
	while (!code && typed_next_slot(&s->object, &w)) {
		if (w.offset / word < *n)
			bits_set(&s->pointers, (uint32_t)(w.offset / word));
	}
	return code;
}

int inspect_typed(struct result **out, const struct opened *dump, const struct typed_object *o, const char *title,
    uint64_t start, uint64_t length, struct err *err)
{
	struct shown_typed *s = xcalloc(1, sizeof *s);
	uint64_t n = o->count;
	int code = 0;
	s->object = *o;
	if (o->value.type == TYPE_NONE) {
		code = find_words(s, &n, err);
	} else if (!o->array && typed_type(&o->value)->kind == TYPE_ARRAY) {
		const struct type *t = typed_type(&o->value); /* an array that is an object: its elements */
		s->object.array = true;
		s->object.count = n = t->count;
		s->object.value.type = t->element;
		s->object.stride = t->count ? t->size / t->count : 0;
	} else if (!o->array) {
		s->parts = xcalloc(s->cap = 8, sizeof *s->parts);
		typed_parts(&o->value, take_part, s);
		n = s->n;
	}
	if (code) {
		typed_release(s);
		return code;
	}
	if (!s->parts) {
		s->start = start < n ? start : n;
		n = length < n - s->start ? length : n - s->start;
	}
	*out = result_new(title, dump, typed_columns, N_TYPED_COLUMNS, &typed_ops, s, (size_t)n);
	return 0;
}

/* --- entries ------------------------------------------------------------------------------------ */

struct typed_entries {
	struct typed_entry {
		struct typed key, value;
	} *entry;
	size_t n, cap;
	uint64_t start;
	bool map;
};

static void entry_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct typed_entries *s = r->data;
	bool key = column == E_KEY || column == E_KEY_CLASS || column == E_KEY_ADDRESS;
	const struct typed *v = key ? &s->entry[row].key : &s->entry[row].value;
	struct typed_reference to;
	*out = cell_blank();
	if (column == E_INDEX) {
		*out = cell_count(s->start + row);
	} else if (key && !s->map) {
		return;
	} else if (column == E_KEY || column == E_VALUE) {
		typed_add(v, DESCRIBE_SHORT, scratch);
		*out = cell_text(scratch->s);
	} else if (column == E_KEY_CLASS || column == E_VALUE_CLASS) {
		*out = cell_text(typed_type_name(r->heap, v->type));
	} else if (typed_pointer(v, &to) && to.address) {
		*out = cell_address(to.address);
	}
}

static void entry_target(const struct result *r, size_t row, struct target *out)
{
	const struct typed_entries *s = r->data;
	struct typed_reference to;
	if (typed_pointer(&s->entry[row].value, &to) && to.id != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = to.id};
}

static void entry_release(void *data)
{
	struct typed_entries *s = data;
	free(s->entry);
	free(s);
}

static const struct result_ops entry_ops = {
    .cell = entry_cell, .target = entry_target, .release = entry_release};

struct result *inspect_typed_entries(const struct opened *o,
    struct typed_contents *c, const char *title, uint64_t start, uint64_t length)
{
	struct typed_entries *s = xcalloc(1, sizeof *s);
	s->start = start;
	s->map = c->map;
	for (uint64_t i = 0; s->n < length && typed_contents_next(c); i++) {
		if (i >= start)
			VEC_PUSH(s->entry, s->n, s->cap) = (struct typed_entry){c->key, c->value};
	}
	struct result *r = inspect_entry_result(o, title, &entry_ops, s, s->n, c->map);
	if (c->broken)
		r->note = "it runs in a circle or leads astray: shown is what comes before";
	else if (c->found > TYPED_MOST_EMPTY)
		r->note = "its elements have no bytes: shown are the first 65,536 of them";
	return r;
}

int inspect_typed_open(struct typed_contents *c, const struct heap *h, uint32_t id,
    struct text *note, struct err *err)
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
	text_add(note, ": the elements it has, of ");
	text_add_count(note, o.count);
	text_add(note, " that the array behind it has room for");
	return typed_contents_open(c, &s.known[0].value, err);
}

/* Size and capacity in the head of what contains something. */
void inspect_typed_size(struct result *r, const struct heap *h, uint32_t id)
{
	struct typed_object o;
	struct typed_contents c;
	struct slices s;
	struct text text = TEXT_INIT;
	slices_of(&s, h, id);
	if (s.n) {
		slices_add(&s, h, &text);
		result_head(r, "held_as", cell_text(text.s));
	}
	text_release(&text);
	if (!typed_open(&o, h, id) || o.array || o.value.type == TYPE_NONE ||
	    typed_type(&o.value)->kind != TYPE_STRUCT || typed_contents_open(&c, &o.value, NULL))
		return;
	result_head(r, "size", cell_count(c.size));
	if (c.capacity)
		result_head(r, "capacity", cell_count(c.capacity));
}
