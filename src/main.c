/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - options, then the screen or batch.
 */
#include "base/big.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "command/help/help.h"
#include "command/run/run.h"
#include "dump/program/program.h"
#include "view/view.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define USAGE 2

/* What the command line asks for. */
struct wishes {
	struct heap_options heap;
	struct batch_options batch;
	struct batch_line *lines;
	size_t n_lines, cap_lines;
	bool never_screen, ascii, mouse, format_given;
	int color; /* -1 never, 0 auto, 1 always */
};

static int __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("cairn: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs(" (cairn --help tells more)\n", stderr);
	va_end(arguments);
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
	if (!strcmp(what, "man"))
		view_write_man(&t);
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

/* Options with a number or a size. */
static int take_number(struct wishes *w, const struct program_option *o, const char *value)
{
	unsigned long n = 0;
	uint64_t bytes;
	if (o->key == OPTION_MEM) {
		if (!parse_size(value, &bytes) || !bytes)
			return wrong("--mem %s is no size, as 512M or 2G are", value);
		big_set_limit(bytes);
		return 0;
	}
	if (!number(value, o->key == OPTION_THREADS ? 1024 : UINT32_MAX, &n))
		return wrong("--%s %s is no number it can take", o->name, value);
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
		return wrong("--%s %s: it is one of %s", o->name, value, o->argument);
	switch (o->key) {
	case OPTION_FORMAT:
		print_format_parse(value, &w->batch.print.format);
		w->format_given = true;
		break;
	case OPTION_SIZES:
		w->heap.mat_sizes = n == 1;
		break;
	case OPTION_PROGRESS:
		w->batch.progress = (enum progress_wish)n;
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
		VEC_PUSH(w->lines, w->n_lines, w->cap_lines) =
		    (struct batch_line){.text = value, .script = o->key == OPTION_FILE};
		return 0;
	case OPTION_BATCH:
		w->never_screen = true;
		return 0;
	case OPTION_OUTPUT:
		w->batch.output = value;
		return 0;
	case OPTION_JAVACORE:
		w->heap.dump.javacore = value;
		return 0;
	case OPTION_EXE:
		w->heap.dump.exe = value;
		return 0;
	case OPTION_ASCII:
		w->ascii = true;
		return 0;
	case OPTION_MOUSE:
		w->mouse = true;
		return 0;
	case OPTION_TOP:
	case OPTION_DUMP:
	case OPTION_THREADS:
	case OPTION_MEM:
		return take_number(w, o, value);
	case OPTION_VERSION:
		*done = true;
		return printf("%s %s (%s)\n", PACKAGE_NAME, PACKAGE_VERSION, program_support() ?
		    program_support() : "without libdw: a Go dump's program is not read") < 0;
	case OPTION_HELP:
		*done = true;
		return help();
	case OPTION_DUMP_DOCS:
		*done = true;
		return choice(o->argument, value) < 0 ?
		    wrong("--dump-docs: it is one of %s", o->argument) : dump_docs(value);
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
static void getopt_tables(struct option *table, struct text *letters)
{
	size_t n = 0;
	text_add(letters, ":");
	for (const struct program_option *o = program_options; o->name; o++) {
		table[n++] = (struct option){
		    o->name, o->argument ? required_argument : no_argument, NULL, o->key};
		if (o->key < 256)
			text_addf(letters, "%c%s", o->key, o->argument ? ":" : "");
	}
	table[n] = (struct option){NULL, 0, NULL, 0};
}

static int read_options(struct wishes *w, int argc, char **argv, bool *done)
{
	struct option table[64];
	struct text letters = TEXT_INIT;
	int key, code = 0;
	getopt_tables(table, &letters);
	opterr = 0;
	while (!code && !*done && (key = getopt_long(argc, argv, letters.s, table, NULL)) != -1) {
		const char *word = argv[optind - 1];
		if (key == ':')
			code = wrong("%s wants a value", word);
		else if (key == '?' && optopt && optopt < 256 && word[0] == '-' && word[1] != '-')
			code = wrong("no option -%c", optopt);
		else if (key == '?')
			code = wrong("no option %s, or it takes no value", word);
		else
			code = take_option(w, option_of(key), optarg, done);
	}
	text_release(&letters);
	return code;
}

static bool wants_screen(const struct wishes *w)
{
	return !w->never_screen && !w->n_lines && !w->batch.output && isatty(STDIN_FILENO) &&
	    isatty(STDOUT_FILENO);
}

static int run(struct wishes *w)
{
	w->batch.heap = &w->heap;
	w->batch.lines = w->lines;
	w->batch.n_lines = w->n_lines;
	if (w->batch.output && !w->format_given)
		w->batch.print.format = print_format_of_file(w->batch.output);
	if (wants_screen(w)) {
		struct view_options o = {
		    .heap = &w->heap, .ascii = w->ascii, .mouse = w->mouse, .color = w->color};
		return view_run(&o);
	}
	return batch_run(&w->batch);
}

int main(int argc, char **argv)
{
	struct wishes w = {.never_screen = false};
	bool done = false;

	setlocale(LC_ALL, "");
	int code = read_options(&w, argc, argv, &done);
	if (!code && !done) {
		if (optind < argc)
			w.heap.path = argv[optind];
		if (optind + 1 < argc)
			code = wrong("%s: one dump is opened at a time", argv[optind + 1]);
		else if (!w.heap.path && !w.n_lines)
			code = wrong("a dump is missing: cairn DUMP");
		else
			code = run(&w);
	}
	free(w.lines);
	return code;
}
