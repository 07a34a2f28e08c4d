/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_references.c - the table of all recorded references, each a row: who holds it, by which field, and what it leads
 * to.
 *
 * With a holder given a row costs a step in its list, with a target one in the list of who references that; without
 * either all are walked, holder by holder, or for an order by targets target by target.  Rows of which no more is
 * wanted than classes and fields are counted (sql_groups.h) where an order or DISTINCT is asked for.
 */
#include "query/sql/sql_groups.h"

#ifdef HAVE_SQLITE3

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in sql_refs_columns. */
enum { C_SOURCE, C_FIELD, C_TARGET, C_SOURCE_CLASS, C_TARGET_CLASS, C_SOURCE_ID, C_TARGET_ID, COLUMNS };

/* The columns that may form groups of rows. */
enum { K_SOURCE_CLASS, K_FIELD, K_TARGET_CLASS };
static const unsigned key_columns[GROUP_KEYS] = {
    [K_SOURCE_CLASS] = C_SOURCE_CLASS, [K_FIELD] = C_FIELD, [K_TARGET_CLASS] = C_TARGET_CLASS};
#define KEY_COLUMNS (1u << C_SOURCE_CLASS | 1u << C_FIELD | 1u << C_TARGET_CLASS)

struct references_table {
	sqlite3_vtab base;
	struct sql *sql;
	struct sql_doubts *doubts;    /* of the field */
	struct numbered_names *names; /* of fields; a statement may keep one longer than the cursor that gave it */
	struct numbered numbered;
	uint32_t numbered_of;         /* the holder that these are of; HEAP_NONE: of none */
};

struct references_cursor {
	sqlite3_vtab_cursor base;
	bool inwards;          /* who is walked is referenced by those in heap.in; else it holds those in heap.out */
	bool down;             /* from the last object to the first */
	uint32_t walked, left; /* the current object; how many are left with it */
	uint64_t at, end;      /* in heap.out or heap.in of the current object */
	uint32_t other;        /* only references with it at their other end; HEAP_NONE: all */
	struct bits classes[2]; /* that count, of holders and of targets; word NULL: all */
	uint32_t same;         /* inwards: so many references of this holder to the target came before */
	bool grouped;          /* rows are handed out by groups, */
	bool keys[GROUP_KEYS]; /* of which these form the groups */
	struct groups groups;
	struct first_names *first;
	struct text scratch;
};

static struct references_table *table_of(const struct references_cursor *c)
{
	return (struct references_table *)c->base.pVtab;
}

static const struct heap *heap_of(const struct references_cursor *c)
{
	return table_of(c)->sql->heap;
}

static int disconnect(sqlite3_vtab *base)
{
	struct references_table *t = (struct references_table *)base;
	numbered_names_free(t->names);
	sql_doubts_free(t->doubts);
	free(t);
	return SQLITE_OK;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)argv, (void)error;
	struct sql *q = aux;
	struct err err = ERR_INIT;
	if (opened_references(q->opened, &err))
		return sql_keep(q, &err);
	int state = sql_declare_table(q, SQL_REFS);
	if (state)
		return state;
	struct references_table *t = xcalloc(1, sizeof *t);
	t->sql = q;
	t->numbered_of = HEAP_NONE;
	if (numbered_names_new(&t->names, q->heap, &err)) {
		free(t);
		return sql_keep(q, &err);
	}
	t->doubts = sql_doubts_new(q, SQL_REFS, 1);
	t->doubts->of[0].column = xstrdup("field");
	*out = &t->base;
	return SQLITE_OK;
}

/* --- plans -------------------------------------------------------------------------------------- */

static bool is_source(int column)
{
	return column == C_SOURCE || column == C_SOURCE_ID;
}

static bool is_target(int column)
{
	return column == C_TARGET || column == C_TARGET_ID;
}

