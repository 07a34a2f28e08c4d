/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index_find.c - which index a dump has, and which dump an index: by where they lie and by its key.
 */
#include "heap/index_file/saving.h"

#include "algorithms/chunks.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "dump/source/source.h"
#include "heap/amounts.h"
#include "heap/index_file/index_file.h"
#include "memory/big.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An index that was opened, and which dump it is of. */
struct found {
	struct saved *saved;
	struct index_file_key key;
	const void *taken[2];
};

static void forget(struct found *f)
{
	free((char *)(uintptr_t)f->key.path);
	free((char *)(uintptr_t)f->key.member);
	big_free(f->taken[0]);
	big_free(f->taken[1]);
	index_file_close(f->saved);
	*f = (struct found){ .saved = NULL };
}

static int find_key(struct found *f, const char *path, struct err *err)
{
	struct pack p;
	*f = (struct found){ .saved = xcalloc(1, sizeof *f->saved) };
	int code = chunks_open(&f->saved->chunks, path, err);
	if (!code)
		code = saved_stream(f->saved->chunks, "key", "key_texts", &p, f->taken, err);
	if (!code)
		pack_key(&p, &f->key);
	if (!code && !pack_ends(&p))
		code = index_file_damaged(err);
	if (!code)
		f->saved->hold = file_hold_open(chunks_fd(f->saved->chunks), HELD_AS);
	if (code)
		forget(f);
	return code;
}

static bool has_ending(const char *path)
{
	size_t n = strlen(path), ending = strlen(INDEX_FILE_ENDING);
	return n > ending && !strcmp(path + n - ending, INDEX_FILE_ENDING);
}

bool index_file_is_index(const char *path)
{
	char head[8] = "";
	int fd = source_peek(path);
	ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
	bool is = n == sizeof head ? !memcmp(head, CHUNKS_MAGIC, sizeof head) : !n && has_ending(path);
	if (fd >= 0)
		close(fd);
	return is;
}

static bool is_serious(int code)
{
	return code == ERR_NOMEM || code == ERR_CANCELLED;
}

static void say_left_out(struct text *why, const char *path, const char *sentence)
{
	text_clear(why);
	text_addf(why, "the index %s is ignored: %s", path, sentence);
}

/* The index at this path for this dump.  As index_file_open. */
static int try_beside(struct heap **out, const char *path, const struct heap_options *o, struct text *why,
    struct progress *progress, struct err *err)
{
	struct found f;
	struct text reason = TEXT_INIT;
	struct err own = ERR_INIT;
	int code = find_key(&f, path, &own);
	if (code == ERR_NOT_FOUND)
		return 1;
	if (!code && f.key.nameless)
		code = err_set(&own, ERR_FORMAT, "it contains numbers instead of names (cairn FILE.cairn opens it)");
	else if (!code && !o->index && chunks_exposed(f.saved->chunks))
		code = err_set(&own, ERR_FORMAT, "another user can change it while it is in use (--index opens "
		    "it)");
	else if (!code && (key_fits_options(&f.key, o, &reason) || key_fits_file(&f.key, o->path, o, &reason)))
		code = ERR_FORMAT;
	else if (!code)
		code = index_file_make(out, &f.saved, &f.key, path, o->path, o, progress, &own);
	if (is_serious(code))
		*err = own;
	else if (code)
		say_left_out(why, path, reason.len ? reason.s : own.message);
	forget(&f);
	text_release(&reason);
	return code && !is_serious(code) ? 1 : code;
}

/* The dump that an index lies beside by its name: the caller's (free). */
static char *dump_beside(const char *path)
{
	if (!has_ending(path))
		return NULL;
	char *dump = xstrndup(path, strlen(path) - strlen(INDEX_FILE_ENDING));
	if (!file_member(dump) && file_readable(dump) && index_file_has_place(dump))
		return dump;
	free(dump);
	return NULL;
}

bool index_file_is_alone(const char *path)
{
	char *dump = dump_beside(path);
	bool alone = !dump && has_ending(path) && index_file_is_index(path);
	free(dump);
	return alone;
}

/* An index was named: with its dump, where that is there and the same. */
static int open_named(struct heap **out, const struct heap_options *o, struct text *why, char **dump,
    struct progress *progress, struct err *err)
{
	struct found f;
	struct text reason = TEXT_INIT;
	struct err own = ERR_INIT;
	char *beside = dump_beside(o->path);
	int code = find_key(&f, o->path, &own);
	if (!code && key_fits_options(&f.key, o, &reason))
		code = err_set(&own, ERR_FORMAT, "%s", reason.s);
	const char *of = f.key.nameless ? NULL : beside;
	if (!code && !of && !f.key.nameless && file_readable(f.key.path) && index_file_has_place(f.key.path))
		of = f.key.path;
	if (!code && of && key_fits_file(&f.key, of, o, &reason)) {
		text_addf(why, "%s is ignored: %s; values and strings are missing", of, reason.s);
		of = NULL;
	}
	if (!code)
		code = index_file_make(out, &f.saved, &f.key, o->path, of, o, progress, &own);
	if (code && !is_serious(code) && beside) {
		say_left_out(why, o->path, own.message);
		*dump = beside;
		beside = NULL;
		code = 1;
	} else if (code) {
		*err = own;
		index_file_broken(err, o->path);
	}
	forget(&f);
	free(beside);
	text_release(&reason);
	return code;
}

