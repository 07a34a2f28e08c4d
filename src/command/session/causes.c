/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * causes.c - why the dumps in a folder were written: by their names, or the first bytes of their javacores.
 */
#include "command/session/session.h"

#include "algorithms/bisect.h"
#include "algorithms/sort.h"
#include "base/suffixes.h"
#include "base/text.h"
#include "dump/javacore/javacore.h"
#include "dump/process.h"

#include <string.h>

/* Does HotSpot give a dump this name where nobody gave one: "java_pid4711.hprof", of a later one of the process
 * "java_pid4711.hprof.1"?  (heapDumper.cpp; jcmd and jmap ask for a name.) */
static bool is_named_by_vm(const char *name)
{
	static const char begin[] = "java_pid", end[] = ".hprof";
	if (strncmp(name, begin, sizeof begin - 1) != 0)
		return false;
	name += sizeof begin - 1;
	size_t n = strlen(name) - suffix_of_packed(name, strlen(name));
	size_t digits = strspn(name, "0123456789");
	if (!digits || n < digits + sizeof end - 1 || strncmp(name + digits, end, sizeof end - 1) != 0)
		return false;
	digits += sizeof end - 1;
	return digits == n || (name[digits] == '.' && digits + 1 + strspn(name + digits + 1, "0123456789") == n);
}

/* --- the javacore of a dump --------------------------------------------------------------------- */

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The first of the sorted names that does not come before this one. */
static size_t first_from(char *const *name, size_t n, const char *s)
{
	size_t at;

	BISECT(at, n, strcmp(name[at], s) < 0);
	return at;
}

/* "heapdump.DATE.TIME.PID.SEQ.phd" or "core.DATE.TIME.PID.SEQ.dmp" was written with "javacore.DATE.TIME.PID.SEQ.txt";
 * SEQ may be another one, and then a higher one is rather it, as javacore_find has it.  It would search the directory
 * for each dump.  NULL: none. */
static const char *javacore_of(const char *dump, char *const *javacore, size_t n)
{
	static const char *const formats[] = {".phd", ".txt", ".dmp", NULL};
	static const char heap[] = "heapdump", core[] = "core";
	const char *at = strstr(dump, heap), *seq = NULL, *found = NULL, *word = at ? heap : core;
	struct text wanted = TEXT_INIT;
	at = at ? at : strstr(dump, "core.");
	if (!at)
		return NULL;
	const char *stem = at + strlen(word);
	size_t bytes = strlen(stem);
	bytes -= suffix_of_packed(stem, bytes);
	bytes -= suffix_of(stem, bytes, formats);
	text_add_n(&wanted, dump, (size_t)(at - dump));
	text_add(&wanted, "javacore");
	text_add_n(&wanted, stem, bytes);
	seq = strrchr(wanted.s, '.');
	size_t same = seq ? (size_t)(seq + 1 - wanted.s) : wanted.len;
	text_add(&wanted, ".txt");
	size_t i = first_from(javacore, n, wanted.s);
	if (i < n && !strncmp(javacore[i], wanted.s, same))
		found = javacore[i];
	else if (i && !strncmp(javacore[i - 1], wanted.s, same))
		found = javacore[i - 1];
	text_release(&wanted);
	return found;
}

/* --- all of them -------------------------------------------------------------------------------- */

static void find_cause(struct folder_file *f, char *const *javacore, size_t n)
{
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path, *its;
	struct text path = TEXT_INIT, said = TEXT_INIT, cause = TEXT_INIT;
	f->cause_by_name = is_named_by_vm(name);
	if (f->cause_by_name) {
		text_add(&cause, "OutOfMemoryError");
	} else if ((its = javacore_of(name, javacore, n))) {
		text_add_n(&path, f->path, (size_t)(name - f->path));
		text_add(&path, its);
		javacore_glance(path.s, &said);
	}
	if (said.len)
		process_add_short_cause(said.s, &cause);
	f->cause = cause.len ? text_take(&cause) : NULL;
	text_release(&path);
	text_release(&said);
}

void folder_find_causes(struct folder *f, char **javacore, size_t n)
{
	sort_array(javacore, n, sizeof *javacore, by_name);
	for (size_t i = 0; i < f->n; i++)
		if (f->file[i].label)
			find_cause(&f->file[i], javacore, n);
}
