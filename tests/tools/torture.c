/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * torture.c - what happens when memory is refused: at every request, to every command.
 *
 *     torture MOST DUMP…
 *
 * Loads each dump again and again; each time another request for big memory fails, alone, and then
 * with all that follow it.  After that every example of the command table is run likewise, each time
 * in a fresh session.  What must hold, and is told as TAP: no crash; an error is ERR_NOMEM with a
 * sentence; nothing stays allocated; and the same session answers the same line rightly afterwards.
 *
 * Of more than MOST requests of a load or a line the first half of MOST are all made to fail and then
 * so many, spread evenly from a seed of the line's own, that it is MOST.  Left out are examples that
 * write files or call a shell.
 */
#include "base/big.h"
#include "base/parallel.h"
#include "command/command.h"
#include "command/run/run.h"
#include "heap/heap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned n_tests, n_failed;
static uint64_t most;

__attribute__((format(printf, 2, 3))) static void tell(bool fine, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	printf("%sok %u - ", fine ? "" : "not ", ++n_tests);
	vprintf(format, args);
	printf("\n");
	fflush(stdout);
	va_end(args);
	n_failed += !fine;
}

/* The request behind the k-th that is to fail, of n. */
static uint64_t next_request(uint64_t k, uint64_t n, uint64_t seed)
{
	if (n <= most || k < most / 2)
		return k + 1;
	uint64_t step = (n - most / 2) / (most - most / 2) + 1;
	return k == most / 2 ? k + 1 + seed % step : k + step;
}

static bool is_refusal(int code, const struct err *err)
{
	return code == ERR_NOMEM && err->code == ERR_NOMEM && strstr(err->message, "memory");
}

/* --- loading ------------------------------------------------------------------------------------ */

/* One load with failing requests; false, and a word on standard output, when something is wrong. */
static bool load_with(const char *path, uint64_t k, uint64_t count)
{
	struct heap_options options = {.path = path};
	struct err err = ERR_INIT;
	struct heap *heap;
	uint64_t before = big_in_use();
	big_fail_at(k, count);
	int code = heap_open(&heap, &options, NULL, &err);
	bool fine = !code || is_refusal(code, &err);
	if (!fine)
		printf("# request %llu: code %d, %s\n", (unsigned long long)k, code, err.message);
	heap_close(heap);
	big_fail_at(0, 0);
	if (big_in_use() != before)
		printf("# request %llu: %lld bytes stay in use\n", (unsigned long long)k,
		    (long long)(big_in_use() - before));
	return fine && big_in_use() == before;
}

static void torture_load(const char *path)
{
	bool fine = load_with(path, 0, 0);
	big_fail_at(0, 0);
	struct heap_options options = {.path = path};
	struct err err = ERR_INIT;
	struct heap *heap;
	fine &= heap_open(&heap, &options, NULL, &err) == 0;
	uint64_t n = big_requests();
	heap_close(heap);
	for (uint64_t k = 1; k <= n; k = next_request(k, n, n)) {
		fine &= load_with(path, k, 1);
		fine &= load_with(path, k, UINT64_MAX);
	}
	tell(fine, "%s loads or says why not, whichever of %llu requests fails", path,
	    (unsigned long long)n);
}

/* --- commands ----------------------------------------------------------------------------------- */

/* A line and what must have been run before it in the same session. */
struct trial {
	const struct heap *heap;
	const struct command *command;
	size_t example;
};

static void begin(struct session *s, const struct trial *t)
{
	struct err err = ERR_INIT;
	struct result *r;
	session_init(s);
	s->progress = PROGRESS_NEVER;
	session_open(s, t->heap);
	for (size_t i = 0; i < t->example; i++)
		/* what it leaves to the next line counts, not whether this heap has an answer */
		(void)!session_run(s, t->command->examples[i].line, &r, &err);
}

