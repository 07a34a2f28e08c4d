/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_objects.c - the relation of all objects, and those of the instances of classes.
 *
 * A row is an object; its rowid is the object's id.  Constraints on address, id, class and the two sizes choose the
 * candidates; an order by id, class or a size is made here, so that SQLite sorts nothing, and with a limit only as
 * many rows as are asked for are ever put in order.
 */
#include "heap/amounts.h"
#include "heap/classes.h"
#include "query/sql/sql_candidates.h"
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "memory/big.h"
#include "result/objects.h"

#include <stdlib.h>
#include <string.h>

struct objects_table {
	struct relation relation;
	struct shared_fields *fields; /* NULL: it has none */
	struct amount sizes;          /* 0, as sure as the least sure shallow size of the heap */
	bool sizes_known;
	bool *contents;               /* by field: it leads to texts, numbers and the like, which stand for their address */
	bool *texts;                  /* by field: to texts alone */
};

struct objects_rows {
	struct rows rows;
	struct candidates candidates;
	struct fields_walk walk;
	struct sql_reader contents, *fields; /* of the objects themselves; by field, of what it leads to */
};

static const struct objects_of *of(const struct objects_table *t)
{
	return t->relation.of;
}

static size_t n_fields(const struct objects_table *t)
{
	return t->fields ? t->fields->n : 0;
}

/* --- columns ------------------------------------------------------------------------------------ */

static void note_more(const struct objects_table *t)
{
	struct sql *q = t->relation.sql;
	struct text note = TEXT_INIT;
	text_addf(&note, "%.100s has more fields than columns: field(address, 'NAME') has the others",
	    q->heap->classes[of(t)->classes[0]].name);
	sql_note(q, note.s);
	q->now.more_fields = true;
	text_release(&note);
}

static int find_fields(struct objects_table *t, struct err *err)
{
	struct sql *q = t->relation.sql;
	const uint32_t *classes = of(t)->classes;
	size_t n = of(t)->n_classes;
	for (size_t i = 0; i < n; i++)
		t->relation.n += q->heap->classes[classes[i]].n_objects;
	int code = sql_shared_fields(&t->fields, q, classes, n, err);
	if (!code && t->fields->more)
		note_more(t);
	return code == ERR_UNSUPPORTED ? 0 : code;
}

enum { LOOKED = 10000, LOOKED_LED = 200 /* instances, and of these such with an object in the field */ };

/* Which fields lead to values: those of which all objects looked at do. */
static void find_contents(struct objects_table *t)
{
	struct sql *q = t->relation.sql;
	struct fields_walk walk = {.id = HEAP_NONE};
	struct any_value v;
	uint32_t id, looked = 0;
	size_t n = n_fields(t);
	struct led {
		uint32_t all, values, texts;
	} *led = xcalloc(n + 1, sizeof *led);
	struct string_view text;
	t->contents = xcalloc(n + 1, sizeof *t->contents);
	t->texts = xcalloc(n + 1, sizeof *t->texts);
	for (size_t c = 0; n && c < of(t)->n_classes && looked < LOOKED; c++) {
		struct members_walk instances = members_instances(&q->members, of(t)->classes[c]);
		for (; looked < LOOKED && members_next(&q->members, &instances, &id); looked++) {
			for (size_t i = 0; i < n; i++) {
				if (led[i].all >= LOOKED_LED || !inspect_shared_value(t->fields, &walk, id, i, &v))
					continue;
				uint32_t to = inspect_target(&v).id;
				led[i].all += to != HEAP_NONE;
				led[i].values += to != HEAP_NONE && sql_is_value(q, to);
				led[i].texts += to != HEAP_NONE && inspect_text(q->heap, to, &text);
			}
		}
	}
	for (size_t i = 0; i < n; i++) {
		t->contents[i] = led[i].all && led[i].values == led[i].all;
		t->texts[i] = t->contents[i] && led[i].texts == led[i].all;
	}
	free(led);
}

static const char *type_of(const struct shared_field *f, bool contents)
{
	switch (f->kind) {
	case NO_NUMBER:
		return contents ? "" : SQL_ADDRESS;
	case NUMBER_REAL:
		return "REAL";
	default:
		return "INTEGER";
	}
}

void sql_objects_columns(struct sql *q, const struct shared_fields *fields, const bool *contents,
    struct sql_columns *to)
{
	struct shared_field f;
	sql_columns_add_own(to, q->heap, fields);
	for (size_t i = 0; fields && i < fields->n; i++) {
		inspect_shared_field(fields, i, &f);
		sql_columns_add_field(to, fields, i, type_of(&f, contents && contents[i]));
	}
}

