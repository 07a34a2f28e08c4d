/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.h - what a reader of one dump format offers, and the sink it speaks to.
 *
 * A reader knows bytes and the sink, never the graph.  A dump is read twice: once to survey (which
 * objects are there, how many references each holds) and once to fill (the references themselves),
 * so that the graph's arrays are allocated once, at their final size.  Both passes call the same
 * read(), which must tell the sink the same things each time.
 *
 * A part is a stretch of the dump that can be read without the bytes before it: an offset, and the
 * state that a reader of the format has when it gets there.  A format with such a state begins with
 * one part, and its reader calls part_begins() about every PART_BYTES of the survey; the fill then reads
 * all parts in parallel.
 *
 * Legal order of calls within one part, repeated any number of times:
 *     class_handle | warn | part_begins | heap | object references* | objects references* | class_record |
 *     root | thread | stack | stated
 * references() is called in the fill only: as often as the reader likes, until the object before it (or all
 * those of objects(), in their order) has its n_references.  root, thread, stack and heap are called in the
 * survey only.  heap() comes before the objects it is about.  A class record carries its references with it,
 * in both passes.  A record is announced only when all of its bytes are there; part_begins() only between records,
 * so not between an object and its references.
 *
 * Any thread: read() runs on several threads at once, each with its own sink and part.
 */
#ifndef CAIRN_DUMP_READER_H
#define CAIRN_DUMP_READER_H

#include "base/err.h"
#include "base/progress.h"
#include "dump/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PART_BYTES (4u << 20)

/* How a record names its class. */
enum class_naming {
	CLASS_AT,           /* the class record at this address */
	CLASS_ARRAY_OF,     /* the array class whose component is the class at this address */
	CLASS_COMPONENT_OR_SELF, /* as CLASS_ARRAY_OF, unless every such record of the dump names an
	                            array class: then that class itself (a Java 6 defect) */
	CLASS_NAMED,        /* by name in the VM's internal spelling: java/lang/String, [I */
	CLASS_SHOWN,        /* by name as it is to be shown, which tells it from all others; UTF-8 */
};

struct object_record {
	uint64_t address;
	uint32_t class_handle; /* from sink->class_handle, same part or the one before it began */
	enum object_kind kind;
	uint64_t size;         /* bytes, header and padding included, or SIZE_UNKNOWN */
	uint64_t length;       /* elements, nulls included, or LENGTH_UNKNOWN; arrays only */
	uint64_t n_references; /* that references() will deliver; nulls are never delivered */
	uint64_t offset;       /* of the record in the source, for locate(); 0 where values are not held */
	uint64_t contents;     /* offset of its memory; only of a format of memory */
	uint32_t hash;         /* identity hash, as Java sees it; only where hashed */
	bool hashed;           /* the record holds it (facts.hashes_recorded) */
};

/* A field that a class declares, or a static field with its value (an address for VALUE_OBJECT, else
 * the bits of the number, sign-extended for byte, short, int). */
struct field_record {
	/* Modified UTF-8.  It stays as it is until the part is read: of fields that share one it is kept
	 * once. */
	const uint8_t *name;
	size_t name_size;
	enum value_type type;
	uint32_t offset;     /* not of statics: in object_view.bytes, bytes behind class_record.fields_size of all
	                        subclasses */
	uint64_t value;      /* statics only */
};

struct class_record {
	uint64_t address;       /* of the class object */
	uint64_t superclass;    /* address, 0: none or unknown */
	uint64_t loader;        /* address of the loader object, 0: see facts.loader_is_first_reference */
	const uint8_t *name;    /* survey: modified UTF-8, internal spelling; borrowed for the call */
	size_t name_size;
	bool name_stays;        /* the name stays where it is while the dump is open: classes that share the
	                           pointer share the name */
	uint64_t instance_size; /* of this class's instances, header included, or SIZE_UNKNOWN */
	uint64_t object_size;   /* of the class object itself, or SIZE_UNKNOWN: as java.lang.Class says */
	uint64_t n_references;
	const uint64_t *references; /* all of them, in both passes (class records are few) */
	const struct field_record *fields; /* declared by this very class, in the dump's order */
	size_t n_fields;
	uint32_t fields_size; /* bytes that they take where the fields of the superclass follow; 0: offsets of fields
	                         count from the object's beginning, whichever class it is of */
	uint32_t taken; /* bytes that the header and all fields of an instance take, those of superclasses and the VM's own
	                   among them; 0: those are to be counted */
	const struct field_record *statics;
	size_t n_statics;
	uint32_t hash; /* of the class object, as in struct object_record */
	bool hashed;
};

