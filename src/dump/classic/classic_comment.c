/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * classic_comment.c - the lines that start with //: the version, and what the writer counted.
 *
 * The counts go to sink->stated under these names:
 *     "classes"            CLS records
 *     "objects"            OBJ records that are no arrays
 *     "object arrays", "primitive arrays"
 *                          The VM sorts arrays by their innermost type: it counts [[I as a
 *                          primitive array, although it holds references.  jdmpview
 *                          sorts by the real kind.  The sum of the two is the same either way; a
 *                          check that wants both must try both sortings.
 *     "records"            all records
 *     "references and nulls", "nulls"
 *                          The dump lists as many references as the difference of the two.  Both
 *                          are not stated for the old style, which counts class blocks as well.
 */
#include "dump/classic/classic_dump.h"
#include "dump/token.h"

#define TOTALS_LOOK (64u << 10)
#define COMMENT_LOOK 4096 /* bytes of a comment line that are looked at */

static bool starts_with(const uint8_t *p, const uint8_t *end, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(end - p) >= n && !memcmp(p, word, n);
}

/* Past "//", blanks and word; NULL when the line at p says something else. */
static const uint8_t *comment_word(const uint8_t *p, const uint8_t *end, const char *word)
{
	if (!starts_with(p, end, "//"))
		return NULL;
	p = skip_blanks(p + 2, end);
	return starts_with(p, end, word) ? p + strlen(word) : NULL;
}

const uint8_t *classic_version(const uint8_t *p, const uint8_t *end, size_t *n)
{
	p = comment_word(p, end, "Version");
	if (!p)
		return NULL;
	p = skip_blanks(p, end);
	if (p == end || *p != ':')
		return NULL;
	p = skip_blanks(p + 1, end);
	const uint8_t *stop = end - p > COMMENT_LOOK ? p + COMMENT_LOOK : end;
	const uint8_t *last = find_line_end(p, stop);
	while (last > p && is_blank(last[-1]))
		last--;
	*n = (size_t)(last - p);
	return p;
}

/*
 * A number and the separator after it.  A number that touches the end of the line is whole only
 * when the line end is there.
 */
static const uint8_t *number_then(const uint8_t *p, const uint8_t *end, uint8_t separator,
    uint64_t *value, bool *fits)
{
	p = skip_blanks(p, end);
	const uint8_t *q = read_decimal(p, end, value, fits);
	if (q == p)
		return NULL;
	q = skip_blanks(q, end);
	if (q == end || *q != separator)
		return NULL;
	return q + 1;
}

/* "// EOF:  Total 'Objects',Refs(null) : N,R(Z)" */
static bool read_totals(const uint8_t *p, const uint8_t *end, uint64_t n[3], bool fits[3])
{
	p = comment_word(p, end, "EOF");
	if (!p)
		return false;
	const uint8_t *colon = NULL;
	for (; p < end && !is_line_end(*p); p++) {
		if (*p == ':')
			colon = p;
	}
	return colon && (p = number_then(colon + 1, end, ',', &n[0], &fits[0])) &&
	    (p = number_then(p, end, '(', &n[1], &fits[1])) &&
	    number_then(p, end, ')', &n[2], &fits[2]);
}

/* "// Breakdown - Classes: N, Objects: N, ObjectArrays: N, PrimitiveArrays: N" */
static bool read_breakdown(const uint8_t *p, const uint8_t *end, uint64_t n[4], bool fits[4])
{
	static const char *const word[] = { "Classes", "Objects", "ObjectArrays", "PrimitiveArrays" };
	p = comment_word(p, end, "Breakdown");
	if (!p)
		return false;
	p = skip_blanks(p, end);
	if (p < end && *p == '-')
		p = skip_blanks(p + 1, end);
	for (size_t i = 0; i < 4; i++) {
		if (!starts_with(p, end, word[i]))
			return false;
		p = skip_blanks(p + strlen(word[i]), end);
		if (p == end || *p != ':')
			return false;
		p++;
		if (i < 3) {
			p = number_then(p, end, ',', &n[i], &fits[i]);
			if (!p)
				return false;
			p = skip_blanks(p, end);
		}
	}
	p = skip_blanks(p, end);
	const uint8_t *q = read_decimal(p, end, &n[3], &fits[3]);
	return q > p && q < end;
}

static void state(struct classic_scan *s, const uint8_t *p, const char *const *what,
    const uint64_t *count, const bool *fits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fits[i])
			s->sink->stated(s->sink, what[i], STATED_THINGS, count[i]);
		else
			CLASSIC_WARN(s, p, "the number of %s at the end does not fit into 64 bits",
			    what[i]);
	}
}

const uint8_t *classic_comment(struct classic_scan *s, const uint8_t *p)
{
	static const char *const totals[] = { "records", "references and nulls", "nulls" };
	static const char *const breakdown[] = { "classes", "objects", "object arrays",
		"primitive arrays" };
	const uint8_t *next = next_line(p, s->end);
	const uint8_t *end = next - p > COMMENT_LOOK ? p + COMMENT_LOOK : next;
	uint64_t n[4];
	bool fits[4];
	size_t size;
	if (read_totals(p, end, n, fits)) {
		state(s, p, totals, n, fits, s->c->old_style ? 1 : 3);
		const uint8_t *q = next;
		while (q < s->end && (is_blank(*q) || is_line_end(*q)))
			q++;
		if (q < s->end || !s->at_eof)
			CLASSIC_WARN(s, q, "the dump continues after its totals line");
	} else if (read_breakdown(p, end, n, fits)) {
		state(s, p, breakdown, n, fits, 4);
	} else if (comment_word(p, end, "EOF") || comment_word(p, end, "Breakdown")) {
		CLASSIC_WARN(s, p, "the counts in this line are truncated or damaged");
	} else if (classic_version(p, end, &size) && p != s->c->text) {
		/* The first stands at the very beginning, or after nothing but empty lines. */
		const uint8_t *q = p;
		while (q > s->c->text && is_line_end(q[-1]) && p - q < COMMENT_LOOK)
			q--;
		if (q != s->c->text && !(s->c->has_bom && q == s->c->text + 3))
			CLASSIC_WARN(s, p, "a second version line");
	}
	return next;
}

bool classic_find_totals(const struct classic *c)
{
	const uint8_t *end = c->text + c->size;
	const uint8_t *p = c->size > TOTALS_LOOK ? end - TOTALS_LOOK : c->text;
	uint64_t n[3];
	bool fits[3];
	for (; p < end; p = next_line(p, end)) {
		if (*p == '/' && (p == c->text || is_line_end(p[-1])) &&
		    read_totals(p, end, n, fits))
			return true;
	}
	return false;
}
