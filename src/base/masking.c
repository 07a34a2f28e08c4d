/* SPDX-License-Identifier: GPL-3.0-or-later */
/* masking.c - see masking.h. */
#include "base/masking.h"

#include <string.h>
#include <strings.h>

bool masking_secret_name(const char *name, size_t n)
{
	static const char *const parts[] = {
		"pass", "pwd", "secret", "token", "key", "credential", "authorization", "cookie",
	};
	/* the working directory, and the one before it */
	if ((n == 3 && !memcmp(name, "PWD", 3)) || (n == 6 && !memcmp(name, "OLDPWD", 6)))
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t m = strlen(parts[i]);
		for (size_t at = 0; at + m <= n; at++)
			if (!strncasecmp(name + at, parts[i], m))
				return true;
	}
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	    c == '.' || c == '-' || c == '$';
}

static size_t past_blanks(const char *s, size_t n, size_t at)
{
	while (at < n && is_blank(s[at]))
		at++;
	return at;
}

/* Where the value ends that begins at `at`: behind its quotation, at the one that it stands in, or at a
 * blank.  within: the quote that is open there, or 0. */
static size_t value_end(const char *s, size_t n, size_t at, char within)
{
	if (at < n && !within && is_quote(s[at])) {
		const char *close = memchr(s + at + 1, s[at], n - at - 1);
		return close ? (size_t)(close - s) + 1 : n;
	}
	while (at < n && (within ? s[at] != within : !is_blank(s[at])))
		at++;
	return at;
}

/* Of an option with a value of its own, "--token VALUE": where that begins.  0: there is none. */
static size_t separate_value(const char *s, size_t n, size_t name, size_t end)
{
	bool vm_option = end - name > 1 && (s[name + 1] == 'D' || s[name + 1] == 'X');
	size_t at = past_blanks(s, n, end);
	return s[name] == '-' && !vm_option && at > end && at < n && s[at] != '-' ? at : 0;
}

/* Where the value of the name from `name` to `end` begins; 0: no value follows. */
static size_t value_begin(const char *s, size_t n, size_t name, size_t end)
{
	size_t at = end;
	if (at < n && s[at] == '=')
		return at + 1;
	at += at < n && s[at] == '\\';
	if (at >= n || !is_quote(s[at]))
		return separate_value(s, n, name, end);
	at = past_blanks(s, n, at + 1); /* "name" : "value" */
	if (at >= n || s[at] != ':')
		return 0;
	at = past_blanks(s, n, at + 1);
	return at + (at < n && s[at] == '\\');
}

/* Behind "//": where the @ stands that ends who logs in; 0: nobody does.  *looked: as far as that was looked
 * for before, in vain. */
static size_t login_end(const char *s, size_t n, size_t at, size_t *looked)
{
	size_t found = 0;
	if (at < *looked)
		return 0;
	for (; at < n && !is_blank(s[at]) && !is_quote(s[at]); at++)
		if (s[at] == '@')
			found = at;
	*looked = at;
	return found;
}

void masking_mask(const char *s, size_t n, struct text *to)
{
	char within = 0; /* the quote that is open */
	size_t looked = 0;
	for (size_t at = 0; at < n;) {
		size_t end = at;
		size_t login = at >= 3 && !memcmp(s + at - 3, "://", 3) ? login_end(s, n, at, &looked) : 0;
		if (login) {
			text_add(to, SECRET_MASK);
			at = login;
			continue;
		}
		while (end < n && is_name(s[end]))
			end++;
		size_t value = end > at && masking_secret_name(s + at, end - at) ? value_begin(s, n, at, end) : 0;
		if (value) {
			/* of "name": "value" the quote that is open is the name's own */
			bool json = end < n && (is_quote(s[end]) || s[end] == '\\');
			text_add_n(to, s + at, value - at);
			text_add(to, SECRET_MASK);
			at = value_end(s, n, value, json ? 0 : within);
			within = json ? 0 : within;
			continue;
		}
		if (end == at) {
			if (is_quote(s[at]) && (!within || within == s[at]))
				within = within ? 0 : s[at];
			end++;
		}
		text_add_n(to, s + at, end - at);
		at = end;
	}
}

void masking_secret_value(const char *name, size_t n_name, const char *value, size_t n, struct text *to)
{
	if (n && masking_secret_name(name, n_name))
		text_add(to, SECRET_MASK);
	else
		masking_mask(value, n, to);
}
