/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_pointers.h - which words of an object are pointers, one after another.
 *
 * A heap dump lists them behind the contents of each object; in the memory of a program they are bits.  One thread
 * each.
 */
#ifndef CAIRN_DUMP_GO_GO_POINTERS_H
#define CAIRN_DUMP_GO_GO_POINTERS_H

#include "dump/go/go_record.h"
#include "dump/gocore/gocore.h"

struct go_pointers {
	const uint8_t *list, *end; /* a list of fields; NULL: bits */
	struct gocore_pointers words;
};

/* The next field: its kind (always GO_POINTER of bits) and offset in the object.  False: there is none. */
static inline bool go_pointers_next(struct go_pointers *p, uint64_t *kind, uint64_t *offset)
{
	if (p->list)
		return go_field_next(&p->list, p->end, kind, offset);
	*kind = GO_POINTER;
	return gocore_pointers_next(&p->words, offset);
}

#endif
