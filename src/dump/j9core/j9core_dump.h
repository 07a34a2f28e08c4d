/* SPDX-License-Identifier: GPL-3.0-or-later */
/* j9core_dump.h - the reader of system dumps of OpenJ9 VMs. */
#ifndef CAIRN_DUMP_J9CORE_J9CORE_DUMP_H
#define CAIRN_DUMP_J9CORE_J9CORE_DUMP_H

struct reader;
extern const struct reader j9_core_reader;

#endif
