/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - the internal names of classes, each kept once.
 *
 * Any number of classes may have one name, and a name may be as long as the dump.  So whatever takes
 * time or memory by the length of a name is done once for each text, not once for each class.
 */
#include "heap/build/build.h"

#include "algorithms/hash.h"
#include "algorithms/sort.h"
#include "memory/big.h"

#include <string.h>

static uint64_t hash_of(const void *names, uint32_t number)
{
	return ((const struct class_names *)names)->list[number].hash;
}

uint32_t names_add(struct class_names *t, const char *internal, size_t n, struct err *err)
{
	n = n ? strnlen(internal, n) : 0; /* what is behind a NUL is no part of a name */
	if (2 * t->n >= t->n_slots && hash_slots_grow(&t->slots, &t->n_slots, (uint32_t)t->n, hash_of, t, err) < 0)
		return HEAP_NONE;
	uint64_t hash = hash_bytes(internal, n);
	uint32_t mask = t->n_slots - 1, s = (uint32_t)hash & mask;
	for (; t->slots[s]; s = (s + 1) & mask) {
		const struct class_name *name = &t->list[t->slots[s] - 1];
		if (name->hash == hash && name->n == n && same_bytes(name->internal, internal, n))
			return t->slots[s] - 1;
	}
	const char *kept = arena_try_strndup(&t->arena, internal, n, err);
	struct class_name *name = kept ? BIG_PUSH(t->list, t->n, t->cap, err) : NULL;
	if (!name)
		return HEAP_NONE;
	*name = (struct class_name){
		.internal = kept, .n = n, .hash = hash, .rank = HEAP_NONE, .component = HEAP_NONE,
	};
	t->slots[s] = t->n;
	return t->n - 1;
}

static int by_text(const void *x, const void *y, void *context)
{
	const struct class_names *t = context;
	return strcmp(t->list[*(const uint32_t *)x].internal, t->list[*(const uint32_t *)y].internal);
}

int names_rank(struct class_names *t, struct err *err)
{
	uint32_t *order = big_alloc(t->n, sizeof *order, err);
	if (!order)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		order[i] = i;
	int code = sort_with(order, t->n, sizeof *order, by_text, t, err);
	for (uint32_t i = 0; i < t->n; i++)
		t->list[order[i]].rank = i;
	big_free(order);
	return code;
}

void names_release(struct class_names *t)
{
	big_free(t->list);
	big_free(t->slots);
	idmap_release(&t->known);
	arena_release(&t->arena);
	*t = (struct class_names){ .list = NULL };
}
