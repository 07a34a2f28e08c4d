/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects.c - the one source of rows that are objects.
 */
#include "result/objects.h"

#include "analysis/describe/describe.h"
#include "analysis/search.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/lazy_dump.h"
#include "dump/reader.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "opened/opened.h"
#include "result/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where the fields of a stretch's rows are found. */
enum naming { NAMED, NAMED_BY_OWNER, NAMED_BY_ROW };

struct stretch {
	enum direction direction;
	const char *field;
	enum naming naming; /* by owner: the rows are its references; by row: each references it */
	uint32_t owner;
	uint32_t *ids; /* NULL: the single id below */
	uint32_t one;
	size_t begin, n; /* rows */
	bool big;
};

/* How far the names were found: the next row's is cheap. */
struct named_so_far {
	struct reference_names names;
	const struct stretch *stretch;
	size_t row; /* the next one */
	uint32_t holder;
};

struct object_rows {
	const struct opened *opened;
	const struct heap *heap;
	struct named_so_far *named;
	const unsigned char *what;
	unsigned n_what;            /* columns of the shape; behind them stand fields */
	struct shared_fields *fields; /* or NULL */
	unsigned *field, n_fields;  /* which of them */
	struct fields_walk *walk;
	struct stretch *stretch;
	size_t n, cap, rows;
	struct err lost; /* the first refusal of memory for a stretch */
};

bool object_is_array(const struct heap *h, uint32_t id)
{
	enum class_kind kind = heap_class_of(h, id)->kind;
	return kind == CLASS_OBJECT_ARRAY || kind == CLASS_PRIMITIVE_ARRAY;
}

static struct cell value_cell(const struct heap *h, uint32_t id, struct text *scratch)
{
	uint32_t class = heap_class_mirrored(h, id);
	if (class != HEAP_NONE)
		return cell_text(h->classes[class].name);
	if (!values_held(h))
		return values_away(h) ? cell_unknown(REASON_DUMP_AWAY) : cell_none();
	text_clear(scratch);
	if (describe_object(h, id, DESCRIBE_SHORT, scratch))
		return cell_text(scratch->s);
	return lazy_dump_barred(h->dump) ? cell_unknown(REASON_DUMP_AWAY) : cell_blank();
}

struct cell object_reachable_cell(const struct opened *o, uint32_t id)
{
	const struct retained *r = opened_tree(o);
	if (!r)
		return cell_unknown(REASON_NOT_FOUND_YET);
	bool reachable = r->dominators.immediate[id] != NOT_REACHABLE;
	const struct maybe_live *live = opened_maybe_live(o);
	bool maybe = live ? maybe_live_has(live, id) : !reachable && r->doubt != REASON_NONE;
	/* what is reached by the part of a dump that was read, is so by all of it */
	struct amount sure =
	    reachable && !heap_roots_inferred(o->heap) ? amount_exact(1) : heap_held(o->heap, reachable);
	return cell_flag_as_sure(reachable, amount_weaken(sure, maybe ? INFERRED : EXACT, r->doubt));
}

struct cell object_retained_cell(const struct opened *o, uint32_t id)
{
	const struct retained *r = opened_tree(o);
	if (id == HEAP_NONE)
		return cell_none();
	return r ? cell_bytes(retained_of(r, id)) : cell_unknown(REASON_NOT_FOUND_YET);
}

struct cell row_retained_cell(const struct result *r, void *data, size_t row)
{
	struct target t = {.kind = TARGET_NONE};
	(void)data;
	r->ops->target(r, row, &t);
	if (t.kind == TARGET_THREAD)
		return object_retained_cell(r->opened, r->heap->threads[t.id].object);
	return t.kind == TARGET_OBJECT ? object_retained_cell(r->opened, t.id) : cell_blank();
}

static struct cell children_cell(const struct opened *o, uint32_t id)
{
	const struct retained *r = opened_tree(o);
	uint32_t n;
	if (!r)
		return cell_unknown(REASON_NOT_FOUND_YET);
	retained_children(r, id, &n);
	return cell_count(heap_held(o->heap, n));
}

