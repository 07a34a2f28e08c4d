/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_loaders.c - loaders: the class loaders, with what their classes take. */
#include "command/commands.h"

#include "analysis/histogram.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"
#include "result/result.h"

#include <stdlib.h>

enum { L_ADDRESS, L_CLASS, L_NAME, L_PARENT, L_CLASSES, L_INSTANCES, L_SHALLOW, L_BOOT, L_RETAINED, L_COLUMNS };

static const struct column loaders_columns[L_COLUMNS] = {
    [L_ADDRESS] = {.id = COL_ADDRESS},
    [L_CLASS] = {.id = COL_CLASS},
    [L_NAME] = {.id = COL_NAME},
    [L_PARENT] = {.id = COL_PARENT},
    [L_CLASSES] = {.id = COL_CLASSES, .total = true},
    [L_INSTANCES] = {.id = COL_INSTANCES, .total = true},
    [L_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [L_BOOT] = {.id = COL_BOOT},
    [L_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
static const struct shape loaders_shape = {.named_by = COL_LOADER, SHAPE_COLUMNS(loaders_columns)};

/* As the javacore says, else as the loader's own field does; blank: it has none. */
static struct cell parent_cell(const struct heap *h, uint32_t loader, const struct values *values)
{
	struct value parent;
	for (uint32_t i = 0; i < h->n_loader_parents; i++)
		if (h->loader_parents[i].loader == loader)
			return h->loader_parents[i].parent == HEAP_NONE ? cell_blank() :
			    cell_object_address(h, h->loader_parents[i].parent);
	if (!values || !values_field(values, "parent", &parent))
		return cell_none();
	return parent.bits ? cell_object_address(h, value_object_id(h, &parent)) : cell_blank();
}

static struct cell loader_name(const struct heap *h, const struct values *values, struct text *text)
{
	struct value name;
	uint32_t id = values && values_field(values, "name", &name) ? value_object_id(h, &name) : HEAP_NONE;
	return id != HEAP_NONE && describe_object(h, id, DESCRIBE_SHORT, text) ? cell_text(text->s)
	                                                                       : cell_none();
}

/* Sums of the classes of one loader; a loader without classes has a row of zeros. */
static void add_loader(struct result *r, const struct heap *h, const struct histogram_row *row)
{
	struct target target = {.kind = TARGET_OBJECT, .id = row->loader};
	bool known = row->loader != HEAP_NONE, lost = row->loader_lost;
	bool boot = !known && !lost && h->facts.boot_loader_is_null;
	const char *class = heap_loader_class_name(h, row->loader, lost);
	struct text name = TEXT_INIT;
	struct values values;
	if (!known)
		target = (struct target){.kind = TARGET_GROUP};
	bool held = known && values_open(&values, h, row->loader, NULL) == 0 &&
	    values_as_named(&values, "java.lang.ClassLoader");
	result_add_row(r, (struct cell[L_COLUMNS]){
	    [L_ADDRESS] = cell_object_address(h, row->loader),
	    [L_CLASS] = class ? cell_text(class) : cell_none(),
	    [L_NAME] = loader_name(h, held ? &values : NULL, &name),
	    [L_PARENT] = known ? parent_cell(h, row->loader, held ? &values : NULL) : cell_none(),
	    [L_CLASSES] = cell_count(heap_counted(h, row->n_classes)),
	    [L_INSTANCES] = cell_count(row->objects),
	    [L_SHALLOW] = cell_bytes(row->shallow),
	    [L_BOOT] = known ? cell_flag(row->loader == h->boot_loader) : boot ? cell_flag(true) :
		lost && h->facts.boot_loader_is_null ? cell_flag(false) : cell_none(),
	    [L_RETAINED] = cell_blank() /* when looked at */},
	    &target);
	text_release(&name);
}

static int idle_loaders(
    struct result *r, const struct heap *h, const struct bits *seen, struct err *err)
{
	uint32_t *classes = big_alloc(h->n_classes, sizeof *classes, err), *ids;
	size_t n_classes = 0, n;
	if (!classes)
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		if (h->classes[c].n_objects && h->classes[c].makes_loaders)
			classes[n_classes++] = c;
	}
	ids = objects_of_classes(h, classes, n_classes, &n, err);
	big_free(classes);
	if (!ids)
		return ERR_NOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!bits_get(seen, ids[i]))
			add_loader(r, h, &(struct histogram_row){.loader = ids[i],
			    .objects = heap_counted(h, 0), .shallow = heap_counted(h, 0)});
	}
	big_free(ids);
	return 0;
}

