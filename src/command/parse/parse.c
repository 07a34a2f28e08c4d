/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse.c - a command line into stages and words.
 */
#include "command/parse/parse.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct scanner {
	const char *line;
	size_t at, from; /* here, and where the word or sign begins that is read */
	bool tolerant;
	struct command_line *to;
	struct text word;
	struct err *err;
	bool joins; /* > between two characters is part of the word */
	bool asks;  /* a question in SQL: > is a comparison there, and || joins texts */
	bool plain; /* in one: a backslash between quotes is itself, as in SQL */
};

/* Commands whose words are references: HOLDER>TARGET. */
static const char *const joining[] = {"cut", "whatif"};

bool line_states(const char *word)
{
	static const char *const words[] = {"select", "with", "explain", "create", "drop"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcasecmp(words[i], word))
			return true;
	return false;
}

/* Does a line that begins so hold a question in SQL? */
static bool asks(const char *word)
{
	return !strcmp(word, "sql") || line_states(word);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct scanner *s)
{
	while (is_blank(s->line[s->at]))
		s->at++;
}

/* Does a regular expression stand here: /…/ with its end before a blank, a pipe or the line's end?
 * A path like /tmp/x does not: what follows its second slash is more name. */
static size_t regex_length(const char *s)
{
	if (*s != '/')
		return 0;
	for (size_t i = 1; s[i]; i++) {
		if (s[i] == '\\' && s[i + 1])
			i++;
		else if (s[i] == '/')
			return !s[i + 1] || is_blank(s[i + 1]) || strchr("|>", s[i + 1]) ? i + 1 : 0;
	}
	return 0;
}

/* A quoted stretch; s->at stands on the quote. */
static bool scan_quoted(struct scanner *s)
{
	char quote = s->line[s->at++];
	for (; s->line[s->at]; s->at++) {
		char c = s->line[s->at], next = s->line[s->at + 1];
		if (c == quote) {
			s->at++;
			return true;
		}
		if (!s->plain && quote == '"' && c == '\\' && (next == '"' || next == '\\')) {
			c = next;
			s->at++;
		}
		text_add_char(&s->word, c);
	}
	return false;
}

/* What begins like a path is no expression. */
static bool is_path(const char *s)
{
	s += strspn(s, "> \t");
	return *s == '/' || !strncmp(s, "./", 2) || !strncmp(s, "../", 3);
}

/* Does a > stand here that begins a file name? */
static bool redirects(const struct scanner *s, size_t word)
{
	char next = s->line[s->at] == '>' ? s->line[s->at + 1] : '\0';
	bool between = s->at > word && next && next != '>' && !is_blank(next);
	return s->line[s->at] == '>' && !(s->joins && between) &&
	       (!s->asks || is_path(s->line + s->at));
}

/* Does a | stand here that ends the stage? */
static bool pipes(const struct scanner *s)
{
	return s->line[s->at] == '|' && !(s->asks && s->line[s->at + 1] == '|');
}

/* The word of a stage with which its question begins, behind options and the numbers behind them.  *schema: there is no
 * question, a table's name stands there. */
static size_t question_word(const struct stage *stage, bool *schema)
{
	size_t n = line_states(stage->words[0].s) ? 0 : 1;
	*schema = false;
	for (; n && n < stage->n && strchr("-0123456789", stage->words[n].s[0]) && !stage->words[n].quoted; n++)
		*schema |= !strcmp(stage->words[n].s, "-schema");
	return n;
}

/* A question ends with a semicolon, or where the quotes around all of it do: behind that > begins a file name.  No
 * question begins with one, and behind -schema there is none. */
static bool still_asks(const struct stage *stage, char next)
{
	bool schema;
	size_t n = question_word(stage, &schema);
	if (schema || (n == stage->n && next == '>'))
		return false;
	const char *last = stage->words[stage->n - 1].s;
	return !(n && stage->n == n + 1 && stage->words[n].quoted) && (!*last || last[strlen(last) - 1] != ';');
}

/* Does a word of a question follow that is not all of it between quotes?  Those have escapes, as any word's. */
static bool is_plain(const struct stage *stage, char next)
{
	bool schema;
	return next != '"' || question_word(stage, &schema) < stage->n;
}

static const char *store(struct command_line *l, const char *s, size_t n)
{
	char *to = l->text + l->used;
	if (n)
		memcpy(to, s, n);
	to[n] = '\0';
	l->used += n + 1;
	return to;
}

static int scan_word(struct scanner *s, struct word *out)
{
	const char *line = s->line;
	*out = (struct word){.begin = s->at, .quoted = line[s->at] == '"' || line[s->at] == '\''};
	text_clear(&s->word);
	s->from = s->at;
	size_t regex = s->asks ? 0 : regex_length(line + s->at);
	if (regex) {
		text_add_n(&s->word, line + s->at, regex);
		s->at += regex;
	}
	while (line[s->at] && !is_blank(line[s->at]) && !pipes(s) && !redirects(s, out->begin)) {
		if (line[s->at] == '"' || line[s->at] == '\'') {
			if (scan_quoted(s))
				continue;
			if (!s->tolerant)
				return err_set(s->err, ERR_USAGE, "unclosed quote: %s",
				    line + out->begin);
			out->open = true;
			break;
		}
		/* a backslash before anything else is kept: it belongs to a regular expression */
		if (line[s->at] == '\\' && line[s->at + 1] && strchr(" \t\\'\"|>", line[s->at + 1]))
			s->at++;
		if (s->asks && line[s->at] == '|' && line[s->at + 1] == '|')
			text_add_char(&s->word, line[s->at++]);
		text_add_char(&s->word, line[s->at++]);
	}
	out->end = s->at;
	out->s = store(s->to, s->word.s, s->word.len);
	return 0;
}

