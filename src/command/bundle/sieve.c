/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sieve.c - see sieve.h.
 *
 * What is learned of a needle are three bits of one word, chosen by eight of its bytes.  Of a stretch each place asks
 * for the word of its eight bytes; where all three bits are set these bytes are caught, and some that no needle has
 * with them.  A caught key gets the lengths of the needles that have it, so that a place where it stands costs one
 * look for each length, of which there are few, and not for each needle, of which anybody could make many.
 */
#include "command/bundle/sieve.h"

#include "algorithms/map.h"
#include "algorithms/parallel.h"
#include "base/mem.h"
#include "memory/big.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	STRETCH = 1 << 20, /* bytes of a task */
	AHEAD = 16,        /* places whose words are fetched before they are looked at */
	PAIRS = 2,         /* the first two of the eight bytes, and the two in their middle */
	CAUGHT_AT_ONCE = 512,
};

/* Eight bytes that stand in the file and may be a needle's. */
struct caught {
	uint64_t key;
	uint64_t lengths; /* of the needles that are kept: a bit for each number of bytes from the key on */
};

struct kept {
	struct needle needle;
	struct needle_of of;
	uint64_t hash;       /* of the bytes from its key on */
	_Atomic uint8_t marks;
};

struct sieve {
	_Atomic uint64_t pairs[PAIRS][1 << 10]; /* two bytes that some key has there: most places have others */
	_Atomic uint64_t *learned;
	uint64_t n_learned; /* a power of two */
	struct caught *caught;
	uint64_t n_caught, cap_caught;
	struct map by_key;
	struct kept *kept;
	uint64_t n_kept, cap_kept;
	struct map by_hash;
	pthread_mutex_t lock;
};

/* --- learning ----------------------------------------------------------------------------------- */

int sieve_new(struct sieve **out, uint64_t n, struct err *err)
{
	enum { FEWEST = 1 << 10 };
	struct sieve *s = xcalloc(1, sizeof *s);
	struct err refused = ERR_INIT;
	*out = NULL;
	for (s->n_learned = FEWEST; s->n_learned < n && s->n_learned < UINT64_C(1) << 32;)
		s->n_learned *= 2; /* a word for each text, which has three forms most of the time */
	while (!(s->learned = big_alloc(s->n_learned, sizeof *s->learned, &refused)) && s->n_learned > FEWEST)
		s->n_learned /= 2; /* more is caught then that no text has */
	if (!s->learned) {
		free(s);
		*err = refused;
		return ERR_NOMEM;
	}
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
	return 0;
}

static void forget(struct sieve *s)
{
	big_free(s->caught);
	big_free(s->kept);
	map_release(&s->by_key);
	map_release(&s->by_hash);
	s->caught = NULL;
	s->kept = NULL;
	s->n_caught = s->cap_caught = s->n_kept = s->cap_kept = 0;
}

void sieve_free(struct sieve *s)
{
	if (!s)
		return;
	forget(s);
	big_free(s->learned);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void sieve_begin(struct sieve *s)
{
	forget(s);
}

/* Three bits of a word, and which word, by the hash of a key. */
static uint64_t bits_of(uint64_t hash)
{
	return UINT64_C(1) << (hash >> 58) | UINT64_C(1) << (hash >> 52 & 63) | UINT64_C(1) << (hash >> 46 & 63);
}

/* Most are there already: texts repeat. */
static void set_bits(_Atomic uint64_t *word, uint64_t bits)
{
	if ((atomic_load_explicit(word, memory_order_relaxed) & bits) != bits)
		atomic_fetch_or_explicit(word, bits, memory_order_relaxed);
}

static unsigned pair_of(uint64_t key, unsigned i)
{
	return (unsigned)(key >> 32 * i) & 0xFFFF;
}

void sieve_learn(struct sieve *s, const struct needles *needles)
{
	for (unsigned i = 0; i < needles->n; i++) {
		uint64_t key = needles->form[i].key, hash = hash_number(key);
		set_bits(&s->learned[hash & (s->n_learned - 1)], bits_of(hash));
		for (unsigned k = 0; k < PAIRS; k++)
			set_bits(&s->pairs[k][pair_of(key, k) >> 6], UINT64_C(1) << (pair_of(key, k) & 63));
	}
}

static bool has_pairs(const struct sieve *s, uint64_t key)
{
	unsigned first = pair_of(key, 0), second = pair_of(key, 1);
	return (atomic_load_explicit(&s->pairs[0][first >> 6], memory_order_relaxed) >> (first & 63) &
	    atomic_load_explicit(&s->pairs[1][second >> 6], memory_order_relaxed) >> (second & 63) & 1) != 0;
}

/* --- going through bytes ------------------------------------------------------------------------ */

#define caught_key(list, number) ((list)[number].key)
MAP(caughts, const struct caught *, uint64_t, caught_key, hash_number, map_same)

static struct caught *find_caught(const struct sieve *s, uint64_t key)
{
	uint32_t at = caughts_get(&s->by_key, s->caught, key);
	return at ? &s->caught[at - 1] : NULL;
}

static int put_one(struct sieve *s, uint64_t key, struct err *err)
{
	uint32_t *slot = caughts_enter(&s->by_key, s->caught, (uint32_t)s->n_caught, key, err);
	struct caught *to = slot && !*slot ? BIG_PUSH(s->caught, s->n_caught, s->cap_caught, err) : NULL;
	if (!to)
		return slot && *slot ? 0 : ERR_NOMEM;
	*to = (struct caught){.key = key};
	*slot = (uint32_t)s->n_caught;
	return 0;
}

/* All of one task's catch, under the lock. */
static int put_caught(struct sieve *s, const uint64_t *keys, unsigned n, struct err *err)
{
	int code = 0;
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < n && !code; i++)
		code = put_one(s, keys[i], err);
	pthread_mutex_unlock(&s->lock);
	return code;
}

