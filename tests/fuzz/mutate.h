/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mutate.h - a mutator that knows where the records and fields of a format lie.
 *
 * A format (mutate_FORMAT.c) says so in layout_of, for any bytes, as far as it understands them.  The
 * mutator (mutate.c) then changes structure: records are repeated, dropped, moved, swapped, taken from
 * another input; fields get numbers that are worth a try, or those of other fields; lengths around what
 * changed mostly follow.  Everything that happens is decided by the seed.
 */
#ifndef CAIRN_TESTS_MUTATE_H
#define CAIRN_TESTS_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum encoding { BIG_ENDIAN_NUMBER, LITTLE_ENDIAN_NUMBER, VARINT, HEX_DIGITS, DECIMAL_DIGITS };

/* What a field's number means: one is exchanged for another of the same meaning. */
enum meaning { MEANS_ID, MEANS_COUNT, MEANS_LENGTH, MEANS_TAG, MEANS_OTHER, MEANINGS };

struct record {
	size_t begin, end;
	unsigned level; /* 1: inside of a record of level 0 */
};

struct field {
	size_t begin, end;
	enum encoding encoding;
	enum meaning meaning;
	size_t counted_begin, counted_end; /* of a length: the bytes that it counts; else both 0 */
};

enum { MOST_RECORDS = 1 << 14, MOST_FIELDS = 1 << 16 };

struct layout {
	struct record record[MOST_RECORDS];
	struct field field[MOST_FIELDS];
	size_t n_records, n_fields;
};

/* Say what lies in data; what is beyond the most is left out. */
void layout_of(const uint8_t *data, size_t size, struct layout *to);

/* For layout_of.  A field that does not lie within end is left out: then false. */
void layout_record(struct layout *to, size_t begin, size_t end, unsigned level);
bool layout_field(struct layout *to, size_t begin, size_t end, enum encoding encoding,
    enum meaning meaning);
/* The last field is a length that counts these bytes. */
void layout_counts(struct layout *to, size_t begin, size_t end);

/* The number of a field. */
uint64_t field_number(const uint8_t *data, const struct field *f);

/* What libFuzzer calls; the replay programs call them, too. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t n_one, const uint8_t *other, size_t n_other,
    uint8_t *out, size_t most, unsigned seed);
/* libFuzzer's own; replay.c has one that does less. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

#endif
