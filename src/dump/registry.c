/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.c - the only place that knows all readers.
 *
 * A new format is one line in `readers`.  What no reader knows is described from its first bytes,
 * so that the user learns what to do with it instead.  Any thread.
 */
#include "dump/registry.h"

#include "dump/reader.h"

#include "base/assert.h"
#include "base/text.h"
#include "dump/classic/classic.h"
#include "dump/facts.h"
#include "dump/go/go.h"
#include "dump/hprof/hprof.h"
#include "dump/j9core/j9core.h"
#include "dump/phd/phd.h"
#include "dump/source/source.h"

#include <string.h>

static const struct reader *const readers[] = {
	&phd_reader,
	&classic_reader,
	&hprof_reader,
	&go_reader,
	&j9_core_reader, /* in front of the readers of other cores, since it knows its own */
	&go_core_reader,
};

/* First bytes of things that people take for a heap dump, and what to say of them. */
struct signature {
	const char *bytes;
	size_t n;
	const char *what;
};

static const struct signature signatures[] = {
	{ "\x00\x12\xD7\x3F\x94\xB1\x2F\xDF", 8,
	    "a PHD dump damaged by a transfer in text mode from ASCII to EBCDIC; copy it again in "
	    "binary mode" },
	{ "\x7F" "ELF", 4, "a program or library, but no core file" },
	{ "MDMP", 4, "a Windows minidump; jdmpview makes a heap dump from it" },
	{ "7z\xBC\xAF\x27\x1C", 6, "a 7z archive, which cairn does not unpack (unpack it first: 7z x)" },
	{ "Rar!\x1A\x07", 6, "a rar archive, which cairn does not unpack (unpack it first: unrar x)" },
	{ "\x93" "cai", 4, "an index of cairn, which must be a plain file (unpack or save it first)" },
	{ "SQLite format 3", 15, "a profile of cairn or another database, which must be a plain file (unpack or "
	    "save it first)" },
	{ "\x1C\0\0\0\0", 5, "a part (.p0, .p1 ...) of an unfinished dump (open the main file, with the parts "
	    "next to it)" },
	{ "0SECTION", 8, "a javacore (name the heap dump next to it; cairn finds the javacore itself)" },
};

static bool all_zero(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (head[i])
			return false;
	return true;
}

static bool is_text(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < n;) {
		int32_t p;
		size_t used = utf8_decode((const char *)head + i, n - i, &p);
		if (p < 0 && n - i >= 4)
			return false;
		if (p >= 0 && p < 0x20 && p != '\n' && p != '\r' && p != '\t' && p != '\f')
			return false;
		i += used;
	}
	return true;
}

static const char unknown[] = "unknown format";

static const char *looks_like(const uint8_t *head, size_t n)
{
	static const char go[] = " heap dump\r\n"; /* behind "go1.7" */
	if (n > 32 && !memcmp(head, "go1.", 4) && memmem(head, 32, go, sizeof go - 1))
		return source_changed_newlines;
	for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
		const struct signature *s = &signatures[i];
		if (n >= s->n && !memcmp(head, s->bytes, s->n))
			return s->what;
	}
	if (all_zero(head, n))
		return "its first bytes are zeros: they were never written, or are lost";
	return is_text(head, n) ? "this is a text file, not a heap dump" : unknown;
}

static int refuse(const uint8_t *head, size_t n, struct err *err)
{
	struct text names = TEXT_INIT;
	const char *by_hand, *packing = source_packing(head, n, &by_hand);

	if (packing) /* source_open unpacks it, so these are bytes that somebody has from elsewhere */
		return err_set(err, ERR_FORMAT, "packed by %s (unpack it first: %s)", packing, by_hand);
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		text_addf(&names, "%s%s", i ? ", " : "", readers[i]->name);
	err_set(err, ERR_FORMAT, "%s (cairn reads: %s)", looks_like(head, n), names.s);
	text_release(&names);
	return ERR_FORMAT;
}

/* Where these are the first bytes of what was packed, and damaged, that is why nobody knows them. */
static int refuse_source(const struct source *source, size_t n, struct err *err)
{
	bool damaged = source->truncated && source->remark[0];
	if (damaged && looks_like(source->bytes, n) == unknown)
		return err_set(err, ERR_FORMAT, "%s; the unpacked data is not the start of a dump", source->remark);
	int code = refuse(source->bytes, n, err);
	if (damaged)
		err_context(err, "%s; the unpacked data", source->remark);
	return code;
}

