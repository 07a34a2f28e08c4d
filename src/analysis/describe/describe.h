/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describe.h - the door of this folder: the contents of objects, in the same form for every dump.
 *
 * Dumps hold values in different forms.  HPROF classes declare fields, and an object's record has their
 * values.  In a Go dump an object is a range of memory, and its type says what the bytes mean.  PHD
 * and classic dumps have no values.  Each form has one struct inspector (inspector.h); the dump's
 * facts.values chooses it, in describe.c and nowhere else.  Callers of the functions below need not
 * know which one answers.
 *
 * Where a dump holds no values these functions return ERR_UNSUPPORTED with the format's own sentence,
 * or false.  All text is escaped; clipped text ends in "…".  Any thread may call them, each thread with
 * its own walks.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_DESCRIBE_H
#define CAIRN_ANALYSIS_DESCRIBE_DESCRIBE_H

#include "base/text.h"
#include "dump/facts.h"
#include "heap/string.h"
#include "heap/typed/typed.h"
#include "heap/value.h"

struct bits;
struct progress;

#define DESCRIBE_SHORT 120 /* characters of a text, for a cell of a table */

struct inspector;

/* --- an object in a few words ------------------------------------------------------------------- */

/*
 * Append what the object is, with about `limit` characters of what it holds: the text of a String,
 * the number in a box, the name of a thread.  Strings stand in quotation marks, an array of numbers
 * in brackets.  False: nothing is known, and nothing was appended.
 */
bool describe_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to);

/* Is there more to say of objects of this class than the length of an array? */
bool describe_knows_class(const struct heap *h, uint32_t class);

/* Append the same, or of an object that it does not know its fields: "id=100004711 status=NEW total=10.00"; what is
 * null is left out. */
void describe_summary(const struct heap *h, uint32_t id, struct text *to);

/* Is the object nothing but a number (java.lang.Long)? */
bool describe_is_box(const struct heap *h, uint32_t id);

/* Are objects of this class nothing but what describe_object says of them: a text, a number, a date, a constant? */
bool describe_is_value(const struct heap *h, uint32_t class);
/* And of these, are they a whole number or a truth value (java.lang.Long)?  Then describe_whole has it as itself,
 * quickest in the order of ids; a walk begins zeroed.  False: it cannot be read. */
bool describe_is_whole(const struct heap *h, uint32_t class);
struct number;
bool describe_whole(const struct heap *h, uint32_t id, struct view_walk *walk, struct number *out);

/* May describe_object say words with all these characters (of ASCII, each as it is) of objects of this class?  Only of
 * classes that are worth a search: not of Strings, constants of enums, threads and classes, which are found by their
 * own, nor of arrays and collections. */
bool describe_may_say(const struct heap *h, uint32_t class, const char *characters);
/* Are its objects numbers that no single field has (BigDecimal, BigInteger, LongAdder)? */
bool describe_is_number(const struct heap *h, uint32_t class);

/* Append in a few words the value of an entry of one of Java's maps.  False: it has none. */
bool describe_entry_value(const struct heap *h, uint32_t entry, struct text *to);

/* --- one value ---------------------------------------------------------------------------------- */

/* A value that an object holds.  Only the functions below look inside. */
struct any_value {
	const struct heap *heap;
	union {
		struct {
			struct value value;
			const char *declared; /* name of its type where it leads to no object, or NULL */
		} field;
		struct {
			struct typed value;
			enum { WORD_NUMBER, WORD_POINTER, WORD_CODE } word; /* of what has no type */
		} memory;
	};
};

/* Where a reference leads. */
struct value_target {
	uint64_t address; /* 0: it is null, or no reference */
	uint32_t id;      /* the object there, or HEAP_NONE */
};

/* Append a value as its language prints it, about `limit` characters of it; of a reference what the
 * object is, or else its address. */
