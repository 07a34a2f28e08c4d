/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inspect.h - tables of what an object holds: its fields, elements, bytes, entries. */
#ifndef CAIRN_COMMAND_LOOK_INSPECT_H
#define CAIRN_COMMAND_LOOK_INSPECT_H

#include "result/result.h"
#include "heap/typed.h"
#include "heap/value.h"

/* Fields, or elements start … start + length - 1 of an array, by name, type and value. */
struct result *inspect_values(const struct opened *o, const struct values *v, const char *title, uint64_t start,
    uint64_t length);

/* The same of an object that is memory: fields of its type, nested ones by their path, elements, or
 * words where it has none.  0 or ERR_NOMEM. */
int inspect_typed(struct result **out, const struct opened *dump, const struct typed_object *o, const char *title,
    uint64_t start, uint64_t length, struct err *err);
/* n bytes as the dump has them, from byte start on, 16 a row. */
struct result *inspect_memory(const struct opened *o, const char *title, const uint8_t *bytes,
    uint64_t start, uint64_t n);

/* The bytes of a primitive array as the dump has them, 16 a row, in hexadecimal and as text. */
struct result *inspect_bytes(const struct opened *o, const struct values *v, const char *title, uint64_t start,
    uint64_t length);

/* Index, key and value of what a collection contains.  0, ERR_NOT_FOUND, ERR_UNSUPPORTED, ERR_NOMEM. */
int inspect_entries(struct result **out, const struct opened *o, uint32_t id, const char *title,
    uint64_t start, uint64_t length, struct err *err);

/* Rows of entries, with these columns; key only of maps.  Takes data over. */
enum { E_INDEX, E_KEY, E_VALUE, E_KEY_CLASS, E_VALUE_CLASS, E_KEY_ADDRESS, E_ADDRESS };
struct result *inspect_entry_result(const struct opened *o, const char *title,
    const struct result_ops *ops, void *data, size_t n, bool map);

/* The same of what was just opened, which is read to its end or to the entries wanted. */
struct result *inspect_typed_entries(const struct opened *o,
    struct typed_contents *c, const char *title, uint64_t start, uint64_t length);
/* Contents of an object; of an array that is known by a single slice those of the slice, and *note
 * says so (else NULL).  0 or ERR_NOT_FOUND. */
int inspect_typed_open(struct typed_contents *c, const struct heap *h, uint32_t id,
    struct text *note, struct err *err);
void inspect_typed_size(struct result *r, const struct heap *h, uint32_t id);

/* Add size, capacity and fill to the head of what is a collection. */
void inspect_size(struct result *r, const struct heap *h, uint32_t id);

#endif
