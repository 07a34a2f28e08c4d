/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks_told.c - see leaks_told.h. */
#include "command/holds/leaks_told.h"

#include "command/commands.h"
#include "command/holds/cut_words.h"
#include "command/holds/heap_labels.h"
#include "heap/weak.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_bytes(struct text *to, struct amount bytes)
{
	struct cell cell = cell_bytes(bytes);
	cell_print(&cell, to);
}

static void add_size(struct text *to, const struct retained *r, struct amount bytes)
{
	add_bytes(to, bytes);
	struct cell share = command_share(r, bytes);
	text_add(to, " (");
	cell_print(&share, to);
	text_add(to, ")");
}

/* The variable of a root, where the program tells it. */
static void add_variable(struct text *to, const struct heap *h, uint32_t id)
{
	struct text name = TEXT_INIT;
	size_t first, n = heap_roots_of(h, id, &first);
	for (size_t i = first; i < first + n && !name.len; i++)
		if (h->roots[i].kind == ROOT_DATA || h->roots[i].kind == ROOT_BSS)
			heap_symbol(h, h->roots[i].slot, &name);
	if (name.len)
		text_addf(to, " (%s)", name.s);
	text_release(&name);
}

/* The reference to a path's step, as a word for cut; unnamed: what the word does not say, the variable or the
 * class of a holder whose fields have no names in the dump. */
static void add_reference(struct told *t, const struct session *s, const struct path_rules *rules,
    const struct path *p, size_t i)
{
	const struct heap *h = rules->heap;
	struct text field = TEXT_INIT;
	struct cut_edge edge = {.holder = i ? p->step[i - 1] : HEAP_NONE, .target = p->step[i]};
	cut_word_of(&t->reference, &field, s, rules, &edge);
	cut_word_quote(&t->reference);
	if (!i) {
		add_variable(&t->unnamed, h, p->step[0]);
	} else if (!field.len) {
		uint32_t class = heap_class_mirrored(h, edge.holder);
		text_add(&t->unnamed, class != HEAP_NONE ? " (a reference of class " : " (a reference of ");
		text_add_name(&t->unnamed,
		    class != HEAP_NONE ? h->classes[class].name : heap_class_of(h, edge.holder)->name);
		text_add(&t->unnamed, ")");
	}
	text_release(&field);
}

/* "com.acme.A.cache and 0xe0010228.index"; reference: the same words apart, as cut takes them. */
static void add_together(struct told *t, const struct session *s, const struct path_rules *rules,
    const struct cut_edges *edges)
{
	text_clear(&t->reference);
	text_clear(&t->unnamed);
	for (size_t i = 0; i < edges->n; i++) {
		const struct cut_edge *e = &edges->edge[i];
		struct told one = {.together = 0};
		if (e->holder != HEAP_NONE) {
			add_reference(&one, s, rules, &(struct path){.step = (uint32_t[]){e->holder, e->target}, .n = 2}, 1);
		} else {
			struct text root = TEXT_INIT;
			cut_word_of(&one.reference, &root, s, rules, e);
			text_addf(&one.unnamed, " (%s)", root.s);
			text_release(&root);
		}
		text_addf(&t->reference, "%s%s", i ? " " : "", one.reference.s);
		text_add(&t->unnamed, !i ? "" : i + 1 < edges->n ? ", " : " and ");
		text_add_name(&t->unnamed, one.reference.s);
		text_add(&t->unnamed, one.unnamed.len ? one.unnamed.s : "");
		text_release(&one.reference);
		text_release(&one.unnamed);
	}
	t->together = edges->n;
}

/* Where no single reference frees all of them: the few that do together. */
static int choose_together(struct told *t, struct session *s, struct cut *cut, struct cut_owner *owner,
    const struct path_rules *rules, const uint32_t *ids, size_t n, enum cut_fame least, struct err *err)
{
	struct cut_edges edges;
	struct amount freed;
	int code = cut_together(&edges, &freed, cut, owner, ids, n, least, UINT64_MAX, session_progress(s), err);
	if (!code && edges.n) {
		add_together(t, s, rules, &edges);
		t->freed = freed;
		t->some = false;
	}
	cut_edges_release(&edges);
	return code;
}

