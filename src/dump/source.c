/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.c - a dump file as one range of bytes.
 *
 * A plain file stays mapped until source_close; a gzip file is mapped only until it is inflated
 * into big memory.  Every mapping is watched (base/vanish.h): pages that the file no longer backs are
 * replaced by zeros, so a reader meets an end of data and not the end of the program.
 *
 * Any thread.
 */
#include "dump/source.h"

#include "base/big.h"
#include "base/exact.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vanish.h"
#include "dump/blocks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* --- opening ----------------------------------------------------------------------------------- */

struct source_file {
	struct source source; /* what the others see */
	int fd;
	struct timespec written; /* the last time before it was opened */
	file_hold hold;
	void *map; /* of the file; NULL once inflated */
	uint64_t map_size;
	struct vanish *mapping;
	uint8_t *inflated;
	uint64_t capacity;
	uint8_t *copy; /* exactly of the file's size, where memory is exact; else NULL */
	atomic_bool served; /* all that it waited with is inflated: the file does not matter any more */
};

static const char *not_a_file(mode_t mode)
{
	if (S_ISDIR(mode))
		return "is a directory; name the dump file in it";
	if (S_ISFIFO(mode))
		return "is a pipe; save it to a file first, a dump is read twice";
	if (S_ISSOCK(mode))
		return "is a socket, not a dump file";
	if (S_ISCHR(mode) || S_ISBLK(mode))
		return "is a device, not a dump file";
	return S_ISREG(mode) ? NULL : "is not a regular file";
}

enum { LONGEST_REASON = 120 }; /* why a file cannot be read: a file's name leaves room for it */

static const char *system_reason(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "no permission to read it";
	case ENOENT:
		return "no such file";
	default:
		return strerror(error);
	}
}

/* By their names, which is all that a hint takes. */
static bool holds_dumps(const char *folder)
{
	static const char *const ends[] = {".hprof", ".profile", ".phd", ".dump", ".hprof.gz", ".profile.gz"};
	DIR *d = opendir(folder);
	bool found = false;
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		size_t length = strlen(e->d_name);
		for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
			found |= length > strlen(ends[i]) && !strcmp(e->d_name + length - strlen(ends[i]), ends[i]);
	}
	if (d)
		closedir(d);
	return found;
}

static int refuse(const char *path, mode_t mode, struct err *err)
{
	size_t length = strlen(path);
	if (S_ISDIR(mode) && holds_dumps(path))
		return err_set(err, ERR_IO, "is a directory; name a dump in it, or all of them as %.60s%s*", path,
		    length && path[length - 1] == '/' ? "" : "/");
	return err_set(err, ERR_IO, "%s", not_a_file(mode));
}

/* Open without ever waiting: what opens slowly or does something on open is refused before. */
static int open_file(struct source_file *o, const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_set(err, ERR_IO, "%s", system_reason(errno));
	if (not_a_file(st.st_mode))
		return refuse(path, st.st_mode, err);
	o->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return err_set(err, ERR_IO, "%s", system_reason(errno));
	if (not_a_file(st.st_mode))
		return refuse(path, st.st_mode, err);
	if (st.st_size == 0)
		return err_set(err, ERR_FORMAT,
		    "empty file (0 bytes); a full disk often leaves a dump like that");
	o->source.file_size = (uint64_t)st.st_size;
	o->written = st.st_mtim;
	o->hold = file_hold_open(o->fd, "the dump");
	return 0;
}

static int map_file(struct source_file *o, struct err *err)
{
	if (o->source.file_size > PTRDIFF_MAX)
		return err_set(err, ERR_NOMEM, "%" PRIu64 " bytes do not fit into the address space",
		    o->source.file_size);
	void *map = mmap(NULL, o->source.file_size, PROT_READ, MAP_PRIVATE, o->fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_IO, "cannot be mapped: %s", strerror(errno));
	o->map = map;
	o->map_size = o->source.file_size;
	o->mapping = vanish_watch(map, o->map_size, o->fd, 0);
	if (!o->mapping)
		return err_set(err, ERR_NOMEM, "more than %d dumps are open", VANISH_MOST);
	o->source.bytes = map;
	o->source.size = o->map_size;
	return 0;
}

