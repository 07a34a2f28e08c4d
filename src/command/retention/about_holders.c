/* SPDX-License-Identifier: GPL-3.0-or-later */
/* about_holders.c - the half of `about` that tells what holds the objects. */
#include "command/retention/about.h"

#include "command/retention/heap_labels.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/weak.h"
#include "memory/big.h"
#include "result/objects.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	STEPS_FIRST = 3, STEPS_LAST = 9, /* of a longer path */
	INDENT_MOST = 8,
	KINDS = 5,          /* classes of referrers that have a row */
	KINDS_CUT = 2,      /* of these, so many are cleared to see what goes */
	LABELS = 8,         /* references of a kind that are asked for their field */
	COLLECTED_MOST = 1 << 17, /* of a kind that are named by their collections */
	THREADS = 3,
};
#define QUICK_EFFORT (2 << 20)   /* references looked at */
#define WHOLE_EFFORT (64 << 20)
#define QUICK_MEMBERS 50000      /* objects whose referrers are looked at */
#define EDGES_MOST (16 << 20)    /* references that are cleared at once, of one kind */
#define TOGETHER_EFFORT (8 << 20) /* references looked at for a few that free all */
#define LOOK_EVERY 4096

/* --- the path ----------------------------------------------------------------------------------- */

/* The path as it is seen, from its last static field on: how the class is held is another question. */
struct seen_path {
	const struct path *path;
	struct path_fold seen;
	size_t first; /* of seen */
};

static int see(struct asking *q, struct seen_path *s, const struct path *p, struct err *err)
{
	*s = (struct seen_path){.path = p};
	int code = 0;
	if (!q->what->every_step)
		code = path_fold(&s->seen, &q->a->plumbing, &q->a->rules, p, err);
	else if (!(s->seen.step = big_alloc(p->n, sizeof *s->seen.step, err)))
		code = ERR_NOMEM;
	while (!code && q->what->every_step && s->seen.n < p->n) {
		s->seen.step[s->seen.n] = s->seen.n;
		s->seen.n++;
	}
	s->first = path_fold_last_static(&s->seen, &q->a->rules, p);
	return code;
}

/* Step i of those that are seen. */
static void add_step(struct asking *q, struct what_if *cut, const struct seen_path *s, size_t i)
{
	const struct heap *h = q->a->heap;
	const uint32_t *step = s->path->step;
	size_t at = s->seen.step[i];
	uint32_t id = step[at];
	struct text name = TEXT_INIT, value = TEXT_INIT;
	struct about_row row = {.part = ABOUT_PATH};
	if (!at || (!i && heap_class_mirrored(h, id) != HEAP_NONE)) /* it begins there, or with what loads the class */
		path_root_words(h, step[0], &name);
	else if (i == s->first && path_reference_is_static(&q->a->rules, step[at - 1], id))
		heap_reference_label(&q->a->rules, step[at - 1], id, true, &name);
	else if (!path_fold_label(&q->a->rules, step, i ? s->seen.step[i - 1] : 0, at, &name))
		text_add(&name, "?");
	uint32_t class = heap_class_mirrored(h, id);
	text_addf(&value, class == HEAP_NONE ? "%s" : "class %s",
	    heap_brief_name(h, class == HEAP_NONE ? heap_class_of(h, id)->name : h->classes[class].name));
	row.indent = i - s->first < INDENT_MOST ? (unsigned)(i - s->first) : INDENT_MOST;
	row.value = cell_text(value.s);
	if (cut)
		row.freed = cell_bytes(what_if_one(cut, at ? step[at - 1] : HEAP_NONE, id).freed);
	about_add_object(q, &row, &name, id);
	text_release(&value);
}

static void add_steps(struct asking *q, struct what_if *cut, const struct seen_path *s)
{
	size_t n = s->seen.n - s->first;
	for (size_t i = 0; i < n; i++) {
		if (n > STEPS_FIRST + STEPS_LAST + 1 && i == STEPS_FIRST) {
			struct text words = TEXT_INIT;
			text_add_count(&words, n - STEPS_FIRST - STEPS_LAST);
			text_add(&words, " more steps");
			about_add(q, &(struct about_row){.part = ABOUT_PATH, .indent = STEPS_FIRST, .name = words.s,
			    .rest = n - STEPS_FIRST - STEPS_LAST});
			text_release(&words);
			i = n - STEPS_LAST;
		}
		add_step(q, cut, s, s->first + i);
	}
}

