/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classify.c - give objects the classes that follow from the types that the reader finds.
 *
 * Until then an object's class tells its size, and the watcher may be looking at the classes.  So
 * the classes that the reader gives are noted apart, 8 bytes an object, and all take effect
 * together at the end.  Objects of one such class may differ in size: those that differ from the
 * first one of the class keep sizes of their own.
 */
#include "heap/build/build.h"

#include "algorithms/bits.h"
#include "algorithms/sort.h"
#include "base/text.h"
#include "dump/facts.h"
#include "dump/source/source.h"
#include "heap/classes.h"
#include "heap/index.h"
#include "heap/sizes/sizes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE_NO_LENGTH = UINT16_MAX, NOTE_LONG = UINT16_MAX - 1 };

struct long_length {
	uint32_t id;
	uint64_t length;
};

struct classifying {
	struct classifier classifier; /* first: the reader's view of us */
	struct build *build;
	struct heap_class *classes;   /* new ones: the first has the index heap->n_classes */
	uint32_t n_classes, cap_classes;
	struct long_length *lengths;  /* that do not fit a note; behind build->lock */
	size_t n_lengths, cap_lengths;
};

int classify_prepare(struct build *b, struct err *err)
{
	const struct heap *h = b->heap;
	if (!h->dump->reader->memory || !h->n_objects)
		return 0;
	b->notes = big_alloc(h->n_objects, sizeof *b->notes, err);
	return b->notes ? 0 : ERR_NOMEM;
}

void classify_release(struct build *b)
{
	big_free(b->notes);
	b->notes = NULL;
}

/* --- what the reader asks and says ------------------------------------------------------------------ */

static uint32_t object_at(struct classifier *c, uint64_t address, uint64_t *start)
{
	const struct heap *h = ((struct classifying *)c)->build->heap;
	uint32_t id = index_find(h->index, address);
	if (id != HEAP_NONE) {
		*start = address;
		return id;
	}
	return heap_covering(h, address, start);
}

static uint64_t size(struct classifier *c, uint32_t id)
{
	return heap_shallow(((struct classifying *)c)->build->heap, id);
}

static void soon_at(struct classifier *c, uint64_t address)
{
	const struct address_index *x = ((struct classifying *)c)->build->heap->index;
	uint64_t granule = address >> x->granule_shift;
	const struct index_page *p = index_page_of(x, granule >> 16);
	if (p && p->bits) {
		unsigned word = (uint16_t)granule >> 6;
		__builtin_prefetch(p->bits + word);
		__builtin_prefetch((const uint16_t *)(p->bits + 1024) + word);
	}
}

static void soon(struct classifier *c, uint32_t id, bool contents)
{
	const struct build *b = ((struct classifying *)c)->build;
	heap_prefetch_class_index(b->heap, id);
	if (contents)
		__builtin_prefetch(b->notes + id);
}

static const uint8_t *bytes(struct classifier *c, uint32_t id, uint64_t *start, uint64_t *n)
{
	const struct build *b = ((struct classifying *)c)->build;
	const struct heap *h = b->heap;
	const struct object_note *note = &b->notes[id];
	if (start)
		*start = index_address(h->index, id);
	if (n)
		*n = heap_shallow(h, id);
	return h->source->bytes + ((uint64_t)note->high << 32 | note->low);
}

static uint32_t new_class(struct classifier *c, const char *name, enum object_kind kind,
    uint64_t element_size, uint32_t type)
{
	struct classifying *k = (struct classifying *)c;
	struct heap *h = k->build->heap;
	unsigned stride = kind != OBJECT_INSTANCE && element_size <= UINT32_MAX ? (unsigned)element_size : 0;
	struct text escaped = TEXT_INIT;
	text_add_escaped(&escaped, name, strlen(name));
	struct err *lost = &k->build->lost;
	const char *kept = arena_try_strndup(&h->arena, escaped.s, escaped.len, lost);
	text_release(&escaped);
	struct heap_class *at = kept ? BIG_PUSH(k->classes, k->n_classes, k->cap_classes, lost) : NULL;
	if (!at)
		return 0; /* of no consequence: the end of the step tells */
	*at = (struct heap_class){
		.name = kept,
		.object = HEAP_NONE,
		.superclass = HEAP_NONE,
		.loader = HEAP_NONE,
		.component = HEAP_NONE,
		.kind = kind == PRIMITIVE_ARRAY ? CLASS_PRIMITIVE_ARRAY :
		    kind == OBJECT_ARRAY ? CLASS_OBJECT_ARRAY : CLASS_PLAIN,
		.element_size = kind == PRIMITIVE_ARRAY ? stride : 0,
		.stride = stride,
		.instance_size = SIZE_UNKNOWN,
		.type = type,
	};
	return h->n_classes + k->n_classes - 1;
}

