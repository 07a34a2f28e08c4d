/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory_text.c - values in memory in words; see memory.h. */
#include "analysis/describe/memory.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ELEMENTS = 32,
	DEEPEST = 8,     /* structs in one another that are shown */
};

struct printing {
	const struct heap *heap;
	uint64_t limit; /* bytes of text */
	size_t begin;   /* where it started */
	unsigned depth;
	struct text *to;
};

static bool full(const struct printing *p)
{
	return p->to->len - p->begin > p->limit;
}

/* --- texts -------------------------------------------------------------------------------------- */

static void add_quoted(const uint8_t *s, uint64_t n, uint64_t limit, struct text *to)
{
	uint64_t shown = n < limit ? n : limit;
	while (shown < n && shown > 0 && s[shown] >> 6 == 2) /* not inside a character */
		shown--;
	text_add(to, "\"");
	while (shown) { /* so that the caller learns where it ends, and what was escaped */
		uint64_t plain = 0;
		while (plain < shown && s[plain] != '"' && s[plain] != '\\')
			plain++;
		text_add_escaped(to, (const char *)s, (size_t)plain);
		if (plain < shown) {
			text_add_char(to, '\\');
			text_add_char(to, (char)s[plain++]);
		}
		s += plain;
		shown -= plain;
		n -= plain;
	}
	text_add(to, n ? "…\"" : "\"");
}

bool typed_add_text(const uint8_t *bytes, uint64_t n, uint64_t limit, struct text *to)
{
	if (!n || bytes[0] == 0 || !typed_printable(bytes, n < limit ? n : limit))
		return false;
	add_quoted(bytes, n, limit, to);
	return true;
}

void typed_add_address(const struct heap *h, uint64_t address, struct text *to)
{
	struct typed_reference r = typed_resolve(h, address);
	if (!address) {
		text_add(to, "nil");
		return;
	}
	text_addf(to, "0x%" PRIx64, r.id == HEAP_NONE ? address : heap_address(h, r.id));
	if (r.offset)
		text_addf(to, "+%" PRIu64, r.offset);
	if (r.id != HEAP_NONE)
		return;
	text_add(to, " ");
	if (!heap_symbol(h, address, to))
		text_drop_last(to);
}

/* --- numbers ------------------------------------------------------------------------------------ */

/* The fewest digits that mean this number. */
static void add_float(double x, bool single, struct text *to)
{
	char s[64];
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(s, sizeof s, "%.*g", digits, x);
		if (single ? strtof(s, NULL) == (float)x : strtod(s, NULL) == x)
			break;
	}
	if (strchr(s, 'e') && isfinite(x) && fabs(x) >= 1 && fabs(x) < 1e15)
		snprintf(s, sizeof s, "%.0f", x);
	text_add(to, isnan(x) ? "NaN" : isinf(x) ? x > 0 ? "+Inf" : "-Inf" : s);
}

static double number_as_float(const struct typed *v, uint64_t offset, unsigned width)
{
	uint64_t bits = typed_number(v, offset, width);
	uint32_t half = (uint32_t)bits;
	float single;
	double full_width;
	memcpy(&single, &half, sizeof single);
	memcpy(&full_width, &bits, sizeof full_width);
	return width == 4 ? (double)single : full_width;
}

static int64_t as_signed(uint64_t bits, uint64_t width)
{
	unsigned unused = width && width < 8 ? 64 - 8 * (unsigned)width : 0;
	return (int64_t)(bits << unused) >> unused;
}

static void add_number(const struct typed *v, const struct type *t, struct text *to)
{
	unsigned width = t->size <= 8 ? (unsigned)t->size : 8;
	uint64_t bits = typed_number(v, 0, width);
	switch (t->kind) {
	case TYPE_BOOL:
		text_add(to, bits ? "true" : "false");
		return;
	case TYPE_INT:
		text_addf(to, "%" PRId64, as_signed(bits, width));
		return;
	case TYPE_FLOAT:
		add_float(number_as_float(v, 0, width), width == 4, to);
		return;
	case TYPE_COMPLEX:
		width = (unsigned)(t->size / 2) & 12;
		text_add(to, "(");
		add_float(number_as_float(v, 0, width), width == 4, to);
		text_add(to, number_as_float(v, width, width) < 0 ? "" : "+");
		add_float(number_as_float(v, width, width), width == 4, to);
		text_add(to, "i)");
		return;
	case TYPE_UINTPTR:
		text_addf(to, "0x%" PRIx64, bits);
		return;
	default:
		text_addf(to, "%" PRIu64, bits);
	}
}

