/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pipe.c - the stages behind a command, all inside the program: they order, drop and pick, and never
 * touch the numbers.
 */
#include "command/parse/parse.h"

#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

char *line_next_name(const char **list)
{
	*list += strspn(*list, ",");
	size_t n = strcspn(*list, ",");
	char *name = n ? xstrndup(*list, n) : NULL;
	*list += n;
	return name;
}

char *line_bare_regex(const char *word)
{
	size_t n = strlen(word);
	bool slashes = n >= 2 && word[0] == '/' && word[n - 1] == '/';
	return slashes ? xstrndup(word + 1, n - 2) : xstrdup(word);
}

int line_regex(const char *word, bool any_case, struct pattern **to, struct err *err)
{
	char *bare = line_bare_regex(word);
	int code = pattern_compile(to, bare, any_case, err);
	free(bare);
	return code;
}

/* --- grep ------------------------------------------------------------------------------------- */

struct grep {
	struct pattern *regex;
	bool negated;
	bool blind; /* a row was judged without a value that stands in the dump, which is not here */
	struct text cell;
};

static bool is_away(const struct cell *c)
{
	return c->amount.certainty == UNKNOWN && c->amount.reason == REASON_DUMP_AWAY;
}

static bool cell_matches(struct grep *g, const struct cell *c)
{
	text_clear(&g->cell);
	if (c->type == CELL_TEXT && c->name && pattern_matches(g->regex, c->name))
		return true;
	cell_print_plain(c, &g->cell);
	return pattern_matches(g->regex, g->cell.s);
}

static bool keep_matching(struct result *r, size_t row, void *context)
{
	struct grep *g = context;
	bool found = false, blind = false;
	for (unsigned c = 0; c < r->n_columns && !found; c++) {
		struct cell cell;
		result_cell(r, row, c, &cell);
		found = cell_matches(g, &cell);
		blind |= is_away(&cell);
	}
	g->blind |= blind && !found;
	return found != g->negated;
}

static void grep_head(struct result *r, struct grep *g)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->n_head; i++) {
		struct cell name = cell_text(r->head[i].name);
		bool found = cell_matches(g, &name) || cell_matches(g, &r->head[i].cell);
		if (found != g->negated)
			r->head[kept++] = r->head[i];
	}
	r->n_head = kept;
}

static int grep_rows(
    struct result *r, const char *pattern, bool negated, bool any_case, struct err *err)
{
	struct grep g = {.negated = negated};
	int code = line_regex(pattern, any_case, &g.regex, err);
	if (code)
		return code;
	if (r->n_columns)
		code = result_filter(r, keep_matching, &g, err);
	else
		grep_head(r, &g);
	if (g.blind)
		result_warn(r, "some values were not searched: they are in the dump, and only its index is open");
	pattern_free(g.regex);
	text_release(&g.cell);
	return code;
}

static int apply_grep(struct result **r, const struct stage *stage, struct err *err)
{
	bool negated = !strcmp(stage->words[0].s, "grep-");
	bool any_case = false;
	size_t at = 1;
	for (; at < stage->n && !stage->words[at].quoted; at++) {
		if (!strcmp(stage->words[at].s, "-v"))
			negated = !negated;
		else if (!strcmp(stage->words[at].s, "-i"))
			any_case = true;
		else
			break;
	}
	if (at + 1 != stage->n)
		return err_set(err, ERR_USAGE, "needs one regular expression (grep [-v] [-i] RE)");
	return grep_rows(*r, stage->words[at].s, negated, any_case, err);
}

/* --- head ------------------------------------------------------------------------------------- */

static int apply_head(struct result **r, const struct stage *stage, struct err *err)
{
	const char *word = stage->n > 1 ? stage->words[1].s : "10";
	if (*word == '-')
		word++;
	char *end;
	errno = 0;
	unsigned long long n = strtoull(word, &end, 10);
	if (stage->n > 2 || errno || end == word || *end || *word == '-')
		return err_set(err, ERR_USAGE, "needs one number (head 20)");
	result_keep_first(*r, n > SIZE_MAX ? SIZE_MAX : (size_t)n);
	return 0;
}

/* --- sort ------------------------------------------------------------------------------------- */

