/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_arrays.c - where the elements of arrays are, and how many bytes an array takes.
 *
 * Mostly they follow the head.  Collectors with regions split large arrays: a spine has the addresses of leaves, of
 * which the last may be a part of the spine; or all elements are outside of the heap, at an address that the head has.
 * After GC_ArrayletObjectModel of runtime/gc_glue_java and GCArrayletObjectModelBase of DDR_VM.
 */
#include "dump/j9core/j9core_read.h"

#include "dump/facts.h"

enum { LEAF_LEAST = 64, HASH_BYTES = 4 };

static uint64_t whole_size(const struct j9core *j, uint64_t bytes)
{
	return j9_rounded(bytes < J9_LEAST ? J9_LEAST : bytes, j->alignment);
}

void j9_read_array_model(struct j9core *j)
{
	uint64_t extensions = j9_get(j, j->vm, AT_VM_EXTENSIONS), leaf = j9_get(j, j->vm, AT_VM_LEAF_SIZE);
	uint64_t model = extensions + j->at[AT_EXTENSIONS_ARRAYS].offset;
	struct j9_array_model *m = &j->arrays;

	*m = (struct j9_array_model){.largest = UINT64_MAX};
	if (!j->has[AT_EXTENSIONS_ARRAYS] || !j->has[AT_ARRAYS_LARGEST] || leaf < LEAF_LEAST || leaf & (leaf - 1))
		return;
	m->low = j9_get(j, model, AT_ARRAYS_LOW);
	m->high = j9_get(j, model, AT_ARRAYS_HIGH);
	m->largest = j9_get(j, model, AT_ARRAYS_LARGEST);
	m->leaf = leaf;
	m->outside = j9_get(j, extensions, AT_EXTENSIONS_OUTSIDE) != 0;
	m->grows = j9_get(j, extensions, AT_EXTENSIONS_BALANCED) ? j->alignment : 0;
	m->one_more = j9_constant(j, "DDRAlgorithmVersions", "ALG_GC_ARRAYLET_OBJECT_MODEL_VERSION", 1) < 2;
}

/* Leaves for so many bytes. */
static uint64_t leaves(const struct j9_array_model *m, uint64_t bytes)
{
	bytes += m->one_more;
	return bytes / m->leaf + (bytes % m->leaf != 0);
}

/* Would elements of so many bytes fit behind the head? */
static bool fits(const struct j9core *j, uint64_t bytes, uint64_t grows)
{
	const struct j9_array_model *m = &j->arrays;
	return m->largest == UINT64_MAX || (m->largest > grows + j->head && bytes <= m->largest - grows - j->head);
}

static uint64_t spine(const struct j9core *j, enum j9_array_form form, uint64_t bytes)
{
	const struct j9_array_model *m = &j->arrays;

	if (form == J9_BEHIND_HEAD)
		return j->head + bytes;
	if (form == J9_OUTSIDE)
		return j->head;
	uint64_t padding = j->slot < j->word ? j->alignment - j->slot : 0;
	uint64_t addresses = bytes ? padding + leaves(m, bytes) * j->slot : 0;
	return j->split_head + addresses + (form == J9_LAST_IN_SPINE ? bytes % m->leaf : 0);
}

/* What becomes of an array whose head does not have its length where it mostly is. */
static enum j9_array_form form_of(const struct j9core *j, uint64_t address, uint64_t bytes)
{
	const struct j9_array_model *m = &j->arrays;

	if (!bytes)
		return J9_IN_LEAVES;
	if (address < m->low || address >= m->high || fits(j, bytes, m->grows))
		return J9_BEHIND_HEAD;
	if (m->outside)
		return J9_OUTSIDE;
	if (bytes % m->leaf == 0)
		return J9_IN_LEAVES;
	uint64_t whole = j9_rounded(spine(j, J9_LAST_IN_SPINE, bytes), j->alignment) + m->grows;
	return whole <= m->largest ? J9_LAST_IN_SPINE : J9_IN_LEAVES;
}

