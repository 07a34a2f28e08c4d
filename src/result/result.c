/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result.c - rows that exist when somebody looks at them.
 *
 * A result knows how many rows its source has and asks the source for single cells.  For each row
 * it keeps at most the row's number in r->order, and that only once rows were sorted or filtered.
 * One thread at a time changes a result or calls result_cell.
 */
#include "result/result.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/progress.h"
#include "heap/amounts.h"
#include "heap/classes.h"
#include "heap/roots.h"
#include "heap/threads.h"
#include "memory/big.h"
#include "opened/opened.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------- */

/* The column that says what a row is. */
static enum column_id named_by(const struct result *r)
{
	if (r->shape && r->shape->named_by)
		return r->shape->named_by;
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (!r->columns[c].hidden)
			return r->columns[c].id;
	}
	return COL_OWN_NAME;
}

struct result *result_new(const char *title, const struct opened *opened, const struct shape *shape,
    const struct result_ops *ops, void *data, size_t n_rows)
{
	struct result *r = xcalloc(1, sizeof *r);
	r->title = arena_strndup(&r->arena, title, strlen(title));
	r->opened = opened;
	r->heap = opened ? opened->heap : NULL;
	r->shape = shape;
	r->columns = shape ? shape->columns : NULL;
	r->n_columns = shape ? shape->n_columns : 0;
	r->named_by = named_by(r);
	r->apart = shape && shape->apart;
	r->ops = ops;
	r->data = data;
	r->n_source = n_rows;
	r->n_rows = n_rows;
	r->sorted_by = -1;
	return r;
}

void result_free(struct result *r)
{
	if (!r)
		return;
	if (r->ops && r->ops->release && !r->so_far)
		r->ops->release(r->data);
	if (!r->so_far) {
		big_free(r->order);
		free(r->head);
	}
	free(r->totals);
	text_release(&r->scratch);
	arena_release(&r->arena);
	free(r);
}

void result_lost(struct result *r, const struct err *err)
{
	if (!r->lost.code)
		r->lost = *err;
}

int result_check(const struct result *r, struct err *err)
{
	if (r->lost.code && err)
		*err = r->lost;
	return r->lost.code;
}

static void add_to_head(struct result *r, enum column_id column, const char *name, struct cell cell)
{
	VEC_PUSH(r->head, r->n_head, r->cap_head) = (struct field){
	    .column = column,
	    .name = name,
	    .group = r->group,
	    .cell = result_keep_cell(r, cell),
	};
	r->group = NULL;
}

void result_head(struct result *r, enum column_id column, struct cell cell)
{
	add_to_head(r, column, column_kinds[column].word, cell);
}

void result_group(struct result *r, const char *words)
{
	r->group = words;
}

bool result_head_next(const struct result *r, struct head_walk *w)
{
	for (w->group = NULL; w->i < r->n_head; w->i++) {
		const struct field *f = &r->head[w->i];
		w->group = f->group ? f->group : w->group;
		if (f->cell.type != CELL_NONE || f->cell.amount.certainty != EXACT)
			return true;
	}
	return false;
}

void result_add_note(struct result *r, const char *sentence)
{
	struct text note = TEXT_INIT;
	if (r->note)
		text_addf(&note, "%s; ", r->note);
	size_t before = note.len;
	text_add_escaped(&note, sentence, strlen(sentence)); /* it may name a file */
	if (!r->note || !note.s || !strstr(r->note, note.s + before))
		r->note = arena_strndup(&r->arena, note.s, note.len);
	text_release(&note);
}

void result_add_note_text(struct result *r, struct text *sentence)
{
	if (sentence->len)
		result_add_note(r, sentence->s);
	text_release(sentence);
}

void result_notef(struct result *r, const char *format, ...)
{
	struct text note = TEXT_INIT;
	va_list args;
	va_start(args, format);
	text_addv(&note, format, args);
	va_end(args);
	result_add_note_text(r, &note);
}

void result_warn(struct result *r, const char *sentence)
{
	struct text all = TEXT_INIT;
	result_add_note(r, sentence);
	if (r->warning && strstr(r->warning, sentence))
		return;
	text_addf(&all, "%s%s%s", r->warning ? r->warning : "", r->warning ? "; " : "", sentence);
	r->warning = arena_strndup(&r->arena, all.s, all.len);
	text_release(&all);
}

void result_add_number_note(struct result *r, uint64_t n, const char *one, const char *many)
{
	struct text number = TEXT_INIT;
	text_add_count(&number, n);
	if (n)
		result_notef(r, "%s %s", number.s, n == 1 ? one : many);
	text_release(&number);
}

void result_head_named(struct result *r, const char *name, struct cell cell)
{
	add_to_head(r, COL_OWN_NAME, arena_strndup(&r->arena, name, strlen(name)), cell);
}

