/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.h - how a heap is built; private to src/heap.
 *
 * heap_open (builder.c) runs these steps in order:
 *
 *   survey    read the dump once: addresses, classes, sizes, how many references      count_pass.c
 *   objects   ids from addresses; class, size and degree moved to their ids           objects.c
 *   classes   names, superclasses, loaders, which class a record meant                classes.c
 *   sizes     by a model where the dump holds none; sums per class                    sizes/
 *             -- here a histogram is true: watcher->objects_ready --
 *   places    where each object's record lies, where the format holds values      placing.c
 *   fill      read the dump again, all parts in parallel: references by id            edge_pass.c
 *   classify  classes by types, where the reader finds any                        classify.c
 *   recorded  threads and roots that the dump itself records                        recorded.c
 *   transpose incoming references                                                     transpose.c
 *   roots     threads from the javacore, roots recorded or inferred                   roots.c
 *
 * Memory while building n objects, a arrays: the survey holds 4 n + 2 a bytes or so, given back before
 * the references (8 bytes each) are allocated.
 */
#ifndef CAIRN_HEAP_BUILD_BUILD_H
#define CAIRN_HEAP_BUILD_BUILD_H

#include "algorithms/map.h"
#include "base/progress.h"
#include "dump/idmap.h"
#include "dump/javacore/javacore.h"
#include "dump/reader.h"
#include "heap/build/placing.h"
#include "heap/build/records.h"
#include "heap/heap.h"
#include "memory/arena.h"

#include <pthread.h>
#include <stdatomic.h>

/* A class record.  Its texts last as long as the heap. */
struct count_pass_class {
	uint64_t address, superclass, loader;
	uint64_t instance_size;
	uint32_t name; /* index in build->names */
	uint64_t *references;
	size_t n_references;
	struct heap_field *fields, *statics;
	uint32_t n_fields, n_statics, fields_size, taken;
};

/* A thread as the dump records it; its texts are escaped and last as long as the heap. */
struct count_pass_thread {
	uint64_t serial, address, id, native_id, waits_since, created_at;
	const char *name, *state, *waits_for; /* or NULL */
	bool system;
	const char **frames; /* shared with the other threads of its trace */
	uint32_t n_frames;
	bool stack_unknown;  /* the dump does not say which stack is its */
};

/* A place where a part of the fill begins. */
struct count_pass_cut {
	struct part part;
	uint64_t record; /* number within the part of the first record behind the cut */
};

/*
 * A stretch of one part's records, long enough to be a task for a thread.  So all threads can work
 * on the records of a dump even if its format is surveyed as a single part.
 */
struct slice {
	struct count_pass_part *part;
	struct records records;
	uint64_t first_record; /* number over all parts of the first of them */
	struct place_notes place_notes;
};
extern uint64_t slice_records; /* in each: as many as fill a huge page, but tests want many */

/* The internal names of classes, each text once (names.c). */
struct class_names {
	struct class_name {
		const char *internal; /* plain UTF-8, "[Ljava/lang/String;", in the arena */
		const char *shown;    /* as heap_class.name has it, in the heap's arena; NULL: not made yet */
		size_t n;             /* bytes of internal */
		uint64_t hash;
		uint32_t rank;        /* among all names, once names_rank was called */
		uint32_t component;   /* of an array's name: where those of the component's begin in by_name */
		bool component_known;
	} *list;
	uint32_t n, cap;
	struct map map;
	struct idmap known; /* names that stay where they are, by address -> index */
	struct arena arena;
};
/* The index of a name, which is copied if it is new; HEAP_NONE and ERR_NOMEM.  One thread at a time. */
uint32_t names_add(struct class_names *t, const char *internal, size_t n, struct err *err);
MUST_CHECK int names_rank(struct class_names *t, struct err *err);
void names_release(struct class_names *t);

/* Names of heaps, each once; the first is SPACE_DEFAULT.  Begins zeroed. */
struct space_names {
	const char *name[SPACES_MOST + 1];
	unsigned n;
};
#define SPACE_BEFORE UINT8_MAX /* that of the last object of the part before */
/* The number of an escaped name, which is copied into the arena if it is new; beyond SPACES_MOST they have one in
 * common.  Memory that it does not get: *lost. */
unsigned android_heaps_number(struct space_names *names, struct arena *arena, const char *name, struct err *lost);
/* Which heap each object is of, where the dump tells it (android_heaps.c); after objects_scatter. */
MUST_CHECK int android_heaps_collect(struct build *b, struct err *err);

