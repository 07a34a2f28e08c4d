/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result_sort.c - order the rows of a result by a column, stably, in linear time.
 *
 * Each row becomes one 64-bit word: 32 bits of key above its row number, sorted by counting.  Keys
 * that differ in more than 32 bits take two rounds, low half first.  Text becomes a number first:
 * its rank among the distinct texts of the column, which are few where rows are many; where texts are
 * values, those that are numbers come first, by their value.  Memory while
 * sorting: 20 bytes a row, 24 for text, 28 for numbers that are read from the dump.
 */
#include "result/result.h"

#include "algorithms/sort.h"
#include "algorithms/string_intern.h"
#include "base/assert.h"
#include "base/progress.h"
#include "base/render_lock.h"
#include "memory/big.h"

#include <stdlib.h>
#include <string.h>

/* --- text to rank ----------------------------------------------------------------------------- */

struct distinct {
	struct string_intern texts;
	uint32_t *rank; /* of each number */
};

/* Where the table of texts grows, others may draw meanwhile. */
static int distinct_number(struct distinct *d, const char *s, uint32_t *number, struct err *err)
{
	bool grows = string_intern_grows(&d->texts);
	struct render_lock *turns = grows ? render_lock_step_out() : NULL;
	int code = string_intern_number(&d->texts, s, false, number, err);
	if (grows)
		render_lock_enter(turns);
	return code;
}

struct ranked {
	const char *text;
	uint32_t number;
	bool counts;       /* by_value: the text is a number */
	long double value; /* then this one: 64 bits at least, so that every long is itself */
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct ranked *)a)->text, ((const struct ranked *)b)->text);
}

/* Is it a number as Java or Go write it, and nothing else? */
static bool is_number(const char *s, long double *value)
{
	const char *digits = s + (*s == '-' || *s == '+');
	char *end;
	if ((*digits < '0' || *digits > '9') && strcmp(digits, "Infinity") != 0 && strcmp(digits, "Inf") != 0)
		return false;
	*value = strtold(s, &end);
	return !*end;
}

/* Texts with numbers in them as people count: "size 9" before "size 40". */
static int by_numbers_within(const char *a, const char *b)
{
	const char *x = a, *y = b;
	while (*x && *y) {
		size_t n = strspn(x, "0123456789"), m = strspn(y, "0123456789");
		if (!n || !m) {
			if (*x != *y)
				return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
			x++;
			y++;
			continue;
		}
		for (; n && *x == '0'; n--)
			x++;
		for (; m && *y == '0'; m--)
			y++;
		int order = n == m ? memcmp(x, y, n) : n < m ? -1 : 1;
		if (order)
			return order;
		x += n;
		y += m;
	}
	return *x || *y ? (*x ? 1 : -1) : strcmp(a, b);
}

/* Numbers by their value, then all other texts. */
static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->counts != y->counts)
		return x->counts ? -1 : 1;
	if (x->counts && x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->counts ? strcmp(x->text, y->text) : by_numbers_within(x->text, y->text);
}

static int distinct_rank(struct distinct *d, bool values, struct err *err)
{
	struct ranked *list = big_alloc(d->texts.n, sizeof *list, err);
	d->rank = list ? big_alloc(d->texts.n, sizeof *d->rank, err) : NULL;
	if (!d->rank) {
		big_free(list);
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < d->texts.n; i++)
		list[i] = (struct ranked){.text = d->texts.word[i], .number = (uint32_t)i};
	for (size_t i = 0; i < d->texts.n && values; i++)
		list[i].counts = is_number(list[i].text, &list[i].value);
	int code = sort(list, d->texts.n, sizeof *list, values ? by_value : by_text, err);
	for (size_t i = 0; i < d->texts.n; i++)
		d->rank[list[i].number] = (uint32_t)i;
	big_free(list);
	return code;
}

static void distinct_release(struct distinct *d)
{
	string_intern_release(&d->texts);
	big_free(d->rank);
}

/* --- counting sort of words ------------------------------------------------------------------- */

#define DIGIT_BITS 11u
#define FEW 32

