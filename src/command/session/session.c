/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.c - run command lines: find the command, run it, lead its result through the pipe, keep it.
 *
 * Main thread only.
 */
#include "command/session/session.h"

#include "base/mem.h"
#include "command/commands.h"
#include "command/line/call.h"
#include "command/line/pipe.h"
#include "command/session/paths.h"
#include "command/words/sets.h"
#include "command/words/values.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SCRIPTS_DEEP 16 /* a script that runs itself ends here */

void session_init(struct session *s)
{
	*s = (struct session){.dump = NULL};
}

void session_release(struct session *s)
{
	session_drop_results(s);
	for (size_t i = 0; i < s->n_dumps; i++)
		opened_free(s->dumps[i]);
	free(s->dumps);
	for (size_t i = 0; i < s->n_history; i++)
		free(s->history[i]);
	free(s->history);
	*s = (struct session){.dump = NULL};
}

struct opened *session_open(struct session *s, const struct heap *heap)
{
	s->dump = VEC_PUSH(s->dumps, s->n_dumps, s->cap_dumps) = opened_new(heap);
	return s->dump;
}

void session_use(struct session *s, struct opened *o)
{
	s->dump = o;
}

void session_close(struct session *s, struct opened *o)
{
	size_t kept = 0;
	session_drop_results(s);
	for (size_t i = 0; i < s->n_dumps; i++) {
		if (s->dumps[i] != o)
			s->dumps[kept++] = s->dumps[i];
	}
	s->n_dumps = kept;
	if (s->dump == o)
		s->dump = kept ? s->dumps[kept - 1] : NULL;
	opened_free(o);
}

struct result *session_table(const struct session *s)
{
	return s->shown ? s->shown : s->last;
}

struct result *session_rows(const struct session *s)
{
	struct result *r = session_table(s), *before = s->shown_rows ? s->shown_rows : s->rows;
	return r && (!before || result_has_sets(r)) ? r : before;
}

/* --- what was found of the dump, or is now ------------------------------------------------------- */

static int run_work(void *session, long_work *work, void *argument, struct err *err)
{
	return session_work(session, work, argument, err);
}

static struct runner runner_of(const struct session *s)
{
	return (struct runner){.run = run_work, .context = (void *)s};
}

const struct name_index *session_names(const struct session *s)
{
	return opened_names(s->dump);
}

int session_references(const struct session *s, struct err *err)
{
	return opened_references(s->dump, err);
}

int session_reachable(const struct session *s, struct reachable *out, struct err *err)
{
	struct runner runner = runner_of(s);
	return opened_find_reachable(s->dump, &runner, out, err);
}

int session_path_tree(
    const struct session *s, bool weak, const struct path_tree **out, struct err *err)
{
	struct runner runner = runner_of(s);
	return opened_find_path_tree(s->dump, weak, &runner, out, err);
}

/* On the screen they are found beside it, and a line that asks too early is run again. */
static int not_yet(const struct session *s, struct err *err)
{
	if (!s->finds_beside || s->dump->retained.heap || s->dump->heap->no_references)
		return 0;
	s->dump->refused = true;
	return err_set(err, ERR_UNSUPPORTED, "retained sizes are still being found");
}

int session_sizes(const struct session *s, const struct retained **out, struct err *err)
{
	struct runner runner = runner_of(s);
	int code = not_yet(s, err);
	return code ? code : opened_find_sizes(s->dump, &runner, out, err);
}

int session_retained(const struct session *s, const struct retained **out, struct err *err)
{
	struct runner runner = runner_of(s);
	int code = not_yet(s, err);
	return code ? code : opened_find_retained(s->dump, &runner, out, err);
}

bool session_must_wait(struct session *s)
{
	bool refused = s->dump && s->dump->refused;
	if (refused)
		s->dump->refused = false;
	return refused;
}

