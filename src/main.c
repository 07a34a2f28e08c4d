/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - options, then the screen or batch.
 */
#include "algorithms/hash.h"
#include "algorithms/parallel.h"
#include "algorithms/zstd_block.h"
#include "attach/attach.h"
#include "base/emergency_reserve.h"
#include "base/files.h"
#include "base/locales.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/args/args.h"
#include "command/exec/exec.h"
#include "command/help/help.h"
#include "command/processes/processes.h"
#include "dump/program/program.h"
#include "dump/source/source.h"
#include "heap/open.h"
#include "memory/big.h"
#include "memory/memory_left.h"
#include "memory/spill.h"
#include "query/profile_file.h"
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USAGE 2
#define MEMBER_OF_INPUT "-::"
#define DEFAULT_MEM_PERCENT 85

/* What the command line asks for. */
struct wishes {
	struct heap_options heap;
	struct batch_options batch;
	struct folder *folder; /* owned; NULL: files were named, or none */
	struct batch_line *lines;
	size_t n_lines, cap_lines;
	struct config *config; /* NULL: not read */
	bool never_screen, plain, tour, no_config, ascii, no_mouse, format_given, mem_given, spill_given, no_spill;
	const char *process, *live; /* -p, --live: the words for one; NULL */
	struct live_dump_wishes process_dump;
	bool yes;
	unsigned start, theme; /* of view_options */
	int color; /* -1 never, 0 auto, 1 always */
};

static void drop_lines(struct wishes *w)
{
	for (size_t i = 0; i < w->n_lines; i++)
		invocation_drop(w->lines[i].asked);
	free(w->lines);
}

static int __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	struct text said = TEXT_INIT;
	va_list arguments;
	va_start(arguments, format);
	text_addv(&said, format, arguments);
	va_end(arguments);
	complain("%s (try cairn --help)", said.s);
	text_release(&said);
	return USAGE;
}

/* Index of value among "a|b|c", or -1. */
static int choice(const char *choices, const char *value)
{
	size_t n = strlen(value);
	for (int i = 0;; i++) {
		size_t length = strcspn(choices, "|");
		if (length == n && n && !strncmp(choices, value, n))
			return i;
		if (!choices[length])
			return -1;
		choices += length + 1;
	}
}

static bool number(const char *value, unsigned long max, unsigned long *out)
{
	char *end;
	errno = 0;
	*out = strtoul(value, &end, 10);
	return !errno && end != value && !*end && *value != '-' && *out <= max;
}

static int dump_docs(const char *what)
{
	struct text t = TEXT_INIT;
	docs_write(what, &t);
	if (!strcmp(what, "man")) {
		view_write_man(&t);
		config_write_man(&t);
	}
	fputs(t.s, stdout);
	text_release(&t);
	return EXIT_SUCCESS;
}

static int help(void)
{
	struct text t = TEXT_INIT;
	options_write_help(&t);
	fputs(t.s, stdout);
	text_release(&t);
	return EXIT_SUCCESS;
}

static int dump_config(void)
{
	struct text t = TEXT_INIT;
	config_write(&t);
	fputs(t.s, stdout);
	text_release(&t);
	return EXIT_SUCCESS;
}

/* Options with a number or a size. */
static int take_number(struct wishes *w, const struct program_option *o, const char *value)
{
	unsigned long n = 0;
	uint64_t bytes;
	if (o->key == OPTION_MEM) {
		bool none = !strcmp(value, "none");
		if (!none && (!parse_size(value, &bytes) || !bytes))
			return wrong("--mem \"%s\" is not a size such as 512M or 2G, or none", value);
		big_set_limit(none ? 0 : bytes, "--mem");
		w->mem_given = true;
		return 0;
	}
	if (!number(value, o->key == OPTION_THREADS ? 1024 : UINT32_MAX, &n))
		return wrong("--%s \"%s\" is not a number in its range", o->name, value);
	if (o->key == OPTION_TOP)
		w->batch.print.top = n;
	else if (o->key == OPTION_DUMP)
		w->heap.dump.heap_number = (unsigned)n;
	else
		parallel_set_threads((unsigned)n);
	return 0;
}

