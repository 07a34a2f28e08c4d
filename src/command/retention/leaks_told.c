/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks_told.c - see leaks_told.h. */
#include "command/retention/leaks_told.h"

#include "analysis/heap_tree/heap_tree.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/retention/cut_words.h"
#include "command/retention/heap_labels.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_bytes(struct text *to, struct amount bytes)
{
	struct cell cell = cell_bytes(bytes);
	cell_print(&cell, to);
}

/* What makes this object a root, marked where that is inferred. */
static void add_root(const struct heap *h, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first);
	if (n && h->roots[first].certainty != EXACT)
		text_add(to, "~");
	path_root_words(h, id, to);
}

enum { HOLDERS_NAMED = 3, HOLDERS_LOOKED_AT = 1 << 16 };

static void add_holder(struct told *t, uint32_t *n, const char *word)
{
	if (++*n > HOLDERS_NAMED)
		return;
	text_add(&t->holders, *n > 1 ? ", " : "");
	text_add_name(&t->holders, word);
}

/* Each of its references to the suspect, but `skipped` of them. */
static void add_references_of(struct told *t, uint32_t *n, uint32_t holder, unsigned skipped)
{
	struct what_if_edge edge = {.holder = holder, .target = t->suspect->id};
	struct text word = TEXT_INIT, field = TEXT_INIT;
	struct reference_names names;
	unsigned found = 0;
	reference_names_begin(&names, t->rules->heap, holder);
	while (*n <= HOLDERS_NAMED && reference_names_next(&names, edge.target, &field)) {
		if (found++ >= skipped) {
			cut_word_of_field(&word, t->session, &edge, field.s);
			add_holder(t, n, word.s);
		}
		text_clear(&word);
		text_clear(&field);
	}
	if (!found && !skipped) {
		cut_word_of(&word, &field, t->session, t->rules, &edge);
		add_holder(t, n, word.s);
	}
	text_release(&word);
	text_release(&field);
}

/* What holds the suspect besides the path, if without the path it is held all the same: those first that a person
 * knows by name. */
static void find_holders(struct told *t)
{
	struct what_if *cut = t->cut;
	const struct path *p = t->steps;
	const struct heap *h = t->rules->heap;
	const struct retained *r = cut->retained;
	const uint32_t suspect = t->suspect->id;
	uint32_t n = 0;
	size_t at = 0;
	while (at < p->n && p->step[at] != suspect)
		at++;
	if (at == p->n)
		return;
	uint32_t on_path = at ? p->step[at - 1] : HEAP_NONE;
	struct what_if_figure f = what_if_one(cut, on_path, suspect);
	if (f.freed.n || !f.others.n)
		return;
	uint64_t begin = adjacency_start(&h->in, suspect), end = begin + adjacency_degree(&h->in, suspect);
	if (end - begin > HOLDERS_LOOKED_AT)
		end = begin + HOLDERS_LOOKED_AT;
	for (enum what_if_fame fame = FAME_GLOBAL + 1; fame-- > FAME_NONE;) {
		uint32_t before = HEAP_NONE;
		if (fame == FAME_NONE && at && heap_is_root(h, suspect)) {
			struct text word = TEXT_INIT;
			add_root(h, suspect, &word);
			add_holder(t, &n, word.s);
			text_release(&word);
		}
		for (uint64_t k = begin; n <= HOLDERS_NAMED && k < end; k++) {
			uint32_t from = h->in.target[k];
			if (from == before || what_if_fame(h, from, suspect) != fame ||
			    r->dominators.immediate[from] == NOT_REACHABLE ||
			    weak_is(r->model.left_out, from, suspect) || what_if_below(cut, from, suspect))
				continue;
			before = from;
			add_references_of(t, &n, from, from == on_path);
		}
	}
	if (n > HOLDERS_NAMED)
		text_add(&t->holders, " and others");
}

/* Append "ROOT > " where the line does not begin with a static field or a variable, and the line without the object
 * itself. */
static void add_path_line(struct text *to, const struct path_rules *rules, const struct path *p,
    const struct text *line, bool named)
{
	static const char end[] = " > this";
	size_t n = sizeof end - 1, length = line->len;
	if (!named) {
		add_root(rules->heap, p->step[0], to);
		text_add(to, " > ");
	}
	if (length > n && !strcmp(line->s + length - n, end))
		length -= n;
	text_add_n(to, line->s, length);
}