void object_cell(const struct opened *o, uint32_t id, enum object_column what, struct cell *out,
    struct text *scratch)
{
	const struct heap *h = o->heap;
	switch (what) {
	case OBJECT_ADDRESS:
		*out = cell_address(heap_address(h, id));
		return;
	case OBJECT_CLASS:
		*out = cell_text(heap_class_of(h, id)->name);
		return;
	case OBJECT_SHALLOW:
		*out = cell_bytes(heap_size(h, id));
		return;
	case OBJECT_LENGTH:
		*out = object_is_array(h, id) ? cell_count(heap_elements(h, id)) : cell_blank();
		return;
	case OBJECT_VALUE:
		*out = value_cell(h, id, scratch);
		return;
	case OBJECT_VALUE_IF_ANY:
		*out = object_value_cell(h, id, scratch);
		if (out->type == CELL_NONE && !values_away(h))
			*out = cell_blank();
		return;
	case OBJECT_RETAINED:
		*out = object_retained_cell(o, id);
		return;
	case OBJECT_HEAP:
		*out = h->n_spaces ? cell_text(heap_space(h, id)) : cell_blank();
		return;
	case OBJECT_CHILDREN:
		*out = children_cell(o, id);
		return;
	case OBJECT_UNKNOWN:
	case OBJECT_DIRECTION:
	case OBJECT_FIELD:
		*out = cell_none();
		return;
	}
}

void object_head(struct result *r, uint32_t id, enum column_id column, enum object_column what)
{
	struct cell cell;
	object_cell(r->opened, id, what, &cell, &r->scratch);
	result_head(r, column, cell);
}

struct cell object_value_cell(const struct heap *h, uint32_t id, struct text *scratch)
{
	uint32_t thread = heap_is_root(h, id) ? heap_thread_of(h, id) : HEAP_NONE; /* that of a javacore is one */
	if (thread != HEAP_NONE)
		return cell_text(h->threads[thread].name);
	return value_cell(h, id, scratch);
}

void object_class_words(const struct heap *h, uint32_t id, struct text *to)
{
	uint32_t class = heap_class_mirrored(h, id);
	text_add(to, class != HEAP_NONE ? "class " : "");
	text_add(to, class != HEAP_NONE ? h->classes[class].name : heap_class_of(h, id)->name);
}

/* --- stretches -------------------------------------------------------------------------------- */

const char *direction_word(enum direction direction)
{
	static const char *const words[] = {[DIRECTION_OUT] = "out", [DIRECTION_IN] = "in"};
	return words[direction];
}

struct object_rows *object_rows_new(const struct opened *o)
{
	struct object_rows *rows = xcalloc(1, sizeof *rows);
	rows->opened = o;
	rows->heap = o->heap;
	rows->named = xcalloc(1, sizeof *rows->named);
	return rows;
}

static void add_stretch(struct object_rows *rows, struct stretch s)
{
	struct err err = ERR_INIT;
	struct stretch *to = BIG_PUSH(rows->stretch, rows->n, rows->cap, &err);
	if (!to) {
		if (s.big)
			big_free(s.ids);
		if (!rows->lost.code)
			rows->lost = err;
		return;
	}
	s.begin = rows->rows;
	rows->rows += s.n;
	*to = s;
}

int object_rows_check(const struct object_rows *rows, struct err *err)
{
	if (rows->lost.code && err)
		*err = rows->lost;
	return rows->lost.code;
}

void object_rows_add(struct object_rows *rows, enum direction direction, const char *field,
    uint32_t *ids, size_t n, bool big)
{
	if (n || big)
		add_stretch(rows, (struct stretch){.direction = direction, .field = field,
		    .ids = ids, .n = n, .big = big});
}

static void add_one(struct object_rows *rows, enum direction direction, const char *field, uint32_t id)
{
	add_stretch(rows, (struct stretch){.direction = direction, .field = field, .one = id, .n = 1});
}

void object_rows_free(struct object_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->stretch[i].big)
			big_free(rows->stretch[i].ids);
	}
	big_free(rows->stretch);
	inspect_shared_fields_close(rows->fields);
	free(rows->field);
	free(rows->walk);
	free(rows->named);
	free(rows);
}

static const struct stretch *stretch_of(const struct object_rows *rows, size_t row)
{
	size_t low = 0, high = rows->n - 1; /* the last stretch that begins at or before row */
	while (low < high) {
		size_t middle = high - (high - low) / 2;
		if (rows->stretch[middle].begin <= row)
			low = middle;
		else
			high = middle - 1;
	}
	return &rows->stretch[low];
}

