/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * history.c - the history file.
 */
#include "view/history.h"

#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_KEPT 1000
#define LINES_BEFORE_CUT 1500

/* "$variable/cairn/name", or below the home; false: there is neither. */
static bool base_path(struct text *path, const char *variable, const char *below_home, const char *name)
{
	const char *base = getenv(variable), *home = getenv("HOME");

	/* the specification wants relative paths ignored */
	if (base && base[0] == '/')
		text_add(path, base);
	else if (home && home[0] == '/')
		text_addf(path, "%s/%s", home, below_home);
	else
		return false;
	text_addf(path, "/cairn/%s", name);
	return true;
}

char *config_path(void)
{
	struct text path = TEXT_INIT;

	return base_path(&path, "XDG_CONFIG_HOME", ".config", "config") ? text_take(&path) : NULL;
}

char *layouts_path(void)
{
	struct text path = TEXT_INIT;

	return base_path(&path, "XDG_CONFIG_HOME", ".config", "layouts") ? text_take(&path) : NULL;
}

char *state_path(const char *name, bool make)
{
	struct text path = TEXT_INIT;

	if (!base_path(&path, "XDG_STATE_HOME", ".local/state", name))
		return NULL;
	char *last = strrchr(path.s, '/');
	*last = '\0';
	for (char *slash = path.s; make && slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path.s, 0700) != 0 && errno != EEXIST)
			make = false;
		if (slash)
			*slash = '/';
	}
	*last = '/';
	return text_take(&path);
}

char *state_read(int fd, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > STATE_MOST)
		return NULL;
	char *bytes = xmalloc((size_t)st.st_size + 1);
	size_t n = 0;
	while (n < (size_t)st.st_size) {
		ssize_t got = pread(fd, bytes + n, (size_t)st.st_size - n, (off_t)n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	bytes[n] = '\0';
	*size = n;
	return bytes;
}

/* Drop every line that comes again later. */
static size_t without_doubles(char **line, size_t n)
{
	size_t kept = n;

	for (size_t i = n; i-- > 0;) {
		bool again = false;
		for (size_t k = kept; k < n && !again; k++)
			again = strcmp(line[k], line[i]) == 0;
		if (again)
			free(line[i]);
		else
			line[--kept] = line[i];
	}
	if (kept)
		memmove(line, line + kept, (n - kept) * sizeof *line);
	return n - kept;
}

static void write_line(int fd, const char *line)
{
	struct text t = TEXT_INIT;

	text_add(&t, line);
	text_add_char(&t, '\n');
	ssize_t written = write(fd, t.s, t.len); /* one write: lines of two programs do not mix */
	(void)written;
	text_release(&t);
}

char **history_read(size_t *n)
{
	uint64_t refusals = mem_refusals();
	char **line = NULL, *path = state_path("history", false);
	size_t cap = 0, size = 0;

	*n = 0;
	if (!path)
		return NULL;
	int fd = file_open_own(path, O_RDWR | O_APPEND);
	free(path);
	if (fd < 0)
		return NULL;
	flock(fd, LOCK_EX);
	char *bytes = state_read(fd, &size), *at = bytes;
	size_t n_lines = 0;
	while (bytes && at < bytes + size) {
		size_t length = strcspn(at, "\n");
		if (length > 0 && at[length] == '\n') {
			VEC_PUSH(line, *n, cap) = xstrndup(at, length);
			n_lines++;
			if (*n > LINES_BEFORE_CUT) { /* doubles are looked for in so many at most */
				free(line[0]);
				memmove(line, line + 1, --*n * sizeof *line);
			}
		}
		at += length + 1;
	}
	free(bytes);
	*n = without_doubles(line, *n);
	while (*n > LINES_KEPT) {
		free(line[0]);
		memmove(line, line + 1, --*n * sizeof *line);
	}
	if (n_lines > LINES_BEFORE_CUT && refusals == mem_refusals() && ftruncate(fd, 0) == 0)
		for (size_t i = 0; i < *n; i++)
			write_line(fd, line[i]);
	close(fd);
	return line;
}

void history_append(const char *line)
{
	/* a line of two lines (a file's name may have them) would be read as two */
	char *path = strchr(line, '\n') ? NULL : state_path("history", true);

	if (!path)
		return;
	int fd = file_open_own(path, O_WRONLY | O_APPEND | O_CREAT);
	free(path);
	if (fd < 0)
		return;
	flock(fd, LOCK_EX);
	write_line(fd, line);
	close(fd);
}
