/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * changes.h - inputs that are a list of changes to a sample.
 *
 * A core is mostly memory that says nothing.  An input is therefore no core, but a list of changes to one: each names a
 * word by what it belongs to, its owner, and says what becomes of it.  Any bytes are such a list.  The mutator adds,
 * drops, repeats and adjusts whole changes.
 */
#ifndef CAIRN_TESTS_CHANGES_H
#define CAIRN_TESTS_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OWNERS_MOST = 16 };

/* How an address is kept in a word. */
enum form { AS_IT_IS, AS_DISTANCE /* from the word's own address */, AS_REFERENCE /* shifted */ };

struct word {
	uint64_t at;      /* its own address */
	uint64_t address; /* what others get that are to lead here: of its structure */
	uint64_t offset;  /* in the file */
	uint8_t bytes;
	enum form form;
};

struct sample {
	uint8_t *bytes;
	size_t size;
	bool big_endian;
	unsigned shift;    /* of AS_REFERENCE */
	unsigned n_owners; /* 0 is the file's own structures, and never empty */
	struct words {
		struct word *word;
		size_t n, cap;
	} of[OWNERS_MOST];
};

void sample_add(struct sample *s, unsigned owner, struct word word);
/* The file at a path, compressed or not, up to `most` bytes.  Ends the program where it cannot be read. */
void sample_read(struct sample *s, const char *path, size_t most);
/* The sample with the changes that data is: an allocation of exactly its size, the caller's. */
uint8_t *sample_changed(const struct sample *s, const uint8_t *data, size_t n, size_t *size);

enum { CHANGE = 16 }; /* bytes of one */
/* Byte 3 of the first change is the caller's own, which the mutator keeps. */
enum { CHANGE_OWN = 3 };

#endif
