/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * go_core.c - core files of Go programs, as dumps: see go_core.h.
 *
 * The program is needed: its DWARF tells where the runtime keeps things, and its file has the constants that cores
 * leave out.
 */
#include "dump/go/go_core.h"

#include "attach/go_binary.h"
#include "base/files.h"
#include "base/mem.h"
#include "dump/reader.h"
#include "dump/source/source.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct core *core_of(const struct go *g)
{
	return ((const struct go_core *)g)->core;
}

/* --- the program --------------------------------------------------------------------------------------- */

/* By how much the loader moved the program: the core knows where its first instruction is. */
static uint64_t bias_of(const struct core *c, const struct program *p)
{
	uint64_t entry;
	return core_auxiliary(c, AT_ENTRY, &entry) ? entry - program_entry(p) : 0;
}

/* What the runtime in the core says of the program's data must be so in the file. */
static int check(struct go *g, struct program *p, struct err *err)
{
	struct go_core *d = (struct go_core *)g;
	const struct core *c = d->core;
	struct program_match match;
	int code = 0;

	program_move(p, bias_of(c, p));
	if (program_has_types(p))
		code = !gocore_match(c, p, &match) ? err_set(err, ERR_NOT_FOUND, "it is no Go program") :
		    !match.data.size && !match.bss.size ? err_set(err, ERR_NOT_FOUND, "the core does not have the Go runtime "
		    "where this program has it") : program_check(p, &match, err);
	return code ? code : core_add_file(d->core, program_path(p), bias_of(c, p), err);
}

/* The file that was executed: the auxiliary vector points into it. */
static const char *executed(const struct core *c)
{
	uint64_t at = 0;
	size_t n;
	const struct core_mapping *m = core_mappings(c, &n);

	if (!core_auxiliary(c, AT_PHDR, &at))
		(void)core_auxiliary(c, AT_ENTRY, &at);
	for (size_t i = 0; i < n; i++)
		if (at >= m[i].begin && at < m[i].end)
			return m[i].path;
	return n ? m[0].path : NULL;
}

static void name_program(struct go *g, const char *path)
{
	struct text t = TEXT_INIT;

	text_add_escaped(&t, path, strlen(path));
	free(g->program_note);
	g->program_note = text_take(&t);
	g->dump.program_note = g->program_note;
}

/* Named; beside the core by the core's name or by its own; where it was. */
static int find_program(struct go *g, struct err *err)
{
	const char *path = executed(core_of(g)), *slash = path ? strrchr(path, '/') : NULL;
	const char *core = g->dump.source->path, *folder = strrchr(core, '/');
	struct text beside = TEXT_INIT;
	int code = go_program_find(g, err);

	if (!g->exe && !g->alone && slash && code == 0 && !g->program) {
		text_add_n(&beside, core, folder ? (size_t)(folder + 1 - core) : 0);
		text_add(&beside, slash + 1);
		code = go_program_try(g, beside.s, err);
		text_release(&beside);
	}
	const char *running = source_process_program(core);
	if (!g->exe && !g->alone && path && code == 0 && !g->program)
		code = go_program_try(g, running ? running : path, err);
	if (code == 0 && g->program && running && !strcmp(program_path(g->program), running))
		name_program(g, path); /* its descriptor says nothing to a person */
	if (code || g->program)
		return code;
	if (g->dump.program_note)
		return err_set(err, ERR_UNSUPPORTED, "a core file needs the program that wrote it; %s (name it with "
		    "--exe)", g->dump.program_note);
	return err_set(err, ERR_UNSUPPORTED, "a core file needs the program that wrote it, which is not at %s (name "
	    "it with --exe)", path ? path : "a place that the core names");
}

/* --- facts --------------------------------------------------------------------------------------------- */

static void limits(const struct go *g, struct text *t)
{
	const struct gocore *image = go_core_image(g);
	const struct gocore_state *s = image ? gocore_state(image) : NULL;

	text_add(t, "core files do not count allocations");
	if (s)
		text_addf(t, "; the collector was %s", s->collector);
	if (s && s->n_in_c)
		text_addf(t, "; %" PRIu64 " goroutine%s in C, and frames of C are missing", s->n_in_c,
		    s->n_in_c == 1 ? " was" : "s were");
	if (s && s->n_missing)
		text_addf(t, "; %" PRIu64 " byte%s of global variables %s not in this one and count%s as nil",
		    s->n_missing, s->n_missing == 1 ? "" : "s", s->n_missing == 1 ? "is" : "are",
		    s->n_missing == 1 ? "s" : "");
	if (s && s->n_unknown)
		text_addf(t, "; it does not say which words of %" PRIu64 " object%s are pointers, so %s",
		    s->n_unknown, s->n_unknown == 1 ? "" : "s",
		    s->n_unknown == 1 ? "it holds nothing" : "these hold nothing");
	text_add(t, "; types and names come from the program");
}

