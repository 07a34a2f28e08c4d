/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help.c - help, from the table of commands; and pages on what all commands share.
 */
#include "command/help/help.h"

#include "command/args/args.h"
#include "command/commands.h"
#include "command/parse/parse.h"
#include "command/table_options.h"

#include <stdlib.h>
#include <string.h>

/* --- pages ------------------------------------------------------------------------------------ */

static void (*write_screen_keys)(struct text *to);

void help_set_keys(void (*write)(struct text *to))
{
	write_screen_keys = write;
}

static void write_keys(struct text *to)
{
	if (write_screen_keys)
		write_screen_keys(to);
}

static void write_pipes(struct text *to)
{
	text_add(to, "Options of every table, unless its command has an option of this name itself:\n");
	for (const struct option_spec *o = table_options; o->word; o++)
		text_addf(to, "%s%s%s\t%s\n", option_name(o), o->value ? " " : "", o->value ? o->value : "", o->summary);
	text_add(to, "Stages after a command:\n");
	for (const struct pipe_stage *p = pipe_stages; p->name; p++)
		text_addf(to, "| %s\t%s\n", p->usage, p->summary);
	text_add(to, "| !COMMAND\tpass text (or the format set) to a shell command and report its failure\n"
	    "> FILE, >> FILE\twrite or append to a file; its ending gives the format");
}

extern const char *const containers_txt[]; /* that section of the manual, which the build takes from there */

static void write_containers(struct text *to)
{
	for (const char *const *line = containers_txt; *line; line++)
		text_addf(to, "%s%s", *line, line[1] ? "\n" : "");
}

