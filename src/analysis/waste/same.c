/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * same.c - which objects have equal bytes.
 *
 * Each is read once, for a hash of 128 bits.  The candidates are counted first, so all prints stand in one block, those
 * of a stretch dealt by the upper bits of their hashes.  What all stretches have of the same bits is grouped in a
 * table that fits into the processor's cache; where several have one hash their bytes are compared.
 */
#include "analysis/waste/work.h"

#include "algorithms/hash.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { A_STRETCH = 1 << 16, HANDS = 512, HAND_SHIFT = 55 };

struct finding {
	struct waste_work *work;
	const struct waste_same *what;
	unsigned n_stretches;
	uint64_t *first;                /* of each stretch: its first print; one more */
	struct waste_print *print;
	uint32_t (*begin)[HANDS + 1];   /* of each stretch: of its prints, by hand */
	struct waste_stretch *hand;     /* what is found in each */
};

static bool is_candidate(const struct finding *f, uint32_t id)
{
	return f->what->roles >> waste_role(f->work, id) & 1;
}

static uint32_t stretch_end(const struct finding *f, unsigned stretch)
{
	uint32_t n = f->work->heap->n_objects, begin = stretch * A_STRETCH;
	return n - begin < A_STRETCH ? n : begin + A_STRETCH;
}

static int count(void *context, unsigned stretch, struct err *err)
{
	struct finding *f = context;
	(void)err;
	for (uint32_t id = stretch * A_STRETCH; id < stretch_end(f, stretch); id++)
		f->first[stretch + 1] += is_candidate(f, id);
	return 0;
}

static unsigned hand_of(const struct waste_print *p)
{
	return (unsigned)(p->hash[0] >> HAND_SHIFT);
}

/* Put n prints in the order of their hands; the others' order is any. */
static void deal(struct waste_print *p, uint32_t n, uint32_t begin[HANDS + 1])
{
	uint32_t at[HANDS] = {0}, sum = 0;
	for (uint32_t i = 0; i < n; i++)
		at[hand_of(&p[i])]++;
	for (unsigned k = 0; k < HANDS; k++) {
		begin[k] = sum;
		sum += at[k];
		at[k] = begin[k];
	}
	begin[HANDS] = n;
	for (unsigned k = 0; k < HANDS; k++) {
		while (at[k] < begin[k + 1]) {
			struct waste_print one = p[at[k]];
			unsigned to = hand_of(&one);
			p[at[k]] = p[at[to]];
			p[at[to]++] = one;
		}
	}
}

/* Hashes of the last long contents: of a text that many share each one would be read again. */
enum { MEMO = 64, MEMO_LEAST = 64 };
struct memo {
	const uint8_t *bytes;
	uint64_t n, with, hash[2];
};

static void hash_of(struct memo memo[MEMO], const uint8_t *bytes, uint64_t n, uint64_t with, uint64_t hash[2])
{
	struct memo *m = &memo[hash_number((uintptr_t)bytes) % MEMO];
	if (n < MEMO_LEAST) {
		hash_bytes_128(bytes, n, with, hash);
		return;
	}
	if (m->bytes != bytes || m->n != n || m->with != with) {
		*m = (struct memo){.bytes = bytes, .n = n, .with = with};
		hash_bytes_128(bytes, n, with, m->hash);
	}
	memcpy(hash, m->hash, sizeof m->hash);
}

static int print_stretch(void *context, unsigned stretch, struct err *err)
{
	struct finding *f = context;
	struct waste_stretch s = {.work = f->work};
	struct waste_print *to = f->print + f->first[stretch];
	struct memo memo[MEMO] = {{.bytes = NULL}};
	uint32_t n = 0;
	for (uint32_t id = stretch * A_STRETCH; id < stretch_end(f, stretch); id++) {
		const uint8_t *bytes;
		uint64_t length, with;
		uint32_t array;
		if (progress_own_stops(16 * (uint64_t)id))
			return err_cancelled(err);
		if (!is_candidate(f, id) || !f->what->bytes(&s, id, &bytes, &length, &with, &array))
			continue;
		to[n] = (struct waste_print){.id = id, .array = array};
		hash_of(memo, bytes, length, with, to[n].hash);
		n++;
	}
	deal(to, n, f->begin[stretch]);
	return progress_add(progress_own(), stretch_end(f, stretch) - stretch * A_STRETCH) ? 0 : err_cancelled(err);
}

