/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.c - which look each role has on this terminal (the table: theme_looks.c), and glyphs.
 *
 * The first frame never waits for the terminal's answer: when that comes, the colours change.
 */
#include "view/theme.h"

#include <stdlib.h>
#include <string.h>
#include <term.h>

/* terminfo's names for capabilities are macros for words that we need */
#undef lines
#undef columns
#undef tab

enum { PLAIN_PAIR = ROLE_COUNT + 1 };

static attr_t attrs[ROLE_COUNT];
static struct {
	bool on;    /* are there colours? */
	bool asked; /* the terminal was, and has not answered */
} theme;

static bool colors_wanted(int color)
{
	const char *no = getenv("NO_COLOR");

	if (color != 0)
		return color > 0;
	return !(no && *no);
}

/* COLORFGBG, which some terminals set, ends with the number of the background: 0 to 6 and 8 are the dark ones of
 * the sixteen.  The console of Linux is black.  THEME_AUTO: the environment does not say. */
static enum theme_name theme_of_environment(void)
{
	const char *colors = getenv("COLORFGBG"), *last = colors ? strrchr(colors, ';') : NULL;
	const char *terminal = getenv("TERM");
	char *end;

	if (last && last[1]) {
		long background = strtol(last + 1, &end, 10);
		if (!*end && background >= 0 && background <= 15)
			return background < 7 || background == 8 ? THEME_DARK : THEME_LIGHT;
	}
	return terminal && !strncmp(terminal, "linux", 5) ? THEME_DARK : THEME_AUTO;
}

/* Does a number of a colour mean its red, green and blue? */
static bool has_direct_colors(void)
{
	return COLORS >= 1 << 24 && tigetflag("RGB") == 1;
}

/* Roles of one colour share a pair: from one to the other nothing is written. */
static void choose(enum theme_name name)
{
	int color[ROLE_COUNT], colors = has_direct_colors() ? THEME_DIRECT : COLORS < 256 ? COLORS : 256;

	for (int i = 0; i < ROLE_COUNT; i++) {
		int first = 0;
		color[i] = theme.on ? theme_color((enum role)i, name, colors) : THEME_OWN_COLOR;
		while (color[first] != color[i])
			first++;
		attrs[i] = theme_attributes((enum role)i);
		if (color[i] != THEME_OWN_COLOR && (first < i || init_extended_pair(i + 1, color[i], THEME_OWN_COLOR) == OK))
			attrs[i] |= (attr_t)COLOR_PAIR(first + 1);
	}
}

void theme_init(int color, enum theme_name name)
{
	theme.on = colors_wanted(color) && has_colors() && start_color() == OK;
	if (theme.on) {
		use_default_colors();
		/* Blanks and plain letters have a pair as well, the terminal's own: from a colour to these is shorter to
		 * write than to no pair, which resets all. */
		if (init_extended_pair(PLAIN_PAIR, THEME_OWN_COLOR, THEME_OWN_COLOR) == OK)
			bkgdset(' ' | (chtype)COLOR_PAIR(PLAIN_PAIR));
	}
	if (name == THEME_AUTO)
		name = theme_of_environment();
	theme.asked = theme.on && name == THEME_AUTO && term_ask_background();
	choose(name == THEME_AUTO ? THEME_EITHER : name);
}

bool theme_follow_background(void)
{
	int background;

	if (!theme.asked || !term_background(&background))
		return false;
	theme.asked = false;
	choose(theme_is_dark(background) ? THEME_DARK : THEME_LIGHT);
	return true;
}

attr_t theme_role(enum role role)
{
	return attrs[role];
}

const char *theme_glyph(enum glyph g)
{
	static const char *const fine[GLYPH_COUNT] = {
	    [GLYPH_ELLIPSIS] = "\u2026", [GLYPH_VERTICAL] = "\u2502", [GLYPH_HORIZONTAL] = "\u2500", [GLYPH_DOT] = "\u00b7",
	    [GLYPH_OPEN] = "\u25be", [GLYPH_CLOSED] = "\u25b8"};
	static const char *const ascii[GLYPH_COUNT] = {
	    [GLYPH_ELLIPSIS] = "..", [GLYPH_VERTICAL] = "|", [GLYPH_HORIZONTAL] = "-", [GLYPH_DOT] = "|",
	    [GLYPH_OPEN] = "-", [GLYPH_CLOSED] = "+"};

	/* fonts of consoles lack the small triangles */
	if ((g == GLYPH_OPEN || g == GLYPH_CLOSED) && !term_fine_blocks())
		return ascii[g];

	return term_utf8() ? fine[g] : ascii[g];
}
