/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks_choice.c - which references to a suspect a person would clear: see leaks_told.h. */
#include "command/retention/leaks_told.h"

#include "command/commands.h"
#include "command/retention/cut_words.h"
#include "command/retention/heap_labels.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"

#include <inttypes.h>
#include <string.h>

enum { ROOTS_NAMED = 3 };

void told_names_join(const struct told_names *names, const char *between, struct text *to)
{
	bool list = !strcmp(between, " and ");
	for (size_t i = 0; i < names->n; i++) {
		text_add(to, !i ? "" : list && i + 1 < names->n ? ", " : between);
		text_add_name(to, names->name[i].s);
	}
}

void told_names_release(struct told_names *names)
{
	while (names->n)
		text_release(&names->name[--names->n]);
	names->hidden = 0;
}

size_t told_number(const struct told *t)
{
	size_t n = t->names.n + t->names.hidden;
	return n < t->together ? t->together : n;
}

/* The place of another name, or of the last one again. */
static struct text *next_of_names(struct told_names *names)
{
	names->n += names->n < TOLD_NAMES;
	return &names->name[names->n - 1];
}

/* "a local of thread "worker" in com.acme.Job.run(Job.java:17)", "main.cache", "JNI global 0x7a3e0010" */
static void add_root_name(struct text *to, const struct heap *h, const struct heap_root *root)
{
	const struct heap_thread *thread = root->thread == HEAP_NONE ? NULL : &h->threads[root->thread];
	bool variable = root->kind == ROOT_DATA || root->kind == ROOT_BSS;
	bool local = root->kind == ROOT_JAVA_LOCAL || root->kind == ROOT_STACK_FRAME;
	if (!local || !thread || !thread->name) {
		path_one_root_words(h, root, to);
		if (!variable && (!thread || root->kind == ROOT_THREAD))
			text_addf(to, " 0x%" PRIx64, heap_address(h, root->object));
		return;
	}
	bool java = h->java_lang_class != HEAP_NONE;
	text_addf(to, java ? "a local of thread \"%s\"" : "a local of %s", thread->name);
	if (root->frame < thread->n_frames)
		text_addf(to, " in %s", thread->frames[root->frame]);
}

/* What holds a root: to clear the roots' hold is to clear all of these. */
static void add_root_names(struct told_names *names, const struct heap *h, uint32_t id)
{
	size_t first, n = heap_roots_of(h, id, &first);
	for (size_t i = 0; i < n && i < ROOTS_NAMED; i++)
		add_root_name(next_of_names(names), h, &h->roots[first + i]);
	if (n > ROOTS_NAMED) {
		text_addf(next_of_names(names), "%zu more", n - ROOTS_NAMED);
		names->hidden += n - ROOTS_NAMED - 1;
	}
}

/* Of a reference, as people call it; of the roots' hold by the first one. */
static const char *kind_of(const struct heap *h, uint32_t holder, uint32_t target)
{
	if (holder != HEAP_NONE)
		return heap_class_mirrored(h, holder) != HEAP_NONE ? "static" : "field";
	size_t first, n = heap_roots_of(h, target, &first);
	enum root_kind kind = n ? h->roots[first].kind : ROOT_UNKNOWN;
	return kind == ROOT_DATA || kind == ROOT_BSS ? "global" :
	    kind == ROOT_JAVA_LOCAL || kind == ROOT_STACK_FRAME ? "local" : "root";
}

static void note_cleared(struct told *t, struct what_if_edge edge)
{
	if (t->n_cleared < TOLD_NAMES)
		t->cleared[t->n_cleared++] = edge;
}

/* The reference to a path's step, as a word for cut, and as people name it; unnamed: what the word does not say, the
 * kind of root or the class of a holder whose fields have no names in the dump. */
