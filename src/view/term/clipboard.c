/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clipboard.c - a text to the clipboard: through tmux where we are in it, else by OSC 52.
 *
 * tmux as it is set up by default ignores OSC 52 of programs, but sets the clipboard itself if asked to
 * (load-buffer -w, since 3.2).  Terminals do not answer OSC 52, so whether they took the text is not known.
 */
#include "view/term/term.h"

#include "base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TMUX_MS = 1000, NS_OF_MS = 1000000 }; /* that tmux has for it */

static bool is_due(uint64_t until)
{
	return progress_clock() >= until;
}

/* All of it into a pipe, unless its reader ends or takes too long. */
static bool feed(int fd, const char *s, size_t n, uint64_t until)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (n > 0 && !is_due(until)) {
		struct pollfd out = {.fd = fd, .events = POLLOUT};
		ssize_t written = poll(&out, 1, TMUX_MS / 10) > 0 ? write(fd, s, n) : 0;
		if (written < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (written > 0) {
			s += written;
			n -= (size_t)written;
		}
	}
	return n == 0;
}

/* Did the program end well until then?  If not it is ended. */
static bool ends_well(pid_t pid, uint64_t until)
{
	const struct timespec moment = {.tv_nsec = 2 * NS_OF_MS};
	int status = 0;
	pid_t ended;

	while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && !is_due(until))
		nanosleep(&moment, NULL);
	if (ended == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Run tmux with the text as its input; false: there is none, it refused, or it took too long. */
static bool run_tmux(char *const arguments[], const char *s, size_t n)
{
	uint64_t until = progress_clock() + (uint64_t)TMUX_MS * NS_OF_MS;
	posix_spawn_file_actions_t actions;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	bool runs = posix_spawnp(&pid, "tmux", &actions, NULL, arguments, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[0]);
	bool fed = runs && feed(ends[1], s, n, until);
	close(ends[1]);
	return runs && ends_well(pid, until) && fed;
}

/* OSC 52, the text in base64; false: this terminal has no clipboard. */
static bool offer(const char *s, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct text t = TEXT_INIT;

	text_add(&t, "\033]52;c;");
	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = 0;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (i + k < n ? (unsigned char)s[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			text_add_char(&t, i + k > n ? '=' : digits[bits >> (18 - 6 * k) & 63]);
	}
	text_add(&t, "\a");
	bool may = t.s && term_write_outside(t.s, t.len);
	text_release(&t);
	return may;
}

enum term_copied term_copy(const char *s, size_t n)
{
	static char tmux[] = "tmux", load[] = "load-buffer", to_clipboard[] = "-w", input[] = "-";

	if (getenv("TMUX") && run_tmux((char *const[]){tmux, load, to_clipboard, input, NULL}, s, n))
		return COPIED;
	bool offered = offer(s, n);
	if (getenv("TMUX") && run_tmux((char *const[]){tmux, load, input, NULL}, s, n))
		return COPIED_TO_TMUX;
	return offered ? COPIED_IF_ALLOWED : COPIED_NOT;
}
