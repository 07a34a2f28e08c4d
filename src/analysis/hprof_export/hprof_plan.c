/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_plan.c - see hprof_plan.h. */
#include "analysis/hprof_export/hprof_plan.h"

#include "base/progress.h"
#include "heap/value.h"
#include "memory/big.h"

#include <string.h>

enum { REFS_MOST = 60000, REFS_USUAL = 32, REFS_BEYOND = 8, SIZE_MOST_TOLD = 1 << 15 };

unsigned hprof_width(const struct hprof_plan *p, enum value_type type)
{
	return type == VALUE_OBJECT ? p->ids : values_size_of(p->h, type);
}

/* --- identifiers -------------------------------------------------------------------------------- */

uint64_t hprof_make_id(struct hprof_plan *p)
{
	do
		p->made = p->made_most - p->made > 8 ? p->made + 8 : 8;
	while (heap_find(p->h, p->made) != HEAP_NONE);
	return p->made;
}

/* Identifiers are addresses, of 4 bytes where these do: then MAT's sizes come nearest to the VM's.  A dump whose
 * values are copied keeps its own width, since these values are addresses, too. */
static void choose_ids(struct hprof_plan *p)
{
	const struct heap *h = p->h;
	uint64_t last = h->n_objects ? heap_address(h, h->n_objects - 1) : 0;
	uint64_t size = h->n_objects ? heap_shallow(h, h->n_objects - 1) : 0;

	p->ids = p->values ? h->facts.word_bits / 8 : last <= UINT32_MAX ? 4 : 8;
	p->made_most = p->ids == 4 ? UINT32_MAX : UINT64_MAX;
	p->made = size < p->made_most - 16 - last ? (last + size + 15) & ~UINT64_C(7) : 0;
}

unsigned hprof_type_named(const char *name, size_t n)
{
	static const enum value_type types[] = {VALUE_BOOLEAN, VALUE_CHAR, VALUE_FLOAT, VALUE_DOUBLE, VALUE_BYTE,
	    VALUE_SHORT, VALUE_INT, VALUE_LONG};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		const char *type = value_type_name(types[i]);
		if (strlen(type) == n && !strncmp(name, type, n))
			return types[i];
	}
	return 0;
}

unsigned hprof_mat_reference(const struct hprof_plan *p)
{
	return p->ids == 4 || p->h->array_rule.reference != 8 ? 4 : 8;
}

/* The heap's rule where it has lengths and one that is true of nearly all arrays.  Else lengths are made of sizes so
 * that MAT gets these sizes again. */
static void choose_array_rule(struct hprof_plan *p)
{
	const struct heap *h = p->h;
	const struct array_rule *r = &h->array_rule;
	unsigned header = 0, reference = hprof_mat_reference(p);

	for (uint32_t i = 0; i < h->n_classes && !header && !h->own_size; i++)
		header = h->classes[i].array_base;
	if (r->reference && r->alignment == 8 && header)
		p->arrays = (struct recorded_arrays){header, r->reference, r->minimum, r->empty};
	else if (!h->own_length)
		p->arrays = (struct recorded_arrays){p->ids + reference + 4, reference, 0, 0};
}

static enum value_type element_of(const struct heap_class *c)
{
	unsigned type = hprof_type_named(c->name, strcspn(c->name, "["));

	if (type)
		return (enum value_type)type;
	return c->element_size == 8 ? VALUE_LONG : c->element_size == 4 ? VALUE_INT :
	    c->element_size == 2 ? VALUE_SHORT : VALUE_BYTE;
}

/* A class without a class object in the heap gets a record if it has instances, but for what cairn calls a class:
 * <filler>.  Where the dump records no superclasses, java.lang.Object is the
 * one of all: other programs take a class without any for that one. */
static void choose_id(struct hprof_plan *p, uint32_t class, uint32_t object)
{
	const struct heap_class *c = &p->h->classes[class];
	struct class_plan *to = &p->classes[class];

	to->element = c->kind == CLASS_PRIMITIVE_ARRAY ? element_of(c) : VALUE_OBJECT;
	to->up = HEAP_NONE;
	to->super = c->superclass;
	if (!p->h->facts.references_superclass_recorded && class != object && c->kind != CLASS_PRIMITIVE)
		to->super = object;
	if (c->object != HEAP_NONE)
		to->id = heap_address(p->h, c->object);
	else if (c->n_objects && class != p->h->java_lang_class && (c->kind != CLASS_PRIMITIVE_ARRAY ||
	    hprof_type_named(c->name, strcspn(c->name, "[")))) {
		to->id = hprof_make_id(p);
		p->n_made++;
	}
}

/* --- fields ------------------------------------------------------------------------------------- */

/* The most references of an instance, into refs of its class; those of all of them, into sums. */
static int count_references(struct hprof_plan *p, uint64_t *sums, struct err *err)
{
	const struct heap *h = p->h;

	for (uint32_t id = 0; id < h->n_objects; id++) {
		uint32_t class = heap_class_index(h, id);
		uint64_t n = adjacency_degree(&h->out, id);
		if (progress_own_stops(id))
			return err_cancelled(err);
		if (h->classes[class].kind != CLASS_PLAIN ||
		    (class == h->java_lang_class && heap_class_mirrored(h, id) != HEAP_NONE))
			continue;
		sums[class] += n;
		if (n > p->classes[class].refs)
			p->classes[class].refs = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	}
	return 0;
}

