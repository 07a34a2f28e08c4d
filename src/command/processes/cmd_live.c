/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_live.c - live: the class histogram of a running VM, asked for again and again. */
#include "command/commands.h"

#include "algorithms/sort.h"
#include "attach/attach.h"
#include "base/mem.h"
#include "command/args/args.h"
#include "command/processes/processes.h"
#include "memory/big.h"
#include "result/plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { L_TIME, L_CLASS, L_OBJECTS, L_SHALLOW, L_D_SHALLOW, L_RATE, L_PLOT, L_COLUMNS };

static const struct column columns[] = {
    [L_TIME] = {.id = COL_SECONDS, .hidden = true},
    [L_CLASS] = {.id = COL_CLASS},
    [L_OBJECTS] = {.id = COL_OBJECTS, .total = true},
    [L_SHALLOW] = {.id = COL_SHALLOW, .total = true, .bar = true},
    [L_D_SHALLOW] = {.id = COL_D_SHALLOW, .total = true},
    [L_RATE] = {.id = COL_RATE, .total = true, .room = COLUMN_EARLY},
    [L_PLOT] = {.id = COL_PLOT, .room = COLUMN_EARLY},
};
static const struct shape shape = {.named_by = COL_CLASS, SHAPE_COLUMNS(columns)};

enum { ANSWERS_MOST = 100000, SECONDS_MOST = 86400, SECONDS_DEFAULT = 2 };

/* --- the watch ------------------------------------------------------------------------------------ */

/* The one of the session if it is of this process, else a new one in its place. */
static int watch_of(struct session *s, const struct call *call, struct vm_watch **out, struct err *err)
{
	bool collect = false;
	struct vm_watch *w = s->watch;
	struct vm_process p;
	char title[VM_TITLE], pid[24];
	pid_t named = process_watched(&collect);
	long last = w ? (long)w->process.pid : (long)named;
	const char *word = call->argument[0].given ? call->argument[0].word : pid;
	collect = call_has(call, DASH_LIVE) || (collect && !call->argument[0].given);
	if (!call->argument[0].given && !last)
		return call_missing(call->command, "PID or NAME is missing", "", 1, err);
	snprintf(pid, sizeof pid, "%ld", last);
	int code = process_find_vm(&p, word, err);
	if (code && w && w->process.pid == (pid_t)strtol(word, NULL, 10) && !vm_process_lives(&w->process)) {
		vm_process_title(&w->process, title);
		return err_set(err, code, "%s has ended", title);
	}
	if (code)
		return code;
	if (w && w->process.pid == p.pid && w->process.started == p.started && w->collect == collect) {
		vm_process_release(&p);
	} else {
		vm_watch_free(w);
		s->watch = w = vm_watch_new(&p, collect);
	}
	*out = w;
	return 0;
}

/* Sleep between two answers.  ERR_CANCELLED. */
static int pass_time(struct session *s, double seconds, struct err *err)
{
	uint64_t end = progress_clock() + (uint64_t)(seconds * 1e9);
	int code = 0;
	while (!(code = progress_check(session_progress(s), err)) && progress_clock() < end)
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	return code;
}

/* --- rows ------------------------------------------------------------------------------------------ */

/* "▁▂▃▅▇": bytes by the last answers, from the least to the most.  What changes by less than an eighth is
 * low: a class that keeps its size is a flat line. */
static void add_course(struct text *to, const struct vm_watch *w, const struct vm_class *c, bool is_drawn)
{
	uint32_t n = w->answers < VM_PAST ? w->answers : VM_PAST;
	uint64_t most = 0, least = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		most = c->past[i] > most ? c->past[i] : most;
		least = c->past[i] < least ? c->past[i] : least;
	}
	uint64_t span = most - least > most / 8 ? most - least : most / 8;
	for (uint32_t i = n; is_drawn && i < VM_PAST; i++)
		text_add_char(to, ' '); /* else the columns would move with each answer */
	for (uint32_t i = w->answers - n; i < w->answers; i++)
		plot_add(to, c->past[i % VM_PAST] - least, span);
}

static struct cell per_second(const struct vm_watch *w, const struct vm_class *c)
{
	if (w->seconds <= 0)
		return cell_none();
	double before = (double)c->before / w->seconds, now = (double)c->bytes / w->seconds;
	return cell_bytes_delta(amount_exact((uint64_t)before), amount_exact((uint64_t)now));
}

static int by_bytes(const void *x, const void *y, void *list)
{
	const struct vm_class *all = list, *a = &all[*(const uint32_t *)x], *b = &all[*(const uint32_t *)y];
	return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : strcmp(a->name, b->name);
}

