/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_toy.c - fuzz target: any bytes as a dump of the made-up format. */
#include "fuzz_reader.h"
#include "../toy/toy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&toy_reader, &toy_part_bytes, data, size);
	return 0;
}
