/* SPDX-License-Identifier: GPL-3.0-or-later */
/* need.c - how sentences tell what memory a dump will take. */
#include "command/session/session.h"

#include "analysis/dominators/dominators.h"
#include "base/budget.h"
#include "base/spill.h"

#include <string.h>

static uint64_t with_retained(const struct heap_need *need)
{
	return need->bytes + dominators_need(need->objects, need->references);
}

bool need_passes(const struct heap_need *need, bool references)
{
	uint64_t limit = budget_limit();

	return limit && (references ? with_retained(need) : need->objects_bytes) > limit;
}

void need_add_words(struct text *to, const struct heap_need *need, bool references)
{
	uint64_t limit = budget_limit();

	text_add(to, "needs ~");
	text_add_bytes(to, references ? need->bytes : need->objects_bytes);
	text_add(to, " of memory");
	if (references) {
		text_add(to, ", ~");
		text_add_bytes(to, with_retained(need));
		text_add(to, " with retained sizes");
	}
	if (!limit)
		return;
	text_add(to, ", of ");
	text_add_bytes(to, limit);
	if (!need_passes(need, references))
		return;
	const char *folder = spill_allowed() ? spill_folder() : NULL;
	text_add(to, folder ? "; what does not fit goes into a file in " : "; that may not suffice");
	if (folder)
		text_add_escaped(to, folder, strlen(folder));
}
