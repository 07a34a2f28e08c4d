/* SPDX-License-Identifier: GPL-3.0-or-later */
/* signature_list.h - signatures in order, for signatures.c. */
#ifndef CAIRN_ANALYSIS_SIGNATURES_SIGNATURE_LIST_H
#define CAIRN_ANALYSIS_SIGNATURES_SIGNATURE_LIST_H

#include "analysis/signatures/signatures.h"

/* Negative if one signature comes before another: the shorter one, then by how they begin, then by their words and
 * classes.  0 only for the same. */
int signature_compare(const struct signatures *s, uint32_t a, uint32_t b);

/* Join the ways on which one chain is entered, and put each signature behind its parent, siblings by their words
 * (ways.h).
 * 0; ERR_NOMEM or ERR_CANCELLED, and *s is to be released. */
MUST_CHECK int signatures_settle(struct signatures *s, struct progress *progress, struct err *err);

#endif
