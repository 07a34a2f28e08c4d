/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exec.c - see exec.h.
 */
#include "command/exec/exec.h"

#include "base/mem.h"
#include "base/memory_refusals.h"
#include "command/args/args.h"
#include "command/commands.h"
#include "command/exec/output.h"
#include "command/resolve/resolve.h"
#include "command/table_options.h"
#include "dump/lazy_dump.h"
#include "heap/heap.h"
#include "heap/open.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define KIND_MOST 1000   /* bytes; no choice is kept for what has a longer name */

/* The newest result takes the place of the last one; rows that are sets stay until others come. */
static void replace_last(struct session *s, struct result *r)
{
	bool sets = result_has_sets(r);
	if (!result_is(r, RESULT_EXPLAINS)) {
		result_free(s->results.explained);
		s->results.explained = NULL;
	} else if (s->results.last && !result_is(s->results.last, RESULT_EXPLAINS)) {
		result_free(s->results.explained);
		s->results.explained = s->results.last;
		s->results.last = NULL;
	}
	if (s->results.last && !sets && result_has_sets(s->results.last)) {
		result_free(s->results.rows);
		s->results.rows = s->results.last;
	} else {
		result_free(s->results.last);
	}
	if (sets) {
		result_free(s->results.rows);
		s->results.rows = NULL;
	}
	s->results.last = r;
}

int session_exit_status(int code, const struct result *r)
{
	switch (code) {
	case 0:
		return r && result_is(r, RESULT_FAILED) ? 1 : 0;
	case ERR_NOT_FOUND:
	case ERR_UNSUPPORTED:
	case ERR_FAILED:
		return 1;
	case ERR_USAGE:
	case ERR_IO:    /* a result that cannot be written; the dump itself was read */
		return 2;
	default: /* ERR_NOMEM, too: what the command is about does not fit */
		return 3;
	}
}

/* --- where results go ------------------------------------------------------------------------- */

int session_print(struct session *s, struct result *r, struct err *err)
{
	struct print_options o = s->settings.print;
	uint64_t refusals = mem_refusals();
	if (!o.top && o.format == PRINT_TEXT && !result_is(r, RESULT_PLAIN_TEXT))
		o.top = s->output.screenful;
	int code = output_begin(s->output.stream, &s->output.replaces, err);
	if (code)
		return code;
	if (result_is(r, RESULT_LACKS_ROWS) && !print_is_for_people(o.format))
		complain("warning: %s", r->note);
	if (r->warning && o.format != PRINT_TEXT)
		complain("warning: %s", r->warning);
	if (o.format == PRINT_JSON && s->output.joins)
		code = output_join(s->output.stream, s->output.n_printed, err);
	if (code)
		return code;
	if (s->output.n_printed++) {
		o.behind = true;
		if (o.format == PRINT_CSV)
			fputs("\r\n", s->output.stream);
		else if (o.format == PRINT_TEXT || o.format == PRINT_MD)
			putc('\n', s->output.stream);
	}
	if (s->output.heading && o.format == PRINT_TEXT) {
		struct text heading = TEXT_INIT;
		text_add_escaped(&heading, s->output.heading, strlen(s->output.heading));
		fprintf(s->output.stream, ":%s\n", heading.s ? heading.s : "");
		text_release(&heading);
	}
	code = print_result(r, &o, s->output.stream, err);
	if (code == ERR_IO)
		err_set(err, ERR_IO, "%.200s: %s; the output is incomplete",
		    s->output.name ? s->output.name : "standard output", err->message);
	return code ? code : memory_refusals_check(refusals, err);
}

struct printing {
	const struct print_options *options;
	FILE *to;
};

static int print_rows(struct result **r, const void *context, struct err *err)
{
	const struct printing *p = context;
	return print_result(*r, p->options, p->to, err);
}

/* As a long job where there are many rows. */
static int print_watched(struct session *s, struct result *r, const struct print_options *o, FILE *to,
    struct err *err)
{
	struct printing printing = {o, to};
	return session_on_shown(s, &r, print_rows, &printing, err);
}

static void say_written(struct session *s, const struct result *r, const struct print_options *o,
    const char *path, bool behind)
{
	static const char *const formats[] = {"text", "CSV", "JSON", "JSON lines", "Markdown", "HTML"};
	struct text what = TEXT_INIT;
	size_t n = o->top && o->top < r->n_rows ? o->top : r->n_rows;
	if (r->n_columns) {
		text_add_count(&what, n);
		text_addf(&what, " row%s of ", n == 1 ? "" : "s");
	}
	text_add_name(&what, r->title ? r->title : "the result");
	session_say(s, "%s %s to %s, as %s", behind ? "appended" : "wrote", what.s, path, formats[o->format]);
	text_release(&what);
}