/* Take what narrows the rows: of each column one constraint. */
static unsigned take_constraints(struct sql_plan *p, sqlite3_index_info *info)
{
	unsigned taken = 0;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		bool class = c->iColumn == C_SOURCE_CLASS || c->iColumn == C_TARGET_CLASS;
		char word[32];
		if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ || c->iColumn < 0 || c->iColumn == C_FIELD ||
		    (class && strcmp(sqlite3_vtab_collation(info, i), "BINARY")))
			continue;
		unsigned also = is_source(c->iColumn) ? 1u << C_SOURCE | 1u << C_SOURCE_ID :
		    is_target(c->iColumn) ? 1u << C_TARGET | 1u << C_TARGET_ID : 1u << c->iColumn;
		if (taken & also)
			continue;
		taken |= also;
		snprintf(word, sizeof word, "%s=?", sql_column_name(&sql_refs_columns[c->iColumn]));
		sql_plan_take(p, info, i, word, true);
	}
	return taken;
}

/* What SQLite wants of an order: rows in it, or equal ones behind each other (it may want the order all the same, as an
 * ORDER BY is alike), or each at least once.  The numbers are SQLite's. */
enum { WANTS_ORDER, WANTS_GROUPS, WANTS_ONCE, WANTS_ORDER_ONCE };

static int wants(sqlite3_index_info *info)
{
#ifdef SQLITE_INDEX_CONSTRAINT_LIMIT /* which came with this function */
	return sqlite3_vtab_distinct(info);
#else
	(void)info;
	return WANTS_ORDER;
#endif
}

static void add_order(struct sql_plan *p, int column, bool down)
{
	text_addf(&p->words, "%sby %s%s", p->words.len ? " " : "", sql_column_name(&sql_refs_columns[column]),
	    down ? " down" : "");
}

/* Count rows where only keys form groups, the order's columns first. */
static bool take_groups(struct sql_plan *p, sqlite3_index_info *info)
{
	unsigned ordered = 0;
	if (!info->nOrderBy || info->colUsed & ~(sqlite3_uint64)KEY_COLUMNS)
		return false;
	for (int i = 0; i < info->nOrderBy; i++)
		if (info->aOrderBy[i].iColumn < 0 || !(KEY_COLUMNS >> info->aOrderBy[i].iColumn & 1))
			return false;
	for (int i = 0; i < info->nOrderBy; i++)
		if (!(ordered >> info->aOrderBy[i].iColumn & 1)) {
			add_order(p, info->aOrderBy[i].iColumn, info->aOrderBy[i].desc);
			ordered |= 1u << info->aOrderBy[i].iColumn;
		}
	for (int i = 0; i < GROUP_KEYS; i++)
		if (info->colUsed >> key_columns[i] & 1 && !(ordered >> key_columns[i] & 1))
			add_order(p, (int)key_columns[i], false);
	if (wants(info) >= WANTS_ONCE)
		text_add(&p->words, " once");
	text_add(&p->words, " counted");
	info->orderByConsumed = wants(info) != WANTS_ONCE;
	return true;
}

/* The orders in which references stand in the heap. */
static void take_walk(struct sql_plan *p, sqlite3_index_info *info, const struct heap *h, unsigned taken)
{
	int column = info->nOrderBy == 1 ? info->aOrderBy[0].iColumn : -1;
	bool address = column == C_SOURCE || column == C_TARGET;
	bool whole = !(taken & (1u << C_SOURCE | 1u << C_TARGET)), told = !(info->colUsed >> C_FIELD & 1);
	if (!whole || (!is_source(column) && !(is_target(column) && told)) || wants(info) >= WANTS_ONCE ||
	    (address && !sql_addresses_ordered(h)))
		return;
	add_order(p, column, info->aOrderBy[0].desc);
	info->orderByConsumed = true;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct heap *h = ((struct references_table *)base)->sql->heap;
	struct sql_plan p = {.all = true};
	double all = (double)h->n_references + 1, rows = all, cost = 2 * rows;
	unsigned taken = take_constraints(&p, info);
	if (taken & (1u << C_SOURCE | 1u << C_TARGET)) {
		rows = taken & 1u << C_TARGET ? 2 : 4;
		cost = rows + 1;
	} else if (taken) {
		rows = all / ((double)h->n_classes / 4 + 1);
		cost = all / 4 + rows;
	}
	if (!take_groups(&p, info))
		take_walk(&p, info, h, taken);
	return sql_plan_end(&p, info, rows, cost);
}

