/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * process_dump.c - what a running VM dumps into memory, as a source.
 *
 * The VM is asked when its source is opened for the first time.  What it wrote stays until it is dropped, for no file
 * has it.  HotSpot 22 and later write two streams, which are two pieces; of OpenJ9 the second is the javacore,
 * a source of its own.  Any thread.
 */
#include "dump/source/opening.h"

#include "algorithms/packed_bytes.h"
#include "attach/attach.h"
#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JAVACORE " javacore"
enum { NAME_MOST = 80 };

struct process_dump {
	struct process_dump *next;
	char *name, *javacore; /* by which they are opened */
	struct vm_process process;
	struct live_dump_wishes wishes;
	pthread_mutex_t lock;  /* of what follows: of whoever has the VM dump */
	struct packed_bytes *bytes; /* NULL: not yet, or no more */
	unsigned in_use;       /* open sources */
	int program_fd;        /* of a Go program; -1: none */
	char program[32];      /* its path while that is open */
	bool dropped, saved;   /* saved: a file has it */
	const uint8_t *range;
	struct source_piece stream[PACKED_STREAMS]; /* where they are; begin = end: it has nothing */
	char remark[sizeof ((struct source *)0)->remark];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct process_dump *dumps; /* behind the lock; none ever goes */

/* --- which there are ------------------------------------------------------------------------------ */

static struct process_dump *dump_of(const char *path)
{
	pthread_mutex_lock(&list_lock);
	struct process_dump *d = dumps;
	while (d && strcmp(d->name, path) && strcmp(d->javacore, path))
		d = d->next;
	pthread_mutex_unlock(&list_lock);
	return d;
}

/* "pid 4711 (com.acme.shop.Main)", with a number where it was taken before: each is another moment.  A name is not a
 * path, nor of a member of an archive. */
static char *name_of(const struct vm_process *p)
{
	const char *slash = strrchr(p->name, '/'), *name = slash && slash[1] ? slash + 1 : p->name;
	struct text t = TEXT_INIT;
	unsigned before = 0;

	text_addf(&t, "pid %d (", (int)p->pid);
	size_t begin = t.len;
	text_add_n(&t, name, strnlen(name, NAME_MOST));
	for (size_t i = begin; i < t.len; i++)
		if (t.s[i] == '/' || t.s[i] == ':')
			t.s[i] = '.';
	text_add_char(&t, ')');
	for (const struct process_dump *d = dumps; d; d = d->next)
		before += d->process.pid == p->pid;
	if (before)
		text_addf(&t, " #%u", before + 1);
	return text_take(&t);
}

static struct vm_process copy_of(const struct vm_process *p)
{
	struct vm_process c = *p;
	c.user = xstrdup(p->user);
	c.name = xstrdup(p->name);
	c.command = xstrdup(p->command);
	c.version = xstrdup(p->version);
	c.container = xstrdup(p->container);
	return c;
}

const char *source_take_process(const struct vm_process *p, const struct live_dump_wishes *w)
{
	struct process_dump *d = xcalloc(1, sizeof *d);
	struct text javacore = TEXT_INIT;

	d->process = copy_of(p);
	d->program_fd = -1;
	d->wishes = (struct live_dump_wishes){.collect = w->collect, .keep = w->keep ? xstrdup(w->keep) : NULL,
		.core = w->core ? xstrdup(w->core) : NULL};
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_lock(&list_lock);
	d->name = name_of(p);
	text_addf(&javacore, "%s" JAVACORE, d->name);
	d->javacore = text_take(&javacore);
	d->next = dumps;
	dumps = d;
	pthread_mutex_unlock(&list_lock);
	return d->name;
}

bool source_is_process(const char *path)
{
	return dump_of(path);
}

bool source_has_no_file(const char *path)
{
	return source_is_standard_input(path) || source_is_process(path);
}

const char *source_process_javacore(const char *path)
{
	const struct process_dump *d = dump_of(path);
	bool has = d && d->bytes && d->process.kind == VM_OPENJ9 && d->stream[1].end > d->stream[1].begin;
	return has ? d->javacore : NULL;
}

/* --- taking it -------------------------------------------------------------------------------------- */

/* Its types, names and code are in its file, which may be replaced while it runs, or be out of reach. */
static void hold_program(struct process_dump *d)
{
	if (d->program_fd >= 0)
		close(d->program_fd);
	d->program_fd = d->process.kind == VM_GO ? live_dump_program(&d->process) : -1;
	if (d->program_fd >= 0)
		snprintf(d->program, sizeof d->program, "/proc/self/fd/%d", d->program_fd);
}

const char *source_process_program(const char *path)
{
	const struct process_dump *d = dump_of(path);
	return d && d->program_fd >= 0 ? d->program : NULL;
}

uint64_t source_process_pause(const char *path)
{
	const struct process_dump *d = dump_of(path);
	return d ? d->wishes.pause_ns : 0;
}

static int take(struct process_dump *d, struct progress *progress, struct err *err)
{
	struct packed_bytes *bytes = NULL;
	uint64_t size;
	hold_program(d);
	int code = live_dump_take(&bytes, &d->process, &d->wishes, d->remark, sizeof d->remark, progress, err);

	if (code)
		return code;
	d->range = packed_bytes_end(bytes, &size);
	if (!d->range) {
		code = big_refused(size, 1, err);
		packed_bytes_free(bytes);
		return code;
	}
	for (unsigned i = 0; i < packed_bytes_streams(bytes); i++) {
		uint64_t begin = packed_bytes_begin(bytes, i);
		d->stream[i] = (struct source_piece){begin, begin + packed_bytes_size(bytes, i)};
	}
	if (d->stream[0].end == d->stream[0].begin) {
		packed_bytes_free(bytes);
		return err_set(err, ERR_FORMAT, "the VM wrote nothing");
	}
	d->bytes = bytes;
	d->saved = d->wishes.kept;
	return 0;
}

static int take_once(struct process_dump *d, struct progress *progress, struct err *err)
{
	int code = progress_lock(&d->lock, progress, err); /* another thread may be at it */

	if (code)
		return code;
	if (d->dropped)
		code = err_set(err, ERR_NOT_FOUND, "its memory was freed (attach %ld dumps the heap again)",
		    (long)d->process.pid);
	else if (!d->bytes)
		code = take(d, progress, err);
	d->in_use += !code;
	pthread_mutex_unlock(&d->lock);
	return code;
}

/* --- saving and dropping it --------------------------------------------------------------------------- */

const char *source_process_ending(const char *path)
{
	const struct process_dump *d = dump_of(path);
	return !d ? NULL : d->process.kind == VM_OPENJ9 ? ".phd" : d->process.kind == VM_GO ? ".core" : ".hprof";
}

int source_save_process(const char *path, int fd, struct progress *progress, struct err *err)
{
	struct process_dump *d = dump_of(path);
	return live_dump_write(d->bytes, d->process.kind, fd, progress, err);
}

void source_saved_process(const char *path)
{
	dump_of(path)->saved = true;
}

bool source_is_unsaved(const char *path)
{
	const struct process_dump *d = dump_of(path);
	return d && d->bytes && !d->saved;
}

static void free_unused(struct process_dump *d)
{
	if (!d->dropped || d->in_use)
		return;
	packed_bytes_free(d->bytes);
	d->bytes = NULL;
	if (d->program_fd >= 0)
		close(d->program_fd);
	d->program_fd = -1;
}

void source_drop_process(const char *path)
{
	struct process_dump *d = dump_of(path);

	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->dropped = true;
	free_unused(d);
	pthread_mutex_unlock(&d->lock);
}

void process_dump_close(const char *path)
{
	struct process_dump *d = dump_of(path);

	pthread_mutex_lock(&d->lock);
	d->in_use--;
	free_unused(d);
	pthread_mutex_unlock(&d->lock);
}

int process_dump_open(struct source_file *o, struct progress *progress, struct err *err)
{
	struct process_dump *d = dump_of(o->source.path);
	struct source *s = &o->source;
	int code = take_once(d, progress, err);

	if (code)
		return code;
	bool javacore = !strcmp(s->path, d->javacore);
	const struct source_piece *first = &d->stream[javacore], *last = first;
	for (unsigned i = 1; !javacore && d->process.kind != VM_OPENJ9 && i < packed_bytes_streams(d->bytes); i++)
		if (d->stream[i].end > d->stream[i].begin)
			last = &d->stream[i];
	o->packed = d->bytes;
	s->bytes = d->range + first->begin;
	s->size = last->end - first->begin;
	for (const struct source_piece *p = first; p <= last; p++)
		s->file_size += p->end - p->begin;
	if (last > first) {
		s->pieces = first; /* a stream that has nothing is an empty one */
		s->n_pieces = (size_t)(last - first) + 1;
	}
	snprintf(s->remark, sizeof s->remark, "%s", javacore ? "" : d->remark);
	return 0;
}
