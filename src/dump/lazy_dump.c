/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lazy_dump.c - what stands for a dump whose file is inflated once somebody asks for its bytes.
 *
 * Inflating is a job of its own, so whoever asks waits for it and no longer than it wants to: when the last one leaves,
 * it is stopped, unless it goes on for whoever may ask yet (lazy_dump_begin).
 */
#include "dump/lazy_dump.h"

#include "dump/reader.h"

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "dump/registry.h"
#include "dump/source/source.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum state { WAITS, WORKS, THERE, FAILED };
enum { LOOK_MS = 2 }; /* how often who waits looks whether it was stopped */

struct lazy_dump {
	struct dump dump; /* first: what the others see */
	struct reader reader;
	unsigned heap_number;
	bool cut_known;

	_Atomic(enum state) state; /* what stands below is settled when it is THERE or FAILED */
	struct source *source;
	struct dump *inner;
	struct err err;

	pthread_mutex_t lock; /* guards the rest, and changes of state */
	pthread_cond_t ended;
	struct job job;
	bool begun;      /* the job is to be waited for before it begins again */
	bool goes_on;    /* though nobody waits */
	unsigned asking; /* threads that wait */
};

static _Thread_local bool waits_never;

void lazy_dump_wait_never(bool never)
{
	waits_never = never;
}

/* --- inflating ---------------------------------------------------------------------------------- */

static int open_inner(struct lazy_dump *l, struct progress *progress, struct err *err)
{
	const struct dump_options options = { .heap_number = l->heap_number, .no_companion = true };
	const struct source_look look = dump_look(&options);
	int code = source_inflate(&l->source, l->dump.source, &look, progress, err);
	if (!code && l->source->truncated && !l->cut_known) {
		code = err_because(err, err_set(err, ERR_IO, "%s", l->source->remark), ERR_SOURCE);
		err_context(err, "%.200s", l->source->path);
	}
	if (!code)
		code = dump_open(&l->inner, l->source, &options, err);
	if (!code && strcmp(l->inner->facts.format, l->dump.facts.format))
		code = err_set(err, ERR_FORMAT, "%.200s: its index is for another format", l->source->path);
	if (!code)
		return 0;
	dump_close(l->inner);
	source_close(l->source);
	l->inner = NULL;
	l->source = NULL;
	return code;
}

static int work(void *context, struct job *job)
{
	struct lazy_dump *l = context;
	int code = open_inner(l, &job->progress, &job->err);
	pthread_mutex_lock(&l->lock);
	l->err = job->err;
	atomic_store(&l->state, !code ? THERE : code == ERR_CANCELLED ? WAITS : FAILED);
	pthread_cond_broadcast(&l->ended);
	pthread_mutex_unlock(&l->lock);
	return code;
}

/* With the lock held.  One that was stopped and has not noticed yet goes on. */
static int begin(struct lazy_dump *l, struct err *err)
{
	if (atomic_load(&l->state) != WAITS) {
		atomic_store(&l->job.progress.cancel, false);
		return 0;
	}
	if (l->begun)
		job_wait(&l->job); /* at its very end */
	l->begun = false;
	atomic_store(&l->state, WORKS);
	int code = job_start(&l->job, work, l, -1);
	if (code) {
		*err = l->job.err;
		atomic_store(&l->state, WAITS);
	}
	l->begun = !code;
	return code;
}

/* --- waiting for it ------------------------------------------------------------------------------ */

static void wait_a_little(struct lazy_dump *l)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_MS * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&l->ended, &l->lock, &until);
}

/* How far the job is is how far who waits for it is. */
static void mirror(struct progress *own, const struct progress *job)
{
	if (!own)
		return;
	atomic_store(&own->total, atomic_load(&job->total));
	atomic_store(&own->done, atomic_load(&job->done));
	atomic_store(&own->phase, atomic_load(&job->phase));
}

static bool settled(struct lazy_dump *l)
{
	return atomic_load(&l->state) >= THERE;
}

static int wait_for(struct lazy_dump *l, struct err *err)
{
	struct progress *own = progress_own(), before = PROGRESS_INIT;
	int code = 0;
	pthread_mutex_lock(&l->lock);
	bool first = !l->asking++;
	if (first && own)
		mirror(&before, own);
	while (!code && !settled(l)) {
		pthread_mutex_unlock(&l->lock); /* whoever is held there (progress_hold) keeps nobody else waiting */
		code = progress_check(own, err);
		pthread_mutex_lock(&l->lock);
		if (!code && !settled(l))
			code = begin(l, err);
		if (!code && !settled(l))
			wait_a_little(l);
		if (first)
			mirror(own, &l->job.progress);
	}
	if (first)
		mirror(own, &before);
	if (!--l->asking && !l->goes_on && !settled(l))
		job_cancel(&l->job);
	pthread_mutex_unlock(&l->lock);
	return code;
}

