/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask_schema.c - which tables there are for SQL, and their columns.
 *
 * Tables are declared elsewhere: in sql_tables.c, by the shapes of commands, by the classes of the dump.  Here they are
 * only listed.
 */
#include "command/query/query.h"

#include "base/mem.h"
#include "command/query/ask_tables.h"
#include "command/commands.h"
#include "heap/classes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- help --------------------------------------------------------------------------------------- */

/* "address class; hidden: id" */
static void add_columns(const struct sql_column *columns, bool hidden, struct text *to)
{
	size_t shown = 0;
	for (const struct sql_column *c = columns; !sql_columns_end(c); c++)
		if (!c->hidden)
			text_addf(to, "%s%s", shown++ ? " " : "", sql_column_name(c));
	const char *before = "; hidden: ";
	for (const struct sql_column *c = columns; hidden && !sql_columns_end(c); c++) {
		if (c->hidden)
			text_addf(to, "%s%s", before, sql_column_name(c));
		before = c->hidden ? " " : before;
	}
}

#define FUNCTION_HELP(name, n, usage, what) #name "(" usage ")\t" what "\n"

void ask_tell(struct text *to)
{
	text_add(to, "Tables:\n");
	for (const struct sql_table *t = sql_tables; t->name; t++) {
		text_addf(to, "%s%s\t%s (", t->name, t->argument, t->what);
		add_columns(t->columns, true, to);
		text_add(to, ")\n");
	}
	for (const struct ask_table *t = ask_tables; t->name; t++) {
		text_addf(to, "%s\t%s (", t->name, t->what);
		shape_words(ask_table_shape(t), false, to);
		text_add(to, ")\n");
	}
	text_add(to, "\"com.acme.Order\"\tthe objects of a class, with the columns of objects and its fields; "
	    "\"Base.name\" is the field of Base that a subclass hides\n"
	    "\"class histo\"\ta class, even if a table has the same name; \"class 0xe0001550\": one of several "
	    "classes with the same name\n"
	    "threads, \"bt main\"\tthe rows of any command line: \"histo -by loader\"\n"
	    "Functions of an address a:\n" SQL_FUNCTIONS(FUNCTION_HELP));
}

/* --- tables ------------------------------------------------------------------------------------- */

static const struct column tables_columns[] = {{.id = COL_TABLE}, {.id = COL_MEANING}, {.id = COL_COLUMNS}};
const struct shape ask_tables_shape = {.form = "alone", SHAPE_COLUMNS(tables_columns)};

/* schema: its name behind -schema. */
static void add_table(struct result *r, const char *name, const char *schema, const char *what, const char *columns)
{
	struct text line = TEXT_INIT;
	text_addf(&line, "sql -schema %s", schema);
	result_add_row(r, (struct cell[]){cell_text(name), cell_text(what), cell_text(columns)},
	    &(struct target){.kind = TARGET_COMMAND, .command = line.s});
	text_release(&line);
}

static void add_fixed(struct result *r)
{
	struct text columns = TEXT_INIT, name = TEXT_INIT;
	const char *lacks = inspect_has_variables(r->heap) ? "statics" : "globals"; /* Go has these, Java those */
	for (const struct sql_table *t = sql_tables; t->name; t++) {
		if (!strcmp(t->name, lacks))
			continue;
		text_clear(&columns);
		add_columns(t->columns, false, &columns);
		text_clear(&name);
		text_addf(&name, "%s%s", t->name, t->argument);
		add_table(r, name.s, t->name, t->what, columns.s);
	}
	for (const struct ask_table *t = ask_tables; t->name; t++) {
		text_clear(&columns);
		shape_words(ask_table_shape(t), false, &columns);
		add_table(r, t->name, t->name, t->what, columns.s);
	}
	text_release(&columns);
	text_release(&name);
}

/* "bt THREAD": how a line of the command is written. */
static void line_of(const struct command *c, struct text *to)
{
	text_add(to, c->name);
	for (size_t i = 0; i < COMMAND_ARGUMENTS && c->arguments[i].kind != ARG_END && !c->arguments[i].optional; i++)
		text_addf(to, " %s", c->arguments[i].name);
}

static bool wants_argument(const struct command *c)
{
	return c->arguments[0].kind != ARG_END && !c->arguments[0].optional;
}

static void add_commands(const struct session *s, struct result *r)
{
	struct text name = TEXT_INIT, columns = TEXT_INIT;
	for (const struct command *const *c = commands; *c; c++) {
		const char *quote = wants_argument(*c) || !sql_is_plain((*c)->name) ? "\"" : "";
		if (!ask_is_table(s, *c))
			continue;
		text_clear(&name);
		text_clear(&columns);
		text_add(&name, quote);
		line_of(*c, &name);
		text_add(&name, quote);
		shape_words((*c)->shapes[0], false, &columns);
		add_table(r, name.s, name.s, (*c)->summary, columns.s);
	}
	text_release(&name);
	text_release(&columns);
}

