/* SPDX-License-Identifier: GPL-3.0-or-later */
/* types.c - look up types, and make the promises of types.h true. */
#include "dump/types.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* --- lookups ---------------------------------------------------------------------------------- */

uint32_t types_by_descriptor(const struct types *t, uint64_t address)
{
	uint32_t at;

	BISECT(at, t->n_by_descriptor, t->type[t->by_descriptor[at]].descriptor < address);
	if (at == t->n_by_descriptor || t->type[t->by_descriptor[at]].descriptor != address)
		return TYPE_NONE;
	return address ? t->by_descriptor[at] : TYPE_NONE;
}

uint32_t types_by_name(const struct types *t, const char *name)
{
	uint32_t at;

	BISECT(at, t->n, strcmp(t->type[t->by_name[at]].name, name) < 0);
	if (at == t->n || strcmp(t->type[t->by_name[at]].name, name) != 0)
		return TYPE_NONE;
	return t->by_name[at];
}

uint32_t types_field(const struct types *t, uint32_t type, const char *name)
{
	if (type >= t->n || t->type[type].kind != TYPE_STRUCT)
		return UINT32_MAX;
	const struct type *of = &t->type[type];
	for (uint32_t i = of->first_field; i < of->first_field + of->n_fields; i++)
		if (!strcmp(t->field[i].name, name))
			return i;
	return UINT32_MAX;
}

bool types_is_direct(const struct types *t, uint32_t type)
{
	for (unsigned depth = 0; depth < TYPE_DEPTH && type < t->n; depth++) {
		const struct type *of = &t->type[type];
		switch (of->kind) {
		case TYPE_POINTER: case TYPE_MAP: case TYPE_CHAN: case TYPE_FUNC:
			return true;
		case TYPE_STRUCT:
			if (of->n_fields != 1 || of->size != t->word)
				return false;
			type = t->field[of->first_field].type;
			break;
		case TYPE_ARRAY:
			if (of->count != 1)
				return false;
			type = of->element;
			break;
		default:
			return false;
		}
	}
	return false;
}

/* --- the promises ----------------------------------------------------------------------------- */

static void drop_outside(struct types *t, struct type *of)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < of->n_fields; i++) {
		struct type_field f = t->field[of->first_field + i];
		if (f.type < t->n && f.offset <= of->size && t->type[f.type].size <= of->size - f.offset)
			t->field[of->first_field + kept++] = f;
	}
	of->n_fields = kept;
}

static void settle_array(struct types *t, struct type *of)
{
	uint64_t size = of->element < t->n ? t->type[of->element].size : 0;

	if (of->element >= t->n || (size && of->count > of->size / size))
		of->kind = TYPE_UNKNOWN;
	else if (!size || of->count * size != of->size)
		of->count = size ? of->size / size : 0;
}

static void settle_indices(struct types *t, struct type *of)
{
	uint32_t *const all[] = {&of->element, &of->key, &of->layout};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (*all[i] >= t->n)
			*all[i] = TYPE_NONE;
	if (of->kind != TYPE_STRUCT || of->first_field > t->n_fields ||
	    of->n_fields > t->n_fields - of->first_field)
		of->first_field = of->n_fields = 0;
	if (of->layout != TYPE_NONE && t->type[of->layout].kind != TYPE_STRUCT)
		of->layout = TYPE_NONE;
}

/* What a type contains by value: its n-th, or TYPE_NONE behind the last. */
static uint32_t contained(const struct types *t, uint32_t type, uint32_t n)
{
	const struct type *of = &t->type[type];

	if (of->kind == TYPE_STRUCT)
		return n < of->n_fields ? t->field[of->first_field + n].type : TYPE_NONE;
	return of->kind == TYPE_ARRAY && n == 0 ? of->element : TYPE_NONE;
}

/* What contains itself, or too deep a nest, becomes a type of known size only.  A walk over the
 * types without recursion: 1 is on the way down, 2 + depth is done. */
