/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slices.c - see slices.h. */
#include "analysis/describe/slices.h"

#include "algorithms/bits.h"
#include "algorithms/parallel.h"
#include "analysis/describe/memory.h"
#include "base/mem.h"
#include "base/progress.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "memory/big.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST_HOLDERS = 64, SMALL_BLOCK = 16, MOST_VALUE = 60 };

/* Does it mean a part of this object and no more? */
static bool fits(const struct typed *v, const struct heap *h, uint32_t id, uint64_t *begin)
{
	const struct type *t = typed_type(v);
	uint64_t head = heap_head(h, id), start = heap_address(h, id) + head, size = heap_shallow(h, id) - head;
	uint64_t bytes = typed_word(v, 1), room;
	*begin = typed_word(v, 0) - start;
	if (*begin >= size)
		return false;
	if (t->kind == TYPE_POINTER && size == SMALL_BLOCK && t->element != TYPE_NONE)
		return h->dump->types->type[t->element].size < size &&
		    h->dump->types->type[t->element].size <= size - *begin;
	if (t->kind == TYPE_STRING)
		return bytes <= size - *begin;
	if (t->kind != TYPE_SLICE || t->element == TYPE_NONE)
		return false;
	room = typed_word(v, 2);
	return bytes <= room &&
	    !__builtin_mul_overflow(room, h->dump->types->type[t->element].size, &bytes) &&
	    bytes <= size - *begin;
}

static void take(struct slices *s, const struct typed *v, const struct heap *h, uint32_t id,
    uint32_t holder)
{
	uint64_t begin;
	if (v && s->n < SLICES_KNOWN && fits(v, h, id, &begin))
		s->known[s->n++] = (struct slice_known){*v, holder, begin};
	else
		s->others = true;
}

/* What stands at a slot of an object.  False: nobody knows. */
static bool at_slot(const struct typed_object *o, uint64_t offset, struct typed *part)
{
	if (!o->stride || offset / o->stride >= o->count)
		return false;
	struct typed value = typed_element(o, offset / o->stride);
	return typed_inner(&value, offset % o->stride, part);
}

/* Every word of one object that leads into another. */
static void take_from(struct slices *s, const struct heap *h, uint32_t holder, uint32_t id)
{
	uint64_t start = heap_address(h, id), size = heap_shallow(h, id);
	struct typed_object o;
	struct slot_walk w = {0};
	if (!typed_open(&o, h, holder)) {
		s->others = true;
		return;
	}
	while (!(s->others && s->n == SLICES_KNOWN) && typed_next_slot(&o, &w)) {
		struct typed part;
		if (typed_number(&o.value, w.offset, typed_word_size(h)) - start >= size)
			continue;
		take(s, at_slot(&o, w.offset, &part) ? &part : NULL, h, id, holder);
	}
}

void slices_of(struct slices *out, const struct heap *h, uint32_t id)
{
	size_t first, n;
	*out = (struct slices){.n = 0};
	if (!h->dump->types || h->no_references)
		return;
	n = heap_roots_of(h, id, &first);
	for (size_t i = first; i < first + n; i++) {
		struct typed v;
		take(out, typed_variable(h, h->roots[i].slot, &v) ? &v : NULL, h, id, HEAP_NONE);
	}
	uint64_t end = adjacency_start(&h->in, id + 1);
	uint32_t before = HEAP_NONE;
	unsigned holders = 0;
	for (uint64_t k = adjacency_start(&h->in, id); k < end; k++) {
		uint32_t holder = h->in.target[k];
		if (holder == before)
			continue;
		before = holder;
		if (holders++ == MOST_HOLDERS) {
			out->others = true;
			return;
		}
		take_from(out, h, holder, id);
	}
}

static void add_holder(const struct slice_known *k, const struct heap *h, struct text *to)
{
	struct typed_object o;
	if (k->holder == HEAP_NONE) {
		heap_symbol(h, k->value.address, to);
		return;
	}
	text_addf(to, "0x%" PRIx64 " ", heap_address(h, k->holder));
	if (typed_open(&o, h, k->holder))
		typed_path(&o, k->value.address - o.value.address, to);
}

/* What one of several values in a block is: "int64 4242", and the text of a string. */
static void add_value(const struct slice_known *k, const struct heap *h, struct text *to)
{
	const struct type *t = typed_type(&k->value);
	struct typed value;
	if (t->kind == TYPE_POINTER) {
		text_addf(to, "%s ", typed_type_name(h, t->element));
		if (typed_at(h, typed_word(&k->value, 0), t->element, &value))
			typed_add(&value, MOST_VALUE, to);
		return;
	}
	text_addf(to, "len %" PRIu64, typed_word(&k->value, 1));
	if (t->kind == TYPE_SLICE)
		text_addf(to, " cap %" PRIu64, typed_word(&k->value, 2));
}

