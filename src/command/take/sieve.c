/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sieve.c - see sieve.h.
 *
 * What is learned of a needle are three bits of one word, chosen by eight of its bytes.  Of a stretch each place asks
 * for the word of its eight bytes; where all three bits are set these bytes are caught, and some that no needle has
 * with them.  A caught key gets the lengths of the needles that have it, so that a place where it stands costs one
 * look for each length, of which there are few, and not for each needle, of which anybody could make many.
 */
#include "command/take/sieve.h"

#include "base/big.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY = 8,           /* bytes */
	STRETCH = 1 << 20, /* bytes of a task */
	AHEAD = 16,        /* places whose words are fetched before they are looked at */
	PAIRS = 2,         /* the first two of the eight bytes, and the two in their middle */
	CAUGHT_AT_ONCE = 512,
};

/* Eight bytes that stand in the file and may be a needle's; key 0: a free slot. */
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
	uint64_t n_caught, n_slots; /* n_slots: a power of two, at most half of them taken */
	struct kept *kept;
	uint64_t n_kept, cap_kept;
	uint32_t *by_hash, n_by_hash;
	pthread_mutex_t lock;
};

static uint64_t load_key(const uint8_t *p)
{
	uint64_t key;
	memcpy(&key, p, sizeof key);
	return key;
}

static bool all_same(uint64_t key)
{
	return key == (key << 8 | key >> 56);
}

/* --- needles ------------------------------------------------------------------------------------ */

const char *needle_form_name(enum needle_form form)
{
	static const char *const names[FORMS] = {"UTF-8", "Latin-1", "UTF-16LE", "UTF-16BE", "escaped UTF-8"};
	return names[form];
}

void needles_release(struct needles *to)
{
	text_release(&to->room);
}

