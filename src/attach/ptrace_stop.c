/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ptrace_stop.c - see ptrace_stop.h. */
#include "attach/ptrace_stop.h"

#include "algorithms/sort.h"
#include "base/mem.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	STATUS_MOST = 64 << 10,
	STOP_MS = 2000,   /* a busy host may run a thread late */
	WAIT_MS = 200,    /* for one that waits in the kernel: for a disk, or a child of vfork */
	END_MS = 100,
	REFUSALS_MOST = 4, /* a thread that is just about to run another program cannot be stopped */
	CAP_OF_PTRACE = 19, /* CAP_SYS_PTRACE */
};
static const uint64_t millisecond = 1000000;

/* --- may it be ----------------------------------------------------------------------------------- */

/* A number after a name in a status file. */
static uint64_t status_number(int folder, const char *file, const char *name, int base)
{
	size_t n;
	char *status = proc_file(folder, file, STATUS_MOST, &n), *at = status ? strstr(status, name) : NULL;
	uint64_t number = at ? strtoull(at + strlen(name), NULL, base) : 0;
	free(status);
	return number;
}

static int refused(const struct vm_process *p, int process, struct err *err)
{
	char name[VM_TITLE], *yama;
	size_t n;
	uint64_t tracer = status_number(process, "status", "\nTracerPid:", 10);
	bool capable = status_number(AT_FDCWD, "/proc/self/status", "\nCapEff:", 16) >> CAP_OF_PTRACE & 1;
	bool filtered = status_number(AT_FDCWD, "/proc/self/status", "\nSeccomp:", 10) == 2;

	vm_process_title(p, name);
	if (tracer)
		return err_set(err, ERR_IO, "%s cannot be stopped: process %llu, a debugger, has it (let it go there)", name,
		    (unsigned long long)tracer);
	yama = proc_file(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", 16, &n);
	long scope = yama ? strtol(yama, NULL, 10) : 0;
	free(yama);
	if (scope == 3)
		return err_set(err, ERR_IO, "%s cannot be stopped: this host allows no ptrace until it boots again (set "
		    "kernel.yama.ptrace_scope to 1 there)", name);
	if (scope && !capable && geteuid())
		return err_set(err, ERR_IO, "%s cannot be stopped: this host allows ptrace to root alone (run the same "
		    "command with sudo%s)", name, scope == 1 ? ", or set kernel.yama.ptrace_scope to 0" : "");
	if (!capable && p->uid != geteuid())
		return proc_refused(p, EPERM, err);
	if (filtered)
		return err_set(err, ERR_IO, "%s cannot be stopped: this container does not allow ptrace (docker run --cap-add "
		    "SYS_PTRACE: help containers)", name);
	return err_set(err, ERR_IO, "%s cannot be stopped: ptrace is not permitted (run the same command with sudo; in a "
	    "container, with the capability SYS_PTRACE: help containers)", name);
}

/* Is the process of that number in /proc the one that ptrace means by it? */
static bool is_of_our_namespace(void)
{
	char path[512], self[24] = "";
	snprintf(path, sizeof path, "%.480s/self", proc_folder());
	return readlink(path, self, sizeof self - 1) > 0 && strtol(self, NULL, 10) == getpid();
}

int ptrace_stop_may(const struct vm_process *p, int process, struct err *err)
{
	char name[VM_TITLE];
	int mem = openat(process, "mem", O_RDONLY | O_CLOEXEC), why = errno;

	vm_process_title(p, name);
	if (mem >= 0)
		close(mem);
	if (!is_of_our_namespace())
		return err_set(err, ERR_UNSUPPORTED, "%s cannot be stopped: it is in another pid namespace than cairn (run "
		    "cairn on the host, or with docker run --pid=host)", name);
	if (mem < 0 && why != EACCES && why != EPERM)
		return err_set(err, ERR_IO, "%s: its memory cannot be read: %s", name, strerror(why));
	if (mem < 0 || status_number(process, "status", "\nTracerPid:", 10))
		return refused(p, process, err);
	return 0;
}

/* --- ^Z ------------------------------------------------------------------------------------------- */

static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
enum { STOPS = sizeof stops / sizeof *stops };
static pthread_mutex_t stops_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned stops_wait; /* for so many processes to go on */
static struct sigaction stops_before[STOPS];

static void not_now(int signal)
{
	(void)signal;
}

/* If the user stopped cairn, what it has stopped would wait until he comes back: a ^Z in that second does nothing.  A
 * handler, for programs that are started meanwhile would inherit SIG_IGN. */
static void hold_stops(bool hold)
{
	struct sigaction none = { .sa_handler = not_now, .sa_flags = SA_RESTART };

	pthread_mutex_lock(&stops_lock);
	bool change = hold ? stops_wait++ == 0 : --stops_wait == 0;
	for (size_t i = 0; change && i < STOPS; i++)
		(void)sigaction(stops[i], hold ? &none : &stops_before[i], hold ? &stops_before[i] : NULL);
	pthread_mutex_unlock(&stops_lock);
}

/* --- stopping -------------------------------------------------------------------------------------- */

static char state_of(const struct ptrace_stop *s, pid_t tid)
{
	char path[40];
	size_t n;
	snprintf(path, sizeof path, "task/%ld/stat", (long)tid);
	char *stat = proc_file(s->process, path, 1024, &n), *at = stat ? strrchr(stat, ')') : NULL;
	char state = at && at[1] == ' ' ? at[2] : 'X';
	free(stat);
	return state;
}

static bool has_ended(const struct ptrace_stop *s, pid_t tid)
{
	char state = state_of(s, tid);
	return state == 'X' || state == 'Z';
}

static int by_number(const void *a, const void *b)
{
	const struct stopped_thread *x = a, *y = b;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static bool is_known(const struct ptrace_stop *s, size_t sorted, pid_t tid)
{
	const struct stopped_thread t = { .tid = tid };
	return find_sorted(&t, s->list, sorted, sizeof *s->list, by_number);
}

/* Interrupt the threads that are not known.  *any: there were some.  One that has ended may have begun others, but for
 * a main thread that ended before its process does. */
static int seize_new(struct ptrace_stop *s, bool *any, struct err *err)
{
	int fd = openat(s->process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), code = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t sorted = s->n;

	if (fd >= 0 && !dir)
		close(fd);
	for (struct dirent *e; dir && code == 0 && (e = readdir(dir)) != NULL;) {
		pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid <= 0 || is_known(s, sorted, tid))
			continue;
		*any = *any || tid != s->vm->pid;
		if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0) {
			(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
			VEC_PUSH(s->list, s->n, s->capacity) = (struct stopped_thread){ .tid = tid };
		} else if (errno != ESRCH && !has_ended(s, tid)) {
			if (++s->refusals > REFUSALS_MOST)
				code = refused(s->vm, s->process, err);
			*any = true;
			(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		}
	}
	if (dir)
		closedir(dir);
	return code;
}

static void pass_time(unsigned round)
{
	if (round > 8) /* most stop at once */
		(void)nanosleep(&(struct timespec){ .tv_nsec = round < 100 ? 50000 : 1000000 }, NULL);
}

/* Has it stopped?  *gone: it has ended, or is about to.  One that waits in the kernel for long is not waited for. */
static bool await(const struct ptrace_stop *s, struct stopped_thread *t, uint64_t until, bool *gone)
{
	int status = 0;

	*gone = false;
	for (unsigned round = 0;; round++) {
		pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);
		if (got == t->tid && WIFSTOPPED(status)) {
			t->signal = status >> 16 ? 0 : WSTOPSIG(status);
			t->stopped = true;
			return true;
		}
		char state = round % 32 == 31 ? state_of(s, t->tid) : 0;
		*gone = got == t->tid || (got < 0 && errno == ECHILD) || state == 'X' || state == 'Z';
		t->waits = state == 'D' && progress_clock() > s->began + WAIT_MS * millisecond;
		if (*gone || t->waits || progress_clock() > until)
			return false;
		pass_time(round);
	}
}

static int late(const struct ptrace_stop *s, pid_t tid, struct err *err)
{
	char name[VM_TITLE];
	vm_process_title(s->vm, name);
	if (!tid)
		return err_set(err, ERR_IO, "%s does not stop: it begins threads all the time (try again)", name);
	return err_set(err, ERR_IO, "%s does not stop: thread %ld has not been run for 2 s (state %c; try again)", name,
	    (long)tid, state_of(s, tid));
}

/* Wait for those from this one on; those that end are dropped. */
static int await_from(struct ptrace_stop *s, size_t from, uint64_t until, struct err *err)
{
	size_t n = from;

	for (size_t i = from; i < s->n; i++) {
		bool gone;
		if (!await(s, &s->list[i], until, &gone) && !gone && !s->list[i].waits)
			return late(s, s->list[i].tid, err);
		if (!gone)
			s->list[n++] = s->list[i];
	}
	s->n = n;
	sort_array(s->list, s->n, sizeof *s->list, by_number);
	return 0;
}

static void main_thread_first(struct ptrace_stop *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct stopped_thread t = s->list[i];
		if (t.tid != s->vm->pid)
			continue;
		memmove(s->list + 1, s->list, i * sizeof *s->list);
		s->list[0] = t;
	}
}