/* A reference by its name, and as a word for cut. */
static void add_reference(struct asking *q, uint32_t holder, uint32_t id, struct text *name, struct text *word)
{
	const struct heap *h = q->a->heap;
	struct text label = TEXT_INIT;
	if (holder == HEAP_NONE) {
		path_root_words(h, id, &label);
		text_addf(word, " root>0x%" PRIx64, heap_address(h, id));
	} else {
		heap_reference_label(&q->a->rules, holder, id, true, &label);
		text_addf(word, " 0x%" PRIx64 ">0x%" PRIx64, heap_address(h, holder), heap_address(h, id));
	}
	text_addf(name, "%s%s", name->len ? " + " : "", label.len ? label.s : "?");
	text_release(&label);
}

/* The few references that free all of them together, where there are such.  *found: a row tells of them. */
static int add_together(struct asking *q, struct what_if *cut, struct what_if_owner *owner, bool *found,
    struct err *err)
{
	struct what_if_edges edges;
	struct amount freed;
	struct text name = TEXT_INIT, line = TEXT_INIT;
	int code = what_if_together(&edges, &freed, cut, owner, q->what->ids, q->what->n, FAME_OWN, TOGETHER_EFFORT,
	    q->progress, err);
	*found = !code && edges.n > 0;
	text_add(&line, "cut");
	for (size_t i = 0; i < edges.n; i++)
		add_reference(q, edges.edge[i].holder, edges.edge[i].target, &name, &line);
	if (*found)
		about_add(q, &(struct about_row){.part = ABOUT_CUT, .name = name.s, .freed = cell_bytes(freed),
		    .value = cell_text(line.s)});
	what_if_edges_release(&edges);
	text_release(&name);
	text_release(&line);
	return code;
}

/* Nobody clears what holds a class, for its static fields are among the fields, nor what holds a loader; nor a
 * thread: it ends. */
static bool is_cleared(const struct asking *q, uint32_t id)
{
	const struct heap *h = q->a->heap;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		if (h->classes[c].loader == id)
			return false;
	}
	return heap_class_mirrored(h, id) == HEAP_NONE && heap_thread_of(h, id) == HEAP_NONE;
}

/* The reference of a path (n 0: there is none) that a person would clear, or else a few. */
static int add_best_cut(struct asking *q, struct what_if *cut, const struct path *p, struct err *err)
{
	const struct heap *h = q->a->heap;
	struct text name = TEXT_INIT, line = TEXT_INIT;
	struct what_if_owner *owner;
	bool together = false, one = q->what->n == 1;
	if ((p->n && !is_cleared(q, p->step[p->n - 1])) || (one && !p->n))
		return 0;
	int code = about_owner(q, &owner, err);
	if (code || !owner)
		return code;
	struct what_if_choice choice = {.step = 0};
	if (p->n)
		choice = what_if_choose(cut, owner, p->step, p->n);
	if (choice.step == p->n && !q->quick)
		code = add_together(q, cut, owner, &together, err);
	int missing = what_if_owner_check(owner, code ? NULL : err); /* else the next question would have it */
	code = code ? code : missing;
	if (!code && choice.step == p->n && !together && one && !choice.vm_holds && !choice.internal) {
		text_addf(&line, "cut 0x%" PRIx64, heap_address(h, q->what->ids[0]));
		about_add(q, &(struct about_row){.part = ABOUT_CUT, .name = "every reference to it",
		    .freed = object_retained_cell(q->a->opened, q->what->ids[0]), .value = cell_text(line.s)});
		text_release(&line);
	}
	if (code || choice.step == p->n)
		return code;
	uint32_t holder = choice.step ? p->step[choice.step - 1] : HEAP_NONE, id = p->step[choice.step];
	text_add(&line, "cut");
	add_reference(q, holder, id, &name, &line);
	about_add(q, &(struct about_row){.part = ABOUT_CUT, .name = name.s,
	    .freed = cell_bytes(choice.freed), .value = cell_text(line.s), .object = id, .is_object = true});
	text_release(&name);
	text_release(&line);
	return 0;
}

