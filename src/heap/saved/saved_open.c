/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saved_open.c - from an index back to a heap: objects, classes and sizes, each number checked.
 *
 * Who forges an index knows the checksum.  So after it each number is held against what will be indexed
 * with it, while its stretch is in the cache; see chunks_check.
 */
#include "heap/saved/saving.h"

#include "base/big.h"
#include "base/mem.h"
#include "heap/index.h"
#include "heap/places.h"
#include "heap/string.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_AS "the index of the dump"

struct opening {
	struct heap *heap;
	const struct chunks *chunks;
	pthread_mutex_t lock; /* guards counts and n_wide */
	uint64_t *counts;     /* by class: its objects */
	uint64_t n_wide;
	struct chunk_look looks[CHUNKS_MOST];
	size_t n_looks;
};

static int damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, "what it tells of the heap is damaged");
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
	const uint32_t *class = h->class_of + from / sizeof *class;
	uint64_t count = n / sizeof *class, most = 0;
	for (uint64_t i = 0; i < count; i++)
		most = class[i] > most ? class[i] : most;
	if (most >= h->n_classes)
		return false;
	uint32_t *counts = calloc(2 * ((uint64_t)h->n_classes + 1), sizeof *counts);
	if (!counts)
		return false;
	for (uint64_t i = 0; i < count; i++)
		counts[2 * class[i] + (i & 1)]++;
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
	int code = hold ? bits_seal(&h->sized, err) : damaged(err);
	if (code)
		return code;
	uint64_t sized = h->n_objects ? bits_rank(&h->sized, h->n_objects - 1) +
	    (uint64_t)bits_get(&h->sized, h->n_objects - 1) : 0;
	hold = sized == h->n_sized && o->n_wide == h->n_wide && wide_holds(h) && odd_holds(h);
	return hold && first_run_holds(h) ? 0 : damaged(err);
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
		return damaged(err);
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

