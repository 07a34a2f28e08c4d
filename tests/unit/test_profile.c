/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_profile.c - profiles into files and out of them, and files that somebody forged: each is a sentence, and
 * none harms.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/compare/compare.h"
#include "base/mem.h"
#include "memory/big.h"
#include "query/profile_file.h"

#ifdef HAVE_SQLITE3
#include "query/profile_schema.h"

static char path[] = "/tmp/cairn-profile-XXXXXX";

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static struct profile_table table(const struct profile_row *rows, uint32_t n)
{
	struct profile_table t = {.row = big_alloc(n, sizeof *rows, NULL), .n = n};
	if (n)
		memcpy(t.row, rows, n * sizeof *rows);
	return t;
}

/* Names of a profile that are equal are the same pointer. */
static const char SHOP[] = "Shop", LIST[] = "java.util.ArrayList", ORDERS[] = "Order[]", THREAD[] = "java.lang.Thread",
    HTTP[] = "http-#", FIELD[] = "list", ELEMENT[] = "[]";

/* Something of everything; names with bytes that steer a terminal. */
static struct profile sample(void)
{
	const struct amount one = amount_exact(1), bytes = amount_exact(24);
	const struct amount unsure = {1000, LOWER_BOUND, REASON_JOINT}, unknown = amount_unknown(REASON_SILENT);
	const struct profile_row paths[] = {
	    {PROFILE_NONE, START_CLASS, "class", SHOP, false, false, false, one, bytes, unsure},
	    {0, START_NOWHERE, FIELD, LIST, true, false, false, one, bytes, bytes},
	    {0, START_NOWHERE, "unused", "Nothing", false, false, false, amount_exact(0), amount_exact(0), amount_exact(0)},
	    {1, START_NOWHERE, ELEMENT, ORDERS, false, true, false, {7, INFERRED, REASON_ROOTS}, unknown, unknown},
	    {3, START_NOWHERE, "\x1b[2J\xff", NULL, false, false, false, amount_exact(INT64_MAX),
	        amount_exact(UINT64_MAX), bytes},
	    {PROFILE_NONE, START_THREAD, HTTP, THREAD, false, false, false, one, bytes, bytes}};
	const struct profile_row classes[] = {
	    {PROFILE_NONE, START_NOWHERE, ORDERS, NULL, false, false, false, one, bytes, bytes},
	    {PROFILE_NONE, START_NOWHERE, "", NULL, false, false, false, amount_exact(0), amount_exact(0),
	        amount_exact(0)}};
	const struct profile_row fields[] = { /* that of two paths, and those that are a path of their own */
	    {PROFILE_NONE, START_NOWHERE, "<class>", NULL, false, false, false, one, bytes, unsure},
	    {PROFILE_NONE, START_NOWHERE, FIELD, SHOP, false, false, false, one, bytes, bytes},
	    {PROFILE_NONE, START_NOWHERE, ELEMENT, LIST, false, false, false, {7, INFERRED, REASON_ROOTS}, unknown,
	        unknown}};
	const struct profile_row thread = {PROFILE_NONE, START_NOWHERE, HTTP, THREAD, false, false, false, one,
	    bytes, bytes};
	return (struct profile){.path = "/where/it/stood/a.hprof", .title = "HPROF", .created = "2026-11-22T01:17:30Z",
	    .word_bits = 64, .names_fields = true, .objects = one, .shallow = unsure, .reachable = unknown,
	    .by = {[PROFILE_PATH] = table(paths, 6), [PROFILE_CLASS] = table(classes, 2),
		[PROFILE_PACKAGE] = table(NULL, 0), [PROFILE_LOADER] = table(NULL, 0), [PROFILE_THREAD] = table(&thread, 1),
		[PROFILE_FIELD] = table(fields, 3)}};
}

static void write_sample_as(bool compressed)
{
	struct profile p = sample();
	struct err err = ERR_INIT;
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(profile_write(&p, f, compressed, NULL, &err), 0);
	assert_int_equal(fclose(f), 0);
	profile_release(&p);
}

static void write_sample(void)
{
	write_sample_as(false);
}

static char *read_all(size_t *n)
{
	static char bytes[1 << 17];
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	*n = fread(bytes, 1, sizeof bytes, f);
	assert_true(*n < sizeof bytes);
	fclose(f);
	return bytes;
}

