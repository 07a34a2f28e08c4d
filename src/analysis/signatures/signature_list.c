/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signature_list.c - what is done with signatures when the walk has found them: those of one chain are joined,
 * all are put in order, added up, and told in words.
 */
#include "analysis/signatures/signature_list.h"

#include "analysis/describe/describe.h"
#include "base/big.h"
#include "base/sort.h"

#include <string.h>

static uint32_t rank_of(const struct signatures *s, uint32_t signature)
{
	uint32_t class = s->list[signature].class;
	return class == HEAP_NONE ? HEAP_NONE : s->retained->heap->classes[class].name_rank;
}

/* Of two that continue the same one, or both begin. */
static int compare_steps(const struct signatures *s, uint32_t a, uint32_t b)
{
	const struct signature *x = &s->list[a], *y = &s->list[b];
	uint32_t r = rank_of(s, a), q = rank_of(s, b);
	int order = (x->start > y->start) - (x->start < y->start);
	if (!order && x->field != y->field) /* equal words have equal numbers, and may be long */
		order = strcmp(x->words, y->words);
	return order ? order : (r > q) - (r < q);
}

int signature_compare(const struct signatures *s, uint32_t a, uint32_t b)
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

/* Signatures below each other; joined ones point to where they went. */
struct family {
	struct signatures *s;
	uint32_t *first, *next; /* the children of each, linked; [n] of first: the starts */
	uint32_t *joined;       /* by signature: the one that it is now, itself where it stayed */
	uint32_t *todo, *entry; /* room for all */
};

static void hang(struct family *f, uint32_t child, uint32_t parent)
{
	uint32_t at = parent == SIGNATURE_NONE ? f->s->n : parent;
	f->next[child] = f->first[at];
	f->first[at] = child;
	f->s->list[child].parent = parent;
}

static uint32_t same_child(const struct family *f, uint32_t parent, uint32_t like)
{
	uint32_t at = f->first[parent];
	while (at != SIGNATURE_NONE && (f->joined[at] != at || compare_steps(f->s, at, like)))
		at = f->next[at];
	return at;
}

/* Let one signature, and all below it, be part of another. */
static void join(struct family *f, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	f->joined[from] = to;
	f->todo[n++] = from;
	while (n) {
		from = f->todo[--n];
		to = f->joined[from];
		f->s->list[to].chain |= f->s->list[from].chain;
		for (uint32_t child = f->first[from], next; child != SIGNATURE_NONE; child = next) {
			next = f->next[child];
			uint32_t same = f->joined[child] == child ? same_child(f, to, child) : SIGNATURE_NONE;
			if (f->joined[child] != child)
				continue;
			if (same == SIGNATURE_NONE) {
				hang(f, child, to);
			} else {
				f->joined[child] = same;
				f->todo[n++] = child;
			}
		}
		f->first[from] = SIGNATURE_NONE;
	}
}

static bool is_plain(const struct family *f, uint32_t signature)
{
	uint32_t class = f->s->list[signature].class;
	return class != HEAP_NONE && f->s->retained->heap->classes[class].kind == CLASS_PLAIN;
}

/* The ways into objects that an object of `holder` has: its fields, and the elements of arrays in its fields.
 * They go to f->entry; returns how many. */
static uint32_t list_entries(const struct family *f, uint32_t holder)
{
	uint32_t n = 0;
	for (uint32_t at = f->first[holder]; at != SIGNATURE_NONE; at = f->next[at]) {
		if (f->joined[at] == at && is_plain(f, at))
			f->entry[n++] = at;
		for (uint32_t k = is_plain(f, at) ? SIGNATURE_NONE : f->first[at]; k != SIGNATURE_NONE; k = f->next[k])
			if (f->joined[k] == k && is_plain(f, k))
				f->entry[n++] = k;
	}
	return n;
}

/* By class; elements of arrays first, then by words. */
static int by_class(const void *x, const void *y, void *data)
{
	const struct signatures *s = data;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y, r = rank_of(s, a), q = rank_of(s, b);
	if (r != q)
		return r < q ? -1 : 1;
	int order = signature_compare(s, a, b);
	return s->list[a].depth == s->list[b].depth ? order : -order;
}

