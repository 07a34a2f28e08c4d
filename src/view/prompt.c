/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prompt.c - readline as an editor without a terminal.
 *
 * readline never sees the terminal: it asks us for bytes, of which we keep a queue filled from
 * curses' keys, its output goes to /dev/null, and its redisplay only notes that the line is to be
 * drawn.  Whole characters go through the queue, so that searching works beyond ASCII.  The line
 * handler only stores: nothing of ours runs inside readline.
 */
#include "view/prompt.h"

#include "base/mem.h"
#include "base/text.h"
#include "command/args/args.h"
#include "view/eta.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readline/readline.h>
#include <readline/history.h>

#define CANDIDATES 400  /* asked for; a list longer than that is no help */
#define HISTORY_MOST 1000
#define PAUSE_MS 1000   /* after which an empty prompt lists all commands: a hand that knows one is quicker */

static struct {
	bool ready, open;
	enum prompt_kind kind;
	FILE *nowhere;
	char queue[64];
	size_t head, tail;
	bool accepted, ended;
	struct text line;            /* the accepted line, or a copy of the one being edited */
	HISTORY_STATE *history[PROMPT_KINDS];

	prompt_completer *complete;
	void *context;
	char **candidate;
	size_t n_candidates, word;   /* where the word they replace begins */
	int chosen;                  /* the one Tab put into the line, or -1 */
	bool walking;                /* the line changes because Tab walks: keep the candidates */
	struct palette_row row[PALETTE_MOST]; /* the candidates, where they are commands */
	size_t n_rows, n_begun;      /* so many; so many of the first begin with what is typed */
	struct text typed;           /* what the first one chosen replaced */
	uint64_t opened;             /* when, ns */
	bool lists;                  /* commands are shown: something was typed, or nothing for a while */

	int scroll;                  /* columns of the line left of the screen */
} prompt = {.chosen = -1};

static const char *const labels[PROMPT_KINDS] = {
    [PROMPT_COMMAND] = ":", [PROMPT_FILTER] = "filter: ", [PROMPT_SEARCH] = "/"};

/* --- what readline asks for -------------------------------------------------------------------- */

static int next_byte(FILE *stream)
{
	(void)stream;
	if (prompt.head == prompt.tail)
		return EOF;
	return (unsigned char)prompt.queue[prompt.head++];
}

static int byte_waits(void)
{
	return prompt.head < prompt.tail;
}

static void no_prepare(int meta)
{
	(void)meta;
}

static void no_deprepare(void)
{
}

static void no_redisplay(void)
{
}

static void take_line(char *line)
{
	rl_callback_handler_remove();
	text_clear(&prompt.line);
	if (line) {
		text_add(&prompt.line, line);
		prompt.accepted = true;
	} else {
		prompt.ended = true;
	}
	free(line);
}

/* --- candidates -------------------------------------------------------------------------------- */

static void drop_candidates(void)
{
	for (size_t i = 0; i < prompt.n_candidates; i++)
		free(prompt.candidate[i]);
	free(prompt.candidate);
	prompt.candidate = NULL;
	prompt.n_candidates = prompt.n_rows = prompt.n_begun = 0;
	prompt.chosen = -1;
	prompt.walking = false;
}

/* The words from byte *begin to the cursor that may name a command: the first word alone, or (several) more, unless the
 * first is a command.  False: there are none. */
static bool names_command(bool several, size_t *begin)
{
	size_t end = (size_t)rl_point, at = strspn(rl_line_buffer, " ");
	size_t first = at + strcspn(rl_line_buffer + at, " ");

	*begin = at < end ? at : end;
	if (!isalpha((unsigned char)rl_line_buffer[at]))
		return !several && rl_line_buffer[at] == '\0';
	for (size_t i = at; i < end; i++)
		if (!isalnum((unsigned char)rl_line_buffer[i]) && !strchr(" -_.:", rl_line_buffer[i]))
			return false;
	return several ? first < end && !command_named(rl_line_buffer + at, first - at) : end <= first;
}

static void find_commands(size_t begin)
{
	size_t n = (size_t)rl_point - begin;

	prompt.n_rows = palette_find(rl_line_buffer + begin, n, prompt.row, PALETTE_MOST);
	prompt.candidate = prompt.n_rows ? xcalloc(prompt.n_rows, sizeof *prompt.candidate) : NULL;
	prompt.n_candidates = prompt.n_rows;
	prompt.word = begin;
	for (size_t i = 0; i < prompt.n_rows; i++) {
		prompt.candidate[i] = xstrdup(prompt.row[i].line);
		if (prompt.n_begun == i && strncmp(prompt.row[i].line, rl_line_buffer + begin, n) == 0)
			prompt.n_begun++;
	}
}

