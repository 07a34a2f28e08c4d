/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_table.c - the one module by which SQLite sees relations: declarations, plans, walks, and how sure values are.
 *
 * A plan goes from xBestIndex to xFilter as its number among those of the relation, and to EXPLAIN as words, in which %
 * is the table: "look up % by its class, where retained is at least a value" (sql_plans.c).
 */
#include "query/sql/sql_relation.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registered {
	struct sql *sql;
	const struct relation_kind *kind;
	void *of;
};

/* --- declarations ------------------------------------------------------------------------------- */

void sql_relation_settle(struct relation *r, const struct sql_column *like, size_t n)
{
	r->column = xcalloc(r->columns.n + 1, sizeof *r->column);
	for (size_t i = 0; i < r->columns.n; i++) {
		r->column[i].certainty_of = -1;
		if (i >= n)
			continue;
		r->column[i].ways = like[i].ways;
		r->column[i].end = like[i].end;
		r->column[i].needs = like[i].needs;
		if (like[i].certainty_of)
			r->column[i].certainty_of = like[i].certainty_of;
		/* SQL compares addresses with a sign: those above all others are for SQLite to put in order */
		if (like[i].type && !strcmp(like[i].type, SQL_ADDRESS) && !sql_addresses_ordered(r->sql->heap))
			r->column[i].ways &= (unsigned char)~(WAY_RANGE | WAY_ORDER);
	}
}

static void add_columns(struct relation *r)
{
	const struct sql_column *columns = sql_table_called(r->kind->table)->columns;
	size_t n = 0;
	for (; !sql_columns_end(&columns[n]); n++)
		sql_columns_add(&r->columns, sql_column_name(&columns[n]), columns[n].type, columns[n].hidden);
	sql_relation_settle(r, columns, n);
}

static int declare(struct relation *r, const char *name)
{
	struct sql *q = r->sql;
	struct text t = TEXT_INIT;
	text_addf(&t, "CREATE TABLE x(%s)", r->columns.sql.s ? r->columns.sql.s : "");
	q->declares = true;
	/* without memory words may be missing, and a table stays as it is declared */
	int state = mem_refusals() != q->now.refusals ? SQLITE_NOMEM : sqlite3_declare_vtab(q->db, t.s);
	q->declares = false;
	text_release(&t);
	if (!state)
		r->doubts = sql_doubts_new(q, name, r->columns.name, (unsigned)r->columns.n);
	return state;
}

static int disconnect(sqlite3_vtab *base)
{
	struct relation *r = (struct relation *)base;
	if (r->kind->close)
		r->kind->close(r);
	sql_doubts_free(r->doubts);
	sql_columns_release(&r->columns);
	free(r->column);
	free(r->plan);
	free(r);
	return SQLITE_OK;
}

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
	(void)db, (void)argc, (void)error;
	const struct registered *as = aux;
	struct relation *r = xcalloc(1, as->kind->size);
	r->sql = as->sql;
	r->kind = as->kind;
	r->of = as->of;
	r->rowid = -1;
	r->columns = (struct sql_columns){.sql = TEXT_INIT};
	if (r->kind->table)
		add_columns(r);
	int state = r->kind->open ? r->kind->open(r) : SQLITE_OK;
	if (!state)
		state = declare(r, argv[2]);
	if (state)
		disconnect(&r->base);
	else
		*out = &r->base;
	return state;
}

/* --- plans -------------------------------------------------------------------------------------- */

static const char *operator_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return "=";
	case SQLITE_INDEX_CONSTRAINT_GT:
		return ">";
	case SQLITE_INDEX_CONSTRAINT_GE:
		return ">=";
	case SQLITE_INDEX_CONSTRAINT_LT:
		return "<";
	case SQLITE_INDEX_CONSTRAINT_LE:
		return "<=";
	default:
		return NULL;
	}
}

bool sql_asks_for(const struct sql_ask *ask, int column)
{
	for (unsigned i = 0; i < ask->n; i++)
		if (ask->bound[i].column == column)
			return true;
	for (unsigned i = 0; i < ask->n_orders; i++)
		if (ask->order[i].column == column)
			return true;
	return false;
}

const struct sql_bound *sql_ask_equal(const struct sql_ask *ask, int column)
{
	for (unsigned i = 0; i < ask->n; i++)
		if (ask->bound[i].column == column && ask->bound[i].op[0] == '=')
			return &ask->bound[i];
	return NULL;
}

void sql_ask_order(struct sql_ask *ask, int column, bool down)
{
	for (unsigned i = 0; i < ask->n_orders; i++)
		if (ask->order[i].column == column)
			return;
	if (ask->n_orders < ASK_ORDERS)
		ask->order[ask->n_orders++] = (struct sql_order){column, down};
}

static int column_of(const struct relation *r, int column)
{
	return column < 0 ? r->rowid : column;
}

