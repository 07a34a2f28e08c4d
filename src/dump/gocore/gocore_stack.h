/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gocore_stack.h - what the files about code and stacks share; private to gocore_code.c, gocore_unwind.c,
 * gocore_frame.c and gocore_goroutines.c.
 */
#ifndef CAIRN_DUMP_GOCORE_GOCORE_STACK_H
#define CAIRN_DUMP_GOCORE_GOCORE_STACK_H

#include "dump/gocore/gocore_read.h"

/* --- code ----------------------------------------------------------------------------------------------- */

/* Tables and data of functions: internal/abi/symtab.go. */
enum { TABLE_STACK_MAP = 1 };
enum { DATA_ARGUMENTS, DATA_LOCALS, DATA_STACK_OBJECTS };
enum { FLAG_TOP_FRAME = 1, FLAG_WRITES_SP = 2 };

/* Are all of these bytes in the core, if in several places? */
bool gocore_is_there(const struct gocore *g, uint64_t address, uint64_t n);
/* A member of a _func. */
uint32_t gocore_function_number(const struct gocore *g, const struct gocore_function *f, enum gocore_member member);
/* The value at a pc of the table that begins at an offset; -1: there is none. */
int32_t gocore_pc_value(const struct gocore *g, const struct gocore_function *f, uint32_t table, uint64_t pc);
/* The same of a table by its number. */
int32_t gocore_pc_data(const struct gocore *g, const struct gocore_function *f, uint32_t number, uint64_t pc);
/* The address of a function's data by its number; 0: it has none. */
uint64_t gocore_function_data(const struct gocore *g, const struct gocore_function *f, uint32_t number);

/* --- frames --------------------------------------------------------------------------------------------- */

/* Functions that the unwinder treats in their own way. */
enum gocore_special {
	NOT_SPECIAL, CGO_CALLBACK, SIGNAL_PANIC, ASYNC_PREEMPT, DEBUG_CALL, GOGO, REFLECT_STUB
};

/* What is the same each time that a pc is met. */
struct gocore_site {
	uint64_t pc;
	struct gocore_function function; /* module NULL: there is none */
	bool has_frame;            /* a table tells how large its frame is */
	int32_t frame_bytes;       /* between sp and the return address; negative: unknown */
	int32_t map;               /* number of the stack map of the call that returns to pc; -1: none */
	enum gocore_special special;
};

/* Addresses; those of the stack as runtime.stkframe has them. */
struct gocore_frame {
	const struct gocore_site *site; /* until another pc is asked for */
	uint64_t pc, continue_pc, lr, sp, fp, varp, argp;
};

/* runtime.unwinder */
struct gocore_unwinder {
	const struct gocore *image;
	struct gocore_site *site;  /* big memory: SITES, by pc */
	struct gocore_frame frame;
	uint64_t high;             /* where the stack ends */
	enum gocore_special callee;
	bool in_c;                 /* it ended at a pc that is of no Go function */
};
enum { SITES = 2048 };

/* Begin at a frame of a stack that ends at `high`; false: no Go function has the pc.  lr: arm64 alone. */
bool gocore_unwind(struct gocore_unwinder *u, uint64_t pc, uint64_t sp, uint64_t lr, uint64_t high);
/* Go on to the caller; false: there is none. */
bool gocore_unwind_next(struct gocore_unwinder *u);

/* --- the words of a stack ------------------------------------------------------------------------------- */

/* A stack as far as it is in use.  Arrays are big memory. */
struct gocore_stack {
	const struct gocore *image;
	uint64_t stub_object;      /* runtime.methodValueCallFrameObjs; 0: there is none */
	struct gocore_stack_frame {
		uint64_t pc, continue_pc, entry, sp, fp;
		const char *name;
		uint64_t n_name;
	} *frame;
	size_t n_frames, cap_frames;
	struct gocore_stack_object {
		uint64_t address, size, n_words; /* of them n_words may be pointers, by the mask */
		const uint8_t *mask;             /* NULL: any */
		bool live;
	} *object;
	size_t n_objects, cap_objects;
	uint64_t *queue;           /* pointers to objects of the stack */
	size_t n_queue, cap_queue;
	uint64_t *live;            /* a bit for each word from low on */
	uint64_t n_live;           /* 64 words each */
	uint64_t low, high;        /* of the frames so far */
	const uint8_t *bytes;      /* from low on; NULL: they are in several places, or not there */
	bool any_word;             /* the last frame was put there by a signal: its caller was interrupted */
	struct gocore_arguments {  /* of the last frame, which its caller's frame has */
		uint64_t address, bytes, n_words;
		const uint8_t *map;    /* of n_words; NULL: each may be a pointer */
	} arguments;
	struct err *err;
};

/* Forget the frames. */
void gocore_stack_clear(struct gocore_stack *s);
/* Add the caller of the last frame and find its pointers; of a function that was interrupted anywhere, any word may
 * be one.  ERR_NOMEM. */
MUST_CHECK int gocore_stack_add(struct gocore_stack *s, const struct gocore_frame *f, bool interrupted);
/* Put the records of all frames.  With n pointers that the stack does not have, but which the collector begins at,
 * the objects of the stack that are live are found first.  ERR_NOMEM. */
MUST_CHECK int gocore_stack_tell(struct gocore_stack *s, const uint64_t *pointers, size_t n,
    struct gocore_records *out);
void gocore_stack_release(struct gocore_stack *s);

#endif