/* --- classes of which there is most ------------------------------------------------------------- */

enum { CLASSES_TOLD = 5 };

static bool has_fields(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	return c->kind == CLASS_PLAIN && class != h->java_lang_class && c->n_objects && !strpbrk(c->name, "\"\\");
}

static void add_classes(const struct heap *h, struct result *r)
{
	uint32_t most[CLASSES_TOLD];
	size_t n = 0;
	struct text name = TEXT_INIT, what = TEXT_INIT;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		size_t at = n;
		while (at && has_fields(h, i) && h->classes[most[at - 1]].n_objects < h->classes[i].n_objects)
			at--;
		if (!has_fields(h, i) || at == CLASSES_TOLD)
			continue;
		n += n < CLASSES_TOLD;
		memmove(most + at + 1, most + at, (n - at - 1) * sizeof *most);
		most[at] = i;
	}
	for (size_t i = 0; i < n; i++) {
		const struct heap_class *c = &h->classes[most[i]];
		text_clear(&name);
		text_clear(&what);
		text_addf(&name, "\"%s\"", c->name);
		text_add(&what, "a class: its ");
		text_add_count(&what, c->n_objects);
		text_add(&what, c->n_objects == 1 ? " object" : " objects");
		add_table(r, name.s, name.s, what.s, "columns of objects, then its fields");
	}
	text_release(&name);
	text_release(&what);
}

static void add_views(const struct session *s, struct result *r)
{
	const struct sql_view *view;
	struct text what = TEXT_INIT;
	for (size_t i = 0; (view = ask_view(s, i)); i++) {
		text_clear(&what);
		text_add(&what, "your view: ");
		text_add_escaped(&what, view->text, strlen(view->text));
		add_table(r, view->name, view->name, what.s, "as in its SELECT");
	}
	text_release(&what);
}

struct own_rows {
	struct result *result;
	struct sql *sql;
	struct text columns;
};

static void add_name(void *columns, const char *name)
{
	struct text *to = columns;
	text_add(to, to->len ? " " : "");
	text_add_escaped(to, name, strlen(name));
}

static void add_own(void *rows, const struct sql_own *own)
{
	struct own_rows *o = rows;
	struct text what = TEXT_INIT, name = TEXT_INIT;
	text_clear(&o->columns);
	sql_own_table_columns(o->sql, own->name, add_name, &o->columns);
	text_add_escaped(&name, own->name, strlen(own->name));
	text_add(&what, own->view ? "your view: " : "your table");
	if (own->view)
		text_add_escaped(&what, own->statement, strlen(own->statement));
	add_table(o->result, name.s, name.s, what.s, o->columns.len ? o->columns.s : "as in its SELECT");
	text_release(&what);
	text_release(&name);
}

int ask_list_tables(struct session *s, struct result **out, struct err *err)
{
	struct sql *q;
	int code = ask_open(s, &q, err); /* does this build answer at all? */
	if (code)
		return code;
	struct result *r = result_new_rows("tables", s->dump, &ask_tables_shape);
	add_fixed(r);
	add_views(s, r);
	struct own_rows own = {.result = r, .sql = q, .columns = TEXT_INIT};
	code = sql_each_own(q, add_own, &own, err);
	text_release(&own.columns);
	if (code) {
		result_free(r);
		return code;
	}
	add_classes(session_heap(s), r);
	add_commands(s, r);
	result_add_note(r, "each class, in double quotes, and each such command line is a table; sql -schema TABLE "
	    "lists its columns (Enter), help sql has examples");
	*out = r;
	return 0;
}

/* --- columns ------------------------------------------------------------------------------------ */

enum { S_TABLE, S_COLUMN, S_SQL_TYPE, S_TYPE, S_DECLARED_IN, S_CERTAINTY, S_HIDDEN, S_MEANING };
static const struct column schema_columns[] = {
    [S_TABLE] = {.id = COL_TABLE},
    [S_COLUMN] = {.id = COL_COLUMN},
    [S_SQL_TYPE] = {.id = COL_SQL_TYPE},
    [S_TYPE] = {.id = COL_TYPE, .hidden = true},
    [S_DECLARED_IN] = {.id = COL_DECLARED_IN, .hidden = true},
    [S_CERTAINTY] = {.id = COL_CERTAINTY, .hidden = true},
    [S_HIDDEN] = {.id = COL_HIDDEN},
    [S_MEANING] = {.id = COL_MEANING},
};
const struct shape ask_schema_shape = {.form = "-schema", SHAPE_COLUMNS(schema_columns), .named_by = COL_COLUMN};

struct telling {
	struct result *result;
	const char *table;
	bool fields; /* there were some */
	bool forms;  /* of a command, each a table */
};