int session_count_weak(struct session *s, bool counts, struct err *err)
{
	if (!s->dump)
		return err_set(err, ERR_USAGE, "no dump is open (cairn DUMP)");
	int code = opened_may_count_weak(s->dump, err);
	if (code || counts == opened_counts_weak(s->dump))
		return code;
	if (s->model && !s->model(s->model_context, true))
		return err_set(err, ERR_UNSUPPORTED, "references are still being read");
	code = opened_count_weak(s->dump, counts, err);
	if (!code && s->model)
		s->model(s->model_context, false);
	return code;
}

int session_work(const struct session *s, long_work *work, void *argument, struct err *err)
{
	if (s->now) /* a command is a job already */
		return work(argument, s->now, err);
	return s->work ? s->work(s->work_context, work, argument, err)
	               : work_watched(work, argument, s->progress, err);
}

void session_drop_results(struct session *s)
{
	result_free(s->last);
	result_free(s->rows);
	s->last = s->rows = NULL;
}

/* The newest result takes the place of the last one; rows that are sets stay until others come. */
static void replace_last(struct session *s, struct result *r)
{
	bool sets = result_has_sets(r);
	if (s->last && !sets && result_has_sets(s->last)) {
		result_free(s->rows);
		s->rows = s->last;
	} else {
		result_free(s->last);
	}
	if (sets) {
		result_free(s->rows);
		s->rows = NULL;
	}
	s->last = r;
}

struct result *session_take(struct session *s)
{
	struct result *r = s->last;
	s->last = NULL;
	return r;
}

int session_exit_status(int code, const struct result *r)
{
	switch (code) {
	case 0:
		return r && r->failed ? 1 : 0;
	case ERR_NOT_FOUND:
	case ERR_UNSUPPORTED:
	case ERR_IO: /* a result that cannot be written; the dump itself was read */
		return 1;
	case ERR_USAGE:
		return 2;
	default:
		return 3;
	}
}

/* --- where results go ------------------------------------------------------------------------- */

int session_print(struct session *s, struct result *r, struct err *err)
{
	struct print_options o = s->print;
	if (!o.top && o.format == PRINT_TEXT && !r->plain_text)
		o.top = s->screenful;
	if (s->n_printed++) {
		if (o.format == PRINT_CSV)
			fputs("\r\n", s->output);
		else if (o.format == PRINT_TEXT)
			putc('\n', s->output);
	}
	return print_result(r, &o, s->output, err);
}

static int to_file(
    struct session *s, struct result *r, const char *path, bool append, struct err *err)
{
	struct print_options o = {.format = print_format_of_file(path), .top = s->print.top,
	    .wide = s->print.wide};
	FILE *f = fopen(path, append ? "ae" : "we");
	if (!f)
		return err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	int code = 0;
	if (append && o.format == PRINT_JSON && ftell(f) > 0) {
		fclose(f);
		return err_set(err, ERR_USAGE, "%.200s holds a JSON text already, and two are none: "
		    "append to a .jsonl file, or write with >", path);
	}
	if (append && o.format == PRINT_CSV && ftell(f) > 0)
		fputs("\r\n", f);
	code = print_result(r, &o, f, err);
	if (fclose(f) && !code)
		code = err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	return code;
}

int session_save(struct session *s, struct result *r, const char *path, struct err *err)
{
	return to_file(s, r, path, false, err);
}

/* The shell's command reads what it wants; that it stops early is no fault. */
static int to_shell(struct session *s, struct result *r, const char *command, struct err *err)
{
	struct print_options o = {.format = s->print.format, .top = s->print.top,
	    .wide = s->print.wide};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	if (s->output)
		fflush(s->output);
	if (s->shell)
		s->shell(s->shell_context, true);
	int code = 0;
	FILE *f = popen(command, "we");
	if (!f) {
		code = err_set(err, ERR_IO, "!%.100s: %s", command, strerror(errno));
	} else {
		sigaction(SIGPIPE, &ignore, &before);
		print_result(r, &o, f, NULL);
		int status = pclose(f);
		sigaction(SIGPIPE, &before, NULL);
		if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
			code = err_set(err, ERR_IO, "!%.100s: the shell cannot run it", command);
	}
	if (s->shell)
		s->shell(s->shell_context, false);
	return code;
}