static void add_reference(struct told *t, const struct path *p, size_t i)
{
	const struct heap *h = t->rules->heap;
	struct text field = TEXT_INIT;
	struct what_if_edge edge = {.holder = i ? p->step[i - 1] : HEAP_NONE, .target = p->step[i]};
	cut_word_of(&t->reference, &field, t->session, t->rules, &edge);
	t->kind = kind_of(h, edge.holder, edge.target);
	note_cleared(t, edge);
	if (!i) {
		size_t first, n = heap_roots_of(h, p->step[0], &first);
		bool global = n == 1 && (h->roots[first].kind == ROOT_DATA || h->roots[first].kind == ROOT_BSS);
		add_root_names(&t->names, h, p->step[0]);
		told_names_join(&t->names, " and ", &t->unnamed);
		if (global)
			text_add(&t->variable, t->unnamed.s);
	} else {
		if (!field.len) {
			uint32_t class = heap_class_mirrored(h, edge.holder);
			text_add(&t->unnamed, class != HEAP_NONE ? " (a reference of class " : " (a reference of ");
			text_add_name(&t->unnamed,
			    class != HEAP_NONE ? h->classes[class].name : heap_class_of(h, edge.holder)->name);
			text_add(&t->unnamed, ")");
		}
		if (field.len && !strncmp(t->reference.s, "0x", 2))
			heap_reference_label(t->rules, edge.holder, edge.target, false, &t->label);
		text_addf(next_of_names(&t->names), "%s%s", t->reference.s, t->unnamed.len ? t->unnamed.s : "");
	}
	cut_word_quote(&t->reference);
	text_release(&field);
}

/* reference: the words apart, as cut takes them. */
static void add_together(struct told *t, const struct what_if_edges *edges)
{
	const struct heap *h = t->rules->heap;
	text_clear(&t->reference);
	text_clear(&t->unnamed);
	told_names_release(&t->names);
	t->fame = FAME_NONE;
	t->n_cleared = 0;
	for (size_t i = 0; i < edges->n; i++) {
		const struct what_if_edge *e = &edges->edge[i];
		note_cleared(t, *e);
		struct told one = {.session = t->session, .rules = t->rules};
		if (e->holder != HEAP_NONE) {
			add_reference(&one, &(struct path){.step = (uint32_t[]){e->holder, e->target}, .n = 2}, 1);
			text_add(next_of_names(&t->names), one.names.name[0].s);
		} else {
			struct text root = TEXT_INIT;
			cut_word_of(&one.reference, &root, t->session, t->rules, e);
			add_root_names(&t->names, h, e->target);
			text_release(&root);
		}
		text_addf(&t->reference, "%s%s", i ? " " : "", one.reference.s);
		if (what_if_fame(h, e->holder, e->target) > t->fame)
			t->fame = what_if_fame(h, e->holder, e->target);
		text_release(&one.reference);
		text_release(&one.unnamed);
		text_release(&one.variable);
		text_release(&one.label);
		told_names_release(&one.names);
	}
	t->together = edges->n;
	size_t n = told_number(t);
	t->kind = n == 2 ? "2 references" : n == 3 ? "3 references" : n > 3 ? "references" :
	    kind_of(h, edges->edge[0].holder, edges->edge[0].target);
}

/* Where no single reference frees all of them: the few that do together. */
static int choose_together(struct told *t, const uint32_t *ids, size_t n, enum what_if_fame least, struct err *err)
{
	struct what_if_edges edges;
	struct amount freed;
	int code = what_if_together(&edges, &freed, t->cut, t->owner, ids, n, least, UINT64_MAX,
	    session_progress(t->session), err);
	if (!code && edges.n) {
		t->target = HEAP_NONE;
		add_together(t, &edges);
		t->freed = freed;
		t->some = false;
	}
	what_if_edges_release(&edges);
	return code;
}

/* The step of the path that a person would cut. */
static void choose_cut(struct told *t, const struct path *p)
{
	struct what_if_choice choice = what_if_choose(t->cut, t->owner, p->step, p->n);
	t->others = choice.others;
	t->vm_holds |= choice.vm_holds;
	t->internal |= choice.internal;
	if (choice.step == p->n)
		return;
	t->untold = choice.untold;
	t->fame = choice.fame;
	t->freed = choice.freed;
	t->hidden = !choice.untold && choice.fame == FAME_NONE && choice.step;
	t->target = choice.untold ? HEAP_NONE : p->step[choice.step];
	add_reference(t, p, choice.step);
}

/* Of a group: the last static field on the path to its largest member that frees anything, or else the highest
 * reference that does; where that is next to nothing, the one that frees most.  Nobody clears what holds a class. */
