/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_about.c - about: an object or a set at one glance, as the screen shows it beside a list.
 */
#include "command/retention/about.h"

#include "analysis/search.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "result/objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const part_words[ABOUT_PARTS] = {
    [ABOUT_PATH] = "path from root",
    [ABOUT_THREADS] = "threads",
    [ABOUT_HOLDERS] = "referrers",
    [ABOUT_CUT] = "cut",
    [ABOUT_STACK] = "stack",
    [ABOUT_FIELDS] = "fields",
    [ABOUT_ENTRIES] = "entries",
    [ABOUT_SAMPLE] = "sample",
    [ABOUT_IF_CUT] = "if cut",
};

enum { A_PART, A_NAME, A_REFERENCES, A_OBJECTS, A_SHALLOW, A_RETAINED, A_FREED, A_VALUE };

static const struct column columns[] = {
    [A_PART] = {.id = COL_PART, .room = COLUMN_LATE},
    [A_NAME] = {.id = COL_NAME},
    [A_REFERENCES] = {.id = COL_REFERENCES},
    [A_OBJECTS] = {.id = COL_OBJECTS},
    [A_SHALLOW] = {.id = COL_SHALLOW},
    [A_RETAINED] = {.id = COL_RETAINED},
    [A_FREED] = {.id = COL_FREED},
    [A_VALUE] = {.id = COL_VALUE},
};
static const enum column_id head[] = {
    COL_ADDRESS, COL_CLASS, COL_OBJECTS, COL_SHALLOW, COL_RETAINED, COL_LENGTH, COL_SIZE, COL_LOADER, COL_THREAD,
    COL_STATE, COL_WAITS_FOR, COL_VALUE,
};
static const struct shape shape = {SHAPE_COLUMNS(columns), SHAPE_HEAD(head), .named_by = COL_NAME};

#define NO_THING UINT64_MAX

void about_add(struct asking *q, const struct about_row *row)
{
	struct cell part = cell_text(part_words[row->part]), name = row->name ? cell_text(row->name) : cell_none();
	part.amount.n = row->part; /* a text's own number is nowhere shown: about_part, about_things */
	name.indent = row->indent;
	name.amount.n = row->beside ? NO_THING : row->rest;
	result_add_row(q->r, (struct cell[]){part, name, row->references, row->objects,
	    row->shallow, row->retained, row->freed, row->value},
	    row->is_object ? &(struct target){.kind = TARGET_OBJECT, .id = row->object} :
	    row->command ? &(struct target){.kind = TARGET_COMMAND, .command = row->command} : NULL);
}

void about_add_object(struct asking *q, const struct about_row *row, struct text *name, uint32_t id)
{
	struct about_row own = *row;
	own.name = name->s;
	own.object = id;
	own.is_object = id != HEAP_NONE;
	own.retained = own.is_object && q->a->known ? object_retained_cell(q->a->opened, id) : cell_blank();
	about_add(q, &own);
	text_release(name);
}

void about_class_line(const struct about *a, uint32_t class, struct text *to)
{
	const struct heap *h = a->heap;
	const struct heap_class *c = &h->classes[class];
	if (c->address && c->object != HEAP_NONE) /* two loaders may have one of this name each */
		text_addf(to, "ls 0x%" PRIx64, c->address);
	else
		text_addf(to, "ls '%s'", c->name);
	text_add(to, a->known ? " -sort retained" : "");
}

enum about_part about_part(struct result *r, size_t row)
{
	struct cell part;
	result_cell(r, row, A_PART, &part);
	return (enum about_part)part.amount.n;
}

size_t about_inside(struct result *r)
{
	size_t row = 0;
	while (row < r->n_rows && about_part(r, row) < ABOUT_INSIDE)
		row++;
	return row;
}

size_t about_things(const struct result *r, size_t first, size_t n)
{
	size_t things = 0;
	struct text scratch = TEXT_INIT;
	struct cell name;
	for (size_t i = 0; i < n; i++) {
		result_read(r, first + i, A_NAME, &name, &scratch);
		things += name.amount.n == NO_THING ? 0 : name.amount.n ? name.amount.n : 1;
	}
	text_release(&scratch);
	return things;
}

const char *about_heading(enum about_part part)
{
	return part_words[part];
}

const char *about_thing(enum about_part part)
{
	static const char *const things[ABOUT_PARTS] = {
	    [ABOUT_PATH] = "steps",
	    [ABOUT_HOLDERS] = "classes",
	    [ABOUT_STACK] = "frames",
	    [ABOUT_IF_CUT] = "classes",
	};
	return things[part] ? things[part] : "";
}

const char *about_line(struct result *r, size_t row)
{
	struct cell value;
	if (about_part(r, row) != ABOUT_CUT)
		return NULL;
	result_cell(r, row, A_VALUE, &value);
	return value.type == CELL_TEXT ? value.text : NULL;
}

/* --- for who asks often ------------------------------------------------------------------------- */

