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
	size_t hidden; /* the last one is "N more": N - 1 */
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
	uint32_t field_target; /* what field leads to; HEAP_NONE: there is no field */
	uint32_t loader; /* told_add_loader: that of the class of the name; HEAP_NONE: nobody asks */
	struct text remedy; /* of the sentence: what to clear, or why nothing is */
	const char *kind;   /* of the reference: "static", "local", "3 references" with `together`; NULL: there is none */
	struct text way; /* the path as a person reads it, its plumbing folded */
	uint32_t freed_member; /* of a group: way leads to this one, as the largest is not freed; or HEAP_NONE */
	struct text shortest;  /* then: the path to the largest */
	struct told_names names; /* of the references to clear */
	struct what_if_edge cleared[TOLD_NAMES]; /* these, the first of them */
	size_t n_cleared;
	struct text label;    /* a single reference as its class names it: "static app.Cache.all", "app.Order.items" */
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

/* By what a suspect is called: the references to clear, if that frees half of it or more; the field that holds half of
 * it or more; its class. */
enum told_name { TOLD_BY_REFERENCE, TOLD_BY_FIELD, TOLD_BY_CLASS };
enum told_name told_named_by(const struct told *t, const struct retained *r, const struct suspect *s);
/* Two suspects have one name, of classes with different loaders: add the loader to the sentence, and set it.  Does
 * nothing if the name is not of a class with a loader. */
void told_add_loader(struct told *t, const struct retained *r, const struct suspect *s);
/* Does the reference to clear free less than a tenth of the suspect?  That is no remedy. */
bool told_frees_little(const struct told *t);
/* Append the references to clear, between " + "; one that only an address names by its class and field.  whole: and
 * with that address. */
void told_add_names(struct text *to, const struct told *t, bool whole);
/* What a person wants to open: the collection that the accumulation point is a part of, or that; of a group its largest
 * member. */
uint32_t told_point(const struct retained *r, const struct told *t, const struct suspect *s);

/* For a card about a suspect: "static ArrayList, 60"; what is in it, "60 app.Session, reached only from here; mostly
 * byte[] in viewState (60.9K)"; "CLEAR app.Log.ENTRIES", an arrow, "frees 80.0K".  After told_find, of the same. */
void told_add_holder_kind(struct text *to, const struct told *t, const struct opened *o, const struct retained *r,
    const struct suspect *s);
void told_add_contents(struct text *to, const struct opened *o, struct what_if *cut, const struct told *t,
    const struct suspect *s);
/* For the sentence " Most of it is 2,000 app.Session (>=594K).", if that is so and no elements are what is in it. */
void told_add_many(struct text *to, const struct opened *o, const struct retained *r, const struct told *t,
    const struct suspect *s);
void told_add_remedy(struct text *to, const struct told *t, const struct suspect *s);

/* The elements of a collection, or the references of an array: how many there are, how many of them were looked at, and
 * the class that most of these have, if one has (else HEAP_NONE). */
struct told_elements {
	uint32_t class;
	uint64_t n, looked, of_class;
	bool map;        /* values, that is */
	bool collection; /* it knows its size; else they are references */
};
/* store: of a list of a dump without values, its array, or HEAP_NONE.  each: called with each element of that class;
 * may be NULL.  False: it is neither a collection nor an array of references. */
typedef void told_element(void *context, uint32_t id);
bool told_find_elements(struct told_elements *out, const struct opened *o, uint32_t id, uint32_t store,
    told_element *each, void *context);
/* Append "60 elements, all com.acme.Session" of a collection of the dump as it was read, "60 references, all to …" of
 * an array of references, or of a list that does not say: of its array, `store` (or HEAP_NONE).  False: nothing was
 * appended. */
bool told_add_elements(struct text *to, const struct opened *o, uint32_t id, uint32_t store);
/* Of told_find, private: choose the references to clear by the path to the accumulation point (leaks_choice.c).  The
 * same codes. */
MUST_CHECK int told_choose(struct told *t, struct err *err);

/* How many references a reader finds in the names, with the several roots of one object. */
size_t told_number(const struct told *t);

#endif