/* What is compared with a literal: sizes are numbers, and so is a field that leads to no object. */
static void tell_compared(struct objects_table *t)
{
	struct relation_column *column = t->relation.column;
	struct shared_field f;
	static const int sizes[] = {C_SHALLOW, C_RETAINED, C_LENGTH};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		column[sizes[i]].compared = sql_column_name(&sql_own_columns[sizes[i]]);
	for (size_t i = 0; i < n_fields(t); i++) {
		inspect_shared_field(t->fields, i, &f);
		if (f.kind != NO_NUMBER || t->texts[i])
			column[C_FIELDS + i].compared = f.name;
		column[C_FIELDS + i].has_texts = f.kind == NO_NUMBER;
	}
}

static int open(struct relation *r)
{
	struct objects_table *t = (struct objects_table *)r;
	struct err err = ERR_INIT;
	r->n = of(t)->classes ? 0 : of(t)->ids ? of(t)->n_ids : r->sql->heap->n_objects;
	if (of(t)->classes && find_fields(t, &err))
		return sql_keep(r->sql, &err);
	find_contents(t);
	sql_objects_columns(r->sql, t->fields, t->contents, &r->columns);
	sql_relation_settle(r, sql_own_columns, C_FIELDS);
	tell_compared(t);
	r->rowid = C_ID;
	if (of(t)->n_classes == 1)
		r->column[C_CLASS].ways = 0;
	for (unsigned i = 0; of(t)->ids && i < C_FIELDS; i++) /* they come in their own order, whatever is asked for */
		r->column[i].ways &= (unsigned char)~WAY_ORDER;
	return SQLITE_OK;
}

static void close(struct relation *r)
{
	struct objects_table *t = (struct objects_table *)r;
	inspect_shared_fields_close(t->fields);
	free(t->contents);
	free(t->texts);
}

/* --- rows --------------------------------------------------------------------------------------- */

static bool guess(const struct relation *r, const struct sql_ask *ask, double *rows, double *cost)
{
	*rows = (double)r->n + 1;
	for (unsigned i = 0; i < ask->n; i++) {
		int column = ask->bound[i].column;
		bool equal = ask->bound[i].op[0] == '=';
		if (equal && (column == C_ID || column == C_ADDRESS)) {
			*rows = *cost = 1;
			return true;
		}
		*rows /= !equal ? 4 : column == C_CLASS ? (double)r->sql->heap->n_classes / 4 + 1 : 1000;
	}
	*cost = sql_ask_equal(ask, C_CLASS) ? *rows * 2 : (double)r->n / 8 + *rows;
	return false;
}

static void begin(struct rows *rows)
{
	struct objects_rows *c = (struct objects_rows *)rows;
	c->candidates.of = rows->of->of;
	c->walk = (struct fields_walk){.id = HEAP_NONE};
	c->fields = xcalloc(n_fields((struct objects_table *)rows->of) + 1, sizeof *c->fields);
}

static void end(struct rows *rows)
{
	struct objects_rows *c = (struct objects_rows *)rows;
	candidates_release(&c->candidates);
	text_release(&c->contents.scratch);
	for (size_t i = 0; i < n_fields((struct objects_table *)rows->of); i++)
		text_release(&c->fields[i].scratch);
	free(c->fields);
}

/* Rows that are chosen by their sizes are not surer than the least sure of those. */
static void doubt_choice(struct objects_table *t, const struct sql_ask *ask)
{
	struct sql *q = t->relation.sql;
	struct sql_doubts *doubts = t->relation.doubts;
	const struct heap *h = q->heap;
	if (sql_asks_for(ask, C_RETAINED))
		sql_doubt_choice(q, &doubts->of[C_RETAINED], retained_of_nothing_reached(q->now.retained));
	if (!sql_asks_for(ask, C_SHALLOW))
		return;
	for (uint32_t i = 0; !t->sizes_known && i < h->n_classes; i++) {
		struct amount a = h->classes[i].n_objects ? class_shallow_by_name(h, &h->classes[i]) : amount_exact(0);
		if (a.certainty == UNKNOWN) /* none of those is chosen, and there may be some to choose */
			a = (struct amount){0, LOWER_BOUND, a.reason};
		t->sizes = amount_as_sure(t->sizes, a);
	}
	t->sizes_known = true;
	sql_doubt_choice(q, &doubts->of[C_SHALLOW], t->sizes);
}

static int arrived(struct objects_rows *c, int state)
{
	c->rows.at = c->candidates.at;
	c->rows.n = c->candidates.end;
	return state;
}

static int find(struct rows *rows, const struct sql_ask *ask)
{
	struct objects_rows *c = (struct objects_rows *)rows;
	int state = candidates_find(&c->candidates, ask);
	if (!state && (ask->n || ask->n_orders))
		doubt_choice((struct objects_table *)rows->of, ask);
	return arrived(c, state);
}

static int next(struct rows *rows)
{
	struct objects_rows *c = (struct objects_rows *)rows;
	if (!c->candidates.list || c->candidates.order.first_only)
		return arrived(c, candidates_next(&c->candidates));
	rows->at = ++c->candidates.at;
	return SQLITE_OK;
}

