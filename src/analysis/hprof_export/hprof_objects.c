/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_objects.c - instances and arrays, in the order of addresses. */
#include "analysis/hprof_export/hprof_writing.h"

#include "base/progress.h"
#include "heap/index.h"
#include "heap/value.h"

enum { REPORT_EVERY = 1 << 12 };

/* The targets of an object that are not written yet. */
struct targets {
	const struct heap *h;
	uint64_t at, left;
};

static struct targets targets_of(const struct heap *h, uint32_t id)
{
	return (struct targets){h, adjacency_start(&h->out, id), adjacency_degree(&h->out, id)};
}

static uint64_t next_target(struct targets *t)
{
	if (!t->left)
		return 0;
	t->left--;
	return heap_address(t->h, t->h->out.target[t->at++]);
}

/* --- without values ----------------------------------------------------------------------------- */

static void put_invented(struct hprof_writing *w, uint32_t id, uint32_t class)
{
	struct targets t = targets_of(w->h, id);

	for (uint32_t c = class; c != HEAP_NONE; c = w->plan.classes[c].up) {
		const struct class_plan *p = &w->plan.classes[c];
		for (uint32_t i = 0; i < p->refs; i++)
			hprof_put_id(&w->out, next_target(&t));
		hprof_put_zeros(&w->out, hprof_zeros(&w->plan, p));
	}
	w->done->references_lost += t.left;
}

/* --- with values -------------------------------------------------------------------------------- */

/* Of a record that is shorter than its class has it, what is missing is 0.  An object may refer to more than its
 * class has fields for, where the VM keeps something in it. */
static void put_fields(struct hprof_writing *w, const struct values *v, uint64_t n)
{
	struct field_walk f = {.values = v};
	bool left_out = hprof_left_out(w) == REDACT_ALL || (hprof_left_out(w) == REDACT_STRINGS &&
	    w->h->classes[v->class].address == w->leave_out->string_class);
	uint64_t references = 0, degree = adjacency_degree(&w->h->out, v->id);

	while (values_next_field(&f)) {
		unsigned width = hprof_width(&w->plan, f.field->type);
		if (width > n)
			break;
		hprof_put_number(&w->out, left_out && f.value.type != VALUE_OBJECT ? 0 : f.value.bits, width);
		references += f.value.type == VALUE_OBJECT && f.value.bits;
		n -= width;
	}
	hprof_put_zeros(&w->out, n);
	if (degree > references)
		w->done->references_lost += degree - references;
}

/* Elements as far as the dump has them. */
static void put_elements(struct hprof_writing *w, const struct values *v, enum value_type type, uint64_t n)
{
	unsigned width = hprof_width(&w->plan, type);
	uint64_t held = values_element_type(v) == type ? values_length(v) : 0;

	held = held < n ? held : n;
	for (uint64_t i = 0; i < held; i++)
		hprof_put_number(&w->out, values_element(v, i).bits, width);
	hprof_put_zeros(&w->out, (n - held) * width);
}

/* --- records ------------------------------------------------------------------------------------ */

/* Elements that a record has room for; the rest of a larger array is lost, as in HotSpot's own dumps. */
static uint64_t most_elements(const struct hprof_writing *w, unsigned width)
{
	uint64_t most = (HPROF_SUB_MOST - 2 * w->out.ids - 9) / width;
	return most < INT32_MAX ? most : INT32_MAX;
}

/* As the reader will have it. */
static uint64_t size_of_array(const struct recorded_arrays *a, uint64_t length, unsigned width, bool references)
{
	uint64_t size = (a->header + length * (references ? a->reference : width) + 7) & ~UINT64_C(7);
	if (!length && a->empty)
		return a->empty;
	return size > a->minimum ? size : a->minimum;
}

static uint64_t length_of(struct hprof_writing *w, uint32_t id, unsigned width, bool references)
{
	const struct recorded_arrays *a = &w->plan.arrays;
	uint64_t length = heap_length(w->h, id), degree = references ? adjacency_degree(&w->h->out, id) : 0;

	if (length == LENGTH_UNKNOWN) {
		unsigned element = references ? a->reference : width;
		uint64_t size = heap_shallow(w->h, id);
		w->done->lengths_unknown++;
		length = a->header && size > a->header ? (size - a->header) / element : 0;
	}
	if (length < degree && !w->plan.values)
		length = degree;
	uint64_t most = most_elements(w, width);
	w->done->arrays_clipped += length > most;
	if (a->header)
		w->done->sizes_lost += size_of_array(a, length, width, references) != heap_shallow(w->h, id);
	return length < most ? length : most;
}