const struct help_page help_pages[] = {
    {"input", "dumps in files, archives and pipes; several at once",
	"cairn FILE opens a dump. cairn recognises the format by the content, not by the name. It unpacks gzip, zstd, "
	"xz, bzip2, lz4, lzip and compress in memory (cairn heap.hprof.gz). Data beyond --mem goes into a temporary "
	"file (--spill). cairn --version lists the compressions of this build.\n"
	"An archive is zip or tar, compressed or not:\n"
	"cairn dumps.zip\topens its dump, or lists several\n"
	"cairn dumps.zip::heap.hprof\topens one of several\n"
	"cairn outer.tar::inner.zip::heap.hprof\topens one of an archive within an archive\n"
	"The command open and older dumps take the same names.\n"
	"cairn - reads standard input (stdin): a dump, compressed or not, or an archive of one dump; cairn "
	"-::heap.hprof takes one of several.\n"
	"kubectl exec POD -- cat /tmp/heap.hprof | cairn -\n"
	"ssh HOST cat heap.hprof.gz | cairn -x report -\n"
	"cairn -x report <(ssh HOST cat heap.hprof)\n"
	"cairn keeps a piped dump in a temporary file without a name until it ends. The file is in --spill DIR, else "
	"$TMPDIR, else /var/tmp; else the dump is in memory. Keys come from the terminal. For a pipe, name other files "
	"by --javacore, --exe and index FILE.\n"
	"cairn reads the parts of an interrupted GC.heap_dump -parallel together (heap.hprof, heap.hprof.p0 ...), also "
	"with -gz or in an archive.\n"
	"cairn DIRECTORY lists its dumps and profiles, but does not search archives there; Enter opens one. T tags "
	"rows; growth, trend and diff then compare only these: cairn -x 'tag 1 3' -x growth DIRECTORY. If a directory "
	"or an archive has a single dump, cairn opens it.\n"
	"cairn OLD... DUMP opens the last dump and compares it with the older dumps or profiles.\n"
	"cairn shows a truncated or damaged dump up to the damage: a warning names the last sound byte, numbers are "
	"lower bounds (>=), and the exit status is 4. It is 3 if cairn can read nothing.", NULL},
    {"containers", "how to dump a VM in a container or a pod", NULL, write_containers},
    {"values", "how objects, classes, threads and sizes are written",
	"0xE0000AF0\tan object by address, in either case, with or without 0x\n"
	"#ID\tan object by its number in address order, from 0\n"
	"%N\trow N of the last table, from 1; %2-5 or %1,4: several rows\n"
	"$name\ta kept set of objects; $_: the objects of the last result\n"
	"CLASS\tthe class object, where an object is needed\n"
	"CLASS.FIELD\tthe object in a static field, or in a global variable by its name\n"
	"A class pattern is one of:\n"
	"java.lang.String\ta name as Java or the VM writes it (java/lang/String, java.lang.String[], [C, char[]), or "
	"a last part that is unique (String)\n"
	"*HashMap*\ta glob; ? is one character\n"
	"/regex/\ta POSIX extended regular expression\n"
	"0xADDRESS\ta class object; or any set of objects\n"
	"A thread is its id, its name or a unique part of it, %N, or its thread object.\n"
	"A set of objects is an object, a class pattern, %N, $name or heap:app (Android's heap of this name). Join sets "
	"by + (union), - (difference) and & (intersection, binds closest), with blanks around them, and ( ). "
	"$name = COMMAND keeps the objects that the rows represent, $name = SET those of a set; sets lists them.\n"
	"On the screen the selected row replaces a missing argument (path, x, entries, cut, ls, size ...): exactly "
	"the objects that it counts. The word . is the object of the page, or the selected row: size . + $leak.\n"
	"Sizes: 512, 64K, 2M, 1.5G (powers of 1024).\n"
	"Quote words with blanks, | or >: '...' or \"...\", or put a \\ before each.", NULL},
    {"pipes", "filters, shell commands and files after a command",
	NULL, write_pipes},
    {"formats", "text, csv, json, jsonl, md and html; certainty",
	"text\tfor people: sizes as 2.9M (powers of 1024), counts with separators; ~ marks an inferred number, >= a "
	"lower bound, ? an unknown value\n"
	"md\tthe same as a table for issues and wikis, with notes below\n"
	"html\tthe same as a page without scripts, with notes below\n"
	"csv\tRFC 4180\n"
	"json\tan array of objects for each command, an object for a one-row result; several results in one --output "
	"file are an array of these\n"
	"jsonl\tan object on each line\n"
	"text, md and html have a table's main columns; set wide on adds the others (hidden), which csv, json and "
	"jsonl always have.\n"
	"csv, json and jsonl have the same names. Numbers are plain bytes, counts or percents (share: 36.8), "
	"addresses are strings 0x..., unknown or inapplicable values are empty or null. Single values above a table "
	"(x, cut and others) and its rows are one json object, the rows as \"fields\". In csv they are two tables "
	"with an empty line between.\n"
	"Control characters, invalid UTF-8 and characters that change the direction of text become \\n, \\t, \\xHH "
	"and \\uHHHH in every format. A backslash of the text stays a single one.\n"
	"If numbers of a column NAME are not all exact, a column NAME_certainty follows the others: exact, lower "
	"bound, inferred or unknown.\n"
	"cairn --dump-docs schema prints a JSON Schema of all results.\n"
	"save FILE and > FILE take the format from the ending: .csv .json .jsonl .md .html; .txt, .log or none is "
	"text, any other an error.", NULL},
    {"keys", "the keys of the screen", NULL, write_keys},
    {"mouse", "clicks and the wheel on the screen",
	"Hold Shift, in some terminals Option, to select text. cairn --no-mouse DUMP, or mouse = off in the "
	"configuration, leaves the mouse to the terminal. The types linux, vt* and ansi* have no mouse.\n"
	"click on a row\tselects it; a click on the selected row opens it, as Enter does\n"
	"double click\tselects a row and opens it\n"
	"click on a column's name\tsorts by the column; again: reverses the order\n"
	"click on a page's name\topens the page, as the keys 1 to 9 do\n"
	"click on a view's title\tin the path of views: returns to that view\n"
	"click on a box\tabove the rows of heap: goes to its row\n"
	"click on a hint\tpresses its key\n"
	"click in a pane\topens the line's object or command; the list keeps its row\n"
	"wheel\tscrolls the list, text or pane under the pointer by three rows", NULL},
    {"theme", "colours of the screen",
	"--theme NAME sets the colours once; theme = NAME in the configuration keeps them (cairn --dump-config writes a "
	"configuration to change).\n"
	"auto\tdark or light by the variable COLORFGBG or the terminal's answer, else readable on both (default)\n"
	"dark\tfor a dark background, in direct colours, 256, 16 or 8, as the terminal has\n"
	"light\tthe same for a light background\n"
	"classic8\teight colours readable on most backgrounds\n"
	"mono\tno colours\n"
	"Classes of the program are bright, library classes dim, arrays blue-grey. Texts are green, numbers of the dump "
	"amber, leak suspects red, inexact figures dim.\n"
	"--color never, or color = never in the configuration, turns colours off. auto, the default, honours the variable "
	"NO_COLOR; always ignores it. No meaning depends on colours alone. --ascii replaces characters that fonts may "
	"lack.",
	NULL},
    {NULL, NULL, NULL, NULL},
};

