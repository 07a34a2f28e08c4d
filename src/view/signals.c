/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signals.c - signals become bytes in a pipe; crashes give the terminal back first.
 *
 * Nothing of curses is called in a handler.  Crash handlers run on a stack of their own, once: then
 * the signal's default action follows.  A fault in the mapped dump is not a crash: the dump layer
 * puts its own SIGBUS handler in front when it maps a file, and hands on what is not its own.
 */
#include "view/term.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const int told[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
#define N_TOLD (sizeof told / sizeof *told)
#define N_FATAL (sizeof fatal / sizeof *fatal)

static int pipe_ends[2] = {-1, -1};
static struct sigaction told_before[N_TOLD], fatal_before[N_FATAL], pipe_before;
static unsigned char crash_stack[64 * 1024];

static void tell(int signal)
{
	int before = errno;
	unsigned char byte = (unsigned char)signal;
	ssize_t written = write(pipe_ends[1], &byte, 1);

	(void)written; /* a full pipe already says that something happened */
	errno = before;
}

/* Not SIG_IGN: programs started from the prompt would inherit that. */
static void nothing(int signal)
{
	(void)signal;
}

static void say(const char *s)
{
	ssize_t written = write(STDERR_FILENO, s, strlen(s));
	(void)written;
}

static void crash(int signal)
{
	term_emergency();
	say("cairn: ended by a fault in the program (");
	switch (signal) {
	case SIGSEGV:
		say("SIGSEGV");
		break;
	case SIGABRT:
		say("SIGABRT");
		break;
	case SIGBUS:
		say("SIGBUS");
		break;
	case SIGFPE:
		say("SIGFPE");
		break;
	default:
		say("SIGILL");
		break;
	}
	say("); the terminal was put back\n");
	/* the default action now, whoever called us and whatever is blocked */
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t this;
	sigemptyset(&this);
	sigaddset(&this, signal);
	sigaction(signal, &standard, NULL);
	pthread_sigmask(SIG_UNBLOCK, &this, NULL);
	raise(signal);
}

int signals_open(struct err *err)
{
	if (pipe(pipe_ends) != 0)
		return err_set(err, ERR_IO, "no pipe for signals: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		fcntl(pipe_ends[i], F_SETFL, O_NONBLOCK);
		fcntl(pipe_ends[i], F_SETFD, FD_CLOEXEC);
	}

	struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_TOLD; i++)
		sigaction(told[i], &action, &told_before[i]);

	struct sigaction unheard = {.sa_handler = nothing, .sa_flags = SA_RESTART};
	sigemptyset(&unheard.sa_mask);
	sigaction(SIGPIPE, &unheard, &pipe_before);

	stack_t stack = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack};
	struct sigaction last = {.sa_handler = crash};
	last.sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
	sigemptyset(&last.sa_mask);
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < N_FATAL; i++)
		sigaction(fatal[i], &last, &fatal_before[i]);
	return 0;
}

void signals_close(void)
{
	for (size_t i = 0; i < N_TOLD; i++)
		sigaction(told[i], &told_before[i], NULL);
	/* the crash handlers stay: without an open terminal they only say a word */
	sigaction(SIGPIPE, &pipe_before, NULL);
	for (int i = 0; i < 2; i++) {
		if (pipe_ends[i] >= 0)
			close(pipe_ends[i]);
		pipe_ends[i] = -1;
	}
}

int signals_fd(void)
{
	return pipe_ends[0];
}

int signals_take(void)
{
	unsigned char byte;
	ssize_t n;

	do
		n = read(pipe_ends[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? byte : 0;
}
