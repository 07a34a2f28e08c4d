/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_open.c - from an index back to a heap: objects, classes and sizes, each number checked.
 *
 * Who forges an index knows the checksum.  So after it each number is held against what will be indexed
 * with it, while its stretch is in the cache; see chunks_check.
 */
#include "heap/index_file/saving.h"

#include "algorithms/chunks.h"
#include "base/mem.h"
#include "dump/dump_stub.h"
#include "dump/lazy_dump.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "heap/index_file/index_file.h"
#include "heap/open.h"
#include "heap/places.h"
#include "heap/string.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct opening {
	struct heap *heap;
	const struct chunks *chunks;
	pthread_mutex_t lock; /* guards counts and n_wide */
	uint64_t *counts;     /* by class: its objects */
	uint64_t n_wide;
	struct chunk_look looks[CHUNKS_MOST];
	size_t n_looks;
};

int index_file_damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, "its data about the heap is damaged");
}

/* Take a chunk of so many elements into *to, and have it looked at. */
static int take(struct opening *o, const char *name, void *to, uint64_t count, size_t size,
    bool (*holds)(void *context, uint64_t from, uint64_t n), struct err *err)
{
	const void *bytes;
	uint64_t n = chunks_bytes(o->chunks, name);
	if (n != UINT64_MAX && n != count * size)
		return err_set(err, ERR_FORMAT, "its chunk %s has a wrong length", name);
	int code = chunks_take(o->chunks, name, &bytes, &n, err);
	if (code)
		return code;
	memcpy(to, &bytes, sizeof bytes); /* a pointer of its type; the heap frees it */
	o->looks[o->n_looks++] = (struct chunk_look){ .name = name, .bytes = bytes, .holds = holds, .context = o };
	return 0;
}

static uint64_t elements(const struct opening *o, const char *name, size_t size)
{
	uint64_t n = chunks_bytes(o->chunks, name);
	return n == UINT64_MAX ? 0 : n / size;
}

static bool has(const struct opening *o, const char *name)
{
	return chunks_bytes(o->chunks, name) != UINT64_MAX;
}

/* --- what holds --------------------------------------------------------------------------------- */

/* Counted in two tables, for neighbours are often of one class. */
static bool classes_are(void *context, uint64_t from, uint64_t n)
{
	struct opening *o = context;
	const struct heap *h = o->heap;
	uint32_t first = (uint32_t)(from / sizeof *h->class_low), most = 0;
	uint32_t end = first + (uint32_t)(n / sizeof *h->class_low);
	for (uint32_t id = first; id < end; id++)
		most = heap_class_index(h, id) > most ? heap_class_index(h, id) : most;
	if (most >= h->n_classes)
		return false;
	uint32_t *counts = calloc(2 * ((uint64_t)h->n_classes + 1), sizeof *counts);
	if (!counts)
		return false;
	for (uint32_t id = first; id < end; id++)
		counts[2 * (uint64_t)heap_class_index(h, id) + (id & 1)]++;
	pthread_mutex_lock(&o->lock);
	for (uint32_t c = 0; c < h->n_classes; c++)
		o->counts[c] += counts[2 * c] + counts[2 * c + 1];
	pthread_mutex_unlock(&o->lock);
	free(counts);
	return true;
}

/* How many stand in heap->wide, as the marks say. */
static bool sizes_are(void *context, uint64_t from, uint64_t n)
{
	struct opening *o = context;
	const struct heap *h = o->heap;
	uint64_t wide = 0;
	for (uint64_t i = from / 4; i < (from + n) / 4; i++)
		wide += (h->own_size && h->own_size[i] == OWN_WIDE) || (h->own_length && h->own_length[i] == OWN_WIDE);
	pthread_mutex_lock(&o->lock);
	o->n_wide += wide;
	pthread_mutex_unlock(&o->lock);
	return true;
}

static bool numbers_are(void *context, uint64_t from, uint64_t n)
{
	const struct places *p = ((struct opening *)context)->heap->places;
	uint32_t most = 0;
	for (uint64_t i = from / 4; i < (from + n) / 4; i++)
		most = p->numbers[i] > most ? p->numbers[i] : most;
	return most / PLACE_STEP < p->n_offsets;
}

/* A run goes on over the ids of class objects, which have no records, perhaps beyond the last record. */
static bool runs_are(void *context, uint64_t from, uint64_t n)
{
	const struct heap *h = ((struct opening *)context)->heap;
	const struct places *p = h->places;
	for (uint64_t i = from / sizeof *p->runs; i < (from + n) / sizeof *p->runs; i++) {
		uint64_t end = i + 1 < p->n_runs ? p->runs[i + 1].id : h->n_objects;
		if (p->runs[i].id >= end || p->runs[i].number / PLACE_STEP >= p->n_offsets)
			return false;
	}
	return true;
}

