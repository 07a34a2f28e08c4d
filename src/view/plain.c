/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain.c - commands typed at a prompt, their results printed below: for screen readers, serial lines, and
 * terminals that cannot place their cursor.
 *
 * A line is run and printed as -x does it (batch.c); here are the prompt, what ^C stops, and the questions.
 */
#include "view/view.h"

#include "base/mem.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "view/config.h"
#include "view/history.h"
#include "view/prompt.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const struct config *config;
	struct progress now; /* of what the main thread is at: ^C cancels it */
	struct text line;
	bool begun;
} plain;

static void stop(int signal)
{
	(void)signal;
	atomic_store(&plain.now.cancel, true);
}

static char **complete(void *session, const char *line, size_t end, size_t limit, bool asked, size_t *start, size_t *n)
{
	(void)asked;
	return session_complete(session, line, end, limit, start, n);
}

/* Said before the first prompt: what was opened, and how to go on. */
static void greet(const struct session *s)
{
	const struct heap *h = session_heap(s);
	struct text t = TEXT_INIT;

	if (h) {
		text_add_escaped(&t, h->dump->source->path, strlen(h->dump->source->path));
		text_add(&t, ": ");
		text_add_count(&t, h->n_objects);
		text_add(&t, " objects; ");
	}
	if (!h && s->folder) {
		text_add_escaped(&t, s->folder->shown, strlen(s->folder->shown));
		text_addf(&t, s->folder->n ? ": %zu dump%s, use N opens one; " : ": %zu dump%s, open FILE opens one; ",
		    s->folder->n_dumps, s->folder->n_dumps == 1 ? "" : "s");
	} else if (!h && s->n_dumps)
		text_addf(&t, "%zu profile%s for dumps, trend, diff and growth; ", s->n_dumps,
		    s->n_dumps == 1 ? "" : "s");
	text_add(&t, "help lists the commands, quit exits");
	puts(t.s);
	text_release(&t);
}

static void begin(struct session *s)
{
	struct sigaction action = {.sa_handler = stop}; /* without SA_RESTART: what waits is to hear of it */
	size_t n;
	char **line = history_read(&n);

	sigaction(SIGINT, &action, NULL);
	progress_set_own(&plain.now);
	prompt_plain_init(complete, s, line, n);
	for (size_t i = 0; i < n; i++)
		VEC_PUSH(s->lines.history, s->lines.n_history, s->lines.cap_history) = line[i];
	free(line);
	config_settings(plain.config, s);
	greet(s);
	plain.begun = true;
}

/* batch_options.next */
static const char *next_line(void *context, struct session *s)
{
	char *line;
	(void)context;

	if (!plain.begun)
		begin(s);
	for (;;) {
		fflush(stderr);
		enum prompt_answer answer = prompt_plain_read("cairn> ", &line);
		if (answer == PROMPT_END)
			return NULL;
		if (answer == PROMPT_STOPPED)
			continue;
		text_clear(&plain.line);
		text_add(&plain.line, line);
		free(line);
		if (plain.line.s[strspn(plain.line.s, " \t")])
			break;
	}
	/* "q" is what the screen's key is; no command has that name */
	if (strcmp(plain.line.s, "q") == 0)
		return NULL;
	history_append(plain.line.s);
	prompt_remember(plain.line.s);
	progress_reset(&plain.now);
	return plain.line.s;
}

/* writing.ask: anything but a yes is none. */
static bool ask(void *context, const char *question)
{
	struct text t = TEXT_INIT;
	char *line = NULL;
	(void)context;

	text_addf(&t, "%s [y/N] ", question);
	bool yes = prompt_plain_read(t.s, &line) == PROMPT_LINE && (*line == 'y' || *line == 'Y');
	free(line);
	text_release(&t);
	return yes;
}

int view_run_plain(const struct batch_options *options, const struct config *config)
{
	struct batch_options o = *options;

	plain.config = config;
	o.next = next_line;
	o.writes.ask = ask;
	int status = batch_run(&o);
	progress_set_own(NULL);
	text_release(&plain.line);
	return status;
}
