/* SPDX-License-Identifier: GPL-3.0-or-later */
/* typed.c - values by their types: objects, parts, pointers, names, texts; see typed.h. */
#include "heap/typed/typed.h"

#include "dump/program/program.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/classes.h"

#include <inttypes.h>
#include <string.h>

static const struct types *types_of(const struct heap *h)
{
	return h->dump ? h->dump->types : NULL;
}

static const struct type *type_at(const struct heap *h, uint32_t type)
{
	const struct types *t = types_of(h);
	return t && type < t->n ? &t->type[type] : NULL;
}

const char *typed_by_name(enum typed_by by)
{
	static const char *const names[TYPED_BYS] = {
		[TYPED_BY_SHAPE] = "shape",
		[TYPED_BY_FIT] = "fit",
		[TYPED_BY_POINTER] = "pointer",
		[TYPED_BY_FRAME] = "frame",
		[TYPED_BY_GLOBAL] = "global",
		[TYPED_BY_INTERFACE] = "interface",
		[TYPED_BY_RUNTIME] = "runtime",
		[TYPED_BY_HEADER] = "header",
	};
	return by < TYPED_BYS ? names[by] : "?";
}

const struct type *typed_type(const struct typed *v)
{
	return type_at(v->heap, v->type);
}

const char *typed_type_name(const struct heap *h, uint32_t type)
{
	const struct type *t = type_at(h, type);
	return t ? t->name : "?";
}

unsigned typed_word_size(const struct heap *h)
{
	return h->facts.word_bits / 8;
}

/* --- objects ------------------------------------------------------------------------------------ */

bool typed_open(struct typed_object *out, const struct heap *h, uint32_t id)
{
	return typed_open_along(out, h, id, &(struct view_walk){ 0 });
}

bool typed_open_along(
    struct typed_object *out, const struct heap *h, uint32_t id, struct view_walk *walk)
{
	*out = (struct typed_object){ .id = id };
	if (heap_view_along(h, id, walk, &out->view, NULL))
		return false;
	const struct heap_class *c = heap_class_of(h, id);
	const struct type *t = type_at(h, c->type);
	out->value = (struct typed){ h, TYPE_NONE, out->view.bytes, out->view.n_bytes, out->view.address };
	out->array = c->kind == CLASS_OBJECT_ARRAY || c->kind == CLASS_PRIMITIVE_ARRAY;
	uint64_t head = out->view.head, n = out->view.n_bytes - head;
	if (!t || t->size > n)
		return true;
	out->head = head;
	out->value.bytes += head;
	out->value.address += head;
	out->value.size = n;
	uint64_t length = out->array ? heap_length(h, id) : 1;
	out->value.type = c->type;
	out->stride = t->size;
	out->count = !t->size || length <= n / t->size ? length : n / t->size;
	if (length == LENGTH_UNKNOWN && !t->size)
		out->count = 0;
	return true;
}

struct typed typed_element(const struct typed_object *o, uint64_t i)
{
	struct typed v = o->value;
	v.bytes += i * o->stride;
	v.address += i * o->stride;
	v.size = o->array ? o->stride : v.size;
	return v;
}

bool typed_next_slot(const struct typed_object *o, struct slot_walk *w)
{
	const struct dump *d = o->value.heap->dump;
	do {
		if (!d->reader->memory || !d->reader->memory->next_slot(d, &o->view, w))
			return false;
	} while (w->offset < o->head);
	w->offset -= o->head;
	return true;
}

/* --- bytes -------------------------------------------------------------------------------------- */

uint64_t typed_number(const struct typed *v, uint64_t offset, unsigned width)
{
	uint64_t n = 0;
	if (offset > v->size || width > v->size - offset)
		return 0;
	const uint8_t *p = v->bytes + offset;
	for (unsigned i = 0; i < width; i++)
		n = n << 8 | p[v->heap->facts.big_endian ? i : width - 1 - i];
	return n;
}

uint64_t typed_word(const struct typed *v, unsigned i)
{
	unsigned word = typed_word_size(v->heap);
	return typed_number(v, (uint64_t)i * word, word);
}

bool typed_part(const struct typed *v, uint64_t offset, uint32_t type, struct typed *out)
{
	const struct type *t = type_at(v->heap, type);
	if (!t || offset > v->size || t->size > v->size - offset)
		return false;
	*out = (struct typed){ v->heap, type, v->bytes + offset, t->size, v->address + offset };
	return true;
}

