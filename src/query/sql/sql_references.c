/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_references.c - the table of all recorded references, each a row: who holds it, by which field, and what it leads
 * to.
 *
 * With a holder given a row costs a step in its list, with a target one in the list of who references that; without
 * either all are walked, holder by holder.
 */
#include "query/sql/sql_private.h"

#ifdef HAVE_SQLITE3

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { C_SOURCE, C_FIELD, C_TARGET, C_SOURCE_CLASS, C_TARGET_CLASS, C_SOURCE_ID, C_TARGET_ID };
static const char declaration[] = "CREATE TABLE x(source ADDRESS, field TEXT, target ADDRESS, source_class TEXT, "
    "target_class TEXT, source_id INTEGER HIDDEN, target_id INTEGER HIDDEN)";

struct references_table {
	sqlite3_vtab base;
	struct sql *sql;
};

struct references_cursor {
	sqlite3_vtab_cursor base;
	uint32_t holder, last; /* of those that are walked; last: behind the last one */
	uint32_t target;       /* only references to it; HEAP_NONE: all */
	uint64_t at, end;      /* in heap.out of the holder, or in heap.in of the target */
	uint32_t same;         /* so many references of this holder to the target came before */
	uint32_t named;        /* the holder that names are of; HEAP_NONE: of none */
	struct numbered numbered;
	struct numbered_names *names;
	struct first_names *first;
	struct text scratch;
};

static const struct heap *heap_of(const struct references_cursor *c)
{
	return ((const struct references_table *)c->base.pVtab)->sql->heap;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)argv, (void)error;
	struct sql *q = aux;
	struct err err = ERR_INIT;
	if (opened_references(q->opened, &err))
		return sql_keep(q, &err);
	int state = sql_declare(q, declaration);
	if (state)
		return state;
	struct references_table *t = xcalloc(1, sizeof *t);
	t->sql = q;
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	free(base);
	return SQLITE_OK;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct heap *h = ((struct references_table *)base)->sql->heap;
	struct sql_plan p = {.all = true};
	double rows = (double)h->n_references + 1, cost = 2 * rows;
	bool source = false, target = false;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!source && (c->iColumn == C_SOURCE || c->iColumn == C_SOURCE_ID)) {
			sql_plan_take(&p, info, i, c->iColumn == C_SOURCE ? "source=?" : "source_id=?", true);
			source = true;
		} else if (!target && (c->iColumn == C_TARGET || c->iColumn == C_TARGET_ID)) {
			sql_plan_take(&p, info, i, c->iColumn == C_TARGET ? "target=?" : "target_id=?", true);
			target = true;
		}
	}
	if (source || target) {
		rows = target ? 2 : 4;
		cost = rows + 1;
	}
	return sql_plan_end(&p, info, rows, cost);
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct sql *q = ((struct references_table *)base)->sql;
	struct references_cursor *c = xcalloc(1, sizeof *c);
	struct err err = ERR_INIT;
	if (numbered_names_new(&c->names, q->heap, &err)) {
		free(c);
		return sql_keep(q, &err);
	}
	c->first = first_names_new();
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct references_cursor *c = (struct references_cursor *)base;
	numbered_names_free(c->names);
	first_names_free(c->first);
	text_release(&c->scratch);
	free(c);
	return SQLITE_OK;
}

static bool by_target(const struct references_cursor *c)
{
	return c->target != HEAP_NONE && c->last == c->holder;
}

static uint32_t holder_of(const struct references_cursor *c)
{
	return by_target(c) ? heap_of(c)->in.target[c->at] : c->holder;
}

static uint32_t target_of(const struct references_cursor *c)
{
	return by_target(c) ? c->target : heap_of(c)->out.target[c->at];
}

/* To the next row that counts, the one at hand included. */
static int settle(struct references_cursor *c)
{
	const struct heap *h = heap_of(c);
	struct sql *q = ((struct references_table *)c->base.pVtab)->sql;
	if (by_target(c))
		return SQLITE_OK;
	for (;;) {
		while (c->at < c->end && c->target != HEAP_NONE && h->out.target[c->at] != c->target)
			c->at++;
		if (c->at < c->end || c->holder >= c->last)
			return SQLITE_OK;
		if (++c->holder >= c->last)
			return SQLITE_OK;
		if (sql_stops(q, c->holder))
			return SQLITE_INTERRUPT;
		c->at = adjacency_start(&h->out, c->holder);
		c->end = adjacency_start(&h->out, c->holder + 1);
	}
}

