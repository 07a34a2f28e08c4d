/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go.h - the readers of heap dumps and of core files of Go programs.  The other headers of this folder are private. */
#ifndef CAIRN_DUMP_GO_GO_H
#define CAIRN_DUMP_GO_GO_H

extern const struct reader go_reader, go_core_reader;

#endif
