/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layouts.h - the table of collections: for each class how its elements are stored.
 *
 * A layout is a line of words, the same in layouts.txt and in the user's file; doc/layouts.md explains them:
 *
 *     java.util.HashMap buckets map store=table next=next key=key value=value size=size
 *
 * A * in a class stands for any characters.  A class may have several lines, where releases differ: the first whose
 * fields it has counts.  What is not in the table is read as its nearest superclass that is.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_LAYOUTS_H
#define CAIRN_ANALYSIS_DESCRIBE_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>

/* How a collection stores its elements. */
enum collection_shape {
	SHAPE_ARRAY,   /* the first `size` elements of an array, from `next` on, or all of them */
	SHAPE_SPARSE,  /* an array's elements that are not null */
	SHAPE_RING,    /* an array from `next` on, around its end */
	SHAPE_PAIRS,   /* key, value, key, value in an array; a null key is a free place */
	SHAPE_COLUMNS, /* an array of keys, and beside it perhaps one of values */
	SHAPE_BUCKETS, /* an array of chains of nodes */
	SHAPE_CHAIN,   /* nodes */
	SHAPE_QUEUE,   /* nodes; those without an element or key do not count */
	SHAPE_TREE,    /* nodes with left and right */
	SHAPE_TRIE,    /* nodes with an array of entries, behind them nodes */
	SHAPE_RADIX,   /* an array whose places are arrays of 32 places, and so on, by the bits of an index */
	SHAPE_NESTED,  /* arrays of arrays of … elements, in several fields */
	SHAPE_FIELDS,  /* in fields of its own: "e0|e1" */
	SHAPE_ENUM,    /* values in an array beside one of the keys */
	SHAPE_BITS,    /* bits that choose from an array, or are the elements themselves */
	SHAPE_WRAPPER, /* another collection, which is a part of it */
	SHAPE_VIEW,    /* another collection, which it only shows */
	SHAPE_JOINED,  /* several other collections, one after another */
	SHAPE_EMPTY,
	SHAPES
};

/* What of a map's entries counts. */
enum collection_view { VIEW_ELEMENTS, VIEW_KEYS, VIEW_VALUES, VIEW_MAP };

struct collection_kind {
	const char *class;
	enum collection_shape shape;
	enum collection_view view;
	/* names of fields, several between '|'; NULL: not given */
	const char *store;      /* holds the array, the first node, or the other collection; "this": the collection is
	                           itself the first node */
	const char *next;       /* of a node: the next one; of an array: the index of the first element; BITS: longs, or
	                           arrays of them, one after another */
	const char *key, *value; /* of a node; COLUMNS: value is the array of values */
	const char *size;       /* the number of elements, a sum "a+b-c" of such, or an object with that in its field
	                           `value`, `base` or `size` */
	const char *table;      /* the array whose length is the capacity, if that is not store */
	const char *deep;       /* RADIX: the number of levels; else next has the bits of an index below the first one */
	const char *focus;      /* RADIX: an index, for which the fields of `store` are newer than what is above them */
	const char *first;      /* RADIX: the index of the first element; NESTED: the number of those before it, a sum */
	const char *tail;       /* RING: the index behind the last element */
	const char *end;        /* COLUMNS: how many places from the first on are in use */
	const char *taken;      /* COLUMNS: an array that says of each place whether it is: 1, true, or not null */
	const char *index;      /* the same: not negative */
	const char *hash;       /* the same: above 0 */
	const char *control;    /* the same, in bytes of longs: below 128 */
	const char *last;       /* COLUMNS: a flag: the last place is taken, and by nothing else */
	const char *free;       /* static fields "class.field" ("this.field": of its own class): objects that stand for no
	                           entry */
	const char *chained;    /* PAIRS: static fields: a key that says that the value is an array of pairs; SPARSE: the
	                           class of elements that hold several, in fields zero to three */
	const char *parts;      /* BUCKETS: an array of objects each of which has a `store`, and a `size` of its own */
	const char *leaf;       /* TRIE: what has no array is an entry, with its key in the first of these fields, and its
	                           value in the second */
	const char *extra;      /* the keys 0 and 1 are free places: here is an object with their entries, or a number with
	                           a bit for each element from 0 to 31 */
	const char *counts;     /* "value": an entry counts as many elements as its value says, a number or a collection */
	const char *null;       /* "key": null is a key like others, and does not say that a place is free; NESTED:
	                           "free": null and 0 are none; TRIE: "node":
	                           keys and values alternate, and a node is beside a null key; leaf: the flag and the
	                           value of an entry with the key null */
	const char *unless;     /* flags: where one is set the object shows only a part of this, and is not known */
	struct collection_kind *same; /* the next line of this class */
	char *words;            /* what the names point into */
};

/* The first line of a class, by its name; NULL: there is none.  Any thread. */
const struct collection_kind *layout_named(const char *class);

/* The lines of layouts.txt, which the build turns into an array; NULL behind the last. */
extern const char *const layouts_txt[];

#endif
