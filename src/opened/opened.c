/* SPDX-License-Identifier: GPL-3.0-or-later */
/* opened.c - see opened.h.  Main thread only, but for what a runner does elsewhere. */
#include "opened/opened.h"

#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Which references are weak comes with the references. */
static void settle_model(struct opened *o)
{
	o->model = (struct model){.heap = o->heap, .left_out = o->counts_weak ? NULL : o->heap->weak};
}

struct opened *opened_new(const struct heap *heap)
{
	struct opened *o = xcalloc(1, sizeof *o);
	o->heap = heap;
	o->counts_weak = heap->asked.mat_sizes;
	settle_model(o);
	return o;
}

void opened_own(struct opened *o, struct heap *heap)
{
	o->own = heap;
	settle_model(o);
}

static void forget_paths(struct opened *o)
{
	for (int weak = 0; weak < 2; weak++) {
		if (atomic_exchange(&o->paths_found[weak], false))
			path_tree_release(&o->paths[weak]);
	}
}

/* What depends on which references count.  Shortest paths do not: they leave weak references out by a
 * rule of their own. */
static void forget_model(struct opened *o)
{
	o->retained_whole = o->retained_listed = o->reachable_found = o->unrecorded_found = false;
	if (o->retained.heap)
		retained_release(&o->retained);
	if (atomic_exchange(&o->sums_found, false))
		retained_release(&o->sums);
	path_keys_release(&o->signatures);
	reachable_release(&o->reachable);
	maybe_live_release(&o->unrecorded);
}

const char *opened_note(const struct opened *o, uint32_t id)
{
	for (size_t i = 0; i < o->n_notes; i++) {
		if (o->notes[i].id == id)
			return o->notes[i].text;
	}
	return NULL;
}

void opened_write_note(struct opened *o, uint32_t id, const char *text)
{
	size_t kept = 0;
	for (size_t i = 0; i < o->n_notes; i++) {
		if (o->notes[i].id == id)
			free(o->notes[i].text);
		else
			o->notes[kept++] = o->notes[i];
	}
	o->n_notes = kept;
	if (text)
		VEC_PUSH(o->notes, o->n_notes, o->cap_notes) = (struct note){id, xstrdup(text)};
}

const char *opened_columns(const struct opened *o, const char *kind)
{
	for (size_t i = 0; o && kind && i < o->n_columns; i++) {
		if (!strcmp(o->columns[i].kind, kind))
			return o->columns[i].names;
	}
	return NULL;
}

void opened_choose_columns(struct opened *o, const char *kind, const char *names)
{
	struct chosen_columns chosen = {names ? xstrdup(kind) : NULL, names ? xstrdup(names) : NULL};
	size_t kept = 0;
	for (size_t i = 0; i < o->n_columns; i++) {
		if (strcmp(o->columns[i].kind, kind)) {
			o->columns[kept++] = o->columns[i];
			continue;
		}
		free(o->columns[i].kind);
		free(o->columns[i].names);
	}
	o->n_columns = kept;
	if (names)
		VEC_PUSH(o->columns, o->n_columns, o->cap_columns) = chosen;
}

void opened_free(struct opened *o)
{
	if (!o)
		return;
	forget_model(o);
	forget_paths(o);
	name_index_free(o->names);
	for (size_t i = 0; i < o->n_sets; i++) {
		free(o->sets[i].name);
		big_free(o->sets[i].ids);
	}
	free(o->sets);
	for (size_t i = 0; i < o->n_notes; i++)
		free(o->notes[i].text);
	free(o->notes);
	for (size_t i = 0; i < o->n_columns; i++) {
		free(o->columns[i].kind);
		free(o->columns[i].names);
	}
	free(o->columns);
	heap_close(o->own);
	free(o);
}

/* --- the file ----------------------------------------------------------------------------------- */

static enum file_fate lost(struct opened *o, const char *path, uint64_t from)
{
	err_at(&o->fate_words, ERR_IO, from, "%s: the file shrank or is unreadable from byte %" PRIu64 " on: "
	    "values and strings there are missing; objects, sizes and references are complete", path, from);
	return FILE_LOST;
}

static enum file_fate changed(struct opened *o, const char *path)
{
	err_set(&o->fate_words, ERR_IO, "%s: the file was changed after loading: values and strings may be wrong", path);
	return FILE_CHANGED;
}

static enum file_fate index_lost(struct opened *o)
{
	struct text path = TEXT_INIT;
	text_add_escaped(&path, o->heap->index_path, strlen(o->heap->index_path));
	err_set(&o->fate_words, ERR_IO, "%.300s: this index was changed while in use, so no answer is valid (open "
	    "the dump again)", path.s);
	text_release(&path);
	return FILE_INDEX_LOST;
}

/* Could its bytes, which were left for later, not be had? */
static bool bytes_failed(struct opened *o)
{
	struct err why;
	if (!o->own || !lazy_dump_failed(o->heap->dump, &why))
		return false;
	err_at(&o->fate_words, ERR_IO, 0, "%s: values and strings are missing; objects, sizes and references are "
	    "complete",
	    why.message);
	return true;
}

