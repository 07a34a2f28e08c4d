/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.c - the program's options, and what is written from their table.
 */
#include "command/help/help.h"

#include <string.h>

const struct program_option program_options[] = {
    {OPTION_COMMAND, "command", "CMD", "run a command line and print its result",
	"May be given several times. No screen is opened."},
    {OPTION_FILE, "file", "FILE", "run the lines of a script (-: standard input)",
	"The first line that fails ends the script. No screen is opened."},
    {OPTION_BATCH, "batch", NULL, "never open the screen",
	"Without -x or -f the overview and the largest classes are printed, as they are when the "
	"output is no terminal."},
    {OPTION_PLAIN, "plain", NULL, "a prompt for commands instead of the screen",
	"For screen readers, serial lines and pipes: each line that is typed is a command, and its result is printed "
	"below, as -x prints it. Tab completes, ^C stops a command, ^D or quit leaves. -x and -f run first. Where the "
	"terminal cannot place its cursor (TERM=dumb) there is such a prompt without the option."},
    {OPTION_FORMAT, "format", "text|csv|json|jsonl|md|html", "how results are printed (text)", NULL},
    {OPTION_CSV, "csv", "safe|raw", "CSV marks texts like formulas (safe) or not",
	"A text from the dump that a spreadsheet would take for a formula, because it begins with = + - or @ and is "
	"no number, gets an apostrophe in front; raw leaves it as it is. Numbers are never marked."},
    {OPTION_OUTPUT, "output", "FILE", "where results go (standard output)",
	"Without --format as the file's ending says: .csv .json .jsonl .md .html; .txt, .log or none is text, and any "
	"other a mistake. Several results in JSON are one text there: an array with an element for each."},
    {OPTION_FORCE, "force", NULL, "let -o and > replace what is a heap dump",
	"Without it a file that is a heap dump is not replaced or written behind, and on the screen "
	"a question is asked before any file is replaced. The files that are read here, the dump, its "
	"program, its javacore and scripts, are never written to."},
    {OPTION_TOP, "top", "N", "at most N rows of each result",
	"By default all, and a screenful in text on a terminal."},
    {OPTION_JAVACORE, "javacore", "FILE", "the javacore of an OpenJ9 dump (found beside)", NULL},
    {OPTION_EXE, "exe", "FILE", "the program that wrote a Go dump (found beside)",
	"Its DWARF gives objects their types. An executable beside the dump, of the same name with .elf or "
	"without an ending, and without the numbers of a series (heap.elf of heap-3.dump), is taken if it "
	"fits."},
    {OPTION_INDEX, "index", "FILE", "the index of the dump; written if it is not there",
	"Without the option it is DUMP.cairn, or such a file in $XDG_CACHE_HOME/cairn. Where FILE is not there, or is "
	"an older index of this dump, it is written behind the last -x or -f (on the screen when retained sizes are "
	"there); any other file is left as it is. Nothing else but the command index writes one. DUMP may be an index "
	"itself: then it is opened with its dump, or without."},
    {OPTION_NO_INDEX, "no-index", NULL, "read the dump, whatever indexes there are", NULL},
    {OPTION_SIZES, "sizes", "true|mat", "shallow sizes of the VM (true) or of MAT", NULL},
    {OPTION_DUMP, "dump", "N", "which heap of a file with several (the last)", NULL},
    {OPTION_PROGRESS, "progress", "auto|always|never", "progress on standard error",
	"auto, the default: when standard error is a terminal and loading takes longer than half a "
	"second."},
    {OPTION_THREADS, "threads", "N", "worker threads (the processors available)", NULL},
    {OPTION_MEM, "mem", "SIZE", "use no more memory, but a file (512M, 2G)",
	"The mapped dump does not count. The default is 85 % of what the machine has left when cairn "
	"starts, or its control group, or ulimit -v and -d, whichever is least; none is no limit. What does not fit goes "
	"into a temporary file (--spill), which takes longer and changes no answer."},
    {OPTION_SPILL, "spill", "DIR|none", "where large data goes that --mem does not hold",
	"A file without a name in this folder, which is gone with the process, whatever ends it: in $TMPDIR, else "
	"/var/tmp. Its room is taken before it is written, and some of the disk stays free. Where ulimit -v is the limit "
	"there is none unless this option names a folder, for a file takes addresses, too. With none what does not fit "
	"is refused: where memory suffices for the objects but not for their references, histo, ls, tree and info still "
	"work, and the exit status is 4."},
    {OPTION_START, "start", "histo|heap|leaks|threads|packages|info|growth", "the first page",
	"The page that the screen goes to as soon as it is there; until then the histogram is shown. Keys that "
	"come before keep it there. growth takes older dumps; without them it is the histogram."},
    {OPTION_COLOR, "color", "auto|always|never", "colours of the screen", "NO_COLOR is honoured."},
    {OPTION_THEME, "theme", "auto|dark|light|classic8|mono", "which colours",
	"dark and light are for such a background, with direct colours, 256, 16 or 8, whatever the terminal has; classic8 "
	"takes eight colours that can be read on most, mono none. auto goes by the background as COLORFGBG tells it, "
	"else it is classic8."},
    {OPTION_ASCII, "ascii", NULL, "no character beyond ASCII on the screen", NULL},
    {OPTION_MOUSE, "mouse", NULL, "the mouse works on the screen", NULL},
    {OPTION_TOUR, "tour", NULL, "a tour of two minutes with the sample",
	"Opens the sample shop.hprof, or the DUMP that is named, and says above each view what to look at and which key "
	"comes next."},
    {OPTION_DUMP_CONFIG, "dump-config", NULL, "write the defaults of the configuration",
	"They come with remarks, ready for $XDG_CONFIG_HOME/cairn/config."},
    {OPTION_NO_CONFIG, "no-config", NULL, "leave the configuration out", NULL},
    {OPTION_VERSION, "version", NULL, "say which version this is", NULL},
    {OPTION_HELP, "help", NULL, "this", NULL},
    {OPTION_DUMP_DOCS, "dump-docs", "man|bash|zsh|fish|schema", NULL, NULL},
    {0, NULL, NULL, NULL, NULL},
};

