/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * need.c - how much memory a dump will take, from a hundredth of it.
 *
 * Where a format can be read from places in its middle, stretches from several are read, for a heap is not the same
 * from its beginning to its end; else its first bytes.  What stands in a stretch is taken for what stands in the whole
 * part that it begins.
 */
#include "heap/build/build.h"

#include "base/memory_limit.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <string.h>

enum {
	STRETCHES = 16,
	SAMPLED = 100,                 /* one byte of so many */
	LEAST_STRETCH = 1 << 20,       /* bytes: large arrays must not decide */
	LEAST_FIRST = 1 << 22,         /* the same where there is but one stretch */
	MOST_SAMPLED = 1 << 26,        /* of all: some 50 ms */
	FIXED = 2 << 20,               /* bytes: what does not grow with a dump */
	OF_CLASS = 1 << 10,            /* bytes: a class with its fields and its names */
	OF_ROOT = 112,                 /* bytes, while they are read and sorted */
};

struct sampling {
	struct sink sink; /* first: the reader's view of us */
	struct progress *progress;
	uint64_t objects, sized, references, roots;
	uint64_t all_objects, all_references; /* as the dump states them, 0: it does not */
	uint64_t sizes; /* objects that tell their sizes */
	uint64_t classes; /* with records, which stand together: as many as were met */
	uint64_t bytes; /* of the parts that all this is of */
};

static uint32_t sample_class(struct sink *sink, enum class_naming how, uint64_t address, const uint8_t *name, size_t n)
{
	(void)sink, (void)how, (void)address, (void)name, (void)n;
	return 0;
}

static int sample_object(struct sink *sink, const struct object_record *r)
{
	struct sampling *s = (struct sampling *)sink;
	if (progress_stops(s->progress, s->objects++))
		return err_cancelled(sink->err);
	s->sized += r->kind != OBJECT_INSTANCE;
	s->sizes += r->kind != OBJECT_INSTANCE && r->size != SIZE_UNKNOWN;
	s->references += r->n_references;
	return 0;
}

static int sample_class_record(struct sink *sink, const struct class_record *r)
{
	struct sampling *s = (struct sampling *)sink;
	s->objects++;
	s->classes++;
	s->references += r->n_references;
	return 0;
}

static int sample_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	(void)sink, (void)targets, (void)n;
	return 0;
}

static int sample_root(struct sink *sink, const struct root_record *r)
{
	struct sampling *s = (struct sampling *)sink;
	(void)r;
	if (progress_stops(s->progress, s->roots++))
		return err_cancelled(sink->err);
	return 0;
}

static int sample_thread(struct sink *sink, const struct thread_record *r)
{
	(void)sink, (void)r;
	return 0;
}

static int sample_cut(struct sink *sink, const struct part *here)
{
	(void)here;
	return progress_check(((struct sampling *)sink)->progress, sink->err);
}

__attribute__((format(printf, 3, 4))) static void sample_warn(struct sink *sink, uint64_t offset, const char *format,
    ...)
{
	(void)sink, (void)offset, (void)format; /* the survey will say it */
}

/* The totals that PHD dumps of old VMs begin with. */
static void sample_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	struct sampling *s = (struct sampling *)sink;
	(void)unit;
	if (!strcmp(what, "records"))
		s->all_objects = count;
	else if (!strcmp(what, "references"))
		s->all_references = count;
}

static uint64_t times(uint64_t n, double factor)
{
	double product = (double)n * factor;
	return product < 1e18 ? (uint64_t)product : (uint64_t)1e18;
}

