/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_objects.c - the table of all objects, and the tables of the instances of classes.
 *
 * A row is an object; its rowid is the object's id.  Constraints on address, id, class and the two sizes choose the
 * candidates; an order by id, class or a size is made here, so that SQLite sorts nothing, and with a limit only as
 * many rows as are asked for are ever put in order.
 */
#include "query/sql/sql_candidates.h"

#ifdef HAVE_SQLITE3

#include "base/mem.h"
#include "memory/big.h"
#include "result/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RETAINED_COLUMNS (1u << C_RETAINED | 1u << C_REACHABLE | 1u << C_DOMINATOR | 1u << C_RETAINED_CERTAINTY)

struct objects_table {
	sqlite3_vtab base;
	const struct objects_of *of;
	uint64_t n;                   /* objects */
	struct shared_fields *fields; /* NULL: it has none */
	struct sql_doubts *doubts;    /* by column; of fields none are kept */
	struct amount sizes;          /* 0, as sure as the least sure shallow size of the heap */
	bool sizes_known;
	bool *contents;               /* by field: it leads to texts, numbers and the like, which stand for their address */
	bool *texts;                  /* by field: to texts alone */
};

struct objects_cursor {
	sqlite3_vtab_cursor base;
	struct candidates candidates;
	struct fields_walk walk;
	struct sql_reader contents, *fields; /* of the objects themselves; by field, of what it leads to */
};

static struct sql *sql_of(const struct objects_table *t)
{
	return t->of->sql;
}

static size_t n_fields(const struct objects_table *t)
{
	return t->fields ? t->fields->n : 0;
}

/* --- tables ------------------------------------------------------------------------------------- */

static void note_more(const struct objects_table *t)
{
	struct text note = TEXT_INIT;
	text_addf(&note, "%.100s has more fields than columns: field(address, 'NAME') has the others",
	    t->of->sql->heap->classes[t->of->classes[0]].name);
	sql_note(t->of->sql, note.s);
	t->of->sql->more_fields = true;
	text_release(&note);
}

static int find_fields(struct objects_table *t, struct err *err)
{
	const struct objects_of *of = t->of;
	for (size_t i = 0; i < of->n_classes; i++)
		t->n += of->sql->heap->classes[of->classes[i]].n_objects;
	int code = sql_shared_fields(&t->fields, of->sql, of->classes, of->n_classes, err);
	if (!code && t->fields->more)
		note_more(t);
	return code == ERR_UNSUPPORTED ? 0 : code;
}

enum { LOOKED = 10000, LOOKED_LED = 200 /* instances, and of these such with an object in the field */ };

