/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cut_words.h - words of a command line into references that are to be cleared. */
#ifndef CAIRN_COMMAND_RETENTION_CUT_WORDS_H
#define CAIRN_COMMAND_RETENTION_CUT_WORDS_H

#include "analysis/paths/paths.h"
#include "analysis/what_if/what_if.h"
#include "command/session/session.h"

/* What is to be cleared. */
struct cut_wish {
	struct what_if_edges edges;
	uint32_t *ids; /* every reference to these objects */
	size_t n_ids;
};

/*
 * Add what a word means:
 *     HOLDER>TARGET   references of an object (or the instances of a class pattern, or a set) to
 *                     another (likewise); root>TARGET: what the roots hold
 *     OBJ.field       a field of an object, or of a set's; OBJ[17] an element
 *     CLASS.field     that field of all instances, or that static field
 *     SET             every reference to an object, the instances of a class pattern, a set
 * 0, ERR_NOT_FOUND, ERR_USAGE, ERR_UNSUPPORTED or ERR_NOMEM.
 */
MUST_CHECK int cut_wish_add(struct cut_wish *to, const struct session *s, const char *word,
    struct err *err);
void cut_wish_release(struct cut_wish *w);

/* A reference as cut takes it: "com.acme.Cache.INSTANCE", "0x7a3e0010.table", "0x7a3e0010[17]",
 * "root>0x7a3e0010", or the addresses of both.  field: gets its field, or what makes it a root. */
void cut_word_of(struct text *to, struct text *field, const struct session *s,
    const struct path_rules *rules, const struct what_if_edge *e);
/* The same where the field is known already, as path_field appends it. */
void cut_word_of_field(struct text *to, const struct session *s, const struct what_if_edge *e, const char *field);
/* A class as a word: its name, or where several have it the address. */
void cut_class_word(struct text *to, const struct session *s, uint32_t class);
/* Quotes round what a command line would take for several words ("map[string]int buckets>int"). */
void cut_word_quote(struct text *name);

/* cut -plan: the references to clear so that so many bytes are freed.  Its exit status says whether
 * that can be. */
extern const struct shape cut_plan_shape;
MUST_CHECK int command_cut_plan(struct session *s, const struct retained *retained, uint64_t wanted,
    struct result **out, struct err *err);

#endif