void inspect_value(const struct any_value *v, uint64_t limit, struct text *to);
struct value_target inspect_target(const struct any_value *v);
/* The name of its type, of a reference in Java the class of the object it leads to.  NULL: unknown.
 * The heap owns it. */
const char *inspect_type(const struct any_value *v);

/* A number or a truth value, as itself. */
enum number_kind { NO_NUMBER, NUMBER_SIGNED, NUMBER_UNSIGNED, NUMBER_REAL, NUMBER_FLAG };
struct number {
	enum number_kind kind;
	uint64_t bits; /* SIGNED: in two's complement; FLAG: 0 or 1; REAL: of the double */
};
/* False: it is neither (a reference, a character, a struct). */
bool inspect_number(const struct any_value *v, struct number *out);
/* Append the text that the value itself is (a string of Go), all of it and not escaped.  False: it is none, or its
 * bytes are not in the dump. */
bool inspect_string(const struct any_value *v, struct text *to);
/* Append the date and time in UTC, "2026-11-21T09:12:40Z", that a whole number is, if that is plausible (epoch.h).
 * name: of its field, or "".  False: nothing was appended. */
bool inspect_date(const struct any_value *v, const char *name, struct text *to);
/* The same rule for a number of a dump. */
bool describe_is_date(const struct heap *h, int64_t number, const char *name);
/* Of two numbers of one kind the larger has the larger rank. */
uint64_t number_rank(const struct number *n);

/* --- a number that is looked for ---------------------------------------------------------------- */

enum { SOUGHT_ALSO = 3 };
struct sought_number {
	bool integer;  /* it has no point and no exponent: it may be an integer */
	bool hex;      /* written in hexadecimal: it may be the bits of a number below 0 */
	bool negative;
	uint64_t bits; /* of an integer, in two's complement */
	double real;
	uint64_t also[SOUGHT_ALSO]; /* other integers above 0 that are as good */
	unsigned n_also;
};
/* "4711", "-3", "0x1b6d3586", "10.5".  False: the word is not a number. */
bool sought_number_parse(const char *word, struct sought_number *out);
/* "2026-11-21T09:12:40Z": the numbers that inspect_date may show as this time in a dump like h; which of those found
 * it does, describe_is_date says.  False: the word is no time, or no plausible one. */
bool sought_date_parse(const struct heap *h, const char *word, struct sought_number *out);

/* A search through many objects, for one thread.  plan: what is known of the classes, made once for all. */
struct number_plan;
struct number_finder {
	const struct number_plan *plan;
	struct sought_number sought;
	struct view_walk view;
	/* Called for each number that is equal; place is for inspect_number_place, bits are the number's.  A code ends the
	 * search. */
	int (*found)(void *context, uint32_t id, uint64_t place, uint64_t bits, struct err *err);
	void *context;
};
/* 0: *out is the caller's (number_plan_free).  ERR_UNSUPPORTED, ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int number_plan_make(struct number_plan **out, const struct heap *h, struct err *err);
void number_plan_free(struct number_plan *p); /* NULL is fine */
/*
 * Look at the numbers of an object: its fields, the static ones of a class object, the elements of an array.
 * Truth values and characters are not numbers here, nor are single bytes of arrays, which mostly are texts.
 * 0, or what found returned.
 */
MUST_CHECK int inspect_find_number(struct number_finder *f, uint32_t id, struct err *err);
/* Append the name of a place: "number", "static counter", "[17]", "Cart.Count", a map's "key 42". */
void inspect_number_place(const struct heap *h, uint32_t id, uint64_t place, struct text *to);

/* --- what an object holds, part by part --------------------------------------------------------- */

/* The fields of an object, or a stretch of the elements of an array, or of the words of what has no
 * type.  They are read from the dump when they are asked for. */
struct object_parts {
	const struct inspector *inspector;
	const struct heap *heap;
	size_t n;
	bool has_offsets; /* where each lies in the object is known */
};

