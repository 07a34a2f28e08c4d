/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * edge_pass.c - the second reading of a dump, which puts all references straight to their places.
 *
 * Each stretch between two cuts of the survey is a task for a thread.  Every object has its own
 * stretch of the target array, so threads need no lock.
 */
#include "heap/build/build.h"

#include "algorithms/parallel.h"
#include "dump/source/source.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "memory/big.h"

#include <stdlib.h>

struct fill_task {
	const struct count_pass_part *survey;
	const struct count_pass_cut *cut;
	uint64_t end;    /* offset where the next cut begins */
	uint64_t number; /* over all parts, of the first record */
};

struct edge_pass {
	struct build *build;
	struct fill_task *tasks;
	_Atomic uint64_t n_dangling, n_delivered;
};

struct edge_pass_sink {
	struct sink sink; /* first: the reader's view of us */
	struct build *build;
	struct index_cursor cursor;
	uint64_t number;      /* of the next record */
	size_t duplicate;     /* the next one in build->duplicates */
	/* Where references of the last objects go: those of neighbours to one place. */
	struct edge_pass_run {
		uint32_t *at;     /* NULL: of a record that does not count */
		uint64_t n;
	} runs[SINK_OBJECTS];
	unsigned n_runs, run; /* run: the next one that gets any */
	uint64_t n_dangling, n_delivered;
	uint64_t low, high;   /* addresses of the objects met */
	uint64_t n_unseen;    /* delivered since the last look at the cancel flag */
	struct err err;
};

static uint32_t fill_class_handle(struct sink *sink, enum class_naming how, uint64_t address,
    const uint8_t *name, size_t name_size)
{
	(void)sink, (void)how, (void)address, (void)name, (void)name_size;
	return 0; /* classes are known from the survey */
}

static int changed(struct edge_pass_sink *s)
{
	return err_set(s->sink.err, ERR_IO, "%s: changed while cairn read it", s->build->heap->source->path);
}

/* The run that was begun last has as many references as its objects, up to the one before `next`, have room for. */
static inline bool run_fits(const struct edge_pass_sink *s, uint64_t next)
{
	const struct adjacency *out = &s->build->heap->out;
	const struct edge_pass_run *run = s->n_runs ? &s->runs[s->n_runs - 1] : NULL;
	return !run || !run->at || run->at + run->n == out->target + adjacency_start(out, (uint32_t)next);
}

/* The id of the next record's object, HEAP_NONE for a record that does not count.  False: there is no such object. */
static inline bool identify(struct edge_pass_sink *s, uint64_t address, uint32_t *id)
{
	const struct build *b = s->build;
	uint64_t number = s->number++;
	s->low = address < s->low ? address : s->low;
	s->high = address > s->high ? address : s->high;
	if (__builtin_expect(s->duplicate < b->n_duplicates, 0) && b->duplicates[s->duplicate] == number) {
		s->duplicate++;
		*id = HEAP_NONE;
		return true;
	}
	*id = index_follow(&s->cursor, address);
	return *id != HEAP_NONE;
}

/* A record that does not count begins a run of its own, and so does an object that does not follow the one before. */
static int begin_objects(struct edge_pass_sink *s, const struct object_record *r, size_t n)
{
	struct build *b = s->build;
	const struct adjacency *out = &b->heap->out;
	uint64_t next = 0; /* the id that goes on with the run */
	if (progress_stops_in(b->progress, s->number, n))
		return err_cancelled(s->sink.err);
	s->n_runs = s->run = 0;
	for (size_t i = 0; i < n; i++, r++) {
		uint32_t id;
		if (!identify(s, r->address, &id))
			return changed(s);
		if (!s->n_runs || id != next || id == HEAP_NONE) {
			if (!run_fits(s, next))
				return changed(s);
			s->runs[s->n_runs++].at = id == HEAP_NONE ? NULL : out->target + adjacency_start(out, id);
			s->runs[s->n_runs - 1].n = 0;
		}
		s->runs[s->n_runs - 1].n += r->n_references;
		next = (uint64_t)id + 1;
		if (b->notes && id != HEAP_NONE)
			note_contents(b, id, r->contents);
	}
	return run_fits(s, next) ? 0 : changed(s);
}

/* Objects that ascend, with none between the first and the last but them: the ids of these two tell all. */
static bool in_a_row(const struct edge_pass_sink *s, const struct object_record *r, size_t n, uint32_t *id)
{
	const struct address_index *index = s->build->heap->index;
	bool ascend = true;
	for (size_t i = 1; i < n; i++)
		ascend &= r[i - 1].address < r[i].address;
	if (!ascend || s->duplicate < s->build->n_duplicates || s->build->notes)
		return false;
	*id = index_find(index, r[0].address);
	uint32_t last = index_find(index, r[n - 1].address);
	return *id != HEAP_NONE && last != HEAP_NONE && last - *id == n - 1;
}

