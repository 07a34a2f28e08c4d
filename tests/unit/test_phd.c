/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_phd.c - the PHD reader on bytes written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bytes.h"
#include "phd_bytes.h"

/* The survey must say what the fill says, with counts in place of references. */
static void check_survey(const struct phd_reading *fill, const char *bytes, size_t n)
{
	struct phd_reading survey;

	read_phd(&survey, bytes, n, false);
	assert_int_equal(survey.result, fill->result);
	assert_string_equal(survey.r.warnings.s, fill->r.warnings.s);
	const char *a = survey.r.events.s, *b = fill->r.events.s;
	while (*a && *b) { /* line by line up to the references */
		size_t n_a = 1 + strcspn(a + 1, "\n"), n_b = 1 + strcspn(b + 1, "\n");
		size_t head = strcspn(a, "+");
		if (head < n_a) {
			uint64_t count = strtoull(a + head, NULL, 10), spaces = 0;
			assert_memory_equal(a, b, head - 1);
			for (size_t i = head - 1; i < n_b; i++)
				spaces += b[i] == ' ';
			assert_int_equal(spaces, count);
		} else {
			assert_int_equal(n_a, n_b);
			assert_memory_equal(a, b, n_a);
		}
		a += n_a;
		b += n_b;
	}
	assert_true(!*a && !*b);
	release_phd(&survey);
}

/* Read header and body written in hexadecimal; the events must be `want`. */
static void check_dump(const char *header, const char *body, const char *want, const char *warning)
{
	struct text bytes = TEXT_INIT;
	struct phd_reading reading;

	add_hex(&bytes, MAGIC);
	add_hex(&bytes, header);
	add_hex(&bytes, body);
	read_phd(&reading, bytes.s, bytes.len, true);
	assert_int_equal(reading.opened, 0);
	assert_int_equal(reading.result, 0);
	assert_string_equal(reading.r.events.s, want);
	if (warning)
		assert_non_null(strstr(reading.r.warnings.s, warning));
	else
		assert_string_equal(reading.r.warnings.s, "");
	check_survey(&reading, bytes.s, bytes.len);
	release_phd(&reading);
	text_release(&bytes);
}

/* --- the worked examples of the format notes, from real dumps ---------------------------------- */

static void real_records(void **state)
{
	(void)state;
	check_dump(V6_64,
	    "04 81 3FEBC210 00000000FFAF0740 00000001 06"
	    "24 06 2E 0000001A"
	    "88 1A 06" END,
	    "\nO FFAF0840 FFAF0740 FFAF0858"
	    "\nP FFAF0858 [C len=46 size=104"
	    "\nO FFAF08C0 FFAF0740 FFAF08D8", NULL);
	/* an object in front brings the previous address to 0xFFB050C0 */
	check_dump(V6_64,
	    "04 80 3FEC1430 00000000FFAF0200 00000000"
	    "08 11 18 00000000FFAF0740 00000003 BFD0 BFBE BFB4 00000003 00000006" END,
	    "\nO FFB050C0 FFAF0200"
	    "\nA FFB05120 array-of FFAF0740 len=3 size=24 FFAF5060 FFAF5018 FFAF4FF0", NULL);
	check_dump(V6_64,
	    "04 80 3FF70DE4 00000000FFAF0200 00000000" /* 0xFFDC3790 */
	    "06 28 F0 00000020 A046CCE3 00000000FFAF17A8 <java/io/IOException> 00000005"
	    "FFF501E6 FFF501E6 FFF4B2AC FFF4B7B6 FFF4B816" END,
	    "\nO FFDC3790 FFAF0200"
	    "\nC FFDC3750 java/io/IOException super=FFAF17A8 instance=32"
	    " FFB03EE8 FFB03EE8 FFAF0200 FFAF1628 FFAF17A8", NULL);
	/* Java 6, 16-bit hashes in every record; two medium objects fill the cache */
	check_dump(V5_32_HASHED,
	    "40 01 00001000 1111"
	    "40 02 00002000 2222"
	    "25 0004 0080 6087"
	    "B1 08 60BF 01FA FFF0" END,
	    "\nO 4 1000"
	    "\nO C 2000"
	    "\nP 1C [C len=128"
	    "\nO 3C 2000 824 FFFFFFFC", NULL);
}

/* --- each kind of record ----------------------------------------------------------------------- */

