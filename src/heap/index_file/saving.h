/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * saving.h - what the files of src/heap/index_file share.
 *
 *   index_key.c        which dump an index is of, and whether it still is
 *   index_pack.c       facts, classes, threads: what has pointers, both ways
 *   nameless.c         numbers in place of names
 *   index_pages.c      the index of addresses
 *   index_write.c      a heap to chunks
 *   index_find.c       which index a dump has
 *   index_open.c       from an index back to a heap, objects checked
 *   index_references.c the same of references
 *   index_packed.c     references in a packed index, both ways
 */
#ifndef CAIRN_HEAP_INDEX_FILE_SAVING_H
#define CAIRN_HEAP_INDEX_FILE_SAVING_H

#include "algorithms/pack.h"
#include "base/files.h"

struct adjacency;
struct chunks_writer;
struct heap;
struct heap_options;
struct nameless;
struct progress;
struct source;
struct text;

struct saved {
	struct chunks *chunks;
	const void *numbers, *texts; /* as taken; strings of the heap stand in them */
	const void *symbols[2];      /* the same of names of addresses, of a dump that is absent */
	file_hold hold;
};

/* Which dump an index is of. */
struct index_file_key {
	uint64_t version;
	const char *program; /* that wrote it: "0.9" */
	const char *path;    /* of the dump, absolute, as bytes; see pack_path */
	const char *member;  /* "::heap.hprof" where the path names a member of an archive, else ""; as bytes */
	uint64_t size, written, written_ns;
	uint64_t sample;     /* of its bytes */
	uint64_t heap_number, mat_sizes;
	uint64_t nameless;   /* its names are numbers, and it does not say what it is of */
	uint64_t companion, companion_size, companion_written; /* of the javacore; companion: there is one */
};

/* The key of the dump of this source that was opened with these options; path: as it is remembered. */
MUST_CHECK int key_of_dump(struct index_file_key *k, const struct source *s, const char *path,
    const struct heap_options *o, struct err *err);
/* The options and the version; then the file.  0, or *why gets a sentence and 1 is returned. */
int key_fits_options(const struct index_file_key *k, const struct heap_options *o, struct text *why);
int key_fits_file(const struct index_file_key *k, const char *path, const struct heap_options *o, struct text *why);
void pack_key(struct pack *p, struct index_file_key *k);

/* Has the dump a path that will name it again, which a pipe, standard input and a number of a descriptor have not?
 * Nothing lies beside these.  A path where nothing is has. */
bool index_file_has_place(const char *dump);

#define HELD_AS "the index of the dump"

/* Two chunks of a stream, checked: p reads from them; taken are the caller's (big_free), also after an error. */
MUST_CHECK int saved_stream(const struct chunks *c, const char *numbers, const char *texts, struct pack *p,
    const void *taken[2], struct err *err);
/* ERR_FORMAT: what it tells of the heap is damaged. */
int index_file_damaged(struct err *err);
/* Make the heap of the index at this path, which takes *saved over.  dump NULL: it is not there. */
MUST_CHECK int index_file_make(struct heap **out, struct saved **saved, const struct index_file_key *key,
    const char *path, const char *dump, const struct heap_options *o, struct progress *progress, struct err *err);

/* What has pointers.  When reading, memory comes from h->arena or is big; the first lack of it is in *err. */
void pack_heap(struct pack *p, struct heap *h, struct err *err);
/* Its beginning, reading: the facts, how many objects there are and the like.  No memory is taken. */
void pack_totals_alone(struct pack *p, struct heap *h);
/* Do superclasses and components come to an end? */
bool classes_end(const struct heap *h, struct err *err);
/* The names of the words that hold roots, of formats with names of addresses.  When reading they go to
 * a dump that is absent. */
void pack_symbols(struct pack *p, struct heap *h, struct nameless *names, struct err *err);
const struct heap *nameless_heap(const struct nameless *n);
/* What stands for the name of an address: the name itself, or a number. */
const char *nameless_symbol(struct nameless *n, const char *name);
void pack_pages(struct pack *p, struct heap *h, struct err *err);
/* Do the pages that were read hold?  After the store was taken. */
MUST_CHECK int pages_check(struct heap *h, struct err *err);

/* References in a packed index.  What is read holds; *out is the caller's, after an error as well. */
MUST_CHECK int packed_references_write(const struct heap *h, struct chunks_writer *w, struct err *err);
MUST_CHECK int packed_references(const struct heap *h, struct adjacency *out, struct err *err);

#endif
