/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_archive.c - dumps packed in every way and dumps in archives, all written by libarchive: the same bytes, where
 * they are whole; what came and a remark, where they are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/opening.h"
#include "dump/source/source.h"
#include "memory/big.h"
#include "one_file.h"

/* How often an archive was unpacked, and gone through: the linker leads these calls here. */
static unsigned unpacked, walks;

int __real_gzip_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err);
int __wrap_gzip_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err);
int __real_walk_begin(struct walk **out, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err);
int __wrap_walk_begin(struct walk **out, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err);

int __wrap_gzip_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	unpacked++;
	return __real_gzip_inflate(o, p, in, n, progress, err);
}

int __wrap_walk_begin(struct walk **out, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err)
{
	walks++;
	return __real_walk_begin(out, p, s, progress, err);
}

#ifdef HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>

static char member[600];

enum { PLAIN = 700 * 1000, ROOM = 8 << 20 };
static uint8_t plain[PLAIN], packed[ROOM], again[ROOM];

static int make_plain(void **state)
{
	uint32_t random = 1;
	for (size_t i = 0; i < PLAIN; i++) { /* neither dull nor without any pattern */
		random = random * 1664525 + 1013904223;
		plain[i] = i % 100 < 50 ? (uint8_t)(i / 3) : (uint8_t)(random >> 24);
	}
	memcpy(plain, "JAVA PROFILE 1.0.2\0\0\0\0\10\0\0\0\0\0\0\0\0", 31);
	return make_folder(state);
}

/* --- packing, by libarchive's other half ---------------------------------------------------------- */

struct made {
	const char *name;
	const void *bytes;
	size_t n;
};

/* As a format and through a filter; returns the bytes, 0 where this libarchive cannot write it. */
static size_t pack(uint8_t *out, const char *format, const char *filter, const char *options, const struct made *made,
    size_t n_made)
{
	struct archive *a = archive_write_new();
	size_t used = 0;
	bool can = archive_write_set_format_by_name(a, format) == ARCHIVE_OK &&
	    (!filter || archive_write_add_filter_by_name(a, filter) == ARCHIVE_OK) &&
	    (!options || archive_write_set_options(a, options) == ARCHIVE_OK);
	archive_write_set_bytes_in_last_block(a, 1);
	can = can && archive_write_open_memory(a, out, ROOM, &used) == ARCHIVE_OK;
	for (size_t i = 0; can && i < n_made; i++) {
		struct archive_entry *e = archive_entry_new();
		archive_entry_set_pathname(e, made[i].name);
		archive_entry_set_size(e, (la_int64_t)made[i].n);
		archive_entry_set_filetype(e, AE_IFREG);
		archive_entry_set_perm(e, 0644);
		archive_entry_set_mtime(e, 1700000000, 0);
		assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
		assert_int_equal(archive_write_data(a, made[i].bytes, made[i].n), made[i].n);
		archive_entry_free(e);
	}
	assert_true(archive_write_close(a) == ARCHIVE_OK || !can);
	archive_write_free(a);
	return can ? used : 0;
}

static const struct made alone = {"heap.hprof", plain, PLAIN};
/* gzip's own tests stand in test_source.c */
static const char *const filters[] = {"xz", "bzip2", "lz4", "zstd", "lzip", "compress"};
#define N_FILTERS (sizeof filters / sizeof *filters)

static struct source *open_bytes(const uint8_t *bytes, size_t n, const char *which)
{
	struct source *s;
	struct err err = ERR_INIT;
	write_file(bytes, n);
	snprintf(member, sizeof member, "%s%s", path, which);
	int code = source_open(&s, member, NULL, &err);
	assert_string_equal(err.message, "");
	assert_int_equal(code, 0);
	assert_int_equal(s->file_size, n);
	return s;
}

static void holds_plain(const uint8_t *bytes, size_t n, const char *which)
{
	struct source *s = open_bytes(bytes, n, which);
	assert_true(s->compressed);
	assert_false(s->truncated);
	assert_string_equal(s->remark, "");
	assert_int_equal(s->size, PLAIN);
	assert_memory_equal(s->bytes, plain, PLAIN);
	source_close(s);
}