/* What the rows of loaders sum; rows behind n have no classes. */
struct loader_rows {
	struct histogram by_loader;
	uint32_t *group;    /* the row of each class */
	struct retained_sum *retained; /* NULL: not summed yet */
};

static int loaders_members(const struct result *r, void *data, const struct bits *rows,
    struct bits *to, struct err *err)
{
	const struct loader_rows *l = data;
	return histogram_members(r->heap, l->group, rows, NULL, to, err);
}

static int sum_loaders(struct result *r, const struct retained *known, struct progress *progress,
    struct err *err)
{
	struct loader_rows *l = result_rows_data(r);
	if (!l->retained)
		l->retained = big_alloc(l->by_loader.n + 1, sizeof *l->retained, err);
	if (!l->retained)
		return ERR_NOMEM;
	int code = retained_by_group(
	    known, l->group, (uint32_t)l->by_loader.n, NULL, NULL, l->retained, progress, err);
	if (code) {
		big_free(l->retained);
		l->retained = NULL;
	}
	return code;
}

static struct cell loaders_retained(const struct result *r, void *data, size_t row)
{
	const struct loader_rows *l = data;
	static const struct retained_sum nothing;
	if (!result_known(r))
		return cell_unknown(REASON_NOT_FOUND_YET);
	if (row >= l->by_loader.n || !l->by_loader.rows[row].objects.n)
		return command_retained_sum(r->opened, &nothing);
	return command_retained_members(r->opened, &l->retained[row]);
}

static void loaders_release(void *data)
{
	struct loader_rows *l = data;
	histogram_release(&l->by_loader);
	big_free(l->group);
	big_free(l->retained);
	free(l);
}

static const struct option_spec loaders_options[] = {
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

static int loaders_told(const struct heap *h, struct err *err)
{
	return h->facts.no_class_objects ? err_set(err, ERR_UNSUPPORTED, "%s has no class loaders", h->facts.title) : 0;
}

static int run_loaders(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct histogram_scope scope = {.empty = true};
	struct bits seen = {.word = NULL};
	int code = command_retained(s, call, err);
	if (code)
		return code;
	struct loader_rows *rows = xcalloc(1, sizeof *rows);
	struct histogram *by_loader = &rows->by_loader;
	code = histogram_make(by_loader, h, BY_LOADER, &scope, err);
	if (code) {
		free(rows);
		return code;
	}
	rows->group = histogram_groups(by_loader, h, BY_LOADER, &scope, err);
	struct result *r =
	    result_new_rows("class loaders", s->dump, &loaders_shape);
	result_rows_members(r, loaders_members, loaders_release, rows);
	result_rows_late(r, COL_RETAINED, loaders_retained);
	r->later = sum_loaders;
	code = rows->group ? bits_init(&seen, h->n_objects, err) : ERR_NOMEM;
	for (size_t i = 0; !code && i < by_loader->n; i++) {
		add_loader(r, h, &by_loader->rows[i]);
		if (by_loader->rows[i].loader != HEAP_NONE)
			bits_set(&seen, by_loader->rows[i].loader);
	}
	if (!code)
		code = idle_loaders(r, h, &seen, err);
	bits_release(&seen);
	if (code) {
		result_free(r);
		return code;
	}
	result_sort_new(r, COL_CLASSES, true);
	command_show_retained(r);
	r->note = by_loader->n == 1 && h->boot_loader == HEAP_NONE ?
	    "the dump does not record the loader of a class" : NULL;
	*out = r;
	return 0;
}

const struct command cmd_loaders = {
    .name = "loaders",
    .options = loaders_options,
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