static struct column *own_columns(struct result *r)
{
	struct column *own = arena_alloc(&r->arena, r->n_columns * sizeof *own);
	memcpy(own, r->columns, r->n_columns * sizeof *own);
	r->columns = own;
	return own;
}

void result_show(struct result *r, unsigned column, bool shown)
{
	if (r->columns[column].hidden == shown)
		own_columns(r)[column].hidden = !shown;
}

void result_bar_retained(struct result *r)
{
	int at = result_column_of(r, COL_RETAINED);
	if (at >= 0 && !r->columns[at].bar)
		own_columns(r)[at].bar = true;
}

void result_show_column(struct result *r, enum column_id column, bool shown)
{
	int at = result_column_of(r, column);
	if (at >= 0)
		result_show(r, (unsigned)at, shown);
}

bool result_next_rows(struct result *r)
{
	struct err err = ERR_INIT;
	if (!r->ops || !r->ops->next_rows || r->lost.code)
		return false;
	r->n_passed += r->n_rows;
	r->n_source = r->n_rows = r->ops->next_rows(r, &err);
	if (err.code)
		result_lost(r, &err);
	return r->n_rows && !err.code;
}

/* --- looking ---------------------------------------------------------------------------------- */

size_t result_source_row(const struct result *r, size_t row)
{
	cairn_assert(row < r->n_rows);
	return r->order ? r->order[row] : row;
}

struct amount result_of_file(const struct result *r, struct amount amount)
{
	bool changed = r->opened && r->opened->fate != FILE_SAME;
	if (r->heap && r->heap->doubtful)
		amount = amount_weaken(amount, INFERRED, REASON_DAMAGED);
	return changed ? amount_weaken(amount, INFERRED, REASON_FILE_CHANGED) : amount;
}

static void doubt_cell(const struct result *r, struct cell *c)
{
	if (result_is(r, RESULT_OF_VALUES) && cell_is_number(c->type))
		c->amount = result_of_file(r, c->amount);
}

void result_doubt_head(struct result *r)
{
	for (size_t i = 0; i < r->n_head; i++)
		doubt_cell(r, &r->head[i].cell);
}

struct amount result_count(const struct result *r)
{
	struct amount rows = r->heap && !result_is(r, RESULT_FIRST_ONLY) ? heap_counted(r->heap, r->n_rows) :
	    amount_exact(r->n_rows);
	if (result_is(r, RESULT_LACKS_ROWS))
		rows = amount_weaken(rows, LOWER_BOUND, REASON_SILENT);
	return result_is(r, RESULT_OF_VALUES) ? result_of_file(r, rows) : rows;
}

void result_read(const struct result *r, size_t row, unsigned column, struct cell *out,
    struct text *scratch)
{
	cairn_assert(column < r->n_columns);
	text_clear(scratch);
	*out = cell_none();
	r->ops->cell(r, result_source_row(r, row), column, out, scratch);
	if (r->exact && r->columns[column].id == COL_RETAINED)
		result_sharpen(r, row, out);
	doubt_cell(r, out);
}

void result_cell(struct result *r, size_t row, unsigned column, struct cell *out)
{
	result_read(r, row, column, out, &r->scratch);
}

bool result_cell_in(struct result *r, size_t row, enum column_id column, struct cell *out)
{
	int at = result_column_of(r, column);
	*out = cell_none();
	if (at >= 0)
		result_cell(r, row, (unsigned)at, out);
	return at >= 0;
}

void result_cell_number(struct result *r, size_t row, unsigned column, struct cell *out)
{
	if (!r->ops->number) {
		result_cell(r, row, column, out);
		return;
	}
	*out = cell_none();
	r->ops->number(r, result_source_row(r, row), column, out);
	if (r->exact && r->columns[column].id == COL_RETAINED)
		result_sharpen(r, row, out);
	doubt_cell(r, out);
}

void result_target(const struct result *r, size_t row, struct target *out)
{
	*out = (struct target){.kind = TARGET_NONE};
	if (r->ops && r->ops->target)
		r->ops->target(r, result_source_row(r, row), out);
	out->opened = r->opened;
}

void result_target_group(const struct result *r, size_t row, struct target *out)
{
	(void)r, (void)row;
	*out = (struct target){.kind = TARGET_GROUP};
}

enum row_heading result_heading(const struct result *r, size_t row)
{
	return r->ops && r->ops->heading ? r->ops->heading(r, result_source_row(r, row)) : NO_HEADING;
}

/* --- what is found later ------------------------------------------------------------------------ */

bool result_is_late(const struct result *r)
{
	const struct result *late = result_source(r);
	const struct retained *known = late->later ? opened_retained(r->opened) : NULL;
	return known && late->later_tried != known->serial;
}

int result_find_late(struct result *r, struct progress *progress, struct err *err)
{
	struct result *late = result_source(r);
	late->later_found = false;
	return late->later(late, opened_retained(r->opened), progress, err);
}

