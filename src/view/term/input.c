/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * input.c - keys, pastes, the mouse and answers of the terminal, as one stream.
 *
 * Curses may hold bytes that poll knows nothing of, so callers read until there is nothing more.
 * A bracketed paste is collected whole: its newlines and letters must never act as keys.
 */
#include "view/term/term.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PASTE_MOST (64 * 1024) /* more is dropped */

static struct {
	bool pasting;
	struct text pasted;
	bool answering;    /* the beginning of an answer was read, and not its end */
	struct text answer;
	int background;    /* 0xRRGGBB, once it is */
	atomic_bool answered;
} reader;

static struct {
	struct input *key;
	size_t at, n, cap; /* those from "at" on wait */
	char *given;       /* the paste that was given last */
} kept;

void term_define_keys(void)
{
	static const struct {
		const char *sequence;
		int code;
	} sequences[] = {
	    {"\033[200~", KEY_PASTE_START},
	    {"\033[<", KEY_MOUSE_SGR},
	    {"\033[M", KEY_MOUSE_X10},
	    {"\033]11;", KEY_BACKGROUND},
	    {"\033[201~", KEY_PASTE_END},
	    {"\033[1;3D", KEY_ALT_LEFT},
	    {"\033[1;3C", KEY_ALT_RIGHT},
	    {"\033[1;3A", KEY_ALT_UP},
	    /* both spellings of the cursor keys, whichever mode the terminal is in */
	    {"\033[A", KEY_UP},
	    {"\033[B", KEY_DOWN},
	    {"\033[C", KEY_RIGHT},
	    {"\033[D", KEY_LEFT},
	    {"\033[H", KEY_HOME},
	    {"\033[F", KEY_END},
	    {"\033OA", KEY_UP}, {"\033OB", KEY_DOWN}, {"\033OC", KEY_RIGHT}, {"\033OD", KEY_LEFT},
	    /* what terminals send although the type that they are called by (vt100, linux) does not say so */
	    {"\033OH", KEY_HOME}, {"\033OF", KEY_END},
	    {"\033[1~", KEY_HOME}, {"\033[4~", KEY_END},
	    {"\033[7~", KEY_HOME}, {"\033[8~", KEY_END},
	    {"\033[5~", KEY_PPAGE}, {"\033[6~", KEY_NPAGE},
	    {"\033[2~", KEY_IC}, {"\033[3~", KEY_DC}, {"\033[Z", KEY_BTAB},
	    {"\033[1;2D", KEY_SLEFT}, {"\033[1;2C", KEY_SRIGHT},
	    {"\033OP", KEY_F(1)}, {"\033[11~", KEY_F(1)}, {"\033[[A", KEY_F(1)},
	    {"\033OR", KEY_F(3)}, {"\033[13~", KEY_F(3)}, {"\033[[C", KEY_F(3)},
	    {"\033OS", KEY_F(4)}, {"\033[14~", KEY_F(4)}, {"\033[[D", KEY_F(4)},
	    {"\033[17~", KEY_F(6)}, {"\033[21~", KEY_F(10)},
	};

	define_key(NULL, KEY_MOUSE); /* terminfo's name for what is ours */
	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
		if (key_defined(sequences[i].sequence) <= 0 ||
		    sequences[i].code >= KEY_PASTE_START)
			define_key(sequences[i].sequence, sequences[i].code);
}

/* Controls of a paste are spaces: it is text for one line. */
static void paste_add(wint_t ch)
{
	char utf8[4];

	if (reader.pasted.len > PASTE_MOST)
		return;
	if (ch < 0x20 || ch == 0x7F)
		ch = ' ';
	text_add_n(&reader.pasted, utf8, utf8_encode(utf8, (uint32_t)ch));
}

/* The rest of a control sequence that terminfo does not know (a focus report, a key of a newer
 * terminal): its bytes must not act as keys. */
static void skip_sequence(void)
{
	wint_t ch;

	for (int i = 0; i < 64 && get_wch(&ch) != ERR; i++)
		if (ch >= 0x40 && ch <= 0x7E)
			return;
}

