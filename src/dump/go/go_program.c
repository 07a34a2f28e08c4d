/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_program.c - the executable that wrote a Go dump: found, checked, and asked for names.
 */
#include "dump/go/go_dump.h"

#include "base/files.h"
#include "base/mem.h"
#include "base/suffixes.h"
#include "base/text.h"
#include "dump/program/program.h"
#include "dump/source/source.h"
#include "memory/arena.h"
#include "memory/big.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct program_section segment(const struct go *g, enum go_tag tag)
{
	size_t run = 0;
	uint64_t at = 0;
	struct go_record r;

	if (!go_next(g, tag, &run, &at, &r))
		return (struct program_section){0, 0};
	return (struct program_section){r.u[SEGMENT_ADDRESS], r.s[0].n};
}

/* "main.f[...]" and "main.f[go.shape.int]" are one function. */
static bool same_function(const struct go_bytes *name, const char *own)
{
	size_t i = 0;

	while (i < name->n && own[i] && name->p[i] == (uint8_t)own[i] && own[i] != '[')
		i++;
	return (i == name->n || name->p[i] == '[') && (!own[i] || own[i] == '[');
}

/* Frames tell functions and where they begin: do they begin there in the program?  Another build may
 * have as many bytes of data as the one that ran. */
static int check_functions(const struct go *g, const struct program *p, struct err *err)
{
	enum { ENOUGH = 1000 };
	unsigned n = 0, n_wrong = 0;
	size_t run = 0;
	uint64_t at = 0;

	for (struct go_record r; n < ENOUGH && go_next(g, GO_FRAME, &run, &at, &r);) {
		uint32_t number;
		uint64_t entry = r.u[FRAME_ENTRY];
		const char *own = entry ? program_function_at(p, entry, &number) : NULL;
		if (!own)
			continue;
		n++;
		if (program_function_entry(p, number) != entry || !same_function(&r.s[1], own))
			n_wrong++;
	}
	if (n_wrong > n / 4)
		return err_set(err, ERR_NOT_FOUND, "it is another build: %u of %u functions in the dump's "
		    "frames begin elsewhere in it", n_wrong, n);
	return 0;
}

/* By what a heap dump tells of the program. */
static int check(const struct go *g, struct program *p, struct err *err)
{
	struct text arch = TEXT_INIT;

	text_add_escaped(&arch, (const char *)g->arch.p, g->arch.n < 32 ? (size_t)g->arch.n : 32);
	struct program_match match = {
	    .arch = arch.s ? arch.s : "",
	    .word = g->word,
	    .big_endian = g->big_endian,
	    .data = segment(g, GO_DATA),
	    .bss = segment(g, GO_BSS),
	};
	int code = program_check(p, &match, err);
	if (!code)
		code = check_functions(g, p, err);
	text_release(&arch);
	return code;
}

static int open_checked(struct go *g, const char *path, struct err *err)
{
	struct program *p;
	int code = program_open(&p, path, err);

	if (code)
		return code;
	code = g->elsewhere ? g->elsewhere->check(g, p, err) : check(g, p, err);
	if (code == ERR_NOMEM) {
		program_close(p);
	} else if (code) {
		struct text name = TEXT_INIT;
		text_add_escaped(&name, path, strlen(path));
		err_context(err, g->elsewhere ? "%s is not the program of this core" :
		    "%s did not write this dump and is ignored", name.s ? name.s : "");
		text_release(&name);
		program_close(p);
	} else {
		g->program = p;
	}
	return code;
}

/* Is the file there?  false with 0 in *code: it is not; with ERR_IO: the system does not say. */
static bool is_there(const char *path, int *code, struct err *err)
{
	struct stat st;

	*code = 0;
	if (!stat(path, &st))
		return S_ISREG(st.st_mode);
	if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) {
		int error = errno;
		struct text name = TEXT_INIT;
		text_add_escaped(&name, path, strlen(path));
		*code = err_set(err, ERR_IO, "%s: %s", name.s, strerror(error));
		text_release(&name);
	}
	return false;
}

static void note(struct go *g, const char *format, const char *path, const char *what)
{
	struct text t = TEXT_INIT, name = TEXT_INIT;

	text_add_escaped(&name, path, strlen(path));
	text_addf(&t, format, name.s ? name.s : "", what);
	text_release(&name);
	free(g->program_note);
	g->program_note = text_take(&t);
	g->dump.program_note = g->program_note;
}

