/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_reader.c - feeds bytes to a reader and to the heap, and holds both to their promises.
 */
#include "fuzz_reader.h"

#include "dump/source/source.h"
#include "promise.h"
#include "whole.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CUTS = 64 };

struct checking_sink {
	struct sink sink; /* first */
	uint64_t owed;    /* references announced and not delivered yet */
	uint64_t n_records, n_references, sum;
	uint64_t words; /* a sum over everything said */
	uint32_t n_handles;
	size_t fed; /* bytes of the source */
	bool memory; /* parts count bytes of memory, of which a core may lack most */
	struct part cuts[MOST_CUTS];
	size_t n_cuts;
	uint64_t last_cut;
	struct err err;
};

/* A classic dump in EBCDIC is translated first, and parts count the translated bytes. */
static uint64_t most_bytes(uint64_t size)
{
	return 8 * size + 64;
}

static void said(struct checking_sink *s, uint64_t word)
{
	s->words = (s->words ^ word) * 0x9E3779B97F4A7C15u + (s->words >> 29);
}

static uint32_t check_class_handle(struct sink *sink, enum class_naming how, uint64_t address,
    const uint8_t *name, size_t n)
{
	struct checking_sink *s = (struct checking_sink *)sink;
	PROMISE(how == CLASS_NAMED ? name != NULL || n == 0 : n == 0 || name != NULL);
	PROMISE(n <= most_bytes(s->fed)); /* the text it comes from, translated, brackets and all */
	for (size_t i = 0; i < n; i++)
		s->words += name[i]; /* every byte may be read */
	(void)address;
	return s->n_handles++;
}

static int check_object(struct sink *sink, const struct object_record *r)
{
	struct checking_sink *s = (struct checking_sink *)sink;
	PROMISE(s->owed == 0);
	PROMISE(r->class_handle < s->n_handles || !s->sink.wants_references || s->n_handles == 0);
	PROMISE(r->kind <= PRIMITIVE_ARRAY);
	PROMISE(r->n_references <= s->fed); /* each takes a byte at least */
	s->owed = s->sink.wants_references ? r->n_references : 0;
	s->n_records++;
	said(s, r->address);
	said(s, r->kind);
	said(s, r->size);
	said(s, r->length);
	said(s, r->n_references);
	return 0;
}

static int check_class_record(struct sink *sink, const struct class_record *r)
{
	struct checking_sink *s = (struct checking_sink *)sink;
	PROMISE(s->owed == 0);
	PROMISE(r->name || !r->name_size);
	PROMISE(r->name_size <= most_bytes(s->fed));
	PROMISE(r->n_references <= s->fed);
	said(s, r->address);
	said(s, r->superclass);
	said(s, r->instance_size);
	for (uint64_t i = 0; i < r->n_references; i++)
		said(s, r->references[i]);
	for (size_t i = 0; i < r->name_size; i++)
		s->sum += r->name[i]; /* every byte may be read; a reader may tell names to the survey alone */
	s->n_records++;
	return 0;
}

static int check_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	struct checking_sink *s = (struct checking_sink *)sink;
	PROMISE(s->sink.wants_references);
	PROMISE(n <= s->owed);
	for (size_t i = 0; i < n; i++)
		s->sum += targets[i];
	s->n_references += n;
	s->owed -= n;
	return 0;
}

static int check_root(struct sink *sink, const struct root_record *r)
{
	PROMISE(!sink->wants_references);
	PROMISE(r->kind < ROOT_KINDS);
	return 0;
}

static int check_thread(struct sink *sink, const struct thread_record *r)
{
	PROMISE(!sink->wants_references);
	PROMISE(r->frames || !r->n_frames);
	return 0;
}

static int check_cut(struct sink *sink, const struct part *here)
{
	struct checking_sink *s = (struct checking_sink *)sink;
	PROMISE(s->owed == 0);
	PROMISE(here->begin >= s->last_cut && (s->memory || here->begin <= most_bytes(s->fed)));
	s->last_cut = here->begin;
	if (s->n_cuts < MOST_CUTS && !s->sink.wants_references)
		s->cuts[s->n_cuts++] = *here;
	return 0;
}

static void check_warn(struct sink *sink, uint64_t offset, const char *format, ...)
{
	struct checking_sink *s = (struct checking_sink *)sink;
	char text[512];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	PROMISE(n > 0 && (offset <= s->fed || offset == NO_OFFSET));
}

static void check_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	(void)unit;
	(void)sink, (void)count;
	PROMISE(what && *what);
}

static void sink_init(struct checking_sink *s, size_t size, bool wants_references)
{
	*s = (struct checking_sink){
		.sink = {
			.wants_references = wants_references,
			.class_handle = check_class_handle,
			.object = check_object,
			.class_record = check_class_record,
			.references = check_references,
			.root = check_root,
			.thread = check_thread,
			.part_begins = check_cut,
			.warn = check_warn,
			.stated = check_stated,
		},
		.fed = size,
	};
	s->sink.err = &s->err;
}

static void read_twice(const struct dump *dump, size_t size)
{
	struct part part;
	PROMISE(dump->reader->parts(dump, 1, &part) == 1);
	bool memory = !strcmp(dump->reader->name, "j9core");
	PROMISE(part.begin <= part.end && (memory || part.end <= most_bytes(size)));
	struct checking_sink survey, fill;
	sink_init(&survey, size, false);
	survey.memory = memory;
	struct err err = ERR_INIT;
	int code = dump->reader->read(dump, &part, &survey.sink, &err);
	if (code < 0)
		check_message(code, &err);
	sink_init(&fill, size, true);
	fill.memory = memory;
	struct err again = ERR_INIT;
	int second = dump->reader->read(dump, &part, &fill.sink, &again);
	PROMISE(second == code);
	PROMISE(fill.owed == 0);
	PROMISE(fill.n_records == survey.n_records);
	PROMISE(fill.words == survey.words || survey.n_handles > fill.n_handles);
	if (code < 0)
		PROMISE(again.offset == err.offset && again.has_offset == err.has_offset);
}

bool fuzz_reader_alone(void)
{
	static int alone = -1;
	if (alone < 0)
		alone = getenv("FUZZ_READER") != NULL;
	return alone;
}

void fuzz_reader_with(const struct reader *reader, const struct dump_options *options, const char *const *only,
    uint64_t *part_bytes, const uint8_t *data, size_t size)
{
	if (size == 0)
		return;
	const struct source source = { .path = "fuzz", .bytes = data, .size = size, .file_size = size };
	struct dump *dump = NULL;
	struct err err = ERR_INIT;
	int code = reader->open(&dump, &source, options, &err);
	if (code < 0) {
		check_message(code, &err);
	} else {
		read_twice(dump, size);
		reader->close(dump);
	}
	if (!fuzz_reader_alone())
		fuzz_whole(reader, options, only, part_bytes, data, size);
}

void fuzz_reader(const struct reader *reader, uint64_t *part_bytes, const uint8_t *data, size_t size)
{
	struct dump_options options = { .no_companion = true };
	fuzz_reader_with(reader, &options, NULL, part_bytes, data, size);
}