void result_take_late(struct result *r, int code)
{
	struct result *late = result_source(r);
	late->later_tried = opened_retained(r->opened)->serial;
	late->later_found = !code;
}

const struct retained *result_known(const struct result *r)
{
	const struct retained *known = opened_retained(r->opened);
	bool found = !r->later || (known && r->later_found && r->later_tried == known->serial);
	return found ? known : NULL;
}

/* --- columns ---------------------------------------------------------------------------------- */

int result_column(const struct result *r, const char *name)
{
	return column_find(r->columns, r->n_columns, name);
}

int result_column_of(const struct result *r, enum column_id column)
{
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (r->columns[c].id == column)
			return (int)c;
	}
	return -1;
}

const char *result_noun(const struct result *r, bool one)
{
	const struct column_kind *kind = &column_kinds[r->named_by];
	if (!kind->one || r->apart)
		return one ? "row" : "rows";
	return one ? kind->one : kind->many;
}

/* --- filtering -------------------------------------------------------------------------------- */

void result_changed(struct result *r)
{
	free(r->totals);
	r->totals = NULL;
}

bool result_stopped(const struct result *r, size_t row)
{
	return (r->stop && row % RESULT_STOP_EVERY == RESULT_STOP_EVERY - 1 && r->stop(r->stop_context)) ||
	    progress_own_stops(8 * row);
}

int result_filter(struct result *r, bool (*keep)(struct result *r, size_t row, void *context),
    void *context, struct err *err)
{
	struct err refused = ERR_INIT;
	uint32_t *order = big_alloc(r->n_rows, sizeof *order, &refused);
	size_t kept = 0;
	if (!order) {
		result_lost(r, &refused);
		return err_set(err, ERR_NOMEM, "%s", refused.message);
	}
	r->kept = order;
	for (size_t row = 0; row < r->n_rows; row++) {
		r->n_kept = kept;
		if (result_stopped(r, row)) {
			r->kept = NULL;
			big_free(order);
			return err_cancelled(err);
		}
		if (keep(r, row, context))
			order[kept++] = (uint32_t)result_source_row(r, row);
	}
	r->kept = NULL;
	big_free(r->order);
	r->order = big_fit(order, kept, sizeof *order);
	r->n_rows = kept;
	result_changed(r);
	return 0;
}

struct result *result_draft(const struct result *r, struct err *err)
{
	uint32_t *order = r->order ? big_alloc(r->n_rows, sizeof *order, err) : NULL;
	if (r->order && !order)
		return NULL;
	if (order)
		memcpy(order, r->order, r->n_rows * sizeof *order);
	struct result *draft = xcalloc(1, sizeof *draft);
	*draft = *r;
	draft->order = order;
	draft->totals = NULL;
	draft->lost = (struct err)ERR_INIT;
	draft->scratch = (struct text)TEXT_INIT;
	return draft;
}

void result_drop(struct result *draft)
{
	if (!draft)
		return;
	big_free(draft->order);
	free(draft->totals);
	text_release(&draft->scratch);
	free(draft);
}

void result_adopt(struct result *r, struct result *draft)
{
	big_free(r->order);
	r->order = draft->order;
	draft->order = NULL;
	r->n_rows = draft->n_rows;
	r->sorted_by = draft->sorted_by;
	r->descending = draft->descending;
	r->flat = draft->flat;
	result_mark(r, RESULT_FIRST_ONLY, result_is(draft, RESULT_FIRST_ONLY));
	result_changed(r);
	result_drop(draft);
}

/* --- looking at what grows -------------------------------------------------------------------- */

size_t result_found(const struct result *r)
{
	return r->kept ? r->n_kept : r->n_rows;
}

void result_look_again(struct result *look, const struct result *r)
{
	look->n_source = r->n_source;
	look->n_rows = result_found(r);
	look->order = r->kept ? r->kept : r->order;
	look->head = r->head;
	look->n_head = r->n_head;
}

struct result *result_look(const struct result *r)
{
	struct result *look = xcalloc(1, sizeof *look);
	*look = *r;
	look->so_far = true;
	look->kept = NULL;
	look->note = look->text_below = look->warning = look->note_first = NULL;
	look->totals = NULL;
	look->stop = NULL;
	look->lost = (struct err)ERR_INIT;
	look->arena = (struct arena){0};
	look->scratch = (struct text)TEXT_INIT;
	result_look_again(look, r);
	return look;
}

void result_keep_first(struct result *r, size_t n)
{
	if (n < r->n_rows) {
		r->n_rows = n;
		result_mark(r, RESULT_FIRST_ONLY, true);
		result_changed(r);
	}
}

