/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.c - load, run, print, and the exit status of it all.
 */
#include "command/exec/exec.h"

#include "base/files.h"
#include "base/text.h"
#include "command/args/args.h"
#include "command/exec/output.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "heap/open.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define OVERVIEW_ROWS 20
#define ROWS_BESIDE 4 /* of a screenful: header, what is left out, total, the shell's prompt */

void complain(const char *format, ...)
{
	char raw[5000], shown[sizeof raw]; /* it must be said without any memory, too */
	va_list args;
	va_start(args, format);
	text_format(raw, sizeof raw, format, args);
	va_end(args);
	text_escape(shown, sizeof shown, raw);
	fflush(stdout);
	fprintf(stderr, "cairn: %s\n", shown);
}

/* A screenful for people, where results go to a terminal. */
static void measure_terminal(struct session *s)
{
	struct winsize size;
	if (!isatty(fileno(s->output.stream)) || ioctl(fileno(s->output.stream), TIOCGWINSZ, &size) || !size.ws_row)
		return;
	s->settings.print.width = size.ws_col;
	s->output.screenful = size.ws_row > ROWS_BESIDE + 1u ? size.ws_row - ROWS_BESIDE : 1;
}

/* The more serious of two statuses: a dump that cannot be read, wrong usage, nothing found. */
static int worse(int a, int b)
{
	return a > b ? a : b;
}

/* Has the file of the dump become worse than was said before?  After each line, because cells are
 * read when they are printed. */
static void say_fate(struct opened *o, enum file_fate before)
{
	if (o && opened_look(o) > before)
		complain("warning: %s", o->fate_words.message);
}

static void say_shortage(const struct heap *h)
{
	if (h->no_references)
		complain("warning: references are not loaded: %s; histo, ls, tree%s still work",
		    h->shortage.message, h->settled ? ", info, strings and dups" : " and info");
}

/* Of the command of a line; none of a script, or where there is no command. */
static unsigned flags_of(const struct batch_line *line)
{
	return line->script || !line->asked->command ? 0 : line->asked->command->flags;
}

static int run_line(struct session *s, const struct batch_line *line, bool several)
{
	enum file_fate before = s->dump ? s->dump->fate : FILE_SAME;
	struct opened *o = s->dump;
	bool waited = o && heap_waits(o->heap);
	const char *refused = o ? o->heap->index_refused : NULL;
	struct err err = ERR_INIT;
	struct result *r = NULL;
	int code, status;
	s->output.heading = s->settings.print.width && several && !line->script ? line->asked->text : NULL;
	if (line->script) {
		s->lines.status = 0;
		code = session_source(s, line->script, &r, &err);
		status = worse(s->lines.status, session_exit_status(code, NULL));
	} else {
		code = session_run(s, line->asked, &r, &err);
		status = session_exit_status(code, code ? NULL : s->results.last);
		if (!code && r)
			code = session_print(s, r, &err);
		status = worse(status, session_exit_status(code, NULL));
	}
	if (code == ERR_NOMEM && s->dump && !(flags_of(line) & COMMAND_SWITCHES)) /* these name the dump themselves */
		err_context(&err, "%.200s", s->dump->heap->dump->source->path);
	if (code)
		complain("%s", err.message);
	if (!code || s->dump != o || !o || o->fate != FILE_INDEX_LOST) /* the answer was refused with these words */
		say_fate(s->dump, s->dump == o ? before : FILE_SAME);
	if (waited && s->dump == o && !heap_waits(o->heap))
		say_shortage(o->heap);
	if (o && s->dump == o && o->heap->index_refused && o->heap->index_refused != refused)
		complain("warning: %s", o->heap->index_refused);
	return status;
}

static int run_text(struct session *s, const char *text, bool several)
{
	struct batch_line line = {.asked = invocation_of(text)};
	int status = run_line(s, &line, several);
	invocation_drop(line.asked);
	return status;
}

static int run_overview(struct session *s)
{
	if (!s->dump) { /* profiles alone */
		int listed = run_text(s, "dumps", !s->folder);
		if (s->folder)
			return listed;
		size_t top = s->settings.print.top;
		if (!top)
			s->settings.print.top = OVERVIEW_ROWS;
		listed = worse(listed, run_text(s, "trend", true));
		s->settings.print.top = top; /* for what is typed */
		return listed;
	}
	return run_text(s, "overview -brief", false);
}

/* Among results for programs it would be none. */
static void say_done(const struct session *s)
{
	struct text t = TEXT_INIT;
	if (s->lines.said.len && s->settings.print.format == PRINT_TEXT) {
		text_add_escaped(&t, s->lines.said.s, s->lines.said.len);
		puts(t.s ? t.s : "");
	}
	text_release(&t);
}

