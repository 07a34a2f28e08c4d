/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c - the lines of a script, one after another; see session_source. */
#include "command/exec/exec.h"

#include "base/files.h"
#include "base/text.h"
#include "command/parse/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPTS_DEEP 16 /* a script that runs itself ends here */

/* Does a statement begin here, or is it "sql" alone, with options at most, so that the question stands below? */
static bool awaits_question(const char *line)
{
	struct command_line l;
	bool parsed = !command_line_parse(&l, line, true, NULL) && l.n && l.stages[0].n;
	bool states = parsed && line_states(l.stages[0].words[0].s);
	bool awaits = states || (parsed && l.n == 1 && !l.file.s && !strcmp(l.stages[0].words[0].s, "sql"));
	for (size_t i = 1; awaits && !states && i < l.stages[0].n; i++)
		awaits = strchr("-0123456789", l.stages[0].words[i].s[0]) && strcmp(l.stages[0].words[i].s, "-schema");
	command_line_release(&l);
	return awaits;
}

/* Does a semicolon end the question, or is only a file or a stage behind it? */
static bool has_ended(const char *text)
{
	struct command_line l;
	size_t n = strlen(text);
	while (n && strchr(" \t", text[n - 1]))
		n--;
	if (n && text[n - 1] == ';')
		return true;
	bool ended = !command_line_parse(&l, text, true, NULL) && (l.file.s || l.n > 1) && l.stages[0].n;
	const char *last = ended ? l.stages[0].words[l.stages[0].n - 1].s : "";
	ended = *last && last[strlen(last) - 1] == ';';
	command_line_release(&l);
	return ended;
}

/* A line of a script, with those that it goes on in; how many lines that are, 0 at the end. */
static size_t read_script_line(FILE *f, struct text *to)
{
	char *line = NULL;
	size_t cap = 0, lines = 0;
	bool more = true, question = false;
	ssize_t n;
	text_clear(to);
	text_add(to, "");
	while (more && (n = getline(&line, &cap, f)) >= 0) {
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
			line[--n] = '\0';
		lines++;
		if ((question || !to->len) && !strncmp(line + strspn(line, " \t"), "--", 2))
			continue; /* SQL's remark */
		bool goes_on = n > 0 && line[n - 1] == '\\';
		line[n - goes_on] = '\0';
		question = question || (!to->len && awaits_question(line));
		text_add(to, to->len ? " " : "");
		text_add(to, line);
		more = goes_on || (question && !(strchr(line, ';') && has_ended(to->s)));
	}
	free(line);
	return lines;
}

static int run_script_line(struct session *s, const char *line, bool last_only, struct err *err)
{
	struct result *r;
	int code = session_run(s, line, &r, err);
	int status = session_exit_status(code, code ? NULL : s->last);
	if (r && status > s->status)
		s->status = status;
	if (!code && r && !last_only)
		code = session_print(s, r, err);
	return code;
}

int session_source(struct session *s, const char *path, struct result **out, struct err *err)
{
	bool standard = !strcmp(path, "-");
	struct text line = TEXT_INIT;
	size_t number = 0, lines;
	int code = 0;

	*out = NULL;
	if (s->depth >= SCRIPTS_DEEP)
		return err_set(err, ERR_USAGE, "%.200s: scripts run scripts %u deep", path, s->depth);
	FILE *f = standard ? stdin : fopen(path, "re");
	if (!f)
		return err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	file_hold hold = file_hold_open(fileno(f), "the script that runs");
	s->depth++;
	for (; !code && !s->quit && (lines = read_script_line(f, &line)); number += lines) {
		code = run_script_line(s, line.s, !s->output, err);
		if (code && !s->placed) {
			err_context(err, "%s:%zu", standard ? "standard input" : path, number + 1);
			s->placed = true;
		}
	}
	if (!code && !s->quit && !feof(f))
		code = err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	s->depth--;
	file_let_go(hold);
	*out = code ? NULL : s->last;
	text_release(&line);
	if (!standard)
		fclose(f);
	return code;
}
