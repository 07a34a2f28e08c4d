/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts_join.c - a dump and its parts as one stretch of bytes: mapped one behind another, or unpacked.
 */
#include "dump/source/opening.h"

#include "base/text.h"
#include "memory/big.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- unpacked ------------------------------------------------------------------------------------- */

/* What stands in the mapping comes into memory: the first piece. */
static int copy_own(struct source_file *o, struct err *err)
{
	o->parts->piece[0] = (struct source_piece){0, o->source.size};
	o->source.n_pieces = 1;
	if (o->unpacked)
		return 0;
	o->wish = 0;
	int code = unpacked_reserve(o, o->source.size, err);
	if (code == 0)
		memcpy(o->unpacked, o->source.bytes, o->source.size);
	return code;
}

/* After what is there.  A part that has nothing yet is not a piece. */
static int append(struct source_file *o, struct part_file *p, const uint8_t *bytes, struct err *err)
{
	if (!p->size)
		return 0;
	if (!o->division->begins_part(bytes)) { /* of a member of an archive this is the first look at its bytes */
		p->is_none = true;
		return 0;
	}
	int code = o->source.n_pieces ? 0 : copy_own(o, err);
	uint64_t begin = o->source.size;
	if (code || unpacked_reserve(o, begin + p->size, err))
		return ERR_NOMEM;
	memcpy(o->unpacked + begin, bytes, p->size);
	o->source.size += p->size;
	p->piece = o->source.n_pieces++;
	o->parts->piece[p->piece] = (struct source_piece){begin, o->source.size};
	return 0;
}

/* What opening the part gave: these bytes, or an error.  One that does not unpack leaves the others. */
static int take(struct source_file *o, struct part_file *p, struct source_file *part, struct stretch s, int code,
    const struct err *why, struct err *err)
{
	p->size = code ? 0 : s.n;
	p->damaged = code || (part->source.truncated && !part->ends_early); /* where the VM died it only ends */
	p->cut = part->ends_early;
	o->source.doubtful |= part->source.doubtful;
	if (code == ERR_NOMEM || code == ERR_CANCELLED)
		code = err_set(err, code, "%s", why->message);
	else
		code = append(o, p, s.at, err);
	source_close(&part->source);
	return code;
}

int parts_take_member(struct source_file *o, struct part_file *p, struct walk *w, const struct member *m,
    struct err *err)
{
	struct source_file *part = source_new(m->name);
	struct err why = ERR_INIT;
	struct stretch s = {NULL, 0};
	if (p->piece) /* an earlier one of the same name */
		o->parts->piece[p->piece].end = o->parts->piece[p->piece].begin;
	*p = (struct part_file){.number = p->number, .fd = -1};
	int code = source_unpack_member(part, w, m, o->parts->packing, &s, progress_own(), &why);
	code = take(o, p, part, s, code, &why, err);
	p->damaged |= o->parts->damaged && !p->cut;
	return code;
}

static int unpack_part(struct source_file *o, struct part_file *p, struct err *err)
{
	struct text path = TEXT_INIT;
	struct err why = ERR_INIT;
	text_addf(&path, "%s.p%d", o->parts->name, p->number);
	struct source_file *part = source_new(path.s);
	int code = stored_open(part, part->file, progress_own(), &why);
	if (code == 0)
		code = stored_map(part, &why);
	if (code == 0)
		code = source_unpack(part, NULL, true, progress_own(), &why);
	o->source.file_size += part->source.file_size;
	text_release(&path);
	return take(o, p, part, (struct stretch){part->source.bytes, part->source.size}, code, &why, err);
}

/* Find those that the dump's file has as well. */
static int find_merged(struct source_file *o, struct err *err)
{
	int code = 0;
	for (size_t i = 0; i < o->parts->n && !code; i++) {
		struct part_file *p = &o->parts->part[i];
		struct source_piece *piece = &o->parts->piece[p->piece];
		if (!p->piece)
			continue;
		p->unpacked = o->unpacked + piece->begin;
		code = parts_overlap(o, o->unpacked, p, err);
		p->unpacked = NULL;
		if (p->merged)
			piece->end = piece->begin;
	}
	return code;
}

/* Give back the room of pieces that are left out. */
static void close_gaps(struct source_file *o)
{
	struct source_piece *piece = o->parts->piece;
	uint64_t to = piece[0].end;
	size_t n = 1;
	for (size_t i = 1; i < o->source.n_pieces; i++) {
		uint64_t size = piece[i].end - piece[i].begin;
		if (size && piece[i].begin > to)
			memmove(o->unpacked + to, o->unpacked + piece[i].begin, size);
		if (size)
			piece[n++] = (struct source_piece){to, to + size};
		to += size;
	}
	piece[0].end = o->parts->end;
	o->source.n_pieces = n;
	o->source.size = to;
}

int parts_unpack(struct source_file *o, struct err *err)
{
	int code = o->source.n_pieces ? 0 : copy_own(o, err);
	for (size_t i = 0; i < o->parts->n && !code; i++)
		code = o->parts->part[i].fd >= 0 && o->parts->part[i].size ? unpack_part(o, &o->parts->part[i], err) : 0;
	if (code == 0)
		code = find_merged(o, err);
	if (code)
		return code;
	close_gaps(o);
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

static int map_part(struct part_file *p, uint8_t *range, struct err *err)
{
	void *map = mmap(range + p->at, p->size, PROT_READ, MAP_PRIVATE | MAP_FIXED, p->fd, 0);
	if (map == MAP_FAILED)
		return err_set(err, ERR_IO, "part .p%d cannot be mapped: %s", p->number, strerror(errno));
	p->mapping = sigbus_guard_watch(map, p->size, p->fd, 0);
	return p->mapping ? 0 : err_set(err, ERR_NOMEM, "too many open dumps (at most %d)", SIGBUS_GUARD_MOST);
}

/* FILE's mapping makes room for one of all. */
int parts_map(struct source_file *o, struct err *err)
{
	struct source_parts *parts = o->parts;
	int code = 0;
	for (size_t i = 0; i < parts->n && !code; i++)
		code = parts_overlap(o, o->source.bytes, &parts->part[i], err);
	if (code)
		return code;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), total = to_page(o->map_size, page), disk = o->map_size;
	parts->piece[0] = (struct source_piece){0, parts->end};
	o->source.n_pieces = 1;
	for (size_t i = 0; i < parts->n; i++) {
		struct part_file *p = &parts->part[i];
		if (p->merged || !p->size || p->size > PTRDIFF_MAX / 2 || total > PTRDIFF_MAX / 2)
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
	o->mapping = sigbus_guard_watch(range, parts->own, o->fd, 0);
	code = o->mapping ? 0 : err_set(err, ERR_NOMEM, "too many open dumps (at most %d)", SIGBUS_GUARD_MOST);
	for (size_t i = 0; i < parts->n && !code; i++)
		code = parts->part[i].at ? map_part(&parts->part[i], range, err) : 0;
	o->source.bytes = range;
	o->source.pieces = parts->piece;
	o->source.size = parts->piece[o->source.n_pieces - 1].end;
	o->source.file_size = disk;
	return code;
}
