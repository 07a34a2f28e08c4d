/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_labels.c - see path_labels.h. */
#include "analysis/path_labels/path_labels.h"

#include "algorithms/sort.h"
#include "memory/big.h"

#include <string.h>

/* Ways below each other; joined ones point to where they went. */
struct family {
	struct path_label *way;
	uint32_t n;
	uint32_t *first, *next; /* the children of each, linked; [n] of first: the starts */
	uint32_t *joined;       /* by way: the one that it is now, itself where it stayed */
	uint32_t *todo, *entry; /* room for all */
};

static int compare_words(const char *a, const char *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL); /* what has no class comes last */
	return strcmp(a, b);
}

/* Of two that continue the same one, or both begin. */
static int compare_steps(const struct path_label *x, const struct path_label *y)
{
	int order = (x->start > y->start) - (x->start < y->start);
	if (!order && path_label_start_by_class(x->start))
		order = compare_words(x->class, y->class);
	if (!order)
		order = strcmp(x->words, y->words);
	return order ? order : compare_words(x->class, y->class);
}

static void hang(struct family *f, uint32_t child, uint32_t parent)
{
	uint32_t at = parent == PATH_LABEL_NONE ? f->n : parent;
	f->next[child] = f->first[at];
	f->first[at] = child;
	f->way[child].parent = parent;
}

static bool stays(const struct family *f, uint32_t at)
{
	return f->joined[at] == at;
}

static uint32_t same_child(const struct family *f, uint32_t parent, uint32_t like)
{
	uint32_t at = f->first[parent];
	while (at != PATH_LABEL_NONE && (!stays(f, at) || compare_steps(&f->way[at], &f->way[like])))
		at = f->next[at];
	return at;
}

/* Let one way, and all below it, be part of another. */
static void join(struct family *f, uint32_t from, uint32_t to)
{
	uint32_t n = 0;
	f->joined[from] = to;
	f->todo[n++] = from;
	while (n) {
		from = f->todo[--n];
		to = f->joined[from];
		f->way[to].chain |= f->way[from].chain;
		for (uint32_t child = f->first[from], next; child != PATH_LABEL_NONE; child = next) {
			next = f->next[child];
			if (!stays(f, child))
				continue;
			uint32_t same = same_child(f, to, child);
			if (same == PATH_LABEL_NONE) {
				hang(f, child, to);
			} else {
				f->joined[child] = same;
				f->todo[n++] = child;
			}
		}
		f->first[from] = PATH_LABEL_NONE;
	}
}

/* The ways into objects that an object of `holder` has.  They go to f->entry; returns how many. */
static uint32_t list_entries(const struct family *f, uint32_t holder)
{
	uint32_t n = 0;
	for (uint32_t at = f->first[holder]; at != PATH_LABEL_NONE; at = f->next[at]) {
		if (!stays(f, at))
			continue;
		if (f->way[at].plain) {
			f->entry[n++] = at;
			continue;
		}
		for (uint32_t k = f->first[at]; k != PATH_LABEL_NONE; k = f->next[k])
			if (stays(f, k) && f->way[k].plain)
				f->entry[n++] = k;
	}
	return n;
}

struct entries {
	const struct family *family;
	uint32_t holder;
};

/* By class; elements of arrays first, then by words. */
static int by_class(const void *x, const void *y, void *data)
{
	const struct entries *e = data;
	const struct path_label *way = e->family->way, *a = &way[*(const uint32_t *)x], *b = &way[*(const uint32_t *)y];
	bool field = a->parent == e->holder, other_field = b->parent == e->holder;
	int order = strcmp(a->class, b->class);
	if (!order)
		order = field - other_field;
	if (!order && !field)
		order = compare_steps(&way[a->parent], &way[b->parent]);
	return order ? order : compare_steps(a, b);
}

/* However many ways lead into a chain of an object's, what is in it is one group: which of its links are nearer
 * to the head than to the tail says nothing. */
static void join_chains(struct family *f, uint32_t holder)
{
	uint32_t n = list_entries(f, holder);
	struct entries entries = {f, holder};
	sort_array_with(f->entry, n, sizeof *f->entry, by_class, &entries);
	for (uint32_t i = 0, end; i < n; i = end) {
		bool chain = false;
		for (end = i; end < n && !strcmp(f->way[f->entry[end]].class, f->way[f->entry[i]].class); end++)
			chain |= f->way[f->entry[end]].chain;
		for (uint32_t k = i + 1; chain && k < end; k++)
			join(f, f->entry[k], f->entry[i]);
	}
}

static int by_steps(const void *x, const void *y, void *data)
{
	const struct path_label *way = data;
	return compare_steps(&way[*(const uint32_t *)x], &way[*(const uint32_t *)y]);
}

