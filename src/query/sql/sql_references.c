/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_references.c - the relation of all recorded references, each a row: who holds it, by which field, and what it
 * leads to.
 *
 * With a holder given a row costs a step in its list, with a target one in the list of who references that; without
 * either all are walked, holder by holder, or for an order by targets target by target.  Rows of which no more is
 * wanted than classes and fields are counted (sql_groups.h) where an order or DISTINCT is asked for.
 */
#include "heap/classes.h"
#include "query/sql/sql_groups.h"

#include <string.h>

/* As in sql_refs_columns. */
enum { C_SOURCE, C_FIELD, C_TARGET, C_SOURCE_CLASS, C_TARGET_CLASS, C_SOURCE_ID, C_TARGET_ID };

/* The columns that may form groups of rows. */
enum { K_SOURCE_CLASS, K_FIELD, K_TARGET_CLASS };
static const unsigned key_columns[GROUP_KEYS] = {
    [K_SOURCE_CLASS] = C_SOURCE_CLASS, [K_FIELD] = C_FIELD, [K_TARGET_CLASS] = C_TARGET_CLASS};
#define KEY_COLUMNS (1u << C_SOURCE_CLASS | 1u << C_FIELD | 1u << C_TARGET_CLASS)

struct references_table {
	struct relation relation;
	struct numbered_names *names; /* of fields; a statement may keep one longer than the walk that gave it */
	struct numbered numbered;
	uint32_t numbered_of;         /* the holder that these are of; HEAP_NONE: of none */
};

struct references_rows {
	struct rows rows;
	bool inwards;          /* who is walked is referenced by those in heap.in; else it holds those in heap.out */
	bool down;             /* from the last object to the first */
	uint32_t walked, left; /* the current object; how many are left with it */
	uint64_t at, end;      /* in heap.out or heap.in of the current object */
	uint32_t other;        /* only references with it at their other end; HEAP_NONE: all */
	struct bits classes[2]; /* that count, of holders and of targets; word NULL: all */
	uint32_t same;         /* inwards: so many references of this holder to the target came before */
	bool keys[GROUP_KEYS]; /* these form groups, by which rows are handed out if they are counted */
	struct groups groups;
	struct first_names *first;
	struct text scratch;
};

static struct references_table *table_of(const struct references_rows *c)
{
	return (struct references_table *)c->rows.of;
}

static const struct heap *heap_of(const struct references_rows *c)
{
	return c->rows.of->sql->heap;
}

static int open_table(struct relation *r)
{
	struct references_table *t = (struct references_table *)r;
	struct err err = ERR_INIT;
	r->n = r->sql->heap->n_references;
	t->numbered_of = HEAP_NONE;
	if (opened_references(r->sql->opened, &err) || numbered_names_new(&t->names, r->sql->heap, &err)) {
		t->names = NULL;
		return sql_keep(r->sql, &err);
	}
	return SQLITE_OK;
}

static void close_table(struct relation *r)
{
	numbered_names_free(((struct references_table *)r)->names);
}

/* --- plans -------------------------------------------------------------------------------------- */

