/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * duplicates.c - finds Strings of the same text.
 *
 * Each task hashes the characters of some thousand Strings and deals what it found out in its place, by the
 * upper bits of the hash.  What all tasks have of the same upper bits is then grouped by the whole hash, in
 * tables that fit into the processor's cache; only where several Strings have a hash their texts are
 * compared, by where the first reading found them.
 */
#include "analysis/strings/strings.h"

#include "algorithms/hash.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "analysis/search.h"
#include "analysis/strings/text_memo.h"
#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { HASHED_A_TASK = 1 << 14, DEALT_BITS = 9, DEALT = 1 << DEALT_BITS, AHEAD = 8 };

/* A String that has a text. */
struct hashed {
	uint64_t hash;
	const uint8_t *bytes;
	uint32_t id, array;
	uint64_t length : 62, width : 2; /* as in a string_view */
};

struct hashing {
	const struct heap *heap;
	const uint32_t *ids;
	struct hashed *hashed; /* of each task those it found, dealt, at the place of its first id */
	size_t n;
	uint32_t n_tasks;
	uint32_t (*begin)[DEALT + 1]; /* of each task: of its Strings, by the upper bits of the hash */
	struct duplicates found[DEALT];
};

/* --- hashing ------------------------------------------------------------------------------------ */

static uint64_t hash_of(const struct string_view *s)
{
	return hash_step(hash_bytes(s->bytes, s->length * s->width), s->width);
}

static bool same_text(const struct hashed *a, const struct hashed *b)
{
	return a->length == b->length && a->width == b->width &&
	    (a->bytes == b->bytes || same_bytes(a->bytes, b->bytes, a->length * a->width));
}

static unsigned hand_of(const struct hashed *s)
{
	return (unsigned)(s->hash >> (64 - DEALT_BITS));
}

/* Put n Strings in the order of the upper bits of their hashes; the others' order is any. */
static void deal(struct hashed *s, uint32_t n, uint32_t begin[DEALT + 1])
{
	uint32_t at[DEALT] = { 0 }, sum = 0;
	for (uint32_t i = 0; i < n; i++)
		at[hand_of(&s[i])]++;
	for (unsigned k = 0; k < DEALT; k++) {
		begin[k] = sum;
		sum += at[k];
		at[k] = begin[k];
	}
	begin[DEALT] = n;
	for (unsigned k = 0; k < DEALT; k++) {
		while (at[k] < begin[k + 1]) {
			struct hashed one = s[at[k]];
			unsigned to = hand_of(&one);
			s[at[k]] = s[at[to]];
			s[at[to]++] = one;
		}
	}
}

static int hash_stretch(void *context, unsigned task, struct err *err)
{
	struct hashing *work = context;
	size_t begin = (size_t)task * HASHED_A_TASK;
	size_t end = begin + HASHED_A_TASK < work->n ? begin + HASHED_A_TASK : work->n;
	struct hashed *found = work->hashed + begin;
	uint32_t n = 0;
	struct string_walk walk = { .string = { 0 } };
	struct text_memo memo = { .units = 0 };
	for (size_t i = begin; i < end; i++) {
		struct string_view s;
		uint64_t hash;
		if (!inspect_text_along(work->heap, work->ids[i], &walk, &s))
			continue;
		if (!text_memo_knows(&memo, &s, &hash)) {
			if (text_memo_stops(&memo, &s))
				return err_cancelled(err);
			hash = hash_of(&s);
			text_memo_keep(&memo, &s, hash);
		}
		found[n++] = (struct hashed){ hash, s.bytes, work->ids[i], s.array, s.length, s.width };
	}
	deal(found, n, work->begin[task]);
	progress_add(progress_own(), end - begin);
	return 0;
}

/* --- grouping ----------------------------------------------------------------------------------- */