static int add_rows(struct result *r, const struct vm_watch *w, bool is_drawn, struct err *err)
{
	struct text plot = TEXT_INIT, line = TEXT_INIT;
	uint32_t *order = big_alloc(w->n, sizeof *order, err);
	if (!order)
		return ERR_NOMEM;
	for (uint32_t i = 0; i < w->n; i++)
		order[i] = i;
	sort_array_with(order, w->n, sizeof *order, by_bytes, w->list);
	for (uint32_t i = 0; i < w->n && !progress_own_stops(i); i++) {
		const struct vm_class *c = &w->list[order[i]];
		if (!c->objects && !c->first)
			continue; /* it came and went */
		text_clear(&plot);
		text_clear(&line);
		add_course(&plot, w, c, is_drawn);
		text_addf(&line, "attach %ld %s", (long)w->process.pid, c->name);
		result_add_row(r, (struct cell[L_COLUMNS]){
		    [L_TIME] = cell_plain((uint64_t)w->all_seconds),
		    [L_CLASS] = cell_text(c->name),
		    [L_OBJECTS] = cell_count(amount_exact(c->objects)),
		    [L_SHALLOW] = cell_bytes(amount_exact(c->bytes)),
		    [L_D_SHALLOW] = cell_bytes_delta(amount_exact(c->first), amount_exact(c->bytes)),
		    [L_RATE] = per_second(w, c),
		    [L_PLOT] = cell_text(plot.s)},
		    &(struct target){.kind = TARGET_COMMAND, .command = line.s, .process = w->process.pid, .part = true});
	}
	big_free(order);
	text_release(&plot);
	text_release(&line);
	return result_check(r, err);
}

/* "com.acme.shop.Main 4711 · heap 313M of 512M · paused 1.4ms · 12+0 GCs 85ms": a narrow screen lacks the last */
static void add_title(struct text *to, const struct vm_watch *w)
{
	const struct vm_counters *c = &w->counters;
	text_addf(to, "%s %ld", w->process.name, (long)w->process.pid);
	if (c->heap_used) {
		text_add(to, " \u00b7 heap ");
		text_add_bytes(to, c->heap_used);
		text_add(to, c->heap_max ? " of " : "");
		if (c->heap_max)
			text_add_bytes(to, c->heap_max);
	}
	if (w->pause_ns)
		text_addf(to, " \u00b7 paused %.1fms", (double)w->pause_ns / 1e6);
	if (c->heap_used)
		text_addf(to, " \u00b7 %" PRIu64 "+%" PRIu64 " GCs %" PRIu64 "ms", c->young_collections,
		    c->full_collections, c->collection_ns / 1000000);
}

static void add_cost(struct result *r, const struct vm_watch *w)
{
	if (w->pause_ns)
		result_notef(r, "for this answer the VM stopped its threads for %.1f ms%s", (double)w->pause_ns / 1e6,
		    w->collect ? ", with a full collection" : "");
	else
		result_notef(r, "the answer took %.1f ms; the VM does not publish for how long it stopped its threads",
		    (double)w->answer_ns / 1e6);
	if (!w->collect)
		result_add_note(r, "counts include objects that are not collected yet (-live excludes them)");
}

static int run_live(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	uint64_t n = call_number(call, DASH_N, 1), seconds = call_number(call, DASH_SECONDS, SECONDS_DEFAULT);
	struct text title = TEXT_INIT;
	struct vm_watch *w = NULL;
	int code = n < 1 || n > ANSWERS_MOST || seconds > SECONDS_MOST ?
	    err_set(err, ERR_USAGE, "-n is 1 to %d, -seconds at most %d", ANSWERS_MOST, SECONDS_MOST) :
	    watch_of(s, call, &w, err);
	for (uint64_t i = 0; !code && i < n; i++) {
		code = i ? pass_time(s, (double)seconds, err) : 0;
		code = code ? code : process_error(vm_watch_ask(w, session_progress(s), err), err);
		if (!code && !*out) {
			add_title(&title, w);
			*out = result_new_rows(title.s, NULL, &shape);
			result_mark(*out, RESULT_REFRESHES, true);
		}
		if (!code)
			code = add_rows(*out, w, s->interactive && n == 1, err);
	}
	if (!code)
		add_cost(*out, w);
	if (!code && n > 1)
		result_show_column(*out, COL_SECONDS, true);
	text_release(&title);
	return code;
}

const struct command cmd_live = {
    .name = "live",
    .arguments = {{ARG_WORD, "PID|NAME", true}},
    .options = OPTIONS({DASH_LIVE, OPT_FLAG, NULL, "a full collection first: live objects only"},
	{DASH_N, OPT_COUNT, "N", "ask N times (1)"}, {DASH_SECONDS, OPT_COUNT, "N", "seconds between answers (2)"}),
    .flags = COMMAND_NO_DUMP | COMMAND_OF_SESSION | COMMAND_OF_VM,
    .group = "processes",
    .summary = "watch the class histogram of a running VM",
    .shapes = SHAPES(&shape),
    .description = "The VM counts its objects, which pauses it in proportion to its heap; the note says for how long. "
	"The screen asks again every two seconds. Enter dumps the heap and lists the objects of the class. Without PID "
	"it is the VM of --live. assert needs no dump for conditions about live.\n"
	"d_shallow\tchange since the first answer\n"
	"rate\tchange since the answer before, per second\n"
	"plot\tshallow size in the last answers, from the least to the most",
    .examples = {{"live com.acme.shop", ON_PROCESS, "the process with this in its command line"},
	{"live com.acme.shop -n 3 -seconds 1", ON_PROCESS, "three answers, a second apart"},
	{"live com.acme.shop | sort -d_shallow", ON_PROCESS, "what grew most since the first answer"},
	{"assert '\"live com.acme.shop\".shallow < 500M'", ON_PROCESS, "is each class below 500M"}},
    .run = run_live,
};
