/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sketched.h - classes in short, and the models of VMs that lay them out, for the tests of sizes. */
#ifndef CAIRN_TESTS_SKETCHED_H
#define CAIRN_TESTS_SKETCHED_H

#include "heap/classes.h"
#include "heap/sizes/layout.h"

enum { FIELDS_MAX = 40 };

/* A class in short: fields as "name:T name:T …", T a letter of the VM's signatures. */
struct sketch {
	const char *name;
	uint32_t superclass;
	const char *fields;
	const char *statics;
};

struct table {
	struct heap_class classes[64];
	struct heap_field fields[64][2 * FIELDS_MAX];
	char text[64][2][1200];
	uint32_t n;
};

struct table *sketched(const struct sketch *sketches, uint32_t n); /* for the caller to free */

/* The models of a 64-bit VM and the one of a 32-bit VM. */
extern const struct layout_model coops, wide_ccp, plain64, coops_noccp, compact, compact_wide, x32;
struct layout_model model_with_rule(struct layout_model m, enum layout_rule rule);
struct layout_model model_relaxed(struct layout_model m);

/* What an instance of a class takes. */
uint64_t sketched_size(const struct table *t, uint32_t class, struct layout_model m,
    enum layout_release release);

#endif
