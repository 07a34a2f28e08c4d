/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_typing_closure.c - what the variables of closures lead to. */
#include "dump/go/go_typing.h"

#include "base/text.h"
#include "dump/go/go_dump.h"

#include <string.h>

/* F-fm is the method value of F: a closure that holds the receiver in its second word. */
static void walk_method_value(struct typing *t, uint32_t function, const uint8_t *bytes, uint64_t size)
{
	const char *name = program_function_name(t->program, function);
	const char *open = strstr(name, ".(*"), *close = open ? strchr(open, ')') : NULL;
	size_t n = strlen(name);

	if (size < 2 * t->word || n < 3 || strcmp(name + n - 3, "-fm") != 0 || !close)
		return;
	struct text type = TEXT_INIT; /* "main.(*T).method-fm": main.T */
	text_add_n(&type, name, (size_t)(open + 1 - name));
	text_add_n(&type, open + 3, (size_t)(close - open - 3));
	uint32_t receiver = types_by_name(t->go.types, type.s);
	if (receiver != TYPE_NONE)
		typing_claim(t, typing_word(t, bytes + t->word), receiver, TYPED_BY_POINTER);
	text_release(&type);
}

void typing_walk_captures(struct typing *t, uint32_t function, const uint8_t *bytes, uint64_t size)
{
	const struct program_capture *c;
	struct memory m = {.bytes = bytes, .size = size};
	size_t n;

	walk_method_value(t, function, bytes, size);
	t->refused |= program_captures(t->program, function, &c, &n, t->err) < 0;
	for (size_t i = 0; i < n; i++)
		if (c[i].offset <= size && t->go.types->type[c[i].type].size <= size - c[i].offset)
			typing_walk(t, &m, c[i].offset, c[i].type, 1, TYPED_BY_POINTER);
}

/* What a closure shares with its function, which lies on the stack as well. */
static void walk_shared(struct typing *t, uint32_t function, const uint8_t *bytes, uint64_t size)
{
	const struct program_capture *c;
	size_t n;

	t->refused |= program_captures(t->program, function, &c, &n, t->err) < 0;
	for (size_t i = 0; i < n; i++) {
		const struct type *of = &t->go.types->type[c[i].type];
		struct memory m = {0};
		uint64_t to = of->kind == TYPE_POINTER && of->element != TYPE_NONE && size >= t->word &&
		    c[i].offset <= size - t->word ? typing_word(t, bytes + c[i].offset) : 0;
		if (to && (to < t->low || to >= t->high || t->c->object_at(t->c, to, &(uint64_t){0}) == UINT32_MAX))
			m.bytes = go_memory(t->dump, to, &m.size);
		if (m.bytes)
			typing_walk(t, &m, 0, of->element, 1, TYPED_BY_FRAME);
	}
}

void typing_walk_closure(struct typing *t, uint64_t address, uint64_t entry)
{
	uint64_t n = 0, start;
	uint32_t function;
	bool inside = address >= t->low && address < t->high && t->c->object_at(t->c, address, &start) != UINT32_MAX;

	if (!address || inside || !t->program || !t->dump || !program_function_at(t->program, entry, &function))
		return;
	const uint8_t *bytes = go_memory(t->dump, address, &n);
	if (!bytes || n < t->word || typing_word(t, bytes) != entry ||
	    program_function_entry(t->program, function) != entry)
		return;
	typing_walk_captures(t, function, bytes, n);
	walk_shared(t, function, bytes, n);
}