static uint32_t unit(const struct string_view *s, uint64_t i)
{
	const uint8_t *p = s->bytes + i * s->width;
	if (s->width == 1)
		return *p;
	return s->big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

/* The character at *i, which moves on; half a pair is one.  UINT32_MAX: these bytes are no UTF-8. */
static uint32_t character(const struct string_view *s, uint64_t *i)
{
	uint32_t c = unit(s, (*i)++);
	if (s->utf8 && c >= 0x80) {
		unsigned more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
		if (c < 0xC0 || c >= 0xF8 || s->length - *i < more)
			return UINT32_MAX;
		for (c &= 0x3Fu >> more; more; more--) {
			uint32_t next = unit(s, (*i)++);
			if (next >> 6 != 2)
				return UINT32_MAX;
			c = c << 6 | (next & 0x3F);
		}
		return c <= 0x10FFFF ? c : UINT32_MAX;
	}
	if (s->width == 2 && c >> 10 == 0xD800 >> 10 && *i < s->length) {
		uint32_t low = unit(s, *i);
		if (low >> 10 == 0xDC00 >> 10) {
			++*i;
			return 0x10000 + ((c & 0x3FF) << 10) + (low & 0x3FF);
		}
	}
	return c;
}

/* The characters of a needle: the first ones, but not one alone over and over. */
static enum needle_made characters(const struct string_view *s, uint32_t *to, unsigned *n)
{
	enum { LOOKED_AT = 512 }; /* any number of texts may share what they begin with */
	uint64_t at = 0, last[TEXT_LEAST] = {0}, count = 0;
	uint32_t first = 0;
	*n = 0;
	if (s->length < TEXT_LEAST)
		return NEEDLE_SHORT;
	for (uint64_t next = 0; next < s->length && count < LOOKED_AT; count++) {
		last[count % TEXT_LEAST] = next;
		uint32_t c = character(s, &next);
		if (!count)
			first = c;
		if (c != first || c == UINT32_MAX) {
			/* a few of those that are the same stay in front, so that it is long enough */
			at = count < TEXT_LEAST ? 0 : last[(count + 1) % TEXT_LEAST];
			while (*n < NEEDLE_UNITS && at < s->length && (c = character(s, &at)) != UINT32_MAX)
				to[(*n)++] = c;
			return *n < TEXT_LEAST ? NEEDLE_SHORT : NEEDLE_MADE;
		}
	}
	return count < TEXT_LEAST ? NEEDLE_SHORT : NEEDLE_SAME;
}

/* One character in a form; returns how many bytes, 0: it has none. */
static size_t in_form(enum needle_form form, uint32_t c, uint8_t *to, struct text *room)
{
	uint32_t pair[2] = {0xD800 + ((c - 0x10000) >> 10), 0xDC00 + (c & 0x3FF)};
	unsigned units = c >= 0x10000 ? 2 : 1;
	char utf8[8];
	if (form == FORM_UTF8)
		return utf8_encode((char *)to, c);
	if (form == FORM_LATIN1) {
		*to = (uint8_t)c;
		return c < 0x100;
	}
	if (form == FORM_PAGE) {
		const char *entity = c < 0x80 ? markup_entity((char)c) : NULL;
		text_clear(room);
		if (entity)
			text_add(room, entity);
		else
			text_add_escaped(room, utf8, utf8_encode(utf8, c));
		memcpy(to, room->s, room->len < 16 ? room->len : 0);
		return room->len < 16 ? room->len : 0;
	}
	for (unsigned i = 0; i < units; i++) {
		uint32_t u = units == 2 ? pair[i] : c;
		to[2 * i] = (uint8_t)(form == FORM_UTF16_BE ? u >> 8 : u);
		to[2 * i + 1] = (uint8_t)(form == FORM_UTF16_BE ? u : u >> 8);
	}
	return 2 * units;
}

/* True: these are other bytes than the forms before it. */
static bool add_form(struct needles *to, enum needle_form form, const uint32_t *c, unsigned n)
{
	struct needle *needle = &to->form[to->n];
	uint8_t one[16];
	unsigned whole = 0;
	needle->n = needle->skip = 0;
	needle->form = (uint8_t)form;
	for (; whole < n; whole++) {
		size_t bytes = in_form(form, c[whole], one, &to->room);
		if (!bytes || needle->n + bytes > NEEDLE_ROOM)
			break;
		memcpy(needle->bytes + needle->n, one, bytes);
		needle->n += (uint8_t)bytes;
	}
	if (whole < TEXT_LEAST)
		return false;
	while (needle->skip + KEY < needle->n && all_same(load_key(needle->bytes + needle->skip)))
		needle->skip++;
	needle->key = load_key(needle->bytes + needle->skip);
	for (unsigned i = 0; i < to->n; i++)
		if (to->form[i].n == needle->n && !memcmp(to->form[i].bytes, needle->bytes, needle->n))
			return false;
	return !all_same(needle->key);
}

static bool is_letter(uint32_t c)
{
	return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A few digits and signs alone, or 0x and hexadecimal ones: what counts, bytes and addresses are made of. */
static bool is_numeric(const uint32_t *c, unsigned n)
{
	bool hexadecimal = n > 2 && c[0] == '0' && c[1] == 'x';
	unsigned digits = 0;
	for (unsigned i = hexadecimal ? 2 : 0; i < n; i++) {
		digits += c[i] >= '0' && c[i] <= '9';
		if (is_letter(c[i]) && !(hexadecimal && c[i] >= 'a' && c[i] <= 'f'))
			return false;
	}
	return hexadecimal || digits <= NUMBER_DIGITS;
}

/* Numbers in a row often stay as they are, rise or fall by one, or come in turns: "0000111122223333", "abababab".  In a
 * short text one character may be another: "        }". */
static bool is_dull(const uint32_t *c, unsigned n)
{
	enum { TURNS = 4, TIMES = 4, SHORT = 16 }; /* a turn is of so many characters at most, and comes so often */
	for (unsigned turn = 1; turn <= TURNS && turn * TIMES <= n; turn++) {
		unsigned odd = 0;
		for (unsigned i = turn; i < n; i++)
			odd += c[i] > c[i - turn] + 1 || c[i] + 1 < c[i - turn];
		if (odd <= (n < SHORT))
			return true;
	}
	return false;
}

static bool is_control(uint32_t c)
{
	return (c < ' ' && c != '\n' && c != '\t' && c != '\r') || (c >= 0x7F && c < 0xA0);
}

/* Is it a character of ASCII that stands for itself in every form? */
static bool is_plain(uint32_t c)
{
	return c >= ' ' && c < 0x7F && c != '&' && c != '<' && c != '>' && c != '"' && c != '\'';
}

/* The same bytes that add_form makes, of what most texts are: plain ASCII that does not begin with eight of a kind.
 * False: it is something else. */
static bool make_plain(struct needles *to, const struct string_view *s)
{
	unsigned n = s->length < NEEDLE_UNITS ? (unsigned)s->length : NEEDLE_UNITS;
	uint8_t *utf8 = to->form[0].bytes, *low = to->form[1].bytes, *high = to->form[2].bytes, differ = 0;
	uint32_t c[NEEDLE_UNITS];
	for (unsigned i = 0; i < n; i++) {
		c[i] = unit(s, i);
		if (!is_plain(c[i]))
			return false;
		utf8[i] = (uint8_t)c[i];
		differ |= i < KEY ? utf8[i] ^ utf8[0] : 0;
	}
	if (!differ)
		return false;
	for (unsigned i = 0; i < n; i++) {
		low[2 * i] = high[2 * i + 1] = utf8[i];
		low[2 * i + 1] = high[2 * i] = 0;
	}
	for (unsigned i = 0; i < 3; i++) {
		struct needle *needle = &to->form[i];
		needle->form = (uint8_t)(i ? FORM_UTF16_LE + i - 1 : FORM_UTF8);
		needle->n = (uint8_t)(i ? 2 * n : n);
		needle->skip = 0;
		needle->key = load_key(needle->bytes);
	}
	to->n = 3;
	to->numeric = is_numeric(c, n);
	to->binary = is_dull(c, n);
	return true;
}

enum needle_made needles_make(struct needles *to, const struct string_view *s)
{
	if (s->length >= TEXT_LEAST && make_plain(to, s))
		return NEEDLE_MADE;
	uint32_t c[NEEDLE_UNITS];
	unsigned n;
	bool ascii = true, plain = true;
	enum needle_made made = characters(s, c, &n);
	to->n = 0;
	if (made != NEEDLE_MADE)
		return made;
	to->numeric = is_numeric(c, n);
	to->binary = is_dull(c, n);
	for (unsigned i = 0; i < n; i++) {
		to->binary |= is_control(c[i]);
		ascii &= c[i] < 0x80;
		plain &= is_plain(c[i]);
	}
	for (enum needle_form form = 0; form < FORMS; form++)
		if (!(form == FORM_LATIN1 && ascii) && !(form == FORM_PAGE && plain))
			to->n += add_form(to, form, c, n);
	return NEEDLE_MADE;
}

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
	big_free(s->by_hash);
	s->caught = NULL;
	s->kept = NULL;
	s->by_hash = NULL;
	s->n_caught = s->n_slots = s->n_kept = s->cap_kept = 0;
	s->n_by_hash = 0;
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

static struct caught *slot_of(const struct sieve *s, uint64_t key)
{
	uint64_t at = hash_number(key);
	while (s->caught[at & (s->n_slots - 1)].key && s->caught[at & (s->n_slots - 1)].key != key)
		at++;
	return &s->caught[at & (s->n_slots - 1)];
}

static struct caught *find_caught(const struct sieve *s, uint64_t key)
{
	struct caught *c = s->n_slots ? slot_of(s, key) : NULL;
	return c && c->key ? c : NULL;
}

static int more_slots(struct sieve *s, struct err *err)
{
	struct caught *old = s->caught;
	uint64_t n = s->n_slots, more = n ? 2 * n : 1 << 14;
	struct caught *slots = big_alloc(more, sizeof *slots, err);
	if (!slots)
		return ERR_NOMEM;
	s->caught = slots;
	s->n_slots = more;
	for (uint64_t i = 0; i < n; i++)
		if (old[i].key)
			*slot_of(s, old[i].key) = old[i];
	big_free(old);
	return 0;
}

/* All of one task's catch, under the lock. */
static int put_caught(struct sieve *s, const uint64_t *keys, unsigned n, struct err *err)
{
	int code = 0;
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < n && !code; i++) {
		if (2 * s->n_caught >= s->n_slots)
			code = more_slots(s, err);
		struct caught *c = code ? NULL : slot_of(s, keys[i]);
		if (c && !c->key) {
			c->key = keys[i];
			s->n_caught++;
		}
	}
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
		for (uint32_t slot = (uint32_t)hash & (s->n_by_hash - 1); s->by_hash[slot];
		    slot = (slot + 1) & (s->n_by_hash - 1)) {
			struct kept *k = &s->kept[s->by_hash[slot] - 1];
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
			key[n] = load_key(g->bytes + from);
			if (!has_pairs(s, key[n]) || all_same(key[n]))
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
	uint64_t from = (uint64_t)task * STRETCH, last = g.n - KEY + 1;
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
	enum { MOST_TASKS = 1 << 16 };
	int code = 0;
	for (uint64_t done = 0; !code && g->n - done >= KEY; ) { /* more tasks than can be counted are several works */
		struct going part = *g;
		uint64_t room = (uint64_t)MOST_TASKS * STRETCH + NEEDLE_ROOM;
		part.bytes = g->bytes + done;
		part.n = g->n - done < room ? g->n - done : room;
		code = parallel_run(0, (unsigned)((part.n - KEY) / STRETCH + 1), go_stretch, &part, err);
		if (part.n < room)
			break;
		done += part.n - 2 * NEEDLE_ROOM;
	}
	return code;
}

int sieve_catch(struct sieve *s, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct going g = {.s = s, .bytes = bytes, .n = n};
	return n < KEY ? 0 : go(&g, err);
}

int sieve_match(struct sieve *s, const uint8_t *bytes, uint64_t n, enum sieve_mark mark, struct err *err)
{
	struct going g = {.s = s, .bytes = bytes, .n = n, .mark = mark};
	return n < KEY || !s->n_kept ? 0 : go(&g, err);
}

/* --- keeping ------------------------------------------------------------------------------------ */

static uint64_t hash_of(const void *all, uint32_t number)
{
	return ((const struct kept *)all)[number].hash;
}

static int keep(struct sieve *s, const struct needle *needle, const struct needle_of *of, struct caught *c,
    struct err *err)
{
	unsigned length = needle->n - needle->skip;
	uint64_t hash = hash_bytes(needle->bytes + needle->skip, length);
	if (s->n_kept >= UINT32_MAX / 4)
		return err_set(err, ERR_NOMEM, "more texts begin as something in the file does than can be looked at");
	if (s->n_kept * 2 >= s->n_by_hash &&
	    hash_slots_grow(&s->by_hash, &s->n_by_hash, (uint32_t)s->n_kept, hash_of, s->kept, err))
		return ERR_NOMEM;
	uint32_t slot = (uint32_t)hash & (s->n_by_hash - 1);
	for (; s->by_hash[slot]; slot = (slot + 1) & (s->n_by_hash - 1)) {
		const struct needle *there = &s->kept[s->by_hash[slot] - 1].needle;
		if (there->n == needle->n && !memcmp(there->bytes, needle->bytes, needle->n))
			return 0;
	}
	struct kept *k = BIG_PUSH(s->kept, s->n_kept, s->cap_kept, err);
	if (!k)
		return ERR_NOMEM;
	*k = (struct kept){.needle = *needle, .of = *of, .hash = hash};
	s->by_hash[slot] = (uint32_t)s->n_kept;
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