static sqlite3_int64 number(const struct rows *rows)
{
	return candidates_id(&((const struct objects_rows *)rows)->candidates);
}

static void result_field(struct objects_rows *c, sqlite3_context *to, uint32_t id, size_t i)
{
	const struct objects_table *t = (const struct objects_table *)c->rows.of;
	struct sql *q = t->relation.sql;
	struct any_value v;
	if (i < n_fields(t) && inspect_shared_value(t->fields, &c->walk, id, i, &v))
		sql_result_value(q, to, &v, t->contents[i], &c->fields[i]);
	else if (values_away(q->heap))
		sql_unknown(q, &t->relation.doubts->of[C_FIELDS + i]);
}

static struct amount amount(struct rows *rows, int i)
{
	const struct sql *q = rows->of->sql;
	uint32_t id = candidates_id(&((struct objects_rows *)rows)->candidates);
	if (i == C_SHALLOW)
		return heap_size(q->heap, id);
	if (i == C_RETAINED)
		return retained_of(q->now.retained, id);
	if (i == C_LENGTH)
		return heap_elements(q->heap, id);
	return q->heap->roots_missing ? amount_unknown(REASON_ROOTS_MISSING) :
	    amount_exact(q->now.retained->dominators.immediate[id] != NOT_REACHABLE);
}

static void cell(struct rows *rows, sqlite3_context *to, int i)
{
	struct objects_rows *c = (struct objects_rows *)rows;
	struct sql *q = rows->of->sql;
	const struct heap *h = q->heap;
	uint32_t id = candidates_id(&c->candidates);
	const struct heap_class *class = heap_class_of(h, id);
	switch (i) {
	case C_ADDRESS:
		sql_result_address(to, h, id);
		break;
	case C_CLASS:
		sqlite3_result_text(to, class->name, -1, SQLITE_STATIC);
		break;
	case C_SHALLOW:
		sql_rows_amount(rows, to, i, heap_size(h, id));
		break;
	case C_LENGTH:
		if (!object_is_array(h, id))
			break;
		/* fall through */
	case C_RETAINED:
	case C_REACHABLE:
		sql_rows_amount(rows, to, i, amount(rows, i));
		break;
	case C_VALUE:
		sql_unknown(q, &rows->of->doubts->of[i]);
		sql_result_contents(q, to, id, false, &c->contents);
		break;
	case C_ID:
		sqlite3_result_int64(to, id);
		break;
	case C_DOMINATOR: {
		uint32_t dominator = q->now.retained->dominators.immediate[id];
		sql_result_address(to, h, dominator < h->n_objects ? dominator : HEAP_NONE);
		break;
	}
	case C_LOADER:
		sql_result_address(to, h, class->loader);
		break;
	case C_CLASS_ADDRESS:
		sql_result_address(to, h, class->object);
		break;
	case C_HEAP:
		if (h->n_spaces)
			sqlite3_result_text(to, heap_space(h, id), -1, SQLITE_STATIC);
		break;
	default:
		result_field(c, to, id, (size_t)(i - C_FIELDS));
	}
}

/* --- registering -------------------------------------------------------------------------------- */

static void forget(void *of)
{
	struct objects_of *o = of;
	big_free(o->classes);
	bits_release(&o->in);
	free(o);
}

static const struct relation_kind objects = {
    .size = sizeof(struct objects_table), .rows_size = sizeof(struct objects_rows), .open = open, .close = close,
    .forget = forget, .guess = guess, .limits = true, .begin = begin, .end = end, .find = find, .next = next,
    .number = number, .cell = cell, .amount = amount};

static int add(struct sql *q, const char *name, const struct objects_of *like)
{
	struct objects_of *of = xcalloc(1, sizeof *of);
	struct err err = ERR_INIT;
	*of = *like;
	of->sql = q;
	if (of->n_classes > 1 && bits_init(&of->in, q->heap->n_classes, &err)) {
		forget(of);
		return sql_keep(q, &err);
	}
	for (size_t i = 0; of->in.word && i < of->n_classes; i++)
		bits_set(&of->in, of->classes[i]);
	return sql_add_relation(q, name, &objects, of);
}

int sql_add_objects(struct sql *q)
{
	return add(q, SQL_OBJECTS, &(struct objects_of){.ids = NULL});
}

int sql_add_objects_of(struct sql *q, const char *name, const uint32_t *ids, size_t n)
{
	int state = add(q, name, &(struct objects_of){.ids = ids, .n_ids = n});
	if (!state)
		(void)sql_declared(q, name);
	return state;
}

int sql_add_classes(struct sql *q, const char *name, uint32_t *classes, size_t n)
{
	return add(q, name, &(struct objects_of){.classes = classes, .n_classes = n});
}
