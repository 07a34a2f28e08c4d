/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live_dump_file.c - see live_dump_file.h. */
#include "attach/live_dump_file.h"

#include "algorithms/packed_bytes.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PHD_FILE "heap.phd"
#define JAVACORE_FILE "javacore.txt"
#define CORE_FILE "core.dmp"

enum {
	STATUS_MOST = 64 << 10,
	TWO_COPIES_SINCE = 22, /* Java's release */
	ROOM_ADDED = 64 << 20, /* for names, classes and stacks */
	COPY_BYTES = 1 << 20,
};

uint64_t live_dump_resident(const struct vm_process *p)
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
		heap = live_dump_resident(p);
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

/* Open what the VM wrote, and take it away. */
static int open_file(struct taking *t, const struct dump_folder *f, const char *file, uint64_t *size, struct err *err)
{
	struct own_user own;
	struct stat st;
	char name[VM_TITLE];
	vm_process_title(t->vm, name);
	int code = own_user_become(&own, t->vm, err);

	if (code)
		return code;
	int fd = openat(f->fd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), why = errno;
	(void)unlinkat(f->fd, file, 0);
	own_user_return(&own);
	if (fd < 0)
		return err_set(err, ERR_IO, "%s: its dump cannot be opened: %s", name, strerror(why));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(err, ERR_IO, "%s: its dump is not a file", name);
	}
	*size = (uint64_t)st.st_size;
	progress_phase(t->progress, PHASE_TAKE_DUMP, *size);
	return fd;
}

static int read_file(struct taking *t, const struct dump_folder *f, const char *file, unsigned stream, struct err *err)
{
	uint64_t came = 0, before, size;
	int fd = open_file(t, f, file, &size, err), code = fd < 0 ? fd : 0;

	do {
		before = came;
		code = code ? code : live_dump_drain(t, fd, stream, &came, err);
	} while (code == 0 && came > before);
	if (fd >= 0)
		close(fd);
	return code;
}

static int refused(const struct taking *t, const char *text, struct err *err)
{
	static const char written[] = "Dump written to "; /* OpenJ9 says this, and then why not */
	char name[VM_TITLE];
	vm_process_title(t->vm, name);
	if (strncmp(text, written, strlen(written)) == 0 && text[strlen(written)] != '/')
		text += strlen(written);
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

/* --- of OpenJ9 -------------------------------------------------------------------------------------------- */

static void add_remark(struct taking *t, const char *what, const char *more)
{
	size_t n = strlen(t->remark);
	snprintf(t->remark + n, t->remark_room - n, "%s%s %s", n ? "; " : "", what, more);
}

/* Have OpenJ9 write a file of its own. */
static int ask_openj9(struct taking *t, const struct dump_folder *f, const char *kind, const char *file,
    struct err *err)
{
	char request[128], said[128];
	const char *argument[3] = { request, NULL, NULL }, *text;

	snprintf(request, sizeof request, "%s,%s/%s", kind, f->path, file);
	snprintf(said, sizeof said, "Dump written to %s/%s", f->path, file);
	int code = ask_for_file(t, f, file, "ATTACH_DIAGNOSTICS", argument, &text, err);
	return code ? code : strncmp(text, said, strlen(said)) != 0 ? refused(t, text, err) : 0;
}

/* Memory of its own, also what is swapped out. */
uint64_t live_core_room(const struct vm_process *p)
{
	uint64_t bytes = live_dump_resident(p);
	return bytes ? bytes + ROOM_ADDED : 0;
}

char *live_dump_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xstrndup(path, slash > path ? (size_t)(slash - path) : 1) : xstrdup(".");
}

static int is_there(const char *path, struct err *err)
{
	return err_set(err, ERR_USAGE, "%.200s: this file is there already (choose another name)", path);
}

static int open_new(const char *path, struct err *err)
{
	int fd = file_open_to_write(path, O_WRONLY | O_CREAT | O_EXCL, 0600, err);
	return fd == ERR_IO && errno == EEXIST ? is_there(path, err) : fd;
}

int live_core_check(const struct vm_process *p, const char *path, struct err *err)
{
	char name[VM_TITLE], need[UNITS_ROOM], there[UNITS_ROOM];
	struct stat st;
	struct statvfs v;

	vm_process_title(p, name);
	if (p->kind != VM_OPENJ9)
		return err_set(err, ERR_USAGE, "%s writes no core file on request, only OpenJ9 does (%s%ld)", name,
		    p->kind == VM_GO ? "but its dump is a core file: --keep FILE.core " : "gcore ", (long)p->pid);
	if (!lstat(path, &st))
		return is_there(path, err);
	char *folder = live_dump_folder_of(path);
	int code = statvfs(folder, &v) ? err_set(err, ERR_IO, "%.200s: %s", folder, strerror(errno)) : 0;
	free(folder);
	uint64_t room = live_core_room(p), free_now = code ? 0 : (uint64_t)v.f_bavail * v.f_frsize;
	units_bytes(need, room);
	units_bytes(there, free_now);
	return code || free_now >= room ? code :
	    err_set(err, ERR_IO, "%.200s: no room for a core file of up to %s (%s free)", path, need, there);
}