static void refused(const uint8_t *bytes, size_t n, const char *which, int code, const char *words)
{
	struct source *s;
	struct err err = ERR_INIT;
	const struct source_look look = dump_look(NULL);
	write_file(bytes, n);
	snprintf(member, sizeof member, "%s%s", path, which);
	assert_int_equal(source_open_if(&s, member, &look, NULL, &err), code);
	assert_null(s);
	assert_memory_equal(err.message, path, strlen(path));
	if (!strstr(err.message, words))
		assert_string_equal(err.message, words);
}

/* --- files packed by themselves -------------------------------------------------------------------- */

static void every_packing(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FILTERS; i++) {
		size_t n = pack(packed, "raw", filters[i], NULL, &alone, 1);
		assert_true(n > 0);
		holds_plain(packed, n, "");
	}
}

/* What pbzip2, pzstd, "cat a.xz b.xz" and others write. */
static void several_streams(void **state)
{
	static const char *const can[] = {"xz", "bzip2", "zstd", "lz4"};
	const struct made first = {"a", plain, PLAIN / 3}, second = {"b", plain + PLAIN / 3, PLAIN - PLAIN / 3};
	(void)state;
	for (size_t i = 0; i < sizeof can / sizeof *can; i++) {
		size_t n = pack(packed, "raw", can[i], NULL, &first, 1), m = pack(again, "raw", can[i], NULL, &second, 1);
		memcpy(packed + n, again, m);
		holds_plain(packed, n + m, "");
	}
	size_t n = pack(packed + 12, "raw", "zstd", NULL, &alone, 1); /* behind a frame to be skipped, as pzstd has it */
	memcpy(packed, "\x50\x2A\x4D\x18\4\0\0\0skip", 12);
	holds_plain(packed, n + 12, "");
}

/* Cut anywhere, it is the first bytes of the dump, and it is said. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FILTERS; i++) {
		const char *small = !strcmp(filters[i], "bzip2") ? "bzip2:compression-level=1" :
		    !strcmp(filters[i], "lz4") ? "lz4:block-size=4" : NULL; /* of a block nothing comes before its end */
		size_t n = pack(packed, "raw", filters[i], small, &alone, 1), most = 0;
		for (size_t at = 6; at < n - 1; at += at < 40 ? 1 : n / 11) {
			struct source *s = NULL;
			struct err err = ERR_INIT;
			write_file(packed, at);
			int code = source_open(&s, path, NULL, &err);
			if (code) {
				assert_true(code == ERR_TRUNCATED || code == ERR_FORMAT);
				assert_true(at < n / 2);
				continue;
			}
			assert_true(s->size <= PLAIN);
			assert_memory_equal(s->bytes, plain, s->size);
			if (strcmp(filters[i], "compress") != 0) { /* which has no end of its own */
				assert_true(s->truncated);
				assert_non_null(strstr(s->remark, filters[i]));
				assert_non_null(strstr(s->remark, "of the file"));
			}
			most = s->size > most ? (size_t)s->size : most;
			source_close(s);
		}
		assert_true(most > PLAIN / 2);
	}
}

/* With a wrong byte nothing else may come out unless it is said. */
static void wrong_anywhere(void **state)
{
	static const char *const checked[] = {"xz", "bzip2", "zstd", "lz4"};
	(void)state;
	for (size_t i = 0; i < sizeof checked / sizeof *checked; i++) {
		const char *options = !strcmp(checked[i], "lz4") ? "lz4:stream-checksum=1" : NULL;
		size_t n = pack(packed, "raw", checked[i], options, &alone, 1);
		for (size_t at = 7; at < n; at += n / 23) {
			struct source *s = NULL;
			struct err err = ERR_INIT;
			packed[at] ^= 0x40;
			write_file(packed, n);
			packed[at] ^= 0x40;
			int code = source_open(&s, path, NULL, &err);
			if (!code && !s->truncated && strcmp(checked[i], "zstd") != 0) { /* libarchive's has no checksum */
				assert_int_equal(s->size, PLAIN);
				assert_memory_equal(s->bytes, plain, PLAIN);
			}
			source_close(s);
		}
	}
}

