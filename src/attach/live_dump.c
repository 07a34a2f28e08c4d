/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live_dump.c - a dump that a VM writes into our memory: see attach.h.
 *
 * HotSpot from Java 17 on writes over a file that is there (GC.heap_dump -overwrite), so that may be a FIFO.  Up to 21
 * it writes one file from its beginning to its end.  From 22 on it writes all but the objects to FILE and the objects
 * to FILE.p0, then copies FILE.p0, by its size, to the end of FILE, where it puts the END record: of a FIFO, whose
 * size is 0, it copies nothing (services/heapDumper.cpp).  The VM stands still meanwhile, so nothing is done here but
 * to read.
 */
#include "attach/live_dump_file.h"

#include "algorithms/packed_bytes.h"
#include "attach/core_copy.h"
#include "base/files.h"
#include "base/memory_limit.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { END_RECORD = 9, READS_IN_TURN = 8 };
static const char end_record[END_RECORD] = { 0x2c };

/* --- through FIFOs ---------------------------------------------------------------------------------------- */

int live_dump_no_memory(const struct packed_bytes *bytes, struct err *err)
{
	char came[UNITS_ROOM];
	uint64_t all = 0;
	for (unsigned i = 0; i < packed_bytes_streams(bytes); i++)
		all += packed_bytes_size(bytes, i);
	units_bytes(came, all);
	return err_set(err, ERR_NOMEM, "no memory for more than %s of the dump (give a larger --mem, or a folder with "
	    "--spill)", came);
}

int live_dump_drain(struct taking *t, int fd, unsigned stream, uint64_t *came, struct err *err)
{
	for (unsigned i = 0; i < READS_IN_TURN; i++) {
		ssize_t n = packed_bytes_read(t->bytes, stream, fd);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return errno == ENOMEM ? live_dump_no_memory(t->bytes, err) :
			    err_set(err, ERR_IO, "reading the dump: %s", strerror(errno));
		if (n <= 0)
			return 0;
		*came += (uint64_t)n;
		if (!progress_add(t->link.progress, (uint64_t)n))
			return err_cancelled(err);
	}
	return 0;
}

/* Until the VM has answered, and nothing is left in the FIFOs. */
static int drain_fifos(struct taking *t, const struct dump_folder *f, struct err *err)
{
	uint64_t looked = progress_clock(), came = 1;
	int code = 0;

	while (code == 0 && (!t->link.answered || came)) {
		struct pollfd p[] = { { f->fifo[0], POLLIN, 0 }, { f->fifo[1], POLLIN, 0 },
			{ t->link.answered ? -1 : t->link.socket, POLLIN, 0 } };
		int n = poll(p, sizeof p / sizeof *p, t->link.answered ? 0 : LINK_LOOK_MS);
		came = n < 0; /* a signal */
		for (unsigned i = 0; i < DUMP_FIFOS && code == 0 && n > 0; i++)
			if (p[i].revents & POLLIN)
				code = live_dump_drain(t, f->fifo[i], i, &came, err);
		if (code == 0 && n > 0 && p[2].revents)
			code = vm_link_read(&t->link, err), came = 1;
		if (code == 0 && progress_clock() - looked > LINK_LOOK_MS * UINT64_C(1000000)) {
			looked = progress_clock();
			code = vm_link_look(&t->link, err);
			if (code == ERR_NOT_FOUND)
				code = 0, t->link.answered = true, came = 1; /* what it wrote is there yet */
		}
	}
	return code;
}

/* What the VM says of the dump.  Whole: its FILE has as many bytes as it says. */
static bool is_whole(struct taking *t, struct err *err)
{
	static const char created[] = "Heap dump file created [", incomplete[] = "Dump file is incomplete: ";
	const char *text, *at, *line;
	char name[VM_TITLE], bytes[UNITS_ROOM];
	uint64_t came = packed_bytes_size(t->bytes, 0);

	if (vm_link_result(&t->link, &text, err))
		return false;
	vm_process_title(t->vm, name);
	if ((at = strstr(text, created)) != NULL) {
		uint64_t wrote = strtoull(at + strlen(created), NULL, 10);
		units_bytes(bytes, wrote);
		err_set(err, ERR_IO, "%s wrote %s", name, bytes);
		return wrote == came;
	}
	at = strstr(text, incomplete);
	if (!at && vm_link_ended(&t->link)) {
		err_set(err, ERR_NOT_FOUND, "%s ended meanwhile", name);
		return false;
	}
	/* "Dumping heap to FILE ...", and what is wrong with it */
	line = strncmp(text, "Dumping", 7) == 0 ? strchr(text, '\n') : NULL;
	line = at ? at + strlen(incomplete) : line ? line + 1 : text;
	err_set(err, ERR_IO, "%s: %.*s", name, (int)strcspn(line, "\n"), line);
	return false;
}

