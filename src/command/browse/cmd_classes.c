/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_classes.c - histo, loaders, duplicate-classes: rows that are classes or groups of them.
 */
#include "command/commands.h"

#include "analysis/describe/describe.h"
#include "analysis/histogram.h"
#include "base/mem.h"
#include "command/browse/histo_groups.h"
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

static const struct column loaders_columns[] = {
    {.id = COL_ADDRESS},
    {.id = COL_CLASS},
    {.id = COL_NAME},
    {.id = COL_PARENT},
    {.id = COL_CLASSES, .total = true},
    {.id = COL_INSTANCES, .total = true},
    {.id = COL_SHALLOW, .total = true},
    {.id = COL_BOOT},
    {.id = COL_RETAINED, .hidden = true},
};
static const struct shape loaders_shape = {.named_by = COL_LOADER, SHAPE_COLUMNS(loaders_columns)};

static const struct form {
	const char *title;
	const struct shape *shape;
	enum column_id name; /* the column that shows the row's name; COL_OWN_NAME: none */
} forms[] = {
    [BY_CLASS] = {"histogram", &class_shape, COL_CLASS},
    [BY_PACKAGE] = {"histogram by package", &package_shape, COL_PACKAGE},
    [BY_LOADER] = {"histogram by loader", &loader_shape, COL_LOADER_CLASS},
    [BY_SUPERCLASS] = {"histogram by superclass", &super_shape, COL_SUPERCLASS},
};
static const struct form loaders_form = {"class loaders", &loaders_shape, COL_OWN_NAME};

struct histo {
	struct histogram histogram;
	const struct form *form;
	uint32_t *group;     /* by class: its row */
	struct bits only;    /* the objects counted; word NULL: all */
	struct retained_sum *retained; /* by row; NULL: those of the classes, or not summed yet */
};

static bool open_loader(const struct heap *h, uint32_t loader, struct values *values)
{
	return loader != HEAP_NONE && values_open(values, h, loader, NULL) == 0 &&
	    values_as_named(values, "java.lang.ClassLoader");
}

/* As the javacore says, else as the loader's own field does; blank: it has none. */
static struct cell parent_cell(const struct heap *h, uint32_t loader)
{
	struct values values;
	struct value parent;
	for (uint32_t i = 0; i < h->n_loader_parents; i++)
		if (h->loader_parents[i].loader == loader && loader != HEAP_NONE)
			return h->loader_parents[i].parent == HEAP_NONE ? cell_blank() :
			    cell_object_address(h, h->loader_parents[i].parent);
	if (!open_loader(h, loader, &values) || !values_field(&values, "parent", &parent))
		return cell_none();
	return parent.bits ? cell_object_address(h, value_object_id(h, &parent)) : cell_blank();
}

static struct cell loader_name(const struct heap *h, uint32_t loader, struct text *text)
{
	struct values values;
	struct value name;
	bool has = open_loader(h, loader, &values) && values_field(&values, "name", &name);
	uint32_t id = has ? value_object_id(h, &name) : HEAP_NONE;
	return id != HEAP_NONE && describe_object(h, id, DESCRIBE_SHORT, text) ? cell_text(text->s) : cell_none();
}

static struct cell boot_cell(const struct heap *h, const struct histogram_row *row)
{
	if (row->loader != HEAP_NONE)
		return cell_flag(row->loader == h->boot_loader);
	return h->facts.boot_loader_is_null ? cell_flag(!row->loader_lost) : cell_none();
}

static struct cell superclass_cell(const struct heap *h, const struct histogram_row *row)
{
	uint32_t above = row->class == HEAP_NONE ? HEAP_NONE : h->classes[row->class].superclass;
	return above == HEAP_NONE ? cell_none() : cell_text(h->classes[above].name);
}

