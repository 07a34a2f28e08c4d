/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * objects.c - from records in the dump's order to objects in address order.
 *
 * The index gives every address its rank, which is the object's id.  Then the class handle, the
 * number of references and the size and length of each record move to that id, all slices of the
 * survey in parallel.  If several records have one address, only the first in the dump counts; one
 * thread finds the others beforehand.
 */
#include "heap/build/build.h"

#include "algorithms/bisect.h"
#include "algorithms/parallel.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "heap/places.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* --- the index ------------------------------------------------------------------------------------ */

enum { AT_ONCE = 256 }; /* records */

struct indexing {
	struct build *build;
	struct address_index *slices; /* pages of each slice, to be joined */
};

static int note_slice(void *context, unsigned task, struct err *err)
{
	struct indexing *x = context;
	struct address_index *index = &x->slices[task];
	struct records_walk w = slice_walk(x->build->slices[task]);
	uint64_t number = 0, round = 0, first, last, n;
	uint32_t noted = 0; /* records in this page since the last in another one */
	int code = 0;
	while (code == 0 && (n = records_ascent(&w, AT_ONCE, &first, &last))) {
		if (progress_stops(x->build->progress, round++))
			return err_cancelled(err);
		uint64_t here = index_page_number(index, first);
		while (index_page_number(index, last) != here)
			n = records_ascent(&w, n / 2, &first, &last);
		if (noted && here != number) {
			code = index_note(index, number, noted, err);
			noted = 0;
		}
		number = here;
		noted += (uint32_t)n;
		records_skip(&w, n, last);
	}
	return code == 0 && noted ? index_note(index, number, noted, err) : code;
}

static int insert_slice(void *context, unsigned task, struct err *err)
{
	struct indexing *x = context;
	struct records_walk w = slice_walk(x->build->slices[task]);
	struct index_writer writer = { .x = x->build->heap->index };
	uint64_t round = 0, address, last, n;
	while ((n = records_ascent(&w, AT_ONCE, &address, &last)) && !progress_stops(x->build->progress, round++)) {
		index_insert(&writer, address);
		records_skip(&w, 1, address);
		for (unsigned i, n_here; n > 1; n -= n_here) {
			const uint8_t *step = records_group(&w, 0, n - 1, &i, &n_here)->step;
			for (unsigned end = i + n_here; i < end; i++)
				index_insert(&writer, address += (uint64_t)step[i] * STEP_BYTES);
			records_skip_near(&w, n_here, address);
		}
	}
	index_flush(&writer);
	return progress_check(x->build->progress, err); /* a slice that was left early is no use */
}

static int note_all(struct indexing *x, struct err *err)
{
	struct build *b = x->build;
	uint64_t all = 256; /* a larger granule would gain nothing */
	for (unsigned i = 0; i < b->n_slices; i++)
		all |= b->slices[i]->records.all_addresses;
	unsigned granule_shift = (unsigned)__builtin_ctzll(all);
	index_init(b->heap->index, granule_shift);
	for (unsigned i = 0; i < b->n_slices; i++)
		index_init(&x->slices[i], granule_shift);
	int code = parallel_run(0, b->n_slices, note_slice, x, err);
	for (unsigned i = 0; i < b->n_slices; i++) {
		if (code == 0)
			code = index_join(b->heap->index, &x->slices[i], err);
		index_release(&x->slices[i]);
	}
	return code;
}

/* Number the records of all parts, slice by slice. */
static int list_slices(struct build *b, struct err *err)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		b->n_slices += (unsigned)b->parts[i].n_slices;
	b->slices = big_alloc(b->n_slices, sizeof *b->slices, err);
	if (!b->slices)
		return ERR_NOMEM;
	struct slice **to = b->slices;
	for (unsigned i = 0; i < b->n_parts; i++) {
		struct count_pass_part *p = &b->parts[i];
		p->first_record = n;
		for (size_t k = 0; k < p->n_slices; k++) {
			struct slice *s = *to++ = &p->slices[k];
			s->first_record = n;
			s->place_notes.most = (uint32_t)(s->records.n / LEAST_PLACE_RUN + 64);
			n += s->records.n;
		}
	}
	b->n_records = n;
	return 0;
}

