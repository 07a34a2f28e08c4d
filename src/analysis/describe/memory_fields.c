/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_fields.c - the fields that objects of one type share, where objects are memory.
 */
#include "analysis/describe/memory.h"

#include "analysis/describe/describe.h"
#include "base/mem.h"
#include "base/progress.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct memory_fields {
	struct shared_fields base;
	uint32_t class;
	struct memory_shared {
		const char *name; /* in names */
		uint32_t type;
		uint64_t offset;
	} *field;             /* big memory */
	size_t cap;
	struct arena names;
	const struct typed *first; /* while the fields are taken: the value whose parts they are */
	int code;
	struct err *err;
};

static bool number_of(enum type_kind kind, enum number_kind *out)
{
	static const enum number_kind kinds[] = {
		[TYPE_BOOL] = NUMBER_FLAG, [TYPE_INT] = NUMBER_SIGNED, [TYPE_UINT] = NUMBER_UNSIGNED,
		[TYPE_UINTPTR] = NUMBER_UNSIGNED, [TYPE_FLOAT] = NUMBER_REAL,
	};
	*out = (size_t)kind < sizeof kinds / sizeof *kinds ? kinds[kind] : NO_NUMBER;
	return *out != NO_NUMBER;
}

bool memory_number(const struct any_value *v, struct number *out)
{
	const struct typed *value = &v->memory.value;
	const struct type *t = typed_type(value);
	if (!t || !t->size || t->size > 8 || !number_of(t->kind, &out->kind))
		return false;
	unsigned width = (unsigned)t->size;
	uint64_t bits = typed_number(value, 0, width);
	if (out->kind == NUMBER_SIGNED && width < 8 && bits >> (8 * width - 1))
		bits |= UINT64_MAX << (8 * width);
	if (out->kind == NUMBER_REAL && width == 4) {
		uint32_t narrow_bits = (uint32_t)bits;
		float narrow;
		memcpy(&narrow, &narrow_bits, sizeof narrow);
		double wide = (double)narrow;
		memcpy(&bits, &wide, sizeof bits);
	}
	out->bits = out->kind == NUMBER_FLAG ? bits != 0 : bits;
	return true;
}

static void take(void *context, const struct typed *part, const char *name)
{
	struct memory_fields *f = context;
	if (f->base.n == SHARED_FIELDS_MOST) {
		f->base.more = true;
		return;
	}
	const char *kept = arena_try_strndup(&f->names, name, strlen(name), f->err);
	struct memory_shared *to = kept ? BIG_PUSH(f->field, f->base.n, f->cap, f->err) : NULL;
	if (to)
		*to = (struct memory_shared){ kept, part->type, part->address - f->first->address };
	else
		f->code = ERR_NOMEM;
}

/* The parts of the first of the objects, if all are of one class and that is a struct. */
static int take_all(struct memory_fields *f, const uint32_t *ids, size_t n, struct err *err)
{
	const struct heap *h = f->base.heap;
	struct typed_object o;
	f->class = heap_class_index(h, ids[0]);
	for (size_t i = 0; i < n; i++) {
		if (progress_own_stops(8 * i))
			return err_cancelled(err);
		if (heap_class_index(h, ids[i]) != f->class)
			return 0;
	}
	if (!typed_open(&o, h, ids[0]) || o.array || o.value.type == TYPE_NONE ||
	    typed_type(&o.value)->kind != TYPE_STRUCT)
		return 0;
	f->first = &o.value;
	f->err = err;
	typed_parts(&o.value, take, f);
	f->first = NULL;
	return f->code;
}

int memory_fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids, size_t n,
    struct err *err)
{
	struct memory_fields *f = xcalloc(1, sizeof *f);
	f->base = (struct shared_fields){ .inspector = &memory_inspector, .heap = h, .tell_all = true };
	int code = take_all(f, ids, n, err);
	if (code)
		memory_fields_close(&f->base);
	else
		*out = &f->base;
	return code;
}

void memory_fields_close(struct shared_fields *fields)
{
	struct memory_fields *f = (struct memory_fields *)fields;
	big_free(f->field);
	arena_release(&f->names);
	free(f);
}

void memory_field_named(const struct shared_fields *fields, size_t i, struct shared_field *out)
{
	const struct memory_fields *f = (const struct memory_fields *)fields;
	const struct types *types = fields->heap->dump->types;
	*out = (struct shared_field){ .name = f->field[i].name, .declared_in = HEAP_NONE };
	number_of(types->type[f->field[i].type].kind, &out->kind);
}

bool memory_field_value(const struct shared_fields *fields, struct fields_walk *w, uint32_t id,
    size_t i, struct any_value *out)
{
	const struct memory_fields *f = (const struct memory_fields *)fields;
	if (w->id != id) {
		w->id = id;
		w->open = typed_open_along(&w->memory, fields->heap, id, &w->view);
	}
	*out = (struct any_value){ .heap = fields->heap };
	return w->open && typed_part(&w->memory.value, f->field[i].offset, f->field[i].type, &out->memory.value);
}
