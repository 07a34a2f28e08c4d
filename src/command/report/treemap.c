/* SPDX-License-Identifier: GPL-3.0-or-later */
/* treemap.c - see treemap.h.  Rectangles are laid out in rows along the shorter side, so that none is a thin strip. */
#include "command/report/treemap.h"

#include "base/mem.h"
#include "base/progress.h"
#include "result/tree.h"

#include <stdlib.h>
#include <string.h>

enum {
	WIDE = 1000, HIGH = 520, /* units of the picture */
	HEADING = 17,   /* above what stands within a rectangle */
	SMALLEST = 200, /* what holds less than one part in so many of all is not drawn */
	MOST = 24,      /* siblings */
	DIGIT = 6,      /* about the width of a character */
	COLOURS = 6,
	BAR = 40,       /* blocks that are all */
};

/* --- what is shown ------------------------------------------------------------------------------ */

static char *read_cell(struct result *r, size_t row, enum column_id column)
{
	struct cell cell;
	struct text words = TEXT_INIT;
	if (result_cell_in(r, row, column, &cell)) {
		cell.indent = 0;
		cell_print(&cell, &words);
	}
	char *kept = xstrdup(words.len ? words.s : "");
	text_release(&words);
	return kept;
}

/* The node at the top that a row within it stands below is the last of these. */
static uint32_t last_top(const struct treemap *t)
{
	uint32_t i = (uint32_t)t->n;
	while (i && t->node[i - 1].parent != TREEMAP_TOP)
		i--;
	return i ? i - 1 : TREEMAP_TOP;
}

static void take_row(struct treemap *t, struct result *heap, size_t row, uint32_t depth, uint64_t bytes,
    size_t *siblings)
{
	uint32_t top = depth ? last_top(t) : TREEMAP_TOP;
	siblings[1] = depth ? siblings[1] : 0;
	if (depth > 1 || (depth && top == TREEMAP_TOP) || bytes < t->all / SMALLEST || !bytes || siblings[depth]++ >= MOST)
		return;
	char *retained = read_cell(heap, row, COL_RETAINED), *share = read_cell(heap, row, COL_SHARE);
	struct text words = TEXT_INIT;
	text_addf(&words, "%s, %s", retained, share);
	VEC_PUSH(t->node, t->n, t->cap) = (struct treemap_node){
	    .label = read_cell(heap, row, COL_BRANCH), .bytes = bytes, .words = xstrdup(words.s), .parent = top};
	text_release(&words);
	free(retained);
	free(share);
}

void treemap_take(struct treemap *t, struct result *heap, uint64_t all)
{
	int retained = result_column_of(heap, COL_RETAINED);
	size_t siblings[2] = {0, 0};
	bool taken = true; /* was the row at the top that others stand below? */
	struct branch branch;
	struct cell cell;
	t->all = all;
	for (size_t row = 0; retained >= 0 && row < heap->n_rows && !progress_own_stops(row); row++) {
		if (!tree_branch(heap, row, &branch) || branch.state == BRANCH_REST)
			continue;
		size_t before = t->n;
		result_cell(heap, row, (unsigned)retained, &cell);
		if (branch.depth == 0 || taken)
			take_row(t, heap, row, branch.depth, cell.amount.n, siblings);
		taken = branch.depth ? taken : t->n > before;
	}
}

void treemap_release(struct treemap *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->node[i].label);
		free(t->node[i].words);
	}
	free(t->node);
}

/* --- where the rectangles lie ------------------------------------------------------------------- */

struct area {
	double x, y, wide, high;
};

static uint32_t next_sibling(const struct treemap *t, uint32_t i)
{
	uint32_t parent = t->node[i].parent;
	do
		i++;
	while (i < t->n && t->node[i].parent != parent);
	return i;
}

/* How far the rectangles of a row are from squares, at most: their sum and the largest and the smallest of them as
 * areas, along a side. */
static double thinness(double sum, double largest, double smallest, double side)
{
	double depth = sum / side, a = largest / depth / depth, b = depth * depth / smallest;
	return a > b ? a : b;
}

