/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dump_stub.h - a dump whose bytes are not there. */
#ifndef CAIRN_DUMP_DUMP_STUB_H
#define CAIRN_DUMP_DUMP_STUB_H

#include <stddef.h>
#include <stdint.h>

struct dump;
struct dump_facts; /* dump/facts.h */

/* A dump of which all that is known stands elsewhere, and whose bytes are not there: a reader without functions, and a
 * source of no bytes, which belongs to it.  dump_stub_tells gives it its facts, whose texts must stay. */
struct dump *dump_stub_new(const char *path, uint64_t file_size);
void dump_stub_tells(struct dump *dump, const struct dump_facts *facts);
/* It answers symbol() by these, which become its own (big memory); the names must stay, NULL: none is known. */
struct named_address {
	uint64_t address;
	const char *name; /* escaped */
};
void dump_stub_names(struct dump *dump, struct named_address *list, size_t n);

#endif