void slices_add(const struct slices *s, const struct heap *h, struct text *to)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct slice_known *k = &s->known[i];
		text_add(to, i ? "; " : "");
		add_value(k, h, to);
		if (k->begin)
			text_addf(to, " at +%" PRIu64, k->begin);
		text_add(to, " of ");
		add_holder(k, h, to);
	}
	if (s->n && s->others)
		text_add(to, "; and others");
}

/* Bytes of an element; 0: it is no array. */
static uint64_t stride_of(const struct heap *h, uint32_t id)
{
	const struct heap_class *c = heap_class_of(h, id);
	bool array = c->kind == CLASS_OBJECT_ARRAY || c->kind == CLASS_PRIMITIVE_ARRAY;
	return array && c->type < h->dump->types->n ? h->dump->types->type[c->type].size : 0;
}

/* In use are the elements from the first slice's begin to the last one's end. */
static bool size_in_use(const struct heap *h, uint32_t id, uint64_t begin, uint64_t end, struct collection_size *out)
{
	struct typed_object o;
	if (!typed_open(&o, h, id) || !o.stride)
		return false;
	*out = (struct collection_size){ .known = true, .has_capacity = true, .capacity = o.count };
	out->size = out->taken = end > begin ? end - begin : 0;
	out->has_fill = out->capacity != 0;
	out->lies = end > out->capacity;
	return true;
}

bool slices_size(const struct heap *h, uint32_t id, struct collection_size *out)
{
	struct slices s;
	uint64_t stride = stride_of(h, id), end = 0, begin = UINT64_MAX;
	if (!stride)
		return false;
	slices_of(&s, h, id);
	for (unsigned i = 0; i < s.n; i++) {
		const struct slice_known *k = &s.known[i];
		uint64_t first = k->begin / stride, last = first + typed_word(&k->value, 1);
		if (typed_type(&k->value)->kind != TYPE_SLICE)
			return false;
		begin = first < begin ? first : begin;
		end = last > end ? last : end;
	}
	return s.n && !s.others && size_in_use(h, id, begin, end, out) && !out->lies;
}

/* --- of all arrays at once ---------------------------------------------------------------------- */

enum { AT_ONCE = 4096, TOO_MANY = SLICES_KNOWN + 1 }; /* holders a task; held by what is no slice, or by too many */

struct held_sizes {
	const struct heap *heap;
	struct bits arrays; /* by object */
	struct held {
		_Atomic uint64_t end; /* elements before the end of the last slice */
		_Atomic uint64_t not_begin; /* all bits of those before the begin of the first one turned */
		_Atomic uint32_t n;   /* slices, or at least TOO_MANY */
	} *of; /* by rank in arrays */
	struct progress *progress;
};

static void raise_to(_Atomic uint64_t *to, uint64_t n)
{
	uint64_t last = atomic_load_explicit(to, memory_order_relaxed);
	while (n > last && !atomic_compare_exchange_weak_explicit(to, &last, n, memory_order_relaxed, memory_order_relaxed))
		;
}

/* One more pointer leads into an array; v: what it is a part of, or NULL.  The order does not matter. */
static void tell(struct held_sizes *s, uint32_t id, const struct typed *v)
{
	struct held *to = &s->of[bits_rank(&s->arrays, id)];
	uint64_t begin;
	if (atomic_load_explicit(&to->n, memory_order_relaxed) >= TOO_MANY)
		return;
	if (!v || typed_type(v)->kind != TYPE_SLICE || !fits(v, s->heap, id, &begin)) {
		atomic_store_explicit(&to->n, TOO_MANY, memory_order_relaxed);
		return;
	}
	uint64_t first = begin / stride_of(s->heap, id);
	raise_to(&to->end, first + typed_word(v, 1));
	raise_to(&to->not_begin, ~first);
	atomic_fetch_add_explicit(&to->n, 1, memory_order_relaxed);
}

/* Does it reference an array?  Most do not, and are not opened.  Looks at progress every so many *rounds. */
static int leads_to_array(const struct held_sizes *s, uint32_t holder, uint64_t *rounds, bool *leads, struct err *err)
{
	const struct adjacency *out = &s->heap->out;
	uint64_t end = adjacency_start(out, holder + 1);
	*leads = false;
	for (uint64_t i = adjacency_start(out, holder); i < end && !*leads; i++) {
		if (progress_stops(s->progress, (*rounds)++))
			return err_cancelled(err);
		*leads = bits_get(&s->arrays, out->target[i]);
	}
	return 0;
}

