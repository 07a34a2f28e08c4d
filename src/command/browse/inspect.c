/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inspect.c - see inspect.h. */
#include "command/browse/inspect.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/field_words.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- parts -------------------------------------------------------------------------------------- */

/* What x tells of the object before its rows, where it can. */
static const enum column_id head[] = {
    COL_ADDRESS, COL_CLASS, COL_SHALLOW, COL_RETAINED, COL_LENGTH, COL_LOADER, COL_HEAP_NAME, COL_ROOT,
    COL_REACHABLE, COL_HASH, COL_VALUE, COL_SIZE, COL_CAPACITY, COL_FILL, COL_HELD_AS, COL_FINALIZER, COL_TYPED_BY,
    COL_SITE, COL_ID, COL_SUPERCLASS, COL_INSTANCE_SIZE, COL_INSTANCES, COL_INSTANCES_SHALLOW,
    COL_VARIABLE, COL_VARIABLE_VALUE,
};

static const struct column part_columns[] = {
    {.id = COL_NAME},
    {.id = COL_TYPE},
    {.id = COL_VALUE},
    {.id = COL_DECLARED_IN, .hidden = true},
    {.id = COL_CLASS, .hidden = true},
    {.id = COL_ADDRESS, .hidden = true},
    {.id = COL_SHALLOW, .hidden = true},
    {.id = COL_RETAINED, .hidden = true},
    {.id = COL_OFFSET, .hidden = true}, /* the last: not every dump tells it */
};
const struct shape parts_shape = {
    .columns = part_columns, .n_columns = sizeof part_columns / sizeof *part_columns - 1, SHAPE_HEAD(head)};
const struct shape parts_of_memory_shape = {
    .form = "of untyped memory (Go)", SHAPE_COLUMNS(part_columns), SHAPE_HEAD(head)};

