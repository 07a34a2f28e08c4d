/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects.c - from records in the dump's order to objects in address order.
 *
 * The index gives every address its rank; then each record's class handle, number of references and
 * extent move to that rank.  Where two records share an address the first one in the dump counts.
 */
#include "heap/build.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

static unsigned granule_shift(const struct build *b)
{
	uint64_t all = 256; /* a larger granule would gain nothing */
	for (unsigned i = 0; i < b->n_parts; i++)
		for (uint64_t k = 0; k < b->parts[i].n_records; k++)
			all |= b->parts[i].records[k].address;
	return (unsigned)__builtin_ctzll(all);
}

int objects_index(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	h->index = xcalloc(1, sizeof *h->index);
	index_init(h->index, granule_shift(b));
	for (unsigned i = 0; i < b->n_parts; i++)
		for (uint64_t k = 0; k < b->parts[i].n_records; k++) {
			int code = index_note(h->index, b->parts[i].records[k].address, err);
			if (code < 0)
				return code;
		}
	int code = index_layout(h->index, err);
	if (code < 0)
		return code;
	for (unsigned i = 0; i < b->n_parts; i++)
		for (uint64_t k = 0; k < b->parts[i].n_records; k++)
			index_insert(h->index, b->parts[i].records[k].address);
	code = index_seal(h->index, err);
	h->n_objects = h->index->n_objects;
	return code;
}

/* Drop record number k (over all parts): its address belongs to an earlier one. */
static void note_duplicate(struct build *b, struct survey_record *r, uint64_t number)
{
	VEC_PUSH(b->duplicates, b->n_duplicates, b->cap_duplicates) = number;
	if (b->n_duplicates == 1)
		build_warn(b, "two records have the address 0x%llx: the first counts",
		    (unsigned long long)r->address);
	else
		b->heap->n_warnings++;
	b->heap->n_references -= r->n_references;
	r->address = HEAP_NONE;
}

/* The next record's extent: its own, the one its class has in common in this part, or none. */
static bool next_extent(const struct survey_part *p, const struct survey_record *r,
    const struct survey_extent **own, struct survey_extent *out)
{
	uint32_t handle = RECORD_NUMBER(r->what);
	if (r->what & RECORD_SIZED)
		*out = *(*own)++;
	else if (RECORD_KIND(r->what) == RECORD_INSTANCE && handle < p->n_common_size &&
	    p->common_size[handle])
		*out = (struct survey_extent){ p->common_size[handle], LENGTH_UNKNOWN };
	else
		return false;
	return true;
}

/*
 * Whether the object needs a size of its own.  A plain instance whose size is that of the first
 * instance of its class does not: the class will carry it.  (A format that gives instances their
 * sizes names each class in one way only, so one handle is one class.)
 */
static bool needs_extent(struct class_handle *class, enum record_kind kind,
    const struct survey_extent *e)
{
	if (kind == RECORD_OBJECT_ARRAY || kind == RECORD_PRIMITIVE_ARRAY)
		return true;
	if (class->instance_size == SIZE_UNKNOWN)
		class->instance_size = e->size;
	return class->instance_size != e->size;
}

/* Class handle, degree and the sized bit of one part's objects; record addresses become ids. */
static void scatter_part(struct build *b, struct survey_part *p, uint64_t first_number)
{
	struct heap *h = b->heap;
	const struct survey_extent *own = p->extents;
	for (uint64_t k = 0; k < p->n_records; k++) {
		struct survey_record *r = &p->records[k];
		struct survey_extent e;
		bool sized = next_extent(p, r, &own, &e);
		uint32_t id = index_find(h->index, r->address);
		if (h->class_of[id] != HEAP_NONE) {
			note_duplicate(b, r, first_number + k);
			continue;
		}
		r->address = id;
		h->out.offset[id] = r->n_references;
		enum record_kind kind = RECORD_KIND(r->what);
		b->n_kind[kind]++;
		uint32_t handle = kind == RECORD_CLASS ? HANDLE_JAVA_LANG_CLASS : RECORD_NUMBER(r->what);
		struct class_handle *class =
		    kind == RECORD_CLASS ? &b->class_objects : &b->handles[handle];
		h->class_of[id] = handle;
		if (class->kind == HANDLE_UNUSED)
			class->kind = kind;
		if (sized && needs_extent(class, kind, &e))
			bits_set(&h->sized, id);
	}
}

