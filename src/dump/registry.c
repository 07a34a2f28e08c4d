/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.c - the only place that knows all readers.
 *
 * A new format is one line in `readers`.  What no reader knows is described from its first bytes,
 * so that the user learns what to do with it instead.  Any thread.
 */
#include "dump/reader.h"

#include "base/assert.h"
#include "base/text.h"
#include "dump/classic/classic.h"
#include "dump/go/go.h"
#include "dump/hprof/hprof.h"
#include "dump/phd/phd.h"

#include <string.h>

static const struct reader *const readers[] = {
	&phd_reader,
	&classic_reader,
	&hprof_reader,
	&go_reader,
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
	{ "\x1F\x8B", 2, "gzip inside gzip; gunzip it once, cairn inflates the rest" },
	{ "\x7F" "ELF", 4, "an ELF file (a core dump or a program); a heap dump is made from it by "
			   "jdmpview or jmap" },
	{ "MDMP", 4, "a Windows minidump; a heap dump is made from it by jdmpview" },
	{ "PK\x03\x04", 4, "a zip archive; unpack it first" },
	{ "BZh", 3, "compressed with bzip2; bunzip2 it first" },
	{ "\xFD" "7zXZ", 5, "compressed with xz; unxz it first" },
	{ "\x28\xB5\x2F\xFD", 4, "compressed with zstd; unzstd it first" },
	{ "0SECTION", 8, "a javacore; name the heap dump beside it, cairn finds the javacore itself" },
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

/* Is it the header of a tar archive?  By its checksum, which every kind of tar has (POSIX.1, pax: ustar
 * interchange format): the sum of its 512 bytes with blanks for the checksum's own eight, in octal. */
static bool is_tar(const uint8_t *head, size_t n)
{
	enum { HEADER = 512, AT = 148, DIGITS = 8 };
	unsigned sum = DIGITS * ' ', said = 0, digits = 0;
	if (n < HEADER)
		return false;
	for (size_t i = 0; i < HEADER; i++)
		sum += i < AT || i >= AT + DIGITS ? head[i] : 0;
	for (size_t i = AT; i < AT + DIGITS; i++) {
		if (head[i] >= '0' && head[i] <= '7') {
			said = said * 8 + (unsigned)(head[i] - '0');
			digits++;
		} else if (head[i] != ' ' && head[i]) {
			return false;
		}
	}
	return digits && said == sum;
}

static const char *looks_like(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
		const struct signature *s = &signatures[i];
		if (n >= s->n && !memcmp(head, s->bytes, s->n))
			return s->what;
	}
	if (all_zero(head, n))
		return "zeros only; the dump was perhaps never written";
	return is_text(head, n) ? "text, but no classic heap dump" : "no format that cairn knows";
}

static int refuse(const uint8_t *head, size_t n, struct err *err)
{
	struct text names = TEXT_INIT;

	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		text_addf(&names, "%s%s", i ? ", " : "", readers[i]->name);
	if (is_tar(head, n)) /* it begins with the name of the first file */
		err_set(err, ERR_FORMAT, "a tar archive, which begins with %.100s; unpack it first (tar xf)",
		    (const char *)head);
	else
		err_set(err, ERR_FORMAT, "%s (cairn reads: %s)", looks_like(head, n), names.s);
	text_release(&names);
	return ERR_FORMAT;
}

/* The reader that is surest of these first bytes, the first of several; NULL: none knows them. */
static const struct reader *surest_reader(const uint8_t *head, size_t n, const struct reader *also)
{
	const struct reader *best = NULL;
	int surest = 0;

	for (size_t i = 0; i <= sizeof readers / sizeof *readers; i++) {
		const struct reader *r = i < sizeof readers / sizeof *readers ? readers[i] : also;
		int sure = r ? r->probe(head, n) : 0;
		if (sure > surest) {
			surest = sure;
			best = r;
		}
	}
	return best;
}

int dump_look(const void *options, const uint8_t *head, size_t n, struct err *err)
{
	const struct dump_options *o = options;

	return surest_reader(head, n, o ? o->also : NULL) ? 0 : refuse(head, n, err);
}

int dump_open(struct dump **out, const struct source *source, const struct dump_options *options,
    struct err *err)
{
	size_t n = source->size < SOURCE_HEAD ? (size_t)source->size : SOURCE_HEAD;
	const struct reader *best = surest_reader(source->bytes, n, options ? options->also : NULL);
	int code;

	*out = NULL;
	code = best ? best->open(out, source, options, err) : refuse(source->bytes, n, err);
	cairn_assert(code < 0 || (*out)->facts.word_bits == 32 || (*out)->facts.word_bits == 64);
	cairn_assert(code < 0 || !(*out)->facts.word_unknown || !(*out)->facts.values);
	unsigned n_heaps = code < 0 || !(*out)->facts.n_heaps ? 1 : (*out)->facts.n_heaps;
	if (code == 0 && options && options->heap_number > n_heaps) {
		code = err_set(err, ERR_USAGE, "holds %u heap dump%s, there is no number %u", n_heaps,
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

const char *dump_label_of(const uint8_t *head, size_t n)
{
	uint8_t inflated[SOURCE_HEAD];

	if (n >= 2 && head[0] == 0x1F && head[1] == 0x8B) {
		n = source_inflate_head(head, n, inflated, sizeof inflated);
		head = inflated;
	}
	const struct reader *r = n ? surest_reader(head, n, NULL) : NULL;
	return r ? r->label : NULL;
}

void dump_close(struct dump *dump)
{
	if (dump)
		dump->reader->close(dump);
}