static void class_cell(const struct heap *h, const struct histogram_row *row,
    enum column_id column, struct cell *out, struct text *scratch)
{
	switch (column) {
	case COL_CLASS_ADDRESS:
		*out = row->class == HEAP_NONE ? cell_none() : cell_address_or_none(h->classes[row->class].address);
		break;
	case COL_ADDRESS:
	case COL_LOADER:
		*out = cell_object_address(h, row->loader);
		break;
	case COL_OBJECTS:
	case COL_INSTANCES:
		*out = cell_count(row->objects);
		break;
	case COL_SHALLOW:
		*out = cell_bytes(row->shallow);
		break;
	case COL_CLASSES:
		*out = cell_count(heap_counted(h, row->n_classes));
		break;
	case COL_CLASS:
	case COL_LOADER_CLASS:
		*out = cell_text(heap_loader_class_name(h, row->loader, row->loader_lost));
		break;
	case COL_SUPERCLASS:
		*out = superclass_cell(h, row);
		break;
	case COL_NAME:
		*out = loader_name(h, row->loader, scratch);
		break;
	case COL_PARENT:
		*out = parent_cell(h, row->loader);
		break;
	case COL_BOOT:
		*out = boot_cell(h, row);
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
	big_free(code ? sums : h->retained);
	if (!code)
		h->retained = sums;
	return code;
}

static struct cell retained_cell(const struct result *r, size_t row)
{
	const struct histo *h = r->data;
	const struct retained *known = result_known(r);
	if (!known && !r->later)
		known = opened_class_sums(r->opened);
	if (!known)
		return cell_unknown(REASON_NOT_FOUND_YET);
	struct retained_sum sum = h->retained ? h->retained[row] : retained_of_class(known, h->histogram.rows[row].class);
	return command_retained_members(r->opened, h->histogram.rows[row].objects, &sum);
}

static void histo_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct histo *h = r->data;
	enum column_id id = r->shape->columns[column].id;
	if (id == COL_RETAINED)
		*out = retained_cell(r, row);
	else if (id == h->form->name)
		*out = cell_text(h->histogram.rows[row].name);
	else
		class_cell(r->heap, &h->histogram.rows[row], id, out, scratch);
}

