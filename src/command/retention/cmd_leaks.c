/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_leaks.c - leaks: leak suspects, in a sentence each.
 */
#include "command/commands.h"

#include "analysis/leaks.h"
#include "analysis/what_if/what_if.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/resolve/resolve.h"
#include "command/retention/leaks_told.h"
#include "command/session/session.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "result/objects.h"
#include "result/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	L_ADDRESS, L_CLASS, L_OBJECTS, L_RETAINED, L_SHARE, L_POINT, L_POINT_CLASS, L_POINT_RETAINED,
	L_FREED, L_REFERENCE, L_PATH, L_SENTENCE, L_FIELD, L_KIND
};

static const struct column columns[] = {
    [L_ADDRESS] = {.id = COL_ADDRESS},
    [L_CLASS] = {.id = COL_CLASS},
    [L_OBJECTS] = {.id = COL_OBJECTS, .hidden = true},
    [L_RETAINED] = {.id = COL_RETAINED},
    [L_SHARE] = {.id = COL_SHARE},
    [L_POINT] = {.id = COL_ACCUMULATED_IN},
    [L_POINT_CLASS] = {.id = COL_ACCUMULATED_CLASS, .hidden = true},
    [L_POINT_RETAINED] = {.id = COL_ACCUMULATED, .hidden = true},
    [L_FREED] = {.id = COL_FREED},
    [L_REFERENCE] = {.id = COL_REFERENCE, .hidden = true},
    [L_PATH] = {.id = COL_PATH, .hidden = true},
    [L_SENTENCE] = {.id = COL_SENTENCE, .hidden = true},
    [L_FIELD] = {.id = COL_FIELD, .hidden = true},
    [L_KIND] = {.id = COL_KIND, .hidden = true},
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

void command_add_wrapped(struct text *to, const char *s, size_t most)
{
	size_t used = 0;
	while (*s) {
		size_t n = strcspn(s, " ");
		char *word = xstrndup(s, n);
		size_t width = text_width(word);
		if (used && used + 1 + width > most) {
			text_add(to, "\n");
			used = 0;
		}
		text_addf(to, "%s%s", used ? " " : "", word);
		used += width + (used > 0);
		free(word);
		s += n + strspn(s + n, " ");
	}
	text_add(to, "\n");
}

static void add_row(
    struct result *out, const struct retained *r, const struct suspect *s, const struct told *t, const char *kind)
{
	const struct heap *h = r->heap;
	struct text class = TEXT_INIT, point = TEXT_INIT;
	if (s->ids)
		text_add(&class, heap_class_of(h, s->id)->name);
	else
		object_class_words(h, s->id, &class);
	object_class_words(h, s->piles_up, &point);
	struct target target = {.kind = TARGET_OBJECT, .id = s->id};
	if (s->ids)
		target = (struct target){.kind = TARGET_CLASS, .id = h->class_of[s->id], .part = true};
	result_add_row(out, (struct cell[]){
	    s->ids ? cell_blank() : cell_address(heap_address(h, s->id)), cell_text(class.s),
	    cell_count(heap_held(h, s->n)), cell_bytes(s->retained), command_share(r, s->retained),
	    cell_address(heap_address(h, s->piles_up)), cell_text(point.s),
	    cell_bytes(retained_of(r, s->piles_up)),
	    s->ids && !t->reference.len ? cell_blank() : cell_bytes(t->freed),
	    t->reference.len ? cell_text(t->reference.s) : cell_blank(),
	    t->path.len ? cell_text(t->path.s) : cell_blank(), cell_text(t->sentence.s),
	    t->field.len ? cell_text(t->field.s) : cell_blank(), cell_text(kind)}, &target);
	text_release(&class);
	text_release(&point);
}

/* found: they are suspects, of which a story tells below.  since: what older dumps tell; NULL: there are none. */
static int add_suspects(struct result *out, struct session *s, struct what_if *cut, const struct leaks *leaks,
    bool found, const struct since *since, struct err *err)
{
	struct text story = TEXT_INIT;
	struct what_if_owner owner;
	int code = what_if_owner_init(&owner, cut->retained, err);
	for (size_t i = 0; !code && i < leaks->n; i++) {
		struct told t = {.together = 0};
		const struct suspect *one = &leaks->suspect[i];
		code = told_find(&t, s, cut, &owner, one, err);
		if (!code)
			since_add(since, one->piles_up, one->n, t.subject == one->piles_up ? "It" : "The accumulation point",
			    &t.sentence);
		if (!code)
			add_row(out, cut->retained, &leaks->suspect[i], &t, found ? "suspect" : "holder");
		if (!code && found) {
			text_add(&story, "\n");
			command_add_wrapped(&story, t.sentence.s, 78);
		}
		told_release(&t);
	}
	if (story.len)
		out->text_below = arena_strndup(&out->arena, story.s, story.len);
	what_if_owner_release(&owner);
	text_release(&story);
	return code;
}

/* A row stands for the suspect, that of a group for its objects; data is the suspects. */
static int suspects_members(const struct result *r, void *data, const struct bits *rows,
    struct bits *to, struct err *err)
{
	const struct leaks *leaks = data;
	(void)err;
	for (size_t row = 0; row < r->n_source; row++) {
		const struct suspect *s = &leaks->suspect[row];
		if (!bits_get(rows, row))
			continue;
		if (!s->ids)
			bits_set(to, s->id);
		for (uint32_t i = 0; s->ids && i < s->n; i++)
			bits_set(to, s->ids[i]);
	}
	return 0;
}

enum { HOLDERS = 12 }; /* rows where there is no suspect */

static void suspects_release(void *data)
{
	leaks_release(data);
	free(data);
}

static int wanted_share(const struct call *call, double *share, struct err *err)
{
	int i = call_option(call, DASH_SHARE);
	char *end;
	*share = 10;
	if (!call->option[i].given)
		return 0;
	errno = 0;
	*share = strtod(call->option[i].word, &end);
	end += *end == '%';
	if (errno || end == call->option[i].word || *end || !(*share > 0 && *share <= 100))
		return err_set(err, ERR_USAGE, "not a percentage: \"%.40s\" (use a number above 0, at most 100)",
		    call->option[i].word);
	return 0;
}

static void add_note(struct result *r, const struct leaks *leaks, bool found, double share)
{
	struct text note = TEXT_INIT;
	const char *roots = command_roots_note(r->opened, &r->arena);
	if (!found)
		text_addf(&note, "nothing retains more than %g%% of the heap%s", share, leaks->n ?
		    "; the rows are the largest holders" : "");
	if (leaks->vms_own.n > leaks->least) {
		text_add(&note, note.len ? "; " : "");
		struct cell bytes = cell_bytes(leaks->vms_own);
		cell_print(&bytes, &note);
		text_add(&note, " more is retained by roots of the VM itself; no program can clear them");
	}
	text_addf(&note, "%s%s", note.len && roots ? "; " : "", roots ? roots : "");
	if (note.len)
		r->note = arena_strndup(&r->arena, note.s, note.len);
	text_release(&note);
}

/* What the objects of a group hold jointly goes with them as well; there are few groups. */
static int size_groups(struct session *s, struct leaks *leaks, struct err *err)
{
	int code = 0;
	for (size_t i = 0; !code && i < leaks->n; i++) {
		struct suspect *group = &leaks->suspect[i];
		struct amount objects;
		if (group->ids)
			code = command_set_retained(s, group->ids, group->n, &objects, &group->retained, err);
	}
	leaks_sort(leaks);
	return code;
}

/* Without roots no suspect has a meaning, and none is no answer either. */
static struct result *without_roots(struct session *s)
{
	struct result *r = result_new_rows("leaks", s->dump, &shape);
	r->note = command_roots_note(s->dump, &r->arena);
	result_mark(r, RESULT_LACKS_ROWS, true);
	return r;
}

static int run_leaks(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct what_if cut;
	double share;
	int code = wanted_share(call, &share, err);
	if (!code)
		code = session_find(s, FIND_TREE, err);
	if (code)
		return code;
	const struct retained *r = opened_tree(s->dump);
	if (session_heap(s)->roots_missing) {
		*out = without_roots(s);
		result_mark(*out, RESULT_FAILED, call_has(call, DASH_SHARE));
		return 0;
	}
	struct leaks *leaks = xcalloc(1, sizeof *leaks);
	code = leaks_find(leaks, r, share, session_progress(s), err);
	if (code) {
		free(leaks);
		return code;
	}
	bool found = leaks->n;
	if (!found)
		code = leaks_find_holders(leaks, r, share, HOLDERS, session_progress(s), err);
	struct result *result = result_new_rows(found ? "leaks" : "leaks: no suspect, largest holders", s->dump, &shape);
	if (code) {
		free(leaks);
		result_free(result);
		return code;
	}
	code = what_if_init(&cut, r, err);
	if (!code)
		code = size_groups(s, leaks, err);
	struct since *since = NULL;
	if (!code)
		code = since_new(&since, s, err);
	if (!code)
		code = add_suspects(result, s, &cut, leaks, found, since, err);
	what_if_release(&cut);
	add_note(result, leaks, found, share);
	since_add_note(since, result);
	since_free(since);
	result_mark(result, RESULT_FAILED, !found && call_has(call, DASH_SHARE)); /* so much was looked for */
	result_show(result, L_POINT, found);
	result_show(result, L_FIELD, !found);
	result_show(result, L_REFERENCE, !found);
	result_rows_members(result, suspects_members, suspects_release, leaks);
	if (s->finds_beside) /* where the story does not stand below */
		result_show(result, L_SENTENCE, true);
	if (code)
		result_free(result);
	else
		*out = result;
	return code;
}

static const struct option_spec options[] = {
    {DASH_SHARE, OPT_COLUMN, "N", "least percent of the heap (default 10)"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_leaks = {
    .name = "leaks",
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_COMPARES,
    .group = "references and retained sizes",
    .summary = "find leak suspects and the references to clear",
    .shapes = SHAPES(&shape),
    .description = "A suspect is an object at the top of the dominator tree that retains more than -share of the "
	"reachable heap. It may also be a group of objects of one class. Weak, final and phantom references hold "
	"nothing (unless set weak on).\n"
	"accumulated_in\taccumulation point: below it no single object retains nearly all\n"
	"path\tshortest strong path to the accumulation point\n"
	"reference\tthe reference on it to clear, as an argument of cut; two or three if only several free it or most of "
	"it\n"
	"freed\twhat clearing it frees, exact; 0 if other references hold it\n"
	"kind\tsuspect, or holder if there is no suspect\n"
	"Classes and class loaders with several suspects below are not suspects themselves, nor are roots of the VM. "
	"With older dumps (cairn OLD... DUMP) the sentence also says how the suspect grew. -share: exit status 1 "
	"without a suspect.",
    .examples = {{"leaks", ON_ANY, "which references keep most of the heap?"},
	{"leaks -share 5", ON_ANY, "also suspects from 5% of the heap on"}},
    .key = "K",
    .run = run_leaks,
};