/* The reader that is surest of these first bytes, the first of several; NULL: none knows them.  One that claims files
 * is left out where there is only their beginning. */
static const struct reader *surest_reader(const uint8_t *head, size_t n, const struct source *source,
    const struct reader *also)
{
	const struct reader *best = NULL;
	int surest = 0;

	for (size_t i = 0; i <= sizeof readers / sizeof *readers; i++) {
		const struct reader *r = i < sizeof readers / sizeof *readers ? readers[i] : also;
		int sure = r ? r->probe(head, n) : 0;
		if (sure > surest && (!r->claims || (source && r->claims(source)))) {
			surest = sure;
			best = r;
		}
	}
	return best;
}

static int look_at_head(const void *options, const uint8_t *head, size_t n, struct err *err)
{
	const struct dump_options *o = options;

	return surest_reader(head, n, NULL, o ? o->also : NULL) ? 0 : refuse(head, n, err);
}

struct source_look dump_look(const struct dump_options *options)
{
	return (struct source_look){.at = look_at_head, .context = options, .division = &hprof_division};
}

int dump_open(struct dump **out, const struct source *source, const struct dump_options *options,
    struct err *err)
{
	size_t n = source->size < SOURCE_HEAD ? (size_t)source->size : SOURCE_HEAD;
	const struct reader *best = surest_reader(source->bytes, n, source, options ? options->also : NULL);
	int code;

	*out = NULL;
	if (best && !best->is_text && source_newlines_changed(source->bytes, source->size))
		code = err_set(err, ERR_FORMAT, "%s", source_changed_newlines);
	else
		code = best ? best->open(out, source, options, err) : refuse_source(source, n, err);
	cairn_assert(code < 0 || (*out)->facts.word_bits == 32 || (*out)->facts.word_bits == 64);
	cairn_assert(code < 0 || !(*out)->facts.word_unknown || !(*out)->facts.values);
	unsigned n_heaps = code < 0 || !(*out)->facts.n_heaps ? 1 : (*out)->facts.n_heaps;
	if (code == 0 && options && options->heap_number > n_heaps) {
		code = err_set(err, ERR_USAGE, "has %u heap dump%s, but no number %u", n_heaps,
		    n_heaps == 1 ? "" : "s", options->heap_number);
		dump_close(*out);
		*out = NULL;
	}
	if (code < 0 && code != ERR_CANCELLED) {
		struct text path = TEXT_INIT;
		text_add_escaped(&path, source->path, strlen(source->path));
		err_context(err, "%s", path.s ? path.s : "");
		text_release(&path);
	}
	return code;
}

enum { COPY_HEAD = 128 }; /* bytes: the mark of a copy is in the first record behind the header */

int dump_head_of(struct dump_head *out, const uint8_t *head, size_t n, const char *path, struct err *err)
{
	uint8_t inflated[SOURCE_HEAD];

	const char *by_hand;

	*out = (struct dump_head){.label = NULL};
	const char *packing = source_packing(head, n, &by_hand);
	if (packing && !source_is_archive(head, n)) {
		n = source_inflate_head(head, n, inflated, sizeof inflated);
		head = inflated;
	}
	if (source_is_archive(head, n)) {
		out->archive = source_packing(head, n, &by_hand);
		return err_set(err, ERR_FORMAT, "a %s archive (name it alone and cairn looks into it)", out->archive);
	}
	const struct reader *r = n ? surest_reader(head, n, NULL, NULL) : NULL;
	if (!r)
		return n ? refuse(head, n, err) :
		    err_set(err, ERR_FORMAT, "the %s data is truncated or damaged at its beginning", packing);
	out->label = r->label;
	out->copy = memmem(head, n < COPY_HEAD ? n : COPY_HEAD, DUMP_COPY_MARK, sizeof DUMP_COPY_MARK - 1);
	if (r->created)
		r->created(head, n, path, out->created, sizeof out->created);
	return 0;
}

const char *dump_label_of(const uint8_t *head, size_t n)
{
	struct dump_head h;
	struct err err = ERR_INIT;

	return dump_head_of(&h, head, n, "", &err) ? NULL : h.label;
}

const char *dump_label_of_member(const uint8_t *head, size_t n, const char *name, char created[static 32])
{
	struct dump_head h;
	struct err err = ERR_INIT;

	if (dump_head_of(&h, head, n, name, &err))
		return NULL;
	memcpy(created, h.created, sizeof h.created);
	return h.label;
}

void dump_close(struct dump *dump)
{
	if (dump)
		dump->reader->close(dump);
}
