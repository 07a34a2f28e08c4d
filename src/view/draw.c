/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw.c - UTF-8 to curses' wide strings, clipped by columns.
 */
#include "view/draw.h"

#include "base/text.h"
#include "view/names.h"

#include <string.h>
#include <wchar.h>

#define PIECE 256 /* characters drawn by one call */

/* What stands for a character that is not shown itself: as many signs as it takes columns. */
static size_t to_ascii(const char *s, size_t used, wchar_t *out, size_t room)
{
	char one[8];
	size_t n = used < sizeof one ? used : sizeof one - 1;
	memcpy(one, s, n);
	one[n] = '\0';
	size_t width = text_width(one);

	if (width > room)
		width = room;
	for (size_t i = 0; i < width; i++)
		out[i] = L'?';
	return width;
}

static void put(int y, int x, const char *s, size_t n, attr_t attr)
{
	wchar_t wide[PIECE + 4];
	size_t at = 0, n_wide = 0;

	attrset(attr);
	move(y, x);
	while (at < n) {
		int32_t point;
		size_t used = utf8_decode(s + at, n - at, &point);

		if (n_wide >= PIECE) {
			addnwstr(wide, (int)n_wide);
			n_wide = 0;
		}
		if (point >= 0x20 && point < 0x7F)
			wide[n_wide++] = (wchar_t)point;
		else if (point < 0xA0) /* bytes that are no text; controls were escaped long before */
			wide[n_wide++] = L'?';
		else if (term_utf8() && !point_steers(point))
			wide[n_wide++] = (wchar_t)point;
		else
			n_wide += to_ascii(s + at, used, wide + n_wide, PIECE + 4 - n_wide);
		at += used;
	}
	if (n_wide > 0)
		addnwstr(wide, (int)n_wide);
	attrset(A_NORMAL);
}

static bool on_screen(int y, int x, int *width)
{
	if (y < 0 || y >= LINES || x < 0 || x >= COLS)
		return false;
	if (*width > COLS - x)
		*width = COLS - x;
	return *width > 0;
}

int draw_clipped(int y, int x, int width, const char *s, attr_t attr)
{
	size_t used = 0;

	if (!on_screen(y, x, &width))
		return 0;
	size_t n = text_fit(s, (size_t)width, &used);
	put(y, x, s, n, attr);
	return (int)used;
}

const char *draw_spelled(const char *s, struct text *buffer)
{
	static const struct {
		const char *sign, *ascii;
	} signs[] = {{"\u2026", ".."}, {"\u00d7", "x"}, {"\u00b7", "|"}, {"\u2192", "->"}};
	enum { SIGNS = sizeof signs / sizeof *signs };

	if (term_utf8())
		return s;
	for (const char *at = s; *at;) {
		size_t i = 0, plain = strcspn(at, "\u2026\u00d7\u00b7\u2192");
		text_add_n(buffer, at, plain);
		at += plain;
		while (*at && i < SIGNS && strncmp(at, signs[i].sign, strlen(signs[i].sign)) != 0)
			i++;
		if (*at && i < SIGNS) {
			text_add(buffer, signs[i].ascii);
			at += strlen(signs[i].sign);
		} else if (*at) {
			text_add_char(buffer, *at++);
		}
	}
	return buffer->len ? buffer->s : "";
}

/* No sign next to one that the text itself has there. */
static void join_signs(struct text_clip *c, const char *s, const char *sign)
{
	size_t n = strlen(sign);

	if (c->head >= n && !strncmp(s + c->head - n, sign, n)) {
		c->head -= n;
		c->head_width -= text_width(sign);
	}
	if (!strncmp(s + c->tail, sign, n))
		c->tail += n;
}

/* What does not fit is clipped at the end or in the middle. */
static int draw_within(int y, int x, int width, const char *s, bool middle, attr_t attr)
{
	if (!on_screen(y, x, &width))
		return 0;
	struct text buffer = TEXT_INIT;
	const char *sign = theme_glyph(GLYPH_ELLIPSIS);
	s = draw_spelled(s, &buffer);
	struct text_clip c = text_clip(s, (size_t)width, text_width(sign), middle);
	if (c.clipped)
		join_signs(&c, s, sign);
	put(y, x, s, c.head, attr);
	int used = (int)c.head_width;
	if (c.clipped) {
		used += draw_clipped(y, x + used, width - used, sign, attr);
		used += draw_clipped(y, x + used, width - used, s + c.tail, attr);
	}
	text_release(&buffer);
	return used;
}

int draw_text(int y, int x, int width, const char *s, attr_t attr)
{
	return draw_within(y, x, width, s, false, attr);
}

int draw_text_keep_end(int y, int x, int width, const char *s, attr_t attr)
{
	return draw_within(y, x, width, s, true, attr);
}

static int draw_fitted(int y, int x, int width, const char *s, bool middle, bool joined, attr_t attr)
{
	struct text fitted = TEXT_INIT;

	if (!joined || !names_fit_joined(s, width, &fitted))
		(middle ? names_fit_path : names_fit)(s, width, &fitted);
	int used = draw_within(y, x, width, fitted.len ? fitted.s : "", middle, attr);
	text_release(&fitted);
	return used;
}

int draw_name(int y, int x, int width, const char *s, attr_t attr)
{
	return draw_fitted(y, x, width, s, true, false, attr);
}

int draw_words(int y, int x, int width, const char *s, attr_t attr)
{
	return draw_fitted(y, x, width, s, false, false, attr);
}

