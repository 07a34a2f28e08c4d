/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * android_heaps.c - which of Android's heaps each object is of.
 *
 * A dump tells it between its objects: from here on they are of this heap.  So the survey notes a run for each such
 * place, and here the runs become a byte for each object.  Dumps that tell nothing cost nothing.
 */
#include "heap/build/build.h"

#include "algorithms/bisect.h"
#include "algorithms/parallel.h"
#include "memory/big.h"

#include <string.h>

#define SPACE_OTHERS "others"

unsigned android_heaps_number(struct space_names *names, struct arena *arena, const char *name, struct err *lost)
{
	if (!names->n)
		names->name[names->n++] = SPACE_DEFAULT;
	for (unsigned i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return i;
	if (names->n >= SPACES_MOST) {
		names->name[SPACES_MOST] = SPACE_OTHERS;
		names->n = SPACES_MOST + 1;
		return SPACES_MOST;
	}
	const char *kept = arena_try_strndup(arena, name, strlen(name), lost);
	names->name[names->n] = kept ? kept : "";
	return names->n++;
}

struct collecting {
	struct build *build;
	uint8_t (*number)[UINT8_MAX + 1]; /* by part, by the part's own number: the heap's */
};

/* The numbers that each part gave become those of all of them, in the order of the dump. */
static void join_names(struct collecting *c, struct space_names *all)
{
	struct build *b = c->build;
	unsigned last = 0;
	for (unsigned i = 0; i < b->n_parts; i++) {
		const struct count_pass_part *p = &b->parts[i];
		for (unsigned k = 0; k < p->spaces.n; k++)
			c->number[i][k] = (uint8_t)android_heaps_number(all, &b->heap->arena, p->spaces.name[k], &b->lost);
		c->number[i][SPACE_BEFORE] = (uint8_t)last;
		if (p->n_space_runs)
			last = c->number[i][p->space_runs[p->n_space_runs - 1] & UINT8_MAX];
	}
}

static int spread_slice(void *context, unsigned task, struct err *err)
{
	struct collecting *c = context;
	struct build *b = c->build;
	const struct slice *s = b->slices[task];
	const struct count_pass_part *p = s->part;
	const uint8_t *number_of = c->number[p - b->parts];
	struct objects_walk w = objects_walk(b, s);
	uint64_t at = s->first_record - p->first_record;
	size_t run;
	BISECT(run, p->n_space_runs, p->space_runs[run] >> 8 <= at);
	uint8_t space = number_of[run ? p->space_runs[run - 1] & UINT8_MAX : SPACE_BEFORE];
	uint32_t id;
	for (struct record r; objects_next(&w, &r, &id, false) && !progress_stops(b->progress, w.number); at++) {
		for (; run < p->n_space_runs && p->space_runs[run] >> 8 <= at; run++)
			space = number_of[p->space_runs[run] & UINT8_MAX];
		if (id != HEAP_NONE)
			b->heap->space_of[id] = space;
	}
	return progress_check(b->progress, err);
}

static int keep_names(struct heap *h, const struct space_names *all, struct err *err)
{
	h->spaces = arena_try(&h->arena, all->n, sizeof *h->spaces, err);
	h->space_of = h->spaces ? big_alloc(h->n_objects, sizeof *h->space_of, err) : NULL;
	if (!h->space_of)
		return ERR_NOMEM;
	memcpy(h->spaces, all->name, all->n * sizeof *h->spaces);
	h->n_spaces = all->n;
	return 0;
}

int android_heaps_collect(struct build *b, struct err *err)
{
	struct collecting c = { .build = b };
	struct space_names all = { .n = 0 };
	bool told = false;
	for (unsigned i = 0; i < b->n_parts; i++)
		told |= b->parts[i].spaces.n > 1;
	if (!told)
		return 0;
	c.number = big_alloc(b->n_parts, sizeof *c.number, err);
	if (!c.number)
		return ERR_NOMEM;
	join_names(&c, &all);
	int code = build_check(b, err);
	if (!code)
		code = keep_names(b->heap, &all, err);
	if (!code)
		code = parallel_run(0, b->n_slices, spread_slice, &c, err);
	big_free(c.number);
	if (!code && all.n > SPACES_MOST)
		build_warn(b, "the dump names more than %u heaps: the rest are combined into one", SPACES_MOST);
	return code;
}