bool typed_field(const struct typed *v, const char *name, struct typed *out)
{
	const struct types *t = types_of(v->heap);
	const struct type *type = typed_type(v);
	uint32_t f = type && type->kind == TYPE_STRUCT ? types_field(t, v->type, name) : TYPE_NONE;
	return f != TYPE_NONE && typed_part(v, t->field[f].offset, t->field[f].type, out);
}

uint64_t typed_field_number(const struct typed *v, const char *name)
{
	struct typed f;
	return typed_field(v, name, &f) && f.size <= 8 ? typed_number(&f, 0, (unsigned)f.size) : 0;
}

bool typed_at(const struct heap *h, uint64_t address, uint32_t type, struct typed *out)
{
	const struct type *t = type_at(h, type);
	uint64_t size = t ? t->size : 1, start;
	struct object_view view;
	uint32_t id = address ? heap_covering(h, address, &start) : HEAP_NONE;
	*out = (struct typed){ h, t ? type : TYPE_NONE, NULL, 0, address };
	if (id != HEAP_NONE && !heap_view(h, id, &view, NULL)) {
		if (address - start > view.n_bytes)
			return false;
		out->bytes = view.bytes + (address - start);
		out->size = view.n_bytes - (address - start);
	} else if (address && h->dump->reader->memory) {
		out->bytes = h->dump->reader->memory->bytes(h->dump, address, &out->size);
	}
	return out->bytes && size <= out->size;
}

/* --- pointers ----------------------------------------------------------------------------------- */

struct typed_reference typed_resolve(const struct heap *h, uint64_t address)
{
	struct typed_reference r = { address, HEAP_NONE, 0 };
	uint64_t start;
	if (!address)
		return r;
	r.id = heap_find(h, address); /* an object of no bytes covers nothing */
	if (r.id != HEAP_NONE)
		return r;
	r.id = heap_covering(h, address, &start);
	if (r.id != HEAP_NONE)
		r.offset = address - start;
	uint64_t head = r.offset && r.id != HEAP_NONE ? heap_head(h, r.id) : 0;
	if (r.offset >= head)
		r.offset -= head;
	return r;
}

bool typed_pointer(const struct typed *v, struct typed_reference *out)
{
	const struct type *t = typed_type(v);
	switch (t ? t->kind : TYPE_UNKNOWN) {
	case TYPE_STRING:
	case TYPE_POINTER:
	case TYPE_SLICE:
	case TYPE_MAP:
	case TYPE_CHAN:
	case TYPE_FUNC:
		*out = typed_resolve(v->heap, typed_word(v, 0));
		return true;
	case TYPE_INTERFACE:
	case TYPE_EMPTY_INTERFACE:
		*out = typed_resolve(v->heap, typed_word(v, 1));
		return true;
	default:
		return false;
	}
}

/* A type that only the dump itself has a name for. */
static bool dynamic_by_record(const struct heap *h, uint64_t descriptor, struct text *name)
{
	const struct reader *r = h->dump->reader;
	return name && r->memory && r->memory->type_name(h->dump, descriptor, name);
}

/*
 * Values of one byte in interfaces: the runtime has a table of the numbers below 256, eight bytes each,
 * which nothing writes to (runtime/iface.go: staticuint64s; in a big-endian program the pointer leads to
 * the last byte).  It holds no pointers, so dumps leave it out.
 */
static bool small_value(const struct heap *h, uint64_t address, uint32_t type, struct typed *out)
{
#define EIGHT(i) { i }, { i + 1 }, { i + 2 }, { i + 3 }, { i + 4 }, { i + 5 }, { i + 6 }, { i + 7 }
#define SIXTY_FOUR(i) EIGHT(i), EIGHT(i + 8), EIGHT(i + 16), EIGHT(i + 24), EIGHT(i + 32), \
	EIGHT(i + 40), EIGHT(i + 48), EIGHT(i + 56)
	static const uint8_t numbers[256][8] = {
	    SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128), SIXTY_FOUR(192) };
#undef EIGHT
#undef SIXTY_FOUR
	const struct program *p = h->dump->program;
	const struct program_variable *v = p ? program_variable_at(p, address) : NULL;
	uint64_t i = v ? (address - v->address) / 8 : 256;
	const struct type *t = type_at(h, type);
	if (t && !t->size) {
		*out = (struct typed){ h, type, numbers[0], 0, address };
		return true;
	}
	if (i >= 256 || strcmp(v->name, "runtime.staticuint64s") != 0 || !t || t->size > 8 ||
	    (address - v->address) % 8 != (h->facts.big_endian ? 8 - t->size : 0) ||
	    (h->facts.big_endian && t->size > 1))
		return false;
	*out = (struct typed){ h, type, numbers[i], t->size, address };
	return true;
}

