/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_result.c - rows sorted, filtered and summed, and the catalogue of columns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/cursor.h"

/* --- sorting ---------------------------------------------------------------------------------- */

struct numbers {
	uint64_t *number;
	char **text; /* NULL: a column of numbers */
};

#define NOTHING UINT64_MAX /* an unknown cell */

static void numbers_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const struct numbers *n = r->data;
	(void)column;
	if (n->number[row] == NOTHING) {
		*out = cell_none();
	} else if (n->text) {
		text_add(scratch, n->text[row]);
		*out = cell_text(scratch->s);
	} else {
		*out = cell_count(amount_exact(n->number[row]));
	}
}

static const struct result_ops numbers_ops = {.cell = numbers_cell};

static struct numbers *sorted_numbers;
static bool sorted_down;

/* Naive order: unknown last, then by value, then by place. */
static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct numbers *n = sorted_numbers;
	bool no_x = n->number[x] == NOTHING, no_y = n->number[y] == NOTHING;
	int order;
	if (no_x != no_y)
		return no_x ? 1 : -1;
	if (no_x)
		order = 0;
	else if (n->text)
		order = strcmp(n->text[x], n->text[y]);
	else
		order = (n->number[x] > n->number[y]) - (n->number[x] < n->number[y]);
	if (order)
		return sorted_down ? -order : order;
	return (x > y) - (x < y);
}

static const struct column number_columns[] = {{.id = COL_OBJECTS, .total = true}};
static const struct shape numbers = {SHAPE_COLUMNS(number_columns)};
static const struct column text_columns[] = {{.id = COL_TEXT}};
static const struct shape texts = {SHAPE_COLUMNS(text_columns)};

static void check_sort(struct numbers *n, size_t rows, bool down)
{
	uint32_t *wanted = calloc(rows + 1, sizeof *wanted);
	for (size_t i = 0; i < rows; i++)
		wanted[i] = (uint32_t)i;
	sorted_numbers = n;
	sorted_down = down;
	qsort(wanted, rows, sizeof *wanted, by_number);
	struct result *r =
	    result_new("n", NULL, n->text ? &texts : &numbers, &numbers_ops, n, rows);
	assert_int_equal(result_sort(r, 0, down, NULL), 0);
	assert_int_equal(r->n_rows, rows);
	for (size_t i = 0; i < rows; i++)
		assert_int_equal(r->order[i], wanted[i]);
	result_free(r);
	free(wanted);
}

static uint64_t random_bits(void)
{
	static uint64_t x = 88172645463325252u;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static void test_sort(void **state)
{
	(void)state;
	static const uint64_t masks[] = {1, 15, 0xfff, 0xffffffff, 0xffffffff00000000, UINT64_MAX >> 1};
	struct numbers n = {.number = calloc(5000, sizeof *n.number)};
	char **text = calloc(5000, sizeof *text);
	for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
		for (size_t i = 0; i < 5000; i++) {
			n.number[i] = random_bits() % 9 ? random_bits() & masks[m] : NOTHING;
			char word[24];
			snprintf(word, sizeof word, "%llx", (unsigned long long)n.number[i] % 3000);
			text[i] = strdup(word);
		}
		check_sort(&n, 5000, false);
		check_sort(&n, 5000, true);
		n.text = text;
		check_sort(&n, 5000, false);
		check_sort(&n, 5000, true);
		n.text = NULL;
		for (size_t i = 0; i < 5000; i++)
			free(text[i]);
	}
	check_sort(&n, 0, false);
	check_sort(&n, 1, true);
	free(text);
	free(n.number);
}

static bool keep_even(struct result *r, size_t row, void *context)
{
	struct cell c;
	(void)context;
	result_cell(r, row, 0, &c);
	return c.amount.n % 2 == 0;
}

static bool stop_at_last(void *context)
{
	return --*(int *)context == 0;
}

