/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opened.h - an opened dump: its heap, which references count, findings, and sets that users keep.
 *
 * A complete heap is immutable (heap/heap.h).  All that changes while a dump is open is here:
 * whether weak references hold (the model), and findings, which take long to find and are
 * therefore found once.  An opened dump is made and freed as one; there may be several, and none
 * knows of another.
 *
 * opened_find makes a finding and what it needs (findings.c has the table).  A finding is written first and its flag
 * is set last, so code that draws the screen meanwhile sees either nothing or the whole.
 */
#ifndef CAIRN_OPENED_OPENED_H
#define CAIRN_OPENED_OPENED_H

#include "analysis/dominators/dominators.h"
#include "analysis/maybe_live.h"
#include "analysis/path_keys/path_keys.h"
#include "analysis/paths/paths.h"
#include "analysis/reachable.h"
#include "analysis/search.h"

#include <stdatomic.h>

struct nameless;

/* Objects that a user keeps under a name. */
struct kept_set {
	char *name; /* without the $ */
	uint32_t *ids; /* ascending */
	size_t n;
};

/* What a user wrote about an object. */
struct note {
	uint32_t id;
	char *text;
};

/* Which columns a user wants to see in tables of a kind (result->kind). */
struct chosen_columns {
	char *kind, *names; /* names, a tab behind each; "": all */
};

/* What became of the file of a dump since it was loaded.  Values and texts are still read from it. */
enum file_fate {
	FILE_SAME,
	FILE_CHANGED, /* it was written to */
	FILE_LOST,    /* bytes are gone, and read as zeros */
	FILE_INDEX_LOST, /* the index that it was opened from was truncated or written to: no answer is valid */
};

/* What can be found of an opened dump, each once. */
enum finding {
	FIND_NOTHING,
	FIND_REFERENCES,  /* references and roots, where they wait to be read (heap_read_rest) */
	FIND_REFERRERS,   /* lists of them, where they wait to be made (heap_list_referrers) */
	FIND_SIZES,       /* what each object retains */
	FIND_TREE,        /* the same, and lists of children */
	FIND_RETAINED,    /* the same, and sums by class */
	FIND_CLASS_SUMS,  /* what classes retain, and nothing of single objects: out of an index at once and without
	                     references; without an index it is FIND_RETAINED */
	FIND_REACHABLE,   /* what the roots reach */
	FIND_MAYBE_LIVE,  /* unreachable objects that may be alive */
	FIND_PATHS,       /* the tree of shortest paths from the roots over strong references */
	FIND_WEAK_PATHS,  /* the same with weak references */
	FIND_PATH_KEYS,   /* on which paths objects are reached */
	FINDINGS
};

struct opened {
	const struct heap *heap;
	struct heap *own;         /* the same heap, closed by opened_free; NULL: the caller closes
	                             it */
	struct model model;       /* of the heap: which references hold */
	bool counts_weak;         /* as the user set it: weak references hold, too */

	/* Findings: ask the functions below. */
	atomic_bool found[FINDINGS];
	struct retained retained;
	struct retained sums;     /* of classes, out of an index, until retained is found */
	struct reachable reachable;
	struct maybe_live maybe_live;
	struct path_tree paths, weak_paths;
	struct path_keys path_keys;
	struct name_index *names;

	enum file_fate fate;   /* the worst that opened_look saw */
	struct err fate_words; /* unless FILE_SAME: a sentence; of FILE_LOST lost from its offset on */

	bool refused; /* retained sizes were asked for while they were being found elsewhere */

	struct kept_set *sets;
	size_t n_sets, cap_sets;
	struct note *notes; /* in the order of writing */
	size_t n_notes, cap_notes;
	struct chosen_columns *columns; /* in the order of choosing */
	size_t n_columns, cap_columns;
};

/* Make an opened dump of a heap that the caller closes, for instance because it is still being read.
 *  The caller's (opened_free). */
struct opened *opened_new(const struct heap *heap);
/* Let opened_free close the heap, too. */
void opened_own(struct opened *o, struct heap *heap);
void opened_free(struct opened *o); /* NULL is fine */

/* Look what became of the file, and keep it as o->fate.  Cheap; main thread, and only while no command
 * works. */