static int cut_nests(struct types *t, struct err *err)
{
	uint8_t *state = big_alloc(t->n, 1, err);
	struct way { uint32_t type, next; } *way = NULL, *top;
	size_t n = 0, cap = 0;
	int code = state ? 0 : ERR_NOMEM;

	for (uint32_t start = 0; code == 0 && start < t->n; start++) {
		if (state[start])
			continue;
		state[start] = 1;
		top = BIG_PUSH(way, n, cap, err);
		if (top)
			*top = (struct way){start, 0};
		else
			code = ERR_NOMEM;
		while (code == 0 && n) {
			top = &way[n - 1];
			uint32_t type = top->type, inner = contained(t, type, top->next++);
			if (inner == TYPE_NONE) {
				unsigned depth = 0;
				for (uint32_t i = 0; (inner = contained(t, type, i)) != TYPE_NONE; i++)
					depth = state[inner] > depth + 1 ? state[inner] - 1u : depth;
				if (depth > TYPE_DEPTH) {
					t->type[type].kind = TYPE_UNKNOWN;
					depth = 0;
				}
				state[type] = (uint8_t)(2 + depth);
				n--;
			} else if (state[inner] == 1) {
				t->type[inner].kind = TYPE_UNKNOWN;
				t->type[type].kind = TYPE_UNKNOWN;
			} else if (!state[inner]) {
				state[inner] = 1;
				top = BIG_PUSH(way, n, cap, err);
				if (top)
					*top = (struct way){inner, 0};
				else
					code = ERR_NOMEM;
			}
		}
	}
	big_free(way);
	big_free(state);
	return code;
}

/* --- orders ----------------------------------------------------------------------------------- */

/* qsort has no context: the keys come along. */
struct named { const char *name; uint32_t type; };
struct described { uint64_t address; uint32_t type; };

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->type > y->type) - (x->type < y->type);
}

static int by_address(const void *a, const void *b)
{
	const struct described *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->type > y->type) - (x->type < y->type);
}

static int sort_names(struct types *t, struct err *err)
{
	struct named *names = big_alloc(t->n, sizeof *names, err);

	t->by_name = names ? big_alloc(t->n, sizeof *t->by_name, err) : NULL;
	if (!t->by_name) {
		big_free(names);
		return ERR_NOMEM;
	}
	for (uint32_t i = 0; i < t->n; i++)
		names[i] = (struct named){t->type[i].name, i};
	sort_array(names, t->n, sizeof *names, by_name);
	for (uint32_t i = 0; i < t->n; i++)
		t->by_name[i] = names[i].type;
	big_free(names);
	return 0;
}

static int sort_descriptors(struct types *t, struct err *err)
{
	struct described *all = big_alloc(t->n, sizeof *all, err);
	uint32_t n = 0;

	if (!all)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->type[i].descriptor)
			all[n++] = (struct described){t->type[i].descriptor, i};
	sort_array(all, n, sizeof *all, by_address);
	t->by_descriptor = big_alloc(n, sizeof *t->by_descriptor, err);
	for (uint32_t i = 0; t->by_descriptor && i < n; i++)
		t->by_descriptor[i] = all[i].type;
	t->n_by_descriptor = t->by_descriptor ? n : 0;
	big_free(all);
	return t->by_descriptor ? 0 : ERR_NOMEM;
}

int types_settle(struct types *t, struct err *err)
{
	for (uint32_t i = 0; i < t->n; i++)
		settle_indices(t, &t->type[i]);
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->type[i].kind == TYPE_STRUCT)
			drop_outside(t, &t->type[i]);
		else if (t->type[i].kind == TYPE_ARRAY)
			settle_array(t, &t->type[i]);
	}
	int code = cut_nests(t, err);
	if (code == 0)
		code = sort_names(t, err);
	return code < 0 ? code : sort_descriptors(t, err);
}

void types_release(struct types *t)
{
	big_free(t->type);
	big_free(t->field);
	big_free(t->by_descriptor);
	big_free(t->by_name);
	arena_release(&t->arena);
	*t = (struct types){.n = 0};
}
