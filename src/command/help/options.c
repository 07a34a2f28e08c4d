/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - the program's options, and what is written from their table.
 */
#include "command/help/help.h"

#include <string.h>

const struct program_option program_options[] = {
    {OPTION_COMMAND, "command", "CMD", "run a command line and print its result",
	"May be given several times. The screen does not open."},
    {OPTION_FILE, "file", "FILE", "run the lines of a script (-: standard input)",
	"The first line that fails ends the script. The screen does not open."},
    {OPTION_BATCH, "batch", NULL, "never open the screen",
	"Without -x or -f, cairn prints the overview and the largest classes, as it does if the output is not a "
	"terminal."},
    {OPTION_PLAIN, "plain", NULL, "a prompt for commands instead of the screen",
	"For screen readers, serial lines and pipes: type a command on each line; its result follows, as -x prints "
	"it. Tab completes, ^C stops a command, ^D or quit ends cairn. -x and -f run first. A terminal without cursor "
	"addressing (TERM=dumb) has this prompt without the option."},
    {OPTION_FORMAT, "format", "text|csv|json|jsonl|md|html", "format of results (text)", NULL},
    {OPTION_CSV, "csv", "safe|raw", "CSV marks texts like formulas (safe) or not",
	"safe puts an apostrophe before a text of the dump that a spreadsheet would read as a formula: it begins with "
	"= + - or @ and is not a number. raw does not. Numbers never get one."},
    {OPTION_OUTPUT, "output", "FILE", "file for the results (standard output)",
	"Without --format the ending gives the format: .csv .json .jsonl .md .html; .txt, .log or none is text, any "
	"other an error. Several results in JSON are one array with an element for each."},
    {OPTION_FORCE, "force", NULL, "let -o, > and --keep replace a heap dump",
	"Without it cairn never replaces a heap dump or appends to it, and the screen asks before it replaces any "
	"file. cairn never writes to files that it reads: the dump, its program, its javacore and scripts."},
    {OPTION_TOP, "top", "N", "at most N rows of each result",
	"Default: all rows, and a screenful in text on a terminal."},
    {OPTION_JAVACORE, "javacore", "FILE", "the javacore of an OpenJ9 dump (found)", NULL},
    {OPTION_EXE, "exe", "FILE", "the program that wrote a Go dump (found)",
	"Its DWARF gives objects their types. By default cairn takes a matching executable in the dump's directory: "
	"the same name with .elf or without an ending, and without the numbers of a series (heap.elf for heap-3.dump)."},
    {OPTION_INDEX, "index", "FILE", "the index of the dump; written if missing",
	"Default: DUMP.cairn, or that name in $XDG_CACHE_HOME/cairn. If FILE is missing or an older index of this "
	"dump, cairn writes it after the last -x or -f. On the screen it does so when retained sizes are known. It never "
	"changes any other file. Besides this option, only the command index writes one. DUMP may be an index itself: "
	"cairn opens it with its dump, or without."},
    {OPTION_NO_INDEX, "no-index", NULL, "read the dump and ignore all indexes", NULL},
    {OPTION_SIZES, "sizes", "true|mat", "shallow sizes of the VM (true) or of Eclipse MAT", NULL},
    {OPTION_DUMP, "dump", "N", "heap number, in a file with several (the last)", NULL},
    {OPTION_PROCESS, "process", "PID|NAME", "dump a running VM or Go program into memory, and open it",
	"cairn PID does the same. NAME is a part of the command line that only one process has. cairn says what it is "
	"about to do and asks. A VM writes its heap into a pipe, so no disk is used, and pauses meanwhile. A Go program "
	"pauses while cairn copies its memory, about 0.2 s for 1 GB."},
    {OPTION_YES, "yes", NULL, "dump the process without asking",
	"Without a terminal cairn never asks."},
    {OPTION_KEEP, "keep", "FILE", "with a process: keep its dump in a file, too",
	"An existing file is replaced, but a heap dump only with --force."},
    {OPTION_GC, "gc", NULL, "with a process: a full collection first",
	"Without it all objects are dumped, also those that no root reaches. With --live the VM collects before each "
	"answer."},
    {OPTION_LIVE, "live", "PID|NAME", "watch the class histogram of a running VM",
	"On the screen it is asked for every two seconds; without one it is printed every two seconds until ^C, with "
	"-n once. -x and -f run their lines instead."},
    {OPTION_PROGRESS, "progress", "auto|always|never", "progress on standard error",
	"auto, the default: if standard error is a terminal and loading takes over half a second."},
    {OPTION_THREADS, "threads", "N", "worker threads (the processors available)", NULL},
    {OPTION_MEM, "mem", "SIZE", "memory limit (512M, 2G); other data is in a file",
	"The mapped dump does not count. The default is 85 % of the memory that is free at the start: the least of the "
	"machine's, its control group's, and ulimit -v and -d. none sets no limit. Data beyond the limit goes into a "
	"temporary file (--spill): that takes longer and changes no result."},
    {OPTION_SPILL, "spill", "DIR|none", "folder for data beyond --mem",
	"A temporary file without a name in this folder, by default in $TMPDIR, else /var/tmp. It disappears with the "
	"process. cairn reserves its space before it writes, and keeps some of the disk free. If ulimit -v is the "
	"limit, only this option enables it, because a mapped file takes addresses too. With none, data beyond the "
	"limit is refused: if memory suffices for objects but not for references, histo, ls, tree and info still "
	"work, and the exit status is 4."},
    {OPTION_START, "start", "overview|histo|heap|leaks|threads|packages|info|growth", "the first page",
	"The screen shows the histogram until this page is ready. If you press a key before, it stays. growth needs "
	"older dumps; without them the first page is the histogram. The default is overview, which fills in."},
    {OPTION_COLOR, "color", "auto|always|never", "colours of the screen", "cairn honours NO_COLOR."},
    {OPTION_THEME, "theme", "auto|dark|light|classic8|mono", "colour theme",
	"dark and light are for a dark or a light background, with the colours of the terminal: direct, 256, 16 or 8. "
	"classic8 has eight colours that are readable on most backgrounds; mono has none. auto takes the background "
	"from COLORFGBG, or asks the terminal; without an answer its colours are readable on black and on white."},
    {OPTION_ASCII, "ascii", NULL, "ASCII characters only on the screen", NULL},
    {OPTION_NO_MOUSE, "no-mouse", NULL, "clicks and the wheel are the terminal's", NULL},
    {OPTION_MOUSE, "mouse", NULL, NULL, NULL},
    {OPTION_TOUR, "tour", NULL, "a tour of the sample in two minutes",
	"Opens the sample shop.hprof, or the DUMP that you name, and explains above each view where to look and which "
	"key comes next."},
    {OPTION_DUMP_CONFIG, "dump-config", NULL, "write the default configuration",
	"With comments, ready for $XDG_CONFIG_HOME/cairn/config."},
    {OPTION_NO_CONFIG, "no-config", NULL, "ignore the configuration", NULL},
    {OPTION_VERSION, "version", NULL, "print the version", NULL},
    {OPTION_HELP, "help", NULL, "a summary of the options", NULL},
    {OPTION_DUMP_DOCS, "dump-docs", "man|bash|zsh|fish|schema|commands", NULL, NULL},
    {0, NULL, NULL, NULL, NULL},
};

