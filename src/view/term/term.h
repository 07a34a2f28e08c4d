/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * term.h - the terminal: taken over, given back, and read.
 *
 * Only this header includes curses, so that every file sees the wide interface.  There is one
 * terminal, so its state is global to term.c, input.c and signals.c.  Main thread only, except
 * term_emergency().
 *
 * Order: term_open, then drawing into stdscr and term_read, then term_close.  Whatever way the
 * program ends, the terminal gets its modes and its first screen back: on return (term_close), on
 * exit() (atexit), for lack of memory (mem_before_exit), and in a crash (signals.c).
 */
#ifndef CAIRN_VIEW_TERM_TERM_H
#define CAIRN_VIEW_TERM_TERM_H

#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif
#define NCURSES_NOMACROS 1
#include <curses.h>

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct term_options {
	bool ascii, mouse;
};

/* ERR_UNSUPPORTED when the terminal cannot place its cursor (TERM=dumb), ERR_IO without one. */
MUST_CHECK int term_open(const struct term_options *options, struct err *err);

/* Give the terminal back for good, then repeat what was written to standard error meanwhile.
 * Does nothing when it is not open. */
void term_close(void);

/* The same with nothing but write and tcsetattr: any thread, also inside a signal handler. */
void term_emergency(void);

/* Leave the screen for a program that needs the terminal, and come back. */
void term_pause(void);
void term_resume(void);
void term_wait_for_enter(void); /* while away: a word, so that what was printed can be read */

/* Stop like any job of the shell, and come back when continued. */
void term_suspend(void);
void term_continued(void); /* a SIGCONT came */

bool term_utf8(void);       /* may more than ASCII be drawn? */
bool term_fine_blocks(void); /* may eighth blocks be drawn? */
int term_fd(void);          /* readable when keys may be waiting */
void term_write(const char *bytes, size_t n); /* past curses: for sequences it does not know */
/* The same to the terminal itself, also from within screen; false: a terminal that knows no sequences but terminfo's,
 * and nothing was written. */
bool term_write_outside(const char *bytes, size_t n);
void term_check_size(void); /* ask the terminal for its size and tell curses */

/* Ask for the colour of the background (OSC 11), once.  The answer comes among the keys, if at all, and never acts as
 * one.  False: this terminal is not asked. */
bool term_ask_background(void);
/* Was it answered?  *rgb: 0xRRGGBB. */
bool term_background(int *rgb);
/* So many milliseconds term_close waits for that answer at most.  Also inside a signal handler. */
unsigned term_answer_ms(void);

/* --- the clipboard (clipboard.c) --------------------------------------------------------------- */

enum term_copied {
	COPIED,            /* to tmux's buffer, and by tmux to the clipboard */
	COPIED_TO_TMUX,    /* to the buffer of an old tmux; the terminal may have taken it, too */
	COPIED_IF_ALLOWED, /* offered to the terminal, which does not answer */
	COPIED_NOT,        /* this terminal has no clipboard */
};
/* Waits for tmux a second at most. */
enum term_copied term_copy(const char *s, size_t n);

/* --- keys (input.c) --------------------------------------------------------------------------- */

/* A key is a Unicode character, or KEY_SPECIAL + a curses key code. */
#define KEY_SPECIAL 0x1000000
#define SPECIAL(code) (KEY_SPECIAL + (code))
/* codes of our own, for sequences that terminfo does not name */
#define KEY_PASTE_START 6000
#define KEY_PASTE_END 6001
#define KEY_ALT_LEFT 6002
#define KEY_ALT_RIGHT 6003
#define KEY_ALT_UP 6004
#define KEY_MOUSE_SGR 6005 /* both only begin what the mouse sends: term_read makes KEY_CLICK or KEY_WHEEL of it */
#define KEY_MOUSE_X10 6006
#define KEY_CLICK 6007     /* the left button */
#define KEY_WHEEL_UP 6008
#define KEY_WHEEL_DOWN 6009
#define KEY_BACKGROUND 6010 /* begins the answer to term_ask_background; term_read keeps it to itself */

struct input {
	int key;
	bool alt;           /* came right after ESC (only where asked for) */
	const char *pasted; /* text of a paste instead of a key; valid until the next term_read */
	int y, x;           /* of the mouse, for KEY_CLICK and KEY_WHEEL_… */
};

/* The next key that is there; false when there is none (never waits longer than an escape
 * sequence takes).  want_alt: ESC and a key at once are that key with Alt. */
bool term_read(struct input *in, bool want_alt);
void term_define_keys(void); /* for term.c */

/* Keys that came while nothing could be done with them wait in a row; nothing typed is lost. */
void term_keep(const struct input *in);      /* at its end; the text of a paste is copied */
const struct input *term_first_kept(void);   /* NULL: none waits */
bool term_read_kept(struct input *in);       /* the first one, away from it; false: none waits */
/* Does one wait for which this is true? */
bool term_keeps(bool (*which)(const struct input *in));
void term_drop_kept(void);
void term_kept_words(struct text *to); /* those that wait, as they were typed: ":dups" */

/* --- signals (signals.c) ---------------------------------------------------------------------- */

/* Handlers that only write to a pipe; must stand before newterm, which would put its own. */
MUST_CHECK int signals_open(struct err *err);
void signals_close(void);
int signals_fd(void);   /* readable when one came */
int signals_take(void); /* the next one that came, or 0 */
/* From now on the program is on its way out.  If it is still there a moment later (LEAVE_MS, and term_answer_ms),
 * whatever it waits for, the terminal is given back and the process ends at once with this status.  The first call
 * counts.  Any thread, also inside a signal handler. */
void signals_leave(int status);
/* Another program has the terminal, and SIGQUIT is meant for that one. */
void signals_step_aside(bool aside);

/* --- descriptions of terminals (terminals.c) -------------------------------------------------- */

/*
 * Open the description of the terminal type name (TERM) for the terminal fd: curses' setupterm, and where that
 * finds none, TERMINFO is set to one of ours, which readline and children see as well.  Returns the name
 * of the description, name itself or a static one that is like it, or NULL if curses cannot know it.
 * Main thread.
 */
const char *terminal_describe(const char *name, int fd);

#endif