/* As a person reads it; in place of what was there. */
static int set_way(struct text *to, const struct path_rules *rules, const struct path *p, struct err *err)
{
	struct path_plumbing plumbing;
	struct text line = TEXT_INIT;
	bool named;
	int code = path_plumbing_init(&plumbing, rules->heap, err);
	if (!code)
		code = path_fold_line(&named, &plumbing, rules, p, &line, err);
	text_clear(to);
	if (!code && p->n == 1)
		add_root(rules->heap, p->step[0], to);
	else if (!code)
		add_path_line(to, rules, p, &line, named);
	path_plumbing_release(&plumbing);
	text_release(&line);
	return code;
}

/* The path to the accumulation point as a line: each step, and as a person reads it. */
static int add_path_lines(struct told *t, const struct path *p, struct err *err)
{
	struct text line = TEXT_INIT;
	bool named = path_line(t->rules, p, &line);
	if (p->n == 1)
		add_root(t->rules->heap, p->step[0], &t->path);
	else
		add_path_line(&t->path, t->rules, p, &line, named);
	text_release(&line);
	return set_way(&t->way, t->rules, p, err);
}

/* --- through what is to be cleared ---------------------------------------------------------------- */

static bool leads_through(const struct path *p, const struct what_if_edge *e)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->step[i] == e->target && (i ? p->step[i - 1] : HEAP_NONE) == e->holder)
			return true;
	return false;
}

/* Of a group the object that retains most of those that clearing these frees; HEAP_NONE: there is none. */
static int largest_freed(const struct told *t, uint32_t *id, struct err *err)
{
	const struct suspect *group = t->suspect;
	const struct retained *r = t->cut->retained;
	struct what_if_edges edges = {.edge = NULL};
	struct what_if_loss loss;
	int code = 0;
	*id = HEAP_NONE;
	for (size_t i = 0; !code && i < t->n_cleared; i++)
		code = what_if_edges_add(&edges, t->cleared[i].holder, t->cleared[i].target, err);
	if (!code)
		code = what_if_find(&loss, &r->model, &edges, NULL, 0, session_progress(t->session), err);
	what_if_edges_release(&edges);
	if (code)
		return code;
	for (uint32_t i = 0; i < group->n && !progress_own_stops(i); i++)
		if (bits_get(&loss.dead, group->ids[i]) &&
		    (*id == HEAP_NONE || retained_size(r, group->ids[i]) > retained_size(r, *id)))
			*id = group->ids[i];
	what_if_loss_release(&loss);
	return 0;
}

/* Where clearing these leaves some objects of a group, and the largest is one of those: a path through what is to be
 * cleared leads to another. */
static int find_way(struct told *t, struct err *err)
{
	struct path p = {.n = 0};
	bool through = !t->some || !t->suspect->ids || !t->freed.n;
	for (size_t i = 0; !through && i < t->n_cleared; i++)
		through = leads_through(t->steps, &t->cleared[i]);
	int code = through ? 0 : largest_freed(t, &t->freed_member, err);
	if (!code && t->freed_member != HEAP_NONE)
		code = command_find_path(t->session, t->rules, t->freed_member, &p, err);
	if (!code && p.n) {
		text_add(&t->shortest, t->way.s);
		code = set_way(&t->way, t->rules, &p, err);
	}
	path_release(&p);
	return code;
}

/* 'java.lang.Thread "worker" 0x7a3e0020', "class com.acme.Cache 0x7a3e0010" */
static void add_name(struct text *to, const struct heap *h, uint32_t id)
{
	uint32_t class = heap_class_mirrored(h, id), thread = heap_thread_of(h, id);
	text_add(to, class != HEAP_NONE ? "class " : "");
	text_add_name(to, class != HEAP_NONE ? h->classes[class].name : heap_class_of(h, id)->name);
	if (thread != HEAP_NONE && strcmp(h->threads[thread].name, THREAD_UNNAMED))
		text_addf(to, " \"%s\"", h->threads[thread].name);
	text_addf(to, " 0x%" PRIx64, heap_address(h, id));
}

