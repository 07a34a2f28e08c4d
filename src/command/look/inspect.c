/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inspect.c - tables of what an object holds.
 *
 * Rows are read from the dump when they are shown; of an object only its opened values are kept, of
 * a collection the references to keys and values (16 bytes each).
 */
#include "command/look/inspect.h"

#include "analysis/describe/describe.h"
#include "opened/opened.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- fields and elements ------------------------------------------------------------------------ */

enum { V_NAME, V_TYPE, V_VALUE, V_DECLARED_IN, V_CLASS, V_ADDRESS, V_SHALLOW };

static const struct column value_columns[] = {
    [V_NAME] = {.name = "name", .type = CELL_TEXT, .shown_by_default = true},
    [V_TYPE] = {.name = "type", .type = CELL_TEXT, .shown_by_default = true},
    [V_VALUE] = {.name = "value", .type = CELL_TEXT, .shown_by_default = true},
    [V_DECLARED_IN] = {.name = "declared_in", .type = CELL_TEXT},
    [V_CLASS] = {.name = "class", .type = CELL_TEXT},
    [V_ADDRESS] = {.name = "address", .type = CELL_ADDRESS},
    [V_SHALLOW] = {.name = "shallow", .type = CELL_BYTES},
};
#define N_VALUE_COLUMNS (unsigned)(sizeof value_columns / sizeof *value_columns)

struct shown_field {
	const struct heap_field *field;
	uint32_t declared_in;
	struct value value;
	bool missing;
};

struct shown_values {
	struct values values;
	struct shown_field *fields; /* NULL: elements */
	size_t n, cap;
	uint64_t start;
};

static struct shown_field row_value(const struct shown_values *s, size_t row)
{
	if (s->fields)
		return s->fields[row];
	return (struct shown_field){
	    .declared_in = HEAP_NONE, .value = values_element(&s->values, s->start + row)};
}

/* "int"; of a reference the class of the object it leads to, else of an array's component. */
static const char *type_of(const struct shown_values *s, const struct value *v, uint32_t id)
{
	const struct heap *h = s->values.heap;
	if (id != HEAP_NONE)
		return heap_class_of(h, id)->name;
	uint32_t component = h->classes[s->values.class].component;
	if (!s->fields && component != HEAP_NONE && v->type == VALUE_OBJECT)
		return h->classes[component].name;
	return value_type_name(v->type);
}

static void values_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct shown_values *s = r->data;
	const struct heap *h = r->heap;
	struct shown_field f = row_value(s, row);
	uint32_t id = f.missing ? HEAP_NONE : value_object_id(h, &f.value);
	bool reference = f.value.type == VALUE_OBJECT && f.value.bits;
	*out = cell_blank();
	switch (column) {
	case V_NAME:
		if (!f.field)
			text_addf(scratch, "[%" PRIu64 "]", s->start + row);
		*out = cell_text(f.field ? f.field->name : scratch->s);
		return;
	case V_TYPE:
		*out = cell_text(type_of(s, &f.value, id));
		return;
	case V_VALUE:
		if (!f.missing)
			describe_value(h, &f.value, DESCRIBE_SHORT, scratch);
		*out = f.missing ? cell_none() : cell_text(scratch->s);
		return;
	case V_DECLARED_IN:
		if (f.declared_in != HEAP_NONE)
			*out = cell_text(h->classes[f.declared_in].name);
		return;
	case V_CLASS:
		if (id != HEAP_NONE)
			*out = cell_text(heap_class_of(h, id)->name);
		return;
	case V_ADDRESS:
		if (reference)
			*out = cell_address(f.value.bits);
		return;
	case V_SHALLOW:
		if (id != HEAP_NONE)
			*out = heap_size_known(h, id) ? cell_bytes(heap_shallow(h, id)) : cell_none();
		return;
	}
}

static void values_target(const struct result *r, size_t row, struct target *out)
{
	const struct shown_values *s = r->data;
	struct shown_field f = row_value(s, row);
	uint32_t id = f.missing ? HEAP_NONE : value_object_id(r->heap, &f.value);
	if (id != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = id};
}

static void values_release(void *data)
{
	struct shown_values *s = data;
	free(s->fields);
	free(s);
}

static const struct result_ops values_ops = {
    .cell = values_cell, .target = values_target, .release = values_release};

