/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prompt.h - the line at the bottom: readline inside curses.
 *
 * Curses reads the keys, readline gets them and edits, prompt.c draws.  prompt.c is the only file of
 * the screen that includes readline; its state is readline's, so there is one prompt.  Main thread
 * only, after term_open.  Without a screen, prompt_plain.c reads lines.
 */
#ifndef CAIRN_VIEW_PROMPT_H
#define CAIRN_VIEW_PROMPT_H

#include "command/help/help.h"
#include "view/draw.h"

#include <stdbool.h>
#include <stddef.h>

enum prompt_kind { PROMPT_COMMAND, PROMPT_FILTER, PROMPT_SEARCH, PROMPT_KINDS };

/* As session_complete: candidates for the word of line that ends at byte end; all the caller's.  asked: with Tab, else
 * they are only shown, and there may be none if keys wait. */
typedef char **prompt_completer(
    void *context, const char *line, size_t end, size_t limit, bool asked, size_t *start, size_t *n);

/* history: earlier command lines, borrowed for the call. */
void prompt_init(prompt_completer *complete, void *context, char *const *history, size_t n);
void prompt_release(void);

/* Open with a text in it; the cursor at byte point of it (SIZE_MAX: its end). */
void prompt_open(enum prompt_kind kind, const char *text, size_t point);
void prompt_close(void);
void prompt_resize(void); /* the screen has another size */
bool prompt_is_open(void);
enum prompt_kind prompt_kind(void);

/* In how many milliseconds an empty prompt is to list the commands; -1: it does, or never will. */
int prompt_wait_ms(void);
/* True once, when that time is over: the screen is to be drawn. */
bool prompt_begins_list(void);

/* Does the user's inputrc set the editing mode vi?  Then Esc is readline's. */
bool prompt_is_vi(void);

enum prompt_event {
	PROMPT_STAYS,     /* maybe looks different */
	PROMPT_CHANGED,   /* the text is another one */
	PROMPT_ACCEPTED,  /* Enter: prompt_text() is the line, the prompt is closed */
	PROMPT_CANCELLED, /* closed */
};
enum prompt_event prompt_feed(const struct input *in);

/* The text as it stands, or the accepted line; valid until the next call of this module. */
const char *prompt_text(void);

/* Draw the line; returns the column where the cursor belongs. */
int prompt_draw(int y, int width);

/* The commands that the words may mean, and which of them is in the line (-1: none); valid until the next key. */
const struct palette_row *prompt_commands(size_t *n, int *chosen);
/* The candidates, where they are no commands; as prompt_commands. */
char *const *prompt_candidates(size_t *n, int *chosen);

/* --- what both prompts do with readline's line and history ---------------------------------------- */

void prompt_history(char *const *lines, size_t n); /* earlier lines, oldest first; copied */
void prompt_remember(const char *line);            /* the newest; an older same line goes */
/* Bytes that all candidates begin with, whole characters only. */
size_t prompt_common(char *const *candidate, size_t n);
/* Put this in place of the bytes from `from` to the cursor; complete: it is the only candidate. */
void prompt_replace(size_t from, const char *with);
void prompt_complete(size_t from, const char *only);

/* --- without a screen (prompt_plain.c) ------------------------------------------------------------ */

enum prompt_answer { PROMPT_LINE, PROMPT_STOPPED /* ^C */, PROMPT_END };

/* Before the first line: as prompt_init. */
void prompt_plain_init(prompt_completer *complete, void *context, char *const *history, size_t n);
/*
 * Write the label, wait for a line.  Where standard input and output are terminals it is edited, else read as it
 * comes.  *line: without its line end; the caller's, who frees it.  SIGINT is to be handled by the caller
 * without SA_RESTART.
 */
enum prompt_answer prompt_plain_read(const char *label, char **line);

#endif