/* Which fields lead to values: those of which all objects looked at do. */
static void find_contents(struct objects_table *t)
{
	struct sql *q = sql_of(t);
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
	for (size_t c = 0; n && c < t->of->n_classes && looked < LOOKED; c++) {
		struct members_walk instances = members_instances(&q->members, t->of->classes[c]);
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

static int declare_columns(struct objects_table *t, const char *called)
{
	struct sql_columns c = {.sql = TEXT_INIT};
	text_add(&c.sql, "CREATE TABLE x(");
	sql_objects_columns(sql_of(t), t->fields, t->contents, &c);
	text_add(&c.sql, ")");
	t->doubts = sql_doubts_new(sql_of(t), called, C_FIELDS + (unsigned)n_fields(t));
	for (unsigned i = 0; i < C_FIELDS + n_fields(t); i++)
		if (i == C_SHALLOW || i == C_RETAINED || i == C_LENGTH || i == C_VALUE || i >= C_FIELDS)
			t->doubts->of[i].column = xstrdup(c.name[i]);
	int state = sql_declare(sql_of(t), c.sql.s);
	sql_columns_release(&c);
	return state;
}

static int disconnect(sqlite3_vtab *base)
{
	struct objects_table *t = (struct objects_table *)base;
	inspect_shared_fields_close(t->fields);
	sql_doubts_free(t->doubts);
	free(t->contents);
	free(t->texts);
	free(t);
	return SQLITE_OK;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)error;
	struct objects_table *t = xcalloc(1, sizeof *t);
	struct err err = ERR_INIT;
	t->of = aux;
	const struct heap *h = sql_of(t)->heap;
	int code = 0;
	t->n = t->of->classes ? 0 : t->of->ids ? t->of->n_ids : h->n_objects;
	if (t->of->classes)
		code = find_fields(t, &err);
	if (!code)
		find_contents(t);
	int state = code ? sql_keep(sql_of(t), &err) : declare_columns(t, argv[2]);
	if (state) {
		disconnect(&t->base);
		return state;
	}
	*out = &t->base;
	return SQLITE_OK;
}

/* --- plans -------------------------------------------------------------------------------------- */

/* What a constraint on this column is called in a plan; NULL: none is of use. */
static const char *word_of(const struct objects_table *t, int column)
{
	switch (column) {
	case -1:
	case C_ID:
		return "id";
	case C_ADDRESS:
		return "address";
	case C_CLASS:
		return t->of->n_classes == 1 ? NULL : "class";
	case C_SHALLOW:
		return "shallow";
	case C_RETAINED:
		return "retained";
	default:
		return NULL;
	}
}

static bool take(struct objects_table *t, struct sql_plan *p, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	const char *op = sql_operator(c->op), *column = word_of(t, c->iColumn);
	char word[32];
	if (!c->usable || !op || !column || (!strcmp(column, "class") && strcmp(op, "=")) ||
	    (!strcmp(column, "class") && strcmp(sqlite3_vtab_collation(info, i), "BINARY")) ||
	    (!strcmp(column, "address") && strcmp(op, "=") && !sql_addresses_ordered(sql_of(t)->heap)))
		return false;
	snprintf(word, sizeof word, "%s%s?", column, op);
	sql_plan_take(p, info, i, word, true);
	return true;
}

/* Rows that are left by the words of a plan, as a guess. */
static double guess_rows(const struct objects_table *t, const char *words)
{
	double rows = (double)t->n + 1;
	struct sql_word w;
	while (sql_plan_next(&words, &w)) {
		if (!strcmp(w.op, "=") && (!strcmp(w.name, "id") || !strcmp(w.name, "address")))
			return 1;
		if (!strcmp(w.op, "="))
			rows /= !strcmp(w.name, "class") ? (double)sql_of(t)->heap->n_classes / 4 + 1 : 1000;
		else if (w.op[0])
			rows /= 4;
	}
	return rows;
}

static bool take_order(struct objects_table *t, struct sql_plan *p, sqlite3_index_info *info)
{
	if (t->of->ids) /* in their own order, whatever is asked for */
		return false;
	const char *column = info->nOrderBy == 1 ? word_of(t, info->aOrderBy[0].iColumn) : NULL;
	bool down = info->nOrderBy == 1 && info->aOrderBy[0].desc;
	if (!column || (!strcmp(column, "address") && !sql_addresses_ordered(sql_of(t)->heap)))
		return false;
	if (!strcmp(column, "address"))
		column = "id";
	text_addf(&p->words, "%sby %s%s", p->words.len ? " " : "", column, down ? " down" : "");
	info->orderByConsumed = 1;
	return true;
}

/* A field, or a size, is compared with a literal. */
static void look_at_literal(const struct objects_table *t, sqlite3_index_info *info, int i)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	int column = info->aConstraint[i].iColumn;
	size_t field = column >= C_FIELDS ? (size_t)(column - C_FIELDS) : 0;
	bool fixed = column == C_SHALLOW || column == C_RETAINED || column == C_LENGTH;
	struct shared_field f = {.name = column == C_SHALLOW ? "shallow" : column == C_RETAINED ? "retained" : "length"};
	sqlite3_value *with;
	if ((!fixed && (column < C_FIELDS || field >= n_fields(t))) || !sql_operator(info->aConstraint[i].op) ||
	    sqlite3_vtab_rhs_value(info, i, &with) || !with)
		return;
	if (!fixed)
		inspect_shared_field(t->fields, field, &f);
	if (fixed || f.kind != NO_NUMBER || t->texts[field])
		sql_note_compared(sql_of(t), f.name, !fixed && f.kind == NO_NUMBER, with);
#else
	(void)t, (void)info, (void)i;
#endif
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct objects_table *t = (struct objects_table *)base;
	struct sql_plan p = {.all = true};
	int limit = -1, offset = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		unsigned char op = info->aConstraint[i].op;
#ifdef SQLITE_INDEX_CONSTRAINT_LIMIT
		if (op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
			*(op == SQLITE_INDEX_CONSTRAINT_LIMIT ? &limit : &offset) = info->aConstraint[i].usable ? i : -1;
			continue;
		}
#endif
		(void)op;
		look_at_literal(t, info, i);
		if (!take(t, &p, info, i))
			p.all = false;
	}
	double rows = guess_rows(t, p.words.len ? p.words.s : "");
	bool ordered = take_order(t, &p, info);
	if (limit >= 0 && p.all && (ordered || !info->nOrderBy) && offset < 0)
		sql_plan_take(&p, info, limit, "limit?", false);
	if (rows == 1)
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	info->idxNum = (info->colUsed & RETAINED_COLUMNS) != 0;
	bool class_known = p.words.len && strstr(p.words.s, "class=?");
	double cost = rows == 1 ? 1 : class_known ? rows * 2 : (double)t->n / 8 + rows;
	return sql_plan_end(&p, info, rows, cost);
}