/* Options with one of some words. */
static int take_choice(struct wishes *w, const struct program_option *o, const char *value)
{
	int n = choice(o->argument, value);
	if (n < 0)
		return wrong("--%s \"%s\": unknown value, use %s", o->name, value, o->argument);
	switch (o->key) {
	case OPTION_FORMAT:
		print_format_parse(value, &w->batch.print.format);
		w->format_given = true;
		break;
	case OPTION_CSV:
		w->batch.print.csv_raw = n == 1;
		break;
	case OPTION_SIZES:
		w->heap.mat_sizes = n == 1;
		break;
	case OPTION_PROGRESS:
		w->batch.progress = (enum progress_wish)n;
		break;
	case OPTION_START:
		w->start = (unsigned)n;
		break;
	case OPTION_THEME:
		w->theme = (unsigned)n;
		break;
	case OPTION_COLOR:
		w->color = n == 0 ? 0 : n == 1 ? 1 : -1;
		break;
	}
	return 0;
}

/* One option; *done when it was all there is to do. */
static int take_option(struct wishes *w, const struct program_option *o, const char *value, bool *done)
{
	switch (o->key) {
	case OPTION_COMMAND:
	case OPTION_FILE:
		VEC_PUSH(w->lines, w->n_lines, w->cap_lines) = o->key == OPTION_FILE ?
		    (struct batch_line){.script = value} : (struct batch_line){.asked = invocation_of(value)};
		return 0;
	case OPTION_BATCH:
		w->never_screen = true;
		return 0;
	case OPTION_NO_CONFIG:
		w->no_config = true;
		return 0;
	case OPTION_DUMP_CONFIG:
		*done = true;
		return dump_config();
	case OPTION_PLAIN:
		w->plain = true;
		return 0;
	case OPTION_OUTPUT:
		w->batch.output = value;
		return 0;
	case OPTION_FORCE:
		w->batch.writes.force = true;
		return 0;
	case OPTION_JAVACORE:
		w->heap.dump.javacore = value;
		return 0;
	case OPTION_EXE:
		w->heap.dump.exe = value;
		return 0;
	case OPTION_INDEX:
		if (value[0] == '-')
			return wrong("--index needs a file name, and %s is an option", value);
		w->heap.index = value;
		return 0;
	case OPTION_NO_INDEX:
		w->heap.no_index = true;
		return 0;
	case OPTION_TOUR:
		w->tour = true;
		return 0;
	case OPTION_ASCII:
		w->ascii = true;
		return 0;
	case OPTION_MOUSE:
	case OPTION_NO_MOUSE:
		w->no_mouse = o->key == OPTION_NO_MOUSE;
		return 0;
	case OPTION_PROCESS:
		w->process = value;
		return 0;
	case OPTION_LIVE:
		w->live = value;
		return 0;
	case OPTION_YES:
		w->yes = true;
		return 0;
	case OPTION_KEEP:
		w->process_dump.keep = value;
		return 0;
	case OPTION_GC:
		w->process_dump.collect = true;
		return 0;
	case OPTION_TOP:
	case OPTION_DUMP:
	case OPTION_THREADS:
	case OPTION_MEM:
		return take_number(w, o, value);
	case OPTION_SPILL:
		w->spill_given = true;
		w->no_spill = !strcmp(value, "none");
		spill_forbid(w->no_spill);
		spill_set_folder(w->no_spill ? NULL : value);
		return 0;
	case OPTION_VERSION:
		*done = true;
		return printf("%s %s (%s; %s; %s; %s)\n", PACKAGE_NAME, PACKAGE_VERSION, program_support() ?
		    program_support() : "without libdw: a Go dump's program is not read", profile_support() ?
		    profile_support() : "without SQLite: no profiles", zstd_block_support(),
		    source_support()) < 0;
	case OPTION_HELP:
		*done = true;
		return help();
	case OPTION_DUMP_DOCS:
		*done = true;
		return choice(o->argument, value) < 0 ?
		    wrong("--dump-docs: unknown value, use %s", o->argument) : dump_docs(value);
	default:
		return take_choice(w, o, value);
	}
}

