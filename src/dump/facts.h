/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * facts.h - what a dump says of itself, and the kinds of roots, objects and values in it.
 *
 * Readers (reader.h) fill these, and everything that knows a heap may look at them.
 */
#ifndef CAIRN_DUMP_FACTS_H
#define CAIRN_DUMP_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE_UNKNOWN UINT64_MAX   /* the format does not hold this object's size */
#define LENGTH_UNKNOWN UINT64_MAX /* nor this array's length */
/* No object takes more bytes: what runtimes use of a processor's addresses.  A reader whose format
 * has room for larger sizes takes them for damage. */
#define SIZE_MOST (1ull << 48)

/* Kinds of GC roots, in the field's words. */
enum root_kind {
	ROOT_UNKNOWN, ROOT_SYSTEM_CLASS, ROOT_JNI_LOCAL, ROOT_JNI_GLOBAL, ROOT_THREAD_BLOCK,
	ROOT_BUSY_MONITOR, ROOT_JAVA_LOCAL, ROOT_NATIVE_STACK, ROOT_THREAD, ROOT_FINALIZABLE,
	ROOT_VM_INTERNAL, ROOT_DATA, ROOT_BSS, ROOT_STACK_FRAME, ROOT_FINALIZER, ROOT_FINALIZER_FIELD,
	ROOT_DEFER, ROOT_PANIC, ROOT_INTERNED_STRING, ROOT_REFERENCE_CLEANUP, ROOT_DEBUGGER, ROOT_KINDS
};

enum object_kind { OBJECT_INSTANCE, OBJECT_ARRAY, PRIMITIVE_ARRAY };

/* Types of fields and array elements; the numbers are HPROF's. */
enum value_type {
	VALUE_OBJECT = 2, VALUE_BOOLEAN = 4, VALUE_CHAR = 5, VALUE_FLOAT = 6, VALUE_DOUBLE = 7,
	VALUE_BYTE = 8, VALUE_SHORT = 9, VALUE_INT = 10, VALUE_LONG = 11,
};

/* By what an object came to its type, the least sure first. */
enum typed_by {
	TYPED_BY_SHAPE,      /* by nothing: it has no type, its class tells size and pointers */
	TYPED_BY_FIT,        /* nothing points to it, but only one type has its size and pointers */
	TYPED_BY_POINTER,    /* something typed points to it */
	TYPED_BY_FRAME,      /* a local variable of a stack frame does */
	TYPED_BY_GLOBAL,     /* a variable of the program does */
	TYPED_BY_INTERFACE,  /* an interface that carries its type does */
	TYPED_BY_RUNTIME,    /* the runtime's own descriptor: a goroutine, a thread */
	TYPED_BY_HEADER,     /* the object itself does: it begins with the address of its type's descriptor */
	TYPED_BYS
};

struct part {
	uint64_t begin, end; /* offsets in the source; a reader stops at the first record at or past end */
	uint64_t state[9];   /* the reader's own */
};

/* Where an object's bytes lie in the source, for looking at its values afterwards. */
struct object_view {
	uint64_t address;
	enum object_kind kind;
	uint64_t class_address;  /* of an instance or object array; 0: not told */
	enum value_type element; /* of a primitive array */
	uint64_t length;         /* elements of an array */
	const uint8_t *bytes;    /* field values or elements, as the format writes them */
	uint64_t n_bytes;
	uint64_t head;           /* bytes of them that stand before the value: facts.headers */
	uint64_t next;           /* offset from which on the next record stands, 0: there is none */
	uint32_t near;           /* the reader's own, as the caller has it of the object before: a guess where to look */
};

/* What a number counts that the dump states of itself. */
enum stated_unit {
	STATED_THINGS,
	STATED_BYTES,
	STATED_TIME, /* nanoseconds since 1970 */
};

/* What is stated under these words is nanoseconds: how long collections of garbage stopped the program, the
 * last one and the longest of those that it remembers. */
#define STATED_PAUSE_LAST "pause_last_ns"
#define STATED_PAUSE_LONGEST "pause_longest_ns"

/* A pointer of an object. */
struct slot_walk {
	uint64_t offset; /* of the word in the object, bytes */
	/* the reader's own */
	uint64_t at, left;
	unsigned part;
};

