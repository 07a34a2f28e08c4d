/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_collections_forged.c - every layout of collections, on objects that are nothing that it says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analysis/describe/collection.h"
#include "analysis/describe/describers.h"
#include "made_hprof.h"

enum forged { OF_ITSELF, OF_TEXTS, OF_NUMBERS, OF_ARRAYS, OF_LONGS, FORGED };
enum { LINES_AT_ONCE = 12, FIELDS_TEXT = 2048 };

/* "table:L size:L": all fields that a line names, each once, of the type. */
static unsigned fields_of(const char *line, char type, char *to)
{
	char name[64];
	unsigned n = 0;
	*to = '\0';
	for (const char *word = strchr(line, '='); word; word = strchr(word, '=')) {
		for (word++; *word && *word != ' ';) {
			size_t length = strcspn(word, "|+-.[ ");
			assert_true(length < sizeof name);
			snprintf(name, sizeof name, " %.*s:", (int)length, word);
			if (length && length < 60 && strcmp(name, " this:") != 0 && !strstr(to, name)) {
				snprintf(to + strlen(to), FIELDS_TEXT - strlen(to), "%s%c", name, type);
				n++;
			}
			word += length + (word[length] == '[' ? strcspn(word + length, "|+-. ") : 0);
			word += *word && *word != ' ';
		}
	}
	return n;
}

/* An object of a class of this line, in each of whose fields stands the same. */
static uint64_t forge(const char *line, enum forged how, char name[256], char fields[FIELDS_TEXT])
{
	size_t length = strcspn(line, " ");
	uint64_t values[40], what = 0, place;
	assert_true(length < 250);
	memcpy(name, line, length);
	name[length] = '\0';
	for (char *c = name; *c; c++)
		*c = *c == '*' ? 'X' : *c == '.' ? '/' : *c;
	unsigned n = fields_of(line, how == OF_NUMBERS ? 'I' : 'L', fields);
	assert_true(n < 40);
	int made = class(name, object, n ? fields + 1 : "");
	if (how == OF_TEXTS)
		what = text("text");
	else if (how == OF_LONGS)
		what = ARRAY('J', 1, UINT64_MAX, 3, 0, 1 << 30);
	place = new_address();
	if (how == OF_NUMBERS)
		what = UINT32_MAX;
	else if (how == OF_ITSELF)
		what = place;
	else if (how == OF_ARRAYS)
		what = OBJECTS(place, place + 0x1000, 0, 0xDEAD0000, place + 0x1000, place); /* this array itself */
	for (unsigned i = 0; i < n; i++)
		values[i] = what;
	return at(place, made, values);
}

static void count_part(void *context, uint32_t id)
{
	(void)id;
	++*(unsigned *)context;
}

static void walk_forged(uint64_t address)
{
	struct collection c;
	struct collection_entry e;
	struct collection_size size;
	struct collection_inside inside;
	struct storage storage;
	unsigned n = 0, parts = 0;
	uint32_t id = heap_find(heap, address);
	assert_int_not_equal(id, HEAP_NONE);
	(void)inspect_storage(heap, id, &storage);
	if (collection_size(heap, id, &size) && collection_inside(heap, id, &inside, count_part, &parts))
		assert_true(inside.entries < 1000);
	if (!collection_open(&c, heap, id, NULL))
		for (; collection_next(&c, &e); n++)
			assert_true(n < 1000);
	collection_close(&c);
	collection_inner(heap, id, count_part, &parts);
}

/* Each line of the libraries, of objects that are nothing that it says: no walk is long, and none fails. */
static void test_forged(void **state)
{
	static char names[LINES_AT_ONCE][256], fields[LINES_AT_ONCE][FIELDS_TEXT];
	unsigned walked = 0;
	size_t lines = 0;
	while (layouts_txt[lines])
		lines++;
	for (int how = 0; how < FORGED; how++) {
		for (size_t first = 0; first < lines; first += LINES_AT_ONCE) {
			uint64_t made[LINES_AT_ONCE];
			unsigned n = 0;
			for (; n < LINES_AT_ONCE && first + n < lines; n++)
				made[n] = forge(layouts_txt[first + n], (enum forged)how, names[n], fields[n]);
			open_made();
			for (unsigned i = 0; i < n; i++, walked++)
				walk_forged(made[i]);
			end_made(state);
			begin_made(state);
		}
	}
	assert_true(walked > FORGED * 200);
	open_made();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_forged, begin_made, end_made)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