static void settle(struct go *g)
{
	const char *lacks = program_lacks(g->program), *path = program_path(g->program);

	g->dump.program = g->program;
	if (program_has_types(g->program))
		g->dump.types = program_types(g->program);
	note(g, lacks ? "%s: %s" : "%s", path, lacks ? lacks : "");
	go_state_limits(g);
	/* what was asked for, or is there, and cannot be had is worth a warning */
	g->dump.program_refused = lacks && (g->exe || program_unread(g->program));
}

/* One beside the dump that is of another dump may stand there; one that cannot be read is worth a warning. */
static void leave_out(struct go *g, int code, const struct err *err)
{
	if (code == ERR_IO)
		note(g, "%s%s", "the program next to the dump is ignored: ", err->message);
	else
		note(g, "%s%s", "", err->message);
	g->dump.program_refused = code == ERR_IO;
}

/* The length of a dump's name without what it ends in, or of a name in a series ("heap-20261121-3") without its last
 * number.  base: where the name begins.  0: there is no such part. */
static size_t shorter_name(const char *path, size_t n, size_t base, bool in_series)
{
	size_t end = n;
	while (in_series && end > base && path[end - 1] >= '0' && path[end - 1] <= '9')
		end--;
	if (in_series && end == n)
		return 0;
	if (!in_series)
		while (end > base && path[end - 1] != '.')
			end--;
	else if (end == base || !strchr("-_.", path[end - 1]))
		return end > base ? end : 0;
	return end > base + 1 ? end - 1 : 0;
}

int go_program_try(struct go *g, const char *path, struct err *err)
{
	int code;
	bool there = is_there(path, &code, err);

	if (there)
		code = open_checked(g, path, err);
	if (there && !code)
		settle(g);
	else if (code && code != ERR_NOMEM && !g->dump.program_note)
		leave_out(g, code, err);
	return code == ERR_NOMEM ? code : 0;
}

/* Is it the program?  n bytes of the path, with .elf behind them or without. */
static int look_at(struct go *g, const char *path, size_t n, struct err *err)
{
	static const char *const endings[] = {".elf", ""};
	int code = 0;
	for (size_t i = 0; i < sizeof endings / sizeof *endings && !g->program && !code; i++) {
		struct text t = TEXT_INIT;
		text_add_n(&t, path, n);
		text_add(&t, endings[i]);
		code = go_program_try(g, t.s, err);
		text_release(&t);
	}
	return code;
}

enum { SERIES_MOST = 3 }; /* numbers that tell the dumps of a series apart: a date, a time, a number */

static const char *no_label(const uint8_t *head, size_t n, const char *name, char created[static 32])
{
	(void)head, (void)n, (void)name, (void)created;
	return NULL;
}

/* Is a member called as these n bytes, or so and .elf? */
static bool has_member(const struct source_members *m, const char *name, size_t n)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strncmp(m->member[i].name, name, n) && (!m->member[i].name[n] || !strcmp(m->member[i].name + n, ".elf")))
			return true;
	return false;
}

/* The members of the archive that the dump is in, where it need not be unpacked for that; NULL: there are none. */
static struct source_members *members_of(const char *path, const char *member)
{
	uint8_t head[SOURCE_HEAD];
	struct source_members *m = NULL;
	char *file = xstrndup(path, (size_t)(member - path));
	int fd = strstr(member + 2, "::") ? -1 : source_peek(file);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
	if (n > 0 && source_is_archive(head, (size_t)n) && source_members(&m, file, no_label, NULL, NULL))
		m = NULL;
	if (fd >= 0)
		close(fd);
	free(file);
	return m;
}

/* A program that is in the archive is not read there, and that is said. */
static void look_into_archive(struct go *g)
{
	struct text path = TEXT_INIT;
	text_addf(&path, "%s%s", g->dump.source->path, source_inside(g->dump.source));
	const char *member = path.s ? file_member(path.s) : NULL;
	struct source_members *m = member ? members_of(path.s, member) : NULL;
	const char *slash = m ? strrchr(member, '/') : NULL;
	size_t at = m ? (size_t)(member + 2 - path.s) : 0, base = slash ? (size_t)(slash + 1 - path.s) : at, n = path.len;
	for (unsigned i = 0; m && i <= SERIES_MOST && n > base && !g->dump.program_note; i++) {
		n = shorter_name(path.s, n, base, i > 0);
		if (n > base && has_member(m, path.s + at, n - at)) {
			path.s[n] = '\0';
			note(g, "%s%s", path.s + at, ", its program by name, is in the archive and is not read "
			    "from there (unpack both, or name it with --exe)");
			g->dump.program_refused = true;
		}
	}
	source_members_free(m);
	text_release(&path);
}