static const struct program_option *option_of(int key)
{
	const struct program_option *o = program_options;
	while (o->name && o->key != key)
		o++;
	return o->name ? o : NULL;
}

/* The table as getopt_long wants it. */
static void getopt_tables(struct option *table, char *letters)
{
	size_t n = 0;
	*letters++ = ':';
	for (const struct program_option *o = program_options; o->name; o++) {
		table[n++] = (struct option){
		    o->name, o->argument ? required_argument : no_argument, NULL, o->key};
		if (o->key < 256)
			*letters++ = (char)o->key;
		if (o->key < 256 && o->argument)
			*letters++ = ':';
	}
	table[n] = (struct option){NULL, 0, NULL, 0};
	*letters = '\0';
}

static int read_options(struct wishes *w, int argc, char **argv, bool *done)
{
	struct option table[64];
	char letters[2 * sizeof table / sizeof *table];
	int key, code = 0;
	getopt_tables(table, letters);
	opterr = 0;
	while (!code && !*done && (key = getopt_long(argc, argv, letters, table, NULL)) != -1) {
		const char *word = argv[optind - 1];
		if (key == ':')
			code = wrong("%s needs a value", word);
		else if (key == '?' && optopt && optopt < 256 && word[0] == '-' && word[1] != '-')
			code = wrong("unknown option -%c", optopt);
		else if (key == '?')
			code = wrong("unknown option %s, or it takes no value", word);
		else
			code = take_option(w, option_of(key), optarg, done);
	}
	return code;
}

static bool wants_screen(const struct wishes *w)
{
	return !w->never_screen && !w->plain && !w->n_lines && !w->batch.output && isatty(STDIN_FILENO) &&
	    isatty(STDOUT_FILENO);
}

/* A descriptor to read from which nothing comes; -1 with errno. */
static int open_nothing(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2];
	if (fd >= 0 || pipe2(ends, O_CLOEXEC)) /* a root may have no devices */
		return fd;
	close(ends[1]);
	return ends[0];
}

/* What may be typed, where somebody sits in front of a screen or a prompt while the dump comes through standard input:
 * the terminal; else nothing. */
static int take_standard_input(const struct wishes *w)
{
	bool asks = w->plain || (!w->never_screen && !w->n_lines && !w->batch.output && isatty(STDOUT_FILENO));
	int instead = asks ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
	if (instead < 0)
		instead = open_nothing();
	int code = instead < 0 || source_take_standard_input(instead) ? 3 : 0;
	if (code)
		complain("standard input: %s", strerror(errno));
	if (instead > STDERR_FILENO)
		close(instead);
	return code;
}

/* "-::NAME" is a dump in an archive that comes through standard input, and to getopt it would be letters of options.
 * No option takes anything of the kind as its value. */
static void name_members(struct text *names, int argc, char **argv)
{
	size_t at = 0;
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], MEMBER_OF_INPUT, sizeof MEMBER_OF_INPUT - 1)) {
			text_addf(names, SOURCE_STANDARD_INPUT "%s", argv[i] + 1);
			text_add_char(names, '\0');
		}
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], MEMBER_OF_INPUT, sizeof MEMBER_OF_INPUT - 1)) {
			argv[i] = names->s + at;
			at += strlen(argv[i]) + 1;
		}
}

/* "-" among the dumps is standard input, which can be one thing only, but for the dumps in an archive. */
static int name_dumps(const struct wishes *w, const struct text *members, int argc, char **argv)
{
	static char named[] = SOURCE_STANDARD_INPUT;
	int n = 0, n_members = 0;
	for (int i = optind; i < argc; i++) {
		if (!strcmp(argv[i], "-")) {
			argv[i] = named;
			n++;
		}
		n_members += members->len && argv[i] >= members->s && argv[i] < members->s + members->len;
	}
	n = n_members && !n ? 1 : n + n_members;
	for (size_t i = 0; n && i < w->n_lines; i++)
		if (w->lines[i].script && !strcmp(w->lines[i].script, "-"))
			return wrong("standard input cannot be both a dump (-) and a script (-f -): use a file for "
			    "one of them");
	if (n > 1)
		return wrong("standard input is one dump: give - once, or -::NAME for each of several in an archive");
	if (n && isatty(STDIN_FILENO))
		return wrong("standard input is a terminal: pipe a dump into -, as in kubectl exec POD -- cat FILE | "
		    "cairn -");
	return n ? take_standard_input(w) : 0;
}

