/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mkdump_go.h - a Go program's memory as mkdump makes it up, before it becomes records. */
#ifndef CAIRN_TESTS_MKDUMP_GO_H
#define CAIRN_TESTS_MKDUMP_GO_H

#include "mkdump.h"

enum { POINTER = 1, TEXT = 2, SLICE = 3, INTERFACE = 4, ANY = 5 }; /* in our own numbering, as 1.3 */
enum { MOST_FIELDS = 64, MOST_GOROUTINES = 8, MOST_TYPES = 6, HCHAN_WORDS = 12 };

struct field {
	unsigned kind;
	uint64_t offset; /* of the field; the word that holds the reference may be the one behind it */
};

struct memory { /* an object, a frame, a segment */
	uint64_t address, size;
	unsigned char *bytes;
	struct field field[MOST_FIELDS];
	unsigned n_fields;
	unsigned type, kind; /* 1.3 only: type record + 1, and how it is laid out */
};

struct go_type { /* 1.3: with fields; since then only named */
	uint64_t address, size;
	struct field field[4];
	unsigned n_fields;
};

struct goroutine {
	uint64_t address, context, id, status, since;
	const char *reason;
	bool system;
	struct memory frame[5];
	char name[5][40];
	unsigned n_frames;
	uint64_t defer, defer_closure, panic, panic_data; /* 0: none */
};

struct go {
	struct out out, truth;
	struct chance chance;
	unsigned version, width;
	bool big, loose; /* loose: varints with bytes that say nothing */
	struct memory *object;
	unsigned n_objects;
	struct memory data, bss;
	struct go_type type[MOST_TYPES];
	struct goroutine goroutine[MOST_GOROUTINES];
	unsigned n_goroutines, n_roots;
	uint64_t low, high; /* of the heap */
	const char *release; /* "go1.19.8" */
	uint64_t surplus;   /* objects that the statistics do not count */
	uint64_t n_outside; /* words of objects that lead to no object and are not nil */
};

static inline uint64_t below(struct go *g, uint64_t n)
{
	return chance_below(&g->chance, n);
}

static inline bool percent(struct go *g, unsigned p)
{
	return chance_percent(&g->chance, p);
}

static inline void set_word(const struct go *g, struct memory *m, uint64_t at, uint64_t value)
{
	for (unsigned i = 0; i < g->width; i++)
		m->bytes[at + i] = (unsigned char)(value >> 8 * (g->big ? g->width - 1 - i : i));
}

static inline uint64_t get_word(const struct go *g, const struct memory *m, uint64_t at)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < g->width; i++)
		value |= (uint64_t)m->bytes[at + i] << 8 * (g->big ? g->width - 1 - i : i);
	return value;
}

/* Where in the field the pointer stands. */
static inline uint64_t pointer_at(const struct go *g, const struct field *f)
{
	return f->offset + (f->kind >= INTERFACE ? g->width : 0);
}

/* mkdump_go_make.c: call in this order. */
void go_make_types(struct go *g);
void go_make_objects(struct go *g);
void go_make_segment(struct go *g, struct memory *m, uint64_t address);
void go_make_goroutine(struct go *g, unsigned i);
/* To an object, into one, past one, into data, to nowhere; or nil. */
uint64_t go_random_pointer(struct go *g);

#endif
