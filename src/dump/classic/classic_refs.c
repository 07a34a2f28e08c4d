/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic_refs.c - the references of one record, however long their line is.
 *
 * Nearly all of a dump is "0x", 8 or 16 digits and a blank, over and over: a tight loop takes these
 * as long as the shape holds.  Everything else (other widths, nulls of the old writers, line ends,
 * damage) goes through the general loop.  No line is ever held as a whole.
 *
 * When does the end of the dump cut a record?  The VM begins a record's second line at once, puts a
 * blank behind each reference, and writes a line end only in front of the next record: a VM that
 * died between two records leaves a line that ends in a blank.  So the last record counts as whole
 * if its second line has begun and the dump ends in a blank or a line end.  (It may still lack
 * references: the warning about the missing totals line says so.)  A reference that touches the end
 * may lack digits, so its record counts as cut.  There are two exceptions: a dump whose totals line
 * was found was not cut, and PrintHeapdump writes no second line for a record without references.
 */
#include "dump/classic/classic_dump.h"
#include "dump/token.h"

#include "base/progress.h"
#include "memory/big.h"

#define STRIDE_64 19 /* 0x, 16 digits, blank */
#define STRIDE_32 11 /* 0x, 8 digits, blank */
#define HEAD_TOKEN_MAX 64
#define DAMAGED_LOOK 256

enum { BYTES_AT_ONCE = 1 << 16 }; /* between two looks at the cancel flag */

static const uint8_t *bytes_on(const uint8_t *p, const uint8_t *end)
{
	return end - p > BYTES_AT_ONCE ? p + BYTES_AT_ONCE : end;
}

/* ---- where a record begins ------------------------------------------------------------------- */

/* Does this line look like the first of a record that lost its "0x"?  It does if a "[" with a digit
 * behind it, or OBJ or CLS between blanks, stands among its first DAMAGED_LOOK bytes. */
static bool resembles_head(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *stop = end - p > DAMAGED_LOOK ? p + DAMAGED_LOOK : end;
	for (; p < stop && !is_line_end(*p); p++) {
		if (*p == '[' && stop - p >= 2 && is_decimal(p[1]))
			return true;
		if (stop - p >= 5 && (!memcmp(p, " OBJ ", 5) || !memcmp(p, " CLS ", 5)))
			return true;
	}
	return false;
}

enum classic_head classic_head_at(const uint8_t *p, const uint8_t *end)
{
	if (p >= end || is_line_end(*p) || is_blank(*p) || *p == '/')
		return HEAD_NONE;
	if (end - p == 1)
		return *p == '0' ? HEAD_CUT : HEAD_NONE;
	if (!is_prefix(p))
		return resembles_head(p, end) ? HEAD_DAMAGED : HEAD_NONE;
	const uint8_t *q = p + 2;
	while (q < end && *q > ' ' && *q != '[' && q - p < 2 + HEAD_TOKEN_MAX)
		q++;
	q = skip_blanks(q, end);
	if (q == end)
		return HEAD_CUT;
	if (*q == '[')
		return HEAD_GOOD;
	if (is_line_end(*q) || *q == '0')
		return HEAD_NONE; /* a line of references without its tab */
	return resembles_head(p, end) ? HEAD_DAMAGED : HEAD_NONE;
}

uint64_t classic_snap(const struct classic *c, uint64_t at)
{
	const uint8_t *end = c->text + c->size;
	if (at == 0)
		return 0;
	if (at >= c->size)
		return c->size;
	const uint8_t *p = c->text + at;
	if (!is_line_end(p[-1]))
		p = next_line(p, end);
	while (p < end) {
		if (end - p >= 2 && is_prefix(p) && classic_head_at(p, end) == HEAD_GOOD)
			return (uint64_t)(p - c->text);
		p = next_line(p, end);
	}
	return c->size;
}

/* ---- storing --------------------------------------------------------------------------------- */

/* Make room in r->out, which is full, in the way that r->mode says. */
static int refs_full(struct classic_scan *s, struct classic_refs *r)
{
	switch (r->mode) {
	case REFS_DELIVER: {
		int rc = s->sink->references(s->sink, r->out, r->stored);
		if (rc < 0)
			return rc;
		break;
	}
	case REFS_GROW: {
		/* Bounded by the text that is left: no reference takes less than four bytes of it. */
		uint64_t room = r->room * 2;
		uint64_t *grown =
		    big_resize(r->out, room, sizeof *grown, s->err);
		if (!grown)
			return ERR_NOMEM;
		r->out = s->class_refs = grown;
		r->room = s->class_refs_room = room;
		return 0;
	}
	case REFS_KEEP_FIRST:
		break;
	}
	r->flushed += r->stored;
	r->stored = 0;
	return 0;
}

/* Take references of 16 digits, with one blank after each, as long as they come and room is left. */
static const uint8_t *run_64(const uint8_t *p, const uint8_t *end, struct classic_refs *r)
{
	uint64_t *out = r->out + r->stored, *stop = r->out + r->room;
	uint64_t value;
	while (end - p >= STRIDE_64 && out < stop && p[0] == '0' && p[1] == 'x' &&
	    p[STRIDE_64 - 1] == ' ' && hex16(p + 2, &value)) {
		*out = value;
		out += value != 0;
		p += STRIDE_64;
	}
	r->stored = (uint64_t)(out - r->out);
	return p;
}

