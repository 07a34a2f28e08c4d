/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findings.c - the table of what can be found of an opened dump: see opened.h. */
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "heap/open.h"
#include "heap/weak.h"
#include "opened/opened.h"

static int find_references(struct opened *o, struct progress *progress, struct err *err)
{
	int code = heap_waits(o->heap) ? heap_read_rest(o->own, progress, err) : 0;
	opened_settle_model(o);
	return code ? code : opened_references(o, err);
}

static int find_referrers(struct opened *o, struct progress *progress, struct err *err)
{
	return o->heap->referrers_wait ? heap_list_referrers(o->own, progress, err) : 0;
}

static int find_sizes(struct opened *o, struct progress *progress, struct err *err)
{
	return retained_find(&o->retained, &o->model, progress, err);
}

static int find_tree(struct opened *o, struct progress *progress, struct err *err)
{
	return retained_list(&o->retained, progress, err);
}

static int find_retained(struct opened *o, struct progress *progress, struct err *err)
{
	int code = opened_find(o, FIND_REFERRERS, progress, err);
	return code ? code : retained_complete(&o->retained, progress, err);
}

static void release_retained(struct opened *o)
{
	retained_release(&o->retained);
}

static void release_sums(struct opened *o)
{
	retained_release(&o->sums);
}

static int find_reachable(struct opened *o, struct progress *progress, struct err *err)
{
	return reachable_from_roots(&o->reachable, &o->model, progress, err);
}

static void release_reachable(struct opened *o)
{
	reachable_release(&o->reachable);
}

static int find_maybe_live(struct opened *o, struct progress *progress, struct err *err)
{
	progress_phase(progress, PHASE_FIND_UNRECORDED, 0);
	return maybe_live_find(&o->maybe_live, &o->model, &o->reachable.objects, err);
}

static void release_maybe_live(struct opened *o)
{
	maybe_live_release(&o->maybe_live);
}

static int grow(struct opened *o, bool weak, struct progress *progress, struct err *err)
{
	struct path_rules rules;
	int code = path_rules_init(&rules, o->heap, weak, err);
	if (code)
		return code;
	code = path_tree_grow(weak ? &o->weak_paths : &o->paths, &rules, HEAP_NONE, progress, err);
	path_rules_release(&rules);
	return code;
}

static int find_paths(struct opened *o, struct progress *progress, struct err *err)
{
	return grow(o, false, progress, err);
}

static int find_weak_paths(struct opened *o, struct progress *progress, struct err *err)
{
	return grow(o, true, progress, err);
}

static void release_paths(struct opened *o)
{
	path_tree_release(&o->paths);
}

static void release_weak_paths(struct opened *o)
{
	path_tree_release(&o->weak_paths);
}

static int find_path_keys(struct opened *o, struct progress *progress, struct err *err)
{
	return path_keys_find(&o->path_keys, &o->retained, o->heap->soft_and_weak, progress, err);
}

static void release_path_keys(struct opened *o)
{
	path_keys_release(&o->path_keys);
}

/* In an order in which each needs only what is before it. */
static const struct {
	enum finding needs;
	int (*find)(struct opened *o, struct progress *progress, struct err *err); /* whole, or nothing */
	void (*release)(struct opened *o); /* NULL: it is released with what it needs */
	bool of_all; /* it does not depend on the model: shortest paths leave weak references out by a rule of their own */
} table[FINDINGS] = {
    [FIND_REFERENCES] = {FIND_NOTHING, find_references, NULL, true},
    [FIND_REFERRERS] = {FIND_REFERENCES, find_referrers, NULL, true},
    [FIND_SIZES] = {FIND_REFERENCES, find_sizes, release_retained, false},
    [FIND_TREE] = {FIND_SIZES, find_tree, NULL, false},
    [FIND_RETAINED] = {FIND_TREE, find_retained, NULL, false},
    [FIND_CLASS_SUMS] = {FIND_RETAINED, NULL, release_sums, false}, /* read_class_sums finds it otherwise */
    [FIND_REACHABLE] = {FIND_REFERENCES, find_reachable, release_reachable, false},
    [FIND_MAYBE_LIVE] = {FIND_REACHABLE, find_maybe_live, release_maybe_live, false},
    [FIND_PATHS] = {FIND_REFERENCES, find_paths, release_paths, true},
    [FIND_WEAK_PATHS] = {FIND_REFERENCES, find_weak_paths, release_weak_paths, true},
    [FIND_PATH_KEYS] = {FIND_RETAINED, find_path_keys, release_path_keys, false},
};