/* --- archives -------------------------------------------------------------------------------------- */

static const char *const formats[] = {"zip", "ustar", "pax", "gnutar"};
#define N_FORMATS (sizeof formats / sizeof *formats)

static void every_archive(void **state)
{
	static const char text[] = "a log that somebody has put beside it\n";
	const struct made made[] = {{"logs/a.log", text, sizeof text}, alone, {"../../b.log", text, sizeof text}};
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		size_t n = pack(packed, formats[i], NULL, NULL, made, 3);
		assert_true(n > 0);
		holds_plain(packed, n, "::heap.hprof");
		holds_plain(packed, n, "::./heap.hprof");
		refused(packed, n, "::nothing", ERR_FORMAT, "archive has no member nothing");
		struct source *s;
		struct err err = ERR_INIT;
		const struct source_look look = dump_look(NULL);
		write_file(packed, n);
		assert_int_equal(source_open_if(&s, path, &look, NULL, &err), 0); /* the only dump in it */
		assert_string_equal(source_inside(s), "::heap.hprof");
		assert_int_equal(s->size, PLAIN);
		source_close(s);
		for (size_t k = 0; k < N_FILTERS; k++) {
			n = pack(packed, formats[i], strcmp(formats[i], "zip") ? filters[k] : NULL, NULL, made, 3);
			holds_plain(packed, n, "::heap.hprof");
		}
	}
}

/* What is only stored needs no memory. */
static void in_its_place(void **state)
{
	static const struct { const char *format, *options; bool stands; } kinds[] = {
	    {"zip", "zip:compression=store", true}, {"zip", NULL, false}, {"ustar", NULL, true}, {"pax", NULL, true}};
	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t n = pack(packed, kinds[i].format, NULL, kinds[i].options, &alone, 1);
		uint64_t before = big_in_use() + big_spilled();
		struct source *s = open_bytes(packed, n, "::heap.hprof");
		assert_int_equal(s->size, PLAIN);
		assert_memory_equal(s->bytes, plain, PLAIN);
		assert_true((big_in_use() + big_spilled() - before < PLAIN) == kinds[i].stands);
		source_close(s);
		assert_int_equal(big_in_use() + big_spilled(), before);
	}
}

static void one_of_several(void **state)
{
	const struct made made[] = {{"a.hprof", plain, 5000}, {"b.hprof", plain, PLAIN}, {"b.hprof", plain, 6000},
	    {"c\033[2J", "text, and more of it", 20}};
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		size_t n = pack(packed, formats[i], NULL, NULL, made, 4);
		refused(packed, n, "", ERR_USAGE, "archive of 2 dumps (add :: and a name: a.hprof (4.9K), "
		    "b.hprof");
		struct source *s = open_bytes(packed, n, "::b.hprof");
		assert_int_equal(s->size, 6000); /* the last one, as unpacking would leave it */
		source_close(s);
		n = pack(packed, formats[i], NULL, NULL, made + 3, 1);
		refused(packed, n, "", ERR_FORMAT, "without a heap dump, but with c\\x1b[2J");
	}
	static const uint8_t empty[22] = "PK\5\6";
	refused(empty, sizeof empty, "", ERR_FORMAT, "a zip archive without files");
}

static void cut_archives(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		size_t n = pack(packed, formats[i], NULL, i ? NULL : "zip:compression=store", &alone, 1);
		struct source *s = open_bytes(packed, n / 2, "::heap.hprof");
		assert_true(s->truncated && s->size > PLAIN / 3 && s->size < PLAIN);
		assert_memory_equal(s->bytes, plain, s->size);
		assert_non_null(strstr(s->remark, "is truncated at byte"));
		source_close(s);
	}
	size_t n = pack(packed, "zip", NULL, NULL, &alone, 1);
	packed[n / 2] ^= 0x10; /* the checksum is of all bytes */
	struct source *s = open_bytes(packed, n, "::heap.hprof");
	assert_true(s->truncated);
	source_close(s);
}

