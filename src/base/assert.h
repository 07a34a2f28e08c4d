/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assert.h - what must be true of our own data, whatever a dump holds.
 *
 * cairn_assert ends the program with the place and the condition where this is false: in debug,
 * sanitized and fuzzing builds.  Otherwise the condition is compiled but never evaluated, and costs
 * nothing.  Not for bytes of a dump nor for what a user typed: those are checked in every build.
 */
#ifndef CAIRN_BASE_ASSERT_H
#define CAIRN_BASE_ASSERT_H

#ifdef CAIRN_ASSERTIONS
#define cairn_assert(condition)                                                                    \
	((condition) ? (void)0 : assert_failed(#condition, __FILE__, __LINE__))
#else
#define cairn_assert(condition) ((void)sizeof(!(condition)))
#endif

/* Give the terminal back, say what was false, abort. */
__attribute__((noreturn, cold)) void assert_failed(const char *condition, const char *file, int line);

#endif