/* However many ways lead into a chain of an object's, what is in it is one group: which of its links are nearer
 * to the head than to the tail says nothing. */
static void join_chains(struct family *f, uint32_t holder)
{
	uint32_t n = list_entries(f, holder);
	sort_array_with(f->entry, n, sizeof *f->entry, by_class, f->s);
	for (uint32_t i = 0, end; i < n; i = end) {
		bool chain = false;
		for (end = i; end < n && rank_of(f->s, f->entry[end]) == rank_of(f->s, f->entry[i]); end++)
			chain |= f->s->list[f->entry[end]].chain;
		for (uint32_t k = i + 1; chain && k < end; k++)
			join(f, f->entry[k], f->entry[i]);
	}
}

static int by_steps(const void *x, const void *y, void *data)
{
	return compare_steps(data, *(const uint32_t *)x, *(const uint32_t *)y);
}

/* The children of one, in order, into todo from `at` on; returns how many. */
static uint32_t order_children(const struct family *f, uint32_t parent, uint32_t at)
{
	uint32_t n = 0;
	for (uint32_t c = f->first[parent]; c != SIGNATURE_NONE; c = f->next[c])
		if (f->joined[c] == c)
			f->todo[at + n++] = c;
	sort_array_with(f->todo + at, n, sizeof *f->todo, by_steps, f->s);
	return n;
}

/* Number what stayed from the top down; number[] by old signature. */
static uint32_t renumber(struct family *f, struct signature *to, uint32_t *number)
{
	struct signature *list = f->s->list;
	uint32_t n = 0, waiting = order_children(f, f->s->n, 0);
	for (uint32_t i = 0; i < waiting / 2; i++) { /* the last of those that wait is the next */
		uint32_t swap = f->todo[i];
		f->todo[i] = f->todo[waiting - 1 - i];
		f->todo[waiting - 1 - i] = swap;
	}
	while (waiting) {
		uint32_t at = f->todo[--waiting], more = order_children(f, at, waiting);
		for (uint32_t i = 0; i < more / 2; i++) {
			uint32_t swap = f->todo[waiting + i];
			f->todo[waiting + i] = f->todo[waiting + more - 1 - i];
			f->todo[waiting + more - 1 - i] = swap;
		}
		waiting += more;
		to[n] = list[at];
		if (list[at].parent != SIGNATURE_NONE) {
			to[n].parent = number[list[at].parent];
			to[n].depth = to[to[n].parent].depth + 1;
		}
		number[at] = n++;
	}
	return n;
}

static uint32_t where_joined(struct family *f, uint32_t at)
{
	uint32_t to = at;
	while (f->joined[to] != to)
		to = f->joined[to];
	return f->joined[at] = to;
}

static int take_order(struct family *f, struct progress *progress, struct err *err)
{
	struct signatures *s = f->s;
	uint32_t n_objects = s->retained->heap->n_objects;
	uint32_t *number = big_alloc(s->n, sizeof *number, err);
	struct signature *to = number ? big_alloc(s->n, sizeof *to, err) : NULL;
	if (!to) {
		big_free(number);
		return ERR_NOMEM;
	}
	uint32_t n = renumber(f, to, number);
	for (uint32_t i = 0; i < s->n; i++)
		where_joined(f, i);
	for (uint32_t id = 0; id < n_objects && !progress_stops(progress, id); id++)
		if (s->of[id] != SIGNATURE_NONE)
			s->of[id] = number[f->joined[s->of[id]]];
	big_free(number);
	big_free(s->list);
	s->list = to;
	s->n = n;
	return progress_check(progress, err);
}