/* store: where it piles up below that */
static void add_elements(struct text *to, const struct opened *o, uint32_t id, uint32_t store, const char *before,
    const char *after)
{
	struct text words = TEXT_INIT;
	if (told_add_elements(&words, o, id, store))
		text_addf(to, "%s%s%s", before, words.s, after);
	text_release(&words);
}

/* " retains 80.0K, 37.0% of the heap." */
static void add_retains(struct text *to, const char *verb, const struct retained *r, struct amount bytes)
{
	struct cell share = command_share(r, bytes);
	text_add(to, verb);
	add_bytes(to, bytes);
	text_add(to, ", ");
	cell_print(&share, to);
	text_add(to, " of the heap");
}

/* The reference that frees it, where a single one with a name does; else the object. */
static void add_subject(struct told *t, const struct opened *o, const struct retained *r, const struct suspect *s)
{
	const struct heap *h = r->heap;
	struct text *to = &t->sentence;
	bool by_name = t->target != HEAP_NONE && (!t->unnamed.len || t->variable.len);
	t->subject = by_name ? t->target : s->id;
	if (by_name) {
		text_add_name(to, t->variable.len ? t->variable.s : t->reference.s);
		text_add(to, " (");
		add_name(to, h, t->target);
		add_elements(to, o, t->target, s->piles_up, ", ", "");
		text_add(to, ")");
	} else {
		add_name(to, h, s->id);
		add_elements(to, o, s->id, s->piles_up, " (", ")");
	}
	add_retains(to, " retains ", r, by_name ? retained_of(r, t->target) : s->retained);
	text_add(to, ".");
}

static void add_group(struct told *t, const struct retained *r, const struct suspect *s)
{
	struct text *to = &t->sentence;
	text_add_count(to, s->n);
	text_add(to, " objects of ");
	text_add_name(to, heap_class_of(r->heap, s->piles_up)->name);
	add_retains(to, " retain ", r, s->retained);
	text_addf(to, ". The largest is 0x%" PRIx64 " with ", heap_address(r->heap, s->piles_up));
	add_bytes(to, retained_of(r, s->piles_up));
	text_add(to, ".");
	t->subject = HEAP_NONE;
}

/* The largest collection below the subject, or the subject, that is made of the accumulation point; or that itself. */
static uint32_t collection_around(const struct retained *r, uint32_t subject, uint32_t id)
{
	enum { DEEPEST = 8 };
	uint32_t found = id, at = id;
	for (unsigned deep = 0; at != subject && at < r->heap->n_objects && deep < DEEPEST; deep++) {
		at = r->dominators.immediate[at];
		if (at < r->heap->n_objects && heap_fold_inside(r, at, id))
			found = at;
	}
	return found;
}

uint32_t told_point(const struct retained *r, const struct told *t, const struct suspect *s)
{
	return s->ids ? s->id : collection_around(r, t->subject != HEAP_NONE ? t->subject : s->id, s->piles_up);
}

/* Where in it the bytes are. */
static void add_accumulated(struct told *t, const struct opened *o, const struct retained *r, struct what_if *cut,
    const struct suspect *s)
{
	struct text *to = &t->sentence;
	uint32_t link;
	if (t->subject != s->piles_up && what_if_below(cut, s->piles_up, t->subject)) {
		uint32_t in = collection_around(r, t->subject, s->piles_up);
		t->inside = in == t->subject;
		text_add(to, t->inside ? "" : " Of this, ");
		if (!t->inside) {
			add_bytes(to, retained_of(r, in));
			text_add(to, " is in ");
			add_name(to, r->heap, in);
			add_elements(to, o, in, s->piles_up, " (", ")");
			text_add(to, ".");
		}
	}
	if (s->chain && leaks_largest_children(r, s->id, &link, 1)) {
		text_add(to, " Nearly all of it is in a chain of ");
		text_add_name(to, heap_class_of(r->heap, link)->name);
		text_add(to, ".");
	} else {
		told_add_many(to, o, r, t, s);
	}
}

