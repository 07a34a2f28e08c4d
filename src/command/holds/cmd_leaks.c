/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_leaks.c - leaks: who keeps a large part of the heap, in a sentence each.
 */
#include "command/commands.h"

#include "analysis/cut/cut.h"
#include "analysis/leaks.h"
#include "base/mem.h"
#include "command/holds/cut_words.h"
#include "result/objects.h"
#include "command/session/session.h"
#include "command/words/words.h"
#include "heap/weak.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	L_ADDRESS, L_CLASS, L_OBJECTS, L_RETAINED, L_SHARE, L_POINT, L_POINT_CLASS, L_POINT_RETAINED,
	L_FREED, L_REFERENCE, L_PATH, L_SENTENCE
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
};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

/* What is told of a suspect besides its numbers. */
struct told {
	struct text path, reference, unnamed, sentence;
	struct text holders; /* other references to the suspect, if clearing the path's is not enough */
	struct amount freed; /* 0: no reference of the path does */
	bool some;           /* but not all objects of a group */
	bool vm_holds;       /* a reference that does free it is the VM's own: nobody can clear it */
	bool untold;         /* the reference is from something that the dump does not have */
	bool internal;       /* such a one is inside the JDK, or Go's library, where a program clears nothing */
	struct amount others; /* that keep the accumulation point besides the path's last one */
};

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
	command_root_words(h, id, to);
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
		text_add(to, "; what holds that is not in the dump, and when it lets go frees ");
		add_bytes(to, t->freed);
		text_add(to, ".");
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

static int tell(struct told *t, struct session *s, struct cut *cut, struct cut_owner *owner,
    const struct suspect *suspect, struct err *err)
{
	struct path_rules rules;
	struct path p = {.n = 0};
	int code = path_rules_init(&rules, session_heap(s), false, err);
	if (code)
		return code;
	code = command_find_path(s, &rules, suspect->piles_up, &p, err);
	if (!code && p.n) {
		add_path_line(&t->path, &rules, &p);
		if (p.n == 1) {
			text_clear(&t->path);
			add_root(session_heap(s), p.step[0], &t->path);
		}
		if (suspect->ids) {
			choose_cut_of_group(t, s, cut, owner, &rules, &p, suspect);
		} else {
			choose_cut(t, s, cut, owner, &rules, &p);
			find_holders(t, s, cut, &rules, &p, suspect->id);
		}
	}
	if (!code)
		add_sentence(t, cut->retained, suspect, p.n);
	path_release(&p);
	path_rules_release(&rules);
	return code;
}

/* A paragraph of at most so many columns a line. */
static void add_wrapped(struct text *to, const char *s)
{
	enum { WIDTH = 78 };
	size_t used = 0;
	while (*s) {
		size_t n = strcspn(s, " ");
		char *word = xstrndup(s, n);
		size_t width = text_width(word);
		if (used && used + 1 + width > WIDTH) {
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
    struct result *out, const struct retained *r, const struct suspect *s, const struct told *t)
{
	const struct heap *h = r->heap;
	struct text class = TEXT_INIT, point = TEXT_INIT;
	uint32_t mirrored = heap_class_mirrored(h, s->id), there = heap_class_mirrored(h, s->piles_up);
	text_addf(&class, "%s%s", mirrored != HEAP_NONE && !s->ids ? "class " : "",
	    mirrored != HEAP_NONE && !s->ids ? h->classes[mirrored].name : heap_class_of(h, s->id)->name);
	text_addf(&point, "%s%s", there != HEAP_NONE ? "class " : "",
	    there != HEAP_NONE ? h->classes[there].name : heap_class_of(h, s->piles_up)->name);
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
	    t->path.len ? cell_text(t->path.s) : cell_blank(), cell_text(t->sentence.s)}, &target);
	text_release(&class);
	text_release(&point);
}

static int add_suspects(
    struct result *out, struct session *s, struct cut *cut, const struct leaks *leaks, struct err *err)
{
	struct text story = TEXT_INIT;
	struct cut_owner owner;
	int code = cut_owner_init(&owner, cut->retained, err);
	for (size_t i = 0; !code && i < leaks->n; i++) {
		struct told t = {.freed = heap_held_bytes(session_heap(s), 0)};
		code = tell(&t, s, cut, &owner, &leaks->suspect[i], err);
		if (!code) {
			add_row(out, cut->retained, &leaks->suspect[i], &t);
			text_add(&story, "\n");
			add_wrapped(&story, t.sentence.s);
		}
		text_release(&t.path);
		text_release(&t.holders);
		text_release(&t.reference);
		text_release(&t.unnamed);
		text_release(&t.sentence);
	}
	if (story.len)
		out->story = arena_strndup(&out->arena, story.s, story.len);
	cut_owner_release(&owner);
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
		return err_set(err, ERR_USAGE, "-share takes percents: above 0, up to 100");
	return 0;
}

static void add_note(struct result *r, const struct leaks *leaks, double share)
{
	struct text note = TEXT_INIT;
	const char *roots = command_roots_note(r->opened, &r->arena);
	if (!leaks->n)
		text_addf(&note, "nothing keeps more than %g%% of the heap", share);
	if (leaks->vms_own.n) {
		text_add(&note, note.len ? "; " : "");
		add_bytes(&note, leaks->vms_own);
		text_add(&note, " more are kept by roots of the VM itself, which no program can clear");
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

static int run_leaks(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct retained *r;
	struct cut cut;
	double share;
	int code = wanted_share(call, &share, err);
	if (!code)
		code = session_retained(s, &r, err);
	if (code)
		return code;
	struct leaks *leaks = xcalloc(1, sizeof *leaks);
	code = leaks_find(leaks, r, share, session_progress(s), err);
	if (code) {
		free(leaks);
		return code;
	}
	struct result *result = result_new_rows("suspects", s->dump, &shape);
	code = cut_init(&cut, r, err);
	if (!code)
		code = size_groups(s, leaks, err);
	if (!code)
		code = add_suspects(result, s, &cut, leaks, err);
	cut_release(&cut);
	add_note(result, leaks, share);
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
    {DASH_SHARE, OPT_COLUMN, "N", "suspects keep more than N percent of the heap (default 10)"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

const struct command cmd_leaks = {
    .name = "leaks",
    .options = options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .group = "who holds it",
    .summary = "what keeps a large part of the heap, and why",
    .shapes = SHAPES(&shape),
    .description = "Suspects are objects at the top of the dominator tree that retain more than a share "
	"of what is reachable (10 percent unless -share says otherwise), and objects of one class that "
	"do so together. From there the way leads down the tree while one object keeps nearly all: "
	"accumulated_in is where it parts. The row, its address and what it retains are the suspect's. "
	"path is the shortest strong path to where it parts, reference the one on it to clear, as cut takes "
	"it, and freed what that frees: exactly, and 0 where something else keeps it. Of a group they are of "
	"the path to its largest member, and empty where no reference there frees anything; the sentence says "
	"when not all of the group goes with it. A class or class loader that holds several suspects is none itself; "
	"nor is a root of the VM itself, which no program can clear: a line below says what these keep.",
    .examples = {{"leaks"}, {"leaks -share 5"}},
    .key = "K",
    .run = run_leaks,
};
