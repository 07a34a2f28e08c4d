/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signals.c - signals become bytes in a pipe; whatever ends the program gives the terminal back first.
 *
 * Nothing of curses is called in a handler.
 *
 * TERM, HUP and QUIT end the program in order: the main thread hears of them, stops what goes on, and
 * leaves.  It may be kept from that by a job that does not answer, or by a terminal that takes nothing.
 * So a timer is set with the decision to leave; when it runs out, its handler gives the terminal back and
 * ends the process where it stands.
 *
 * All other signals that end a process are left to do that, once the terminal was put back.  A fault in
 * the mapped dump is no such signal: the dump layer puts its own SIGBUS handler in front when it maps a
 * file, and hands on what is not its own.  Handlers of faults run on a stack of their own.
 */
#include "view/term/term.h"

#include "base/assert.h"
#include "memory/mapped_file.h"
#include "memory/page_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How long leaving in order may take.  A build with assertions or sanitizers is slow, and what it finds
 * at its end is to be heard. */
#ifdef CAIRN_ASSERTIONS
#define LEAVE_MS 8000
#else
#define LEAVE_MS 100
#endif

static const int told[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
/* neither reported nor deadly: the standard action of these does not end the process, or cannot be changed,
 * or a write fails instead */
static const int left_alone[] = {
    SIGKILL, SIGSTOP, SIGTTIN, SIGTTOU, SIGCHLD, SIGURG, SIGPIPE, SIGXFSZ};
#define N_TOLD (sizeof told / sizeof *told)
#define N_LEFT_ALONE (sizeof left_alone / sizeof *left_alone)

static int pipe_ends[2] = {-1, -1};
static struct sigaction told_before[N_TOLD], pipe_before;
static unsigned char crash_stack[64 * 1024];
static timer_t leave_timer;
static bool have_timer;
static volatile sig_atomic_t leaving, leave_status, stepped_aside;

/* --- leaving ----------------------------------------------------------------------------------- */

void signals_leave(int status)
{
	unsigned ms = LEAVE_MS + term_answer_ms();
	const struct itimerspec when = {.it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};

	if (leaving)
		return;
	leaving = 1;
	leave_status = status;
	/* a job in the background is stopped when it touches the terminal: not any more */
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigaction(SIGTTOU, &ignore, NULL);
	sigaction(SIGTTIN, &ignore, NULL);
	if (have_timer)
		timer_settime(leave_timer, 0, &when, NULL);
}

void signals_step_aside(bool aside)
{
	stepped_aside = aside;
}

/* --- handlers ---------------------------------------------------------------------------------- */

static void tell(int signal)
{
	int before = errno;
	unsigned char byte = (unsigned char)signal;
	ssize_t written = write(pipe_ends[1], &byte, 1);

	(void)written; /* a full pipe already says that something happened */
	/* ^\ in a program that has the terminal is meant for that one */
	if (signal == SIGTERM || signal == SIGHUP || (signal == SIGQUIT && !stepped_aside))
		signals_leave(128 + signal);
	errno = before;
}

/* Not SIG_IGN: programs started from the prompt would inherit that. */
static void nothing(int signal)
{
	(void)signal;
}

static const char *fault_name(int signal)
{
	switch (signal) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGABRT:
		return "SIGABRT";
	case SIGBUS:
		return "SIGBUS";
	case SIGFPE:
		return "SIGFPE";
	case SIGILL:
		return "SIGILL";
	default:
		return NULL;
	}
}

static void say(const char *s)
{
	ssize_t written = write(STDERR_FILENO, s, strlen(s));
	(void)written;
}

static void end(int signal, siginfo_t *info, void *context)
{
	const char *fault = fault_name(signal);

	(void)context;
	term_emergency();
	if (signal == SIGALRM && info->si_code == SI_TIMER)
		_exit(leave_status);
	if (fault && mapped_file_is_cause())
		_exit(MAPPED_FILE_STATUS);
	if (fault) {
		say("cairn: a fault in the program ended it (");
		say(fault);
		say("); the terminal was reset\n");
	}
	/* the default action now, whoever called us and whatever is blocked */
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t this;
	sigemptyset(&this);
	sigaddset(&this, signal);
	sigaction(signal, &standard, NULL);
	pthread_sigmask(SIG_UNBLOCK, &this, NULL);
	raise(signal);
}

/* --- opening and closing ----------------------------------------------------------------------- */

static bool among(const int *signals, size_t n, int signal)
{
	for (size_t i = 0; i < n; i++)
		if (signals[i] == signal)
			return true;
	return false;
}

/* Real-time signals, too.  What somebody wants ignored or handles stays as it is, but for faults. */
static void open_deadly(void)
{
	struct sigaction last = {.sa_sigaction = end}, before;

	last.sa_flags = (int)(SA_SIGINFO | SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
	sigemptyset(&last.sa_mask);
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		if (among(told, N_TOLD, signal) || among(left_alone, N_LEFT_ALONE, signal) ||
		    sigaction(signal, NULL, &before) != 0)
			continue;
		if (before.sa_handler == SIG_DFL || fault_name(signal))
			sigaction(signal, &last, NULL);
	}
}

int signals_open(struct err *err)
{
	if (pipe(pipe_ends) != 0)
		return err_set(err, ERR_IO, "cannot create a pipe for signals: %s", strerror(errno));
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
	sigaltstack(&stack, NULL);
	open_deadly();
	page_faults_catch();
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	have_timer = timer_create(CLOCK_MONOTONIC, &event, &leave_timer) == 0;
	return 0;
}

void signals_close(void)
{
	for (size_t i = 0; i < N_TOLD; i++)
		sigaction(told[i], &told_before[i], NULL);
	/* the handlers of deadly ones stay: without an open terminal they only say a word; so does the
	 * timer, as closing what was open may take long, too */
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