struct going {
	struct sieve *s;
	const uint8_t *bytes;
	uint64_t n;
	enum sieve_mark mark; /* 0: catch */
	uint64_t keys[CAUGHT_AT_ONCE]; /* a task's own */
	unsigned n_keys;
};

static void mark_at(const struct going *g, uint64_t at, const struct caught *c)
{
	struct sieve *s = g->s;
	for (uint64_t lengths = c->lengths; lengths; lengths &= lengths - 1) {
		unsigned length = (unsigned)__builtin_ctzll(lengths);
		if (length > g->n - at)
			return;
		uint64_t hash = hash_bytes(g->bytes + at, length);
		MAP_EACH(slot, &s->by_hash, hash) {
			struct kept *k = &s->kept[s->by_hash.slots[slot] - 1];
			if (k->hash == hash && (unsigned)(k->needle.n - k->needle.skip) == length && k->needle.skip <= at &&
			    !memcmp(g->bytes + at - k->needle.skip, k->needle.bytes, k->needle.n) &&
			    !(k->marks & g->mark))
				k->marks |= (uint8_t)g->mark;
		}
	}
}

/* Eight bytes that somebody may have learned. */
static int take_place(struct going *g, uint64_t at, uint64_t key, struct err *err)
{
	if (g->mark) {
		const struct caught *c = find_caught(g->s, key);
		if (c && c->lengths)
			mark_at(g, at, c);
		return 0;
	}
	g->keys[g->n_keys++] = key;
	if (g->n_keys < CAUGHT_AT_ONCE)
		return 0;
	g->n_keys = 0;
	return put_caught(g->s, g->keys, CAUGHT_AT_ONCE, err);
}

/* The places from one to before another. */
static int go_through(struct going *g, uint64_t from, uint64_t to, struct err *err)
{
	const struct sieve *s = g->s;
	uint64_t recent[64] = {0}; /* keys: the same ones come again and again */
	int code = 0;
	while (from < to && !code) {
		uint64_t key[AHEAD], hash[AHEAD], place[AHEAD];
		unsigned n = 0;
		for (; from < to && n < AHEAD; from++) {
			key[n] = needle_key(g->bytes + from);
			if (!has_pairs(s, key[n]) || needle_key_same(key[n]))
				continue;
			hash[n] = hash_number(key[n]);
			__builtin_prefetch(&s->learned[hash[n] & (s->n_learned - 1)]);
			place[n++] = from;
		}
		for (unsigned i = 0; i < n && !code; i++) {
			uint64_t bits = bits_of(hash[i]);
			uint64_t word = atomic_load_explicit(&s->learned[hash[i] & (s->n_learned - 1)], memory_order_relaxed);
			if ((word & bits) != bits)
				continue;
			uint64_t *same = &recent[hash[i] >> 40 & 63];
			if (!g->mark && *same == key[i])
				continue;
			*same = key[i];
			code = take_place(g, place[i], key[i], err);
		}
	}
	return code;
}