bool opened_found(const struct opened *o, enum finding what)
{
	return o && (o->found[what] || what == FIND_NOTHING || (what == FIND_CLASS_SUMS && o->found[FIND_RETAINED]));
}

bool opened_needs(enum finding what, enum finding that)
{
	while (what != that && what != FIND_NOTHING)
		what = table[what].needs;
	return what == that;
}

int opened_find(struct opened *o, enum finding what, struct progress *progress, struct err *err)
{
	if (what == FIND_CLASS_SUMS)
		opened_read_class_sums(o);
	if (opened_found(o, what))
		return 0;
	int code = opened_find(o, table[what].needs, progress, err);
	if (code || !table[what].find)
		return code;
	code = table[what].find(o, progress, err);
	o->found[what] = !code;
	return code;
}

void opened_forget(struct opened *o, bool all)
{
	for (enum finding i = FINDINGS; i-- > FIND_NOTHING;) {
		if ((all || !table[i].of_all) && atomic_exchange(&o->found[i], false) && table[i].release)
			table[i].release(o);
	}
}

void opened_take_retained(struct opened *o, struct retained *found)
{
	if (atomic_exchange(&o->found[FIND_SIZES], false)) {
		o->found[FIND_TREE] = o->found[FIND_RETAINED] = false;
		retained_release(&o->retained);
	}
	o->retained = *found;
	o->found[FIND_SIZES] = o->found[FIND_TREE] = o->found[FIND_RETAINED] = true;
}

/* --- what was found ----------------------------------------------------------------------------- */

const struct retained *opened_sizes(const struct opened *o)
{
	return opened_found(o, FIND_SIZES) ? &o->retained : NULL;
}

const struct retained *opened_tree(const struct opened *o)
{
	return opened_found(o, FIND_TREE) ? &o->retained : NULL;
}

const struct retained *opened_retained(const struct opened *o)
{
	return opened_found(o, FIND_RETAINED) ? &o->retained : NULL;
}

const struct retained *opened_class_sums(const struct opened *o)
{
	const struct retained *known = opened_retained(o);
	return known ? known : opened_found(o, FIND_CLASS_SUMS) ? &o->sums : NULL;
}

bool opened_has_class_sums(const struct opened *o)
{
	return opened_class_sums(o) || retained_saved(&o->model);
}

void opened_read_class_sums(struct opened *o)
{
	struct err err = ERR_INIT;
	if (!opened_class_sums(o) && retained_saved(&o->model))
		o->found[FIND_CLASS_SUMS] = !retained_read_sums(&o->sums, &o->model, &err); /* released where it fails */
}

const struct reachable *opened_reachable(const struct opened *o)
{
	return opened_found(o, FIND_REACHABLE) ? &o->reachable : NULL;
}

const struct maybe_live *opened_maybe_live(const struct opened *o)
{
	return opened_found(o, FIND_MAYBE_LIVE) ? &o->maybe_live : NULL;
}

const struct path_tree *opened_path_tree(const struct opened *o, bool weak)
{
	return !opened_found(o, weak ? FIND_WEAK_PATHS : FIND_PATHS) ? NULL : weak ? &o->weak_paths : &o->paths;
}

const struct path_keys *opened_path_keys(const struct opened *o)
{
	return opened_found(o, FIND_PATH_KEYS) ? &o->path_keys : NULL;
}

/* --- an index of it ----------------------------------------------------------------------------- */

int opened_write(struct opened *o, struct progress *progress, struct nameless *names, struct chunks_writer *w,
    struct err *err)
{
	int code = opened_find(o, FIND_REACHABLE, progress, err);
	progress_phase(progress, PHASE_WRITE_INDEX, 0);
	if (!code)
		code = index_file_write(o->heap, names, w, err);
	if (!code)
		code = weak_write(o->heap, w, err);
	if (!code && opened_retained(o) && model_is_default(&o->model))
		code = retained_write(&o->retained, w, err);
	if (!code && model_is_default(&o->model))
		code = reachable_write(&o->reachable, o->heap, w, err);
	return code;
}