static void assign(struct classifier *c, uint32_t id, uint32_t class, uint64_t length,
    enum typed_by by)
{
	struct classifying *k = (struct classifying *)c;
	struct object_note *note = &k->build->notes[id];
	note->has_class = true;
	note->low = class;
	note->high = (uint8_t)by;
	note->length = length == LENGTH_UNKNOWN ? NOTE_NO_LENGTH :
	    length < NOTE_LONG ? (uint16_t)length : NOTE_LONG;
	if (note->length != NOTE_LONG)
		return;
	pthread_mutex_lock(&k->build->lock);
	struct long_length *at = BIG_PUSH(k->lengths, k->n_lengths, k->cap_lengths, &k->build->lost);
	if (at)
		*at = (struct long_length){ id, length };
	pthread_mutex_unlock(&k->build->lock);
}

/* --- taking effect ------------------------------------------------------------------------------------ */

static int by_id(const void *x, const void *y)
{
	uint32_t a = ((const struct long_length *)x)->id, b = ((const struct long_length *)y)->id;
	return (a > b) - (a < b);
}

/* What an object takes by the class that it still has. */
static inline uint64_t size_before(const struct heap *h, uint32_t id)
{
	return bits_get(&h->sized, id) ? heap_shallow(h, id) : heap_class_of(h, id)->instance_size;
}

/* The objects that keep a size of their own, as a new set with its columns. */
struct columns {
	struct bits sized;
	uint32_t n_sized, *own_size, *own_length;
	struct wide *wide;
	size_t n_wide, cap_wide;
	bool any_length; /* that does not follow from the size */
	struct err lost; /* memory that wide did not get */
};

/* The length that follows from the size. */
static inline uint64_t usual_length(const struct heap_class *c, uint64_t size)
{
	return c->stride ? size / c->stride : LENGTH_UNKNOWN;
}

/* The length of an object with a new class; *next: the next of the long ones. */
static inline uint64_t length_of(const struct object_note *note, const struct long_length **next)
{
	return note->length == NOTE_NO_LENGTH ? LENGTH_UNKNOWN :
	    note->length == NOTE_LONG ? (*next)++->length : note->length;
}

/* A class takes the size of the first of its objects; those of another keep theirs, and lengths that
 * do not follow from sizes are kept. */
static int find_sized(const struct classifying *k, struct columns *to, struct err *err)
{
	struct heap *h = k->build->heap;
	const struct long_length *next = k->lengths;
	int code = bits_init(&to->sized, h->n_objects, err);
	for (uint32_t id = 0; code == 0 && id < h->n_objects; id++) {
		const struct object_note *note = &k->build->notes[id];
		bool kept = !note->has_class && bits_get(&h->sized, id);
		if (note->has_class) {
			struct heap_class *class = &h->classes[note->low];
			uint64_t size = size_before(h, id);
			bool odd = length_of(note, &next) != usual_length(class, size);
			if (class->instance_size == SIZE_UNKNOWN)
				class->instance_size = size;
			kept = odd || size != class->instance_size;
			to->any_length |= odd;
			h->typed[note->high].objects++;
			h->typed[note->high].shallow += size;
		}
		if (kept)
			bits_set(&to->sized, id);
		if (progress_stops(k->build->progress, id))
			code = err_cancelled(err);
	}
	if (code == 0)
		code = bits_seal(&to->sized, err);
	if (code < 0)
		return code;
	to->n_sized = (uint32_t)bits_count(&to->sized);
	to->own_size = big_alloc(to->n_sized, sizeof *to->own_size, err);
	if (to->any_length)
		to->own_length = big_alloc(to->n_sized, sizeof *to->own_length, err);
	return to->own_size && (to->own_length || !to->any_length) ? 0 : ERR_NOMEM;
}

