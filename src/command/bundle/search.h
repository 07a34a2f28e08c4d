/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.h - is any text of a dump in a file that was written?  Private to this folder. */
#ifndef CAIRN_COMMAND_BUNDLE_SEARCH_H
#define CAIRN_COMMAND_BUNDLE_SEARCH_H

#include "command/bundle/texts.h"

/* What a text may stand in by chance. */
enum written_as {
	AS_NUMBERS, /* an index, a copy, a profile: numbers as bytes */
	AS_WORDS,   /* a report: numbers as digits */
};

struct search {
	const struct heap *h;
	struct sieve *sieve; /* NULL: before the first file */
	struct texts_found found;
};

/* What was found in a file: texts that nothing excuses, and the first of them; those that something does. */
struct searched {
	uint64_t texts;
	struct needle_of first;
	enum needle_form form;
	uint64_t named, by_chance;
};

/* Look for all texts of the dump in the bytes of a file, and in what they unpack to.  0: *out tells.  ERR_IO,
 * ERR_NOMEM, ERR_CANCELLED, ERR_FORMAT: it does not unpack; ERR_UNSUPPORTED: the texts are not here. */
MUST_CHECK int search_file(struct search *s, const char *path, enum written_as as, struct searched *out,
    struct err *err);
/* After the first file: does the dump have texts to look for? */
bool search_has_texts(const struct search *s);
void search_release(struct search *s);

#endif