/* Where texts are values, numbers come first, by their value; of what is left the numbers within count. */
static void test_sort_values(void **state)
{
	static const struct column columns[] = {{.id = COL_VALUE}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	/* in the order to be, whatever the bytes say */
	static const char *const wanted[] = {"-Infinity", "-9223372036854775808", "-9223372036854775807", "-20", "-3",
	    "-1.0E-5", "-0.0", "0", "1.0E-5", "0.1", "2", "10", "0x40", "1234567.5", "1.0E10",
	    "9007199254740992", "9007199254740993", "9223372036854775806", "9223372036854775807",
	    "18446744073709551615", "1.7976931348623157E308", "Infinity", "\"10\"", "1 + 1", "NaN", "[1, 10]",
	    "[2]", "[10, 1]", "a7", "a007b", "a10", "size 9", "size 40", "size 320"};
	enum { N = sizeof wanted / sizeof *wanted };
	struct result *r = result_new_rows("t", NULL, &shape);
	(void)state;
	for (size_t i = 0; i < N; i++) /* 5 and N have no divisor in common: each once */
		result_add_row(r, (struct cell[]){cell_text(wanted[i * 5 % N])}, NULL);
	for (int down = 0; down < 2; down++) {
		assert_int_equal(result_sort(r, 0, down, NULL), 0);
		for (size_t i = 0; i < N; i++) {
			struct cell c;
			result_cell(r, i, 0, &c);
			assert_string_equal(c.text, wanted[down ? N - 1 - i : i]);
		}
	}
	result_free(r);
}

/* Rows of one value are one group, as sure as the least sure of them; what is empty is one, what is unknown another. */
static void test_group(void **state)
{
	static const struct column columns[] = {{.id = COL_OBJECTS}, {.id = COL_SHALLOW, .total = true}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	struct amount sure = amount_exact(5), unsure = amount_weaken(sure, INFERRED, REASON_ROOTS);
	struct cell keys[] = {cell_count(sure), cell_unknown(REASON_SILENT), cell_blank(), cell_count(unsure),
	    cell_unknown(REASON_SILENT), cell_count(amount_exact(7)), cell_blank(), cell_count(sure)};
	static const struct { enum certainty certainty; uint64_t key, rows, shallow; } wanted[] = {
	    {INFERRED, 5, 3, 3 * 16}, {UNKNOWN, 0, 2, 2 * 16}, {EXACT, 0, 2, 2 * 16}, {EXACT, 7, 1, 16}};
	struct result *r = result_new_rows("t", NULL, &shape);
	(void)state;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		result_add_row(r, (struct cell[]){keys[i], cell_bytes(amount_exact(16))}, NULL);
	assert_int_equal(result_group_by(&r, (unsigned[]){0}, 1, NULL), 0);
	assert_int_equal(r->n_columns, 3);
	assert_int_equal(r->n_rows, sizeof wanted / sizeof *wanted);
	for (size_t i = 0; i < r->n_rows; i++) {
		struct cell key, rows, shallow;
		result_cell(r, i, 0, &key);
		result_cell(r, i, 1, &rows);
		result_cell(r, i, 2, &shallow);
		assert_int_equal(key.amount.certainty, wanted[i].certainty);
		assert_int_equal(key.type == CELL_NONE, !wanted[i].key);
		assert_int_equal(key.type == CELL_NONE ? 0 : key.amount.n, wanted[i].key);
		assert_int_equal(rows.amount.n, wanted[i].rows);
		assert_int_equal(rows.amount.certainty, EXACT);
		assert_int_equal(shallow.amount.n, wanted[i].shallow);
	}
	result_free(r);
}

/* A cell that is of another type than its column is not shown: the result has an error instead. */
static void test_cell_of_column(void **state)
{
	static const struct column columns[] = {{.id = COL_OBJECTS}, {.id = COL_SHALLOW}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	struct cell objects = cell_count(amount_exact(2)), shallow = cell_bytes(amount_exact(48)), c;
	struct err err = ERR_INIT;
	struct result *r = result_new_rows("t", NULL, &shape);
	(void)state;
	result_add_row(r, (struct cell[]){objects, shallow}, NULL);
	result_add_row(r, (struct cell[]){cell_none(), cell_blank()}, NULL);
	assert_int_equal(result_check(r, &err), 0);
	result_add_row(r, (struct cell[]){shallow, objects}, NULL);
	assert_int_equal(result_check(r, &err), ERR_FAILED);
	assert_non_null(strstr(err.message, "column objects"));
	result_cell(r, 2, 0, &c);
	assert_int_equal(c.type, CELL_NONE);
	result_free(r);
}

/* Stopped at any question, a filter or a sort leaves the rows as they were. */
static void test_stopped(void **state)
{
	enum { ROWS = 5 * RESULT_STOP_EVERY + 7 };
	struct numbers n = {.number = calloc(ROWS, sizeof *n.number)};
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		n.number[i] = (i * 7919) % ROWS;
	/* five questions for a filter, eleven for a sort: five while looking, six while ordering */
	for (int after = 1; after <= 12; after++) {
		struct result *r = result_new("n", NULL, &numbers, &numbers_ops, &n, ROWS);
		struct cell c;
		int left = after;
		assert_int_equal(result_sort(r, 0, true, NULL), 0);
		r->stop = stop_at_last;
		r->stop_context = &left;
		assert_int_equal(result_sort(r, 0, false, NULL), after > 11 ? 0 : ERR_CANCELLED);
		assert_int_equal(r->n_rows, ROWS);
		result_cell(r, 0, 0, &c);
		assert_int_equal(c.amount.n, after > 11 ? 0 : ROWS - 1);
		left = after;
		assert_int_equal(result_filter(r, keep_even, NULL, NULL), after > 5 ? 0 : ERR_CANCELLED);
		assert_int_equal(r->n_rows, after > 5 ? (ROWS + 1) / 2 : ROWS);
		result_free(r);
	}
	free(n.number);
}

/* Looks at what is kept so far; each time there is more of the same. */
struct looking {
	struct result *r, *look;
	size_t most;
};

static bool look_on(void *context)
{
	struct looking *l = context;
	struct cell c;
	if (l->look)
		result_look_again(l->look, l->r);
	else
		l->look = result_look(l->r);
	assert_true(l->look->so_far);
	assert_int_equal(l->look->n_rows, result_found(l->r));
	assert_true(l->look->n_rows > l->most);
	l->most = l->look->n_rows;
	for (size_t row = 0; row < l->look->n_rows; row++) {
		result_cell(l->look, row, 0, &c);
		assert_int_equal(c.amount.n, 2 * row);
	}
	return false;
}

static void test_looked_at(void **state)
{
	enum { ROWS = 5 * RESULT_STOP_EVERY };
	struct numbers n = {.number = calloc(ROWS, sizeof *n.number)};
	struct looking l = {.most = 0};
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		n.number[i] = i;
	struct result *r = l.r = result_new("n", NULL, &numbers, &numbers_ops, &n, ROWS);
	r->stop = look_on;
	r->stop_context = &l;
	assert_int_equal(result_filter(r, keep_even, NULL, NULL), 0);
	assert_in_range(l.most, ROWS / 2 - RESULT_STOP_EVERY, ROWS / 2);
	assert_int_equal(result_found(r), ROWS / 2);
	result_free(l.look);
	result_free(r);
	free(n.number);
}

static void test_filter_and_total(void **state)
{
	(void)state;
	uint64_t values[] = {5, 4, 3, 2, 8};
	struct numbers n = {.number = values};
	struct result *r = result_new("n", NULL, &numbers, &numbers_ops, &n, 5);
	struct cell c;
	result_total(r, 0, &c);
	assert_int_equal(c.amount.n, 22);
	assert_int_equal(result_sort(r, 0, false, NULL), 0); /* 2 3 4 5 8 */
	assert_int_equal(result_filter(r, keep_even, NULL, NULL), 0);
	assert_int_equal(r->n_rows, 3);
	result_total(r, 0, &c);
	assert_int_equal(c.amount.n, 14);
	result_cell(r, 1, 0, &c);
	assert_int_equal(c.amount.n, 4);
	result_keep_first(r, 2);
	result_total(r, 0, &c);
	assert_int_equal(c.amount.n, 6);
	assert_int_equal(c.amount.certainty, EXACT);
	result_show_all(r);
	assert_int_equal(r->n_rows, 5);
	result_cell(r, 4, 0, &c);
	assert_int_equal(c.amount.n, 8);
	values[0] = NOTHING;
	result_show_all(r);
	result_total(r, 0, &c);
	assert_int_equal(c.amount.n, 17);
	assert_int_equal(c.amount.certainty, LOWER_BOUND); /* one is not known */
	result_free(r);
}

/* A sum that is known otherwise makes a total as sure, if it is the same and of all rows. */
static void test_known_sum(void **state)
{
	(void)state;
	uint64_t values[] = {5, NOTHING, 7};
	struct numbers n = {.number = values};
	struct result *r = result_new("n", NULL, &numbers, &numbers_ops, &n, 3);
	const enum column_id column = r->columns[0].id;
	struct cell sum;
	r->known_sum[1] = (struct known_sum){column, amount_exact(13)};
	result_total(r, 0, &sum);
	assert_int_equal(sum.amount.certainty, LOWER_BOUND);
	r->known_sum[1].sum = amount_exact(12);
	result_changed(r);
	result_total(r, 0, &sum);
	assert_int_equal(sum.amount.n, 12);
	assert_int_equal(sum.amount.certainty, EXACT);
	sum.amount = amount_weaken(sum.amount, INFERRED, REASON_NAMES_SHARED);
	result_sum_end(r, 0, &sum, 1);
	assert_int_equal(sum.amount.certainty, EXACT);
	result_keep_first(r, 2);
	sum.amount = amount_weaken(amount_exact(12), INFERRED, REASON_NAMES_SHARED);
	result_sum_end(r, 0, &sum, 1);
	assert_int_equal(sum.amount.certainty, INFERRED);
	result_free(r);
}

/* --- cursors ----------------------------------------------------------------------------------- */

static void expect_text(const struct cell *c, const char *wanted)
{
	assert_int_equal(c->type, CELL_TEXT);
	assert_string_equal(c->text, wanted);
}

/* What one cursor read stays while others read the same result, also one that was picked from it. */
static void test_cursors(void **state)
{
	char one[] = "one", two[] = "two", three[] = "three", four[] = "four", *words[] = {one, two, three, four};
	uint64_t any[4] = {0};
	struct numbers n = {.number = any, .text = words};
	struct cell a, b, c;
	struct cursor first, second;
	(void)state;
	struct result *r = result_new("n", NULL, &texts, &numbers_ops, &n, 4);
	for (int picked = 0; picked < 2; picked++) {
		assert_int_equal(result_sort(r, 0, false, NULL), 0); /* four one three two */
		cursor_init(&first, r);
		cursor_init(&second, r);
		cursor_cell(&first, 0, 0, &a);
		cursor_cell(&second, 1, 0, &b);
		result_cell(r, 2, 0, &c);
		expect_text(&a, "four");
		expect_text(&b, "one");
		expect_text(&c, "three");
		assert_ptr_not_equal(a.text, b.text);
		cursor_cell(&second, 3, 0, &b);
		expect_text(&a, "four");
		expect_text(&b, "two");
		/* a row by its text, which another cursor holds */
		assert_int_equal(cursor_find(&first, 0, &b), 3);
		expect_text(&b, "two");
		b = cell_text("five");
		assert_int_equal(cursor_find(&first, 0, &b), SIZE_MAX);
		cursor_release(&first);
		cursor_release(&second);
		r = picked ? r : result_pick(r, (unsigned[]){0}, 1);
	}
	result_free(r);
}

/* A number is found where it is shown now, and nowhere when it is not; what is unknown never is. */
static void test_find(void **state)
{
	uint64_t values[] = {5, 4, NOTHING, 3, 8};
	struct numbers n = {.number = values};
	struct cursor c;
	(void)state;
	struct result *r = result_new("n", NULL, &numbers, &numbers_ops, &n, 5);
	struct cell eight = cell_count(amount_exact(8)), three = cell_count(amount_exact(3));
	struct cell bytes = cell_bytes(amount_exact(8)), none = cell_none();
	cursor_init(&c, r);
	assert_int_equal(cursor_find(&c, 0, &eight), 4);
	assert_int_equal(result_sort(r, 0, true, NULL), 0); /* 8 5 4 3 ? */
	assert_int_equal(cursor_find(&c, 0, &eight), 0);
	assert_int_equal(cursor_find(&c, 0, &three), 3);
	assert_int_equal(cursor_find(&c, 0, &bytes), SIZE_MAX); /* eight bytes are not eight things */
	assert_int_equal(cursor_find(&c, 0, &none), SIZE_MAX);
	assert_int_equal(result_filter(r, keep_even, NULL, NULL), 0);
	assert_int_equal(cursor_find(&c, 0, &three), SIZE_MAX);
	cursor_release(&c);
	result_free(r);
}

/* --- amounts and changes ------------------------------------------------------------------------ */

static void amount_is(struct amount a, uint64_t n, enum certainty certainty, enum reason reason)
{
	assert_true(a.n == n);
	assert_int_equal(a.certainty, certainty);
	assert_int_equal(a.reason, reason);
}

static void test_amounts(void **state)
{
	(void)state;
	struct amount five = amount_exact(5), none = amount_unknown(REASON_SILENT);
	struct amount least = amount_weaken(amount_exact(7), LOWER_BOUND, REASON_DAMAGED);
	struct amount about = amount_weaken(amount_exact(9), INFERRED, REASON_ROOTS);
	amount_is(amount_add(five, five), 10, EXACT, REASON_NONE);
	amount_is(amount_add(five, least), 12, LOWER_BOUND, REASON_DAMAGED);
	amount_is(amount_add(about, least), 16, INFERRED, REASON_ROOTS);
	amount_is(amount_add(least, about), 16, INFERRED, REASON_ROOTS);
	/* what is not known makes a lower bound, and keeps its reason */
	amount_is(amount_add(five, none), 5, LOWER_BOUND, REASON_SILENT);
	amount_is(amount_add(none, about), 9, INFERRED, REASON_ROOTS);
	amount_is(amount_add(none, none), 0, UNKNOWN, REASON_SILENT);
	amount_is(amount_add(amount_exact(UINT64_MAX), five), UINT64_MAX, LOWER_BOUND, REASON_TOO_LARGE);
	/* nothing becomes surer, and of two reasons that weigh the same the first stays */
	amount_is(amount_weaken(about, LOWER_BOUND, REASON_JOINT), 9, INFERRED, REASON_ROOTS);
	amount_is(amount_weaken(about, INFERRED, REASON_BLOCK), 9, INFERRED, REASON_ROOTS);
	amount_is(amount_as_sure(five, none), 0, UNKNOWN, REASON_SILENT);
	/* a share of what is at least so much is no bound */
	amount_is(cell_percent(five, amount_exact(10)).amount, 500, EXACT, REASON_NONE);
	amount_is(cell_percent(least, amount_exact(14)).amount, 500, LOWER_BOUND, REASON_DAMAGED);
	amount_is(cell_percent(five, least).amount, 714, INFERRED, REASON_DAMAGED);
	assert_int_equal(cell_percent(five, none).type, CELL_NONE);
	assert_int_equal(cell_percent(amount_exact(UINT64_MAX), amount_exact(1)).type, CELL_NONE); /* no such share */
	assert_int_equal(cell_bytes(none).type, CELL_NONE);
}

static void test_changes(void **state)
{
	static const struct {
		uint64_t before, after;
		const char *count, *bytes, *plain;
	} cases[] = {
	    {5, 17, "+12", "+12", "12"},
	    {1234, 0, "-1,234", "-1.2K", "-1234"},
	    {3, 3, "0", "0", "0"},
	    {0, UINT64_C(3) << 20, "+3,145,728", "+3.0M", "3145728"},
	    {UINT64_MAX, 0, "~-9,223,372,036,854,775,807", "~-8.0E", "-9223372036854775807"},
	};
	struct text t = TEXT_INIT;
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct amount before = amount_exact(cases[i].before), after = amount_exact(cases[i].after);
		struct cell count = cell_delta(before, after), bytes = cell_bytes_delta(before, after);
		text_clear(&t);
		cell_print(&count, &t);
		assert_string_equal(t.s, cases[i].count);
		text_clear(&t);
		cell_print(&bytes, &t);
		assert_string_equal(t.s, cases[i].bytes);
		text_clear(&t);
		cell_print_plain(&bytes, &t);
		assert_string_equal(t.s, cases[i].plain);
		assert_true(cell_is_number(bytes.type));
	}
	/* how sure: a lower bound only where the later number is one and the earlier is exact */
	struct amount one = amount_exact(1), least = amount_weaken(amount_exact(7), LOWER_BOUND, REASON_DAMAGED);
	amount_is(amount_change(one, least), 6, LOWER_BOUND, REASON_DAMAGED);
	amount_is(amount_change(least, one), (uint64_t)-6, INFERRED, REASON_DAMAGED);
	amount_is(amount_change(one, amount_unknown(REASON_SILENT)), 0, UNKNOWN, REASON_SILENT);
	/* sums go up and down, and end where 64 bits do */
	struct cell sum = cell_delta(one, one), up = cell_delta(amount_exact(0), amount_exact(10));
	struct cell down = cell_delta(amount_exact(25), amount_exact(0));
	result_sum(&sum, &up);
	result_sum(&sum, &down);
	assert_int_equal(amount_signed(sum.amount), -15);
	struct cell lowest = cell_delta(amount_exact(INT64_MAX), amount_exact(0));
	result_sum(&sum, &lowest);
	amount_is(sum.amount, (uint64_t)-INT64_MAX, INFERRED, REASON_TOO_LARGE);
	text_release(&t);
}

/* Rows of changes are sorted by what they are, not by their bits. */
static void changes_cell(
    const struct result *r, size_t row, unsigned column, struct cell *out, struct text *scratch)
{
	const uint64_t *after = r->data;
	(void)column;
	(void)scratch;
	*out = cell_bytes_delta(amount_exact(1000), amount_exact(after[row]));
}

static void test_sort_changes(void **state)
{
	static const struct result_ops ops = {.cell = changes_cell};
	static const struct column columns[] = {{.id = COL_SHALLOW}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	uint64_t after[] = {1005, 0, 1000, 999, UINT64_C(1) << 40, 400};
	const int64_t up[] = {-1000, -600, -1, 0, 5, (INT64_C(1) << 40) - 1000};
	struct result *r = result_new("changes", NULL, &shape, &ops, after, 6);
	(void)state;
	for (int descending = 0; descending < 2; descending++) {
		assert_int_equal(result_sort(r, 0, descending, NULL), 0);
		for (size_t i = 0; i < 6; i++) {
			struct cell c;
			result_cell(r, i, 0, &c);
			assert_true(amount_signed(c.amount) == up[descending ? 5 - i : i]);
		}
	}
	result_free(r);
}

/* The catalogue has no hole, is in order, and says of each word in one line what it means. */
static void test_catalogue(void **state)
{
	(void)state;
	for (unsigned i = COL_OWN_NAME + 1; i < COL_COUNT_OF_ALL; i++) {
		const struct column_kind *kind = &column_kinds[i], *before = kind - 1;
		assert_non_null(kind->word);
		assert_int_equal(strspn(kind->word, "abcdefghijklmnopqrstuvwxyz_"), strlen(kind->word));
		int order = strcmp(before->word, kind->word);
		assert_true(order < 0 || (order == 0 && before->type != kind->type));
		assert_int_not_equal(kind->type, CELL_NONE);
		assert_true(kind->meaning[0] && !strchr(kind->meaning, '.'));
		assert_in_range(text_width(kind->meaning), 5, 57); /* beside the longest word on 80 columns */
		assert_int_equal(kind->one == NULL, kind->many == NULL);
		assert_true(kind->goes >= -1 && kind->goes <= 9);
		assert_true(kind->clip == CLIP_END || kind->type == CELL_TEXT);
		assert_true(!kind->contents || kind->type == CELL_TEXT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sort),
	    cmocka_unit_test(test_sort_values),
	    cmocka_unit_test(test_catalogue),
	    cmocka_unit_test(test_cursors),
	    cmocka_unit_test(test_find),
	    cmocka_unit_test(test_filter_and_total),
	    cmocka_unit_test(test_known_sum),
	    cmocka_unit_test(test_stopped),
	    cmocka_unit_test(test_looked_at),
	    cmocka_unit_test(test_group),
		cmocka_unit_test(test_cell_of_column),
	    cmocka_unit_test(test_amounts),
	    cmocka_unit_test(test_changes),
	    cmocka_unit_test(test_sort_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
