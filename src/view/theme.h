/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.h - the roles of things on the screen, and their attributes in each theme.
 *
 * Views name roles, never colours.  What must be told apart differs without colour, too: colours of names and
 * values only help.  Main thread only, after term_open.
 */
#ifndef CAIRN_VIEW_THEME_H
#define CAIRN_VIEW_THEME_H

#include "view/term/term.h"

enum role {
	ROLE_TEXT,
	ROLE_TITLE,     /* the program's name on line 1 */
	ROLE_FACTS,     /* the rest of line 1 */
	ROLE_PLACE,     /* the last step of the breadcrumb */
	ROLE_QUIET,     /* breadcrumb before that, hints, borders */
	ROLE_HEADER,    /* column names */
	ROLE_SORTED,    /* the name of the column sorted by */
	ROLE_SELECTED,  /* the row under the cursor */
	ROLE_MARKED,    /* the same in the half that has no keyboard */
	ROLE_TOTAL,
	ROLE_ADDRESS,
	ROLE_BAR,
	ROLE_UNSURE,    /* numbers that are not exact: dim, no warning */
	ROLE_KEY,       /* a key's name among the hints */
	ROLE_NOTE,
	ROLE_ERROR,
	ROLE_WORKING,   /* work going on */
	ROLE_CHOSEN,    /* the candidate that Tab stands on */
	ROLE_OWN_CLASS, /* the name of a class of the program's own */
	ROLE_LIBRARY,   /* of the JDK, of Go's library */
	ROLE_ARRAY,     /* of an array */
	ROLE_STRING,    /* a text of the dump, and its class */
	ROLE_NUMBER,    /* a number that the dump holds */
	ROLE_SUSPECT,   /* a leak suspect */
	ROLE_COUNT
};

/* In the order of --theme; auto: by the terminal's background (COLORFGBG, or what the terminal answers), and until
 * that is known colours that can be read on any (THEME_EITHER). */
enum theme_name { THEME_AUTO, THEME_DARK, THEME_LIGHT, THEME_CLASSIC8, THEME_MONO, THEME_EITHER };
void theme_init(int color /* -1 never, 0 auto, 1 always */, enum theme_name name);
/* Take the colours for the background that the terminal has answered meanwhile.  True: they changed, so draw. */
bool theme_follow_background(void);
attr_t theme_role(enum role role);

/* --- the table of looks (theme_looks.c): data, before term_open as well -------------------------- */

#define THEME_OWN_COLOR (-1)     /* the terminal's own */
#define THEME_DIRECT (1 << 24)   /* so many colours: their numbers are red, green and blue */
attr_t theme_attributes(enum role role);
/* The number of a role's colour where the terminal has so many (8, 16, 256 or THEME_DIRECT), or THEME_OWN_COLOR.
 * theme: not THEME_AUTO. */
int theme_color(enum role role, enum theme_name theme, int colors);
/* Is a background of this colour, 0xRRGGBB, dark: is white easier to read on it than black? */
bool theme_is_dark(int background);

/* --- glyphs -------------------------------------------------------------------------------------- */

/* UTF-8, or ASCII where that is all there is.  The ellipsis takes two columns in ASCII (".."), the others
 * one. */
enum glyph { GLYPH_ELLIPSIS, GLYPH_VERTICAL, GLYPH_HORIZONTAL, GLYPH_DOT, GLYPH_OPEN, GLYPH_CLOSED,
	GLYPH_COUNT };
const char *theme_glyph(enum glyph g);

#endif
