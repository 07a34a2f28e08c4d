/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * duplicates.c - finds Strings of the same text.
 *
 * The characters of every String are hashed.  The upper bits of the hash divide the Strings into
 * stretches; each stretch is sorted on its own, and neighbours of equal hashes are compared.
 */
#include "analysis/strings.h"

#include "analysis/describe/describe.h"
#include "analysis/search.h"
#include "analysis/text_memo.h"
#include "base/big.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { HASHED_A_TASK = 1 << 14, DEALT_BITS = 8, DEALT = 1 << DEALT_BITS };

struct hashed {
	uint64_t hash;
	uint32_t id;
	bool has_text;
};

struct hashing {
	const struct heap *heap;
	const uint32_t *ids;
	struct hashed *hashed; /* of each id, then dealt */
	size_t n;
	size_t begin[DEALT + 1];
	struct duplicates found[DEALT];
};

/* --- hashing ------------------------------------------------------------------------------------ */

static uint64_t hash_of(const struct string_view *s)
{
	return hash_step(hash_bytes(s->bytes, s->length * s->width), s->width);
}

static bool same_text(const struct string_view *a, const struct string_view *b)
{
	return a->length == b->length && a->width == b->width &&
	    (a->bytes == b->bytes || same_bytes(a->bytes, b->bytes, a->length * a->width));
}

static int hash_stretch(void *context, unsigned task, struct err *err)
{
	struct hashing *work = context;
	size_t begin = (size_t)task * HASHED_A_TASK;
	size_t end = begin + HASHED_A_TASK < work->n ? begin + HASHED_A_TASK : work->n;
	struct string_walk walk = { .string = { 0 } };
	struct text_memo memo = { .units = 0 };
	for (size_t i = begin; i < end; i++) {
		struct string_view s;
		struct hashed *h = &work->hashed[i];
		h->id = work->ids[i];
		h->has_text = inspect_text_along(work->heap, h->id, &walk, &s);
		if (!h->has_text || text_memo_knows(&memo, &s, &h->hash))
			continue;
		if (text_memo_stops(&memo, &s))
			return err_cancelled(err);
		h->hash = hash_of(&s);
		text_memo_keep(&memo, &s, h->hash);
	}
	progress_add(progress_own(), end - begin);
	return 0;
}

/* Into stretches of one hash prefix each; Strings without a text are dropped. */
static int deal(struct hashing *work, struct err *err)
{
	size_t count[DEALT] = { 0 }, at = 0;
	struct hashed *dealt = big_alloc(work->n, sizeof *dealt, err);
	if (!dealt)
		return ERR_NOMEM;
	for (size_t i = 0; i < work->n; i++)
		count[work->hashed[i].hash >> (64 - DEALT_BITS)] += work->hashed[i].has_text;
	for (unsigned k = 0; k < DEALT; k++) {
		work->begin[k] = at;
		at += count[k];
		count[k] = work->begin[k];
	}
	work->begin[DEALT] = at;
	for (size_t i = 0; i < work->n; i++) {
		if (work->hashed[i].has_text)
			dealt[count[work->hashed[i].hash >> (64 - DEALT_BITS)]++] = work->hashed[i];
	}
	big_free(work->hashed);
	work->hashed = dealt;
	return 0;
}

/* --- grouping ----------------------------------------------------------------------------------- */