static int take_objects(struct opening *o, struct err *err)
{
	struct heap *h = o->heap;
	o->counts = big_alloc((uint64_t)h->n_classes + 1, sizeof *o->counts, err);
	int code = o->counts ? take(o, "class_of", &h->class_of, h->n_objects, 4, classes_are, err) : ERR_NOMEM;
	h->index->store_size = elements(o, "addresses", 1);
	if (!code)
		code = take(o, "addresses", &h->index->store, h->index->store_size, 1, NULL, err);
	if (!code && has(o, "typed_by"))
		code = take(o, "typed_by", &h->typed_by, h->n_objects, 1, typed_are, err);
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

/* Two chunks of a stream, checked. */
static int take_stream(const struct chunks *c, const char *numbers, const char *texts, struct pack *p,
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
	return code || pack_open(p, taken[0], n, taken[1], n_texts) ? code : damaged(err);
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
	int code = take_stream(h->saved->chunks, "reader", "reader_texts", &p, taken, err);
	if (!code)
		code = h->dump->reader->keep(h->dump, &p, err);
	if (!code && !pack_ends(&p))
		code = damaged(err);
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
	int code = take_stream(h->saved->chunks, "symbols", "symbol_texts", &p, h->saved->symbols, err);
	if (code)
		return code;
	pack_symbols(&p, h, NULL, &lack);
	if (lack.code)
		*err = lack;
	return lack.code || pack_ends(&p) ? lack.code : damaged(err);
}

static int take_heap(struct heap *h, struct err *err)
{
	struct saved *s = h->saved;
	const void *taken[2] = { NULL, NULL };
	struct pack p;
	struct opening o = { .heap = h, .chunks = s->chunks };
	int code = take_stream(s->chunks, "heap", "heap_texts", &p, taken, err);
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
		return damaged(err);
	pthread_mutex_init(&o.lock, NULL);
	code = take_objects(&o, err);
	pthread_mutex_destroy(&o.lock);
	big_free(o.counts);
	return code;
}

/* --- the dump ----------------------------------------------------------------------------------- */

/* What it says of itself is known, its bytes are not. */
static void open_absent(struct heap *h, const struct saved_key *k)
{
	h->dump = dump_absent(k->path, k->size);
	h->source = (struct source *)(uintptr_t)h->dump->source;
	h->dump_absent = true;
}

static void leave_out_values(struct heap *h, const char *why)
{
	struct text all = TEXT_INIT;
	const char *more = h->facts.cannot_tell;
	text_addf(&all, "%s%s%s", h->facts.values != NO_VALUES ? why : h->facts.hashes_recorded ?
	    "identity hashes stand in the dump, of which only the index is read" : "", more ? "; " : "", more ? more : "");
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
	leave_out_values(h, "values and texts stand in the dump, and only its index is here");
	dump_absent_tells(h->dump, &h->facts);
}

void heap_lose_values(struct heap *h)
{
	leave_out_values(h, "values and texts stand in the dump, of which only the index can be read");
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
		h->dump = dump_later(h->source, o->dump.heap_number);
	return code;
}

static int open_present(struct heap *h, const char *path, const struct heap_options *o, struct progress *progress,
    struct err *err)
{
	const struct source_look look = { dump_look, &o->dump };
	int code = open_later(h, path, o, err);
	if (code <= 0)
		return code;
	code = source_open_if(&h->source, path, &look, progress, err);
	return code ? code : dump_open(&h->dump, h->source, &o->dump, err);
}

/* --- from a path -------------------------------------------------------------------------------- */

/* An index that was opened, and which dump it is of. */
struct found {
	struct saved *saved;
	struct saved_key key;
	const void *taken[2];
};

static void forget(struct found *f)
{
	free((char *)(uintptr_t)f->key.path);
	big_free(f->taken[0]);
	big_free(f->taken[1]);
	saved_close(f->saved);
	*f = (struct found){ .saved = NULL };
}

static int find_key(struct found *f, const char *path, struct err *err)
{
	struct pack p;
	*f = (struct found){ .saved = xcalloc(1, sizeof *f->saved) };
	int code = chunks_open(&f->saved->chunks, path, err);
	if (!code)
		code = take_stream(f->saved->chunks, "key", "key_texts", &p, f->taken, err);
	if (!code)
		pack_key(&p, &f->key);
	if (!code && !pack_ends(&p))
		code = damaged(err);
	if (!code)
		f->saved->hold = file_hold_open(chunks_fd(f->saved->chunks), HELD_AS);
	if (code)
		forget(f);
	return code;
}

/* Make the heap; dump NULL: its dump is not there. */
static int make_heap(struct heap **out, struct found *f, const char *path, const char *dump,
    const struct heap_options *o, struct progress *progress, struct err *err)
{
	struct heap *h = xcalloc(1, sizeof *h);
	h->saved = f->saved;
	f->saved = NULL;
	h->boot_loader = HEAP_NONE;
	h->asked = *o;
	int code = 0;
	if (dump)
		code = open_present(h, dump, o, progress, err);
	else
		open_absent(h, &f->key);
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
		dump_later_tells(h->dump, &h->facts, h->damaged);
	if (h->companion)
		h->companion_hold = file_hold_path(h->companion, "the javacore of the dump");
	h->index_path = arena_strndup(&h->arena, path, strlen(path));
	h->references_wait = h->settled = true;
	*out = h;
	return 0;
}

static bool has_ending(const char *path)
{
	size_t n = strlen(path), ending = strlen(SAVED_ENDING);
	return n > ending && !strcmp(path + n - ending, SAVED_ENDING);
}

/* By its first bytes; what a full disk left by its name. */
static bool is_index(const char *path)
{
	char head[8] = "";
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? pread(fd, head, sizeof head, 0) : -1;
	bool is = n == sizeof head ? !memcmp(head, CHUNKS_MAGIC, sizeof head) : !n && has_ending(path);
	if (fd >= 0)
		close(fd);
	return is;
}

static bool is_serious(int code)
{
	return code == ERR_NOMEM || code == ERR_CANCELLED;
}

static void say_left_out(struct text *why, const char *path, const char *sentence)
{
	text_clear(why);
	text_addf(why, "the index %s is left out: %s", path, sentence);
}

/* The index at this path for this dump.  As saved_open. */
static int try_beside(struct heap **out, const char *path, const struct heap_options *o, struct text *why,
    struct progress *progress, struct err *err)
{
	struct found f;
	struct text reason = TEXT_INIT;
	struct err own = ERR_INIT;
	int code = find_key(&f, path, &own);
	if (code == ERR_NOT_FOUND)
		return 1;
	if (!code && f.key.nameless)
		code = err_set(&own, ERR_FORMAT, "it has numbers for names, and is opened by its own name only");
	else if (!code && (key_fits_options(&f.key, o, &reason) || key_fits_file(&f.key, o->path, o, &reason)))
		code = ERR_FORMAT;
	else if (!code)
		code = make_heap(out, &f, path, o->path, o, progress, &own);
	if (is_serious(code))
		*err = own;
	else if (code)
		say_left_out(why, path, reason.len ? reason.s : own.message);
	forget(&f);
	text_release(&reason);
	return code && !is_serious(code) ? 1 : code;
}

/* The dump that an index lies beside by its name: the caller's (free). */
static char *dump_beside(const char *path)
{
	if (!has_ending(path))
		return NULL;
	char *dump = xstrndup(path, strlen(path) - strlen(SAVED_ENDING));
	if (access(dump, R_OK) == 0)
		return dump;
	free(dump);
	return NULL;
}

/* An index was named: with its dump, where that is there and the same. */
static int open_named(struct heap **out, const struct heap_options *o, struct text *why, char **dump,
    struct progress *progress, struct err *err)
{
	struct found f;
	struct text reason = TEXT_INIT;
	struct err own = ERR_INIT;
	char *beside = dump_beside(o->path);
	int code = find_key(&f, o->path, &own);
	if (!code && key_fits_options(&f.key, o, &reason))
		code = err_set(&own, ERR_FORMAT, "%s", reason.s);
	const char *of = f.key.nameless ? NULL : beside;
	if (!code && !of && !f.key.nameless && access(f.key.path, R_OK) == 0)
		of = f.key.path;
	if (!code && of && key_fits_file(&f.key, of, o, &reason)) {
		text_addf(why, "%s is left out: %s; values and texts are missing", of, reason.s);
		of = NULL;
	}
	if (!code)
		code = make_heap(out, &f, o->path, of, o, progress, &own);
	if (code && !is_serious(code) && beside) {
		say_left_out(why, o->path, own.message);
		*dump = beside;
		beside = NULL;
		code = 1;
	} else if (code) {
		*err = own;
		saved_broken(err, o->path);
	}
	forget(&f);
	free(beside);
	text_release(&reason);
	return code;
}

/* 0: the index at this path is of this dump, or there is none.  1: of another one, and *why says so.  Or why it cannot
 * be told. */
static int is_of_another(const char *path, const char *dump, struct err *why)
{
	struct found f;
	char real[PATH_MAX];
	int code = find_key(&f, path, why);
	if (!code && f.key.nameless) {
		code = err_set(why, ERR_USAGE, "it has numbers for names");
	} else if (!code && strcmp(f.key.path, realpath(dump, real) ? real : dump)) {
		err_set(why, ERR_USAGE, "it is of another dump, %.300s", f.key.path);
		code = 1;
	}
	forget(&f);
	return code == ERR_NOT_FOUND ? 0 : code;
}

int saved_may_replace(const char *path, const char *dump, struct err *err)
{
	struct err why = ERR_INIT;
	int code = is_of_another(path, dump, &why);
	if (is_serious(code))
		return err_set(err, code, "%s", why.message);
	return !code ? 0 : err_set(err, ERR_USAGE, "%.300s is left as it is: %s; the command index would replace it", path,
	    why.message);
}

/* Dumps of one name share a place there: of one that is of another path nothing is to be said. */
static int try_in_cache(struct heap **out, const char *path, const struct heap_options *o, struct text *why,
    struct progress *progress, struct err *err)
{
	struct text reason = TEXT_INIT;
	struct err other = ERR_INIT;
	int code = try_beside(out, path, o, &reason, progress, err);
	if (code == 1 && reason.len && is_of_another(path, o->path, &other) != 1) {
		text_clear(why);
		text_add(why, reason.s);
	}
	text_release(&reason);
	return code;
}

int saved_open(struct heap **out, const struct heap_options *o, struct text *why, char **dump,
    struct progress *progress, struct err *err)
{
	if (is_index(o->path))
		return open_named(out, o, why, dump, progress, err);
	if (o->no_index)
		return 1;
	if (o->index)
		return try_beside(out, o->index, o, why, progress, err);
	char *path = saved_beside(o->path);
	int code = try_beside(out, path, o, why, progress, err);
	free(path);
	path = code == 1 ? saved_in_cache(o->path) : NULL;
	if (path)
		code = try_in_cache(out, path, o, why, progress, err);
	free(path);
	if (code == 0)
		text_clear(why);
	return code;
}

void saved_left_out(const struct heap *heap, const char *what, const struct err *why)
{
	struct heap *h = (struct heap *)(uintptr_t)heap;
	struct text said = TEXT_INIT;
	text_addf(&said, "%s of the index %s are left out, and found anew: %s", what, h->index_path,
	    why && why->code ? why->message : "they are damaged");
	h->index_refused = arena_strndup(&h->arena, said.s, said.len);
	text_release(&said);
}

void saved_broken(struct err *err, const char *path)
{
	struct err own = *err;
	if (is_serious(own.code))
		err_context(err, "%.200s", path);
	else
		err_set(err, own.code, "the index %.200s cannot be used: %.400s; index writes a new one where the dump is",
		    path, own.message);
}

const struct chunks *saved_chunks(const struct heap *h)
{
	return h->saved ? h->saved->chunks : NULL;
}

void saved_renewed(const struct heap *h, bool renewed)
{
	struct saved *s = h->saved;
	if (renewed) {
		file_let_go(s->hold);
		s->hold = 0;
	} else {
		s->hold = file_hold_open(chunks_fd(s->chunks), HELD_AS);
	}
}

void saved_close(struct saved *s)
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
