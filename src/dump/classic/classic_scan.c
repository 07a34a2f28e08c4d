/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic_scan.c - read the records of one part and tell the sink.
 *
 * The loop stands at the beginning of a line each time round.  A record that is damaged in its
 * first line is left out together with the references under it; reading goes on at the next line
 * that begins a record or a comment.  Memory: 32 KiB for the references of objects, at least as
 * much for those of class records (all references of the largest one must fit), and the table of
 * names.  Any thread may read a part.
 */
#include "dump/classic/classic_dump.h"
#include "dump/token.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/progress.h"
#include "memory/big.h"

enum { RECORDS_AT_ONCE = 1024 }; /* between two looks at the cancel flag */

/* ---- a record's first line ------------------------------------------------------------------- */

/* "0x" and the address; returns the byte after it or NULL with *why. */
static const uint8_t *read_address(const struct classic_scan *s, const uint8_t *p,
    uint64_t *address, const char **why)
{
	const uint8_t *end = s->end;
	if (end - p < 2 || !is_prefix(p)) {
		*why = "it does not begin with 0x";
		return NULL;
	}
	if (end - p >= 20 && p[18] == ' ' && hex16(p + 2, address))
		return p + 18;
	if (end - p >= 12 && p[10] == ' ' && hex8(p + 2, address))
		return p + 10;
	uint64_t value = 0;
	unsigned digits = 0;
	int digit;
	for (p += 2; p < end && (digit = hex_value(*p)) >= 0; p++) {
		if (++digits <= 16)
			value = value << 4 | (unsigned)digit;
	}
	if (digits == 0 || digits > 16 || (p < end && !is_blank(*p) && *p != '[')) {
		*why = digits > 16 ? "its address has more than 16 digits"
		                   : "its address is not a hexadecimal number";
		return NULL;
	}
	*address = value;
	return p;
}

/* "[" size "]"; as above. */
static const uint8_t *read_size(const struct classic_scan *s, const uint8_t *p, uint64_t *size,
    const char **why)
{
	const uint8_t *end = s->end;
	p = skip_blanks(p, end);
	if (p == end || *p != '[') {
		*why = "it has no size";
		return NULL;
	}
	p = skip_blanks(p + 1, end);
	bool fits;
	const uint8_t *q = read_decimal(p, end, size, &fits);
	if (q == p) {
		*why = "its size is not a number";
		return NULL;
	}
	if (!fits || *size > SIZE_MOST) {
		*why = "its size is more than 2^48";
		return NULL;
	}
	q = skip_blanks(q, end);
	if (q == end || *q != ']') {
		*why = "its size is not a number";
		return NULL;
	}
	return q + 1;
}

/* If the text at p begins with word and a blank: what follows the blanks, else NULL. */
static const uint8_t *after_word(const uint8_t *p, const uint8_t *end, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(end - p) <= n || memcmp(p, word, n) || !is_blank(p[n]))
		return NULL;
	return skip_blanks(p + n, end);
}

/* PrintHeapdump's spellings; end is the end of the line's text. */
static bool read_print_type(struct classic_header *h, const uint8_t *p, const uint8_t *end)
{
	static const char hash[] = "[hashcode";
	const uint8_t *q;
	if ((q = after_word(p, end, "class"))) {
		h->is_class = true;
		p = q;
	} else if ((q = after_word(p, end, "array")) && (q = after_word(q, end, "of"))) {
		h->array_of = true;
		p = q;
	}
	for (q = p; q < end && !is_blank(*q); q++)
		;
	h->style = STYLE_PRINT;
	h->type = p;
	h->type_size = (size_t)(q - p);
	q = skip_blanks(q, end);
	/* A class name of the VM's may hold blanks, one of this tool's could as well be damage. */
	return h->type_size > 0 &&
	    (q == end || ((size_t)(end - q) >= sizeof hash - 1 &&
	                  !memcmp(q, hash, sizeof hash - 1)));
}

