/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof_rename.c - see hprof_rename.h. */
#include "dump/hprof/hprof_rename.h"

#include "algorithms/hash.h"

#include <inttypes.h>
#include <string.h>

enum { KNOWN = 1, KIND_SHIFT = 1 };

void renaming_release(struct renaming *r)
{
	idmap_release(&r->symbols);
	idmap_release(&r->numbers);
	text_release(&r->word);
}

/* "[[Lcom/acme/Order;": where the class's own name lies. */
static void find_class(const uint8_t *name, size_t n, size_t *begin, size_t *end)
{
	*begin = 0;
	*end = n;
	while (*begin < n && name[*begin] == '[')
		++*begin;
	if (*begin && *begin < n && name[*begin] == 'L' && name[n - 1] == ';') {
		++*begin;
		--*end;
	}
	while (*end > *begin + 2 && name[*end - 1] == ']' && name[*end - 2] == '[') /* as the language has it */
		*end -= 2;
}

bool renaming_knows(const struct renaming *r, const uint8_t *name, size_t n)
{
	size_t begin, end;
	if (!r->wanted->map)
		return true;
	find_class(name, n, &begin, &end);
	if (begin && end == n && n - begin == 1) /* of numbers */
		return true;
	return r->wanted->knows(name + begin, end - begin);
}

int renaming_note(struct renaming *r, uint64_t symbol, enum symbol_kind kind, bool known, struct err *err)
{
	uint64_t before = idmap_get(&r->symbols, symbol);
	uint64_t now = before == IDMAP_NONE ? (uint64_t)kind << KIND_SHIFT : before;
	if (kind == SYMBOL_CLASS) /* whatever else is called so: a class must have a class's name */
		now &= KNOWN;
	now |= known ? KNOWN : 0;
	return now == before ? 0 : idmap_put(&r->symbols, symbol, now, err);
}

bool renaming_named(const struct renaming *r, uint64_t symbol)
{
	return idmap_get(&r->symbols, symbol) != IDMAP_NONE;
}

/* Class names that hash alike get one number; 64 bits make that unlikely, and nothing but the name depends on it. */
static int class_number(struct renaming *r, const uint8_t *name, size_t n, uint32_t *number, bool *is_new,
    struct err *err)
{
	uint64_t key = hash_bytes(name, n), found = idmap_get(&r->numbers, key);
	*is_new = found == IDMAP_NONE;
	*number = *is_new ? ++r->count[SYMBOL_CLASS] : (uint32_t)found;
	return *is_new ? idmap_put(&r->numbers, key, *number, err) : 0;
}

static void add_line(struct renaming *r, char letter, uint32_t number, const uint8_t *name, size_t n, bool class)
{
	struct text plain = TEXT_INIT;
	text_add_modified_utf8(&plain, name, n);
	for (size_t i = 0; class && i < plain.len; i++)
		if (plain.s[i] == '/')
			plain.s[i] = '.';
	text_addf(r->wanted->map, "%c%" PRIu32 "\t", letter, number);
	text_add_escaped(r->wanted->map, plain.len ? plain.s : "", plain.len);
	text_add_char(r->wanted->map, '\n');
	text_release(&plain);
}

static int rename_class(struct renaming *r, const uint8_t *name, size_t n, struct err *err)
{
	size_t begin, end;
	uint32_t number;
	bool is_new;
	find_class(name, n, &begin, &end);
	int code = class_number(r, name + begin, end - begin, &number, &is_new, err);
	if (code)
		return code;
	text_add_n(&r->word, (const char *)name, begin);
	text_addf(&r->word, "C%" PRIu32, number);
	text_add_n(&r->word, (const char *)name + end, n - end);
	if (is_new)
		add_line(r, 'C', number, name + begin, end - begin, true);
	return 0;
}

/* "(ILjava/lang/String;)V": does it name known classes alone? */
static bool path_key_is_known(const struct renaming *r, const uint8_t *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] != 'L')
			continue;
		const uint8_t *end = memchr(s + i, ';', n - i);
		if (!end || !r->wanted->knows(s + i + 1, (size_t)(end - s) - i - 1))
			return false;
		i = (size_t)(end - s);
	}
	return true;
}

const uint8_t *renaming_of(struct renaming *r, uint64_t symbol, const uint8_t *bytes, size_t *n, struct err *err)
{
	static const char letters[SYMBOL_KINDS] = {'C', 'F', 'M', 0, 'S'};
	uint64_t found = idmap_get(&r->symbols, symbol);
	enum symbol_kind kind = (enum symbol_kind)(found >> KIND_SHIFT);
	if (!r->wanted->map || found & KNOWN || !*n || *bytes == '<') /* <init> */
		return bytes;
	if (kind == SYMBOL_SIGNATURE && path_key_is_known(r, bytes, *n))
		return bytes;
	text_clear(&r->word);
	if (kind == SYMBOL_CLASS) {
		if (rename_class(r, bytes, *n, err))
			return NULL;
	} else if (kind == SYMBOL_SIGNATURE) {
		text_add(&r->word, "()V"); /* of the overloads of a method the lines tell */
	} else {
		uint32_t number = ++r->count[kind];
		text_addf(&r->word, "%c%" PRIu32 "%s", letters[kind], number, kind == SYMBOL_SOURCE ? ".java" : "");
		add_line(r, letters[kind], number, bytes, *n, false);
	}
	*n = r->word.len;
	return (const uint8_t *)r->word.s;
}
