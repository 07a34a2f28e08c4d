/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - the executable that wrote a dump: its symbols, types, variables and functions.
 *
 * ELF and DWARF are decoded by elfutils (libelf, libdw); a cairn built without them has a
 * program_open that fails and says so.  An executable is as hostile as a dump: what elfutils gives
 * is checked and capped here.
 *
 * Call order: program_open, then program_check, then the rest.  All addresses that these functions
 * take and give are those of the dump: program_check finds out by how much the loader moved the
 * program.
 *
 * Everything handed out belongs to the program and lives until program_close, unless said
 * otherwise.  One thread at a time, but for program_tell_statics.
 */
#ifndef CAIRN_DUMP_PROGRAM_PROGRAM_H
#define CAIRN_DUMP_PROGRAM_PROGRAM_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program;

struct program_section {
	uint64_t address, size; /* bytes; size 0: there is no such section */
};

/* What a dump knows of the program that wrote it. */
struct program_match {
	const char *arch; /* in Go's words: "amd64"; NULL, "" or one letter: not known by name */
	unsigned word;    /* bytes of a pointer */
	bool big_endian;
	struct program_section data, bss; /* where they lay in memory */
};

/* A global variable of the program, from DWARF. */
struct program_variable {
	const char *name;  /* "main.Cache", escaped */
	uint64_t address;
	uint32_t type;     /* index in the program's types */
};

/*
 * A parameter or local variable of a function that lies in memory while the function is at some pc.
 * The compiler may keep a variable in several pieces; each piece is one of these.
 */
struct program_local {
	const char *name;  /* as the file has it, not escaped */
	uint32_t type;     /* of the whole variable: index in the program's types */
	uint64_t first;    /* byte of the variable that this piece begins with; 0 for a whole one */
	uint64_t size;     /* bytes of the piece; the type's size for a whole one */
	int64_t offset;    /* bytes from the canonical frame address (the caller's stack pointer) */
	bool parameter;
};

/* "libdw 0.188", or NULL where cairn was built without it. */
const char *program_support(void);

/*
 * Read an executable; the caller closes it.  Returns 0; ERR_UNSUPPORTED without libdw; ERR_IO where
 * the file cannot be read; ERR_FORMAT where it is no ELF executable.  An executable without symbols
 * or without DWARF is fine: the functions below then know less.
 */
MUST_CHECK int program_open(struct program **out, const char *path, struct err *err);
void program_close(struct program *p); /* NULL is fine */

/*
 * Did this program write the dump?  Machine, byte order, pointer size and the lengths of its data
 * and bss must be the dump's.  Returns 0 if they are, and settles where the program was loaded;
 * otherwise ERR_NOT_FOUND, and *err says what differs.
 */
MUST_CHECK int program_check(struct program *p, const struct program_match *dump, struct err *err);

/* Of a program that is known to be the dump's: the loader moved it by `bias` bytes.  Again and again, if need be. */
void program_move(struct program *p, uint64_t bias);
/* Is it a program that the loader may move, and where does its code begin, as the linker put it? */
bool program_is_movable(const struct program *p);
uint64_t program_entry(const struct program *p);
/* "amd64", in Go's words; NULL: unknown. */
const char *program_machine(const struct program *p);

const char *program_path(const struct program *p);
bool program_has_symbols(const struct program *p);
bool program_has_types(const struct program *p); /* DWARF */
bool program_unread(const struct program *p); /* there is DWARF, which could not be read */
/* What it lacks, in words ("it was stripped: …"), or NULL. */
const char *program_lacks(const struct program *p);

const struct types *program_types(const struct program *p); /* n 0 without DWARF */
/* All variables that have a type, by ascending address; *n gets their number. */
const struct program_variable *program_variables(const struct program *p, size_t *n);
/* The address of a variable by its name; 0: there is none. */
uint64_t program_address_of(const struct program *p, const char *name);
/* The variable that has this address in it, or else one of program_tell_statics; NULL:
 * neither. */
const struct program_variable *program_variable_at(const struct program *p, uint64_t address);

/*
 * Tell the program of values in its own memory that have no name but that variables lead to, such
 * as the T of "var x = &T{...}".  From then on program_variable_at and program_symbol know them.
 *
 * The n values may come in any order and are copied, names included.  Of two that overlap the one
 * that begins first is kept; of two that begin at one address, the larger.  Call it once; other
 * threads may call program_variable_at and program_symbol meanwhile.  ERR_NOMEM: nothing changed.
 */
MUST_CHECK int program_tell_statics(struct program *p, const struct program_variable *all, size_t n,
    struct err *err);
/* The variables of program_tell_statics, *n of them by ascending address. */
const struct program_variable *program_statics(const struct program *p, size_t *n);
/* A hash of the program's types, variables and functions. */
uint64_t program_print(const struct program *p);
/* Append to out which part of a value of this type has the byte at an offset: ".users", "[3].name".
 * Returns how many bytes into that part the offset points; 0 inside a string, slice or interface. */
uint64_t program_path_in(const struct program *p, uint32_t type, uint64_t offset, struct text *out);

/* The name of the function that contains a pc; NULL when there is none.  *number (may be NULL) gets
 * the number of the function, which is below program_n_functions. */
const char *program_function_at(const struct program *p, uint64_t pc, uint32_t *number);
uint32_t program_n_functions(const struct program *p);
const char *program_function_name(const struct program *p, uint32_t number);
/* The address where a function begins; 0 for a number that is too large. */
uint64_t program_function_entry(const struct program *p, uint32_t number);

/* The variables that lie in memory while the program is at pc, those of inlined functions included.
 * For a function that has called another, pc is the return address less 1.  *n gets their number, 0
 * where nothing is known.  They stay valid until the next call.  0, or ERR_NOMEM with *n 0. */
MUST_CHECK int program_locals(struct program *p, uint64_t pc, const struct program_local **out, size_t *n,
    struct err *err);

/* What a closure of a function holds behind the address of its code: variables, or their addresses where
 * the function shares them ("&n").  *n gets their number, 0 where nothing is known (Go before 1.23 does not
 * record it).  They stay valid until the next call.  0, or ERR_NOMEM with *n 0. */
struct program_capture {
	const char *name; /* as the file has it, not escaped */
	uint32_t type;    /* index in the program's types */
	uint64_t offset;  /* bytes from the start of the closure */
};
MUST_CHECK int program_captures(struct program *p, uint32_t function, const struct program_capture **out,
    size_t *n, struct err *err);

/* The bytes at an address of memory that the program cannot write to (texts of literals), as the
 * file has them; *n gets how many there are from there on.  NULL: the file has none there. */
const uint8_t *program_constant(const struct program *p, uint64_t address, uint64_t *n);

/*
 * Append the name that stands in the run-time descriptor of a type, escaped; it serves for types
 * that DWARF leaves out.  Returns false, and appends nothing, where no descriptor of Go 1.17 or
 * newer lies (runtime/type.go: _type, and the name at its offset from the symbol runtime.types).
 */
bool program_type_name(const struct program *p, uint64_t descriptor, struct text *out);

/* The value of a constant of Go's runtime, "runtime._KindSpecialFinalizer", from DWARF; false: it is not known. */
bool program_runtime_constant(const struct program *p, const char *name, uint64_t *out);

/* Append the name of what lies at an address: "main.Cache", "main.db.users", "main.leakRecv+0x1c".
 * Returns false when nothing is known there. */
bool program_symbol(const struct program *p, uint64_t address, struct text *out);

#endif
