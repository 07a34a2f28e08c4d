/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * invocation.c - the text of a line into what runs: its words, its command, and whether it can be answered before
 * references are read.
 */
#include "command/args/args.h"

#include "base/mem.h"
#include "base/memory_refusals.h"
#include "result/print.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A line to leave out: empty, or a remark ("#" that is not "#ID"). */
static bool is_remark(const char *line)
{
	line += strspn(line, " \t\r\n");
	return !*line || (*line == '#' && !isdigit((unsigned char)line[1]));
}

/* Does it ask for what follows from references?  A word that only may do so counts as one. */
static bool asks_for_more(const char *word, bool sums)
{
	static const char *const reach[] = {"-live", "-dead", "-unreachable", "-where", "-retained"};
	size_t n_reach = sizeof reach / sizeof *reach - sums, n = strlen(word);
	for (size_t i = 0; n > 1 && i < n_reach; i++)
		if (strncmp(word, reach[i], n) == 0)
			return true;
	return false;
}

static void find_early(struct invocation *i)
{
	const struct command *c = i->command;
	bool early = c->flags & COMMAND_EARLY, more = false, more_than_sums = false;
	bool places = strpbrk(i->text, "#%$(&") || isdigit((unsigned char)i->text[strspn(i->text, " \t")]);
	if (!(c->flags & (COMMAND_EARLY | COMMAND_EARLY_BY_OPTION)) || places)
		return;
	for (size_t k = 0; k < i->line.n; k++) {
		for (size_t w = 0; w < i->line.stages[k].n; w++) {
			const char *word = i->line.stages[k].words[w].s;
			more |= asks_for_more(word, false);
			more_than_sums |= asks_for_more(word, true);
			early |= k == 0 && word[0] == '-' && word[1];
		}
	}
	i->early = early && !more;
	i->early_with_sums = early && !more_than_sums;
}

/* The command also of a line with a mistake behind it: it says what the line is about. */
static void find_command(struct invocation *i, struct err *err)
{
	struct command_line *l = &i->line;
	if (!l->n || !l->stages[0].n) {
		if (!i->err.code)
			err_set(&i->err, ERR_USAGE, "no command in the line: %.100s", i->text);
		return;
	}
	i->alias = call_expand(l, false, &i->means);
	i->command = call_command(&l->stages[0], &i->words, err);
	/* "$name = java.lang.String": what is kept may be a set as well as a command's rows */
	if (l->keep && (!i->command || (!i->words && !line_states(l->stages[0].words[0].s)))) {
		i->command = command_find("ls", NULL);
		i->words = 0;
	}
	if (!i->err.code && l->file.s) /* before the job is done that would be for nothing */
		i->err.code = print_format_of_file(l->file.s, &(enum print_format){PRINT_TEXT}, &i->err);
	if (i->command) {
		find_early(i);
	} else if (!i->err.code) {
		i->err = *err;
		err_place(&i->err, l->stages[0].words[0].begin, l->stages[0].words[0].end);
	}
}

struct invocation *invocation_of(const char *text)
{
	struct invocation *i = xcalloc(1, sizeof *i);
	struct err none = ERR_INIT;
	uint64_t refusals = mem_refusals();
	*i = (struct invocation){.holders = 1, .text = xstrdup(text), .empty = is_remark(text)};
	i->of_row = strchr(text, '%');
	i->of_view = strpbrk(text, "%$");
	if (i->empty)
		return i;
	i->err.code = command_line_parse(&i->line, text, false, &i->err);
	find_command(i, &none);
	/* nothing is done with half a word; an error behind a refusal may be but its consequence */
	if (mem_refusals() != refusals && memory_refusals_check(refusals, &none))
		i->err = none;
	return i;
}

struct invocation *invocation_keep(struct invocation *i)
{
	if (i)
		i->holders++;
	return i;
}

void invocation_drop(struct invocation *i)
{
	if (!i || --i->holders)
		return;
	command_line_release(&i->line);
	free(i->text);
	free(i);
}

bool invocation_is_plain(const struct invocation *i)
{
	return i->line.n == 1 && !i->line.file.s;
}
