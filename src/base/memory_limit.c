/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory_limit.c - counters.
 */
#include "base/memory_limit.h"

#include "base/units.h"

#include <stdatomic.h>
#include <stdio.h>

static _Atomic uint64_t in_use, peak, limit;
static _Atomic uint64_t of_dumps; /* a part of in_use */
static bool (*_Atomic ask_first)(uint64_t bytes);
static _Atomic uint64_t expected, expected_retained;
static atomic_bool files;
static char limit_whose[120] = "--mem";

uint64_t memory_limit_in_use(void)
{
	return atomic_load(&in_use);
}

uint64_t memory_limit_bytes(void)
{
	return atomic_load(&limit);
}

uint64_t memory_limit_peak(void)
{
	return atomic_load(&peak);
}

void memory_limit_set(uint64_t bytes, const char *whose)
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

void memory_limit_expect(uint64_t bytes, uint64_t retained)
{
	atomic_store(&expected, bytes);
	atomic_store(&expected_retained, retained);
}

/* As a size that --mem takes.  It is printed rounded, and an estimate is one: an eighth more. */
static void with_margin(char to[UNITS_ROOM], uint64_t bytes)
{
	units_bytes(to, bytes < UINT64_MAX - bytes / 8 ? bytes + bytes / 8 : bytes);
}

void memory_limit_advise(uint64_t enough, char *to, size_t room)
{
	uint64_t whole = atomic_load(&expected), retained = atomic_load(&expected_retained);
	char first[UNITS_ROOM], second[UNITS_ROOM];
	const char *file = atomic_load(&files) ? "" : ", or --spill DIR";

	with_margin(first, enough < whole ? whole : enough < retained ? retained : enough);
	with_margin(second, retained);
	if (enough < whole && retained > whole)
		snprintf(to, room, "give --mem %s, %s with retained sizes%s", first, second, file);
	else if (enough < whole || enough < retained)
		snprintf(to, room, "give --mem %s%s", first, file);
	else /* for this block, not for those after it */
		snprintf(to, room, "give a larger --mem, about %s at least%s", first, file);
}

void memory_limit_file_takes_rest(bool may)
{
	atomic_store(&files, may);
}

static void refuse(uint64_t bytes, uint64_t now, uint64_t most, char *why, size_t room)
{
	char wanted[UNITS_ROOM], used[UNITS_ROOM], allowed[UNITS_ROOM], advice[MEMORY_LIMIT_ADVICE_ROOM];

	units_bytes(wanted, bytes);
	units_bytes(used, now);
	units_bytes(allowed, most);
	memory_limit_advise(bytes < UINT64_MAX - now ? bytes + now : UINT64_MAX, advice, sizeof advice);
	snprintf(why, room, "memory: %s more bytes are needed, %s are in use and %s allows %s (%s)", wanted, used,
	    limit_whose, allowed, advice);
}

/* What is to be kept where dumps in memory have a part of it. */
static uint64_t beside_dumps(uint64_t kept)
{
	uint64_t dumps = atomic_load(&of_dumps);
	return kept > dumps ? kept - dumps : 0;
}

bool memory_limit_would_fit(uint64_t bytes, uint64_t kept, uint64_t gone)
{
	uint64_t most = atomic_load(&limit), now = atomic_load(&in_use);

	kept = beside_dumps(kept);
	return !most || (kept <= most && bytes <= most - kept && now - (gone < now ? gone : now) <= most - kept - bytes);
}

static bool take(uint64_t bytes, uint64_t kept, char *why, size_t room)
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

bool memory_limit_take(uint64_t bytes, uint64_t kept, char *why, size_t room)
{
	bool (*give)(uint64_t bytes) = atomic_load(&ask_first);

	while (!take(bytes, beside_dumps(kept), why, room))
		if (!give || !give(bytes))
			return take(bytes, beside_dumps(kept), why, room); /* another thread may have given some back */
	return true;
}

void memory_limit_ask_first(bool (*give)(uint64_t bytes))
{
	atomic_store(&ask_first, give);
}

void memory_limit_dump_takes(uint64_t bytes)
{
	memory_limit_take_anyway(bytes);
	atomic_fetch_add(&of_dumps, bytes);
}

uint64_t memory_limit_of_dumps(void)
{
	return atomic_load(&of_dumps);
}

void memory_limit_dump_gives_back(uint64_t bytes)
{
	atomic_fetch_sub(&of_dumps, bytes);
	memory_limit_give_back(bytes);
}

void memory_limit_take_anyway(uint64_t bytes)
{
	note_peak(atomic_fetch_add(&in_use, bytes) + bytes);
}

void memory_limit_give_back(uint64_t bytes)
{
	atomic_fetch_sub(&in_use, bytes);
}
