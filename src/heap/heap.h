/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap.h - one dump in memory: its arrays, and what is known of the whole.
 *
 * What is done with them is in a header for each aspect.  ids.h (objects by id and address) and open.h (opening a
 * dump) come with this one, and this one with classes.h; references.h, roots.h, threads.h and noted.h do not.  A
 * complete heap is immutable: any thread may read it.
 *
 * doc/how-it-works/05-heap.md has the formula for its memory.
 */
#ifndef CAIRN_HEAP_HEAP_H
#define CAIRN_HEAP_HEAP_H

#include "algorithms/bits.h"
#include "base/err.h"
#include "base/files.h"
#include "dump/facts.h"
#include "heap/adjacency.h"
#include "heap/ids.h"
#include "heap/open.h"
#include "memory/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks in heap.own_size and own_length.  WIDE: the number does not fit there and stands in
 * heap.wide.  UNKNOWN: nobody knows it. */
#define OWN_WIDE UINT32_MAX
#define OWN_UNKNOWN (UINT32_MAX - 1)

/* Class indices below CLASSES_LOW need no class_high: two bytes an object do. */
#ifndef CLASS_LOW_BITS /* fewer, up to 16, in a build that tests the rest with few classes */
#define CLASS_LOW_BITS 16
#endif
#define CLASSES_LOW (1u << CLASS_LOW_BITS)

#define SPACE_DEFAULT "default"
#define SPACES_MOST 250 /* names of a dump that has more: the others count as one */

struct heap_warning {
	uint64_t offset;
	bool has_offset;
	const char *text;
};
#define HEAP_WARNINGS_KEPT 20

/* A count that the dump states of itself. */
struct heap_stated {
	const char *what;
	enum stated_unit unit;
	uint64_t count;
};

/* A part of the dump, and the addresses of the objects that it holds, where readers look for one again. */
struct heap_part {
	struct part part;
	uint64_t low, high; /* high < low: it holds none */
};

struct dump;          /* dump/reader.h */
struct source;        /* dump/source/source.h */
struct process_facts; /* dump/process.h */
struct heap_class;    /* heap/classes.h */
struct heap_root;     /* heap/roots.h */
struct heap_thread;   /* heap/threads.h */
struct address_index; /* address <-> id (heap/index.h) */
struct weak_references; /* heap/weak.h */
struct places;        /* id -> record in the dump (heap/places.h) */
struct heap_sites;    /* heap/sites.h */
struct build;         /* heap/build/build.h */
struct saved;         /* heap/index_file/index_file.h */
struct string_layout; /* where Strings keep their text (heap/string.h) */

struct heap {
	struct source *source;   /* owned */
	struct dump *dump;       /* owned: the opened reader, for facts */
	struct dump_facts facts;
	const char *companion;   /* path of the javacore used, or NULL */
	const char *companion_refused; /* why the one beside the dump could not be read, a sentence; or NULL */
	file_hold companion_hold;
	struct process_facts *process; /* what the companion tells of the process, or NULL */
	bool sizes_assumed;      /* size_model is the usual one; nothing in the dump confirms it */
	bool wide_words;         /* the VM says that it has 64-bit words; facts.word_bits is 32 */
	unsigned size_doubts;    /* why sizes are unsure of objects that the heap has: enum size_doubt of amounts.h */
	uint32_t n_measured;     /* classes with size_measured */
	const char *measured_names; /* some of them, escaped, with commas; NULL: none */
	const char *doubtful_names; /* classes that may be larger than size_model says: there is room behind each
	                            instance; NULL: none */
	const char *size_model;  /* how sizes were computed, or NULL: the dump holds them */

	uint32_t n_objects;      /* every record, class objects included */
	uint32_t n_instances, n_object_arrays, n_primitive_arrays; /* together: n_objects less class objects */
	uint32_t n_class_objects;
	uint64_t shallow;        /* sum over all objects, bytes */
	uint64_t n_references;   /* non-null ones the dump records, dangling included */
	uint64_t n_dangling;     /* of these, those that lead to no object of the dump; not in out and in */
	uint32_t n_unknown_size; /* objects of unknown size; they count 0 bytes */

