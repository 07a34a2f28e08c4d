/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process_words.c - running processes, in words. */
#include "command/processes/processes.h"

#include "attach/attach.h"
#include "result/result.h"

#include <inttypes.h>

void process_add_line(const struct vm_process *p, struct text *to)
{
	text_addf(to, "attach %ld", (long)p->pid);
}

struct cell process_published(const struct vm_process *p, uint64_t bytes)
{
	if (p->kind == VM_GO)
		return cell_blank();
	return bytes ? cell_bytes((struct amount){bytes, INFERRED, REASON_PUBLISHED}) : cell_unknown(REASON_PUBLISHED);
}

void process_add_uptime(uint64_t seconds, struct text *to)
{
	static const struct {
		uint64_t seconds;
		char letter;
	} units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
	size_t i = 0;
	while (i + 1 < sizeof units / sizeof *units && seconds < units[i].seconds)
		i++;
	text_addf(to, "%" PRIu64 "%c", seconds / units[i].seconds, units[i].letter);
	uint64_t rest = units[i].seconds > 1 ? seconds % units[i].seconds / units[i + 1].seconds : 0;
	if (rest)
		text_addf(to, " %" PRIu64 "%c", rest, units[i + 1].letter);
}

void process_add_collections(const struct vm_process *p, struct text *to)
{
	const struct vm_counters *c = &p->counters;
	if (!c->heap_max)
		return;
	text_add_count(to, c->young_collections);
	text_add(to, " young, ");
	text_add_count(to, c->full_collections);
	text_addf(to, " full, %.2fs", (double)c->collection_ns / 1e9);
}

void process_add_obstacle(const struct vm_process *p, struct text *to)
{
	if (!p->readable)
		text_addf(to, "no permission (user %s)", p->user);
}
