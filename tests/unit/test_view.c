/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_view.c - what of the screen needs no terminal: matching words, cards, reasons, the history file.
 */
#include "base/err.h"
#include "heap/amounts.h"
#include "heap/heap.h"
#include "opened/opened.h"
#include "result/why.h"
#include "view/eta.h"
#include "view/history.h"
#include "view/match.h"
#include "view/table/table_layout.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static bool matches(const char *words, const char *s)
{
	struct match m;

	match_init(&m, words);
	bool yes = match_text(&m, s);
	match_release(&m);
	return yes;
}

static void words(void **state)
{
	(void)state;
	assert_true(matches("", "anything"));
	assert_true(matches("  ", "anything"));
	assert_true(matches("string", "java.lang.String"));
	assert_true(matches("String", "java.lang.String"));
	assert_false(matches("STRING", "java.lang.String"));
	assert_true(matches("node hash", "java.util.HashMap$Node"));
	assert_false(matches("node tree", "java.util.HashMap$Node"));
	assert_true(matches("char[]", "char[]"));
	assert_false(matches("char[]", "char"));
	assert_true(matches("日本", "com.acme.日本.注文"));
}

static void stars(void **state)
{
	(void)state;
	assert_true(matches("util*node", "java.util.HashMap$Node"));
	assert_false(matches("node*util", "java.util.HashMap$Node"));
	assert_true(matches("*", ""));
	assert_true(matches("a**b", "ab"));
	assert_true(matches("ab*ab", "abab"));
	assert_false(matches("ab*ab", "aba"));
	assert_true(matches("*map*", "HashMap"));
}

/* Rows of hidden columns match only where they are shown. */
static void rows(void **state)
{
	static const struct column columns[] = {
	    {.id = COL_CLASS},
	    {.id = COL_SUPERCLASS, .hidden = true},
	    {.id = COL_ADDRESS},
	    {.id = COL_OBJECTS},
	};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	(void)state;
	struct result *r = result_new_rows("t", NULL, &shape);
	result_add_row(r, (struct cell[]){cell_text("Dog"), cell_text("Animal"),
	    cell_address(0xbeef), cell_count(amount_exact(77))}, NULL);
	struct match m;
	match_init(&m, "animal");
	assert_false(match_row(&m, r, 0));
	result_show(r, 1, true);
	assert_true(match_row(&m, r, 0));
	match_release(&m);
	match_init(&m, "dog beef");
	assert_true(match_row(&m, r, 0));
	match_release(&m);
	match_init(&m, "77"); /* numbers are not text */
	assert_false(match_row(&m, r, 0));
	match_release(&m);
	match_init(&m, "dog0x"); /* no word spans two cells */
	assert_false(match_row(&m, r, 0));
	match_release(&m);
	result_free(r);
}

/* --- cards ------------------------------------------------------------------------------------- */

static const struct column card_columns[] = {
    {.id = COL_NAME, .card = CARD_HEAD},
    {.id = COL_CONTENTS, .hidden = true, .card = CARD_BELOW},
    {.id = COL_REMEDY, .hidden = true, .card = CARD_BELOW_LEFT},
    {.id = COL_COURSE, .hidden = true, .card = CARD_BELOW_RIGHT},
};
static const struct shape card_shape = {SHAPE_COLUMNS(card_columns)};

static struct cell text_cell(const char *s)
{
	return s ? cell_text(s) : cell_blank();
}

static int lines_of_card(const char *below, const char *left, const char *right, int width)
{
	struct result *r = result_new_rows("t", NULL, &card_shape);
	struct table t;

	result_add_row(r, (struct cell[]){cell_text("a"), text_cell(below), text_cell(left), text_cell(right)}, NULL);
	table_init(&t, r);
	int n = table_cards_lines(&t, (struct rect){.width = width, .height = 20}, 100);
	table_release(&t);
	result_free(r);
	return n;
}

