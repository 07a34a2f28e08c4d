/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_session.c - history, source, save, set, quit.
 */
#include "command/commands.h"

#include "algorithms/parallel.h"
#include "base/mem.h"
#include "base/suffixes.h"
#include "command/exec/exec.h"
#include "command/resolve/resolve.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/library.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- history ---------------------------------------------------------------------------------- */

static const struct column history_columns[] = {
    {.id = COL_NUMBER},
    {.id = COL_LINE},
};
static const struct shape history_shape = {SHAPE_COLUMNS(history_columns)};

static int run_history(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct result *r = *out = result_new_rows("history", s->dump, &history_shape);
	struct text line = TEXT_INIT;
	(void)call;
	(void)err;
	for (size_t i = 0; i < s->lines.n_history && !progress_own_stops(8 * i); i++) {
		text_clear(&line);
		text_add_escaped(&line, s->lines.history[i], strlen(s->lines.history[i]));
		result_add_row(r, (struct cell[]){cell_plain(i + 1), cell_text(line.s)},
		    &(struct target){.kind = TARGET_COMMAND, .command = s->lines.history[i]});
	}
	text_release(&line);
	return 0;
}

const struct command cmd_history = {
    .name = "history",
    .flags = COMMAND_NO_DUMP,
    .group = "session",
    .summary = "list the command lines of this session",
    .shapes = SHAPES(&history_shape),
    .description = "Oldest first.",
    .examples = {{"history", ON_ANY, "all lines, oldest first"},
	{"history | grep refs", ON_ANY, "the lines that contain refs"}},
    .run = run_history,
};

/* --- source ----------------------------------------------------------------------------------- */

static int run_source(
    struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct result *last;
	int code = session_source(s, call->argument[0].word, &last, err);
	/* on the screen the last result is shown; elsewhere each was printed */
	*out = !code && !s->output.stream ? session_take(s) : NULL;
	return code;
}

const struct command cmd_source = {
    .name = "source",
    .arguments = {{ARG_FILE, "FILE", false}},
    .flags = COMMAND_NO_DUMP | COMMAND_RUNS_LINES,
    .group = "session",
    .summary = "run the command lines of a file",
    .description = "cairn skips empty lines and lines that begin with #. The first line that fails ends the script. "
	"The screen shows the last result.",
    .examples = {{"source leaks.txt", ON_ANY, "the answers of the lines in leaks.txt"}},
    .run = run_source,
};

/* --- save ------------------------------------------------------------------------------------- */

struct dump_saving {
	const char *path;
	int fd;
};

static int save_work(void *saving, struct progress *progress, struct err *err)
{
	const struct dump_saving *d = saving;
	return source_save_process(d->path, d->fd, progress, err);
}

static int write_dump(void *session, FILE *to, const char *path, struct err *err)
{
	struct session *s = session;
	(void)path;
	return session_work(s, save_work, &(struct dump_saving){session_heap(s)->source->path, fileno(to)}, err);
}

void session_say_dump(struct session *s, const char *file)
{
	struct stat st;
	text_addf(&s->lines.said, "%swrote the dump to %s", s->lines.said.len ? "; " : "", file);
	if (!stat(file, &st) && S_ISREG(st.st_mode)) {
		text_add(&s->lines.said, ", ");
		text_add_bytes(&s->lines.said, (uint64_t)st.st_size);
	}
}

/* What a process dumped, which no file has. */
static int save_dump(struct session *s, const char *file, struct err *err)
{
	if (!s->dump)
		return session_no_dump(s, err);
	const char *path = session_heap(s)->source->path, *ending = source_process_ending(path);
	if (!ending)
		return err_set(err, ERR_USAGE, "only what a process dumped can be saved as a dump (this is %.200s)", path);
	if (!suffix_of(file, strlen(file), (const char *const[]){ending, NULL}))
		return err_set(err, ERR_USAGE, "\"%.200s\" is another format (name the dump FILE%s)", file, ending);
	int code = session_write_whole(s, &(struct new_file){.path = file, .secret = true}, write_dump, s, err);
	if (code)
		return code;
	source_saved_process(path);
	session_say_dump(s, file);
	return 0;
}

static int run_save(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	static const char *const dumps[] = {".hprof", ".phd", ".core", NULL};
	const char *file = call->argument[0].word;
	struct result *r = session_table(s);
	(void)out;
	if (suffix_of(file, strlen(file), dumps))
		return save_dump(s, file, err);
	if (!r)
		return err_set(err, ERR_NOT_FOUND, "no result yet");
	return session_save(s, r, file, err);
}

