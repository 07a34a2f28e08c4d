/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * profile.h - the tables of a dump that a comparison with another one needs.
 *
 * A profile is some tables: of classes, packages, loaders, fields, allocation sites, threads and of the ways on
 * which objects are reached (path_keys.h), each row with the number of its objects, their bytes and what they
 * retain.  It holds no object and no text of the dump but names, and outlives the heap that it was made of.
 *
 * Immutable once made; any thread.
 */
#ifndef CAIRN_ANALYSIS_COMPARE_PROFILE_H
#define CAIRN_ANALYSIS_COMPARE_PROFILE_H

#include "analysis/path_keys/path_keys.h"
#include "memory/arena.h"

enum profile_by {
	PROFILE_CLASS, PROFILE_PACKAGE, PROFILE_LOADER,
	PROFILE_PATH,
	PROFILE_FIELD,  /* the last step of a way: the holder's class and the field */
	PROFILE_SITE,   /* the stack that allocated it; of sampled objects only */
	PROFILE_THREAD,
	PROFILE_BYS
};

#define PROFILE_NONE UINT32_MAX

struct profile_row {
	uint32_t parent;      /* of a path the row that it continues, which comes before it; else PROFILE_NONE */
	enum way_start start; /* of a path without a parent */
	/* Names: those of one profile that are equal are the same pointer.  Words distinguish a row from others with this
	 * parent and class. */
	const char *words;
	const char *class;    /* of paths and threads that of the objects, NULL: of the steps beyond
	                         PATH_KEY_DEPTH; of fields that of the holders, NULL: there is none */
	bool chain;           /* of paths: objects of it hold others of it */
	bool array;           /* of paths: they are arrays of references */
	bool shared;          /* of paths in a comparison, that begin at a class: others of its name have other loaders */
	struct amount objects, shallow, retained; /* shallow and retained in bytes */
};

struct profile_table {
	struct profile_row *row;
	uint32_t n;
	/* whose objects a row counts, by class, by signature or by site; two of them are NULL, and all in a profile
	 * whose heap is gone */
	uint32_t *of_class, *of_signature, *of_site;
};

struct profile {
	const char *path;     /* of the dump */
	const char *title;    /* its format */
	const char *created;  /* ISO 8601 UTC, or "" */
	unsigned word_bits;
	bool mat_sizes;
	bool names_fields;    /* the words of paths are fields; false: only their classes are known */
	struct amount objects, shallow, reachable; /* all objects, their bytes, and those that roots reach */
	struct profile_table by[PROFILE_BYS];
	struct arena arena;
};

/* Were some objects of the dump not read?  Then rows may be missing. */
static inline bool profile_in_part(const struct profile *p)
{
	return p->objects.certainty != EXACT;
}

/* Make the profile of a heap; r must be complete.  Names are copied: the heap may be closed afterwards.
 * 0: *out is the caller's (profile_release); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int profile_make(struct profile *out, const struct retained *r, const struct path_keys *s,
    bool mat_sizes, struct progress *progress, struct err *err);
/* For a profile that leaves the host: remove the path of the dump, and put numbers in place of the names of class
 * loaders, which are texts of the dump.  0, or ERR_NOMEM. */
MUST_CHECK int profile_leave_out(struct profile *p, struct err *err);
void profile_release(struct profile *p);

#endif