struct object_part {
	const char *name;     /* borrowed from the parts; NULL: inspect_part_name writes it */
	uint32_t declared_in; /* the class that declares the field, or HEAP_NONE */
	const struct heap_field *field; /* that one, or NULL */
	uint64_t offset;      /* bytes from the object's first one, where has_offsets */
	bool missing;         /* the object's record ends before it: value means nothing */
	struct any_value value;
};

/* Which of many: `length` from number `start` on.  given: the user chose them by number, which
 * is ERR_USAGE for an object whose parts are fields. */
struct range {
	uint64_t start, length;
	bool given;
};

/*
 * Open an object's parts.  0: *out is the caller's (inspect_parts_close).  ERR_UNSUPPORTED: the dump
 * holds no values.  ERR_USAGE: see struct range.  Else what kept the record from being read, or
 * ERR_NOMEM.
 */
MUST_CHECK int inspect_parts(struct object_parts **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err);
/* Part i < p->n. */
void inspect_part(const struct object_parts *p, size_t i, struct object_part *out);
/* Append its name: "next", "Base.next" (field_words.h), "Cart.Item", "[17]", "+0x10". */
void inspect_part_name(const struct object_parts *p, size_t i, struct text *to);
void inspect_parts_close(struct object_parts *p); /* NULL is fine */

/*
 * The fields that objects have in common: those of their class, or of the nearest superclass of all
 * their classes, its own first, then those of each superclass.  Arrays and class objects have none.
 */
struct shared_fields {
	const struct inspector *inspector;
	const struct heap *heap;
	size_t n;
	bool tell_all; /* describe_object shows nothing of the objects but these values */
	bool more;     /* there are others: n is SHARED_FIELDS_MOST */
};
#define SHARED_FIELDS_MOST 1000
#define SHARED_CLASSES_MOST 1000 /* objects of more classes are taken to have none in common */

struct shared_field {
	const char *name;        /* borrowed from the fields, escaped */
	uint32_t declared_in;    /* class index, or HEAP_NONE */
	enum number_kind kind;   /* of all its values */
	const struct heap_field *field; /* where classes declare fields, else NULL */
	uint32_t shared;         /* then: the class whose fields these are */
};

/* Find them for n objects.  0: *out is the caller's (inspect_shared_fields_close); with out->n 0 there
 * are none.  ERR_UNSUPPORTED: the dump holds no values.  ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int inspect_shared_fields(struct shared_fields **out, const struct heap *h,
    const uint32_t *ids, size_t n, struct err *err);
/* Field i < f->n. */
void inspect_shared_field(const struct shared_fields *f, size_t i, struct shared_field *out);
void inspect_shared_fields_close(struct shared_fields *f); /* NULL is fine */
/* Append the word of field i: its name, or one that means no field before it (field_words.h). */
void inspect_shared_word(const struct shared_fields *f, size_t i, struct text *to);
/* The field that the words begin with; names may hold dots themselves, so the longest name counts.  After it the words
 * end or go on with '.' or '['.  Returns the name's length; 0: there is none. */
size_t inspect_shared_find(const struct shared_fields *f, const char *words, size_t *i);

/* Reads fields of one object after another: an object is opened once for all its fields, and is found
 * quickest in the dump's order.  Begins with { .id = HEAP_NONE }; one thread. */
struct fields_walk {
	uint32_t id; /* the object opened last */
	bool open;   /* it could be */
	struct view_walk view;
	union {
		struct values field;
		struct typed_object memory;
	};
};
/* The value of field i of one of the objects.  False: its record ends before it, or cannot be read. */
bool inspect_shared_value(const struct shared_fields *f, struct fields_walk *w, uint32_t id, size_t i,
    struct any_value *out);

/* The bytes of an object as the dump has them. */
struct object_bytes {
	const uint8_t *bytes; /* the dump's */
	uint64_t n;           /* bytes */
	unsigned unit;        /* bytes of what -start and -length count */
};
/* 0; ERR_UNSUPPORTED; ERR_USAGE where the dump keeps bytes of other objects only; or a read error. */
MUST_CHECK int inspect_bytes(struct object_bytes *out, const struct heap *h, uint32_t id,
    struct err *err);

