/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_boxes.c - where boxes of a line stand, and the words in them. */
#include "view/page/boxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 40 };

/* --- where ------------------------------------------------------------------------------------- */

/* By another rule: columns are counted whose middle is among the bytes. */
static int columns_before(uint64_t bytes, uint64_t whole, int width)
{
	int n = 0;
	for (int column = 0; column < width; column++)
		n += (2 * (uint64_t)column + 1) * whole <= 2 * bytes * (uint64_t)width;
	return n;
}

static int larger_first(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
	return (a < b) - (a > b);
}

static uint64_t random_below(uint64_t most)
{
	uint64_t r = 0;
	for (int i = 0; i < 5; i++)
		r = r << 13 ^ (uint64_t)rand();
	return r % most;
}

struct line {
	uint64_t part[PARTS], all, whole;
	size_t n;
	int x, width, least;
};

static struct line random_line(uint64_t most)
{
	struct line l = {.n = (size_t)rand() % PARTS, .x = rand() % 9, .width = rand() % 210, .least = 1 + rand() % 12};
	for (size_t i = 0; i < l.n; i++) /* some much larger than others */
		l.all += l.part[i] = random_below(1 + (most >> rand() % 30));
	qsort(l.part, l.n, sizeof *l.part, larger_first);
	l.all += rand() % 2 ? random_below(1 + l.all) : 0;
	l.whole = l.all + (rand() % 2 ? random_below(1 + l.all) : 0);
	return l;
}

/* Next to each other, none narrower than it may be, none over the right edge. */
static void check_line(const struct line *l, const struct box *box, size_t n)
{
	int at = l->x;
	for (size_t i = 0; i < n; i++) {
		bool others = box[i].part == l->n;
		assert_int_equal(box[i].x, at);
		assert_true(box[i].width >= (others ? 3 : l->least));
		assert_true(others ? i + 1 == n : box[i].part == i);
		at += box[i].width;
	}
	assert_true(at <= l->x + l->width);
}

/* What the last box takes in addition: its share ends before the line. */
static int left_over(const struct line *l, const struct box *box, size_t n)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < n && i < l->n; i++)
		bytes += l->part[i];
	int end = columns_before(n && box[n - 1].part == l->n ? l->all : bytes, l->whole, l->width);
	return l->width - end < 3 ? l->width - end : 0;
}

static void places(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		struct line l = random_line((uint64_t)1 << 26);
		struct box box[PARTS + 1];
		size_t n = boxes_place(l.part, l.n, l.all, l.whole, l.x, l.width, l.least, box);
		uint64_t sum = 0;
		size_t at = 0;
		check_line(&l, box, n);
		for (; at < l.n; at++) { /* the parts before the first that is too narrow have boxes, which end where they do */
			int begin = columns_before(sum, l.whole, l.width), end = columns_before(sum + l.part[at], l.whole, l.width);
			if (!l.whole || end - begin < l.least)
				break;
			assert_true(at < n && box[at].part == at);
			assert_int_equal(box[at].x, l.x + begin);
			assert_true(box[at].width - (end - begin) == (at + 1 == n ? left_over(&l, box, n) : 0));
			sum += l.part[at];
		}
		int rest = columns_before(l.all, l.whole, l.width) - columns_before(sum, l.whole, l.width);
		assert_int_equal(n - at, l.whole && rest >= 3);
		if (n > at)
			assert_true(box[at].width - rest == left_over(&l, box, n));
	}
}

/* Where all is shown the widths are together the line's. */
static void sums(void **state)
{
	(void)state;
	srand(2);
	for (int round = 0; round < 20000; round++) {
		struct line l = random_line((uint64_t)1 << 50); /* a petabyte */
		struct box box[PARTS + 1];
		size_t n = boxes_place(l.part, l.n, l.all, l.all, l.x, l.width, l.least, box);
		int sum = 0;
		check_line(&l, box, n);
		for (size_t i = 0; i < n; i++)
			sum += box[i].width;
		assert_int_equal(sum, l.all && (n || l.width >= 3) ? l.width : 0);
	}
}