static bool is_target(int column)
{
	return column == C_TARGET || column == C_TARGET_ID;
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

static bool is_key(int column)
{
	return column >= 0 && KEY_COLUMNS >> column & 1;
}

/* Count rows where only keys form groups, the order's columns first. */
static bool take_groups(sqlite3_index_info *info, struct sql_ask *ask)
{
	if (!info->nOrderBy || info->colUsed & ~(sqlite3_uint64)KEY_COLUMNS)
		return false;
	for (int i = 0; i < info->nOrderBy; i++)
		if (!is_key(info->aOrderBy[i].iColumn))
			return false;
	for (int i = 0; i < info->nOrderBy; i++)
		sql_ask_order(ask, info->aOrderBy[i].iColumn, info->aOrderBy[i].desc);
	for (int i = 0; i < GROUP_KEYS; i++)
		if (info->colUsed >> key_columns[i] & 1)
			sql_ask_order(ask, (int)key_columns[i], false);
	ask->once = wants(info) >= WANTS_ONCE;
	ask->counted = true;
	info->orderByConsumed = wants(info) != WANTS_ONCE;
	return true;
}

/* Is an object given that holds, or that is the target? */
static const struct sql_bound *end_given(const struct sql_ask *ask, bool target)
{
	const struct sql_bound *b = sql_ask_equal(ask, target ? C_TARGET : C_SOURCE);
	return b ? b : sql_ask_equal(ask, target ? C_TARGET_ID : C_SOURCE_ID);
}

/* Groups, or the orders in which references stand in the heap. */
static bool take_order(const struct relation *r, sqlite3_index_info *info, struct sql_ask *ask)
{
	int column = info->nOrderBy == 1 ? info->aOrderBy[0].iColumn : -1;
	bool whole = !end_given(ask, false) && !end_given(ask, true), told = !(info->colUsed >> C_FIELD & 1);
	if (take_groups(info, ask))
		return true;
	if (!whole || column < 0 || !(r->column[column].ways & WAY_ORDER) || (is_target(column) && !told) ||
	    wants(info) >= WANTS_ONCE)
		return false;
	sql_ask_order(ask, column, info->aOrderBy[0].desc);
	info->orderByConsumed = true;
	return true;
}

static bool guess(const struct relation *r, const struct sql_ask *ask, double *rows, double *cost)
{
	double all = (double)r->n + 1;
	*rows = all;
	*cost = 2 * all;
	if (end_given(ask, false) || end_given(ask, true)) {
		*rows = end_given(ask, true) ? 2 : 4;
		*cost = *rows + 1;
	} else if (ask->n) {
		*rows = all / ((double)r->sql->heap->n_classes / 4 + 1);
		*cost = all / 4 + *rows;
	}
	return false;
}

/* --- walking ------------------------------------------------------------------------------------ */

static void begin(struct rows *rows)
{
	((struct references_rows *)rows)->first = first_names_new();
}

static void release(struct references_rows *c)
{
	groups_release(&c->groups);
	bits_release(&c->classes[0]);
	bits_release(&c->classes[1]);
	memset(c->classes, 0, sizeof c->classes);
}

static void end_rows(struct rows *rows)
{
	struct references_rows *c = (struct references_rows *)rows;
	release(c);
	first_names_free(c->first);
	text_release(&c->scratch);
}

static const struct adjacency *side_of(const struct references_rows *c)
{
	return c->inwards ? &heap_of(c)->in : &heap_of(c)->out;
}

static uint32_t holder_of(const struct references_rows *c)
{
	return c->inwards ? heap_of(c)->in.target[c->at] : c->walked;
}

static uint32_t target_of(const struct references_rows *c)
{
	return c->inwards ? c->walked : heap_of(c)->out.target[c->at];
}

/* Is the object at this end of a reference one of those that count? */
static bool counts(const struct references_rows *c, bool as_target, uint32_t id)
{
	const struct bits *classes = &c->classes[as_target];
	return !classes->word || bits_get(classes, heap_class_index(heap_of(c), id));
}

static void enter(struct references_rows *c)
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
static int settle(struct references_rows *c)
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
		if (sql_stops(c->rows.of->sql, --c->left))
			return SQLITE_INTERRUPT;
		enter(c);
	}
	c->rows.n = 0;
	return SQLITE_OK;
}

static int walk_on(struct references_rows *c)
{
	uint32_t before = c->inwards ? holder_of(c) : 0;
	c->at++;
	c->same = c->inwards && c->at < c->end && holder_of(c) == before ? c->same + 1 : 0;
	return settle(c);
}

/* Where the reference stands in heap.out. */
static uint64_t place_of(const struct references_rows *c)
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
static int number_field(const struct references_rows *c, uint32_t *number, struct err *err)
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

