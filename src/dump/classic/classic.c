/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic.c - the reader of classic (text) heap dumps: recognise, open, and divide a dump.
 *
 * The first record tells the character set of the file: the byte in the place of its "[" says
 * whether this is ASCII, one of three EBCDIC code pages, or a file that a transfer has half
 * converted.  Anything but ASCII is translated here, as a whole.  After open the struct classic
 * does not change: any thread may read.
 */
#include "dump/classic/classic_dump.h"
#include "dump/token.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "dump/source/source.h"

#define HEAD_BYTES 4096

enum encoding { ENCODING_NONE, ENCODING_ASCII, ENCODING_EBCDIC, ENCODING_UTF16 };

/* What the first bytes tell. */
struct head {
	enum encoding encoding;
	bool bom, version, record;
	unsigned code_page; /* EBCDIC */
	struct transfer_damage damage;
};

/* ---- the first bytes ------------------------------------------------------------------------- */

/* The bracket that opens a size, in any of its disguises: its bytes, or 0. */
static size_t open_bracket(const uint8_t *p, const uint8_t *end, struct head *h)
{
	if (*p == '[')
		return 1;
	if (*p == 0xDD) { /* U+00DD in Latin-1: [ of code page 037 taken for 1047 */
		h->damage.brackets = true;
		return 1;
	}
	if (end - p >= 2 && *p == 0xC3 && p[1] == 0x9D) { /* the same in UTF-8 */
		h->damage.brackets = h->damage.utf8 = true;
		h->code_page = 37;
		return 2;
	}
	if (end - p >= 2 && *p == 0xC2 && p[1] == 0xA2) { /* U+00A2: [ of code page 500 */
		h->code_page = 500;
		return 2;
	}
	return 0;
}

/* Does a record's "0x… [n" stand at p? */
static bool record_at(const uint8_t *p, const uint8_t *end, struct head *h)
{
	if (end - p < 2 || !is_prefix(p))
		return false;
	const uint8_t *q = p + 2;
	while (q < end && hex_value(*q) >= 0)
		q++;
	if (q - p < 3)
		return false;
	q = skip_blanks(q, end);
	size_t n = q < end ? open_bracket(q, end, h) : 0;
	if (n == 0)
		return false;
	q = skip_blanks(q + n, end);
	return q < end && is_decimal(*q);
}

/* Look for the first record in what is ASCII or was made so. */
static void look_for_record(const uint8_t *p, const uint8_t *end, struct head *h)
{
	for (const uint8_t *q = p; q < end && !h->record; q++) {
		if (*q != '0')
			continue;
		bool begins = q == p || is_line_end(q[-1]);
		bool nel = q > p && q[-1] == 0x85;
		if (!begins && !nel)
			continue;
		struct head seen = *h;
		if (!record_at(q, end, &seen))
			continue;
		*h = seen;
		h->record = true;
		if (nel) {
			h->damage.newlines = true;
			h->damage.utf8 |= q - p >= 2 && q[-2] == 0xC2;
		}
	}
}

static const uint8_t *skip_line_ends(const uint8_t *p, const uint8_t *end)
{
	while (p < end && is_line_end(*p))
		p++;
	return p;
}

static void look_at_ebcdic(const uint8_t *p, size_t n, struct head *h)
{
	uint8_t table[256], text[2 * HEAD_BYTES];
	size_t size = 0;
	ebcdic_table(table, 1047);
	for (size_t i = 0; i < n && i < HEAD_BYTES; i++) {
		uint8_t c = table[p[i]];
		if (c >= 0x80)
			text[size++] = (uint8_t)(0xC0 | c >> 6);
		text[size++] = c < 0x80 ? c : (uint8_t)(0x80 | (c & 0x3F));
	}
	size_t version_size;
	h->code_page = 1047;
	h->version = classic_version(text, text + size, &version_size) != NULL;
	look_for_record(text, text + size, h);
	h->damage = (struct transfer_damage){ .brackets = false };
}

