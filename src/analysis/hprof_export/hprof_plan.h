/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_plan.h - what each class is in the file: its identifier, and the fields that its instances have there.
 */
#ifndef CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_PLAN_H
#define CAIRN_ANALYSIS_HPROF_EXPORT_HPROF_PLAN_H

#include "dump/hprof/hprof.h"
#include "heap/classes.h"

enum { HPROF_FIELDS_MOST = UINT16_MAX };

struct class_plan {
	uint64_t id;       /* 0: the class has no record */
	uint32_t super;    /* class index of the superclass, or HEAP_NONE */
	uint32_t refs;     /* invented fields that are references */
	uint32_t numbers;  /* bytes of the invented numbers behind them, of 8 bytes and a last one of 4 */
	bool referent;     /* behind these a reference of this name, always null: java.lang.ref.Reference */
	uint32_t up;       /* the nearest superclass with invented fields, or HEAP_NONE */
	uint64_t bytes;    /* of all fields of an instance, those of superclasses included */
	uint64_t as_mat;   /* of an instance, as Eclipse MAT adds fields up, before it is rounded up to 8 */
	enum value_type element; /* of an array of numbers */
};

struct hprof_plan {
	const struct heap *h;
	bool values;        /* the heap has them: no fields are invented */
	unsigned ids;       /* bytes of an identifier */
	struct recorded_arrays arrays; /* where the dump records sizes: how those of arrays follow from lengths */
	uint64_t made, made_most; /* the last identifier that is made up, and the largest possible */
	uint32_t n_made;
	struct class_plan *classes; /* by class index; big memory */
};

MUST_CHECK int hprof_plan_make(struct hprof_plan *p, const struct heap *h, struct err *err);
void hprof_plan_release(struct hprof_plan *p);

/* An identifier that is not an object's. */
uint64_t hprof_make_id(struct hprof_plan *p);
/* The primitive type of this name, n bytes of it; 0: it is another word. */
unsigned hprof_type_named(const char *name, size_t n);
/* Bytes of a reference as MAT will take them to be. */
unsigned hprof_mat_reference(const struct hprof_plan *p);
/* Bytes of numbers to be invented, so that MAT, which rounds up to 8, gets this size; a multiple of 4. */
uint32_t hprof_numbers(uint64_t size, uint64_t without);
/* Bytes of what is invented behind the references, which are all 0. */
static inline uint32_t hprof_zeros(const struct hprof_plan *p, const struct class_plan *c)
{
	return c->numbers + (c->referent ? p->ids : 0);
}
/* Bytes of a value in the file. */
unsigned hprof_width(const struct hprof_plan *p, enum value_type type);
static inline uint32_t hprof_invented(const struct class_plan *c)
{
	return c->refs + (c->numbers + 7) / 8 + c->referent;
}

#endif
