/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - the internal names of classes, each kept once.
 *
 * Any number of classes may have one name, and a name may be as long as the dump.  So whatever takes
 * time or memory by the length of a name is done once for each text, not once for each class.
 */
#include "heap/build/build.h"

#include "algorithms/sort.h"
#include "memory/big.h"

#include <string.h>

struct name_key {
	const char *internal;
	size_t n;
	uint64_t hash;
};

static struct name_key name_key(const struct class_name *list, uint32_t number)
{
	return (struct name_key){list[number].internal, list[number].n, list[number].hash};
}

static bool same_name(struct name_key a, struct name_key b)
{
	return a.hash == b.hash && a.n == b.n && same_bytes(a.internal, b.internal, b.n);
}

#define hash_name(key) ((key).hash)
MAP(names, const struct class_name *, struct name_key, name_key, hash_name, same_name)

uint32_t names_add(struct class_names *t, const char *internal, size_t n, struct err *err)
{
	n = n ? strnlen(internal, n) : 0; /* what is behind a NUL is no part of a name */
	struct name_key key = {internal, n, hash_bytes(internal, n)};
	uint32_t *slot = names_enter(&t->map, t->list, t->n, key, err);
	if (!slot)
		return HEAP_NONE;
	if (*slot)
		return *slot - 1;
	const char *kept = arena_try_strndup(&t->arena, internal, n, err);
	struct class_name *name = kept ? BIG_PUSH(t->list, t->n, t->cap, err) : NULL;
	if (!name)
		return HEAP_NONE;
	*name = (struct class_name){
		.internal = kept, .n = n, .hash = key.hash, .rank = HEAP_NONE, .component = HEAP_NONE,
	};
	*slot = t->n;
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
	map_release(&t->map);
	idmap_release(&t->known);
	arena_release(&t->arena);
	*t = (struct class_names){ .list = NULL };
}
