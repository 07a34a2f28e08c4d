/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof.h - the reader of HPROF files.  The other headers of this folder are private. */
#ifndef CAIRN_DUMP_HPROF_HPROF_H
#define CAIRN_DUMP_HPROF_HPROF_H

#include "dump/reader.h"

extern const struct reader hprof_reader;

#endif
