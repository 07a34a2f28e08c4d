/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_index.c - index: what was found of the dump at hand, in a file from which it opens at once. */
#include "command/commands.h"

#include "base/mem.h"
#include "base/squeeze.h"
#include "command/run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int write_map(void *names, FILE *to, const char *path, struct err *err)
{
	(void)path;
	return nameless_write_map(names, to, err);
}

/* The map gets its name before the index does: without it nobody would know what that is about. */
static int write_nameless(struct index_writing *w, struct chunks_writer *chunks, struct err *err)
{
	struct nameless *names = w->wish->map ? NULL : nameless_keeping(session_heap(w->s));
	int code = names ? 0 : nameless_make(&names, session_heap(w->s), err);
	if (code)
		return code;
	code = session_write_chunks(w->s, names, chunks, err);
	if (!code)
		code = chunks_end(chunks, err);
	if (!code && w->wish->map)
		code = session_write_whole(w->s, &(struct new_file){.path = w->wish->map, .secret = true}, write_map, names,
		    err);
	nameless_free(names);
	return code;
}

int index_write(void *writing, FILE *to, const char *path, struct err *err)
{
	struct index_writing *w = writing;
	struct chunks_writer *chunks = &w->chunks;
	if (!path) /* somebody may have mapped what would be written over */
		return err_set(err, ERR_IO, "an index is written beside what it replaces, and no file can be made there");
	int code = chunks_begin(chunks, to, w->wish->packed, err);
	if (!code && (w->wish->map || w->wish->stranger)) {
		code = write_nameless(w, chunks, err);
	} else if (!code) {
		code = session_write_chunks(w->s, NULL, chunks, err);
		if (!code)
			code = chunks_end(chunks, err);
	}
	return code;
}

