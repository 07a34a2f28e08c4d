/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_left.c - /proc/meminfo, /proc/self and the files of control groups, both versions.
 *
 * A control group is bounded by its own limit and by those of its ancestors, so each folder from the
 * group up to the mount is asked.  File pages that the kernel can drop are counted as used there, and
 * are as good as free.  Of a group outside the mount (containers show only a part of the hierarchy)
 * the mount itself is asked: it is the closest ancestor that can be seen.
 */
#include "memory/memory_left.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define LINE_BYTES (2 * PATH_BYTES)

__attribute__((format(printf, 1, 2))) static FILE *open_text(const char *format, ...)
{
	char path[PATH_BYTES];
	va_list args;

	va_start(args, format);
	int n = vsnprintf(path, sizeof path, format, args);
	va_end(args);
	return n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
}

/* The number at the beginning of s; MEMORY_NO_BOUND when there is none, as in "max". */
static uint64_t number(const char *s)
{
	char *end;
	unsigned long long n = strtoull(s, &end, 10);

	return end == s || strchr(s, '-') ? MEMORY_NO_BOUND : n;
}

/* The number behind a word, in a file of lines that begin with one; otherwise what is said. */
static uint64_t number_behind(FILE *f, const char *word, uint64_t otherwise)
{
	char line[LINE_BYTES];
	size_t length = strlen(word);

	rewind(f);
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, word, length) && (line[length] == ' ' || line[length] == ':'))
			return number(line + length + 1);
	return otherwise;
}

static uint64_t number_in(const char *folder, const char *name)
{
	char line[64];
	FILE *f = open_text("%s/%s", folder, name);
	uint64_t n = f && fgets(line, sizeof line, f) ? number(line) : MEMORY_NO_BOUND;

	if (f)
		fclose(f);
	return n;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* limit - used, and no less than 0 */
static uint64_t rest(uint64_t limit, uint64_t used)
{
	if (limit == MEMORY_NO_BOUND || used == MEMORY_NO_BOUND)
		return MEMORY_NO_BOUND;
	return limit > used ? limit - used : 0;
}

static uint64_t machine_left(const char *proc)
{
	FILE *f = open_text("%s/meminfo", proc);
	uint64_t kilobytes = f ? number_behind(f, "MemAvailable", MEMORY_NO_BOUND) : MEMORY_NO_BOUND;

	if (f)
		fclose(f);
	return kilobytes > MEMORY_NO_BOUND >> 10 ? MEMORY_NO_BOUND : kilobytes << 10;
}

/* --- control groups ----------------------------------------------------------------------------- */

/* What differs between the versions. */
struct group_files {
	const char *type;             /* of the file system */
	const char *controller;       /* version 1: each has a mount of its own */
	const char *limit, *soft, *used;
	const char *cached[2];        /* lines of memory.stat */
};

static const struct group_files versions[] = {
	{"cgroup2", NULL, "memory.max", "memory.high", "memory.current", {"active_file", "inactive_file"}},
	{"cgroup", "memory", "memory.limit_in_bytes", NULL, "memory.usage_in_bytes",
		{"total_active_file", "total_inactive_file"}},
};

/* Bytes in one folder's use that the kernel can drop. */
static uint64_t droppable(const struct group_files *v, const char *folder)
{
	FILE *f = open_text("%s/memory.stat", folder);
	uint64_t sum = 0;

	if (!f)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		uint64_t n = number_behind(f, v->cached[i], 0);
		sum += n == MEMORY_NO_BOUND ? 0 : n;
	}
	fclose(f);
	return sum;
}

static uint64_t folder_left(const struct group_files *v, const char *folder)
{
	uint64_t limit = number_in(folder, v->limit);

	if (v->soft)
		limit = less(limit, number_in(folder, v->soft));
	uint64_t used = number_in(folder, v->used);
	if (limit == MEMORY_NO_BOUND || used == MEMORY_NO_BOUND)
		return MEMORY_NO_BOUND;
	uint64_t cached = droppable(v, folder);
	return rest(limit, used > cached ? used - cached : 0);
}

