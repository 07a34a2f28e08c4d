/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_refusals.c - see memory_refusals.h.
 */
#include "base/memory_refusals.h"

#include "base/emergency_reserve.h"

int memory_refusals_check(uint64_t before, struct err *err)
{
	char sentence[sizeof err->message];

	emergency_reserve_fill();
	if (mem_refusals() == before)
		return 0;
	mem_last_refusal(sentence, sizeof sentence);
	return err_set(err, ERR_NOMEM, "%s", sentence);
}