/* The dump's name without what it ends in, and without the numbers that tell the dumps of a series apart. */
static int look_beside(struct go *g, struct err *err)
{
	const char *path = g->dump.source->path;
	const char *slash = strrchr(path, '/');
	size_t n = strlen(path), base = slash ? (size_t)(slash + 1 - path) : 0;
	int code = 0;

	n -= suffix_of_packed(path + base, n - base);
	for (unsigned i = 0; i <= SERIES_MOST && n && !g->program && code != ERR_NOMEM; i++) {
		n = shorter_name(path, n, base, i > 0);
		if (n)
			code = look_at(g, path, n, err);
	}
	if (code == ERR_NOMEM)
		return code;
	if (!g->program && !g->dump.program_note)
		look_into_archive(g);
	*err = (struct err)ERR_INIT; /* one that does not fit is no failure */
	return 0;
}

int go_program_find(struct go *g, struct err *err)
{
	if (!g->word || g->program)
		return 0;
	if (!g->exe)
		return g->alone ? 0 : look_beside(g, err);
	int code = open_checked(g, g->exe, err);
	if (code == ERR_IO || code == ERR_NOMEM)
		return code;
	if (!code) {
		settle(g);
	} else {
		note(g, "%s%s", "", err->message);
		g->dump.program_refused = true;
	}
	return 0;
}

unsigned go_release_of(const struct go *g)
{
	const char *vm = g->dump.facts.vm;
	return strncmp(vm, "go1.", 4) ? 0 : (unsigned)strtoul(vm + 4, NULL, 10);
}

static void heap_dump_limits(const struct go *g, struct text *t)
{
	bool names = g->program && program_has_symbols(g->program);
	bool types = g->program && program_has_types(g->program);

	text_add(t, "Go heap dumps hold ");
	if (!types)
		text_add(t, names ? "no types of objects, no names of local variables, " :
		    "no types of objects, no names of variables, ");
	text_add(t, "no registers and no memory outside of the heap except data, bss and stacks");
	if (types || names)
		text_addf(t, "; %s come from the program",
		    types ? "types and names of variables" : "names of global variables");
	text_add(t, "; they may omit pointers in structs and arrays on stacks; objects held only by these count "
	    "as unreachable, marked ~ if their address is in a frame");
}

void go_state_limits(struct go *g)
{
	struct text t = TEXT_INIT;

	if (g->elsewhere)
		g->elsewhere->limits(g, &t);
	else
		heap_dump_limits(g, &t);
	if (g->dump.facts.surplus)
		text_addf(&t, "; %s", g->dump.facts.surplus);
	free(g->cannot_tell);
	g->cannot_tell = text_take(&t);
	g->dump.facts.cannot_tell = g->cannot_tell;
}

void go_program_release(struct go *g)
{
	program_close(g->program);
	free(g->cannot_tell);
	free(g->program_note);
	types_release(&g->recorded);
}

/* --- types that the dump itself tells ------------------------------------------------------------- */

/*
 * Without a program there are the type records: names of what stands in interfaces.  A name that ends
 * in a point is of an unnamed pointer type; a value as wide as a pointer may be one (a named map or
 * function type): of both nothing is said.
 */
int go_recorded_types(struct go *g, struct err *err)
{
	struct types *t = &g->recorded;
	size_t run = 0;
	uint64_t at = 0;

	t->word = g->word;
	t->big_endian = g->big_endian;
	for (struct go_record r; go_next(g, GO_TYPE, &run, &at, &r) && t->n < 1u << 20;) {
		struct text name = TEXT_INIT;
		uint64_t n = r.s[0].n < 4096 ? r.s[0].n : 4096;
		if (!n || !r.u[TYPE_INDIRECT] || !r.u[TYPE_SIZE] || r.u[TYPE_SIZE] == g->word ||
		    r.s[0].p[n - 1] == '.')
			continue;
		text_add_escaped(&name, (const char *)r.s[0].p, (size_t)n);
		const char *kept = arena_try_strndup(&t->arena, name.s, name.len, err);
		struct type *to = kept ? BIG_PUSH(t->type, t->n, t->cap, err) : NULL;
		text_release(&name);
		if (!to)
			return ERR_NOMEM;
		*to = (struct type){
		    .name = kept,
		    .size = r.u[TYPE_SIZE],
		    .element = TYPE_NONE,
		    .key = TYPE_NONE,
		    .layout = TYPE_NONE,
		    .descriptor = r.u[TYPE_ADDRESS],
		};
	}
	return types_settle(t, err);
}
