/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attach.h - processes of this host whose heap can be looked at, and dumps that their VM writes into memory.
 *
 * A list of processes costs them nothing: it reads /proc and the counters that a VM publishes in a file, and no VM
 * pauses.  To ask a VM something, cairn attaches to it by the VM's own protocol, and is attached to nothing when a
 * function returns.  Every byte that a process publishes or answers is as untrusted as a dump.  Linux only; elsewhere
 * the list is empty and the rest ERR_UNSUPPORTED.  Any thread.
 */
#ifndef CAIRN_ATTACH_ATTACH_H
#define CAIRN_ATTACH_ATTACH_H

#include "base/err.h"
#include "base/progress.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- which processes there are -------------------------------------------------------------------- */

enum vm_kind {
	VM_NONE, /* neither */
	VM_HOTSPOT,
	VM_OPENJ9,
	VM_GO,
};

/* Counters that a HotSpot VM publishes (hsperfdata); bytes and counts, 0: unknown. */
struct vm_counters {
	uint64_t heap_used, heap_committed, heap_max;
	uint64_t young_collections, full_collections;
	uint64_t collection_ns; /* in all of them */
	uint64_t safepoints, safepoint_ns; /* times that the VM stopped its threads, and for how long in all */
};

struct vm_process {
	pid_t pid;
	pid_t inner_pid;   /* in its own pid namespace, which its VM names files by */
	uint64_t started;  /* clock ticks after boot: tells it from another process of the same pid */
	uint64_t uptime;   /* seconds */
	uid_t uid;         /* effective, as the VM checks them */
	gid_t gid;
	enum vm_kind kind;
	bool readable;     /* its files under /proc/PID/root can be reached */
	/* Texts are UTF-8, escaped, secrets masked; never NULL. */
	char *user;        /* "shop", or the number */
	char *name;        /* main class, jar, or program: "com.acme.shop.Main" */
	char *command;     /* the command line as far as it is told */
	char *version;     /* "OpenJDK 17.0.15", "go1.24"; "": unknown */
	char *container;   /* 12 digits of its container's id, else "" */
	unsigned release;  /* of Java: 8, 11, 17 …; 0: unknown */
	struct vm_counters counters;
};

struct vm_processes {
	struct vm_process *list; /* by pid */
	size_t n;
	size_t hidden;           /* processes that this user may not look at */
};

/* All VMs and Go programs of this host but ourselves.  The caller's (vm_processes_free). */
struct vm_processes *vm_processes_list(void);
void vm_processes_free(struct vm_processes *p); /* NULL is fine */

/* One process, whatever it is.  ERR_NOT_FOUND: there is none of this pid, with the sentence; ERR_IO: it cannot be
 * looked at, and what to do. */
MUST_CHECK int vm_process_read(struct vm_process *to, pid_t pid, struct err *err);
/* The only one whose name or command has these words in it, or whose pid they are.  ERR_NOT_FOUND; ERR_USAGE with
 * ERR_SEVERAL: several have them, listed. */
MUST_CHECK int vm_process_find(struct vm_process *to, const char *words, struct err *err);
void vm_process_release(struct vm_process *p);
/* "VM 4711 (com.acme.shop.Main)", for sentences. */
enum { VM_TITLE = 160 };
void vm_process_title(const struct vm_process *p, char to[VM_TITLE]);
/* Does it still run, and is it the same one? */
bool vm_process_lives(const struct vm_process *p);
/* Read its counters again.  False: it publishes none. */
bool vm_process_counters(const struct vm_process *p, struct vm_counters *to);

/* 0: its VM answers questions; ERR_UNSUPPORTED: it has none that does, and what it is. */
MUST_CHECK int vm_process_is_vm(const struct vm_process *p, struct err *err);

/* --- asking a VM ---------------------------------------------------------------------------------- */

/*
 * Ask a HotSpot VM: a command of the attach protocol ("inspectheap", "jcmd") with at most three arguments, NULL the
 * missing ones; on OpenJ9 `command` is "ATTACH_DIAGNOSTICS" and the first argument the rest ("Dump.heap,FILE").  The
 * answer is added to a text as it came: escape it before it is shown.  0; ERR_IO: it could not be asked, or said no:
 * why, and what to do; ERR_UNSUPPORTED: it is no VM (what it is), or refuses all (DisableAttachMechanism);
 * ERR_NOT_FOUND: it has ended; ERR_CANCELLED.  Never signals a process that does not catch the signal.
 */
