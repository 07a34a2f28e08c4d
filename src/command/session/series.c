/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.c - the dumps of the session in their order: which one is at hand, which are open, and the profiles of all.
 *
 * Whoever compares has them read one after another: each leaves a profile, and its memory is given back.  The file of
 * a profile stands for its dump.
 */
#include "command/session/session.h"

#include "base/big.h"
#include "base/mem.h"
#include "query/profile_file.h"
#include "query/sql/sql.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- which there are ------------------------------------------------------------------------------ */

void session_know(struct session *s, const struct heap_options *how, const char *const *paths, size_t n)
{
	s->how = how;
	for (size_t i = 0; i < n; i++)
		session_add(s, paths[i]);
	if (how && how->path)
		session_add(s, how->path);
}

struct session_dump *session_add(struct session *s, const char *path)
{
	struct session_dump *d = xcalloc(1, sizeof *d);
	struct stat st;
	d->number = s->n_dumps + 1;
	d->path = xstrdup(path);
	if (!stat(path, &st)) {
		d->device = st.st_dev;
		d->inode = st.st_ino;
	}
	d->is_profile = profile_is_file(path);
	VEC_PUSH(s->dumps, s->n_dumps, s->cap_dumps) = d;
	return d;
}

void session_forget(struct session *s, struct session_dump *d)
{
	cairn_assert(session_newest(s) == d && !d->opened && !d->read);
	s->n_dumps--;
	free(d->path);
	free(d);
}

const char *session_created(const struct session_dump *d)
{
	if (d->opened)
		return d->opened->heap->facts.created;
	return d->read && !d->code ? d->profile.created : "";
}

void session_sort_in(struct session *s, struct session_dump *d)
{
	const char *created = session_created(d);
	size_t at = 0;
	while (s->dumps[at] != d)
		at++;
	for (; *created && at > 0 && strcmp(session_created(s->dumps[at - 1]), created) > 0; at--) {
		s->dumps[at] = s->dumps[at - 1];
		s->dumps[at - 1] = d;
	}
}

struct session_dump *session_dump_of(const struct session *s, const struct opened *o)
{
	for (size_t i = 0; o && i < s->n_dumps; i++)
		if (s->dumps[i]->opened == o)
			return s->dumps[i];
	return NULL;
}

struct session_dump *session_numbered(const struct session *s, uint64_t number)
{
	for (size_t i = 0; i < s->n_dumps; i++)
		if (s->dumps[i]->number == number)
			return s->dumps[i];
	return NULL;
}

struct session_dump *session_at_hand(const struct session *s)
{
	return session_dump_of(s, s->dump);
}

struct session_dump *session_newest(const struct session *s)
{
	return s->n_dumps ? s->dumps[s->n_dumps - 1] : NULL;
}

bool session_compares(const struct session *s)
{
	return s->n_dumps > 1 || (s->n_dumps && s->dumps[0]->is_profile);
}

struct session_dump *session_same_file(const struct session *s, const char *path)
{
	struct stat wanted, st;
	if (stat(path, &wanted))
		return NULL;
	for (size_t i = 0; i < s->n_dumps; i++)
		if (!stat(s->dumps[i]->path, &st) && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino)
			return s->dumps[i];
	return NULL;
}

struct session_dump *session_first_same(struct session_dump *const *dump, size_t n)
{
	const struct session_dump *last = dump[n - 1];
	for (size_t i = 0; i + 1 < n && last->inode; i++)
		if (dump[i]->inode == last->inode && dump[i]->device == last->device)
			return dump[i];
	return NULL;
}

int session_not_of_other(const struct session *s, const struct opened *o, const char *word, const char *what,
    struct err *err)
{
	const struct session_dump *d = session_dump_of(s, o);
	if (o == s->dump)
		return 0;
	if (!d)
		return err_set(err, ERR_NOT_FOUND, "%.60s: %s is of a dump that is not open (dumps lists them, use N opens "
		    "one)", word, what);
	return err_set(err, ERR_NOT_FOUND, "%.60s: %s is of dump %zu (use %zu goes there)", word, what,
	    d->number, d->number);
}

/* --- opening and closing -------------------------------------------------------------------------- */

struct opened *session_open(struct session *s, struct session_dump *d, const struct heap *heap)
{
	d = d ? d : session_add(s, "");
	cairn_assert(!d->opened);
	d->opened = opened_new(heap);
	session_use(s, d->opened);
	return d->opened;
}

