/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_session.c - several dumps in one session: what is found of one, and kept of it, is its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/query/query.h"
#include "command/exec/exec.h"
#include "fake_heap.h"

static struct fake_heap monday, tuesday;
static struct opened *first, *second;
static struct session session;

/* The second heap has lost two of its roots, and with them what only they held. */
static int set_up(void **state)
{
	(void)state;
	fake_heap_fill(&monday);
	fake_heap_fill(&tuesday);
	tuesday.heap.n_roots = 1;
	session_init(&session);
	first = session_open(&session, NULL, &monday.heap);
	second = session_open(&session, NULL, &tuesday.heap);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_release(&session);
	fake_heap_release(&monday);
	fake_heap_release(&tuesday);
	return 0;
}

static struct result *answer(const char *line)
{
	struct err err = ERR_INIT;
	struct result *r = NULL;
	if (session_run_line(&session, line, &r, &err))
		fail_msg("%s: %s", line, err.message);
	return r;
}

static void refuse(const char *line, const char *wanted)
{
	struct err err = ERR_INIT;
	struct result *r = NULL;
	assert_int_not_equal(session_run_line(&session, line, &r, &err), 0);
	assert_string_equal(err.message, wanted);
}

static void test_the_last_opened_is_asked(void **state)
{
	(void)state;
	assert_ptr_equal(session.dump, second);
	assert_ptr_equal(answer("histo")->opened, second);
	session_use(&session, first);
	assert_ptr_equal(answer("histo")->opened, first);
}

/* Of 8 objects the roots of the first heap reach all, the one of the second #4, #1, #2, #0 and #6. */
static void test_findings_are_a_dump_s_own(void **state)
{
	struct err err = ERR_INIT;
	(void)state;
	for (int again = 0; again < 2; again++) {
		assert_int_equal(opened_find(first, FIND_REACHABLE, NULL, &err), 0);
		assert_int_equal(opened_reachable(first)->n.n, 8);
		assert_int_equal(opened_find(second, FIND_REACHABLE, NULL, &err), 0);
		assert_int_equal(opened_reachable(second)->n.n, 5);
	}
	assert_int_equal(opened_find(first, FIND_RETAINED, NULL, &err), 0);
	assert_null(opened_retained(second));
	assert_int_equal(opened_find(second, FIND_RETAINED, NULL, &err), 0);
	assert_int_equal(opened_retained(first)->dominators.n_reachable, 8);
	assert_int_equal(opened_retained(second)->dominators.n_reachable, 5);
}

static void test_sets_and_rows_are_a_dump_s_own(void **state)
{
	struct target target;
	(void)state;
	answer("$a = ls com.acme.Session");
	assert_int_equal(answer("ls $a")->n_rows, 2);
	session_use(&session, first);
	refuse("ls $a", "ls: no set \"$a\" ($a = COMMAND keeps one)");
	refuse("ls %1", "ls: %1: the last table is from dump 2 (use 2 switches to it)");
	refuse("x %1", "x: %1: the last table is from dump 2 (use 2 switches to it)");
	refuse("ls $_", "ls: $_: the last result is from dump 2 (use 2 switches to it)");
	result_target(session.results.last, 0, &target);
	assert_ptr_equal(target.opened, second);
	session_use(&session, second);
	assert_int_equal(answer("ls $a")->n_rows, 2);
	assert_int_equal(answer("ls %1")->n_rows, 1);
}

static void test_closing_one_leaves_the_other(void **state)
{
	(void)state;
	answer("histo");
	session_close(&session, second);
	assert_ptr_equal(session.dump, first);
	assert_null(session.results.last);
	assert_int_equal(answer("ls com.acme.Session")->n_rows, 2);
	session_close(&session, first);
	refuse("histo", "histo: no dump is open (cairn DUMP)");
}

/* --- long jobs --------------------------------------------------------------------------------- */

static unsigned jobs;
static struct progress watched;

static int count_job(void *context, long_work *work, void *argument, struct err *err)
{
	(void)context;
	jobs++;
	return work(argument, &watched, err);
}

/* Whatever is asked of a dump is one job, whatever it needs; what is asked of the session is none. */
static void test_a_command_is_a_job(void **state)
{
	static const char *const asked[] = {"histo", "histo -by package -retained", "ls com.acme.*",
	    "roots", "path 0x1050", "paths char[]", "dom", "leaks", "size char[]", "check -tree",
	    "info", "why", "x 0x1080", "$a = ls char[]"};
	static const char *const apart[] = {"help", "help histo", "history", "set"};
	(void)state;
	session_use(&session, first);
	session.hooks.work = count_job;
	for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
		jobs = 0;
		answer(asked[i]);
		assert_int_equal(jobs, 1);
	}
	for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
		jobs = 0;
		answer(apart[i]);
		assert_int_equal(jobs, 0);
	}
	watched.cancel = true;
	refuse("paths java.lang.String -weak", "paths: stopped");
	watched.cancel = false;
}

