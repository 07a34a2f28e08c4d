/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text_memo.h - a cache of answers about long texts, by the place of their characters.
 *
 * Any number of Strings may share one array: a walk over all of them remembers the last long texts, so
 * that their characters are not looked at once for each String.  One thread each.
 */
#ifndef CAIRN_ANALYSIS_STRINGS_TEXT_MEMO_H
#define CAIRN_ANALYSIS_STRINGS_TEXT_MEMO_H

#include "algorithms/hash.h"
#include "base/progress.h"
#include "heap/string.h"

enum { MEMO_TEXTS = 64, MEMO_LEAST = 256 /* units: of a shorter text it is sooner found anew */ };

struct text_memo { /* begins zeroed */
	struct {
		const uint8_t *bytes;
		uint64_t length, answer;
		unsigned width;
	} kept[MEMO_TEXTS];
	uint64_t units; /* of the texts that were not known, since the last look at the cancel flag */
};

/* True: *answer is what was kept for this text. */
static inline bool text_memo_knows(
    const struct text_memo *m, const struct string_view *s, uint64_t *answer)
{
	if (s->length < MEMO_LEAST)
		return false;
	unsigned at = hash_number((uintptr_t)s->bytes) % MEMO_TEXTS;
	if (m->kept[at].bytes != s->bytes || m->kept[at].length != s->length ||
	    m->kept[at].width != s->width)
		return false;
	*answer = m->kept[at].answer;
	return true;
}

static inline void text_memo_keep(struct text_memo *m, const struct string_view *s, uint64_t answer)
{
	if (s->length < MEMO_LEAST)
		return;
	unsigned at = hash_number((uintptr_t)s->bytes) % MEMO_TEXTS;
	m->kept[at].bytes = s->bytes;
	m->kept[at].length = s->length;
	m->kept[at].width = s->width;
	m->kept[at].answer = answer;
}

/* Before a text's characters are looked at.  True: the user asked to stop. */
static inline bool text_memo_stops(struct text_memo *m, const struct string_view *s)
{
	m->units += 16 + s->length; /* an empty one is not free either */
	if (m->units < 1 << 20)
		return false;
	m->units = 0;
	return progress_cancelled(progress_own());
}

#endif
