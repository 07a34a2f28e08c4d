/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * referents.h - what reference objects (soft, weak, final, phantom, cleaners) hold, by kind and class of the referent,
 * and which of these objects nothing firmer reaches.
 *
 * An object is reached only through references of a kind if neither strong references reach it nor those of the kinds
 * before that one (enum weak_kind); so through one kind at most.
 */
#ifndef CAIRN_ANALYSIS_REFERENTS_H
#define CAIRN_ANALYSIS_REFERENTS_H

#include "analysis/dominators/dominators.h"
#include "heap/weak.h"

/* A reference object, and whether only its kind reaches the referent. */
struct referent {
	uint32_t row, referent, holder; /* referent: an object id, or REFERENT_NULL and the like */
	bool only;
};

struct referents_row {
	enum weak_kind kind;
	uint32_t class;      /* of the referents, or REFERENT_NULL and the like in place of one */
	uint64_t first, end; /* of referents.at; one reference object each */
	uint64_t referents;  /* different objects */
	uint64_t only;       /* of these: reached only through references of this kind */
	enum reason doubt;   /* why some may be reached by what the dump leaves out; REASON_NONE */
};

struct referents {
	struct referents_row *row; /* by kind; of a kind those with most reference objects first */
	uint32_t n;
	struct referent *at;       /* by row, then by referent, then by holder */
	uint64_t n_at;
	bool only_held;            /* as in struct reference_objects */
};

/* 0: *out is the caller's (referents_release); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int referents_find(struct referents *out, const struct heap *h, struct progress *progress, struct err *err);
void referents_release(struct referents *r);

#endif