/* The step of the path that a person would cut. */
static void choose_cut(struct told *t, const struct session *s, struct cut *cut, struct cut_owner *owner,
    const struct path_rules *rules, const struct path *p)
{
	struct cut_choice choice = cut_choose(cut, owner, p->step, p->n);
	t->others = choice.others;
	t->vm_holds |= choice.vm_holds;
	t->internal |= choice.internal;
	if (choice.step == p->n)
		return;
	t->untold = choice.untold;
	t->freed = choice.freed;
	t->hidden = !choice.untold && choice.fame == FAME_NONE && choice.step;
	add_reference(t, s, rules, p, choice.step);
}

/* Of a group: the last static field on the path to its largest member that frees anything, or else the
 * highest reference that does.  Nobody clears what holds a class. */
static void choose_cut_of_group(struct told *t, const struct session *s, struct cut *cut,
    struct cut_owner *owner, const struct path_rules *rules, const struct path *p, const struct suspect *group)
{
	const struct heap *h = rules->heap;
	size_t best = p->n;
	for (size_t i = 0; i < p->n; i++) {
		if (heap_class_mirrored(h, p->step[i]) != HEAP_NONE)
			continue;
		uint32_t holder = i ? p->step[i - 1] : HEAP_NONE;
		struct cut_figure f = cut_one(cut, holder, p->step[i]);
		bool statics = i && heap_class_mirrored(h, p->step[i - 1]) != HEAP_NONE;
		if (!f.freed.n || (best < p->n && !statics) || !cut_clearable(h, holder, p->step[i]))
			continue;
		if (cut_owner_internal(owner, p->step[i])) {
			t->internal = true;
			continue;
		}
		best = i;
		t->freed = f.freed;
	}
	if (best == p->n)
		return;
	add_reference(t, s, rules, p, best);
	for (uint32_t i = 0; i < group->n && !t->some; i++)
		t->some = !cut_below(cut, group->ids[i], p->step[best]);
}

/* What makes this object a root, marked where that is inferred. */
static void add_root(const struct heap *h, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first);
	if (n && h->roots[first].certainty != EXACT)
		text_add(to, "~");
	path_root_words(h, id, to);
}

enum { HOLDERS_NAMED = 3 };

static void add_holder(struct told *t, uint32_t *n, const char *word)
{
	if (++*n <= HOLDERS_NAMED)
		text_add(&t->holders, *n > 1 ? ", " : "");
	if (*n <= HOLDERS_NAMED)
		text_add_name(&t->holders, word);
}

/* What holds the suspect besides the path, if without the path it is held all the same. */
static void find_holders(struct told *t, const struct session *s, struct cut *cut,
    const struct path_rules *rules, const struct path *p, uint32_t suspect)
{
	const struct heap *h = rules->heap;
	const struct retained *r = cut->retained;
	struct text word = TEXT_INIT, field = TEXT_INIT;
	size_t at = 0;
	uint32_t n = 0;
	while (at < p->n && p->step[at] != suspect)
		at++;
	if (at == p->n)
		return;
	uint32_t on_path = at ? p->step[at - 1] : HEAP_NONE, before = on_path;
	struct cut_figure f = cut_one(cut, on_path, suspect);
	if (f.freed.n || !f.others.n)
		return;
	if (at && heap_is_root(h, suspect)) {
		add_root(h, suspect, &word);
		add_holder(t, &n, word.s);
	}
	uint64_t end = adjacency_start(&h->in, suspect + 1);
	for (uint64_t k = adjacency_start(&h->in, suspect); n <= HOLDERS_NAMED && k < end; k++) {
		uint32_t from = h->in.target[k];
		if (from == on_path || from == before || r->dominators.immediate[from] == NOT_REACHABLE ||
		    weak_is(r->model.left_out, from, suspect) || cut_below(cut, from, suspect))
			continue;
		before = from;
		text_clear(&word);
		text_clear(&field);
		cut_word_of(&word, &field, s, rules, &(struct cut_edge){.holder = from, .target = suspect});
		add_holder(t, &n, word.s);
	}
	if (n > HOLDERS_NAMED)
		text_add(&t->holders, " and others");
	text_release(&word);
	text_release(&field);
}