/* --- what a collection contains ----------------------------------------------------------------- */

/* Elements, or keys and values, in the collection's own order. */
struct entries {
	const struct inspector *inspector;
	const struct heap *heap;
	size_t n;
	uint64_t start;   /* the index of the first */
	bool map;         /* they have keys */
	struct text note; /* a remark about them, or empty */
	bool lacks_some;  /* then: some are in the part of the dump that was not read */
};

/* Open `which` of the entries.  0: *out is the caller's (inspect_entries_close).  ERR_NOT_FOUND: it is
 * no collection that is known, and *err says what it is.  ERR_UNSUPPORTED, ERR_NOMEM. */
MUST_CHECK int inspect_entries(struct entries **out, const struct heap *h, uint32_t id,
    const struct range *which, struct err *err);
/* Entry i < e->n; key only of maps. */
void inspect_entry(const struct entries *e, size_t i, struct any_value *key, struct any_value *value);
void inspect_entries_close(struct entries *e); /* NULL is fine */

struct collection_size {
	bool known;          /* size is what the collection itself says */
	uint64_t size;       /* elements or entries */
	bool has_capacity;
	uint64_t capacity;   /* places for elements, or buckets */
	bool has_fill;       /* size / capacity says how much of it is in use */
	bool map;            /* entries have keys and values */
	bool lies;           /* it cannot be: more than there are places, below 0, or no array where one should be */
	uint64_t taken;      /* places in use: the keys of a multimap, whose size is the number of its values */
	bool broken;         /* inspect_count: its nodes run in a circle or lead astray, and size is what comes before */
};
/* What is stated, or follows from the layout.  False: it is not a collection that is known. */
bool inspect_size(const struct heap *h, uint32_t id, struct collection_size *out);
/* How many elements are in it: the answer that all commands give.  Where inspect_size does not say, at most *left
 * entries are counted, and *left becomes less; of an array of Go the elements in use by slices count, where only slices
 * lead to it.  A size that cannot be is not known.  False: it is not a collection, nor such an array. */
bool inspect_count(const struct heap *h, uint32_t id, uint64_t *left, struct collection_size *out);
enum { COUNT_BRIEFLY = 100 }; /* entries, for one cell among many */
/* The same of arrays whose elements in use only their holders know: slices of Go (slices.c).  All holders are read
 * once, because one may hold every array. */
struct held_sizes;
/* Of the arrays among `only`, or of all (NULL).  0: *out is the caller's, NULL where no dump has such; reports up to
 * h->n_objects to progress.  ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int held_sizes_make(struct held_sizes **out, const struct heap *h, const struct bits *only,
    struct progress *progress, struct err *err);
/* False: its holders do not say, or there are too many of them.  Any thread. */
bool held_size(const struct held_sizes *s, uint32_t id, struct collection_size *out);
void held_sizes_free(struct held_sizes *s); /* NULL is fine */
/*
 * Collections from inside, of dumps whose classes declare fields: what they are made of.
 */
/* An object that a collection is made of. */
typedef void collection_part(void *context, uint32_t id);

/* What instances of a class are, by its name alone. */
enum collection_role {
	COLLECTION_NOT,
	COLLECTION_PLAIN,
	COLLECTION_WRAPPER,   /* made of another collection */
	COLLECTION_OF_ITSELF, /* its nodes are collections as well: Scala's List */
	COLLECTION_VIEW,      /* shows another collection, or is always empty: not made by a program */
};
enum collection_role collection_role(const struct heap *h, uint32_t class);
/* Call part for each collection that another one is made of: of a HashSet its HashMap. */
void collection_inner(const struct heap *h, uint32_t id, collection_part *part, void *context);

