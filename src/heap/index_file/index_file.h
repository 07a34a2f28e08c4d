/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_file.h - a heap in an index file (algorithms/chunks.h), to be opened again without reading the dump.
 *
 * Arrays stand in it as they are in memory, and are mapped; what has pointers is packed (algorithms/pack.h).  Nothing
 * that is read from it is trusted: objects, classes and sizes are checked when it is opened, references at the
 * first use, findings by the modules that keep them.  After that a forged index may have wrong facts, as a forged
 * dump may, but no number in it leads outside of an array or round in a circle.  doc/index-format.md has the schema.
 */
#ifndef CAIRN_HEAP_INDEX_FILE_INDEX_FILE_H
#define CAIRN_HEAP_INDEX_FILE_INDEX_FILE_H

#include "algorithms/chunks.h"
#include "base/text.h"

struct amount;
struct heap;
struct heap_options;
struct progress;
struct saved;

#define INDEX_FILE_ENDING ".cairn"

/* Changes whenever what is saved means something else, or is found by other rules. */
enum { INDEX_FILE_VERSION = 14 };

/*
 * Open the index that belongs to options->path, or that is the file of this path.  Returns 0: *out is the
 * caller's (heap_close).  1: there is none, or none that fits; then *why has a sentence if there is
 * something to be said of it.  With the path of an index *dump may get the path of its dump, which is to be opened
 * instead (free).  Or ERR_NOMEM, ERR_CANCELLED, ERR_FORMAT: an index was named that cannot be used, and there is no
 * dump.
 */
MUST_CHECK int index_file_open(struct heap **out, const struct heap_options *options, struct text *why, char **dump,
    struct progress *progress, struct err *err);
/* The totals in the index of the dump at options->path, if there is one of a file of this size, in bytes, and time, in
 * nanoseconds since 1970: how many objects, and their bytes, no surer than inferred.  The dump is not read. */
bool index_file_glance(const struct heap_options *options, uint64_t size, int64_t written, struct amount *objects,
    struct amount *shallow);
/* Is the file an index by its first bytes, or an empty one by its name, which a full disk left? */
bool index_file_is_index(const char *path);
/* Is the file an index by its name and first bytes, beside which no dump of its name lies, whose index it would be? */
bool index_file_is_alone(const char *path);
/* The same of an index, and when its dump was written ("": it does not tell).  ERR_FORMAT: it is damaged, or of another
 * version; ERR_IO, ERR_NOMEM. */
MUST_CHECK int index_file_tell(const char *path, struct amount *objects, struct amount *shallow,
    char created[static 32], struct err *err);
void index_file_close(struct saved *s); /* NULL is fine */

/* Check and take the references of a heap of which they wait (heap->references_wait).  0, ERR_FORMAT: the index is
 * damaged; ERR_NOMEM, ERR_IO, ERR_CANCELLED.  After an error the heap has none.  Those of a packed index are outgoing
 * ones alone. */
MUST_CHECK int index_file_references(struct heap *h, struct progress *progress, struct err *err);

/* The dump of an index cannot be read after all (lazy_dump_failed): as if only the index was there.  Nobody may
 * look at the heap meanwhile. */
void heap_lose_values(struct heap *h);

/* The chunks of the index that a heap came from. */
const struct chunks *index_file_chunks(const struct heap *h);

/* Findings of the index do not hold, and are computed again: say so in heap->index_refused.  What they are: "the
 * retained sizes".  Only the one thread that finds things of this heap may call it. */
void index_file_left_out(const struct heap *h, const char *what, const struct err *why);

/* An index cannot be used, and its dump is not there: put what to do around *err. */
void index_file_broken(struct err *err, const char *path);

/* May this heap be saved?  0 or ERR_UNSUPPORTED, and *err says why not.  Its references must be there. */
MUST_CHECK int index_file_may(const struct heap *h, struct err *err);
/* Add a heap to an index that is being written; names NULL, or what stands for the names: then it is not an index of
 * the dump any more. */
struct nameless;
MUST_CHECK int index_file_write(const struct heap *h, struct nameless *names, struct chunks_writer *w, struct err *err);

/*
 * Numbers in place of the names of a heap, which must outlive them: of classes outside of the class library with their
 * fields, of threads, frames, functions, variables and odd heaps.  *out is the caller's (nameless_free).  0,
 * ERR_NOMEM or ERR_CANCELLED.  The map has a line for each, "class #17", a tab, the name; it is whole once
 * index_file_write is through.
 */
MUST_CHECK int nameless_make(struct nameless **out, const struct heap *h, struct err *err);
/* The same with all names as they are, without what else is left out then: the path of the dump, what a javacore says
 * of the process, sentences of warnings.  The caller's (nameless_free). */
struct nameless *nameless_keeping(const struct heap *h);
/* Is a class of this name ("java/lang/String" or "java.lang.String", n bytes) of the class library or of the VM, whose
 * names are no secret? */
bool nameless_knows(const uint8_t *name, size_t n);
void nameless_free(struct nameless *n); /* NULL is fine */
MUST_CHECK int nameless_write_map(const struct nameless *n, FILE *to, struct err *err);

/* May --index, which does not ask, write to this path?  0 where nothing is or an older index of this dump.  ERR_USAGE,
 * with a sentence: something else stands there; the command index may replace that. */
MUST_CHECK int index_file_may_replace(const char *path, const char *dump, struct err *err);
/* The index that a heap came from is written anew, beside itself (true), or that is done (false): it is not kept from
 * being written meanwhile. */
void index_file_renewing(const struct heap *h, bool begins);

/* Where the index of a dump is written if nobody says where: beside it; NULL for a pipe and for standard input, which
 * have no place.  And where it is found too, or NULL; the caller's (free). */
char *index_file_beside(const char *dump);
char *index_file_in_cache(const char *dump);

#endif