/* --- one in another -------------------------------------------------------------------------------- */

static size_t wrap(size_t n, const char *format, const char *filter, const char *name)
{
	const struct made made = {name, packed, n};
	size_t m = pack(again, format, filter, NULL, &made, 1);
	assert_true(m > 0);
	memcpy(packed, again, m);
	return m;
}

static void one_in_another(void **state)
{
	(void)state;
	size_t n = pack(packed, "raw", "xz", NULL, &alone, 1);
	n = wrap(n, "raw", "zstd", "x");
	holds_plain(packed, n, "");
	n = wrap(n, "ustar", "bzip2", "heap.hprof.xz.zst");
	holds_plain(packed, n, "::heap.hprof.xz.zst");
	n = wrap(n, "raw", "gzip", "x");
	refused(packed, n, "::heap.hprof.xz.zst", ERR_FORMAT, "packed in more than 4 nested layers");
	n = pack(packed, "ustar", NULL, NULL, &alone, 1);
	n = wrap(n, "zip", NULL, "in::ner.tar");
	holds_plain(packed, n, "::in::ner.tar::heap.hprof");
	holds_plain(packed, n, "::in::ner.tar");
	refused(packed, n, "", ERR_FORMAT, "to look into the archive in it, add ::in::ner.tar");
	refused(packed, n, "::in::ner.tar::no", ERR_FORMAT, "a tar archive has no member no");
	refused(packed, n, "::in::ner.tar::heap.hprof::no", ERR_FORMAT, "is not a known archive");
	refused(plain, PLAIN, "::no", ERR_FORMAT, "the file is not a known archive, so it has no member no");
}

static void waiting_members(void **state)
{
	struct source *waits, *s;
	struct err err = ERR_INIT;
	(void)state;
	size_t n = pack(packed, "zip", NULL, NULL, &alone, 1);
	write_file(packed, n);
	snprintf(member, sizeof member, "%s::heap.hprof", path);
	assert_int_equal(source_open_waiting(&waits, member, &err), 0);
	assert_int_equal(waits->size, 0);
	assert_true(waits->compressed);
	assert_int_equal(source_inflate(&s, waits, NULL, NULL, &err), 0);
	assert_int_equal(s->size, PLAIN);
	assert_memory_equal(s->bytes, plain, PLAIN);
	source_close(s);
	source_close(waits);
}

/* --- an unfinished dump and its parts ---------------------------------------------------------------- */

enum { MOST_PARTS = 9, HEAD = 9, BODY = 9 };

static void expect_parts(const char *format, const char *filter, unsigned n_parts, bool reversed)
{
	uint8_t parts[MOST_PARTS][HEAD + BODY], file[31 + HEAD] = {0};
	char names[MOST_PARTS][24];
	struct made made[MOST_PARTS + 1];
	const struct source_look look = dump_look(NULL);
	struct source *s;
	struct err err = ERR_INIT;
	memcpy(file, plain, 31);
	file[31] = 1; /* a record of no bytes */
	made[reversed ? n_parts : 0] = (struct made){"a.hprof", file, sizeof file};
	for (unsigned i = 0; i < n_parts; i++) {
		memcpy(parts[i], "\x1c\0\0\0\0\0\0\0\x9\x5", HEAD + 1);
		memset(parts[i] + HEAD + 1, (int)i, BODY - 1);
		snprintf(names[i], sizeof names[i], "a.hprof.p%u", i);
		made[reversed ? n_parts - 1 - i : i + 1] = (struct made){names[i], parts[i], sizeof parts[i]};
	}
	write_file(packed, pack(packed, format, filter, NULL, made, n_parts + 1));
	unpacked = walks = 0;
	assert_int_equal(source_open_if(&s, path, &look, NULL, &err), 0);
	assert_int_equal(unpacked, filter != NULL);
	assert_int_equal(walks, 3); /* to choose the dump, to take it, to take its parts */
	assert_int_equal(s->n_pieces, n_parts + 1);
	assert_int_equal(s->size, sizeof file + n_parts * sizeof *parts);
	assert_memory_equal(s->bytes, file, sizeof file);
	for (unsigned i = 0; i < n_parts; i++)
		assert_memory_equal(s->bytes + s->pieces[i + 1].begin, parts[reversed ? n_parts - 1 - i : i], sizeof *parts);
	source_close(s);
}