/* A collection from inside. */
struct collection_inside {
	struct collection_size size;
	uint64_t entries; /* that were found by walking it */
	uint64_t elements; /* that these count as */
	bool summed;      /* some count as several */
	bool whole;       /* all were found, and say what they count as */
	bool broken;      /* what was found ends early (struct collection) */
};
/* Walk all of it.  part (or NULL) is called for each object that it is made of and that is not its own user's: the
 * collections that it wraps, arrays, nodes; not of the collection itself, nor of keys and elements.  An object that is
 * damaged or shared by buckets may be passed twice.  False: it is not a collection that is known. */
bool collection_inside(const struct heap *h, uint32_t id, struct collection_inside *out, collection_part *part,
    void *context);

/* Read a layout of collections (doc/layouts.md), a line that goes before all others of its class.  0, or ERR_USAGE
 * with what is wrong in it.  While no other thread looks for layouts. */
MUST_CHECK int layout_add(const char *line, struct err *err);
/* Forget all that were added, and what was wrong with them. */
void layouts_forget(void);
/* Remember what is wrong with the file of them: the first sentence is kept, all are counted.  As layout_add. */
void layouts_blame(const char *sentence);
/* That sentence, and how many there were; NULL: nothing is wrong. */
const char *layouts_blamed(size_t *n);
/* Is it a list, a map, a set or a queue that is known?  Also where the dump has no values: by its class. */
bool inspect_is_collection(const struct heap *h, uint32_t id);

/* --- how collections are stored (storage.c), of dumps whose classes declare fields --- */

enum storage_role {
	STORAGE_NONE,
	STORAGE_OWN,     /* a collection that a program makes: ArrayList */
	STORAGE_WRAPPER, /* the same, made of another collection: HashSet */
	STORAGE_VIEW,    /* one that the library makes of its own: HashMap$KeySet, Collections$EmptyList */
	STORAGE_PART,    /* declared inside of a collection's class, and none itself: a node */
};
/* Whose arrays are the collection's own?  Those that it holds itself have its elements in them, or the first of
 * chains of nodes, or further arrays; or each node has one. */
enum storage_arrays { ARRAYS_NONE, ARRAYS_OF_ELEMENTS, ARRAYS_OF_CHAINS, ARRAYS_OF_NODES, ARRAYS_OF_ARRAYS };
enum storage_role inspect_storage_role(const struct heap *h, uint32_t class, enum storage_arrays *arrays);

/* What an object is made for, by its class alone, so in every dump: the same for all objects of a class. */
enum make {
	MAKE_COLLECTION = 1, /* a list, a map, a set or a queue that is known */
	MAKE_WRAPPER = 2,    /* such a one that is made of another, or shows it */
	MAKE_PART = 4,       /* a collection's node, or an array of these; with MAKE_COLLECTION: it is one, too */
	MAKE_MAP_PART = 8,   /* the same of a map of Go */
	MAKE_ARRAY = 16,     /* any other array of references */
	MAKE_NODE = 32,      /* a collection that is its own first node, and so are the next ones (:: of Scala) */
};
unsigned inspect_make(const struct heap *h, uint32_t id);
/* Is an object of that make, which the holder references, what a collection is made of: its array, its node, a node's
 * next one, the collection that it wraps? */
bool inspect_is_made_of(unsigned holder, unsigned object);
/* Append which entry of a collection a node of it is, which holds the target: ["session-7"], of the key itself
 * key "session-7".  False: nothing was appended, because it has no keys, or they are hidden (inspect_hide_keys). */
bool inspect_entry_name(const struct heap *h, uint32_t collection, uint32_t entry, uint32_t target, struct text *to);
/* Are the places of its array the numbers of its elements (ArrayList)? */
bool inspect_is_list(const struct heap *h, uint32_t collection);