void help_page_text(const struct help_page *p, struct text *to)
{
	if (p->text)
		text_add(to, p->text);
	else
		p->write(to);
}

bool help_page_apart(const struct help_page *p)
{
	return p->write == write_keys;
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct column help_columns[] = {
    {.id = COL_TEXT},
};
static const struct shape help_shape = {SHAPE_COLUMNS(help_columns)};

#define HELP_WIDTH 77 /* as wide as a page of text is in a terminal of 80 columns */
#define PAGE_MARGINS 3
#define HELP_TERM 24 /* a longer defined word has a line of its own */
#define FIRST_EXAMPLES 3 /* before the options */
#define HELP_WORDS 12 /* columns for names of commands and options */

static void add_line(struct result *r, const char *s, const char *command)
{
	struct target target = {.kind = TARGET_COMMAND, .command = command};
	result_add_row(r, &(struct cell){.type = CELL_TEXT, .text = s}, command ? &target : NULL);
}

/* What a line has room for: the page breaks longer ones once more. */
static unsigned line_width(const struct session *s)
{
	unsigned width = s->settings.print.width;
	unsigned page = s->interactive && width > 2 * PAGE_MARGINS ? width - PAGE_MARGINS : HELP_WIDTH;
	return page < HELP_WIDTH ? page : HELP_WIDTH;
}

/* n bytes in lines of so many columns; the first line begins with head, the others are indented as far. */
static void add_wrapped(struct result *r, unsigned width, const char *head, unsigned indent, const char *s, size_t n)
{
	struct text line = TEXT_INIT;
	const char *end = s + n;
	text_addf(&line, "%-*s", (int)indent, head);
	while (s < end) {
		size_t word = strcspn(s, " \n");
		if (line.len > indent && line.len + 1 + word > width) {
			add_line(r, line.s, NULL);
			text_clear(&line);
			text_addf(&line, "%*s", (int)indent, "");
		}
		if (line.len > indent)
			text_add_char(&line, ' ');
		text_add_n(&line, s, word);
		s += word;
		s += s < end;
	}
	add_line(r, line.s, NULL);
	text_release(&line);
}

/* The columns that the words of a text's definitions ("WORD\tMEANING" in a line) need. */
static unsigned definition_width(const char *s)
{
	size_t width = 0;
	for (; *s; s += strcspn(s, "\n"), s += *s != '\0') {
		size_t word = strcspn(s, "\t\n");
		width = s[word] == '\t' && word > width && word <= HELP_TERM ? word : width;
	}
	return (unsigned)width;
}

/* Paragraphs and definitions, a line each, in lines of so many columns, indented. */
static void add_text(struct result *r, unsigned width, const char *s, unsigned indent)
{
	unsigned terms = indent + definition_width(s) + 2;
	while (*s) {
		size_t n = strcspn(s, "\n"), word = strcspn(s, "\t\n");
		if (s[word] == '\t') {
			struct text head = TEXT_INIT;
			text_addf(&head, "%*s%.*s", (int)indent, "", (int)word, s);
			if (head.len + 2 > terms) {
				add_line(r, head.s, NULL);
				text_clear(&head);
			}
			add_wrapped(r, width, head.s ? head.s : "", terms, s + word + 1, n - word - 1);
			text_release(&head);
		} else {
			add_wrapped(r, width, "", indent, s, n);
		}
		s += n + (s[n] != '\0');
	}
}

/* What is said of a word, beside it; words stand in so many columns. */
static void add_pair(
    struct result *r, unsigned width, const char *left, const char *right, const char *command)
{
	struct text line = TEXT_INIT;
	text_addf(&line, "  %-*s  %s", (int)width, left, right);
	add_line(r, line.s, command);
	text_release(&line);
}

/* Commands by group, groups in the order of their first command. */
static void list_commands(struct result *r)
{
	for (size_t i = 0; commands[i]; i++) {
		bool first = true;
		for (size_t k = 0; k < i; k++)
			first &= strcmp(commands[k]->group, commands[i]->group) != 0;
		if (!first)
			continue;
		add_line(r, commands[i]->group, NULL);
		for (size_t k = i; commands[k]; k++) {
			if (strcmp(commands[k]->group, commands[i]->group))
				continue;
			struct text help = TEXT_INIT;
			text_addf(&help, "help %s", commands[k]->name);
			add_pair(r, HELP_WORDS, commands[k]->name, commands[k]->summary, help.s);
			text_release(&help);
		}
	}
	add_line(r, "more", NULL);
	for (const struct help_page *p = help_pages; p->name; p++) {
		struct text name = TEXT_INIT;
		text_addf(&name, "help %s", p->name);
		add_pair(r, HELP_WORDS, name.s, p->summary, name.s);
		text_release(&name);
	}
	add_line(r, "any unique prefix of a command works; help COMMAND explains it, apropos WORD searches", NULL);
	add_line(r, "names from other tools (dumpobj, info class, path2gc) work too: alias lists them", NULL);
}

const char *help_sample(enum sample on)
{
	static const char *const words[] = {
	    [ON_ANY] = "",
	    [ON_PHD] = " on data/heapdump.20261121.101500.4711.0001.phd",
	    [ON_SHOP] = " on data/shop.hprof",
	    [ON_GO] = " on data/gocart.dump",
	    [ON_SERIES] = " on data/shop-1.hprof data/shop-2.hprof data/shop.hprof",
	    [ON_PROCESS] = " on a running VM",
	};
	return words[on];
}

/* Examples from one on, as many as most: each under the name of the sample that it works on, and what it answers,
 * which is a remark to a script. */
static void add_examples(struct result *r, const char *title, const struct example *first, unsigned most)
{
	struct text line = TEXT_INIT;
	for (const struct example *e = first; e->line && e < first + most; e++) {
		if (e == first || e->on != e[-1].on) {
			text_clear(&line);
			text_addf(&line, "%s%s", title, help_sample(e->on));
			add_line(r, line.s, NULL);
		}
		if (e->answers) {
			text_clear(&line);
			text_addf(&line, "  # %s", e->answers);
			add_line(r, line.s, NULL);
		}
		text_clear(&line);
		text_addf(&line, "  %s", e->line);
		add_line(r, line.s, e->line);
	}
	text_release(&line);
}

static unsigned count_examples(const struct command *c)
{
	unsigned n = 0;
	while (c->examples[n].line)
		n++;
	return n;
}

/* "columns -by kind: kind roots objects shallow; hidden: share" */
static void describe_words(struct result *r, unsigned room, const struct shape *shape, bool head)
{
	struct text line = TEXT_INIT;
	if (head ? !shape->n_head : !shape->n_columns)
		return;
	text_addf(&line, "%s%s%s: ", head ? "values" : "columns", shape->form ? " " : "",
	    shape->form ? shape->form : "");
	if (head)
		shape_words(shape, true, &line);
	else
		shape_columns(shape, &line);
	add_text(r, room, line.s, 2);
	text_release(&line);
}

/* Which columns each form has, then what each word means that the description does not define. */
static void describe_columns(struct result *r, unsigned room, const struct command *c)
{
	enum column_id columns[COL_COUNT_OF_ALL];
	struct text meaning = TEXT_INIT;
	for (size_t k = 0; c->shapes && c->shapes[k]; k++) {
		describe_words(r, room, c->shapes[k], true);
		describe_words(r, room, c->shapes[k], false);
	}
	unsigned n = command_columns(c, true, columns), width = HELP_WORDS;
	for (unsigned i = 0; i < n; i++) {
		unsigned length = (unsigned)strlen(column_kinds[columns[i]].word);
		width = length > width ? length : width;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct column_kind *kind = &column_kinds[columns[i]];
		if (!command_defines(c, kind->word, &meaning))
			add_pair(r, width, kind->word, kind->meaning, NULL);
	}
	text_release(&meaning);
}

static void describe_command(struct result *r, unsigned room, const struct command *c)
{
	struct text line = TEXT_INIT;
	command_usage(c, &line);
	add_text(r, room, line.s, 0);
	text_clear(&line);
	text_addf(&line, "%s.", c->summary);
	add_text(r, room, line.s, 2);
	unsigned n_examples = count_examples(c), n_first = n_examples < FIRST_EXAMPLES ? n_examples : FIRST_EXAMPLES;
	add_examples(r, "examples", c->examples, n_first);
	if (c->options)
		add_line(r, "options", NULL);
	for (const struct option_spec *o = c->options; o && o->word; o++) {
		if (o->kind == OPT_SAME)
			continue;
		text_clear(&line);
		text_add(&line, option_name(o));
		if (o->kind != OPT_CHOICE && o->value)
			text_addf(&line, " %s", o->value);
		add_pair(r, HELP_WORDS, line.s, o->summary, NULL);
	}
	if (command_takes_table_options(c))
		add_pair(r, HELP_WORDS, "-where, -by ...", "options of every table: help pipes", NULL);
	text_clear(&line);
	command_description(c, &line);
	if (line.len)
		add_text(r, room, line.s, 2);
	text_clear(&line);
	command_other_words(c, &line);
	if (line.len) {
		struct text also = TEXT_INIT;
		text_addf(&also, "also called %s", line.s);
		add_text(r, room, also.s, 2);
		text_release(&also);
	}
	describe_columns(r, room, c);
	add_examples(r, "more examples", c->examples + n_first, n_examples - n_first);
	text_release(&line);
}

/* Help on another word begins with what it is here. */
static void add_other_word(struct result *r, const char *word, const struct command *c)
{
	struct text line = TEXT_INIT;
	const struct alias *a = strcmp(word, c->name) ? alias_named(word) : NULL;
	if (!a)
		return;
	text_addf(&line, "%s means ", a->word);
	alias_add_meaning(a, &line);
	add_line(r, line.s, NULL);
	text_release(&line);
}

/* What a page is looked for by, besides its name. */
static const char *const other_names[][2] = {
    {"archive", "input"}, {"directory", "input"}, {"gzip", "input"}, {"pipe", "input"}, {"stdin", "input"},
    {"tar", "input"}, {"zip", "input"}, {"docker", "containers"}, {"kubernetes", "containers"},
    {"color", "theme"}, {"colors", "theme"}, {"colour", "theme"}, {"colours", "theme"},
};

static const struct help_page *page_called(const char *word)
{
	for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
		word = strcmp(other_names[i][0], word) ? word : other_names[i][1];
	for (const struct help_page *p = help_pages; p->name; p++) {
		if (!strcmp(p->name, word))
			return p;
	}
	return NULL;
}

static int run_help(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *word = call->argument[0].word;
	const struct help_page *page = word ? page_called(word) : NULL;
	struct text option = TEXT_INIT;
	bool of_program = word && !strncmp(word, "--", 2);
	if (of_program && !options_write_one(word + 2, &option))
		return err_set(err, ERR_NOT_FOUND, "cairn has no option %.60s (cairn --help lists them)", word);
	const struct command *c = word && !page && !of_program ? command_find(word, err) : NULL;
	if (word && !page && !c && !of_program)
		return err->code;
	struct result *r = *out = result_new_rows("help", s->dump, &help_shape);
	result_mark(r, RESULT_PLAIN_TEXT, true);
	if (page) {
		struct text text = TEXT_INIT;
		help_page_text(page, &text);
		add_text(r, line_width(s), text.s ? text.s : "", 0);
		text_release(&text);
	} else if (of_program) {
		add_text(r, line_width(s), option.s ? option.s : "", 0);
		text_release(&option);
	} else if (c) {
		add_other_word(r, word, c);
		describe_command(r, line_width(s), c);
	} else {
		list_commands(r);
	}
	return 0;
}

const struct command cmd_help = {
    .name = "help",
    .arguments = {{ARG_COMMAND, "COMMAND|--OPTION", true}},
    .flags = COMMAND_NO_DUMP | COMMAND_EARLY,
    .group = "session",
    .summary = "list all commands, or explain one",
    .shapes = SHAPES(&help_shape),
    .description = "help input explains how to open dumps; help values, help pipes and help formats explain words "
	"that all commands share; help containers is about VMs there; help keys, help mouse and help theme are about "
	"the screen.",
    .examples = {{"help", ON_ANY, "all commands"}, {"help refs", ON_ANY, "one command with its options and columns"},
	{"help values", ON_ANY, "how to write objects, classes and threads"},
	{"help --keep", ON_ANY, "one option of cairn"}},
    .run = run_help,
};