	struct heap_class *classes;
	uint32_t n_classes;
	bool names_shared;         /* some class has name_shared set */
	bool fillers_told;         /* some class has objects_inferred set */
	bool fillers_mixed;        /* of int[], because some may be fillers that look the same */
	uint32_t n_defined_classes; /* classes with a record of their own; they come first, by address */
	uint32_t *classes_by_loader; /* defined classes, sorted by loader */
	uint32_t java_lang_class;  /* class index of java.lang.Class (made up when the dump has none) */
	uint16_t *class_low;       /* class index of every object, its low CLASS_LOW_BITS */
	uint16_t *class_high;      /* the bits above them; NULL: they are 0 of every object */
	uint8_t *typed_by;         /* enum typed_by of every object; NULL: classes are as recorded */
	struct typed_sum {
		uint64_t objects, shallow;
	} typed[TYPED_BYS];        /* by enum typed_by: the objects that came to their types so */
	/* The heaps that Android keeps apart (image, zygote, app).  They are called spaces here, since heap means all of
	 * them. */
	const char **spaces;       /* names, escaped; the first is of objects without one: SPACE_DEFAULT */
	unsigned n_spaces;         /* 0: the dump tells none */
	uint8_t *space_of;         /* the space of every object; NULL: n_spaces is 0 */
	struct address_index *index;
	struct places *places;     /* NULL where the format holds no values */
	struct heap_sites *sites;  /* where objects were allocated (heap/sites.h), or NULL */
	const struct string_layout *strings; /* NULL where there are none, or no values */
	struct adjacency out, in;  /* recorded references; in: sorted by id of the referrer, nothing as long as
	                              referrers_wait */

	struct heap_part *parts;   /* in the dump's order; where records hold hashes (heap/hashes.h), or NULL */
	unsigned n_parts;

	struct bits sized;         /* objects that carry a size (and length) of their own: arrays, … */
	uint32_t n_sized;
	uint32_t *own_size;        /* by rank in sized: bytes, OWN_WIDE or OWN_UNKNOWN; NULL: every size
	                              follows from the length */
	uint32_t *own_length;      /* by rank in sized: elements, OWN_WIDE or OWN_UNKNOWN; NULL: lengths are
	                              known only where the class has a stride */
	struct wide { uint32_t id; uint64_t size, length; } *wide; /* what does not fit, sorted by id */
	size_t n_wide, cap_wide;
	struct array_rule {        /* how sizes follow from lengths, with the class's array_base */
		unsigned reference;  /* bytes of an element that is a reference */
		unsigned alignment;  /* a power of two */
		unsigned minimum;    /* the least size */
		unsigned empty;      /* size of an array of length 0; 0: the rule holds for it, too */
	} array_rule;
	struct odd { uint32_t id; uint64_t size; } *odd; /* objects outside of sized that differ in size from
	                              what their class says: class objects, stack chunks, hashed objects; sorted by id */
	size_t n_odd;

	uint32_t boot_loader;      /* object id or HEAP_NONE */
	struct loader_parent {
		uint32_t loader, parent; /* object ids; parent HEAP_NONE: it has none */
	} *loader_parents;         /* as a companion states them */
	uint32_t n_loader_parents;
	struct heap_root *roots;   /* sorted by object, then kind */
	size_t n_roots;
	size_t n_inferred_roots;   /* how many of them the dump does not record */
	uint32_t n_stale;          /* objects that no inferred root may reach: garbage (build/stale.c) */
	uint32_t n_root_objects;   /* how many different objects are roots */
	uint32_t n_dropped_roots;  /* roots that the dump records at addresses without an object */
	uint32_t n_outside_roots;  /* the same where that is no damage (facts.outside_pointers_normal) */
	struct heap_thread *threads;
	uint32_t n_threads;
	uint32_t *threads_by_object; /* their indices, sorted by the thread's object; NULL: sorted they are not */