/* ^D at a terminal is the command. */
static const char *next_line(struct session *s, const struct batch_options *o)
{
	const char *line = o->next(o->next_context, s);
	return line || o->next_must || !isatty(STDIN_FILENO) ? line : "quit";
}

/* What fails is said, and the next line is asked for. */
static int run_typed(struct session *s, const struct batch_options *o)
{
	const char *line;
	int status = 0;
	s->typed = true;
	while (!s->quit && (!o->next_must || !status) && (line = next_line(s, o))) {
		bool asked = s->leave_asked;
		measure_terminal(s); /* it may have another size by now */
		status = run_text(s, line, false);
		s->leave_asked &= !asked;
		say_done(s);
		fflush(s->output.stream);
	}
	return o->next_must ? status : 0;
}

static void say_damage(const struct heap *h)
{
	char byte[100] = "";
	if (h->damage.has_offset)
		snprintf(byte, sizeof byte, "; data up to byte %" PRIu64 "%s is complete", h->damage.offset,
		    heap_bytes_are(h));
	complain("warning: %s%s", h->damage.message, byte);
}

/* May there be more than one result? */
static bool prints_several(const struct batch_options *o)
{
	bool several = o->n_lines > 1 || o->next;
	for (size_t i = 0; i < o->n_lines && !several; i++)
		several = o->lines[i].script || flags_of(&o->lines[i]) & COMMAND_RUNS_LINES;
	return several;
}

/* May any of the lines compare dumps?  One that is no single command may. */
static bool may_compare(const struct batch_options *o)
{
	bool may = o->next != NULL;
	for (size_t i = 0; i < o->n_lines && !may; i++) {
		const struct batch_line *line = &o->lines[i];
		may = line->script || !line->asked->command || flags_of(line) & COMMAND_COMPARES;
	}
	return may;
}

static void begin_session(struct session *s, const struct batch_options *o)
{
	session_init(s);
	if (o->folder)
		session_know_folder(s, o->heap, o->folder);
	else
		session_know(s, o->heap, o->older, o->n_older);
	s->settings.print = o->print;
	s->settings.writes = o->writes;
	s->settings.mat_sizes = o->heap->mat_sizes;
	s->settings.progress = o->progress;
}

/* --index names a file that is not there yet, or that did not fit. */
static int write_named_index(struct session *s, const char *path)
{
	struct err err = ERR_INIT;
	struct index_writing w;
	int code = index_file_may_replace(path, session_heap(s)->source->path, &err);
	if (!code)
		code = index_write_whole(&w, s, &(struct new_file){.path = path}, &(struct index_wish){.packed = false},
		    &err);
	if (code)
		complain("%s", err.message);
	return session_exit_status(code, NULL);
}

/* The heap, which may be NULL, is the session's from here on, and the session ends with it.  *part: bytes of its file
 * went away, or became others, or one that was opened later is not whole. */
static int run_all(const struct batch_options *o, struct session *s, struct heap *heap, struct output *to,
    bool *part)
{
	int status = 0;
	if (heap)
		opened_own(session_open(s, session_newest(s), heap), heap);
	s->output.stream = to->stream;
	s->output.name = o->output;
	s->output.replaces = to->replaces;
	s->output.joins = o->output && prints_several(o) && output_can_join(to->stream);
	measure_terminal(s);
	if (!o->n_lines && (!o->next || (!s->dump && s->n_dumps))) /* no screen shows profiles */
		status = run_overview(s);
	for (size_t i = 0; i < o->n_lines && !s->quit; i++)
		status = worse(status, run_line(s, &o->lines[i], o->n_lines > 1));
	if (o->next)
		status = worse(status, run_typed(s, o));
	bool write = heap && s->dump && s->dump->own == heap && o->heap->index && !heap->saved;
	if (write) /* now: it finds what histo would show */
		status = worse(status, write_named_index(s, o->heap->index));
	if (s->output.joins && o->print.format == PRINT_JSON)
		output_joined(to->stream, s->output.n_printed);
	for (size_t i = 0; i < s->n_dumps; i++)
		s->part |= s->dumps[i]->opened && s->dumps[i]->opened->fate != FILE_SAME;
	if (s->dump && s->dump->heap->no_references)
		s->part = true;
	*part |= s->part;
	struct err err = ERR_INIT;
	if (!status && output_begin(to->stream, &s->output.replaces, &err)) { /* nothing to say is an answer too */
		complain("%s: %s", o->output, err.message);
		status = session_exit_status(ERR_IO, NULL);
	}
	session_release(s);
	return status;
}

