/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_report.c - report: everything for a ticket, in one file. */
#include "command/commands.h"

#include "analysis/describe/describe.h"
#include "command/report/report.h"
#include "command/exec/exec.h"

#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {{.id = COL_TEXT}};
static const struct shape shape = {SHAPE_COLUMNS(columns)};

struct report_writing {
	const struct report *report;
	enum print_format format;
};

static int write_report(void *writing, FILE *to, const char *path, struct err *err)
{
	const struct report_writing *w = writing;
	(void)path;
	return report_write(w->report, w->format, to, err);
}

static ssize_t add_text(void *text, const char *bytes, size_t n)
{
	text_add_n(text, bytes, n);
	return (ssize_t)n;
}

/* As lines: the screen shows them, and a pipe prints them. */
static int as_lines(struct session *s, const struct report *report, struct result **out, struct err *err)
{
	struct text text = TEXT_INIT;
	FILE *to = fopencookie(&text, "w", (cookie_io_functions_t){.write = add_text});
	if (!to)
		return err_set(err, ERR_NOMEM, "no memory for the report");
	int code = report_write(report, PRINT_TEXT, to, err);
	fclose(to);
	struct result *r = code ? NULL : result_new_rows("report", s->dump, &shape);
	for (size_t at = 0, length; r && at < text.len; at += length + 1) {
		length = strcspn(text.s + at, "\n");
		text.s[at + length] = '\0';
		result_add_row(r, (struct cell[]){cell_text(text.s + at)}, NULL);
	}
	if (r)
		result_mark(r, RESULT_PLAIN_TEXT, true);
	text_release(&text);
	*out = r;
	return code;
}

static int make(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const char *path = call_word(call, DASH_O);
	struct report report;
	struct report_writing w = {&report, PRINT_TEXT};
	uint64_t bytes;
	int code = path ? print_format_of_file(path, &w.format, NULL) : 0;
	if (code || (w.format != PRINT_TEXT && w.format != PRINT_MD && w.format != PRINT_HTML))
		return err_set(err, ERR_USAGE, "\"%.200s\" is not a name of a report (use .txt, .md or .html)", path);
	const struct report_wish wish = {.redact = call_has(call, DASH_REDACT), .share = call_word(call, DASH_SHARE),
	    .suspect = (size_t)call_number(call, DASH_SUSPECT, 0)};
	if (!code && call_has(call, DASH_SUSPECT) && !wish.suspect)
		code = err_set(err, ERR_USAGE, "suspects are numbered from 1 (leaks lists them)");
	if (!code)
		code = report_make(&report, s, &wish, err);
	if (code)
		return code;
	code = path ? session_write_whole(s, &(struct new_file){.path = path, .bytes = &bytes}, write_report, &w, err) :
	    as_lines(s, &report, out, err);
	if (path && !code) {
		session_say(s, "wrote the report to %s", path);
		*out = file_written(s, &file_by_option_shape, "report", path, bytes);
	}
	report_release(&report);
	return code;
}

/* What a redacted one asks, and what its tables are made of while they are written, must name no keys. */
static int run_report(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool before = inspect_hide_keys(call_has(call, DASH_REDACT));
	int code = make(s, call, out, err);
	(void)inspect_hide_keys(before);
	return code;
}

const struct command cmd_report = {
    .name = "report",
    .options = OPTIONS({DASH_O, OPT_WORDS, "FILE", "output file: .txt, .md or .html"},
	{DASH_REDACT, OPT_FLAG, NULL, "leave out values, messages, paths and command line"},
	{DASH_SUSPECT, OPT_COUNT, "N", "only about leak suspect N, as leaks orders them"},
	{DASH_SHARE, OPT_WORDS, "PERCENT", "of leak suspects: -share of leaks"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .group = "problems",
    .summary = "write a report for a ticket, as text, Markdown or HTML",
    .shapes = SHAPES(&shape, &file_by_option_shape),
    .description = "The report has the dump and its cause, leak suspects with the references to clear, and the "
	"dominator tree as a treemap (blocks in text). Then follow the largest classes, waste, off-heap memory, "
	"threads, locks, references, and the certainty of the numbers. For a ticket: cairn -x 'report -o heap.html' "
	"DUMP. With -suspect it is about one leak suspect: its sentence, its path, and what clearing its references "
	"frees. The HTML page needs no script and no other file, escapes every text and prints well. With -redact it "
	"has only numbers, times, versions, and names of classes, fields, methods and threads: no values, error "
	"messages, file names or command line.",
    .examples = {{"report", ON_ANY, "everything about this dump on one page"},
	{"report -redact", ON_ANY, "the same without values and paths"},
	{"report -suspect 1", ON_ANY, "a ticket about the first leak suspect"}},
    .run = run_report,
};