static const char *field_of(const struct references_rows *c, uint32_t number)
{
	const struct relation *r = c->rows.of;
	if (number == NAME_NOT_TOLD && values_away(heap_of(c))) { /* it may be the name that is looked for, or not */
		sql_note_silent(r->sql);
		sql_doubt_choice(r->sql, &r->doubts->of[C_FIELD], (struct amount){0, INFERRED, REASON_DUMP_AWAY});
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
static void result_field(struct references_rows *c, sqlite3_context *to)
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

static int key_of(const struct references_rows *c, struct group_key *key, struct err *err)
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
static int count_groups(struct references_rows *c)
{
	struct err err = ERR_INIT;
	struct group_key key;
	int state = SQLITE_OK;
	for (uint64_t n = 0; !state && c->left; n++) { /* a name may take long to find */
		if (sql_stops(c->rows.of->sql, 64 * n))
			state = SQLITE_INTERRUPT;
		else if (key_of(c, &key, &err) || groups_add(&c->groups, &key, &err))
			state = sql_keep(c->rows.of->sql, &err);
		else
			state = walk_on(c);
	}
	if (!state && groups_arrange(&c->groups, &err))
		state = sql_keep(c->rows.of->sql, &err);
	return state;
}

/* --- cursors ------------------------------------------------------------------------------------ */

static uint32_t object_of(const struct sql *q, const struct sql_bound *b)
{
	if (b->column == C_SOURCE || b->column == C_TARGET)
		return sql_object(q, b->value);
	if (sqlite3_value_type(b->value) != SQLITE_INTEGER)
		return HEAP_NONE;
	sqlite3_int64 id = sqlite3_value_int64(b->value);
	return id >= 0 && id < q->heap->n_objects ? (uint32_t)id : HEAP_NONE;
}

static void order_by(struct references_rows *c, const struct sql_order *order)
{
	struct groups *g = &c->groups;
	bool key = false;
	c->inwards |= is_target(order->column);
	for (unsigned i = 0; i < GROUP_KEYS; i++) {
		if (order->column != (int)key_columns[i])
			continue;
		key = c->keys[i] = true;
		g->order[g->n_orders++] = (struct group_order){.key = i, .down = order->down};
	}
	c->down |= !key && order->down;
}

/* Narrow by a constraint: of an object that stands at an end, or of its class.  *some: rows may be left. */
static int narrow(struct references_rows *c, const struct sql_bound *b, uint32_t ends[2], bool *some)
{
	const struct sql *q = c->rows.of->sql;
	if (b->column == C_SOURCE_CLASS || b->column == C_TARGET_CLASS)
		return sql_classes_named(q, b->value, &c->classes[b->column == C_TARGET_CLASS], some);
	uint32_t id = object_of(q, b);
	ends[is_target(b->column)] = id;
	*some = id != HEAP_NONE;
	return SQLITE_OK;
}

static int find(struct rows *rows, const struct sql_ask *ask)
{
	struct references_rows *c = (struct references_rows *)rows;
	uint32_t ends[2] = {HEAP_NONE, HEAP_NONE}; /* the holder and the target that are given */
	bool some = true;
	int state = SQLITE_OK;
	release(c);
	c->inwards = c->down = false;
	memset(c->keys, 0, sizeof c->keys);
	c->left = 0;
	rows->n = 0;
	for (unsigned i = 0; i < ask->n && !state && some; i++)
		state = narrow(c, &ask->bound[i], ends, &some);
	if (state || !some)
		return state;
	for (unsigned i = 0; i < ask->n_orders; i++)
		order_by(c, &ask->order[i]);
	c->groups.once = ask->once;
	c->inwards |= ends[0] == HEAP_NONE && ends[1] != HEAP_NONE;
	c->left = ends[c->inwards] == HEAP_NONE ? heap_of(c)->n_objects : 1;
	c->walked = ends[c->inwards] != HEAP_NONE ? ends[c->inwards] : c->down ? c->left - 1 : 0;
	c->other = ends[!c->inwards];
	rows->n = UINT64_MAX; /* until the last one */
	enter(c);
	state = settle(c);
	if (state || !ask->counted)
		return state;
	state = count_groups(c);
	rows->n = c->groups.n;
	return state;
}

static int next(struct rows *rows)
{
	struct references_rows *c = (struct references_rows *)rows;
	if (!rows->ask.counted)
		return walk_on(c);
	groups_next(&c->groups);
	rows->at = c->groups.at;
	return SQLITE_OK;
}

/* A column of a row that stands for others like it: only keys are asked for. */
static void result_key(const struct references_rows *c, sqlite3_context *to, int column)
{
	for (unsigned i = 0; i < GROUP_KEYS; i++)
		if (key_columns[i] == (unsigned)column)
			result_name(to, groups_name(&c->groups, i));
}

static void cell(struct rows *rows, sqlite3_context *to, int i)
{
	struct references_rows *c = (struct references_rows *)rows;
	const struct heap *h = heap_of(c);
	if (rows->ask.counted) {
		result_key(c, to, i);
		return;
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
	default:
		sqlite3_result_int64(to, i == C_SOURCE_ID ? holder_of(c) : target_of(c));
	}
}

/* The same of a reference however it is walked to: where a source or a target is given, SQLite asks for both, and knows
 * by it what it had already. */
static sqlite3_int64 number(const struct rows *rows)
{
	const struct references_rows *c = (const struct references_rows *)rows;
	return (sqlite3_int64)(rows->ask.counted ? ((uint64_t)c->groups.at << 32 | c->groups.row) : place_of(c));
}

static const struct relation_kind references = {
    .size = sizeof(struct references_table), .rows_size = sizeof(struct references_rows), .table = SQL_REFS,
    .open = open_table, .close = close_table, .guess = guess, .order = take_order, .begin = begin, .end = end_rows,
    .find = find, .next = next, .number = number, .cell = cell};

int sql_add_references(struct sql *q)
{
	return sql_add_relation(q, SQL_REFS, &references, NULL);
}
