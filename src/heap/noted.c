/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noted.c - see noted.h. */
#include "heap/noted.h"

#include "base/text.h"
#include "dump/reader.h"
#include "heap/heap.h"

#include <inttypes.h>

bool heap_has_notes(const struct heap *h)
{
	return h->dump && h->dump->reader && h->dump->reader->memory;
}

bool heap_next_noted(const struct heap *h, enum noted_kind kind, struct noted_walk *walk, struct noted *out)
{
	return heap_has_notes(h) && h->dump->reader->memory->next_noted(h->dump, kind, walk, out);
}

void heap_noted_function(const struct heap *h, const struct noted *noted, struct text *to)
{
	if (!heap_symbol(h, noted->code, to) && !heap_symbol(h, noted->closure, to))
		text_addf(to, "0x%" PRIx64, noted->code ? noted->code : noted->closure);
}
