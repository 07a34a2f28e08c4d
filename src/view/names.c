/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c - see names.h. */
#include "view/names.h"

#include <string.h>

enum how { LETTERS, SIMPLE, HOWS };

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

static bool joins(const char *s)
{
	return (*s == '.' || *s == '/' || *s == '-') && in_name(s[1]);
}

/* Bytes of the packages at the beginning of s, which stands at the beginning of a name: of Go a path up to its last
 * slash, of Java all parts that are written small before one that is not.  "main.sessions" and "Waste.java" have
 * none. */
static size_t packages_of(const char *s)
{
	size_t path = 0, java = 0;
	bool small = true;
	for (size_t i = 0; in_name(s[i]) || (i && joins(s + i)); i++) {
		if (s[i] == '/')
			path = i + 1;
		if (i && s[i - 1] != '.')
			continue;
		bool capital = s[i] >= 'A' && s[i] <= 'Z';
		if (small && capital)
			java = i;
		small &= !capital;
	}
	return path ? path : java;
}

/* Bytes of the name that s begins with; 0: it begins with none. */
static size_t name_of(const char *s)
{
	size_t n = 0;
	while (in_name(s[n]) || (n && joins(s + n)))
		n++;
	return n;
}

static void add_letters(const char *s, size_t n, struct text *to)
{
	for (size_t i = 0; i < n;) {
		size_t part = strcspn(s + i, "./");
		text_add_char(to, s[i]);
		if (i + part < n)
			text_add_char(to, s[i + part]);
		i += part + 1;
	}
}

static void add_shortened(const char *s, enum how how, struct text *to)
{
	while (*s) {
		size_t n = name_of(s), packages = n ? packages_of(s) : 0;
		if (how == LETTERS)
			add_letters(s, packages, to);
		n += !n;
		text_add_n(to, s + packages, n - packages);
		s += n;
	}
}

void names_fit(const char *s, int width, struct text *to)
{
	size_t room = width > 0 ? (size_t)width : 0, before = to->len;
	if (text_width_most(s, room + 1) <= room) {
		text_add(to, s);
		return;
	}
	for (enum how how = LETTERS; how < HOWS; how++) {
		while (to->len > before)
			text_drop_last(to);
		add_shortened(s, how, to);
		if (to->len == before || text_width_most(to->s + before, room + 1) <= room)
			return;
	}
}
