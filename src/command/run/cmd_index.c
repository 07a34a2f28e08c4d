/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_index.c - index: what was found of the dump at hand, in a file from which it opens at once. */
#include "command/commands.h"

#include "base/mem.h"
#include "base/squeeze.h"
#include "command/run/run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct writing_index {
	struct session *s;
	bool packed;
	uint64_t bytes; /* that were written */
};

static int write_index(void *writing, FILE *to, const char *path, struct err *err)
{
	struct writing_index *w = writing;
	struct chunks_writer chunks;
	if (!path) /* somebody may have mapped what would be written over */
		return err_set(err, ERR_IO, "an index is written beside what it replaces, and no file can be made there");
	int code = chunks_begin(&chunks, to, w->packed, err);
	if (!code)
		code = session_write_chunks(w->s, &chunks, err);
	if (!code)
		code = chunks_end(&chunks, err);
	w->bytes = chunks.at;
	return code;
}

/* Is it the file that the heap came from?  Then there is nothing to write. */
static bool is_own(const struct heap *h, const char *path)
{
	struct stat a, b;
	return h->index_path && !h->index_refused && stat(h->index_path, &a) == 0 && stat(path, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int session_write_index(struct session *s, const char *path, bool packed, struct err *err)
{
	const struct retained *found;
	int code = saved_may(session_heap(s), err);
	if (!code && packed)
		code = squeeze_may(err);
	if (!code)
		code = session_retained(s, &found, err);
	bool without = code == ERR_NOMEM;
	if (code && !without)
		return code;
	struct writing_index w = {.s = s, .packed = packed};
	code = session_write_whole(s, path, write_index, &w, err);
	if (code)
		return code;
	struct text size = TEXT_INIT;
	text_add_bytes(&size, w.bytes);
	session_say(s, "%s has the index of this dump now, %s%s", path, size.s, without || !opened_counts_weak(s->dump) ?
	    ", without retained sizes" : "");
	text_release(&size);
	return 0;
}

static int run_index(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	char *beside = saved_beside(h->source->path);
	const char *path = call->argument[0].given ? call->argument[0].word : beside;
	*out = NULL;
	int code = 0;
	bool packed = call_has(call, DASH_PACKED);
	if (is_own(h, path) && chunks_packed(saved_chunks(h)) == packed)
		session_say(s, "%s is the index that this dump was opened from", path);
	else
		code = session_write_index(s, path, packed, err);
	free(beside);
	return code;
}

static const struct option_spec index_options[] = {
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
    .description = "The file has objects, classes, sizes, references, roots, threads, names and retained sizes, and "
	"is about as large as the dump. It is mapped, not read, so cairn DUMP has its answers in a fraction of a second "
	"where DUMP.cairn lies beside it (which is where index writes without FILE) or in $XDG_CACHE_HOME/cairn; nothing "
	"is ever written there without being asked. An index that does not fit the dump, because that was changed or "
	"other options are given, or that is damaged, is left out and that is said; --no-index leaves all out, and "
	"--index FILE names one elsewhere. With -packed the file is a fraction of that, to be carried off a production "
	"host: it is inflated into memory when it is opened, references when they are first asked for. "
	"Values and texts stay in the dump: cairn FILE.cairn opens the index without it: then these are ?. "
	"The index of a Go dump is one of its program, too. A file that exists is replaced as by save.",
    .examples = {{NULL}},
    .key = "",
    .run = run_index,
};