MUST_CHECK int vm_ask(const struct vm_process *p, const char *command, const char *const argument[3],
    struct text *answer, struct progress *progress, struct err *err);

/* --- watching a VM ---------------------------------------------------------------------------------- */

enum { VM_PAST = 12 }; /* answers kept of each class */

struct vm_class {
	char *name;              /* "com.acme.shop.Order[]", escaped; classes of several loaders are one */
	uint64_t objects, bytes; /* by the last answer; both 0: it had none */
	uint64_t first, before;  /* bytes by the first answer and by the one before the last */
	uint64_t past[VM_PAST];  /* bytes by the answers so far: answer i is at i % VM_PAST */
};

/* The class histogram of a VM, asked for again and again. */
struct vm_watch {
	struct vm_process process;
	bool collect;            /* a full collection before each answer: live objects only; else all */
	struct vm_class *list;   /* in the order of their coming; classes stay */
	uint32_t n;
	uint32_t answers;
	uint64_t objects, bytes; /* of all classes */
	double seconds, all_seconds; /* between the last two answers, and since the first */
	uint64_t pause_ns;       /* for how long the VM stopped its threads for the last answer; 0: it does not tell */
	uint64_t answer_ns;      /* from the question to the end of the answer */
	struct vm_counters counters; /* at the last answer */
	struct vm_watch_own *own;
};

/* Takes the process over.  The caller's (vm_watch_free); one thread at a time. */
struct vm_watch *vm_watch_new(struct vm_process *p, bool collect);
void vm_watch_free(struct vm_watch *w); /* NULL is fine */
/* Ask once more.  Errors as vm_ask, then w is as it was; ERR_FORMAT: the answer is not a histogram, and
 * ERR_NOMEM: then its classes have nothing. */
MUST_CHECK int vm_watch_ask(struct vm_watch *w, struct progress *progress, struct err *err);

/* --- a dump ------------------------------------------------------------------------------------------ */

struct packed_bytes;

struct live_dump_wishes {
	bool collect;     /* a full collection first: live objects only; else all */
	const char *keep; /* a file that gets the dump as well, in place of what it has; NULL: none */
	const char *core; /* OpenJ9: one that gets a core of the VM as well; NULL: none */
	bool kept;        /* set by live_dump_take: keep has it */
	uint64_t pause_ns; /* and this: for how long a Go program stood still; 0: of a VM */
};

/* As vm_process_is_vm; of a Go program, may it be stopped and copied? */
MUST_CHECK int vm_process_may_be_dumped(const struct vm_process *p, struct err *err);
/* What is known before it is asked for: as that, and ERR_USAGE: the file of the core is there already, or
 * no core can be had of this VM; ERR_IO: there is no room for one, or the file to keep cannot be written. */
MUST_CHECK int live_dump_check(const struct vm_process *p, const struct live_dump_wishes *w, struct err *err);
/* The sentence about what is going to be done: the pause expected, what is written where. */
void live_dump_announce(const struct vm_process *p, const struct live_dump_wishes *w, struct text *to);

/* Have the VM dump its heap into memory; a Go program is copied.  *out: all of it, ended (packed_bytes.h), the
 * caller's: HPROF in one stream, or in two, of which the first then lacks its END record; of OpenJ9 a PHD, and a
 * javacore or nothing; of a Go program an ELF core file, in one.  *remark (of room bytes): what is worth saying of it,
 * such as that the VM died meanwhile and how much came, or "".  Errors as vm_ask.  The VM goes on, whatever happens
 * to us. */
MUST_CHECK int live_dump_take(struct packed_bytes **out, const struct vm_process *p, struct live_dump_wishes *w,
    char *remark, size_t room, struct progress *progress, struct err *err);
/* The program that a process runs, also if its file was deleted: the caller's descriptor (close); -1 with errno. */
int live_dump_program(const struct vm_process *p);
/* Write one as a file: HPROF; of OpenJ9 the PHD; of a Go program the core file.  As packed_bytes_write. */
MUST_CHECK int live_dump_write(struct packed_bytes *dump, enum vm_kind kind, int fd, struct progress *progress,
    struct err *err);

/* Remove what a run that was killed left behind for this process: FIFOs, triggers. */
void live_dump_clean(const struct vm_process *p);

#endif