struct root_record {
	uint64_t address;
	enum root_kind kind;
	uint64_t thread_serial; /* 0: none */
	uint32_t frame;         /* counted from the innermost, UINT32_MAX: none */
	uint64_t slot;          /* address of the word that holds the pointer, 0: unknown; of ROOT_VM_INTERNAL
	                           the offset of a record that root_words knows; of a JNI global the address
	                           of its handle */
	bool inferred;          /* found where a reference may be, not recorded: not a root if there is no such object */
	bool fields_only;       /* what the object references is a root, the object itself is not */
};

/* A thread and its stack, as the dump states them. */
struct thread_record {
	uint64_t serial;     /* not 0; no two threads have the same */
	uint64_t address;    /* of the thread object, 0 unknown */
	const char *name;    /* UTF-8, or NULL: to be found in the thread object */
	const char *state;   /* "waiting", or NULL: the same; this and all below borrowed */
	const char *waits_for; /* "chan receive", or NULL */
	uint64_t created_at; /* pc of the code that started it, 0 unknown */
	uint64_t id;         /* the number that the runtime gave it, 0 unknown */
	uint64_t native_id;  /* of the operating system, 0 unknown */
	uint64_t waits_since; /* nanoseconds of the machine's own clock, 0 unknown */
	bool system;         /* the runtime's own */
	const char *const *frames; /* innermost first, as Java prints them; borrowed for the call */
	size_t n_frames;
	/* Not 0: threads of this part with the same number have the same frames.  Then frames and its
	 * texts, which may repeat in it and in other such frames, stay as they are until the part is
	 * read: frames belong to the trace, and each is kept once. */
	uint64_t trace;
	bool stack_unknown; /* the dump does not say which stack is that of the thread; then there are no frames */
};

/* Every member is called with the sink itself first; all return 0 or a negative err_code at which
 * the reader must stop and return it (the sink has filled the reader's err). */
enum { SINK_OBJECTS = 64 };
#define NO_OFFSET UINT64_MAX
struct sink {
	bool wants_references; /* false: survey; the reader skips reference bytes and never calls
	                          references() */
	bool sample;           /* a survey of some stretches, before the first: the dump must be as before */
	uint64_t reached; /* survey, facts.parts_guessed: the reader leaves here where the next record
	                     begins, or where the damage is */
	uint64_t lost; /* survey: bytes in which objects may be that the reader could not tell, counted by it; it read on */
	/* A small number for a class, to be put in records.  Cheap but not free: keep it.  name: of CLASS_NAMED and
	 * CLASS_SHOWN; of CLASS_AT what the dump calls a class of which it has no record, or NULL.  It is modified UTF-8
	 * in the internal spelling and stays while the dump is open. */
	uint32_t (*class_handle)(struct sink *sink, enum class_naming how, uint64_t address,
	    const uint8_t *name, size_t name_size);
	int (*object)(struct sink *sink, const struct object_record *record);
	/* The same of 1 to SINK_OBJECTS objects in a row, whose references come behind the last of them, in the same order.
	 * NULL: the sink wants one at a time. */
	int (*objects)(struct sink *sink, const struct object_record *records, size_t n);
	int (*class_record)(struct sink *sink, const struct class_record *record);
	int (*references)(struct sink *sink, const uint64_t *targets, size_t n);
	int (*root)(struct sink *sink, const struct root_record *root);       /* survey only */
	int (*thread)(struct sink *sink, const struct thread_record *thread); /* survey only */
	/* A stack whose thread the dump does not name: serial is its number among them, 1 that of the first thread which
	 * the writer showed.  Only frames and trace are set besides.  Survey only; NULL: not wanted. */
	int (*stack)(struct sink *sink, const struct thread_record *stack);
	/* The objects from here on, until the next call, are of the heap of this name (UTF-8, not escaped; NULL: the one
	 * that has no name), also those of the next part in front of its own first call.  Survey only; NULL: not wanted. */
	int (*heap)(struct sink *sink, const char *name);
	/* Between two records, about every PART_BYTES: here is a part that begins at this point.
	 * Also carries progress and cancel (ERR_CANCELLED). */
	int (*part_begins)(struct sink *sink, const struct part *here);
	/* Damage that does not end the reading.  Counted; the first few are kept with offsets, or NO_OFFSET. */
	void (*warn)(struct sink *sink, uint64_t offset, const char *format, ...)
	    __attribute__((format(printf, 3, 4)));
	/* Counts that the dump states of itself, to check against (the classic trailer, PHD totals). */
	void (*stated)(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count);
	struct err *err; /* where the sink's own failures are described */
};