/* --- walking ------------------------------------------------------------------------------------ */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	(void)base;
	struct references_cursor *c = xcalloc(1, sizeof *c);
	c->first = first_names_new();
	*out = &c->base;
	return SQLITE_OK;
}

static void release(struct references_cursor *c)
{
	groups_release(&c->groups);
	bits_release(&c->classes[0]);
	bits_release(&c->classes[1]);
	memset(c->classes, 0, sizeof c->classes);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct references_cursor *c = (struct references_cursor *)base;
	release(c);
	first_names_free(c->first);
	text_release(&c->scratch);
	free(c);
	return SQLITE_OK;
}

static const struct adjacency *side_of(const struct references_cursor *c)
{
	return c->inwards ? &heap_of(c)->in : &heap_of(c)->out;
}

static uint32_t holder_of(const struct references_cursor *c)
{
	return c->inwards ? heap_of(c)->in.target[c->at] : c->walked;
}

static uint32_t target_of(const struct references_cursor *c)
{
	return c->inwards ? c->walked : heap_of(c)->out.target[c->at];
}

/* Is the object at this end of a reference one of those that count? */
static bool counts(const struct references_cursor *c, bool as_target, uint32_t id)
{
	const struct bits *classes = &c->classes[as_target];
	return !classes->word || bits_get(classes, heap_of(c)->class_of[id]);
}

static void enter(struct references_cursor *c)
{
	const struct adjacency *side = side_of(c);
	c->same = 0;
	c->at = c->end = 0;
	if (c->left && counts(c, c->inwards, c->walked)) {
		c->at = adjacency_start(side, c->walked);
		c->end = adjacency_start(side, c->walked + 1);
	}
}

/* To the next reference that counts, the current one included. */
static int settle(struct references_cursor *c)
{
	const uint32_t *ends = side_of(c)->target;
	bool all = c->other == HEAP_NONE && !c->classes[!c->inwards].word;
	while (c->left) {
		while (!all && c->at < c->end && ((c->other != HEAP_NONE && ends[c->at] != c->other) ||
		    !counts(c, !c->inwards, ends[c->at])))
			c->at++;
		if (c->at < c->end)
			return SQLITE_OK;
		c->walked += c->down ? UINT32_MAX : 1;
		if (sql_stops(table_of(c)->sql, --c->left))
			return SQLITE_INTERRUPT;
		enter(c);
	}
	return SQLITE_OK;
}

static int walk_on(struct references_cursor *c)
{
	uint32_t before = c->inwards ? holder_of(c) : 0;
	c->at++;
	c->same = c->inwards && c->at < c->end && holder_of(c) == before ? c->same + 1 : 0;
	return settle(c);
}

/* Where the reference stands in heap.out. */
static uint64_t place_of(const struct references_cursor *c)
{
	const struct adjacency *out = &heap_of(c)->out;
	if (!c->inwards)
		return c->at;
	uint64_t at = adjacency_start(out, holder_of(c)), end = adjacency_start(out, holder_of(c) + 1);
	for (uint32_t same = c->same; at + 1 < end && (out->target[at] != c->walked || same); at++)
		same -= out->target[at] == c->walked;
	return at;
}

/* --- fields ------------------------------------------------------------------------------------- */

/* The number of the reference's field.  0 or ERR_NOMEM. */
static int number_field(const struct references_cursor *c, uint32_t *number, struct err *err)
{
	struct references_table *t = table_of(c);
	uint32_t holder = holder_of(c);
	if (t->numbered_of != holder) {
		t->numbered_of = HEAP_NONE;
		if (numbered_names_of(t->names, holder, &t->numbered, err))
			return ERR_NOMEM;
		t->numbered_of = holder;
	}
	*number = t->numbered.each ? t->numbered.each[place_of(c) - adjacency_start(&heap_of(c)->out, holder)] :
	    t->numbered.all;
	return 0;
}

static const char *field_of(const struct references_cursor *c, uint32_t number)
{
	struct references_table *t = table_of(c);
	if (number == NAME_NOT_TOLD && values_away(heap_of(c))) { /* it may be the name that is looked for, or not */
		sql_note_silent(t->sql);
		sql_doubt_choice(t->sql, &t->doubts->of[0], (struct amount){0, INFERRED, REASON_DUMP_AWAY});
	}
	return number == NAME_NOT_TOLD ? NULL : numbered_name(table_of(c)->names, number);
}

