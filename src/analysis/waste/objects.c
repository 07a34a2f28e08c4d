/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objects.c - objects equal in all fields, fields that are the same everywhere, and what alignment costs. */
#include "analysis/waste/work.h"

#include "algorithms/sort.h"
#include "base/progress.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <string.h>

/* --- equal objects ------------------------------------------------------------------------------ */

/* Out of a record in which other bytes are between fields: a lock, a hash. */
static bool gather_fields(struct equal_walk *w, uint32_t id, struct equal_content *out)
{
	struct values v;
	struct field_walk f = { .values = &v };
	uint64_t n = 0;
	if (values_open_along(&v, w->heap, id, &w->view, NULL) || v.is_class)
		return false;
	while (values_next_field(&f)) {
		if (f.missing || n == EQUAL_FIELDS)
			return false;
		w->field[n++] = f.value.bits;
	}
	*out = (struct equal_content){.bytes = (const uint8_t *)w->field, .n = n * sizeof *w->field, .array = id,
	    .with = heap_class_index(w->heap, id), .copied = true};
	return n > 0;
}

static bool read_fields(struct equal_walk *w, uint32_t id, struct equal_content *out)
{
	struct object_view view;
	if (heap_class_of(w->heap, id)->taken)
		return gather_fields(w, id, out);
	if (heap_view_along(w->heap, id, &w->view, &view, NULL) || view.kind != OBJECT_INSTANCE || !view.n_bytes)
		return false;
	*out = (struct equal_content){.bytes = view.bytes, .n = view.n_bytes, .array = id,
	    .with = heap_class_index(w->heap, id)};
	return true;
}

int waste_of_objects(struct waste_work *w, struct err *err)
{
	static const struct waste_same same = {ROLE_PLAIN, WASTE_OBJECTS, read_fields, NULL};
	return waste_find_same(w, &same, err);
}

/* --- fields that are the same in all instances -------------------------------------------------- */

enum { INSTANCES_LEAST = 1001, FIELDS_MOST = 1 << 20, SUPERCLASSES_MOST = 200 };

/* A field as instances of one class have it. */
struct slot {
	uint32_t declared_in, number; /* of the class that declares it */
	uint64_t offset;
	unsigned bytes;
	bool differs; /* set by any thread */
};

struct comparing {
	const struct heap *heap;
	struct slot *slot;
	size_t n, cap;
	size_t *first;          /* by class: its first slot; one more */
	uint64_t *end;          /* by class: bytes of a whole record */
	const uint8_t **record; /* by class: the bytes of one instance, whichever */
	uint32_t *same;         /* by class: fields that did not differ yet */
	struct whole {          /* by declared field: of all classes that have it */
		const uint8_t *value;
		uint64_t objects, shallow;
		bool differs;
	} *whole;
	size_t *whole_of;       /* by class: its first declared field */
	size_t n_wholes;
};

static int list_slots(struct comparing *c, uint32_t class, struct err *err)
{
	const struct heap *h = c->heap;
	uint64_t below = 0, *end = &c->end[class];
	if (h->classes[class].kind != CLASS_PLAIN || !h->classes[class].n_objects)
		return 0;
	for (unsigned deep = 0; class != HEAP_NONE && deep < SUPERCLASSES_MOST; deep++) {
		const struct heap_class *at = &h->classes[class];
		for (uint32_t i = 0; i < at->n_fields && c->n < FIELDS_MOST; i++) {
			struct slot *to = BIG_PUSH(c->slot, c->n, c->cap, err);
			if (!to)
				return ERR_NOMEM;
			*to = (struct slot){class, i, below + at->fields[i].offset, values_size_of(h, at->fields[i].type), false};
			*end = *end > to->offset + to->bytes ? *end : to->offset + to->bytes;
		}
		below += at->fields_size;
		class = at->superclass;
	}
	return 0;
}

