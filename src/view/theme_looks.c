/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme_looks.c - the table of looks.
 *
 * A role's attributes are the same in every theme, so each differs from its neighbours without colour, and letters
 * stand on the terminal's own background.  A colour is written once, as one that the palette of 256 has exactly; a
 * terminal with direct colours gets it as it is, one with 256 its place in the palette, and one with fewer the nearest
 * of the sixteen or eight that can be read there.  Where nobody knows the background, a colour must be readable on
 * black and on white: the palette of 256 has eight such colours, of the sixteen none is on every terminal.
 */
#include "view/theme.h"

#define BRIGHT 8 /* added to one of the eight, where there are sixteen */

struct shade {
	int rgb;       /* 0xRRGGBB, or THEME_OWN_COLOR */
	short of16, of8;
};

struct look {
	attr_t attributes;
	short classic; /* one of eight */
	struct shade dark, light;
	int both;      /* 0xRRGGBB for both backgrounds, or THEME_OWN_COLOR */
};

#define OWN THEME_OWN_COLOR
#define CYANS {0x5fd7ff, COLOR_CYAN + BRIGHT, COLOR_CYAN}, {0x005f87, COLOR_BLUE, COLOR_BLUE}, 0x5f5fff
#define PALE_CYANS {0x87d7ff, COLOR_CYAN + BRIGHT, COLOR_CYAN}, {0x005f87, COLOR_BLUE, COLOR_BLUE}, 0x5f5fff
#define BLUES {0x5fafff, COLOR_CYAN, COLOR_CYAN}, {0x005fd7, COLOR_BLUE, COLOR_BLUE}, 0x5f5fff
#define BLUE_GREYS {0x87afd7, COLOR_CYAN, COLOR_CYAN}, {0x5f5f87, COLOR_BLUE, COLOR_BLUE}, 0x875fd7
#define YELLOWS {0xffd75f, COLOR_YELLOW + BRIGHT, COLOR_CYAN}, {0x875f00, COLOR_MAGENTA, COLOR_MAGENTA}, OWN
#define AMBERS {0xd7af5f, COLOR_YELLOW + BRIGHT, OWN}, {0x875f00, COLOR_MAGENTA, COLOR_MAGENTA}, OWN
#define GREENS {0x87d787, COLOR_GREEN + BRIGHT, COLOR_GREEN}, {0x005f00, COLOR_BLUE, COLOR_BLUE}, 0x00875f
#define REDS {0xff8787, COLOR_RED + BRIGHT, COLOR_RED}, {0xaf0000, COLOR_RED, COLOR_RED}, 0xaf5f5f
#define GREYS {0x9e9e9e, OWN, OWN}, {0x626262, OWN, OWN}, 0x767676
#define NONE {OWN, OWN, OWN}, {OWN, OWN, OWN}, OWN

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
    [ROLE_ADDRESS] = {A_NORMAL, COLOR_CYAN, AMBERS}, /* a number, too: neighbours of one colour are shorter to send */
    [ROLE_BAR] = {A_NORMAL, COLOR_CYAN, BLUES},
    [ROLE_UNSURE] = {A_NORMAL, OWN, GREYS},
    [ROLE_KEY] = {A_BOLD, OWN, NONE},
    [ROLE_NOTE] = {A_NORMAL, COLOR_YELLOW, YELLOWS},
    [ROLE_ERROR] = {A_BOLD, COLOR_RED, REDS},
    [ROLE_WORKING] = {A_NORMAL, COLOR_GREEN, GREENS},
    [ROLE_CHOSEN] = {A_REVERSE, OWN, NONE},
    [ROLE_OWN_CLASS] = {A_BOLD, OWN, NONE},
    [ROLE_LIBRARY] = {A_NORMAL, OWN, GREYS},
    [ROLE_ARRAY] = {A_NORMAL, COLOR_CYAN, BLUE_GREYS},
    [ROLE_STRING] = {A_NORMAL, COLOR_GREEN, GREENS},
    [ROLE_NUMBER] = {A_NORMAL, OWN, AMBERS},
    [ROLE_SUSPECT] = {A_BOLD, COLOR_RED, REDS},
};

attr_t theme_attributes(enum role role)
{
	return looks[role].attributes;
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

int theme_color(enum role role, enum theme_name theme, int colors)
{
	const struct look *look = &looks[role];
	const struct shade either = {look->both, OWN, OWN};
	const struct shade *shade = theme == THEME_DARK ? &look->dark : theme == THEME_LIGHT ? &look->light : &either;

	if (theme == THEME_MONO)
		return OWN;
	if (theme == THEME_CLASSIC8)
		return look->classic;
	if (shade->rgb == OWN)
		return OWN;
	if (colors >= THEME_DIRECT)
		return shade->rgb;
	if (colors >= 256)
		return palette_place(shade->rgb);
	return colors >= 16 ? shade->of16 : shade->of8;
}

bool theme_is_dark(int background)
{
	/* black and white contrast alike with the grey of this level; light grows about with the square of a level */
	enum { MIDDLE = 118 };
	int red = background >> 16 & 0xFF, green = background >> 8 & 0xFF, blue = background & 0xFF;

	return 2126 * red * red + 7152 * green * green + 722 * blue * blue < 10000 * MIDDLE * MIDDLE;
}
