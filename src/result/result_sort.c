/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * result_sort.c - order the rows of a result by a column, stably, in linear time.
 *
 * Each row becomes one 64-bit word: 32 bits of key above its row number, sorted by counting.  Keys
 * that differ in more than 32 bits take two rounds, low half first.  Text becomes a number first:
 * its rank among the distinct texts of the column, which are few where rows are many.  Memory while
 * sorting: 16 bytes a row, 20 for text.
 */
#include "result/result.h"

#include <stdlib.h>
#include <string.h>

/* --- text to rank ----------------------------------------------------------------------------- */

struct distinct {
	struct arena arena;
	const char **text; /* by number */
	size_t n, cap;
	uint32_t *slots;   /* number + 1, 0 free; a power of two of them, at most half full */
	size_t n_slots;
	uint32_t *rank;    /* of each number */
};

static uint64_t hash_text(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
	return h ^ h >> 29;
}

static void distinct_grow(struct distinct *d)
{
	free(d->slots);
	d->n_slots = d->n_slots ? 2 * d->n_slots : 1024;
	d->slots = xcalloc(d->n_slots, sizeof *d->slots);
	for (size_t i = 0; i < d->n; i++) {
		size_t at = hash_text(d->text[i]) & (d->n_slots - 1);
		while (d->slots[at])
			at = (at + 1) & (d->n_slots - 1);
		d->slots[at] = (uint32_t)i + 1;
	}
}

static uint32_t distinct_number(struct distinct *d, const char *s)
{
	if (2 * d->n >= d->n_slots)
		distinct_grow(d);
	size_t at = hash_text(s) & (d->n_slots - 1);
	for (; d->slots[at]; at = (at + 1) & (d->n_slots - 1)) {
		if (!strcmp(d->text[d->slots[at] - 1], s))
			return d->slots[at] - 1;
	}
	VEC_PUSH(d->text, d->n, d->cap) = arena_strndup(&d->arena, s, strlen(s));
	d->slots[at] = (uint32_t)d->n;
	return (uint32_t)d->n - 1;
}

struct ranked {
	const char *text;
	uint32_t number;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct ranked *)a)->text, ((const struct ranked *)b)->text);
}

static void distinct_rank(struct distinct *d)
{
	struct ranked *list = xrealloc(NULL, d->n ? d->n : 1, sizeof *list);
	d->rank = xrealloc(NULL, d->n ? d->n : 1, sizeof *d->rank);
	for (size_t i = 0; i < d->n; i++)
		list[i] = (struct ranked){d->text[i], (uint32_t)i};
	qsort(list, d->n, sizeof *list, by_text);
	for (size_t i = 0; i < d->n; i++)
		d->rank[list[i].number] = (uint32_t)i;
	free(list);
}

static void distinct_release(struct distinct *d)
{
	arena_release(&d->arena);
	free(d->text);
	free(d->slots);
	free(d->rank);
}

/* --- counting sort of words ------------------------------------------------------------------- */

#define DIGIT_BITS 11u

