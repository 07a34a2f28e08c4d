/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c - the lines of a script, one after another; see session_source. */
#include "command/exec/exec.h"

#include "base/files.h"
#include "base/text.h"
#include "command/args/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPTS_DEEP 16 /* a script that runs itself ends here */

/* Does a statement begin here, or is it "sql" alone, with options at most, so that the question stands below? */
static bool awaits_question(const struct invocation *asked)
{
	const struct stage *stage = asked->line.stages;
	if (!stage || !stage->n || asked->alias)
		return false;
	bool states = line_states(stage->words[0].s);
	bool awaits = states || (invocation_is_plain(asked) && !strcmp(stage->words[0].s, "sql"));
	for (size_t i = 1; awaits && !states && i < stage->n; i++)
		awaits = strchr("-0123456789", stage->words[i].s[0]) && strcmp(stage->words[i].s, "-schema");
	return awaits;
}

/* Does a semicolon end the question, or is only a file or a stage behind it? */
static bool has_ended(const struct invocation *asked)
{
	const struct command_line *l = &asked->line;
	size_t n = strlen(asked->text);
	while (n && strchr(" \t", asked->text[n - 1]))
		n--;
	if (n && asked->text[n - 1] == ';')
		return true;
	bool more = l->n > 1 || (l->n && l->file.s);
	const char *last = more && l->stages[0].n ? l->stages[0].words[l->stages[0].n - 1].s : "";
	return *last && last[strlen(last) - 1] == ';';
}

/* A line of a script, with those that it goes on in, the caller's; how many lines that are, 0 at the end. */
static size_t read_script_line(FILE *f, struct invocation **out)
{
	char *line = NULL;
	size_t cap = 0, lines = 0;
	bool more = true, question = false;
	struct text text = TEXT_INIT;
	ssize_t n;
	*out = NULL;
	while (more && (n = getline(&line, &cap, f)) >= 0) {
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			line[--n] = '\0';
		lines++;
		if ((question || !text.len) && !strncmp(line + strspn(line, " \t"), "--", 2))
			continue; /* SQL's remark */
		bool goes_on = n > 0 && line[n - 1] == '\\';
		line[n - goes_on] = '\0';
		text_add(&text, text.len ? " " : "");
		text_add(&text, line);
		invocation_drop(*out);
		*out = invocation_of(text.s);
		question = question || awaits_question(*out);
		more = goes_on || (question && !has_ended(*out));
	}
	free(line);
	text_release(&text);
	return lines;
}

static int run_script_line(struct session *s, const struct invocation *asked, bool last_only, struct err *err)
{
	struct result *r;
	int code = session_run(s, asked, &r, err);
	int status = session_exit_status(code, code ? NULL : s->results.last);
	if (r && status > s->lines.status)
		s->lines.status = status;
	if (!code && r && !last_only)
		code = session_print(s, r, err);
	return code;
}

int session_source(struct session *s, const char *path, struct result **out, struct err *err)
{
	bool standard = !strcmp(path, "-");
	struct invocation *asked;
	size_t number = 0, lines;
	int code = 0;

	*out = NULL;
	if (s->lines.depth >= SCRIPTS_DEEP)
		return err_set(err, ERR_USAGE, "%.200s: scripts run scripts %u deep", path, s->lines.depth);
	FILE *f = standard ? stdin : fopen(path, "re");
	if (!f)
		return err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	file_hold hold = file_hold_open(fileno(f), "the script that runs");
	s->lines.depth++;
	for (; !code && !s->quit && (lines = read_script_line(f, &asked)); number += lines) {
		code = asked ? run_script_line(s, asked, !s->output.stream, err) : 0;
		invocation_drop(asked);
		if (code && !s->lines.placed) {
			err_context(err, "%s:%zu", standard ? "standard input" : path, number + 1);
			s->lines.placed = true;
		}
	}
	if (!code && !s->quit && !feof(f))
		code = err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	s->lines.depth--;
	file_let_go(hold);
	*out = code ? NULL : s->results.last;
	if (!standard)
		fclose(f);
	return code;
}
