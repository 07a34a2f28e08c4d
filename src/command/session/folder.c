/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.c - which dumps are in a folder: by the first bytes of its files, so that thousands are listed at once.
 *
 * Nothing here blocks or has side effects: only regular files are opened.
 */
#include "command/session/session.h"

#include "algorithms/sort.h"
#include "base/mem.h"
#include "base/suffixes.h"
#include "base/text.h"
#include "dump/reader.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "heap/index_file/index_file.h"
#include "heap/open.h"
#include "memory/big.h"
#include "query/profile_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool folder_is(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

void folder_free(struct folder *f)
{
	for (size_t i = 0; f && i < f->n; i++) {
		free(f->file[i].path);
		free(f->file[i].cause);
	}
	if (f) {
		free(f->file);
		free(f->path);
		free(f->shown);
	}
	free(f);
}

/* --- one file ----------------------------------------------------------------------------------- */

/* Does its name say that it is a dump?  Then the list says why it cannot be read. */
bool folder_claims(const char *name)
{
	static const char *const formats[] = {".hprof", ".phd", NULL};
	size_t n = strlen(name);
	n -= suffix_of_packed(name, n);
	return suffix_of(name, n, formats) > 0;
}

static int64_t nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* "2026-11-21T09:15:00Z" into nanoseconds; without a Z it is local time, of which zone nobody says. */
static bool time_of(const char *words, int64_t *out)
{
	struct tm t = {.tm_isdst = -1};
	const char *end = strptime(words, "%Y-%m-%dT%H:%M:%S", &t);
	if (!end)
		return false;
	*out = (int64_t)(*end == 'Z' ? timegm(&t) : mktime(&t)) * 1000000000;
	return true;
}

/* The file's own time stands for that of the dump where nothing tells that. */
static void settle_time(struct folder_file *f)
{
	time_t seconds = (time_t)(f->written / 1000000000);
	struct tm t;
	f->order = f->written;
	f->by_file = !*f->created || !time_of(f->created, &f->order);
	if (f->by_file && gmtime_r(&seconds, &t))
		strftime(f->created, sizeof f->created, "%Y-%m-%dT%H:%M:%SZ", &t);
}

static const char *not_a_file(mode_t mode)
{
	return S_ISFIFO(mode) ? "is a pipe" : S_ISSOCK(mode) ? "is a socket" : S_ISREG(mode) ? NULL :
	    "is not a regular file";
}

static bool is_profile(struct folder_file *f)
{
	f->is_profile = profile_is_file(f->path);
	if (f->is_profile) {
		f->why = (struct err)ERR_INIT;
		f->told = profile_glance(f->path, f->created, &f->objects, &f->shallow);
	}
	return f->is_profile;
}

/* One without its dump, as take writes it: it is opened as a dump is. */
static bool is_index(struct folder_file *f)
{
	if (!index_file_is_alone(f->path))
		return false;
	f->why = (struct err)ERR_INIT;
	f->label = "index";
	f->told = !index_file_tell(f->path, &f->objects, &f->shallow, f->created, &f->why);
	return true;
}

/* What the first bytes are.  False: no dump, and it does not claim to be one. */
static bool look_at_head(struct folder_file *f, int fd, bool claims, const struct heap_options *how)
{
	uint8_t first[SOURCE_HEAD], *more;
	struct dump_head h = {.label = NULL};
	ssize_t n = source_read_head(fd, first, &more);
	int code = n > 0 ? dump_head_of(&h, more ? more : first, (size_t)n, f->path, &f->why) : 0;
	big_free(more);
	if (n < 0)
		return err_set(&f->why, ERR_IO, "%s", strerror(errno)), claims;
	if (n == 0)
		return err_set(&f->why, ERR_FORMAT, "is empty (0 bytes; perhaps the disk was full)"), claims;
	if (!code) {
		struct heap_options o = {.path = f->path, .mat_sizes = how->mat_sizes};
		f->label = h.label;
		f->told = !how->no_index && index_file_glance(&o, f->size, f->written, &f->objects, &f->shallow);
		memcpy(f->created, h.created, sizeof f->created);
		return true;
	}
	f->is_archive = h.archive != NULL;
	return !f->is_archive && (is_profile(f) || is_index(f)) ? true : claims;
}

/* False: it is left out. */
static bool look_at(struct folder_file *f, int folder, const char *name, const struct heap_options *how)
{
	struct stat st;
	bool claims = folder_claims(name);
	if (fstatat(folder, name, &st, 0)) {
		err_set(&f->why, ERR_IO, "%s", errno == ENOENT ? "is a broken link" : strerror(errno));
		f->written = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ? 0 : nanoseconds(st.st_mtim);
		return claims && f->written;
	}
	f->written = nanoseconds(st.st_mtim);
	f->device = st.st_dev;
	f->inode = st.st_ino;
	if (S_ISDIR(st.st_mode))
		return false;
	f->sized = S_ISREG(st.st_mode);
	f->size = f->sized ? (uint64_t)st.st_size : 0;
	if (not_a_file(st.st_mode))
		return err_set(&f->why, ERR_IO, "%s", not_a_file(st.st_mode)), claims;
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_set(&f->why, ERR_IO, "%s", errno == EACCES ? "no permission to read it" : strerror(errno)), claims;
	bool is = fstat(fd, &st) || !S_ISREG(st.st_mode) ? false : look_at_head(f, fd, claims, how);
	close(fd);
	return is;
}

/* --- all of them -------------------------------------------------------------------------------- */

void folder_add(struct folder *to, const struct folder_file *f)
{
	VEC_PUSH(to->file, to->n, to->cap) = *f;
	settle_time(&to->file[to->n - 1]);
	to->n_dumps += !f->is_profile;
}

