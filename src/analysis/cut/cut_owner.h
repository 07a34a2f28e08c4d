/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut_owner.h - whose a reference is: what belongs to the JDK or to Go's own library is no proposal.
 *
 * A class is the program's own unless its name says otherwise: of Java those of packages that the JDK
 * brings, and arrays of primitives; of Go the types that name no package, or only packages of Go's own
 * library ("runtime", "unicode", "internal/cpu"; main is none of them).  What a static field of a
 * JDK class or a global variable of Go's library leads to is internal up to the first object of a
 * class of the program, as is every object of a type of the Go runtime.
 *
 * Any thread, each with its own struct cut_owner.
 */
#ifndef CAIRN_ANALYSIS_CUT_CUT_OWNER_H
#define CAIRN_ANALYSIS_CUT_CUT_OWNER_H

#include "analysis/dominators/dominators.h"

struct cut_owner {
	const struct retained *r;
	struct bits own, runtime;    /* by class: the program's; what Go's runtime needs itself */
	struct bits known, internal; /* by object */
};

/* 0 or ERR_NOMEM; two bits an object. */
MUST_CHECK int cut_owner_init(struct cut_owner *o, const struct retained *r, struct err *err);
void cut_owner_release(struct cut_owner *o);

/* Is it inside what only the JDK or Go's library holds?  All calls together are linear. */
bool cut_owner_internal(struct cut_owner *o, uint32_t id);

/* Does a field of this class have a name that the program's authors gave it? */
bool cut_owner_names(const struct cut_owner *o, uint32_t class);

/* Is this class ("net/http.Server", "map[string]int", "java.util.HashMap") the program's own? */
bool cut_owner_class(const struct heap *h, const char *name);

#endif
