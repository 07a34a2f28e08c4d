/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.c - which commands a report asks, and what it says first. */
#include "command/report/report.h"

#include "base/mem.h"
#include "command/commands.h"
#include "command/exec/exec.h"
#include "heap/heap.h"

#include <stdlib.h>
#include <string.h>

/* --- what is asked ------------------------------------------------------------------------------ */

static const struct section {
	const char *title, *anchor, *line, *about;
	size_t top;
} sections[] = {
    {"The dump", "dump", "info", "The file, the reason for the dump, and the process.", 0},
    {"Out of memory", "oom", "bt -oom", "The stack of the thread that ran out of memory, and its local variables.", 60},
    {"Suspects", "suspects", "leaks", "Objects that retain a large part of the heap, and the reference to clear.", 20},
    {"Largest holders", "holders", "heap -depth 2", "The dominator tree, objects of one class together.", 60},
    {"Classes", "classes", "histo -retained", "The classes with the largest shallow size.", 40},
    {"Waste", "waste", "waste", "Wasted memory by kind.", 0},
    {"Outside of the heap", "outside", "offheap", "Off-heap memory that objects own.", 40},
    {"Threads", "threads", "threads -retained", "Threads, and what their stacks retain.", 60},
    {"Locks", "locks", "locks", "Locks with their owners and waiting threads.", 40},
    {"References", "references", "references", "Soft, weak, phantom and final references.", 30},
    {"Finalizers", "finalizers", "finalizers", "Objects that wait for their finalizer, and the finalizer "
	"thread.", 30},
    {"ThreadLocals", "locals", "threadlocals", "ThreadLocal values by thread.", 30},
    {"How sure this is", "certainty", NULL, "The basis of the numbers, and the limits of the format.", 0},
};

/* About a suspect, between the dump and the certainty. */
static const struct section of_suspect[] = {
    {"Suspect", "suspects", NULL, "The object or group, what it retains, and the reference to clear.", 0},
    {"Path", "path", "path ", "The shortest path from a GC root to where the bytes have accumulated.", 40},
    {"Contents", "contents", "", "The object where they have accumulated.", 10},
    {"Clearing", "clearing", "cut ", "What becomes unreachable if the reference is cleared, by class.", 30},
};

/* What one command cannot tell leaves the others as they are. */
static int ask_line(struct report *r, struct session *s, const struct section *from, const char *line, struct err *err)
{
	struct report_section *to = &r->section[r->n++];
	struct err said = ERR_INIT;
	*to = (struct report_section){.title = from->title, .anchor = from->anchor, .about = from->about, .top = from->top};
	int code = line ? session_ask_line(s, line, &to->result, &said) : command_facts(s, &to->result, &said);
	if (code == ERR_CANCELLED || code == ERR_NOMEM) {
		*err = said;
		return code;
	}
	if (code == ERR_NOT_FOUND && !strcmp(from->anchor, "oom")) /* as in most dumps */
		r->n--;
	else if (code)
		to->instead = xstrdup(said.message);
	else if (to->result && !to->result->n_rows && !to->result->n_head && !to->result->note)
		to->instead = xstrdup("None.");
	return 0;
}

static int ask(struct report *r, struct session *s, const struct section *from, struct err *err)
{
	return ask_line(r, s, from, from->line, err);
}

static struct report_section *section_of(struct report *r, const char *anchor)
{
	for (unsigned i = 0; i < r->n; i++)
		if (!strcmp(r->section[i].anchor, anchor))
			return &r->section[i];
	return NULL;
}

/* Is it said of the heap, and not of how it was opened? */
static bool is_of_heap(const struct report *r, enum column_id column)
{
	if (column == COL_SIZES) /* "true" says that nobody chose the others */
		return r->session->settings.mat_sizes;
	return column != COL_INDEX_FILE && column != COL_INDEX_PACKED;
}