static void ask_completer(bool asked)
{
	prompt.candidate = prompt.complete(
	    prompt.context, rl_line_buffer, (size_t)rl_point, CANDIDATES, asked, &prompt.word, &prompt.n_candidates);
	if (prompt.word > (size_t)rl_point)
		prompt.word = (size_t)rl_point;
}

/* What the word at the cursor could become; nothing while there is no word, unless it is a command's. */
static void find_candidates(bool asked)
{
	size_t end = (size_t)rl_point, begin;

	drop_candidates();
	if (prompt.kind != PROMPT_COMMAND || !prompt.complete)
		return;
	if (names_command(false, &begin))
		find_commands(begin);
	if (prompt.n_rows)
		return;
	ask_completer(asked);
	if (!prompt.n_candidates && names_command(true, &begin))
		find_commands(begin);
	if (prompt.n_rows)
		return;
	bool same = prompt.n_candidates == 1 &&
		    strlen(prompt.candidate[0]) == end - prompt.word &&
		    strncmp(prompt.candidate[0], rl_line_buffer + prompt.word, end - prompt.word) == 0;
	if (same || (prompt.word == end && !asked))
		drop_candidates();
}

void prompt_replace(size_t from, const char *with)
{
	rl_begin_undo_group();
	rl_delete_text((int)from, rl_point);
	rl_point = (int)from;
	rl_insert_text(with);
	rl_end_undo_group();
}

size_t prompt_common(char *const *candidate, size_t n_candidates)
{
	const char *first = candidate[0];
	size_t n = strlen(first);

	for (size_t i = 1; i < n_candidates; i++) {
		size_t same = 0;
		while (same < n && candidate[i][same] == first[same])
			same++;
		n = same;
	}
	while (n > 0 && (first[n] & 0xC0) == 0x80)
		n--;
	return n;
}

static void walk(bool backwards)
{
	int n = (int)prompt.n_candidates;

	if (prompt.chosen < 0) {
		text_clear(&prompt.typed);
		text_add_n(&prompt.typed, rl_line_buffer + prompt.word, (size_t)rl_point - prompt.word);
		prompt.chosen = backwards ? n - 1 : 0;
	}
	else
		prompt.chosen = (prompt.chosen + (backwards ? n - 1 : 1)) % n;
	prompt.walking = true;
	prompt_replace(prompt.word, prompt.candidate[prompt.chosen]);
}

void prompt_complete(size_t from, const char *only)
{
	size_t n = strlen(only);

	prompt_replace(from, only);
	if (rl_point == rl_end && n > 0 && only[n - 1] != '/' && only[n - 1] != ' ')
		rl_insert_text(" ");
}

/* Of the first n candidates: the only one, or what all begin with, is put into the line.  False: that is there. */
static bool continue_word(size_t n)
{
	if (n == 1) {
		prompt_complete(prompt.word, prompt.candidate[0]);
		drop_candidates();
		return true;
	}
	size_t common = n ? prompt_common(prompt.candidate, n) : 0, typed = (size_t)rl_point - prompt.word;
	if (common > typed && n < CANDIDATES) {
		char *longer = xstrndup(prompt.candidate[0], common);
		prompt_replace(prompt.word, longer);
		free(longer);
		find_candidates(true);
		return true;
	}
	return false;
}

static int complete_key(int count, int key)
{
	(void)count;
	(void)key;
	if (prompt.kind != PROMPT_COMMAND)
		return 0;
	if (!prompt.walking && prompt.n_candidates == 0)
		find_candidates(true);
	if (!prompt.walking && prompt.n_rows && !prompt.n_begun) { /* another tool's word first: jmap -histo */
		drop_candidates();
		ask_completer(true);
		if (continue_word(prompt.n_candidates))
			return 0;
		find_candidates(true);
	}
	if (prompt.n_candidates == 0 || (!prompt.walking && continue_word(
	    prompt.n_rows && prompt.n_candidates > 1 ? prompt.n_begun : prompt.n_candidates)))
		return 0;
	walk(false);
	return 0;
}

