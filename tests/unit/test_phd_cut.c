/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_phd_cut.c - PHD dumps that end anywhere, have any byte wrong, are read in parts or are left off.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "bytes.h"
#include "dump/registry.h"
#include "guarded.h"
#include "phd_bytes.h"

static const char every_kind[] =
    "04 81 3FEBC210 00000000FFAF0740 00000001 06"
    "5B 01 00000000FFAF0750 0000000000000001 0000000000000002 0000000000000003"
    "24 06 2E 0000001A"
    "88 1A 06"
    "07 B2 0000000000000001 0000000000000100 CAFEBABE 00000084"
    "2F 0000000000000001 0000000000000100 00000084"
    "08 13 18 00000000FFAF0740 DEADBEEF 00000003 BFD0 BFBE BFB4 00000003 00000006"
    "05 11 18 00000000FFAF0740 00000003 BFD0 BFBE BFB4 00000006"
    "BA 01 00000001 00000002 00000003"
    "06 28 F0 00000020 A046CCE3 00000000FFAF17A8 <java/io/IOException> 00000005"
    "FFF501E6 FFF501E6 FFF4B2AC FFF4B7B6 FFF4B816" END;

static void cut_anywhere(void **state)
{
	struct text bytes = TEXT_INIT;
	struct phd_reading whole, part;
	unsigned boundaries = 0;
	uint64_t last_start = 0;

	(void)state;
	add_hex(&bytes, MAGIC V6_64);
	size_t body = bytes.len;
	add_hex(&bytes, every_kind);
	read_phd(&whole, bytes.s, bytes.len, true);
	assert_int_equal(whole.result, 0);
	assert_int_equal(whole.r.n_warnings, 0);
	for (size_t n = 1; n < bytes.len; n++) {
		read_phd(&part, bytes.s, n, n & 1);
		if (n < body) {
			assert_int_equal(part.opened, ERR_TRUNCATED);
			assert_int_equal(part.err.offset, n);
		} else if (part.err.offset == n) { /* between two records */
			assert_int_equal(part.result, ERR_TRUNCATED);
			boundaries++;
			last_start = n;
		} else {
			assert_int_equal(part.result, ERR_TRUNCATED);
			assert_int_equal(part.err.offset, last_start);
		}
		if (n & 1) /* what came before stands, as it was */
			assert_memory_equal(part.r.events.s, whole.r.events.s, part.r.events.len);
		release_phd(&part);
	}
	assert_int_equal(boundaries, 11); /* before each of the ten records and before the end mark */
	release_phd(&whole);
	text_release(&bytes);
}

/* Every byte set to every value: nothing may be read outside, nothing may hang. */
static void every_byte_wrong(void **state)
{
	struct text bytes = TEXT_INIT;
	struct phd_reading r;

	(void)state;
	add_hex(&bytes, MAGIC V6_64);
	add_hex(&bytes, every_kind);
	for (size_t i = 0; i < bytes.len; i++) {
		char good = bytes.s[i];
		for (unsigned v = 0; v < 256; v += i < 40 ? 1 : 5) {
			bytes.s[i] = (char)v;
			read_phd(&r, bytes.s, bytes.len, v & 1);
			if (r.opened == 0 && r.result < 0)
				assert_true(r.err.has_offset && r.err.offset <= bytes.len);
			release_phd(&r);
		}
		bytes.s[i] = good;
	}
	text_release(&bytes);
}

