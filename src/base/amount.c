/* SPDX-License-Identifier: GPL-3.0-or-later */
/* amount.c - names of certainties, and differences of amounts; see amount.h. */
#include "base/amount.h"

const char *certainty_name(enum certainty certainty)
{
	static const char *const names[] = {
	    [EXACT] = "exact",
	    [LOWER_BOUND] = "lower bound",
	    [INFERRED] = "inferred",
	    [UNKNOWN] = "unknown",
	};
	return names[certainty];
}

struct amount amount_change(struct amount before, struct amount after)
{
	struct amount change = {.n = after.n - before.n};
	bool grows = after.n >= before.n;
	uint64_t by = grows ? after.n - before.n : before.n - after.n;
	if (before.certainty == UNKNOWN || after.certainty == UNKNOWN)
		return amount_unknown(before.certainty == UNKNOWN ? before.reason : after.reason);
	if (by > INT64_MAX) {
		change.n = (uint64_t)(grows ? INT64_MAX : -INT64_MAX);
		change = amount_weaken(change, INFERRED, REASON_TOO_LARGE);
	}
	if (before.certainty == LOWER_BOUND)
		before.certainty = INFERRED;
	return amount_as_sure(amount_as_sure(change, after), before);
}

struct amount amount_add_changes(struct amount a, struct amount b)
{
	int64_t sum;
	bool wide = __builtin_add_overflow(amount_signed(a), amount_signed(b), &sum);
	if (b.certainty == UNKNOWN) /* what is not known may as well have shrunk */
		b.certainty = INFERRED;
	if (a.certainty == UNKNOWN)
		a.certainty = INFERRED;
	if (wide)
		sum = amount_signed(a) < 0 ? -INT64_MAX : INT64_MAX;
	a.n = (uint64_t)sum;
	if (wide)
		a = amount_weaken(a, INFERRED, REASON_TOO_LARGE);
	return amount_as_sure(a, b);
}