static void objects(void **state)
{
	(void)state;
	/* widths of gaps and references; a gap may be negative */
	check_dump(V6_32,
	    "44 0100 0000AAA0"              /* medium, 2-byte gap, no references */
	    "40 FF 0000BBB0"                /* medium, gap -1 */
	    "4B 02 0000CCC0 0000000000000001" /* medium, one 8-byte reference */
	    "5A 02 0000DDD0 00000001 FFFFFFFF 7FFFFFFF" /* medium, three 4-byte references */
	    "9E 0010 00000001 00000002 00000003" /* short, slot 0, 2-byte gap, three of 4 bytes */
	    "E8 01 07" END,                 /* short, slot 3, one of 1 byte */
	    "\nO 400 AAA0"
	    "\nO 3FC BBB0"
	    "\nO 404 CCC0 408"
	    "\nO 40C DDD0 410 408 408"
	    "\nO 44C AAA0 450 454 458"
	    "\nO 450 DDD0 46C", NULL);
	/* long objects: gap widths 1, 2, 4, 8 and a hash of their own */
	check_dump(V6_64,
	    "04 00 10 0000000000001000 00000000"
	    "04 50 0100 0000000000002000 00000002 0001 FFFF"
	    "04 A3 FFFFFFFF 0000000000003000 DEADBEEF 00000001 00000002"
	    "04 F0 0000000000000002 0000000000004000 00000001 0000001000000000" END,
	    "\nO 40 1000"
	    "\nO 440 2000 444 43C"
	    "\nO 43C 3000 444"
	    "\nO 444 4000 4000000444", NULL);
	/* the cache turns after four, and takes what it holds already */
	check_dump(V6_32,
	    "40 01 00001000 40 01 00001000 40 01 00002000 40 01 00003000 40 01 00004000"
	    "80 01 A0 01 C0 01 E0 01" END,
	    "\nO 4 1000\nO 8 1000\nO C 2000\nO 10 3000\nO 14 4000"
	    "\nO 18 4000\nO 1C 1000\nO 20 2000\nO 24 3000", NULL);
	/* arrays and classes leave the cache alone */
	check_dump(V6_32,
	    "40 01 00001000"
	    "08 00 01 00002000 00000000 00000000 00000004"
	    "06 00 01 00000010 00000000 <A> 00000000"
	    "80 01 A0 01" END,
	    "\nO 4 1000\nA 8 array-of 2000 len=0 size=16\nC C A super=0 instance=16"
	    "\nO 10 1000\nO 14 0", "before its class was named");
	/* addresses wrap at the width of a word */
	check_dump(V6_32, "40 FF 00001000 4C FFFE 00002000 05" END,
	    "\nO FFFFFFFC 1000\nO FFFFFFF4 2000 8", NULL);
}

static void arrays(void **state)
{
	(void)state;
	/* short primitive arrays: every type, every width */
	check_dump(V6_32,
	    "20 01 00 00000004" "24 04 80 00000042" "29 0001 FFFF 00000000"
	    "2E 00000001 7FFFFFFF FFFFFFFF" "33 0000000000000001 0000000000000005 00000006"
	    "34 01 06 00000006" "38 01 07 0000000A" "3C FF 08 00000014" END,
	    "\nP 4 [Z len=0 size=16\nP 14 [C len=128 size=264\nP 18 [F len=65535"
	    "\nP 1C [D len=2147483647 size=17179869180\nP 20 [B len=5 size=24"
	    "\nP 24 [S len=6 size=24\nP 28 [I len=7 size=40\nP 24 [J len=8 size=80", NULL);
	/* long ones: a byte or a word each, and a hash of their own */
	check_dump(V6_32,
	    "07 21 05 0A 00000007" "07 B2 00000001 00000100 CAFEBABE 00000084" END,
	    "\nP 14 [C len=10 size=28\nP 18 [S len=256 size=528", NULL);
	check_dump(V6_64, "07 F0 0000000100000000 0000000000000009 00000014" END,
	    "\nP 400000000 [J len=9 size=80", NULL);
	check_dump(V6_64_HASHED, "07 01 01 0A 1234 00000006" "20 01 02 5678 00000004" END,
	    "\nP 4 [Z len=10 size=24\nP 8 [Z len=2 size=16", NULL);
	/* object arrays: nulls are not there, but counted by the length */
	check_dump(V6_64,
	    "08 03 01 0000000000001000 DEADBEEF 00000002 01 FE 00000005 FFFFFFFF" END,
	    "\nA 4 array-of 1000 len=5 size=17179869180 8 FFFFFFFFFFFFFFFC", NULL);
	check_dump(V5_32_HASHED, "08 01 01 00001000 5678 00000001 01 00000002" END,
	    "\nA 4 component 1000 len=2 8", NULL);
	/* the old kind, by a VM before J9: units of 8 bytes, no length of its own */
	check_dump(V4_OLD_32, "05 01 02 00001000 00000002 01 02" END,
	    "\nA 10 component 1000 len=2 18 20", NULL);
	check_dump(V6_32, "05 01 02 00001000 00000001 01 00000004" END,
	    "\nA 8 array-of 1000 len=1 size=16 C", NULL);
}

