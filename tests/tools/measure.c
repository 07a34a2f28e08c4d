/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * measure.c - the steps that a dump and commands about it take (see steps.h).
 *
 *     measure [-q] DUMP [LINE…]
 *
 * Loads the dump and runs the lines in a session, as the screen does: as long jobs that a user can
 * stop.  Each result is printed to nowhere, unless -q.  On standard output, between tabs, for each
 * phase of each of these that took steps:
 *
 *     WHAT PHASE STEPS STRETCH FROM WITHIN TO
 *
 * WHAT is "load", "print N" or "N" for the N-th line, from 0; PHASE is what the screen says, "-" outside of
 * works; STRETCH counts the steps of the longest stretch between two looks at the cancel flag, and the
 * rest are its places.  After them comes a line for WHAT with the message of an error, if there was one:
 *
 *     WHAT ! CODE MESSAGE
 *
 * and, for "N" and "print N", one with the bytes that the result prints as JSON lines:
 *
 *     WHAT = BYTES
 */
#include "algorithms/parallel.h"
#include "command/command.h"
#include "command/exec/exec.h"
#include "heap/heap.h"
#include "steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void tell(const char *what, int code, const struct err *err)
{
	struct counted counted[PHASES + 1];
	for (unsigned i = 0; i <= PHASES; i++)
		counted[i] = steps_in(i);
	for (unsigned i = 0; i <= PHASES; i++) {
		const struct stretch *s = &counted[i].longest;
		if (!counted[i].steps)
			continue;
		printf("%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIx64 "\t%" PRIx64 "\t%" PRIx64 "\n", what,
		    i == OUTSIDE_WORKS ? "-" : phase_info[i].words, counted[i].steps, s->steps, s->from,
		    s->within, s->to);
	}
	if (code)
		printf("%s\t!\t%d\t%s\n", what, code, err->message);
	fflush(stdout);
}

/* A long job at once, which somebody could stop. */
static int work(void *context, long_work *task, void *argument, struct err *err)
{
	struct progress progress = PROGRESS_INIT;
	(void)context;
	struct progress *before = progress_set_own(&progress);
	steps_work(true);
	int code = task(argument, &progress, err);
	steps_work(false);
	progress_set_own(before);
	return code;
}

struct opening {
	struct heap *heap;
	const char *path;
};

static int load(void *argument, struct progress *progress, struct err *err)
{
	struct opening *o = argument;
	struct heap_options options = {.path = o->path};
	return heap_open(&o->heap, &options, progress, err);
}

/* A stream to nowhere that counts. */
static ssize_t count_bytes(void *sum, const char *from, size_t n)
{
	(void)from;
	*(uint64_t *)sum += n;
	return (ssize_t)n;
}

static void run_line(struct session *s, const char *line, int number, bool quiet)
{
	struct print_options json = {.format = PRINT_JSONL};
	struct err err = ERR_INIT;
	struct result *r;
	char what[64];
	snprintf(what, sizeof what, "%d", number);
	steps_reset();
	int code = session_run_line(s, line, &r, &err);
	tell(what, code, &err);
	if (code || !r || quiet)
		return;
	uint64_t bytes = 0;
	FILE *nowhere = fopencookie(&bytes, "w", (cookie_io_functions_t){.write = count_bytes});
	snprintf(what, sizeof what, "print %d", number);
	steps_reset();
	code = print_result(r, &json, nowhere, &err);
	tell(what, code, &err);
	fclose(nowhere);
	printf("%d\t=\t%" PRIu64 "\nprint %d\t=\t%" PRIu64 "\n", number, bytes, number, bytes);
}

int main(int argc, char **argv)
{
	bool quiet = argc > 1 && !strcmp(argv[1], "-q");
	argc -= quiet;
	argv += quiet;
	if (argc < 2) {
		fprintf(stderr, "usage: measure [-q] DUMP [LINE…]\n");
		return 2;
	}
	struct session s;
	struct err err = ERR_INIT;
	struct opening opening = {.path = argv[1]};
	parallel_set_threads(1); /* counters are a thread's own, and the same in every run */
	steps_reset();
	int code = work(NULL, load, &opening, &err);
	tell("load", code, &err);
	if (code)
		return 1;
	session_init(&s);
	/* its own file as an older dump: what comparing costs */
	session_know(&s, &(struct heap_options){.path = argv[1]}, (const char *const[]){argv[1]}, 1);
	s.settings.progress = PROGRESS_NEVER;
	s.hooks.work = work;
	session_open(&s, session_newest(&s), opening.heap);
	for (int i = 2; i < argc; i++)
		run_line(&s, argv[i], i - 2, quiet);
	session_release(&s);
	heap_close(opening.heap);
	return 0;
}
