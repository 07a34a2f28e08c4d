/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fake_session.h - a session on the heap of fake_heap.h, and what its command lines print. */
#ifndef CAIRN_TESTS_FAKE_SESSION_H
#define CAIRN_TESTS_FAKE_SESSION_H

#include "command/session/session.h"
#include "fake_heap.h"
#include "result/print.h"

extern struct fake_heap fake;
extern struct session session;

/* Before and after each test: cmocka's set-up and tear-down. */
int fake_session_open(void **state);
int fake_session_close(void **state);

/* Run a line and return what it prints ("!message" for an error); the caller frees. */
char *printed_by(const char *line, enum print_format format);
void expect_printed(const char *line, enum print_format format, const char *wanted);

#endif