/* The line of the row and those below it; four, or five if what is left below needs three. */
static void card_lines(void **state)
{
	static const char fifty[] = "one two three four five six seven eight nine ten..";
	static const char hundred[] = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
	    "fifteen sixteen seventeen";
	(void)state;
	assert_int_equal(lines_of_card(NULL, NULL, NULL, 80), 1);
	assert_int_equal(lines_of_card(fifty, NULL, NULL, 80), 2);
	assert_int_equal(lines_of_card(hundred, NULL, NULL, 80), 3);
	assert_int_equal(lines_of_card(fifty, fifty, NULL, 80), 3);
	assert_int_equal(lines_of_card(fifty, "clear it", "1 2 3", 80), 3); /* both on one line */
	assert_int_equal(lines_of_card(fifty, fifty, fifty, 80), 4);        /* on two */
	assert_int_equal(lines_of_card(NULL, NULL, "1 2 3", 80), 2);
	assert_int_equal(lines_of_card(hundred, hundred, fifty, 80), 4);
	assert_int_equal(lines_of_card(hundred, hundred, hundred, 30), 5);
	assert_int_equal(lines_of_card(hundred, "one two three four five six", NULL, 30), 4);
	assert_int_equal(lines_of_card("com.acme.shop.AuditLog", NULL, NULL, 20), 2); /* names are shortened first */
	assert_int_equal(lines_of_card(fifty, fifty, fifty, 4), 1);
	assert_int_equal(lines_of_card(fifty, fifty, fifty, 0), 1);
}

static struct result *ten_cards(void)
{
	struct result *r = result_new_rows("t", NULL, &card_shape);

	for (unsigned i = 0; i < 10; i++) /* of 3 and 4 lines by turns, with the empty one */
		result_add_row(r, (struct cell[]){cell_text("a"), cell_text("b"), text_cell(i % 2 ? "c" : NULL), cell_blank()},
		    NULL);
	return r;
}

/* The selected card is seen whole, and the last line is not left empty while there are cards above. */
static void cards_in_sight(void **state)
{
	struct result *r = ten_cards();
	struct table t;

	(void)state;
	table_init(&t, r);
	assert_true(table_has_cards(&t));
	t.lines = 12;
	t.at = (struct rect){.width = 80, .height = 13};
	table_show_selected(&t);
	assert_int_equal(t.top, 0);
	assert_int_equal(table_cards_seen(&t), 3); /* 3 + 4 + 3 lines, and two of the fourth */
	t.row = 3;
	table_show_selected(&t);
	assert_int_equal(t.top, 1); /* 4 + 3 + 4 lines, the last one of them empty */
	t.row = 9;
	table_show_selected(&t);
	assert_int_equal(t.top, 7);
	t.row = 8;
	table_show_selected(&t);
	assert_int_equal(t.top, 7);
	t.row = 0;
	table_show_selected(&t);
	assert_int_equal(t.top, 0);
	assert_int_equal(table_card_at(&t, 0), 0);
	assert_int_equal(table_card_at(&t, 2), 0);
	assert_int_equal(table_card_at(&t, 3), 1);
	assert_int_equal(table_card_at(&t, 6), 1);
	assert_int_equal(table_card_at(&t, 7), 2);
	assert_true(table_card_at(&t, 35) == SIZE_MAX);
	t.lines = 1; /* less than a card */
	t.row = 5;
	table_show_selected(&t);
	assert_int_equal(t.top, 5);
	assert_int_equal(table_cards_seen(&t), 1);
	table_release(&t);
	result_free(r);
}

/* What is read in a card is found there, though its columns are hidden. */
static void words_of_cards(void **state)
{
	struct result *r = ten_cards();
	struct match m;

	(void)state;
	match_init(&m, "c");
	assert_false(match_row(&m, r, 0));
	assert_true(match_row(&m, r, 1));
	match_release(&m);
	result_free(r);
}

/* --- why --------------------------------------------------------------------------------------- */

static const struct column why_columns[] = {
    {.id = COL_CLASS},
    {.id = COL_OBJECTS},
    {.id = COL_SHALLOW},
    {.id = COL_CERTAINTY},
    {.id = COL_LENGTH, .hidden = true},
};
static const struct shape why_shape = {SHAPE_COLUMNS(why_columns)};

/* What is told of a row with these two numbers and this word, on a dump of this kind. */
static void tells(struct heap *h, struct cell objects, struct cell shallow, struct amount certainty,
    bool hidden, const char *wanted)
{
	struct text said = TEXT_INIT;
	struct result *r = result_new_rows("t", &(struct opened){.heap = h}, &why_shape);

	result_add_row(r, (struct cell[]){cell_text("Dog"), objects, shallow, cell_certainty(certainty),
	    cell_none()}, NULL);
	result_show(r, 4, hidden);
	why_explain(r, 0, NULL, 0, &said);
	assert_string_equal(said.s, wanted);
	text_release(&said);
	result_free(r);
}

