/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_bundle.c - bundle: the small files that may leave the host.
 *
 * A file is written as its own command writes it (exec/exec.h, report/report.h), redacted by how it is made: none of
 * the writers writes a value.  tests/truth/bundle.py searches the files for the dump's texts.
 */
#include "command/commands.h"

#include "algorithms/zstd_block.h"
#include "analysis/describe/describe.h"
#include "base/files.h"
#include "base/suffixes.h"
#include "command/exec/exec.h"
#include "command/report/report.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"
#include "query/profile_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct taking {
	struct session *s;
	const char *folder;  /* NULL: only list */
	struct text stem;    /* what names of files begin with */
	struct result *r;
	unsigned written;
	int failed;          /* the code of the first that should have been written and was not */
	struct err why;
};

/* --- the files ---------------------------------------------------------------------------------- */

/* What is being written, by the functions of its own command. */
union away {
	struct index_writing index;
	struct profile_writing profile;
	struct report report;
	struct copy_writing copy;
};

struct away_kind {
	const char *ending, *holds, *leaves_out;
	/* ERR_UNSUPPORTED where the dump has none, at once; and what it takes to begin, write and end (in any case). */
	int (*may)(const struct session *s, struct err *err);
	int (*begin)(void *writing, struct session *s, struct err *err);
	file_writer *write;
	void (*end)(void *writing);
	bool (*ours)(const char *path); /* is the file of this name one of the kind? */
};

static int may_index(const struct session *s, struct err *err)
{
	int code = index_file_may(session_heap(s), err);
	return code ? code : zstd_block_may(err);
}

static int begin_index(void *index, struct session *s, struct err *err)
{
	static const struct index_wish wish = {.packed = true, .stranger = true};
	return index_begin(index, s, &wish, err);
}

static int may_profile(const struct session *s, struct err *err)
{
	(void)s;
	return profile_may(err);
}

static int begin_profile(void *writing, struct session *s, struct err *err)
{
	struct profile_writing *w = writing;
	int code = profile_begin(w, s, true, err);
	return code ? code : profile_leave_out(&w->profile, err);
}

static int may_report(const struct session *s, struct err *err)
{
	return session_find(s, FIND_REFERENCES, err);
}

/* What it asks, and what its tables are made of while they are written, must name no keys. */
static int begin_report(void *report, struct session *s, struct err *err)
{
	bool before = inspect_hide_keys(true);
	int code = report_make(report, s, &(struct report_wish){.redact = true}, err);
	(void)inspect_hide_keys(before);
	return code;
}

static int write_report(void *report, FILE *to, const char *path, struct err *err)
{
	bool before = inspect_hide_keys(true);
	int code = report_write(report, PRINT_HTML, to, err);
	(void)path;
	(void)inspect_hide_keys(before);
	return code;
}

static int begin_copy(void *copy, struct session *s, struct err *err)
{
	return copy_begin(copy, s, true, err);
}

