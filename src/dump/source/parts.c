/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.c - an HPROF dump that HotSpot wrote in parallel and did not finish: the file and its parts beside it.
 *
 * Names and stacks go to FILE, the objects to FILE.p0, FILE.p1 and so on; at the end each is appended to FILE and
 * deleted, and the record that ends the dump is written.  A VM that dies before leaves FILE, the parts that were not
 * deleted yet, and of the one that was being appended its beginning in FILE, too.
 *
 * All are mapped one behind another, each from a page on, and none is copied; of a dump that is packed by gzip each
 * part is, too, and all are unpacked one behind another.  source.pieces tells the reader where each begins and ends.
 * What stands in FILE and in a part is read once.
 */
#include "dump/source/opening.h"

#include "base/big.h"
#include "base/mem.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAD = 9, SEGMENT = 0x1C, DUMP_END = 0x2C, MOST_PARTS = 256, DIGITS_MOST = 4 };

static uint32_t length_at(const uint8_t *record)
{
	return (uint32_t)record[5] << 24 | (uint32_t)record[6] << 16 | (uint32_t)record[7] << 8 | record[8];
}

/* --- which there are ------------------------------------------------------------------------------ */

/* The number behind ".p" at the end of a name; -1: it has none. */
static int number_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t n = dot && dot[1] == 'p' ? strspn(dot + 2, "0123456789") : 0;
	return n && n <= DIGITS_MOST && !dot[2 + n] && (n == 1 || dot[2] != '0') ? (int)strtol(dot + 2, NULL, 10) : -1;
}

/* Does the file begin as a part does, and is packed as the dump is? */
static bool is_part(int fd, bool packed)
{
	uint8_t head[SOURCE_HEAD], first = 0;
	ssize_t got = pread(fd, head, sizeof head, 0);
	const struct packing *p = got > 0 ? packing_of(head, (uint64_t)got) : NULL;
	if (!packed)
		return got > 0 && head[0] == SEGMENT;
	return p && p->head && p->head(p, head, (uint64_t)got, &first, 1) == 1 && first == SEGMENT;
}

/* It is a part, and stands among the others by its number, or is left closed. */
static void open_part(struct source_parts *parts, const char *path, int number)
{
	size_t at = parts->n;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_part(fd, parts->packed)) {
		close(fd);
		return;
	}
	while (at > 0 && parts->part[at - 1].number > number)
		at--;
	memmove(parts->part + at + 1, parts->part + at, (parts->n - at) * sizeof *parts->part);
	parts->part[at] = (struct stored_part){.number = number, .fd = fd, .size = (uint64_t)st.st_size,
	    .written = st.st_mtim, .hold = file_hold_open(fd, "a part of the dump")};
	parts->n++;
}

static void find_parts(struct source_parts *parts, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup("./");
	size_t n = strlen(name);
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d)) && parts->n < MOST_PARTS;) {
		if (!parts_has(name, e->d_name))
			continue;
		struct text full = TEXT_INIT;
		text_addf(&full, "%s%s", folder, e->d_name);
		if (full.s)
			open_part(parts, full.s, number_of(e->d_name + n));
		text_release(&full);
	}
	if (d)
		closedir(d);
	free(folder);
}

/* --- what stands in two of them ------------------------------------------------------------------- */

/* Are the first n bytes of a part these? */
static bool begins_with(const struct stored_part *p, const uint8_t *bytes, uint64_t n)
{
	if (p->unpacked)
		return !memcmp(p->unpacked, bytes, n);
	static _Thread_local uint8_t block[1 << 16];
	for (uint64_t at = 0; at < n;) {
		size_t want = n - at < sizeof block ? (size_t)(n - at) : sizeof block;
		ssize_t got = pread(p->fd, block, want, (off_t)at);
		if (got <= 0 || memcmp(block, bytes + at, (size_t)got))
			return false;
		at += (uint64_t)got;
	}
	return true;
}

/* The part's first bytes may be FILE's last ones, or all of it may stand there: a part begins where a record does. */
static void find_overlap(const uint8_t *bytes, uint64_t *size, uint64_t body, struct stored_part *p)
{
	for (uint64_t at = body; at < *size && !progress_stops(progress_own(), at);) {
		uint64_t left = *size - at, n = left < p->size ? left : p->size;
		if (bytes[at] == SEGMENT && begins_with(p, bytes + at, n)) {
			p->merged = n == p->size;
			if (!p->merged)
				*size = at; /* the part has it, and more */
			return;
		}
		if (left < HEAD)
			return;
		at += HEAD + (uint64_t)length_at(bytes + at);
	}
}

/* --- unpacked ------------------------------------------------------------------------------------- */

