/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_files.c - files that are held, the door to files that are written, what is a dump, and endings of names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/suffixes.h"
#include "base/files.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"

static char folder[] = "/tmp/cairn-files-XXXXXX";

static int enter_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	(void)state;
	return chdir("/") || rmdir(folder);
}

static void write_file(const char *path, const char *bytes)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(bytes, f);
	assert_int_equal(fclose(f), 0);
}

static void expect_file(const char *path, const char *wanted)
{
	char bytes[64] = "";
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	bytes[fread(bytes, 1, sizeof bytes - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(bytes, wanted);
}

static void expect_refused(const char *path, const char *what)
{
	struct err err = ERR_INIT;
	char wanted[200];
	assert_int_equal(file_open_to_write(path, O_WRONLY | O_CREAT | O_TRUNC, 0666, &err), ERR_USAGE);
	snprintf(wanted, sizeof wanted, "%s is %s, which cairn is reading (choose another file)", path, what);
	assert_string_equal(err.message, wanted);
}

static void expect_open(const char *path, int flags)
{
	struct err err = ERR_INIT;
	int fd = file_open_to_write(path, flags, 0666, &err);
	assert_true(fd >= 0);
	close(fd);
}

static void held(void **state)
{
	(void)state;
	write_file("a", "bytes");
	assert_int_equal(link("a", "hard"), 0);
	assert_int_equal(symlink("hard", "soft"), 0);
	file_hold hold = file_hold_path("a", "the first");
	assert_true(hold != 0);
	expect_refused("a", "the first");
	expect_refused("hard", "the first");
	expect_refused("soft", "the first");

	/* another one holds it as well, and is left */
	int fd = open("a", O_RDONLY);
	file_hold second = file_hold_open(fd, "the second");
	assert_string_equal(file_held_as(fd), "the second");
	file_let_go(hold);
	expect_refused("soft", "the second");
	file_let_go(hold); /* an old one means nothing */
	expect_refused("soft", "the second");

	/* the file is meant, not its name */
	assert_int_equal(rename("a", "moved"), 0);
	write_file("a", "new");
	expect_open("a", O_WRONLY);
	expect_refused("moved", "the second");
	file_let_go(second);
	assert_null(file_held_as(fd));
	close(fd);
	expect_open("moved", O_WRONLY);
	expect_file("moved", "bytes");
	assert_int_equal(unlink("a") | unlink("moved") | unlink("hard") | unlink("soft"), 0);
}

/* Opening changes nothing in a file; what is no regular file is never held. */
static void door(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	write_file("a", "bytes");
	expect_open("a", O_WRONLY | O_CREAT | O_TRUNC);
	expect_file("a", "bytes");
	expect_open("b", O_WRONLY | O_CREAT);
	expect_file("b", "");
	assert_int_equal(file_open_to_write("c", O_WRONLY, 0, &err), ERR_IO);
	assert_string_equal(err.message, "c: No such file or directory");
	assert_int_equal(file_open_to_write("no\nsuch\033/c", O_WRONLY | O_CREAT, 0666, &err), ERR_IO);
	assert_string_equal(err.message, "no\\nsuch\\x1b/c: No such file or directory");
	assert_true(file_hold_path("/dev/null", "nothing") == 0);
	assert_true(file_hold_path("none", "nothing") == 0);
	assert_true(file_hold_open(-1, "nothing") == 0);
	expect_open("/dev/null", O_WRONLY);
	file_let_go(0);
	assert_int_equal(unlink("a") | unlink("b"), 0);
}

/* A source holds its file as long as it is open, also where it was inflated. */
static void sources(void **state)
{
	(void)state;
	struct err err = ERR_INIT;
	struct source *source = NULL;
	write_file("plain", "bytes");
	gzFile gz = gzopen("packed", "w");
	gzputs(gz, "bytes");
	gzclose(gz);
	for (int i = 0; i < 2; i++) {
		const char *path = i ? "packed" : "plain";
		assert_int_equal(source_open(&source, path, NULL, &err), 0);
		expect_refused(path, "the dump");
		source_close(source);
		expect_open(path, O_WRONLY);
		assert_int_equal(unlink(path), 0);
	}
}

static void expect_dump(const char *head, size_t n, const char *label)
{
	const char *found = dump_label_of((const uint8_t *)head, n);
	if (label)
		assert_string_equal(found ? found : "", label);
	else
		assert_null(found);
}

static void labels(void **state)
{
	(void)state;
	static const char hprof[] = "JAVA PROFILE 1.0.2\0\0\0\0\010\0\0\0\0\0\0\0\0";
	expect_dump(hprof, sizeof hprof, "HPROF");
	expect_dump("go1.7 heap dump\n\006", 17, "go");
	expect_dump("", 0, NULL);
	expect_dump("class,objects\r\n", 15, NULL);
	expect_dump("\037\213", 2, NULL);
	expect_dump("\037\213not gzip at all", 18, NULL);

	/* its first bytes suffice */
	uint8_t packed[200];
	z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)hprof, .avail_in = sizeof hprof,
	    .next_out = packed, .avail_out = sizeof packed};
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_SYNC_FLUSH), Z_OK);
	size_t n = sizeof packed - z.avail_out;
	deflateEnd(&z);
	expect_dump((const char *)packed, n, "HPROF");
}

static void endings(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t packed, archive;
		bool gzip;
		const char *other;
	} names[] = {
		{"heap.hprof", 0, 0, false, NULL},
		{"heap.hprof.gz", 3, 0, true, NULL},
		{"HEAP.GZ", 3, 0, true, NULL},
		{"heap.hprof.zst", 4, 0, false, ".zst"},
		{"heap.lzma", 5, 0, false, ".lzma"},
		{"dumps.zip", 0, 4, false, ".zip"},
		{"dumps.tar.gz", 3, 7, false, ".tar.gz"},
		{"dumps.tar.gz.xz", 3, 0, false, ".xz"},
		{"dumps.tgz", 0, 4, false, ".tgz"},
		{".gz", 0, 0, false, NULL},
		{".tar.gz", 3, 0, true, NULL},
		{"gz", 0, 0, false, NULL},
		{"", 0, 0, false, NULL},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *name = names[i].name, *other = suffix_of_other_packing(name);
		size_t n = strlen(name);
		assert_int_equal(suffix_of_packed(name, n), names[i].packed);
		assert_int_equal(suffix_of_archive(name, n), names[i].archive);
		assert_int_equal(suffix_is_gzip(name), names[i].gzip);
		assert_string_equal(other ? other : "none", names[i].other ? names[i].other : "none");
	}
	assert_int_equal(suffix_of_packed("heap.gz.txt", 7), 3); /* of the first 7 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held),
		cmocka_unit_test(door),
		cmocka_unit_test(sources),
		cmocka_unit_test(labels),
		cmocka_unit_test(endings),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
