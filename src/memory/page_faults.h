/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page_faults.h - ranges of addresses whose pages are brought when a load asks for them.
 *
 * A load from a page without access (PROT_NONE) would end the program (SIGSEGV).  In a watched range the owner is
 * asked to bring the page, on the thread that loads, and the load is tried again.  All other faults go to the action
 * that was set before.  Any thread; the handler itself looks only at the table.
 */
#ifndef CAIRN_MEMORY_PAGE_FAULTS_H
#define CAIRN_MEMORY_PAGE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum page_brought {
	PAGE_BROUGHT,
	PAGE_THERE,   /* it was there already: another thread brought it, or the fault has another cause */
	PAGE_REFUSED, /* it cannot be brought: the fault ends the program */
};
/* Make this byte of the range readable.  Runs in a handler, on a thread that loads from the range: a lock that the
 * owner takes must be one that nobody holds at such a load. */
typedef enum page_brought page_faults_bring(void *context, uint64_t offset);

struct page_faults;
enum { PAGE_FAULTS_MOST = 64 }; /* ranges at a time */

/* NULL: there are too many. */
struct page_faults *page_faults_watch(const void *begin, uint64_t size, page_faults_bring *bring, void *context);
/* Nobody loads from it any more.  NULL is fine. */
void page_faults_forget(struct page_faults *w);
/* Whoever sets an action for SIGSEGV calls this afterwards: it goes in front again, if a range is watched. */
void page_faults_catch(void);

#endif
