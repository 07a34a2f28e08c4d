/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prompt_plain.c - lines from a terminal without a screen, or from a pipe.
 *
 * Readline's callbacks rather than readline(): what a signal does here is ours to say, and every signal that
 * ends or stops the program gives the terminal its modes back first.  They are held back but while we wait.
 */
#include "view/prompt.h"

#include "base/mem.h"
#include "base/text.h"
#include "view/term/term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/readline.h>
#include <readline/history.h>
#include <stddef.h>

#define CANDIDATES 400
#define CANDIDATES_SHOWN 60

static struct {
	prompt_completer *complete;
	void *context;
	char *line;
	bool done;
} plain;

static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
#define N_HELD (sizeof held / sizeof *held)
static volatile sig_atomic_t caught[N_HELD];

/* --- completion -------------------------------------------------------------------------------- */

/* Below the line, which then stands there again. */
static void list_candidates(char *const *candidate, size_t n)
{
	rl_crlf();
	for (size_t i = 0; i < n && i < CANDIDATES_SHOWN; i++) {
		struct text shown = TEXT_INIT;
		text_add_escaped(&shown, candidate[i], strlen(candidate[i]));
		fprintf(rl_outstream, "%s%s", i > 0 ? "  " : "", shown.s ? shown.s : "");
		text_release(&shown);
	}
	fputs(n > CANDIDATES_SHOWN ? "  and more\n" : "\n", rl_outstream);
	rl_on_new_line();
	rl_redisplay();
}

static int complete_key(int count, int key)
{
	size_t from, n, end = (size_t)rl_point;
	(void)count;
	(void)key;

	char **found = plain.complete(plain.context, rl_line_buffer, end, CANDIDATES, true, &from, &n);
	if (n == 1) {
		prompt_complete(from, found[0]);
	} else if (n > 1) {
		size_t common = prompt_common(found, n);
		if (common > end - from && n < CANDIDATES) {
			char *longer = xstrndup(found[0], common);
			prompt_replace(from, longer);
			free(longer);
		} else {
			list_candidates(found, n);
		}
	}
	for (size_t i = 0; i < n; i++)
		free(found[i]);
	free(found);
	return 0;
}

/* Never file names, whatever else an inputrc binds to completion. */
static char **no_completion(const char *word, int start, int end)
{
	(void)word;
	(void)start;
	(void)end;
	rl_attempted_completion_over = 1;
	return NULL;
}

/* --- signals ----------------------------------------------------------------------------------- */

static void note(int signal)
{
	for (size_t i = 0; i < N_HELD; i++)
		if (held[i] == signal)
			caught[i] = 1;
}

/* As if nobody had handled it: the program ends, or stops and goes on. */
static void let_pass(int signal)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, ours;
	sigset_t this, mask;

	rl_deprep_terminal();
	sigaction(signal, &standard, &ours);
	sigemptyset(&this);
	sigaddset(&this, signal);
	raise(signal); /* waits until it is let through */
	sigprocmask(SIG_UNBLOCK, &this, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(signal, &ours, NULL);
	rl_prep_terminal(0);
	rl_on_new_line();
	rl_redisplay();
}

/* True: the line is given up. */
static bool take_signals(void)
{
	bool stopped = false;

	for (size_t i = 0; i < N_HELD; i++) {
		if (!caught[i])
			continue;
		caught[i] = 0;
		if (held[i] == SIGINT)
			stopped = true;
		else if (held[i] == SIGWINCH)
			rl_resize_terminal();
		else
			let_pass(held[i]);
	}
	return stopped;
}

/* --- a line ------------------------------------------------------------------------------------ */

static void take_line(char *line)
{
	rl_callback_handler_remove(); /* the terminal as it was, before anything is printed */
	plain.line = line;
	plain.done = true;
}

static enum prompt_answer edit(const char *label, const sigset_t *outside)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};

	plain.done = false;
	rl_callback_handler_install(label, take_line);
	while (!plain.done) {
		if (take_signals()) {
			rl_callback_sigcleanup();
			rl_echo_signal_char(SIGINT);
			rl_replace_line("", 1);
			rl_crlf();
			rl_callback_handler_remove();
			return PROMPT_STOPPED;
		}
		if (ppoll(&keys, 1, NULL, outside) > 0)
			rl_callback_read_char();
	}
	return plain.line ? PROMPT_LINE : PROMPT_END;
}

static enum prompt_answer edit_line(const char *label, char **line)
{
	struct sigaction noting = {.sa_handler = note}, before[N_HELD];
	sigset_t all, outside;

	sigemptyset(&all);
	for (size_t i = 0; i < N_HELD; i++)
		sigaddset(&all, held[i]);
	sigprocmask(SIG_BLOCK, &all, &outside);
	for (size_t i = 0; i < N_HELD; i++) {
		sigaction(held[i], &noting, &before[i]);
		if (before[i].sa_handler == SIG_IGN)
			sigaction(held[i], &before[i], NULL);
	}
	rl_resize_terminal(); /* it may have changed while a command ran */
	enum prompt_answer answer = edit(label, &outside);
	*line = plain.line;
	plain.line = NULL;
	for (size_t i = 0; i < N_HELD; i++)
		sigaction(held[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, &outside, NULL);
	if (answer == PROMPT_END)
		putchar('\n'); /* the shell's own prompt begins a line */
	return answer;
}

static enum prompt_answer read_line(const char *label, char **line)
{
	size_t cap = 0;

	*line = NULL;
	fputs(label, stdout);
	fflush(stdout);
	ssize_t n = getline(line, &cap, stdin);
	if (n < 0) {
		bool stopped = !feof(stdin) && errno == EINTR;
		clearerr(stdin);
		putchar('\n');
		free(*line);
		*line = NULL;
		return stopped ? PROMPT_STOPPED : PROMPT_END;
	}
	while (n > 0 && ((*line)[n - 1] == '\n' || (*line)[n - 1] == '\r'))
		(*line)[--n] = '\0';
	return PROMPT_LINE;
}

static bool edits(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

enum prompt_answer prompt_plain_read(const char *label, char **line)
{
	return edits() ? edit_line(label, line) : read_line(label, line);
}

void prompt_plain_init(prompt_completer *complete, void *context, char *const *history, size_t n)
{
	if (!edits())
		return;
	plain.complete = complete;
	plain.context = context;
	if (getenv("TERM"))
		terminal_describe(getenv("TERM"), STDOUT_FILENO); /* readline has a plain line where that fails */
	rl_readline_name = "cairn";
	rl_change_environment = 0;
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	rl_instream = stdin;
	rl_outstream = stdout;
	rl_attempted_completion_function = no_completion;
	rl_initialize();
	rl_bind_key('\t', complete_key);
	rl_bind_key_in_map('\t', complete_key, vi_insertion_keymap);
	prompt_history(history, n);
}
