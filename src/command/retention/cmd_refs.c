/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_refs.c - refs: what objects reference, and what references them.
 */
#include "command/commands.h"

#include "analysis/describe/describe.h"
#include "base/amount.h"
#include "command/query/query.h"
#include "command/resolve/resolve.h"
#include "command/retention/heap_labels.h"
#include "command/retention/references_of_set.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

enum { R_DIRECTION, R_FIELD, R_ADDRESS, R_CLASS, R_SHALLOW, R_RETAINED, R_VALUE, R_COLUMNS };

static const struct column refs_columns[R_COLUMNS] = {
    [R_DIRECTION] = {.id = COL_DIRECTION},
    [R_FIELD] = {.id = COL_FIELD},
    [R_ADDRESS] = {.id = COL_ADDRESS},
    [R_CLASS] = {.id = COL_CLASS},
    [R_SHALLOW] = {.id = COL_SHALLOW},
    [R_RETAINED] = {.id = COL_RETAINED, .hidden = true},
    [R_VALUE] = {.id = COL_VALUE, .hidden = true},
};
static const struct shape refs_shape = {SHAPE_COLUMNS(refs_columns)};
static const unsigned char refs_what[R_COLUMNS] = {
    [R_DIRECTION] = OBJECT_DIRECTION,
    [R_FIELD] = OBJECT_FIELD,
    [R_ADDRESS] = OBJECT_ADDRESS,
    [R_CLASS] = OBJECT_CLASS,
    [R_SHALLOW] = OBJECT_SHALLOW,
    [R_RETAINED] = OBJECT_RETAINED,
    [R_VALUE] = OBJECT_VALUE,
};

