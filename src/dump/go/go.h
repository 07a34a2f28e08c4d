/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go.h - the reader of heap dumps of Go programs.  The other headers of this folder are private. */
#ifndef CAIRN_DUMP_GO_GO_H
#define CAIRN_DUMP_GO_GO_H

extern const struct reader go_reader;

#endif
