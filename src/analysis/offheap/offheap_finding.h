/* SPDX-License-Identifier: GPL-3.0-or-later */
/* offheap_finding.h - one search for owners, which the files of this folder share. */
#ifndef CAIRN_ANALYSIS_OFFHEAP_OFFHEAP_FINDING_H
#define CAIRN_ANALYSIS_OFFHEAP_OFFHEAP_FINDING_H

#include "algorithms/bits.h"
#include "analysis/offheap/offheap.h"
#include "heap/ids.h"
#include "heap/value.h"

struct values;

/* What instances of a class are to this search. */
enum role {
	ROLE_NONE, ROLE_BUFFER, ROLE_CLEANER, ROLE_LIST, ROLE_SEGMENT, ROLE_DEFLATER, ROLE_INFLATER, ROLE_ZIP, ROLE_THREAD,
	ROLE_DEALLOCATOR, ROLE_UNMAPPER, ROLE_THUNK, /* what cleaners run */
};

/* The fields of the classes of one role, found once a class. */
enum { FIELDS_MOST = 14 };
struct fields {
	const char *const *names; /* FIELDS_MOST or ended by NULL */
	uint32_t class;           /* the last one; valid if known */
	bool known;
	bool has[FIELDS_MOST];
	struct field_place place[FIELDS_MOST];
};

/* Memory that an object shows without being known to own it. */
struct stretch {
	uint64_t address, size;
	uint32_t object;
	bool segment, view;
	uint64_t limit;
};

struct finding {
	struct offheap *out;
	const struct heap *heap;
	struct progress *progress;
	uint8_t *role;       /* enum role, by class */
	struct bits taken;   /* what frees memory that was counted, by object */
	struct stretch *stretch; /* big memory */
	size_t n_stretches, cap_stretches;
	struct view_walk walk;
	uint64_t stack;      /* bytes that threads get by an option of the VM; 0: unknown */
	bool stack_asked;
	struct fields buffer, cleaner, action, cleanup, segment, stream, thread;
	struct err *err;
};

int offheap_add(struct finding *f, uint32_t object, enum offheap_kind kind, struct amount capacity, uint64_t limit,
    uint64_t address);
int offheap_add_stretch(struct finding *f, const struct stretch *s);

/* A number or reference of an opened object; false or HEAP_NONE: it has none. */
bool offheap_number(struct fields *set, const struct values *v, unsigned which, uint64_t *out);
uint32_t field_object(struct fields *set, const struct values *v, unsigned which);
bool field_is_null(struct fields *set, const struct values *v, unsigned which); /* false of no such field */

/* Each takes one object of its role.  0, ERR_NOMEM. */
int offheap_take_buffer(struct finding *f, uint32_t id);
int offheap_take_cleaner(struct finding *f, uint32_t id);
int offheap_take_list(struct finding *f, uint32_t id);
int offheap_take_segment(struct finding *f, uint32_t id);
void offheap_name_fields(struct finding *f);
/* Whose memory is each stretch?  What nobody's is becomes an owner's. */
int offheap_settle_stretches(struct finding *f);

/* The least that says how large it is: */
static inline struct amount offheap_usual(uint64_t n)
{
	return amount_weaken(amount_exact(n), INFERRED, REASON_OUTSIDE);
}

#endif