static struct head look_at_head(const uint8_t *bytes, size_t n)
{
	struct head h = { .encoding = ENCODING_NONE };
	const uint8_t *p = bytes, *end = bytes + (n < HEAD_BYTES ? n : HEAD_BYTES);
	if (n >= 4 && ((p[0] == 0xFF && p[1] == 0xFE && p[3] == 0) ||
	                  (p[0] == 0xFE && p[1] == 0xFF && p[2] == 0) ||
	                  (p[0] == '/' && p[1] == 0 && p[2] == '/' && p[3] == 0) ||
	                  (p[0] == 0 && p[1] == '/' && p[2] == 0 && p[3] == '/'))) {
		h.encoding = ENCODING_UTF16;
		return h;
	}
	if (n >= 3 && p[0] == 0xEF && p[1] == 0xBB && p[2] == 0xBF) {
		h.bom = true;
		p += 3;
	}
	const uint8_t *q = p;
	while (q < end && (*q == 0x15 || *q == 0x25 || *q == 0x0D))
		q++;
	if (end - q >= 3 && ((q[0] == 0x61 && q[1] == 0x61 && q[2] == 0x40) ||
	                        (q[0] == 0xF0 && q[1] == 0xA7))) {
		h.encoding = ENCODING_EBCDIC;
		look_at_ebcdic(q, (size_t)(end - q), &h);
		return h;
	}
	p = skip_line_ends(p, end);
	if (end - p < 2 || !(is_prefix(p) || (p[0] == '/' && p[1] == '/')))
		return h;
	size_t version_size;
	h.encoding = ENCODING_ASCII;
	h.version = classic_version(p, end, &version_size) != NULL;
	look_for_record(p, end, &h);
	return h;
}

static int classic_probe(const uint8_t *bytes, size_t n)
{
	struct head h = look_at_head(bytes, n);
	if (h.encoding == ENCODING_UTF16)
		return 20;
	if (h.record)
		return 90;
	return h.version ? 60 : 0;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void classic_close(struct dump *dump)
{
	struct classic *c = (struct classic *)dump;
	translated_release(&c->translated);
	free(c);
}

/* The bytes as ASCII. */
static int make_text(struct classic *c, const struct head *h, struct err *err)
{
	const struct source *source = c->dump.source;
	int rc = 0;
	if (h->encoding == ENCODING_EBCDIC) {
		rc = ebcdic_to_utf8(&c->translated, source->bytes, source->size, h->code_page, err);
	} else if (h->damage.brackets || h->damage.newlines) {
		rc = transfer_repair(&c->translated, source->bytes, source->size, &h->damage, err);
	} else {
		c->text = source->bytes;
		c->size = source->size;
		return 0;
	}
	if (rc < 0)
		return rc;
	c->text = c->translated.bytes;
	c->size = c->translated.size;
	return 0;
}

static bool contains(const char *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(s, words[i]))
			return true;
	}
	return false;
}

enum { MOST_VERSION = 1024 }; /* bytes of the line that are looked at; fewer are kept */

static void read_version(struct classic *c)
{
	const uint8_t *p = c->text + (c->has_bom ? 3 : 0), *end = c->text + c->size;
	size_t n;
	p = classic_version(skip_line_ends(p, end), end, &n);
	if (!p)
		return;
	struct text t = TEXT_INIT;
	text_add_escaped(&t, (const char *)p, n < MOST_VERSION ? n : MOST_VERSION);
	if (t.len >= sizeof c->dump.facts.vm) {
		size_t whole = sizeof c->dump.facts.vm - 1;
		while (whole > 0 && ((uint8_t)t.s[whole] & 0xC0) == 0x80)
			whole--;
		t.s[whole] = '\0';
		t.len = whole;
	}
	if (t.len)
		memcpy(c->dump.facts.vm, t.s, t.len + 1);
	text_release(&t);
}

static const char cannot_tell[] =
    "a classic dump holds no roots, superclasses, class loaders, array lengths, field names, values or threads; a "
    "javacore next to it adds class loaders and threads";