static int complete_back_key(int count, int key)
{
	(void)count;
	(void)key;
	if (prompt.kind != PROMPT_COMMAND)
		return 0;
	if (prompt.n_candidates == 0)
		find_candidates(true);
	if (prompt.n_candidates > 0)
		walk(true);
	return 0;
}

/* For whatever else an inputrc binds to completion: the same candidates, never file names. */
static char **attempt_completion(const char *word, int start, int end)
{
	size_t from, n;
	(void)word;
	(void)start;

	rl_attempted_completion_over = 1;
	if (prompt.kind != PROMPT_COMMAND || !prompt.complete)
		return NULL;
	char **found = prompt.complete(
	    prompt.context, rl_line_buffer, (size_t)end, CANDIDATES, true, &from, &n);
	if (n == 0) {
		free(found);
		return NULL;
	}
	/* readline wants the common prefix in front, a NULL behind, and frees it all with free() */
	drop_candidates();
	char *prefix = xstrndup(found[0], prompt_common(found, n));
	found = xrealloc(found, n + 2, sizeof *found);
	memmove(found + 1, found, n * sizeof *found);
	found[0] = prefix;
	found[n + 1] = NULL;
	if (n == 1) {
		free(found[1]);
		found[1] = NULL;
	}
	return found;
}

static void show_matches(char **matches, int n, int longest)
{
	(void)matches;
	(void)n;
	(void)longest;
	find_candidates(true);
}

/* --- opening and closing ----------------------------------------------------------------------- */

void prompt_history(char *const *lines, size_t n)
{
	using_history();
	stifle_history(HISTORY_MOST);
	for (size_t i = 0; i < n; i++)
		add_history(lines[i]);
}

static void fill_history(char *const *lines, size_t n)
{
	prompt_history(lines, n);
	prompt.history[PROMPT_COMMAND] = history_get_history_state();
	for (int kind = PROMPT_FILTER; kind < PROMPT_KINDS; kind++)
		prompt.history[kind] = xcalloc(1, sizeof(HISTORY_STATE));
}

void prompt_init(prompt_completer *complete, void *context, char *const *history, size_t n)
{
	prompt.complete = complete;
	prompt.context = context;
	prompt.nowhere = fopen("/dev/null", "w");
	if (!prompt.nowhere)
		prompt.nowhere = stderr; /* which does not reach the screen either (term.c) */
	rl_readline_name = "cairn";
	rl_change_environment = 0;
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	rl_prep_term_function = no_prepare;
	rl_deprep_term_function = no_deprepare;
	rl_outstream = prompt.nowhere;
	rl_instream = stdin;
	rl_getc_function = next_byte;
	rl_input_available_hook = byte_waits;
	rl_redisplay_function = no_redisplay;
	rl_attempted_completion_function = attempt_completion;
	rl_completion_display_matches_hook = show_matches;
	/* reads the inputrc; our own keys come after it, as they are the screen's */
	rl_initialize();
	rl_variable_bind("bell-style", "none");
	rl_variable_bind("enable-bracketed-paste", "off");
	rl_variable_bind("show-mode-in-prompt", "off");
	rl_bind_key('\t', complete_key);
	rl_bind_keyseq("\033[Z", complete_back_key);
	rl_bind_key_in_map('\t', complete_key, vi_insertion_keymap);
	rl_bind_keyseq_in_map("\033[Z", complete_back_key, vi_insertion_keymap);
	fill_history(history, n);
	prompt.ready = true;
}

void prompt_release(void)
{
	if (!prompt.ready)
		return;
	prompt_close();
	for (int kind = 0; kind < PROMPT_KINDS; kind++) {
		history_set_history_state(prompt.history[kind]);
		clear_history();
		free(prompt.history[kind]);
	}
	text_release(&prompt.line);
	text_release(&prompt.typed);
	if (prompt.nowhere != stderr)
		fclose(prompt.nowhere);
	rl_outstream = NULL;
	prompt.ready = false;
}

void prompt_open(enum prompt_kind kind, const char *text, size_t point)
{
	prompt_close();
	prompt.kind = kind;
	prompt.open = true;
	prompt.accepted = prompt.ended = false;
	prompt.head = prompt.tail = 0;
	prompt.scroll = 0;
	prompt.opened = eta_now();
	prompt.lists = *text != '\0';
	history_set_history_state(prompt.history[kind]);
	using_history();
	rl_set_screen_size(LINES, COLS);
	rl_callback_handler_install(labels[kind], take_line);
	if (*text) {
		rl_insert_text(text);
		if (point < (size_t)rl_end)
			rl_point = (int)point;
	} else {
		find_candidates(false); /* all commands */
	}
}

