/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table_rows.c - which rows a table shows in which order: sort, filter, search, opening branches.
 *
 * Many rows take long, so each of these is a job of the session.  Rows are arranged in a draft of the result:
 * what is shown stays as it is until the job is done, and if it is stopped.  So has a tree that is sorted a draft;
 * branches that are opened get their rows at the end.
 */
#include "view/table/table.h"

#include "base/mem.h"
#include "base/progress.h"
#include "memory/big.h"
#include "view/eta.h"
#include "view/match.h"

#include <stdlib.h>
#include <string.h>

#define LIVE_ROWS 200000 /* with more, filters wait for Enter */
#define COUNT_NS 30000000 /* so long matches are counted */
#define COUNT_LOOK 64     /* rows between two looks at the clock */

/* --- works ------------------------------------------------------------------------------------- */

/* Go through the rows of r, the shown ones or a draft.  The codes of the task; ERR_NOMEM. */
static int on_rows(struct table *t, struct result *r, rows_task *task, const void *context, struct err *err)
{
	return t->session ? session_on_shown(t->session, &r, task, context, err) : task(&r, context, err);
}

bool table_trouble(struct table *t, const char **message)
{
	struct err *lost = &t->result->lost;

	if (!lost->code)
		return false;
	lost->code = ERR_OK;
	*message = lost->message;
	return true;
}

/* The draft takes the place of what is shown, or is dropped, and the result remembers why. */
static bool settle(struct table *t, struct result *draft, int code, const struct err *err)
{
	if (code) {
		result_drop(draft);
		result_lost(t->result, err);
	} else {
		result_adopt(t->result, draft);
	}
	return !code;
}

void table_select(struct table *t, size_t row)
{
	t->row = row;
	t->top = row > t->height / 3 ? row - t->height / 3 : 0;
}

/* The row of the source under the cursor, and the cursor back on it when it is still shown. */
static size_t source_row(const struct table *t)
{
	const struct result *r = t->result;

	if (t->row >= r->n_rows)
		return SIZE_MAX;
	return r->order ? r->order[t->row] : t->row;
}

static void select_source(struct table *t, size_t source)
{
	const struct result *r = t->result;
	size_t row = 0;

	if (r->order)
		while (row < r->n_rows && r->order[row] != source)
			row++;
	else
		row = source;
	table_select(t, row < r->n_rows ? row : 0);
}

/* A row of a tree again after its rows were made anew. */
static void select_key(struct table *t, uint64_t key)
{
	size_t row = 0;

	while (row < t->result->n_rows && tree_key(t->result, row) != key)
		row++;
	table_select(t, row < t->result->n_rows ? row : 0);
}

/* --- sorting ----------------------------------------------------------------------------------- */

struct order {
	int column; /* -1: none */
	bool descending;
};

static int sort_rows(struct result **r, const void *context, struct err *err)
{
	const struct order *o = context;

	/* they are looked at, then put in order, in two rounds where keys are large: that is not known before */
	progress_phase(progress_own(), PHASE_SORT_ROWS, 2 * (*r)->n_rows);
	return o->column < 0 ? 0 : result_sort(*r, (unsigned)o->column, o->descending, err);
}

static int filter_rows(struct result **r, const void *context, struct err *err);

/* What is done to a tree, and the row that is selected then. */
struct tree_work {
	struct table *t;
	struct order order;
	size_t row;
	bool first;   /* it is the first one */
	uint64_t key; /* of the selected row */
	bool opened, deeper;
};

/* The rows that a tree shows anew. */
static int filter_again(struct table *t, struct err *err);

/* Something was not done.  If that was to filter the rows anew, there are all of them. */
static void tree_trouble(struct table *t, const struct err *err)
{
	result_lost(t->result, err);
	if (t->filter && !t->result->order) {
		free(t->filter);
		t->filter = NULL;
		table_restart_sums(t);
	}
}

