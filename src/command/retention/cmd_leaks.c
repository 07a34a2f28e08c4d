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
	for (uint32_t i = 0; i < (s->ids ? s->n : 1); i++) /* a row stands for the suspect, or the objects of a group */
		result_add_member(out, out->n_source, s->ids ? s->ids[i] : s->id);
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
		struct told t;
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

enum { HOLDERS = 12 }; /* rows where there is no suspect */

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
	if (!found)
		result_notef(r, "nothing retains more than %g%% of the heap%s", share, leaks->n ?
		    "; the rows are the largest holders" : "");
	if (leaks->vms_own.n > leaks->least) {
		struct text bytes = TEXT_INIT;
		struct cell cell = cell_bytes(leaks->vms_own);
		cell_print(&cell, &bytes);
		result_notef(r, "%s more is retained by roots of the VM itself; no program can clear them", bytes.s);
		text_release(&bytes);
	}
	command_add_roots_note(r);
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

static int find_suspects(struct session *s, struct leaks *leaks, double share, bool *found, struct err *err)
{
	const struct retained *r = opened_tree(s->dump);
	int code = leaks_find(leaks, r, share, session_progress(s), err);
	*found = !code && leaks->n;
	if (!code && !*found)
		code = leaks_find_holders(leaks, r, share, HOLDERS, session_progress(s), err);
	return code ? code : size_groups(s, leaks, err);
}

static int run_leaks(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct what_if cut = {.retained = NULL};
	struct leaks leaks = {.n = 0};
	struct since *since = NULL;
	double share;
	bool found, asked = call_has(call, DASH_SHARE);
	int code = wanted_share(call, &share, err);
	if (!code)
		code = session_find(s, FIND_TREE, err);
	if (code)
		return code;
	if (session_heap(s)->roots_missing) { /* no suspect has a meaning, and none is no answer either */
		*out = result_new_rows("leaks", s->dump, &shape);
		command_add_roots_note(*out);
		result_mark(*out, RESULT_LACKS_ROWS, true);
		result_mark(*out, RESULT_FAILED, asked);
		return 0;
	}
	code = find_suspects(s, &leaks, share, &found, err);
	struct result *r = *out = result_new_rows(found ? "leaks" : "leaks: no suspect, largest holders", s->dump, &shape);
	if (!code)
		code = what_if_init(&cut, opened_tree(s->dump), err);
	if (!code)
		code = since_new(&since, s, err);
	if (!code)
		code = add_suspects(r, s, &cut, &leaks, found, since, err);
	what_if_release(&cut);
	add_note(r, &leaks, found, share);
	since_add_note(since, r);
	since_free(since);
	leaks_release(&leaks);
	result_mark(r, RESULT_FAILED, !found && asked); /* so much was looked for */
	result_show(r, L_POINT, found);
	result_show(r, L_FIELD, !found);
	result_show(r, L_REFERENCE, !found);
	if (s->finds_beside) /* where the story does not stand below */
		result_show(r, L_SENTENCE, true);
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
