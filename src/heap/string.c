/* SPDX-License-Identifier: GPL-3.0-or-later */
/* string.c - where Strings keep their characters, and how these are read; see string.h. */
#include "heap/string.h"

#include "heap/heap.h"
#include "memory/arena.h"

#include <string.h>

void string_layout_find(struct heap *h)
{
	struct string_layout layout = { .class = values_class_named(h, "java.lang.String") };
	struct field_place *value = &layout.value;
	struct value shift;
	if (!values_whole(h) || layout.class == HEAP_NONE ||
	    !values_place(h, layout.class, "value", value) || value->type != VALUE_OBJECT)
		return;
	layout.has_coder = values_place(h, layout.class, "coder", &layout.coder);
	layout.has_slice = values_place(h, layout.class, "offset", &layout.offset) &&
	    values_place(h, layout.class, "count", &layout.count);
	layout.big_endian =
	    values_static(h, "java.lang.StringUTF16", "HI_BYTE_SHIFT", &shift) && shift.bits == 8;
	struct string_layout *kept = arena_alloc(&h->arena, sizeof *kept);
	*kept = layout;
	h->strings = kept;
}

bool heap_array_string(const struct values *array, struct string_view *out)
{
	if (array->is_class || array->view.kind != PRIMITIVE_ARRAY)
		return false;
	enum value_type type = array->view.element;
	*out = (struct string_view){
		.bytes = array->view.bytes,
		.length = values_length(array),
		.width = type == VALUE_CHAR ? 2 : 1,
		.big_endian = array->heap->facts.big_endian,
		.array = array->id,
	};
	return type == VALUE_CHAR || type == VALUE_BYTE;
}

/* The part of a shared char[] that an old String means. */
static void take_slice(const struct string_layout *l, const struct values *string,
    struct string_view *out)
{
	struct value offset, count;
	if (!values_at(string, &l->offset, &offset) || !values_at(string, &l->count, &count))
		return;
	if (offset.bits > out->length) /* negative ones too */
		offset.bits = out->length;
	if (count.bits > out->length - offset.bits)
		count.bits = out->length - offset.bits;
	out->bytes += offset.bits * out->width;
	out->length = count.bits;
}

bool heap_string(const struct heap *h, uint32_t id, struct string_view *out)
{
	return heap_string_along(h, id, &(struct string_walk){ .string = { 0 } }, out);
}

bool heap_is_string(const struct heap *h, uint32_t id)
{
	return h->strings && heap_class_index(h, id) == h->strings->class;
}

bool heap_string_along(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out)
{
	const struct string_layout *l = h->strings;
	struct values string, array;
	struct value value, coder;
	if (!heap_is_string(h, id) || values_open_along(&string, h, id, &walk->string, NULL) ||
	    !values_at(&string, &l->value, &value))
		return false;
	uint32_t holder = value_object_id(h, &value);
	if (holder == HEAP_NONE || values_open_along(&array, h, holder, &walk->array, NULL) ||
	    !heap_array_string(&array, out))
		return false;
	if (array.view.element == VALUE_BYTE && l->has_coder &&
	    values_at(&string, &l->coder, &coder) && coder.bits == 1) {
		out->width = 2;
		out->length /= 2;
		out->big_endian = l->big_endian;
	}
	if (l->has_slice)
		take_slice(l, &string, out);
	return true;
}

static uint32_t unit_at(const struct string_view *s, uint64_t i)
{
	const uint8_t *p = s->bytes + i * s->width;
	if (s->width == 1)
		return *p;
	return s->big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

/* The code point at *i, which moves on; half a pair stands for itself. */
static uint32_t next_point(const struct string_view *s, uint64_t *i)
{
	uint32_t high = unit_at(s, (*i)++);
	if (s->width == 1 || high >> 10 != 0xD800 >> 10 || *i == s->length)
		return high;
	uint32_t low = unit_at(s, *i);
	if (low >> 10 != 0xDC00 >> 10)
		return high;
	++*i;
	return 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF);
}

static void add_bytes(struct text *to, const char *s, size_t n, bool escaped)
{
	if (escaped)
		text_add_escaped(to, s, n);
	else
		text_add_n(to, s, n);
}

static void add_units(const struct string_view *s, uint64_t start, uint64_t n, bool escaped, struct text *to)
{
	char utf8[512];
	size_t used = 0;
	uint64_t i = start < s->length ? start : s->length;
	uint64_t end = n < s->length - i ? i + n : s->length;
	if (!to->s)
		text_clear(to);
	if (s->utf8) {
		while (end > i && end < s->length && s->bytes[end] >> 6 == 2) /* not inside a character */
			end--;
		add_bytes(to, (const char *)s->bytes + i, (size_t)(end - i), escaped);
		return;
	}
	while (i < end) {
		used += utf8_encode(utf8 + used, next_point(s, &i));
		if (used > sizeof utf8 - 4) {
			add_bytes(to, utf8, used, escaped);
			used = 0;
		}
	}
	add_bytes(to, utf8, used, escaped);
}

void string_add(const struct string_view *s, uint64_t start, uint64_t n, struct text *to)
{
	add_units(s, start, n, true, to);
}

void string_add_raw(const struct string_view *s, struct text *to)
{
	add_units(s, 0, s->length, false, to);
}

bool heap_add_string(const struct heap *h, const struct value *v, uint64_t limit, struct text *to)
{
	struct string_view s;
	uint32_t id = value_object_id(h, v);
	if (id == HEAP_NONE || !heap_string(h, id, &s))
		return false;
	string_add(&s, 0, limit, to);
	if (s.length > limit)
		text_add(to, "…");
	return true;
}
