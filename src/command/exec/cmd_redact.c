/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_redact.c - redact: a copy of the dump without what its objects contain. */
#include "command/commands.h"

#include "algorithms/gzipped.h"
#include "analysis/hprof_export/hprof_export.h"
#include "base/suffixes.h"
#include "command/exec/exec.h"
#include "dump/registry.h"
#include "dump/source/source.h"
#include "heap/classes.h"
#include "heap/index_file/index_file.h"
#include "heap/string.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The arrays that Strings hold, by id. */
struct string_arrays {
	const struct heap *h;
	struct bits arrays;
};

static bool of_string(const void *context, uint64_t address)
{
	const struct string_arrays *s = context;
	uint32_t id = heap_find(s->h, address);
	return id == HEAP_NONE || bits_get(&s->arrays, id);
}

/* Whatever a String's field refers to, also where it is no text that could be read. */
static int find_arrays(struct string_arrays *s, struct err *err)
{
	const struct heap *h = s->h;
	int code = bits_init(&s->arrays, h->n_objects, err);
	for (uint32_t id = 0; !code && id < h->n_objects; id++) {
		if (progress_own_stops(id))
			code = err_cancelled(err);
		if (!heap_is_string(h, id))
			continue;
		for (uint64_t k = adjacency_start(&h->out, id); k < adjacency_start(&h->out, id + 1); k++)
			bits_set(&s->arrays, h->out.target[k]);
	}
	return code;
}

static int write_map(void *names, FILE *to, const char *path, struct err *err)
{
	const struct text *t = names;
	(void)path;
	errno = 0;
	return t->len && fwrite(t->s, 1, t->len, to) != t->len ? err_set(err, ERR_IO, "%s", strerror(errno)) : 0;
}

/* By its reader, or where that has no such copies, as an HPROF file that is made without contents. */
static int write_redacted(struct copy_writing *w, FILE *to, struct err *err)
{
	const struct heap *h = session_heap(w->s);
	if (h->dump->reader->redact)
		return h->dump->reader->redact(h->dump, &w->wanted, to, &w->bytes, err);
	int code = hprof_export(h, &w->wanted, to, &w->exported, err);
	w->bytes = w->exported.bytes;
	return code;
}

/* All of it, as it is or squeezed. */
static int write_copy(struct copy_writing *w, FILE *to, struct err *err)
{
	const struct heap *h = session_heap(w->s);
	progress_phase(progress_own(), PHASE_WRITE_COPY, 2 * h->source->size); /* it is gone through twice */
	if (!w->compressed)
		return write_redacted(w, to, err);
	struct gzip_out *squeezing;
	FILE *stream;
	int code = gzip_begin(&squeezing, &stream, to, err);
	if (code)
		return code;
	code = write_redacted(w, stream, err);
	return gzip_end(squeezing, stream, code, &w->bytes, err);
}

int copy_write(void *writing, FILE *to, const char *path, struct err *err)
{
	struct copy_writing *w = writing;
	(void)path;
	int code = write_copy(w, to, err);
	if (!code && w->map) /* before the copy has its name: without the map nobody would know what it is about */
		code = session_write_whole(w->s, &(struct new_file){.path = w->map, .secret = true}, write_map, &w->names, err);
	return code;
}

bool copy_is_dump(const char *path)
{
	uint8_t head[SOURCE_HEAD];
	int fd = source_peek(path);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
	if (fd >= 0)
		close(fd);
	return n > 0 && dump_label_of(head, (size_t)n);
}

int copy_may(const struct session *s, struct err *err)
{
	const struct heap *h = session_heap(s);
	if (h->dump_absent)
		return err_set(err, ERR_UNSUPPORTED, "only the index of the dump is open, and it has no contents "
		    "(redact the dump)");
	if (!h->dump->reader->redact && h->facts.values != DECLARED_FIELDS)
		return err_set(err, ERR_UNSUPPORTED, "%s cannot be redacted, only HPROF (%sindex -packed -no-names MAP "
		    "writes a file that may leave the host)", h->facts.title,
		    h->facts.interior_pointers ? "" : "redact what export -hprof FILE writes, or ");
	if (h->damaged)
		return err_set(err, ERR_UNSUPPORTED, "a damaged dump cannot be redacted: its unread data may contain "
		    "anything");
	return 0;
}

int copy_begin(struct copy_writing *w, struct session *s, bool compressed, struct err *err)
{
	*w = (struct copy_writing){.s = s, .wanted = {.what = REDACT_ALL}, .compressed = compressed};
	return copy_may(s, err);
}

void copy_end(void *writing)
{
	struct copy_writing *w = writing;
	text_release(&w->names);
}

static void say_copied(struct session *s, const char *file, const struct copy_writing *w)
{
	struct text size = TEXT_INIT, lost = TEXT_INIT;
	text_add_bytes(&size, w->bytes);
	hprof_add_lost(&w->exported, &lost);
	const char *without = w->wanted.what == REDACT_ALL ? "values" : w->wanted.what == REDACT_ARRAYS ?
	    "contents of arrays" : "the texts of Strings";
	if (w->map)
		session_say(s, "%s is a copy of this dump without %s, %s: numbers replace names outside of the class "
		    "library; keep %s, which has the names, to yourself", file, without, size.s, w->map);
	else
		session_say(s, "%s is a copy of this dump without %s, %s: it has the names of classes, methods and "
		    "fields%s%s", file, without, size.s, lost.len ? "; left out: " : "", lost.len ? lost.s : "");
	text_release(&size);
	text_release(&lost);
}