/* By the upper 32 bits, of which only the lowest bits are used; the sorted words end up in *a. */
static void sort_words(uint64_t **a, uint64_t **b, size_t n, unsigned bits)
{
	for (unsigned done = 0; done < bits; done += DIGIT_BITS) {
		size_t start[1u << DIGIT_BITS] = {0};
		unsigned shift = 32 + done;
		uint64_t mask = (1u << DIGIT_BITS) - 1;
		for (size_t i = 0; i < n; i++)
			start[(*a)[i] >> shift & mask]++;
		size_t sum = 0;
		for (size_t d = 0; d <= mask; d++) {
			size_t count = start[d];
			start[d] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			(*b)[start[(*a)[i] >> shift & mask]++] = (*a)[i];
		uint64_t *swap = *a;
		*a = *b;
		*b = swap;
	}
}

/* --- keys ------------------------------------------------------------------------------------- */

struct sorting {
	struct result *r;
	unsigned column;
	bool by_text;
	bool descending;
	struct distinct distinct;
	uint32_t *number; /* by_text: of the text of each source row */
	uint64_t low, high; /* least and greatest key */
};

static uint64_t key_of(struct sorting *s, uint32_t source)
{
	if (s->by_text)
		return s->distinct.rank[s->number[source]];
	struct cell c = cell_none();
	text_clear(&s->r->scratch);
	s->r->ops->cell(s->r, source, s->column, &c, &s->r->scratch);
	return c.number;
}

/* The rows shown, known cells first, into rows; returns the number of known ones, or SIZE_MAX: stopped. */
static size_t look_at_rows(struct sorting *s, uint32_t *rows)
{
	struct result *r = s->r;
	struct text printed = TEXT_INIT;
	size_t known = 0, unknown = 0;
	s->low = UINT64_MAX;
	s->high = 0;
	for (size_t i = 0; i < r->n_rows; i++) {
		struct cell c;
		uint32_t source = r->order ? r->order[i] : (uint32_t)i;
		if (result_stopped(r, i)) {
			text_release(&printed);
			return SIZE_MAX;
		}
		result_cell(r, i, s->column, &c);
		if (c.type == CELL_NONE) {
			rows[r->n_rows - ++unknown] = source;
			continue;
		}
		rows[known++] = source;
		if (s->by_text) {
			if (c.type != CELL_TEXT) {
				text_clear(&printed);
				cell_print_plain(&c, &printed);
			}
			s->number[source] = distinct_number(
			    &s->distinct, c.type == CELL_TEXT ? c.text : printed.s);
		}
		if (c.number < s->low)
			s->low = c.number;
		if (c.number > s->high)
			s->high = c.number;
	}
	text_release(&printed);
	for (size_t i = known, j = r->n_rows; i + 1 < j; i++) { /* unknown ones in their old order */
		uint32_t swap = rows[i];
		rows[i] = rows[--j];
		rows[j] = swap;
	}
	if (s->by_text) {
		distinct_rank(&s->distinct);
		s->low = 0;
		s->high = s->distinct.n ? s->distinct.n - 1 : 0;
	}
	return known;
}

static unsigned bit_length(uint64_t x)
{
	return x ? 64 - (unsigned)__builtin_clzll(x) : 0;
}

static bool sort_known(struct sorting *s, uint32_t *rows, size_t n, uint64_t **a, uint64_t **b)
{
	unsigned bits = n ? bit_length(s->high - s->low) : 0;
	for (unsigned shift = 0; shift < bits; shift += 32) {
		for (size_t i = 0; i < n; i++) {
			if (result_stopped(s->r, i))
				return false;
			uint64_t key = key_of(s, rows[i]);
			key = s->descending ? s->high - key : key - s->low;
			(*a)[i] = (key >> shift & UINT32_MAX) << 32 | rows[i];
		}
		sort_words(a, b, n, bits - shift < 32 ? bits - shift : 32);
		for (size_t i = 0; i < n; i++)
			rows[i] = (uint32_t)(*a)[i];
	}
	return true;
}

bool result_sort(struct result *r, unsigned column, bool descending)
{
	struct sorting s = {
	    .r = r,
	    .column = column,
	    .by_text = r->columns[column].type == CELL_TEXT,
	    .descending = descending,
	};
	size_t n = r->n_rows;
	bool sorted = true;
	uint64_t *a = big_alloc(n, sizeof *a, NULL), *b = big_alloc(n, sizeof *b, NULL);
	uint32_t *rows = malloc(n ? n * sizeof *rows : 1);
	if (s.by_text)
		s.number = big_alloc(r->n_source, sizeof *s.number, NULL);
	if (!a || !b || !rows || (s.by_text && !s.number)) {
		r->note = "not sorted: not enough memory for the keys";
		free(rows);
		goto out;
	}
	size_t known = look_at_rows(&s, rows);
	sorted = known != SIZE_MAX && sort_known(&s, rows, known, &a, &b);
	if (!sorted) {
		free(rows);
		goto out;
	}
	free(r->order);
	r->order = rows;
	r->sorted_by = (int)column;
	r->descending = descending;
	r->flat = true;
out:
	big_free(a, n, sizeof *a);
	big_free(b, n, sizeof *b);
	big_free(s.number, r->n_source, sizeof *s.number);
	distinct_release(&s.distinct);
	return sorted;
}