/* Where shallow sizes come from. */
enum size_rule {
	SIZES_RECORDED, /* from class and object records; the facts below say how to round them */
	SIZES_FROM_FIELDS,    /* from the fields that classes declare, by the rules of the VM that the addresses
	                   speak for.  class_record.instance_size is the number of the class dump as it
	                   stands: with java.lang.Object's above 0 it includes headers and is true
	                   (Android, GraalVM), else it is the bytes of all fields and says nothing */
};

/* How sizes of arrays follow from their lengths; header 0: nobody says. */
struct recorded_arrays {
	unsigned header, reference, minimum, empty; /* bytes; empty: of an array without elements, 0 as others */
	unsigned alignment; /* bytes to whose multiples they are rounded up; 0: 8 */
};

/* How a dump tells the values of objects; analysis/describe has an inspector for each. */
enum value_form {
	NO_VALUES,
	DECLARED_FIELDS, /* classes declare fields, records hold their values (class records, locate) */
	TYPED_MEMORY,    /* objects are memory, and types (dump->types) say what it means */
	VALUES_AWAY,     /* one of these, but only the index of the dump is here */
};

/* What a runtime noted of an object or a thread, for looking at it afterwards. */
enum noted_kind {
	NOTED_FINALIZER, /* of an object that is in use: a function that runs before its memory is used again */
	NOTED_QUEUED,    /* the same of one that nothing holds any more: the function waits to be run */
	NOTED_DEFER,     /* a call that a thread makes when one of its functions returns, the newest first */
	NOTED_PANIC,     /* a value that a thread panics with, the newest first */
};
struct noted {
	uint64_t of;       /* address of the object, or of the thread's */
	uint64_t closure;  /* address of the function value, 0 none */
	uint64_t code;     /* where the function begins, 0 unknown */
	uint64_t made_at;  /* of a deferred call: pc behind the statement, 0 unknown */
	uint64_t value[2]; /* of a panic: an interface, its type descriptor and its data word */
	uint64_t address;  /* of what the runtime itself keeps of a panic */
};
struct noted_walk {
	size_t run;
	uint64_t at;
};

/* Which contents a copy leaves out; each has the ones before it. */
enum redact_what {
	REDACT_NOTHING,
	REDACT_STRINGS, /* the texts of Strings */
	REDACT_ARRAYS,  /* what arrays of numbers hold */
	REDACT_ALL,     /* every value that is not a reference */
};

/* What a dump says of itself, and what its format cannot tell. */
struct dump_facts {
	const char *format;   /* the reader's name, "phd": a word for machines */
	const char *title;    /* the reader's title: how sentences call the format */
	const char *label;    /* the reader's label: what stands before the version where room is short */
	char version[16];     /* of the format: "6"; "" when it has none */
	char vm[256];         /* the VM's own words, escaped; "" unknown */
	size_t vm_release;    /* that many bytes of vm name the release and say more than version; 0: none */
	const char *thread;   /* what a thread is called, "goroutine"; NULL: a thread */
	bool takes_javacore;  /* a javacore next to it tells more, though it records roots */
	bool takes_program;   /* the program that wrote the dump, given beside it, tells more of it */
	unsigned word_bits;   /* 32 or 64, always: numbers are divided by it */
	bool word_unknown;    /* the dump does not tell it, or tells what cannot be: then word_bits is any of
	                         the two, and values is NO_VALUES */
	const char *experiments; /* of the runtime that were on, escaped: "boringcrypto,arenas"; NULL: none known */
	uint64_t cpus;         /* processors that the program could use, 0 unknown */
	uint64_t heap_start, heap_end; /* no object lies outside; both 0: unknown */
	unsigned n_heaps, heap_number; /* heap dumps in the file; which this is, from 1; 0: one */
	bool big_endian;
	unsigned reference_bytes; /* of a reference among an object's values, 0: a word; it is shifted by reference_shift */
	unsigned reference_shift;
	unsigned field_least;     /* bytes that a field of fewer bytes takes in an object; 0: no more than it has */
	char created[32];     /* ISO 8601 UTC, or "" */
	enum value_form values;
	enum redact_what redacted; /* it is a copy that says so of itself: these contents are zeros, and mean nothing */
	const char *no_sites;    /* why it tells no sites of allocations, where there is more to say of that; or NULL */
	const char *no_values;   /* with NO_VALUES or redacted why: "PHD holds no field values"; else NULL */
	const char *surplus;     /* why the dump may hold more objects than stated() says, or NULL */
	/* A sentence on what the format does not hold.  It lives as long as the dump; prepare may still
	 * replace it. */
	const char *cannot_tell; /* "PHD holds no field names or values, …" */

