/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recognize.c - see recognize.h. */
#include "attach/recognize.h"

#include "attach/go_program.h"
#include "attach/hsperf.h"
#include "attach/openj9_info.h"
#include "base/masking.h"
#include "base/mem.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	COMMAND_MOST = 32 << 10, /* bytes of a command line that are read */
	MAPS_MOST = 16 << 20,
	CGROUP_MOST = 64 << 10,
	RELEASE_MOST = 16 << 10,
	CONTAINER_ID = 64, CONTAINER_SHOWN = 12,
};

static const char *after_slash(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static char *escaped(const char *s, size_t n)
{
	struct text t = TEXT_INIT;
	text_add_escaped(&t, s, n);
	return t.s ? text_take(&t) : xstrdup("");
}

/* --- the command line ------------------------------------------------------------------------------ */

/* Arguments, each ended by NUL. */
struct arguments {
	char *bytes; /* owned; ends with a NUL of its own */
	size_t n;
};

static struct arguments arguments_read(int process)
{
	struct arguments a = { NULL, 0 };
	a.bytes = proc_file(process, "cmdline", COMMAND_MOST, &a.n);
	if (!a.bytes)
		a.bytes = xstrdup("");
	return a;
}

/* NULL before: the first; NULL: there are no more. */
static const char *argument_next(const struct arguments *a, const char *before)
{
	const char *at = before ? before + strlen(before) + 1 : a->bytes;
	return at < a->bytes + a->n ? at : NULL;
}

/* In one line, without secrets.  An argument with blanks is quoted, so that its secret ends where it ends. */
static char *command_line(const struct arguments *a)
{
	struct text line = TEXT_INIT, masked = TEXT_INIT;
	for (const char *s = NULL; (s = argument_next(a, s)) != NULL;) {
		const char *quote = !strpbrk(s, " \t") ? "" : strchr(s, '"') ? "'" : "\"";
		text_addf(&line, "%s%s", line.len ? " " : "", quote);
		text_add(&line, s);
		text_add(&line, quote);
	}
	masking_mask(line.s ? line.s : "", line.len, &masked);
	char *command = escaped(masked.s ? masked.s : "", masked.len);
	text_release(&line);
	text_release(&masked);
	return command;
}

static bool takes_value(const char *option)
{
	static const char *const with[] = { "-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules",
		"--upgrade-module-path", "--limit-modules", "--add-reads", "--add-exports", "--add-opens", "--patch-module" };
	for (size_t i = 0; i < sizeof with / sizeof *with; i++)
		if (!strcmp(option, with[i]))
			return true;
	return false;
}

/* The main class, jar or module that the java command was given; NULL: none is seen. */
static const char *main_argument(const struct arguments *a)
{
	const char *s = argument_next(a, NULL);
	while (s && (s = argument_next(a, s)) != NULL) {
		if (!strcmp(s, "-jar") || !strcmp(s, "-m") || !strcmp(s, "--module"))
			return argument_next(a, s);
		if (!strncmp(s, "--module=", 9))
			return s + 9;
		if (*s != '-' && *s != '@')
			return s;
		if (takes_value(s))
			s = argument_next(a, s);
	}
	return NULL;
}

/* The name of a Java program.  The VM has main class and arguments in one text, divided by blanks, which a jar's path
 * may contain, too: the command line says where it ends. */
static char *java_name(const struct arguments *a, const char *command)
{
	size_t n = command ? strcspn(command, " ") : 0;
	for (const char *s = NULL; command && (s = argument_next(a, s)) != NULL;) {
		size_t len = strlen(s);
		if (len > n && !strncmp(s, command, len) && (command[len] == ' ' || !command[len]))
			n = len;
	}
	const char *main = n ? command : main_argument(a), *program = argument_next(a, NULL);
	main = main ? main : program ? program : "java";
	n = n ? n : strlen(main);
	size_t at = n;
	while (at && main[at - 1] != '/')
		at--;
	return escaped(main + at, n - at);
}

/* --- a Java VM ------------------------------------------------------------------------------------- */

/* "17.0.15" or "1.8.0_402" */
static unsigned release_of(const char *version)
{
	return (unsigned)strtoul(strncmp(version, "1.", 2) ? version : version + 2, NULL, 10) & 0xffff;
}

/* The version that the file "release" of a Java home has, the caller's; NULL: none. */
static char *home_version(int process, const char *home, size_t n)
{
	char path[600], *version = NULL;
	if (n >= 500)
		return NULL;
	snprintf(path, sizeof path, "%.*s/release", (int)n, home);
	int fd = proc_open_file(process, path + strspn(path, "/"), O_RDONLY);
	if (fd < 0)
		return NULL;
	char *text = xcalloc(RELEASE_MOST + 1, 1);
	ssize_t got = read(fd, text, RELEASE_MOST);
	char *at = got > 0 ? strstr(text, "JAVA_VERSION=\"") : NULL;
	if (at) {
		at += 14;
		version = xstrndup(at, strcspn(at, "\"\n"));
	}
	free(text);
	close(fd);
	return version;
}

/* What library of a VM the process has mapped: VM_NONE, or its kind; *version: of its Java home, the caller's. */
static enum vm_kind mapped_vm(int process, char **version)
{
	size_t n;
	enum vm_kind kind = VM_NONE;
	char *maps = proc_file(process, "maps", MAPS_MOST, &n);
	char *j9 = maps ? strstr(maps, "/libj9vm") : NULL, *at = j9 ? j9 : maps ? strstr(maps, "/libjvm.so") : NULL;

	*version = NULL;
	if (at) {
		kind = j9 ? VM_OPENJ9 : VM_HOTSPOT;
		*at = '\0';
		char *line = strrchr(maps, '\n'), *path = strchr(line ? line : maps, '/');
		char *lib = path ? strstr(path, "/lib/") : NULL;
		for (char *next; lib && (next = strstr(lib + 1, "/lib/")) != NULL;)
			lib = next; /* of the last */
		size_t home = lib ? (size_t)(lib - path) : 0;
		if (home)
			*version = home_version(process, path, home);
		if (!*version && home > 4 && !memcmp(lib - 4, "/jre", 4))
			*version = home_version(process, path, home - 4);
	}
	free(maps);
	return kind;
}

static void set_version(struct vm_process *to, const char *maker, const char *version)
{
	char *shown;
	if (!version)
		return;
	to->release = to->release ? to->release : release_of(version);
	shown = escaped(version, strlen(version));
	free(to->version);
	to->version = xmalloc(strlen(maker) + strlen(shown) + 2);
	snprintf(to->version, strlen(maker) + strlen(shown) + 2, "%s %s", maker, shown);
	free(shown);
}

static bool take_hotspot(int process, const struct proc *from, const struct arguments *a, struct vm_process *to)
{
	struct hsperf h;
	/* programs that GraalVM made ahead of time publish counters, too, but have no VM */
	bool is = hsperf_read(process, from, &h) && !(h.vm_name && !strncmp(h.vm_name, "Substrate", 9));
	if (is) {
		to->kind = VM_HOTSPOT;
		to->counters = h.counters;
		to->release = h.release;
		set_version(to, h.vm_name && strstr(h.vm_name, "HotSpot(TM)") ? "Oracle JDK" : "OpenJDK", h.version);
		to->name = java_name(a, h.command);
	}
	hsperf_release(&h);
	return is;
}

static bool take_openj9(int process, const struct proc *from, const struct arguments *a, struct vm_process *to)
{
	struct openj9_info info;
	bool is = openj9_info_read(process, from, &info);
	if (is) {
		char *version;
		(void)mapped_vm(process, &version);
		to->kind = VM_OPENJ9;
		set_version(to, "OpenJ9", version);
		to->name = java_name(a, info.command);
		free(version);
	}
	openj9_info_release(&info);
	return is;
}

/* One that publishes nothing. */
static bool take_silent_vm(int process, const struct arguments *a, struct vm_process *to)
{
	char *version = NULL;
	const char *program = argument_next(a, NULL);
	to->kind = mapped_vm(process, &version);
	if (!to->readable && program && !strcmp(after_slash(program), "java"))
		to->kind = VM_HOTSPOT;
	if (to->kind != VM_NONE) {
		set_version(to, to->kind == VM_OPENJ9 ? "OpenJ9" : "OpenJDK", version);
		to->name = java_name(a, NULL);
	}
	free(version);
	return to->kind != VM_NONE;
}

/* --- all ------------------------------------------------------------------------------------------- */

static bool take_go(int process, const struct arguments *a, struct vm_process *to)
{
	struct go_program g = { NULL, NULL };
	int exe = openat(process, "exe", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool is = exe >= 0 && go_binary_read(exe, &g);
	const char *program = argument_next(a, NULL);
	if (is) {
		const char *name = g.package && strcmp(g.package, "command-line-arguments") ? g.package :
		    program ? after_slash(program) : "";
		to->kind = VM_GO;
		to->name = escaped(name, strlen(name));
		if (g.version) {
			free(to->version);
			to->version = escaped(g.version, strlen(g.version));
		}
	}
	go_binary_release(&g);
	if (exe >= 0)
		close(exe);
	return is;
}

/* Its name as the kernel has it, without the newline. */
static char *kernel_name(int process)
{
	size_t n;
	char *comm = proc_file(process, "comm", 64, &n), *name;
	name = comm ? escaped(comm, strcspn(comm, "\n")) : xstrdup("?");
	free(comm);
	return name;
}

/* The id of the innermost container: of its control group's path the last part of 64 hexadecimal digits. */
static char *container_of(int process)
{
	size_t n;
	char *groups = proc_file(process, "cgroup", CGROUP_MOST, &n), *found = NULL;
	for (char *at = groups; at && *at;) {
		size_t digits = strspn(at, "0123456789abcdef");
		if (digits == CONTAINER_ID)
			found = at;
		at += digits ? digits : 1;
		if (*at == '\n' && found)
			break;
	}
	char *id = xstrndup(found ? found : "", CONTAINER_SHOWN);
	free(groups);
	return id;
}

bool vm_may_be(int process, const struct proc *p)
{
	size_t n;
	if (p->catches_quit)
		return true;
	char *program = proc_file(process, "cmdline", 4096, &n);
	bool is = program && !strcmp(after_slash(program), "java");
	free(program);
	return is;
}

void vm_recognize(int process, const struct proc *from, struct vm_process *to)
{
	char user[64];
	struct arguments a = arguments_read(process);
	int root = proc_open_file(process, ".", O_RDONLY | O_DIRECTORY);

	to->readable = root >= 0;
	if (root >= 0)
		close(root);
	to->uptime = proc_uptime(from->started);
	proc_user(user, sizeof user, from->uid);
	if (!*user)
		snprintf(user, sizeof user, "%lu", (unsigned long)from->uid);
	to->user = xstrdup(user);
	to->command = command_line(&a);
	to->container = container_of(process);
	to->version = xstrdup("");
	if (!take_go(process, &a, to) && !take_hotspot(process, from, &a, to) && !take_openj9(process, from, &a, to))
		(void)take_silent_vm(process, &a, to);
	if (!to->name)
		to->name = kernel_name(process);
	free(a.bytes);
}
