/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_print.c - rows as text, CSV, JSON and markup; plots and bars.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/plot.h"
#include "result/print.h"

static const struct column number_columns[] = {{.id = COL_OBJECTS, .total = true}};
static const struct shape numbers = {SHAPE_COLUMNS(number_columns)};

static struct result *awkward(void)
{
	static const struct column columns[] = {
	    {.id = COL_NAME},
	    {.id = COL_ADDRESS},
	    {.id = COL_SHALLOW, .total = true},
	    {.id = COL_COUNT, .hidden = true},
	    {.id = COL_BOOT},
	};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	struct result *r = result_new_rows("t", NULL, &shape);
	result_add_row(r, (struct cell[]){cell_text("a,\"b\""), cell_address(0xE0000AF0),
	    cell_bytes(amount_exact(1536)), cell_count(amount_exact(7)), cell_flag(true)}, NULL);
	result_add_row(r, (struct cell[]){cell_text("\\n\xc3\xa9"), cell_none(),
	    cell_bytes(amount_weaken(amount_exact(12), INFERRED, REASON_ROOTS)), cell_none(), cell_flag(false)}, NULL);
	result_add_row(r, (struct cell[]){cell_none(), cell_blank(), cell_none(), cell_count(amount_exact(1234567)),
	    cell_blank()}, NULL);
	return r;
}

static void expect_print(struct result *r, struct print_options o, const char *wanted)
{
	char *printed = NULL;
	size_t n;
	FILE *f = open_memstream(&printed, &n);
	assert_int_equal(print_result(r, &o, f, NULL), 0);
	fclose(f);
	assert_string_equal(printed, wanted);
	free(printed);
}

static void test_print(void **state)
{
	(void)state;
	struct result *r = awkward();
	expect_print(r, (struct print_options){.format = PRINT_CSV},
	    "name,address,shallow,count,boot,shallow_certainty\r\n"
	    "\"a,\"\"b\"\"\",0xe0000af0,1536,7,true,exact\r\n"
	    "\\n\xc3\xa9,,12,,false,inferred\r\n"
	    ",,,1234567,,unknown\r\n");
	expect_print(r, (struct print_options){.format = PRINT_JSON},
	    "[{\"name\": \"a,\\\"b\\\"\", \"address\": \"0xe0000af0\", \"shallow\": 1536, \"count\": 7, "
	    "\"boot\": true, \"shallow_certainty\": \"exact\"},\n"
	    " {\"name\": \"\\\\n\xc3\xa9\", \"address\": null, \"shallow\": 12, \"count\": null, "
	    "\"boot\": false, \"shallow_certainty\": \"inferred\"},\n"
	    " {\"name\": null, \"address\": null, \"shallow\": null, \"count\": 1234567, \"boot\": null, "
	    "\"shallow_certainty\": \"unknown\"}]\n");
	expect_print(r, (struct print_options){.format = PRINT_JSONL, .top = 1},
	    "{\"name\": \"a,\\\"b\\\"\", \"address\": \"0xe0000af0\", \"shallow\": 1536, \"count\": 7, "
	    "\"boot\": true}\n");
	expect_print(r, (struct print_options){.format = PRINT_TEXT, .top = 2},
	    "name     address     shallow  boot\n"
	    "a,\"b\"    0xe0000af0     1.5K  yes\n"
	    "\\n\xc3\xa9      ?               ~12  no\n"
	    "... 1 more\n"
	    "3 names                ~1.5K\n");
	result_free(r);
	r = result_new_rows("empty", NULL, &numbers);
	expect_print(r, (struct print_options){.format = PRINT_JSON}, "[]\n");
	expect_print(r, (struct print_options){.format = PRINT_JSONL}, "");
	expect_print(r, (struct print_options){.format = PRINT_CSV}, "objects\r\n");
	expect_print(r, (struct print_options){.format = PRINT_TEXT}, "objects\n");
	result_free(r);
	static const enum column_id values[] = {COL_VM, COL_ROOTS};
	static const struct shape head = {SHAPE_HEAD(values), .more = true};
	r = result_new("head", NULL, &head, NULL, NULL, 0);
	result_head(r, COL_VM, cell_text("J9"));
	result_head(r, COL_ROOTS, cell_count(amount_weaken(amount_exact(1000), LOWER_BOUND, REASON_DAMAGED)));
	result_head_named(r, "none", cell_none());
	expect_print(r, (struct print_options){.format = PRINT_JSON},
	    "{\"vm\": \"J9\", \"roots\": 1000, \"none\": null, \"roots_certainty\": \"lower bound\"}\n");
	expect_print(r, (struct print_options){.format = PRINT_CSV},
	    "vm,roots,none,roots_certainty\r\nJ9,1000,,lower bound\r\n");
	expect_print(r, (struct print_options){.format = PRINT_TEXT},
	    "vm     J9\nroots  >=1,000\nnone   ?\n");
	result_free(r);
}