static int to_file(
    struct session *s, struct result *r, const char *path, bool append, struct err *err)
{
	const struct print_options *p = &s->settings.print;
	struct print_options o = {.top = p->top, .wide = p->wide, .csv_raw = p->csv_raw};
	struct output to;
	int code = print_format_of_file(path, &o.format, err);
	if (!code)
		code = output_open(&to, path, append, session_new_mode(s), &s->settings.writes, err);
	if (code)
		return code;
	FILE *f = to.stream;
	if (to.behind && o.format == PRINT_JSON) {
		fclose(f);
		return err_set(err, ERR_USAGE, "%.200s already has a JSON text and cannot take a second (append to a "
		    ".jsonl file, or write with >)", path);
	}
	if (to.behind && o.format == PRINT_CSV)
		fputs("\r\n", f);
	else if (to.behind && o.format == PRINT_MD)
		putc('\n', f);
	o.behind = to.behind;
	code = output_begin(f, &to.replaces, err);
	if (!code)
		code = print_watched(s, r, &o, f, err);
	if (code)
		output_take_back(&to, err);
	if (code)
		err_context(err, "%.200s", path);
	if (fclose(f) && !code)
		code = err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	if (!code)
		say_written(s, r, &o, path, to.behind);
	return code;
}

int session_save(struct session *s, struct result *r, const char *path, struct err *err)
{
	return to_file(s, r, path, false, err);
}

/* How the shell's command ended, as waitpid tells.  That it stops reading early is no fault, nor that
 * whoever reads from it does. */
static int shell_ended(const char *command, int status, struct err *err)
{
	if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		return err_set(err, ERR_FAILED, "!%.100s: the shell cannot run it", command);
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
		return err_set(err, ERR_FAILED, "!%.100s: the command ended by signal %d", command,
		    WTERMSIG(status));
	if (WIFEXITED(status) && WEXITSTATUS(status) && WEXITSTATUS(status) != 128 + SIGPIPE)
		return err_set(err, ERR_FAILED, "!%.100s: the command ended with status %d", command,
		    WEXITSTATUS(status));
	return 0;
}

static int to_shell(struct session *s, struct result *r, const char *command, struct err *err)
{
	struct print_options o = {.format = s->settings.print.format, .top = s->settings.print.top,
	    .wide = s->settings.print.wide, .csv_raw = s->settings.print.csv_raw};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	if (s->output.stream)
		fflush(s->output.stream);
	if (s->hooks.shell)
		s->hooks.shell(s->hooks.context, true);
	int code = 0;
	FILE *f = popen(command, "we");
	if (!f) {
		code = err_set(err, ERR_IO, "!%.100s: %s", command, strerror(errno));
	} else {
		sigaction(SIGPIPE, &ignore, &before);
		code = print_result(r, &o, f, err);
		if (code == ERR_IO) /* the command may have read enough */
			code = 0;
		int ended = shell_ended(command, pclose(f), code ? NULL : err);
		sigaction(SIGPIPE, &before, NULL);
		code = code ? code : ended;
	}
	if (s->hooks.shell)
		s->hooks.shell(s->hooks.context, false);
	if (!code)
		session_say(s, "piped %s to !%s", r->title ? r->title : "the result", command);
	return code;
}

/* --- running ---------------------------------------------------------------------------------- */

static int needs_dump(const struct session *s, const struct command *c, struct err *err)
{
	if (c->flags & (COMMAND_NO_DUMP | COMMAND_OF_VM))
		return 0;
	if (!session_heap(s) && s->folder)
		return c->flags & COMMAND_OF_PROFILES ? 0 : session_no_dump(s, err);
	if (!session_heap(s) && s->n_dumps && session_newest(s)->is_profile)
		return c->flags & COMMAND_OF_PROFILES ? 0 : err_set(err, ERR_UNSUPPORTED, NO_DUMP_AT_HAND
		    " (dumps, diff, growth and trend work on profiles)");
	if (!session_heap(s))
		return session_no_dump(s, err);
	return 0;
}

