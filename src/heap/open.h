/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * open.h - opening a dump as a heap: options, how much it takes, and who watches.
 *
 * heap_open may leave references and roots for later (heap_waits); heap_read_rest adds them once, and no other thread
 * may read the heap meanwhile.
 */
#ifndef CAIRN_HEAP_OPEN_H
#define CAIRN_HEAP_OPEN_H

#include "base/err.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;
struct heap_watcher;
struct progress;

/* About how much a dump will take, estimated before it is read.  Bytes are those that memory/big.h counts, at
 * their peak. */
struct heap_need {
	uint64_t objects, references;
	uint64_t objects_bytes; /* for objects, classes and sizes */
	uint64_t bytes;         /* for references and roots as well */
};
#define HEAP_NEED_FROM ((uint64_t)10 << 20) /* smaller dumps take what there is */

struct heap_options {
	struct dump_options dump;
	const char *path;
	const struct heap_watcher *watcher;
	bool mat_sizes; /* shallow sizes by Eclipse MAT's rules, not the VM's */
	const char *index; /* the file of its index; NULL: where it usually lies (heap/index_file/index_file.h) */
	bool no_index;  /* read the dump, whatever indexes there are */
	bool index_later; /* the same of references that stand in an index */
	/* Or NULL.  Called on the loading thread, once the dump is open and before it is read, if it is large enough. */
	void (*needs)(void *context, const struct heap_need *need);
	void *needs_context;
	bool referrers_later; /* where references do not stay in memory, leave lists of referrers to heap_list_referrers */
	bool references_later; /* leave references and roots to heap_read_rest where nothing that is known before
	                          depends on them; the options must last until then */
};

/* Do references wait to be read? */
bool heap_waits(const struct heap *h);

/*
 * A watcher uses a heap while the loading thread reads the rest of it.  Both functions run on the loading thread;
 * either may be NULL.
 *
 * objects_ready: the watcher gets a copy of the heap.  It has objects, classes and sizes, and values if
 * heap->settled; references, roots and threads are empty.  The loading thread writes neither the copy nor what the
 * copy points to, so any thread may read it without a lock.  It becomes whole in heap_publish.
 * objects_gone: the copy is no longer valid, because heap_open fails (cancelled, no memory) or
 * because types were found and classes change.  It must return only when no thread reads the copy;
 * where classes change, objects_ready follows again.
 */
struct heap_watcher {
	void (*objects_ready)(void *context, const struct heap *heap);
	void (*objects_gone)(void *context);
	void *context;
};

/*
 * Map, read and index a dump; progress may be NULL.  0 also for a damaged dump of which at least the
 * header could be read (heap->damaged is then set), and when memory sufficed for the objects but not
 * for their references (heap->no_references); otherwise a negative code with *err filled.
 */
MUST_CHECK int heap_open(struct heap **out, const struct heap_options *options,
    struct progress *progress, struct err *err);
/* Read the references and roots that heap_open left for later (heap->rest); nobody may look at the heap meanwhile.  0,
 * also where memory did not suffice (heap->no_references), or a negative code with *err filled: then there are none,
 * either. */
MUST_CHECK int heap_read_rest(struct heap *heap, struct progress *progress, struct err *err);
/* Make the lists of referrers that heap_open left for later (heap->referrers_wait) or that an index lacks; nobody may
 * look at the heap meanwhile.  0, ERR_NOMEM or ERR_CANCELLED: then they wait on. */
MUST_CHECK int heap_list_referrers(struct heap *heap, struct progress *progress, struct err *err);
/* Make the copy that a watcher got whole: no other thread may read it meanwhile.  Returns the copy, which is
 * the caller's in place of `loaded`; without a copy `loaded` itself. */
struct heap *heap_publish(struct heap *loaded);
void heap_close(struct heap *heap); /* NULL is fine */

#endif