static void classes(void **state)
{
	(void)state;
	/* an array class's instance size is a pointer; others may be damaged */
	check_dump(V6_32,
	    "06 00 40 02D31D24 00000100 <[I> 00000001 01"
	    "06 58 0001 0000000C CAFEBABE 00000000 <> 00000001 0002"
	    "06 00 01 FFFFFFFF 00000100 <A> 00000000" END,
	    "\nC 100 [I super=100 104\nC 104  super=0 instance=12 10C\nC 108 A super=100",
	    "instance size -1");
	/* the hash flag gives way to hashes in every record */
	check_dump(V5_32_HASHED, "06 08 01 00000010 1234 00000000 <B> 00000000" END,
	    "\nC 4 B super=0 instance=16", NULL);
	/* a class that refers to itself first keeps that reference */
	check_dump(V6_32, "06 00 01 00000010 00000000 <B> 00000001 00" END,
	    "\nC 4 B super=0 instance=16 4", NULL);
}

static void many_references(void **state)
{
	struct text bytes = TEXT_INIT, want = TEXT_INIT;

	(void)state;
	/* more than one batch, as object, array and class */
	add_hex(&bytes, "04 11 01 00001000 00002710");
	for (unsigned i = 0; i < 10000; i++) {
		text_add_char(&bytes, (char)(i >> 8));
		text_add_char(&bytes, (char)i);
	}
	add_hex(&bytes, "08 21 01 00001000 00001388");
	for (unsigned i = 0; i < 5000; i++)
		add_hex(&bytes, "00000002");
	add_hex(&bytes, "00001388 00000000 06 00 01 00000010 00000000 <B> 00001388");
	for (unsigned i = 0; i < 5000; i++)
		add_hex(&bytes, "03");
	add_hex(&bytes, END);
	text_add(&want, "\nO 4 1000");
	for (unsigned i = 0; i < 10000; i++)
		text_addf(&want, " %X", 4 + 4 * i);
	text_add(&want, "\nA 8 array-of 1000 len=5000");
	for (unsigned i = 0; i < 5000; i++)
		text_add(&want, " 10");
	text_add(&want, "\nC C B super=0 instance=16");
	for (unsigned i = 0; i < 5000; i++)
		text_add(&want, " 18");

	struct text all = TEXT_INIT;
	struct phd_reading reading;
	add_hex(&all, MAGIC V6_32);
	text_add_n(&all, bytes.s, bytes.len);
	read_phd(&reading, all.s, all.len, true);
	assert_int_equal(reading.result, 0);
	assert_string_equal(reading.r.events.s, want.s);
	check_survey(&reading, all.s, all.len);
	release_phd(&reading);
	text_release(&all);
	text_release(&bytes);
	text_release(&want);
}

/* --- defects of files in the wild --------------------------------------------------------------- */

static void defects(void **state)
{
	(void)state;
	/* some J9 wrote an object's class as its first reference: small, long, array; only the first */
#define CLASS_FIRST "04 00 00 00000110 00000001 04"
	check_dump(V6_32,
	    "50 40 00000110 04 04" CLASS_FIRST CLASS_FIRST CLASS_FIRST
	    "08 01 00 00000110 00000003 04 08 04 00000003 00000000" END,
	    "\nO 100 110 110\nO 100 110\nO 100 110\nO 100 110\nA 100 array-of 110 len=3 120 110", NULL);
	/* one object without it: then the others refer to their class */
	check_dump(V6_32,
	    "50 40 00000110 04 04" CLASS_FIRST CLASS_FIRST CLASS_FIRST "04 00 00 00000110 00000001 08"
	    "08 01 00 00000110 00000002 04 08 00000003 00000000" END,
	    "\nO 100 110 110 110\nO 100 110 110\nO 100 110 110\nO 100 110 110\nO 100 110 120"
	    "\nA 100 array-of 110 len=3 110 120", NULL);
	/* VMs before J9 did not */
	check_dump(V4_OLD_32, "48 20 00000110 02" END, "\nO 100 110 110", NULL);
	/* J9 of Java 5: leaf class, then the array class in front of the elements */
	check_dump(V4_J9_32,
	    "05 01 40 00001000 00000003 10 20 30"
	    "08 01 00 00001000 00000002 10 20 00000007"
	    "05 01 00 00001000 00000000" END,
	    "\nA 100 140 len=2 180 1C0\nA 100 140 len=6 180\nA 100 array-of 1000 len=0", NULL);
	/* jdmpview wrote the width of the length: all are taken from the size, 96 = 8 + 88, 20 = 8 + 12 */
	check_dump(V6_32, "24 01 00 00000018 24 01 01 00000005 39 0001 0001 00000040" END,
	    "\nP 4 [C len=44 size=96\nP 8 [C len=6 size=20\nP C [I len=62 size=256", "jdmpview");
	/* builds of 17 September 2004: size code 3 means 4 bytes */
	check_dump("00000004 00000000 01 04 <build 20040917> 02 02", "27 00000001 00000009" END,
	    "\nP 8 [C len=9", NULL);
	check_dump("00000004 00000000 01 04 <build 20040918> 02 02",
	    "27 0000000000000001 0000000000000009" END, "\nP 8 [C len=9", NULL);
	/* a gap of 8 bytes may lose bits at the top */
	check_dump(V6_64, "04 C0 8000000000000000 0000000000001000 00000000" END, "\nO 0 1000", NULL);
}

