/* SPDX-License-Identifier: GPL-3.0-or-later */
/* retained_saving.h - what retained_saved.c and retained_packed.c share. */
#ifndef CAIRN_ANALYSIS_DOMINATORS_RETAINED_SAVING_H
#define CAIRN_ANALYSIS_DOMINATORS_RETAINED_SAVING_H

#include "analysis/dominators/dominators.h"

/* The tree in a packed index.  The heap's references must be there. */
MUST_CHECK int retained_pack(const struct retained *r, struct chunks_writer *w, struct err *err);
/* Fills immediate, retained and n_reachable, which hold.  0, or ERR_FORMAT, ERR_NOMEM, ERR_IO, ERR_CANCELLED: nothing
 * is the caller's. */
MUST_CHECK int retained_unpack(struct dominators *out, const struct model *m, struct err *err);

/* Fill r->unsure, once its dominators are there.  0, ERR_NOMEM or ERR_CANCELLED. */
MUST_CHECK int retained_mark_unsure(struct retained *r, struct err *err);

#endif