const struct command cmd_save = {
    .name = "save",
    .arguments = {{ARG_FILE, "FILE", false}},
    .flags = COMMAND_NO_DUMP,
    .group = "session",
    .summary = "write the current result or a dump of a process to a file",
    .description = "The ending gives the format: .csv .json .jsonl .md .html; .txt, .log or none is text, any other "
	"an error; .hprof (of OpenJ9 .phd, of Go .core) writes the current dump if a process made it (attach). The "
	"screen asks before it replaces a file. Elsewhere an existing file is replaced, but a heap dump only with "
	"--force. cairn never writes to a file that it reads.",
    .examples = {{"histo", ON_ANY}, {"save histo.csv", ON_ANY, "the last result for a spreadsheet"},
	{"save histo.md", ON_ANY, "the same as a table for a ticket"}},
    .run = run_save,
};

/* --- set -------------------------------------------------------------------------------------- */

static const struct column set_columns[] = {
    {.id = COL_NAME},
    {.id = COL_VALUE},
    {.id = COL_MEANING},
};
static const struct shape set_shape = {SHAPE_COLUMNS(set_columns)};

enum { NO_VALUE = 1 }; /* not a value of that setting */

static bool *flag_of(const struct setting *of, const struct session *s)
{
	return (bool *)((char *)(uintptr_t)s + of->flag);
}

static void show_flag(const struct setting *of, const struct session *s, struct text *to)
{
	text_add(to, *flag_of(of, s) ? of->yes : of->no);
}

static int set_flag(const struct setting *of, struct session *s, const char *value, struct err *err)
{
	(void)err;
	if (strcmp(value, of->yes) && strcmp(value, of->no))
		return NO_VALUE;
	*flag_of(of, s) = !strcmp(value, of->yes);
	return 0;
}

static void show_top(const struct setting *of, const struct session *s, struct text *to)
{
	(void)of;
	text_addf(to, "%zu", s->settings.print.top);
}

static int set_top(const struct setting *of, struct session *s, const char *value, struct err *err)
{
	uint64_t n;
	(void)of, (void)err;
	if (!parse_size(value, &n))
		return NO_VALUE;
	s->settings.print.top = (size_t)n;
	return 0;
}

static void show_format(const struct setting *of, const struct session *s, struct text *to)
{
	(void)of;
	text_add(to, print_format_names[s->settings.print.format]);
}

static int set_format(const struct setting *of, struct session *s, const char *value, struct err *err)
{
	(void)of, (void)err;
	return print_format_parse(value, &s->settings.print.format) ? 0 : NO_VALUE;
}

static void show_threads(const struct setting *of, const struct session *s, struct text *to)
{
	(void)of, (void)s;
	text_addf(to, "%u", parallel_threads());
}

static int set_threads(const struct setting *of, struct session *s, const char *value, struct err *err)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);
	(void)of, (void)s, (void)err;
	if (*end || end == value || *value == '-' || n > 1024)
		return NO_VALUE;
	parallel_set_threads((unsigned)n);
	return 0;
}

static void show_weak(const struct setting *of, const struct session *s, struct text *to)
{
	text_add(to, !s->dump || opened_counts_weak(s->dump) ? of->yes : of->no);
}

static int set_weak(const struct setting *of, struct session *s, const char *value, struct err *err)
{
	bool on = !strcmp(value, of->yes);
	return on || !strcmp(value, of->no) ? session_count_weak(s, on, err) : NO_VALUE;
}

static bool is_mine(const struct setting *of)
{
	return !strcmp(of->name, "mine");
}

static void show_patterns(const struct setting *of, const struct session *s, struct text *to)
{
	const char *words = library_wished(is_mine(of));
	(void)s;
	text_add(to, words ? words : "none");
}

static int set_patterns(const struct setting *of, struct session *s, const char *value, struct err *err)
{
	(void)s;
	return library_wish(is_mine(of), strcmp(value, "none") ? value : "", err);
}

static void show_copy(const struct setting *of, const struct session *s, struct text *to)
{
	(void)of;
	text_add(to, s->settings.copies ? s->settings.copies : "terminal");
}

static int set_copy(const struct setting *of, struct session *s, const char *value, struct err *err)
{
	(void)of, (void)err;
	char *file = *value && strcmp(value, "terminal") != 0 ? xstrdup(value) : NULL;
	free(s->settings.copies);
	s->settings.copies = file;
	return 0;
}

#define FLAG(member) show_flag, set_flag, offsetof(struct session, settings.member)
#define OTHER(name) show_##name, set_##name, 0