static void doubtful_numbers(void **state)
{
	(void)state;
	check_dump(V6_32, "04 00 01 00001000 FFFFFFFF" END, "\nO 4 1000", "-1 references");
	check_dump(V6_32, "08 01 01 00001000 FFFFFFFB 00000003 00000006" END,
	    "\nA 4 array-of 1000 len=3 size=24", "-5 references");
	check_dump(V6_32, "08 01 01 00001000 00000002 01 02 00000001 00000006" END,
	    "\nA 4 array-of 1000 len=2 size=24 8 C", "array of 1 element with 2 references");
	check_dump(V6_32, "08 01 01 00001000 00000001 01 80000000 00000006" END,
	    "\nA 4 array-of 1000 len=1 size=24 8", "array of -2147483648 elements");
	check_dump(V6_32, "32 00000001 FFFFFFFF 00000006" END, "\nP 4 [B size=24", "array length 4294967295");
	check_dump(V6_32, END "00", "", "1 byte after the end of the dump is ignored");
	check_dump(V6_32, END "0000", "", "2 bytes after the end of the dump are");
	check_dump("00000006 00000014 01 02 02", END, "", "unknown header flags 0x10");
	check_dump("00000006 00000004 01 02", END, "", "no start mark");
}

/* --- header and facts --------------------------------------------------------------------------- */

static void header_facts(void **state)
{
	struct text bytes = TEXT_INIT;
	struct phd_reading r;

	(void)state;
	add_hex(&bytes, MAGIC "00000006 00000005 01 03 1111111122222222 01 00000007 80000001"
		"04 <old> 04 <JRE 17 (x)> 02 02" END);
	bytes.s[bytes.len - 5] = '\n'; /* the x */
	read_phd(&r, bytes.s, bytes.len, true);
	assert_int_equal(r.opened, 0);
	assert_string_equal(r.r.stated.s, "records=7\nreferences=2147483649\n");
	assert_string_equal(r.facts.format, "phd");
	assert_string_equal(r.facts.version, "6");
	assert_string_equal(r.facts.vm, "JRE 17 (\\n)");
	assert_string_equal(r.facts.created, "2016-04-04T08:39:09");
	assert_int_equal(r.facts.word_bits, 64);
	assert_true(r.facts.big_endian && r.facts.has_instance_sizes && !r.facts.roots_recorded);
	assert_true(r.facts.loader_is_first_reference && r.facts.references_superclass_recorded);
	assert_false(r.facts.array_sizes_need_model);
	assert_int_equal(r.facts.minimum_object_size, 16);
	assert_int_equal(r.facts.object_alignment, 8);
	assert_non_null(strstr(r.facts.cannot_tell, "field"));
	release_phd(&r);

	text_clear(&bytes);
	add_hex(&bytes, MAGIC V5_32_HASHED END);
	read_phd(&r, bytes.s, bytes.len, true);
	assert_int_equal(r.facts.word_bits, 32);
	assert_int_equal(r.facts.minimum_object_size, 0);
	assert_true(r.facts.array_sizes_need_model);
	assert_string_equal(r.facts.vm, "");
	release_phd(&r);
	text_release(&bytes);
}