static int classic_open(struct dump **out, const struct source *source,
    const struct dump_options *options, struct err *err)
{
	static const char *const big_endian[] = { "s390", "z/OS", "AIX", "ppc-32", "ppc64-64" };
	(void)options; /* one heap in a file, and no companion of its own */
	struct head h = look_at_head(source->bytes,
	    source->size < HEAD_BYTES ? (size_t)source->size : HEAD_BYTES);
	if (h.encoding == ENCODING_UTF16)
		return err_at(err, ERR_FORMAT, 0,
		    "UTF-16 text, which no VM writes (convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8)");
	if (h.encoding == ENCODING_NONE)
		return err_at(err, ERR_FORMAT, 0, "not a classic heap dump");

	struct classic *c = xcalloc(1, sizeof *c);
	dump_begin(&c->dump, &classic_reader, source);
	c->has_bom = h.bom;
	struct dump_facts *facts = &c->dump.facts;
	facts->no_values = "classic dumps hold no field values";
	facts->cannot_tell = cannot_tell;
	facts->elements_last_first = true;
	facts->loaders_hold_classes = true;
	int rc = make_text(c, &h, err);
	if (rc == 0) {
		read_version(c);
		facts->big_endian = h.encoding == ENCODING_EBCDIC ||
		    contains(facts->vm, big_endian, sizeof big_endian / sizeof *big_endian);
		rc = classic_sample(c, err); /* which wants to see no totals line yet */
		c->has_totals = classic_find_totals(c);
	}
	if (rc < 0) {
		classic_close(&c->dump);
		return rc;
	}
	if (c->old_style)
		memcpy(facts->version, "old", sizeof "old");
	*out = &c->dump;
	return 0;
}

/* ---- parts and reading ----------------------------------------------------------------------- */

static unsigned classic_parts(const struct dump *dump, unsigned want, struct part *out)
{
	const struct classic *c = (const struct classic *)dump;
	unsigned n = 0;
	uint64_t begin = 0;
	for (unsigned i = 1; i < want; i++) {
		uint64_t nominal = c->size / want * i;
		if (nominal <= begin)
			continue;
		uint64_t cut = classic_snap(c, nominal);
		if (cut == c->size)
			break;
		if (cut > begin) {
			out[n++] = (struct part){ .begin = begin, .end = cut };
			begin = cut;
		}
	}
	out[n++] = (struct part){ .begin = begin, .end = c->size };
	return n;
}

static int classic_read(const struct dump *dump, const struct part *part, struct sink *sink,
    struct err *err)
{
	const struct classic *c = (const struct classic *)dump;
	uint64_t begin = classic_snap(c, part->begin), end = classic_snap(c, part->end);
	struct classic_scan s = {
		.c = c,
		.begin = c->text + begin,
		.end = c->text + end,
		.at_eof = end == c->size,
		.sink = sink,
		.err = err,
	};
	if (end <= begin)
		return 0;
	if (begin == 0) {
		if (c->has_bom) {
			CLASSIC_WARN(&s, c->text, "a byte order mark, which no VM writes");
			s.begin += 3;
		}
		if (c->mixed_digits)
			CLASSIC_WARN(&s, c->text, "addresses of 8 and of 16 digits in the same dump");
	}
	int rc = classic_scan_run(&s, part);
	/* every writer ends with its totals: without them the text may have been cut at any record */
	if (rc == 0 && s.at_eof && !c->has_totals)
		return err_at(err, ERR_TRUNCATED, dump->source->size, "truncated at byte %" PRIu64 ": the line of "
		    "totals is missing, and perhaps records or references",
		    dump->source->size);
	return rc;
}

const struct reader classic_reader = {
	.name = "classic",
	.is_text = true,
	.title = "the classic format",
	.label = "classic",
	.probe = classic_probe,
	.open = classic_open,
	.close = classic_close,
	.parts = classic_parts,
	.read = classic_read,
};
