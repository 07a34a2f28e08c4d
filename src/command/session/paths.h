/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.h - finding paths with what the session knows already. */
#ifndef CAIRN_COMMAND_SESSION_PATHS_H
#define CAIRN_COMMAND_SESSION_PATHS_H

#include "analysis/paths/paths.h"
#include "command/session/session.h"

/* Backward, and forward from the roots where that takes too long; out->n is 0 when there is none.
 * 0, ERR_NOMEM or ERR_CANCELLED. */
int command_find_path(const struct session *s, const struct path_rules *rules, uint32_t to,
    struct path *out, struct err *err);

/* The tree of shortest paths from the roots, found at the first call for a dump and kept. */
int session_path_tree(
    const struct session *s, bool weak, const struct path_tree **out, struct err *err);

#endif