static int sort_tree(struct result **r, const void *context, struct err *err)
{
	struct tree_work *w = *(struct tree_work *const *)context;
	struct tree_draft *draft = tree_draft_sorted(*r, (unsigned)w->order.column, w->order.descending, err);

	if (!draft)
		return err->code;
	/* one may have gone on meanwhile */
	w->first = w->t->row == 0 || w->t->row >= (*r)->n_rows;
	w->key = w->first ? 0 : tree_key(*r, w->t->row);
	tree_adopt(*r, draft);
	return filter_again(w->t, err);
}

/* Who stands on the first row wants to see what comes first now, others go on looking at their row. */
void table_sort(struct table *t, unsigned column, bool descending)
{
	struct order order = {(int)column, descending};
	struct tree_work tree = {.t = t, .order = order}, *work = &tree;
	struct err err = ERR_INIT;
	bool first;

	if (tree_is(t->result)) {
		if (on_rows(t, t->result, sort_tree, &work, &err)) {
			tree_trouble(t, &err);
			return;
		}
		first = tree.first;
		if (!first)
			select_key(t, tree.key);
	} else {
		struct result *draft = result_draft(t->result, &err);
		int code = draft ? on_rows(t, draft, sort_rows, &order, &err) : ERR_NOMEM;
		first = t->row == 0; /* one may have gone on meanwhile */
		size_t source = source_row(t);
		if (!settle(t, draft, code, &err))
			return;
		if (!first)
			select_source(t, source);
	}
	if (first)
		t->row = t->top = 0;
	table_restart_sums(t);
}

/* --- filter ------------------------------------------------------------------------------------ */

static bool keep_row(struct result *r, size_t row, void *context)
{
	return match_row(context, r, row);
}

/* In a tree also the rows above those that match, so that one sees where they stand. */
static bool keep_marked(struct result *r, size_t row, void *context)
{
	(void)r;
	return ((const bool *)context)[row];
}

static int filter_branches(struct result *r, struct match *m, struct err *err)
{
	size_t n = r->n_rows;
	bool *marked = big_alloc(n, sizeof *marked, err);
	bool stopped = false;

	if (!marked)
		return ERR_NOMEM;
	uint32_t above = 0; /* rows of a lower depth stand above one that matched */
	for (size_t row = n; row-- > 0 && !stopped;) {
		struct branch b = {.depth = 0};
		tree_branch(r, row, &b);
		marked[row] = b.depth < above || match_row(m, r, row);
		if (marked[row])
			above = b.depth;
		stopped = result_stopped(r, row);
	}
	int code = stopped ? err_cancelled(err) : result_filter(r, keep_marked, marked, err);
	big_free(marked);
	return code;
}

struct filtering {
	const char *words; /* NULL: all rows */
	struct order order; /* to be restored; -1: as they stand */
};

static int filter_rows(struct result **r, const void *context, struct err *err)
{
	const struct filtering *f = context;
	struct match m;
	int code = 0;

	if (f->words) {
		progress_phase(progress_own(), PHASE_FILTER_ROWS, (*r)->n_rows);
		match_init(&m, f->words);
		code = tree_is(*r) ? filter_branches(*r, &m, err) : result_filter(*r, keep_row, &m, err);
		match_release(&m);
	}
	return code ? code : sort_rows(r, &f->order, err);
}

static int filter_again(struct table *t, struct err *err)
{
	struct filtering f = {.words = t->filter, .order.column = -1};

	return filter_rows(&t->result, &f, err);
}

bool table_filters_live(const struct table *t)
{
	return t->result->n_source <= LIVE_ROWS;
}

void table_filled(struct table *t)
{
	struct result *r = t->result;

	/* while rows are filtered the whole stays: what it said of other columns is true */
	if (t->filter)
		t->old_whole = true;
	else
		t->have_whole = false;
	table_restart_sums(t);
	if (r->sorted_by < 0 || r->columns[r->sorted_by].id != COL_RETAINED)
		return;
	table_sort(t, (unsigned)r->sorted_by, r->descending);
}