static int fill_objects(struct sink *sink, const struct object_record *r, size_t n)
{
	struct edge_pass_sink *s = (struct edge_pass_sink *)sink;
	struct build *b = s->build;
	uint32_t id;
	if (!in_a_row(s, r, n, &id))
		return begin_objects(s, r, n);
	if (progress_stops_in(b->progress, s->number, n))
		return err_cancelled(sink->err);
	s->low = r[0].address < s->low ? r[0].address : s->low;
	s->high = r[n - 1].address > s->high ? r[n - 1].address : s->high;
	s->number += n;
	s->n_runs = 1;
	s->run = 0;
	s->runs[0] = (struct edge_pass_run){ b->heap->out.target + adjacency_start(&b->heap->out, id), 0 };
	for (size_t i = 0; i < n; i++)
		s->runs[0].n += r[i].n_references;
	return run_fits(s, (uint64_t)id + n) ? 0 : changed(s);
}

static int fill_object(struct sink *sink, const struct object_record *r)
{
	return begin_objects((struct edge_pass_sink *)sink, r, 1);
}

/* The object that a pointer into an object, or to somewhere else, leads to. */
static uint32_t covering(const struct heap *h, uint64_t address)
{
	uint64_t start;
	return heap_covering(h, address, &start);
}

/* Of n references that were just put, those that lead to no object. */
static __attribute__((noinline)) void note_stale(struct edge_pass_sink *s, const uint32_t *to, const uint64_t *targets,
    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (to[i] == HEAP_NONE)
			stale_note(s->build, (uint64_t)(to + i - s->build->heap->out.target), targets[i]);
}

static inline __attribute__((always_inline)) void put(struct edge_pass_sink *s, uint32_t *to, const uint64_t *targets,
    size_t n, const bool native)
{
	const struct heap *h = s->build->heap;
	const struct address_index *index = h->index;
	const bool interior = h->facts.interior_pointers;
	uint64_t n_dangling = 0;
	for (size_t i = 0; i < n; i++) {
		to[i] = index_find_by(index, targets[i], native);
		if (to[i] == HEAP_NONE && interior)
			to[i] = covering(h, targets[i]);
		n_dangling += to[i] == HEAP_NONE;
	}
	if (__builtin_expect(n_dangling && s->build->stale, 0))
		note_stale(s, to, targets, n);
	s->n_dangling += n_dangling;
	s->n_delivered += n;
}

static inline __attribute__((always_inline)) int put_all(struct edge_pass_sink *s, const uint64_t *targets, size_t n,
    const bool native)
{
	if ((s->n_unseen += n) >= PROGRESS_ROUNDS) {
		s->n_unseen = 0;
		if (progress_cancelled(s->build->progress))
			return err_cancelled(s->sink.err);
	}
	while (n) {
		if (s->run == s->n_runs)
			return changed(s);
		struct edge_pass_run *run = &s->runs[s->run];
		size_t here = n < run->n ? n : run->n;
		if (run->at) {
			put(s, run->at, targets, here, native);
			run->at += here;
		}
		run->n -= here;
		s->run += !run->n;
		targets += here;
		n -= here;
	}
	return 0;
}

static int fill_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	return put_all((struct edge_pass_sink *)sink, targets, n, false);
}

BITS_NATIVE static int fill_references_native(struct sink *sink, const uint64_t *targets, size_t n)
{
	return put_all((struct edge_pass_sink *)sink, targets, n, true);
}

static int fill_class_record(struct sink *sink, const struct class_record *r)
{
	struct object_record object = { .address = r->address, .n_references = r->n_references };
	int code = fill_object(sink, &object);
	return code < 0 ? code : fill_references(sink, r->references, r->n_references);
}

static int fill_cut(struct sink *sink, const struct part *here)
{
	(void)here;
	return progress_check(((struct edge_pass_sink *)sink)->build->progress, sink->err);
}

__attribute__((format(printf, 3, 4))) static void fill_warn(struct sink *sink, uint64_t offset,
    const char *format, ...)
{
	(void)sink, (void)offset, (void)format; /* said by the survey */
}

static void fill_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	(void)sink, (void)what, (void)unit, (void)count;
}

