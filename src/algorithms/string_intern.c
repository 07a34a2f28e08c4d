/* SPDX-License-Identifier: GPL-3.0-or-later */
/* string_intern.c - see string_intern.h. */
#include "algorithms/string_intern.h"

#include "memory/big.h"

#include <string.h>

static uint64_t hash_word(const char *word)
{
	return hash_bytes(word, strlen(word));
}

#define same_word(a, b) (!strcmp(a, b))
#define word_at(book, number) ((book)->word[number])
MAP(words, const struct string_intern *, const char *, word_at, hash_word, same_word)

int string_intern_number(struct string_intern *b, const char *word, bool stays, uint32_t *number, struct err *err)
{
	size_t n = b->n;
	uint32_t *slot = words_enter(&b->map, b, b->n, word, err);
	if (!slot)
		return ERR_NOMEM;
	if (*slot) {
		*number = *slot - 1;
		return 0;
	}
	const char *kept = stays ? word : arena_try_strndup(&b->arena, word, strlen(word), err);
	const char **to = kept ? BIG_PUSH(b->word, n, b->cap, err) : NULL;
	if (!to)
		return ERR_NOMEM;
	*to = kept;
	*number = b->n++;
	*slot = b->n;
	return 0;
}

void string_intern_release(struct string_intern *b)
{
	big_free(b->word);
	map_release(&b->map);
	arena_release(&b->arena);
	*b = (struct string_intern){.n = 0};
}