static void result_name(sqlite3_context *to, const char *name)
{
	if (name)
		sqlite3_result_text(to, name, -1, SQLITE_STATIC);
	else
		sqlite3_result_null(to);
}

enum { FEW = 64 /* references of a holder, whose names are found all at once */ };

/* The field; which element it is of an array or a map does not count. */
static void result_field(struct references_cursor *c, sqlite3_context *to)
{
	const struct heap *h = heap_of(c);
	struct err err = ERR_INIT;
	uint32_t holder = holder_of(c), number;
	uint64_t n = adjacency_degree(&h->out, holder);
	if (c->inwards && n > FEW && heap_class_of(h, holder)->kind != CLASS_OBJECT_ARRAY) {
		text_clear(&c->scratch);
		if (first_name(c->first, h, holder, target_of(c), &c->scratch))
			numbered_names_fold(&c->scratch);
		sql_result_text(to, &c->scratch);
	} else if (number_field(c, &number, &err)) {
		sqlite3_result_error_nomem(to);
	} else {
		result_name(to, field_of(c, number));
	}
}

/* --- groups ------------------------------------------------------------------------------------- */

static int key_of(const struct references_cursor *c, struct group_key *key, struct err *err)
{
	const struct heap *h = heap_of(c);
	*key = (struct group_key){.name = {NULL}};
	if (c->keys[K_FIELD] && number_field(c, &key->number[K_FIELD], err))
		return ERR_NOMEM;
	if (c->keys[K_FIELD])
		key->name[K_FIELD] = field_of(c, key->number[K_FIELD]);
	if (c->keys[K_SOURCE_CLASS]) {
		key->number[K_SOURCE_CLASS] = heap_class_of(h, holder_of(c))->name_rank;
		key->name[K_SOURCE_CLASS] = heap_class_of(h, holder_of(c))->name;
	}
	if (c->keys[K_TARGET_CLASS]) {
		key->number[K_TARGET_CLASS] = heap_class_of(h, target_of(c))->name_rank;
		key->name[K_TARGET_CLASS] = heap_class_of(h, target_of(c))->name;
	}
	return 0;
}

/* Count all that is walked.  SQLITE_OK, or what the statement ends with. */
static int count_groups(struct references_cursor *c)
{
	struct err err = ERR_INIT;
	struct group_key key;
	int state = SQLITE_OK;
	for (uint64_t n = 0; !state && c->left; n++) { /* a name may take long to find */
		if (sql_stops(table_of(c)->sql, 64 * n))
			state = SQLITE_INTERRUPT;
		else if (key_of(c, &key, &err) || groups_add(&c->groups, &key, &err))
			state = sql_keep(table_of(c)->sql, &err);
		else
			state = walk_on(c);
	}
	if (!state && groups_arrange(&c->groups, &err))
		state = sql_keep(table_of(c)->sql, &err);
	return state;
}

/* --- cursors ------------------------------------------------------------------------------------ */

static uint32_t object_of(const struct sql *q, const struct sql_word *w, sqlite3_value *value)
{
	if (!strchr(w->name, '_'))
		return sql_object(q, value);
	if (sqlite3_value_type(value) != SQLITE_INTEGER)
		return HEAP_NONE;
	sqlite3_int64 id = sqlite3_value_int64(value);
	return id >= 0 && id < q->heap->n_objects ? (uint32_t)id : HEAP_NONE;
}

static int column_named(const char *name)
{
	int i = 0;
	while (i < COLUMNS && strcmp(sql_column_name(&sql_refs_columns[i]), name))
		i++;
	return i;
}

static void order_by(struct references_cursor *c, int column)
{
	struct groups *g = &c->groups;
	c->inwards |= is_target(column);
	for (unsigned i = 0; i < GROUP_KEYS; i++) {
		if (column != (int)key_columns[i] || c->keys[i])
			continue;
		c->keys[i] = true;
		g->order[g->n_orders++] = (struct group_order){.key = i};
	}
}

