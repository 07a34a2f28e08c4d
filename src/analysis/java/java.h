/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * java.h - facts about a Java VM, found in the objects of its heap.
 *
 * Each function reads the values it needs when it is called, and finds nothing in dumps without values
 * and of other runtimes.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_JAVA_JAVA_H
#define CAIRN_ANALYSIS_JAVA_JAVA_H

#include "base/err.h"
#include "base/text.h"

struct any_value;
struct err;
struct heap;
struct heap_thread;

/* The object with the system properties, a map; HEAP_NONE: the dump leads to none. */
uint32_t java_properties(const struct heap *h);

/* Append the name and version that the VM gives in its system properties, escaped: "OpenJDK 64-Bit Server
 * VM 17.0.9+9, java 17.0.9".  False: unknown, and nothing was appended. */
bool java_vm(const struct heap *h, struct text *to);

/* The text of a String, escaped, at most so many characters of it, instead of what *to held; false: it is none. */
bool java_text_of(const struct any_value *v, uint64_t limit, struct text *to);
/* The values of these properties; what is not there leaves its text as it is. */
void java_read_properties(
    const struct heap *h, const char *const *keys, unsigned n, uint64_t limit, struct text *found);

/* What objects of the VM's library say about the process, secrets masked; the caller's (process_free).  NULL: no Java,
 * or no values.  *err: some memory was refused, and arguments are missing. */
struct process_facts *java_process(const struct heap *h, struct err *err);
/* How much memory direct buffers may take, bytes; unless the program's options say so (MaxDirectMemorySize) HotSpot
 * takes the most that the heap may grow to.  0: unknown. */
uint64_t java_direct_limit(const struct heap *h);
/* The most that the heap may grow to, bytes, where that limit is known not to have been given; 0: unknown. */
uint64_t java_heap_limit(const struct heap *h);

/* The thread for whose OutOfMemoryError the dump was written, or HEAP_NONE. */
uint32_t java_oom_thread(const struct heap *h);
/* The frame of this thread that needed the memory: the innermost one that does not make the error. */
uint32_t java_oom_frame(const struct heap *h, uint32_t thread);
/* Append what sentences call a thread: its name, or its number ("#22") where that is empty, as of virtual threads. */
void java_thread_label(const struct heap_thread *thread, struct text *to);
/* Of what kind its error was, inferred: the dump is written before there is one.  NULL: unknown. */
const char *java_oom_kind(const struct heap *h, uint32_t thread);
/* Which memory ran out by a javacore's cause, 'Dump Event "systhrow" (00040000) Detail "java/lang/OutOfMemoryError"
 * "Java heap space" received': one of the VM's own messages, static.  NULL: another message, or another event. */
const char *java_oom_kind_of(const char *cause);
/* Append the messages of OutOfMemoryErrors that were thrown before and are still there; false: none.  References must
 * have been read. */
bool java_oom_thrown(const struct heap *h, struct text *to);

/*
 * Class objects in the VM's archive (class data sharing) whose classes were never loaded.  The archive's
 * root arrays, held by JNI globals and by no object, refer to them; the dump has no record of them,
 * while the VM's own histogram counts them.
 */
struct java_archived {
	uint64_t class_objects;
	uint64_t references; /* to them; these count as dangling */
};
/* Returns 0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int java_archived(const struct heap *h, struct java_archived *out, struct err *err);

#endif
