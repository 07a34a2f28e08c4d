/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * torture.c - what happens when the system refuses something: at every call, to every command.
 *
 *     torture MOST [-turns|-few] DUMP…
 *
 * Loads each dump again and again; each time another call of faults.h fails (memory, files, threads),
 * alone, and then with all that follow it.  After that every example of the command table is run
 * likewise, and lines that write, each time in a fresh session.  What must hold, and is told as TAP: no
 * crash; an error is a sentence, and not about the line or the dump; what loads is the whole dump, or
 * says what it lacks; nothing stays allocated or open; and the same session answers the same line
 * rightly afterwards.
 *
 * Of more than MOST calls of a load or a line the first half of MOST are all made to fail and then so
 * many, spread evenly from a seed of the line's own, that it is MOST.  With -turns each command is tried on
 * one of the dumps, with -few each fourth one, which changes with CAIRN_ROUND: what a command does when it
 * is refused something hardly depends on the dump.  Files are written into the current folder.
 */
#include "algorithms/parallel.h"
#include "base/emergency_reserve.h"
#include "command/command.h"
#include "command/exec/exec.h"
#include "faults.h"
#include "heap/heap.h"
#include "memory/big.h"
#include "query/profile_file.h"

#include <glob.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned n_tests, n_failed;
static uint64_t most, whole_most; /* for the line now; without turns */
static unsigned n_dumps, this_dump;
static unsigned every; /* each command is tried on each so many-th dump; 0: on all */
static size_t first_command;

/* How many calls of the number-th command fail. */
static void set_most(size_t number)
{
	most = !every || (number + first_command) % every == this_dump ? whole_most : 0;
}

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

/* The call behind the k-th that is to fail, of n. */
static uint64_t next_call(uint64_t k, uint64_t n, uint64_t seed)
{
	if (n <= most || k < most / 2)
		return k + 1;
	uint64_t step = (n - most / 2) / (most - most / 2) + 1;
	return k == most / 2 ? k + 1 + seed % step : k + step;
}

static bool is_refusal(int code, const struct err *err)
{
	return (code == ERR_NOMEM || code == ERR_IO) && (int)err->code == code && strlen(err->message) > 10;
}

/* What must be the same before and after. */
struct held {
	int64_t bytes, blocks; /* of big memory; of malloc */
	int files;
};

static struct held held_now(void)
{
	struct held h = {.bytes = (int64_t)big_in_use()};
	emergency_reserve_fill();
	h.blocks = faults_blocks();
	for (int fd = 0; fd < 100; fd++)
		h.files += fcntl(fd, F_GETFD) != -1;
	return h;
}

static bool all_given_back(const struct held *before, const char *what, uint64_t k)
{
	struct held now = held_now();
	bool fine = now.bytes == before->bytes && now.files == before->files && now.blocks == before->blocks;
	if (!fine)
		printf("# call %llu of %s: %lld big bytes, %lld small blocks and %d files stay\n",
		    (unsigned long long)k, what, (long long)(now.bytes - before->bytes),
		    (long long)(now.blocks - before->blocks), now.files - before->files);
	return fine;
}

/* --- loading ------------------------------------------------------------------------------------ */

/* What a loaded heap must be like. */
struct loaded {
	uint64_t objects, references, roots;
	bool companion;
};

static struct loaded loaded_of(const struct heap *h)
{
	return (struct loaded){h->n_objects, h->no_references ? 0 : h->n_references,
	    h->no_references ? 0 : h->n_roots, h->companion != NULL};
}

/* Like the whole dump, or it says that it is less. */
static bool is_honest(const struct heap *h, const struct loaded *wanted)
{
	struct loaded s = loaded_of(h);
	if (s.objects != wanted->objects)
		return h->damaged;
	return h->no_references || h->damaged || h->companion_refused ||
	    (s.references == wanted->references && s.roots == wanted->roots && s.companion == wanted->companion);
}

/* One load with failing calls; false, and a word on standard output, when something is wrong. */
static bool load_with(const char *path, const struct loaded *wanted, uint64_t k, uint64_t count)
{
	struct heap_options options = {.path = path};
	struct err err = ERR_INIT;
	struct heap *heap;
	struct held before = held_now();
	faults_at(k, count);
	int code = heap_open(&heap, &options, NULL, &err);
	const char *name = faults_name();
	faults_at(0, 0);
	bool fine = code ? is_refusal(code, &err) : is_honest(heap, wanted);
	if (!fine)
		printf("# call %llu (%s): code %d, %s\n", (unsigned long long)k, name ? name : "-", code,
		    code ? err.message : "less was loaded, and nothing said");
	heap_close(heap);
	return all_given_back(&before, path, k) && fine;
}

