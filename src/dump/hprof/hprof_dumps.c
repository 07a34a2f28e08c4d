/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hprof_dumps.c - the dumps of a file, and which of their heaps is read.
 *
 * Who appends dump to dump, or has the old agent write more than one heap, gets a file with several.  Their heaps are
 * numbered through.  All dumps are walked, which costs little: their heap records are passed over.  The one that has
 * the chosen heap is walked once more unless it was the last.
 */
#include "dump/hprof/hprof_dump.h"

#include "dump/source/source.h"
#include "memory/big.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* A dump whose heap may be the chosen one. */
struct choice {
	uint64_t begin, bytes;
	unsigned number, before; /* of the heap, within its dump; heaps of the dumps before it */
	bool whole;
};

/* As the last heap of a dump is taken unless it is damaged and smaller than another (hprof_top.c). */
static void choose(struct choice *best, const struct hprof *h, unsigned before, unsigned wanted)
{
	struct choice now = {h->begin, hprof_heap_bytes(h), h->dump.facts.heap_number, before,
	    !h->damaged && !h->dump.source->truncated};
	bool better = wanted ? now.number == wanted : now.number && (now.whole || now.bytes >= best->bytes);

	if (better || !before)
		*best = now;
}

/* The number that a heap has in a dump with so many before it; UINT_MAX: another dump has it. */
static unsigned number_within(unsigned number, unsigned before)
{
	return !number ? 0 : number > before ? number - before : UINT_MAX;
}

int hprof_choose(struct hprof *h, unsigned number, struct err *err)
{
	struct choice best = {.begin = 0};
	struct hprof_walked walked = {.next = 0};
	unsigned n_heaps = 0, n_dumps = 0;
	uint64_t last;

	do {
		unsigned wanted = number_within(number, n_heaps);
		last = walked.next;
		int code = hprof_walk(h, last, wanted, &walked, err);
		if (code < 0)
			return code;
		choose(&best, h, n_heaps, wanted);
		n_heaps += walked.n_heaps;
		n_dumps++;
	} while (walked.next);
	if (number > 1 && number > n_heaps)
		return err_set(err, ERR_USAGE, "has %u heap dump%s, but no number %u", n_heaps,
		    n_heaps == 1 ? "" : "s", number);
	if (best.begin != last) {
		bool damaged = h->damaged;
		int code = hprof_walk(h, best.begin, best.number, &walked, err);
		if (code < 0)
			return code;
		if (!number && damaged)
			hprof_note(h, last, "the last dump of the file, at byte %" PRIu64 ", is damaged; heap "
			    "dump %u is read (--dump N reads another)", last, best.before + best.number);
	}
	if (h->dump.facts.heap_number)
		h->dump.facts.heap_number += best.before;
	h->dump.facts.n_heaps = n_heaps;
	return 0;
}