/* Whose stacks hold an object. */
static void add_threads(struct asking *q, uint32_t id)
{
	const struct heap *h = q->a->heap;
	size_t first, n = heap_roots_of(h, id, &first), shown = 0;
	uint32_t last = HEAP_NONE;
	for (size_t i = first; i < first + n && shown < THREADS; i++) {
		const struct heap_root *root = &h->roots[i];
		if (root->thread == HEAP_NONE || root->thread == last || h->threads[root->thread].object == id)
			continue; /* that a thread holds itself tells nothing */
		last = root->thread;
		const struct heap_thread *thread = &h->threads[root->thread];
		struct about_row row = {.part = ABOUT_THREADS, .name = thread->name ? thread->name : "?"};
		if (root->frame < thread->n_frames)
			row.value = cell_text(thread->frames[root->frame]);
		else
			row.value = cell_text(root_kind_name(root->kind));
		row.object = thread->object;
		row.is_object = thread->object != HEAP_NONE;
		about_add(q, &row);
		shown++;
	}
}

/* The nearest object above all of them in the dominator tree; HEAP_NONE: there is none. */
static uint32_t common_holder(struct asking *q, struct what_if *cut)
{
	const uint32_t *immediate = q->a->known->dominators.immediate;
	uint32_t common = HEAP_NONE;
	bool any = false;
	for (size_t i = 0; i < q->what->n && !progress_stops(q->progress, i); i++) {
		uint32_t id = q->what->ids[i];
		if (immediate[id] == NOT_REACHABLE)
			continue;
		if (!any)
			common = immediate[id];
		any = true;
		while (common < NOT_REACHABLE && (common == id || !what_if_below(cut, id, common)))
			common = immediate[common];
		if (common >= NOT_REACHABLE)
			return HEAP_NONE;
	}
	return any && !progress_cancelled(q->progress) ? common : HEAP_NONE;
}

/* The path to the object, or to what keeps all of several alive; p->n 0: there is none. */
static int add_path(struct asking *q, struct what_if *cut, struct path *p, struct err *err)
{
	bool one = q->what->n == 1;
	uint32_t id = one ? q->what->ids[0] : cut && !q->quick ? common_holder(q, cut) : HEAP_NONE;
	if (id == HEAP_NONE)
		return 0;
	int code = path_search(p, &q->a->rules, id, q->quick ? QUICK_EFFORT : WHOLE_EFFORT, q->progress, err);
	if (code)
		return code;
	if (p->n) {
		struct seen_path s;
		code = see(q, &s, p, err);
		if (!code)
			add_steps(q, cut, &s);
		if (!code && !s.seen.step[s.first])
			add_threads(q, p->step[0]);
		path_fold_release(&s.seen);
	} else if (one) {
		about_add(q, &(struct about_row){.part = ABOUT_PATH, .name = p->gave_up ?
		    "too far from a root (use path)" : "nothing: no strong path from a root"});
	}
	return code;
}

/* --- referrers by class ------------------------------------------------------------------------- */

/* What most of many are, by Boyer and Moore's vote. */
struct majority {
	uint32_t id;
	uint64_t n, votes;
};

static void majority_add(struct majority *m, uint32_t id)
{
	m->n++;
	m->id = m->votes ? m->id : id;
	m->votes += m->id == id ? 1 : UINT64_MAX;
}

/* Whose votes alone are more than half, for that is most of them; else another. */
static uint32_t majority_or(const struct majority *m, uint32_t other)
{
	return m->id != HEAP_NONE && m->votes > m->n / 2 ? m->id : other;
}

/* References of one class's instances, or of one class object's, to the objects asked about. */
struct kind {
	uint64_t n;
	uint32_t holder, target; /* the first of them */
	struct majority of;      /* their holders */
};

/* By class index; behind them class objects, by the class that they stand for. */
static size_t kind_of(const struct heap *h, uint32_t holder)
{
	uint32_t class = heap_class_mirrored(h, holder);
	return class == HEAP_NONE ? heap_class_index(h, holder) : (size_t)h->n_classes + class;
}