int live_dump_incomplete(struct taking *t, const struct err *why, struct err *err)
{
	char came[UNITS_ROOM];
	uint64_t all = packed_bytes_size(t->bytes, 0) + packed_bytes_size(t->bytes, 1);

	if (!all) {
		err_set(err, why->code, "%s", why->message);
		return why->code == ERR_NOT_FOUND ? ERR_NOT_FOUND : LIVE_DUMP_OTHERWISE;
	}
	units_bytes(came, all);
	snprintf(t->remark, t->remark_room, "the dump is incomplete, %s came: %s", came, why->message);
	return 0;
}

/* A record that ends the dump is put behind the objects. */
static int end_fifos(struct taking *t, struct err *err)
{
	struct err why = ERR_INIT;

	if (is_whole(t, &why)) {
		bool end_moves = packed_bytes_size(t->bytes, 1) > 0;
		if (end_moves)
			packed_bytes_drop(t->bytes, 0, END_RECORD);
		return end_moves && !packed_bytes_add(t->bytes, 1, end_record, END_RECORD) ?
		    live_dump_no_memory(t->bytes, err) : 0;
	}
	return live_dump_incomplete(t, &why, err);
}

/* LIVE_DUMP_OTHERWISE, and why: this VM or its folders cannot. */
static int take_by_fifos(struct taking *t, struct err *err)
{
	struct dump_folder f;
	char command[128];
	const char *argument[3] = { command, NULL, NULL };
	int code = dump_folder_make(&f, &t->link, 0, err);

	if (code) {
		dump_folder_end(&f, true);
		return LIVE_DUMP_OTHERWISE;
	}
	snprintf(command, sizeof command, "GC.heap_dump %s-overwrite %s/%s", t->wishes->collect ? "" : "-all ", f.path,
	    DUMP_FILE);
	code = vm_link_request(&t->link, "jcmd", argument, err);
	bool asked = code == 0;
	progress_phase(t->link.progress, PHASE_TAKE_DUMP, 0);
	code = code ? code : drain_fifos(t, &f, err);
	if (code == 0 && dump_folder_lost(&f))
		code = err_set(err, ERR_IO, "cairn was stopped while the VM wrote its heap, so the VM went on without it (try "
		    "again)");
	dump_folder_end(&f, !asked || code == 0);
	return code ? code : end_fifos(t, err);
}

/* --- the dump ------------------------------------------------------------------------------------------------ */

int live_dump_write(struct packed_bytes *dump, enum vm_kind kind, int fd, struct progress *progress, struct err *err)
{
	int code = 0;

	for (unsigned i = 0; i < (kind == VM_OPENJ9 ? 1 : packed_bytes_streams(dump)) && code == 0; i++)
		if (packed_bytes_size(dump, i))
			code = packed_bytes_write(dump, i, fd, progress, err);
	return code;
}

/* A new file has no name before it is whole, so no part of a dump is left, however cairn ends; *unnamed: where the file
 * system can do that. */
static int open_to_keep(const char *path, bool *unnamed, struct err *err)
{
	int fd = -1;
#ifdef O_TMPFILE
	struct stat st;
	char *folder = live_dump_folder_of(path);
	if (lstat(path, &st))
		fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(folder);
#endif
	*unnamed = fd >= 0;
	return fd >= 0 ? fd : file_open_to_write(path, O_WRONLY | O_CREAT, 0600, err);
}

static int give_name(int fd, const char *path, struct err *err)
{
	char link[40];
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? err_set(err, ERR_IO, "%s", strerror(errno)) : 0;
}