/* --- cursors ------------------------------------------------------------------------------------ */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct objects_cursor *c = xcalloc(1, sizeof *c);
	c->candidates.of = ((struct objects_table *)base)->of;
	c->walk = (struct fields_walk){.id = HEAP_NONE};
	c->fields = xcalloc(n_fields((struct objects_table *)base) + 1, sizeof *c->fields);
	*out = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct objects_cursor *c = (struct objects_cursor *)base;
	candidates_release(&c->candidates);
	text_release(&c->contents.scratch);
	for (size_t i = 0; i < n_fields((struct objects_table *)base->pVtab); i++)
		text_release(&c->fields[i].scratch);
	free(c->fields);
	free(c);
	return SQLITE_OK;
}

/* Rows that are chosen by their sizes are not surer than the least sure of those. */
static void doubt_choice(struct objects_table *t, const char *words)
{
	struct sql *q = sql_of(t);
	const struct heap *h = q->heap;
	if (strstr(words, "retained"))
		sql_doubt_choice(q, &t->doubts->of[C_RETAINED], retained_of_nothing_reached(q->retained));
	if (!strstr(words, "shallow"))
		return;
	for (uint32_t i = 0; !t->sizes_known && i < h->n_classes; i++) {
		struct amount a = h->classes[i].n_objects ? class_shallow_by_name(h, &h->classes[i]) : amount_exact(0);
		if (a.certainty == UNKNOWN) /* none of those is chosen, and there may be some to choose */
			a = (struct amount){0, LOWER_BOUND, a.reason};
		t->sizes = amount_as_sure(t->sizes, a);
	}
	t->sizes_known = true;
	sql_doubt_choice(q, &t->doubts->of[C_SHALLOW], t->sizes);
}

static int filter(sqlite3_vtab_cursor *base, int needs_retained, const char *words, int argc, sqlite3_value **argv)
{
	struct objects_cursor *c = (struct objects_cursor *)base;
	int state = needs_retained ? sql_need_retained(c->candidates.of->sql) : SQLITE_OK;
	if (!state)
		state = candidates_find(&c->candidates, words, argc, argv);
	if (!state)
		doubt_choice((struct objects_table *)base->pVtab, words);
	return state;
}

