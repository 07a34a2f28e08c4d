/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weak.c - find weak references: first the classes that have a weak field, then the value of that
 * field in each of their few instances.
 */
#include "heap/weak.h"

#include "base/big.h"
#include "base/bisect.h"
#include "heap/saved/saved.h"
#include "heap/value.h"

#include <stdlib.h>
#include <string.h>

enum { CANCEL_EVERY = 1 << 14 };

static const char chunk[] = "weak";

static bool is_saved(const struct heap *h)
{
	return saved_chunks(h) && chunks_bytes(saved_chunks(h), chunk) != UINT64_MAX;
}

bool weak_known(const struct heap *h)
{
	return (values_held(h) && h->facts.values == DECLARED_FIELDS) || is_saved(h);
}

static bool is_weak_class_name(const char *name)
{
	static const char package[] = "java.lang.ref.";
	static const char *const names[] = {"SoftReference", "WeakReference", "PhantomReference",
	    "FinalReference", "FinalizerReference"};
	if (strncmp(name, package, sizeof package - 1) != 0)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (!strcmp(name + sizeof package - 1, names[i]))
			return true;
	}
	return false;
}

/* Where the weak field lies in the records of a class's instances, in which the fields of subclasses
 * come first. */
struct weak_way {
	struct field_place place;
	bool known; /* this class was looked at */
	bool found; /* it has the field; place says where */
	bool weak;  /* it, or a superclass below Reference, is one that holds weakly */
};

/* From the superclass's way (NULL: there is none) to this class's. */
static struct weak_way weak_way(const struct heap *h, uint32_t class, const struct weak_way *above)
{
	const struct heap_class *c = &h->classes[class];
	struct weak_way w = { .known = true };
	if (!strcmp(c->name, "java.lang.ref.Reference")) {
		w.found = values_place(h, class, "referent", &w.place) && w.place.type == VALUE_OBJECT;
		return w;
	}
	w.weak = (above && above->weak) || is_weak_class_name(c->name);
	if (!above || !above->found)
		return w;
	w.found = true;
	w.place = above->place;
	for (uint32_t i = 0; i < c->n_fields; i++)
		w.place.offset += values_size_of(h, c->fields[i].type);
	return w;
}

/* Each class once: up to the first superclass that is known, then down again. */
static void find_ways(const struct heap *h, struct weak_way *way, uint32_t *chain)
{
	for (uint32_t i = 0; i < h->n_classes && !progress_own_stops(i); i++) {
		uint32_t up = i, n = 0;
		for (; up != HEAP_NONE && !way[up].known; up = h->classes[up].superclass)
			chain[n++] = up;
		for (; n-- > 0; up = chain[n])
			way[chain[n]] = weak_way(h, chain[n], up == HEAP_NONE ? NULL : &way[up]);
	}
}

/* The place of the weak field for each class; of type VALUE_BYTE where there is none. */
static struct field_place *weak_places(const struct heap *h, struct err *err)
{
	struct weak_way *way = big_alloc(h->n_classes, sizeof *way, err);
	uint32_t *chain = way ? big_alloc(h->n_classes, sizeof *chain, err) : NULL;
	struct field_place *place = chain ? big_alloc(h->n_classes, sizeof *place, err) : NULL;
	if (place)
		find_ways(h, way, chain);
	for (uint32_t i = 0; place && i < h->n_classes && !progress_own_stops(i); i++) {
		bool has = h->classes[i].kind == CLASS_PLAIN && way[i].found && way[i].weak;
		place[i] = has ? way[i].place : (struct field_place){.type = VALUE_BYTE};
	}
	big_free(way);
	big_free(chain);
	return place;
}

/* The object that the weak field alone holds, or HEAP_NONE. */
static uint32_t held_weakly(const struct heap *h, uint32_t id, const struct field_place *place)
{
	struct values values;
	struct value value;
	unsigned times = 0;
	if (values_open(&values, h, id, NULL) || !values_at(&values, place, &value))
		return HEAP_NONE;
	uint32_t referent = value_object_id(h, &value);
	uint64_t end = adjacency_start(&h->out, id + 1);
	for (uint64_t k = adjacency_start(&h->out, id); k < end; k++)
		times += h->out.target[k] == referent;
	return times < 2 && heap_class_of(h, id)->object != referent ? referent : HEAP_NONE;
}

int weak_write(const struct weak_references *w, const struct heap *h, struct chunks_writer *to, struct err *err)
{
	return weak_known(h) ? chunks_add_numbers(to, chunk, w->reference, 2 * w->n, sizeof w->reference->holder, false,
	    err) : 0;
}

/* Out of the index, each pair held against the heap. */
static int take_saved(struct weak_references *out, const struct heap *h, struct err *err)
{
	const void *bytes;
	uint64_t n;
	int code = chunks_take(saved_chunks(h), chunk, &bytes, &n, err);
	if (code)
		return code;
	out->n = n / sizeof *out->reference;
	memcpy(&out->reference, &bytes, sizeof bytes); /* read only, as all that was found is */
	code = chunks_check(saved_chunks(h), &(struct chunk_look){ .name = chunk, .bytes = bytes }, 1, err);
	for (size_t i = 0; i < out->n && !code; i++) {
		const struct weak_reference *r = &out->reference[i];
		if (r->holder >= h->n_objects || r->referent >= h->n_objects || (i && r[-1].holder >= r->holder))
			code = err_set(err, ERR_FORMAT, "the weak references of the index are damaged");
		else
			bits_set(&out->holders, r->holder);
	}
	return code;
}

int weak_find(struct weak_references *out, const struct heap *h, struct progress *progress,
    struct err *err)
{
	size_t cap = 0;
	*out = (struct weak_references){.n = 0};
	progress_phase(progress, PHASE_FIND_WEAK, h->n_objects);
	int code = bits_init(&out->holders, h->n_objects, err);
	if (code || !weak_known(h))
		return code;
	if (is_saved(h)) {
		code = take_saved(out, h, err);
		if (!code || !values_held(h)) {
			if (code)
				weak_release(out);
			return code;
		}
		weak_release(out); /* values tell, too */
		code = bits_init(&out->holders, h->n_objects, err);
		if (code)
			return code;
	}
	struct field_place *place = weak_places(h, err);
	if (!place)
		code = ERR_NOMEM;
	for (uint32_t id = 0; id < h->n_objects && !code; id++) {
		if (id % CANCEL_EVERY == 0 && !progress_add(progress, CANCEL_EVERY))
			code = err_cancelled(err);
		if (place[h->class_of[id]].type != VALUE_OBJECT)
			continue;
		uint32_t referent = held_weakly(h, id, &place[h->class_of[id]]);
		if (referent == HEAP_NONE)
			continue;
		bits_set(&out->holders, id);
		struct weak_reference *at = BIG_PUSH(out->reference, out->n, cap, err);
		if (at)
			*at = (struct weak_reference){id, referent};
		else
			code = ERR_NOMEM;
	}
	big_free(place);
	if (code)
		weak_release(out);
	return code;
}

void weak_release(struct weak_references *w)
{
	bits_release(&w->holders);
	big_free(w->reference);
	*w = (struct weak_references){.n = 0};
}

uint32_t weak_referent(const struct weak_references *w, uint32_t holder)
{
	size_t at;
	BISECT(at, w->n, w->reference[at].holder < holder);
	return at < w->n ? w->reference[at].referent : HEAP_NONE;
}
