/* SPDX-License-Identifier: GPL-3.0-or-later */
/* texts.c - all texts of a dump; see texts.h. */
#include "command/bundle/texts.h"

#include "algorithms/parallel.h"
#include "analysis/describe/describe.h"
#include "dump/reader.h"
#include "heap/classes.h"
#include "heap/typed.h"
#include "memory/big.h"

#include <string.h>

enum { OBJECTS_A_TASK = 1 << 14, LOOKED_AT = 256 };

/* What objects of a class may be. */
enum text_of { OF_NONE, OF_TEXTS, OF_CHARACTERS };

struct each_text {
	const struct heap *h;
	uint8_t *of; /* by class: enum text_of */
	text_use *use;
	void *context;
	_Atomic uint64_t of_kind[TEXT_KINDS], same;
};

static enum text_of kind_of(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	if (inspect_text_class(h, class) != TEXT_NEVER)
		return OF_TEXTS;
	if (h->facts.values == DECLARED_FIELDS && c->kind == CLASS_PRIMITIVE_ARRAY &&
	    (!strcmp(c->name, "char[]") || !strcmp(c->name, "byte[]")))
		return OF_CHARACTERS;
	return OF_NONE;
}

/* Arrays of bytes are texts where they read as such. */
static bool array_text(const struct heap *h, uint32_t id, struct view_walk *walk, struct string_view *out)
{
	struct values values;
	if (values_open_along(&values, h, id, walk, NULL) || !heap_array_string(&values, out))
		return false;
	if (out->width == 2)
		return true;
	out->utf8 = true;
	return typed_printable(out->bytes, out->length < LOOKED_AT ? out->length : LOOKED_AT);
}

static int use_text(struct each_text *e, struct needles *needles, const struct string_view *view, enum text_kind kind,
    uint32_t where, struct texts_found *found, struct err *err)
{
	enum needle_made made = needles_make(needles, view);
	found->of[kind] += made == NEEDLE_MADE;
	found->same += made == NEEDLE_SAME;
	if (made != NEEDLE_MADE)
		return 0;
	struct needle_of of = {where, (uint8_t)kind, needles->numeric, needles->binary};
	return e->use(e->context, needles, &of, err);
}

static void count(struct each_text *e, const struct texts_found *found)
{
	for (unsigned kind = 0; kind < TEXT_KINDS; kind++)
		e->of_kind[kind] += found->of[kind];
	e->same += found->same;
}

static int use_objects(void *context, unsigned task, struct err *err)
{
	struct each_text *e = context;
	const struct heap *h = e->h;
	struct string_walk walk = {.string = {0}};
	struct view_walk arrays = {0};
	struct needles needles = {.n = 0};
	struct texts_found found = {.same = 0};
	uint32_t begin = task * OBJECTS_A_TASK, left = h->n_objects - begin;
	uint32_t end = begin + (left < OBJECTS_A_TASK ? left : OBJECTS_A_TASK);
	int code = 0;
	for (uint32_t id = begin; id < end && !code; id++) {
		struct string_view view;
		enum text_of of = e->of[h->class_of[id]];
		if (of == OF_TEXTS && inspect_text_along(h, id, &walk, &view))
			code = use_text(e, &needles, &view, TEXT_OF_OBJECT, id, &found, err);
		else if (of == OF_CHARACTERS && array_text(h, id, &arrays, &view))
			code = use_text(e, &needles, &view, TEXT_OF_ARRAY, id, &found, err);
	}
	count(e, &found);
	needles_release(&needles);
	if (!code && !progress_add(progress_own(), end - begin))
		code = err_cancelled(err);
	return code;
}

/* --- symbols ------------------------------------------------------------------------------------ */

struct each_symbol {
	struct each_text *each;
	struct needles needles;
	struct texts_found found;
};

static int use_symbol(void *context, const uint8_t *bytes, size_t n, bool names, struct err *err)
{
	struct each_symbol *e = context;
	struct string_view view = {.bytes = bytes, .length = n, .width = 1, .utf8 = true};
	return names ? 0 : use_text(e->each, &e->needles, &view, TEXT_OF_SYMBOL, HEAP_NONE, &e->found, err);
}

static int use_symbols(struct each_text *e, struct err *err)
{
	const struct dump *dump = e->h->dump;
	struct each_symbol symbols = {.each = e};
	if (!dump->reader->symbols)
		return 0;
	int code = dump->reader->symbols(dump, use_symbol, &symbols, err);
	count(e, &symbols.found);
	needles_release(&symbols.needles);
	return code;
}

/* --- all ---------------------------------------------------------------------------------------- */

static int find_classes(struct each_text *e, struct err *err)
{
	e->of = big_alloc((uint64_t)e->h->n_classes + 1, sizeof *e->of, err);
	for (uint32_t c = 0; e->of && c < e->h->n_classes; c++)
		e->of[c] = (uint8_t)kind_of(e->h, c);
	return e->of ? 0 : ERR_NOMEM;
}

uint64_t texts_most(const struct heap *h)
{
	uint64_t n = 0;
	for (uint32_t c = 0; values_whole(h) && c < h->n_classes; c++)
		if (kind_of(h, c) != OF_NONE)
			n += h->classes[c].n_objects;
	return n;
}

int texts_each(const struct heap *h, text_use *use, void *context, struct texts_found *found, struct err *err)
{
	struct each_text e = {.h = h, .use = use, .context = context};
	*found = (struct texts_found){.same = 0};
	if (values_away(h))
		return err_set(err, ERR_UNSUPPORTED, "only the index of the dump is open, so its texts cannot be "
		    "searched for");
	progress_phase(progress_own(), PHASE_READ_TEXTS, h->n_objects);
	int code = use_symbols(&e, err);
	if (!code && values_held(h)) {
		code = find_classes(&e, err);
		if (!code)
			code = parallel_run(0, (h->n_objects + OBJECTS_A_TASK - 1) / OBJECTS_A_TASK, use_objects, &e, err);
		big_free(e.of);
	}
	for (unsigned kind = 0; kind < TEXT_KINDS; kind++)
		found->of[kind] = e.of_kind[kind];
	found->same = e.same;
	return code;
}
