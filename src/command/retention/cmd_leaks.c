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
#include "heap/library.h"
#include "heap/roots.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	L_ADDRESS, L_CLASS, L_OBJECTS, L_RETAINED, L_SHARE, L_POINT, L_POINT_CLASS, L_POINT_RETAINED,
	L_FREED, L_REFERENCE, L_PATH, L_SENTENCE, L_FIELD, L_KIND, L_NAME
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
    [L_NAME] = {.id = COL_NAME, .hidden = true},
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

/* "com.acme.Cache.all", "main.orders + main.sessions": what to clear; else what holds it, or its class. */
static void add_suspect_name(struct text *to, const struct heap *h, const struct suspect *s, const struct told *t)
{
	if (s->ids) {
		text_add_count(to, s->n);
		text_addf(to, " \u00d7 %s", heap_class_of(h, s->id)->name);
	} else if (t->names.n && !t->untold && strncmp(t->names.name[0].s, "0x", 2) != 0) {
		told_names_join(&t->names, " + ", to);
	} else if (t->field.len && !t->untold) {
		text_add(to, t->field.s);
	} else {
		object_class_words(h, s->id, to);
	}
}

static void add_row(
    struct result *out, const struct retained *r, const struct suspect *s, const struct told *t, const char *kind)
{
	const struct heap *h = r->heap;
	struct text class = TEXT_INIT, point = TEXT_INIT, name = TEXT_INIT;
	add_suspect_name(&name, h, s, t);
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
	    t->field.len ? cell_text(t->field.s) : cell_blank(), cell_text(kind), cell_text(name.s)}, &target);
	text_release(&class);
	text_release(&point);
	text_release(&name);
}

/* Is it, or what clearing it takes, of the program rather than of the JDK or of Go's library? */
static bool is_own(const struct heap *h, const struct suspect *s, const struct told *t)
{
	uint32_t class = heap_class_mirrored(h, s->id), point = heap_class_mirrored(h, s->piles_up);
	return (t->freed.n && t->fame != FAME_NONE) ||
	    library_programs_class(h, class != HEAP_NONE ? class : h->class_of[s->id]) ||
	    library_programs_class(h, point != HEAP_NONE ? point : h->class_of[s->piles_up]);
}

/* Where two retain about the same, within a tenth, the program's own comes first: order[i] is the suspect to name. */
static void order_suspects(const struct heap *h, const struct leaks *leaks, const struct told *told, size_t *order)
{
	for (size_t i = 0; i < leaks->n && !progress_own_stops(i); i++) {
		const struct suspect *one = &leaks->suspect[i];
		size_t at = i;
		for (bool own = is_own(h, one, &told[i]); own && at; at--) {
			const struct suspect *before = &leaks->suspect[order[at - 1]];
			if (is_own(h, before, &told[order[at - 1]]) || one->retained.n < before->retained.n / 10 * 9)
				break;
			order[at] = order[at - 1];
		}
		order[at] = i;
	}
}

/* found: they are suspects, of which a story tells below. */
static void add_rows(struct result *out, const struct retained *r, const struct leaks *leaks, const struct told *told,
    const size_t *order, bool found)
{
	struct text story = TEXT_INIT;
	for (size_t i = 0; i < leaks->n && !progress_own_stops(i); i++) {
		add_row(out, r, &leaks->suspect[order[i]], &told[order[i]], found ? "suspect" : "holder");
		if (found) {
			text_add(&story, "\n");
			command_add_wrapped(&story, told[order[i]].sentence.s, 78);
		}
	}
	if (story.len)
		out->text_below = arena_strndup(&out->arena, story.s, story.len);
	text_release(&story);
}

/* since: what older dumps tell; NULL: there are none. */
static int add_suspects(struct result *out, struct session *s, struct what_if *cut, struct what_if_owner *owner,
    const struct leaks *leaks, bool found, const struct since *since, struct err *err)
{
	struct told *told = xcalloc(leaks->n + 1, sizeof *told);
	size_t *order = xcalloc(leaks->n + 1, sizeof *order), n = 0;
	int code = 0;
	for (; !code && n < leaks->n; n++) {
		const struct suspect *one = &leaks->suspect[n];
		struct told *t = &told[n];
		code = told_find(t, s, cut, owner, one, err);
		if (!code)
			since_add(since, one->piles_up, one->n, t->subject == one->piles_up ? "It" : "The accumulation point",
			    &t->sentence);
	}
	if (!code) {
		order_suspects(cut->retained->heap, leaks, told, order);
		add_rows(out, cut->retained, leaks, told, order, found);
	}
	while (n)
		told_release(&told[--n]);
	free(told);
	free(order);
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

static void add_note(struct result *r, const struct leaks *leaks, bool found, double share, struct amount gos_own)
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
	if (gos_own.n) {
		struct text bytes = TEXT_INIT;
		struct cell cell = cell_bytes(gos_own);
		cell_print(&cell, &bytes);
		result_notef(r, "%s more is retained by Go's own tables; no program can clear them", bytes.s);
		text_release(&bytes);
	}
	command_add_roots_note(r);
}