static struct result *files_copied(const struct session *s, const char *file, const struct copy_writing *w)
{
	static const char *const left_out[] = {
		[REDACT_ALL] = COPY_LEAVES_OUT,
		[REDACT_ARRAYS] = "contents of primitive arrays (zeros); other symbols",
		[REDACT_STRINGS] = "texts of Strings (zeros); other symbols",
	};
	struct result *r = files_table(s, "redact");
	struct text out = TEXT_INIT;
	text_addf(&out, "%s%s", left_out[w->wanted.what], w->map ? "; names outside of the class library (numbers)" : "");
	hprof_add_lost(&w->exported, &out);
	files_table_add(r, file, w->bytes, w->map ? "objects, references, sizes, stacks" : COPY_HOLDS, out.s);
	if (w->map)
		files_table_add(r, w->map, w->names.len, "the names for the numbers: keep it to yourself", 
		    "everything else");
	text_release(&out);
	return r;
}

static int run_redact(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	const struct heap *h = session_heap(s);
	struct string_arrays strings = {.h = h};
	struct copy_writing w;
	int code = copy_begin(&w, s, suffix_is_gzip(call->argument[0].word), err);
	if (code == ERR_UNSUPPORTED) /* a copy that is not written, and nothing that was looked for */
		err->code = ERR_IO;
	if (!code && suffix_of_other_packing(call->argument[0].word))
		code = err_set(err, ERR_USAGE, "a copy cannot be compressed as %s (name it heap.hprof or "
		    "heap.hprof.gz)", suffix_of_other_packing(call->argument[0].word));
	if (code)
		return err->code;
	w.wanted.of_string = of_string;
	w.wanted.context = &strings;
	if (call_has(call, DASH_STRINGS) + call_has(call, DASH_ARRAYS) + call_has(call, DASH_ALL) > 1)
		return err_set(err, ERR_USAGE, "use only one of -strings, -arrays and -all");
	if (call_has(call, DASH_NAMES)) {
		w.map = call_word(call, DASH_NAMES);
		w.wanted.map = &w.names;
		w.wanted.knows = nameless_knows;
	}
	if (w.map && !h->dump->reader->redact)
		return err_set(err, ERR_USAGE, "-names needs an HPROF dump (redact FILE.hprof, then redact -names "
		    "with that file)");
	if (w.map && !strcmp(w.map, call->argument[0].word))
		return err_set(err, ERR_USAGE, "%s cannot be both the copy and the map of names (name two files)", w.map);
	if (call_has(call, DASH_ARRAYS))
		w.wanted.what = REDACT_ARRAYS;
	if (call_has(call, DASH_STRINGS)) {
		w.wanted.what = REDACT_STRINGS;
		w.wanted.string_class = h->strings ? h->classes[h->strings->class].address : 0;
		code = find_arrays(&strings, err);
	}
	if (!code)
		code = session_write_whole(s, &(struct new_file){.path = call->argument[0].word, .secret = true},
		    copy_write, &w, err);
	bits_release(&strings.arrays);
	if (!code && s->typed)
		say_copied(s, call->argument[0].word, &w);
	else if (!code)
		*out = files_copied(s, call->argument[0].word, &w);
	copy_end(&w);
	return code;
}

const struct command cmd_redact = {
    .name = "redact",
    .arguments = {{ARG_FILE, "FILE", false}},
    .options = OPTIONS({DASH_ALL, OPT_FLAG, NULL, "leave out every value that is not a reference (default)"},
	{DASH_ARRAYS, OPT_FLAG, NULL, "leave out contents of primitive arrays, keep fields"},
	{DASH_NAMES, OPT_WORDS, "MAP", "replace the program's names by numbers; MAP lists both"},
	{DASH_STRINGS, OPT_FLAG, NULL, "leave out only the texts of Strings"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_OF_SESSION,
    .group = "session",
    .summary = "write a copy of the dump without its contents, as HPROF",
    .shapes = SHAPES(&files_shape),
    .description = "The copy is an HPROF dump for every tool: objects, references, sizes, threads and stacks as in "
	"the dump, and zeros for contents. Contents are all primitive values in fields, static fields and arrays, so "
	"also texts of Strings, names of threads and system properties. -strings clears only those of Strings; "
	"a char[] stays. Of HotSpot's symbols only names of classes, methods, fields "
	"and source files stay.\n"
	"-names MAP replaces the names of classes outside of the class library (C17), and their fields (F), methods "
	"(M) and source files (S); MAP has a line for each: C17, a tab and the name. Keep MAP to yourself.\n"
	"A system dump of OpenJ9 becomes HPROF; then -names needs a second redact, of that copy. A damaged dump is "
	"refused. FILE.gz is compressed. Only the owner can read the file. In the copy, strings, thread states and sizes "
	"of collections are unknown, not 0.",
    .examples = {{"redact copy.hprof.gz", ON_SHOP, "a copy for other tools, without contents"},
	{"redact -names names.txt nameless.hprof.gz", ON_SHOP, "also without the names of the program"},
	{"redact -strings textless.hprof", ON_SHOP, "only without the texts of Strings"}},
    .run = run_redact,
};
