/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.c - see process.h.  Secrets were masked when texts were read (base/masking.h). */
#include "command/browse/process.h"

#include "analysis/java/java.h"
#include "dump/process.h"
#include "heap/heap.h"
#include "heap/library.h"
#include "heap/threads.h"

#include <string.h>
#include <time.h>

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

const struct process_facts *process_of(const struct heap *h, struct process_facts **own)
{
	struct err err = ERR_INIT;
	*own = h->process ? NULL : java_process(h, &err); /* what could not be kept is left out */
	return h->process ? h->process : *own;
}

/* "java.lang.OutOfMemoryError in thread worker, at java.util.Arrays.copyOf(Arrays.java:1), called from ..." */
static void head_oom(struct result *r, const struct heap *h)
{
	uint32_t thread = java_oom_thread(h), own = 1;
	struct text t = TEXT_INIT, name = TEXT_INIT;
	if (thread == HEAP_NONE)
		return;
	const struct heap_thread *of = &h->threads[thread];
	java_thread_label(of, &name);
	text_addf(&t, "java.lang.OutOfMemoryError in thread %s", name.s);
	if (of->n_frames > 1)
		text_addf(&t, ", at %s", of->frames[1]);
	while (own < of->n_frames && !library_programs_name(true, of->frames[own]))
		own++;
	if (own > 1 && own < of->n_frames)
		text_addf(&t, ", called from %s", of->frames[own]);
	result_head(r, COL_CAUSE, cell_text(t.s));
	result_head(r, COL_OOM_THREAD, cell_text(name.s));
	const char *kind = java_oom_kind(h, thread);
	result_head(r, COL_OOM_KIND, kind ? cell_text_as_sure(kind, amount_weaken(amount_exact(0), INFERRED,
	    REASON_ERROR_LATER)) : cell_none());
	text_release(&t);
	text_release(&name);
}

/* Of what a javacore says. */
static void head_told_oom(struct result *r, const struct heap *h, const char *cause)
{
	uint32_t thread = java_oom_thread(h);
	const char *kind = java_oom_kind_of(cause);
	if (thread != HEAP_NONE)
		result_head(r, COL_OOM_THREAD, cell_text(h->threads[thread].name));
	if (kind)
		result_head(r, COL_OOM_KIND, cell_text(kind));
}

/* The thread in which the cause was, where that is not one that ran out of memory. */
static void head_thread(struct result *r, const struct heap *h, uint64_t address)
{
	struct text name = TEXT_INIT;
	for (uint32_t t = 0; address && t < h->n_threads && !name.len; t++)
		if (h->threads[t].address == address && !h->threads[t].ran_out)
			java_thread_label(&h->threads[t], &name);
	if (name.len)
		result_head(r, COL_CAUSE_THREAD, cell_text(name.s));
	text_release(&name);
}

void process_cause(struct result *r, const struct heap *h, const struct process_facts *p, bool brief)
{
	struct text thrown = TEXT_INIT;
	if (h->process) {
		head_text(r, COL_CAUSE, p->cause);
		head_text(r, COL_CAUSE_DATE, p->cause_date);
		head_number(r, COL_SIGNAL, p->signal);
		head_told_oom(r, h, p->cause);
		if (!brief)
			head_thread(r, h, p->cause_thread);
	}
	if (brief || h->process)
		return;
	head_oom(r, h);
	if (java_oom_thrown(h, &thrown))
		result_head(r, COL_OOM_THROWN, cell_text(thrown.s));
	text_release(&thrown);
}

void process_memory(struct result *r, const struct heap *h, const struct process_facts *p)
{
	uint64_t limit = p && !p->heap_max && !h->process ? java_heap_limit(h) : 0;
	if (!p)
		return;
	head_bytes(r, COL_HEAP_MAX, p->heap_max);
	if (limit >= h->shallow && limit) /* less cannot be the heap's */
		result_head(r, COL_HEAP_MAX, cell_bytes(amount_weaken(amount_exact(limit), INFERRED, REASON_DIRECT_LIMIT)));
	head_bytes(r, COL_HEAP_TOTAL, p->heap_total);
	head_bytes(r, COL_HEAP_USED, p->heap_used);
	head_text(r, COL_GC_POLICY, p->gc_policy);
}

/* Seconds from one date to another, both of one clock: "2016-04-04T08:34:17", perhaps with Z. */
static bool seconds_between(const char *from, const char *to, uint64_t *seconds)
{
	struct tm a = {.tm_isdst = 0}, b = {.tm_isdst = 0};
	const char *end_a = from ? strptime(from, "%Y-%m-%dT%H:%M:%S", &a) : NULL;
	const char *end_b = to ? strptime(to, "%Y-%m-%dT%H:%M:%S", &b) : NULL;
	if (!end_a || !end_b || *end_a != *end_b)
		return false;
	time_t began = timegm(&a), ended = timegm(&b);
	*seconds = ended > began ? (uint64_t)(ended - began) : 0;
	return ended >= began;
}

static void head_process(struct result *r, const struct heap *h, const struct process_facts *p)
{
	head_text(r, COL_COMMAND_LINE, p->command_line);
	head_text(r, COL_STARTED, p->started);
	uint64_t uptime;
	if (seconds_between(p->started, p->cause_date ? p->cause_date : h->facts.created, &uptime))
		result_head(r, COL_UPTIME, cell_plain(uptime));
	head_number(r, COL_PROCESS_ID, p->process_id);
	head_text(r, COL_JAVA_VERSION, p->java_version);
	head_text(r, COL_VM_VERSION, p->vm_version);
	head_text(r, COL_HOST, p->host);
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

void process_head(struct result *r, const struct heap *h, const struct process_facts *p)
{
	const struct dump_facts *f = &h->facts;
	if (p)
		head_process(r, h, p);
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

static void add_row(struct result *r, enum process_list which, const struct process_setting *s)
{
	struct cell cells[3] = {cell_text(s->name), cell_text(s->value), cell_text(s->hard)};
	result_add_row(r, which == PROCESS_ARGUMENTS ? cells + 1 : cells, NULL);
}

int process_list(struct result **out, const struct opened *o, enum process_list which, struct err *err)
{
	static const struct {
		const char *words;
		const struct shape *shape;
	} lists[] = {
	    [PROCESS_ARGUMENTS] = {"options of the VM", &process_arguments_shape},
	    [PROCESS_LIMITS] = {"limits of the process", &process_limits_shape},
	    [PROCESS_VARIABLES] = {"environment variables", &process_variables_shape},
	};
	const struct heap *h = o->heap;
	struct process_facts *own;
	const struct process_facts *p = process_of(h, &own);
	if (!p || (own && (which != PROCESS_ARGUMENTS || !own->arguments.n))) {
		process_free(own);
		return err_set(err, ERR_UNSUPPORTED, "%s has no %s%s", h->facts.title, lists[which].words,
		    !h->facts.roots_recorded ? " (open it with its javacore)" :
		    own && which == PROCESS_ARGUMENTS ? ": its program did not read them (JMX)" : "");
	}
	const struct process_settings *from = which == PROCESS_ARGUMENTS ? &p->arguments :
	    which == PROCESS_LIMITS ? &p->limits : &p->variables;
	if (!from->n)
		return err_set(err, ERR_UNSUPPORTED, "%s has no %s",
		    h->companion ? "the javacore" : h->facts.title, lists[which].words);
	*out = result_new_rows(lists[which].words, o, lists[which].shape);
	for (size_t i = 0; i < from->n && !progress_own_stops(i); i++)
		add_row(*out, which, &from->list[i]);
	process_free(own);
	return 0;
}
