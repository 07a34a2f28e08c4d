/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects.c - from records in the dump's order to objects in address order.
 *
 * The index gives every address its rank; then each record's class handle, number of references and
 * extent move to that rank, all parts of the survey in parallel.  Where two records share an address
 * the first one in the dump counts; the others are found beforehand, by one thread in order.
 */
#include "heap/build.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* --- the index ------------------------------------------------------------------------------------ */

struct indexing {
	struct build *build;
	struct address_index *parts; /* pages of each part, to be joined */
};

static int note_part(void *context, unsigned task, struct err *err)
{
	struct indexing *x = context;
	struct records_walk w = records_walk(&x->build->parts[task].records);
	for (struct record r; records_next(&w, &r);) {
		int code = index_note(&x->parts[task], r.address, 1, err);
		if (code < 0)
			return code;
	}
	return 0;
}

static int insert_part(void *context, unsigned task, struct err *err)
{
	struct indexing *x = context;
	struct records_walk w = records_walk(&x->build->parts[task].records);
	struct index_writer writer = { .x = x->build->heap->index };
	for (struct record r; records_next(&w, &r);)
		index_insert(&writer, r.address);
	index_flush(&writer);
	(void)err;
	return 0;
}

static int note_all(struct indexing *x, struct err *err)
{
	struct build *b = x->build;
	uint64_t all = 256; /* a larger granule would gain nothing */
	for (unsigned i = 0; i < b->n_parts; i++)
		all |= b->parts[i].records.all_addresses;
	unsigned granule_shift = (unsigned)__builtin_ctzll(all);
	index_init(b->heap->index, granule_shift);
	for (unsigned i = 0; i < b->n_parts; i++)
		index_init(&x->parts[i], granule_shift);
	int code = parallel_run(0, b->n_parts, note_part, x, err);
	for (unsigned i = 0; i < b->n_parts; i++) {
		if (code == 0)
			code = index_join(b->heap->index, &x->parts[i], err);
		index_release(&x->parts[i]);
	}
	return code;
}

int objects_index(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	struct indexing x = { b, xcalloc(b->n_parts, sizeof *x.parts) };
	h->index = xcalloc(1, sizeof *h->index);
	int code = note_all(&x, err);
	if (code == 0)
		code = index_layout(h->index, err);
	if (code == 0)
		code = parallel_run(0, b->n_parts, insert_part, &x, err);
	if (code == 0)
		code = index_seal(h->index, err);
	h->n_objects = h->index->n_objects;
	free(x.parts);
	return code;
}

/* --- walking ---------------------------------------------------------------------------------------- */