static void add_column(void *telling, const struct sql_told *told)
{
	struct telling *t = telling;
	const struct heap *h = t->result->heap;
	struct text type = TEXT_INIT, name = TEXT_INIT;
	for (const char *c = told->type; *c; c++)
		text_add_char(&type, (char)tolower((unsigned char)*c));
	text_add_escaped(&name, told->name, strlen(told->name));
	t->fields |= told->field;
	struct amount sure = amount_exact(0);
	if (told->seen)
		sure = amount_weaken(sure, INFERRED, REASON_SILENT);
	result_add_row(t->result, (struct cell[]){
	    [S_TABLE] = cell_text(t->table),
	    [S_COLUMN] = cell_text(name.s ? name.s : ""),
	    [S_SQL_TYPE] = cell_text(type.len ? type.s : "any"),
	    [S_TYPE] = told->field ? cell_text_as_sure(told->declared, sure) : cell_blank(),
	    [S_DECLARED_IN] = told->declared_in == HEAP_NONE ? cell_blank() : cell_text(h->classes[told->declared_in].name),
	    [S_CERTAINTY] = told->field ? cell_certainty(sure) : cell_blank(),
	    [S_HIDDEN] = cell_flag(told->hidden),
	    [S_MEANING] = told->meaning ? cell_text(told->meaning) : cell_blank()}, NULL);
	text_release(&type);
	text_release(&name);
}

/* What a command's rows have that wants words behind it, in each of its forms. */
static void add_shapes(struct telling *t, const struct command *c)
{
	struct text line = TEXT_INIT;
	t->forms = true;
	for (size_t k = 0; c->shapes[k]; k++) {
		const struct shape *shape = c->shapes[k];
		text_clear(&line);
		line_of(c, &line);
		if (shape->form)
			text_addf(&line, " %s", shape->form);
		t->table = line.s;
		for (unsigned i = 0; i < shape->n_columns; i++) {
			const struct column_kind *kind = &column_kinds[shape->columns[i].id];
			add_column(t, &(struct sql_told){.name = kind->word, .type = sql_type_of(kind->type),
			    .meaning = kind->meaning, .declared_in = HEAP_NONE});
		}
	}
	text_release(&line);
}

/* The command that is called so, or whose line is written so: "bt", "bt THREAD". */
static const struct command *command_alone(const struct session *s, const char *name)
{
	const struct command *found = NULL;
	struct text line = TEXT_INIT;
	for (const struct command *const *c = commands; *c && !found; c++) {
		text_clear(&line);
		line_of(*c, &line);
		if (ask_is_table(s, *c) && (!strcmp((*c)->name, name) || !strcmp(line.s, name)))
			found = *c;
	}
	text_release(&line);
	return found;
}

static int describe(struct session *s, struct sql *q, struct telling *t, const char *name, bool subclasses,
    struct err *err)
{
	const struct command *c = sql_table_called(name) ? NULL : command_alone(s, name);
	struct err none = ERR_INIT;
	t->table = name;
	int code = c && wants_argument(c) ? ERR_USAGE :
	    sql_describe(q, name, &(struct sql_wishes){.subclasses = subclasses}, s->now, add_column, t, c ? &none : err);
	if (code == ERR_USAGE && c) { /* it wants words behind it */
		add_shapes(t, c);
		return 0;
	}
	if (code && c)
		*err = none;
	return code;
}

/* The names that the listing gives: "entries(ADDRESS)" without its argument, a class without its quotes. */
static char *bare_name(const char *name)
{
	size_t n = strlen(name);
	for (const struct sql_table *t = sql_tables; t->name; t++)
		if (*t->argument && !strncmp(name, t->name, strlen(t->name)) && name[strlen(t->name)] == '(')
			n = strlen(t->name);
	return xstrndup(name, n);
}

int ask_schema(struct session *s, const char *name, bool subclasses, struct result **out, struct err *err)
{
	struct sql *q;
	int code = ask_open(s, &q, err);
	if (code)
		return code;
	char *table = name ? bare_name(name) : NULL;
	struct telling t = {.result = result_new_rows("schema", s->dump, &ask_schema_shape)};
	if (table)
		code = describe(s, q, &t, table, subclasses, err);
	for (const struct sql_table *at = sql_tables; !code && !table && at->name; at++)
		code = describe(s, q, &t, at->name, false, err);
	for (const struct ask_table *at = ask_tables; !code && !table && at->name; at++)
		code = describe(s, q, &t, at->name, false, err);
	if (t.fields) {
		result_show(t.result, S_TYPE, true);
		result_show(t.result, S_DECLARED_IN, true);
	}
	result_show(t.result, S_TABLE, !table || t.forms);
	free(table);
	if (code)
		result_free(t.result);
	else
		*out = t.result;
	return code;
}