/* For a reader of the report without the help. */
static int arrange(struct report *r, struct err *err)
{
	const struct report_section *waste = section_of(r, "waste"), *suspects = section_of(r, "suspects");
	const struct report_section *locals = section_of(r, "locals"), *dump = section_of(r, "dump");
	int retained = locals && locals->result ? result_column_of(locals->result, COL_RETAINED) : -1;
	size_t kept = 0;
	if (waste && waste->result)
		result_show_column(waste->result, COL_MEANING, true);
	if (suspects->result) /* a screen shows it in the table; here it stands in front of all */
		result_show_column(suspects->result, COL_SENTENCE, false);
	for (size_t i = 0; dump->result && i < dump->result->n_head; i++)
		if (is_of_heap(r, dump->result->head[i].column))
			dump->result->head[kept++] = dump->result->head[i];
	if (dump->result)
		dump->result->n_head = kept;
	/* as large as those may be that are not among the first */
	return retained < 0 ? 0 : result_sort(locals->result, (unsigned)retained, true, err);
}

/* --- what is said first ------------------------------------------------------------------------- */

enum { BRIEF_LOOKED_AT = 100 }; /* rows */

static void say(struct report *r, const char *sentence)
{
	VEC_PUSH(r->brief, r->n_brief, r->cap_brief) = xstrdup(sentence);
}

static const struct cell *head_of(const struct result *r, enum column_id column)
{
	for (size_t i = 0; r && i < r->n_head; i++)
		if (r->head[i].column == column && r->head[i].cell.type != CELL_NONE)
			return &r->head[i].cell;
	return NULL;
}

static void add_head(const struct result *r, enum column_id column, const char *before, const char *behind,
    struct text *to)
{
	const struct cell *c = head_of(r, column);
	if (!c)
		return;
	text_add(to, before);
	cell_print(c, to);
	text_add(to, behind);
}

static void say_dump(struct report *r, const struct result *info)
{
	struct text t = TEXT_INIT;
	add_head(info, COL_OBJECTS, "", " objects", &t);
	add_head(info, COL_SHALLOW, ", ", "", &t);
	add_head(info, COL_REACHABLE_SHALLOW, ", reachable: ", "", &t);
	if (t.len)
		text_add_char(&t, '.');
	if (t.len)
		say(r, t.s);
	text_clear(&t);
	add_head(info, COL_CAUSE, "Reason for the dump: ", ".", &t);
	if (t.len)
		say(r, t.s);
	text_clear(&t);
	add_head(info, COL_DAMAGE, "The dump is damaged: ", ".", &t);
	if (t.len)
		say(r, t.s);
	else if (session_heap(r->session)->damaged)
		say(r, "The dump is damaged; this report covers the readable part.");
	text_release(&t);
}

/* What rows have as their sentence. */
static void say_rows(struct report *r, const char *before, struct result *rows, size_t most)
{
	struct text t = TEXT_INIT;
	struct cell cell;
	for (size_t i = 0; rows && i < rows->n_rows && i < most && result_cell_in(rows, i, COL_SENTENCE, &cell); i++) {
		text_clear(&t);
		if (!cell.text || !*cell.text)
			continue;
		text_addf(&t, "%s%s", before, cell.text);
		if (t.len && t.s[t.len - 1] != '.') /* none where memory was refused */
			text_add_char(&t, '.');
		if (t.len)
			say(r, t.s);
	}
	text_release(&t);
}

/* Where there is no suspect the rows are the largest holders, and the note says so. */
static void say_suspects(struct report *r, struct result *leaks)
{
	if (!leaks || result_column_of(leaks, COL_SHARE) < 0)
		return;
	if (session_heap(r->session)->roots_missing) {
		say(r, "The GC roots are in the part of the dump that was not read: leak suspects and retained sizes are "
		    "unknown.");
		return;
	}
	if (command_has_suspects(leaks))
		say_rows(r, "", leaks, 3);
	else if (session_heap(r->session)->incomplete)
		say(r, "No leak suspect in the readable part of the dump.");
	else
		say(r, "No leak suspect: no object and no class of objects retains more than 10% of the heap.");
}