/* Few words are sorted before the counters are cleared. */
static void insert_words(uint64_t *a, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t word = a[i];
		size_t at = i;
		for (; at && a[at - 1] >> 32 > word >> 32; at--)
			a[at] = a[at - 1];
		a[at] = word;
	}
}

/* By the upper 32 bits, of which only the lowest bits are used; the sorted words end up in *a.  False: it was
 * stopped. */
static bool sort_words(const struct result *r, uint64_t **a, uint64_t **b, size_t n, unsigned bits)
{
	struct progress *work = progress_own();
	if (n <= FEW) {
		insert_words(*a, n);
		return true;
	}
	for (unsigned done = 0; done < bits; done += DIGIT_BITS) {
		size_t start[1u << DIGIT_BITS] = {0};
		unsigned shift = 32 + done;
		if (result_stopped(r, RESULT_STOP_EVERY - 1))
			return false;
		uint64_t mask = (1u << DIGIT_BITS) - 1;
		for (size_t i = 0; i < n; i++) {
			if (progress_stops(work, i))
				return false;
			start[(*a)[i] >> shift & mask]++;
		}
		size_t sum = 0;
		for (size_t d = 0; d <= mask; d++) {
			size_t count = start[d];
			start[d] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++) {
			if (progress_stops(work, i))
				return false;
			(*b)[start[(*a)[i] >> shift & mask]++] = (*a)[i];
		}
		uint64_t *swap = *a;
		*a = *b;
		*b = swap;
	}
	return true;
}

/* --- keys ------------------------------------------------------------------------------------- */

struct sorting {
	struct result *r;
	unsigned column;
	bool by_text;
	bool descending;
	struct distinct distinct;
	struct text printed;
	uint32_t *rows;   /* of the source, in the order to be */
	uint64_t *a, *b;  /* keys */
	size_t known;     /* rows that have one */
	uint32_t *number; /* by_text: of the text of each source row */
	uint64_t *key;    /* of each source row, where cells are read from the dump; else NULL: they are asked again */
	uint64_t low, high; /* least and greatest key */
};

static void sorting_cell(struct sorting *s, uint32_t source, struct cell *out)
{
	struct result *r = s->r;
	*out = cell_none();
	text_clear(&r->scratch);
	if (!s->by_text && r->ops->number)
		r->ops->number(r, source, s->column, out);
	else
		r->ops->cell(r, source, s->column, out, &r->scratch);
}

static uint64_t key_of(struct sorting *s, uint32_t source)
{
	if (s->by_text)
		return s->distinct.rank[s->number[source]];
	if (s->key)
		return s->key[source];
	struct cell c;
	sorting_cell(s, source, &c);
	return cell_rank(&c);
}

static int number_text(struct sorting *s, const struct cell *c, uint32_t source, struct err *err)
{
	if (c->type == CELL_TEXT)
		return distinct_number(&s->distinct, c->text, &s->number[source], err);
	text_clear(&s->printed);
	cell_print_plain(c, &s->printed);
	return distinct_number(&s->distinct, s->printed.s, &s->number[source], err);
}

/* The rows shown, known cells first, into s->rows. */
static int look_at_rows(struct sorting *s, struct err *err)
{
	struct result *r = s->r;
	uint32_t *rows = s->rows;
	size_t known = 0, unknown = 0;
	int code = 0;
	s->low = UINT64_MAX;
	s->high = 0;
	for (size_t i = 0; i < r->n_rows; i++) {
		struct cell c;
		uint32_t source = r->order ? r->order[i] : (uint32_t)i;
		if (result_stopped(r, i))
			return err_cancelled(err);
		sorting_cell(s, source, &c);
		if (c.type == CELL_NONE) {
			s->a[unknown++] = (uint64_t)(c.amount.certainty != EXACT) << 32 | source;
			continue;
		}
		rows[known++] = source;
		if (s->by_text && (code = number_text(s, &c, source, err)) < 0)
			return code;
		uint64_t key = cell_rank(&c);
		if (s->key)
			s->key[source] = key;
		if (key < s->low)
			s->low = key;
		if (key > s->high)
			s->high = key;
	}
	for (size_t pass = 0, at = known; pass < 2; pass++) { /* what does not apply, then what is unknown */
		for (size_t i = 0; i < unknown; i++)
			if (s->a[i] >> 32 == pass)
				rows[at++] = (uint32_t)s->a[i];
	}
	if (s->by_text) {
		struct render_lock *turns = render_lock_step_out();
		code = distinct_rank(&s->distinct, column_kinds[r->columns[s->column].id].values, err);
		render_lock_enter(turns);
		s->low = 0;
		s->high = s->distinct.texts.n ? s->distinct.texts.n - 1 : 0;
	}
	s->known = known;
	return code;
}

