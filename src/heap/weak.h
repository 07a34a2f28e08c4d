/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weak.h - the references that the garbage collector does not count: the one place with that rule.
 *
 * A weak reference is the one in the field "referent", which java.lang.ref.Reference declares, of
 * an instance of SoftReference, WeakReference, PhantomReference, FinalReference (and Android's
 * FinalizerReference) or of a subclass.  It does not count as weak if another reference of the same
 * object has the same target.  If the dump holds no field values, weak references cannot be told
 * from others, and none is found.
 *
 * Immutable once made; any thread.
 */
#ifndef CAIRN_HEAP_WEAK_H
#define CAIRN_HEAP_WEAK_H

#include "heap/heap.h"

struct weak_reference {
	uint32_t holder, referent; /* object ids */
};
struct weak_references {
	struct bits holders;             /* a bit for each object: it holds a weak reference */
	struct weak_reference *reference; /* sorted by holder; each has one */
	size_t n;
};

/* Can weak references be told from strong ones in this dump? */
bool weak_known(const struct heap *h);

/* Find all weak references; progress may be NULL.  Returns 0, ERR_NOMEM or ERR_CANCELLED.  The
 * result takes a bit for each object and 8 bytes for each weak reference. */
MUST_CHECK int weak_find(struct weak_references *out, const struct heap *h,
    struct progress *progress, struct err *err);
void weak_release(struct weak_references *w);
/* Add them to an index (heap/saved/saved.h), from which they are known again without values; nothing where they are
 * not known. */
struct chunks_writer;
MUST_CHECK int weak_write(const struct weak_references *w, const struct heap *h, struct chunks_writer *to,
    struct err *err);

/* The object that a holder refers to weakly; for ids whose bit in w->holders is set. */
uint32_t weak_referent(const struct weak_references *w, uint32_t holder);

/* Is the reference of the holder to the target a weak one?  w may be NULL: none is. */
static inline bool weak_is(const struct weak_references *w, uint32_t holder, uint32_t target)
{
	return w && bits_get(&w->holders, holder) && weak_referent(w, holder) == target;
}

#endif
