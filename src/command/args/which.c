/* SPDX-License-Identifier: GPL-3.0-or-later */
/* which.c - which command a line means, by its name, a beginning of it or another tool's word. */
#include "command/args/args.h"

#include "command/resolve/resolve.h"

#include <string.h>
#include <strings.h>

const struct command *command_named(const char *word, size_t n)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strlen(commands[i]->name) == n && !strncmp(commands[i]->name, word, n))
			return commands[i];
	}
	return NULL;
}

static const struct command *meant_by(const struct alias *a)
{
	return command_named(a->means, strcspn(a->means, " "));
}

static const struct command *by_exact_name(const char *word)
{
	const struct command *c = command_named(word, strlen(word));
	const struct alias *a = c ? NULL : alias_named(word);
	return a ? meant_by(a) : c;
}

void command_other_words(const struct command *c, struct text *to)
{
	size_t n = 0;
	for (const struct alias *a = alias_list(); a->word; a++) {
		bool is_page = !strncmp(a->means, "help ", strlen("help "));
		if (alias_is_of(a, c) && !alias_is_earlier(a) && !is_page)
			text_addf(to, "%s%s", n++ ? ", " : "", a->word);
	}
}

/* Words that no command answers, and what to do instead. */
static const struct {
	const char *word, *instead;
} elsewhere[] = {
    {"oql", "ask in SQL: SELECT * FROM \"java.lang.Thread\" (help sql)"},
    {"pragma", "sql lists the tables, and sql -schema TABLE the columns of one"},
    {"back", "Esc goes back on the screen, bt THREAD shows a stack, use N switches the dump"},
    {"show", "type the command alone: heap, threads, leaks; set shows the settings"},
    {"version", "cairn --version prints it, and info shows the VM of the dump"},
    {"select_objects_by_field", "use ls CLASS -where 'FIELD = VALUE'"},
    {"arrays_grouped_by_size",
	"ask in SQL: SELECT class, length, count(*) FROM objects WHERE length >= 0 GROUP BY 1, 2"},
};

static const char *instead_of(const char *word)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (!strcasecmp(word, elsewhere[i].word))
			return elsewhere[i].instead;
	return NULL;
}

/* No command has an upper case letter or such a sign in its name, and a class hardly lacks both. */
static bool is_like_class(const char *word)
{
	return !instead_of(word) && ((*word >= 'A' && *word <= 'Z') ||
	    (*word >= 'a' && *word <= 'z' && strpbrk(word, ".[")));
}

static int no_command(const char *word, struct err *err)
{
	struct near_command near[NEAR_MOST];
	const char *instead = instead_of(word);
	if (instead)
		return err_set(err, ERR_USAGE, "%.40s: not a command (%s)", word, instead);
	unsigned n = nearest_commands(word, near);
	struct text names = TEXT_INIT;
	for (unsigned i = 0; i < n; i++)
		text_addf(&names, "%s%s: %s", i ? "; " : "", near[i].line, near[i].command->summary);
	int code = n ? err_set(err, ERR_USAGE, "unknown command \"%.100s\" (nearest: %s)", word, names.s) :
	    err_set(err, ERR_USAGE, "unknown command \"%.100s\" (apropos %.40s searches; help lists all)", word, word);
	text_release(&names);
	return err_because(err, code, ERR_NO_COMMAND);
}

/* Beginnings, from the shorter to the longer one, that were one command's alone before others with the same came: they
 * mean it still. */
static const struct {
	const char *shortest, *longest, *command;
} habits[] = {{"b", "b", "bt"}, {"col", "col", "columns"}, {"dupl", "duplicate", "dups"}, {"lo", "lo", "loaders"},
    {"o", "o", "open"}, {"re", "ref", "refs"}, {"th", "threa", "threads"}, {"w", "w", "why"}};

static const struct command *by_habit(const char *word)
{
	size_t n = strlen(word);
	for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
		if (n >= strlen(habits[i].shortest) && !strncmp(word, habits[i].longest, n))
			return by_exact_name(habits[i].command);
	return NULL;
}

const struct command *command_find(const char *word, struct err *err)
{
	const struct command *found = by_exact_name(word);
	if (!found)
		found = by_habit(word);
	struct text names = TEXT_INIT;
	unsigned n = 0;
	if (found || !*word)
		goto out;
	for (size_t i = 0; commands[i]; i++) {
		if (strncmp(commands[i]->name, word, strlen(word)))
			continue;
		found = commands[i];
		text_addf(&names, "%s%s", n++ ? ", " : "", found->name);
	}
	if (!n) {
		const struct alias *other, *a = alias_begun(word, &other);
		found = a ? meant_by(a) : NULL;
		if (other) {
			n = 2;
			text_addf(&names, "%s, %s", a->word, other->word);
		}
	}
	if (n > 1) {
		err_set(err, ERR_USAGE, "\"%.100s\" is ambiguous (%s)", word, names.s);
		text_release(&names);
		return NULL;
	}
out:
	text_release(&names);
	if (!found)
		no_command(word, err);
	return found;
}

const struct command *call_command(const struct stage *stage, size_t *words, struct err *err)
{
	const char *word = stage->words[0].s;
	*words = 1;
	if (set_begins(stage) && !by_exact_name(word)) {
		*words = 0;
		return command_find("ls", err);
	}
	if (strchr("#%", *word) || !strncasecmp(word, "0x", 2)) {
		*words = 0;
		return command_find("x", err);
	}
	if (line_states(word) && !by_exact_name(word)) {
		*words = 0;
		return command_find("sql", err);
	}
	const struct command *c = command_find(word, err);
	if (!c && is_like_class(word)) {
		*words = 0;
		return command_find("ls", err);
	}
	return c;
}