/* The way to the accumulation point as a line, without the object itself. */
static void add_path_line(struct text *to, const struct path_rules *rules, const struct path *p)
{
	static const char end[] = " > this";
	if (!path_line(rules, p, to)) {
		char *line = text_take(to);
		add_root(rules->heap, p->step[0], to);
		text_addf(to, " > %s", line);
		free(line);
	}
	size_t n = sizeof end - 1;
	if (to->len > n && !strcmp(to->s + to->len - n, end)) {
		char *line = text_take(to);
		text_add_n(to, line, strlen(line) - n);
		free(line);
	}
}

/* "One java.util.HashMap, 0x7a3e0010, keeps 1.2M (3.4%) alive" */
static void add_object(struct text *to, const struct retained *r, uint32_t id)
{
	const struct heap *h = r->heap;
	uint32_t class = heap_class_mirrored(h, id);
	text_add(to, class != HEAP_NONE ? "The class " : "One ");
	text_add_name(to, class != HEAP_NONE ? h->classes[class].name : heap_class_of(h, id)->name);
	text_addf(to, ", 0x%" PRIx64 ", keeps ", heap_address(h, id));
	add_size(to, r, retained_of(r, id));
	text_add(to, " alive");
}

static void add_subject(struct text *to, const struct retained *r, const struct suspect *s)
{
	const struct heap *h = r->heap;
	uint32_t id = s->piles_up, class = heap_class_mirrored(h, id);
	if (s->ids) {
		text_add_count(to, s->n);
		text_add(to, " objects of ");
		text_add_name(to, heap_class_of(h, id)->name);
		text_add(to, " together keep ");
		add_size(to, r, s->retained);
		text_addf(to, " alive; the largest is 0x%" PRIx64 " with ", heap_address(h, id));
		add_bytes(to, retained_of(r, id));
		return;
	}
	add_object(to, r, s->id);
	if (s->id != id) {
		text_add(to, "; ");
		add_size(to, r, retained_of(r, id));
		text_add(to, class != HEAP_NONE ? " of it in the class " : " of it in one ");
		text_add_name(to, class != HEAP_NONE ? h->classes[class].name : heap_class_of(h, id)->name);
		text_addf(to, ", 0x%" PRIx64, heap_address(h, id));
	}
	uint32_t n;
	const uint32_t *child = retained_children(r, id, &n);
	uint32_t link = s->chain && n ? child[0] : HEAP_NONE;
	for (uint32_t i = 1; i < n; i++)
		if (link != HEAP_NONE && r->dominators.retained[child[i]] > r->dominators.retained[link])
			link = child[i];
	if (link != HEAP_NONE) {
		text_add(to, ", nearly all in a chain of ");
		text_add_name(to, heap_class_of(h, link)->name);
	}
}

/* What to clear, and what that does not reach. */
static void add_remedy(struct told *t, const struct heap *h, const struct suspect *s)
{
	struct text *to = &t->sentence;
	const char *inside = h->java_lang_class != HEAP_NONE ? "the JDK" : "the library";
	uint64_t others = t->others.n;
	if (t->freed.n && t->untold) {
		text_add(to, "; the dump does not tell what holds that, which frees ");
		add_bytes(to, t->freed);
		text_add(to, " when it lets go.");
	} else if (t->together) {
		text_addf(to, "; clearing %s frees ", t->unnamed.s);
		add_bytes(to, t->freed);
		text_addf(to, "%s.", t->together < 2 ? "" : s->ids ? ", all of them" :
		    t->together == 2 ? ", which neither does alone" : ", which fewer of them do not");
	} else if (t->freed.n) {
		text_add(to, "; clearing ");
		text_add_name(to, t->reference.s); /* the column has it whole */
		text_addf(to, "%s%s ", t->unnamed.len ? t->unnamed.s : "",
		    t->some ? " alone is not enough: it frees" : " frees");
		add_bytes(to, t->freed);
		text_add(to, t->some ? ", and not all of these objects." : ".");
	} else if (t->internal) {
		text_addf(to, "; %s itself keeps it, by no reference of the program's.", inside);
	} else {
		text_addf(to, t->vm_holds ? "; the VM itself keeps it, and no program can clear that."
		                          : "; no single reference of that path frees %s.",
		    s->ids ? "any of it" : "it");
	}
	if (t->together)
		return;
	if (t->holders.len) {
		text_addf(to, " Object 0x%" PRIx64 " is also held by %s.", heap_address(h, s->id), t->holders.s);
	} else if (!s->ids && !t->freed.n && others) {
		text_add(to, " ");
		text_add_count(to, others);
		text_addf(to, "%s other%s keep%s it.", others == CUT_COUNTED ? " or more" : "",
		    others == 1 ? "" : "s", others == 1 ? "s" : "");
	}
}