/* Behind what is there.  A part that has nothing yet, or all of which FILE has, is none of the pieces. */
static int append(struct source_file *o, struct stored_part *p, struct err *err)
{
	struct source_parts *parts = o->parts;
	uint64_t own = parts->piece[0].end, begin = o->source.size;
	if (!p->size)
		return 0;
	find_overlap(o->unpacked, &own, parts->body, p);
	if (p->merged)
		return 0;
	if (unpacked_reserve(o, begin + p->size, err))
		return ERR_NOMEM;
	memcpy(o->unpacked + begin, p->unpacked, p->size);
	o->source.size += p->size;
	parts->piece[0].end = own;
	parts->piece[o->source.n_pieces++] = (struct source_piece){begin, o->source.size};
	return 0;
}

/* One that does not unpack leaves the others. */
static int unpack_part(struct source_file *o, struct stored_part *p, struct err *err)
{
	struct text path = TEXT_INIT;
	struct err why = ERR_INIT;
	text_addf(&path, "%s.p%d", o->file, p->number);
	struct source_file *part = source_new(path.s);
	int code = stored_open(part, path.s, progress_own(), &why);
	if (code == 0)
		code = stored_map(part, &why);
	if (code == 0)
		code = unpack(part, NULL, true, progress_own(), &why);
	p->size = code ? 0 : part->source.size;
	p->unpacked = part->source.bytes;
	p->damaged = part->source.cut && !part->ends_early; /* where the VM died it only ends */
	o->source.doubtful |= part->source.doubtful;
	o->source.file_size += part->source.file_size;
	if (code == ERR_NOMEM || code == ERR_CANCELLED)
		code = err_set(err, code, "%s", why.message);
	else
		code = append(o, p, err);
	p->unpacked = NULL;
	source_close(&part->source);
	text_release(&path);
	return code;
}

/* Behind what FILE unpacked to. */
static int unpack_all(struct source_file *o, struct err *err)
{
	int code = 0;
	o->parts->piece[0] = (struct source_piece){0, o->source.size};
	o->source.n_pieces = 1;
	for (size_t i = 0; i < o->parts->n && !code; i++)
		code = unpack_part(o, &o->parts->part[i], err);
	if (code)
		return code;
	o->unpacked = big_fit(o->unpacked, o->source.size, 1);
	o->capacity = o->source.size;
	o->source.bytes = o->unpacked;
	o->source.pieces = o->parts->piece;
	return 0;
}

/* --- one range ------------------------------------------------------------------------------------ */

static uint64_t to_page(uint64_t size, uint64_t page)
{
	return (size + page - 1) / page * page;
}

static int map_part(struct stored_part *p, uint8_t *range, struct err *err)
{
	void *map = mmap(range + p->at, p->size, PROT_READ, MAP_PRIVATE | MAP_FIXED, p->fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_IO, "part .p%d cannot be mapped: %s", p->number, strerror(errno));
	p->mapping = vanish_watch(map, p->size, p->fd, 0);
	return p->mapping ? 0 : err_set(err, ERR_NOMEM, "more than %d dumps are open", VANISH_MOST);
}

/* FILE's mapping makes room for one of all. */
static int map_all(struct source_file *o, uint64_t own, struct err *err)
{
	struct source_parts *parts = o->parts;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), total = to_page(o->map_size, page), disk = o->map_size;
	parts->own = o->map_size;
	parts->piece[0] = (struct source_piece){0, own};
	o->source.n_pieces = 1;
	for (size_t i = 0; i < parts->n; i++) {
		struct stored_part *p = &parts->part[i];
		if (p->merged || p->size > PTRDIFF_MAX / 2 || total > PTRDIFF_MAX / 2)
			continue;
		p->at = total;
		parts->piece[o->source.n_pieces++] = (struct source_piece){total, total + p->size};
		total += to_page(p->size, page);
		disk += p->size;
	}
	uint8_t *range = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (range == MAP_FAILED)
		return big_refused(total, 1, err);
	stored_unmap(o);
	o->map = range;
	o->map_size = total;
	if (mmap(range, parts->own, PROT_READ, MAP_PRIVATE | MAP_FIXED, o->fd, 0) == MAP_FAILED)
		return err_set(err, ERR_IO, "cannot be mapped: %s", strerror(errno));
	o->mapping = vanish_watch(range, parts->own, o->fd, 0);
	int code = o->mapping ? 0 : err_set(err, ERR_NOMEM, "more than %d dumps are open", VANISH_MOST);
	for (size_t i = 0; i < parts->n && !code; i++)
		code = parts->part[i].at ? map_part(&parts->part[i], range, err) : 0;
	o->source.bytes = range;
	o->source.pieces = parts->piece;
	o->source.size = parts->piece[o->source.n_pieces - 1].end;
	o->source.file_size = disk;
	return code;
}