int objects_index(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	int code = list_slices(b, err);
	struct indexing x = { .build = b };
	x.slices = code ? NULL : big_alloc(b->n_slices, sizeof *x.slices, err);
	h->index = xcalloc(1, sizeof *h->index);
	code = x.slices ? note_all(&x, err) : ERR_NOMEM;
	if (code == 0)
		code = index_layout(h->index, err);
	if (code == 0)
		code = parallel_run(0, b->n_slices, insert_slice, &x, err);
	if (code == 0)
		code = index_seal(h->index, err);
	h->n_objects = h->index->n_objects;
	big_free(x.slices);
	return code;
}

/* --- walking ---------------------------------------------------------------------------------------- */

size_t objects_duplicate_from(const struct build *b, uint64_t number)
{
	size_t at;
	BISECT(at, b->n_duplicates, b->duplicates[at] < number);
	return at;
}

struct objects_walk objects_walk(const struct build *b, const struct slice *slice)
{
	return (struct objects_walk){
		.build = b,
		.records = slice_walk(slice),
		.number = slice->first_record,
		.duplicate = objects_duplicate_from(b, slice->first_record),
		.reach = 1,
	};
}

enum { REACH_MOST = 256 };

/* Of a stretch that others lie between nothing is kept but its first record: shorter ones are tried again. */
bool objects_look_ahead(struct objects_walk *w)
{
	const struct build *b = w->build;
	const struct address_index *index = b->heap->index;
	uint64_t most = w->reach, first, last;
	if (w->duplicate < b->n_duplicates) {
		uint64_t n = b->duplicates[w->duplicate] - w->number;
		most = n < most ? n : most;
	}
	uint64_t n = records_ascent(&w->records, most, &first, &last);
	if (!n)
		return false;
	w->n_ahead = 1;
	if (!most) {
		w->duplicate++;
		w->id = HEAP_NONE;
		return true;
	}
	w->id = index_find(index, first);
	w->last = last;
	if (n > 1 && index_find(index, last) - w->id == n - 1)
		w->n_ahead = (uint32_t)n;
	w->reach = w->n_ahead < n ? 1 : w->reach < REACH_MOST ? 2 * w->reach : REACH_MOST;
	return true;
}

/* --- class handles ---------------------------------------------------------------------------------- */

/* What the parts learned of each handle, the first part's word first.  (A format that gives
 * instances their sizes names each class in one way only, so one handle is one class.) */
static void settle_handles(struct build *b)
{
	for (unsigned i = 0; i < b->n_parts; i++) {
		const struct count_pass_part *p = &b->parts[i];
		for (uint32_t n = 0; n < p->n_by_handle && n < b->n_handles && !build_stops(b, n); n++) {
			struct class_handle *class = &b->handles[n];
			if (p->by_handle[n].kind != HANDLE_UNUSED && class->kind == HANDLE_UNUSED) {
				class->kind = p->by_handle[n].kind;
				class->first = p->first_record + p->by_handle[n].first;
			}
			if (p->by_handle[n].common_size && class->instance_size == SIZE_UNKNOWN)
				class->instance_size = p->by_handle[n].common_size;
		}
		if (p->class_object_size && b->class_objects.instance_size == SIZE_UNKNOWN)
			b->class_objects.instance_size = p->class_object_size;
	}
}

static inline bool is_array(const struct record *r)
{
	return r->kind == RECORD_OBJECT_ARRAY || r->kind == RECORD_PRIMITIVE_ARRAY;
}

/*
 * Whether the object needs a size (and length) of its own: every array, and what differs from the
 * size that its class will carry.  A record without an extent has the size its part has in common.
 */
