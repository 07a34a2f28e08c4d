/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_utf8.c - UTF-8 for the static program, on a host without any file of a locale.
 *
 * glibc reads what UTF-8 is from such a file, C.UTF-8 as well, and a container may have none.  The linker
 * sends the calls of curses and readline here (--wrap, Makefile.am); they pass on to the C library until
 * it was asked for a locale of UTF-8 that it could not load.  In the program that shares its libraries there is
 * none of this: a system with a C library to share has its C.UTF-8, too.
 */
#include "base/text.h"

#include <errno.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
#include <wctype.h>

#define LONGEST 6 /* bytes of a character, as glibc says it of UTF-8 */
#define FIRST_BEYOND 0xA0 /* behind ASCII and the control characters */

static bool own; /* set before the first thread */

#define DECLARED(type, name, ...) type __real_##name(__VA_ARGS__); type __wrap_##name(__VA_ARGS__)
DECLARED(char *, setlocale, int category, const char *name);
DECLARED(char *, nl_langinfo, nl_item item);
DECLARED(size_t, __ctype_get_mb_cur_max, void);
DECLARED(size_t, mbrtowc, wchar_t *to, const char *s, size_t n, mbstate_t *state);
DECLARED(size_t, __mbrlen, const char *s, size_t n, mbstate_t *state);
DECLARED(int, mblen, const char *s, size_t n);
DECLARED(int, mbtowc, wchar_t *to, const char *s, size_t n);
DECLARED(size_t, mbstowcs, wchar_t *to, const char *s, size_t n);
DECLARED(size_t, wcrtomb, char *to, wchar_t c, mbstate_t *state);
DECLARED(size_t, wcstombs, char *to, const wchar_t *s, size_t n);
DECLARED(size_t, wcsrtombs, char *to, const wchar_t **s, size_t n, mbstate_t *state);
DECLARED(wint_t, btowc, int c);
DECLARED(int, wctob, wint_t c);
DECLARED(int, wcwidth, wchar_t c);
DECLARED(int, iswprint, wint_t c);
DECLARED(int, iswalnum, wint_t c);
DECLARED(int, iswlower, wint_t c);
DECLARED(int, iswupper, wint_t c);
DECLARED(wint_t, towlower, wint_t c);
DECLARED(wint_t, towupper, wint_t c);

/* --- the locale -------------------------------------------------------------------------------- */

static bool names_utf8(const char *name)
{
	const char *charset = strchr(name, '.');
	return charset && (!strncasecmp(charset, ".UTF-8", 6) || !strncasecmp(charset, ".UTF8", 5));
}

char *__wrap_setlocale(int category, const char *name)
{
	static char ours[] = "C.UTF-8";
	if (!name && category == LC_CTYPE && own)
		return ours;
	char *taken = __real_setlocale(category, name);
	if (!name || category != LC_CTYPE)
		return taken;
	own = !taken && names_utf8(name);
	return own ? ours : taken;
}

char *__wrap_nl_langinfo(nl_item item)
{
	static char charset[] = "UTF-8";
	return own && item == CODESET ? charset : __real_nl_langinfo(item);
}

size_t __wrap___ctype_get_mb_cur_max(void)
{
	return own ? LONGEST : __real___ctype_get_mb_cur_max();
}

/* --- reading ----------------------------------------------------------------------------------- */

/* How many bytes the character has that begins so; 0: none does. */
static unsigned length_of(unsigned char lead)
{
	return lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

/* As mbrtowc: what came of a character so far stands in *state. */
static size_t read_one(wchar_t *to, const char *s, size_t n, mbstate_t *state)
{
	char bytes[4];
	unsigned have = (unsigned)state->__count;
	memcpy(bytes, state->__value.__wchb, have);
	for (size_t i = 0; i < n; i++) {
		bytes[have++] = s[i];
		unsigned wanted = length_of((unsigned char)bytes[0]);
		int32_t point = -1;
		if (have < wanted && (have == 1 || (s[i] & 0xC0) == 0x80))
			continue;
		if (have == wanted && utf8_decode(bytes, have, &point) != have)
			point = -1;
		state->__count = 0;
		if (point < 0) {
			errno = EILSEQ;
			return (size_t)-1;
		}
		if (to)
			*to = (wchar_t)point;
		return point ? i + 1 : 0;
	}
	state->__count = (int)have;
	memcpy(state->__value.__wchb, bytes, have);
	return (size_t)-2;
}

size_t __wrap_mbrtowc(wchar_t *to, const char *s, size_t n, mbstate_t *state)
{
	static mbstate_t nobodys;
	if (!own)
		return __real_mbrtowc(to, s, n, state);
	return s ? read_one(to, s, n, state ? state : &nobodys) : read_one(NULL, "", 1, state ? state : &nobodys);
}

size_t __wrap___mbrlen(const char *s, size_t n, mbstate_t *state)
{
	static mbstate_t nobodys;
	return own ? __wrap_mbrtowc(NULL, s, n, state ? state : &nobodys) : __real___mbrlen(s, n, state);
}

int __wrap_mbtowc(wchar_t *to, const char *s, size_t n)
{
	mbstate_t state = {0};
	if (!own)
		return __real_mbtowc(to, s, n);
	if (!s)
		return 0;
	size_t used = read_one(to, s, n, &state);
	return used > n ? -1 : (int)used;
}

int __wrap_mblen(const char *s, size_t n)
{
	return own ? __wrap_mbtowc(NULL, s, n) : __real_mblen(s, n);
}

size_t __wrap_mbstowcs(wchar_t *to, const char *s, size_t n)
{
	if (!own)
		return __real_mbstowcs(to, s, n);
	size_t done = 0;
	for (mbstate_t state = {0}; !to || done < n; done++) {
		wchar_t c;
		size_t used = read_one(&c, s, LONGEST, &state); /* ends at the NUL */
		if (used > LONGEST)
			return (size_t)-1;
		if (to)
			to[done] = c;
		if (!used)
			break;
		s += used;
	}
	return done;
}

wint_t __wrap_btowc(int c)
{
	return !own ? __real_btowc(c) : c >= 0 && c < 0x80 ? (wint_t)c : WEOF;
}

/* --- writing ----------------------------------------------------------------------------------- */

size_t __wrap_wcrtomb(char *to, wchar_t c, mbstate_t *state)
{
	if (!own)
		return __real_wcrtomb(to, c, state);
	if (!to)
		return 1;
	uint32_t point = (uint32_t)c;
	if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
		errno = EILSEQ;
		return (size_t)-1;
	}
	return utf8_encode(to, point);
}