/* Where somebody sits in front of it, what the configuration gives comes first, then the options once more. */
static int configure(struct wishes *w, int argc, char **argv)
{
	const struct program_option *o;
	const char *value;
	bool done = false;
	if (w->no_config || w->tour || !(w->plain || wants_screen(w)))
		return 0;
	drop_lines(w);
	*w = (struct wishes){.config = config_read()};
	for (size_t i = 0; config_option(w->config, i, &o, &value); i++)
		if (o->argument || !strcmp(value, "on"))
			take_option(w, o, value, &done);
	w->format_given = false; /* a name given with -o still says more */
	optind = 0; /* from the beginning */
	return read_options(w, argc, argv, &done);
}

/* --- a directory ---------------------------------------------------------------------------------- */

/* The one dump that is there is taken as if it was named: the only thing in the list, or, beside profiles, where no
 * line is about the list. */
static const struct folder_file *only_dump(const struct wishes *w)
{
	const struct folder *f = w->folder;
	size_t i = 0, lists = 0, compares = 0;
	for (size_t k = 0; k < w->n_lines; k++) {
		const struct command *c = w->lines[k].script ? NULL : w->lines[k].asked->command;
		lists += c && c->flags & COMMAND_LISTS_DUMPS;
		compares += c && c->flags & (COMMAND_COMPARES | COMMAND_SWITCHES | COMMAND_FOR_COMPARISONS);
	}
	if (f->n_dumps != 1 || (w->n_lines && lists == w->n_lines) || (f->n > 1 && (!w->n_lines || compares)))
		return NULL;
	while (f->file[i].is_profile)
		i++;
	return &f->file[i];
}

/* The dumps of w->folder, which was named so. */
static int take_listed(struct wishes *w, const char *name)
{
	if (w->heap.index || w->heap.dump.javacore || w->heap.dump.heap_number) {
		complain("--index, --javacore and --dump are about one dump, and %.200s has %zu (name one)", name,
		    w->folder->n_dumps);
		return USAGE;
	}
	w->batch.folder = w->folder;
	return 0;
}

/* A directory that is named alone stands for the dumps in it.  0, or the exit status. */
static int take_folder(struct wishes *w, const char *name)
{
	struct err err = ERR_INIT;
	int code = folder_read(&w->folder, name, &w->heap, w->batch.progress, &err);
	if (code) {
		complain("%s", err.message);
		return 3;
	}
	const struct folder_file *only = only_dump(w);
	if (only) {
		w->heap.path = only->path;
		return 0;
	}
	return take_listed(w, name);
}

/* Who types "cairn" alone in front of a screen sees which dumps there are. */
static int take_here(struct wishes *w)
{
	struct err err = ERR_INIT;
	if (folder_read_here(&w->folder, &w->heap, w->batch.progress, &err)) {
		complain("%s", err.message);
		return 3;
	}
	return take_listed(w, ".");
}

/* An archive of several dumps that is named alone is listed, too.  0, or the exit status.  Within the limits of memory,
 * which are known by then. */
static int take_archive(struct wishes *w)
{
	struct err err = ERR_INIT;
	const char *name = w->heap.path;
	bool alone = name && !w->batch.n_older && !w->folder;
	int code = alone ? folder_of_archive(&w->folder, name, &w->heap, w->batch.progress, &err) : 1;
	if (code < 0)
		complain("%s", err.message);
	else if (!code)
		w->heap.path = NULL;
	return code < 0 ? 3 : code ? 0 : take_listed(w, name);
}

