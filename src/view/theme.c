/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.c - the table of roles.
 */
#include "view/theme.h"

#include <stdlib.h>

struct look {
	short color;  /* of the letters; -1 the terminal's own */
	attr_t plain; /* without colours */
	attr_t extra; /* with colours */
};

static const struct look looks[ROLE_COUNT] = {
    [ROLE_TEXT] = {-1, A_NORMAL, A_NORMAL},
    [ROLE_TITLE] = {COLOR_CYAN, A_BOLD, A_BOLD},
    [ROLE_FACTS] = {COLOR_CYAN, A_NORMAL, A_NORMAL},
    [ROLE_PLACE] = {-1, A_BOLD, A_BOLD},
    [ROLE_QUIET] = {-1, A_NORMAL, A_NORMAL},
    [ROLE_HEADER] = {-1, A_UNDERLINE, A_UNDERLINE},
    [ROLE_SORTED] = {-1, A_UNDERLINE | A_BOLD, A_UNDERLINE | A_BOLD},
    [ROLE_SELECTED] = {-1, A_REVERSE, A_REVERSE},
    [ROLE_MARKED] = {-1, A_BOLD, A_BOLD},
    [ROLE_TOTAL] = {-1, A_BOLD, A_BOLD},
    [ROLE_ADDRESS] = {COLOR_CYAN, A_NORMAL, A_NORMAL},
    [ROLE_BAR] = {COLOR_CYAN, A_NORMAL, A_NORMAL},
    [ROLE_UNSURE] = {COLOR_YELLOW, A_NORMAL, A_NORMAL},
    [ROLE_KEY] = {-1, A_BOLD, A_BOLD},
    [ROLE_NOTE] = {COLOR_YELLOW, A_NORMAL, A_NORMAL},
    [ROLE_ERROR] = {COLOR_RED, A_BOLD, A_BOLD},
    [ROLE_WORKING] = {COLOR_GREEN, A_NORMAL, A_NORMAL},
    [ROLE_CHOSEN] = {-1, A_REVERSE, A_REVERSE},
};

static attr_t attrs[ROLE_COUNT];

static bool colors_wanted(int color)
{
	const char *no = getenv("NO_COLOR");

	if (color != 0)
		return color > 0;
	return !(no && *no);
}

void theme_init(int color)
{
	bool on = colors_wanted(color) && has_colors() && start_color() == OK;

	if (on)
		use_default_colors();
	for (int i = 0; i < ROLE_COUNT; i++) {
		attrs[i] = on ? looks[i].extra : looks[i].plain;
		if (!on || looks[i].color < 0)
			continue;
		/* a pair for each colour in use: pair n is colour n on the terminal's background */
		short pair = looks[i].color;
		if (init_pair(pair, looks[i].color, -1) == OK)
			attrs[i] |= (attr_t)COLOR_PAIR(pair);
	}
}

attr_t theme(enum role role)
{
	return attrs[role];
}

const char *glyph(enum glyph g)
{
	static const char *const fine[GLYPH_COUNT] = {
	    [GLYPH_ELLIPSIS] = "\u2026", [GLYPH_VERTICAL] = "\u2502", [GLYPH_HORIZONTAL] = "\u2500", [GLYPH_DOT] = "\u00b7",
	    [GLYPH_OPEN] = "\u25be", [GLYPH_CLOSED] = "\u25b8"};
	static const char *const ascii[GLYPH_COUNT] = {
	    [GLYPH_ELLIPSIS] = "~", [GLYPH_VERTICAL] = "|", [GLYPH_HORIZONTAL] = "-", [GLYPH_DOT] = "-",
	    [GLYPH_OPEN] = "-", [GLYPH_CLOSED] = "+"};

	/* fonts of consoles lack the small triangles */
	if ((g == GLYPH_OPEN || g == GLYPH_CLOSED) && !term_fine_blocks())
		return ascii[g];

	return term_utf8() ? fine[g] : ascii[g];
}