int go_core_tell_state(const struct go *g, struct sink *sink)
{
	const struct gocore_state *s = gocore_state(go_core_image(g));
	struct gocore_stat stats[GOCORE_STATS];
	enum stated_unit unit;
	const char *name;

	for (size_t i = 0, n = gocore_stats(go_core_image(g), stats); i < n; i++)
		for (unsigned place = 0; (name = go_memstats_name(place, &unit)); place++)
			if (!strcmp(name, stats[i].name))
				sink->stated(sink, name, unit, stats[i].value);
	if (!s->n_collections)
		return 0;
	sink->stated(sink, STATED_PAUSE_LAST, STATED_THINGS, s->pause_last);
	sink->stated(sink, STATED_PAUSE_LONGEST, STATED_THINGS, s->pause_longest);
	return 0;
}

int go_core_missing(const struct go *g, struct err *err)
{
	const struct gocore_state *s = gocore_state(go_core_image(g));
	int code = core_missing(core_of(g), err);

	if (code)
		return code;
	if (s->n_lost)
		return err_set(err, ERR_TRUNCATED, "%" PRIu64 " span%s of the heap %s missing or overwritten with "
		    "zeros; %s objects are unknown", s->n_lost, s->n_lost == 1 ? "" : "s",
		    s->n_lost == 1 ? "is" : "are", s->n_lost == 1 ? "its" : "their");
	return s->n_not_there ? err_set(err, ERR_TRUNCATED, "the core does not have the memory of %" PRIu64
	    " object%s", s->n_not_there, s->n_not_there == 1 ? "" : "s") : 0;
}

static const uint8_t *bytes(const struct go *g, uint64_t address, uint64_t *n)
{
	return core_bytes(core_of(g), address, n);
}

static const struct go_elsewhere elsewhere = {
	.pointers = go_core_pointers,
	.head = go_core_head,
	.bytes = bytes,
	.check = check,
	.limits = limits,
};

/* --- opening ------------------------------------------------------------------------------------------------ */

static int probe(const uint8_t *head, size_t n)
{
	return core_begins(head, n) ? 50 : 0;
}

/* Where only the beginning is known, cores of OpenJ9 count as these. */
static void created_of_file(const uint8_t *head, size_t n, const char *path, char *to, size_t room)
{
	(void)head, (void)n;
	dump_created_from_name(to, room, path);
}

static void close_dump(struct dump *dump)
{
	struct go_core *d = (struct go_core *)dump;

	gocore_close(d->image);
	go_end(&d->go);
	core_close(d->core);
	free(d);
}

static bool is_go(const char *path)
{
	struct go_binary b = { NULL, NULL };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && go_binary_read(fd, &b);

	go_binary_release(&b);
	if (fd >= 0)
		close(fd);
	return is;
}

static int read_image(struct go_core *d, struct err *err)
{
	struct go *g = &d->go;

	const char *path = program_path(g->program);
	if (!program_has_types(g->program) && !is_go(path))
		return err_set(err, ERR_UNSUPPORTED, "a core file of %s: no OpenJ9 VM, and not written in Go%s", path,
		    strstr(path, "java") ? " (jdmpview or jmap makes a heap dump of it)" : "");
	if (!program_has_types(g->program))
		return err_set(err, ERR_UNSUPPORTED, "the Go heap in a core is found by the DWARF of its program; %s (build it "
		    "without -ldflags=-w, or put its debug file next to it)", g->dump.program_note);
	int code = gocore_open(&d->image, d->core, g->dump.source, g->program, err);
	if (code)
		return code;
	g->records.p = gocore_records(d->image, &g->records.n);
	go_state_facts(g);
	dump_write_created(g->dump.facts.created, sizeof g->dump.facts.created, core_created(d->core));
	return 0;
}

static int open_dump(struct dump **out, const struct source *source, const struct dump_options *options,
    struct err *err)
{
	struct go_core *d = xcalloc(1, sizeof *d);
	struct go *g = &d->go;

	go_begin(g, &go_core_reader, source, options);
	g->elsewhere = &elsewhere;
	g->version = 7;
	int code = core_open(&d->core, source, err);
	if (code == 0) {
		g->word = core_word(d->core);
		g->big_endian = core_big_endian(d->core);
		code = find_program(g, err);
	}
	if (code == 0)
		code = read_image(d, err);
	if (code)
		close_dump(&g->dump);
	else
		*out = &g->dump;
	return code;
}

const struct reader go_core_reader = {
	.name = "gocore",
	.title = "a core file of a Go program",
	.label = "core file",
	.probe = probe,
	.created = created_of_file,
	.open = open_dump,
	.close = close_dump,
	.parts = go_core_parts,
	.read = go_core_read,
	.prepare = go_prepare,
	.locate = go_core_locate,
	.symbol = go_symbol,
	.sites = go_sites,
	.keep = go_keep,
	.memory = &go_memory_reader,
};