static void put_object_array(struct hprof_writing *w, uint32_t id, uint64_t address, uint64_t class,
    const struct values *v)
{
	const unsigned ids = w->out.ids;
	uint64_t n = length_of(w, id, ids, true);

	hprof_begin_sub(&w->out, SUB_OBJECT_ARRAY, 2 * ids + 8 + n * ids);
	hprof_put_id(&w->out, address);
	hprof_put_number(&w->out, EMPTY_TRACE, 4);
	hprof_put_number(&w->out, n, 4);
	hprof_put_id(&w->out, class);
	if (v) {
		put_elements(w, v, VALUE_OBJECT, n);
		return;
	}
	struct targets t = targets_of(w->h, id);
	uint64_t some = t.left < n ? t.left : n;
	for (uint64_t i = 0; i < some; i++)
		hprof_put_id(&w->out, next_target(&t));
	hprof_put_zeros(&w->out, (n - some) * ids);
	w->done->references_lost += t.left;
}

static void put_number_array(struct hprof_writing *w, uint32_t id, uint64_t address, enum value_type type,
    const struct values *v)
{
	unsigned width = hprof_width(&w->plan, type);
	uint64_t n = length_of(w, id, width, false);

	hprof_begin_sub(&w->out, SUB_PRIMITIVE_ARRAY, w->out.ids + 9 + n * width);
	hprof_put_id(&w->out, address);
	hprof_put_number(&w->out, EMPTY_TRACE, 4);
	hprof_put_number(&w->out, n, 4);
	hprof_put_number(&w->out, type, 1);
	bool left_out = hprof_left_out(w) > REDACT_STRINGS || (hprof_left_out(w) == REDACT_STRINGS &&
	    w->leave_out->of_string(w->leave_out->context, address));
	if (v && !left_out)
		put_elements(w, v, type, n);
	else
		hprof_put_zeros(&w->out, n * width);
}

static void put_instance(struct hprof_writing *w, uint32_t id, uint64_t address, uint32_t class,
    const struct values *v)
{
	const struct class_plan *p = &w->plan.classes[class];

	if (w->h->facts.size_rule == SIZES_RECORDED)
		w->done->sizes_lost += heap_shallow(w->h, id) != w->h->classes[class].instance_size;
	hprof_begin_sub(&w->out, SUB_INSTANCE, 2 * w->out.ids + 8 + p->bytes);
	hprof_put_id(&w->out, address);
	hprof_put_number(&w->out, EMPTY_TRACE, 4);
	hprof_put_id(&w->out, p->id);
	hprof_put_number(&w->out, p->bytes, 4);
	if (v)
		put_fields(w, v, p->bytes);
	else
		put_invented(w, id, class);
}

static int put_object(struct hprof_writing *w, uint32_t id, uint64_t address, struct view_walk *walk)
{
	uint32_t class = heap_class_index(w->h, id);
	const struct class_plan *p = &w->plan.classes[class];
	struct values values, *v = NULL;

	if (w->plan.values) {
		int code = values_open_along(&values, w->h, id, walk, w->err);
		if (code)
			return code;
		v = &values;
	}
	switch (w->h->classes[class].kind) {
	case CLASS_OBJECT_ARRAY:
		put_object_array(w, id, address, p->id, v);
		break;
	case CLASS_PRIMITIVE_ARRAY:
		put_number_array(w, id, address, p->element, v);
		break;
	case CLASS_PLAIN: case CLASS_PRIMITIVE:
		put_instance(w, id, address, class, v);
	}
	return 0;
}

int hprof_write_objects(struct hprof_writing *w)
{
	const struct heap *h = w->h;
	struct view_walk walk = {.near = 0};
	struct index_walk addresses;
	uint64_t address;
	int code = 0;

	index_walk_init(&addresses, h->index);
	for (uint32_t id = 0; id < h->n_objects && index_walk_next(&addresses, &address) && !code; id++) {
		if (id % REPORT_EVERY == 0 && (w->out.failed || !progress_add(progress_own(), REPORT_EVERY)))
			return w->out.failed ? 0 : err_cancelled(w->err);
		if (heap_class_index(h, id) == h->java_lang_class && heap_class_mirrored(h, id) != HEAP_NONE)
			continue;
		code = put_object(w, id, address, &walk);
		w->done->objects++;
	}
	return code;
}
