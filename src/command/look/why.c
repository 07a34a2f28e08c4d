/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * why.c - how sure the numbers of a row or of a head are, and for what reason.
 *
 * Values of one reason are named together, so that a row of eight unknowns is still one sentence.
 */
#include "command/look/why.h"

#include "command/commands.h"

#include <string.h>

#define NAMED 8 /* values named for one reason; more are counted */

enum reason {
	REASON_NONE,     /* exact, or not a matter of numbers */
	REASON_DAMAGE,
	REASON_PART_SUM,
	REASON_JOINT,    /* what several members of a group hold is not in its retained size */
	REASON_ROOTS,
	REASON_FRAMES,   /* called garbage, but its address stands on a stack */
	REASON_RULE,
	REASON_SIZES,
	REASON_RETAINED,
	REASON_SILENT,
	N_REASONS
};

/* The values to tell of: head fields first, then the cells of the row. */
struct values_told {
	struct result *r;
	size_t row, n;
	bool hidden;
};

static size_t count_values(const struct result *r, size_t row)
{
	return r->n_head + (row == WHY_NO_ROW ? 0 : r->n_columns);
}

/* Value i, its column and name; false: not shown. */
static bool value_at(const struct values_told *v, size_t i, enum column_id *column,
    const char **name, struct cell *out)
{
	if (i < v->r->n_head) {
		*column = v->r->head[i].column;
		*name = v->r->head[i].name;
		*out = v->r->head[i].cell;
		return true;
	}
	unsigned c = (unsigned)(i - v->r->n_head);
	if (!v->hidden && v->r->columns[c].hidden)
		return false;
	*column = v->r->columns[c].id;
	*name = column_word(&v->r->columns[c]);
	result_cell(v->r, v->row, c, out);
	return true;
}

static bool about_reach(enum column_id column)
{
	return column == COL_REACHABLE || column == COL_REACHABLE_OBJECTS ||
	       column == COL_REACHABLE_SHALLOW || column == COL_UNREACHABLE_OBJECTS ||
	       column == COL_UNREACHABLE_SHALLOW;
}

static enum reason reason_of(const struct heap *h, enum column_id column, const struct cell *cell)
{
	/* roots say of themselves how sure they are, in a word */
	if (cell->type == CELL_TEXT && column == COL_CERTAINTY)
		return strcmp(cell->text, certainty_name(EXACT)) == 0 ? REASON_NONE
		       : h && !h->facts.roots_recorded                ? REASON_ROOTS
								      : REASON_RULE;
	switch (cell->certainty) {
	case EXACT:
		return REASON_NONE;
	case LOWER_BOUND:
		if (h && command_retained_certainty(h) == EXACT &&
		    (column == COL_RETAINED || column == COL_SHARE))
			return REASON_JOINT;
		return h && h->damaged ? REASON_DAMAGE : REASON_PART_SUM;
	case INFERRED:
		if (h && h->sizes_assumed && (cell->type == CELL_BYTES || cell->type == CELL_PERCENT) &&
		    (h->facts.roots_recorded || column == COL_SHALLOW))
			return REASON_SIZES;
		if (h && h->n_in_frames && about_reach(column))
			return REASON_FRAMES;
		return h && !h->facts.roots_recorded ? REASON_ROOTS : REASON_RULE;
	default:
		return column == COL_RETAINED ? REASON_RETAINED : REASON_SILENT;
	}
}

