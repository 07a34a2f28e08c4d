/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_dump.h - what the files of the reader of Go heap dumps share.
 *
 *   go.c         header, parameters, facts, division into parts, one object for its values
 *   go_record.c  any record, decoded by a table of layouts
 *   go_pointers.h which words of an object are pointers, one after another
 *   go_shape.c   the pointers of objects: which words they are, and the name of the pattern
 *   go_span.c    what the runtime keeps in the memory of objects
 *   go_head.c    which objects of one size begin with the address of their type
 *   go_read.c    announces the objects to a sink
 *   go_tell.c    announces everything else: goroutines, roots, counts
 *   go_values.c  which words of an object are pointers, memory outside of the heap, names of types
 *   go_program.c the executable that wrote the dump
 *   go_typing*.c types of objects, from its DWARF and from interfaces (go_typing.h)
 *   go_keep.c    what the readings found, to an index file and back
 *   go_core*.c   core files, whose objects are in memory: dump/gocore
 *   go_old.c     go1.3, whose objects find their pointers through type records
 *
 * Format: the wiki of the Go project, pages heapdump13, heapdump14 and heapdump15-through-heapdump17,
 * and the runtime's writer, runtime/heapdump.go.  Numbers are LEB128 on every machine; contents are
 * memory as it was, in the byte order and with the pointers of the program's machine.
 *
 * Immutable once opened, but for the list of runs, which the survey adds to under a lock and prepare
 * settles: from then on any thread.
 */
#ifndef CAIRN_DUMP_GO_GO_DUMP_H
#define CAIRN_DUMP_GO_GO_DUMP_H

#include "dump/go/go.h"
#include "dump/go/go_pointers.h"
#include "dump/go/go_record.h"
#include "dump/go/go_span.h"
#include "dump/idmap.h"
#include "dump/program/program.h"
#include "dump/reader.h"
#include "dump/types.h"

#include <pthread.h>

struct classifier;
struct go;
struct pack;
struct progress;
struct dump_options;
struct sink;
struct site_sink;
struct text;
struct slot_walk;

/* Records of one tag that follow one another in the file.  Object records are in no run. */
struct go_run {
	uint64_t offset, end; /* where the first record begins, and where the last one ends */
	uint64_t n;
	enum go_tag tag;
};

/* The runs that one survey of a part met. */
struct go_survey {
	uint64_t begin, reached;
	struct go_run *runs;
	size_t n_runs, cap_runs;
};

/* Where the dump has a range of memory outside of the heap. */
struct go_stretch {
	uint64_t address, size; /* size not 0 */
	uint64_t record;        /* offset of its record: a frame, data or bss */
};

/* Where the objects are that stand in no record, and what is known of each: dump/gocore. */
struct go_elsewhere {
	/* The pointers of the object with these contents, from a word of it on. */
	void (*pointers)(const struct go *g, const uint8_t *contents, uint64_t from, struct go_pointers *out);
	/* Bytes before its value. */
	uint64_t (*head)(const struct go *g, const uint8_t *contents);
	/* The bytes at an address outside of the heap and of all records; NULL: there are none. */
	const uint8_t *(*bytes)(const struct go *g, uint64_t address, uint64_t *n);
	/* Is it the program of the dump?  ERR_NOT_FOUND, and what differs; else it is placed. */
	int (*check)(struct go *g, struct program *p, struct err *err);
	/* A sentence on what the dump does not hold; what the program adds is known. */
	void (*limits)(const struct go *g, struct text *to);
};

/* What a type record says; only those of go1.3 say where the pointers are. */
struct go_type {
	uint64_t address, size;
	struct go_bytes name, fields;
	bool indirect; /* the data word of an interface points to the value */
};

