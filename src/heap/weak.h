/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weak.h - the references that the garbage collector does not count: the one place with that rule.
 *
 * Weak is the reference in the field "referent", declared by java.lang.ref.Reference, of an instance
 * of SoftReference, WeakReference, PhantomReference, FinalReference (and Android's
 * FinalizerReference) or of a subclass; unless the same object holds the same one in another way, too.
 * Where the dump holds no field values weak references cannot be told from others: there are none.
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
	struct bits holders;             /* by object: it has one */
	struct weak_reference *reference; /* by holder, which has at most one */
	size_t n;
};

/* Can weak references be told from strong ones in this dump? */
bool weak_known(const struct heap *h);

/* All of them.  0, ERR_NOMEM or ERR_CANCELLED; a bit an object and 8 bytes each. */
MUST_CHECK int weak_find(struct weak_references *out, const struct heap *h,
    struct progress *progress, struct err *err);
void weak_release(struct weak_references *w);

uint32_t weak_referent(const struct weak_references *w, uint32_t holder); /* of a holder */

/* Is the reference of the holder to the target a weak one?  w may be NULL: none is. */
static inline bool weak_is(const struct weak_references *w, uint32_t holder, uint32_t target)
{
	return w && bits_get(&w->holders, holder) && weak_referent(w, holder) == target;
}

#endif
