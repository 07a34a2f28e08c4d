/* SPDX-License-Identifier: GPL-3.0-or-later */
/* absent.c - what stands for a dump that is not there, so that nobody has to ask whether it is. */
#include "dump/reader.h"

#include "base/mem.h"

#include <stdlib.h>

struct absent {
	struct dump dump; /* first: what the others see */
	struct reader reader;
	struct source source;
	char *path;
};

static void close_absent(struct dump *dump)
{
	struct absent *a = (struct absent *)dump;

	free(a->path);
	free(a);
}

struct dump *dump_absent(const char *path, uint64_t file_size)
{
	struct absent *a = xcalloc(1, sizeof *a);

	a->path = xstrdup(path);
	a->source = (struct source){ .path = a->path, .bytes = (const uint8_t *)"", .file_size = file_size };
	a->reader.close = close_absent;
	a->reader.name = a->reader.title = a->reader.label = "";
	dump_begin(&a->dump, &a->reader, &a->source);
	return &a->dump;
}

void dump_absent_tells(struct dump *dump, const struct dump_facts *facts)
{
	struct absent *a = (struct absent *)dump;

	a->reader.name = facts->format;
	a->reader.title = facts->title;
	a->reader.label = facts->label;
	dump->facts = *facts;
}