struct about *about_new(const struct opened *o)
{
	struct about *a = xcalloc(1, sizeof *a);
	*a = (struct about){.opened = o, .heap = o->heap, .known = opened_retained(o), .class = HEAP_NONE};
	return a;
}

void about_free(struct about *a)
{
	if (!a)
		return;
	if (a->has_rules) {
		path_rules_release(&a->rules);
		path_plumbing_release(&a->plumbing);
	}
	if (a->has_cut)
		what_if_release(&a->cut);
	if (a->has_owner)
		what_if_owner_release(&a->owner);
	free(a);
}

int about_cutter(struct about *a, struct what_if **out, struct err *err)
{
	int code = a->has_cut ? 0 : what_if_init(&a->cut, a->known, err);
	if (code)
		what_if_release(&a->cut);
	a->has_cut = !code;
	*out = &a->cut;
	return code;
}

int about_owner(struct asking *q, struct what_if_owner **out, struct err *err)
{
	struct about *a = q->a;
	int code = a->has_owner || q->quick ? 0 : what_if_owner_init(&a->owner, a->known, err);
	if (code)
		what_if_owner_release(&a->owner);
	a->has_owner |= !code && !q->quick;
	bool soon = !a->owner.program.model || a->owner.program.complete; /* else it may walk the whole heap */
	*out = a->has_owner && (soon || !q->quick) ? &a->owner : NULL;
	return code;
}

int about_find(struct about *a, const struct about_what *what, bool quick, struct result **out,
    struct progress *progress, struct err *err)
{
	struct asking q = {.a = a, .what = what, .quick = quick, .progress = progress};
	int code = opened_references(a->opened, err); /* a pane asks whatever the dump has */
	if (!code && !a->has_rules)
		code = path_rules_init(&a->rules, a->heap, false, err);
	if (!code && !a->has_rules && (code = path_plumbing_init(&a->plumbing, a->heap, err)))
		path_rules_release(&a->rules);
	if (code)
		return code;
	a->has_rules = true;
	a->class = HEAP_NONE;
	if (a->known && what->n > 1 && !quick) {
		code = what_if_find(&q.loss, &a->known->model, NULL, what->ids, what->n, progress, err);
		if (code)
			return code;
		a->class = class_of_all(a->heap, what->ids, what->n);
		a->bytes = q.loss.bytes.n;
		a->doubts = q.loss.doubts;
		q.has_loss = true;
	}
	q.r = result_new_rows(what->title, a->opened, &shape);
	code = about_add_holders(&q, err);
	if (!code)
		code = about_add_contents(&q, err);
	if (!code)
		code = result_check(q.r, err);
	if (q.has_loss)
		what_if_loss_release(&q.loss);
	if (code) {
		result_free(q.r);
		return code;
	}
	command_add_roots_note(q.r);
	*out = q.r;
	return 0;
}

void about_note(struct about *a)
{
	if (a->class != HEAP_NONE)
		retained_note_class(a->known, a->class, a->bytes, a->doubts);
	a->class = HEAP_NONE;
}

/* --- the command -------------------------------------------------------------------------------- */

struct finding_about {
	struct about *about;
	struct about_what what;
	struct result *found;
};

static int find(void *context, struct progress *progress, struct err *err)
{
	struct finding_about *f = context;
	return about_find(f->about, &f->what, false, &f->found, progress, err);
}

static int run_about(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct finding_about f = {.about = about_new(s->dump),
	    .what = {call->argument[0].word, call->argument[0].ids, call->argument[0].n_ids, HEAP_NONE,
	        !session_folds(s) || call_has(call, DASH_UNFOLDED)}};
	int code = session_work(s, find, &f, err);
	about_note(f.about);
	about_free(f.about);
	*out = f.found;
	return code;
}

static const struct option_spec options[] = {
    {DASH_UNFOLDED, OPT_FLAG, NULL, "a row per object of the path, none folded into another"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_about = {
    .name = "about",
    .arguments = {{ARG_SET, "SET", false}},
    .options = options,
    .flags = COMMAND_COUNTS_VALUES | COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .finds = FIND_RETAINED,
    .group = "references and retained sizes",
    .summary = "summarize an object or a set: path, cut, contents",
    .shapes = SHAPES(&shape),
    .description = "The parts of the object page of the screen:\n"
	"path from root\tshortest path, with the bytes that clearing each reference frees\n"
	"threads\tthreads with the first object of the path on their stack\n"
	"referrers\tother incoming references by class, with the bytes that they free together\n"
	"cut\treference to clear, or up to three that free all of it together\n"
	"stack\tframes of a thread\n"
	"fields\tfields with their retained sizes, largest first\n"
	"entries\tfirst entries of a collection\n"
	"sample\tsome of many objects\n"
	"if cut\tobjects that are freed with it, by class\n"
	"For several objects, the path leads to the nearest object that dominates them all.",
    .examples = {{"about 0xE0000AF0", ON_PHD, "one object at a glance"},
	{"about com.acme.shop.Session", ON_SHOP, "all sessions at a glance"}, {"about main.Session", ON_GO}},
    .key = "",
    .run = run_about,
};
