/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * about.h - the two halves of `about`: what holds the objects (about_holders.c), and what they are and hold
 * (about_contents.c).  cmd_about.c puts them together.
 */
#ifndef CAIRN_COMMAND_RETENTION_ABOUT_H
#define CAIRN_COMMAND_RETENTION_ABOUT_H

#include "analysis/paths/paths.h"
#include "analysis/what_if/what_if.h"
#include "command/commands.h"

struct about {
	const struct opened *opened;
	const struct heap *heap;
	const struct retained *known; /* NULL: not known yet */
	struct path_rules rules;
	struct path_plumbing plumbing; /* with has_rules */
	struct what_if cut;
	struct what_if_owner owner;
	bool has_rules, has_cut, has_owner;
	uint32_t class;     /* that the last answer was about, all of it; HEAP_NONE: it was not */
	uint64_t bytes;     /* that it retains */
	uint8_t doubts;
};

/* One question and its answer so far. */
struct asking {
	struct about *a;
	const struct about_what *what;
	bool quick;
	struct result *r;
	struct progress *progress;
	struct what_if_loss loss; /* of several objects: what goes with them all */
	bool has_loss;
};

/* Cells that are not set are blank. */
struct about_row {
	enum about_part part;
	unsigned indent; /* of the name */
	const char *name;
	bool beside; /* it tells more of the row before it */
	size_t rest; /* the name says how many rows are left out; 0: it is of this one */
	struct cell references, objects, shallow, retained, freed, value;
	uint32_t object; /* with is_object: what the row stands for */
	bool is_object;
	const char *command; /* else the command line for details, or NULL */
};
void about_add(struct asking *q, const struct about_row *row);
/* Add one of an object (HEAP_NONE: of none) with what it retains, as far as that is known.  Releases the name. */
void about_add_object(struct asking *q, const struct about_row *row, struct text *name, uint32_t id);

/* Append the line that lists the objects of a class, those first that retain most. */
void about_class_line(const struct about *a, uint32_t class, struct text *to);

/* The collection that an array or a node belongs to, or an array that is in none; HEAP_NONE: the holder is neither. */
uint32_t about_collection_of(struct asking *q, uint32_t holder);
/* Append what its elements are called: "AuditLog.ENTRIES[]".  False: nothing names what holds it. */
bool about_collection_label(struct asking *q, uint32_t id, struct text *to);
/* Leave of the first what both have in common: of "Thread.threadLocals[]" and "Worker.threadLocals[]" the field.
 * False: nothing. */
bool about_collection_common(struct text *name, const struct text *other);

/* Add the rows of one half.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int about_add_holders(struct asking *q, struct err *err);
MUST_CHECK int about_add_contents(struct asking *q, struct err *err);

/* The cutter, made when it is first wanted; retained sizes must be known.  0 or ERR_NOMEM. */
MUST_CHECK int about_cutter(struct about *a, struct what_if **out, struct err *err);

/* What belongs to libraries, likewise; NULL if that may take long and the answer must be quick.  0, ERR_NOMEM or
 * ERR_CANCELLED. */
MUST_CHECK int about_owner(struct asking *q, struct what_if_owner **out, struct err *err);

#endif