int ptrace_stop_begin(struct ptrace_stop *s, const struct vm_process *p, int process, struct progress *progress,
    struct err *err)
{
	char name[VM_TITLE];
	int code = 0;
	bool any;

	*s = (struct ptrace_stop){ .vm = p, .process = process, .began = progress_clock() };
	uint64_t until = s->began + STOP_MS * millisecond;
	hold_stops(true);
	/* Threads that run begin others: when a round finds no new one, all stand still. */
	do {
		size_t before = s->n;
		any = false;
		code = seize_new(s, &any, err);
		code = code ? code : await_from(s, before, until, err);
		if (code == 0 && progress && atomic_load(&progress->cancel))
			code = err_cancelled(err);
		else if (code == 0 && any && progress_clock() > until)
			code = late(s, 0, err);
	} while (code == 0 && any);
	vm_process_title(p, name);
	if (code == 0 && !s->n)
		code = err_set(err, ERR_NOT_FOUND, "%s has ended", name);
	main_thread_first(s);
	return code;
}

static void detach(const struct stopped_thread *t)
{
	(void)ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal);
}

uint64_t ptrace_stop_end(struct ptrace_stop *s)
{
	uint64_t until = progress_clock() + END_MS * millisecond;
	bool gone;

	for (size_t i = 0; i < s->n; i++)
		if (s->list[i].stopped)
			detach(&s->list[i]);
	uint64_t pause = progress_clock() - s->began;
	for (size_t i = 0; i < s->n; i++)
		if (!s->list[i].stopped && await(s, &s->list[i], until, &gone))
			detach(&s->list[i]);
	hold_stops(false);
	free(s->list);
	s->list = NULL;
	s->n = s->capacity = 0;
	return pause;
}