static int begin_comparing(struct comparing *c, const struct heap *h, struct err *err)
{
	int code = 0;
	*c = (struct comparing){.heap = h};
	c->first = big_alloc((uint64_t)h->n_classes + 1, sizeof *c->first, err);
	c->end = big_alloc(h->n_classes, sizeof *c->end, err);
	c->record = big_alloc(h->n_classes, sizeof *c->record, err);
	c->same = big_alloc(h->n_classes, sizeof *c->same, err);
	c->whole_of = big_alloc(h->n_classes, sizeof *c->whole_of, err);
	if (!c->first || !c->end || !c->record || !c->same || !c->whole_of)
		return ERR_NOMEM;
	for (uint32_t class = 0; class < h->n_classes && !code; class++) {
		c->first[class] = c->n;
		c->whole_of[class] = c->n_wholes;
		c->n_wholes += h->classes[class].n_fields;
		code = list_slots(c, class, err);
		c->same[class] = (uint32_t)(c->n - c->first[class]);
		if (progress_own_stops(64 * (uint64_t)class))
			code = err_cancelled(err);
	}
	c->first[h->n_classes] = c->n;
	if (!code && !(c->whole = big_alloc(c->n_wholes, sizeof *c->whole, err)))
		code = ERR_NOMEM;
	return code;
}

static void end_comparing(struct comparing *c)
{
	big_free(c->slot);
	big_free(c->first);
	big_free(c->end);
	big_free(c->record);
	big_free(c->same);
	big_free(c->whole);
	big_free(c->whole_of);
}

static int look(struct waste_stretch *s, uint32_t id, struct err *err)
{
	struct comparing *c = s->context;
	uint32_t class = heap_class_index(c->heap, id);
	const uint8_t *none = NULL;
	struct object_view view;
	(void)err;
	if (!__atomic_load_n(&c->same[class], __ATOMIC_RELAXED) ||
	    heap_view_along(c->heap, id, &s->view, &view, NULL) || view.kind != OBJECT_INSTANCE)
		return 0;
	bool whole = c->end[class] <= view.n_bytes; /* a broken record proves nothing */
	if (whole && __atomic_compare_exchange_n(&c->record[class], &none, view.bytes, false, __ATOMIC_RELAXED,
	        __ATOMIC_RELAXED))
		return 0;
	for (size_t i = c->first[class]; i < c->first[class + 1]; i++) {
		struct slot *slot = &c->slot[i];
		if (__atomic_load_n(&slot->differs, __ATOMIC_RELAXED) ||
		    (whole && !memcmp(none + slot->offset, view.bytes + slot->offset, slot->bytes)))
			continue;
		if (!__atomic_exchange_n(&slot->differs, true, __ATOMIC_RELAXED))
			__atomic_fetch_sub(&c->same[class], 1, __ATOMIC_RELAXED);
	}
	return 0;
}

/* What all classes that have a declared field say of it. */
static void join_classes(struct comparing *c)
{
	const struct heap *h = c->heap;
	for (uint32_t class = 0; class < h->n_classes; class++) {
		for (size_t i = c->first[class]; i < c->first[class + 1]; i++) {
			const struct slot *slot = &c->slot[i];
			struct whole *w = &c->whole[c->whole_of[slot->declared_in] + slot->number];
			const uint8_t *value = c->record[class] ? c->record[class] + slot->offset : NULL;
			w->objects += h->classes[class].n_objects;
			w->shallow += h->classes[class].shallow;
			w->differs |= slot->differs || !value || (w->value && memcmp(w->value, value, slot->bytes));
			w->value = w->value ? w->value : value;
		}
	}
}

static int add_field(struct waste_work *w, const struct comparing *c, uint32_t class, uint32_t number, struct err *err)
{
	const struct heap_field *field = &c->heap->classes[class].fields[number];
	const struct whole *whole = &c->whole[c->whole_of[class] + number];
	unsigned bytes = field->type == VALUE_OBJECT ? waste_reference(c->heap) : values_size_of(c->heap, field->type);
	if (bytes < c->heap->facts.field_least)
		bytes = c->heap->facts.field_least;
	if (whole->differs || whole->objects < INSTANCES_LEAST)
		return 0;
	return BIG_ADD(w->of_class, w->n_of_class, w->cap_of_class, err, (struct waste_of_class){class,
	    field->name, {whole->objects, whole->shallow, whole->objects * bytes}});
}