/* --help is a screen long: what it says in one line of an option and the one behind it. */
static const struct {
	int key;
	const char *says;
} joined[] = {
    {OPTION_BATCH, "no screen: print and end; ask for commands"},
    {OPTION_SIZES, "sizes of the VM or of MAT; which heap of many"},
    {OPTION_MEM, "the most memory (2G); a folder for the rest"},
    {OPTION_JAVACORE, "of OpenJ9, of Go (found beside the dump)"},
    {OPTION_INDEX, "the file to open at once from; none"},
    {OPTION_PROGRESS, "progress; worker threads"},
    {OPTION_ASCII, "nothing beyond ASCII; the mouse works"},
    {OPTION_DUMP_CONFIG, "write the default configuration; read none"},
    {OPTION_VERSION, "say which version this is; this"},
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

void options_write_help(struct text *to)
{
	text_add(to, "cairn [OPTION]... [OLD]... DUMP   browse a dump; -: a pipe; ZIP::NAME; OLD: diff\n"
	    "cairn [OPTION]... -x CMD DUMP     run a command, print its result (try -x help)\n");
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
	text_add(to, "exit status: 0 fine, 1 not found, a check failed, 2 wrong usage, not written,\n"
	    "             3 the dump cannot be read, or no memory, 4 it was read in part\n");
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
		troff_add(to, o->key == OPTION_HELP ? "a summary of the options" : o->summary);
		text_add(to, ".\n");
		if (o->more) {
			troff_add(to, o->more);
			text_add(to, "\n");
		}
	}
}
