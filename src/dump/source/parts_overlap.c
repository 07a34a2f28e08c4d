/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts_overlap.c - the bytes that a dump's file and its parts have in common.
 *
 * Parts are appended in ascending order and deleted afterwards.  So the file ends with those that were not deleted,
 * one after another, and the last of these perhaps with its beginning only.  Each is searched as Knuth, Morris and
 * Pratt search words, with records in place of letters: that takes time in proportion to the bytes of both.
 */
#include "dump/source/opening.h"

#include "memory/big.h"

#include <string.h>
#include <unistd.h>

/* A record of the part that the file has as well: where it begins in the part, and how many records before it (not
 * all) are the part's first ones. */
struct known {
	uint64_t begin, border;
};

struct search {
	const uint8_t *file;
	const struct part_file *part;
	uint64_t base;       /* the file has the part's first n records here */
	struct known *known; /* n, and the one after them; big memory */
	uint64_t n, capacity;
	const uint8_t *window; /* bytes of the part, those from `at` on */
	uint64_t at, n_window;
	uint8_t block[1 << 16];
};

static bool part_has(struct search *s, uint64_t at, const uint8_t *bytes, uint64_t n)
{
	while (n) {
		if (at < s->at || at - s->at >= s->n_window) {
			ssize_t got = s->part->unpacked ? 0 : pread(s->part->fd, s->block, sizeof s->block, (off_t)at);
			if (got <= 0)
				return false;
			s->window = s->block;
			s->at = at;
			s->n_window = (uint64_t)got;
		}
		uint64_t left = s->at + s->n_window - at, some = n < left ? n : left;
		if (memcmp(s->window + (at - s->at), bytes, some))
			return false;
		at += some;
		bytes += some;
		n -= some;
	}
	return true;
}

/* Is the part's record i these n bytes of the file?  Either may be cut. */
static bool is_record(struct search *s, uint64_t i, const uint8_t *bytes, uint64_t n)
{
	uint64_t begin = s->known[i].begin, length = (i < s->n ? s->known[i + 1].begin : s->part->size) - begin;
	if (n > length)
		n = length;
	return i < s->n ? !memcmp(s->file + s->base + begin, bytes, n) : part_has(s, begin, bytes, n);
}

/* The part's record after those that are known is at this place, and so are all before it. */
static int add_known(struct search *s, const uint8_t *bytes, uint64_t length, struct err *err)
{
	uint64_t i = s->n, k = s->known[i].border, end = s->known[i].begin + length, all = i + 1;
	struct known *next = BIG_PUSH(s->known, all, s->capacity, err);
	if (!next)
		return ERR_NOMEM;
	s->base = (uint64_t)(bytes - s->file) - s->known[i].begin;
	*next = (struct known){.begin = end};
	s->n = i + 1;
	if (!i)
		return 0;
	while (k && !is_record(s, k, bytes, length))
		k = s->known[k].border;
	next->border = k + is_record(s, k, bytes, length);
	return 0;
}

/* Where the file has the part, from parts->next on. */
static int search(struct search *s, const struct source_division *d, struct source_parts *parts, struct part_file *p,
    struct err *err)
{
	uint64_t size = parts->end, i = 0, end, all = 0;
	struct known *first = BIG_PUSH(s->known, all, s->capacity, err);
	if (!first)
		return ERR_NOMEM;
	*first = (struct known){0};
	for (uint64_t at = parts->next, round = 0; at < size; at = end, round++) {
		if (progress_stops(progress_own(), round))
			return err_cancelled(err);
		const uint8_t *record = s->file + at;
		end = d->record_end(s->file, size, at);
		end = end < size ? end : size;
		while (i && !is_record(s, i, record, end - at))
			i = s->known[i].border;
		if (!i && !is_record(s, i, record, end - at))
			continue;
		uint64_t begin = s->known[i].begin;
		if (begin + (end - at) >= p->size) {
			p->merged = true;
			parts->next = end;
			return 0;
		}
		if (end == size)
			parts->end = at - begin; /* the part has it, and more */
		else if (i == s->n && add_known(s, record, end - at, err))
			return ERR_NOMEM;
		i++;
	}
	parts->next = size;
	return 0;
}

int parts_overlap(struct source_file *o, const uint8_t *bytes, struct part_file *p, struct err *err)
{
	struct source_parts *parts = o->parts;
	if (!p->size || parts->next >= parts->end)
		return 0;
	struct search *s = big_alloc(1, sizeof *s, err);
	if (!s)
		return ERR_NOMEM;
	s->file = bytes;
	s->part = p;
	s->base = s->n = s->capacity = s->at = 0;
	s->known = NULL;
	s->window = p->unpacked;
	s->n_window = p->unpacked ? p->size : 0;
	int code = search(s, o->division, parts, p, err);
	big_free(s->known);
	big_free(s);
	return code;
}
