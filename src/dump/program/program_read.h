/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program_read.h - inside program*.c: what is known of an executable, and who finds it out.
 *
 * Addresses are the link's until program_check settles the bias; what the file gives is capped here.
 */
#ifndef CAIRN_DUMP_PROGRAM_PROGRAM_READ_H
#define CAIRN_DUMP_PROGRAM_PROGRAM_READ_H

#include "base/arena.h"
#include "dump/program/program.h"

#define MOST_NAME 4096u            /* bytes of a symbol's or type's name that are kept */
#define MOST_ENTRIES (1u << 22)    /* symbols, types, fields, variables, functions: of each */
#define MOST_DWARF (UINT64_C(2) << 30) /* inflated bytes of all debug sections */

struct program_range {
	uint64_t low, high; /* link addresses; high is the first byte behind */
	const char *name;
	uint64_t die;       /* offset in .debug_info, of functions; 0: known by the symbol table only */
};

struct program {
	char *path;
	const char *arch;   /* as Go calls it, or NULL */
	unsigned word;
	bool big_endian, movable; /* PIE */
	struct program_section data, bss;           /* by runtime.data, …, else by their headers */
	struct program_section data_header, bss_header;
	uint64_t types_begin, types_end;            /* runtime.types … runtime.etypes; 0: unknown */
	uint64_t bias;      /* address in memory less link address */
	bool has_symbols, has_types;
	const char *lacks;

	struct program_range *function; /* ascending, no two with one start */
	uint32_t n_functions, cap_functions;
	struct program_range *object;   /* data symbols, ascending */
	uint32_t n_objects, cap_objects;
	struct program_variable *variable; /* ascending; addresses moved by program_check */
	uint32_t n_variables, cap_variables;
	struct program_statics { /* set as a whole, atomically; NULL: none */
		struct arena names;
		uint32_t n;
		struct program_variable variable[]; /* ascending, none overlaps another */
	} *statics;
	struct types types;
	struct arena arena;

	struct program_local *local; /* of the last program_locals */
	size_t n_locals, cap_locals;
	int fd;
	void *elf, *dwarf; /* Elf *, Dwarf * */
	struct type_reader *reader; /* which entry is which type, for locals */
};

/* A name from the file, made harmless and kept as long as the program. */
const char *program_keep(struct arena *arena, const char *name);

/* ELF header, sections, symbols (program_elf.c). */
MUST_CHECK int program_read_elf(struct program *p, struct err *err);
/* DWARF: types, variables, functions (program_dwarf.c).  Never fails: what cannot be read is not
 * there, and p->lacks says so. */
void program_read_dwarf(struct program *p);
void program_release_elf(struct program *p);

#ifdef HAVE_LIBDW
#include <elfutils/libdw.h>
#include <stdbool.h>

/* The attributes of an entry that we read, found in one pass. */
enum wanted {
	WANT_NAME, WANT_TYPE, WANT_SIZE, WANT_COUNT, WANT_LOCATION, WANT_MEMBER, WANT_ENCODING,
	WANT_KIND, WANT_KEY, WANT_ELEMENT, WANT_EMBEDDED, WANT_DESCRIPTOR, WANT_LOW, WANT_ORIGIN,
	WANT_UPPER, N_WANTED
};

struct entry {
	Dwarf_Die die;
	int tag;
	uint32_t have; /* a bit for each of enum wanted */
	Dwarf_Attribute attribute[N_WANTED];
};

void entry_read(struct entry *e, const Dwarf_Die *die);
const char *entry_name(struct entry *e);  /* the file's bytes, or NULL */
bool entry_number(struct entry *e, enum wanted what, uint64_t *out);
uint64_t entry_reference(struct entry *e, enum wanted what); /* offset of an entry, 0: none */

/* The operations that say where something lies (at pc, where it moves); their number, 0: nothing
 * that can be told. */
enum { MOST_OPERATIONS = 32 };
size_t program_place(const struct program *p, Dwarf_Attribute *attribute, uint64_t pc,
    Dwarf_Op out[MOST_OPERATIONS]);

/* Types, in two steps: entries as they are met, then what they refer to (program_types.c). */
struct type_reader;
struct type_reader *type_reader_new(struct program *p);
void type_reader_note(struct type_reader *r, struct entry *e);
void type_reader_finish(struct type_reader *r);
uint32_t type_reader_find(const struct type_reader *r, uint64_t die); /* after finish, or TYPE_NONE */
void type_reader_free(struct type_reader *r);
#endif

#endif
