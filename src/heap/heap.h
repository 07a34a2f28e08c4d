/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap.h - one dump in memory: objects, classes, references both ways, roots.
 *
 * An object's id is its rank in address order, 0 … n_objects-1; nothing here is a pointer to an
 * object.  heap_open (build/builder.c) builds it.  A complete heap is immutable: any thread may read it.
 * heap_open may leave references and roots for later (heap_waits); heap_read_rest adds them once, and no
 * other thread may read the heap meanwhile.
 *
 * doc/how-it-works/05-heap.md has the formula for its memory.
 */
#ifndef CAIRN_HEAP_HEAP_H
#define CAIRN_HEAP_HEAP_H

#include "algorithms/bits.h"
#include "base/amount.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/files.h"
#include "base/progress.h"
#include "dump/process.h"
#include "dump/reader.h"
#include "memory/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_NONE UINT32_MAX /* no object, no class, no thread */

/* Marks in heap.own_size and own_length.  WIDE: the number does not fit there and stands in
 * heap.wide.  UNKNOWN: nobody knows it. */
#define OWN_WIDE UINT32_MAX
#define OWN_UNKNOWN (UINT32_MAX - 1)

enum class_kind { CLASS_PLAIN, CLASS_OBJECT_ARRAY, CLASS_PRIMITIVE_ARRAY, CLASS_PRIMITIVE };

/* A field that a class declares; for a static one its value (an address for VALUE_OBJECT). */
struct heap_field {
	const char *name; /* UTF-8, escaped */
	enum value_type type;
	uint64_t value;   /* statics only */
};

struct heap_class {
	const char *name;       /* as Java source writes it, UTF-8, escaped: "java.util.Map$Entry", "char[]" */
	uint32_t name_rank;     /* orders classes by name; equal for equal names: see heap_class_order */
	uint64_t address;       /* of the class object; 0 when the dump has none */
	uint32_t object;        /* id of the class object, or HEAP_NONE */
	uint32_t superclass;    /* class index or HEAP_NONE */
	uint32_t loader;        /* id of the loader object, or HEAP_NONE: unknown or none */
	bool loader_lost;       /* HEAP_NONE, but that is not the boot loader: the dump has no record of the
	                           class, or the loader that it states is not an object of it */
	uint32_t component;     /* class index of an array's component, or HEAP_NONE */
	/* The VM keeps the class of an array with that of its elements (heap_keep_arrays); class indices + 1, 0 none: */
	uint32_t kept_with;     /* of an array class: the class it is kept with */
	uint32_t keeps;         /* the first array class that is kept with this one */
	uint32_t next_kept;     /* of an array class: the next that is kept with the same */
	enum class_kind kind;
	bool defined;           /* the dump has a record of it; false: made up from a mention */
	bool makes_loaders;     /* its instances are class loaders */
	bool name_shared;       /* several classes have this name, and object records give no more than the
	                           name: the first of these classes has all the objects */
	bool objects_inferred;  /* which objects are of this class is not recorded: see build/fillers.c */
	unsigned element_size;  /* bytes of an element of a primitive array; 0 otherwise */
	unsigned stride;        /* bytes of an element where lengths follow from sizes; else 0 */
	unsigned array_base;    /* where sizes follow from lengths: first byte of the elements; else 0 */
	bool size_measured;     /* instance_size is not what the rules give, but how far the next objects lie */
	bool size_doubtful;     /* instances may be larger: there is room behind each, which proves nothing */
	bool sizes_vary;        /* some plain instances do not have instance_size: see heap->odd */
	uint64_t instance_size; /* bytes of a plain instance, rounded; SIZE_UNKNOWN if unknown */
	const struct heap_field *fields; /* declared by this very class, in the dump's order */
	const struct heap_field *statics;
	uint32_t n_fields, n_statics;    /* 0 where the format tells none */
	uint32_t type;          /* index in dump->types, or HEAP_NONE */
	uint32_t n_objects;     /* instances of exactly this class */
	uint32_t n_unknown;     /* instances of unknown size; they count 0 bytes */
	uint64_t shallow;       /* bytes of all instances */
};

/* The class of arrays that Android's dumper writes for the room of static fields and tables in a class object
 * (build/classes.c): the program has no such arrays. */
