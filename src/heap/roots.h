/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roots.h - the GC roots of a heap (heap->roots): what each holds, and how it is called. */
#ifndef CAIRN_HEAP_ROOTS_H
#define CAIRN_HEAP_ROOTS_H

#include "base/amount.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;
struct text;

struct heap_root {
	uint32_t object;
	uint32_t thread; /* index in threads, or HEAP_NONE */
	uint32_t frame;  /* index in that thread's frames, or HEAP_NONE */
	enum root_kind kind : 8;
	enum certainty certainty : 8;
	bool vms_own;    /* a handle of the VM itself, which no code of the program can let go of */
	uint32_t offset; /* from the object's value to where the pointer points, at most UINT32_MAX; of a Java local
	                    its number among those that its frame holds, the last one's if several hold the
	                    object: 1 is the first, 0 unknown */
	uint64_t slot;   /* address of the word that holds the pointer, 0 unknown or of no interest; of
	                    ROOT_VM_INTERNAL see heap_root_words */
};

const char *root_kind_name(enum root_kind kind); /* "System class", "Java local", … */

/* What the dump says of a root, escaped and appended: "finalizer queue".  False: nothing. */
bool heap_root_words(const struct heap *h, const struct heap_root *root, struct text *to);

bool heap_is_root(const struct heap *h, uint32_t id);
/* Roots of this object: index of the first in h->roots and their number. */
size_t heap_roots_of(const struct heap *h, uint32_t id, size_t *first);

/* Does the dump record roots that its writer inferred (facts.roots_were_inferred)?  Looks at all roots. */
bool heap_roots_were_inferred(const struct heap *h);

/* Can the program be changed so that it lets go of what this root holds?  Not of what the VM holds. */
bool heap_root_clearable(const struct heap_root *root);

#endif