static int fill_part(void *context, unsigned task, struct err *err)
{
	struct edge_pass *f = context;
	struct build *b = f->build;
	const struct fill_task *t = &f->tasks[task];
	struct edge_pass_sink s = {
		.sink = {
			.wants_references = true,
			.class_handle = fill_class_handle,
			.object = fill_object,
			.objects = fill_objects,
			.class_record = fill_class_record,
			.references = bits_native() ? fill_references_native : fill_references,
			.part_begins = fill_cut,
			.warn = fill_warn,
			.stated = fill_stated,
		},
		.build = b,
		.number = t->number,
		.duplicate = objects_duplicate_from(b, t->number),
		.low = UINT64_MAX,
	};
	s.sink.err = &s.err;
	index_cursor_init(&s.cursor, b->heap->index);
	struct part part = t->cut->part;
	part.end = t->end;
	const struct dump *dump = b->heap->dump;
	int code = dump->reader->read(dump, &part, &s.sink, &s.err);
	f->n_dangling += s.n_dangling;
	f->n_delivered += s.n_delivered;
	if (b->heap->parts)
		b->heap->parts[task] = (struct heap_part){part, s.low, s.high};
	if ((code == ERR_FORMAT || code == ERR_TRUNCATED) && t->survey->result < 0)
		code = 0; /* the damage that the survey met */
	if (code < 0)
		*err = s.err;
	else if (!progress_add(b->progress, part.end - part.begin))
		code = err_cancelled(err);
	return code;
}

/* --- the order of elements ---------------------------------------------------------------------- */

enum { REVERSE_AT_ONCE = 1 << 18 }; /* ids in a task */

static int reverse_arrays(void *context, unsigned task, struct err *err)
{
	const struct build *b = context;
	struct heap *h = b->heap;
	uint64_t end = ((uint64_t)task + 1) * REVERSE_AT_ONCE;
	for (uint64_t id = (uint64_t)task * REVERSE_AT_ONCE; id < end && id < h->n_objects; id++) {
		if (h->classes[heap_class_index(h, id)].kind != CLASS_OBJECT_ARRAY)
			continue;
		uint64_t low = adjacency_start(&h->out, (uint32_t)id), high = adjacency_start(&h->out, (uint32_t)id + 1);
		for (; high > low + 1; low++) {
			uint32_t first = h->out.target[low];
			h->out.target[low] = h->out.target[--high];
			h->out.target[high] = first;
		}
	}
	return progress_cancelled(b->progress) ? err_cancelled(err) : 0;
}

static int order_elements(struct build *b, struct err *err)
{
	const struct heap *h = b->heap;
	if (!h->facts.elements_last_first || !h->n_objects)
		return 0;
	unsigned tasks = (unsigned)(((uint64_t)h->n_objects + REVERSE_AT_ONCE - 1) / REVERSE_AT_ONCE);
	return parallel_run(0, tasks, reverse_arrays, b, err);
}

static struct fill_task *list_tasks(const struct build *b, unsigned *n, struct err *err)
{
	size_t n_cuts = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		n_cuts += b->parts[i].n_cuts;
	struct fill_task *tasks = big_alloc(n_cuts, sizeof *tasks, err);
	*n = 0;
	for (unsigned i = 0; tasks && i < b->n_parts; i++) {
		const struct count_pass_part *p = &b->parts[i];
		for (size_t k = 0; k < p->n_cuts; k++)
			tasks[(*n)++] = (struct fill_task){
				.survey = p,
				.cut = &p->cuts[k],
				.end = k + 1 < p->n_cuts ? p->cuts[k + 1].part.begin : p->part.end,
				.number = p->first_record + p->cuts[k].record,
			};
	}
	return tasks;
}

static int place_references(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	struct degrees d = { b->degrees, sizeof *b->degrees, b->long_degrees, b->n_long_degrees };
	int code = adjacency_init(&h->out, h->n_objects, err);
	if (!code)
		code = adjacency_place(&h->out, h->n_objects, &d, err);
	if (!code)
		h->out.target = big_alloc(h->out.n, sizeof *h->out.target, err);
	big_free(b->degrees);
	b->degrees = NULL;
	return code || h->out.target ? code : ERR_NOMEM;
}

int edge_pass_run(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	/* The survey's records are no longer needed; its cuts are. */
	for (unsigned i = 0; i < b->n_slices; i++)
		records_release(&b->slices[i]->records);
	int code = place_references(b, err);
	if (code == 0)
		code = stale_prepare(b, err);
	if (code < 0)
		return code;
	struct edge_pass f = { .build = b };
	unsigned n;
	f.tasks = list_tasks(b, &n, err);
	if (f.tasks && h->facts.hashes_recorded) {
		h->parts = big_alloc(n, sizeof *h->parts, err);
		h->n_parts = h->parts ? n : 0;
	}
	if (!f.tasks || h->facts.hashes_recorded != (h->parts != NULL)) {
		big_free(f.tasks);
		return ERR_NOMEM;
	}
	progress_phase(b->progress, PHASE_READ_REFERENCES, h->source->size);
	code = parallel_run(0, n, fill_part, &f, err);
	big_free(f.tasks);
	if (code == 0 && f.n_delivered != h->out.n)
		code = err_set(err, ERR_IO, "%s: changed while cairn read it", h->source->path);
	h->n_dangling = f.n_dangling;
	if (code == 0)
		code = order_elements(b, err);
	if (code == 0 && h->n_dangling)
		adjacency_compact(&h->out, h->n_objects);
	return code;
}
