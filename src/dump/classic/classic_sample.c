/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic_sample.c - what the first and the last records tell of the writer.
 *
 * The reader itself is run over the first and the last SAMPLE_BYTES of the text.  Its sink looks at
 * the first SAMPLE_OBJECTS objects, and keeps the addresses of SAMPLE_RECORDS records at most.
 *
 * The old style (J9 2.3 to 2.5) puts the class block of its class in front of each record's
 * references: an address outside the heap, the same for all objects of a type, and never that of a
 * record.  In the newer style primitive arrays have no references, and an object that has some
 * rarely shares the first one with all others of its type.  So only a dump made for it can be taken
 * for the other style.  The class records, which stand at the end, are sampled because the class
 * blocks may be records: then the references to them are real and stay.
 */
#include "dump/classic/classic_dump.h"
#include "dump/token.h"

#include <stdlib.h>

#include "algorithms/sort.h"
#include "base/mem.h"
#include "memory/arena.h"
#include "memory/big.h"

#define SAMPLE_OBJECTS 512
#define SAMPLE_RECORDS 32768 /* addresses kept, at both ends together */
#define SAMPLE_BYTES (1u << 20)
#define ENOUGH_WITHOUT_ARRAYS 16

struct type {
	const uint8_t *name; /* in the text, or in copies */
	size_t size;
	uint64_t first; /* the first reference of its objects; 0: none seen */
	unsigned objects;
};

struct sample {
	struct sink sink; /* first: the reader hands it back */
	struct type types[SAMPLE_OBJECTS];
	size_t n_types;
	struct arena names;
	uint64_t *addresses;
	size_t n_addresses;
	unsigned objects;
	bool addresses_only;
	struct type *current; /* of the object whose references come next; NULL for none */
	bool primitive_array; /* one was seen, with a reference */
	bool contradiction;   /* some object has no first reference, or another than its type's */
};

static uint32_t on_class_handle(struct sink *sink, enum class_naming how, uint64_t address,
    const uint8_t *name, size_t name_size)
{
	struct sample *s = (struct sample *)sink;
	(void)how, (void)address;
	for (size_t i = 0; i < s->n_types; i++) {
		if (s->types[i].size == name_size && !memcmp(s->types[i].name, name, name_size))
			return (uint32_t)i;
	}
	if (s->n_types == SAMPLE_OBJECTS)
		return SAMPLE_OBJECTS;
	s->types[s->n_types] = (struct type){
		.name = arena_copy(&s->names, name, name_size),
		.size = name_size,
	};
	return (uint32_t)s->n_types++;
}

static void keep_address(struct sample *s, uint64_t address)
{
	if (s->n_addresses < SAMPLE_RECORDS)
		s->addresses[s->n_addresses++] = address;
}

static int on_object(struct sink *sink, const struct object_record *record)
{
	struct sample *s = (struct sample *)sink;
	keep_address(s, record->address);
	s->current = NULL;
	if (s->addresses_only)
		return s->n_addresses == SAMPLE_RECORDS ? ERR_CANCELLED : 0;
	if (s->objects == SAMPLE_OBJECTS || record->class_handle == SAMPLE_OBJECTS)
		return ERR_CANCELLED;
	s->objects++;
	if (record->n_references == 0)
		s->contradiction = true;
	else if (record->kind == PRIMITIVE_ARRAY)
		s->primitive_array = true;
	s->current = &s->types[record->class_handle];
	s->current->objects++;
	return 0;
}

static int on_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	struct sample *s = (struct sample *)sink;
	if (!s->current || n == 0)
		return 0;
	if (s->current->first && s->current->first != targets[0])
		s->contradiction = true;
	s->current->first = targets[0];
	s->current = NULL; /* later chunks of the same object do not begin with its first */
	return 0;
}

static int on_class_record(struct sink *sink, const struct class_record *record)
{
	struct sample *s = (struct sample *)sink;
	keep_address(s, record->address);
	return s->n_addresses == SAMPLE_RECORDS ? ERR_CANCELLED : 0;
}

