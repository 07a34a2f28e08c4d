/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inspect.c - see inspect.h. */
#include "command/look/inspect.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- parts -------------------------------------------------------------------------------------- */

enum { V_NAME, V_TYPE, V_VALUE, V_DECLARED_IN, V_CLASS, V_ADDRESS, V_SHALLOW, V_OFFSET };

static const struct column part_columns[] = {
    [V_NAME] = {.name = "name", .type = CELL_TEXT, .shown_by_default = true},
    [V_TYPE] = {.name = "type", .type = CELL_TEXT, .shown_by_default = true},
    [V_VALUE] = {.name = "value", .type = CELL_TEXT, .shown_by_default = true},
    [V_DECLARED_IN] = {.name = "declared_in", .type = CELL_TEXT},
    [V_CLASS] = {.name = "class", .type = CELL_TEXT},
    [V_ADDRESS] = {.name = "address", .type = CELL_ADDRESS},
    [V_SHALLOW] = {.name = "shallow", .type = CELL_BYTES},
    [V_OFFSET] = {.name = "offset", .type = CELL_COUNT}, /* the last: not every dump tells it */
};
#define N_PART_COLUMNS (unsigned)(sizeof part_columns / sizeof *part_columns)

static struct cell text_or_blank(const char *s)
{
	return s ? cell_text(s) : cell_blank();
}

static void part_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct object_parts *parts = r->data;
	const struct heap *h = r->heap;
	struct object_part part;
	inspect_part(parts, row, &part);
	struct value_target to = inspect_target(&part.value);
	*out = cell_blank();
	switch (column) {
	case V_NAME:
		inspect_part_name(parts, row, scratch);
		*out = cell_text(scratch->s);
		return;
	case V_TYPE:
		*out = text_or_blank(inspect_type(&part.value));
		return;
	case V_VALUE:
		if (!part.missing)
			inspect_value(&part.value, DESCRIBE_SHORT, scratch);
		*out = part.missing ? cell_none() : cell_text(scratch->s);
		return;
	case V_DECLARED_IN:
		if (part.declared_in != HEAP_NONE)
			*out = cell_text(h->classes[part.declared_in].name);
		return;
	case V_CLASS:
		if (to.id != HEAP_NONE)
			*out = cell_text(heap_class_of(h, to.id)->name);
		return;
	case V_ADDRESS:
		if (to.address)
			*out = cell_address(to.address);
		return;
	case V_SHALLOW:
		if (to.id != HEAP_NONE)
			*out = heap_size_known(h, to.id) ? cell_bytes(heap_shallow(h, to.id)) : cell_none();
		return;
	case V_OFFSET:
		*out = cell_count(part.offset);
		return;
	}
}

static void part_target(const struct result *r, size_t row, struct target *out)
{
	struct object_part part;
	inspect_part(r->data, row, &part);
	struct value_target to = inspect_target(&part.value);
	if (to.id != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = to.id};
}

static void parts_release(void *data)
{
	inspect_parts_close(data);
}

static const struct result_ops part_ops = {
    .cell = part_cell, .target = part_target, .release = parts_release};

struct result *parts_result(
    const struct opened *o, struct object_parts *parts, const char *title)
{
	unsigned n = parts->has_offsets ? N_PART_COLUMNS : V_OFFSET;
	return result_new(title, o, part_columns, n, &part_ops, parts, parts->n);
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

struct result *bytes_result(const struct opened *o, const char *title, const struct object_bytes *b,
    const struct range *which)
{
	struct shown_bytes *s = xcalloc(1, sizeof *s);
	uint64_t units = b->n / b->unit, start = which->start < units ? which->start : units;
	uint64_t n = which->length < units - start ? which->length : units - start;
	*s = (struct shown_bytes){b->bytes, start * b->unit, n * b->unit};
	return result_new(title, o, byte_columns,
	    (unsigned)(sizeof byte_columns / sizeof *byte_columns), &bytes_ops, s,
	    (size_t)((s->n + BYTES_A_ROW - 1) / BYTES_A_ROW));
}

/* --- entries ------------------------------------------------------------------------------------ */

enum { E_INDEX, E_KEY, E_VALUE, E_KEY_CLASS, E_VALUE_CLASS, E_KEY_ADDRESS, E_ADDRESS };

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

static void entry_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct entries *entries = r->data;
	bool of_key = column == E_KEY || column == E_KEY_CLASS || column == E_KEY_ADDRESS;
	struct any_value key, value;
	*out = cell_blank();
	if (column == E_INDEX) {
		*out = cell_count(entries->start + row);
		return;
	}
	if (of_key && !entries->map)
		return;
	inspect_entry(entries, row, &key, &value);
	const struct any_value *v = of_key ? &key : &value;
	if (column == E_KEY || column == E_VALUE) {
		inspect_value(v, DESCRIBE_SHORT, scratch);
		*out = cell_text(scratch->s);
	} else if (column == E_KEY_CLASS || column == E_VALUE_CLASS) {
		*out = text_or_blank(inspect_type(v));
	} else {
		uint64_t address = inspect_target(v).address;
		*out = address ? cell_address(address) : cell_blank();
	}
}

static void entry_target(const struct result *r, size_t row, struct target *out)
{
	struct any_value key, value;
	inspect_entry(r->data, row, &key, &value);
	struct value_target to = inspect_target(&value);
	if (to.id != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = to.id};
}

static void entries_release(void *data)
{
	inspect_entries_close(data);
}

static const struct result_ops entry_ops = {
    .cell = entry_cell, .target = entry_target, .release = entries_release};

struct result *entries_result(const struct opened *o, struct entries *entries, const char *title)
{
	struct result *r = result_new(
	    title, o, entry_columns, N_ENTRY_COLUMNS, &entry_ops, entries, entries->n);
	struct column *own = arena_alloc(&r->arena, sizeof entry_columns);
	memcpy(own, entry_columns, sizeof entry_columns);
	own[E_KEY].shown_by_default = entries->map; /* no keys where there are none */
	r->columns = own;
	if (entries->note.len)
		r->note = arena_strndup(&r->arena, entries->note.s, entries->note.len);
	return r;
}

void collection_head(struct result *r, const struct heap *h, uint32_t id)
{
	struct collection_size size;
	struct text held_as = TEXT_INIT;
	if (inspect_held_as(h, id, &held_as))
		result_head(r, "held_as", cell_text(held_as.s));
	text_release(&held_as);
	if (!inspect_size(h, id, &size))
		return;
	result_head(r, "size", size.known ? cell_count(size.size) : cell_none());
	if (size.has_capacity)
		result_head(r, "capacity", cell_count(size.capacity));
	if (size.has_fill)
		result_head(r, "fill", cell_percent(size.size, size.capacity));
}
