/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_pointers.h - which words of an object are pointers, one after another.
 *
 * A heap dump lists them behind the contents of each object.  In the memory of a program the allocator has them as
 * bits, which repeat with each value of an array.  One thread each.
 */
#ifndef CAIRN_DUMP_GO_GO_POINTERS_H
#define CAIRN_DUMP_GO_GO_POINTERS_H

#include "dump/go/go_record.h"

struct go_pointers {
	const uint8_t *list, *end; /* a list of fields; NULL: bits */
	uint64_t bits, base;       /* of the words from base on (of the object), 64 at most; those that came are off */
	bool (*more)(struct go_pointers *p); /* gets the next bits; false: there are none */
	/* What `more` needs. */
	const void *of;
	const uint8_t *mask;       /* NULL: it is `pattern`, of up to 64 words */
	uint64_t pattern;
	uint64_t mask_words, value_words; /* of a value: those that the mask is about; all.  0: nothing is behind `bits` */
	uint64_t value, next;      /* where the current value begins, in words; words of it that were looked at */
	uint64_t last;             /* words of the object in which there may be pointers */
	uint64_t address;          /* of the object */
};

/* The next field: its kind (always GO_POINTER of bits) and offset in the object.  False: there is none. */
static inline bool go_pointers_next(struct go_pointers *p, uint64_t *kind, uint64_t *offset)
{
	if (p->list)
		return go_field_next(&p->list, p->end, kind, offset);
	while (!p->bits)
		if (!p->more || !p->more(p))
			return false;
	*kind = GO_POINTER;
	*offset = (p->base + (uint64_t)__builtin_ctzll(p->bits)) * 8;
	p->bits &= p->bits - 1;
	return true;
}

#endif