static void say_parts(struct source_file *o)
{
	struct source_parts *parts = o->parts;
	struct text t = TEXT_INIT;
	text_add(&t, "the VM did not finish it: read together with its parts");
	int next = parts->part[0].number;
	const char *missing = "";
	for (size_t i = 0; i < parts->n; i++) {
		const struct stored_part *p = &parts->part[i];
		if (p->number != next)
			missing = ", between which some are missing";
		next = p->number + 1;
		text_addf(&t, " .p%d%s", p->number, p->merged ? " (which is in it)" : p->damaged ? " (damaged)" : "");
		if (t.len > 120 && i + 2 < parts->n) {
			text_add(&t, " ...");
			i = parts->n - 2;
			next = parts->part[i + 1].number;
		}
	}
	text_addf(&t, "%s; in byte numbers each begins %s", missing, parts->packed ? "where the one before it ends" :
	    "with a page");
	snprintf(parts->words, sizeof parts->words, "%s", t.s ? t.s : "");
	text_release(&t);
	o->broken_off = parts->words;
	o->source.gaps = *missing;
}

bool parts_unfinished(const uint8_t *bytes, uint64_t n)
{
	static const char magic[] = "JAVA PROFILE 1.0.";
	return bytes && n > 2 * sizeof magic + HEAD && !memcmp(bytes, magic, sizeof magic - 1) &&
	    !(bytes[n - HEAD] == DUMP_END && !length_at(bytes + n - HEAD));
}

bool parts_has(const char *name, const char *part)
{
	size_t n = strlen(name);
	return !strncmp(part, name, n) && strrchr(part, '.') == part + n && number_of(part + n) >= 0;
}

int parts_refuse(const struct source_file *o, struct err *err)
{
	const char *path = o->source.path, *dot = strrchr(path, '.');
	if (number_of(path) < 0 || !is_part(o->fd, packing_of(o->source.bytes, o->source.size)))
		return 0;
	char *whole = xstrndup(path, (size_t)(dot - path));
	bool there = access(whole, F_OK) == 0;
	const char *slash = strrchr(whole, '/');
	int code = err_set(err, ERR_FORMAT, there ? "is a part of a dump that the VM did not finish: open %.60s, which is "
	    "read with all its parts" : "is a part of a dump that the VM did not finish; %.60s, which has "
	    "the names, is missing",
	    slash ? slash + 1 : whole);
	free(whole);
	return code;
}

int parts_open(struct source_file *o, struct err *err)
{
	uint64_t own = o->source.size;
	if (!parts_unfinished(o->source.bytes, o->source.size))
		return 0;
	o->parts = xcalloc(1, sizeof *o->parts);
	o->parts->part = xcalloc(MOST_PARTS, sizeof *o->parts->part);
	o->parts->piece = xcalloc(MOST_PARTS + 1, sizeof *o->parts->piece);
	o->parts->packed = o->unpacked;
	find_parts(o->parts, o->source.path);
	if (!o->parts->n) {
		parts_close(o);
		return 0;
	}
	const uint8_t *zero = memchr(o->source.bytes, 0, 32);
	o->parts->body = zero ? (uint64_t)(zero - o->source.bytes) + 13 : own;
	for (size_t i = 0; i < o->parts->n && !o->parts->packed; i++)
		find_overlap(o->source.bytes, &own, o->parts->body, &o->parts->part[i]);
	int code = progress_check(progress_own(), err);
	if (code == 0)
		code = o->parts->packed ? unpack_all(o, err) : map_all(o, own, err);
	if (code == 0)
		say_parts(o);
	return code;
}

void parts_unmap(struct source_file *o)
{
	for (size_t i = 0; o->parts && i < o->parts->n; i++) {
		vanish_forget(o->parts->part[i].mapping);
		o->parts->part[i].mapping = NULL;
	}
}

void parts_close(struct source_file *o)
{
	if (!o->parts)
		return;
	for (size_t i = 0; i < o->parts->n; i++) {
		file_let_go(o->parts->part[i].hold);
		close(o->parts->part[i].fd);
	}
	free(o->parts->part);
	free(o->parts->piece);
	free(o->parts);
	o->parts = NULL;
}

bool parts_damage(const struct source_file *o, uint64_t *offset)
{
	struct stat now;
	for (size_t i = 0; o->parts && i < o->parts->n; i++) {
		const struct stored_part *p = &o->parts->part[i];
		if (!p->mapping)
			continue;
		if (fstat(p->fd, &now) == 0 && (uint64_t)now.st_size < p->size)
			vanish_tell(p->mapping, (uint64_t)now.st_size);
		uint64_t lost = vanish_lost(p->mapping);
		if (lost != UINT64_MAX) {
			*offset = p->at + lost;
			return true;
		}
	}
	return false;
}

bool parts_changed(const struct source_file *o)
{
	struct stat now;
	bool changed = false;
	for (size_t i = 0; o->parts && i < o->parts->n && !changed; i++) {
		const struct stored_part *p = &o->parts->part[i];
		changed = fstat(p->fd, &now) == 0 && ((uint64_t)now.st_size != p->size ||
		    now.st_mtim.tv_sec != p->written.tv_sec || now.st_mtim.tv_nsec != p->written.tv_nsec);
	}
	return changed;
}
