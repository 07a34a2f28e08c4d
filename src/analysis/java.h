/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * java.h - what a Java VM leaves of itself in the objects of its heap.
 *
 * Each function reads the values it needs when it is called, and finds nothing in dumps without values
 * and of other runtimes.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_JAVA_H
#define CAIRN_ANALYSIS_JAVA_H

#include "base/text.h"
#include "heap/heap.h"

/* The object with the system properties, a map; HEAP_NONE: the dump leads to none. */
uint32_t java_properties(const struct heap *h);

/* Append the name and version that the VM gives in its system properties, escaped: "OpenJDK 64-Bit Server
 * VM 17.0.9+9, java 17.0.9".  False: they do not tell, and nothing was appended. */
bool java_vm(const struct heap *h, struct text *to);

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