static inline bool needs_extent(const struct build *b, const struct count_pass_part *p, struct record *r)
{
	if (is_array(r))
		return true;
	if (!p->tells_sizes)
		return false;
	bool is_class = r->kind == RECORD_CLASS;
	if (!r->sized) {
		r->size = is_class ? p->class_object_size : p->by_handle[r->number].common_size;
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
	for (unsigned i = 0; i < b->n_slices; i++) {
		struct records_walk w = slice_walk(b->slices[i]);
		for (struct record r; records_next_bare(&w, &r); number++) {
			if (build_stops(b, number))
				return;
			uint32_t id = index_find(h->index, r.address);
			if (!bits_get(&h->sized, id)) {
				bits_set(&h->sized, id);
				continue;
			}
			uint64_t *at = BIG_PUSH(b->duplicates, b->n_duplicates, b->cap_duplicates, &b->lost);
			if (!at)
				return;
			*at = number;
			h->n_references -= r.n_references;
			b->slices[i]->part->sums.n_kind[r.kind]--;
			if (r.kind == RECORD_INSTANCE && h->facts.class_of_hubs &&
			    b->handles[r.number].address == h->facts.class_of_hubs)
				continue;
			build_warn(b, "two records have the address 0x%llx: cairn uses the first",
			    (unsigned long long)r.address);
		}
	}
	memset(h->sized.word, 0, (h->sized.n + 63) / 64 * sizeof *h->sized.word);
}

static inline void note_degree(struct build *b, uint32_t id, uint32_t degree)
{
	b->degrees[id] = degree < DEGREE_LONG ? (uint8_t)degree : DEGREE_LONG;
	if (__builtin_expect(degree < DEGREE_LONG, 1))
		return;
	pthread_mutex_lock(&b->lock);
	struct more_degree *at = BIG_PUSH(b->long_degrees, b->n_long_degrees, b->cap_long_degrees, &b->lost);
	if (at)
		*at = (struct more_degree){ id, degree - DEGREE_LONG };
	pthread_mutex_unlock(&b->lock);
}

/* The class and the number of references of a record; whether it is that of an object that counts. */
static bool scatter_record(struct build *b, struct slice *s, const struct record *r, uint32_t id)
{
	if (r->kind != RECORD_CLASS)
		places_note(&s->place_notes, id);
	if (id == HEAP_NONE)
		return false;
	note_degree(b, id, r->n_references);
	heap_set_class_index(b->heap, id, r->kind == RECORD_CLASS ? handle_of_class_objects(b) : r->number);
	return true;
}

/* Set those of 64 bits that are 1 from bit `at` on. */
static void gather(struct bits_writer *w, struct bits *to, uint64_t at, uint64_t bits)
{
	unsigned shift = at & 63;
	bits_gather(w, &to->word[at >> 6], bits << shift);
	if (shift && bits >> (64 - shift))
		bits_gather(w, &to->word[(at >> 6) + 1], bits >> (64 - shift));
}

/* The records ahead, which are near. */
static void scatter_near(struct build *b, struct slice *s, struct objects_walk *w, struct bits_writer *sized)
{
	struct heap *h = b->heap;
	places_note(&s->place_notes, w->id); /* the record before may be one of a class, which is not noted */
	places_note_more(&s->place_notes, w->n_ahead - 1);
	while (w->n_ahead) {
		unsigned i, n;
		const struct record_group *g = records_group(&w->records, 0, w->n_ahead, &i, &n);
		if (!h->class_high)
			memcpy(h->class_low + w->id, g->number + i, n * sizeof *g->number);
		for (unsigned k = 0; h->class_high && k < n; k++)
			heap_set_class_index(h, w->id + k, g->number[i + k]);
		memcpy(b->degrees + w->id, g->degree + i, n);
		gather(sized, &h->sized, w->id, (g->sized >> i) & UINT64_MAX >> (GROUP_RECORDS - n));
		w->records.at += n;
		w->number += n;
		w->id += n;
		w->n_ahead -= n;
	}
	w->records.address = w->last;
}

/* Where only arrays are sized. */
static int scatter_arrays(struct build *b, struct slice *s, struct err *err)
{
	struct objects_walk w = objects_walk(b, s);
	struct bits_writer sized = { .word = NULL };
	uint64_t round = 0;
	uint32_t id;
	for (struct record r; objects_next(&w, &r, &id, false) && !progress_stops(b->progress, round++);) {
		if (scatter_record(b, s, &r, id))
			bits_gather(&sized, &b->heap->sized.word[id >> 6], (uint64_t)r.sized << (id & 63));
		if (w.n_ahead)
			scatter_near(b, s, &w, &sized);
	}
	bits_flush(&sized);
	if (s->records.any_size)
		b->any_size = true;
	return progress_check(b->progress, err);
}

static int scatter_sizes(struct build *b, struct slice *s, struct err *err)
{
	struct objects_walk w = objects_walk(b, s);
	struct bits_writer sized = { .word = NULL };
	bool any_size = false;
	uint32_t id;
	for (struct record r; objects_next(&w, &r, &id, true) && !progress_stops(b->progress, 4 * w.number);) {
		if (!scatter_record(b, s, &r, id))
			continue;
		bool needs = needs_extent(b, s->part, &r);
		bits_gather(&sized, &b->heap->sized.word[id >> 6], (uint64_t)needs << (id & 63));
		any_size |= needs && r.size != SIZE_UNKNOWN;
	}
	bits_flush(&sized);
	if (any_size)
		b->any_size = true;
	return progress_check(b->progress, err);
}

/* Are the sized records the arrays, and no others?  Mostly. */
static bool sizes_arrays_only(const struct build *b, const struct slice *s)
{
	return !s->part->tells_sizes && !(s->records.other_extents && b->n_duplicates);
}

static int scatter_slice(void *context, unsigned task, struct err *err)
{
	struct build *b = context;
	struct slice *s = b->slices[task];
	return sizes_arrays_only(b, s) ? scatter_arrays(b, s, err) : scatter_sizes(b, s, err);
}

#define LEAST_WIDE (OWN_UNKNOWN / 16) /* of longer arrays the size may not fit */

static void keep_extent(struct build *b, uint32_t place, const struct record *r)
{
	struct heap *h = b->heap;
	bool wide = r->size == SIZE_UNKNOWN
	    ? r->length >= LEAST_WIDE && r->length != LENGTH_UNKNOWN
	    : r->size >= OWN_UNKNOWN || (r->length >= OWN_UNKNOWN && r->length != LENGTH_UNKNOWN);
	if (wide) {
		pthread_mutex_lock(&b->lock);
		struct wide *at = BIG_PUSH(h->wide, h->n_wide, h->cap_wide, &b->lost);
		if (at)
			*at = (struct wide){ (uint32_t)bits_select(&h->sized, place), r->size, r->length };
		pthread_mutex_unlock(&b->lock);
	}
	if (h->own_size)
		h->own_size[place] =
		    wide ? OWN_WIDE : r->size == SIZE_UNKNOWN ? OWN_UNKNOWN : (uint32_t)r->size;
	h->own_length[place] =
	    wide ? OWN_WIDE : r->length == LENGTH_UNKNOWN ? OWN_UNKNOWN : (uint32_t)r->length;
}

/* Of the objects id to end - 1, whose records stand in their order: the next extents are those of the arrays there.
 * Returns whether there is a length. */
static bool keep_run(struct build *b, struct records_walk *w, uint32_t id, uint64_t end)
{
	struct heap *h = b->heap;
	uint32_t place = bits_rank(&h->sized, id), last = end < h->n_objects ? bits_rank(&h->sized, end) : h->n_sized;
	bool any_length = false;
	for (; place < last; place++) {
		struct record r = { .size = SIZE_UNKNOWN, .length = LENGTH_UNKNOWN };
		records_next_extent(w, &r);
		any_length |= r.length != LENGTH_UNKNOWN;
		if (__builtin_expect(r.length < LEAST_WIDE && !h->own_size, 1))
			h->own_length[place] = (uint32_t)r.length;
		else
			keep_extent(b, place, &r);
	}
	return any_length;
}

/* By the runs that were noted (placing.h), without a look at the records.  False: not all were. */
static bool keep_by_runs(struct build *b, const struct slice *s)
{
	const struct place_notes *notes = &s->place_notes;
	struct records_walk w = slice_walk(s);
	bool any_length = false;
	if (!sizes_arrays_only(b, s) || notes->too_many || b->n_duplicates)
		return false;
	for (uint32_t i = 0; i < notes->n && !progress_stops(b->progress, i); i++) {
		uint32_t end = i + 1 < notes->n ? notes->runs[i + 1].number : notes->number, id = notes->runs[i].id;
		any_length |= keep_run(b, &w, id, (uint64_t)id + (end - notes->runs[i].number));
	}
	if (any_length)
		b->any_length = true;
	return true;
}

/* The place among the extents is looked up where ids leave their order, and counted where not. */
static int keep_extents_of_slice(void *context, unsigned task, struct err *err)
{
	struct build *b = context;
	const struct slice *s = b->slices[task];
	if (keep_by_runs(b, s))
		return progress_check(b->progress, err);
	struct objects_walk w = objects_walk(b, s);
	bool any_length = false;
	uint32_t id, expected = HEAP_NONE, place = 0;
	for (struct record r; objects_next(&w, &r, &id, true) && !progress_stops(b->progress, 4 * w.number);) {
		if (id == HEAP_NONE)
			continue;
		if (id != expected)
			place = bits_rank(&b->heap->sized, id);
		expected = id + 1;
		if (!needs_extent(b, s->part, &r))
			continue;
		keep_extent(b, place++, &r);
		any_length |= r.length != LENGTH_UNKNOWN;
	}
	if (any_length)
		b->any_length = true;
	return progress_check(b->progress, err);
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
	code = parallel_run(0, b->n_slices, keep_extents_of_slice, b, err);
	if (!b->any_length) {
		big_free(h->own_length);
		h->own_length = NULL;
	}
	return code < 0 ? code : sort(h->wide, h->n_wide, sizeof *h->wide, by_id, err);
}

static void count_kinds(struct build *b)
{
	struct heap *h = b->heap;
	for (unsigned i = 0; i < b->n_parts; i++) {
		const uint32_t *n = b->parts[i].sums.n_kind;
		h->n_instances += n[RECORD_INSTANCE];
		h->n_object_arrays += n[RECORD_OBJECT_ARRAY];
		h->n_primitive_arrays += n[RECORD_PRIMITIVE_ARRAY];
		h->n_class_objects += n[RECORD_CLASS];
	}
}

int build_class_room(struct heap *h, uint64_t n, struct err *err)
{
	if (n <= CLASSES_LOW || h->class_high)
		return 0;
	h->class_high = big_alloc(h->n_objects, sizeof *h->class_high, err);
	return h->class_high ? 0 : ERR_NOMEM;
}

int objects_scatter(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	h->class_low = big_alloc(h->n_objects, sizeof *h->class_low, err);
	int code = h->class_low ? build_class_room(h, (uint64_t)handle_of_class_objects(b) + 1, err) : ERR_NOMEM;
	if (code == 0)
		code = bits_init(&h->sized, h->n_objects, err);
	b->degrees = code ? NULL : big_alloc(h->n_objects, sizeof *b->degrees, err);
	if (!b->degrees)
		return ERR_NOMEM;
	settle_handles(b);
	if (b->n_records != h->n_objects)
		find_duplicates(b);
	code = build_check(b, err);
	if (code < 0)
		return code;
	count_kinds(b);
	code = parallel_run(0, b->n_slices, scatter_slice, b, err);
	if (code == 0)
		code = build_check(b, err);
	if (code == 0)
		code = more_degrees_sort(b->long_degrees, b->n_long_degrees, err);
	if (code == 0)
		code = keep_extents(b, err);
	return code < 0 ? code : build_check(b, err);
}

/* --- sizes that do not follow from classes and lengths -------------------------------------------- */

static int odd_by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct odd *)x)->id, b = ((const struct odd *)y)->id;
	return (a > b) - (a < b);
}

