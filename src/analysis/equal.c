/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * equal.c - see equal.h.
 *
 * The objects are counted first, so all prints are in one block.  Those of a chunk of objects are ordered by the upper
 * bits of their hashes.  A task groups what all chunks have of the same bits, in a table that fits into the
 * processor's cache.
 */
#include "analysis/equal.h"

#include "algorithms/map.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/references.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { A_CHUNK = 1 << 16, TASK_SHIFT = 55 };

struct finding {
	const struct equal_objects *what;
	unsigned n_chunks;
	uint64_t *first;                    /* of each chunk: its first print; one more */
	struct equal_print *print;
	uint32_t (*begin)[EQUAL_TASKS + 1]; /* of each chunk: of its prints, by task */
	uint64_t different[EQUAL_TASKS];
};

static bool is_candidate(const struct finding *f, uint32_t id)
{
	return f->what->kinds >> f->what->kind_of[heap_class_index(f->what->heap, id)] & 1;
}

static uint32_t chunk_end(const struct finding *f, unsigned chunk)
{
	uint32_t n = f->what->heap->n_objects, begin = chunk * A_CHUNK;
	return n - begin < A_CHUNK ? n : begin + A_CHUNK;
}

static uint32_t id_at(const struct finding *f, uint32_t i)
{
	return f->what->order ? f->what->order[i] : i;
}

static int count(void *context, unsigned chunk, struct err *err)
{
	struct finding *f = context;
	(void)err;
	for (uint32_t i = chunk * A_CHUNK; i < chunk_end(f, chunk); i++)
		f->first[chunk + 1] += is_candidate(f, id_at(f, i));
	return 0;
}

static unsigned task_of(const struct equal_print *p)
{
	return (unsigned)(p->of.hash[0] >> TASK_SHIFT);
}

/* Put n prints in the order of their tasks; the others' order is any. */
static void partition(struct equal_print *p, uint32_t n, uint32_t begin[EQUAL_TASKS + 1])
{
	uint32_t at[EQUAL_TASKS] = {0}, sum = 0;
	for (uint32_t i = 0; i < n; i++)
		at[task_of(&p[i])]++;
	for (unsigned k = 0; k < EQUAL_TASKS; k++) {
		begin[k] = sum;
		sum += at[k];
		at[k] = begin[k];
	}
	begin[EQUAL_TASKS] = n;
	for (unsigned k = 0; k < EQUAL_TASKS; k++) {
		while (at[k] < begin[k + 1]) {
			struct equal_print one = p[at[k]];
			unsigned to = task_of(&one);
			p[at[k]] = p[at[to]];
			p[at[to]++] = one;
		}
	}
}

/* Of the last long contents: a text that many share would be read again for each. */
enum { MEMO = 64, MEMO_LEAST = 64 };
struct memo {
	struct equal_content content;
	struct fingerprint of;
};

static struct fingerprint fingerprint_of(struct memo memo[MEMO], const struct equal_content *c)
{
	struct memo *m = &memo[hash_number((uintptr_t)c->bytes) % MEMO];
	if (c->n < MEMO_LEAST || c->copied)
		return hash_fingerprint(c->bytes, c->n, c->with);
	if (m->content.bytes != c->bytes || m->content.n != c->n || m->content.with != c->with)
		*m = (struct memo){*c, hash_fingerprint(c->bytes, c->n, c->with)};
	return m->of;
}

static int print_chunk(void *context, unsigned chunk, struct err *err)
{
	struct finding *f = context;
	struct equal_walk walk = {.heap = f->what->heap, .context = f->what->source};
	struct equal_print *to = f->print + f->first[chunk];
	struct memo memo[MEMO] = {{.content.bytes = NULL}};
	struct equal_content content;
	uint32_t n = 0;
	for (uint32_t i = chunk * A_CHUNK; i < chunk_end(f, chunk); i++) {
		uint32_t id = id_at(f, i);
		if (progress_own_stops(16 * (uint64_t)i))
			return err_cancelled(err);
		if (is_candidate(f, id) && f->what->read(&walk, id, &content))
			to[n++] = (struct equal_print){fingerprint_of(memo, &content), id, content.array};
	}
	partition(to, n, f->begin[chunk]);
	return progress_add(progress_own(), chunk_end(f, chunk) - chunk * A_CHUNK) ? 0 : err_cancelled(err);
}

/* --- grouping ----------------------------------------------------------------------------------- */

struct table {
	uint64_t n;
	struct map map;
	struct seen {
		const struct equal_print *one;
		uint32_t n;
	} *seen;
	uint32_t n_seen;
	struct equal_print *several;
	uint64_t n_several;
};

#define print_hash(list, number) ((list)[number].one->of.hash[0])
#define same_hash(a, b) ((a) == (b))
#define own_hash(hash) (hash)
MAP(prints, const struct seen *, uint64_t, print_hash, own_hash, same_hash)

/* There are slots for all. */
static struct seen *enter(struct table *t, const struct equal_print *p)
{
	uint32_t *slot = prints_slot(&t->map, t->seen, p->of.hash[0]);
	if (!*slot) {
		t->seen[t->n_seen].one = p;
		*slot = ++t->n_seen;
	}
	return &t->seen[*slot - 1];
}

static int compared(const struct equal_print *a, const struct equal_print *b)
{
	for (unsigned k = 0; k < 2; k++)
		if (a->of.hash[k] != b->of.hash[k])
			return a->of.hash[k] < b->of.hash[k] ? -1 : 1;
	return 0;
}

