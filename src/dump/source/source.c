/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.c - a dump file as one range of bytes.
 *
 * A plain file stays mapped until source_close; a packed one is mapped only until it is unpacked (unpack.c).
 * Any thread.
 */
#include "dump/source/opening.h"

#include "algorithms/packed_bytes.h"
#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"
#include "memory/guarded_alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t source_inflate_head(const uint8_t *in, uint64_t n, uint8_t *out, size_t room)
{
	const struct packing *p = packing_of(in, n);
	return p && p->head ? p->head(p, in, n, out, room) : 0;
}

ssize_t source_read_head(int fd, uint8_t first[static SOURCE_HEAD], uint8_t **more)
{
	enum { PACKED_HEAD = 1 << 20 }; /* bytes: a block of bzip2 is as long, and nothing comes before its end */
	ssize_t n = pread(fd, first, SOURCE_HEAD, 0);
	const struct packing *p = n > 0 ? packing_of(first, (uint64_t)n) : NULL;

	*more = p && !packing_is_archive(p) ? big_alloc(PACKED_HEAD, 1, NULL) : NULL;
	return *more ? pread(fd, *more, PACKED_HEAD, 0) : n;
}

/* --- exact bytes ------------------------------------------------------------------------------- */

/* Behind a mapping lies the rest of its last page, which hides a byte read too far: a copy has no
 * such rest.  Tests of files that shrink want the mapping all the same, and say so. */
static int copy_file(struct source_file *o, struct err *err)
{
	if (!CAIRN_EXACT || getenv("CAIRN_KEEP_MAPPING"))
		return 0;
	o->copy = malloc(o->source.size);
	if (!o->copy)
		return err_set(err, ERR_NOMEM, "memory: the system refuses %" PRIu64 " bytes", o->source.size);
	memcpy(o->copy, o->source.bytes, o->source.size);
	o->source.bytes = o->copy;
	stored_unmap(o);
	return 0;
}

/* --- for the others ---------------------------------------------------------------------------- */

int source_open(struct source **out, const char *path, struct progress *progress, struct err *err)
{
	return source_open_if(out, path, NULL, progress, err);
}

struct source_file *source_new(const char *path)
{
	struct source_file *o = xcalloc(1, sizeof *o);

	o->fd = -1;
	o->source.file = o;
	o->source.path = xstrdup(path);
	const char *member = file_member(o->source.path);
	o->member = member ? member + 2 : NULL;
	o->file = member ? xstrndup(o->source.path, (size_t)(member - o->source.path)) : xstrdup(path);
	return o;
}

enum { LONGEST_REASON = 120 }; /* why a file cannot be read: a file's name leaves room for it */

/* Is there more to do than to map it? */
static bool is_packed(const struct source_file *o)
{
	return o->member || packing_of(o->source.bytes, o->source.size);
}

int source_failed(struct source_file *o, int code, struct err *err)
{
	const char *path = o->source.path;
	struct text shown = TEXT_INIT;
	text_add_escaped(&shown, path, strlen(path));
	size_t reason = err && strlen(err->message) > LONGEST_REASON ? strlen(err->message) : LONGEST_REASON;
	if (shown.len > sizeof err->message - reason) {
		text_clear(&shown);
		text_add_name(&shown, path);
	}
	if (!*path)
		text_add(&shown, "an empty file name");
	if (code != ERR_CANCELLED)
		err_context(err, "%s", shown.s ? shown.s : "");
	text_release(&shown);
	source_close(&o->source);
	return code;
}

static int finish(struct source **out, struct source_file *o, int code, struct err *err)
{
	if (code >= 0) {
		if (o->broken_off) { /* that is why whatever else is missing is */
			o->source.truncated = o->source.broken_off = true;
			source_mark(o, "%s", o->broken_off);
		}
		*out = &o->source;
		return 0;
	}
	return source_failed(o, code, err);
}

int source_open_if(struct source **out, const char *path, const struct source_look *look,
    struct progress *progress, struct err *err)
{
	struct source_file *o = source_new(path);

