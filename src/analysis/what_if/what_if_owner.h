/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * what_if_owner.h - which references are the program's own, and which are inside the JDK or Go's own library.
 *
 * Neither a plan nor leaks proposes to clear a reference of the library.  heap/library.h has the rule for
 * classes, what_if.h what commands need of this.
 *
 * A reference is the program's if a static field of one of its classes holds it, or a field that one of its
 * classes declares; it is the library's if a static field of a class of the library does.  Any other counts by its
 * target.  An object is *internal* if a static field of a JDK class or
 * a global variable of Go's library leads to it and no object of a class of the program stands before it on the
 * way.  So is what nothing of a Java program leads to at all: no object of its classes, none of their static
 * fields, no stack of a thread that runs its code.  Every object of a type of the Go runtime is internal, too.
 *
 * Any thread may call these functions, each with its own struct what_if_owner.
 */
#ifndef CAIRN_ANALYSIS_WHAT_IF_WHAT_IF_OWNER_H
#define CAIRN_ANALYSIS_WHAT_IF_WHAT_IF_OWNER_H

#include "analysis/what_if/what_if.h"

/* What something of the program leads to (what_if_program.c).  own: by class, the program's.  0, ERR_NOMEM or
 * ERR_CANCELLED; release it in either case. */
MUST_CHECK int what_if_program_init(struct what_if_program *p, const struct model *model, const struct bits *own,
    struct err *err);
void what_if_program_release(struct what_if_program *p);
/* Is the object among that?  False as well where p->err says why no answer was found. */
bool what_if_program_leads_to(struct what_if_program *p, const struct bits *own, uint32_t id);
/* Add to out (a bit an object) what the roots lead to without any reference of the program's. */
MUST_CHECK int what_if_library_mark(struct bits *out, const struct model *model, const struct bits *own,
    struct err *err);

/* Does a field of this class have a name that the program's authors gave it? */
bool what_if_owner_names(const struct what_if_owner *o, uint32_t class);

/* Is it a root only because nothing in the dump holds it? */
bool what_if_untold(const struct heap *h, uint32_t holder, uint32_t target);

#endif
