/* SPDX-License-Identifier: GPL-3.0-or-later */
/* references_of_set.h - the references into and out of many objects at once, summed; for refs. */
#ifndef CAIRN_COMMAND_RETENTION_REFERENCES_OF_SET_H
#define CAIRN_COMMAND_RETENTION_REFERENCES_OF_SET_H

#include "analysis/set_references.h"
#include "command/command.h"

extern const struct shape set_by_class_shape, set_by_field_shape, set_by_holder_shape;

/* What is asked for: n objects, ids ascending, and what the title calls them. */
struct references_of {
	const uint32_t *ids;
	size_t n;
	const char *title;
	bool out, in;
	const struct bits *only; /* the objects on the other side that count; NULL: all */
	enum references_by by;
};
/* 0: *out is the caller's (result_free); ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int references_of_set(struct session *s, const struct references_of *what, struct result **out,
    struct err *err);

/* Rows of both directions: outgoing ones first, within that the largest in this column. */
void command_sort_directions(struct result *r, enum column_id column);

#endif
