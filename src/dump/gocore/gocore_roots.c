/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_roots.c - records of what is neither object nor goroutine: parameters, itabs, data and bss, what spans note of
 * their objects, what waits to be finalized, the profile of allocations.
 *
 * Data and bss of plugins are written as the program's are; a heap dump has the program's alone.  What cleanups and
 * weak pointers hold is no root in a heap dump either; the collector takes it for one.  (runtime/heapdump.go,
 * mgcmark.go: markrootSpans; mcleanup.go)
 */
#include "dump/gocore/gocore_read.h"

#include "base/progress.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdio.h>

#define LIST_MOST (UINT64_C(1) << 28) /* steps along a list of the runtime's */
#define SEGMENT_MOST (UINT64_C(1) << 30) /* bytes of data or bss */
enum { ITABS_MOST = 1 << 24, FRAMES_MOST = 4096, VERSION_MOST = 1000 };

/* --- parameters and itabs --------------------------------------------------------------------------- */

static void tell_params(struct gocore *g)
{
	struct gocore_records *r = &g->out;
	uint64_t cpus = 0, at = gocore_global(g, "runtime.ncpu");
	const uint8_t *release = NULL;
	struct gocore_slice s = gocore_slice_at(g, gocore_global(g, "runtime.buildVersion"), VERSION_MOST);

	core_load(g->core, at, 4, &cpus);
	release = core_range(g->core, s.address, s.n);
	gocore_put(r, TAG_PARAMS);
	gocore_put(r, core_big_endian(g->core));
	gocore_put(r, g->word);
	gocore_put(r, g->heap_start);
	gocore_put(r, g->heap_end);
	gocore_put_text(r, g->machine == CORE_ARM64 ? "arm64" : "amd64");
	gocore_put_bytes(r, release, release ? s.n : 0);
	gocore_put(r, cpus);
}

static void tell_itabs(struct gocore *g)
{
	uint64_t table = gocore_word(g, gocore_global(g, "runtime.itabTable"));
	uint64_t n = gocore_get(g, table, AT_ITABS_SIZE);

	if (!gocore_has(g, AT_ITABS_ENTRIES) || n > ITABS_MOST)
		return;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t itab = gocore_word(g, table + g->at[AT_ITABS_ENTRIES].offset + i * g->word);
		if (!itab)
			continue;
		gocore_put(&g->out, TAG_ITAB);
		gocore_put(&g->out, itab);
		gocore_put(&g->out, gocore_word(g, itab + g->word)); /* behind the interface stands the type */
	}
}

void gocore_tell_head(struct gocore *g)
{
	tell_params(g);
	tell_itabs(g);
}

/* --- data and bss ---------------------------------------------------------------------------------------- */

static void put_mask(struct gocore *g, uint64_t mask, uint64_t n)
{
	const uint8_t *bits = core_range(g->core, mask, (n + 7) / 8);

	for (uint64_t i = 0; bits && i < n && !g->out.refused; i++)
		if (bits[i / 8] >> i % 8 & 1)
			gocore_put_field(&g->out, i * g->word);
}

/* Pages that are missing are zeros: no pointer is there. */
static void copy_there(struct gocore *g, uint64_t address, uint8_t *to, uint64_t n)
{
	while (n) {
		uint64_t there;
		const uint8_t *p = core_bytes(g->core, address, &there);
		uint64_t next = p ? address + there : core_next(g->core, address);
		uint64_t now = next - address < n ? next - address : n;
		if (p)
			memcpy(to, p, now);
		else
			memset(to, 0, now);
		g->state.n_missing += p ? 0 : now;
		to += now;
		address += now;
		n -= now;
	}
}

static void tell_segment(struct gocore *g, unsigned tag, uint64_t begin, uint64_t end, uint64_t mask, uint64_t n)
{
	uint64_t bytes = end > begin ? end - begin : 0, there;

	if (!bytes || bytes > SEGMENT_MOST || !core_bytes(g->core, begin, &there))
		return;
	gocore_put(&g->out, tag);
	gocore_put(&g->out, begin);
	uint8_t *to = gocore_put_room(&g->out, bytes);
	if (to)
		copy_there(g, begin, to, bytes);
	put_mask(g, mask, n < bytes / g->word ? n : bytes / g->word);
	gocore_put_end(&g->out);
}

static void tell_module(struct gocore *g, uint64_t m)
{
	tell_segment(g, TAG_DATA, gocore_get(g, m, AT_MODULE_DATA), gocore_get(g, m, AT_MODULE_DATA_END),
	    gocore_get(g, m, AT_MODULE_DATA_MASK), gocore_get(g, m, AT_MODULE_DATA_MASK_N));
	tell_segment(g, TAG_BSS, gocore_get(g, m, AT_MODULE_BSS), gocore_get(g, m, AT_MODULE_BSS_END),
	    gocore_get(g, m, AT_MODULE_BSS_MASK), gocore_get(g, m, AT_MODULE_BSS_MASK_N));
}

