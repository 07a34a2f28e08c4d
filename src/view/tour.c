/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tour.c - see tour.h. */
#include "view/tour.h"

#include <string.h>

static const struct {
	const char *says;
	const char *shows; /* what the command line of the view begins with that ends the step; NULL: none */
} steps[] = {
    {"The overview. SUSPECTS: what frees most when its reference is cleared; FILLED BY: the classes that use "
     "most bytes; HELD BY: what retains most. Enter opens a row. Press 1: the histogram.", "histo"},
    {"The histogram: the classes by the size of their own objects. Press w to see why a number with ~, >= or ? is not "
     "exact. Press 2: the heap by retained size, like a disk usage browser.", "heap"},
    {"Fields name the rows; retained is the memory freed with a row, and the boxes above show it to scale. Right opens "
     "a row, Left closes it, * expands the largest child until no child dominates. Press 3: leak suspects.", "leaks"},
    {"A card for each suspect: what it is, what it retains, and after CLEAR the reference to clear. Press Down for the "
     "other suspect, then c: objects freed without it.",
     "cut"},
    {"These objects would be freed, by class, to the byte. Press Esc, then Enter: where they have accumulated.", "x "},
    {"Sixty sessions, all closed already. HELD BY, above them: the path from a GC root; below: the objects that "
     "reference the list, and what it would free. Press Down and Enter for one of them.", "x "},
    {"An object: what holds it, its fields, its referrers, and what it would free. Press p: why it is alive.", "path"},
    {"Each step says how much clearing that reference alone frees. Press 4: threads.", "threads"},
    {"Press Down and Enter: the stack of http-1 with the locals of its frames.", "bt"},
    {"Now a number from a log: type :find 4711000123 and press Enter.", "find"},
    {"That is the order 4711000123. ?: keys of a view, :help: commands, q: back, Q: quit.", NULL},
};
enum { STEPS = sizeof steps / sizeof *steps };

static bool begins(const char *line, const char *word, size_t n)
{
	return !strncmp(line, word, n) && (word[n - 1] == ' ' || !line[n] || line[n] == ' ');
}

void tour_look(struct tour *t, const char *line)
{
	const char *shows = t->on && t->step < STEPS ? steps[t->step].shows : NULL;

	for (size_t n; shows && *shows; shows += n + (shows[n] == '|')) {
		n = strcspn(shows, "|");
		if (begins(line, shows, n)) {
			t->step++;
			return;
		}
	}
}

void tour_says(const struct tour *t, struct text *to)
{
	if (t->on)
		text_addf(to, "%u/%d  %s", t->step + 1, (int)STEPS, steps[t->step].says);
}
