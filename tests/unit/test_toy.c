/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_toy.c - the reader of doc/adding-a-format.md, and that the page quotes it as it is.
 *
 * Dumps are written here, byte by byte, and read through heap_open as any other.
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
#include <unistd.h>

#include "analysis/check/check.h"
#include "analysis/dominators/dominators.h"
#include "base/text.h"
#include "heap/classes.h"
#include "heap/roots.h"

#include "../toy/toy.h"

/* --- writing ------------------------------------------------------------------------------------ */

static void put(struct text *t, uint64_t value, unsigned bytes)
{
	while (bytes-- > 0)
		text_add_n(t, &(char){ (char)(value >> 8 * bytes) }, 1);
}

static void put_header(struct text *t, unsigned n_names, const char *const *names)
{
	text_add_n(t, "TOY1", 4);
	put(t, n_names, 1);
	for (unsigned i = 0; i < n_names; i++) {
		put(t, strlen(names[i]), 1);
		text_add_n(t, names[i], strlen(names[i]));
	}
}

static void put_object(struct text *t, uint32_t address, uint32_t size, unsigned class, unsigned n,
    const uint32_t *targets)
{
	put(t, 'O', 1);
	put(t, address, 4);
	put(t, size, 4);
	put(t, class, 1);
	put(t, n, 1);
	for (unsigned i = 0; i < n; i++)
		put(t, targets[i], 4);
}

static void put_root(struct text *t, uint32_t address)
{
	put(t, 'R', 1);
	put(t, address, 4);
}

/* --- reading ------------------------------------------------------------------------------------ */

