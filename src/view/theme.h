/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * theme.h - the roles of things on the screen, and their attributes in each theme.
 *
 * Views name roles, never colours.  Every role differs from its neighbours without colour, and
 * eight colours are enough.  Main thread only, after term_open.
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
	ROLE_UNSURE,    /* numbers that are not exact */
	ROLE_KEY,       /* a key's name among the hints */
	ROLE_NOTE,
	ROLE_ERROR,
	ROLE_WORKING,   /* work going on */
	ROLE_CHOSEN,    /* the candidate that Tab stands on */
	ROLE_COUNT
};

/* In the order of --theme; auto: by the terminal's background if that is known, else the classic one. */
enum theme_name { THEME_AUTO, THEME_DARK, THEME_LIGHT, THEME_CLASSIC8, THEME_MONO };
void theme_init(int color /* -1 never, 0 auto, 1 always */, enum theme_name name);
attr_t theme_role(enum role role);

/* Glyphs: UTF-8, or ASCII where that is all there is. */
enum glyph { GLYPH_ELLIPSIS, GLYPH_VERTICAL, GLYPH_HORIZONTAL, GLYPH_DOT, GLYPH_OPEN, GLYPH_CLOSED,
	GLYPH_COUNT };
const char *theme_glyph(enum glyph g);

#endif
