/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process.h - facts about the process that was dumped: why, how it was started, its environment.
 *
 * Texts are UTF-8, escaped, and secrets in them are masked (base/masking.h).  Immutable once read: any thread.
 */
#ifndef CAIRN_DUMP_PROCESS_H
#define CAIRN_DUMP_PROCESS_H

#include "base/text.h"
#include "memory/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An option as it was given (value alone), a limit of the system (value: soft), an environment variable. */
struct process_setting {
	const char *name, *value, *hard; /* NULL where there is none */
};

struct process_settings {
	struct process_setting *list; /* big memory, in the order of the file */
	size_t n, cap;
};

/* Memory that the VM allocated itself outside of the heap, by purpose; an entry is followed by those it consists of. */
struct process_memory {
	const char *name;
	uint64_t deep;         /* 0: of the whole */
	uint64_t bytes, count; /* of this and all below it; allocations */
};
enum { PROCESS_MEMORY_DEEP = 16 };

struct process_facts {
	struct arena arena; /* owns every string */
	const char *cause;        /* of the dump, in the VM's words; this and all below NULL: unknown */
	const char *cause_date;   /* ISO 8601, local time */
	const char *started;      /* the same */
	const char *command_line;
	const char *java_version, *vm_version;
	const char *os;
	const char *host, *gc_policy;
	uint64_t process_id, signal, cpus; /* 0 unknown */
	uint64_t cause_thread;    /* address of the object of the thread in which the cause was; 0 unknown */
	uint64_t reference_bytes; /* of a reference in an object; 0 unknown */
	uint64_t heap_max, heap_total, heap_used; /* bytes: -Xmx, reserved so far, used; 0 unknown */
	struct process_settings arguments, limits, variables;
	struct process_memory *memory; /* big memory, in the order of the file */
	size_t n_memory, cap_memory;
};

/* Make one, empty; the caller's. */
struct process_facts *process_new(void);
void process_free(struct process_facts *p); /* NULL is fine */
/* What is unknown, as another one has it: texts and numbers. */
void process_complete(struct process_facts *p, struct process_facts *from);
/* The facts that are a text or a number, one after another, in the order of index files; NULL after the last. */
struct process_fact {
	const char *word; /* "java_version" */
	size_t at;        /* in struct process_facts */
	bool number;      /* else a text */
	bool exported;    /* into a file for others: not the command line */
};
const struct process_fact *process_fact(size_t i);
const char **process_text(struct process_facts *p, const struct process_fact *f);
uint64_t *process_number(struct process_facts *p, const struct process_fact *f);
/* Append of a cause 'Dump Event "systhrow" (00040000) Detail "java/lang/OutOfMemoryError" "Java heap space" received'
 * "OutOfMemoryError: Java heap space"; without such details "event user", or all of it. */
void process_add_short_cause(const char *cause, struct text *to);

#endif
