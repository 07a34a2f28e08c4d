/* SPDX-License-Identifier: GPL-3.0-or-later */
/* need.c - how sentences tell what memory a dump will take. */
#include "command/session/session.h"

#include "analysis/dominators/dominators.h"
#include "base/memory_limit.h"
#include "heap/open.h"
#include "memory/spill.h"

#include <string.h>

static uint64_t with_retained(const struct heap_need *need)
{
	return need->bytes + dominators_need(need->objects, need->references);
}

bool need_passes(const struct heap_need *need, bool references)
{
	uint64_t limit = memory_limit_bytes();

	return limit && (references ? with_retained(need) : need->objects_bytes) > limit;
}

void need_expect(const struct heap_need *need, bool references)
{
	memory_limit_expect(need->bytes, references ? with_retained(need) : 0);
}

/* What of so many bytes goes into the file: measured.  Some of the limit is left to what may not. */
static uint64_t in_file(uint64_t bytes)
{
	uint64_t held = memory_limit_bytes() / 5;

	return bytes > held ? bytes - held : 0;
}

/* What suffices for all that may be asked. */
static void add_advice(struct text *to, const struct heap_need *need, bool references)
{
	uint64_t limit = memory_limit_bytes(), all = references ? need->bytes : 0;
	char advice[MEMORY_LIMIT_ADVICE_ROOM];

	memory_limit_advise(limit > all ? limit : all, advice, sizeof advice);
	text_add(to, advice);
}

static void add_rest(struct text *to, const struct heap_need *need, bool references)
{
	uint64_t room, most = in_file(references ? need->bytes : need->objects_bytes);
	const char *folder = spill_folder();

	if (references)
		most += dominators_need_in_file(need->objects, need->references);
	bool lacks = spill_free(&room) && room < most;

	text_add(to, lacks ? "; the rest needs up to ~" : "; the rest goes into a file in ");
	if (lacks) {
		text_add_bytes(to, most);
		text_add(to, " in ");
	}
	text_add_escaped(to, folder, strlen(folder));
	if (!lacks)
		return;
	text_add(to, ", ");
	text_add_bytes(to, room);
	text_add(to, " free (");
	add_advice(to, need, references);
	text_add(to, ", or a --spill folder with more room)");
}

void need_add_words(struct text *to, const struct heap_need *need, bool references)
{
	uint64_t limit = memory_limit_bytes();

	text_add(to, "needs ~");
	text_add_bytes(to, references ? need->bytes : need->objects_bytes);
	text_add(to, " of memory");
	if (limit) {
		text_add(to, ", ");
		text_add_bytes(to, limit);
		text_add(to, " allowed");
	}
	if (references) {
		text_add(to, "; ~");
		text_add_bytes(to, with_retained(need));
		text_add(to, " with retained sizes");
	}
	if (!need_passes(need, references))
		return;
	if (spill_allowed()) {
		add_rest(to, need, references);
	} else {
		text_add(to, " (");
		add_advice(to, need, references);
		text_add_char(to, ')');
	}
}
