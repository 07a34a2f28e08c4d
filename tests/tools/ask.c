/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask.c - ask a VM something, as the program does; a tool for tests.
 *
 *   ask PID COMMAND [ARGUMENT]...   the answer, on the standard output
 *
 * ^C stops it as in the program.  Exit status: 0, or the error's number without its sign, after its message on the
 * error output.
 */
#include "attach/attach.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct progress progress = PROGRESS_INIT;

static void stop(int signal)
{
	(void)signal;
	atomic_store(&progress.cancel, true);
}

static int ask(const struct vm_process *p, int argc, char **argv, struct err *err)
{
	const char *argument[3] = { NULL };
	struct text answer = TEXT_INIT;

	for (int i = 1; i < argc && i < 4; i++)
		argument[i - 1] = argv[i];
	int code = vm_ask(p, argv[0], argument, &answer, &progress, err);
	if (code == 0)
		fwrite(answer.s, 1, answer.len, stdout);
	text_release(&answer);
	return code;
}

int main(int argc, char **argv)
{
	struct vm_process p;
	struct err err = ERR_INIT;
	struct sigaction on = { .sa_handler = stop };

	if (argc < 3) {
		fprintf(stderr, "usage: ask PID COMMAND [ARGUMENT]...\n");
		return 2;
	}
	sigaction(SIGINT, &on, NULL);
	int code = vm_process_find(&p, argv[1], &err);
	if (code == 0)
		code = ask(&p, argc - 2, argv + 2, &err);
	if (code)
		fprintf(stderr, "%s\n", err.message);
	vm_process_release(&p);
	return -code;
}
