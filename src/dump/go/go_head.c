/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_head.c - does an object of the largest size class begin with its type?
 *
 * Requests of up to 32,760 bytes get 8 more for the header and an object of at most 32,768.  Larger ones get
 * whole pages and no header (runtime/malloc.go: mallocgc, maxSmallSize - mallocHeaderSize), so that 32,761 to
 * 32,768 bytes make an object of the same size, as []*T of 4,096 elements has it.  The dump does not tell the
 * two apart.  What does: the header is a type's descriptor, which lies between the program's code and its data,
 * and is no pointer of the list; an interface, the only value that may begin with a descriptor, has the data
 * word behind it, and in an array every second word is one.
 */
#include "dump/go/go_dump.h"
#include "dump/source/source.h"

/* Where the linker puts descriptors and itabs. */
static bool is_constant(const struct go *g, uint64_t word)
{
	return word >= g->code_known && word < g->data_begins;
}

static bool may_be_type(const struct go *g, uint64_t word)
{
	const struct types *types = g->dump.types;
	struct text name = TEXT_INIT;

	if (types && types_by_descriptor(types, word) != TYPE_NONE)
		return true;
	/* made by package reflect, in the heap */
	if (word >= g->heap_start && word < g->heap_end)
		return word % g->word == 0;
	bool is = is_constant(g, word) && (!g->program || program_type_name(g->program, word, &name));
	text_release(&name);
	return is;
}

/* Words that stand before listed pointers, at every second word: are they type words of interfaces?  The first
 * after the object's own tells. */
static bool interfaces(const struct go *g, const uint8_t *contents, uint64_t size)
{
	const uint8_t *p = contents + size, *end = g->dump.source->bytes + g->dump.source->size;
	uint64_t kind, offset;

	for (uint64_t at = g->word; go_field_next(&p, end, &kind, &offset); at += 2 * g->word) {
		if (offset != at || offset > size - g->word)
			return false;
		uint64_t word = go_word(g, contents + offset - g->word);
		if (at > g->word && word)
			return is_constant(g, word) || may_be_type(g, word);
		if (at > g->word && go_word(g, contents + offset))
			return false; /* what no interface holds */
	}
	return false;
}

bool go_begins_with_type(const struct go *g, const uint8_t *contents, uint64_t size)
{
	const uint8_t *p = contents + size, *end = g->dump.source->bytes + g->dump.source->size;
	uint64_t kind, offset, word = g->word ? go_word(g, contents) : 0;

	return word && go_field_next(&p, end, &kind, &offset) && offset >= g->layout.header &&
	    may_be_type(g, word) && !interfaces(g, contents, size);
}
