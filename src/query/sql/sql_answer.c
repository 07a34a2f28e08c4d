/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_answer.c - the rows of a statement, as a result like that of any command.
 *
 * Nine bytes a cell, and the texts.  The type of a column is that of the column it was selected from, else it follows
 * from its name ("sum(shallow)"), else from its values.  A row with a set represents that set, one with an address
 * the object there.
 */
#include "base/amount.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "memory/big.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum slot { SLOT_NULL, SLOT_INTEGER, SLOT_REAL, SLOT_TEXT, SLOT_SET };
#define IS_EXACT 0x80

struct answer {
	const struct heap *heap;
	struct sql_sure *sure; /* by column */
	unsigned *told;        /* by column: the one that tells how sure it is, its NAME_certainty; else itself */
	struct shape shape;
	struct column *column; /* owned, and their names */
	bool *has_real;        /* by column */
	uint64_t *value;       /* row by row: the number; the double's bits; where the text, or the set begins */
	uint8_t *kind;         /* enum slot, and IS_EXACT */
	size_t n_cells, cap_values, cap_kinds;
	char *texts;
	size_t n_texts, cap_texts;
	struct text scratch;   /* a text as it is kept */
	uint32_t *sets;        /* of each: how many, then the ids */
	size_t n_sets, cap_sets;
	struct stretches *stretches; /* owned; NULL: all rows are here */
};

/* Rows that come later. */
struct stretches {
	struct sql *sql;
	struct sql_now outer;
	sqlite3_stmt *s; /* NULL: there are none */
};

static void release_stretches(struct stretches *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->s);
	sql_end(s->sql, &s->outer);
	free(s);
}

static void release(void *data)
{
	struct answer *a = data;
	for (unsigned i = 0; i < a->shape.n_columns; i++)
		free((char *)a->column[i].name);
	free(a->column);
	free(a->has_real);
	free(a->sure);
	free(a->told);
	big_free(a->value);
	big_free(a->kind);
	big_free(a->texts);
	text_release(&a->scratch);
	big_free(a->sets);
	release_stretches(a->stretches);
	free(a);
}

static enum slot slot_of(const struct answer *a, size_t cell)
{
	return (enum slot)(a->kind[cell] & ~IS_EXACT);
}

/* --- keeping ------------------------------------------------------------------------------------ */

/* Room for n more of an array. */
static int more(void **array, size_t *cap, size_t used, size_t n, size_t size, struct err *err)
{
	if (*cap - used >= n)
		return 0;
	size_t want = used + n > 2 * *cap ? used + n + 64 : 2 * *cap;
	void *grown = big_resize(*array, want, size, err);
	if (!grown)
		return ERR_NOMEM;
	*array = grown;
	*cap = want;
	return 0;
}

static int keep_text(struct answer *a, const char *s, size_t n, uint64_t *at, struct err *err)
{
	struct text *t = &a->scratch;
	text_clear(t);
	text_add_escaped(t, s, n);
	int code = more((void **)&a->texts, &a->cap_texts, a->n_texts, t->len + 1, 1, err);
	if (!code) {
		*at = a->n_texts;
		memcpy(a->texts + a->n_texts, t->s, t->len + 1);
		a->n_texts += t->len + 1;
	}
	return code;
}

static int keep_set(struct answer *a, const char *ids, size_t n, uint64_t *at, struct err *err)
{
	if (n > UINT32_MAX || more((void **)&a->sets, &a->cap_sets, a->n_sets, n + 1, sizeof *a->sets, err))
		return ERR_NOMEM;
	*at = a->n_sets;
	a->sets[a->n_sets++] = (uint32_t)n;
	if (n)
		memcpy(a->sets + a->n_sets, ids, n * sizeof *a->sets);
	a->n_sets += n;
	return 0;
}

