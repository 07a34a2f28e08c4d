/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_attach.c - what processes publish, written here by its layout, and how long they run, in words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "attach/hsperf.h"
#include "attach/openj9_info.h"
#include "command/processes/processes.h"

/* A file of counters, in the order of bytes of this host. */
static struct {
	uint8_t byte[4096];
	uint32_t n, entries;
} file;

static void put32(size_t at, uint32_t v)
{
	memcpy(file.byte + at, &v, sizeof v);
}

static void begin(void)
{
	static const uint8_t head[] = { 0xca, 0xfe, 0xc0, 0xc0, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, 2, 0, 1 };
	memset(&file, 0, sizeof file);
	memcpy(file.byte, head, sizeof head);
	file.n = 32;
	put32(24, file.n);
}

/* Where the entry begins. */
static size_t add(const char *name, char type, const void *data, size_t size)
{
	size_t at = file.n, data_at = (20 + strlen(name) + 1 + 7) / 8 * 8;
	put32(at, (uint32_t)(data_at + (size + 7) / 8 * 8));
	put32(at + 4, 20);
	put32(at + 8, type == 'B' ? (uint32_t)size : 0);
	file.byte[at + 12] = (uint8_t)type;
	put32(at + 16, (uint32_t)data_at);
	memcpy(file.byte + at + 20, name, strlen(name) + 1);
	memcpy(file.byte + at + data_at, data, size);
	file.n += (uint32_t)(data_at + (size + 7) / 8 * 8);
	put32(8, file.n);
	put32(28, ++file.entries);
	return at;
}

static void add_number(const char *name, int64_t n)
{
	add(name, 'J', &n, sizeof n);
}

static void add_text(const char *name, const char *s)
{
	add(name, 'B', s, strlen(s) + 1);
}

static void add_generations(int64_t young, int64_t old)
{
	add_number("sun.gc.generation.0.maxCapacity", young);
	add_number("sun.gc.generation.1.maxCapacity", old);
}

static void test_counters(void **state)
{
	struct hsperf h;
	(void)state;
	begin();
	add_text("sun.gc.policy.name", "ParScav:MSC");
	add_generations(4096, 8192);
	add_number("sun.gc.generation.0.space.0.used", 100);
	add_number("sun.gc.generation.0.space.2.used", 20);
	add_number("sun.gc.generation.1.space.0.used", 3);
	add_number("sun.gc.generation.1.space.0.capacity", 7777);
	add_number("sun.gc.generation.1.capacity", 4000);
	add_number("sun.os.hrt.frequency", 1000);
	add_number("sun.gc.collector.0.time", 1500);
	add_number("sun.gc.collector.2.time", 500);
	add_number("sun.gc.collector.1.invocations", 9);
	add_text("sun.rt.javaCommand", "a.Main b");
	assert_true(hsperf_parse(file.byte, file.n, &h));
	assert_int_equal(h.counters.heap_max, 4096 + 8192);
	assert_int_equal(h.counters.heap_used, 123);
	assert_int_equal(h.counters.heap_committed, 4000);
	assert_int_equal(h.counters.collection_ns, 2000000000);
	assert_int_equal(h.counters.full_collections, 9);
	assert_string_equal(h.command, "a.Main b");
	hsperf_release(&h);
}

/* Each generation may grow to the whole heap; those of Serial add up. */
static void test_one_heap(void **state)
{
	static const char *const policies[] = { "GarbageFirst", "", "ParScav:MSC", "Copy:MSC" };
	struct hsperf h;
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		begin();
		add_text("java.property.java.vm.specification.version", i < 2 ? "17" : "28");
		if (*policies[i])
			add_text("sun.gc.policy.name", policies[i]);
		add_generations(8192 + 24, 8192 + 8);
		assert_true(hsperf_parse(file.byte, file.n, &h));
		assert_int_equal(h.counters.heap_max, i < 3 ? 8192 : 2 * 8192);
		hsperf_release(&h);
	}
}