/* Is the path the reference to clear, or leads it from there only into what the collection is made of? */
static bool is_path_said(const struct told *t)
{
	const char *skipped = path_static_name(t->way.s);
	const char *word = t->variable.len ? t->variable.s : t->reference.len ? t->reference.s : "";
	const char *path = skipped ? skipped : t->way.s;
	size_t n = strcspn(word += *word == '\'', "'"); /* without quotes */
	if (!n || (!skipped && !t->variable.len) || strncmp(path, word, n) != 0)
		return false;
	return !path[n] ? skipped != NULL : t->inside && t->subject == t->target && !strncmp(path + n, " > ", 3);
}

/* The path to where the bytes are, unless the reference is all of it. */
static void add_way(struct told *t, const struct heap *h, const struct suspect *s, size_t steps)
{
	struct text *to = &t->sentence;
	if (t->shortest.len) {
		text_addf(to, " It stays: its path is %s. Path to 0x%" PRIx64 ", which is freed: %s.", t->shortest.s,
		    heap_address(h, t->freed_member), t->way.s);
	} else if (steps == 1 && !s->ids && !t->variable.len) {
		if (t->subject != s->piles_up)
			text_addf(to, " Object 0x%" PRIx64, heap_address(h, s->piles_up));
		else
			text_add(to, " It");
		text_addf(to, " is a GC root (%s).", t->way.s);
	} else if ((steps > 1 || s->ids) && !is_path_said(t)) {
		text_addf(to, " Path: %s.", t->way.s);
	}
}

static const char *number_of(const struct told *t)
{
	static const char *const words[] = {"Two", "Three", "Four", "Five", "Six"};
	size_t n = told_number(t);
	return n >= 2 && n - 2 < sizeof words / sizeof *words ? words[n - 2] : "Several";
}

/* The end of what clearing it frees. */
static void add_not_all(struct told *t, const struct suspect *s)
{
	if (t->some)
		text_add(&t->sentence, s->ids ? ", but not all of these objects" : ", but not all of it");
	text_add(&t->sentence, t->some && t->freed.n > s->retained.n ? "; others are freed as well." : ".");
}

/* A local or another root without a name is cleared by a word that nobody would guess. */
static void add_cut(struct told *t)
{
	bool root = false;
	for (size_t i = 0; i < t->n_cleared; i++)
		root |= t->cleared[i].holder == HEAP_NONE;
	if (root && !t->variable.len && t->names.n <= 2)
		text_addf(&t->sentence, " (cut %s)", t->reference.s);
}

static void add_together_words(struct told *t, const struct suspect *s)
{
	struct text *to = &t->sentence;
	bool single = t->together < 2 && t->names.n < 2, two = t->names.n == 2;
	if (t->together < 2 || t->some)
		text_add(to, " Clearing ");
	else
		text_addf(to, " %s references hold %s: ", number_of(t), s->ids ? "them" : "it");
	told_names_join(&t->names, " and ", to);
	if (t->together < 2 || t->some)
		text_add(to, single ? " frees " : " together frees ");
	else
		text_addf(to, ". Clearing %s frees ", two ? "both" : "all of them");
	add_bytes(to, t->freed);
	add_cut(t);
	if (t->some)
		add_not_all(t, s);
	else
		text_add(to, t->together < 2 ? "." : s->ids ? ": all of these objects." :
		    two ? "; neither alone is enough." : "; fewer are not enough.");
}