static int keep_cell(struct sql *q, struct answer *a, sqlite3_stmt *s, unsigned column, struct err *err)
{
	sqlite3_value *v = sqlite3_column_value(s, (int)column);
	uint64_t value = 0;
	enum slot kind = SLOT_NULL;
	const char *ids, *text;
	size_t n;
	double real;
	int code = 0;
	switch (sqlite3_column_type(s, (int)column)) {
	case SQLITE_INTEGER:
		kind = SLOT_INTEGER;
		value = (uint64_t)sqlite3_column_int64(s, (int)column);
		break;
	case SQLITE_FLOAT:
		kind = SLOT_REAL;
		real = sqlite3_column_double(s, (int)column);
		memcpy(&value, &real, sizeof value);
		a->has_real[column] = true;
		break;
	case SQLITE_BLOB:
		if ((ids = sql_set(q, v, &n))) {
			kind = SLOT_SET;
			code = keep_set(a, ids, n, &value, err);
			break;
		} /* FALLTHROUGH */
	case SQLITE_TEXT:
		kind = SLOT_TEXT;
		text = (const char *)sqlite3_column_text(s, (int)column);
		n = (size_t)sqlite3_column_bytes(s, (int)column);
		code = text || !n ? keep_text(a, text ? text : "", n, &value, err) : sql_error(q, SQLITE_NOMEM, err);
		break;
	}
	if (code || more((void **)&a->value, &a->cap_values, a->n_cells, 1, sizeof *a->value, err) ||
	    more((void **)&a->kind, &a->cap_kinds, a->n_cells, 1, sizeof *a->kind, err))
		return ERR_NOMEM;
	a->value[a->n_cells] = value;
	a->kind[a->n_cells++] = (uint8_t)kind | (sqlite3_value_subtype(v) == SQL_EXACT ? IS_EXACT : 0);
	return 0;
}

/* --- what columns hold -------------------------------------------------------------------------- */

/* The type of all columns that are called so, if it is bytes, a count or an address. */
static enum cell_type type_of_word(const char *word, size_t n)
{
	enum cell_type type = CELL_NONE;
	for (unsigned i = 0; i < COL_COUNT_OF_ALL; i++) {
		const struct column_kind *k = &column_kinds[i];
		if (!k->word || strlen(k->word) != n || strncmp(k->word, word, n))
			continue;
		if ((type != CELL_NONE && type != k->type) ||
		    (k->type != CELL_BYTES && k->type != CELL_COUNT && k->type != CELL_ADDRESS))
			return CELL_NONE;
		type = k->type;
	}
	return type;
}

static bool sums_retained(const char *name)
{
	const char *inner = sql_begins_with(name, "sum(") || sql_begins_with(name, "total(") ? strchr(name, '(') + 1 : NULL;
	const char *dot = inner ? strchr(inner, '.') : NULL;
	return inner && !sqlite3_stricmp(dot ? dot + 1 : inner, "retained)");
}

/* A number that is no column of a table may be made of rows, of which a dump that was read in part lacks some. */
static struct amount sureness(const struct heap *h, const char *name)
{
	bool adds = sql_begins_with(name, "count(") || sql_begins_with(name, "sum(") || sql_begins_with(name, "total(");
	struct amount counted = heap_counted(h, 0);
	return adds || counted.certainty == EXACT ? counted : amount_weaken(counted, INFERRED, counted.reason);
}

/* "count(*)", "sum(o.shallow)", "shallow": by the words of our columns; CELL_NONE: the name does not tell. */
static enum cell_type type_of_name(const char *name)
{
	static const char *const sums[] = {"sum(", "min(", "max(", "total("};
	size_t n = strlen(name);
	if (!sqlite3_strnicmp(name, "count(", 6))
		return CELL_COUNT;
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		size_t head = strlen(sums[i]);
		if (n < head + 1 || sqlite3_strnicmp(name, sums[i], (int)head) || name[n - 1] != ')')
			continue;
		const char *inner = name + head, *dot = memchr(inner, '.', n - head - 1);
		if (dot)
			inner = dot + 1;
		enum cell_type type = type_of_word(inner, (size_t)(name + n - 1 - inner));
		return type == CELL_ADDRESS && name[1] != 'i' && name[1] != 'a' ? CELL_NONE : type; /* min and max are one */
	}
	return type_of_word(name, n);
}

