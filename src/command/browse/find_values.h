/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * find_values.h - rows of find that are about values: numbers, dates, UUIDs, hashes, constants of enums, keys of maps.
 */
#ifndef CAIRN_COMMAND_BROWSE_FIND_VALUES_H
#define CAIRN_COMMAND_BROWSE_FIND_VALUES_H

#include "algorithms/pattern.h"
#include "command/session/session.h"

/* The columns of find. */
enum {
	FOUND_KIND, FOUND_ADDRESS, FOUND_CLASS, FOUND_NAME, FOUND_OBJECTS, FOUND_SHALLOW, FOUND_OFFSET, FOUND_FIELD
};
enum { FOUND_SHOWN = 1000 }; /* rows of a kind on the screen */

/* A row of an object; field NULL or empty: of none. */
void find_add(struct result *r, const char *kind, uint32_t id, struct cell name, struct cell offset, const char *field);
/* An object, or (offset not 0) what lies so many bytes inside of it. */
void find_object(struct result *r, uint32_t id, uint64_t offset);

/* Where a number stands, if the word is one; the note says where it was looked for.  shown: on the screen. */
MUST_CHECK int find_number(struct session *s, struct result *r, const char *word, bool shown, struct err *err);
/* Objects with this identity hash.  ERR_UNSUPPORTED: the dump holds none. */
MUST_CHECK int find_hashes(struct session *s, struct result *r, uint32_t hash, struct err *err);
/* "com.acme.Foo@1a2b3c", as Object.toString prints what has no better words: the class's name, and the hash. */
bool find_is_printed(const char *word, uint32_t *hash);
/* The objects that print themselves so, of a dump that holds hashes; of none of the class, others with the hash.  0,
 * and nothing else, where the word is no such text, or the dump holds no hashes. */
MUST_CHECK int find_printed(struct session *s, struct result *r, const char *word, struct err *err);
/* Constants of enums whose name matches. */
MUST_CHECK int find_enums(struct result *r, struct pattern *regex, bool shown, struct err *err);
/* Objects that a column of values shows with words that match: dates, UUIDs, big numbers, boxes.  None for a decimal
 * number, which find_number looks for in these as well. */
MUST_CHECK int find_values(struct result *r, const char *word, bool any_case, bool shown, struct err *err);
/* The entries of maps whose keys these objects are. */
void find_keys(struct result *r, const uint32_t *ids, size_t n);

#endif