/* What it says of its heap at its beginning. */
static bool take_totals(const struct found *f, struct amount *objects, struct amount *shallow, char created[static 32])
{
	const void *taken[2] = {NULL, NULL};
	struct err err = ERR_INIT;
	struct pack p;
	struct heap *h = xcalloc(1, sizeof *h);
	bool good = !saved_stream(f->saved->chunks, "heap", "heap_texts", &p, taken, &err);
	if (good) {
		pack_totals_alone(&p, h);
		good = !p.bad;
	}
	*objects = amount_weaken(amount_exact(h->n_objects), INFERRED, REASON_BY_INDEX);
	*shallow = amount_weaken(heap_sized_any(h, amount_exact(h->shallow), h->n_unknown_size), INFERRED, REASON_BY_INDEX);
	snprintf(created, 32, "%.31s", h->facts.created);
	free(h);
	big_free(taken[0]);
	big_free(taken[1]);
	return good;
}

static bool glance_at(const char *path, const struct heap_options *o, uint64_t size, int64_t written,
    struct amount *objects, struct amount *shallow)
{
	enum { SECOND = 1000000000 };
	struct found f;
	struct err err = ERR_INIT;
	struct text why = TEXT_INIT;
	char created[32];
	if (find_key(&f, path, &err))
		return false;
	bool good = !f.key.nameless && !key_fits_options(&f.key, o, &why) && f.key.size == size &&
	    f.key.written == (uint64_t)(written / SECOND) && f.key.written_ns == (uint64_t)(written % SECOND) &&
	    take_totals(&f, objects, shallow, created);
	text_release(&why);
	forget(&f);
	return good;
}

int index_file_tell(const char *path, struct amount *objects, struct amount *shallow, char created[static 32],
    struct err *err)
{
	struct found f;
	int code = find_key(&f, path, err);
	if (!code && !take_totals(&f, objects, shallow, created))
		code = index_file_damaged(err);
	forget(&f);
	return code;
}

bool index_file_glance(const struct heap_options *o, uint64_t size, int64_t written, struct amount *objects,
    struct amount *shallow)
{
	char *beside = index_file_beside(o->path), *cached = index_file_in_cache(o->path);
	bool good = written > 0 && ((beside && glance_at(beside, o, size, written, objects, shallow)) ||
	    (cached && glance_at(cached, o, size, written, objects, shallow)));
	free(beside);
	free(cached);
	return good;
}

/* 0: the index at this path is of this dump, or there is none.  1: of another one, and *why says so.  Or the error
 * for which that is unknown. */
static int is_of_another(const char *path, const char *dump, struct err *why)
{
	struct found f;
	char *real = file_real_path(dump);
	int code = find_key(&f, path, why);
	if (!code && f.key.nameless) {
		code = err_set(why, ERR_USAGE, "it contains numbers instead of names");
	} else if (!code && strcmp(f.key.path, real)) {
		err_set(why, ERR_USAGE, "it belongs to another dump, %.300s", f.key.path);
		code = 1;
	}
	forget(&f);
	free(real);
	return code == ERR_NOT_FOUND ? 0 : code;
}

int index_file_may_replace(const char *path, const char *dump, struct err *err)
{
	struct err why = ERR_INIT;
	int code = is_of_another(path, dump, &why);
	if (is_serious(code))
		return err_set(err, code, "%s", why.message);
	return !code ? 0 : err_set(err, ERR_USAGE, "%.300s is not overwritten: %s (the command index replaces it)", path,
	    why.message);
}

void index_file_broken(struct err *err, const char *path)
{
	struct err own = *err;
	if (is_serious(own.code))
		err_context(err, "%.200s", path);
	else
		err_set(err, own.code, "the index %.200s is unusable: %.400s (the command index writes a new one "
		    "next to the dump)",
		    path, own.message);
}

/* Dumps of one name share a place there: of one that is of another path nothing is to be said. */
static int try_in_cache(struct heap **out, const char *path, const struct heap_options *o, struct text *why,
    struct progress *progress, struct err *err)
{
	struct text reason = TEXT_INIT;
	struct err other = ERR_INIT;
	int code = try_beside(out, path, o, &reason, progress, err);
	if (code == 1 && reason.len && is_of_another(path, o->path, &other) != 1) {
		text_clear(why);
		text_add(why, reason.s);
	}
	text_release(&reason);
	return code;
}

int index_file_open(struct heap **out, const struct heap_options *o, struct text *why, char **dump,
    struct progress *progress, struct err *err)
{
	if (index_file_is_index(o->path))
		return open_named(out, o, why, dump, progress, err);
	if (o->no_index)
		return 1;
	if (o->index)
		return try_beside(out, o->index, o, why, progress, err);
	char *path = index_file_beside(o->path);
	int code = path ? try_beside(out, path, o, why, progress, err) : 1;
	free(path);
	path = code == 1 ? index_file_in_cache(o->path) : NULL;
	if (path)
		code = try_in_cache(out, path, o, why, progress, err);
	free(path);
	if (code == 0)
		text_clear(why);
	return code;
}
