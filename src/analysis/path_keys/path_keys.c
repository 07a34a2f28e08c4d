/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_keys.c - walks the heap level by level, as path_tree.c does, and gives every object the signature of
 * the way on which it is reached.
 *
 * Objects of one level are visited by id, so that their records are read in the dump's order.  An object
 * that a level reaches on several ways gets the one that comes first.
 */
#include "analysis/path_keys/path_key_list.h"

#include "algorithms/map.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/levels.h"
#include "base/memory_refusals.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/roots.h"
#include "heap/string.h"
#include "heap/threads.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum {
	CANCEL_EVERY = 1 << 14,
	PERIOD_MOST = 8,  /* steps that are looked at for coming again */
};

/* A step from a signature: what it leads to. */
struct step {
	uint32_t from, field, class_rank; /* of a start: its kind, the number of its words */
	uint32_t to;
};

struct walk {
	struct path_keys *out;
	const struct heap *heap;
	const struct weak_references *weak;
	size_t cap;          /* of out->list */
	struct step *step;
	uint32_t n_steps;
	size_t cap_steps;
	struct map map;
	uint32_t last;       /* the step found last, or n_steps */
	struct levels levels;
	struct text scratch, name;
	struct progress *progress;
};

/* --- signatures --------------------------------------------------------------------------------- */

static uint64_t hash_step_key(const struct step *s)
{
	return hash_step(hash_step(hash_number(s->from), s->field), s->class_rank);
}

static bool same_step(const struct step *a, const struct step *b)
{
	return a->from == b->from && a->field == b->field && a->class_rank == b->class_rank;
}

MAP(steps, const struct step *, const struct step *, map_element, hash_step_key, same_step)

static uint32_t rank_of(const struct heap *h, uint32_t class)
{
	return class == HEAP_NONE ? HEAP_NONE : h->classes[class].name_rank;
}

/* Find the step, or make it lead to PATH_KEY_NONE. */
static struct step *step_of(struct walk *w, uint32_t from, uint32_t field, uint32_t rank, struct err *err)
{
	struct step *s = w->last < w->n_steps ? w->step + w->last : NULL, key = {from, field, rank, PATH_KEY_NONE};
	if (s && same_step(s, &key))
		return s;
	uint32_t *slot = steps_enter(&w->map, w->step, w->n_steps, &key, err);
	if (!slot)
		return NULL;
	if (!*slot) {
		size_t n = w->n_steps;
		if (!(s = BIG_PUSH(w->step, n, w->cap_steps, err)))
			return NULL;
		*s = key;
		*slot = ++w->n_steps;
	}
	return w->step + (w->last = *slot - 1);
}

static int add_signature(struct walk *w, const struct path_key *like, struct err *err)
{
	size_t n = w->out->n;
	if (BIG_ADD(w->out->list, n, w->cap, err, *like))
		return ERR_NOMEM;
	w->out->n++;
	return 0;
}

/* Where the last steps of a way are as the same number of steps before them, so is the further one: the
 * signature that it comes back to.  PATH_KEY_NONE: it does not. */
static uint32_t comes_again(const struct walk *w, uint32_t from, uint32_t field, uint32_t rank)
{
	const struct path_key *list = w->out->list;
	uint32_t way[2 * PERIOD_MOST], n = 0;
	for (uint32_t at = from; at != PATH_KEY_NONE && n < 2 * PERIOD_MOST; at = list[at].parent)
		way[n++] = at;
	for (uint32_t period = 2; period <= PERIOD_MOST && 2 * period <= n; period++) {
		uint32_t same = 0, first = way[period - 1];
		if (list[first].field != field || rank_of(w->heap, list[first].class) != rank)
			continue;
		while (same < period && list[way[same]].field == list[way[same + period]].field &&
		    list[way[same]].parent != PATH_KEY_NONE && list[way[same + period]].parent != PATH_KEY_NONE &&
		    rank_of(w->heap, list[way[same]].class) == rank_of(w->heap, list[way[same + period]].class))
			same++;
		if (same + 1 >= period)
			return first;
	}
	return PATH_KEY_NONE;
}

