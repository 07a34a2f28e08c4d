/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_copy.c - see core_copy.h. */
#include "attach/core_copy.h"

#include "algorithms/packed_bytes.h"
#include "algorithms/parallel.h"
#include "attach/core_image.h"
#include "attach/live_dump_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	MAPS_MOST = 256 << 20,
	UNIT = 1 << 20,     /* bytes that a thread copies at a time; as many zeros are a hole */
	UNITS_AT_ONCE = 32,
	UNITS_TIGHT = 4,    /* where memory is short: until they came they are not packed */
	NICE = -10,         /* on a busy host the process would wait for its neighbours */
	THREADS_MOST = 4,   /* more do not find more memory bandwidth */
};

struct copying {
	const struct vm_process *vm;
	struct progress *progress;
	int process, mem, pages; /* /proc/PID, and its files mem and pagemap */
	struct core_target target;
	struct memory_map map;
	uint64_t unit_pages, units; /* units: that are copied at once */
	uint64_t head;           /* bytes before the first page */
	struct ptrace_stop stop;
	struct packed_bytes *bytes;
	uint64_t first, last;    /* the pages that are copied now */
	uint8_t *to;
	uint64_t pause_ns, too_sparse;
	_Atomic bool by_file;    /* the system refuses process_vm_readv */
	_Atomic uint64_t unread; /* pages that could not be */
	_Atomic int64_t budget;  /* bytes that may be prepared */
};

/* Not progress_cancelled: it may wait for another job, while the process stands still. */
static bool is_cancelled(const struct copying *c)
{
	return c->progress && (atomic_load(&c->progress->cancel) || progress_late(c->progress));
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static unsigned threads(void)
{
	return (unsigned)lesser(parallel_threads(), THREADS_MOST);
}

/* --- what is to be copied ------------------------------------------------------------------------ */

static size_t read_pagemap(void *context, uint64_t page, uint64_t *to, size_t n)
{
	const struct copying *c = context;
	ssize_t got = pread(c->pages, to, n * sizeof *to, (off_t)(page * sizeof *to));
	return got > 0 ? (size_t)got / sizeof *to : 0;
}

/* From smaps, which says more, or from maps, which is faster. */
static int read_map(struct copying *c, const char *name, const struct memory_map *before, struct err *err)
{
	char title[VM_TITLE];
	size_t n;
	char *text = proc_file(c->process, name, MAPS_MOST, &n);

	vm_process_title(c->vm, title);
	if (!text)
		return errno == ESRCH ? err_set(err, ERR_NOT_FOUND, "%s has ended", title) :
		    err_set(err, ERR_IO, "%s: its memory cannot be read: %s", title, strerror(errno));
	memory_map_parse(&c->map, text, (uint64_t)sysconf(_SC_PAGESIZE));
	if (before)
		memory_map_keep_left_out(&c->map, before);
	memory_map_choose(&c->map, read_pagemap, c);
	c->unit_pages = UNIT / c->map.page_size;
	return c->map.pages ? 0 : err_set(err, ERR_NOT_FOUND, "%s has ended", title);
}

/* --- taking pages before ------------------------------------------------------------------------- */

static bool has_any(const struct memory_map *m, uint64_t page, uint64_t end)
{
	return memory_map_touched(m, page) || memory_map_run(m, page, end) < end;
}

/* Those of a part of the copy that has to be read, in blocks: packed_bytes counts no less. */
static int prepare(void *context, unsigned task, struct err *err)
{
	struct copying *c = context;
	const struct memory_map *m = &c->map;
	uint64_t block = m->page_size < PACKED_ZEROS ? PACKED_ZEROS / m->page_size : 1;
	uint64_t page = task * c->unit_pages * UNITS_AT_ONCE;
	uint64_t last = lesser(page + c->unit_pages * UNITS_AT_ONCE, m->pages);

	(void)err;
	for (uint64_t end; page < last && !is_cancelled(c); page = end) {
		for (end = page; end < last && has_any(m, end, lesser(end + block, last));)
			end = lesser(end + block, last);
		uint64_t n = (end - page) * m->page_size;
		if (!n) {
			end = lesser(page + block, last);
			continue;
		}
		if (atomic_fetch_sub(&c->budget, (int64_t)n) < (int64_t)n)
			return 0;
		packed_bytes_prepare(c->bytes, 0, c->head + page * m->page_size, c->head + end * m->page_size);
	}
	return 0;
}

static int make_room(struct copying *c, struct err *err)
{
	uint64_t pages = c->unit_pages * UNITS_AT_ONCE;
	int code = packed_bytes_new(&c->bytes, 1, 0, err);
	char status[] = "status";
	size_t n;

	if (code)
		return code;
	char *text = proc_file(c->process, status, 64 << 10, &n), *at = text ? strstr(text, "\nThreads:") : NULL;
	c->head = core_image_head_size(&c->map, at ? strtoull(at + strlen("\nThreads:"), NULL, 10) : 0);
	free(text);
	uint64_t all = c->head + c->map.pages * c->map.page_size, may = packed_bytes_expect(c->bytes, 0, all);
	c->budget = (int64_t)may;
	c->units = may == all ? UNITS_AT_ONCE : UNITS_TIGHT;
	if (c->budget)
		code = parallel_run(threads(), (unsigned)((c->map.pages + pages - 1) / pages), prepare, c, err);
	return code ? code : is_cancelled(c) ? err_cancelled(err) : 0;
}

/* --- copying ------------------------------------------------------------------------------------- */

static ssize_t read_memory(struct copying *c, uint64_t address, uint8_t *to, uint64_t n)
{
	struct iovec ours = { to, n }, its = { (void *)(uintptr_t)address, n };
	ssize_t got = -1;

	if (!atomic_load(&c->by_file)) {
		got = process_vm_readv(c->vm->pid, &ours, 1, &its, 1, 0);
		if (got < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES))
			atomic_store(&c->by_file, true);
	}
	return got < 0 && atomic_load(&c->by_file) ? pread(c->mem, to, n, (off_t)address) : got;
}