static void keep_extent(struct build *b, uint32_t id, const struct survey_extent *e)
{
	struct heap *h = b->heap;
	uint32_t place = bits_rank(&h->sized, id);
	bool wide = e->size == SIZE_UNKNOWN
	    ? e->length >= OWN_UNKNOWN / 16 && e->length != LENGTH_UNKNOWN /* its size may not fit */
	    : e->size >= OWN_UNKNOWN || (e->length >= OWN_UNKNOWN && e->length != LENGTH_UNKNOWN);
	if (wide)
		VEC_PUSH(h->wide, h->n_wide, b->cap_wide) = (struct wide){ id, e->size, e->length };
	h->own_size[place] = wide ? OWN_WIDE : e->size == SIZE_UNKNOWN ? OWN_UNKNOWN : (uint32_t)e->size;
	h->own_length[place] = wide ? OWN_WIDE
	    : e->length == LENGTH_UNKNOWN ? OWN_UNKNOWN : (uint32_t)e->length;
	b->any_length |= e->length != LENGTH_UNKNOWN;
}

static int by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct wide *)x)->id, b = ((const struct wide *)y)->id;
	return (a > b) - (a < b);
}

static int scatter_extents(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	int code = bits_seal(&h->sized, err);
	if (code < 0)
		return code;
	h->n_sized = (uint32_t)bits_count(&h->sized);
	h->own_size = big_alloc(h->n_sized, sizeof *h->own_size, err);
	h->own_length = big_alloc(h->n_sized, sizeof *h->own_length, err);
	if (!h->own_size || !h->own_length)
		return ERR_NOMEM;
	for (unsigned i = 0; i < b->n_parts; i++) {
		struct survey_part *p = &b->parts[i];
		const struct survey_extent *own = p->extents;
		for (uint64_t k = 0; k < p->n_records; k++) {
			struct survey_extent e;
			bool sized = next_extent(p, &p->records[k], &own, &e);
			uint64_t id = p->records[k].address;
			if (sized && id != HEAP_NONE && bits_get(&h->sized, id))
				keep_extent(b, (uint32_t)id, &e);
		}
	}
	if (!b->any_length) {
		big_free(h->own_length, h->n_sized, sizeof *h->own_length);
		h->own_length = NULL;
	}
	if (h->n_wide)
		qsort(h->wide, h->n_wide, sizeof *h->wide, by_id);
	return 0;
}

int objects_scatter(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	h->class_of = big_alloc(h->n_objects, sizeof *h->class_of, err);
	int code = h->class_of ? bits_init(&h->sized, h->n_objects, err) : ERR_NOMEM;
	if (code < 0 || (code = adjacency_init(&h->out, h->n_objects, err)) < 0)
		return code;
	memset(h->class_of, 0xff, (size_t)h->n_objects * sizeof *h->class_of); /* HEAP_NONE: not met */
	uint64_t number = 0;
	for (unsigned i = 0; i < b->n_parts; i++) {
		scatter_part(b, &b->parts[i], number);
		number += b->parts[i].n_records;
	}
	h->n_instances = b->n_kind[RECORD_INSTANCE];
	h->n_object_arrays = b->n_kind[RECORD_OBJECT_ARRAY];
	h->n_primitive_arrays = b->n_kind[RECORD_PRIMITIVE_ARRAY];
	h->n_class_objects = b->n_kind[RECORD_CLASS];
	return scatter_extents(b, err);
}