/* "NUMBER ARGUMENTS... SP PC" of the system call that a thread is in; "-1 SP PC" in none. */
static size_t registers_of_call(const struct ptrace_stop *s, pid_t tid, void *to, size_t room)
{
#ifdef __x86_64__
	enum { SP = 19, PC = 16, REGISTERS = 27 };
#else
	enum { SP = 31, PC = 32, REGISTERS = 34 };
#endif
	char path[40];
	size_t n;
	uint64_t all[REGISTERS] = { 0 };

	snprintf(path, sizeof path, "task/%ld/syscall", (long)tid);
	char *text = proc_file(s->process, path, 512, &n), *pc = text ? strrchr(text, ' ') : NULL, *sp = pc;
	while (sp && sp > text && sp[-1] != ' ')
		sp--;
	all[SP] = sp ? strtoull(sp, NULL, 16) : 0;
	all[PC] = pc ? strtoull(pc, NULL, 16) : 0;
	free(text);
	n = room < sizeof all ? room : sizeof all;
	memcpy(to, all, n);
	return n;
}

size_t ptrace_stop_registers(const struct ptrace_stop *s, const struct stopped_thread *t, unsigned type, void *to,
    size_t room)
{
	struct iovec v = { to, room };
	if (!t->stopped)
		return type == NT_PRSTATUS ? registers_of_call(s, t->tid, to, room) : 0;
	return ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)type, &v) ? 0 : v.iov_len;
}
