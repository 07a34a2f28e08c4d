/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_classes.c - histo, duplicate-classes: rows that are classes or groups of them.
 */
#include "command/commands.h"

#include "analysis/describe/describe.h"
#include "analysis/histogram.h"
#include "base/mem.h"
#include "command/browse/histo_heaps.h"
#include "command/browse/histo_paths.h"
#include "command/query/query.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

/* --- histo ------------------------------------------------------------------------------------ */

#define GROUPED_COLUMNS                                                                            \
	{.id = COL_CLASSES, .total = true},          \
	{.id = COL_OBJECTS, .total = true},          \
	{.id = COL_SHALLOW, .total = true},          \
	{.id = COL_RETAINED, .hidden = true}

static const struct column class_columns[] = {
    {.id = COL_CLASS},
    {.id = COL_CLASS_ADDRESS, .hidden = true},
    {.id = COL_LOADER, .hidden = true},
    {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true},
    {.id = COL_RETAINED, .hidden = true},
    {.id = COL_LOADER_CLASS, .hidden = true},
    {.id = COL_SUPERCLASS, .hidden = true},
};
static const struct shape class_shape = {SHAPE_COLUMNS(class_columns)};

static const struct column package_columns[] = {
    {.id = COL_PACKAGE}, GROUPED_COLUMNS};
static const struct shape package_shape = {.form = "-by package", SHAPE_COLUMNS(package_columns)};
static const struct column super_columns[] = {
    {.id = COL_SUPERCLASS}, GROUPED_COLUMNS};
static const struct shape super_shape = {.form = "-by super", SHAPE_COLUMNS(super_columns)};

static const struct column loader_columns[] = {
    {.id = COL_LOADER},
    {.id = COL_LOADER_CLASS}, GROUPED_COLUMNS};
static const struct shape loader_shape = {.form = "-by loader", SHAPE_COLUMNS(loader_columns)};

static const struct form {
	const char *title;
	const struct shape *shape;
	enum column_id name; /* the column that shows the row's name */
} forms[] = {
    [BY_CLASS] = {"histogram", &class_shape, COL_CLASS},
    [BY_PACKAGE] = {"histogram by package", &package_shape, COL_PACKAGE},
    [BY_LOADER] = {"histogram by loader", &loader_shape, COL_LOADER_CLASS},
    [BY_SUPERCLASS] = {"histogram by superclass", &super_shape, COL_SUPERCLASS},
};

struct histo {
	struct histogram histogram;
	enum histogram_by by;
	uint32_t *group;     /* by class: its row */
	struct bits only;    /* the objects counted; word NULL: all */
	struct retained_sum *retained; /* by row; NULL: those of the classes, or not summed yet */
};

static struct cell loader_class_cell(const struct heap *h, uint32_t loader, bool lost)
{
	const char *name = heap_loader_class_name(h, loader, lost);
	return name ? cell_text(name) : cell_none();
}

static void class_cell(const struct heap *h, const struct histogram_row *row,
    enum column_id column, struct cell *out)
{
	const struct heap_class *class = row->class == HEAP_NONE ? NULL : &h->classes[row->class];
	switch (column) {
	case COL_CLASS_ADDRESS:
		*out = class && class->address ? cell_address(class->address) : cell_none();
		break;
	case COL_LOADER:
		*out = cell_object_address(h, row->loader);
		break;
	case COL_OBJECTS:
		*out = cell_count(row->objects);
		break;
	case COL_SHALLOW:
		*out = cell_bytes(row->shallow);
		break;
	case COL_CLASSES:
		*out = cell_count(heap_counted(h, row->n_classes));
		break;
	case COL_LOADER_CLASS:
		*out = loader_class_cell(h, row->loader, row->loader_lost);
		break;
	case COL_SUPERCLASS:
		*out = !class || class->superclass == HEAP_NONE ? cell_none() :
		    cell_text(h->classes[class->superclass].name);
		break;
	default:
		break;
	}
}

/* Sums by row, where those by class do not tell. */
static int sum_rows(struct result *r, const struct retained *known, struct progress *progress,
    struct err *err)
{
	struct histo *h = r->data;
	uint32_t n = (uint32_t)h->histogram.n;
	struct retained_sum *sums = big_alloc((uint64_t)n + 1, sizeof *sums, err);
	if (!sums)
		return ERR_NOMEM;
	int code = retained_by_group(
	    known, h->group, n, NULL, h->only.word ? &h->only : NULL, sums, progress, err);
	if (code) {
		big_free(sums);
		return code;
	}
	big_free(h->retained);
	h->retained = sums;
	return 0;
}

