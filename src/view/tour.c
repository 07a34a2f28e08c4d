/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tour.c - see tour.h. */
#include "view/tour.h"

#include <string.h>

static const struct {
	const char *says;
	const char *shows; /* what the command line of the view begins with that ends the step; NULL: none */
} steps[] = {
    {"The classes, by what their objects take themselves. A number with ~, >= or ? is not exact, and w says why. "
     "Press 2: the heap as one looks through a disk.", "heap"},
    {"Rows are named by the field that holds them; retained is what goes when they go. Right opens a row, Left "
     "closes it, * goes down to where the bytes scatter. Press 3: suspects.", "leaks"},
    {"The sentence below says what keeps so much alive and which field to clear. Press Down for the other suspect, "
     "then c: what dies without it.", "cut"},
    {"That would be freed, by class, to the byte. Press Esc, then Enter: the suspect itself.", "x "},
    {"An object: who references it, what it holds, and at the bottom its path. Press Down and Enter to follow "
     "ENTRIES into the list; Esc comes back.", "entries|x "},
    {"Sixty sessions that are closed already. Press Down and Enter for one of them, then p: "
     "why it is alive.", "path"},
    {"Every step says what clearing just that reference frees. Press 4: threads.", "threads"},
    {"Press Down and Enter: the stack of http-1 with what its frames hold.", "bt"},
    {"Now a number from a log: type :find 4711000123 and press Enter.", "find"},
    {"That is the order. ? lists the keys of a view, :help the commands, q goes back, Q leaves.", NULL},
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
