/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noted.h - what a runtime noted of objects and threads: finalizers, deferred calls, panics. */
#ifndef CAIRN_HEAP_NOTED_H
#define CAIRN_HEAP_NOTED_H

#include "dump/facts.h"

#include <stdbool.h>

struct heap;
struct text;

/* Decode the next of what the dump notes of objects or threads; false behind the last, and where the format
 * has none (heap_has_notes). */
bool heap_next_noted(const struct heap *h, enum noted_kind kind, struct noted_walk *walk, struct noted *out);
bool heap_has_notes(const struct heap *h);
/* Append the name of a function that the runtime noted, escaped: "main.main.func1", or where its code is. */
void heap_noted_function(const struct heap *h, const struct noted *noted, struct text *to);

#endif