struct process_facts; /* dump/process.h */

/* An opened dump.  A reader embeds it as the first member of its own struct. */
struct dump {
	const struct reader *reader;
	const struct source *source; /* borrowed, outlives the dump */
	struct dump_facts facts;
	const struct types *types;     /* the dump's own, or of the program; NULL: none */
	const struct program *program; /* the executable that belongs to it; NULL: none */
	const char *program_note;      /* which one and what it lacks, or why one was left out; or NULL */
	uint64_t type_conflicts;       /* what contradicted the types that objects were given */
	struct process_facts *process; /* what it says of its process; the heap takes it over; NULL: nothing */
	bool program_refused;          /* the one asked for cannot do what it was asked for, or the
	                                  one beside the dump cannot be read: worth a warning */
};

/*
 * The objects of a heap, for giving them types.  Ids are those of the heap.  Lookups and assign: any
 * thread; new_class: one thread at a time.
 */
struct classifier {
	uint32_t n_objects;
	/* The object that covers an address and where it begins; UINT32_MAX: none does. */
	uint32_t (*object_at)(struct classifier *c, uint64_t address, uint64_t *start);
	uint64_t (*size)(struct classifier *c, uint32_t id);
	/* Hints that let memory be fetched ahead: object_at will soon be asked about this address; size or
	 * (bytes true) contents of this object will be. */
	void (*soon_at)(struct classifier *c, uint64_t address);
	void (*soon)(struct classifier *c, uint32_t id, bool bytes);
	/* The contents of an object, in the dump's byte order.  *start gets its address, *size its bytes;
	 * either may be NULL (finding the address costs a search). */
	const uint8_t *(*bytes)(struct classifier *c, uint32_t id, uint64_t *start, uint64_t *size);
	/* Make a class of this name (UTF-8, as the language writes it) and return its index; each call makes
	 * a new one.  element_size: bytes of an array's element, at most UINT32_MAX, 0 for what is not an array.
	 * type: index in dump->types, or UINT32_MAX. */
	uint32_t (*new_class)(struct classifier *c, const char *name, enum object_kind kind,
	    uint64_t element_size, uint32_t type);
	/* Give an object its class, at most once; its contents cannot be asked for afterwards.  length: the
	 * elements of an array, LENGTH_UNKNOWN for what is not an array. */
	void (*assign)(struct classifier *c, uint32_t id, uint32_t class, uint64_t length,
	    enum typed_by by);
};

struct pack; /* algorithms/pack.h */
struct text; /* base/text.h */