static int by_hash(const void *x, const void *y)
{
	const struct hashed *a = x, *b = y;
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* What n Strings of one text take; arrays: room for n. */
static struct same_strings weigh(
    const struct heap *h, const struct hashed *same, size_t n, uint32_t *arrays)
{
	struct same_strings g = { .first = same[0].id, .count = heap_counted(h, n),
		.arrays = heap_counted(h, 0), .shallow = heap_counted(h, 0) };
	uint64_t least = UINT64_MAX;
	bool own = false; /* the characters are the object itself */
	struct string_walk walk = { .string = { 0 } };
	for (size_t i = 0; i < n; i++) {
		struct string_view s = { .array = HEAP_NONE };
		inspect_text_along(h, same[i].id, &walk, &s);
		arrays[i] = s.array;
		own = s.array == same[i].id;
		if (!own)
			g.shallow = amount_add(g.shallow, heap_size(h, same[i].id));
	}
	sort_array(arrays, n, sizeof *arrays, by_number);
	for (size_t i = 0; i < n; i++) {
		if (i && arrays[i] == arrays[i - 1])
			continue;
		uint64_t size = heap_shallow(h, arrays[i]);
		g.arrays.n++;
		g.shallow = amount_add(g.shallow, heap_size(h, arrays[i]));
		least = size < least ? size : least;
	}
	/* what is memory itself may be no text, or more than its text */
	g.wasted = amount_weaken(g.shallow, own ? INFERRED : EXACT, REASON_BLOCK);
	g.wasted.n -= least + (own ? 0 : heap_shallow(h, g.first));
	return g;
}

/* n Strings of one hash: those with the text of the first come to the front; returns how many. */
static size_t gather(const struct heap *h, struct hashed *s, size_t n)
{
	struct string_view first, other;
	struct string_walk walk = { .string = { 0 } };
	size_t same = 1;
	inspect_text(h, s[0].id, &first);
	for (size_t i = 1; i < n; i++) {
		inspect_text_along(h, s[i].id, &walk, &other);
		if (!same_text(&first, &other))
			continue;
		struct hashed t = s[same];
		s[same++] = s[i];
		s[i] = t;
	}
	return same;
}

static int group_stretch(void *context, unsigned task, struct err *err)
{
	struct hashing *work = context;
	struct duplicates *found = &work->found[task];
	struct hashed *s = work->hashed + work->begin[task], *end = work->hashed + work->begin[task + 1];
	uint32_t *arrays = big_alloc((uint64_t)(end - s), sizeof *arrays, err);
	int code = arrays ? 0 : ERR_NOMEM;
	if (s < end)
		sort_array(s, (size_t)(end - s), sizeof *s, by_hash);
	progress_add(progress_own(), (uint64_t)(end - s));
	while (!code && s < end) {
		size_t n = 1;
		while (s + n < end && s[n].hash == s->hash)
			n++;
		n = n > 1 ? gather(work->heap, s, n) : 1;
		found->distinct++;
		struct same_strings *to =
		    n > 1 ? BIG_PUSH(found->groups, found->n, found->cap, err) : NULL;
		if (to)
			*to = weigh(work->heap, s, n, arrays);
		else if (n > 1)
			code = ERR_NOMEM;
		s += n;
	}
	big_free(arrays);
	return code;
}

/* --- all together ------------------------------------------------------------------------------- */

static int most_wasted(const void *x, const void *y)
{
	const struct same_strings *a = x, *b = y;
	if (a->wasted.n != b->wasted.n)
		return a->wasted.n > b->wasted.n ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

static int join(struct duplicates *out, const struct hashing *work, struct err *err)
{
	size_t n = 0;
	for (unsigned k = 0; k < DEALT; k++)
		n += work->found[k].n;
	out->groups = big_alloc(n, sizeof *out->groups, err);
	if (!out->groups)
		return ERR_NOMEM;
	out->strings = work->begin[DEALT];
	for (unsigned k = 0; k < DEALT; k++) {
		const struct duplicates *part = &work->found[k];
		out->distinct += part->distinct;
		for (size_t i = 0; i < part->n; i++) {
			out->groups[out->n++] = part->groups[i];
			out->wasted = amount_add(out->wasted, part->groups[i].wasted);
		}
	}
	sort_array(out->groups, out->n, sizeof *out->groups, most_wasted);
	return 0;
}

/* Hash all Strings into work, which free_work gives back whatever happens. */
static int hash_all(struct hashing *work, const struct heap *h, struct err *err)
{
	struct string_list list;
	int code = strings_matching(&list, h, NULL, false, NULL, err);
	if (code)
		return code;
	work->heap = h;
	work->ids = list.ids;
	work->n = list.n;
	work->hashed = big_alloc(list.n, sizeof *work->hashed, err);
	code = work->hashed ? 0 : ERR_NOMEM;
	progress_phase(progress_own(), PHASE_READ_TEXTS, list.n);
	if (!code)
		code = parallel_run(0, (unsigned)((list.n + HASHED_A_TASK - 1) / HASHED_A_TASK), hash_stretch,
		    work, err);
	work->ids = NULL;
	string_list_release(&list);
	return code;
}

static void free_work(struct hashing *work)
{
	for (unsigned k = 0; k < DEALT; k++)
		big_free(work->found[k].groups);
	big_free(work->hashed);
	free(work);
}

int duplicates_find(struct duplicates *out, const struct heap *h, struct err *err)
{
	*out = (struct duplicates){ .groups = NULL };
	struct hashing *work = xcalloc(1, sizeof *work);
	int code = hash_all(work, h, err);
	if (!code)
		code = deal(work, err);
	progress_phase(progress_own(), PHASE_COMPARE_TEXTS, work->begin[DEALT]);
	if (!code)
		code = parallel_run(0, DEALT, group_stretch, work, err);
	if (!code)
		code = join(out, work, err);
	free_work(work);
	return code;
}

/* --- the Strings of a group ----------------------------------------------------------------------- */

/* Groups by the hash of their text: numbers + 1, 0 free; a power of two, at most half of it used. */
struct wanted {
	uint32_t *slot;
	uint64_t *hash; /* of each group */
	size_t mask;
};

static int want(struct wanted *w, const struct duplicates *d, const struct heap *h,
    const struct bits *groups, struct err *err)
{
	size_t size = 64;
	while (size < 2 * d->n)
		size *= 2;
	w->mask = size - 1;
	w->slot = big_alloc(size, sizeof *w->slot, err);
	w->hash = big_alloc(d->n, sizeof *w->hash, err);
	if (!w->slot || !w->hash)
		return ERR_NOMEM;
	for (size_t g = 0; g < d->n; g++) {
		struct string_view s;
		if (!bits_get(groups, g) || !inspect_text(h, d->groups[g].first, &s))
			continue;
		w->hash[g] = hash_of(&s);
		size_t at = w->hash[g] & w->mask;
		while (w->slot[at])
			at = (at + 1) & w->mask;
		w->slot[at] = (uint32_t)g + 1;
	}
	return 0;
}

static bool is_wanted(
    const struct wanted *w, const struct duplicates *d, const struct heap *h, const struct hashed *one)
{
	struct string_view a, b;
	for (size_t at = one->hash & w->mask; w->slot[at]; at = (at + 1) & w->mask) {
		size_t g = w->slot[at] - 1;
		if (w->hash[g] == one->hash && inspect_text(h, d->groups[g].first, &a) &&
		    inspect_text(h, one->id, &b) && same_text(&a, &b))
			return true;
	}
	return false;
}

int duplicates_members(const struct duplicates *d, const struct heap *h, const struct bits *groups,
    struct bits *to, struct err *err)
{
	struct hashing *work = xcalloc(1, sizeof *work);
	struct wanted w = { .slot = NULL };
	int code = hash_all(work, h, err);
	if (!code)
		code = want(&w, d, h, groups, err);
	for (size_t i = 0; !code && i < work->n && !progress_own_stops(64 * i); i++) {
		if (work->hashed[i].has_text && is_wanted(&w, d, h, &work->hashed[i]))
			bits_set(to, work->hashed[i].id);
	}
	big_free(w.slot);
	big_free(w.hash);
	free_work(work);
	return code;
}

void duplicates_release(struct duplicates *d)
{
	big_free(d->groups);
	*d = (struct duplicates){ .groups = NULL };
}
