/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inspect.h - tables of what an object holds: its fields, elements, bytes, entries. */
#ifndef CAIRN_COMMAND_INSPECT_H
#define CAIRN_COMMAND_INSPECT_H

#include "command/result.h"
#include "heap/value.h"

/* Fields, or elements start … start + length - 1 of an array, by name, type and value. */
struct result *inspect_values(const struct values *v, const char *title, uint64_t start,
    uint64_t length);

/* The bytes of a primitive array as the dump has them, 16 a row, in hexadecimal and as text. */
struct result *inspect_bytes(const struct values *v, const char *title, uint64_t start,
    uint64_t length);

/* Index, key and value of what a collection contains.  0, ERR_NOT_FOUND, ERR_UNSUPPORTED, ERR_NOMEM. */
int inspect_entries(struct result **out, const struct heap *h, uint32_t id, const char *title,
    uint64_t start, uint64_t length, struct err *err);

/* Add size, capacity and fill to the head of what is a collection. */
void inspect_size(struct result *r, const struct heap *h, uint32_t id);

#endif