/* What a column that was selected as it is says; *told false: it is an expression, or a field. */
static enum cell_type type_of_declaration(const char *declared, bool *told)
{
	*told = declared != NULL;
	return !*told ? CELL_NONE : !strcmp(declared, SQL_ADDRESS) ? CELL_ADDRESS :
	    !strcmp(declared, SQL_BYTES) ? CELL_BYTES : !strcmp(declared, SQL_COUNT) ? CELL_COUNT : CELL_NONE;
}

/* Tables that CREATE TEMP TABLE AS made keep no more of our types than that they are numbers: names tell there, too. */
static bool is_of_own_table(const char *declared)
{
	return !strcmp(declared, "NUM");
}

static uint32_t object_at(const struct answer *a, uint64_t address)
{
	return a->heap->n_objects ? heap_find_value(a->heap, address) : HEAP_NONE;
}

/* What the values allow of what the column is said to hold.  told: by a table; else by its name, which some field may
 * have, too: max(hash) is an address only if there is an object. */
static enum cell_type settle_type(const struct answer *a, unsigned column, enum cell_type said, bool told)
{
	const char *name = a->column[column].name;
	bool any[SLOT_SET + 1] = {false}, negative = false, guessed = said == CELL_ADDRESS && !told;
	bool objects = guessed || !sqlite3_strnicmp(name, "field(", 6) || !sqlite3_strnicmp(name, "ref(", 4);
	for (size_t i = column, row = 0; i < a->n_cells && !progress_own_stops(row); i += a->shape.n_columns, row++) {
		any[slot_of(a, i)] = true;
		negative |= slot_of(a, i) == SLOT_INTEGER && a->value[i] >> 63;
		if (objects && slot_of(a, i) == SLOT_INTEGER && object_at(a, a->value[i]) == HEAP_NONE)
			objects = false;
	}
	if (objects || guessed)
		said = objects ? CELL_ADDRESS : CELL_NONE;
	if (any[SLOT_SET])
		return CELL_COUNT;
	if (said == CELL_ADDRESS && any[SLOT_INTEGER])
		return CELL_ADDRESS;
	if ((said == CELL_BYTES || said == CELL_COUNT) && !negative && !any[SLOT_REAL] && !any[SLOT_TEXT])
		return said;
	if (any[SLOT_TEXT])
		return CELL_TEXT;
	return any[SLOT_INTEGER] || any[SLOT_REAL] ? CELL_NUMBER : said != CELL_NONE ? said : CELL_TEXT;
}

/* Names of columns are different from each other: machine formats want that. */
static void name_columns(struct answer *a, sqlite3_stmt *s)
{
	struct sql_columns names = {.sql = TEXT_INIT};
	struct text t = TEXT_INIT;
	for (unsigned i = 0; i < a->shape.n_columns; i++) {
		const char *name = sqlite3_column_name(s, (int)i);
		text_clear(&t);
		text_add_escaped(&t, name ? name : "", name ? strlen(name) : 0);
		sql_columns_add(&names, t.s, "", false);
		a->column[i].id = COL_OWN_NAME;
		a->column[i].name = xstrdup(names.name[i]);
	}
	text_release(&t);
	sql_columns_release(&names);
	for (unsigned i = 0; i < a->shape.n_columns; i++) {
		size_t n = strlen(a->column[i].name);
		a->told[i] = i;
		for (unsigned k = 0; k < a->shape.n_columns; k++)
			if (!strncmp(a->column[k].name, a->column[i].name, n) && !strcmp(a->column[k].name + n, "_certainty"))
				a->told[i] = k;
	}
}