/* May the rows be found by this constraint?  Of columns at one end of a row one is enough. */
static bool is_way(const struct relation *r, sqlite3_index_info *info, int i, const struct sql_ask *ask)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	int column = column_of(r, c->iColumn);
	const char *op = operator_of(c->op);
	if (!c->usable || !op || column < 0 || ask->n == ASK_BOUNDS)
		return false;
	const struct relation_column *of = &r->column[column];
	for (unsigned k = 0; of->end && k < ask->n; k++)
		if (r->column[ask->bound[k].column].end == of->end)
			return false;
	if (*op != '=')
		return of->ways & WAY_RANGE;
	if (of->ways & WAY_NAME)
		return !strcmp(sqlite3_vtab_collation(info, i), "BINARY");
	return of->ways & (WAY_EQUAL | WAY_ARGUMENT);
}

/* A column is compared with a literal of another kind. */
static void look_at_literal(const struct relation *r, sqlite3_index_info *info, int i)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	int column = info->aConstraint[i].iColumn;
	const struct relation_column *c = column < 0 ? NULL : &r->column[column];
	sqlite3_value *with;
	if (c && c->compared && operator_of(info->aConstraint[i].op) && !sqlite3_vtab_rhs_value(info, i, &with) && with)
		sql_note_compared(r->sql, c->compared, c->has_texts, with);
#else
	(void)r, (void)info, (void)i;
#endif
}

static bool take_order(const struct relation *r, sqlite3_index_info *info, struct sql_ask *ask)
{
	int column = info->nOrderBy == 1 ? column_of(r, info->aOrderBy[0].iColumn) : -1;
	if (column < 0 || !(r->column[column].ways & WAY_ORDER))
		return false;
	sql_ask_order(ask, column, info->aOrderBy[0].desc);
	info->orderByConsumed = 1;
	return true;
}

/* What the columns need that are used; of the 63rd and all behind it there is one bit. */
static int needs_of(const struct relation *r, sqlite3_uint64 used, const struct sql_ask *ask)
{
	int needs = 0;
	for (size_t i = 0; i < r->columns.n; i++)
		if (r->column[i].needs && (used >> (i < 63 ? i : 63) & 1 || sql_asks_for(ask, (int)i)))
			needs |= r->column[i].needs;
	return needs;
}

/* What a column is called in the catalogue. */
static const char *word_of(const struct relation *r, int column)
{
	static const char object[] = "object_"; /* it gave way to a field */
	const char *name = r->columns.name[column];
	return strncmp(name, object, sizeof object - 1) ? name : name + sizeof object - 1;
}

static const char *bound_of(const char *op)
{
	return op[0] == '=' ? "equal to" : op[0] == '<' ? op[1] ? "at most" : "below" : op[1] ? "at least" : "above";
}

static char *plan_words(const struct relation *r, const struct sql_ask *ask)
{
	struct text how = TEXT_INIT;
	bool found = false, bounded = false;
	for (unsigned i = 0; i < ask->n; i++) {
		const struct sql_bound *b = &ask->bound[i];
		const char *word = word_of(r, b->column);
		if (b->op[0] == '=' && strcmp(word, "shallow") != 0 && strcmp(word, "retained") != 0) {
			text_addf(&how, " %s %s", found ? "and" : "by its", word);
			found = true;
		} else {
			text_addf(&how, "%s %s is %s a value", bounded ? " and" : ", where", word, bound_of(b->op));
			bounded = true;
		}
	}
	for (unsigned i = 0; i < ask->n_orders; i++)
		text_addf(&how, "%s %s%s", i ? " and" : ", in the order of", word_of(r, ask->order[i].column),
		    ask->order[i].down ? ", descending" : "");
	text_addf(&how, "%s%s%s", ask->once ? ", once" : "", ask->counted ? ", equal rows only counted" : "",
	    ask->limited ? ", no more than LIMIT rows" : "");
	const char *verb = found ? "look up" : how.len ? "go through" : "go through all of";
	char *out = sqlite3_mprintf("%s %%%s%s", verb, how.len ? how.s : "",
	    ask->needs ? "; retained sizes are needed" : "");
	text_release(&how);
	return out;
}

