/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_read.h - what the files of src/dump/program share; private to them.
 *
 * A link address is one that the linker gave; the loader may have moved the program, and then the
 * dump has another address for the same byte.  The difference is the bias, which program_check
 * finds out.  Until then every address here is a link address.  The numbers and sizes that a file
 * can ask for are limited by the MOST_* below.
 */
#ifndef CAIRN_DUMP_PROGRAM_PROGRAM_READ_H
#define CAIRN_DUMP_PROGRAM_PROGRAM_READ_H

#include "base/files.h"
#include "dump/program/program.h"
#include "dump/types.h"
#include "memory/arena.h"

#define MOST_NAME 4096u            /* bytes of a symbol's or type's name that are kept */
#define MOST_ENTRIES (1u << 22)    /* symbols; and as many types, fields, variables, functions */
#define MOST_DWARF (UINT64_C(2) << 30) /* inflated bytes of all debug sections */

/* A function or a data symbol. */
struct program_range {
	uint64_t low, high; /* link addresses, for good; high is the first byte behind */
	const char *name;   /* escaped */
	uint64_t die;       /* offset of a function's entry in .debug_info; 0: it has none */
};

/* Arrays are big memory, but for local, which is short. */
struct program {
	char *path;
	const char *arch;   /* as Go calls it, or NULL */
	unsigned word;
	bool big_endian, movable; /* movable: a PIE, which the loader may move */
	uint64_t entry;     /* link address of the first instruction */
	struct program_section data, bss;           /* as the symbols runtime.data, … tell them */
	struct program_section data_header, bss_header; /* as the section headers tell them */
	uint64_t types_begin, types_end;            /* runtime.types … runtime.etypes; 0: unknown */
	uint64_t bias;      /* address in the dump less link address */
	bool has_symbols, has_types;
	const char *lacks;  /* program_lacks */
	bool unread;        /* program_unread */
	bool refused;       /* some memory was: *err says so */
	struct err *err;    /* while it is opened, or locals are looked for */

	struct program_range *function; /* by ascending low, which no two share */
	uint32_t n_functions, cap_functions;
	struct program_range *object;   /* data symbols, in the same order */
	uint32_t n_objects, cap_objects;
	struct program_variable *variable; /* by ascending address, which program_check moves */
	uint32_t n_variables, cap_variables;
	struct program_number {
		const char *name;
		uint64_t value;
	} *number; /* constants of Go's runtime, as DWARF has them */
	uint32_t n_numbers, cap_numbers;
	struct program_statics { /* the variables of program_tell_statics; the pointer is set atomically */
		struct arena names;
		uint32_t n;
		struct program_variable variable[]; /* by ascending address; no two overlap */
	} *statics; /* NULL: nothing yet */
	struct types types;
	struct arena arena; /* names */

	struct program_local *local; /* what the last program_locals found */
	size_t n_locals, cap_locals;
	struct program_capture *capture; /* of all functions asked about */
	size_t n_captures, cap_captures;
	struct captured { uint32_t first, n_plus_1; } *captured; /* by function; n_functions, or NULL */
	int fd, debug_fd;
	file_hold hold, debug_hold;
	void *elf, *debug_elf, *dwarf; /* Elf *, Elf *, Dwarf *; debug_elf: has the DWARF that was split off; NULL: none */
	struct type_reader *reader; /* kept, since program_locals asks which entry is which type */
};

/* Copy a name of the file into the arena: at most MOST_NAME bytes of it, escaped.  "" and p->refused
 * when memory is refused. */
const char *program_keep(struct program *p, struct arena *arena, const char *name);

/* Read the ELF header, the sections and the symbols of p->fd (program_elf.c). */
MUST_CHECK int program_read_elf(struct program *p, struct err *err);
/* Where the program has no DWARF: look for the file that has it (program_debug.c).  One that the program names and that
 * is not there is told in p->lacks. */
void program_find_debug(struct program *p);
/* Read types, variables and functions from DWARF (program_dwarf.c).  What cannot be read is left
 * out, and p->lacks says so.  ERR_NOMEM. */
MUST_CHECK int program_read_dwarf(struct program *p, struct err *err);
/* Release p->elf, p->dwarf and p->reader. */
void program_release_elf(struct program *p);

#ifdef HAVE_LIBDW
#include <elfutils/libdw.h>
#include <stdbool.h>

/* The attributes of a DWARF entry that cairn reads. */
enum wanted {
	WANT_NAME, WANT_TYPE, WANT_SIZE, WANT_COUNT, WANT_LOCATION, WANT_MEMBER, WANT_ENCODING,
	WANT_KIND, WANT_KEY, WANT_ELEMENT, WANT_EMBEDDED, WANT_DESCRIPTOR, WANT_LOW, WANT_ORIGIN,
	WANT_UPPER, WANT_VALUE, N_WANTED
};

/* A DWARF entry, with those of its attributes that are wanted. */
struct entry {
	Dwarf_Die die;
	int tag;
	uint32_t have; /* a bit for each of enum wanted: the entry has this attribute */
	int last;      /* enum wanted of the attribute noted last, or -1 */
	Dwarf_Attribute attribute[N_WANTED];
};

/* Find the wanted attributes of an entry, in one pass over it. */
void entry_read(struct entry *e, const Dwarf_Die *die);
/* The entry's name as the file has it, not escaped; NULL if it has none. */
const char *entry_name(struct entry *e);
/* The same, or the name of what the entry is an instance of: a function inlined elsewhere has it there. */
const char *die_name(const Dwarf_Die *die);
/* The number in an attribute.  Returns false if the entry has none. */
bool entry_number(struct entry *e, enum wanted what, uint64_t *out);
/* The offset of the entry that an attribute refers to; 0: none. */
uint64_t entry_reference(struct entry *e, enum wanted what);

/* Take the DWARF expression that says where something lies apart into operations; where the place
 * changes, pc (a link address) chooses.  Returns their number; 0 if the place is unknown. */
enum { MOST_OPERATIONS = 32 };
size_t program_place(const struct program *p, Dwarf_Attribute *attribute, uint64_t pc,
    Dwarf_Op out[MOST_OPERATIONS]);

/* Fill p->types (program_types.c): note every entry as it is met; finish then finds the entries
 * that they refer to.  After that find gives the type of the entry at an offset, or TYPE_NONE. */
struct type_reader;
struct type_reader *type_reader_new(struct program *p);
void type_reader_note(struct type_reader *r, struct entry *e);
MUST_CHECK int type_reader_finish(struct type_reader *r, struct err *err); /* ERR_NOMEM */
uint32_t type_reader_find(const struct type_reader *r, uint64_t die);
void type_reader_free(struct type_reader *r);
#endif

#endif
