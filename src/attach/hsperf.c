/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hsperf.c - see hsperf.h. */
#include "attach/hsperf.h"

#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PROLOGUE = 32, ENTRY = 20, /* their bytes */
	FILE_MOST = 4 << 20,       /* the VM's default is 32 KB */
	STALE_MS = 60 * 1000,      /* a clock is put right by less */
	OLD_MAY_BE_ALL = 28,       /* release of Java: from then on Parallel moves the bound between its generations */
};

struct bytes {
	const uint8_t *at;
	size_t n;
	bool little;
};

static uint64_t number(const struct bytes *b, size_t at, unsigned size)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < size; i++)
		v = v << 8 | b->at[at + (b->little ? size - 1 - i : i)];
	return v;
}

/* A parse: what is taken, and what the counters add up to. */
struct parse {
	struct hsperf *to;
	uint64_t max_sum, max_most; /* of the generations */
	uint64_t ticks, stopped, frequency; /* in collections, at safepoints; of a second */
	bool generations_add;       /* each generation has its own part of the heap */
	bool parallel;              /* by the collector Parallel */
	char *old_version;          /* owned */
};

/* The number at the beginning, and a dot: what is behind it.  NULL: something else. */
static const char *past_number(const char *at, uint64_t *number)
{
	char *end;
	if (*at < '0' || *at > '9')
		return NULL;
	*number = strtoull(at, &end, 10);
	return *end == '.' ? end + 1 : NULL;
}

static const char *after(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncmp(s, prefix, n) ? NULL : s + n;
}

static void take_generation(struct parse *p, const char *rest, uint64_t v)
{
	uint64_t space;
	const char *of_space = after(rest, "space.");
	if (!strcmp(rest, "capacity"))
		p->to->counters.heap_committed += v;
	else if (!strcmp(rest, "maxCapacity")) {
		p->max_sum += v;
		p->max_most = v > p->max_most ? v : p->max_most;
	} else if (of_space && (of_space = past_number(of_space, &space)) && !strcmp(of_space, "used"))
		p->to->counters.heap_used += v;
}

static void take_collector(struct parse *p, uint64_t i, const char *rest, uint64_t v)
{
	if (!strcmp(rest, "time"))
		p->ticks += v;
	else if (!strcmp(rest, "invocations") && i == 0)
		p->to->counters.young_collections = v;
	else if (!strcmp(rest, "invocations") && i == 1)
		p->to->counters.full_collections = v;
}

static void take_number(struct parse *p, const char *name, uint64_t v)
{
	const char *rest;
	uint64_t i;
	if (v > UINT64_MAX >> 16)
		return; /* negative, or more than any host has; sums do not overflow */
	if ((rest = after(name, "sun.gc.generation.")) != NULL) {
		if ((rest = past_number(rest, &i)) != NULL)
			take_generation(p, rest, v);
	} else if ((rest = after(name, "sun.gc.collector.")) != NULL) {
		if ((rest = past_number(rest, &i)) != NULL)
			take_collector(p, i, rest, v);
	} else if (!strcmp(name, "sun.os.hrt.frequency"))
		p->frequency = v;
	else if (!strcmp(name, "sun.rt.createVmBeginTime"))
		p->to->began = v;
	else if (!strcmp(name, "sun.rt.safepoints"))
		p->to->counters.safepoints = v;
	else if (!strcmp(name, "sun.rt.safepointTime") || !strcmp(name, "sun.rt.safepointSyncTime"))
		p->stopped += v;
}

static void set_text(char **to, const char *s, size_t n)
{
	if (!*to && n)
		*to = xstrndup(s, n);
}

static void take_text(struct parse *p, const char *name, const char *s)
{
	if (!strcmp(name, "sun.rt.javaCommand"))
		set_text(&p->to->command, s, strlen(s));
	else if (!strcmp(name, "java.property.java.vm.name"))
		set_text(&p->to->vm_name, s, strlen(s));
	else if (!strcmp(name, "java.property.java.version"))
		set_text(&p->to->version, s, strlen(s));
	else if (!strcmp(name, "java.property.java.vm.specification.version"))
		p->to->release = (unsigned)strtoul(after(s, "1.") ? s + 2 : s, NULL, 10) & 0xffff;
	else if (!strcmp(name, "sun.gc.policy.name")) {
		p->generations_add = strchr(s, ':') != NULL; /* "Copy:MSC", "ParScav:MSC", "ParNew:CMS" */
		p->parallel = after(s, "ParScav") != NULL;
	} else if (!strcmp(name, "sun.rt.internalVersion") && (s = strstr(s, " JRE (")) != NULL)
		/* "OpenJDK 64-Bit Server VM (25.402-b06) for linux-amd64 JRE (1.8.0_402-b06), built on ..": before
		 * JDK 9 nothing else has it */
		set_text(&p->old_version, s + 6, strcspn(s + 6, ")-+ "));
}