	struct heap_warning warnings[HEAP_WARNINGS_KEPT];
	uint64_t n_warnings;       /* all of them */
	struct heap_stated *stated;
	size_t n_stated, cap_stated;
	bool damaged;              /* damage says why: all is true up to its offset; without one any
	                              byte may be wrong, or parts in the middle are missing */
	bool doubtful;             /* damaged: a checksum is wrong, so any byte that was read may be */
	bool incomplete;           /* damaged: a part was not read */
	bool roots_missing;        /* incomplete: roots that each such dump has are in that part, so what is
	                              reachable and what an object retains is unknown */
	struct err damage;         /* if damaged: what broke, and where */

	struct heap_options asked; /* what it was opened with; the texts may be gone */
	struct saved *saved;     /* the index that it came from, owned; NULL: it was read from the dump */
	const char *index_path;  /* of that index */
	_Atomic(const char *) index_refused; /* why one was left out, or why its dump is, a sentence; or NULL.  Set while
	                                        something is found, too (index_file_left_out), and read by other threads */
	bool dump_absent;        /* there is the index alone: no values, no texts, no hashes */
	bool settled;            /* objects, classes and values stay as they are while references are read */
	bool references_wait;    /* they stand in the index, unchecked: heap_read_rest */
	bool referrers_wait;     /* memory is short, and nobody asked for them: heap_list_referrers */
	struct heap *shown;      /* the copy that a watcher has of this one, which is still being read; else NULL */
	struct weak_references *soft_and_weak; /* found with the references (heap/weak.h); NULL: the dump cannot say
	                                          which references are weak */
	struct weak_references *weak; /* those of them that do not hold in the VM; NULL as above */
	struct build *rest;      /* references were not asked for yet: what heap_read_rest needs; else NULL */
	bool no_references;      /* they did not fit into memory: out, in, roots and threads are empty */
	struct err shortage;     /* then: why */
	uint32_t *in_frames;     /* objects whose address stands in the bytes of a stack frame, whether as a
	                            pointer or not; ascending, each once.  What a compiler's map of a frame
	                            leaves out may be dead, or held through an object on the stack. */
	size_t n_in_frames;
	struct arena arena;        /* strings and small structs above */
};

/* Bits of a machine word of the VM; facts.word_bits are those of an identifier in the dump. */
unsigned heap_word_bits(const struct heap *h);

/* The index in classes of an object's class.  Everything that reads or sets it goes through these. */
static inline uint32_t heap_class_index(const struct heap *h, uint32_t id)
{
	uint32_t low = h->class_low[id];
	return __builtin_expect(h->class_high != NULL, 0) ? (uint32_t)h->class_high[id] << CLASS_LOW_BITS | low : low;
}
/* Is that the object's class?  Quicker where it mostly is not. */
static inline bool heap_has_class(const struct heap *h, uint32_t id, uint32_t class)
{
	return h->class_low[id] == (class & (CLASSES_LOW - 1)) && heap_class_index(h, id) == class;
}
static inline void heap_set_class_index(struct heap *h, uint32_t id, uint32_t class)
{
	h->class_low[id] = class & (CLASSES_LOW - 1);
	if (__builtin_expect(h->class_high != NULL, 0))
		h->class_high[id] = (uint16_t)(class >> CLASS_LOW_BITS);
}
/* Before a look at an object's class index soon. */
static inline void heap_prefetch_class_index(const struct heap *h, uint32_t id)
{
	__builtin_prefetch(&h->class_low[id]);
	if (__builtin_expect(h->class_high != NULL, 0))
		__builtin_prefetch(&h->class_high[id]);
}

/* The name of the heap that Android has an object in, escaped; NULL: the dump tells none. */
static inline const char *heap_space(const struct heap *h, uint32_t id)
{
	return h->n_spaces ? h->spaces[h->space_of[id]] : NULL;
}

/* What follows "byte N" of the dump: " of what it unpacks to", or nothing. */
const char *heap_bytes_are(const struct heap *h);

/* ERR_UNSUPPORTED, with the sentence for a dump whose format holds no values. */
MUST_CHECK int heap_holds_no_values(const struct heap *h, struct err *err);

#endif