/* A number that is sure beside a share of what is not. */
static void tells_beside(struct heap *h)
{
	struct text said = TEXT_INIT;
	struct result *r = result_new_rows("t", &(struct opened){.heap = h}, &why_shape);
	struct amount whole = amount_weaken(amount_exact(160), LOWER_BOUND, REASON_JOINT);
	struct why_value beside[] = {{"its share", cell_percent(amount_exact(80), whole)}, {"its sum", cell_bytes(whole)}};

	result_add_row(r, (struct cell[]){cell_text("Dog"), cell_count(amount_exact(7)), cell_bytes(amount_exact(80)),
	    cell_certainty(amount_exact(0)), cell_none()}, NULL);
	why_explain(r, 0, beside, 2, &said);
	assert_non_null(strstr(said.s, "its sum >=160 is a lower bound: it excludes objects"));
	assert_non_null(strstr(said.s, "\nits share ~50.0% is inferred: it excludes objects"));
	assert_non_null(strstr(said.s, "\nthe other numbers are exact"));
	text_release(&said);
	result_free(r);
}

static void reasons(void **state)
{
	struct heap h = {.facts = {.title = "PHD", .roots_recorded = true}};
	struct cell seven = cell_count(amount_exact(7)), bytes = cell_bytes(amount_exact(80));
	struct amount sure = amount_exact(0), by_roots = amount_weaken(sure, INFERRED, REASON_ROOTS);
	(void)state;
	tells(&h, seven, bytes, sure, false, "all numbers of this row are exact");
	tells_beside(&h);
	tells(&h, cell_none(), bytes, sure, false,
	    "objects is unknown: PHD does not record it\nthe other numbers are exact");
	tells(&h, cell_none(), cell_none(), sure, false, "objects, shallow are unknown: PHD does not record it");
	tells(&h, seven, cell_unknown(REASON_NOT_FOUND_YET), sure, false,
	    "shallow is unknown: retained sizes are not computed yet\nthe other numbers are exact");
	/* what is not shown is not told of, unless it is */
	tells(&h, seven, bytes, sure, true,
	    "length is unknown: PHD does not record it\nthe other numbers are exact");
	tells(&h, cell_blank(), cell_blank(), sure, false, "nothing of this row is uncertain");
	h.n_unknown_size = 2;
	tells(&h, seven, cell_bytes(heap_sized(&h, amount_exact(80), 0, 2)), sure, false,
	    "shallow >=80 is a lower bound: the dump does not record the size of 2 objects\n"
	    "the other numbers are exact");
	tells(&h, cell_count(amount_weaken(amount_exact(7), LOWER_BOUND, REASON_MORE)), cell_blank(), by_roots,
	    false, "objects >=7 is a lower bound: counting stopped there, because there are many\ncertainty is "
	    "inferred: the dump's roots include no system class, so cairn uses the classes of the boot loader");
	h.facts.roots_recorded = false;
	tells(&h, cell_count(heap_held(&h, 7)), cell_blank(), by_roots, false,
	    "objects ~7, certainty are inferred: PHD records no roots, so cairn uses system classes, threads "
	    "and every object that nothing references");
	h.size_model = "as a model says";
	tells(&h, cell_blank(), bytes, sure, false,
	    "all numbers of this row are exact\nsizes are computed: as a model says");
}

/* Every reason has a sentence, whatever it makes of a number. */
static void every_reason(void **state)
{
	struct heap h = {.facts = {.title = "PHD"}, .damaged = true, .incomplete = true,
	    .damage = {.message = "x: cut at byte 9"}};
	struct result *r = result_new_rows("t", &(struct opened){.heap = &h}, &why_shape);
	struct text said = TEXT_INIT, with = TEXT_INIT;
	(void)state;
	for (enum reason reason = REASON_NONE + 1; reason < REASONS; reason++) {
		for (enum certainty c = LOWER_BOUND; c <= UNKNOWN; c++) {
			struct cell cell = cell_count(amount_weaken(amount_exact(7), c, reason));
			assert_int_equal(why_one(r, WHY_NO_ROW, 0, &cell, &said), c);
			text_clear(&with);
			text_addf(&with, "%s%s: ", c == LOWER_BOUND ? "a " : "", certainty_name(c));
			assert_memory_equal(said.s, with.s, with.len);
			assert_true(said.len > with.len);
		}
	}
	text_release(&said);
	text_release(&with);
	result_free(r);
}

