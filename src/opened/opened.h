/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * opened.h - an opened dump: its heap, which references count, findings, and sets that users keep.
 *
 * A complete heap is immutable (heap/heap.h).  All that changes while a dump is open is here:
 * whether weak references hold (the model), and findings, which take long to find and are
 * therefore found once.  An opened dump is made and freed as one; there may be several, and none
 * knows of another.
 *
 * The opened_find_… functions make findings.  They run on the main thread, and a runner does the
 * long part.  A finding is published only when it is complete, so code that draws the screen
 * meanwhile sees either nothing or the truth.
 */
#ifndef CAIRN_OPENED_OPENED_H
#define CAIRN_OPENED_OPENED_H

#include "algorithms/parallel.h"
#include "analysis/dominators/dominators.h"
#include "analysis/maybe_live.h"
#include "analysis/path_keys/path_keys.h"
#include "analysis/paths/paths.h"
#include "analysis/reachable.h"
#include "analysis/search.h"
#include "heap/index_file/index_file.h"
#include "heap/weak.h"

#include <stdatomic.h>

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

struct opened {
	const struct heap *heap;
	struct heap *own;         /* the same heap, closed by opened_free; NULL: the caller closes
	                             it */
	struct model model;       /* of the heap: which references hold */
	bool counts_weak;         /* as the user set it: weak references hold, too */

	/* Findings: ask the functions below.  A finding is written first and its flag is set last, so a thread that sees
	 * the flag set sees the whole finding. */
	struct retained retained; /* heap NULL: not found */
	atomic_bool retained_listed; /* with lists of children */
	atomic_bool retained_whole;  /* and with sums by class */
	struct retained sums;     /* of classes, out of an index, until retained is found */
	atomic_bool sums_found;
	struct reachable reachable;
	atomic_bool reachable_found;
	struct maybe_live unrecorded; /* unreachable objects that may be alive */
	atomic_bool unrecorded_found;
	struct path_tree paths[2]; /* strong; with weak references */
	atomic_bool paths_found[2];
	struct path_keys signatures; /* list NULL: not found */
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

/* What objects and classes retain, if that is known by now; else NULL.  o may be NULL.  Any thread. */
const struct retained *opened_retained(const struct opened *o);
/* The same without a need for sums by class: they are missing if only the tree was found (opened_find_tree). */
const struct retained *opened_tree(const struct opened *o);
/* The tree of shortest paths from the roots, if it is known by now; else NULL. */
const struct path_tree *opened_path_tree(const struct opened *o, bool weak);

/*
 * Find something, unless it is known already.  The opened dump owns *out and keeps it until the
 * model changes or it is freed itself.  All return 0, ERR_UNSUPPORTED if there are no references,
 * ERR_NOMEM or ERR_CANCELLED; after an error nothing has changed.
 */
/* The references, where they wait to be read (heap_read_rest); everything below begins with that. */
MUST_CHECK int opened_find_references(struct opened *o, const struct runner *runner, struct err *err);
MUST_CHECK int opened_find_sizes(struct opened *o, const struct runner *runner,
    const struct retained **out, struct err *err); /* retained sizes of objects alone */
MUST_CHECK int opened_find_tree(struct opened *o, const struct runner *runner,
    const struct retained **out, struct err *err); /* with lists of children */
MUST_CHECK int opened_find_retained(struct opened *o, const struct runner *runner,
    const struct retained **out, struct err *err); /* with lists of children and sums by class */
/* What classes retain, and nothing of single objects.  An index has it at once, and then the references are not
 * needed either; else opened_find_retained. */
MUST_CHECK int opened_find_class_sums(struct opened *o, const struct runner *runner, struct err *err);
/* The same if an index has it at once: else nothing changes, whatever is wrong. */
void opened_read_class_sums(struct opened *o);
/* Is it there, or in an index? */
bool opened_has_class_sums(const struct opened *o);
/* It, if it is known by now; else NULL. */
const struct retained *opened_class_sums(const struct opened *o);
/* Add the heap and what was found of it to an index (heap/index_file/index_file.h).  Retained sizes must have been
 * found, or they are left out, as they are unless the model is the default; names as index_file_write has them. */
MUST_CHECK int opened_write(struct opened *o, const struct runner *runner, struct nameless *names,
    struct chunks_writer *w, struct err *err);
MUST_CHECK int opened_find_reachable(struct opened *o, const struct runner *runner,
    struct reachable *out, struct err *err);
MUST_CHECK int opened_find_unrecorded(struct opened *o, const struct runner *runner,
    const struct maybe_live **out, struct err *err); /* unreachable objects that may be alive */
MUST_CHECK int opened_find_path_tree(struct opened *o, bool weak, const struct runner *runner,
    const struct path_tree **out, struct err *err);
/* On which ways objects are reached; finds retained sizes, too. */
MUST_CHECK int opened_find_signatures(struct opened *o, const struct runner *runner, const struct path_keys **out,
    struct err *err);
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

/* Take over retained sizes that were found elsewhere, lists and sums included. */
void opened_take_retained(struct opened *o, struct retained *found);

/*
 * Let weak, final and phantom references hold what they refer to, or not; strong and soft ones always do.  At first
 * they do not, as in the VM; they do in Eclipse MAT, and at first where its sizes were asked for (--sizes mat).  A
 * change drops the findings that depend on it, so the caller must make sure that nobody uses these any more.  0,
 * ERR_UNSUPPORTED if the dump does not show which references are weak, ERR_CANCELLED, or ERR_NOMEM.
 */
MUST_CHECK int opened_count_weak(struct opened *o, bool counts, const struct runner *runner,
    struct err *err);
/* Do all references hold, as the user set it, or because the dump does not show which are weak? */
bool opened_counts_weak(const struct opened *o);
/* Does the dump show which references are weak?  0, or ERR_UNSUPPORTED, and *err says why not. */
MUST_CHECK int opened_may_count_weak(const struct opened *o, struct err *err);

#endif