/* --- running ---------------------------------------------------------------------------------- */

static int needs(const struct session *s, const struct command *c, struct err *err)
{
	if (c->flags & COMMAND_NO_DUMP)
		return 0;
	if (!session_heap(s))
		return err_set(err, ERR_USAGE, "no dump is open (cairn DUMP)");
	bool without = c->flags & COMMAND_OBJECTS_ONLY;
	if ((c->flags & COMMAND_NEEDS_REFERENCES) || (session_heap(s)->no_references && !without))
		return session_references(s, err);
	return 0;
}

struct running {
	struct session *s;
	const struct command *command;
	struct command_line *line;
	const char *text; /* of the line */
	size_t words;
	struct result **out;
};

/* Words into values, then the command, then what its cells need: any of these may take long. */
static int run_call(void *context, struct progress *progress, struct err *err)
{
	struct running *run = context;
	struct call call;
	run->s->now = progress;
	int code = call_parse(&call, run->s, run->command, run->line, run->text, run->words, err);
	if (!code) {
		code = run->command->run(run->s, &call, run->out, err);
		call_release(&call);
	}
	if (!code && *run->out)
		code = result_check(*run->out, err);
	if (!code && *run->out && result_is_late(*run->out)) {
		/* for want of memory those cells stay unknown */
		int found = result_find_late(*run->out, progress, err);
		result_take_late(*run->out, found);
		if (found == ERR_CANCELLED) {
			result_free(*run->out);
			*run->out = NULL;
			code = ERR_CANCELLED;
		}
	}
	run->s->now = NULL;
	return code;
}

static int run_command(struct session *s, struct command_line *l, const char *line,
    struct result **r, struct err *err)
{
	size_t words;
	const struct command *c = call_command(&l->stages[0], &words, err);
	/* "$name = java.lang.String": what is kept may be a set as well as a command's rows */
	if (l->keep && (!c || !words)) {
		c = command_find("ls", err);
		words = 0;
	}
	if (!c)
		return ERR_USAGE;
	int code = needs(s, c, err);
	if (!code) {
		struct running run = {s, c, l, line, words, r};
		/* what is about the session, not about a dump, is its own thread's */
		code = c->flags & COMMAND_NO_DUMP ? run_call(&run, NULL, err)
		                                  : session_work(s, run_call, &run, err);
	}
	if (code && !s->placed)
		err_context(err, "%s", c->name);
	return code;
}

/* What looks at so many rows is a long work. */
enum { LONG_ROWS = 200000 };

struct on_rows {
	struct result **r;
	rows_task *task;
	const void *context;
};

static bool stop_rows(void *progress)
{
	return !progress_add(progress, RESULT_STOP_EVERY);
}

static int watch_rows(void *context, struct progress *progress, struct err *err)
{
	struct on_rows *o = context;
	struct result *r = *o->r;
	progress_phase(progress, PHASE_LOOK_AT_ROWS, r->n_rows);
	r->stop = stop_rows;
	r->stop_context = progress;
	int code = o->task(o->r, o->context, err);
	r->stop = NULL; /* it lives on, within another one perhaps */
	return code;
}

int session_on_rows(const struct session *s, struct result **r, rows_task *task, const void *context,
    struct err *err)
{
	struct on_rows o = {.r = r, .task = task, .context = context};
	if ((*r)->n_rows < LONG_ROWS)
		return task(r, context, err);
	return session_work(s, watch_rows, &o, err);
}

static int apply_stage(struct result **r, const void *stage, struct err *err)
{
	return pipe_apply(r, stage, err);
}