/* Before the VM pauses.  A file that was not there is made when there is a dump: nothing is left if we end before. */
static int may_keep(const char *path, struct err *err)
{
	struct stat st;
	bool is_new = lstat(path, &st) != 0, unnamed;

	if (!stat(path, &st) && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode))) /* whose reader would see an end */
		return 0;
	int fd = open_to_keep(path, &unnamed, err);
	if (fd == ERR_IO)
		return err_set(err, fd, "%s (choose another file for the dump)", err->message);
	if (fd < 0)
		return fd;
	close(fd);
	if (is_new && !unnamed)
		(void)unlink(path);
	return 0;
}

/* A dump that cannot be kept can be looked at nevertheless. */
static void keep(struct taking *t)
{
	const char *path = t->wishes->keep;
	struct err err = ERR_INIT;
	struct stat st;
	bool is_new = lstat(path, &st) != 0, unnamed;
	int fd = open_to_keep(path, &unnamed, &err);
	bool is_file = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
	int code = fd < 0 ? fd : is_file && ftruncate(fd, 0) ? err_set(&err, ERR_IO, "%s", strerror(errno)) :
	    live_dump_write(t->bytes, t->vm->kind, fd, t->progress, &err);

	if (code && is_file)
		(void)!ftruncate(fd, 0);
	if (unnamed && code == 0)
		code = give_name(fd, path, &err);
	if (fd >= 0 && close(fd) && code == 0)
		code = err_set(&err, ERR_IO, "%s", strerror(errno));
	t->wishes->kept = code == 0;
	if (code) {
		size_t n = strlen(t->remark);
		if (is_new && fd >= 0 && !unnamed)
			(void)unlink(path);
		snprintf(t->remark + n, t->remark_room - n, "%sthe dump is not kept in %.100s: %.200s", n ? "; " : "", path,
		    err.message);
	}
}