struct go {
	struct dump dump;  /* first: what the others see */
	struct go_bytes records; /* the file; or those that were made of a core, which has its objects elsewhere */
	const struct go_elsewhere *elsewhere; /* NULL: objects are records */
	unsigned version;  /* the X of dump format go1.X; 7 for every later format */
	unsigned word;     /* bytes of a pointer, 4 or 8; 0: unknown, so that no pointer can be read */
	struct go_layout layout; /* of spans; settled when the survey is done */
	unsigned n_layouts;      /* others tried before */
	struct err fault;  /* with word 0: why */
	const char *exe;   /* the program that was named, or NULL: look beside the dump */
	bool big_endian;
	bool swap;         /* the dump's byte order is not ours */
	uint64_t heap_start, heap_end, channel_header;
	struct go_bytes arch;
	char arch_letter[2]; /* where it is stated as a number */
	bool alone;        /* look for nothing beside the dump */
	struct program *program; /* that wrote the dump, or NULL */
	char *program_note;
	char *cannot_tell; /* facts.cannot_tell */
	char *experiments; /* facts.experiments */
	struct types recorded; /* from type records, where there is no program */
	uint64_t body, params; /* offsets of the first record and of the parameters, 0 none */

	/* go1.3 only: types and interface tables, which stand before the objects that need them. */
	struct go_type *types;
	size_t n_types, cap_types;
	struct idmap type_at; /* address -> index */
	struct idmap itab_at; /* address -> whether the data word is a pointer */

	pthread_mutex_t lock; /* guards surveys */
	struct go_survey *surveys;
	size_t n_surveys, cap_surveys;
	/* From prepare on: the highest address known to be code, and where data begins; descriptors lie between. */
	uint64_t code_known, data_begins;
	struct go_stretch *stretches; /* from prepare on: by address */
	size_t n_stretches, cap_stretches;
	struct go_run *runs;  /* from prepare on: of the whole dump, ascending */
	size_t n_runs, cap_runs;
};

extern uint64_t go_part_bytes; /* of a part: PART_BYTES, but tests want many */

/* A word of memory: a pointer of the program's machine.  g->word is not 0. */
static inline uint64_t go_word(const struct go *g, const uint8_t *p)
{
	if (g->word == 8) {
		uint64_t v;
		memcpy(&v, p, sizeof v);
		return g->swap ? __builtin_bswap64(v) : v;
	}
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return g->swap ? __builtin_bswap32(v) : v;
}

/*
 * Decode the next record of a tag; false behind the last.  *run and *offset say where to go on: set them
 * to 0 at first, each call moves them.  Works from prepare on, and for every tag but GO_OBJECT.
 *
 *     size_t run = 0; uint64_t at = 0;
 *     for (struct go_record r; go_next(g, GO_FRAME, &run, &at, &r);)
 */
bool go_next(const struct go *g, enum go_tag tag, size_t *run, uint64_t *offset,
    struct go_record *out);

/*
 * Call take for each pointer word of a record: a frame, data or bss record, or an object record of go1.4
 * and later.  take gets the offset of the word in the contents and its value, which may be nil; the walk
 * stops when it returns false.  Returns how many offsets were passed over because they lie outside of
 * the contents or are not aligned.
 */
uint64_t go_each_pointer(const struct go *g, const struct go_record *r,
    bool (*take)(void *context, uint64_t offset, uint64_t value), void *context);

MUST_CHECK int go_read(const struct dump *dump, const struct part *part, struct sink *sink,
    struct err *err);

/* Does it depend on the objects before it whether the object record at an offset is an object?  False as well
 * if there is no such record. */
bool go_depends(const struct go *g, uint64_t offset);

/* go_head.c: does an object with pointers of GO_LARGEST_SMALL bytes begin with its type?  From prepare on. */
bool go_begins_with_type(const struct go *g, const uint8_t *contents, uint64_t size);

/* The pointers of an object. */
static inline void go_pointers_of(const struct go *g, const uint8_t *contents, uint64_t size, struct go_pointers *out)
{
	if (g->elsewhere)
		g->elsewhere->pointers(g, contents, 0, out);
	else
		*out = (struct go_pointers){ .list = contents + size, .end = g->records.p + g->records.n };
}