/* Show all rows of the draft, in the order of their source; the order to sort them by is returned. */
static struct order show_all_unsorted(struct result *draft)
{
	struct order order = {draft->sorted_by, draft->descending};

	if (!draft->flat && draft->within)
		order.column = -1; /* a tree's own order is sorted */
	else
		draft->sorted_by = -1;
	result_show_all(draft);
	return order;
}

void table_look(struct table *t, const struct result *growing)
{
	if (t->behind) {
		result_look_again(t->result, growing);
	} else if (result_found(growing)) {
		t->behind = t->result;
		t->row_behind = t->row;
		t->top_behind = t->top;
		t->result = result_look(growing);
		t->row = t->top = 0;
		table_restart_sums(t);
	}
}

/* What was shown is shown again; with all rows (done) the cursor stays where one moved it.  True: one did. */
static bool look_away(struct table *t, bool done)
{
	bool moved = t->behind && done && t->row > 0;

	if (!t->behind)
		return false;
	result_free(t->result);
	t->result = t->behind;
	t->behind = NULL;
	if (!moved) {
		t->row = t->row_behind;
		t->top = t->top_behind;
	}
	table_restart_sums(t);
	return moved;
}

/* The rows with these words, of those shown (narrows) or of all.  *moved: one went on to another row meanwhile. */
static bool arrange(struct table *t, const char *words, bool narrows, bool *moved)
{
	struct filtering f = {.words = words, .order.column = -1};
	struct err err = ERR_INIT;

	struct result *draft = result_draft(t->result, &err);
	if (draft && !narrows)
		f.order = show_all_unsorted(draft);
	/* kept so far is what comes first only where no sorting follows; of a tree nothing is kept before the end */
	bool grows = draft && t->session && f.order.column < 0 && !tree_is(draft);
	int code = !draft ? ERR_NOMEM : grows ? session_on_growing(t->session, &draft, filter_rows, &f, &err)
	                                      : on_rows(t, draft, filter_rows, &f, &err);
	*moved = look_away(t, !code);
	return settle(t, draft, code, &err);
}

bool table_filter(struct table *t, const char *words)
{
	size_t source = source_row(t);
	bool moved, narrows = words && *words && (!t->filter || strncmp(words, t->filter, strlen(t->filter)) == 0);

	if (words && !*words)
		words = NULL;
	if (!words && !t->filter)
		return true;
	if (!t->filter)
		table_work(t); /* the whole is shown beside the sums of what is kept */
	char *kept = words ? xstrdup(words) : NULL;
	if (!arrange(t, words, narrows, &moved)) { /* all is as it was */
		free(kept);
		return false;
	}
	free(t->filter);
	t->filter = kept;
	if (!moved)
		select_source(t, source);
	table_restart_sums(t);
	if (!kept && t->old_whole)
		t->have_whole = t->old_whole = false;
	if (!kept && t->have_whole) {
		memcpy(t->total, t->whole, sizeof t->total);
		t->summed = t->result->n_rows;
	}
	return true;
}

/* --- search ------------------------------------------------------------------------------------ */

struct searching {
	const struct table *t;
	const char *words;
	bool here, backwards;
	size_t from;
	size_t *at; /* the row that was found; SIZE_MAX: none */
	size_t *match, *matches;
};

/* The place of the row found among those that match, unless counting takes long. */
static void count_matches(const struct searching *s, struct match *m, struct result *r)
{
	uint64_t began = eta_now();
	size_t before = 0, all = 0;

	for (size_t row = 0; row < r->n_rows; row++) {
		if (row % COUNT_LOOK == 0 && eta_now() - began > COUNT_NS)
			return;
		bool matches = match_row(m, r, row);
		all += matches;
		before += matches && row <= *s->at;
	}
	*s->match = before;
	*s->matches = all;
}

