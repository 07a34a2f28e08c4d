/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * format.c - printf for sentences: texts in them are cut between characters, and that is seen.
 *
 * A precision ("%.100s") bounds the bytes of a text, and the C library cuts wherever they end.  So the
 * format is written anew before it is used: the precision becomes where a character ends, and the mark
 * is put behind.  To know which argument is which text all of them are walked through.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK TEXT_CLIP_SIGN

/* The bytes of the longest beginning of s that ends with a whole character and has at most so many, of
 * which s has more. */
static size_t whole_characters(const char *s, size_t most)
{
	size_t end = most;
	while (end > 0 && most - end < 3 && ((unsigned char)s[end] & 0xC0) == 0x80)
		end--; /* s[end] goes on with a character that begins before it */
	return end;
}

/* One conversion of a format, "%-8.100s": what stands behind the percent sign. */
struct conversion {
	const char *precision; /* its digits; NULL: none are written */
	size_t most;           /* what they say */
	const char *letter;
};

static void pass_integer(const char *length, va_list *args)
{
	if (!strncmp(length, "ll", 2))
		(void)va_arg(*args, long long);
	else if (*length == 'l')
		(void)va_arg(*args, long);
	else if (*length == 'z')
		(void)va_arg(*args, size_t);
	else if (*length == 'j')
		(void)va_arg(*args, intmax_t);
	else if (*length == 't')
		(void)va_arg(*args, ptrdiff_t);
	else
		(void)va_arg(*args, int);
}

/* Pass over the argument of a conversion; s is behind the percent sign.  *text gets a text's. */
static struct conversion pass_argument(const char *s, va_list *args, const char **text)
{
	struct conversion c = { .precision = NULL };
	*text = NULL;
	s += strspn(s, "-+ #0");
	if (*s == '*')
		(void)va_arg(*args, int);
	s += *s == '*' ? 1 : strspn(s, "0123456789");
	if (*s == '.' && s[1] == '*') {
		(void)va_arg(*args, int);
		s += 2;
	} else if (*s == '.') {
		c.precision = s + 1;
		c.most = strtoul(c.precision, NULL, 10);
		s += 1 + strspn(c.precision, "0123456789");
	}
	const char *length = s;
	s += strspn(s, "hlzjt");
	c.letter = s;
	if (*s == 's')
		*text = va_arg(*args, const char *);
	else if (*s == 'p')
		(void)va_arg(*args, void *);
	else if (*s && strchr("aefgAEFG", *s))
		(void)va_arg(*args, double);
	else if (*s && strchr("cdiuxXo", *s))
		pass_integer(length, args);
	return c;
}

/* Write a format anew into `to`.  False: there is no room, or nothing to cut. */
static bool write_anew(char *to, size_t room, const char *format, va_list *args)
{
	bool cut = false;
	size_t n = 0;
	for (const char *s = format; *s;) {
		const char *percent = s + strcspn(s, "%"), *text;
		size_t plain = (size_t)(percent - s);
		if (plain >= room - n)
			return false;
		memcpy(to + n, s, plain);
		n += plain;
		if (!*percent)
			break;
		struct conversion c = pass_argument(percent + 1, args, &text);
		if (!*c.letter)
			return false;
		bool too_long = text && c.precision && c.most > strlen(MARK) && strnlen(text, c.most + 1) > c.most;
		int wrote = too_long
		    ? snprintf(to + n, room - n, "%.*s%zus" MARK, (int)(c.precision - percent), percent,
		          whole_characters(text, c.most - strlen(MARK)))
		    : snprintf(to + n, room - n, "%.*s", (int)(c.letter + 1 - percent), percent);
		if (wrote < 0 || (size_t)wrote >= room - n)
			return false;
		n += (size_t)wrote;
		cut |= too_long;
		s = c.letter + 1;
	}
	to[n] = '\0';
	return cut;
}

bool text_clip_format(char to[TEXT_FORMAT_MOST], const char *format, va_list args)
{
	const char *bounded = strstr(format, "%.");
	va_list walk;
	if (!bounded)
		return false;
	va_copy(walk, args);
	bool cut = write_anew(to, TEXT_FORMAT_MOST, format, &walk);
	va_end(walk);
	return cut;
}

static void end_cut(char *s, size_t room)
{
	size_t end = whole_characters(s, room - 1 - strlen(MARK));
	memcpy(s + end, MARK, sizeof MARK);
}

void text_format(char *to, size_t room, const char *format, va_list args)
{
	char anew[TEXT_FORMAT_MOST];
	int n = vsnprintf(to, room, text_clip_format(anew, format, args) ? anew : format, args);
	if (n < 0)
		to[0] = '\0';
	else if ((size_t)n >= room)
		end_cut(to, room);
}