typedef bool each_reference(void *context, uint32_t holder, uint32_t target); /* false: enough */

/* Every reference that counts, to the first `most` of the objects. */
static bool each(const struct asking *q, size_t most, each_reference *take, void *context)
{
	const struct heap *h = q->a->heap;
	const struct weak_references *left_out = q->a->known ? q->a->known->model.left_out : NULL;
	for (size_t i = 0; i < q->what->n && i < most; i++) {
		uint32_t id = q->what->ids[i];
		uint64_t end = adjacency_start(&h->in, id + 1);
		for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
			uint32_t holder = h->in.target[k];
			if (k % LOOK_EVERY == 0 && progress_cancelled(q->progress))
				return false;
			if (!weak_is(left_out, holder, id) && !take(context, holder, id))
				return true;
		}
		if (i % LOOK_EVERY == 0 && progress_cancelled(q->progress))
			return false;
	}
	return true;
}

struct counting {
	const struct heap *heap;
	struct kind *kind;
};

static bool count(void *context, uint32_t holder, uint32_t target)
{
	struct counting *c = context;
	struct kind *k = &c->kind[kind_of(c->heap, holder)];
	if (!k->n++) {
		k->holder = holder;
		k->target = target;
	}
	majority_add(&k->of, holder);
	return true;
}

struct labelling {
	struct asking *q;
	size_t kind;
	unsigned asked;
	bool differ;
	struct text label;
};

static bool label(void *context, uint32_t holder, uint32_t target)
{
	struct labelling *l = context;
	if (kind_of(l->q->a->heap, holder) != l->kind)
		return true;
	struct text t = TEXT_INIT;
	heap_reference_label(&l->q->a->rules, holder, target, true, &t);
	heap_label_fold(&t);
	if (!l->asked)
		text_add(&l->label, t.s ? t.s : "");
	else
		l->differ |= strcmp(l->label.s, t.s ? t.s : "") != 0;
	text_release(&t);
	return ++l->asked < LABELS && !l->differ;
}

/* By what the collections are held that all holders of a kind are parts of. */
struct collecting {
	struct asking *q;
	size_t kind;
	uint64_t n;
	uint32_t holder, first, last; /* the last holder, the first and the last collection */
	struct majority of; /* the collections that holders are parts of */
	bool fails, differ; /* not all by one name; of several collections */
	struct text label;
};

static bool collect(void *context, uint32_t holder, uint32_t target)
{
	struct collecting *c = context;
	(void)target;
	if (kind_of(c->q->a->heap, holder) != c->kind)
		return true;
	if (c->n++ && holder == c->holder)
		return true;
	c->holder = holder;
	uint32_t id = about_collection_of(c->q, holder);
	struct text label = TEXT_INIT;
	majority_add(&c->of, id);
	c->fails |= id == HEAP_NONE || c->n > COLLECTED_MOST;
	if (!c->fails && id != c->last) {
		c->fails = !about_collection_label(c->q, id, &label) ||
		    (c->label.len && !about_collection_common(&c->label, &label));
		if (!c->label.len)
			text_add(&c->label, label.len ? label.s : "");
		c->differ |= c->last != HEAP_NONE;
		c->first = c->first == HEAP_NONE ? id : c->first;
		c->last = id;
	}
	text_release(&label);
	return !c->fails || (!c->q->quick && c->n <= COLLECTED_MOST);
}

/* False: they have not one name. */
static bool name_collection(struct asking *q, size_t kind, const struct kind *k, struct collecting *c)
{
	*c = (struct collecting){.q = q, .kind = kind, .first = HEAP_NONE, .last = HEAP_NONE, .label = TEXT_INIT};
	bool some = q->what->n == 1 || (q->quick && q->what->n > QUICK_MEMBERS);
	if (some || q->what->every_step || kind >= q->a->heap->n_classes || about_collection_of(q, k->holder) == HEAP_NONE)
		return false;
	return each(q, SIZE_MAX, collect, c) && !c->fails && c->label.len;
}

struct gathering {
	const struct heap *heap;
	size_t kind;
	struct what_if_edges edges;
	struct err *err;
	int code;
};

