/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * term.c - take the terminal over and give it back.
 *
 * The string that brings an ordinary screen back is put together once, when the terminal is opened,
 * so that a crash needs no curses.  Standard error goes to an unnamed file while the screen is on:
 * a library's complaint must not write across it.
 */
#include "view/term/term.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "command/exec/exec.h"
#include "view/term/terminals.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/* terminfo's names for capabilities are macros for words that we need */
#undef lines
#undef columns
#undef tab

#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
/* Not by curses, which waits for keys when a click comes that is none of its (input.c reads them). */
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"

static struct {
	SCREEN *screen;
	FILE *in, *out;
	bool opened_in, opened_out;   /* ours to close */
	int saved_stderr;             /* -1: not redirected */
	FILE *said;                   /* what was written to it */
	struct termios modes;         /* before us */
	bool paste, mouse, utf8, fine_blocks;
	bool one_screen;              /* no second screen to go back from: ours stays in sight */
	bool continue_expected;       /* a SIGCONT is on its way that we know of */
	_Atomic uint64_t asked;       /* when its background was asked for (progress_clock); 0: it was not */
} term = {.saved_stderr = -1};

/* What term_emergency needs, apart: written before active is set, read by any thread. */
static struct {
	atomic_bool active;
	int fd;
	struct termios modes;
	char bytes[512];
	size_t n;
} rescue;

/* --- the way back ------------------------------------------------------------------------------ */

static int rescue_put(int c)
{
	if (rescue.n < sizeof rescue.bytes)
		rescue.bytes[rescue.n++] = (char)c;
	return c;
}

static void rescue_add(const char *s)
{
	while (*s)
		rescue_put(*s++);
}

static void rescue_add_capability(const char *name)
{
	char *value = tigetstr(name);

	if (value && value != (char *)-1)
		tputs(value, 1, rescue_put);
}

static void rescue_prepare(void)
{
	rescue.n = 0;
	if (term.paste)
		rescue_add(PASTE_OFF);
	if (term.mouse)
		rescue_add(MOUSE_OFF);
	rescue_add_capability("sgr0");
	rescue_add_capability("cnorm");
	rescue_add_capability("rmkx");
	rescue_add_capability("rmcup");
	rescue.fd = fileno(term.out);
	rescue.modes = term.modes;
}

void term_emergency(void)
{
	if (!atomic_exchange(&rescue.active, false))
		return;
	int before = errno, flags = fcntl(rescue.fd, F_GETFL);
	sigset_t stops, mask;
	/* in the background this would stop us */
	sigemptyset(&stops);
	sigaddset(&stops, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &stops, &mask);
	tcsetattr(rescue.fd, TCSANOW, &rescue.modes);
	/* a terminal that takes nothing is not waited for */
	fcntl(rescue.fd, F_SETFL, flags | O_NONBLOCK);
	ssize_t written = write(rescue.fd, rescue.bytes, rescue.n);
	(void)written; /* nothing can be done about it here */
	fcntl(rescue.fd, F_SETFL, flags);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (term.saved_stderr >= 0)
		dup2(term.saved_stderr, STDERR_FILENO);
	errno = before;
}

/* --- standard error ---------------------------------------------------------------------------- */

static void stderr_take(void)
{
	term.said = tmpfile();
	if (!term.said)
		return;
	fflush(stderr);
	term.saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (term.saved_stderr >= 0)
		dup2(fileno(term.said), STDERR_FILENO);
}

static void stderr_give_back(void)
{
	char block[4096];
	size_t n;

	if (term.saved_stderr >= 0) {
		fflush(stderr);
		dup2(term.saved_stderr, STDERR_FILENO);
		close(term.saved_stderr);
		term.saved_stderr = -1;
	}
	if (!term.said)
		return;
	rewind(term.said);
	while ((n = fread(block, 1, sizeof block, term.said)) > 0)
		fwrite(block, 1, n, stderr);
	fclose(term.said);
	term.said = NULL;
}

/* --- opening ----------------------------------------------------------------------------------- */

static void close_streams(void)
{
	if (term.opened_in)
		fclose(term.in);
	if (term.opened_out)
		fclose(term.out);
	term.opened_in = term.opened_out = false;
	term.in = term.out = NULL;
}

/* The terminal itself where standard input or output is something else. */
static int open_streams(struct err *err)
{
	term.in = stdin;
	term.out = stdout;
	if (!isatty(STDIN_FILENO)) {
		term.in = fopen("/dev/tty", "re");
		term.opened_in = term.in != NULL;
	}
	if (!isatty(STDOUT_FILENO)) {
		term.out = fopen("/dev/tty", "we");
		term.opened_out = term.out != NULL;
	}
	if (term.in && term.out && tcgetattr(fileno(term.out), &term.modes) == 0)
		return 0;
	int reason = errno;
	close_streams();
	return err_set(err, ERR_IO, "no terminal for the screen: %s (-x COMMAND prints instead)",
	    strerror(reason));
}

