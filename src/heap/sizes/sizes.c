/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes.c - shallow sizes where the dump leaves them open, and their sums.
 *
 * The rule of the dump says what an instance or an array takes (sizes_rules.h).  Here is what both
 * rules share: the pass that counts all objects by class, on several threads with tallies of their
 * own, and the sums.
 */
#include "heap/sizes/sizes_rules.h"

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/index.h"
#include "heap/sizes/sizes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* Below this many objects a second thread gains nothing. */
enum { LEAST_PER_TASK = 1 << 18 };

/* --- the pass over all objects ------------------------------------------------------------------ */

struct count_task {
	uint32_t begin, end; /* ids */
	struct tally *tallies;
	uint64_t mebibytes; /* of the objects with a size of their own, roughly: it never wraps */
	uint32_t *watched;
	size_t n_watched, cap_watched;
};

struct counting {
	const struct sizes *sizes;
	struct count_task *tasks;
};

static uint64_t sized_bytes(const struct heap *h, uint32_t id, uint32_t place)
{
	if (h->own_size && h->own_size[place] < OWN_UNKNOWN)
		return h->own_size[place];
	if (!h->own_size && h->own_length && h->own_length[place] < OWN_UNKNOWN)
		return heap_array_size(h, heap_class_of(h, id), h->own_length[place]);
	return heap_size_known(h, id) ? heap_shallow(h, id) : SIZE_UNKNOWN;
}

static int note_watched(struct count_task *t, uint32_t id, struct err *err)
{
	uint32_t *at = BIG_PUSH(t->watched, t->n_watched, t->cap_watched, err);
	if (!at)
		return ERR_NOMEM;
	*at = id;
	return 0;
}

static int count_objects(void *context, unsigned task, struct err *err)
{
	const struct counting *counting = context;
	const struct sizes *s = counting->sizes;
	const struct heap *h = s->heap;
	struct count_task *t = &counting->tasks[task];
	uint32_t place = t->begin < t->end ? bits_rank(&h->sized, t->begin) : 0;
	struct progress *work = progress_own();
	for (uint32_t id = t->begin; id < t->end; id++) {
		if (progress_stops(work, id))
			return err_cancelled(err);
		uint32_t class = heap_class_index(h, id);
		struct tally *tally = &t->tallies[class];
		if (bits_get(&h->sized, id)) {
			tally->n++;
			uint64_t bytes = sized_bytes(h, id, place++);
			tally->sized_bytes += bytes == SIZE_UNKNOWN ? 0 : bytes;
			t->mebibytes += bytes == SIZE_UNKNOWN ? 0 : bytes >> 20;
			tally->n_unknown += bytes == SIZE_UNKNOWN;
			continue;
		}
		tally->n_plain++;
		if (s->watch[class] == WATCH_ALL || (s->watch[class] && tally->n_plain <= WATCHED_SOME))
			if (note_watched(t, id, err) < 0)
				return ERR_NOMEM;
	}
	return 0;
}

static int join(struct sizes *s, const struct count_task *t, struct err *err)
{
	const struct heap *h = s->heap;
	s->mebibytes += t->mebibytes;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		s->tallies[i].sized_bytes += t->tallies[i].sized_bytes;
		s->tallies[i].n += t->tallies[i].n + t->tallies[i].n_plain;
		s->tallies[i].n_plain += t->tallies[i].n_plain;
		s->tallies[i].n_unknown += t->tallies[i].n_unknown;
	}
	if (t->n_watched) {
		uint32_t *watched = big_resize(s->watched, s->n_watched + t->n_watched, sizeof *watched, err);
		if (!watched)
			return ERR_NOMEM;
		s->watched = watched;
		memcpy(s->watched + s->n_watched, t->watched, t->n_watched * sizeof *s->watched);
		s->n_watched += t->n_watched;
	}
	return 0;
}