/* The order by the column that was last goes down. */
static void turn_order(struct references_cursor *c)
{
	if (c->groups.n_orders)
		c->groups.order[c->groups.n_orders - 1].down = true;
	else
		c->down = true;
}

/* Narrow by a constraint: of an object that stands at an end, or of its class.  *some: rows may be left. */
static int narrow(struct references_cursor *c, const struct sql_word *w, sqlite3_value *value, uint32_t ends[2],
    bool *some)
{
	struct sql *q = table_of(c)->sql;
	int column = column_named(w->name);
	if (column == C_SOURCE_CLASS || column == C_TARGET_CLASS)
		return sql_classes_named(q, value, &c->classes[column == C_TARGET_CLASS], some);
	uint32_t id = object_of(q, w, value);
	ends[is_target(column)] = id;
	*some = id != HEAP_NONE;
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *words, int argc, sqlite3_value **argv)
{
	(void)number;
	struct references_cursor *c = (struct references_cursor *)base;
	uint32_t ends[2] = {HEAP_NONE, HEAP_NONE}; /* the holder and the target that are given */
	struct sql_word w;
	bool some = true;
	int used = 0, state = SQLITE_OK;
	release(c);
	c->inwards = c->down = c->grouped = false;
	memset(c->keys, 0, sizeof c->keys);
	c->left = 0;
	while (!state && some && sql_plan_next(&words, &w)) {
		if (w.argument && used < argc)
			state = narrow(c, &w, argv[used++], ends, &some);
		else if (!strcmp(w.name, "by") && sql_plan_next(&words, &w))
			order_by(c, column_named(w.name));
		else if (!strcmp(w.name, "down"))
			turn_order(c);
		else if (!strcmp(w.name, "once"))
			c->groups.once = true;
		else if (!strcmp(w.name, "counted"))
			c->grouped = true;
	}
	if (state || !some)
		return state;
	c->inwards |= ends[0] == HEAP_NONE && ends[1] != HEAP_NONE;
	c->left = ends[c->inwards] == HEAP_NONE ? heap_of(c)->n_objects : 1;
	c->walked = ends[c->inwards] != HEAP_NONE ? ends[c->inwards] : c->down ? c->left - 1 : 0;
	c->other = ends[!c->inwards];
	enter(c);
	state = settle(c);
	return !state && c->grouped ? count_groups(c) : state;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct references_cursor *c = (struct references_cursor *)base;
	if (!c->grouped)
		return walk_on(c);
	groups_next(&c->groups);
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct references_cursor *c = (const struct references_cursor *)base;
	return c->grouped ? groups_end(&c->groups) : !c->left;
}

/* A column of a row that stands for others like it: only keys are asked for. */
static void result_key(const struct references_cursor *c, sqlite3_context *to, int column)
{
	for (unsigned i = 0; i < GROUP_KEYS; i++)
		if (key_columns[i] == (unsigned)column)
			result_name(to, groups_name(&c->groups, i));
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct references_cursor *c = (struct references_cursor *)base;
	const struct heap *h = heap_of(c);
	if (c->grouped) {
		result_key(c, to, i);
		return SQLITE_OK;
	}
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
		result_name(to, heap_class_of(h, holder_of(c))->name);
		break;
	case C_TARGET_CLASS:
		result_name(to, heap_class_of(h, target_of(c))->name);
		break;
	case C_SOURCE_ID:
		sqlite3_result_int64(to, holder_of(c));
		break;
	default:
		sqlite3_result_int64(to, target_of(c));
	}
	return SQLITE_OK;
}

/* The same of a reference however it is walked to: where a source or a target is given, SQLite asks for both, and knows
 * by it what it had already. */
static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	const struct references_cursor *c = (const struct references_cursor *)base;
	*out = (sqlite3_int64)(c->grouped ? ((uint64_t)c->groups.at << 32 | c->groups.row) : place_of(c));
	return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect, .xDisconnect = disconnect, .xBestIndex = plan, .xOpen = open_cursor, .xClose = close_cursor,
    .xFilter = filter, .xNext = next, .xEof = eof, .xColumn = column, .xRowid = rowid};

int sql_add_references(struct sql *q)
{
	return sqlite3_create_module_v2(q->db, SQL_REFS, &module, q, NULL);
}

#endif