static int next(sqlite3_vtab_cursor *base)
{
	return candidates_next(&((struct objects_cursor *)base)->candidates);
}

static int eof(sqlite3_vtab_cursor *base)
{
	return candidates_end(&((const struct objects_cursor *)base)->candidates);
}

static void result_field(struct objects_cursor *c, sqlite3_context *to, uint32_t id, size_t i)
{
	const struct objects_table *t = (const struct objects_table *)c->base.pVtab;
	struct any_value v;
	if (i < n_fields(t) && inspect_shared_value(t->fields, &c->walk, id, i, &v))
		sql_result_value(sql_of(t), to, &v, t->contents[i], &c->fields[i]);
	else {
		if (values_away(sql_of(t)->heap))
			sql_unknown(sql_of(t), &t->doubts->of[C_FIELDS + i]);
		sqlite3_result_null(to);
	}
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct objects_cursor *c = (struct objects_cursor *)base;
	const struct objects_table *t = (const struct objects_table *)base->pVtab;
	struct sql *q = sql_of(t);
	const struct heap *h = q->heap;
	const struct retained *r = q->retained;
	struct amount a;
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
		a = heap_size(h, id);
		sql_doubt(q, &t->doubts->of[i], a);
		sql_result_amount(q, to, a);
		break;
	case C_RETAINED:
		a = retained_of(r, id);
		sql_doubt(q, &t->doubts->of[i], a);
		sql_result_amount(q, to, a);
		break;
	case C_LENGTH:
		a = object_is_array(h, id) ? heap_elements(h, id) : amount_unknown(REASON_SILENT);
		if (object_is_array(h, id))
			sql_doubt(q, &t->doubts->of[i], a);
		sql_result_amount(q, to, a);
		break;
	case C_VALUE:
		sql_unknown(q, &t->doubts->of[i]);
		sql_result_contents(q, to, id, false, &c->contents);
		break;
	case C_ID:
		sqlite3_result_int64(to, id);
		break;
	case C_REACHABLE:
		a = h->roots_missing ? amount_unknown(REASON_ROOTS_MISSING) :
		    amount_exact(r->dominators.immediate[id] != NOT_REACHABLE);
		sql_doubt(q, &t->doubts->of[i], a);
		sql_result_amount(q, to, a);
		break;
	case C_DOMINATOR:
		sql_result_address(to, h, r->dominators.immediate[id] < h->n_objects ? r->dominators.immediate[id] : HEAP_NONE);
		break;
	case C_LOADER:
		sql_result_address(to, h, class->loader);
		break;
	case C_CLASS_ADDRESS:
		sql_result_address(to, h, class->object);
		break;
	case C_SHALLOW_CERTAINTY:
		sql_result_certainty(to, heap_size(h, id));
		break;
	case C_HEAP:
		if (h->n_spaces)
			sqlite3_result_text(to, heap_space(h, id), -1, SQLITE_STATIC);
		break;
	case C_RETAINED_CERTAINTY:
		sql_result_certainty(to, retained_of(r, id));
		break;
	default:
		result_field(c, to, id, (size_t)(i - C_FIELDS));
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = candidates_id(&((const struct objects_cursor *)base)->candidates);
	return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect, .xDisconnect = disconnect, .xBestIndex = plan, .xOpen = open_cursor, .xClose = close_cursor,
    .xFilter = filter, .xNext = next, .xEof = eof, .xColumn = column, .xRowid = rowid};

/* --- registering -------------------------------------------------------------------------------- */

static void forget(void *aux)
{
	struct objects_of *of = aux;
	big_free(of->classes);
	bits_release(&of->in);
	free(of);
}

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
	return sqlite3_create_module_v2(q->db, name, &module, of, forget);
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

#endif