/* What came right behind ESC.  False: all of it was a sequence that means nothing here. */
static bool after_escape(struct input *in, bool want_alt)
{
	wint_t ch;
	int kind = get_wch(&ch);

	if (kind == ERR)
		return true;
	if (kind != KEY_CODE_YES && (ch == '[' || ch == 'O')) {
		skip_sequence();
		return false;
	}
	/* twice in a hurry means once: no key has ESC itself with Alt */
	if (want_alt && kind != KEY_CODE_YES && ch == 27)
		return true;
	if (want_alt) {
		in->alt = true;
		in->key = kind == KEY_CODE_YES ? SPECIAL((int)ch) : (int)ch;
	} else if (kind == KEY_CODE_YES) {
		ungetch((int)ch);
	} else {
		unget_wch((wchar_t)ch);
	}
	return true;
}

/* --- the mouse --------------------------------------------------------------------------------- */

enum { REST_MS = 60 }; /* until the rest of a sequence must have come */

/* The next character of a sequence; -1: none came in time, or it is a key. */
static int rest_of_sequence(void)
{
	struct pollfd fd = {.fd = term_fd(), .events = POLLIN};
	wint_t ch;
	int kind = get_wch(&ch);

	if (kind == ERR && poll(&fd, 1, REST_MS) > 0)
		kind = get_wch(&ch);
	return kind == OK && ch <= INT_MAX ? (int)ch : -1;
}

/* "ESC [ < button ; column ; line M", or m when the button is let go; the first three were read. */
static bool read_sgr(int *button, int *x, int *y)
{
	int *const value[3] = {button, x, y}, most = 100000;

	for (int i = 0; i < 3; i++) {
		int ch = rest_of_sequence();
		for (*value[i] = 0; ch >= '0' && ch <= '9'; ch = rest_of_sequence())
			*value[i] = *value[i] < most ? *value[i] * 10 + (ch - '0') : most;
		if (i == 2)
			return ch == 'M';
		if (ch != ';')
			return false;
	}
	return false;
}

/* "ESC [ M" and three characters from the blank on; the last button that was let go is 3. */
static bool read_x10(int *button, int *x, int *y)
{
	*button = rest_of_sequence() - ' ';
	*x = rest_of_sequence() - ' ';
	*y = rest_of_sequence() - ' ';
	return *button >= 0 && *x > 0 && *y > 0;
}

/* A press of the left button or a step of the wheel; false: any other button, a release, damage. */
static bool read_mouse(struct input *in, int kind)
{
	enum { SHIFTS = 4 | 8 | 16, MOVED = 32, WHEEL = 64 };
	int button, x, y;

	if (!(kind == KEY_MOUSE_SGR ? read_sgr : read_x10)(&button, &x, &y) || x < 1 || y < 1)
		return false;
	in->x = x - 1;
	in->y = y - 1;
	switch (button & ~SHIFTS) {
	case 0:
		in->key = SPECIAL(KEY_CLICK);
		return true;
	case WHEEL:
		in->key = SPECIAL(KEY_WHEEL_UP);
		return true;
	case WHEEL + 1:
		in->key = SPECIAL(KEY_WHEEL_DOWN);
		return true;
	default:
		return false;
	}
}

/* --- the terminal's answer ---------------------------------------------------------------------- */

/* One of red, green and blue: of one to four hexadecimal digits the eight highest bits.  -1: none. */
static int read_level(const char **s)
{
	char *end;
	unsigned long n = strtoul(*s, &end, 16);
	size_t digits = (size_t)(end - *s);

	if (!digits || digits > 4)
		return -1;
	*s = end + (*end == '/');
	return (int)(digits == 1 ? n * 17 : n >> (4 * digits - 8));
}

/* "rgb:RRRR/GGGG/BBBB", "rgba:RR/GG/BB/AA" */
static void take_answer(const char *s)
{
	const char *colon = strchr(s, ':');
	int rgb = 0;

	if (strncmp(s, "rgb", 3) != 0 || !colon)
		return;
	s = colon + 1;
	for (int i = 0; i < 3; i++) {
		int level = read_level(&s);
		if (level < 0)
			return;
		rgb = rgb << 8 | level;
	}
	reader.background = rgb;
	atomic_store(&reader.answered, true);
}

/* A character while an answer is read, which may come in pieces; it ends with BEL or ESC \.  False: it is none of its
 * characters, so the answer ended, and this is a key. */