#define CLASS_OVERHEAD "<class overhead>"

/* The arrays with which a collector fills gaps: cairn gives them a class of their own, which the VM did not load
 * (build/fillers.c). */
static inline bool heap_class_is_filler(const struct heap_class *c)
{
	return c->objects_inferred && !c->defined;
}

/* Made by no loader that is an object, as far as the dump tells. */
static inline bool heap_class_has_no_loader(const struct heap_class *c)
{
	return c->loader == HEAP_NONE && !c->loader_lost;
}

/* References of every object one after another: those of id i are target[start(i)] … [start(i+1)-1]. */
struct adjacency {
	uint32_t *target;
	uint64_t n;       /* targets */
	uint32_t *offset; /* n_objects + 1, relative to base[i >> 16] */
	uint64_t *base;
};

static inline uint64_t adjacency_start(const struct adjacency *a, uint32_t i)
{
	return a->base[i >> 16] + a->offset[i];
}
/* How many there are: none where the index that they stand in was cut just behind. */
static inline uint64_t adjacency_degree(const struct adjacency *a, uint32_t i)
{
	uint64_t start = adjacency_start(a, i), end = adjacency_start(a, i + 1);
	return end > start ? end - start : 0;
}

/* Order of two classes by name, those of one name by index.  It does not look at the names, which may be
 * long and shared by any number of classes. */
