/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_hprof.c - the HPROF reader on bytes written by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/text.h"
#include "bytes.h"
#include "hprof_bytes.h"

static void whole_dump(void **state)
{
	struct text t = TEXT_INIT;
	struct hprof_fixture f;
	struct recorder w;
	(void)state;

	small_hprof(&t);
	open_hprof(&f, t.s, t.len, 0);
	assert_int_equal(f.result, 0);
	const struct dump_facts *facts = &f.dump->facts;
	assert_string_equal(facts->format, "hprof");
	assert_string_equal(facts->version, "1.0.2");
	assert_string_equal(facts->created, "2012-02-01T17:31:45Z");
	assert_int_equal(facts->word_bits, 32);
	assert_int_equal(facts->n_heaps, 1);
	assert_int_equal(facts->heap_number, 1);
	assert_false(facts->has_instance_sizes);
	assert_true(facts->roots_recorded);

	recorder_init(&w, &hprof_lines, false);
	assert_int_equal(read_hprof(&f, &w, 1), 0);
	assert_string_equal(w.events.s, WRITTEN_CLASSES WRITTEN_OBJECTS WRITTEN_ROOTS);
	recorder_release(&w);

	/* in two parts, one a segment */
	struct part parts[4];
	assert_int_equal(hprof_reader.parts(f.dump, 2, parts), 2);
	recorder_init(&w, &hprof_lines, false);
	assert_int_equal(read_hprof(&f, &w, 2), 0);
	assert_string_equal(w.events.s, WRITTEN_CLASSES WRITTEN_OBJECTS WRITTEN_ROOTS);
	recorder_release(&w);

	recorder_init(&w, &hprof_lines, true);
	assert_int_equal(read_hprof(&f, &w, 2), 0);
	assert_non_null(strstr(w.events.s, "O 200 class - refs 1\n  -> 210\nO 210 class - refs 3\n  -> 220\n"
					"  -> 200\n  -> 230\nA 220 class - refs 3 length 4\n  -> 200\n"
					"  -> 210\n  -> 777\nP 230 class - refs 0 length 2\n"));
	assert_null(strstr(w.events.s, "R "));
	recorder_release(&w);
	close_hprof(&f);
	text_release(&t);
}

static void several_heaps(void **state)
{
	static const struct { unsigned number, is; const char *object; } cases[] = {
		{ 0, 3, "P 230" }, { 1, 1, "O 200" }, { 2, 2, "A 220" }, { 3, 3, "P 230" },
	};
	(void)state;

	struct text t;
	begin_hprof(&t);
	add_record(&t, "0C", CLASSES NODE);
	add_record(&t, "01", "00000055 'between'");
	add_record(&t, "1C", CLASSES);
	add_record(&t, "1C", OBJECTS);
	add_record(&t, "2C", "");
	add_record(&t, "1C", CLASSES INTS);
	add_record(&t, "2C", "");
	add_record(&t, "2C", "");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hprof_fixture f;
		struct recorder w;
		open_hprof(&f, t.s, t.len, cases[i].number);
		assert_int_equal(f.result, 0);
		assert_int_equal(f.dump->facts.n_heaps, 3);
		assert_int_equal(f.dump->facts.heap_number, cases[i].is);
		recorder_init(&w, &hprof_lines, false);
		assert_int_equal(read_hprof(&f, &w, 4), 0);
		assert_int_equal(strncmp(w.events.s, WRITTEN_CLASSES, strlen(WRITTEN_CLASSES)), 0);
		assert_int_equal(strncmp(w.events.s + strlen(WRITTEN_CLASSES), cases[i].object, 5), 0);
		recorder_release(&w);
		close_hprof(&f);
	}
	struct hprof_fixture f;
	open_hprof(&f, t.s, t.len, 4);
	assert_int_equal(f.result, ERR_USAGE);
	close_hprof(&f);
	text_release(&t);
}

/* Android's records between the others. */
static void android(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'JAVA PROFILE 1.0.3' 00 00000004 00000135 39F8DE7D");
	add_names(&t);
	add_record(&t, "1C",
	    "FE 00000041 00000001 89 00000200 8A 00000200 8B 00000200 8C 00000200 8D 00000200"
	    "8E 00000200 00000007 FFFFFFFF 90 00000200 C3 00000230 00000000 00000009 08" CLASSES NODE);
	add_record(&t, "2C", "");
	expect_hprof("android", &t, 0, "",
	    "R 200 kind 18 thread 0 frame -1\nR 200 kind 9 thread 0 frame -1\n"
	    "R 200 kind 20 thread 0 frame -1\nR 200 kind 19 thread 0 frame -1\n"
	    "R 200 kind 10 thread 0 frame -1\nR 200 kind 5 thread 7 frame -1\n"
	    "P 230 class [B refs 0 length 9\n" WRITTEN_CLASSES "O 200 class 110 refs 1\n");
}