/* --- grouping ----------------------------------------------------------------------------------- */

struct table {
	uint64_t n;
	uint32_t *slot;   /* a number of `seen` + 1, or 0 */
	uint64_t mask;
	struct seen {
		const struct waste_print *one;
		uint32_t n;
	} *seen;
	uint32_t n_seen;
	struct waste_print *several;
	uint64_t n_several;
};

static bool same_hash(const struct waste_print *a, const struct waste_print *b)
{
	return a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1];
}

static struct seen *enter(struct table *t, const struct waste_print *p)
{
	uint64_t at = p->hash[1] & t->mask;
	while (t->slot[at] && !same_hash(t->seen[t->slot[at] - 1].one, p))
		at = (at + 1) & t->mask;
	if (!t->slot[at]) {
		t->seen[t->n_seen].one = p;
		t->slot[at] = ++t->n_seen;
	}
	return &t->seen[t->slot[at] - 1];
}

/* By hash, then by object. */
static int by_hash(const void *x, const void *y)
{
	const struct waste_print *a = x, *b = y;
	for (int i = 0; i < 2; i++)
		if (a->hash[i] != b->hash[i])
			return a->hash[i] < b->hash[i] ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* The prints of a hand that share their hash with others, those of one hash in a row. */
static int find_several(struct table *t, const struct finding *f, unsigned hand, struct err *err)
{
	t->mask = 63;
	for (unsigned s = 0; s < f->n_stretches; s++)
		t->n += f->begin[s][hand + 1] - f->begin[s][hand];
	while (t->mask < 2 * t->n)
		t->mask = 2 * t->mask + 1;
	t->slot = big_alloc(t->mask + 1, sizeof *t->slot, err);
	t->seen = big_alloc(t->n, sizeof *t->seen, err);
	if (!t->slot || !t->seen)
		return ERR_NOMEM;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned s = 0; s < f->n_stretches; s++) {
			const struct waste_print *p = f->print + f->first[s];
			for (uint32_t i = f->begin[s][hand]; i < f->begin[s][hand + 1]; i++) {
				struct seen *seen = enter(t, &p[i]);
				if (!pass)
					t->n_several += ++seen->n == 2 ? 2 : seen->n > 2;
				else if (seen->n > 1)
					t->several[t->n_several++] = p[i];
			}
		}
		if (!pass && !(t->several = big_alloc(t->n_several, sizeof *t->several, err)))
			return ERR_NOMEM;
		t->n_several = pass ? t->n_several : 0;
	}
	return sort(t->several, t->n_several, sizeof *t->several, by_hash, err);
}

/* Of n prints of one hash: those whose bytes are the first one's come to the front; returns how many. */
static size_t gather(struct waste_stretch *s, const struct waste_same *what, struct waste_print *p, size_t n)
{
	const uint8_t *first, *bytes;
	uint64_t length, n_bytes, with, other;
	uint32_t array;
	size_t same = 1;
	if (!what->bytes(s, p[0].id, &first, &length, &with, &array))
		return 1;
	for (size_t i = 1; i < n; i++) {
		if (!what->bytes(s, p[i].id, &bytes, &n_bytes, &other, &array) || n_bytes != length || other != with ||
		    (bytes != first && !same_bytes(bytes, first, length)))
			continue;
		struct waste_print one = p[i];
		memmove(&p[same + 1], &p[same], (i - same) * sizeof *p);
		p[same++] = one;
	}
	return same;
}

/* Of equal objects the one stays that the program's constants hold, else the first. */
static void best_first(const struct finding *f, struct waste_print *p, size_t n)
{
	size_t best = 0;
	unsigned most = 0;
	for (size_t i = 0; i < n && most < 2; i++) {
		unsigned stays = waste_stays(f->work, p[i].id);
		best = stays > most ? i : best;
		most = stays > most ? stays : most;
	}
	if (!best)
		return;
	struct waste_print one = p[best];
	memmove(&p[1], &p[0], best * sizeof *p);
	p[0] = one;
}