/* Where references wait to be read, have them read for all but what is answered without. */
static int needs_references(const struct session *s, const struct command *c, const struct invocation *asked,
    struct err *err)
{
	const struct heap *h = session_heap(s);
	if (!h || (c->flags & COMMAND_NO_DUMP))
		return 0;
	bool early = c == asked->command && (opened_has_class_sums(s->dump) ? asked->early_with_sums : asked->early);
	bool waits = (heap_waits(h) || (h->referrers_wait && !(c->flags & COMMAND_NO_REFERRERS))) && !early;
	/* what is answered before they are read is answered where they did not fit, too */
	bool without = c->flags & COMMAND_OBJECTS_ONLY || (early && h->settled);
	if (!waits && !(c->flags & COMMAND_NEEDS_REFERENCES) && (!h->no_references || without))
		return 0;
	int code = session_find(s, c->flags & COMMAND_NO_REFERRERS ? FIND_REFERENCES : FIND_REFERRERS, err);
	return without && (code == ERR_UNSUPPORTED || (code == ERR_NOMEM && h->no_references)) ? 0 : code;
}

/* Does the line say what to look for, rather than to list what there is?  -live and -dead only split
 * that: no garbage is an answer. */
static bool looks_for(const struct call *call)
{
	static const enum option_word narrow[] = {DASH_MIN, DASH_MAX, DASH_SHARE, DASH_START,
	    DASH_LENGTH, DASH_NOT, DASH_SKIP};
	bool looks = call->argument[0].given || command_filters(call);
	for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
		looks |= call_has(call, narrow[i]);
	return looks && !(call->command->flags & COMMAND_NO_DUMP);
}

/* The answer of whoever looked for something is that there is nothing: no row, and no head. */
static void nothing_found(struct result *r, const char *note)
{
	if (r->n_rows || r->n_head || result_is(r, RESULT_NONE_ANSWERS))
		return;
	result_mark(r, RESULT_FAILED, true);
	if (!r->note)
		r->note = note;
}

/* What earlier lines asked for in part, the tree without sums by class or these alone out of an index, is completed for
 * whatever follows: its tables show what is known. */
static int needs_retained(const struct session *s, const struct command *c, struct err *err)
{
	const struct opened *o = s->dump;
	if (!o || s->finds_beside || (c->flags & COMMAND_NO_DUMP))
		return 0;
	if (o->heap->referrers_wait && c->flags & COMMAND_NO_REFERRERS) /* for the sums lists of referrers would be made */
		return 0;
	bool in_part = opened_tree(o) ? !opened_retained(o) : opened_class_sums(o) != NULL;
	return in_part ? session_find(s, FIND_RETAINED, err) : 0;
}

struct running {
	struct session *s;
	const struct command *command; /* the invocation's, or what it means on the selected row */
	const struct invocation *asked;
	struct result **out;
};

enum { FIRST_ROWS = 64 };

/* What cells find once and remember, as names of the elements of a large array, is found with the first rows:
 * not while they are drawn. */
static void read_first_rows(struct result *r)
{
	for (size_t row = 0; row < r->n_rows && row < FIRST_ROWS && !progress_cancelled(progress_own()); row++) {
		for (unsigned c = 0; c < r->n_columns; c++) {
			struct cell cell;
			result_cell(r, row, c, &cell);
		}
	}
}

static void drop(struct result **r)
{
	result_free(*r);
	*r = NULL;
}

/* Words into values, then the command, then what its cells need: any of these may take long. */
static int run_call(void *context, struct progress *progress, struct err *err)
{
	struct running *run = context;
	struct call call;
	run->s->now = progress;
	const struct heap *h = session_heap(run->s);
	int code = needs_references(run->s, run->command, run->asked, err);
	if (!code)
		code = needs_retained(run->s, run->command, err);
	if (!code && h && run->command->told)
		code = run->command->told(h, err);
	if (!code)
		code = call_parse(&call, run->s, run->command, run->asked, err);
	if (!code) {
		code = run->command->finds ? session_find(run->s, run->command->finds, err) : 0;
		if (!code)
			code = run->command->run(run->s, &call, run->out, err);
		if (!code)
			code = table_options_apply(run->s, &call, run->out, err);
		err_place(err, 0, 0); /* it was of a line within */
		if (!code && *run->out && looks_for(&call))
			nothing_found(*run->out, "nothing found");
		call_release(&call);
	}
	if (!code && *run->out)
		code = result_check(*run->out, err);
	if (!code && *run->out && result_is_late(*run->out)) {
		/* for want of memory those cells stay unknown */
		int found = result_find_late(*run->out, progress, err);
		result_take_late(*run->out, found);
		code = found == ERR_CANCELLED ? found : 0;
	}
	if (!code && *run->out && (run->s->hooks.work || (h && lazy_dump_waits(h->dump))))
		read_first_rows(*run->out);
	if (!code && progress_cancelled(progress)) /* some loop may have been left early */
		code = err_cancelled(err);
	if (code)
		drop(run->out);
	run->s->now = NULL;
	return code;
}

