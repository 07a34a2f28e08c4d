/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * older.c - the older dumps that stand before the one that is browsed.
 *
 * They are read one after another when somebody compares, each leaves a profile, and its memory is given back.
 * The file of a profile stands for its dump.
 */
#include "command/session/session.h"

#include "base/big.h"
#include "base/mem.h"
#include "query/profile_file.h"

#include <stdlib.h>

void session_know_older(struct session *s, const struct heap_options *how, const char *const *paths, size_t n)
{
	s->how = how;
	s->older = n ? xcalloc(n, sizeof *s->older) : NULL;
	s->n_older = n;
	for (size_t i = 0; i < n; i++)
		s->older[i].path = paths[i];
}

void session_forget_older(struct session *s)
{
	for (size_t i = 0; i < s->n_older; i++)
		profile_release(&s->older[i].profile);
	free(s->older);
	s->older = NULL;
	s->n_older = 0;
}

struct profiling {
	const struct heap_options *how;
	struct older_dump *dump;
	struct opened *opened; /* instead of dump: is there already */
	struct profile *out;
	struct progress *progress;
	bool mat_sizes;
};

static int inline_work(void *context, long_work *work, void *argument, struct err *err)
{
	return work(argument, ((struct profiling *)context)->progress, err);
}

static int profile_opened(struct profiling *p, struct opened *o, struct err *err)
{
	struct runner runner = {.run = inline_work, .context = p};
	const struct signatures *signatures;
	int code = opened_references(o, err);
	if (!code)
		code = opened_find_signatures(o, &runner, &signatures, err);
	return code ? code :
	    profile_make(p->out, opened_retained(o), signatures, p->mat_sizes, p->progress, err);
}

static int profile_file(struct profiling *p, struct err *err)
{
	struct heap_options options = {.dump = {.exe = p->how->dump.exe}, .path = p->dump->path,
	    .mat_sizes = p->how->mat_sizes};
	struct heap *heap;
	int code = heap_open(&heap, &options, p->progress, err);
	if (code)
		return code;
	struct opened *o = opened_new(heap);
	opened_own(o, heap);
	code = profile_opened(p, o, err);
	opened_free(o);
	return code;
}

static int profile_work(void *context, struct progress *progress, struct err *err)
{
	struct profiling *p = context;
	p->progress = progress;
	if (p->opened)
		return profile_opened(p, p->opened, err);
	return profile_is_file(p->dump->path) ? profile_read(p->out, p->dump->path, progress, err) : profile_file(p, err);
}

int session_read_older(struct session *s, struct err *err)
{
	for (size_t i = 0; i < s->n_older; i++) {
		struct older_dump *d = &s->older[i];
		if (d->read)
			continue;
		struct profiling p = {.how = s->how, .dump = d, .out = &d->profile, .mat_sizes = s->mat_sizes};
		d->code = session_work(s, profile_work, &p, &d->err);
		if (d->code == ERR_CANCELLED)
			return err_cancelled(err);
		d->read = true;
	}
	return 0;
}

int session_profile(struct session *s, struct profile *out, struct err *err)
{
	struct profiling p = {.opened = s->dump, .out = out, .mat_sizes = s->mat_sizes};
	const struct signatures *signatures;
	int code = session_references(s, err);
	if (!code) /* on the screen they may be on their way */
		code = session_signatures(s, &signatures, err);
	return code ? code : session_work(s, profile_work, &p, err);
}