/* --- specials ---------------------------------------------------------------------------------------------- */

/* The numbers of kinds, by release; UINT64_MAX: it has none. */
struct kinds {
	uint64_t finalizer, cleanup, weak, profile;
};

static uint64_t kind(const struct gocore *g, const char *name)
{
	uint64_t n;
	return program_runtime_constant(g->program, name, &n) ? n : UINT64_MAX;
}

static void put_finalizer(struct gocore *g, unsigned tag, uint64_t object, uint64_t function, uint64_t argument,
    uint64_t type)
{
	gocore_put(&g->out, tag);
	gocore_put(&g->out, object);
	gocore_put(&g->out, function);
	gocore_put(&g->out, gocore_word(g, function));
	gocore_put(&g->out, argument);
	gocore_put(&g->out, type);
}

/* A root of the runtime's own, with words for what it is. */
static void put_root(struct gocore *g, const char *what, uint64_t of, uint64_t pointer)
{
	char words[80];

	if (!pointer)
		return;
	if (of)
		snprintf(words, sizeof words, "%s of 0x%" PRIx64, what, of);
	else
		snprintf(words, sizeof words, "%s", what);
	gocore_put(&g->out, TAG_ROOT);
	gocore_put_text(&g->out, words);
	gocore_put(&g->out, pointer);
}

static void tell_special(struct gocore *g, const struct kinds *k, uint64_t special, uint64_t object)
{
	uint64_t kind = gocore_get(g, special, AT_SPECIAL_KIND);

	if (kind == k->finalizer) {
		put_finalizer(g, TAG_FINALIZER, object, gocore_get(g, special, AT_FINALIZER_FUNCTION),
		    gocore_get(g, special, AT_FINALIZER_ARGUMENT_TYPE), gocore_get(g, special, AT_FINALIZER_OBJECT_TYPE));
	} else if (kind == k->cleanup) {
		put_root(g, "cleanup", object, gocore_get(g, special, AT_CLEANUP_FUNCTION));
		put_root(g, "call of the cleanup", object, gocore_get(g, special, AT_CLEANUP_CALL));
		put_root(g, "argument of the cleanup", object, gocore_get(g, special, AT_CLEANUP_ARGUMENT));
	} else if (kind == k->weak) {
		put_root(g, "weak pointer", object, gocore_get(g, special, AT_WEAK_HANDLE));
	} else if (kind == k->profile) {
		gocore_put(&g->out, TAG_SAMPLE);
		gocore_put(&g->out, object);
		gocore_put(&g->out, gocore_get(g, special, AT_PROFILE_BUCKET));
	}
}

/* A list of specials names each object of its span at most a few times. */
static void tell_specials(struct gocore *g, const struct kinds *k, uint64_t first, uint64_t start, bool samples)
{
	enum { OF_A_SPAN_MOST = 1 << 20 };
	uint64_t special = first;

	for (unsigned i = 0; special && i < OF_A_SPAN_MOST && !g->out.refused; i++) {
		if ((gocore_get(g, special, AT_SPECIAL_KIND) == k->profile) == samples)
			tell_special(g, k, special, start + gocore_get(g, special, AT_SPECIAL_OFFSET));
		special = gocore_get(g, special, AT_SPECIAL_NEXT);
	}
}

static void tell_all_specials(struct gocore *g, bool samples)
{
	const struct kinds k = {
		.finalizer = kind(g, "runtime._KindSpecialFinalizer"), .cleanup = kind(g, "runtime._KindSpecialCleanup"),
		.weak = kind(g, "runtime._KindSpecialWeakHandle"), .profile = kind(g, "runtime._KindSpecialProfile"),
	};
	struct progress *work = progress_own();

	for (size_t i = 0; i < g->n_noting && !progress_stops(work, i); i++)
		tell_specials(g, &k, g->noting[i].specials, g->noting[i].start, samples);
}

/* --- what waits --------------------------------------------------------------------------------------------- */