int sizes_count(struct sizes *s, struct err *err)
{
	const struct heap *h = s->heap;
	unsigned n = parallel_threads();
	if (n > h->n_objects / LEAST_PER_TASK + 1)
		n = h->n_objects / LEAST_PER_TASK + 1;
	struct counting counting = { s, xcalloc(n, sizeof *counting.tasks) };
	int code = 0;
	for (unsigned i = 0; i < n; i++) {
		counting.tasks[i] = (struct count_task){
			.begin = (uint32_t)((uint64_t)h->n_objects * i / n),
			.end = (uint32_t)((uint64_t)h->n_objects * (i + 1) / n),
			.tallies = big_alloc(h->n_classes, sizeof *s->tallies, err),
		};
		if (!counting.tasks[i].tallies)
			code = ERR_NOMEM;
	}
	if (!code)
		code = parallel_run(n, n, count_objects, &counting, err);
	for (unsigned i = 0; i < n; i++) {
		if (!code)
			code = join(s, &counting.tasks[i], err);
		big_free(counting.tasks[i].tallies);
		big_free(counting.tasks[i].watched);
	}
	free(counting.tasks);
	return code;
}

uint64_t sizes_distance(const struct heap *h, uint32_t id)
{
	struct index_walk walk;
	uint64_t at, next;
	index_walk_seek(&walk, h->index, id);
	return index_walk_next(&walk, &at) && index_walk_next(&walk, &next) ? next - at : UINT64_MAX;
}

/* --- sums --------------------------------------------------------------------------------------- */

/* Every sum of sizes that cairn makes is of objects counted once: when all of them together fit, no
 * sum wraps. */
static int check_sum(const struct sizes *s, struct err *err)
{
	const struct heap *h = s->heap;
	uint64_t mebibytes = s->mebibytes;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (h->classes[i].instance_size != SIZE_UNKNOWN)
			mebibytes += s->tallies[i].n_plain * (h->classes[i].instance_size >> 20);
	}
	for (size_t i = 0; i < h->n_odd; i++)
		mebibytes += h->odd[i].size >> 20;
	if (mebibytes >> (62 - 20))
		return err_set(err, ERR_FORMAT, "the total size of the objects exceeds 2^62 bytes");
	return 0;
}

static void sum_up(const struct sizes *s)
{
	struct heap *h = s->heap;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		struct heap_class *c = &h->classes[i];
		const struct tally *t = &s->tallies[i];
		bool known = c->instance_size != SIZE_UNKNOWN;
		c->n_objects = t->n;
		c->shallow = t->sized_bytes + (known ? t->n_plain * c->instance_size : 0);
		c->n_unknown = t->n_unknown + (known ? 0 : t->n_plain);
	}
	for (size_t i = 0; i < h->n_odd; i++) {
		struct heap_class *c = &h->classes[heap_class_index(h, h->odd[i].id)];
		bool known = c->instance_size != SIZE_UNKNOWN;
		c->shallow += h->odd[i].size - (known ? c->instance_size : 0);
		c->n_unknown -= !known;
	}
	for (uint32_t i = 0; i < h->n_classes; i++) {
		h->shallow += h->classes[i].shallow;
		h->n_unknown_size += h->classes[i].n_unknown;
	}
	heap_find_size_doubts(h);
}

static int begin(struct sizes *s, struct heap *h, bool as_mat, struct err *err)
{
	*s = (struct sizes){
		.heap = h,
		.as_mat = as_mat,
		.tallies = big_alloc(h->n_classes, sizeof(struct tally), err),
		.watch = big_alloc(h->n_classes, sizeof(uint8_t), err),
	};
	return s->tallies && s->watch ? 0 : ERR_NOMEM;
}

static int finish(struct sizes *s, int code, struct err *err)
{
	if (code == 0)
		code = check_sum(s, err);
	if (code == 0)
		sum_up(s);
	big_free(s->tallies);
	big_free(s->watch);
	big_free(s->watched);
	return code;
}

int sizes_again(struct heap *h, struct err *err)
{
	struct sizes s;
	int code = begin(&s, h, false, err);
	h->shallow = 0;
	h->n_unknown_size = 0;
	return finish(&s, code ? code : sizes_count(&s, err), err);
}

int sizes_settle(struct heap *h, bool as_mat, struct err *err)
{
	struct sizes s;
	/* MAT looks at the fields of what cairn exported as at those of any HPROF dump */
	bool by_fields = h->facts.size_rule == SIZES_FROM_FIELDS || (as_mat && h->facts.exported);
	int code = begin(&s, h, as_mat, err);
	if (!code)
		code = by_fields ? sizes_from_fields(&s, err) : sizes_recorded(&s, err);
	return finish(&s, code, err);
}

bool sizes_need_values(const struct heap *h)
{
	return h->facts.size_rule == SIZES_FROM_FIELDS && sizes_stack_chunks(h) != HEAP_NONE;
}
