/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.c - see changes.h. */
#include "changes.h"

#include "mutate.h"
#include "promise.h"

#include <string.h>
#include <zlib.h>

enum { MOST_CHANGES = 64, PAGE = 4096 };
enum how { TO_NUMBER, BY_NUMBER, TURN_BIT, TO_ADDRESS, TO_OTHER_WORD, LOW_BYTE, LOW_HALF, ZERO_PAGE, CUT_FILE,
	TO_ITSELF, NEXT_TO_ADDRESS, HOWS };

/* --- the sample -------------------------------------------------------------------------------------------- */

void sample_add(struct sample *s, unsigned owner, struct word word)
{
	struct words *w = &s->of[owner];

	PROMISE(owner < s->n_owners && word.offset + word.bytes <= s->size);
	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 1024;
		w->word = realloc(w->word, w->cap * sizeof *w->word);
		PROMISE(w->word);
	}
	w->word[w->n++] = word;
}

void sample_read(struct sample *s, const char *path, size_t most)
{
	gzFile f = gzopen(path, "rb");

	s->bytes = malloc(most);
	int n = f && s->bytes ? gzread(f, s->bytes, (unsigned)most) : -1;
	if (n <= 0 || (size_t)n == most) {
		fprintf(stderr, "%s cannot be read\n", path);
		exit(99);
	}
	gzclose(f);
	s->size = (size_t)n;
	s->bytes = realloc(s->bytes, s->size);
	PROMISE(s->bytes);
}

/* --- numbers ----------------------------------------------------------------------------------------------- */

static uint64_t load(const struct sample *s, const uint8_t *p, unsigned bytes)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < bytes; i++)
		number |= (uint64_t)p[s->big_endian ? bytes - 1 - i : i] << 8 * i;
	return number;
}

static void store(const struct sample *s, uint8_t *p, unsigned bytes, uint64_t number)
{
	for (unsigned i = 0; i < bytes; i++)
		p[s->big_endian ? bytes - 1 - i : i] = (uint8_t)(number >> 8 * i);
}

static uint64_t as_kept(const struct sample *s, const struct word *w, uint64_t address)
{
	return w->form == AS_DISTANCE ? address - w->at : w->form == AS_REFERENCE ? address >> s->shift : address;
}

/* --- changes ----------------------------------------------------------------------------------------------- */

/* Not every sample has words of each owner. */
static const struct word *word_of(const struct sample *s, uint8_t owner, uint64_t number)
{
	const struct words *w = &s->of[owner % s->n_owners];

	if (!w->n)
		w = &s->of[0];
	return &w->word[number % w->n];
}

/* owner, how (a byte each), owner of the other word, CHANGE_OWN, which word (4 bytes), a number (8 bytes): in any
 * machine's order the lowest byte first.  The size of the file is returned. */
static size_t change(const struct sample *s, uint8_t *bytes, size_t size, const uint8_t *c)
{
	static const struct sample little = {.big_endian = false};
	uint64_t number = load(&little, c + 8, 8);
	const struct word *w = word_of(s, c[0], load(&little, c + 4, 4)), *other = word_of(s, c[2], number);
	uint64_t old = load(s, bytes + w->offset, w->bytes);

	switch ((enum how)(c[1] % HOWS)) {
	case TO_NUMBER:
		break;
	case BY_NUMBER:
		number += old;
		break;
	case TURN_BIT:
		number = old ^ UINT64_C(1) << number % (8 * w->bytes);
		break;
	case TO_ADDRESS:
		number = as_kept(s, w, other->address);
		break;
	case TO_OTHER_WORD:
		number = load(s, bytes + other->offset, other->bytes);
		break;
	case LOW_BYTE:
		number = (old & ~UINT64_C(0xff)) | (number & 0xff);
		break;
	case LOW_HALF:
		number = (old & ~UINT64_C(0xffffffff)) | (number & 0xffffffff);
		break;
	case ZERO_PAGE:
		old = w->offset & ~UINT64_C(4095);
		memset(bytes + old, 0, s->size - old < PAGE ? s->size - old : PAGE);
		return size;
	case CUT_FILE:
		return number % size + 1;
	case TO_ITSELF:
		number = as_kept(s, w, w->address);
		break;
	default:
		number = as_kept(s, w, other->address + (number >> 32) % 256);
	}
	store(s, bytes + w->offset, w->bytes, number);
	return size;
}

