/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.c - see process.h.  Secrets were masked when texts were read (base/secrets.h). */
#include "command/look/process.h"

#include <string.h>

/* --- single values ------------------------------------------------------------------------------ */

static void head_text(struct result *r, enum column_id column, const char *s)
{
	if (s)
		result_head(r, column, cell_text(s));
}

static void head_number(struct result *r, enum column_id column, uint64_t n)
{
	if (n)
		result_head(r, column, cell_plain(n));
}

static void head_bytes(struct result *r, enum column_id column, uint64_t n)
{
	if (n)
		result_head(r, column, cell_bytes(amount_exact(n)));
}

void process_cause(struct result *r, const struct heap *h)
{
	const struct process_facts *p = h->process;
	if (!p)
		return;
	head_text(r, COL_CAUSE, p->cause);
	head_text(r, COL_CAUSE_DATE, p->cause_date);
	head_number(r, COL_SIGNAL, p->signal);
}

void process_memory(struct result *r, const struct heap *h)
{
	const struct process_facts *p = h->process;
	if (!p)
		return;
	head_bytes(r, COL_HEAP_MAX, p->heap_max);
	head_bytes(r, COL_HEAP_TOTAL, p->heap_total);
	head_bytes(r, COL_HEAP_USED, p->heap_used);
}

static void head_process(struct result *r, const struct process_facts *p)
{
	head_text(r, COL_COMMAND_LINE, p->command_line);
	head_text(r, COL_STARTED, p->started);
	head_number(r, COL_PROCESS_ID, p->process_id);
	head_text(r, COL_JAVA_VERSION, p->java_version);
	head_text(r, COL_VM_VERSION, p->vm_version);
	head_text(r, COL_OS, p->os);
	head_number(r, COL_CPUS, p->cpus);
}

static void head_stated(struct result *r, const struct heap *h, const char *what, enum column_id column)
{
	for (size_t i = 0; i < h->n_stated; i++)
		if (!strcmp(h->stated[i].what, what)) {
			result_head(r, column, cell_plain(h->stated[i].count));
			return;
		}
}

void process_head(struct result *r, const struct heap *h)
{
	const struct dump_facts *f = &h->facts;
	if (h->process)
		head_process(r, h->process);
	head_number(r, COL_CPUS, f->cpus);
	head_text(r, COL_EXPERIMENTS, f->experiments);
	if (f->heap_end) {
		result_head(r, COL_HEAP_START, cell_address(f->heap_start));
		result_head(r, COL_HEAP_END, cell_address(f->heap_end));
	}
	head_stated(r, h, STATED_PAUSE_LAST, COL_PAUSE_LAST);
	head_stated(r, h, STATED_PAUSE_LONGEST, COL_PAUSE_LONGEST);
}

/* --- lists -------------------------------------------------------------------------------------- */

static const struct column argument_columns[] = {{.id = COL_ARGUMENT}};
static const struct column limit_columns[] = {{.id = COL_NAME}, {.id = COL_SOFT}, {.id = COL_HARD}};
static const struct column variable_columns[] = {{.id = COL_NAME}, {.id = COL_VALUE}};
const struct shape process_arguments_shape = {.form = "-args", SHAPE_COLUMNS(argument_columns)};
const struct shape process_limits_shape = {.form = "-limits", SHAPE_COLUMNS(limit_columns)};
const struct shape process_variables_shape = {.form = "-env", SHAPE_COLUMNS(variable_columns)};

static struct cell told(const char *s)
{
	return s ? cell_text(s) : cell_none();
}

static void add_row(struct result *r, enum process_list which, const struct process_setting *s)
{
	struct cell cells[3] = {told(s->name), told(s->value), told(s->hard)};
	result_add_row(r, which == PROCESS_ARGUMENTS ? cells + 1 : cells, NULL);
}

int process_list(struct result **out, const struct opened *o, enum process_list which, struct err *err)
{
	static const struct {
		const char *words;
		const struct shape *shape;
	} lists[] = {
	    [PROCESS_ARGUMENTS] = {"options that the VM was given", &process_arguments_shape},
	    [PROCESS_LIMITS] = {"limits of the process", &process_limits_shape},
	    [PROCESS_VARIABLES] = {"environment variables", &process_variables_shape},
	};
	const struct heap *h = o->heap;
	const struct process_facts *p = h->process;
	if (!p)
		return err_set(err, ERR_UNSUPPORTED, "%s holds no %s%s", h->facts.title, lists[which].words,
		    h->facts.roots_recorded ? "" : "; a javacore tells them, and none was read with it");
	const struct process_settings *from = which == PROCESS_ARGUMENTS ? &p->arguments :
	    which == PROCESS_LIMITS ? &p->limits : &p->variables;
	if (!from->n)
		return err_set(err, ERR_UNSUPPORTED, "the javacore tells no %s", lists[which].words);
	*out = result_new_rows(lists[which].words, o, lists[which].shape);
	for (size_t i = 0; i < from->n && !progress_own_stops(i); i++)
		add_row(*out, which, &from->list[i]);
	return 0;
}
