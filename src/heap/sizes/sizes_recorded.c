/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes_recorded.c - shallow sizes where the dump records most of them.
 *
 * OpenJ9 PHD.  The class record states the size of instances; it is rounded up to the object
 * alignment and to the minimum object size at least.  Class objects have the size of
 * java.lang.Class's instances.  From version 6 on arrays carry their size.  Before, it follows from
 * the length, with a header and a reference width that the dump does not state: those that fit the
 * distances between neighbouring objects best are taken, and heap.size_model says how well they
 * fit.  Where arrays carry their sizes, these follow from the lengths as well for all but a few
 * arrays (hashed ones, huge ones), so only those few are stored.
 *
 * Classic dumps print every size.
 *
 * Eclipse MAT has rules of its own for PHD (size_as_mat): arrays of version 5 follow from the
 * pointer width, class objects count twice, instances are rounded up to 8 bytes.
 */
#include "heap/sizes/sizes_rules.h"

#include "memory/arena.h"

#include "algorithms/bits.h"
#include "algorithms/sort.h"
#include "base/progress.h"
#include "dump/facts.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "memory/big.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return to ? (n + to - 1) / to * to : n;
}

/* --- instances ---------------------------------------------------------------------------------- */

/* java.lang.Object, that of the boot loader before others; or HEAP_NONE. */
static uint32_t find_java_lang_object(const struct heap *h)
{
	uint32_t found = HEAP_NONE;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		if (strcmp(h->classes[i].name, "java.lang.Object"))
			continue;
		if (heap_class_has_no_loader(&h->classes[i]))
			return i;
		if (found == HEAP_NONE)
			found = i;
	}
	return found;
}

static void round_instance_sizes(struct heap *h, unsigned alignment, unsigned minimum)
{
	const struct dump_facts *f = &h->facts;
	/* Java 1.4.2 leaves the header of three words out: then java.lang.Object's size is 0. */
	uint32_t object = find_java_lang_object(h);
	unsigned header = object != HEAP_NONE && h->classes[object].instance_size == 0
	    ? 3 * f->word_bits / 8 : 0;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		struct heap_class *c = &h->classes[i];
		if (c->instance_size == SIZE_UNKNOWN || !f->has_instance_sizes)
			continue;
		c->instance_size = round_up(c->instance_size + header, alignment);
		if (c->instance_size < minimum)
			c->instance_size = minimum;
	}
}

/* --- the array model ---------------------------------------------------------------------------- */

struct array_model {
	unsigned header, reference, minimum, empty; /* bytes; empty: of a zero-length array, 0 as others */
	uint64_t exact, violations;
};
enum { MODELS_MAX = 40 };

static uint64_t model_size(const struct array_model *m, const struct heap_class *c, uint64_t length)
{
	if (length == 0 && m->empty)
		return m->empty;
	uint64_t element = c->kind == CLASS_PRIMITIVE_ARRAY ? c->element_size : m->reference;
	if (length > (UINT64_MAX - 1024) / 8)
		return SIZE_UNKNOWN;
	uint64_t size = round_up(m->header + length * element, 8);
	return size < m->minimum ? m->minimum : size;
}

/* Candidates in the order of preference for ties: layouts that OpenJ9 is known to use come first. */
static unsigned list_models(unsigned word_bits, struct array_model out[MODELS_MAX])
{
	static const unsigned headers_64[] = { 8, 16, 24, 12, 20 }, headers_32[] = { 16, 12, 8, 20, 24 };
	const unsigned *headers = word_bits == 64 ? headers_64 : headers_32;
	unsigned n = 0;
	for (int h = 0; h < 5; h++)
		for (unsigned reference = 4; reference <= word_bits / 8; reference += 4)
			for (unsigned minimum = 16; minimum >= 8; minimum -= 8)
				for (unsigned empty = 0; empty <= (word_bits == 64 ? 24u : 0u); empty += 24)
					out[n++] = (struct array_model){ headers[h], reference, minimum, empty, 0, 0 };
	return n;
}

/* Enough pairs of neighbours to tell models apart, spread over the whole heap. */
enum { NEIGHBOURS_WANTED = 200000 };

