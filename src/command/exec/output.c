/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * output.c - see output.h.
 */
#include "command/exec/output.h"

#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/exec/exec.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "heap/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the file is a dump of; NULL: it is none, or a copy that can be written again, or nobody may read it. */
static const char *dump_in(const char *path, const struct stat *file)
{
	uint8_t head[SOURCE_HEAD];
	struct dump_head found;
	struct err err = ERR_INIT;
	struct stat st;
	ssize_t n = 0;

	/* a descriptor of its own: the one that writes may not be able to read */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_dev == file->st_dev && st.st_ino == file->st_ino)
		n = pread(fd, head, sizeof head, 0);
	close(fd);
	return n > 0 && !dump_head_of(&found, head, (size_t)n, "", &err) && !found.copy ? found.label : NULL;
}

static int ask(const char *path, bool append, const char *dump, const struct writing *rules,
    struct err *err)
{
	struct text question = TEXT_INIT;

	text_add_escaped(&question, path, strlen(path));
	if (dump)
		text_addf(&question, " is a heap dump (%s)", dump);
	else
		text_add(&question, " exists");
	text_add(&question, append ? ": append to it?" : ": replace it?");
	bool yes = rules->ask(rules->context, question.s);
	text_release(&question);
	return yes ? 0 : err_set(err, ERR_CANCELLED, "%.200s is unchanged", path);
}

/* May what the file holds be replaced, or written behind? */
static int may_write(const char *path, bool append, const struct stat *st, const struct writing *rules,
    struct err *err)
{
	if (!S_ISREG(st->st_mode) || !st->st_size || rules->force)
		return 0;
	const char *dump = dump_in(path, st);
	if (rules->ask)
		return append && !dump ? 0 : ask(path, append, dump, rules, err);
	if (!dump)
		return 0;
	return err_set(err, ERR_USAGE, "%.200s is a heap dump, %s (write to another file, or give --force)",
	    path, dump);
}

int output_open(struct output *out, const char *path, bool append, mode_t mode, const struct writing *rules,
    struct err *err)
{
	struct stat st;
	int fd = file_open_to_write(path, O_WRONLY | O_CREAT | (append ? O_APPEND : 0), mode, err);

	if (fd < 0)
		return fd;
	int code = fstat(fd, &st) ? err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno)) :
	    may_write(path, append, &st, rules, err);
	bool holds = !code && S_ISREG(st.st_mode) && st.st_size;
	*out = (struct output){.behind = holds && append, .replaces = holds && !append};
	if (out->behind)
		out->end = st.st_size;
	if (!code && !(out->stream = fdopen(fd, append ? "a" : "w")))
		code = err_set(err, ERR_IO, "%.200s: %s", path, strerror(errno));
	if (code)
		close(fd);
	return code;
}

int output_begin(FILE *stream, bool *replaces, struct err *err)
{
	if (*replaces && ftruncate(fileno(stream), 0))
		return err_set(err, ERR_IO, "cannot replace the contents of the file: %s", strerror(errno));
	*replaces = false;
	return 0;
}

bool output_can_join(FILE *stream)
{
	struct stat st;
	return !fstat(fileno(stream), &st) && S_ISREG(st.st_mode);
}

int output_join(FILE *stream, size_t n, struct err *err)
{
	if (!n) {
		putc(' ', stream); /* room for the bracket, should there be a second one */
		return 0;
	}
	if (n == 1 && (fflush(stream) || pwrite(fileno(stream), "[", 1, 0) != 1))
		return err_set(err, ERR_IO, "cannot join the results: %s", strerror(errno));
	fputs(",\n", stream);
	return 0;
}

void output_joined(FILE *stream, size_t n)
{
	if (n > 1)
		fputs("]\n", stream);
}

