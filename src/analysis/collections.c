/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collections.c - see collections.h.
 *
 * What may be a collection is known by its class.  In parallel those that are made of others tell which ones, then the
 * rest are read.  What does not count its elements is walked, as long as all walks together are shorter than the heap.
 */
#include "analysis/collections.h"

#include "algorithms/bits.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "analysis/describe/describe.h"
#include "base/progress.h"
#include "dump/reader.h"
#include "heap/classes.h"
#include "heap/places.h"
#include "memory/big.h"

#include <stdatomic.h>
#include <stdint.h>

enum { AT_ONCE = 4096 }; /* collections a task */

struct finding {
	struct collections *out;
	const struct heap *heap;
	uint8_t *role;     /* by class: enum collection_role */
	struct bits inner; /* by object: it is a part of another collection */
	uint32_t *id;      /* those that may be collections */
	size_t n, cap;
	bool *keep;        /* by their number */
	struct held_sizes *held;
	struct progress *progress;
	_Atomic uint64_t lying, damaged, walked;
};

/* --- which objects ------------------------------------------------------------------------------ */

/* In memory with types each object has to be asked. */
static bool may_be(const struct finding *f, uint32_t id)
{
	const struct heap_class *c = heap_class_of(f->heap, id);
	if (f->heap->dump && f->heap->dump->types)
		return c->kind == CLASS_PLAIN || c->kind == CLASS_OBJECT_ARRAY || c->kind == CLASS_PRIMITIVE_ARRAY;
	enum collection_role role = (enum collection_role)f->role[heap_class_index(f->heap, id)];
	return role != COLLECTION_NOT && role != COLLECTION_VIEW && c->kind == CLASS_PLAIN &&
	    heap_class_mirrored(f->heap, id) == HEAP_NONE;
}

static int list_all(struct finding *f, const struct bits *only, struct err *err)
{
	const struct heap *h = f->heap;
	if (!(f->role = big_alloc(h->n_classes, sizeof *f->role, err)))
		return ERR_NOMEM;
	for (uint32_t c = 0; c < h->n_classes; c++) {
		if (progress_stops(f->progress, c))
			return err_cancelled(err);
		f->role[c] = h->classes[c].kind == CLASS_PLAIN ? (uint8_t)collection_role(h, c) : COLLECTION_NOT;
	}
	for (uint32_t id = 0; id < h->n_objects; id++) {
		if (progress_stops(f->progress, id))
			return err_cancelled(err);
		if (!may_be(f, id) || (only && !bits_get(only, id)))
			continue;
		if (BIG_ADD(f->id, f->n, f->cap, err, id))
			return ERR_NOMEM;
	}
	return heap_sort_by_record(h, f->id, f->n, err);
}

/* --- what is inside of others ------------------------------------------------------------------- */

static void mark_inner(void *context, uint32_t id)
{
	struct finding *f = context;
	uint64_t *word = &f->inner.word[id >> 6];
	__atomic_fetch_or(word, UINT64_C(1) << (id & 63), __ATOMIC_RELAXED);
}

/* Without values a wrapper is taken to be made of every collection that it references. */
static void mark_referenced(struct finding *f, uint32_t id)
{
	const struct adjacency *out = &f->heap->out;
	for (uint64_t i = adjacency_start(out, id); i < adjacency_start(out, id + 1); i++) {
		uint32_t to = out->target[i];
		if (to != id && f->role[heap_class_index(f->heap, to)] != COLLECTION_NOT)
			mark_inner(f, to);
	}
}

static int find_inner(void *context, unsigned task, struct err *err)
{
	struct finding *f = context;
	size_t begin = (size_t)task * AT_ONCE, end = begin + AT_ONCE < f->n ? begin + AT_ONCE : f->n;
	for (size_t i = begin; i < end; i++) {
		enum collection_role role = (enum collection_role)f->role[heap_class_index(f->heap, f->id[i])];
		if (role != COLLECTION_WRAPPER && role != COLLECTION_OF_ITSELF)
			continue;
		if (f->out->sizes_told)
			collection_inner(f->heap, f->id[i], mark_inner, f);
		else
			mark_referenced(f, f->id[i]);
	}
	return progress_add(f->progress, end - begin) ? 0 : err_cancelled(err);
}

