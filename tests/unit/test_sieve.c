/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_sieve.c - texts of all kinds looked for in bytes: what the sieve finds is what memmem finds that goes through
 * all bytes for each text in each form; and gzip files as they are written in blocks and read again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/gzipped.h"
#include "command/bundle/sieve.h"
#include "heap/string.h"

static uint64_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % n;
}

/* --- texts of the test's own making -------------------------------------------------------------- */

enum { TEXT_MOST = 40, TEXTS = 400, IN_DUMP = 4 * TEXT_MOST };

struct own_text {
	uint32_t c[TEXT_MOST];
	unsigned n;
	uint8_t bytes[IN_DUMP]; /* as its dump has it */
	struct string_view view;
};

static size_t encode(unsigned form, uint32_t c, uint8_t *to)
{
	if (form == 1)
		return c < 256 ? (*to = (uint8_t)c, 1) : 0;
	if (form == 0) {
		if (c < 0x80)
			return *to = (uint8_t)c, 1;
		unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
		static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
		to[0] = (uint8_t)(lead[more] | c >> 6 * more);
		for (unsigned i = 1; i <= more; i++)
			to[i] = (uint8_t)(0x80 | (c >> 6 * (more - i) & 0x3F));
		return more + 1;
	}
	uint32_t pair[2] = {c, 0};
	unsigned n = 1;
	if (c >= 0x10000) {
		pair[0] = 0xD7C0 + (c >> 10);
		pair[1] = 0xDC00 | (c & 0x3FF);
		n = 2;
	}
	for (unsigned i = 0; i < n; i++) {
		to[2 * i + (form == 3)] = (uint8_t)pair[i];
		to[2 * i + (form == 2)] = (uint8_t)(pair[i] >> 8);
	}
	return 2 * n;
}

/* The beginning of a text in one of the forms: at most 24 characters and 60 bytes; 0: it has none of 8 characters. */
static size_t beginning(const struct own_text *t, unsigned form, uint8_t *to)
{
	size_t n = 0;
	unsigned i = 0;
	for (; i < t->n && i < 24; i++) {
		uint8_t one[4];
		size_t bytes = encode(form, t->c[i], one);
		if (!bytes || n + bytes > 60)
			break;
		memcpy(to + n, one, bytes);
		n += bytes;
	}
	return i < 8 ? 0 : n;
}

static uint32_t random_character(unsigned kind)
{
	switch (kind) {
	case 0: return 'a' + random_below(3);
	case 1: return 0xC0 + random_below(64);
	case 2: return random_below(2) ? 0x4E00 + random_below(50) : 'x';
	case 3: return 0x1F600 + random_below(30);
	default: return 1 + random_below(40); /* control characters and signs */
	}
}

/* kind: of characters; of all texts one in three begins with the same ten. */
static void make_text(struct own_text *t, unsigned number)
{
	unsigned kind = random_below(5), n = 8 + random_below(TEXT_MOST - 12);
	unsigned form = random_below(2) ? 2 + random_below(2) : 0;
	t->n = 0;
	if (kind == 0 && !random_below(3))
		for (; t->n < 10; t->n++)
			t->c[t->n] = (uint8_t)"com.acme.x"[t->n];
	while (t->n < 4)
		t->c[t->n++] = random_character(kind);
	for (unsigned i = 0; i < 4; i++) /* no two are the same */
		t->c[t->n++] = 'A' + (number >> 3 * i & 7);
	while (t->n < n)
		t->c[t->n++] = random_character(kind);
	size_t bytes = 0;
	bool latin = true;
	for (unsigned i = 0; i < t->n; i++)
		latin &= t->c[i] < 256;
	form = latin && random_below(2) ? 1 : form;
	for (unsigned i = 0; i < t->n; i++)
		bytes += encode(form, t->c[i], t->bytes + bytes);
	t->view = (struct string_view){.bytes = t->bytes, .length = form > 1 ? bytes / 2 : bytes, .width = form > 1 ? 2 : 1,
	    .big_endian = form == 3, .utf8 = form == 0};
}

