/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live_dump_file.c - see live_dump_file.h. */
#include "attach/live_dump_file.h"

#include "algorithms/packed_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PHD_FILE "heap.phd"
#define JAVACORE_FILE "javacore.txt"

enum {
	STATUS_MOST = 64 << 10,
	TWO_COPIES_SINCE = 22, /* Java's release */
	ROOM_ADDED = 64 << 20, /* for names, classes and stacks */
};

/* Memory that a process has, in RAM or swapped out. */
static uint64_t resident(const struct vm_process *p)
{
	size_t n;
	int process = proc_open_known(p, NULL);
	char *status = process < 0 ? NULL : proc_file(process, "status", STATUS_MOST, &n);
	const char *rss = status ? strstr(status, "\nVmRSS:") : NULL, *swap = status ? strstr(status, "\nVmSwap:") : NULL;
	uint64_t bytes = rss ? strtoull(rss + strlen("\nVmRSS:"), NULL, 10) << 10 : 0;

	bytes += swap ? strtoull(swap + strlen("\nVmSwap:"), NULL, 10) << 10 : 0;
	free(status);
	if (process >= 0)
		close(process);
	return bytes;
}

/* References take 8 bytes in a dump, and 4 in most heaps; each object has a record of its own. */
uint64_t live_dump_room(const struct vm_process *p)
{
	struct vm_counters now;
	uint64_t heap = vm_process_counters(p, &now) ? now.heap_committed : 0;
	if (now.heap_used > heap)
		heap = now.heap_used;
	if (!heap)
		heap = resident(p);
	return heap ? heap + heap / 2 + ROOM_ADDED : 0;
}

/* Ask, and meanwhile say how much the VM has written. */
static int ask_for_file(struct taking *t, const struct dump_folder *f, const char *file, const char *command,
    const char *const argument[3], const char **text, struct err *err)
{
	int code = vm_link_request(&t->link, command, argument, err);

	progress_phase(t->progress, PHASE_TAKE_DUMP, 0);
	for (uint64_t said = 0; code == 0 && !t->link.answered;) {
		struct pollfd p = { .fd = t->link.socket, .events = POLLIN };
		struct stat st;
		code = poll(&p, 1, LINK_LOOK_MS) > 0 ? vm_link_read(&t->link, err) : vm_link_look(&t->link, err);
		if (code || fstatat(f->fd, file, &st, AT_SYMLINK_NOFOLLOW) || (uint64_t)st.st_size <= said)
			continue;
		if (!progress_add(t->progress, (uint64_t)st.st_size - said))
			code = err_cancelled(err);
		said = (uint64_t)st.st_size;
	}
	return code ? code : vm_link_result(&t->link, text, err);
}

static int read_file(struct taking *t, const struct dump_folder *f, const char *file, unsigned stream, struct err *err)
{
	struct own_user own;
	struct stat st;
	char name[VM_TITLE];
	uint64_t came = 0, before;
	vm_process_title(t->vm, name);
	int code = own_user_become(&own, t->vm, err);

	if (code)
		return code;
	int fd = openat(f->fd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), why = errno;
	(void)unlinkat(f->fd, file, 0);
	own_user_return(&own);
	if (fd < 0)
		return err_set(err, ERR_IO, "%s: its dump cannot be opened: %s", name, strerror(why));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = err_set(err, ERR_IO, "%s: its dump is not a file", name);
	if (code == 0)
		progress_phase(t->progress, PHASE_TAKE_DUMP, (uint64_t)st.st_size);
	do {
		before = came;
		code = code ? code : live_dump_drain(t, fd, stream, &came, err);
	} while (code == 0 && came > before);
	close(fd);
	return code;
}

static int refused(const struct taking *t, const char *text, struct err *err)
{
	char name[VM_TITLE];
	vm_process_title(t->vm, name);
	return err_set(err, ERR_IO, "%s wrote no dump: %.*s", name, (int)strcspn(text, "\n"), text);
}

static int take_hprof(struct taking *t, const struct dump_folder *f, struct err *err)
{
	char command[128];
	const char *argument[3] = { command, NULL, NULL }, *text;
	struct err why = ERR_INIT;

	snprintf(command, sizeof command, "GC.heap_dump %s%s/%s", t->wishes->collect ? "" : "-all ", f->path, DUMP_FILE);
	int code = ask_for_file(t, f, DUMP_FILE, "jcmd", argument, &text, &why);
	if (code == ERR_NOT_FOUND) { /* it has ended: what it wrote is there yet */
		code = read_file(t, f, DUMP_FILE, 0, err);
		return code == ERR_IO || code == 0 ? live_dump_incomplete(t, &why, err) : code;
	}
	if (code)
		*err = why;
	if (code == 0 && !strstr(text, "Heap dump file created"))
		code = refused(t, strstr(text, "\nDump") ? strstr(text, "\nDump") + 1 : text, err);
	return code ? code : read_file(t, f, DUMP_FILE, 0, err);
}

/* Objects, and threads and options of the same moment or nearly so. */
static int take_phd(struct taking *t, const struct dump_folder *f, struct err *err)
{
	static const char *const kind[] = { "Dump.heap", "Dump.java" }, *const file[] = { PHD_FILE, JAVACORE_FILE };
	char request[128], said[128];
	const char *argument[3] = { request, NULL, NULL }, *text;
	int code = 0;

	for (unsigned i = 0; i < 2 && code == 0; i++) {
		snprintf(request, sizeof request, "%s,%s/%s", kind[i], f->path, file[i]);
		snprintf(said, sizeof said, "Dump written to %s/%s", f->path, file[i]);
		code = ask_for_file(t, f, file[i], "ATTACH_DIAGNOSTICS", argument, &text, err);
		if (code == 0 && strncmp(text, said, strlen(said)) != 0)
			code = refused(t, text, err);
		code = code ? code : read_file(t, f, file[i], i, err);
		if (i && code && code != ERR_CANCELLED && code != ERR_NOMEM) {
			snprintf(t->remark, t->remark_room, "no javacore: %s", err->message);
			code = 0;
		}
	}
	return code;
}

int live_dump_take_file(struct taking *t, struct err *err)
{
	struct dump_folder f;
	char name[VM_TITLE];
	uint64_t room = live_dump_room(t->vm);

	vm_process_title(t->vm, name);
	if (!room)
		return err_set(err, ERR_IO, "%s: the size of its heap is unknown, so its dump may fill its disk (dump it to "
		    "another one: jcmd %ld GC.heap_dump FILE)", name, (long)t->vm->pid);
	if (t->vm->release >= TWO_COPIES_SINCE)
		room *= 2;
	int code = dump_folder_make(&f, &t->link, t->vm->kind == VM_OPENJ9 ? room / 2 : room, err);
	if (code == 0)
		code = t->vm->kind == VM_OPENJ9 ? take_phd(t, &f, err) : take_hprof(t, &f, err);
	dump_folder_end(&f, code == 0);
	return code;
}