uint8_t *sample_changed(const struct sample *s, const uint8_t *data, size_t n, size_t *size)
{
	uint8_t *bytes = malloc(s->size);

	PROMISE(bytes);
	memcpy(bytes, s->bytes, s->size);
	*size = s->size;
	for (size_t i = 0; i + CHANGE <= n && i < (size_t)CHANGE * MOST_CHANGES; i += CHANGE)
		*size = change(s, bytes, *size, data + i);
	bytes = realloc(bytes, *size);
	PROMISE(bytes);
	return bytes;
}

/* --- the mutator ------------------------------------------------------------------------------------------- */

static uint64_t chance;

static uint64_t draw(uint64_t below)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (chance >> 33) % below;
}

static uint64_t worth_a_try(void)
{
	static const uint64_t numbers[] = {0, 1, 2, 3, 7, 8, 16, 255, 256, 4095, 4096, 0x7fff, 0x8000, 0xffff, 0x10000,
	    0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7,
	    (uint64_t)-1 << 32};
	uint64_t n = sizeof numbers / sizeof *numbers, drawn = draw(2 * n);

	return drawn < n ? numbers[drawn] : draw(2) ? draw(64) : draw(UINT64_C(1) << 31) << draw(33);
}

static void set_number(uint8_t *c, unsigned at, unsigned bytes, uint64_t number)
{
	for (unsigned i = 0; i < bytes; i++)
		c[at + i] = (uint8_t)(number >> 8 * i);
}

/* Mostly words get what others of the same owner have. */
static void invent(uint8_t *c)
{
	c[0] = (uint8_t)draw(OWNERS_MOST);
	c[1] = (uint8_t)draw(HOWS);
	c[2] = draw(3) ? c[0] : (uint8_t)draw(OWNERS_MOST);
	set_number(c, 4, 4, draw(UINT64_C(1) << 24));
	set_number(c, 8, 8, draw(2) ? worth_a_try() : draw(UINT64_C(1) << 24));
}

/* One that is there: another word, near or far, another number, another way. */
static void adjust(uint8_t *c)
{
	static const struct sample little = {.big_endian = false};

	switch (draw(5)) {
	case 0:
		set_number(c, 4, 4, load(&little, c + 4, 4) + draw(9) - 4);
		break;
	case 1:
		set_number(c, 4, 4, draw(UINT64_C(1) << 24));
		break;
	case 2:
		set_number(c, 8, 8, worth_a_try());
		break;
	case 3:
		set_number(c, 8, 8, load(&little, c + 8, 8) + draw(17) - 8);
		break;
	default:
		c[1] = (uint8_t)draw(HOWS);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	size_t n = size / CHANGE, room = most / CHANGE < MOST_CHANGES ? most / CHANGE : MOST_CHANGES;
	uint8_t own = n ? data[CHANGE_OWN] : 0;

	chance = seed;
	if (!room)
		return 0;
	if (size >= 4 && !memcmp(data, "\x7f" "ELF", 4)) { /* a whole sample is an input, too */
		own = (uint8_t)draw(256);
		n = 0;
	}
	n = n < room ? n : room;
	for (unsigned i = 1 + (unsigned)draw(3); i; i--) {
		size_t at = n ? draw(n) : 0;
		if (n < room && (!n || !draw(3))) {
			invent(data + CHANGE * n++);
		} else if (n < room && !draw(4)) {
			memcpy(data + CHANGE * n, data + CHANGE * at, CHANGE);
			adjust(data + CHANGE * n++);
		} else if (n > 1 && !draw(4)) {
			memmove(data + CHANGE * at, data + CHANGE * --n, CHANGE);
		} else {
			adjust(data + CHANGE * at);
		}
	}
	data[CHANGE_OWN] = draw(16) ? own : (uint8_t)draw(256);
	return CHANGE * n;
}