static uint32_t stretch_id(const struct stretch *s, size_t row)
{
	return s->ids ? s->ids[row - s->begin] : s->one;
}

size_t object_rows_count(const struct object_rows *rows)
{
	return rows->rows;
}

uint32_t object_rows_id(const struct object_rows *rows, size_t row, enum direction *direction)
{
	const struct stretch *s = stretch_of(rows, row);
	if (direction)
		*direction = s->direction;
	return stretch_id(s, row);
}

/* --- the names of fields ---------------------------------------------------------------------- */

/* Rows of one holder stand together; how many of them come before this one. */
static size_t rows_before(const struct stretch *s, size_t row)
{
	size_t n = 0;
	while (row - n > s->begin && stretch_id(s, row - n - 1) == stretch_id(s, row))
		n++;
	return n;
}

/* Begin again where the row's name can be found by going forward: at the owner's first reference, or
 * the first row of this holder. */
static size_t begin_names(const struct object_rows *rows, const struct stretch *s, size_t row)
{
	struct named_so_far *named = rows->named;
	named->stretch = s;
	named->holder = s->naming == NAMED_BY_OWNER ? s->owner : stretch_id(s, row);
	reference_names_begin(&named->names, rows->heap, named->holder);
	return s->naming == NAMED_BY_OWNER ? s->begin : row - rows_before(s, row);
}

static struct cell named_cell(
    const struct object_rows *rows, const struct stretch *s, size_t row, struct text *to)
{
	struct named_so_far *named = rows->named;
	uint32_t holder = s->naming == NAMED_BY_OWNER ? s->owner : stretch_id(s, row);
	size_t at = named->row;
	bool found = false;
	if (named->stretch != s || named->holder != holder || row < at)
		at = begin_names(rows, s, row);
	for (; at <= row; at++) {
		uint32_t target = s->naming == NAMED_BY_OWNER ? stretch_id(s, at) : s->owner;
		found = reference_names_next(&named->names, target, at == row ? to : NULL);
	}
	named->row = row + 1;
	return found ? cell_text(to->s) : cell_none();
}

/* --- references ------------------------------------------------------------------------------- */

static void add_recorded(struct object_rows *rows, enum direction direction, enum naming naming,
    uint32_t owner, uint32_t *ids, size_t n)
{
	if (n)
		add_stretch(rows, (struct stretch){.direction = direction, .ids = ids, .n = n,
		    .naming = naming, .owner = owner});
}

void object_rows_out(struct object_rows *rows, uint32_t id, enum direction direction)
{
	const struct heap *h = rows->heap;
	struct implied_reference implied[HEAP_IMPLIED];
	unsigned n = heap_implied(h, id, implied);
	for (unsigned i = 0; i < n; i++)
		add_one(rows, direction, implied[i].field, implied[i].target);
	uint64_t start = adjacency_start(&h->out, id), end = adjacency_start(&h->out, id + 1);
	add_recorded(rows, direction, NAMED_BY_OWNER, id, h->out.target + start, end - start);
}

/* Who holds this class object or loader without saying so, besides the class's instances. */
static void implied_holders(struct object_rows *rows, uint32_t id, enum direction direction)
{
	const struct heap *h = rows->heap;
	for (uint32_t c = 0; c < h->n_classes && !progress_own_stops(8 * c); c++) {
		struct implied_reference implied[HEAP_IMPLIED];
		uint32_t holder = h->classes[c].object;
		if (holder == HEAP_NONE)
			continue;
		unsigned n = heap_implied(h, holder, implied);
		for (unsigned i = 0; i < n; i++) {
			if (implied[i].target == id && strcmp(implied[i].field, "<class>") != 0)
				add_one(rows, direction, implied[i].field, holder);
		}
	}
}

int object_rows_in(struct object_rows *rows, uint32_t id, enum direction direction, struct err *err)
{
	const struct heap *h = rows->heap;
	uint32_t class = heap_class_mirrored(h, id);
	uint64_t start = adjacency_start(&h->in, id), end = adjacency_start(&h->in, id + 1);
	add_recorded(rows, direction, NAMED_BY_ROW, id, h->in.target + start, end - start);
	implied_holders(rows, id, direction);
	if (class == HEAP_NONE || !h->classes[class].n_objects)
		return 0;
	size_t n;
	uint32_t *ids = objects_of_classes(h, &class, 1, &n, err);
	if (!ids)
		return ERR_NOMEM;
	object_rows_add(rows, direction, "<class>", ids, n, true);
	return 0;
}

