/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_class.c - from what was found to classes, with names that a Go programmer knows.
 *
 *     main.Order                  one value
 *     []main.Line                 the elements of a slice; []uint8 also the bytes of strings
 *     []string header             a slice itself: pointer, length, capacity
 *     map[string]int pointer      a variable that holds a map or channel: a word that points to it
 *     map[string]int              the head of a map (runtime: hmap)
 *     map[string]int buckets      its buckets (groups since 1.24, which " table" leads to)
 *     chan int                    a channel, with its elements where they hold no pointers
 *     tiny block                  small values that the allocator put together
 *     closure of main.f.func1     what a func value points to
 */
#include "dump/go/go_typing.h"

#include "algorithms/parallel.h"
#include "algorithms/string_intern.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct classes {
	struct typing *t;
	uint32_t *by_form;   /* class + 1 */
	uint32_t n_forms;
	struct string_intern names;
	uint32_t *class;     /* by number of its name */
	size_t n_classes, cap_classes;
};

static void name_form(const struct classes *c, uint32_t form, struct text *name)
{
	const struct type_book *go = &c->t->go;
	uint32_t n = go->types->n;

	if (form == c->t->tiny_form) {
		text_add(name, "tiny block");
		return;
	}
	if (form >= 2 * n) {
		text_addf(name, "closure of %s", program_function_name(c->t->program, form - 2 * n));
		return;
	}
	uint32_t type = go->by_rank[form / 2];
	const struct type_facts *facts = &go->of[type];
	enum type_kind kind = go->types->type[type].kind;
	const char *cell = form & 1 ? "" : kind == TYPE_SLICE ? " header" :
	    kind == TYPE_MAP || kind == TYPE_CHAN ? " pointer" : "";
	if (facts->shown_as != TYPE_NONE)
		text_addf(name, "%s%s", go->types->type[facts->shown_as].name, facts->part);
	else
		text_addf(name, "%s%s%s", form & 1 ? "[]" : "", go->types->type[type].name, cell);
}

/* Find or make the class of a form; forms that show alike share one. */
static int class_of(struct classes *c, uint32_t form)
{
	struct typing *t = c->t;
	uint32_t n = t->go.types->n, type = form < 2 * n ? t->go.by_rank[form / 2] : TYPE_NONE, number;
	struct text name = TEXT_INIT;
	int code = 0;

	name_form(c, form, &name);
	if (string_intern_number(&c->names, name.s, false, &number, t->err))
		code = ERR_NOMEM;
	else if (number == c->n_classes) {
		bool array = form & 1 && type != TYPE_NONE, pointers = type == TYPE_NONE || t->go.of[type].pointers;
		enum object_kind kind = !array ? OBJECT_INSTANCE : pointers ? OBJECT_ARRAY : PRIMITIVE_ARRAY;
		uint64_t size = array ? t->go.types->type[type].size : 0;
		uint32_t *class = BIG_PUSH(c->class, c->n_classes, c->cap_classes, t->err);
		if (class)
			*class = t->c->new_class(t->c, name.s, kind, size <= UINT32_MAX ? size : 0, type);
		else
			code = ERR_NOMEM;
	}
	if (!code)
		c->by_form[form] = c->class[number] + 1;
	text_release(&name);
	return code;
}

/* A value that fills less than half of its object is the beginning of something unknown. */
static bool is_beginning(const struct typing *t, uint32_t type, uint64_t size)
{
	return !t->go.of[type].open_ended && size > 16 && t->go.types->type[type].size < size / 2;
}

static bool is_left_out(const struct typing *t, uint32_t id)
{
	bool array;
	uint32_t state = t->state[id];

	if (!state)
		return true;
	if (state >> (FORM_BITS + BY_BITS) != COVER_LITTLE)
		return false;
	uint32_t type = typing_of(t, id, &array);
	return type != TYPE_NONE && !array && is_beginning(t, type, t->c->size(t->c, id));
}

static uint32_t form_at(const struct typing *t, uint32_t id)
{
	return t->state[id] >> BY_BITS & (MOST_FORMS - 1);
}

/* A stretch of the objects; classes are all there. */
enum { TASK = 1 << 18 };

static int assign_some(void *context, unsigned task, struct err *err)
{
	const struct classes *c = context;
	struct typing *t = c->t;
	uint32_t end = t->c->n_objects - task * TASK > TASK ? (task + 1) * TASK : t->c->n_objects;

	if (progress_cancelled(t->progress))
		return err_cancelled(err);
	for (uint32_t id = task * TASK; id < end; id++) {
		uint64_t length = LENGTH_UNKNOWN;
		bool array;
		if (is_left_out(t, id))
			continue;
		uint32_t type = typing_of(t, id, &array);
		if (type != TYPE_NONE && array) {
			uint64_t size = t->c->size(t->c, id);
			length = (size - typing_head(t, id, size)) / t->go.types->type[type].size;
		}
		t->c->assign(t->c, id, c->by_form[form_at(t, id)] - 1, length,
		    (enum typed_by)(t->state[id] & ((1u << BY_BITS) - 1)));
	}
	return 0;
}

int typing_assign(struct typing *t)
{
	struct classes c = {.t = t};
	uint32_t n = t->c->n_objects;

	c.n_forms = t->tiny_form;
	c.by_form = big_alloc((uint64_t)c.n_forms + 1, sizeof *c.by_form, t->err);
	int code = c.by_form ? 0 : ERR_NOMEM;
	for (uint32_t id = 0; code == 0 && id < n; id++)
		if (t->state[id] && !c.by_form[form_at(t, id)] && !is_left_out(t, id))
			code = class_of(&c, form_at(t, id));
	if (code == 0)
		code = parallel_run(0, n / TASK + 1, assign_some, &c, t->err);
	string_intern_release(&c.names);
	big_free(c.class);
	big_free(c.by_form);
	return code;
}
