/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_variables.c - relations of static fields and of global variables: numbers are numbers, texts whole.
 */
#include "dump/reader.h"
#include "heap/classes.h"
#include "query/sql/sql_private.h"
#include "query/sql/sql_relation.h"

#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>

enum { /* as in sql_tables.c */ V_CLASS, V_FIELD, V_TYPE, V_VALUE, V_ADDRESS, V_CLASS_ADDRESS };

struct variables_rows {
	struct rows rows;
	uint32_t class;             /* of the current static field */
	struct object_parts *parts; /* of its class object, or NULL */
	size_t part;
	char **name;                /* of the globals */
	size_t n_names, cap;
	struct sql_reader reader;
	uint64_t refusals; /* of memory, before the names were taken */
};

static bool guess(const struct relation *r, const struct sql_ask *ask, double *rows, double *cost)
{
	(void)ask;
	*rows = r->sql->heap->n_classes;
	*cost = *rows * 10;
	return false;
}

static void begin_again(struct variables_rows *c)
{
	inspect_parts_close(c->parts);
	c->parts = NULL;
	for (size_t i = 0; i < c->n_names; i++)
		free(c->name[i]);
	c->class = 0;
	c->part = c->n_names = 0;
}

static void end(struct rows *rows)
{
	struct variables_rows *c = (struct variables_rows *)rows;
	begin_again(c);
	free(c->name);
	text_release(&c->reader.scratch);
}

static void result_variable(struct variables_rows *c, sqlite3_context *to, int i, const char *name,
    const struct any_value *v, const struct value_target *target)
{
	const char *type;
	switch (i) {
	case V_FIELD:
		sqlite3_result_text(to, name, -1, SQLITE_TRANSIENT);
		break;
	case V_TYPE:
		if ((type = inspect_type(v)))
			sqlite3_result_text(to, type, -1, SQLITE_TRANSIENT);
		break;
	case V_VALUE:
		sql_result_words(c->rows.of->sql, to, v, &c->reader);
		break;
	case V_ADDRESS:
		if (target->address)
			sqlite3_result_int64(to, (sqlite3_int64)target->address);
		break;
	}
}

/* --- static fields ------------------------------------------------------------------------------ */

static bool current_part(const struct variables_rows *c, struct object_part *part)
{
	inspect_part(c->parts, c->part, part);
	return !part->missing && part->name;
}

/* To the next static field, the current one included. */
static int settle(struct variables_rows *c)
{
	const struct heap *h = c->rows.of->sql->heap;
	struct range all = {0, UINT64_MAX, false};
	struct object_part part;
	for (; c->class < h->n_classes; c->class++, c->part = 0) {
		const struct heap_class *class = &h->classes[c->class];
		if (sql_stops(c->rows.of->sql, c->class))
			return SQLITE_INTERRUPT;
		if (!c->parts && (!class->n_statics || class->object == HEAP_NONE ||
		    inspect_parts(&c->parts, h, class->object, &all, NULL))) {
			c->parts = NULL;
			continue;
		}
		for (; c->part < c->parts->n; c->part++)
			if (current_part(c, &part))
				return SQLITE_OK;
		inspect_parts_close(c->parts);
		c->parts = NULL;
	}
	c->rows.n = c->rows.at;
	return SQLITE_OK;
}

static int find_statics(struct rows *rows, const struct sql_ask *ask)
{
	(void)ask;
	struct variables_rows *c = (struct variables_rows *)rows;
	begin_again(c);
	sql_note_silent(rows->of->sql);
	rows->n = UINT64_MAX; /* until the last one */
	return settle(c);
}

static int next_static(struct rows *rows)
{
	struct variables_rows *c = (struct variables_rows *)rows;
	c->part++;
	rows->at++;
	return settle(c);
}

static void static_cell(struct rows *rows, sqlite3_context *to, int i)
{
	struct variables_rows *c = (struct variables_rows *)rows;
	const struct heap *h = rows->of->sql->heap;
	struct object_part part;
	if (i == V_CLASS) {
		sqlite3_result_text(to, h->classes[c->class].name, -1, SQLITE_STATIC);
	} else if (i == V_CLASS_ADDRESS) {
		sql_result_address(to, h, h->classes[c->class].object);
	} else if (current_part(c, &part)) {
		struct value_target target = inspect_target(&part.value);
		struct text name = TEXT_INIT;
		inspect_part_name(c->parts, c->part, &name);
		result_variable(c, to, i, name.s ? name.s : "", &part.value, &target);
		text_release(&name);
	}
}

/* --- global variables --------------------------------------------------------------------------- */

static void take_name(void *rows, const char *name)
{
	struct variables_rows *c = rows;
	if (mem_refusals() != c->refusals) /* there may be many more */
		return;
	VEC_PUSH(c->name, c->n_names, c->cap) = xstrdup(name);
}

static int find_globals(struct rows *rows, const struct sql_ask *ask)
{
	(void)ask;
	struct variables_rows *c = (struct variables_rows *)rows;
	struct sql *q = rows->of->sql;
	begin_again(c);
	sql_note_silent(q);
	if (!q->silent.code && !inspect_has_variables(q->heap))
		sql_note(q, "only dumps of Go have global variables (statics has static fields)");
	c->refusals = mem_refusals();
	inspect_variable_names(q->heap, "", take_name, c);
	if (mem_refusals() != c->refusals)
		return SQLITE_NOMEM;
	rows->n = c->n_names;
	if (!rows->n && q->heap->facts.takes_program && q->heap->dump && !q->heap->dump->program)
		sql_note(q, "without the program (--exe) global variables have no names (roots -by variable lists "
		    "them by address)");
	return SQLITE_OK;
}

static void global_cell(struct rows *rows, sqlite3_context *to, int i)
{
	struct variables_rows *c = (struct variables_rows *)rows;
	const char *name = c->name[rows->at];
	struct variable variable;
	if (i != V_CLASS && i != V_CLASS_ADDRESS && !inspect_variable(&variable, rows->of->sql->heap, name, NULL))
		result_variable(c, to, i, name, &variable.value, &variable.target);
	else if (i == V_FIELD)
		sqlite3_result_text(to, name, -1, SQLITE_TRANSIENT);
}

/* ------------------------------------------------------------------------------------------------ */

#define OF_VARIABLES .size = sizeof(struct relation), .rows_size = sizeof(struct variables_rows), .guess = guess, \
	.end = end
static const struct relation_kind statics = {OF_VARIABLES, .table = SQL_STATICS, .find = find_statics,
    .next = next_static, .cell = static_cell};
static const struct relation_kind globals = {OF_VARIABLES, .table = SQL_GLOBALS, .find = find_globals,
    .cell = global_cell};

int sql_add_variables(struct sql *q)
{
	int state = sql_add_relation(q, SQL_STATICS, &statics, NULL);
	return state ? state : sql_add_relation(q, SQL_GLOBALS, &globals, NULL);
}
