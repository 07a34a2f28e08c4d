/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.c - what libarchive unpacks: files packed by xz, bzip2, lz4 ..., and the members of zip and tar.
 *
 * libarchive is asked for the one filter or the one format that the first bytes tell, so nothing is tried on bytes that
 * are another thing, and no program is started.  It reads from memory that stays; where it hands out a member's bytes
 * as they stand there, they need not be copied.  Names of members are compared and shown, never used as paths.
 */
#include "dump/source/opening.h"

#ifdef HAVE_LIBARCHIVE
#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_STEP (128u << 10) /* bytes handed to a filter at once: damage is located this exactly */
#define FORMAT_STEP (1u << 30)   /* to a format, which hands out members in pieces of at most so many */

enum { REASON_MOST = 90 }; /* bytes of libarchive's words: with that many the sentences around them have room */

struct feed {
	const uint8_t *in;
	uint64_t n, at, step;
	struct progress *progress;
};

struct walk {
	struct archive *a;
	struct archive_entry *entry;
	struct feed feed;
	locale_t locale, before;
	uint64_t ordinal; /* of the entry, from 1 on */
	uint64_t told;    /* bytes of the packed ones that progress knows of */
	struct text name; /* of the entry */
	bool broke;       /* its first bytes were not to be had: reason() says why */
	char why[REASON_MOST + 4];
};

/* --- bytes for libarchive --------------------------------------------------------------------------- */

static la_ssize_t feed_more(struct archive *a, void *context, const void **block)
{
	struct feed *f = context;
	uint64_t n = f->n - f->at < f->step ? f->n - f->at : f->step;

	if (progress_cancelled(f->progress)) {
		archive_set_error(a, EINTR, "stopped");
		return ARCHIVE_FATAL;
	}
	*block = f->in + f->at;
	f->at += n;
	return (la_ssize_t)n;
}

static la_int64_t feed_skip(struct archive *a, void *context, la_int64_t wanted)
{
	struct feed *f = context;
	uint64_t n = wanted < 0 ? 0 : (uint64_t)wanted < f->n - f->at ? (uint64_t)wanted : f->n - f->at;

	(void)a;
	f->at += n;
	return (la_int64_t)n;
}

static la_int64_t feed_seek(struct archive *a, void *context, la_int64_t to, int whence)
{
	struct feed *f = context;
	int64_t base = whence == SEEK_SET ? 0 : (int64_t)(whence == SEEK_CUR ? f->at : f->n), at;

	if (__builtin_add_overflow(base, to, &at) || at < 0 || (uint64_t)at > f->n) {
		archive_set_error(a, EINVAL, "it refers to missing bytes");
		return ARCHIVE_FATAL;
	}
	f->at = (uint64_t)at;
	return at;
}

static int open_format(struct archive *a, const struct packing *p)
{
	static const struct { const char *name; int (*filter)(struct archive *); } filters[] = {
	    {"zstd", archive_read_support_filter_zstd}, {"xz", archive_read_support_filter_xz},
	    {"bzip2", archive_read_support_filter_bzip2}, {"lz4", archive_read_support_filter_lz4},
	    {"lzip", archive_read_support_filter_lzip}, {"compress", archive_read_support_filter_compress}};

	if (!strcmp(p->name, "zip"))
		return archive_read_support_format_zip(a);
	if (!strcmp(p->name, "tar"))
		return archive_read_support_format_tar(a);
	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
		if (!strcmp(p->name, filters[i].name)) {
			int code = filters[i].filter(a); /* not ARCHIVE_OK: a program would be started */
			return code == ARCHIVE_OK ? archive_read_support_format_raw(a) : code;
		}
	return ARCHIVE_FATAL;
}

/* What it says of names must not depend on what the terminal shows. */
static void set_locale(struct walk *w)
{
	w->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	w->before = w->locale ? uselocale(w->locale) : (locale_t)0;
}

void walk_end(struct walk *w)
{
	if (!w)
		return;
	archive_read_free(w->a);
	if (w->locale) {
		uselocale(w->before);
		freelocale(w->locale);
	}
	text_release(&w->name);
	free(w);
}

