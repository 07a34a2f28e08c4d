/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_objects.c - ls: lists of objects.
 */
#include "command/commands.h"

#include "analysis/class_tree.h"
#include "analysis/describe/describe.h"
#include "base/mem.h"
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

static const struct option_spec ls_options[] = {
    {DASH_MIN, OPT_SIZE, "SIZE", "minimum shallow size"},
    {DASH_MAX, OPT_SIZE, "SIZE", "maximum shallow size"},
    REACH_OPTIONS,
    WHERE_OPTION,
    HEAP_OPTION,
    {DASH_SUB, OPT_FLAG, NULL, "also instances of subclasses"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    {DASH_FIELDS, OPT_WORDS, "NAMES", "fields as columns (total,status), all, or none"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

static uint64_t size_option(const struct call *call, enum option_word word, uint64_t otherwise)
{
	int i = call_option(call, word);
	return call->option[i].given ? call->option[i].number : otherwise;
}

/* Drop what is too small or too large, and what roots reach or do not; objects of unknown size stay
 * only where no bound is set. */
static int keep_asked(struct session *s, const struct call *call, uint32_t **ids, size_t *n,
    struct err *err)
{
	const struct heap *h = session_heap(s);
	uint64_t min = size_option(call, DASH_MIN, 0), max = size_option(call, DASH_MAX, UINT64_MAX);
	bool sizes = min != 0 || max != UINT64_MAX;
	enum reach_wish wish;
	int code = command_reach(call, &wish, err);
	if (!code && wish != REACH_ALL)
		code = session_find(s, FIND_REACHABLE, err);
	if (code || (!sizes && wish == REACH_ALL))
		return code;
	const struct reachable *reach = opened_reachable(s->dump);
	size_t kept = 0;
	for (size_t i = 0; i < *n; i++) {
		uint32_t id = (*ids)[i];
		if (progress_stops(session_progress(s), i))
			return err_cancelled(err);
		uint64_t size = heap_shallow(h, id);
		bool fits = !sizes || (size >= min && size <= max && heap_size_known(h, id));
		if (fits && (wish == REACH_ALL || bits_get(&reach->objects, id) == (wish == REACH_LIVE)))
			(*ids)[kept++] = id;
	}
	*ids = big_fit(*ids, kept, sizeof **ids);
	*n = kept;
	return 0;
}

/* The ids that the first argument names, as big memory. */
static int named_objects(const struct heap *h, const struct call *call, uint32_t **ids, size_t *n,
    struct err *err)
{
	if (call->argument[0].objects) {
		*n = call->argument[0].n_ids;
		*ids = big_alloc(*n, sizeof **ids, err);
		if (*ids && *n)
			memcpy(*ids, call->argument[0].ids, *n * sizeof **ids);
		return *ids ? 0 : ERR_NOMEM;
	}
	size_t n_classes = call->argument[0].n_ids;
	uint32_t *classes = big_alloc(n_classes, sizeof *classes, err);
	int code = classes ? 0 : ERR_NOMEM;
	if (classes && n_classes)
		memcpy(classes, call->argument[0].ids, n_classes * sizeof *classes);
	if (!code && call_has(call, DASH_SUB))
		code = class_tree_add_below(h, &classes, &n_classes, err);
	if (!code && !(*ids = objects_of_classes(h, classes, n_classes, n, err)))
		code = ERR_NOMEM;
	big_free(classes);
	return code;
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
		uint32_t class = h->class_of[ids[i]];
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
	int i = call_option(call, option);
	const char *word = call->option[i].given ? call->option[i].word : "";
	for (word += *word == '-' || *word == '+'; *word; word += strcspn(word, ","), word += *word == ',') {
		char *name = xstrndup(word, strcspn(word, ","));
		if (column_find(ls_columns, n_columns, name) < 0)
			text_addf(to, "%s,", name);
		free(name);
	}
}

/* The field that the first n bytes of a word name. */
static bool find_field(const struct shared_fields *fields, const char *word, size_t n, size_t *field)
{
	char *name = xstrndup(word, n);
	bool found = n && inspect_shared_find(fields, name, field) == n;
	free(name);
	return found;
}

static void mark_wanted(const struct shared_fields *fields, const char *list, bool *marked)
{
	size_t field;
	for (; *list; list += strcspn(list, ",") + 1)
		if (find_field(fields, list, strcspn(list, ","), &field))
			marked[field] = true;
}

/* Mark the fields in a list between commas; each word must be one. */
static int mark_list(const struct shared_fields *fields, const char *list, bool *marked, struct err *err)
{
	struct text names = TEXT_INIT;
	size_t field;
	int code = 0;
	for (; !code && *list; list += strcspn(list, ","), list += *list == ',') {
		size_t n = strcspn(list, ",");
		if (find_field(fields, list, n, &field)) {
			marked[field] = true;
			continue;
		}
		if (!n)
			continue;
		for (size_t i = 0; i < fields->n && names.len < 400; i++) {
			text_add(&names, " ");
			inspect_shared_word(fields, i, &names);
		}
		code = err_set(err, ERR_USAGE, names.len ? "not a field of all these objects: \"%.*s\" (use one of%s)" :
		    "not a field of all these objects: \"%.*s\"", n < 60 ? (int)n : 60, list, names.s);
	}
	text_release(&names);
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
	int option = call_option(call, DASH_FIELDS);
	bool given = call->option[option].given;
	bool values = !values_away(session_heap(s)); /* else they are many question marks */
	const char *list = given ? call->option[option].word : s->interactive && values ? "all" : "none";
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
	mark_wanted(fields, wanted.len ? wanted.s : "", marked);
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
	code = named_objects(h, call, &ids, &n, err);
	if (!code)
		code = keep_asked(s, call, &ids, &n, err);
	if (!code)
		code = command_heap(s, call, ids, &n, err);
	if (!code)
		code = ask_where(s, call, ids, &n, err);
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
	const char *title = call->argument[0].word;
	if (!call->argument[0].objects && call->argument[0].n_ids == 1)
		title = h->classes[call->argument[0].ids[0]].name;
	const struct shape *shape = !h->n_spaces ? call_has(call, DASH_FIELDS) ? &ls_fields_shape : &ls_shape :
	    call_has(call, DASH_FIELDS) ? &ls_heaps_fields_shape : &ls_heaps_shape;
	struct result *r = object_rows_result(rows, title, shape, ls_what);
	code = show_what_applies(r, h, ids, n, err);
	if (tell_all)
		result_show(r, LS_VALUE, false);
	command_show_retained(r);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

const struct command cmd_ls = {
    .name = "ls",
    .arguments = {{ARG_CLASS, "PAT", false}},
    .options = ls_options,
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_EARLY,
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
	    "the five orders with the highest total"},
	{"ls '*[]' -sort shallow | head 5", ON_SHOP}, {"ls main.Session -retained", ON_GO}},
    .key = "",
    .run = run_ls,
};