/* Where a format holds no values: its references. */
static const struct column reference_columns[R_COLUMNS] = {
    [R_NAME] = {.id = COL_NAME},
    [R_TYPE] = {.id = COL_TYPE, .hidden = true},
    [R_VALUE] = {.id = COL_VALUE_ADDRESS},
    [R_DECLARED_IN] = {.id = COL_DECLARED_IN, .hidden = true},
    [R_CLASS] = {.id = COL_CLASS},
    [R_SHALLOW] = {.id = COL_SHALLOW},
    [R_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
const struct shape references_shape = {.form = "of a format without values",
    SHAPE_COLUMNS(reference_columns), SHAPE_HEAD(head)};

/* A value as it is read from the file now. */
static struct cell value_cell(const struct result *r, const char *s)
{
	return cell_text_as_sure(s, result_of_file(r, amount_exact(0)));
}

/* A number that is a date has that beside it: both texts stand in one. */
static struct cell part_value_cell(const struct result *r, const struct object_parts *parts, size_t row,
    const struct object_part *part, struct text *to)
{
	struct text name = TEXT_INIT;
	inspect_value(&part->value, DESCRIBE_SHORT, to);
	size_t beside = to->len + 1;
	inspect_part_name(parts, row, &name);
	text_add_char(to, '\0');
	bool is_date = inspect_date(&part->value, name.len ? name.s : "", to);
	struct cell cell = value_cell(r, to->s);
	cell.beside = is_date ? to->s + beside : NULL;
	text_release(&name);
	return cell;
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
	switch (r->shape->columns[column].id) {
	case COL_NAME: /* declared_in says of which class */
		if (part.field)
			field_word(h, part.declared_in, part.field, scratch);
		else
			inspect_part_name(parts, row, scratch);
		*out = cell_text(scratch->s);
		return;
	case COL_TYPE:
		*out = cell_text_or_blank(inspect_type(&part.value));
		return;
	case COL_VALUE:
		*out = part.missing ? cell_none() : part_value_cell(r, parts, row, &part, scratch);
		return;
	case COL_DECLARED_IN:
		if (part.declared_in != HEAP_NONE)
			*out = cell_text(h->classes[part.declared_in].name);
		return;
	case COL_CLASS:
		if (to.id != HEAP_NONE)
			*out = cell_text(heap_class_of(h, to.id)->name);
		return;
	case COL_ADDRESS:
		if (to.address)
			*out = cell_address(to.address);
		return;
	case COL_SHALLOW:
		if (to.id != HEAP_NONE)
			*out = cell_bytes(result_of_file(r, heap_size(h, to.id)));
		return;
	case COL_RETAINED:
		if (to.id != HEAP_NONE)
			*out = object_retained_cell(r->opened, to.id);
		return;
	case COL_OFFSET:
		*out = cell_plain(part.offset);
		return;
	default:
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

/* Is there a field that another one hides? */
static bool hides_some(const struct object_parts *parts)
{
	struct object_part part;
	struct text word = TEXT_INIT, own = TEXT_INIT;
	bool hides = false;
	for (size_t i = 0; !hides && i < parts->n; i++) {
		inspect_part(parts, i, &part);
		if (!part.field)
			break;
		text_clear(&word);
		text_clear(&own);
		inspect_part_name(parts, i, &word);
		field_word(parts->heap, part.declared_in, part.field, &own);
		hides = word.len != own.len;
	}
	text_release(&word);
	text_release(&own);
	return hides;
}

struct result *parts_result(
    const struct opened *o, struct object_parts *parts, const char *title)
{
	const struct shape *shape = parts->has_offsets ? &parts_of_memory_shape : &parts_shape;
	struct result *r = result_new(title, o, shape, &part_ops, parts, parts->n);
	if (hides_some(parts))
		result_show_column(r, COL_DECLARED_IN, true);
	return r;
}

/* --- bytes -------------------------------------------------------------------------------------- */

enum { BYTES_A_ROW = 16 };
static const struct column byte_columns[] = {
    {.id = COL_OFFSET},
    {.id = COL_HEX},
    {.id = COL_TEXT},
};
const struct shape bytes_shape = {
    .form = "-hex", SHAPE_COLUMNS(byte_columns), SHAPE_HEAD(head)};

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
	enum column_id what = r->shape->columns[column].id;
	if (what == COL_OFFSET) {
		*out = cell_plain(s->start + at);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (what == COL_HEX)
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
	return result_new(title, o, &bytes_shape, &bytes_ops, s,
	    (size_t)((s->n + BYTES_A_ROW - 1) / BYTES_A_ROW));
}

/* --- entries ------------------------------------------------------------------------------------ */

static const struct column entry_columns[] = {
    {.id = COL_INDEX},
    {.id = COL_KEY},
    {.id = COL_VALUE},
    {.id = COL_KEY_CLASS, .hidden = true},
    {.id = COL_VALUE_CLASS},
    {.id = COL_KEY_ADDRESS, .hidden = true},
    {.id = COL_ADDRESS},
};
const struct shape entries_shape = {SHAPE_COLUMNS(entry_columns)};

static void entry_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct entries *entries = r->data;
	enum column_id what = r->shape->columns[column].id;
	bool of_key = what == COL_KEY || what == COL_KEY_CLASS || what == COL_KEY_ADDRESS;
	struct any_value key, value;
	*out = cell_blank();
	if (what == COL_INDEX) {
		*out = cell_plain(entries->start + row);
		return;
	}
	if (of_key && !entries->map)
		return;
	inspect_entry(entries, row, &key, &value);
	const struct any_value *v = of_key ? &key : &value;
	if (what == COL_KEY || what == COL_VALUE) {
		uint32_t id = inspect_target(v).id;
		inspect_value(v, DESCRIBE_SHORT, scratch);
		bool bare = !strncmp(scratch->s, "0x", 2) && !strchr(scratch->s, ' ');
		if (id != HEAP_NONE && bare) { /* the address is another column */
			text_clear(scratch);
			describe_summary(r->heap, id, scratch);
		}
		if (!scratch->len)
			inspect_value(v, DESCRIBE_SHORT, scratch);
		*out = value_cell(r, scratch->s);
	} else if (what == COL_KEY_CLASS || what == COL_VALUE_CLASS) {
		*out = cell_text_or_blank(inspect_type(v));
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
	    title, o, &entries_shape, &entry_ops, entries, entries->n);
	result_show_column(r, COL_KEY, entries->map); /* no keys where there are none */
	if (entries->note.len)
		r->note = arena_strndup(&r->arena, entries->note.s, entries->note.len);
	result_mark(r, RESULT_LACKS_ROWS, entries->lacks_some);
	return r;
}

/* What one must know of the entries of a collection, if none of them is there. */
static void note_entries(struct result *r, const struct heap *h, uint32_t id)
{
	struct entries *entries;
	if (r->note || inspect_entries(&entries, h, id, &(struct range){.length = 1}, NULL))
		return;
	if (!entries->n && entries->note.len)
		r->note = arena_strndup(&r->arena, entries->note.s, entries->note.len);
	result_mark(r, RESULT_LACKS_ROWS, result_is(r, RESULT_LACKS_ROWS) || entries->lacks_some);
	inspect_entries_close(entries);
}

void collection_head(struct result *r, const struct heap *h, uint32_t id)
{
	struct collection_size size;
	struct text held_as = TEXT_INIT;
	if (inspect_held_as(h, id, &held_as))
		result_head(r, COL_HELD_AS, cell_text(held_as.s));
	text_release(&held_as);
	uint64_t left = h->n_objects;
	if (!inspect_count(h, id, &left, &size))
		return;
	if (h->incomplete)
		note_entries(r, h, id);
	result_head(r, COL_SIZE, size.known ? cell_count(result_of_file(r, amount_exact(size.size))) : cell_none());
	if (size.has_capacity)
		result_head(r, COL_CAPACITY, cell_count(result_of_file(r, amount_exact(size.capacity))));
	if (size.has_fill)
		result_head(r, COL_FILL, cell_percent(
		    result_of_file(r, amount_exact(size.taken)), amount_exact(size.capacity)));
}