static unsigned bit_length(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

static int sort_known(struct sorting *s, struct err *err)
{
	uint32_t *rows = s->rows;
	size_t n = s->known;
	unsigned bits = n ? bit_length(s->high - s->low) : 0;
	for (unsigned shift = 0; shift < bits; shift += 32) {
		for (size_t i = 0; i < n; i++) {
			if (result_stopped(s->r, i))
				return err_cancelled(err);
			uint64_t key = key_of(s, rows[i]);
			key = s->descending ? s->high - key : key - s->low;
			s->a[i] = (key >> shift & UINT32_MAX) << 32 | rows[i];
		}
		struct render_lock *turns = render_lock_step_out(); /* of the result nothing is read meanwhile */
		bool sorted = sort_words(s->r, &s->a, &s->b, n, bits - shift < 32 ? bits - shift : 32);
		for (size_t i = 0; i < n && sorted; i++)
			rows[i] = (uint32_t)s->a[i];
		render_lock_enter(turns);
		if (!sorted)
			return err_cancelled(err);
	}
	return 0;
}

static int sort_allocate(struct sorting *s, struct err *err)
{
	struct result *r = s->r;
	s->a = big_alloc(r->n_rows, sizeof *s->a, err);
	s->b = s->a ? big_alloc(r->n_rows, sizeof *s->b, err) : NULL;
	s->rows = s->b ? big_alloc(r->n_rows, sizeof *s->rows, err) : NULL;
	if (s->rows && s->by_text)
		s->number = big_alloc(r->n_source, sizeof *s->number, err);
	bool costly = !s->by_text && r->columns[s->column].name;
	if (s->rows && costly)
		s->key = big_alloc(r->n_source, sizeof *s->key, err);
	return s->rows && (!s->by_text || s->number) && (!costly || s->key) ? 0 : ERR_NOMEM;
}

int result_sort(struct result *r, unsigned column, bool descending, struct err *err)
{
	struct err own = ERR_INIT;
	struct sorting s = {
	    .r = r,
	    .column = column,
	    .by_text = column_type(&r->columns[column]) == CELL_TEXT,
	    .descending = descending,
	};
	int code = sort_allocate(&s, &own);
	if (!code)
		code = look_at_rows(&s, &own);
	if (!code)
		code = sort_known(&s, &own);
	if (!code) {
		big_free(r->order);
		r->order = s.rows;
		s.rows = NULL;
		r->sorted_by = (int)column;
		r->descending = descending;
		r->flat = true;
	} else if (code == ERR_NOMEM) {
		result_lost(r, &own);
	}
	if (code && err)
		*err = own;
	big_free(s.a);
	big_free(s.b);
	big_free(s.rows);
	big_free(s.number);
	big_free(s.key);
	text_release(&s.printed);
	distinct_release(&s.distinct);
	return code;
}

void result_sort_new(struct result *r, enum column_id column, bool descending)
{
	int at = result_column_of(r, column);
	cairn_assert(at >= 0);
	(void)!result_sort(r, (unsigned)at, descending, NULL); /* whoever asks result_check hears of it */
}

int result_reverse(struct result *r, struct err *err)
{
	struct err own = ERR_INIT;
	uint32_t *order = big_alloc(r->n_rows, sizeof *order, &own);
	if (!order) {
		result_lost(r, &own);
		if (err)
			*err = own;
		return ERR_NOMEM;
	}
	for (size_t i = 0; i < r->n_rows; i++)
		order[i] = r->order ? r->order[r->n_rows - 1 - i] : (uint32_t)(r->n_rows - 1 - i);
	big_free(r->order);
	r->order = order;
	r->descending = !r->descending;
	r->flat = true;
	return 0;
}