static const struct array_model *choose_model(const struct heap *h, struct array_model *models,
    unsigned n_models, uint64_t *n_pairs)
{
	struct index_walk walk;
	index_walk_init(&walk, h->index);
	uint64_t address = 0, next = 0;
	uint32_t stride = h->n_sized / NEIGHBOURS_WANTED + 1, n_arrays = 0;
	*n_pairs = 0;
	bool more = index_walk_next(&walk, &address);
	struct progress *work = progress_own();
	for (uint32_t id = 0; more && (more = index_walk_next(&walk, &next)); id++, address = next) {
		if (progress_stops(work, 16 * (uint64_t)id))
			break;
		const struct heap_class *c = &h->classes[heap_class_index(h, id)];
		if (!bits_get(&h->sized, id) || n_arrays++ % stride)
			continue;
		uint64_t length = heap_length(h, id);
		if (length == LENGTH_UNKNOWN)
			continue;
		(*n_pairs)++;
		for (unsigned m = 0; m < n_models; m++) {
			uint64_t size = model_size(&models[m], c, length);
			models[m].exact += size == next - address;
			models[m].violations += size > next - address;
		}
	}
	const struct array_model *best = &models[0];
	for (unsigned m = 1; m < n_models; m++)
		if (models[m].violations < best->violations ||
		    (models[m].violations == best->violations && models[m].exact > best->exact))
			best = &models[m];
	return best;
}

static void set_rule(struct heap *h, unsigned header, struct array_rule rule)
{
	h->array_rule = rule;
	for (uint32_t i = 0; i < h->n_classes; i++)
		h->classes[i].array_base = header;
}

static void model_arrays(struct heap *h)
{
	const struct recorded_arrays *said = &h->facts.arrays;
	if (said->header) {
		set_rule(h, said->header, (struct array_rule){ said->reference, said->alignment ? said->alignment : 8,
		    said->minimum, said->empty });
		return;
	}
	struct array_model models[MODELS_MAX];
	unsigned n_models = list_models(h->facts.word_bits, models);
	uint64_t n_pairs;
	const struct array_model *m = choose_model(h, models, n_models, &n_pairs);
	set_rule(h, m->header, (struct array_rule){ m->reference, 8, m->minimum, m->empty });
	char text[160];
	snprintf(text, sizeof text,
	    "array header %u bytes, references %u bytes, minimum size %u (%llu of %llu arrays end exactly where "
	    "the next object begins)",
	    m->header, m->reference, m->minimum, (unsigned long long)m->exact,
	    (unsigned long long)n_pairs);
	h->size_model = arena_strndup(&h->arena, text, strlen(text));
}

/* --- recorded array sizes ------------------------------------------------------------------------- */

/* How many of the recorded sizes (a sample of them) each model gives. */
static const struct array_model *recorded_model(const struct heap *h, struct array_model *models,
    unsigned n_models)
{
	uint32_t stride = h->n_sized / NEIGHBOURS_WANTED + 1;
	for (uint32_t place = 0; place < h->n_sized; place += stride) {
		if (h->own_length[place] >= OWN_UNKNOWN)
			continue;
		const struct heap_class *c = heap_class_of(h, (uint32_t)bits_select(&h->sized, place));
		for (unsigned m = 0; m < n_models; m++)
			models[m].exact += h->own_size[place] == model_size(&models[m], c, h->own_length[place]);
	}
	const struct array_model *best = &models[0];
	for (unsigned m = 1; m < n_models; m++)
		if (models[m].exact > best->exact)
			best = &models[m];
	return best;
}

/* Whether the recorded size must be kept; a size that the dump leaves out is taken from the model. */
static bool is_exception(const struct heap *h, const struct array_model *m, uint32_t id, uint32_t place)
{
	uint32_t size = h->own_size[place], length = h->own_length[place];
	if (size >= OWN_UNKNOWN || length == OWN_WIDE)
		return false; /* unknown, or kept apart already */
	return length == OWN_UNKNOWN || model_size(m, heap_class_of(h, id), length) != size;
}

static int by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct wide *)x)->id, b = ((const struct wide *)y)->id;
	return (a > b) - (a < b);
}

