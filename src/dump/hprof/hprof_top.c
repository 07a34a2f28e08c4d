/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_top.c - the top-level records: names and stacks by identifier, and where the heap lies.
 *
 * Only the heads of heap records are read here, and the lengths in them are not trusted.  The
 * length of a heap dump record wraps at 4 GiB in dumps of old VMs, stays 0 when the VM died, and
 * may simply be wrong.  If no record begins at the stated end, the sub-records are walked: a record whose
 * sub-records end exactly there is whole, whatever follows it.  Where bytes cannot be a record, reading goes
 * on at the next place where several records follow each other.
 *
 * A file can hold several dumps.  Each has a header, an identifier size and names of its own, and is walked
 * by itself; their heaps are numbered through.
 */
#include "dump/hprof/hprof_dump.h"

#include "base/progress.h"
#include "base/text.h"
#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	struct hprof *h;
	struct progress *work;
	uint64_t rounds;  /* of loops, for looks at the cancel flag */
	const uint8_t *bytes;
	uint64_t size;
	struct err *err;
	uint64_t in_vain; /* bytes of heap records that were walked for a stated end that none has */
	unsigned wanted;  /* number of the heap asked for, 0: the last, or the largest where the dump is damaged */
	unsigned n_heaps; /* begun so far */
	bool open;        /* the last of them is a run of segments that has not ended */
	bool ended;       /* some heap has */
	bool ended_by_record; /* the last one has the record that says so */
	uint64_t rest;    /* where the bytes begin that follow the dump and belong to none; 0: there are none */
	bool followed;    /* by another dump */
	bool names;       /* some record names a class */
	bool samples;     /* some record has CPU samples */
	uint64_t broke_off; /* up to here some class record was followed that turned out to be none */
	uint32_t cap_segments;
	struct one_heap {
		struct hprof_segment *segments; /* big */
		uint32_t n, capacity;
		unsigned number;
		uint32_t delay;
		uint64_t bytes;
	} largest; /* of those before the one in h, where none is wanted */
};

void hprof_note(struct hprof *h, uint64_t offset, const char *format, ...)
{
	if (h->n_notes == sizeof h->notes / sizeof *h->notes)
		return;
	struct hprof_note *note = &h->notes[h->n_notes++];
	va_list args;
	va_start(args, format);
	text_format(note->text, sizeof note->text, format, args);
	va_end(args);
	note->offset = offset;
}

/* The first damage is what the dump is true up to; damage after it is reported as well. */
__attribute__((format(printf, 4, 5))) static void damage(struct walk *w, enum err_code code,
    uint64_t offset, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	text_format(text, sizeof text, format, args);
	va_end(args);
	if (w->h->damaged) {
		hprof_note(w->h, offset, "%s", text);
		return;
	}
	w->h->damaged = true;
	err_at(&w->h->damage, code, offset, "%s", text);
}

/* --- what can be a record ----------------------------------------------------------------------- */

/*
 * Whatever can be a record is looked at from each byte behind damage on.  A class record can have
 * nearly 200,000 entries, so it is judged by its first ones there; otherwise each byte would cost as
 * much, in a dump that was made to.
 */
enum { GLANCE = 16, SECOND_LOOK = 256 };

/* As hprof_sub_size, but HPROF_UNSEEN for a class record of more than a few entries. */
static uint64_t glance(const struct walk *w, uint64_t at)
{
	const uint8_t *p = w->bytes + at;
	uint64_t left = w->size - at, seen;
	const char *why;

	return *p == SUB_CLASS ? hprof_class_size(w->h, p, left, GLANCE, &seen)
	                       : hprof_sub_size(w->h, p, left, &why);
}

static bool known_tag(unsigned tag)
{
	return (tag >= HPROF_UTF8 && tag <= HPROF_HEAP_SUMMARY) ||
	    (tag >= HPROF_START_THREAD && tag <= HPROF_CONTROL_SETTINGS) || tag == HPROF_HEAP_SEGMENT ||
	    tag == HPROF_HEAP_END || tag == HPROF_ANDROID_CLOCK;
}

