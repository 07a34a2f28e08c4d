/* SPDX-License-Identifier: GPL-3.0-or-later */
/* processes.c - see processes.h. */
#include "command/processes/processes.h"

#include "attach/attach.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/suffixes.h"
#include "command/commands.h"
#include "command/exec/exec.h"
#include "dump/source/source.h"
#include "result/print.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of --live. */
static struct {
	struct vm_process process;
	char line[40];
	bool collect, asked;
} watched;

bool process_is_named(const char *name)
{
	struct stat st;
	size_t digits = strspn(name, "0123456789");
	return digits && digits < 11 && !name[digits] && file_stat(name, &st) < 0;
}

bool process_has_name(const char *name)
{
	struct vm_process p;
	struct err err = ERR_INIT;
	struct stat st;
	if (strchr(name, '/') || file_stat(name, &st) == 0)
		return false;
	int code = vm_process_find(&p, name, &err);
	if (!code)
		vm_process_release(&p);
	return !code || err.reason == ERR_SEVERAL;
}

/* The answer of who sits at the terminal; an end of input is a no, which is said. */
static bool read_yes(void)
{
	int first = getchar(), c = first;
	while (c != '\n' && c != EOF)
		c = getchar();
	bool yes = first == 'y' || first == 'Y';
	if (!yes)
		complain("nothing was done");
	return yes;
}

bool process_ask_terminal(void *context, const char *sentence)
{
	struct text lines = TEXT_INIT, question = TEXT_INIT;
	bool *yes = context;
	if (*yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		complain("%s", sentence);
		return true;
	}
	text_addf(&question, "%s. Go on? [y/N]", sentence);
	command_add_wrapped(&lines, question.s, 78);
	fprintf(stderr, "%.*s ", (int)(lines.len - (lines.s[lines.len - 1] == '\n')), lines.s);
	text_release(&lines);
	text_release(&question);
	return read_yes();
}

int process_error(int code, struct err *err)
{
	if (code == ERR_NOT_FOUND || code == ERR_UNSUPPORTED || code == ERR_IO)
		code = err->code = ERR_FORMAT;
	return code;
}

static int find_checked(struct vm_process *to, const char *words,
    int (*check)(const struct vm_process *p, struct err *err), struct err *err)
{
	int code = vm_process_find(to, words, err);
	if (!code && (code = check(to, err)))
		vm_process_release(to);
	return process_error(code, err);
}

int process_find_vm(struct vm_process *to, const char *words, struct err *err)
{
	return find_checked(to, words, vm_process_is_vm, err);
}

/* A name that says another format, as save has it. */
static int keeps_as(const char *file, enum vm_kind kind, struct err *err)
{
	static const char *const dumps[] = {".hprof", ".phd", ".core", NULL};
	const char *ending = dumps[kind == VM_OPENJ9 ? 1 : kind == VM_GO ? 2 : 0];
	enum print_format format;
	size_t n = strlen(file);
	if (suffix_of(file, n, (const char *const[]){ending, NULL}) || (!suffix_of(file, n, dumps) &&
	    !suffix_of_packed(file, n) && !suffix_of_archive(file, n) &&
	    (print_format_of_file(file, &format, NULL) || format == PRINT_TEXT)))
		return 0;
	return err_set(err, ERR_USAGE, "\"%.200s\" is another format (name the dump FILE%s)", file, ending);
}

int process_take(const char **path, const char *words, const struct live_dump_wishes *w,
    const struct writing *rules, bool (*ask)(void *context, const char *sentence), void *context, struct err *err)
{
	struct text sentence = TEXT_INIT;
	struct vm_process p;
	char name[VM_TITLE];
	int code = find_checked(&p, words, vm_process_may_be_dumped, err);
	if (code)
		return code;
	code = w->keep ? keeps_as(w->keep, p.kind, err) : 0;
	code = code ? code : live_dump_check(&p, w, err);
	if (!code && w->keep)
		code = writing_may_replace(rules, w->keep, err);
	if (!code) {
		live_dump_announce(&p, w, &sentence);
		vm_process_title(&p, name);
		code = ask(context, sentence.s) ? 0 : err_set(err, ERR_CANCELLED, "%s is not asked", name);
	}
	if (!code)
		*path = source_take_process(&p, w);
	vm_process_release(&p);
	text_release(&sentence);
	return code;
}

int process_watch(const char *words, bool collect, struct err *err)
{
	int code = process_find_vm(&watched.process, words, err);
	if (!code)
		snprintf(watched.line, sizeof watched.line, "live %ld%s", (long)watched.process.pid, collect ? " -live" : "");
	watched.collect = collect;
	return code;
}

pid_t process_watched(bool *collect)
{
	*collect = watched.collect;
	return watched.process.pid;
}

const char *process_watch_line(void)
{
	return watched.line[0] ? watched.line : NULL;
}

const char *process_watch_next(void *context, struct session *s)
{
	(void)context;
	(void)s;
	if (watched.asked)
		nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
	watched.asked = true;
	if (vm_process_lives(&watched.process))
		return watched.line;
	char title[VM_TITLE];
	vm_process_title(&watched.process, title);
	complain("%s has ended", title);
	return NULL;
}