void folder_add_archives(const struct folder *f, struct text *to)
{
	if (f->n_archives == 1)
		text_add(to, "; one is an archive (cairn ARCHIVE lists its dumps)");
	else if (f->n_archives)
		text_addf(to, "; %zu are archives (cairn ARCHIVE lists the dumps of one)", f->n_archives);
}

static void add_file(struct folder *out, int folder, const char *name, const struct heap_options *how)
{
	struct text path = TEXT_INIT;
	struct folder_file f = {.why = ERR_INIT};
	size_t n = strlen(out->path);
	if (strcmp(out->path, "."))
		text_addf(&path, "%s%s", out->path, n && out->path[n - 1] == '/' ? "" : "/");
	text_add(&path, name);
	f.path = text_take(&path);
	if (!look_at(&f, folder, name, how)) {
		free(f.path);
		out->n_others++;
		out->n_archives += f.is_archive;
		return;
	}
	folder_add(out, &f);
}

static int by_time(const void *x, const void *y)
{
	const struct folder_file *a = x, *b = y;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->path, b->path);
}

void folder_sort(struct folder *f)
{
	sort_array(f->file, f->n, sizeof *f->file, by_time);
}

/* Those that were written to just now are looked at once more, a moment later: do they go on? */
static void find_growing(struct folder *f)
{
	enum { FRESH_NS = 2000000000, MOMENT_NS = 100000000 };
	struct timespec now, moment = {.tv_nsec = MOMENT_NS};
	struct stat st;
	bool waited = false;
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < f->n; i++) {
		struct folder_file *file = &f->file[i];
		int64_t age = nanoseconds(now) - file->written;
		if (age < -FRESH_NS || age > FRESH_NS || (file->why.code && file->why.code != ERR_FORMAT))
			continue;
		if (!waited)
			nanosleep(&moment, NULL);
		waited = true;
		file->grows = !stat(file->path, &st) &&
		    ((uint64_t)st.st_size != file->size || nanoseconds(st.st_mtim) != file->written);
	}
}

struct reading {
	const char *path;
	bool here;
	const struct heap_options *how;
	struct folder *folder;
	char **javacore; /* names of files that may be javacores; owned */
	size_t n_javacores, cap_javacores;
};

static int read_names(struct reading *r, DIR *d, struct progress *progress, struct err *err)
{
	const struct dirent *e;
	progress_phase(progress, PHASE_LOOK_AT_FILES, 0);
	while ((e = readdir(d)))
		if (*e->d_name != '.') {
			add_file(r->folder, dirfd(d), e->d_name, r->how);
			if (strstr(e->d_name, "javacore"))
				VEC_PUSH(r->javacore, r->n_javacores, r->cap_javacores) = xstrdup(e->d_name);
			if (!progress_add(progress, 1))
				return err_cancelled(err);
		}
	folder_find_causes(r->folder, r->javacore, r->n_javacores);
	return 0;
}

static int none(const struct folder *f, const char *name, struct err *err)
{
	struct text archives = TEXT_INIT;
	folder_add_archives(f, &archives);
	int code = err_set(err, ERR_NOT_FOUND, "%s: no dump in this directory, only %zu other file%s%s", name,
	    f->n_others, f->n_others == 1 ? "" : "s", archives.len ? archives.s :
	    " (cairn does not search subdirectories)");
	text_release(&archives);
	return code;
}

static int read_folder(void *context, struct progress *progress, struct err *err)
{
	enum { LONGEST_NAME = 300 }; /* bytes: the sentence has room for them */
	struct reading *r = context;
	struct text name = TEXT_INIT;
	text_add_escaped(&name, r->path, strlen(r->path));
	if (name.len > LONGEST_NAME) {
		text_clear(&name);
		text_add_name(&name, r->path);
	}
	DIR *d = opendir(r->path);
	int code = d ? 0 : err_set(err, ERR_IO, "%s: %s", name.s, errno == EACCES ? "no permission to read this "
	    "directory" :
	    strerror(errno));
	if (d) {
		r->folder = xcalloc(1, sizeof *r->folder);
		r->folder->path = xstrdup(r->path);
		r->folder->shown = !strcmp(r->path, ".") ? getcwd(NULL, 0) : NULL; /* it may be gone */
		if (!r->folder->shown)
			r->folder->shown = xstrdup(r->path);
		r->folder->here = r->here;
		code = read_names(r, d, progress, err);
		closedir(d);
	}
	if (!code && !r->folder->n && r->here)
		;
	else if (!code && !r->folder->n && !r->folder->n_others)
		code = err_set(err, ERR_NOT_FOUND, "%s: no dump in this directory, it is empty", name.s);
	else if (!code && !r->folder->n)
		code = none(r->folder, name.s, err);
	if (!code) {
		folder_sort(r->folder);
		find_growing(r->folder);
	}
	text_release(&name);
	return code;
}

static int read_watched(struct folder **out, struct reading *r, enum progress_wish wish, struct err *err)
{
	int code = work_watched(read_folder, r, wish, err);
	for (size_t i = 0; i < r->n_javacores; i++)
		free(r->javacore[i]);
	free(r->javacore);
	if (code) {
		folder_free(r->folder);
		r->folder = NULL;
	}
	*out = r->folder;
	return code;
}

int folder_read(struct folder **out, const char *path, const struct heap_options *how, enum progress_wish wish,
    struct err *err)
{
	struct reading r = {.path = path, .how = how};
	return read_watched(out, &r, wish, err);
}

int folder_read_here(struct folder **out, const struct heap_options *how, enum progress_wish wish, struct err *err)
{
	struct reading r = {.path = ".", .here = true, .how = how};
	return read_watched(out, &r, wish, err);
}