static bool gather(void *context, uint32_t holder, uint32_t target)
{
	struct gathering *g = context;
	if (kind_of(g->heap, holder) == g->kind)
		g->code = what_if_edges_add(&g->edges, holder, target, g->err);
	return !g->code;
}

/* What goes when all references of a kind are cleared. */
static int freed_by(struct asking *q, size_t kind, struct cell *out, struct err *err)
{
	struct gathering g = {.heap = q->a->heap, .kind = kind, .err = err};
	struct what_if_loss loss;
	int code = each(q, SIZE_MAX, gather, &g) ? g.code : err_cancelled(err);
	if (!code)
		code = what_if_find(&loss, &q->a->known->model, &g.edges, NULL, 0, q->progress, err);
	if (!code) {
		*out = cell_bytes(loss.bytes);
		what_if_loss_release(&loss);
	}
	what_if_edges_release(&g.edges);
	return code;
}

/* sessions["session-7"] becomes sessions[…]. */
static void fold_keys(struct text *t)
{
	char *old = text_take(t);
	for (const char *s = old; s && *s; s++) {
		const char *end = strncmp(s, "[\"", 2) ? NULL : strstr(s + 2, "\"]");
		text_add(t, end ? "[…]" : "");
		if (end)
			s = end + 1;
		else
			text_add_n(t, s, 1);
	}
	free(old);
}

/* "next > next > next" becomes "next*". */
static void fold_chains(struct text *t)
{
	static const char between[] = " > ";
	const size_t gap = sizeof between - 1;
	char *old = text_take(t);
	for (const char *s = old; s && *s;) {
		const char *end = strstr(s, between);
		size_t n = end ? (size_t)(end - s) : strlen(s), times = 1;
		const char *next = end ? end + gap : s + n;
		while (!strncmp(next, s, n) && (!next[n] || !strncmp(next + n, between, gap))) {
			next += next[n] ? n + gap : n;
			times++;
			if (!*next)
				break;
		}
		text_add(t, t->len ? between : "");
		text_add_n(t, s, n);
		text_add(t, times > 1 ? "*" : "");
		s = next;
	}
	free(old);
}

/* In one line how a holder is reached itself; nothing if that takes long. */
static int path_to(struct asking *q, uint32_t id, struct text *to, struct err *err)
{
	struct path p = {.n = 0};
	int code = path_search(&p, &q->a->rules, id, QUICK_EFFORT, q->progress, err);
	static const char end[] = " > this";
	if (!code && p.n == 1) {
		path_root_words(q->a->heap, id, to);
	} else if (!code && p.n) {
		bool named;
		if (q->what->every_step)
			path_line(&q->a->rules, &p, to);
		else
			code = path_fold_line(&named, &q->a->plumbing, &q->a->rules, &p, to, err);
		heap_label_fold(to);
		fold_keys(to);
		fold_chains(to);
		if (to->len > sizeof end && !strcmp(to->s + to->len - (sizeof end - 1), end))
			to->s[to->len -= sizeof end - 1] = 0;
	}
	path_release(&p);
	return code;
}

/* "Object[][…]", which reads like an array of arrays, becomes "[…] of Object[]". */
static void name_element_first(struct text *t)
{
	static const char element[] = "[][…]";
	const size_t n = sizeof element - 1;
	if (t->len <= n || strcmp(t->s + t->len - n, element) != 0)
		return;
	char *old = text_take(t);
	text_addf(t, "[…] of %.*s[]", (int)(strlen(old) - n), old);
	free(old);
}

