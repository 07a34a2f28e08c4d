/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help.h - pages of help that belong to no single command. */
#ifndef CAIRN_COMMAND_DOCS_HELP_H
#define CAIRN_COMMAND_DOCS_HELP_H

#include "command/command.h"

struct help_page {
	const char *name, *summary;
	const char *text; /* paragraphs, each ended by a line end; NULL: help_pipe_text() */
};
extern const struct help_page help_pages[]; /* ended by a NULL name */

void help_pipe_text(struct text *to);

/* " on data/shop.hprof", or "" for what works on each sample: what follows the word example. */
const char *help_sample(enum sample on);

#endif