/* One entry of `length` bytes: {length, name offset, elements, type, flags, unit, variability, data offset}. */
static void take_entry(struct parse *p, const struct bytes *b, size_t at, size_t length)
{
	uint64_t name = number(b, at + 4, 4), elements = number(b, at + 8, 4), data = number(b, at + 16, 4);
	char type = (char)b->at[at + 12];

	if (name >= length || data >= length || !memchr(b->at + at + name, 0, length - name))
		return;
	const char *what = (const char *)b->at + at + name;
	if (type == 'J' && !elements && length - data >= 8) {
		take_number(p, what, number(b, at + data, 8));
	} else if (type == 'B' && elements && elements <= length - data) {
		char *s = xstrndup((const char *)b->at + at + data, elements);
		take_text(p, what, s);
		free(s);
	}
}

bool hsperf_parse(const uint8_t *bytes, size_t n, struct hsperf *to)
{
	static const uint8_t magic[] = { 0xca, 0xfe, 0xc0, 0xc0 };
	struct bytes b = { bytes, n, true };
	struct parse p = { .to = to };

	*to = (struct hsperf){ 0 };
	if (n < PROLOGUE || memcmp(bytes, magic, sizeof magic) || bytes[5] != 2 || !bytes[7])
		return false;
	b.little = bytes[4] == 1;
	uint64_t used = number(&b, 8, 4), at = number(&b, 24, 4), entries = number(&b, 28, 4);
	b.n = used >= PROLOGUE && used < n ? used : n;
	for (; entries && at + ENTRY <= b.n; entries--) {
		uint64_t length = number(&b, at, 4);
		if (length < ENTRY || length > b.n - at)
			break;
		take_entry(&p, &b, at, length);
		at += length;
	}
	if (p.parallel && to->release >= OLD_MAY_BE_ALL)
		p.generations_add = false;
	/* G1 adds some bytes so that no generation is empty; heaps are whole pages */
	to->counters.heap_max = (p.generations_add ? p.max_sum : p.max_most) & ~(uint64_t)4095;
	if (p.frequency) {
		to->counters.collection_ns = (uint64_t)((double)p.ticks / (double)p.frequency * 1e9);
		to->counters.safepoint_ns = (uint64_t)((double)p.stopped / (double)p.frequency * 1e9);
	}
	if (!to->version)
		to->version = p.old_version;
	else
		free(p.old_version);
	return true;
}

void hsperf_release(struct hsperf *h)
{
	free(h->command);
	free(h->vm_name);
	free(h->version);
	*h = (struct hsperf){ 0 };
}

/* --- where it is ---------------------------------------------------------------------------------- */

/* Read it from a folder.  It is a file of the process's user: anybody can make one of this name in /tmp. */
static bool read_in(int tmp, const char *folder, const struct proc *p, struct hsperf *to)
{
	char name[24];
	struct stat st;
	bool is = false;

	snprintf(name, sizeof name, "%ld", (long)p->inner_pid);
	int dir = openat(tmp, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return false;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == p->uid && st.st_size > 0 &&
	    st.st_size <= FILE_MOST) {
		uint8_t *bytes = xmalloc((size_t)st.st_size);
		ssize_t n = pread(fd, bytes, (size_t)st.st_size, 0);
		is = n > 0 && hsperf_parse(bytes, (size_t)n, to);
		free(bytes);
		/* left by a VM that was killed, whose number is used again */
		if (is && to->began && to->began + STALE_MS < proc_began(p->started))
			is = false;
		if (!is)
			hsperf_release(to);
	}
	close(fd);
	return is;
}

bool hsperf_read(int process, const struct proc *p, struct hsperf *to)
{
	int tmp = proc_open_tmp(process, p);
	char folder[280], user[64];
	bool found = false;

	*to = (struct hsperf){ 0 };
	if (tmp < 0)
		return false;
	proc_user(user, sizeof user, p->uid);
	snprintf(folder, sizeof folder, "hsperfdata_%s", user);
	found = *user && read_in(tmp, folder, p, to);
	/* in a container the user may have another name */
	DIR *dir = found ? NULL : fdopendir(tmp);
	for (struct dirent *e; dir && !found && (e = readdir(dir)) != NULL;)
		found = after(e->d_name, "hsperfdata_") && read_in(tmp, e->d_name, p, to);
	if (dir)
		closedir(dir);
	else
		close(tmp);
	return found;
}
