/* SPDX-License-Identifier: GPL-3.0-or-later */
/* promise.h - what must hold whatever the bytes are: otherwise the target says what was broken, and aborts. */
#ifndef CAIRN_TESTS_PROMISE_H
#define CAIRN_TESTS_PROMISE_H

#include <stdio.h>
#include <stdlib.h>

#define PROMISE(condition)                                                                         \
	do {                                                                                           \
		if (!(condition)) {                                                                        \
			fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition);        \
			abort();                                                                               \
		}                                                                                          \
	} while (0)

#endif