/* Where a step leads that was not met yet. */
static int take_step(struct walk *w, uint32_t from, uint32_t field, uint32_t class, uint32_t *to, struct err *err)
{
	uint32_t depth = w->out->list[from].depth + 1, rank = rank_of(w->heap, class);
	struct step *s;
	*to = comes_again(w, from, field, rank);
	if (*to != PATH_KEY_NONE)
		return 0;
	if (depth == PATH_KEY_DEPTH) { /* all such steps are one */
		class = rank = HEAP_NONE;
		if (numbered_names_add(w->out->names, "…", &field, err))
			return ERR_NOMEM;
	}
	s = step_of(w, from, field, rank, err);
	if (!s)
		return ERR_NOMEM;
	if (s->to == PATH_KEY_NONE) {
		struct path_key made = {.parent = from, .words = numbered_name(w->out->names, field), .field = field,
		    .class = class, .depth = depth};
		if (add_signature(w, &made, err))
			return ERR_NOMEM;
		s->to = w->out->n - 1;
	}
	*to = s->to;
	return 0;
}

/* The signature of an object of this class that is held by this field of an object of `from`. */
static int continue_with(struct walk *w, uint32_t from, uint32_t field, uint32_t class, uint32_t *to,
    struct err *err)
{
	const struct heap *h = w->heap;
	struct path_key *f = &w->out->list[from];
	uint32_t rank = rank_of(h, class);
	*to = from;
	if (f->class == HEAP_NONE)
		return 0;
	if (rank_of(h, f->class) == rank && h->classes[class].kind == CLASS_PLAIN && f->start != START_CLASS) {
		f->chain = true;
		return 0;
	}
	struct step *s = step_of(w, from, field, rank, err);
	if (!s)
		return ERR_NOMEM;
	*to = s->to;
	if (*to != PATH_KEY_NONE)
		return 0;
	if (take_step(w, from, field, class, to, err))
		return ERR_NOMEM;
	s = step_of(w, from, field, rank, err);
	if (!s)
		return ERR_NOMEM;
	s->to = *to;
	return 0;
}

/* The signature of what has objects in a field, or in an array in a field; or PATH_KEY_NONE. */
static uint32_t holder_of(const struct walk *w, uint32_t signature)
{
	const struct path_key *list = w->out->list;
	uint32_t up = list[signature].parent;
	bool array = up != PATH_KEY_NONE && list[up].class != HEAP_NONE &&
	    w->heap->classes[list[up].class].kind != CLASS_PLAIN;
	return array ? list[up].parent : up;
}

/* An object of the first signature holds another one that has its own already, that of the second.  Both are links of
 * one chain if they are of one class and group, or if one object can hold them: of two links, first and last, neither
 * is behind the other. */
static void note_chain(struct walk *w, uint32_t from, uint32_t to)
{
	struct path_key *f = &w->out->list[from];
	const struct path_key *t = &w->out->list[to];
	if (f->chain || f->class == HEAP_NONE || t->class == HEAP_NONE ||
	    w->heap->classes[f->class].name_rank != w->heap->classes[t->class].name_rank ||
	    w->heap->classes[f->class].kind != CLASS_PLAIN || f->start == START_CLASS)
		return;
	uint32_t holder = from == to ? PATH_KEY_NONE : holder_of(w, from);
	f->chain = from == to || (holder != PATH_KEY_NONE && holder == holder_of(w, to));
}

/* --- where ways begin --------------------------------------------------------------------------- */

/* May the object still get a signature, or another one? */
static inline bool open_to(const struct walk *w, uint32_t id)
{
	return w->out->of[id] == PATH_KEY_NONE || bits_get(&w->levels.next, id);
}

static void reach(struct walk *w, uint32_t id, uint32_t signature)
{
	uint32_t *of = &w->out->of[id];
	if (*of == PATH_KEY_NONE) {
		*of = signature;
		levels_meet(&w->levels, id);
	} else if (*of != signature && bits_get(&w->levels.next, id) && path_key_compare(w->out, signature, *of) < 0) {
		*of = signature;
	}
}

/* From `begin` on a thread's name without what counts threads: "http-nio-#-exec-#".  Of goroutines that is their
 * number, not what stands in the name of a function ("goroutine # main.step.gowrap1"). */
