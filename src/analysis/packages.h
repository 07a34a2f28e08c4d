/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * packages.h - the package of each class, found once for each name.
 *
 * Any number of classes may share a name as long as the dump, so code that needs the packages of many
 * classes uses this table and compares ranks.
 */
#ifndef CAIRN_ANALYSIS_PACKAGES_H
#define CAIRN_ANALYSIS_PACKAGES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct heap;
struct heap_class;

struct package {
	const char *name; /* n bytes; no NUL need follow.  The heap owns them, or they are a constant */
	size_t n;
	uint32_t rank;    /* orders packages: what is in a package follows it at once; equal for equal ones */
};

struct packages {
	struct package *list;
	uint32_t n;
	uint32_t *of; /* by class: index in list.  Two classes of one package may have different ones */
};

MUST_CHECK int packages_make(struct packages *out, const struct heap *h, struct err *err);
void packages_release(struct packages *p);

static inline const struct package *packages_of(const struct packages *p, uint32_t class)
{
	return &p->list[p->of[class]];
}

/* The package of a class: "java.util" for "java.util.Map$Entry[]", "<primitive>", "<default>".  *n
 * gets its length; no NUL need follow.  The heap owns a name, or it is a constant. */
const char *package_of(const struct heap_class *c, size_t *n);

#endif
