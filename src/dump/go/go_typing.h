/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_typing.h - how objects of a Go dump get their types; only for go_typing*.c.
 *
 * A claim says "from this address on lies a T", or "lie n of T".  Claims come from variables, frames,
 * interfaces and runtime descriptors (go_typing.c), and then from the pointers inside of whatever was
 * claimed (go_typing_walk.c), until nothing new comes (go_typing_claim.c).  In the end each object
 * gets the class of its best claim (go_typing_class.c).
 *
 * Which claim is best depends on nothing but the claims, not on their order: it is a number, and the
 * highest wins (struct typing.state).  One thread; memory: 4 bytes and one bit an object, and the
 * queue of a fixed size.
 */
#ifndef CAIRN_DUMP_GO_GO_TYPING_H
#define CAIRN_DUMP_GO_GO_TYPING_H

#include "dump/facts.h"
#include "dump/go/go_pointers.h"
#include "dump/go/go_span.h"
#include "dump/program/program.h"
#include "memory/arena.h"

/* A word inside of a value that leads to other values. */
enum slot_kind {
	SLOT_POINTER,   /* points to one value of slot.type */
	SLOT_STRING,    /* points to bytes; the next word holds their number */
	SLOT_SLICE,     /* points to elements of slot.type; the capacity stands two words further on */
	SLOT_INTERFACE, /* holds an itab; the next word is the data word */
	SLOT_EMPTY,     /* holds a type descriptor; the next word is the data word */
	SLOT_FUNC,      /* points to a closure */
	/* The next ones point to an array whose length is a number N that stands slot.aside bytes
	 * from the slot. */
	SLOT_COUNTED,   /* N values of slot.type */
	SLOT_BUCKETS,   /* 2^N values of slot.type; N is one byte */
	SLOT_OLD_BUCKETS, /* while a map grows: 2^N values, or half of that */
	SLOT_MASKED,    /* N + 1 values of slot.type */
	SLOT_DIRECTORY, /* N pointers to slot.type; with N = 0 one value of slot.other instead */
	SLOT_SENDERS,   /* points to the first of a list of slot.type (sudog), each with what it sends: a slot.other */
	SLOT_OVERFLOW,  /* points to a bucket of slot.type, which continues this one */
	SLOT_NEST,      /* not a word: slot.count values of slot.type are here, with slots of their own */
	SLOT_BLIND,     /* a pointer that says nothing about what it leads to */
};

struct slot {
	uint64_t offset;        /* bytes from the start of the value */
	uint64_t count, stride; /* the slot repeats: count times in all, one every stride bytes */
	int64_t aside;          /* bytes from the slot to the number that it needs; may be negative */
	uint32_t type, other;
	enum slot_kind kind;
};

/* What is known of a type besides its declaration. */
struct type_facts {
	uint32_t first_slot, n_slots;
	uint32_t rank;       /* place in the order of preference */
	uint32_t shown_as;   /* the map or channel that this is the inside of, or TYPE_NONE */
	bool pointers;       /* its values contain pointers */
	const char *part;    /* which part of it: "", " buckets" (groups since 1.24), " table" */
	bool continues;      /* it is the beginning of one of two types; its first byte says which */
	uint32_t if_set, if_clear; /* those, or TYPE_NONE */
	uint32_t channel;    /* the inside of a channel of it, or TYPE_NONE */
	bool open_ended;     /* in an object, more data follows behind a value of it */
	struct word_mask *mask; /* go_typing_words.c; NULL: not built */
	bool unsure;         /* some part of it is of no known type */
	bool built;          /* the members above are settled */
	bool ignored;        /* a claim of this type says nothing about what lies there */
};

/* Arrays are big memory, here and in struct typing. */
struct type_book {
	const struct types *types;
	struct type_facts *of;     /* types->n */
	struct slot *slot;
	uint32_t n_slots, cap_slots;
	uint32_t *by_rank;      /* types->n */
	uint32_t bytes;         /* uint8, or TYPE_NONE */
	uint32_t any_channel;   /* runtime.hchan, which says itself what it holds; or TYPE_NONE */
	bool refused;           /* some memory was while it was built: *err says so */
	struct err *err;
};

/* ERR_NOMEM: the book can only be released. */
MUST_CHECK int type_book_build(struct type_book *g, const struct types *types, struct err *err);
/* The type of a name.  Of a generic one that DWARF leaves out: what the compiler made it of, which has the same
 * memory, "main.List[go.shape.string]" (cmd/compile: stenciling by shapes); or TYPE_NONE. */