static const struct option_spec refs_options[] = {
    {DASH_OUT, OPT_FLAG, NULL, "only outgoing references"},
    {DASH_IN, OPT_FLAG, NULL, "only incoming references"},
    {DASH_BY, OPT_CHOICE, "class|field|holder", "group by class, class and field, or holder"},
    {DASH_CLASS, OPT_CLASSES, "PAT", "only references to or from these classes"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    WHERE_OPTION,
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

struct group {
	uint64_t references, objects;
	struct amount shallow; /* of the objects */
	size_t row;
};

void references_line(struct text *to, const struct heap *h, uint32_t id, enum direction direction,
    uint32_t class)
{
	text_clear(to);
	text_addf(to, "refs 0x%" PRIx64 " -%s -class ", heap_address(h, id), direction_word(direction));
	if (h->classes[class].address && h->classes[class].object != HEAP_NONE)
		text_addf(to, "0x%" PRIx64, h->classes[class].address);
	else
		text_addf(to, "'%s'", h->classes[class].name);
}

/* Sum the rows of one direction by class into r. */
static int group_rows(struct result *r, const struct object_rows *rows, uint32_t id, enum direction direction,
    struct err *err)
{
	const struct heap *h = r->heap;
	struct bits seen = {.word = NULL};
	struct group *groups = big_alloc(h->n_classes, sizeof *groups, err);
	struct text command = TEXT_INIT;
	int code = groups ? bits_init(&seen, h->n_objects, err) : ERR_NOMEM;
	for (size_t row = 0; !code && row < object_rows_count(rows) && !progress_own_stops(row); row++) {
		enum direction way;
		uint32_t other = object_rows_id(rows, row, &way);
		if (way != direction)
			continue;
		struct group *g = &groups[heap_class_index(h, other)];
		g->references++;
		if (bits_get(&seen, other))
			continue;
		bits_set(&seen, other);
		g->objects++;
		g->shallow = amount_add(g->shallow, heap_size(h, other));
	}
	for (uint32_t c = 0; !code && c < h->n_classes && !progress_own_stops(c); c++) {
		if (!groups[c].references)
			continue;
		/* what an object refers to stands in its record; who refers to it may be anywhere */
		struct amount all = direction == DIRECTION_IN ? heap_counted(h, 0) : amount_exact(0);
		references_line(&command, h, id, direction, c);
		groups[c].row = r->n_source;
		result_add_row(r, (struct cell[]){cell_text(direction_word(direction)), cell_text(h->classes[c].name),
		    cell_count(amount_as_sure(amount_exact(groups[c].references), all)),
		    cell_count(amount_as_sure(amount_exact(groups[c].objects), all)),
		    cell_bytes(amount_as_sure(groups[c].shallow, all)), cell_blank()},
		    &(struct target){.kind = TARGET_CLASS, .id = c, .part = true, .command = command.s});
	}
	for (size_t row = 0; !code && row < object_rows_count(rows) && !progress_own_stops(row); row++) {
		enum direction way;
		uint32_t other = object_rows_id(rows, row, &way);
		if (way == direction)
			result_add_member(r, groups[heap_class_index(h, other)].row, other);
	}
	text_release(&command);
	bits_release(&seen);
	big_free(groups);
	return code;
}

static int grouped(const struct opened *o, struct object_rows *rows, const char *title, uint32_t id,
    struct result **out, struct err *err)
{
	struct result *r = *out = result_new_rows(title, o, &set_by_class_shape);
	int code = group_rows(r, rows, id, DIRECTION_OUT, err);
	if (!code)
		code = group_rows(r, rows, id, DIRECTION_IN, err);
	object_rows_free(rows);
	result_sum_members(r);
	command_sort_directions(r, COL_OBJECTS);
	return code;
}

static int only_classes(const struct session *s, const struct call *call, struct object_rows *rows, struct err *err)
{
	int i = call_option(call, DASH_CLASS);
	uint32_t *classes;
	size_t n;
	if (!call->option[i].given)
		return 0;
	int code = value_classes(s, call->option[i].word, &classes, &n, err);
	if (code)
		return code;
	code = object_rows_only(rows, classes, n, err);
	big_free(classes);
	return code;
}

/* Each reference in a row; with what it is where the format holds values. */
static struct result *listed(const struct heap *h, struct object_rows *rows, const char *title)
{
	struct result *r =
	    object_rows_result(rows, title, &refs_shape, refs_what);
	if (values_held(h) || values_away(h))
		result_show(r, R_VALUE, true);
	return r;
}

static const char *title_of(bool forward, bool back)
{
	return !back ? "outgoing references" : forward ? "outgoing and incoming references" : "incoming references";
}

static int references_of(struct session *s, const struct call *call, bool forward, bool back, struct result **out,
    struct err *err)
{
	const struct heap *h = session_heap(s);
	uint32_t id = call->argument[0].id;
	struct object_rows *rows = object_rows_new(s->dump);
	struct text title = TEXT_INIT;
	int code = command_retained(s, call, err);
	text_addf(&title, "%s of 0x%" PRIx64, title_of(forward, back), heap_address(h, id));
	if (forward)
		object_rows_out(rows, id, DIRECTION_OUT);
	if (back && !code)
		code = object_rows_in(rows, id, DIRECTION_IN, err);
	if (!code)
		code = object_rows_check(rows, err);
	if (!code)
		code = only_classes(s, call, rows, err);
	if (code)
		object_rows_free(rows);
	else if (call_has(call, DASH_BY))
		code = grouped(s->dump, rows, title.s, id, out, err);
	else
		*out = listed(h, rows, title.s);
	if (!code)
		code = ask_where_rows(s, call, *out, err);
	if (!code)
		command_show_retained(*out);
	text_release(&title);
	return code;
}

/* A class by its name means its instances where references are summed. */
static bool names_class(const struct session *s, const struct call *call)
{
	const char *word = call->argument[0].word;
	return !call->argument[0].objects && !strchr("%$#", *word) && strncmp(word, "0x", 2) &&
	    heap_class_mirrored(session_heap(s), call->argument[0].id) != HEAP_NONE;
}

/* The objects whose references are summed, as big memory. */
static int summed_objects(struct session *s, const struct call *call, uint32_t **ids, size_t *n, struct err *err)
{
	uint32_t *classes;
	size_t n_classes;
	*n = call->argument[0].objects ? call->argument[0].n_ids : 1;
	const uint32_t *from = call->argument[0].objects ? call->argument[0].ids : &call->argument[0].id;
	if (names_class(s, call) && !value_classes(s, call->argument[0].word, &classes, &n_classes, err)) {
		*ids = objects_of_classes(session_heap(s), classes, n_classes, n, err);
		big_free(classes);
	} else if ((*ids = big_alloc(*n, sizeof **ids, err)) && *n) {
		memcpy(*ids, from, *n * sizeof **ids);
	}
	return *ids ? 0 : ERR_NOMEM;
}

/* What the references lead to, or come from, of which -where is true. */
static int other_side(struct session *s, const struct call *call, const struct references_of *what, struct bits *only,
    struct err *err)
{
	const struct heap *h = session_heap(s);
	if (!call_has(call, DASH_WHERE))
		return 0;
	int code = bits_init(only, h->n_objects, err);
	for (unsigned way = 0; !code && way < 2; way++) {
		const struct adjacency *a = way ? &h->in : &h->out;
		for (size_t i = 0; (way ? what->in : what->out) && i < what->n && !progress_own_stops(i); i++)
			for (uint64_t at = adjacency_start(a, what->ids[i]); at < adjacency_start(a, what->ids[i] + 1); at++)
				bits_set(only, a->target[at]);
	}
	return code ? code : ask_where_marked(s, call, only, err);
}

static int references_summed(struct session *s, const struct call *call, bool forward, bool back, struct result **out,
    struct err *err)
{
	struct text title = TEXT_INIT;
	struct bits only = {.word = NULL};
	uint32_t *ids = NULL;
	size_t n = 0;
	text_addf(&title, "%s of ", title_of(forward, back));
	text_add_name(&title, call->argument[0].word);
	struct references_of what = {.title = title.s, .out = forward, .in = back,
	    .by = (enum references_by)call_choice(call, DASH_BY, REFERENCES_BY_FIELD)};
	int code = command_retained(s, call, err);
	if (!code)
		code = summed_objects(s, call, &ids, &n, err);
	what.ids = ids;
	what.n = n;
	if (!code && call_has(call, DASH_CLASS))
		code = err_set(err, ERR_USAGE, "-class needs a single object (use grep for a set)");
	if (!code)
		code = other_side(s, call, &what, &only, err);
	what.only = call_has(call, DASH_WHERE) ? &only : NULL;
	if (!code)
		code = references_of_set(s, &what, out, err);
	bits_release(&only);
	if (!code)
		command_show_retained(*out);
	big_free(ids);
	text_release(&title);
	return code;
}

static int run_refs(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool forward = call_has(call, DASH_OUT);
	bool back = call_has(call, DASH_IN);
	int by = call_choice(call, DASH_BY, -1);
	if (!forward && !back)
		forward = back = true;
	bool summed = by >= 0 && (names_class(s, call) || by != REFERENCES_BY_CLASS || call_has(call, DASH_WHERE));
	if (call->argument[0].objects || summed)
		return references_summed(s, call, forward, back, out, err);
	return references_of(s, call, forward, back, out, err);
}

const struct command cmd_refs = {
    .name = "refs",
    .arguments = {{ARG_OBJECTS, "OBJ|SET", false}},
    .options = refs_options,
    .flags = COMMAND_NEEDS_REFERENCES,
    .group = "references and retained sizes",
    .summary = "list outgoing and incoming references of an object",
    .shapes = SHAPES(&refs_shape, &set_by_class_shape, &set_by_field_shape, &set_by_holder_shape),
    .description = "One row per reference: first outgoing ones in the order of the dump, then incoming ones by "
	"address. Implied references have the fields <class>, <super>, <loader> and <array> (from a class to the "
	"class of its arrays). -by class counts each reference, but each object once.\n"
	"References of a set of objects are summed by the class on the other side and the field (default), by class, "
	"or by holder. Implied references and array indexes do not count. A class name is its class object; with -by "
	"class, field or holder it is its instances. referrers OBJ is refs OBJ -in.",
    .examples = {{"refs 0xE0000AF0", ON_PHD, "references from and to one object"},
	{"referrers 0xE0000B00", ON_PHD, "only the incoming references"},
	{"refs 0xE0036528 -out -by class", ON_SHOP, "classes that the object references"},
	{"refs com.acme.shop.Session -in -by field", ON_SHOP, "which fields hold the sessions?"}},
    .key = "o",
    .run = run_refs,
};