static int scan_redirection(struct scanner *s)
{
	const struct stage *stage = &s->to->stages[s->to->n - 1];
	s->from = s->at++;
	if (!s->tolerant && stage->n > 2 && !strcmp(stage->words[stage->n - 2].s, "-where") &&
	    !stage->words[stage->n - 1].quoted)
		return err_set(s->err, ERR_USAGE, "put an expression with > into quotes: -where '%.40s > 1'",
		    stage->words[stage->n - 1].s);
	if (s->line[s->at] == '>') {
		s->to->append = true;
		s->at++;
	}
	skip_blanks(s);
	int code = scan_word(s, &s->to->file);
	skip_blanks(s);
	if (!code && !s->tolerant && s->to->file.end == s->to->file.begin)
		return err_set(s->err, ERR_USAGE, "a file name is missing after > (quote a name with < or >)");
	if (!code && !s->tolerant && s->line[s->at]) {
		s->from = s->at;
		s->at = strlen(s->line);
		return err_set(s->err, ERR_USAGE, "only a file name can follow >: %s", s->line + s->from);
	}
	return code;
}

static struct stage *new_stage(struct scanner *s)
{
	VEC_PUSH(s->to->stages, s->to->n, s->to->cap) = (struct stage){.begin = s->at};
	return &s->to->stages[s->to->n - 1];
}

/* One stage; *more when another follows. */
static int scan_stage(struct scanner *s, bool *more)
{
	struct stage *stage = new_stage(s);
	*more = s->joins = s->asks = s->plain = false;
	skip_blanks(s);
	if (s->line[s->at] == '!' && s->to->n > 1) {
		stage->shell = store(s->to, s->line + s->at + 1, strlen(s->line + s->at + 1));
		s->at = stage->end = strlen(s->line);
		return 0;
	}
	for (;;) {
		struct word word;
		skip_blanks(s);
		stage->end = s->at;
		char c = s->line[s->at];
		bool question = s->to->n == 1 && stage->n && asks(stage->words[0].s);
		s->asks = question && still_asks(stage, c);
		s->plain = s->asks && is_plain(stage, c);
		if (pipes(s)) {
			s->from = s->at++;
			*more = true;
			return 0;
		}
		if (redirects(s, s->at))
			return scan_redirection(s);
		if (!c)
			return 0;
		int code = scan_word(s, &word);
		if (code)
			return code;
		VEC_PUSH(stage->words, stage->n, stage->cap) = word;
		for (size_t i = 0; s->to->n == 1 && i < sizeof joining / sizeof *joining; i++)
			s->joins |= stage->n == 1 && !strcmp(word.s, joining[i]);
	}
}

/* "$name =" in front. */
static int scan_keep(struct scanner *s)
{
	skip_blanks(s);
	size_t begin = s->at + 1, end = begin;
	if (s->line[s->at] != '$')
		return 0;
	while (isalnum((unsigned char)s->line[end]) || s->line[end] == '_')
		end++;
	size_t after = end + strspn(s->line + end, " \t");
	if (s->line[after] != '=')
		return 0;
	s->at = after + 1;
	if (end == begin || isdigit((unsigned char)s->line[begin]))
		return err_set(s->err, ERR_USAGE,
		    "invalid set name \"%s\" (use letters, digits and _, a letter first)", s->line);
	s->to->keep = store(s->to, s->line + begin, end - begin);
	return 0;
}

int command_line_parse(struct command_line *l, const char *line, bool tolerant, struct err *err)
{
	struct scanner s = {.line = line, .tolerant = tolerant, .to = l, .err = err};
	bool more = true;

	/* a word takes its NUL besides, in the place of the byte that parts it from the one before */
	*l = (struct command_line){.text = xmalloc(strlen(line) + 2)};
	int code = scan_keep(&s);
	while (!code && more) {
		code = scan_stage(&s, &more);
		const struct stage *last = &l->stages[l->n - 1];
		if (!code && !tolerant && !last->n && !last->shell && (more || l->n > 1))
			code = err_set(err, ERR_USAGE, "a command is missing %s |",
			    more ? "before" : "after");
	}
	if (code)
		err_place(err, s.from, s.at);
	text_release(&s.word);
	return code;
}

void command_line_release(struct command_line *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->stages[i].words);
	free(l->stages);
	free(l->text);
	free(l->ours);
	*l = (struct command_line){.n = 0};
}

const char *command_line_rest(struct arena *arena, const char *line, const struct stage *stage, size_t word)
{
	if (word >= stage->n)
		return "";
	size_t begin = stage->words[word].begin, end = stage->end;
	while (end > begin && is_blank(line[end - 1]))
		end--;
	return arena_strndup(arena, line + begin, end - begin);
}