/* --- cells -------------------------------------------------------------------------------------- */

static struct amount sure_of(const struct answer *a, size_t row, unsigned column)
{
	size_t cells = row * a->shape.n_columns, told = cells + a->told[column];
	bool exact = (a->sure[column].own && a->kind[cells + column] & IS_EXACT) ||
	    (a->told[column] != column && slot_of(a, told) == SLOT_TEXT &&
	    !strcmp(a->texts + a->value[told], certainty_name(EXACT)));
	return exact ? amount_exact(0) : a->sure[column].sure;
}

static void number_cell(const struct answer *a, size_t row, unsigned column, enum slot kind, uint64_t value,
    struct cell *out, struct text *digits)
{
	struct number n = {.kind = kind == SLOT_REAL ? NUMBER_REAL : NUMBER_SIGNED, .bits = value};
	double real;
	memcpy(&real, &value, sizeof real);
	if (digits) {
		text_clear(digits);
		if (kind == SLOT_REAL)
			text_addf(digits, "%.15g", real);
		else
			text_add_signed(digits, (int64_t)value);
	}
	if (kind == SLOT_INTEGER && a->has_real[column]) {
		real = (double)(int64_t)value;
		n.kind = NUMBER_REAL;
		memcpy(&n.bits, &real, sizeof n.bits);
	}
	*out = cell_number(digits ? digits->s : "", number_rank(&n), sure_of(a, row, column));
}

static void make_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *digits)
{
	const struct answer *a = r->data;
	size_t at = row * a->shape.n_columns + column;
	enum cell_type type = a->column[column].type;
	uint64_t value = a->value[at];
	if (a->sure[column].away && (!a->sure[column].own || slot_of(a, at) == SLOT_NULL)) {
		*out = cell_unknown(REASON_DUMP_AWAY);
		return;
	}
	switch (slot_of(a, at)) {
	case SLOT_NULL:
		*out = cell_blank();
		break;
	case SLOT_TEXT:
		*out = cell_text(a->texts + value);
		break;
	case SLOT_SET:
		*out = cell_count(amount_exact(a->sets[value]));
		break;
	default:
		if (type == CELL_ADDRESS && slot_of(a, at) == SLOT_INTEGER)
			*out = cell_address(value);
		else if (type == CELL_BYTES && slot_of(a, at) == SLOT_INTEGER)
			*out = cell_bytes(amount_as_sure(amount_exact(value), sure_of(a, row, column)));
		else if (type == CELL_COUNT && slot_of(a, at) == SLOT_INTEGER)
			*out = cell_count(amount_as_sure(amount_exact(value), sure_of(a, row, column)));
		else
			number_cell(a, row, column, slot_of(a, at), value, out, digits);
	}
}

static void cell_of(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	make_cell(r, row, column, out, scratch);
}

static void number_of(const struct result *r, size_t row, unsigned column, struct cell *out)
{
	make_cell(r, row, column, out, NULL);
}

/* The set of a row; NULL: it has none. */
static const uint32_t *set_of(const struct answer *a, size_t row)
{
	for (unsigned i = 0; i < a->shape.n_columns; i++)
		if (slot_of(a, row * a->shape.n_columns + i) == SLOT_SET)
			return a->sets + a->value[row * a->shape.n_columns + i];
	return NULL;
}

static uint32_t object_of(const struct answer *a, size_t row)
{
	uint32_t id = HEAP_NONE;
	for (unsigned i = 0; id == HEAP_NONE && i < a->shape.n_columns; i++) {
		size_t at = row * a->shape.n_columns + i;
		if (a->column[i].type == CELL_ADDRESS && slot_of(a, at) == SLOT_INTEGER)
			id = object_at(a, a->value[at]);
	}
	return id;
}

static void target_of(const struct result *r, size_t row, struct target *out)
{
	const struct answer *a = r->data;
	if (set_of(a, row))
		*out = (struct target){.kind = TARGET_GROUP};
	else if ((out->id = object_of(a, row)) != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = out->id};
	else
		*out = (struct target){.kind = TARGET_NONE};
}