/* Lower bounds may be more than what they are parts of: still nothing is over the edge. */
static void too_much(void **state)
{
	struct box box[3];
	const uint64_t part[] = {70, 60};
	(void)state;
	assert_int_equal(boxes_place(part, 2, 100, 90, 5, 26, 1, box), 2);
	assert_int_equal(box[0].width, 14);
	assert_int_equal(box[1].x + box[1].width, 31);
	assert_int_equal(boxes_place(part, 0, 0, 0, 5, 26, 1, box), 0);
	assert_int_equal(boxes_place((const uint64_t[]){0, 0}, 2, 0, 0, 5, 26, 1, box), 0);
}

/* --- words ------------------------------------------------------------------------------------- */

static void says(const char *branch, int width, const char *wanted)
{
	struct text t = TEXT_INIT;
	boxes_words(branch, "80.0K", "37%", width, &t);
	assert_string_equal(t.len ? t.s : "", wanted);
	assert_true((int)text_width(wanted) <= width);
	text_release(&t);
}

static void of_fields(void **state)
{
	static const char branch[] = "static AuditLog.ENTRIES  ArrayList";
	(void)state;
	says(branch, 44, "static AuditLog.ENTRIES  ArrayList 80.0K 37%");
	says(branch, 43, "static AuditLog.ENTRIES  ArrayList 80.0K");
	says(branch, 39, "static AuditLog.ENTRIES 80.0K 37%");
	says(branch, 29, "static AuditLog.ENTRIES 80.0K");
	says(branch, 28, "AuditLog.ENTRIES 80.0K 37%");
	says(branch, 16, "AuditLog.ENTRIES");
	says(branch, 15, "ENTRIES 80.0K");
	says(branch, 12, "ENTRIES");
	says(branch, 6, "");
	says(branch, 0, "");
	says("orders  ArrayList", 15, "orders 80.0K");
	says("orders  ArrayList > elementData  Object[]", 26, "orders  ArrayList 80.0K");
	says("main.Chain  100,000 \u00d7 main.Link", 20, "main.Chain 80.0K 37%");
}

/* What is one of several fields, or a place, says less than its class. */
static void of_classes(void **state)
{
	(void)state;
	says("60 \u00d7 Session", 22, "60 \u00d7 Session 80.0K 37%");
	says("[\u2026]  60 \u00d7 Session", 18, "60 \u00d7 Session 80.0K");
	says("60 \u00d7 Session", 14, "Session 80.0K");
	says("60 \u00d7 Session", 7, "Session");
	says("60 \u00d7 Session", 6, "");
	says("via Order.customer  64 \u00d7 Customer", 14, "Customer 80.0K");
	says("static fields  4 \u00d7 Status > name  4 \u00d7 String", 12, "Status 80.0K");
	says("class objects, own bytes  62 \u00d7 Class", 13, "class objects");
	says("class loaders, own bytes", 14, "class loaders");
	says("thread \"main\"  Thread", 13, "thread \"main\"");
	says("Java local, thread \"t\", A.b(A.java:1)  ArrayList", 15, "ArrayList 80.0K");
}

/* A character of two columns is never halved, and columns are counted, not bytes. */
static void of_wide_letters(void **state)
{
	(void)state;
	says("static \u5e97.\u6ce8\u6587  Shop", 20, "static \u5e97.\u6ce8\u6587 80.0K");
	says("static \u5e97.\u6ce8\u6587  Shop", 19, "\u5e97.\u6ce8\u6587 80.0K 37%");
	says("static \u5e97.\u6ce8\u6587  Shop", 7, "\u5e97.\u6ce8\u6587");
	says("static \u5e97.\u6ce8\u6587  Shop", 6, "\u6ce8\u6587");
	says("static \u5e97.\u6ce8\u6587  Shop", 3, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(places),
	    cmocka_unit_test(sums),
	    cmocka_unit_test(too_much),
	    cmocka_unit_test(of_fields),
	    cmocka_unit_test(of_classes),
	    cmocka_unit_test(of_wide_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