void result_show_all(struct result *r)
{
	big_free(r->order);
	r->order = NULL;
	r->n_rows = r->n_source;
	result_mark(r, RESULT_FIRST_ONLY, false);
	result_changed(r);
	if (r->sorted_by >= 0 && (r->flat || !r->within)) /* a tree's own order is sorted */
		if (result_sort(r, (unsigned)r->sorted_by, r->descending, NULL))
			r->sorted_by = -1; /* they stand as they were found */
}

struct cell result_sum_begin(const struct result *r, unsigned column)
{
	return (struct cell){.type = column_type(&r->columns[column]),
	    .amount = r->heap && !result_is(r, RESULT_FIRST_ONLY) ? heap_counted(r->heap, 0) : amount_exact(0)};
}

/* The sum is of those that are known. */
void result_sum(struct cell *sum, const struct cell *one)
{
	struct amount amount = one->amount;
	if (cell_is_signed(sum->type))
		sum->amount = amount_add_changes(sum->amount, amount);
	else if (one->type != CELL_NONE || amount.certainty == UNKNOWN)
		sum->amount = amount_add(sum->amount, amount);
}

bool result_is_within(const struct result *r, size_t row)
{
	return r->within && r->within(r, result_source_row(r, row));
}

void result_sum_row(struct result *r, size_t row, unsigned column, struct cell *sum)
{
	struct cell one;
	if (result_is_within(r, row))
		return;
	result_cell(r, row, column, &one);
	result_sum(sum, &one);
}

/* Shares are rounded, each for itself: their sum would not be that of what they are of.  -1: it is none of these. */
static int part_of_share(const struct result *r, unsigned column)
{
	return r->columns[column].id == COL_SHARE && r->shares.part ? result_column_of(r, r->shares.part) : -1;
}

/* What nobody knows of a row may be known of all: which of two classes an object belongs to, say. */
static void settle(const struct result *r, unsigned column, struct cell *sum)
{
	for (size_t i = 0; r->n_rows == r->n_source && i < sizeof r->known_sum / sizeof *r->known_sum; i++) {
		const struct known_sum *known = &r->known_sum[i];
		if (known->column && known->column == r->columns[column].id && known->sum.n == sum->amount.n &&
		    known->sum.certainty < sum->amount.certainty)
			sum->amount = known->sum;
	}
}

void result_sum_end(const struct result *r, unsigned column, struct cell *sums, unsigned n)
{
	int part = part_of_share(r, column);
	if (part >= 0 && (unsigned)part < n && r->columns[part].total)
		sums[column] = cell_percent(sums[part].amount, r->shares.whole);
	else
		settle(r, column, &sums[column]);
}

void result_total(struct result *r, unsigned column, struct cell *out)
{
	int part = part_of_share(r, column);
	if (part >= 0) {
		result_total(r, (unsigned)part, out);
		*out = cell_percent(out->amount, r->shares.whole);
		return;
	}
	if (!r->totals) {
		r->totals = xcalloc(r->n_columns ? r->n_columns : 1, sizeof *r->totals);
		for (unsigned c = 0; c < r->n_columns; c++)
			r->totals[c] = cell_none();
	}
	struct cell *total = &r->totals[column];
	if (total->type == CELL_NONE && column_type(&r->columns[column]) != CELL_TEXT) {
		struct cell sum = result_sum_begin(r, column);
		for (size_t row = 0; row < r->n_rows && !result_stopped(r, row); row++)
			result_sum_row(r, row, column, &sum);
		if (progress_cancelled(progress_own())) { /* not of all: not to be kept */
			*out = sum;
			return;
		}
		settle(r, column, &sum);
		*total = sum;
	}
	*out = *total;
	doubt_cell(r, out); /* of no rows, too */
}

/* --- what printers ask ------------------------------------------------------------------------ */

void result_tell_loaders(struct result *r)
{
	int column = result_column_of(r, COL_LOADER);
	struct bits classes;
	if (column < 0 || r->arranged || !r->heap || bits_init(&classes, r->heap->n_classes, NULL))
		return;
	for (size_t row = 0; row < r->n_rows && !progress_own_stops(row); row++) {
		struct target target;
		result_target(r, row, &target);
		if (target.kind == TARGET_CLASS)
			bits_set(&classes, target.id);
	}
	if (heap_names_repeat(r->heap, &classes))
		result_show(r, (unsigned)column, true);
	bits_release(&classes);
}

void result_head_print(const struct field *f, struct text *to)
{
	bool number = f->column == COL_ID && !strcmp(f->name, column_kinds[COL_ID].word) && cell_is_number(f->cell.type);
	text_add(to, number ? "#" : "");
	if (number)
		cell_print_plain(&f->cell, to);
	else
		cell_print(&f->cell, to);
	if (f->column == COL_UPTIME && f->cell.type == CELL_COUNT)
		text_add(to, f->cell.amount.n == 1 ? " second" : " seconds");
}
