/* SPDX-License-Identifier: GPL-3.0-or-later */
/* string_intern.c - see string_intern.h. */
#include "algorithms/string_intern.h"

#include "algorithms/hash.h"
#include "memory/big.h"

#include <string.h>

static uint64_t hash_of_word(const void *all, uint32_t number)
{
	const char *word = ((const struct string_intern *)all)->word[number];
	return hash_bytes(word, strlen(word));
}

int string_intern_number(struct string_intern *b, const char *word, bool stays, uint32_t *number, struct err *err)
{
	size_t length = strlen(word), n = b->n;
	if (2 * b->n >= b->n_slots && hash_slots_grow(&b->slots, &b->n_slots, b->n, hash_of_word, b, err))
		return ERR_NOMEM;
	uint32_t at = (uint32_t)hash_bytes(word, length) & (b->n_slots - 1);
	for (; b->slots[at]; at = (at + 1) & (b->n_slots - 1)) {
		*number = b->slots[at] - 1;
		if (!strcmp(b->word[*number], word))
			return 0;
	}
	const char *kept = stays ? word : arena_try_strndup(&b->arena, word, length, err);
	const char **to = kept ? BIG_PUSH(b->word, n, b->cap, err) : NULL;
	if (!to)
		return ERR_NOMEM;
	*to = kept;
	*number = b->n++;
	b->slots[at] = b->n;
	return 0;
}

void string_intern_release(struct string_intern *b)
{
	big_free(b->word);
	big_free(b->slots);
	arena_release(&b->arena);
	*b = (struct string_intern){.n = 0};
}
