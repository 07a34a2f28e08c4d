/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_sites.c - where objects were allocated, of dumps whose writer noted it: each record of an object has the
 * serial of a stack.
 *
 * The old agent (hprof, heap=dump and heap=all) writes stacks for all of them, Android where allocations are tracked.
 * HotSpot's own writer gives all of them the serial 1, a stack without frames, and its stacks are those of threads.  So
 * the records are read once more only where something says that it may be worth it: that the agent or Android wrote
 * them, or that some of the first in some segments differ.  The first time to see which stacks have objects, the second
 * time to tell them.
 */
#include "dump/hprof/hprof_dump.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <string.h>

enum {
	MOST_FRAMES = 128,         /* of a stack */
	MOST_FRAMES_IN_ALL = 1 << 22, /* a dump can have many stacks of the same few frames; then the innermost of each */
	SEGMENTS_LOOKED_AT = 64, OBJECTS_LOOKED_AT = 256, RECORDS_LOOKED_AT = 4096, /* of each: objects, of all records */
};

/* A walk over the objects of the heap, class objects included. */
struct serials {
	const struct hprof *h;
	uint32_t segment;
	uint64_t at; /* 0: at the beginning of the segment */
	uint64_t round, most; /* records looked at; 0: all may be */
	bool stopped;
};

/* Where the serial of the next object stands, behind its address, which is at *address; NULL: there is no other. */
static const uint8_t *next_serial(struct serials *w, uint64_t *address)
{
	const struct hprof *h = w->h;
	const unsigned ids = h->id_size;
	const uint8_t *bytes = h->dump.source->bytes;
	const char *why;

	while (w->segment < h->n_segments) {
		const struct hprof_segment *s = &h->segments[w->segment];
		uint64_t at = w->at ? w->at : s->begin;
		uint64_t size = at < s->end ? hprof_sub_size(h, bytes + at, s->end - at, &why) : 0;
		if (w->most && w->round == w->most)
			return NULL;
		if (progress_own_stops(w->round++)) {
			w->stopped = true;
			return NULL;
		}
		if (!size || size == UINT64_MAX) { /* the end, or damage that the readings reported */
			w->segment++;
			w->at = 0;
			continue;
		}
		w->at = at + size;
		const uint8_t *p = bytes + at;
		if (*p != SUB_INSTANCE && *p != SUB_OBJECT_ARRAY && *p != SUB_PRIMITIVE_ARRAY && *p != SUB_CLASS &&
		    *p != SUB_ARRAY_WITHOUT_DATA)
			continue;
		*address = hprof_id(p + 1, ids);
		return p + 1 + ids;
	}
	return NULL;
}

/* One without frames says no more than that somebody looked. */
enum stack { STACK_NOWHERE, STACK_EMPTY, STACK_FRAMES };

static enum stack stack_of(const struct hprof *h, uint32_t serial)
{
	uint64_t at = idmap_get(&h->traces, serial);
	if (at == IDMAP_NONE)
		return STACK_NOWHERE;
	return load_be32(h->dump.source->bytes + at + RECORD_HEAD + 8) ? STACK_FRAMES : STACK_EMPTY;
}

/* Android writes a stack without frames where it tracks nothing. */
static bool some_stack_has_frames(const struct hprof *h)
{
	for (uint64_t i = 0; i < h->traces.n_slots && !progress_own_stops(i); i++)
		if (h->traces.slots[i].value_plus_1 && stack_of(h, (uint32_t)h->traces.slots[i].key) == STACK_FRAMES)
			return true;
	return false;
}

static bool some_differ(const struct hprof *h)
{
	uint32_t step = h->n_segments / SEGMENTS_LOOKED_AT + 1, first = 0;
	bool any = false;

	for (uint32_t i = 0; i < h->n_segments; i += step) {
		struct serials w = { .h = h, .segment = i, .most = RECORDS_LOOKED_AT };
		uint64_t address;
		const uint8_t *p;
		for (unsigned n = 0; n < OBJECTS_LOOKED_AT && (p = next_serial(&w, &address)); n++) {
			if (any && load_be32(p) != first)
				return true;
			first = load_be32(p);
			any = true;
		}
	}
	return false;
}

/* --- sites -------------------------------------------------------------------------------------- */

struct told {
	const struct hprof *h;
	struct site_sink *sink;
	struct err *err;
	struct idmap used;    /* serials of stacks that have objects -> enum stack */
	uint32_t *serials;    /* of those with frames; big memory */
	uint64_t n_serials;
	struct idmap texts;   /* frame id -> its text */
	struct idmap allocs;  /* serial -> objects allocated there, as ALLOC SITES counts them */
	struct idmap frees;   /* and of these no longer there */
	struct arena arena;
	uint64_t frames_left;
};

static const char *frame_text(struct told *t, uint64_t id)
{
	uint64_t known = idmap_get(&t->texts, id);
	struct text text = TEXT_INIT;

	if (known != IDMAP_NONE)
		return (const char *)(uintptr_t)known;
	hprof_add_frame(t->h, &text, id);
	const char *kept = arena_try_strndup(&t->arena, text.s ? text.s : "", text.len, t->err);
	text_release(&text);
	if (kept && idmap_put(&t->texts, id, (uintptr_t)kept, t->err) < 0)
		return NULL;
	return kept;
}