struct storage {
	struct collection_size size;
	bool library;    /* its layout is one of STORAGE_VIEW */
	uint32_t table;  /* the array whose length is the capacity, or HEAP_NONE */
	uint64_t enough; /* the length of a table that would do */
	bool chains;     /* the table holds chains of entries */
	bool used;       /* something was in it once, as far as it shows */
};
/* False: it is not a collection that is known. */
bool inspect_storage(const struct heap *h, uint32_t id, struct storage *out);

/* Append which parts of an array its holders mean ("len 50 cap 100 of …"), if they say.  False:
 * nothing was appended. */
bool inspect_held_as(const struct heap *h, uint32_t id, struct text *to);

/* --- texts -------------------------------------------------------------------------------------- */

/* The characters of an object that is a text (a String; bytes that are UTF-8).  False: it is none, or
 * has no characters yet. */
bool inspect_text(const struct heap *h, uint32_t id, struct string_view *out);
/* The same of many, quickest in the order of ids; a walk begins zeroed. */
bool inspect_text_along(
    const struct heap *h, uint32_t id, struct string_walk *walk, struct string_view *out);
/* The same, of an array of characters too. */
bool inspect_characters(const struct heap *h, uint32_t id, struct string_view *out);

/* Can objects of a class be texts?  TEXT_EACH: each one counts as a text, even one without characters. */
enum text_class { TEXT_NEVER, TEXT_SOME, TEXT_EACH };
enum text_class inspect_text_class(const struct heap *h, uint32_t class);
/* 0; ERR_UNSUPPORTED with the reason where the dump has no texts to look at. */
MUST_CHECK int inspect_texts_held(const struct heap *h, struct err *err);
/* Do texts reach to the end of their block of memory, of which not all need be in use?  Then lengths
 * are inferred. */
bool inspect_texts_run_on(const struct heap *h);

/* --- names of references ------------------------------------------------------------------------ */

/* hidden: from now on names made by this thread have no contents: an entry of a map is named by its place, not by its
 * key.  Returns the setting before. */
bool inspect_hide_keys(bool hidden);

/*
 * The fields by which an object references others: "next", "[17]", "static INSTANCE"; of what points
 * into its target with the distance in bytes, "Stock+16".  The graph knows that an object references
 * another, its values know where.  Names are found by walking the holder's values, so asking for one
 * after another costs one walk in all.
 */
struct reference_names {
	const struct inspector *inspector;
	bool open; /* the holder's values can be read */
	union {
		struct {
			struct values holder;
			struct field_walk walk;
			uint64_t element; /* the next to look at */
		} field;
		struct {
			struct typed_object holder;
			struct slot_walk slots;
		} memory;
	};
};

/* Begin with the first reference of an object. */
void reference_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder);
/* Go on to the next reference to this object.  False: there is none behind the last one.  The name is
 * appended unless to is NULL. */
bool reference_names_next(struct reference_names *n, uint32_t target, struct text *to);

/*
 * The same one by one, in any order.  A holder with many references is walked once, when the first of them is
 * asked for; then each costs a search in a sorted table of 16 bytes a reference, as long as memory is left.
 * One thread at a time.
 */
struct first_names;
struct first_names *first_names_new(void);
void first_names_free(struct first_names *f); /* NULL is fine */
/* Append what the first call of reference_names_next finds.  False: there is no such reference with a name.
 * f: NULL where nothing is to be kept. */
bool first_name(struct first_names *f, const struct heap *h, uint32_t holder, uint32_t target,
    struct text *to);

/*
 * The names of all references of one object after another, as numbers: for loops over each reference of a heap.
 *  Which element it is of an array or a map does not count: "[]", "Ports[].Name".  Quickest in the order
 * of ids.  One thread at a time.
 */