/* Texts that a spreadsheet would compute are marked, numbers and what only looks odd are not. */
static void test_formulas(void **state)
{
	(void)state;
	static const struct column columns[] = {{.id = COL_NAME}, {.id = COL_D_OBJECTS}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	static const struct { const char *text, *safe; } cases[] = {
	    {"=1+2", "'=1+2"}, {"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"}, {"-x", "'-x"}, {"@SUM(A1)", "'@SUM(A1)"},
	    {"=", "'="}, {"-", "'-"}, {"+1+2", "'+1+2"}, {"-1e", "'-1e"}, {"-.5", "'-.5"}, {"-Infinityx", "'-Infinityx"},
	    {"-7", "-7"}, {"+7", "+7"}, {"-1.5", "-1.5"}, {"-1.5E-7", "-1.5E-7"}, {"-Infinity", "-Infinity"},
	    {"a=1", "a=1"}, {"'=1", "'=1"}, {"\t=1", "\\t=1"}, {"\r=1", "\\x0d=1"}, {"", ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct result *r = result_new_rows("t", NULL, &shape);
		char wanted[200];
		result_add_row(r, (struct cell[]){cell_text(cases[i].text), cell_delta(amount_exact(2),
		    amount_exact(1))}, NULL);
		snprintf(wanted, sizeof wanted, "name,d_objects\r\n%s,-1\r\n", cases[i].safe);
		expect_print(r, (struct print_options){.format = PRINT_CSV}, wanted);
		const char *raw = cases[i].safe + (cases[i].safe[0] == '\'' && cases[i].text[0] != '\'');
		snprintf(wanted, sizeof wanted, "name,d_objects\r\n%s,-1\r\n", raw);
		expect_print(r, (struct print_options){.format = PRINT_CSV, .csv_raw = true}, wanted);
		result_free(r);
	}
}

/* Whatever bytes a text has, each format is whole and what it should be. */
static void test_any_bytes(void **state)
{
	(void)state;
	static const struct column columns[] = {{.id = COL_NAME}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	struct result *r = result_new_rows("t", NULL, &shape);
	result_add_row(r, (struct cell[]){cell_text("\033[2J\n\x01\xFF\xC0\x80\xED\xA0\x80\xE2\x80\xAE\"\\")}, NULL);
	r->note = "a\033b\nc\xFF";
	expect_print(r, (struct print_options){.format = PRINT_JSON},
	    "[{\"name\": \"\\\\x1b[2J\\\\n\\\\x01\\\\xff\\\\xc0\\\\x80\\\\ud800\\\\u202e\\\"\\\\\"}]\n");
	expect_print(r, (struct print_options){.format = PRINT_CSV},
	    "name\r\n\"\\x1b[2J\\n\\x01\\xff\\xc0\\x80\\ud800\\u202e\"\"\\\"\r\n");
	expect_print(r, (struct print_options){.format = PRINT_TEXT},
	    "name\n\\x1b[2J\\n\\x01\\xff\\xc0\\x80\\ud800\\u202e\"\\\na\\x1bb\nc\\xff\n");
	result_free(r);

	/* and however long it is */
	enum { LONG = 600000 };
	char *name = malloc(LONG + 1), *wanted = malloc(LONG + 100);
	memset(name, 'x', LONG);
	name[LONG] = '\0';
	r = result_new_rows("t", NULL, &shape);
	result_add_row(r, (struct cell[]){cell_text(name)}, NULL);
	snprintf(wanted, LONG + 100, "name\r\n%s\r\n", name);
	expect_print(r, (struct print_options){.format = PRINT_CSV}, wanted);
	snprintf(wanted, LONG + 100, "{\"name\": \"%s\"}\n", name);
	expect_print(r, (struct print_options){.format = PRINT_JSONL}, wanted);
	snprintf(wanted, LONG + 100, "[{\"name\": \"%s\"}]\n", name);
	expect_print(r, (struct print_options){.format = PRINT_JSON}, wanted);
	result_free(r);
	free(wanted);
	free(name);
}

/* Whatever a text holds, no table of Markdown is broken, and nothing in a page of HTML is markup. */
static void test_markup(void **state)
{
	(void)state;
	static const struct column columns[] = {{.id = COL_NAME}, {.id = COL_SHALLOW, .total = true},
	    {.id = COL_BOOT, true}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	static const struct { const char *text, *md, *html; } cases[] = {
	    {"a|b", "a\\|b", "a|b"}, {"\\|", "\\\\\\|", "\\|"},
	    {"<script>alert('1')</script>", "&lt;script>alert('1')&lt;/script>",
		"&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"},
	    {"\" onload=x &amp;", "\" onload=x &amp;amp;", "&quot; onload=x &amp;amp;"},
	    {"x\ny\x01", "x\\\\ny\\\\x01", "x\\ny\\x01"}, {"char[][]", "char[][]", "char[][]"},
	    {"[](javascript:x)", "\\[\\](javascript:x)", "[](javascript:x)"}, {"![a][b]", "!\\[a\\]\\[b\\]", "![a][b]"},
	    {"Map$Entry_1 _x_ $y$", "Map$Entry_1 \\_x\\_ \\$y\\$", "Map$Entry_1 _x_ $y$"},
	    {"*a* `b` ~c~", "\\*a\\* \\`b\\` \\~c\\~", "*a* `b` ~c~"}, {"  two", "&nbsp;&nbsp;two", "  two"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct result *r = result_new_rows("<t>", NULL, &shape);
		char wanted[600];
		result_add_row(r, (struct cell[]){cell_text(cases[i].text), cell_bytes(amount_weaken(amount_exact(2048),
		    INFERRED, REASON_ROOTS)), cell_flag(true)}, NULL);
		r->note = "a & <b>";
		snprintf(wanted, sizeof wanted, "| name | shallow |\n| --- | ---: |\n| %s | ~2.0K |\n\na &amp; &lt;b>\n\n"
		    "~ inferred\n", cases[i].md);
		expect_print(r, (struct print_options){.format = PRINT_MD}, wanted);
		snprintf(wanted, sizeof wanted, "<h1>&lt;t&gt;</h1>\n<table>\n<thead>\n"
		    "<tr><th scope=col>name</th><th scope=col class=n>shallow</th></tr>\n</thead>\n<tbody>\n"
		    "<tr><td>%s</td><td class=n>~2.0K</td></tr>\n</tbody>\n</table>\n"
		    "<p>a &amp; &lt;b&gt;</p>\n<p>~ inferred</p>\n",
		    cases[i].html);
		expect_print(r, (struct print_options){.format = PRINT_HTML, .behind = true}, wanted);
		result_free(r);
	}
	struct result *r = awkward();
	expect_print(r, (struct print_options){.format = PRINT_MD, .top = 2},
	    "| name | address | shallow | boot |\n| --- | --- | ---: | --- |\n| a,\"b\" | 0xe0000af0 | 1.5K | yes |\n"
	    "| \\\\n\xc3\xa9 | ? | ~12 | no |\n| 3 names |  | ~1.5K |  |\n\n1 more\n\n~ inferred, ? unknown\n");
	result_free(r);
}

/* The ending of a file says the format; one that says none is no mistake of a letter that becomes text. */
static void test_suffixes(void **state)
{
	(void)state;
	static const struct { const char *path; int format; } cases[] = {
	    {"x.csv", PRINT_CSV}, {"x.JSON", PRINT_JSON}, {"a.b/x.jsonl", PRINT_JSONL}, {"x.md", PRINT_MD},
	    {"x.html", PRINT_HTML}, {"x.txt", PRINT_TEXT}, {"x.log", PRINT_TEXT}, {"x", PRINT_TEXT},
	    {"/dev/null", PRINT_TEXT}, {"a.b/x", PRINT_TEXT},
	    {".x", PRINT_TEXT}, {"a/.csv", PRINT_TEXT}, {"x.xls", -1}, {"x.csv.gz", -1}, {"x.", -1}, {"x.csvx", -1},
	    {"x.markdown", -1}, {"tmp.6xoZzqQ0Xy", PRINT_TEXT}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum print_format format;
		int code = print_format_of_file(cases[i].path, &format, NULL);
		assert_int_equal(code ? code : (int)format, cases[i].format < 0 ? ERR_USAGE : cases[i].format);
	}
}

/* A terminal's width cuts the text column, never a character, and no line passes it. */
static void test_print_width(void **state)
{
	(void)state;
	static const struct column columns[] = {
	    {.id = COL_CLASS}, {.id = COL_OBJECTS, .total = true}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	struct result *r = result_new_rows("w", NULL, &shape);
	result_add_row(r, (struct cell[]){cell_text("com.acme.a.very.long.name.of.a.Class"),
	    cell_count(amount_exact(1))}, NULL);
	result_add_row(r, (struct cell[]){cell_text("Kurz"), cell_count(amount_exact(22))}, NULL);
	expect_print(r, (struct print_options){.format = PRINT_TEXT, .width = 30},
	    "class                  objects\n"
	    "com.ac..me.of.a.Class        1\n"
	    "Kurz                        22\n"
	    "2 classes                   23\n");
	result_free(r);
}

/* In a pipe a value that is wider than those its column was measured by keeps all its text. */
static void test_wide_late(void **state)
{
	(void)state;
	static const struct column columns[] = {{.id = COL_VALUE}, {.id = COL_COUNT}};
	static const struct shape shape = {SHAPE_COLUMNS(columns)};
	static const char end[] = "\na value of more columns      9\n";
	struct result *r = result_new_rows("t", NULL, &shape);
	for (int i = 0; i < 20000; i++) {
		result_add_row(r, (struct cell[]){cell_text("v"), cell_count(amount_exact(9))}, NULL);
	}
	result_add_row(r, (struct cell[]){cell_text("a value of more columns"), cell_count(amount_exact(9))}, NULL);
	char *printed = NULL;
	size_t n;
	FILE *f = open_memstream(&printed, &n);
	assert_int_equal(print_result(r, &(struct print_options){.format = PRINT_TEXT}, f, NULL), 0);
	fclose(f);
	assert_true(n > sizeof end);
	assert_string_equal(printed + n - strlen(end), end);
	free(printed);
	result_free(r);
}

/* --- plots and bars ---------------------------------------------------------------------------- */

/* Points that share a column show the highest of them, and what is not known never goes under. */
static void test_plot(void **state)
{
	struct text t = TEXT_INIT;
	(void)state;
	text_add(&t, PLOT_ABSENT);
	plot_add(&t, 0, 14);
	plot_add(&t, 7, 14);
	plot_add(&t, 14, 14);
	plot_add(&t, 0, 0);
	text_add(&t, PLOT_UNKNOWN);
	assert_string_equal(t.s, "·▁▅█▁?");
	static const struct { size_t columns; const char *shown, *ascii; } cases[] = {{7, "·▁▅█▁?", "_1581?"},
	    {6, "·▁▅█▁?", "_1581?"}, {3, "▁█?", "18?"}, {4, "·▅█?", "_58?"}, {1, "?", "?"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text squeezed = TEXT_INIT, ascii = TEXT_INIT;
		plot_squeeze(&squeezed, t.s, cases[i].columns);
		assert_string_equal(squeezed.s, cases[i].shown);
		plot_add_ascii(&ascii, squeezed.s);
		assert_string_equal(ascii.s, cases[i].ascii);
		text_release(&squeezed);
		text_release(&ascii);
	}
	text_clear(&t);
	plot_squeeze(&t, "no plot", 3);
	assert_string_equal(t.s, "···");
	text_release(&t);
}

/* The naive rule: of eight blocks from 0 to the most the nearest one, the higher of two; and what nobody knows, or is
 * not there, is no block. */
static void test_plot_heights(void **state)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	(void)state;
	for (unsigned most = 1; most <= 60; most++) {
		for (unsigned n = 1; n <= most; n++) {
			struct text t = TEXT_INIT;
			int nearest = 0;
			for (int k = 1; k < 8; k++) /* how far from k / 7 of the most, in sevenths of one */
				if (abs((int)(7 * n) - k * (int)most) <= abs((int)(7 * n) - nearest * (int)most))
					nearest = k;
			plot_add_amount(&t, amount_exact(n), most);
			if (strcmp(t.s, blocks[nearest]) != 0)
				fail_msg("%u of %u: %s, not %s", n, most, t.s, blocks[nearest]);
			text_release(&t);
		}
	}
	struct text t = TEXT_INIT;
	plot_add_amount(&t, amount_exact(0), 60);
	plot_add_amount(&t, amount_unknown(REASON_DAMAGED), 60);
	assert_string_equal(t.s, PLOT_ABSENT PLOT_UNKNOWN);
	text_release(&t);
}

/* A bar is as long as its part, and what is there at all is seen. */
static void test_plot_bar(void **state)
{
	static const struct { uint64_t n, most; const char *bar, *ascii; } cases[] = {
	    {8, 8, "████", "####"}, {4, 8, "██", "##"}, {5, 8, "██▌", "###"}, {1, 1000, "▏", ""},
	    {0, 8, "", ""},
	    {0, 0, "", ""}, {UINT64_MAX, UINT64_MAX, "████", "####"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct text bar = TEXT_INIT, ascii = TEXT_INIT;
		plot_add_bar(&bar, cases[i].n, cases[i].most, 4);
		assert_string_equal(bar.len ? bar.s : "", cases[i].bar);
		plot_add_ascii_bar(&ascii, bar.len ? bar.s : "");
		assert_string_equal(ascii.len ? ascii.s : "", cases[i].ascii);
		text_release(&bar);
		text_release(&ascii);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_print),
	    cmocka_unit_test(test_formulas),
	    cmocka_unit_test(test_any_bytes),
	    cmocka_unit_test(test_markup),
	    cmocka_unit_test(test_suffixes),
	    cmocka_unit_test(test_print_width),
	    cmocka_unit_test(test_wide_late),
	    cmocka_unit_test(test_plot),
	    cmocka_unit_test(test_plot_heights),
	    cmocka_unit_test(test_plot_bar),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
