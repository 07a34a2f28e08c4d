/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_processes.c - processes: the VMs and Go programs that run on this host. */
#include "command/commands.h"

#include "attach/attach.h"
#include "base/mem.h"
#include "command/processes/processes.h"
#include "result/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column list_columns[] = {
    {.id = COL_PID, .room = COLUMN_LATE},
    {.id = COL_MAIN},
    {.id = COL_VM},
    {.id = COL_HEAP_USED, .total = true, .room = COLUMN_LATE},
    {.id = COL_HEAP_MAX, .room = COLUMN_LATE},
    {.id = COL_USER},
    {.id = COL_CONTAINER, .room = COLUMN_EARLY},
    {.id = COL_UPTIME_OF_PROCESS},
    {.id = COL_STATE},
    {.id = COL_GC, .hidden = true},
    {.id = COL_COMMAND_LINE, .hidden = true},
};
static const struct shape list_shape = {SHAPE_COLUMNS(list_columns), .named_by = COL_MAIN};

static const enum column_id one_values[] = {COL_PID, COL_MAIN, COL_VM, COL_HEAP_USED, COL_HEAP_TOTAL, COL_HEAP_MAX,
    COL_GC, COL_USER, COL_CONTAINER, COL_UPTIME_OF_PROCESS, COL_COMMAND_LINE};
static const struct shape one_shape = {.form = "of one process", SHAPE_HEAD(one_values)};

static struct cell process_cell(const struct vm_process *p, enum column_id column, struct text *scratch)
{
	const struct vm_counters *c = &p->counters;
	size_t words;
	text_clear(scratch);
	switch (column) {
	case COL_PID:
		text_addf(scratch, "%ld", (long)p->pid);
		return cell_number(scratch->s, (uint64_t)p->pid, amount_exact(0));
	case COL_MAIN:
		return cell_text(p->name);
	case COL_VM:
		return *p->version ? cell_text(p->version) : cell_none();
	case COL_HEAP_USED:
		return process_published(p, c->heap_used);
	case COL_HEAP_TOTAL:
		return process_published(p, c->heap_committed);
	case COL_HEAP_MAX:
		if (p->kind == VM_GO)
			return cell_blank();
		return c->heap_max ? cell_bytes(amount_exact(c->heap_max)) : cell_unknown(REASON_PUBLISHED);
	case COL_USER:
		return cell_text(p->user);
	case COL_CONTAINER:
		return cell_text_or_blank(p->container);
	case COL_UPTIME_OF_PROCESS:
		text_addf(scratch, "%" PRIu64, p->uptime);
		words = scratch->len + 1;
		text_add_char(scratch, '\0');
		process_add_uptime(p->uptime, scratch);
		struct cell cell = cell_number(scratch->s, p->uptime, amount_exact(p->uptime));
		cell.name = scratch->s + words;
		return cell;
	case COL_STATE:
		process_add_obstacle(p, scratch);
		return cell_text_or_blank(scratch->s);
	case COL_GC:
		process_add_collections(p, scratch);
		return cell_text_or_blank(scratch->s);
	default:
		return cell_text(p->command);
	}
}

/* --- all of them -------------------------------------------------------------------------------- */

struct process_rows {
	struct vm_processes *all;
	struct text line;
};

static void rows_cell(const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct process_rows *rows = r->data;
	*out = process_cell(&rows->all->list[row], r->shape->columns[column].id, scratch);
}

static void rows_target(const struct result *r, size_t row, struct target *out)
{
	struct process_rows *rows = r->data;
	text_clear(&rows->line);
	process_add_line(&rows->all->list[row], &rows->line);
	*out = (struct target){.kind = TARGET_COMMAND, .command = rows->line.s, .process = rows->all->list[row].pid};
}

static void rows_release(void *data)
{
	struct process_rows *rows = data;
	vm_processes_free(rows->all);
	text_release(&rows->line);
	free(rows);
}

static const struct result_ops rows_ops = {
    .cell = rows_cell, .target = rows_target, .release = rows_release};

struct result *processes_result(void)
{
	struct process_rows *rows = xcalloc(1, sizeof *rows);
	rows->all = vm_processes_list();
	struct result *r = result_new("processes", NULL, &list_shape, &rows_ops, rows, rows->all->n);
	r->kind = cmd_processes.name; /* also where it is the answer of dumps */
	result_mark(r, RESULT_NO_PANES, true);
	result_mark(r, RESULT_REFRESHES, true);
	if (!rows->all->n) {
		result_mark(r, RESULT_NONE_ANSWERS, true);
		result_add_note(r, "no Java or Go process that this user may see runs here");
	}
	result_add_number_note(r, rows->all->hidden, "other process belongs to another user and is not looked at",
	    "other processes belong to other users and are not looked at");
	return r;
}

/* --- one ------------------------------------------------------------------------------------------ */

static int show_one(struct result **out, const char *words, struct err *err)
{
	struct vm_process p;
	struct text scratch = TEXT_INIT;
	int code = vm_process_find(&p, words, err);
	if (code)
		return code;
	struct result *r = *out = result_new_rows(p.name, NULL, &one_shape);
	for (size_t i = 0; i < sizeof one_values / sizeof *one_values; i++)
		result_head(r, one_values[i], process_cell(&p, one_values[i], &scratch));
	text_release(&scratch);
	vm_process_release(&p);
	return 0;
}

static int run_processes(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct text words = TEXT_INIT;
	int code = 0;
	(void)s;
	for (size_t i = 0; i < call->n_words; i++)
		text_addf(&words, "%s%s", i ? " " : "", call->words[i]);
	if (words.len)
		code = show_one(out, words.s, err);
	else
		*out = processes_result();
	text_release(&words);
	return code;
}

const struct command cmd_processes = {
    .name = "processes",
    .arguments = {{ARG_WORDS, "PROCESS", true}},
    .flags = COMMAND_NO_DUMP | COMMAND_OF_SESSION | COMMAND_OF_VM | COMMAND_NO_TABLE,
    .group = "processes",
    .summary = "list the Java and Go processes of this host",
    .shapes = SHAPES(&list_shape, &one_shape),
    .description = "PROCESS is a pid, or a unique part of the main class or command line: shows one. cairn reads "
	"/proc and the counters that HotSpot VMs publish (hsperfdata): no VM pauses. The screen reads them again "
	"every two seconds. Enter dumps a heap, or copies a Go program, and opens it (attach).\n"
	"~heap_used\tas the VM published it at its last collection; ?: never, or -XX:-UsePerfData\n"
	"state\twhat is in the way: processes of other users need root or sudo -u USER\n"
	"Processes of containers are listed with their id. In a container it lists those of the container (help "
	"containers).",
    .examples = {{"processes", ON_ANY, "which VMs run, and how full are their heaps?"},
	{"processes | sort -heap_used", ON_ANY, "the fullest heap first"}},
    .run = run_processes,
};