static int open_bytes(struct heap **out, const char *bytes, size_t n, const struct reader *reader,
    struct progress *progress, struct err *err)
{
	char path[64];
	int fd = memfd_create("toy", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct heap_options options = { .path = path,
		.dump = { .no_companion = true, .also = reader } };
	int code = heap_open(out, &options, progress, err);
	close(fd);
	return code;
}

/* Every promise of a heap and of its dominator tree. */
static void keeps_promises(const struct heap *h)
{
	struct checks checks;
	struct retained retained;
	struct err err = ERR_INIT;

	assert_int_equal(check_heap(&checks, h, NULL, &err), 0);
	assert_int_equal(retained_find(&retained, &(struct model){ .heap = h }, NULL, &err), 0);
	assert_int_equal(retained_complete(&retained, NULL, &err), 0);
	assert_int_equal(check_tree(&checks, &retained, &err), 0);
	assert_true(checks.n > 10);
	for (size_t i = 0; i < checks.n; i++)
		if (checks.line[i].outcome == CHECK_BROKEN)
			fail_msg("%s: %s", checks.line[i].name, checks.line[i].detail);
	checks_release(&checks);
	retained_release(&retained);
}

static const char *const names[] = { "Shop", "Item", "Größe" };

/* A shop (a root) with two items, of which one holds the other; an item that nobody holds. */
static void write_shop(struct text *t)
{
	put_header(t, 3, names);
	put_object(t, 0x100, 40, 0, 3, (const uint32_t[]){ 0x200, 0, 0x300 });
	put_root(t, 0x100);
	put_object(t, 0x300, 24, 1, 0, NULL);
	put_object(t, 0x200, 24, 1, 1, (const uint32_t[]){ 0x300 });
	put_object(t, 0x400, 100, 2, 1, (const uint32_t[]){ 0x999 });
}

static void whole(void **state)
{
	struct text t = TEXT_INIT;
	struct heap *h;
	struct err err = ERR_INIT;
	struct progress progress = PROGRESS_INIT;

	(void)state;
	write_shop(&t);
	if (open_bytes(&h, t.s, t.len, &toy_reader, &progress, &err) < 0)
		fail_msg("%s", err.message);
	assert_false(h->damaged);
	assert_string_equal(h->facts.format, "toy");
	assert_string_equal(h->facts.title, "the toy format");
	assert_int_equal(h->n_objects, 4);
	assert_int_equal(h->shallow, 40 + 24 + 24 + 100);
	assert_int_equal(h->n_references, 4);
	assert_int_equal(h->n_dangling, 1);
	assert_int_equal(h->n_roots, 1);
	uint32_t shop = heap_find(h, 0x100), outer = heap_find(h, 0x200), inner = heap_find(h, 0x300),
	    lost = heap_find(h, 0x400);
	assert_true(heap_is_root(h, shop));
	assert_string_equal(heap_class_of(h, shop)->name, "Shop");
	assert_string_equal(heap_class_of(h, outer)->name, "Item");
	assert_string_equal(heap_class_of(h, lost)->name, "Größe");
	assert_int_equal(heap_class_of(h, inner)->n_objects, 2);
	struct retained retained;
	assert_int_equal(retained_find(&retained, &(struct model){ .heap = h }, NULL, &err), 0);
	assert_int_equal(retained_size(&retained, shop), 88);
	assert_int_equal(retained.dominators.immediate[inner], shop); /* which holds it, too */
	assert_int_equal(retained.dominators.immediate[lost], NOT_REACHABLE);
	retained_release(&retained);
	keeps_promises(h);
	heap_close(h);
	text_release(&t);
}

/* Without the test's door nobody knows the format. */
static void not_built_in(void **state)
{
	struct text t = TEXT_INIT;
	struct heap *h;
	struct err err = ERR_INIT;

	(void)state;
	write_shop(&t);
	assert_int_equal(open_bytes(&h, t.s, t.len, NULL, NULL, &err), ERR_FORMAT);
	text_release(&t);
}

/* Each cut of the file is one sentence, and what was whole before it is there. */
static void cut_everywhere(void **state)
{
	struct text t = TEXT_INIT;

	(void)state;
	write_shop(&t);
	size_t header = 4 + 1 + 1 + 4 + 1 + 4 + 1 + strlen(names[2]);
	const size_t records[] = { 11 + 12, 5, 11, 11 + 4, 11 + 4 };
	const bool object[] = { true, false, true, true, true };
	assert_int_equal(t.len, header + 23 + 5 + 11 + 15 + 15);
	for (size_t n = 1; n < t.len; n++) {
		struct heap *h;
		struct err err = ERR_INIT;
		int code = open_bytes(&h, t.s, n, &toy_reader, NULL, &err);
		if (n < header) {
			assert_true(code == ERR_TRUNCATED || (n < 4 && code == ERR_FORMAT));
			assert_true(strlen(err.message) > 10);
			continue;
		}
		size_t at = header, i = 0, n_objects = 0;
		for (; at + records[i] <= n; i++) {
			at += records[i];
			n_objects += object[i];
		}
		assert_int_equal(code, 0);
		assert_int_equal(h->n_objects, n_objects);
		assert_int_equal(h->damaged, at != n);
		if (h->damaged)
			assert_non_null(strstr(h->damage.message, "truncated at byte"));
		if (n_objects)
			keeps_promises(h);
		heap_close(h);
	}
	text_release(&t);
}

static void damaged(void **state)
{
	struct text t = TEXT_INIT;
	struct heap *h;
	struct err err = ERR_INIT;

	(void)state;
	put_header(&t, 1, names);
	put_object(&t, 0x100, 40, 0, 0, NULL);
	size_t at = t.len;
	put_object(&t, 0x200, 40, 1, 0, NULL); /* there is no such class */
	assert_int_equal(open_bytes(&h, t.s, t.len, &toy_reader, NULL, &err), 0);
	assert_true(h->damaged);
	assert_int_equal(h->damage.offset, at);
	assert_int_equal(h->n_objects, 1);
	heap_close(h);
	t.s[at] = 'X';
	assert_int_equal(open_bytes(&h, t.s, t.len, &toy_reader, NULL, &err), 0);
	assert_true(h->damaged);
	assert_int_equal(h->damage.offset, at);
	heap_close(h);
	text_release(&t);
}

/* Many cuts of one part say what one part says. */
static void in_parts(void **state)
{
	enum { N = 5000 };
	struct text t = TEXT_INIT;
	struct heap *h;
	struct err err = ERR_INIT;
	uint64_t references = 0;

	(void)state;
	put_header(&t, 3, names);
	for (uint32_t i = 1; i <= N; i++) {
		uint32_t targets[5] = { 16 * (i + 1), 16 * (i * 7 % N + 1), 0, 16 * (i / 2), 16 * i };
		put_object(&t, 16 * i, 16 + i % 5, i % 3, i % 6, targets);
		for (unsigned k = 0; k < i % 6; k++)
			references += targets[k] != 0;
	}
	put_root(&t, 16);
	for (toy_part_bytes = 100; toy_part_bytes <= PART_BYTES; toy_part_bytes *= 200) {
		assert_int_equal(open_bytes(&h, t.s, t.len, &toy_reader, NULL, &err), 0);
		assert_false(h->damaged);
		assert_int_equal(h->n_objects, N);
		assert_int_equal(h->n_references, references);
		for (uint32_t id = 0; id < N; id += 97) {
			uint32_t i = (uint32_t)(heap_address(h, id) / 16);
			assert_int_equal(heap_shallow(h, id), 16 + i % 5);
			assert_string_equal(heap_class_of(h, id)->name, names[i % 3]);
		}
		keeps_promises(h);
		heap_close(h);
	}
	toy_part_bytes = PART_BYTES;
	text_release(&t);
}

/* --- the page ----------------------------------------------------------------------------------- */

static void read_text(struct text *to, const char *name)
{
	const char *source = getenv("CAIRN_SOURCE");
	struct text path = TEXT_INIT;
	char buffer[4096];

	text_addf(&path, "%s/%s", source ? source : ".", name);
	FILE *f = fopen(path.s, "r");
	if (!f)
		fail_msg("%s is not there", path.s);
	for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
		text_add_n(to, buffer, n);
	fclose(f);
	text_release(&path);
}

/* Every piece of C on the page stands in the reader, byte for byte. */
static void quoted(void **state)
{
	struct text page = TEXT_INIT, code = TEXT_INIT;
	unsigned n = 0;

	(void)state;
	read_text(&page, "doc/adding-a-format.md");
	read_text(&code, "tests/toy/toy.c");
	for (char *p = page.s; (p = strstr(p, "```c\n")) != NULL; n++) {
		char *begin = p + strlen("```c\n"), *end = strstr(begin, "```");
		assert_non_null(end);
		*end = '\0';
		if (!strstr(code.s, begin))
			fail_msg("the page quotes what is not in tests/toy/toy.c:\n%s", begin);
		p = end + 1;
	}
	assert_true(n >= 3);
	text_release(&page);
	text_release(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(not_built_in),
		cmocka_unit_test(cut_everywhere),
		cmocka_unit_test(damaged),
		cmocka_unit_test(in_parts),
		cmocka_unit_test(quoted),
	};
	return cmocka_run_group_tests_name("toy", tests, NULL, NULL);
}