/* Its length, as it stands in the head where it mostly is (0: elsewhere, or none), and as it is. */
static bool read_length(const struct j9core *j, struct j9_object *o, uint64_t *raw)
{
	if (o->n_bytes >= j->slot + 8) {
		*raw = core_number(j->core, o->bytes + j->slot, 4);
		o->length = *raw ? *raw : core_number(j->core, o->bytes + j->slot + 4, 4);
	} else {
		if (!core_load(j->core, o->address + j->slot, 4, raw))
			return false;
		o->length = *raw;
		if (!*raw && !core_load(j->core, o->address + j->slot + 4, 4, &o->length))
			return false;
	}
	return o->length <= INT32_MAX;
}

/* Bytes of elements elsewhere.  Those that the core does not have are not counted: the length may be any number. */
static uint64_t elsewhere(const struct j9core *j, const struct j9_object *o, uint64_t exact, uint64_t whole)
{
	const struct j9_array_model *m = &j->arrays;
	uint64_t n, last = o->form == J9_LAST_IN_SPINE ? whole - whole % m->leaf : exact;

	if (o->form == J9_BEHIND_HEAD || !last)
		return 0;
	uint64_t at = j9core_elements(j, o, last - 1, &n);
	if (!at || !core_bytes(j->core, at, &n))
		return 0;
	if (o->form == J9_OUTSIDE)
		return whole;
	return (leaves(m, whole) - (o->form == J9_LAST_IN_SPINE ? 1 : m->one_more)) * m->leaf;
}

bool j9_measure_array(const struct j9core *j, struct j9_object *o, uint64_t *bytes, uint64_t *hash_at)
{
	uint64_t raw;

	if (!read_length(j, o, &raw))
		return false;
	uint64_t exact = o->length << o->class->shift, whole = j9_rounded(exact, j->word);
	o->form = !raw ? form_of(j, o->address, whole) :
	    j->arrays.outside && !fits(j, whole, j->alignment) ? J9_OUTSIDE : J9_BEHIND_HEAD;
	*bytes = spine(j, o->form, whole);
	*hash_at = j9_rounded(spine(j, o->form, exact), HASH_BYTES);
	o->elsewhere = o->form == J9_BEHIND_HEAD ? 0 : elsewhere(j, o, exact, whole);
	return true;
}

bool j9core_size_follows(const struct j9core *j, const struct j9_object *o)
{
	const struct j9_class *c = o->class;

	if (!c->array)
		return o->size == c->whole;
	if (!c->named_width)
		return false;
	if (!o->length)
		return o->size == whole_size(j, j->split_head);
	return !o->elsewhere && o->size == whole_size(j, j->head + (o->length << c->shift));
}

void j9core_array_sizes(const struct j9core *j, struct recorded_arrays *to)
{
	*to = (struct recorded_arrays){.header = j->head, .reference = j->slot, .minimum = (unsigned)whole_size(j, 0),
	    .empty = (unsigned)whole_size(j, j->split_head), .alignment = j->alignment};
}

uint64_t j9core_elements(const struct j9core *j, const struct j9_object *o, uint64_t from, uint64_t *n)
{
	uint64_t all = o->length << o->class->shift, at;

	*n = from < all ? all - from : 0;
	if (!*n)
		return 0;
	switch (o->form) {
	case J9_OUTSIDE:
		at = j9_get(j, o->address, j->slot < j->word ? AT_ARRAY_OUTSIDE : AT_FULL_ARRAY_OUTSIDE);
		return at ? at + from : 0;
	case J9_IN_LEAVES:
	case J9_LAST_IN_SPINE:
		at = j9core_reference(j, o->address + j->split_head + from / j->arrays.leaf * j->slot);
		from %= j->arrays.leaf;
		*n = *n < j->arrays.leaf - from ? *n : j->arrays.leaf - from;
		return at ? at + from : 0;
	default:
		return o->address + j->head + from;
	}
}
