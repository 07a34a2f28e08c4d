/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * numbers.c - see numbers.h.
 */
#include "analysis/numbers.h"

#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <pthread.h>

enum { OBJECTS_A_TASK = 1 << 16 };

struct search {
	const struct heap *heap;
	const struct number_plan *plan;
	const struct sought_number *sought;
	struct progress *progress;
	pthread_mutex_t lock; /* guards list */
	struct number_list *list;
};

static int keep(void *context, uint32_t id, uint64_t place, uint64_t bits, struct err *err)
{
	struct number_list *own = context;
	struct number_hit *to = BIG_PUSH(own->hits, own->n, own->cap, err);
	if (!to)
		return ERR_NOMEM;
	*to = (struct number_hit){ id, place, bits };
	return 0;
}

static int search_stretch(void *context, unsigned task, struct err *err)
{
	struct search *all = context;
	struct number_list own = { .n = 0 };
	struct number_finder f = { .plan = all->plan, .sought = *all->sought, .found = keep, .context = &own };
	uint64_t begin = (uint64_t)task * OBJECTS_A_TASK, n = all->heap->n_objects;
	uint64_t end = begin + OBJECTS_A_TASK < n ? begin + OBJECTS_A_TASK : n;
	int code = 0;
	for (uint64_t id = begin; !code && id < end; id++) {
		code = inspect_find_number(&f, (uint32_t)id, err);
		if (!code && progress_stops(all->progress, id))
			code = err_cancelled(err);
	}
	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < own.n && !code; i++)
		code = keep(all->list, own.hits[i].id, own.hits[i].place, own.hits[i].bits, err);
	pthread_mutex_unlock(&all->lock);
	big_free(own.hits);
	if (!code && !progress_add(all->progress, end - begin))
		code = err_cancelled(err);
	return code;
}

static int by_id(const void *a, const void *b)
{
	const struct number_hit *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void number_list_release(struct number_list *l)
{
	big_free(l->hits);
	*l = (struct number_list){ .n = 0 };
}

int numbers_find(struct number_list *out, const struct heap *h, const struct sought_number *sought,
    struct progress *progress, struct err *err)
{
	struct number_plan *plan = NULL;
	*out = (struct number_list){ .n = 0 };
	progress_phase(progress, PHASE_FIND_NUMBERS, h->n_objects);
	int code = number_plan_make(&plan, h, err);
	if (!code) {
		struct search all = { .heap = h, .plan = plan, .sought = sought, .progress = progress, .list = out };
		pthread_mutex_init(&all.lock, NULL);
		code = parallel_run(
		    0, (unsigned)((h->n_objects + (uint64_t)OBJECTS_A_TASK - 1) / OBJECTS_A_TASK), search_stretch, &all, err);
		pthread_mutex_destroy(&all.lock);
	}
	number_plan_free(plan);
	if (!code)
		code = sort(out->hits, out->n, sizeof *out->hits, by_id, err);
	if (code)
		number_list_release(out);
	return code;
}
