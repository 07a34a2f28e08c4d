/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory_limit.h - the sum of all big memory (big.h), and its limit.  Any thread. */
#ifndef CAIRN_BASE_MEMORY_LIMIT_H
#define CAIRN_BASE_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Count bytes, or false, when the limit less what is kept for others does not allow them, and the sentence for it in
 * why, if that is not NULL. */
bool memory_limit_take(uint64_t bytes, uint64_t kept, char *why, size_t room);
/* Would they be allowed if so many bytes that are in use were gone? */
bool memory_limit_would_fit(uint64_t bytes, uint64_t kept, uint64_t gone);
void memory_limit_take_anyway(uint64_t bytes);
void memory_limit_give_back(uint64_t bytes);

/*
 * Bytes of a dump that is in memory, not in a file.  They are in use as others are, but where others keep some for the
 * pages of a mapped dump, they are what it is kept for.
 */
void memory_limit_dump_takes(uint64_t bytes);
void memory_limit_dump_gives_back(uint64_t bytes);
uint64_t memory_limit_of_dumps(void);
/* Asked, by any thread, before bytes are refused: give back what is needed to take so many, as memory_limit_would_fit
 * tells.  False: nothing was given back. */
void memory_limit_ask_first(bool (*give)(uint64_t bytes));

/* The limit (0: none), bytes taken now, and the most there ever were. */
uint64_t memory_limit_bytes(void);
uint64_t memory_limit_in_use(void);
uint64_t memory_limit_peak(void);

/* The most that may be taken (0: no limit), and who says so, as a refusal will name it: "--mem".  Before
 * there are other threads. */
void memory_limit_set(uint64_t bytes, const char *whose);

/* What the dump that is read next is estimated to take, for its references and with retained sizes; 0: not known.
 * Refusals advise it. */
void memory_limit_expect(uint64_t bytes, uint64_t retained);

/* Does a file take what does not fit (memory/spill.h)?  Then no refusal advises one. */
void memory_limit_file_takes_rest(bool may);

enum { MEMORY_LIMIT_ADVICE_ROOM = 100 };
/* "give --mem 684M, 1.2G with retained sizes, or --spill DIR": where so many bytes are needed at least. */
void memory_limit_advise(uint64_t enough, char *to, size_t room);

#endif
