/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_diff.c - diff: what is more and what is less than in older dumps. */
#include "command/compare/comparing.h"

#include "algorithms/sort.h"
#include "analysis/search.h"
#include "base/mem.h"
#include "command/resolve/resolve.h"
#include "heap/classes.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

#define DIFF_COLUMNS                                                   \
	{.id = COL_OBJECTS, .total = true, .room = COLUMN_EARLY},      \
	{.id = COL_D_OBJECTS, .total = true, .room = COLUMN_EARLY},    \
	{.id = COL_SHALLOW, .total = true, .room = COLUMN_EARLY},      \
	{.id = COL_D_SHALLOW, .total = true, .room = COLUMN_EARLY},    \
	{.id = COL_RETAINED, .room = COLUMN_EARLY},                    \
	{.id = COL_D_RETAINED, .bar = true},                           \
	{.id = COL_GREW, .room = COLUMN_EARLY},                        \
	{.id = COL_COURSE, .room = COLUMN_LATE}

COMPARING_FORMS("growth", DIFF_COLUMNS);

/* What tells whether a row grew: what it retains; its objects where bytes compare badly. */
static struct amount measure(const struct compared_rows *d, uint32_t row, size_t dump)
{
	const struct compared_amounts *a = compared(&d->comparing->comparison, row, dump);
	return d->comparing->other_words ? a->objects : a->retained;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Not just in what was not read of the dump. */
static bool is_absent(const struct compared_amounts *a)
{
	return !a->objects.n && a->objects.certainty != UNKNOWN;
}

/* Of which the wishes of the call are true. */
static bool wanted(const struct compared_rows *d, const struct call *call, uint32_t row)
{
	const struct comparison *c = &d->comparing->comparison;
	const struct compared_amounts *before = compared(c, row, d->base), *now = compared(c, row, c->n - 1);
	uint64_t b = measure(d, row, d->base).n, n = measure(d, row, c->n - 1).n;
	bool some = call_has(call, DASH_GREW) || call_has(call, DASH_SHRANK) || call_has(call, DASH_NEW) ||
	    call_has(call, DASH_GONE);
	if ((!before->objects.n && !now->objects.n) || (d->only.word && !bits_get(&d->only, row)))
		return false;
	if (distance(before->retained.n, now->retained.n) < call_number(call, DASH_MIN, 0))
		return false;
	return !some || (call_has(call, DASH_GREW) && n > b) || (call_has(call, DASH_SHRANK) && n < b) ||
	    (call_has(call, DASH_NEW) && is_absent(before)) || (call_has(call, DASH_GONE) && is_absent(now));
}

struct ranked {
	uint32_t row;
	uint32_t rank;  /* among what grows, else RANK_CHANGED or RANK_SAME */
	int64_t change;
};

/* Other changes, and what is unchanged. */
static const uint32_t RANK_CHANGED = UINT32_MAX - 1, RANK_SAME = UINT32_MAX;

static uint32_t rank_of(const struct compared_rows *d, uint32_t row)
{
	const struct comparison *c = &d->comparing->comparison;
	const struct compared_amounts *before = compared(c, row, d->base), *now = compared(c, row, c->n - 1);
	return before->objects.n == now->objects.n && before->shallow.n == now->shallow.n &&
	    before->retained.n == now->retained.n ? RANK_SAME : RANK_CHANGED;
}

static int by_growth(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->change != b->change ? (a->change < b->change) - (a->change > b->change) :
	    (a->row > b->row) - (a->row < b->row);
}

/* The rows that are shown: what grows first, then the other changes, then what is unchanged. */
static int order_rows(struct compared_rows *d, const struct call *call, size_t *n, struct err *err)
{
	const struct comparison *c = &d->comparing->comparison;
	struct growth growth;
	int code = comparing_growth(&growth, d->comparing, d->comparing->opened, err);
	struct ranked *list = code ? NULL : big_alloc(c->n_rows, sizeof *list, err);
	d->row = list ? big_alloc(c->n_rows, sizeof *d->row, err) : NULL;
	*n = 0;
	for (uint32_t i = 0; d->row && i < c->n_rows; i++)
		list[i] = (struct ranked){i, rank_of(d, i),
		    amount_signed(amount_change(measure(d, i, d->base), measure(d, i, c->n - 1)))};
	for (uint32_t i = 0; d->row && i < growth.n && !d->comparing->other_words; i++)
		list[growth.list[i].row].rank = i;
	if (d->row)
		sort_array(list, c->n_rows, sizeof *list, by_growth);
	for (uint32_t i = 0; d->row && i < c->n_rows; i++)
		if (wanted(d, call, list[i].row))
			d->row[(*n)++] = list[i].row;
	if (!code)
		growth_release(&growth);
	big_free(list);
	return code ? code : d->row ? 0 : ERR_NOMEM;
}

/* --- which dumps -------------------------------------------------------------------------------- */

static int choose_base(struct compared_rows *d, const struct call *call, struct err *err)
{
	const struct comparing *c = d->comparing;
	size_t i = 0;
	if (!call_has(call, DASH_BASE))
		return 0;
	while (i < c->n_all && c->all[i].dump->number != call_number(call, DASH_BASE, 0))
		i++;
	if (i == c->n_all || c->all[i].at >= c->n - 1)
		return err_set(err, ERR_USAGE, "-base needs the number of a readable older dump (dumps lists them)");
	d->base = c->all[i].at;
	return 0;
}

/* The dumps that the call names, one beside the newest; none: all.  The caller's (free). */
static int choose_dumps(const struct session *s, const struct call *call, struct session_dump ***dump, size_t *n,
    struct err *err)
{
	int code = 0;
	*n = 0;
	*dump = xcalloc(call->n_words + 1 + s->n_dumps, sizeof(**dump));
	for (size_t i = 0; !code && i < call->n_words; i++) {
		code = value_dump(s, call->words[i], &(*dump)[*n], err);
		for (size_t k = 0; !code && k < *n; k++)
			if ((*dump)[k] == (*dump)[*n])
				code = err_set(err, ERR_USAGE, "dump %zu is named twice", (*dump)[k]->number);
		++*n;
	}
	struct session_dump *newest = session_newest(s);
	if (!code && *n == 1 && (*dump)[0] == newest)
		code = err_set(err, ERR_USAGE, "dump %zu is the newest (name another one to compare it with)", newest->number);
	if (*n == 1)
		(*dump)[(*n)++] = newest;
	for (size_t i = 0; !*n && i < s->n_dumps; i++)
		(*dump)[i] = s->dumps[i];
	*n = *n ? *n : s->n_dumps;
	return code;
}

static int compare_chosen(struct compared_rows *d, struct session *s, const struct call *call, struct err *err)
{
	enum profile_by by = comparing_by(call);
	struct session_dump **dump;
	size_t n;
	if (!call->n_words)
		return comparing_begin(&d->comparing, s, by, false, err);
	int code = choose_dumps(s, call, &dump, &n, err);
	if (!code)
		code = comparing_begin_with(&d->comparing, s, by, false, dump, n, err);
	free(dump);
	if (!code && d->comparing->n < 2) {
		code = err_set(err, ERR_FORMAT, "%s", d->comparing->left_out.s);
		comparing_free(d->comparing);
	}
	return code;
}

/* --- which rows --------------------------------------------------------------------------------- */

/* The class that all objects of a row are of; NULL: they are of several. */
static const char *class_of_row(const struct comparison *c, uint32_t row)
{
	const struct profile_row *r = &c->row[row];
	return c->by == PROFILE_CLASS ? r->words : c->by == PROFILE_PATH && r->start != START_CLASS ? r->class :
	    c->by == PROFILE_PATH ? "java.lang.Class" : NULL;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static int by_rank(const void *x, const void *y, void *heap)
{
	return heap_class_order(((const struct heap *)heap)->classes, *(const uint32_t *)x, *(const uint32_t *)y);
}

/* The names of these classes in their order, each once: names may be long, and any number of classes share one. */
static size_t order_names(const char **name, const struct heap *h, const uint32_t *class, size_t n)
{
	uint32_t *ordered = xcalloc(n + 1, sizeof *ordered);
	size_t kept = 0;
	if (n)
		memcpy(ordered, class, n * sizeof *ordered);
	sort_array_with(ordered, n, sizeof *ordered, by_rank, (void *)h);
	for (size_t i = 0; i < n; i++)
		if (!i || h->classes[ordered[i]].name_rank != h->classes[ordered[i - 1]].name_rank)
			name[kept++] = h->classes[ordered[i]].name;
	free(ordered);
	return kept;
}

/* The rows of these classes, in whatever dump they are. */
static int only_of_classes(struct compared_rows *d, const struct heap *h, const uint32_t *class, size_t n)
{
	const struct comparison *c = &d->comparing->comparison;
	const char **name = xcalloc(n + 1, sizeof *name), *before = NULL;
	bool is = false;
	n = order_names(name, h, class, n);
	for (uint32_t row = 0; row < c->n_rows; row++) {
		const char *its = class_of_row(c, row);
		if (its && its != before) /* rows of one class share its name */
			is = find_sorted(&its, name, n, sizeof *name, by_name) != NULL;
		before = its ? its : before;
		if (its && is)
			bits_set(&d->only, row);
	}
	free(name);
	return 0;
}

/* The same where no dump is current: a name, the last part of one, or a glob. */
static int only_of_name(struct compared_rows *d, const char *word, struct err *err)
{
	const struct comparison *c = &d->comparing->comparison;
	bool any = false;
	for (uint32_t row = 0; row < c->n_rows; row++) {
		const char *its = class_of_row(c, row);
		if (!its || !(glob_match(word, its) || !strcmp(class_last_part(its), word)))
			continue;
		bits_set(&d->only, row);
		any = true;
	}
	return any ? 0 : err_set(err, ERR_NOT_FOUND, "no row of class \"%.150s\" (profiles know only names and globs, "
	    "-by path or -by class)", word);
}

/* The rows that count any of these objects of the current dump. */
static void only_of_objects(struct compared_rows *d, const struct session *s, const uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n && !progress_own_stops(i); i++) {
		uint32_t row = comparing_row_of(d->comparing, s->dump, ids[i]);
		if (row != PROFILE_NONE)
			bits_set(&d->only, row);
	}
}

static int choose_rows(struct compared_rows *d, const struct session *s, const struct call *call, struct err *err)
{
	const struct comparing *c = d->comparing;
	bool one_class = c->comparison.by == PROFILE_PATH || c->comparison.by == PROFILE_CLASS;
	if (!call->argument[1].given)
		return 0;
	if (bits_init(&d->only, c->comparison.n_rows, err))
		return ERR_NOMEM;
	if (!session_heap(s))
		return only_of_name(d, call->argument[1].word, err);
	if (!call->argument[1].objects && one_class)
		return only_of_classes(d, session_heap(s), call->argument[1].ids, call->argument[1].n_ids);
	if (c->other_model)
		return err_set(err, ERR_USAGE, COMPARING_MODEL " (undo it, or give a class with -by path or class)");
	if (c->opened != s->dump)
		return err_set(err, ERR_USAGE, "\"%.100s\" is in the current dump, which is not the newest (use %zu "
		    "first, or give a class with -by path or class)", call->argument[1].word,
		    c->all[c->n_all - 1].dump->number);
	if (call->argument[1].objects) {
		only_of_objects(d, s, call->argument[1].ids, call->argument[1].n_ids);
		return progress_check(progress_own(), err);
	}
	size_t n;
	uint32_t *ids = objects_of_classes(session_heap(s), call->argument[1].ids, call->argument[1].n_ids, &n, err);
	if (!ids)
		return ERR_NOMEM;
	only_of_objects(d, s, ids, n);
	big_free(ids);
	return progress_check(progress_own(), err);
}

static int run_diff(struct session *s, const struct call *call, struct result **out, struct err *err)
{
	struct compared_rows *d = xcalloc(1, sizeof *d);
	size_t n = 0;
	int code = compare_chosen(d, s, call, err);
	if (code) {
		free(d);
		return code;
	}
	code = choose_base(d, call, err);
	if (!code)
		code = choose_rows(d, s, call, err);
	if (!code)
		code = order_rows(d, call, &n, err);
	*out = compared_rows_result(d, forms, n);
	return code;
}

const struct command cmd_diff = {
    .name = "diff",
    .arguments = {{ARG_DUMPS, "DUMP...", true}, {ARG_CLASS, "SET", true}},
    .options = OPTIONS(COMPARING_BY("group by (default path)"),
	{DASH_BASE, OPT_COUNT, "N", "compare with dump N (default the oldest)"},
	{DASH_GREW, OPT_FLAG, NULL, "only rows that retain more"},
	{DASH_SHRANK, OPT_FLAG, NULL, "only rows that retain less"},
	{DASH_NEW, OPT_FLAG, NULL, "only new rows"},
	{DASH_GONE, OPT_FLAG, NULL, "only rows that disappeared"},
	{DASH_MIN, OPT_SIZE, "SIZE", "only changes of retained size from SIZE"}),
    .flags = COMMAND_NEEDS_REFERENCES | COMMAND_NEEDS_RETAINED | COMMAND_OF_PROFILES |
	COMMAND_COMPARES,
    .group = "compare",
    .summary = "compare with older dumps: grown, shrunk, new and gone rows",
    .shapes = COMPARING_SHAPES,
    .description = "Compares the dump with the older ones before it on the command line (cairn OLD... DUMP), also "
	"of other formats. The exit status is 1 without rows.\n"
	"DUMP\ta number from dumps, or a file: diff 1 2 compares dump 1 with dump 2, diff 1 compares dump 1 with "
	"the newest\n"
	"SET\tonly rows with objects of the set in the newest dump (a class, with -by path or class: in any dump)\n"
	"-by path\tshortest strong path to the objects (histo -by path), because objects have no identity across "
	"dumps\n"
	"-by field\tlast field of this path\n"
	"-by site\tallocation site of sampled objects (Go)\n"
	"objects, shallow, retained\tof the newest dump\n"
	"d_...\tchange since the oldest dump (or -base)\n"
	"grew\tsteps in which the row retained more\n"
	"course\tobjects in each dump\n"
	"Growing rows come first, then other changes, then rows that are the same in the oldest (or -base) and "
	"newest dump.",
    .examples = {{"diff -grew", ON_SERIES, "which paths retain more"},
	{"diff -by class -sort d_objects | head 5", ON_SERIES, "which classes got most new objects"},
	{"diff -shrank -base 2", ON_SERIES, "what retains less than in dump 2"},
	{"diff 1 2 com.acme.shop.Session", ON_SERIES}},
    .run = run_diff,
};
