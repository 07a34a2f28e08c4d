/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw.h - text into a rectangle of the screen, by display width.
 *
 * Every piece is placed with an absolute move, so that a character whose width we and the terminal
 * see differently cannot push what stands right of it.  Nothing here writes outside the width it
 * was given.  Text is UTF-8 that was made harmless before (base/text.h).  Main thread only.
 */
#ifndef CAIRN_VIEW_DRAW_H
#define CAIRN_VIEW_DRAW_H

#include "view/theme.h"

#include <stddef.h>

struct rect {
	int y, x, height, width;
};

/* Columns used.  What does not fit is clipped at the end, with an ellipsis. */
int draw_text(int y, int x, int width, const char *s, attr_t attr);

/* The same; if it must be clipped, the end is kept (class names). */
int draw_text_keep_end(int y, int x, int width, const char *s, attr_t attr);

/* The same of a text with names in it, whose packages are shortened first (names.h). */
int draw_name(int y, int x, int width, const char *s, attr_t attr);

/* The same of one that is clipped at its end. */
int draw_words(int y, int x, int width, const char *s, attr_t attr);

/* As one of these, of names that are joined by " + ", whole ones first. */
int draw_joined(int y, int x, int width, const char *s, bool middle, attr_t attr);

/* As all of these draw it: where only ASCII can be drawn, s with its signs spelled in ASCII, in the buffer; else s
 * itself.  For texts that are measured first. */
const char *draw_spelled(const char *s, struct text *buffer);

/* Bytes of s for a line of so many columns, wrapped between words or at a \n; *next: where the line after begins. */
size_t draw_line_of(const char *s, size_t width, size_t *next);
int draw_count_lines(const char *s, size_t width); /* of these */
/* On so many lines at most, wrapped between words; the last one as draw_text.  Lines used. */
int draw_wrapped(int y, int x, int width, int most, const char *s, attr_t attr);

/* Right-aligned in width; what does not fit is shown as an ellipsis and its end. */
void draw_right(int y, int x, int width, const char *s, attr_t attr);

/* Clipped at the end without a sign. */
int draw_clipped(int y, int x, int width, const char *s, attr_t attr);

/* A bar of part out of whole in width columns, in eighths of a column where the terminal can. */
void draw_bar(int y, int x, int width, double share, attr_t attr);
/* Is the share large enough for one? */
bool draw_bar_is_seen(int width, double share);
/* A thin one, in halves: of another whole than the bars above it. */
void draw_thin_bar(int y, int x, int width, double share, attr_t attr);

/* When all is drawn: a few blanks between two texts get the colour of the one before them, which nobody sees: so the
 * colour changes once from one text to the next, and not twice. */
void draw_join_colours(void);
/* Recolour what was drawn there, but not the blanks. */
void draw_dim(struct rect at, attr_t attr);

/* Columns of a row in one look, spaces. */
void draw_blank(int y, int x, int width, attr_t attr);

#endif
