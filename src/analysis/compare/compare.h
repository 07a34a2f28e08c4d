/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare.h - the rows of several profiles side by side, and which of them grow.
 *
 * Rows are the same where their words are, those of paths where the ways are.  Where one of the profiles does not
 * know the names of fields, paths are compared by their classes alone.  Ways into one chain are joined as in one dump
 * (path_labels.h), if any of the dumps shows that it is one.
 *
 * Pure functions; any thread.
 */
#ifndef CAIRN_ANALYSIS_COMPARE_COMPARE_H
#define CAIRN_ANALYSIS_COMPARE_COMPARE_H

#include "analysis/compare/profile.h"

/* Unknown of a row that a dump read in part does not show.  The last two in bytes: inferred where they are
 * by another rule than those of the newest profile, or of objects with other words. */
struct compared_amounts {
	struct amount objects, shallow, retained;
};

struct comparison {
	enum profile_by by;
	const struct profile *const *profile; /* borrowed; the oldest first */
	size_t n;                 /* profiles */
	bool by_classes;          /* paths are compared by classes alone */
	bool other_references;    /* some profiles name fields and some do not: their dumps record other references */
	bool nameless_loaders, nameless_threads; /* their names are left out, since one of the profiles has none */
	struct profile_row *row;  /* words are borrowed from the profiles; amounts are not filled */
	uint32_t n_rows;
	struct compared_amounts *cell; /* row by row, in each n: of each profile */
	uint32_t *of_newest;      /* by row of the last profile: its row here */
	struct arena shortened;   /* words that no profile has */
};

/* n > 0.  0: *out is the caller's (comparison_release), the profiles must outlive it; ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int compare_profiles(struct comparison *out, enum profile_by by,
    const struct profile *const *profile, size_t n, struct err *err);
void comparison_release(struct comparison *c);

static inline const struct compared_amounts *compared(const struct comparison *c, uint32_t row, size_t profile)
{
	return &c->cell[row * c->n + profile];
}

/* In how many of the n - 1 steps from one dump to the next the row rose, and fell: in objects, or in bytes that
 * they retain.  Dumps that were read in part are stepped over, and to the newest one nothing falls if it is such. */
struct course {
	unsigned up, down;
};
struct course compare_objects(const struct comparison *c, uint32_t row);
struct course compare_retained(const struct comparison *c, uint32_t row);

/*
 * What grows.  A row grows if its objects never become fewer and are more in the end, or if it is a single array
 * that is never smaller and larger in the end; and no such row is above it.  What only serves a collection (its
 * links and tables) does not count.  Where dumps record other references, and so lead to the same objects on other
 * paths, the rows of a class count, the largest first, until they have as many new objects (or bytes) as the class;
 * half of a row may have been on another path.  Of rows that depend on the same collection one represents all: of
 * those that became more by half as many as what retains most more, or by a larger number, one of a class of the
 * program's own rather than of a library's, that rather than keys, keys rather than collections in the collection.
 */
struct grown {
	uint32_t row;
	uint32_t hangs_on; /* of a path the row of the collection, or array, that holds them; else the row itself */
	uint32_t keeps;    /* the row between these, or one of them, that retains most more */
	bool once;         /* they came with the last dump, or */
	bool moved;        /* some of them were there before, but on other ways */
	bool steady;       /* since they came there were more of them in each dump, and these are more than two */
	struct amount more; /* bytes that `keeps` retains more than in the first dump */
	uint64_t alone;     /* bytes of that which are held by nothing else that grows, as far as that is known
	                       (compare_growth_alone) */
	uint32_t with, n_with; /* the first in growth.with, and how many */
};
/* What came along: rows that grow and hang on the same, or below it, added up by class. */
struct grown_with {
	const char *class;
	struct amount before, now; /* objects in the first dump and in the last */
	struct amount shallow;     /* bytes in the last */
};
struct growth {
	struct grown *list; /* what retains most more first */
	uint32_t n;
	struct grown_with *with; /* of each the most bytes first */
	uint32_t n_with;
	bool java;
	uint32_t n_looked_at;    /* places that have objects in any of the dumps, other than links and tables */
	uint32_t n_fell;         /* of these, those whose objects became more and fewer: the program's own, as caches
	                            are, or below its static fields; and not below another one */
};
/* java: it is a program for a JVM.  0: *out is the caller's (growth_release), the comparison must outlive it; or
 * ERR_NOMEM. */
MUST_CHECK int compare_growth(struct growth *out, const struct comparison *c, bool java, struct err *err);
void growth_release(struct growth *g);
/* Put first what grew most and is in nothing else that grew.  r: of the newest dump; row_of: by its objects, the row
 * of the comparison or PROFILE_NONE.  0, ERR_NOMEM or ERR_CANCELLED: then the order is as it was. */
MUST_CHECK int compare_growth_alone(struct growth *g, const struct comparison *c, const struct retained *r,
    const uint32_t *row_of, struct err *err);

/*
 * How what a row retains goes from the dump in which it is seen first to the last one.  The slope is Theil's and
 * Sen's: the median of the changes per dump between any two of these dumps, which a single leap does not move.
 * Dumps that were read in part are passed over.
 * Steady: there are three or more, of any two of them the later one has more in three of four cases, and it rose in
 * half of the steps or more.
 */
struct trend {
	size_t first, last;  /* dumps with objects of it; first == n: none */
	bool known;          /* there are two that were read whole, and nothing of them is unknown */
	bool steady;
	struct amount slope; /* bytes per dump, signed and rounded (amount_signed) */
};
/* n * n / 2 steps a row.  *out: by row, the caller's (big_free).  0, ERR_NOMEM
 * or ERR_CANCELLED. */
MUST_CHECK int compare_trends(struct trend **out, const struct comparison *c, struct err *err);

/* Append the way of a row, as path_key_add does; of other tables its words. */
void compared_add(const struct comparison *c, uint32_t row, struct text *to);

#endif
