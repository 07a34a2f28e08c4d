/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_origin.c - what a file that cairn exported says of the dump it was made of.
 *
 *     exported by cairn from phd: left out 3, fields invented, roots inferred, word 64, arrays 8 4 16 0
 */
#include "dump/hprof/hprof_dump.h"

#include "dump/source/source.h"

#include <stdio.h>
#include <string.h>

static const char begin[] = "exported by cairn from ";
enum { LONGEST = 400, MOST_BYTES = 64 };

/* The words of the members that are true or false. */
struct word {
	const char *text;
	size_t member;
};
#define WORD(text, member) {text, offsetof(struct hprof_origin, member)}
static const struct word words[] = {
    WORD("fields invented", fields_invented), WORD("roots inferred", roots_inferred),
    WORD("locals inferred", locals_inferred), WORD("damaged", damaged),
    WORD("loaders hold classes", loaders_hold_classes), WORD("array classes kept", array_classes_kept),
    WORD("class fields missing", class_fields_missing), WORD("sizes recorded", sizes_recorded),
    WORD("instance sizes recorded", instance_sizes), WORD("sizes inferred", sizes_inferred),
    WORD("superclasses recorded", superclasses_recorded)};
enum { WORDS = sizeof words / sizeof *words };

static bool *member(const struct hprof_origin *o, const struct word *w)
{
	return (bool *)((char *)(uintptr_t)o + w->member);
}

void hprof_origin_add(const struct hprof_origin *o, struct text *to)
{
	text_addf(to, "%s%s: left out %u, word %u", begin, o->format, (unsigned)o->left_out, o->word_bits);
	if (o->arrays.header)
		text_addf(to, ", arrays %u %u %u %u", o->arrays.header, o->arrays.reference, o->arrays.minimum,
		    o->arrays.empty);
	for (unsigned i = 0; i < WORDS; i++)
		if (*member(o, &words[i]))
			text_addf(to, ", %s", words[i].text);
}

static bool plausible(const struct recorded_arrays *a)
{
	return a->header && a->header <= MOST_BYTES && (a->reference == 4 || a->reference == 8) &&
	    a->minimum <= MOST_BYTES && a->empty <= MOST_BYTES;
}

static void take(struct hprof_origin *o, const char *part)
{
	struct recorded_arrays a = {.alignment = 0};
	unsigned n;

	for (unsigned i = 0; i < WORDS; i++)
		*member(o, &words[i]) |= !strcmp(part, words[i].text);
	if (sscanf(part, "left out %u", &n) == 1 && n <= REDACT_ALL)
		o->left_out = (enum redact_what)n;
	if (sscanf(part, "word %u", &n) == 1 && (n == 32 || n == 64))
		o->word_bits = n;
	if (sscanf(part, "arrays %u %u %u %u", &a.header, &a.reference, &a.minimum, &a.empty) == 4 && plausible(&a))
		o->arrays = a;
}

bool hprof_origin_read(struct hprof_origin *out, const uint8_t *bytes, size_t n)
{
	char text[LONGEST + 1], *rest = text + sizeof begin - 1;

	if (n > LONGEST || n < sizeof begin - 1 || memcmp(bytes, begin, sizeof begin - 1))
		return false;
	memcpy(text, bytes, n);
	text[n] = '\0';
	*out = (struct hprof_origin){.word_bits = 0};
	if (sscanf(rest, "%15[a-z0-9]", out->format) != 1)
		return false;
	rest += strlen(out->format);
	for (char *part; (part = strsep(&rest, ":,"));)
		take(out, part + (*part == ' '));
	return true;
}

const uint8_t *hprof_origin_record(const struct hprof *h, uint64_t at, struct hprof_origin *out)
{
	const struct source *s = h->dump.source;
	const uint8_t *p = s->bytes + at;
	uint64_t head = RECORD_HEAD + h->id_size;

	if (s->size < at || s->size - at < head || *p != HPROF_UTF8)
		return NULL;
	uint32_t n = load_be32(p + 5);
	if (n < h->id_size || n > s->size - at - RECORD_HEAD)
		return NULL;
	return hprof_origin_read(out, p + head, n - h->id_size) ? p : NULL;
}