/* Is it the file that the heap came from? */
static bool is_own(const struct heap *h, const char *path)
{
	struct stat a, b;
	return h->saved && stat(h->index_path, &a) == 0 && stat(path, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int index_begin(struct index_writing *w, struct session *s, const struct index_wish *wish, struct err *err)
{
	const struct retained *found;
	*w = (struct index_writing){.s = s, .wish = wish};
	int code = saved_may(session_heap(s), err);
	if (!code && wish->packed)
		code = squeeze_may(err);
	if (!code)
		code = session_retained(s, &found, err);
	w->without_retained = code == ERR_NOMEM || !model_is_default(&s->dump->model);
	return code == ERR_NOMEM ? 0 : code;
}

int index_write_whole(struct index_writing *w, struct session *s, const struct new_file *file,
    const struct index_wish *wish, struct err *err)
{
	int code = index_begin(w, s, wish, err);
	if (code)
		return code;
	bool own = is_own(session_heap(s), file->path); /* what is mapped is not written to: the new one takes its name */
	if (own)
		saved_renewing(session_heap(s), true);
	code = session_write_whole(s, file, index_write, w, err);
	if (own)
		saved_renewing(session_heap(s), false);
	return code;
}

/* --- the command ---------------------------------------------------------------------------------- */

static const struct column part_columns[] = {{.id = COL_PART}, {.id = COL_BYTES}};
static const struct shape part_shape = {SHAPE_COLUMNS(part_columns)};

/* w: what was written; NULL: nothing, for the dump was opened from it. */
static struct result *parts_of(const struct session *s, const struct index_writing *w)
{
	const struct chunks *c = w ? NULL : saved_chunks(session_heap(s));
	struct result *r = result_new_rows("index", s->dump, &part_shape);
	const char *name;
	for (uint32_t i = 0; w && i < w->chunks.n; i++)
		result_add_row(r, (struct cell[]){cell_text(w->chunks.entry[i].name),
		    cell_bytes(amount_exact(w->chunks.entry[i].bytes))}, NULL);
	for (uint32_t i = 0; c && (name = chunks_name(c, i)); i++)
		result_add_row(r, (struct cell[]){cell_text(name), cell_bytes(amount_exact(chunks_bytes(c, name)))}, NULL);
	return r;
}

/* A table for programs, and for who types the sentence alone. */
static struct result *tell(struct session *s, const struct index_writing *w, const char *path)
{
	struct text t = TEXT_INIT;
	struct result *r = s->typed ? NULL : parts_of(s, w);
	if (w) {
		text_addf(&t, "%s has the index of this dump now, ", path);
		text_add_bytes(&t, w->chunks.at);
		text_add(&t, w->without_retained ? ", without retained sizes" : "");
	} else {
		text_addf(&t, "%s is the index that this dump was opened from", path);
	}
	if (r)
		result_add_note(r, t.s);
	else
		session_say(s, "%s", t.s);
	text_release(&t);
	return r;
}

static int run_index(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	char *beside = saved_beside(h->source->path);
	const char *path = call->argument[0].given ? call->argument[0].word : beside;
	int map = call_option(call, DASH_NO_NAMES);
	struct index_wish wish = {.packed = call_has(call, DASH_PACKED),
	    .map = call->option[map].given ? call->option[map].word : NULL};
	struct new_file file = {.path = path, .own_name = !call->argument[0].given, .ours = saved_is_index};
	struct index_writing w;
	bool there = false;
	*out = NULL;
	int code = 0;
	if (wish.map && !call->argument[0].given)
		code = err_set(err, ERR_USAGE, "an index without names is not the dump's own: name a file for it, too (index "
		    "-no-names MAP FILE)");
	else if (wish.map && !strcmp(wish.map, path))
		code = err_set(err, ERR_USAGE, "%s cannot be both the index and the map of its names: name two files", path);
	else if (!path)
		code = err_set(err, ERR_USAGE, "%.200s has no place of its own that an index could lie in: name a file (index "
		    "FILE), which cairn FILE opens, without values and texts", h->source->path);
	else if (!wish.map && is_own(h, path) && !h->index_refused && chunks_packed(saved_chunks(h)) == wish.packed)
		there = true;
	else
		code = index_write_whole(&w, s, &file, &wish, err);
	if (!code)
		*out = tell(s, there ? NULL : &w, path);
	if (code == ERR_IO && !call->argument[0].given)
		err_set(err, ERR_IO, "%s; index FILE writes it elsewhere, for instance to $XDG_CACHE_HOME/cairn, where it is "
		    "found too", err->message);
	if (code == ERR_UNSUPPORTED) /* no index is written, and nothing was looked for */
		code = err->code = ERR_IO;
	free(beside);
	return code;
}

static const struct option_spec index_options[] = {
    {DASH_NO_NAMES, OPT_WORDS, "MAP", "numbers for names, which MAP has and which stays home"},
    {DASH_PACKED, OPT_FLAG, NULL, "small, to be carried away: it opens more slowly"},
    {DASH_NONE},
};

const struct command cmd_index = {
    .name = "index",
    .arguments = {{ARG_FILE, "FILE", true}},
    .options = index_options,
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED,
    .group = "session",
    .summary = "write a file from which this dump opens at once",
    .shapes = SHAPES(&part_shape),
    .description = "The file has objects, classes, sizes, references, roots, threads, names and retained sizes, and "
	"takes about 40 bytes an object: a quarter of a dump, or all of one with little in its objects. It is mapped, not "
	"read, so cairn DUMP has its answers in a fraction of a second where DUMP.cairn lies beside it (which is where "
	"index writes without FILE) or in $XDG_CACHE_HOME/cairn (that is ~/.cache/cairn; a folder that you make); nothing "
	"is ever written there without being asked. An index is bound to its dump by size, time of change and a sample of "
	"bytes (a copy is the same dump if it has the time, too: cp -p), and to the options that matter; one that does not "
	"fit, or is damaged, is left out, and which of these it is is said; so is one that another user "
	"can change. --no-index leaves all out, and --index FILE names one, also another user's. "
	"With -packed the file is a fraction of that, to be carried away: it "
	"is unpacked in memory when it is opened, references when they are first asked for. Both have the path of the dump "
	"and what a javacore tells; take -o DIR writes a packed one without these, which may leave the host. "
	"Values and texts stay in the dump: cairn FILE.cairn opens the index without it: then these are ?. "
	"So does that of a dump that came through a pipe, beside which nothing lies: FILE has to be named. "
	"With -no-names MAP numbers stand for the names of threads, of frames, of classes outside of the class library "
	"and their fields, and neither path nor properties of the dump are in it; MAP gets a line for each, class #17, "
	"a tab and the name; doc/index-format.md has a line of awk that puts the names back into an answer. "
	"The index of a Go dump is one of its program, too. A file that exists is replaced as by save.",
    .examples = {{NULL}},
    .key = "",
    .run = run_index,
};
