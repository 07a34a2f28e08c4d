/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * docs.c - the COMMANDS section of the man page and the completions of shells, from the tables.
 */
#include "command/command.h"
#include "command/help/help.h"

#include <string.h>

void shape_words(const struct shape *shape, bool head, struct text *to)
{
	for (unsigned i = 0; i < (head ? shape->n_head : shape->n_columns); i++) {
		enum column_id column = head ? shape->head[i] : shape->columns[i].id;
		text_addf(to, "%s%s", i ? " " : "", column_kinds[column].word);
	}
}

void shape_columns(const struct shape *shape, struct text *to)
{
	unsigned n = 0;
	for (unsigned i = 0; i < shape->n_columns; i++)
		if (!shape->columns[i].hidden)
			text_addf(to, "%s%s", n++ ? " " : "", column_word(&shape->columns[i]));
	const char *before = n ? "; hidden: " : "hidden: ";
	for (unsigned i = 0; i < shape->n_columns; i++) {
		if (shape->columns[i].hidden)
			text_addf(to, "%s%s", before, column_word(&shape->columns[i]));
		before = shape->columns[i].hidden ? " " : before;
	}
}

void command_description(const struct command *c, struct text *to)
{
	text_add(to, c->description);
	if (c->more)
		c->more(to);
}

bool command_defines(const struct command *c, const char *word, struct text *meaning)
{
	struct text description = TEXT_INIT;
	size_t n = strlen(word), length;
	bool defines = false;
	text_add(&description, "");
	command_description(c, &description);
	for (const char *s = description.s; *s && !defines; s += strcspn(s, "\n"), s += *s != '\0') {
		const char *end = s + strcspn(s, "\t\n");
		for (const char *at = s; *end == '\t' && at < end; at += length, at += strspn(at, ", ")) {
			length = strcspn(at, ",\t");
			defines |= length == n && !strncmp(at, word, n);
		}
		if (defines)
			text_add_n(meaning, end + 1, strcspn(end + 1, "\n"));
	}
	text_release(&description);
	return defines;
}

/* --- man page --------------------------------------------------------------------------------- */

/* What each column's word means; two of one word follow each other. */
static void man_columns(struct text *to)
{
	text_add(to, ".SH COLUMNS\nA column name has the same meaning in all results:\n");
	for (unsigned i = COL_OWN_NAME + 1; i < COL_COUNT_OF_ALL; i++) {
		const struct column_kind *kind = &column_kinds[i];
		bool again = !strcmp(kind->word, column_kinds[i - 1].word);
		text_add(to, again ? ".br\n" : ".TP\n.B ");
		if (!again) {
			troff_add(to, kind->word);
			text_add(to, "\n");
		}
		text_addf(to, "(%s) ", cell_type_name(kind->type));
		troff_add(to, kind->meaning);
		text_add(to, "\n");
	}
}

static void man_words(struct text *to, const char *label, const char *words)
{
	if (!*words)
		return;
	text_add(to, ".br\n");
	troff_add(to, label);
	text_add(to, ": ");
	troff_add(to, words);
	text_add(to, "\n");
}

static void man_shape(const struct shape *shape, struct text *to)
{
	for (unsigned columns = 0; columns < 2; columns++) {
		struct text label = TEXT_INIT, words = TEXT_INIT;
		text_addf(&label, "%s%s%s", columns ? "Columns" : "Values", shape->form ? " " : "",
		    shape->form ? shape->form : "");
		text_add(&words, "");
		if (columns)
			shape_columns(shape, &words);
		else
			shape_words(shape, true, &words);
		man_words(to, label.s, words.s);
		text_release(&label);
		text_release(&words);
	}
}

/* Paragraphs, and definitions ("WORD\tMEANING"), a line each. */
static void man_text(const char *s, struct text *to)
{
	for (bool first = true; *s; first = false) {
		size_t n = strcspn(s, "\n"), word = strcspn(s, "\t\n");
		bool defined = word < n;
		struct text line = TEXT_INIT;
		text_addf(&line, "%.*s%s", (int)word, s, defined ? ": " : "");
		text_add_n(&line, s + word + defined, n - word - defined);
		text_add(to, defined ? ".br\n" : first ? "" : ".sp\n");
		troff_add(to, line.s ? line.s : "");
		text_add(to, "\n");
		text_release(&line);
		s += n + (s[n] != '\0');
	}
}

static void man_command(const struct command *c, struct text *to)
{
	struct text t = TEXT_INIT;
	command_usage(c, &t);
	text_add(to, ".TP\n.B ");
	troff_add(to, t.s);
	text_add(to, "\n");
	troff_add(to, c->summary);
	text_add(to, ".\n");
	text_clear(&t);
	command_description(c, &t);
	if (t.len)
		man_text(t.s, to);
	for (const struct option_spec *o = c->options; o && o->word; o++) {
		if (o->kind == OPT_SAME)
			continue;
		text_add(to, ".br\n\\fB");
		troff_add(to, option_name(o));
		text_add(to, "\\fR");
		if (o->value) {
			text_add(to, " \\fI");
			troff_add(to, o->value);
			text_add(to, "\\fR");
		}
		text_add(to, ": ");
		troff_add(to, o->summary);
		text_add(to, ".\n");
	}
	text_clear(&t);
	command_other_words(c, &t);
	man_words(to, "Also called", t.s);
	for (size_t i = 0; c->shapes && c->shapes[i]; i++)
		man_shape(c->shapes[i], to);
	for (const struct example *e = c->examples; e->line; e++) {
		text_clear(&t);
		text_addf(&t, "Example%s%s%s", help_sample(e->on), e->answers ? ", " : "", e->answers ? e->answers : "");
		man_words(to, t.s, e->line);
	}
	text_release(&t);
}