size_t __wrap_wcsrtombs(char *to, const wchar_t **s, size_t n, mbstate_t *state)
{
	if (!own)
		return __real_wcsrtombs(to, s, n, state);
	size_t done = 0;
	for (const wchar_t *p = *s;; p++) {
		char one[LONGEST];
		size_t used = __wrap_wcrtomb(one, *p, NULL);
		if (used == (size_t)-1)
			return used;
		bool fits = !to || used <= n - done;
		if (to)
			*s = p;
		if (!fits)
			return done;
		if (to)
			memcpy(to + done, one, used);
		if (!*p) {
			if (to)
				*s = NULL;
			return done;
		}
		done += used;
	}
}

size_t __wrap_wcstombs(char *to, const wchar_t *s, size_t n)
{
	return own ? __wrap_wcsrtombs(to, &s, n, NULL) : __real_wcstombs(to, s, n);
}

int __wrap_wctob(wint_t c)
{
	return !own ? __real_wctob(c) : c < 0x80 ? (int)c : EOF;
}

/* --- other sets -------------------------------------------------------------------------------- */

iconv_t __wrap_iconv_open(const char *to, const char *from);

/* Of a set that is not in here iconv would load a library of the host into this program, made for another C library. */
iconv_t __wrap_iconv_open(const char *to, const char *from)
{
	(void)to;
	(void)from;
	errno = EINVAL;
	return (iconv_t)-1;
}

/* --- what characters are ----------------------------------------------------------------------- */

/* Capitals with how far off the small ones are; step 2: both kinds take turns. */
static const struct {
	wint_t from, to, off;
	unsigned step;
} capitals[] = {
	{0xC0, 0xD6, 32, 1}, {0xD8, 0xDE, 32, 1}, {0x100, 0x12E, 1, 2}, {0x132, 0x136, 1, 2}, {0x139, 0x147, 1, 2},
	{0x14A, 0x176, 1, 2}, {0x179, 0x17D, 1, 2}, {0x391, 0x3A1, 32, 1}, {0x3A3, 0x3AB, 32, 1},
	{0x400, 0x40F, 80, 1}, {0x410, 0x42F, 32, 1}, {0x460, 0x480, 1, 2}, {0x48A, 0x4BE, 1, 2},
	{0x531, 0x556, 48, 1}, {0x1E00, 0x1E94, 1, 2}, {0x1EA0, 0x1EFE, 1, 2}, {0xFF21, 0xFF3A, 32, 1},
};
#define N_CAPITALS (sizeof capitals / sizeof *capitals)

wint_t __wrap_towlower(wint_t c)
{
	for (size_t i = 0; own && c >= FIRST_BEYOND && i < N_CAPITALS; i++)
		if (c >= capitals[i].from && c <= capitals[i].to && (c - capitals[i].from) % capitals[i].step == 0)
			return c + capitals[i].off;
	return __real_towlower(c);
}

wint_t __wrap_towupper(wint_t c)
{
	for (size_t i = 0; own && c >= FIRST_BEYOND && i < N_CAPITALS; i++) {
		wint_t capital = c - capitals[i].off;
		if (capital >= capitals[i].from && capital <= capitals[i].to &&
		    (capital - capitals[i].from) % capitals[i].step == 0)
			return capital;
	}
	return __real_towupper(c);
}

int __wrap_iswlower(wint_t c)
{
	return own && c >= FIRST_BEYOND ? __wrap_towupper(c) != c : __real_iswlower(c);
}

int __wrap_iswupper(wint_t c)
{
	return own && c >= FIRST_BEYOND ? __wrap_towlower(c) != c : __real_iswupper(c);
}

int __wrap_iswprint(wint_t c)
{
	return own && c >= FIRST_BEYOND ? c <= 0x10FFFF && (c < 0xD800 || c >= 0xE000) : __real_iswprint(c);
}

/* All but the signs of Latin-1 and the blocks of punctuation, arrows, lines and symbols. */
int __wrap_iswalnum(wint_t c)
{
	if (!own || c < FIRST_BEYOND)
		return __real_iswalnum(c);
	return c == 0xAA || c == 0xB5 || c == 0xBA ||
	    (c >= 0xC0 && c != 0xD7 && c != 0xF7 && (c < 0x2000 || c >= 0x2C00) && (c < 0x2E00 || c >= 0x3005) &&
	    (c < 0xD800 || c >= 0xF900) && c <= 0x3FFFF);
}

int __wrap_wcwidth(wchar_t c)
{
	if (!own || c < 0x80)
		return __real_wcwidth(c);
	return c < FIRST_BEYOND ? -1 : (int)point_width_untold(c);
}