	enum size_rule size_rule;
	bool has_instance_sizes;        /* class records carry the size of their instances */
	bool loader_is_first_reference; /* the first loader among a class record's references made it */
	bool array_classes_kept;        /* the VM keeps classes of arrays with those of elements, unrecorded */
	bool hashed_grow;               /* with a recorded hash an object may take more than its class says */
	bool lengths_from_sizes;        /* lengths of primitive arrays are made of their sizes, with padding */
	bool elements_last_first;       /* references of object arrays come from the last element to the first */
	bool loaders_hold_classes;      /* a loader keeps its classes though no reference says so */
	bool boot_loader_is_null;       /* a class record without a loader was loaded by the boot loader */
	bool roots_recorded;            /* false: they are inferred */
	bool locals_inferred;           /* with roots_recorded: those of stacks are what may be a reference */
	bool owners_recorded;           /* threads say what they wait for, roots which monitors they have */
	bool hashes_recorded;           /* records hold identity hashes, of all objects or of some */
	bool references_superclass_recorded; /* class records name their superclass */
	unsigned minimum_object_size;   /* bytes; 0: none */
	unsigned object_alignment;      /* sizes are rounded up to this; 0: sizes are exact as given */
	bool array_sizes_need_model;    /* arrays come with SIZE_UNKNOWN: find header and element width */
	bool sizes_inferred;            /* some objects take more or less than their class and length say */
	struct recorded_arrays arrays;  /* with array_sizes_need_model: the dump says so itself */
	bool wide_words;                /* the VM has 64-bit words, whatever word_bits is */
	bool roots_were_inferred;       /* the writer of the dump inferred the roots that it has */
	bool fields_invented;           /* names and order of fields are cairn's own, so no field is known to be weak */
	bool other_thread_status;       /* threadStatus of Threads has other bits than HotSpot's */
	bool exported;                  /* cairn wrote it, of another dump */
	/* The address of java.lang.Class where its instances are announced as well as the classes that they represent, at
	 * the same address; 0: they are not.  Such an instance is not an object of its own. */
	uint64_t class_of_hubs;
	bool states_itself;             /* stated() gets statistics that the program kept of itself: shown to people */
	bool class_fields_missing;      /* class objects have fields that hold others, and the dump leaves them out */
	bool no_class_objects;          /* classes are not objects: nothing leads from an object to one */
	/* Objects with pointers of more than `above` and at most `up_to` bytes begin with so many bytes that
	 * are not part of their value (object_view.head); bytes 0: none do. */
	struct { unsigned bytes, above, up_to; } headers;
	bool interior_pointers;         /* a reference may point into an object: it holds all of it */
	bool threads_numbered;          /* threads are known by their own_id, not by their place */
	bool outside_pointers_normal;   /* references to no object are ordinary, not damage */
	/* The beginnings of parts are guesses.  The survey compares each with where the part before
	 * reached, reads again from there when they differ, and drops what stands behind damage: so
	 * it ends with what one part alone would have given. */
	bool parts_guessed;
};

struct dump_options {
	unsigned heap_number;     /* --dump N; 0: the last */
	const char *javacore;     /* --javacore FILE or NULL: look beside the dump */
	const char *exe;          /* --exe FILE, the program that wrote the dump; NULL: look beside it */
	bool no_companion;        /* tests: never look */
	const struct reader *also; /* tests: one more reader to choose from, or NULL */
};

/* A moment in milliseconds since 1970 as `created` has it; nothing for 0, or for one that no calendar has. */
void dump_write_created(char *to, size_t room, uint64_t milliseconds);
/* The same by a file's name: OpenJ9 names its dumps heapdump.YYYYMMDD.HHMMSS.PID.SEQ.phd and core….dmp, in local
 * time. */
void dump_created_from_name(char *to, size_t room, const char *path);

#endif