/* Replace the column of array sizes by the model that gives nearly all of them, four bytes an array. */
static int derive_array_sizes(struct heap *h, struct err *err)
{
	struct array_model models[MODELS_MAX];
	unsigned n_models = list_models(h->facts.word_bits, models);
	const struct array_model *m = recorded_model(h, models, n_models);
	struct wide *exceptions = NULL;
	size_t n = 0, cap = 0;
	uint32_t place = 0;
	uint64_t id;
	int code = 0;
	struct progress *work = progress_own();
	for (struct bits_walk w = bits_walk(&h->sized); bits_next(&w, &id); place++) {
		if (progress_stops(work, place)) {
			code = err_cancelled(err);
			goto out;
		}
		if (is_exception(h, m, (uint32_t)id, place)) {
			uint32_t length = h->own_length[place];
			struct wide *at = BIG_PUSH(exceptions, n, cap, err);
			if (!at) {
				code = ERR_NOMEM;
				goto out;
			}
			*at = (struct wide){
				(uint32_t)id, h->own_size[place], length == OWN_UNKNOWN ? LENGTH_UNKNOWN : length
			};
			if (n > h->n_sized / 8)
				goto out; /* a layout that no model describes: the column is smaller */
		}
	}
	struct wide *wide = big_resize(h->wide, h->n_wide + n, sizeof *wide, err);
	if (!wide) {
		code = ERR_NOMEM;
		goto out;
	}
	h->wide = wide;
	h->cap_wide = h->n_wide + n;
	set_rule(h, m->header, (struct array_rule){ m->reference, 8, m->minimum, m->empty });
	for (size_t i = 0; i < n; i++) {
		h->wide[h->n_wide++] = exceptions[i];
		h->own_length[bits_rank(&h->sized, exceptions[i].id)] = OWN_WIDE;
	}
	code = sort(h->wide, h->n_wide, sizeof *h->wide, by_id, err);
	big_free(h->own_size);
	h->own_size = NULL;
out:
	big_free(exceptions);
	return code;
}

/* --- Eclipse MAT's sizes ------------------------------------------------------------------------ */

/* A 64-bit VM with small objects must have had compressed references. */
static unsigned mat_pointer(const struct heap *h)
{
	uint64_t least = UINT64_MAX;
	for (uint32_t i = 0; i < h->n_classes; i++)
		if (h->classes[i].instance_size && h->classes[i].instance_size < least)
			least = h->classes[i].instance_size;
	return h->facts.word_bits == 32 || least <= 16 ? 4 : 8;
}

static void size_as_mat(struct heap *h)
{
	unsigned pointer = mat_pointer(h);
	round_instance_sizes(h, 8, 0);
	if (h->facts.array_sizes_need_model)
		set_rule(h, 2 * pointer + 8, (struct array_rule){ .reference = pointer, .alignment = 8 });
	struct heap_class *c = &h->classes[h->java_lang_class];
	if (c->instance_size != SIZE_UNKNOWN)
		c->instance_size *= 2;
	h->size_model = "Eclipse MAT's rule: class objects count twice, sizes are rounded up to 8 bytes";
}

/* An export has the size of a class, and no object's own. */
static void doubt_sizes(struct heap *h)
{
	for (uint32_t i = 0; i < h->n_classes; i++)
		h->classes[i].size_doubtful = true;
	h->doubtful_names = "those that keep a hash after they were moved (the exported dump says which)";
}

int sizes_recorded(struct sizes *s, struct err *err)
{
	struct heap *h = s->heap;
	int code = 0;
	h->wide_words = h->facts.wide_words && h->facts.word_bits == 32;
	if (s->as_mat && h->facts.has_instance_sizes) {
		h->n_odd = 0;
		size_as_mat(h);
	} else {
		round_instance_sizes(h, h->facts.object_alignment, h->facts.minimum_object_size);
		if (h->facts.array_sizes_need_model && h->n_sized)
			model_arrays(h);
		else if (h->own_size && h->own_length)
			code = derive_array_sizes(h, err);
		if (h->facts.sizes_inferred)
			doubt_sizes(h);
		if (!code && h->facts.hashed_grow)
			code = sizes_hashed(h, err);
	}
	return code ? code : sizes_count(s, err);
}