static int on_cut(struct sink *sink, const struct part *here)
{
	(void)sink, (void)here;
	return 0;
}

static void on_warn(struct sink *sink, uint64_t offset, const char *format, ...)
{
	(void)sink, (void)offset, (void)format;
}

static void on_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	(void)sink, (void)what, (void)unit, (void)count;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static bool is_record(const struct sample *s, uint64_t address)
{
	return find_sorted(&address, s->addresses, s->n_addresses, sizeof address,
	    compare_addresses) != NULL;
}

static bool is_old_style(struct sample *s)
{
	if (s->contradiction || s->objects < 2 ||
	    !(s->primitive_array || s->objects >= ENOUGH_WITHOUT_ARRAYS))
		return false;
	sort_array(s->addresses, s->n_addresses, sizeof *s->addresses, compare_addresses);
	for (size_t i = 0; i < s->n_types; i++) {
		if (s->types[i].objects == 0)
			continue;
		if (is_record(s, s->types[i].first))
			return false;
		for (size_t k = 0; k < i; k++) { /* each class has a block of its own */
			if (s->types[k].objects && s->types[k].first == s->types[i].first)
				return false;
		}
	}
	return true;
}

/* The number of digits of the first addresses: c->digits, c->mixed_digits, facts.word_bits. */
static void count_digits(struct classic *c)
{
	const uint8_t *end = c->text + c->size;
	const uint8_t *stop = c->size > SAMPLE_BYTES ? c->text + SAMPLE_BYTES : end;
	const uint8_t *p = c->text + (c->has_bom ? 3 : 0);
	unsigned first = 0, most = 0, seen = 0;
	bool eight = false, sixteen = false, other = false;
	for (; p < stop && seen < SAMPLE_OBJECTS; p = next_line(p, stop)) {
		if (end - p < 2 || !is_prefix(p) || classic_head_at(p, end) != HEAD_GOOD)
			continue;
		unsigned digits = 0;
		for (const uint8_t *q = p + 2; q < end && digits <= 16 && hex_value(*q) >= 0; q++)
			digits++;
		if (digits == 0 || digits > 16)
			continue;
		if (seen++ == 0)
			first = digits;
		most = digits > most ? digits : most;
		eight |= digits == 8;
		sixteen |= digits == 16;
		other |= digits != 8 && digits != 16;
	}
	/* PrintHeapdump does not pad: then the widest address counts, else the first. */
	c->mixed_digits = eight && sixteen && !other;
	if (other)
		first = most;
	c->digits = seen == 0 || first > 8 ? 16 : 8;
	c->dump.facts.word_bits = c->digits * 4;
}

static void run(const struct classic *c, struct sample *sample, uint64_t begin, uint64_t end)
{
	struct err ignored = ERR_INIT;
	/* As if the dump ended with the window: a record that it cuts is not announced. */
	struct classic_scan s = { .c = c, .begin = c->text + begin, .end = c->text + end,
		.at_eof = true, .sink = &sample->sink, .err = &ignored };
	struct part part = { .begin = begin, .end = end };
	if (begin < end)
		classic_scan_run(&s, &part);
}

int classic_sample(struct classic *c, struct err *err)
{
	count_digits(c);
	struct sample *s = xcalloc(1, sizeof *s);
	s->sink = (struct sink){
		.wants_references = true,
		.class_handle = on_class_handle,
		.object = on_object,
		.class_record = on_class_record,
		.references = on_references,
		.part_begins = on_cut,
		.warn = on_warn,
		.stated = on_stated,
		.err = err,
	};
	s->addresses = big_alloc(SAMPLE_RECORDS, sizeof *s->addresses, err);
	if (!s->addresses) {
		free(s);
		return ERR_NOMEM;
	}
	uint64_t window = c->size < SAMPLE_BYTES ? c->size : SAMPLE_BYTES;
	run(c, s, c->has_bom ? 3 : 0, window);
	s->addresses_only = true;
	run(c, s, classic_snap(c, c->size - window), c->size);
	c->old_style = is_old_style(s);
	arena_release(&s->names);
	big_free(s->addresses);
	free(s);
	return 0;
}
