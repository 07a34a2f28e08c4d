/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_variables.c - the tables of static fields and of global variables: numbers are numbers, texts whole.
 */
#include "query/sql/sql_private.h"

#ifdef HAVE_SQLITE3

#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { /* as in sql_tables.c */ V_CLASS, V_FIELD, V_TYPE, V_VALUE, V_ADDRESS, V_CLASS_ADDRESS };

struct variables_table {
	sqlite3_vtab base;
	struct sql *sql;
	bool globals;
};

struct variables_cursor {
	sqlite3_vtab_cursor base;
	struct variables_table *table;
	uint32_t class;             /* of the current static fields; behind the last one at the end */
	struct object_parts *parts; /* of its class object, or NULL */
	char **name;                /* of the globals */
	size_t at, n, cap;          /* which of them, or of the parts */
	sqlite3_int64 row;
	struct sql_reader reader;
	uint64_t refusals; /* of memory, before the names were taken */
};

static int connect(struct sql *q, bool globals, sqlite3_vtab **out)
{
	int state = sql_declare_table(q, globals ? SQL_GLOBALS : SQL_STATICS);
	if (state)
		return state;
	struct variables_table *t = xcalloc(1, sizeof *t);
	t->sql = q;
	t->globals = globals;
	*out = &t->base;
	return SQLITE_OK;
}

static int connect_statics(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)argv, (void)error;
	return connect(aux, false, out);
}

static int connect_globals(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)argv, (void)error;
	return connect(aux, true, out);
}

static int disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct sql_plan p = {.all = true};
	double rows = ((struct variables_table *)base)->sql->heap->n_classes;
	return sql_plan_end(&p, info, rows, rows * 10);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct variables_cursor *c = xcalloc(1, sizeof *c);
	c->table = (struct variables_table *)base;
	*out = &c->base;
	return SQLITE_OK;
}

static void begin_again(struct variables_cursor *c)
{
	inspect_parts_close(c->parts);
	c->parts = NULL;
	for (size_t i = 0; i < c->n && c->table->globals; i++)
		free(c->name[i]);
	c->class = 0;
	c->at = c->n = 0;
	c->row = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct variables_cursor *c = (struct variables_cursor *)base;
	begin_again(c);
	free(c->name);
	text_release(&c->reader.scratch);
	free(c);
	return SQLITE_OK;
}

/* --- rows --------------------------------------------------------------------------------------- */

static void take_name(void *cursor, const char *name)
{
	struct variables_cursor *c = cursor;
	if (mem_refusals() != c->refusals) /* there may be many more */
		return;
	VEC_PUSH(c->name, c->n, c->cap) = xstrdup(name);
}

static bool part_at_hand(const struct variables_cursor *c, struct object_part *part)
{
	inspect_part(c->parts, c->at, part);
	return !part->missing && part->name;
}

/* To the next static field, the current one included. */
static int settle(struct variables_cursor *c)
{
	const struct heap *h = c->table->sql->heap;
	struct range all = {0, UINT64_MAX, false};
	struct object_part part;
	for (; c->class < h->n_classes; c->class++, c->at = 0) {
		const struct heap_class *class = &h->classes[c->class];
		if (sql_stops(c->table->sql, c->class))
			return SQLITE_INTERRUPT;
		if (!c->parts && (!class->n_statics || class->object == HEAP_NONE ||
		    inspect_parts(&c->parts, h, class->object, &all, NULL))) {
			c->parts = NULL;
			continue;
		}
		for (; c->at < c->parts->n; c->at++)
			if (part_at_hand(c, &part))
				return SQLITE_OK;
		inspect_parts_close(c->parts);
		c->parts = NULL;
	}
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *words, int argc, sqlite3_value **argv)
{
	(void)number, (void)words, (void)argc, (void)argv;
	struct variables_cursor *c = (struct variables_cursor *)base;
	struct sql *q = c->table->sql;
	begin_again(c);
	sql_note_silent(q);
	if (!c->table->globals)
		return settle(c);
	if (!q->silent.code && !inspect_has_variables(q->heap))
		sql_note(q, "only dumps of Go have global variables (statics has static fields)");
	c->refusals = mem_refusals();
	inspect_variable_names(q->heap, "", take_name, c);
	if (mem_refusals() != c->refusals)
		return SQLITE_NOMEM;
	if (!c->n && q->heap->facts.takes_program && q->heap->dump && !q->heap->dump->program)
		sql_note(q, "without the program (--exe) global variables have no names (roots -by variable lists "
		    "them by address)");
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct variables_cursor *c = (struct variables_cursor *)base;
	c->at++;
	c->row++;
	return c->table->globals ? SQLITE_OK : settle(c);
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct variables_cursor *c = (const struct variables_cursor *)base;
	return c->table->globals ? c->at >= c->n : c->class >= c->table->sql->heap->n_classes;
}

static void result_variable(struct variables_cursor *c, sqlite3_context *to, int i, const char *name,
    const struct any_value *v, const struct value_target *target)
{
	struct sql *q = c->table->sql;
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
		sql_result_words(q, to, v, &c->reader);
		break;
	case V_ADDRESS:
		if (target->address)
			sqlite3_result_int64(to, (sqlite3_int64)target->address);
		break;
	}
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct variables_cursor *c = (struct variables_cursor *)base;
	const struct heap *h = c->table->sql->heap;
	struct object_part part;
	struct variable variable;
	if (c->table->globals) {
		if (i != V_CLASS && i != V_CLASS_ADDRESS && !inspect_variable(&variable, h, c->name[c->at], NULL))
			result_variable(c, to, i, c->name[c->at], &variable.value, &variable.target);
		else if (i == V_FIELD)
			sqlite3_result_text(to, c->name[c->at], -1, SQLITE_TRANSIENT);
		return SQLITE_OK;
	}
	if (i == V_CLASS) {
		sqlite3_result_text(to, h->classes[c->class].name, -1, SQLITE_STATIC);
	} else if (i == V_CLASS_ADDRESS) {
		sql_result_address(to, h, h->classes[c->class].object);
	} else if (part_at_hand(c, &part)) {
		struct value_target target = inspect_target(&part.value);
		struct text name = TEXT_INIT;
		inspect_part_name(c->parts, c->at, &name);
		result_variable(c, to, i, name.s ? name.s : "", &part.value, &target);
		text_release(&name);
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = ((const struct variables_cursor *)base)->row;
	return SQLITE_OK;
}

static const sqlite3_module statics = {
    .xConnect = connect_statics, .xDisconnect = disconnect, .xBestIndex = plan, .xOpen = open_cursor,
    .xClose = close_cursor, .xFilter = filter, .xNext = next, .xEof = eof, .xColumn = column, .xRowid = rowid};
static const sqlite3_module globals = {
    .xConnect = connect_globals, .xDisconnect = disconnect, .xBestIndex = plan, .xOpen = open_cursor,
    .xClose = close_cursor, .xFilter = filter, .xNext = next, .xEof = eof, .xColumn = column, .xRowid = rowid};

int sql_add_variables(struct sql *q)
{
	int state = sqlite3_create_module_v2(q->db, SQL_STATICS, &statics, q, NULL);
	return state ? state : sqlite3_create_module_v2(q->db, SQL_GLOBALS, &globals, q, NULL);
}

#endif
