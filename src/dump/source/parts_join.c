/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts_join.c - a dump and its parts as one stretch of bytes: mapped one behind another, or unpacked.
 */
#include "dump/source/opening.h"

#include "base/big.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- unpacked ------------------------------------------------------------------------------------- */

/* Behind what is there.  A part that has nothing yet, or all of which FILE has, is none of the pieces. */
static int append(struct source_file *o, struct stored_part *p, struct err *err)
{
	struct source_parts *parts = o->parts;
	uint64_t begin = o->source.size;
	if (!p->size)
		return 0;
	if (!o->division->begins_part(p->unpacked)) { /* of a member of an archive this is the first look at its bytes */
		p->is_none = true;
		return 0;
	}
	int code = parts_overlap(o, o->unpacked, p, err);
	if (code || p->merged)
		return code;
	if (unpacked_reserve(o, begin + p->size, err))
		return ERR_NOMEM;
	memcpy(o->unpacked + begin, p->unpacked, p->size);
	o->source.size += p->size;
	parts->piece[0].end = parts->end;
	parts->piece[o->source.n_pieces++] = (struct source_piece){begin, o->source.size};
	return 0;
}

/* One that does not unpack leaves the others. */
static int unpack_part(struct source_file *o, struct stored_part *p, struct err *err)
{
	struct text path = TEXT_INIT;
	struct err why = ERR_INIT;
	text_addf(&path, "%s.p%d", o->parts->name, p->number);
	struct source_file *part = source_new(path.s);
	int code = stored_open(part, part->file, progress_own(), &why);
	if (code == 0)
		code = stored_map(part, &why);
	if (code == 0)
		code = unpack(part, NULL, true, progress_own(), &why);
	p->size = code ? 0 : part->source.size;
	p->unpacked = part->source.bytes;
	p->damaged = code || (part->source.cut && !part->ends_early); /* where the VM died it only ends */
	p->cut = part->ends_early;
	o->source.doubtful |= part->source.doubtful;
	if (p->fd >= 0) /* a member is of the archive, which is counted */
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

/* What stands in the mapping comes into memory. */
static int copy_own(struct source_file *o, struct err *err)
{
	if (o->unpacked)
		return 0;
	o->wish = 0;
	int code = unpacked_reserve(o, o->source.size, err);
	if (code == 0)
		memcpy(o->unpacked, o->source.bytes, o->source.size);
	return code;
}

int parts_unpack(struct source_file *o, struct err *err)
{
	int code = copy_own(o, err);
	o->parts->piece[0] = (struct source_piece){0, o->source.size};
	o->source.n_pieces = 1;
	for (size_t i = 0; i < o->parts->n && !code; i++) {
		struct stored_part *p = &o->parts->part[i];
		if (p->fd < 0 || p->size)
			code = unpack_part(o, p, err);
	}
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
int parts_map(struct source_file *o, struct err *err)
{
	struct source_parts *parts = o->parts;
	int code = 0;
	for (size_t i = 0; i < parts->n && !code; i++)
		code = parts_overlap(o, o->source.bytes, &parts->part[i], err);
	if (code)
		return code;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), total = to_page(o->map_size, page), disk = o->map_size;
	parts->own = o->map_size;
	parts->piece[0] = (struct source_piece){0, parts->end};
	o->source.n_pieces = 1;
	for (size_t i = 0; i < parts->n; i++) {
		struct stored_part *p = &parts->part[i];
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
	o->mapping = vanish_watch(range, parts->own, o->fd, 0);
	code = o->mapping ? 0 : err_set(err, ERR_NOMEM, "more than %d dumps are open", VANISH_MOST);
	for (size_t i = 0; i < parts->n && !code; i++)
		code = parts->part[i].at ? map_part(&parts->part[i], range, err) : 0;
	o->source.bytes = range;
	o->source.pieces = parts->piece;
	o->source.size = parts->piece[o->source.n_pieces - 1].end;
	o->source.file_size = disk;
	return code;
}