/* --- after the chunks were looked at ------------------------------------------------------------ */

static bool wide_holds(const struct heap *h)
{
	for (size_t i = 0; i < h->n_wide; i++) {
		uint32_t id = h->wide[i].id;
		if (id >= h->n_objects || (i && h->wide[i - 1].id >= id) || !bits_get(&h->sized, id))
			return false;
		uint32_t at = bits_rank(&h->sized, id);
		if (!(h->own_size && h->own_size[at] == OWN_WIDE) && !(h->own_length && h->own_length[at] == OWN_WIDE))
			return false;
	}
	return true;
}

static bool odd_holds(const struct heap *h)
{
	for (size_t i = 0; i < h->n_odd; i++)
		if (h->odd[i].id >= h->n_objects || (i && h->odd[i - 1].id >= h->odd[i].id))
			return false;
	return true;
}

/* The class object of a class leads back to the class: many arrays of class objects are indexed by either. */
static bool class_objects_hold(const struct heap *h)
{
	for (uint32_t c = 0; c < h->n_classes; c++)
		if (h->classes[c].object != HEAP_NONE && heap_class_mirrored(h, h->classes[c].object) != c)
			return false;
	return true;
}

/* A class object has no record among the runs, anything else has one. */
static bool first_run_holds(const struct heap *h)
{
	const struct places *p = h->places;
	if (!p || p->numbers)
		return true;
	uint32_t before = p->n_runs ? p->runs[0].id : h->n_objects;
	for (uint32_t id = 0; id < before; id++)
		if (heap_class_mirrored(h, id) == HEAP_NONE)
			return false;
	return true;
}

static int check_objects(struct opening *o, struct err *err)
{
	struct heap *h = o->heap;
	uint64_t tail = h->n_objects % 64 ? h->sized.word[h->n_objects / 64] >> h->n_objects % 64 : 0;
	bool hold = !tail;
	for (uint32_t c = 0; c < h->n_classes; c++)
		hold &= o->counts[c] == h->classes[c].n_objects;
	int code = hold ? bits_seal(&h->sized, err) : index_file_damaged(err);
	if (code)
		return code;
	uint64_t sized = h->n_objects ? bits_rank(&h->sized, h->n_objects - 1) +
	    (uint64_t)bits_get(&h->sized, h->n_objects - 1) : 0;
	hold = sized == h->n_sized && o->n_wide == h->n_wide && wide_holds(h) && odd_holds(h);
	return hold && class_objects_hold(h) && first_run_holds(h) ? 0 : index_file_damaged(err);
}

/* --- taking ------------------------------------------------------------------------------------- */

static int take_sizes(struct opening *o, struct err *err)
{
	struct heap *h = o->heap;
	bool lengths = has(o, "own_length");
	h->sized.n = h->n_objects;
	h->n_wide = h->cap_wide = elements(o, "wide", sizeof *h->wide);
	h->n_odd = elements(o, "odd", sizeof *h->odd);
	int code = take(o, "sized", &h->sized.word, ((uint64_t)h->n_objects + 63) / 64, 8, NULL, err);
	if (!code && has(o, "own_size")) /* both are there before either is looked at */
		code = take(o, "own_size", &h->own_size, h->n_sized, 4, lengths ? NULL : sizes_are, err);
	if (!code && lengths)
		code = take(o, "own_length", &h->own_length, h->n_sized, 4, sizes_are, err);
	if (!code)
		code = take(o, "wide", &h->wide, h->n_wide, sizeof *h->wide, NULL, err);
	return code ? code : take(o, "odd", &h->odd, h->n_odd, sizeof *h->odd, NULL, err);
}

static int take_places(struct opening *o, struct err *err)
{
	struct heap *h = o->heap;
	if (!has(o, "places") || h->dump_absent)
		return 0;
	struct places *p = h->places = xcalloc(1, sizeof *p);
	p->n_offsets = elements(o, "places", sizeof *p->offset);
	int code = take(o, "places", &p->offset, p->n_offsets, sizeof *p->offset, NULL, err);
	if (code)
		return code;
	if (p->n_offsets > UINT32_MAX / PLACE_STEP)
		return index_file_damaged(err);
	if (has(o, "place_numbers")) {
		p->n_numbers = h->n_objects;
		return take(o, "place_numbers", &p->numbers, h->n_objects, 4, numbers_are, err);
	}
	p->n_runs = p->cap_runs = elements(o, "place_runs", sizeof *p->runs);
	return take(o, "place_runs", &p->runs, p->n_runs, sizeof *p->runs, runs_are, err);
}

