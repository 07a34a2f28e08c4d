/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * help.c - help, from the table of commands; and pages on what all commands share.
 */
#include "command/help/help.h"

#include "command/commands.h"
#include "command/line/line.h"

#include <stdlib.h>
#include <string.h>

/* --- pages ------------------------------------------------------------------------------------ */

const struct help_page help_pages[] = {
    {"input", "dumps in files, archives and pipes; several at once",
	"cairn FILE opens a dump. What it is is told by its bytes, not by its name, also where it is packed: gzip, zstd, "
	"xz, bzip2, lz4, lzip or compress (cairn heap.hprof.gz). It is unpacked in memory; what --mem does not hold goes "
	"into a file (--spill). cairn --version tells what this build unpacks with.\n"
	"An archive is zip or tar, packed or not: where one dump is in it, cairn FILE opens that. Where several are, "
	"cairn dumps.zip lists them, and ::MEMBER behind the name of the file takes one: cairn dumps.zip::heap.hprof; one "
	"in an archive within it: cairn outer.tar::inner.zip::heap.hprof. This works wherever a dump is named, by open "
	"and for older dumps, too.\n"
	"A pipe: cairn - reads standard input (stdin), packed or not, or an archive of one dump; one of several "
	"is cairn -::heap.hprof.\n"
	"kubectl exec POD -- cat /tmp/heap.hprof | cairn -\n"
	"ssh HOST cat heap.hprof.gz | cairn -x report -\n"
	"cairn -x report <(ssh HOST cat heap.hprof)\n"
	"What comes is kept in a file without a name (in --spill DIR, else $TMPDIR, else /var/tmp; in memory where none "
	"can be made there), which is gone with the process. Keys come from the terminal. Nothing lies beside a pipe: "
	"what is found beside a file is named by --javacore, --exe and index FILE.\n"
	"What a VM left of an interrupted GC.heap_dump -parallel (heap.hprof, heap.hprof.p0, heap.hprof.p1 ...) is read "
	"together: cairn heap.hprof, with the parts beside it, or in its archive; so is one of -gz.\n"
	"A directory: cairn DIRECTORY lists the dumps and profiles in it (-x dumps prints the list), but looks into no "
	"archive there; Enter opens one. T tags rows, and growth, trend and diff are about those that are tagged: "
	"cairn -x 'tag 1 3' -x growth DIRECTORY. A directory or an archive with one dump is that dump.\n"
	"Several: cairn OLD... DUMP opens the last and compares it with those before, which may be profiles.\n"
	"Where a dump is cut or damaged, or a pipe ends early, what came before that is shown: a warning says up to which "
	"byte all is true, numbers are lower bounds (>=), and the exit status is 4. Where nothing can be read it is 3."},
    {"values", "how objects, classes, threads and sizes are written",
	"An object: 0xE0000AF0 (either case, with or without 0x), #ID (its number in address order, "
	"from 0), %N (row N of the last table, from 1), $name (a kept set of one object), a "
	"class's name, which means its class object, CLASS.FIELD of a static field or the name of a global "
	"variable, which mean the object there.\n"
	"A class pattern: a name as Java source or the VM writes it (java.lang.String, "
	"java/lang/String, java.lang.String[], [C, char[]), a glob (*HashMap*; ? is one character), "
	"/regex/ (POSIX extended), a last part that only one class has (String), the 0xADDRESS of a "
	"class object, or any set of objects.\n"
	"A thread: its id, its name or a part that only one has, %N, or its thread object.\n"
	"A set of objects: an object, a class pattern, %N, %2-5 or %1,4 (exactly the objects that these "
	"rows count), $name, $_ (those of the last result), heap:app (Android's heap of this name), or sets "
	"joined by + (together), - (without) and & (in both; binds closest), with blanks around them, and ( ). "
	"$name = COMMAND keeps the objects that the rows stand for, $name = SET those of a set; sets lists what is kept.\n"
	"On the screen an argument that is left out where there must be one is the selected row (path, x, entries, "
	"cut, ls, size ...: exactly the objects that it counts), and . is the object that the page is about, on other "
	"pages the selected row: size . + $leak. Elsewhere nothing is selected.\n"
	"Sizes: 512, 64K, 2M, 1.5G (powers of 1024).\n"
	"Words with blanks, | or > in them stand in '...' or \"...\", or have a \\ before each."},
    {"pipes", "what can follow a command",
	NULL},
    {"formats", "text, csv, json, jsonl, md and html; certainty",
	"text is for people: sizes as 2.9M (powers of 1024), counts with separators. ~ stands before "
	"what is inferred, >= before a lower bound, ? for what is unknown.\n"
	"It shows a form's main columns; set wide on shows them all, as csv, json and jsonl always do.\n"
	"md (a table for issues and wikis) and html (a page of its own, without scripts) are the same for people: right "
	"for a report, with the notes below.\n"
	"csv (RFC 4180), json (one array of objects a command, one object for a one-row result) and "
	"jsonl (an object a line) have the same names: numbers are plain bytes, counts or percents "
	"(share: 36.8), addresses are strings 0x..., what is unknown or does not apply is empty or "
	"null. Several results in a json file of --output are an array of these.\n"
	"Single values above a table (x, cut and others) are one object in json, which has the rows "
	"under \"fields\"; in csv they are a table of one row before the other, after an empty line.\n"
	"Control characters, bytes that are no UTF-8 and what turns the direction of text stand as \\n, \\t, \\xHH and "
	"\\uHHHH in every format, so that no text acts on a terminal; a backslash of the text stays one.\n"
	"Where numbers of a column NAME are not all exact, a column NAME_certainty follows the "
	"others: exact, lower bound, inferred or unknown. Without it all are exact.\n"
	"cairn --dump-docs schema prints a JSON Schema of every command's results.\n"
	"save FILE and > FILE take the format from the ending: .csv .json .jsonl .md .html; .txt, .log or none is "
	"text, and any other a mistake."},
    {NULL, NULL, NULL},
};

