/* SPDX-License-Identifier: GPL-3.0-or-later */
/* processes.c - the processes of this host: see attach.h. */
#include "attach/hsperf.h"
#include "attach/recognize.h"
#include "algorithms/sort.h"
#include "base/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void vm_process_release(struct vm_process *p)
{
	free(p->user);
	free(p->name);
	free(p->command);
	free(p->version);
	free(p->container);
	*p = (struct vm_process){ 0 };
}

void vm_process_title(const struct vm_process *p, char to[VM_TITLE])
{
	snprintf(to, VM_TITLE, "%s %ld (%.100s)", p->kind == VM_HOTSPOT || p->kind == VM_OPENJ9 ? "VM" : "process",
	    (long)p->pid, p->name);
}

static struct vm_process described(int process, const struct proc *p)
{
	struct vm_process to = { .pid = p->pid, .inner_pid = p->inner_pid, .started = p->started, .uid = p->uid,
		.gid = p->gid };
	vm_recognize(process, p, &to);
	return to;
}

int vm_process_read(struct vm_process *to, pid_t pid, struct err *err)
{
	struct proc p;
	int process = proc_open(pid), code = 0;

	*to = (struct vm_process){ 0 };
	if (process < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "no process %ld (cairn without arguments lists those of Java and Go)",
		    (long)pid);
	if (process < 0)
		return err_set(err, ERR_IO, "process %ld cannot be read: %s (run cairn as its user, or as root)",
		    (long)pid, strerror(errno));
	if (!proc_read(process, &p)) {
		close(process);
		return err_set(err, ERR_NOT_FOUND, "process %ld has ended", (long)pid);
	}
	*to = described(process, &p);
	close(process);
	if (p.state == 'Z' || p.state == 'X')
		code = err_set(err, ERR_NOT_FOUND, "process %ld (%s) has ended: only its exit status is left "
		    "(zombie)", (long)p.pid, to->name);
	else if (!to->readable)
		code = proc_refused(to, EACCES, err);
	if (code)
		vm_process_release(to);
	return code;
}

bool vm_process_lives(const struct vm_process *p)
{
	struct proc now;
	int process = proc_open_known(p, NULL);
	bool lives = process >= 0 && proc_read(process, &now) && now.state != 'Z' && now.state != 'X';
	if (process >= 0)
		close(process);
	return lives;
}

bool vm_process_counters(const struct vm_process *p, struct vm_counters *to)
{
	struct hsperf h;
	struct proc now;
	int process = proc_open_known(p, NULL);
	bool has = process >= 0 && proc_read(process, &now) && hsperf_read(process, &now, &h);

	*to = (struct vm_counters){ 0 };
	if (has) {
		*to = h.counters;
		hsperf_release(&h);
	}
	if (process >= 0)
		close(process);
	return has;
}

/* --- all of them ----------------------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
	const struct vm_process *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void look_at(struct vm_processes *to, size_t *cap, pid_t pid)
{
	struct proc p;
	int process = proc_open(pid);
	if (process < 0)
		return;
	if (proc_read(process, &p) && p.state != 'Z' && vm_may_be(process, &p)) {
		struct vm_process v = described(process, &p);
		if (v.kind != VM_NONE) {
			VEC_PUSH(to->list, to->n, *cap) = v;
		} else {
			to->hidden += !v.readable;
			vm_process_release(&v);
		}
	}
	close(process);
}

struct vm_processes *vm_processes_list(void)
{
	struct vm_processes *p = xcalloc(1, sizeof *p);
	size_t cap = 0;
	DIR *dir = opendir(proc_folder());

	for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
		char *end;
		unsigned long pid = strtoul(e->d_name, &end, 10);
		if (isdigit((unsigned char)*e->d_name) && !*end && pid != (unsigned long)getpid())
			look_at(p, &cap, (pid_t)pid);
	}
	if (dir)
		closedir(dir);
	sort_array(p->list, p->n, sizeof *p->list, by_pid);
	return p;
}

void vm_processes_free(struct vm_processes *p)
{
	for (size_t i = 0; p && i < p->n; i++)
		vm_process_release(&p->list[i]);
	free(p ? p->list : NULL);
	free(p);
}

/* --- one by words ---------------------------------------------------------------------------------- */

enum { LISTED_MOST = 5 }; /* of several */

/* How well do words describe a process?  The best are its whole name. */
enum { BY_NOTHING, BY_COMMAND, BY_PART, BY_NAME };

static int described_by(const struct vm_process *p, const char *words)
{
	return !strcmp(p->name, words) ? BY_NAME : strcasestr(p->name, words) ? BY_PART :
	    strcasestr(p->command, words) ? BY_COMMAND : BY_NOTHING;
}

static int several(const struct vm_processes *all, const char *words, int best, struct err *err)
{
	struct text list = TEXT_INIT;
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct vm_process *p = &all->list[i];
		if (described_by(p, words) != best)
			continue;
		const char *at = strstr(p->command, p->name); /* with its arguments */
		if (n++ < LISTED_MOST)
			text_addf(&list, "%s%ld %.60s", n > 1 ? ", " : "", (long)p->pid, at ? at : p->name);
	}
	if (n > LISTED_MOST)
		text_addf(&list, " and %zu more", n - LISTED_MOST);
	int code = err_set(err, ERR_USAGE, "\"%.100s\" matches several processes: %s (give the number of one)",
	    words, list.s);
	text_release(&list);
	return err_because(err, code, ERR_SEVERAL);
}

int vm_process_find(struct vm_process *to, const char *words, struct err *err)
{
	char *end;
	unsigned long pid = strtoul(words, &end, 10);
	if (isdigit((unsigned char)*words) && !*end)
		return vm_process_read(to, pid <= INT32_MAX ? (pid_t)pid : 0, err);

	struct vm_processes *all = vm_processes_list();
	int best = BY_NOTHING, code;
	size_t n = 0, which = 0;
	*to = (struct vm_process){ 0 };
	for (size_t i = 0; *words && i < all->n; i++) {
		int by = described_by(&all->list[i], words);
		n = by > best ? 1 : n + (by == best && by != BY_NOTHING);
		which = by > best ? i : which;
		best = by > best ? by : best;
	}
	if (n == 1)
		code = vm_process_read(to, all->list[which].pid, err);
	else if (n)
		code = several(all, words, best, err);
	else
		code = err_set(err, ERR_NOT_FOUND, "no process of Java or Go has \"%.100s\" in its name or command "
		    "(cairn without arguments lists them)", words);
	vm_processes_free(all);
	return code;
}
