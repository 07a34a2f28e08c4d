/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * work.h - what the families of kinds of waste have in common: what each class is to them, which objects a collection
 * is made of, and where they put what they find.
 */
#ifndef CAIRN_ANALYSIS_WASTE_WORK_H
#define CAIRN_ANALYSIS_WASTE_WORK_H

#include "analysis/equal.h"
#include "analysis/waste/waste.h"
#include "heap/heap.h"
#include "heap/string.h"

/* What an object of a class is. */
enum waste_role {
	ROLE_OTHER,           /* class objects, what has no type */
	ROLE_PLAIN,           /* an instance with fields */
	ROLE_APART,           /* of java.util.concurrent, or below it: equal only by chance, because it changes */
	ROLE_REFERENCE,       /* one of java.lang.ref */
	ROLE_STRING,
	ROLE_BOX,
	ROLE_COLLECTION,      /* one that a program makes: ArrayList */
	ROLE_WRAPPER,         /* the same that is made of another one: HashSet of a HashMap */
	ROLE_VIEW,            /* one that the library makes: HashMap$KeySet, Collections$EmptyList */
	ROLE_PART,            /* a node of a collection */
	ROLE_OBJECT_ARRAY,
	ROLE_PRIMITIVE_ARRAY,
};

struct waste_item {
	uint32_t id;
	uint64_t shallow, wasted; /* bytes */
};
struct waste_items {
	struct waste_item *item;
	size_t n, cap;
};

/* A field of a class and of those below it that is the same in all instances, or the bytes that alignment costs. */
struct waste_of_class {
	uint32_t class;
	const char *field; /* or NULL */
	struct waste_sum sum;
};

struct waste_work {
	const struct heap *heap;
	uint32_t *order;  /* heap_record_order */
	uint8_t *role;    /* enum waste_role, by class */
	uint8_t *arrays;  /* enum storage_arrays, by class */
	uint32_t *owner;  /* of each object that a collection is made of: the collection; else HEAP_NONE */
	struct numbered_names *names; /* of fields that no class declares, for one thread; NULL: they are declared */
	bool wanted[WASTE_KINDS];
	struct waste_items found[WASTE_KINDS]; /* ascending by id */
	struct waste_of_class *of_class;       /* of the kind of classes that was asked for last */
	size_t n_of_class, cap_of_class;
};

static inline enum waste_role waste_role(const struct waste_work *w, uint32_t id)
{
	return (enum waste_role)w->role[heap_class_index(w->heap, id)];
}

/* 0 or ERR_NOMEM, ERR_CANCELLED; waste_work_release in any case. */
MUST_CHECK int waste_work_begin(struct waste_work *w, const struct heap *h, bool owners, struct err *err);
void waste_work_release(struct waste_work *w);

/* One stretch of objects, on one thread. */
struct waste_stretch {
	struct waste_work *work;
	void *context;
	struct waste_items found[WASTE_KINDS];
	struct view_walk view;    /* for reading objects in order, */
	struct string_walk text;  /* or texts */
};
/* 0 or ERR_NOMEM. */
MUST_CHECK int waste_add(struct waste_stretch *s, enum waste_kind kind, uint32_t id, uint64_t shallow,
    uint64_t wasted, struct err *err);
/* Have every object looked at that has one of these roles (a bit for each), on all threads.  What is found comes
 * behind what was found before. */
MUST_CHECK int waste_look(struct waste_work *w, unsigned roles, int (*look)(struct waste_stretch *s, uint32_t id,
    struct err *err), void *context, struct err *err);

/* Append what stretches found to what the work has.  0 or ERR_NOMEM. */
MUST_CHECK int waste_join(struct waste_work *w, const struct waste_stretch *stretch, unsigned n, struct err *err);
void waste_stretches_release(struct waste_stretch *stretch, unsigned n);

/* Bytes of a reference in an array. */
unsigned waste_reference(const struct heap *h);

/* --- the families ------------------------------------------------------------------------------- */

int waste_of_collections(struct waste_work *w, struct err *err);
int waste_of_arrays(struct waste_work *w, struct err *err);
int waste_of_boxes(struct waste_work *w, struct err *err);
int waste_of_texts(struct waste_work *w, struct err *err);
int waste_of_objects(struct waste_work *w, struct err *err);
int waste_of_fields(struct waste_work *w, struct err *err);
int waste_of_alignment(struct waste_work *w, struct err *err);

/* --- equal objects (same.c) ---------------------------------------------------------------------- */

/* Take as waste what is equal among objects with one role: analysis/equal.h has `read`, whose walk's context is the
 * work.  found is called with n > 1 of them, the one to keep first; NULL: of each other one its own size is wasted. */
struct waste_same {
	enum waste_role role;
	enum waste_kind kind;
	bool (*read)(struct equal_walk *w, uint32_t id, struct equal_content *out);
	int (*found)(struct waste_stretch *s, struct equal_print *same, size_t n, struct err *err);
};
MUST_CHECK int waste_find_same(struct waste_work *w, const struct waste_same *what, struct err *err);

/* Is it an array that is looked at on its own: not a String's, not a part of a collection? */
bool waste_array_is_own(const struct waste_work *w, uint32_t id);

/* --- holders (place.c) --------------------------------------------------------------------- */

struct waste_place {
	uint32_t declared_in, holder;
	const char *field;
	unsigned deep;
};
/* The field that holds an object, through arrays and what collections are made of: that of this holder, or where it is
 * HEAP_NONE of the first that counts.  False: there is none; then all is HEAP_NONE and NULL. */
bool waste_place(const struct waste_work *w, uint32_t id, uint32_t holder, struct waste_place *out);
/* Does a holder count if there are others? */
bool waste_may_place(const struct waste_work *w, uint32_t id, uint32_t holder);
#define WASTE_HOLDERS_MOST 1024 /* that are looked at of one object */

#endif