/* Whether a record of this kind can be so long. */
static bool length_fits(const struct walk *w, unsigned tag, uint64_t at, uint32_t length)
{
	unsigned ids = w->h->id_size;

	switch (tag) {
	case HPROF_UTF8:
		return length >= ids;
	case HPROF_LOAD_CLASS:
		return length == 8 + 2 * ids;
	case HPROF_UNLOAD_CLASS: case HPROF_END_THREAD:
		return length == 4;
	case HPROF_FRAME:
		return length == 4 * ids + 8;
	case HPROF_TRACE:
		return length >= 12 && (length - 12) % ids == 0 && w->size - at >= RECORD_HEAD + 12 &&
		    (length - 12) / ids == load_be32(w->bytes + at + RECORD_HEAD + 8);
	case HPROF_START_THREAD:
		return length == 8 + 4 * ids;
	case HPROF_HEAP_SUMMARY:
		return length == 24;
	case HPROF_CONTROL_SETTINGS:
		return length == 6;
	case HPROF_HEAP_END:
		return length == 0;
	default:
		return true;
	}
}

static bool is_heap_tag(unsigned tag)
{
	return tag == HPROF_HEAP_DUMP || tag == HPROF_HEAP_SEGMENT;
}

/* A record of a known kind whose length makes sense; *next is where the one behind it begins.  The
 * length of a heap part proves nothing: there the first sub-record must be one. */
static bool plausible(const struct walk *w, uint64_t at, uint64_t *next)
{
	if (at > w->size || w->size - at < RECORD_HEAD || !known_tag(w->bytes[at]))
		return false;
	unsigned tag = w->bytes[at];
	uint32_t length = load_be32(w->bytes + at + 5);
	uint64_t body = at + RECORD_HEAD;
	*next = body + length;
	if (is_heap_tag(tag))
		return body == w->size || glance(w, body) != 0;
	return length <= w->size - body && length_fits(w, tag, at, length);
}

/* Another dump: its header and the kind of its first record. */
static bool dump_begins(const struct walk *w, uint64_t at)
{
	struct hprof_header header;

	return w->bytes[at] == 'J' && !w->h->dump.source->n_pieces && !hprof_header(&header, w->h->dump.source, at, NULL) &&
	    (header.body == w->size || known_tag(w->bytes[header.body]));
}

/* Several records in a row, or all the way to the end of the dump. */
static bool plausible_chain(const struct walk *w, uint64_t at)
{
	for (int i = 0; i < 3; i++) {
		if (at == w->size || (at < w->size && dump_begins(w, at)))
			return true;
		if (!plausible(w, at, &at))
			return i > 0 && at > w->size; /* behind a heap part that is cut */
	}
	return true;
}

/* Whether several sub-records stand in a row at body. */
static bool sub_records_follow(const struct walk *w, uint64_t body)
{
	for (int i = 0; i < 4; i++) {
		uint64_t size = body < w->size ? glance(w, body) : 0;
		if (size == 0 || size == UINT64_MAX)
			return false;
		if (size == HPROF_UNSEEN)
			return true; /* many entries are no chance either */
		body += size;
	}
	return true;
}

/*
 * The next place from at on where records follow each other; the file's size: none.  Among damaged
 * bytes one record alone is chance, unless it is the end of a heap or has much of one in it.
 */
static uint64_t find_records(const struct walk *w, uint64_t at)
{
	for (; at < w->size && w->size - at >= RECORD_HEAD && !progress_stops(w->work, at); at++) {
		if (dump_begins(w, at))
			return at;
		if (known_tag(w->bytes[at]) && plausible_chain(w, at)) {
			uint64_t next;
			unsigned tag = w->bytes[at];
			if (is_heap_tag(tag) ? sub_records_follow(w, at + RECORD_HEAD)
			        : tag == HPROF_HEAP_END || (plausible(w, at, &next) && next != w->size))
				return at;
		}
	}
	return w->size;
}

/* --- where a heap part ends --------------------------------------------------------------------- */