static void parts_in_one_walk(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= MOST_PARTS; n += 4)
		for (int reversed = 0; reversed < 2; reversed++) {
			expect_parts("ustar", "gzip", n, reversed);
			expect_parts("ustar", NULL, n, reversed);
			expect_parts("zip", NULL, n, reversed);
		}
}

/* --- listing --------------------------------------------------------------------------------------- */

static void listed(void **state)
{
	const struct made made[] = {{"a.hprof", plain, 100000}, {"b.txt", "just a text, of some length", 27},
	    {"/abs/../c.hprof", plain, 70000}, {"a.hprof", plain, PLAIN}};
	struct source_members *m;
	struct err err = ERR_INIT;
	(void)state;
	for (size_t i = 0; i < N_FORMATS; i++) {
		size_t n = pack(packed, formats[i], i == 1 ? "gzip" : NULL, NULL, made, 4);
		write_file(packed, n);
		assert_int_equal(source_members(&m, path, dump_label_of_member, NULL, &err), 0);
		assert_int_equal(m->n, 3);
		assert_string_equal(m->member[0].name, "b.txt");
		assert_null(m->member[0].label);
		assert_string_equal(m->member[1].name, "/abs/../c.hprof");
		assert_string_equal(m->member[1].label, "HPROF");
		assert_int_equal(m->member[1].written, 1700000000);
		assert_string_equal(m->member[2].name, "a.hprof");
		assert_true(m->member[2].size_known);
		assert_int_equal(m->member[2].size, PLAIN);
		assert_string_equal(m->remark, "");
		assert_int_equal(m->left_out, 0);
		source_members_free(m);
	}
	write_file(plain, PLAIN);
	assert_int_equal(source_members(&m, path, dump_label_of_member, NULL, &err), 1);
	assert_null(m);
	size_t n = pack(packed, "ustar", NULL, NULL, made, 4);
	write_file(packed, n / 2);
	assert_int_equal(source_members(&m, path, dump_label_of_member, NULL, &err), 0);
	assert_non_null(strstr(m->remark, "truncated at byte"));
	source_members_free(m);
	unlink(path);
	assert_int_equal(source_members(&m, path, dump_label_of_member, NULL, &err), ERR_IO);
	assert_non_null(strstr(err.message, "no such file"));
}

static void paths_with_members(void **state)
{
	struct stat st;
	(void)state;
	write_file("x", 1);
	snprintf(member, sizeof member, "%s::a::b", path);
	assert_string_equal(file_member(member), "::a::b");
	assert_int_equal(file_stat(member, &st), 0);
	assert_int_equal(st.st_size, 1);
	assert_null(file_member(path));
	assert_null(file_member("/nowhere::x"));
	snprintf(member, sizeof member, "%s::x", folder); /* no file has members there */
	assert_null(file_member(member));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_packing), cmocka_unit_test(several_streams), cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(wrong_anywhere), cmocka_unit_test(every_archive), cmocka_unit_test(in_its_place),
		cmocka_unit_test(one_of_several), cmocka_unit_test(cut_archives), cmocka_unit_test(one_in_another),
		cmocka_unit_test(waiting_members), cmocka_unit_test(parts_in_one_walk), cmocka_unit_test(listed),
		cmocka_unit_test(paths_with_members),
	};
	return cmocka_run_group_tests(tests, make_plain, remove_folder);
}
#else
int main(void)
{
	puts("1..0 # SKIP without libarchive");
	return 0;
}
#endif