/* Parts read on their own, from any cut, say together what one reading says. */
static void parts_alone(void **state)
{
	struct text bytes = TEXT_INIT, joined = TEXT_INIT;
	struct phd_reading whole;
	struct guarded f;
	struct dump *dump;
	struct part all;
	struct err err = ERR_INIT;
	struct dump_options options = { .no_companion = true };

	(void)state;
	add_hex(&bytes, MAGIC V6_64);
	for (int i = 0; i < 20; i++) {
		add_hex(&bytes, every_kind);
		bytes.len--; /* no end mark in the middle */
		add_hex(&bytes, "40 02 0000000000001000 40 02 0000000000002000 80 01 E0 02 24 01 00 00000018");
	}
	add_hex(&bytes, END);
	read_phd(&whole, bytes.s, bytes.len, true);
	assert_int_equal(whole.result, 0);

	phd_part_bytes = 1; /* a cut at every record */
	guard(&f, PATH, bytes.s, bytes.len);
	assert_int_equal(phd_reader.open(&dump, &f.source, &options, &err), 0);
	assert_int_equal(phd_reader.parts(dump, 1, &all), 1);
	struct recorder survey;
	recorder_init(&survey, &phd_lines, false);
	assert_int_equal(phd_reader.read(dump, &all, &survey.sink, &err), 0);
	assert_true(survey.n_cuts > 250);
	text_clear(&joined);
	unsigned n_warnings = 0;
	for (unsigned i = 0; i <= survey.n_cuts; i++) {
		struct part part = i ? survey.cuts[i - 1] : all;
		part.end = i < survey.n_cuts ? survey.cuts[i].begin : all.end;
		struct recorder r;
		recorder_init(&r, &phd_lines, true);
		assert_int_equal(phd_reader.read(dump, &part, &r.sink, &err), 0);
		text_add(&joined, r.events.s);
		n_warnings += r.n_warnings;
		recorder_release(&r);
	}
	phd_part_bytes = PART_BYTES;
	assert_string_equal(joined.s, whole.r.events.s);
	assert_int_equal(n_warnings, 0); /* other lengths are above 3: jdmpview did not write them */
	assert_int_equal(whole.r.n_warnings, 0);
	phd_reader.close(dump);
	recorder_release(&survey);
	release_phd(&whole);
	guarded_release(&f);
	text_release(&joined);
	text_release(&bytes);
}

/* The file is cut short while it is mapped: what was there is told, then why nothing follows. */
static void file_shrinks(void **state)
{
	char path[] = "/tmp/cairn-test-XXXXXX";
	struct text bytes = TEXT_INIT;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	add_hex(&bytes, MAGIC V6_32);
	size_t body = bytes.len;
	while (bytes.len < 10 * page)
		add_hex(&bytes, "40 01 00001000");
	add_hex(&bytes, END);
	for (int references = 0; references < 2; references++) {
		struct source *source;
		struct dump *dump;
		struct part all;
		struct err err = ERR_INIT;
		struct dump_options options = { .no_companion = true };
		struct recorder r;
		memcpy(path + sizeof path - 7, "XXXXXX", 6);
		int fd = mkstemp(path);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, bytes.s, bytes.len), bytes.len);
		assert_int_equal(source_open(&source, path, NULL, &err), 0);
		assert_int_equal(dump_open(&dump, source, &options, &err), 0);
		assert_int_equal(ftruncate(fd, (off_t)(body + 6 * 2000)), 0);
		close(fd);
		unlink(path);
		phd_reader.parts(dump, 1, &all);
		recorder_init(&r, &phd_lines, references);
		assert_int_equal(phd_reader.read(dump, &all, &r.sink, &err), ERR_TRUNCATED);
		assert_int_equal(err.offset, body + 6 * 2000);
		assert_non_null(strstr(err.message, "the file shrank"));
		unsigned records = 0;
		for (const char *c = r.events.s; *c; c++)
			records += *c == '\n';
		assert_int_equal(records, 2000);
		recorder_release(&r);
		dump_close(dump);
		source_close(source);
	}
	text_release(&bytes);
}

/* A sink that has had enough is obeyed at once. */
static int refuse_object(struct sink *sink, const struct object_record *o)
{
	(void)o;
	return err_set(sink->err, ERR_CANCELLED, "enough");
}

static void obeys_the_sink(void **state)
{
	struct text bytes = TEXT_INIT;
	struct guarded f;
	struct dump *dump;
	struct part all;
	struct err err = ERR_INIT;
	struct dump_options options = { .no_companion = true };
	struct recorder r;

	(void)state;
	add_hex(&bytes, MAGIC V6_64);
	add_hex(&bytes, every_kind);
	guard(&f, PATH, bytes.s, bytes.len);
	assert_int_equal(phd_reader.open(&dump, &f.source, &options, &err), 0);
	phd_reader.parts(dump, 1, &all);
	recorder_init(&r, &phd_lines, true);
	r.sink.object = refuse_object;
	r.sink.err = &err;
	assert_int_equal(phd_reader.read(dump, &all, &r.sink, &err), ERR_CANCELLED);
	assert_string_equal(err.message, "enough");
	recorder_release(&r);
	phd_reader.close(dump);
	guarded_release(&f);
	text_release(&bytes);
}

int main(void)
{
	setenv("CAIRN_KEEP_MAPPING", "1", 1); /* for files that shrink: see dump/source/source.c */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(every_byte_wrong),
		cmocka_unit_test(parts_alone),
		cmocka_unit_test(obeys_the_sink),
		cmocka_unit_test(file_shrinks),
	};
	return cmocka_run_group_tests_name("phd cut", tests, NULL, NULL);
}