/* As hprof_sub_size.  Where a class record broke off late, others within it are likely to as well: they
 * are followed only for a while, else each of their bytes might cost as much as all of them. */
static uint64_t sub_size(struct walk *w, uint64_t at)
{
	const uint8_t *p = w->bytes + at;
	uint64_t left = w->size - at, seen;
	const char *why;

	if (*p != SUB_CLASS)
		return hprof_sub_size(w->h, p, left, &why);
	uint64_t size = hprof_class_size(w->h, p, left, at < w->broke_off ? SECOND_LOOK : UINT_MAX, &seen);
	if (size == HPROF_UNSEEN)
		return 0;
	if (size == 0 && at + seen > w->broke_off)
		w->broke_off = at + seen;
	return size;
}

/*
 * Walk sub-records from body on to the stated end, where they end exactly there (or where the file ends before), else
 * to the first byte that is none or where a record seems to begin: by chance a root looks like one.
 */
static uint64_t walk_sub_records(struct walk *w, uint64_t body, uint64_t stated, bool *cut)
{
	uint64_t at = body, record = 0, limit = stated > body && stated < w->size ? stated : w->size;

	*cut = false;
	while (at < w->size && !progress_stops(w->work, w->rounds++)) {
		if (at == stated && at > body && !sub_records_follow(w, at))
			return at;
		if (at > limit && record)
			break;
		if (known_tag(w->bytes[at]) && at > body && !(record && at < limit) && plausible_chain(w, at)) {
			record = at;
			if (at >= limit || w->in_vain > w->size)
				return at;
		}
		uint64_t size = sub_size(w, at);
		*cut = size == UINT64_MAX;
		if (size == 0 || *cut)
			break;
		at += size;
	}
	if (!record || (limit == w->size && (*cut || at == w->size)))
		return at;
	w->in_vain += at - record;
	*cut = false;
	return record;
}

/* The record that HotSpot and Android end a heap with: nobody else has nine such bytes. */
static bool heap_ends(const struct walk *w, uint64_t at)
{
	static const uint8_t end[RECORD_HEAD] = {HPROF_HEAP_END};
	return w->size - at >= sizeof end && !memcmp(w->bytes + at, end, sizeof end);
}

static uint64_t find_end(struct walk *w, uint64_t at, uint32_t length, bool *cut)
{
	uint64_t body = at + RECORD_HEAD, rest = w->size - body, stated = body + length;

	*cut = false;
	if (length && (stated == w->size ||
	    (stated < w->size && (plausible_chain(w, stated) || heap_ends(w, stated)))))
		return stated;
	/* A length modulo 2^32 of all the rest, as old VMs write it. */
	if (w->bytes[at] == HPROF_HEAP_DUMP && rest > UINT32_MAX && (uint32_t)rest == length)
		return w->size;
	uint64_t end = walk_sub_records(w, body, stated, cut);
	if (end == stated)
		return end; /* what follows is to blame */
	if (end == w->size || *cut) {
		if (stated > w->size)
			damage(w, ERR_TRUNCATED, w->size,
			    "the heap dump record of %" PRIu32 " bytes that begins at byte %" PRIu64 " is "
			    "truncated", length, at);
		else if (!length)
			damage(w, ERR_TRUNCATED, w->size,
			    "the heap dump record at byte %" PRIu64 " is unfinished: the VM died or the disk was "
			    "full", at);
		else if (!*cut) /* what seems to go on may be the beginning of a record that was cut */
			damage(w, ERR_TRUNCATED, stated, "truncated or damaged after byte %" PRIu64 ", where a "
			    "heap dump record should end", stated);
		*cut = true;
		return w->size;
	}
	if (!plausible_chain(w, end))
		end = find_records(w, end); /* damage within: the reader will meet and describe it */
	hprof_note(w->h, at, "a heap dump record gives its length as %" PRIu32 " bytes, but has %" PRIu64, length,
	    end - body);
	return end;
}

/* --- heaps -------------------------------------------------------------------------------------- */

