/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.h - objects that are memory, for the inspector in memory.c: their values in words
 * (memory_text.c), the names of their references (memory_names.c) and the fields that they share
 * (memory_fields.c).
 *
 * Values are printed as the language of the program would print them:
 *
 *     true  -3  0.5  "text"  nil  0xc000012340+16  {ID: 7, Name: "x"}  [1, 2, 3]  len 3 cap 4 [1, 2, 3]
 *     len 5 (map)  len 5 cap 8 (channel)  *main.Mail 0xc000012340 (interface)  main.work.func1 (func)
 *
 * A pointer into an object is written as that object's address and the offset.  All text is escaped;
 * clipped text ends in "…".  Any thread.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_MEMORY_H
#define CAIRN_ANALYSIS_DESCRIBE_MEMORY_H

#include "analysis/describe/inspector.h"

/* Append a value, about `limit` characters of it.  A pointer is followed by what it leads to. */
void typed_add(const struct typed *v, uint64_t limit, struct text *to);
/* Append what an object holds; without a type the text that it may be.  False: there is nothing to say,
 * and nothing was appended. */
bool typed_add_object(const struct heap *h, uint32_t id, uint64_t limit, struct text *to);
/* Append an address: "nil", "0x…", "0x…+16"; of what is outside of the heap its name, if it has one. */
void typed_add_address(const struct heap *h, uint64_t address, struct text *to);
/* Append bytes in quotation marks if they look like a text.  False: they do not. */
bool typed_add_text(const uint8_t *bytes, uint64_t n, uint64_t limit, struct text *to);

/* Each does what inspector.h says of the function of the same name. */
void memory_names_begin(struct reference_names *n, const struct heap *h, uint32_t holder);
bool memory_names_next(struct reference_names *n, uint32_t target, struct text *to);
bool memory_names_any(struct reference_names *n, uint32_t *target, uint64_t *place);
/* A place in a bucket of a map: append how it is called by its key.  False: it is none. */
bool memory_add_entry(const struct typed_object *o, uint64_t offset, struct text *to);
void memory_name_at(struct reference_names *n, uint64_t place, uint32_t target, struct text *to);
MUST_CHECK int memory_named_of_class(struct named_references *n, const struct heap *h,
    uint32_t class, struct err *err);
MUST_CHECK int memory_named_of_object(struct named_references *n, const struct heap *h,
    uint32_t holder, struct err *err);

/* memory_numbers.c */
MUST_CHECK int memory_plan(struct number_plan *p, struct err *err);
MUST_CHECK int memory_find_number(struct number_finder *f, uint32_t id, struct err *err);
void memory_number_place(const struct heap *h, uint32_t id, uint64_t place, struct text *to);

/* memory_text.c */
bool memory_string(const struct any_value *v, struct text *to);

/* memory_fields.c */
bool memory_number(const struct any_value *v, struct number *out);
MUST_CHECK int memory_fields(struct shared_fields **out, const struct heap *h, const uint32_t *ids,
    size_t n, struct err *err);
void memory_field_named(const struct shared_fields *f, size_t i, struct shared_field *out);
bool memory_field_value(const struct shared_fields *f, struct fields_walk *w, uint32_t id,
    size_t i, struct any_value *out);
void memory_fields_close(struct shared_fields *f);

#endif