static const uint8_t *run_32(const uint8_t *p, const uint8_t *end, struct classic_refs *r)
{
	uint64_t *out = r->out + r->stored, *stop = r->out + r->room;
	uint64_t value;
	while (end - p >= STRIDE_32 && out < stop && p[0] == '0' && p[1] == 'x' &&
	    p[STRIDE_32 - 1] == ' ' && hex8(p + 2, &value)) {
		*out = value;
		out += value != 0;
		p += STRIDE_32;
	}
	r->stored = (uint64_t)(out - r->out);
	return p;
}

/* ---- the general loop ------------------------------------------------------------------------ */

/* One token that is no blank: a reference, or damage. */
static const uint8_t *one_token(struct classic_scan *s, const uint8_t *p, struct classic_refs *r)
{
	const uint8_t *end = s->end, *start = p;
	uint64_t value = 0;
	unsigned digits = 0;
	if (*p == '\0') {
		/* Zeros stand in for lost bytes; what follows them may be whole again. */
		while (p < end && *p == '\0')
			p++;
		if (!r->quiet)
			CLASSIC_WARN(s, start, "%llu zero bytes among the references",
			    (unsigned long long)(p - start));
		return p;
	}
	if (end - p >= 2 && is_prefix(p)) {
		int digit;
		for (p += 2; p < end && (digit = hex_value(*p)) >= 0; p++) {
			if (++digits <= 16)
				value = value << 4 | (unsigned)digit;
		}
		if (digits >= 1 && digits <= 16 && (p == end || is_blank(*p) || is_line_end(*p))) {
			if (r->drop_first)
				r->drop_first = false;
			else if (value)
				r->out[r->stored++] = value;
			return p;
		}
	}
	while (p < end && !is_blank(*p) && !is_line_end(*p))
		p++;
	if (!r->quiet) {
		CLASSIC_WARN(s, start, digits > 16 ? "a reference of more than 16 digits is ignored"
		                                   : "an invalid reference is ignored");
	}
	return p;
}

static bool has_second_line(const struct classic_refs *r)
{
	return r->lines > 0 || r->lines_may_lack;
}

/*
 * Does the line at *at end the record, or does the dump end there?  If so, r->whole says whether
 * the record is whole.  *at moves past a line of garbage.
 */
static bool line_ends_record(struct classic_scan *s, const uint8_t **at, struct classic_refs *r)
{
	const uint8_t *p = *at, *end = s->end;
	if (p == end) {
		r->whole = has_second_line(r) || s->c->has_totals || !s->at_eof;
		return true;
	}
	if (is_blank(*p) || is_line_end(*p))
		return false;
	if (classic_plain_head(p, end))
		return true;
	if (*p == '/' && (end - p == 1 || p[1] == '/')) {
		r->whole = end - p > 1 || has_second_line(r);
		return true;
	}
	switch (classic_head_at(p, end)) {
	case HEAD_GOOD:
	case HEAD_DAMAGED:
		return true;
	case HEAD_CUT:
		/* The beginning of a next record; without a second line, perhaps that line. */
		r->whole = has_second_line(r);
		return true;
	case HEAD_NONE:
		break;
	}
	if (is_prefix(p) || *p == '\0')
		return false; /* references without a tab, or lost bytes among them */
	if (!r->quiet)
		CLASSIC_WARN(s, p, "a line outside of any record is ignored");
	*at = find_line_end(p, end);
	if (*at < end)
		return false;
	r->whole = has_second_line(r) || s->c->has_totals;
	return true;
}

const uint8_t *classic_refs(struct classic_scan *s, const uint8_t *p, struct classic_refs *r,
    int *rc)
{
	const uint8_t *end = s->end;
	bool wide = s->c->digits == 16;
	*rc = 0;
	r->whole = true;
	if (line_ends_record(s, &p, r))
		return p;
	const uint8_t *look = bytes_on(p, end); /* at the cancel flag, from there on */
	while (p < end) {
		if (p >= look) {
			if (progress_cancelled(progress_own())) {
				*rc = err_cancelled(s->err);
				return NULL;
			}
			look = bytes_on(p, end);
		}
		if (r->stored == r->room && (*rc = refs_full(s, r)) < 0)
			return NULL;
		if (is_blank(*p)) {
			p++;
			continue;
		}
		if (is_line_end(*p)) {
			p = past_line_end(p, end);
			r->lines++;
			if (line_ends_record(s, &p, r))
				return p;
			continue;
		}
		if (!r->drop_first) {
			const uint8_t *before = p;
			p = wide ? run_64(p, end, r) : run_32(p, end, r);
			if (p != before)
				continue;
		}
		p = one_token(s, p, r);
	}
	/* The dump ends in a line of references. */
	r->whole = s->c->has_totals || !s->at_eof || is_blank(end[-1]);
	return p;
}