static void reasons_damaged(void **state)
{
	struct heap h = {.facts = {.title = "PHD", .roots_recorded = true}, .damaged = true, .incomplete = true,
	    .damage = {.code = ERR_TRUNCATED, .message = "x: cut at byte 9"}};
	struct cell seven = cell_count(amount_exact(7)), bytes = cell_bytes(amount_exact(80));
	(void)state;
	tells(&h, cell_count(heap_counted(&h, 7)), cell_bytes(heap_counted(&h, 80)), amount_exact(0), false,
	    "objects >=7, shallow >=80 are lower bounds: x: cut at byte 9");
	tells(&h, cell_count(heap_held(&h, 7)), cell_blank(), amount_exact(0), false,
	    "objects ~7 is inferred: x: cut at byte 9; the unread part may make it smaller or larger");
	tells(&h, seven, bytes, amount_exact(0), false,
	    "all numbers of this row are exact\nin the part that was read: x: cut at byte 9");
}

/* --- history ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/cairn-test-XXXXXX";
static char file[64];

static int make_home(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof file, "%s/cairn/history", folder);
	return setenv("XDG_STATE_HOME", folder, 1);
}

static int drop_home(void **state)
{
	char inner[64];
	(void)state;
	snprintf(inner, sizeof inner, "%s/cairn", folder);
	unlink(file);
	rmdir(inner);
	return rmdir(folder);
}

static void free_lines(char **line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(line[i]);
	free(line);
}

static void kept(void **state)
{
	size_t n;
	struct stat st;
	(void)state;
	char **line = history_read(&n);
	assert_int_equal(n, 0);
	free_lines(line, n);
	history_append("histo");
	history_append("ls char[]");
	history_append("histo");
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	line = history_read(&n);
	assert_int_equal(n, 2);
	assert_string_equal(line[0], "ls char[]");
	assert_string_equal(line[1], "histo");
	free_lines(line, n);
}

static void cut(void **state)
{
	size_t n;
	char text[32];
	(void)state;
	for (int i = 0; i < 1600; i++) {
		snprintf(text, sizeof text, "ls C%d", i);
		history_append(text);
	}
	char **line = history_read(&n);
	assert_int_equal(n, 1000);
	assert_string_equal(line[0], "ls C600");
	assert_string_equal(line[999], "ls C1599");
	free_lines(line, n);
	/* the file was cut, too, and what another program appends afterwards is not lost */
	history_append("info");
	line = history_read(&n);
	assert_int_equal(n, 1000);
	assert_string_equal(line[n - 1], "info");
	free_lines(line, n);
	FILE *f = fopen(file, "r");
	assert_non_null(f);
	size_t lines = 0;
	for (int c; (c = getc(f)) != EOF;)
		lines += c == '\n';
	fclose(f);
	assert_int_equal(lines, 1001);
}

/* A file that ends within a line, or is full of zeros, harms nobody. */
static void odd(void **state)
{
	size_t n;
	(void)state;
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	fwrite("one\n\n\ntwo\n\0\0\0\nhal", 1, 18, f);
	fclose(f);
	char **line = history_read(&n);
	assert_true(n >= 2);
	assert_string_equal(line[0], "one");
	assert_string_equal(line[1], "two");
	for (size_t i = 0; i < n; i++)
		assert_string_not_equal(line[i], "hal");
	free_lines(line, n);
}

/* --- time left --------------------------------------------------------------------------------- */

/* A job of two phases, and the share of the first. */
#define FIRST PHASE_READ_OBJECTS
#define SECOND PHASE_ORDER_OBJECTS
static double first_share(void)
{
	return (double)phase_info[FIRST].share / (phase_info[FIRST].share + phase_info[SECOND].share);
}

#define NS UINT64_C(1000000000)

/* Seconds told at a moment of a phase, or -1. */
static double told(struct eta *p, enum phase phase, uint64_t done, uint64_t total, double now)
{
	struct progress progress = PROGRESS_INIT;
	struct text t = TEXT_INIT;
	double left = -1;

	progress_phase(&progress, phase, total);
	atomic_store(&progress.done, done);
	text_clear(&t);
	eta_add_left(p, &progress, (uint64_t)(now * NS) + NS, &t);
	if (t.len > 0)
		assert_int_equal(sscanf(t.s, ", %lf s left", &left), 1);
	text_release(&t);
	return left;
}

/* A job that takes the shares it is said to: the truth within a second, all the way. */
static void steady(void **state)
{
	struct eta p = {.left = -1};

	double half = 40 * first_share();

	(void)state;
	for (double now = 0; now < 40; now += 0.1) {
		bool second = now >= half;
		double share = second ? (now - half) / (40 - half) : now / half;
		double left = told(&p, second ? SECOND : FIRST, (uint64_t)(share * 1000), 1000, now);
		if (now < 1)
			assert_true(left < 0);
		if (now > 3)
			assert_true(left > 40 - now - 1.2 && left < 40 - now + 1.2);
	}
}