bool typed_dynamic(const struct typed *v, struct typed *out, struct text *name)
{
	const struct heap *h = v->heap;
	const struct reader *r = h->dump->reader;
	const struct types *types = types_of(h);
	const struct type *t = typed_type(v);
	uint64_t descriptor = typed_word(v, 0);
	if (!t || !descriptor)
		return false;
	if (t->kind == TYPE_INTERFACE)
		descriptor = r->memory ? r->memory->itab_type(h->dump, descriptor) : 0;
	uint32_t type = types && descriptor ? types_by_descriptor(types, descriptor) : TYPE_NONE;
	*out = (struct typed){ .heap = h, .type = TYPE_NONE };
	if (type == TYPE_NONE)
		return descriptor && dynamic_by_record(h, descriptor, name);
	if (name)
		text_add(name, types->type[type].name);
	unsigned word = typed_word_size(h);
	if (types_is_direct(types, type))
		return typed_part(v, word, type, out) || types->type[type].size == 0;
	if (!typed_at(h, typed_word(v, 1), type, out) &&
	    !small_value(h, typed_word(v, 1), type, out))
		*out = (struct typed){ .heap = h, .type = TYPE_NONE };
	return true;
}

/* --- names -------------------------------------------------------------------------------------- */

/* The last field that begins at or before an offset and is not empty. */
static const struct type_field *field_at(const struct types *t, const struct type *s, uint64_t offset)
{
	const struct type_field *f = types_fields(t, s), *found = NULL;
	for (uint32_t i = 0; i < s->n_fields; i++) {
		if (f[i].offset <= offset && offset - f[i].offset < t->type[f[i].type].size)
			found = &f[i];
	}
	return found;
}

bool typed_inner(const struct typed *v, uint64_t offset, struct typed *out)
{
	const struct types *t = types_of(v->heap);
	*out = *v;
	for (unsigned depth = 0; depth <= 2 * TYPE_DEPTH; depth++) {
		const struct type *type = typed_type(out);
		if (!type || offset >= type->size)
			return false;
		const struct type_field *f = type->kind == TYPE_STRUCT ? field_at(t, type, offset) : NULL;
		bool array = type->kind == TYPE_ARRAY && type->count && t->type[type->element].size;
		if (!array && !f)
			return type->kind != TYPE_STRUCT;
		uint64_t width = array ? t->type[type->element].size : 0;
		uint64_t begin = array ? offset - offset % width : f->offset;
		if (!typed_part(out, begin, array ? type->element : f->type, out))
			return false;
		offset -= begin;
	}
	return false;
}

bool typed_variable(const struct heap *h, uint64_t address, struct typed *out)
{
	const struct program *p = h->dump ? h->dump->program : NULL;
	const struct program_variable *v = p ? program_variable_at(p, address) : NULL;
	struct typed whole;
	return v && typed_at(h, v->address, v->type, &whole) &&
	    typed_inner(&whole, address - v->address, out);
}

/* Embedded structs are looked through: their fields are the outer one's too. */
static void add_field(const struct type_field *f, const struct types *t, size_t begin, struct text *to)
{
	if (f->embedded && t->type[f->type].kind == TYPE_STRUCT)
		return;
	text_addf(to, "%s%s", to->len > begin ? "." : "", f->name);
}

void typed_path(const struct typed_object *o, uint64_t offset, struct text *to)
{
	const struct types *t = types_of(o->value.heap);
	const struct type *type = typed_type(&o->value);
	size_t begin = to->len;
	if (!type || !o->stride || offset / o->stride >= o->count) {
		text_addf(to, "+0x%" PRIx64, offset);
		return;
	}
	if (o->array)
		text_addf(to, "[%" PRIu64 "]", offset / o->stride);
	offset %= o->stride;
	for (unsigned depth = 0; depth <= 2 * TYPE_DEPTH; depth++) {
		if (type->kind == TYPE_ARRAY && type->count && t->type[type->element].size) {
			uint64_t width = t->type[type->element].size;
			text_addf(to, "[%" PRIu64 "]", offset / width);
			offset %= width;
			type = &t->type[type->element];
			continue;
		}
		const struct type_field *f = type->kind == TYPE_STRUCT ? field_at(t, type, offset) : NULL;
		if (!f)
			break;
		add_field(f, t, begin, to);
		offset -= f->offset;
		type = &t->type[f->type];
	}
	if (to->len == begin) /* a pointer that is all there is */
		text_add(to, "*");
}

