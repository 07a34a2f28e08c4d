/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_world.c - see go_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "go_world.h"
#include "memory/big.h"

static uint32_t object_at(struct classifier *c, uint64_t address, uint64_t *start)
{
	struct world *w = (struct world *)c;

	for (uint32_t i = 0; i < c->n_objects; i++)
		if (address >= w->at[i] && address - w->at[i] < w->size[i]) {
			*start = w->at[i];
			return i;
		}
	return UINT32_MAX;
}

static uint64_t size_of(struct classifier *c, uint32_t id)
{
	return ((struct world *)c)->size[id];
}

static void soon_at(struct classifier *c, uint64_t address)
{
	(void)c;
	(void)address;
}

static void soon(struct classifier *c, uint32_t id, bool bytes)
{
	(void)bytes;
	assert_true(id < c->n_objects);
}

static const uint8_t *bytes_of(struct classifier *c, uint32_t id, uint64_t *start, uint64_t *size)
{
	struct world *w = (struct world *)c;

	if (start)
		*start = w->at[id];
	if (size)
		*size = w->size[id];
	return w->bytes[id];
}

static uint32_t new_class(struct classifier *c, const char *name, enum object_kind kind,
    uint64_t element_size, uint32_t type)
{
	struct world *w = (struct world *)c;

	(void)kind;
	(void)element_size;
	(void)type;
	for (uint32_t i = 0; i < w->n_names; i++)
		assert_string_not_equal(w->names[i], name);
	snprintf(w->names[w->n_names], sizeof w->names[0], "%s", name);
	return w->n_names++;
}

static void assign(struct classifier *c, uint32_t id, uint32_t class, uint64_t length, enum typed_by by)
{
	struct world *w = (struct world *)c;

	assert_true(class < w->n_names && !w->class_name[id][0]);
	w->class_name[id] = w->names[class];
	w->length[id] = length;
	w->by[id] = by;
}

/* --- making types ------------------------------------------------------------------------------ */

uint32_t world_type(struct world *w, struct type type)
{
	*BIG_PUSH(w->types.type, w->types.n, w->types.cap, NULL) = type;
	return w->types.n - 1;
}

uint32_t world_simple(struct world *w, const char *name, enum type_kind kind, uint64_t size,
    uint32_t element)
{
	return world_type(w, (struct type){.name = name, .kind = kind, .size = size, .element = element,
	    .key = TYPE_NONE, .layout = TYPE_NONE});
}

uint32_t world_structure(struct world *w, const char *name, uint64_t size)
{
	uint32_t i = world_simple(w, name, TYPE_STRUCT, size, TYPE_NONE);
	w->types.type[i].first_field = w->types.n_fields;
	return i;
}

void world_field(struct world *w, const char *name, uint64_t offset, uint32_t type)
{
	*BIG_PUSH(w->types.field, w->types.n_fields, w->types.cap_fields, NULL) =
	    (struct type_field){.name = name, .offset = offset, .type = type};
	for (uint32_t i = w->types.n; i-- > 0;)
		if (w->types.type[i].kind == TYPE_STRUCT) {
			w->types.type[i].n_fields++;
			return;
		}
}

uint32_t world_pointer(struct world *w, const char *name, uint32_t to)
{
	return world_simple(w, name, TYPE_POINTER, W, to);
}

/* --- making memory ------------------------------------------------------------------------------ */

uint32_t world_object(struct world *w, uint64_t size)
{
	uint32_t id = w->c.n_objects++;

	w->at[id] = w->next;
	w->size[id] = size;
	w->class_name[id] = "";
	w->bytes[id] = xcalloc(size + 8, 1); /* field list: empty */
	w->next += size;
	return id;
}

void world_set(struct world *w, uint32_t id, uint64_t offset, uint64_t value)
{
	memcpy(w->bytes[id] + offset, &value, sizeof value);
}

struct world *world_new(void)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->c = (struct classifier){.object_at = object_at, .size = size_of, .soon_at = soon_at,
	    .soon = soon, .bytes = bytes_of, .new_class = new_class, .assign = assign};
	w->types.word = W;
	w->next = START;
	world_simple(w, "int", TYPE_INT, 8, TYPE_NONE);    /* 0 */
	world_simple(w, "uint8", TYPE_UINT, 1, TYPE_NONE); /* 1 */
	world_simple(w, "string", TYPE_STRING, 16, TYPE_NONE); /* 2 */
	return w;
}

void world_begin(struct world *w)
{
	struct err err = ERR_INIT;

	assert_int_equal(types_settle(&w->types, NULL), 0);
	w->go = (struct go){.version = 7, .word = W, .records = {(const uint8_t *)1, UINTPTR_MAX - 1}};
	w->t = (struct typing){.c = &w->c, .word = W, .dump = &w->go.dump,
	    .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .low = START, .high = UINT64_MAX, .err = &err};
	assert_int_equal(type_book_build(&w->t.go, &w->types, &err), 0);
	w->t.tiny_form = 2 * w->types.n;
	w->t.state = xcalloc(MOST, sizeof *w->t.state);
	w->t.waiting = xcalloc(MOST / 64 + 1, sizeof *w->t.waiting);
	w->t.queue = xcalloc(TYPING_QUEUE, sizeof *w->t.queue);
}

void world_finish(struct world *w)
{
	assert_int_equal(typing_drain(&w->t), 0);
	assert_int_equal(typing_assign(&w->t), 0);
}

void world_free(struct world *w)
{
	type_book_release(&w->t.go);
	free(w->t.state);
	free(w->t.waiting);
	free(w->t.queue);
	big_free(w->t.chunk);
	big_free(w->t.chunk_set);
	for (uint32_t i = 0; i < w->c.n_objects; i++)
		free(w->bytes[i]);
	types_release(&w->types);
	free(w);
}

void world_is(const struct world *w, uint32_t id, const char *name, uint64_t length, enum typed_by by)
{
	assert_string_equal(w->class_name[id], name);
	assert_int_equal(w->length[id], length);
	assert_int_equal(w->by[id], by);
}