/* The current heap and the largest before it change places. */
static void swap_heaps(struct walk *w, uint64_t bytes)
{
	struct hprof *h = w->h;
	struct one_heap was = {h->segments, h->n_segments, w->cap_segments, h->dump.facts.heap_number, h->delay, bytes};
	h->segments = w->largest.segments;
	h->n_segments = w->largest.n;
	w->cap_segments = w->largest.capacity;
	h->dump.facts.heap_number = w->largest.number;
	h->delay = w->largest.delay;
	w->largest = was;
}

uint64_t hprof_heap_bytes(const struct hprof *h)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < h->n_segments; i++)
		bytes += h->segments[i].end - h->segments[i].begin;
	return bytes;
}

/* Damaged bytes are easily taken for one more heap, and the last part of a dump that broke off is no whole one. */
static void settle_heap(struct walk *w)
{
	bool whole = !w->h->damaged && !w->h->n_notes && !w->h->dump.source->truncated;
	if (w->largest.number && !whole && w->largest.bytes > hprof_heap_bytes(w->h)) {
		swap_heaps(w, 0);
		if (!w->h->damaged && w->largest.n)
			damage(w, ERR_TRUNCATED, w->largest.segments[0].begin, "heap dump %u, which begins at byte %" PRIu64
			    ", is damaged and smaller than number %u", w->largest.number, w->largest.segments[0].begin,
			    w->h->dump.facts.heap_number);
	}
	big_free(w->largest.segments);
}

static void begin_heap(struct walk *w, uint64_t at)
{
	uint64_t bytes = w->wanted ? 0 : hprof_heap_bytes(w->h);
	w->n_heaps++;
	if (bytes > w->largest.bytes)
		swap_heaps(w, bytes);
	if (!w->wanted || w->n_heaps == w->wanted) {
		w->h->n_segments = 0;
		w->h->dump.facts.heap_number = w->n_heaps;
		w->h->delay = load_be32(w->bytes + at + 1);
	}
}

/* *at moves on behind it. */
static int take_heap_part(struct walk *w, uint64_t *at_in_out, uint32_t length)
{
	uint64_t at = *at_in_out;
	struct hprof *h = w->h;
	struct hprof_segment s = { .begin = at + RECORD_HEAD };

	if (w->bytes[at] == HPROF_HEAP_DUMP || !w->open)
		begin_heap(w, at);
	w->open = w->bytes[at] == HPROF_HEAP_SEGMENT;
	w->ended |= !w->open;
	w->ended_by_record = false;
	s.end = find_end(w, at, length, &s.truncated);
	*at_in_out = s.end;
	if (h->dump.facts.heap_number != w->n_heaps || s.end <= s.begin)
		return 0;
	struct hprof_segment *place = BIG_PUSH(h->segments, h->n_segments, w->cap_segments, w->err);
	if (!place)
		return ERR_NOMEM;
	*place = s;
	return 0;
}

/* --- records ------------------------------------------------------------------------------------ */

static int take_load_class(struct hprof *h, const uint8_t *body, struct err *err)
{
	uint64_t id = hprof_id(body + 4, h->id_size);
	uint64_t name = hprof_id(body + 8 + h->id_size, h->id_size);
	int code = idmap_put(&h->serials, load_be32(body), id, err);

	return code == 0 ? idmap_put(&h->names, id, name, err) : code;
}

/* Identifiers near UINT64_MAX cannot be kept; no writer has them. */
static int take_record(struct walk *w, uint64_t at, struct err *err)
{
	struct hprof *h = w->h;
	const uint8_t *body = w->bytes + at + RECORD_HEAD;

	switch (w->bytes[at]) {
	case HPROF_UTF8:
		return idmap_put(&h->strings, hprof_id(body, h->id_size), at, err);
	case HPROF_LOAD_CLASS:
		w->names = true;
		return take_load_class(h, body, err);
	case HPROF_FRAME:
		return idmap_put(&h->frames, hprof_id(body, h->id_size), at, err);
	case HPROF_TRACE:
		return idmap_put(&h->traces, load_be32(body), at, err);
	case HPROF_START_THREAD:
		return idmap_put(&h->starts, load_be32(body), at, err);
	case HPROF_ALLOC_SITES:
		h->alloc_sites = at;
		h->agent = true;
		return 0;
	case HPROF_CPU_SAMPLES:
		w->samples = true;
		h->agent = true;
		return 0;
	case HPROF_CONTROL_SETTINGS:
		h->agent = true;
		return 0;
	case HPROF_HEAP_END:
		w->ended = w->ended_by_record = true;
		w->open = false;
		return 0;
	default:
		return 0;
	}
}

