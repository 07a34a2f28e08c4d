/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_overview.c - overview: the cause, the suspects, what fills the heap and what holds it, in one table.
 *
 * It asks other commands and takes their first rows, so a figure is the same here and there.  Each row opens the page
 * that it was taken from.  While the screen still finds retained sizes, the parts that need them are missing: the
 * screen asks again when they are known.
 */
#include "command/commands.h"

#include "analysis/dominators/dominators.h"
#include "base/mem.h"
#include "command/browse/process.h"
#include "command/exec/exec.h"
#include "command/session/session.h"
#include "dump/javacore/javacore.h"
#include "dump/process.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/ids.h"
#include "result/result.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { O_SECTION, O_NAME, O_BYTES, O_SHARE, O_FREED, O_SENTENCE, O_CERTAINTY, O_FIELD, O_CLASS, O_REFERENCE, O_NUMBER,
	O_COLUMNS };

static const struct column columns[] = {
    [O_SECTION] = {.id = COL_SECTION},
    [O_NAME] = {.id = COL_NAME},
    [O_BYTES] = {.id = COL_BYTES},
    [O_SHARE] = {.id = COL_SHARE},
    [O_FREED] = {.id = COL_FREED},
    [O_SENTENCE] = {.id = COL_SENTENCE, .hidden = true},
    [O_CERTAINTY] = {.id = COL_CERTAINTY, .hidden = true},
    [O_FIELD] = {.id = COL_FIELD, .hidden = true},
    [O_CLASS] = {.id = COL_CLASS, .hidden = true},
    [O_REFERENCE] = {.id = COL_REFERENCE, .hidden = true},
    [O_NUMBER] = {.id = COL_NUMBER, .hidden = true},
};
static const struct shape overview_shape = {SHAPE_COLUMNS(columns), .named_by = COL_NAME, .apart = true};

static const struct option_spec overview_options[] = {
    {DASH_BRIEF, OPT_FLAG, NULL, "at most 11 rows"},
    {DASH_NONE, OPT_FLAG, NULL, NULL},
};

/* The most rows of a section: as lines, by -brief, and on the screen, which shows those that there is room for. */
enum { AS_LINES, AS_BRIEF, ON_SCREEN };
static const struct most {
	size_t suspects, classes, holders;
} most_of[] = {[AS_LINES] = {12, 12, 12}, [AS_BRIEF] = {2, 3, 2}, [ON_SCREEN] = {12, 60, 60}};

enum { BRIEF_ROWS = 11 };

struct overview {
	struct session *s;
	bool brief;
	const struct heap *heap;
	struct result *to;
	struct most most;
};

/* --- rows --------------------------------------------------------------------------------------- */

/* Of cells not given none applies. */
static void add(struct overview *o, const char *section, const struct cell cells[O_COLUMNS],
    const struct target *target)
{
	struct cell all[O_COLUMNS];
	if (o->brief && o->to->n_rows == BRIEF_ROWS)
		return;
	memcpy(all, cells, sizeof all);
	all[O_SECTION] = cell_text(section);
	result_add_row(o->to, all, target);
}

/* A row of words alone, which have no mark of their own. */
static void add_words(struct overview *o, const char *section, const char *words, struct cell certainty,
    const char *line)
{
	add(o, section, (struct cell[O_COLUMNS]){[O_NAME] = cell_text(words), [O_CERTAINTY] = certainty},
	    &(struct target){.kind = TARGET_COMMAND, .command = line});
}

/* What another command answers; *out NULL: it does not apply to this dump.  ERR_NOMEM or ERR_CANCELLED. */
static int ask(struct overview *o, const char *line, struct result **out, struct err *err)
{
	struct err said = ERR_INIT;
	*out = NULL;
	int code = session_ask_line(o->s, line, out, &said);
	if (code != ERR_NOMEM && code != ERR_CANCELLED)
		return 0;
	*err = said;
	return code;
}

/* The cell of a row in the column of this kind, its text kept by the overview; blank without such a column. */
static struct cell cell_of(struct overview *o, struct result *from, size_t row, enum column_id id)
{
	struct cell cell = cell_blank();
	int column = from ? result_column_of(from, id) : -1;
	if (column >= 0)
		result_cell(from, row, (unsigned)column, &cell);
	return result_keep_cell(o->to, cell);
}