bool opened_lose_values(struct opened *o)
{
	const struct heap *h = o->heap;
	if (!o->own || !lazy_dump_failed(h->dump, NULL) || (!values_held(h) && !h->facts.hashes_recorded))
		return false;
	heap_lose_values(o->own);
	return true;
}

enum file_fate opened_look(struct opened *o)
{
	const struct heap *h = o->heap;
	uint64_t from;
	if (o->fate == FILE_INDEX_LOST)
		return o->fate;
	if (o->own && index_file_chunks(h) && chunks_changed(index_file_chunks(h)))
		return o->fate = index_lost(o);
	if (o->fate != FILE_LOST && bytes_failed(o))
		return o->fate = FILE_LOST;
	/* while it is read the loader looks; a format without values is not read again */
	if (!o->own || !h->source || !h->dump || !h->dump->reader->locate)
		return FILE_SAME;
	bool gone = source_damage(h->source, &from);
	bool told = gone ? (o->fate == FILE_LOST && o->fate_words.offset <= from) ||
	        (h->damaged && h->damage.code == ERR_IO && h->damage.offset <= from) /* by the loader */
	                 : o->fate != FILE_SAME || !source_changed(h->source);
	if (told)
		return o->fate;
	struct text path = TEXT_INIT;
	text_add_escaped(&path, h->source->path, strlen(h->source->path));
	o->fate = gone ? lost(o, path.s, from) : changed(o, path.s);
	text_release(&path);
	return o->fate;
}

int opened_references(const struct opened *o, struct err *err)
{
	const struct heap *h = o->heap;
	if (h->no_references)
		return err_set(err, ERR_NOMEM, "the references did not fit: %s", h->shortage.message);
	if (!h->out.offset || !h->in.offset)
		return err_set(err, ERR_UNSUPPORTED, "still reading references");
	return 0;
}

static int read_rest(void *heap, struct progress *progress, struct err *err)
{
	return heap_read_rest(heap, progress, err);
}

int opened_find_references(struct opened *o, const struct runner *runner, struct err *err)
{
	if (!heap_waits(o->heap))
		return opened_references(o, err);
	int code = runner_run(runner, read_rest, o->own, err);
	settle_model(o);
	return code ? code : opened_references(o, err);
}

/* --- retained sizes ----------------------------------------------------------------------------- */

const struct retained *opened_tree(const struct opened *o)
{
	return o && o->retained_listed ? &o->retained : NULL;
}

const struct retained *opened_retained(const struct opened *o)
{
	return o && o->retained_whole ? &o->retained : NULL;
}

struct sizing {
	struct retained found;
	const struct model *model;
};

static int find_sizes(void *context, struct progress *progress, struct err *err)
{
	struct sizing *s = context;
	return retained_find(&s->found, s->model, progress, err);
}

int opened_find_sizes(struct opened *o, const struct runner *runner, const struct retained **out,
    struct err *err)
{
	int code = opened_find_references(o, runner, err);
	if (!code && !o->retained.heap) {
		struct sizing s = {.model = &o->model};
		code = runner_run(runner, find_sizes, &s, err);
		if (!code)
			o->retained = s.found;
	}
	if (!code)
		*out = &o->retained;
	return code;
}

static int complete(void *context, struct progress *progress, struct err *err)
{
	return retained_complete(context, progress, err);
}

static int list(void *context, struct progress *progress, struct err *err)
{
	return retained_list(context, progress, err);
}

int opened_find_tree(struct opened *o, const struct runner *runner, const struct retained **out,
    struct err *err)
{
	int code = opened_find_sizes(o, runner, out, err);
	if (!code && !o->retained_listed)
		code = runner_run(runner, list, &o->retained, err);
	if (!code)
		o->retained_listed = true;
	return code;
}

int opened_find_retained(struct opened *o, const struct runner *runner, const struct retained **out,
    struct err *err)
{
	int code = opened_find_tree(o, runner, out, err);
	if (!code && !o->retained_whole)
		code = runner_run(runner, complete, &o->retained, err);
	if (!code)
		o->retained_whole = true;
	return code;
}

const struct retained *opened_class_sums(const struct opened *o)
{
	const struct retained *known = opened_retained(o);
	return known ? known : o && o->sums_found ? &o->sums : NULL;
}

bool opened_has_class_sums(const struct opened *o)
{
	return opened_class_sums(o) || retained_saved(&o->model);
}

void opened_read_class_sums(struct opened *o)
{
	struct err err = ERR_INIT;
	if (!opened_class_sums(o) && retained_saved(&o->model))
		o->sums_found = !retained_read_sums(&o->sums, &o->model, &err); /* released where it fails */
}

int opened_find_class_sums(struct opened *o, const struct runner *runner, struct err *err)
{
	const struct retained *retained;
	opened_read_class_sums(o);
	return opened_class_sums(o) ? 0 : opened_find_retained(o, runner, &retained, err);
}

void opened_take_retained(struct opened *o, struct retained *found)
{
	if (o->retained.heap)
		retained_release(&o->retained);
	o->retained = *found;
	o->retained_whole = o->retained_listed = true;
}