static const struct away_kind kinds[] = {
    {INDEX_FILE_ENDING, "objects, classes, references, roots, sizes, threads, stacks; names",
	"values, texts, the dump's path, data of a javacore", may_index, begin_index, index_write, NULL,
	index_file_is_index},
    {".profile.gz", "data for comparisons: sums by class, loader, thread, field, path",
	"objects, references, values, texts, names of class loaders", may_profile, begin_profile,
	profile_into, profile_end, profile_is_file},
    {".html", "the report: suspects, holders, waste, threads, locks",
	"values, texts, messages, names of files, properties", may_report, begin_report, write_report,
	report_release, report_is_page},
    {"-redacted.hprof.gz", "the dump for other tools: " COPY_HOLDS, COPY_LEAVES_OUT, copy_may, begin_copy,
	copy_write, copy_end, copy_is_dump},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- names -------------------------------------------------------------------------------------- */

/* The name of the dump's file without what packs it and without its format's ending. */
static void add_stem(struct text *to, const struct heap *h)
{
	static const char *const formats[] = {".hprof", ".phd", ".txt", ".dump", INDEX_FILE_ENDING, NULL};
	const char *path = h->source && h->source->path ? h->source->path : "dump", *member = file_member(path);
	while (member && (member = strstr(path = member + 2, "::")) != NULL)
		;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *place = index_file_beside(path); /* a pipe, or a number of a descriptor, is no name to remember it by */
	size_t from = to->len;
	text_add(to, !place || !*name ? "dump" : name);
	free(place);
	for (size_t i = from; i < to->len; i++) /* an archive decides what stands in a name */
		if ((unsigned char)to->s[i] < ' ' || to->s[i] == 0x7F)
			to->s[i] = '_';
	size_t n = to->len - from, ending;
	while ((ending = suffix_of_packed(to->s + from, n)) || (ending = suffix_of_archive(to->s + from, n)))
		n -= ending;
	n -= suffix_of(to->s + from, n, formats);
	to->s[to->len = from + n] = '\0';
	if (h->facts.n_heaps > 1)
		text_addf(to, "-heap%u", h->facts.heap_number);
}

/* --- one file ----------------------------------------------------------------------------------- */

static void add_row(struct taking *t, const struct away_kind *kind, const char *name, uint64_t bytes, const char *why)
{
	struct text out = TEXT_INIT;
	if (why) {
		text_add(&out, "not written: ");
		text_add_escaped(&out, why, strlen(why));
	}
	files_table_add(t->r, name, bytes, why ? NULL : kind->holds, why ? out.s : kind->leaves_out);
	text_release(&out);
}

static int write_one(struct taking *t, const struct away_kind *kind, const char *name, uint64_t *bytes, struct err *err)
{
	union away writing;
	int code = kind->begin(&writing, t->s, err);
	if (!code)
		code = session_write_in(t->s, t->folder, &(struct new_file){.path = name, .ours = kind->ours, .bytes = bytes},
		    kind->write, &writing, err);
	if (kind->end)
		kind->end(&writing);
	return code;
}

/* ERR_CANCELLED: the user stopped all of it.  What one of the files lacks does not stop the others. */
static int bundle_one(struct taking *t, const struct away_kind *kind, struct err *err)
{
	struct text name = TEXT_INIT;
	struct err own = ERR_INIT;
	uint64_t bytes = 0;
	text_addf(&name, "%s%s", t->stem.s, kind->ending);
	int code = kind->may(t->s, &own);
	bool has_none = code != 0;
	if (!code && t->folder)
		code = write_one(t, kind, name.s, &bytes, &own);
	bool stopped = code == ERR_CANCELLED && progress_cancelled(session_progress(t->s));
	if (!code && t->folder) {
		struct text path = TEXT_INIT;
		text_addf(&path, "%s/%s", t->folder, name.s);
		t->written++;
		add_row(t, kind, path.s, bytes, NULL);
		text_release(&path);
	} else if (!stopped) {
		add_row(t, kind, name.s, 0, code ? own.message : NULL);
	}
	if (code && !has_none && !t->failed) {
		t->failed = code;
		t->why = own;
	}
	text_release(&name);
	return stopped ? err_cancelled(err) : 0;
}

/* --- the command -------------------------------------------------------------------------------- */

/* All of them or none: files of two dumps, or of two days, would stand side by side.  *agreed: to all of it, once. */
static int may_replace(const struct taking *t, bool *agreed, struct err *err)
{
	const struct writing *rules = &t->s->settings.writes;
	struct text path = TEXT_INIT;
	struct stat st;
	size_t there = 0;
	int code = 0;
	for (size_t i = 0; i < KINDS && !code; i++) {
		struct err has_none = ERR_INIT;
		text_clear(&path);
		text_addf(&path, "%s/%s%s", t->folder, t->stem.s, kinds[i].ending);
		if (kinds[i].may(t->s, &has_none) || lstat(path.s, &st))
			continue;
		there++;
		if (rules->ask)
			code = file_may_have_name(path.s, kinds[i].ours, err);
		else
			code = session_may_replace(t->s, &(struct new_file){.path = path.s, .own_name = true,
			    .ours = kinds[i].ours}, err);
	}
	text_release(&path);
	return code ? code : session_may_replace_all(t->s, t->folder, there, agreed, err);
}

static int bundle_all(struct taking *t, struct err *err)
{
	bool agreed = false, before = t->s->settings.writes.force;
	int code = t->folder ? may_replace(t, &agreed, err) : 0;
	t->s->settings.writes.force |= agreed;
	for (size_t i = 0; i < KINDS && !code; i++)
		code = bundle_one(t, &kinds[i], err);
	t->s->settings.writes.force = before;
	if (!code && t->failed && !t->written) { /* no folder, no room: of that there is no table */
		*err = t->why;
		return t->failed;
	}
	return code;
}

static int run_bundle(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct taking t = {.s = s, .folder = call_word(call, DASH_O)};
	if (values_away(h))
		return err_set(err, ERR_UNSUPPORTED, "only the index of the dump is open, and the redacted copy needs the "
		    "dump");
	if (t.folder && !*t.folder)
		return err_set(err, ERR_USAGE, "-o: a directory is missing");
	add_stem(&t.stem, h);
	t.r = *out = files_table(s, "bundle");
	int code = bundle_all(&t, err);
	t.r->note = t.folder ? NULL : "bundle -o DIR writes these files";
	result_mark(t.r, RESULT_FAILED, t.failed != 0);
	text_release(&t.stem);
	return code;
}

const struct command cmd_bundle = {
    .name = "bundle",
    .options = OPTIONS({DASH_O, OPT_WORDS, "DIR", "write them to this directory; it is created if missing"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_OF_SESSION,
    .group = "session",
    .summary = "list or write small files that may leave the host",
    .shapes = SHAPES(&files_shape),
    .description = "Lists four files with their contents, or why one cannot be written: a packed index (index "
	"-packed), a profile, a redacted HTML report (report -redact) and a redacted HPROF copy (redact). -o DIR "
	"writes them. They have names of classes, fields and threads, but no texts and values of the dump, not its "
	"path and no data of a javacore. Existing files are replaced as by save, all or none.",
    .examples = {{"bundle", ON_ANY, "the files and their contents, without writing them"},
	{"bundle -o ticket", ON_ANY, "write them to the directory ticket"}},
    .run = run_bundle,
};
