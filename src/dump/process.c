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

#define TEXT(member) {#member, offsetof(struct process_facts, member), .exported = true}
#define NUMBER(member) {#member, offsetof(struct process_facts, member), .number = true, .exported = true}
static const struct process_fact facts[] = {TEXT(cause), TEXT(cause_date), TEXT(started),
    {"command_line", offsetof(struct process_facts, command_line)}, TEXT(java_version), TEXT(vm_version), TEXT(os),
    TEXT(host), TEXT(gc_policy), NUMBER(process_id), NUMBER(signal), NUMBER(cpus), NUMBER(heap_max),
    NUMBER(heap_total), NUMBER(heap_used), NUMBER(cause_thread), NUMBER(reference_bytes)};

const struct process_fact *process_fact(size_t i)
{
	return i < sizeof facts / sizeof *facts ? &facts[i] : NULL;
}

const char **process_text(struct process_facts *p, const struct process_fact *f)
{
	return (const char **)(void *)((char *)p + f->at);
}

uint64_t *process_number(struct process_facts *p, const struct process_fact *f)
{
	return (uint64_t *)(void *)((char *)p + f->at);
}

void process_complete(struct process_facts *p, struct process_facts *from)
{
	const struct process_fact *f;

	for (size_t i = 0; (f = process_fact(i)); i++) {
		if (f->number && !*process_number(p, f))
			*process_number(p, f) = *process_number(from, f);
		const char *text = f->number ? NULL : *process_text(from, f);
		if (text && !*process_text(p, f))
			*process_text(p, f) = arena_strndup(&p->arena, text, strlen(text));
	}
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