static inline int heap_class_order(const struct heap_class *classes, uint32_t a, uint32_t b)
{
	uint32_t x = classes[a].name_rank, y = classes[b].name_rank;
	return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

const char *typed_by_name(enum typed_by by); /* "interface", "pointer", … */
const char *root_kind_name(enum root_kind kind); /* "System class", "Java local", … */

struct heap_root {
	uint32_t object;
	uint32_t thread; /* index in threads, or HEAP_NONE */
	uint32_t frame;  /* index in that thread's frames, or HEAP_NONE */
	enum root_kind kind : 8;
	enum certainty certainty : 8;
	bool vms_own;    /* a handle of the VM itself, which no code of the program can let go of */
	uint32_t offset; /* from the object's value to where the pointer points, at most UINT32_MAX; of a Java local
	                    its number among those that its frame holds, the last one's if several hold the
	                    object: 1 is the first, 0 unknown */
	uint64_t slot;   /* address of the word that holds the pointer, 0 unknown or of no interest; of
	                    ROOT_VM_INTERNAL see heap_root_words */
};

#define THREAD_UNNAMED "<unnamed>" /* its name, once the heap is built, where the dump tells none */
/* How the frames of a thread are known: the dump records them; not at all, though it may have some; by the order of
 * threads and stacks. */
enum stack_known { STACK_RECORDED, STACK_UNKNOWN, STACK_BY_ORDER };
struct heap_thread {
	const char *name;     /* escaped; NULL: the dump does not tell */
	const char *state;    /* or NULL */
	const char *waits_for; /* "chan receive", or NULL */
	const char *creator;  /* escaped; what started it, or NULL */
	uint64_t waits_since; /* nanoseconds of the machine's own clock, 0 unknown */
	bool system;          /* the runtime's own */
	uint32_t object;      /* id of the thread object, or HEAP_NONE */
	uint64_t address;     /* of that object as the companion says; 0 unknown */
	uint64_t native_id;   /* 0 unknown */
	int priority;         /* -1 unknown */
	bool daemon;
	bool ran_out;         /* for its OutOfMemoryError the VM wrote the dump, as the companion says */
	uint64_t own_id;      /* Thread.getId(), a goroutine's number; 0 unknown */
	const char **frames;  /* escaped, innermost first; threads of one trace share them */
	uint32_t n_frames;
	enum stack_known stack;
	uint32_t n_roots;     /* roots it holds */
};

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

struct address_index; /* address <-> id (heap/index.h) */
struct weak_references; /* heap/weak.h */
struct places;        /* id -> record in the dump (heap/places.h) */
struct heap_sites;    /* heap/sites.h */
struct build;         /* heap/build/build.h */
struct saved;         /* heap/index_file/index_file.h */
struct string_layout; /* where Strings keep their text (heap/string.h) */

struct heap_watcher;

/* About how much a dump will take, estimated before it is read.  Bytes are those that memory/big.h counts, at
 * their peak. */
struct heap_need {
	uint64_t objects, references;
	uint64_t objects_bytes; /* for objects, classes and sizes */
	uint64_t bytes;         /* for references and roots as well */
};
#define HEAP_NEED_FROM ((uint64_t)10 << 20) /* smaller dumps take what there is */

struct heap_options {
	struct dump_options dump;
	const char *path;
	const struct heap_watcher *watcher;
	bool mat_sizes; /* shallow sizes by Eclipse MAT's rules, not the VM's */
	const char *index; /* the file of its index; NULL: where it usually lies (heap/index_file/index_file.h) */
	bool no_index;  /* read the dump, whatever indexes there are */
	bool index_later; /* the same of references that stand in an index */
	/* Or NULL.  Called on the loading thread, once the dump is open and before it is read, if it is large enough. */
	void (*needs)(void *context, const struct heap_need *need);
	void *needs_context;
	bool references_later; /* leave references and roots to heap_read_rest where nothing that is known before
	                          depends on them; the options must last until then */
};

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
	uint32_t *class_of;        /* class index of every object */
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
	struct adjacency out, in;  /* recorded references; in: sorted by id of the referrer */

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

/* Do references wait to be read? */
static inline bool heap_waits(const struct heap *h)
{
	return h->rest || h->references_wait;
}

/* Have two of these classes (a bit for each) one name, as those of several loaders may?  Without memory: no. */
bool heap_names_repeat(const struct heap *h, const struct bits *classes);
/* Fill name_rank of all classes.  Whoever makes or changes a heap's classes calls it (name_order.c). */
MUST_CHECK int heap_order_names(struct heap *h, struct err *err);

/*
 * A heap, and which of its references keep objects alive.  Whatever depends on that (reachability,
 * dominators, retained sizes, cuts) is asked of a model.
 */
struct model {
	const struct heap *heap;
	const struct weak_references *left_out; /* these do not hold: heap->weak in the VM's model; NULL: all references
	                                           hold, as in Eclipse MAT's */
};

/* Is it the one with which the heap is opened: the VM's, or with MAT's sizes MAT's? */
static inline bool model_is_default(const struct model *m)
{
	return m->left_out == (m->heap->asked.mat_sizes ? NULL : m->heap->weak);
}

/*
 * A watcher uses a heap while the loading thread reads the rest of it.  Both functions run on the loading thread;
 * either may be NULL.
 *
 * objects_ready: the watcher gets a copy of the heap.  It has objects, classes and sizes, and values if
 * heap->settled; references, roots and threads are empty.  The loading thread writes neither the copy nor what the
 * copy points to, so any thread may read it without a lock.  It becomes whole in heap_publish.
 * objects_gone: the copy is no longer valid, because heap_open fails (cancelled, no memory) or
 * because types were found and classes change.  It must return only when no thread reads the copy;
 * where classes change, objects_ready follows again.
 */
struct heap_watcher {
	void (*objects_ready)(void *context, const struct heap *heap);
	void (*objects_gone)(void *context);
	void *context;
};

/*
 * Map, read and index a dump; progress may be NULL.  0 also for a damaged dump of which at least the
 * header could be read (heap->damaged is then set), and when memory sufficed for the objects but not
 * for their references (heap->no_references); otherwise a negative code with *err filled.
 */
MUST_CHECK int heap_open(struct heap **out, const struct heap_options *options,
    struct progress *progress, struct err *err);
/* Read the references and roots that heap_open left for later (heap->rest); nobody may look at the heap meanwhile.  0,
 * also where memory did not suffice (heap->no_references), or a negative code with *err filled: then there are none,
 * either. */
MUST_CHECK int heap_read_rest(struct heap *heap, struct progress *progress, struct err *err);
/* Make the copy that a watcher got whole: no other thread may read it meanwhile.  Returns the copy, which is
 * the caller's in place of `loaded`; without a copy `loaded` itself. */
struct heap *heap_publish(struct heap *loaded);
void heap_close(struct heap *heap); /* NULL is fine */

/* Bits of a machine word of the VM; facts.word_bits are those of an identifier in the dump. */
unsigned heap_word_bits(const struct heap *h);

uint64_t heap_address(const struct heap *h, uint32_t id);
/* The object at exactly this address, or HEAP_NONE. */
uint32_t heap_find(const struct heap *h, uint64_t address);
/* The last object at or below this address, or HEAP_NONE. */
uint32_t heap_find_below(const struct heap *h, uint64_t address);
/* The object that covers this address, or HEAP_NONE; *start gets its first byte. */
uint32_t heap_covering(const struct heap *h, uint64_t address, uint64_t *start);
/* What a pointer of the dump leads to: the object there, or that covers it where the format has
 * pointers into objects; HEAP_NONE. */
uint32_t heap_target(const struct heap *h, uint64_t address);

/* Shallow size in bytes; 0 if unknown (heap_size_known false). */
uint64_t heap_shallow(const struct heap *h, uint32_t id);
/* Those of n objects from first on, into bytes[0] … bytes[n - 1]; SIZE_UNKNOWN if unknown. */
void heap_sizes(const struct heap *h, uint32_t first, uint32_t n, uint64_t *bytes);
bool heap_size_known(const struct heap *h, uint32_t id);
/* Elements of an array, or LENGTH_UNKNOWN. */
uint64_t heap_length(const struct heap *h, uint32_t id);

static inline const struct heap_class *heap_class_of(const struct heap *h, uint32_t id)
{
	cairn_assert(id < h->n_objects && h->class_of[id] < h->n_classes);
	return &h->classes[h->class_of[id]];
}

/* What people see for a class loader: the name of its class, "<boot>" of HEAP_NONE where that is the boot loader,
 * "<unknown>" where it is not in the dump (lost, as heap_class.loader_lost); NULL: the dump does not say. */
static inline const char *heap_loader_class_name(const struct heap *h, uint32_t loader, bool lost)
{
	if (loader != HEAP_NONE)
		return heap_class_of(h, loader)->name;
	return lost ? "<unknown>" : h->facts.boot_loader_is_null ? "<boot>" : NULL;
}

/* The name of the heap that Android has an object in, escaped; NULL: the dump tells none. */
static inline const char *heap_space(const struct heap *h, uint32_t id)
{
	return h->n_spaces ? h->spaces[h->space_of[id]] : NULL;
}

/* The size of an array in bytes by the heap's rule; SIZE_UNKNOWN without a rule or a length. */
static inline uint64_t heap_array_size(const struct heap *h, const struct heap_class *c, uint64_t length)
{
	const struct array_rule *r = &h->array_rule;
	uint64_t width = c->kind == CLASS_PRIMITIVE_ARRAY ? c->element_size : r->reference;
	if (!c->array_base || length > (UINT64_MAX >> 1) / 8)
		return SIZE_UNKNOWN;
	if (!length && r->empty)
		return r->empty;
	uint64_t size = (c->array_base + length * width + r->alignment - 1) & -(uint64_t)r->alignment;
	return size < r->minimum ? r->minimum : size;
}

/* The class that this object is the class object of, or HEAP_NONE for ordinary objects. */
uint32_t heap_class_mirrored(const struct heap *h, uint32_t id);

/* The thread that this object stands for; HEAP_NONE: it is not a thread object. */
uint32_t heap_thread_of(const struct heap *h, uint32_t id);

/* The name of what lies at an address outside of the heap, "main.cache" or "bss+0x1a40", escaped and
 * appended.  False: the dump does not tell. */
bool heap_symbol(const struct heap *h, uint64_t address, struct text *to);

/* What the dump says of a root, escaped and appended: "finalizer queue".  False: nothing. */
bool heap_root_words(const struct heap *h, const struct heap_root *root, struct text *to);

/* Decode the next of what the dump notes of objects or threads; false behind the last, and where the format
 * has none (heap_has_notes). */
bool heap_next_noted(const struct heap *h, enum noted_kind kind, struct noted_walk *walk, struct noted *out);
bool heap_has_notes(const struct heap *h);
/* Append the name of a function that the runtime noted, escaped: "main.main.func1", or where its code is. */
void heap_noted_function(const struct heap *h, const struct noted *noted, struct text *to);

bool heap_is_root(const struct heap *h, uint32_t id);
/* Roots of this object: index of the first in h->roots and their number. */
size_t heap_roots_of(const struct heap *h, uint32_t id, size_t *first);

/* Can the program be changed so that it lets go of what this root holds?  Not of what the VM holds. */
bool heap_root_clearable(const struct heap_root *root);

/* What follows "byte N" of the dump: " of what it unpacks to", or nothing. */
const char *heap_bytes_are(const struct heap *h);

/* ERR_UNSUPPORTED, with the sentence for a dump whose format holds no values. */
MUST_CHECK int heap_holds_no_values(const struct heap *h, struct err *err);
/* Find the bytes of an object's values in the dump.  Returns 0; that ERR_UNSUPPORTED where the
 * format holds none; ERR_NOT_FOUND for a class object (its static fields are in its heap_class);
 * ERR_IO if the file has changed; or the reader's error. */
/* Bytes of an object before its value (facts.headers). */
uint64_t heap_head(const struct heap *h, uint32_t id);
/* The object that begins at this address, or whose value does: programs know only the value's. */
uint32_t heap_find_value(const struct heap *h, uint64_t address);
MUST_CHECK int heap_view(const struct heap *h, uint32_t id, struct object_view *out,
    struct err *err);
/* The same for a caller that asks for many objects.  In the dump's order each costs the reader one
 * record instead of up to 16.  A walk begins zeroed and belongs to one thread. */
struct view_walk {
	uint64_t run;    /* of places */
	uint64_t next;   /* offset of a record, 0 none */
	uint32_t number; /* of that record */
	uint32_t near;   /* of the view */
};
MUST_CHECK int heap_view_along(const struct heap *h, uint32_t id, struct view_walk *walk,
    struct object_view *out, struct err *err);

/*
 * References that the dump implies: as Eclipse MAT's model has them an object to its class, a class object to its
 * superclass and its loader; beyond MAT's a class object to the class objects of arrays of it.  At most
 * HEAP_IMPLIED; field names "<class>", "<super>", "<loader>", "<array>".
 */
enum { HEAP_ARRAYS_KEPT = 12, HEAP_IMPLIED = 3 + HEAP_ARRAYS_KEPT };
struct implied_reference {
	uint32_t target;
	const char *field;
};
unsigned heap_implied(const struct heap *h, uint32_t id, struct implied_reference out[HEAP_IMPLIED]);
/* The class object that keeps this class's object because it is of an array of that class; HEAP_NONE: none does. */
uint32_t heap_array_keeper(const struct heap *h, uint32_t class);
/* Find which array classes are kept with which class (facts.array_classes_kept): HotSpot's loader data holds them,
 * no reference of a dump does.  Not where shallow sizes are MAT's.  Arrays of primitives, which never go, are kept
 * with java.lang.Object.  Call it once classes and their components are known. */
void heap_keep_arrays(struct heap *h);

/* Does this class's loader keep it, though no reference says so (facts.loaders_hold_classes)? */
bool heap_loader_holds(const struct heap *h, uint32_t class);
/* The number of classes that this object is said to have loaded; *classes gets their indices,
 * ascending. */
uint32_t heap_classes_of(const struct heap *h, uint32_t loader, const uint32_t **classes);
/* The number of classes that a loader keeps in this way; *classes gets their indices.  0 for an
 * object that is not a loader. */
uint32_t heap_loaded_classes(const struct heap *h, uint32_t id, const uint32_t **classes);

/*
 * Everything that can be reached from a start over recorded and implied references, but those that
 * the model leaves out.  seen: one bit an object (n_objects bits); stack: room for n_objects ids.
 * Adds to seen, and returns the number of objects newly seen.  A start that is seen already is
 * skipped.
 */
uint32_t heap_reach(const struct model *m, uint32_t start, uint64_t *seen, uint32_t *stack);

/*
 * The same, but without some objects and references.  Gives up early when progress is cancelled, which
 * may be NULL; every other member must be set.
 */
struct reach_filter {
	const struct bits *barred; /* objects never to be entered */
	const struct bits *asked;  /* objects whose references follows() decides on, one by one */
	bool (*follows)(const void *context, uint32_t holder, uint32_t target);
	const void *context;
	struct bits *met;          /* gets what was kept out though something reached leads there */
	struct progress *progress;
};
uint32_t heap_reach_without(const struct model *m, uint32_t start, uint64_t *seen, uint32_t *stack,
    const struct reach_filter *filter);

#endif
