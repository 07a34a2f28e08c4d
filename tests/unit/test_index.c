/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_index.c - index files cut at every byte, and with each byte changed, by accident and by somebody who makes the
 * checksums right again.
 *
 * None may lead outside of an array or round in a circle: forged_opens looks at all of what opens.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../fuzz/forged.h"
#include "base/chunks.h"
#include "base/pack.h"
#include "base/parallel.h"
#include "made_hprof.h"
#include "opened/opened.h"

static uint8_t whole[1 << 20];
static size_t n_bytes;

/* A heap with something of each kind: statics, arrays, a thread, a weak reference, garbage. */
static void make(void)
{
	int box = class("demo/Box", object, "next:L size:J");
	int reference = class("java/lang/ref/Reference", object, "referent:L");
	int weak = class("java/lang/ref/WeakReference", reference, "");
	uint64_t last = OBJECT(box, 0, 7), first = OBJECT(box, last, 8), held = OBJECT(weak, first);
	OBJECTS(first, last, held, 0);
	OBJECT(box, text("garbage"), 1);
	trace(1, "wait", 3);
	thread(OBJECTS(held, first), 1, 1);
	open_made();
}

static int begin(void **state)
{
	struct chunks_writer w;
	const struct retained *r;
	struct err err = ERR_INIT;
	begin_made(state);
	make();
	struct opened *o = opened_new(heap);
	FILE *f = tmpfile();
	assert_non_null(f);
	assert_int_equal(opened_find_retained(o, NULL, &r, &err), 0);
	assert_int_equal(chunks_begin(&w, f, &err), 0);
	assert_int_equal(opened_write(o, NULL, &w, &err), 0);
	assert_int_equal(chunks_end(&w, &err), 0);
	rewind(f);
	n_bytes = fread(whole, 1, sizeof whole, f);
	fclose(f);
	opened_free(o);
	assert_in_range(n_bytes, 1000, 60000);
	return 0;
}

/* In memory: a file system may write what was truncated and written anew. */
static bool opens(const uint8_t *content, size_t n, bool forged)
{
	char name[40];
	int fd = memfd_create("index", MFD_CLOEXEC);
	FILE *f = fdopen(fd, "wb");
	assert_non_null(f);
	bool there = forged ? forged_write(content, n, f) : fwrite(content, 1, n, f) == n;
	assert_int_equal(fflush(f), 0);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	bool opened = there && forged_opens(name);
	fclose(f);
	return opened;
}

static void test_whole(void **state)
{
	(void)state;
	assert_true(opens(whole, n_bytes, false));
	assert_true(opens(whole, n_bytes, true));
}

static void test_cut(void **state)
{
	(void)state;
	for (size_t n = 0; n < n_bytes; n++)
		assert_false(opens(whole, n, false));
}

/* What stands in the chunks that are looked at when it opens is not the only thing that may change. */
static void test_accident(void **state)
{
	size_t opened = 0;
	(void)state;
	for (size_t i = 0; i < n_bytes; i++) {
		whole[i] ^= 0x10;
		opened += opens(whole, n_bytes, false);
		whole[i] ^= 0x10;
	}
	assert_in_range(opened, 1, n_bytes - 1000);
}

static void test_forged(void **state)
{
	size_t n_opened = 0;
	static const uint8_t changes[] = {0x01, 0x80, 0xFF};
	(void)state;
	for (size_t i = 0; i < n_bytes; i++) {
		for (size_t k = 0; k < sizeof changes; k++) {
			whole[i] ^= changes[k];
			n_opened += opens(whole, n_bytes, true);
			whole[i] ^= changes[k];
		}
	}
	assert_in_range(n_opened, n_bytes / 10, sizeof changes * n_bytes - 1); /* names, counts and doubts may be any */
}

/* What classes retain is told before references are read, and is what was found without an index. */
static void test_sums(void **state)
{
	(void)state;
	const struct retained *found, *told;
	struct err err = ERR_INIT;
	struct heap *h = NULL;
	char name[40];
	FILE *f = fdopen(memfd_create("index", MFD_CLOEXEC), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(whole, 1, n_bytes, f), n_bytes);
	assert_int_equal(fflush(f), 0);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fileno(f));
	assert_int_equal(heap_open(&h, &(struct heap_options){.path = name, .references_later = true}, NULL, &err), 0);
	fclose(f);
	struct opened *o = opened_new(h), *plain = opened_new(heap);
	opened_own(o, h);
	opened_read_class_sums(plain);
	assert_null(opened_class_sums(plain));
	assert_null(opened_class_sums(o));
	opened_read_class_sums(o);
	told = opened_class_sums(o);
	assert_non_null(told);
	assert_true(heap_waits(h));
	assert_int_equal(opened_find_retained(plain, NULL, &found, &err), 0);
	for (uint32_t c = 0; c < heap->n_classes; c++) {
		assert_int_equal(told->by_class[c].bytes, found->by_class[c].bytes);
		assert_int_equal(told->by_class[c].topmost, found->by_class[c].topmost);
	}
	opened_free(plain);
	opened_free(o);
}

static void test_numbers(void **state)
{
	static const char *const texts[] = {"", "same", "other", "same"};
	struct pack out = { .reading = false }, in;
	struct err err = ERR_INIT;
	(void)state;
	for (uint64_t n = 1; n; n <<= 1)
		pack_number(&out, &n, UINT64_MAX);
	for (size_t i = 0; i < 4; i++) {
		const char *text = texts[i];
		pack_text(&out, &text);
	}
	assert_int_equal(pack_written(&out, &err), 0);
	assert_int_equal(out.n_text, sizeof "" + sizeof "same" + sizeof "other");
	assert_true(pack_open(&in, out.out, out.n, out.text, out.n_text));
	for (uint64_t n = 1, got; n; n <<= 1) {
		pack_number(&in, &got, n);
		assert_int_equal(got, n);
	}
	for (size_t i = 0; i < 4; i++) {
		const char *text;
		pack_text(&in, &text);
		assert_string_equal(text, texts[i]);
	}
	assert_true(pack_ends(&in));
	assert_true(pack_open(&in, out.out, out.n, out.text, out.n_text));
	uint64_t got;
	pack_number(&in, &got, 0); /* it is 1 */
	assert_true(in.bad && got == 0);
	assert_false(pack_open(&in, out.out, out.n, "\x1b[m", 4));
	assert_false(pack_open(&in, out.out, out.n, "no end", 6));
	pack_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_accident),
		cmocka_unit_test(test_forged),
		cmocka_unit_test(test_sums),
	    cmocka_unit_test(test_numbers),
	};
	parallel_set_threads(1); /* files are small, and there are many */
	return cmocka_run_group_tests(tests, begin, end_made);
}