/* --- both ways ----------------------------------------------------------------------------------- */

static void find(struct sieve *s, struct own_text *texts, const uint8_t *bytes, size_t n, unsigned (*marks)[FORMS])
{
	struct needles needles = {.n = 0};
	struct err err = ERR_INIT;
	sieve_begin(s);
	assert_int_equal(sieve_catch(s, bytes, n, &err), 0);
	for (unsigned i = 0; i < TEXTS; i++) {
		assert_int_equal(needles_make(&needles, &texts[i].view), NEEDLE_MADE);
		assert_int_equal(sieve_keep(s, &needles, &(struct needle_of){.where = i}, &err), 0);
	}
	assert_int_equal(sieve_match(s, bytes, n, MARK_FOUND, &err), 0);
	const struct needle *needle;
	struct needle_of of;
	unsigned found;
	for (uint64_t i = 0; sieve_next(s, &i, &needle, &of, &found);)
		marks[of.where][needle->form] |= found;
	needles_release(&needles);
}

static void as_memmem(void **state)
{
	enum { ROUNDS = 30, LONGEST = (2 << 20) + 3000 };
	struct own_text *texts = calloc(TEXTS, sizeof *texts);
	uint8_t *bytes = malloc(LONGEST);
	unsigned found_in[4] = {0};
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		size_t n = round % 10 ? 200 + random_below(9000) : LONGEST;
		struct needles needles = {.n = 0};
		struct err err = ERR_INIT;
		struct sieve *s;
		unsigned(*marks)[FORMS] = calloc(TEXTS, sizeof *marks);
		assert_int_equal(sieve_new(&s, round % 2 ? TEXTS : 1, &err), 0);
		for (unsigned i = 0; i < TEXTS; i++) {
			make_text(&texts[i], i);
			assert_int_equal(needles_make(&needles, &texts[i].view), NEEDLE_MADE);
			sieve_learn(s, &needles);
		}
		for (size_t i = 0; i < n; i++)
			bytes[i] = random_below(3) ? (uint8_t)"abcx\0\0\1com.e"[random_below(12)] : (uint8_t)random_below(256);
		for (unsigned i = 0; i < 60; i++) { /* whole beginnings, and such as lack a byte at the end */
			uint8_t one[64];
			size_t some = beginning(&texts[random_below(TEXTS)], random_below(4), one);
			size_t at = !i ? 0 : i == 1 ? n - some : i < 12 && n > 2 << 20 ? (1 << 20) - 30 + 5 * i :
			    random_below((uint32_t)(n - 64));
			memcpy(bytes + at, one, some - (some && i > 1 && !random_below(4)));
		}
		find(s, texts, bytes, n, marks);
		for (unsigned i = 0; i < TEXTS; i++)
			for (unsigned form = 0; form < 4; form++) {
				uint8_t one[64], other[64];
				size_t some = beginning(&texts[i], form, one);
				bool same = form == 1 && some && beginning(&texts[i], 0, other) == some && !memcmp(one, other, some);
				bool there = some && !same && memmem(bytes, n, one, some);
				if (there != (marks[i][form] == MARK_FOUND))
					fail_msg("round %u, text %u, form %u: %d and %u", round, i, form, there, marks[i][form]);
				found_in[form] += there;
			}
		sieve_free(s);
		needles_release(&needles);
		free(marks);
	}
	for (unsigned form = 0; form < 4; form++)
		assert_true(found_in[form] > 20);
	free(texts);
	free(bytes);
}

/* --- single cases -------------------------------------------------------------------------------- */

static struct string_view view_of(const char *s)
{
	return (struct string_view){.bytes = (const uint8_t *)s, .length = strlen(s), .width = 1, .utf8 = true};
}

static enum needle_made made(struct needles *needles, const char *s)
{
	struct string_view view = view_of(s);
	return needles_make(needles, &view);
}

