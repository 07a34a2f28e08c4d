/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_hprof.c - the heap as an HPROF file, or one that is compressed. */
#include "command/query/export_hprof.h"

#include "algorithms/gzipped.h"
#include "analysis/hprof_export/hprof_export.h"
#include "base/suffixes.h"
#include "command/exec/exec.h"
#include "dump/process.h"
#include "heap/heap.h"

struct hprof_file {
	const struct heap *h;
	bool compressed;
	struct hprof_exported done;
	uint64_t bytes; /* of the file */
};

static int write_hprof(void *file, FILE *to, const char *path, struct err *err)
{
	struct hprof_file *f = file;
	struct gzip_out *gzip = NULL;
	FILE *stream = to;
	(void)path;
	int code = f->compressed ? gzip_begin(&gzip, &stream, to, err) : 0;
	if (code)
		return code;
	code = hprof_export(f->h, NULL, stream, &f->done, err);
	f->bytes = f->done.bytes;
	return gzip ? gzip_end(gzip, stream, code, &f->bytes, err) : code;
}

static void add_part(struct text *to, const char *words)
{
	text_addf(to, "%s%s", to->len ? "; " : "", words);
}

static void add_holds(const struct hprof_file *f, struct text *to)
{
	hprof_add_count(to, f->done.objects, "object", "objects");
	if (f->done.invented)
		add_part(to, "fields with invented names (?)");
	hprof_add_count(to, f->done.classes_made, "class without a record of its own",
	    "classes without a record of their own");
}

static void add_left_out(const struct hprof_file *f, struct text *to)
{
	if (f->done.invented)
		add_part(to, "values except references (zeros), since the dump has none");
	if (f->h->damaged)
		add_part(to, "what the damaged dump lacks");
	hprof_add_count(to, f->done.invented ? f->h->n_dangling : 0, "reference to no object", "references to no object");
	if (f->h->process && (f->h->process->arguments.n || f->h->process->variables.n))
		add_part(to, "arguments and environment of the process");
	hprof_add_lost(&f->done, to);
}

int export_hprof(struct session *s, const char *file, struct result *written, struct err *err)
{
	struct hprof_file f = {.compressed = suffix_is_gzip(file)};
	struct text holds = TEXT_INIT, out = TEXT_INIT;

	if (suffix_of_other_packing(file))
		return err_set(err, ERR_USAGE, "an HPROF file cannot be compressed as %s (name it heap.hprof or "
		    "heap.hprof.gz)", suffix_of_other_packing(file));
	int code = session_find(s, FIND_REFERENCES, err);
	f.h = session_heap(s);
	if (!code)
		code = hprof_export_may(f.h, err);
	if (!code)
		code = session_write_whole(s, &(struct new_file){.path = file}, write_hprof, &f, err);
	if (code)
		return code;
	add_holds(&f, &holds);
	add_left_out(&f, &out);
	if (s->typed)
		session_say(s, "wrote %s: %s%s%s", file, holds.s ? holds.s : "no object", out.len ? "; left out: " : "",
		    out.len ? out.s : "");
	else
		files_table_add(written, file, f.bytes, holds.s, out.s);
	text_release(&holds);
	text_release(&out);
	return 0;
}