static void choose_cut_of_group(struct told *t)
{
	const struct path *p = t->steps;
	const struct heap *h = t->rules->heap;
	size_t best = p->n, most = p->n;
	struct amount most_freed = {0};
	for (size_t i = 0; i < p->n; i++) {
		if (heap_class_mirrored(h, p->step[i]) != HEAP_NONE)
			continue;
		uint32_t holder = i ? p->step[i - 1] : HEAP_NONE;
		struct what_if_figure f = what_if_one(t->cut, holder, p->step[i]);
		bool statics = i && heap_class_mirrored(h, p->step[i - 1]) != HEAP_NONE;
		bool better = best == p->n || statics;
		if (f.freed.n <= (better ? 0 : most_freed.n) || !what_if_clearable(h, holder, p->step[i]))
			continue;
		if (what_if_owner_inside(t->owner, holder, p->step[i])) {
			t->internal |= better;
			continue;
		}
		if (f.freed.n > most_freed.n) {
			most = i;
			most_freed = f.freed;
		}
		if (better) {
			best = i;
			t->freed = f.freed;
		}
	}
	if (best == p->n)
		return;
	if (told_frees_little(t)) {
		best = most;
		t->freed = most_freed;
	}
	add_reference(t, p, best);
	t->fame = what_if_fame(h, best ? p->step[best - 1] : HEAP_NONE, p->step[best]);
	for (uint32_t i = 0; i < t->suspect->n && !t->some; i++)
		t->some = !what_if_below(t->cut, t->suspect->ids[i], p->step[best]);
}

/* Where a reference of the library frees it: does the library keep it, whatever the program clears? */
static int check_internal(struct told *t, struct err *err)
{
	const struct suspect *suspect = t->suspect;
	const struct err *missing = &t->owner->program.err;
	uint32_t n = suspect->ids ? suspect->n : 1;
	int code = 0;
	for (uint32_t i = 0; !code && !missing->code && t->internal && i < n && !progress_own_stops(i); i++) {
		uint32_t id = suspect->ids ? suspect->ids[i] : suspect->piles_up;
		code = what_if_owner_library_keeps(t->owner, id, &t->internal, err);
		t->shared |= what_if_owner_reached(t->owner, id);
	}
	t->shared |= what_if_owner_reached(t->owner, suspect->id);
	return code ? code : what_if_owner_check(t->owner, err);
}

/* What goes without these references but one, `left_out` (SIZE_MAX: none is left out); *of: so many bytes that the
 * group retains. */
static int weigh(const struct what_if_edges *edges, size_t left_out, const struct suspect *group, struct session *s,
    struct what_if *cut, struct amount *freed, uint64_t *of, struct err *err)
{
	struct what_if_edges some = {.edge = NULL};
	struct what_if_loss loss;
	int code = 0;
	*of = 0;
	for (size_t i = 0; !code && i < edges->n; i++)
		if (i != left_out)
			code = what_if_edges_add(&some, edges->edge[i].holder, edges->edge[i].target, err);
	if (!code)
		code = what_if_find(&loss, &cut->retained->model, &some, NULL, 0, session_progress(s), err);
	what_if_edges_release(&some);
	if (code)
		return code;
	for (uint32_t i = 0; i < group->n && !progress_own_stops(i); i++)
		*of += bits_get(&loss.dead, group->ids[i]) ? retained_of(cut->retained, group->ids[i]).n : 0;
	*freed = loss.bytes;
	what_if_loss_release(&loss);
	return 0;
}

/* Leave out references without which nine tenths go as well, the one that matters least first. */
static int prune(struct what_if_edges *edges, const struct suspect *group, struct session *s, struct what_if *cut,
    struct amount *freed, struct err *err)
{
	uint64_t all, of;
	int code = weigh(edges, SIZE_MAX, group, s, cut, freed, &all, err);
	for (bool left_out = true; !code && left_out && edges->n > 1;) {
		uint64_t most = 0;
		size_t at = 0;
		struct amount bytes, without = *freed;
		for (size_t i = 0; !code && i < edges->n; i++) {
			code = weigh(edges, i, group, s, cut, &bytes, &of, err);
			if (code || of <= most)
				continue;
			at = i;
			most = of;
			without = bytes;
		}
		left_out = !code && most && most >= all - all / 10;
		if (left_out) {
			edges->edge[at] = edges->edge[--edges->n];
			*freed = without;
		}
	}
	return code;
}

/* Where stacks and the like hold some of them as well: the few static fields or global variables that free all others,
 * if that is more than the reference that was chosen frees.  What frees much more than the group is no remedy. */
