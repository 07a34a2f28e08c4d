/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mem.h - small things: command lines, titles, settings, structs of which there are a few.
 *
 * Callers never see their allocations (x*, arena_alloc) fail.  When the system refuses one it comes
 * from a reserve (emergency_reserve.h), the refusal is remembered, and the current work (a command, a load) calls
 * memory_refusals_check at its end and returns that error.  The program ends only when the reserve is used up.
 * Memory with a size that a dump decides comes from memory/big.h, or from an arena by arena_try, and its
 * failure is an error at once.
 */
#ifndef CAIRN_BASE_MEM_H
#define CAIRN_BASE_MEM_H

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

/* Refusals that were remembered, since the program began.  Any thread, as in all functions here. */
uint64_t mem_refusals(void);
void mem_refused(const char *sentence);  /* remember one, in an error's words */
void mem_refused_bytes(uint64_t bytes);  /* one of the system's */
/* The words of a refusal by the system: with the limit on addresses, where there is one. */
enum { MEM_SENTENCE = 200 };
void mem_refusal(uint64_t bytes, char sentence[static MEM_SENTENCE]);
void mem_last_refusal(char *sentence, size_t room);

/* Called once before the program ends for lack of memory; the screen puts the terminal back here. */
extern void (*mem_before_exit)(void);
_Noreturn void mem_exhausted(size_t bytes);

/*
 * Make room for one more element in a growing array of few small things (else: BIG_PUSH):
 *     VEC_PUSH(list, n, capacity) = item;
 */
#define VEC_PUSH(array, count, capacity)                                                           \
	(*((count) == (capacity)                                                                   \
	        ? (void)((capacity) = (capacity) ? 2 * (capacity) : 8,                             \
	              (array) = xrealloc((array), (capacity), sizeof *(array)))                    \
	        : (void)0,                                                                         \
	    &(array)[(count)++]))

#endif
