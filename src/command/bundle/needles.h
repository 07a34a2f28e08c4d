/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * needles.h - the beginnings of texts that are searched for in the bytes of a file.
 *
 * A text of TEXT_LEAST characters or more is looked for by its beginning, the needle: at most NEEDLE_UNITS characters,
 * so that one which is quoted in part is found, too, and so that a needle costs the same however long its text is.
 * It is looked for in each of the forms in which bytes can have it (enum needle_form).
 */
#ifndef CAIRN_COMMAND_BUNDLE_NEEDLES_H
#define CAIRN_COMMAND_BUNDLE_NEEDLES_H

#include "base/text.h"

#include <string.h>

struct string_view;

enum { TEXT_LEAST = 8, NEEDLE_UNITS = 24, NEEDLE_ROOM = 60, NEEDLE_KEY = 8, NUMBER_DIGITS = 12 };

enum needle_form { FORM_UTF8, FORM_LATIN1, FORM_UTF16_LE, FORM_UTF16_BE, FORM_PAGE, FORMS };
/* "UTF-8", …, "escaped UTF-8": as cairn writes a text into a page. */
const char *needle_form_name(enum needle_form form);

struct needle {
	uint64_t key;  /* NEEDLE_KEY of its bytes that are not all the same; skip: from which on */
	uint8_t n, skip;
	uint8_t form;  /* enum needle_form */
	uint8_t bytes[NEEDLE_ROOM];
};

/* A needle in all of its forms; those that are the same bytes once. */
struct needles {
	struct needle form[FORMS];
	unsigned n;
	bool numeric; /* at most NUMBER_DIGITS digits, and signs, all ASCII; or 0x and hexadecimal ones */
	bool binary;  /* numbers as bytes may well be these: it has control characters, or counts, or says little */
	struct text room;
};
void needles_release(struct needles *to);
/* Why there is no needle of a text: it is too short; it is one character over and over, or begins so for long. */
enum needle_made { NEEDLE_MADE, NEEDLE_SHORT, NEEDLE_SAME };
enum needle_made needles_make(struct needles *to, const struct string_view *s);

/* The key that stands at a place of a file. */
static inline uint64_t needle_key(const uint8_t *p)
{
	uint64_t key;
	memcpy(&key, p, sizeof key);
	return key;
}

/* No needle has such a key: one byte over and over. */
static inline bool needle_key_same(uint64_t key)
{
	return key == (key << 8 | key >> 56);
}

#endif
