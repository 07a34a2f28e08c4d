/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * big.h - memory whose size a dump decides.
 *
 * Memory that grows with the objects, classes, names or rows of a dump is allocated here.  So its sum
 * is known and limited (--mem), and a failure is an ordinary error that names the bytes wanted: the
 * caller returns it, and the program goes on.  A block knows its own size and where its bytes live;
 * the caller that frees it needs to know neither.
 *
 * Small blocks come from malloc, large ones are pages of their own: zeroed by the kernel as they
 * are touched, grown without copying, and given back at once.
 */
#ifndef CAIRN_MEMORY_BIG_H
#define CAIRN_MEMORY_BIG_H

#include "base/err.h"
#include "memory/big_use.h"

#include <stddef.h>
#include <stdint.h>

#define BIG_HUGE_PAGE ((uint64_t)2 << 20) /* blocks of as many bytes begin at a multiple of it */

/*
 * count * size zeroed bytes, anonymous and BIG_RANDOM.  NULL with ERR_NOMEM in *err when the
 * product overflows, the system refuses, or the sum of all blocks would pass the limit.  A count
 * of 0 gives a valid pointer that must be freed as well.  All functions here: from any thread.
 */
void *big_alloc(uint64_t count, uint64_t size, struct err *err) __attribute__((warn_unused_result));

/* The same in an unlinked file in $TMPDIR, else /var/tmp, whose room on the disk is taken first:
 * ERR_IO when there is none. */
void *big_spill(uint64_t count, uint64_t size, struct err *err) __attribute__((warn_unused_result));

/* bytes of the open file fd from offset on, which must be a multiple of the page size; read only.
 * ERR_IO when the file cannot be mapped or ends before them.  What the file loses while it is mapped reads as zeros
 * (memory/sigbus_guard.h), or as ones if that is asked for; the reader of the block asks whether the file shrank. */
const void *big_map(int fd, uint64_t offset, uint64_t bytes, struct err *err)
    __attribute__((warn_unused_result));
void big_vanishes_as_ones(const void *p); /* any pointer is fine */

/* The sentence for count * size bytes of memory or addresses that the system refuses; it names ulimit -v if that is
 * the cause.  Returns ERR_NOMEM. */
int big_refused(uint64_t count, uint64_t size, struct err *err);

/* Grow or shrink to count elements, contents and owner kept, new bytes zero; NULL as old allocates.
 * A mapped block cannot be resized.  NULL: old is unharmed. */
void *big_resize(void *old, uint64_t count, uint64_t size, struct err *err)
    __attribute__((warn_unused_result));

/* Shrink to count elements; a system that refuses costs memory and nothing else. */
void *big_fit(void *old, uint64_t count, uint64_t size);

/* Give back a block of any owner.  NULL is fine. */
void big_free(const void *p);

/* Say how a block is used. */
void big_hint(void *p, enum big_use use);

/*
 * big_settle: nobody writes to this block any more; when memory is short it may move to the unnamed file, at the
 * same address.  Does nothing to a block that cannot move.
 */
void big_settle(void *p);

/* The same as big_alloc, for random access: in memory if the share of big_hold has room for it. */
void *big_alloc_held(uint64_t count, uint64_t size, struct err *err) __attribute__((warn_unused_result));

/*
 * A block that will be accessed at random for long: from the unnamed file it moves to memory if the limit has room
 * for it; then little else is left.  Returns the block, perhaps at another address.  p may be NULL.
 */
void *big_hold(void *p);

/* Bytes asked for (0 for NULL), owner and use of a block. */
uint64_t big_bytes(const void *p);
enum big_owner big_owner(const void *p);
enum big_use big_use(const void *p);

/*
 * A place for one more element in a growing array, or NULL with ERR_NOMEM and everything as it was:
 *     struct item *at = BIG_PUSH(list, n, capacity, err);
 */
#define BIG_PUSH(array, count, capacity, err)                                                      \
	((count) < (capacity)                                                                      \
	        ? &(array)[(count)++]                                                              \
	        : ((array) = big_more((array), (count), sizeof *(array), (err)),                   \
	              (capacity) = big_bytes(array) / sizeof *(array),                             \
	              (count) < (capacity) ? &(array)[(count)++] : NULL))

/* Put an element there: 0, or ERR_NOMEM with everything as it was.  The element comes last: it may have commas. */
#define BIG_ADD(array, count, capacity, err, ...)                                                  \
	((count) < (capacity) ||                                                                   \
	            ((array) = big_more((array), (count), sizeof *(array), (err)),                 \
	                (capacity) = big_bytes(array) / sizeof *(array), (count) < (capacity))     \
	        ? ((array)[count] = (__VA_ARGS__), (count)++, 0)                                   \
	        : ERR_NOMEM)

/* For BIG_PUSH: old with room for more than count elements, or old itself and *err. */
void *big_more(void *old, uint64_t count, uint64_t size, struct err *err);

/* Have the kernel back count elements of a block that will be written: a thread's way to help
 * another.  What they hold does not change. */
void big_touch(void *p, uint64_t count, uint64_t size);

/* Have the kernel map these bytes of a mapped block, which are about to be read in order.  Without it each page
 * costs a fault. */
void big_fetch(const void *p, uint64_t bytes);

/* Copy bytes into a block from its byte at on, or out of it.  In the file they are written and read there, which is
 * less work than to have its pages in memory one by one. */
void big_write(void *p, uint64_t at, const void *from, uint64_t bytes);
void big_read(void *to, const void *p, uint64_t at, uint64_t bytes);
/* Bytes of a block from its byte at on, where they stand; those in the file are copied to room. */
const void *big_look(const void *p, uint64_t at, uint64_t bytes, void *room);

/* For callers that cannot fail (arenas): over the limit the block is allocated all the same, and if the system
 * refuses it comes from the reserve (emergency_reserve.h).  memory_refusals_check reports either. */
void *big_must(size_t bytes) __attribute__((returns_nonnull));

/* Bytes of anonymous blocks in use now, and the most there ever were; bytes in files without a
 * name. */
uint64_t big_in_use(void);
uint64_t big_peak(void);
uint64_t big_spilled(void);

/* The most that anonymous blocks may have in sum (0: no limit), and who says so, as a refusal will
 * name it: "--mem".  Before there are other threads. */
void big_set_limit(uint64_t bytes, const char *whose);

#endif
