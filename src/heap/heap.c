/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heap.c - see heap.h. */
#include "heap/heap.h"

#include "dump/source/source.h"

unsigned heap_word_bits(const struct heap *h)
{
	return h->wide_words ? 64 : h->facts.word_bits;
}

int heap_holds_no_values(const struct heap *h, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED, "%s%s", h->facts.redacted ? "the dump is " : "",
	    h->facts.no_values ? h->facts.no_values : "this dump holds no field values");
}

const char *heap_bytes_are(const struct heap *h)
{
	return h->source && h->source->compressed ? " of the unpacked data" : "";
}
