/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_header.c - types of objects that begin with the address of their type's descriptor.
 *
 * The descriptor is that of the value, or of the element if the program asked for several: the object
 * is then an array, and how many there are follows from its size (runtime/malloc.go: mallocgcSmallScanHeader,
 * newarray).  Descriptors that DWARF does not tell are known by the name that stands in the program.
 */
#include "dump/go/go_typing.h"

#include "base/text.h"

#include <stdlib.h>

/* The type whose descriptor stands at an address, or TYPE_NONE. */
static uint32_t described(const struct typing *t, uint64_t descriptor)
{
	uint32_t type = types_by_descriptor(t->go.types, descriptor);
	struct text name = TEXT_INIT;
	uint64_t n;

	if (type != TYPE_NONE || !t->program || !program_type_name(t->program, descriptor, &name))
		return type;
	type = types_by_name(t->go.types, name.s);
	text_release(&name);
	/* its size stands first: of one name there may be several */
	const uint8_t *bytes = program_constant(t->program, descriptor, &n);
	if (type != TYPE_NONE && (!bytes || n < t->word || typing_word(t, bytes) != t->go.types->type[type].size))
		return TYPE_NONE;
	return type;
}

static void take(struct typing *t, uint32_t id, uint64_t size, uint32_t type)
{
	uint64_t each = t->go.types->type[type].size, room = size - t->layout.header;
	bool array = each && room / each > 1;

	if (!each || each > room || t->go.of[type].ignored || !typing_fits(t, id, type, array ? GUESSED_COUNT : 0))
		t->conflicts++; /* no header that this program wrote */
	else
		typing_claim_exact(t, id, type, array);
}

int typing_from_headers(struct typing *t)
{
	enum { KNOWN = 256 }; /* descriptors asked about before */
	struct { uint64_t descriptor; uint32_t type; } known[KNOWN] = {{0, TYPE_NONE}};

	for (uint32_t id = 0; t->layout.header && t->field_lists && id < t->c->n_objects; id++) {
		uint64_t size = t->c->size(t->c, id);
		if (progress_stops(t->progress, id))
			return err_cancelled(t->err);
		if (!go_header(&t->layout, size, true) || typing_pointer_free(t, id))
			continue;
		const uint8_t *bytes = t->c->bytes(t->c, id, NULL, &size);
		uint64_t descriptor = bytes && size > t->layout.header ? typing_word(t, bytes) : 0;
		unsigned at = (unsigned)(descriptor >> 5) % KNOWN;
		if (!descriptor)
			continue;
		if (known[at].descriptor != descriptor) {
			known[at].descriptor = descriptor;
			known[at].type = described(t, descriptor);
		}
		if (known[at].type != TYPE_NONE)
			take(t, id, size, known[at].type);
	}
	return t->refused ? ERR_NOMEM : 0;
}