static int add_kind(
    struct asking *q, struct what_if *cut, size_t number, const struct kind *k, bool may_cut, struct err *err)
{
	const struct heap *h = q->a->heap;
	size_t most = q->quick ? QUICK_MEMBERS : SIZE_MAX;
	struct labelling l = {.q = q, .kind = number, .label = TEXT_INIT};
	struct about_row row = {.part = ABOUT_HOLDERS};
	struct text path = TEXT_INIT, line = TEXT_INIT;
	struct collecting c = {.label = TEXT_INIT};
	int code = each(q, most, label, &l) ? 0 : err_cancelled(err);
	bool collections = !code && name_collection(q, number, k, &c), one = collections && !c.differ;
	struct amount n = amount_exact(k->n);
	if (q->what->n > most)
		n = amount_weaken(n, LOWER_BOUND, REASON_NOT_FOUND_YET);
	row.references = cell_count(heap_counted(h, n.n));
	row.references.amount = amount_as_sure(row.references.amount, n);
	bool class = number >= h->n_classes;
	name_element_first(&l.label);
	row.name = collections ? c.label.s : l.differ || !l.label.len ?
	    heap_brief_name(h, h->classes[class ? number - h->n_classes : number].name) : l.label.s;
	if (!code && !q->quick)
		code = path_to(q, collections ? c.first : majority_or(&c.of, majority_or(&k->of, k->holder)), &path, err);
	if (path.len)
		row.value = cell_text(path.s);
	if (k->n == 1 || class || one) {
		row.object = one ? c.first : k->holder;
		row.is_object = true;
	} else if (q->what->n == 1) {
		references_line(&line, h, q->what->ids[0], DIRECTION_IN, heap_class_index(h, k->holder));
		row.command = line.s;
	} else {
		about_class_line(q->a, heap_class_index(h, k->holder), &line);
		row.command = line.s;
	}
	if (k->n == 1) {
		if (cut)
			row.freed = cell_bytes(what_if_one(cut, k->holder, k->target).freed);
	} else if (!code && may_cut && cut && k->n <= EDGES_MOST) {
		code = freed_by(q, number, &row.freed, err);
	}
	if (!code)
		about_add(q, &row);
	text_release(&c.label);
	text_release(&l.label);
	text_release(&path);
	text_release(&line);
	return code;
}

/* The kinds with the most references. */
static size_t largest_kinds(const struct kind *kinds, size_t n, size_t *to)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++) {
		if (!kinds[i].n)
			continue;
		size_t at = found < KINDS ? found++ : KINDS;
		for (; at > 0 && kinds[to[at - 1]].n < kinds[i].n; at--) {
			if (at < KINDS)
				to[at] = to[at - 1];
		}
		if (at < KINDS)
			to[at] = i;
	}
	return found;
}

static int add_kinds(struct asking *q, struct what_if *cut, struct err *err)
{
	const struct heap *h = q->a->heap;
	size_t n = 2 * (size_t)h->n_classes, shown[KINDS], rest = 0;
	struct counting c = {h, big_alloc(n, sizeof *c.kind, err)};
	if (!c.kind)
		return ERR_NOMEM;
	memset(c.kind, 0, n * sizeof *c.kind);
	int code = each(q, q->quick ? QUICK_MEMBERS : SIZE_MAX, count, &c) ? 0 : err_cancelled(err);
	size_t found = code ? 0 : largest_kinds(c.kind, n, shown);
	for (size_t i = 0; i < n; i++)
		rest += c.kind[i].n != 0;
	/* one reference alone is the path's last step, and stands there */
	bool told = q->what->n == 1 && found == 1 && c.kind[shown[0]].n == 1;
	for (size_t i = 0; !told && !code && i < found; i++)
		code = add_kind(q, cut, shown[i], &c.kind[shown[i]], !q->quick && i < KINDS_CUT, err);
	if (!code && rest > found) {
		struct text words = TEXT_INIT;
		text_addf(&words, "and %zu other class%s", rest - found, rest - found == 1 ? "" : "es");
		about_add(q, &(struct about_row){.part = ABOUT_HOLDERS, .name = words.s, .rest = rest - found});
		text_release(&words);
	}
	big_free(c.kind);
	return code;
}

int about_add_holders(struct asking *q, struct err *err)
{
	struct what_if *cut = NULL;
	int code = q->a->known ? about_cutter(q->a, &cut, err) : 0;
	if (code || !q->what->n)
		return code;
	struct path p = {.n = 0};
	code = add_path(q, cut, &p, err);
	if (!code)
		code = add_kinds(q, cut, err);
	if (!code && cut)
		code = add_best_cut(q, cut, &p, err);
	path_release(&p);
	if (!code && q->has_loss)
		about_add(q, &(struct about_row){.part = ABOUT_CUT, .name = "every reference to them",
		    .freed = cell_bytes(q->loss.bytes)});
	return code;
}
