/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * budget.c - counters.
 */
#include "base/budget.h"

#include "base/units.h"

#include <stdatomic.h>
#include <stdio.h>

static _Atomic uint64_t in_use, peak, limit;
static char limit_whose[120] = "--mem";

uint64_t budget_in_use(void)
{
	return atomic_load(&in_use);
}

uint64_t budget_limit(void)
{
	return atomic_load(&limit);
}

uint64_t budget_peak(void)
{
	return atomic_load(&peak);
}

void budget_set_limit(uint64_t bytes, const char *whose)
{
	snprintf(limit_whose, sizeof limit_whose, "%s", whose);
	atomic_store(&limit, bytes);
}

static void note_peak(uint64_t now)
{
	uint64_t highest = atomic_load(&peak);

	while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now))
		;
}

static void refuse(uint64_t bytes, uint64_t now, uint64_t most, char *why, size_t room)
{
	char wanted[UNITS_ROOM], used[UNITS_ROOM], allowed[UNITS_ROOM], enough[UNITS_ROOM];

	units_bytes(wanted, bytes);
	units_bytes(used, now);
	units_bytes(allowed, most);
	/* for this block, not for those after it; and it is printed rounded */
	units_bytes(enough, bytes < UINT64_MAX - now ? bytes + now : UINT64_MAX);
	snprintf(why, room, "memory: %s more bytes are needed, %s are in use and %s allows %s; give a larger --mem, "
	    "about %s at least", wanted, used, limit_whose, allowed, enough);
}

bool budget_would_fit(uint64_t bytes, uint64_t kept, uint64_t gone)
{
	uint64_t most = atomic_load(&limit), now = atomic_load(&in_use);

	return !most || (kept <= most && bytes <= most - kept && now - (gone < now ? gone : now) <= most - kept - bytes);
}

bool budget_take(uint64_t bytes, uint64_t kept, char *why, size_t room)
{
	uint64_t all = atomic_load(&limit), now = atomic_load(&in_use);
	uint64_t most = kept < all ? all - kept : all;

	do {
		if (!most || (bytes <= most && now <= most - bytes))
			continue;
		if (why)
			refuse(bytes, now, most, why, room);
		return false;
	} while (!atomic_compare_exchange_weak(&in_use, &now, now + bytes));
	note_peak(now + bytes);
	return true;
}

void budget_take_anyway(uint64_t bytes)
{
	note_peak(atomic_fetch_add(&in_use, bytes) + bytes);
}

void budget_give_back(uint64_t bytes)
{
	atomic_fetch_sub(&in_use, bytes);
}