static struct cell retained_cell(const struct result *r, size_t row)
{
	const struct histo *h = r->data;
	const struct retained *known = result_known(r);
	if (!known && !r->later)
		known = opened_class_sums(r->opened);
	if (!known)
		return cell_unknown(REASON_NOT_FOUND_YET);
	const struct retained_sum *sum =
	    h->retained ? &h->retained[row] : &known->by_class[h->histogram.rows[row].class];
	return (h->histogram.rows[row].objects.n ? command_retained_members : command_retained_sum)(r->opened, sum);
}

static void histo_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct histo *h = r->data;
	enum column_id id = r->shape->columns[column].id;
	(void)scratch;
	if (id == COL_RETAINED)
		*out = retained_cell(r, row);
	else if (id == forms[h->by].name)
		*out = cell_text(h->histogram.rows[row].name);
	else
		class_cell(r->heap, &h->histogram.rows[row], id, out);
}

static void histo_target(const struct result *r, size_t row, struct target *out)
{
	const struct histo *h = r->data;
	uint32_t class = h->histogram.rows[row].class;
	*out = (struct target){.kind = TARGET_GROUP};
	if (h->by == BY_CLASS && class != HEAP_NONE)
		*out = (struct target){.kind = TARGET_CLASS, .id = class, .part = h->only.word != NULL};
}

static int histo_members(
    const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct histo *h = r->data;
	return histogram_members(r->heap, h->group, rows, h->only.word ? &h->only : NULL, to, err);
}

static void histo_release(void *data)
{
	struct histo *h = data;
	histogram_release(&h->histogram);
	big_free(h->group);
	big_free(h->retained);
	bits_release(&h->only);
	free(h);
}

static const struct result_ops histo_ops = {
    .cell = histo_cell, .target = histo_target, .release = histo_release, .members = histo_members};

