/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing_header.c - types of objects that begin with the address of their type's descriptor.
 *
 * The descriptor is that of the value, or of the element if the program asked for several: the object
 * is then an array, and how many there are follows from its size (runtime/malloc.go: mallocgcSmallScanHeader,
 * newarray).
 */
#include "dump/go/go_typing.h"

#include "base/progress.h"
#include "base/text.h"
#include "dump/reader.h"
#include "dump/types.h"

#include <string.h>

static void describe_by_name(const struct typing *t, struct described *d)
{
	struct text name = TEXT_INIT;
	uint64_t n;

	if (!t->program || !program_type_name(t->program, d->descriptor, &name))
		return;
	d->type = type_book_named(t->go.types, name.s);
	/* its size stands first: of one name there may be several */
	const uint8_t *bytes = program_constant(t->program, d->descriptor, &n);
	if (d->type != TYPE_NONE && (!bytes || n < t->word ||
	    typing_word(t, bytes) != t->go.types->type[d->type].size))
		d->type = TYPE_NONE;
	if (d->type == TYPE_NONE && !strncmp(name.s, "[]", 2))
		d->element = type_book_named(t->go.types, name.s + 2);
	text_release(&name);
}

uint32_t typing_described(struct typing *t, uint64_t descriptor, uint32_t *element)
{
	struct described *d = &t->described[(descriptor >> 5) % DESCRIBED];

	if (descriptor && d->descriptor != descriptor) {
		*d = (struct described){descriptor, types_by_descriptor(t->go.types, descriptor), TYPE_NONE};
		if (d->type == TYPE_NONE)
			describe_by_name(t, d);
	}
	if (element)
		*element = descriptor ? d->element : TYPE_NONE;
	return descriptor ? d->type : TYPE_NONE;
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
	for (uint32_t id = 0; t->layout.header && t->field_lists && id < t->c->n_objects; id++) {
		uint64_t size = t->c->size(t->c, id);
		if (progress_stops(t->progress, id))
			return err_cancelled(t->err);
		if (!typing_head(t, id, size))
			continue;
		const uint8_t *bytes = t->c->bytes(t->c, id, NULL, &size);
		uint64_t descriptor = bytes && size > t->layout.header ? typing_word(t, bytes) : 0;
		uint32_t type = typing_described(t, descriptor, NULL);
		if (type != TYPE_NONE)
			take(t, id, size, type);
	}
	return t->refused ? ERR_NOMEM : 0;
}