/* Rows of a stretch of n that the caller wants. */
static size_t stretch(uint64_t n, uint64_t *start, uint64_t length)
{
	if (*start > n)
		*start = n;
	return (size_t)(length < n - *start ? length : n - *start);
}

struct result *inspect_values(const struct opened *o, const struct values *v, const char *title, uint64_t start,
    uint64_t length)
{
	struct shown_values *s = xcalloc(1, sizeof *s);
	size_t n;
	s->values = *v;
	s->start = start;
	if (!v->is_class && v->view.kind != OBJECT_INSTANCE) {
		n = stretch(values_length(v), &s->start, length);
	} else {
		struct field_walk w = {.values = v};
		s->fields = xcalloc(s->cap = 8, sizeof *s->fields);
		while (values_next_field(&w))
			VEC_PUSH(s->fields, s->n, s->cap) = (struct shown_field){
			    w.field, w.declared_in, w.value, w.missing};
		n = s->n;
	}
	return result_new(title, o, value_columns, N_VALUE_COLUMNS, &values_ops, s, n);
}

/* --- bytes -------------------------------------------------------------------------------------- */

enum { BYTES_A_ROW = 16 };

static const struct column byte_columns[] = {
    {.name = "offset", .type = CELL_COUNT, .shown_by_default = true},
    {.name = "hex", .type = CELL_TEXT, .shown_by_default = true},
    {.name = "text", .type = CELL_TEXT, .shown_by_default = true},
};

struct shown_bytes {
	const uint8_t *bytes;
	uint64_t start, n;
};

static void bytes_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct shown_bytes *s = r->data;
	uint64_t at = (uint64_t)row * BYTES_A_ROW;
	uint64_t n = s->n - at < BYTES_A_ROW ? s->n - at : BYTES_A_ROW;
	const uint8_t *p = s->bytes + s->start + at;
	if (column == 0) {
		*out = cell_count(s->start + at);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (column == 1)
			text_addf(scratch, i == 8 ? "  %02x" : i ? " %02x" : "%02x", p[i]);
		else
			text_add_char(scratch, p[i] >= 0x20 && p[i] < 0x7F ? (char)p[i] : '.');
	}
	*out = cell_text(scratch->s);
}

static const struct result_ops bytes_ops = {
    .cell = bytes_cell, .release = free};

struct result *inspect_memory(const struct opened *o, const char *title, const uint8_t *bytes,
    uint64_t start, uint64_t n)
{
	struct shown_bytes *s = xcalloc(1, sizeof *s);
	*s = (struct shown_bytes){bytes, start, n};
	return result_new(title, o, byte_columns,
	    (unsigned)(sizeof byte_columns / sizeof *byte_columns), &bytes_ops, s,
	    (size_t)((n + BYTES_A_ROW - 1) / BYTES_A_ROW));
}

struct result *inspect_bytes(const struct opened *o, const struct values *v, const char *title, uint64_t start,
    uint64_t length)
{
	unsigned size = values_size_of(v->heap, values_element_type(v));
	size_t n = stretch(values_length(v), &start, length);
	return inspect_memory(o, title, v->view.bytes, start * size, (uint64_t)n * size);
}

/* --- entries ------------------------------------------------------------------------------------ */

static const struct column entry_columns[] = {
    [E_INDEX] = {.name = "index", .type = CELL_COUNT, .shown_by_default = true},
    [E_KEY] = {.name = "key", .type = CELL_TEXT, .shown_by_default = true},
    [E_VALUE] = {.name = "value", .type = CELL_TEXT, .shown_by_default = true},
    [E_KEY_CLASS] = {.name = "key_class", .type = CELL_TEXT},
    [E_VALUE_CLASS] = {.name = "value_class", .type = CELL_TEXT, .shown_by_default = true},
    [E_KEY_ADDRESS] = {.name = "key_address", .type = CELL_ADDRESS},
    [E_ADDRESS] = {.name = "address", .type = CELL_ADDRESS, .shown_by_default = true},
};
#define N_ENTRY_COLUMNS (unsigned)(sizeof entry_columns / sizeof *entry_columns)

struct shown_entries {
	struct shown_entry {
		uint64_t key, value; /* addresses */
	} *entry;
	size_t n, cap;
	uint64_t start;
	bool map;
};