/* One stretch, and its part by it. */
static int sample_part(struct build *b, const struct part *whole, uint64_t most, struct sampling *all, struct err *err)
{
	const struct dump *dump = b->heap->dump;
	struct part part = *whole;
	struct err own = ERR_INIT;
	struct sampling s = {
		.sink = {
			.sample = true,
			.class_handle = sample_class,
			.object = sample_object,
			.class_record = sample_class_record,
			.references = sample_references,
			.root = sample_root,
			.thread = sample_thread,
			.part_begins = sample_cut,
			.warn = sample_warn,
			.stated = sample_stated,
			.err = &own,
		},
		.progress = b->progress,
	};
	if (part.end - part.begin > most)
		part.end = part.begin + most;
	if (part.end <= part.begin)
		return 0;
	int code = dump->reader->read(dump, &part, &s.sink, &own);
	if (code == ERR_CANCELLED || code == ERR_NOMEM)
		*err = own;
	if (code == ERR_CANCELLED || code == ERR_NOMEM)
		return code;
	if (code < 0) /* any other damage is met again, and a guess where records begin was wrong */
		return 0;
	/* the last record may be a large array */
	uint64_t end = s.sink.reached > part.end ? s.sink.reached < whole->end ? s.sink.reached : whole->end : part.end;
	double factor = (double)(whole->end - whole->begin) / (double)(end - part.begin);
	all->bytes += whole->end - whole->begin;
	all->objects += times(s.objects, factor);
	all->sized += times(s.sized, factor);
	all->sizes += times(s.sizes, factor);
	all->references += times(s.references, factor);
	all->roots += times(s.roots, factor);
	all->all_objects = s.all_objects ? s.all_objects : all->all_objects;
	all->all_references = s.all_references ? s.all_references : all->all_references;
	all->classes += s.classes;
	return 0;
}

/* What the dump states counts where it is not absurd. */
static uint64_t stated_or(uint64_t stated, uint64_t found, uint64_t bytes)
{
	return stated && stated < bytes ? stated : found;
}

/* What builder.c takes for so many; see the head of build.h. */
static void weigh(const struct build *b, const struct sampling *s, struct heap_need *need)
{
	const struct dump_facts *facts = &b->heap->dump->facts;
	const uint64_t n = need->objects, r = need->references;
	const uint64_t of_dumps = memory_limit_of_dumps() / 3 * 2; /* they pack to about a third */
	const uint64_t now = big_in_use() - of_dumps + FIXED + OF_CLASS * s->classes + OF_ROOT * s->roots;
	uint64_t extents = s->sized * (s->sizes > s->sized / 2 ? 8 : 4);
	/* index, classes, what marks objects with a size of their own; where their records lie */
	uint64_t places = facts->values == NO_VALUES ? 0 : n / 2;
	uint64_t kept = n + (s->classes < CLASSES_LOW ? 2 : 4) * n + n / 8 + extents + places;
	uint64_t survey = 4 * n + n / 4 + 2 * s->sized + kept + n;
	uint64_t typing = b->heap->dump->reader->memory ? 9 * n + 4 * n + 4 * r : 0;
	uint64_t walk = facts->roots_recorded ? n / 2 : 4 * n; /* the one that proves inferred roots */
	uint64_t whole = 4 * n + n / 8 + 8 * r + walk;
	if (typing)
		kept += n;
	need->objects_bytes = now + survey;
	need->bytes = now + (survey > kept + whole ? survey : kept + whole);
	if (now + kept + typing > need->bytes)
		need->bytes = now + kept + typing;
}

int need_tell(struct build *b, struct err *err)
{
	const struct dump *dump = b->heap->dump;
	struct part parts[STRETCHES];
	struct sampling all = { .objects = 0 };
	memset(parts, 0, sizeof parts);
	memory_limit_expect(0, 0); /* what was known is of another dump */
	if (!b->options->needs || dump->source->size < HEAP_NEED_FROM)
		return 0;
	unsigned n = dump->reader->parts(dump, STRETCHES, parts);
	uint64_t bytes = dump->source->size / SAMPLED, least = n > 1 ? LEAST_STRETCH : LEAST_FIRST;
	bytes = (bytes < MOST_SAMPLED ? bytes : MOST_SAMPLED) / n;
	int code = 0;
	for (unsigned i = 0; i < n && code == 0; i++)
		code = sample_part(b, &parts[i], bytes > least ? bytes : least, &all, err);
	double factor = all.bytes ? (double)(parts[n - 1].end - parts[0].begin) / (double)all.bytes : 0;
	all.sized = times(all.sized, factor);
	all.sizes = times(all.sizes, factor);
	all.roots = times(all.roots, factor);
	struct heap_need need = {
		.objects = stated_or(all.all_objects, times(all.objects, factor), dump->source->size),
		.references = stated_or(all.all_references, times(all.references, factor), dump->source->size),
	};
	if (code < 0 || !need.objects)
		return code;
	weigh(b, &all, &need);
	b->options->needs(b->options->needs_context, &need);
	return 0;
}
