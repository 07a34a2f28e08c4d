/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * since.c - what older dumps have about objects of the current one; see commands.h.
 *
 * Objects have no identity from one dump to the next.  The figures are those of all objects with the
 * same signature; of what a program holds by a field that is one object.
 */
#include "command/compare/comparing.h"

#include "base/mem.h"
#include "command/session/session.h"
#include "result/plot.h"

#include <stdlib.h>
#include <string.h>

struct since {
	const struct opened *dump;
	struct comparing *comparing; /* NULL: there is none, for this reason */
	struct err none;
	struct growth growth;
};

int since_new(struct since **out, struct session *s, struct err *err)
{
	*out = NULL;
	struct session_dump **dump;
	size_t n = 0, n_series = session_series(s, &dump);
	while (n < n_series && dump[n]->opened != s->dump)
		n++;
	if (!s->dump || !n || n == n_series) {
		free(dump);
		return 0;
	}
	struct since *since = xcalloc(1, sizeof *since);
	since->dump = s->dump;
	int code = comparing_begin_with(&since->comparing, s, PROFILE_PATH, true, dump, n + 1, &since->none);
	free(dump);
	if (!code && since->comparing->opened)
		code = comparing_growth(&since->growth, since->comparing, s->dump, &since->none);
	if (code == ERR_NOMEM || code == ERR_CANCELLED) {
		if (err)
			*err = since->none;
		since_free(since);
		return code;
	}
	*out = since;
	return 0;
}

void since_free(struct since *since)
{
	if (!since)
		return;
	growth_release(&since->growth);
	if (since->comparing)
		comparing_free(since->comparing);
	free(since);
}

void since_add_note(const struct since *since, struct result *r)
{
	const char *note = !since ? NULL : since->comparing ? comparing_note(r, since->comparing) : since->none.message;
	if (note)
		result_add_note(r, note);
}

static bool is_below(const struct comparison *c, uint32_t row, uint32_t above)
{
	while (row != PROFILE_NONE && row != above)
		row = c->row[row].parent;
	return row == above;
}

/* What of it grew most by number; NULL: nothing that has a class. */
static const struct grown *grown_below(const struct since *since, uint32_t row)
{
	const struct comparison *c = &since->comparing->comparison;
	for (uint32_t i = 0; i < since->growth.n; i++) {
		const struct grown *g = &since->growth.list[i];
		bool more = compared(c, g->row, c->n - 1)->objects.n > compared(c, g->row, 0)->objects.n;
		if (more && c->row[g->row].class && g->row != row && is_below(c, g->row, row))
			return g;
	}
	return NULL;
}

/* " grew from 46.1K to 80.3K since dump 1 (hour-1.hprof)" */
static void add_course(struct text *to, const struct comparing *comparing, uint32_t row)
{
	const struct comparison *c = &comparing->comparison;
	struct course course = compare_retained(c, row);
	uint64_t first = compared(c, row, 0)->retained.n, last = compared(c, row, c->n - 1)->retained.n;
	if (last == first) {
		text_addf(to, " was as large in %s", comparing->name[0]);
		text_add(to, course.up ? ", but not in between: from " : ": ");
	} else {
		text_addf(to, " %s since %s, from ", last > first ? course.down ? "grew overall" : "grew" :
		    course.up ? "went up and down" : "shrank", comparing->name[0]);
	}
	if (last != first || course.up) {
		comparing_add_series(c, row, 0, true, to);
		return;
	}
	struct cell cell = cell_bytes(compared(c, row, 0)->retained);
	cell_print(&cell, to);
}

/* The row of an object, if it tells of most of so many like it; PROFILE_NONE. */
static uint32_t telling_row(const struct since *since, uint32_t id, uint32_t n)
{
	const struct comparing *comparing = since ? since->comparing : NULL;
	bool tells = comparing && comparing->opened && !comparing->other_program;
	uint32_t row = tells ? comparing_row_of(comparing, since->dump, id) : PROFILE_NONE;
	const struct comparison *c = row == PROFILE_NONE ? NULL : &comparing->comparison;
	return c && c->row[row].class && compared(c, row, c->n - 1)->objects.n > n / 2 ? row : PROFILE_NONE;
}

void since_add(const struct since *since, uint32_t id, uint32_t n, const char *it, struct text *to)
{
	uint32_t row = telling_row(since, id, n);
	if (row == PROFILE_NONE)
		return;
	const struct comparing *comparing = since->comparing;
	const struct comparison *c = &comparing->comparison;
	bool alone = true, known = true, before = false;
	for (size_t i = 0; i < c->n; i++) {
		const struct compared_amounts *a = compared(c, row, i);
		alone &= a->objects.n < 2;
		known &= a->retained.certainty != UNKNOWN;
		before |= i + 1 < c->n && a->objects.n;
	}
	if (!known)
		return;
	text_add(to, " ");
	text_add(to, alone ? it : "This path");
	if (!before) {
		if (c->n == 2)
			text_addf(to, " is not in %s.", comparing->left_out.len ? comparing->name[0] : "the older dump");
		else
			text_add(to, comparing->left_out.len ? " is in none of the older dumps that were read whole." :
			    " is in none of the older dumps.");
		return;
	}
	add_course(to, comparing, row);
	const struct grown *g = grown_below(since, row);
	if (g) {
		bool shrank = compared(c, row, c->n - 1)->retained.n < compared(c, row, 0)->retained.n;
		text_add(to, shrank ? ", while " : ", with ");
		text_add_name(to, c->row[g->row].class);
		text_add(to, shrank ? " grew from " : " from ");
		comparing_add_series(c, g->row, 0, false, to);
	}
	text_add(to, ".");
}

void since_add_course(const struct since *since, uint32_t id, uint32_t n, const char *said, struct text *course,
    struct text *plot)
{
	enum { SHOWN = 5 };
	uint32_t row = telling_row(since, id, n);
	const struct grown *g = row == PROFILE_NONE ? NULL : grown_below(since, row);
	const struct comparison *c = row == PROFILE_NONE ? NULL : &since->comparing->comparison;
	uint64_t most = 0;
	if (c && compared(c, row, c->n - 1)->retained.n <= compared(c, row, 0)->retained.n)
		g = NULL; /* more of a class, but less in all: the bytes say so */
	row = g ? g->row : row;
	for (size_t i = 0; c && i < c->n; i++) {
		const struct compared_amounts *a = compared(c, row, i);
		struct amount amount = g ? a->objects : a->retained;
		if (amount.certainty == UNKNOWN)
			return;
		most = amount.n > most ? amount.n : most;
	}
	for (size_t i = 0; most && i < c->n; i++) {
		const struct compared_amounts *a = compared(c, row, i);
		struct cell cell = g ? cell_count(a->objects) : cell_bytes(a->retained);
		plot_add(plot, cell.amount.n, most);
		if (i > 1 && i + 2 < c->n && c->n > SHOWN)
			continue;
		text_add(course, !i ? "" : i + 2 == c->n && c->n > SHOWN ? " \u2026 " : " \u2192 ");
		cell_print(&cell, course);
	}
	if (most && g && !strstr(said, c->row[g->row].class))
		text_addf(course, " %s", c->row[row].class);
	if (most)
		text_addf(course, " over %zu dumps", c->n);
}