/* What was named for the dump of the command line is not about the others. */
static struct heap_options options_of(const struct session *s, const struct session_dump *d)
{
	struct heap_options options = {.path = d->path, .mat_sizes = s->mat_sizes};
	if (s->how && s->how->path && !strcmp(s->how->path, d->path))
		return *s->how;
	if (s->how) {
		options.dump.exe = s->how->dump.exe;
		options.no_index = s->how->no_index;
	}
	return options;
}

struct loading {
	struct heap_options options;
	struct heap *heap;
};

static int load(void *context, struct progress *progress, struct err *err)
{
	struct loading *l = context;
	return heap_open(&l->heap, &l->options, progress, err);
}

int session_load(struct session *s, struct session_dump *d, struct err *err)
{
	struct loading l = {.options = options_of(s, d)};
	int code = session_work(s, load, &l, err);
	if (code)
		return code;
	opened_own(session_open(s, d, l.heap), l.heap);
	s->part |= l.heap->damaged || l.heap->no_references;
	return 0;
}

void session_use(struct session *s, struct opened *o)
{
	if (s->leaves && o != s->dump)
		s->leaves(s->leaves_context, o);
	s->dump = o;
}

void session_close(struct session *s, struct opened *o)
{
	struct session_dump *d = session_dump_of(s, o);
	if (s->closes)
		s->closes(s->closes_context, o);
	session_drop_results(s);
	s->part |= o->fate != FILE_SAME;
	if (d) {
		sql_close(d->sql);
		d->sql = NULL;
		d->opened = NULL;
	}
	if (s->dump == o) {
		s->dump = NULL;
		for (size_t i = s->n_dumps; i-- > 0 && !s->dump;)
			s->dump = s->dumps[i]->opened;
	}
	opened_free(o);
}

/* --- profiles --------------------------------------------------------------------------------------- */

struct profiling {
	struct heap_options options;
	struct opened *opened; /* instead of them: is there already */
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
	int code = opened_find_references(o, &runner, err);
	if (!code)
		code = opened_find_signatures(o, &runner, &signatures, err);
	return code ? code :
	    profile_make(p->out, opened_retained(o), signatures, p->mat_sizes, p->progress, err);
}

static int profile_file(struct profiling *p, struct err *err)
{
	struct heap *heap;
	int code = heap_open(&heap, &p->options, p->progress, err);
	if (code)
		return code;
	struct opened *o = opened_new(heap);
	opened_own(o, heap);
	code = heap->damaged && !heap->n_objects ? /* all of the others would be new */
	    err_set(err, ERR_TRUNCATED, "%.200s is damaged before its first object", p->options.path) :
	    profile_opened(p, o, err);
	opened_free(o);
	return code;
}

static int profile_work(void *context, struct progress *progress, struct err *err)
{
	struct profiling *p = context;
	p->progress = progress;
	if (p->opened)
		return profile_opened(p, p->opened, err);
	return profile_is_file(p->options.path) ? profile_read(p->out, p->options.path, progress, err) :
	    profile_file(p, err);
}

int session_read_profile(struct session *s, struct session_dump *d, struct err *err)
{
	struct profiling p = {.options = options_of(s, d), .out = &d->profile, .mat_sizes = s->mat_sizes};
	if (d->read)
		return 0;
	if (d->opened && opened_counts_weak(d->opened)) /* as every dump that is only compared */
		p.opened = d->opened;
	d->code = session_work(s, profile_work, &p, &d->err);
	if (d->code == ERR_CANCELLED) {
		d->code = 0;
		return err_cancelled(err);
	}
	d->read = true;
	return 0;
}

int session_read_profiles(struct session *s, size_t n, struct err *err)
{
	int code = 0;
	for (size_t i = 0; !code && i < n && i < s->n_dumps; i++)
		code = session_read_profile(s, s->dumps[i], err);
	return code;
}

int session_profile(struct session *s, struct opened *o, struct profile *out, struct err *err)
{
	struct profiling p = {.opened = o, .out = out, .mat_sizes = s->mat_sizes};
	const struct signatures *signatures;
	int code = opened_references(o, err);
	if (!code && o == s->dump) /* on the screen they may be on their way */
		code = session_signatures(s, &signatures, err);
	return code ? code : session_work(s, profile_work, &p, err);
}