/* What the survey found in one part of the dump. */
struct count_pass_part {
	struct part part;
	struct slice *slices;
	size_t n_slices, cap_slices;
	uint64_t n_records;    /* in all of them */
	uint64_t first_record; /* number over all parts of the first of them */
	struct record_sums sums; /* of them */
	struct part_class *by_handle; /* what the records say about each class handle */
	uint32_t n_by_handle;
	uint64_t class_object_size; /* of the first class record, 0 none */
	bool tells_sizes;           /* of some instance or class object */
	struct count_pass_class *classes;
	size_t n_classes, cap_classes;
	struct count_pass_cut *cuts; /* the first is the part's own beginning */
	size_t n_cuts, cap_cuts;
	struct root_record *roots;
	size_t n_roots, cap_roots;
	struct count_pass_thread *threads;
	size_t n_threads, cap_threads;
	struct count_pass_thread *stacks; /* of no thread that is named: serial is the number */
	size_t n_stacks, cap_stacks;
	uint64_t *places; /* offsets of object records 0, PLACE_STEP, … of this part */
	uint64_t n_places, cap_places;
	uint64_t n_placed; /* object records so far; 0 where records carry no offsets */
	struct space_names spaces;
	struct odd_record {
		uint64_t address, size;
	} *odd; /* facts.hashed_grow: instances and class objects that have a hash, SIZE_UNKNOWN; facts.arrays: objects
	           whose size does not follow from class and length */
	size_t n_odd, cap_odd;
	uint64_t *space_runs; /* the part's record at which another heap begins << 8 | its number in spaces */
	size_t n_space_runs, cap_space_runs;
	struct heap_warning warnings[HEAP_WARNINGS_KEPT];
	uint64_t n_warnings;
	struct heap_stated *stated;
	size_t n_stated, cap_stated;
	struct arena arena; /* names and texts met by this part */
	uint64_t reached;   /* where the next part must begin, if parts are guessed */
	uint64_t lost;      /* bytes, as sink.lost */
	int result;         /* of the reader; negative: damaged from err.offset on */
	struct err err;
};

/* A class as records name it.  Which class it is, is known only once all class records are
 * read. */
struct class_handle {
	enum class_naming how;
	uint64_t address;
	const char *name;   /* CLASS_NAMED: plain UTF-8, internal spelling */
	uint32_t known_as;  /* CLASS_AT: its name if the dump has no record of it, an index in build->names, or HEAP_NONE */
	enum record_kind kind; /* of the first object that used it; HANDLE_UNUSED before */
	uint64_t first;     /* number over all parts of that object's record */
	uint64_t instance_size; /* of its first instance, where records carry sizes */
	uint32_t resolved;  /* class index */
};
#define HANDLE_UNUSED RECORD_CLASS
#define HANDLE_MAX 0x0fffffffu /* class handles are smaller */

/* What is known of an object while a reader gives types to objects: where its memory lies in the dump,
 * and, once it has a class, that class instead. */
struct object_note {
	uint32_t low;     /* the low 32 bits of the offset; with a class: its index */
	uint8_t high;     /* the next 8 bits of the offset; with a class: enum typed_by */
	bool has_class;
	uint16_t length;  /* with a class: elements, NOTE_NO_LENGTH, or NOTE_LONG: it stands in a list */
};

#define DEGREE_LONG UINT8_MAX

struct build {
	struct heap *heap;
	const struct heap_options *options;
	struct progress *progress;
	struct javacore *javacore; /* or NULL */
	bool shown;                /* the watcher has a copy of the heap (heap->shown) */

	struct count_pass_part *parts;
	unsigned n_parts;
	struct slice **slices; /* of all parts, in the dump's order */
	unsigned n_slices;
	uint64_t n_records;

	pthread_mutex_t lock; /* guards the handles and names while the survey runs */
	struct class_handle *handles;
	uint32_t n_handles, cap_handles;
	struct map handle_map;
	uint32_t *used_handles; /* in the order in which the dump uses them, whichever thread met one first */
	uint32_t n_used_handles;
	struct arena arena;     /* names of handles */

	/* Class records in address order, duplicates dropped: class index i < n_defined is defined[i]. */
	struct count_pass_class *defined;
	uint32_t n_defined;