/* A format without locks has no deadlocks. */
static int say_deadlocks(struct report *r, struct session *s, struct err *err)
{
	struct result *cycles = NULL;
	struct err said = ERR_INIT;
	int code = session_ask_line(s, "locks -deadlock", &cycles, &said);
	if (code == ERR_NOMEM || code == ERR_CANCELLED) {
		*err = said;
		return code;
	}
	if (!code)
		say_rows(r, "Deadlock: ", cycles, 5);
	result_free(cycles);
	return 0;
}

/* "~1.2M (~12.1%) is wasted. The largest kind is oversized, ~980K: collections of over 16 slots that ..." */
static void say_waste(struct report *r, struct result *waste, const struct result *info)
{
	struct text t = TEXT_INIT;
	struct cell wasted, share, one;
	const struct cell *garbage = head_of(info, COL_UNREACHABLE_SHALLOW);
	size_t most = 0;
	uint64_t largest = 0;
	if (!waste || !waste->n_rows || result_column_of(waste, COL_MEANING) < 0) /* that of all kinds has it */
		return;
	result_total(waste, (unsigned)result_column_of(waste, COL_WASTED), &wasted);
	result_total(waste, (unsigned)result_column_of(waste, COL_SHARE), &share);
	if (wasted.type != CELL_BYTES || !wasted.amount.n)
		return;
	for (size_t i = 0; i < waste->n_rows; i++) {
		result_cell_in(waste, i, COL_WASTED, &one);
		size_t source = waste->order ? waste->order[i] : i;
		if (one.amount.n > largest && !(waste->within && waste->within(waste, source))) {
			largest = one.amount.n;
			most = i;
		}
	}
	cell_print(&wasted, &t);
	text_add(&t, " (");
	cell_print(&share, &t);
	text_add(&t, ") is wasted");
	if (largest) {
		result_cell_in(waste, most, COL_KIND, &one);
		text_addf(&t, ". The largest kind is %s, ", one.name ? one.name : one.text);
		result_cell_in(waste, most, COL_WASTED, &one);
		cell_print(&one, &t);
		text_add(&t, ": ");
		result_cell_in(waste, most, COL_MEANING, &one);
		text_add(&t, one.text);
	}
	if (garbage && garbage->amount.n > wasted.amount.n / 10)
		text_add(&t, ". This includes unreachable objects");
	if (waste->note && strstr(waste->note, "other kinds"))
		text_add(&t, ". The dump does not show all kinds");
	text_add_char(&t, '.');
	say(r, t.s);
	text_release(&t);
}

/* While one finalizer blocks, the note tells where. */
static void say_finalizers(struct report *r, struct result *finalizers)
{
	struct cell state;
	bool runs = false;
	for (size_t i = 0; finalizers && i < finalizers->n_rows && !runs && i < BRIEF_LOOKED_AT; i++)
		runs = result_cell_in(finalizers, i, COL_STATE, &state) && state.text && !strcmp(state.text, "running");
	if (!runs || !finalizers->note)
		return;
	struct text t = TEXT_INIT;
	text_addf(&t, "Finalizers: %s.", finalizers->note);
	say(r, t.s);
	text_release(&t);
}

static int fill_map(struct report *r, struct session *s, struct err *err)
{
	struct report_section *heap = section_of(r, "holders");
	if (!heap || !heap->result || session_heap(s)->roots_missing)
		return 0;
	int code = session_find(s, FIND_RETAINED, err);
	if (code)
		return code;
	treemap_take(&r->map, heap->result, retained_of_all(opened_retained(s->dump)).n);
	heap->map = r->map.n > 0;
	return 0;
}

static bool keep_number(struct result *r, size_t row, void *number)
{
	struct cell cell;
	return result_cell_in(r, row, COL_NUMBER, &cell) && cell.amount.n == *(const size_t *)number;
}

