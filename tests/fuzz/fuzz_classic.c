/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_classic.c - fuzz target: any bytes as a classic text dump. */
#include "dump/classic/classic.h"
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_reader(&classic_reader, NULL, data, size);
	return 0;
}