static void histo_target(const struct result *r, size_t row, struct target *out)
{
	const struct histo *h = r->data;
	const struct histogram_row *of = &h->histogram.rows[row];
	*out = (struct target){.kind = TARGET_GROUP};
	if (h->form == &forms[BY_CLASS] && of->class != HEAP_NONE)
		*out = (struct target){.kind = TARGET_CLASS, .id = of->class, .part = h->only.word != NULL};
	else if (h->form == &loaders_form && of->loader != HEAP_NONE)
		*out = (struct target){.kind = TARGET_OBJECT, .id = of->loader};
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

/* Only some objects of what the scope has? */
static bool is_narrowed(const struct call *call)
{
	return call_has(call, DASH_LIVE) || call_has(call, DASH_DEAD) || call_has(call, DASH_WHERE) ||
	    call_has(call, DASH_HEAP);
}

static void histo_title(struct text *to, const char *title, const struct call *call, enum reach_wish wish)
{
	static const char *const reached[] = {"", " of reachable objects", " of unreachable objects"};
	text_addf(to, "%s%s", title, reached[wish]);
	if (call->argument[0].given && (call->argument[0].objects || wish != REACH_ALL))
		text_addf(to, "%s%s", wish == REACH_ALL ? " of " : ": ", call->argument[0].word);
	if (call_has(call, DASH_HEAP))
		text_addf(to, " in the heap %s", call_word(call, DASH_HEAP));
	if (call_has(call, DASH_WHERE))
		text_addf(to, " where %s", call_word(call, DASH_WHERE));
}

static int by_classes(struct session *s, enum histogram_by by, const struct form *form,
    const struct histogram_scope *scope, const char *title, struct result **out, struct err *err)
{
	struct histo *h = xcalloc(1, sizeof *h);
	h->form = form;
	struct result *r = *out = result_new(title, s->dump, form->shape, &histo_ops, h, 0);
	int code = histogram_make(&h->histogram, session_heap(s), by, scope, err);
	if (!code && !(h->group = histogram_groups(&h->histogram, session_heap(s), by, scope, err)))
		code = ERR_NOMEM;
	if (!code && scope->objects)
		code = bits_init(&h->only, session_heap(s)->n_objects, err);
	for (size_t i = 0; !code && i < scope->n_objects; i++)
		bits_set(&h->only, scope->objects[i]);
	r->n_source = r->n_rows = h->histogram.n;
	r->later = by != BY_CLASS || scope->objects ? sum_rows : NULL;
	if (!scope->objects && !scope->classes) { /* surer than rows of classes that share a name */
		const struct heap *heap = session_heap(s);
		enum column_id objects = result_column_of(r, COL_OBJECTS) >= 0 ? COL_OBJECTS : COL_INSTANCES;
		r->known_sum[0] = (struct known_sum){objects, heap_counted(heap, heap->n_objects)};
		r->known_sum[1] = (struct known_sum){COL_SHALLOW, heap_size_of_all(heap)};
	}
	return code;
}

/* *ids: big memory that the scope needs.  grouped: it cannot have classes. */
static int histo_scope(struct session *s, const struct call *call, enum reach_wish wish, bool grouped,
    struct histogram_scope *scope, uint32_t **ids, struct err *err)
{
	const uint32_t *named = call->argument[0].ids;
	size_t n = call->argument[0].n_ids;
	*scope = (struct histogram_scope){.empty = call_has(call, DASH_ALL)};
	if (!is_narrowed(call) && call->argument[0].given && !call->argument[0].objects && !grouped) {
		scope->classes = named;
		scope->n_classes = n;
		return 0;
	}
	if (!is_narrowed(call) && (!call->argument[0].given || call->argument[0].objects)) {
		scope->objects = named;
		scope->n_objects = n;
		return 0;
	}
	int code = command_objects(s, call, ids, &n, err);
	if (!code)
		code = command_narrow(s, call, ids, &n, err);
	scope->objects = *ids;
	scope->n_objects = n;
	if (code || wish == REACH_ALL)
		return code;
	scope->chosen = wish == REACH_LIVE ? heap_reached : heap_held;
	scope->reached = wish == REACH_LIVE;
	scope->unreachable = opened_reachable(s->dump)->unreachable_n;
	return 0;
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
	uint32_t *ids = NULL;
	enum reach_wish wish = REACH_ALL;
	int code = command_reach(call, &wish, err);
	bool whole = by == BY_CLASS && !path && !heap && !is_narrowed(call) && !call->argument[0].objects;
	if (!code)
		code = command_class_sums(s, call, whole, err);
	if (!code)
		code = histo_scope(s, call, wish, path || heap, &scope, &ids, err);
	histo_title(&title, path ? "histogram by path" : heap ? "histogram by heap" : forms[by].title, call, wish);
	if (!code)
		code = path || heap ? histo_by_groups(s, path, &scope, title.s, out, err) :
		    by_classes(s, by, &forms[by], &scope, title.s, out, err);
	text_release(&title);
	big_free(ids);
	if (code)
		return code;
	if (wish != REACH_ALL)
		command_add_roots_note(*out);
	if (call->argument[0].given) /* of all classes few have a name twice, and W shows their loaders */
		result_tell_loaders(*out);
	if (whole)
		command_show_class_sums(*out);
	else
		command_show_retained(*out);
	return command_order(s, *out, path ? COL_RETAINED : COL_SHALLOW, err);
}

const struct command cmd_histo = {
    .name = "histo",
    .arguments = {{ARG_CLASS, "PAT", true}},
    .options = OPTIONS({DASH_BY, OPT_CHOICE, "class|package|loader|super|path|heap", "group by (default class)"},
	{DASH_ALL, OPT_FLAG, NULL, "also classes without objects"},
	{DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
	REACH_OPTIONS,
	WHERE_OPTION,
	HEAP_OPTION),
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

/* --- loaders ---------------------------------------------------------------------------------- */

/* Loaders without classes have rows of zeros. */
static int add_idle_loaders(struct histogram *l, const struct heap *h, struct err *err)
{
	struct bits seen;
	uint32_t *classes = big_alloc(h->n_classes, sizeof *classes, err);
	size_t n_classes = 0, n = 0, cap = l->n;
	for (uint32_t c = 0; classes && c < h->n_classes; c++)
		if (h->classes[c].n_objects && h->classes[c].makes_loaders)
			classes[n_classes++] = c;
	uint32_t *ids = classes ? objects_of_classes(h, classes, n_classes, &n, err) : NULL;
	int code = bits_init(&seen, h->n_objects, err);
	big_free(classes);
	for (size_t i = 0; !code && i < l->n; i++)
		if (l->rows[i].loader != HEAP_NONE)
			bits_set(&seen, l->rows[i].loader);
	for (size_t i = 0; ids && !code && i < n; i++) {
		if (bits_get(&seen, ids[i]))
			continue;
		struct histogram_row *row = BIG_PUSH(l->rows, l->n, cap, err);
		if (row)
			*row = (struct histogram_row){.class = HEAP_NONE, .loader = ids[i],
			    .objects = heap_counted(h, 0), .shallow = heap_counted(h, 0)};
		else
			code = ERR_NOMEM;
	}
	bits_release(&seen);
	big_free(ids);
	return code || ids ? code : ERR_NOMEM;
}

static int loaders_told(const struct heap *h, struct err *err)
{
	return h->facts.no_class_objects ? err_set(err, ERR_UNSUPPORTED, "%s has no class loaders", h->facts.title) : 0;
}

static int run_loaders(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	int code = command_retained(s, call, err);
	if (!code)
		code = by_classes(s, BY_LOADER, &loaders_form, &(struct histogram_scope){.empty = true}, loaders_form.title,
		    out, err);
	if (code)
		return code;
	struct histogram *loaders = &((struct histo *)(*out)->data)->histogram;
	if (loaders->n == 1 && h->boot_loader == HEAP_NONE)
		(*out)->note = "the dump does not record the loader of a class";
	code = add_idle_loaders(loaders, h, err);
	(*out)->n_source = (*out)->n_rows = loaders->n;
	result_sort_new(*out, COL_CLASSES, true);
	command_show_retained(*out);
	return code;
}

const struct command cmd_loaders = {
    .name = "loaders",
    .options = OPTIONS({DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"}),
    .group = "browse",
    .summary = "list class loaders with their classes and objects",
    .shapes = SHAPES(&loaders_shape),
    .description = "One row per class loader object. A row without address has the classes of a boot loader that is "
	"not an object, or of an unknown loader; <unknown> is a loader outside of the part of the dump that was "
	"read. instances, shallow and retained include arrays and class objects of its classes. parent is empty if "
	"there is none, and unknown if the dump does not record it.",
    .examples = {{"loaders", ON_SHOP, "which class loaders keep many classes?"},
	{"loaders -retained | sort -retained", ON_SHOP, "which class loaders retain most?"}},
    .key = "L",
    .told = loaders_told,
    .run = run_loaders,
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
	    cell_address_or_none(class->address), cell_object_address(h, class->loader),
	    cell_text(heap_loader_class_name(h, class->loader, class->loader_lost)),
	    cell_count(class_objects(h, class)), cell_bytes(class_shallow(h, class))},
	    &(struct target){.kind = TARGET_CLASS, .id = c});
}

static int run_duplicate_classes(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct name_index *ix = opened_names(s->dump, err);
	if (!ix)
		return ERR_NOMEM;
	struct result *r = *out = result_new_rows("duplicate-classes", s->dump, &dup_shape);
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
    .run = run_duplicate_classes,
};