static bool typed_are(void *context, uint64_t from, uint64_t n)
{
	const struct heap *h = ((struct opening *)context)->heap;
	uint8_t most = 0;
	for (uint64_t id = from; id < from + n; id++)
		most = h->typed_by[id] > most ? h->typed_by[id] : most;
	return most < TYPED_BYS;
}

static bool spaces_are(void *context, uint64_t from, uint64_t n)
{
	const struct heap *h = ((struct opening *)context)->heap;
	uint8_t most = 0;
	for (uint64_t id = from; id < from + n; id++)
		most = h->space_of[id] > most ? h->space_of[id] : most;
	return most < h->n_spaces;
}

/* The high bits first: both are there before either is looked at. */
static int take_classes(struct opening *o, struct err *err)
{
	struct heap *h = o->heap;
	int code = has(o, "class_high") ? take(o, "class_high", &h->class_high, h->n_objects, 2, NULL, err) : 0;
	return code ? code : take(o, "class_low", &h->class_low, h->n_objects, 2, classes_are, err);
}

static int take_objects(struct opening *o, struct err *err)
{
	struct heap *h = o->heap;
	o->counts = big_alloc((uint64_t)h->n_classes + 1, sizeof *o->counts, err);
	int code = o->counts ? take_classes(o, err) : ERR_NOMEM;
	h->index->store_size = elements(o, "addresses", 1);
	if (!code)
		code = take(o, "addresses", &h->index->store, h->index->store_size, 1, NULL, err);
	if (!code && has(o, "typed_by"))
		code = take(o, "typed_by", &h->typed_by, h->n_objects, 1, typed_are, err);
	if (!code && h->n_spaces)
		code = take(o, "space_of", &h->space_of, h->n_objects, 1, spaces_are, err);
	if (!code)
		code = take_sizes(o, err);
	if (!code)
		code = take_places(o, err);
	if (!code)
		code = chunks_check(o->chunks, o->looks, o->n_looks, err);
	if (!code)
		code = pages_check(h, err);
	return code ? code : check_objects(o, err);
}

int saved_stream(const struct chunks *c, const char *numbers, const char *texts, struct pack *p,
    const void *taken[2], struct err *err)
{
	uint64_t n = 0, n_texts = 0;
	int code = chunks_take(c, numbers, &taken[0], &n, err);
	if (!code)
		code = chunks_take(c, texts, &taken[1], &n_texts, err);
	if (!code) {
		struct chunk_look looks[] = {
			{ .name = numbers, .bytes = taken[0] }, { .name = texts, .bytes = taken[1] } };
		code = chunks_check(c, looks, 2, err);
	}
	return code || pack_open(p, taken[0], n, taken[1], n_texts) ? code : index_file_damaged(err);
}

static bool has_reader(const struct heap *h)
{
	return chunks_bytes(h->saved->chunks, "reader") != UINT64_MAX;
}

/* What the reader found, which it needs before anything else is taken: types. */
static int take_reader(struct heap *h, struct err *err)
{
	const void *taken[2] = { NULL, NULL };
	struct pack p;
	if (h->dump_absent || !h->dump->reader->keep)
		return 0;
	int code = saved_stream(h->saved->chunks, "reader", "reader_texts", &p, taken, err);
	if (!code)
		code = h->dump->reader->keep(h->dump, &p, err);
	if (!code && !pack_ends(&p))
		code = index_file_damaged(err);
	big_free(taken[0]);
	big_free(taken[1]);
	return code;
}

/* What the dump would be asked for the names of. */
static int take_symbols(struct heap *h, struct err *err)
{
	struct pack p;
	struct err lack = ERR_INIT;
	if (!h->dump_absent || chunks_bytes(h->saved->chunks, "symbols") == UINT64_MAX)
		return 0;
	int code = saved_stream(h->saved->chunks, "symbols", "symbol_texts", &p, h->saved->symbols, err);
	if (code)
		return code;
	pack_symbols(&p, h, NULL, &lack);
	if (lack.code)
		*err = lack;
	return lack.code || pack_ends(&p) ? lack.code : index_file_damaged(err);
}

static int take_heap(struct heap *h, struct err *err)
{
	struct saved *s = h->saved;
	const void *taken[2] = { NULL, NULL };
	struct pack p;
	struct opening o = { .heap = h, .chunks = s->chunks };
	int code = saved_stream(s->chunks, "heap", "heap_texts", &p, taken, err);
	s->numbers = taken[0];
	s->texts = taken[1];
	if (code)
		return code;
	struct err lack = ERR_INIT;
	pack_heap(&p, h, &lack);
	if (lack.code) {
		*err = lack;
		return lack.code;
	}
	if (!pack_ends(&p))
		return index_file_damaged(err);
	pthread_mutex_init(&o.lock, NULL);
	code = take_objects(&o, err);
	pthread_mutex_destroy(&o.lock);
	big_free(o.counts);
	return code;
}

