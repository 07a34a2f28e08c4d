/* SPDX-License-Identifier: GPL-3.0-or-later */
/* go_span.c - which layout of spans a release has; see go_span.h. */
#include "dump/go/go_span.h"

#include <stddef.h>
#include <string.h>

enum {
	FIRST_WITH_HEADERS = 22, /* GOEXPERIMENT=allocheaders, which 1.22 alone can switch off */
	FIRST_WITH_MARKS = 26,   /* GOEXPERIMENT=greenteagc; an experiment in 1.25 */
	MARKS = 128, HEADER = 8,
};

/* Is it one of the experiments behind "X:", which commas separate? */
static bool experiment(const char *version, const char *name)
{
	const char *list = strstr(version, "X:");
	size_t n = strlen(name);

	for (const char *p = list ? list + 2 : NULL; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (strcspn(p, ", ") == n && !strncmp(p, name, n))
			return true;
	return false;
}

struct go_layout go_layout_of(unsigned release, unsigned word, const char *version)
{
	struct go_layout l = {0};

	if (release < FIRST_WITH_HEADERS || !word || experiment(version, "noallocheaders"))
		return l;
	l.small = 8 * word * word;
	l.bitmap = GO_PAGE / word / 8;
	l.header = HEADER;
	if (release >= FIRST_WITH_MARKS ? !experiment(version, "nogreenteagc") : experiment(version, "greenteagc"))
		l.marks = MARKS;
	return l;
}

bool go_layout_next(struct go_layout *l, unsigned *n_tried)
{
	if (!l->bitmap)
		return false;
	l->marks = l->marks ? 0 : MARKS;
	if (++*n_tried > 1)
		l->bitmap = l->marks = 0;
	return true;
}
