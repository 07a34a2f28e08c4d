/* SPDX-License-Identifier: GPL-3.0-or-later */
/* classic.h - the reader of classic text heap dumps.  The other headers of this folder are private. */
#ifndef CAIRN_DUMP_CLASSIC_CLASSIC_H
#define CAIRN_DUMP_CLASSIC_CLASSIC_H

extern const struct reader classic_reader;

#endif