enum header_result { HEADER_OK, HEADER_BAD, HEADER_CUT };

static enum header_result read_header(const struct classic_scan *s, const uint8_t *p,
    struct classic_header *h, const char **why)
{
	*h = (struct classic_header){ .style = STYLE_VM };
	const uint8_t *start = p;
	const uint8_t *q = read_address(s, p, &h->address, why);
	if (q)
		q = read_size(s, q, &h->size, why);
	const uint8_t *line_end = find_line_end(q ? q : start, s->end);
	if (line_end == s->end)
		return HEADER_CUT;
	if (!q)
		return HEADER_BAD;
	h->next = past_line_end(line_end, s->end);
	q = skip_blanks(q, line_end);
	while (line_end > q && is_blank(line_end[-1]))
		line_end--;
	if (line_end - q > 4 && is_blank(q[3]) && (!memcmp(q, "OBJ", 3) || !memcmp(q, "CLS", 3))) {
		h->is_class = *q == 'C';
		h->type = skip_blanks(q + 4, line_end);
		h->type_size = (size_t)(line_end - h->type);
		return HEADER_OK;
	}
	if (line_end - q == 3 && (!memcmp(q, "OBJ", 3) || !memcmp(q, "CLS", 3))) {
		*why = "it has no type";
		return HEADER_BAD;
	}
	if (!read_print_type(h, q, line_end)) {
		*why = line_end == q ? "it has no type" : "it is neither OBJ nor CLS";
		return HEADER_BAD;
	}
	return HEADER_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

static int truncated(struct classic_scan *s, const uint8_t *p, const char *what)
{
	uint64_t at = classic_offset(s->c, p);
	return err_at(s->err, ERR_TRUNCATED, at, "truncated in %s record at byte %" PRIu64, what, at);
}

static int class_record(struct classic_scan *s, const struct classic_header *h,
    const uint8_t *start, const uint8_t **at)
{
	struct classic_refs r = {
		.mode = REFS_GROW,
		.out = s->class_refs,
		.room = s->class_refs_room,
		.drop_first = s->c->old_style,
		.lines_may_lack = h->style == STYLE_PRINT,
	};
	int rc;
	const uint8_t *p = classic_refs(s, h->next, &r, &rc);
	if (!p)
		return rc;
	if (!r.whole)
		return truncated(s, start, "a class");
	size_t n;
	char *scratch;
	const uint8_t *name = classic_internal_name(h, &n, &scratch);
	struct class_record record = {
		.address = h->address,
		.name = name,
		.name_size = n,
		.instance_size = SIZE_UNKNOWN,
		.object_size = h->size,
		.n_references = r.stored,
		.references = r.out,
	};
	rc = s->sink->class_record(s->sink, &record);
	free(scratch);
	*at = p;
	return rc;
}

static int object_record(struct classic_scan *s, const struct classic_header *h,
    const uint8_t *start, const uint8_t **at)
{
	struct classic_refs r = {
		.mode = REFS_KEEP_FIRST,
		.out = s->chunk,
		.room = CLASSIC_CHUNK,
		.drop_first = s->c->old_style,
		.lines_may_lack = h->style == STYLE_PRINT,
	};
	int rc;
	const uint8_t *p = classic_refs(s, h->next, &r, &rc);
	if (!p)
		return rc;
	if (!r.whole)
		return truncated(s, start, "an object");
	const struct classic_name *name = classic_names_find(s, h);
	struct object_record record = {
		.address = h->address,
		.class_handle = name->handle,
		.kind = (enum object_kind)name->kind,
		.size = h->size,
		.length = LENGTH_UNKNOWN,
		.n_references = r.flushed + r.stored,
	};
	rc = s->sink->object(s->sink, &record);
	*at = p;
	if (rc < 0 || !s->sink->wants_references || record.n_references == 0)
		return rc;
	if (r.flushed > 0) {
		/* More than fit: walk over them again, now that the object is known. */
		r.mode = REFS_DELIVER;
		r.stored = r.flushed = r.lines = 0;
		r.drop_first = s->c->old_style;
		r.quiet = true;
		if (!classic_refs(s, h->next, &r, &rc))
			return rc;
		if (r.stored == 0)
			return 0;
	}
	return s->sink->references(s->sink, r.out, r.stored);
}

static const uint8_t *skip_record(const struct classic_scan *s, const uint8_t *p)
{
	const uint8_t *end = s->end;
	struct progress *work = progress_own();
	uint64_t round = 0;
	for (p = next_line(p, end); p < end && !progress_stops(work, round++); p = next_line(p, end)) {
		if (end - p >= 2 && p[0] == '/' && p[1] == '/')
			break;
		if (classic_head_at(p, end) != HEAD_NONE)
			break;
	}
	return p;
}

/* A record begins at *at, in whatever state. */
static int one_record(struct classic_scan *s, const uint8_t **at)
{
	const uint8_t *p = *at;
	struct classic_header h;
	const char *why = "";
	switch (read_header(s, p, &h, &why)) {
	case HEADER_CUT:
		return truncated(s, p, "the first line of a");
	case HEADER_BAD:
		CLASSIC_WARN(s, p, "a record is ignored: %s", why);
		*at = skip_record(s, p);
		return 0;
	case HEADER_OK:
		break;
	}
	if (h.type_size > CLASSIC_NAME_MAX)
		CLASSIC_WARN(s, p, "a type of %zu bytes is shortened to %u", h.type_size,
		    CLASSIC_NAME_MAX);
	return h.is_class ? class_record(s, &h, p, at) : object_record(s, &h, p, at);
}

/* A line that begins neither a record nor a comment, and that no record before it claims. */
static const uint8_t *stray_line(struct classic_scan *s, const uint8_t *p, bool *said)
{
	bool references = is_blank(*p) || (s->end - p >= 2 && is_prefix(p));
	const uint8_t *q = skip_blanks(p, s->end);
	if (q < s->end && !is_line_end(*q) && !*said) {
		CLASSIC_WARN(s, p, references ? "references before any object are ignored"
		                              : "a line outside of any record is ignored");
		*said = true;
	}
	return next_line(q, s->end);
}

static int scan_lines(struct classic_scan *s, const struct part *part)
{
	const uint8_t *p = s->begin, *last_cut = p;
	bool said = false;
	struct progress *work = progress_own();
	for (uint64_t round = 0; p < s->end; round++) {
		int rc = 0;
		if (round % RECORDS_AT_ONCE == 0 && progress_cancelled(work))
			return err_cancelled(s->err);
		if (is_line_end(*p)) {
			p++;
		} else if (classic_plain_head(p, s->end) ||
		    classic_head_at(p, s->end) != HEAD_NONE) {
			if (p - last_cut >= PART_BYTES && classic_head_at(p, s->end) == HEAD_GOOD) {
				struct part here = { .begin = (uint64_t)(p - s->c->text),
					.end = part->end };
				rc = s->sink->part_begins(s->sink, &here);
				last_cut = p;
			}
			if (rc == 0)
				rc = one_record(s, &p);
			said = false;
		} else if (s->end - p >= 2 && p[0] == '/' && p[1] == '/') {
			p = classic_comment(s, p);
			said = false;
		} else {
			p = stray_line(s, p, &said);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

int classic_scan_run(struct classic_scan *s, const struct part *part)
{
	s->names = (struct classic_names){ .n = 0 };
	s->chunk = xmalloc(CLASSIC_CHUNK * sizeof *s->chunk);
	s->class_refs_room = CLASSIC_CHUNK;
	s->class_refs = big_alloc(s->class_refs_room, sizeof *s->class_refs, s->err);
	int rc = s->class_refs ? scan_lines(s, part) : ERR_NOMEM;
	big_free(s->class_refs);
	free(s->chunk);
	classic_names_release(&s->names);
	return rc;
}
