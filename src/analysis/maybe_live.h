/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * maybe_live.h - unreachable objects that may be alive all the same, because what may hold them is not in
 * the dump.
 *
 * In a Go dump a compiler's map may leave out pointers on a stack: the words of frames lead to more objects
 * (heap.in_frames).  In an HPROF dump the instance fields of java.lang.Class are missing (the name, the
 * reflection data, the class of arrays, the constants of an enum …), so are threads that the VM runs for
 * itself.  JDK 21 does not write the stacks of parked virtual threads, no release those of other
 * continuations, and a program may give an object to a hidden class that it makes: these may be or hold
 * anything.  So of HPROF only what hangs on none of these is known to be garbage.
 *
 * Any thread.
 */
#ifndef CAIRN_ANALYSIS_MAYBE_LIVE_H
#define CAIRN_ANALYSIS_MAYBE_LIVE_H

#include "algorithms/bits.h"
#include "base/amount.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct heap;
struct model;

struct maybe_live {
	struct bits objects; /* by id: unreachable, and may be alive; word NULL: no such objects */
	uint32_t n;          /* how many */
	enum reason reason;  /* of all of them; REASON_NONE: none */
};

/* Why an object that is not in `reached` (by id) may be alive all the same; REASON_NONE: none may.  Which
 * ones may is another question, and takes far longer.  reached: NULL where it is not known. */
enum reason maybe_live_reason(const struct heap *h, const struct bits *reached);

/* reached: by id.  0: *out is the caller's (maybe_live_release).  ERR_NOMEM or ERR_CANCELLED.  Takes 4 bytes
 * an object while it runs, where there may be such objects at all. */
MUST_CHECK int maybe_live_find(struct maybe_live *out, const struct model *m, const struct bits *reached,
    struct err *err);
void maybe_live_release(struct maybe_live *u);

/* May this object, which no root reaches, be alive? */
static inline bool maybe_live_has(const struct maybe_live *u, uint32_t id)
{
	return u->objects.word && bits_get(&u->objects, id);
}

#endif