void output_take_back(struct output *out, struct err *err)
{
	struct stat st;
	int fd = fileno(out->stream);

	if (fflush(out->stream)) /* what waits must not follow */
		__fpurge(out->stream);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || ftruncate(fd, out->end))
		err_set(err, err->code, "%s; the file has an incomplete result", err->message);
	else
		err_set(err, err->code, "%s; %s", err->message, out->end ? "its earlier contents are unchanged" :
		    "the file is empty");
}

/*
 * A signal that ends the program takes the file away that is being written beside another.  Where somebody handles the
 * signal already, that is a stop, and close_aside does it.
 */
static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDS = sizeof ends / sizeof *ends };
static struct sigaction ended_before[ENDS];
static const char *volatile being_written; /* NULL: none, or one that was reported already */
static char *volatile made_folder;         /* where that is, if folders were made for it */
static volatile size_t made_from;          /* how many bytes name the first that was not there; 0: all were */

/* Nothing was written: no folder that was made for it stays.  Signals call this. */
static void unmake_folders(char *path, size_t made)
{
	for (char *end = path + strlen(path); made && (size_t)(end - path) >= made;) {
		*end = '\0';
		if (rmdir(path) && errno != ENOENT)
			return;
		while (end > path && *end != '/')
			end--;
	}
}

static void take_away(int signal)
{
	const char *path = being_written;
	if (path)
		unlink(path);
	if (made_folder)
		unmake_folders(made_folder, made_from);
	raise(signal); /* as it would have ended: SA_RESETHAND */
}

static unsigned watching; /* of those who want signals to be heard */

static void watch_ends(void)
{
	struct sigaction action = {.sa_handler = take_away, .sa_flags = SA_RESETHAND};
	if (watching++)
		return;
	for (unsigned i = 0; i < ENDS; i++)
		if (!sigaction(ends[i], NULL, &ended_before[i]) && ended_before[i].sa_handler == SIG_DFL)
			sigaction(ends[i], &action, NULL);
}

static void let_end(void)
{
	if (--watching)
		return;
	for (unsigned i = 0; i < ENDS; i++)
		if (ended_before[i].sa_handler == SIG_DFL)
			sigaction(ends[i], &ended_before[i], NULL);
}

/* No signal takes it away any more. */
static void forget_aside(char *aside)
{
	if (being_written == aside)
		being_written = NULL;
	let_end();
	free(aside);
}

/* A new file beside the one that will have its name.  -1: that cannot be, whatever the reason. */
static int open_beside(const char *path, mode_t mode, bool as_it_was, char **aside)
{
	struct text name = TEXT_INIT;
	struct err ignored = ERR_INIT;
	text_addf(&name, "%s.part-%ld", path, (long)getpid());
	*aside = text_take(&name);
	watch_ends();
	if (!being_written) /* before it is there: signals come at any time */
		being_written = *aside;
	int fd = file_open_to_write(*aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode, &ignored);
	if (fd >= 0 && as_it_was) /* whatever the umask says */
		(void)!fchmod(fd, mode);
	int why = errno;
	if (fd < 0)
		forget_aside(*aside);
	errno = why;
	return fd < 0 ? -1 : fd;
}

/* Write to a file that open_beside opened.  False, and nothing of it is left: there is none, or no memory. */
static bool write_aside(struct output *out, int fd, const char *path, char *aside)
{
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
	int why = errno;
	if (stream) {
		*out = (struct output){.stream = stream, .path = xstrdup(path), .aside = aside};
	} else if (fd >= 0) {
		close(fd);
		unlink(aside);
		forget_aside(aside);
	}
	errno = why;
	return stream != NULL;
}

/* May a file of a name that the program chose be written? */
static int may_write_own(const struct new_file *file, const struct writing *rules, struct err *err)
{
	struct stat st;
	int code = file_may_have_name(file->path, file->ours, err);
	return code || lstat(file->path, &st) ? code : may_write(file->path, false, &st, rules, err);
}

