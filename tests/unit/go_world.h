/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_world.h - a small memory of a Go program and its types, made by hand, for the tests of typing.
 */
#ifndef CAIRN_TESTS_GO_WORLD_H
#define CAIRN_TESTS_GO_WORLD_H

#include "dump/go/go_dump.h"
#include "dump/go/go_typing.h"
#include "dump/program/program_read.h"
#include "dump/reader.h"

enum { MOST = 64, START = 0xc000, W = 8 };

/* Objects behind one another; their bytes are followed by a field list, as in a dump. */
struct world {
	struct classifier c; /* first */
	struct types types;
	struct go go; /* the dump that they are of */
	struct typing t;
	uint64_t at[MOST], size[MOST];
	uint8_t *bytes[MOST];
	uint64_t next;
	const char *class_name[MOST]; /* "": none */
	uint64_t length[MOST];
	enum typed_by by[MOST];
	char names[MOST][80];
	uint32_t n_names;
};

struct world *world_new(void); /* with the types int, uint8 and string: 0, 1, 2 */
void world_free(struct world *w);

/* Types; each returns its number.  A field goes to the struct made last. */
uint32_t world_type(struct world *w, struct type type);
uint32_t world_simple(struct world *w, const char *name, enum type_kind kind, uint64_t size,
    uint32_t element);
uint32_t world_structure(struct world *w, const char *name, uint64_t size);
void world_field(struct world *w, const char *name, uint64_t offset, uint32_t type);
uint32_t world_pointer(struct world *w, const char *name, uint32_t to);

/* An object behind the last; its words. */
uint32_t world_object(struct world *w, uint64_t size);
void world_set(struct world *w, uint32_t id, uint64_t offset, uint64_t value);

/* Before the first claim; after the last. */
void world_begin(struct world *w);
void world_finish(struct world *w);

/* The object turned out to be that. */
void world_is(const struct world *w, uint32_t id, const char *name, uint64_t length, enum typed_by by);

#endif
