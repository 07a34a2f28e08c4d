/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_fit.c - types for objects that nothing typed leads to, which are mostly garbage.
 *
 * The list of an object's pointer words is a fingerprint of its type.  If only one struct type of
 * the program has these pointers and a size that the allocator rounds up to this object's, the
 * object gets that type.  Two kinds of objects are left out: small ones, since closures and arrays
 * may look the same; and those whose pointers lie so far apart that they could be arrays of
 * something.
 */
#include "dump/go/go_typing.h"

#include "algorithms/bisect.h"
#include "algorithms/hash.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/go/go_record.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "memory/big.h"

#include <stdlib.h>

enum { LEAST_SIZE = 256, MOST_POINTERS = 256 };

struct print {
	uint64_t key;
	uint32_t type;
};

static int by_offset(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The fingerprint of a type; false: it has none that differs from others. */
static bool print_of(const struct typing *t, uint32_t type, uint64_t *key)
{
	const struct type_facts *f = &t->go.of[type];
	uint64_t offset[MOST_POINTERS];
	size_t n = 0;

	for (uint32_t i = 0; i < f->n_slots; i++) {
		const struct slot *s = &t->go.slot[f->first_slot + i];
		bool second = s->kind == SLOT_INTERFACE || s->kind == SLOT_EMPTY;
		if (s->kind == SLOT_NEST || s->count > MOST_POINTERS - n)
			return false;
		for (uint64_t k = 0; k < s->count; k++)
			offset[n++] = s->offset + k * s->stride + (second ? t->word : 0);
	}
	sort_array(offset, n, sizeof *offset, by_offset);
	uint64_t size = t->go.types->type[type].size;
	*key = hash_number(typing_size_class(size + (size > t->layout.small ? t->layout.header : 0)));
	for (size_t i = 0; i < n; i++)
		*key = hash_step(*key, offset[i]);
	return n > 0;
}

static int by_key(const void *a, const void *b)
{
	const struct print *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->type > y->type) - (x->type < y->type);
}

/* Of each type that could have been allocated; *n of them, ascending.  NULL: memory is refused. */
static struct print *all_prints(const struct typing *t, size_t *n)
{
	const struct types *types = t->go.types;
	struct print *all = big_alloc(types->n, sizeof *all, t->err);

	*n = 0;
	for (uint32_t i = 0; all && i < types->n; i++)
		if (types->type[i].kind == TYPE_STRUCT && types->type[i].descriptor &&
		    types->type[i].size >= LEAST_SIZE / 2 && print_of(t, i, &all[*n].key))
			all[(*n)++].type = i;
	if (sort(all, *n, sizeof *all, by_key, t->err) < 0)
		*n = 0;
	return all;
}

/* The fingerprint of an object; false: it has none, or could be an array. */
static bool print_of_object(struct typing *t, uint32_t id, struct go_pointers *p, uint64_t size, uint64_t *key)
{
	uint64_t head = typing_head(t, id, size);
	uint64_t kind, offset = 0, n = 0;

	*key = hash_number(size);
	while (go_pointers_next(p, &kind, &offset)) {
		if (kind != GO_POINTER || ++n > MOST_POINTERS || offset < head || offset >= size / 5 * 2)
			return false;
		*key = hash_step(*key, offset - head);
	}
	return n > 0;
}

/* The only type with this fingerprint, or TYPE_NONE. */
static uint32_t only(const struct print *all, size_t n, uint64_t key)
{
	size_t at;

	BISECT(at, n, all[at].key < key);
	if (at == n || all[at].key != key || (at + 1 < n && all[at + 1].key == key))
		return TYPE_NONE;
	return all[at].type;
}

void typing_fit(struct typing *t)
{
	size_t n;
	struct print *all = all_prints(t, &n);
	t->refused |= !all;

	for (uint32_t id = 0; n && t->field_lists && id < t->c->n_objects; id++) {
		struct go_pointers p;
		uint64_t size, key;
		if (progress_stops(t->progress, id))
			break; /* typing_drain tells */
		if (t->state[id])
			continue;
		if (!typing_pointers(t, id, &size, &p) || size < LEAST_SIZE || !print_of_object(t, id, &p, size, &key))
			continue;
		uint32_t type = only(all, n, key);
		if (type != TYPE_NONE)
			typing_claim(t, typing_address(t, id), type, TYPED_BY_FIT);
	}
	big_free(all);
}