static void add_reason(const struct result *r, enum reason reason, bool many, struct text *to)
{
	const struct heap *h = r->heap;

	switch (reason) {
	case REASON_DAMAGE:
		text_addf(to, "%s: %s", many ? "lower bounds" : "a lower bound", h->damage.message);
		break;
	case REASON_PART_SUM:
		text_addf(to, "%s: ", many ? "lower bounds" : "a lower bound");
		if (h && h->n_unknown_size > 0) {
			text_add(to, "the dump does not tell the size of ");
			text_add_count(to, h->n_unknown_size);
			text_addf(to, " object%s", h->n_unknown_size == 1 ? "" : "s");
		} else {
			text_add(to, "some of what it sums is not known");
		}
		break;
	case REASON_JOINT:
		text_addf(to, "%s: what is held jointly by several members is not in it; `size` of the row "
		    "tells what goes with all of them", many ? "lower bounds" : "a lower bound");
		break;
	case REASON_ROOTS:
		text_addf(to, "inferred: %s records no roots, so classes of the system and threads are "
		    "taken for them, and what nothing references", h->facts.title);
		break;
	case REASON_SIZES:
		text_addf(to, "inferred: sizes are computed, %s", h->size_model ? h->size_model : "assumed");
		break;
	case REASON_FRAMES:
		text_add(to, "inferred: no recorded root reaches it, but its address, or that of what holds it, "
		    "stands in a stack frame where the dump records no pointer: it may be alive");
		break;
	case REASON_RULE:
		text_add(to, "inferred");
		if (r->note)
			text_addf(to, ": %s", r->note + (r->note[0] == '~' ? 2 : 0));
		break;
	case REASON_RETAINED:
		text_add(to, "unknown: retained sizes are not known yet");
		break;
	default:
		text_addf(to, "unknown: %s does not tell", h ? h->facts.title : "the dump");
		if (h && h->damaged)
			text_add(to, ", or not in the part that was read");
		break;
	}
}

enum certainty why_one(
    const struct result *r, enum column_id column, const struct cell *cell, struct text *to)
{
	static const enum certainty of[N_REASONS] = {[REASON_DAMAGE] = LOWER_BOUND,
	    [REASON_PART_SUM] = LOWER_BOUND,
	    [REASON_JOINT] = LOWER_BOUND, [REASON_ROOTS] = INFERRED, [REASON_RULE] = INFERRED,
	    [REASON_FRAMES] = INFERRED,
	    [REASON_SIZES] = INFERRED, [REASON_RETAINED] = UNKNOWN, [REASON_SILENT] = UNKNOWN};
	enum reason reason = reason_of(r->heap, column, cell);

	text_clear(to);
	if (reason != REASON_NONE)
		add_reason(r, reason, false, to);
	else
		text_add(to, "exact");
	return of[reason];
}

/* The values of one reason, then the reason; returns how many there are. */
static size_t tell(const struct values_told *v, enum reason reason, struct text *to)
{
	enum column_id column;
	const char *name;
	struct cell cell;
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (!value_at(v, i, &column, &name, &cell) || reason_of(v->r->heap, column, &cell) != reason)
			continue;
		if (n++ >= NAMED)
			continue;
		text_add(to, n > 1 ? ", " : to->len > 0 ? "; " : "");
		text_add(to, name);
		if (cell.type == CELL_NONE || cell.type == CELL_TEXT)
			continue;
		text_add_char(to, ' ');
		cell_print(&cell, to);
	}
	if (n == 0)
		return 0;
	if (n > NAMED)
		text_addf(to, " and %zu more", n - NAMED);
	text_add(to, n > 1 ? " are " : " is ");
	add_reason(v->r, reason, n > 1, to);
	return n;
}

static void tell_exact(const struct values_told *v, bool others, struct text *to)
{
	const struct heap *h = v->r->heap;
	enum column_id column;
	const char *name;
	struct cell cell;
	size_t numbers = 0, bytes = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (!value_at(v, i, &column, &name, &cell) || !cell_is_number(cell.type) || cell.certainty != EXACT)
			continue;
		numbers++;
		bytes += cell.type == CELL_BYTES;
	}
	if (others && numbers == 0)
		return;
	if (others)
		text_add(to, "; the other numbers are exact");
	else if (numbers == 0)
		text_add(to, "nothing here is in doubt");
	else
		text_add(to, "all numbers here are exact");
	if (bytes > 0 && h && h->size_model)
		text_addf(to, ", sizes computed: %s", h->size_model);
}

void why(struct result *r, size_t row, bool hidden, struct text *to)
{
	struct values_told v = {.r = r, .row = row, .n = count_values(r, row), .hidden = hidden};
	size_t doubts = 0, damage = 0;

	text_clear(to);
	for (enum reason reason = REASON_NONE + 1; reason < N_REASONS; reason++) {
		size_t n = tell(&v, reason, to);
		doubts += n;
		damage += reason == REASON_DAMAGE ? n : 0;
	}
	tell_exact(&v, doubts > 0, to);
	if (r->heap && r->heap->damaged && damage == 0)
		text_addf(to, "; of the part that was read, that is: %s", r->heap->damage.message);
}