/* One whose second phase takes three times as long as its share: what is told never jumps. */
static void unsteady(void **state)
{
	struct eta p = {.left = -1};
	double before = -1;

	double half = 40 * first_share() / (first_share() + 3 * (1 - first_share()));

	(void)state;
	for (double now = 0; now < 40; now += 0.1) {
		bool second = now >= half;
		double share = second ? (now - half) / (40 - half) : now / half;
		double left = told(&p, second ? SECOND : FIRST, (uint64_t)(share * 1000), 1000, now);
		if (now > 4 && before >= 0)
			assert_true(left >= before - 2 && left <= before + 2);
		if (now > 38)
			assert_true(left >= 1 && left <= 4);
		before = left;
	}
}

/* Nothing is told of an unknown phase, nor of one that does not say how far it is, but that the clock
 * runs on. */
static void not_known(void **state)
{
	struct eta p = {.left = -1};

	(void)state;
	assert_true(told(&p, PHASE_NONE, 5, 10, 0) < 0);
	assert_true(told(&p, PHASE_NONE, 6, 10, 5) < 0);
	assert_true(told(&p, FIRST, 0, 0, 5) < 0);
	assert_true(told(&p, FIRST, 0, 0, 15) < 0);
	p = (struct eta){.left = -1};
	told(&p, FIRST, 0, 100, 0);
	double left = told(&p, FIRST, 100, 100, 4), truth = 4 / first_share() - 4;
	assert_true(left > truth - 0.6 && left < truth + 0.6);
	assert_true(told(&p, SECOND, 0, 0, 5) > 0);
	assert_true(told(&p, SECOND, 0, 0, 5 + truth) < 0);
}

/* A phase that only some dumps have counts once it is announced. */
static void announced(void **state)
{
	struct progress progress = PROGRESS_INIT;
	double left[2];

	(void)state;
	assert_true(phase_info[PHASE_FIND_TYPES].announced);
	for (int expected = 0; expected < 2; expected++) {
		struct eta p = {.left = -1};
		struct text t = TEXT_INIT;
		if (expected)
			progress_expect(&progress, PHASE_FIND_TYPES);
		progress_phase(&progress, PHASE_READ_REFERENCES, 100);
		eta_add_left(&p, &progress, NS, &t);
		atomic_store(&progress.done, 100);
		text_clear(&t);
		eta_add_left(&p, &progress, 11 * NS, &t);
		assert_int_equal(sscanf(t.s, ", %lf s left", &left[expected]), 1);
		text_release(&t);
	}
	double types = 10.0 * phase_info[PHASE_FIND_TYPES].share / phase_info[PHASE_READ_REFERENCES].share;
	assert_true(left[1] - left[0] > types - 1.1 && left[1] - left[0] < types + 1.1);
}

/* A phase that begins again has no share: it would run backwards.  A phase of known work has one, as before. */
static void no_share_again(void **state)
{
	struct progress progress = PROGRESS_INIT;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		progress_phase(&progress, PHASE_WALK_WHAT_IS_LEFT, 100);
		atomic_store(&progress.done, 71);
		assert_true(round ? eta_share(&progress) < 0 : eta_share(&progress) > 0.7);
		progress_phase(&progress, PHASE_READ_OBJECTS, 100);
		assert_true(eta_share(&progress) == 0);
	}
	progress_reset(&progress);
	progress_phase(&progress, PHASE_WALK_WHAT_IS_LEFT, 100);
	assert_true(eta_share(&progress) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words),
	    cmocka_unit_test(no_share_again),
	    cmocka_unit_test(stars),
	    cmocka_unit_test(rows),
	    cmocka_unit_test(card_lines),
	    cmocka_unit_test(cards_in_sight),
	    cmocka_unit_test(words_of_cards),
	    cmocka_unit_test(reasons),
		cmocka_unit_test(every_reason),
	    cmocka_unit_test(reasons_damaged),
	    cmocka_unit_test(kept),
	    cmocka_unit_test(cut),
	    cmocka_unit_test(odd),
	    cmocka_unit_test(steady),
	    cmocka_unit_test(unsteady),
	    cmocka_unit_test(not_known),
	    cmocka_unit_test(announced),
	};
	return cmocka_run_group_tests(tests, make_home, drop_home);
}
