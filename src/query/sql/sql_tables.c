/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sql_tables.c - the tables that are there in each dump, with their columns: see sql_words.h.
 *
 * A column mostly is one of the catalogue, which says what it means.  Its type is of its own: SQLite compares by it.
 */
#include "query/sql/sql_tables.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "query/sql/sql.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- tables ------------------------------------------------------------------------------------- */

#define ADDRESS_WAYS (WAY_EQUAL | WAY_RANGE | WAY_ORDER)
#define NUMBER_WAYS (ADDRESS_WAYS | WAY_ROUGH)

const struct sql_column sql_own_columns[C_FIELDS + 1] = {
    [C_ADDRESS] = {.id = COL_ADDRESS, .type = SQL_ADDRESS, .ways = ADDRESS_WAYS},
    [C_CLASS] = {.id = COL_CLASS, .type = "TEXT", .meaning = "name of its class", .ways = WAY_NAME | WAY_ORDER},
    [C_SHALLOW] = {.id = COL_SHALLOW, .type = SQL_BYTES, .meaning = "shallow size", .ways = NUMBER_WAYS},
    [C_RETAINED] = {.id = COL_RETAINED, .type = SQL_BYTES, .ways = NUMBER_WAYS, .needs = NEEDS_RETAINED},
    [C_LENGTH] = {.id = COL_LENGTH, .type = SQL_COUNT, .meaning = "number of elements of an array"},
    [C_VALUE] = {.id = COL_VALUE, .type = "", .meaning = "text, number or short description"},
    [C_ID] = {.id = COL_ID, .type = "INTEGER", .hidden = true, .meaning = "object number in address order",
	.ways = NUMBER_WAYS},
    [C_REACHABLE] = {.id = COL_REACHABLE, .type = "INTEGER", .hidden = true,
	.meaning = "1: reachable from a GC root; 0: unreachable", .needs = NEEDS_RETAINED},
    [C_DOMINATOR] = {.id = COL_DOMINATOR, .type = SQL_ADDRESS, .hidden = true, .needs = NEEDS_RETAINED},
    [C_LOADER] = {.id = COL_LOADER, .type = SQL_ADDRESS, .hidden = true,
	.meaning = "address of the class loader of its class"},
    [C_CLASS_ADDRESS] = {.id = COL_CLASS_ADDRESS, .type = SQL_ADDRESS, .hidden = true},
    [C_SHALLOW_CERTAINTY] = {.id = COL_CERTAINTY, .type = "TEXT", .hidden = true, .name = "shallow_certainty",
	.meaning = "certainty of shallow", .certainty_of = C_SHALLOW},
    [C_RETAINED_CERTAINTY] = {.id = COL_CERTAINTY, .type = "TEXT", .hidden = true, .name = "retained_certainty",
	.meaning = "certainty of retained", .needs = NEEDS_RETAINED, .certainty_of = C_RETAINED},
    [C_HEAP] = {.id = COL_HEAP_NAME, .type = "TEXT", .hidden = true},
};

const struct sql_column sql_refs_columns[] = {
    {.id = COL_OWN_NAME, .type = SQL_ADDRESS, .name = "source",
	.meaning = "address of the object that holds the reference", .ways = WAY_EQUAL | WAY_ORDER, .end = 1},
    {.id = COL_FIELD, .type = "TEXT", .meaning = "field with the reference; [] in arrays"},
    {.id = COL_TARGET, .type = SQL_ADDRESS, .ways = WAY_EQUAL | WAY_ORDER, .end = 2},
    {.id = COL_OWN_NAME, .type = "TEXT", .name = "source_class",
	.meaning = "class of the object that holds the reference", .ways = WAY_NAME, .end = 3},
    {.id = COL_TARGET_CLASS, .type = "TEXT", .ways = WAY_NAME, .end = 4},
    {.id = COL_ID, .type = "INTEGER", .hidden = true, .name = "source_id",
	.meaning = "number of the source, as objects.id", .ways = WAY_EQUAL | WAY_ORDER, .end = 1},
    {.id = COL_ID, .type = "INTEGER", .hidden = true, .name = "target_id",
	.meaning = "number of the target, as objects.id", .ways = WAY_EQUAL | WAY_ORDER, .end = 2},
    {.id = COL_OWN_NAME}};