static void test_versions(void **state)
{
	struct hsperf h;
	(void)state;
	begin();
	add_text("java.property.java.vm.specification.version", "1.8");
	add_text("sun.rt.internalVersion", "OpenJDK 64-Bit Server VM (25.402-b06) for linux-amd64 JRE (1.8.0_402-b06), "
	    "built");
	assert_true(hsperf_parse(file.byte, file.n, &h));
	assert_int_equal(h.release, 8);
	assert_string_equal(h.version, "1.8.0_402");
	hsperf_release(&h);
	add_text("java.property.java.version", "21");
	assert_true(hsperf_parse(file.byte, file.n, &h));
	assert_string_equal(h.version, "21");
	hsperf_release(&h);
}

/* What is wrong in one entry costs that entry; the file's end is never passed: sanitizers see the exact copy. */
static void test_hostile(void **state)
{
	static const uint32_t values[] = { 0, 1, 19, 20, 21, 4095, 4096, INT32_MAX, UINT32_MAX };
	struct hsperf h;
	int64_t n = 5;
	(void)state;
	for (size_t field = 0; field < 20; field += 4)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			begin();
			size_t at = add("sun.gc.generation.0.space.0.used", 'J', &n, sizeof n);
			put32(at + field, values[i]);
			uint8_t *copy = malloc(file.n);
			memcpy(copy, file.byte, file.n);
			assert_true(hsperf_parse(copy, file.n, &h));
			assert_true(h.counters.heap_used == 0 || h.counters.heap_used == 5 || field == 16);
			hsperf_release(&h);
			free(copy);
		}
	begin();
	add_number("sun.gc.generation.0.space.0.used", -1);
	add_number("sun.gc.generation.1.space.0.used", 7);
	assert_true(hsperf_parse(file.byte, file.n, &h));
	assert_int_equal(h.counters.heap_used, 7);
	hsperf_release(&h);
	for (size_t i = 0; i < 8; i++) { /* not yet accessible, another major version, no magic */
		begin();
		file.byte[i] ^= 0xff;
		bool read = hsperf_parse(file.byte, file.n, &h);
		assert_int_equal(read, i == 4 || i == 6 || i == 7);
		hsperf_release(&h);
	}
	begin();
	file.byte[7] = 0;
	assert_false(hsperf_parse(file.byte, file.n, &h));
	for (size_t size = 0; size < 32; size++)
		assert_false(hsperf_parse(file.byte, size, &h));
}

static void test_attach_info(void **state)
{
	static const char text[] = "#Tue\ndisplayName=a\\:b\\\\c \\u00e4\\ud800\\r\\f\\t d\\\nprocessId=12\r\nx\nprocessId";
	struct openj9_info i;
	(void)state;
	assert_true(openj9_info_parse(text, sizeof text - 1, &i));
	assert_int_equal(i.pid, 12);
	assert_string_equal(i.command, "a:b\\c \u00e4\ufffd\r\f\t d\\");
	openj9_info_release(&i);
	for (size_t n = 0; n < 40; n++) {
		char *copy = malloc(n ? n : 1);
		memcpy(copy, text, n);
		assert_false(openj9_info_parse(copy, n, &i));
		openj9_info_release(&i);
		free(copy);
	}
}

static void test_uptime(void **state)
{
	static const struct {
		uint64_t seconds;
		const char *words;
	} cases[] = { { 0, "0s" }, { 59, "59s" }, { 60, "1m" }, { 61, "1m 1s" }, { 3600, "1h" }, { 3659, "1h" },
		{ 7320, "2h 2m" }, { 86399, "23h 59m" }, { 90061, "1d 1h" }, { 86400 * 400, "400d" } };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text t = TEXT_INIT;
		process_add_uptime(cases[i].seconds, &t);
		assert_string_equal(t.s, cases[i].words);
		text_release(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters), cmocka_unit_test(test_one_heap), cmocka_unit_test(test_versions),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_attach_info), cmocka_unit_test(test_uptime),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