static struct cell total_of(struct result *from, enum column_id id)
{
	struct cell cell = cell_blank();
	int column = from ? result_column_of(from, id) : -1;
	if (column >= 0 && from->n_rows)
		result_total(from, (unsigned)column, &cell);
	return cell;
}

/* --- the cause ---------------------------------------------------------------------------------- */

static const enum column_id cause_values[] = {PROCESS_VALUES};
static const struct shape cause_shape = {SHAPE_HEAD(cause_values)};

#define SECTION_EVENT "event" /* a person wanted the dump: that is no trouble */

static void add_cause(struct overview *o, bool early)
{
	struct process_facts *own;
	const struct process_facts *process = process_of(o->heap, &own);
	struct result *r = result_new("cause", o->s->dump, &cause_shape, NULL, NULL, 0);
	const char *cause = NULL, *thread = NULL;
	struct cell certainty = cell_blank();
	struct text words = TEXT_INIT;
	process_cause(r, o->heap, process, early);
	for (size_t i = 0; i < r->n_head; i++) {
		if (r->head[i].column == COL_CAUSE && r->head[i].cell.type == CELL_TEXT) {
			cause = r->head[i].cell.text;
			certainty = cell_certainty(r->head[i].cell.amount);
		}
		if (r->head[i].column == COL_OOM_THREAD && r->head[i].cell.type == CELL_TEXT)
			thread = r->head[i].cell.text;
	}
	if (cause && strstr(cause, " Detail \"")) { /* the VM's own words, which info has, are longer than a line */
		process_add_short_cause(cause, &words);
		text_addf(&words, thread ? " in thread %s" : "", thread);
		cause = words.s;
	}
	if (cause && *cause)
		add_words(o, process && javacore_was_wanted(process) ? SECTION_EVENT : "cause", cause, certainty,
		    thread ? "bt -oom" : "info");
	result_free(r);
	process_free(own);
	text_release(&words);
	if (o->heap->damaged)
		add_words(o, "damage", o->heap->damage.message + o->heap->damage.subject, cell_blank(),
		    "info"); /* without its path, which the title has */
}

static int add_deadlocks(struct overview *o, struct err *err)
{
	struct result *r;
	int code = ask(o, "locks -deadlock", &r, err);
	for (size_t i = 0; r && i < r->n_rows; i++) {
		struct cell said = cell_of(o, r, i, COL_SENTENCE);
		if (said.type == CELL_TEXT && *said.text)
			add_words(o, "deadlock", said.text, cell_of(o, r, i, COL_CERTAINTY), "locks -deadlock");
	}
	result_free(r);
	return code;
}

static bool take_alert(struct result *r, char **sentence, char **line)
{
	*sentence = *line = NULL;
	for (size_t i = 0; i < r->n_rows; i++) {
		struct cell said;
		struct target target;
		result_cell(r, i, O_SECTION, &said);
		bool alert = strcmp(said.text, SECTION_EVENT) != 0;
		result_cell(r, i, O_NAME, &said);
		free(*sentence);
		*sentence = xstrdup(said.text);
		if (!alert)
			continue;
		result_target(r, i, &target);
		*line = xstrdup(target.command);
		return true;
	}
	return false;
}

int command_alert(struct session *s, char **sentence, char **line, struct err *err)
{
	struct overview o = {.s = s, .heap = session_heap(s)};
	int code = 0;
	o.to = result_new_rows("alerts", s->dump, &overview_shape);
	add_cause(&o, false);
	if (!take_alert(o.to, sentence, line)) {
		code = add_deadlocks(&o, err); /* these take longest */
		free(*sentence);
		take_alert(o.to, sentence, line);
	}
	result_free(o.to);
	return code;
}

/* --- who holds ---------------------------------------------------------------------------------- */