/* Does a record begin at `at` that would be fine if the file were longer? */
static bool cut_record(const struct walk *w, uint64_t at)
{
	unsigned tag = w->bytes[at];
	if (!known_tag(tag) || w->size - at < RECORD_HEAD)
		return known_tag(tag);
	uint32_t length = load_be32(w->bytes + at + 5);
	return length > w->size - at - RECORD_HEAD && length_fits(w, tag, at, length);
}

/* Words, newlines or zeros up to the end of the file: no record that was cut. */
static bool is_text(const struct walk *w, uint64_t at)
{
	while (at < w->size && !(w->bytes[at] & 0x80) && w->bytes[at] != 0x7F && !progress_stops(w->work, at) &&
	    (w->bytes[at] >= ' ' || memchr("\r\n\t\f\x1A", w->bytes[at], sizeof "\r\n\t\f\x1A")))
		at++;
	return at == w->size;
}

/* Do the bytes from `at` to the end of the file, which are no records, follow a whole dump?  Behind the record that
 * ends a heap only the old agent writes others. */
static bool follow_the_end(const struct walk *w, uint64_t at)
{
	return (w->ended_by_record && !w->h->agent) || !cut_record(w, at) || is_text(w, at);
}

/* What stands at `at` is no record: say so, and find where records go on. */
static uint64_t pass_over(struct walk *w, uint64_t at)
{
	uint64_t next = find_records(w, at + 1);
	uint64_t n = next - at;
	bool whole = w->ended && !w->open;

	if (whole && (next < w->size ? dump_begins(w, next) : follow_the_end(w, at)))
		w->rest = at;
	else if (next < w->size)
		damage(w, ERR_FORMAT, at,
		    "%" PRIu64 " byte%s at byte %" PRIu64 " %s not a record; reading continues after %s", n,
		    n == 1 ? "" : "s", at, n == 1 ? "is" : "are", n == 1 ? "it" : "them");
	else
		damage(w, ERR_TRUNCATED, at, "truncated or damaged in the record at byte %" PRIu64 "%s", at,
		    w->n_heaps ? "" : ", before the objects");
	return next;
}

/* To the end of the file, or to another dump: that is w->size then. */
static int walk_records(struct walk *w, uint64_t at)
{
	const uint64_t most = 256; /* records may cost much here */

	for (uint64_t round = 0; at < w->size; round++) {
		w->followed = dump_begins(w, at);
		if (w->followed) {
			w->size = at;
			break;
		}
		if (round % most == 0 && progress_cancelled(w->work))
			return err_cancelled(w->err);
		uint64_t left = w->size - at, next;
		uint32_t length = left < RECORD_HEAD ? 0 : load_be32(w->bytes + at + 5);
		unsigned tag = w->bytes[at];
		if (left >= RECORD_HEAD && is_heap_tag(tag)) {
			int code = take_heap_part(w, &at, length);
			if (code < 0)
				return code;
			continue;
		}
		bool fine = plausible(w, at, &next);
		if (!fine && left >= RECORD_HEAD && !known_tag(tag) && tag != 0) {
			next = at + RECORD_HEAD + length; /* of a kind that is not known: by its length */
			if (next <= w->size && plausible_chain(w, next)) {
				hprof_note(w->h, at, "a record of unknown kind 0x%02x is skipped", tag);
				at = next;
				continue;
			}
		}
		if (!fine) {
			at = pass_over(w, at);
			continue;
		}
		int code = take_record(w, at, w->err);
		if (code < 0)
			return code;
		at = next;
	}
	return 0;
}