/* The same, beside the name and nowhere else. */
static int open_own_aside(struct output *out, const struct new_file *file, mode_t mode, const struct writing *rules,
    struct err *err)
{
	char *aside = NULL;
	struct stat st;
	int code = may_write_own(file, rules, err);
	if (code)
		return code;
	bool as_it_was = !lstat(file->path, &st) && st.st_uid == geteuid() && !file->secret;
	int fd = open_beside(file->path, as_it_was ? st.st_mode & 0777 : mode, as_it_was, &aside);
	return write_aside(out, fd, file->path, aside) ? 0 :
	    err_set(err, ERR_IO, "%.200s: %s", file->path, strerror(errno));
}

/*
 * output_open for what is good only whole: a regular file is written beside the one it replaces, and takes its name in
 * close_aside, which is called in any case: with code, and its err, the file is left as it was.
 */
static int open_aside(struct output *out, const struct new_file *file, mode_t mode, const struct writing *rules,
    struct err *err)
{
	const char *path = file->path;
	struct stat st;
	if (file->own_name)
		return open_own_aside(out, file, mode, rules, err);
	bool exists = stat(path, &st) == 0;
	char *aside = NULL, real[PATH_MAX];
	if (exists) { /* may it be written to? */
		int code = output_open(out, path, false, mode, rules, err);
		if (code || !S_ISREG(st.st_mode))
			return code;
	}
	const char *whole = exists && realpath(path, real) ? real : path; /* a link goes on leading there */
	bool as_it_was = exists && !file->secret;
	int fd = open_beside(whole, as_it_was ? st.st_mode & 0777 : mode, as_it_was, &aside);
	FILE *in_place = exists ? out->stream : NULL;
	if (!write_aside(out, fd, whole, aside)) /* then in its place, if that can be */
		return exists ? 0 : output_open(out, path, false, mode, rules, err);
	if (in_place)
		fclose(in_place);
	return 0;
}

/* Returns code, or ERR_IO and the sentence. */
static int close_aside(struct output *out, int code, struct err *err)
{
	bool replaces = out->aside && access(out->path, F_OK) == 0;
	if (code && !out->aside)
		output_take_back(out, err);
	if (fclose(out->stream) && !code)
		code = err_set(err, ERR_IO, "%s", strerror(errno));
	if (!code && out->aside)
		code = file_take_name(out->aside, out->path, err);
	if (code && out->aside) {
		unlink(out->aside);
		err_set(err, err->code, "%s; %s", err->message, replaces ? "the earlier file is unchanged" :
		    "nothing was written");
	}
	if (out->aside)
		forget_aside(out->aside);
	free(out->path);
	out->path = out->aside = NULL;
	return code;
}

int writing_may_replace(const struct writing *rules, const char *path, struct err *err)
{
	struct stat st;
	return stat(path, &st) ? 0 : may_write(path, false, &st, rules, err);
}

int session_may_replace(const struct session *s, const struct new_file *file, struct err *err)
{
	const struct writing *rules = &s->settings.writes;
	return file->own_name ? may_write_own(file, rules, err) : writing_may_replace(rules, file->path, err);
}

int session_may_replace_all(const struct session *s, const char *folder, size_t n, bool *agreed, struct err *err)
{
	const struct writing *rules = &s->settings.writes;
	struct text question = TEXT_INIT;
	*agreed = false;
	if (!n || !rules->ask || rules->force)
		return 0;
	text_addf(&question, n == 1 ? "one of these files exists in " : "%zu of these files exist in ", n);
	text_add_escaped(&question, folder, strlen(folder));
	text_add(&question, ": replace?");
	*agreed = rules->ask(rules->context, question.s);
	text_release(&question);
	return *agreed ? 0 : err_set(err, ERR_CANCELLED, "%.200s is unchanged", folder);
}