static void fold_digits(struct text *name, size_t begin)
{
	static const char goroutine[] = "goroutine ";
	if (!name->len)
		return;
	char *to = name->s + begin, *number = strstr(to, goroutine);
	const char *end = number ? number + strlen(goroutine) : NULL;
	end = end ? end + strspn(end, "0123456789") : name->s + name->len;
	for (const char *from = to; *from; to++) {
		size_t digits = from < end ? strspn(from, "0123456789") : 0;
		*to = digits ? '#' : *from;
		from += digits ? digits : 1;
	}
	*to = 0;
	name->len = (size_t)(to - name->s);
}

/* Append how the program called a loader, without what counts: "webapp-#". */
static void add_loader_name(const struct heap *h, uint32_t loader, struct text *to)
{
	enum { NAME_MOST = 200 }; /* units */
	size_t begin = to->len;
	struct values values;
	struct value name;
	if (library_usual_loader(h, loader) || values_open(&values, h, loader, NULL) ||
	    !values_as_named(&values, "java.lang.ClassLoader") || !values_field(&values, "name", &name))
		return;
	if (heap_add_string(h, &name, NAME_MOST, to))
		fold_digits(to, begin);
}

/* What tells a class from others of its name: its loader's class and name; nothing of a usual one. */
static void name_loader(struct walk *w, const struct heap_class *class)
{
	struct text *words = &w->scratch;
	text_clear(words);
	text_clear(&w->name);
	if (class->loader == HEAP_NONE || library_usual_loader(w->heap, class->loader))
		return;
	add_loader_name(w->heap, class->loader, &w->name);
	text_add(words, heap_class_of(w->heap, class->loader)->name);
	if (w->name.len)
		text_addf(words, " \"%s\"", w->name.s);
}

static int begin_at(struct walk *w, uint32_t id, enum way_start start, struct err *err)
{
	const struct heap *h = w->heap;
	uint32_t mirrored = heap_class_mirrored(h, id);
	uint32_t class = start == START_CLASS ? mirrored : heap_class_index(h, id), number;
	if (numbered_names_add(w->out->names, w->scratch.s, &number, err))
		return ERR_NOMEM;
	struct step *s = step_of(w, PATH_KEY_NONE - (uint32_t)start, number, rank_of(h, class), err);
	if (!s)
		return ERR_NOMEM;
	if (s->to == PATH_KEY_NONE) {
		struct path_key made = {.parent = PATH_KEY_NONE, .start = start,
		    .words = numbered_name(w->out->names, number), .field = number, .class = class};
		if (add_signature(w, &made, err))
			return ERR_NOMEM;
		s->to = w->out->n - 1;
	}
	reach(w, id, s->to);
	return 0;
}

static enum way_start name_root(struct walk *w, const struct heap_root *root)
{
	const struct heap *h = w->heap;
	struct text *words = &w->scratch;
	const struct heap_thread *thread = root->thread == HEAP_NONE ? NULL : &h->threads[root->thread];
	text_clear(words);
	if (thread && thread->object == root->object) {
		text_add(words, thread->name ? thread->name : "");
		fold_digits(words, 0);
		return START_THREAD;
	}
	bool variable = root->slot && heap_symbol(h, root->slot, words);
	if (variable)
		numbered_names_fold(words);
	if (!thread) {
		text_add(words, variable ? "" : root_kind_name(root->kind));
		return variable ? START_VARIABLE : START_ROOT;
	}
	size_t before = words->len;
	text_addf(words, "%s of \"%s\"", variable ? "" : "local", thread->name ? thread->name : "");
	fold_digits(words, before);
	return START_LOCAL;
}

/* At what threads' stacks hold, or at all other roots. */
static int begin_at_roots(struct walk *w, bool stacks, struct err *err)
{
	const struct heap *h = w->heap;
	int code = 0;
	for (size_t i = 0; !code && i < h->n_roots; i++) {
		const struct heap_root *root = &h->roots[i];
		enum way_start start = START_LOADER;
		if (heap_class_mirrored(h, root->object) != HEAP_NONE || (stacks && !open_to(w, root->object)))
			continue;
		text_clear(&w->scratch);
		if (heap_class_of(h, root->object)->makes_loaders)
			add_loader_name(h, root->object, &w->scratch);
		else
			start = name_root(w, root);
		if ((start == START_LOCAL) == stacks)
			code = begin_at(w, root->object, start, err);
	}
	return code;
}

