/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_command.c - fuzz target: any line typed at the prompt, with the sample of data/ open.
 *
 * Lines that could write files or start programs are passed over: a fuzzer must not reach a shell.
 */
#include "command/help/help.h"
#include "command/exec/exec.h"
#include "fuzz_reader.h"
#include "heap/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct heap *open_sample(void)
{
	static struct heap *heap;
	if (heap)
		return heap;
	const char *source = getenv("CAIRN_SOURCE");
	char path[4096];
	snprintf(path, sizeof path, "%s/data/heapdump.20261121.101500.4711.0001.phd", source ? source : ".");
	struct heap_options options = { .path = path };
	struct err err = ERR_INIT;
	if (heap_open(&heap, &options, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		exit(99);
	}
	return heap;
}

/* save, source and open by any prefix, redirections and shell pipes. */
static int reaches_outside(const char *line)
{
	if (strpbrk(line, "!>"))
		return 1;
	for (const char *p = line; *p; p++) {
		if ((p == line || !strchr("abcdefghijklmnopqrstuvwxyz", p[-1])) && p[0] == 's' &&
		    (p[1] == 'a' || (p[1] == 'o' && p[2] != 'r')))
			return 1;
		/* other words that begin with o go on with another letter, or are options */
		if ((p == line || !strchr("abcdefghijklmnopqrstuvwxyz-_", p[-1])) && p[0] == 'o' &&
		    (p[1] == 'p' || !strchr("abcdefghijklmnopqrstuvwxyz", p[1])))
			return 1;
	}
	return 0;
}

static void walk_result(struct result *r)
{
	struct text to = TEXT_INIT;
	for (size_t row = 0; row < r->n_rows && row < 50; row++) {
		for (unsigned column = 0; column < r->n_columns; column++) {
			struct cell cell;
			result_cell(r, row, column, &cell);
			cell_print(&cell, &to);
		}
	}
	text_release(&to);
}

static void complete(const struct session *s, const char *line, size_t n)
{
	for (size_t end = 0; end <= n; end += 1 + n / 8) {
		size_t start = 0, found = 0;
		char **word = session_complete(s, line, end, 40, &start, &found);
		if (start > end)
			abort();
		for (size_t i = 0; i < found; i++)
			free(word[i]);
		free(word);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 2000 || memchr(data, '\0', size) || memchr(data, '\n', size))
		return 0;
	char *line = calloc(size + 1, 1);
	if (!line)
		exit(99);
	memcpy(line, data, size);
	if (!reaches_outside(line)) {
		struct session session;
		struct result *result = NULL;
		struct err err = ERR_INIT;
		session_init(&session);
		session_open(&session, NULL, open_sample());
		int code = session_run_line(&session, line, &result, &err);
		if (code < 0 && !err.message[0])
			abort();
		if (code == 0 && result)
			walk_result(result);
		complete(&session, line, size);
		session_release(&session);
	}
	free(line);
	return 0;
}