/* --- the dump ----------------------------------------------------------------------------------- */

/* What it says of itself is known, its bytes are not. */
static void open_absent(struct heap *h, const struct index_file_key *k)
{
	h->dump = dump_stub_new(k->path, k->size);
	h->source = (struct source *)(uintptr_t)h->dump->source;
	h->dump_absent = true;
}

static void leave_out_values(struct heap *h, const char *why)
{
	struct text all = TEXT_INIT;
	const char *more = h->facts.cannot_tell;
	text_addf(&all, "%s%s%s", h->facts.values != NO_VALUES ? why : h->facts.hashes_recorded ?
	    "identity hashes are in the dump, and only its index was read" : "", more ? "; " : "", more ? more : "");
	if (h->facts.values != NO_VALUES || h->facts.hashes_recorded)
		h->facts.cannot_tell = arena_strndup(&h->arena, all.s, all.len);
	text_release(&all);
	if (h->facts.values != NO_VALUES) {
		h->facts.no_values = why;
		h->facts.values = VALUES_AWAY;
	}
	h->facts.hashes_recorded = false;
}

static void name_absent(struct heap *h)
{
	leave_out_values(h, "values and strings are in the dump, and only its index is present");
	dump_stub_tells(h->dump, &h->facts);
}

void heap_lose_values(struct heap *h)
{
	leave_out_values(h, "values and strings are in the dump, and only its index is readable");
	places_release(h->places);
	h->places = NULL;
	h->strings = NULL;
}

/* What it says of itself is known, and its bytes are there once somebody asks for them.  1: that will not do. */
static int open_later(struct heap *h, const char *path, const struct heap_options *o, struct err *err)
{
	if (has_reader(h)) /* which wants to see the dump before anything else */
		return 1;
	int code = source_open_waiting(&h->source, path, err);
	if (!code)
		h->dump = lazy_dump_new(h->source, o->dump.heap_number);
	return code;
}

static int open_present(struct heap *h, const char *path, const struct heap_options *o, struct progress *progress,
    struct err *err)
{
	const struct source_look look = dump_look(&o->dump);
	int code = open_later(h, path, o, err);
	if (code <= 0)
		return code;
	code = source_open_if(&h->source, path, &look, progress, err);
	return code ? code : dump_open(&h->dump, h->source, &o->dump, err);
}

int index_file_make(struct heap **out, struct saved **saved, const struct index_file_key *key, const char *path,
    const char *dump, const struct heap_options *o, struct progress *progress, struct err *err)
{
	struct heap *h = xcalloc(1, sizeof *h);
	h->saved = *saved;
	*saved = NULL;
	h->boot_loader = HEAP_NONE;
	h->asked = *o;
	int code = 0;
	if (dump)
		code = open_present(h, dump, o, progress, err);
	else
		open_absent(h, key);
	if (!code)
		code = take_reader(h, err);
	if (!code)
		code = take_heap(h, err);
	if (!code)
		code = take_symbols(h, err);
	if (code) {
		heap_close(h);
		return code;
	}
	if (dump)
		string_layout_find(h);
	else
		name_absent(h);
	if (h->source->compressed && !h->source->size)
		lazy_dump_tells(h->dump, &h->facts, h->damaged);
	if (h->companion)
		h->companion_hold = file_hold_path(h->companion, "the javacore of the dump");
	heap_keep_arrays(h);
	h->index_path = arena_strndup(&h->arena, path, strlen(path));
	h->references_wait = h->settled = true;
	*out = h;
	return 0;
}

void index_file_left_out(const struct heap *heap, const char *what, const struct err *why)
{
	struct heap *h = (struct heap *)(uintptr_t)heap;
	struct text said = TEXT_INIT;
	text_addf(&said, "%s of the index %s are ignored and computed again: %s", what, h->index_path,
	    why && why->code ? why->message : "they are damaged");
	h->index_refused = arena_strndup(&h->arena, said.s, said.len);
	text_release(&said);
}

const struct chunks *index_file_chunks(const struct heap *h)
{
	return h->saved ? h->saved->chunks : NULL;
}

void index_file_renewing(const struct heap *h, bool begins)
{
	struct saved *s = h->saved;
	if (begins) {
		file_let_go(s->hold);
		s->hold = 0;
	} else {
		s->hold = file_hold_open(chunks_fd(s->chunks), HELD_AS);
	}
}

void index_file_close(struct saved *s)
{
	if (!s)
		return;
	chunks_close(s->chunks);
	big_free(s->numbers);
	big_free(s->texts);
	big_free(s->symbols[0]);
	big_free(s->symbols[1]);
	file_let_go(s->hold);
	free(s);
}
