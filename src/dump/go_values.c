/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_values.c - what is asked about the memory of a Go heap dump once it is loaded: which words of an
 * object are pointers, what lies outside of the heap, which type an itab or a descriptor means.
 *
 * Records are looked up in the dump each time: segments, itabs and types are few, and what lies in a
 * frame is asked for rarely.
 */
#include "dump/go_shape.h"

/* --- pointers of an object ---------------------------------------------------------------------- */

bool go_next_slot(const struct dump *dump, const struct object_view *view, struct slot_walk *walk)
{
	const struct go *g = (const struct go *)dump;
	if (g->version == 3)
		return go_old_next_slot(g, view, walk);
	const uint8_t *list = view->bytes + view->n_bytes, *p = list + walk->at;
	const uint8_t *end = dump->source->bytes + dump->source->size;
	uint64_t kind, offset;
	while (p < end && go_field_next(&p, end, &kind, &offset)) {
		uint64_t at = go_pointer_at(g, kind, offset);
		walk->at = (uint64_t)(p - list);
		if (at < offset || !go_slot_fits(g, at, view->n_bytes))
			continue;
		walk->offset = at;
		return true;
	}
	return false;
}

/* --- other memory ------------------------------------------------------------------------------- */

static bool in_record(const struct go_record *r, uint64_t begin, uint64_t address, uint64_t *n,
    const uint8_t **bytes)
{
	if (address < begin || address - begin >= r->s[0].n)
		return false;
	*bytes = r->s[0].p + (address - begin);
	*n = r->s[0].n - (address - begin);
	return true;
}

const uint8_t *go_memory(const struct dump *dump, uint64_t address, uint64_t *n)
{
	static const enum go_tag tags[] = { GO_DATA, GO_BSS, GO_FRAME };
	const struct go *g = (const struct go *)dump;
	const uint8_t *bytes = NULL;
	struct go_record r;
	for (unsigned i = 0; i < sizeof tags / sizeof *tags; i++) {
		size_t run = 0;
		uint64_t at = 0;
		while (go_next(g, tags[i], &run, &at, &r)) {
			/* the sp of a frame and the address of a segment stand at the same place */
			if (in_record(&r, r.u[SEGMENT_ADDRESS], address, n, &bytes))
				return bytes;
		}
	}
	return NULL;
}

/* --- types that the dump itself tells ----------------------------------------------------------- */

uint64_t go_itab_type(const struct dump *dump, uint64_t itab)
{
	const struct go *g = (const struct go *)dump;
	size_t run = 0;
	uint64_t at = 0;
	for (struct go_record r; g->version > 3 && go_next(g, GO_ITAB, &run, &at, &r);) {
		if (r.u[ITAB_ADDRESS] == itab)
			return r.u[ITAB_TYPE];
	}
	return 0;
}

/* A pointer type with methods has a package and no name: "main." is written "*main.?". */
bool go_type_name(const struct dump *dump, uint64_t descriptor, struct text *out)
{
	const struct go *g = (const struct go *)dump;
	size_t run = 0;
	uint64_t at = 0;
	for (struct go_record r; go_next(g, GO_TYPE, &run, &at, &r);) {
		size_t n = r.s[0].n < 200 ? (size_t)r.s[0].n : 200;
		if (r.u[TYPE_ADDRESS] != descriptor || !n)
			continue;
		bool nameless = r.s[0].p[n - 1] == '.';
		text_add(out, nameless ? "*" : "");
		text_add_escaped(out, (const char *)r.s[0].p, n);
		text_add(out, nameless ? "?" : "");
		return true;
	}
	return false;
}
