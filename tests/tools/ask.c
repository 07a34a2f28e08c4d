/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask.c - ask a VM something, as the program does; a tool for tests.
 *
 *   ask PID COMMAND [ARGUMENT]...   the answer, on the standard output
 *   ask PID -dump|-live [FILE [BYTES]]   have it dump its heap; what is announced, and the bytes that came.  BYTES:
 *                                        of memory, at most; FILE "": none; of a Go program also the pause
 *
 * ASK_CORE names a file that gets a core, too.  ^C stops it as in the program.  Exit status: 0, or the error's number
 * without its sign, after its message on the error output.
 */
#include "algorithms/packed_bytes.h"
#include "attach/attach.h"
#include "base/memory_limit.h"

#include <inttypes.h>
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

static int dump(const struct vm_process *p, const char *file, bool collect, struct err *err)
{
	struct live_dump_wishes w = { .collect = collect, .keep = *file ? file : NULL, .core = getenv("ASK_CORE") };
	struct packed_bytes *bytes;
	struct text announced = TEXT_INIT;
	char remark[512];
	int code = live_dump_check(p, &w, err);

	if (code)
		return code;
	live_dump_announce(p, &w, &announced);
	printf("%s\n", announced.s);
	fflush(stdout);
	text_release(&announced);
	code = live_dump_take(&bytes, p, &w, remark, sizeof remark, &progress, err);
	if (code == 0)
		printf("%" PRIu64 " %" PRIu64 " bytes%s%s\n", packed_bytes_size(bytes, 0),
		    packed_bytes_streams(bytes) > 1 ? packed_bytes_size(bytes, 1) : 0, *remark ? ": " : "", remark);
	if (code == 0 && w.pause_ns)
		printf("%.3f ms\n", (double)w.pause_ns / 1e6);
	packed_bytes_free(bytes);
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
	if (argc > 4 && *argv[2] == '-')
		memory_limit_set(strtoull(argv[4], NULL, 10), "BYTES");
	int code = vm_process_find(&p, argv[1], &err);
	if (code == 0)
		code = !strcmp(argv[2], "-dump") || !strcmp(argv[2], "-live") ?
		    dump(&p, argc > 3 ? argv[3] : "", !strcmp(argv[2], "-live"), &err) : ask(&p, argc - 2, argv + 2, &err);
	if (code)
		fprintf(stderr, "%s\n", err.message);
	vm_process_release(&p);
	return -code;
}