	struct class_handle class_objects; /* what class objects have in place of a handle */
	struct class_names names;
	uint32_t *name_of;           /* of each class of the heap: its internal name in names */
	uint32_t cap_classes, cap_names;
	uint32_t *by_name;           /* defined classes by internal name, then by index */
	uint32_t *by_name_and_loader; /* the same, of one name by loader; NULL before loaders are known */
	uint32_t n_by_name;
	uint8_t *degrees; /* how many references each object holds, from the scatter to the fill, at most DEGREE_LONG:
	                     the others are in long_degrees */
	struct more_degree *long_degrees;
	size_t n_long_degrees, cap_long_degrees;
	struct object_note *notes; /* from the fill until classes are given; or NULL */
	size_t cap_roots;
	atomic_bool any_size, any_length; /* some record tells its object's size (length) */
	struct err lost; /* a step got no memory, or is to stop; build_check reports it in the end */
	uint64_t *duplicates; /* global record numbers whose address was taken already, ascending */
	size_t n_duplicates, cap_duplicates;
	uint64_t *stale;      /* one bit per object: garbage for certain (stale.c); NULL: nothing is known */
};

static inline const struct class_name *build_class_name(const struct build *b, uint32_t class)
{
	return &b->names.list[b->name_of[class]];
}

/* Call options->needs, if it is set, with the memory that the dump will take (need.c).  0, ERR_CANCELLED or
 * ERR_NOMEM. */
MUST_CHECK int need_tell(struct build *b, struct err *err);

MUST_CHECK int count_pass_run(struct build *b, struct err *err);
/* Warnings, stated counts and damage of all parts, in their order, to the heap (count_report.c). */
MUST_CHECK int count_pass_report(struct build *b, struct err *err);
void count_pass_release(struct build *b);

/* Called at the end of a step.  Returns ERR_NOMEM and fills *err if the step did not get memory
 * that it asked for with &b->lost, ERR_CANCELLED after build_stops; else 0. */
MUST_CHECK int build_check(const struct build *b, struct err *err);

/* A look at the cancel flag in one round of many.  True: leave the step. */
static inline bool build_stops(struct build *b, uint64_t round)
{
	if (!progress_stops(b->progress, round))
		return false;
	err_cancelled(&b->lost);
	return true;
}

/* Is a class of this handle known by its name?  Else by an address. */
bool handle_is_by_name(enum class_naming how);
/* The handle of a class that is named so, made if there is none yet; any thread (handles.c). */
uint32_t build_handle(struct build *b, enum class_naming how, uint64_t address, const char *name,
    size_t name_size, struct err *err); /* or HEAP_NONE and ERR_NOMEM */

/* The handle of class objects, which is the one after all others. */
static inline uint32_t handle_of_class_objects(const struct build *b)
{
	return b->n_handles;
}
/* See that objects may have class indices (or handles) below n.  Those that they have stay. */
MUST_CHECK int build_class_room(struct heap *h, uint64_t n, struct err *err);

/* Give objects their ids (index); then put the class handle, the number of references, the size and
 * the length of each at its id (scatter).  Until classes_resolve its class index is that handle.
 * (objects.c) */
MUST_CHECK int objects_index(struct build *b, struct err *err);
MUST_CHECK int objects_scatter(struct build *b, struct err *err);
/* List the objects that are, or have a hash and may be, larger than their class says in heap->odd; sizes_settle takes
 * the others out. */
MUST_CHECK int objects_list_odd(struct build *b, struct err *err);

/*
 * Walk a slice's records with their ids.  A record whose address belonged to an earlier one has the
 * id HEAP_NONE.  After objects_index, any thread.
 *
 * Records come mostly in the order of their addresses and without others between them.  So the ids of a stretch that
 * ascends follow from those of its first and its last record, and only these two are looked up.
 */
struct objects_walk {
	const struct build *build;
	struct records_walk records;
	uint64_t number;  /* over all parts, of the next record */
	size_t duplicate; /* the next one in build->duplicates */
	uint32_t id;      /* of the next record */
	uint32_t n_ahead; /* records from the next on whose ids follow one another */
	uint32_t reach;   /* as many may be looked at next */
	uint64_t last;    /* address of the last of those ahead */
};
/* The walk over a slice's records, without their ids. */
static inline struct records_walk slice_walk(const struct slice *s)
{
	return records_walk(&s->records, s->part->by_handle);
}

struct objects_walk objects_walk(const struct build *b, const struct slice *slice);
/* For objects_next: find the next stretch.  False: there are no more records. */
bool objects_look_ahead(struct objects_walk *w);
/* Index of the first duplicate whose record number is at least this one. */
size_t objects_duplicate_from(const struct build *b, uint64_t number);

/* extents: with size and length; all steps of a walk alike. */
static inline __attribute__((always_inline)) bool objects_next(struct objects_walk *w, struct record *record,
    uint32_t *id, const bool extents)
{
	if (!w->n_ahead && !objects_look_ahead(w))
		return false;
	if (!(extents ? records_next(&w->records, record) : records_next_bare(&w->records, record)))
		return false;
	w->n_ahead--;
	w->number++;
	*id = w->id++;
	return true;
}

