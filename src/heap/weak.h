/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weak.h - the references that do not keep their referent alive; the only place with that rule.
 *
 * A weak reference is the one in the field "referent", which java.lang.ref.Reference declares, of
 * an instance of SoftReference, WeakReference, PhantomReference, FinalReference (and Android's
 * FinalizerReference) or of a subclass.  It does not count as weak if another reference of the same
 * object has the same target.
 *
 * In the VM strong and soft references hold, weak, final and phantom ones do not (h->weak), unless the field "next" of
 * java.lang.ref.Reference is set: such a reference is inactive, and HotSpot's collectors follow it
 * (share/gc/shared/referenceProcessor.cpp).  So a FinalReference that waits for its finalizer holds its referent, and
 * up to JDK 8 an enqueued PhantomReference does, too.  The value in the entry of a WeakHashMap or of a ThreadLocalMap
 * is an ordinary reference, and strong.
 *
 * If the dump holds no field values, weak references look like others, and none is found.
 *
 * Immutable once made; any thread.
 */
#ifndef CAIRN_HEAP_WEAK_H
#define CAIRN_HEAP_WEAK_H

#include "algorithms/bits.h"
#include "base/err.h"
#include "heap/ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;
struct progress;

struct weak_reference {
	uint32_t holder, referent; /* object ids */
};
struct weak_references {
	struct bits holders;             /* a bit for each object: it holds a weak reference */
	struct weak_reference *reference; /* sorted by holder; each has one */
	size_t n;
	bool borrowed; /* reference belongs to another, and has those of holders without a bit, too */
};

/* How firmly a reference object holds: the collector clears those of a kind before it looks at the next one.  A
 * cleaner is a phantom reference with an action of its own (sun.misc.Cleaner, PhantomCleanable of java.lang.ref.Cleaner
 * and the like); a SoftCleanable is soft. */
enum weak_kind { WEAK_SOFT, WEAK_WEAK, WEAK_FINAL, WEAK_PHANTOM, WEAK_CLEANER, WEAK_KINDS };
const char *weak_kind_name(enum weak_kind kind); /* "soft" */

/* Of which kind the instances of a class are, by class index; WEAK_KINDS: no reference objects.  The caller's
 * (big_free); NULL: ERR_NOMEM. */
MUST_CHECK uint8_t *weak_kinds(const struct heap *h, struct err *err);

/* In place of an id: the referent was cleared, lies in no object of the dump, or cannot be read. */
#define REFERENT_NULL HEAP_NONE
#define REFERENT_LOST (HEAP_NONE - 1)
#define REFERENT_UNREAD (HEAP_NONE - 2)

/* Every reference object, whatever its referent: those that struct weak_references does not have as well, because
 * their referent is null, or another reference of the same object leads there, too. */
struct reference_object {
	uint32_t holder, referent; /* object ids, or one of the above */
	enum weak_kind kind;
};
struct reference_objects {
	struct reference_object *at; /* by holder, ascending */
	size_t n;
	bool only_held; /* values are not here: known are those that hold something, and nothing of the others */
};
/* 0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int reference_objects_find(struct reference_objects *out, const struct heap *h, struct progress *progress,
    struct err *err);
void reference_objects_release(struct reference_objects *r);

/* How many weak, final and phantom references hold in the VM, because they are inactive.  0 or ERR_NOMEM. */
MUST_CHECK int weak_count_inactive(const struct heap *h, uint64_t *n, struct err *err);

/* Does this dump show which references are weak? */
bool weak_known(const struct heap *h);

/* 0, or ERR_UNSUPPORTED and why not. */
MUST_CHECK int weak_told(const struct heap *h, struct err *err);

/* Find h->soft_and_weak and h->weak, once references are there.  Takes 2 bits for each object and 8 bytes for each
 * such reference, which heap_close releases (weak_forget).  progress may be NULL.  0, ERR_NOMEM, ERR_CANCELLED, or
 * ERR_FORMAT: they are damaged in the index, and there is no dump to find them in. */
MUST_CHECK int weak_find(struct heap *h, struct progress *progress, struct err *err);
void weak_forget(struct heap *h);
void weak_release(struct weak_references *w);
/* Add them to an index (heap/index_file/index_file.h), from which they are known again without values; nothing where
 * they are not known. */
struct chunks_writer;
MUST_CHECK int weak_write(const struct heap *h, struct chunks_writer *to, struct err *err);

/* The object that a holder refers to weakly; for ids whose bit in w->holders is set. */
uint32_t weak_referent(const struct weak_references *w, uint32_t holder);

/* Is the reference of the holder to the target a weak one?  w may be NULL: none is. */
static inline bool weak_is(const struct weak_references *w, uint32_t holder, uint32_t target)
{
	return w && bits_get(&w->holders, holder) && weak_referent(w, holder) == target;
}

#endif