static int choose_most(struct told *t, const struct suspect *group, struct err *err)
{
	const struct amount single = t->freed;
	struct what_if_edges edges = {.edge = NULL};
	size_t n = 0;
	uint32_t *held = big_alloc(group->n, sizeof *held, err);
	int code = held ? what_if_held_by_globals(held, &n, t->cut, t->owner, group->ids, group->n,
	    session_progress(t->session), err) : ERR_NOMEM;
	struct amount freed;
	if (!code && n && n < group->n)
		code = what_if_together(&edges, &freed, t->cut, t->owner, held, n, FAME_GLOBAL, UINT64_MAX,
		    session_progress(t->session), err);
	if (!code && edges.n)
		code = prune(&edges, group, t->session, t->cut, &freed, err);
	if (!code && edges.n && freed.n > single.n && freed.n / 2 <= group->retained.n) {
		t->target = HEAP_NONE;
		add_together(t, &edges);
		t->freed = freed;
		t->some = true;
	}
	what_if_edges_release(&edges);
	big_free(held);
	return code;
}

static int choose_for_group(struct told *t, struct err *err)
{
	choose_cut_of_group(t);
	if (!t->some && t->freed.n)
		return 0;
	int code = choose_together(t, t->suspect->ids, t->suspect->n, FAME_NONE, err);
	return code || t->together ? code : choose_most(t, t->suspect, err);
}

/* Of a class that holds much in small parts, each by several references: those that free all, or most. */
static int choose_for_all_below(struct told *t, uint32_t id, struct err *err)
{
	struct suspect parts = {.id = id, .retained = retained_of(t->cut->retained, id)};
	const uint32_t *child = retained_children(t->cut->retained, id, &parts.n);
	parts.ids = big_alloc(parts.n, sizeof *parts.ids, err);
	int code = parts.ids ? 0 : ERR_NOMEM;
	if (!code)
		memcpy(parts.ids, child, parts.n * sizeof *parts.ids);
	if (!code)
		code = choose_together(t, parts.ids, parts.n, FAME_GLOBAL, err);
	if (!code && !t->together)
		code = choose_most(t, &parts, err);
	big_free(parts.ids);
	return code;
}

/* What has piled up below an object, as a chain or below a class, goes when the object lets go of it.  Nobody clears
 * what holds a class. */
static int choose_below(struct told *t, uint32_t id, struct err *err)
{
	const struct path *p = t->steps;
	const struct retained *r = t->cut->retained;
	bool class = heap_class_mirrored(r->heap, id) != HEAP_NONE;
	uint32_t below[WHAT_IF_TOGETHER] = {HEAP_NONE};
	size_t n = leaks_largest_children(r, id, below, class ? WHAT_IF_TOGETHER : 1);
	if (below[0] == HEAP_NONE)
		return 0;
	if (n > 1)
		return choose_together(t, below, n, FAME_GLOBAL, err);
	struct path longer = {.n = p->n + 1};
	longer.step = big_alloc(longer.n, sizeof *longer.step, err);
	if (!longer.step)
		return ERR_NOMEM;
	memcpy(longer.step, p->step, p->n * sizeof *longer.step);
	longer.step[p->n] = below[0];
	size_t skipped = class ? p->n - 1 : 0;
	choose_cut(t, &(struct path){.step = longer.step + skipped, .n = longer.n - skipped});
	big_free(longer.step);
	t->some = !n && t->freed.n;
	t->target = t->some ? HEAP_NONE : t->target;
	if (class && !n)
		return choose_for_all_below(t, id, err);
	return t->freed.n || !n ? 0 : choose_together(t, below, n, FAME_NONE, err);
}

static int choose(struct told *t, struct err *err)
{
	uint32_t id = t->suspect->piles_up;
	int code = 0;
	if (heap_class_mirrored(t->rules->heap, id) != HEAP_NONE) {
		struct what_if_choice above = what_if_choose(t->cut, t->owner, t->steps->step, t->steps->n);
		t->others = above.others;
		t->vm_holds |= above.vm_holds;
		t->internal |= above.internal;
		return choose_below(t, id, err);
	}
	choose_cut(t, t->steps);
	if (!t->freed.n || t->hidden)
		code = choose_together(t, &id, 1, t->freed.n ? FAME_OWN : FAME_NONE, err);
	if (!code && !t->freed.n && t->suspect->chain)
		code = choose_below(t, id, err);
	return code;
}

int told_choose(struct told *t, struct err *err)
{
	int code = t->suspect->ids ? choose_for_group(t, err) :
	    choose(t, err);
	if (!code && t->internal && !t->freed.n)
		code = check_internal(t, err);
	return code;
}
