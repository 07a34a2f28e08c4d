/* SPDX-License-Identifier: GPL-3.0-or-later */
/* j9core_values.h - fields of classes as records for the sink, and where the values of an object are. */
#ifndef CAIRN_DUMP_J9CORE_J9CORE_VALUES_H
#define CAIRN_DUMP_J9CORE_J9CORE_VALUES_H

#include "dump/j9core/j9core.h"
#include "dump/reader.h"
#include "memory/arena.h"

/* Field records of one class after the other.  Zeroed before j9_records_open; the caller closes it. */
struct j9_records {
	const struct j9core *image;
	const struct core *core;
	struct j9_fields declared;
	struct j9_fields of_hubs;   /* the references that each class object has, by offset, named "<name>" */
	struct field_record *field; /* big memory: statics first */
	size_t n, cap;
	struct arena names;
};
/* ERR_NOMEM. */
MUST_CHECK int j9_records_open(struct j9_records *r, const struct j9core *j, const struct core *core, struct err *err);
void j9_records_close(struct j9_records *r);
/* Put the fields of a class into its record, in place of those of the class before.  False in *certain: where its
 * fields are in objects is not, and they are left out. */
MUST_CHECK int j9_records_of(struct j9_records *r, const struct j9_class *c, struct class_record *record, bool *certain,
    struct err *err);

/* As reader.locate; offsets are addresses. */
MUST_CHECK int j9_locate(const struct j9core *j, const struct core *core, uint64_t offset, uint32_t steps,
    struct object_view *out, struct err *err);

#endif