/* --- parts -------------------------------------------------------------------------------------- */

static bool has_pointers(const struct types *t, uint32_t type, unsigned depth)
{
	const struct type *of = &t->type[type];
	switch (of->kind) {
	case TYPE_STRUCT:
		for (uint32_t i = 0; depth && i < of->n_fields; i++) {
			if (has_pointers(t, types_fields(t, of)[i].type, depth - 1))
				return true;
		}
		return false;
	case TYPE_ARRAY:
		return depth && of->count && has_pointers(t, of->element, depth - 1);
	case TYPE_STRING:
	case TYPE_POINTER:
	case TYPE_SLICE:
	case TYPE_INTERFACE:
	case TYPE_EMPTY_INTERFACE:
	case TYPE_MAP:
	case TYPE_CHAN:
	case TYPE_FUNC:
		return true;
	default:
		return false;
	}
}

/* Do values of this type hold a pointer? */
static bool types_has_pointers(const struct types *t, uint32_t type)
{
	return type < t->n && has_pointers(t, type, 2 * TYPE_DEPTH);
}

struct taking_apart {
	typed_part_found *found;
	void *context;
	struct text name;
};

/* Recursion over types, which are no deeper than TYPE_DEPTH. */
static void take_apart(struct taking_apart *a, const struct typed *v, unsigned depth)
{
	const struct types *t = types_of(v->heap);
	const struct type *type = typed_type(v);
	size_t length = a->name.len;
	struct typed part;
	if (type && type->kind == TYPE_STRUCT && type->n_fields && depth) {
		for (uint32_t i = 0; i < type->n_fields; i++) {
			const struct type_field *f = &types_fields(t, type)[i];
			add_field(f, t, 0, &a->name);
			if (typed_part(v, f->offset, f->type, &part))
				take_apart(a, &part, depth - 1);
			a->name.s[a->name.len = length] = 0;
		}
	} else if (type && type->kind == TYPE_ARRAY && depth && types_has_pointers(t, type->element)) {
		uint64_t width = t->type[type->element].size;
		for (uint64_t i = 0; i < type->count; i++) {
			text_addf(&a->name, "[%" PRIu64 "]", i);
			if (typed_part(v, i * width, type->element, &part))
				take_apart(a, &part, depth - 1);
			a->name.s[a->name.len = length] = 0;
		}
	} else {
		a->found(a->context, v, a->name.s);
	}
}

void typed_parts(const struct typed *v, typed_part_found *found, void *context)
{
	struct taking_apart a = { found, context, TEXT_INIT };
	text_add(&a.name, "");
	take_apart(&a, v, 2 * TYPE_DEPTH);
	text_release(&a.name);
}

/* --- texts -------------------------------------------------------------------------------------- */

enum { LEAST_TEXT = 4 }; /* characters that make bytes of no type a text */

bool typed_printable(const uint8_t *s, uint64_t n)
{
	for (uint64_t i = 0; i < n;) {
		int32_t point;
		size_t left = n - i < 8 ? (size_t)(n - i) : 8, used;
		if (s[i] < 0x80) { /* mostly */
			if (s[i] == 0x7F || (s[i] < ' ' && s[i] != '\n' && s[i] != '\t' && s[i] != '\r'))
				return false;
			i++;
			continue;
		}
		used = utf8_decode((const char *)s + i, left, &point);
		if (point < 0 && !(n - i < 4 && i > 0))
			return false;
		i += used;
	}
	return true;
}

static bool has_slots(const struct typed_object *o)
{
	struct slot_walk w = { 0 };
	return typed_next_slot(o, &w);
}

bool typed_text(const struct typed_object *o, const uint8_t **text, uint64_t *n)
{
	const struct type *t = typed_type(&o->value);
	uint64_t length = o->count, least = 1;
	if (!t) {
		length = strnlen((const char *)o->view.bytes, (size_t)o->view.n_bytes);
		least = LEAST_TEXT;
	} else if (!o->array || t->kind != TYPE_UINT || t->size != 1) {
		return false;
	}
	while (t && length && !o->view.bytes[length - 1]) /* what the object has more than was wanted */
		length--;
	if (length < least || !o->view.bytes[0] || (!t && has_slots(o)) ||
	    !typed_printable(o->view.bytes, length < TEXT_LOOKED_AT ? length : TEXT_LOOKED_AT))
		return false;
	*text = o->view.bytes;
	*n = length;
	return true;
}