/* All instances get as many fields as the one with most references.  One with far more than its size has room for would
 * make the file grow with the square of the dump: what is beyond is lost. */
static uint64_t most_references(const struct heap_class *c, uint64_t sum)
{
	uint64_t fit = c->instance_size == SIZE_UNKNOWN ? REFS_USUAL : c->instance_size / 4;
	return c->n_objects ? fit + REFS_USUAL + REFS_BEYOND * (sum / c->n_objects) : 0;
}

static int limit_references(struct hprof_plan *p, struct err *err)
{
	uint64_t *sums = big_alloc(p->h->n_classes, sizeof *sums, err);
	int code = sums ? count_references(p, sums, err) : ERR_NOMEM;

	for (uint32_t i = 0; code == 0 && i < p->h->n_classes; i++) {
		uint64_t most = most_references(&p->h->classes[i], sums[i]);
		if (p->classes[i].refs > most)
			p->classes[i].refs = (uint32_t)most;
	}
	big_free(sums);
	return code;
}

uint32_t hprof_numbers(uint64_t size, uint64_t without)
{
	return size <= SIZE_MOST_TOLD && size >= without + 8 ? (uint32_t)(size - 4 - without) & ~3u : 0;
}

/* All references of an instance, less those that its superclasses have; then numbers up to its size. */
static void invent(struct hprof_plan *p, uint32_t class, uint64_t inherited)
{
	const struct heap_class *c = &p->h->classes[class];
	struct class_plan *to = &p->classes[class], *super = to->super == HEAP_NONE ? NULL : &p->classes[to->super];
	unsigned reference = hprof_mat_reference(p);

	to->refs = to->refs > inherited ? to->refs - (uint32_t)inherited : 0;
	to->refs = to->refs < REFS_MOST ? to->refs : REFS_MOST;
	to->referent = !strcmp(c->name, "java.lang.ref.Reference"); /* VisualVM finds no retained size without it */
	if (super)
		to->up = hprof_invented(super) ? to->super : super->up;
	/* MAT does not count fields of Object */
	to->as_mat = super ? super->as_mat + (to->refs + to->referent) * reference : p->ids + reference;
	if (super && c->kind == CLASS_PLAIN)
		to->numbers = hprof_numbers(c->instance_size, to->as_mat);
	to->as_mat = (to->as_mat + to->numbers + reference - 1) & ~(uint64_t)(reference - 1);
	to->bytes = (super ? super->bytes : 0) + (uint64_t)to->refs * p->ids +
	    hprof_zeros(p, to);
}

static void add_up(struct hprof_plan *p, uint32_t class)
{
	const struct heap_class *c = &p->h->classes[class];

	uint32_t super = p->classes[class].super;

	p->classes[class].bytes = super == HEAP_NONE ? 0 : p->classes[super].bytes;
	for (uint32_t i = 0; i < c->n_fields; i++)
		p->classes[class].bytes += hprof_width(p, c->fields[i].type);
}

/* Superclasses first; their chains may be long and have no circles. */
static int plan_fields(struct hprof_plan *p, struct err *err)
{
	const struct heap *h = p->h;
	uint32_t *chain = big_alloc(h->n_classes, sizeof *chain, err);
	/* of an instance, with inherited ones; and 1 */
	uint64_t *references = chain ? big_alloc(h->n_classes, sizeof *references, err) : NULL;

	for (uint32_t i = 0; references && i < h->n_classes; i++) {
		uint32_t n = 0;
		for (uint32_t c = i; c != HEAP_NONE && !references[c] && n < h->n_classes; c = p->classes[c].super)
			chain[n++] = c;
		while (n-- > 0) {
			uint32_t c = chain[n], super = p->classes[c].super;
			uint64_t inherited = super == HEAP_NONE ? 0 : references[super] - 1;
			if (p->values)
				add_up(p, c);
			else
				invent(p, c, inherited);
			references[c] = inherited + p->classes[c].refs + 1;
		}
	}
	big_free(chain);
	big_free(references);
	return references ? 0 : ERR_NOMEM;
}

int hprof_plan_make(struct hprof_plan *p, const struct heap *h, struct err *err)
{
	bool held = values_held(h) || h->n_objects == h->n_class_objects;
	*p = (struct hprof_plan){.h = h, .values = held && h->facts.values == DECLARED_FIELDS,
	    .classes = big_alloc(h->n_classes, sizeof *p->classes, err)};
	if (!p->classes)
		return ERR_NOMEM;
	choose_ids(p);
	choose_array_rule(p);
	uint32_t object = values_class_named(h, "java.lang.Object");
	for (uint32_t i = 0; i < h->n_classes; i++)
		choose_id(p, i, object);
	int code = p->values ? 0 : limit_references(p, err);
	return code ? code : plan_fields(p, err);
}

void hprof_plan_release(struct hprof_plan *p)
{
	big_free(p->classes);
}