/* --help is a screen long: what it says in one line of an option and the one behind it. */
static const struct {
	int key;
	const char *says;
} joined[] = {
    {OPTION_COMMAND, "run a command (try -x help); run a script"},
    {OPTION_BATCH, "print and exit; --plain: a prompt, no screen"},
    {OPTION_FORMAT, "format of results"},
    {OPTION_OUTPUT, "file for results; let files replace a dump"},
    {OPTION_SIZES, "sizes of the VM or MAT; number of the heap"},
    {OPTION_MEM, "memory limit (2G); folder for the rest"},
    {OPTION_JAVACORE, "with an OpenJ9 dump; program of a Go dump"},
    {OPTION_INDEX, "read or write this index; ignore indexes"},
    {OPTION_PROCESS, "dump a running VM and open it; do not ask"},
    {OPTION_KEEP, "keep its dump; a full collection first"},
    {OPTION_PROGRESS, "progress; worker threads"},
    {OPTION_COLOR, "colours"},
    {OPTION_ASCII, "screen with ASCII only; without the mouse"},
    {OPTION_DUMP_CONFIG, "print the configuration; ignore yours"},
    {OPTION_VERSION, "print the version; print this help"},
};

static const char *joined_says(const struct program_option *o)
{
	for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
		if (joined[i].key == o->key)
			return joined[i].says;
	return NULL;
}