/* --- what is made of others --------------------------------------------------------------------- */

static void add_value(struct printing *p, const struct typed *v);

static bool is_bytes(const struct heap *h, uint32_t type)
{
	const struct types *t = h->dump->types;
	return t && type < t->n && t->type[type].kind == TYPE_UINT && t->type[type].size == 1;
}

static void add_elements(struct printing *p, const struct typed *first, uint64_t stride, uint64_t n)
{
	struct typed v = *first;
	if (is_bytes(p->heap, first->type) && n && typed_add_text(first->bytes, n, p->limit, p->to))
		return;
	text_add(p->to, "[");
	for (uint64_t i = 0; i < n; i++) {
		if (i == MOST_ELEMENTS || full(p)) {
			text_add(p->to, i ? ", …" : "…");
			break;
		}
		text_add(p->to, i ? ", " : "");
		v.bytes = first->bytes + i * stride;
		v.address = first->address + i * stride;
		v.size = stride;
		add_value(p, &v);
	}
	text_add(p->to, "]");
}

static void add_struct(struct printing *p, const struct typed *v, const struct type *t)
{
	const struct type_field *f = types_fields(p->heap->dump->types, t);
	text_add(p->to, "{");
	for (uint32_t i = 0; i < t->n_fields; i++) {
		struct typed part;
		if (full(p)) {
			text_add(p->to, i ? ", …" : "…");
			break;
		}
		text_addf(p->to, "%s%s: ", i ? ", " : "", f[i].name);
		if (typed_part(v, f[i].offset, f[i].type, &part))
			add_value(p, &part);
	}
	text_add(p->to, "}");
}

/* The bytes of a string that is not empty; false: they are not in the dump. */
static bool bytes_of_string(const struct heap *h, const struct typed *v, struct typed *text)
{
	return typed_at(h, typed_word(v, 0), TYPE_NONE, text) && text->size >= typed_word(v, 1);
}

bool memory_string(const struct any_value *v, struct text *to)
{
	const struct typed *value = &v->memory.value;
	struct typed text;
	if (value->type == TYPE_NONE || typed_type(value)->kind != TYPE_STRING ||
	    (typed_word(value, 1) && !bytes_of_string(v->heap, value, &text)))
		return false;
	if (typed_word(value, 1))
		text_add_n(to, (const char *)text.bytes, (size_t)typed_word(value, 1));
	return true;
}

static void add_string(struct printing *p, const struct typed *v)
{
	uint64_t n = typed_word(v, 1);
	struct typed text;
	if (!n) {
		text_add(p->to, "\"\"");
	} else if (bytes_of_string(p->heap, v, &text)) {
		add_quoted(text.bytes, n, p->limit, p->to);
	} else {
		typed_add_address(p->heap, typed_word(v, 0), p->to);
		text_addf(p->to, " (%" PRIu64 " byte%s outside of the dump)", n, n == 1 ? "" : "s");
	}
}

static void add_slice(struct printing *p, const struct typed *v, const struct type *t)
{
	uint64_t to = typed_word(v, 0), n = typed_word(v, 1), width, bytes;
	struct typed first;
	if (!to && !n) {
		text_add(p->to, "nil");
		return;
	}
	text_addf(p->to, "len %" PRIu64 " cap %" PRIu64, n, typed_word(v, 2));
	if (!n || p->depth > 1 || !typed_at(p->heap, to, t->element, &first) || first.type == TYPE_NONE)
		return;
	width = typed_type(&first)->size;
	if (!width || __builtin_mul_overflow(width, n, &bytes) || bytes > first.size)
		return;
	text_add(p->to, " ");
	add_elements(p, &first, width, n);
}

static void add_size(struct printing *p, const struct typed *v)
{
	struct typed_contents c;
	if (typed_contents_open(&c, v, NULL)) {
		typed_add_address(p->heap, typed_word(v, 0), p->to);
		return;
	}
	text_addf(p->to, "len %" PRIu64, c.size);
	if (c.capacity)
		text_addf(p->to, " cap %" PRIu64, c.capacity);
}