/* The rows of leaks; or the one with the number that is wished. */
static int ask_for_suspects(struct report *r, struct session *s, const struct section *from,
    const struct report_wish *wish, struct err *err)
{
	struct text line = TEXT_INIT;
	size_t number = wish->suspect;
	text_addf(&line, "leaks%s%s", wish->share ? " -share " : "", wish->share ? wish->share : "");
	int code = ask_line(r, s, number ? &of_suspect[0] : from, line.s, err);
	struct report_section *suspect = &r->section[r->n - 1];
	text_release(&line);
	if (!number)
		return code;
	if (!code && !suspect->result)
		return err_set(err, ERR_NOT_FOUND, "%s", suspect->instead);
	size_t n = code ? 0 : suspect->result->n_rows;
	if (!code)
		code = result_filter(suspect->result, keep_number, &number, err);
	if (!code && !suspect->result->n_rows)
		code = err_set(err, ERR_NOT_FOUND, "no suspect %zu (leaks has %zu)", number, n);
	return code;
}

/* What is asked of its row: what accumulated, and the references to clear. */
static int ask_about_suspect(struct report *r, struct session *s, struct err *err)
{
	struct cell point, reference;
	struct text line = TEXT_INIT;
	struct result *row = r->section[r->n - 1].result;
	int code = 0;
	struct target opens;
	result_cell_in(row, 0, COL_ACCUMULATED_IN, &point);
	result_target(row, 0, &opens);
	for (size_t i = 1; !code && i < sizeof of_suspect / sizeof *of_suspect; i++) {
		bool cuts = !strcmp(of_suspect[i].anchor, "clearing");
		text_clear(&line);
		text_add(&line, of_suspect[i].line);
		if (cuts)
			result_cell_in(row, 0, COL_REFERENCE, &reference);
		if (cuts && reference.type != CELL_TEXT)
			continue; /* nothing to clear, as the sentence says */
		if (cuts)
			text_add(&line, reference.text);
		else if (!*of_suspect[i].line && opens.command)
			text_add(&line, opens.command);
		else
			cell_print(&point, &line);
		code = ask_line(r, s, &of_suspect[i], line.s, err);
	}
	text_release(&line);
	return code;
}

static int ask_all(struct report *r, struct session *s, const struct report_wish *wish, struct err *err)
{
	enum { N = sizeof sections / sizeof *sections };
	_Static_assert(N <= sizeof r->section / sizeof *r->section, "there is room");
	int code = 0;
	for (size_t i = 0; !code && i < N; i++) {
		const char *anchor = sections[i].anchor;
		bool of_all = strcmp(anchor, "dump") && strcmp(anchor, "oom") && strcmp(anchor, "certainty");
		if (!strcmp(anchor, "suspects"))
			code = ask_for_suspects(r, s, &sections[i], wish, err);
		else if (!wish->suspect || !of_all)
			code = ask(r, s, &sections[i], err);
		if (!code && wish->suspect && !strcmp(anchor, "suspects"))
			code = ask_about_suspect(r, s, err);
	}
	return code;
}

/* Of one suspect its sentence. */
static int say_first(struct report *r, struct session *s, bool one, struct err *err)
{
	struct result *suspects = section_of(r, "suspects")->result;
	say_dump(r, section_of(r, "dump")->result);
	if (one) {
		say_rows(r, "", suspects, 1);
		return 0;
	}
	say_suspects(r, suspects);
	return say_deadlocks(r, s, err);
}

int report_make(struct report *out, struct session *s, const struct report_wish *wish, struct err *err)
{
	*out = (struct report){.session = s, .redacted = wish->redact};
	int code = ask_all(out, s, wish, err);
	if (!code)
		code = fill_map(out, s, err);
	if (!code)
		code = arrange(out, err);
	if (!code && wish->redact)
		code = report_redact(out, err);
	if (!code)
		code = say_first(out, s, wish->suspect > 0, err);
	if (!code && section_of(out, "finalizers"))
		say_finalizers(out, section_of(out, "finalizers")->result);
	if (!code && section_of(out, "waste"))
		say_waste(out, section_of(out, "waste")->result, section_of(out, "dump")->result);
	if (code)
		report_release(out);
	return code;
}

void report_release(void *report)
{
	struct report *r = report;
	for (unsigned i = 0; i < r->n; i++) {
		result_free(r->section[i].result);
		free(r->section[i].instead);
	}
	for (size_t i = 0; i < r->n_brief; i++)
		free(r->brief[i]);
	free(r->brief);
	treemap_release(&r->map);
	*r = (struct report){.session = NULL};
}