static void unmap_file(struct source_file *o)
{
	vanish_forget(o->mapping);
	if (o->map)
		munmap(o->map, o->map_size);
	o->mapping = NULL;
	o->map = NULL;
}

/* --- gzip -------------------------------------------------------------------------------------- */

#define INPUT_STEP (1u << 20)
#define OUTPUT_STEP (16u << 20)
#define BEST_RATIO 1032 /* deflate cannot do better; zlib's own documentation */

static bool is_gzip(const uint8_t *bytes, uint64_t n)
{
	return n >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

/* Room to begin with: what the last four bytes promise (RFC 1952, ISIZE), where that is possible. */
static uint64_t first_capacity(const uint8_t *in, uint64_t n)
{
	uint64_t promised = 0;

	if (n >= 18)
		for (int i = 0; i < 4; i++)
			promised |= (uint64_t)in[n - 4 + (uint64_t)i] << 8 * i;
	uint64_t least = n < 1u << 20 ? 1u << 20 : n;
	return promised > least && promised / BEST_RATIO <= n ? promised + 1 : least;
}

static int make_room(struct source_file *o, struct err *err)
{
	if (o->source.size < o->capacity)
		return 0;
	uint64_t capacity = 2 * o->capacity;
	uint8_t *grown = big_resize(o->inflated, capacity, 1, NULL);
	if (!grown) { /* nobody knows that it needs so much */
		capacity = o->capacity + o->capacity / 8;
		grown = big_resize(o->inflated, capacity, 1, err);
	}
	if (!grown)
		return ERR_NOMEM;
	o->inflated = grown;
	o->capacity = capacity;
	return 0;
}

__attribute__((format(printf, 2, 3))) static void mark(struct source_file *o, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_format(o->source.remark, sizeof o->source.remark, format, args);
	va_end(args);
}

/* What follows a complete gzip member: true when it is another one. */
static bool goes_on(struct source_file *o, const uint8_t *in, uint64_t at, uint64_t n)
{
	if (is_gzip(in + at, n - at))
		return true;
	for (uint64_t i = at; i < n && !progress_stops(progress_own(), i); i++)
		if (in[i]) { /* zeros are padding, as tapes leave it */
			mark(o, "the %" PRIu64 " bytes from byte %" PRIu64 " of the file on follow the end of "
			    "the gzip data and are ignored", n - at, at);
			break;
		}
	return false;
}

/* The stream broke off: what came out before stays. */
static void stream_broke(struct source_file *o, const z_stream *z, int code, uint64_t at)
{
	o->source.cut = true;
	if (code == Z_BUF_ERROR) {
		mark(o, "the gzip stream is cut at byte %" PRIu64 " of the file", at);
	} else if (z->msg && (strstr(z->msg, "data check") || strstr(z->msg, "length check"))) {
		o->source.doubtful = true;
		/* zlib has just read the four bytes that do not fit */
		mark(o, "the gzip checksum at byte %" PRIu64 " of the file is wrong: any byte of the dump may be "
		    "wrong", at - 4);
	} else {
		mark(o, "the gzip stream is damaged near byte %" PRIu64 " of the file (%s)", at,
		    z->msg ? z->msg : "no reason given");
	}
}

/* Inflate all members of in[0, n). */
static int inflate_members(struct source_file *o, z_stream *z, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	uint64_t at = 0;

	for (;;) {
		if (make_room(o, err) < 0)
			return ERR_NOMEM;
		uint64_t room = o->capacity - o->source.size;
		uInt give = (uInt)(n - at < INPUT_STEP ? n - at : INPUT_STEP);
		uInt take = (uInt)(room < OUTPUT_STEP ? room : OUTPUT_STEP);
		z->next_in = (z_const Bytef *)(uintptr_t)(in + at);
		z->avail_in = give;
		z->next_out = o->inflated + o->source.size;
		z->avail_out = take;
		int code = inflate(z, Z_NO_FLUSH);
		at += give - z->avail_in;
		o->source.size += take - z->avail_out;
		if (!progress_add(progress, give - z->avail_in))
			return err_cancelled(err);
		if (code == Z_MEM_ERROR)
			return err_set(err, ERR_NOMEM, "memory: inflating it needs more");
		if (code == Z_STREAM_END) {
			if (!goes_on(o, in, at, n))
				return 0;
			inflateReset(z);
		} else if (code != Z_OK) {
			stream_broke(o, z, code, at);
			return 0;
		}
	}
}

static int inflate_in_order(struct source_file *o, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	z_stream z = { .zalloc = Z_NULL };

	o->capacity = first_capacity(in, n);
	o->inflated = big_alloc(o->capacity, 1, err);
	if (!o->inflated)
		return ERR_NOMEM;
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return err_set(err, ERR_NOMEM, "memory: inflating it needs more");
	progress_phase(progress, PHASE_INFLATE, n);
	int code = inflate_members(o, &z, in, n, progress, err);
	inflateEnd(&z);
	return code;
}

static int inflate_file(struct source_file *o, struct progress *progress, struct err *err)
{
	const uint8_t *in = o->map;
	uint64_t n = o->map_size;

	o->source.compressed = true;
	o->source.size = 0;
	progress_phase(progress, PHASE_INFLATE, n);
	int code = blocks_inflate(in, n, &o->inflated, &o->source.size, progress, err);
	if (code == 1)
		o->capacity = o->source.size;
	else if (code == 0)
		code = inflate_in_order(o, in, n, progress, err);
	if (code == ERR_NOMEM)
		err_context(err, "inflating it takes memory, gunzip it first where there is room");
	if (code < 0)
		return code;
	uint64_t lost;
	if (source_damage(&o->source, &lost)) {
		o->source.cut = true;
		mark(o, "the file shrank to %" PRIu64 " bytes while it was inflated", lost);
	}
	if (!o->source.size)
		return err_set(err, o->source.cut ? ERR_TRUNCATED : ERR_FORMAT, "%s",
		    o->source.cut ? o->source.remark : "gzip of nothing, the dump in it is empty");
	o->inflated = big_fit(o->inflated, o->source.size, 1);
	o->capacity = o->source.size;
	o->source.bytes = o->inflated;
	return 0;
}

size_t source_inflate_head(const uint8_t *in, uint64_t n, uint8_t *out, size_t room)
{
	z_stream z = {
	    .next_in = (z_const Bytef *)(uintptr_t)in,
	    .avail_in = (uInt)(n < INPUT_STEP ? n : INPUT_STEP),
	    .next_out = out,
	    .avail_out = (uInt)room,
	};

	if (!is_gzip(in, n) || inflateInit2(&z, 15 + 16) != Z_OK)
		return 0;
	while (z.avail_out && inflate(&z, Z_SYNC_FLUSH) == Z_STREAM_END && is_gzip(z.next_in, z.avail_in))
		inflateReset(&z);
	inflateEnd(&z);
	return room - z.avail_out;
}

/* Whether whoever opens it wants to have all of what a gzip file holds. */
static int look_at_head(const struct source_file *o, const struct source_look *look, struct err *err)
{
	uint8_t head[SOURCE_HEAD];

	if (!look || source_inflate_head(o->map, o->map_size, head, sizeof head) < sizeof head)
		return 0; /* little, or cut: what there is to say is said of the whole */
	return look->at(look->context, head, sizeof head, err);
}

/* --- exact bytes ------------------------------------------------------------------------------- */

/* Behind a mapping lies the rest of its last page, which hides a byte read too far: a copy has no
 * such rest.  Tests of files that shrink want the mapping all the same, and say so. */
static int copy_file(struct source_file *o, struct err *err)
{
	if (!CAIRN_EXACT || getenv("CAIRN_KEEP_MAPPING"))
		return 0;
	o->copy = malloc(o->map_size);
	if (!o->copy)
		return err_set(err, ERR_NOMEM, "memory: the system refuses %" PRIu64 " bytes", o->map_size);
	memcpy(o->copy, o->map, o->map_size);
	o->source.bytes = o->copy;
	unmap_file(o);
	return 0;
}

/* --- for the others ---------------------------------------------------------------------------- */

int source_open(struct source **out, const char *path, struct progress *progress, struct err *err)
{
	return source_open_if(out, path, NULL, progress, err);
}

static struct source_file *new_file(const char *path)
{
	struct source_file *o = xcalloc(1, sizeof *o);

	o->fd = -1;
	o->source.file = o;
	o->source.path = xstrdup(path);
	return o;
}

/* An error gets the path in front of it. */
static int finish(struct source **out, struct source_file *o, int code, struct err *err)
{
	if (code >= 0) {
		*out = &o->source;
		return 0;
	}
	const char *path = o->source.path;
	struct text shown = TEXT_INIT;
	text_add_escaped(&shown, path, strlen(path));
	if (shown.len > sizeof err->message - LONGEST_REASON) {
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

int source_open_if(struct source **out, const char *path, const struct source_look *look,
    struct progress *progress, struct err *err)
{
	struct source_file *o = new_file(path);

	*out = NULL;
	int code = open_file(o, path, err);
	if (code == 0)
		code = map_file(o, err);
	bool packed = code == 0 && is_gzip(o->source.bytes, o->source.size);
	if (packed)
		code = look_at_head(o, look, err);
	if (code == 0)
		code = packed ? inflate_file(o, progress, err) : copy_file(o, err);
	if (code == 0 && packed)
		unmap_file(o);
	return finish(out, o, code, err);
}

int source_open_waiting(struct source **out, const char *path, struct err *err)
{
	struct source_file *o = new_file(path);

	*out = NULL;
	int code = open_file(o, path, err);
	if (code == 0)
		code = map_file(o, err);
	if (code == 0 && !is_gzip(o->source.bytes, o->source.size)) {
		source_close(&o->source);
		return 1;
	}
	o->source.compressed = true;
	o->source.bytes = (const uint8_t *)"";
	o->source.size = 0;
	return finish(out, o, code, err);
}

int source_inflate(struct source **out, const struct source *waiting, struct progress *progress, struct err *err)
{
	struct source_file *from = waiting->file, *o = new_file(waiting->path);

	*out = NULL;
	o->source.file_size = waiting->file_size;
	o->fd = from->fd;
	o->map = from->map;
	o->map_size = from->map_size;
	o->mapping = from->mapping;
	int code = inflate_file(o, progress, err);
	o->fd = -1; /* these are the other's */
	o->map = NULL;
	o->mapping = NULL;
	if (!code && source_changed(waiting))
		code = err_set(err, ERR_IO, "was written to since it was opened");
	if (!code)
		atomic_store(&from->served, true);
	return finish(out, o, code, err);
}

void source_close(struct source *s)
{
	struct source_file *o = s ? s->file : NULL;

	if (!o)
		return;
	unmap_file(o);
	big_free(o->inflated);
	file_let_go(o->hold);
	free(o->copy);
	if (o->fd >= 0)
		close(o->fd);
	free((char *)(uintptr_t)o->source.path);
	free(o);
}

int source_fd(const struct source *s)
{
	return s->file ? s->file->fd : -1;
}

bool source_damage(const struct source *s, uint64_t *offset)
{
	struct source_file *o = s->file;
	struct stat now;

	if (!o || !o->mapping || atomic_load(&o->served))
		return false;
	/* the rest of a last page reads as zeros without any fault: ask for the size as well */
	if (fstat(o->fd, &now) == 0 && (uint64_t)now.st_size < o->map_size)
		vanish_tell(o->mapping, (uint64_t)now.st_size);
	uint64_t lost = vanish_lost(o->mapping);
	if (lost == UINT64_MAX)
		return false;
	*offset = lost;
	return true;
}

bool source_changed(const struct source *s)
{
	const struct source_file *o = s->file;
	struct stat now;

	if (!o || !o->mapping || atomic_load(&o->served) || fstat(o->fd, &now))
		return false;
	return (uint64_t)now.st_size != o->map_size || now.st_mtim.tv_sec != o->written.tv_sec ||
	    now.st_mtim.tv_nsec != o->written.tv_nsec;
}
