/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_tree.c - shortest paths to all objects, searched forward from where paths begin.
 *
 * The search goes level by level, and through each level in the order of ids, so the first holder
 * that reaches an object is the one with the lowest id.  Any thread.
 */
#include "analysis/paths/paths.h"

#include "analysis/describe/describe.h"
#include "analysis/levels.h"
#include "base/assert.h"
#include "base/text.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "heap/weak.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum {
	AHEAD = 16,           /* objects whose references are asked for early */
	CANCEL_EVERY = 1 << 14,
	LINE_STEPS = 64,      /* of a path, shown in a line */
};

struct growth {
	const struct path_rules *rules;
	const struct heap *heap;
	struct path_tree *tree;
	uint32_t to;
	struct levels levels;
};

static inline void reach(struct growth *g, uint32_t id, uint32_t parent)
{
	if (g->tree->parent[id])
		return;
	if (g->rules->bars && bits_get(&g->rules->barred, id))
		return;
	if (g->rules->not_directly && id == g->to && parent == g->rules->from + 1)
		return;
	g->tree->parent[id] = parent;
	levels_meet(&g->levels, id);
}

static void reach_implied(struct growth *g, uint32_t id)
{
	const struct heap *h = g->heap;
	const struct heap_class *c = heap_class_of(h, id);
	if (c->object != HEAP_NONE)
		reach(g, c->object, id + 1);
	if (heap_class_index(h, id) == h->java_lang_class) {
		struct implied_reference implied[HEAP_IMPLIED];
		unsigned n = heap_implied(h, id, implied);
		for (unsigned i = 0; i < n; i++)
			reach(g, implied[i].target, id + 1);
	}
	if (c->makes_loaders || id == h->boot_loader) {
		const uint32_t *loaded;
		uint32_t n = heap_loaded_classes(h, id, &loaded);
		for (uint32_t i = 0; i < n; i++) {
			if (h->classes[loaded[i]].object != HEAP_NONE)
				reach(g, h->classes[loaded[i]].object, id + 1);
		}
	}
}

static void reach_all(struct growth *g, uint32_t id)
{
	const struct path_rules *r = g->rules;
	const struct heap *h = g->heap;
	uint64_t end = adjacency_start(&h->out, id + 1);
	bool weak = r->not_followed && bits_get(&r->not_followed->holders, id);
	for (uint64_t k = adjacency_start(&h->out, id); k < end; k++) {
		if (!weak || !path_is_weak(r, id, h->out.target[k]))
			reach(g, h->out.target[k], id + 1);
	}
	reach_implied(g, id);
}

static void ask_ahead(const struct growth *g, uint32_t at)
{
	const struct heap *h = g->heap;
	if (at + 2 * AHEAD < g->levels.n) {
		__builtin_prefetch(&h->out.offset[g->levels.queue[at + 2 * AHEAD]]);
		heap_prefetch_class_index(h, g->levels.queue[at + 2 * AHEAD]);
	}
	if (at + AHEAD < g->levels.n)
		__builtin_prefetch(&h->out.target[adjacency_start(&h->out, g->levels.queue[at + AHEAD])]);
}

static int grow(struct growth *g, struct progress *progress, struct err *err)
{
	const struct path_rules *r = g->rules;
	uint32_t at = 0, to = g->to;
	if (r->from != HEAP_NONE)
		reach(g, r->from, PATH_START);
	for (size_t i = 0; r->from == HEAP_NONE && i < g->heap->n_roots; i++) {
		if (g->heap->roots[i].object != to || !r->not_itself)
			reach(g, g->heap->roots[i].object, PATH_START);
	}
	while (at < g->levels.n) {
		levels_order(&g->levels, at);
		for (uint32_t end = g->levels.n; at < end; at++) {
			ask_ahead(g, at);
			reach_all(g, g->levels.queue[at]);
			if (at % CANCEL_EVERY == 0 && !progress_add(progress, CANCEL_EVERY))
				return err_cancelled(err);
		}
		if (to != HEAP_NONE && g->tree->parent[to])
			break;
	}
	g->tree->reached = g->levels.n;
	return 0;
}

int path_tree_grow(struct path_tree *out, const struct path_rules *r, uint32_t to,
    struct progress *progress, struct err *err)
{
	struct growth g = {.rules = r, .heap = r->heap, .tree = out, .to = to};
	uint32_t n = r->heap->n_objects;
	*out = (struct path_tree){.n = n};
	progress_phase(progress, PHASE_FOLLOW_REFERENCES, n);
	out->parent = big_alloc(n, sizeof *out->parent, err);
	int code = out->parent ? levels_init(&g.levels, n, err) : ERR_NOMEM;
	bool barred = to != HEAP_NONE && bits_get(&r->barred, to);
	/* the object itself is what is asked for, whatever its class */
	if (barred)
		r->barred.word[to >> 6] &= ~(UINT64_C(1) << (to & 63));
	if (!code)
		code = grow(&g, progress, err);
	if (barred)
		r->barred.word[to >> 6] |= UINT64_C(1) << (to & 63);
	levels_release(&g.levels);
	if (code)
		path_tree_release(out);
	return code;
}

void path_tree_release(struct path_tree *t)
{
	big_free(t->parent);
	*t = (struct path_tree){.n = 0};
}

int path_tree_path(const struct path_tree *t, uint32_t to, struct path *out, struct err *err)
{
	size_t n = 0;
	*out = (struct path){.n = 0};
	if (!t->parent[to])
		return 0;
	for (uint32_t id = to;; id = t->parent[id] - 1) {
		n++;
		cairn_assert(t->parent[id] && n <= t->n);
		if (t->parent[id] == PATH_START)
			break;
	}
	out->step = big_alloc(n, sizeof *out->step, err);
	if (!out->step)
		return ERR_NOMEM;
	out->n = n;
	for (uint32_t id = to; n; id = t->parent[id] - 1)
		out->step[--n] = id;
	return 0;
}