static int go_stretch(void *context, unsigned task, struct err *err)
{
	struct going g = *(const struct going *)context;
	uint64_t from = (uint64_t)task * STRETCH, last = g.n - NEEDLE_KEY + 1;
	uint64_t to = from + STRETCH < last ? from + STRETCH : last;
	int code = go_through(&g, from, to, err);
	if (!code && g.n_keys)
		code = put_caught(g.s, g.keys, g.n_keys, err);
	if (!code && !progress_add(progress_own(), to - from))
		code = err_cancelled(err);
	return code;
}

static int go(struct going *g, struct err *err)
{
	enum { MOST_TASKS = 1 << 16 }; /* more than can be counted are several works */
	int code = 0;
	for (uint64_t done = 0; !code && g->n - done >= NEEDLE_KEY; ) {
		struct going part = *g;
		uint64_t room = (uint64_t)MOST_TASKS * STRETCH + NEEDLE_ROOM;
		part.bytes = g->bytes + done;
		part.n = g->n - done < room ? g->n - done : room;
		unsigned tasks = (unsigned)((part.n - NEEDLE_KEY) / STRETCH + 1);
		code = parallel_run(0, tasks, go_stretch, &part, err);
		if (part.n < room)
			break;
		done += part.n - 2 * NEEDLE_ROOM;
	}
	return code;
}

int sieve_catch(struct sieve *s, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct going g = {.s = s, .bytes = bytes, .n = n};
	return n < NEEDLE_KEY ? 0 : go(&g, err);
}

int sieve_match(struct sieve *s, const uint8_t *bytes, uint64_t n, enum sieve_mark mark, struct err *err)
{
	struct going g = {.s = s, .bytes = bytes, .n = n, .mark = mark};
	return n < NEEDLE_KEY || !s->n_kept ? 0 : go(&g, err);
}

/* --- keeping ------------------------------------------------------------------------------------ */

struct kept_key {
	const struct needle *needle;
	uint64_t hash;
};

static struct kept_key kept_key(const struct kept *kept, uint32_t number)
{
	return (struct kept_key){&kept[number].needle, kept[number].hash};
}

static bool same_needle(struct kept_key a, struct kept_key b)
{
	return a.needle->n == b.needle->n && !memcmp(a.needle->bytes, b.needle->bytes, b.needle->n);
}

#define hash_needle(key) ((key).hash)
MAP(needles, const struct kept *, struct kept_key, kept_key, hash_needle, same_needle)

static int keep(struct sieve *s, const struct needle *needle, const struct needle_of *of, struct caught *c,
    struct err *err)
{
	unsigned length = needle->n - needle->skip;
	uint64_t hash = hash_bytes(needle->bytes + needle->skip, length);
	if (s->n_kept >= UINT32_MAX / 4)
		return err_set(err, ERR_NOMEM, "too many candidate matches to check");
	uint32_t *slot = needles_enter(&s->by_hash, s->kept, (uint32_t)s->n_kept, (struct kept_key){needle, hash}, err);
	if (!slot || *slot)
		return slot ? 0 : ERR_NOMEM;
	struct kept *k = BIG_PUSH(s->kept, s->n_kept, s->cap_kept, err);
	if (!k)
		return ERR_NOMEM;
	*k = (struct kept){.needle = *needle, .of = *of, .hash = hash};
	*slot = (uint32_t)s->n_kept;
	c->lengths |= UINT64_C(1) << length;
	return 0;
}

int sieve_keep(struct sieve *s, const struct needles *needles, const struct needle_of *of, struct err *err)
{
	int code = 0;
	for (unsigned i = 0; i < needles->n && !code; i++) {
		struct caught *c = find_caught(s, needles->form[i].key);
		if (!c)
			continue;
		pthread_mutex_lock(&s->lock);
		code = keep(s, &needles->form[i], of, c, err);
		pthread_mutex_unlock(&s->lock);
	}
	return code;
}

bool sieve_next(const struct sieve *s, uint64_t *i, const struct needle **needle, struct needle_of *of,
    unsigned *marks)
{
	for (; *i < s->n_kept; ++*i) {
		const struct kept *k = &s->kept[*i];
		if (!k->marks)
			continue;
		*needle = &k->needle;
		*of = k->of;
		*marks = k->marks;
		++*i;
		return true;
	}
	return false;
}