static void torture_load(const char *path)
{
	struct heap_options options = {.path = path};
	struct err err = ERR_INIT;
	struct heap *heap;
	struct loaded wanted = {.objects = 0};
	bool fine = true;
	for (int i = 0; i < 2; i++) { /* once for what libraries keep from then on */
		faults_at(0, 0);
		fine &= heap_open(&heap, &options, NULL, &err) == 0;
		if (heap)
			wanted = loaded_of(heap);
		heap_close(heap);
	}
	uint64_t n = faults_calls();
	for (uint64_t k = 1; k <= n; k = next_call(k, n, n)) {
		fine &= load_with(path, &wanted, k, 1);
		fine &= load_with(path, &wanted, k, UINT64_MAX);
	}
	tell(fine, "%s loads or says why not, whichever of %llu calls fails", path,
	    (unsigned long long)n);
}

/* --- commands ----------------------------------------------------------------------------------- */

/* Lines and which of them is tried; those before it are run in the same session. */
struct trial {
	const struct heap *heap;
	const char *lines[COMMAND_EXAMPLES + 1]; /* ended by NULL */
	size_t example;
};

/* Remove the dumps that earlier trials wrote here: a command replaces none. */
static void remove_copies(void)
{
	glob_t copies;
	if (!glob("*.hprof*", 0, NULL, &copies))
		for (size_t i = 0; i < copies.gl_pathc; i++)
			(void)!unlink(copies.gl_pathv[i]);
	globfree(&copies);
}

static void begin(struct session *s, const struct trial *t)
{
	struct err err = ERR_INIT;
	struct result *r;
	faults_at(0, 0);
	remove_copies();
	session_init(s);
	s->settings.progress = PROGRESS_NEVER;
	session_open(s, NULL, t->heap);
	for (size_t i = 0; i < t->example; i++)
		/* what it leaves to the next line counts, not whether this heap has an answer */
		(void)!session_run_line(s, t->lines[i], &r, &err);
}

/* What a line answers: its rows as JSON, or the error; the caller's. */
static char *answer(struct session *s, const char *line, int *code, struct err *err)
{
	struct result *r;
	char *printed = NULL;
	size_t n;
	*err = (struct err)ERR_INIT;
	*code = session_run_line(s, line, &r, err);
	FILE *f = open_memstream(&printed, &n);
	struct print_options o = {.format = PRINT_JSON};
	if (*code)
		fprintf(f, "!%s", err->message);
	else if (r)
		*code = print_result(r, &o, f, err);
	fclose(f);
	faults_adopt(printed);
	static const char clock[] = "\"milliseconds\": "; /* differ every time, in their length too */
	for (char *at = printed; (at = strstr(at, clock)) != NULL;) {
		at += sizeof clock - 1;
		size_t digits = strspn(at, "0123456789");
		memmove(at, at + digits, strlen(at + digits) + 1);
	}
	return printed;
}

/* Where two texts begin to differ, less some bytes to know the place by. */
static size_t difference(const char *a, const char *b)
{
	enum { BEFORE = 60 };
	size_t n = 0;
	while (a[n] && a[n] == b[n])
		n++;
	return n < BEFORE ? 0 : n - BEFORE;
}

/* wanted: the first answer, and the one to the same line asked once more */
static bool run_with(const struct trial *t, char *const wanted[2], uint64_t k, uint64_t count)
{
	const char *line = t->lines[t->example];
	struct held before = held_now();
	struct session s;
	struct err err;
	int code;
	begin(&s, t);
	faults_at(k, count);
	char *answered = answer(&s, line, &code, &err);
	const char *failing = faults_name();
	faults_at(0, 0);
	const char *then = wanted[code == 0];
	/* a line that is refused anyway may be refused for another reason */
	bool fine = !strcmp(answered, wanted[0]) || !code || is_refusal(code, &err) || *wanted[0] == '!';
	if (!fine)
		printf("# call %llu (%s) of %s: %.300s\n", (unsigned long long)k, failing, line, answered);
	free(answered);
	if (code) /* it may have written its file, and failed to say so */
		remove_copies();
	answered = answer(&s, line, &code, &err);
	if (strcmp(answered, then)) {
		size_t from = difference(answered, then);
		printf("# after call %llu (%s) of %s, from byte %zu on: %.300s\n#  instead of %.300s\n", (unsigned long long)k,
		    failing, line, from, answered + from, then + from);
		fine = false;
	}
	free(answered);
	session_release(&s);
	return all_given_back(&before, line, k) && fine;
}

static bool torture_line(const struct trial *t, uint64_t *n)
{
	const char *line = t->lines[t->example];
	struct session s;
	struct err err;
	int code;
	bool fine = true;
	begin(&s, t);
	faults_at(0, 0);
	char *wanted[2] = {answer(&s, line, &code, &err)};
	*n = faults_calls();
	wanted[1] = answer(&s, line, &code, &err);
	session_release(&s);
	for (uint64_t k = 1; k <= *n; k = next_call(k, *n, strlen(line))) {
		fine &= run_with(t, wanted, k, 1);
		fine &= run_with(t, wanted, k, UINT64_MAX);
	}
	free(wanted[0]);
	free(wanted[1]);
	return fine;
}

