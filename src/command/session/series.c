/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series.c - the dumps of the session in their order: which one is current, which are open, and the profiles of all.
 *
 * Whoever compares has them read one after another: each leaves a profile, and its memory is given back.  The file of
 * a profile stands for its dump.
 */
#include "command/session/session.h"

#include "base/files.h"
#include "base/mem.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "heap/open.h"
#include "memory/big.h"
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

void session_know_folder(struct session *s, const struct heap_options *how, const struct folder *folder)
{
	s->how = how;
	s->folder = folder;
	for (size_t i = 0; i < folder->n; i++) {
		struct session_dump *d = xcalloc(1, sizeof *d);
		d->number = s->n_dumps + 1;
		d->path = xstrdup(folder->file[i].path);
		d->listed = &folder->file[i];
		d->device = d->listed->device;
		d->inode = d->listed->inode;
		d->is_profile = d->listed->is_profile;
		VEC_PUSH(s->dumps, s->n_dumps, s->cap_dumps) = d;
	}
}

struct session_dump *session_add(struct session *s, const char *path)
{
	struct session_dump *d = xcalloc(1, sizeof *d);
	struct stat st;
	d->number = s->n_dumps + 1;
	d->path = xstrdup(path);
	if (!file_stat(path, &st)) {
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
	if (d->read && !d->code)
		return d->profile.created;
	return d->listed && !d->listed->by_file ? d->listed->created : "";
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

static struct session_dump *dump_of(const struct session *s, const struct opened *o)
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
	return dump_of(s, s->dump);
}

struct session_dump *session_newest(const struct session *s)
{
	return s->n_dumps ? s->dumps[s->n_dumps - 1] : NULL;
}

size_t session_series(const struct session *s, struct session_dump ***dumps)
{
	size_t tagged = 0, n = 0;
	for (size_t i = 0; i < s->n_dumps; i++)
		tagged += s->dumps[i]->tagged;
	*dumps = xcalloc(s->n_dumps + 1, sizeof(**dumps));
	for (size_t i = 0; i < s->n_dumps; i++)
		if (s->dumps[i]->tagged || (tagged < 2 && !s->folder))
			(*dumps)[n++] = s->dumps[i];
	return n;
}

bool session_compares(const struct session *s)
{
	return s->n_dumps > 1 || (s->n_dumps && s->dumps[0]->is_profile);
}

static bool same_member(const char *a, const char *b)
{
	const char *x = file_member(a), *y = file_member(b);
	return x && y ? !strcmp(x, y) : x == y;
}

struct session_dump *session_same_file(const struct session *s, const char *path)
{
	struct stat wanted, st;
	for (size_t i = 0; i < s->n_dumps && source_is_standard_input(path); i++)
		if (source_is_standard_input(s->dumps[i]->path))
			return s->dumps[i];
	if (file_stat(path, &wanted))
		return NULL;
	for (size_t i = 0; i < s->n_dumps; i++)
		if (!file_stat(s->dumps[i]->path, &st) && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino &&
		    same_member(s->dumps[i]->path, path))
			return s->dumps[i];
	return NULL;
}

struct session_dump *session_first_same(struct session_dump *const *dump, size_t n)
{
	const struct session_dump *last = dump[n - 1];
	for (size_t i = 0; i + 1 < n && last->inode; i++)
		if (dump[i]->inode == last->inode && dump[i]->device == last->device && same_member(dump[i]->path, last->path))
			return dump[i];
	return NULL;
}

int session_not_of_other(const struct session *s, const struct opened *o, const char *word, const char *what,
    struct err *err)
{
	const struct session_dump *d = dump_of(s, o);
	if (o == s->dump)
		return 0;
	if (!d)
		return err_set(err, ERR_NOT_FOUND, "%.60s: %s is from a dump that is not open (dumps lists them, use "
		    "N opens one)", word, what);
	return err_set(err, ERR_NOT_FOUND, "%.60s: %s is from dump %zu (use %zu switches to it)", word, what,
	    d->number, d->number);
}

int session_no_dump(const struct session *s, struct err *err)
{
	const struct folder *f = s->folder;
	const struct session_dump *newest = NULL;
	struct text folder = TEXT_INIT, path = TEXT_INIT;
	if (!f)
		return err_set(err, ERR_USAGE, "no dump is open (cairn DUMP)");
	for (size_t i = s->n_dumps; i-- > 0 && !newest;)
		if (!s->dumps[i]->is_profile && !(s->dumps[i]->listed && s->dumps[i]->listed->why.code))
			newest = s->dumps[i];
	text_add_name(&folder, f->path);
	if (newest)
		text_add_name(&path, newest->path);
	if (!f->n)
		err_set(err, ERR_USAGE, "no dump is open (open FILE opens one)");
	else if (!newest)
		err_set(err, ERR_USAGE, "no dump is open, and cairn cannot open any in %s (dumps shows why)", folder.s);
	else if (s->interactive)
		err_set(err, ERR_USAGE, "no dump is open: press Enter in the list (9) or use N (%zu dumps in %s)",
		    f->n_dumps, folder.s);
	else
		err_set(err, ERR_USAGE, "%s is %s with %zu dump%s (name one; the newest is %s; or use N, dumps lists "
		    "them)", folder.s, f->is_archive ? "an archive" : "a directory",
		    f->n_dumps, f->n_dumps == 1 ? "" : "s", path.s);
	text_release(&folder);
	text_release(&path);
	return ERR_USAGE;
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
	struct heap_options options = {.path = d->path, .mat_sizes = s->settings.mat_sizes};
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
	if (s->hooks.leaves && o != s->dump)
		s->hooks.leaves(s->hooks.context, o);
	s->dump = o;
}

void session_close(struct session *s, struct opened *o)
{
	struct session_dump *d = dump_of(s, o);
	if (s->hooks.closes)
		s->hooks.closes(s->hooks.context, o);
	session_drop_results(s);
	s->part |= o->fate != FILE_SAME;
	if (d) {
		d->was_open = true;
		d->objects = heap_counted(o->heap, o->heap->n_objects);
		d->shallow = heap_size_of_all(o->heap);
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

const struct session_dump *session_leave_loses(const struct session *s)
{
	const struct session_dump *d = NULL;
	for (size_t i = s->n_dumps; i-- > 0 && !s->leave_asked && !(d && d->opened == s->dump);)
		if (s->dumps[i]->opened && source_is_unsaved(s->dumps[i]->path))
			d = s->dumps[i];
	return d;
}

int session_may_leave(struct session *s, struct err *err)
{
	const char *q = s->hooks.work ? "q" : "quit", *colon = s->hooks.work ? ":" : "";
	const struct session_dump *d = session_leave_loses(s);
	if (!d)
		return 0;
	s->leave_asked = true;
	if (d->opened != s->dump)
		return err_set(err, ERR_USAGE, "dump %zu is in no file: %s again leaves it (to keep it: use %zu, save "
		    "FILE%s)", d->number, q, d->number, source_process_ending(d->path));
	return err_set(err, ERR_USAGE, "this dump is in no file: %s again leaves it, %ssave FILE%s keeps it", q, colon,
	    source_process_ending(d->path));
}

/* --- profiles --------------------------------------------------------------------------------------- */

struct profiling {
	struct heap_options options;
	struct opened *opened; /* instead of them: is there already */
	struct profile *out;
	struct progress *progress;
	bool mat_sizes;
};

static int profile_opened(struct profiling *p, struct opened *o, struct err *err)
{
	int code = opened_find(o, FIND_PATH_KEYS, p->progress, err);
	return code ? code :
	    profile_make(p->out, opened_retained(o), opened_path_keys(o), p->mat_sizes, p->progress, err);
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
	struct profiling p = {.options = options_of(s, d), .out = &d->profile, .mat_sizes = s->settings.mat_sizes};
	if (d->read)
		return 0;
	if (d->opened && model_is_default(&d->opened->model)) /* as every dump that is only compared */
		p.opened = d->opened;
	d->code = session_work(s, profile_work, &p, &d->err);
	if (d->code == ERR_CANCELLED) {
		d->code = 0;
		return err_cancelled(err);
	}
	d->read = true;
	return 0;
}

int session_dump_error(int code, struct err *err)
{
	if (code != ERR_IO)
		return code;
	if (err)
		err->code = ERR_FORMAT;
	return ERR_FORMAT;
}

int session_profile(struct session *s, struct opened *o, struct profile *out, struct err *err)
{
	struct profiling p = {.opened = o, .out = out, .mat_sizes = s->settings.mat_sizes};
	int code = 0;
	if (o == s->dump) /* on the screen they may be on their way */
		code = opened_references(o, err);
	if (!code && o == s->dump)
		code = session_find(s, FIND_PATH_KEYS, err);
	return code ? code : session_work(s, profile_work, &p, err);
}
