/* SPDX-License-Identifier: GPL-3.0-or-later */
/* toy.h - the reader of a format that doc/adding-a-format.md makes up; only tests know it. */
#ifndef CAIRN_TESTS_TOY_H
#define CAIRN_TESTS_TOY_H

#include "dump/reader.h"

extern const struct reader toy_reader;

/* Bytes between two cuts: PART_BYTES, but tests want many cuts of small dumps. */
extern uint64_t toy_part_bytes;

#endif