	*out = NULL;
	if (source_is_process(path))
		return finish(out, o, process_dump_open(o, progress, err), err);
	o->division = look ? look->division : NULL;
	int code = stored_open(o, o->file, progress, err);
	if (code == 0)
		code = stored_map(o, err);
	bool piped = source_is_standard_input(o->file);
	if (code == 0 && !piped && !o->member)
		code = parts_refuse(o, err);
	if (code == 0 && is_packed(o))
		code = source_unpack(o, look, true, progress, err);
	if (code == 0 && (!piped || o->member || o->inside))
		code = parts_open(o, err);
	if (code == 0 && o->unpacked)
		stored_unmap(o);
	else if (code == 0)
		code = copy_file(o, err);
	return finish(out, o, code, err);
}

/* Does it hold the dump as it is, or archived only? */
static bool needs_no_memory(const struct source_file *o)
{
	const struct packing *p = packing_of(o->source.bytes, o->source.size);
	return !p || !strcmp(p->name, "tar");
}

int source_open_waiting(struct source **out, const char *path, struct err *err)
{
	*out = NULL;
	if (source_is_process(path))
		return 1;
	struct source_file *o = source_new(path);
	int code = stored_open(o, o->file, progress_own(), err);
	if (code == 0)
		code = stored_map(o, err);
	if (code == 0 && needs_no_memory(o)) {
		source_close(&o->source);
		return 1;
	}
	o->source.compressed = true;
	o->source.bytes = (const uint8_t *)"";
	o->source.size = 0;
	return finish(out, o, code, err);
}

int source_inflate(struct source **out, const struct source *waiting, const struct source_look *look,
    struct progress *progress, struct err *err)
{
	struct source_file *from = waiting->file, *o = source_new(waiting->path);

	*out = NULL;
	o->source.file_size = waiting->file_size;
	o->fd = from->fd;
	o->map = from->map;
	o->map_size = from->map_size;
	o->broken_off = from->broken_off;
	o->mapping = from->mapping;
	int code = source_unpack(o, look, false, progress, err);
	o->fd = -1; /* these are the other's */
	o->map = NULL;
	o->mapping = NULL;
	if (!code && source_changed(waiting))
		code = err_set(err, ERR_IO, "was changed after it was opened");
	if (!code)
		atomic_store(&from->served, true);
	return finish(out, o, code, err);
}

void source_close(struct source *s)
{
	struct source_file *o = s ? s->file : NULL;

	if (!o)
		return;
	stored_unmap(o);
	big_free(o->unpacked);
	file_let_go(o->hold);
	free(o->copy);
	parts_close(o);
	if (o->packed)
		process_dump_close(o->source.path);
	if (o->fd >= 0)
		close(o->fd);
	free((char *)(uintptr_t)o->source.path);
	free(o->file);
	free(o->inside);
	free(o);
}

int source_fd(const struct source *s)
{
	return s->file ? s->file->fd : -1;
}

static uint64_t stored_size(const struct source_file *o)
{
	return o->parts ? o->parts->own : o->map_size;
}

bool source_damage(const struct source *s, uint64_t *offset)
{
	struct source_file *o = s->file;
	struct stat now;

	if (o && o->packed)
		return packed_bytes_lost(o->packed, offset);
	if (!o || !o->mapping || atomic_load(&o->served))
		return false;
	/* the rest of a last page reads as zeros without any fault: ask for the size as well */
	if (fstat(o->fd, &now) == 0 && (uint64_t)now.st_size < stored_size(o))
		sigbus_guard_tell(o->mapping, (uint64_t)now.st_size);
	uint64_t lost = sigbus_guard_lost(o->mapping);
	if (lost == UINT64_MAX)
		return parts_damage(o, offset);
	uint64_t begin = o->unpacked || !o->source.size ? 0 : (uint64_t)(o->source.bytes - (const uint8_t *)o->map);
	if (begin && lost >= begin + o->source.size) /* what stands behind a member is not ours */
		return false;
	*offset = lost > begin ? lost - begin : 0;
	return true;
}

const char *source_inside(const struct source *s)
{
	return s->file && s->file->inside ? s->file->inside : "";
}

bool source_changed(const struct source *s)
{
	const struct source_file *o = s->file;
	struct stat now;

	if (!o || !o->mapping || atomic_load(&o->served) || fstat(o->fd, &now))
		return false;
	return parts_changed(o) || (uint64_t)now.st_size != stored_size(o) || now.st_mtim.tv_sec != o->written.tv_sec ||
	    now.st_mtim.tv_nsec != o->written.tv_nsec;
}