/* What cannot be read tells nothing of what it references. */
static int tell_unread(struct held_sizes *s, uint32_t holder, uint64_t *rounds, struct err *err)
{
	const struct adjacency *out = &s->heap->out;
	for (uint64_t i = adjacency_start(out, holder); i < adjacency_start(out, holder + 1); i++) {
		if (progress_stops(s->progress, (*rounds)++))
			return err_cancelled(err);
		if (bits_get(&s->arrays, out->target[i]))
			tell(s, out->target[i], NULL);
	}
	return 0;
}

static int tell_slots(struct held_sizes *s, const struct typed_object *o, uint64_t *rounds, struct err *err)
{
	struct slot_walk w = {0};
	while (typed_next_slot(o, &w)) {
		struct typed part;
		uint64_t start;
		if (progress_stops(s->progress, (*rounds)++))
			return err_cancelled(err);
		uint32_t id = heap_covering(s->heap, typed_number(&o->value, w.offset, typed_word_size(s->heap)), &start);
		if (id != HEAP_NONE && bits_get(&s->arrays, id))
			tell(s, id, at_slot(o, w.offset, &part) ? &part : NULL);
	}
	return 0;
}

static int read_holders(void *context, unsigned task, struct err *err)
{
	struct held_sizes *s = context;
	struct view_walk walk = {0};
	uint32_t n = s->heap->n_objects, begin = task * AT_ONCE, end = n - begin < AT_ONCE ? n : begin + AT_ONCE;
	uint64_t rounds = 0;
	for (uint32_t id = begin; id < end; id++) {
		struct typed_object o;
		bool leads;
		int code = leads_to_array(s, id, &rounds, &leads, err);
		if (!code && leads)
			code = typed_open_along(&o, s->heap, id, &walk) ? tell_slots(s, &o, &rounds, err) :
			                                                  tell_unread(s, id, &rounds, err);
		if (code)
			return code;
	}
	return progress_add(s->progress, end - begin) ? 0 : err_cancelled(err);
}

static int list_arrays(struct held_sizes *s, const struct bits *only, struct err *err)
{
	const struct heap *h = s->heap;
	int code = bits_init(&s->arrays, h->n_objects, err);
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		if (progress_stops(s->progress, id))
			return err_cancelled(err);
		if ((!only || bits_get(only, id)) && stride_of(h, id))
			bits_set(&s->arrays, id);
	}
	if (!code)
		code = bits_seal(&s->arrays, err);
	if (!code && !(s->of = big_alloc(bits_count(&s->arrays), sizeof *s->of, err)))
		code = ERR_NOMEM;
	return code;
}

static int read_roots(struct held_sizes *s, struct err *err)
{
	const struct heap *h = s->heap;
	for (size_t i = 0; i < h->n_roots; i++) {
		struct typed v;
		if (progress_stops(s->progress, i))
			return err_cancelled(err);
		if (h->roots[i].object != HEAP_NONE && bits_get(&s->arrays, h->roots[i].object))
			tell(s, h->roots[i].object, typed_variable(h, h->roots[i].slot, &v) ? &v : NULL);
	}
	return 0;
}

int held_sizes_make(struct held_sizes **out, const struct heap *h, const struct bits *only, struct progress *progress,
    struct err *err)
{
	*out = NULL;
	if (!h->dump || !h->dump->types || h->no_references)
		return 0;
	struct held_sizes *s = xcalloc(1, sizeof *s);
	*s = (struct held_sizes){.heap = h, .progress = progress};
	int code = list_arrays(s, only, err);
	if (!code)
		code = read_roots(s, err);
	if (!code)
		code = parallel_run(0, h->n_objects / AT_ONCE + (h->n_objects % AT_ONCE != 0), read_holders, s, err);
	if (code)
		held_sizes_free(s);
	else
		*out = s;
	return code;
}

bool held_size(const struct held_sizes *s, uint32_t id, struct collection_size *out)
{
	if (!s || !bits_get(&s->arrays, id))
		return false;
	const struct held *by = &s->of[bits_rank(&s->arrays, id)];
	uint32_t n = atomic_load_explicit(&by->n, memory_order_relaxed);
	return n && n < TOO_MANY &&
	    size_in_use(s->heap, id, ~atomic_load_explicit(&by->not_begin, memory_order_relaxed),
	        atomic_load_explicit(&by->end, memory_order_relaxed), out);
}

void held_sizes_free(struct held_sizes *s)
{
	if (!s)
		return;
	bits_release(&s->arrays);
	big_free(s->of);
	free(s);
}
