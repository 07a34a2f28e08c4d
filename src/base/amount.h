/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * amount.h - a number with its certainty, and the reason why it is not exact.
 *
 * The code that counts knows what may be missing or guessed; the code that shows a number does not.  So
 * number and certainty are one value, and no table can lose a mark.  Small, and passed by value.
 */
#ifndef CAIRN_BASE_AMOUNT_H
#define CAIRN_BASE_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* How sure a number is; a later one is less sure. */
enum certainty { EXACT, LOWER_BOUND, INFERRED, UNKNOWN };

/* Why a number is not exact.  result/why.c has the sentences. */
enum reason {
	REASON_NONE,          /* it is exact */
	REASON_DAMAGED,       /* the dump was read in part */
	REASON_SIZES_UNKNOWN, /* the dump does not record the sizes of some objects */
	REASON_JOINT,         /* it leaves out what several objects hold jointly */
	REASON_ROWS_JOINED,   /* several groups of one dump are one here: what they hold may be counted twice */
	REASON_OTHER_RULE,    /* sizes of an older dump are by another rule than those it is compared with */
	REASON_OTHER_WORDS,   /* they are of objects with wider or narrower words */
	REASON_MORE,          /* counting ended early: there may be more */
	REASON_CLOCK,         /* the time of the dump is at least that of the latest event in it */
	REASON_LOCALS,        /* the owner of a monitor follows from blocked threads and what their frames hold */
	REASON_DIRECT_LIMIT,  /* it is the limit of direct memory, which is the heap's unless it was given */
	REASON_ERROR_LATER,   /* the VM makes the error after the dump: its kind follows from what there is */
	REASON_TOO_LARGE,     /* the number does not fit into 64 bits */
	REASON_ROOTS,         /* it depends on roots that are inferred */
	REASON_ROOTS_MISSING, /* it depends on roots that are in the part of the dump that was not read */
	REASON_FRAMES,        /* no root leads there, but the bytes of stack frames do */
	REASON_CLASS_FIELDS,  /* no root leads there, but fields of java.lang.Class, which the dump leaves out, may */
	REASON_STACKS_MISSING, /* no root leads there, but stacks of continuations, which it leaves out, may */
	REASON_CLASS_DATA,    /* no root leads there, but what hidden classes were given, which it leaves out, may */
	REASON_NAMES_SHARED,  /* several classes have the name by which objects name their class */
	REASON_FILLERS,       /* objects are recognised by signs only: the collector's fillers */
	REASON_SIZES_ASSUMED, /* sizes are computed by a model that nothing in the dump confirms */
	REASON_SIZES_MEASURED, /* sizes of some classes are how far the next objects lie, not what rules give */
	REASON_TYPES_GUESSED, /* it depends on types that objects were given by inference */
	REASON_JUDGED,        /* whether it could be saved is a judgement, by a rule that help states */
	REASON_PADDED,        /* the length of an array, worked out from its size, which includes padding */
	REASON_BLOCK,         /* the length of a block of memory, which may be longer than what is in it */
	REASON_FILE_CHANGED,  /* it depends on values in a file that is not what was loaded */
	REASON_NOT_FOUND_YET, /* retained sizes were not asked for */
	REASON_DUMP_AWAY,     /* it is in the dump, but only the index of the dump was read */
	REASON_OUTSIDE,       /* of memory that is not in the dump, and no field has its size */
	REASON_SILENT,        /* the dump does not say */
	REASON_FILE_TIME,     /* the time is that of the file: its first bytes have none */
	REASON_FILE_NAME,     /* the cause follows from the name of the file */
	REASON_NOT_READ,      /* of the dump only its first bytes were read */
	REASON_STACK_ORDER,   /* which stack is a thread's follows from the order of both */
	REASON_PUBLISHED,     /* of a running VM: it is what the VM published last */
	REASON_BY_INDEX,      /* it is from an index or a profile, and the dump was not looked at */
	REASONS
};

struct amount {
	uint64_t n; /* 0 where the certainty is UNKNOWN */
	enum certainty certainty;
	enum reason reason; /* REASON_NONE exactly where the certainty is EXACT */
};

/* "exact", "lower bound", "inferred", "unknown" */
const char *certainty_name(enum certainty certainty);

static inline struct amount amount_exact(uint64_t n)
{
	return (struct amount){n, EXACT, REASON_NONE};
}

static inline struct amount amount_unknown(enum reason reason)
{
	return (struct amount){0, UNKNOWN, reason};
}

/* At most as sure as this; of two reasons that weigh the same the first one stays. */
static inline struct amount amount_weaken(struct amount a, enum certainty certainty, enum reason reason)
{
	if (certainty > a.certainty) {
		a.certainty = certainty;
		a.reason = reason;
	}
	if (a.certainty == UNKNOWN)
		a.n = 0;
	return a;
}

/* At most as sure as another amount. */
static inline struct amount amount_as_sure(struct amount a, struct amount other)
{
	return amount_weaken(a, other.certainty, other.reason);
}

/* A sum is as sure as its least sure part, but where one of its parts is unknown it is a lower bound, for
 * that part's reason, or unknown if the rest is 0.  What does not fit becomes the largest number, a lower bound. */
static inline struct amount amount_add(struct amount a, struct amount b)
{
	if (a.certainty == UNKNOWN && !b.n)
		return a;
	if (b.certainty == UNKNOWN && !a.n)
		return b;
	if (b.certainty == UNKNOWN)
		b.certainty = LOWER_BOUND;
	if (a.certainty == UNKNOWN)
		a.certainty = LOWER_BOUND;
	if (__builtin_add_overflow(a.n, b.n, &a.n)) {
		a.n = UINT64_MAX;
		a = amount_weaken(a, LOWER_BOUND, REASON_TOO_LARGE);
	}
	return amount_as_sure(a, b);
}

/*
 * The difference after - before; n holds it as an int64_t in two's complement (amount_signed).  It
 * is unknown when one of them is, and a lower bound only where after is one and before is exact.
 */
struct amount amount_change(struct amount before, struct amount after);
/* The sum of two such differences: as sure as its least sure part, inferred where one is unknown. */
struct amount amount_add_changes(struct amount a, struct amount b);
static inline int64_t amount_signed(struct amount change)
{
	return (int64_t)change.n;
}

#endif