static void which_texts(void **state)
{
	struct needles n = {.n = 0};
	char dashes[600];
	(void)state;
	assert_int_equal(made(&n, "1234567"), NEEDLE_SHORT);
	assert_int_equal(made(&n, "1234567\303\251"), NEEDLE_MADE);
	assert_int_equal(made(&n, "\303\251\303\251\303\251\303\251"), NEEDLE_SHORT);
	assert_int_equal(made(&n, "--------"), NEEDLE_SAME);
	assert_int_equal(made(&n, "bad \377 bytes"), NEEDLE_SHORT); /* there are four characters */
	memset(dashes, '-', sizeof dashes - 1);
	dashes[sizeof dashes - 1] = '\0';
	memcpy(dashes + 500, "s3cret", 6);
	assert_int_equal(made(&n, dashes), NEEDLE_MADE);
	assert_true(n.form[0].n >= 8 && memmem(n.form[0].bytes, n.form[0].n, "s3cret", 6));
	memset(dashes + 500, '-', 6);
	assert_int_equal(made(&n, dashes), NEEDLE_SAME); /* all of it */
	assert_int_equal(made(&n, "s3cret---"), NEEDLE_MADE);
	assert_int_equal(made(&n, "-------x"), NEEDLE_MADE);
	assert_memory_equal(n.form[0].bytes, "-------x", 8);
	static const struct { const char *s; bool numeric, binary; } kinds[] = {
	    {"12,345,678", true, false}, {"4111111111111111", false, false}, {"0xc0000deadbe", true, false},
	    {"0xc0000dEADBE", false, false}, {"12345678x", false, true}, {"a\001b\002c\003d\004e", false, true},
	    {"a\tb\nc\rd and so on", false, false}, {"00000000001111111111222", false, true},
	    {"abcdefghijkl", false, true}, {"        }", true, true}, {"        };", true, false},
	    {"abababab", false, true}, {"abcdabce", false, false}, {"password", false, false}, {"87654321", true, true},
	    {"13579135", true, false}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		assert_int_equal(made(&n, kinds[i].s), NEEDLE_MADE);
		if (n.numeric != kinds[i].numeric || n.binary != kinds[i].binary)
			fail_msg("%s: %d %d", kinds[i].s, n.numeric, n.binary);
	}
	needles_release(&n);
}

/* Of each needle of s: the marks that it gets, or'ed. */
static unsigned marks_of(const char *s, const char *file, size_t n, const char *excuse)
{
	struct needles needles = {.n = 0};
	struct err err = ERR_INIT;
	struct sieve *sieve;
	const struct needle *needle;
	struct needle_of of;
	unsigned found, all = 0;
	assert_int_equal(sieve_new(&sieve, 1, &err), 0);
	assert_int_equal(made(&needles, s), NEEDLE_MADE);
	sieve_learn(sieve, &needles);
	sieve_begin(sieve);
	assert_int_equal(sieve_catch(sieve, (const uint8_t *)file, n, &err), 0);
	assert_int_equal(sieve_keep(sieve, &needles, &(struct needle_of){.where = 0}, &err), 0);
	assert_int_equal(sieve_match(sieve, (const uint8_t *)file, n, MARK_FOUND, &err), 0);
	if (excuse)
		assert_int_equal(sieve_match(sieve, (const uint8_t *)excuse, strlen(excuse), MARK_EXCUSED, &err), 0);
	for (uint64_t i = 0; sieve_next(sieve, &i, &needle, &of, &found);)
		all |= found;
	sieve_free(sieve);
	needles_release(&needles);
	return all;
}

