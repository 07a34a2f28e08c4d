/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.c - a dump that a VM wrote in parallel and did not finish: the file and its parts (struct source_division).
 *
 * At the end each part is appended to FILE and deleted.  A VM that dies before leaves FILE, the parts that were not
 * deleted yet, and of the one that was being appended its beginning in FILE, too.
 *
 * All are mapped one behind another, each from a page on, and none is copied; where one is packed, or in an archive,
 * all are unpacked one behind another (parts_join.c).  source.pieces tells the reader where each begins and ends.  What
 * stands in FILE and in a part is read once.
 */
#include "dump/source/opening.h"

#include "base/mem.h"
#include "base/text.h"
#include "memory/big.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PARTS = 256, DIGITS_MOST = 4 };

/* --- which there are ------------------------------------------------------------------------------ */

/* The number behind ".p" at the end of a name; -1: it has none. */
int parts_number(const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t n = dot && dot[1] == 'p' ? strspn(dot + 2, "0123456789") : 0;
	return n && n <= DIGITS_MOST && !dot[2 + n] && (n == 1 || dot[2] != '0') ? (int)strtol(dot + 2, NULL, 10) : -1;
}

/* Is the second the name of a part of the first? */
static bool has_part(const char *name, const char *part)
{
	size_t n = strlen(name);
	return !strncmp(part, name, n) && strrchr(part, '.') == part + n && parts_number(part + n) >= 0;
}

/* In the order of numbers; the one that has this number already; NULL: there are too many. */
static struct part_file *add_part(struct source_parts *parts, int number)
{
	size_t at = parts->n;
	while (at > 0 && parts->part[at - 1].number > number)
		at--;
	if (at > 0 && parts->part[at - 1].number == number)
		return &parts->part[at - 1];
	if (parts->n == MOST_PARTS)
		return NULL;
	memmove(parts->part + at + 1, parts->part + at, (parts->n - at) * sizeof *parts->part);
	parts->n++;
	parts->part[at] = (struct part_file){.number = number, .fd = -1};
	return &parts->part[at];
}

/* Does the file begin as a part does, packed or not?  One with nothing in it yet is one, too. */
static bool is_part(const struct source_division *d, int fd, bool *packed)
{
	uint8_t head[SOURCE_HEAD], first;
	ssize_t got = pread(fd, head, sizeof head, 0);
	const struct packing *p = got > 0 ? packing_of(head, (uint64_t)got) : NULL;
	*packed = p && p->head;
	if (*packed)
		return !p->head(p, head, (uint64_t)got, &first, 1) || d->begins_part(&first);
	return got == 0 || (got > 0 && d->begins_part(head));
}

static void open_part(struct source_file *o, const char *path, int number)
{
	struct stat st;
	bool packed;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_part(o->division, fd, &packed)) {
		close(fd);
		return;
	}
	struct part_file *p = add_part(o->parts, number);
	o->parts->unpacked |= packed;
	p->fd = fd;
	p->size = (uint64_t)st.st_size;
	p->written = st.st_mtim;
	p->hold = file_hold_open(fd, "a part of the dump");
}

static void find_beside(struct source_file *o)
{
	const char *path = o->parts->name, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup("./");
	size_t n = strlen(name);
	DIR *d = opendir(folder);
	for (struct dirent *e; d && o->parts->n < MOST_PARTS && (e = readdir(d));) {
		if (!has_part(name, e->d_name))
			continue;
		struct text full = TEXT_INIT;
		text_addf(&full, "%s%s", folder, e->d_name);
		if (full.s)
			open_part(o, full.s, parts_number(e->d_name + n));
		text_release(&full);
	}
	if (d)
		closedir(d);
	free(folder);
}

/* In an archive its parts are members, too; of several of a name the last is meant. */
static int find_in_archive(struct source_file *o, struct err *err)
{
	struct source_parts *parts = o->parts;
	struct err broke = ERR_INIT;
	struct walk *w;
	struct member m;
	int got = 0, code = walk_begin(&w, parts->packing, parts->archive, progress_own(), err);
	while (!code && o->source.n_pieces <= MOST_PARTS && (got = walk_next(w, &m, &broke)) == 1) {
		struct part_file *p = m.is_file && !m.encrypted && has_part(parts->name, m.name) ?
		    add_part(parts, parts_number(m.name)) : NULL;
		code = p ? parts_take_member(o, p, w, &m, err) : 0;
	}
	walk_end(w);
	if (!code && (got == ERR_NOMEM || got == ERR_CANCELLED))
		code = err_set(err, got, "%s", broke.message);
	big_free(parts->memory);
	parts->memory = NULL;
	return code;
}

/* --- what is said of them -------------------------------------------------------------------------- */

static const char *state_of(const struct part_file *p)
{
	return p->merged ? " (included)" : p->damaged ? " (damaged)" : !p->size ? " (empty)" : p->cut ? " (truncated)" : "";
}