int signatures_settle(struct signatures *s, struct progress *progress, struct err *err)
{
	struct family f = {.s = s};
	f.first = big_alloc((uint64_t)s->n + 1, sizeof *f.first, err);
	f.next = f.first ? big_alloc(s->n, sizeof *f.next, err) : NULL;
	f.joined = f.next ? big_alloc(s->n, sizeof *f.joined, err) : NULL;
	f.todo = f.joined ? big_alloc(s->n, sizeof *f.todo, err) : NULL;
	f.entry = f.todo ? big_alloc(s->n, sizeof *f.entry, err) : NULL;
	int code = f.entry ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; !code && i <= s->n; i++)
		f.first[i] = SIGNATURE_NONE;
	for (uint32_t i = s->n; !code && i-- > 0;) {
		f.joined[i] = i;
		hang(&f, i, s->list[i].parent);
	}
	for (uint32_t i = 0; !code && i < s->n; i++)
		if (f.joined[i] == i && is_plain(&f, i))
			join_chains(&f, i);
	if (!code)
		code = take_order(&f, progress, err);
	big_free(f.first);
	big_free(f.next);
	big_free(f.joined);
	big_free(f.todo);
	big_free(f.entry);
	return code;
}

void signatures_release(struct signatures *s)
{
	big_free(s->list);
	big_free(s->of);
	numbered_names_free(s->names);
	*s = (struct signatures){.retained = NULL};
}

/* --- sums --------------------------------------------------------------------------------------- */

/* The signatures of the objects that count, for retained_by_objects. */
static uint32_t *groups_of(const struct signatures *s, const struct bits *only, struct err *err)
{
	uint32_t n = s->retained->heap->n_objects, *group = big_alloc(n, sizeof *group, err);
	for (uint32_t id = 0; group && id < n; id++)
		group[id] = bits_get(only, id) ? s->of[id] : SIGNATURE_NONE;
	return group;
}

int signature_sums(const struct retained *r, const uint32_t *group, uint32_t n, struct signature_sum *sums,
    struct progress *progress, struct err *err)
{
	const struct heap *h = r->heap;
	struct retained_sum *retained = big_alloc(n, sizeof *retained, err);
	if (!retained)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		sums[i] = (struct signature_sum){.n_objects = 0};
	for (uint32_t id = 0; id < h->n_objects && !progress_stops(progress, id); id++) {
		if (group[id] == SIGNATURE_NONE)
			continue;
		struct signature_sum *to = &sums[group[id]];
		to->n_objects++;
		to->n_unknown += !heap_size_known(h, id);
		to->shallow += heap_shallow(h, id);
	}
	int code = retained_by_objects(r, group, n, retained, progress, err);
	for (uint32_t i = 0; !code && i < n; i++)
		sums[i].retained = retained[i];
	big_free(retained);
	return code;
}

int signatures_sum(const struct signatures *s, const struct bits *only, struct signature_sum *sums,
    struct progress *progress, struct err *err)
{
	uint32_t *some = only ? groups_of(s, only, err) : NULL;
	if (only && !some)
		return ERR_NOMEM;
	int code = signature_sums(s->retained, only ? some : s->of, s->n, sums, progress, err);
	big_free(some);
	return code;
}

/* --- in words ----------------------------------------------------------------------------------- */

static void add_start(const struct signatures *s, const struct signature *at, bool goes_on, struct text *to)
{
	const char *class = s->retained->heap->classes[at->class].name;
	switch (at->start) {
	case START_CLASS:
		text_addf(to, "%s %s", goes_on ? "static" : "class", class);
		break;
	case START_LOADER:
		text_addf(to, "loader %s", class);
		break;
	case START_THREAD:
		text_addf(to, "thread \"%s\"", at->words);
		break;
	default:
		text_add(to, at->words);
	}
}

void signature_add(const struct signatures *s, uint32_t signature, struct text *to)
{
	uint32_t way[SIGNATURE_DEPTH + 1], n = 0;
	for (uint32_t at = signature; at != SIGNATURE_NONE && n <= SIGNATURE_DEPTH; at = s->list[at].parent)
		way[n++] = at;
	for (uint32_t i = n; i-- > 0;) {
		const struct signature *at = &s->list[way[i]];
		if (i + 1 == n)
			add_start(s, at, n > 1, to);
		else if (!strcmp(at->words, "[]"))
			text_add(to, at->words);
		else if (!*at->words)
			text_addf(to, " > %s", s->retained->heap->classes[at->class].name);
		else
			text_addf(to, "%s%s", i + 2 == n && s->list[way[n - 1]].start == START_CLASS ? "." : " > ", at->words);
	}
	if (s->list[signature].chain)
		text_add(to, "*");
}