static void check_refused(const char *hex, int code, uint64_t offset, const char *words)
{
	struct text bytes = TEXT_INIT;
	struct phd_reading r;

	add_hex(&bytes, hex);
	read_phd(&r, bytes.s, bytes.len, true);
	assert_int_equal(r.opened, code);
	assert_true(r.err.has_offset);
	assert_int_equal(r.err.offset, offset);
	assert_non_null(strstr(r.err.message, words));
	release_phd(&r);
	text_release(&bytes);
}

static void bad_headers(void **state)
{
	(void)state;
	check_refused("<portable heap dumb> 00000006", ERR_FORMAT, 0, "first 20 bytes");
	check_refused(MAGIC "00000003 00000005 01 02 02 03", ERR_FORMAT, 20, "PHD version 3");
	check_refused(MAGIC "00000007 00000005 01 02 02 03", ERR_FORMAT, 20, "PHD version 7");
	check_refused(MAGIC "FFFFFFFF 00000005 01 02 02 03", ERR_FORMAT, 20, "PHD version -1");
	check_refused(MAGIC "00000006 00000005 09 02 02 03", ERR_FORMAT, 28, "no start of header");
	check_refused(MAGIC "00000006 00000005 01 09 02 03", ERR_FORMAT, 29, "unknown header entry 9");
	check_refused(MAGIC "00000006 00000005 01 04 FFFF 02 03", ERR_TRUNCATED, 34, "truncated in the header");
}

static void check_damaged(const char *body, int code, uint64_t offset, const char *message,
    const char *before)
{
	struct text bytes = TEXT_INIT;
	struct phd_reading r;

	add_hex(&bytes, MAGIC V6_32);
	size_t start = bytes.len;
	add_hex(&bytes, body);
	read_phd(&r, bytes.s, bytes.len, true);
	assert_int_equal(r.result, code);
	assert_int_equal(r.err.code, code);
	assert_int_equal(r.err.offset, start + offset);
	char want[200];
	snprintf(want, sizeof want, "%s at byte %zu", message, start + (size_t)offset);
	assert_string_equal(r.err.message, want);
	assert_string_equal(r.r.events.s, before);
	release_phd(&r);
	text_release(&bytes);
}

static void damaged_records(void **state)
{
	static const char one[] = "\nO 4 1000";

	(void)state;
	check_damaged("40 01 00001000 00", ERR_FORMAT, 6, "unknown record tag 0x00", one);
	check_damaged("40 01 00001000 01", ERR_FORMAT, 6, "unknown record tag 0x01", one);
	check_damaged("40 01 00001000 09", ERR_FORMAT, 6, "unknown record tag 0x09", one);
	check_damaged("40 01 00001000 1F", ERR_FORMAT, 6, "unknown record tag 0x1f", one);
	check_damaged("40 01 00001000", ERR_TRUNCATED, 6, "truncated after the last record (no end mark)", one);
	check_damaged("40 01 00001000 80", ERR_TRUNCATED, 6, "truncated in a short object record", one);
	check_damaged("40 01 00001000 40 01 00", ERR_TRUNCATED, 6, "truncated in a medium object record", one);
	check_damaged("40 01 00001000 20 01 01", ERR_TRUNCATED, 6, "truncated in a short primitive array record",
	    one);
	check_damaged("40 01 00001000 04 00 01 00001000 7FFFFFFF 0102", ERR_TRUNCATED, 6,
	    "truncated in a long object record", one);
	check_damaged("40 01 00001000 05 31 01 00001000 7FFFFFFF 0102", ERR_TRUNCATED, 6,
	    "truncated in an old object array record", one);
	check_damaged("40 01 00001000 08 31 01 00001000 7FFFFFFF 0102", ERR_TRUNCATED, 6,
	    "truncated in an object array record", one);
	check_damaged("40 01 00001000 06 00 01 00000010 00000000 FFFF 41", ERR_TRUNCATED, 6,
	    "truncated in a class record", one);
	check_damaged("40 01 00001000 06 30 01 00000010 00000000 <A> 7FFFFFFF 41", ERR_TRUNCATED, 6,
	    "truncated in a class record", one);
	check_damaged("40 01 00001000 07 10 00000001 00", ERR_TRUNCATED, 6,
	    "truncated in a long primitive array record", one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_records),
		cmocka_unit_test(objects),
		cmocka_unit_test(arrays),
		cmocka_unit_test(classes),
		cmocka_unit_test(many_references),
		cmocka_unit_test(defects),
		cmocka_unit_test(doubtful_numbers),
		cmocka_unit_test(header_facts),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(damaged_records),
	};
	return cmocka_run_group_tests_name("phd", tests, NULL, NULL);
}