static int members_of(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	(void)err;
	const struct answer *a = r->data;
	for (size_t row = 0; row < r->n_source; row++) {
		if (!bits_get(rows, row))
			continue;
		const uint32_t *set = set_of(a, row);
		uint32_t id = set ? HEAP_NONE : object_of(a, row);
		for (uint32_t i = 1; set && i <= set[0]; i++)
			if (set[i] < to->n)
				bits_set(to, set[i]);
		if (id != HEAP_NONE)
			bits_set(to, id);
	}
	return 0;
}

static const struct result_ops ops = {
    .cell = cell_of, .number = number_of, .target = target_of, .release = release, .members = members_of};

/* ------------------------------------------------------------------------------------------------ */

enum { STRETCH_ROWS = 4096, STRETCH_TEXTS = 4 << 20 /* bytes */ };

/* All rows, or, if they come in stretches, the next ones. */
static int keep_rows(struct sql *q, struct answer *a, sqlite3_stmt *s, size_t *rows, struct err *err)
{
	int state;
	while ((state = sqlite3_step(s)) == SQLITE_ROW) {
		for (unsigned i = 0; i < a->shape.n_columns; i++)
			if (keep_cell(q, a, s, i, err))
				return ERR_NOMEM;
		if (++*rows % RESULT_STOP_EVERY == 0 && !progress_add(q->now.progress, RESULT_STOP_EVERY))
			return err_cancelled(err);
		if (a->stretches && (*rows >= STRETCH_ROWS || a->n_texts >= STRETCH_TEXTS))
			return 0;
	}
	int code = state == SQLITE_DONE ? 0 : sql_error(q, state, err);
	if (a->stretches) {
		sqlite3_finalize(s);
		a->stretches->s = NULL;
	}
	return code;
}

static struct answer *begin(struct sql *q, sqlite3_stmt *s)
{
	struct answer *a = xcalloc(1, sizeof *a);
	unsigned n = (unsigned)sqlite3_column_count(s);
	a->heap = q->heap;
	a->column = xcalloc(n, sizeof *a->column);
	a->has_real = xcalloc(n, sizeof *a->has_real);
	a->sure = xcalloc(n, sizeof *a->sure);
	a->told = xcalloc(n, sizeof *a->told);
	a->shape = (struct shape){.columns = a->column, .n_columns = n};
	name_columns(a, s);
	return a;
}

int sql_answer(struct sql *q, sqlite3_stmt *s, struct result **out, struct err *err)
{
	struct answer *a = begin(q, s);
	size_t rows = 0;
	bool overlaps = false;
	progress_phase(q->now.progress, PHASE_LOOK_AT_ROWS, 0);
	int code = keep_rows(q, a, s, &rows, err);
	if (!code)
		code = sql_sureness(q, s, a->sure, err);
	if (code) {
		release(a);
		return code;
	}
	for (unsigned i = 0; i < a->shape.n_columns; i++) {
		bool told;
		enum cell_type said = type_of_declaration(sqlite3_column_decltype(s, (int)i), &told);
		bool named = !told || is_of_own_table(sqlite3_column_decltype(s, (int)i));
		a->column[i].type = settle_type(a, i, named ? type_of_name(a->column[i].name) : said, !named);
		if (!told)
			a->sure[i].sure = amount_as_sure(a->sure[i].sure, sureness(q->heap, a->column[i].name));
		overlaps |= !told && sums_retained(a->column[i].name);
	}
	*out = result_new("sql", q->opened, &a->shape, &ops, a, rows);
	if (q->now.doubt.certainty != EXACT)
		result_add_note(*out, "some values are not exact: see the columns NAME_certainty");
	if (overlaps)
		result_add_note(*out, "retained sizes may overlap, so their sum may be too large: histo and size "
		    "compute what objects retain together");
	if (q->heap->damaged)
		result_add_note(*out, "the dump was read in part: counts and sums cover only that part");
	return 0;
}

