/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_objects.c - ls: lists of objects.
 */
#include "command/commands.h"

#include "analysis/class_tree.h"
#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "command/parse/parse.h"
#include "command/query/query.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "memory/big.h"
#include "result/objects.h"

#include <stdlib.h>
#include <string.h>

/* --- ls --------------------------------------------------------------------------------------- */

enum { LS_ADDRESS, LS_CLASS, LS_SHALLOW, LS_RETAINED, LS_LENGTH, LS_VALUE, LS_HEAP, LS_COLUMNS };

static const struct column ls_columns[LS_COLUMNS] = {
    [LS_ADDRESS] = {.id = COL_ADDRESS},
    [LS_CLASS] = {.id = COL_CLASS},
    [LS_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [LS_RETAINED] = {.id = COL_RETAINED, .hidden = true},
    [LS_LENGTH] = {.id = COL_LENGTH, .hidden = true},
    [LS_VALUE] = {.id = COL_VALUE, .hidden = true},
    [LS_HEAP] = {.id = COL_HEAP_NAME, .hidden = true},
};
/* The last column is for dumps with Android's heaps. */
static const struct shape ls_shape = {.columns = ls_columns, .n_columns = LS_HEAP};
static const struct shape ls_fields_shape = {
    .form = "-fields", .columns = ls_columns, .n_columns = LS_HEAP, .fields = true};
static const struct shape ls_heaps_shape = {.form = "of dumps with several heaps (Android)", SHAPE_COLUMNS(ls_columns)};
static const struct shape ls_heaps_fields_shape = {
    .form = "-fields of dumps with several heaps (Android)", SHAPE_COLUMNS(ls_columns), .fields = true};
static const unsigned char ls_what[LS_COLUMNS] = {
    [LS_ADDRESS] = OBJECT_ADDRESS,
    [LS_CLASS] = OBJECT_CLASS,
    [LS_SHALLOW] = OBJECT_SHALLOW,
    [LS_RETAINED] = OBJECT_RETAINED,
    [LS_LENGTH] = OBJECT_LENGTH,
    [LS_VALUE] = OBJECT_VALUE,
    [LS_HEAP] = OBJECT_HEAP,
};

/* Drop what is too small or too large; objects of unknown size stay only where no bound is set. */
static int keep_sizes(struct session *s, const struct call *call, uint32_t *ids, size_t *n, struct err *err)
{
	const struct heap *h = session_heap(s);
	uint64_t min = call_number(call, DASH_MIN, 0), max = call_number(call, DASH_MAX, UINT64_MAX);
	size_t kept = 0;
	if (!min && max == UINT64_MAX)
		return 0;
	for (size_t i = 0; i < *n; i++) {
		uint64_t size = heap_shallow(h, ids[i]);
		if (progress_stops(session_progress(s), i))
			return err_cancelled(err);
		if (size >= min && size <= max && heap_size_known(h, ids[i]))
			ids[kept++] = ids[i];
	}
	*n = kept;
	return 0;
}

/* Lengths are shown where there are arrays, values where there is something to say. */
static int show_what_applies(
    struct result *r, const struct heap *h, const uint32_t *ids, size_t n, struct err *err)
{
	struct bits seen;
	int code = bits_init(&seen, h->n_classes, err);
	if (h->n_spaces)
		result_show(r, LS_HEAP, true);
	for (size_t i = 0; !code && i < n && !progress_own_stops(8 * i); i++) {
		uint32_t class = heap_class_index(h, ids[i]);
		if (bits_get(&seen, class))
			continue;
		bits_set(&seen, class);
		enum class_kind kind = h->classes[class].kind;
		if (kind == CLASS_OBJECT_ARRAY || kind == CLASS_PRIMITIVE_ARRAY)
			result_show(r, LS_LENGTH, true);
		if (describe_knows_class(h, class))
			result_show(r, LS_VALUE, true);
	}
	bits_release(&seen);
	return code;
}

/* Append the columns that rows are sorted or grouped by, with a comma behind each, but for those of every object. */
static void add_wanted(const struct call *call, enum option_word option, unsigned n_columns, struct text *to)
{
	const char *given = call_word(call, option), *list = given ? given : "";
	list += *list == '-' || *list == '+';
	for (char *name; (name = line_next_name(&list));) {
		if (column_find(ls_columns, n_columns, name) < 0)
			text_addf(to, "%s,", name);
		free(name);
	}
}

static bool find_field(const struct shared_fields *fields, const char *name, size_t *field)
{
	return inspect_shared_find(fields, name, field) == strlen(name);
}

static int not_a_field(const struct shared_fields *fields, const char *name, struct err *err)
{
	struct text names = TEXT_INIT;
	for (size_t i = 0; i < fields->n && names.len < 400; i++) {
		text_add(&names, " ");
		inspect_shared_word(fields, i, &names);
	}
	int code = err_set(err, ERR_USAGE, names.len ? "not a field of all these objects: \"%.60s\" (use one of%s)" :
	    "not a field of all these objects: \"%.60s\"", name, names.s);
	text_release(&names);
	return code;
}

/* Mark the fields in a list between commas; each word must be one, or (err NULL) may be. */
static int mark_list(const struct shared_fields *fields, const char *list, bool *marked, struct err *err)
{
	size_t field;
	int code = 0;
	for (char *name; !code && (name = line_next_name(&list));) {
		if (find_field(fields, name, &field))
			marked[field] = true;
		else if (err)
			code = not_a_field(fields, name, err);
		free(name);
	}
	return code;
}

/*
 * Which fields are columns: the ones asked for; on the screen all.  In a batch none unless asked, since
 * scripts rely on the columns of ls, and reading values of millions of objects takes its time.  What rows are
 * sorted or grouped by is always one.
 */
static int add_fields(struct session *s, const struct call *call, struct object_rows *rows,
    const uint32_t *ids, size_t n, bool *tell_all, struct err *err)
{
	const char *given = call_word(call, DASH_FIELDS);
	bool values = !values_away(session_heap(s)); /* else they are many question marks */
	const char *list = given ? given : s->interactive && values ? "all" : "none";
	unsigned n_columns = session_heap(s)->n_spaces ? LS_HEAP + 1 : LS_HEAP;
	bool all = !strcmp(list, "all"), none = !strcmp(list, "none");
	struct shared_fields *fields;
	struct text wanted = TEXT_INIT;
	add_wanted(call, DASH_SORT, n_columns, &wanted);
	add_wanted(call, DASH_BY, n_columns, &wanted);
	int code = none && !wanted.len ? ERR_UNSUPPORTED : inspect_shared_fields(&fields, session_heap(s), ids, n, err);
	if (code) {
		/* nobody asked for them; an order by one fails, as there is no such column */
		bool skips = code == ERR_UNSUPPORTED && (wanted.len || !given || none);
		text_release(&wanted);
		return skips ? 0 : code;
	}
	bool *marked = xcalloc(fields->n + 1, sizeof *marked);
	if (n && !all && !none && (code = mark_list(fields, list, marked, err))) {
		inspect_shared_fields_close(fields);
		free(marked);
		text_release(&wanted);
		return code;
	}
	(void)!mark_list(fields, wanted.len ? wanted.s : "", marked, NULL);
	text_release(&wanted);
	unsigned *which = xcalloc(fields->n + 1, sizeof *which), n_which = 0;
	for (unsigned i = 0; i < fields->n; i++)
		if (all || marked[i])
			which[n_which++] = i;
	free(marked);
	*tell_all = fields->tell_all && n_which && n_which == fields->n;
	object_rows_fields(rows, fields, which, n_which);
	return 0;
}

static int run_ls(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool tell_all = false;
	const struct heap *h = session_heap(s);
	uint32_t *ids = NULL;
	size_t n = 0;
	int code = command_retained(s, call, err);
	if (code)
		return code;
	code = command_objects(s, call, &ids, &n, err);
	if (!code)
		code = keep_sizes(s, call, ids, &n, err);
	if (!code)
		code = command_narrow(s, call, &ids, &n, err);
	if (code) {
		big_free(ids);
		return code;
	}
	struct object_rows *rows = object_rows_new(s->dump);
	object_rows_add(rows, NO_DIRECTION, NULL, ids, n, true);
	code = object_rows_check(rows, err);
	if (!code)
		code = add_fields(s, call, rows, ids, n, &tell_all, err);
	if (code) { /* ids are gone */
		object_rows_free(rows);
		return code;
	}
	uint32_t all_of = class_of_all(h, ids, n);
	const char *title = call->argument[0].word;
	if (!call->argument[0].objects && call->argument[0].n_ids == 1)
		title = h->classes[call->argument[0].ids[0]].name;
	const struct shape *shape = !h->n_spaces ? call_has(call, DASH_FIELDS) ? &ls_fields_shape : &ls_shape :
	    call_has(call, DASH_FIELDS) ? &ls_heaps_fields_shape : &ls_heaps_shape;
	*out = object_rows_result(rows, title, shape, ls_what);
	(*out)->all_of = all_of == HEAP_NONE ? NULL : &h->classes[all_of];
	code = show_what_applies(*out, h, ids, n, err);
	if (tell_all)
		result_show(*out, LS_VALUE, false);
	command_show_retained(*out);
	return code;
}

const struct command cmd_ls = {
    .name = "ls",
    .arguments = {{ARG_CLASS, "PAT", false}},
    .options = OPTIONS({DASH_MIN, OPT_SIZE, "SIZE", "minimum shallow size"},
	{DASH_MAX, OPT_SIZE, "SIZE", "maximum shallow size"},
	REACH_OPTIONS,
	WHERE_OPTION,
	HEAP_OPTION,
	{DASH_SUB, OPT_FLAG, NULL, "also instances of subclasses"},
	{DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
	{DASH_FIELDS, OPT_WORDS, "NAMES", "fields as columns (total,status), all, or none"}),
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_EARLY | COMMAND_LISTS_OBJECTS,
    .group = "browse",
    .summary = "list the objects of a class",
    .shapes = SHAPES(&ls_shape, &ls_fields_shape, &ls_heaps_shape, &ls_heaps_fields_shape),
    .description = "Objects of exactly the classes that PAT matches, by address; -sub adds instances of subclasses. "
	"PAT may be a kept set ($name).\n"
	"value\tthe object in short: text of a String, a number, size of a collection, class of a class object "
	"(other values need a format with values)\n"
	"heap\tAndroid heap of the object, if the dump records it; -heap selects one\n"
	"-fields\ta column per field, own fields first, then those of superclasses; numbers sort as numbers\n"
	"Node.value\tthe field value of class Node, because value is also a column\n"
	"Base.name\tthe field name of the superclass Base, because the class has its own\n"
	"name_2\tthe second field of one class with the same name\n"
	"If PAT matches several classes, the fields are those of their common superclass. On the screen all fields "
	"are columns; W scrolls to those that do not fit.",
    .examples = {{"ls java.lang.String", ON_SHOP, "all Strings with their text"},
	{"ls byte[] -min 1K", ON_SHOP, "byte arrays of 1 KiB or more"},
	{"ls com.acme.shop.Order -fields number,status,total -sort -total | head 5", ON_SHOP,
	    "the five orders with the highest total (-: descending)"},
	{"ls '*[]' -sort shallow | head 5", ON_SHOP}, {"ls main.Session -retained", ON_GO}},
    .run = run_ls,
};