/* The number of a plan among those of the relation: statements make a few, again and again. */
static int plan_number(struct relation *r, const struct sql_ask *ask)
{
	size_t i = 0;
	while (i < r->n_plans && memcmp(&r->plan[i], ask, sizeof *ask) != 0)
		i++;
	if (i == r->n_plans)
		VEC_PUSH(r->plan, r->n_plans, r->cap_plans) = *ask;
	return (int)i;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct relation *r = (struct relation *)base;
	struct sql_ask ask;
	bool all = true; /* constraints are ways in that give no other rows, so a limit may be one, too */
	int limit = -1, offset = -1, arguments = 0;
	double rows = (double)r->n, cost = rows;
	memset(&ask, 0, sizeof ask);
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		bool argument = c->iColumn >= 0 && r->column[c->iColumn].ways & WAY_ARGUMENT;
#ifdef SQLITE_INDEX_CONSTRAINT_LIMIT
		if (c->op == SQLITE_INDEX_CONSTRAINT_LIMIT || c->op == SQLITE_INDEX_CONSTRAINT_OFFSET) {
			*(c->op == SQLITE_INDEX_CONSTRAINT_LIMIT ? &limit : &offset) = c->usable ? i : -1;
			continue;
		}
#endif
		look_at_literal(r, info, i);
		if (argument && !c->usable && c->op == SQLITE_INDEX_CONSTRAINT_EQ)
			return SQLITE_CONSTRAINT;
		if (!is_way(r, info, i, &ask)) {
			all = false;
			continue;
		}
		struct sql_bound *b = &ask.bound[ask.n++];
		b->column = column_of(r, c->iColumn);
		snprintf(b->op, sizeof b->op, "%s", operator_of(c->op));
		info->aConstraintUsage[i].argvIndex = ++arguments;
		info->aConstraintUsage[i].omit = b->op[0] == '=' && !(r->column[b->column].ways & WAY_ROUGH);
		all &= info->aConstraintUsage[i].omit;
	}
	bool one = r->kind->guess && r->kind->guess(r, &ask, &rows, &cost);
	bool ordered = r->kind->order ? r->kind->order(r, info, &ask) : take_order(r, info, &ask);
	if (r->kind->limits && limit >= 0 && all && (ordered || !info->nOrderBy) && offset < 0) {
		info->aConstraintUsage[limit].argvIndex = ++arguments;
		ask.limited = true;
	}
	if (one)
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	ask.needs = needs_of(r, info->colUsed, &ask);
	info->estimatedRows = rows < 1 ? 1 : rows > 1e15 ? (sqlite3_int64)1e15 : (sqlite3_int64)rows;
	info->estimatedCost = cost;
	info->idxNum = plan_number(r, &ask);
	info->idxStr = plan_words(r, &ask);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- walks -------------------------------------------------------------------------------------- */

static int open_rows(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct relation *r = (struct relation *)base;
	struct rows *c = xcalloc(1, r->kind->rows_size);
	c->of = r;
	if (r->kind->begin)
		r->kind->begin(c);
	*out = &c->base;
	return SQLITE_OK;
}

static int close_rows(sqlite3_vtab_cursor *base)
{
	struct rows *c = (struct rows *)base;
	if (c->of->kind->end)
		c->of->kind->end(c);
	free(c);
	return SQLITE_OK;
}

static int find_needs(struct sql *q, int needs)
{
	int state = needs & NEEDS_RETAINED ? sql_need_retained(q) : SQLITE_OK;
	return !state && needs & NEEDS_WHOLE && !opened_retained(q->opened) ? sql_need_retained_whole(q) : state;
}

/* A walk of a join is filtered once for each row of the other table: its plan is copied once. */
static int filter(sqlite3_vtab_cursor *base, int plan, const char *words, int argc, sqlite3_value **argv)
{
	struct rows *c = (struct rows *)base;
	struct sql_ask *ask = &c->ask;
	(void)words;
	if (c->planned != plan + 1)
		*ask = c->of->plan[plan];
	c->planned = plan + 1;
	int state = ask->needs ? find_needs(c->of->sql, ask->needs) : SQLITE_OK;
	for (unsigned i = 0; i < ask->n && (int)i < argc; i++)
		ask->bound[i].value = argv[i];
	sqlite3_int64 limit = ask->limited && (int)ask->n < argc ? sqlite3_value_int64(argv[ask->n]) : -1;
	ask->limit = limit < 0 ? UINT64_MAX : (uint64_t)limit;
	c->at = 0;
	c->n = c->of->n;
	return !state && c->of->kind->find ? c->of->kind->find(c, ask) : state;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct rows *c = (struct rows *)base;
	if (c->of->kind->next)
		return c->of->kind->next(c);
	c->at++;
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct rows *c = (const struct rows *)base;
	return c->at >= c->n;
}

void sql_rows_amount(struct rows *c, sqlite3_context *to, int column, struct amount a)
{
	sql_doubt(c->of->sql, &c->of->doubts->of[column], a);
	sql_result_amount(c->of->sql, to, a);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
	struct rows *c = (struct rows *)base;
	const struct relation *r = c->of;
	int certainty_of = r->column[i].certainty_of;
	if (certainty_of < 0)
		r->kind->cell(c, to, i);
	else
		sqlite3_result_text(to, certainty_name(r->kind->amount(c, certainty_of).certainty), -1, SQLITE_STATIC);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	const struct rows *c = (const struct rows *)base;
	*out = c->of->kind->number ? c->of->kind->number(c) : (sqlite3_int64)c->at + 1;
	return SQLITE_OK;
}

/* --- the module --------------------------------------------------------------------------------- */

static const sqlite3_module module = {
    .xConnect = connect, .xDisconnect = disconnect, .xBestIndex = plan, .xOpen = open_rows, .xClose = close_rows,
    .xFilter = filter, .xNext = next, .xEof = eof, .xColumn = column, .xRowid = rowid};

static void forget(void *registered)
{
	struct registered *as = registered;
	if (as->kind->forget)
		as->kind->forget(as->of);
	free(as);
}

int sql_add_relation(struct sql *q, const char *name, const struct relation_kind *kind, void *of)
{
	struct registered *as = xcalloc(1, sizeof *as);
	*as = (struct registered){q, kind, of};
	return sqlite3_create_module_v2(q->db, name, &module, as, forget);
}
