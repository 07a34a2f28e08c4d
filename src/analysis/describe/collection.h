/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * collection.h - what lists, sets, maps and queues contain, as their user sees it.
 *
 * A table (layouts.h) says for each class how its elements are stored: in an array, a ring, a chain of
 * nodes, a hash table, a tree, or in another collection that it wraps.  A subclass is read as the
 * nearest superclass in the table.  Nodes are walked without recursion; a node met
 * twice (damage, or a change while the dump was written) ends its chain and sets `broken`.
 *
 * Any thread, each with its own struct collection.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_COLLECTION_H
#define CAIRN_ANALYSIS_DESCRIBE_COLLECTION_H

#include "analysis/describe/describe.h"
#include "analysis/describe/layouts.h"

struct collection_entry {
	uint64_t index;      /* counted from 0 */
	bool has_key;
	struct value key, value; /* of a set: value */
	uint64_t many;           /* elements that it counts as: more than one in a bag, a table, a multimap */
};

enum { COLLECTION_FEW = 64 /* a power of two */, COLLECTION_FREE = 4, COLLECTION_LEVELS = 16 };

struct collection {
	const struct heap *heap;
	const struct collection_kind *kind;
	enum collection_view view;
	struct values store; /* the object with the fields that kind names, behind all wrappers */
	const struct collection_kind *counts; /* the outermost wrapper that counts otherwise than what it wraps; NULL */
	struct values counter;                /* its object */
	bool expand;         /* list the elements of collections that are values of a multimap */
	bool as_is;          /* neither list nor count what is in values */
	bool summed;         /* entries were met that count as several elements */
	bool uncounted;      /* an entry did not say as how many */
	struct collection *inside; /* the value that is listed now; NULL: none was yet */
	struct collection *joined; /* JOINED: that which is listed now; NULL: none was yet */
	bool in_joined, is_joined; /* is_joined: it is one of those itself, and its parts are no further such */
	struct value inside_key;
	bool in_value;
	bool broken;         /* links run in a circle, or lead to something that is not a node */
	bool no_memory;      /* then the walk ended early, and is broken too */
	/* the walk's own */
	struct values array, keys, values; /* keys: also the array that tells which places are taken, or of bits */
	uint32_t free[COLLECTION_FREE];    /* objects that stand for no entry */
	unsigned n_free;
	uint32_t chained;                  /* the key, or index of the class, that stands for several */
	uint64_t skipped;                  /* extra entries: how many were looked at */
	struct values chain;               /* several entries in one place */
	uint64_t chain_at, chain_end;
	struct level {
		uint32_t node;
		uint64_t at, end, nodes; /* TRIE: entries before end, nodes from there to nodes */
	} *level;                          /* TRIE, NESTED: the arrays that are open */
	uint64_t at, end, n, first;
	uint64_t given, listed; /* entries that were read; those of a multimap are listed one by one */
	uint32_t node, stop;
	uint32_t *stack;
	unsigned depth;
	uint64_t word; /* BITS: those that are left of a long, which begins at first */
	uint64_t segment;
	struct values segments;
	const char *names, *key_names;
	struct nodes_seen {
		uint32_t few[COLLECTION_FEW], *slot; /* id + 1, or 0; NULL: in few */
		uint32_t n_slots, n;
	} seen;
	collection_part *part;
	void *context;
};

/* Is this, or one of its superclasses, in the table? */
bool collection_class(const struct heap *h, uint32_t class);
/* Is a class of this name, n bytes, in the table itself?  Not one of COLLECTION_NAME_MOST or more. */
enum { COLLECTION_NAME_MOST = 128 };
bool collection_known(const char *class, size_t n);
/* The line of the table that objects of a class are read by, which has the fields that the class has; NULL: none. */
const struct collection_kind *collection_kind_of(const struct heap *h, uint32_t class);

/* The size that is stated or follows from the layout.  False: it is not a collection that is known. */
bool collection_size(const struct heap *h, uint32_t id, struct collection_size *out);
/* The same, and where nothing states a size, entries are counted: at most *left of them, which becomes less.  A size
 * that cannot be is not known. */
bool collection_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out);

/* Begin to walk.  0: end with collection_close.  ERR_NOT_FOUND: it is not a known collection, and *err
 * says so; ERR_UNSUPPORTED: the dump holds no values.  Takes about 8 bytes for each node that was
 * followed. */
MUST_CHECK int collection_open(struct collection *c, const struct heap *h, uint32_t id,
    struct err *err);
/* The next entry.  False: there are no more. */
bool collection_next(struct collection *c, struct collection_entry *out);
void collection_close(struct collection *c);

/* --- for the files that walk -------------------------------------------------------------------- */

/* Find the collection behind wrappers; c->part is called for what is wrapped.  False: there is none. */
bool collection_find(struct collection *c, const struct heap *h, uint32_t id);

/* The next entry of each kind of shape: collection_arrays.c, collection_nodes.c, collection_levels.c. */
bool collection_next_in_arrays(struct collection *c, struct collection_entry *e);
bool collection_next_in_nodes(struct collection *c, struct collection_entry *e);
bool collection_next_in_levels(struct collection *c, struct collection_entry *e);
bool collection_next_extra(struct collection *c, struct collection_entry *e); /* keys that stand in no array */
void collection_begin_levels(struct collection *c);
bool collection_next_in_radix(struct collection *c, struct collection_entry *e);
void collection_begin_radix(struct collection *c);

/* Fields of a tree's node. */
#define COLLECTION_SCALA_TREE "scala$collection$immutable$RedBlackTree$Tree$$"
#define COLLECTION_LEFT "left|_left|leftNode[0]|" COLLECTION_SCALA_TREE "_left"
#define COLLECTION_RIGHT "right|_right|rightNode[0]|" COLLECTION_SCALA_TREE "_right"
enum { TREE_DEEPEST = 128 }; /* a red-black tree of 2^32 nodes is at most 64 deep */
/* Open a node, and tell of it.  False: it was met before (broken), or cannot be read. */
bool collection_enter(struct collection *c, uint32_t node, struct values *out);
/* The object that counts: in its field value, base or size.  False: it has none of these. */
bool collection_number_in(const struct values *counter, int64_t *out);
/* The numbers of fields in "a+b-c", added up.  *negative: one of them is.  False: one is not there. */
bool collection_sum(const struct values *of, const char *names, uint64_t *sum, bool *negative);
/* Set what an entry of a collection that counts otherwise counts as.  False: its value's elements are listed now. */
bool collection_count_entry(struct collection *c, struct collection_entry *e);
/* The next element of the value that is listed.  False: there are no more. */
bool collection_next_inside(struct collection *c, struct collection_entry *e);
/* Is it one of the objects that stand for no entry? */
bool collection_marked(const struct collection *c, const struct value *v);
/* Was the node entered before? */
bool collection_met(const struct collection *c, uint32_t node);
/* Tell whoever asked of an object that the collection is made of. */
void collection_tell(const struct collection *c, uint32_t id);
/* The object in a field, or the object itself ("this"); HEAP_NONE: there is none. */
uint32_t collection_node_in(const struct values *v, const char *names);
/* The number in a field of the store, or a number in place of its name, at most `most`; otherwise if it has none. */
uint64_t collection_bound(const struct collection *c, const char *field, uint64_t most, uint64_t otherwise);

#endif