static int search_rows(struct result **result, const void *context, struct err *err)
{
	const struct searching *s = context;
	struct result *r = *result;
	size_t n = r->n_rows, at = s->from;
	struct match m;
	int code = 0;

	progress_phase(progress_own(), PHASE_SEARCH_ROWS, n);
	match_init(&m, s->words);
	for (size_t i = 0; i < n && *s->at == SIZE_MAX && !code; i++) {
		if (i > 0 || !s->here) {
			if (s->backwards)
				at = at == 0 ? n - 1 : at - 1;
			else
				at = at + 1 == n ? 0 : at + 1;
		}
		if (result_stopped(r, i))
			code = err_cancelled(err);
		else if (match_row(&m, r, at))
			*s->at = at;
	}
	if (!code && *s->at != SIZE_MAX)
		count_matches(s, &m, r);
	match_release(&m);
	return code;
}

bool table_search(struct table *t, const char *words, bool here, bool backwards)
{
	size_t at = SIZE_MAX;
	struct searching s = {t, words, here, backwards, t->row, &at, &t->match, &t->matches};
	struct err err = ERR_INIT;

	t->match = t->matches = 0;

	if (!*words)
		return true;
	if (on_rows(t, t->result, search_rows, &s, &err))
		result_lost(t->result, &err);
	if (at == SIZE_MAX)
		return false;
	t->row = at;
	t->on_head = false;
	return true;
}

/* --- branches ---------------------------------------------------------------------------------- */

static int open_row(struct result **r, const void *context, struct err *err)
{
	struct tree_work *w = *(struct tree_work *const *)context;

	(void)err;
	w->opened = tree_open(*r, w->row);
	return 0;
}

static int drop_row(struct result **r, const void *context, struct err *err)
{
	struct tree_work *w = *(struct tree_work *const *)context;

	(void)err;
	w->row = tree_drop(*r, w->row, &w->deeper);
	return 0;
}

static int regroup_row(struct result **r, const void *context, struct err *err)
{
	struct tree_work *w = *(struct tree_work *const *)context;
	int code = tree_regroup(*r, &w->row, err);

	if (code)
		return code;
	w->key = tree_key(*r, w->row);
	return filter_again(w->t, err);
}

bool table_regroup(struct table *t, const char **message)
{
	struct tree_work w = {.t = t, .row = t->row}, *work = &w;
	struct err err = ERR_INIT;

	if (t->row >= t->result->n_rows)
		return false;
	int code = on_rows(t, t->result, regroup_row, &work, &err);
	if (code == ERR_NOT_FOUND)
		*message = "g splits or joins a row of several similar objects (12 \u00d7 Order)";
	else if (code)
		tree_trouble(t, &err);
	else
		select_key(t, w.key);
	return !code;
}

static int turn_way(struct result **r, const void *context, struct err *err)
{
	struct tree_work *w = *(struct tree_work *const *)context;

	(void)err;
	w->opened = tree_turn_way(*r, &w->row);
	return 0;
}

bool table_turn_way(struct table *t, const char **message)
{
	struct tree_work w = {.t = t, .row = t->row}, *work = &w;
	struct err err = ERR_INIT;

	if (on_rows(t, t->result, turn_way, &work, &err))
		result_lost(t->result, &err);
	else if (w.opened)
		table_select(t, w.row);
	else
		*message = "a splits or joins a row of several references (Config > props.table)";
	return w.opened;
}

bool table_open_branch(struct table *t)
{
	struct tree_work w = {.t = t, .row = t->row}, *work = &w;
	struct err err = ERR_INIT;
	size_t n = t->result->n_rows;

	if (on_rows(t, t->result, open_row, &work, &err))
		result_lost(t->result, &err);
	if (t->row > w.row) /* one has gone on meanwhile: that row moved */
		t->row += t->result->n_rows - n;
	return w.opened;
}

size_t table_drop_branch(struct table *t, bool *deeper)
{
	struct tree_work w = {.t = t, .row = t->row}, *work = &w;
	struct err err = ERR_INIT;

	if (on_rows(t, t->result, drop_row, &work, &err))
		result_lost(t->result, &err);
	*deeper = w.deeper;
	return w.row;
}