/* --- what went wrong -------------------------------------------------------------------------------- */

static const char *const words_of_cuts[] = {"truncated", "no progress", "unexpected end", "premature", NULL};

/* Why libarchive does not go on. */
static const char *reason(const struct walk *w)
{
	const char *why = archive_error_string(w->a);
	return why && *why ? why : "no reason given";
}

/* The same behind a sentence: " (ZIP bad CRC)"; what is too long for one is left out, for half of it says nothing. */
static const char *because(const struct walk *w, char to[static REASON_MOST + 4])
{
	const char *why = reason(w);
	*to = '\0';
	if (strlen(why) <= REASON_MOST)
		snprintf(to, REASON_MOST + 4, " (%s)", why);
	for (char *at = to; *at; at++) /* some are of several lines */
		if ((unsigned char)*at < ' ')
			*at = ' ';
	return to;
}

static bool says(const struct walk *w, const char *const *words)
{
	const char *why = reason(w);
	for (; *words; words++)
		if (strcasestr(why, *words))
			return true;
	return false;
}

enum { HEADER_MOST = 16 }; /* bytes, by which libarchive knows how a file is packed */

static int cut_early(const struct packing *p, uint64_t n, struct err *err)
{
	return err_set(err, ERR_TRUNCATED, "the %s data is truncated at byte %" PRIu64 ", before any output",
	    p->name, n);
}

/* Nothing comes out of n bytes. */
static int nothing_comes(const struct walk *w, const struct packing *p, uint64_t n, struct err *err)
{
	char why[REASON_MOST + 4];
	if (progress_cancelled(w->feed.progress))
		return err_cancelled(err);
	if (says(w, words_of_cuts) || n < HEADER_MOST)
		return cut_early(p, n, err);
	return err_set(err, ERR_TRUNCATED, "the %s data is damaged and none of its %" PRIu64 " bytes unpack%s",
	    p->name, n, because(w, why));
}

/* Where the first bytes of what is packed are cut or damaged libarchive takes them for bytes that are not packed. */
static bool is_unpacked(const struct walk *w, const struct packing *p)
{
	return !packing_is_archive(p) && archive_filter_code(w->a, 0) == ARCHIVE_FILTER_NONE;
}

/* So they are no beginning of it. */
static int no_beginning(const struct packing *p, uint64_t n, struct err *err)
{
	return n < HEADER_MOST ? cut_early(p, n, err) : err_set(err, ERR_TRUNCATED, "the %s data is damaged in "
	    "its first %d bytes and does not unpack", p->name, HEADER_MOST);
}

static int begin(struct walk **out, const struct packing *p, const uint8_t *in, uint64_t n, uint64_t step,
    struct progress *progress, struct err *err)
{
	struct walk *w = xcalloc(1, sizeof *w);

	*out = NULL;
	w->feed = (struct feed){.in = in, .n = n, .step = step, .progress = progress};
	w->a = archive_read_new();
	set_locale(w);
	int code = 0;
	if (!w->a)
		code = err_set(err, ERR_NOMEM, "memory: unpacking it needs more");
	else if (open_format(w->a, p) != ARCHIVE_OK)
		code = err_set(err, ERR_FORMAT, "packed by %s, which the installed libarchive does not unpack (%s "
		    "it first)", p->name,
		    p->by_hand);
	if (!code) {
		archive_read_set_read_callback(w->a, feed_more);
		archive_read_set_skip_callback(w->a, feed_skip);
		archive_read_set_seek_callback(w->a, feed_seek);
		archive_read_set_callback_data(w->a, &w->feed);
		if (archive_read_open1(w->a) != ARCHIVE_OK)
			code = nothing_comes(w, p, n, err);
		else if (is_unpacked(w, p))
			code = no_beginning(p, n, err);
	}
	if (code)
		walk_end(w);
	else
		*out = w;
	return code;
}

