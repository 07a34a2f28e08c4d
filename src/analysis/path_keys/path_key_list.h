/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_key_list.h - signatures in order, for path_keys.c. */
#ifndef CAIRN_ANALYSIS_PATH_KEYS_PATH_KEY_LIST_H
#define CAIRN_ANALYSIS_PATH_KEYS_PATH_KEY_LIST_H

#include "analysis/path_keys/path_keys.h"

/* Negative if one signature comes before another: the shorter one, then by how they begin, then by their words and
 * classes.  0 only for the same. */
int path_key_compare(const struct path_keys *s, uint32_t a, uint32_t b);

/* Join the ways on which one chain is entered, and put each signature behind its parent, siblings by their words
 * (path_labels.h).
 * 0; ERR_NOMEM or ERR_CANCELLED, and *s is to be released. */
MUST_CHECK int path_keys_settle(struct path_keys *s, struct progress *progress, struct err *err);

#endif
