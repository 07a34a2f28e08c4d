/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusals.h - refusals of memory that mem.h remembered, as the error of whatever goes on. */
#ifndef CAIRN_BASE_REFUSALS_H
#define CAIRN_BASE_REFUSALS_H

#include "base/err.h"
#include "base/mem.h"

/* ERR_NOMEM with the last refusal's sentence when there were any since mem_refusals gave before; else
 * 0.  The stock is filled again.  Any thread. */
MUST_CHECK int refusals_check(uint64_t before, struct err *err);

#endif