/* One of the n_wide that are sorted has the array, or a new one gets it. */
static int list_array(struct heap *h, size_t n_wide, uint32_t id, uint64_t size, struct err *err)
{
	size_t at;
	BISECT(at, n_wide, h->wide[at].id < id);
	if (at < n_wide && h->wide[at].id == id) {
		h->wide[at].size = size;
		return 0;
	}
	uint32_t *length = &h->own_length[bits_rank(&h->sized, id)], own = *length;
	if (own == OWN_WIDE)
		return 0; /* another record of this address */
	*length = OWN_WIDE;
	return BIG_ADD(h->wide, h->n_wide, h->cap_wide, err,
	    (struct wide){ id, size, own == OWN_UNKNOWN ? LENGTH_UNKNOWN : own });
}

static int list_odd(struct heap *h, const struct odd_record *r, size_t n_wide, size_t *cap_odd, struct err *err)
{
	uint32_t id = index_find(h->index, r->address);
	if (id == HEAP_NONE)
		return 0;
	if (r->size != SIZE_UNKNOWN && bits_get(&h->sized, id))
		return list_array(h, n_wide, id, r->size, err);
	h->classes[heap_class_index(h, id)].sizes_vary |= r->size != SIZE_UNKNOWN;
	return BIG_ADD(h->odd, h->n_odd, *cap_odd, err, (struct odd){ id, r->size });
}

/* Two records may have one address. */
static void drop_doubles(struct heap *h)
{
	size_t n = 0;
	for (size_t i = 0; i < h->n_odd; i++)
		if (!n || h->odd[n - 1].id != h->odd[i].id)
			h->odd[n++] = h->odd[i];
	h->n_odd = n;
}

int objects_list_odd(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	size_t cap_odd = 0, n_wide = h->n_wide;
	int code = 0;
	for (unsigned i = 0; i < b->n_parts; i++)
		for (size_t k = 0; k < b->parts[i].n_odd && code == 0; k++) {
			code = list_odd(h, &b->parts[i].odd[k], n_wide, &cap_odd, err);
			if (build_stops(b, k))
				return build_check(b, err);
		}
	if (code == 0)
		code = sort(h->wide, h->n_wide, sizeof *h->wide, by_id, err);
	if (code == 0)
		code = sort(h->odd, h->n_odd, sizeof *h->odd, odd_by_id, err);
	if (code == 0)
		drop_doubles(h);
	return code;
}
