/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_references.c - references: the referents of soft, weak, final and phantom references and of cleaners, and those
 * without a stronger reference.
 */
#include "command/commands.h"

#include "analysis/referents.h"
#include "base/amount.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "result/result.h"

#include <string.h>

static const struct column weak_columns[] = {{.id = COL_KIND}, {.id = COL_CLASS}, {.id = COL_OBJECTS, .total = true},
    {.id = COL_REFERENTS}, {.id = COL_ONLY_THROUGH, .total = true}, {.id = COL_RETAINED, .hidden = true}};
static const struct shape weak_shape = {.named_by = COL_CLASS, .apart = true, SHAPE_COLUMNS(weak_columns)};

static const struct column only_columns[] = {{.id = COL_KIND}, {.id = COL_CLASS}, {.id = COL_OBJECTS, .total = true},
    {.id = COL_SHALLOW, .total = true}, {.id = COL_RETAINED, .hidden = true}};
static const struct shape only_shape = {.form = "-only", .named_by = COL_CLASS, .apart = true,
    SHAPE_COLUMNS(only_columns)};

static struct cell class_cell(const struct heap *h, uint32_t class)
{
	switch (class) {
	case REFERENT_NULL: return cell_text("<cleared>");
	case REFERENT_LOST: return cell_text("<not in the dump>");
	case REFERENT_UNREAD: return cell_text("<unreadable>");
	default: return cell_text(h->classes[class].name);
	}
}

/* How many nothing firmer reaches: no surer than the roots, and than what the dump leaves out. */
static struct amount only_of(const struct heap *h, const struct referents_row *at)
{
	struct amount n = heap_held(h, at->only);
	return at->doubt == REASON_NONE ? n : amount_weaken(n, INFERRED, at->doubt);
}

/* The reference objects, or with -only what they lead to and nothing firmer reaches. */
static void add_row(struct result *r, const struct referents *found, const struct referents_row *at, bool only)
{
	const struct heap *h = r->heap;
	const size_t row = r->n_source;
	struct amount n = only_of(h, at), shallow = amount_exact(0);
	struct target target = {.kind = TARGET_GROUP};
	for (uint64_t i = at->first; i < at->end && !progress_own_stops(i); i++) {
		const struct referent *one = &found->at[i];
		if (!only)
			result_add_member(r, row, one->holder);
		if (one->only)
			(only ? result_add_member : result_add_freed)(r, row, one->referent);
		if (only && one->only && (i == at->first || one[-1].referent != one->referent))
			shallow = amount_add(shallow, heap_size(h, one->referent));
	}
	if (only)
		target = (struct target){.kind = TARGET_CLASS, .id = at->class, .part = true};
	else if (at->end - at->first == 1)
		target = (struct target){.kind = TARGET_OBJECT, .id = found->at[at->first].holder};
	struct cell kind = cell_text(weak_kind_name(at->kind)), class = class_cell(h, at->class);
	struct cell retained = at->only ? cell_blank() : cell_bytes(heap_held_sized(h, 0, 0)); /* else when looked at */
	result_add_row(r, only ?
	    (struct cell[]){kind, class, cell_count(n), cell_bytes(amount_as_sure(shallow, n)), retained} :
	    (struct cell[]){kind, class, cell_count(heap_counted(h, at->end - at->first)),
	        cell_count(heap_counted(h, at->referents)), cell_count(n), retained}, &target);
}

static void add_notes(struct result *r, const struct referents *found, bool only)
{
	if (found->only_held)
		result_add_note(r, "references to null or to objects outside of the dump are missing: only the index is "
		    "here, and finding them needs the dump's values");
	if (!opened_counts_weak(r->opened) && r->n_rows)
		result_add_note(r, "referents of only weak, final or phantom references retain nothing here; set weak on "
		    "counts such references");
	command_add_roots_note(r);
	if (!r->n_rows) {
		result_add_note(r, only ? "each referent has a stronger reference, or is unreachable" : "no such references");
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
	struct referents found;
	bool only = call_has(call, DASH_ONLY);
	code = referents_find(&found, session_heap(s), session_progress(s), err);
	if (code)
		return code;
	struct result *r = *out = result_new_rows(only ? "references: objects reachable only through them" : "references",
	    s->dump, only ? &only_shape : &weak_shape);
	for (uint32_t i = 0; i < found.n && !progress_own_stops(i); i++)
		if ((kind == WEAK_KINDS || found.row[i].kind == kind) && (!only || found.row[i].only))
			add_row(r, &found, &found.row[i], only);
	result_sum_members(r);
	result_mark(r, RESULT_OF_VALUES, !found.only_held);
	add_notes(r, &found, only);
	command_show_retained(r);
	referents_release(&found);
	return 0;
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
