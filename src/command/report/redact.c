/* SPDX-License-Identifier: GPL-3.0-or-later */
/* redact.c - what of a report may leave the host: numbers, names of the program, and words of this program's own. */
#include "command/report/report.h"

#include "base/mem.h"
#include "dump/source/source.h"
#include "heap/heap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Texts of the commands that a report asks in which no value, place of the host or text of the process can stand.
 * What is not here is left out: a column that comes new has to be thought about first. */
static const enum column_id texts[] = {
    /* names of classes, fields, methods, threads */
    COL_ACCUMULATED_CLASS, COL_BRANCH, COL_CAUSE_THREAD, COL_CLASS, COL_CREATED_BY, COL_DECLARED_IN, COL_FIELD,
    COL_FINALIZER, COL_FRAME, COL_FUNCTION, COL_HOLDER, COL_KEY, COL_LOADER_CLASS, COL_MEASURED_CLASSES, COL_METHOD,
    COL_NAME, COL_OOM_THREAD, COL_OWNER, COL_REFERENCE, COL_SENTENCE, COL_SLOT, COL_THREAD, COL_UNSURE_CLASSES,
    COL_WAITING, COL_WAITS_FOR,
    /* words of this program */
    COL_BYTE_ORDER, COL_CANNOT_TELL, COL_CAUSE, COL_CERTAINTY, COL_FORMAT, COL_GC_POLICY, COL_INDEX_ALONE, COL_KIND,
    COL_MEANING, COL_OOM_KIND, COL_ROOT, COL_SIZES, COL_SIZE_MODEL, COL_STATE, COL_TYPED_BY, COL_WHAT, COL_WHY,
    /* versions and times */
    COL_CAUSE_DATE, COL_CREATED, COL_EXPERIMENTS, COL_JAVA_VERSION, COL_STARTED, COL_VERSION, COL_VM, COL_VM_VERSION,
};

static bool may_leave(enum column_id column, enum cell_type type)
{
	if (type == CELL_NUMBER)
		return false; /* a value */
	if (type != CELL_TEXT)
		return true;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i] == column)
			return true;
	return false;
}

/* How long the word is that a javacore's cause goes on with, where no text of the program can stand in it: a word of
 * the VM's, a number in parentheses, or in quotes the kind of an event or the class of an error.  0: it may say
 * anything, as the error's message does.  before: the word before it. */
static size_t harmless_word(const char *at, const char *before)
{
	static const char *const words[] = {"Dump", "Event", "Detail", "Requested", "By", "User", "received"};
	bool of_error = !strncmp(before, "Detail ", 7), quoted = of_error || !strncmp(before, "Event ", 6);
	size_t n = 1;
	if (*at == '"' && quoted) {
		while (isalnum((unsigned char)at[n]) || (of_error && at[n] && strchr("/_$", at[n])))
			n++;
		return at[n] == '"' ? n + 1 : 0;
	}
	if (*at == '(') {
		n += strspn(at + 1, "0123456789abcdefABCDEFx");
		return at[n] == ')' ? n + 1 : 0;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (n = strlen(words[i]), !strncmp(at, words[i], n) && (at[n] == ' ' || !at[n]))
			return n;
	return 0;
}

/* How long the beginning of a javacore's cause is in which no text of the program stands. */
static size_t told_of_cause(const char *cause)
{
	const char *before = "", *at = cause;
	size_t told = 0, n;
	while ((n = harmless_word(at, before)) != 0) {
		before = at;
		told = (size_t)(at - cause) + n;
		at += n + strspn(at + n, " ");
	}
	return told;
}

static void redact_head(struct result *r, const struct heap *h)
{
	size_t kept = 0;
	const char *group = NULL; /* that begins with a value which goes */
	for (size_t i = 0; i < r->n_head; i++) {
		struct field f = r->head[i];
		group = f.group ? f.group : group;
		if (!may_leave(f.column, f.cell.type) && f.cell.type != CELL_NONE)
			continue;
		if (f.column == COL_CAUSE && f.cell.type == CELL_TEXT && h->process)
			f.cell.text = arena_strndup(&r->arena, f.cell.text, told_of_cause(f.cell.text));
		f.group = group;
		group = NULL;
		r->head[kept++] = f;
	}
	r->n_head = kept;
}

/* Of the facts about a dump those tell of its file that are about what happened to it. */
static bool not_of_file(struct result *r, size_t row, void *what)
{
	struct cell cell;
	result_cell(r, row, *(unsigned *)what, &cell);
	return !cell.text || (strcmp(cell.text, "counts") && strcmp(cell.text, "values"));
}

static int redact_section(struct report_section *s, const struct heap *h, struct err *err)
{
	const char *path = h->source ? h->source->path : NULL;
	struct result *r = s->result;
	int code = 0;
	if (s->instead && path && strstr(s->instead, path)) {
		free(s->instead);
		s->instead = xstrdup("Not available.");
	}
	if (!r)
		return 0;
	for (unsigned c = 0; c < r->n_columns; c++)
		if (!may_leave(r->columns[c].id, column_type(&r->columns[c])))
			result_show(r, c, false);
	redact_head(r, h);
	int what = result_column_of(r, COL_WHAT);
	if (what >= 0)
		code = result_filter(r, not_of_file, &(unsigned){(unsigned)what}, err);
	if (r->note && path && strstr(r->note, path))
		r->note = NULL;
	return code;
}

int report_redact(struct report *r, struct err *err)
{
	int code = 0;
	for (unsigned i = 0; i < r->n && !code; i++)
		code = redact_section(&r->section[i], session_heap(r->session), err);
	return code;
}