/* Records of a JDK 6 dump as its bytes stand in the format's notes: identifiers of 8 bytes. */
static void from_a_real_dump(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;

	add_hex(&t, "'JAVA PROFILE 1.0.1' 00 00000008 0000013539F8DE7D");
	add_hex(&t, "01 00000000 0000001A 000000077CC7B890 'type can' 27 't be null'");
	add_record(&t, "0C",
	    "20 000000077CA223E8 00000001 0000000000000000 0000000000000000 0000000000000000"
	    "0000000000000000 0000000000000000 0000000000000000 00000014 0000 0000 0004"
	    "0000000000000001 0A 0000000000000002 0A 0000000000000003 0A 000000077CC7B890 02"
	    "21 0000000781C00420 00000001 000000077CA223E8 00000014 28552352 00000010 00000000"
	    "0000000781C05F00"
	    "22 0000000781C012C8 00000001 00000003 000000077CB1BC90"
	    "0000000781C00420 0000000000000000 0000000781C05D58"
	    "23 0000000781C05D58 00000001 00000004 05 006D 0061 0069 006E");
	struct hprof_fixture f;
	struct recorder w;
	open_hprof(&f, t.s, t.len, 0);
	assert_int_equal(f.result, 0);
	recorder_init(&w, &hprof_lines, false);
	assert_int_equal(read_hprof(&f, &w, 1), 0);
	assert_string_equal(w.events.s,
	    "C 77ca223e8 super 0 loader 0 size 20 <unknown 0x77ca223e8> <unresolved>:10 <unresolved>:10 "
	    "<unresolved>:10 type can't be null:2\n"
	    "O 781c00420 class 77ca223e8 refs 1\n"
	    "A 781c012c8 class 77cb1bc90 refs 2 length 3\nP 781c05d58 class [C refs 0 length 4\n");
	recorder_release(&w);

	/* the same through locate, one behind the other */
	struct object_view v;
	struct err err = ERR_INIT;
	uint64_t at = 0;
	for (uint64_t i = 31; i < t.len && !at; i++)
		if ((uint8_t)t.s[i] == 0x21 && hprof_reader.locate(f.dump, i, 0, &v, &err) == 0)
			at = i;
	assert_true(at != 0);
	assert_int_equal(hprof_reader.locate(f.dump, at, 0, &v, &err), 0);
	assert_true(v.address == UINT64_C(0x781C00420) && v.class_address == UINT64_C(0x77CA223E8));
	assert_int_equal(v.kind, OBJECT_INSTANCE);
	assert_int_equal(v.n_bytes, 20);
	assert_int_equal(v.bytes[0], 0x28);
	assert_int_equal(hprof_reader.locate(f.dump, v.next, 0, &v, &err), 0);
	assert_int_equal(v.kind, OBJECT_ARRAY);
	assert_int_equal(v.length, 3);
	assert_int_equal(v.n_bytes, 24);
	assert_int_equal(hprof_reader.locate(f.dump, v.next, 0, &v, &err), 0);
	assert_int_equal(v.kind, PRIMITIVE_ARRAY);
	assert_int_equal(v.element, VALUE_CHAR);
	assert_int_equal(v.n_bytes, 8);
	assert_memory_equal(v.bytes, "\0m\0a\0i\0n", 8);
	assert_int_equal(hprof_reader.locate(f.dump, at, 2, &v, &err), 0);
	assert_int_equal(v.kind, PRIMITIVE_ARRAY);
	assert_int_equal(hprof_reader.locate(f.dump, at, 3, &v, &err), ERR_FORMAT);
	assert_int_equal(hprof_reader.locate(f.dump, v.next, 0, &v, &err), ERR_FORMAT);
	assert_int_equal(hprof_reader.locate(f.dump, 5, 0, &v, &err), ERR_FORMAT);
	assert_int_equal(hprof_reader.locate(f.dump, UINT64_MAX, 0, &v, &err), ERR_FORMAT);
	close_hprof(&f);
	text_release(&t);
}

static void refused(void **state)
{
	static const struct { const char *bytes; int code; } cases[] = {
		{ "'JAVA PROFILE 9.9.9' 00 00000004 00000135 39F8DE7D", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1' 00 00000003 00000135 39F8DE7D", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1' 00 00000000 00000135 39F8DE7D", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'", ERR_FORMAT },
		{ "'JAVA PROFILE 1.0.1' 00 00000004 00000135", ERR_TRUNCATED },
	};
	(void)state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text t = TEXT_INIT;
		struct hprof_fixture f;
		add_hex(&t, cases[i].bytes);
		assert_true(hprof_reader.probe((const uint8_t *)t.s, t.len) > 0);
		open_hprof(&f, t.s, t.len, 0);
		assert_int_equal(f.result, cases[i].code);
		close_hprof(&f);
		text_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_dump),
		cmocka_unit_test(several_heaps),
		cmocka_unit_test(android),
		cmocka_unit_test(from_a_real_dump),
		cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests_name("hprof", tests, NULL, NULL);
}