/* False: the user asked to stop. */
static bool tell_progress(struct walk *w)
{
	la_int64_t now = archive_filter_bytes(w->a, -1);
	uint64_t done = now > 0 ? (uint64_t)now : 0, more = done > w->told ? done - w->told : 0;
	w->told += more;
	return progress_add(w->feed.progress, more);
}

/* --- bytes out of it -------------------------------------------------------------------------------- */

/* They are not what was packed. */
static void doubt(struct source_file *o, const struct walk *w, const char *name)
{
	char why[REASON_MOST + 4];
	o->source.truncated = o->source.doubtful = true;
	source_mark(o, "the %s data is wrong near byte %" PRIu64 " of %s%s: any byte of the dump may be wrong", name,
	    w->told, o->where, because(w, why));
}

/* The bytes broke off: what came out before stays.  ERR_NOMEM, ERR_CANCELLED. */
static int bytes_broke(struct source_file *o, struct walk *w, const char *name, struct err *err)
{
	static const char *const wrong[] = {"crc", "checksum", "check sum", "corrupt", "data error", NULL};
	uint64_t at = w->told;
	char why[REASON_MOST + 4];

	if (progress_cancelled(w->feed.progress))
		return err_cancelled(err);
	if (archive_errno(w->a) == ENOMEM)
		return err_set(err, ERR_NOMEM, "memory: unpacking it needs more");
	o->source.truncated = true;
	if (says(w, wrong)) {
		doubt(o, w, name);
	} else if (says(w, words_of_cuts) || at >= w->feed.n) {
		snprintf(why, sizeof why, "%s data", name);
		unpacked_cut(o, why, at);
	} else {
		source_mark(o, "the %s data is damaged near byte %" PRIu64 " of %s%s", name, at, o->where, because(w, why));
	}
	return 0;
}

/* Bytes of the member at their place in it, zeros before them where it has a hole. */
static int put(struct source_file *o, const void *block, size_t n, uint64_t at, struct err *err)
{
	int code = at > UINT64_MAX - n ? err_set(err, ERR_NOMEM, "memory: %" PRIu64 " bytes", at) :
	    unpacked_reserve(o, at + n, err);
	if (code)
		return code;
	if (n)
		memcpy(o->unpacked + at, block, n);
	if (o->source.size < at + n)
		o->source.size = at + n;
	return 0;
}

/* Bytes of a member as they stand in the archive, as long as they stand there one behind the other. */
static bool stands(const struct walk *w, struct stretch *s, const uint8_t *block, size_t n, uint64_t at)
{
	const struct feed *f = &w->feed;
	if (at != s->n || (uintptr_t)block < (uintptr_t)f->in || (uintptr_t)block - (uintptr_t)f->in > f->n ||
	    n > f->n - (uint64_t)(block - f->in) || (s->n && block != s->at + s->n))
		return false;
	if (!s->n)
		s->at = block;
	s->n += n;
	return true;
}

/* All bytes of the entry: where they stand (*s), or into o->unpacked (s->at is NULL then). */
static int take_bytes(struct source_file *o, struct walk *w, struct stretch *s, const char *name, struct err *err)
{
	bool standing = s != NULL;
	for (;;) {
		const void *block = NULL;
		size_t n = 0;
		la_int64_t at = 0;
		int got = archive_read_data_block(w->a, &block, &n, &at), code = 0;
		if (!tell_progress(w))
			return err_cancelled(err);
		if (got == ARCHIVE_EOF)
			return 0;
		if (got == ARCHIVE_RETRY)
			continue;
		if (got < ARCHIVE_WARN)
			return bytes_broke(o, w, name, err);
		if (got == ARCHIVE_WARN)
			doubt(o, w, name);
		if (standing && n && !stands(w, s, block, n, (uint64_t)at)) {
			standing = false;
			code = s->n ? put(o, s->at, s->n, 0, err) : 0;
			*s = (struct stretch){NULL, 0};
		}
		if (!code && !standing && n)
			code = put(o, block, n, (uint64_t)at, err);
		if (code)
			return code;
	}
}

/* --- a file packed by itself ------------------------------------------------------------------------ */