/* Where a program allocated objects. */
struct site_record {
	uint64_t key;                /* samples refer to the site by this number */
	const char *const *frames;   /* "main.visit gocart/main.go:131", the innermost first; not escaped */
	size_t n_frames;
	bool frames_stay;            /* until the last sample: of equal pointers, equal texts, one is kept */
	uint64_t object_size;        /* bytes asked for, of each object; or SITE_UNKNOWN */
	uint64_t allocs, frees;      /* or SITE_UNKNOWN */
};
#define SITE_UNKNOWN UINT64_MAX
struct site_sink {
	/* All sites come before the first sample.  0, or a code at which the reader must stop. */
	int (*site)(struct site_sink *sink, const struct site_record *record);
	/* The object at this address was allocated at the site with this key. */
	int (*sample)(struct site_sink *sink, uint64_t address, uint64_t key);
};

/* What of the contents of a dump a copy leaves out: what Strings hold; what primitive arrays hold; all values that are
 * no references. */
struct redaction {
	enum redact_what what;
	/* only for REDACT_STRINGS: does a String hold the primitive array at this address?  And the id of their class. */
	bool (*of_string)(const void *context, uint64_t address);
	const void *context;
	uint64_t string_class;
	/* Other names for what the program has named; the text gets a line for each, "C17", a tab and the name.  NULL:
	 * names stay. */
	struct text *map;
	/* only with map: is a class of this name ("java/lang/String", n bytes, no NUL) one that everybody knows? */
	bool (*knows)(const uint8_t *name, size_t n);
};

typedef int symbol_take(void *context, const uint8_t *bytes, size_t n, bool names, struct err *err);

/* What the reader of a format adds whose objects are memory (facts.interior_pointers): all of these.  Any thread. */
struct memory_reader {
	/* Between the fill and everything that looks at classes, once: give objects types. */
	int (*classify)(struct dump *dump, struct classifier *c, struct progress *p, struct err *err);
	/* Find the next word of an object that its record calls a pointer; false: there is none.  walk
	 * begins zeroed.  They come in the order of the references that read() delivered, with nil ones
	 * among them. */
	bool (*next_slot)(const struct dump *dump, const struct object_view *view, struct slot_walk *walk);
	/* Call take with every word of every stack frame, whether the frame calls it a pointer or not. */
	void (*stack_words)(const struct dump *dump, void (*take)(void *context, uint64_t word),
	    void *context);
	/* Append the words by which the dump describes a root (root_record.slot), escaped. */
	bool (*root_words)(const struct dump *dump, uint64_t offset, struct text *out);
	/* The bytes at an address outside of the heap's objects (data segment, frames, the program's
	 * constants) and how many there are; NULL: the dump has none there. */
	const uint8_t *(*bytes)(const struct dump *dump, uint64_t address, uint64_t *n);
	/* The address of the type descriptor that an itab belongs to; 0 unknown. */
	uint64_t (*itab_type)(const struct dump *dump, uint64_t itab);
	/* Decode the next of what was noted; false behind the last.  A walk begins zeroed and is of one kind. */
	bool (*next_noted)(const struct dump *dump, enum noted_kind kind, struct noted_walk *walk,
	    struct noted *out);
	/* Call take with the type of each variable that a closure of the function at `code` holds, and its offset in the
	 * closure; none where nobody knows.  One thread at a time.  0, or ERR_NOMEM. */
	int (*captures)(const struct dump *dump, uint64_t code,
	    void (*take)(void *context, uint32_t type, uint64_t offset), void *context, struct err *err);
	/* Append the name of a type by its descriptor's address, as the dump itself has it, escaped. */
	bool (*type_name)(const struct dump *dump, uint64_t descriptor, struct text *out);
};