static const struct option_spec histo_options[] = {
    {DASH_BY, OPT_CHOICE, "class|package|loader|super|path|heap", "group by (default class)"},
    {DASH_ALL, OPT_FLAG, NULL, "also classes without objects"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    REACH_OPTIONS,
    WHERE_OPTION,
    HEAP_OPTION,
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

enum { LOOKED_AT_ONCE = 1 << 14 }; /* objects, before ^C is asked for */

/* The objects of the scope that roots reach, or do not, in place of the scope; *ids: big memory of n. */
static int limit_scope(struct session *s, enum reach_wish wish, struct histogram_scope *scope,
    uint32_t **ids, size_t *n, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct bits chosen;
	int code = session_find(s, FIND_REACHABLE, err);
	if (code)
		return code;
	const struct reachable *reach = opened_reachable(s->dump);
	code = bits_init(&chosen, h->n_classes, err);
	for (size_t i = 0; !code && i < scope->n_classes; i++)
		bits_set(&chosen, scope->classes[i]);
	*n = 0;
	size_t most = scope->objects ? scope->n_objects : h->n_objects;
	*ids = code ? NULL : big_alloc(most, sizeof **ids, err);
	for (size_t i = 0; *ids && !code && i < most; i++) {
		uint32_t id = scope->objects ? scope->objects[i] : (uint32_t)i;
		if (i % LOOKED_AT_ONCE == 0 && progress_cancelled(session_progress(s)))
			code = err_cancelled(err);
		if (bits_get(&reach->objects, id) == (wish == REACH_LIVE) &&
		    (!scope->classes || bits_get(&chosen, h->class_of[id])))
			(*ids)[(*n)++] = id;
	}
	bits_release(&chosen);
	if (!*ids)
		return ERR_NOMEM;
	if (code) {
		big_free(*ids);
		*ids = NULL;
		return code;
	}
	*ids = big_fit(*ids, *n, sizeof **ids);
	scope->objects = *ids;
	scope->n_objects = *n;
	scope->chosen = wish == REACH_LIVE ? heap_reached : heap_held;
	scope->reached = wish == REACH_LIVE;
	scope->unreachable = reach->unreachable_n;
	scope->classes = NULL;
	scope->n_classes = 0;
	return 0;
}

/* Only some objects of what the scope has? */
static bool is_narrowed(const struct call *call)
{
	return call_has(call, DASH_WHERE) || call_has(call, DASH_HEAP);
}

/* The objects of the scope that are in the heap of -heap and for which -where is true, in place of the scope. */
static int narrow_scope(struct session *s, const struct call *call, struct histogram_scope *scope, uint32_t **ids,
    struct err *err)
{
	const struct heap *h = session_heap(s);
	size_t n = scope->objects ? scope->n_objects : h->n_objects;
	uint32_t *kept = scope->classes ? objects_of_classes(h, scope->classes, scope->n_classes, &n, err) :
	    big_alloc(n, sizeof *kept, err);
	for (size_t i = 0; kept && !scope->classes && i < n; i++)
		kept[i] = scope->objects ? scope->objects[i] : (uint32_t)i;
	int code = kept ? command_heap(s, call, kept, &n, err) : ERR_NOMEM;
	if (!code)
		code = ask_where(s, call, kept, &n, err);
	big_free(*ids);
	*ids = kept;
	scope->classes = NULL;
	scope->n_classes = 0;
	scope->objects = kept;
	scope->n_objects = n;
	return code;
}

static void histo_title(struct text *to, const char *title, const struct call *call, enum reach_wish wish)
{
	static const char *const reached[] = {"", " of reachable objects", " of unreachable objects"};
	text_addf(to, "%s%s", title, reached[wish]);
	if (call->argument[0].given && (call->argument[0].objects || wish != REACH_ALL))
		text_addf(to, "%s%s", wish == REACH_ALL ? " of " : ": ", call->argument[0].word);
	if (call_has(call, DASH_HEAP))
		text_addf(to, " in the heap %s", call->option[call_option(call, DASH_HEAP)].word);
	if (call_has(call, DASH_WHERE))
		text_addf(to, " where %s", call->option[call_option(call, DASH_WHERE)].word);
}

static int by_classes(struct session *s, enum histogram_by by, const struct histogram_scope *scope,
    const char *title, struct result **out, struct err *err)
{
	struct histo *h = xcalloc(1, sizeof *h);
	h->by = by;
	int code = histogram_make(&h->histogram, session_heap(s), by, scope, err);
	if (!code && !(h->group = histogram_groups(&h->histogram, session_heap(s), by, scope, err)))
		code = ERR_NOMEM;
	if (!code && scope->objects)
		code = bits_init(&h->only, session_heap(s)->n_objects, err);
	for (size_t i = 0; !code && i < scope->n_objects; i++)
		bits_set(&h->only, scope->objects[i]);
	if (code) {
		histo_release(h);
		return code;
	}
	*out = result_new(title, s->dump, forms[by].shape, &histo_ops, h, h->histogram.n);
	if (by != BY_CLASS || h->only.word)
		(*out)->later = sum_rows;
	return 0;
}

static int histo_scope(struct session *s, const struct call *call, enum reach_wish wish,
    struct histogram_scope *scope, uint32_t **ids, struct err *err)
{
	size_t n_ids = 0;
	*ids = NULL;
	*scope = (struct histogram_scope){.empty = call_has(call, DASH_ALL)};
	if (call->argument[0].given && call->argument[0].objects) {
		scope->objects = call->argument[0].ids;
		scope->n_objects = call->argument[0].n_ids;
	} else if (call->argument[0].given) {
		scope->classes = call->argument[0].ids;
		scope->n_classes = call->argument[0].n_ids;
	}
	int code = wish == REACH_ALL ? 0 : limit_scope(s, wish, scope, ids, &n_ids, err);
	return code || !is_narrowed(call) ? code : narrow_scope(s, call, scope, ids, err);
}

static int run_histo(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	static const enum histogram_by kinds[] = {
	    BY_CLASS, BY_PACKAGE, BY_LOADER, BY_SUPERCLASS, BY_CLASS, BY_CLASS};
	enum { CHOICE_PATH = 4, CHOICE_HEAP };
	int choice = call_choice(call, DASH_BY, 0);
	bool path = choice == CHOICE_PATH, heap = choice == CHOICE_HEAP;
	enum histogram_by by = kinds[choice];
	if (by == BY_SUPERCLASS && !session_heap(s)->facts.references_superclass_recorded)
		return err_set(err, ERR_UNSUPPORTED, "%s has no superclasses", session_heap(s)->facts.title);
	struct histogram_scope scope;
	struct text title = TEXT_INIT;
	struct result *r = NULL;
	uint32_t *ids = NULL;
	enum reach_wish wish = REACH_ALL;
	int code = command_reach(call, &wish, err);
	bool whole = by == BY_CLASS && !path && !heap && wish == REACH_ALL && !is_narrowed(call) &&
	    !call->argument[0].objects;
	if (!code)
		code = command_class_sums(s, call, whole, err);
	if (!code)
		code = histo_scope(s, call, wish, &scope, &ids, err);
	if (code) {
		big_free(ids);
		return code;
	}
	histo_title(&title, path ? "histogram by path" : heap ? "histogram by heap" : forms[by].title, call, wish);
	code = path ? histo_by_path(s, &scope, title.s, &r, err) : heap ? histo_by_heap(s, &scope, title.s, &r, err) :
	    by_classes(s, by, &scope, title.s, &r, err);
	text_release(&title);
	big_free(ids);
	if (code)
		return code;
	if (wish != REACH_ALL)
		command_add_roots_note(r);
	code = command_order(s, r, path ? COL_RETAINED : COL_SHALLOW, err);
	if (code) {
		result_free(r);
		return code;
	}
	if (call->argument[0].given) /* of all classes few have a name twice, and W shows their loaders */
		result_tell_loaders(r);
	if (whole)
		command_show_class_sums(r);
	else
		command_show_retained(r);
	*out = r;
	return 0;
}

const struct command cmd_histo = {
    .name = "histo",
    .arguments = {{ARG_CLASS, "PAT", true}},
    .options = histo_options,
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_EARLY,
    .group = "browse",
    .summary = "count objects and bytes by class, largest first",
    .shapes = SHAPES(&class_shape, &package_shape, &loader_shape, &super_shape, &histo_paths_shape, &histo_heaps_shape),
    .description = "One row per class with objects; two classes of one name from two loaders are two rows. PAT is a "
	"class pattern or a set.\n"
	"-by path\tshortest strong path to the objects; array indexes, chain links (*) and digits of thread names "
	"do not count\n"
	"-by super\tdirect superclass\n"
	"-by heap\tAndroid heap: app is the program, zygote and image are shared\n"
	"retained\tbytes that the objects free one by one, each byte once\n"
	"-retained\ttakes a while on a large heap; -sort retained implies it\n"
	"Objects of a row may free more together than one by one: then retained is a lower bound (>=). size %1 "
	"computes the exact value of row 1.",
    .examples = {{"histo", ON_ANY, "the classes that use most memory"},
	{"histo -by package | head 5", ON_ANY, "the five largest packages"},
	{"histo -by path | head 5", ON_SHOP, "which paths hold most memory"},
	{"histo java.util.* -sort objects", ON_SHOP}, {"histo -live -retained", ON_SHOP}},
    .key = "h",
    .run = run_histo,
};

/* --- duplicate-classes ------------------------------------------------------------------------ */

static const struct column dup_columns[] = {
    {.id = COL_CLASS},
    {.id = COL_TIMES},
    {.id = COL_CLASS_ADDRESS},
    {.id = COL_LOADER},
    {.id = COL_LOADER_CLASS},
    {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true},
};
static const struct shape dup_shape = {SHAPE_COLUMNS(dup_columns)};

static void add_duplicate(struct result *r, const struct heap *h, uint32_t c, size_t times)
{
	const struct heap_class *class = &h->classes[c];
	result_add_row(r, (struct cell[]){cell_text(class->name), cell_count(heap_counted(h, times)),
	    class->address ? cell_address(class->address) : cell_none(),
	    cell_object_address(h, class->loader), loader_class_cell(h, class->loader, class->loader_lost),
	    cell_count(class_objects(h, class)), cell_bytes(class_shallow(h, class))},
	    &(struct target){.kind = TARGET_CLASS, .id = c});
}

static int run_duplicate_classes(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct name_index *ix = session_names(s, err);
	if (!ix)
		return ERR_NOMEM;
	struct result *r =
	    result_new_rows("duplicate-classes", s->dump, &dup_shape);
	(void)call;
	for (uint32_t i = 0, end; i < ix->n; i = end) {
		const char *name = name_index_name(ix, i);
		for (end = i + 1; end < ix->n && !strcmp(name_index_name(ix, end), name); end++)
			;
		for (uint32_t at = i; end - i > 1 && at < end; at++)
			add_duplicate(r, session_heap(s), ix->by_name[at], end - i);
	}
	if (!r->n_rows)
		r->note = "no class is loaded more than once";
	*out = r;
	return 0;
}

const struct command cmd_duplicate_classes = {
    .name = "duplicate-classes",
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_EARLY,
    .group = "browse",
    .summary = "list classes loaded by more than one class loader",
    .shapes = SHAPES(&dup_shape),
    .description = "One row per class that has the same name as another class, with its class loader.",
    .examples = {{"duplicate-classes", ON_SHOP, "is a web application loaded twice?"},
	{"duplicate-classes | sort -shallow", ON_SHOP, "those with most bytes first"}},
    .key = "",
    .run = run_duplicate_classes,
};