static void write_all(const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/* The file is refused with these words, or else: read and compared, where they are NULL. */
static void expect_read(const char *words, const char *what)
{
	struct profile p;
	struct err err = ERR_INIT;
	int code = profile_read(&p, path, NULL, &err);
	if (!code) {
		struct comparison c;
		struct text way = TEXT_INIT;
		const struct profile *const two[] = {&p, &p};
		assert_int_equal(compare_profiles(&c, PROFILE_PATH, two, 2, &err), 0);
		for (uint32_t i = 0; i < c.n_rows; i++)
			compared_add(&c, i, &way);
		text_release(&way);
		comparison_release(&c);
		profile_release(&p);
	}
	if (words && (!code || !strstr(err.message, words) || !strstr(err.message, path)))
		fail_msg("%s: %d %s", what, code, err.message);
	if (!words && code)
		fail_msg("%s: %s", what, err.message);
}

static void same_amount(struct amount got, struct amount wanted)
{
	assert_int_equal(got.n, wanted.n);
	assert_int_equal(got.certainty, wanted.certainty);
	assert_int_equal(got.reason, wanted.reason);
}

static void same_row(const struct profile_row *got, const struct profile_row *wanted)
{
	assert_int_equal(got->start, wanted->start);
	assert_string_equal(got->words, wanted->words);
	assert_int_equal(got->class == NULL, wanted->class == NULL);
	if (got->class)
		assert_string_equal(got->class, wanted->class);
	assert_int_equal(got->chain, wanted->chain);
	assert_int_equal(got->array, wanted->array);
	same_amount(got->objects, wanted->objects);
	same_amount(got->retained, wanted->retained);
}

static void expect_sample(void)
{
	static const uint32_t path_kept[] = {0, 1, 3, 4, 5}; /* nothing is on the third one */
	static const uint32_t parents[] = {PROFILE_NONE, 0, 1, 2, PROFILE_NONE};
	struct profile wanted = sample(), got;
	struct err err = ERR_INIT;
	assert_true(profile_is_file(path));
	assert_int_equal(profile_read(&got, path, NULL, &err), 0);
	assert_string_equal(got.path, "a.hprof");
	assert_string_equal(got.title, "profile of HPROF");
	assert_string_equal(got.created, wanted.created);
	assert_int_equal(got.word_bits, 64);
	assert_false(got.mat_sizes);
	assert_true(got.names_fields);
	same_amount(got.objects, wanted.objects);
	same_amount(got.shallow, wanted.shallow);
	same_amount(got.reachable, wanted.reachable);
	assert_int_equal(got.by[PROFILE_PATH].n, 5);
	for (uint32_t i = 0; i < 5; i++) {
		same_row(&got.by[PROFILE_PATH].row[i], &wanted.by[PROFILE_PATH].row[path_kept[i]]);
		assert_int_equal(got.by[PROFILE_PATH].row[i].parent, parents[i]);
	}
	same_amount(got.by[PROFILE_PATH].row[3].shallow,
	    (struct amount){INT64_MAX, LOWER_BOUND, REASON_TOO_LARGE}); /* SQLite's numbers have a sign */
	assert_int_equal(got.by[PROFILE_CLASS].n, 1); /* of the other one there is nothing */
	assert_int_equal(got.by[PROFILE_THREAD].n, 1);
	assert_int_equal(got.by[PROFILE_FIELD].n, 4); /* and what the elements of Order[] lead to */
	for (unsigned by = 0; by < PROFILE_BYS; by++)
		for (uint32_t i = 0; by != PROFILE_PATH && i < wanted.by[by].n && i < got.by[by].n; i++)
			same_row(&got.by[by].row[i], &wanted.by[by].row[i]);
	profile_release(&got);
	profile_release(&wanted);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	write_sample();
	expect_sample();
}

static void what_is_compressed_is_read(void **state)
{
	static const unsigned char gzip[] = {0x1f, 0x8b};
	size_t n;
	(void)state;
	write_sample_as(true);
	char *bytes = read_all(&n);
	assert_memory_equal(bytes, gzip, sizeof gzip);
	expect_sample();
	write_all(bytes, n - 12); /* its end, and the checksum */
	expect_read("damaged profile", "a compressed file that is cut");
	write_sample_as(true);
	read_all(&n);
	bytes[n - 6] ^= 1;
	write_all(bytes, n);
	expect_read("damaged profile", "a compressed file with a wrong checksum");
}

/* Whoever adds a reason, a certainty, a way to begin or a table gives it a word of its own in files. */
static void every_number_has_its_word(void **state)
{
	static const struct {
		const char *const *words;
		unsigned n, without; /* no word: of this one alone */
	} lists[] = {{profile_certainties, UNKNOWN + 1, UINT_MAX}, {profile_reasons, REASONS, UINT_MAX},
	    {profile_kinds, PROFILE_BYS, PROFILE_THREAD}, {profile_starts, PROFILE_STARTS, START_NOWHERE}};
	(void)state;
	for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
		for (unsigned i = 0; i < lists[l].n; i++) {
			assert_int_equal(lists[l].words[i] == NULL, i == lists[l].without);
			for (unsigned k = 0; k < i && lists[l].words[i]; k++)
				assert_true(!lists[l].words[k] || strcmp(lists[l].words[i], lists[l].words[k]));
		}
}

/* --- forged files ------------------------------------------------------------------------------- */

static void run_sql(const char *sql)
{
	sqlite3 *db;
	char *message = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	sqlite3_close(db);
}

static const struct {
	const char *sql, *words; /* NULL: it may be */
} forged[] = {
    {"UPDATE row SET objects = 4 WHERE id = 1", "do not match its checksum"},
    {"UPDATE row SET objects = 4 WHERE id = 1; UPDATE profile SET checksum = NULL", NULL},
    {"PRAGMA user_version = 3", "a profile of version 3, written by a newer cairn"},
    {"PRAGMA user_version = 1", "a profile of version 1: there weak references hold"},
    {"PRAGMA user_version = -1", "newer"},
    {"PRAGMA user_version = 0", "version 0"},
    {"PRAGMA application_id = 1", "not a profile of cairn"},
    {"PRAGMA journal_mode = wal", "in SQLite's WAL mode"},
    {"DROP TABLE sort", "tables are"}, /* the view has lost it */
    {"DROP VIEW named; DROP TABLE sort", "tables are"},
    {"DROP VIEW named", "tables are"},
    {"DROP TABLE profile", "tables are"},
    {"CREATE TABLE more (a)", "tables are not those"},
    {"CREATE INDEX i ON row (words)", "tables are not those"},
    {"CREATE TRIGGER t AFTER INSERT ON row BEGIN DELETE FROM row; END", "tables are not those"},
    {"DROP VIEW named; ALTER TABLE string RENAME TO other; CREATE VIEW string AS SELECT id, text FROM other",
	"tables are"},
    {"DROP TABLE string; CREATE TABLE string (id INTEGER PRIMARY KEY, text TEXT AS (zeroblob(1000000000)))",
	"tables are not those"},
    {"DROP TABLE string; CREATE VIRTUAL TABLE string USING fts5 (id, text)", "tables are not those"},
    {"DROP VIEW named; CREATE VIEW named AS SELECT load_extension('/tmp/x') FROM row", "tables are not those"},
    {"DROP VIEW named; CREATE TABLE named (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)",
	"malformed"},
    {"ALTER TABLE row ADD COLUMN more", "tables are not those"},
    {"DELETE FROM profile", "does not name its dump"},
    {"INSERT INTO profile SELECT * FROM profile", "two dumps"},
    {"UPDATE profile SET word_bits = 48", "about the dump"},
    {"UPDATE profile SET file = NULL", "about the dump"},
    {"UPDATE profile SET format = x'00ff'", "about the dump"},
    {"UPDATE profile SET format = 'a' || char(0) || 'b'", "about the dump"},
    {"UPDATE profile SET sizes = 'other'", "about the dump"},
    {"UPDATE profile SET names_fields = 2", "about the dump"},
    {"UPDATE profile SET objects = -1", "about the dump"},
    {"UPDATE profile SET objects = 'many'", "about the dump"},
    {"UPDATE profile SET objects_certainty = 'quite'", "about the dump"},
    {"UPDATE profile SET objects_certainty = 'inferred'", "about the dump"}, /* without a reason */
    {"UPDATE profile SET reachable = 5", "about the dump"}, /* unknown, and a number */
    {"UPDATE sort SET retained_reason = 'because'", "certainty and reason"},
    {"UPDATE sort SET shallow_certainty = x'6578616374'", "certainty and reason"}, /* a blob of the right bytes */
    {"DELETE FROM sort WHERE id = 0", "ids are not consecutive"},
    {"UPDATE sort SET what = 'heap' WHERE id = 0", "its kind is unknown"},
    {"UPDATE sort SET what = NULL WHERE id = 0", "its kind is unknown"},
    {"UPDATE sort SET what = 'thread' WHERE id = 0", "its kind is unknown"}, /* paths tell them */
    {"UPDATE sort SET start = 'nowhere' WHERE start = 'class'", "its beginning is unknown"},
    {"UPDATE sort SET start = 1.5 WHERE start = 'class'", "its beginning is unknown"},
    {"UPDATE sort SET start = 'class' WHERE what = 'class'", "only paths have beginnings"},
    {"UPDATE sort SET chain = 2 WHERE id = 0", "chain and array"},
    {"UPDATE sort SET array = NULL WHERE id = 0", "chain and array"},
    {"UPDATE string SET text = NULL WHERE id = 1", "it is not a text"},
    {"UPDATE string SET text = x'41' WHERE id = 1", "it is not a text"},
    {"UPDATE string SET id = 99 WHERE id = 1", "ids are not consecutive"},
    {"UPDATE string SET text = CAST(zeroblob(3000000) AS TEXT) WHERE id = 1", "string or blob too big"},
    {"UPDATE string SET text = char(27) || '[2J' || char(0x202e)", "do not match its checksum"},
    {"UPDATE profile SET checksum = NULL; UPDATE string SET text = char(27) || '[2J' || char(0x202e)",
	NULL}, /* all of them the same */
    {"DELETE FROM string", "its string does not exist"},
    {"DELETE FROM row", "do not match its checksum"},
    {"UPDATE profile SET checksum = NULL; DELETE FROM row", NULL},
    {"DELETE FROM row WHERE id = 1", "ids are not consecutive"},
    {"UPDATE row SET id = -5 WHERE id = 0", "ids are not consecutive"},
    {"UPDATE row SET sort = 99 WHERE id = 0", "its sort is unknown"},
    {"UPDATE row SET sort = NULL WHERE id = 0", "its sort is unknown"},
    {"UPDATE row SET parent = id WHERE parent IS NOT NULL", "not an earlier path"},
    {"UPDATE row SET parent = 4294967296 WHERE parent IS NOT NULL", "not an earlier path"},
    {"UPDATE row SET parent = -1 WHERE parent IS NOT NULL", "not an earlier path"},
    {"UPDATE row SET parent = 'top' WHERE parent IS NOT NULL", "not an earlier path"},
    {"UPDATE row SET parent = 4 WHERE id = 3", "not an earlier path"}, /* which has it for its parent: a circle */
    {"UPDATE row SET parent = 0 WHERE id = 3", "not an earlier path"}, /* it is a class */
    {"UPDATE row SET parent = 0 WHERE id = 6", "only paths have parents"},
    {"UPDATE row SET parent = 1 WHERE id = 5", "either a parent or a beginning"},
    {"UPDATE row SET parent = NULL", "either a parent or a beginning"},
    {"UPDATE row SET class = NULL WHERE id = 1", "its class is missing"},
    {"UPDATE row SET class = NULL WHERE id = 5", "its class is missing"},
    {"UPDATE row SET class = 1000000 WHERE id = 2", "its string does not exist"},
    {"UPDATE row SET words = NULL WHERE id = 0", "its string does not exist"},
    {"UPDATE row SET words = -1 WHERE id = 0", "its string does not exist"},
    {"UPDATE row SET objects = -1 WHERE id = 0", "invalid number of"},
    {"UPDATE row SET objects = 1e300 WHERE id = 0", "invalid number of"},
    {"UPDATE row SET shallow = NULL WHERE id = 0", "invalid number of"},
    {"UPDATE row SET retained = 'all' WHERE id = 0", "invalid number of"},
    {"UPDATE row SET retained = zeroblob(9) WHERE id = 0", "invalid number of"},
    {"UPDATE row SET retained = 1 WHERE id = 3", "invalid number of"}, /* unknown, and a number */
    {"UPDATE row SET objects = 9223372036854775807, shallow = 9223372036854775807 WHERE id IN (0, 1, 2)",
	"do not match its checksum"},
    {"UPDATE profile SET checksum = NULL; UPDATE row SET objects = 9223372036854775807, shallow = 9223372036854775807 "
     "WHERE id IN (0, 1, 2)", NULL},
    {"UPDATE profile SET checksum = NULL; INSERT INTO row SELECT 7, sort, parent, words, class, objects, shallow, "
     "retained FROM row WHERE id = 1", NULL},
    {"INSERT INTO row SELECT 7, sort, parent, words, class, objects, shallow, retained FROM row WHERE id = 1",
	"do not match its checksum"},
    {"WITH RECURSIVE n(i) AS (SELECT 20 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
     "INSERT INTO row SELECT (SELECT max(id) FROM row) + i - 19, (SELECT sort FROM row WHERE id = 2), "
     "iif(i = 20, 2, (SELECT max(id) FROM row) + i - 20), 0, 0, 1, 1, 1 FROM n", "its path is too deep"},
};

static void forged_files_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
		write_sample();
		run_sql(forged[i].sql);
		expect_read(forged[i].words, forged[i].sql);
	}
}