static int add_others(struct waste_stretch *s, enum waste_kind kind, const struct waste_print *same, size_t n,
    struct err *err)
{
	int code = 0;
	for (size_t i = 0; i < n && !code; i++) {
		uint64_t bytes = heap_shallow(s->work->heap, same[i].id);
		code = waste_add(s, kind, same[i].id, bytes, i ? bytes : 0, err);
	}
	return code;
}

static int group_hand(void *context, unsigned hand, struct err *err)
{
	struct finding *f = context;
	struct waste_stretch *s = &f->hand[hand];
	struct table t = {.n = 0};
	int code = find_several(&t, f, hand, err);
	size_t end;
	for (size_t at = 0; !code && at < t.n_several; at = end) {
		for (end = at + 1; end < t.n_several && same_hash(&t.several[at], &t.several[end]);)
			end++;
		for (size_t same; !code && at < end; at += same) {
			if (progress_own_stops(0))
				code = err_cancelled(err);
			same = gather(s, f->what, &t.several[at], end - at);
			if (same > 1)
				best_first(f, &t.several[at], same);
			if (!code && same > 1)
				code = f->what->found ? f->what->found(s, &t.several[at], same, err) :
				    add_others(s, f->what->kind, &t.several[at], same, err);
		}
	}
	big_free(t.slot);
	big_free(t.seen);
	big_free(t.several);
	return !code && !progress_add(progress_own(), t.n) ? err_cancelled(err) : code;
}

/* --- all together ------------------------------------------------------------------------------- */

static int by_id(const void *x, const void *y)
{
	const struct waste_item *a = x, *b = y;
	return (a->id > b->id) - (a->id < b->id);
}

static int take_found(struct finding *f, struct err *err)
{
	int code = 0;
	for (unsigned k = 0; k < WASTE_KINDS && !code; k++) {
		struct waste_items *to = &f->work->found[k];
		size_t sum = 0;
		for (unsigned hand = 0; hand < HANDS; hand++)
			sum += f->hand[hand].found[k].n;
		if (!sum)
			continue;
		void *more = big_resize(to->item, to->n + sum, sizeof *to->item, err);
		if (!more)
			return ERR_NOMEM;
		to->item = more;
		to->cap = to->n + sum;
		for (unsigned hand = 0; hand < HANDS; hand++) {
			const struct waste_items *from = &f->hand[hand].found[k];
			if (from->n)
				memcpy(to->item + to->n, from->item, from->n * sizeof *to->item);
			to->n += from->n;
		}
		code = sort(to->item, to->n, sizeof *to->item, by_id, err);
	}
	return code;
}

static int find(struct finding *f, struct err *err)
{
	uint32_t n = f->work->heap->n_objects;
	f->n_stretches = (unsigned)(((uint64_t)n + A_STRETCH - 1) / A_STRETCH);
	f->first = big_alloc(f->n_stretches + 1, sizeof *f->first, err);
	f->begin = big_alloc(f->n_stretches, sizeof *f->begin, err);
	f->hand = big_alloc(HANDS, sizeof *f->hand, err);
	if (!f->first || !f->begin || !f->hand)
		return ERR_NOMEM;
	for (unsigned hand = 0; hand < HANDS; hand++)
		f->hand[hand].work = f->work;
	int code = parallel_run(0, f->n_stretches, count, f, err);
	for (unsigned s = 0; s < f->n_stretches; s++)
		f->first[s + 1] += f->first[s];
	if (!code && !(f->print = big_alloc(f->first[f->n_stretches], sizeof *f->print, err)))
		code = ERR_NOMEM;
	progress_phase(progress_own(), PHASE_LOOK_AT_OBJECTS, n);
	if (!code)
		code = parallel_run(0, f->n_stretches, print_stretch, f, err);
	progress_phase(progress_own(), PHASE_COMPARE_OBJECTS, f->first[f->n_stretches]);
	if (!code)
		code = parallel_run(0, HANDS, group_hand, f, err);
	return code ? code : take_found(f, err);
}

int waste_find_same(struct waste_work *w, const struct waste_same *what, struct err *err)
{
	struct finding f = {.work = w, .what = what};
	int code = find(&f, err);
	for (unsigned hand = 0; f.hand && hand < HANDS; hand++)
		for (unsigned k = 0; k < WASTE_KINDS; k++)
			big_free(f.hand[hand].found[k].item);
	big_free(f.first);
	big_free(f.begin);
	big_free(f.print);
	big_free(f.hand);
	return code;
}