static void tell_queued(struct gocore *g)
{
	uint64_t block = gocore_word(g, gocore_global(g, "runtime.allfin")), steps = 0;
	uint64_t each = gocore_size_of(g, "runtime.finalizer"), room = g->at[AT_QUEUE_LIST].size;

	if (!gocore_has(g, AT_QUEUE_LIST) || !each)
		return;
	for (; block && steps < LIST_MOST && !g->out.refused; steps++) {
		uint64_t n = gocore_get(g, block, AT_QUEUE_N), at = block + g->at[AT_QUEUE_LIST].offset;
		for (uint64_t i = 0; i < n && i < room / each; i++, at += each, steps++)
			put_finalizer(g, TAG_QUEUED, gocore_get(g, at, AT_QUEUED_OBJECT), gocore_get(g, at, AT_QUEUED_FUNCTION),
			    gocore_get(g, at, AT_QUEUED_ARGUMENT_TYPE), gocore_get(g, at, AT_QUEUED_OBJECT_TYPE));
		block = gocore_get(g, block, AT_QUEUE_ALL_NEXT);
	}
}

/* Since Go 1.25 cleanups have a queue of their own. */
static void tell_cleanups(struct gocore *g)
{
	uint64_t queue = gocore_global(g, "runtime.gcCleanups"), block = gocore_get(g, queue, AT_CLEANUPS_ALL), steps = 0;
	uint64_t each = gocore_size_of(g, "runtime.cleanupFn"), room = g->at[AT_CLEANUPS_LIST].size;

	if (!queue || !gocore_has(g, AT_CLEANUPS_LIST) || !each)
		return;
	for (; block && steps < LIST_MOST && !g->out.refused; steps++) {
		uint64_t n = gocore_get(g, block, AT_CLEANUPS_N), at = block + g->at[AT_CLEANUPS_LIST].offset;
		for (uint64_t i = 0; i < n && i < room / each; i++, at += each, steps++) {
			put_root(g, "a queued cleanup", 0, gocore_get(g, at, AT_CLEANED_FUNCTION));
			put_root(g, "the call of a queued cleanup", 0, gocore_get(g, at, AT_CLEANED_CALL));
			put_root(g, "the argument of a queued cleanup", 0, gocore_get(g, at, AT_CLEANED_ARGUMENT));
		}
		block = gocore_get(g, block, AT_CLEANUPS_ALL_NEXT);
	}
}

/* --- the profile ----------------------------------------------------------------------------------------------- */

static void put_frame(struct gocore *g, uint64_t pc, bool innermost)
{
	struct gocore_function f;
	struct gocore_bytes file = { NULL, 0 };
	uint64_t line = 0;
	char words[32];

	if (!gocore_function_at(g, pc, &f)) {
		snprintf(words, sizeof words, "(0x%" PRIx64 ")", pc);
		gocore_put_text(&g->out, words);
		gocore_put_text(&g->out, "?");
		gocore_put(&g->out, 0);
		return;
	}
	gocore_put_bytes(&g->out, f.name, f.n_name);
	if (!gocore_line(g, &f, pc - (!innermost && pc > f.entry), &file, &line))
		gocore_put_text(&g->out, "?");
	else
		gocore_put_bytes(&g->out, file.p, file.n);
	gocore_put(&g->out, line);
}

/* Behind a bucket stand its frames, and behind those the counts: allocations and frees first. */
static void tell_bucket(struct gocore *g, uint64_t bucket)
{
	uint64_t n = gocore_get(g, bucket, AT_BUCKET_N_FRAMES), at = bucket + gocore_size_of(g, "runtime.bucket");

	if (n > FRAMES_MOST)
		return;
	gocore_put(&g->out, TAG_BUCKET);
	gocore_put(&g->out, bucket);
	gocore_put(&g->out, gocore_get(g, bucket, AT_BUCKET_OBJECT_SIZE));
	gocore_put(&g->out, n);
	for (uint64_t i = 0; i < n; i++, at += g->word)
		put_frame(g, gocore_word(g, at), i == 0);
	gocore_put(&g->out, gocore_word(g, at));
	gocore_put(&g->out, gocore_word(g, at + g->word));
}

static void tell_profile(struct gocore *g)
{
	uint64_t bucket = gocore_word(g, gocore_global(g, "runtime.mbuckets"));
	struct progress *work = progress_own();

	for (uint64_t i = 0; bucket && i < LIST_MOST && gocore_has(g, AT_BUCKET_ALL_NEXT) && !g->out.refused &&
	    !progress_stops(work, i); i++) {
		tell_bucket(g, bucket);
		bucket = gocore_get(g, bucket, AT_BUCKET_ALL_NEXT);
	}
	tell_all_specials(g, true);
}

void gocore_tell_roots(struct gocore *g)
{
	for (unsigned i = 0; i < g->n_modules; i++)
		tell_module(g, g->module[i].address);
	tell_all_specials(g, false);
	tell_queued(g);
	tell_cleanups(g);
	tell_profile(g);
}