int waste_of_fields(struct waste_work *w, struct err *err)
{
	unsigned roles = 0;
	struct comparing c;
	for (unsigned r = ROLE_PLAIN; r < ROLE_OBJECT_ARRAY; r++)
		roles |= 1U << r;
	int code = begin_comparing(&c, w->heap, err);
	w->n_of_class = 0;
	if (!code)
		code = waste_look(w, roles, look, &c, err);
	if (!code)
		join_classes(&c);
	for (uint32_t class = 0; !code && class < w->heap->n_classes; class++)
		for (uint32_t i = 0; !code && i < w->heap->classes[class].n_fields; i++)
			code = progress_own_stops(i) ? err_cancelled(err) : add_field(w, &c, class, i, err);
	end_comparing(&c);
	return code;
}

/* --- alignment ---------------------------------------------------------------------------------- */

/* Bytes before an instance's first field: what stands before the length of an array.  0: not known. */
static unsigned header_of(const struct heap *h)
{
	enum { LENGTH_BYTES = 4, FULL_HEADER = 16 };
	for (uint32_t c = 0; c < h->n_classes; c++) {
		const struct heap_class *class = &h->classes[c];
		if (class->kind != CLASS_PRIMITIVE_ARRAY || class->element_size > LENGTH_BYTES ||
		    class->array_base <= LENGTH_BYTES)
			continue;
		unsigned header = class->array_base - LENGTH_BYTES;
		return header > FULL_HEADER ? FULL_HEADER : header;
	}
	return 0;
}

/* Bytes of an instance that are neither header nor fields; 0 where that is unknown. */
static uint64_t room_of(const struct heap *h, uint32_t class, unsigned header)
{
	const struct heap_class *c = &h->classes[class];
	uint64_t bytes = header;
	if (c->kind != CLASS_PLAIN || !c->defined || c->size_measured || c->instance_size == SIZE_UNKNOWN)
		return 0;
	if (c->taken)
		bytes = c->taken;
	for (unsigned deep = 0; !c->taken && class != HEAP_NONE && deep < SUPERCLASSES_MOST; deep++) {
		const struct heap_class *at = &h->classes[class];
		for (uint32_t i = 0; i < at->n_fields; i++)
			bytes += at->fields[i].type == VALUE_OBJECT ? waste_reference(h) : values_size_of(h, at->fields[i].type);
		class = at->superclass;
	}
	return bytes < c->instance_size ? c->instance_size - bytes : 0;
}

/* The same, but where the VM has fields of its own in there, or keeps threads apart (@Contended): then it is more than
 * alignment takes. */
static uint64_t loss_of(const struct heap *h, uint32_t class, unsigned header)
{
	uint64_t room = room_of(h, class, header);
	for (unsigned deep = 0; room && class != HEAP_NONE && deep < SUPERCLASSES_MOST; deep++) {
		if (heap_class_has_no_loader(&h->classes[class]) && room_of(h, class, header) >= h->array_rule.alignment)
			return 0;
		class = h->classes[class].superclass;
	}
	return room;
}

/* Instances of each class that have the size which it says.  big memory, the caller's; NULL: there is none. */
static uint32_t *count_usual(const struct heap *h, struct err *err)
{
	uint32_t *n = big_alloc(h->n_classes, sizeof *n, err);
	for (uint32_t class = 0; n && class < h->n_classes; class++)
		n[class] = h->classes[class].n_objects;
	for (size_t i = 0; n && i < h->n_odd; i++)
		n[heap_class_index(h, h->odd[i].id)]--;
	return n;
}

int waste_of_alignment(struct waste_work *w, struct err *err)
{
	const struct heap *h = w->heap;
	unsigned header = header_of(h);
	uint32_t *n = count_usual(h, err);
	int code = n ? 0 : ERR_NOMEM;
	w->n_of_class = 0;
	for (uint32_t class = 0; code == 0 && header && class < h->n_classes; class++) {
		if (progress_own_stops(64 * (uint64_t)class)) {
			code = err_cancelled(err);
			break;
		}
		uint64_t loss = n[class] && class != h->java_lang_class ? loss_of(h, class, header) : 0;
		if (loss)
			code = BIG_ADD(w->of_class, w->n_of_class, w->cap_of_class, err, (struct waste_of_class){class, NULL,
			    {n[class], n[class] * h->classes[class].instance_size, n[class] * loss}});
	}
	big_free(n);
	return code;
}