/* What to clear, and what that does not reach. */
static void add_remedy(struct told *t, const struct heap *h, const struct suspect *s)
{
	struct text *to = &t->sentence;
	bool java = h->java_lang_class != HEAP_NONE;
	uint64_t others = t->others.n;
	if (t->freed.n && t->untold) {
		text_add(to, " The dump does not record what holds it. Releasing it frees ");
		add_bytes(to, t->freed);
		text_add(to, ".");
	} else if (t->together) {
		add_together_words(t, s);
		return;
	} else if (t->freed.n) {
		if (told_frees_little(t))
			text_add(to, s->ids ? " No single reference on this path frees a tenth of them." :
			    " None of its references frees a tenth of it.");
		text_add(to, " Clearing ");
		bool named = t->subject == t->target && t->target != HEAP_NONE;
		if (named && (!t->unnamed.len || t->variable.len)) {
			text_add(to, "it");
		} else {
			told_names_join(&t->names, " and ", to); /* the column has them whole */
		}
		text_add(to, t->names.n > 1 ? " together frees " : " frees ");
		add_bytes(to, t->freed);
		add_cut(t);
		add_not_all(t, s);
	} else if (t->internal) {
		const char *what = s->ids ? "them" : "it";
		if (t->shared)
			text_addf(to, " %s holds %s, too, so no reference of the program frees %s.",
			    library_wished(false) ? "A library" : java ? "The JDK" : "Go's library", what, what);
		else
			text_addf(to, " Only %s holds %s, no reference of the program.",
			    library_wished(false) ? "a library" : java ? "the JDK" : "Go's library", what);
	} else {
		const char *what = s->ids ? "any of it" : "it";
		if (t->vm_holds)
			text_addf(to, " The VM itself holds %s; no program can clear that.", what);
		else
			text_addf(to, " No single reference on this path frees %s.", what);
	}
	if (t->holders.len) {
		text_addf(to, " Other references hold 0x%" PRIx64 ": %s.", heap_address(h, s->id), t->holders.s);
	} else if (!s->ids && !t->freed.n && others) {
		text_add(to, " ");
		text_add_count(to, others);
		text_addf(to, "%s other reference%s hold%s it.", others == WHAT_IF_COUNTED ? " or more" : "",
		    others == 1 ? "" : "s", others == 1 ? "s" : "");
	}
}

static void add_sentence(struct told *t, const struct opened *o, struct what_if *cut, const struct suspect *s,
    size_t steps)
{
	const struct retained *r = cut->retained;
	if (s->ids) {
		add_group(t, r, s);
	} else {
		add_subject(t, o, r, s);
		add_accumulated(t, o, r, cut, s);
	}
	if (steps == 0) {
		text_add(&t->sentence, " No strong reference from a root leads to it.");
		return;
	}
	add_way(t, r->heap, s, steps);
	size_t before = t->sentence.len;
	add_remedy(t, r->heap, s);
	if (t->sentence.len > before)
		text_add(&t->remedy, t->sentence.s + before + 1); /* without the blank */
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
	t->field_target = id;
	if (at)
		heap_reference_label(rules, p->step[at - 1], id, false, &t->field);
	else
		path_root_words(rules->heap, id, &t->field);
}

int told_find(struct told *t, struct session *s, struct what_if *cut, struct what_if_owner *owner,
    const struct suspect *suspect, struct err *err)
{
	struct path_rules rules;
	struct path p = {.n = 0};
	*t = (struct told){.session = s, .cut = cut, .owner = owner, .suspect = suspect, .rules = &rules, .steps = &p,
	    .freed = heap_held_sized(session_heap(s), 0, 0), .target = HEAP_NONE, .subject = HEAP_NONE,
	    .freed_member = HEAP_NONE, .field_target = HEAP_NONE, .loader = HEAP_NONE};
	int code = path_rules_init(&rules, session_heap(s), false, err);
	if (code)
		return code;
	code = command_find_path(s, &rules, suspect->piles_up, &p, err);
	if (!code && !p.n && path_rules_relax(&rules))
		code = command_find_path(s, &rules, suspect->piles_up, &p, err);
	add_field(t, &rules, &p, suspect);
	if (!code && p.n) {
		code = add_path_lines(t, &p, err);
		if (!code)
			code = told_choose(t, err);
		if (!code)
			code = find_way(t, err);
		if (!code && !suspect->ids && !t->together)
			find_holders(t);
	}
	if (!code)
		add_sentence(t, s->dump, cut, suspect, p.n);
	path_release(&p);
	path_rules_release(&rules);
	t->rules = NULL;
	t->steps = NULL;
	return code;
}

void told_release(struct told *t)
{
	text_release(&t->path);
	text_release(&t->way);
	text_release(&t->shortest);
	text_release(&t->field);
	text_release(&t->holders);
	text_release(&t->reference);
	text_release(&t->unnamed);
	text_release(&t->variable);
	text_release(&t->sentence);
	text_release(&t->remedy);
	text_release(&t->label);
	told_names_release(&t->names);
}