int archive_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	struct walk *w;
	struct archive_entry *entry;
	int code = begin(&w, p, in, n, STREAM_STEP, progress, err);
	if (code)
		return code;
	progress_phase(progress, PHASE_INFLATE, n);
	code = unpacked_reserve(o, n < 1u << 20 ? 1u << 20 : n, err);
	int got = code ? ARCHIVE_EOF : archive_read_next_header(w->a, &entry);
	if (!code && got >= ARCHIVE_WARN && got != ARCHIVE_EOF)
		code = take_bytes(o, w, NULL, p->name, err);
	else if (!code && got < ARCHIVE_WARN && (!tell_progress(w) || w->told))
		code = bytes_broke(o, w, p->name, err);
	else if (!code && got < ARCHIVE_WARN && !says(w, (const char *const[]){"unrecognized", NULL}))
		code = bytes_broke(o, w, p->name, err);
	walk_end(w);
	return code;
}

size_t archive_head(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room)
{
	struct walk *w;
	struct archive_entry *entry;
	if (begin(&w, p, in, n, STREAM_STEP, NULL, NULL))
		return 0;
	size_t got = archive_read_next_header(w->a, &entry) == ARCHIVE_OK ? walk_head(w, out, room, room) : 0;
	walk_end(w);
	return got;
}

/* --- members of an archive -------------------------------------------------------------------------- */

int walk_begin(struct walk **out, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err)
{
	return begin(out, p, s.at, s.n, FORMAT_STEP, progress, err);
}

/* Without the "./" that tar writes when it is given a folder. */
static void take_name(struct walk *w)
{
	const char *name = archive_entry_pathname(w->entry);
	text_clear(&w->name);
	name = name ? member_name(name) : NULL;
	if (name && *name)
		text_add(&w->name, name);
	else
		text_addf(&w->name, "#%" PRIu64, w->ordinal); /* without a name, or with one that cannot be decoded */
}

/* What follows the member before cannot be had. */
static int no_next(const struct walk *w, struct err *err)
{
	char why[REASON_MOST + 4];
	if (archive_errno(w->a) == ENOMEM)
		return err_set(err, ERR_NOMEM, "memory: unpacking it needs more");
	if (says(w, words_of_cuts))
		return err_set(err, ERR_TRUNCATED, "truncated at byte %" PRIu64 ", and the rest is missing", w->feed.n);
	if (w->ordinal < 2)
		return err_set(err, ERR_TRUNCATED, "truncated or damaged %s its first file%s", w->ordinal ? "after" : "before",
		    because(w, why));
	return err_set(err, ERR_TRUNCATED, "truncated or damaged after its first %" PRIu64 " files%s", w->ordinal,
	    because(w, why));
}

int walk_next(struct walk *w, struct member *m, struct err *err)
{
	int got;
	do
		got = archive_read_next_header(w->a, &w->entry);
	while (got == ARCHIVE_RETRY);
	if (!tell_progress(w))
		return err_cancelled(err);
	if (got == ARCHIVE_EOF)
		return 0;
	if (got < ARCHIVE_WARN)
		return no_next(w, err);
	w->ordinal++;
	w->broke = false;
	take_name(w);
	*m = (struct member){
	    .ordinal = w->ordinal,
	    .name = w->name.s ? w->name.s : "",
	    .size_known = archive_entry_size_is_set(w->entry) && archive_entry_size(w->entry) >= 0,
	    .written = archive_entry_mtime_is_set(w->entry) ? (int64_t)archive_entry_mtime(w->entry) : 0,
	    .link = archive_entry_hardlink(w->entry) ? archive_entry_hardlink(w->entry) : archive_entry_symlink(w->entry),
	    .encrypted = archive_entry_is_data_encrypted(w->entry) > 0 || archive_entry_is_metadata_encrypted(w->entry) > 0,
	};
	m->size = m->size_known ? (uint64_t)archive_entry_size(w->entry) : 0;
	m->is_file = !m->link && archive_entry_filetype(w->entry) == AE_IFREG;
	return 1;
}