/* --- rows in stretches -------------------------------------------------------------------------- */

static size_t next_stretch(struct result *r, struct err *err)
{
	struct answer *a = r->data;
	size_t rows = 0;
	a->n_cells = a->n_texts = a->n_sets = 0;
	return !a->stretches->s || keep_rows(a->stretches->sql, a, a->stretches->s, &rows, err) ? 0 : rows;
}

/* Numbers that may be unsure. */
static bool is_looked_at(const struct answer *a, unsigned column)
{
	return a->column[column].type == CELL_BYTES || a->column[column].type == CELL_COUNT;
}

static bool is_inexact(const struct result *r, unsigned column)
{
	const struct answer *a = r->data;
	return is_looked_at(a, column) && a->sure[column].sure.certainty != EXACT;
}

static const struct result_ops stretch_ops = {.cell = cell_of, .number = number_of, .target = target_of,
    .release = release, .members = members_of, .next_rows = next_stretch, .inexact = is_inexact};

/* By what the table declares.  Where it declares nothing are values of any kind, whose cells tell. */
static enum cell_type type_of_column(const char *declared)
{
	bool told;
	enum cell_type type = type_of_declaration(declared, &told);
	return type != CELL_NONE || !told ? type : !strcmp(declared, "TEXT") ? CELL_TEXT : CELL_NUMBER;
}

/* How sure the least sure number of a column is has to be known before its first row is written, and how many
 * rows there are is good to know: what it takes to look at those numbers alone. */
static int look_through(struct sql *q, const struct answer *a, const char *table, uint64_t *rows, struct err *err)
{
	sqlite3_stmt *s = NULL;
	sqlite3_str *question = sqlite3_str_new(q->db);
	sqlite3_str_appendall(question, "SELECT count(*)"); /* with it SQLite does not look for the largest alone */
	for (unsigned i = 0; i < a->shape.n_columns; i++)
		if (is_looked_at(a, i))
			sqlite3_str_appendf(question, ", max(\"%w\")", sqlite3_column_name(a->stretches->s, (int)i));
	sqlite3_str_appendf(question, " FROM \"%w\"", table);
	char *text = sqlite3_str_finish(question);
	const char *rest;
	int code = text ? sql_prepare(q, text, &s, &rest, err) : sql_error(q, SQLITE_NOMEM, err);
	int state = code ? SQLITE_ERROR : sqlite3_step(s);
	if (state == SQLITE_ROW)
		*rows = (uint64_t)sqlite3_column_int64(s, 0);
	else if (!code)
		code = sql_error(q, state, err);
	sqlite3_finalize(s);
	sqlite3_free(text);
	return code;
}

int sql_answer_rows(struct sql *q, sqlite3_stmt *s, const char *table, const struct sql_now *outer, struct result **out,
    struct err *err)
{
	struct answer *a = begin(q, s);
	size_t rows = 0;
	uint64_t all = 0;
	a->stretches = xcalloc(1, sizeof *a->stretches);
	*a->stretches = (struct stretches){.sql = q, .outer = *outer, .s = s};
	for (unsigned i = 0; i < a->shape.n_columns; i++)
		a->column[i].type = type_of_column(sqlite3_column_decltype(s, (int)i));
	progress_phase(q->now.progress, PHASE_LOOK_AT_ROWS, 0);
	int code = look_through(q, a, table, &all, err);
	if (!code)
		code = sql_sureness(q, s, a->sure, err);
	if (!code) {
		progress_phase(q->now.progress, PHASE_LOOK_AT_ROWS, all);
		code = keep_rows(q, a, s, &rows, err);
	}
	if (code) {
		release(a);
		return code;
	}
	*out = result_new(table, q->opened, &a->shape, &stretch_ops, a, rows);
	return 0;
}
