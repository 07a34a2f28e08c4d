/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_javacore.c - fuzz target: any bytes as the javacore beside the sample of data/. */
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *source = getenv("CAIRN_SOURCE");
	char dump[4096];
	snprintf(dump, sizeof dump, "%s/data/heapdump.20261121.101500.4711.0001.phd", source ? source : ".");
	fuzz_javacore(dump, data, size);
	return 0;
}