/* A word of another tool works, and once it is said what it is called here, of each of its two meanings. */
static void tell_alias(struct session *s, const struct alias *a, const char *means, struct result *r)
{
	struct text note = TEXT_INIT;
	for (size_t i = 0; i < s->lines.n_told; i++) {
		if (s->lines.told[i].alias == a && !strcmp(s->lines.told[i].means, means))
			return;
	}
	VEC_PUSH(s->lines.told, s->lines.n_told, s->lines.cap_told) = (struct told_alias){a, means};
	text_addf(&note, "%s is %s here (alias lists such names)", a->word, means);
	result_add_note(r, note.s);
	text_release(&note);
}

/* What tables of the same kind have in common: the command, the form of its answer, the class whose fields are
 * columns. */
static void name_kind(struct result *r, const struct command *c)
{
	struct text kind = TEXT_INIT;
	if (!r->n_columns || result_is(r, RESULT_PLAIN_TEXT) || !r->shape || r->kind)
		return;
	text_add(&kind, c->name);
	if (r->shape->form)
		text_addf(&kind, " %s", r->shape->form);
	if (r->columns[r->n_columns - 1].name) {
		text_add(&kind, " ");
		text_add_escaped(&kind, r->title, strnlen(r->title, KIND_MOST + 1));
	}
	r->kind = kind.len <= KIND_MOST ? arena_strndup(&r->arena, kind.s, kind.len) : NULL;
	text_release(&kind);
}

/* Is nothing wrong with the line itself? */
static int can_run(const struct invocation *asked, struct err *err)
{
	if (asked->err.code && err)
		*err = asked->err;
	return asked->err.code;
}

static int run_command(struct session *s, const struct invocation *asked, struct result **r, struct err *err)
{
	const struct command *c = asked->command;
	/* "path" alone on a row that counts several objects asks what the key asks */
	if (asked->line.stages[0].n == asked->words && s->results.selection && s->results.selection->several &&
	    !c->arguments[0].optional && c->several)
		c = command_find(c->several, err);
	int code = needs_dump(s, c, err);
	bool reads = !code && !(c->flags & COMMAND_NO_DUMP) && s->dump;
	if (reads && opened_look(s->dump) == FILE_INDEX_LOST) /* of anything else info tells */
		code = err_set(err, ERR_IO, "%s", s->dump->fate_words.message);
	if (!code) {
		struct running run = {s, c, asked, r};
		/* what is about the session, not about a dump, is its own thread's */
		code = c->flags & COMMAND_NO_DUMP ? run_call(&run, NULL, err)
		                                  : session_work(s, run_call, &run, err);
		if (reads && c->shapes && code != ERR_CANCELLED && !s->hooks.work && opened_lose_values(s->dump)) {
			drop(r); /* it asked for what turned out not to be there */
			code = session_work(s, run_call, &run, err);
		}
	}
	if (reads && !code && opened_look(s->dump) == FILE_INDEX_LOST) {
		drop(r);
		code = err_set(err, ERR_IO, "%s", s->dump->fate_words.message);
	}
	if (reads && *r) {
		result_mark(*r, RESULT_OF_VALUES, c->flags & COMMAND_COUNTS_VALUES);
		if (opened_look(s->dump) != FILE_SAME) {
			result_doubt_head(*r);
			result_add_note(*r, s->dump->fate_words.message);
		}
	}
	if (*r && asked->alias && alias_is_of_tool(asked->alias) && !result_is(*r, RESULT_PLAIN_TEXT))
		tell_alias(s, asked->alias, asked->means, *r);
	if (code && !s->lines.placed)
		err_context(err, "%s", c->name);
	if (!code && *r && *r != s->results.last) {
		name_kind(*r, c);
		columns_arrange(*r);
	}
	return code;
}

int session_ask(struct session *s, const struct invocation *asked, struct result **out, struct err *err)
{
	const struct command *c = asked->command;
	struct progress *now = s->now;
	*out = NULL;
	unsigned others = COMMAND_NO_DUMP | COMMAND_WRITES | COMMAND_OF_SESSION;
	if (!c || !invocation_is_plain(asked) || asked->line.keep || (c->flags & others && !(c->flags & COMMAND_OF_VM)) ||
	    !c->shapes)
		return err_set(err, ERR_USAGE, "\"%.200s\" is not a single command about the dump", asked->text);
	int code = can_run(asked, err);
	if (!code)
		code = needs_dump(s, c, err);
	if (!code) {
		bool asks = s->asks;
		s->asks = true;
		code = run_call(&(struct running){s, c, asked, out}, now, err);
		s->asks = asks;
		s->now = now;
	}
	return code;
}