#define NAME_NOT_TOLD 0 /* "" */
#define NAME_ELEMENT 1  /* "[]" */
struct numbered_names;
/* 0: *out is the caller's (numbered_names_free); or ERR_NOMEM. */
MUST_CHECK int numbered_names_new(struct numbered_names **out, const struct heap *h, struct err *err);
void numbered_names_free(struct numbered_names *n); /* NULL is fine */
struct numbered {
	const uint32_t *each; /* by reference, in the order that heap.out has them; until the next call.  NULL: */
	uint32_t all;         /* all have this one */
};
/* 0 or ERR_NOMEM. */
MUST_CHECK int numbered_names_of(struct numbered_names *n, uint32_t id, struct numbered *out, struct err *err);
/* Make a name one of these: of "table[3].next+8" what is not a place in an array or an object, "table[].next". */
void numbered_names_fold(struct text *name);
/* The number of a name that may be there already: copied where it is new.  0 or ERR_NOMEM. */
MUST_CHECK int numbered_names_add(struct numbered_names *n, const char *name, uint32_t *number, struct err *err);
uint32_t numbered_names_count(const struct numbered_names *n); /* numbers are below it */
/* A static field is called as it is declared.  Lives as long as n. */
const char *numbered_name(const struct numbered_names *n, uint32_t number);

/* All references of one name, one after another.  take returns 0 or a code that ends the walk. */
struct named_references {
	const char *field;
	int (*take)(void *context, uint32_t holder, uint32_t target, struct err *err);
	void *context;
	bool all;   /* of several such fields of one class take each, as obfuscated classes have them */
	bool found; /* set: there is a field of this name that can hold references, null or not */
	unsigned several; /* set: so many of one class can, so none was taken; 0: one or none */
};
/* Of every instance of a class and its subclasses, and the class's static field.  A field that cannot hold references
 * is not meant, nor one of a superclass that a field of the class hides.  0, ERR_NOMEM,
 * ERR_UNSUPPORTED, or what take returned. */
MUST_CHECK int inspect_named_of_class(struct named_references *n, const struct heap *h,
    uint32_t class, struct err *err);
/* Of one object: a field, a static field of a class object, an element "[17]".  The same codes. */
MUST_CHECK int inspect_named_of_object(struct named_references *n, const struct heap *h,
    uint32_t holder, struct err *err);

/* Do classes of this dump declare the fields that hold references? */
bool inspect_declares_fields(const struct heap *h);
/* The declared field by which an object holds another, and the class that declares it.  False: none. */
bool inspect_declared_field(const struct heap *h, uint32_t holder, uint32_t target, uint32_t *class,
    const char **field);

/* --- global variables --------------------------------------------------------------------------- */

/* A global variable of the program, or a part of one. */
struct variable {
	struct any_value value;
	uint64_t address, size; /* of its memory */
	struct value_target target; /* what it points to */
	bool is_slice; /* it means part of an array, with a length of its own */
};

/* Do dumps of this kind know global and local variables?  (Static fields belong to their class.) */
bool inspect_has_variables(const struct heap *h);
/* "main.conf", "main.conf.Ports[2]".  0; ERR_NOT_FOUND: no variable is called so; ERR_USAGE: it has no
 * such part; ERR_UNSUPPORTED: the dump does not have its memory. */
MUST_CHECK int inspect_variable(struct variable *out, const struct heap *h, const char *word,
    struct err *err);
/* Call back with the name of each variable that begins like this word, or where none does, of each field
 * of the variable that stands before the word's last dot.  Names live until the call returns. */
typedef void inspect_name_found(void *context, const char *name);
void inspect_variable_names(
    const struct heap *h, const char *word, inspect_name_found *found, void *context);
/* What the variable itself holds: as inspect_parts, inspect_bytes and inspect_entries. */
MUST_CHECK int inspect_variable_parts(struct object_parts **out, const struct variable *v,
    const struct range *which, struct err *err);
void inspect_variable_bytes(struct object_bytes *out, const struct variable *v);
MUST_CHECK int inspect_variable_entries(struct entries **out, const struct variable *v,
    const struct range *which, struct err *err);
/* How much a slice, map or channel contains.  False: it is none. */
bool inspect_variable_size(const struct variable *v, uint64_t *size);

#endif