/* set: 0, NO_VALUE, or an error. */
static const struct setting settings[] = {
    {"top", "a number, 0 for all", "rows printed of each result; 0: all", true, OTHER(top), NULL, NULL},
    {"format", "text, csv, json, jsonl, md or html", "format of printed results", true, OTHER(format), NULL, NULL},
    {"csv", "safe or raw", "mark texts like formulas in CSV (safe), or not (raw)", true, FLAG(print.csv_raw), "raw",
	"safe"},
    {"wide", "on or off", "text has all columns of machine formats", true, FLAG(print.wide), "on", "off"},
    {"threads", "a number, 0 for all processors", "worker threads", false, OTHER(threads), NULL, NULL},
    {"weak", "on or off", "on: weak, final and phantom references hold, as in Eclipse MAT", false, OTHER(weak), "on",
	"off"},
    {"mine", "packages like com.acme.*, or none", "packages and classes of the program", true, OTHER(patterns), NULL,
	NULL},
    {"not-mine", "packages like org.apache.*, or none", "packages and classes that are not the program's", true,
	OTHER(patterns), NULL, NULL},
    {"q", "back or quit", "the key q goes to the previous view, or quits", true, FLAG(q_quits), "quit", "back"},
    {"copy", "terminal or a file's name", "target of y and Y: the clipboard, or the end of a file", true, OTHER(copy),
	NULL, NULL},
};
#define N_SETTINGS (sizeof settings / sizeof *settings)

const struct setting *setting_at(size_t i)
{
	return i < N_SETTINGS ? &settings[i] : NULL;
}

static void say_setting(struct session *s, const struct setting *of)
{
	struct text value = TEXT_INIT;
	of->show(of, s, &value);
	session_say(s, "%s is %s now (%s)", of->name, value.s, of->meaning);
	text_release(&value);
}

int setting_set(struct session *s, const char *name, const char *value, struct err *err)
{
	for (size_t i = 0; i < N_SETTINGS; i++) {
		if (strcmp(settings[i].name, name))
			continue;
		int code = value ? settings[i].set(&settings[i], s, value, err) : NO_VALUE;
		if (!code)
			say_setting(s, &settings[i]);
		return code != NO_VALUE ? code : value
		    ? err_set(err, ERR_USAGE, "invalid %s \"%.60s\" (use %s)", name, value, settings[i].values)
		    : err_set(err, ERR_USAGE, "%s: no value (use %s)", name, settings[i].values);
	}
	return err_set(err, ERR_USAGE, "no setting \"%.60s\" (set lists them)", name);
}

static struct result *list_settings(struct session *s)
{
	struct result *r = result_new_rows("settings", s->dump, &set_shape);
	struct text value = TEXT_INIT;
	for (size_t i = 0; i < N_SETTINGS; i++) {
		text_clear(&value);
		settings[i].show(&settings[i], s, &value);
		result_add_row(r, (struct cell[]){cell_text(settings[i].name), cell_text(value.s),
		    cell_text(settings[i].meaning)}, NULL);
	}
	text_release(&value);
	return r;
}

static int run_set(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	if (!call->argument[0].given) {
		*out = list_settings(s);
		return 0;
	}
	return setting_set(s, call->argument[0].word, call->argument[1].given ? call->argument[1].word : NULL, err);
}

const struct command cmd_set = {
    .name = "set",
    .arguments = {{ARG_WORD, "NAME", true}, {ARG_WORD, "VALUE", true}},
    .flags = COMMAND_NO_DUMP,
    .group = "session",
    .summary = "show or change settings",
    .shapes = SHAPES(&set_shape),
    .description = "Without a name it lists the settings; sets lists kept sets. By default weak is off, "
	"as in the VM: strong and soft references hold an object, weak, final and phantom references do not. With "
	"weak on all of them hold, as in Eclipse MAT; cairn then computes reachability, dominators and retained sizes "
	"again. With --sizes mat weak is on by default. diff, growth and trend compare dumps with weak off. In "
	"formats without field values all references hold. mine and not-mine name packages; of two that fit a class, the "
	"longer counts. leaks, cut -plan, about and growth prefer references of classes that are the program's own.",
    .examples = {{"set", ON_ANY, "all settings"}, {"set top 20", ON_ANY, "print 20 rows of each result"},
	{"set not-mine org.apache.*,org.springframework.*", ON_ANY, "treat these libraries like the JDK"},
	{"set weak on", ON_SHOP, "count weak references as Eclipse MAT does"}},
    .run = run_set,
};

/* --- quit ------------------------------------------------------------------------------------- */

static int run_quit(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	(void)call, (void)out;
	int code = s->settings.writes.ask ? session_may_leave(s, err) : 0;
	s->quit = !code;
	return code;
}

const struct command cmd_quit = {
    .name = "quit",
    .flags = COMMAND_NO_DUMP,
    .group = "session",
    .summary = "exit cairn",
    .description = "Where a dump of a process is in no file yet, a second time exits.",
    .examples = {{"quit"}},
    .run = run_quit,
};
