/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dumprecords.c - what a reader says of a dump, one line per record; a tool for tests.
 *
 *   C 0xADDRESS super=0xADDRESS isize=N name=NAME refs=N: 0x… 0x…
 *   O 0xADDRESS class=0xADDRESS size=N refs=N: …
 *   A 0xADDRESS class=0xADDRESS how=at|array-of|component len=N size=N refs=N: …
 *   P 0xADDRESS type=[C len=N size=N
 *   W OFFSET text          S what count          (to the error output)
 *
 * "-" stands for unknown.  -s: the survey pass (no references of objects).  -p BYTES: survey with
 * cuts that far apart, then read every part between two cuts on its own.  -w N: in up to N parts, for
 * readers that divide a dump without a survey.  -h: with hash=N in decimal before refs or at the end,
 * where a record holds one.  -n: print nothing but the time.  Exit status as cairn's: 0, 3 not readable,
 * 4 read in part, 2 usage.
 */
#include "base/mem.h"
#include "base/text.h"
#include "dump/phd/phd_dump.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct handle {
	enum class_naming how;
	uint64_t address;
	char *name;
};

struct printer {
	struct sink sink;
	bool quiet, keep_cuts, hashes;
	bool open_line;
	uint64_t owed; /* references still to come */
	uint64_t n_records, n_references;
	struct handle *handles;
	uint32_t n_handles, cap_handles;
	struct part *cuts;
	size_t n_cuts, cap_cuts;
};

static void end_line(struct printer *p)
{
	if (p->owed) {
		fprintf(stderr, "E %" PRIu64 " references were announced and never delivered\n", p->owed);
		exit(1);
	}
	if (p->open_line)
		putchar('\n');
	p->open_line = false;
}

static void print_number(const char *key, uint64_t n)
{
	if (n == UINT64_MAX)
		printf(" %s=-", key);
	else
		printf(" %s=%" PRIu64, key, n);
}

static uint32_t on_class_handle(struct sink *sink, enum class_naming how, uint64_t address,
    const uint8_t *name, size_t name_size)
{
	struct printer *p = (struct printer *)sink;
	struct text text = TEXT_INIT;
	if (name)
		text_add_modified_utf8(&text, name, name_size);
	struct handle h = { how, address, name ? text_take(&text) : NULL };

	VEC_PUSH(p->handles, p->n_handles, p->cap_handles) = h;
	return p->n_handles - 1;
}

static int on_object(struct sink *sink, const struct object_record *r)
{
	static const char *const how[] = { "at", "array-of", "component", "named" };
	struct printer *p = (struct printer *)sink;

	p->n_records++;
	p->n_references += r->n_references;
	if (p->quiet)
		return 0;
	end_line(p);
	if (r->class_handle >= p->n_handles) {
		fprintf(stderr, "E a class handle that was never given\n");
		exit(1);
	}
	const struct handle *h = &p->handles[r->class_handle];
	printf("%c 0x%" PRIx64, "OAP"[r->kind], r->address);
	if (h->name)
		printf(" type=%s", h->name);
	else
		printf(" class=0x%" PRIx64, h->address);
	if (r->kind == OBJECT_ARRAY)
		printf(" how=%s", how[h->how]);
	if (r->kind != OBJECT_INSTANCE)
		print_number("len", r->length);
	print_number("size", r->size);
	if (p->hashes && r->hashed)
		printf(" hash=%" PRId32, (int32_t)r->hash);
	if (r->kind != PRIMITIVE_ARRAY)
		printf(" refs=%" PRIu64 ":", r->n_references);
	p->owed = p->sink.wants_references ? r->n_references : 0;
	p->open_line = true;
	return 0;
}

static int on_class_record(struct sink *sink, const struct class_record *r)
{
	struct printer *p = (struct printer *)sink;

	p->n_records++;
	p->n_references += r->n_references;
	if (p->quiet)
		return 0;
	end_line(p);
	struct text name = TEXT_INIT;
	text_add_modified_utf8(&name, r->name, r->name_size);
	printf("C 0x%" PRIx64 " super=0x%" PRIx64, r->address, r->superclass);
	print_number("isize", r->instance_size);
	if (p->hashes && r->hashed)
		printf(" hash=%" PRId32, (int32_t)r->hash);
	printf(" name=%s refs=%" PRIu64 ":", name.s ? name.s : "", r->n_references);
	text_release(&name);
	for (uint64_t i = 0; i < r->n_references; i++)
		printf(" 0x%" PRIx64, r->references[i]);
	p->owed = 0;
	p->open_line = true;
	return 0;
}

static int on_references(struct sink *sink, const uint64_t *targets, size_t n)
{
	struct printer *p = (struct printer *)sink;

	if (p->quiet)
		return 0;
	if (n > p->owed) {
		fprintf(stderr, "E more references than were announced\n");
		exit(1);
	}
	p->owed -= n;
	for (size_t i = 0; i < n; i++)
		printf(" 0x%" PRIx64, targets[i]);
	return 0;
}

