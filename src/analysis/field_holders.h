/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * field_holders.h - the field by which a program holds an object.
 *
 * Arrays, the JDK's collections, and buffers that share memory are passed through.  References that are no more than a
 * cleaner's or a weak one do not count.  Quickest in the order of ids; one thread.
 */
#ifndef CAIRN_ANALYSIS_FIELD_HOLDERS_H
#define CAIRN_ANALYSIS_FIELD_HOLDERS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct text;

struct field_holder {
	uint32_t class;     /* that declares or has the field; HEAP_NONE: nothing of the dump holds it */
	uint32_t field;     /* numbered_name */
	bool elements;      /* an array or a collection lies between */
};
struct field_holders {
	const struct heap *heap;
	struct numbered_names *names;
	uint8_t *rank;      /* by class: what its instances are as holders */
};

/* 0 or ERR_NOMEM; release in either case. */
MUST_CHECK int field_holders_init(struct field_holders *f, const struct heap *h, struct err *err);
void field_holders_release(struct field_holders *f);
MUST_CHECK int field_holder_of(struct field_holders *f, uint32_t id, struct field_holder *out, struct err *err);
/* Append "com.acme.Pool.buffers[]"; of what nothing holds the kind of its root, or "nothing". */
void field_holder_add(const struct field_holders *f, const struct field_holder *holder, uint32_t id, struct text *to);

#endif
