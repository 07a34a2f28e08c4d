/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_j9core.c - fuzz target: system dumps of OpenJ9.
 *
 * The corpus has tiny ones that tests/lib/j9_made.py made.  Mostly words change: they get what other words have,
 * which are addresses, offsets and numbers of the same structures.
 */
#include "dump/j9core/j9core.h"
#include "fuzz_reader.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&j9_core_reader, &j9_part_bytes, data, size);
	return 0;
}

static uint64_t chance;

static size_t draw(size_t below)
{
	chance = chance * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(chance >> 33) % below;
}

/* A word of 4 or 8 bytes that says something: of some that are drawn the first that is not 0. */
static size_t find_word(const uint8_t *data, size_t size, size_t word)
{
	static const uint8_t zeros[8];
	size_t at = draw(size / word) * word;

	for (unsigned i = 0; i < 20 && !memcmp(data + at, zeros, word); i++)
		at = draw(size / word) * word;
	return at;
}

static void change(uint8_t *data, size_t size)
{
	size_t word = draw(2) ? 8 : 4, at = find_word(data, size, word), other = find_word(data, size, word);

	switch (draw(6)) {
	case 0:
	case 1:
		memmove(data + at, data + other, word);
		break;
	case 2:
		data[at + draw(word)] ^= (uint8_t)(1u << draw(8));
		break;
	case 3:
		memset(data + at, draw(2) ? 0xff : 0, word);
		break;
	case 4:
		data[at + draw(word)] = (uint8_t)draw(256);
		break;
	default:
		data[at + (draw(2) ? 0 : word - 1)] += draw(2) ? 8 : 1;
	}
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	enum { LEAST = 4096 };

	chance = seed;
	if (size < LEAST || !draw(8))
		return LLVMFuzzerMutate(data, size, most);
	for (size_t n = 1 + draw(4); n; n--)
		change(data, size);
	return size;
}
