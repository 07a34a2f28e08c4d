/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_references.c - references: the referents of soft, weak, final and phantom references and of cleaners, and those
 * without a stronger reference.
 */
#include "command/commands.h"

#include "analysis/referents.h"
#include "base/amount.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

enum { W_KIND, W_CLASS, W_OBJECTS, W_REFERENTS, W_ONLY, W_RETAINED };
static const struct column weak_columns[] = {
    [W_KIND] = {.id = COL_KIND},
    [W_CLASS] = {.id = COL_CLASS},
    [W_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [W_REFERENTS] = {.id = COL_REFERENTS},
    [W_ONLY] = {.id = COL_ONLY_THROUGH, .total = true},
    [W_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
static const struct shape weak_shape = {.named_by = COL_CLASS, .apart = true, SHAPE_COLUMNS(weak_columns)};

enum { O_KIND, O_CLASS, O_OBJECTS, O_SHALLOW, O_RETAINED };
static const struct column only_columns[] = {
    [O_KIND] = {.id = COL_KIND},
    [O_CLASS] = {.id = COL_CLASS},
    [O_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [O_SHALLOW] = {.id = COL_SHALLOW, .total = true},
    [O_RETAINED] = {.id = COL_RETAINED, .hidden = true},
};
static const struct shape only_shape = {.form = "-only", .named_by = COL_CLASS, .apart = true,
    SHAPE_COLUMNS(only_columns)};

struct weak_rows {
	struct referents found;
	uint32_t *row;   /* of found.row, those that are shown */
	size_t n;
	bool only;       /* rows count referents that nothing firmer reaches, not the reference objects */
	struct amount *shallow;       /* by found.row, with only: of these referents */
	struct retained_sum *retained; /* by found.row; NULL: not summed yet */
};

/* --- cells ---------------------------------------------------------------------------------------- */

static struct cell class_cell(const struct heap *h, uint32_t class)
{
	switch (class) {
	case REFERENT_NULL: return cell_text("<cleared>");
	case REFERENT_LOST: return cell_text("<not in the dump>");
	case REFERENT_UNREAD: return cell_text("<unreadable>");
	default: return cell_text(h->classes[class].name);
	}
}

static struct cell retained_cell(const struct result *r, const struct weak_rows *w, size_t row)
{
	const struct referents_row *at = &w->found.row[w->row[row]];
	if (!at->only)
		return cell_bytes(heap_held_sized(r->heap, 0, 0));
	return result_known(r) ? command_retained_members(r->opened, &w->retained[w->row[row]]) :
	    cell_unknown(REASON_NOT_FOUND_YET);
}

/* How many nothing firmer reaches: no surer than the roots, and than what the dump leaves out. */
static struct amount only_of(const struct heap *h, const struct referents_row *at)
{
	struct amount n = heap_held(h, at->only);
	return at->doubt == REASON_NONE ? n : amount_weaken(n, INFERRED, at->doubt);
}

static struct cell only_cell(const struct result *r, const struct weak_rows *w, size_t row, unsigned column)
{
	const struct referents_row *at = &w->found.row[w->row[row]];
	switch (column) {
	case O_KIND: return cell_text(weak_kind_name(at->kind));
	case O_CLASS: return class_cell(r->heap, at->class);
	case O_OBJECTS: return cell_count(only_of(r->heap, at));
	case O_SHALLOW: return cell_bytes(amount_as_sure(w->shallow[w->row[row]], only_of(r->heap, at)));
	default: return retained_cell(r, w, row);
	}
}

static void weak_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct weak_rows *w = r->data;
	const struct heap *h = r->heap;
	const struct referents_row *at = &w->found.row[w->row[row]];
	(void)scratch;
	if (w->only) {
		*out = only_cell(r, w, row, column);
		return;
	}
	switch (column) {
	case W_KIND: *out = cell_text(weak_kind_name(at->kind)); break;
	case W_CLASS: *out = class_cell(h, at->class); break;
	case W_OBJECTS: *out = cell_count(heap_counted(h, at->end - at->first)); break;
	case W_REFERENTS: *out = cell_count(heap_counted(h, at->referents)); break;
	case W_ONLY: *out = cell_count(only_of(h, at)); break;
	default: *out = retained_cell(r, w, row);
	}
}

/* --- rows ----------------------------------------------------------------------------------------- */

static void weak_target(const struct result *r, size_t row, struct target *out)
{
	const struct weak_rows *w = r->data;
	const struct referents_row *at = &w->found.row[w->row[row]];
	if (w->only)
		*out = (struct target){.kind = TARGET_CLASS, .id = at->class, .part = true};
	else if (at->end - at->first == 1)
		*out = (struct target){.kind = TARGET_OBJECT, .id = w->found.at[at->first].holder};
	else
		*out = (struct target){.kind = TARGET_GROUP};
}

/* The reference objects, or with -only what they lead to. */
static int weak_members(const struct result *r, const struct bits *rows, struct bits *to, struct err *err)
{
	const struct weak_rows *w = r->data;
	(void)err;
	for (size_t row = 0; row < w->n; row++) {
		const struct referents_row *at = &w->found.row[w->row[row]];
		for (uint64_t i = at->first; bits_get(rows, row) && i < at->end; i++)
			if (!w->only)
				bits_set(to, w->found.at[i].holder);
			else if (w->found.at[i].only)
				bits_set(to, w->found.at[i].referent);
	}
	return 0;
}

static void weak_rows_release(void *data)
{
	struct weak_rows *w = data;
	referents_release(&w->found);
	big_free(w->row);
	big_free(w->shallow);
	big_free(w->retained);
	free(w);
}

static const struct result_ops weak_ops = {
    .cell = weak_cell, .target = weak_target, .release = weak_rows_release, .members = weak_members};

/* result_later */
static int sum_weak(struct result *r, const struct retained *known, struct progress *progress, struct err *err)
{
	struct weak_rows *w = r->data;
	struct retained_sum *sums = big_alloc(w->found.n, sizeof *sums, err);
	int code = sums ? referents_retained(&w->found, known, sums, progress, err) : ERR_NOMEM;
	if (code) {
		big_free(sums);
		return code;
	}
	big_free(w->retained);
	w->retained = sums;
	return 0;
}

/* Choose the rows of a kind (WEAK_KINDS: of all), and with -only sum the sizes. */
static int choose_rows(struct weak_rows *w, const struct heap *h, enum weak_kind kind, struct err *err)
{
	w->row = big_alloc(w->found.n, sizeof *w->row, err);
	w->shallow = w->row ? big_alloc(w->found.n, sizeof *w->shallow, err) : NULL;
	if (!w->shallow)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < w->found.n; i++) {
		const struct referents_row *at = &w->found.row[i];
		if ((kind != WEAK_KINDS && at->kind != kind) || (w->only && !at->only))
			continue;
		w->row[w->n++] = i;
		for (uint64_t k = at->first; w->only && k < at->end && !progress_own_stops(k); k++) {
			const struct referent *one = &w->found.at[k];
			if (one->only && (k == at->first || one[-1].referent != one->referent))
				w->shallow[i] = amount_add(w->shallow[i], heap_size(h, one->referent));
		}
	}
	return progress_check(progress_own(), err);
}

static void add_notes(struct result *r, const struct weak_rows *w)
{
	const char *roots = command_roots_note(r->opened, &r->arena);
	if (w->found.only_held)
		result_add_note(r, "references to null or to objects outside of the dump are missing: only the index is "
		    "here, and finding them needs the dump's values");
	if (!opened_counts_weak(r->opened) && w->n)
		result_add_note(r, "referents of only weak, final or phantom references retain nothing here; set weak on "
		    "counts such references");
	if (roots)
		result_add_note(r, roots);
	if (!w->n) {
		result_add_note(r, w->only ? "each referent has a stronger reference, or is unreachable"
		                           : "no such references");
		result_mark(r, RESULT_NONE_ANSWERS, true);
	}
}

static int find_kind(const struct call *call, enum weak_kind *kind, struct err *err)
{
	*kind = WEAK_KINDS;
	if (!call->argument[0].given)
		return 0;
	for (*kind = 0; *kind < WEAK_KINDS; (*kind)++)
		if (!strcmp(call->argument[0].word, weak_kind_name(*kind)))
			return 0;
	return err_set(err, ERR_USAGE, "unknown kind of references \"%.40s\" (use soft, weak, final, phantom or cleaner)",
	    call->argument[0].word);
}

static int run_weak(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	enum weak_kind kind;
	int code = find_kind(call, &kind, err);
	if (!code)
		code = command_retained(s, call, err);
	if (code)
		return code;
	struct weak_rows *w = xcalloc(1, sizeof *w);
	w->only = call_has(call, DASH_ONLY);
	code = referents_find(&w->found, session_heap(s), session_progress(s), err);
	if (!code)
		code = choose_rows(w, session_heap(s), kind, err);
	if (code) {
		weak_rows_release(w);
		return code;
	}
	struct result *r = result_new(w->only ? "references: objects reachable only through them" : "references", s->dump,
	    w->only ? &only_shape : &weak_shape, &weak_ops, w, w->n);
	r->later = sum_weak;
	result_mark(r, RESULT_OF_VALUES, !w->found.only_held);
	add_notes(r, w);
	command_show_retained(r);
	if (code)
		result_free(r);
	else
		*out = r;
	return code;
}

static const struct option_spec weak_options[] = {
    {DASH_ONLY, OPT_FLAG, NULL, "referents without a stronger reference, by class"},
    {DASH_RETAINED, OPT_FLAG, NULL, "compute retained sizes if not known yet"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

static void complete_kind(const struct session *s, const char *typed, const char *behind, command_offer *offer,
    void *context)
{
	(void)s, (void)behind;
	const char *word = strrchr(typed, ' ');
	word = word ? word + 1 : typed;
	for (enum weak_kind kind = 0; kind < WEAK_KINDS; kind++)
		if (!strncmp(weak_kind_name(kind), word, strlen(word)))
			offer(context, weak_kind_name(kind));
}

const struct command cmd_references = {
    .name = "references",
    .arguments = {{ARG_WORD, "KIND", true}},
    .options = weak_options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_COUNTS_VALUES,
    .group = "problems",
    .summary = "list soft, weak, final and phantom references, and cleaners",
    .shapes = SHAPES(&weak_shape, &only_shape),
    .description = "One row per kind of reference and class of the referents. KIND is soft, weak, final, phantom "
	"or cleaner. A row is a set of reference objects; with -only of referents. refs %1 -out -by field lists the "
	"other references of a row's objects.\n"
	"objects\treference objects\n"
	"referents\tdifferent objects that they refer to\n"
	"only_through\treferents without a strong reference or one of an earlier kind; those of soft references are "
	"caches that the VM frees before memory runs out\n"
	"retained\tretained size of these; for kinds other than soft it needs set weak on\n"
	"<cleared>\treferences to null: the collector or the program cleared them\n"
	"An inactive reference, such as that of an object that waits for its finalizer, counts as strong. So do other "
	"fields of a Reference subclass, such as the value in a WeakHashMap entry.",
    .examples = {{"references", ON_SHOP, "which classes each kind refers to"},
	{"references weak -retained", ON_SHOP, "what the collector may free"}},
    .key = "",
    .told = weak_told,
    .run = run_weak,
    .complete = complete_kind,
};