static int by_id(const void *x, const void *y)
{
	const struct hashed *const *a = x, *const *b = y;
	return ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static int by_number(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

/* What n Strings of one text take, in the order of ids; arrays: room for n. */
static struct same_strings weigh(
    const struct heap *h, const struct hashed *const *same, size_t n, uint32_t *arrays)
{
	struct same_strings g = { .first = same[0]->id, .count = heap_counted(h, n),
		.arrays = heap_counted(h, 0), .shallow = heap_counted(h, 0) };
	uint64_t least = UINT64_MAX;
	bool own = same[0]->array == same[0]->id; /* the characters are the object itself */
	bool ascend = true;
	for (size_t i = 0; i < n; i++) {
		arrays[i] = same[i]->array;
		ascend &= !i || arrays[i - 1] <= arrays[i];
		if (!own)
			g.shallow = amount_add(g.shallow, heap_size(h, same[i]->id));
	}
	if (!ascend)
		sort_array(arrays, n, sizeof *arrays, by_number);
	for (size_t i = 0; i < n; i++) {
		if (i && arrays[i] == arrays[i - 1])
			continue;
		struct amount size = heap_size(h, arrays[i]);
		g.arrays.n++;
		g.shallow = amount_add(g.shallow, size);
		least = size.n < least ? size.n : least;
	}
	/* what is memory itself may be no text, or more than its text */
	g.wasted = amount_weaken(g.shallow, own ? INFERRED : EXACT, REASON_BLOCK);
	g.wasted.n -= least + (own ? 0 : heap_shallow(h, g.first));
	return g;
}

/* n Strings of one hash: those with the text of the first come to the front; returns how many. */
static size_t gather(const struct hashed **s, size_t n)
{
	size_t same = 1;
	for (size_t i = 1; i < n; i++) {
		if (i + AHEAD < n)
			__builtin_prefetch(s[i + AHEAD]->bytes);
		if (!same_text(s[0], s[i]))
			continue;
		const struct hashed *t = s[same];
		s[same++] = s[i];
		s[i] = t;
	}
	return same;
}

/* Strings of one stretch by their hashes. */
struct grouping {
	size_t n;
	uint32_t *slot; /* by hash: a number of `one` + 1, or 0 */
	size_t mask;
	struct one {
		uint64_t hash;
		uint32_t n, end; /* Strings; where the next one goes in `member` */
	} *one;
	size_t n_ones;
	uint32_t *of;                 /* of each String, as they come */
	const struct hashed **member; /* those that are not alone, those of one hash in a row */
	uint32_t *arrays;             /* room for as many */
};

static int begin_grouping(struct grouping *g, const struct hashing *work, unsigned task, struct err *err)
{
	*g = (struct grouping){ .mask = 63 };
	for (uint32_t t = 0; t < work->n_tasks; t++)
		g->n += work->begin[t][task + 1] - work->begin[t][task];
	while (g->mask < 2 * g->n)
		g->mask = 2 * g->mask + 1;
	g->slot = big_alloc(g->mask + 1, sizeof *g->slot, err);
	g->one = big_alloc(g->n, sizeof *g->one, err);
	g->of = big_alloc(g->n, sizeof *g->of, err);
	return g->slot && g->one && g->of ? 0 : ERR_NOMEM;
}

static void end_grouping(struct grouping *g)
{
	big_free(g->slot);
	big_free(g->one);
	big_free(g->of);
	big_free(g->member);
	big_free(g->arrays);
}

static uint32_t number_of(struct grouping *g, uint64_t hash)
{
	size_t at = hash & g->mask;
	while (g->slot[at] && g->one[g->slot[at] - 1].hash != hash)
		at = (at + 1) & g->mask;
	if (!g->slot[at]) {
		g->one[g->n_ones].hash = hash;
		g->slot[at] = (uint32_t)++g->n_ones;
	}
	return g->slot[at] - 1;
}

/* Those of each hash that has several, in the order of ids. */
static int find_members(struct grouping *g, const struct hashing *work, unsigned task, struct err *err)
{
	size_t n = 0, k = 0;
	for (uint32_t t = 0; t < work->n_tasks; t++) {
		const struct hashed *s = work->hashed + (size_t)t * HASHED_A_TASK;
		for (uint32_t i = work->begin[t][task]; i < work->begin[t][task + 1]; i++)
			g->one[g->of[k++] = number_of(g, s[i].hash)].n++;
	}
	for (size_t i = 0; i < g->n_ones; i++) {
		g->one[i].end = (uint32_t)n;
		n += g->one[i].n > 1 ? g->one[i].n : 0;
	}
	g->member = big_alloc(n, sizeof *g->member, err);
	g->arrays = big_alloc(n, sizeof *g->arrays, err);
	if (!g->member || !g->arrays)
		return ERR_NOMEM;
	k = 0;
	for (uint32_t t = 0; t < work->n_tasks; t++) {
		const struct hashed *s = work->hashed + (size_t)t * HASHED_A_TASK;
		for (uint32_t i = work->begin[t][task]; i < work->begin[t][task + 1]; i++) {
			struct one *one = &g->one[g->of[k++]];
			if (one->n > 1)
				g->member[one->end++] = &s[i];
		}
	}
	return 0;
}

/* Strings of one hash, which nearly always are of one text. */
static int group_one(struct grouping *g, const struct heap *h, const struct hashed **s, size_t n,
    struct duplicates *found, struct err *err)
{
	for (size_t same; n; s += same, n -= same) {
		same = gather(s, n);
		found->distinct++;
		if (same == 1)
			continue;
		sort_array(s, same, sizeof *s, by_id); /* those of a task come in any order */
		struct same_strings *to = BIG_PUSH(found->groups, found->n, found->cap, err);
		if (!to)
			return ERR_NOMEM;
		*to = weigh(h, s, same, g->arrays);
	}
	return 0;
}

static int group_stretch(void *context, unsigned task, struct err *err)
{
	struct hashing *work = context;
	struct duplicates *found = &work->found[task];
	struct grouping g;
	int code = begin_grouping(&g, work, task, err);
	if (!code)
		code = find_members(&g, work, task, err);
	found->strings = g.n;
	progress_add(progress_own(), g.n);
	for (size_t i = 0; !code && i < g.n_ones; i++) {
		uint32_t n = g.one[i].n;
		if (n == 1)
			found->distinct++;
		else
			code = group_one(&g, work->heap, g.member + g.one[i].end - n, n, found, err);
	}
	end_grouping(&g);
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
	for (unsigned k = 0; k < DEALT; k++) {
		const struct duplicates *part = &work->found[k];
		out->strings += part->strings;
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
	work->n_tasks = (uint32_t)((list.n + HASHED_A_TASK - 1) / HASHED_A_TASK);
	work->hashed = big_alloc(list.n, sizeof *work->hashed, err);
	work->begin = big_alloc(work->n_tasks, sizeof *work->begin, err);
	code = work->hashed && work->begin ? 0 : ERR_NOMEM;
	progress_phase(progress_own(), PHASE_READ_TEXTS, list.n);
	if (!code)
		code = parallel_run(0, work->n_tasks, hash_stretch, work, err);
	work->ids = NULL;
	string_list_release(&list);
	return code;
}

static void free_work(struct hashing *work)
{
	for (unsigned k = 0; k < DEALT; k++)
		big_free(work->found[k].groups);
	big_free(work->hashed);
	big_free(work->begin);
	free(work);
}

int duplicates_find(struct duplicates *out, const struct heap *h, struct err *err)
{
	*out = (struct duplicates){ .groups = NULL };
	struct hashing *work = xcalloc(1, sizeof *work);
	int code = hash_all(work, h, err);
	progress_phase(progress_own(), PHASE_COMPARE_TEXTS, work->n);
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
	struct string_view s;
	for (size_t at = one->hash & w->mask; w->slot[at]; at = (at + 1) & w->mask) {
		size_t g = w->slot[at] - 1;
		if (w->hash[g] == one->hash && inspect_text(h, d->groups[g].first, &s) &&
		    same_text(&(struct hashed){ .bytes = s.bytes, .length = s.length, .width = s.width }, one))
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
	for (uint32_t t = 0; !code && t < work->n_tasks; t++) {
		const struct hashed *s = work->hashed + (size_t)t * HASHED_A_TASK;
		for (uint32_t i = 0; i < work->begin[t][DEALT] && !progress_own_stops(64 * (uint64_t)i); i++) {
			if (is_wanted(&w, d, h, &s[i]))
				bits_set(to, s[i].id);
		}
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
