/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hprof.h - the reader of HPROF files.  The other headers of this folder are private. */
#ifndef CAIRN_DUMP_HPROF_HPROF_H
#define CAIRN_DUMP_HPROF_HPROF_H

extern const struct reader hprof_reader;
/* Files of a dump that HotSpot writes in parallel (heapDumper.cpp of JDK 17 and later). */
extern const struct source_division hprof_division;

#endif