static int by_content(const void *x, const void *y)
{
	const struct equal_print *a = x, *b = y;
	int order = compared(a, b);
	return order ? order : (a->id > b->id) - (a->id < b->id);
}

/* The prints of a task that share their first hash with others, equal ones in a row, their ids ascending. */
static int find_several(struct table *t, const struct finding *f, unsigned task, struct err *err)
{
	for (unsigned s = 0; s < f->n_chunks; s++)
		t->n += f->begin[s][task + 1] - f->begin[s][task];
	if (!t->n)
		return 0;
	t->seen = big_alloc(t->n, sizeof *t->seen, err);
	if (!t->seen || map_room(&t->map, (uint32_t)t->n, err))
		return ERR_NOMEM;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned s = 0; s < f->n_chunks; s++) {
			const struct equal_print *p = f->print + f->first[s];
			for (uint32_t i = f->begin[s][task]; i < f->begin[s][task + 1]; i++) {
				struct seen *seen = enter(t, &p[i]);
				if (!pass)
					t->n_several += ++seen->n == 2 ? 2 : seen->n > 2;
				else if (seen->n > 1)
					t->several[t->n_several++] = p[i];
			}
		}
		if (!pass && !(t->several = big_alloc(t->n_several, sizeof *t->several, err)))
			return ERR_NOMEM;
		t->n_several = pass ? t->n_several : 0;
	}
	return sort(t->several, t->n_several, sizeof *t->several, by_content, err);
}

enum { STATICS_MOST = 8 };

/* How well an object is kept: 2 where a class's constants hold it, 1 where a static field does, or an array in one. */
static unsigned keeps(const struct heap *h, uint32_t id)
{
	uint64_t at = adjacency_start(&h->in, id), n = adjacency_degree(&h->in, id);
	unsigned best = 0;
	for (uint64_t i = 0; i < n && i < STATICS_MOST && best < 2; i++) {
		uint32_t holder = h->in.target[at + i], class;
		const char *field;
		bool array = heap_class_of(h, holder)->kind == CLASS_OBJECT_ARRAY && adjacency_degree(&h->in, holder);
		uint32_t above = array ? h->in.target[adjacency_start(&h->in, holder)] : holder;
		if (heap_class_mirrored(h, above) == HEAP_NONE)
			continue;
		best = array && inspect_declared_field(h, above, holder, &class, &field) && *field == '<' ? 2 : 1;
	}
	return best;
}

static void best_first(const struct heap *h, struct equal_print *p, size_t n)
{
	size_t best = 0;
	unsigned most = 0;
	for (size_t i = 0; i < n && most < 2; i++) {
		unsigned here = keeps(h, p[i].id);
		best = here > most ? i : best;
		most = here > most ? here : most;
	}
	if (!best)
		return;
	struct equal_print one = p[best];
	memmove(&p[1], &p[0], best * sizeof *p);
	p[0] = one;
}

static int group_task(void *context, unsigned task, struct err *err)
{
	struct finding *f = context;
	const struct equal_objects *what = f->what;
	struct table t = {.n = 0};
	int code = find_several(&t, f, task, err);
	size_t end;
	f->different[task] = t.n - t.n_several;
	for (size_t at = 0; !code && at < t.n_several; at = end) {
		if (progress_own_stops(0))
			code = err_cancelled(err);
		for (end = at + 1; end < t.n_several && !compared(&t.several[at], &t.several[end]);)
			end++;
		f->different[task]++;
		if (end - at == 1)
			continue;
		if (what->constants)
			best_first(what->heap, &t.several[at], end - at);
		code = code ? code : what->found(what->context, task, &t.several[at], end - at, err);
	}
	map_release(&t.map);
	big_free(t.seen);
	big_free(t.several);
	return !code && !progress_add(progress_own(), t.n) ? err_cancelled(err) : code;
}

/* --- all together ------------------------------------------------------------------------------- */

static int find(struct finding *f, struct err *err)
{
	uint32_t n = f->what->heap->n_objects;
	f->n_chunks = (unsigned)(((uint64_t)n + A_CHUNK - 1) / A_CHUNK);
	f->first = big_alloc(f->n_chunks + 1, sizeof *f->first, err);
	f->begin = big_alloc(f->n_chunks, sizeof *f->begin, err);
	if (!f->first || !f->begin)
		return ERR_NOMEM;
	int code = parallel_run(0, f->n_chunks, count, f, err);
	for (unsigned s = 0; s < f->n_chunks; s++)
		f->first[s + 1] += f->first[s];
	if (!code && !(f->print = big_alloc(f->first[f->n_chunks], sizeof *f->print, err)))
		code = ERR_NOMEM;
	progress_phase(progress_own(), f->what->reading, n);
	if (!code)
		code = parallel_run(0, f->n_chunks, print_chunk, f, err);
	progress_phase(progress_own(), f->what->comparing, f->first[f->n_chunks]);
	return code ? code : parallel_run(0, EQUAL_TASKS, group_task, f, err);
}

int equal_objects_find(struct equal_objects *e, struct err *err)
{
	struct finding *f = xcalloc(1, sizeof *f);
	f->what = e;
	int code = find(f, err);
	e->compared = e->different = 0;
	for (unsigned c = 0; !code && c < f->n_chunks; c++)
		e->compared += f->begin[c][EQUAL_TASKS];
	for (unsigned t = 0; t < EQUAL_TASKS; t++)
		e->different += f->different[t];
	big_free(f->first);
	big_free(f->begin);
	big_free(f->print);
	free(f);
	return code;
}