/* The stages behind the command; *gone when the result went to a shell or a file. */
static int run_pipe(struct session *s, struct command_line *l, struct result **r, bool *gone,
    struct err *err)
{
	*gone = false;
	if (!*r && (l->n > 1 || l->file.s || l->keep))
		return err_set(err, ERR_USAGE, "%s: it prints nothing", l->stages[0].words[0].s);
	for (size_t i = 1; i < l->n; i++) {
		if (l->stages[i].shell) {
			*gone = true;
			return to_shell(s, *r, l->stages[i].shell, err);
		}
		int code = command_before_stage(s, *r, &l->stages[i], err);
		if (!code)
			code = session_on_rows(s, r, apply_stage, &l->stages[i], err);
		if (code)
			return code;
	}
	if (l->keep) {
		int code = set_keep(s, l->keep, *r, err);
		if (code)
			return code;
		*gone = !s->interactive;
	}
	if (l->file.s) {
		*gone = true;
		return to_file(s, *r, l->file.s, l->append, err);
	}
	return 0;
}

static void remember(struct session *s, const char *line)
{
	if (s->n_history && !strcmp(s->history[s->n_history - 1], line))
		return;
	VEC_PUSH(s->history, s->n_history, s->cap_history) = xstrdup(line);
}

/* A line to leave out: empty, or a remark ("#" that is not "#ID"). */
static bool is_remark(const char *line)
{
	line += strspn(line, " \t\r\n");
	return !*line || (*line == '#' && !(line[1] >= '0' && line[1] <= '9'));
}

int session_run(struct session *s, const char *line, struct result **out, struct err *err)
{
	struct command_line l;
	struct result *r = NULL;
	bool gone = false;

	*out = NULL;
	if (is_remark(line))
		return 0;
	if (!s->depth) {
		remember(s, line);
		s->placed = false;
	}
	int code = command_line_parse(&l, line, false, err);
	if (!code && !l.stages[0].n)
		code = err_set(err, ERR_USAGE, "a command is missing: %.100s", line);
	if (!code)
		code = run_command(s, &l, line, &r, err);
	if (!code)
		code = run_pipe(s, &l, &r, &gone, err);
	if (code) {
		result_free(r);
	} else if (r) {
		if (r != s->last)
			replace_last(s, r);
		*out = gone ? NULL : r;
	}
	command_line_release(&l);
	return code;
}

/* --- scripts ---------------------------------------------------------------------------------- */

static int run_script_line(struct session *s, const char *line, bool last_only, struct err *err)
{
	struct result *r;
	int code = session_run(s, line, &r, err);
	int status = session_exit_status(code, code ? NULL : s->last);
	if (r && status > s->status)
		s->status = status;
	if (!code && r && !last_only)
		code = session_print(s, r, err);
	return code;
}

int session_source(struct session *s, const char *path, struct result **out, struct err *err)
{
	bool standard = !strcmp(path, "-");
	char *line = NULL;
	size_t cap = 0, number = 0;
	ssize_t n;
	int code = 0;

	*out = NULL;
	if (s->depth >= SCRIPTS_DEEP)
		return err_set(err, ERR_USAGE, "%.200s: scripts run scripts %u deep", path, s->depth);
	FILE *f = standard ? stdin : fopen(path, "re");
	if (!f)
		return err_set(err, ERR_NOT_FOUND, "%.200s: %s", path, strerror(errno));
	s->depth++;
	while (!code && !s->quit && (n = getline(&line, &cap, f)) >= 0) {
		number++;
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			line[--n] = '\0';
		code = run_script_line(s, line, !s->output, err);
		if (code && !s->placed) {
			err_context(err, "%s:%zu", standard ? "standard input" : path, number);
			s->placed = true;
		}
	}
	if (!code && ferror(f))
		code = err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	s->depth--;
	*out = code ? NULL : s->last;
	free(line);
	if (!standard)
		fclose(f);
	return code;
}
