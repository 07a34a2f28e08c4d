/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * faults.h - calls of the system and of libraries that fail because a test wants it.
 *
 * The linker leads every call that our own code makes to faults.c (-Wl,--wrap, see Makefile.am):
 * memory, files, threads, and what libraries refuse for want of them.  Calls inside the C library and
 * other libraries are not reached.
 */
#ifndef CAIRN_TESTS_FAULTS_H
#define CAIRN_TESTS_FAULTS_H

#include <stdint.h>

/* Of the calls from now on the first-th (from 1) and those behind it, count in all, fail; 0: none.
 * A program does the same from its start when FAULTS=FIRST:COUNT is in its environment. */
void faults_at(uint64_t first, uint64_t count);

/* How many calls there were since, and the name of the first that was made to fail, or NULL. */
uint64_t faults_calls(void);
const char *faults_name(void);

/* Blocks of malloc that our code has now.  faults_adopt: one that a library made is ours from now on. */
int64_t faults_blocks(void);
void faults_adopt(const void *block);

#endif