size_t objects_duplicate_from(const struct build *b, uint64_t number)
{
	size_t low = 0, high = b->n_duplicates;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (b->duplicates[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct objects_walk objects_walk(const struct build *b, unsigned part)
{
	const struct survey_part *p = &b->parts[part];
	return (struct objects_walk){
		.build = b,
		.records = records_walk(&p->records),
		.number = p->first_record,
		.duplicate = objects_duplicate_from(b, p->first_record),
	};
}

bool objects_next(struct objects_walk *w, struct record *record)
{
	const struct build *b = w->build;
	if (!records_next(&w->records, record))
		return false;
	w->is_duplicate = w->duplicate < b->n_duplicates && b->duplicates[w->duplicate] == w->number;
	w->duplicate += w->is_duplicate;
	w->number++;
	return true;
}

uint32_t objects_id(const struct objects_walk *w, const struct record *record)
{
	return w->is_duplicate ? HEAP_NONE : index_find(w->build->heap->index, record->address);
}

/* --- class handles ---------------------------------------------------------------------------------- */

/* What the parts learned of each handle, the first part's word first.  (A format that gives
 * instances their sizes names each class in one way only, so one handle is one class.) */
static void settle_handles(struct build *b)
{
	for (unsigned i = 0; i < b->n_parts; i++) {
		const struct survey_part *p = &b->parts[i];
		for (uint32_t n = 0; n < p->n_by_handle && n < b->n_handles; n++) {
			struct class_handle *class = &b->handles[n];
			if (p->by_handle[n].used && class->kind == HANDLE_UNUSED)
				class->kind = p->by_handle[n].kind;
			if (p->by_handle[n].common_size && class->instance_size == SIZE_UNKNOWN)
				class->instance_size = p->by_handle[n].common_size;
		}
		if (p->class_object_size && b->class_objects.instance_size == SIZE_UNKNOWN)
			b->class_objects.instance_size = p->class_object_size;
	}
}

/*
 * Whether the object needs a size (and length) of its own: every array, and what differs from the
 * size that its class will carry.  A record without an extent has the size its part has in common.
 */
static bool needs_extent(const struct build *b, const struct survey_part *p, struct record *r)
{
	if (r->kind == RECORD_OBJECT_ARRAY || r->kind == RECORD_PRIMITIVE_ARRAY)
		return true;
	bool is_class = r->kind == RECORD_CLASS;
	if (!r->sized) {
		r->size = is_class ? p->class_object_size : p->by_handle[r->number].common_size;
		r->length = LENGTH_UNKNOWN;
		if (!r->size)
			return false;
	}
	return r->size != (is_class ? &b->class_objects : &b->handles[r->number])->instance_size;
}

/* --- scattering ------------------------------------------------------------------------------------- */

/* Before scattering: find the records whose address an earlier one has, and see that they do not
 * count.  sized serves as the set of those met; it is empty again afterwards. */
static void find_duplicates(struct build *b)
{
	struct heap *h = b->heap;
	uint64_t number = 0;
	for (unsigned i = 0; i < b->n_parts; i++) {
		struct records_walk w = records_walk(&b->parts[i].records);
		for (struct record r; records_next(&w, &r); number++) {
			uint32_t id = index_find(h->index, r.address);
			if (!bits_get(&h->sized, id)) {
				bits_set(&h->sized, id);
				continue;
			}
			VEC_PUSH(b->duplicates, b->n_duplicates, b->cap_duplicates) = number;
			h->n_references -= r.n_references;
			b->parts[i].n_kind[r.kind]--;
			if (b->n_duplicates == 1)
				build_warn(b, "two records have the address 0x%llx: the first counts",
				    (unsigned long long)r.address);
			else
				h->n_warnings++;
		}
	}
	memset(h->sized.word, 0, (h->sized.n + 63) / 64 * sizeof *h->sized.word);
}

static int scatter_part(void *context, unsigned task, struct err *err)
{
	struct build *b = context;
	struct heap *h = b->heap;
	struct survey_part *p = &b->parts[task];
	struct objects_walk w = objects_walk(b, task);
	bool any_size = false;
	(void)err;
	for (struct record r; objects_next(&w, &r);) {
		uint32_t id = objects_id(&w, &r);
		if (r.kind != RECORD_CLASS)
			places_note(&p->place_notes, id);
		if (id == HEAP_NONE)
			continue;
		h->out.offset[id] = r.n_references;
		h->class_of[id] = r.kind == RECORD_CLASS ? HANDLE_JAVA_LANG_CLASS : r.number;
		if (needs_extent(b, p, &r)) {
			bits_set_shared(&h->sized, id);
			any_size |= r.size != SIZE_UNKNOWN;
		}
	}
	if (any_size)
		b->any_size = true;
	return 0;
}

static void keep_extent(struct build *b, uint32_t id, const struct record *r)
{
	struct heap *h = b->heap;
	uint32_t place = bits_rank(&h->sized, id);
	bool wide = r->size == SIZE_UNKNOWN
	    ? r->length >= OWN_UNKNOWN / 16 && r->length != LENGTH_UNKNOWN /* its size may not fit */
	    : r->size >= OWN_UNKNOWN || (r->length >= OWN_UNKNOWN && r->length != LENGTH_UNKNOWN);
	if (wide) {
		pthread_mutex_lock(&b->lock);
		VEC_PUSH(h->wide, h->n_wide, b->cap_wide) = (struct wide){ id, r->size, r->length };
		pthread_mutex_unlock(&b->lock);
	}
	if (h->own_size)
		h->own_size[place] =
		    wide ? OWN_WIDE : r->size == SIZE_UNKNOWN ? OWN_UNKNOWN : (uint32_t)r->size;
	h->own_length[place] =
	    wide ? OWN_WIDE : r->length == LENGTH_UNKNOWN ? OWN_UNKNOWN : (uint32_t)r->length;
}

static int keep_extents_of_part(void *context, unsigned task, struct err *err)
{
	struct build *b = context;
	const struct survey_part *p = &b->parts[task];
	struct objects_walk w = objects_walk(b, task);
	bool any_length = false;
	(void)err;
	for (struct record r; objects_next(&w, &r);)
		if (needs_extent(b, p, &r) && !w.is_duplicate) {
			keep_extent(b, objects_id(&w, &r), &r);
			any_length |= r.length != LENGTH_UNKNOWN;
		}
	if (any_length)
		b->any_length = true;
	return 0;
}

static int by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct wide *)x)->id, b = ((const struct wide *)y)->id;
	return (a > b) - (a < b);
}

static int keep_extents(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	int code = bits_seal(&h->sized, err);
	if (code < 0)
		return code;
	h->n_sized = (uint32_t)bits_count(&h->sized);
	if (b->any_size && !(h->own_size = big_alloc(h->n_sized, sizeof *h->own_size, err)))
		return ERR_NOMEM;
	h->own_length = big_alloc(h->n_sized, sizeof *h->own_length, err);
	if (!h->own_length)
		return ERR_NOMEM;
	code = parallel_run(0, b->n_parts, keep_extents_of_part, b, err);
	if (!b->any_length) {
		big_free(h->own_length, h->n_sized, sizeof *h->own_length);
		h->own_length = NULL;
	}
	if (h->n_wide)
		qsort(h->wide, h->n_wide, sizeof *h->wide, by_id);
	return code;
}

static void count_kinds(struct build *b)
{
	struct heap *h = b->heap;
	for (unsigned i = 0; i < b->n_parts; i++) {
		const uint32_t *n = b->parts[i].n_kind;
		h->n_instances += n[RECORD_INSTANCE];
		h->n_object_arrays += n[RECORD_OBJECT_ARRAY];
		h->n_primitive_arrays += n[RECORD_PRIMITIVE_ARRAY];
		h->n_class_objects += n[RECORD_CLASS];
	}
}

int objects_scatter(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	h->class_of = big_alloc(h->n_objects, sizeof *h->class_of, err);
	int code = h->class_of ? bits_init(&h->sized, h->n_objects, err) : ERR_NOMEM;
	if (code < 0 || (code = adjacency_init(&h->out, h->n_objects, err)) < 0)
		return code;
	uint64_t n_records = 0;
	for (unsigned i = 0; i < b->n_parts; i++) {
		b->parts[i].first_record = n_records;
		n_records += b->parts[i].records.n;
		if (b->parts[i].n_placed)
			b->parts[i].place_notes.most = (uint32_t)(b->parts[i].n_placed / LEAST_PLACE_RUN + 64);
	}
	settle_handles(b);
	if (n_records != h->n_objects)
		find_duplicates(b);
	count_kinds(b);
	code = parallel_run(0, b->n_parts, scatter_part, b, err);
	return code < 0 ? code : keep_extents(b, err);
}