enum file_fate opened_look(struct opened *o);

/* A dump that waited to be inflated turned out to be broken: from now on its values are unknown, as where only its
 * index is there.  Nobody else may look at the heap meanwhile.  False: nothing changed. */
bool opened_lose_values(struct opened *o);

/* Does the heap have references?  0, ERR_NOMEM where they did not fit, or ERR_UNSUPPORTED while they are read, and *err
 * says so. */
MUST_CHECK int opened_references(const struct opened *o, struct err *err);

/*
 * Find something and all that it needs, unless it is known already.  The opened dump keeps it until the model changes
 * or it is freed itself.  A long job: on the thread of a job, or the main one with progress NULL.  0;
 * ERR_UNSUPPORTED if there are no references; ERR_NOMEM or ERR_CANCELLED: what was complete by then is kept.
 */
MUST_CHECK int opened_find(struct opened *o, enum finding what, struct progress *progress, struct err *err);
/* Is it known?  o may be NULL here and below.  Any thread. */
bool opened_found(const struct opened *o, enum finding what);
/* Does finding this begin with finding that? */
bool opened_needs(enum finding what, enum finding that);

/* What was found; each is NULL until then. */
const struct retained *opened_sizes(const struct opened *o);
const struct retained *opened_tree(const struct opened *o);
const struct retained *opened_retained(const struct opened *o);
const struct retained *opened_class_sums(const struct opened *o);
const struct reachable *opened_reachable(const struct opened *o);
const struct maybe_live *opened_maybe_live(const struct opened *o);
const struct path_tree *opened_path_tree(const struct opened *o, bool weak);
const struct path_keys *opened_path_keys(const struct opened *o);

/* Are FIND_CLASS_SUMS known, or in an index? */
bool opened_has_class_sums(const struct opened *o);
/* Take them from an index that has them; else nothing changes, whatever is wrong. */
void opened_read_class_sums(struct opened *o);

/* Take over retained sizes that were found elsewhere, lists and sums included. */
void opened_take_retained(struct opened *o, struct retained *found);
/* For opened.c: drop what depends on which references hold, or everything. */
void opened_forget(struct opened *o, bool all);
/* For opened.c: which references are weak comes with the references. */
void opened_settle_model(struct opened *o);

/* Add the heap and what was found of it to an index (heap/index_file/index_file.h).  Retained sizes must have been
 * found, or they are left out, as they are unless the model is the default; names as index_file_write has them. */
MUST_CHECK int opened_write(struct opened *o, struct progress *progress, struct nameless *names,
    struct chunks_writer *w, struct err *err);
/* The index of its classes' names; while the dump is still being read, of the classes known now.  The
 * opened dump owns it.  NULL: ERR_NOMEM. */
const struct name_index *opened_names(struct opened *o, struct err *err);

/* What was written about an object; NULL: nothing. */
const char *opened_note(const struct opened *o, uint32_t id);
/* Write it, in place of what was written before; text is copied, NULL drops it. */
void opened_write_note(struct opened *o, uint32_t id, const char *text);

/* The columns that were chosen for tables of a kind, as chosen_columns.names; NULL: none were. */
const char *opened_columns(const struct opened *o, const char *kind);
/* Choose them anew; names is copied, NULL drops the choice. */
void opened_choose_columns(struct opened *o, const char *kind, const char *names);

/*
 * Let weak, final and phantom references hold what they refer to, or not; strong and soft ones always do.  At first
 * they do not, as in the VM; they do in Eclipse MAT, and at first where its sizes were asked for (--sizes mat).  A
 * change drops the findings that depend on it, so the caller must make sure that nobody uses these any more.  The
 * references were found.  0, or ERR_UNSUPPORTED if the dump does not show which references are weak.
 */
MUST_CHECK int opened_count_weak(struct opened *o, bool counts, struct err *err);
/* Do all references hold, as the user set it, or because the dump does not show which are weak? */
bool opened_counts_weak(const struct opened *o);
/* Does the dump show which references are weak?  0, or ERR_UNSUPPORTED, and *err says why not. */
MUST_CHECK int opened_may_count_weak(const struct opened *o, struct err *err);

#endif