static int on_cut(struct sink *sink, const struct part *here)
{
	struct printer *p = (struct printer *)sink;

	if (p->keep_cuts)
		VEC_PUSH(p->cuts, p->n_cuts, p->cap_cuts) = *here;
	return 0;
}

__attribute__((format(printf, 3, 4))) static void on_warn(struct sink *sink, uint64_t offset,
    const char *format, ...)
{
	va_list args;

	if (((struct printer *)sink)->keep_cuts)
		return; /* they come again with the parts */
	fprintf(stderr, "W %" PRIu64 " ", offset);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static void on_stated(struct sink *sink, const char *what, enum stated_unit unit, uint64_t count)
{
	(void)unit;
	if (!((struct printer *)sink)->keep_cuts)
		fprintf(stderr, "S %s %" PRIu64 "\n", what, count);
}

static struct printer printer_make(struct err *err, bool references)
{
	return (struct printer){
		.sink = {
			.wants_references = references,
			.class_handle = on_class_handle,
			.object = on_object,
			.class_record = on_class_record,
			.references = on_references,
			.part_begins = on_cut,
			.warn = on_warn,
			.stated = on_stated,
			.err = err,
		},
	};
}

static void printer_release(struct printer *p)
{
	for (uint32_t i = 0; i < p->n_handles; i++)
		free(p->handles[i].name);
	free(p->handles);
	free(p->cuts);
}

static bool print_hashes;

static int read_part(const struct dump *dump, const struct part *part, bool references, bool quiet,
    struct err *err)
{
	struct printer p = printer_make(err, references);
	struct timespec begin, end;

	p.quiet = quiet;
	p.hashes = print_hashes;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	int result = dump->reader->read(dump, part, &p.sink, err);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end_line(&p);
	if (quiet)
		printf("%" PRIu64 " records, %" PRIu64 " references, %.3f s\n", p.n_records,
		    p.n_references, (double)(end.tv_sec - begin.tv_sec) +
			1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
	printer_release(&p);
	return result;
}

/* Survey the parts for cuts, then read what lies between two of them, each with a sink of its own. */
static int read_by_cuts(const struct dump *dump, const struct part *part, struct err *err)
{
	struct printer survey = printer_make(err, false);

	survey.quiet = survey.keep_cuts = true;
	VEC_PUSH(survey.cuts, survey.n_cuts, survey.cap_cuts) = *part;
	int result = dump->reader->read(dump, part, &survey.sink, err);
	for (size_t i = 0; i < survey.n_cuts; i++) {
		struct part one = survey.cuts[i];
		one.end = i + 1 < survey.n_cuts ? survey.cuts[i + 1].begin : part->end;
		result = read_part(dump, &one, true, false, err);
		if (result < 0)
			break;
	}
	fprintf(stderr, "S parts %zu\n", survey.n_cuts);
	printer_release(&survey);
	return result;
}

#define MOST_PARTS 64

int main(int argc, char **argv)
{
	bool survey = false, quiet = false, by_cuts = false;
	struct err err = ERR_INIT;
	uint64_t want = 1;
	int option;

	while ((option = getopt(argc, argv, "hsnp:w:")) != -1) {
		if (option == 's')
			survey = true;
		else if (option == 'h')
			print_hashes = true;
		else if (option == 'n')
			quiet = true;
		else if (option == 'p' && parse_size(optarg, &phd_part_bytes))
			by_cuts = true;
		else if (option == 'w' && parse_size(optarg, &want) && want && want <= MOST_PARTS)
			continue;
		else
			return 2;
	}
	if (optind + 1 != argc)
		return 2;
	struct source *source;
	struct dump *dump = NULL;
	struct dump_options options = { .no_companion = true };
	if (source_open(&source, argv[optind], NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 3;
	}
	if (source->remark[0])
		fprintf(stderr, "G %d %s\n", source->truncated, source->remark);
	if (dump_open(&dump, source, &options, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		source_close(source);
		return 3;
	}
	const struct dump_facts *f = &dump->facts;
	fprintf(stderr, "F %s %s %u-bit %s created=%s least=%u %s\n", f->format, f->version, f->word_bits,
	    f->big_endian ? "big" : "little", f->created, f->minimum_object_size, f->vm);
	struct part parts[MOST_PARTS];
	unsigned n_parts = dump->reader->parts(dump, (unsigned)want, parts);
	int result = 0;
	for (unsigned i = 0; i < n_parts && result >= 0; i++)
		result = by_cuts ? read_by_cuts(dump, &parts[i], &err)
				 : read_part(dump, &parts[i], !survey, quiet, &err);
	if (result < 0)
		fprintf(stderr, "X %d %" PRIu64 " %s\n", result, err.offset, err.message);
	dump_close(dump);
	source_close(source);
	return result < 0 ? 4 : 0;
}