static int begin_everywhere(struct walk *w, struct err *err)
{
	const struct heap *h = w->heap;
	const uint32_t *immediate = w->out->retained->dominators.immediate;
	int code = 0;
	for (uint32_t c = 0; !code && c < h->n_classes; c++) {
		uint32_t id = h->classes[c].object, loader = h->classes[c].loader;
		if (id != HEAP_NONE && immediate[id] != NOT_REACHABLE) {
			name_loader(w, &h->classes[c]);
			code = begin_at(w, id, START_CLASS, err);
		}
		if (code || loader == HEAP_NONE || immediate[loader] == NOT_REACHABLE || !open_to(w, loader))
			continue;
		text_clear(&w->scratch);
		add_loader_name(h, loader, &w->scratch);
		code = begin_at(w, loader, START_LOADER, err);
	}
	return code ? code : begin_at_roots(w, false, err);
}

/* --- the walk ----------------------------------------------------------------------------------- */

static int visit(struct walk *w, uint32_t id, struct err *err)
{
	const struct heap *h = w->heap;
	uint64_t start = adjacency_start(&h->out, id), n = adjacency_degree(&h->out, id);
	const uint32_t *target = h->out.target + start;
	bool weak = w->weak && bits_get(&w->weak->holders, id);
	struct numbered names;
	bool named = false;
	for (uint64_t k = 0; k < n; k++) {
		uint32_t to;
		if (weak && weak_is(w->weak, id, target[k]))
			continue;
		if (!open_to(w, target[k])) {
			if (target[k] != id)
				note_chain(w, w->out->of[id], w->out->of[target[k]]);
			continue;
		}
		if (!named && numbered_names_of(w->out->names, id, &names, err))
			return ERR_NOMEM;
		named = true;
		if (continue_with(w, w->out->of[id], names.each ? names.each[k] : names.all,
		    heap_class_index(h, target[k]),
		    &to, err))
			return ERR_NOMEM;
		reach(w, target[k], to);
	}
	return 0;
}

/* From number *at in the queue on. */
static int walk_levels(struct walk *w, uint32_t *at, struct err *err)
{
	int code = 0;
	while (!code && *at < w->levels.n) {
		levels_order(&w->levels, *at);
		for (uint32_t end = w->levels.n; !code && *at < end; ++*at) {
			code = visit(w, w->levels.queue[*at], err);
			if (!code && *at % CANCEL_EVERY == 0 && !progress_add(w->progress, CANCEL_EVERY))
				code = err_cancelled(err);
		}
	}
	return code;
}

/* A thread that waits for its queue has that in a variable, from which it is nearer than from the field that a person
 * would look for. */
static int walk_all(struct walk *w, struct err *err)
{
	uint32_t at = 0;
	int code = begin_everywhere(w, err);
	if (!code)
		code = walk_levels(w, &at, err);
	if (!code)
		code = begin_at_roots(w, true, err);
	return code ? code : walk_levels(w, &at, err);
}

/* ------------------------------------------------------------------------------------------------- */

int path_keys_find(struct path_keys *out, const struct retained *r, const struct weak_references *weak,
    struct progress *progress, struct err *err)
{
	const struct heap *h = r->heap;
	struct walk w = {.out = out, .heap = h, .weak = weak, .progress = progress, .scratch = TEXT_INIT,
	    .name = TEXT_INIT};
	uint64_t refusals = mem_refusals();
	*out = (struct path_keys){.retained = r};
	progress_phase(progress, PHASE_FOLLOW_REFERENCES, h->n_objects);
	int code = numbered_names_new(&out->names, h, err);
	out->of = code ? NULL : big_alloc(h->n_objects, sizeof *out->of, err);
	if (!code)
		code = out->of ? levels_init(&w.levels, h->n_objects, err) : ERR_NOMEM;
	if (!code) {
		memset(out->of, 0xff, h->n_objects * sizeof *out->of);
		code = walk_all(&w, err);
	}
	levels_release(&w.levels);
	big_free(w.step);
	map_release(&w.map);
	text_release(&w.scratch);
	text_release(&w.name);
	if (!code)
		code = path_keys_settle(out, progress, err);
	if (!code) /* they are kept, and a name may lack words */
		code = memory_refusals_check(refusals, err);
	if (code)
		path_keys_release(out);
	return code;
}
