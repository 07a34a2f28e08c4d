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

/* What one thread counts of one class. */
struct count {
	uint64_t sized_bytes;
	uint32_t n[2]; /* of even and of odd ids: a row of one class does not wait for a single counter */
	uint32_t n_sized, n_unknown;
	uint32_t to_watch; /* so many more plain instances are to be listed; UINT32_MAX: all */
};

struct count_task {
	uint32_t begin, end; /* ids */
	struct count *counts;
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

static int watch(struct count_task *t, uint32_t id, struct count *count, struct err *err)
{
	if (count->to_watch != UINT32_MAX)
		count->to_watch--;
	return BIG_ADD(t->watched, t->n_watched, t->cap_watched, err, id);
}

static void count_sized(const struct heap *h, struct count_task *t, uint32_t id, uint32_t place)
{
	struct count *count = &t->counts[heap_class_index(h, id)];
	uint64_t bytes = sized_bytes(h, id, place);
	count->n_sized++;
	count->sized_bytes += bytes == SIZE_UNKNOWN ? 0 : bytes;
	count->n_unknown += bytes == SIZE_UNKNOWN;
	t->mebibytes += bytes == SIZE_UNKNOWN ? 0 : bytes >> 20;
}

/* In words of heap.sized: whether the next object is sized cannot be guessed, so all are counted, then the sized. */
static int count_objects(void *context, unsigned task, struct err *err)
{
	const struct counting *counting = context;
	const struct heap *h = counting->sizes->heap;
	struct count_task *t = &counting->tasks[task];
	uint32_t place = t->begin < t->end ? bits_rank(&h->sized, t->begin) : 0;
	struct count *counts = t->counts;
	struct progress *work = progress_own();
	int code = 0;
	for (uint32_t id = t->begin; id < t->end && code == 0;) {
		uint32_t first = id & ~63u, end = t->end - first < 64 ? t->end : first + 64;
		uint64_t sized = h->sized.word[first >> 6] & UINT64_MAX << (id & 63);
		if (progress_stops(work, first >> 6))
			return err_cancelled(err);
		for (; id < end && code == 0; id++) {
			struct count *count = &counts[heap_class_index(h, id)];
			count->n[id & 1]++;
			if (__builtin_expect(count->to_watch && !(sized >> (id & 63) & 1), 0))
				code = watch(t, id, count, err);
		}
		for (sized &= UINT64_MAX >> (63 - ((end - 1) & 63)); sized; sized &= sized - 1)
			count_sized(h, t, first + (uint32_t)__builtin_ctzll(sized), place++);
	}
	return code;
}

static int join(struct sizes *s, const struct count_task *t, struct err *err)
{
	const struct heap *h = s->heap;
	s->mebibytes += t->mebibytes;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct count *c = &t->counts[i];
		s->tallies[i].sized_bytes += c->sized_bytes;
		s->tallies[i].n += c->n[0] + c->n[1];
		s->tallies[i].n_plain += c->n[0] + c->n[1] - c->n_sized;
		s->tallies[i].n_unknown += c->n_unknown;
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

static void begin_watching(const struct sizes *s, struct count *counts)
{
	static const uint32_t most[] = { [WATCH_SOME] = WATCHED_SOME, [WATCH_ALL] = UINT32_MAX };
	for (uint32_t i = 0; i < s->heap->n_classes; i++)
		counts[i].to_watch = most[s->watch[i]];
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
			.counts = big_alloc(h->n_classes, sizeof *counting.tasks->counts, err),
		};
		if (counting.tasks[i].counts)
			begin_watching(s, counting.tasks[i].counts);
		else
			code = ERR_NOMEM;
	}
	if (!code)
		code = parallel_run(n, n, count_objects, &counting, err);
	for (unsigned i = 0; i < n; i++) {
		if (!code)
			code = join(s, &counting.tasks[i], err);
		big_free(counting.tasks[i].counts);
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