mode_t session_new_mode(const struct session *s)
{
	const struct heap *h = session_heap(s);
	struct stat st;
	if (!h || !h->source || file_stat(h->source->path, &st))
		return 0666;
	mode_t group = st.st_gid == getegid() ? 060 : (st.st_mode & 06) << 3; /* the dump's group, or all the others */
	return S_IRUSR | S_IWUSR | (st.st_mode & group) | (st.st_mode & 06);
}

int session_write_whole(struct session *s, const struct new_file *file, file_writer *write, void *context,
    struct err *err)
{
	struct output to;
	mode_t mode = file->secret ? S_IRUSR | S_IWUSR : session_new_mode(s);
	if (s->asks) /* as part of a statement of SQL, a claim or a table */
		return err_set(err, ERR_USAGE, "%.200s: a nested command cannot write files (run the command itself)",
		    file->path);
	int code = open_aside(&to, file, mode, &s->settings.writes, err);
	if (code)
		return code;
	code = output_begin(to.stream, &to.replaces, err);
	if (!code)
		code = write(context, to.stream, to.aside, err);
	off_t end = code || !file->bytes ? 0 : ftello(to.stream);
	if (file->bytes)
		*file->bytes = end > 0 ? (uint64_t)end : 0;
	code = close_aside(&to, code, err);
	if (code && code != ERR_CANCELLED)
		err_context(err, "%.200s", file->path);
	return code;
}

/* Is a folder below the one that the user named a link?  Then the file would be elsewhere. */
static int follow_no_links(const char *path, size_t named, struct err *err)
{
	char *at = xstrdup(path);
	struct stat st;
	int code = 0;
	for (char *slash = at + named; !code && (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
		*slash = '\0';
		if (!lstat(at, &st) && S_ISLNK(st.st_mode))
			code = err_set(err, ERR_USAGE, "%.200s: cairn does not follow a link here (remove it)",
			    at);
	}
	free(at);
	return code;
}

/* Make the folders of a path, and tell made_from. */
static int make_folders(char *path, struct err *err)
{
	for (char *slash = path + 1;; slash++) {
		slash += strcspn(slash, "/");
		char was = *slash;
		*slash = '\0';
		if (!made_from && access(path, F_OK)) /* before it is made: signals come at any time */
			made_from = (size_t)(slash - path);
		int failed = mkdir(path, 0777);
		int code = failed && errno != EEXIST ? err_set(err, ERR_IO, "%.300s: %s", path, strerror(errno)) : 0;
		*slash = was;
		if (code || !was)
			return code;
	}
}

int session_write_in(struct session *s, const char *folder, const struct new_file *file, file_writer *write,
    void *context, struct err *err)
{
	struct text path = TEXT_INIT;
	text_addf(&path, "%s/%s", folder, file->path);
	if (!path.s)
		return err_set(err, ERR_NOMEM, "not enough memory for a name");
	size_t n = (size_t)(strrchr(path.s, '/') - path.s);
	char *made = xstrndup(path.s, n), *to_be = xstrndup(path.s, n);
	struct new_file whole = *file;
	whole.path = path.s;
	whole.own_name = true;
	made_from = 0;
	made_folder = to_be;
	watch_ends();
	int code = follow_no_links(path.s, strlen(folder), err);
	if (!code)
		code = make_folders(made, err);
	if (!code)
		code = session_write_whole(s, &whole, write, context, err);
	made_folder = NULL;
	let_end();
	if (code)
		unmake_folders(made, made_from);
	free(made);
	free(to_be);
	text_release(&path);
	return code;
}

bool output_standard_is_free(void)
{
	const char *out = file_held_as(STDOUT_FILENO), *error = file_held_as(STDERR_FILENO);

	if (!out && !error)
		return true;
	if (error && (out || dup2(STDOUT_FILENO, STDERR_FILENO) < 0))
		return false; /* there is nowhere to say it */
	complain("standard %s is %s, which cairn reads (redirect it to another file)",
	    out ? "output" : "error", out ? out : error);
	return false;
}
