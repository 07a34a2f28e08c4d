/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * equal.h - finds objects with equal contents, for duplicate strings and the kinds of waste that are equal objects.
 *
 * Each object is read once, in the order of the dump, for the fingerprint of its bytes (hash.h).  Those with the same
 * one are equal: their bytes are not compared, which would jump through the dump.  All threads work.  Memory: 24 bytes
 * for each object, and while a task groups them 24 to 48 more for each of its own.
 */
#ifndef CAIRN_ANALYSIS_EQUAL_H
#define CAIRN_ANALYSIS_EQUAL_H

#include "algorithms/hash.h"
#include "base/progress.h"
#include "heap/string.h"

enum { EQUAL_FIELDS = 128 };

/* What reads objects one after the other, on one thread. */
struct equal_walk {
	const struct heap *heap;
	const void *context;    /* equal_objects.source */
	struct view_walk view;
	struct string_walk text;
	uint64_t field[EQUAL_FIELDS]; /* for a content that is not as the dump has it */
};

struct equal_content {
	const uint8_t *bytes;
	uint64_t n;
	uint32_t array; /* the object with the bytes, the one that is read itself if it is that */
	uint32_t with;  /* a number that must be equal, too */
	bool copied;    /* the bytes are the walk's own */
};

struct equal_print {
	struct fingerprint of;
	uint32_t id, array;
};

enum { EQUAL_TASKS = 512 };

struct equal_objects {
	const struct heap *heap;
	const uint32_t *order;  /* all ids, as heap_record_order gives them; NULL: ascending */
	const uint8_t *kind_of; /* by class, below 32: */
	unsigned kinds;         /* objects are compared where the bit of their class's kind is set */
	/* False: the object is not compared. */
	bool (*read)(struct equal_walk *w, uint32_t id, struct equal_content *out);
	const void *source;     /* of the walk's */
	/* Called with n > 1 objects that are equal: the one to keep, then the others, ids ascending;
	 * it may reorder them.  Of equal objects
	 * the first is kept.  On any thread; task, below
	 * EQUAL_TASKS, has one at a time.  0 or an error. */
	int (*found)(void *context, unsigned task, struct equal_print *same, size_t n, struct err *err);
	void *context;
	bool constants;         /* keep a constant of a class first, or what a static field holds: needs references */
	enum phase reading, comparing; /* what progress says */
	/* out */
	uint64_t compared, different; /* objects, and different contents of them */
};

/* 0, ERR_NOMEM, ERR_CANCELLED or what found returns. */
MUST_CHECK int equal_objects_find(struct equal_objects *e, struct err *err);

#endif
