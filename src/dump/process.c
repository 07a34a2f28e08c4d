/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.c - see process.h. */
#include "dump/process.h"

#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

struct process_facts *process_new(void)
{
	return xcalloc(1, sizeof(struct process_facts));
}

void process_free(struct process_facts *p)
{
	if (!p)
		return;
	big_free(p->arguments.list);
	big_free(p->limits.list);
	big_free(p->variables.list);
	big_free(p->memory);
	arena_release(&p->arena);
	free(p);
}

const char **process_text(struct process_facts *p, size_t i)
{
	const char **const texts[] = {&p->cause, &p->cause_date, &p->started, &p->command_line, &p->java_version,
	    &p->vm_version, &p->os, &p->host, &p->gc_policy};
	return i < sizeof texts / sizeof *texts ? texts[i] : NULL;
}

uint64_t *process_number(struct process_facts *p, size_t i)
{
	uint64_t *const numbers[] = {&p->process_id, &p->signal, &p->cpus, &p->heap_max, &p->heap_total, &p->heap_used,
	    &p->cause_thread, &p->reference_bytes};
	return i < sizeof numbers / sizeof *numbers ? numbers[i] : NULL;
}

void process_complete(struct process_facts *p, struct process_facts *from)
{
	const char **text, **its;
	uint64_t *number;

	for (size_t i = 0; (text = process_text(p, i)); i++) {
		its = process_text(from, i);
		if (!*text && *its)
			*text = arena_strndup(&p->arena, *its, strlen(*its));
	}
	for (size_t i = 0; (number = process_number(p, i)); i++)
		*number = *number ? *number : *process_number(from, i);
}

/* Append what is between the quotes that follow a word, to the next one or the last; returns what follows them, or
 * NULL: there is no such word. */
static const char *add_quoted(const char *s, const char *word, bool last, struct text *to)
{
	const char *begin = strstr(s, word), *at = begin ? begin + strlen(word) : NULL;
	const char *end = !at ? NULL : last ? strrchr(at, '"') : strchr(at, '"');
	if (end)
		text_add_n(to, begin + strlen(word), (size_t)(end - begin) - strlen(word));
	return end ? end + 1 : NULL;
}

void process_add_short_cause(const char *cause, struct text *to)
{
	struct text error = TEXT_INIT;
	const char *after = add_quoted(cause, "Detail \"", false, &error);
	const char *slash = error.len ? strrchr(error.s, '/') : NULL;
	if (after) {
		text_add(to, slash ? slash + 1 : error.s);
		text_add(to, strncmp(after, " \"", 2) ? "" : ": ");
		add_quoted(after, " \"", true, to); /* a message may have quotes */
	} else {
		bool event = add_quoted(cause, "Event \"", false, &error);
		text_addf(to, event ? "event %s" : "%s", event ? error.s : cause);
	}
	text_release(&error);
}