static void places(void **state)
{
	static const char long_one[] = "a text that is so long that only its beginning is looked for";
	(void)state;
	assert_int_equal(marks_of("the s3cret", "the s3cret", 10, NULL), MARK_FOUND);
	assert_int_equal(marks_of("the s3cret", "the s3cre", 9, NULL), 0);
	assert_int_equal(marks_of("the s3cret", "", 0, NULL), 0);
	assert_int_equal(marks_of("the s3cret", "xthe s3cretx", 12, "com.the s3cret.Class"), MARK_FOUND | MARK_EXCUSED);
	assert_int_equal(marks_of("the s3cret", "nothing of it", 13, "the s3cret"), 0);
	assert_int_equal(marks_of(long_one, "a text that is so long t...", 27, NULL), MARK_FOUND);
	assert_int_equal(marks_of("a<b&c \"d\" e", "<td>a&lt;b&amp;c &quot;d&quot; e</td>", 37, NULL), MARK_FOUND);
	assert_int_equal(marks_of("a\033[31m red", "x a\\x1b[31m red", 15, NULL), MARK_FOUND);
	assert_int_equal(marks_of("--------------------------------s3cret", "-s3cret-------s3cret", 20, NULL), MARK_FOUND);
	assert_int_equal(marks_of("\1\1\1\1\1\1\1\1\1\1\2", "\1\1\1\1\1\1\1\1\1\1\1\1\2", 13, NULL), MARK_FOUND);
}

/* --- gzip ---------------------------------------------------------------------------------------- */

struct unpacked {
	uint8_t *bytes;
	uint64_t n;
	unsigned overlap;
};

static int put_together(void *context, const uint8_t *bytes, uint64_t n, struct err *err)
{
	struct unpacked *u = context;
	uint64_t again = u->n < u->overlap ? u->n : u->overlap;
	(void)err;
	assert_true(n >= again);
	if (again)
		assert_memory_equal(bytes, u->bytes + u->n - again, again);
	u->bytes = realloc(u->bytes, u->n + n - again + 1);
	memcpy(u->bytes + u->n, bytes + again, n - again);
	u->n += n - again;
	return 0;
}

static void packed_and_unpacked(void **state)
{
	static const size_t sizes[] = {0, 1, 1 << 20, (1 << 20) + 1, (16 << 20) + 77, 20 << 20};
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		uint8_t *bytes = malloc(sizes[i] + 1);
		struct err err = ERR_INIT;
		struct gzip_out *out;
		FILE *stream, *to = tmpfile();
		uint64_t written;
		for (size_t k = 0; k < sizes[i]; k++)
			bytes[k] = random_below(4) ? 0 : (uint8_t)random_below(256);
		assert_int_equal(gzip_begin(&out, &stream, to, &err), 0);
		assert_int_equal(fwrite(bytes, 1, sizes[i], stream), sizes[i]);
		assert_int_equal(gzip_end(out, stream, 0, &written, &err), 0);
		fflush(to);
		assert_int_equal(ftello(to), written);
		uint8_t *packed = malloc(written);
		rewind(to);
		assert_int_equal(fread(packed, 1, written, to), written);
		assert_true(gzip_is(packed, written));
		struct unpacked u = {.overlap = 100};
		assert_int_equal(gzip_each(packed, written, 100, put_together, &u, &err), 0);
		assert_int_equal(u.n, sizes[i]);
		if (u.n)
			assert_memory_equal(u.bytes, bytes, u.n);
		struct unpacked part = {.overlap = 100};
		assert_int_equal(gzip_each(packed, written - 1, 100, put_together, &part, &err), ERR_FORMAT);
		packed[written - 6] ^= 1; /* its checksum */
		free(part.bytes);
		part = (struct unpacked){.overlap = 100};
		assert_int_equal(gzip_each(packed, written, 100, put_together, &part, &err), ERR_FORMAT);
		free(part.bytes);
		free(u.bytes);
		free(packed);
		free(bytes);
		fclose(to);
	}
}

static void no_room(void **state)
{
	struct err err = ERR_INIT;
	struct gzip_out *out;
	FILE *stream, *to = fopen("/dev/full", "w");
	uint64_t written;
	(void)state;
	if (!to)
		skip();
	setvbuf(to, NULL, _IONBF, 0);
	assert_int_equal(gzip_begin(&out, &stream, to, &err), 0);
	fputs("something", stream);
	assert_int_equal(gzip_end(out, stream, 0, &written, &err), ERR_IO);
	assert_non_null(strstr(err.message, "No space left"));
	fclose(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_memmem), cmocka_unit_test(which_texts), cmocka_unit_test(places),
	    cmocka_unit_test(packed_and_unpacked), cmocka_unit_test(no_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
