/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.c - load, run, print, and the exit status of it all.
 */
#include "command/run/run.h"

#include "command/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define OVERVIEW_ROWS 20
#define ROWS_BESIDE 4 /* of a screenful: header, what is left out, total, the shell's prompt */

static void complain(const char *message)
{
	fflush(stdout);
	fprintf(stderr, "cairn: %s\n", message);
}

/* A screenful for people, where results go to a terminal. */
static void measure_terminal(struct session *s)
{
	struct winsize size;
	if (!isatty(fileno(s->output)) || ioctl(fileno(s->output), TIOCGWINSZ, &size) || !size.ws_row)
		return;
	s->print.width = size.ws_col;
	s->screenful = size.ws_row > ROWS_BESIDE + 1u ? size.ws_row - ROWS_BESIDE : 1;
}

/* The more serious of two statuses: a dump that cannot be read, wrong usage, nothing found. */
static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int run_line(struct session *s, const struct batch_line *line)
{
	struct err err = ERR_INIT;
	struct result *r = NULL;
	int code, status;
	if (line->script) {
		s->status = 0;
		code = session_source(s, line->text, &r, &err);
		status = worse(s->status, session_exit_status(code, NULL));
	} else {
		code = session_run(s, line->text, &r, &err);
		status = session_exit_status(code, code ? NULL : s->last);
		if (!code && r)
			code = session_print(s, r, &err);
		status = worse(status, session_exit_status(code, NULL));
	}
	if (code)
		complain(err.message);
	return status;
}

static int run_overview(struct session *s)
{
	int status = run_line(s, &(struct batch_line){.text = "info"});
	if (!s->print.top)
		s->print.top = OVERVIEW_ROWS;
	return worse(status, run_line(s, &(struct batch_line){.text = "histo"}));
}

static void say_damage(const struct heap *h)
{
	char byte[64] = "";
	if (h->damage.has_offset)
		snprintf(byte, sizeof byte, "; all is true up to byte %" PRIu64, h->damage.offset);
	fprintf(stderr, "cairn: warning: %s%s\n", h->damage.message, byte);
}

/* The heap, which may be NULL, is the session's from here on. */
static int run_all(const struct batch_options *o, struct heap *heap, FILE *to)
{
	struct session s;
	int status = 0;
	session_init(&s);
	if (heap)
		opened_own(session_open(&s, heap), heap);
	s.print = o->print;
	s.output = to;
	s.mat_sizes = o->heap->mat_sizes;
	s.progress = o->progress;
	measure_terminal(&s);
	if (!o->n_lines)
		status = run_overview(&s);
	for (size_t i = 0; i < o->n_lines && !s.quit; i++)
		status = worse(status, run_line(&s, &o->lines[i]));
	session_release(&s);
	return status;
}

static int open_dump(const struct batch_options *o, struct heap **heap)
{
	struct err err = ERR_INIT;
	if (!o->heap->path)
		return 0;
	int code = heap_open_watched(heap, o->heap, o->progress, &err);
	if (code) {
		complain(err.message);
		return 3;
	}
	if (o->heap->dump.exe && !(*heap)->facts.takes_program)
		fprintf(stderr, "cairn: --exe is left unused: %s is read without a program (%s)\n",
		    o->heap->path, (*heap)->facts.title);
	if (o->heap->dump.javacore && !(*heap)->companion)
		fprintf(stderr, "cairn: warning: %s is left out: it is of another dump\n",
		    o->heap->dump.javacore);
	if ((*heap)->dump->program_refused)
		fprintf(stderr, "cairn: warning: %s\n", (*heap)->dump->program_note);
	if ((*heap)->no_references)
		fprintf(stderr, "cairn: warning: the references are left out: %s; histo, ls, tree and "
		    "info work without\n", (*heap)->shortage.message);
	if ((*heap)->damaged)
		say_damage(*heap);
	return 0;
}

int batch_run(const struct batch_options *o)
{
	struct heap *heap = NULL;
	FILE *to = stdout;

	signal(SIGPIPE, SIG_DFL); /* whoever reads us may stop: end quietly */
	int status = open_dump(o, &heap);
	if (status)
		return status;
	if (o->output && !(to = fopen(o->output, "we"))) {
		fprintf(stderr, "cairn: %s: %s\n", o->output, strerror(errno));
		heap_close(heap);
		return 2;
	}
	/* that an answer may be missing for lack of data outweighs that it is missing */
	bool part = heap && (heap->damaged || heap->no_references);
	status = run_all(o, heap, to);
	if (fflush(to) || (to != stdout && fclose(to))) {
		fprintf(stderr, "cairn: %s: %s\n", o->output ? o->output : "standard output",
		    strerror(errno));
		status = worse(status, 1);
	}
	return part && status < 2 ? 4 : status;
}