int draw_joined(int y, int x, int width, const char *s, bool middle, attr_t attr)
{
	return draw_fitted(y, x, width, s, middle, true, attr);
}

size_t draw_line_of(const char *s, size_t width, size_t *next)
{
	size_t used, n = text_fit(s, width, &used), line = strcspn(s, "\n");

	if (line <= n) {
		*next = line + (s[line] == '\n');
		return line;
	}
	size_t cut = n;
	if (s[n])
		while (cut > 0 && s[cut] != ' ')
			cut--;
	if (cut > 0)
		n = cut;
	*next = n + strspn(s + n, " ");
	return n;
}

int draw_count_lines(const char *s, size_t width)
{
	size_t next;
	int n = 0;

	for (; *s; s += next, n++)
		draw_line_of(s, width, &next);
	return n;
}

int draw_wrapped(int y, int x, int width, int most, const char *s, attr_t attr)
{
	struct text line = TEXT_INIT;
	size_t next;
	int n = 0;

	for (; *s && n < most; s += next, n++) {
		size_t bytes = draw_line_of(s, (size_t)width, &next);
		text_clear(&line);
		text_add_n(&line, s, n + 1 < most ? bytes : strlen(s));
		draw_text(y + n, x, width, line.s, attr);
	}
	text_release(&line);
	return n;
}

void draw_right(int y, int x, int width, const char *s, attr_t attr)
{
	if (!on_screen(y, x, &width))
		return;
	struct text buffer = TEXT_INIT;
	s = draw_spelled(s, &buffer);
	size_t needed = text_width_most(s, (size_t)width);
	if (needed <= (size_t)width) {
		draw_clipped(y, x + width - (int)needed, (int)needed, s, attr);
	} else {
		int sign = draw_clipped(y, x, width, theme_glyph(GLYPH_ELLIPSIS), attr);
		size_t end = text_fit_end(s, strlen(s), (size_t)(width - sign), NULL);
		draw_clipped(y, x + sign, width - sign, s + end, attr);
	}
	text_release(&buffer);
}

static unsigned bar_units(int width, double share, unsigned units)
{
	return (unsigned)((share > 1 ? 1 : share) * width * units + 0.5);
}

bool draw_bar_is_seen(int width, double share)
{
	return share > 0 && bar_units(width, share, term_fine_blocks() ? 8 : 1) > 0;
}

void draw_bar(int y, int x, int width, double share, attr_t attr)
{
	static const char *const eighths[] = {
	    "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};

	if (!on_screen(y, x, &width) || !(share > 0))
		return;
	unsigned units = term_fine_blocks() ? 8 : 1, filled = bar_units(width, share, units);
	for (unsigned i = 0; i < filled / units; i++)
		draw_clipped(y, x + (int)i, 1, units == 8 ? "\u2588" : "#", attr);
	if (units == 8 && filled % 8)
		draw_clipped(y, x + (int)(filled / 8), 1, eighths[filled % 8], attr);
}

void draw_thin_bar(int y, int x, int width, double share, attr_t attr)
{
	if (!on_screen(y, x, &width) || !(share > 0))
		return;
	unsigned units = term_fine_blocks() ? 2 : 1, filled = bar_units(width, share, units);
	for (unsigned i = 0; i < filled / units; i++)
		draw_clipped(y, x + (int)i, 1, units == 2 ? "\u2501" : "=", attr);
	if (filled % units)
		draw_clipped(y, x + (int)(filled / units), 1, "\u2578", attr);
}

void draw_blank(int y, int x, int width, attr_t attr)
{
	if (!on_screen(y, x, &width))
		return;
	attrset(attr);
	for (int i = 0; i < width; i++)
		mvaddch(y, x + i, ' ');
	attrset(A_NORMAL);
}

/* Is a blank there?  *attr and *pair: what it or another character looks like. */
static bool is_blank(int y, int x, attr_t *attr, short *pair)
{
	cchar_t cell;
	wchar_t text[CCHARW_MAX + 1] = L"";

	return mvin_wch(y, x, &cell) == OK && getcchar(&cell, text, attr, pair, NULL) == OK && text[0] == L' ' &&
	       text[1] == L'\0';
}

static bool only_coloured(attr_t attr)
{
	return !(attr & A_ATTRIBUTES & ~A_COLOR);
}

static void join_line(int y)
{
	enum { GAP_MOST = 5 }; /* a longer one is jumped over */
	attr_t before = A_REVERSE, attr = 0;
	short pair_before = 0, pair = 0;
	int gap = 0;

	for (int x = 0; x < COLS; x++) {
		if (is_blank(y, x, &attr, &pair) && only_coloured(attr)) {
			gap++;
			continue;
		}
		if (gap && gap <= GAP_MOST && only_coloured(before))
			mvchgat(y, x - gap, gap, A_NORMAL, pair_before, NULL);
		gap = 0;
		before = attr;
		pair_before = pair;
	}
}

void draw_join_colours(void)
{
	for (int y = 0; y < LINES; y++)
		join_line(y);
}

void draw_dim(struct rect at, attr_t attr)
{
	attr_t was;
	short pair;

	for (int y = at.y; y < at.y + at.height; y++)
		for (int x = at.x, from; x < at.x + at.width;) {
			while (x < at.x + at.width && is_blank(y, x, &was, &pair))
				x++;
			for (from = x; x < at.x + at.width && !is_blank(y, x, &was, &pair);)
				x++;
			if (x > from)
				mvchgat(y, from, x - from, attr & ~A_COLOR, (short)PAIR_NUMBER(attr), NULL);
		}
}