/* The length of a TRACE record and its number of frames were compared. */
static int tell_site(struct told *t, uint32_t serial)
{
	uint64_t at = idmap_get(&t->h->traces, serial);
	uint64_t allocs = idmap_get(&t->allocs, serial), frees = idmap_get(&t->frees, serial);
	const char *frames[MOST_FRAMES];
	const uint8_t *p = t->h->dump.source->bytes + at + RECORD_HEAD;

	size_t n = load_be32(p + 8), most = t->frames_left > MOST_FRAMES ? MOST_FRAMES : 1;
	n = n < most ? n : most;
	t->frames_left -= t->frames_left > n ? n : t->frames_left;
	for (size_t i = 0; i < n; i++) {
		frames[i] = frame_text(t, hprof_id(p + 12 + i * t->h->id_size, t->h->id_size));
		if (!frames[i])
			return ERR_NOMEM;
	}
	struct site_record site = { .key = serial, .frames = frames, .n_frames = n, .frames_stay = true,
		.object_size = SITE_UNKNOWN, .allocs = allocs, .frees = frees };
	_Static_assert(IDMAP_NONE == SITE_UNKNOWN, "what the map does not have is unknown");
	return t->sink->site(t->sink, &site);
}

/* What the agent counted itself (heap=sites): the last such record has all. */
static int read_counts(struct told *t)
{
	const struct hprof *h = t->h;
	const uint64_t head = 2 + 4 + 4 + 4 + 8 + 8 + 4, each = 1 + 6 * 4;

	if (!h->alloc_sites)
		return 0;
	const uint8_t *p = h->dump.source->bytes + h->alloc_sites + RECORD_HEAD;
	uint64_t length = load_be32(p - 4), n = length < head ? 0 : load_be32(p + head - 4);
	n = length < head || n > (length - head) / each ? 0 : n;
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *q = p + head + i * each;
		uint32_t serial = load_be32(q + 5), live = load_be32(q + 13), made = load_be32(q + 21);
		uint64_t allocs = idmap_get(&t->allocs, serial), frees = idmap_get(&t->frees, serial);
		allocs = allocs == IDMAP_NONE ? 0 : allocs;
		frees = frees == IDMAP_NONE ? 0 : frees;
		if (progress_own_stops(i))
			return err_cancelled(t->err);
		if (idmap_put(&t->allocs, serial, allocs + made, t->err) ||
		    idmap_put(&t->frees, serial, frees + (made > live ? made - live : 0), t->err))
			return ERR_NOMEM;
	}
	return 0;
}

static int find_used(struct told *t)
{
	struct serials w = { .h = t->h };
	uint64_t address;
	uint32_t last = 0;

	for (const uint8_t *p; (p = next_serial(&w, &address));) {
		uint32_t serial = load_be32(p);
		if (serial == last)
			continue;
		last = serial;
		if (idmap_get(&t->used, serial) == IDMAP_NONE &&
		    idmap_put(&t->used, serial, stack_of(t->h, serial), t->err))
			return ERR_NOMEM;
	}
	return w.stopped ? err_cancelled(t->err) : 0;
}

static int by_serial(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* The serials of stacks with frames that have objects, in their order, which does not depend on how the map hashes. */
static int list_serials(struct told *t)
{
	t->serials = big_alloc(t->used.n, sizeof *t->serials, t->err);
	for (uint64_t i = 0; t->serials && i < t->used.n_slots; i++)
		if (t->used.slots[i].value_plus_1 == STACK_FRAMES + 1)
			t->serials[t->n_serials++] = (uint32_t)t->used.slots[i].key;
	return t->serials ? sort(t->serials, t->n_serials, sizeof *t->serials, by_serial, t->err) : ERR_NOMEM;
}

/* Of a dump without a heap (heap=sites): the stacks that the agent counted objects of. */
static int use_counted(struct told *t)
{
	for (uint64_t i = 0; i < t->allocs.n_slots; i++) {
		uint32_t serial = (uint32_t)t->allocs.slots[i].key;
		if (progress_own_stops(i))
			return err_cancelled(t->err);
		if (t->allocs.slots[i].value_plus_1 && idmap_put(&t->used, serial, stack_of(t->h, serial), t->err))
			return ERR_NOMEM;
	}
	return 0;
}

static int tell_all(struct told *t)
{
	struct serials w = { .h = t->h };
	uint64_t address;
	int code = 0;

	for (uint64_t i = 0; code == 0 && i < t->n_serials; i++)
		code = tell_site(t, t->serials[i]);
	for (const uint8_t *p; code == 0 && (p = next_serial(&w, &address));)
		if (load_be32(p) && idmap_get(&t->used, load_be32(p)) != STACK_EMPTY)
			code = t->sink->sample(t->sink, address, load_be32(p)); /* one to nowhere is counted as lost */
	return code == 0 && w.stopped ? err_cancelled(t->err) : code;
}

int hprof_sites(const struct dump *dump, struct site_sink *sink, struct err *err)
{
	const struct hprof *h = (const struct hprof *)dump;
	struct told t = { .h = h, .sink = sink, .err = err, .frames_left = MOST_FRAMES_IN_ALL };

	if (!some_stack_has_frames(h) || !(h->agent || h->android || some_differ(h)))
		return 0;
	int code = read_counts(&t);
	if (code == 0)
		code = h->n_segments ? find_used(&t) : use_counted(&t);
	if (code == 0)
		code = list_serials(&t);
	if (code == 0)
		code = tell_all(&t);
	big_free(t.serials);
	idmap_release(&t.used);
	idmap_release(&t.texts);
	idmap_release(&t.allocs);
	idmap_release(&t.frees);
	arena_release(&t.arena);
	return code;
}