struct reader {
	const char *name;  /* "phd" */
	const char *title; /* "PHD", "the classic format", "a Go dump": subject of a sentence */
	const char *label; /* "PHD", "classic": before the version, "PHD 6" */
	bool is_text;      /* lines: their ends may be CR LF */
	/* Are these the first bytes (at most 4096) of this format?  Higher is surer; 0 no. */
	int (*probe)(const uint8_t *head, size_t n);
	/* Is this file, which begins so, one for this reader?  NULL: any is. */
	bool (*claims)(const struct source *source);
	/* When the dump in this file was written, as these first bytes or the file's name tell: put into to, as
	 * facts.created.  NULL: they never do. */
	void (*created)(const uint8_t *head, size_t n, const char *path, char *to, size_t room);
	/* Check the header and allocate.  ERR_FORMAT / ERR_TRUNCATED with offset: the dump is not
	 * readable at all. */
	int (*open)(struct dump **out, const struct source *source, const struct dump_options *options,
	    struct err *err);
	void (*close)(struct dump *dump);
	/* Divide the body into at most want parts (at least 1) that can be surveyed in parallel. */
	unsigned (*parts)(const struct dump *dump, unsigned want, struct part *out);
	/*
	 * Read one part into the sink.  ERR_FORMAT or ERR_TRUNCATED with the offset when the part
	 * ends before its end: all that was announced before stands.
	 */
	int (*read)(const struct dump *dump, const struct part *part, struct sink *sink,
	    struct err *err);
	/* After a survey that met no damage and announced so many objects, or NULL: 1 to have the dump surveyed
	 * again, since the counts that it states of itself showed the reader that it announced wrong ones.  Asked
	 * after each survey. */
	int (*resurvey)(struct dump *dump, uint64_t n_objects, struct err *err);
	/* Between the survey and the fill, once, or NULL: what the reader must work out from all it
	 * has seen (which bytes of an instance are references). */
	int (*prepare)(struct dump *dump, struct err *err);
	/* From the object record at an offset that an object_record gave, or the first at or behind a view's
	 * next, so many object records on; NULL where the format holds no values.  ERR_FORMAT when there is
	 * none. */
	int (*locate)(const struct dump *dump, uint64_t offset, uint32_t steps, struct object_view *out,
	    struct err *err);
	/* Write a copy without contents, in which every reader finds the same objects, references and sizes; NULL where
	 * the format has none.  *written: its bytes.  It reports its progress to the calling thread's work (progress_own).
	 * 0, ERR_UNSUPPORTED where the dump is too damaged to tell what contents are, ERR_IO, ERR_NOMEM, ERR_CANCELLED. */
	int (*redact)(const struct dump *dump, const struct redaction *r, FILE *to, uint64_t *written, struct err *err);
	/* Call take with each text that the dump records apart from its objects, in the dump's own bytes (modified UTF-8);
	 * names: it is the name of a class, a method, a field, a signature or a source file.  As far as the dump can be
	 * read; NULL where the format has none.  0, what take returned, ERR_NOMEM or ERR_CANCELLED. */
	int (*symbols)(const struct dump *dump, symbol_take *take, void *context, struct err *err);
	/* The name of what lies at an address outside of the heap, "main.cache" or "main.cache+0x18",
	 * appended to out (UTF-8, not escaped).  False, or NULL: nobody knows. */
	bool (*symbol)(const struct dump *dump, uint64_t address, struct text *out);
	/* Write what the readings found besides what the sink got; or take it back in their place (prepare
	 * and classify included), so that values can be read without them: then nothing that is taken is believed
	 * (p->bad).  NULL: values need no more than open.  0, ERR_NOMEM, ERR_CANCELLED, ERR_IO, or ERR_NOT_FOUND with a
	 * sentence: what stands beside the dump is not what stood there. */
	int (*keep)(struct dump *dump, struct pack *p, struct err *err);
	/* Allocation sites, then the samples of objects; NULL: the format has none. */
	int (*sites)(const struct dump *dump, struct site_sink *sink, struct err *err);
	const struct memory_reader *memory; /* what a format adds whose objects are memory; NULL: they are not */
};

#define DUMP_COPY_MARK "a copy without contents by cairn redact: " /* the text of a copy's first record begins so */

/* What every reader's open() begins with: whose dump this is, and what its format is called. */
static inline void dump_begin(struct dump *dump, const struct reader *reader, const struct source *source)
{
	dump->reader = reader;
	dump->source = source;
	dump->facts.format = reader->name;
	dump->facts.title = reader->title;
	dump->facts.label = reader->label;
}

#endif