/* What those objects keep, and at last the new class of every object. */
static void move_over(const struct classifying *k, struct columns *to)
{
	struct heap *h = k->build->heap;
	const struct long_length *next = k->lengths;
	uint32_t place = 0;
	for (uint32_t id = 0; id < h->n_objects && !build_stops(k->build, id); id++) {
		const struct object_note *note = &k->build->notes[id];
		uint64_t length = note->has_class ? length_of(note, &next) : LENGTH_UNKNOWN;
		if (bits_get(&to->sized, id)) {
			uint64_t size = size_before(h, id);
			bool wide = size >= OWN_UNKNOWN || (length >= OWN_UNKNOWN && length != LENGTH_UNKNOWN);
			struct wide *at = wide ? BIG_PUSH(to->wide, to->n_wide, to->cap_wide, &to->lost) : NULL;
			if (at)
				*at = (struct wide){ id, size, length };
			to->own_size[place] = wide ? OWN_WIDE : (uint32_t)size;
			if (to->own_length)
				to->own_length[place] = wide ? OWN_WIDE :
				    length == LENGTH_UNKNOWN ? OWN_UNKNOWN : (uint32_t)length;
			place++;
		}
		if (note->has_class) {
			heap_set_class_index(h, id, note->low);
			h->typed_by[id] = note->high;
		}
	}
}

static void set_columns(struct build *b, const struct columns *from)
{
	struct heap *h = b->heap;
	bits_release(&h->sized);
	big_free(h->own_size);
	big_free(h->own_length);
	big_free(h->wide);
	h->sized = from->sized;
	h->n_sized = from->n_sized;
	h->own_size = from->own_size;
	h->own_length = from->own_length;
	h->wide = from->wide;
	h->n_wide = from->n_wide;
	h->cap_wide = from->cap_wide;
}

static void count_kinds(struct heap *h)
{
	h->n_instances = h->n_object_arrays = h->n_primitive_arrays = 0;
	for (uint32_t i = 0; i < h->n_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		*(c->kind == CLASS_OBJECT_ARRAY ? &h->n_object_arrays :
		    c->kind == CLASS_PRIMITIVE_ARRAY ? &h->n_primitive_arrays : &h->n_instances) += c->n_objects;
	}
}

static int add_classes(const struct classifying *k, struct err *err)
{
	struct build *b = k->build;
	struct heap *h = b->heap;
	uint64_t n = (uint64_t)h->n_classes + k->n_classes;
	struct heap_class *classes = big_resize(h->classes, n, sizeof *classes, err);
	if (!classes)
		return ERR_NOMEM;
	h->classes = classes;
	b->cap_classes = (uint32_t)n;
	for (uint32_t i = 0; i < k->n_classes; i++)
		h->classes[h->n_classes++] = k->classes[i];
	return build_class_room(h, n, err);
}

static int take_effect(struct classifying *k, struct err *err)
{
	struct build *b = k->build;
	struct heap *h = b->heap;
	struct columns columns = { .n_sized = 0 };

	int code = add_classes(k, err);
	if (code < 0)
		return code;
	code = sort(k->lengths, k->n_lengths, sizeof *k->lengths, by_id, err);
	if (code < 0)
		return code;
	h->typed_by = big_alloc(h->n_objects, sizeof *h->typed_by, err);
	code = h->typed_by ? find_sized(k, &columns, err) : ERR_NOMEM;
	if (code < 0) {
		bits_release(&columns.sized);
		big_free(columns.own_size);
		big_free(columns.own_length);
		return code;
	}
	move_over(k, &columns);
	set_columns(b, &columns);
	classify_release(b);
	if (columns.lost.code) {
		*err = columns.lost;
		return ERR_NOMEM;
	}
	code = build_check(b, err);
	if (code == 0)
		code = sizes_again(b->heap, err);
	count_kinds(h);
	return code;
}

int classify_run(struct build *b, struct err *err)
{
	struct heap *h = b->heap;
	if (!b->notes)
		return 0;
	struct classifying k = {
		.classifier = {
			.n_objects = h->n_objects, .object_at = object_at, .size = size, .soon_at = soon_at,
			.soon = soon, .bytes = bytes,
			.new_class = new_class, .assign = assign,
		},
		.build = b,
	};
	progress_phase(b->progress, PHASE_FIND_TYPES, 0);
	int code = h->dump->reader->memory->classify(h->dump, &k.classifier, b->progress, err);
	if (code == 0)
		code = build_check(b, err);
	if (code == 0 && k.n_classes) {
		bool shown = build_hide(b);
		code = take_effect(&k, err);
		if (code == 0)
			code = heap_order_names(h, err);
		if (code == 0 && shown)
			build_show(b);
	}
	classify_release(b);
	big_free(k.classes);
	big_free(k.lengths);
	return code;
}