static int check_ability(struct err *err)
{
	const char *name = getenv("TERM");

	if (!name || !*name)
		return err_set(err, ERR_UNSUPPORTED,
		    "TERM is not set: using the plain prompt (--plain)");
	const char *like = terminal_describe(name, fileno(term.out));
	if (!like)
		return err_set(err, ERR_UNSUPPORTED,
		    "unknown terminal type \"%s\": using the plain prompt (--plain)", name);
	char *cup = tigetstr("cup");
	if (!cup || cup == (char *)-1)
		return err_set(err, ERR_UNSUPPORTED,
		    "terminal type \"%s\" cannot move its cursor: using the plain prompt (--plain)", name);
	if (strcmp(like, name) != 0)
		complain("unknown terminal type \"%s\"; treated as %s", name, like);
	return 0;
}

/* May it be asked for pastes in brackets and the mouse?  The old ones cannot; the rest ignore what they do not
 * know. */
static bool is_modern(const char *name)
{
	return strncmp(name, "linux", 5) != 0 && strncmp(name, "vt", 2) != 0 &&
	       strncmp(name, "ansi", 4) != 0;
}

static void sequences_on(void)
{
	if (term.paste)
		term_write(PASTE_ON, strlen(PASTE_ON));
	if (term.mouse)
		term_write(MOUSE_ON, strlen(MOUSE_ON));
}

static void sequences_off(void)
{
	if (term.mouse)
		term_write(MOUSE_OFF, strlen(MOUSE_OFF));
	if (term.paste)
		term_write(PASTE_OFF, strlen(PASTE_OFF));
}

/* --- the terminal's answers ---------------------------------------------------------------------- */

/* screen passes on to its terminal what stands between these, in pieces that it has room for. */
#define SCREEN_BEGINS "\033P"
#define SCREEN_ENDS "\033\\"
enum { SCREEN_PIECE = 200 };

/* Are we in screen?  Where only TERM says so it may be tmux as well: each ignores what is for the other. */
static bool maybe_screen(void)
{
	const char *name = getenv("TERM");

	return getenv("STY") || (name && !strncmp(name, "screen", 6) && !getenv("TMUX"));
}

bool term_write_outside(const char *bytes, size_t n)
{
	if (!is_modern(getenv("TERM")))
		return false;
	if (!getenv("STY"))
		term_write(bytes, n);
	if (!maybe_screen())
		return true;
	struct text wrapped = TEXT_INIT;
	for (size_t i = 0; i < n; i += SCREEN_PIECE) {
		text_add(&wrapped, SCREEN_BEGINS);
		text_add_n(&wrapped, bytes + i, n - i < SCREEN_PIECE ? n - i : SCREEN_PIECE);
		text_add(&wrapped, SCREEN_ENDS);
	}
	if (wrapped.s)
		term_write(wrapped.s, wrapped.len);
	text_release(&wrapped);
	return true;
}

bool term_ask_background(void)
{
	static const char question[] = "\033]11;?\a";

	if (term.asked || !term_write_outside(question, sizeof question - 1))
		return false;
	term.asked = progress_clock();
	return true;
}

unsigned term_answer_ms(void)
{
	enum { ANSWER_MS = 100, NS_OF_MS = 1000000 };
	int rgb;
	uint64_t asked = atomic_load(&term.asked);

	if (!asked || term_background(&rgb))
		return 0;
	uint64_t age = (progress_clock() - asked) / NS_OF_MS;
	return age < ANSWER_MS ? (unsigned)(ANSWER_MS - age) : 0;
}

/* Whoever has the terminal next must not get the answer: one that is due is waited for. */
static void await_answer(void)
{
	struct pollfd fd = {.fd = fileno(term.in), .events = POLLIN};
	struct input in;
	unsigned left;

	while ((left = term_answer_ms()) > 0) {
		if (poll(&fd, 1, (int)left) <= 0 || fd.revents & (POLLHUP | POLLERR))
			return;
		while (term_read(&in, false))
			term_keep(&in);
	}
}

/* --- leaving the screen -------------------------------------------------------------------------- */

/* Where our last frame stays on the terminal the shell goes on below it, on an empty line. */
static void empty_last_line(void)
{
	if (!term.one_screen)
		return;
	move(LINES - 1, 0);
	clrtoeol();
	refresh();
}

static void set_modes(void)
{
	raw();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	leaveok(stdscr, FALSE);
	def_prog_mode();
}

/* We draw with one set of characters, so that changes of looks need not set it: that is shorter to send.  What curses
 * sends is what tigetstr finds; its macros are of a copy. */
