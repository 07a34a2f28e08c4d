/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * describers.h - the functions behind the table of describe.c.
 *
 * To teach cairn a class: a line in the table, and where no function here says it yet, one more.
 * A describer reads the fields of d->values (looked up from the class of its line on), appends to
 * d->to and returns true; or returns false and has appended nothing.  It never follows a chain of
 * objects itself: the one object whose description comes next is left in d->then.
 */
#ifndef CAIRN_ANALYSIS_DESCRIBE_DESCRIBERS_H
#define CAIRN_ANALYSIS_DESCRIBE_DESCRIBERS_H

#include "base/text.h"
#include "heap/string.h"

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

/* The next of names between '|', cut to fit; false: no more. */
bool next_name(const char **names, char name[64]);

/* The first of some fields (by their names, between '|') that the object has. */
bool description_field(const struct values *v, const char *names, struct value *out);
/* The object in a field, opened; false where it is null or missing. */
bool description_object(const struct values *v, const char *names, struct values *out);
/* A number in a field; false where it is missing or a reference. */
bool description_number(const struct values *v, const char *name, int64_t *out);

/* sum and what stands in the cells beside it, where threads met (Striped64, ConcurrentHashMap). */
int64_t description_add_cells(const struct values *v, const char *field, int64_t sum);

/* describe.c */
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

/* Numbers as Java's toString has them. */
void add_double(struct text *to, double d);
void add_float(struct text *to, float f);
void add_char(struct text *to, uint32_t unit); /* 'a', in quotation marks */

#endif