/* Whether a list with commas has the word. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		size_t n = strcspn(list, ",\n");
		if (n == length && !strncmp(list, word, n))
			return true;
	}
	return false;
}

/* The process's group of this version, as a path within the hierarchy. */
static bool group_of(const char *proc, const struct group_files *v, char path[LINE_BYTES])
{
	FILE *f = open_text("%s/self/cgroup", proc);
	bool found = false;

	while (f && !found && fgets(path, LINE_BYTES, f)) {
		char *controllers = strchr(path, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!group)
			continue;
		*group++ = '\0';
		found = v->controller ? has_word(controllers + 1, v->controller) : !controllers[1];
		group[strcspn(group, "\n")] = '\0';
		memmove(path, group, strlen(group) + 1);
	}
	if (f)
		fclose(f);
	return found;
}

/* Blanks and the like stand as three octal digits in mountinfo. */
static void undo_escapes(char *s)
{
	char *to = s;

	for (; *s; s++) {
		bool escaped = s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7';
		*to++ = escaped ? (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0')) : *s;
		s += escaped ? 3 : 0;
	}
	*to = '\0';
}

/* Where the hierarchy is mounted, and which of its groups the mount begins with. */
static bool mount_of(const char *proc, const struct group_files *v, char root[PATH_BYTES], char mount[PATH_BYTES])
{
	char line[LINE_BYTES], type[64], own_options[512];
	FILE *f = open_text("%s/self/mountinfo", proc);
	bool found = false;

	while (f && !found && fgets(line, sizeof line, f)) {
		const char *behind = strstr(line, " - ");
		found = behind && sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) == 2 &&
		    sscanf(behind + 3, "%63s %*s %511s", type, own_options) == 2 && !strcmp(type, v->type) &&
		    (!v->controller || has_word(own_options, v->controller));
	}
	if (f)
		fclose(f);
	undo_escapes(root);
	undo_escapes(mount);
	return found;
}

static uint64_t groups_left(const char *proc, const struct group_files *v)
{
	char group[LINE_BYTES], root[PATH_BYTES] = "", mount[PATH_BYTES] = "", folder[PATH_BYTES];

	if (!group_of(proc, v, group) || !mount_of(proc, v, root, mount))
		return MEMORY_NO_BOUND;
	size_t length = strcmp(root, "/") ? strlen(root) : 0, at = strlen(mount);
	bool inside = !strncmp(group, root, length) && (!group[length] || group[length] == '/') &&
	    !strstr(group, "/..");
	int n = snprintf(folder, sizeof folder, "%s%s", mount, inside ? group + length : "");
	if (n < 0 || (size_t)n >= sizeof folder)
		return MEMORY_NO_BOUND;
	uint64_t left = MEMORY_NO_BOUND;
	for (;;) {
		left = less(left, folder_left(v, folder));
		char *slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < at)
			return left;
		*slash = '\0';
	}
}

/* --- all of them -------------------------------------------------------------------------------- */

static void lower(struct memory_left *least, uint64_t bytes, const char *whose)
{
	if (bytes < least->bytes)
		*least = (struct memory_left){.bytes = bytes, .whose = whose};
}

struct memory_left memory_left(const char *proc, uint64_t address_space, uint64_t data)
{
	struct memory_left least = {.bytes = MEMORY_NO_BOUND, .whose = "nobody"};
	unsigned long long mapped = 0, written = 0, page = (unsigned long long)sysconf(_SC_PAGESIZE);

	lower(&least, machine_left(proc), "this machine");
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		lower(&least, groups_left(proc, &versions[i]), "its control group");
	FILE *f = open_text("%s/self/statm", proc);
	if (f && fscanf(f, "%llu %*u %*u %*u %*u %llu", &mapped, &written) == 2) {
		lower(&least, rest(address_space, mapped * page), "ulimit -v");
		least.addresses = least.bytes != MEMORY_NO_BOUND && !strcmp(least.whose, "ulimit -v");
		lower(&least, rest(data, written * page), "ulimit -d");
	}
	if (f)
		fclose(f);
	return least;
}

static uint64_t own_limit(int resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ? MEMORY_NO_BOUND :
	    (uint64_t)limit.rlim_cur;
}

struct memory_left memory_left_now(void)
{
	return memory_left("/proc", own_limit(RLIMIT_AS), own_limit(RLIMIT_DATA));
}