/* Every line of a trial. */
static bool torture_lines(struct trial *t, uint64_t *all)
{
	bool fine = true;
	for (t->example = 0; t->lines[t->example]; t->example++) {
		uint64_t n = 0;
		fine &= torture_line(t, &n);
		*all += n;
	}
	return fine;
}

static void torture_commands(const char *path, const struct heap *heap)
{
	for (size_t i = 0; commands[i]; i++) {
		struct trial t = {.heap = heap};
		uint64_t all = 0;
		set_most(i);
		if (!most)
			continue;
		for (size_t k = 0; k < sizeof commands[i]->examples / sizeof *commands[i]->examples; k++)
			t.lines[k] = commands[i]->examples[k].line;
		bool fine = torture_lines(&t, &all);
		tell(fine, "%s: %s answers or says why not, %llu calls", path, commands[i]->name,
		    (unsigned long long)all);
	}
}

/* What examples do not: files and the shell. */
static void torture_files(const char *path, const struct heap *heap)
{
	struct trial t = {.heap = heap, .lines = {"histo | head 3 >out.json", "histo | head 3 >>out.csv", "histo",
	    "save out.jsonl", "histo | head 1 | !cat >/dev/null", "source script"}};
	uint64_t all = 0;
	FILE *f = fopen("script", "w");
	if (f) {
		fputs("histo | head 1\ninfo\n", f);
		fclose(f);
	}
	bool fine = torture_lines(&t, &all);
	tell(fine && f, "%s: what writes and reads files does or says why not, %llu calls", path,
	    (unsigned long long)all);
}

static bool read_with(const char *path, uint64_t k, uint64_t count)
{
	struct profile p;
	struct err err = ERR_INIT;
	struct held before = held_now();
	faults_at(k, count);
	int code = profile_read(&p, path, NULL, &err);
	const char *name = faults_name();
	faults_at(0, 0);
	if (code && !is_refusal(code, &err))
		printf("# call %llu (%s) of reading %s: code %d, %s\n", (unsigned long long)k, name ? name : "-",
		    path, code, err.message);
	if (!code)
		profile_release(&p);
	return all_given_back(&before, path, k) && (!code || is_refusal(code, &err));
}

static bool read_profile(const char *path, uint64_t *all)
{
	struct profile p;
	struct err err = ERR_INIT;
	faults_at(0, 0);
	bool fine = !profile_read(&p, path, NULL, &err);
	uint64_t n = faults_calls();
	if (fine)
		profile_release(&p);
	for (uint64_t k = 1; fine && k <= n; k = next_call(k, n, n))
		fine = read_with(path, k, 1) && read_with(path, k, UINT64_MAX);
	*all += n;
	return fine;
}

static void torture_profiles(const char *path, const struct heap *heap)
{
	struct trial t = {.heap = heap, .lines = {"profile out.profile", "profile out.profile.gz"}};
	uint64_t all = 0;
	if (!profile_support())
		return;
	bool fine = torture_lines(&t, &all);
	fine = read_profile("out.profile", &all) && fine;
	fine = read_profile("out.profile.gz", &all) && fine;
	tell(fine, "%s: its profile is written and read, or it says why not, %llu calls", path, (unsigned long long)all);
}

static void torture(const char *path)
{
	struct heap_options options = {.path = path};
	struct err err = ERR_INIT;
	struct heap *heap;
	most = whole_most;
	torture_load(path);
	if (heap_open(&heap, &options, NULL, &err)) {
		tell(false, "%s: %s", path, err.message);
		return;
	}
	torture_commands(path, heap);
	set_most(0);
	if (most)
		torture_files(path, heap);
	set_most(1);
	if (most)
		torture_profiles(path, heap);
	heap_close(heap);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: torture MOST [-turns|-few] DUMP…\n");
		return 2;
	}
	whole_most = strtoull(argv[1], NULL, 10);
	bool few = !strcmp(argv[2], "-few"), turns = few || !strcmp(argv[2], "-turns");
	const char *round = getenv("CAIRN_ROUND");
	char **dumps = argv + 2 + turns;
	n_dumps = (unsigned)(argc - 2 - turns);
	every = few ? 4 * n_dumps : turns ? n_dumps : 0;
	first_command = round ? strtoul(round, NULL, 10) : 0;
	parallel_set_threads(1); /* the k-th call is the same in every run */
	for (this_dump = 0; this_dump < n_dumps; this_dump++)
		torture(dumps[this_dump]);
	tell(big_in_use() == 0, "nothing stays allocated");
	printf("1..%u\n", n_tests);
	return n_failed ? 1 : 0;
}
