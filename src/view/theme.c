/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.c - the table of roles.
 *
 * A role's attributes are the same in every theme, so each differs from its neighbours without colour, and
 * letters stand on the terminal's own background.  Of the dark and the light theme a colour is written once, as
 * one that the palette of 256 has exactly; a terminal with direct colours gets it as it is, one with 256 its place
 * in the palette, and one with fewer the nearest of the sixteen or eight that can be read there.
 */
#include "view/theme.h"

#include <stdlib.h>
#include <string.h>
#include <term.h>

/* terminfo's names for capabilities are macros for words that we need */
#undef lines
#undef columns
#undef tab

#define OWN (-1) /* the terminal's own colour */
#define BRIGHT 8 /* added to one of the eight, where there are sixteen */

struct shade {
	int rgb;       /* 0xRRGGBB, or OWN */
	short of16, of8;
};

struct look {
	attr_t attributes;
	short classic; /* one of eight */
	struct shade dark, light;
};

#define NO_SHADE {OWN, OWN, OWN}
#define CYANS {0x5fd7ff, COLOR_CYAN + BRIGHT, COLOR_CYAN}, {0x005f87, COLOR_BLUE, COLOR_BLUE}
#define PALE_CYANS {0x87d7ff, COLOR_CYAN + BRIGHT, COLOR_CYAN}, {0x005f87, COLOR_BLUE, COLOR_BLUE}
#define BLUES {0x5fafff, COLOR_CYAN, COLOR_CYAN}, {0x005fd7, COLOR_BLUE, COLOR_BLUE}
#define YELLOWS {0xffd75f, COLOR_YELLOW + BRIGHT, COLOR_YELLOW}, {0x875f00, COLOR_MAGENTA, COLOR_MAGENTA}
#define GREENS {0x87d787, COLOR_GREEN + BRIGHT, COLOR_GREEN}, {0x005f00, COLOR_BLUE, COLOR_BLUE}
#define REDS {0xff8787, COLOR_RED + BRIGHT, COLOR_RED}, {0xaf0000, COLOR_RED, COLOR_RED}
#define GREYS {0x9e9e9e, OWN, OWN}, {0x626262, OWN, OWN}
#define NONE NO_SHADE, NO_SHADE

static const struct look looks[ROLE_COUNT] = {
    [ROLE_TEXT] = {A_NORMAL, OWN, NONE},
    [ROLE_TITLE] = {A_BOLD, COLOR_CYAN, CYANS},
    [ROLE_FACTS] = {A_NORMAL, COLOR_CYAN, CYANS},
    [ROLE_PLACE] = {A_BOLD, OWN, NONE},
    [ROLE_QUIET] = {A_NORMAL, OWN, GREYS},
    [ROLE_HEADER] = {A_UNDERLINE, OWN, PALE_CYANS},
    [ROLE_SORTED] = {A_UNDERLINE | A_BOLD, OWN, PALE_CYANS},
    [ROLE_SELECTED] = {A_REVERSE, OWN, NONE},
    [ROLE_MARKED] = {A_BOLD, OWN, NONE},
    [ROLE_TOTAL] = {A_BOLD, OWN, NONE},
    [ROLE_ADDRESS] = {A_NORMAL, COLOR_CYAN, BLUES},
    [ROLE_BAR] = {A_NORMAL, COLOR_CYAN, BLUES},
    [ROLE_UNSURE] = {A_NORMAL, COLOR_YELLOW, YELLOWS},
    [ROLE_KEY] = {A_BOLD, OWN, NONE},
    [ROLE_NOTE] = {A_NORMAL, COLOR_YELLOW, YELLOWS},
    [ROLE_ERROR] = {A_BOLD, COLOR_RED, REDS},
    [ROLE_WORKING] = {A_NORMAL, COLOR_GREEN, GREENS},
    [ROLE_CHOSEN] = {A_REVERSE, OWN, NONE},
};

static attr_t attrs[ROLE_COUNT];

static bool colors_wanted(int color)
{
	const char *no = getenv("NO_COLOR");

	if (color != 0)
		return color > 0;
	return !(no && *no);
}

/* COLORFGBG, which some terminals set, ends with the number of the background: 0 to 6 and 8 are the dark ones of
 * the sixteen.  Without it nobody knows, and the eight colours of the classic theme can be read on most. */
static enum theme_name theme_of_terminal(void)
{
	const char *colors = getenv("COLORFGBG"), *last = colors ? strrchr(colors, ';') : NULL;

	if (!last || !last[1])
		return THEME_CLASSIC8;
	char *end;
	long background = strtol(last + 1, &end, 10);
	if (*end || background < 0 || background > 15)
		return THEME_CLASSIC8;
	return background < 7 || background == 8 ? THEME_DARK : THEME_LIGHT;
}

/* The place of a colour in the palette of 256: in its cube of 6 by 6 by 6, or among its greys. */
static int palette_place(int rgb)
{
	int place = 0, grey = rgb & 0xFF;

	if (rgb == grey * 0x10101)
		return 232 + (grey - 8) / 10;
	for (int shift = 16; shift >= 0; shift -= 8) {
		int level = rgb >> shift & 0xFF;
		place = place * 6 + (level < 95 ? level >= 48 : (level - 35) / 40);
	}
	return 16 + place;
}

/* Does a number of a colour mean its red, green and blue? */
static bool has_direct_colors(void)
{
	return COLORS >= 1 << 24 && tigetflag("RGB") == 1;
}

static int color_of(const struct look *look, enum theme_name name)
{
	const struct shade *shade = name == THEME_LIGHT ? &look->light : &look->dark;

	if (name == THEME_MONO)
		return OWN;
	if (name == THEME_CLASSIC8)
		return look->classic;
	if (shade->rgb == OWN)
		return OWN;
	if (has_direct_colors())
		return shade->rgb;
	if (COLORS >= 256)
		return palette_place(shade->rgb);
	return COLORS >= 16 ? shade->of16 : shade->of8;
}

void theme_init(int color, enum theme_name name)
{
	bool on = colors_wanted(color) && has_colors() && start_color() == OK;

	if (on)
		use_default_colors();
	if (name == THEME_AUTO)
		name = theme_of_terminal();
	for (int i = 0; i < ROLE_COUNT; i++) {
		int letters = on ? color_of(&looks[i], name) : OWN, pair = i + 1;
		attrs[i] = looks[i].attributes;
		if (letters != OWN && init_extended_pair(pair, letters, OWN) == OK)
			attrs[i] |= (attr_t)COLOR_PAIR(pair);
	}
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
	    [GLYPH_ELLIPSIS] = "~", [GLYPH_VERTICAL] = "|", [GLYPH_HORIZONTAL] = "-", [GLYPH_DOT] = "-",
	    [GLYPH_OPEN] = "-", [GLYPH_CLOSED] = "+"};

	/* fonts of consoles lack the small triangles */
	if ((g == GLYPH_OPEN || g == GLYPH_CLOSED) && !term_fine_blocks())
		return ascii[g];

	return term_utf8() ? fine[g] : ascii[g];
}