/* Pages that cannot be read stay zeros: of a file that was truncated, for one. */
static void copy_pages(struct copying *c, uint64_t page, uint64_t end, uint8_t *to)
{
	uint64_t size = c->map.page_size;

	for (uint64_t done; page < end; page += done, to += done * size) {
		const struct mapping *a = memory_map_of_page(&c->map, page);
		uint64_t n = lesser(end - page, a->page + a->copied / size - page);
		ssize_t got = read_memory(c, a->begin + (page - a->page) * size, to, n * size);
		done = got > 0 ? (uint64_t)got / size : 0;
		if (!done) {
			atomic_fetch_add(&c->unread, 1);
			done = 1;
		}
	}
}

static int copy_unit(void *context, unsigned task, struct err *err)
{
	struct copying *c = context;
	uint64_t page = c->first + task * c->unit_pages, last = lesser(page + c->unit_pages, c->last);

	(void)err;
	for (uint64_t end; page < last; page = end) {
		end = memory_map_run(&c->map, page, last);
		if (!memory_map_touched(&c->map, page))
			continue;
		copy_pages(c, page, end, c->to + (page - c->first) * c->map.page_size);
		if (c->progress)
			atomic_fetch_add(&c->progress->done, (end - page) * c->map.page_size);
	}
	return 0;
}

/* The end of the whole units from this page on of which nothing is read. */
static uint64_t zeros_end(const struct copying *c, uint64_t page)
{
	const struct memory_map *m = &c->map;
	uint64_t end = memory_map_touched(m, page) ? page : memory_map_run(m, page, m->pages);
	return end - (end - page) % c->unit_pages;
}

static int copy_some(struct copying *c, struct err *err)
{
	uint64_t n = c->unit_pages;

	while (c->first + n < c->map.pages && n < c->unit_pages * c->units &&
	    zeros_end(c, c->first + n) == c->first + n)
		n += c->unit_pages;
	c->last = lesser(c->first + n, c->map.pages);
	uint64_t bytes = (c->last - c->first) * c->map.page_size;
	c->to = packed_bytes_room(c->bytes, 0, bytes);
	if (!c->to)
		return live_dump_no_memory(c->bytes, err);
	int code = parallel_run(threads(), (unsigned)((c->last - c->first + c->unit_pages - 1) / c->unit_pages), copy_unit,
	    c, err);
	packed_bytes_came(c->bytes, 0, bytes);
	return code;
}

