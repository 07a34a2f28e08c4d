/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread_locals.c - see thread_locals.h. */
#include "analysis/thread_locals.h"

#include "algorithms/bits.h"
#include "base/progress.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/value.h"
#include "memory/big.h"

#include <string.h>

enum { LOOKED_AT = 256 }; /* references of a value, for a loader */

/* A field as the code of a class sees it, and where it lies in instances of the class that was asked for last:
 * entries and maps are of one class nearly always, and a class may declare very many fields. */
struct named_field {
	const char *class, *name; /* class NULL: the object's own */
	uint32_t of;              /* class index */
	bool there;
	struct field_place place;
};

struct search {
	const struct heap *h;
	struct thread_locals *out;
	uint64_t cap;
	struct progress *progress;
	uint64_t rounds, fields;
	struct named_field referent, value, table;
	struct bits seen; /* by object: a table that was read; a forged dump may name one from every thread */
};

static bool is_named(const struct heap *h, uint32_t id, const char *class)
{
	return id != HEAP_NONE && !strcmp(heap_class_of(h, id)->name, class);
}

/* --- loaders -------------------------------------------------------------------------------------- */

/* An object is a loader, or stands for a class with one, or is of such a class. */
static uint32_t near_loader(const struct heap *h, uint32_t id)
{
	uint32_t class = heap_class_mirrored(h, id);
	if (heap_class_of(h, id)->makes_loaders)
		return id;
	return class != HEAP_NONE ? h->classes[class].loader : heap_class_of(h, id)->loader;
}

uint32_t thread_locals_loader(const struct heap *h, uint32_t id, bool *own)
{
	uint32_t found = near_loader(h, id);
	uint64_t start = adjacency_start(&h->out, id), n = adjacency_degree(&h->out, id);
	*own = found != HEAP_NONE && !library_usual_loader(h, found);
	for (uint64_t i = 0; !*own && i < n && i < LOOKED_AT; i++) {
		uint32_t held = near_loader(h, h->out.target[start + i]);
		if (held == HEAP_NONE || library_usual_loader(h, held))
			continue;
		*own = true;
		return held;
	}
	return found;
}

/* --- maps ----------------------------------------------------------------------------------------- */

static int add_value(struct search *s, struct thread_local_value v, struct err *err)
{
	struct thread_local_value *at = BIG_PUSH(s->out->at, s->out->n, s->cap, err);
	if (!at)
		return ERR_NOMEM;
	v.loader = HEAP_NONE;
	if (v.value != HEAP_NONE)
		v.loader = thread_locals_loader(s->h, v.value, &v.own_loader);
	*at = v;
	return 0;
}

static bool find_place(const struct values *v, const struct named_field *f, struct field_place *out)
{
	struct values seen = *v;
	if ((f->class && !values_as_named(&seen, f->class)) || !values_place(v->heap, seen.as, f->name, out))
		return false;
	out->offset += seen.as_offset;
	return out->type == VALUE_OBJECT;
}

/* The object in a field.  False: there is no such field. */
static bool field_of(const struct heap *h, uint32_t id, struct named_field *f, uint32_t *out)
{
	struct values v;
	struct value value;
	if (values_open(&v, h, id, NULL))
		return false;
	if (f->of != v.class) {
		f->there = find_place(&v, f, &f->place);
		f->of = v.class;
	}
	if (!f->there || !values_at(&v, &f->place, &value))
		return false;
	*out = value_object_id(h, &value);
	return true;
}

static int add_entry(struct search *s, struct thread_local_value v, struct err *err)
{
	if (field_of(s->h, v.entry, &s->referent, &v.key) && field_of(s->h, v.entry, &s->value, &v.value))
		return add_value(s, v, err);
	s->out->n_broken++;
	return 0;
}

/* Keys and values side by side; a key that is no reference marks a place that was used. */
static int add_pair(struct search *s, struct thread_local_value v, uint32_t reference, uint32_t value, struct err *err)
{
	v.value = value;
	return field_of(s->h, reference, &s->referent, &v.key) ? add_value(s, v, err) : 0;
}

static uint32_t element(const struct values *table, uint64_t i)
{
	struct value v = values_element(table, i);
	return value_object_id(table->heap, &v);
}

