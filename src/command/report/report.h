/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - one file for a ticket: the answers of commands about a dump, as sections of a document.
 *
 * report_make asks the commands (sections.c has the table of them), report_write writes what they answered as text,
 * Markdown or a page of HTML that needs no other file.  Main thread, or the job that runs the command.
 */
#ifndef CAIRN_COMMAND_REPORT_REPORT_H
#define CAIRN_COMMAND_REPORT_REPORT_H

#include "command/report/treemap.h"
#include "command/session/session.h"

struct report_section {
	const char *title, *anchor, *about; /* about: a sentence on the content */
	struct result *result; /* owned; NULL: there is none, and `instead` says why */
	char *instead;
	size_t top;            /* so many rows; 0: all */
	bool map;              /* the treemap stands above the table */
};

struct report {
	const struct session *session;
	struct report_section section[16];
	unsigned n;
	char **brief;          /* what there is to say first, a sentence each */
	size_t n_brief, cap_brief;
	struct treemap map;
	bool redacted;         /* texts of values were left out */
};

/* What a report is to be about, besides the dump. */
struct report_wish {
	bool redact;
	size_t suspect;    /* only about the leak suspect with this number, from 1; 0: about all */
	const char *share; /* as leaks takes it, which has the numbers; NULL: its default */
};
/* 0: *out is the caller's (report_release).  ERR_NOMEM, ERR_CANCELLED; ERR_NOT_FOUND: there are fewer suspects; a
 * command's error is the text of its section. */
MUST_CHECK int report_make(struct report *out, struct session *s, const struct report_wish *wish, struct err *err);
void report_release(void *report); /* once more is fine */

/* Remove texts of the process and paths of its host from a report (redact.c).
 * ERR_NOMEM, ERR_CANCELLED. */
MUST_CHECK int report_redact(struct report *r, struct err *err);

/* PRINT_TEXT, PRINT_MD or PRINT_HTML.  0, ERR_IO or ERR_CANCELLED. */
MUST_CHECK int report_write(const struct report *r, enum print_format format, FILE *to, struct err *err);

/* Is the file a page of HTML that report_write wrote? */
bool report_is_page(const char *path);

#endif