static int add_suspects(struct overview *o, struct err *err)
{
	struct result *r;
	int code = ask(o, "leaks", &r, err);
	if (r && r->note)
		result_add_note(o->to, r->note);
	for (size_t i = 0; r && command_has_suspects(r) && i < r->n_rows && i < o->most.suspects; i++) {
		struct cell at = cell_of(o, r, i, COL_ACCUMULATED_IN);
		struct cell objects = cell_of(o, r, i, COL_OBJECTS); /* of a group none stands for all */
		uint32_t id = objects.amount.n > 1 ? HEAP_NONE : heap_find(o->heap, at.amount.n);
		struct target suspect; /* opened as leaks opens it: a collection, not the array in it */
		result_target(r, i, &suspect);
		struct target target = {.kind = id == HEAP_NONE ? TARGET_COMMAND : TARGET_OBJECT, .id = id,
		    .command = id == HEAP_NONE ? "leaks" : suspect.command};
		add(o, "suspect", (struct cell[O_COLUMNS]){[O_NAME] = cell_of(o, r, i, COL_NAME),
		    [O_BYTES] = cell_of(o, r, i, COL_NAME_RETAINED), [O_SHARE] = cell_of(o, r, i, COL_NAME_SHARE),
		    [O_FREED] = cell_of(o, r, i, COL_FREED), [O_SENTENCE] = cell_of(o, r, i, COL_SENTENCE),
		    [O_REFERENCE] = cell_of(o, r, i, COL_REFERENCE), [O_NUMBER] = cell_of(o, r, i, COL_NUMBER)}, &target);
	}
	result_free(r);
	return code;
}

static int add_holders(struct overview *o, struct err *err)
{
	struct result *r;
	int code = ask(o, "heap", &r, err);
	for (size_t i = 0; r && i < r->n_rows && i < o->most.holders; i++) {
		struct target target;
		result_target(r, i, &target);
		if (target.kind != TARGET_OBJECT || target.part)
			target = (struct target){.kind = TARGET_COMMAND, .command = "heap"};
		add(o, "holder", (struct cell[O_COLUMNS]){[O_NAME] = cell_of(o, r, i, COL_BRANCH),
		    [O_BYTES] = cell_of(o, r, i, COL_RETAINED), [O_SHARE] = cell_of(o, r, i, COL_SHARE),
		    [O_FIELD] = cell_of(o, r, i, COL_FIELD), [O_CLASS] = cell_of(o, r, i, COL_CLASS)}, &target);
	}
	result_free(r);
	return code;
}

/* --- what fills --------------------------------------------------------------------------------- */

static int add_classes(struct overview *o, struct err *err)
{
	struct result *r;
	int code = ask(o, "histo", &r, err);
	struct amount all = heap_size_of_all(o->heap); /* surer than a sum of classes, where some share a name */
	for (size_t i = 0; r && i < r->n_rows && i < o->most.classes; i++) {
		struct target target;
		struct cell bytes = cell_of(o, r, i, COL_SHALLOW);
		result_target(r, i, &target);
		target.command = NULL;
		add(o, "class", (struct cell[O_COLUMNS]){[O_NAME] = cell_of(o, r, i, COL_CLASS), [O_BYTES] = bytes,
		    [O_SHARE] = bytes.type == CELL_BYTES ? cell_percent(bytes.amount, all) : cell_none()}, &target);
	}
	result_free(r);
	return code;
}

/* --- further findings --------------------------------------------------------------------------- */

/* A table whose total is worth a row. */
static int add_total(struct overview *o, const char *line, const char *name, enum column_id bytes, struct err *err)
{
	struct result *r;
	int code = ask(o, line, &r, err);
	struct cell sum = total_of(r, bytes), share = total_of(r, COL_SHARE);
	if (sum.type == CELL_BYTES && sum.amount.n)
		add(o, "also", (struct cell[O_COLUMNS]){[O_NAME] = cell_text(name), [O_BYTES] = sum,
		    [O_SHARE] = share.type == CELL_PERCENT ? share : cell_blank()},
		    &(struct target){.kind = TARGET_COMMAND, .command = line});
	result_free(r);
	return code;
}

static int add_unreachable(struct overview *o, struct err *err)
{
	struct err said = ERR_INIT;
	if (!o->heap->n_roots || o->heap->roots_missing)
		return 0;
	int code = session_find(o->s, FIND_REACHABLE, &said);
	if (code == ERR_NOMEM || code == ERR_CANCELLED) {
		*err = said;
		return code;
	}
	struct amount bytes = o->s->dump->reachable.unreachable_shallow;
	if (!code && bytes.certainty != UNKNOWN && bytes.n)
		add(o, "also", (struct cell[O_COLUMNS]){[O_NAME] = cell_text("unreachable"), [O_BYTES] = cell_bytes(bytes),
		    [O_SHARE] = cell_percent(bytes, heap_size_of_all(o->heap))},
		    &(struct target){.kind = TARGET_COMMAND, .command = "histo -unreachable"});
	return 0;
}

