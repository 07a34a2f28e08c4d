/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_terminals.c - the descriptions of terminals that are brought along: against those of this host, as curses
 * reads both.
 */
#include "view/term/term.h"
#include "view/term/terminals.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <curses.h>
#include <term.h>

#define NAMES_MOST 800

/* What every screen and prompt stands on; of the rest hosts know more or less, by the age of their ncurses. */
static const char *const needed[] = {
	"am", "colors", "cup", "clear", "el", "ed", "rev", "setaf", "setab", "op", "smcup", "rmcup", "kcuu1", "kcud1",
	"kcuf1", "kcub1", "khome", "knp", "kpp", NULL,
};

static int nowhere;

static int by_letter(const void *a, const void *b)
{
	return memcmp(a, b, 2);
}

/* The capability of the terminal at hand, in words. */
static char *said(const char *name)
{
	struct text t = TEXT_INIT;
	int flag = tigetflag(name), number = tigetnum(name);
	const char *string = flag < 0 && number == -2 ? tigetstr(name) : NULL;
	if (flag >= 0)
		text_addf(&t, "%s", flag ? "yes" : "no");
	else if (number != -2)
		text_addf(&t, "%d", number);
	else if (string && string != (char *)-1)
		text_addf(&t, "=%s", string);
	else
		text_add(&t, "none");
	/* letters with what is drawn for each, in whatever order */
	if (!strcmp(name, "acsc") && *t.s == '=')
		qsort(t.s + 1, t.len / 2, 2, by_letter);
	return text_take(&t);
}

static bool among(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* Is it one that the table tells of the type or of a base, or that is needed? */
static bool is_told(const struct terminal_type *type, const char *name)
{
	size_t n = strlen(name);
	for (const struct terminal_type *t = type; t; t = t->base ? terminal_nearest(t->base) : NULL)
		for (size_t i = 0; t->can[i]; i++)
			if (!strncmp(t->can[i], name, n) && (!t->can[i][n] || strchr("#=@", t->can[i][n])))
				return true;
	return among(needed, name);
}

static void compare(const struct terminal_type *type, bool all)
{
	static char *host[NAMES_MOST];
	const char *name[NAMES_MOST];
	char other[40];
	size_t n = 0;
	for (size_t i = 0; boolnames[i]; i++)
		name[n++] = boolnames[i];
	for (size_t i = 0; numnames[i]; i++)
		name[n++] = numnames[i];
	for (size_t i = 0; strnames[i]; i++)
		name[n++] = strnames[i];
	assert_true(n < NAMES_MOST);
	for (size_t i = 0; i < n; i++)
		host[i] = said(name[i]);
	del_curterm(cur_term);
	struct text t = TEXT_INIT;
	snprintf(other, sizeof other, "brought-%s", type->name);
	terminal_compile(&t, type, other);
	setenv("TERMINFO", t.s, 1);
	text_release(&t);
	int status;
	assert_int_equal(setupterm(other, nowhere, &status), OK);
	for (size_t i = 0; i < n; i++) {
		char *brought = said(name[i]);
		if (all ? is_told(type, name[i]) : among(needed, name[i])) {
			if (strcmp(brought, host[i]) != 0)
				print_message("%s of %s\n", name[i], type->name);
			assert_string_equal(brought, host[i]);
		}
		free(brought);
		free(host[i]);
	}
	del_curterm(cur_term);
	unsetenv("TERMINFO");
}

static void as_the_host_has_them(void **state)
{
	size_t compared = 0;
	int status;
	(void)state;
	bool all = strstr(curses_version(), " 6.4") != NULL; /* that the table was made from */
	for (const struct terminal_type *t = terminal_types; t->name; t++) {
		unsetenv("TERMINFO");
		if (setupterm(t->name, nowhere, &status) != OK)
			continue;
		compare(t, all);
		compared++;
	}
	if (compared == 0)
		skip();
}

static void unknown_ones(void **state)
{
	static const struct {
		const char *name, *like;
	} cases[] = {
		{"no-such-terminal", "vt100"}, {"xterm-ghostty", "xterm-256color"}, {"xterm-kitty", "xterm-kitty"},
		{"xterm-color", "xterm"}, {"screen.xterm-256color", "screen-256color"}, {"screen.linux", "screen"},
		{"tmux-direct", "tmux"}, {"konsole-256color", "xterm-256color"}, {"vt320", "vt220"}, {"vt102", "vt100"},
		{"linux-16color", "linux"}, {"alacritty-direct", "alacritty"}, {"dumb-emacs-ansi", "dumb"},
		{"rxvt-256color", "rxvt"}, {"", "vt100"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(terminal_nearest(cases[i].name)->name, cases[i].like);
}

static void told_to_curses(void **state)
{
	(void)state;
	unsetenv("TERMINFO");
	assert_string_equal(terminal_describe("xterm-no-such", nowhere), "xterm-256color");
	assert_int_equal(tigetnum("colors"), 256);
	assert_string_equal(tigetstr("smcup"), "\033[?1049h\033[22;0;0t");
	assert_string_equal(tparm(tigetstr("cup"), 4, 8), "\033[5;9H");
	assert_true(tigetstr("rmam") == NULL);
	del_curterm(cur_term);
	/* another one afterwards is not taken for it */
	assert_string_equal(terminal_describe("vt52-no-such", nowhere), "vt52");
	assert_string_equal(tigetstr("clear"), "\033H\033J");
	del_curterm(cur_term);
	/* what curses could take for a path, or for two names */
	static const char *const names[] = {"../../etc/passwd", "a|b", "x y", ""};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_null(terminal_describe(names[i], nowhere));
	char longest[600];
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_null(terminal_describe(longest, nowhere));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_host_has_them),
		cmocka_unit_test(unknown_ones),
		cmocka_unit_test(told_to_curses),
	};
	nowhere = open("/dev/null", O_WRONLY);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