/* A record that its piece does not hold is cut there. */
static int walk_pieces(struct walk *w)
{
	const struct source *s = w->h->dump.source;
	int code = 0;
	if (!s->n_pieces)
		return walk_records(w, w->h->body);
	for (size_t i = 0; i < s->n_pieces && !code; i++) {
		w->size = s->pieces[i].end;
		code = walk_records(w, i ? s->pieces[i].begin : w->h->body);
	}
	return code;
}

/* What the file holds in place of a heap, where its records say so. */
static void say_no_heap(struct walk *w)
{
	struct hprof *h = w->h;

	if (h->agent)
		damage(w, ERR_FORMAT, w->size, "no heap in the file: the hprof agent wrote it with %s (heap=dump "
		    "writes a heap)",
		    !w->samples ? "heap=sites, and it holds allocation sites" : h->alloc_sites ? "heap=sites and cpu=samples"
		    : "cpu=samples, and it holds CPU samples");
	else if (w->names && !h->dump.source->truncated)
		damage(w, ERR_TRUNCATED, w->size, "truncated at byte %" PRIu64 " before the objects (an "
		    "unfinished GC.heap_dump -parallel has them in .p0, .p1 and so on: copy these files, too)", w->size);
	else
		damage(w, ERR_TRUNCATED, w->size, "truncated at byte %" PRIu64 " before the objects", w->size);
}

static void say_end(struct walk *w)
{
	struct hprof *h = w->h;
	bool said = h->damaged && h->damage.code == ERR_TRUNCATED; /* what is missing at the end */

	if (!w->n_heaps && !said)
		say_no_heap(w);
	else if (w->open && !said)
		damage(w, ERR_TRUNCATED, w->size,
		    "truncated at byte %" PRIu64 " before the record that ends a heap dump; the last objects may "
		    "be missing", w->size);
	uint64_t left = w->rest ? w->size - w->rest : 0;
	if (left)
		hprof_note(h, w->rest, "%" PRIu64 " byte%s after the end of the dump %s ignored", left,
		    left == 1 ? "" : "s", left == 1 ? "is" : "are");
	h->end = w->rest ? w->rest : w->size;
}

/* What another dump of the file left there. */
static void forget(struct hprof *h)
{
	struct idmap *maps[] = {&h->strings, &h->names, &h->serials, &h->frames, &h->traces, &h->starts};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		idmap_release(maps[i]);
	big_free(h->segments);
	h->segments = NULL;
	h->n_segments = h->n_notes = 0;
	h->damaged = h->agent = false;
	h->alloc_sites = 0;
}

static int begin_dump(struct hprof *h, uint64_t at, struct err *err)
{
	struct dump_facts *f = &h->dump.facts;
	struct hprof_header header;
	int code = hprof_header(&header, h->dump.source, at, err);

	if (code < 0)
		return code;
	forget(h);
	h->begin = at;
	h->body = header.body;
	h->id_size = header.id_size;
	h->created = header.created;
	h->android = !strcmp(header.version, "1.0.3");
	snprintf(f->version, sizeof f->version, "%s", header.version);
	f->heap_number = 0;
	return 0;
}

int hprof_walk(struct hprof *h, uint64_t begin, unsigned wanted, struct hprof_walked *out, struct err *err)
{
	struct walk w = {
		.h = h,
		.work = progress_own(),
		.bytes = h->dump.source->bytes,
		.size = h->dump.source->size,
		.err = err,
		.in_vain = out->in_vain,
		.wanted = wanted,
	};
	int code = begin_dump(h, begin, err);
	if (code == 0)
		code = walk_pieces(&w);
	settle_heap(&w);
	if (code < 0)
		return code;
	say_end(&w);
	*out = (struct hprof_walked){.n_heaps = w.n_heaps, .next = w.followed ? w.size : 0, .in_vain = w.in_vain};
	return 0;
}