/* Bytes of the VM's disk that it needs; its copy may be there, too. */
static uint64_t core_room_there(const struct taking *t)
{
	uint64_t room = live_core_room(t->vm);
	char *folder = live_dump_folder_of(t->wishes->core);
	struct stat ours, theirs;
	bool same = !stat(folder, &ours) && !fstat(t->link.tmp, &theirs) && ours.st_dev == theirs.st_dev;

	free(folder);
	return same ? 2 * room : room;
}

/* Copy a core: what is zero stays a hole. */
static int copy_core(struct taking *t, int from, int to, uint64_t size, struct err *err)
{
	char *bytes = xmalloc(COPY_BYTES);
	ssize_t n;
	int code = 0;

	while (code == 0 && (n = read(from, bytes, COPY_BYTES)) != 0) {
		bool zero = n > 0 && !*bytes && !memcmp(bytes, bytes + 1, (size_t)n - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (zero ? lseek(to, n, SEEK_CUR) < 0 : write(to, bytes, (size_t)n) != n))
			code = err_set(err, ERR_IO, "%s", strerror(n > 0 && !errno ? ENOSPC : errno));
		else if (!progress_add(t->progress, (uint64_t)n))
			code = err_cancelled(err);
	}
	free(bytes);
	if (code == 0 && ftruncate(to, (off_t)size))
		code = err_set(err, ERR_IO, "%s", strerror(errno));
	return code;
}

/* Does the host pipe cores to a program, which keeps them from the VM? */
static bool cores_are_piped(void)
{
	char first = 0;
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, &first, 1) == 1 && first == '|';
	if (fd >= 0)
		close(fd);
	return is;
}

static int take_core(struct taking *t, const struct dump_folder *f, struct err *err)
{
	const char *path = t->wishes->core;
	char more[160], bytes[UNITS_ROOM];
	uint64_t size;
	int to = open_new(path, err), from = -1;
	int code = to < 0 ? to : ask_openj9(t, f, "Dump.system", CORE_FILE, err);

	if (code == 0 && (from = open_file(t, f, CORE_FILE, &size, err)) < 0)
		code = from;
	if (code == ERR_IO && to >= 0 && cores_are_piped())
		code = err_set(err, ERR_IO, "this host pipes core files to a program (set /proc/sys/kernel/core_pattern to "
		    "core)");
	code = code ? code : copy_core(t, from, to, size, err);
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) && code == 0)
		code = err_set(err, ERR_IO, "%s", strerror(errno));
	if (code && to >= 0)
		(void)unlink(path);
	if (code)
		return code;
	units_bytes(bytes, size);
	snprintf(more, sizeof more, "%.120s (%s)", path, bytes);
	add_remark(t, "the core file is", more);
	return 0;
}

/* What comes beside the objects may be missing. */
static int beside(struct taking *t, int code, const char *what, const struct err *err)
{
	if (code == 0 || code == ERR_CANCELLED || code == ERR_NOMEM)
		return code;
	add_remark(t, what, err->message);
	return 0;
}

/* Objects, and threads and options of the same moment or nearly so. */
static int take_phd(struct taking *t, const struct dump_folder *f, struct err *err)
{
	int code = ask_openj9(t, f, "Dump.heap", PHD_FILE, err);
	code = code ? code : read_file(t, f, PHD_FILE, 0, err);
	if (code)
		return code;
	code = ask_openj9(t, f, "Dump.java", JAVACORE_FILE, err);
	code = code ? code : read_file(t, f, JAVACORE_FILE, 1, err);
	code = beside(t, code, "no javacore:", err);
	if (code == 0 && t->wishes->core)
		code = beside(t, take_core(t, f, err), "no core file:", err);
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
	if (t->vm->kind == VM_OPENJ9)
		room = room / 2 + (t->wishes->core ? core_room_there(t) : 0);
	int code = dump_folder_make(&f, &t->link, room, err);
	if (code == 0)
		code = t->vm->kind == VM_OPENJ9 ? take_phd(t, &f, err) : take_hprof(t, &f, err);
	dump_folder_end(&f, code == 0);
	return code;
}