size_t walk_head(struct walk *w, uint8_t *out, size_t least, size_t room)
{
	size_t got = 0;
	while (got < least || (got < room && packing_of(out, got) && !packing_is_archive(packing_of(out, got)))) {
		const void *block = NULL;
		size_t n = 0;
		la_int64_t at = 0;
		int code = archive_read_data_block(w->a, &block, &n, &at);
		w->broke = code != ARCHIVE_EOF && code < ARCHIVE_WARN;
		if (code == ARCHIVE_EOF || w->broke || at < 0 || (uint64_t)at >= room)
			break;
		if ((uint64_t)at > got)
			memset(out + got, 0, (size_t)at - got);
		n = n < room - (size_t)at ? n : room - (size_t)at;
		if (n)
			memcpy(out + at, block, n);
		got = (size_t)at + n > got ? (size_t)at + n : got;
	}
	return got;
}

const char *walk_broke(struct walk *w)
{
	return w->broke ? because(w, w->why) : NULL;
}

/* The room that a member's header promises, where that is possible. */
static uint64_t promised(const struct walk *w, const struct member *m)
{
	enum { BEST_RATIO = 1032 }; /* of deflate; what others pack better grows */
	return m->size_known && m->size / BEST_RATIO <= w->feed.n ? m->size : 1u << 20;
}

int walk_take(struct walk *w, const struct member *m, struct source_file *o, struct stretch *s, const char *packing,
    struct err *err)
{
	*s = (struct stretch){NULL, 0};
	progress_phase(w->feed.progress, PHASE_INFLATE, w->feed.n);
	o->wish = promised(w, m);
	int code = take_bytes(o, w, s, packing, err);
	uint64_t got = s->at ? s->n : o->source.size;
	if (code || o->source.truncated || !m->size_known || got >= m->size)
		return code;
	if (archive_entry_sparse_count(w->entry) > 0) { /* it ends with a hole */
		code = s->at ? put(o, s->at, s->n, 0, err) : 0;
		*s = (struct stretch){NULL, 0};
		code = code ? code : put(o, NULL, 0, m->size, err);
	} else {
		char what[32];
		snprintf(what, sizeof what, "%s data", packing);
		unpacked_cut(o, what, w->feed.n);
	}
	return code;
}

const char *source_support(void)
{
	return archive_version_string();
}
#else
const char *source_support(void)
{
	return "without libarchive: no dumps in archives";
}

int archive_inflate(struct source_file *o, const struct packing *p, const uint8_t *in, uint64_t n,
    struct progress *progress, struct err *err)
{
	(void)o, (void)in, (void)n, (void)progress;
	return err_set(err, ERR_FORMAT, "packed by %s, which this build does not unpack because it has no "
	    "libarchive (%s it first)", p->name, p->by_hand);
}

size_t archive_head(const struct packing *p, const uint8_t *in, uint64_t n, uint8_t *out, size_t room)
{
	(void)p, (void)in, (void)n, (void)out, (void)room;
	return 0;
}

int walk_begin(struct walk **out, const struct packing *p, struct stretch s, struct progress *progress,
    struct err *err)
{
	(void)s, (void)progress;
	*out = NULL;
	return err_set(err, ERR_FORMAT, "a %s archive, which this build does not read because it has no "
	    "libarchive (unpack it first: %s)", p->name, p->by_hand);
}

int walk_next(struct walk *w, struct member *m, struct err *err)
{
	(void)w, (void)m, (void)err;
	return 0;
}

size_t walk_head(struct walk *w, uint8_t *out, size_t least, size_t room)
{
	(void)w, (void)out, (void)least, (void)room;
	return 0;
}

const char *walk_broke(struct walk *w)
{
	(void)w;
	return NULL;
}

int walk_take(struct walk *w, const struct member *m, struct source_file *o, struct stretch *s, const char *packing,
    struct err *err)
{
	(void)w, (void)m, (void)o, (void)s, (void)packing, (void)err;
	return 0;
}

void walk_end(struct walk *w)
{
	(void)w;
}
#endif