uint32_t type_book_named(const struct types *types, const char *name);
void type_book_release(struct type_book *g);

/* --- claims ------------------------------------------------------------------------------------- */

/*
 * The state of an object, 0: nothing claimed.  From the top: 3 bits coverage, 26 bits form, 3 bits
 * by whom.  A form is twice the rank of a type, plus 1 for an array of it; behind those, the function
 * whose closure it is; then one for a block of several small values (tiny_form).
 */
enum { BY_BITS = 3, FORM_BITS = 26, MOST_FORMS = 1 << FORM_BITS, TYPING_QUEUE = 1 << 16,
	TINY = 16 /* bytes of such a block */ };
enum coverage {
	COVER_GUESSED, /* an array, concluded from a pointer into it */
	COVER_LITTLE,  /* less than half of the object */
	COVER_HALF,
	COVER_ALL,     /* no smaller size class would do */
	COVER_EXACT,   /* the object's header says so */
};

/* Claims wait in a queue, so that the memory that each needs has been fetched when its turn comes. */
struct claim {
	uint64_t address, count; /* count 0: one value, no array */
	uint64_t start;          /* of the object */
	uint32_t type, id;
	enum typed_by by;
};
enum { DESCRIBED = 256 };
enum { CLAIMS = 64, CLAIM_AHEAD = 24 }; /* a claim's object is looked up when so many came behind it */

/* A value known to lie inside of an object of which nothing else is known. */
struct chunk {
	uint64_t address;
	uint64_t count;
	uint32_t type;
};

/* What variables lead to in the program's own memory (go_typing_static.c). */
struct statics {
	struct static_segment { uint64_t address, size; const uint8_t *bytes; } *segment;
	size_t n_segments, cap_segments;
	struct program_static { struct program_variable is; enum typed_by by; } *found;
	size_t n, cap, done; /* in the order found; done: their pointers are followed */
	uint64_t *seen;      /* open addressing: address and type */
	uint64_t room;       /* bytes that may yet be looked at: they may overlap */
	struct arena names;
	/* the pointer that is being followed: a part of which variable; NULL: of none */
	const struct program_variable *from;
	uint64_t from_offset;
};

struct typing {
	struct classifier *c;
	struct program *program; /* NULL: none */
	struct type_book go;
	unsigned word;
	bool big_endian;
	struct go_layout layout;  /* of spans: which objects begin with the address of their type */
	uint64_t low, high;       /* no object lies outside */
	bool field_lists;         /* stand behind the contents of objects (1.4 and later) */
	uint32_t tiny_form;
	uint32_t *state;          /* c->n_objects */
	uint64_t *waiting;        /* a bit for each object that did not fit into the queue */
	uint32_t *queue;          /* TYPING_QUEUE objects whose pointers are to be followed */
	uint32_t head, n_queue;
	uint32_t n_waiting, sweep; /* sweep: the word of waiting that is looked at next */
	struct claim claim[CLAIMS];
	uint32_t first_claim, n_claims, n_located; /* of those that wait: objects are known of the first */
	struct statics statics;
	struct chunk *chunk;      /* in the order found */
	size_t n_chunks, cap_chunks, done_chunks;
	uint64_t *chunk_set;      /* open addressing: those already noted */
	uint64_t *itab;           /* pairs: address, type descriptor; ascending */
	size_t n_itabs;
	uint64_t mask_words;      /* of all masks of types */
	const struct dump *dump;  /* for memory outside of the heap; NULL: there is none */
	uint64_t n_senders;       /* steps taken along lists of them */
	uint64_t conflicts, lost; /* claims that disagree; chunks beyond what is kept */
	struct progress *progress;
	bool refused;             /* some memory was: *err says so, and the next step ends */
	struct err *err;
	/* what typing_described was asked, by a hash of the descriptor */
	struct described { uint64_t descriptor; uint32_t type, element; } described[DESCRIBED];
};

/* Claim that one value of the type lies at this address; or that an array of it begins there, of at
 * least count elements. */
void typing_claim(struct typing *t, uint64_t address, uint32_t type, enum typed_by by);
void typing_claim_array(struct typing *t, uint64_t address, uint32_t type, uint64_t count,
    enum typed_by by);