static bool read_answer(wint_t ch, bool special)
{
	enum { ANSWER_MOST = 64, ESCAPE = 27 };
	struct text *t = &reader.answer;
	bool escaped = t->len && t->s[t->len - 1] == ESCAPE;

	if (!special && (ch == '\a' || (escaped && ch == '\\'))) {
		reader.answering = false;
		take_answer(t->s ? t->s : "");
		return true;
	}
	if (special || escaped || t->len == ANSWER_MOST || ch > 'z' || (ch != ESCAPE && !strchr("rgba:/", (int)ch) &&
	    !isxdigit((int)ch))) {
		reader.answering = false;
		return false;
	}
	text_add_char(t, (char)ch);
	return true;
}

bool term_background(int *rgb)
{
	bool answered = atomic_load(&reader.answered);

	*rgb = reader.background;
	return answered;
}

/* --- reading ----------------------------------------------------------------------------------- */

bool term_read(struct input *in, bool want_alt)
{
	wint_t ch;
	int kind;

	*in = (struct input){.key = 0};
	while ((kind = get_wch(&ch)) != ERR) {
		bool special = kind == KEY_CODE_YES;

		if (reader.answering && read_answer(ch, special))
			continue;
		if (special && ch == KEY_PASTE_START) {
			reader.pasting = true;
			text_clear(&reader.pasted);
		} else if (special && ch == KEY_PASTE_END) {
			reader.pasting = false;
			if (!reader.pasted.s)
				continue;
			in->pasted = reader.pasted.s;
			return true;
		} else if (reader.pasting) {
			if (!special)
				paste_add(ch);
		} else if (special && ch == KEY_RESIZE) {
			continue; /* signals.c tells */
		} else if (special && ch == KEY_BACKGROUND) {
			reader.answering = true;
			text_clear(&reader.answer);
		} else if (special && (ch == KEY_MOUSE_SGR || ch == KEY_MOUSE_X10)) {
			if (read_mouse(in, (int)ch))
				return true;
		} else {
			in->key = special ? SPECIAL((int)ch) : (int)ch;
			if (in->key != 27 || after_escape(in, want_alt))
				return true;
		}
	}
	return false;
}

void term_keep(const struct input *in)
{
	struct input copy = *in;

	if (in->pasted)
		copy.pasted = xstrdup(in->pasted);
	VEC_PUSH(kept.key, kept.n, kept.cap) = copy;
}

const struct input *term_first_kept(void)
{
	return kept.at < kept.n ? &kept.key[kept.at] : NULL;
}

bool term_read_kept(struct input *in)
{
	free(kept.given);
	kept.given = NULL;
	if (kept.at == kept.n) {
		kept.at = kept.n = 0;
		return false;
	}
	*in = kept.key[kept.at++];
	kept.given = (char *)in->pasted;
	return true;
}

bool term_keeps(bool (*which)(const struct input *in))
{
	for (size_t i = kept.at; i < kept.n; i++)
		if (which(&kept.key[i]))
			return true;
	return false;
}

void term_drop_kept(void)
{
	struct input in;

	while (term_read_kept(&in))
		continue;
	free(kept.key);
	kept.key = NULL;
	kept.cap = 0;
}

/* A character, whatever its bytes. */
static void drop_last(struct text *t)
{
	while (t->len > 0 && ((unsigned char)t->s[t->len - 1] & 0xC0) == 0x80)
		text_drop_last(t);
	if (t->len > 0)
		text_drop_last(t);
}

void term_kept_words(struct text *to)
{
	char utf8[4];

	for (size_t i = kept.at; i < kept.n; i++) {
		const struct input *in = &kept.key[i];
		bool enter = in->key == '\r' || in->key == '\n' || in->key == SPECIAL(KEY_ENTER);
		if (in->pasted)
			text_add_escaped(to, in->pasted, strlen(in->pasted));
		else if (enter && i + 1 < kept.n)
			text_add_char(to, ' ');
		else if (in->key == 127 || in->key == '\b' || in->key == SPECIAL(KEY_BACKSPACE))
			drop_last(to);
		else if (in->key >= 0x20 && in->key < KEY_SPECIAL)
			text_add_escaped(to, utf8, utf8_encode(utf8, (uint32_t)in->key));
		else if (!enter && in->key != SPECIAL(KEY_CLICK))
			text_add(to, "..");
	}
}
