/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phd.h - the reader of OpenJ9 PHD files.  The other headers of this folder are private. */
#ifndef CAIRN_DUMP_PHD_PHD_H
#define CAIRN_DUMP_PHD_PHD_H

extern const struct reader phd_reader;

#endif