/* --- what roots reach, and how ------------------------------------------------------------------ */

struct reaching {
	struct reachable found;
	const struct model *model;
};

static int reach(void *context, struct progress *progress, struct err *err)
{
	struct reaching *r = context;
	return reachable_from_roots(&r->found, r->model, progress, err);
}

int opened_find_reachable(struct opened *o, const struct runner *runner, struct reachable *out,
    struct err *err)
{
	int code = opened_find_references(o, runner, err);
	if (!code && !o->reachable_found) {
		struct reaching r = {.model = &o->model};
		code = runner_run(runner, reach, &r, err);
		if (!code) {
			o->reachable = r.found;
			o->reachable_found = true;
		}
	}
	if (!code)
		*out = o->reachable;
	return code;
}

struct asking {
	struct maybe_live found;
	const struct opened *opened;
};

static int ask(void *context, struct progress *progress, struct err *err)
{
	struct asking *a = context;
	progress_phase(progress, PHASE_FIND_UNRECORDED, 0);
	return maybe_live_find(&a->found, &a->opened->model, &a->opened->reachable.objects, err);
}

int opened_find_unrecorded(struct opened *o, const struct runner *runner, const struct maybe_live **out,
    struct err *err)
{
	struct reachable reachable;
	int code = opened_find_reachable(o, runner, &reachable, err);
	if (!code && !o->unrecorded_found) {
		struct asking a = {.opened = o};
		code = runner_run(runner, ask, &a, err);
		if (!code) {
			o->unrecorded = a.found;
			o->unrecorded_found = true;
		}
	}
	*out = &o->unrecorded;
	return code;
}

const struct path_tree *opened_path_tree(const struct opened *o, bool weak)
{
	return o->paths_found[weak] ? &o->paths[weak] : NULL;
}

struct growing {
	struct path_tree tree;
	const struct path_rules *rules;
};

static int grow(void *context, struct progress *progress, struct err *err)
{
	struct growing *g = context;
	return path_tree_grow(&g->tree, g->rules, HEAP_NONE, progress, err);
}

int opened_find_path_tree(struct opened *o, bool weak, const struct runner *runner,
    const struct path_tree **out, struct err *err)
{
	struct path_rules rules;
	*out = opened_path_tree(o, weak);
	if (*out)
		return 0;
	int code = opened_find_references(o, runner, err);
	if (!code)
		code = path_rules_init(&rules, o->heap, weak, err);
	if (code)
		return code;
	struct growing g = {.rules = &rules};
	code = runner_run(runner, grow, &g, err);
	if (!code) {
		o->paths[weak] = g.tree;
		o->paths_found[weak] = true;
	}
	path_rules_release(&rules);
	*out = opened_path_tree(o, weak);
	return code;
}

int opened_write(struct opened *o, const struct runner *runner, struct nameless *names, struct chunks_writer *w,
    struct err *err)
{
	struct reachable reachable;
	int code = opened_find_reachable(o, runner, &reachable, err);
	progress_phase(progress_own(), PHASE_WRITE_INDEX, 0);
	if (!code)
		code = index_file_write(o->heap, names, w, err);
	if (!code)
		code = weak_write(o->heap, w, err);
	if (!code && o->retained_whole && model_is_default(&o->model))
		code = retained_write(&o->retained, w, err);
	if (!code && model_is_default(&o->model))
		code = reachable_write(&reachable, o->heap, w, err);
	return code;
}

struct signing {
	struct path_keys found;
	const struct opened *opened;
};

static int sign(void *context, struct progress *progress, struct err *err)
{
	struct signing *s = context;
	return path_keys_find(&s->found, &s->opened->retained, s->opened->heap->soft_and_weak, progress, err);
}

int opened_find_signatures(struct opened *o, const struct runner *runner, const struct path_keys **out,
    struct err *err)
{
	const struct retained *retained;
	int code = opened_find_retained(o, runner, &retained, err);
	if (!code && !o->signatures.list) {
		struct signing s = {.opened = o};
		code = runner_run(runner, sign, &s, err);
		if (!code)
			o->signatures = s.found;
	}
	*out = &o->signatures;
	return code;
}

const struct name_index *opened_names(struct opened *o, struct err *err)
{
	if (o->names && o->names->n != o->heap->n_classes) {
		name_index_free(o->names);
		o->names = NULL;
	}
	if (!o->names)
		o->names = name_index_new(o->heap, err);
	return o->names;
}

/* --- the model ---------------------------------------------------------------------------------- */

int opened_may_count_weak(const struct opened *o, struct err *err)
{
	int code = opened_references(o, err);
	return code ? code : weak_told(o->heap, err);
}

bool opened_counts_weak(const struct opened *o)
{
	return o->counts_weak || !weak_known(o->heap);
}

int opened_count_weak(struct opened *o, bool counts, const struct runner *runner, struct err *err)
{
	int code = opened_find_references(o, runner, err);
	if (!code && counts != opened_counts_weak(o))
		code = opened_may_count_weak(o, err);
	if (code || counts == opened_counts_weak(o))
		return code;
	forget_model(o);
	o->counts_weak = counts;
	settle_model(o);
	return 0;
}