static void keep_history(void)
{
	free(prompt.history[prompt.kind]);
	prompt.history[prompt.kind] = history_get_history_state();
}

void prompt_close(void)
{
	if (!prompt.open)
		return;
	if (!prompt.accepted && !prompt.ended) {
		rl_callback_sigcleanup();
		rl_replace_line("", 1);
		rl_callback_handler_remove();
	}
	keep_history();
	drop_candidates();
	prompt.open = false;
}

void prompt_resize(void)
{
	rl_set_screen_size(LINES, COLS);
}

bool prompt_is_open(void)
{
	return prompt.open;
}

int prompt_wait_ms(void)
{
	if (!prompt.open || prompt.lists || prompt.kind != PROMPT_COMMAND)
		return -1;
	uint64_t age = (eta_now() - prompt.opened) / 1000000;
	return age < PAUSE_MS ? (int)(PAUSE_MS - age) : 0;
}

bool prompt_begins_list(void)
{
	bool begins = prompt_wait_ms() == 0;

	prompt.lists |= begins;
	return begins;
}

enum prompt_kind prompt_kind(void)
{
	return prompt.kind;
}

bool prompt_is_vi(void)
{
	return rl_editing_mode == 0; /* 1: emacs */
}

const char *prompt_text(void)
{
	if (prompt.open) {
		text_clear(&prompt.line);
		text_add(&prompt.line, rl_line_buffer);
	}
	return prompt.line.s ? prompt.line.s : "";
}

/* --- keys -------------------------------------------------------------------------------------- */

static void queue_add(const char *bytes, size_t n)
{
	if (prompt.head == prompt.tail)
		prompt.head = prompt.tail = 0;
	if (n > sizeof prompt.queue - prompt.tail)
		return;
	memcpy(prompt.queue + prompt.tail, bytes, n);
	prompt.tail += n;
}

/* The sequences that readline binds by itself, whatever the terminal sends. */
static void queue_special(int key)
{
	static const struct {
		int code;
		const char *sequence;
	} sequences[] = {
	    {KEY_UP, "\033[A"}, {KEY_DOWN, "\033[B"}, {KEY_RIGHT, "\033[C"}, {KEY_LEFT, "\033[D"},
	    {KEY_HOME, "\033[H"}, {KEY_END, "\033[F"}, {KEY_DC, "\033[3~"}, {KEY_IC, "\033[2~"},
	    {KEY_PPAGE, "\033[5~"}, {KEY_NPAGE, "\033[6~"}, {KEY_BTAB, "\033[Z"},
	    {KEY_BACKSPACE, "\177"}, {KEY_ENTER, "\r"},
	    {KEY_ALT_LEFT, "\033b"}, {KEY_ALT_RIGHT, "\033f"},
	};

	for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
		if (SPECIAL(sequences[i].code) == key)
			queue_add(sequences[i].sequence, strlen(sequences[i].sequence));
}

static void queue_key(const struct input *in)
{
	char utf8[4];

	if (in->alt)
		queue_add("\033", 1);
	if (in->key >= KEY_SPECIAL)
		queue_special(in->key);
	else
		queue_add(utf8, utf8_encode(utf8, (uint32_t)in->key));
}

static bool cancels(const struct input *in)
{
	if (in->pasted)
		return false;
	if (in->key == 3)
		return true; /* right behind an Esc for vi, too */
	if (in->alt)
		return false;
	if (in->key == 27 && !prompt_is_vi())
		return true;
	if (RL_ISSTATE(RL_STATE_ISEARCH) || RL_ISSTATE(RL_STATE_NSEARCH))
		return false;
	/* Backspace in an empty line leaves it, as it does in other full-screen programs */
	return in->key == 7 || (rl_end == 0 && (in->key == 127 || in->key == SPECIAL(KEY_BACKSPACE)));
}

void prompt_remember(const char *line)
{
	using_history();
	for (int i = history_length - 1; i >= 0; i--) {
		HIST_ENTRY *entry = history_get(history_base + i);
		if (entry && strcmp(entry->line, line) == 0)
			free_history_entry(remove_history(i));
	}
	add_history(line);
}

