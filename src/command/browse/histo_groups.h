/* SPDX-License-Identifier: GPL-3.0-or-later */
/* histo_groups.h - histo -by path and -by heap, for cmd_classes.c. */
#ifndef CAIRN_COMMAND_BROWSE_HISTO_GROUPS_H
#define CAIRN_COMMAND_BROWSE_HISTO_GROUPS_H

#include "analysis/histogram.h"
#include "command/commands.h"

extern const struct shape histo_paths_shape, histo_heaps_shape;

/* A row for each path on which objects of the scope are reached (path_keys.h), or for each heap of Android that has
 * some.  The scope has objects or all, no classes.  *out is the caller's, after an error, too.  0; ERR_UNSUPPORTED: the
 * dump has no such heaps; or another error. */
MUST_CHECK int histo_by_groups(struct session *s, bool by_path, const struct histogram_scope *scope, const char *title,
    struct result **out, struct err *err);

#endif
