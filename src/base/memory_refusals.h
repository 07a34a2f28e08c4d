/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory_refusals.h - refusals of memory that mem.h remembered, as the error of the current work. */
#ifndef CAIRN_BASE_MEMORY_REFUSALS_H
#define CAIRN_BASE_MEMORY_REFUSALS_H

#include "base/err.h"
#include "base/mem.h"

/* ERR_NOMEM with the last refusal's sentence when there were any since mem_refusals gave before; else
 * 0.  Fills the reserve (emergency_reserve.h) again.  Any thread. */
MUST_CHECK int memory_refusals_check(uint64_t before, struct err *err);

#endif