/* --- in words ----------------------------------------------------------------------------------- */

/* A name that is not that of a reference's referent. */
static bool strong_field(const struct heap *h, uint32_t holder, uint32_t target, struct text *to)
{
	struct reference_names names;
	reference_names_begin(&names, h, holder);
	struct text name = TEXT_INIT;
	bool found = false;
	while (!found) {
		text_clear(&name);
		if (!reference_names_next(&names, target, &name))
			break;
		found = strcmp(name.s, "referent") != 0;
	}
	if (found)
		text_add(to, name.s);
	text_release(&name);
	return found;
}

static bool recorded_field(
    const struct path_rules *r, uint32_t holder, uint32_t target, struct text *to)
{
	return r->not_followed && bits_get(&r->not_followed->holders, holder) ?
	    strong_field(r->heap, holder, target, to) :
	    first_name(r->names, r->heap, holder, target, to);
}

bool path_field(const struct path_rules *r, uint32_t holder, uint32_t target, struct text *to)
{
	const struct heap *h = r->heap;
	struct implied_reference implied[HEAP_IMPLIED];
	if (recorded_field(r, holder, target, to))
		return true;
	unsigned n = heap_implied(h, holder, implied);
	for (unsigned i = 0; i < n; i++) {
		if (implied[i].target != target)
			continue;
		text_add(to, implied[i].field);
		return true;
	}
	uint32_t class = heap_class_mirrored(h, target);
	uint64_t end = adjacency_start(&h->out, holder + 1);
	if (class == HEAP_NONE || !heap_loader_holds(h, class) || h->classes[class].loader != holder)
		return false;
	/* recorded, but in a place without a name */
	for (uint64_t k = adjacency_start(&h->out, holder); k < end; k++) {
		if (h->out.target[k] == target)
			return false;
	}
	text_add(to, "<loaded>");
	return true;
}

void path_one_root_words(const struct heap *h, const struct heap_root *root, struct text *to)
{
	bool variable = root->kind == ROOT_DATA || root->kind == ROOT_BSS;
	if (variable && heap_symbol(h, root->slot, to))
		return;
	text_add(to, root_kind_name(root->kind));
	if (variable) {
		text_addf(to, ", 0x%llx", (unsigned long long)root->slot);
		return;
	}
	if (root->thread == HEAP_NONE || root->kind == ROOT_THREAD)
		return;
	const struct heap_thread *thread = &h->threads[root->thread];
	if (thread->name)
		text_addf(to, ", thread \"%s\"", thread->name);
	if (root->frame < thread->n_frames)
		text_addf(to, ", %s", thread->frames[root->frame]);
}

void path_root_words(const struct heap *h, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first);
	if (n)
		path_one_root_words(h, &h->roots[first], to);
	if (n > 1)
		text_addf(to, " (and %zu more)", n - 1);
}

const char *path_static_name(const char *field)
{
	static const char statics[] = "static ";
	return strncmp(field, statics, sizeof statics - 1) ? NULL : field + sizeof statics - 1;
}

bool path_add_variable(const struct heap *h, uint32_t id, struct text *to)
{
	size_t first, n = heap_roots_of(h, id, &first);
	for (size_t i = first; i < first + n; i++) {
		const struct heap_root *root = &h->roots[i];
		if ((root->kind == ROOT_DATA || root->kind == ROOT_BSS) &&
		    heap_symbol(h, root->slot, to))
			return true;
	}
	return false;
}

bool path_line(const struct path_rules *r, const struct path *p, struct text *to)
{
	const struct heap *h = r->heap;
	struct text field = TEXT_INIT;
	size_t low = p->n > LINE_STEPS ? p->n - LINE_STEPS : 0, begin = low;
	bool statics = false, variable = false;
	for (size_t i = low; i + 1 < p->n; i++) {
		text_clear(&field);
		if (path_field(r, p->step[i], p->step[i + 1], &field) && path_static_name(field.s)) {
			begin = i;
			statics = true;
		}
	}
	if (low && !statics) { /* the root, and the end of a long way */
		uint32_t root = p->step[0], class = heap_class_mirrored(h, root);
		text_addf(to, "%s%s > … > ", class != HEAP_NONE ? "class " : "",
		    class != HEAP_NONE ? h->classes[class].name : heap_class_of(h, root)->name);
	}
	for (size_t i = begin; i < p->n; i++) {
		uint32_t class = heap_class_mirrored(h, p->step[i]);
		text_clear(&field);
		bool named = i > begin && path_field(r, p->step[i - 1], p->step[i], &field);
		bool last = i + 1 == p->n, of_class = named && path_static_name(field.s);
		if (i == begin && last)
			text_add(to, "this");
		else if (i == begin && class != HEAP_NONE)
			text_addf(to, "%s %s", statics ? "static" : "class", h->classes[class].name);
		else if (i == 0 && (variable = path_add_variable(h, p->step[i], to)))
			continue;
		else if (i == begin)
			text_add(to, heap_class_of(h, p->step[i])->name);
		else if (of_class)
			text_addf(to, ".%s", path_static_name(field.s));
		else if (named && class != HEAP_NONE && !strcmp(field.s, "<loaded>"))
			text_addf(to, " > <loaded %s>", h->classes[class].name);
		else if (named || !last)
			text_addf(to, " > %s", named ? field.s : heap_class_of(h, p->step[i])->name);
		if (i > begin && last)
			text_add(to, " > this");
	}
	text_release(&field);
	return statics || variable;
}
