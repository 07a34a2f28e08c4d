/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dump_stub.c - what stands for a dump that is not there, so that nobody has to ask whether it is. */
#include "dump/dump_stub.h"

#include "dump/reader.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <stdint.h>
#include <stdlib.h>

struct dump_stub {
	struct dump dump; /* first: what the others see */
	struct reader reader;
	struct source source;
	char *path;
	struct named_address *named; /* by address */
	size_t n_named;
};

static void close_absent(struct dump *dump)
{
	struct dump_stub *a = (struct dump_stub *)dump;

	big_free(a->named);
	free(a->path);
	free(a);
}

static bool symbol(const struct dump *dump, uint64_t address, struct text *out)
{
	const struct dump_stub *a = (const struct dump_stub *)dump;
	size_t at;

	BISECT(at, a->n_named, a->named[at].address < address);
	if (at == a->n_named || a->named[at].address != address || !a->named[at].name)
		return false;
	text_add(out, a->named[at].name);
	return true;
}

static int by_address(const void *x, const void *y)
{
	const struct named_address *a = x, *b = y;
	return (a->address > b->address) - (a->address < b->address);
}

void dump_stub_names(struct dump *dump, struct named_address *list, size_t n)
{
	struct dump_stub *a = (struct dump_stub *)dump;

	sort_array(list, n, sizeof *list, by_address);
	a->named = list;
	a->n_named = n;
	a->reader.symbol = symbol;
}

struct dump *dump_stub_new(const char *path, uint64_t file_size)
{
	struct dump_stub *a = xcalloc(1, sizeof *a);

	a->path = xstrdup(path);
	a->source = (struct source){ .path = a->path, .bytes = (const uint8_t *)"", .file_size = file_size };
	a->reader.close = close_absent;
	a->reader.name = a->reader.title = a->reader.label = "";
	dump_begin(&a->dump, &a->reader, &a->source);
	return &a->dump;
}

void dump_stub_tells(struct dump *dump, const struct dump_facts *facts)
{
	struct dump_stub *a = (struct dump_stub *)dump;

	a->reader.name = facts->format;
	a->reader.title = facts->title;
	a->reader.label = facts->label;
	dump->facts = *facts;
}