/* Is it one of the tables of Go's runtime and library, and holds nothing of the program? */
static bool is_gos_own(const struct heap *h, struct what_if_owner *owner, uint32_t id)
{
	struct text name = TEXT_INIT;
	size_t first, n = heap_roots_of(h, id, &first), runtime = 0;
	bool any;
	if (!what_if_owner_internal(owner, id))
		return false;
	if (library_go_foreign(heap_class_of(h, id)->name, &any) || any)
		return !library_go_foreign(heap_class_of(h, id)->name, &any);
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		text_clear(&name);
		runtime += heap_symbol(h, h->roots[first + i].slot, &name) && library_go_runtime(name.s);
	}
	text_release(&name);
	return n && runtime == n;
}

/* *bytes: what those retain that are left out. */
static void leave_out_gos_own(const struct heap *h, struct leaks *leaks, struct what_if_owner *owner,
    struct amount *bytes)
{
	size_t kept = 0;
	for (size_t i = 0; h->java_lang_class == HEAP_NONE && i < leaks->n; i++) {
		struct suspect *one = &leaks->suspect[i];
		uint32_t member = 0, n = one->ids ? one->n : 1;
		while (member < n && !progress_own_stops(member) &&
		    is_gos_own(h, owner, one->ids ? one->ids[member] : one->id))
			member++;
		if (member < n) {
			leaks->suspect[kept++] = *one;
		} else {
			*bytes = amount_add(*bytes, one->retained);
			big_free(one->ids);
		}
	}
	if (h->java_lang_class == HEAP_NONE)
		leaks->n = kept;
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

/* *gos_own: what is left out, since Go's own tables retain it. */
static int find_suspects(struct session *s, struct leaks *leaks, struct what_if_owner *owner, double share, bool *found,
    struct amount *gos_own, struct err *err)
{
	const struct retained *r = opened_tree(s->dump);
	int code = leaks_find(leaks, r, share, session_progress(s), err);
	if (!code)
		leave_out_gos_own(r->heap, leaks, owner, gos_own);
	*found = !code && leaks->n;
	if (!code && !*found) {
		struct amount of_holders = amount_exact(0);
		leaks_release(leaks);
		code = leaks_find_holders(leaks, r, share, HOLDERS, session_progress(s), err);
		if (!code)
			leave_out_gos_own(r->heap, leaks, owner, &of_holders);
	}
	return code ? code : size_groups(s, leaks, err);
}

static int run_leaks(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct what_if cut = {.retained = NULL};
	struct what_if_owner owner = {.r = NULL};
	struct leaks leaks = {.n = 0};
	struct since *since = NULL;
	struct amount gos_own = amount_exact(0);
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
	code = what_if_owner_init(&owner, opened_tree(s->dump), err);
	found = false;
	if (!code)
		code = find_suspects(s, &leaks, &owner, share, &found, &gos_own, err);
	struct result *r = *out = result_new_rows(found ? "leaks" : "leaks: no suspect, largest holders", s->dump, &shape);
	if (!code)
		code = what_if_init(&cut, opened_tree(s->dump), err);
	if (!code)
		code = since_new(&since, s, err);
	if (!code)
		code = add_suspects(r, s, &cut, &owner, &leaks, found, since, err);
	what_if_release(&cut);
	what_if_owner_release(&owner);
	add_note(r, &leaks, found, share, gos_own);
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
	"name\treference as people say it, a group by its class\n"
	"Classes and class loaders with several suspects below are not suspects themselves, nor are roots of the VM and "
	"tables of Go's own. Of two that retain about the same the program's own comes first. "
	"With older dumps (cairn OLD... DUMP) the sentence also says how the suspect grew. -share: exit status 1 "
	"without a suspect.",
    .examples = {{"leaks", ON_ANY, "which references keep most of the heap?"},
	{"leaks -share 5", ON_ANY, "also suspects from 5% of the heap on"}},
    .key = "K",
    .run = run_leaks,
};