int pipe_no_column(const struct result *r, const char *name, struct err *err)
{
	struct text list = TEXT_INIT;
	for (unsigned c = 0; c < r->n_columns; c++)
		text_addf(&list, " %s", column_word(&r->columns[c]));
	for (size_t i = 0; i < r->n_head; i++)
		text_addf(&list, " %s", r->head[i].name);
	err_set(err, ERR_USAGE, "no column \"%.60s\" (there are%s)", name, list.s);
	text_release(&list);
	return ERR_USAGE;
}

void pipe_warn_order(struct result *r, unsigned column)
{
	struct cell last;
	if (r->n_rows < 2)
		return;
	result_cell(r, r->n_rows - 1, column, &last); /* what is unknown comes last */
	if (is_away(&last))
		result_warn(r, "the order is unknown: the values are in the dump, and only its index is open");
}

/* "-shallow": largest first; "class" or "+class": smallest first. */
static int apply_sort(struct result **r, const struct stage *stage, struct err *err)
{
	if (stage->n != 2)
		return err_set(err, ERR_USAGE, "needs one column (sort -shallow)");
	const char *word = stage->words[1].s;
	bool descending = *word == '-';
	if (!(*r)->n_columns)
		return err_set(err, ERR_USAGE, "there are no rows to sort");
	int column = result_column(*r, word + (descending || *word == '+'));
	if (column < 0)
		return pipe_no_column(*r, word + descending, err);
	int code = result_sort(*r, (unsigned)column, descending, err);
	if (!code)
		pipe_warn_order(*r, (unsigned)column);
	return code;
}

/* --- cut -------------------------------------------------------------------------------------- */

/* Where a name stands: a column, or a value of the head as UINT_MAX - i. */
static int pick_one(const struct result *r, const char *name, unsigned *out)
{
	int column = result_column(r, name);
	if (column >= 0) {
		*out = (unsigned)column;
		return 0;
	}
	for (size_t i = 0; i < r->n_head; i++) {
		if (!strcmp(r->head[i].name, name)) {
			*out = UINT_MAX - (unsigned)i;
			return 0;
		}
	}
	return -1;
}

static int apply_cut(struct result **r, const struct stage *stage, struct err *err)
{
	unsigned *pick = NULL;
	size_t n = 0, cap = 0;
	int code = 0;
	if (stage->n < 2)
		return err_set(err, ERR_USAGE, "needs columns (cut class,shallow)");
	for (size_t w = 1; w < stage->n && !code; w++) {
		const char *s = stage->words[w].s;
		for (char *name; !code && (name = line_next_name(&s));) {
			unsigned one;
			if (!pick_one(*r, name, &one))
				VEC_PUSH(pick, n, cap) = one;
			else
				code = pipe_no_column(*r, name, err);
			free(name);
		}
	}
	if (!code && !n)
		code = err_set(err, ERR_USAGE, "needs columns (cut class,shallow)");
	if (!code)
		*r = result_pick(*r, pick, (unsigned)n);
	free(pick);
	return code;
}

/* --- all -------------------------------------------------------------------------------------- */

const struct pipe_stage pipe_stages[] = {
    {"grep", "grep [-i] RE", "keep the rows that match the regular expression", apply_grep,
        true},
    {"grep-", "grep- RE", "keep the other rows (also: grep -v RE)", apply_grep, true},
    {"head", "head N", "keep the first N rows", apply_head, false},
    {"sort", "sort [-]COL", "sort by a column; with a minus, largest first", apply_sort, false},
    {"cut", "cut COL,COL,...", "keep only these columns, in this order", apply_cut, false},
    {NULL, NULL, NULL, NULL, false},
};

const struct pipe_stage *pipe_stage_of(const struct stage *stage)
{
	for (const struct pipe_stage *p = pipe_stages; p->name; p++) {
		if (!strcmp(p->name, stage->words[0].s))
			return p;
	}
	return NULL;
}

int pipe_apply(struct result **r, const struct stage *stage, struct err *err)
{
	const struct pipe_stage *p = pipe_stage_of(stage);
	if (!p)
		return err_set(err, ERR_USAGE,
		    "unknown pipe stage \"%.60s\" (use grep, grep-, head, sort, cut or !COMMAND)",
		    stage->words[0].s);
	int code = p->apply(r, stage, err);
	if (code)
		err_context(err, "%s", p->name);
	return code;
}
