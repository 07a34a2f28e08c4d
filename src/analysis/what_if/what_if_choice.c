/* SPDX-License-Identifier: GPL-3.0-or-later */
/* what_if_choice.c - which reference of a path to clear: see what_if.h. */
#include "analysis/what_if/what_if_owner.h"

#include "analysis/describe/describe.h"
#include "analysis/what_if/what_if.h"
#include "heap/classes.h"
#include "heap/library.h"
#include "heap/roots.h"

bool what_if_untold(const struct heap *h, uint32_t holder, uint32_t id)
{
	size_t first, n = heap_roots_of(h, id, &first);
	return holder == HEAP_NONE && n == 1 && h->roots[first].kind == ROOT_UNKNOWN;
}

enum what_if_fame what_if_fame(const struct heap *h, uint32_t holder, uint32_t target)
{
	size_t first, n;
	if (holder == HEAP_NONE) {
		n = heap_roots_of(h, target, &first);
		return n && (h->roots[first].kind == ROOT_DATA || h->roots[first].kind == ROOT_BSS) ? FAME_GLOBAL : FAME_NONE;
	}
	if (heap_class_mirrored(h, holder) != HEAP_NONE)
		return heap_class_mirrored(h, target) == HEAP_NONE ? FAME_GLOBAL : FAME_NONE;
	uint32_t class = heap_class_index(h, holder);
	const char *field;
	if (!library_programs_class(h, class))
		return FAME_NONE;
	/* the program extends a class of the library, which declares the field */
	return !inspect_declared_field(h, holder, target, &class, &field) || library_programs_class(h, class)
	    ? FAME_OWN : FAME_NONE;
}

struct what_if_choice what_if_choose(struct what_if *c, struct what_if_owner *owner, const uint32_t *step, size_t n)
{
	const struct heap *h = c->retained->heap;
	struct what_if_choice choice = {.step = n};
	enum what_if_fame best = FAME_NONE;
	enum { ROUND = 64 }; /* steps of a tree that is climbed, and bytes of names, in a round */
	for (size_t i = 0; i < n && !progress_own_stops((uint64_t)i * ROUND); i++) {
		uint32_t holder = i ? step[i - 1] : HEAP_NONE;
		struct what_if_figure f = what_if_one(c, holder, step[i]);
		enum what_if_fame fame = what_if_fame(h, holder, step[i]);
		choice.others = f.others;
		if (!f.freed.n || !what_if_below(c, step[n - 1], step[i]) || fame < best)
			continue;
		bool untold = what_if_untold(h, holder, step[i]);
		if (!untold && !what_if_clearable(h, holder, step[i])) {
			choice.vm_holds = true;
			continue;
		}
		if (!untold && what_if_owner_inside(owner, holder, step[i])) {
			choice.internal = true;
			continue;
		}
		choice.untold = untold;
		choice.step = i;
		choice.freed = f.freed;
		choice.fame = best = fame;
	}
	return choice;
}
