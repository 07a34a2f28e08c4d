/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * path_key_list.c - what is done with signatures when the walk has found them: they are settled as ways are,
 * added up, and put into words.
 */
#include "analysis/path_keys/path_key_list.h"

#include "analysis/describe/describe.h"
#include "analysis/path_labels/path_labels.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <string.h>

static uint32_t rank_of(const struct path_keys *s, uint32_t signature)
{
	uint32_t class = s->list[signature].class;
	return class == HEAP_NONE ? HEAP_NONE : s->retained->heap->classes[class].name_rank;
}

/* Of two that continue the same one, or both begin. */
static int compare_steps(const struct path_keys *s, uint32_t a, uint32_t b)
{
	const struct path_key *x = &s->list[a], *y = &s->list[b];
	uint32_t r = rank_of(s, a), q = rank_of(s, b);
	int order = (x->start > y->start) - (x->start < y->start), classes = (r > q) - (r < q);
	if (!order && path_label_start_by_class(x->start))
		order = classes;
	if (!order && x->field != y->field) /* equal words have equal numbers, and may be long */
		order = strcmp(x->words, y->words);
	return order ? order : classes;
}

int path_key_compare(const struct path_keys *s, uint32_t a, uint32_t b)
{
	int order = 0;
	if (s->list[a].depth != s->list[b].depth)
		return s->list[a].depth < s->list[b].depth ? -1 : 1;
	while (a != b) { /* the first step in which they differ decides, and it is met last */
		int here = compare_steps(s, a, b);
		order = here ? here : order;
		a = s->list[a].parent;
		b = s->list[b].parent;
	}
	return order;
}

/* --- in order ----------------------------------------------------------------------------------- */

/* The ways of a heap; those that no object took after all are gone. */
static struct path_label *ways_of(const struct path_keys *s, struct progress *progress, struct err *err)
{
	const struct heap *h = s->retained->heap;
	struct path_label *way = big_alloc(s->n, sizeof *way, err);
	for (uint32_t i = 0; way && i < s->n; i++) {
		const struct path_key *at = &s->list[i];
		bool far = at->class == HEAP_NONE;
		way[i] = (struct path_label){.parent = at->parent, .start = at->start, .words = at->words,
		    .class = far ? NULL : h->classes[at->class].name,
		    .plain = !far && h->classes[at->class].kind == CLASS_PLAIN, .chain = at->chain, .gone = true};
	}
	for (uint32_t id = 0; way && id < h->n_objects && !progress_stops(progress, id); id++)
		if (s->of[id] != PATH_KEY_NONE)
			way[s->of[id]].gone = false;
	return way;
}

static int take_ways(struct path_keys *s, const struct path_label *way, uint32_t n, const uint32_t *number,
    struct progress *progress, struct err *err)
{
	uint32_t n_objects = s->retained->heap->n_objects;
	struct path_key *to = big_alloc(n, sizeof *to, err);
	if (!to)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		to[i] = s->list[way[i].was];
		to[i].parent = way[i].parent;
		to[i].chain = way[i].chain;
		to[i].depth = way[i].parent == PATH_KEY_NONE ? 0 : to[way[i].parent].depth + 1;
	}
	for (uint32_t id = 0; id < n_objects && !progress_stops(progress, id); id++)
		if (s->of[id] != PATH_KEY_NONE)
			s->of[id] = number[s->of[id]];
	big_free(s->list);
	s->list = to;
	s->n = n;
	return progress_check(progress, err);
}

/* Classes that are shared by loaders of several kinds. */
static int mark_shared(struct path_keys *s, struct err *err)
{
	uint32_t n = s->retained->heap->n_classes;
	uint8_t *seen = big_alloc(n, sizeof *seen, err); /* by rank of the name: how many, at most two */
	if (!seen)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->list[i].start == START_CLASS && seen[rank_of(s, i)] < 2)
			seen[rank_of(s, i)]++;
	for (uint32_t i = 0; i < s->n; i++)
		s->list[i].shared = s->list[i].start == START_CLASS && seen[rank_of(s, i)] > 1;
	big_free(seen);
	return 0;
}

int path_keys_settle(struct path_keys *s, struct progress *progress, struct err *err)
{
	struct path_label *way = ways_of(s, progress, err);
	uint32_t n = s->n, *number = way ? big_alloc(n, sizeof *number, err) : NULL;
	int code = number ? progress_check(progress, err) : ERR_NOMEM;
	if (!code)
		code = path_labels_settle(way, &n, number, err);
	if (!code)
		code = take_ways(s, way, n, number, progress, err);
	if (!code)
		code = mark_shared(s, err);
	big_free(way);
	big_free(number);
	return code;
}

void path_keys_release(struct path_keys *s)
{
	big_free(s->list);
	big_free(s->of);
	numbered_names_free(s->names);
	*s = (struct path_keys){.retained = NULL};
}

/* --- sums --------------------------------------------------------------------------------------- */

int path_key_counts(const struct heap *h, const uint32_t *group, uint32_t n, struct path_key_sum *sums,
    struct progress *progress, struct err *err)
{
	bool all_known = !h->n_unknown_size;
	for (uint32_t i = 0; i < n; i++)
		sums[i] = (struct path_key_sum){.n_objects = 0};
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(progress, id); id++) {
		if (group[id] == PATH_KEY_NONE)
			continue;
		struct path_key_sum *to = &sums[group[id]];
		to->n_objects++;
		to->n_unknown += !all_known && !heap_size_known(h, id);
		to->shallow += heap_shallow(h, id);
		to->doubts |= heap_size_doubts(h, id);
	}
	return progress_check(progress, err);
}

int path_key_sums(const struct retained *r, const uint32_t *group, uint32_t n, struct path_key_sum *sums,
    struct progress *progress, struct err *err)
{
	struct retained_sum *retained = big_alloc(n, sizeof *retained, err);
	int code = retained ? path_key_counts(r->heap, group, n, sums, progress, err) : ERR_NOMEM;
	if (!code)
		code = retained_by_objects(r, group, n, retained, progress, err);
	for (uint32_t i = 0; !code && i < n; i++)
		sums[i].retained = retained[i];
	big_free(retained);
	return code;
}

/* --- in words ----------------------------------------------------------------------------------- */

void path_key_add(const struct path_keys *s, uint32_t signature, struct text *to)
{
	uint32_t way[PATH_KEY_DEPTH + 1], n = 0;
	for (uint32_t at = signature; at != PATH_KEY_NONE && n <= PATH_KEY_DEPTH; at = s->list[at].parent)
		way[n++] = at;
	for (uint32_t i = n; i-- > 0;) {
		const struct path_key *at = &s->list[way[i]];
		const char *class = at->class == HEAP_NONE ? NULL : s->retained->heap->classes[at->class].name;
		enum way_start before = i + 1 < n ? s->list[way[i + 1]].start : START_NOWHERE;
		const char *words = at->start == START_CLASS && !at->shared ? "" : at->words;
		path_label_add_step(to, &(struct path_label_step){at->start, words, class}, before, i == 0);
	}
	if (s->list[signature].chain)
		text_add(to, "*");
}
