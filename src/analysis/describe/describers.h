/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describers.h - Java objects in a few words: the table of classes (describers.c) and its functions.
 *
 * A class that is not in the table is described as its nearest superclass that is.  To add a
 * class, add a line to the table, and a function here if none fits.
 *
 * A describer reads the fields of d->values, looked up from the class of its line on.  It appends to
 * d->to and returns true, or appends nothing and returns false.  It never follows a chain of objects
 * itself: it leaves the one object whose description comes next in d->then.  Any thread.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_DESCRIBERS_H
#define CAIRN_ANALYSIS_DESCRIBE_DESCRIBERS_H

#include "base/text.h"

#include <stdint.h>

struct value;

struct description {
	const struct heap *heap;
	const struct values *values;
	const char *fields; /* from the table: names, tried in turn: "path|value" */
	uint64_t limit;     /* characters of text */
	struct text *to;
	uint32_t then;      /* to be described behind what was appended; HEAP_NONE: nothing */
	const char *close;  /* appended after that */
};

typedef bool describer(struct description *d);

/* What describe_object and describe_knows_class (describe.h) promise, of objects with fields. */
bool describe_instance(const struct heap *h, uint32_t id, uint64_t limit, struct text *to);
bool describers_know_class(const struct heap *h, uint32_t class);
/* Append a value: a number as Java prints it, 'c', true, null, an object's description or else its
 * address. */
void describe_value(const struct heap *h, const struct value *v, uint64_t limit, struct text *to);

/* The next of names between '|', cut to fit; false: no more. */
bool next_name(const char **names, char name[64]);

/* The first of some fields (by their names, between '|'; "table.array": of the object in a field; "array[0]": an
 * element of the array there) that the object has. */
bool description_field(const struct values *v, const char *names, struct value *out);
/* The object in a field, opened; false where it is null or missing. */
bool description_object(const struct values *v, const char *names, struct values *out);
/* A number in a field; false where it is missing or a reference. */
bool description_number(const struct values *v, const char *name, int64_t *out);

/* sum plus the numbers in the cells of this field, where contending threads count (Striped64,
 * ConcurrentHashMap). */
int64_t description_add_cells(const struct values *v, const char *field, int64_t sum);

/* describers.c */
describer describe_field, describe_wrapped, describe_optional, describe_referent, describe_flag;
/* describe_text.c */
describer describe_string, describe_text, describe_builder, describe_class, describe_member,
    describe_locale, describe_url, describe_frame, describe_path, describe_inet;
/* describe_number.c */
describer describe_big_integer, describe_big_decimal, describe_uuid, describe_adder, describe_buffer,
    describe_bits;
/* describe_time.c */
describer describe_date, describe_instant, describe_local_date, describe_local_time,
    describe_date_time, describe_duration;

/* "2026-11-21T09:12:40.250Z"; false: of no year that a calendar has. */
bool describe_add_instant(struct text *to, int64_t seconds, uint32_t nano);
/* Numbers as Java's toString has them. */
void add_double(struct text *to, double d);
void add_float(struct text *to, float f);
void add_char(struct text *to, uint32_t unit); /* 'a', in quotation marks */

#endif