/* Who types "cairn help input" means no file. */
static bool is_command_only(char **name, size_t n)
{
	struct stat st;
	return n && command_named(name[0], strlen(name[0])) && file_stat(name[0], &st) < 0;
}

/* A process that was named takes the place of the dump to look at.  0, or the exit status. */
static int take_process(struct wishes *w)
{
	struct err err = ERR_INIT;
	int code = process_take(&w->heap.path, w->process, &w->process_dump, &w->batch.writes,
	    process_ask_terminal, &w->yes, &err);
	if (code == ERR_CANCELLED)
		return 130;
	if (code)
		complain("%s", err.message);
	return session_exit_status(code, NULL);
}

/* Does --live print one answer after another? */
static bool is_series(const struct wishes *w)
{
	return w->live && !w->n_lines && !w->plain && !wants_screen(w);
}

/* What --live watches; on the screen its page stands above the list of the dumps here. */
static int take_live(struct wishes *w)
{
	struct err err = ERR_INIT;
	int code = process_watch(w->live, w->process_dump.collect, &err);
	if (!code && w->never_screen && is_series(w))
		VEC_PUSH(w->lines, w->n_lines, w->cap_lines) =
		    (struct batch_line){.asked = invocation_of(process_watch_line())};
	if (!code && is_series(w) && w->batch.print.format == PRINT_JSON)
		return wrong("--live prints one result after another, which is not one JSON document (use --format jsonl, or "
		    "-n for a single result)");
	if (code)
		complain("%s", err.message);
	return code ? session_exit_status(code, NULL) : wants_screen(w) ? take_here(w) : 0;
}

/* The format of --output, before anything is done for it. */
static int take_format(struct wishes *w)
{
	struct err err = ERR_INIT;
	return w->batch.output && !w->format_given && print_format_of_file(w->batch.output, &w->batch.print.format, &err) ?
	    wrong("%s", err.message) : 0;
}

/* What was named: the last one is the dump to look at, those before it are older; or all are profiles. */
static int take_names(struct wishes *w, char **name, size_t n)
{
	static const char sample[] = CAIRN_DATADIR "/samples/shop.hprof";
	if (n && !w->process && process_is_named(name[n - 1]))
		w->process = name[--n];
	if (!w->process && (w->process_dump.keep || (w->process_dump.collect && !w->live) || w->yes))
		return wrong("--keep, --gc and --yes are about a dump of a process: cairn --keep FILE PID");
	if (n == 1 && !w->process && folder_is(name[0]))
		return take_folder(w, name[0]);
	if (!n && !w->tour && !w->process && !w->live && wants_screen(w))
		return take_here(w);
	if (is_command_only(name, n))
		return wrong("%s: no such file, run a command with -x: cairn -x '%s'%s", name[0], name[0],
		    strcmp(name[0], "help") ? " DUMP" : ", without a dump");
	if (n && !w->process && !source_has_no_file(name[n - 1]) && process_has_name(name[n - 1])) {
		complain("%s: no such file (a process has this in its name or command: cairn -p %s dumps it)", name[n - 1],
		    name[n - 1]);
		return 3;
	}
	if (w->live)
		return take_live(w);
	if (w->process) {
		w->batch.older = (const char *const *)name;
		w->batch.n_older = n;
		return take_process(w);
	}
	if (n)
		w->heap.path = name[n - 1];
	else if (w->tour && !file_readable(sample)) {
		complain("the sample is not installed (%s: %s): use cairn --tour DUMP", sample, strerror(errno));
		return 3;
	} else if (w->tour)
		w->heap.path = sample;
	if (n > 1) {
		w->batch.older = (const char *const *)name;
		w->batch.n_older = n - 1;
	}
	if (w->heap.path && profile_is_file(w->heap.path)) { /* then all are profiles, and no dump is current */
		w->batch.older = (const char *const *)name;
		w->batch.n_older = n;
		w->heap.path = NULL;
	}
	return 0;
}