void help_pipe_text(struct text *to)
{
	for (const struct pipe_stage *p = pipe_stages; p->name; p++)
		text_addf(to, "| %s: %s.\n", p->usage, p->summary);
	text_add(to, "| !COMMAND: as text (or the format set) through a command of the shell, whose failure is told.\n"
	    "> FILE, >> FILE: into a file, the format by its extension.");
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
	unsigned page = s->interactive && s->print.width > 2 * PAGE_MARGINS ? s->print.width - PAGE_MARGINS : HELP_WIDTH;
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
	add_line(r, "any unique prefix of a command works; help COMMAND tells more, apropos WORD searches;", NULL);
	add_line(r, "words of other tools (dumpobj, info class, path2gc) work as well: alias lists them", NULL);
}

const char *help_sample(enum sample on)
{
	static const char *const words[] = {
	    [ON_ANY] = "",
	    [ON_PHD] = " on data/heapdump.20261121.101500.4711.0001.phd",
	    [ON_SHOP] = " on data/shop.hprof",
	    [ON_GO] = " on data/gocart.dump",
	    [ON_SERIES] = " on data/shop-1.hprof data/shop-2.hprof data/shop.hprof",
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

/* "columns -by kind: kind roots objects shallow" */
static void describe_words(struct result *r, unsigned room, const struct shape *shape, bool head)
{
	struct text line = TEXT_INIT;
	if (head ? !shape->n_head : !shape->n_columns)
		return;
	text_addf(&line, "%s%s%s: ", head ? "values" : "columns", shape->form ? " " : "",
	    shape->form ? shape->form : "");
	shape_words(shape, head, &line);
	add_text(r, room, line.s, 2);
	text_release(&line);
}

/* Which columns each form has, then what each word means. */
static void describe_columns(struct result *r, unsigned room, const struct command *c)
{
	enum column_id columns[COL_COUNT_OF_ALL];
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
		add_pair(r, width, kind->word, kind->meaning, NULL);
	}
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
		text_clear(&line);
		text_add(&line, option_name(o));
		if (o->kind != OPT_CHOICE && o->kind != OPT_SAME && o->value)
			text_addf(&line, " %s", o->value);
		add_pair(r, HELP_WORDS, line.s, o->summary, NULL);
	}
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

/* What a page is looked for by, besides its name. */
static const char *const other_names[][2] = {
    {"archive", "input"}, {"directory", "input"}, {"gzip", "input"}, {"pipe", "input"}, {"stdin", "input"},
    {"tar", "input"}, {"zip", "input"},
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
	const struct command *c = word && !page ? command_find(word, err) : NULL;
	if (word && !page && !c)
		return err_set(err, err->code, "%s; apropos %.100s searches what help says", err->message, word);
	struct result *r = result_new_rows("help", s->dump, &help_shape);
	r->plain_text = true;
	if (page) {
		struct text pipes = TEXT_INIT;
		help_pipe_text(&pipes);
		add_text(r, line_width(s), page->text ? page->text : pipes.s, 0);
		text_release(&pipes);
	} else if (c) {
		describe_command(r, line_width(s), c);
	} else {
		list_commands(r);
	}
	*out = r;
	return 0;
}

const struct command cmd_help = {
    .name = "help",
    .arguments = {{ARG_COMMAND, "COMMAND", true}},
    .flags = COMMAND_NO_DUMP | COMMAND_EARLY,
    .group = "session",
    .summary = "what there is, and how it is used",
    .shapes = SHAPES(&help_shape),
    .description = "help input tells how dumps get in; help values, help pipes and help formats what all commands "
	"share.",
    .examples = {{"help"}, {"help refs"}, {"help values"}},
    .key = "?",
    .run = run_help,
};