static void cut_files_are_refused(void **state)
{
	size_t n;
	(void)state;
	write_sample();
	char *bytes = read_all(&n);
	for (size_t cut = 16; cut < n; cut += cut < 512 ? 7 : 911) {
		write_all(bytes, cut);
		expect_read("", "a file that is cut");
	}
	write_all("SQLite format 3", 16);
	expect_read("it is truncated", "a magic alone");
}

/* Any byte may be any other: no crash, whatever comes of it. */
static void broken_bytes_do_no_harm(void **state)
{
	size_t n;
	uint32_t chance = 1;
	unsigned refused = 0;
	(void)state;
	write_sample();
	char *whole = xcalloc(1, 1 << 17);
	const char *bytes = read_all(&n);
	for (unsigned round = 0; round < 600; round++) {
		struct profile p;
		struct err err = ERR_INIT;
		memcpy(whole, bytes, n);
		for (unsigned i = 0; i < 3; i++) {
			chance = chance * 1664525 + 1013904223;
			/* heads of pages more often than the room in them */
			size_t at = round % 2 ? (chance >> 8) % n : (chance >> 8) % (n / 1024) * 1024 + (chance >> 24) % 120;
			whole[at] ^= (char)(1 + chance % 255);
		}
		write_all(whole, n);
		int code = profile_read(&p, path, NULL, &err);
		if (!code)
			profile_release(&p);
		refused += code != 0;
	}
	assert_true(refused > 50);
	free(whole);
}

