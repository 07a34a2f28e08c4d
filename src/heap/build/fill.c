/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fill.c - the second reading of a dump, which puts all references straight to their places.
 *
 * Each stretch between two cuts of the survey is a task for a thread.  Every object has its own
 * stretch of the target array, so threads need no lock.
 */
#include "heap/build/build.h"

#include "base/big.h"
#include "base/parallel.h"

#include <stdlib.h>

struct fill_task {
	const struct survey_part *survey;
	const struct survey_cut *cut;
	uint64_t end;    /* offset where the next cut begins */
	uint64_t number; /* over all parts, of the first record */
};

struct fill {
	struct build *build;
	struct fill_task *tasks;
	_Atomic uint64_t n_dangling, n_delivered;
};

struct fill_sink {
	struct sink sink; /* first: the reader's view of us */
	struct build *build;
	struct index_cursor cursor;
	uint64_t number;      /* of the next record */
	size_t duplicate;     /* the next one in build->duplicates */
	uint32_t *at, *end;   /* where the current object's references go */
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

/* *id: the object's, HEAP_NONE for a record that does not count. */
static int begin_object(struct fill_sink *s, uint64_t address, uint32_t *out)
{
	const struct build *b = s->build;
	struct heap *h = b->heap;
	uint64_t number = s->number++;
	if (progress_stops(b->progress, number))
		return err_cancelled(s->sink.err);
	s->at = s->end = NULL;
	*out = HEAP_NONE;
	s->low = address < s->low ? address : s->low;
	s->high = address > s->high ? address : s->high;
	if (s->duplicate < b->n_duplicates && b->duplicates[s->duplicate] == number) {
		s->duplicate++;
		return 0;
	}
	uint32_t id = *out = index_follow(&s->cursor, address);
	if (id == HEAP_NONE)
		return err_set(s->sink.err, ERR_IO, "%s: changed while it was read", h->source->path);
	s->at = h->out.target + adjacency_start(&h->out, id);
	s->end = h->out.target + adjacency_start(&h->out, id + 1);
	return 0;
}

static int begin_record(struct fill_sink *s, uint64_t address)
{
	uint32_t id;
	return begin_object(s, address, &id);
}

/* The reader will want to see the object's memory. */
static int fill_noted(struct fill_sink *s, const struct object_record *r)
{
	uint32_t id;
	int code = begin_object(s, r->address, &id);
	if (code == 0 && id != HEAP_NONE)
		note_contents(s->build, id, r->contents);
	return code;
}

/* The object that a pointer into an object, or to somewhere else, leads to. */
static uint32_t covering(const struct heap *h, uint64_t address)
{
	uint64_t start;
	return heap_covering(h, address, &start);
}

static int fill_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	struct fill_sink *s = (struct fill_sink *)sink;
	const struct address_index *index = s->build->heap->index;
	const bool interior = s->build->heap->facts.interior_pointers;
	if (!s->at)
		return 0; /* of a duplicate */
	if ((size_t)(s->end - s->at) < n)
		return err_set(sink->err, ERR_IO, "%s: changed while it was read",
		    s->build->heap->source->path);
	uint32_t *to = s->at;
	uint64_t n_dangling = 0;
	if ((s->n_unseen += n) >= PROGRESS_ROUNDS) {
		s->n_unseen = 0;
		if (progress_cancelled(s->build->progress))
			return err_cancelled(sink->err);
	}
	for (size_t i = 0; i < n; i++) {
		to[i] = index_find(index, targets[i]);
		if (to[i] == HEAP_NONE && interior)
			to[i] = covering(s->build->heap, targets[i]);
		n_dangling += to[i] == HEAP_NONE;
	}
	s->at += n;
	s->n_dangling += n_dangling;
	s->n_delivered += n;
	return 0;
}

static int fill_object(struct sink *sink, const struct object_record *r)
{
	struct fill_sink *s = (struct fill_sink *)sink;
	return s->build->notes ? fill_noted(s, r) : begin_record(s, r->address);
}

static int fill_class_record(struct sink *sink, const struct class_record *r)
{
	int code = begin_record((struct fill_sink *)sink, r->address);
	return code < 0 ? code : fill_references(sink, r->references, r->n_references);
}

static int fill_cut(struct sink *sink, const struct part *here)
{
	(void)here;
	return progress_check(((struct fill_sink *)sink)->build->progress, sink->err);
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
	struct fill *f = context;
	struct build *b = f->build;
	const struct fill_task *t = &f->tasks[task];
	struct fill_sink s = {
		.sink = {
			.wants_references = true,
			.class_handle = fill_class_handle,
			.object = fill_object,
			.class_record = fill_class_record,
			.references = fill_references,
			.cut = fill_cut,
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

static struct fill_task *list_tasks(const struct build *b, unsigned *n, struct err *err)
{
	size_t n_cuts = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		n_cuts += b->parts[i].n_cuts;
	struct fill_task *tasks = big_alloc(n_cuts, sizeof *tasks, err);
	*n = 0;
	for (unsigned i = 0; tasks && i < b->n_parts; i++) {
		const struct survey_part *p = &b->parts[i];
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

int fill_run(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	/* The survey's records are no longer needed; its cuts are. */
	for (unsigned i = 0; i < b->n_slices; i++)
		records_release(&b->slices[i]->records);
	int code = adjacency_from_degrees(&h->out, h->n_objects, b->degrees, b->long_degrees, b->n_long_degrees, err);
	big_free(b->degrees);
	b->degrees = NULL;
	if (code < 0)
		return code;
	struct fill f = { .build = b };
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
		code = err_set(err, ERR_IO, "%s: changed while it was read", h->source->path);
	h->n_dangling = f.n_dangling;
	if (code == 0 && h->n_dangling)
		adjacency_compact(&h->out, h->n_objects);
	return code;
}
