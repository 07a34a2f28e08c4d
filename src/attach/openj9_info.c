/* SPDX-License-Identifier: GPL-3.0-or-later */
/* openj9_info.c - see openj9_info.h. */
#include "attach/openj9_info.h"

#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	INFO_MOST = 64 << 10,
	OPTIONS_MOST = 1 << 20,
};

/* Append a character that was written as \uXXXX; returns what follows. */
static const char *add_code(struct text *to, const char *at, const char *end)
{
	char digits[5] = "", code[4];
	memcpy(digits, at, (size_t)(end - at) < 4 ? (size_t)(end - at) : 4);
	uint32_t point = (uint32_t)strtoul(digits, NULL, 16);
	bool surrogate = point >= 0xd800 && point < 0xe000;
	text_add_n(to, code, utf8_encode(code, surrogate || !point ? 0xfffd : point));
	return at + strlen(digits);
}

static char unescaped(char c)
{
	return c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 'f' ? '\f' : c;
}

/* Append a value with its escapes undone. */
static void add_value(struct text *to, const char *at, const char *end)
{
	while (at < end) {
		if (*at != '\\' || at + 1 == end) {
			text_add_char(to, *at++);
			continue;
		}
		at += 2;
		if (at[-1] == 'u')
			at = add_code(to, at, end);
		else
			text_add_char(to, unescaped(at[-1]));
	}
}

bool openj9_property(const char *bytes, size_t n, const char *name, struct text *to)
{
	const char *end = bytes + n;
	size_t len = strlen(name);

	for (const char *line = bytes, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop ? stop : end;
		next = stop < end ? stop + 1 : end;
		if ((size_t)(stop - line) <= len || line[len] != '=' || memcmp(line, name, len) != 0)
			continue;
		text_add(to, "");
		add_value(to, line + len + 1, stop[-1] == '\r' ? stop - 1 : stop);
		return true;
	}
	return false;
}

bool openj9_info_parse(const char *bytes, size_t n, struct openj9_info *to)
{
	struct text name = TEXT_INIT, pid = TEXT_INIT;

	*to = (struct openj9_info){ 0 };
	if (openj9_property(bytes, n, "displayName", &name))
		to->command = text_take(&name);
	if (openj9_property(bytes, n, "processId", &pid))
		to->pid = strtoull(pid.s, NULL, 10);
	text_release(&pid);
	return to->pid;
}

void openj9_info_release(struct openj9_info *i)
{
	free(i->command);
	*i = (struct openj9_info){ 0 };
}

/* Read the file of one VM, if it is that of the process.  Only the process's user may have written it. */
static bool read_one(int vm, const struct proc *p, struct openj9_info *to)
{
	struct stat st;
	bool is = false;
	int fd = openat(vm, "attachInfo", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == p->uid && st.st_size > 0 &&
	    st.st_size <= INFO_MOST) {
		char *bytes = xmalloc((size_t)st.st_size);
		ssize_t n = pread(fd, bytes, (size_t)st.st_size, 0);
		is = n > 0 && openj9_info_parse(bytes, (size_t)n, to) && to->pid == (uint64_t)p->inner_pid;
		if (!is)
			openj9_info_release(to);
		free(bytes);
	}
	close(fd);
	return is;
}

/* Open the folder that an option in a file of the process names last.  -1: there is no such option, or folder. */
static int open_named(int process, const char *file, const char *ends)
{
	static const char option[] = "-Dcom.ibm.tools.attach.directory=/";
	size_t n, len = strlen(option);
	char *text = proc_file(process, file, OPTIONS_MOST, &n), *path = NULL;

	for (char *at = text; at && (at = memmem(at, n - (size_t)(at - text), option, len)) != NULL;)
		path = at += len;
	if (path)
		path[strcspn(path, ends)] = '\0';
	int fd = path ? proc_open_file(process, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) : -1;
	free(text);
	return fd;
}

int openj9_open_folder(int process, int tmp)
{
	int fd = open_named(process, "cmdline", "");
	fd = fd < 0 ? open_named(process, "environ", " ") : fd; /* JAVA_TOOL_OPTIONS and others, with several each */
	return fd < 0 ? openat(tmp, ".com_ibm_tools_attach", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : fd;
}

int openj9_open_vm(int folder, const struct proc *p, struct openj9_info *to)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	*to = (struct openj9_info){ 0 };
	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *e; dir && found < 0 && (e = readdir(dir)) != NULL;) {
		int vm = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (vm >= 0 && read_one(vm, p, to))
			found = vm;
		else if (vm >= 0)
			close(vm);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool openj9_info_read(int process, const struct proc *p, struct openj9_info *to)
{
	int tmp = proc_open_tmp(process, p), folder = openj9_open_folder(process, tmp);
	int vm = folder < 0 ? -1 : openj9_open_vm(folder, p, to);
	int fds[] = { tmp, folder, vm };

	if (folder < 0)
		*to = (struct openj9_info){ 0 };
	for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return vm >= 0;
}
