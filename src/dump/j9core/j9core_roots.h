/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * j9core_roots.h - what the files that find roots and threads share; private to src/dump/j9core.
 *
 *   j9core_roots.c     roots that the VM lists: classes, JNI globals, finalizable objects, interned Strings
 *   j9core_threads.c   threads: names, states, what they hold
 *   j9core_frames.c    the frames of a stack
 *   j9core_compiled.c  the same of compiled code
 *   j9core_methods.c   the methods of frames
 *   j9core_monitors.c  who owns a monitor
 *   j9core_pool.c      elements of the VM's pools and hash tables
 */
#ifndef CAIRN_DUMP_J9CORE_J9CORE_ROOTS_H
#define CAIRN_DUMP_J9CORE_J9CORE_ROOTS_H

#include "base/progress.h"
#include "dump/facts.h"
#include "dump/j9core/j9core_read.h"

struct sink;
struct text;

/* --- pools and hash tables --------------------------------------------------------------------------------- */

struct j9_pool_walk {
	const struct j9core *image;
	uint64_t element, room, bitmap; /* bytes of an element, elements of a puddle, bytes before its bitmap */
	uint64_t puddle, slot, left;    /* the current one; left: elements in use that come */
	uint64_t n_seen;                /* elements, in use or not */
	struct j9_list puddles;
};
void j9_pool_walk(struct j9_pool_walk *w, const struct j9core *j, uint64_t pool); /* 0: one without elements */
bool j9_pool_next(struct j9_pool_walk *w, uint64_t *element); /* addresses */

struct j9_table_walk {
	struct j9_pool_walk list, trees;
	uint64_t node, n_nodes; /* of a table that is an array */
};
void j9_table_walk(struct j9_table_walk *w, const struct j9core *j, uint64_t table);
bool j9_table_next(struct j9_table_walk *w, uint64_t *entry);

/* --- roots ------------------------------------------------------------------------------------------------- */

/* Where roots and threads go. */
struct j9_roots {
	const struct j9core *image;
	struct sink *sink;
	struct err *err;
	int code; /* of the sink's first refusal: then nothing more is sent */
	uint64_t n_steps; /* along lists and stacks */
	bool too_long;    /* these ended at J9_STEPS_MOST */
};
#define J9_STEPS_MOST (UINT64_C(1) << 28)
/* Go on by n steps?  No more is sent than there are steps. */
static inline bool j9_step(struct j9_roots *r, uint64_t n)
{
	r->n_steps += n;
	r->too_long |= r->n_steps > J9_STEPS_MOST;
	return !r->code && !r->too_long && !progress_own_stops(r->n_steps);
}
/* Of no thread; 0 is no root. */
void j9_root(struct j9_roots *r, uint64_t address, enum root_kind kind);
/* All threads, each with what it holds. */
void j9_threads(struct j9_roots *r);
/* The class of what may be an object; NULL: it is none. */
const struct j9_class *j9_class_of(const struct j9core *j, uint64_t address);

/* --- monitors ---------------------------------------------------------------------------------------------- */

/* Inflated monitors, by the addresses of their objects. */
struct j9_monitor {
	uint64_t object, monitor; /* its J9ThreadMonitor */
};
struct j9_monitors {
	struct j9_monitor *monitor; /* big memory */
	uint32_t n, cap;
};
MUST_CHECK int j9_read_monitors(struct j9_monitors *m, const struct j9core *j, struct err *err);
void j9_monitors_release(struct j9_monitors *m);
/* The J9VMThread that owns an object's monitor; 0: none does. */
uint64_t j9_owner(const struct j9core *j, const struct j9_monitors *m, uint64_t object);
/* The J9ThreadMonitor of an object that is inflated; 0: it is not. */
uint64_t j9_inflated(const struct j9_monitors *m, uint64_t object);

/* --- methods ----------------------------------------------------------------------------------------------- */

struct j9_method {
	uint64_t rom, bytecodes;        /* addresses */
	const struct j9_class *class;
	uint64_t modifiers;
	uint32_t n_arguments, n_locals; /* words; locals without arguments */
	bool native, synchronized;
	bool keeps_receiver;            /* in a word of its own: java.lang.Object's constructor */
};
bool j9_read_method(const struct j9core *j, uint64_t address, struct j9_method *m); /* false: it is none */
/* Append "java.lang.Object.wait(Object.java:221)".  pc: of a bytecode, or 0. */
void j9_add_method(const struct j9core *j, const struct j9_method *m, uint64_t pc, struct text *to);
/* Append "java.lang.String". */
void j9_add_class_name(const struct j9core *j, const struct j9_class *c, struct text *to);

/* --- frames ------------------------------------------------------------------------------------------------ */

struct j9_frame {
	const char *text;   /* "java.lang.Object.wait(Native Method)"; NULL: it is not shown */
	uint64_t low, high; /* addresses of its words, the first and behind the last */
	uint64_t pushed;    /* of the word behind those that are references for sure: low, none are */
	bool native;        /* these are JNI locals */
	uint64_t a0;        /* of its first argument */
	uint64_t locked;    /* of a synchronized method: address of the word that holds the object; 0: none */
};
struct j9_stack {
	struct j9_frame *frame; /* big memory: innermost first */
	uint32_t n, cap;
	uint64_t n_looks;       /* for compiled code */
	bool broken;            /* its frames end before its end */
	struct arena arena;     /* texts */
};
enum { J9_LOOKS_MOST = 1 << 22 };
/* Where a stack's innermost frame is. */
struct j9_registers {
	uint64_t sp, pc, literals, a0, j2i, entry;
	uint64_t native_sp, native_pc; /* 0, or those of the processor, which runs compiled code */
};
/* In place of what was there before.  ERR_NOMEM. */
MUST_CHECK int j9_read_stack(struct j9_stack *s, const struct j9core *j, const struct j9_registers *at, uint64_t end,
    struct err *err);
/* Append the frames of compiled code: the innermost one was at pc, its words are from sp on, and all before `end`. */
MUST_CHECK int j9_add_compiled(struct j9_stack *s, const struct j9core *j, uint64_t pc, uint64_t sp, uint64_t end,
    struct err *err);
void j9_stack_release(struct j9_stack *s);

#endif