/* What the command line names to be read is not written to, from now to the end. */
static void hold_named(const struct wishes *w)
{
	if (w->heap.path)
		(void)!source_hold(w->heap.path, "the dump");
	for (size_t i = 0; i < w->batch.n_older; i++)
		(void)!source_hold(w->batch.older[i], "an older dump");
	for (size_t i = 0; w->folder && i < w->folder->n; i++)
		(void)!file_hold_path(w->folder->file[i].path, "a dump of this session");
	if (w->heap.dump.javacore)
		(void)!file_hold_path(w->heap.dump.javacore, "the javacore of the dump");
	if (w->heap.dump.exe)
		(void)!file_hold_path(w->heap.dump.exe, "the program of the dump");
	for (size_t i = 0; i < w->n_lines; i++) {
		if (w->lines[i].script && !strcmp(w->lines[i].script, "-"))
			(void)!file_hold_open(STDIN_FILENO, "standard input");
		else if (w->lines[i].script)
			(void)!file_hold_path(w->lines[i].script, "a script that runs");
	}
}

static int run(struct wishes *w)
{
	hold_named(w);
	w->batch.heap = &w->heap;
	w->batch.lines = w->lines;
	w->batch.n_lines = w->n_lines;
	if (wants_screen(w)) {
		struct view_options o = {
		    .heap = &w->heap, .ascii = w->ascii, .mouse = !w->no_mouse, .color = w->color, .theme = w->theme,
		    .force = w->batch.writes.force, .print = w->batch.print, .start = w->start, .tour = w->tour,
		    .config = w->config, .older = w->batch.older, .n_older = w->batch.n_older,
		    .folder = w->batch.folder, .line = process_watch_line()};
		int status = view_run(&o);
		if (status != NO_SCREEN)
			return status;
		w->plain = true;
	}
	if (is_series(w))
		w->batch.next = process_watch_next, w->batch.next_must = true;
	if (w->plain)
		return view_run_plain(&w->batch, w->config);
	return batch_run(&w->batch);
}

/* Without --mem most of what is left is the limit: a refusal is a sentence, and the end of a process
 * that takes all memory is none.  Returns whether a file helps where that does not do. */
static bool limit_memory(void)
{
	struct memory_left left = memory_left_now();
	if (left.bytes == MEMORY_NO_BOUND)
		return true;
	char whose[100];
	snprintf(whose, sizeof whose, "the default (%d %% of the memory left by %s)", DEFAULT_MEM_PERCENT,
	    left.whose);
	uint64_t most = left.bytes / 100 * DEFAULT_MEM_PERCENT;
	big_set_limit(most ? most : 1, whose);
	return !left.addresses;
}

int main(int argc, char **argv)
{
	struct wishes w = {.never_screen = false};
	struct text members = TEXT_INIT;
	bool done = false;

	files_prepare();
	locale_take();
	emergency_reserve_fill();
	hash_seed_anew();
	help_set_keys(view_write_keys);
	name_members(&members, argc, argv);
	int code = read_options(&w, argc, argv, &done);
	if (!code && !done)
		code = name_dumps(&w, &members, argc, argv);
	if (!code && !done)
		code = configure(&w, argc, argv);
	if (!code && !done)
		code = take_format(&w);
	if (!code && !done)
		code = take_names(&w, argv + optind, (size_t)(argc - optind));
	if (!code && !done) {
		if (!w.heap.path && !w.n_lines && !w.batch.n_older && !w.batch.folder && !w.live)
			code = wrong("usage: cairn [OPTION]... DUMP, or cairn -x processes to list the running VMs");
		else if (w.heap.index && w.heap.no_index)
			code = wrong("--index and --no-index exclude each other");
		else {
			if (!w.no_config && !w.tour)
				layouts_file_read();
			bool helps = w.mem_given || limit_memory();
			spill_allow(w.spill_given ? !w.no_spill : helps);
			code = take_archive(&w);
			code = code ? code : run(&w);
		}
	}
	drop_lines(&w);
	folder_free(w.folder);
	config_free(w.config);
	text_release(&members);
	if ((fflush(stdout) || ferror(stdout)) && !code) {
		complain("standard output: %s", strerror(errno));
		code = session_exit_status(ERR_IO, NULL);
	}
	return code;
}
