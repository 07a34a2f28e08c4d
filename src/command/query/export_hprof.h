/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_hprof.h - the heap as an HPROF file; private to this folder. */
#ifndef CAIRN_COMMAND_QUERY_EXPORT_HPROF_H
#define CAIRN_COMMAND_QUERY_EXPORT_HPROF_H

#include "command/command.h"

/* Write it as session_write_whole does; the row of the file is added to `written`, or said where somebody types. */
MUST_CHECK int export_hprof(struct session *s, const char *file, struct result *written, struct err *err);

#endif