static const struct sql_column entries[] = {
    {.id = COL_INDEX, .type = SQL_COUNT},
    {.id = COL_KEY, .type = "",
	.meaning = "text or number of the key, else its address"},
    {.id = COL_VALUE, .type = "", .meaning = "text or number of the element, else its address"},
    {.id = COL_KEY_ADDRESS, .type = SQL_ADDRESS},
    {.id = COL_VALUE_ADDRESS, .type = SQL_ADDRESS, .name = "value_address",
	.meaning = "address of the value or element"},
    {.id = COL_OWN_NAME, .type = SQL_ADDRESS, .hidden = true, .name = "collection", .meaning = "address of the "
	"collection", .ways = WAY_ARGUMENT},
    {.id = COL_OWN_NAME}};

static const struct sql_column variables[] = {
    {.id = COL_CLASS, .type = "TEXT", .meaning = "declaring class; NULL for global variables"},
    {.id = COL_FIELD, .type = "TEXT", .meaning = "name of the field or variable"},
    {.id = COL_TYPE, .type = "TEXT"},
    {.id = COL_VALUE, .type = ""},
    {.id = COL_VALUE_ADDRESS, .type = SQL_ADDRESS, .name = "address"},
    {.id = COL_CLASS_ADDRESS, .type = SQL_ADDRESS, .hidden = true},
    {.id = COL_OWN_NAME}};

/* What a view has is typed as what it is of, but for expressions. */
static const struct sql_column dominators[] = {
    {.id = COL_ADDRESS},
    {.id = COL_CLASS, .meaning = "name of its class"},
    {.id = COL_DOMINATOR},
    {.id = COL_RETAINED},
    {.id = COL_OWN_NAME}};

static const struct sql_column retained[] = {
    {.id = COL_ADDRESS},
    {.id = COL_CLASS, .meaning = "name of its class"},
    {.id = COL_SHALLOW, .meaning = "shallow size"},
    {.id = COL_RETAINED},
    {.id = COL_CERTAINTY, .name = "retained_certainty",
	.meaning = "certainty of retained"},
    {.id = COL_OWN_NAME}};

static const struct sql_column gc_paths[] = {
    {.id = COL_ADDRESS},
    {.id = COL_CLASS, .meaning = "name of its class"},
    {.id = COL_PATH, .type = "TEXT", .made_of = "path(address)"},
    {.id = COL_OWN_NAME}};

static const struct sql_column locals[] = {
    {.id = COL_THREAD},
    {.id = COL_FRAME},
    {.id = COL_KIND, .meaning = "kind of GC root"},
    {.id = COL_DESCRIPTION},
    {.id = COL_ADDRESS},
    {.id = COL_CLASS, .meaning = "name of its class"},
    {.id = COL_SHALLOW, .meaning = "shallow size"},
    /* roots find it only if asked */
    {.id = COL_RETAINED, .type = SQL_BYTES, .made_of = "retained(address)"},
    {.id = COL_VALUE},
    {.id = COL_OWN_NAME}};

const struct sql_table sql_tables[] = {
    {SQL_OBJECTS, "", "all objects", sql_own_columns, NULL},
    {SQL_REFS, "", "all references of the dump", sql_refs_columns, NULL},
    {SQL_ENTRIES, "(ADDRESS)", "elements of a collection or an array", entries, NULL},
    {SQL_STATICS, "", "static fields", variables, NULL},
    {SQL_GLOBALS, "", "global variables", variables, NULL},
    {"dominators", "", "reachable objects with their immediate dominators", dominators, "objects WHERE reachable"},
    {"retained", "", "objects with their retained sizes", retained, "objects"},
    {"gc_paths", "", "objects with their paths from a GC root", gc_paths, "objects"},
    {"locals", "", "objects referenced by thread stacks", locals, "roots WHERE thread IS NOT NULL"},
    {NULL, NULL, NULL, NULL, NULL},
};

const struct sql_table *sql_table_called(const char *name)
{
	for (const struct sql_table *t = sql_tables; t->name; t++)
		if (!strcasecmp(t->name, name))
			return t;
	return NULL;
}

const char *sql_column_name(const struct sql_column *c)
{
	return c->name ? c->name : column_kinds[c->id].word;
}

const char *sql_column_meaning(const struct sql_column *c)
{
	return c->meaning ? c->meaning : column_kinds[c->id].meaning;
}