static void option_spelling(const struct program_option *o, struct text *to)
{
	if (o->key < 256)
		text_addf(to, "-%c, ", o->key);
	text_addf(to, "--%s", o->name);
	if (o->argument)
		text_addf(to, " %s", o->argument);
}

bool options_write_one(const char *name, struct text *to)
{
	for (const struct program_option *o = program_options; o->name; o++) {
		if (!o->summary || (name && strcmp(o->name, name)))
			continue;
		text_add(to, to->len ? "\n" : "");
		option_spelling(o, to);
		text_addf(to, "\t%s%s%s", o->summary, o->more ? ". " : "", o->more ? o->more : "");
	}
	return to->len;
}

void options_write_help(struct text *to)
{
	text_add(to, "cairn [OPTION]... [OLD]... DUMP   open a dump (-: a pipe), compare it with OLD\n"
	    "cairn [OPTION]... [DIRECTORY]     list its dumps (here: and the running VMs)\n"
	    "cairn [OPTION]... PID             dump the heap of a running VM and open it\n");
	for (const struct program_option *o = program_options; o->name; o++) {
		struct text spelling = TEXT_INIT;
		const char *both = joined_says(o), *says = both ? both : o->summary;
		if (!says)
			continue;
		text_add(&spelling, o->key < 256 ? "" : "    ");
		option_spelling(o, &spelling);
		if (both) {
			text_add(&spelling, ", ");
			option_spelling(++o, &spelling);
		}
		text_addf(to, "  %-30s  %s\n", spelling.s, says);
		text_release(&spelling);
	}
	text_add(to, "exit status: 0 success, 1 not found or a check failed, 2 wrong usage or\n"
	    "             not written, 3 dump or VM unreadable or no memory, 4 read in part\n");
}

void troff_add(struct text *to, const char *s)
{
	bool first = !to->len || to->s[to->len - 1] == '\n';
	for (; *s; s++) {
		if (first && (*s == '.' || *s == '\''))
			text_add(to, "\\&");
		first = *s == '\n';
		if (*s == '\\')
			text_add(to, "\\e");
		else if (*s == '-')
			text_add(to, "\\-");
		else
			text_add_char(to, *s);
	}
}

void options_write_man(struct text *to)
{
	text_add(to, ".SH OPTIONS\n");
	for (const struct program_option *o = program_options; o->name; o++) {
		if (!o->summary)
			continue;
		text_add(to, ".TP\n.B ");
		if (o->key < 256)
			text_addf(to, "\\-%c, ", o->key);
		text_add(to, "\\-\\-");
		troff_add(to, o->name);
		if (o->argument) {
			text_add(to, " \\fI");
			troff_add(to, o->argument);
			text_add(to, "\\fR");
		}
		text_add(to, "\n");
		troff_add(to, o->summary);
		text_add(to, ".\n");
		if (o->more) {
			troff_add(to, o->more);
			text_add(to, "\n");
		}
	}
}