static uint32_t object_of(const struct sql *q, const struct sql_word *w, sqlite3_value *value)
{
	if (!strchr(w->name, '_'))
		return sql_object(q, value);
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return HEAP_NONE;
	sqlite3_int64 id = sqlite3_value_int64(value);
	return id >= 0 && id < q->heap->n_objects ? (uint32_t)id : HEAP_NONE;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *words, int argc, sqlite3_value **argv)
{
	(void)number;
	struct references_cursor *c = (struct references_cursor *)base;
	struct sql *q = ((struct references_table *)base->pVtab)->sql;
	const struct heap *h = q->heap;
	struct sql_word w;
	bool holder = false;
	c->holder = 0;
	c->last = h->n_objects;
	c->target = c->named = HEAP_NONE;
	c->at = c->end = 0;
	for (int i = 0; i < argc && sql_plan_next(&words, &w); i++) {
		uint32_t id = object_of(q, &w, argv[i]);
		if (id == HEAP_NONE) {
			c->holder = c->last = 0;
			return SQLITE_OK;
		}
		if (w.name[0] == 's') {
			c->holder = id;
			c->last = id + 1;
			holder = true;
		} else {
			c->target = id;
		}
	}
	if (c->target != HEAP_NONE && !holder) {
		c->last = c->holder;
		c->at = adjacency_start(&h->in, c->target);
		c->end = adjacency_start(&h->in, c->target + 1);
		c->same = 0;
		return SQLITE_OK;
	}
	if (c->holder < c->last) {
		c->at = adjacency_start(&h->out, c->holder);
		c->end = adjacency_start(&h->out, c->holder + 1);
	}
	return settle(c);
}

static int next(sqlite3_vtab_cursor *base)
{
	struct references_cursor *c = (struct references_cursor *)base;
	uint32_t before = holder_of(c);
	c->at++;
	c->same = by_target(c) && c->at < c->end && holder_of(c) == before ? c->same + 1 : 0;
	return settle(c);
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct references_cursor *c = (const struct references_cursor *)base;
	return by_target(c) || c->holder >= c->last ? c->at >= c->end : false;
}

enum { FEW = 64 /* references of a holder, whose names are found all at once */ };

/* The field; which element it is of an array or a map does not count. */
static void result_field(struct references_cursor *c, sqlite3_context *to)
{
	const struct heap *h = heap_of(c);
	struct err err = ERR_INIT;
	uint32_t holder = holder_of(c), target = target_of(c);
	uint64_t start = adjacency_start(&h->out, holder), n = adjacency_start(&h->out, holder + 1) - start;
	uint64_t at = c->at - start;
	if (by_target(c) && n > FEW && heap_class_of(h, holder)->kind != CLASS_OBJECT_ARRAY) {
		text_clear(&c->scratch);
		if (first_name(c->first, h, holder, target, &c->scratch))
			numbered_names_fold(&c->scratch);
		sql_result_text(to, &c->scratch);
		return;
	}
	if (c->named != holder && numbered_names_of(c->names, holder, &c->numbered, &err)) {
		sqlite3_result_error_nomem(to);
		return;
	}
	c->named = holder;
	if (by_target(c)) {
		uint32_t same = c->same;
		for (at = 0; c->numbered.each && at + 1 < n && (h->out.target[start + at] != target || same); at++)
			same -= h->out.target[start + at] == target;
	}
	uint32_t number = c->numbered.each ? c->numbered.each[at] : c->numbered.all;
	if (number == NAME_NOT_TOLD)
		sqlite3_result_null(to);
	else
		sqlite3_result_text(to, numbered_name(c->names, number), -1, SQLITE_TRANSIENT);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct references_cursor *c = (struct references_cursor *)base;
	const struct heap *h = heap_of(c);
	switch (i) {
	case C_SOURCE:
		sql_result_address(to, h, holder_of(c));
		break;
	case C_FIELD:
		result_field(c, to);
		break;
	case C_TARGET:
		sql_result_address(to, h, target_of(c));
		break;
	case C_SOURCE_CLASS:
		sqlite3_result_text(to, heap_class_of(h, holder_of(c))->name, -1, SQLITE_STATIC);
		break;
	case C_TARGET_CLASS:
		sqlite3_result_text(to, heap_class_of(h, target_of(c))->name, -1, SQLITE_STATIC);
		break;
	case C_SOURCE_ID:
		sqlite3_result_int64(to, holder_of(c));
		break;
	default:
		sqlite3_result_int64(to, target_of(c));
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = (sqlite3_int64)((const struct references_cursor *)base)->at;
	return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect, .xDisconnect = disconnect, .xBestIndex = plan, .xOpen = open_cursor, .xClose = close_cursor,
    .xFilter = filter, .xNext = next, .xEof = eof, .xColumn = column, .xRowid = rowid};

int sql_add_references(struct sql *q)
{
	return sqlite3_create_module_v2(q->db, "refs", &module, q, NULL);
}

#endif