/* The dump itself, or NULL: *err says why not. */
static const struct dump *inner_of(const struct dump *dump, struct err *err)
{
	struct lazy_dump *l = (struct lazy_dump *)(uintptr_t)dump;
	struct err own = ERR_INIT;
	int code = 0;
	if (!settled(l))
		code = waits_never ? err_set(&own, ERR_UNSUPPORTED, "the dump is still being inflated") : wait_for(l, &own);
	if (!code && atomic_load(&l->state) == THERE)
		return l->inner;
	if (err) {
		*err = code ? own : l->err;
		err->code = code == ERR_CANCELLED ? ERR_CANCELLED : ERR_IO; /* no reader's word on the dump */
	}
	return NULL;
}

/* --- what a reader does --------------------------------------------------------------------------- */

static int locate(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out, struct err *err)
{
	const struct dump *inner = inner_of(dump, err);
	return inner ? inner->reader->locate(inner, offset, steps, out, err) : ERR_IO;
}

static int read_part(const struct dump *dump, const struct part *part, struct sink *sink, struct err *err)
{
	const struct dump *inner = inner_of(dump, err);
	return inner ? inner->reader->read(inner, part, sink, err) : ERR_IO;
}

static int redact(const struct dump *dump, const struct redaction *wanted, FILE *to, uint64_t *written, struct err *err)
{
	const struct dump *inner = inner_of(dump, err);
	return inner ? inner->reader->redact(inner, wanted, to, written, err) : err->code;
}

static int symbols(const struct dump *dump, symbol_take *take, void *context, struct err *err)
{
	const struct dump *inner = inner_of(dump, err);
	if (!inner)
		return err->code;
	return inner->reader->symbols ? inner->reader->symbols(inner, take, context, err) : 0;
}

static void close_later(struct dump *dump)
{
	struct lazy_dump *l = (struct lazy_dump *)dump;

	if (l->begun) {
		job_stop(&l->job);
	}
	dump_close(l->inner);
	source_close(l->source);
	pthread_cond_destroy(&l->ended);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* --- for the others ------------------------------------------------------------------------------- */

struct dump *lazy_dump_new(const struct source *waiting, unsigned heap_number)
{
	struct lazy_dump *l = xcalloc(1, sizeof *l);

	l->heap_number = heap_number;
	l->reader.close = close_later;
	l->reader.read = read_part;
	l->reader.name = l->reader.title = l->reader.label = "";
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->ended, NULL);
	dump_begin(&l->dump, &l->reader, waiting);
	return &l->dump;
}

void lazy_dump_tells(struct dump *dump, const struct dump_facts *facts, bool cut)
{
	struct lazy_dump *l = (struct lazy_dump *)dump;

	l->reader.name = facts->format;
	l->reader.title = facts->title;
	l->reader.label = facts->label;
	l->reader.locate = facts->values != NO_VALUES ? locate : NULL;
	l->reader.redact = !strcmp(facts->format, "hprof") ? redact : NULL;
	l->reader.symbols = symbols;
	l->dump.facts = *facts;
	l->cut_known = cut;
}

/* NULL: it is a dump that is there. */
static struct lazy_dump *later_of(const struct dump *dump)
{
	return dump && dump->reader && dump->reader->close == close_later ? (struct lazy_dump *)(uintptr_t)dump : NULL;
}

void lazy_dump_begin(const struct dump *dump)
{
	struct lazy_dump *l = later_of(dump);
	struct err err = ERR_INIT;
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->goes_on = !settled(l) && !begin(l, &err);
	pthread_mutex_unlock(&l->lock);
}

bool lazy_dump_stop(const struct dump *dump)
{
	struct lazy_dump *l = later_of(dump);
	if (!l)
		return false;
	pthread_mutex_lock(&l->lock);
	bool stops = l->goes_on && !settled(l);
	l->goes_on = false;
	if (stops && !l->asking)
		job_cancel(&l->job);
	pthread_mutex_unlock(&l->lock);
	return stops;
}

struct progress *lazy_dump_progress(const struct dump *dump)
{
	struct lazy_dump *l = later_of(dump);
	return l && atomic_load(&l->state) == WORKS ? &l->job.progress : NULL;
}

bool lazy_dump_waits(const struct dump *dump)
{
	struct lazy_dump *l = later_of(dump);
	return l && !settled(l);
}

bool lazy_dump_barred(const struct dump *dump)
{
	return waits_never && lazy_dump_waits(dump);
}

bool lazy_dump_failed(const struct dump *dump, struct err *why)
{
	const struct lazy_dump *l = later_of(dump);
	if (!l || atomic_load(&l->state) != FAILED)
		return false;
	if (why)
		*why = l->err;
	return true;
}