/* What a line answers: its rows as JSON, or the error; the caller's. */
static char *answer(struct session *s, const char *line, int *code, struct err *err)
{
	struct result *r;
	char *printed = NULL;
	size_t n;
	*err = (struct err)ERR_INIT;
	*code = session_run(s, line, &r, err);
	FILE *f = open_memstream(&printed, &n);
	struct print_options o = {.format = PRINT_JSON};
	if (*code)
		fprintf(f, "!%s", err->message);
	else if (r)
		*code = print_result(r, &o, f, err);
	fclose(f);
	static const char clock[] = "\"milliseconds\": "; /* differ every time, in their length too */
	for (char *at = printed; (at = strstr(at, clock)) != NULL;) {
		at += sizeof clock - 1;
		size_t digits = strspn(at, "0123456789");
		memmove(at, at + digits, strlen(at + digits) + 1);
	}
	return printed;
}

/* wanted: the first answer, and the one to the same line asked once more */
static bool run_with(const struct trial *t, char *const wanted[2], uint64_t k, uint64_t count)
{
	const char *line = t->command->examples[t->example].line;
	uint64_t before = big_in_use();
	struct session s;
	struct err err;
	int code;
	begin(&s, t);
	big_fail_at(k, count);
	char *answered = answer(&s, line, &code, &err);
	big_fail_at(0, 0);
	const char *then = wanted[code == 0];
	bool fine = !strcmp(answered, wanted[0]) || (code ? is_refusal(code, &err) : true);
	if (!fine)
		printf("# request %llu of %s: %.300s\n", (unsigned long long)k, line, answered);
	free(answered);
	answered = answer(&s, line, &code, &err);
	if (strcmp(answered, then)) {
		printf("# after request %llu of %s: %.300s\n#  instead of %.300s\n", (unsigned long long)k, line,
		    answered, then);
		fine = false;
	}
	free(answered);
	session_release(&s);
	if (big_in_use() != before) {
		printf("# request %llu of %s: %lld bytes stay in use\n", (unsigned long long)k, line,
		    (long long)(big_in_use() - before));
		fine = false;
	}
	return fine;
}

static bool torture_line(const struct trial *t, uint64_t *n)
{
	const char *line = t->command->examples[t->example].line;
	struct session s;
	struct err err;
	int code;
	bool fine = true;
	begin(&s, t);
	big_fail_at(0, 0);
	char *wanted[2] = {answer(&s, line, &code, &err)};
	*n = big_requests();
	wanted[1] = answer(&s, line, &code, &err);
	session_release(&s);
	for (uint64_t k = 1; k <= *n; k = next_request(k, *n, strlen(line))) {
		fine &= run_with(t, wanted, k, 1);
		fine &= run_with(t, wanted, k, UINT64_MAX);
	}
	free(wanted[0]);
	free(wanted[1]);
	return fine;
}

static bool writes(const char *line)
{
	return strpbrk(line, ">!") || !strncmp(line, "save", 4) || !strncmp(line, "source", 6);
}

static void torture_commands(const char *path)
{
	struct heap_options options = {.path = path};
	struct err err = ERR_INIT;
	struct heap *heap;
	if (heap_open(&heap, &options, NULL, &err)) {
		tell(false, "%s: %s", path, err.message);
		return;
	}
	for (size_t i = 0; commands[i]; i++) {
		struct trial t = {.heap = heap, .command = commands[i]};
		uint64_t all = 0;
		bool fine = true;
		for (; t.example < sizeof commands[i]->examples / sizeof *commands[i]->examples &&
		       commands[i]->examples[t.example].line;
		     t.example++) {
			uint64_t n = 0;
			if (!writes(commands[i]->examples[t.example].line))
				fine &= torture_line(&t, &n);
			all += n;
		}
		tell(fine, "%s: %s answers or says why not, %llu requests", path, commands[i]->name,
		    (unsigned long long)all);
	}
	heap_close(heap);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: torture MOST DUMP…\n");
		return 2;
	}
	most = strtoull(argv[1], NULL, 10);
	parallel_set_threads(1); /* the k-th request is the same in every run */
	for (int i = 2; i < argc; i++) {
		torture_load(argv[i]);
		torture_commands(argv[i]);
	}
	tell(big_in_use() == 0, "nothing stays allocated");
	printf("1..%u\n", n_tests);
	return n_failed ? 1 : 0;
}
