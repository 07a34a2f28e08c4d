/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mem.h - three kinds of memory.
 *
 * Small allocations never fail as far as callers can see (x*): the program ends with a message
 * instead.  Arrays sized by a dump are "big": they come zeroed from the kernel, page by page as
 * they are touched, can be given back at once, and their failure is an ordinary error that names
 * the bytes wanted.  Strings and small structs with one lifetime live in an arena.
 */
#ifndef CAIRN_BASE_MEM_H
#define CAIRN_BASE_MEM_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* The readline library looks for global functions of these names, with other arguments, and would
 * call ours: so the linker sees other names. */
#define xmalloc cairn_xmalloc
#define xcalloc cairn_xcalloc
#define xrealloc cairn_xrealloc
#define xstrdup cairn_xstrdup
#define xstrndup cairn_xstrndup
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));

/* Called once before the program ends for lack of memory; the screen puts the terminal back here. */
extern void (*mem_before_exit)(void);

/*
 * count * size zeroed bytes; huge pages are asked for.  NULL with ERR_NOMEM in *err when the
 * product overflows, the kernel refuses, or the sum of all big memory would pass the limit.
 * A count of 0 gives a valid pointer that must be freed as well.
 */
void *big_alloc(uint64_t count, uint64_t size, struct err *err);

/* Grow or shrink to new_count elements, contents kept, new bytes zero.  NULL: *old is unharmed. */
void *big_resize(void *old, uint64_t old_count, uint64_t new_count, uint64_t size, struct err *err);

/* Give back what big_alloc(count, size) gave.  NULL is fine. */
void big_free(void *p, uint64_t count, uint64_t size);

/* Have the kernel back count elements of big memory that will be written: a thread's way to help
 * another.  What they hold does not change. */
void big_touch(void *p, uint64_t count, uint64_t size);

/* Bytes of big memory in use now, and the most there ever was; the limit (0: none) set by --mem. */
uint64_t big_in_use(void);
uint64_t big_peak(void);
void big_set_limit(uint64_t bytes);

/* An arena: freed as a whole.  Pointers stay valid until then. */
struct arena {
	struct arena_block *first;
	size_t used; /* bytes handed out, all blocks */
};
#define ARENA_INIT { .first = NULL }

void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull)); /* 16-byte aligned */
char *arena_strndup(struct arena *a, const char *s, size_t n) __attribute__((returns_nonnull));
void arena_release(struct arena *a);
void arena_move(struct arena *to, struct arena *from); /* all of from; from is empty then */

/*
 * Make room for one more element in a growing array of small things:
 *     VEC_PUSH(list, n, capacity) = item;
 */
#define VEC_PUSH(array, count, capacity)                                                           \
	(*((count) == (capacity)                                                                   \
	        ? (void)((capacity) = (capacity) ? 2 * (capacity) : 8,                             \
	              (array) = xrealloc((array), (capacity), sizeof *(array)))                    \
	        : (void)0,                                                                         \
	    &(array)[(count)++]))

#endif
