/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leaks_told.h - the sentences of leaks about a suspect, or about another large holder. */
#ifndef CAIRN_COMMAND_RETENTION_LEAKS_TOLD_H
#define CAIRN_COMMAND_RETENTION_LEAKS_TOLD_H

#include "analysis/leaks.h"
#include "analysis/paths/paths.h"
#include "analysis/what_if/what_if.h"
#include "command/session/session.h"

/* References as people name them: a static field, a global variable, a local variable with its thread and frame. */
enum { TOLD_NAMES = 12 };
struct told_names {
	struct text name[TOLD_NAMES];
	size_t n;
};
/* Append them, between: " + ", or " and " with commas before the last one. */
void told_names_join(const struct told_names *names, const char *between, struct text *to);
void told_names_release(struct told_names *names);

struct told {
	/* what it is told of, borrowed while told_find works */
	struct session *session;
	struct what_if *cut;
	struct what_if_owner *owner;
	const struct suspect *suspect;
	const struct path_rules *rules;
	const struct path *steps; /* to the accumulation point */
	/* what is told */
	struct text path, field, reference, sentence;
	struct told_names names; /* of the references to clear */
	struct text unnamed;  /* what the reference does not say: the holder's class, the kind of root */
	struct text variable; /* of a single root: the global variable */
	size_t together; /* so many references must be cleared; 0: the one of reference, or none */
	struct text holders; /* other references to the suspect, if clearing the path's is not enough */
	struct amount freed; /* 0: no reference of the path does */
	enum what_if_fame fame; /* of the most familiar of these references */
	bool some;           /* but not all objects of a group */
	bool hidden;         /* that one is a field of a library's class, which no program clears by its name */
	bool vm_holds;       /* a reference that does free it is the VM's own: it cannot be cleared */
	bool untold;         /* the reference is from something that the dump does not have */
	bool internal;       /* such a one is inside the JDK, or Go's library, where a program clears nothing */
	uint32_t target;     /* what the reference leads to, where clearing it frees all; else HEAP_NONE */
	uint32_t subject;    /* the object that the sentence is about; HEAP_NONE: a group */
	bool inside;         /* the accumulation point is what that is made of, a list's array */
	bool shared;         /* the program's references lead there as well, but clearing them frees nothing */
	struct amount others; /* that keep the accumulation point besides the path's last one */
};

/* 0, ERR_NOMEM or ERR_CANCELLED; told_release in either case.  owner: of the same heap. */
MUST_CHECK int told_find(struct told *t, struct session *s, struct what_if *cut, struct what_if_owner *owner,
    const struct suspect *suspect, struct err *err);
void told_release(struct told *t);

/* Append "60 elements, all com.acme.Session" of a collection of the dump as it was read, "60 references, all to …" of
 * an array of references, or of a list that does not say: of its array, `store` (or HEAP_NONE).  False: nothing was
 * appended. */
bool told_add_elements(struct text *to, const struct opened *o, uint32_t id, uint32_t store);
/* Of told_find, private: choose the references to clear by the path to the accumulation point (leaks_choice.c).  The
 * same codes. */
MUST_CHECK int told_choose(struct told *t, struct err *err);

#endif
