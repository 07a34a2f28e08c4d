/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_parts.c - what an unfinished dump's file and its parts have in common, beside a search that tries every record.
 *
 * There are five records only, so that beginnings of parts come again and again, in themselves, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "one_file.h"

enum { HEADER = 31, HEAD = 9, PARTS = 3, ROOM = 4096, ROUNDS = 1000 };

struct bytes {
	uint8_t at[ROOM];
	size_t n;
};

static uint32_t seed = 1;

static unsigned below(unsigned n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void add(struct bytes *to, const void *from, size_t n)
{
	assert_true(to->n + n <= ROOM);
	memcpy(to->at + to->n, from, n);
	to->n += n;
}

/* Segments of which most are the same. */
static void add_records(struct bytes *to, unsigned n)
{
	static const char *const bodies[] = {"", "a", "b", "aaaaaaaaaaaa", "aaaaaaaaaaab"};
	unsigned kinds = 1 + below(5);
	while (n--) {
		const char *body = bodies[below(kinds)];
		const uint8_t head[HEAD] = {0x1C, [8] = (uint8_t)strlen(body)};
		add(to, head, HEAD);
		add(to, body, strlen(body));
	}
}

/* The file that a VM leaves: parts that are gone, those that are left, and what else chance has it end with. */
static void make(struct bytes *file, struct bytes part[PARTS])
{
	file->n = 0;
	add(file, "JAVA PROFILE 1.0.2\0\0\0\0\10\0\0\0\0\0\0\0\0", HEADER);
	for (int i = 0; i < PARTS; i++) {
		part[i].n = 0;
		add_records(&part[i], below(8));
		part[i].n -= part[i].n && !below(4) ? below(8) : 0;
	}
	add_records(file, below(20));
	unsigned whole = below(PARTS + 1);
	for (unsigned i = 0; i < whole; i++)
		add(file, part[i].at, part[i].n);
	if (whole < PARTS && part[whole].n)
		add(file, part[whole].at, below((unsigned)part[whole].n));
	if (!below(3))
		add_records(file, 1 + below(3));
}

static size_t length_at(const uint8_t *record)
{
	return (size_t)record[5] << 24 | (size_t)record[6] << 16 | (size_t)record[7] << 8 | record[8];
}

/* As the words say it: each place of FILE where a record begins, behind the part before. */
static void search(const struct bytes *file, const struct bytes part[PARTS], size_t *end, bool merged[PARTS])
{
	size_t next = HEADER;
	*end = file->n;
	for (int i = 0; i < PARTS; i++) {
		const struct bytes *p = &part[i];
		merged[i] = false;
		if (!p->n)
			continue;
		size_t at = next, found = file->n;
		for (; at < file->n; at += HEAD + (file->n - at < HEAD ? 0 : length_at(file->at + at))) {
			size_t left = file->n - at, n = left < p->n ? left : p->n;
			if (found == file->n && !memcmp(file->at + at, p->at, n)) {
				found = at;
				merged[i] = n == p->n;
			}
			if (found < file->n && (!merged[i] || at >= found + p->n))
				break;
		}
		if (!merged[i]) {
			*end = found;
			for (i++; i < PARTS; i++)
				merged[i] = false;
			return;
		}
		next = at;
	}
}

static void write_part(int i, const struct bytes *b)
{
	char name[400];
	snprintf(name, sizeof name, "%s.p%d", path, i);
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(b->at, 1, b->n, f), b->n);
	assert_int_equal(fclose(f), 0);
}

static void compare(const struct bytes *file, const struct bytes part[PARTS])
{
	const struct source_look look = dump_look(NULL);
	struct source *s;
	struct err err = ERR_INIT;
	size_t end, piece = 1;
	bool merged[PARTS];
	search(file, part, &end, merged);
	assert_int_equal(source_open_if(&s, path, &look, NULL, &err), 0);
	assert_int_equal(s->pieces[0].end, end);
	assert_memory_equal(s->bytes, file->at, end);
	for (int i = 0; i < PARTS; i++) {
		if (merged[i] || !part[i].n)
			continue;
		assert_true(piece < s->n_pieces);
		assert_int_equal(s->pieces[piece].end - s->pieces[piece].begin, part[i].n);
		assert_memory_equal(s->bytes + s->pieces[piece].begin, part[i].at, part[i].n);
		piece++;
	}
	assert_int_equal(piece, s->n_pieces);
	source_close(s);
}

static void overlaps(void **state)
{
	static struct bytes file, part[PARTS];
	unsigned whole = 0, some = 0;
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		size_t end;
		bool merged[PARTS];
		make(&file, part);
		write_file(file.at, file.n);
		for (int i = 0; i < PARTS; i++)
			write_part(i, &part[i]);
		compare(&file, part);
		search(&file, part, &end, merged);
		whole += merged[0] || merged[1] || merged[2];
		some += end < file.n;
	}
	assert_true(whole > ROUNDS / 4 && some > ROUNDS / 4);
	for (int i = 0; i < PARTS; i++) {
		char name[400];
		snprintf(name, sizeof name, "%s.p%d", path, i);
		unlink(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(overlaps)};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
