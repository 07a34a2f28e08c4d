/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_rename.h - other names for the symbols of a program in a copy of its dump; private to this folder.
 *
 * A symbol is one UTF8 record, which may name several things.  It keeps its bytes if one of them is known (a class of
 * the class library, what such a class declares), for tools look for those by name; else a letter and a number stand
 * for it: C17 a class (com/acme/Order and [Lcom/acme/Order; the same), F a field, M a method, S17.java a source file.
 */
#ifndef CAIRN_DUMP_HPROF_HPROF_RENAME_H
#define CAIRN_DUMP_HPROF_HPROF_RENAME_H

#include "dump/hprof/hprof_dump.h"

enum symbol_kind { SYMBOL_CLASS, SYMBOL_FIELD, SYMBOL_METHOD, SYMBOL_SIGNATURE, SYMBOL_SOURCE, SYMBOL_KINDS };

struct renaming {
	const struct redaction *wanted;
	struct idmap symbols; /* UTF8 records that are names -> what they name first, and whether they are known */
	struct idmap numbers; /* hash of a class's name without brackets -> its number */
	uint32_t count[SYMBOL_KINDS];
	struct text word;     /* what renaming_of returned last */
};

void renaming_release(struct renaming *r);
/* Is this class's name, in the VM's spelling, public?  Without renaming each is. */
bool renaming_knows(const struct renaming *r, const uint8_t *name, size_t n);
/* A symbol names something, which is known or not.  0 or ERR_NOMEM. */
MUST_CHECK int renaming_note(struct renaming *r, uint64_t symbol, enum symbol_kind kind, bool known, struct err *err);
/* Does the symbol name anything? */
bool renaming_named(const struct renaming *r, uint64_t symbol);
/* The bytes that stand for those of a symbol, which may be these; of others the map gets a line.  *n is the number of
 * bytes, before and after.  NULL: ERR_NOMEM. */
const uint8_t *renaming_of(struct renaming *r, uint64_t symbol, const uint8_t *bytes, size_t *n, struct err *err);

#endif