static int walk_map(struct search *s, struct thread_local_value v, uint32_t map, struct err *err)
{
	bool pairs = is_named(s->h, map, "java.lang.ThreadLocal$Values");
	struct values table;
	uint32_t array;
	if (!field_of(s->h, map, &s->table, &array)) {
		s->out->n_broken++;
		return 0;
	}
	if (array == HEAP_NONE || values_open(&table, s->h, array, NULL) ||
	    table.is_class || table.view.kind != OBJECT_ARRAY) {
		s->out->n_broken += array != HEAP_NONE;
		return 0;
	}
	if (bits_get(&s->seen, array)) {
		s->out->n_shared++;
		return 0;
	}
	bits_set(&s->seen, array);
	int code = 0;
	for (uint64_t i = 0, n = values_length(&table); !code && i < n; i += pairs ? 2 : 1) {
		uint32_t at = element(&table, i);
		if (progress_stops(s->progress, 16 * s->rounds++))
			return err_cancelled(err);
		if (at == HEAP_NONE)
			continue;
		v.entry = pairs ? array : at;
		code = !pairs ? add_entry(s, v, err) : i + 1 < n ? add_pair(s, v, at, element(&table, i + 1), err) : 0;
	}
	return code;
}

static int walk_thread(struct search *s, uint32_t thread, struct err *err)
{
	struct values values;
	struct field_walk walk = {.values = &values};
	int code = 0;
	if (values_open(&values, s->h, thread, NULL))
		return 0;
	/* what lies behind the end of a short record is missing: it costs its length, not its class's */
	while (!code && values_next_field(&walk) && walk.offset <= values.view.n_bytes) {
		if (progress_stops(s->progress, s->fields++))
			return err_cancelled(err);
		if (strcmp(s->h->classes[walk.declared_in].name, "java.lang.Thread"))
			continue;
		uint32_t map = value_object_id(s->h, &walk.value);
		if (is_named(s->h, map, "java.lang.ThreadLocal$ThreadLocalMap") ||
		    is_named(s->h, map, "java.lang.ThreadLocal$Values"))
			code = walk_map(s, (struct thread_local_value){.thread = thread, .field = walk.field->name}, map, err);
	}
	return code;
}

/* By class index: are its instances threads?  The caller's (big_free). */
static uint8_t *thread_classes(const struct heap *h, struct err *err)
{
	enum { NOT_YET, NO, YES };
	uint8_t *is = big_alloc(h->n_classes, sizeof *is, err);
	for (uint32_t c = 0; is && c < h->n_classes && !progress_own_stops(c); c++) {
		uint32_t up = c, end;
		while (up != HEAP_NONE && is[up] == NOT_YET && strcmp(h->classes[up].name, "java.lang.Thread"))
			up = h->classes[up].superclass;
		uint8_t answer = up == HEAP_NONE ? NO : is[up] == NOT_YET ? YES : is[up];
		for (end = up, up = c; up != end && up != HEAP_NONE; up = h->classes[up].superclass)
			is[up] = answer;
		if (end != HEAP_NONE)
			is[end] = answer;
	}
	for (uint32_t c = 0; is && c < h->n_classes; c++)
		is[c] = is[c] == YES && h->classes[c].kind == CLASS_PLAIN;
	return is;
}

int thread_locals_find(struct thread_locals *out, const struct heap *h, struct progress *progress, struct err *err)
{
	struct search s = {
		.h = h, .out = out, .progress = progress,
		.referent = {.class = "java.lang.ref.Reference", .name = "referent", .of = HEAP_NONE},
		.value = {.class = "java.lang.ThreadLocal$ThreadLocalMap$Entry", .name = "value", .of = HEAP_NONE},
		.table = {.name = "table", .of = HEAP_NONE},
	};
	*out = (struct thread_locals){.n = 0};
	uint8_t *is = thread_classes(h, err);
	int code = is ? bits_init(&s.seen, h->n_objects, err) : ERR_NOMEM;
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		if (progress_stops(progress, id))
			code = err_cancelled(err);
		else if (is[heap_class_index(h, id)])
			code = walk_thread(&s, id, err);
	}
	big_free(is);
	bits_release(&s.seen);
	if (!code)
		code = progress_check(progress, err);
	if (code)
		thread_locals_release(out);
	return code;
}

void thread_locals_release(struct thread_locals *t)
{
	big_free(t->at);
	*t = (struct thread_locals){.n = 0};
}