/* "14 threads, 2 blocked" */
static int add_threads(struct overview *o, struct err *err)
{
	struct result *r;
	struct text words = TEXT_INIT;
	int code = ask(o, "threads", &r, err);
	size_t blocked = 0;
	for (size_t i = 0; r && i < r->n_rows; i++) {
		struct cell state = cell_of(o, r, i, COL_STATE);
		blocked += state.type == CELL_TEXT && !strncasecmp(state.text, "BLOCKED", sizeof "BLOCKED" - 1);
	}
	if (r && r->n_rows) {
		text_add_count(&words, r->n_rows);
		text_addf(&words, " %s%s", o->heap->facts.thread ? o->heap->facts.thread : "thread", r->n_rows == 1 ? "" : "s");
		if (blocked)
			text_addf(&words, ", %zu blocked", blocked);
		add_words(o, "also", words.s, cell_blank(), "threads");
	}
	text_release(&words);
	result_free(r);
	return code;
}

static int add_findings(struct overview *o, struct err *err)
{
	int code = add_total(o, "waste", "waste", COL_WASTED, err);
	if (!code)
		code = add_unreachable(o, err);
	if (!code)
		code = add_total(o, "offheap", "off-heap", COL_CAPACITY_BYTES, err);
	return code ? code : add_threads(o, err);
}

/* --- all of it ---------------------------------------------------------------------------------- */

static int add_all(struct overview *o, struct err *err)
{
	bool known = !o->s->finds_beside || opened_retained(o->s->dump);
	struct err none = ERR_INIT;
	int code = known ? session_find(o->s, FIND_REFERENCES, &none) : 0;
	if (code == ERR_CANCELLED) {
		*err = none;
		return code;
	}
	known &= !code; /* objects and classes are known where the rest has no room */
	if (!known)
		result_add_note(o->to, code ? none.message : "retained sizes are being computed");
	result_mark(o->to, RESULT_LACKS_ROWS, !known);
	result_mark(o->to, RESULT_NO_PANES, true);
	add_cause(o, !known);
	code = known ? add_deadlocks(o, err) : 0;
	if (!code && known)
		code = add_suspects(o, err);
	if (!code)
		code = add_classes(o, err);
	if (!code && known)
		code = add_holders(o, err);
	return !code && known ? add_findings(o, err) : code;
}

static int run_overview(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	bool brief = call_has(call, DASH_BRIEF);
	struct overview o = {.s = s, .heap = session_heap(s), .brief = brief,
	    .most = most_of[brief ? AS_BRIEF : s->finds_beside ? ON_SCREEN : AS_LINES]};
	o.to = result_new_rows("overview", s->dump, &overview_shape);
	int code = add_all(&o, err);
	if (code)
		result_free(o.to);
	else
		*out = o.to;
	return code;
}

const struct command cmd_overview = {
    .name = "overview",
    .options = overview_options,
    .flags = COMMAND_OBJECTS_ONLY | COMMAND_EARLY | COMMAND_IN_PARTS,
    .group = "browse",
    .summary = "show what fills the heap, what holds it, and what to clear",
    .shapes = SHAPES(&overview_shape),
    .description = "Each row is taken from another command, which Enter opens.\n"
	"cause, damage, deadlock\twhy the dump was written; what is wrong with it; threads that wait for each other\n"
	"suspect\ta leak suspect by the reference to clear; bytes: what it retains (leaks)\n"
	"class\tbytes: shallow size of its objects (histo)\n"
	"holder\tbytes: retained size (heap)\n"
	"share\tof suspects and holders the share of what roots reach, else of all bytes\n"
	"also\tfurther findings: waste, unreachable objects, off-heap memory, threads",
    .examples = {{"overview"}, {"overview -brief", ON_ANY, "as cairn DUMP prints it"}},
    .key = "",
    .run = run_overview,
};