/* Put the children of one into todo from `at` on, the last one first; returns how many. */
static uint32_t list_children(const struct family *f, uint32_t parent, uint32_t at)
{
	uint32_t n = 0;
	for (uint32_t c = f->first[parent]; c != PATH_LABEL_NONE; c = f->next[c])
		if (stays(f, c))
			f->todo[at + n++] = c;
	sort_array_with(f->todo + at, n, sizeof *f->todo, by_steps, f->way);
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t swap = f->todo[at + i];
		f->todo[at + i] = f->todo[at + n - 1 - i];
		f->todo[at + n - 1 - i] = swap;
	}
	return n;
}

/* From the top down, each once: what a way holds is joined after it was joined itself, so in whatever order they
 * were found the same comes of it.  waiting: room for all. */
static void join_all(struct family *f, uint32_t *waiting)
{
	uint32_t n = 0;
	for (uint32_t at = f->first[f->n]; at != PATH_LABEL_NONE; at = f->next[at])
		waiting[n++] = at;
	while (n) {
		uint32_t at = waiting[--n];
		if (f->way[at].plain)
			join_chains(f, at);
		for (uint32_t c = f->first[at]; c != PATH_LABEL_NONE; c = f->next[c])
			if (stays(f, c))
				waiting[n++] = c;
	}
}

/* Number what stayed; order[]: by new number the old one.  Returns how many. */
static uint32_t renumber(struct family *f, uint32_t *number, uint32_t *order)
{
	uint32_t n = 0, waiting = list_children(f, f->n, 0);
	while (waiting) { /* the last of those that wait is the next */
		uint32_t at = f->todo[--waiting];
		waiting += list_children(f, at, waiting);
		order[n] = at;
		number[at] = n++;
	}
	return n;
}

static uint32_t where_joined(struct family *f, uint32_t at)
{
	while (f->joined[at] != at)
		at = f->joined[at] = f->joined[f->joined[at]];
	return at;
}

static int take_order(struct family *f, uint32_t *number, uint32_t *n, struct err *err)
{
	struct path_label *sorted = big_alloc(f->n, sizeof *sorted, err);
	if (!sorted)
		return ERR_NOMEM;
	*n = renumber(f, number, f->entry);
	for (uint32_t i = 0; i < *n; i++) {
		sorted[i] = f->way[f->entry[i]];
		sorted[i].was = f->entry[i];
		if (sorted[i].parent != PATH_LABEL_NONE)
			sorted[i].parent = number[sorted[i].parent];
	}
	for (uint32_t i = 0; i < f->n; i++)
		if (!f->way[i].gone && !stays(f, i))
			number[i] = number[where_joined(f, i)];
	memcpy(f->way, sorted, *n * sizeof *sorted);
	big_free(sorted);
	return 0;
}

int path_labels_settle(struct path_label *way, uint32_t *n, uint32_t *number, struct err *err)
{
	struct family f = {.way = way, .n = *n};
	f.first = big_alloc((uint64_t)f.n + 1, sizeof *f.first, err);
	f.next = f.first ? big_alloc(f.n, sizeof *f.next, err) : NULL;
	f.joined = f.next ? big_alloc(f.n, sizeof *f.joined, err) : NULL;
	f.todo = f.joined ? big_alloc(f.n, sizeof *f.todo, err) : NULL;
	f.entry = f.todo ? big_alloc(f.n, sizeof *f.entry, err) : NULL;
	int code = f.entry ? 0 : ERR_NOMEM;
	for (uint32_t i = 0; !code && i <= f.n; i++)
		f.first[i] = PATH_LABEL_NONE;
	for (uint32_t i = f.n; !code && i-- > 0;) {
		f.joined[i] = i;
		if (!way[i].gone)
			hang(&f, i, way[i].parent);
	}
	if (!code) {
		join_all(&f, number);
		for (uint32_t i = 0; i < f.n; i++)
			number[i] = PATH_LABEL_NONE;
		code = take_order(&f, number, n, err);
	}
	big_free(f.first);
	big_free(f.next);
	big_free(f.joined);
	big_free(f.todo);
	big_free(f.entry);
	return code;
}

void path_label_add_step(struct text *to, const struct path_label_step *step, enum way_start before, bool last)
{
	switch (step->start) {
	case START_CLASS:
		text_addf(to, "%s %s", last ? "class" : "static", step->class);
		if (*step->words)
			text_addf(to, " (%s)", step->words);
		return;
	case START_LOADER:
		text_addf(to, "loader %s", step->class);
		if (*step->words)
			text_addf(to, " \"%s\"", step->words);
		return;
	case START_THREAD:
		if (*step->words)
			text_addf(to, "thread \"%s\"", step->words);
		else
			text_addf(to, "thread %s", step->class);
		return;
	case START_VARIABLE: case START_LOCAL: case START_ROOT:
		text_add(to, step->words);
		return;
	case START_NOWHERE:
		break;
	}
	if (!strcmp(step->words, "[]"))
		text_add(to, step->words);
	else if (!*step->words)
		text_addf(to, " > %s", step->class ? step->class : "…");
	else
		text_addf(to, "%s%s", before == START_CLASS ? "." : " > ", step->words);
}
