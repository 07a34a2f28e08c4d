/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic_names.c - from the text of a type to a class.
 *
 * Each record spells its class out, so the same few thousand strings come by millions of times.
 * Each part has a table, keyed by the bytes as they stand in the text (which outlives it), that
 * answers without asking the sink.  A hostile dump may hold as many names as records: the table
 * stops growing at NAMES_MAX names, and the sink is asked for later ones each time they come.
 */
#include "dump/classic/classic_dump.h"
#include "dump/token.h"

#include <stdlib.h>

#include "base/text.h"
#include "memory/big.h"

#define NAMES_MAX (1u << 20)

/* Width letters of the primitive types, and how Java source writes them. */
static const struct {
	char letter;
	const char *word;
} primitives[] = {
	{ 'Z', "boolean" }, { 'C', "char" }, { 'F', "float" }, { 'D', "double" },
	{ 'B', "byte" }, { 'S', "short" }, { 'I', "int" }, { 'J', "long" },
};
#define N_PRIMITIVES (sizeof primitives / sizeof *primitives)

static bool is_primitive_letter(uint8_t c)
{
	for (size_t i = 0; i < N_PRIMITIVES; i++) {
		if (primitives[i].letter == c)
			return true;
	}
	return false;
}

/* What kind of object a type in internal spelling makes. */
static enum object_kind classic_kind(const uint8_t *name, size_t n)
{
	if (n == 0 || name[0] != '[')
		return OBJECT_INSTANCE;
	return n == 2 && is_primitive_letter(name[1]) ? PRIMITIVE_ARRAY : OBJECT_ARRAY;
}

/* Turn a spelling of PrintHeapdump's ("char[][]", "array of java/lang/String") into the VM's.  A
 * name without a slash has dots between its packages, which become slashes. */
static char *respell(const uint8_t *name, size_t n, bool array_of, size_t *size)
{
	size_t dimensions = array_of;
	while (n > 2 && name[n - 2] == '[' && name[n - 1] == ']') {
		n -= 2;
		dimensions++;
	}
	struct text t = TEXT_INIT;
	for (size_t i = 0; i < dimensions; i++)
		text_add_char(&t, '[');
	char letter = 0;
	for (size_t i = 0; i < N_PRIMITIVES; i++) {
		if (strlen(primitives[i].word) == n && !memcmp(primitives[i].word, name, n))
			letter = primitives[i].letter;
	}
	bool element = dimensions > 0 && name[0] != '[';
	if (element && letter) {
		text_add_char(&t, letter);
	} else {
		bool dots = !memchr(name, '/', n);
		if (element)
			text_add_char(&t, 'L');
		for (size_t i = 0; i < n; i++)
			text_add_char(&t, dots && name[i] == '.' ? '/' : (char)name[i]);
		if (element)
			text_add_char(&t, ';');
	}
	*size = t.len;
	return text_take(&t);
}

const uint8_t *classic_internal_name(const struct classic_header *h, size_t *n, char **scratch)
{
	*scratch = NULL;
	*n = h->type_size < CLASSIC_NAME_MAX ? h->type_size : CLASSIC_NAME_MAX;
	if (h->style == STYLE_VM)
		return h->type;
	*scratch = respell(h->type, *n, h->array_of, n);
	return (const uint8_t *)*scratch;
}

/* ---- the table ------------------------------------------------------------------------------- */

static uint64_t hash_name(const struct classic_name *name)
{
	return name->hash;
}

static bool same_name(const struct classic_name *a, const struct classic_name *b)
{
	return a->hash == b->hash && a->raw_size == b->raw_size && a->style == b->style &&
	    !memcmp(a->raw, b->raw, b->raw_size);
}

MAP(names, const struct classic_name *, const struct classic_name *, map_element, hash_name, same_name)

/* A name that was not seen before. */
static const struct classic_name *learn(struct classic_scan *s, const struct classic_header *h,
    struct classic_name name)
{
	struct classic_names *t = &s->names;
	char *scratch;
	size_t n;
	const uint8_t *internal = classic_internal_name(h, &n, &scratch);
	name.kind = (uint8_t)classic_kind(internal, n);
	name.handle = s->sink->class_handle(s->sink, CLASS_NAMED, 0, internal, n);
	free(scratch);
	t->last = name;
	uint32_t *slot = t->n < NAMES_MAX ? names_enter(&t->map, t->list, (uint32_t)t->n, &name, NULL) : NULL;
	struct classic_name *to = slot ? BIG_PUSH(t->list, t->n, t->cap, NULL) : NULL;
	if (to) {
		*to = name;
		*slot = (uint32_t)t->n;
	}
	return &t->last;
}

const struct classic_name *classic_names_find(struct classic_scan *s,
    const struct classic_header *h)
{
	struct classic_names *t = &s->names;
	size_t n = h->type_size < CLASSIC_NAME_MAX ? h->type_size : CLASSIC_NAME_MAX;
	struct classic_name name = {
		.raw = h->type,
		.raw_size = (uint32_t)n,
		.hash = (uint32_t)hash_bytes(h->type, n),
		.style = (uint8_t)(h->style + 2 * h->array_of),
	};
	uint32_t known = names_get(&t->map, t->list, &name);
	if (known)
		return &t->list[known - 1];
	return learn(s, h, name);
}

void classic_names_release(struct classic_names *t)
{
	big_free(t->list);
	map_release(&t->map);
	*t = (struct classic_names){.n = 0};
}
