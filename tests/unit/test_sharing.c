/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_sharing.c - what many records of an HPROF name alike is kept once; the first damage is told. */
#include "made_hprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "dump/hprof/hprof_dump.h"
#include "heap/classes.h"
#include "heap/threads.h"

static const struct heap_class *class_with_address(uint64_t address)
{
	for (uint32_t c = 0; c < heap->n_classes; c++)
		if (heap->classes[c].address == address)
			return &heap->classes[c];
	fail_msg("no class at 0x%llx", (unsigned long long)address);
	return NULL;
}

static uint64_t address_of(int class)
{
	return 0x1000 + (uint64_t)class * 0x100;
}

/* Threads of one trace have one array of frames, and equal frames one text. */
static void test_frames(void **state)
{
	(void)state;
	int of = class("java/lang/Thread", object, "tid:J");
	trace(1, "wait", 3);
	trace(2, "run", 2);
	for (unsigned i = 0; i < 3; i++)
		thread(OBJECT(of, 40 + i), i + 1, i < 2 ? 1 : 2);
	open_made();
	assert_int_equal(heap->n_threads, 3);
	const struct heap_thread *t = heap->threads;
	assert_int_equal(t[0].n_frames, 3);
	assert_int_equal(t[2].n_frames, 2);
	assert_ptr_equal(t[0].frames, t[1].frames);
	assert_ptr_not_equal(t[0].frames, t[2].frames);
	assert_ptr_equal(t[0].frames[0], t[0].frames[2]);
	assert_string_equal(t[0].frames[0], "java.lang.Object.wait(Unknown Source)");
	assert_string_equal(t[2].frames[1], "java.lang.Object.run(Unknown Source)");
	assert_int_equal(t[0].own_id, 40);
	assert_int_equal(t[2].own_id, 42);
}

/* Fields are found from the class of each thread, whatever subclasses declare. */
static void test_thread_fields(void **state)
{
	(void)state;
	int of = class("java/lang/Thread", object, "tid:J priority:I daemon:Z");
	int sub = class("c/Sub", of, "tid:J a:B");
	int subsub = class("c/SubSub", sub, "priority:I");
	int other = class("c/Other", object, "tid:J");
	trace(1, "run", 1);
	thread(OBJECT(subsub, 9, 77, 1, 11, 3, 1), 1, 1);
	thread(OBJECT(sub, 78, 1, 12, 4, 0), 2, 1);
	thread(OBJECT(of, 13, 5, 1), 3, 1);
	thread(OBJECT(other, 79), 4, 1);
	open_made();
	static const struct { uint64_t id; int priority; bool daemon; } expected[] = {
		{ 11, 3, true }, { 12, 4, false }, { 13, 5, true }, { 0, -1, false },
	};
	assert_int_equal(heap->n_threads, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(heap->threads[i].own_id, expected[i].id);
		assert_int_equal(heap->threads[i].priority, expected[i].priority);
		assert_int_equal(heap->threads[i].daemon, expected[i].daemon);
	}
}

/* Classes of one name share its bytes, and a name is whole. */
static void test_names(void **state)
{
	(void)state;
	enum { LONG = 100000 };
	static char name[LONG + 1], array[LONG + 4];
	memset(name, 'n', LONG);
	memcpy(name, "a/b", 3);
	snprintf(array, sizeof array, "[L%s;", name);
	int one = class(name, object, ""), two = class(name, object, "");
	int of_one = class(array, object, ""), last = class("a/z", object, "");
	open_made();
	const struct heap_class *x = class_with_address(address_of(one));
	const struct heap_class *y = class_with_address(address_of(two));
	const struct heap_class *a = class_with_address(address_of(of_one));
	const struct heap_class *z = class_with_address(address_of(last));
	assert_int_equal(strlen(x->name), LONG);
	assert_memory_equal(x->name, "a.bnnn", 6);
	assert_ptr_equal(x->name, y->name);
	assert_int_equal(x->name_rank, y->name_rank);
	assert_int_equal(strlen(a->name), LONG + 2);
	assert_string_equal(a->name + LONG - 1, "n[]");
	assert_ptr_equal(&heap->classes[a->component], x < y ? x : y);
	assert_true(x->name_rank < a->name_rank);
	assert_true(a->name_rank < z->name_rank);
}

/* Parts are read at the same time, each with damage of its own: what stands first in the file is told. */
static void test_first_damage(void **state)
{
	(void)state;
	uint64_t usual = hprof_part_bytes;
	hprof_part_bytes = 200;
	OBJECT(string, 0, 0, 0);
	uint64_t first = damage();
	for (int i = 0; i < 50; i++) {
		OBJECT(string, 0, 0, 0);
		damage();
	}
	open_made();
	hprof_part_bytes = usual;
	assert_true(heap->damaged);
	assert_true(heap->damage.has_offset);
	assert_int_equal(heap->damage.offset, made_offset(first));
	assert_true(heap->n_instances > 40); /* reading went on behind it, in many parts */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, begin_made, end_made),
		cmocka_unit_test_setup_teardown(test_thread_fields, begin_made, end_made),
		cmocka_unit_test_setup_teardown(test_names, begin_made, end_made),
		cmocka_unit_test_setup_teardown(test_first_damage, begin_made, end_made),
	};
	return cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
}