static void drop_character_set(const char *name, const char *begins, const char *ends)
{
	char *s = tigetstr(name);

	if (!s || s == (char *)-1 || strncmp(s, begins, strlen(begins)) != 0)
		return;
	const char *end = strstr(s, ends);
	if (end)
		memmove(s, end + strlen(ends), strlen(end + strlen(ends)) + 1);
}

int term_open(const struct term_options *options, struct err *err)
{
	static bool at_exit_set;
	int rc = open_streams(err);

	if (rc)
		return rc;
	rc = check_ability(err);
	if (rc) {
		close_streams();
		return rc;
	}
	const char *name = getenv("TERM");
	term.utf8 = !options->ascii && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	term.fine_blocks = term.utf8 && is_modern(name);
	term.paste = is_modern(name);
	term.mouse = options->mouse && is_modern(name);
	char *rmcup = tigetstr("rmcup");
	term.one_screen = !rmcup || rmcup == (char *)-1 || !*rmcup;
	rescue_prepare();
	del_curterm(cur_term); /* newterm makes its own */
	rc = signals_open(err);
	if (rc) {
		close_streams();
		return rc;
	}
	/* short enough not to be felt, long enough for a sequence that ssh delivers in two packets */
	if (!getenv("ESCDELAY"))
		set_escdelay(60);
	term.screen = newterm(NULL, term.out, term.in);
	if (!term.screen) {
		signals_close();
		close_streams();
		return err_set(err, ERR_UNSUPPORTED,
		    "terminal type \"%s\" cannot show a screen: using the plain prompt (--plain)", name);
	}
	drop_character_set("sgr0", "\033(B", "\033(B");
	drop_character_set("sgr", "%?%p9%t", "%;");
	atomic_store(&rescue.active, true);
	mem_before_exit = term_emergency;
	if (!at_exit_set)
		at_exit_set = atexit(term_close) == 0;
	stderr_take();
	set_modes();
	term_define_keys();
	sequences_on();
	return 0;
}

void term_close(void)
{
	if (!term.screen)
		return;
	if (atomic_load(&rescue.active)) {
		await_answer();
		sequences_off();
		empty_last_line();
		curs_set(1);
		endwin();
		tcsetattr(fileno(term.out), TCSADRAIN, &term.modes);
		atomic_store(&rescue.active, false);
		delscreen(term.screen);
	}
	term.screen = NULL;
	term.asked = 0;
	signals_close();
	stderr_give_back();
	close_streams();
	mem_before_exit = NULL;
}

/* --- away and back ----------------------------------------------------------------------------- */

void term_pause(void)
{
	await_answer();
	sequences_off();
	empty_last_line();
	curs_set(1);
	def_prog_mode();
	endwin();
	tcsetattr(fileno(term.out), TCSADRAIN, &term.modes);
	/* somebody else's now, in whatever state that one wants it */
	atomic_store(&rescue.active, false);
	signals_step_aside(true);
}

void term_resume(void)
{
	signals_step_aside(false);
	atomic_store(&rescue.active, true);
	reset_prog_mode();
	term_check_size();
	/* what stands on the terminal is somebody else's: draw all of it again */
	clearok(curscr, TRUE);
	curs_set(0);
	sequences_on();
}

void term_wait_for_enter(void)
{
	static const char word[] = "\n[Enter: return to cairn] ";
	char byte;

	term_write(word, sizeof word - 1);
	tcflush(fileno(term.in), TCIFLUSH);
	for (;;) {
		ssize_t n = read(fileno(term.in), &byte, 1);
		if ((n == 1 && byte == '\n') || n == 0 || (n < 0 && errno != EINTR))
			return;
	}
}

void term_suspend(void)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, ours;

	term_pause();
	sigaction(SIGTSTP, &standard, &ours);
	term.continue_expected = true;
	/* the whole job, as the terminal itself would have done it */
	kill(0, SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
	/* the shell may have been given new modes meanwhile: those are the ones to give back */
	tcgetattr(fileno(term.out), &term.modes);
	rescue.modes = term.modes;
	term_resume();
}

void term_continued(void)
{
	if (!term.continue_expected)
		term_resume(); /* stopped by another hand than ours */
	term.continue_expected = false;
}

void term_check_size(void)
{
	struct winsize size;

	if (ioctl(fileno(term.out), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
	    (size.ws_row != LINES || size.ws_col != COLS))
		resizeterm(size.ws_row, size.ws_col);
}

/* --- facts ------------------------------------------------------------------------------------- */

bool term_utf8(void)
{
	return term.utf8;
}

bool term_fine_blocks(void)
{
	return term.fine_blocks;
}

int term_fd(void)
{
	return fileno(term.in);
}

void term_write(const char *bytes, size_t n)
{
	fflush(term.out);
	while (n > 0) {
		ssize_t written = write(fileno(term.out), bytes, n);
		if (written < 0 && errno != EINTR)
			return;
		if (written > 0) {
			bytes += written;
			n -= (size_t)written;
		}
	}
}