static int copy_all(struct copying *c, struct err *err)
{
	int code = 0;

	for (c->first = 0; code == 0 && c->first < c->map.pages; c->first = c->last) {
		c->last = zeros_end(c, c->first);
		if (is_cancelled(c))
			code = err_cancelled(err);
		else if (c->last == c->first)
			code = copy_some(c, err);
		else if (!packed_bytes_zeros(c->bytes, 0, (c->last - c->first) * c->map.page_size))
			code = live_dump_no_memory(c->bytes, err);
	}
	return code;
}

/* --- all ------------------------------------------------------------------------------------------ */

/* Between stop and end of the pause. */
static int copy_stopped(struct copying *c, const struct memory_map *before, struct err *err)
{
	struct text head = TEXT_INIT;
	int code = read_map(c, before->any_large ? "smaps" : "maps", before, err);

	code = code ? code : core_image_head(&head, &c->target, &c->stop, &c->map, c->head, err);
	if (code == 0 && !packed_bytes_add(c->bytes, 0, head.s, head.len))
		code = live_dump_no_memory(c->bytes, err);
	c->head = head.len;
	text_release(&head);
	return code ? code : copy_all(c, err);
}

static int open_process(struct copying *c, struct err *err)
{
	if ((c->process = proc_open_known(c->vm, err)) < 0)
		return c->process;
	int code = ptrace_stop_may(c->vm, c->process, err);
	code = code ? code : core_target_read(&c->target, c->vm, c->process, err);
	c->mem = openat(c->process, "mem", O_RDONLY | O_CLOEXEC);
	c->pages = openat(c->process, "pagemap", O_RDONLY | O_CLOEXEC);
	return code;
}

static int copy(void *context, struct job *job)
{
	struct copying *c = context;
	struct err *err = &job->err;
	int code = open_process(c, err);

	code = code ? code : read_map(c, "smaps", NULL, err);
	code = code ? code : make_room(c, err);
	if (code)
		return code;
	struct memory_map before = c->map;
	c->map = (struct memory_map){ .n = 0 };
	progress_phase(c->progress, PHASE_TAKE_DUMP, before.to_read * before.page_size);
	(void)setpriority(PRIO_PROCESS, 0, NICE); /* this thread and those that it starts, if they may */
	code = ptrace_stop_begin(&c->stop, c->vm, c->process, c->progress, err);
	code = code ? code : copy_stopped(c, &before, err);
	c->pause_ns = ptrace_stop_end(&c->stop);
	c->too_sparse = c->map.too_sparse;
	memory_map_release(&before);
	return code;
}

static void close_all(struct copying *c)
{
	int fd[] = { c->process, c->mem, c->pages };
	for (size_t i = 0; i < sizeof fd / sizeof *fd; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	memory_map_release(&c->map);
}

int core_copy_take(struct packed_bytes **out, const struct vm_process *p, uint64_t *pause_ns, char *remark, size_t room,
    struct progress *progress, struct err *err)
{
	struct copying c = { .vm = p, .progress = progress, .process = -1, .mem = -1, .pages = -1 };
	struct job job;
	int code = job_start(&job, copy, &c, -1);

	code = code ? code : job_wait(&job);
	if (code)
		*err = job.err;
	close_all(&c);
	*out = c.bytes;
	*pause_ns = c.pause_ns;
	uint64_t unread = atomic_load(&c.unread);
	if (code == 0 && unread)
		snprintf(remark, room, "%" PRIu64 " pages could not be read, and are zeros", unread);
	size_t n = strlen(remark);
	if (code == 0 && c.too_sparse)
		snprintf(remark + n, room - n, "%s%" PRIu64 "K of memory are not copied, in mappings that are hardly used",
		    n ? "; " : "", c.too_sparse >> 10);
	return code;
}

int core_copy_check(const struct vm_process *p, struct err *err)
{
	struct core_target target;
	int process = proc_open_known(p, err);
	if (process < 0)
		return process;
	int code = ptrace_stop_may(p, process, err);
	code = code ? code : core_target_read(&target, p, process, err);
	close(process);
	return code;
}