int object_rows_only(
    struct object_rows *rows, const uint32_t *classes, size_t n_classes, struct err *err)
{
	const struct heap *h = rows->heap;
	struct bits wanted;
	int code = bits_init(&wanted, h->n_classes, err);
	for (size_t i = 0; !code && i < n_classes; i++)
		bits_set(&wanted, classes[i]);
	size_t begin = 0;
	for (size_t i = 0; !code && i < rows->n; i++) {
		struct stretch *s = &rows->stretch[i], old = *s;
		size_t kept = 0;
		uint32_t *ids = big_alloc(old.n, sizeof *ids, err);
		if (!ids) {
			code = ERR_NOMEM;
			break;
		}
		for (size_t row = 0; row < old.n; row++) {
			uint32_t id = stretch_id(&old, old.begin + row);
			if (bits_get(&wanted, heap_class_index(h, id)))
				ids[kept++] = id;
		}
		if (old.big)
			big_free(old.ids);
		s->ids = big_fit(ids, kept, sizeof *ids);
		s->n = kept;
		s->big = true;
		s->begin = begin;
		begin += kept;
	}
	rows->rows = begin;
	bits_release(&wanted);
	return code;
}

/* --- fields as columns ------------------------------------------------------------------------ */

void object_rows_fields(struct object_rows *rows, struct shared_fields *fields, unsigned *which, unsigned n)
{
	rows->fields = fields;
	rows->field = which;
	rows->n_fields = n;
	rows->walk = xcalloc(1, sizeof *rows->walk);
	rows->walk->id = HEAP_NONE;
}

/* digits NULL: they are not wanted. */
static struct cell field_cell(const struct result *r, const struct object_rows *rows, unsigned i,
    uint32_t id, struct text *digits)
{
	struct amount sure = result_of_file(r, amount_exact(0));
	struct any_value v;
	struct number n;
	if (!inspect_shared_value(rows->fields, rows->walk, id, rows->field[i], &v))
		return values_away(r->heap) || lazy_dump_barred(r->heap->dump) ? cell_unknown(REASON_DUMP_AWAY) : cell_none();
	bool counts = inspect_number(&v, &n);
	if (counts && n.kind == NUMBER_FLAG)
		return cell_flag_as_sure(n.bits != 0, sure);
	if (!digits)
		return cell_number("", number_rank(&n), sure);
	inspect_value(&v, DESCRIBE_SHORT, digits);
	if (!counts)
		return cell_text_as_sure(digits->s, sure);
	struct shared_field field;
	inspect_shared_field(rows->fields, rows->field[i], &field);
	size_t beside = digits->len + 1;
	text_add_char(digits, '\0'); /* both stand in one text */
	bool is_date = inspect_date(&v, field.name, digits);
	struct cell cell = cell_number(digits->s, number_rank(&n), sure);
	cell.beside = is_date ? digits->s + beside : NULL;
	return cell;
}

/* Has another column this word already, or would their certainties? */
static bool is_taken(const struct column *columns, unsigned n, const char *name)
{
	static const char suffix[] = "_certainty";
	size_t length = strlen(name);
	for (unsigned c = 0; c < n; c++) {
		const char *other = column_word(&columns[c]);
		size_t other_length = strlen(other), least = length < other_length ? length : other_length;
		const char *rest = length < other_length ? other + least : name + least;
		if (!strncmp(name, other, least) && (!*rest || !strcmp(rest, suffix)))
			return true;
	}
	return false;
}

enum { NAME_MOST = 200 }; /* bytes of a name in a header */

/* Append a name of the dump's, escaped; one that is too long for a header is cut. */
static void add_name(struct text *to, const char *name)
{
	size_t n = strnlen(name, NAME_MOST + 1);
	if (n > NAME_MOST) {
		for (n = NAME_MOST; n && ((unsigned char)name[n] & 0xC0) == 0x80;)
			n--;
	}
	text_add_escaped(to, name, n);
	text_add(to, name[n] ? "…" : "");
}

