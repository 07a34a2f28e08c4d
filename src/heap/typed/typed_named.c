/* SPDX-License-Identifier: GPL-3.0-or-later */
/* typed_named.c - find a global variable, or a part of one, by its name in the program; see
 * typed.h. */
#include "heap/typed/typed.h"

#include "base/text.h"
#include "dump/program/program.h"
#include "dump/reader.h"
#include "dump/types.h"
#include "heap/heap.h"

#include <stdlib.h>
#include <string.h>

/* The variable whose name a word begins with, the longest; its end stands before a part or the end. */
static const struct program_variable *variable_of(const struct program *p, const char *word, size_t *length)
{
	const struct program_variable *found = NULL;
	size_t n = 0;
	const struct program_variable *v = program_variables(p, &n);
	*length = 0;
	for (size_t i = 0; i < n; i++) {
		size_t is = strlen(v[i].name);
		if (is > *length && !strncmp(word, v[i].name, is) && (!word[is] || strchr(".[", word[is]))) {
			found = &v[i];
			*length = is;
		}
	}
	return found;
}

/* A field by its name, or of a struct embedded in it: recursion over types, as deep as they are. */
static bool field_named(const struct typed *v, const char *name, unsigned depth, struct typed *out)
{
	const struct types *t = v->heap->dump->types;
	const struct type *type = typed_type(v);
	struct typed inner;
	if (!type || type->kind != TYPE_STRUCT)
		return false;
	if (typed_field(v, name, out))
		return true;
	for (uint32_t i = 0; depth && i < type->n_fields; i++) {
		const struct type_field *f = &types_fields(t, type)[i];
		if (f->embedded && typed_part(v, f->offset, f->type, &inner) &&
		    field_named(&inner, name, depth - 1, out))
			return true;
	}
	return false;
}

/* What a pointer leads to; anything else as it is. */
static bool follow(struct typed *v)
{
	const struct type *t = typed_type(v);
	return !t || t->kind != TYPE_POINTER || t->element == TYPE_NONE ||
	    typed_at(v->heap, typed_word(v, 0), t->element, v);
}

/* ".Field": the word moves behind it. */
static bool take_field(struct typed *v, const char **word)
{
	char name[256];
	size_t n = strcspn(++*word, ".[");
	if (!n || n >= sizeof name || !follow(v))
		return false;
	memcpy(name, *word, n);
	name[n] = 0;
	*word += n;
	return field_named(v, name, TYPE_DEPTH, v);
}

/* "[3]" of an array or a slice. */
static bool take_element(struct typed *v, const char **word)
{
	char *end;
	uint64_t i = strtoull(*word + 1, &end, 10), width, offset, address;
	if (end == *word + 1 || *end != ']' || !follow(v))
		return false;
	*word = end + 1;
	const struct type *t = typed_type(v);
	if (!t || (t->kind != TYPE_ARRAY && t->kind != TYPE_SLICE))
		return false;
	width = v->heap->dump->types->type[t->element].size;
	if (i >= (t->kind == TYPE_ARRAY ? t->count : typed_word(v, 1)) ||
	    __builtin_mul_overflow(i, width, &offset))
		return false;
	if (t->kind == TYPE_ARRAY)
		return typed_part(v, offset, t->element, v);
	return !__builtin_add_overflow(typed_word(v, 0), offset, &address) &&
	    typed_at(v->heap, address, t->element, v);
}

int typed_named(struct typed *out, const struct heap *h, const char *word, struct err *err)
{
	size_t length;
	const struct program *p = h->dump->program;
	const struct program_variable *v = p ? variable_of(p, word, &length) : NULL;
	if (!v)
		return err_set(err, ERR_NOT_FOUND, "no global variable \"%.100s\"", word);
	if (!typed_at(h, v->address, v->type, out) || !typed_type(out))
		return err_set(err, ERR_UNSUPPORTED,
		    "%.100s is not in the dump: Go omits variables without pointers", v->name);
	out->size = typed_type(out)->size;
	for (const char *rest = word + length; *rest;) {
		const char *part = rest;
		if (*rest == '.' ? take_field(out, &rest) : *rest == '[' && take_element(out, &rest))
			continue;
		return err_set(err, ERR_USAGE, "%.*s, of type %.100s, has no %.100s", (int)(part - word), word,
		    typed_type_name(h, out->type), part);
	}
	out->size = typed_type(out)->size;
	return 0;
}

/* "main.conf.Po": the fields of main.conf that begin with "Po". */
static void name_fields(const struct heap *h, const char *word,
    void (*found)(void *context, const char *name), void *context)
{
	const char *dot = strrchr(word, '.');
	struct text name = TEXT_INIT;
	struct typed v;
	if (!dot)
		return;
	text_add_n(&name, word, (size_t)(dot - word));
	const struct type *t = !typed_named(&v, h, name.s, NULL) && follow(&v) ? typed_type(&v) : NULL;
	for (uint32_t i = 0; t && t->kind == TYPE_STRUCT && i < t->n_fields; i++) {
		const char *field = types_fields(h->dump->types, t)[i].name;
		if (strncmp(field, dot + 1, strlen(dot + 1)) != 0)
			continue;
		text_clear(&name);
		text_add_n(&name, word, (size_t)(dot + 1 - word));
		text_add(&name, field);
		found(context, name.s);
	}
	text_release(&name);
}

void typed_names(const struct heap *h, const char *word,
    void (*found)(void *context, const char *name), void *context)
{
	const struct program *p = h->dump->program;
	size_t n = 0;
	const struct program_variable *v = p ? program_variables(p, &n) : NULL;
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(v[i].name, word, strlen(word)) != 0)
			continue;
		any = true;
		found(context, v[i].name);
	}
	if (p && !any)
		name_fields(h, word, found, context);
}