static void address_cells(const struct heap *h, uint64_t address, bool class, struct cell *out)
{
	struct value v = {VALUE_OBJECT, address};
	uint32_t id = value_object_id(h, &v);
	if (class)
		*out = id == HEAP_NONE ? cell_blank() : cell_text(heap_class_of(h, id)->name);
	else
		*out = address ? cell_address(address) : cell_blank();
}

static void entries_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct shown_entries *s = r->data;
	const struct shown_entry *e = &s->entry[row];
	bool key = column == E_KEY || column == E_KEY_CLASS || column == E_KEY_ADDRESS;
	struct value v = {VALUE_OBJECT, key ? e->key : e->value};
	if (column == E_INDEX) {
		*out = cell_count(s->start + row);
	} else if (key && !s->map) {
		*out = cell_blank();
	} else if (column == E_KEY || column == E_VALUE) {
		describe_value(r->heap, &v, DESCRIBE_SHORT, scratch);
		*out = cell_text(scratch->s);
	} else {
		address_cells(
		    r->heap, v.bits, column == E_KEY_CLASS || column == E_VALUE_CLASS, out);
	}
}

static void entries_target(const struct result *r, size_t row, struct target *out)
{
	const struct shown_entries *s = r->data;
	struct value v = {VALUE_OBJECT, s->entry[row].value};
	uint32_t id = value_object_id(r->heap, &v);
	if (id != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = id};
}

static void entries_release(void *data)
{
	struct shown_entries *s = data;
	free(s->entry);
	free(s);
}

static const struct result_ops entries_ops = {
    .cell = entries_cell, .target = entries_target, .release = entries_release};

/* The columns that say something: no keys where there are none. */
struct result *inspect_entry_result(const struct opened *o, const char *title,
    const struct result_ops *ops, void *data, size_t n, bool map)
{
	struct result *r = result_new(title, o, entry_columns, N_ENTRY_COLUMNS, ops, data, n);
	struct column *own = arena_alloc(&r->arena, sizeof entry_columns);
	memcpy(own, entry_columns, sizeof entry_columns);
	own[E_KEY].shown_by_default = map;
	r->columns = own;
	return r;
}

static int typed_entries(struct result **out, const struct opened *o, uint32_t id, const char *title,
    uint64_t start, uint64_t length, struct err *err)
{
	struct typed_contents c;
	struct text note = TEXT_INIT;
	int code = inspect_typed_open(&c, o->heap, id, &note, err);
	if (!code) {
		*out = inspect_typed_entries(o, &c, title, start, length);
		if (note.len && !(*out)->note)
			(*out)->note = arena_strndup(&(*out)->arena, note.s, note.len);
	}
	text_release(&note);
	return code;
}

int inspect_entries(struct result **out, const struct opened *o, uint32_t id, const char *title,
    uint64_t start, uint64_t length, struct err *err)
{
	struct collection c;
	struct collection_entry e;
	const struct heap *h = o->heap;
	if (typed_held(h))
		return typed_entries(out, o, id, title, start, length, err);
	int code = collection_open(&c, h, id, err);
	if (code) {
		collection_close(&c);
		return code;
	}
	struct shown_entries *s = xcalloc(1, sizeof *s);
	s->start = start;
	s->map = c.view == VIEW_MAP;
	while (s->n < length && collection_next(&c, &e)) {
		if (e.index >= start)
			VEC_PUSH(s->entry, s->n, s->cap) =
			    (struct shown_entry){e.has_key ? e.key.bits : 0, e.value.bits};
	}
	struct result *r = inspect_entry_result(o, title, &entries_ops, s, s->n, s->map);
	if (c.broken)
		r->note = "its nodes run in a circle or lead astray: shown is what comes before";
	collection_close(&c);
	*out = r;
	return 0;
}

void inspect_size(struct result *r, const struct heap *h, uint32_t id)
{
	struct collection_size size;
	if (typed_held(h)) {
		inspect_typed_size(r, h, id);
		return;
	}
	if (!values_held(h) || !collection_size(h, id, &size))
		return;
	result_head(r, "size", size.known ? cell_count(size.size) : cell_none());
	if (!size.has_capacity)
		return;
	result_head(r, "capacity", cell_count(size.capacity));
	if (size.known && size.capacity)
		result_head(r, "fill", cell_percent(size.size, size.capacity));
}
