/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_static.c - what variables point to in the program's own data.
 *
 *     var registry = &Registry{}
 *
 * The Registry is no object of the heap: the linker puts it into data or bss, where only the
 * pointer to it has a name and a type.  These segments are in the dump, so pointers are followed
 * there as they are in objects.  What is found is named by the way to it, as a Go programmer would
 * write it: main.registry.m, main.handlers[1].list, and *main.p for what is no struct.
 */
#include "dump/go/go_typing.h"

#include "algorithms/hash.h"
#include "dump/types.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_STATICS = 1 << 16,
	STATIC_SET = 1 << 18,
	LONGEST_WAY = 100, /* of a name; behind that the type and address do */
	OVERLAPS = 16,     /* the bytes of the segments are looked at so often, no more */
};

void typing_add_segment(struct typing *t, uint64_t address, const uint8_t *bytes, uint64_t size)
{
	struct statics *s = &t->statics;

	struct static_segment *to = BIG_PUSH(s->segment, s->n_segments, s->cap_segments, t->err);
	t->refused |= !to;
	if (!to)
		return;
	*to = (struct static_segment){.address = address, .size = size, .bytes = bytes};
	s->room += OVERLAPS * size;
}

static const struct static_segment *segment_of(const struct statics *s, uint64_t address)
{
	for (size_t i = 0; i < s->n_segments; i++)
		if (address - s->segment[i].address < s->segment[i].size)
			return &s->segment[i];
	return NULL;
}

/* Was it not there yet?  No, as well, when memory is refused. */
static bool is_new(struct typing *t, uint64_t address, uint32_t type)
{
	struct statics *s = &t->statics;
	uint64_t key = hash_step(hash_number(address), type) | 1;
	uint64_t at = key >> 46;

	if (!s->seen)
		s->seen = big_alloc(STATIC_SET, sizeof *s->seen, t->err);
	t->refused |= !s->seen;
	if (!s->seen)
		return false;
	for (; s->seen[at % STATIC_SET]; at++)
		if (s->seen[at % STATIC_SET] == key)
			return false;
	s->seen[at % STATIC_SET] = key;
	return true;
}

/* How one gets there; element UINT64_MAX: by a pointer to it alone.  NULL: memory is refused. */
static const char *way_to(struct typing *t, uint64_t address, uint32_t type, uint64_t element)
{
	struct statics *s = &t->statics;
	const struct type *of = &t->go.types->type[type];
	bool plain = element == UINT64_MAX && of->kind != TYPE_STRUCT && of->kind != TYPE_ARRAY;
	struct text way = TEXT_INIT;

	if (s->from) {
		text_add(&way, plain ? "*" : "");
		text_add(&way, s->from->name);
		program_path_in(t->program, s->from->type, s->from_offset, &way);
		if (element != UINT64_MAX)
			text_addf(&way, "[%llu]", (unsigned long long)element);
	}
	if (!s->from || way.len > LONGEST_WAY) {
		text_clear(&way);
		text_addf(&way, "(*%s)(0x%llx)", of->name, (unsigned long long)address);
	}
	const char *kept = arena_try_strndup(&s->names, way.s, way.len, t->err);
	text_release(&way);
	return kept;
}

void typing_claim_static(struct typing *t, uint64_t address, uint32_t type, uint64_t count,
    enum typed_by by)
{
	struct statics *s = &t->statics;
	uint64_t size = t->go.types->type[type].size, n = count ? count : 1;

	if (!t->program || !s->n_segments || !t->go.of[type].n_slots || !size)
		return;
	const struct static_segment *in = segment_of(s, address);
	if (!in)
		return;
	if (n > (in->size - (address - in->address)) / size) {
		t->conflicts++;
		return;
	}
	for (uint64_t i = 0; i < n; i++, address += size) {
		if (program_variable_at(t->program, address) || !is_new(t, address, type))
			continue; /* a variable is looked at as a whole */
		if (s->n == MOST_STATICS || size > s->room) {
			t->lost++;
			return;
		}
		s->room -= size;
		const char *way = way_to(t, address, type, count ? i : UINT64_MAX);
		struct program_static *to = way ? BIG_PUSH(s->found, s->n, s->cap, t->err) : NULL;
		t->refused |= !to;
		if (!to)
			return;
		*to = (struct program_static){.is = {way, address, type}, .by = by};
	}
}

bool typing_walk_static(struct typing *t)
{
	struct statics *s = &t->statics;

	if (s->done == s->n)
		return false;
	struct program_static next = s->found[s->done++]; /* more may come, and move the others */
	const struct static_segment *in = segment_of(s, next.is.address);
	struct memory m = {
	    .bytes = in->bytes, .size = in->size, .address = in->address, .variable = &next.is};
	typing_walk(t, &m, next.is.address - in->address, next.is.type, 1,
	    next.by == TYPED_BY_FIT ? TYPED_BY_FIT : TYPED_BY_GLOBAL);
	return true;
}

static int tell_statics(const struct typing *t)
{
	const struct statics *s = &t->statics;
	struct program_variable *all = big_alloc(s->n, sizeof *all, t->err);

	for (size_t i = 0; all && i < s->n; i++)
		all[i] = s->found[i].is;
	int code = all ? program_tell_statics(t->program, all, s->n, t->err) : ERR_NOMEM;
	big_free(all);
	return code;
}

int typing_end_statics(struct typing *t, bool tell)
{
	struct statics *s = &t->statics;
	int code = tell && s->n ? tell_statics(t) : 0;

	big_free(s->segment);
	big_free(s->found);
	big_free(s->seen);
	arena_release(&s->names);
	*s = (struct statics){.n = 0};
	return code;
}
