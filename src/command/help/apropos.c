/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apropos.c - apropos searches what help tells; alias lists the words of other tools.
 */
#include "command/args/args.h"
#include "command/commands.h"
#include "command/help/help.h"
#include "command/parse/parse.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* --- apropos ---------------------------------------------------------------------------------- */

static const struct column apropos_columns[] = {
    {.id = COL_COMMAND},
    {.id = COL_TEXT},
};
static const struct shape apropos_shape = {SHAPE_COLUMNS(apropos_columns)};

struct apropos {
	const struct call *call;
	struct result *r;
};

static const char *find_word(const char *s, const char *word)
{
	size_t n = strlen(word);
	while (*s && strncasecmp(s, word, n) != 0)
		s++;
	return *s ? s : NULL;
}

/* Where the word stands at the beginning of one: oom is not in room.  Signs, as ::, stand anywhere. */
static const char *find_begun(const char *s, const char *word)
{
	const char *from = s;
	bool is_word = isalnum((unsigned char)*word);
	while ((s = find_word(s, word)) && is_word && s > from && isalpha((unsigned char)s[-1]))
		s++;
	return s;
}

/* The first of the words that stands in the text, if all do. */
static const char *find_words(const struct apropos *a, const char *s)
{
	const char *first = s;
	for (size_t i = 0; i < a->call->n_words; i++) {
		const char *found = find_begun(s, a->call->words[i]);
		if (!found)
			return NULL;
		first = i ? first : found;
	}
	return first;
}

/* What is said in this text about the words: the sentence that the first of them stands in. */
static bool offer_text(const struct apropos *a, const char *line, const char *s)
{
	const char *at = s ? find_words(a, s) : NULL;
	struct text sentence = TEXT_INIT;
	if (!at)
		return false;
	const char *from = at, *to = at;
	while (from > s && from[-1] != '\n' && !(from > s + 1 && from[-1] == ' ' && from[-2] == '.'))
		from--;
	while (*to && *to != '\n' && !(*to == '.' && (to[1] == ' ' || to[1] == '\n' || !to[1])))
		to++;
	size_t word = strcspn(from, "\t"), n = (size_t)(to - from); /* of a definition */
	text_add_n(&sentence, from, word < n ? word : n);
	if (word < n) {
		text_add(&sentence, ": ");
		text_add_n(&sentence, from + word + 1, n - word - 1);
	}
	result_add_row(a->r, (struct cell[]){cell_text(line), cell_text(sentence.s ? sentence.s : "")},
	    &(struct target){.kind = TARGET_COMMAND, .command = line});
	text_release(&sentence);
	return true;
}

static bool offer_word(const struct apropos *a, const char *line, const char *word, const char *meaning)
{
	struct text t = TEXT_INIT;
	text_addf(&t, "%s: %s", word, meaning);
	bool found = offer_text(a, line, t.s);
	text_release(&t);
	return found;
}

static bool offer_options(const struct apropos *a, const char *line, const struct command *c)
{
	bool found = false;
	for (const struct option_spec *o = c->options; !found && o && o->word; o++)
		found = o->kind != OPT_SAME && offer_word(a, line, option_name(o), o->summary);
	return found;
}

static bool offer_meanings(const struct apropos *a, const char *line, const struct command *c)
{
	enum column_id columns[COL_COUNT_OF_ALL];
	unsigned n = command_columns(c, true, columns);
	bool found = false;
	for (unsigned i = 0; i < n && !found; i++)
		found = offer_word(a, line, column_kinds[columns[i]].word, column_kinds[columns[i]].meaning);
	return found;
}

/* One row for a command, of the first place that tells of the words. */
static void search_command(const struct apropos *a, const struct command *c)
{
	struct text line = TEXT_INIT, t = TEXT_INIT, other = TEXT_INIT;
	text_addf(&line, "help %s", c->name);
	command_description(c, &t);
	command_other_words(c, &other);
	(void)(offer_word(a, line.s, c->name, c->summary) || offer_options(a, line.s, c) || offer_text(a, line.s, t.s) ||
	    offer_text(a, line.s, other.s) || offer_meanings(a, line.s, c));
	text_release(&line);
	text_release(&t);
	text_release(&other);
}