const char *sql_type_of(enum cell_type type)
{
	switch (type) {
	case CELL_ADDRESS:
		return SQL_ADDRESS;
	case CELL_BYTES:
	case CELL_BYTES_DELTA:
		return SQL_BYTES;
	case CELL_COUNT:
	case CELL_DELTA:
		return SQL_COUNT;
	case CELL_TEXT:
		return "TEXT";
	case CELL_FLAG:
	case CELL_TIME:
		return "INTEGER";
	case CELL_PERCENT:
		return "REAL";
	default:
		return "";
	}
}

/* --- declarations ------------------------------------------------------------------------------- */

static bool has_column(const struct sql_columns *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcasecmp(c->name[i], name))
			return true;
	return false;
}

void sql_columns_add(struct sql_columns *c, const char *name, const char *type, bool hidden)
{
	struct text own = TEXT_INIT;
	text_add(&own, name);
	for (unsigned i = 2; i < c->n + 3 && has_column(c, own.s); i++) { /* without memory all names are alike */
		text_clear(&own);
		text_addf(&own, "%s_%u", name, i);
	}
	text_add(&c->sql, c->n ? ", \"" : "\"");
	for (const char *s = own.s; *s; s++) {
		text_add_char(&c->sql, *s);
		if (*s == '"')
			text_add_char(&c->sql, '"');
	}
	text_addf(&c->sql, "\" %s%s", type, hidden ? " HIDDEN" : "");
	VEC_PUSH(c->name, c->n, c->cap) = text_take(&own);
}

void sql_columns_release(struct sql_columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->name[i]);
	free(c->name);
	text_release(&c->sql);
	*c = (struct sql_columns){.n = 0};
}

/* Has one of ours to give way to a field?  Not the address, by which everything else asks for the object, nor what is
 * in texts, numbers and the like, of which "value" is what they keep it in. */
static bool gives_way(const struct heap *h, const struct shared_fields *fields, unsigned own)
{
	struct shared_field f;
	for (size_t i = 0; own != C_ADDRESS && fields && i < fields->n; i++) {
		inspect_shared_field(fields, i, &f);
		if (!strcasecmp(f.name, sql_column_name(&sql_own_columns[own])))
			return own != C_VALUE || f.declared_in == HEAP_NONE || !describe_is_value(h, f.declared_in);
	}
	return false;
}

/* A class's fields have the names that they are declared with; of ours the one that is called the same gives way. */
void sql_columns_add_own(struct sql_columns *c, const struct heap *h, const struct shared_fields *fields)
{
	struct text name = TEXT_INIT;
	for (unsigned i = 0; i < C_FIELDS; i++) {
		const struct sql_column *own = &sql_own_columns[i];
		text_clear(&name);
		text_addf(&name, "%s%s", gives_way(h, fields, i) ? "object_" : "", sql_column_name(own));
		sql_columns_add(c, name.s, own->type, own->hidden);
	}
	text_release(&name);
}

/* A field is called by its word; where another column is called so, by the class that declares it as well. */
void sql_columns_add_field(struct sql_columns *c, const struct shared_fields *fields, size_t i, const char *type)
{
	struct text name = TEXT_INIT, word = TEXT_INIT;
	struct shared_field f;
	inspect_shared_field(fields, i, &f);
	inspect_shared_word(fields, i, &word);
	if (f.declared_in != HEAP_NONE && !strcmp(word.s ? word.s : "", f.name) && has_column(c, f.name)) {
		const char *class = fields->heap->classes[f.declared_in].name, *dot = strrchr(class, '.');
		text_addf(&name, "%s.", dot ? dot + 1 : class);
	}
	text_add(&name, word.s ? word.s : "");
	sql_columns_add(c, name.s, type, false);
	text_release(&name);
	text_release(&word);
}

void sql_class_columns(const struct shared_fields *fields, void (*tell)(void *context, const char *name),
    void *context)
{
	struct sql_columns c = {.sql = TEXT_INIT};
	sql_columns_add_own(&c, fields ? fields->heap : NULL, fields);
	for (size_t i = 0; fields && i < fields->n; i++)
		sql_columns_add_field(&c, fields, i, "");
	for (size_t i = 0; i < c.n; i++)
		tell(context, c.name[i]);
	sql_columns_release(&c);
}

void sql_view_release(struct sql_view *view)
{
	free(view->name);
	free(view->text);
	free(view->place);
}
