/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cut_owner.h - tells the program's own references from those inside the JDK or Go's own library,
 * which neither a plan nor leaks proposes to clear; cut.h has what commands need of it.
 *
 * A class is the program's own unless its name says otherwise.  Not its own are, in Java, the
 * classes in packages of the JDK and arrays of primitives; in Go, types that name no package, or
 * only packages of Go's own library ("runtime", "unicode", "internal/cpu"; main is none of them).
 *
 * An object is *internal* if a static field of a JDK class or a global variable of Go's library
 * leads to it and no object of a class of the program stands before it on the way.  So is what nothing of
 * a Java program leads to at all: no object of its classes, none of their static fields, no stack of a
 * thread that runs its code.  Every object of a type of the Go runtime is internal, too.
 *
 * Any thread may call these functions, each with its own struct cut_owner.
 */
#ifndef CAIRN_ANALYSIS_CUT_CUT_OWNER_H
#define CAIRN_ANALYSIS_CUT_CUT_OWNER_H

#include "analysis/cut/cut.h"

/* Add to out (a bit an object) what something of the program leads to; own: the program's classes
 * (cut_program.c). */
MUST_CHECK int cut_program_mark(struct bits *out, const struct model *model, const struct bits *own,
    struct err *err);

/* Does a field of this class have a name that the program's authors gave it? */
bool cut_owner_names(const struct cut_owner *o, uint32_t class);

/* holder HEAP_NONE: the roots' hold. */
enum cut_fame cut_fame(const struct heap *h, uint32_t holder, uint32_t target);

/* Is it a root only because nothing in the dump holds it? */
bool cut_untold(const struct heap *h, uint32_t holder, uint32_t target);

#endif