static void search_page(const struct apropos *a, const struct help_page *p)
{
	struct text line = TEXT_INIT, text = TEXT_INIT;
	help_page_text(p, &text);
	text_addf(&line, "help %s", p->name);
	(void)(offer_word(a, line.s, p->name, p->summary) || offer_text(a, line.s, text.s));
	text_release(&line);
	text_release(&text);
}

static void search_option(const struct apropos *a, const struct program_option *o)
{
	struct text line = TEXT_INIT;
	text_addf(&line, "help --%s", o->name);
	(void)(offer_word(a, line.s, line.s + strlen("help "), o->summary ? o->summary : "") ||
	    offer_text(a, line.s, o->more));
	text_release(&line);
}

static int run_apropos(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct apropos a = {call, *out = result_new_rows("apropos", s->dump, &apropos_shape)};
	(void)err;
	for (size_t i = 0; commands[i]; i++)
		search_command(&a, commands[i]);
	for (const struct help_page *p = help_pages; p->name; p++)
		search_page(&a, p);
	for (const struct program_option *o = program_options; o->name; o++)
		search_option(&a, o);
	result_mark(a.r, RESULT_FAILED, !a.r->n_rows);
	a.r->note = a.r->n_rows ? NULL : "nothing in the help matches it (help lists all commands)";
	return 0;
}

const struct command cmd_apropos = {
    .name = "apropos",
    .arguments = {{ARG_WORDS, "WORD...", false}},
    .flags = COMMAND_NO_DUMP | COMMAND_EARLY,
    .group = "session",
    .summary = "search the help for words",
    .shapes = SHAPES(&apropos_shape),
    .description = "Lists the commands, help pages and program options that contain all the words, with the "
	"sentence that contains the first. A word also matches the beginning of a longer one; case does not matter.",
    .examples = {{"apropos garbage", ON_ANY, "help about garbage"},
	{"apropos retained set", ON_ANY, "help that has both words"}},
    .run = run_apropos,
};

/* --- alias ------------------------------------------------------------------------------------ */

static const struct column alias_columns[] = {
    {.id = COL_WORD},
    {.id = COL_COMMAND},
    {.id = COL_TOOL},
};
static const struct shape alias_shape = {SHAPE_COLUMNS(alias_columns)};

static int run_alias(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *word = call->argument[0].word;
	struct result *r = *out = result_new_rows("names from other tools", s->dump, &alias_shape);
	(void)err;
	for (const struct alias *a = alias_list(); a->word; a++) {
		struct text means = TEXT_INIT;
		if (alias_is_earlier(a))
			continue;
		alias_add_meaning(a, &means);
		if (!word || find_word(a->word, word) || find_word(a->means, word) || (a->tool && find_word(a->tool, word)))
			result_add_row(r, (struct cell[]){cell_text(a->word), cell_text(means.s),
			    cell_text_or_blank(a->tool)}, NULL);
		text_release(&means);
	}
	result_mark(r, RESULT_FAILED, !r->n_rows);
	r->note = r->n_rows ? NULL : "no name from another tool contains it (help lists all commands)";
	return 0;
}

const struct command cmd_alias = {
    .name = "alias",
    .arguments = {{ARG_WORD, "WORD", true}},
    .flags = COMMAND_NO_DUMP | COMMAND_EARLY,
    .group = "session",
    .summary = "list the names from other tools and their commands",
    .shapes = SHAPES(&alias_shape),
    .description = "Each works as its command, with the same arguments and options after it. Case and a leading ! do "
	"not matter; options that belong to a name (dumpheap -stat) may be anywhere after it. WORD filters by name, "
	"tool or command. $name = COMMAND keeps a set under a name of your own.",
    .examples = {{"alias", ON_ANY, "all names"}, {"alias SOS", ON_ANY, "the names of one tool"},
	{"alias dumpheap", ON_ANY, "the cairn command for one name"}},
    .run = run_alias,
};
