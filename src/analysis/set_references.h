/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * set_references.h - the references into a set of objects, or out of it, grouped: what holds these 100,000 sessions?
 *
 * A group is a class on the other side (of holders, or of what is held), perhaps with the field that holds the
 * reference, or a single holder with its field.  Each recorded reference is counted once, each object on the other
 * side once in a group.  Which element it is of an array or a map does not count.
 */
#ifndef CAIRN_ANALYSIS_SET_REFERENCES_H
#define CAIRN_ANALYSIS_SET_REFERENCES_H

#include "analysis/dominators/dominators.h"

enum references_by { REFERENCES_BY_CLASS, REFERENCES_BY_FIELD, REFERENCES_BY_HOLDER };

struct references_group {
	uint32_t class;      /* of the objects on the other side */
	uint32_t field;      /* numbered_name; NAME_NOT_TOLD by class */
	uint32_t holder;     /* by holder: that; else HEAP_NONE */
	uint64_t references;
	uint64_t first, end; /* its objects: set_references.object[first] to before end, ascending */
};

struct set_references {
	struct references_group *group; /* in the order in which they were met */
	uint32_t n;
	uint32_t *object;
	struct numbered_names *names;
};

/* in: those that lead to the n objects (ids ascending), else those that leave them.  only: the objects on the other
 * side that count; NULL: all.  0: *out is the caller's (set_references_release); ERR_NOMEM or ERR_CANCELLED.  Takes 8
 * bytes for each pair of a group and an object of it. */
MUST_CHECK int set_references_find(struct set_references *out, const struct heap *h, const uint32_t *ids, size_t n,
    bool in, enum references_by by, const struct bits *only, struct progress *progress, struct err *err);
void set_references_release(struct set_references *s);

#endif
