/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pack.c - see pack.h. */
#include "algorithms/pack.h"

#include "base/text.h"
#include "memory/big.h"

#include <string.h>

/* Each with its NUL, and nothing in it that would steer a terminal. */
static bool texts_hold(const char *texts, uint64_t n)
{
	struct text shown = TEXT_INIT;
	bool hold = !n || texts[n - 1] == '\0';
	for (uint64_t at = 0; hold && at < n;) {
		size_t length = strlen(texts + at);
		text_clear(&shown);
		text_add_escaped(&shown, texts + at, length);
		hold = shown.len == length && !memcmp(shown.s, texts + at, length);
		at += length + 1;
	}
	text_release(&shown);
	return hold;
}

bool pack_open(struct pack *p, const void *numbers, uint64_t n, const void *texts, uint64_t n_texts)
{
	*p = (struct pack){ .reading = true, .at = numbers, .end = (const uint8_t *)numbers + n,
		.texts = texts, .n_texts = n_texts };
	p->bad = !texts_hold(texts, n_texts);
	return !p->bad;
}

bool pack_ends(const struct pack *p)
{
	return !p->bad && p->at == p->end;
}

int pack_written(const struct pack *p, struct err *err)
{
	if (p->lost.code)
		*err = p->lost;
	return p->lost.code;
}

void pack_release(struct pack *p)
{
	big_free(p->out);
	big_free(p->text);
	big_free(p->packed);
	map_release(&p->map);
	*p = (struct pack){ .reading = false };
}

static void put(struct pack *p, uint8_t byte)
{
	uint8_t *to = BIG_PUSH(p->out, p->n, p->cap, &p->lost);
	if (to)
		*to = byte;
}

static uint64_t take(struct pack *p)
{
	uint64_t n = 0;
	for (unsigned shift = 0; p->at < p->end && shift < 64; shift += 7) {
		uint8_t byte = *p->at++;
		if (shift == 63 && byte > 1)
			break;
		n |= (uint64_t)(byte & 0x7F) << shift;
		if (byte < 0x80)
			return n;
	}
	p->bad = true;
	return 0;
}

void pack_number(struct pack *p, uint64_t *n, uint64_t most)
{
	if (p->reading) {
		*n = p->bad ? 0 : take(p);
		if (*n > most) {
			p->bad = true;
			*n = 0;
		}
		return;
	}
	uint64_t left = *n;
	for (; left >= 0x80; left >>= 7)
		put(p, (uint8_t)(left | 0x80));
	put(p, (uint8_t)left);
}

void pack_count(struct pack *p, uint64_t *n, uint64_t most)
{
	uint64_t left = p->reading ? (uint64_t)(p->end - p->at) : UINT64_MAX;
	pack_number(p, n, left < most ? left : most);
}

void pack_id(struct pack *p, uint32_t *id, uint64_t n)
{
	uint64_t up = *id == UINT32_MAX ? 0 : (uint64_t)*id + 1;
	pack_number(p, &up, n);
	if (p->reading)
		*id = up ? (uint32_t)(up - 1) : UINT32_MAX;
}

/* Texts of more bytes are known by where they stand: any number of classes may share a name of any length. */
enum { SHORT = 256 };

struct text_key {
	const char *text, *from; /* from: a long one, which is not read */
};

static struct text_key text_key(const struct pack *p, uint32_t number)
{
	return (struct text_key){p->text + p->packed[number].at, p->packed[number].from};
}

static uint64_t hash_text(struct text_key k)
{
	return k.from ? hash_number((uintptr_t)k.from) : hash_bytes(k.text, strlen(k.text));
}

static bool same_text(struct text_key a, struct text_key b)
{
	return a.from == b.from && (a.from || !strcmp(a.text, b.text));
}

MAP(texts, const struct pack *, struct text_key, text_key, hash_text, same_text)

/* The offset of a text among the texts, which it joins. */
static uint64_t place_of(struct pack *p, const char *text)
{
	size_t n = strnlen(text, SHORT + 1);
	const struct text_key key = {text, n > SHORT ? text : NULL};
	uint32_t *slot = texts_enter(&p->map, p, (uint32_t)p->n_texts_out, key, &p->lost);
	if (!slot || *slot)
		return slot ? p->packed[*slot - 1].at : 0;
	n = strlen(text) + 1;
	while (p->cap_text - p->n_text < n) {
		uint64_t most = p->cap_text < n ? n : p->cap_text;
		char *more = big_resize(p->text, 2 * most, 1, &p->lost);
		if (!more)
			return 0;
		p->text = more;
		p->cap_text = 2 * most;
	}
	struct packed_text *t = BIG_PUSH(p->packed, p->n_texts_out, p->cap_packed, &p->lost);
	if (!t)
		return 0;
	*t = (struct packed_text){ .at = p->n_text, .from = key.from };
	memcpy(p->text + p->n_text, text, n);
	p->n_text += n;
	*slot = (uint32_t)p->n_texts_out;
	return t->at;
}

void pack_text(struct pack *p, const char **text)
{
	uint64_t place = p->reading || !*text ? 0 : place_of(p, *text) + 1;
	pack_number(p, &place, p->n_texts);
	if (!p->reading)
		return;
	bool begins = place < 2 || p->texts[place - 2] == '\0';
	p->bad |= !begins;
	*text = place && begins ? p->texts + place - 1 : NULL;
}