static void write_man(struct text *to)
{
	text_add(to, ".SH COMMANDS\n");
	for (size_t i = 0; commands[i]; i++)
		man_command(commands[i], to);
	struct text text = TEXT_INIT;
	for (const struct help_page *p = help_pages; p->name; p++) {
		if (help_page_apart(p))
			continue;
		text_add(to, ".SS ");
		troff_add(to, p->name);
		text_add(to, "\n");
		text_clear(&text);
		help_page_text(p, &text);
		man_text(text.s, to);
	}
	text_release(&text);
	man_columns(to);
}

/* --- shells ----------------------------------------------------------------------------------- */

static bool takes_choice(const struct program_option *o)
{
	return o->argument && strchr(o->argument, '|');
}

static bool takes_file(const struct program_option *o)
{
	return o->argument && !strcmp(o->argument, "FILE");
}

/* "a|b" with blanks between. */
static void add_choices(struct text *to, const char *choices)
{
	for (; *choices; choices++)
		text_add_char(to, *choices == '|' ? ' ' : *choices);
}

static void add_command_names(struct text *to)
{
	for (size_t i = 0; commands[i]; i++)
		text_addf(to, "%s%s", i ? " " : "", commands[i]->name);
}

static void write_bash(struct text *to)
{
	text_add(to, "_cairn() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} before="
	    "${COMP_WORDS[COMP_CWORD-1]}\n\tCOMPREPLY=()\n\tcase $before in\n\t-x|--command)\n"
	    "\t\tCOMPREPLY=($(compgen -W '");
	add_command_names(to);
	text_add(to, "' -- \"$word\"))\n\t\treturn;;\n");
	for (const struct program_option *o = program_options; o->name; o++) {
		if (!takes_choice(o) || !o->summary)
			continue;
		text_addf(to, "\t--%s)\n\t\tCOMPREPLY=($(compgen -W '", o->name);
		add_choices(to, o->argument);
		text_add(to, "' -- \"$word\"))\n\t\treturn;;\n");
	}
	text_add(to, "\tesac\n\tcase $word in\n\t-*)\n\t\tCOMPREPLY=($(compgen -W '");
	for (const struct program_option *o = program_options; o->name; o++) {
		if (o->summary)
			text_addf(to, "--%s ", o->name);
	}
	text_add(to, "' -- \"$word\"))\n\t\treturn;;\n\tesac\n"
	    "\tcompopt -o filenames\n\tCOMPREPLY=($(compgen -f -- \"$word\"))\n}\n"
	    "complete -F _cairn cairn\n");
}

static void write_zsh(struct text *to)
{
	text_add(to, "#compdef cairn\n_arguments -s \\\n");
	for (const struct program_option *o = program_options; o->name; o++) {
		if (!o->summary)
			continue;
		bool repeated = o->key == OPTION_COMMAND || o->key == OPTION_FILE;
		text_addf(to, "\t'%s--%s%s[", repeated ? "*" : "", o->name, o->argument ? "=" : "");
		for (const char *s = o->summary; *s; s++) {
			if (strchr("[]:", *s))
				text_add_char(to, '\\');
			text_add_char(to, *s);
		}
		text_add(to, "]");
		if (o->key == OPTION_COMMAND) {
			text_add(to, ":command:(");
			add_command_names(to);
			text_add(to, ")");
		} else if (takes_choice(o)) {
			text_addf(to, ":%s:(", o->name);
			add_choices(to, o->argument);
			text_add(to, ")");
		} else if (o->argument) {
			text_addf(to, ":%s:%s", o->argument, takes_file(o) ? "_files" : "");
		}
		text_add(to, "' \\\n");
	}
	text_add(to, "\t'*:dump:_files'\n");
}

static void write_fish(struct text *to)
{
	for (const struct program_option *o = program_options; o->name; o++) {
		if (!o->summary)
			continue;
		text_addf(to, "complete -c cairn -l %s", o->name);
		if (o->key < 256)
			text_addf(to, " -s %c", o->key);
		if (o->key == OPTION_COMMAND) {
			text_add(to, " -x -a '");
			add_command_names(to);
			text_add(to, "'");
		} else if (takes_choice(o)) {
			text_add(to, " -x -a '");
			add_choices(to, o->argument);
			text_add(to, "'");
		} else if (o->argument) {
			text_add(to, takes_file(o) ? " -r" : " -x");
		}
		text_addf(to, " -d '%s'\n", o->summary);
	}
}

static void write_shell_completion(const char *shell, struct text *to)
{
	if (!strcmp(shell, "bash"))
		write_bash(to);
	else if (!strcmp(shell, "zsh"))
		write_zsh(to);
	else if (!strcmp(shell, "fish"))
		write_fish(to);
}

void docs_write(const char *what, struct text *to)
{
	if (!strcmp(what, "man")) {
		options_write_man(to);
		write_man(to);
	} else if (!strcmp(what, "schema")) {
		command_write_schema(to);
	} else if (!strcmp(what, "commands")) {
		command_write_table(to);
	} else {
		write_shell_completion(what, to);
	}
}
