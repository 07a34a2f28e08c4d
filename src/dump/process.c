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
