/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sites.c - collect the allocation sites and samples that the reader tells; see sites.h. */
#include "heap/sites.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "dump/idmap.h"
#include "dump/reader.h"
#include "heap/heap.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct collecting {
	struct site_sink sink; /* first */
	struct heap *heap;
	struct heap_sites *sites;
	struct keyed {
		uint64_t key;
		uint32_t site;
	} *keys; /* in the dump's order, then by key */
	size_t n_keys, cap_keys;
	bool sorted;
	struct idmap texts; /* a frame that stays -> its escaped text */
	uint64_t n_told; /* samples */
	struct err lost; /* memory that was refused */
};

/* The text of a frame, escaped, in the heap's arena. */
static const char *keep_frame(struct collecting *c, const char *frame, bool stays, struct text *scratch)
{
	uint64_t known = stays ? idmap_get(&c->texts, (uintptr_t)frame) : IDMAP_NONE;
	if (known != IDMAP_NONE)
		return (const char *)(uintptr_t)known;
	text_clear(scratch);
	text_add_escaped(scratch, frame, strlen(frame));
	const char *kept = arena_try_strndup(&c->heap->arena, scratch->s, scratch->len, &c->lost);
	if (kept && stays && idmap_put(&c->texts, (uintptr_t)frame, (uintptr_t)kept, &c->lost))
		return NULL;
	return kept;
}

static int take_site(struct site_sink *sink, const struct site_record *r)
{
	struct collecting *c = (struct collecting *)sink;
	struct heap_site site = { .object_size = r->object_size, .allocs = r->allocs, .frees = r->frees };
	struct text frame = TEXT_INIT;
	site.n_frames = r->n_frames < UINT16_MAX ? (uint32_t)r->n_frames : UINT16_MAX;
	site.frames = arena_try(&c->heap->arena, (uint64_t)site.n_frames + 1, sizeof *site.frames, &c->lost);
	for (uint32_t i = 0; site.frames && i < site.n_frames; i++)
		site.frames[i] = keep_frame(c, r->frames[i], r->frames_stay, &frame);
	text_release(&frame);
	struct keyed *key = BIG_PUSH(c->keys, c->n_keys, c->cap_keys, &c->lost);
	if (key)
		*key = (struct keyed){ r->key, c->sites->n };
	struct heap_site *at =
	    c->lost.code ? NULL : BIG_PUSH(c->sites->site, c->sites->n, c->sites->cap, &c->lost);
	if (at)
		*at = site;
	return c->lost.code;
}

static int by_key(const void *x, const void *y)
{
	const struct keyed *a = x, *b = y;
	return (a->key > b->key) - (a->key < b->key);
}

static int take_sample(struct site_sink *sink, uint64_t address, uint64_t key)
{
	struct collecting *c = (struct collecting *)sink;
	if (!c->sorted && sort(c->keys, c->n_keys, sizeof *c->keys, by_key, &c->lost) < 0)
		return c->lost.code;
	c->sorted = true;
	if (progress_stops(progress_own(), c->n_told++))
		return err_cancelled(&c->lost);
	const struct keyed *found = find_sorted(&(struct keyed){ .key = key }, c->keys, c->n_keys,
	    sizeof *c->keys, by_key);
	uint32_t object = heap_target(c->heap, address);
	if (!found || object == HEAP_NONE) {
		c->sites->n_lost++;
		return 0;
	}
	struct site_sample *at =
	    BIG_PUSH(c->sites->sample, c->sites->n_samples, c->sites->cap_samples, &c->lost);
	if (at)
		*at = (struct site_sample){ object, found->site };
	return c->lost.code;
}

static int by_object(const void *x, const void *y)
{
	const struct site_sample *a = x, *b = y;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->site > b->site) - (a->site < b->site);
}

/* Keep one sample for each object, and count the objects of each site. */
static int settle(const struct heap *h, struct heap_sites *s, struct err *err)
{
	size_t kept = 0;
	int code = sort(s->sample, s->n_samples, sizeof *s->sample, by_object, err);
	if (code < 0)
		return code;
	for (size_t i = 0; i < s->n_samples; i++) {
		struct site_sample sample = s->sample[i];
		if (kept && s->sample[kept - 1].object == sample.object)
			continue;
		s->sample[kept++] = sample;
		s->site[sample.site].n_objects++;
		s->site[sample.site].shallow += heap_shallow(h, sample.object);
	}
	s->n_samples = kept;
	return 0;
}

int sites_collect(struct heap *h, struct err *err)
{
	const struct reader *reader = h->dump->reader;
	struct collecting c = { .sink = { take_site, take_sample }, .heap = h };
	if (!reader->sites)
		return 0;
	c.sites = xcalloc(1, sizeof *c.sites);
	int code = reader->sites(h->dump, &c.sink, err);
	big_free(c.keys);
	idmap_release(&c.texts);
	if (c.lost.code) {
		*err = c.lost;
		code = c.lost.code;
	}
	if (code == 0 && c.sites->n)
		code = settle(h, c.sites, err);
	if (code < 0 || !c.sites->n) {
		sites_free(c.sites);
		return code;
	}
	h->sites = c.sites;
	return 0;
}

void sites_free(struct heap_sites *s)
{
	if (!s)
		return;
	big_free(s->site);
	big_free(s->sample);
	free(s);
}

const struct heap_site *heap_site_of(const struct heap *h, uint32_t id)
{
	const struct heap_sites *s = h->sites;
	size_t at;
	BISECT(at, s ? s->n_samples : 0, s->sample[at].object < id);
	return s && at < s->n_samples && s->sample[at].object == id ? &s->site[s->sample[at].site] : NULL;
}