static void say_parts(struct source_file *o)
{
	struct source_parts *parts = o->parts;
	struct text t = TEXT_INIT;
	text_add(&t, "the VM did not finish the dump: cairn reads it with its parts");
	int next = parts->holds.objects ? parts->part[0].number : 0; /* those before were joined to it, or are missing */
	bool missing = false;
	for (size_t i = 0; i < parts->n; i++) {
		const struct part_file *p = &parts->part[i];
		if (p->is_none)
			continue;
		missing |= p->number != next;
		next = p->number + 1;
		text_addf(&t, " .p%d%s", p->number, state_of(p));
		if (t.len > 120 && i + 2 < parts->n) {
			text_add(&t, " ...");
			i = parts->n - 2;
			next = parts->part[i + 1].number;
		}
	}
	text_add(&t, missing ? "; other parts are missing" : "");
	text_add(&t, parts->holds.names ? "" : "; names that were not written are unknown");
	snprintf(parts->words, sizeof parts->words, "%s", t.s ? t.s : "");
	text_release(&t);
	o->broken_off = parts->words;
	o->source.gaps = true;
}

int parts_refuse(const struct source_file *o, struct err *err)
{
	const char *path = o->source.path, *dot = strrchr(path, '.');
	bool packed;
	if (!o->division || parts_number(path) < 0 || !is_part(o->division, o->fd, &packed))
		return 0;
	char *whole = xstrndup(path, (size_t)(dot - path));
	bool there = access(whole, F_OK) == 0;
	const char *slash = strrchr(whole, '/');
	int code = err_set(err, ERR_FORMAT, there ? "is a part of an unfinished dump (open %.60s, which includes "
	    "all parts)" : "is a part of an unfinished dump, and %.60s, which has the names, is "
		"missing",
	    slash ? slash + 1 : whole);
	free(whole);
	return code;
}

static struct source_parts *new_parts(struct source_file *o, const char *name)
{
	struct source_parts *parts = o->parts = xcalloc(1, sizeof *parts);
	parts->part = xcalloc(MOST_PARTS, sizeof *parts->part);
	parts->piece = xcalloc(MOST_PARTS + 1, sizeof *parts->piece);
	parts->name = xstrdup(name);
	parts->own = o->map_size;
	return parts;
}

void parts_keep_archive(struct source_file *o, const char *name, const struct packing *p, struct stretch archive,
    uint8_t *memory)
{
	struct source_parts *parts = new_parts(o, name);
	parts->packing = p;
	parts->archive = archive;
	parts->memory = memory;
}

int parts_open(struct source_file *o, struct err *err)
{
	struct source_own holds;
	if (!o->division || (!o->parts && (o->member || o->inside)) ||
	    !o->division->unfinished(o->source.bytes, o->source.size, &holds)) {
		parts_close(o);
		return 0;
	}
	struct source_parts *parts = o->parts ? o->parts : new_parts(o, o->source.path);
	parts->holds = holds;
	parts->next = holds.body;
	parts->end = o->source.size;
	parts->unpacked = parts->packing || o->unpacked;
	int code = 0;
	if (parts->packing)
		code = find_in_archive(o, err);
	else
		find_beside(o);
	if (code)
		return code;
	if (!parts->n) {
		parts_close(o);
		return 0;
	}
	code = parts->unpacked ? parts_unpack(o, err) : parts_map(o, err);
	if (code == 0)
		say_parts(o);
	return code;
}

void parts_unmap(struct source_file *o)
{
	for (size_t i = 0; o->parts && i < o->parts->n; i++) {
		sigbus_guard_forget(o->parts->part[i].mapping);
		o->parts->part[i].mapping = NULL;
	}
}

void parts_close(struct source_file *o)
{
	if (!o->parts)
		return;
	for (size_t i = 0; i < o->parts->n; i++) {
		file_let_go(o->parts->part[i].hold);
		if (o->parts->part[i].fd >= 0)
			close(o->parts->part[i].fd);
	}
	big_free(o->parts->memory);
	free(o->parts->part);
	free(o->parts->piece);
	free(o->parts->name);
	free(o->parts);
	o->parts = NULL;
}

bool parts_damage(const struct source_file *o, uint64_t *offset)
{
	struct stat now;
	for (size_t i = 0; o->parts && i < o->parts->n; i++) {
		const struct part_file *p = &o->parts->part[i];
		if (!p->mapping)
			continue;
		if (fstat(p->fd, &now) == 0 && (uint64_t)now.st_size < p->size)
			sigbus_guard_tell(p->mapping, (uint64_t)now.st_size);
		uint64_t lost = sigbus_guard_lost(p->mapping);
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
		const struct part_file *p = &o->parts->part[i];
		changed = fstat(p->fd, &now) == 0 && ((uint64_t)now.st_size != p->size ||
		    now.st_mtim.tv_sec != p->written.tv_sec || now.st_mtim.tv_nsec != p->written.tv_nsec);
	}
	return changed;
}