static enum prompt_event after_line(void)
{
	if (prompt.accepted && prompt.line.s && prompt.line.s[0])
		prompt_remember(prompt.line.s);
	bool accepted = prompt.accepted;
	prompt_close();
	return accepted ? PROMPT_ACCEPTED : PROMPT_CANCELLED;
}

/* Up and Down in the list of commands: once one was chosen, or Down where history has nothing newer. */
static bool chooses(const struct input *in)
{
	bool up = in->key == SPECIAL(KEY_UP), down = in->key == SPECIAL(KEY_DOWN);

	if (in->pasted || in->alt || !prompt.n_rows || !(up || down))
		return false;
	if (prompt.chosen < 0 && (up || where_history() < history_length))
		return false;
	if (prompt.chosen == 0 && up) { /* back to what was typed */
		prompt_replace(prompt.word, prompt.typed.s ? prompt.typed.s : "");
		find_candidates(false);
	} else {
		walk(up);
	}
	return true;
}

enum prompt_event prompt_feed(const struct input *in)
{
	if (cancels(in)) {
		prompt_close();
		return PROMPT_CANCELLED;
	}
	char *before = xstrdup(rl_line_buffer);
	bool walked = prompt.walking;
	int chosen = prompt.chosen;

	bool chose = chooses(in);
	if (!chose && in->pasted) {
		rl_insert_text(in->pasted);
	} else if (!chose) {
		queue_key(in);
		while (byte_waits() && !prompt.accepted && !prompt.ended)
			rl_callback_read_char();
	}
	if (prompt.accepted || prompt.ended) {
		free(before);
		return after_line();
	}
	bool changed = strcmp(before, rl_line_buffer) != 0;
	free(before);
	prompt.lists |= changed;
	if (walked && !chose && prompt.chosen == chosen)
		prompt.walking = false; /* another key: what Tab put there is text now */
	if (changed && !prompt.walking)
		find_candidates(false);
	else if (!changed && !prompt.walking && in->key != '\t')
		drop_candidates();
	return changed ? PROMPT_CHANGED : PROMPT_STAYS;
}

/* --- drawing ----------------------------------------------------------------------------------- */

/* n bytes of the line as they are shown: controls as ^X, what is no text or steers the terminal as "?". */
static void add_visible(struct text *to, const char *s, size_t n)
{
	for (size_t at = 0; at < n;) {
		int32_t point;
		size_t used = utf8_decode(s + at, n - at, &point);
		if (point < 0 || (point > 0x7F && point_steers(point))) {
			text_add_char(to, '?');
		} else if (point < 0x20 || point == 0x7F) {
			text_add_char(to, '^');
			text_add_char(to, (char)(point ^ 0x40));
		} else {
			text_add_n(to, s + at, used);
		}
		at += used;
	}
}

static int visible_width(const char *s, size_t n)
{
	struct text t = TEXT_INIT;

	text_clear(&t);
	add_visible(&t, s, n);
	int width = (int)text_width(t.s);
	text_release(&t);
	return width;
}

int prompt_draw(int y, int width)
{
	struct text line = TEXT_INIT;
	const char *label = rl_display_prompt ? rl_display_prompt : labels[prompt.kind];

	int before = draw_clipped(y, 0, width / 2, label, theme_role(ROLE_KEY));
	int room = width - before;
	int cursor = visible_width(rl_line_buffer, (size_t)rl_point);
	if (cursor < prompt.scroll)
		prompt.scroll = cursor;
	if (cursor >= prompt.scroll + room)
		prompt.scroll = cursor - room + 1;
	text_clear(&line);
	add_visible(&line, rl_line_buffer, (size_t)rl_end);
	/* scrolled by whole characters: a wide one may stand across the edge */
	size_t skipped = 0;
	size_t from = text_fit(line.s, (size_t)prompt.scroll, &skipped);
	draw_clipped(y, before, room, line.s + from, theme_role(ROLE_TEXT));
	text_release(&line);
	int column = before + cursor - (int)skipped;
	return column < width ? column : width - 1;
}

const struct palette_row *prompt_commands(size_t *n, int *chosen)
{
	*n = prompt.open && prompt.lists ? prompt.n_rows : 0;
	*chosen = prompt.chosen;
	return prompt.row;
}

char *const *prompt_candidates(size_t *n, int *chosen)
{
	*n = prompt.open && !prompt.n_rows ? prompt.n_candidates : 0;
	*chosen = prompt.chosen;
	return prompt.candidate;
}
