/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fake_session.c - a session on the heap of fake_heap.h. */
#include "fake_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "command/exec/exec.h"

struct fake_heap fake;
struct session session;

int fake_session_open(void **state)
{
	(void)state;
	fake_heap_fill(&fake);
	session_init(&session);
	session_open(&session, NULL, &fake.heap);
	return 0;
}

int fake_session_close(void **state)
{
	(void)state;
	session_release(&session);
	fake_heap_release(&fake);
	return 0;
}

char *printed_by(const char *line, enum print_format format)
{
	struct err err = ERR_INIT;
	struct result *r;
	char *printed = NULL;
	size_t n;
	if (session_run_line(&session, line, &r, &err)) {
		struct text t = TEXT_INIT;
		text_addf(&t, "!%s", err.message);
		return text_take(&t);
	}
	FILE *f = open_memstream(&printed, &n);
	struct print_options o = {.format = format};
	if (r)
		assert_int_equal(print_result(r, &o, f, &err), 0);
	fclose(f);
	return printed;
}

void expect_printed(const char *line, enum print_format format, const char *wanted)
{
	char *printed = printed_by(line, format);
	assert_string_equal(printed, wanted);
	free(printed);
}