/* --- sizes -------------------------------------------------------------------------------------- */

/* False: it is none, or what it says cannot be. */
static bool read_one(struct finding *f, uint32_t id, struct collection_found *to)
{
	struct collection_size size;
	uint64_t n = f->heap->n_objects, walked = atomic_load_explicit(&f->walked, memory_order_relaxed);
	uint64_t most = walked > n ? 0 : n, left = most;
	*to = (struct collection_found){.id = id};
	if (!f->out->sizes_told)
		return true;
	if (f->held ? !inspect_size(f->heap, id, &size) && !held_size(f->held, id, &size) :
	    !inspect_count(f->heap, id, &left, &size))
		return false;
	atomic_fetch_add_explicit(&f->walked, most - left, memory_order_relaxed);
	if (size.lies) {
		f->lying++;
		return false;
	}
	f->damaged += size.broken;
	to->sized = size.known || size.broken;
	to->size = to->sized ? size.size : 0;
	to->capacity = size.has_capacity ? size.capacity : 0;
	to->taken = size.has_capacity ? size.taken : 0;
	return true;
}

static int read_sizes(void *context, unsigned task, struct err *err)
{
	struct finding *f = context;
	size_t begin = (size_t)task * AT_ONCE, end = begin + AT_ONCE < f->n ? begin + AT_ONCE : f->n;
	for (size_t i = begin; i < end; i++)
		f->keep[i] = !bits_get(&f->inner, f->id[i]) && read_one(f, f->id[i], &f->out->found[i]);
	return progress_add(f->progress, end - begin) ? 0 : err_cancelled(err);
}

static int by_id(const void *x, const void *y)
{
	const struct collection_found *a = x, *b = y;
	return (a->id > b->id) - (a->id < b->id);
}

static int keep_found(struct finding *f, struct err *err)
{
	struct collections *out = f->out;
	bool ascend = true;
	out->lying = f->lying;
	out->damaged = f->damaged;
	for (size_t i = 0; i < f->n; i++) {
		if (!f->keep[i])
			continue;
		ascend &= !out->n || out->found[out->n - 1].id < out->found[i].id;
		out->found[out->n++] = out->found[i];
	}
	return ascend ? 0 : sort(out->found, out->n, sizeof *out->found, by_id, err);
}

int collections_find(struct collections *out, const struct heap *h, const struct bits *only, struct progress *progress,
    struct err *err)
{
	*out = (struct collections){.sizes_told = values_of_fields(h)};
	struct finding f = {.out = out, .heap = h, .progress = progress};
	int code = list_all(&f, only, err);
	unsigned tasks = (unsigned)((f.n + AT_ONCE - 1) / AT_ONCE);
	if (!code)
		code = bits_init(&f.inner, h->n_objects, err);
	if (!code && (!(out->found = big_alloc(f.n, sizeof *out->found, err)) ||
	    !(f.keep = big_alloc(f.n, sizeof *f.keep, err))))
		code = ERR_NOMEM;
	progress_phase(progress, PHASE_READ_COLLECTIONS, 2 * f.n + (h->dump && h->dump->types ? h->n_objects : 0));
	if (!code)
		code = parallel_run(0, tasks, find_inner, &f, err);
	if (!code && out->sizes_told)
		code = held_sizes_make(&f.held, h, only, progress, err);
	if (!code)
		code = parallel_run(0, tasks, read_sizes, &f, err);
	if (!code)
		code = keep_found(&f, err);
	bits_release(&f.inner);
	held_sizes_free(f.held);
	big_free(f.role);
	big_free(f.id);
	big_free(f.keep);
	if (code)
		collections_release(out);
	return code;
}

void collections_release(struct collections *c)
{
	big_free(c->found);
	*c = (struct collections){.n = 0};
}
