/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.c - see process.h. */
#include "dump/process.h"

#include "base/mem.h"
#include "memory/big.h"

#include <stdlib.h>

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
