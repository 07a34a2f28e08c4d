/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hashes.c - see hashes.h. */
#include "heap/hashes.h"

#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/err.h"
#include "dump/facts.h"
#include "dump/reader.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "memory/big.h"

#include <pthread.h>
#include <stdint.h>

/* What is looked for: the object at an address, or all that have a hash. */
struct hash_sink {
	struct sink sink; /* first: the reader's view of us */
	const struct heap *heap;
	bool by_hash;
	uint64_t address;
	uint32_t hash;
	bool met, hashed; /* the object at the address was met, and has a hash */
	uint32_t *ids;    /* by hash: of the objects met */
	size_t n, cap;
	uint64_t n_records;
	struct progress *progress;
};

static uint32_t no_handle(struct sink *sink, enum class_naming how, uint64_t address,
    const uint8_t *name, size_t name_size)
{
	(void)sink, (void)how, (void)address, (void)name, (void)name_size;
	return 0;
}

/* An address that is taken twice belongs to the first of its records: so the first ends the search. */
static int take(struct hash_sink *s, uint64_t address, bool hashed, uint32_t hash)
{
	if (progress_stops(s->progress, s->n_records++))
		return err_cancelled(s->sink.err);
	if (s->by_hash && hashed && hash == s->hash) {
		uint32_t id = heap_find(s->heap, address);
		uint32_t *to = id == HEAP_NONE ? NULL : BIG_PUSH(s->ids, s->n, s->cap, s->sink.err);
		if (to)
			*to = id;
		return to || id == HEAP_NONE ? 0 : ERR_NOMEM;
	}
	if (s->by_hash || address != s->address)
		return 0;
	s->met = true;
	s->hashed = hashed;
	s->hash = hash;
	return err_cancelled(s->sink.err); /* the rest need not be read */
}

static int take_object(struct sink *sink, const struct object_record *r)
{
	return take((struct hash_sink *)sink, r->address, r->hashed, r->hash);
}

static int take_class(struct sink *sink, const struct class_record *r)
{
	return take((struct hash_sink *)sink, r->address, r->hashed, r->hash);
}

static int pass_cut(struct sink *sink, const struct part *here)
{
	(void)here;
	return progress_check(((struct hash_sink *)sink)->progress, sink->err);
}

__attribute__((format(printf, 3, 4))) static void no_warning(struct sink *sink, uint64_t offset,
    const char *format, ...)
{
	(void)sink, (void)offset, (void)format; /* said when the dump was opened */
}

static int no_root(struct sink *sink, const struct root_record *root)
{
	(void)sink, (void)root;
	return 0;
}

static int no_thread(struct sink *sink, const struct thread_record *thread)
{
	(void)sink, (void)thread;
	return 0;
}

static void not_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	(void)sink, (void)what, (void)unit, (void)count;
}

/* Read a part; damage in it was reported when the dump was opened, and what stands before counts. */
static int read_part(struct hash_sink *s, const struct heap_part *part, struct err *err)
{
	const struct dump *dump = s->heap->dump;
	s->sink = (struct sink){
		.class_handle = no_handle,
		.object = take_object,
		.class_record = take_class,
		.root = no_root,
		.thread = no_thread,
		.part_begins = pass_cut,
		.warn = no_warning,
		.stated = not_stated,
		.err = err,
	};
	int code = dump->reader->read(dump, &part->part, &s->sink, err);
	return s->met || code == ERR_FORMAT || code == ERR_TRUNCATED ? 0 : code;
}

int hashes_recorded(const struct heap *h, struct err *err)
{
	if (!h->facts.hashes_recorded)
		return err_set(err, ERR_UNSUPPORTED, "%s holds no identity hashes", h->facts.title);
	if (h->no_references || !h->parts)
		return err_set(err, ERR_NOMEM, "identity hashes need references, which did not fit into memory");
	return 0;
}

int heap_hash_of(const struct heap *h, uint32_t id, uint32_t *hash, struct err *err)
{
	struct err damage = ERR_INIT;
	struct hash_sink s = {.heap = h, .address = heap_address(h, id), .progress = progress_own()};
	int code = hashes_recorded(h, err);
	for (unsigned i = 0; i < h->n_parts && !code && !s.met; i++) {
		if (s.address >= h->parts[i].low && s.address <= h->parts[i].high)
			code = read_part(&s, &h->parts[i], &damage);
		if (code)
			*err = damage;
	}
	if (!code && !s.hashed)
		return err_set(err, ERR_NOT_FOUND, "the dump has no identity hash of this object");
	*hash = s.hash;
	return code;
}

struct search {
	const struct heap *heap;
	uint32_t hash;
	struct progress *progress;
	pthread_mutex_t lock; /* guards ids */
	uint32_t *ids;
	size_t n, cap;
};

static int search_part(void *context, unsigned task, struct err *err)
{
	struct search *all = context;
	const struct heap_part *part = &all->heap->parts[task];
	struct hash_sink s = {.heap = all->heap, .by_hash = true, .hash = all->hash, .progress = all->progress};
	int code = read_part(&s, part, err);
	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < s.n && !code; i++) {
		uint32_t *to = BIG_PUSH(all->ids, all->n, all->cap, err);
		if (to)
			*to = s.ids[i];
		code = to ? 0 : ERR_NOMEM;
	}
	pthread_mutex_unlock(&all->lock);
	big_free(s.ids);
	if (!code && !progress_add(all->progress, part->part.end - part->part.begin))
		code = err_cancelled(err);
	return code;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

int hashes_find(const struct heap *h, uint32_t hash, uint32_t **ids, size_t *n,
    struct progress *progress, struct err *err)
{
	struct search all = {.heap = h, .hash = hash, .progress = progress};
	int code = hashes_recorded(h, err);
	if (code)
		return code;
	pthread_mutex_init(&all.lock, NULL);
	progress_phase(progress, PHASE_FIND_HASHES, h->source->size);
	code = parallel_run(0, h->n_parts, search_part, &all, err);
	pthread_mutex_destroy(&all.lock);
	if (!code)
		code = sort(all.ids, all.n, sizeof *all.ids, by_id, err);
	size_t kept = 0;
	for (size_t i = 0; i < all.n && !code; i++) /* a record may stand twice */
		if (!kept || all.ids[kept - 1] != all.ids[i])
			all.ids[kept++] = all.ids[i];
	if (code) {
		big_free(all.ids);
		return code;
	}
	*ids = all.ids;
	*n = kept;
	return 0;
}
