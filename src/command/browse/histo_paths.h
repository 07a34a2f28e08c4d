/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histo_paths.h - histo -by path, for cmd_classes.c. */
#ifndef CAIRN_COMMAND_BROWSE_HISTO_PATHS_H
#define CAIRN_COMMAND_BROWSE_HISTO_PATHS_H

#include "analysis/histogram.h"
#include "command/commands.h"

extern const struct shape histo_paths_shape;

/* One row for each way on which objects of the scope are reached (path_keys.h).  0: *out is the caller's; or an
 * error. */
MUST_CHECK int histo_by_path(struct session *s, const struct histogram_scope *scope, const char *title,
    struct result **out, struct err *err);

#endif
