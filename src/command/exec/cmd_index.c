/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_index.c - index: what was found of the current dump, in a file from which it opens at once. */
#include "command/commands.h"

#include "algorithms/chunks.h"
#include "algorithms/zstd_block.h"
#include "base/mem.h"
#include "command/exec/exec.h"
#include "dump/source/source.h"
#include "heap/heap.h"
#include "heap/index_file/index_file.h"

#include <errno.h>
#include <stddef.h>
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
	code = opened_write(w->s->dump, session_progress(w->s), names, chunks, err);
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
		return err_set(err, ERR_IO, "cannot create a temporary file in the index's directory");
	int code = chunks_begin(chunks, to, w->wish->packed, err);
	if (!code && (w->wish->map || w->wish->stranger))
		return write_nameless(w, chunks, err);
	if (!code)
		code = opened_write(w->s->dump, session_progress(w->s), NULL, chunks, err);
	return code ? code : chunks_end(chunks, err);
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
	*w = (struct index_writing){.s = s, .wish = wish};
	int code = index_file_may(session_heap(s), err);
	if (!code && wish->packed)
		code = zstd_block_may(err);
	if (!code)
		code = session_find(s, FIND_REFERRERS, err);
	if (code)
		return code;
	code = session_find(s, FIND_RETAINED, err);
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
		index_file_renewing(session_heap(s), true);
	code = session_write_whole(s, file, index_write, w, err);
	if (own)
		index_file_renewing(session_heap(s), false);
	return code;
}

/* --- the command ---------------------------------------------------------------------------------- */

static const struct column part_columns[] = {{.id = COL_PART}, {.id = COL_BYTES}};
static const struct shape part_shape = {SHAPE_COLUMNS(part_columns)};

/* w: what was written; NULL: nothing, for the dump was opened from it. */
static struct result *parts_of(const struct session *s, const struct index_writing *w)
{
	const struct chunks *c = w ? NULL : index_file_chunks(session_heap(s));
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
		text_addf(&t, "wrote the index of this dump to %s, ", path);
		text_add_bytes(&t, w->chunks.at);
		text_add(&t, w->without_retained ? ", without retained sizes" : "");
	} else {
		text_addf(&t, "this dump was opened from the index %s", path);
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
	char *beside = index_file_beside(h->source->path);
	const char *path = call->argument[0].given ? call->argument[0].word : beside;
	struct index_wish wish = {.packed = call_has(call, DASH_PACKED), .map = call_word(call, DASH_NO_NAMES)};
	struct new_file file = {.path = path, .own_name = !call->argument[0].given, .ours = index_file_is_index};
	struct index_writing w;
	bool there = false;
	int code = 0;
	if (wish.map && !call->argument[0].given)
		code = err_set(err, ERR_USAGE, "an index without names needs its own file name (index -no-names MAP "
		    "FILE)");
	else if (wish.map && !strcmp(wish.map, path))
		code = err_set(err, ERR_USAGE, "%s cannot be both the index and the map of names (name two files)", path);
	else if (!path)
		code = err_set(err, ERR_USAGE, "no default index file for %.200s (name one: index FILE; cairn FILE "
		    "opens it without values and texts)", h->source->path);
	else if (!wish.map && is_own(h, path) && !h->index_refused && chunks_packed(index_file_chunks(h)) == wish.packed)
		there = true;
	else
		code = index_write_whole(&w, s, &file, &wish, err);
	if (!code)
		*out = tell(s, there ? NULL : &w, path);
	if (code == ERR_IO && !call->argument[0].given)
		err_set(err, ERR_IO, "%s (index FILE writes it elsewhere, for instance to $XDG_CACHE_HOME/cairn, "
		    "where cairn finds it too)", err->message);
	if (code == ERR_UNSUPPORTED) /* no index is written, and nothing was looked for */
		code = err->code = ERR_IO;
	free(beside);
	return code;
}

const struct command cmd_index = {
    .name = "index",
    .arguments = {{ARG_FILE, "FILE", true}},
    .options = OPTIONS({DASH_NO_NAMES, OPT_WORDS, "MAP", "replace names by numbers; MAP lists both"},
	{DASH_PACKED, OPT_FLAG, NULL, "a small file for transport, slower to open"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_OF_SESSION,
    .group = "session",
    .summary = "write a file that opens this dump at once",
    .shapes = SHAPES(&part_shape),
    .description = "The index has objects, classes, sizes, references, roots, threads, names and retained sizes in "
	"about 40 bytes an object; cairn maps it. Without FILE it is DUMP.cairn; cairn also finds it in "
	"$XDG_CACHE_HOME/cairn (~/.cache/cairn, if you create it). cairn writes no index without a request.\n"
	"cairn warns and ignores an index if it is damaged, writable by other users, or of another dump (size, time "
	"or bytes differ). --no-index ignores all; --index FILE also accepts another user's.\n"
	"cairn FILE.cairn opens the index without its dump: values and texts are then ?. An existing file is replaced "
	"as by save.\n"
	"-no-names MAP replaces the names of threads, frames, and the program's classes and fields; MAP has a line "
	"for each: class #17, a tab and the name.",
    .examples = {{"index heap.cairn", ON_ANY, "the next start opens the dump at once (--index heap.cairn)"},
	{"index -packed small.cairn", ON_ANY, "a small file to take off the host"},
	{"index -no-names names.txt nameless.cairn", ON_ANY, "an index without the names of the program"}},
    .run = run_index,
};
