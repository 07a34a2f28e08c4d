/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_schema.c - what columns a table has, as SQLite has them declared, and what they mean.
 *
 * A Java dump does not record the declared class of a field, only that it is a reference: the column shows the class
 * of the objects that it references.
 */
#include "query/sql/sql_private.h"

#include "base/mem.h"
#include "memory/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED = 1000 /* instances */ };

struct described {
	struct sql *sql;
	const struct sql_table *table;   /* NULL: it is none of these */
	const struct declared *declared; /* NULL: it was no name to look up */
	struct shared_fields *fields;    /* of classes; NULL: none */
	struct field_type {
		const char *name; /* NULL: not met */
		bool several;     /* another was met, too */
		bool reference;   /* to an object */
	} *types;                        /* by field */
	sql_tell *tell;
	void *context;
	struct text scratch;
};

/* --- fields of classes -------------------------------------------------------------------------- */

static int find_fields(struct described *d, struct err *err)
{
	const struct declared *of = d->declared;
	int code = of->n_classes ? sql_shared_fields(&d->fields, d->sql, of->classes, of->n_classes, err) : ERR_UNSUPPORTED;
	if (code)
		d->fields = NULL;
	return code == ERR_UNSUPPORTED ? 0 : code;
}

static void look_at_types(struct described *d, struct fields_walk *walk, uint32_t id)
{
	struct any_value v;
	for (size_t i = 0; i < d->fields->n; i++) {
		struct field_type *t = &d->types[i];
		const char *name = !t->several && inspect_shared_value(d->fields, walk, id, i, &v) ? inspect_type(&v) : NULL;
		bool leads = name && inspect_target(&v).id != HEAP_NONE;
		if (!name || (t->reference && !leads)) /* null says less */
			continue;
		t->several = t->name && t->reference == leads && strcmp(t->name, name);
		t->reference = leads;
		t->name = name;
	}
}

static int find_types(struct described *d, struct err *err)
{
	struct members *members = &d->sql->members;
	struct fields_walk walk = {.id = HEAP_NONE};
	uint32_t id, looked = 0;
	int code = find_fields(d, err);
	d->types = xcalloc(d->fields ? d->fields->n + 1 : 1, sizeof *d->types);
	for (size_t i = 0; !code && d->fields && i < d->declared->n_classes && looked < LOOKED; i++) {
		struct members_walk instances = members_instances(members, d->declared->classes[i]);
		for (; looked < LOOKED && members_next(members, &instances, &id) && !sql_stops(d->sql, looked); looked++)
			look_at_types(d, &walk, id);
	}
	return code;
}

static void tell_field(struct described *d, size_t i, struct sql_told *told)
{
	const struct field_type *t = &d->types[i];
	bool undeclared = inspect_declares_fields(d->sql->heap);
	struct shared_field f;
	inspect_shared_field(d->fields, i, &f);
	told->field = true;
	told->declared_in = f.declared_in;
	told->seen = undeclared && t->reference && !t->several;
	told->declared = undeclared && t->several ? "object" : t->name;
	if (!strcmp(told->type, SQL_ADDRESS))
		told->meaning = "address of the object in this field";
	else if (t->reference)
		told->meaning = "text or number; ref(address, 'FIELD'): its address";
	else
		told->meaning = f.kind == NUMBER_FLAG ? "1 or 0" : f.kind == NO_NUMBER ? "value of the field" :
		    "number in the field";
}

/* --- columns ------------------------------------------------------------------------------------ */

static void tell_of_result(struct described *d, size_t i, struct sql_told *told)
{
	const struct result *r = d->declared->rows;
	const struct column *c = &r->columns[i % r->n_columns];
	if (i >= r->n_columns) {
		text_clear(&d->scratch);
		text_addf(&d->scratch, "certainty of %s", column_word(c));
		told->meaning = d->scratch.s;
	} else if (c->id != COL_OWN_NAME) { /* those of a question mean what it asks for */
		told->meaning = column_kinds[c->id].meaning;
	}
}

static void tell_column(struct described *d, size_t i, struct sql_told *told)
{
	const struct sql_column *c = d->table ? d->table->columns : NULL;
	for (size_t k = 0; c && k < i && !sql_columns_end(c); k++)
		c++;
	if (c && !sql_columns_end(c)) {
		told->meaning = sql_column_meaning(c);
		told->type = c->type ? c->type : told->type;
	} else if (d->declared && d->declared->rows) {
		tell_of_result(d, i, told);
	} else if (d->declared && d->declared->classes && i < C_FIELDS) {
		told->meaning = sql_column_meaning(&sql_own_columns[i]);
	} else if (d->fields && i - C_FIELDS < d->fields->n) {
		tell_field(d, i - C_FIELDS, told);
	}
	d->tell(d->context, told);
}

static int tell_columns(struct described *d, sqlite3_stmt *s, struct err *err)
{
	int state;
	for (size_t i = 0; (state = sqlite3_step(s)) == SQLITE_ROW; i++) {
		const char *name = (const char *)sqlite3_column_text(s, 0), *type = (const char *)sqlite3_column_text(s, 1);
		tell_column(d, i, &(struct sql_told){.name = name ? name : "", .type = type ? type : "",
		    .hidden = sqlite3_column_int(s, 2) != 0, .declared_in = HEAP_NONE});
	}
	return state == SQLITE_DONE ? 0 : sql_error(d->sql, state, err);
}

/* Let SQLite find the table, which declares it where it has to be. */
static int find_table(struct sql *q, const char *table, struct err *err)
{
	char *ask = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	const char *rest;
	sqlite3_stmt *s = NULL;
	int code = ask ? sql_prepare(q, ask, &s, &rest, err) : err_set(err, ERR_NOMEM, "SQLite is out of memory");
	sqlite3_finalize(s);
	sqlite3_free(ask);
	return code;
}

static int describe(struct described *d, const char *table, struct err *err)
{
	struct sql *q = d->sql;
	sqlite3_stmt *s = NULL;
	int code = find_table(q, table, err);
	for (d->declared = q->now.declared; d->declared && strcmp(d->declared->name, table);)
		d->declared = d->declared->next;
	d->table = d->declared ? NULL : sql_table_called(table);
	if (!code && d->declared && d->declared->classes)
		code = find_types(d, err);
	if (code)
		return code;
	q->declares = true; /* a pragma is what no question may be */
	int state = sqlite3_prepare_v2(q->db, "SELECT name, type, hidden FROM pragma_table_xinfo(?)", -1, &s, NULL);
	if (!state)
		state = sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	code = state ? sql_error(q, state, err) : tell_columns(d, s, err);
	sqlite3_finalize(s);
	q->declares = false;
	return code;
}

int sql_describe(struct sql *q, const char *table, const struct sql_wishes *wishes, struct progress *progress,
    sql_tell *tell, void *context, struct err *err)
{
	struct described d = {.sql = q, .tell = tell, .context = context, .scratch = TEXT_INIT};
	struct sql_now outer;
	int code = sql_begin(q, wishes, progress, &outer, err);
	if (code)
		return code;
	code = describe(&d, table, err);
	inspect_shared_fields_close(d.fields);
	free(d.types);
	text_release(&d.scratch);
	sql_end(q, &outer);
	return code;
}