/* Bytes before the value in an object.  From prepare on. */
static inline uint64_t go_head(const struct go *g, const uint8_t *contents, uint64_t size, bool pointers)
{
	if (g->elsewhere)
		return g->elsewhere->head(g, contents);
	uint64_t head = go_header(&g->layout, size, pointers);
	return size == GO_LARGEST_SMALL && head && !go_begins_with_type(g, contents, size) ? 0 : head;
}

/* go_values.c: where in an object with a header the last whole value ends; after it comes slack, whose
 * pointers repeat those of the type, and lead nowhere.  Its size if the type is not known.  From prepare on. */
uint64_t go_values_end(const struct go *g, const uint8_t *contents, uint64_t size);

/* go_values.c: find the memory outside of the heap; part of prepare.  ERR_NOMEM. */
MUST_CHECK int go_find_stretches(struct go *g, struct err *err);
/* Members of the reader. */
bool go_root_words(const struct dump *dump, uint64_t offset, struct text *out);
bool go_symbol(const struct dump *dump, uint64_t address, struct text *out);
bool go_next_slot(const struct dump *dump, const struct object_view *view, struct slot_walk *walk);
void go_stack_words(const struct dump *dump, void (*take)(void *context, uint64_t word), void *context);
const uint8_t *go_memory(const struct dump *dump, uint64_t address, uint64_t *n);
uint64_t go_itab_type(const struct dump *dump, uint64_t itab);
MUST_CHECK int go_sites(const struct dump *dump, struct site_sink *sink, struct err *err);
bool go_next_noted(const struct dump *dump, enum noted_kind kind, struct noted_walk *walk, struct noted *out);
MUST_CHECK int go_captures(const struct dump *dump, uint64_t code,
    void (*take)(void *context, uint32_t type, uint64_t offset), void *context, struct err *err);
bool go_type_name(const struct dump *dump, uint64_t descriptor, struct text *out);

/* go_old.c: go_next_slot for objects of a go1.3 dump.  Their view holds the address of the type as
 * class_address, and the kind of layout as length. */
bool go_old_next_slot(const struct go *g, const struct object_view *view, struct slot_walk *walk);
/* go_program.c: find the executable that wrote the dump, once the runs are known.  One that does not fit
 * is left out, and program_note says so.  0, ERR_NOMEM, or ERR_IO where the one that was named cannot be
 * read. */
MUST_CHECK int go_program_find(struct go *g, struct err *err);
void go_program_release(struct go *g);
/* Is the program in this file?  Then it is the dump's from now on.  0 also where it is not, and program_note may say
 * why; ERR_NOMEM. */
MUST_CHECK int go_program_try(struct go *g, const char *path, struct err *err);
unsigned go_release_of(const struct go *g); /* X of the Go 1.X that the program was built with; 0 unknown */
/* Settle facts.cannot_tell by what the program adds. */
void go_state_limits(struct go *g);
/* Fill g->recorded with the types that the type records name, for a dump without a program.
 * ERR_NOMEM: they are only there to be released. */
MUST_CHECK int go_recorded_types(struct go *g, struct err *err);

/* go.c, for readers of what is no heap dump but has such records: what opening begins and closing ends with; and once
 * g->records and g->elsewhere are set, the facts that the records tell. */
void go_begin(struct go *g, const struct reader *reader, const struct source *source,
    const struct dump_options *options);
void go_end(struct go *g);
void go_state_facts(struct go *g);
MUST_CHECK int go_prepare(struct dump *dump, struct err *err); /* a member of the reader */
extern const struct memory_reader go_memory_reader;

/* go.c: what follows from the runs: memory outside of the heap, the program, types. */
MUST_CHECK int go_settle(struct go *g, struct err *err);
/* go_keep.c: a member of the reader. */
MUST_CHECK int go_keep(struct dump *dump, struct pack *p, struct err *err);

/* go_typing.c */
MUST_CHECK int go_classify(struct dump *dump, struct classifier *c, struct progress *p,
    struct err *err);

/* go_old.c: read the types and interface tables of a go1.3 dump. */
MUST_CHECK int go_old_types(struct go *g, struct err *err);

#endif