static void assert_holds(const char *path, const char *wanted)
{
	char holds[64] = "";
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t n = fread(holds, 1, sizeof holds - 1, f);
	fclose(f);
	assert_int_equal(n, strlen(wanted));
	assert_string_equal(holds, wanted);
}

/* The command itself is not stopped, only what is written of its rows. */
static int unwatched_job(void *context, long_work *work, void *argument, struct err *err)
{
	(void)context;
	return work(argument, NULL, err);
}

/* What was not written to its end is no result: the file is what it was before, or empty. */
static void test_a_stopped_file_is_taken_back(void **state)
{
	char path[] = "stopped-XXXXXX", line[64], said[128];
	int fd = mkstemp(path);
	(void)state;
	assert_true(fd >= 0 && write(fd, "before", 6) == 6 && !close(fd));
	answer("ls char[]");
	session.hooks.work = unwatched_job;
	progress_set_own(&watched);
	watched.cancel = true;
	snprintf(line, sizeof line, "ls char[] >> %s", path);
	snprintf(said, sizeof said, "%s: stopped; its earlier contents are unchanged", path);
	refuse(line, said);
	assert_holds(path, "before");
	snprintf(line, sizeof line, "save %s", path);
	snprintf(said, sizeof said, "save: %s: stopped; the file is empty", path);
	refuse(line, said);
	assert_holds(path, "");
	watched.cancel = false;
	progress_set_own(NULL);
	unlink(path);
}

static struct cell retained_of_row(struct result *r, const char *name)
{
	struct cell cell;
	int column = result_column(r, "retained");
	for (size_t row = 0; row < r->n_rows; row++) {
		result_cell(r, row, 0, &cell);
		if (!strcmp(cell.text, name)) {
			result_cell(r, row, (unsigned)column, &cell);
			return cell;
		}
	}
	fail_msg("no row %s", name);
	return cell_blank();
}

/*
 * com.acme has #4, #5 and #7, all roots, of 24, 24 and no known bytes.  #7 alone holds #3, of 16.  The
 * rest is held by #3 and #4 jointly, or by what is not of com.acme.
 */
static void test_cells_wait_for_what_they_need(void **state)
{
	struct err err = ERR_INIT;
	(void)state;
	session_use(&session, first);
	answer("histo -by package");
	struct result *r = session_take(&session);
	assert_false(result_is_late(r));
	assert_int_equal(retained_of_row(r, "com.acme").amount.certainty, UNKNOWN);
	assert_int_equal(opened_find(first, FIND_RETAINED, NULL, &err), 0);
	assert_true(result_is_late(r));
	/* known, but not summed: nobody sums while cells are drawn */
	assert_int_equal(retained_of_row(r, "com.acme").amount.certainty, UNKNOWN);
	result_take_late(r, result_find_late(r, NULL, &err));
	assert_false(result_is_late(r));
	assert_int_equal(retained_of_row(r, "com.acme").amount.n, 24 + 24 + 16);
	result_free(r);
}

static void expect_view(const char *name, const char *text, const char *place, const char *wanted)
{
	struct err err = ERR_INIT;
	assert_int_equal(ask_keep_view(&session, name, text, place, &err), *wanted ? ERR_USAGE : 0);
	assert_string_equal(err.message, wanted);
}

static void test_views_are_kept_by_name(void **state)
{
	(void)state;
	expect_view("small", "SELECT 1", "config:1", "");
	expect_view("large", "with a as (select 1) select * from a", "config:2", "");
	expect_view("SMALL", "VALUES (2)", "config:3", "");
	assert_string_equal(ask_view(&session, 0)->name, "SMALL");
	assert_string_equal(ask_view(&session, 0)->text, "VALUES (2)");
	assert_string_equal(ask_view_named(&session, "small")->place, "config:3");
	assert_string_equal(ask_view(&session, 1)->name, "large");
	assert_null(ask_view(&session, 2));
	assert_null(ask_view_named(&session, "smal"));
	expect_view("Entries", "SELECT 1", "config:4", "a table has this name already");
	expect_view("Entries_", "SELECT 1", "config:4", "");
	expect_view("ls", "SELECT 1", "config:5", "a command has this name already");
	expect_view("1st", "SELECT 1", "config:6", "invalid view name (use letters, digits and _)");
	expect_view("", "SELECT 1", "config:7", "invalid view name (use letters, digits and _)");
	assert_null(ask_view(&session, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_the_last_opened_is_asked, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_findings_are_a_dump_s_own, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_sets_and_rows_are_a_dump_s_own, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_closing_one_leaves_the_other, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_a_command_is_a_job, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_a_stopped_file_is_taken_back, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_cells_wait_for_what_they_need, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_views_are_kept_by_name, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