/* Make the heap's classes (classes.c): first those that the dump defines, in address order; then
 * those that records mention and the dump does not define.  Afterwards objects have class
 * indices. */
MUST_CHECK int classes_resolve(struct build *b, struct err *err);
/* The first class of this internal name, preferring one with this loader; or HEAP_NONE. */
uint32_t class_named(const struct build *b, const char *internal_name, size_t n, uint32_t loader);

/* Find the loader of each defined class, and the boot loader (loaders.c).  classes_resolve calls it
 * when the classes of plain instances are known.  Memory that it does not get: b->lost. */
void loaders_find(struct build *b);

/* Give the arrays with which the collector fills its gaps a class of their own (fillers.c), once references
 * and roots are known.  Tells the watcher before and after. */
MUST_CHECK int fillers_find(struct build *b, struct err *err);
/* May there be any? */
bool fillers_wanted(const struct heap *h);
/* Behind threads_complete: threads whose stacks the dump does not name get those that follow from the order of both
 * (stacks.c). */
MUST_CHECK int stacks_match(struct build *b, struct err *err);

/* Fill heap.in_frames (in_frames.c). */
MUST_CHECK int in_frames_find(struct heap *h, struct err *err);

/* Warn of objects that reach into their neighbours, where pointers may lead into objects. */
MUST_CHECK int overlaps_warn(struct build *b, struct err *err);

/* Read the dump again and put all references into heap.out (edge_pass.c). */
MUST_CHECK int edge_pass_run(struct build *b, struct err *err);

/* Give objects the types that the reader finds (classify.c).  prepare makes b->notes before the
 * fill, which enters where each object's memory lies; run asks the reader and changes the classes,
 * and tells the watcher before and after.  Both do nothing unless objects are memory. */
MUST_CHECK int classify_prepare(struct build *b, struct err *err);
MUST_CHECK int classify_run(struct build *b, struct err *err);
void classify_release(struct build *b);

static inline void note_contents(struct build *b, uint32_t id, uint64_t offset)
{
	b->notes[id].low = (uint32_t)offset;
	b->notes[id].high = (uint8_t)(offset >> 32);
}

/* Make the incoming references of the outgoing ones (transpose.c). */
MUST_CHECK int adjacency_transpose(const struct adjacency *out, struct adjacency *in,
    uint32_t n_objects, struct progress *progress, struct err *err);

/* Garbage that a dump without recorded roots proves (stale.c), in b->stale.  prepare: before the references are read.
 * note: the reference at this place of out.target leads nowhere, but to this address; any thread.  spread: add what
 * leads to such objects, once incoming references and certain roots are known. */
MUST_CHECK int stale_prepare(struct build *b, struct err *err);
void stale_note(struct build *b, uint64_t place, uint64_t address);
MUST_CHECK int stale_spread(struct build *b, struct err *err);
static inline bool stale_is(const struct build *b, uint32_t id)
{
	return b->stale && b->stale[id >> 6] >> (id & 63) & 1;
}

/* Put the threads and roots that the survey met into the heap; the survey's parts must still be
 * there (recorded.c). */
MUST_CHECK int recorded_collect(struct build *b, struct err *err);
/* Add what goroutines hold by values that they wait to send and by closures of deferred calls that lie on their
 * stacks; once threads and recorded roots are there (goroutine_waits.c). */
MUST_CHECK int goroutine_waits_collect(struct build *b, struct err *err);
/* Mark the JNI globals that are the VM's own (vm_roots.c); before the roots are sorted. */
MUST_CHECK int vm_roots_mark(struct build *b, struct err *err);
/* Put a root into the heap, unless its object is HEAP_NONE.  Memory that it does not get: b->lost. */
void build_root(struct build *b, struct heap_root root);

/* Add the threads of the javacore and the roots that must be inferred; sort all roots (roots.c). */
MUST_CHECK int roots_collect(struct build *b, struct err *err);

/* Find the names, states and priorities of threads in the values of their thread objects, where the
 * dump's records do not tell them (threads.c). */
MUST_CHECK int threads_complete(struct heap *h, struct err *err);
/* Fill threads_by_object. */
MUST_CHECK int threads_order(struct heap *h, struct err *err);

/* Give the watcher a copy of the heap as it is now; build_show: if there is a watcher. */
void build_show_heap(struct heap *h, const struct heap_watcher *w);
void build_show(struct build *b);
/* Take the copy back, and wait until nobody reads it, before what it points to changes.  False: there was none. */
bool build_hide(struct build *b);

/* Add a warning that comes from building, not from a place in the dump; its has_offset is false. */
void build_warn(struct build *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