static void other_files_are_none(void **state)
{
	struct profile p;
	struct err err = ERR_INIT;
	(void)state;
	write_all("JAVA PROFILE 1.0.2", 19);
	assert_false(profile_is_file(path));
	assert_false(profile_is_file("/nowhere/at/all"));
	assert_false(profile_is_file("/dev/zero"));
	assert_int_equal(profile_read(&p, "/nowhere/at/all", NULL, &err), ERR_IO);
	assert_non_null(strstr(err.message, "/nowhere/at/all"));
}

static void it_stops_when_told(void **state)
{
	struct profile got;
	struct progress stopped = PROGRESS_INIT;
	struct err err = ERR_INIT;
	(void)state;
	write_sample();
	atomic_store(&stopped.cancel, true);
	assert_int_equal(profile_read(&got, path, &stopped, &err), ERR_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_has_its_word),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_compressed_is_read),
		cmocka_unit_test(forged_files_are_refused),
		cmocka_unit_test(cut_files_are_refused),
		cmocka_unit_test(broken_bytes_do_no_harm),
		cmocka_unit_test(other_files_are_none),
		cmocka_unit_test(it_stops_when_told),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}

#else

static void it_says_that_it_cannot(void **state)
{
	struct profile p = {.path = ""};
	struct err err = ERR_INIT;
	(void)state;
	assert_int_equal(profile_read(&p, "x", NULL, &err), ERR_UNSUPPORTED);
	assert_int_equal(profile_write(&p, stdout, false, NULL, &err), ERR_UNSUPPORTED);
	assert_null(profile_support());
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(it_says_that_it_cannot)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
