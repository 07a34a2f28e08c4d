/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - the executable that wrote a dump: its symbols, types, variables and functions.
 *
 * ELF and DWARF are decoded by elfutils (libelf, libdw); without them program_open says so.  An
 * executable is as hostile as a dump: what elfutils gives is checked and capped here.
 *
 * Call order: program_open, program_check against what the dump knows, then the rest.  All addresses
 * in and out are those of the dump: program_check finds by how much the program was moved.
 *
 * One thread at a time.
 */
#ifndef CAIRN_DUMP_PROGRAM_PROGRAM_H
#define CAIRN_DUMP_PROGRAM_PROGRAM_H

#include "base/err.h"
#include "base/text.h"
#include "dump/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program;

struct program_section {
	uint64_t address, size; /* size 0: there is none */
};

/* What a dump knows of the program that wrote it. */
struct program_match {
	const char *arch; /* as Go calls it: "amd64"; NULL or "": unknown */
	unsigned word;    /* bytes of a pointer */
	bool big_endian;
	struct program_section data, bss; /* as they lay in memory */
};

/* A variable of the program's own, by DWARF. */
struct program_variable {
	const char *name;  /* "main.Cache", escaped */
	uint64_t address;
	uint32_t type;     /* index in the program's types */
};

/* A parameter or local variable of a function that is in memory at some pc. */
struct program_local {
	const char *name;
	uint32_t type;
	uint64_t first;    /* of a variable kept in pieces: the byte of it that this piece begins with */
	uint64_t size;     /* bytes of the piece; the type's size for a whole one */
	int64_t offset;    /* bytes from the canonical frame address: the caller's stack pointer */
	bool parameter;
};

/* "libdw 0.188", or NULL where cairn was built without it. */
const char *program_support(void);

/*
 * Read an executable.  ERR_UNSUPPORTED without libdw, ERR_IO, ERR_FORMAT: no ELF executable.  One
 * without symbols or without DWARF is fine and has fewer of the things below.
 */
MUST_CHECK int program_open(struct program **out, const char *path, struct err *err);
void program_close(struct program *p); /* NULL is fine */

/*
 * Did this program write the dump?  Machine, byte order, pointer size and the lengths of its data
 * and bss must be the dump's.  ERR_NOT_FOUND with what differs; 0 also settles where it was loaded.
 */
MUST_CHECK int program_check(struct program *p, const struct program_match *dump, struct err *err);

const char *program_path(const struct program *p);
bool program_has_symbols(const struct program *p);
bool program_has_types(const struct program *p); /* DWARF */
/* What it lacks, in words ("it was stripped: …"), or NULL. */
const char *program_lacks(const struct program *p);

const struct types *program_types(const struct program *p); /* n 0 without DWARF */
/* All variables with a type in ascending order of address; borrowed. */
const struct program_variable *program_variables(const struct program *p, size_t *n);
/* The variable that this address lies in, or what it was told of (program_tell_statics), or NULL. */
const struct program_variable *program_variable_at(const struct program *p, uint64_t address);

/*
 * Memory of the program's own that has no name and that variables lead to, such as T in
 * "var x = &T{...}": from then on program_variable_at and program_symbol know it.  Copied; in any
 * order; of two that overlap the one that begins first is kept, then the larger.  Once; other threads
 * may be asking meanwhile.
 */
void program_tell_statics(struct program *p, const struct program_variable *all, size_t n);
/* Append what lies at an offset of a value: ".users", "[3].name"; returns what is left of it. */
uint64_t program_path_in(const struct program *p, uint32_t type, uint64_t offset, struct text *out);

/* The function that contains a pc: its name, and a number below program_n_functions that stands
 * for it; NULL when there is none. */
const char *program_function_at(const struct program *p, uint64_t pc, uint32_t *number);
uint32_t program_n_functions(const struct program *p);
const char *program_function_name(const struct program *p, uint32_t number);
/* Where a function begins. */
uint64_t program_function_entry(const struct program *p, uint32_t number);

/* The variables in memory at pc (of a call: the return address less 1), inlined functions' too.
 * Borrowed until the next call; 0 and n = 0 where nothing is known. */
const struct program_local *program_locals(struct program *p, uint64_t pc, size_t *n);

/* Bytes of the file that lie at an address in memory that the program cannot write to (texts of
 * literals), and how many there are; NULL: none do. */
const uint8_t *program_constant(const struct program *p, uint64_t address, uint64_t *n);

/*
 * The name in the run-time descriptor of a type, for types that DWARF leaves out: appended, escaped.
 * False where there is no descriptor of Go 1.17 or newer (runtime/type.go: _type, and the name at its
 * offset from the symbol runtime.types).
 */
bool program_type_name(const struct program *p, uint64_t descriptor, struct text *out);

/* "main.Cache", "main.db.users", "main.leakRecv+0x1c": false when nothing is there. */
bool program_symbol(const struct program *p, uint64_t address, struct text *out);

#endif