static void add_function(struct printing *p, const struct typed *v)
{
	struct typed closure;
	uint64_t code = 0;
	if (typed_at(p->heap, typed_word(v, 0), TYPE_NONE, &closure))
		code = typed_word(&closure, 0);
	typed_add_address(p->heap, typed_word(v, 0), p->to);
	text_add(p->to, " ");
	if (!heap_symbol(p->heap, code, p->to))
		text_drop_last(p->to);
}

static void add_interface(struct printing *p, const struct typed *v)
{
	struct typed value;
	struct text name = TEXT_INIT;
	if (!typed_word(v, 0)) {
		text_add(p->to, "nil");
	} else if (!typed_dynamic(v, &value, &name)) {
		text_add(p->to, "? ");
		typed_add_address(p->heap, typed_word(v, 1), p->to);
	} else {
		text_add(p->to, name.s ? name.s : "?");
		text_add(p->to, " ");
		p->depth--; /* it is the interface's own value, not one in it: pointers are followed */
		if (value.type != TYPE_NONE)
			add_value(p, &value);
		else
			typed_add_address(p->heap, typed_word(v, 1), p->to);
		p->depth++;
	}
	text_release(&name);
}

/* A pointer, and at the top what it leads to. */
static void add_pointer(struct printing *p, const struct typed *v, const struct type *t)
{
	struct typed target;
	uint64_t to = typed_word(v, 0);
	typed_add_address(p->heap, to, p->to);
	if (!to || p->depth > 1 || t->element == TYPE_NONE || !typed_at(p->heap, to, t->element, &target))
		return;
	text_add(p->to, " ");
	add_value(p, &target);
}

static void add_deep(struct printing *p, const struct typed *v, const struct type *t)
{
	switch (t->kind) {
	case TYPE_STRUCT:
		add_struct(p, v, t);
		return;
	case TYPE_ARRAY:
		add_elements(p, &(struct typed){ v->heap, t->element, v->bytes, v->size, v->address },
		    t->count ? t->size / t->count : 0, t->count);
		return;
	case TYPE_STRING:
		add_string(p, v);
		return;
	case TYPE_SLICE:
		add_slice(p, v, t);
		return;
	case TYPE_MAP:
	case TYPE_CHAN:
		if (typed_word(v, 0))
			add_size(p, v);
		else
			text_add(p->to, "nil");
		return;
	case TYPE_FUNC:
		if (typed_word(v, 0))
			add_function(p, v);
		else
			text_add(p->to, "nil");
		return;
	case TYPE_INTERFACE:
	case TYPE_EMPTY_INTERFACE:
		add_interface(p, v);
		return;
	case TYPE_POINTER:
		add_pointer(p, v, t);
		return;
	case TYPE_UNKNOWN:
		text_addf(p->to, "%" PRIu64 " byte%s", t->size, t->size == 1 ? "" : "s");
		return;
	default:
		add_number(v, t, p->to);
	}
}

static void add_value(struct printing *p, const struct typed *v)
{
	const struct type *t = typed_type(v);
	if (!t || p->depth == DEEPEST) {
		text_add(p->to, "…");
		return;
	}
	p->depth++;
	add_deep(p, v, t);
	p->depth--;
}

void typed_add(const struct typed *v, uint64_t limit, struct text *to)
{
	struct printing p = { v->heap, limit, to->len, 0, to };
	add_value(&p, v);
}

/* --- objects ------------------------------------------------------------------------------------ */

bool typed_add_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to)
{
	struct typed_object o;
	struct typed_contents c;
	if (!typed_open(&o, h, id))
		return false;
	struct printing p = { h, limit, to->len, 0, to };
	const struct type *t = typed_type(&o.value);
	const uint8_t *bytes;
	uint64_t n;
	if (typed_text(&o, &bytes, &n))
		add_quoted(bytes, n, limit, to);
	else if (!t)
		return false;
	else if (o.array)
		add_elements(&p, &o.value, o.stride, o.count);
	else if (t->kind == TYPE_STRUCT && !typed_contents_open(&c, &o.value, NULL))
		add_size(&p, &o.value);
	else
		add_value(&p, &o.value);
	return true;
}
