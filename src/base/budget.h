/* SPDX-License-Identifier: GPL-3.0-or-later */
/* budget.h - the sum of all big memory (big.h), and its limit.  Any thread. */
#ifndef CAIRN_BASE_BUDGET_H
#define CAIRN_BASE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Count bytes, or false, when the limit less what is kept for others does not allow them, and the sentence for it in
 * why, if that is not NULL. */
bool budget_take(uint64_t bytes, uint64_t kept, char *why, size_t room);
/* Would they be allowed if so many bytes that are in use were gone? */
bool budget_would_fit(uint64_t bytes, uint64_t kept, uint64_t gone);
void budget_take_anyway(uint64_t bytes);
void budget_give_back(uint64_t bytes);

/* The limit (0: none), bytes taken now, and the most there ever were. */
uint64_t budget_limit(void);
uint64_t budget_in_use(void);
uint64_t budget_peak(void);

/* The most that may be taken (0: no limit), and who says so, as a refusal will name it: "--mem".  Before
 * there are other threads. */
void budget_set_limit(uint64_t bytes, const char *whose);

/* What the dump that is read next is estimated to take, for its references and with retained sizes; 0: not known.
 * Refusals advise it. */
void budget_expect(uint64_t bytes, uint64_t retained);

/* Does a file take what does not fit (base/spill.h)?  Then no refusal advises one. */
void budget_file_takes_rest(bool may);

enum { BUDGET_ADVICE_ROOM = 100 };
/* "give --mem 684M, 1.2G with retained sizes, or --spill DIR": where so many bytes are needed at least. */
void budget_advise(uint64_t enough, char *to, size_t room);

#endif