void exec_add_pause(const char *path, struct text *to)
{
	double ms = (double)source_process_pause(path) / 1e6;
	if (ms > 0)
		text_addf(to, "the process paused for %.*f %s", ms < 10 || ms >= 1000, ms < 1000 ? ms : ms / 1000,
		    ms < 1000 ? "ms" : "s");
}

static void say_pause(const char *path)
{
	struct text t = TEXT_INIT;
	exec_add_pause(path, &t);
	if (t.len)
		complain("%s: %s", path, t.s);
	text_release(&t);
}

void say_opened(const struct heap *h, bool exe)
{
	if (h->source)
		say_pause(h->source->path);
	if (h->companion_refused)
		complain("warning: %s", h->companion_refused);
	if (h->index_refused)
		complain("warning: %s", h->index_refused);
	if (h->dump->program_refused)
		complain("warning: %s%s", h->dump->program_note, exe ?
		    "; with --exe, cairn reads no other program for this dump" : "");
	say_shortage(h);
	if (h->damaged)
		say_damage(h);
	else if (h->source && h->source->remark[0])
		complain("warning: %s: %s", h->source->path, h->source->remark);
}

/* Is every line answered without references, or without lists of referrers?  Only then are they left: read between two
 * answers, they would be those of a file that may have changed since the first.  A line that is answered early may ask
 * for either after all. */
static void leave_for_later(const struct batch_options *o, struct heap_options *options)
{
	bool references = o->n_lines > 0, referrers = o->n_lines > 0;
	for (size_t i = 0; i < o->n_lines; i++) {
		const struct invocation *asked = o->lines[i].script ? NULL : o->lines[i].asked;
		references &= asked && asked->early;
		referrers &= asked && asked->command && asked->command->flags & COMMAND_NO_REFERRERS;
	}
	options->references_later = references;
	options->referrers_later = referrers;
}

static int open_dump(const struct batch_options *o, const struct heap_options *options, struct heap **heap)
{
	struct err err = ERR_INIT;
	if (!o->heap->path)
		return 0;
	int code = heap_open_watched(heap, options, o->progress, &err);
	if (code) {
		complain("%s", err.message);
		return code == ERR_USAGE ? 2 : 3; /* which of several dumps is not said */
	}
	if (o->heap->dump.exe && !(*heap)->facts.takes_program)
		complain("--exe is not used: cairn reads %s without a program (%s)",
		    o->heap->path, (*heap)->facts.title);
	if (o->heap->dump.javacore && !(*heap)->companion)
		complain("warning: %s is not used: it is from another dump; with --javacore, cairn reads no other "
		    "javacore", o->heap->dump.javacore);
	say_opened(*heap, o->heap->dump.exe != NULL);
	return 0;
}

static int open_output(const struct batch_options *o, struct output *to)
{
	struct err err = ERR_INIT;
	int code = o->output ? output_open(to, o->output, false, 0666, &o->writes, &err) : 0;
	if (code)
		complain("%s", err.message);
	return session_exit_status(code, NULL);
}

/* What compares dumps says which of them it left out. */
static void say_unreadable(const struct batch_options *o)
{
	for (size_t i = 0; (o->next || !may_compare(o)) && i < o->n_older; i++)
		if (!source_has_no_file(o->older[i]) && !file_readable(o->older[i]))
			complain("warning: the older dump %s cannot be read: %s", o->older[i], strerror(errno));
}

int batch_run(const struct batch_options *o)
{
	struct heap *heap = NULL;
	struct output to = {.stream = stdout};
	struct session s;
	struct err err = ERR_INIT;

	if (!output_standard_is_free())
		return 2;
	signal(SIGPIPE, SIG_DFL); /* whoever reads us may stop: end quietly */
	begin_session(&s, o);
	say_unreadable(o);
	/* one after another: so there is never more than one dump in memory; why one cannot be read is kept */
	for (size_t i = 0; may_compare(o) && !err.code && i < o->n_older && i < s.n_dumps; i++)
		if (session_read_profile(&s, s.dumps[i], &err))
			complain("%s", err.message);
	struct heap_options options = *o->heap;
	leave_for_later(o, &options);
	options.index_later = true;
	int status = open_dump(o, &options, &heap);
	if (!status) /* now that what lies beside it is known */
		status = output_standard_is_free() ? open_output(o, &to) : 2;
	if (status) {
		heap_close(heap);
		session_release(&s);
		return status;
	}
	bool part = heap && (heap->damaged || heap->no_references);
	status = run_all(o, &s, heap, &to, &part);
	if (fflush(to.stream) || (to.stream != stdout && fclose(to.stream))) {
		complain("%s: %s", o->output ? o->output : "standard output", strerror(errno));
		status = worse(status, session_exit_status(ERR_IO, NULL));
	}
	return status || !part ? status : 4; /* 4: everything was shown */
}