/* Where memory runs out the kernel ends a process: rather cairn, which has the dump, than a VM in its container. */
static void prefer_as_victim(void)
{
	int fd = file_open_to_write("/proc/self/oom_score_adj", O_WRONLY, 0, NULL);
	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

static int take(struct taking *t, struct err *err)
{
	struct err why = ERR_INIT;
	int code = vm_link_open(&t->link, t->vm, t->progress, err);

	if (code)
		return code;
	dump_folder_clean(&t->link);
	hotspot_clean(&t->link);
	code = packed_bytes_new(&t->bytes, DUMP_FIFOS, 0, err);
	prefer_as_victim();
	if (code == 0)
		code = t->vm->kind == VM_OPENJ9 ? LIVE_DUMP_OTHERWISE : take_by_fifos(t, &why);
	if (code == LIVE_DUMP_OTHERWISE)
		code = live_dump_take_file(t, err);
	else if (code && why.code)
		*err = why;
	return code;
}

int live_dump_take(struct packed_bytes **out, const struct vm_process *p, struct live_dump_wishes *w, char *remark,
    size_t room, struct progress *progress, struct err *err)
{
	struct taking t = { .vm = p, .wishes = w, .progress = progress, .remark = remark, .remark_room = room };
	uint64_t size;
	bool copies = p->kind == VM_GO;
	*out = NULL;
	*remark = '\0';
	progress_phase(progress, PHASE_ATTACH, 0);
	if (copies)
		prefer_as_victim();
	int code = copies ? core_copy_take(&t.bytes, p, &w->pause_ns, remark, room, progress, err) : take(&t, err);
	if (!copies)
		vm_link_close(&t.link);
	if (code == 0 && !packed_bytes_end(t.bytes, &size))
		code = live_dump_no_memory(t.bytes, err);
	if (code == 0 && w->keep)
		keep(&t);
	if (code == ERR_CANCELLED) {
		char name[VM_TITLE];
		vm_process_title(p, name);
		err_set(err, code, "stopped; %s goes on", name);
	}
	if (code)
		packed_bytes_free(t.bytes);
	else
		*out = t.bytes;
	return code;
}

int live_dump_program(const struct vm_process *p)
{
	int process = proc_open_known(p, NULL);
	int fd = process < 0 ? -1 : openat(process, "exe", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), why = errno;
	if (process >= 0)
		close(process);
	errno = why;
	return fd;
}

void live_dump_clean(const struct vm_process *p)
{
	struct vm_link l;

	if (vm_link_open(&l, p, NULL, NULL) == 0) {
		dump_folder_clean(&l);
		hotspot_clean(&l);
	}
	vm_link_close(&l);
}

int vm_process_may_be_dumped(const struct vm_process *p, struct err *err)
{
	return p->kind == VM_GO ? core_copy_check(p, err) : vm_process_is_vm(p, err);
}

int live_dump_check(const struct vm_process *p, const struct live_dump_wishes *w, struct err *err)
{
	int code = vm_process_may_be_dumped(p, err);

	if (code == 0 && w->collect && p->kind == VM_GO)
		return err_set(err, ERR_USAGE, "process %ld (%.100s) is a Go program, which cairn cannot have collect garbage "
		    "(leave out --gc)", (long)p->pid, p->name);
	if (code == 0 && w->keep)
		code = may_keep(w->keep, err);
	return code || !w->core ? code : live_core_check(p, w->core, err);
}

/* --- what is going to be done --------------------------------------------------------------------------------- */

enum {
	PACKED_A_SECOND = 256 << 20, /* where memory is short */
	BYTES_A_SECOND = 300 << 20,  /* of the heap, as Java 17 and 25 write it into FIFOs on a busy host */
	COLLECTED_A_SECOND = 1 << 30,
	OVERWRITES_SINCE = 17,       /* GC.heap_dump -overwrite */
	OVERWRITES_AT_BEST = 11,     /* its later updates have it */
};
static const uint64_t copied_a_second = UINT64_C(2) << 30; /* of a Go program, on a busy host */

static void add_pause(uint64_t used, uint64_t seconds, struct text *to)
{
	if (!used)
		text_add(to, " pauses");
	else if (!seconds)
		text_add(to, " pauses for less than a second");
	else
		text_addf(to, " pauses for about %" PRIu64 " s", seconds + 1);
}

static void announce_copy(const struct vm_process *p, const struct live_dump_wishes *w, struct text *to)
{
	uint64_t size = live_dump_resident(p), limit = memory_limit_bytes();
	bool fits = memory_limit_would_fit(size, limit / 8, 0);
	char name[VM_TITLE], bytes[UNITS_ROOM];

	vm_process_title(p, name);
	text_add(to, name);
	add_pause(size, size / (fits ? copied_a_second : PACKED_A_SECOND), to);
	units_bytes(bytes, size);
	text_addf(to, " while cairn copies %sup to %s of its memory into its own; ", fits ? "" : "and packs ", bytes);
	text_addf(to, w->keep ? "%s keeps the copy" : "nothing is written to disk", w->keep);
}

void live_dump_announce(const struct vm_process *p, const struct live_dump_wishes *w, struct text *to)
{
	struct vm_counters now = p->counters;
	char name[VM_TITLE], bytes[UNITS_ROOM];
	bool collects = w->collect || p->kind == VM_OPENJ9; /* its heap dumps are of a heap that was compacted */
	bool by_file = p->kind == VM_OPENJ9 || (p->release && p->release < OVERWRITES_SINCE);

	if (p->kind == VM_GO) {
		announce_copy(p, w, to);
		return;
	}
	(void)vm_process_counters(p, &now);
	vm_process_title(p, name);
	text_add(to, name);
	uint64_t used = now.heap_used ? now.heap_used : now.heap_committed;
	add_pause(used, used / BYTES_A_SECOND + (collects ? used / COLLECTED_A_SECOND : 0), to);
	text_add(to, collects ? ", collects garbage and dumps the live objects" : " and dumps all objects of its heap");
	if (now.heap_used) {
		units_bytes(bytes, now.heap_used);
		text_addf(to, " (%s)", bytes);
	}
	text_add(to, " into cairn's memory; ");
	units_bytes(bytes, live_dump_room(p) + (w->core ? live_core_room(p) : 0));
	if (by_file)
		text_addf(to, "its temporary folder %s up to %s meanwhile", p->kind == VM_OPENJ9 ? "has files of" :
		    p->release >= OVERWRITES_AT_BEST ? "may have a file of" : "has a file of", bytes);
	else
		text_add(to, w->keep ? "" : "nothing is written to disk");
	if (w->keep)
		text_addf(to, "%s%s keeps the dump", by_file ? "; " : "", w->keep);
	if (w->core) {
		units_bytes(bytes, live_core_room(p));
		text_addf(to, "; %s gets a core file of up to %s", w->core, bytes);
	}
}