/* The field's own word; where that is another column's, "Order.id", "com.acme.Order.id", "id#2". */
static const char *column_name(struct result *r, const struct column *columns, unsigned n,
    const struct object_rows *rows, unsigned nth)
{
	struct shared_field field;
	inspect_shared_field(rows->fields, rows->field[nth], &field);
	const char *class = field.declared_in == HEAP_NONE ? "" : r->heap->classes[field.declared_in].name;
	const char *dot = strrchr(class, '.');
	const char *owners[] = {dot ? dot + 1 : class, class};
	struct text name = TEXT_INIT, word = TEXT_INIT;
	inspect_shared_word(rows->fields, rows->field[nth], &word);
	text_add(&name, "");
	add_name(&name, word.s ? word.s : "");
	text_release(&word);
	for (unsigned i = 0; *class && i < 2 && (!name.len || is_taken(columns, n, name.s)); i++) {
		text_clear(&name);
		add_name(&name, owners[i]);
		text_add(&name, ".");
		add_name(&name, field.name);
	}
	/* of n columns one more name is free; where memory was refused for it there is none, which is reported later */
	for (unsigned i = 2; i <= n + 2 && (!name.len || is_taken(columns, n, name.s)); i++) {
		text_clear(&name);
		add_name(&name, field.name);
		text_addf(&name, "#%u", i);
	}
	const char *kept = arena_strndup(&r->arena, name.len ? name.s : "", name.len);
	text_release(&name);
	return kept;
}

static void add_field_columns(struct result *r, const struct object_rows *rows)
{
	static const enum cell_type types[] = {
	    [NO_NUMBER] = CELL_TEXT, [NUMBER_SIGNED] = CELL_NUMBER, [NUMBER_UNSIGNED] = CELL_NUMBER,
	    [NUMBER_REAL] = CELL_NUMBER, [NUMBER_FLAG] = CELL_FLAG};
	unsigned n = r->n_columns + rows->n_fields;
	struct column *columns = arena_alloc(&r->arena, n * sizeof *columns);
	memcpy(columns, r->columns, r->n_columns * sizeof *columns);
	for (unsigned i = 0; i < rows->n_fields; i++) {
		struct shared_field field;
		inspect_shared_field(rows->fields, rows->field[i], &field);
		columns[r->n_columns + i] = (struct column){.id = COL_OWN_NAME, .type = types[field.kind],
		    .name = column_name(r, columns, r->n_columns + i, rows, i)};
	}
	r->columns = columns;
	r->n_columns = n;
}

/* --- as a result ------------------------------------------------------------------------------ */

static void rows_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct object_rows *rows = r->data;
	const struct stretch *s = stretch_of(rows, row);
	if (column >= rows->n_what) {
		*out = field_cell(r, rows, column - rows->n_what, stretch_id(s, row), scratch);
		return;
	}
	enum object_column what = rows->what[column];
	if (what == OBJECT_DIRECTION)
		*out = cell_text(direction_word(s->direction));
	else if (what == OBJECT_FIELD && s->naming != NAMED)
		*out = named_cell(rows, s, row, scratch);
	else if (what == OBJECT_FIELD)
		*out = cell_text(s->field);
	else
		object_cell(rows->opened, stretch_id(s, row), what, out, scratch);
}

static void rows_number(const struct result *r, size_t row, unsigned column, struct cell *out)
{
	const struct object_rows *rows = r->data;
	if (column >= rows->n_what)
		*out = field_cell(r, rows, column - rows->n_what, stretch_id(stretch_of(rows, row), row), NULL);
	else
		rows_cell(r, row, column, out, NULL); /* numbers need no text */
}

static void rows_target(const struct result *r, size_t row, struct target *out)
{
	*out = (struct target){.kind = TARGET_OBJECT, .id = object_rows_id(r->data, row, NULL)};
}

static void rows_release(void *data)
{
	object_rows_free(data);
}

static const struct result_ops rows_ops = {
    .cell = rows_cell, .number = rows_number, .target = rows_target, .release = rows_release};

struct result *object_rows_result(struct object_rows *rows, const char *title,
    const struct shape *shape, const unsigned char *what)
{
	rows->what = what;
	rows->n_what = shape->n_columns;
	struct result *r = result_new(title, rows->opened, shape, &rows_ops, rows, rows->rows);
	if (rows->n_fields)
		add_field_columns(r, rows);
	if (rows->lost.code)
		result_lost(r, &rows->lost);
	return r;
}