/* A slice of this type stands at an address, whatever object it is in. */
void typing_claim_slice(struct typing *t, uint64_t address, uint32_t element, enum typed_by by);
void typing_claim_closure(struct typing *t, uint64_t address, enum typed_by by);
/* Claim what the variables of a closure of a function (by its number) lead to, whose bytes these are. */
void typing_walk_captures(struct typing *t, uint32_t function, const uint8_t *bytes, uint64_t size);
/* Claim what the variables of a closure lead to that lies on a stack; entry: where its function begins. */
void typing_walk_closure(struct typing *t, uint64_t address, uint64_t entry);
/* Follow the pointers of all objects that were claimed, until no claim is new.  0, ERR_CANCELLED or
 * ERR_NOMEM. */
int typing_drain(struct typing *t);
/* The type of an object so far, *array when it is an array of it; TYPE_NONE: none, or a closure. */
uint32_t typing_of(const struct typing *t, uint32_t id, bool *array);
/* Bytes before the first value in an object of this size: the type word of 1.22 and later. */
uint64_t typing_head(struct typing *t, uint32_t id, uint64_t size);
/* The type whose run-time descriptor stands at an address, or TYPE_NONE.  Those that DWARF does not tell are
 * known by the name that stands in the program (go_typing_header.c).  element (or NULL) gets that of a slice
 * type of which DWARF knows no more; else TYPE_NONE. */
uint32_t typing_described(struct typing *t, uint64_t descriptor, uint32_t *element);
/* Give the objects whose headers tell their types these types (go_typing_header.c).  0, ERR_CANCELLED or
 * ERR_NOMEM. */
int typing_from_headers(struct typing *t);
/* The object's header says that it is one value of the type, or an array of them. */
void typing_claim_exact(struct typing *t, uint32_t id, uint32_t type, bool array);
/* The pointers of an object; false: the dump does not tell them. */
bool typing_pointers(struct typing *t, uint32_t id, uint64_t *size, struct go_pointers *out);
/* Does the object hold no pointers at all? */
bool typing_pointer_free(struct typing *t, uint32_t id);
/* Do the object's pointer words allow that it is one value of the type (count 0), or an array that
 * begins with so many?  GUESSED_COUNT: as many as it may be. */
#define GUESSED_COUNT UINT64_MAX
bool typing_fits(struct typing *t, uint32_t id, uint32_t type, uint64_t count);

/* --- walks -------------------------------------------------------------------------------------- */

/* Memory that a walk looks into. */
struct memory {
	const uint8_t *bytes;
	uint64_t size;
	/* which words are live pointers (of a frame); NULL: all may be */
	bool (*live)(const struct memory *m, uint64_t offset);
	const void *context;
	const struct program_variable *variable; /* that is looked at in it; NULL: none, and address 0 */
	uint64_t address; /* of the first byte */
};

/* Claim what the pointers in n values of type lead to; the first lies at offset of the memory. */
void typing_walk(struct typing *t, const struct memory *m, uint64_t offset, uint32_t type, uint64_t n,
    enum typed_by by);
/* An interface's two words. */
void typing_interface(struct typing *t, uint64_t descriptor, uint64_t data, enum typed_by by);
/* The descriptor that an itab names, or 0. */
uint64_t typing_itab(const struct typing *t, uint64_t itab);

/* --- statics -------------------------------------------------------------------------------------- */

/* Add a segment (data, bss) of the program's own memory; bytes are borrowed. */
void typing_add_segment(struct typing *t, uint64_t address, const uint8_t *bytes, uint64_t size);
/* The same claim about an address outside of the heap; it is noted unless a variable lies there. */
void typing_claim_static(struct typing *t, uint64_t address, uint32_t type, uint64_t count,
    enum typed_by by);
/* Follow the pointers of the next value so noted; false: all are done. */
bool typing_walk_static(struct typing *t);
/* Free what was noted; tell: hand it to the program first (program_tell_statics).  0 or ERR_NOMEM. */
int typing_end_statics(struct typing *t, bool tell);

/* Words in the dump's byte order. */
uint64_t typing_word(const struct typing *t, const uint8_t *at);

/* The size of the object that Go's allocator gives for a request of so many bytes. */
uint64_t typing_size_class(uint64_t bytes);
uint64_t typing_address(const struct typing *t, uint32_t id);
/* Objects without a claim that can only be of one type (go_typing_fit.c). */
void typing_fit(struct typing *t);
/* Give every object the class of its best claim. */
int typing_assign(struct typing *t);

#endif
