/* SPDX-License-Identifier: GPL-3.0-or-later */
/* field_holders.c - the field by which a program holds an object; see field_holders.h. */
#include "analysis/field_holders.h"

#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "base/text.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <string.h>

/* How well the instances of a class say what holds something: the more, the better. */
enum holder_rank {
	RANK_NEVER,   /* references that follow the object, cleaners and the lists of these */
	RANK_VIEW,    /* buffers and segments that share its memory */
	RANK_JDK,     /* another class of the JDK */
	RANK_PASSED,  /* an array or a part of a collection of the JDK */
	RANK_PROGRAM,
};

static bool begins_with_one(const char *name, const char *const *with)
{
	for (; *with; with++)
		if (!strncmp(name, *with, strlen(*with)))
			return true;
	return false;
}

static enum holder_rank rank_of(const struct heap *h, uint32_t class)
{
	const struct heap_class *c = &h->classes[class];
	static const char *const never[] = {"java.lang.ref.", "jdk.internal.ref.", "sun.misc.Cleaner",
	    "java.nio.BufferCleaner", "java.lang.invoke.", NULL};
	static const char *const view[] = {"java.nio.Direct", "jdk.internal.foreign.", NULL};
	static const char *const other[] = {"java.util.zip.", "java.util.jar.", "java.util.logging.", NULL};
	static const char *const passed[] = {"java.util.", NULL};
	if (c->kind == CLASS_OBJECT_ARRAY)
		return begins_with_one(c->name, never) ? RANK_NEVER : RANK_PASSED;
	if (begins_with_one(c->name, never))
		return RANK_NEVER;
	if (begins_with_one(c->name, view))
		return RANK_VIEW;
	if (!begins_with_one(c->name, other) && begins_with_one(c->name, passed))
		return RANK_PASSED;
	return library_programs_class(h, class) ? RANK_PROGRAM : RANK_JDK;
}

int field_holders_init(struct field_holders *f, const struct heap *h, struct err *err)
{
	*f = (struct field_holders){.heap = h};
	int code = numbered_names_new(&f->names, h, err);
	if (!code && !(f->rank = big_alloc(h->n_classes, sizeof *f->rank, err)))
		code = ERR_NOMEM;
	for (uint32_t i = 0; !code && i < h->n_classes && !progress_own_stops(i); i++)
		f->rank[i] = (uint8_t)rank_of(h, i);
	return code;
}

void field_holders_release(struct field_holders *f)
{
	numbered_names_free(f->names);
	big_free(f->rank);
	*f = (struct field_holders){.heap = NULL};
}

/* A class object holds by a static field what it is its class's. */
static enum holder_rank rank_of_object(const struct field_holders *f, uint32_t id)
{
	uint32_t mirrored = heap_class_mirrored(f->heap, id);
	uint32_t class = mirrored == HEAP_NONE ? heap_class_index(f->heap, id) : mirrored;
	enum holder_rank rank = f->rank[class];
	return mirrored != HEAP_NONE && rank < RANK_PROGRAM && rank != RANK_NEVER ? RANK_JDK : rank;
}

enum { LOOKED_AT = 1000, STEPS = 12 };

/* The best of an object's holders that was not passed yet, of several the first. */
static uint32_t best_holder(const struct field_holders *f, uint32_t id, const uint32_t *way, unsigned n_way)
{
	const struct adjacency *in = &f->heap->in;
	uint64_t first = adjacency_start(in, id), end = adjacency_start(in, id + 1);
	enum holder_rank best = RANK_NEVER;
	uint32_t holder = HEAP_NONE;
	for (uint64_t i = first; i < end && i < first + LOOKED_AT; i++) {
		uint32_t candidate = in->target[i];
		enum holder_rank rank = rank_of_object(f, candidate);
		bool passed = false;
		for (unsigned k = 0; k < n_way; k++)
			passed |= way[k] == candidate;
		if (!passed && rank > best) {
			best = rank;
			holder = candidate;
		}
	}
	return holder;
}

static int name_reference(struct field_holders *f, uint32_t holder, uint32_t id, uint32_t *field, struct err *err)
{
	const struct adjacency *out = &f->heap->out;
	uint64_t start = adjacency_start(out, holder), end = adjacency_start(out, holder + 1);
	struct numbered names;
	*field = NAME_NOT_TOLD;
	int code = numbered_names_of(f->names, holder, &names, err);
	for (uint64_t i = start; !code && i < end; i++)
		if (out->target[i] == id) {
			*field = names.each ? names.each[i - start] : names.all;
			break;
		}
	return code;
}

/* The class of the chain that declares the field, else the object's own. */
static uint32_t declaring(const struct heap *h, uint32_t class, const char *field)
{
	enum { DEEP = 64 };
	uint32_t own = class;
	for (unsigned deep = 0; class != HEAP_NONE && deep < DEEP; deep++, class = h->classes[class].superclass)
		for (uint32_t i = 0; i < h->classes[class].n_fields; i++)
			if (!strcmp(h->classes[class].fields[i].name, field))
				return class;
	return own;
}

int field_holder_of(struct field_holders *f, uint32_t id, struct field_holder *out, struct err *err)
{
	const struct heap *h = f->heap;
	uint32_t way[STEPS + 1] = {id}, at = id;
	*out = (struct field_holder){.class = HEAP_NONE, .field = NAME_NOT_TOLD};
	for (unsigned n = 1; n <= STEPS; n++) {
		uint32_t holder = best_holder(f, at, way, n);
		if (holder == HEAP_NONE)
			return 0;
		enum holder_rank rank = rank_of_object(f, holder);
		uint32_t mirrored = heap_class_mirrored(h, holder);
		uint32_t class = mirrored == HEAP_NONE ? heap_class_index(h, holder) : mirrored;
		out->class = class;
		if (mirrored != HEAP_NONE || rank == RANK_PROGRAM || rank == RANK_JDK) {
			int code = name_reference(f, holder, at, &out->field, err);
			if (!code && mirrored == HEAP_NONE && out->field != NAME_NOT_TOLD)
				out->class = declaring(h, class, numbered_name(f->names, out->field));
			return code;
		}
		out->elements |= rank == RANK_PASSED;
		way[n] = at = holder;
	}
	return 0;
}

void field_holder_add(const struct field_holders *f, const struct field_holder *holder, uint32_t id,
    struct text *to)
{
	const struct heap *h = f->heap;
	size_t first;
	if (holder->class == HEAP_NONE) {
		bool root = heap_roots_of(h, id, &first) > 0;
		text_add(to, root ? root_kind_name(h->roots[first].kind) : "nothing");
		return;
	}
	const char *field = numbered_name(f->names, holder->field);
	text_add(to, h->classes[holder->class].name);
	if (*field)
		text_addf(to, ".%s", field);
	text_add(to, holder->elements ? "[]" : "");
}