static void add_sentence(struct told *t, const struct retained *r, const struct suspect *s, size_t steps)
{
	struct text *to = &t->sentence;
	const char *which = s->id != s->piles_up ? "that" : "it";
	add_subject(to, r, s);
	if (steps == 0)
		text_add(to, "; no strong reference leads there from a root.");
	else if (s->ids)
		text_addf(to, ", reached by %s", t->path.s);
	else if (steps == 1)
		text_addf(to, "; %s is a root itself (%s)", which, t->path.s);
	else
		text_addf(to, "; %s is reached by %s", which, t->path.s);
	if (steps)
		add_remedy(t, r->heap, s);
}

/* What the heap's tree calls it: by what it is held on the path.  A group's members may be held by others. */
static void add_field(struct told *t, const struct path_rules *rules, const struct path *p, const struct suspect *s)
{
	size_t at = 0;
	while (at < p->n && p->step[at] != s->id)
		at++;
	uint32_t id = s->id;
	if (heap_class_mirrored(rules->heap, id) != HEAP_NONE && ++at < p->n)
		id = p->step[at]; /* nobody asks what holds a class, but which of its fields */
	if (at >= p->n || s->ids)
		return;
	if (at)
		heap_reference_label(rules, p->step[at - 1], id, false, &t->field);
	else
		path_root_words(rules->heap, id, &t->field);
}

int told_find(struct told *t, struct session *s, struct cut *cut, struct cut_owner *owner,
    const struct suspect *suspect, struct err *err)
{
	struct path_rules rules;
	struct path p = {.n = 0};
	t->freed = heap_held_bytes(session_heap(s), 0);
	int code = path_rules_init(&rules, session_heap(s), false, err);
	if (code)
		return code;
	code = command_find_path(s, &rules, suspect->piles_up, &p, err);
	add_field(t, &rules, &p, suspect);
	if (!code && p.n) {
		add_path_line(&t->path, &rules, &p);
		if (p.n == 1) {
			text_clear(&t->path);
			add_root(session_heap(s), p.step[0], &t->path);
		}
		if (suspect->ids) {
			choose_cut_of_group(t, s, cut, owner, &rules, &p, suspect);
			if (t->some || !t->freed.n)
				code = choose_together(t, s, cut, owner, &rules, suspect->ids, suspect->n, FAME_NONE, err);
		} else {
			choose_cut(t, s, cut, owner, &rules, &p);
			if (!t->freed.n || t->hidden)
				code = choose_together(t, s, cut, owner, &rules, &suspect->piles_up, 1,
				    t->freed.n ? FAME_OWN : FAME_NONE, err);
			if (!t->together)
				find_holders(t, s, cut, &rules, &p, suspect->id);
		}
	}
	if (!code)
		add_sentence(t, cut->retained, suspect, p.n);
	path_release(&p);
	path_rules_release(&rules);
	return code;
}

void told_release(struct told *t)
{
	text_release(&t->path);
	text_release(&t->field);
	text_release(&t->holders);
	text_release(&t->reference);
	text_release(&t->unnamed);
	text_release(&t->sentence);
}