int session_ask_line(struct session *s, const char *line, struct result **out, struct err *err)
{
	struct invocation *asked = invocation_of(line);
	int code = session_ask(s, asked, out, err);
	invocation_drop(asked);
	return code;
}

static int apply_stage(struct result **r, const void *stage, struct err *err)
{
	return pipe_apply(r, stage, err);
}

/* Is what the line answers shown on the screen, and nothing but that? */
static bool is_shown(const struct session *s, const struct command_line *l)
{
	return s->interactive && !s->lines.depth && !l->file.s;
}

/* Do people read what the line answers, rather than another program? */
static bool people_read(const struct session *s, const struct command_line *l)
{
	enum print_format format = s->settings.print.format;
	if (l->file.s)
		return !print_format_of_file(l->file.s, &format, NULL) && print_is_for_people(format);
	return is_shown(s, l) || print_is_for_people(format);
}

/* The stages behind the command; *gone when the result went to a shell or a file. */
static int run_pipe(struct session *s, const struct command_line *l, struct result **r, bool *gone, struct err *err)
{
	*gone = false;
	if (!*r && (l->n > 1 || l->file.s || l->keep))
		return err_set(err, ERR_USAGE, "%s prints nothing", l->stages[0].words[0].s);
	for (size_t i = 1; i < l->n; i++) {
		if (l->stages[i].shell) {
			*gone = true;
			return to_shell(s, *r, l->stages[i].shell, err);
		}
		int code = command_before_stage(s, *r, &l->stages[i], err);
		const struct pipe_stage *stage = pipe_stage_of(&l->stages[i]); /* NULL: pipe_apply says so */
		bool grows = is_shown(s, l) && i + 1 == l->n && stage && stage->looks && !result_is(*r, RESULT_PLAIN_TEXT);
		if (!code)
			code = (grows ? session_on_growing : session_on_rows)(s, r, apply_stage, &l->stages[i], err);
		if (code) {
			err_place(err, l->stages[i].words[0].begin, l->stages[i].words[l->stages[i].n - 1].end);
			return code;
		}
		if (stage->looks)
			nothing_found(*r, "nothing matches");
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
	if (s->lines.n_history && !strcmp(s->lines.history[s->lines.n_history - 1], line))
		return;
	VEC_PUSH(s->lines.history, s->lines.n_history, s->lines.cap_history) = xstrdup(line);
}

/* The answer, its stages applied; *gone: it went to a shell or a file, or is only kept. */
static int answer(struct session *s, const struct invocation *asked, struct result **r, bool *gone, struct err *err)
{
	const struct command_line *l = &asked->line;
	uint64_t refusals = mem_refusals();
	*r = NULL;
	*gone = false;
	int code = can_run(asked, err);
	s->grows = is_shown(s, l) && l->n == 1;
	s->folds = people_read(s, l);
	if (!code)
		code = run_command(s, asked, r, err);
	if (!code)
		code = run_pipe(s, l, r, gone, err);
	/* an error behind a refusal may be but its consequence: a word cut short is not found */
	int refused = memory_refusals_check(refusals, err);
	code = refused ? refused : code;
	if (code && *r != s->results.last)
		result_free(*r);
	if (code)
		*r = NULL;
	return code;
}

int session_run(struct session *s, const struct invocation *asked, struct result **out, struct err *err)
{
	struct result *r;
	bool gone;
	*out = NULL;
	if (asked->empty)
		return 0;
	if (!s->lines.depth) {
		remember(s, asked->text);
		s->lines.placed = false;
		text_clear(&s->lines.said);
	}
	int code = answer(s, asked, &r, &gone, err);
	if (!code && r && r != s->results.last)
		replace_last(s, r);
	*out = gone ? NULL : r;
	return code;
}

int session_run_line(struct session *s, const char *line, struct result **out, struct err *err)
{
	struct invocation *asked = invocation_of(line);
	int code = session_run(s, asked, out, err);
	invocation_drop(asked);
	return code;
}

int session_look(struct session *s, const char *line, struct result **out, struct err *err)
{
	struct invocation *asked = invocation_of(line);
	bool gone;
	int code = answer(s, asked, out, &gone, err);
	invocation_drop(asked);
	return code;
}