/* Put siblings into an area, the first is number i; scale: units of area a byte. */
static void lay_out(const struct treemap *t, uint32_t i, struct area in, double scale, struct area *to)
{
	while (i < t->n) {
		bool upright = in.wide >= in.high; /* the row stands at the left side */
		double side = upright ? in.high : in.wide, sum = 0, worst = 0;
		double largest = (double)t->node[i].bytes * scale;
		uint32_t end = i;
		while (end < t->n && side > 0) {
			double one = (double)t->node[end].bytes * scale, now = thinness(sum + one, largest, one, side);
			if (sum > 0 && now > worst)
				break;
			worst = now;
			sum += one;
			end = next_sibling(t, end);
		}
		if (end == i)
			return; /* no room */
		double depth = sum / side, at = 0;
		for (; i < end; i = next_sibling(t, i)) {
			double length = (double)t->node[i].bytes * scale / depth;
			to[i] = (struct area){in.x, in.y, upright ? depth : length, upright ? length : depth};
			*(upright ? &to[i].y : &to[i].x) += at;
			at += length;
		}
		if (upright) {
			in.x += depth;
			in.wide -= depth;
		} else {
			in.y += depth;
			in.high -= depth;
		}
	}
}

static void lay_out_all(const struct treemap *t, struct area *to)
{
	const struct area whole = {0, 0, WIDE, HIGH};
	if (!t->n || !t->all)
		return;
	lay_out(t, 0, whole, (double)WIDE * HIGH / (double)t->all, to);
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->node[i].parent != TREEMAP_TOP || i + 1 == t->n || t->node[i + 1].parent != i)
			continue;
		struct area in = {to[i].x + 2, to[i].y + HEADING, to[i].wide - 4, to[i].high - HEADING - 2};
		if (in.wide > DIGIT && in.high > DIGIT) /* what is within shares what the heading leaves */
			lay_out(t, i + 1, in, in.wide * in.high / (double)t->node[i].bytes, to);
	}
}

/* --- the picture -------------------------------------------------------------------------------- */

static void put_escaped(const char *s, size_t n, FILE *to)
{
	for (; n--; s++) {
		const char *entity = markup_entity(*s);
		if (entity)
			fputs(entity, to);
		else
			putc(*s, to);
	}
}

/* As much of a text as there is room for. */
static void put_label(const char *s, struct area at, FILE *to)
{
	double room = (at.wide - 6) / DIGIT;
	if (room < 5 || at.high < HEADING - 3)
		return;
	struct text_clip clip = text_clip(s, (size_t)room, 1, false);
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\">", at.x + 3, at.y + 12);
	put_escaped(s, clip.head, to);
	fputs(clip.clipped ? "\342\200\246</text>" : "</text>", to);
}

void treemap_write_svg(const struct treemap *t, FILE *to)
{
	struct area *at = xcalloc(t->n + 1, sizeof *at);
	uint32_t colour = 0;
	lay_out_all(t, at);
	fprintf(to, "<svg class=\"map\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"map-title map-what\">\n"
	    "<title id=\"map-title\">Dominator tree of the heap</title>\n"
	    "<desc id=\"map-what\">Each rectangle is as large as its retained size and contains the objects it "
	    "dominates; the table below has the numbers.</desc>\n"
	    "<rect class=\"rest\" width=\"%d\" height=\"%d\"/>\n", WIDE, HIGH, WIDE, HIGH);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct treemap_node *n = &t->node[i];
		bool top = n->parent == TREEMAP_TOP;
		if (at[i].wide < 1 || at[i].high < 1)
			continue;
		colour += top;
		fprintf(to, "<g><title>");
		put_escaped(n->label, strlen(n->label), to);
		fputs(": ", to);
		put_escaped(n->words, strlen(n->words), to);
		fprintf(to, "</title><rect class=\"%s%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
		    top ? "t" : "i", colour % COLOURS, at[i].x, at[i].y, at[i].wide, at[i].high);
		put_label(n->label, at[i], to);
		fputs("</g>\n", to);
	}
	fputs("</svg>\n", to);
	free(at);
}

/* --- blocks ------------------------------------------------------------------------------------- */

void treemap_add_blocks(const struct treemap *t, struct text *to)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct treemap_node *n = &t->node[i];
		unsigned full = t->all ? (unsigned)((double)n->bytes / (double)t->all * BAR + 0.5) : 0;
		for (unsigned k = 0; k < BAR; k++)
			text_add(to, k < full || (!k && !full) ? n->parent == TREEMAP_TOP ? "\342\226\210" : "\342\226\222" : " ");
		text_addf(to, " %s%s  %s\n", n->parent == TREEMAP_TOP ? "" : "  ", n->words, n->label);
	}
}
